#' Methods for sparse Gaussian processes
#'
#' What can be done with the result of [sparse_gp()].
#'
#' @details
#' `predict()` returns means; with `se`, `cov` or `gradient` a list of what was asked for. `type = "latent"` gives the spread of the function,
#' `"response"` that of a new observation, noise included. The mean costs \eqn{O(m)} and the variance \eqn{O(m^2)} per row.
#'
#' **Augmented predictions** (`augment = TRUE`) add every new row, in turn, to the inducing inputs. This heals the vanishing error bars of
#' `"sor"`, for
#' which it gives the same answer as for `"dtc"`, and tightens those of all methods near the data. It costs \eqn{O(nm)} per row, with
#' `"fitc"` \eqn{O(nm^2)}, because every diagonal element of its \eqn{\Lambda}{Lambda} changes.
#'
#' `update()` adds rows at \eqn{O(m^2)} each and leaves parameters and inducing inputs as they are; for `"exact"` and `"sod"` it refits with the
#' rows added to
#' those used. New rows of `"pitc"` form a block.
#'
#' `simulate()` draws functions (or responses) at `newdata` from the joint posterior.
#'
#' @param object,x A fit by [sparse_gp()].
#' @param newdata New rows: a matrix with the columns of the fit (a vector if there is one), or a data frame with the variables of its formula.
#'   `NULL` for the
#'   data of the fit, or for its test rows with `inducing = "test"`.
#' @param se,cov,gradient Also the standard errors; the covariance matrix of the new rows (at most 5000); the gradient of the mean in the inputs?
#' @param type For `predict()` and `simulate()`: see Details. For `plot()`: `"fit"`, a band with the data and ticks at the inducing inputs (one input)
#'   or a map of the mean (two inputs); `"observed"` against fitted; `"trace"`, the evidence along the optimisation. `NULL` for the first that
#'   is possible.
#' @param augment See Details. Not for `"exact"`, `"sod"` and `"nystrom"`.
#' @param threads Number of threads; by default that of the fit.
#' @param newy The response of the new rows.
#' @param nsim Number of draws.
#' @param seed `NULL`, or a number for [set.seed()]; the session's random numbers are left as they were.
#' @param interval Whether to add the ends of an interval, `lwr` and `upr`: `"confidence"` for the function, `"prediction"` for a new response.
#' @param level Probability of the interval or band.
#' @param data The data to add columns to; `NULL` for the response alone.
#' @param ... For `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @return `predict()` a vector, or a list with those of `fit`, `se.fit`, `cov` and `gradient` that were asked for, and `variance` for
#'   `"nystrom"`, which
#'   may be negative: `se.fit` is then `NA`. `update()` a fit; `simulate()` a matrix with one column per draw; `coef()` the trend; `logLik()`
#'   the log evidence; `tidy()` a data frame of the parameters; `augment()` the data with columns `.fitted`, `.se.fit` and `.resid`; `plot()` `NULL`,
#'   invisibly; `autoplot()` a ggplot.
#' @seealso [sparse_gp()], [sparse_gp_compare()], [rvm()], [kriging()], [gp_classify()], [bayes_opt()]
#' @name granary_sparse_gp
#' @importFrom stats coef fitted logLik predict residuals simulate update
#' @examples
#' set.seed(1)
#' x <- runif(200, 0, 6)
#' y <- sin(2 * x) + rnorm(200, sd = 0.2)
#' fit <- sparse_gp(x, y, method = "sor", inducing = 8)
#' predict(fit, 1:3)
#' predict(fit, c(3, 9), se = TRUE)  # far away the error vanishes,
#' predict(fit, c(3, 9), se = TRUE, augment = TRUE)  # unless x is added to the inducing inputs
#' fit <- update(fit, c(2.5, 2.6), c(-1, -0.9))
#' summary(fit)
#' logLik(fit)
#' tidy(fit)
#' glance(fit)
#' head(augment(fit), 3)
#' head(residuals(fit), 3)
#' head(fitted(fit), 3)
#' coef(fit)
#' dim(simulate(fit, 3, newdata = seq(0, 6, 0.5)))
#' plot(fit, type = "observed")
#' if (requireNamespace("ggplot2", quietly = TRUE)) ggplot2::autoplot(fit)
NULL

