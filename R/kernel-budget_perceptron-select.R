#' Which budget?
#'
#' `budget_path()` runs [budget_perceptron()] with several budgets over several random orders of the rows. The share of online mistakes, which costs
#' nothing,
#' tracks the error on new rows, so the budget can be chosen by it. `budget_bounds("cache")` is the bound of the paper's Theorem 1 on the size
#' of a distilled cache, `budget_bounds("margin")` finds the two numbers of the data that it needs.
#'
#' @details
#' If some \eqn{u} of length 1 has \eqn{y_t u \cdot \phi(x_t) \ge \gamma > 0}{y_t u.phi(x_t) >= gamma > 0} for all \eqn{t}, and
#' \eqn{R = \max_t \|\phi(x_t)\|}{R = max_t |phi(x_t)|}, then the distilled cache of the aggressive perceptron holds at most
#' \deqn{(R^2 + 2\beta) / \gamma^2}{(R^2 + 2 beta) / gamma^2}
#' examples. Without removals the same expression bounds the number of insertions, and with \eqn{\beta = 0}{beta = 0} it is Novikoff's bound on
#' mistakes.
#'
#' `what = "margin"` computes \eqn{R} and the largest such \eqn{\gamma}{gamma} (the margin of the hard-margin support vector machine without bias) by
#' shrinking the smallest vector in the convex hull of the \eqn{y_i \phi(x_i)}{y_i phi(x_i)}. Its length is an upper bound, and the margin it
#' attains a lower bound: both are returned, and `gamma` is the lower one. It is `NA` when the data cannot be separated (with a margin above `tol`
#' times \eqn{R}).
#'
#' @section Which method when:
#' `budget_path()` where several budgets can be run; `budget_bounds("cache")` where a limit must be promised before there are data. Without a limit of
#' memory [svm()] or [lasvm()] are more accurate.
#'
#' @inheritParams budget_perceptron
#' @param x A numeric matrix or data frame (or, for the margin, also a sparse matrix); for the methods, a path.
#' @param y Labels.
#' @param budgets Budgets to try; `Inf` may be among them.
#' @param n_rep Number of random orders.
#' @param newdata,newy Further rows with labels, to report the error on; or `NULL`.
#' @param ... For `budget_path()`, passed on to [budget_perceptron()]; for `plot()`, to [graphics::plot()].
#' @param R,gamma Largest length and margin.
#' @param beta The margin parameter of [budget_perceptron()].
#' @param kernel,degree,coef0 As in [budget_perceptron()].
#' @param kernel_gamma The `gamma` of [budget_perceptron()].
#' @param tol Accuracy of the margin, relative to \eqn{R}.
#' @param max_iter Largest number of steps.
#' @return `budget_path()`: a data frame of class `granary_budget_path` with one row per budget: mean share of online mistakes and its standard
#'   error over the orders, mean number of examples held, and mean error on `newdata`. Its attribute `best` is the budget with the fewest online
#'   mistakes.
#'   `budget_bounds()`: a number for `"cache"`, for `"margin"` a list with `R`, `gamma`, `upper` and `convergence`.
#' @references
#' Crammer, Kandola and Singer (2003). Online classification on a budget. *Advances in Neural Information Processing Systems* 16.
#' @seealso [budget_perceptron()], [kernel_perceptron()], [lasvm()], [sasb()], [winnow()], [mistake_driven()]
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(600), 300)
#' y <- ifelse(rowSums(x^2) + rnorm(300, sd = 0.3) > 1.4, 1, 0)
#' path <- budget_path(x, y, c(5, 20, 80), n_rep = 3, removal = "max_margin")
#' path
#' plot(path)
#'
#' budget_bounds("cache", R = 1, gamma = 0.1, beta = 0.01)
#' data <- budget_bounds("margin", iris[1:100, 1:4], iris$Species[1:100], kernel = "linear")
#' budget_bounds("cache", data$R, data$gamma)
budget_path <- function(x, y, budgets, n_rep = 5, removal = "max_margin", newdata = NULL, newy = NULL, ...) {
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  x <- check_matrix(x, allow_sparse = TRUE)
  levels <- online_levels(NULL, y)
  check_label_count(y, nrow(x))
  budgets <- check_budgets(budgets)
  n_rep <- check_count(n_rep, upper = 1e5)
  removal <- check_choice(removal, removal_rules)
  if (is.null(newdata) != is.null(newy)) abort_input("`newdata` and `newy` must be given both or not at all.", "newy")
  if (!is.null(newdata)) {
    newdata <- check_matrix(newdata, allow_sparse = TRUE)
    check_label_count(newy, nrow(newdata))
  }
  dots <- list(...)
  if (any(c("budget", "shuffle", "levels") %in% names(dots))) abort_input("budget_path() sets `budget`, `shuffle` and `levels` itself.")
  tasks <- expand.grid(budget = budgets, permutation = seq_len(n_rep))
  orders <- lapply(seq_len(n_rep), function(k) sample.int(nrow(x)))
  labels <- plain_labels(y, "y")
  one <- function(task) {
    rows <- orders[[tasks$permutation[task]]]
    fit <- budget_perceptron.default(x[rows, , drop = FALSE], labels[rows], budget = tasks$budget[task], removal = removal, levels = levels, ...)
    test <- if (is.null(newdata)) NA_real_ else mean(as.character(predict(fit, newdata)) != words_of(newy, fit$levels))
    c(fit$mistakes / fit$trials, fit$support, test)
  }
  values <- do.call(rbind, resample_lapply(as.list(seq_len(nrow(tasks))), one, "budgets"))
  by_budget <- function(column, fun) vapply(budgets, function(b) fun(values[tasks$budget == b, column]), 0)
  error <- by_budget(1L, mean)
  path <- data.frame(budget = budgets, online_error = error, standard_error = by_budget(1L, function(v) stats::sd(v) / sqrt(length(v))),
                     size = by_budget(2L, mean), new_error = by_budget(3L, mean))
  structure(path, class = c("granary_budget_path", "data.frame"), best = budgets[which.min(error)], n_rep = n_rep, removal = removal)
}

