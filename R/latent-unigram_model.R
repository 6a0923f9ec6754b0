#' Smoothed probabilities of words, and what new text will cost
#'
#' Learns the law of words (or species, or items) from counts, with something left for words that were not seen, and estimates its log-loss on new text from the same
#' sample by leaving out each occurrence in turn. No hold-out set is needed.
#'
#' @details
#' A word seen \eqn{c} times in \eqn{m} draws gets the probability \eqn{q(c)}:
#' * `"absolute"` discounting: \eqn{(c - \alpha) / m} for \eqn{1 \le c \le \tau}{1 <= c <= tau} and \eqn{c / m} beyond; the \eqn{n_0} unseen words share
#'   \eqn{\alpha n_{1..\tau} / m}{alpha n_{1..tau} / m}. The discount \eqn{\alpha}{alpha} is the one with the least leave-one-out log-loss (`"loo"`),
#'   \eqn{n_1 / n_{1..\tau}}{n_1 / n_{1..tau}} (`"gt"`: the unseen get the Good-Turing mass \eqn{n_1 / m}), or a number. Where the whole vocabulary was seen
#'   there is nothing to set aside: the \eqn{n_b} words of the least count \eqn{b} share what is taken from the others and get
#'   \eqn{(b + \alpha n_{b+1..\tau} / n_b) / m}{(b + alpha n_{b+1..tau} / n_b) / m} each.
#' * `"loo"`: \eqn{(K - 1) / ((n_0 + n_1)(m - 1))} for \eqn{c \le 1}{c <= 1}, \eqn{(c - 1) / (m - 1)} beyond: the law of what deleted occurrences would have got.
#' * `"good_turing"`: the combined masses of [good_turing()], shared equally and scaled to one. Where the whole vocabulary was seen, a word that falls below the
#'   least count when an occurrence is deleted stays among the words of that count.
#' * `"ml"`: \eqn{c / m}; `"add"`: \eqn{(c + \mathrm{pseudo}) / (m + N \mathrm{pseudo})}{(c + pseudo) / (m + N pseudo)}.
#'
#' The log-loss is \eqn{L = \sum_w p_w \log(1 / q_w)}{L = sum_w p_w log(1 / q_w)}, in nats per word; its estimate
#' \deqn{L_{loo} = \sum_{k \ge 1} \frac{k n_k}{m} \log \frac1{q'(k)}}{L_loo = sum_{k >= 1} (k n_k / m) log(1 / q'(k))}
#' uses \eqn{q'(k)}, the probability that a word gets when one of its \eqn{k} occurrences is deleted and the law is learnt again. The perplexity is
#' \eqn{\exp L}{exp L}. Laws that give a deleted word nothing have an infinite log-loss.
#'
#' @section Which method when:
#' `"absolute"` as a rule; [unigram_select()] to choose among all; `"add"` for small alphabets; `"ml"` never, where anything is unseen. [good_turing()] for totals rather
#' than words, [entropy_estimate()] for the least log-loss that any law could have.
#'
#' @inheritParams entropy_estimate
#' @param x Counts (with names, to predict by word), a table, or the words themselves.
#' @param vocabulary How many words there are, seen or not; the words themselves; `"chao1"` for a lower bound of their number from the sample; or `NULL` where it is
#'   not known. Then only the total of the unseen is given, not the probability of one of them, and the log-loss is `NA`.
#' @param method The smoother.
#' @param discount For `"absolute"`: `"loo"`, `"gt"`, or a number between 0 and 1.
#' @param tau For `"absolute"`: the largest count that is discounted; `NULL`: \eqn{m^{2/5}}{m^(2/5)}, rounded down.
#' @param pseudo For `"add"`: what is added to every count.
#' @return An object of class `granary_unigram` with `table` (of each count: `words`, `prob`, `left_out`), `prob` (of each word), `unseen` (number, mass, and
#'   probability of one), `log_loss` and `std.error`, `perplexity`, `stability` (largest change of a word's loss by one draw), `discount`, `tau`.
#'   `predict(object, newdata)` gives the probabilities of words, `assess(object, newdata =)` the log-loss on other text, `assess(object, truth =)` the exact one under a
#'   known law.
#' @inherit good_turing references
#' @seealso [unigram_select()], [good_turing()], [good_turing_bounds()], [sim_unigram()].
#' @export
#' @examples
#' words <- strsplit(tolower("the cat sat on the mat and the dog sat on the cat"), " ")[[1]]
#' fit <- unigram_model(words, vocabulary = 50)
#' fit
#' predict(fit, newdata = c("cat", "dog", "bird"))
#' assess(fit, newdata = c("the", "bird", "sat"))
unigram_model <- function(x, vocabulary = NULL, method = c("absolute", "loo", "good_turing", "ml", "add"), discount = "loo", tau = NULL, pseudo = 1) {
  call <- match.call()
  method <- check_choice(method, c("absolute", "loo", "good_turing", "ml", "add"))
  symbols <- check_symbols(x, min_total = 3)
  words <- check_words(symbols, vocabulary)
  options <- check_smoother(method, discount, tau, pseudo)
  options$unseen <- if (is.null(words$unseen)) -1 else words$unseen
  found <- core_unigram_model(unname(words$counts), options)
  if (identical(found$unseen, 0) && (found$scale != 1 || (method == "absolute" && any(abs(found$prob * found$total / found$count - 1) > 1e-6)))) {
    warn_input("Every word of the vocabulary was seen, so what was set aside for unseen words is given back to the seen ones.", "vocabulary")
  }
  if (is.infinite(found$log_loss)) {
    warn_input(sprintf("\"%s\" gives some words no probability once an occurrence is left out: its log-loss is infinite.", method), "method")
  }
  missing <- is.null(words$unseen)
  for (field in c("prob", "left_out", "unseen_mass", "unseen_prob")) found[[field]][is.nan(found[[field]])] <- NA_real_
  nothing <- which(found$prob == 0)
  if (length(nothing) > 0L && method == "good_turing") {
    warn_input(sprintf("\"good_turing\" gives words seen %s no probability, because none was seen %s: new text may have an infinite log-loss. Use \"absolute\" or \"loo\".",
                       count_times(found$count[nothing[1L]]), count_times(found$count[nothing[1L]] + 1)), "method")
  }
  prob <- rep(if (missing) NA_real_ else found$unseen_prob, length(words$counts))
  prob[words$counts > 0] <- found$prob[match(words$counts[words$counts > 0], found$count)]
  names(prob) <- names(words$counts)
  loss <- if (is.nan(found$log_loss)) NA_real_ else found$log_loss
  new_fit("unigram", coefficients = c(if (method == "absolute") c(discount = found$discount, tau = found$tau), log_loss = loss), prob = prob,
          table = data.frame(count = found$count, words = found$times, prob = found$prob, left_out = found$left_out),
          unseen = c(words = if (missing) NA_real_ else found$unseen, mass = found$unseen_mass, prob = if (missing) NA_real_ else found$unseen_prob),
          log_loss = loss, std.error = if (is.na(loss)) NA_real_ else found$std_error, perplexity = exp(loss), stability = found$stability, worst = found$worst,
          discount = if (method == "absolute") found$discount, tau = if (method == "absolute") found$tau, pseudo = if (method == "add") pseudo,
          method = method, n = found$total, distinct = found$distinct, counts = words$counts, call = call, convergence = list())
}

