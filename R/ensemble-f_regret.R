#' What simpler decisions lose in expected F
#'
#' Under a law of label vectors: the F-maximizer beside the decisions that stand in for it, what each expects of every
#' measure, and its regret.
#'
#' @details
#' The rows of the table: `f`, the F-maximizer; `independent`, the best under the marginal probabilities as if labels
#' were independent; `threshold`, the best set of most probable labels under the law itself; `lewis`, the approximation
#' \eqn{2 \sum_{i \le k} p_i / (\sum p + k)}{2 sum_(i <= k) p_i / (sum p + k)};
#' `hamming`, each label by its own probability; `subset`, the most probable vector; `jaccard` (see [f_decide()]); and
#' the `decisions` given. `hamming` and
#' `subset` are shares that are right.
#'
#' @section Which method when:
#' `f_regret()` says whether the joint law matters for your labels; where the regret of `independent` is small, marginal
#' probabilities and [f_decide()] with `p` will do. [f_bounds()] gives the worst cases over all laws.
#'
#' @param sample Label vectors, a 0/1 matrix or data frame.
#' @param weights Their probabilities, up to a factor; `NULL` for equal ones.
#' @param decisions Further decisions, 0/1: a vector, or a matrix with one row each, whose row names are shown.
#' @param beta Weight of recall.
#' @param empty The Jaccard index of two empty sets.
#' @return A data frame of class `granary_f_regret`: `decision`, `size`, expected `f`, `jaccard`, `hamming`, `subset`,
#'   and `regret` in F; the decisions themselves are the attribute `labels`.
#' @inherit f_decide references
#' @seealso [f_decide()], [f_bounds()], [sim_multilabel()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_multilabel(500, m = 8, type = "chain")
#' f_regret(sim$y)
f_regret <- function(sample, weights = NULL, decisions = NULL, beta = 1, empty = 1) {
  if (missing(sample)) fail_missing("sample")
  y <- check_label_matrix(sample, "sample")
  weights <- check_sample_weights(weights, nrow(y))
  options <- f_options(beta, empty = empty)
  given <- matrix(0, 0L, ncol(y))
  if (!is.null(decisions)) {
    single <- is.atomic(decisions) && is.null(dim(decisions))
    given <- check_label_matrix(if (single) rbind(decisions) else decisions, "decisions")
    if (single) rownames(given) <- NULL
    if (!is.null(colnames(given)) && !is.null(colnames(y))) given <- match_columns(given, colnames(y), "decisions")
    if (ncol(given) != ncol(y)) {
      abort_input(sprintf("`decisions` must have one entry per label, %d, but it has %d.", ncol(y), ncol(given)),
                  "decisions")
    }
  }
  found <- core_f_table(unname(y), weights, unname(given), options$beta, options$empty, progress_bar("decisions"))
  table <- as.data.frame(found$rows)
  if (!is.null(rownames(given))) table$decision[-(1:7)] <- rownames(given)
  labels <- found$labels
  dimnames(labels) <- list(make.unique(table$decision), colnames(y))
  structure(table, labels = labels, class = c("granary_f_regret", "data.frame"))
}

#' @export
print.granary_f_regret <- function(x, ...) {
  refuse_dots(...)
  cli::cat_line("Expected scores of decisions; regret: F less than the best can expect")
  print(format(as.data.frame(unclass(x)[names(x)], stringsAsFactors = FALSE), digits = 3L), row.names = FALSE)
  invisible(x)
}