sparse_titles <- c(
  fitc = "fully independent training conditional", fic = "fully independent conditional", pitc = "partially independent training conditional",
  dtc = "deterministic training conditional", sor = "subset of regressors", vfe = "variational free energy", sod = "subset of data",
  nystrom = "Nystrom approximation", exact = "all rows"
)

#' @rdname granary_sparse_gp
#' @export
print.granary_sparse_gp <- function(x, ...) {
  short <- function(value) format(value, digits = 4L)
  cli::cat_line("Gaussian process regression, ", toupper(x$method), " (", sparse_titles[[x$method]], "): ", x$n, " rows, ",
                counted(ncol(x$x), "column", "columns"))
  print_call(x$call)
  if (x$method == "sod") {
    cli::cat_line(nrow(x$inducing), " rows used", if (!is.null(x$select)) paste0(", chosen by ", x$select))
  } else if (x$method != "exact") {
    how <- if (!is.null(x$test)) "the test rows" else if (is.null(x$select)) "as given" else paste("by", x$select)
    cli::cat_line(nrow(x$inducing), " inducing inputs, ", how, "; they leave ", short(100 * x$gap[["trace"]]), "% of the prior variance open")
  }
  print(x$kernel)
  cli::cat_line("noise variance ", short(x$noise_var),
                if (length(x$coefficients) > 0L) paste0("; trend ", paste(short(x$coefficients), collapse = " ")))
  cli::cat_line(if (x$method == "vfe") "bound of the log evidence " else "log evidence ", format(x$loglik, digits = 6L))
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname granary_sparse_gp
#' @export
summary.granary_sparse_gp <- function(object, ...) {
  rest <- residuals(object)
  seal(structure(list(fit = object, parameters = tidy(object), residual_sd = sqrt(mean(rest^2)),
                 r_squared = 1 - mean(rest^2) / mean((object$y - mean(object$y))^2)),
            class = "summary_granary_sparse_gp"))
}

#' @export
print.summary_granary_sparse_gp <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  print(x$parameters, digits = 4L, row.names = FALSE)
  cli::cat_line("residual standard deviation ", format(x$residual_sd, digits = 4L),
                if (is.finite(x$r_squared)) paste0(", R-squared ", format(x$r_squared, digits = 4L)))
  if (!is.null(x$fit$gap)) {
    cli::cat_line("largest variance left open, over the mean prior variance: ", format(x$fit$gap[["max"]], digits = 4L), "; jitter ",
                  format(x$fit$jitter, digits = 2L))
  }
  invisible(x)
}

# New rows in the columns of the fit.
process_rows <- function(object, newdata, arg = "newdata") {
  if (is.null(newdata)) return(if (is.null(object$test)) object$x else object$test)
  if (is_plain_numeric(newdata) && is.null(dim(newdata))) {
    newdata <- if (ncol(object$x) == 1L) matrix(newdata, ncol = 1L) else matrix(newdata, nrow = 1L)
  }
  rows <- new_design(newdata, colnames(object$x), object$design, arg, allow_sparse = FALSE)
  if (!is.null(object$test) && !(ncol(rows) == ncol(object$test) && nrow(rows) == nrow(object$test) && all(rows == object$test))) {
    abort_input(paste0("This fit is transductive (inducing = \"test\"): it can predict its test rows only.\n",
                       "Fit again with the new rows as `newdata`, or with another choice of inducing inputs."), arg)
  }
  rows
}

# The fit as compiled code takes it.
core_state <- function(object) {
  state <- object$state
  state$inducing <- unname(object$inducing)
  list(state = state, kernel = object$kernel)
}

