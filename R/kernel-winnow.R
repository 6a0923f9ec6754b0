#' Winnow
#'
#' Online classification with 0/1 attributes when few of very many attributes matter: a linear threshold whose weights are multiplied on mistakes.
#' The number
#' of mistakes grows with the logarithm of the number of attributes only.
#'
#' @details
#' The prediction is the second class iff \eqn{\sum_i w_i x_i > \theta}{sum_i w_i x_i > theta}, all weights being 1 at the start. After a mistake the
#' weights of the attributes that are 1 are multiplied by \eqn{\alpha}{alpha} (`promotion`) if the class was the second, and divided by it if it
#' was the first (Winnow2). With `balanced`, every attribute \eqn{x_i} also has its complement \eqn{1 - x_i}, with a weight
#' of its own, so that attributes that speak against the second class can be used.
#'
#' For a target that is a threshold of \eqn{k} of \eqn{n} attributes the number of mistakes is \eqn{O(k \log n)}{O(k log n)} for suitable
#' \eqn{\alpha}{alpha} and \eqn{\theta}{theta}. For a disjunction of \eqn{k} attributes it is at most
#' \eqn{\alpha k (\log_\alpha \theta + 1) + n / \theta}{alpha k (log_alpha theta + 1) + n / theta}.
#'
#' A missing attribute is inactive in its trial.
#'
#' @section Which method when:
#' `winnow()` for disjunctions and thresholds of few attributes, when its two parameters can be set; [sasb()] for the same
#' without parameters; [weighted_majority()] when single attributes predict; [perceptron()] when many attributes matter a little;
#' [kernel_perceptron()] and [budget_perceptron()] for boundaries that are not linear.
#'
#' @param x A matrix or data frame of 0/1 (or logical) attributes, a sparse matrix of package Matrix, or data in pieces ([data_chunks()]).
#' @param y Labels: a factor with two levels, logical, 0/1 or text.
#' @param formula,data,subset,na.action A formula and a data frame with its variables, rows to use, and what to do with missing values, as for
#'   [stats::lm()].
#' @param promotion The factor \eqn{\alpha > 1}{alpha > 1}.
#' @param threshold \eqn{\theta}{theta}; `NULL` for half the number of attributes, complements counted.
#' @param balanced Whether to add complements.
#' @param levels The two classes, for data in pieces; `NULL` to take them from `y`.
#' @param binarize How to make columns 0/1: `NULL` if they are; `"zero"` or a number (one, or one per column) for "greater than"; `"median"` to cut
#'   at the
#'   medians of the first piece.
#' @param epochs Number of passes over the data.
#' @param shuffle Whether to visit the rows in random order.
#' @param na What to do with a row whose label is missing: `"error"`, or `"skip"` it.
#' @param ... Passed from the formula method to the default method.
#' @return An object of class `granary_winnow`, a [granary_online_classifier]; `coef()` gives the weights.
#' @references
#' Littlestone (1988). Learning quickly when irrelevant attributes abound: a new linear-threshold algorithm. *Machine Learning* 2, 285--318.
#' @seealso [sasb()], [weighted_majority()], [lasvm()], [budget_perceptron()], [kernel_perceptron()], [mistake_driven()]
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(500 * 200, 1, 0.3), 500)
#' y <- as.integer(x[, 3] | x[, 17] | x[, 90])
#' fit <- winnow(x, y)
#' fit
#' head(sort(coef(fit), decreasing = TRUE), 4)
#' winnow(x, y, balanced = TRUE)$mistakes
winnow <- function(x, ...) {
  UseMethod("winnow", formula_or_first(x, ...))
}

#' @rdname winnow
#' @export
winnow.formula <- function(formula, data = NULL, subset, na.action, ...) {
  formula_fit(winnow.default, "winnow", ...)
}

