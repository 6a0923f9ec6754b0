#' A learner for cross-validation and benchmarks
#'
#' What [cv_error()] and [benchmark_classifiers()] test: a method of granary by its name, two functions of your own, or
#' a model of parsnip or mlr3; with a grid of arguments if they are to be chosen inside each training set.
#'
#' @details
#' `learner` may be
#'
#' * `"mean"`, `"lm"` or `"ridge"` (with `lambda`), linear smoothers for numbers, for which [cv_error()] has exact
#'   variances and needs one fit only;
#' * a method of granary that predicts: `"forest"`, `"svm"`, `"lasso"`, `"boost"`, `"gp_classify"`, `"kernel_elm"`,
#'   `"pnn"` and so on, or a method of [benchmark_baseline()];
#' * a function `fit(x, y, ...)` with `predict = function(fit, newdata)`, which returns numbers, classes, or a matrix of
#'   probabilities with one column per class;
#' * a model specification of parsnip or a workflow of tidymodels, or a learner of mlr3.
#'
#' Further arguments go to the fit. With `grid`, a data frame with one row per setting, the setting with the smallest
#' loss in an inner cross-validation of the training rows is taken, each time anew: nested cross-validation, so that the
#' choice does not flatter the estimate.
#'
#' @section Which method when:
#' `cv_learner()` is needed where a learner has arguments, a grid or a name of its own; elsewhere the name of a method
#' does.
#'
#' @param learner What to fit, see Details.
#' @param ... Arguments of the fit.
#' @param predict For a function `learner`: a function of the fit and new rows.
#' @param grid A data frame of arguments of the fit to choose from, or `NULL`.
#' @param inner Number of folds of the inner cross-validation.
#' @param label What the learner is called in tables and plots; `NULL` for its name.
#' @return An object of class `granary_cv_learner`.
#' @seealso [cv_error()], [benchmark_classifiers()]
#' @export
#' @examples
#' cv_learner("svm", cost = 10)
#' trees <- cv_learner("forest", n_trees = 50, grid = data.frame(mtry = c(1, 2)), inner = 3)
#' trees
#' cubic <- cv_learner(function(x, y) lm(y ~ poly(x[, 1], 3)), label = "cubic",
#'                     predict = function(fit, newdata) cbind(1, poly(newdata[, 1], 3)) %*% coef(fit))
cv_learner <- function(learner, ..., predict = NULL, grid = NULL, inner = 5, label = NULL) {
  if (missing(learner)) fail_missing("learner")
  if (inherits(learner, "granary_cv_learner")) return(learner)
  arguments <- list(...)
  if (length(arguments) > 0L && (is.null(names(arguments)) || any(!nzchar(names(arguments))))) {
    abort_input("Arguments of the fit must have names.", "learner")
  }
  inner <- check_count(inner, lower = 2)
  label <- check_string(label, allow_null = TRUE)
  grid <- check_grid(grid)
  kind <- learner_kind(learner)
  if (kind == "function") {
    if (is.list(learner)) {
      predict <- learner$predict
      learner <- learner$fit
    }
    if (is.null(predict)) abort_input("`predict` must be given with a function `learner`.", "predict")
    check_function(predict, "predict")
  } else if (!is.null(predict)) {
    abort_input("`predict` belongs to a `learner` that is a function.", "predict")
  }
  if (kind == "granary") known_learner_words(learner, c(names(arguments), names(grid)))
  if (kind %in% c("parsnip", "mlr3") && (length(arguments) > 0L || !is.null(grid))) {
    abort_input(sprintf("Set the arguments in the learner of %s itself, and tune there.", kind), "learner")
  }
  if (is.null(label)) {
    label <- switch(kind, "function" = "function", parsnip = class(learner)[1L], mlr3 = learner$id, learner)
  }
  seal(structure(list(kind = kind, learner = learner, predict = predict, arguments = arguments, grid = grid,
                      inner = inner, label = label), class = "granary_cv_learner"))
}

linear_learners <- c("mean", "lm", "ridge")

learner_kind <- function(learner) {
  if (is.function(learner)) return("function")
  if (inherits(learner, c("model_spec", "workflow"))) return("parsnip")
  if (inherits(learner, "Learner")) return("mlr3")
  if (is.list(learner) && !is.object(learner) && is.function(learner$fit) && is.function(learner$predict)) {
    return("function")
  }
  known <- c(linear_learners, names(learners()), baseline_classifiers)
  if (!is.character(learner) || length(learner) != 1L || is.na(learner)) {
    fail_input("learner", "the name of a method, a function, list(fit, predict), or a learner of parsnip or mlr3",
               describe(learner))
  }
  if (!learner %in% known) {
    abort_input(paste0("There is no learner \"", readable(learner), "\".", did_you_mean(learner, known), "\nThere are ",
                       paste0("\"", known, "\"", collapse = ", "), "."), "learner")
  }
  if (learner %in% linear_learners) "linear" else if (learner %in% baseline_classifiers) "baseline" else "granary"
}

