#' Which smoother for these words?
#'
#' Compares the smoothers of [unigram_model()] by their leave-one-out log-loss, with the best discount at each of several thresholds.
#'
#' @details
#' Candidates are absolute discounting at every `tau`, each with the `discount` asked for, add-constant at every `pseudo`, and the leave-one-out and Good-Turing
#' laws, as far as `methods` names them. For given \eqn{\tau}{tau} the log-loss is convex in the discount, so its minimum is found exactly. The smallest value wins.
#'
#' @section Which method when:
#' Before a law of words is used; the differences are in the rare words. A hold-out set costs draws and says the same, less precisely.
#'
#' @inheritParams unigram_model
#' @param methods Which smoothers to try.
#' @param tau Thresholds for `"absolute"`; `NULL`: from 1 to the largest count in about twelve steps.
#' @param pseudo Constants for `"add"`.
#' @return A [granary_selection]: `fit`, the chosen law, and `table` with `candidate`, `method`, `tau`, `discount`, `pseudo`, `estimate` (log-loss) and `std.error`.
#' @inherit good_turing references
#' @seealso [unigram_model()], [good_turing()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_unigram(3000, vocabulary = 5000)
#' choice <- unigram_select(sim$counts)
#' choice
#' assess(choice$fit, truth = sim$prob)
unigram_select <- function(x, vocabulary = NULL, methods = c("absolute", "loo", "good_turing", "add"), discount = "loo", tau = NULL, pseudo = c(0.01, 0.1, 0.5, 1)) {
  call <- match.call()
  symbols <- check_symbols(x, min_total = 3)
  words <- check_words(symbols, vocabulary)
  if (is.null(words$unseen)) {
    abort_input("`vocabulary` must be given: without the number of words the log-loss is not defined. \"chao1\" estimates it.", "vocabulary")
  }
  known <- c("absolute", "loo", "good_turing", "ml", "add")
  if (!is.character(methods) || length(methods) == 0L || anyNA(methods)) fail_input("methods", "names of smoothers of unigram_model()", describe(methods))
  methods <- unique(vapply(methods, check_choice, "", choices = known, arg = "methods", USE.NAMES = FALSE))
  top <- max(words$counts)
  if (is.null(tau)) tau <- unique(round(exp(seq(0, log(top), length.out = 12L))))
  tau <- unname(check_vector(tau, lower = 1, upper = 2^53))
  check_all_whole(tau, "tau")
  pseudo <- unname(check_vector(pseudo, lower = 0, upper = 1e15, strict_lower = TRUE))
  if (top == 1 && identical(methods, "absolute")) abort_input("Every word was seen once: \"absolute\" cannot learn a discount. Use \"loo\" or \"add\".", "methods")
  rows <- lapply(methods, function(method) smoother_rows(method, words, discount, tau, pseudo, top))
  table <- do.call(rbind, rows)
  table$std.error[is.nan(table$std.error)] <- NA
  table$estimate[is.nan(table$estimate) | is.infinite(table$estimate)] <- NA
  if (all(is.na(table$estimate))) abort_numeric("Every candidate has an infinite log-loss: add \"loo\" or \"add\" to `methods`.")
  best <- table[which.min(table$estimate), ]
  listed <- sum(words$counts == 0) == words$unseen && words$unseen > 0
  fit <- unigram_model(words$counts, vocabulary = if (!listed) sum(words$counts > 0) + words$unseen, method = best$method,
                       discount = if (is.na(best$discount)) "loo" else best$discount, tau = if (!is.na(best$tau)) best$tau,
                       pseudo = if (is.na(best$pseudo)) 1 else best$pseudo)
  new_selection("unigram", fit, table, "min", "leave-one-out log-loss (nats a word)", selected = which.min(table$estimate), call = shorten_call(call))
}

smoother_rows <- function(method, words, discount, tau, pseudo, top) {
  counts <- unname(words$counts)
  row <- function(label, tau, discount, pseudo, loss, se) {
    data.frame(candidate = label, method = method, tau = tau, discount = discount, pseudo = pseudo, estimate = loss, std.error = se)
  }
  if (method == "absolute") {
    if (top == 1) return(NULL)
    options <- check_smoother(method, discount, NULL, 1)
    options$unseen <- words$unseen
    found <- core_unigram_path(counts, options, tau)
    return(row(paste("absolute, tau", format(tau, trim = TRUE)), found$tau, found$discount, NA_real_, found$log_loss, found$std_error))
  }
  one <- function(pseudo) {
    found <- core_unigram_model(counts, list(method = method, unseen = words$unseen, pseudo = pseudo))
    row(if (method == "add") paste("add", format(pseudo)) else method, NA_real_, NA_real_, if (method == "add") pseudo else NA_real_, found$log_loss, found$std_error)
  }
  if (method == "add") do.call(rbind, lapply(pseudo, one)) else one(1)
}
