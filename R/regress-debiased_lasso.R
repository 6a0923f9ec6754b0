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
#' coefficients cover. It is a guide, not a bound (for that see [bias_bound()]): it cannot know of columns that the lasso missed. Intervals of
#' coefficients that are zero are not at risk.
#'
#' A design matrix that has columns which are copies of each other cannot tell them apart: their rows are infeasible, a warning names them, and
#' says which
#' `mu` would do. Constant columns are left out.
#'
#' **Which method when:** for statements about single coefficients with p comparable to n or larger. With n several times p, `lm()` needs no sparsity.
#' [debiased_baseline()] has the rivals. For prediction use the lasso itself ([lasso_select()]): debiasing adds variance to every coefficient.
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
#' @family regression
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_debiased_lasso(n = 100, p = 150, s0 = 3, b = 1)
#' fit <- debiased_lasso(sim$x, sim$y)
#' fit
#' confint(fit, sim$support)
#' debiased_lasso(mpg ~ ., mtcars)
debiased_lasso <- function(x, ...) {
  UseMethod("debiased_lasso")
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

percent <- function(share) paste(format(100 * share, trim = TRUE, digits = 3L), "%")

#' Methods for debiased lasso fits
#'
#' What can be done with the results of [debiased_lasso()] and [debiased_baseline()].
#'
#' @details
#' `confint()` with `joint = "ellipsoid"` gives the smallest box around the ellipsoid \eqn{(\theta - b)'[\sigma^2 V_{RR}/n]^{-1}(\theta - b) \le
#' \chi^2_{|R|}}{(theta - b)'[sigma^2 V_RR / n]^-1 (theta - b) <= chisq} of the coefficients asked for, and `"bonferroni"` splits the error
#' between them; both hold
#' for all of them at once. `joint_test()` tests a hypothesis about several coefficients, or about linear contrasts of them, by that ellipsoid.
#'
#' @param object,x A fit.
#' @param type For `coef()`: `"debiased"` or `"lasso"`; for `predict()`: the same, where the lasso (the default) predicts better; for `plot()`:
#'   intervals (`"ci"`, active
#'   columns in colour), a normal quantile plot of the estimates over their standard errors (`"qq"`), or the distribution of p-values (`"pvalue"`).
#' @param parm Coefficients, by number or name; `NULL` for all.
#' @param level Confidence level.
#' @param joint See Details.
#' @param newdata Rows to predict for; `NULL` for the data of the fit.
#' @param adjust Adjustment of the p-values for their number, see [stats::p.adjust()].
#' @param n For `plot()`, the number of intervals shown; for `print()` of a summary, of rows.
#' @param data The data frame of the fit; by default the response alone.
#' @param value Hypothetical value of the coefficients or contrasts.
#' @param contrast A matrix with one row per contrast and one column per coefficient of `parm`; `NULL` for the coefficients themselves.
#' @param ... For `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @return `confint()` a matrix, `vcov()` the covariance of the debiased coefficients, `summary()` a table that prints, `joint_test()` an object
#'   of class
#'   `htest`, `tidy()` and `glance()` data frames, `augment()` the data with the fitted values `.fitted` and residuals `.resid` of the lasso.
#' @family regression
#' @name granary_debiased_lasso
#' @importFrom stats confint vcov
#' @examples
#' set.seed(1)
#' sim <- sim_debiased_lasso(n = 100, p = 50, s0 = 3, b = 1)
#' fit <- debiased_lasso(sim$x, sim$y)
#' summary(fit)
#' confint(fit, 1:3, joint = "bonferroni")
#' vcov(fit)[1:2, 1:2]
#' predict(fit, sim$x[1:2, ])
#' joint_test(fit, sim$support)
#' tidy(fit)[1:3, ]
#' plot(fit)
NULL

#' @rdname granary_debiased_lasso
#' @export
coef.granary_debiased_lasso <- function(object, type = c("debiased", "lasso"), ...) {
  refuse_dots(...)
  if (check_choice(type, c("debiased", "lasso")) == "lasso") c("(Intercept)" = object$intercept, object$lasso) else object$coefficients
}

#' @rdname granary_debiased_lasso
#' @export
vcov.granary_debiased_lasso <- function(object, ...) {
  refuse_dots(...)
  if (is.null(object$rows)) abort_input(paste0("The ", object$label, " has no covariance matrix of its coefficients."), "object")
  scale <- object$scale[names(object$coefficients)]
  v <- object$sigma^2 * crossprod(object$rows) / nrow(object$rows)^2 / outer(scale, scale)
  dimnames(v) <- list(names(object$coefficients), names(object$coefficients))
  v
}

#' @rdname granary_debiased_lasso
#' @export
confint.granary_debiased_lasso <- function(object, parm = NULL, level = 1 - object$alpha, joint = c("none", "ellipsoid", "bonferroni"), ...) {
  refuse_dots(...)
  joint <- check_choice(joint, c("none", "ellipsoid", "bonferroni"))
  at <- check_which(parm, names(object$coefficients))
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  if (anyNA(object$se)) abort_input(paste0("The ", object$label, " gives p-values, not intervals."), "object")
  width <- switch(joint, none = stats::qnorm((1 + level) / 2), ellipsoid = sqrt(stats::qchisq(level, length(at))),
                  bonferroni = stats::qnorm(1 - (1 - level) / (2 * length(at))))
  if (!is.null(object$delta)) width <- width + (object$delta / object$se)[at]
  out <- cbind(object$coefficients[at] - width * object$se[at], object$coefficients[at] + width * object$se[at])
  dimnames(out) <- list(names(object$coefficients)[at], percent(c((1 - level) / 2, (1 + level) / 2)))
  out
}

#' @rdname granary_debiased_lasso
#' @export
joint_test <- function(object, parm = NULL, value = 0, contrast = NULL) {
  if (!inherits(object, "granary_debiased_lasso")) fail_input("object", "a fit by debiased_lasso() or debiased_baseline()", describe(object))
  at <- check_which(parm, names(object$coefficients))
  contrast <- check_matrix(contrast, allow_null = TRUE)
  if (is.null(contrast)) contrast <- diag(length(at))
  if (ncol(contrast) != length(at)) abort_input(sprintf("`contrast` must have %d columns, one for each coefficient, but it has %d.", length(at),
                                                        ncol(contrast)), "contrast")
  value <- check_vector(value)
  if (!length(value) %in% c(1L, nrow(contrast))) abort_input(sprintf("`value` must have length 1 or %d.", nrow(contrast)), "value")
  estimate <- drop(contrast %*% object$coefficients[at])
  v <- contrast %*% vcov(object)[at, at, drop = FALSE] %*% t(contrast)
  statistic <- core_wald_statistic(unname(estimate - value), unname(v))
  if (is.nan(statistic)) {
    abort_input(sprintf(paste("The covariance of these %d estimates is singular: there are more of them than rows of data can tell apart,",
                              "or contrasts repeat each other."),
                        length(estimate)), "parm")
  }
  structure(list(statistic = c("chi-squared" = statistic), parameter = c(df = length(estimate)),
                 p.value = stats::pchisq(statistic, length(estimate), lower.tail = FALSE), estimate = estimate, stderr = sqrt(diag(v)),
                 method = "Joint test by the debiased lasso", data.name = paste(length(at), "coefficients")), class = "htest")
}

#' @rdname granary_debiased_lasso
#' @export
predict.granary_debiased_lasso <- function(object, newdata = NULL, type = c("lasso", "debiased"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("lasso", "debiased"))
  x <- if (is.null(newdata)) object$x else new_design(newdata, names(object$lasso), object$design, allow_sparse = FALSE)
  b <- object$lasso
  if (type == "debiased") b[names(object$coefficients)] <- object$coefficients
  intercept <- object$intercept
  if (type == "debiased" && intercept != 0) intercept <- mean(object$y - drop(object$x %*% b))
  linear_prediction(x, b, intercept)
}

#' @rdname granary_debiased_lasso
#' @export
residuals.granary_debiased_lasso <- function(object, ...) object$y - predict(object)

#' @rdname granary_debiased_lasso
#' @export
augment.granary_debiased_lasso <- function(x, data = NULL, ...) augment_rows(data, x$y, predict(x))

#' @rdname granary_debiased_lasso
#' @export
sigma.granary_debiased_lasso <- function(object, ...) object$sigma

#' @rdname granary_debiased_lasso
#' @export
tidy.granary_debiased_lasso <- function(x, level = 1 - x$alpha, ...) {
  refuse_dots(...)
  ci <- if (anyNA(x$se)) matrix(NA_real_, length(x$coefficients), 2L) else confint(x, level = level)
  data.frame(term = names(x$coefficients), estimate = unname(x$coefficients), std.error = unname(x$se), statistic = unname(x$coefficients / x$se),
             p.value = unname(x$pvalue), conf.low = ci[, 1L], conf.high = ci[, 2L], lasso = unname(x$lasso[names(x$coefficients)]), row.names = NULL)
}

#' @rdname granary_debiased_lasso
#' @export
glance.granary_debiased_lasso <- function(x, ...) {
  refuse_dots(...)
  data.frame(sigma = x$sigma, lambda = x$lambda, df = sum(x$lasso != 0), rejected = sum(x$p_adj <= x$alpha),
             coherence = if (is.null(x$coherence)) NA_real_ else x$coherence, coverage = selected_coverage(x), nobs = nrow(x$x), p = ncol(x$x))
}

#' @rdname granary_debiased_lasso
#' @export
print.granary_debiased_lasso <- function(x, ...) {
  cli::cat_line("granary: ", x$label, ", n = ", nrow(x$x), ", p = ", ncol(x$x), ", ", length(x$coefficients), " coefficients")
  print_call(x$call)
  cli::cat_line("sigma = ", format(x$sigma, digits = 4L), if (x$sigma_estimated) " (estimated)", ", lambda = ", format(x$lambda, digits = 4L),
                ", lasso selects ",
                sum(x$lasso != 0), " columns")
  found <- sum(x$p_adj <= x$alpha)
  cli::cat_line(found, if (found == 1L) " coefficient differs" else " coefficients differ", " from zero at familywise level ", format(x$alpha))
  guess <- selected_coverage(x)
  if (!is.na(guess)) cli::cat_line("intervals of selected coefficients: about ", format(100 * guess, digits = 2L), "% coverage to be expected")
  if (any(x$feasible %in% FALSE)) cli::cat_line("infeasible rows: ", list_some(names(x$feasible)[!x$feasible]))
  best <- utils::head(order(x$pvalue), max(5L, min(found, 20L)))
  table <- tidy(x)[best, c("term", "estimate", "std.error", "p.value", "conf.low", "conf.high", "lasso")]
  print(table, digits = 3L, row.names = FALSE)
  cli::cat_line("Next: summary(), confint(), plot(), joint_test()")
  invisible(x)
}

#' @rdname granary_debiased_lasso
#' @export
summary.granary_debiased_lasso <- function(object, adjust = "bonferroni", n = 20, ...) {
  adjust <- check_choice(adjust, stats::p.adjust.methods)
  table <- cbind(Estimate = object$coefficients, `Std. Error` = object$se, `z value` = object$coefficients / object$se, `Pr(>|z|)` = object$pvalue)
  size <- max(length(object$coefficients), if (adjust %in% c("bonferroni", "holm")) ncol(object$x))
  structure(list(call = object$call, label = object$label, coefficients = table, adjusted = stats::p.adjust(object$pvalue, adjust, size),
                 adjust = adjust,
                 sigma = object$sigma, n = check_count(n), alpha = object$alpha, rows = nrow(object$x)), class = "summary_granary_debiased_lasso")
}

#' @export
print.summary_granary_debiased_lasso <- function(x, ...) {
  cli::cat_line("granary: ", x$label)
  print_call(x$call)
  order <- utils::head(order(x$coefficients[, 4L]), x$n)
  stats::printCoefmat(x$coefficients[order, , drop = FALSE], P.values = TRUE, has.Pvalue = TRUE, na.print = "")
  if (length(order) < nrow(x$coefficients)) cli::cat_line("... and ", nrow(x$coefficients) - length(order), " more, with larger p-values")
  cli::cat_line("Noise level ", format(x$sigma, digits = 4L), " from ", x$rows, " rows; ", sum(x$adjusted <= x$alpha), " p-values below ",
                format(x$alpha),
                " after adjustment (", x$adjust, ")")
  invisible(x)
}

#' @rdname granary_debiased_lasso
#' @export
plot.granary_debiased_lasso <- function(x, type = c("ci", "qq", "pvalue"), n = 50, ...) {
  type <- check_choice(type, c("ci", "qq", "pvalue"))
  n <- check_count(n)
  if (type == "pvalue") {
    draw(graphics::plot, sort(x$pvalue), seq_along(x$pvalue) / length(x$pvalue), type = "s", xlim = c(0, 1), ylim = c(0, 1), xlab = "p-value",
         ylab = "share of coefficients below", user = list(...))
    graphics::abline(0, 1, lty = 3)
    return(invisible())
  }
  if (anyNA(x$se)) abort_input(paste0("The ", x$label, " gives p-values only: use type = \"pvalue\"."), "type")
  if (type == "qq") {
    z <- x$coefficients / x$se
    draw(graphics::plot, stats::qnorm(stats::ppoints(length(z))), sort(z), xlab = "normal quantile", ylab = "estimate / standard error", pch = 19,
         user = list(...))
    graphics::abline(0, 1, lty = 3)
    return(invisible())
  }
  shown <- debiased_shown(x, n)
  colour <- ifelse(shown$active, "#b2182b", "grey50")
  at <- seq_len(nrow(shown))
  draw(graphics::plot, shown$estimate, at, xlim = range(shown$low, shown$high, 0), pch = 19, col = colour, yaxt = "n", ylab = "",
       xlab = "coefficient",
       user = list(...))
  graphics::segments(shown$low, at, shown$high, at, col = colour)
  graphics::abline(v = 0, lty = 3)
  graphics::axis(2L, at, shown$term, las = 1L, cex.axis = 0.6, tick = FALSE)
  invisible()
}

# The n most significant intervals, in the order of the estimates.
debiased_shown <- function(x, n) {
  ci <- confint(x)
  keep <- utils::head(order(x$pvalue), n)
  keep <- keep[order(x$coefficients[keep])]
  data.frame(term = names(x$coefficients)[keep], estimate = unname(x$coefficients[keep]), low = ci[keep, 1L], high = ci[keep, 2L],
             active = unname(x$p_adj[keep] <= x$alpha))
}

#' @rdname granary_debiased_lasso
#' @usage \method{autoplot}{granary_debiased_lasso}(object, n = 50, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_debiased_lasso <- function(object, n = 50, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  shown <- debiased_shown(object, check_count(n))
  shown$term <- factor(shown$term, shown$term)
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$estimate, y = .data$term, colour = .data$active)) + ggplot2::geom_vline(xintercept = 0,
                                                                                                                        linetype = 3) +
    ggplot2::geom_segment(ggplot2::aes(x = .data$low, xend = .data$high, yend = .data$term), show.legend = FALSE) +
    ggplot2::geom_point(show.legend = FALSE) + ggplot2::scale_colour_manual(values = c(`FALSE` = "grey50", `TRUE` = "#b2182b")) +
    ggplot2::labs(x = "coefficient", y = NULL)
}
