#' Cross-validated generalized lasso
#'
#' Chooses the penalty of [gen_lasso()] by K-fold cross-validation along its path.
#'
#' @details
#' Every fold is fitted at the penalties of the fit to all rows, and scored by the loss on the rows left out of it.
#'
#' For a signal alone (`x = NULL`) values are left out and predicted from their neighbours. On a chain every `folds`-th value is left out in turn, the others
#' are fitted as a chain with uneven positions, and the fit is interpolated linearly between them (at the ends it is continued as it is). With any other
#' penalty the fit without those values has a coefficient for each of them all the same, which the penalty alone decides.
#'
#' @section Which method when:
#' Rule `"min"` for prediction, `"1se"` for fewer groups at about the same error. For images [gen_lasso_image()] with a penalty at sight is quicker.
#'
#' @param x,y,penalty,lambda As in [gen_lasso()]; `x` may be a formula, or `NULL` for a signal.
#' @param folds Number of folds, or the fold of every row.
#' @param rule The rule that picks the penalty: smallest mean loss, or the largest penalty within one standard error of it.
#' @param formula,data,weights,subset,na.action,offset As in [gen_lasso()].
#' @param ... Further arguments of [gen_lasso()].
#' @return A [granary_selection]: `fit` (the path for all rows) and `table` with `lambda`, `estimate` and `std.error`.
#' @references
#' Lin, Pham and Ruszczynski (2014). Alternating linearization for structured regularization problems. *Journal of Machine Learning Research* 15,
#' 3447--3481.
#' @seealso [gen_lasso_image()], [lasso()], [lasso_select()], [debiased_lasso()]
#' @seealso [gen_lasso()], [gen_lasso_penalty()]
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 20), 60)
#' y <- drop(x %*% rep(c(0, 2, 0, 1), each = 5)) + rnorm(60)
#' cv <- gen_lasso_select(x, y, folds = 4, n_lambda = 10)
#' cv
#' coef(cv)[4:7]
#' # a signal
#' steps <- rep(c(0, 2, 1), each = 20) + rnorm(60, sd = 0.4)
#' plot(gen_lasso_select(NULL, steps, folds = 5))
gen_lasso_select <- function(x, ...) UseMethod("gen_lasso_select", formula_or_first(x, ...))

#' @rdname gen_lasso_select
#' @export
gen_lasso_select.formula <- function(formula, data = NULL, weights, subset, na.action, offset, ...) {
  selection_design(formula_fit(gen_lasso_select.default, "gen_lasso_select", takes = "intercept", ...))
}

#' @rdname gen_lasso_select
#' @export
gen_lasso_select.default <- function(x, y, penalty = NULL, lambda = NULL, folds = 10, rule = c("min", "1se"), ...) {
  call <- generic_call(match.call(), "gen_lasso_select")
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  rule <- check_choice(rule, c("min", "1se"))
  if (inherits(x, "granary_blur")) fail_input("x", "a matrix with one row per observation, or NULL", "a blur")
  if (!is.null(x)) x <- check_design(x, "x")
  fit <- gen_lasso(x, y, penalty, lambda, ...)
  parts <- if (is.null(x)) signal_folds(fit, folds) else row_folds(fit, x, folds)
  measure <- c(gaussian = "mean squared error", binomial = "deviance", poisson = "deviance", huber = "Huber loss")[[fit$family]]
  held_out <- function(train, rows) matrix(gen_loss(fit$y[rows], parts$predict(train, rows), fit$family, fit$settings$delta), length(rows))
  out <- cross_validate(fit, length(fit$y), parts$folds, parts$refit, held_out, rule, measure, "generalized lasso")
  out$call <- call
  out
}

# Refits without some rows, and what they predict for those.
row_folds <- function(fit, x, folds) {
  refit <- function(rows) {
    fit_gen_lasso(gen_design(x[rows, , drop = FALSE]), list(y = fit$y[rows]), fit$penalty, fit$lambda, fit$settings, "skip", NULL)
  }
  list(folds = folds, refit = refit, predict = function(train, rows) predict(train, x[rows, , drop = FALSE]))
}

# The same for a signal. A chain without the values left out is a chain with uneven positions; other penalties keep all their coefficients, and the design
# has the rows of the identity that are left.
signal_folds <- function(fit, folds) {
  n <- length(fit$y)
  order <- chain_order(fit$penalty)
  if (length(folds) == 1L) {
    count <- check_count(folds, "folds", lower = 2, upper = n)
    folds <- if (is.null(order)) make_folds(n, count) else rep_len(seq_len(count), n)
  }
  settings <- fit$settings
  settings["start"] <- list(NULL)
  if (is.null(order)) {
    all <- methods::as(methods::as(Matrix::Diagonal(n), "CsparseMatrix"), "generalMatrix")
    refit <- function(rows) {
      fit_gen_lasso(gen_design(all[rows, , drop = FALSE]), list(y = fit$y[rows]), fit$penalty, fit$lambda, settings, "skip", NULL)
    }
    return(list(folds = folds, refit = refit, predict = function(train, rows) train$beta[rows, , drop = FALSE]))
  }
  pos <- if (is.null(fit$penalty$pos)) as.double(seq_len(n)) else fit$penalty$pos
  bounded <- length(settings$lower) > 0L
  refit <- function(rows) {
    if (length(rows) <= order) abort_input(sprintf("A fold leaves %d values, too few for differences of order %d. Use more `folds`.", length(rows), order), "folds")
    if (bounded) settings[c("lower", "upper")] <- list(settings$lower[rows], settings$upper[rows])
    train <- fit_gen_lasso(list(type = "identity", p = length(rows), n = length(rows)), list(y = fit$y[rows]),
                           chain_penalty(length(rows), order, fit$penalty$sparse, pos[rows]), fit$lambda, settings, "skip", NULL)
    train$pos <- pos[rows]
    train
  }
  list(folds = folds, refit = refit, predict = function(train, rows) {
    vapply(seq_along(fit$lambda), function(k) stats::approx(train$pos, train$beta[, k], pos[rows], rule = 2)$y, numeric(length(rows)))
  })
}

# The order of a chain, NULL where the penalty is none.
chain_order <- function(penalty) if (grepl("chain", penalty$type)) penalty$order
