#' Stacking of systems that extract spans
#'
#' Learns when to believe which of several systems, from spans they extracted out of documents they had not been
#' trained on, and makes one set of spans of theirs.
#'
#' @details
#' Every row of the merged template ([span_merge()]) becomes a case whose class is the right field, or `"false"` where
#' the span is not right. Folds are made of
#' documents: no document has a part in what is said about its own spans. `inputs`:
#'
#' * `"prob"`: for each system one column per field, with the calibrated probability where it predicts that field; with
#' `missing = "false"` one more, 1 minus that
#'   probability, 1 where the system is silent;
#' * `"nominal"`: the same with 1 in the place of probabilities: which field, or silence;
#' * `"per_field"`: a problem of its own for every field, with one column per system.
#'
#' `x` holds the systems' spans for documents they were not trained on; or is a named list of extractors, each a list
#' of two functions `fit(documents, gold)` and
#' `extract(fit, documents)`, which are then trained on all folds but one and applied to that one, and trained again on
#' all documents for `predict()`. `documents` is a
#' list named by document, or a data frame with a column `doc`.
#'
#' A span gets the class with the largest probability; with a number as `threshold` the best field if its probability
#' reaches it; with `"f"` the threshold that gives the
#' largest F out of fold. Fields with fewer than 3 right spans in the merged template cannot be learnt: where only such
#' fields are predicted the vote decides.
#'
#' @section Which method when:
#' With at least some dozens of documents whose right spans are known; without them [span_vote()].
#' [stack_classifiers()] is the same for ordinary rows.
#'
#' @param x Out-of-fold spans of the systems, or a list of extractors.
#' @param gold The right spans.
#' @param documents For extractors: the documents. Otherwise the names of all documents, so that those without spans
#' count as seen; `NULL` for those that occur.
#' @param folds Folds of documents, a number or one label per document, named; the paper has 5.
#' @param inputs What the meta-learner sees.
#' @param missing Whether silence is told as a vote for `"false"`, or left out (`"ignore"`).
#' @param meta The meta-learner, as in [stack_classifiers()].
#' @param calibrate The curve of [span_calibrate()].
#' @param falling Systems for which smaller scores are better.
#' @param threshold How sure a field must be; `NULL` for the largest probability.
#' @param one_per_doc Fields that occur once in a document.
#' @param n_rounds Most rounds of `"logitboost"`; their number is chosen by folds of documents.
#' @param threads Threads.
#' @return An object of class `granary_span_stack`, inheriting from `granary_fit`: `merged`, `held_out` (out-of-fold
#' probabilities of fields and `"false"`), `scores`
#'   (of the systems, the votes and the stack, out of fold), `fields_scores` (the stack by field), `curve` (precision,
#'   recall and F by threshold), `threshold`.
#' @inherit spans references
#' @seealso [span_merge()], [span_vote()], [span_calibrate()], [span_score()], [stack_classifiers()], [span_hmm()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_spans(30)
#' fit <- span_stack(sim$spans, sim$gold, folds = 3, n_rounds = 10)
#' fit
#' new <- sim_spans(10)
#' span_score(predict(fit, new$spans), new$gold)
span_stack <- function(x, gold, documents = NULL, folds = 10, inputs = c("prob", "nominal", "per_field"),
                       missing = c("false", "ignore"),
                       meta = "logitboost", calibrate = c("isotonic", "logistic", "bins", "none"), falling = FALSE,
                       threshold = NULL,
                       one_per_doc = NULL, n_rounds = 50, threads = NULL) {
  call <- match.call()
  if (base::missing(x)) fail_missing("x")
  if (base::missing(gold)) fail_missing("gold")
  gold <- spans(gold)
  settings <- list(inputs = check_choice(inputs, c("prob", "nominal", "per_field")),
                   missing = check_choice(missing, c("false", "ignore")), meta = check_meta(meta, "prob"),
                   calibrate = check_choice(calibrate, c("isotonic", "logistic", "bins", "none")), falling = falling,
                   n_rounds = check_count(n_rounds, upper = 1e5), threads = thread_count(threads), nonnegative = FALSE)
  wanted <- if (!is.null(threshold) && !identical(threshold, "f")) check_number(threshold, lower = 0, upper = 1)
  extractors <- NULL
  if (is_extractors(x)) {
    extractors <- x
    docs <- document_names(documents)
    fold <- document_folds(folds, docs)
    x <- extract_out_of_fold(extractors, documents, docs, fold, gold)
    trained <- lapply(extractors, function(one) user_value(one$fit, "fit", documents, gold))
  } else {
    x <- several_spans(x)
    docs <- unique(c(if (is.null(documents)) character() else document_names(documents), x$doc, gold$doc))
    fold <- document_folds(folds, docs)
  }
  silent <- setdiff(attr(x, "systems"), x$system)
  if (length(silent) > 0L) warn_input(sprintf("System \"%s\" has no spans and is left out.", silent[1L]), "x")
  attr(x, "systems") <- setdiff(systems_of(x), silent)
  if (nrow(x) == 0L) abort_input("`x` has no spans to learn from.", "x")
  merged <- span_merge(x, gold)
  row_fold <- unname(fold[merged$spans$doc])
  if (length(unique(row_fold)) < 2L) {
    abort_input("The merged spans lie in a single fold: there is nothing to learn from.", "folds")
  }
  z <- stack_inputs(merged, settings, row_fold)
  gold_code <- match(merged$spans$gold, merged$fields)
  gold_code[is.na(gold_code)] <- length(merged$fields) + 1L
  held <- matrix(0, merged$n, length(merged$fields) + 1L, dimnames = list(NULL, c(merged$fields, "false")))
  for (part in sort(unique(row_fold))) {
    out <- row_fold == part
    one <- fit_span_meta(z, gold_code, settings, merged, row_fold, which(!out))
    held[out, ] <- span_meta_answer(one, z[out, , drop = FALSE], settings, merged)
  }
  seen <- tabulate(gold_code, length(merged$fields) + 1L)[seq_along(merged$fields)]
  rare <- merged$fields[seen < 3L]
  core <- fit_span_meta(z, gold_code, settings, merged, row_fold, seq_len(merged$n))
  calibration <- calibrate_merged(merged, list(method = settings$calibrate), settings$falling)
  vote <- vote_out_of_fold(merged, settings, row_fold)
  curve <- span_threshold_curve(held, gold_code, merged)
  chosen <- if (identical(threshold, "f")) curve$threshold[which.max(curve$f)] else wanted
  decided <- decide_spans(held, chosen, vote, merged, rare)
  own <- chosen_spans(merged, decided$field, decided$score, one_per_doc, "stack")
  fit <- new_fit("span_stack", merged = merged, held_out = held, meta = core, settings = settings,
                 calibration = calibration, rare = rare, threshold = chosen, one_per_doc = one_per_doc, curve = curve,
                 extractors = extractors, trained = if (!is.null(extractors)) trained, folds = fold,
                 prior = accuracy_of(merged), n = merged$n, call = call, convergence = NULL)
  fit$scores <- compare_spans(merged, gold, own, vote)
  fit$fields_scores <- span_score(own, gold, by = "field")
  fit$meta_accuracy <- mean(max.col(held, ties.method = "first") == gold_code)
  fit
}

