#' One von Mises-Fisher law
#'
#' The mean direction of rows and how concentrated they are about it, with a standard error; its density, and draws.
#'
#' @details
#' With \eqn{r = \sum_i w_i x_i}{r = sum_i w_i x_i} over rows of length 1 and
#' \eqn{\bar r = |r| / \sum_i w_i}{rbar = |r| / sum_i w_i}, the direction is \eqn{r / |r|} and \eqn{\kappa}{kappa}
#' solves
#' \eqn{A_d(\kappa) = \bar r}{A_d(kappa) = rbar}. Since \eqn{\mu'x}{mu'x} has the variance
#' \eqn{A_d'(\kappa)}{A_d'(kappa)}, the standard error is
#' \eqn{1 / \sqrt{n A_d'(\kappa)}}{1 / sqrt(n A_d'(kappa))}.
#'
#' Draws are those of Wood (1994): the component along the mean direction by rejection, the rest uniform across it.
#'
#' @section Which method when:
#' One group of directions; [vmf_mixture()] for several. In two columns this is the von Mises law on the circle.
#'
#' @param x Rows, as in [vmf_mixture()]; for `dvmf()` a vector is one row.
#' @param weights,method,normalize,kappa_max As in [vmf_mixture()].
#' @param n Number of rows.
#' @param mu Mean direction; scaled to length 1.
#' @param kappa Concentration, at least 0.
#' @param log Whether to give the logarithm of the density, which is what can be represented when there are many
#'   columns.
#' @return `vmf_fit()` an object of class `granary_vmf` with `coefficients` (the direction and `kappa`), `direction`,
#'   `concentration`, `std.error`, `resultant`, `loglik`; `dvmf()` a number per row; `rvmf()` a matrix with one row per
#'   draw.
#' @references
#' Banerjee, Dhillon, Ghosh and Sra (2005). Clustering on the unit hypersphere using von Mises-Fisher distributions.
#' *Journal of Machine Learning Research* 6, 1345--1382.
#'
#' Wood (1994). Simulation of the von Mises Fisher distribution. *Communications in Statistics -- Simulation and
#' Computation* 23, 157--164.
#' @seealso [vmf_mixture()], [vmf_bounds()].
#' @export
#' @examples
#' set.seed(1)
#' x <- rvmf(200, mu = c(a = 1, b = 2, c = 2), kappa = 20)
#' fit <- vmf_fit(x)
#' fit
#' confint(fit)
#' dvmf(x[1:3, ], fit$direction, fit$concentration, log = TRUE)
vmf_fit <- function(x, weights = NULL, method = c("exact", "banerjee", "large", "small"), normalize = TRUE,
                    kappa_max = 1e8) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  method <- check_choice(method, c("exact", "banerjee", "large", "small"))
  kappa_max <- check_number(kappa_max, lower = 0, strict_lower = TRUE, upper = 1e12)
  rows <- check_directions(x, normalize, weights = weights, inform = missing(normalize))
  found <- core_vmf_law(plain_rows(rows$x), rows$weights, method, kappa_max)
  names <- variable_names(colnames(rows$x), ncol(rows$x))
  direction <- stats::setNames(found$direction, names)
  fit <- new_fit("vmf", coefficients = c(direction, kappa = found$concentration), direction = direction,
                 concentration = found$concentration, std.error = found$std_error, resultant = found$resultant,
                 loglik = found$loglik, df = ncol(rows$x), n = nrow(rows$x), method = method, call = call,
                 convergence = list(converged = TRUE, iterations = 1L,
                                    residual = abs(core_vmf_table("resultant", found$concentration, ncol(rows$x),
                                                                  "exact") - found$resultant)))
  if (found$concentration >= kappa_max) {
    warn_input("All rows have the same direction: the concentration is infinite and stops at `kappa_max`.", "x")
  }
  if (found$resultant == 0) warn_input("The rows cancel: they have no mean direction, and the concentration is 0.", "x")
  fit
}

#' @export
print.granary_vmf <- function(x, ...) {
  cli::cat_line("von Mises-Fisher law in ", length(x$direction), " columns (", counted(x$n, "row", "rows"), ")")
  print_call(x$call)
  cli::cat_line("Direction: ", if (length(x$direction) <= 8L) paste(names(x$direction),
                                                                    format(x$direction, digits = 3L),
                                                                    collapse = ", ") else top_columns(x$direction),
                if (length(x$direction) > 8L) " ...")
  cli::cat_line(sprintf("Concentration: %s (s.e. %s), mean cosine %s", format(x$concentration, digits = 5L),
                        format(x$std.error, digits = 3L), format(x$resultant, digits = 4L)))
  cli::cat_line("Log-likelihood: ", format(x$loglik, digits = 8L))
  invisible(x)
}

