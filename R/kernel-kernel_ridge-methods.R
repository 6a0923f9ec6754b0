#' What a kernel ridge regression can do
#'
#' Methods for the fits of [kernel_ridge()].
#'
#' @details
#' `predict()` gives the regression function at new inputs, with `se = TRUE` its posterior standard errors, and with
#' `interval` limits: of the function (`"confidence"`) or of a new response (`"prediction"`). `plot()` draws the
#' criterion against the penalty (`"criterion"`), fitted against observed (`"fitted"`), or the leave-one-out residuals
#' (`"loo"`). `coef()` and `vcov()` are those of the free part. `logLik()` exists for fits by `"reml"` or
#' `"ml"`; its degrees of freedom are the effective ones.
#'
#' @param x,object A fit.
#' @param newdata New inputs, as `x` of the fit; `NULL` for the rows of the fit.
#' @param se Whether to give standard errors: then the answer is a list with `fit` and `se.fit`.
#' @param interval `"none"`, `"confidence"` or `"prediction"`: adds `lwr` and `upr` to the list.
#' @param level Level of the limits.
#' @param type For `plot()`: see Details.
#' @param threads Threads; `NULL` for `getOption("granary.threads")`.
#' @param ... For `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @return `predict()` a vector or a list, `glance()` one row, `tidy()` a row per free coefficient.
#' @seealso [kernel_ridge()]
#' @name granary_kernel_ridge
#' @examples
#' fit <- kernel_ridge(dist ~ speed, cars, criterion = "reml")
#' predict(fit, data.frame(speed = c(10, 30)), interval = "prediction")
#' glance(fit)
#' plot(fit, "fitted")
NULL

#' @rdname granary_kernel_ridge
#' @export
print.granary_kernel_ridge <- function(x, ...) {
  cli::cat_line("granary: kernel ridge regression, ", x$n, " rows")
  print_call(x$call)
  cli::cat_line("kernel:    ", nystrom_kernel_text(x$nystrom), ", rank ", x$nystrom$rank, ", ",
                format(100 * x$nystrom$trace_error / x$nystrom$trace, digits = 2L), "% of its trace left out")
  if (length(x$coefficients) > 0L) {
    cli::cat_line("free part: ", paste0(names(x$coefficients), " ", format(x$coefficients, digits = 4L, trim = TRUE),
                                        collapse = ", "))
  }
  cli::cat_line("lambda:    ", format(x$lambda, digits = 4L), " by ", toupper(x$criterion), ", ",
                format(x$df, digits = 4L), " degrees of freedom")
  cli::cat_line("error:     residual standard deviation ", format(sqrt(x$noise_var), digits = 4L), ", leave-one-out ",
                format(sqrt(x$chosen$loo), digits = 4L))
  invisible(x)
}

#' @rdname granary_kernel_ridge
#' @export
summary.granary_kernel_ridge <- function(object, ...) {
  se <- sqrt(diag(stats::vcov(object)))
  seal(structure(
    list(fit = object, coefficients = cbind(Estimate = object$coefficients, `Std. Error` = se,
                                            `t value` = object$coefficients / se),
         residuals = stats::quantile(object$residuals, names = FALSE), chosen = object$chosen),
           class = "summary_granary_kernel_ridge"
  ))
}

#' @export
print.summary_granary_kernel_ridge <- function(x, ...) {
  print(x$fit)
  cli::cat_line("residuals: ", paste(c("min", "25%", "median", "75%", "max"),
                                     format(x$residuals, digits = 3L, trim = TRUE), collapse = ", "))
  cli::cat_line("GCV ", format(x$chosen$gcv, digits = 5L), ", LOO ", format(x$chosen$loo, digits = 5L), ", REML ",
                format(x$chosen$reml, digits = 6L), ", ML ", format(x$chosen$ml, digits = 6L))
  if (nrow(x$coefficients) > 0L) {
    cli::cat_line()
    print(x$coefficients, digits = 4L)
  }
  invisible(x)
}

# Features and free columns of new rows.
ridge_new_rows <- function(object, newdata, left, threads) {
  inputs <- object$inputs
  labels <- NULL
  if (is.null(newdata)) {
    z <- nystrom_features(object$nystrom, NULL, left)
    free <- if (length(inputs$free_columns) > 0L) {
      abort_input("Give `newdata`: the fit does not keep its free columns.", "newdata")
    }
  } else if (is.null(inputs$smooth)) {
    z <- nystrom_features(object$nystrom, newdata, left, threads)
    free <- NULL
  } else {
    if (is_plain_numeric(newdata) && is.null(dim(newdata)) && is.null(object$design)) {
      newdata <- matrix(newdata, ncol = length(inputs$columns))
    }
    at <- new_design(newdata, inputs$columns, object$design, "newdata", allow_sparse = TRUE)
    inside <- at[, inputs$smooth, drop = FALSE]
    if (!is.null(inputs$scaling)) inside <- scale_inputs(as.matrix(inside), inputs$scaling)
    z <- nystrom_features(object$nystrom, unname(inside), left, threads)
    free <- if (length(inputs$free_columns) > 0L) as.matrix(at[, inputs$free_columns, drop = FALSE])
    labels <- rownames(at)
  }
  free <- cbind(if (object$intercept) rep(1, nrow(z)), unname(free))
  if (is.null(free)) free <- matrix(0, nrow(z), 0L)
  list(z = z, free = free, labels = if (is.null(labels)) rownames(z) else labels)
}

