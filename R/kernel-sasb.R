#' Bayes and its mistake-driven relative for 0/1 attributes
#'
#' `sasb()` classifies streams of 0/1 attributes of which few matter, without any parameter to set. It is a Bayesian predictor (SBSB) that learns
#' only from
#' its mistakes (SASB, "apobayesian"), which makes it a relative of Winnow with a provable bound on the number of mistakes.
#'
#' @details
#' The Bayesian model: one of the \eqn{n} attributes equals the label with an unknown probability, all others are fair coins. With \eqn{t} trials
#' counted,
#' \eqn{M} of them of the second class (label 1), and \eqn{s_i} with \eqn{x_i} equal to the label,
#' \deqn{\pi_i \propto 1 / {t \choose s_i}, \quad q_i = \frac{s_i + 1}{t + 2}, \quad m = \frac{M + 1}{t + 2}, \quad Q(x) = \sum_i \pi_i [x_i q_i + (1
#' - x_i)(1 -
#' q_i)],}{pi_i prop. to 1 / choose(t, s_i), q_i = (s_i + 1)/(t + 2), m = (M + 1)/(t + 2), Q(x) = sum_i pi_i [x_i q_i + (1 - x_i)(1 - q_i)],}
#' the probability of label 1 is \eqn{m Q / (m Q + (1 - m)(1 - Q))}{m Q / (m Q + (1 - m)(1 - Q))}, and 1 is predicted iff \eqn{m + Q > 1}. That is a
#' linear threshold,
#' whose intercept and coefficients \eqn{\pi_i (2 q_i - 1)}{pi_i (2 q_i - 1)} `coef()` gives. SBSB (`mistake_driven = FALSE`) counts every trial and
#' is optimal if the
#' model is right; when several attributes matter it settles on one of them. SASB counts a trial only if its prediction was wrong, and so keeps
#' several attributes in play: it makes \eqn{O(\delta^{-2} \log(n / \delta))}{O(log(n / delta) / delta^2)} mistakes on data that a weighted sum of
#' attributes and
#' complements separates with a gap \eqn{\delta}{delta} (see [sasb_bounds()]).
#'
#' A missing attribute says nothing in its trial: it contributes 1/2 in the brackets, its counts are of the trials in which it was seen, and then
#' \eqn{\pi_i \propto 2^{t_i} / ((t_i + 1) {t_i \choose s_i})}{pi_i prop. to 2^t_i / ((t_i + 1) choose(t_i, s_i))}.
#'
#' With `voters = V > 1` predictions are votes of the last \eqn{V} hypotheses, each weighted by one plus the number of trials it survived; the current
#' hypothesis alone decides what is counted. (The paper only cites its voting procedure; this one is ours.)
#'
#' Attributes with equal counts have equal coefficients, which is used: a trial costs as much as it has ones, and a million sparse attributes are no
#' trouble.
#'
#' @section Which method when:
#' `sasb()` when few 0/1 attributes matter and nothing shall be tuned; [winnow()] when its parameters are known;
#' `mistake_driven = FALSE` when a single attribute matters; [online_naive_bayes()] when all matter a little and are independent.
#'
#' @inheritParams winnow
#' @param mistake_driven Whether to learn from mistakes only: `TRUE` is SASB, `FALSE` is SBSB.
#' @param voters Number of hypotheses that vote; 1 for none, about 30 for steadier predictions on noisy data. With `mistake_driven` only.
#' @return An object of class `granary_sasb`, a [granary_online_classifier], with besides: `s`, `M`, `t` (and `seen`, \eqn{t_i}, where attributes
#'   were missing),
#'   `weights` (\eqn{\pi}{pi}), `q`, `coefficients`.
#' @references
#' Littlestone and Mesterharm (1996). An apobayesian relative of Winnow. *Advances in Neural Information Processing Systems* 9, 204--210.
#' @seealso [winnow()], [weighted_majority()], [lasvm()], [budget_perceptron()], [kernel_perceptron()], [mistake_driven()]
#' @export
#' @examples
#' set.seed(1)
#' data <- sim_sasb(2000, n = 20, k = 5, p = 0.1)
#' fit <- sasb(data$x, data$y)
#' fit
#' head(coef(fit))
#' predict(fit, data$x[1:3, ], type = "prob")
#' bayes <- sasb(data$x, data$y, mistake_driven = FALSE)
#' voted <- sasb(data$x, data$y, voters = 30)
#' online_compare(SASB = fit, SBSB = bayes, voting = voted)
#' summary(fit)
sasb <- function(x, ...) {
  UseMethod("sasb", formula_or_first(x, ...))
}

#' @rdname sasb
#' @export
sasb.formula <- function(formula, data = NULL, subset, na.action, ...) {
  formula_fit(sasb.default, "sasb", ..., missing_x = TRUE)  # an attribute that is missing says nothing in its trial
}

