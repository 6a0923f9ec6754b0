#' How many rounds of boosting
#'
#' Cross-validated error of [boost()] after each round, and the number of rounds it chooses.
#'
#' @details
#' In each fold `boost()` runs once for all rounds, and the rows left out are classified after each of them. A run that
#' ended early keeps its last answer. Rule `"min"` takes the smallest number of rounds with the least error, `"1se"` the
#' smallest one whose error is within one standard error of it. The chosen machine is fitted to all rows with that many
#' rounds; strategies that count on the number of rounds (`"minimax01"`, and `nu` of the margins where it is not given)
#' are run anew with it.
#'
#' @section Which method when:
#' Where labels are noisy, so that boosting to the end would fit the noise. By margins, on clean labels, the certificate
#' says when to stop.
#'
#' @inheritParams boost
#' @param n_rounds Most rounds.
#' @param folds Number of folds, or the fold of every row.
#' @param rule `"min"` or `"1se"`.
#' @param ... Further arguments of [boost()].
#' @return A `granary_selection` with `table` (`n_rounds`, `estimate`: share misclassified, `std.error`) and `fit`.
#' @references
#' Mukherjee, I. and Schapire, R. E. (2010). A theory of multiclass boosting. *Advances in Neural Information Processing
#' Systems* 23.
#' @seealso [boost()], [boost_check()], [boost_bounds()], [forest()]
#' @export
#' @examples
#' set.seed(1)
#' choice <- boost_select(iris[1:4], iris$Species, n_rounds = 40, folds = 5)
#' choice
#' plot(choice)
boost_select <- function(x, y = NULL, n_rounds = 200, folds = 10, rule = c("min", "1se"), weights = NULL, ...) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (is.null(y)) fail_missing("y")
  known <- setdiff(names(formals(boost.default)), c("x", "y", "n_rounds", "weights", "..."))
  unknown <- setdiff(...names(), known)
  if (length(unknown) > 0L) {
    abort_input(paste0("There is no argument `", unknown[1L], "`.", did_you_mean(unknown[1L], known, "`"),
                       " See the help page for those there are."), unknown[1L])
  }
  if (is.function(list(...)$learner) && !is.data.frame(x)) x <- custom_rows(x, "x")
  n_rounds <- check_count(n_rounds, upper = 1e5)
  rule <- check_choice(rule, c("min", "1se"))
  classes <- tree_classes(y, NROW(x))
  y <- factor(classes$levels[classes$y + 1], classes$levels)
  if (!is.null(weights)) weights <- unname(check_vector(weights, "weights", length = length(y), lower = 0))
  folds <- check_folds(folds, length(y))
  parts <- sort(unique(folds))
  lost <- vapply(parts, function(part) nlevels(droplevels(y[folds != part])) < nlevels(y), NA)
  if (any(lost)) abort_input("Without one of the folds a class has no rows: use more folds, or other ones.", "folds")
  fit_rows <- function(rows, rounds) {
    quiet_boost(boost.default(x[rows, , drop = FALSE], y[rows], n_rounds = rounds, weights = weights[rows], ...))
  }
  found <- resample_lapply(parts, function(part) {
    out <- which(folds == part)
    fit <- fit_rows(which(folds != part), n_rounds)
    if (length(fit$alpha) == 0L) {
      abort_numeric("The learner has no edge in the first round of a fold: there is nothing to choose.")
    }
    staged <- stats::predict(fit, x[out, , drop = FALSE], type = "staged")
    wrong <- staged != as.character(y[out])
    wrong[, c(seq_len(ncol(wrong)), rep(ncol(wrong), n_rounds - ncol(wrong))), drop = FALSE]
  }, "boosting")
  size <- vapply(found, nrow, 1L)
  by_fold <- matrix(vapply(found, colMeans, numeric(n_rounds)), n_rounds)
  w <- size / sum(size)
  estimate <- drop(by_fold %*% w)
  error <- apply(by_fold, 1L, stats::sd) / sqrt(length(parts))
  table <- data.frame(n_rounds = seq_len(n_rounds), estimate = estimate, std.error = error)
  draft <- list(table = table, selected = NA_integer_, rule = rule, simplicity = -table$n_rounds, maximize = FALSE)
  best <- selection_row(draft, rule)
  fit <- fit_rows(seq_along(y), best)
  new_selection("boost", fit, table, rule, "share of rows misclassified", simplicity = -table$n_rounds, selected = best,
                folds = folds, call = call, convergence = fit$convergence)
}

# Fits that are only steps of something larger say nothing of themselves.
quiet_boost <- function(code) {
  withCallingHandlers(suppressMessages(code), granary_warning_convergence = function(w) invokeRestart("muffleWarning"))
}
