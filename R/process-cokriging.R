#' Co-kriging: runs of several fidelities
#'
#' An emulator of an expensive simulator that also learns from many runs of a cheaper version of it.
#'
#' @details
#' The autoregressive model of Kennedy and O'Hagan: \eqn{y_e(x) = \rho\,y_c(x) + \delta(x)}{y_e(x) = rho y_c(x) + delta(x)}, the cheap response
#' and the difference \eqn{\delta}{delta} independent kriging models, each with trend, variance and lengthscales of its own; more levels by
#' recursion. The cheap model is fitted first; the expensive one is universal kriging with the cheap response as a further trend column, whose
#' coefficient is \eqn{\rho}{rho}.
#'
#' Where the expensive design is nested in the cheap one (rows are matched up to \eqn{10^{-8}}{1e-8} of the ranges) prediction is the exact
#' recursion \eqn{m = \rho m_c + m_\delta}{m = rho m_c + m_delta}, \eqn{v = \rho^2 v_c + v_\delta}{v = rho^2 v_c + v_delta}. Otherwise the cheap
#' model's prediction stands in for the missing cheap runs when \eqn{\rho}{rho} and \eqn{\delta}{delta} are fitted (a message says so), and
#' predictions come from the joint law of all runs, with covariance blocks \eqn{\sigma_c^2R_c}{s2c Rc}, \eqn{\rho\sigma_c^2R_c}{rho s2c Rc} and
#' \eqn{\rho^2\sigma_c^2R_c + \sigma_\delta^2R_\delta}{rho^2 s2c Rc + s2d Rd}. Variances take \eqn{\rho}{rho} and the lengthscales as known.
#'
#' @section Which method when:
#' A cheap version costs at most a tenth and its response correlates with the expensive one. If \eqn{\rho}{rho} is near zero or the leave-one-out error
#' is no better than that of [kriging()] on the expensive runs alone, use that.
#'
#' @param x_cheap,y_cheap Runs of the cheap simulator; for more than two levels lists of inputs and of responses, from the cheapest up.
#' @param x_expensive,y_expensive Runs of the most expensive one.
#' @param formula,data,expensive,na.action A formula, response ~ inputs, a data frame with the cheap runs and one with the expensive runs, and what to do with
#'   missing values, as for [stats::lm()].
#' @param trend Trend of the cheapest level, as in [kriging()].
#' @param trend_difference Trend of the differences.
#' @param kernel,lengthscale,nugget,method,prior,n_starts,lower,upper,optimizer,max_iter,tol,threads As in [kriging()], for every level; `kernel`,
#'   `lengthscale`, `lower` and `upper` may be lists with one value per level, from the cheapest up.
#' @param object,x A fit by `cokriging()`.
#' @param newdata Points; `NULL` for the expensive runs.
#' @param se Whether to give standard errors.
#' @param cov Whether to give the joint covariance matrix of all points.
#' @param gradient Whether to give derivatives.
#' @param interval Whether to add the ends of an interval, `lwr` and `upr`: `"confidence"` for the function, `"prediction"` for a new response.
#' @param level Probability of the interval.
#' @param how `"recursive"` or `"joint"`, see details; `"auto"` is the first for nested designs and the second for others.
#' @param nsim Number of draws, joint over the points.
#' @param seed A seed, or `NULL` for the random numbers of the session.
#' @param inputs,at,size For `plot()`, as in [granary_kriging].
#' @param ... Passed from the formula method to the default method; for `plot()`, passed on to the plotting function; otherwise not used.
#' @return An object of class `granary_cokriging`: `levels` (a list of [kriging()] fits: the cheapest response, then the differences), `rho`,
#'   `nested`. `predict()` gives a vector, or a list with `fit` and what was asked of `se.fit`, `cov`, `gradient`, `variance_gradient`,
#'   with `extrapolates`; `simulate()` a matrix with one column per draw; `logLik()` the sum over the levels; `residuals()` the leave-one-out errors
#'   at the expensive runs, the cheap ones being kept.
#' @references Kennedy and O'Hagan (2000). Predicting the output from a complex computer code when fast approximations are available. *Biometrika*
#' 87, 1--13.
#'
#' Couckuyt, Dhaene and Demeester (2014). ooDACE toolbox: a flexible object-oriented Kriging implementation. *Journal of Machine Learning
#' Research* 15, 3183--3186.
#' @seealso [kriging()], [blind_kriging()], [kriging_diagnose()], [gp_parameter_sample()], [sparse_gp()], [gp_classify()]
#' @export
#' @examples
#' cheap <- seq(0, 1, 0.1)
#' dear <- c(0, 0.4, 0.6, 1)
#' fit <- cokriging(cheap, test_function("forrester")(cheap, "cheap"), dear, test_function("forrester")(dear), kernel = "se",
#'                  n_starts = 3)  # the difference is linear: its lengthscale runs to the bound
#' fit
#' predict(fit, c(0.25, 0.75), se = TRUE)
#' simulate(fit, nsim = 2, newdata = c(0.25, 0.75), seed = 1)
#' coef(fit)
#' logLik(fit)
#' residuals(fit)
#' plot(fit)
#' curve(test_function("forrester")(x), add = TRUE, lty = 2)
#'
#' runs <- data.frame(x = cheap, y = test_function("forrester")(cheap, "cheap"))
#' cokriging(y ~ x, runs, data.frame(x = dear, y = test_function("forrester")(dear)), kernel = "se", n_starts = 3)
cokriging <- function(x_cheap, ...) {
  UseMethod("cokriging", formula_or_first(x_cheap, ...))
}