#' @rdname sasb
#' @export
sasb.default <- function(x, y = NULL, mistake_driven = TRUE, voters = 1, levels = NULL, binarize = NULL, epochs = 1, shuffle = FALSE,
                         na = c("error", "skip"), ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  mistake_driven <- check_flag(mistake_driven)
  voters <- check_count(voters, upper = 1e4)
  if (voters > 1L && !mistake_driven) {
    abort_input("`voters` must be 1 when every trial is counted: every trial then has its own hypothesis.", "voters")
  }
  settings <- online_settings(na, allow_na = TRUE, rule = "sasb", mistake_driven = mistake_driven, voters = voters, beta = 0.5,
                              binarize = check_binarize(binarize))
  fit <- new_online("sasb", settings, list(), online_levels(levels, labels_given(x, y), 2), generic_call(call, "sasb"))
  learn_online(fit, x, y, check_count(epochs), check_flag(shuffle))
}

learn_counts <- function(fit, x, y, order, id) {
  prepared <- binary_inputs(fit, x)
  out <- core_count_learn(prepared$x, online_piece(y, order, id), begun(fit$state, "excess"), count_options(fit), progress_bar("learning"))
  out$state$cut <- prepared$cut
  out
}

count_options <- function(fit) fit$settings[c("rule", "mistake_driven", "beta", "voters")]

count_scores <- function(fit, x, type) core_count_score(binary_inputs(fit, x)$x, begun(fit$state, "excess"), count_options(fit), type)

#' @export
learn_chunk.granary_sasb <- function(fit, x, y, order, id) learn_counts(fit, x, y, order, id)

#' @export
online_scores.granary_sasb <- function(fit, x) ties_to_zero(count_scores(fit, x, if (fit$settings$voters > 1L) "vote" else "score"))

# What the core takes for a tie, predict() shall take for one.
ties_to_zero <- function(score) ifelse(abs(score) <= 1e-12, 0, score)

#' @export
online_finish.granary_sasb <- function(fit) {
  if (is.null(fit$state$excess)) return(fit)
  found <- core_count_describe(length(fit$columns), begun(fit$state, "excess"), count_options(fit))
  named <- function(values) stats::setNames(values, fit$columns)
  fit$s <- named(found$matches)
  fit$M <- fit$state$ones
  fit$t <- fit$state$t
  if (length(fit$state$unseen) > 0L) fit$seen <- named(found$seen)
  fit$weights <- named(found$weights)
  fit$q <- named((found$matches + 1) / (found$seen + 2))
  fit$coefficients <- stats::setNames(found$coefficients, c("(Intercept)", fit$columns))
  fit
}

#' @export
online_facts.granary_sasb <- function(fit) {
  settings <- fit$settings
  top <- if (is.null(fit$weights)) character() else top_attributes(fit, 5L)
  c(algorithm = if (settings$mistake_driven) paste0("SASB", if (settings$voters > 1L) sprintf(" with %d voters", settings$voters)) else "SBSB",
    "trials counted" = format(fit$state$t %||% 0, big.mark = ","),
    if (length(top) > 0L) c("largest weights" = paste(top, collapse = ", ")))
}

top_attributes <- function(fit, count) {
  at <- utils::head(order(-fit$weights), count)
  sprintf("%s%s %.2g", ifelse(fit$q[at] < 0.5, "not ", ""), fit$columns[at], fit$weights[at])
}

#' @rdname sasb
#' @param object A fit.
#' @param newdata Rows to predict; see [granary_online_classifier].
#' @param type `"class"`, `"prob"` for the probability of the second class, or `"score"` (`"link"`), \eqn{m + Q - 1}; with voters the share of
#'   their
#'   votes for the second class minus that for the first, and `"prob"` that of the current hypothesis.
#' @export
predict.granary_sasb <- function(object, newdata, type = c("class", "prob", "score", "link"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("class", "prob", "score", "link"))
  if (type == "prob") return(predict_rows(object, newdata, function(x) stats::setNames(count_scores(object, x, "probability"), rownames(x))))
  scores <- predict_rows(object, newdata, function(x) named_scores(object, x))
  if (type == "class") classes_of(scores, object$levels) else scores
}

#' @rdname sasb
#' @export
coef.granary_sasb <- function(object, ...) object$coefficients

#' @rdname sasb
#' @param gap For `summary()`: `c(b0, b1)`, between which a weighted sum of attributes and complements separates the classes, to report the bound on
#'   mistakes; see [sasb_bounds()].
#' @export
summary.granary_sasb <- function(object, gap = NULL, ...) {
  gap <- check_vector(gap, length = 2, lower = 0, upper = 1, allow_null = TRUE)
  out <- NextMethod()
  if (!is.null(gap)) out$facts <- c(out$facts, "bound on mistakes" = format(mistake_bound_sasb(length(object$columns), gap[1L], gap[2L])))
  if (!is.null(object$weights)) {
    at <- utils::head(order(-object$weights), 10L)
    out$attributes <- data.frame(attribute = object$columns[at], weight = unname(object$weights[at]), matches = unname(object$s[at]),
                                 match_rate = unname(object$q[at]), direction = ifelse(object$q[at] >= 0.5, "for", "against"))
  }
  class(out) <- c("summary_granary_sasb", class(out))
  seal(out)
}

#' @export
print.summary_granary_sasb <- function(x, ...) {
  NextMethod()
  if (!is.null(x$attributes)) {
    cli::cat_line()
    cli::cat_line("Attributes with the largest weights:")
    print(x$attributes, digits = 3L, row.names = FALSE)
  }
  invisible(x)
}
