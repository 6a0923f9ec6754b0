#' Covariance graphs with hubs
#'
#' Estimates a sparse covariance matrix, whose zeros are marginal independences, in which a few nodes may be related to very many others.
#'
#' @details
#' The hub covariance graph minimises \eqn{\frac12\|\Sigma - S\|_F^2 + P(\Sigma)}{|Sigma - S|^2 / 2 + P(Sigma)} over
#' \eqn{\Sigma \succeq \epsilon I}{Sigma >= eps I} with the hub penalty of [ggm_hub()]; the diagonal is not penalised. With `lambda3 = 0` it is the
#' positive definite l1 estimate of Xue, Ma and Zou (2012) with penalty
#' \eqn{\min(\lambda_1, \lambda_2/2)}{min(lambda1, lambda2 / 2)}. The split into components, the regimes and the stopping
#' rule are those of [ggm_hub()]. The problem without the constraint comes first, by the Newton method of [ggm_hub()]; where its answer is not
#' positive definite enough, or with `q = Inf`, the alternating direction method goes on. The duality gap is that of a dual point built from
#' the gradient or the multipliers, and is in units of `S` squared.
#'
#' @section Which method when: for marginal relations (who varies with whom) rather than conditional ones; for the latter use [ggm_hub()].
#'
#' @inheritParams ggm_hub
#' @param lambda1,lambda2,lambda3 The penalties of ordinary edges, of a hub's edges, and of hubs: one number each.
#' @param eps Smallest eigenvalue allowed.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_cov_hub`: `covariance` (sparse), `V`, `Z`, `hubs`, `objective`, `gap`, `bic` (with the Gaussian
#'   likelihood),
#'   `regime`, `component`, `df`, and the data.
#' @references
#' Tan, London, Mohan, Lee, Fazel and Witten (2014). Learning graphical models with hubs. *Journal of Machine Learning Research* 15, 3297--3331.
#'
#' Xue, Ma and Zou (2012). Positive-definite l1-penalized estimation of large covariance matrices. *Journal of the American Statistical
#' Association* 107, 1480--1491.
#' @seealso [ggm_hub()], [ising_hub()], [ggm_hub_select()], [hub_screen()], [sim_hub()]
#' @export
#' @examples
#' fit <- cov_hub(scale(mtcars), lambda1 = 0.4, lambda2 = 0.3, lambda3 = 0.6)
#' fit
cov_hub <- function(x = NULL, S = NULL, n = NULL, lambda1, lambda2, lambda3, q = 2, eps = 1e-4, method = c("auto", "admm"), screen = TRUE,
                    tol = 1e-7, max_iter = 5000, step = 2.5, start = NULL, min_degree = 1, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  data <- ggm_input(x, S, n)
  lambda2 <- check_number(lambda2, lower = 0)
  penalty <- hub_penalty(lambda1, lambda2, lambda3, q, ncol(data$S))
  settings <- hub_settings(method, screen, tol, max_iter, step, eps = check_number(eps, lower = 0, strict_lower = TRUE))
  min_degree <- check_count(min_degree, lower = 0)
  start <- hub_start(start, colnames(data$S))
  result <- core_hub_path(data$S, hub_core_options("covariance", penalty, settings, thread_count(threads)), start,
                          progress_bar("hub covariance graph"))[[1L]]
  sigma <- label_matrix(result$precision, colnames(data$S))
  fit <- new_hub("cov_hub", result, data, penalty, settings, min_degree, call)
  fit$covariance <- sigma
  warn_empty(fit, data$S, penalty)
  check_convergence(fit)
  fit
}

new_hub <- function(class, result, data, penalty, settings, min_degree, call) {
  names <- colnames(data$S)
  part <- hub_part(result, names, penalty, penalty$lambda2, min_degree)
  theta <- label_matrix(result$precision, names)
  fit <- do.call(new_fit, c(list(c(class, "hub"), theta = theta), part, list(
    penalty = penalty, settings = settings, df = count_edges(theta), objective = result$objective, loss = result$loss, deviance = result$deviance,
    log_det = if (!is.nan(result$log_det)) result$log_det,
    gap = result$convergence$gap, kkt = result$kkt, component = result$component, trace = hub_trace(result$trace), S = data$S, n = data$n,
    mean = data$mean, x = data$x, call = call, convergence = result$convergence
  )), quote = TRUE)
  fit$bic <- if (is.null(data$n)) NA_real_ else stats::BIC(fit)
  fit
}

