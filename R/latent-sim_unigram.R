#' Samples of words from a known law
#'
#' Counts of words drawn from a law whose tail falls as a power (Zipf), exponentially, not at all, or is itself drawn from a Dirichlet law.
#'
#' @section Which method when:
#' To try [good_turing()], [unigram_model()] and [entropy_estimate()] where the truth is known; [sim_pitman_yor()] for laws without end.
#'
#' @param n Number of draws.
#' @param vocabulary Number of words.
#' @param law `"zipf"`: \eqn{p_i} proportional to \eqn{i^{-\mathrm{shape}}}{i^-shape}; `"geometric"`: to \eqn{(1 - \mathrm{shape})^i}{(1 - shape)^i}; `"uniform"`;
#'   `"dirichlet"`: drawn, all parameters `shape`.
#' @param shape Number above 0 (below 1 for `"geometric"`); `NULL`: 1, or 0.01 for `"geometric"`.
#' @return A list with `counts` and `prob`, one for each word, and `entropy`, that of the law in nats.
#' @inherit good_turing references
#' @seealso [good_turing()], [unigram_model()], [entropy_estimate()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_unigram(200, vocabulary = 100)
#' sim$counts[1:10]
#' sim$entropy
sim_unigram <- function(n, vocabulary = 1000, law = c("zipf", "geometric", "uniform", "dirichlet"), shape = NULL) {
  n <- check_number(n, lower = 0, upper = 2^53)
  if (n != round(n)) fail_input("n", "a whole number", describe(n))
  vocabulary <- check_count(vocabulary, upper = 1e9)
  law <- check_choice(law, c("zipf", "geometric", "uniform", "dirichlet"))
  shape <- check_number(shape, lower = 0, upper = if (law == "geometric") 1 else 1e6, strict_lower = TRUE, strict_upper = TRUE, allow_null = TRUE)
  if (is.null(shape)) shape <- if (law == "geometric") 0.01 else 1
  prob <- core_word_law(law, vocabulary, shape, core_seed())
  list(counts = core_draw_counts(prob, n, core_seed(), progress_bar("drawing")), prob = prob, entropy = -sum(prob[prob > 0] * log(prob[prob > 0])))
}