is_extractors <- function(x) {
  if (!is.list(x) || is.data.frame(x) || length(x) == 0L) return(FALSE)
  all(vapply(x, function(one) is.list(one) && is.function(one$fit) && is.function(one$extract), NA))
}

document_names <- function(documents, arg = "documents") {
  if (is.null(documents)) {
    abort_input("Extractors need `documents`: a list named by document, or a data frame with a column `doc`.", arg)
  }
  names <- names(documents)
  if (is.character(documents) && is.null(names)) names <- documents
  if (is.data.frame(documents)) names <- unique(as.character(documents$doc))
  if (length(names) == 0L || anyNA(names) || !all(nzchar(names))) {
    abort_input("`documents` must be a list named by document, or a data frame with a column `doc`.", arg)
  }
  unique(names)
}

some_documents <- function(documents, docs) {
  if (is.data.frame(documents)) documents[documents$doc %in% docs, , drop = FALSE] else documents[docs]
}

document_folds <- function(folds, docs) {
  if (length(folds) == 1L) {
    folds <- check_count(folds, lower = 2)
    if (length(docs) < 2L) abort_input("There must be at least two documents.", "folds")
    return(stats::setNames(make_folds(length(docs), min(folds, length(docs))), docs))
  }
  if (is.null(names(folds)) || !all(docs %in% names(folds))) {
    abort_input("`folds` must name the fold of every document.", "folds")
  }
  folds <- folds[docs]
  if (anyNA(folds) || length(unique(folds)) < 2L) {
    abort_input("`folds` must name at least two folds, without missing values.", "folds")
  }
  stats::setNames(match(folds, sort(unique(folds))), docs)
}

