#' Rivals of the debiased lasso
#'
#' Other ways to p-values for single coefficients with many columns, in the same form as [debiased_lasso()].
#'
#' @details
#' * `"nodewise"`: the debiased lasso with \eqn{M} from one lasso of each column on all others (van de Geer and others), penalty `lambda_nodes`.
#' * `"ridge"`: ridge regression with penalty \eqn{1/n}, corrected for the part of the bias that its projection causes, with a bound `delta` for
#'   the rest (Buehlmann).
#'   Intervals and p-values allow for the bound.
#' * `"split"`: multiple sample splitting (Meinshausen, Meier and Buehlmann): a lasso on one half selects, least squares on the other half tests,
#'   over `splits` random
#'   halves; p-values only, already adjusted for the familywise error.
#' * `"ols"`: least squares, when there are fewer columns than rows, with normal quantiles.
#'
#' @section Which method when:
#' `"ols"` whenever n is well above p; `"nodewise"` if the inverse covariance of the columns is sparse; `"ridge"` and
#' `"split"` are
#' conservative: they seldom reject wrongly, and often fail to reject.
#'
#' @inheritParams debiased_lasso
#' @param x A numeric matrix or data frame.
#' @param method See Details.
#' @param lambda_nodes Penalty of the regressions of `"nodewise"`, on scaled columns; `NULL` for \eqn{\sqrt{\log p / n}}{sqrt(log p / n)}.
#' @param splits Number of random halves for `"split"`.
#' @return An object of class `granary_debiased_lasso`, see [granary_debiased_lasso]; for `"split"` without standard errors.
#' @references
#' van de Geer, Buehlmann, Ritov and Dezeure (2014). On asymptotically optimal confidence regions and tests for high-dimensional models. *Annals of
#' Statistics* 42, 1166--1202.
#'
#' Buehlmann (2013). Statistical significance in high-dimensional linear models. *Bernoulli* 19, 1212--1242.
#'
#' Meinshausen, Meier and Buehlmann (2009). p-values for high-dimensional regression. *Journal of the American Statistical Association* 104,
#' 1671--1681.
#' @seealso [lasso()], [lasso_select()], [scaled_lasso()], [debiased_lasso()], [gen_lasso()], [adapt_partition()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_debiased_lasso(n = 80, p = 100, s0 = 3, b = 1)
#' debiased_lasso_baseline(sim$x, sim$y, "nodewise")
#' debiased_lasso_baseline(sim$x, sim$y, "split", splits = 5)
debiased_lasso_baseline <- function(x, ...) UseMethod("debiased_lasso_baseline", formula_or_first(x, ...))

#' @rdname debiased_lasso_baseline
#' @param formula,data,weights,subset,na.action,offset As in [debiased_lasso()].
#' @param ... Passed from the formula method to the default method.
#' @export
debiased_lasso_baseline.formula <- function(formula, data = NULL, weights, subset, na.action, offset, ...) {
  formula_fit(debiased_lasso_baseline.default, "debiased_lasso_baseline", takes = "intercept", ...)
}

#' @rdname debiased_lasso_baseline
#' @export
debiased_lasso_baseline.default <- function(x, y, method = c("nodewise", "ridge", "split", "ols"), which = NULL, lambda = NULL, sigma = NULL, lambda0 = NULL,
                              lambda_nodes = NULL, splits = 50, standardize = TRUE, intercept = TRUE, alpha = 0.05, threads = NULL, ...) {
  call <- generic_call(match.call(), "debiased_lasso_baseline")
  refuse_dots(...)
  method <- check_choice(method, c("nodewise", "ridge", "split", "ols"))
  alpha <- check_number(alpha, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  splits <- check_count(splits, upper = 1e5)
  lambda_nodes <- check_number(lambda_nodes, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  data <- debiased_data(x, y, which)
  options <- c(debiased_levels(lambda, sigma, lambda0, intercept, standardize, alpha),
               list(method = method, lambda_nodes = lambda_nodes, splits = splits, threads = thread_count(threads)))
  out <- core_debiased_baseline(data, options, core_seed(), progress_bar("debiased baseline"))
  label <- switch(method, nodewise = "debiased lasso, nodewise rows", ridge = "ridge projection", split = "multiple sample splitting",
                  ols = "least squares")
  fit <- debiased_object(out, data, alpha, call, label)
  if (method == "split") fit$p_adj <- fit$pvalue
  warn_debiased(fit, out, "raise_mu")
}
