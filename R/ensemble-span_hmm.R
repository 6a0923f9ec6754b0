#' A base extractor: hidden Markov models of fields
#'
#' Finds the instances of fields in token sequences by one hidden Markov model per field, learnt from annotated
#' documents: a base system for [span_stack()].
#'
#' @details
#' The states are the background, the `before` tokens that lead up to an instance, its first `inside` tokens (the last
#' of these stands for all further ones), and the
#' `after` tokens behind it. Transition and emission probabilities are smoothed ratios of counts, with `smooth` added to
#' the counts of possible transitions and as many times the shares of all text to the counts of words. Words seen once,
#' and unknown words, are told by their shape: numbers, punctuation, capitals, capitalised, mixed, lower case. The most
#' probable path (Viterbi) gives the instances, the log-odds of its tokens against the background, per token, their
#' scores. Boosted wrapper induction and (LP)^2, the other two systems of the paper, are not specified there and are not
#' built.
#'
#' @section Which method when:
#' For regular text such as pages made from forms; modern taggers are better, and are combined the same way.
#'
#' @param tokens A data frame with one row per token in reading order: `doc` and `token`.
#' @param gold Right spans, boundaries counted in tokens from 0 at the start of the document.
#' @param before,inside,after Numbers of states.
#' @param smooth Added to counts.
#' @return An object of class `granary_span_hmm`, inheriting from `granary_fit`; `predict(object, tokens)` gives
#'   [spans()].
#' @inherit spans references
#' @seealso [span_stack()], [spans()]
#' @export
#' @examples
#' text <- c("talk by Ada Byron at noon", "talk by Alan Turing in room 5", "lunch at noon", "talk by Grace Hopper at
#' noon")
#' words <- strsplit(text, " ")
#' tokens <- data.frame(doc = rep(paste0("d", 1:4), lengths(words)), token = unlist(words))
#' gold <- data.frame(doc = c("d1", "d2", "d4"), start = 2, end = 4, field = "speaker")
#' fit <- span_hmm(tokens, gold)
#' predict(fit, data.frame(doc = "new", token = c("talk", "by", "John", "Tukey", "at", "noon")))
span_hmm <- function(tokens, gold, before = 4, inside = 4, after = 4, smooth = 0.1) {
  call <- match.call()
  if (missing(tokens)) fail_missing("tokens")
  if (missing(gold)) fail_missing("gold")
  text <- check_tokens(tokens)
  gold <- spans(gold)
  how <- list(before = check_count(before, lower = 0, upper = 100), inside = check_count(inside, upper = 100),
              after = check_count(after, lower = 0, upper = 100),
              smooth = check_number(smooth, lower = 0, strict_lower = TRUE, upper = 1e6))
  at <- match(gold$doc, text$docs)
  if (anyNA(at)) {
    abort_input(sprintf("`gold` has the document \"%s\", which has no tokens.", gold$doc[is.na(at)][1L]), "gold")
  }
  length <- diff(text$begin)
  outside <- which(gold$start < 0L | gold$end > length[at])
  if (length(outside) > 0L) {
    abort_input(sprintf("The span from %d to %d lies outside the document \"%s\", which has %d tokens.",
                        gold$start[outside[1L]], gold$end[outside[1L]], gold$doc[outside[1L]], length[at[outside[1L]]]),
                "gold")
  }
  lower <- tolower(text$token)
  often <- table(lower)
  vocabulary <- names(often)[often > 1L]
  word <- word_codes(text$token, vocabulary)
  how$words <- length(token_shapes) + length(vocabulary)
  how$shapes <- length(token_shapes)
  fields <- sort(unique(gold$field), method = "radix")
  models <- lapply(stats::setNames(nm = fields), function(field) {
    own <- gold$field == field
    start <- text$begin[at[own]] + gold$start[own]
    overlap <- order(start)
    if (any(diff(start[overlap]) < (gold$end[own] - gold$start[own])[overlap][-sum(own)])) {
      abort_input(sprintf("Right spans of the field \"%s\" overlap: a sequence has one state per token.", field),
                  "gold")
    }
    core_span_hmm(word, as.integer(text$begin), as.integer(start), as.integer(start + gold$end[own] - gold$start[own]),
                  how)
  })
  new_fit("span_hmm", models = models, fields = fields, vocabulary = vocabulary,
          instances = table(factor(gold$field, fields)), n = length(text$docs), call = call, convergence = NULL)
}

token_shapes <- c("number", "punctuation", "capitals", "capitalised", "mixed", "lower")