# Spans that each extractor finds in the documents of a fold, trained on the others.
extract_out_of_fold <- function(extractors, documents, docs, fold, gold) {
  names <- variable_names(names(extractors), length(extractors))
  check_names_unique(names, "x")
  parts <- resample_lapply(sort(unique(fold)), function(part) {
    inside <- docs[fold != part]
    outside <- docs[fold == part]
    lapply(extractors, function(one) {
      fit <- user_value(one$fit, "fit", some_documents(documents, inside), gold[gold$doc %in% inside, , drop = FALSE])
      found <- spans(user_value(one$extract, "extract", fit, some_documents(documents, outside)))
      strange <- setdiff(found$doc, outside)
      if (length(strange) > 0L) {
        abort_input(sprintf("An extractor answered for the document \"%s\", which it was not given.", strange[1L]), "x")
      }
      found
    })
  }, "extracting")
  several_spans(stats::setNames(lapply(seq_along(extractors), function(i) {
    all <- do.call(rbind, lapply(parts, function(part) as.data.frame(unclass(part[[i]]))))
    all$system <- NULL
    spans(all)
  }), names))
}

accuracy_of <- function(merged) {
  vapply(merged$systems, function(s) {
    said <- merged$field[, s] > 0L
    if (any(said)) {
      mean(merged$fields[merged$field[said, s]] == ifelse(is.na(merged$spans$gold[said]), "", merged$spans$gold[said]))
    } else {
      0
    }
  }, 0)
}

# Probabilities of single systems, by curves that have not seen the document.
cross_calibrated <- function(merged, settings, fold) {
  out <- merged$score
  for (part in sort(unique(fold))) {
    outside <- fold == part
    curve <- calibrate_merged(merged, list(method = settings$calibrate), settings$falling, rows = which(!outside))
    out[outside, ] <- core_span_curves_at(curve$curves, merged$field[outside, , drop = FALSE],
                                          unname(merged$score[outside, , drop = FALSE]))
  }
  na_for_nan(out)
}

stack_inputs <- function(merged, settings, fold = NULL, prob = NULL) {
  if (settings$inputs == "nominal") prob <- (merged$field > 0L) + 0
  if (is.null(prob)) prob <- cross_calibrated(merged, settings, fold)
  core_span_features(merged$field, unname(prob), max(length(merged$fields), 1L),
                     settings$missing == "false" && settings$inputs != "per_field")
}

fit_span_meta <- function(z, code, settings, merged, fold, rows) {
  classes <- c(merged$fields, "false")
  if (settings$inputs != "per_field") {
    return(fit_meta(z, factor(classes[code], classes), settings$meta, "prob", fold, settings, NULL, rows))
  }
  lapply(seq_along(merged$fields), function(q) {
    columns <- q + length(merged$fields) * (seq_along(merged$systems) - 1L)
    y <- factor(ifelse(code == q, "yes", "no"), c("no", "yes"))
    used <- rows[rowSums(z[rows, columns, drop = FALSE]) > 0]  # rows about which nobody says q are not q
    if (length(unique(y[used])) < 2L) {
      return(list(constant = if (length(used) > 0L) mean(y[used] == "yes") else 0, columns = columns))
    }
    list(meta = fit_meta(z[, columns, drop = FALSE], y, settings$meta, "prob", fold, settings, NULL, used),
         columns = columns)
  })
}

span_meta_answer <- function(meta, z, settings, merged) {
  classes <- c(merged$fields, "false")
  held <- list(matrix(0, nrow(z), length(classes)))
  if (settings$inputs != "per_field") return(meta_answer(meta, z, held, classes, "prob", settings$threads))
  out <- vapply(meta, function(one) {
    about <- rowSums(z[, one$columns, drop = FALSE]) > 0
    if (is.null(one$meta)) return(ifelse(about, one$constant, 0))
    two <- list(matrix(0, nrow(z), 2L))
    answer <- meta_answer(one$meta, z[, one$columns, drop = FALSE], two, c("no", "yes"), "prob", settings$threads)
    ifelse(about, answer[, 2L], 0)
  }, numeric(nrow(z)))
  out <- matrix(out, nrow(z))
  cbind(out, 1 - apply(out, 1L, max, 0))
}

vote_out_of_fold <- function(merged, settings, fold) {
  prob <- cross_calibrated(merged, settings, fold)
  prior <- accuracy_of(merged)
  ask <- function(method, missing) {
    core_span_vote(merged$field, unname(prob), list(method = method, missing = missing,
                                                    fields = max(length(merged$fields), 1L), prior = unname(prior)),
                   core_seed())
  }
  list(prob = ask("prob", "false"), prob_ignore = ask("prob", "ignore"), majority = ask("majority", "false"),
       majority_ignore = ask("majority", "ignore"))
}

