#' Best label sequences
#'
#' The `k` best sequences of labels under scores of labels by position and of neighbouring labels: the decoder of hidden Markov models, conditional
#' random
#' fields and [structured_svm()].
#'
#' @details
#' Maximises \eqn{\sum_t u_{t, y_t} + \sum_t a_{y_t, y_{t+1}} + \sum_t b_{y_t, y_{t+1}, y_{t+2}}}{sum_t u[t, y_t] + sum_t a[y_t, y_(t+1)] + sum_t
#' b[y_t, y_(t+1), y_(t+2)]} over all \eqn{K^T} sequences in \eqn{O(T K^2 k)} steps (\eqn{O(T K^3 k)} with triples). For a hidden Markov model give
#' logarithms of probabilities; `-Inf` forbids. Among equal scores the lower label at the last position where they differ comes first.
#'
#' **Which method when:** for scores you have already; to learn them see [structured_svm()].
#'
#' @param unary Matrix of scores with a row per position and a column per label.
#' @param transition Matrix of scores with a row per label and a column per next label; or a three-dimensional array of them, one for each two
#'   neighbouring
#'   positions.
#' @param k Number of sequences.
#' @param triple `NULL`, or an array of scores of three labels in a row.
#' @return For `k = 1` a vector of labels (names of the columns where there are, else numbers) with attribute `score`. Else a list with `labels`, a
#'   matrix
#'   with a sequence in each column, and `score`; there may be fewer than `k`.
#' @references
#' Forney (1973). The Viterbi algorithm. *Proceedings of the IEEE* 61, 268--278.
#' @family structured outputs
#' @export
#' @examples
#' rain <- log(rbind(c(0.9, 0.2), c(0.9, 0.2), c(0.1, 0.8), c(0.9, 0.2)))
#' colnames(rain) <- c("wet", "dry")
#' stay <- log(matrix(c(0.7, 0.3, 0.3, 0.7), 2))
#' viterbi(rain, stay)
#' viterbi(rain, stay, k = 3)
viterbi <- function(unary, transition, k = 1, triple = NULL) {
  unary <- check_scores(unary, "unary", 2L)
  labels <- ncol(unary)
  if (nrow(unary) == 0L || labels == 0L) abort_input("`unary` must have at least one position and one label.", "unary")
  transition <- check_scores(transition, "transition", 2:3)
  if (any(dim(transition)[1:2] != labels) || (length(dim(transition)) == 3L && dim(transition)[3L] != nrow(unary) - 1L)) {
    abort_input(sprintf("`transition` must be %d x %d, or %d x %d x %d, but it is %s.", labels, labels, labels, labels, nrow(unary) - 1L,
                        paste(dim(transition), collapse = " x ")), "transition")
  }
  if (length(dim(transition)) == 3L && nrow(unary) == 1L) transition <- matrix(0, labels, labels)
  k <- check_count(k, upper = 1e5)
  if (!is.null(triple)) {
    triple <- check_scores(triple, "triple", 3L)
    if (any(dim(triple) != labels)) abort_input(sprintf("`triple` must be %d x %d x %d.", labels, labels, labels), "triple")
  }
  paths <- core_viterbi(unary, as.double(transition), as.double(triple), k)
  found <- list(labels = matrix(vapply(paths, `[[`, integer(nrow(unary)), "labels"), nrow(unary)), score = vapply(paths, `[[`, 0, "score"))
  if (length(found$score) == 0L) abort_input("Every sequence has the score -Inf: all are forbidden.", "unary")
  named <- if (is.null(colnames(unary))) found$labels else array(colnames(unary)[found$labels], dim(found$labels))
  if (k == 1L) return(structure(as.vector(named), score = found$score))
  list(labels = named, score = found$score)
}

# Numbers with -Inf allowed, in an array of some dimension.
check_scores <- function(x, arg, dimensions) {
  if (missing(x)) fail_missing(arg)
  if (is.data.frame(x)) x <- as.matrix(x)
  if (!is_plain_numeric(x) || !length(dim(x)) %in% dimensions) {
    fail_input(arg, if (2L %in% dimensions) "a matrix of numbers" else "an array of numbers", describe(x))
  }
  if (anyNA(x) || any(x == Inf)) abort_input(sprintf("`%s` must not have missing or infinite values, except -Inf.", arg), arg)
  storage.mode(x) <- "double"
  x
}