#' @rdname cokriging
#' @export
cokriging.formula <- function(formula, data = NULL, expensive, na.action, ...) {
  call <- match.call(expand.dots = FALSE)
  if (missing(expensive)) fail_missing("expensive")
  if (!is.data.frame(expensive)) fail_input("expensive", "a data frame with the expensive runs", describe(expensive))
  env <- parent.frame()
  cheap <- formula_design(call, env, character())
  call$data <- expensive
  dear <- formula_design(call, env, character())
  if (!identical(colnames(cheap$x), colnames(dear$x))) {
    abort_input(sprintf("The formula must give the same inputs in `data` and `expensive`, but it gives %s and %s.", toString(colnames(cheap$x)), toString(colnames(dear$x))),
                "expensive")
  }
  fit <- cokriging.default(unname_rows(cheap$x), cheap$y, unname_rows(dear$x), dear$y, ...)
  keep_design(fit, cheap, generic_call(match.call(), "cokriging"))
}

#' @rdname cokriging
#' @export
cokriging.default <- function(x_cheap, y_cheap, x_expensive, y_expensive, trend = ~1, trend_difference = ~1, kernel = "matern52",
                              lengthscale = NULL, nugget = 0,
                              method = c("ML", "REML", "LOO"), prior = NULL, n_starts = 10, lower = NULL, upper = NULL, optimizer = NULL, max_iter = 500,
                              tol = 1e-6, threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  method <- check_choice(method, c("ML", "REML", "LOO"))
  settings <- kriging_settings(nugget, method, NULL, n_starts, lower, upper, optimizer, max_iter, tol, threads, prior)
  if (missing(x_cheap)) fail_missing("x_cheap")
  if (missing(y_cheap)) fail_missing("y_cheap")
  if (missing(x_expensive)) fail_missing("x_expensive")
  if (missing(y_expensive)) fail_missing("y_expensive")
  runs <- check_levels(x_cheap, y_cheap, x_expensive, y_expensive, settings$nugget)
  pooled <- do.call(rbind, lapply(runs, `[[`, "x"))
  own <- lapply(list(kernel = kernel, lengthscale = lengthscale, lower = lower, upper = upper), per_level, length(runs))
  kernels <- Map(function(k, l) kriging_kernel(k, pooled, l, NULL), own$kernel, own$lengthscale)
  units <- joint_units(lapply(kernels, input_units, pooled))
  of_level <- function(t) utils::modifyList(settings, list(lower = own$lower[[t]], upper = own$upper[[t]]), keep.null = TRUE)
  levels <- list(krige(runs[[1L]], make_trend(trend, runs[[1L]]$x), kernels[[1L]], of_level(1L), units = units))
  rho <- numeric()
  exact <- settings$nugget == 0
  nested <- TRUE
  for (t in seq_along(runs)[-1L]) {
    here <- runs[[t]]
    at <- if (exact) match_rows(here$x, runs[[t - 1L]]$x, input_ranges(pooled)) else NA
    if (anyNA(at)) {
      if (exact) {
        message(sprintf("%s of level %d have no run at level %d: its prediction is used there.", counted(sum(is.na(at)), "row", "rows"), t, t - 1L))
      }
      nested <- FALSE
      below <- recursive_prediction(levels, rho, here$x)$fit
      if (exact) below[!is.na(at)] <- runs[[t - 1L]]$y[at[!is.na(at)]]
    } else {
      below <- runs[[t - 1L]]$y[at]
    }
    whole <- krige(here, make_trend(trend_difference, here$x, "trend_difference"), kernels[[t]], of_level(t), extra = matrix(below),
                   units = units)
    rho <- c(rho, whole$extra)
    here$y <- here$y - whole$extra * below
    difference <- rebuild_kriging(whole, here)
    difference$core$scale <- whole$core$scale
    difference[c("s2", "loglik")] <- whole[c("s2", "loglik")]
    levels <- c(levels, list(difference))
  }
  fit <- new_fit("cokriging", levels = levels, rho = rho, nested = nested, x = runs[[length(runs)]]$x, y = runs[[length(runs)]]$y,
                 runs = lapply(runs, `[`, c("x", "y")), call = call,
                 convergence = lapply(levels, function(level) convergence_table(level$convergence)))
  fit$call <- generic_call(call, "cokriging")
  for (t in seq_along(levels)) if (length(levels[[t]]$at_bound) > 0L) warn_on_bound(paste0(levels[[t]]$at_bound, " at level ", t))
  check_convergence(fit)
}

