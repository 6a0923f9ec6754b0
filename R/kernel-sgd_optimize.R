#' The best learning rate for a given time
#'
#' Which learning rate, and which weight decay, gives the smallest test error after `t` updates per weight? `sgd_optimize()` minimises the error
#' that [sgd_curve()] predicts, for
#' each of several times, and fits \eqn{\eta(t) = (a + b \log t) / t}{eta(t) = (a + b log t) / t}, the form that the best rate takes
#' when
#' the final error grows and the transient shrinks with the rate: the best rate of a long run can be read off a few short ones.
#'
#' The rate is sought below the critical one (for `method = "offline"`, below the stability limit) by a grid on the logarithmic scale and Brent's
#' method, the weight decay likewise
#' around it, from a thousandth to thirty times `noise_var`, with zero as one more candidate. For long times the best decay is `noise_var`; it matters
#' much less than the rate.
#'
#' @section Which method when:
#' [sgd_optimize()] needs `alpha` and `noise_var`, but no run; `sgd_bounds("schedule")` takes rates that were found best in short runs of your own.
#' For infinite time see [sgd_bounds()]: the smaller the rate, the better.
#'
#' @inheritParams sgd_curve
#' @param t The times at which the error counts; for `predict()`, other times.
#' @param lambda Weight decay, or `NULL` to optimise it too.
#' @param threads Number of threads; times are shared among them. `NULL` stands for `getOption("granary.threads")`.
#' @return A fit of class `granary_sgd_optimum`: `table` with columns `t`, `eta`, `lambda`, `test`, and, for three times or more, `schedule`, a fit
#'   of class `granary_sgd_schedule` with `coefficients`
#'   `a` and `b`, whose `predict(object, t)` gives rates for other times.
#' @inherit sgd_curve references
#' @seealso [sgd_curve()], [sgd_bounds()], [sgd_exact()], [sgd_data()], [committee_curve()]
#' @export
#' @examples
#' best <- sgd_optimize(alpha = 1, t = c(5, 10, 20), noise_var = 0.1, lambda = 0.1, nodes = 100)
#' best
#' predict(best, t = 50)
#' plot(best)
sgd_optimize <- function(alpha, t, noise_var = 0.1, lambda = NULL, method = c("online", "offline"), spectrum = NULL, nodes = 200, threads = NULL, ...) {
  refuse_dots(...)
  settings <- check_sgd(alpha, 1, if (is.null(lambda)) 0 else lambda, noise_var)
  settings$method <- check_choice(method, c("online", "offline"))
  settings$spectrum <- check_spectrum(spectrum, settings$alpha)
  nodes <- check_count(nodes, lower = 10, upper = 100000)
  t <- check_times(t, strict = TRUE)
  if (settings$method == "offline" && t[1L] < settings$alpha) {
    abort_input(sprintf("`t` must be at least `alpha` (%s) for offline learning: before that there is no complete pass.", format(settings$alpha)),
                "t")
  }
  wanted <- settings
  wanted$nodes <- nodes
  if (is.null(lambda)) wanted$lambda <- -1
  found <- core_sgd_optimize(sgd_setting(wanted, threads = thread_count(threads)), t, progress_bar("learning rates"))
  table <- data.frame(t = t, eta = found$eta, lambda = found$lambda, test = found$test)
  settings$eta <- NULL
  settings$lambda <- if (!is.null(lambda)) settings$lambda
  schedule <- if (length(unique(t)) >= 3L) sgd_schedule(t, found$eta)
  new_fit("sgd_optimum", table = table, schedule = schedule, settings = settings, call = match.call(), convergence = found$convergence)
}

