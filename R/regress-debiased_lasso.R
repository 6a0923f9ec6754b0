#' Debiased lasso: confidence intervals and p-values when p is large
#'
#' The table that `summary(lm())` gives, for regressions with as many columns as rows or more: an estimate, standard error, interval and p-value
#' for each
#' coefficient.
#'
#' @details
#' The lasso \eqn{\hat\theta}{theta} is biased towards zero. With \eqn{S = X'X/n} and \eqn{M} from [decorrelate()], the estimate
#' \deqn{\hat\theta^u = \hat\theta + \frac{1}{n} M X'(y - X\hat\theta)}{theta_u = theta + (1/n) M X'(y - X theta)}
#' is, up to a bias of smaller order when few coefficients matter (\eqn{s_0 \ll \sqrt{n}/\log p}{s0 << sqrt(n) / log p}), normal about the truth with
#' covariance \eqn{\sigma^2 M S M'/n}{sigma^2 M S M' / n}. Nothing is assumed of the inverse covariance of the columns.
#' Steps: the noise level by [scaled_lasso()] with penalty `lambda0` (unless `sigma` is given); the lasso at `lambda`, in the units of [lasso()]
#' on scaled columns;
#' the rows of \eqn{M}, of which only \eqn{Xm} is kept.
#'
#' Defaults are `lambda0` \eqn{= \sqrt{2 \log p/n}}{= sqrt(2 log p / n)}, `lambda` \eqn{= \frac12 \hat\sigma \sqrt{2 \log p/n}}{= sigma sqrt(2
#' log p / n) / 2}
#' and `mu` \eqn{= \sqrt{\log p/n}}{= sqrt(log p / n)}. What bias remains is proportional to the error of the lasso. With twice that `lambda` the
#' 95 percent
#' intervals of active coefficients covered 92 percent of the time in the paper's simulation (1000 rows, 600 columns, ten active), with this one 94,
#' at the same length. `preset = "paper"` takes the constants that the paper prints (10 times `lambda0`, \eqn{4 \hat\sigma \sqrt{2 \log p/n}}{4 sigma
#' sqrt(2 log p / n)}, twice `mu`, and the identity for infeasible rows); they do not give the paper's own tables, see
#' `errata("jmlr15-debiased-lasso")`.
#'
#' **How far to trust the intervals.** The bias is of smaller order only when \eqn{s_0 \log p / \sqrt{n}}{s0 log p / sqrt(n)} is small, with
#' \eqn{s_0}{s0} the number of coefficients that matter. Otherwise the intervals of coefficients that are not zero are too short, for two reasons.
#' What is left of the bias is \eqn{(MS - I)(\theta_0 - \hat\theta)}{(M S - I)(theta0 - theta)}, mostly `mu` times the shrinkage of the coefficient
#' itself. And its lasso estimate has noise too: together the error is that of least squares, while the standard error is smaller by
#' \eqn{(MS)_{ii} \approx 1 - \mu}{(M S)_ii, about 1 - mu}. With `lambda` for the shrinkage and random signs both can be guessed: the fit has them
#' in `bias` (in standard errors) and `coverage`, prints the mean coverage to be expected for selected coefficients, and warns where they miss
#' more than four times as often as they should. With 40 rows and \eqn{10^5}{1e5} columns, say, `mu` is 0.54, and few intervals of active
#' coefficients cover. It is a guide, not a bound (for that see [debiased_lasso_bounds()]): it cannot know of columns that the lasso missed. Intervals of
#' coefficients that are zero are not at risk.
#'
#' A design matrix that has columns which are copies of each other cannot tell them apart: their rows are infeasible, a warning names them, and
#' says which
#' `mu` would do. Constant columns are left out.
#'
#' @section Which method when:
#' For statements about single coefficients with p comparable to n or larger. With n several times p, `lm()` needs no sparsity.
#' [debiased_lasso_baseline()] has the rivals. For prediction use the lasso itself ([lasso_select()]): debiasing adds variance to every coefficient.
#'
#' @inheritParams decorrelate
#' @param x A numeric matrix or data frame, one row per observation; or a formula.
#' @param y Response, one number per row.
#' @param formula,data,weights,subset,na.action,offset A formula and the data frame with its variables, as for [stats::lm()]; what a method cannot use
#'   is refused.
#' @param which Columns to debias, by number or name; `NULL` for all. The work grows with their number.
#' @param lambda Penalty of the lasso on scaled columns; `NULL` for the default.
#' @param sigma Standard deviation of the errors; `NULL` to estimate it.
#' @param lambda0 Penalty of the scaled lasso that estimates it.
#' @param m The matrix \eqn{M} on the scale of standardised columns, if it is known: one row per entry of `which`; or a result of [decorrelate()]
#'   on the same
#'   `x`.
#' @param preset `"default"`, or `"paper"` for the constants that the paper prints.
#' @param alpha One minus the confidence level of the intervals in the result.
#' @param ... Passed from the formula method to the default method.
#' @return An object of class `granary_debiased_lasso`: `coefficients` (debiased), `lasso`, `intercept`, `se`, `pvalue`, `p_adj` (Bonferroni with
#'   the number
#'   of columns, so that rejecting where it is below `alpha` controls the familywise error), `ci`, `sigma`, `lambda`, `mu`, `feasible`,
#'   `coherence`, `bias` and `coverage` (see Details), `rows` (\eqn{X m}),
#'   and `table` of the rows, see [decorrelate()]. See [granary_debiased_lasso] for what can be done with it.
#' @references
#' Javanmard and Montanari (2014). Confidence intervals and hypothesis testing for high-dimensional regression. *Journal of Machine Learning
#' Research* 15, 2869--2909.
#' @seealso [lasso()], [lasso_select()], [scaled_lasso()], [debiased_lasso_baseline()], [gen_lasso()], [adapt_partition()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_debiased_lasso(n = 100, p = 150, s0 = 3, b = 1)
#' fit <- debiased_lasso(sim$x, sim$y)
#' fit
#' confint(fit, sim$support)
#' debiased_lasso(mpg ~ ., mtcars)
debiased_lasso <- function(x, ...) {
  UseMethod("debiased_lasso", formula_or_first(x, ...))
}

