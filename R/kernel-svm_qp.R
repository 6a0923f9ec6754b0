# The quadratic program of the working set paper as it is written there, for studies of small problems: min 1/2 a'Qa + p'a, y'a = d, 0 <= a <= C.
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
