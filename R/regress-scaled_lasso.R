#' Scaled lasso: coefficients and noise level together
#'
#' The lasso with a penalty that adapts to the noise: estimates the coefficients and the standard deviation of the errors from one convex
#' problem, with
#' no cross-validation.
#'
#' @details
#' Minimises over coefficients and \eqn{\sigma > 0}{sigma > 0}
#' \deqn{\frac{\|y - X\theta\|^2}{2 n \sigma} + \frac{\sigma}{2} + \lambda_0 \|\theta\|_1,}{|y - X theta|^2 / (2 n sigma) + sigma / 2 + lambda0
#' |theta|_1,}
#' which is jointly convex. Alternating a lasso at \eqn{\lambda = \sigma \lambda_0}{lambda = sigma lambda0} with \eqn{\sigma = \|y - X\theta\| /
#' \sqrt{n}}{sigma = |y - X theta| / sqrt(n)} reaches the minimum; `lambda` of the result is that of [lasso()] with the same coefficients.
#' Multiplying `y` by a number multiplies coefficients and `sigma` by it. The estimate of `sigma` divides by \eqn{n}, not by degrees of freedom,
#' and is
#' a little too small when many columns are selected.
#'
#' @section Which method when:
#' For an honest noise level before [debiased_lasso()], and when the penalty should follow from theory; [lasso_select()] when
#' prediction is the aim.
#'
#' @inheritParams lasso
#' @param lambda0 Penalty in units of the noise level; `NULL` for \eqn{\sqrt{2 \log p / n}}{sqrt(2 log p / n)}.
#' @param tol Relative change of `sigma` at which to stop.
#' @param max_iter Largest number of alternations.
#' @return An object of class `granary_scaled_lasso`: `coefficients`, `intercept`, `sigma`, `lambda`, `lambda0`, `df`, `objective`.
#'   It has the methods `coef()`, `predict()`, `residuals()`, `sigma()`, `print()`, `summary()`, `tidy()`, `plot()` (fitted values and residuals).
#' @references
#' Sun and Zhang (2012). Scaled sparse linear regression. *Biometrika* 99, 879--898.
#' @seealso [lasso()], [lasso_select()], [debiased_lasso()], [debiased_lasso_baseline()], [gen_lasso()], [adapt_partition()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_debiased_lasso(n = 100, p = 200, s0 = 3, b = 1)
#' fit <- scaled_lasso(sim$x, sim$y)
#' fit
#' sigma(fit)
#' predict(fit, sim$x[1:3, ])
scaled_lasso <- function(x, ...) {
  UseMethod("scaled_lasso", formula_or_first(x, ...))
}

#' @rdname scaled_lasso
#' @export
scaled_lasso.formula <- function(formula, data = NULL, weights, subset, na.action, offset, ...) {
  formula_fit(scaled_lasso.default, "scaled_lasso", takes = "intercept", ...)
}

#' @rdname scaled_lasso
#' @export
scaled_lasso.default <- function(x, y, lambda0 = NULL, intercept = TRUE, standardize = TRUE, tol = 1e-8, max_iter = 200, ...) {
  call <- match.call()
  refuse_dots(...)
  x <- check_design(x)
  y <- check_response(y, nrow(x))$y
  lambda0 <- check_number(lambda0, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  if (is.null(lambda0) && ncol(x) == 1L) abort_input("`lambda0` must be given when there is only one column: log p is zero.", "lambda0")
  options <- list(lambda0 = lambda0, intercept = check_flag(intercept), standardize = check_flag(standardize),
                  tol = check_number(tol, lower = 1e-14, upper = 0.1), max_iter = check_count(max_iter))
  fit <- core_scaled_lasso(x, y, options, progress_bar("scaled lasso"))
  check_convergence(new_fit(
    "scaled_lasso", coefficients = stats::setNames(fit$coefficients, colnames(x)), intercept = fit$intercept, sigma = fit$sigma, lambda = fit$lambda,
    lambda0 = fit$lambda0, df = sum(fit$coefficients != 0), objective = fit$objective, x = x, y = y,
    call = generic_call(call, "scaled_lasso"), convergence = fit$convergence
  ))
}

#' @rdname scaled_lasso
#' @param object A fit by `scaled_lasso()`.
#' @export
coef.granary_scaled_lasso <- function(object, ...) c("(Intercept)" = object$intercept, object$coefficients)

#' @rdname scaled_lasso
#' @param newdata Rows to predict for; `NULL` for the data of the fit.
#' @export
predict.granary_scaled_lasso <- function(object, newdata = NULL, ...) {
  refuse_dots(...)
  x <- if (is.null(newdata)) object$x else new_design(newdata, names(object$coefficients), object$design)
  linear_prediction(x, object$coefficients, object$intercept)
}

linear_prediction <- function(x, coefficients, intercept) {
  stats::setNames(as.vector(x %*% coefficients) + intercept, rownames(x))
}

#' @rdname scaled_lasso
#' @export
residuals.granary_scaled_lasso <- function(object, ...) object$y - predict(object)

#' @importFrom stats sigma
#' @rdname scaled_lasso
#' @export
sigma.granary_scaled_lasso <- function(object, ...) object$sigma

#' @rdname scaled_lasso
#' @export
tidy.granary_scaled_lasso <- function(x, ...) {
  refuse_dots(...)
  active <- which(x$coefficients != 0)
  active <- active[order(-abs(x$coefficients[active]))]
  data.frame(term = names(x$coefficients)[active], estimate = unname(x$coefficients[active]))
}

#' @rdname scaled_lasso
#' @export
glance.granary_scaled_lasso <- function(x, ...) {
  refuse_dots(...)
  end <- convergence_table(x$convergence)
  data.frame(sigma = x$sigma, lambda = x$lambda, lambda0 = x$lambda0, df = x$df, objective = x$objective, converged = end$converged,
             iterations = end$iterations, nobs = nrow(x$x))
}

#' @rdname scaled_lasso
#' @export
augment.granary_scaled_lasso <- function(x, data = NULL, ...) augment_rows(data, x$y, predict(x))

#' @rdname scaled_lasso
#' @export
print.granary_scaled_lasso <- function(x, ...) {
  cli::cat_line("granary: scaled lasso, n = ", nrow(x$x), ", p = ", ncol(x$x))
  print_call(x$call)
  cli::cat_line("sigma = ", format(x$sigma, digits = 4L), ", lambda = ", format(x$lambda, digits = 4L), " (", format(x$lambda0, digits = 4L),
                " sigma), ",
                x$df, " columns selected")
  if (x$df > 0L) print(utils::head(tidy(x), 10L), digits = 4L, row.names = FALSE)
  if (x$df > 10L) cli::cat_line("... and ", x$df - 10L, " more")
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname scaled_lasso
#' @export
plot.granary_scaled_lasso <- function(x, ...) {
  draw(graphics::plot, predict(x), residuals(x), xlab = "fitted value", ylab = "residual", pch = 19, user = list(...))
  graphics::abline(h = c(-2, 0, 2) * x$sigma, lty = c(3, 1, 3), col = "grey60")
  invisible()
}