check_grid <- function(grid) {
  if (is.null(grid)) return(NULL)
  if (!is.data.frame(grid) || nrow(grid) == 0L || length(grid) == 0L) {
    fail_input("grid", "a data frame with one row per setting (or NULL)", describe(grid))
  }
  grid
}

known_learner_words <- function(learner, words) {
  known <- c(names(learner_formals(learners()[[learner]])), "weights")
  wrong <- setdiff(words, known)
  if (length(wrong) == 0L) return(invisible())
  abort_input(sprintf("%s() has no argument `%s`.%s", learner, wrong[1L], did_you_mean(wrong[1L], known, "`")),
              "learner")
}

as_cv_learner <- function(learner) {
  if (inherits(learner, "granary_cv_learner")) {
    check_fit(learner)
    return(learner)
  }
  cv_learner(learner)
}

#' @export
print.granary_cv_learner <- function(x, ...) {
  from <- switch(x$kind, granary = "a method of granary", linear = "a linear smoother", baseline = "a baseline",
                 "function" = "two functions", x$kind)
  cli::cat_line("Learner \"", x$label, "\": ", from)
  if (length(x$arguments) > 0L) {
    cli::cat_line("  ", paste0(names(x$arguments), " = ", vapply(x$arguments, describe, ""), collapse = ", "))
  }
  if (!is.null(x$grid)) {
    cli::cat_line("  ", nrow(x$grid), " settings of ", paste(names(x$grid), collapse = ", "), ", chosen by ", x$inner,
                  " inner folds")
  }
  invisible(x)
}

# ---- fitting and predicting ------------------------------------

# What a learner says of new rows: list(response) for numbers, list(class, prob) for classes, prob perhaps NULL;
# `chosen`, the row of the grid.
# `levels`: NULL for numbers. `loss` decides in a grid.
learner_run <- function(learner, x, y, newdata, levels, loss, want_prob = FALSE) {
  chosen <- NULL
  arguments <- learner$arguments
  if (!is.null(learner$grid)) {
    chosen <- learner_tune(learner, x, y, levels, loss)
    arguments[names(learner$grid)] <- learner$grid[chosen, , drop = FALSE]
  }
  answer <- learner_once(learner, arguments, x, y, newdata, levels, want_prob)
  answer$chosen <- chosen
  answer
}

learner_tune <- function(learner, x, y, levels, loss) {
  n <- NROW(y)
  fold <- if (is.null(levels)) {
    make_folds(n, min(learner$inner, n))
  } else {
    stratified_folds(as.integer(y), min(learner$inner, n))
  }
  losses <- vapply(seq_len(nrow(learner$grid)), function(row) {
    arguments <- learner$arguments
    arguments[names(learner$grid)] <- learner$grid[row, , drop = FALSE]
    parts <- vapply(sort(unique(fold)), function(f) {
      out <- fold == f
      answer <- tryCatch(
        learner_once(learner, arguments, learner_rows(x, !out), y[!out], learner_rows(x, out), levels,
                     loss_needs_prob(loss)),
        error = function(e) NULL
      )
      if (is.null(answer)) NA_real_ else split_loss(loss, y[out], answer, levels)$mean
    }, 0)
    mean(parts)
  }, 0)
  if (all(is.na(losses))) {
    abort_numeric(sprintf("No setting of learner \"%s\" could be fitted on all inner folds.", learner$label))
  }
  which.min(losses)
}

learner_rows <- function(x, rows) if (is.null(dim(x))) x[rows] else x[rows, , drop = FALSE]

learner_once <- function(learner, arguments, x, y, newdata, levels, want_prob) {
  mode <- if (is.null(levels)) "regression" else "classification"
  raw <- switch(learner$kind,
    linear = linear_once(learner, arguments, x, y, newdata),
    granary = granary_once(learner, arguments, x, y, newdata, mode, levels, want_prob),
    baseline = stats::predict(do.call(benchmark_baseline, c(list(x, y, method = learner$learner), arguments)), newdata,
                              type = if (want_prob) "prob" else "class"),
    "function" = function_once(learner, arguments, x, y, newdata),
    parsnip = parsnip_once(learner$learner, x, y, newdata, mode, want_prob),
    mlr3 = mlr3_once(learner$learner, x, y, newdata, mode, want_prob)
  )
  learner_reply(raw, NROW(newdata), levels, learner$label)
}