count_times <- function(k) if (k == 1) "once" else if (k == 2) "twice" else paste(format(k, big.mark = ","), "times")

# The options of C++ for a smoother.
check_smoother <- function(method, discount, tau, pseudo) {
  choice <- "fixed"
  if (is.character(discount)) {
    choice <- check_choice(discount, c("loo", "gt"))
    discount <- NULL
  } else {
    discount <- check_number(discount, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  }
  tau <- check_number(tau, lower = 1, upper = 2^53, allow_null = TRUE)
  if (!is.null(tau) && tau != round(tau)) fail_input("tau", "a whole number", describe(tau))
  list(method = method, choice = choice, discount = discount, tau = tau, pseudo = check_number(pseudo, lower = 0, upper = 1e15, strict_lower = TRUE))
}

# Counts of the vocabulary, and how many words of it were not seen (NULL: not known).
check_words <- function(symbols, vocabulary) {
  counts <- symbols$counts
  distinct <- sum(counts > 0)
  if (is.null(vocabulary)) {
    listed <- symbols$listed && any(counts == 0)
    return(list(counts = counts, unseen = if (listed) length(counts) - distinct))
  }
  if (identical(vocabulary, "chao1")) {
    f1 <- sum(counts == 1)
    f2 <- sum(counts == 2)
    return(list(counts = counts[counts > 0], unseen = ceiling(if (f2 > 0) f1^2 / (2 * f2) else f1 * (f1 - 1) / 2)))
  }
  if (is.character(vocabulary)) {
    vocabulary <- unique(readable(vocabulary[!is.na(vocabulary)]))
    if (is.null(names(counts))) abort_input("`vocabulary` has words, but the counts have no names. Give the words, or counts with names.", "vocabulary")
    strange <- setdiff(names(counts)[counts > 0], vocabulary)
    if (length(strange) > 0L) {
      abort_input(sprintf("`vocabulary` must hold every word seen, but \"%s\" is not in it.", strange[1L]), "vocabulary")
    }
    all <- stats::setNames(numeric(length(vocabulary)), vocabulary)
    all[names(counts)[counts > 0]] <- counts[counts > 0]
    return(list(counts = all, unseen = length(vocabulary) - distinct))
  }
  vocabulary <- check_vocabulary(vocabulary, distinct)
  list(counts = counts[counts > 0], unseen = vocabulary - distinct)
}

#' @export
print.granary_unigram <- function(x, ...) {
  title <- c(absolute = "absolute discounting", loo = "leave-one-out", good_turing = "Good-Turing", ml = "maximum likelihood", add = "add-constant")[[x$method]]
  cli::cat_line("Law of words by ", title, ": ", counted_many(x$distinct, "word"), " in ", counted_many(x$n, "draw"))
  print_call(x$call)
  if (x$method == "absolute") cli::cat_line("Discount ", format(x$discount, digits = 4L), " up to count ", format(x$tau))
  cli::cat_line("Unseen words together: ", if (is.na(x$unseen[["mass"]])) "not known without the size of the vocabulary" else format(x$unseen[["mass"]], digits = 4L),
                if (!is.na(x$unseen[["words"]])) sprintf(" (%s, %s each)", counted_many(x$unseen[["words"]], "word"), format(x$unseen[["prob"]], digits = 3L)))
  cli::cat_line("Log-loss on new text, leave-one-out: ", if (is.na(x$log_loss)) {
    "not defined without the size of the vocabulary"
  } else {
    sprintf("%s nats a word (s.e. %s), perplexity %s", format(x$log_loss, digits = 5L), format(x$std.error, digits = 2L), format(x$perplexity, digits = 4L))
  })
  print(format(utils::head(x$table, 5L), digits = 4L), row.names = FALSE)
  if (nrow(x$table) > 5L) cli::cat_line("... and ", nrow(x$table) - 5L, " more counts in `table`")
  invisible(x)
}

#' @export
summary.granary_unigram <- function(object, ...) object

#' @export
tidy.granary_unigram <- function(x, ...) x$table

#' @rdname unigram_model
#' @param object A fit.
#' @param newdata Words, or for `assess()` also counts with names; `NULL` in `predict()`: the words of the sample.
#' @param log Whether to give logarithms.
#' @export
predict.granary_unigram <- function(object, newdata = NULL, log = FALSE, ...) {
  refuse_dots(...)
  log <- check_flag(log)
  prob <- if (is.null(newdata)) object$prob else word_probabilities(object, newdata)
  if (log) base::log(prob) else prob
}

word_probabilities <- function(object, newdata) {
  if (!(is.character(newdata) || is.factor(newdata)) || length(newdata) == 0L || anyNA(newdata)) {
    fail_input("newdata", "words: text or a factor, none of them NA", describe(newdata))
  }
  if (is.null(names(object$prob))) {
    abort_input("The model was made from counts without names, so it does not know its words. Give counts with names, or the words.", "object")
  }
  words <- readable(as.character(newdata))
  found <- unname(object$prob[words])
  found[is.na(match(words, names(object$prob)))] <- object$unseen[["prob"]]
  stats::setNames(found, words)
}

#' @rdname unigram_model
#' @param truth A law: probabilities of all words, with names where the model has them, otherwise in the order of the counts.
#' @export
assess.granary_unigram <- function(object, truth = NULL, newdata = NULL, ...) {
  refuse_dots(...)
  if (is.null(truth) == is.null(newdata)) abort_input("Give `truth`, a law, or `newdata`, other text, and not both.", "newdata")
  if (!is.null(newdata)) {
    tokens <- check_symbols(newdata, "newdata")$counts
    if (is.null(names(tokens))) fail_input("newdata", "words, or counts with names", describe(newdata))
    weight <- tokens[tokens > 0]
    q <- word_probabilities(object, names(weight))
    loss <- sum(weight * ifelse(q > 0, -base::log(q), Inf)) / sum(weight)
    known <- names(weight) %in% names(object$prob)[object$counts > 0]
    return(data.frame(n = sum(weight), log_loss = loss, perplexity = exp(loss), new_words = sum(weight[!known]) / sum(weight)))
  }
  p <- check_word_law(truth, arg = "truth")
  q <- if (!is.null(names(truth)) && !is.null(names(object$prob))) word_probabilities(object, names(truth)) else unname(object$prob)
  if (length(q) != length(p)) {
    abort_input(sprintf("`truth` must have one probability for each of the %d counts, zeros included, but it has %d.", length(q), length(p)), "truth")
  }
  part <- p > 0
  loss <- sum(p[part] * -base::log(q[part]))
  data.frame(log_loss = loss, kl = loss + sum(p[part] * base::log(p[part])), perplexity = exp(loss))
}

#' @rdname unigram_model
#' @param nsim Number of texts, each as long as the sample.
#' @param seed `NULL`, or a seed that is used for these draws only.
#' @export
simulate.granary_unigram <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  seen <- object$counts > 0
  prob <- c(object$prob[seen], object$unseen[["mass"]])
  if (anyNA(prob)) abort_input("The law of the words seen needs the size of the vocabulary: give `vocabulary`.", "object")
  labels <- c(if (is.null(names(object$prob))) paste0("w", which(seen)) else names(object$prob)[seen], "<unseen>")
  lapply(seq_len(nsim), function(i) stats::setNames(core_draw_counts(unname(prob / sum(prob)), object$n, core_seed(), NULL), labels))
}

