#' Entropies from few cases, and what a split gains
#'
#' How far the plug-in entropy of a sample falls short of that of its law, and the parts of the mixed gain of [transfer_forest()].
#'
#' @details
#' `"entropy"`: the mean of the plug-in entropy of `n` draws from `prob`, exactly, between
#' \deqn{H(P) - \sum_y p_y \log\left(1 + \frac{1 - p_y}{n p_y}\right) \le E H_n \le H(P)}{H(P) - sum_y p_y log(1 + (1 - p_y) / (n p_y)) <= E H_n <= H(P)}
#' `corrected` is the mean after the correction of Miller and Madow, \eqn{H_n + (m - 1) / (2n)} with \eqn{m} the number of labels met. Theorem 1 of the paper
#' has the two sides the wrong way round.
#'
#' `"gain"`: of one split, the gains of target and sources, their mixture, and the gain of the sources joined to one task, which is the sum of the
#' weighted gains plus the mutual information of task and side.
#'
#' @section Which method when: `"entropy"` to see why purity in small leaves means little; `"gain"` to follow a split by hand. [entropy_estimate()] estimates entropies.
#'
#' @param what Which calculator.
#' @param ... Its arguments.
#'
#'   `"entropy"`: `prob`, probabilities (or weights) of the labels; `n`, numbers of draws.
#'
#'   `"gain"`: `y`, labels; `side`, `TRUE` for cases that go left; `task` and `target` as in [transfer_forest()]; `gamma`, `score`, `source`, `corrected`, `task_weights` as there.
#' @return `"entropy"` a data frame with one row per `n`: `n`, `lower`, `expected`, `upper`, `corrected`; `"gain"` one row: `score`, `target`, `sum`, `concat`, `information`.
#' @references
#' Goussies, N. A., Ubalde, S. and Mejail, M. (2014). Transfer learning decision forests for gesture recognition. *Journal of Machine Learning Research* 15, 3847-3870.
#' @seealso [transfer_forest()], [transfer_forest_select()], [transfer_forest_baseline()], [motion_history()], [sim_transfer_forest()], [entropy_estimate()]
#' @export
#' @examples
#' transfer_forest_bounds("entropy", prob = c(0.5, 0.3, 0.2), n = c(5, 20, 100))
#' transfer_forest_bounds("gain", y = c("a", "a", "b", "b", "u", "v", "v", "u"), side = rep(c(TRUE, FALSE), 4), task = rep(1:2, each = 4))
transfer_forest_bounds <- function(what = c("entropy", "gain"), ...) by_what(what, list(entropy = entropy_shortfall, gain = mixed_gain_parts), ...)

entropy_shortfall <- function(prob, n) {
  if (missing(prob)) fail_missing("prob")
  if (missing(n)) fail_missing("n")
  prob <- unname(check_vector(prob, "prob", lower = 0))
  if (sum(prob) <= 0 || !is.finite(sum(prob))) abort_input("`prob` must have a positive, finite sum.", "prob")
  n <- vapply(check_vector(n, "n", lower = 1, upper = 1e6), check_count, 0L, arg = "n")
  found <- lapply(n, function(k) core_entropy_bounds(prob / sum(prob), k))
  part <- function(name) vapply(found, `[[`, 0, name)
  data.frame(n = n, lower = part("lower"), expected = part("expected"), upper = part("upper"), corrected = part("corrected"))
}

mixed_gain_parts <- function(y, side, task = NULL, target = NULL, gamma = 0.25, score = "entropy", source = "sum", corrected = FALSE, task_weights = NULL) {
  if (missing(y)) fail_missing("y")
  if (missing(side)) fail_missing("side")
  if (!is.logical(side) || anyNA(side) || length(side) == 0L) fail_input("side", "TRUE for cases that go left, FALSE for the others", describe(side))
  if (length(y) != length(side)) abort_input(sprintf("`side` must have one value per label, %d, but it has %d.", length(y), length(side)), "side")
  if (is.null(task)) task <- rep(1L, length(side))
  data <- transfer_data(matrix(0, length(side), 1L), y, task, target, NULL)
  options <- transfer_options(data, gamma = gamma, score = score, source = source, corrected = corrected, task_weights = task_weights)
  found <- core_gain_parts(data$label, 2L - side, options$labels, options$gain)
  data.frame(found[c("score", "target", "sum", "concat", "information")])
}
