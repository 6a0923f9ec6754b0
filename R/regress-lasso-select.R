#' Lasso with a cross-validated penalty
#'
#' Fits [lasso()] to all rows and chooses the penalty by the prediction error on rows that were left out.
#'
#' @details
#' Every fold is fitted at the penalties of the fit to all rows, and scored on the rows left out of it by `measure`. See [granary_selection]
#' for the rules and for what can be done with the result. With a binomial response folds are stratified, so that each has its share of both
#' classes. Where the path of
#' a fold stops early because it explains all the deviance, its last coefficients stand for the smaller penalties.
#'
#' @section Which method when:
#' Rule `"min"` for prediction, `"1se"` for a smaller model that predicts about as well. The columns it selects come
#' without any
#' guarantee; for that see [debiased_lasso()].
#'
#' @inheritParams lasso
#' @param folds Number of folds, or a vector that gives the fold of each row.
#' @param measure The loss: `"deviance"` (squared error for the gaussian family), `"mae"` (absolute error, of the probability for `"binomial"`),
#'   `"class"`
#'   (share of rows misclassified).
#' @param rule The penalty that `coef()` and `predict()` use: `"min"`, or `"1se"`.
#' @param ... Passed on to [lasso()].
#' @return A [granary_selection]: `fit` (the path for all rows), `lambda`, `table` (mean loss and standard error for each penalty), `folds`, `rule`.
#' @seealso [lasso()], [scaled_lasso()], [debiased_lasso()], [debiased_lasso_baseline()], [gen_lasso()], [adapt_partition()]
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(100 * 20), 100)
#' y <- x[, 1] - x[, 2] + rnorm(100)
#' cv <- lasso_select(x, y, folds = 5)
#' cv
#' lasso_select(mpg ~ ., mtcars, folds = 4)
lasso_select <- function(x, ...) {
  UseMethod("lasso_select", formula_or_first(x, ...))
}

#' @rdname lasso_select
#' @export
lasso_select.formula <- function(formula, data = NULL, weights, subset, na.action, offset, ...) {
  out <- formula_fit(lasso_select.default, "lasso_select", takes = c("weights", "offset", "intercept"), ...)
  selection_design(out)
}

# The chosen fit knows the formula too, so that predict() takes data frames.
selection_design <- function(out) {
  out$fit[c("formula", "design")] <- out[c("formula", "design")]
  out
}

#' @rdname lasso_select
#' @export
lasso_select.default <- function(x, y, family = c("gaussian", "binomial"), folds = 10, measure = c("deviance", "mae", "class"), rule = c("min", "1se"),
                             ...) {
  call <- match.call()
  measure <- check_choice(measure, c("deviance", "mae", "class"))
  rule <- check_choice(rule, c("min", "1se"))
  family <- check_choice(family, c("gaussian", "binomial"))
  if (measure == "class" && family != "binomial") abort_input("measure = \"class\" is for binomial models.", "measure")
  fit <- lasso.default(x, y, family = family, ...)
  n <- nrow(fit$x)
  if (length(folds) == 1L) {
    folds <- check_count(folds, lower = 2, upper = n)
    folds <- if (family == "binomial") stratified_folds(fit$y > 0.5, folds) else make_folds(n, folds)
  }
  weights <- if (is.null(fit$settings$weights)) rep(1, n) else fit$settings$weights / mean(fit$settings$weights)
  refit <- function(rows) {
    settings <- fit$settings
    settings$lambda <- fit$lambda
    for (name in c("weights", "offset")) if (!is.null(settings[[name]])) settings[[name]] <- settings[[name]][rows]
    if (!is.null(settings$weights) && all(settings$weights == 0)) abort_input("A fold leaves only rows of weight zero. Use other `folds`.", "folds")
    if (family == "binomial" && all(fit$y[rows] == fit$y[rows[1L]]) && fit$y[rows[1L]] %in% c(0, 1)) {
      abort_input("A fold leaves rows of one class only. Use fewer `folds`.", "folds")
    }
    lasso_fit(fit$x[rows, , drop = FALSE], fit$y[rows], family, settings)
  }
  held_out <- function(train, rows) {
    eta <- lasso_link(train, fit$x[rows, , drop = FALSE], NULL, fit$settings$offset[rows])
    eta <- eta[, pmin(seq_along(fit$lambda), ncol(eta)), drop = FALSE]
    weights[rows] * lasso_loss(fit$y[rows], eta, family, measure)
  }
  label <- c(deviance = if (family == "gaussian") "mean squared error" else "deviance", mae = "mean absolute error", class = "share misclassified")
  cv <- cross_validate(fit, n, folds, refit, held_out, rule, label[[measure]])
  cv$call <- generic_call(call, "lasso_select")
  cv
}

lasso_loss <- function(y, eta, family, measure) {
  if (family == "gaussian") return(if (measure == "mae") abs(y - eta) else (y - eta)^2)
  switch(measure, deviance = 2 * binomial_loss(y, eta), mae = abs(y - stats::plogis(eta)), class = abs((eta > 0) - (y > 0.5)))
}

# Folds of as equal size as can be, within each class.
stratified_folds <- function(class, folds) {
  out <- integer(length(class))
  start <- 0L
  for (value in unique(class)) {
    rows <- which(class == value)
    out[rows[sample.int(length(rows))]] <- (start + seq_along(rows) - 1L) %% folds + 1L
    start <- start + length(rows)
  }
  out
}