#' @export
confint.granary_vmf <- function(object, parm, level = 0.95, ...) {
  refuse_dots(...)
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  z <- stats::qnorm(c((1 - level) / 2, (1 + level) / 2))
  matrix(pmax(object$concentration + z * object$std.error, 0), 1L,
         dimnames = list("kappa", sprintf("%g %%", 100 * c((1 - level) / 2, (1 + level) / 2))))
}

#' @export
vcov.granary_vmf <- function(object, ...) matrix(object$std.error^2, 1L, 1L, dimnames = list("kappa", "kappa"))

#' @export
tidy.granary_vmf <- function(x, ...) {
  refuse_dots(...)
  data.frame(term = names(x$coefficients), estimate = unname(x$coefficients),
             std.error = c(rep(NA_real_, length(x$direction)), x$std.error))
}

#' @export
predict.granary_vmf <- function(object, newdata = NULL, type = "density", ...) {
  refuse_dots(...)
  check_choice(type, "density")
  if (is.null(newdata)) abort_input("Give `newdata`, the rows: the fit does not keep them.", "newdata")
  rows <- check_directions(new_design(newdata, names(object$direction)), arg = "newdata")
  stats::setNames(core_vmf_rows(plain_rows(rows$x), law_parameters(object$direction, object$concentration), 1L,
                                NULL)$log_density, rownames(rows$x))
}

#' @export
simulate.granary_vmf <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  lapply(seq_len(nsim), function(i) rvmf(stats::nobs(object), object$direction, object$concentration))
}

#' @export
plot.granary_vmf <- function(x, ...) {
  shown <- utils::head(order(-abs(x$direction)), 30L)
  old <- graphics::par(mar = c(4.1, min(4.1 + 0.35 * max(nchar(names(x$direction)[shown])), 14), 2.1, 1.1))
  on.exit(graphics::par(old))
  draw(graphics::dotchart, rev(x$direction[shown]), xlab = "mean direction", pch = 19,
       main = sprintf("concentration %s (s.e. %s)", format(x$concentration, digits = 4L),
                      format(x$std.error, digits = 2L)), user = list(...))
  invisible(x)
}

#' @exportS3Method ggplot2::autoplot
autoplot.granary_vmf <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  shown <- utils::head(order(-abs(object$direction)), 30L)
  bars <- data.frame(column = factor(names(object$direction)[shown], rev(names(object$direction)[shown])),
                     value = unname(object$direction[shown]))
  ggplot2::ggplot(bars, ggplot2::aes(.data$value, .data$column)) + ggplot2::geom_point() +
    ggplot2::labs(x = "mean direction", y = NULL) + ggplot2::theme_minimal()
}

law_parameters <- function(mu, kappa) list(share = 1, directions = matrix(unname(mu), 1L), concentration = kappa)

check_direction <- function(mu, arg = "mu") {
  mu <- check_vector(mu, arg, min_length = 2L)
  length <- core_row_lengths(matrix(unname(mu), 1L))
  if (length == 0) abort_input(sprintf("`%s` must have a direction, but all its elements are zero.", arg), arg)
  mu / length
}

#' @rdname vmf_fit
#' @export
dvmf <- function(x, mu, kappa, log = FALSE) {
  if (missing(x)) fail_missing("x")
  mu <- check_direction(mu)
  kappa <- check_number(kappa, lower = 0, upper = 1e12)
  log <- check_flag(log)
  if (is_plain_numeric(x) && is.null(dim(x))) x <- matrix(as.double(x), 1L, dimnames = list(NULL, names(x)))
  x <- check_rows(x)
  if (!is.null(names(mu)) && !is.null(colnames(x))) x <- match_columns(x, names(mu), "x")
  if (ncol(x) != length(mu)) {
    abort_input(sprintf("`x` must have a column for each of the %d elements of `mu`, but it has %d.", length(mu),
                        ncol(x)), "x")
  }
  rows <- check_directions(x)
  out <- stats::setNames(core_vmf_rows(plain_rows(rows$x), law_parameters(mu, kappa), 1L, NULL)$log_density,
                         rownames(rows$x))
  if (log) out else exp(out)
}

