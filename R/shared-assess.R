# Scores: one generic for how good an estimate is, against the truth or on new data.

#' How good is it?
#'
#' One generic for scores. Against a known truth (`truth =`: a graph, a matrix, labels, a signal), or on new data with their answers (`newdata =`, `newy =`).
#'
#' @details
#' For a supervised fit with numbers as its response: `n`, mean squared error `mse`, its root `rmse`, mean absolute error `mae` and the share of the variance
#' that is explained, `r.squared`. For classes: the share of rows put into the wrong one, `error`, Cohen's `kappa`, and where the fit gives probabilities
#' `log.loss`, the `brier` score (sum over the classes of squared differences, averaged over the rows) and, for two classes, the area under the ROC curve `auc`.
#' Estimators of graphs, matrices, clusterings and signals have scores of their own: see their help pages.
#'
#' @section Which method when:
#' `assess()` with `truth` in simulations, with `newdata` and `newy` on data kept back. To choose among penalties or costs use the `_select()` of the
#' method, which keeps the choice and its score apart.
#'
#' @param object A fit, or whatever an estimator returns.
#' @param truth What was to be estimated.
#' @param newdata,newy New rows and their responses; without them a supervised fit is assessed on the rows it was fitted to, which flatters it.
#' @param weights One weight per row, or `NULL`.
#' @param ... For methods.
#' @return A data frame with one row of scores per fit, or whatever the method says.
#' @seealso [granary_find()], [granary_catalog()], [granary_report()], [reproduce()], [granary_session()]
#' @export
#' @examples
#' fit <- svm(Species ~ ., iris, subset = seq(1, 150, 2))
#' assess(fit, newdata = iris[seq(2, 150, 2), ], newy = iris$Species[seq(2, 150, 2)])
assess <- function(object, ...) {
  if (missing(object)) fail_missing("object")
  UseMethod("assess")
}

#' @rdname assess
#' @export
assess.default <- function(object, ...) {
  abort_input(paste0("There are no scores for ", describe(object), "."), "object")
}

#' @rdname assess
#' @export
assess.granary_fit <- function(object, newdata = NULL, newy = NULL, weights = NULL, ...) {
  if (is.null(newdata) != is.null(newy)) abort_input("Give `newdata` and `newy` together, or neither.", if (is.null(newdata)) "newdata" else "newy")
  if (is.null(newdata)) newy <- response_of(object)
  ask <- function(type) if (is.null(newdata)) stats::predict(object, type = type, ...) else stats::predict(object, newdata, type = type, ...)
  if (is.null(newy)) not_for(object, "assess()", "it keeps no response; give `newdata` and `newy`")
  if (is.null(object[["levels"]]) && !is.factor(newy)) return(score_numbers(newy, ask("response"), weights))
  prob <- tryCatch(ask("prob"), granary_error = function(e) NULL)
  score_classes(newy, ask("class"), prob, weights)
}

# The response of a fit as the user gave it, or NULL.
response_of <- function(object) {
  y <- object[["y"]]
  levels <- object[["levels"]]
  if (is.null(y) || is.factor(y) || !is.character(levels) || anyDuplicated(levels) > 0L) return(y)
  if (is.numeric(y) && all(y %in% c(0, 1)) && length(levels) == 2L) return(factor(levels[y + 1], levels))
  if (is.numeric(y) && all(y %in% seq_along(levels))) return(factor(levels[y], levels))
  factor(words_of(y, levels), levels)
}

score_weights <- function(weights, n) {
  if (is.null(weights)) return(rep(1 / n, n))
  weights <- check_vector(weights, "weights", length = n, lower = 0)
  if (sum(weights) == 0) abort_input("`weights` must not all be zero.", "weights")
  weights / sum(weights)
}

score_numbers <- function(y, estimate, weights = NULL) {
  estimate <- as.vector(estimate)
  y <- check_vector(y, "newy", length = length(estimate))
  w <- score_weights(weights, length(y))
  mse <- sum(w * (y - estimate)^2)
  spread <- sum(w * (y - sum(w * y))^2)
  data.frame(n = length(y), mse = mse, rmse = sqrt(mse), mae = sum(w * abs(y - estimate)), r.squared = if (spread > 0) 1 - mse / spread else NA_real_)
}

# Labels in the words of `levels`. Numbers are matched by value: 1e5 is "100000" to one and "1e+05" to another.
words_of <- function(y, levels) {
  text <- as.character(y)
  value <- suppressWarnings(as.numeric(levels))
  if (length(value) == 0L || anyNA(value) || anyDuplicated(value) > 0L) return(text)
  number <- if (is.numeric(y)) y else suppressWarnings(as.numeric(text))
  at <- match(number, value)
  ifelse(is.na(at) | text %in% levels, text, levels[at])
}

score_classes <- function(y, class, prob = NULL, weights = NULL) {
  levels <- if (!is.null(prob)) colnames(prob) else if (is.factor(class)) levels(class) else levels(factor(class))
  if (length(y) != length(class)) abort_input(sprintf("`newy` must have one label per row, %d, but it has %d.", length(class), length(y)), "newy")
  if (anyNA(y)) abort_input(sprintf("`newy` must have no missing labels, but label %d is NA.", which(is.na(y))[1L]), "newy")
  y <- words_of(y, levels)
  unknown <- setdiff(unique(y), union(levels, levels(factor(class))))
  if (length(unknown) > 0L && (!is.null(prob) || is.factor(class))) abort_input(sprintf("`newy` has the class \"%s\", which the fit does not know.", unknown[1L]), "newy")
  w <- score_weights(weights, length(y))
  right <- y == as.character(class)
  classes <- union(y, as.character(class))
  share <- function(z) vapply(classes, function(k) sum(w[as.character(z) == k]), 0)
  chance <- sum(share(y) * share(class))
  error <- sum(w * !right)
  out <- data.frame(n = length(y), error = error, kappa = if (chance < 1) (1 - error - chance) / (1 - chance) else NA_real_)
  if (is.null(prob)) return(out)
  at <- match(y, levels)
  own <- prob[cbind(seq_along(at), at)]
  out$log.loss <- -sum(w * log(pmax(own, .Machine$double.xmin)))
  indicator <- outer(at, seq_along(levels), `==`)
  out$brier <- sum(w * rowSums((prob - indicator)^2))
  if (length(levels) == 2L) out$auc <- area_under_roc(prob[, 2L], at == 2L, w)
  out
}

# The probability that a positive row scores above a negative one; ties count half.
area_under_roc <- function(score, positive, w = rep(1, length(score))) {
  if (all(positive) || !any(positive)) return(NA_real_)
  total <- tapply(w * positive, score, sum)
  other <- tapply(w * !positive, score, sum)
  below <- cumsum(other) - other
  sum(total * (below + other / 2)) / (sum(total) * sum(other))
}
