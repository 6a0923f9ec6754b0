# What a fit of debiased_lasso() can do.

percent <- function(share) paste(format(100 * share, trim = TRUE, digits = 3L), "%")

#' Methods for debiased lasso fits
#'
#' What can be done with the results of [debiased_lasso()] and [debiased_lasso_baseline()].
#'
#' @details
#' `confint()` with `joint = "ellipsoid"` gives the smallest box around the ellipsoid \eqn{(\theta - b)'[\sigma^2 V_{RR}/n]^{-1}(\theta - b) \le
#' \chi^2_{|R|}}{(theta - b)'[sigma^2 V_RR / n]^-1 (theta - b) <= chisq} of the coefficients asked for, and `"bonferroni"` splits the error
#' between them; both hold
#' for all of them at once. `anova()` tests a hypothesis about several coefficients, or about linear contrasts of them, by that ellipsoid (Wald's test).
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
#' @return `confint()` a matrix, `vcov()` the covariance of the debiased coefficients, `summary()` a table that prints, `anova()` a table with one row:
#'   statistic, degrees of freedom, p-value, with the estimates of the contrasts as its attribute `estimate`, `tidy()` and `glance()` data
#'   frames, `augment()` the data with the fitted values `.fitted` and residuals `.resid` of the lasso.
#' @seealso [debiased_lasso()], [lasso()], [lasso_select()], [scaled_lasso()], [debiased_lasso_baseline()], [gen_lasso()]
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
#' anova(fit, parm = sim$support)
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
#' @importFrom stats anova
#' @export
anova.granary_debiased_lasso <- function(object, ..., parm = NULL, value = 0, contrast = NULL) {
  refuse_dots(...)
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
  df <- length(estimate)
  table <- data.frame(df = df, statistic = statistic, p.value = stats::pchisq(statistic, df, lower.tail = FALSE), row.names = "Wald test")
  labels <- if (df == length(at)) names(object$coefficients)[at] else paste("contrast", seq_len(df))
  attr(table, "estimate") <- data.frame(estimate = estimate, std.error = sqrt(diag(v)), row.names = make.unique(labels))
  structure(table, heading = sprintf("Joint test of %s by the %s\n", counted(df, "hypothesis", "hypotheses"), object$label), class = c("anova", "data.frame"))
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
  cli::cat_line("Next: summary(), confint(), anova(), plot()")
  invisible(x)
}

#' @rdname granary_debiased_lasso
#' @export
summary.granary_debiased_lasso <- function(object, adjust = "bonferroni", n = 20, ...) {
  adjust <- check_choice(adjust, stats::p.adjust.methods)
  table <- cbind(Estimate = object$coefficients, `Std. Error` = object$se, `z value` = object$coefficients / object$se, `Pr(>|z|)` = object$pvalue)
  size <- max(length(object$coefficients), if (adjust %in% c("bonferroni", "holm")) ncol(object$x))
  seal(structure(list(call = object$call, label = object$label, coefficients = table, adjusted = stats::p.adjust(object$pvalue, adjust, size),
                 adjust = adjust,
                 sigma = object$sigma, n = check_count(n), alpha = object$alpha, rows = nrow(object$x)), class = "summary_granary_debiased_lasso"))
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