#' @rdname vmf_fit
#' @export
rvmf <- function(n, mu, kappa) {
  n <- check_count(n, upper = 1e8)
  mu <- check_direction(mu)
  kappa <- check_number(kappa, lower = 0, upper = 1e12)
  drawn <- core_vmf_draws(n, law_parameters(mu, kappa), core_seed(), progress_bar("draws"))
  structure(drawn$x, dimnames = list(NULL, names(mu)))
}

#' Rows from a mixture of von Mises-Fisher laws
#'
#' Directions to try clusterings on.
#'
#' @section Which method when:
#' `sim_vmf()` for rows whose clusters are known; `simulate()` of a fit for rows like those at hand; [rvmf()] for one law.
#'
#' @param n Number of rows.
#' @param k,d Number of components and of columns, when directions are to be drawn at random.
#' @param centers Directions of the components, one per row, or `NULL`.
#' @param kappa Concentrations: one, or one per component.
#' @param share Shares of the components; `NULL` for equal ones.
#' @return A list with `x`, the rows, `cluster`, their components, `centers`, `kappa` and `share`.
#' @seealso [vmf_mixture()], [rvmf()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_vmf(200, k = 3, d = 20, kappa = c(20, 40, 80))
#' table(sim$cluster, spherical_kmeans(sim$x, k = 3)$cluster)
sim_vmf <- function(n, k = 3, d = 100, centers = NULL, kappa = 100, share = NULL) {
  n <- check_count(n, upper = 1e8)
  if (is.null(centers)) {
    k <- check_count(k)
    d <- check_count(d, lower = 2)
    centers <- core_vmf_draws(k, list(share = 1, directions = diag(d)[1L, , drop = FALSE], concentration = 0),
                              core_seed(), NULL)$x
  } else {
    centers <- as.matrix(check_rows(centers, "centers"))
    if (ncol(centers) < 2L) abort_input("`centers` must have at least two columns.", "centers")
    length <- core_row_lengths(plain_rows(centers))
    if (any(length == 0)) {
      abort_input(sprintf("Every row of `centers` must have a direction, but row %d is zero.", which(length == 0)[1L]),
                  "centers")
    }
    centers <- centers / length
  }
  k <- nrow(centers)
  kappa <- check_vector(kappa, lower = 0, upper = 1e12)
  if (!length(kappa) %in% c(1L, k)) {
    abort_input(sprintf("`kappa` must be one number or one for each of the %d components, but it has %d.", k,
                        length(kappa)), "kappa")
  }
  kappa <- rep_len(unname(kappa), k)
  share <- if (is.null(share)) rep(1 / k, k) else check_vector(share, length = k, lower = 0)
  if (sum(share) == 0) abort_input("`share` must not all be zero.", "share")
  share <- unname(share) / sum(share)
  drawn <- core_vmf_draws(n, list(share = share, directions = plain_rows(centers), concentration = kappa), core_seed(),
                          progress_bar("draws"))
  colnames(drawn$x) <- colnames(centers)
  list(x = drawn$x, cluster = drawn$cluster, centers = centers, kappa = kappa, share = share)
}

