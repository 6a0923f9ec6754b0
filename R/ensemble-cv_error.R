#' Cross-validated error with a standard error that knows about the folds
#'
#' Estimates the error of any learner on new data by cross-validation, and says how far the estimate may be off.
#' Training sets overlap and test sets are reused, so that the errors of the splits are not independent and the usual
#' standard error is wrong, most of all with random splits. Here it comes from an exact formula (least squares, ridge
#' regression, the mean), from the moment approximation of Markatou and others (2005), or from the correction of Nadeau
#' and Bengio (2003), which serves any learner.
#'
#' @details
#' With \eqn{\mu_j} the mean loss on test set \eqn{j}, of \eqn{n_2} rows after training on \eqn{n_1}, the estimate is
#' \eqn{\mu = \frac1J \sum_j \mu_j}{mu = mean_j mu_j} and
#' \deqn{\mathrm{Var}(\mu) = \frac1J \mathrm{Var}(\mu_j) + \frac{J-1}{J} \mathrm{Cov}(\mu_j, \mu_{j'}).}{
#' Var(mu) = Var(mu_j)/J + (J - 1)/J Cov(mu_j, mu_j').}
#' \describe{
#' \item{`"exact"`}{For squared error and a linear smoother \eqn{\mu = y'Ay}{mu = y'A y} with a known matrix \eqn{A},
#'   so that
#'   \deqn{\mathrm{Var}(\mu) = \sigma^4 \left(2\,\mathrm{tr}\,A^2 + \kappa \sum_i A_{ii}^2\right)
#'   + 4\sigma^2 |Am|^2 + 4 \mu_3 \sum_i A_{ii} (Am)_i}{
#'   Var(mu) = s^4 (2 tr A^2 + k sum_i A_ii^2) + 4 s^2 |A m|^2 + 4 m3 sum_i A_ii (A m)_i}
#'   given the splits, with \eqn{m = E y} (\eqn{Am = 0}{A m = 0} for least squares), and \eqn{\sigma^2}{s^2}, the third
#'   moment and the excess kurtosis \eqn{\kappa}{k} of the errors from residuals of the fit to all rows, or `kurtosis`
#'   as given. No \eqn{n \times n}{n x n} matrix is formed.}
#' \item{`"moment"`}{The paper's approximation from moments of the loss and its two derivatives at the mean, for
#'   `"mean"`, `"lm"` and `"ridge"` with squared error, absolute error as
#'   \eqn{\sqrt{z^2 + d}}{sqrt(z^2 + d)} or a loss of your own in numbers. With `"mean"` and two classes, the paper's
#'   rule puts a row into the first class where the mean of the training rows is above `x`.}
#' \item{`"nadeau_bengio"`}{\eqn{(1/J + n_2/n_1) S^2}{(1/J + n2/n1) S^2} with \eqn{S^2} the variance of the
#'   \eqn{\mu_j}{mu_j}: for any learner and loss, good for random splits, about twice too large for the folds of one
#'   partition.}
#' \item{`"naive"`}{\eqn{S^2/J}, for comparison: too small with random splits.}
#' }
#' [cv_variance()] adds the conservative estimate, which fits anew on halves of the data. `"auto"` takes the first of
#' these that there is.
#'
#' The estimate is the mean over the test sets of their mean losses. It speaks of fits to \eqn{n_1} rows, on average
#' over training sets, not of the fit to your data. `"auc"`, `"f"` and `"kappa"` are one minus the measure, computed on
#' each test set. A function `loss(y, prediction)` gives one number per row or one for the test set; `prediction` is a
#' vector of numbers or classes, or the matrix of probabilities.
#'
#' Each split draws from a stream of its own, so the result does not depend on their order or on the workers of
#' [future::plan()].
#'
#' @section Which method when:
#' `cv_error()` for the error of one learner, [cv_compare()] for the difference of two, [compare_methods()] for many
#' methods on many data sets. To choose a penalty the `_select()` function of the method is quicker. Take random splits
#' with `n_rep` of 15 to 50 and `test` about a quarter, or folds, see [cv_plan()].
#'
#' @param x Rows: a matrix or data frame; or a formula.
#' @param y Numbers or classes.
#' @param formula,data A formula such as `y ~ .` and the data frame of its variables.
#' @param subset,na.action As in [stats::lm()].
#' @param learner What is fitted: see [cv_learner()].
#' @param loss `"squared"` or `"absolute"` for numbers, `"misclass"`, `"log_loss"`, `"brier"`, `"auc"`, `"f"` or
#'   `"kappa"` for classes, or a function; `NULL` for the first of these.
#' @param folds,scheme,n_rep,test,strata,group Splits: see [cv_folds()]. `folds` may be what that function returns.
#'   Without `strata` and `group` classes are balanced.
#' @param method How the standard error is computed.
#' @param kurtosis Excess kurtosis of the errors; `NULL` to estimate it.
#' @param width Rounding of the absolute error, \eqn{d}, and width of the smoothed step for classes; `NULL` for
#'   \eqn{1/n} and 0.1.
#' @param threads Threads; default `getOption("granary.threads")`.
#' @param object A result.
#' @param parm Not used.
#' @param level Level of the interval.
#' @param type Plot: `"splits"` for the errors of the test sets, `"methods"` for the interval by each method.
#' @param ... For the formula: arguments of the default method.
#' @return An object of class `granary_cv_error`, inheriting from `granary_fit`: `estimate`; `std.error`; `variance`, a
#'   data frame with one row per method (`variance`, `std.error`, `df`);
#'   `split_mean`; `prediction`, the out-of-fold table with `split`, `row`, `y`, the prediction, probabilities and
#'   `loss`; `folds`; `details` of the exact variance.
#' @references
#' Markatou, M., Tian, H., Biswas, S. and Hripcsak, G. (2005). Analysis of variance of cross-validation estimators of
#' the generalization error. *Journal of Machine Learning Research* 6, 1127-1168.
#'
#' Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. *Machine Learning* 52, 239-281.
#' @seealso [cv_compare()], [cv_variance()], [cv_plan()], [cv_folds()], [cv_learner()]
#' @export
#' @examples
#' set.seed(1)
#' fit <- cv_error(mpg ~ wt + hp, mtcars, scheme = "random")
#' fit
#' confint(fit)
#' plot(fit)
#' cv_error(Species ~ ., iris, learner = cv_learner("forest", n_trees = 50), folds = 5)
cv_error <- function(x, ...) {
  UseMethod("cv_error", formula_or_first(x, ...))
}