decide_spans <- function(prob, threshold, vote, merged, rare) {
  last <- ncol(prob)
  fields <- prob[, -last, drop = FALSE]
  best <- if (ncol(fields) > 0L) max.col(fields, ties.method = "first") else integer(nrow(prob))
  value <- fields[cbind(seq_len(nrow(prob)), best)]
  taken <- if (is.null(threshold)) value > 0 & value >= prob[, last] else value > 0 & value >= threshold
  field <- ifelse(taken, best, 0L)
  if (length(rare) > 0L) {
    only <- apply(merged$field, 1L, function(row) all(merged$fields[row[row > 0L]] %in% rare))
    field[only] <- vote$prob$field[only]
    value[only] <- vote$prob$score[only]
  }
  list(field = as.integer(field), score = value)
}

span_threshold_curve <- function(held, code, merged) {
  last <- ncol(held)
  total <- sum(code < last) + sum(merged$missed)
  best <- max.col(held[, -last, drop = FALSE], ties.method = "first")
  value <- held[cbind(seq_len(nrow(held)), best)]
  do.call(rbind, lapply(seq(0.05, 0.95, 0.05), function(at) {
    taken <- value >= at
    right <- sum(taken & best == code)
    data.frame(threshold = at, precision = if (any(taken)) right / sum(taken) else NA_real_,
               recall = right / max(total, 1), f = 2 * right / max(sum(taken) + total, 1))
  }))
}

compare_spans <- function(merged, gold, own, vote) {
  base <- data.frame(merged$spans[rep(seq_len(merged$n), length(merged$systems)), c("doc", "start", "end")],
                     field = c(NA, merged$fields)[as.vector(merged$field) + 1L], score = as.vector(merged$score),
                     system = rep(merged$systems, each = merged$n), stringsAsFactors = FALSE)
  class(base) <- c("granary_spans", "data.frame")
  base <- base[!is.na(base$field), , drop = FALSE]
  parts <- list(span_score(base, gold))
  for (name in names(vote)) {
    voted <- chosen_spans(merged, vote[[name]]$field, vote[[name]]$score, NULL,
                          paste("vote,", gsub("_", ", silence ", name)))
    if (nrow(voted) > 0L) parts <- c(parts, list(span_score(voted, gold)))
  }
  if (nrow(own) > 0L) parts <- c(parts, list(span_score(own, gold)))
  do.call(rbind, parts)
}

#' @rdname span_stack
#' @param object A fit.
#' @param newdata New spans of the systems, or documents where the fit has extractors.
#' @param type `"spans"`, or `"prob"`: the merged rows with the probabilities of all fields and `"false"`.
#' @param ... Not used.
#' @export
predict.granary_span_stack <- function(object, newdata = NULL, type = c("spans", "prob"), ...) {
  refuse_dots(...)
  type <- check_choice(if (identical(type, "response")) "spans" else type, c("spans", "prob"))
  old <- object$merged
  if (is.null(newdata)) {
    merged <- old
    prob <- object$held_out
  } else {
    if (!is.null(object$extractors) && !inherits(newdata, "granary_spans")) newdata <- extract_all(object, newdata)
    x <- several_spans(newdata, "newdata")
    strange <- setdiff(x$system, old$systems)
    if (length(strange) > 0L) {
      warn_input(sprintf("System \"%s\" was not there when the stack was learnt: its spans are left out.", strange[1L]),
                 "newdata")
      x <- x[!x$system %in% strange, , drop = FALSE]
    }
    attr(x, "systems") <- NULL
    merged <- span_merge(x, fields = old$fields, systems = old$systems)
    each <- predict.granary_span_calibration(object$calibration, merged)
    prob <- matrix(0, 0L, length(old$fields) + 1L)
    if (merged$n > 0L) {
      inputs <- stack_inputs(merged, object$settings, prob = each)
      prob <- span_meta_answer(object$meta, inputs, object$settings, merged)
    }
  }
  colnames(prob) <- c(old$fields, "false")
  if (type == "prob") return(cbind(merged$spans[c("doc", "start", "end")], as.data.frame(prob, optional = TRUE)))
  each <- predict.granary_span_calibration(object$calibration, merged)
  vote <- core_span_vote(merged$field, unname(each), list(method = "prob", missing = "false",
                                                          fields = max(length(old$fields), 1L),
                                                          prior = unname(object$prior)), core_seed())
  decided <- decide_spans(prob, object$threshold, list(prob = vote), merged, object$rare)
  chosen_spans(merged, decided$field, decided$score, object$one_per_doc, "stack")
}

