#' Bounds and calculators for what was not seen
#'
#' The statements of Drukh and Mansour (2005) about samples of \eqn{m} draws, with every constant: how far counts, unseen symbols, missing masses and log-losses can be from
#' what they estimate, with probability at least \eqn{1 - \delta}{1 - delta}. Where the law is known, exact means and variances too.
#'
#' @details
#' | `what` | needs | gives |
#' |---|---|---|
#' | `"missing"` | `n` | how far the missing mass can be below and above \eqn{n_1 / m} |
#' | `"counts"` | `counts` | Lemma 11: intervals for the probabilities of all symbols with \eqn{c > 18 \ln(4m/\delta)}{c > 18 log(4 m / delta)} at once, `NA` for the others |
#' | `"unseen"` | `n` | Lemma 13: no unseen symbol is more likely than this |
#' | `"word"` | `n` | Lemma 12: \eqn{|c/m - p|} of one symbol or set of symbols, fixed beforehand |
#' | `"frequent"` | `n`, `prob` | Lemma 9: range of the counts of symbols with \eqn{mp \ge 3 \ln(2m/\delta)}{m p >= 3 log(2 m / delta)} |
#' | `"rare"` | `n`, `prob` | Lemma 10: largest count of symbols with \eqn{mp \le 3 \ln(m/\delta)}{m p <= 3 log(m / delta)} |
#' | `"tail"` | `n` | Lemma 8: the factor by which tails of multinomial sums exceed those with independent counts |
#' | `"hitting"` | `n`, `prob` (the law), `k` | \eqn{E M_k}, \eqn{E G_k}, their difference, the s.d. of \eqn{M_k} (all exact), and a bound of \eqn{|G_k - M_k|} |
#' | `"log_loss"` | `prob` (the law), `counts` | Theorem 39: how much absolute discounting can lose against the truth, at the best \eqn{\lambda}{lambda} |
#' | `"rates"` | `n`, `k` | orders of the errors of the estimators, constants hidden |
#'
#' The bounds are loose: that of `"log_loss"` is above 1 for all but very large samples. The s.d. in `"hitting"` costs the square of the number of distinct probabilities
#' and is `NA` where more than 20000 matter.
#'
#' @section Which method when:
#' For planning a sample, for a statement that must hold for any law, and to see whether a simulation agrees with theory; [good_turing()] for estimates with ordinary
#' intervals.
#'
#' @param what Which of them.
#' @param n Number of draws, one or several.
#' @param k Orders of the masses.
#' @param prob A law (probabilities that sum to one), or for `"frequent"` and `"rare"` the probabilities of some symbols.
#' @param counts Counts of a sample; for `"log_loss"` one for each of `prob`.
#' @param delta Probability with which the statement may fail.
#' @param discount,tau For `"log_loss"`: the law that was learnt, as in [unigram_model()].
#' @param lambda For `"log_loss"`: a number above 3, or `NULL` for the best.
#' @return A data frame.
#' @inherit good_turing references
#' @seealso [good_turing()], [good_turing_compare()], [unigram_model()].
#' @export
#' @examples
#' good_turing_bounds("missing", n = c(100, 1e4, 1e6))
#' law <- 1 / (1:50)
#' good_turing_bounds("hitting", n = 40, k = 0:3, prob = law / sum(law))
good_turing_bounds <- function(what = c("missing", "counts", "unseen", "word", "frequent", "rare", "tail", "hitting", "log_loss", "rates"), n = NULL, k = NULL,
                               prob = NULL, counts = NULL, delta = 0.05, discount = 0.5, tau = 1, lambda = NULL) {
  what <- check_choice(what, c("missing", "counts", "unseen", "word", "frequent", "rare", "tail", "hitting", "log_loss", "rates"))
  delta <- check_number(delta, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  needs <- list(missing = "n", counts = "counts", unseen = "n", word = "n", frequent = c("n", "prob"), rare = c("n", "prob"), tail = "n",
                hitting = c("n", "prob", "k"), log_loss = c("prob", "counts"), rates = c("n", "k"))[[what]]
  given <- list(n = n, k = k, prob = prob, counts = counts)
  for (arg in needs) if (is.null(given[[arg]])) abort_input(sprintf("what = \"%s\" needs `%s`.", what, arg), arg)
  options <- list(what = what, delta = delta)
  if ("counts" %in% needs) {
    options$counts <- unname(check_symbols(counts, "counts")$counts)
    options$n <- sum(options$counts)
  }
  if ("n" %in% needs) {
    several <- what %in% c("missing", "unseen", "word", "tail")
    options$n <- if (several) unname(check_vector(n, lower = 1, upper = 2^53)) else check_number(n, lower = 1, upper = 2^53)
    check_all_whole(options$n, "n")
  }
  if ("k" %in% needs) {
    options$k <- unname(check_vector(k, lower = if (what == "rates") 1 else 0, upper = options$n))
    check_all_whole(options$k, "k")
  }
  if ("prob" %in% needs) options$prob <- check_word_law(prob, whole = what %in% c("hitting", "log_loss"))
  if (what == "log_loss") {
    if (length(options$prob) != length(options$counts)) {
      abort_input(sprintf("`counts` must have one count for each of `prob`, %d, but it has %d.", length(options$prob), length(options$counts)), "counts")
    }
    options$discount <- check_number(discount, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
    options$tau <- check_number(tau, lower = 1, upper = 2^53)
    options$lambda <- check_number(lambda, lower = 3, upper = 1e12, strict_lower = TRUE, allow_null = TRUE)
  }
  found <- core_good_turing_bounds(options, progress_bar("bounds"))
  values <- found$values
  values[is.nan(values)] <- NA
  stats::setNames(as.data.frame(values), found$columns)
}

# Probabilities; with `whole` they are a law, and are made to sum to one exactly.
check_word_law <- function(prob, whole = TRUE, arg = "prob") {
  p <- unname(check_vector(prob, arg, lower = 0, upper = 1))
  if (!whole) return(p)
  total <- sum(p)
  if (abs(total - 1) > 1e-6) abort_input(sprintf("`%s` must sum to 1, but it sums to %s.\nDivide it by its sum.", arg, format(total, digits = 8L)), arg)
  p / total
}