#' @rdname cv_error
#' @export
cv_error.formula <- function(formula, data = NULL, subset, na.action, ...) {
  tree_formula_fit(cv_error.default, "cv_error", ...)
}

#' @rdname cv_error
#' @export
cv_error.default <- function(x, y = NULL, learner = "lm", loss = NULL, folds = 10, scheme = c("kfold", "random", "loo"),
                             n_rep = NULL, test = 0.25, strata = NULL, group = NULL,
                             method = c("auto", "exact", "moment", "nadeau_bengio", "naive"), kurtosis = NULL,
                             width = NULL,
                             threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (is.null(y)) fail_missing("y")
  x <- cv_rows(x)
  target <- cv_response(y, NROW(x))
  y <- target$y
  levels <- target$levels
  learner <- as_cv_learner(learner)
  loss <- check_loss(loss, levels)
  method <- check_choice(method, c("auto", "exact", "moment", "nadeau_bengio", "naive"))
  kurtosis <- check_number(kurtosis, lower = -2, allow_null = TRUE)
  width <- check_number(width, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  threads <- thread_count(threads)
  paper_rule <- !is.null(levels) && learner$kind == "linear"
  if (paper_rule) check_mean_rule(learner, x, levels, loss)
  if (!is.null(levels) && is.null(strata) && is.null(group)) strata <- as.integer(y)
  folds <- if (inherits(folds, "granary_cv_folds")) as_cv_folds(folds, length(y)) else
    cv_folds(length(y), folds = folds, scheme = scheme, n_rep = n_rep, test = test, strata = strata, group = group)
  linear <- learner$kind == "linear" && is.null(levels) && is.null(learner$grid)
  cells <- if (linear) linear_cells(learner, x, y, loss, folds, kurtosis, threads) else
    learner_cells(learner, x, y, levels, loss, folds)
  parts <- cells$parts
  split_mean <- vapply(parts, `[[`, 0, "mean")
  if (anyNA(split_mean)) warn_undefined_splits(split_mean, loss)
  out <- new_fit(
    "cv_error", estimate = mean(split_mean), std.error = NA_real_, method = NA_character_, variance = NULL,
    split_mean = split_mean, loss = if (is.function(loss)) "function" else loss,
    prediction = fold_table(parts, folds, y),
    chosen = cells$chosen, folds = folds, learner = learner$label, details = cells$details, levels = levels,
    n = length(y),
    settings = list(kurtosis = kurtosis, width = width, threads = threads),
    problem = list(x = x, y = y, learner = learner, loss = loss), call = generic_call(call, "cv_error"),
    convergence = NULL
  )
  set_variance(out, method)
}

# The rows as the learner gets them: a numeric matrix or a data frame.
cv_rows <- function(x) {
  if (is.data.frame(x)) {
    if (nrow(x) < 2L) abort_input(sprintf("`x` must have at least 2 rows, but it has %d.", nrow(x)), "x")
    if (length(x) == 0L) fail_input("x", "a data frame with at least one column", "one without columns")
    missing <- which(vapply(x, anyNA, NA))
    if (length(missing) > 0L) {
      abort_input(
        sprintf(paste0("`x` must have no missing values, but column \"%s\" has %d.\nRemove the rows with na.omit(), ",
                       "or impute inside a `learner` of your own."), names(x)[missing[1L]],
                sum(is.na(x[[missing[1L]]]))), "x")
    }
    for (name in names(x)) {
      if (is.numeric(x[[name]]) && any(is.infinite(x[[name]]))) {
        abort_input(sprintf("`x` must be finite, but column \"%s\" is not.", name), "x")
      }
    }
    return(as.data.frame(x))
  }
  if (is.numeric(x) && is.null(dim(x)) && is_plain_numeric(x)) x <- cbind(x = as.vector(x))
  check_design(x, "x", allow_sparse = FALSE)
}

cv_response <- function(y, n) {
  if (is.data.frame(y) && length(y) == 1L) y <- y[[1L]]
  if (is_plain_numeric(y) && !is.factor(y)) return(list(y = unname(check_vector(y, "y", length = n)), levels = NULL))
  classes <- tree_classes(y, n)
  list(y = factor(classes$levels[classes$y + 1], classes$levels), levels = classes$levels)
}

check_mean_rule <- function(learner, x, levels, loss) {
  if (learner$learner != "mean" || length(levels) != 2L || ncol(x) != 1L || !identical(loss, "misclass")) {
    abort_input(
      paste0("A linear learner predicts numbers, but `y` has classes. Only \"mean\" has a rule for two classes, ",
             "one column ",
             "and loss \"misclass\". Take another learner, such as \"svm\" or \"forest\"."), "learner")
  }
}

# The paper's rule for two classes: the first where the mean of the training rows is above x.
mean_rule <- function(x, newdata, levels) {
  list(class = factor(levels[ifelse(mean(x) > newdata[, 1L], 1L, 2L)], levels), prob = NULL)
}

warn_undefined_splits <- function(split_mean, loss) {
  missing <- sum(is.na(split_mean))
  if (missing == length(split_mean)) abort_numeric(sprintf("The loss \"%s\" has no value on any test set.", loss))
  abort_input(
    sprintf(paste0(
      "The loss \"%s\" has no value on %s, the first being split %d: a class is absent there.\nUse fewer folds, ",
      "larger test sets, or `strata`."), loss, counted(missing, "test set", "test sets"), which(is.na(split_mean))[1L]),
    "folds")
}

# One cell per split: fit on its training rows, predict the others.
learner_cells <- function(learner, x, y, levels, loss, folds) {
  prob <- loss_needs_prob(loss) || (is.function(loss) && !is.null(levels) && can_give_prob(learner))
  rule <- !is.null(levels) && learner$kind == "linear"
  answers <- resample_lapply(seq_along(folds$test), function(j) {
    out <- folds$test[[j]]
    newdata <- learner_rows(x, out)
    answer <- if (rule) mean_rule(x[-out, ], newdata, levels) else
      tryCatch(learner_run(learner, learner_rows(x, -out), y[-out], newdata, levels, loss, prob), error = function(e) e)
    if (inherits(answer, "error")) return(answer)
    c(split_loss(loss, y[out], answer, levels), answer)
  }, paste("cross-validation of", learner$label))
  failed <- which(vapply(answers, inherits, NA, "error"))
  if (length(failed) > 0L) {
    said <- sub("[.]$", "", conditionMessage(answers[[failed[1L]]]))
    absent <- if (!is.null(levels)) setdiff(levels, as.character(y[-folds$test[[failed[1L]]]]))
    abort_input(sprintf("Learner \"%s\" failed on %s, first on split %d: %s.%s", learner$label,
                        counted(length(failed), "split", "splits"), failed[1L], said,
                        if (length(absent) > 0L) sprintf("\nIts training rows have no row of class \"%s\".",
                                                         absent[1L]) else ""),
                "learner")
  }
  chosen <- unlist(lapply(answers, `[[`, "chosen"))
  list(parts = answers, chosen = chosen, details = NULL)
}

can_give_prob <- function(learner) {
  if (learner$kind == "granary") return(!is.null(learners()[[learner$learner]]$probabilities))
  learner$kind == "baseline"
}

# The columns of a linear learner, without the intercept's.
linear_design <- function(name, x) {
  if (name == "mean") return(matrix(0, NROW(x), 0L))
  frame <- as.data.frame(x)
  numbers <- vapply(frame, function(column) is.numeric(column) || is.logical(column), NA)
  if (all(numbers)) return(learner_matrix(frame))
  for (name in names(frame)[!numbers]) frame[[name]] <- droplevels(factor(frame[[name]]))
  single <- names(frame)[!numbers][vapply(frame[!numbers], nlevels, 0L) < 2L]
  if (length(single) > 0L) abort_input(sprintf("Column \"%s\" has one level only: drop it.", single[1L]), "x")
  stats::model.matrix(~., frame)[, -1L, drop = FALSE]
}

linear_options <- function(learner, arguments, test, kurtosis = NULL, threads = 1L) {
  wrong <- setdiff(names(arguments), if (learner$learner == "ridge") "lambda")
  if (length(wrong) > 0L) {
    abort_input(sprintf("Learner \"%s\" has no argument `%s`.", learner$learner, wrong[1L]), "learner")
  }
  lambda <- if (learner$learner != "ridge") 0 else {
    if (is.null(arguments$lambda)) {
      abort_input("Learner \"ridge\" needs `lambda`: cv_learner(\"ridge\", lambda = 1).", "learner")
    }
    check_number(arguments$lambda, "lambda", lower = 0)
  }
  options <- list(splits = test, lambda = lambda, intercept = TRUE, threads = threads)
  if (!is.null(kurtosis)) options$kurtosis <- kurtosis
  options
}

linear_cells <- function(learner, x, y, loss, folds, kurtosis, threads) {
  design <- linear_design(learner$learner, x)
  options <- linear_options(learner, learner$arguments, folds$test, kurtosis, threads)
  found <- core_cv_linear(unname_design(design), y, options, progress_bar("cross-validation"))
  rows <- unlist(folds$test, use.names = FALSE)
  ends <- cumsum(lengths(folds$test))
  prediction <- y[rows] - found$errors
  parts <- lapply(seq_along(folds$test), function(j) {
    at <- seq.int(ends[j] - length(folds$test[[j]]) + 1L, ends[j])
    answer <- list(response = prediction[at])
    c(split_loss(loss, y[rows[at]], answer, NULL), answer)
  })
  list(parts = parts, chosen = NULL, details = c(found$variance, list(fitted = found$fitted)))
}

# The out-of-fold table.
fold_table <- function(parts, folds, y) {
  rows <- unlist(folds$test, use.names = FALSE)
  out <- data.frame(split = rep(seq_along(folds$test), lengths(folds$test)), row = rows, y = y[rows])
  classes <- is.factor(y)
  out$prediction <- if (classes) {
    factor(unlist(lapply(parts, function(p) as.character(p$class))), levels(y))
  } else {
    unlist(lapply(parts, `[[`, "response"))
  }
  prob <- do.call(rbind, lapply(parts, `[[`, "prob"))
  if (!is.null(prob)) out[paste0("prob.", colnames(prob))] <- as.data.frame(prob)
  losses <- lapply(parts, `[[`, "rows")
  if (!any(vapply(losses, is.null, NA))) out$loss <- unlist(losses)
  out
}
