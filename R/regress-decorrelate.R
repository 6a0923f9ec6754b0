#' Rows that undo the correlation of a design
#'
#' The matrix \eqn{M} that the debiased lasso puts in place of the inverse covariance of the columns: one convex problem per column.
#'
#' @details
#' With \eqn{S = X'X/n}{S = X'X/n}, row \eqn{m} for column \eqn{i} minimises \eqn{m'Sm} subject to \eqn{\|S m - e_i\|_\infty \le \mu}{|S m -
#' e_i|_inf <= mu}
#' (Javanmard and Montanari, equation 4). It is found through its dual, \eqn{\min_v v'Sv/2 - v_i + \mu\|v\|_1}{min_v v'Sv/2 - v_i + mu |v|_1} with
#' \eqn{m = v}, by the coordinate descent that also serves [lasso()].
#' For \eqn{\mu \ge \rho/(1+\rho)}{mu >= rho/(1 + rho)}, \eqn{\rho = \max_{j \ne i} |S_{ij}|/S_{ii}}{rho = max_j |S_ij| / S_ii}, the answer is a
#' multiple of
#' \eqn{e_i} (column `shortcut`). `noise = "robust"` adds \eqn{\|Xm\|_\infty \le n^\beta}{|X m|_inf <= n^beta}, for errors that are not Gaussian.
#'
#' A row exists when \eqn{\mu}{mu} is at least \eqn{\mu_{min,i} = \max\{\nu_i : X\nu = 0, \|\nu\|_1 \le 1\}}{mu_min,i = max(nu_i : X nu = 0,
#' |nu|_1 <= 1)},
#' which is 0 when \eqn{S} is nonsingular and 1/2 for a column that occurs twice. Where a row has no solution, `infeasible` says what happens:
#' `"raise_mu"` takes the smallest `mu` that works, plus a tenth, with a warning that names the columns; `"identity"` takes \eqn{e_i}, as the
#' paper does;
#' `"error"` stops.
#'
#' Rules for `mu`: `"scaled"` is \eqn{\sqrt{\log p / n}}{sqrt(log p / n)} (the paper prints twice that); `"search"` is the rule of the authors'
#' code, from a normal
#' quantile down by factors of 1.5 while 50 sweeps suffice; `"min"` is 1.05 times \eqn{\mu_{min}}{mu_min}.
#'
#' @section Which method when:
#' [debiased_lasso()] calls this; call it yourself to use one \eqn{M} for many responses (argument `m` there), or to see how well a design can be
#' decorrelated at all.
#'
#' @param x A numeric matrix or data frame.
#' @param mu Bound on \eqn{|S m - e_i|}{|S m - e_i|}, with columns scaled so that \eqn{S_{jj} = 1}{S_jj = 1} if `standardize`; `NULL` to use
#'   `mu_rule`.
#' @param which Columns to make rows for, by number or name; `NULL` for all.
#' @param mu_rule See Details.
#' @param noise `"gaussian"` or `"robust"`.
#' @param beta Exponent of the bound of the robust version, between 1/4 and 1/2.
#' @param infeasible See Details.
#' @param intercept,standardize Whether to centre the columns, and to scale them to \eqn{S_{jj} = 1}{S_jj = 1}.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @return An object of class `granary_decorrelate`: `m` (a sparse matrix, one row per column asked for; `NULL` for the robust version, where
#'   only \eqn{Xm} is
#'   found), `rows` (\eqn{X m}, one column each), `table` with `mu`, `feasible` (at the `mu` asked for), `mu_min` where it was computed, `variance`
#'   \eqn{m'Sm}, its lower bound `floor` \eqn{(1 - \mu)^2/S_{ii}}{(1 - mu)^2 / S_ii}, `coherence` \eqn{|Sm - e_i|_\infty}{|S m - e_i|_inf} and
#'   `largest`
#'   \eqn{|Xm|_\infty}{|X m|_inf}; `scale`, by which columns were divided.
#' @references
#' Javanmard and Montanari (2014). Confidence intervals and hypothesis testing for high-dimensional regression. *Journal of Machine Learning
#' Research* 15, 2869--2909.
#' @seealso [lasso()], [lasso_select()], [scaled_lasso()], [debiased_lasso()], [debiased_lasso_baseline()], [gen_lasso()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_debiased_lasso(n = 60, p = 100, s0 = 3, b = 1)
#' rows <- decorrelate(sim$x, which = 1:5, mu = 0.2)
#' rows
#' debiased_lasso_bounds("coherence", x = sim$x, m = rows)
decorrelate <- function(x, mu = NULL, which = NULL, mu_rule = c("scaled", "search", "min"), noise = c("gaussian", "robust"), beta = 0.3,
                        infeasible = c("raise_mu", "identity", "error"), intercept = TRUE, standardize = TRUE, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  x <- check_design(x, allow_sparse = FALSE, min_rows = 3L)
  noise <- check_choice(noise, c("gaussian", "robust"))
  infeasible <- check_choice(infeasible, c("raise_mu", "identity", "error"))
  options <- list(
    mu = check_number(mu, lower = 0, allow_null = TRUE), mu_rule = check_choice(mu_rule, c("scaled", "search", "min")), noise = noise,
    beta = check_number(beta, lower = 0.25, upper = 0.5, strict_lower = TRUE, strict_upper = TRUE), infeasible = infeasible, keep_m = TRUE,
    intercept = check_flag(intercept), standardize = check_flag(standardize), threads = thread_count(threads)
  )
  data <- list(x = x, which = if (!is.null(which)) check_which(which, colnames(x)))
  slow_rows(data, "decorrelate()")
  out <- core_decorrelate(data, options, progress_bar("decorrelating rows"))
  kept <- colnames(x)[out$keep]
  if (length(kept) < ncol(x)) {
    dropped <- colnames(x)[-out$keep]
    warn_input(paste0(counted(length(dropped), "column is", "columns are"), " constant and left out: ", list_some(dropped), "."), "x")
  }
  names <- kept[out$which]
  table <- rows_table(out$table, names)
  warn_rows(table, infeasible)
  m <- if (noise != "robust") Matrix::t(out$m)
  if (!is.null(m)) dimnames(m) <- list(names, kept)
  colnames(out$rows) <- names
  new_fit("decorrelate", m = m, rows = out$rows, table = table, scale = stats::setNames(out$scale, kept), center = out$center, n = nrow(x),
          intercept = intercept, standardize = standardize, call = shorten_call(call), convergence = out$convergence)
}

