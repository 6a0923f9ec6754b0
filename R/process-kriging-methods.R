#' Methods for kriging models
#'
#' What can be done with the result of [kriging()] and [blind_kriging()].
#'
#' @details
#' **Prediction.** `type = "latent"` is the error of the function itself; `"response"` adds the noise of a new run; `"reinterpolate"` is the
#' error of the interpolator through the fitted values of a noisy model: the same mean, but variance 0 at the runs, as an optimiser that uses the
#' model needs it. `gradient = TRUE` gives the derivatives of the mean in every input, and with `se = TRUE` those of the variance as
#' `variance_gradient`. Where a list is returned, `extrapolates` marks points outside the box of the runs.
#'
#' **Simulation.** `simulate()` draws the function jointly at the points of `newdata`, given the runs; with `conditional = FALSE` from the fitted
#' model without them (its trend, variance and lengthscales).
#'
#' **New runs.** `update()` adds runs in \eqn{O(n^2)} each with the parameters as they are; `refit = TRUE` learns them again, starting from where they
#' are.
#'
#' **Leave-one-out** errors are exact, from one factorisation: with \eqn{H = C^{-1} - C^{-1}F(F'C^{-1}F)^{-1}F'C^{-1}}{H = C^-1 - C^-1 F (F'C^-1
#' F)^-1 F'C^-1} the error of run \eqn{i} is \eqn{[Hy]_i/H_{ii}}{[Hy]_i / H_ii} and its variance \eqn{\sigma^2/H_{ii}}{s2 / H_ii}.
#'
#' @param object,x A fit by [kriging()].
#' @param newdata Points: a matrix or data frame with the inputs of the fit (a vector for one input); `NULL` for the runs. For `update()`, the
#'   inputs of the new runs.
#' @param se Whether to give standard errors.
#' @param cov Whether to give the joint covariance matrix of all points.
#' @param gradient Whether to give derivatives.
#' @param type For `predict()` and `simulate()` see details; for `residuals()` `"loo"`, `"standardized"` (leave-one-out errors over their standard
#'   deviations) or `"response"`; for `plot()` `"auto"`, `"loo"` (three panels of diagnostics) or `"surface"` (one or two inputs with an error
#'   band).
#' @param interval Whether to add the ends of an interval, `lwr` and `upr`: `"confidence"` for the function, `"prediction"` for a new response, noise included.
#' @param level Probability of the interval.
#' @param noise_var Noise variance of new runs where the fit has known noise, one or one per row.
#' @param threads Number of threads; `NULL` for `options(granary.threads)`.
#' @param nsim Number of draws.
#' @param seed A seed, or `NULL` for the random numbers of the session.
#' @param conditional Whether draws honour the runs.
#' @param newy Responses of the new runs. Without new runs, `update()` fits again with other arguments.
#' @param refit Whether to learn the parameters again.
#' @param inputs For surfaces: the one or two inputs drawn, by name or number.
#' @param at Values of the other inputs, in their order; `NULL` for the middle of their ranges.
#' @param size Number of grid points along an axis.
#' @param ... For `plot()`, passed on to the plotting function; otherwise not used.
#' @return `predict()` a vector, or a list with `fit` and what was asked of `se.fit`, `lwr` and `upr`, `cov`, `gradient`, `variance_gradient`, with `extrapolates`;
#'   `simulate()` a matrix with one column per draw; `update()` a fit; `residuals()` and `fitted()` vectors; `logLik()` an object of class
#'   `logLik`; `coef()` the trend coefficients; `vcov()` their covariance matrix; `tidy()` a data frame of all parameters; `summary()` an object
#'   that prints; `plot()` `NULL`, invisibly; `autoplot()` a ggplot.
#' @seealso [kriging()], [blind_kriging()], [cokriging()], [kriging_diagnose()], [gp_parameter_sample()], [sparse_gp()]
#' @name granary_kriging
#' @importFrom stats coef fitted logLik predict residuals simulate update vcov
#' @examples
#' x <- c(0, 0.2, 0.45, 0.7, 1)
#' fit <- kriging(x, sin(6 * x) + x, kernel = "se", lengthscale = 0.3)
#' predict(fit, c(0.1, 0.33), se = TRUE, gradient = TRUE)
#' coef(fit)
#' vcov(fit)
#' logLik(fit)
#' residuals(fit)
#' fitted(fit)
#' tidy(fit)
#' summary(fit)
#' more <- update(fit, 0.9, sin(5.4) + 0.9)
#' simulate(more, nsim = 3, newdata = c(0.1, 0.5), seed = 1)
#' plot(more)
#' if (requireNamespace("ggplot2", quietly = TRUE)) ggplot2::autoplot(more)
NULL

