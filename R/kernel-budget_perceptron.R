#' Kernel classification on a budget
#'
#' One-pass classification of long streams with few stored examples: a kernel perceptron (or MIRA) that removes examples that have become redundant,
#' or
#' keeps at most `budget` of them. Any number of classes, any kernel.
#'
#' @details
#' The classifier is \eqn{s(x) = \sum_{i \in C} \tau_i k(x_i, x)}{s(x) = sum_{i in C} tau_i k(x_i, x)} over a cache \eqn{C} of examples. The margin
#' of an example
#' is \eqn{y s(x)}{y s(x)} for two classes \eqn{y = \pm 1}{y = +-1}, and \eqn{s_y(x) - \max_{r \neq y} s_r(x)}{s_y(x) - max_{r != y} s_r(x)} for
#' more, with one
#' score per class. There is no bias: add [k_bias()] to the kernel if there should be one. An example whose margin is at most \eqn{\beta}{beta} is
#' inserted. With `update = "perceptron"`, \eqn{\tau = y}{tau = y} (more classes: \eqn{+1} for the right class and \eqn{-1} for the best wrong one).
#' With
#' `"mira"`, the smallest step that gives the example the margin \eqn{\beta}{beta} is taken, at most 1:
#' \eqn{\tau = y \min(1, \max(0, (\beta - y s) / k(x, x)))}{tau = y min(1, max(0, (beta - y s) / k(x, x)))}; for more classes the quadratic program of
#' Crammer and Singer (2003) is solved, with \eqn{\beta}{beta} taken from the right class's score.
#'
#' What is removed, and when:
#' * `"distill"` (the paper's variable-size cache): after each insertion, while there is an older example with a margin of \eqn{\beta}{beta} or more
#'   *without itself*,
#'   \eqn{y_i (w - \tau_i x_i) \cdot x_i \ge \beta}{y_i (w - tau_i x_i).x_i >= beta}, it is removed; the largest first, the oldest first, or at random
#'   (`order`). A finite `budget` is a hard cap besides: then a full cache makes room by `"max_margin"`.
#' * The others remove one example when the cache holds `budget` and another comes: `"max_margin"` (the paper's fixed-size cache) the one with the
#'   largest
#'   margin without itself; `"oldest"`; `"random"`; `"smallest"` the one with the smallest \eqn{\|\tau_i\|^2 k(x_i, x_i)}{|tau_i|^2 k(x_i, x_i)};
#'   `"tightest"` the
#'   one whose removal leaves the fewest margin errors in the cache (Weston, Bordes and Bottou 2005); `"projection"` the one
#'   that is closest to the span of the others, on which it is projected (after Orabona, Keshet and Caputo 2008).
#'
#' Margins of cached examples and their kernel matrix are maintained: a trial costs one kernel row, an insertion or removal a few passes over the
#' cache. `"tightest"` and `"projection"` cost the square of its size per insertion.
#'
#' If a vector of length 1 separates the data with margin \eqn{\gamma}{gamma}, `"distill"` (with an infinite budget and the perceptron step) never
#' holds more
#' than \eqn{(R^2 + 2 \beta) / \gamma^2}{(R^2 + 2 beta) / gamma^2} examples, \eqn{R^2 = \max_t k(x_t, x_t)}{R^2 = max_t k(x_t, x_t)} (Theorem 1 of
#' the paper; the same
#' expression bounds the number of insertions when nothing is removed): see [budget_bounds()].
#'
#' The result depends on the order of the rows, as of any online method; shuffle rows that come sorted.
#'
#' With `average`, predictions use the average of the classifier over time, which is steadier. Where nothing was removed it is the average over all
#' trials; else
#' over those since the \eqn{|C|}-th last change, for which examples removed lately are kept besides the budget.
#'
#' **Which rule?** Removing the example with the largest margin keeps the ones that are hard to fit, and among these every one with a wrong label.
#' Where classes overlap
#' and the budget is much smaller than the number of mistakes, `"projection"`, or `"oldest"` with `average = TRUE`, are often clearly more accurate
#' than the paper's two
#' rules at the same budget; compare them with [online_compare()] or [budget_path()].
#'
#' @section Which method when:
#' `budget_perceptron()` for streams and for tiny models (embedded scoring, drifting data); `update = "mira"` is usually more
#' accurate
#' and less sensitive to noise; [kernel_perceptron()] when all mistakes may be stored; [sasb()] and [winnow()] for 0/1 attributes of which few matter.
#'
#' @param x A numeric matrix or data frame, a sparse matrix of package Matrix, or data in pieces ([data_chunks()]).
#' @param y Labels, two classes or more: a factor, text, logical or whole numbers.
#' @param formula,data,subset,na.action A formula and a data frame with its variables, rows to use, and what to do with missing values, as for
#'   [stats::lm()].
#' @param budget The largest number of examples to hold; `Inf` for no limit.
#' @param beta The margin below which an example is inserted, and (`"distill"`) from which on one is redundant.
#' @param removal Which example to remove; see Details.
#' @param update The step: `"perceptron"` or `"mira"`.
#' @param kernel `"rbf"`, `"linear"`, `"polynomial"`, `"sigmoid"` or `"laplace"` with the next three parameters; or a kernel object such as
#'   [k_matern()], text
#'   such as `"se + bias"`, or a function of two matrices.
#' @param gamma,degree,coef0 Parameters of kernels given by name: \eqn{e^{-\gamma |x - z|^2}}{exp(-gamma |x - z|^2)},
#'   \eqn{(\gamma x'z + c_0)^d}{(gamma x'z + coef0)^degree}, and so on. `gamma = NULL` is one over the number of columns.
#' @param normalize Whether to divide \eqn{k(x, z)} by \eqn{\sqrt{k(x, x) k(z, z)}}{sqrt(k(x, x) k(z, z))}, which tames polynomials of high degree.
#' @param order For `"distill"`: which redundant example goes first.
#' @param average Whether to predict with the average over time. Not with `"projection"`.
#' @param levels The classes, for data in pieces; `NULL` to take them from `y`.
#' @param epochs Number of passes over the data.
#' @param shuffle Whether to visit the rows in random order (of data in pieces, each piece by itself).
#' @param standardize Whether to centre the columns of a dense `x` and to divide them by their standard deviations, those of the rows of this call; of
#'   data in pieces those of the first piece. Later rows and new ones are treated alike. Sparse matrices are left as they are.
#' @param na What to do with rows that have missing values: `"error"`, or `"skip"` them.
#' @param ... Passed from the formula method to the default method.
#' @return An object of class `granary_budget_perceptron`, a [granary_online_classifier], with besides: `cache_index` (numbers of the cached rows in
#'   the
#'   stream), `cache_x`, `coefficients` (a vector for two classes, else a matrix with a column per class), `margin_errors`, `removed`, `largest`
#'   (cache
#'   size), `radius` (\eqn{R}), `kernel`.
#' @references
#' Crammer, Kandola and Singer (2003). Online classification on a budget. *Advances in Neural Information Processing Systems* 16.
#'
#' Crammer and Singer (2003). Ultraconservative online algorithms for multiclass problems. *Journal of Machine Learning Research* 3, 951--991.
#'
#' Weston, Bordes and Bottou (2005). Online (and offline) on an even tighter budget. *AISTATS*, 413--420.
#'
#' Orabona, Keshet and Caputo (2008). The projectron: a bounded kernel-based perceptron. *ICML*, 720--727.
#' @seealso [kernel_perceptron()], [budget_path()], [lasvm()], [sasb()], [winnow()], [mistake_driven()]
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(2000), 1000)
#' y <- factor(ifelse(rowSums(x^2) + rnorm(1000, sd = 0.3) > 1.4, "out", "in"))
#' all <- kernel_perceptron(x, y)
#' few <- budget_perceptron(x, y, budget = 40, update = "mira")
#' online_compare(all, few)
#' few$cache_index
#' mean(predict(few, x) == y)
#' summary(few)
budget_perceptron <- function(x, ...) {
  UseMethod("budget_perceptron", formula_or_first(x, ...))
}