#' @rdname winnow
#' @export
winnow.default <- function(x, y = NULL, promotion = 2, threshold = NULL, balanced = FALSE, levels = NULL, binarize = NULL, epochs = 1,
                           shuffle = FALSE, na = c("error", "skip"), ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  settings <- online_settings(
    na, allow_na = TRUE, promotion = check_number(promotion, lower = 1, upper = 1e6, strict_lower = TRUE),
    threshold = check_number(threshold, lower = 0, allow_null = TRUE), balanced = check_flag(balanced), binarize = check_binarize(binarize)
  )
  fit <- new_online("winnow", settings, list(), online_levels(levels, labels_given(x, y), 2), generic_call(call, "winnow"))
  learn_online(fit, x, y, check_count(epochs), check_flag(shuffle))
}

# The labels, where they are in memory: what data in pieces has as `y` is the name of a column.
labels_given <- function(x, y) if (is_chunk_source(x)) NULL else if (is.null(y)) fail_missing("y") else y

#' @export
learn_chunk.granary_winnow <- function(fit, x, y, order, id) {
  prepared <- binary_inputs(fit, x)
  out <- core_winnow_learn(prepared$x, online_piece(y, order, id), begun(fit$state, "exponent"), winnow_options(fit, x), progress_bar("learning"))
  out$state$cut <- prepared$cut
  out
}

#' @export
online_scores.granary_winnow <- function(fit, x) {
  core_winnow_score(binary_inputs(fit, x)$x, begun(fit$state, "exponent"), winnow_options(fit, x))
}

winnow_options <- function(fit, x) {
  settings <- fit$settings
  threshold <- settings$threshold
  if (is.null(threshold)) threshold <- ncol(x) * (if (settings$balanced) 1 else 0.5)
  list(promotion = settings$promotion, threshold = threshold, balanced = settings$balanced)
}

#' @export
online_facts.granary_winnow <- function(fit) {
  threshold <- fit$settings$threshold
  c(promotion = format(fit$settings$promotion), threshold = if (is.null(threshold)) "half the attributes" else format(threshold),
    complements = if (fit$settings$balanced) "yes" else "no")
}

#' @rdname winnow
#' @param object A fit.
#' @importFrom stats coef
#' @export
coef.granary_winnow <- function(object, ...) {
  power <- function(e) if (length(e) > 0L) stats::setNames(object$settings$promotion^e, object$columns)
  weights <- power(object$state$exponent)
  if (!object$settings$balanced) return(weights)
  complements <- power(object$state$complement)
  c(weights, if (length(complements) > 0L) stats::setNames(complements, paste0("not ", names(complements))))
}

# Attributes as 0/1
# ------------------------------------------------------------------------------------------------------------------------------------

check_binarize <- function(binarize) {
  if (is.null(binarize)) return(NULL)
  if (is.character(binarize)) {
    binarize <- check_choice(binarize, c("zero", "median"))
    return(if (binarize == "zero") 0 else binarize)
  }
  unname(check_vector(binarize, "binarize"))
}

# The inputs cut at the thresholds of the fit: list(x, cut). Those of "median" come from the first piece.
binary_inputs <- function(fit, x) {
  cut <- fit$state$cut
  if (is.null(cut)) cut <- fit$settings$binarize
  if (is.null(cut)) return(list(x = x, cut = NULL))
  if (identical(cut, "median")) cut <- unname(apply(x, 2L, stats::median, na.rm = TRUE))
  cut[is.na(cut)] <- 0  # a column without any value
  if (length(cut) != 1L && length(cut) != ncol(x)) {
    abort_input(sprintf("`binarize` must have one threshold, or one per column (%d), but it has %d.", ncol(x), length(cut)), "binarize")
  }
  if (isS4(x) && all(cut >= 0)) {
    x@x <- as.double(x@x > rep_len(cut, ncol(x))[rep(seq_len(ncol(x)), diff(x@p))])
    return(list(x = x, cut = cut))
  }
  labels <- dimnames(x)
  x <- as.matrix(x)
  list(x = matrix(as.double(x > rep(rep_len(cut, ncol(x)), each = nrow(x))), nrow(x), ncol(x), dimnames = labels), cut = cut)
}