# The rows of the fit, for predictions that look at them again.
core_rows <- function(object, threads) {
  sparse_rows(object$x, cbind(object$y - object$data$offset, trend_basis(object$data, object$x)), object$blocks, object$kernel,
              object$method, threads)
}

#' @rdname granary_sparse_gp
#' @export
predict.granary_sparse_gp <- function(object, newdata = NULL, se = FALSE, cov = FALSE, gradient = FALSE, type = c("latent", "response"),
                                      augment = FALSE, interval = c("none", "confidence", "prediction"), level = 0.95, threads = NULL, ...) {
  refuse_dots(...)
  interval <- check_choice(interval, c("none", "confidence", "prediction"))
  if (interval != "none") {
    asked <- function(type) predict(object, newdata, TRUE, cov, gradient, type, augment, threads = threads)
    return(with_interval(asked, interval, level, check_flag(se)))
  }
  rows <- process_rows(object, newdata)
  se <- check_flag(se)
  cov <- check_flag(cov)
  gradient <- check_flag(gradient)
  type <- check_choice(type, c("latent", "response"))
  augment <- check_flag(augment)
  most <- if (has_user_code(object$kernel)) 1L else 1024L
  threads <- if (is.null(threads)) object$threads else min(thread_count(threads), most)
  if (cov && nrow(rows) > 5000L) abort_input("cov = TRUE is for at most 5000 rows.", "cov")
  if (augment && object$method %in% c("exact", "sod", "nystrom")) {
    abort_input(sprintf("augment = TRUE is not possible with method = \"%s\", which has no inducing variables to add to.", object$method), "augment")
  }
  if (augment && (cov || gradient)) abort_input("augment = TRUE treats each row by itself: there is no `cov` or `gradient`.", "augment")
  trend <- trend_basis(object$data, rows)
  progress <- progress_bar("prediction")
  own <- if (augment || object$method == "nystrom") core_rows(object, threads)
  options <- list(variance = se, covariance = cov, diagonal_conditional = object$method == "fic", gradient = gradient, augment = augment,
                  threads = threads)
  raw <- core_sparse_predict(core_state(object), own, list(x = unname(rows), trend = unname(trend)), options, progress)
  fit <- stats::setNames(raw$mean + object$data$offset, rownames(rows))
  if (!se && !cov && !gradient) return(fit)
  sparse_prediction(object, rows, fit, raw, se, cov, gradient, if (type == "response") object$noise_var else 0)
}

sparse_prediction <- function(object, rows, fit, raw, se, cov, gradient, extra) {
  out <- list(fit = fit)
  if (se) {
    variance <- raw$variance + extra
    negative <- variance < 0
    if (any(negative)) {
      warn_input(sprintf(paste0("%s of %d predictive variances are negative: the prior of the Nystrom approximation is not positive definite ",
                                "(Section 10.1 of the paper). Their standard errors are NA; see `variance`."), sum(negative), length(variance)))
    }
    out$se.fit <- stats::setNames(sqrt(ifelse(negative, NA, variance)), rownames(rows))
    if (object$method == "nystrom") out$variance <- variance
  }
  if (cov) {
    out$cov <- raw$covariance
    diag(out$cov) <- diag(out$cov) + extra
    if (!is.null(rownames(rows))) dimnames(out$cov) <- list(rownames(rows), rownames(rows))
  }
  if (gradient) {
    slope <- raw$gradient
    if (object$data$mean == "linear") slope <- sweep(slope, 2L, object$state$trend[-1L] / object$data$spread, `+`)
    dimnames(slope) <- list(rownames(rows), colnames(object$x))
    out$gradient <- slope
  }
  out
}