#' @rdname budget_perceptron
#' @export
budget_perceptron.formula <- function(formula, data = NULL, subset, na.action, ...) {
  formula_fit(budget_perceptron.default, "budget_perceptron", ...)
}

removal_rules <- c("distill", "max_margin", "oldest", "random", "smallest", "tightest", "projection")

#' @rdname budget_perceptron
#' @export
budget_perceptron.default <- function(x, y = NULL, budget = Inf, beta = 0.01, removal = c("distill", "max_margin", "oldest", "random", "smallest",
                                                                                          "tightest", "projection"),
                                      update = c("perceptron", "mira"), kernel = "rbf", gamma = NULL, degree = 3, coef0 = 0, normalize = FALSE,
                                      order = c("largest", "oldest", "random"), average = FALSE, levels = NULL, epochs = 1, shuffle = FALSE,
                                      standardize = TRUE, na = c("error", "skip"), ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  removal <- check_choice(removal, removal_rules)
  budget <- check_number(budget, lower = 1, allow_infinite = TRUE)
  if (is.finite(budget)) budget <- as.double(check_count(budget))
  average <- check_flag(average)
  if (average && removal == "projection") {
    abort_input("`average` must be FALSE with `removal = \"projection\"`, which changes old coefficients.", "average")
  }
  levels <- online_levels(levels, labels_given(x, y))
  settings <- online_settings(
    na, classes = length(levels), budget = budget, beta = check_number(beta, lower = 0), removal = removal,
    order = check_choice(order, c("largest", "oldest", "random")), update = check_choice(update, c("perceptron", "mira")),
    normalize = check_flag(normalize), average = average, mode = if (average) "averaged" else "last",
    kernel = kernel_request(kernel, gamma, degree, coef0), standardize = check_flag(standardize)
  )
  fit <- new_online("budget_perceptron", settings, list(seed = core_seed()), levels, generic_call(call, "budget_perceptron"))
  learn_online(fit, x, y, check_count(epochs), check_flag(shuffle))
}