#' @rdname unigram_model
#' @param ... Not used; for `plot()`, passed on to [graphics::plot()].
#' @export
plot.granary_unigram <- function(x, ...) {
  table <- x$table[x$table$prob > 0 & !is.na(x$table$prob), ]
  if (nrow(table) == 0L) abort_input("No word has a known probability above zero: there is nothing to draw.", "x")
  ratio <- table$prob * x$n / table$count
  left <- table$left_out * x$n / table$count
  draw(graphics::plot, table$count, ratio, log = "x", pch = 16, cex = 0.8, ylim = range(0, ratio, 1.05, left[is.finite(left)]), xlab = "times seen",
       ylab = "probability over its share of the sample", col = sign_colours[["positive"]], main = "", bty = "l", user = list(...))
  graphics::points(table$count, left, pch = 1, cex = 0.8, col = "grey50")
  graphics::abline(h = 1, lty = 3)
  graphics::legend("bottomright", c("law", "with one occurrence left out"), pch = c(16, 1), col = c(sign_colours[["positive"]], "grey50"), bty = "n")
  invisible(x)
}

#' @rdname unigram_model
#' @usage \method{autoplot}{granary_unigram}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_unigram <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  table <- object$table
  long <- data.frame(count = rep(table$count, 2L), ratio = c(table$prob, table$left_out) * object$n / rep(table$count, 2L),
                     law = rep(c("law", "with one occurrence left out"), each = nrow(table)))
  gg_canvas(long[is.finite(long$ratio), ], ggplot2::aes(.data$count, .data$ratio, colour = .data$law)) + ggplot2::geom_point(size = 1) +
    ggplot2::geom_hline(yintercept = 1, linetype = 3) + ggplot2::scale_x_log10() + gg_palette() +
    ggplot2::labs(x = "times seen", y = "probability over its share of the sample", colour = NULL)
}