# Rows in the columns of the fit.
kriging_points <- function(object, newdata, arg = "newdata") {
  if (is.null(newdata)) return(object$x)
  labels <- colnames(object$x)
  if (is_plain_numeric(newdata) && is.null(dim(newdata)) && length(labels) == 1L) newdata <- matrix(newdata, ncol = 1L)
  out <- new_design(newdata, labels, object$design, arg, allow_sparse = FALSE)
  dimnames(out) <- list(NULL, labels)
  out
}

known_part <- function(object, f) {
  known <- object$settings$known_trend
  if (is.null(known)) return(list(f = unname(f), offset = 0))
  list(f = matrix(0, nrow(f), 0L), offset = as.vector(f %*% known))
}

# Noise variance of new runs.
new_noise <- function(object, n, noise_var) {
  noise_var <- check_vector(noise_var, "noise_var", lower = 0, allow_null = TRUE)
  if (!is.null(noise_var) && !length(noise_var) %in% c(1L, n)) {
    abort_input(sprintf("`noise_var` must be one number or one per row (%d), but it has length %d.", n, length(noise_var)), "noise_var")
  }
  if (is.null(noise_var) && !is.null(object$noise_var)) {
    abort_input("The fit has known noise, so the noise of new runs must be given as `noise_var`.", "noise_var")
  }
  object$noise_sd^2 + if (is.null(noise_var)) numeric(n) else rep_len(unname(noise_var), n)
}

#' @rdname granary_kriging
#' @export
predict.granary_kriging <- function(object, newdata = NULL, se = FALSE, cov = FALSE, gradient = FALSE,
                                    type = c("latent", "response", "reinterpolate"), noise_var = NULL, interval = c("none", "confidence", "prediction"),
                                    level = 0.95, threads = NULL, ...) {
  refuse_dots(...)
  interval <- check_choice(interval, c("none", "confidence", "prediction"))
  if (interval != "none") {
    asked <- function(type) predict(object, newdata, TRUE, cov, gradient, type, noise_var, threads = threads)
    return(with_interval(asked, interval, level, check_flag(se)))
  }
  type <- check_choice(type, c("latent", "response", "reinterpolate"))
  se <- check_flag(se)
  cov <- check_flag(cov)
  gradient <- check_flag(gradient)
  threads <- thread_count(threads)
  if (has_user_code(object$kernel)) threads <- 1L
  x <- kriging_points(object, newdata)
  if (cov && nrow(x) > 20000L) abort_input("`cov` is for at most 20000 points: its matrix would not fit in memory.", "cov")
  noise <- if (type == "response" && (se || cov)) new_noise(object, nrow(x), noise_var) else check_unused_noise(noise_var, nrow(x))
  part <- known_part(object, trend_matrix(object$trend, x))
  width <- object$units$width
  known <- object$settings$known_trend
  trivial <- object$trend$kind %in% c("none", "constant")
  slopes <- if (gradient && !trivial) Map(`*`, trend_gradient(object$trend, x, input_ranges(object$x)), width) else list()
  noisy <- object$nugget > 0 || !is.null(object$noise_var)
  points <- list(x = to_units(x, object$units), f = part$f, slopes = if (is.null(known)) lapply(slopes, unname) else list())
  options <- list(reinterpolate = type == "reinterpolate" && noisy && object$s2 > 0, variance = se, covariance = cov, gradient = gradient,
                  threads = threads)
  at <- core_kriging_predict(object$core, points, options, progress_bar("prediction"))
  fit <- at$mean + part$offset
  if (!se && !cov && !gradient) return(fit)
  out <- list(fit = fit)
  if (se) out$se.fit <- sqrt(at$variance + noise)
  if (cov) out$cov <- at$covariance + diag(noise, nrow(x))
  if (gradient) {
    named <- function(g) structure(sweep(g, 2L, width, `/`), dimnames = list(NULL, colnames(x)))
    out$gradient <- named(at$mean_gradient)
    if (!is.null(known) && !trivial) {
      moves <- vapply(slopes, function(f) as.vector(f %*% known), numeric(nrow(x)))
      out$gradient <- out$gradient + moves / rep(width, each = nrow(x))
    }
    if (se) out$variance_gradient <- named(at$variance_gradient)
  }
  out$extrapolates <- outside_runs(object, x)
  out
}