# What the user said of the kernel; which one it is, is known with the number of columns. Mistakes are found at once, with any number of them.
kernel_request <- function(kernel, gamma, degree, coef0) {
  request <- list(kernel = kernel, gamma = gamma, degree = degree, coef0 = coef0)
  if (identical(kernel, "precomputed")) abort_input("`kernel` cannot be \"precomputed\" for data that comes one row at a time.", "kernel")
  if (!inherits(kernel, "granary_kernel")) suppressWarnings(do.call(machine_kernel, c(request, d = 1)))
  request
}

kernel_of <- function(fit, d) {
  if (!is.null(fit$state$kernel)) return(fit$state$kernel)
  do.call(machine_kernel, c(fit$settings$kernel, d = d))
}

# The state is of one kind of points, that of the first piece.
as_state_kind <- function(fit, x) {
  sparse <- fit$state$sparse
  if (is.null(sparse) || sparse == isS4(x)) return(x)
  if (!sparse) return(matrix_from_matrix_package(x, "x", FALSE))
  matrix_from_matrix_package(Matrix::Matrix(x, sparse = TRUE), "x", TRUE)
}

budget_options <- function(fit) fit$settings[c("classes", "budget", "beta", "removal", "order", "update", "normalize", "average")]

learn_kernel_chunk <- function(fit, x, y, order, id) {
  kernel <- kernel_of(fit, ncol(x))
  out <- core_budget_learn(as_state_kind(fit, x), online_piece(y, order, id), kernel, fit$state, budget_options(fit), progress_bar("learning"))
  out$state$kernel <- kernel
  out
}

#' @export
learn_chunk.granary_budget_perceptron <- function(fit, x, y, order, id) learn_kernel_chunk(fit, x, y, order, id)

#' @export
online_scores.granary_budget_perceptron <- function(fit, x) kernel_scores(fit, x, fit$settings$mode)

kernel_scores <- function(fit, x, mode) {
  scores <- core_budget_score(as_state_kind(fit, x), kernel_of(fit, ncol(x)), fit$state, budget_options(fit), mode, progress_bar("predicting"))
  if (ncol(scores) == 1L) scores[, 1L] else scores
}

#' @export
online_finish.granary_budget_perceptron <- function(fit) expose_cache(fit)

# The cache for users: in the order of the stream.
expose_cache <- function(fit) {
  current <- fit$state$current
  if (is.null(current)) return(fit)
  by_id <- order(current$id, current$born)
  fit$cache_index <- current$id[by_id]
  fit$cache_x <- online_unscaled(fit, fit$state$points[by_id, , drop = FALSE])
  colnames(fit$cache_x) <- fit$columns
  coefficients <- t(current$coefficients)[by_id, , drop = FALSE]
  colnames(coefficients) <- if (ncol(coefficients) > 1L) fit$levels
  fit$coefficients <- if (ncol(coefficients) > 1L) coefficients else coefficients[, 1L]
  fit$margin_errors <- fit$state$margin_errors
  fit$removed <- fit$state$removed
  fit$largest <- fit$state$largest
  fit$radius <- sqrt(max(0, fit$state$max_self))
  fit$kernel <- fit$state$kernel
  fit
}

#' @rdname budget_perceptron
#' @param object A fit.
#' @export
coef.granary_budget_perceptron <- function(object, ...) object$coefficients

#' @export
online_facts.granary_budget_perceptron <- function(fit) {
  settings <- fit$settings
  c(kernel = kernel_words(fit), "margin errors" = format(fit$margin_errors, big.mark = ","),
    removed = sprintf("%s (%s%s)", format(fit$removed, big.mark = ","), gsub("_", " ", settings$removal),
                      if (is.finite(settings$budget)) paste0(", budget ", format(settings$budget, big.mark = ",")) else ""),
    "largest cache" = format(fit$largest, big.mark = ","), step = settings$update, beta = format(settings$beta, digits = 4L))
}

# The gamma of exp(-gamma |x - z|^2), for kernels that are that.
gamma_words <- function(kernel) {
  one <- is.null(kernel$children) && identical(kernel$type, "se") && length(kernel$scales) == 1L
  if (one) paste0(", gamma ", format(1 / (2 * kernel$scales^2), digits = 4L)) else ""
}

kernel_words <- function(fit) {
  kernel <- fit$settings$kernel$kernel
  if (!is.null(fit$kernel)) paste0(format(fit$kernel), gamma_words(fit$kernel)) else if (is.character(kernel)) kernel else "a kernel"
}

#' @rdname budget_perceptron
#' @param gamma_margin For `summary()`: a margin \eqn{\gamma}{gamma} by which the data can be separated, to report the bound on the cache; see
#'   [budget_bounds()].
#' @export
summary.granary_budget_perceptron <- function(object, gamma_margin = NULL, ...) {
  gamma_margin <- check_number(gamma_margin, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  out <- NextMethod()
  if (!is.null(gamma_margin) && !is.null(object$radius)) {
    out$facts <- c(out$facts, "bound on the cache" = format(budget_bound(object$radius, gamma_margin, object$settings$beta), digits = 4L))
  }
  seal(out)
}
