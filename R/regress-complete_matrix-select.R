#' Choice of the penalty of a matrix completion
#'
#' Holds out observed cells, completes the matrix from the others along the path of penalties, and scores the predictions of the cells held out.
#'
#' @details
#' Cells are split at random into `folds` parts, each held out once; or, with `split`, a share of the cells is held out `times` times, as the
#' paper does (80/20,
#' five times). Repeated values of a cell stay together. The penalties are those of the fit to all cells; each refit keeps the centring and
#' the bounds of the fit. Errors are pooled over all cells held out; standard errors are those of the parts' means (by the delta method for the root).
#' Parts are fitted on the workers of [future::plan()] when one is set.
#'
#' @inheritParams complete_matrix
#' @param folds Number of folds, or the fold of every observed cell (distinct cells, column by column).
#' @param split Share of cells held out, instead of folds.
#' @param times How often, with `split`.
#' @param metric Root mean squared error, or the mean absolute error over the width of the range.
#' @param rule The penalty with the smallest error, or the largest within one standard error of it.
#' @param ... Arguments of [complete_matrix()]: `lambda`, `bound`, `model` and so on.
#' @return A [granary_selection]: `fit` (the path for all cells), `table` with one row per penalty, and `lambda`.
#' @section Which method when:
#' Folds use every cell and are the default; a split is cheaper and is what published comparisons report.
#' @inherit complete_matrix references
#' @seealso [complete_matrix()], [complete_matrix_baseline()], [complete_matrix_bounds()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_complete_matrix(40, 30, rank = 2, n_obs = 500, noise = 0.3)
#' cv <- complete_matrix_select(sim$x, folds = 3, n_lambda = 8)
#' cv
#' predict(cv, data.frame(i = 1:3, j = 1:3))
complete_matrix_select <- function(x, folds = 10, metric = c("rmse", "nmae"), rule = c("min", "1se"), split = NULL, times = 5, ...) {
  call <- match.call()
  metric <- check_choice(metric, c("rmse", "nmae"))
  rule <- check_choice(rule, c("min", "1se"))
  split <- check_number(split, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE, allow_null = TRUE)
  times <- check_count(times, lower = 2)
  fit <- complete_matrix(x, ...)
  cells <- fit$cells
  key <- cells$i + as.double(cells$rows) * cells$j
  distinct <- sort(unique(key))
  n <- length(distinct)
  if (n < 2L) abort_input("`x` must have at least two observed cells to hold some out.", "x")
  if (is.null(split)) {
    folds <- check_folds(folds, n)
    parts <- lapply(sort(unique(folds)), function(part) which(folds == part))
  } else {
    size <- min(n - 1L, max(1L, round(split * n)))
    parts <- lapply(seq_len(times), function(k) sample.int(n, size))
    folds <- seq_len(times)
  }
  width <- diff(if (is.null(fit$bound)) range(cells$original) else fit$bound)
  count <- length(fit$lambda)
  place <- match(key, distinct)
  results <- resample_lapply(parts, function(out) {
    held <- place %in% out
    start <- NULL
    refit <- suppressWarnings(update(fit, x = refit_frame(fit, which(!held)), dims = fit$dim, start = start,
                                     lambda = if (!fit$constrained) fit$lambda,
                                     trace_norm = if (fit$constrained) fit$trace_norm))
    total <- vapply(seq_len(count), function(at) {
      error <- predict_cells(refit, at, cells$i[held], cells$j[held], "response") - cells$original[held]
      if (metric == "rmse") sum(error^2) else sum(abs(error)) / max(width, .Machine$double.xmin)
    }, 0)
    list(total = total, cells = sum(held), converged = all(convergence_table(refit$convergence)$converged %in% TRUE))
  }, "cross-validation of cells")
  stopped <- sum(!vapply(results, `[[`, NA, "converged"))
  if (stopped > 0L) {
    warn_convergence(sprintf("The solver stopped early in %d of %d parts, so the choice may be off. Use a larger `max_iter`.", stopped,
                             length(parts)))
  }
  held <- vapply(results, `[[`, 0, "cells")
  totals <- matrix(vapply(results, `[[`, numeric(count), "total"), count)
  mean <- rowSums(totals) / sum(held)
  se <- apply(sweep(totals, 2L, held, `/`), 1L, stats::sd) / sqrt(length(parts))
  if (metric == "rmse") {
    mean <- sqrt(mean)
    se <- se / (2 * pmax(mean, .Machine$double.xmin))
  }
  lambda <- fit$lambda
  new_selection("complete_matrix", fit, data.frame(lambda = lambda, estimate = mean, std.error = se), rule,
                if (metric == "rmse") "root mean squared error" else "normalised mean absolute error", at = function(row) list(lambda = lambda[row]),
                simplicity = lambda, lambda = lambda, folds = folds, call = shorten_call(call))
}