# Which points are outside the box of the runs.
outside_runs <- function(object, x) {
  low <- apply(object$x, 2L, min)
  high <- apply(object$x, 2L, max)
  edge <- 1e-9 * (high - low)
  rowSums(sweep(x, 2L, low - edge) < 0 | sweep(x, 2L, high + edge) > 0) > 0
}

check_unused_noise <- function(noise_var, n) {
  check_vector(noise_var, "noise_var", lower = 0, allow_null = TRUE)
  numeric(n)
}

#' @rdname granary_kriging
#' @export
simulate.granary_kriging <- function(object, nsim = 1, seed = NULL, newdata = NULL, type = c("latent", "response"), conditional = TRUE,
                                     noise_var = NULL, ...) {
  refuse_dots(...)
  if (!is.null(seed)) {
    return(with_seed(seed, simulate(object, nsim = nsim, newdata = newdata, type = type, conditional = conditional, noise_var = noise_var)))
  }
  nsim <- check_count(nsim, upper = 1e6)
  type <- check_choice(type, c("latent", "response"))
  conditional <- check_flag(conditional)
  x <- kriging_points(object, newdata)
  if (nrow(x) > 20000L) abort_input("`newdata` must have at most 20000 rows: their joint covariance would not fit in memory.", "newdata")
  if (nsim * nrow(x) > 2^31 - 1) abort_input("`nsim` times the number of points is too large.", "nsim")
  noise <- if (type == "response") new_noise(object, nrow(x), noise_var) else check_unused_noise(noise_var, nrow(x))
  f <- trend_matrix(object$trend, x)
  part <- known_part(object, f)
  draws <- core_kriging_draws(object$core, list(x = to_units(x, object$units), f = part$f, noise = noise),
                              list(conditional = conditional, count = nsim), core_seed(), progress_bar("simulation"))
  if (conditional) return(draws + part$offset)
  coefficients <- object$beta[!is.na(object$beta)]
  draws + if (length(coefficients) > 0L) as.vector(f %*% coefficients) else 0
}

