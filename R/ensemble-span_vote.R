#' Vote of several systems
#'
#' Makes one set of spans of those of several systems, without learning: by majority, or by the probability that at
#' least one of those who say so is right.
#'
#' @details
#' Each row of the merged template gets the field with the most votes, or none. `"majority"` counts systems. `"prob"`
#' takes
#' \deqn{P = 1 - \prod_j (1 - p_j)}{P = 1 - prod_j (1 - p_j)}
#' over the systems that give this field (the paper's Equation 1, noisy or), `"fields"` the same for each field as if
#' there were no other, so that a span may get two of them (Freitag 2000), `"odds"` the sum of their log-odds. With
#' `missing = "ignore"` the largest is accepted; with `"false"` silence is a vote against the span: the majority of all
#' systems has to be for it, or the probability has to reach `threshold`. Scores are taken as probabilities; calibrate
#' others by [span_calibrate()] or `calibration` first; a missing score counts as 1/2.
#'
#' `one_per_doc` names fields of which a document has one instance: only the best of each document stays.
#'
#' @section Which method when:
#' `"prob"` with `missing = "false"` where scores are calibrated; `"majority"` where there are none. With some documents
#' for which the right spans are known, [span_stack()] learns when to believe whom, and is better as a rule.
#'
#' @param x What [span_merge()] returns, or spans of several systems.
#' @param method What is counted.
#' @param missing What silence means.
#' @param threshold Smallest probability that is accepted, with `missing = "false"`.
#' @param one_per_doc Fields that occur once in a document.
#' @param ties Of equal fields: that of the system that comes first in `prior`, or a random one, as in the paper.
#' @param prior Accuracies of the systems for ties, named; `NULL` for the order of the systems.
#' @param calibration What [span_calibrate()] returns for merged spans: turns scores into probabilities.
#' @return [spans()] with the combined score, of the system `"vote"`.
#' @inherit spans references
#' @seealso [span_merge()], [span_stack()], [span_score()], [span_calibrate()]
#' @export
#' @examples
#' ram <- data.frame(doc = "page", start = c(76, 76, 81), end = c(78, 78, 83), field = "ram", score = c(0.4, 0.5, 0.6),
#' system = c("a", "b", "a"))
#' span_vote(spans(ram))
#' span_vote(spans(ram), one_per_doc = "ram")
span_vote <- function(x, method = c("prob", "majority", "odds", "fields"), missing = c("false", "ignore"),
                      threshold = 0.5,
                      one_per_doc = NULL,
                      ties = c("prior", "random"), prior = NULL, calibration = NULL) {
  if (base::missing(x)) fail_missing("x")
  x <- if (inherits(x, "granary_span_merge")) x else span_merge(x)
  method <- check_choice(method, c("prob", "majority", "odds", "fields"))
  missing <- check_choice(missing, c("false", "ignore"))
  threshold <- check_number(threshold, lower = 0, upper = 1)
  ties <- check_choice(ties, c("prior", "random"))
  prob <- if (!is.null(calibration)) predict(check_calibration(calibration), x) else x$score
  if (method != "majority" && is.null(calibration)) check_probability_scores(prob)
  prior <- check_system_prior(prior, x$systems)
  how <- list(method = method, missing = missing, ties = ties, threshold = threshold,
              fields = max(length(x$fields), 1L), prior = prior)
  if (method == "fields") return(vote_by_field(x, prob, how, one_per_doc))
  found <- core_span_vote(x$field, unname(prob), how, core_seed())
  chosen_spans(x, found$field, found$score, one_per_doc, "vote")
}

# Each field as if there were no other (Freitag 2000).
vote_by_field <- function(x, prob, how, one_per_doc) {
  how$method <- "prob"
  parts <- lapply(seq_along(x$fields), function(q) {
    own <- matrix(ifelse(x$field == q, q, 0L), x$n)
    found <- core_span_vote(own, unname(prob), how, core_seed())
    chosen_spans(x, found$field, found$score, one_per_doc, "vote")
  })
  out <- do.call(rbind, lapply(parts, function(one) as.data.frame(unclass(one))))
  if (is.null(out)) return(chosen_spans(x, integer(x$n), numeric(x$n), NULL, "vote"))
  out <- out[order(match(out$doc, unique(x$spans$doc)), out$start, out$end), , drop = FALSE]
  row.names(out) <- NULL
  structure(out, class = c("granary_spans", "data.frame"))
}

check_probability_scores <- function(prob) {
  bad <- which(prob < 0 | prob > 1)
  if (length(bad) > 0L) {
    abort_input(
      sprintf("Scores must be probabilities for this vote, but one is %s: see span_calibrate() or `method`.",
              format(prob[bad[1L]], digits = 4L)), "x")
  }
}

