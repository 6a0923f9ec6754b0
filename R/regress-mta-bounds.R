# Calculators of the paper on multi-task averaging.

#' Risk and weights of linear estimates of many means
#'
#' `"risk"`: the expected total squared error of \eqn{W \bar y}{W ybar} when the true means are known, as in a simulation or for planning. `"weights"`: the
#' matrix \eqn{W} itself.
#'
#' @details
#' \deqn{R = \mathrm{tr}(W \Sigma W') + \|(I - W) \mu\|^2}{R = tr(W Sigma W') + |(I - W) mu|^2}
#' For two tasks at distance \eqn{\Delta}{D} and similarity \eqn{a} the estimates beat the sample means as long as \eqn{\Delta^2 < 4/a + s_1
#' + s_2}{D^2 < 4/a + s_1 + s_2} (`break_even`, the largest such distance), and the best similarity is \eqn{a = 2 / \Delta^2}{a = 2 / D^2} whatever
#' \eqn{s}. For more tasks and equal \eqn{s_t} the best constant similarity is the inverse variance of the true means (`best_a`).
#'
#' \eqn{W = (I + \Gamma L(A))^{-1}}{W = (I + Gamma L(A))^-1} turns sample means into estimates: its rows are non-negative and sum to one. Many linear
#' estimators have this form. For instance \eqn{(1/g) I + 1 \alpha'}{(1/g) I + 1 alpha'} with \eqn{\sum \alpha = 1 - 1/g}{sum(alpha) = 1 -
#' 1/g} is the one with \eqn{\Gamma = g I}{Gamma = g I} and the asymmetric \eqn{A = 1 \alpha'}{A = 1 alpha'} (Proposition 4), which covers shrinkage
#' towards the pooled mean and towards the average of the means.
#'
#' @section Which method when:
#' `"risk"` before sampling, to see what can be gained; `"weights"` to see who lends to whom. [mta_compare()] estimates the risk from data.
#'
#' @param what Which calculator.
#' @param ... Its arguments.
#'
#'   `"risk"`: `mu`, the true means; `s`, the variances of the sample means, one number or one per task; and one of `W`, a T x T matrix or a fit of [mta()],
#'   `a`, a constant similarity of all tasks with `gamma = 1` (`NULL`, the default, for the best), and `oracle = TRUE` for the pairwise similarities
#'   \eqn{2 / (\mu_r - \mu_s)^2}{2 / (mu_r - mu_s)^2} of the true means.
#'
#'   `"weights"`: `x`, a fit of [mta()], or a matrix `A` of non-negative similarities, which here need not be symmetric; `Gamma` (1), the diagonal of
#'   \eqn{\Gamma}{Gamma}: one number, or one per task; for a multi-task average \eqn{\gamma s_t / T}{gamma s_t / T}. Not used for a fit.
#' @return `"risk"` a list of class `granary_mta_risk`: `risk`, `mse` (by task), `single` (the risk of the sample means), `change` (per cent), `a`,
#'   `best_a`, and `break_even` for two tasks; `"weights"` a T x T matrix.
#' @references
#' Feldman, Gupta and Frigyik (2014). Revisiting Stein's paradox: multi-task averaging. *Journal of Machine Learning Research* 15, 3441--3482.
#' @seealso [mta()]
#' @seealso [mta_compare()], [lasso()], [lasso_select()], [gen_lasso()], [debiased_lasso()]
#' @export
#' @examples
#' # two tasks at distance 1, 20 samples of variance 1 each
#' mta_bounds("risk", mu = c(0, 1), s = 1 / 20, a = 1)
#' mta_bounds("risk", mu = c(0, 1, 3), s = c(0.1, 0.2, 0.5), oracle = TRUE)
#' mta_bounds("weights", matrix(1, 3, 3), Gamma = c(0.1, 0.2, 0))
#' mta_bounds("weights", mta(c(1, 2, 2, 4, 6, 7), c(1, 1, 2, 2, 3, 3)))
mta_bounds <- function(what = c("risk", "weights"), ...) by_what(what, list(risk = mta_risk, weights = mta_weights), ...)