#' @rdname granary_kriging
#' @export
update.granary_kriging <- function(object, newdata, newy, noise_var = NULL, refit = FALSE, ...) {
  if (missing(newdata) || inherits(newdata, "formula")) return(refitted_call(object, match.call(), parent.frame()))
  refuse_dots(...)
  if (is.null(newdata)) fail_input("newdata", "a matrix or data frame of inputs", "NULL")
  refit <- check_flag(refit)
  x <- kriging_points(object, newdata)
  if (missing(newy)) fail_missing("newy")
  y <- check_response(newy, nrow(x))$y
  if (max(abs(y)) > 1e150) abort_input("`newy` has a value too large to compute with.", "newy")
  noise <- if (!is.null(object$noise_var)) new_noise(object, nrow(x), noise_var) - object$noise_sd^2 else check_unused_noise(noise_var, nrow(x))
  if (is.null(object$noise_var) && object$nugget == 0) {
    whole <- drop_repeated(rbind(object$x, x), c(object$y, y), "newdata")
    fresh <- seq_len(nrow(whole$x)) > nrow(object$x)
    x <- whole$x[fresh, , drop = FALSE]
    y <- whole$y[fresh]
    noise <- numeric(length(y))
    if (length(y) == 0L) return(object)
  }
  runs <- list(x = rbind(object$x, x), y = c(object$y, y), noise_var = if (!is.null(object$noise_var)) c(object$noise_var, noise))
  if (refit || object$s2 == 0) {
    kernel <- object$kernel
    if (is.null(kernel$children)) kernel$variance <- 1
    out <- krige(runs, refresh_trend(object$trend), kernel, object$settings)
    out[c("call", "design", "path", "relearnt")] <- object[c("call", "design", "path", "relearnt")]
    class(out) <- class(object)
    warn_on_bound(out$at_bound)
    return(check_convergence(out))
  }
  f <- trend_matrix(object$trend, x)
  part <- known_part(object, f)
  solved <- tryCatch(
    core_kriging_append(object$core, list(x = to_units(x, object$units), y = y - part$offset, f = part$f, noise = noise)),
    granary_error_numeric = function(e) NULL  # too close to a run: factor again, with jitter
  )
  out <- rebuild_kriging(object, runs, solved = solved)
  out[c("path", "relearnt")] <- object[c("path", "relearnt")]
  class(out) <- class(object)
  out
}

refresh_trend <- function(trend) {
  trend$keep <- NULL
  trend
}

#' @rdname granary_kriging
#' @export
coef.granary_kriging <- function(object, ...) object$beta

#' @rdname granary_kriging
#' @export
vcov.granary_kriging <- function(object, ...) {
  used <- if (is.null(object$settings$known_trend)) names(object$beta)[!is.na(object$beta)] else character()
  if (length(used) == 0L) return(matrix(0, 0L, 0L))
  value <- object$core$scale * object$trend_covariance
  dimnames(value) <- list(used, used)
  value
}

#' @rdname granary_kriging
#' @export
logLik.granary_kriging <- function(object, ...) {
  trend <- if (is.null(object$settings$known_trend)) sum(!is.na(object$beta)) else 0L
  structure(object$loglik, df = trend + object$n_parameters + object$core$profile, nobs = nrow(object$x), class = "logLik")
}

#' @rdname granary_kriging
#' @export
fitted.granary_kriging <- function(object, ...) object$fitted

#' @rdname granary_kriging
#' @export
residuals.granary_kriging <- function(object, type = c("loo", "standardized", "response"), ...) {
  type <- check_choice(type, c("loo", "standardized", "response"))
  if (type == "response") return(object$y - object$fitted)
  error <- object$y - object$loo$mean
  if (type == "loo") return(error)
  ifelse(object$loo$variance > 0, error / sqrt(object$loo$variance), 0)
}

#' @rdname granary_kriging
#' @export
tidy.granary_kriging <- function(x, ...) {
  error <- rep(NA_real_, length(x$beta))
  covariance <- vcov(x)
  if (nrow(covariance) > 0L) error[!is.na(x$beta)] <- sqrt(diag(covariance))
  lengths <- unlist(x$lengthscale)
  frame <- function(term, estimate, part, error = NA_real_) {
    data.frame(term = term, part = rep(part, length(term)), estimate = unname(estimate), std.error = rep_len(error, length(term)),
               stringsAsFactors = FALSE)
  }
  labels <- if (is.null(names(lengths))) rep("lengthscale", length(lengths)) else names(lengths)
  rbind(frame(names(x$beta), x$beta, "trend", error), frame(labels, lengths, "lengthscale"), frame(c("s2", "nugget"), c(x$s2, x$nugget), "variance"))
}