check_system_prior <- function(prior, systems) {
  if (is.null(prior)) return(numeric())
  prior <- check_vector(prior, "prior", length = length(systems))
  if (!is.null(names(prior))) {
    if (!setequal(names(prior), systems)) {
      abort_input(sprintf("The names of `prior` must be the systems, %s.",
                          paste0("\"", systems, "\"", collapse = ", ")), "prior")
    }
    prior <- prior[systems]
  }
  unname(prior)
}

# The rows that were given a field, as spans.
chosen_spans <- function(x, field, score, one_per_doc, system) {
  if (!is.null(one_per_doc)) {
    check_span_words(one_per_doc, "one_per_doc")
    docs <- unique(x$spans$doc)
    kept <- core_span_once(match(x$spans$doc, docs), field, score, as.integer(x$fields %in% one_per_doc))
    field[kept == 0L] <- 0L
  }
  rows <- which(field > 0L)
  out <- data.frame(x$spans[rows, c("doc", "start", "end")], field = x$fields[field[rows]], score = score[rows],
                    system = rep(system, length(rows)), stringsAsFactors = FALSE, row.names = NULL)
  structure(out, class = c("granary_spans", "data.frame"))
}

#' Scores of extracted spans
#'
#' Precision, recall and F of spans against the right ones, by field and in all.
#'
#' @details
#' `match = "exact"`: a span is right if document, boundaries and field are. `"overlap"`: if it overlaps a right span of
#' its field in the same document; each right span counts once, the largest overlap first. `by = "all"` has the micro
#' average (all spans together) and the macro average (mean over the fields). A field without predicted spans has the
#' precision `NA`, which counts as 0 in the macro average of F.
#'
#' @section Which method when:
#' For every set of spans against the truth: single systems, votes and stacks. [span_agreement()] compares systems with
#' each other.
#'
#' @param x Spans; with several systems each is scored.
#' @param gold The right spans.
#' @param by One row for everything, or one per field.
#' @param match When a span is right.
#' @return A data frame: `system`, `field` or averages, `tp`, `fp`, `fn`, `precision`, `recall`, `f`.
#' @inherit spans references
#' @seealso [spans()], [span_vote()], [span_stack()], [span_agreement()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_spans(30)
#' span_score(sim$spans, sim$gold)
#' span_score(span_vote(sim$spans), sim$gold, by = "field")
span_score <- function(x, gold, by = c("all", "field"), match = c("exact", "overlap")) {
  if (missing(x)) fail_missing("x")
  if (missing(gold)) fail_missing("gold")
  x <- several_spans(x)
  gold <- spans(gold)
  by <- check_choice(by, c("all", "field"))
  match <- check_choice(match, c("exact", "overlap"))
  fields <- sort(unique(c(x$field, gold$field)), method = "radix")
  docs <- unique(c(x$doc, gold$doc))
  systems <- if (nrow(x) > 0L) unique(x$system) else "system"
  truth <- span_codes(gold, docs, fields, "gold")
  truth$system <- rep(0L, nrow(gold))
  ratio <- function(a, b) ifelse(a + b > 0, a / (a + b), NA_real_)
  rows <- lapply(systems, function(system) {
    one <- span_codes(x[x$system == system, , drop = FALSE], docs, fields, systems)
    counts <- core_span_match(one, truth, max(length(fields), 1L), match, progress_bar("scoring"))[seq_along(fields), ,
                                                                                                   drop = FALSE]
    if (by == "field") {
      return(data.frame(system = rep(system, length(fields)), field = fields, tp = counts[, 1L], fp = counts[, 2L],
                        fn = counts[, 3L]))
    }
    f <- ifelse(2 * counts[, 1L] + counts[, 2L] + counts[, 3L] > 0,
                2 * counts[, 1L] / (2 * counts[, 1L] + counts[, 2L] + counts[, 3L]), 1)
    all <- colSums(counts)
    data.frame(system = system, tp = all[1L], fp = all[2L], fn = all[3L],
               f_macro = if (length(f) > 0L) mean(f) else NA_real_, row.names = NULL)
  })
  out <- do.call(rbind, rows)
  out$precision <- ratio(out$tp, out$fp)
  out$recall <- ratio(out$tp, out$fn)
  out$f <- ifelse(2 * out$tp + out$fp + out$fn > 0, 2 * out$tp / (2 * out$tp + out$fp + out$fn), NA_real_)
  out[c("system", if (by == "field") "field", "tp", "fp", "fn", "precision", "recall", "f", if (by == "all") "f_macro")]
}