#' Scores of decisions about labels
#'
#' The F-measure of label decisions against the truth: by instance, micro and macro, with the Jaccard index, the Hamming
#' loss and the subset 0/1 loss.
#'
#' @details
#' `f_instance` is the mean over rows of their F-measures, `f_macro` that over columns, `f_micro` the F-measure of all
#' entries together; \eqn{0/0} is 1: no label is right and none was chosen. `hamming` is the share of wrong entries,
#' `subset` the share of rows that are not right throughout, `precision` and
#' `recall` are those of all entries.
#'
#' @section Which method when:
#' For decisions that are 0/1 vectors. Binary classification is a matrix of one column: its F-measure is `f_macro` or
#' `f_micro`. [assess()] scores classifiers of one label per row.
#'
#' @param truth,prediction 0/1 matrices or data frames with one row per instance, or vectors for a single label; a
#'   decision of [f_decide()] is taken too.
#' @param beta Weight of recall.
#' @param empty The Jaccard index of two empty sets; the paper has 0.
#' @param weights One weight per row, or `NULL`.
#' @param by What the rows of the answer are: everything at once, the labels, or the instances.
#' @return A data frame with one row of scores, or with the F-measure of each label or instance.
#' @inherit f_decide references
#' @seealso [f_decide()], [multilabel()], [assess()]
#' @export
#' @examples
#' truth <- rbind(c(1, 0, 1), c(0, 0, 0), c(0, 1, 0))
#' f_score(truth, rbind(c(1, 0, 0), c(0, 0, 0), c(1, 1, 0)))
f_score <- function(truth, prediction, beta = 1, empty = 1, weights = NULL, by = c("all", "label", "instance")) {
  if (missing(truth)) fail_missing("truth")
  if (missing(prediction)) fail_missing("prediction")
  by <- check_choice(by, c("all", "label", "instance"))
  options <- f_options(beta, empty = empty)
  as_matrix <- function(y) if (length(y) > 0L && is.null(dim(y)) && is.atomic(y)) matrix(y, ncol = 1L) else y
  truth <- check_label_matrix(as_matrix(truth), "truth")
  if (inherits(prediction, "granary_f_decision")) prediction <- prediction$labels
  said <- check_label_matrix(as_matrix(prediction), "prediction")
  if (!is.null(colnames(truth)) && !is.null(colnames(said))) said <- match_columns(said, colnames(truth), "prediction")
  if (!identical(dim(truth), dim(said))) {
    abort_input(sprintf("`prediction` must have the %d rows and %d columns of `truth`, but it has %d and %d.",
                        nrow(truth), ncol(truth), nrow(said), ncol(said)), "prediction")
  }
  weights <- if (is.null(weights)) numeric() else score_weights(weights, nrow(truth))
  found <- core_f_scores(unname(truth), unname(said), weights, options$beta, options$empty)
  if (by == "label") {
    return(data.frame(label = variable_names(colnames(truth), ncol(truth)), f = found$f_label,
                      positives = unname(colSums(truth)), chosen = unname(colSums(said))))
  }
  if (by == "instance") {
    return(data.frame(f = found$f_row, positives = unname(rowSums(truth)), chosen = unname(rowSums(said))))
  }
  data.frame(n = nrow(truth), found[c("f_instance", "f_micro", "f_macro", "jaccard", "hamming", "subset", "precision",
                                      "recall")])
}

#' Worst-case regrets in expected F
#'
#' How much expected F other decisions can lose against the F-maximizer in the worst case over all laws of \eqn{m > 2}
#' labels.
#'
#' @details
#' `"hamming"`: exactly 1/2 for the marginal modes (Theorem 1). `"subset"`: exactly
#' \deqn{\frac{m(2m^2 - m - 2)}{(2m - 1)(m^2 + m + 4)}}{m (2 m^2 - m - 2) / ((2 m - 1) (m^2 + m + 4))}
#' for the joint mode (Theorem 2). `"independence"`: at least \eqn{2q - 1} for the largest \eqn{q} at which \eqn{m}
#' independent labels of probability
#' \eqn{1 - q} would all be chosen (Theorem 5). `"threshold"`: at least
#' \eqn{\max(0, 1/6 - 2/(m + 4))}{max(0, 1/6 - 2/(m + 4))} for the best set of most probable labels (Theorem 7).
#' `"jaccard"`: the regret in the Jaccard index of the F-maximizer is at most \eqn{1 - E F/2}, where `expected` is
#' \eqn{E F} (Theorem 3).
#'
#' @section Which method when:
#' For the worst case over all laws; for the law at hand use [f_regret()].
#'
#' @param what Which decision.
#' @param m Numbers of labels.
#' @param expected For `"jaccard"`: the expected F of the F-maximizer.
#' @return A data frame: `m`, `what`, `bound`, and `kind`: `"exact"`, `"lower"` (the worst case is at least this) or
#'   `"upper"`.
#' @inherit f_decide references
#' @seealso [f_regret()], [f_decide()]
#' @export
#' @examples
#' f_bounds("subset", m = c(4, 10, 100))
f_bounds <- function(what = c("hamming", "subset", "independence", "threshold", "jaccard"), m = 10, expected = NULL) {
  what <- check_choice(what, c("hamming", "subset", "independence", "threshold", "jaccard"))
  m <- check_vector(m, lower = 3, upper = 1e5)
  if (any(m != round(m))) {
    fail_input("m", "whole numbers of labels, at least 3", paste("one with the value", format(m[m != round(m)][1L])))
  }
  if (is.null(expected) == (what == "jaccard")) {
    abort_input(if (what == "jaccard") "what = \"jaccard\" needs `expected`, the expected F of the F-maximizer." else
      "`expected` is for what = \"jaccard\".", "expected")
  }
  expected <- if (is.null(expected)) 1 else check_number(expected, lower = 0, upper = 1)
  data.frame(m = unname(m), what = what, bound = core_f_bounds(what, unname(m), expected),
             kind = c(hamming = "exact", subset = "exact", independence = "lower", threshold = "lower",
                      jaccard = "upper")[[what]])
}