#' @rdname granary_sparse_gp
#' @export
update.granary_sparse_gp <- function(object, newdata, newy, ...) {
  if (missing(newdata) || inherits(newdata, "formula")) return(refitted_call(object, match.call(), parent.frame()))
  refuse_dots(...)
  if (is.null(newdata)) fail_missing("newdata")
  if (missing(newy)) fail_missing("newy")
  if (!is.null(object$test)) abort_input("A fit with inducing = \"test\" cannot be updated.", "object")
  rows <- process_rows(object, newdata)
  y <- check_response(newy, nrow(rows))$y
  targets <- cbind(y - object$data$offset, trend_basis(object$data, rows))
  exact <- object$method %in% c("exact", "sod")
  if (exact) {
    used <- if (object$method == "sod") object$rows else seq_len(nrow(object$x))
    x <- unname(rbind(object$x[used, , drop = FALSE], rows))
    if (nrow(x) > block_limit) abort_input(sprintf("An exact process can have at most %d rows.", block_limit), "newdata")
    all_targets <- rbind(cbind(object$y[used] - object$data$offset, trend_basis(object$data, object$x[used, , drop = FALSE])), targets)
    at <- unname(c(log(coef(object$kernel)), log(object$noise_var)))
    options <- list(learn = FALSE, learn_noise = FALSE, starts = matrix(at), lower = at, upper = at)
    state <- core_sparse_gp(sparse_rows(x, all_targets, NULL, object$kernel, "exact", object$threads), options, core_seed(), NULL)$state
    object$rows <- if (object$method == "sod") c(used, nrow(object$x) + seq_len(nrow(rows)))
    object$inducing <- state$inducing
    colnames(object$inducing) <- colnames(object$x)
  } else {
    blocks <- if (object$method == "pitc") rep(1L, nrow(rows))
    if (object$method == "pitc" && nrow(rows) > block_limit) {
      abort_input(sprintf("New rows form a block of at most %d: add them in parts.", block_limit), "newdata")
    }
    state <- core_sparse_add(core_state(object), sparse_rows(rows, targets, blocks, object$kernel, object$method))
    if (!is.null(object$blocks)) object$blocks <- c(object$blocks, rep(max(object$blocks) + 1L, nrow(rows)))
    object$gap <- sparse_gap(state)
  }
  state$inducing <- NULL
  object$state <- state
  object$x <- rbind(object$x, rows)
  object$y <- c(object$y, y)
  object$n <- nrow(object$x)
  object$loglik <- state$log_evidence
  if (length(state$trend) > 0L) object$coefficients[] <- state$trend + c(object$data$offset, numeric(length(state$trend) - 1L))
  object
}

#' @rdname granary_sparse_gp
#' @export
simulate.granary_sparse_gp <- function(object, nsim = 1, seed = NULL, newdata = NULL, type = c("latent", "response"), ...) {
  nsim <- check_count(nsim, upper = 1e6)
  type <- check_choice(type, c("latent", "response"))
  if (object$method == "nystrom") {
    abort_input("The Nystrom approximation is no probabilistic model to draw from: its covariance need not be positive.", "object")
  }
  at <- predict(object, newdata, cov = TRUE)
  draws <- function() {
    covariance <- unname(at$cov)
    if (type == "response") diag(covariance) <- diag(covariance) + object$noise_var
    values <- core_gaussian_draws(unname(at$fit), covariance, nsim, core_seed(), NULL)
    dimnames(values) <- list(names(at$fit), paste0("sim_", seq_len(nsim)))
    values
  }
  if (is.null(seed)) draws() else with_seed(seed, draws())
}

#' @rdname granary_sparse_gp
#' @export
coef.granary_sparse_gp <- function(object, ...) if (is.null(object$coefficients)) stats::setNames(numeric(), character()) else object$coefficients

#' @rdname granary_sparse_gp
#' @export
fitted.granary_sparse_gp <- function(object, ...) {
  object$test <- NULL
  predict(object)
}

#' @rdname granary_sparse_gp
#' @export
residuals.granary_sparse_gp <- function(object, ...) object$y - fitted(object)