mta_risk <- function(mu, s, W = NULL, a = NULL, oracle = FALSE) {  # nolint: object_name_linter.
  mu <- check_vector(mu, lower = -1e150, upper = 1e150)
  s <- check_vector(s, lower = 0, upper = 1e300)
  oracle <- check_flag(oracle)
  a <- check_number(a, lower = 0, allow_null = TRUE)
  count <- length(mu)
  if (length(s) == 1L) s <- rep(s, count)
  if (length(s) != count) fail_input("s", sprintf("one number or one per task (%d)", count), paste("of length", length(s)))
  if ((!is.null(W)) + (!is.null(a)) + oracle > 1L) abort_input("Give one of `W`, `a` and `oracle`.", "W")
  best <- if (count > 1L) 1 / stats::var(unname(mu)) else 0
  if (!is.null(W) || oracle) {
    if (inherits(W, "granary_mta")) W <- mta_weights(W)  # nolint: object_name_linter.
    if (oracle) W <- core_mta_pairwise_weights(mu, s, 1, progress_bar("weights"))  # nolint: object_name_linter.
    W <- check_matrix(W, "W")  # nolint: object_name_linter.
    if (nrow(W) != count || ncol(W) != count) abort_input(sprintf("`W` must be a %d x %d matrix, but it is %d x %d.", count, count, nrow(W),
                                                                  ncol(W)), "W")
    mse <- core_linear_risk(mu, s, W)
  } else {
    if (is.null(a)) a <- best
    mse <- core_common_risk(mu, s, 1 / a)
  }
  seal(structure(
    list(risk = sum(mse), mse = stats::setNames(mse, names(mu)), single = sum(s), change = if (sum(s) > 0) 100 * (sum(mse) / sum(s) - 1) else 0,
         a = a, best_a = best,
         break_even = if (count == 2L && !is.null(a)) sqrt(4 / a + sum(s))),
    class = "granary_mta_risk"
  ))
}

#' @export
print.granary_mta_risk <- function(x, ...) {
  short <- function(value) format(value, digits = 4L)
  cli::cat_line("Risk ", short(x$risk), " against ", short(x$single), " of the sample means (", sprintf("%+.1f%%", x$change), ")")
  cli::cat_line(if (!is.null(x$a)) paste0("similarity a = ", short(x$a), "; "), "best constant similarity ", short(x$best_a))
  if (!is.null(x$break_even)) cli::cat_line("better than the sample means while the true ones are closer than ", short(x$break_even))
  invisible(x)
}

mta_weights <- function(x, Gamma = 1) {  # nolint: object_name_linter.
  if (missing(x)) fail_missing("x")
  if (inherits(x, "granary_mta")) {
    if (is.matrix(x$estimate)) abort_input("`x` must be a fit of scalar means: the weights of mean vectors are matrices for each pair of tasks.", "x")
    if (!is.null(x$W)) return(x$W)
    if (startsWith(x$method, "james_stein")) return(stein_weights(x$shrinkage, x$towards, names(x$estimate)))
    W <- mta_matrix(x$method, x$A, x$mean, x$var_mean, x$gamma, x$tau2)  # nolint: object_name_linter.
    dimnames(W) <- list(names(x$estimate), names(x$estimate))
    return(W)
  }
  A <- check_matrix(x, "x", max_abs = 1e200)  # nolint: object_name_linter.
  if (nrow(A) != ncol(A)) abort_input(sprintf("`x` must be a square matrix of similarities, but it is %d x %d.", nrow(A), ncol(A)), "x")
  if (any(A < 0)) abort_input("`x` must not have negative entries.", "x")
  Gamma <- check_vector(Gamma, "Gamma", lower = 0, upper = 1e100)  # nolint: object_name_linter.
  if (!length(Gamma) %in% c(1L, nrow(A))) fail_input("Gamma", sprintf("one number or one per task (%d)", nrow(A)), paste("of length", length(Gamma)))
  # core_mta_weights() has gamma s / T on the diagonal.
  W <- core_mta_weights(A, rep_len(unname(Gamma), nrow(A)), nrow(A), progress_bar("weights"))  # nolint: object_name_linter.
  labels <- if (is.null(rownames(A))) colnames(A) else rownames(A)
  dimnames(W) <- if (!is.null(labels)) list(labels, labels)
  W
}