#' Baselines for matrix completion
#'
#' What any completion has to beat: means of rows and columns, and low-rank fits without penalty.
#'
#' @details
#' `"mean"` predicts the overall mean, `"row"` and `"column"` that of the row or column, `"additive"` the least-squares fit of a constant per row
#' plus one per column. `"hard"` is
#' hard-impute: fill the holes with the present fit, take the best matrix of rank `rank`, repeat until the squared error stops falling; a
#' stationary point, without penalty. With
#' `bound`, predictions are clipped.
#'
#' @inheritParams complete_matrix
#' @param method Which baseline.
#' @param rank Rank for `"hard"`.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A fit of class `granary_trace_completion`, like those of [complete_matrix()].
#' @section Which method when:
#' As yardsticks: a completion that does not beat `"additive"` on held-out cells has found no interaction of rows and columns. `"hard"` overfits
#' when few cells are
#' observed; [complete_matrix()] shrinks instead.
#' @inherit complete_matrix references
#' @seealso [complete_matrix()], [complete_matrix_select()], [complete_matrix_bounds()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_complete_matrix(40, 30, rank = 2, n_obs = 500, noise = 0.3)
#' assess(complete_matrix_baseline(sim$x, "additive"), truth = sim$test)
#' assess(complete_matrix_baseline(sim$x, "hard", rank = 2), truth = sim$test)
complete_matrix_baseline <- function(x, method = c("additive", "mean", "row", "column", "hard"), rank = 2, bound = NULL, repeats = c("weight", "mean"),
                              dims = NULL,
                              tol = 1e-6, max_iter = 2000, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  method <- check_choice(method, c("additive", "mean", "row", "column", "hard"))
  cells <- completion_cells(x, check_choice(repeats, c("weight", "mean")), dims)
  rank <- check_count(rank, upper = .Machine$integer.max)
  model <- if (is.null(bound)) "trace" else "clipped"
  bound <- completion_range(bound, model, cells)
  settings <- completion_settings(rank, tol, max_iter, list())
  center <- switch(method, additive = "both", row = "row", column = "col", "none")
  warn_unobserved(cells, if (method == "hard") "none" else "both")
  unit <- max(abs(cells$value), .Machine$double.xmin)
  centre <- completion_centre(cells, center)
  if (method == "mean") centre$row <- rep(mean(observed_means(list(i = cells$i, j = cells$j, rows = cells$rows, original = cells$value))), cells$rows)
  cells$value <- cells$value - centre$row[cells$i + 1L] - centre$col[cells$j + 1L]
  scaled <- cells
  scaled$value <- cells$value / unit
  about <- core_completion_cells(cell_triplets(scaled), list())
  result <- if (method == "hard") {
    core_hard_impute(cell_triplets(scaled), c(settings, list(threads = completion_threads(threads, cells))), progress_bar("hard-impute"))
  } else {
    zero_completion(cells, about)
  }
  units <- list(unit = unit, factor = unit, per_lambda = unit, about = about, scale = "sum")
  fit <- new_completion(list(result), cells, list(value = 0, constrained = FALSE), units, call)
  fit <- utils::modifyList(fit, list(model = model, solver = if (method == "hard") "hard" else "mean", center = center, row = centre$row,
                                     col = centre$col, standardize = "none", row_scale = rep(1, cells$rows), col_scale = rep(1, cells$cols),
                                     settings = settings))
  fit$bound <- bound
  fit <- seal(structure(fit, class = c("granary_trace_completion", "granary_fit")))
  check_convergence(fit)
  fit
}