#' @rdname granary_sparse_gp
#' @export
logLik.granary_sparse_gp <- function(object, ...) {
  structure(object$loglik, df = object$learnt + length(object$coefficients), nobs = as.integer(object$state$n), class = "logLik")
}

#' @rdname granary_sparse_gp
#' @export
tidy.granary_sparse_gp <- function(x, ...) {
  values <- c(coef(x$kernel), noise_var = x$noise_var,
              if (length(x$coefficients) > 0L) stats::setNames(x$coefficients, paste0("trend.", names(x$coefficients))))
  data.frame(term = names(values), estimate = unname(values), at_bound = names(values) %in% x$at_bound)
}

#' @rdname granary_sparse_gp
#' @export
glance.granary_sparse_gp <- function(x, ...) {
  data.frame(method = x$method, inducing = nrow(x$inducing), logLik = x$loglik, df = attr(logLik(x), "df"), nobs = x$n, noise_var = x$noise_var,
             trace_gap = if (is.null(x$gap)) NA_real_ else x$gap[["trace"]], converged = x$convergence$converged,
             iterations = x$convergence$iterations, seconds = x$convergence$seconds)
}

#' @rdname granary_sparse_gp
#' @export
augment.granary_sparse_gp <- function(x, data = NULL, ...) {
  if (!is.null(data)) {
    if (!is.data.frame(data) && !is.matrix(data)) fail_input("data", "a data frame (or NULL)", describe(data))
    data <- as.data.frame(data)
    if (nrow(data) != x$n) abort_input(sprintf("`data` must have the %d rows of the fit, but it has %d.", x$n, nrow(data)), "data")
  }
  x$test <- NULL
  at <- predict(x, se = TRUE)
  added <- data.frame(.fitted = unname(at$fit), .se.fit = unname(at$se.fit), .resid = unname(x$y - at$fit))
  cbind(if (is.null(data)) data.frame(y = x$y) else data, added)
}

sparse_plot_type <- function(fit, type) {
  choices <- c("fit", "observed", "trace")
  if (is.null(type)) return(if (ncol(fit$x) <= 2L && is.null(fit$test)) "fit" else "observed")
  type <- check_choice(type, choices)
  if (type == "fit" && (ncol(fit$x) > 2L || !is.null(fit$test))) {
    abort_input("type = \"fit\" is for one or two inputs and fits that can predict anywhere; use \"observed\".", "type")
  }
  type
}

# At most `most` rows, the same ones every time.
shown_rows <- function(n, most = 3000L) if (n > most) unique(round(seq(1, n, length.out = most))) else seq_len(n)

sparse_grid <- function(fit, level) {
  span <- range(fit$x[, 1L], fit$inducing[, 1L])
  at <- seq(span[1L] - 0.08 * diff(span), span[2L] + 0.08 * diff(span), length.out = 201L)
  if (diff(span) == 0) at <- span[1L] + seq(-1, 1, length.out = 201L)
  predicted <- suppressWarnings(predict(fit, matrix(at, ncol = 1L), se = TRUE, type = "response"))
  se <- unname(ifelse(is.na(predicted$se.fit), 0, predicted$se.fit))
  width <- stats::qnorm(0.5 + level / 2) * se
  data.frame(x = at, mean = unname(predicted$fit), se = se, lower = unname(predicted$fit) - width, upper = unname(predicted$fit) + width)
}