kriging_title <- function(x) {
  kind <- if (!is.null(x$settings$known_trend) || x$trend$kind == "none") "simple" else if (x$trend$kind == "constant") "ordinary" else "universal"
  kind <- if (inherits(x, "granary_blind_kriging")) "blind" else kind
  paste0("granary: ", kind, " kriging", if (x$nugget > 0 || !is.null(x$noise_var)) " of noisy runs")
}

#' @rdname granary_kriging
#' @export
print.granary_kriging <- function(x, ...) {
  short <- function(v) paste(format(v, digits = 4L, trim = TRUE), collapse = " ")
  cli::cat_line(kriging_title(x))
  print_call(x$call)
  cli::cat_line("Runs:         ", nrow(x$x), " of ", counted(ncol(x$x), "input", "inputs"))
  cli::cat_line("Kernel:       ", format(x$kernel), ", s2 ", short(x$s2))
  for (lengths in if (is.list(x$lengthscale)) x$lengthscale else list(x$lengthscale)) {
    shown <- lengths[seq_len(min(8L, length(lengths)))]
    labelled <- if (is.null(names(shown))) short(shown) else paste(names(shown), format(shown, digits = 3L, trim = TRUE))
    cli::cat_line("Lengthscale:  ", paste(c(labelled, if (length(lengths) > 8L) "..."), collapse = ", "))
  }
  if (x$nugget > 0) cli::cat_line("Noise:        standard deviation ", short(x$noise_sd), " (nugget ", short(x$nugget), ")")
  if (!is.null(x$noise_var)) cli::cat_line("Noise:        known, standard deviations ", short(range(sqrt(x$noise_var))))
  if (length(x$beta) > 0L) {
    shown <- x$beta[seq_len(min(8L, length(x$beta)))]
    cli::cat_line("Trend:        ", paste(c(paste(names(shown), format(shown, digits = 3L, trim = TRUE)), if (length(x$beta) > 8L) "..."),
                                          collapse = ", "))
  }
  cli::cat_line(if (x$method == "ML") "Likelihood:   " else "Restricted:   ", "log ", short(x$loglik), "; leave-one-out error ", short(x$cvpe))
  if (length(x$at_bound) > 0L) cli::cat_line("At bound:     ", paste(x$at_bound, collapse = ", "))
  if (x$jitter > 0) cli::cat_line("Jitter:       ", short(x$jitter))
  cli::cat_line("Solver:       ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname granary_kriging
#' @export
summary.granary_kriging <- function(object, ...) {
  z <- residuals(object, "standardized")
  error <- residuals(object, "loo")
  spread <- sum((object$y - mean(object$y))^2)
  seal(structure(list(fit = object, parameters = tidy(object), loo = c(
    "root mean squared error" = sqrt(mean(error^2)), "mean absolute error" = mean(abs(error)),
    "predictive R squared" = if (spread > 0) 1 - sum(error^2) / spread else NA_real_,
    "mean of standardised errors" = mean(z), "their variance" = if (length(z) > 1L) stats::var(z) else NA_real_,
    "share within 2 standard errors" = mean(abs(z) <= 2)
  ), starts = object$starts), class = "summary_granary_kriging"))
}

#' @export
print.summary_granary_kriging <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  print(x$parameters, digits = 4L, row.names = FALSE)
  cli::cat_line()
  cli::cat_line("Leave-one-out:")
  cli::cat_line("  ", format(names(x$loo)), "  ", format(x$loo, digits = 3L))
  if (!is.null(x$starts)) {
    cli::cat_line()
    cli::cat_line("Starts:")
    print(utils::head(x$starts[order(-x$starts$criterion), ], 10L), digits = 5L, row.names = FALSE)
  }
  invisible(x)
}
