#' Weighted majority, perceptron and naive Bayes, one example at a time
#'
#' Baselines for streams of attributes. `weighted_majority()` lets all attributes and their complements vote, and discounts those that were wrong when
#' the vote was; `perceptron()` is the linear one with explicit weights, for columns of any kind and number; `online_naive_bayes()` counts.
#'
#' @details
#' * **Weighted majority** (Littlestone and Warmuth 1994): attribute \eqn{i} predicts \eqn{x_i}, its complement \eqn{1 - x_i}. Each has a weight
#'   \eqn{\beta}{beta} to the power of its number of errors, counted in the trials in which the majority erred (`mistake_driven`) or in all. If the
#'   best of
#'   \eqn{2n} errs \eqn{e} times, the majority errs at most
#'   \eqn{(\log 2n + e \log(1/\beta)) / \log(2 / (1 + \beta))}{(log 2n + e log(1/beta)) / log(2 / (1 + beta))} times.
#'   A missing attribute does not vote.
#' * **Perceptron** (Rosenblatt 1958): \eqn{b + w'x}; after a mistake (a tie is one) \eqn{w} moves by \eqn{\pm x}{+-x}. With `prediction = "averaged"`
#'   the average of the weights over time predicts.
#' * **Naive Bayes**: attributes are independent within each class, with probabilities uniform a priori (one is added to each count). Any number of
#'   classes.
#'   The mistake-driven version counts only examples that were predicted wrongly, and is the second member of the family that the conclusion of
#'   Littlestone and Mesterharm (1996) mentions.
#'
#' @section Which method when:
#' [sasb()] is weighted majority that learns its own parameter; the perceptron suits many attributes that matter a little;
#' naive Bayes gives probabilities when attributes are nearly independent within classes.
#'
#' @inheritParams winnow
#' @param x A matrix or data frame of 0/1 attributes (numbers for `perceptron()`), a sparse matrix of package Matrix, or data in pieces ([data_chunks()]).
#' @param y Labels: two classes, for `online_naive_bayes()` any number.
#' @param beta The factor, in (0, 1), for the weight of an attribute that was wrong.
#' @param mistake_driven Whether to learn from mistakes only.
#' @param bias Whether the perceptron has an intercept.
#' @param prediction `"averaged"` or `"last"`.
#' @param ... Not used.
#' @return An object of class `granary_weighted_majority`, `granary_perceptron` or `granary_online_naive_bayes`, each a [granary_online_classifier].
#' @references
#' Littlestone and Warmuth (1994). The weighted majority algorithm. *Information and Computation* 108, 212--261.
#'
#' Rosenblatt (1958). The perceptron: a probabilistic model for information storage and organization in the brain. *Psychological Review* 65,
#' 386--408.
#' @seealso [sasb()], [winnow()], [lasvm()], [budget_perceptron()], [kernel_perceptron()], [mistake_driven()]
#' @export
#' @examples
#' set.seed(1)
#' data <- sim_sasb(1000, n = 20, k = 5, p = 0.1)
#' majority <- weighted_majority(data$x, data$y)
#' linear <- perceptron(data$x, data$y)
#' bayes <- online_naive_bayes(data$x, data$y)
#' online_compare(majority, linear, bayes, sasb(data$x, data$y))
#' coef(linear)[1:4]
weighted_majority <- function(x, ...) {
  UseMethod("weighted_majority", formula_or_first(x, ...))
}

#' @rdname weighted_majority
#' @export
weighted_majority.formula <- function(formula, data = NULL, subset, na.action, ...) {
  formula_fit(weighted_majority.default, "weighted_majority", ...)
}

#' @rdname weighted_majority
#' @export
weighted_majority.default <- function(x, y = NULL, beta = 0.5, mistake_driven = TRUE, levels = NULL, binarize = NULL, epochs = 1, shuffle = FALSE,
                              na = c("error", "skip"), ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  settings <- online_settings(na, allow_na = TRUE, rule = "majority", mistake_driven = check_flag(mistake_driven), voters = 1L,
                              beta = check_number(beta, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE),
                              binarize = check_binarize(binarize))
  fit <- new_online("weighted_majority", settings, list(), online_levels(levels, labels_given(x, y), 2), generic_call(call, "weighted_majority"))
  learn_online(fit, x, y, check_count(epochs), check_flag(shuffle))
}

#' @export
learn_chunk.granary_weighted_majority <- function(fit, x, y, order, id) learn_counts(fit, x, y, order, id)