rows_table <- function(table, names) {
  table <- data.frame(table, row.names = names)
  table$mu_min[is.nan(table$mu_min)] <- NA
  table
}

list_some <- function(names, most = 5L) {
  paste0(paste0("\"", utils::head(names, most), "\"", collapse = ", "), if (length(names) > most) paste0(" and ", length(names) - most, " more"))
}

# Columns by number or name, as positions.
check_which <- function(which, names) {
  if (is.null(which)) return(seq_along(names))
  if (is.character(which)) {
    at <- match(which, names)
    if (anyNA(at) || length(at) == 0L) {
      abort_input(paste0("`which` must name columns of the design that vary, but ", list_some(which[is.na(at)]), " is not among them."), "which")
    }
    return(at)
  }
  which <- check_vector(which, "which")
  if (any(which != round(which)) || any(which < 1) || any(which > length(names)) || anyDuplicated(which) > 0L) {
    abort_input(sprintf("`which` must hold different column numbers between 1 and %d, or names.", length(names)), "which")
  }
  as.integer(which)
}

warn_rows <- function(table, infeasible) {
  bad <- base::which(!table$feasible)
  if (length(bad) > 0L) {
    most <- bad[which.max(table$mu_min[bad])]
    what <- if (infeasible == "identity") "The identity is used for them" else "A larger mu is used for them"
    warn_input(sprintf(paste0("No row satisfies the constraint for %s: %s.\n",
                              "mu would have to be at least %s for \"%s\". %s; their intervals are wide or biased."),
                       counted(length(bad), "column", "columns"), list_some(rownames(table)[bad]), format(table$mu_min[most], digits = 3L),
                       rownames(table)[most], what), "mu")
  }
  slow <- base::which(table$feasible & !table$converged)
  if (length(slow) > 0L) {
    warn_convergence(paste0("The row of ", list_some(rownames(table)[slow]), " was not solved to tolerance. Use a larger `mu`."))
  }
}

#' @rdname decorrelate
#' @export
tidy.granary_decorrelate <- function(x, ...) data.frame(term = rownames(x$table), x$table, row.names = NULL)

#' @rdname decorrelate
#' @param ... Not used.
#' @export
print.granary_decorrelate <- function(x, ...) {
  refuse_dots(...)
  cli::cat_line("granary: decorrelated rows for ", nrow(x$table), " columns, n = ", x$n)
  print_call(x$call)
  cli::cat_line("coherence |MS - I|: ", format(max(x$table$coherence), digits = 3L), "; mu: ",
                paste(unique(format(range(x$table$mu), digits = 3L)), collapse = " to "), "; ", sum(x$table$shortcut),
                " rows are multiples of unit vectors")
  if (any(!x$table$feasible)) cli::cat_line("infeasible at the mu asked for: ", list_some(rownames(x$table)[!x$table$feasible]))
  print(utils::head(x$table[c("mu", "variance", "floor", "coherence", "largest")]), digits = 3L)
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname decorrelate
#' @export
as.matrix.granary_decorrelate <- function(x, ...) {
  if (is.null(x$m)) abort_input("The robust version finds Xm, not m: there is no matrix.", "x")
  as.matrix(x$m)
}

#' @rdname decorrelate
#' @export
plot.granary_decorrelate <- function(x, ...) {
  order <- order(x$table$variance)
  variance <- x$table$variance[order]
  floor <- x$table$floor[order]
  draw(graphics::plot, variance, ylim = range(variance, floor), xlab = "columns, in order", ylab = "variance factor m'Sm", pch = 19, las = 1,
       user = list(...))
  graphics::lines(floor, type = "s", lty = 3)  # the lower bound (1 - mu)^2 / S_ii
  invisible()
}