# One value for all levels, or a plain list with one for each.
per_level <- function(value, count) {
  if (!is.list(value) || inherits(value, "granary_kernel")) return(rep(list(value), count))
  if (length(value) != count) {
    abort_input(sprintf("A list of values for the levels must have one for each of the %d, but it has %d.", count, length(value)))
  }
  unname(value)
}

# Units that suit the kernels of all levels: as they are where one needs that, else the same for all inputs where one has a single lengthscale.
joint_units <- function(each) {
  shared <- vapply(each, function(u) length(unique(u$width)) == 1L, NA)
  plain <- vapply(each, function(u) all(u$width == 1) && all(u$low == 0), NA)
  each[[if (any(plain)) which(plain)[1L] else if (any(shared)) which(shared)[1L] else 1L]]
}

# One list(x, y) per level, the columns of all levels alike.
check_levels <- function(x_cheap, y_cheap, x_expensive, y_expensive, nugget) {
  several <- is.list(x_cheap) && !is.data.frame(x_cheap)
  if (several && (!is.list(y_cheap) || is.data.frame(y_cheap) || length(y_cheap) != length(x_cheap) || length(x_cheap) == 0L)) {
    abort_input("For several cheap levels `x_cheap` and `y_cheap` must be lists of the same length.", "y_cheap")
  }
  xs <- c(if (several) unname(x_cheap) else list(x_cheap), list(x_expensive))
  ys <- c(if (several) unname(y_cheap) else list(y_cheap), list(y_expensive))
  place <- function(stem, t) {
    if (t == length(xs)) return(paste0(stem, "_expensive"))
    paste0(stem, "_cheap", if (several) paste0("[[", t, "]]"))
  }
  runs <- lapply(seq_along(xs), function(t) check_runs(xs[[t]], ys[[t]], NULL, nugget, place("x", t), place("y", t)))
  labels <- colnames(runs[[1L]]$x)
  for (t in seq_along(runs)[-1L]) {
    x <- runs[[t]]$x
    if (ncol(x) != length(labels)) {
      abort_input(sprintf("`%s` must have the %d columns of the cheapest level, but it has %d.", place("x", t), length(labels), ncol(x)),
                  place("x", t))
    }
    if (setequal(colnames(x), labels)) x <- x[, labels, drop = FALSE]
    colnames(x) <- labels
    runs[[t]]$x <- x
  }
  runs
}

