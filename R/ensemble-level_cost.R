#' The cost of a grouping of levels
#'
#' The criterion of [group_levels()] for a grouping of your own, with its parts: what one partition is worth against
#' another.
#'
#' @details
#' See [group_levels()] for the formula. `relative` is the posterior probability of the grouping over that of a single
#' group, \eqn{\exp(C_1 - C)}{exp(C_1 - C)}; that of two groupings is the exponential of the difference of their costs.
#'
#' @section Which method when:
#' To compare a grouping known from elsewhere, such as regions of states, with the one found by [group_levels()].
#'
#' @param x A contingency table (levels by classes), or a fit of [group_levels()].
#' @param groups The group of every level: a vector along the rows, or a named list of levels by group.
#' @return A data frame: `groups`, `cost`, its parts `number`, `partition`, `classes`, `data`, the `null_cost` of one
#'   group, `gain`, `relative`.
#' @inherit group_levels references
#' @seealso [group_levels()], [level_bounds()]
#' @export
#' @examples
#' table <- apply(UCBAdmissions, 3:2, sum)
#' counts <- t(apply(UCBAdmissions, c(1, 3), sum))
#' level_cost(counts, c(1, 1, 2, 2, 3, 4))
#' level_cost(counts, list(easy = c("A", "B"), hard = c("C", "D", "E", "F")))
level_cost <- function(x, groups) {
  if (missing(x)) fail_missing("x")
  if (missing(groups)) fail_missing("groups")
  counts <- if (inherits(x, "granary_level_groups")) {
    if (length(x$factors) > 1L) {
      abort_input("`x` has several factors: take the counts of one, as in x$factors$name$counts.", "x")
    }
    x$factors[[1L]]$counts
  } else {
    table_data(x)$counts$x
  }
  if (is.list(groups) && !is.data.frame(groups)) {
    of <- rep(seq_along(groups), lengths(groups))
    at <- match(rownames(counts), unlist(groups))
    if (anyNA(at)) {
      abort_input(sprintf("`groups` leaves out the level \"%s\".", rownames(counts)[which(is.na(at))[1L]]), "groups")
    }
    if (anyDuplicated(unlist(groups)) > 0L) {
      abort_input(sprintf("`groups` names the level \"%s\" twice.", unlist(groups)[anyDuplicated(unlist(groups))]),
                  "groups")
    }
    groups <- of[at]
  }
  if (!is.atomic(groups) || length(groups) != nrow(counts)) {
    fail_input("groups", sprintf("one group per level, %d", nrow(counts)), describe(groups))
  }
  if (anyNA(groups)) abort_input("`groups` must have no missing values.", "groups")
  if (!is.null(names(groups)) && setequal(names(groups), rownames(counts))) groups <- groups[rownames(counts)]
  number <- match(groups, unique(groups))
  found <- core_level_cost(unname(counts), number, max(number))
  data.frame(groups = max(number), cost = found$cost, number = found$choice_cost, partition = found$partition_cost,
             classes = found$class_cost, data = found$data_cost, null_cost = found$null_cost,
             gain = if (found$null_cost > 0) 1 - found$cost / found$null_cost else 0,
             relative = exp(found$null_cost - found$cost))
}

#' How many partitions there are
#'
#' Logarithms of the Stirling numbers of the second kind and of their sums, the generalised Bell numbers: how many ways
#' there are to divide n levels into k groups, or into at most k. They are the price of groups in [group_levels()].
#'
#' @details
#' \deqn{S(n, k) = k S(n - 1, k) + S(n - 1, k - 1), \quad B(n, k) = \sum_{i \le k} S(n, i)}{S(n, k) = k S(n - 1, k) +
#' S(n - 1, k - 1), B(n, k) = sum_(i <= k) S(n, i)}
#' computed by the ratios of neighbouring numbers, which neither overflow nor lose the small ones.
#'
#' @section Which method when:
#' To see how large a difference of classes must be before it pays for a further group.
#'
#' @param n Number of levels.
#' @param k Largest number of groups.
#' @return A data frame: `k`, `log_stirling`, `log_bell`.
#' @inherit group_levels references
#' @seealso [group_levels()], [level_cost()]
#' @export
#' @examples
#' exp(level_bounds(4)$log_bell)
level_bounds <- function(n, k = min(n, 20)) {
  n <- check_count(n, upper = 1e7)
  k <- check_count(k)
  if (k > n) abort_input(sprintf("`k` must be at most `n`, %d, but it is %d.", n, k), "k")
  if (as.double(n) * k > 1e10) {
    abort_input(sprintf("n = %d and k = %d would take %.0e steps: use fewer groups.", n, k, as.double(n) * k), "k")
  }
  found <- core_partition_counts(as.double(n), k)
  data.frame(k = seq_len(k), log_stirling = found$log_stirling, log_bell = found$log_bell)
}