#' Methods for covariance graphs and binary networks with hubs
#'
#' @param x,object A fit of [cov_hub()] or [ising_hub()].
#' @param newdata New rows.
#' @param type `"network"` or `"parts"` (V and Z side by side) for `plot()`; `"estimate"` or `"parts"` for `coef()`, as in [ggm_hub()].
#' @param min_degree As in [cov_hub()].
#' @param nsim Number of rows to draw.
#' @param seed A seed for [set.seed()], or `NULL`.
#' @param burn_in,thin,exact The Gibbs sampler, as in [sim_hub()].
#' @param ... Passed on to [graphics::plot()] by `plot()`; not used otherwise.
#' @return `coef()` the estimated matrix; `predict()` of an Ising fit the conditional probabilities that each variable is one given the others;
#'   `simulate()` a matrix of draws; `logLik()` the Gaussian log-likelihood, of an Ising fit the log-pseudo-likelihood; `tidy()` the edges.
#' @seealso [ggm_hub()], [cov_hub()], [ising_hub()], [ggm_hub_select()], [hub_screen()], [sim_hub()]
#' @name granary_hub
#' @examples
#' fit <- cov_hub(scale(mtcars), lambda1 = 0.4, lambda2 = 0.3, lambda3 = 0.6)
#' coef(fit)[1:3, 1:3]
#' tidy(fit)
#' logLik(fit)
#' simulate(fit, 2, seed = 1)
#' plot(fit)
#' if (requireNamespace("ggplot2", quietly = TRUE)) ggplot2::autoplot(fit)
#' binary <- ising_hub(scale(mtcars[, 3:7]) > 0, lambda1 = 3, lambda2 = 2, lambda3 = 4)
#' head(predict(binary))
NULL

#' @export
print.granary_hub <- function(x, ...) {
  title <- if (inherits(x, "granary_cov_hub")) "Covariance graph with hubs" else "Binary network with hubs"
  cli::cat_line(title, ": ", ncol(x$theta), " variables", if (!is.null(x$n)) paste0(", n = ", x$n))
  print_call(x$call)
  print_hubs(hub_parts(x), x$penalty, x$penalty$lambda2, x$df)
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  cli::cat_line("Certified within ", format(max(x$gap, 0), digits = 2L), " of the minimum ", format(x$objective, digits = 8L))
  invisible(x)
}

#' @rdname granary_hub
#' @export
coef.granary_hub <- function(object, type = c("estimate", "parts"), min_degree = NULL, ...) {
  refuse_dots(...)
  if (check_choice(type, c("estimate", "parts")) == "parts") hub_parts(object, NULL, min_degree) else object$theta
}

#' @rdname granary_hub
#' @export
tidy.granary_hub <- function(x, ...) {
  refuse_dots(...)
  theta <- x$theta
  columns <- rep(seq_len(ncol(theta)), diff(theta@p))
  upper <- theta@i + 1L < columns
  edges <- data.frame(from = colnames(theta)[theta@i[upper] + 1L], to = colnames(theta)[columns[upper]], value = theta@x[upper])
  edges <- edges[order(-abs(edges$value)), ]
  rownames(edges) <- NULL
  edges
}

#' @rdname granary_hub
#' @export
logLik.granary_hub <- function(object, ...) {
  n <- needs_n(object)
  p <- ncol(object$theta)
  value <- if (inherits(object, "granary_ising_hub")) {
    -object$loss
  } else {
    -n * (object$deviance + p * log(2 * pi)) / 2
  }
  structure(value, df = hub_complexity(object$V, object$Z) + p, nobs = n, class = "logLik")
}