# The row of `table` that is each row of `x`, up to rounding; NA where there is none.
match_rows <- function(x, table, range) {
  a <- sweep(x, 2L, range, `/`)
  b <- t(sweep(table, 2L, range, `/`))
  apply(a, 1L, function(row) {
    distance <- apply(abs(b - row), 2L, max)
    if (min(distance) < 1e-8) which.min(distance) else NA_integer_
  })
}

# With the designs nested, levels are independent given the runs: means add up with factors rho, (co)variances with rho^2.
recursive_prediction <- function(levels, rho, x, se = FALSE, cov = FALSE, gradient = FALSE) {
  of <- function(level) {
    at <- predict(level, x, se = se, cov = cov, gradient = gradient)
    if (!is.list(at)) at <- list(fit = at)
    if (se) at$variance <- at$se.fit^2
    at
  }
  out <- of(levels[[1L]])
  for (t in seq_along(rho)) {
    at <- of(levels[[t + 1L]])
    for (part in intersect(c("fit", "gradient"), names(at))) out[[part]] <- rho[t] * out[[part]] + at[[part]]
    for (part in intersect(c("variance", "cov", "variance_gradient"), names(at))) out[[part]] <- rho[t]^2 * out[[part]] + at[[part]]
  }
  if (se) out$se.fit <- sqrt(out$variance)
  out[c("fit", if (se) "se.fit", if (cov) "cov", if (gradient) "gradient", if (gradient && se) "variance_gradient")]
}

# The levels as the core takes them: with the trend of each at its own runs and at those of all levels above.
joint_levels <- function(object) {
  inputs <- lapply(object$runs, `[[`, "x")
  lapply(seq_along(object$levels), function(t) {
    level <- object$levels[[t]]
    above <- do.call(rbind, inputs[t:length(inputs)])
    c(level$core[c("x", "kernel", "scale", "nugget")],
      list(y = object$runs[[t]]$y, f = unname(trend_matrix(level$trend, above)), rho = if (t > 1L) object$rho[t - 1L] else 1))
  })
}

joint_trend <- function(object, x) unname(do.call(cbind, lapply(object$levels, function(level) trend_matrix(level$trend, x))))

joint_prediction <- function(object, x, se, cov, gradient, threads) {
  units <- object$levels[[1L]]$units
  slopes <- if (gradient) {
    range <- input_ranges(do.call(rbind, lapply(object$runs, `[[`, "x")))
    parts <- lapply(object$levels, function(level) {
      trend <- trend_gradient(level$trend, x, range)
      if (length(trend) > 0L) trend else rep(list(0 * trend_matrix(level$trend, x)), ncol(x))
    })
    lapply(seq_len(ncol(x)), function(k) unname(do.call(cbind, lapply(parts, `[[`, k))) * units$width[k])
  } else {
    list()
  }
  at <- core_kriging_joint(joint_levels(object), list(x = to_units(x, units), f = joint_trend(object, x), slopes = slopes),
                           list(variance = se, covariance = cov, gradient = gradient, threads = threads), progress_bar("prediction"))
  named <- function(g) structure(sweep(g, 2L, units$width, `/`), dimnames = list(NULL, colnames(x)))
  c(list(fit = at$mean), if (se) list(se.fit = sqrt(at$variance)), if (cov) list(cov = at$covariance),
    if (gradient) list(gradient = named(at$mean_gradient)), if (gradient && se) list(variance_gradient = named(at$variance_gradient)))
}