extract_all <- function(object, documents) {
  document_names(documents, "newdata")
  found <- Map(function(one, fit) spans(user_value(one$extract, "extract", fit, documents)), object$extractors,
               object$trained)
  several_spans(stats::setNames(found, variable_names(names(object$extractors), length(found))))
}

#' @export
fitted.granary_span_stack <- function(object, ...) predict.granary_span_stack(object, ...)

#' @export
assess.granary_span_stack <- function(object, newdata = NULL, newy = NULL, by = "all", match = "exact", ...) {
  refuse_dots(...)
  if (is.null(newdata) != is.null(newy)) {
    abort_input("Give `newdata` and `newy` together, or neither.", if (is.null(newdata)) "newdata" else "newy")
  }
  if (is.null(newdata)) return(object$scores)
  span_score(predict.granary_span_stack(object, newdata), newy, by = by, match = match)
}

#' @export
print.granary_span_stack <- function(x, ...) {
  refuse_dots(...)
  cli::cat_line("Stacked spans: ", paste(x$merged$systems, collapse = ", "), " by ",
                if (is.character(x$settings$meta)) x$settings$meta else "a learner of your own", " on ",
                x$settings$inputs, " inputs; ", counted(x$n, "merged span", "merged spans"), ", ",
                counted(length(x$merged$fields), "field", "fields"))
  print_call(x$call)
  cli::cat_line("Out of fold:")
  print(format(x$scores[c("system", "precision", "recall", "f", "f_macro")], digits = 3L), row.names = FALSE)
  cli::cat_line(sprintf("The meta-learner is right on %.1f%% of the merged spans (fields and \"false\")",
                        100 * x$meta_accuracy))
  if (length(x$rare) > 0L) cli::cat_line("Too rare to be learnt, decided by vote: ", paste(x$rare, collapse = ", "))
  invisible(x)
}

#' @export
summary.granary_span_stack <- function(object, ...) {
  seal(structure(list(fit = object, agreement = span_agreement(object$merged)), class = "summary_granary_span_stack"))
}

#' @export
print.summary_granary_span_stack <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  cli::cat_line("By field:")
  print(format(x$fit$fields_scores[-1L], digits = 3L), row.names = FALSE)
  print(x$agreement)
  invisible(x)
}

#' @export
tidy.granary_span_stack <- function(x, ...) x$scores

#' @export
glance.granary_span_stack <- function(x, ...) {
  own <- x$scores[x$scores$system == "stack", ]
  data.frame(n = x$n, systems = length(x$merged$systems), fields = length(x$merged$fields),
             f = if (nrow(own) > 0L) own$f else NA_real_,
             best.single = max(x$scores$f[x$scores$system %in% x$merged$systems]))
}

#' @rdname span_stack
#' @details `plot()` shows precision, recall and F out of fold over thresholds.
#' @export
plot.granary_span_stack <- function(x, ...) {
  curve <- x$curve
  draw(graphics::plot, curve$threshold, curve$f, type = "n", ylim = c(0, 1), bty = "n", xlab = "threshold", ylab = "",
       user = list(...))
  colours <- c(precision = "#D55E00", recall = "#0072B2", f = "black")
  for (what in names(colours)) {
    graphics::lines(curve$threshold, curve[[what]], col = colours[[what]], lwd = if (what == "f") 3 else 1.5)
  }
  best <- max(x$scores$f[x$scores$system %in% x$merged$systems])
  graphics::abline(h = best, lty = 3, col = "grey50")
  graphics::text(0.05, best - 0.035, "F of the best single system", pos = 4L, cex = 0.8, col = "grey40", offset = 0.2)
  graphics::legend("bottomleft", c("precision", "recall", "F"), col = colours, lwd = c(1.5, 1.5, 3), bty = "n")
  invisible(x)
}

#' @rdname span_stack
#' @usage \method{autoplot}{granary_span_stack}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_span_stack <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  curve <- object$curve
  long <- data.frame(threshold = rep(curve$threshold, 3L), value = c(curve$precision, curve$recall, curve$f),
                     what = rep(c("precision", "recall", "F"), each = nrow(curve)))
  gg_canvas(long, ggplot2::aes(.data$threshold, .data$value, colour = .data$what)) + ggplot2::geom_line(linewidth = 1) +
    ggplot2::ylim(0, 1) +
    gg_palette("colour") + ggplot2::labs(x = "threshold", y = NULL, colour = NULL)
}
