#' Draws from Pitman-Yor laws
#'
#' Counts of the symbols of a sample, the symbols in order, or the probabilities of a law drawn from a Pitman-Yor (or, with discount 0, Dirichlet) process.
#'
#' @details
#' Samples come from the Chinese restaurant: draw \eqn{i + 1} is a new symbol with probability \eqn{(a + K d) / (a + i)}, and symbol \eqn{k} again with probability
#' \eqn{(n_k - d) / (a + i)}. Probabilities come from breaking a stick, \eqn{V_i \sim \mathrm{Beta}(1 - d, a + i d)}{V_i ~ Beta(1 - d, a + i d)}, a thousand pieces at a
#' time until less than `left` of it is left; what is left is not among them.
#'
#' @section Which method when:
#' To try estimators where the truth is known: power laws with a discount, exponential tails without. [sim_unigram()] draws from fixed laws.
#'
#' @param n Number of draws; for `type = "weights"` the largest number of pieces.
#' @param discount,strength The law: discount at least 0 and below 1, strength above minus the discount.
#' @param type `"counts"`, one per symbol in order of appearance; `"labels"`, one per draw; `"weights"`, probabilities.
#' @param left For `"weights"`: how much of the stick may be left.
#' @return Numbers.
#' @inherit entropy_estimate references
#' @seealso [pitman_yor()], [entropy_estimate()], [sim_unigram()].
#' @export
#' @examples
#' set.seed(1)
#' sim_pitman_yor(50, discount = 0.5, strength = 1)
#' sim_pitman_yor(12, discount = 0, strength = 2, type = "labels")
#' sum(sim_pitman_yor(1e5, 0.2, 3, type = "weights"))
sim_pitman_yor <- function(n, discount = 0, strength = 1, type = c("counts", "labels", "weights"), left = 1e-3) {
  type <- check_choice(type, c("counts", "labels", "weights"))
  n <- check_count(n, upper = 1e9)
  discount <- check_number(discount, lower = 0, upper = 1, strict_upper = TRUE)
  strength <- check_number(strength, lower = -discount, upper = 1e15, strict_lower = TRUE)
  left <- check_number(left, lower = 0, upper = 1)
  if (type == "weights") return(core_pitman_yor_weights(c(discount, strength), left, n, core_seed(), progress_bar("breaking a stick")))
  labels <- core_pitman_yor_labels(n, discount, strength, core_seed(), progress_bar("drawing"))
  if (type == "labels") labels else as.double(tabulate(labels))
}
