#' The quadratic program of support vector machines
#'
#' Solves the program behind [svm()] for any symmetric matrix, linear term, box and sum, for machines of one's own.
#'
#' @details
#' \deqn{\min_a \tfrac12 a'Qa + p'a, \quad y'a = d, \quad 0 \le a_t \le C_t, \quad Q_{ts} = y_t y_s K_{ts}}{
#' min 1/2 a'Qa + p'a, y'a = d, 0 <= a_t <= C_t, Q_ts = y_t y_s K_ts} by steps in two variables, see [svm()]. `gap` bounds what is missing to the
#' optimum where `K` is positive semidefinite; `violation` is \eqn{m(a) - M(a)} of the paper.
#'
#' **Which method when:** [svm()] for data; `svm_qp()` where the program is one's own, such as a hard margin (`C = Inf`), ranks, or another loss.
#'
#' @param K A symmetric matrix.
#' @param y Signs, -1 or 1, one per row.
#' @param p The linear term: one number, or one per row.
#' @param C Upper bounds: one number, or one per row. `Inf` is allowed.
#' @param d The value of \eqn{y'a}.
#' @param start Coefficients to start from; those outside their box are moved in, and the sum is put right.
#' @inheritParams svm
#' @return A list of class `granary_svm_qp`: `alpha`, `gradient`, `b` (the multiplier, so that the decision is
#'   \eqn{\sum_t y_t a_t K_t + b}{sum y_t a_t K_t + b}
#'   for `p = -1`), `objective`, `violation`, `n_iter`, `n_kernel`, `ratio`, `identified`, `trace`, `convergence`.
#' @references
#' Fan, Chen and Lin (2005). Working set selection using second order information for training support vector machines. *Journal of Machine
#' Learning Research* 6, 1889--1918.
#' @family kernel machines
#' @export
#' @examples
#' x <- rbind(c(0, 0), c(1, 1), c(1, 0), c(0, 1))
#' fit <- svm_qp(kernel_matrix(k_rbf(1), x), c(1, 1, -1, -1), C = 10, tol = 1e-8)
#' fit$alpha  # 1 / (1 - exp(-1))^2
svm_qp <- function(K, y, p = -1, C = 1, d = 0, tol = 1e-3, wss = c("wss3", "wss1", "wss2_feasible", "full", "wss2"), shrink = TRUE,  # nolint
                   cache_mb = 100, max_iter = 1e7, trace = FALSE, start = NULL) {
  call <- match.call()
  K <- check_symmetric(K)  # nolint: object_name_linter.
  n <- nrow(K)
  y <- check_vector(y, length = n)
  if (!all(y %in% c(-1, 1))) abort_input("`y` must be signs, -1 or 1.", "y")
  p <- rep_len(check_vector(p, length = if (length(p) == 1L) 1L else n), n)
  upper <- if (is.numeric(C) && all(C == Inf, na.rm = TRUE) && length(C) == 1L) {
    rep(Inf, n)
  } else {
    rep_len(check_vector(C, length = if (length(C) == 1L) 1L else n, lower = 0), n)
  }
  d <- check_number(d)
  start <- if (is.null(start)) numeric(n) else unname(check_vector(start, length = n))
  settings <- svm_settings(tol, wss, shrink, cache_mb, max_iter, trace, n)
  sheet <- list(linear = -y * p, lower = ifelse(y > 0, 0, -upper), upper = ifelse(y > 0, upper, 0), start = y * start)
  solved <- core_svm_qp(K, sheet, d, settings, progress_bar("quadratic program"))
  found <- list(beta = solved$beta[[1L]], f = solved$f, multiplier = solved$multiplier, identified = solved$identified[[1L]], solver = solved)
  fit <- new_fit(
    "svm_qp", alpha = stats::setNames(y * found$beta, rownames(K)), gradient = y * found$f + p, b = found$multiplier,
    objective = found$solver$objective, violation = found$solver$violation, n_iter = found$solver$iterations, n_kernel = found$solver$kernel_values,
    ratio = found$solver$ratio, identified = found$identified, trace = if (settings$trace) found$solver$trace, call = shorten_call(call),
    convergence = found$solver$convergence
  )
  check_convergence(fit, "Raise `max_iter` or loosen `tol`. With an infinite `C` the program may have no optimum.")
}