#' Calculators for von Mises-Fisher laws
#'
#' Concentrations from mean resultant lengths and back, normalising constants in any number of dimensions, and a bound
#' on the error of labels that are carried over by clusters.
#'
#' @details
#' \describe{
#' \item{`"kappa"`}{the concentration that belongs to `resultant` \eqn{= \bar r}{= rbar}: the solution of \eqn{A_d(\kappa) = \bar r}{A_d(kappa) = rbar} (`"exact"`), or
#'   \eqn{(\bar r d - \bar r^3) / (1 - \bar r^2)}{(rbar d - rbar^3) / (1 - rbar^2)} (`"banerjee"`, equation 4.4),
#'   \eqn{(d - 1) / (2 (1 - \bar r))}{(d - 1) / (2 (1 - rbar))} (`"large"`, 4.1),
#'   \eqn{d \bar r (1 + d \bar r^2 / (d + 2) + d^2 (d + 8) \bar r^4 / ((d + 2)^2 (d + 4)))}{d rbar (1 + d rbar^2 / (d + 2) + d^2 (d + 8) rbar^4 / ((d + 2)^2 (d + 4)))} (`"small"`, 4.2).}
#' \item{`"kappa_range"`}{bounds between which it lies (from Amos 1974), without iterations.}
#' \item{`"resultant"`}{\eqn{A_d(\kappa) = I_{d/2}(\kappa) / I_{d/2-1}(\kappa)}{A_d(kappa) = I_{d/2}(kappa) / I_{d/2-1}(kappa)}, the mean of \eqn{\mu'x}{mu'x}.}
#' \item{`"variance"`}{\eqn{A_d'(\kappa)}{A_d'(kappa)}, its variance.}
#' \item{`"constant"`}{\eqn{\log c_d(\kappa)}{log c_d(kappa)}.}
#' \item{`"pac_mdl"`}{a bound on the share of the `unlabelled` rows that get a wrong label when every one of `k` clusters takes the majority label of its labelled rows and `errors` of the `labelled`
#'   ones are wrong then, `classes` labels, with probability `1 - delta` (Blum and Langford 2003).}
#' }
#' Any `d` from 2 to a million and any concentration up to 1e8, on the log scale: no overflow, no high precision.
#'
#' @section Which method when:
#' To translate between cosines and concentrations, to judge the approximations, or to choose a number of clusters by a
#' few labels ([vmf_select()] does it for a mixture).
#'
#' @param what What to compute.
#' @param resultant Mean resultant lengths, between 0 and 1.
#' @param kappa Concentrations.
#' @param d Number of columns.
#' @param method Estimator of the concentration.
#' @param errors,labelled,unlabelled,classes,k,delta For `"pac_mdl"`.
#' @return A numeric vector; for `"kappa_range"` a data frame with `lower` and `upper`; for `"pac_mdl"` one with
#'   `errors`, the largest number of wrong rows in all, and `bound`.
#' @references
#' Banerjee, Dhillon, Ghosh and Sra (2005). Clustering on the unit hypersphere using von Mises-Fisher distributions.
#' *Journal of Machine Learning Research* 6, 1345--1382.
#'
#' Blum and Langford (2003). PAC-MDL bounds. *Learning Theory and Kernel Machines*, 344--357.
#' @seealso [vmf_fit()], [vmf_mixture()], [vmf_select()].
#' @export
#' @examples
#' vmf_bounds("kappa", resultant = 0.554386, d = 1000)
#' vmf_bounds("kappa", resultant = 0.554386, d = 1000, method = "banerjee")
#' vmf_bounds("resultant", kappa = c(1, 10, 800), d = 1000)
#' vmf_bounds("pac_mdl", errors = 3, labelled = 50, unlabelled = 500, classes = 4, k = 4)
vmf_bounds <- function(what = c("kappa", "kappa_range", "resultant", "variance", "constant", "pac_mdl"),
                       resultant = NULL, kappa = NULL, d = NULL,
                       method = c("exact", "banerjee", "large", "small"), errors = NULL, labelled = NULL,
                       unlabelled = NULL, classes = NULL, k = NULL, delta = 0.05) {
  what <- check_choice(what, c("kappa", "kappa_range", "resultant", "variance", "constant", "pac_mdl"))
  method <- check_choice(method, c("exact", "banerjee", "large", "small"))
  needed <- switch(what, kappa = , kappa_range = list(resultant = resultant, d = d),
                   pac_mdl = list(errors = errors, labelled = labelled, unlabelled = unlabelled, classes = classes,
                                  k = k), list(kappa = kappa, d = d))
  for (name in names(needed)) {
    if (is.null(needed[[name]])) abort_input(sprintf("`%s` must be given for what = \"%s\".", name, what), name)
  }
  if (what == "pac_mdl") {
    labelled <- check_count(labelled)
    unlabelled <- check_count(unlabelled)
    errors <- check_count(errors, lower = 0, upper = labelled)
    classes <- check_count(classes)
    delta <- check_number(delta, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
    return(as.data.frame(core_pac_mdl(as.double(c(errors, labelled, unlabelled, classes, check_count(k))), delta)))
  }
  d <- check_count(d, lower = 2)
  if (!what %in% c("kappa", "kappa_range")) {
    kappa <- check_vector(kappa, lower = 0, upper = 1e12)
    return(stats::setNames(core_vmf_table(c(resultant = "resultant", variance = "slope", constant = "constant")[[what]],
                                          unname(kappa), d, method), names(kappa)))
  }
  resultant <- check_vector(resultant, lower = 0, upper = 1)
  if (what == "kappa") return(stats::setNames(core_vmf_table("kappa", unname(resultant), d, method), names(resultant)))
  data.frame(lower = core_vmf_table("lower", unname(resultant), d, method),
             upper = core_vmf_table("upper", unname(resultant), d, method), row.names = names(resultant))
}