linear_once <- function(learner, arguments, x, y, newdata) {
  design <- linear_design(learner$learner, rbind(as.data.frame(x), as.data.frame(newdata)))
  n <- NROW(y)
  rows <- n + seq_len(NROW(newdata))
  found <- core_cv_linear(design, c(y, numeric(length(rows))),
                          linear_options(learner, arguments, list(rows), threads = 1L), NULL)
  -found$errors
}

function_once <- function(learner, arguments, x, y, newdata) {
  fit <- do.call(user_value, c(list(learner$learner, "learner", x, y), arguments))
  user_value(learner$predict, "predict", fit, newdata)
}

granary_once <- function(learner, arguments, x, y, newdata, mode, levels, want_prob) {
  row <- learners()[[learner$learner]]
  if (is.null(row$modes[[mode]])) abort_input(sprintf("%s() does not do %s.", row$fun, mode), "learner")
  prob <- want_prob && "prob" %in% learner_types(row, mode)
  if (want_prob && !prob) {
    abort_input(sprintf("%s() gives no probabilities, which this loss needs.", row$fun), "learner")
  }
  weights <- arguments$weights
  arguments$weights <- NULL
  given <- learner_arguments(row, mode, prob, arguments)
  features <- as.data.frame(x)
  fit <- learner_fit(row, features, if (is.null(levels)) y else droplevels(factor(levels[as.integer(y)], levels)),
                     given, weights)
  learner_answer(row, fit, as.data.frame(newdata),
                 if (mode == "regression") "response" else if (prob) "prob" else "class")
}

parsnip_once <- function(spec, x, y, newdata, mode, want_prob) {
  check_installed("parsnip", "for this learner")
  frame <- as.data.frame(x)
  if (inherits(spec, "workflow")) {
    fit <- generics::fit(spec, cbind(frame, .response = y))
  } else {
    if (spec$mode == "unknown") spec <- parsnip::set_mode(spec, mode)
    fit <- generics::fit_xy(spec, frame, y)
  }
  type <- if (mode == "regression") "numeric" else if (want_prob) "prob" else "class"
  answer <- stats::predict(fit, as.data.frame(newdata), type = type)
  if (type != "prob") return(answer[[1L]])
  out <- as.matrix(answer)
  colnames(out) <- sub("^\\.pred_", "", colnames(out))
  out
}

mlr3_once <- function(learner, x, y, newdata, mode, want_prob) {
  check_installed("mlr3", "for this learner")
  learner <- learner$clone(deep = TRUE)
  if (want_prob) learner$predict_type <- "prob"
  make <- if (mode == "regression") mlr3::as_task_regr else mlr3::as_task_classif
  learner$train(make(cbind(as.data.frame(x), .response = y), target = ".response"))
  found <- learner$predict_newdata(as.data.frame(newdata))
  if (want_prob) found$prob else found$response
}

# The answer in one form, whatever the learner gave.
learner_reply <- function(raw, n, levels, label) {
  wrong <- function(expected) {
    abort_input(sprintf("Learner \"%s\" must predict %s, not %s.", label, expected, describe(raw)), "learner")
  }
  if (is.null(levels)) {
    if (is.matrix(raw) && ncol(raw) == 1L) raw <- raw[, 1L]
    if (!is.numeric(raw) || is.factor(raw) || length(raw) != n) wrong(paste(n, "numbers"))
    if (!all(is.finite(raw))) abort_numeric(sprintf("Learner \"%s\" predicts NA or an infinite number.", label))
    return(list(response = as.double(raw)))
  }
  if (is.data.frame(raw)) raw <- as.matrix(raw)
  if (is.matrix(raw) && is.numeric(raw)) {
    if (nrow(raw) != n || is.null(colnames(raw)) || !all(colnames(raw) %in% levels)) {
      wrong(sprintf("probabilities, %d rows with a column for every class", n))
    }
    prob <- learner_probabilities(raw, levels)
    return(list(class = factor(levels[max.col(prob, "first")], levels), prob = prob))
  }
  if (length(raw) != n || !is.atomic(raw)) wrong(paste(n, "classes"))
  words <- words_of(raw, levels)
  unknown <- which(is.na(words) | !words %in% levels)
  if (length(unknown) > 0L) {
    wrong(sprintf("one of the classes %s", paste0("\"", utils::head(levels, 6L), "\"", collapse = ", ")))
  }
  list(class = factor(words, levels), prob = NULL)
}