#' @rdname granary_hub
#' @export
plot.granary_hub <- function(x, type = c("network", "parts"), ...) {
  type <- check_choice(type, c("network", "parts"))
  part <- hub_parts(x)
  if (type == "parts") return(plot_parts(part, precision = FALSE))
  p <- ncol(x$theta)
  angle <- 2 * pi * (seq_len(p) - 1) / p
  position <- cbind(cos(angle), sin(angle))
  edges <- tidy(x)
  old <- graphics::par(mar = c(1, 1, 2, 1))
  on.exit(graphics::par(old))
  draw(graphics::plot, position, type = "n", axes = FALSE, xlab = "", ylab = "", xlim = c(-1.15, 1.15), ylim = c(-1.15, 1.15),
       main = counted(x$df, "edge", "edges"), user = list(...))
  if (nrow(edges) > 0L) {
    from <- match(edges$from, colnames(x$theta))
    to <- match(edges$to, colnames(x$theta))
    graphics::segments(position[from, 1L], position[from, 2L], position[to, 1L], position[to, 2L],
                       lwd = 0.5 + 3 * abs(edges$value) / max(abs(edges$value)),
                       col = grDevices::adjustcolor(sign_colours[ifelse(edges$value > 0, "positive", "negative")], 0.6))
  }
  graphics::points(position, pch = 21, bg = "white", col = "grey30")
  if (p <= 60L) halo_text(position, colnames(x$theta), 0.8, circle_side(position))
  mark_hubs(position, part, colnames(x$theta), circle_side(position))
  invisible(position)
}

#' @rdname granary_hub
#' @usage \method{autoplot}{granary_hub}(object, type = c("network", "parts"), ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_hub <- function(object, type = c("network", "parts"), ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  type <- check_choice(type, c("network", "parts"))
  part <- hub_parts(object)
  if (type == "parts") return(autoplot_parts(part, precision = FALSE))
  names <- colnames(object$theta)
  angle <- 2 * pi * (seq_along(names) - 1) / length(names)
  position <- cbind(cos(angle), sin(angle))
  nodes <- data.frame(x = position[, 1L], y = position[, 2L], name = names)
  edges <- tidy(object)
  from <- match(edges$from, names)
  to <- match(edges$to, names)
  edges <- cbind(edges, x = nodes$x[from], y = nodes$y[from], xend = nodes$x[to], yend = nodes$y[to])
  gg_canvas(nodes, ggplot2::aes(.data$x, .data$y)) +
    ggplot2::geom_segment(ggplot2::aes(xend = .data$xend, yend = .data$yend, colour = .data$value, linewidth = abs(.data$value)), edges) +
    ggplot2::geom_point(shape = 21, fill = "white", size = 2) + autoplot_hubs(position, part, names) +
    (if (length(names) <= 60L) gg_names(names, position, from, to, away = 0.8)) + gg_room() +
    ggplot2::scale_colour_gradient2(low = sign_colours[["negative"]], mid = "grey85", high = sign_colours[["positive"]]) +
    ggplot2::scale_linewidth(range = c(0.3, 2), guide = "none") + ggplot2::coord_equal() + ggplot2::theme_void()
}

#' @rdname granary_hub
#' @export
simulate.granary_hub <- function(object, nsim = 1, seed = NULL, burn_in = 1000, thin = 100, exact = FALSE, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  burn_in <- check_count(burn_in, lower = 0)
  thin <- check_count(thin)
  exact <- check_flag(exact)
  if (exact && inherits(object, "granary_ising_hub") && ncol(object$theta) > 15L) {
    abort_input("`exact` enumerates all states and is for at most 15 variables.", "exact")
  }
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim, burn_in = burn_in, thin = thin, exact = exact)))
  theta <- as.matrix(object$theta)
  draws <- if (inherits(object, "granary_ising_hub")) {
    core_ising_sample(theta, list(n = nsim, burn_in = burn_in, thin = thin, exact = exact), core_seed(), NULL)
  } else {
    sweep(core_covariance_sample(theta, nsim, core_seed()), 2L, ggm_mean(object), "+")
  }
  colnames(draws) <- colnames(theta)
  draws
}