#' @rdname granary_kernel_ridge
#' @export
predict.granary_kernel_ridge <- function(object, newdata = NULL, se = FALSE,
                                         interval = c("none", "confidence", "prediction"), level = 0.95, threads = NULL,
                                         ...) {
  refuse_dots(...)
  se <- check_flag(se)
  interval <- check_choice(interval, c("none", "confidence", "prediction"))
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  if (is.null(newdata) && !se && interval == "none") return(object$fitted)
  at <- ridge_new_rows(object, newdata, se || interval != "none", threads)
  fit <- drop(at$z %*% object$feature_weights + at$free %*% object$coefficients)
  fit <- stats::setNames(as.vector(fit), at$labels)
  if (!se && interval == "none") return(fit)
  z <- at$z
  left <- attr(z, "left")
  variance <- core_ridge_variance(matrix(z, nrow(z)), at$free, left, object$covariance, object$noise_var, object$lambda)
  answer <- list(fit = fit, se.fit = stats::setNames(sqrt(variance), at$labels))
  if (interval == "none") return(answer)
  spread <- sqrt(variance + if (interval == "prediction") object$noise_var else 0)
  width <- stats::qt((1 + level) / 2, max(1, object$n - object$df)) * spread
  c(answer, list(lwr = fit - width, upr = fit + width))
}

#' @rdname granary_kernel_ridge
#' @export
vcov.granary_kernel_ridge <- function(object, ...) {
  refuse_dots(...)
  at <- length(object$feature_weights) + seq_along(object$coefficients)
  label_both(object$covariance[at, at, drop = FALSE] * object$noise_var, names(object$coefficients),
             names(object$coefficients))
}

#' @rdname granary_kernel_ridge
#' @export
confint.granary_kernel_ridge <- function(object, parm, level = 0.95, ...) {
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  width <- stats::qt((1 + level) / 2, max(1, object$n - object$df)) * sqrt(diag(stats::vcov(object)))
  table <- cbind(object$coefficients - width, object$coefficients + width)
  dimnames(table) <- list(names(object$coefficients), paste(format(100 * c((1 - level) / 2, (1 + level) / 2),
                                                                   trim = TRUE), "%"))
  if (missing(parm)) table else table[parm, , drop = FALSE]
}

#' @rdname granary_kernel_ridge
#' @export
tidy.granary_kernel_ridge <- function(x, ...) {
  refuse_dots(...)
  data.frame(term = names(x$coefficients), estimate = unname(x$coefficients), std.error = sqrt(diag(stats::vcov(x))),
             row.names = NULL)
}

#' @rdname granary_kernel_ridge
#' @export
glance.granary_kernel_ridge <- function(x, ...) {
  refuse_dots(...)
  data.frame(lambda = x$lambda, df = x$df, noise_var = x$noise_var, gcv = x$chosen$gcv, loo = x$chosen$loo,
             reml = x$chosen$reml, ml = x$chosen$ml, rank = x$nystrom$rank, nobs = x$n,
             converged = x$convergence$converged)
}

#' @rdname granary_kernel_ridge
#' @export
plot.granary_kernel_ridge <- function(x, type = c("criterion", "fitted", "loo"), ...) {
  type <- check_choice(type, c("criterion", "fitted", "loo"))
  if (type == "criterion") {
    positive <- all(x$table[[x$criterion]] > 0)
    draw(graphics::plot, x$table$lambda, x$table[[x$criterion]], log = if (positive) "xy" else "x",
         type = if (nrow(x$table) > 1L) "l" else "p", lwd = 2, xlab = "lambda", ylab = toupper(x$criterion),
         user = list(...))
    graphics::abline(v = x$lambda, lty = 3)
  } else if (type == "fitted") {
    draw(graphics::plot, x$fitted, x$y, pch = 16, cex = 0.6, xlab = "fitted", ylab = "observed", user = list(...))
    graphics::abline(0, 1, lty = 3)
  } else {
    draw(graphics::plot, x$fitted, x$loo, pch = 16, cex = 0.6, xlab = "fitted", ylab = "leave-one-out residual",
         user = list(...))
    graphics::abline(h = 0, lty = 3)
  }
  invisible()
}

#' @rdname granary_kernel_ridge
#' @usage \method{autoplot}{granary_kernel_ridge}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_kernel_ridge <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  table <- data.frame(lambda = object$table$lambda, value = object$table[[object$criterion]])
  gg_canvas(table, ggplot2::aes(x = .data$lambda, y = .data$value)) + ggplot2::geom_line() + ggplot2::scale_x_log10() +
    ggplot2::geom_vline(xintercept = object$lambda, linetype = 3) +
      ggplot2::labs(x = "lambda", y = toupper(object$criterion))
}
