#' Simulated systems that extract spans
#'
#' Documents with right spans, and systems that find some of them, confuse fields, and find what is not there.
#'
#' @details
#' Each document has a Poisson number of right spans of uniform fields. System \eqn{i} finds a right span with
#' probability `recall`, made harder or easier for all systems by a normal effect of the span on the logit scale with
#' standard deviation `difficulty`; it gives another field with probability `confusion`, and adds so many wrong spans
#' that its precision is `precision` on average. Half of the wrong spans are right ones with a boundary moved. Scores
#' are Beta(5, 2) where the span and the field are right, Beta(2, 4) otherwise.
#'
#' @section Which method when:
#' For trying [span_vote()] and [span_stack()].
#'
#' @param n Number of documents.
#' @param fields Number of fields.
#' @param recall,precision One per system.
#' @param confusion Probability of another field.
#' @param rate Right spans per document.
#' @param difficulty Standard deviation of what all systems find hard.
#' @return A list: `spans` (all systems), `gold`, `docs` (names of the documents).
#' @inherit spans references
#' @seealso [span_merge()], [span_stack()], [span_vote()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_spans(5)
#' sim$gold
sim_spans <- function(n = 100, fields = 5, recall = c(0.4, 0.6, 0.6), precision = c(0.75, 0.6, 0.7), confusion = 0.05,
                      rate = 8, difficulty = 0.5) {
  n <- check_count(n)
  fields <- check_count(fields, upper = 1000)
  recall <- check_vector(recall, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  precision <- check_vector(precision, length = length(recall), lower = 0, strict_lower = TRUE, upper = 1)
  confusion <- check_number(confusion, lower = 0, upper = 1)
  rate <- check_number(rate, lower = 0, strict_lower = TRUE, upper = 1000)
  difficulty <- check_number(difficulty, lower = 0, upper = 100)
  names <- paste0("field", seq_len(fields))
  docs <- paste0("doc", seq_len(n))
  count <- stats::rpois(n, rate)
  doc <- rep(seq_len(n), count)
  place <- unlist(lapply(count, seq_len))
  start <- as.integer(10L * place + sample.int(4L, sum(count), replace = TRUE))
  gold <- data.frame(doc = docs[doc], start = start, end = start + sample.int(3L, sum(count), replace = TRUE),
                     field = sample(names, sum(count), replace = TRUE))
  effect <- stats::rnorm(nrow(gold), 0, difficulty)
  parts <- lapply(seq_along(recall), function(i) {
    found <- gold[stats::runif(nrow(gold)) < stats::plogis(stats::qlogis(recall[i]) + effect), , drop = FALSE]
    right <- stats::runif(nrow(found)) >= confusion | fields == 1L
    if (any(!right)) found$field[!right] <- vapply(found$field[!right], function(f) sample(setdiff(names, f), 1L), "")
    extra <- max(0, sum(right) / precision[i] - nrow(found))
    wrong <- gold[sample.int(max(nrow(gold), 1L), stats::rpois(1L, extra) * (nrow(gold) > 0L), replace = TRUE), ,
                  drop = FALSE]
    moved <- stats::runif(nrow(wrong)) < 0.5
    wrong$end[moved] <- wrong$end[moved] + 1L
    wrong$start[!moved] <- wrong$start[!moved] + 5L
    wrong$end[!moved] <- wrong$start[!moved] + sample.int(2L, sum(!moved), replace = TRUE)
    all <- rbind(cbind(found, right = right), cbind(wrong, right = rep(FALSE, nrow(wrong))))
    all$score <- ifelse(all$right, stats::rbeta(nrow(all), 5, 2), stats::rbeta(nrow(all), 2, 4))
    all$system <- rep(paste0("system", i), nrow(all))
    all[!duplicated(all[c("doc", "start", "end")]), setdiff(names(all), "right"), drop = FALSE]
  })
  all <- do.call(rbind, parts)
  row.names(all) <- NULL
  list(spans = spans(all), gold = spans(gold), docs = docs)
}
