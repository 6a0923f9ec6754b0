#' Data for binary Gaussian process classification
#'
#' Labelled points, from the one-dimensional problem of the paper or with labels from a Gaussian process; or draws from
#' a normal law cut to the positive orthant, the caricature of a classifier's posterior, with its exact moments and
#' those of expectation propagation.
#'
#' @details
#' Kind `"mixture"`: class 1 from \eqn{N(-6, 0.8^2)}{N(-6, 0.8^2)} and \eqn{N(2, 0.8^2)}{N(2, 0.8^2)}, class -1 from
#' \eqn{N(0, 0.8^2)}{N(0,
#' 0.8^2)}; the
#' paper does not say how many, here `n` from each. Kind `"process"`: `n` standard normal points in `d` dimensions,
#' \eqn{f \sim N(0, K)}{f ~ N(0, K)},
#' \eqn{p(y = 1) = \Phi(f)}{p(y = 1) = Phi(f)}.
#'
#' Kind `"orthant"`, in the paper with `n = 1000` and `d = 767`: covariance \eqn{C} with eigenvalue `eigenvalue` for the
#' vector of ones, others 1. Given a common normal variable the coordinates are
#' independent, so draws are exact and moments are one-dimensional integrals. The mode stays at zero, while the
#' marginals look normal and EP meets their mean: why Laplace's method fails and EP does not.
#'
#' @section Which method when:
#' `"mixture"` and `"process"` to try [gp_classify()] on; `"orthant"` to see why the mode of a posterior can be far from
#' its mean.
#'
#' @param n Points of each component, of the whole sample for `"process"`, or number of draws.
#' @param kind `"mixture"`, `"process"` or `"orthant"`.
#' @param kernel For `"process"`, a kernel.
#' @param d Dimension.
#' @param eigenvalue For `"orthant"`, eigenvalue of the vector of ones, at least 1.
#' @param x An object of class `granary_orthant`.
#' @param ... Passed on to [graphics::plot()].
#' @return A data frame with the inputs, `y` (a factor) and `prob`, the true probability of class 1. For `"orthant"` a
#'   list of class
#'   `granary_orthant` with `x` (the draws), `exact` and `ep` (mean, variance and log probability of the orthant).
#' @seealso [gp_classify()], [gp_classify_evidence()], [gp_classify_sample()], [gp_classify_baseline()], [kriging()],
#'   [sparse_gp()]
#' @export
#' @examples
#' set.seed(1)
#' head(sim_gp_classes(20))
#' orthant <- sim_gp_classes(500, "orthant", d = 20)
#' orthant
#' plot(orthant)
sim_gp_classes <- function(n = 20, kind = c("mixture", "process", "orthant"), kernel = "se", d = 2, eigenvalue = 100, ...) {
  refuse_dots(...)
  n <- check_count(n, upper = 1e6)
  kind <- check_choice(kind, c("mixture", "process", "orthant"))
  if (kind == "orthant") return(sim_orthant(n, d, eigenvalue))
  if (kind == "mixture") {
    x <- stats::rnorm(3L * n, rep(c(-6, 2, 0), each = n), 0.8)
    positive <- stats::dnorm(x, -6, 0.8) + stats::dnorm(x, 2, 0.8)
    return(data.frame(x = x, y = factor(rep(c(1, 1, -1), each = n), c(-1, 1)),
                      prob = positive / (positive + stats::dnorm(x, 0, 0.8))))
  }
  d <- check_count(d, upper = 1e4)
  if (n > 5000L) abort_input("`n` must be at most 5000 for a draw from a process.", "n")
  x <- matrix(stats::rnorm(n * d), n, dimnames = list(NULL, paste0("x", seq_len(d))))
  prob <- stats::pnorm(drop(core_gaussian_draws(numeric(n), unname(kernel_matrix(kernel, x)), 1L, core_seed(), NULL)))
  data.frame(x, y = factor(ifelse(stats::runif(n) < prob, 1, -1), c(-1, 1)), prob = prob)
}

# A normal law cut to the positive orthant, with its moments.
sim_orthant <- function(n, d, eigenvalue) {
  d <- check_count(d, upper = 3000)
  eigenvalue <- check_number(eigenvalue, lower = 1, upper = 1e8)
  # C = I + b^2 11' with b^2 = (eigenvalue - 1) / d: x_i = b u + z_i, and the law of u given the cut is phi(u) Phi(b
  # u)^d.
  b <- sqrt((eigenvalue - 1) / d)
  log_density <- function(u) stats::dnorm(u, log = TRUE) + d * stats::pnorm(b * u, log.p = TRUE)
  mode <- stats::optimize(log_density, c(-1, 10 + 4 * sqrt(d)), maximum = TRUE, tol = 1e-10)
  grid <- mode$maximum + seq(-12, 12, length.out = 40001L)
  weight <- exp(log_density(grid) - mode$objective)
  total <- sum(weight)
  mills <- exp(stats::dnorm(b * grid, log = TRUE) - stats::pnorm(b * grid, log.p = TRUE))
  first <- b * grid + mills
  second <- 1 + b * grid * first
  mean <- sum(weight * first) / total
  exact <- list(mean = mean, variance = sum(weight * second) / total - mean^2,
                log_z = mode$objective + log(total * diff(grid[1:2])))
  u <- stats::approx(cumsum(weight) / total, grid, stats::runif(n), rule = 2, ties = "ordered")$y
  # x = b u + z with z > -b u: by the inverse of the upper tail, in logarithms.
  tail <- stats::pnorm(b * rep(u, d), log.p = TRUE)
  x <- matrix(b * rep(u, d) - stats::qnorm(tail + log(stats::runif(n * d)), log.p = TRUE), n)
  found <- core_orthant_ep(diag(1, d) + b^2, core_seed(), progress_bar("expectation propagation"))
  seal(structure(list(x = x, exact = exact, ep = list(mean = found$mean[1L], variance = found$variance[1L],
                                                      log_z = found$log_z), d = d, eigenvalue = eigenvalue,
                      convergence = found$convergence), class = "granary_orthant"))
}

#' @rdname sim_gp_classes
#' @export
print.granary_orthant <- function(x, ...) {
  cli::cat_line("normal law in ", x$d, " dimensions cut to the positive orthant, ", nrow(x$x), " exact draws")
  print(data.frame(mean = c(x$exact$mean, x$ep$mean, 0), variance = c(x$exact$variance, x$ep$variance, NA),
                   log_z = c(x$exact$log_z, x$ep$log_z, NA), row.names = c("exact", "EP", "mode")), digits = 5L)
  invisible(x)
}

#' @rdname sim_gp_classes
#' @export
plot.granary_orthant <- function(x, ...) {
  draw(graphics::hist, x$x[, 1L], breaks = 40, freq = FALSE, col = "grey85", border = "white",
       xlab = "first coordinate", main = "", user = list(...))
  at <- seq(min(x$x[, 1L]), max(x$x[, 1L]), length.out = 200L)
  graphics::lines(at, stats::dnorm(at, x$ep$mean, sqrt(x$ep$variance)), lwd = 2, col = "#2166ac")
  graphics::abline(v = 0, col = "#b2182b", lty = 2)
  invisible()
}