#' @rdname debiased_lasso
#' @export
debiased_lasso.formula <- function(formula, data = NULL, weights, subset, na.action, offset, ...) {
  formula_fit(debiased_lasso.default, "debiased_lasso", takes = "intercept", ...)
}

#' @rdname debiased_lasso
#' @export
debiased_lasso.default <- function(x, y, which = NULL, lambda = NULL, sigma = NULL, lambda0 = NULL, mu = NULL,
                                   mu_rule = c("scaled", "search", "min"), noise = c("gaussian", "robust"), beta = 0.3, m = NULL,
                                   preset = c("default", "paper"), infeasible = c("raise_mu", "identity", "error"), standardize = TRUE,
                                   intercept = TRUE, alpha = 0.05, threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  mu_rule <- check_choice(mu_rule, c("scaled", "search", "min"))
  noise <- check_choice(noise, c("gaussian", "robust"))
  preset <- check_choice(preset, c("default", "paper"))
  infeasible <- check_choice(infeasible, c("raise_mu", "identity", "error"))
  alpha <- check_number(alpha, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  mu <- check_number(mu, lower = 0, allow_null = TRUE)
  data <- debiased_data(x, y, which)
  data <- c(data, known_rows(m, data, standardize, intercept))
  options <- c(debiased_levels(lambda, sigma, lambda0, intercept, standardize, alpha), list(
    preset = preset, mu = mu, mu_rule = mu_rule, noise = noise, beta = check_number(beta, lower = 0.25, upper = 0.5, strict_lower = TRUE,
                                                                                   strict_upper = TRUE),
    infeasible = infeasible, threads = thread_count(threads)
  ))
  if (is.null(m)) slow_rows(data, "debiased_lasso()")
  out <- core_debiased_lasso(data, options, progress_bar("debiased lasso"))
  fit <- debiased_object(out, data, alpha, generic_call(call, "debiased_lasso"), "debiased lasso")
  warn_debiased(fit, out, if (preset == "paper") "identity" else infeasible)
}

# x, y and the columns asked for, as core_debiased_lasso() takes them.
debiased_data <- function(x, y, which) {
  x <- check_design(x, "x", allow_sparse = FALSE, min_rows = 3L)
  y <- check_response(y, nrow(x), arg = "y")$y
  list(x = x, y = y, which = if (!is.null(which)) check_which(which, colnames(x)))
}

debiased_levels <- function(lambda, sigma, lambda0, intercept, standardize, alpha) {
  list(lambda = check_number(lambda, lower = 0, allow_null = TRUE), sigma = check_number(sigma, lower = 0, strict_lower = TRUE, allow_null = TRUE),
       lambda0 = check_number(lambda0, lower = 0, strict_lower = TRUE, allow_null = TRUE), intercept = check_flag(intercept),
       standardize = check_flag(standardize), alpha = alpha)
}

# `m` as rows X m of the columns asked for, or as a matrix.
# A row costs a few dozen products with the design.
slow_rows <- function(data, what) {
  rows <- if (is.null(data$which)) ncol(data$x) else length(data$which)
  slow_work(2 * rows * as.double(length(data$x)), what, "fewer columns in `which`, or more threads")
}

known_rows <- function(m, data, standardize = TRUE, intercept = TRUE) {
  if (is.null(m)) return(NULL)
  if (!inherits(m, "granary_decorrelate")) return(list(m = check_matrix(m, "m")))
  asked <- if (is.null(data$which)) rownames(m$table) else colnames(data$x)[data$which]
  at <- match(asked, rownames(m$table))
  whole <- !is.null(data$which) || setequal(asked, names(m$scale))
  if (nrow(m$rows) != nrow(data$x) || anyNA(at) || !whole || !identical(m$standardize, standardize) || !identical(m$intercept, intercept)) {
    abort_input("`m` was not made from the rows and columns of `x` that are asked for.", "m")
  }
  list(rows = unname(m$rows[, at, drop = FALSE]))
}

warn_debiased <- function(fit, out, infeasible) {
  dropped <- setdiff(colnames(fit$full), names(fit$lasso))
  fit$full <- NULL
  if (length(dropped) > 0L) {
    warn_input(paste0(counted(length(dropped), "column is", "columns are"), " constant and left out: ", list_some(dropped), "."), "x")
  }
  check_convergence(list(convergence = out$noise), "The noise level may be off: give `sigma`, or another `lambda0`.")
  check_convergence(list(convergence = out$lasso_convergence), "Give a larger `lambda`.")
  if (!is.null(fit$table)) warn_rows(fit$table, infeasible)
  warn_coverage(fit)
  fit
}

# Over the coefficients that the lasso selects: theirs are the intervals at risk.
selected_coverage <- function(fit) {
  if (is.null(fit$coverage)) return(NA_real_)
  selected <- fit$lasso[names(fit$coefficients)] != 0
  if (any(selected)) mean(fit$coverage[selected]) else NA_real_
}

warn_coverage <- function(fit) {
  found <- sum(fit$p_adj <= fit$alpha)
  if (all(fit$lasso == 0) && found > 0L && !is.null(fit$coverage)) {
    warn_input(sprintf(paste0("The lasso selects no column, yet %s from zero: either the penalty hides what is there, and the bias with it,\n",
                              "or the noise level is off. The stated coverage does not hold then. Use a smaller `lambda`, or give `sigma`."),
                       counted(found, "coefficient differs", "coefficients differ")), "lambda")
  }
  guess <- selected_coverage(fit)
  if (is.na(guess) || 1 - guess <= 4 * fit$alpha) return(invisible())
  selected <- sum(fit$lasso != 0)
  warn_input(sprintf(paste0("The intervals of coefficients that matter are too short: ",
                            "by a rough guess they cover %.0f%% of the time at best, not %g%%.\n",
                            "The theory wants s0 log(p) / sqrt(n) to be small, but with the %s that the lasso selects it is %.1f.\n",
                            "Use more rows or fewer columns; where the rows allow it, a smaller `mu` trades the bias for wider intervals."),
                     100 * guess, 100 * (1 - fit$alpha), counted(selected, "column", "columns"),
                     selected * log(ncol(fit$x)) / sqrt(nrow(fit$x))), "x")
}

debiased_object <- function(out, data, alpha, call, label) {
  kept <- colnames(data$x)[out$keep]
  names <- kept[out$which]
  named <- function(value) if (length(value) > 0L) stats::setNames(as.vector(value), names)
  table <- if (length(out$rows$table$mu) > 0L) rows_table(out$rows$table, names)
  rows <- if (!is.null(table)) `colnames<-`(out$rows$rows, names)
  out$se[is.nan(out$se)] <- NA
  lasso <- stats::setNames(out$lasso, kept)
  z <- stats::qnorm(1 - alpha / 2)
  width <- z * out$se + if (length(out$delta) > 0L) out$delta else 0
  ci <- cbind(out$coefficients - width, out$coefficients + width)
  dimnames(ci) <- list(names, percent(c(alpha / 2, 1 - alpha / 2)))
  new_fit("debiased_lasso", coefficients = named(out$coefficients), lasso = lasso,
          intercept = out$mean_y - sum(out$center * lasso), se = named(out$se),
          pvalue = named(out$p_value), p_adj = named(pmin(1, out$p_value * length(kept))), ci = ci, sigma = out$sigma, lambda = out$lambda,
          mu = if (!is.null(table)) named(table$mu), feasible = if (!is.null(table)) named(table$feasible),
          coherence = if (!is.null(table)) max(table$coherence), rows = rows, table = table, scale = stats::setNames(out$scale, kept), alpha = alpha,
          label = label, sigma_estimated = out$sigma_estimated, bias = named(out$bias), coverage = named(out$coverage), delta = named(out$delta),
          x = data$x[, out$keep, drop = FALSE], y = data$y, full = data$x[0L, , drop = FALSE], call = call, convergence = out$rows$convergence)
}