#' @rdname granary_sparse_gp
#' @export
plot.granary_sparse_gp <- function(x, type = NULL, level = 0.95, ...) {
  type <- sparse_plot_type(x, type)
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  colour <- sign_colours[["positive"]]
  if (type == "trace") {
    draw(graphics::plot, seq_along(x$trace), x$trace, type = "o", pch = 20, col = colour, xlab = "evaluation", ylab = "log evidence", las = 1,
         user = list(...))
    return(invisible())
  }
  shown <- shown_rows(x$n)
  if (type == "observed") {
    at <- fitted(x)
    draw(graphics::plot, at[shown], x$y[shown], pch = 20, col = "grey40", xlab = "fitted", ylab = "observed", las = 1, user = list(...))
    graphics::abline(0, 1, col = colour)
    return(invisible())
  }
  if (ncol(x$x) == 2L) return(plot_sparse_map(x, list(...)))
  band <- sparse_grid(x, level)
  draw_band(band$x, band$mean, band$se, x$x[shown, 1L], x$y[shown], width = stats::qnorm(0.5 + level / 2),
            ticks = if (x$method != "exact") x$inducing[, 1L], xlab = colnames(x$x), ylab = "response", user = list(...))
  invisible()
}

# The mean on a grid over two inputs.
sparse_map <- function(x) {
  axis <- function(j) seq(min(x$x[, j]), max(x$x[, j]), length.out = 61L)
  if (anyDuplicated(axis(1L)) > 0L || anyDuplicated(axis(2L)) > 0L) abort_input("A map needs two inputs that vary.", "type")
  grid <- expand.grid(a = axis(1L), b = axis(2L))
  grid$mean <- unname(predict(x, unname(as.matrix(grid))))
  grid
}

plot_sparse_map <- function(x, user) {
  grid <- sparse_map(x)
  draw_surface(unique(grid$a), unique(grid$b), matrix(grid$mean, 61L), points = if (x$method != "exact") x$inducing, xlab = colnames(x$x)[1L],
               ylab = colnames(x$x)[2L], user = user)
  invisible()
}

#' @rdname granary_sparse_gp
#' @usage \method{autoplot}{granary_sparse_gp}(object, type = NULL, level = 0.95, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_sparse_gp <- function(object, type = NULL, level = 0.95, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  type <- sparse_plot_type(object, type)
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  colour <- sign_colours[["positive"]]
  if (type == "trace") {
    table <- data.frame(x = seq_along(object$trace), y = object$trace)
    return(ggplot2::ggplot(table, ggplot2::aes(x = .data$x, y = .data$y)) + ggplot2::geom_line(colour = colour) +
             ggplot2::labs(x = "evaluation", y = "log evidence"))
  }
  shown <- shown_rows(object$n)
  if (type == "observed") {
    table <- data.frame(x = fitted(object)[shown], y = object$y[shown])
    return(ggplot2::ggplot(table, ggplot2::aes(x = .data$x, y = .data$y)) + ggplot2::geom_point(colour = "grey40", size = 0.7) +
             ggplot2::geom_abline(colour = colour) + ggplot2::labs(x = "fitted", y = "observed"))
  }
  if (ncol(object$x) == 2L) {
    ticks <- if (object$method != "exact") data.frame(a = object$inducing[, 1L], b = object$inducing[, 2L])
    return(ggplot2::ggplot(sparse_map(object), ggplot2::aes(x = .data$a, y = .data$b)) + ggplot2::geom_raster(ggplot2::aes(fill = .data$mean)) +
             (if (!is.null(ticks)) ggplot2::geom_point(data = ticks, shape = 3)) +
             ggplot2::labs(x = colnames(object$x)[1L], y = colnames(object$x)[2L], fill = "mean"))
  }
  rows <- data.frame(x = object$x[shown, 1L], y = object$y[shown])
  ggplot2::ggplot(sparse_grid(object, level), ggplot2::aes(x = .data$x)) +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$lower, ymax = .data$upper), fill = colour, alpha = 0.18) +
    ggplot2::geom_line(ggplot2::aes(y = .data$mean), colour = colour) +
    ggplot2::geom_point(ggplot2::aes(x = .data$x, y = .data$y), rows, colour = "grey50", size = 0.6) +
    (if (object$method != "exact") {
      ggplot2::geom_rug(ggplot2::aes(x = .data$x), data.frame(x = object$inducing[, 1L]), colour = sign_colours[["negative"]])
    }) +
    ggplot2::labs(x = colnames(object$x), y = "response")
}