#' @export
online_scores.granary_weighted_majority <- function(fit, x) ties_to_zero(count_scores(fit, x, "score"))

#' @export
online_facts.granary_weighted_majority <- function(fit) c(beta = format(fit$settings$beta))

#' @rdname weighted_majority
#' @param object A fit.
#' @export
coef.granary_weighted_majority <- function(object, ...) {
  if (is.null(object$state$excess)) return(NULL)
  found <- core_count_describe(length(object$columns), begun(object$state, "excess"), count_options(object))
  stats::setNames(found$coefficients, c("(Intercept)", object$columns))
}

#' @rdname weighted_majority
#' @export
perceptron <- function(x, ...) {
  UseMethod("perceptron", formula_or_first(x, ...))
}

#' @rdname weighted_majority
#' @export
perceptron.formula <- function(formula, data = NULL, subset, na.action, ...) {
  formula_fit(perceptron.default, "perceptron", ...)
}

#' @rdname weighted_majority
#' @export
perceptron.default <- function(x, y = NULL, bias = TRUE, prediction = c("averaged", "last"), levels = NULL, epochs = 1, shuffle = FALSE,
                       na = c("error", "skip"), ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  settings <- online_settings(na, bias = check_flag(bias), mode = check_choice(prediction, c("averaged", "last")))
  fit <- new_online("perceptron", settings, list(), online_levels(levels, labels_given(x, y), 2), generic_call(call, "perceptron"))
  learn_online(fit, x, y, check_count(epochs), check_flag(shuffle))
}

#' @export
learn_chunk.granary_perceptron <- function(fit, x, y, order, id) {
  core_perceptron_learn(x, online_piece(y, order, id), begun(fit$state, "weight"), fit$settings$bias, progress_bar("learning"))
}

#' @export
online_scores.granary_perceptron <- function(fit, x) core_perceptron_score(x, unname(stats::coef(fit)))

#' @rdname weighted_majority
#' @export
coef.granary_perceptron <- function(object, ...) {
  state <- object$state
  if (is.null(state$weight)) return(NULL)
  weight <- if (object$settings$mode == "averaged") ((state$trials + 1) * state$weight - state$timed) / state$trials else state$weight
  stats::setNames(weight, c("(Intercept)", object$columns))
}

#' @export
online_facts.granary_perceptron <- function(fit) c(prediction = fit$settings$mode)

#' @rdname weighted_majority
#' @export
online_naive_bayes <- function(x, ...) {
  UseMethod("online_naive_bayes", formula_or_first(x, ...))
}

#' @rdname weighted_majority
#' @export
online_naive_bayes.formula <- function(formula, data = NULL, subset, na.action, ...) {
  formula_fit(online_naive_bayes.default, "online_naive_bayes", ...)
}

#' @rdname weighted_majority
#' @export
online_naive_bayes.default <- function(x, y = NULL, mistake_driven = FALSE, levels = NULL, binarize = NULL, epochs = 1, shuffle = FALSE,
                               na = c("error", "skip"), ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  settings <- online_settings(na, allow_na = TRUE, mistake_driven = check_flag(mistake_driven), binarize = check_binarize(binarize))
  fit <- new_online("online_naive_bayes", settings, list(), online_levels(levels, labels_given(x, y)), generic_call(call, "online_naive_bayes"))
  learn_online(fit, x, y, check_count(epochs), check_flag(shuffle))
}

#' @export
learn_chunk.granary_online_naive_bayes <- function(fit, x, y, order, id) {
  prepared <- binary_inputs(fit, x)
  options <- list(classes = length(fit$levels), mistake_driven = fit$settings$mistake_driven)
  out <- core_naive_bayes_learn(prepared$x, online_piece(y, order, id), begun(fit$state, "counted"), options, progress_bar("learning"))
  out$state$cut <- prepared$cut
  out
}

#' @export
online_scores.granary_online_naive_bayes <- function(fit, x) {
  scores <- core_naive_bayes_score(binary_inputs(fit, x)$x, begun(fit$state, "counted"), list(classes = length(fit$levels)))
  if (ncol(scores) == 2L) ties_to_zero(scores[, 2L] - scores[, 1L]) else scores
}

#' @export
online_facts.granary_online_naive_bayes <- function(fit) c("learns from" = if (fit$settings$mistake_driven) "mistakes only" else "every example")
