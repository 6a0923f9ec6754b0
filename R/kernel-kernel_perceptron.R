#' Kernel perceptron
#'
#' The perceptron with a kernel: every example on which it errs is stored. Plain, averaged and voted prediction; any number of classes.
#'
#' @details
#' On a mistake (or, with `beta > 0`, a margin of at most `beta`) the example joins the sum
#' \eqn{s(x) = \sum_i \tau_i k(x_i, x)}{s(x) = sum_i tau_i k(x_i, x)}
#' with \eqn{\tau = y}{tau = y} (more than two classes: \eqn{+1} for the right class, \eqn{-1} for the best wrong one). Nothing is removed: this is
#' [budget_perceptron()] without a budget. If the data can be separated with margin \eqn{\gamma}{gamma} by a vector of length 1, at most
#' \eqn{(R / \gamma)^2}{(R / gamma)^2} mistakes are made (Novikoff).
#'
#' The last classifier of a run on noisy data is erratic. `"averaged"` predicts with the average of the classifiers after each trial, `"voted"` by
#' their
#' majority vote, each weighted by the number of trials it lived (Freund and Schapire 1999). Both cost as much as the plain one to learn.
#' Mistakes during learning are those of the plain one.
#'
#' @section Which method when:
#' As a baseline, and for streams where all mistakes may be stored; [budget_perceptron()] when they may not.
#'
#' @inheritParams budget_perceptron
#' @param prediction `"averaged"`, `"voted"` or `"last"`; can be overridden in `predict()`.
#' @return An object of class `granary_kernel_perceptron`, a [granary_online_classifier], with the elements of a [budget_perceptron()].
#' @references
#' Freund and Schapire (1999). Large margin classification using the perceptron algorithm. *Machine Learning* 37, 277--296.
#' @seealso [budget_perceptron()], [budget_path()], [lasvm()], [sasb()], [winnow()], [mistake_driven()]
#' @export
#' @examples
#' set.seed(1)
#' fit <- kernel_perceptron(Species ~ Petal.Length + Petal.Width, iris, shuffle = TRUE, epochs = 2)
#' fit
#' table(predict(fit, iris), iris$Species)
#' mean(predict(fit, iris, prediction = "voted") == iris$Species)
#' head(coef(fit))
kernel_perceptron <- function(x, ...) {
  UseMethod("kernel_perceptron", formula_or_first(x, ...))
}

#' @rdname kernel_perceptron
#' @export
kernel_perceptron.formula <- function(formula, data = NULL, subset, na.action, ...) {
  formula_fit(kernel_perceptron.default, "kernel_perceptron", ...)
}

prediction_modes <- c("averaged", "voted", "last")

#' @rdname kernel_perceptron
#' @export
kernel_perceptron.default <- function(x, y = NULL, prediction = c("averaged", "voted", "last"), beta = 0, kernel = "rbf", gamma = NULL, degree = 3,
                                      coef0 = 0, normalize = FALSE, levels = NULL, epochs = 1, shuffle = FALSE, standardize = TRUE,
                                      na = c("error", "skip"), ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  levels <- online_levels(levels, labels_given(x, y))
  settings <- online_settings(
    na, classes = length(levels), budget = Inf, beta = check_number(beta, lower = 0), removal = "none", order = "largest", update = "perceptron",
    normalize = check_flag(normalize), average = FALSE, mode = check_choice(prediction, prediction_modes),
    kernel = kernel_request(kernel, gamma, degree, coef0), standardize = check_flag(standardize)
  )
  fit <- new_online("kernel_perceptron", settings, list(seed = c(0, 0)), levels, generic_call(call, "kernel_perceptron"))
  learn_online(fit, x, y, check_count(epochs), check_flag(shuffle))
}

#' @export
learn_chunk.granary_kernel_perceptron <- function(fit, x, y, order, id) learn_kernel_chunk(fit, x, y, order, id)

#' @export
online_scores.granary_kernel_perceptron <- function(fit, x) kernel_scores(fit, x, fit$settings$mode)

#' @export
online_finish.granary_kernel_perceptron <- function(fit) expose_cache(fit)

#' @export
online_facts.granary_kernel_perceptron <- function(fit) {
  c(kernel = kernel_words(fit), "margin errors" = format(fit$margin_errors, big.mark = ","), prediction = fit$settings$mode)
}

#' @rdname kernel_perceptron
#' @param object A fit.
#' @param newdata,type As for every [granary_online_classifier].
#' @export
predict.granary_kernel_perceptron <- function(object, newdata, type = c("class", "link"), prediction = NULL, ...) {
  if (!is.null(prediction)) object$settings$mode <- check_choice(prediction, prediction_modes)
  predict.granary_online_classifier(object, newdata, type, ...)
}

#' @rdname kernel_perceptron
#' @export
coef.granary_kernel_perceptron <- function(object, ...) object$coefficients