#' Agreement of systems
#'
#' How systems that extract spans agree: how often each is right where another is, where they agree or contradict each
#' other, and how much could be found at best.
#'
#' @details
#' `conditional` is the share of the right spans of the system in the column that the system in the row has right as
#' well (the paper's Table 8): systems that are right on different spans have the most to give to each other. `cells`
#' counts rows of the merged template with full agreement, with some systems silent and with conflicts, and how often
#' each system's field is right there (the paper's Figures 6 to 8; silence is right where there is no right span).
#' `max_recall` is the share of the right spans that voting can find (some system has the right field) and that stacking
#' can find (the span is there at all). `subsets` has the scores of the votes of all subsets of systems.
#'
#' @section Which method when:
#' Before combining systems: little agreement among systems that are right is what makes combining worth it.
#'
#' @param x What [span_merge()] returns with `gold`.
#' @param subsets Whether all subsets of the systems (at most 10) are put to the vote.
#' @param method,missing,threshold As in [span_vote()], for the subsets.
#' @return An object of class `granary_span_agreement`: `conditional`, `cells`, `max_recall`, `subsets`.
#' @inherit spans references
#' @seealso [span_merge()], [span_vote()], [span_score()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_spans(30)
#' span_agreement(span_merge(sim$spans, gold = sim$gold), subsets = TRUE)
span_agreement <- function(x, subsets = FALSE, method = c("majority", "prob", "odds"), missing = c("false", "ignore"),
                           threshold = 0.5) {
  if (base::missing(x)) fail_missing("x")
  x <- check_merged(x, gold = TRUE)
  method <- check_choice(method, c("majority", "prob", "odds"))
  gold <- match(x$spans$gold, x$fields)
  gold[is.na(gold)] <- 0L
  found <- core_span_agreement(x$field, gold, max(length(x$fields), 1L))
  kind <- factor(c("agreement", "some silent", "conflict")[found$kind + 1L], c("agreement", "some silent", "conflict"))
  right <- x$field == gold
  cells <- data.frame(kind = levels(kind), spans = as.vector(table(kind)),
                      right.spans = as.vector(tapply(gold > 0L, kind, sum)),
                      vapply(stats::setNames(nm = x$systems), function(s) as.vector(tapply(right[, s], kind, mean)),
                             numeric(3L)), check.names = FALSE)
  cells$right.spans[is.na(cells$right.spans)] <- 0L
  total <- sum(found$present) + sum(x$missed)
  conditional <- na_for_nan(structure(found$conditional, dimnames = list(x$systems, x$systems)))
  out <- list(conditional = conditional, cells = cells,
              max_recall = c(vote = sum(found$found), stack = sum(found$present)) / max(total, 1))
  if (check_flag(subsets)) {
    if (length(x$systems) > 10L) {
      abort_input(sprintf("There are %d systems: `subsets` is for at most 10.", length(x$systems)), "subsets")
    }
    out$subsets <- vote_subsets(x, gold, total, method, check_choice(missing, c("false", "ignore")),
                                check_number(threshold, lower = 0, upper = 1))
  }
  seal(structure(out, class = "granary_span_agreement"))
}

vote_subsets <- function(x, gold, total, method, missing, threshold) {
  some <- unlist(lapply(seq_along(x$systems), function(k) utils::combn(seq_along(x$systems), k, simplify = FALSE)),
                 recursive = FALSE)
  if (method != "majority") check_probability_scores(x$score)
  do.call(rbind, lapply(some, function(set) {
    found <- core_span_vote(x$field[, set, drop = FALSE], unname(x$score[, set, drop = FALSE]),
                            list(method = method, missing = missing, threshold = threshold,
                                 fields = max(length(x$fields), 1L)), core_seed())
    tp <- sum(found$field > 0L & found$field == gold)
    fp <- sum(found$field > 0L & found$field != gold)
    data.frame(systems = paste(x$systems[set], collapse = " + "), size = length(set),
               precision = if (tp + fp > 0) tp / (tp + fp) else NA_real_, recall = tp / max(total, 1),
               f = 2 * tp / max(tp + fp + total, 1))
  }))
}

#' @export
print.granary_span_agreement <- function(x, ...) {
  refuse_dots(...)
  cli::cat_line("P(row right | column right):")
  print(round(x$conditional, 3L))
  cli::cat_line("Rows of the merged template, and the share on which each system is right:")
  print(format(x$cells, digits = 3L), row.names = FALSE)
  cli::cat_line(sprintf("Largest recall: %.3f by voting, %.3f by stacking", x$max_recall[["vote"]],
                        x$max_recall[["stack"]]))
  if (!is.null(x$subsets)) {
    cli::cat_line("Votes of subsets:")
    print(format(x$subsets[order(-x$subsets$f), ], digits = 3L), row.names = FALSE)
  }
  invisible(x)
}