#' @rdname cokriging
#' @export
predict.granary_cokriging <- function(object, newdata = NULL, se = FALSE, cov = FALSE, gradient = FALSE, how = c("auto", "recursive", "joint"),
                                      interval = c("none", "confidence", "prediction"), level = 0.95, threads = NULL, ...) {
  refuse_dots(...)
  interval <- check_choice(interval, c("none", "confidence", "prediction"))
  if (interval != "none") {
    noise <- object$levels[[length(object$levels)]]$noise_sd
    asked <- function(type) {
      out <- predict(object, newdata, TRUE, cov, gradient, how, threads = threads)
      if (type == "response") out$se.fit <- sqrt(out$se.fit^2 + noise^2)
      out
    }
    return(with_interval(asked, interval, level, check_flag(se)))
  }
  how <- check_choice(how, c("auto", "recursive", "joint"))
  se <- check_flag(se)
  cov <- check_flag(cov)
  gradient <- check_flag(gradient)
  threads <- if (has_user_code(object$levels[[1L]]$kernel)) 1L else thread_count(threads)
  x <- kriging_points(object$levels[[length(object$levels)]], newdata)
  if (cov && nrow(x) > 20000L) abort_input("`cov` is for at most 20000 points: its matrix would not fit in memory.", "cov")
  if (how == "auto") how <- if (object$nested) "recursive" else "joint"
  out <- if (how == "joint") {
    joint_prediction(object, x, se, cov, gradient, threads)
  } else {
    recursive_prediction(object$levels, object$rho, x, se, cov, gradient)
  }
  if (!se && !cov && !gradient) return(out$fit)
  out$extrapolates <- outside_runs(object, x)
  out
}

#' @rdname cokriging
#' @export
simulate.granary_cokriging <- function(object, nsim = 1, seed = NULL, newdata = NULL, ...) {
  refuse_dots(...)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim, newdata = newdata)))
  nsim <- check_count(nsim, upper = 1e6)
  x <- kriging_points(object$levels[[1L]], if (is.null(newdata)) object$x else newdata)
  if (nrow(x) > 20000L) abort_input("`newdata` must have at most 20000 rows: their joint covariance would not fit in memory.", "newdata")
  if (!object$nested) {
    points <- list(x = to_units(x, object$levels[[1L]]$units), f = joint_trend(object, x))
    return(core_kriging_joint_draws(joint_levels(object), points, nsim, core_seed(), progress_bar("simulation")))
  }
  draws <- simulate(object$levels[[1L]], nsim = nsim, newdata = x)
  for (t in seq_along(object$rho)) draws <- object$rho[t] * draws + simulate(object$levels[[t + 1L]], nsim = nsim, newdata = x)
  draws
}

#' @rdname cokriging
#' @export
coef.granary_cokriging <- function(object, ...) {
  trends <- lapply(seq_along(object$levels), function(t) {
    beta <- object$levels[[t]]$beta
    stats::setNames(beta, sprintf("level%d.%s", t, names(beta)))
  })
  c(stats::setNames(object$rho, paste0("rho", seq_along(object$rho))), unlist(trends))
}

#' @rdname cokriging
#' @export
logLik.granary_cokriging <- function(object, ...) {
  parts <- lapply(object$levels, logLik)
  structure(sum(vapply(parts, as.double, 0)), df = sum(vapply(parts, attr, 0, "df")) + length(object$rho), nobs = sum(vapply(parts, attr, 0, "nobs")),
            class = "logLik")
}

#' @rdname cokriging
#' @export
residuals.granary_cokriging <- function(object, ...) residuals(object$levels[[length(object$levels)]])

#' @rdname cokriging
#' @export
print.granary_cokriging <- function(x, ...) {
  short <- function(v) paste(format(v, digits = 4L, trim = TRUE), collapse = " ")
  cli::cat_line("granary: co-kriging of ", length(x$levels), " levels, designs ", if (x$nested) "nested" else "not nested")
  print_call(x$call)
  cli::cat_line("rho: ", short(x$rho))
  for (t in seq_along(x$levels)) {
    level <- x$levels[[t]]
    cli::cat_line(sprintf("Level %d (%s): %d runs, s2 %s, lengthscale %s, leave-one-out error %s", t, if (t == 1L) "cheapest" else "difference",
                          nrow(level$x),
                          short(level$s2), short(unlist(level$lengthscale)), short(level$cvpe)))
  }
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname cokriging
#' @export
plot.granary_cokriging <- function(x, inputs = NULL, at = NULL, size = 60, ...) {
  size <- check_count(size, lower = 2, upper = 2000)
  draw_kriging_surface(x, inputs, at, size, list(...))
  invisible()
}
