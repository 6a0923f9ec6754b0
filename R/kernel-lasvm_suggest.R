#' Which rows to label next
#'
#' Of rows without labels, those the machine would learn most from: the ones nearest to its boundary.
#'
#' @details
#' With criterion `"active"` the row with the least \eqn{|f(x)|} among `candidates` rows drawn at random, or among all; with `"autoactive"` rows are
#' drawn until five have \eqn{|f(x)| < 1 + \delta/2}{|f(x)| < 1 + delta/2}, at most 100. With more than two classes \eqn{|f|} is half the lead of the
#' first class over the second. A machine that has not seen two classes yet asks for random rows.
#'
#' Give the labels to `update()`, and ask again. The attribute `"near"` of the answer says whether the first row is within
#' \eqn{1 + \delta/2}{1 + delta/2} of the boundary: where it is not, more labels of this pool will change little.
#'
#' @section Which method when:
#' `lasvm_suggest()` where labels cost and rows do not; `"autoactive"` where labels are noisy. [bayes_opt()] where the aim is a maximum and not a
#' boundary.
#'
#' @param object A fit of [lasvm()].
#' @param newdata A matrix, data frame or sparse matrix of rows, in the columns of the fit.
#' @param n Number of rows wanted.
#' @param criterion `"active"`, `"autoactive"` or `"random"`.
#' @param candidates Number of rows to look at with `"active"`; `Inf` for all.
#' @param ... Nothing: an argument that is not known is an error.
#' @return Row numbers of `newdata`, the best first, with attributes `"link"` (their \eqn{|f|}) and `"near"`.
#' @seealso [lasvm()], [update(finish = TRUE)], [data_chunks()], [budget_perceptron()], [kernel_perceptron()], [sasb()]
#' @references
#' Bordes, Ertekin, Weston and Bottou (2005). Fast kernel classifiers with online and active learning. *Journal of Machine Learning Research* 6,
#' 1579--1619.
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(400), 200)
#' truth <- ifelse(x[, 1] > x[, 2]^2 - 1, "right", "left")
#' y <- truth
#' y[-(1:10)] <- NA
#' fit <- lasvm(x, y, select = "active", levels = c("left", "right"))
#' pool <- fit$unlabelled
#' for (k in 1:20) {
#'   ask <- pool[lasvm_suggest(fit, x[pool, ])]
#'   fit <- update(fit, x[ask, , drop = FALSE], truth[ask])
#'   pool <- setdiff(pool, ask)
#' }
#' mean(predict(update(fit, finish = TRUE), x) == truth)
lasvm_suggest <- function(object, newdata, n = 1, criterion = c("active", "autoactive", "random"), candidates = Inf, ...) {
  refuse_dots(...)
  if (missing(object)) fail_missing("object")
  if (!inherits(object, "granary_lasvm")) fail_input("object", "a fit of lasvm()", describe(object))
  check_fit(object)
  if (missing(newdata)) fail_missing("newdata")
  fit <- object
  criterion <- check_choice(criterion, c("active", "autoactive", "random"))
  candidates <- check_number(candidates, lower = 1, allow_infinite = TRUE)
  pool <- online_design(fit, newdata, "newdata")
  check_matrix(pool, "newdata", allow_sparse = TRUE)
  n <- check_count(n, upper = nrow(pool))
  learnt <- isTRUE(fit$n_sv > 0L)
  drawn <- switch(criterion, active = if (candidates < nrow(pool)) sample.int(nrow(pool), max(n, floor(candidates))) else seq_len(nrow(pool)),
                  autoactive = sample.int(nrow(pool), min(nrow(pool), max(n, 100L))), random = sample.int(nrow(pool), n))
  if (!learnt) drawn <- sample.int(nrow(pool), n)
  lead <- if (learnt) lasvm_lead(online_scores(fit, pool[drawn, , drop = FALSE])) else rep(NA_real_, length(drawn))
  near <- 1 + fit$delta / 2
  if (criterion == "autoactive" && learnt) {
    close <- which(lead < near)
    last <- max(n, if (length(close) >= 5L) close[5L] else length(lead))
    drawn <- drawn[seq_len(last)]
    lead <- lead[seq_len(last)]
  }
  best <- if (learnt && criterion != "random") utils::head(order(lead), n) else seq_len(n)
  structure(drawn[best], decision = unname(lead[best]), near = isTRUE(lead[best[1L]] < near))
}

# How far decisions are from changing: |f|, or half the lead of the first class over the second.
lasvm_lead <- function(scores) {
  if (!is.matrix(scores)) return(abs(scores))
  best <- max.col(scores, ties.method = "first")
  first <- scores[cbind(seq_along(best), best)]
  scores[cbind(seq_along(best), best)] <- -Inf
  (first - apply(scores, 1L, max)) / 2
}