sgd_schedule <- function(t, eta = NULL) {
  if (missing(t)) fail_missing("t")
  if (inherits(t, "granary_sgd_optimum")) {
    if (!is.null(eta)) abort_input("`eta` must not be given beside a result of sgd_optimize().", "eta")
    eta <- t$table$eta
    t <- t$table$t
  }
  t <- unname(check_vector(t, "t", min_length = 2L, lower = 0, upper = 1e9, strict_lower = TRUE))
  eta <- unname(check_vector(eta, "eta", length = length(t), lower = 0, upper = 1e100, strict_lower = TRUE))
  if (length(unique(t)) < 2L) abort_input("`t` must have at least two different times.", "t")
  found <- core_sgd_schedule(t, eta)
  new_fit("sgd_schedule", coefficients = c(a = found$a, b = found$b), t = t, eta = eta, fitted = found$fitted, relative_error = found$residual,
          call = match.call(), convergence = list())
}

#' @rdname sgd_optimize
#' @param x,object A result of `sgd_optimize()`, or a schedule.
#' @export
print.granary_sgd_optimum <- function(x, ...) {
  cli::cat_line("granary: best learning rates, ", x$settings$method)
  cli::cat_line("alpha = ", format(x$settings$alpha), ", noise_var = ", format(x$settings$noise_var),
                if (is.null(x$settings$lambda)) ", lambda optimised too")
  print(x$table, digits = 4L, row.names = FALSE)
  if (!is.null(x$schedule)) print_schedule(x$schedule)
  invisible(x)
}

print_schedule <- function(x) {
  number <- format(x$coefficients, digits = 4L, trim = TRUE)
  cli::cat_line("schedule: eta = (", number[[1L]], " + ", number[[2L]], " log t) / t, relative error ", format(x$relative_error, digits = 2L))
}

#' @rdname sgd_optimize
#' @export
print.granary_sgd_schedule <- function(x, ...) {
  cli::cat_line("granary: schedule of the learning rate from ", counted(length(x$t), "time", "times"))
  print_schedule(x)
  invisible(x)
}

#' @rdname sgd_optimize
#' @export
predict.granary_sgd_schedule <- function(object, t = object$t, ...) {
  t <- check_vector(t, lower = 0, upper = 1e100, strict_lower = TRUE)
  value <- (object$coefficients[["a"]] + object$coefficients[["b"]] * log(t)) / t
  if (any(value <= 0)) warn_input("The schedule is not positive at some of `t`: it holds near and beyond the times it was fitted to.", "t")
  value
}

#' @rdname sgd_optimize
#' @export
predict.granary_sgd_optimum <- function(object, t = object$table$t, ...) {
  refuse_dots(...)
  if (is.null(object$schedule)) abort_input("A schedule needs at least three times: call sgd_optimize() with more.", "object")
  predict(object$schedule, t)
}

#' @rdname sgd_optimize
#' @export
coef.granary_sgd_schedule <- function(object, ...) object$coefficients

#' @rdname sgd_optimize
#' @param ... For `plot()`, graphical parameters. Otherwise not used.
#' @export
plot.granary_sgd_optimum <- function(x, ...) {
  draw(graphics::plot, x$table$t, x$table$eta, pch = 19, xlab = "final time (updates per weight)", ylab = "best learning rate",
       ylim = c(0, max(x$table$eta)), user = list(...))
  if (!is.null(x$schedule)) {
    at <- seq(min(x$table$t), max(x$table$t), length.out = 200L)
    graphics::lines(at, (x$schedule$coefficients[["a"]] + x$schedule$coefficients[["b"]] * log(at)) / at, lty = 3)
    graphics::legend("topright", c("minimised", "(a + b log t) / t"), pch = c(19, NA), lty = c(NA, 3), bty = "n")
  }
  invisible()
}

#' @rdname sgd_optimize
#' @export
plot.granary_sgd_schedule <- function(x, ...) {
  draw(graphics::plot, x$t, x$eta, pch = 19, xlab = "final time (updates per weight)", ylab = "learning rate", ylim = c(0, max(x$eta)),
       user = list(...))
  at <- seq(min(x$t), max(x$t), length.out = 200L)
  graphics::lines(at, (x$coefficients[["a"]] + x$coefficients[["b"]] * log(at)) / at, lty = 3)
  invisible()
}