token_shape <- function(token) {
  ifelse(grepl("[0-9]", token), 1L, ifelse(!grepl("[[:alpha:]]", token), 2L,
                                           ifelse(grepl("^[[:upper:]]{2,}[^[:lower:]]*$", token), 3L,
                                                  ifelse(grepl("^[[:upper:]][^[:upper:]]*$", token), 4L,
                                                         ifelse(grepl("[[:upper:]]", token), 5L, 6L)))))
}

word_codes <- function(token, vocabulary) {
  known <- match(tolower(token), vocabulary)
  ifelse(is.na(known), token_shape(token), length(token_shapes) + known)
}

check_tokens <- function(tokens, arg = "tokens") {
  if (!is.data.frame(tokens) || !all(c("doc", "token") %in% names(tokens))) {
    fail_input(arg, "a data frame with the columns doc and token", describe(tokens))
  }
  if (nrow(tokens) == 0L) abort_input(sprintf("`%s` must have at least one token.", arg), arg)
  doc <- readable(as.character(tokens$doc))
  token <- readable(as.character(tokens$token))
  if (anyNA(doc) || anyNA(token)) {
    abort_input(sprintf("`%s` must have no missing values, but row %d has.", arg, which(is.na(doc) | is.na(token))[1L]),
                arg)
  }
  runs <- rle(doc)
  if (anyDuplicated(runs$values) > 0L) {
    abort_input(sprintf("The tokens of the document \"%s\" must stand together in `%s`.",
                        runs$values[anyDuplicated(runs$values)], arg), arg)
  }
  list(token = token, docs = runs$values, begin = c(0L, cumsum(runs$lengths)))
}

#' @rdname span_hmm
#' @param object A fit.
#' @param newdata Tokens of new documents.
#' @param ... Not used.
#' @export
predict.granary_span_hmm <- function(object, newdata, ...) {
  refuse_dots(...)
  if (missing(newdata)) fail_missing("newdata")
  text <- check_tokens(newdata, "newdata")
  word <- word_codes(text$token, object$vocabulary)
  parts <- lapply(object$fields, function(field) {
    found <- core_span_hmm_extract(word, as.integer(text$begin), object$models[[field]], progress_bar("extracting"))
    data.frame(doc = text$docs[found$doc], start = found$start, end = found$end, field = rep(field, length(found$doc)),
               score = found$score)
  })
  out <- do.call(rbind, parts)
  if (is.null(out)) {
    out <- data.frame(doc = character(), start = integer(), end = integer(), field = character(), score = numeric())
  }
  out$system <- rep("hmm", nrow(out))
  spans(out)
}

#' @export
print.granary_span_hmm <- function(x, ...) {
  refuse_dots(...)
  cli::cat_line("Hidden Markov models of ", counted(length(x$fields), "field", "fields"), ": ",
                counted(x$n, "document", "documents"), ", ", length(x$vocabulary), " words")
  print_call(x$call)
  print(tidy(x), row.names = FALSE)
  invisible(x)
}

#' @export
tidy.granary_span_hmm <- function(x, ...) data.frame(field = x$fields, instances = as.integer(x$instances))

#' @export
glance.granary_span_hmm <- function(x, ...) {
  data.frame(n = x$n, fields = length(x$fields), instances = sum(x$instances), words = length(x$vocabulary))
}

# The words that most speak for an instance.
hmm_words <- function(x, top = 10L) {
  do.call(rbind, lapply(x$fields, function(field) {
    model <- x$models[[field]]
    states <- 1L + model$how$before + seq_len(model$how$inside)
    log_inside <- log(colMeans(exp(model$emission[states, , drop = FALSE])))
    odds <- log_inside - model$emission[1L, ]
    words <- c(paste0("<", token_shapes, ">"), x$vocabulary)
    best <- utils::head(order(-odds), top)
    data.frame(field = field, word = words[best], odds = odds[best])
  }))
}

#' @rdname span_hmm
#' @param x A fit.
#' @details `plot()` shows the words with the largest log-odds within instances.
#' @export
plot.granary_span_hmm <- function(x, ...) {
  words <- hmm_words(x, max(3L, 24L %/% length(x$fields)))
  words <- words[rev(seq_len(nrow(words))), ]
  draw(graphics::dotchart, words$odds, labels = words$word, groups = factor(words$field), pch = 19,
       xlab = "log-odds within instances", user = list(...))
  invisible(x)
}

#' @rdname span_hmm
#' @usage \method{autoplot}{granary_span_hmm}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_span_hmm <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  gg_canvas(hmm_words(object), ggplot2::aes(.data$odds, stats::reorder(.data$word, .data$odds))) +
    ggplot2::geom_point(colour = sign_colours[["positive"]]) +
    ggplot2::facet_wrap(ggplot2::vars(.data$field), scales = "free_y") +
      ggplot2::labs(x = "log-odds within instances", y = NULL)
}