check_budgets <- function(budgets) {
  if (missing(budgets)) fail_missing("budgets")
  plain <- is_plain_numeric(budgets) && is.null(dim(budgets)) && length(budgets) > 0L && !anyNA(budgets)
  if (!plain || any(budgets < 1) || any(budgets[is.finite(budgets)] %% 1 != 0)) {
    fail_input("budgets", "whole numbers of at least 1, or Inf", if (plain) "others" else describe(budgets))
  }
  sort(unique(as.double(budgets)))
}

#' @export
print.granary_budget_path <- function(x, ...) {
  if (!is.null(attr(x, "best")) && "online_error" %in% names(x)) {
    cli::cat_line("granary: budgets over ", counted(attr(x, "n_rep"), "order", "orders"),
                  " of the rows (", gsub("_", " ", attr(x, "removal")), ")")
    shown <- as.data.frame(x)[c("budget", "online_error", "standard_error", "size", if (!all(is.na(x$new_error))) "new_error")]
    print(shown, digits = 3L, row.names = FALSE)
    cli::cat_line("Fewest online mistakes: budget ", format(attr(x, "best")))
    return(invisible(x))
  }
  NextMethod()
}

#' @rdname budget_path
#' @export
plot.granary_budget_path <- function(x, ...) {
  finite <- is.finite(x$budget)
  at <- ifelse(finite, x$budget, x$size)
  top <- max(x$online_error + ifelse(is.na(x$standard_error), 0, x$standard_error), x$new_error, na.rm = TRUE)
  draw(graphics::plot, at, x$online_error, type = "b", pch = ifelse(finite, 19, 17), log = "x", ylim = c(0, top), las = 1, xlab = "budget",
       ylab = "share of mistakes", user = list(...))
  graphics::segments(at, x$online_error - x$standard_error, at, x$online_error + x$standard_error)
  if (!all(is.na(x$new_error))) {
    graphics::lines(at, x$new_error, type = "b", col = "#2166ac", lty = 2)
    graphics::legend("topright", c("online", "new rows"), col = c("black", "#2166ac"), lty = 1:2, bty = "n")
  }
  invisible()
}

#' @rdname budget_path
#' @export
budget_bounds <- function(what = c("cache", "margin"), ...) by_what(what, list(cache = budget_bound, margin = kernel_margin), ...)

budget_bound <- function(R, gamma, beta = 0.01) {  # nolint: object_name_linter.
  R <- check_number(R, lower = 0, upper = 1e150)  # nolint: object_name_linter.
  if (length(gamma) == 1L && is.na(gamma) && !is.nan(gamma)) return(NA_real_)
  gamma <- check_number(gamma, lower = 0, strict_lower = TRUE)
  beta <- check_number(beta, lower = 0)
  (R^2 + 2 * beta) / gamma^2
}

kernel_margin <- function(x, y, kernel = "rbf", kernel_gamma = NULL, degree = 3, coef0 = 0, tol = 1e-4, max_iter = 1e6) {
  x <- check_matrix(x, allow_sparse = TRUE)
  y <- if (missing(y)) fail_missing("y") else y
  check_label_count(y, nrow(x))
  codes <- label_codes(y, online_levels(NULL, if (is.factor(y)) droplevels(y) else y, 2))
  if (anyNA(codes)) abort_input("`y` must have no missing labels.", "y")
  kernel <- machine_kernel(kernel, ncol(x), kernel_gamma, degree, coef0)
  if (is.null(kernel)) abort_input("`kernel` cannot be \"precomputed\" here: give the data.", "kernel")
  tol <- check_number(tol, lower = 1e-10, upper = 0.1)
  max_iter <- check_number(max_iter, lower = 1, upper = 2e9)
  found <- core_hard_margin(list(x = x, kernel = kernel), c(-1, 1)[codes], list(tol = tol, max_iter = max_iter), progress_bar("margin"))
  separable <- found$lower > tol * found$radius
  list(R = found$radius, gamma = if (separable) found$lower else NA_real_, upper = found$upper, convergence = found$convergence)
}
