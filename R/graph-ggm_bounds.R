#' What theory says about the eigenvalues of a graphical lasso estimate
#'
#' Bounds on the eigenvalues of the precision matrix that hold before anything is computed, from the covariance and the penalty alone.
#'
#' @details
#' Every descent method started at \eqn{X_0 = \mathrm{diag}(1 / (S_{ii} + \Lambda_{ii}))}{X0 = diag(1 / (S_ii + Lambda_ii))} stays in the level set
#' \eqn{f(X) \le f(X_0)}{f(X) <= f(X0)}, where \eqn{f(X_0) = p + \sum_i \log(S_{ii} + \Lambda_{ii})}{f(X0) = p + sum_i log(S_ii + Lambda_ii)}. On it
#' all eigenvalues lie in
#' \eqn{[m, M]} (Lemma 2 of the QUIC paper): \eqn{M} is the largest root of
#' \deqn{\gamma M = (1 + b/\underline\lambda)\,(f(X_0) + p \log M),}{gamma M = (1 + b / lmin) (f(X0) + p log M),}
#' with \eqn{\gamma = \min_i S_{ii}}{gamma = min S_ii}, \eqn{b = \max_{i \ne j} |S_{ij}|}{b = max |S_ij|} and \eqn{\underline\lambda}{lmin} the
#' smallest off-diagonal penalty, and
#' \eqn{m = \exp(-f(X_0)) M^{-(p-1)}}{m = exp(-f(X0)) M^(1-p)}. As \eqn{m} soon underflows, its logarithm is given. The bounds say that the
#' problem is well posed rather than where the eigenvalues are. With a variance or an off-diagonal penalty of zero there are none: 0 and
#' infinity.
#'
#' With one \eqn{\lambda > 0}{lambda > 0} for all entries, diagonal included, the solution obeys the sharper
#' \deqn{1 / (\|S\|_2 + p \lambda) \le \mathrm{eig}(X) \le p / \lambda.}{1 / (|S|_2 + p lambda) <= eig(X) <= p / lambda.}
#' Both assume a positive semi-definite covariance.
#'
#' @param fit A [ggm_lasso()] fit.
#' @param which Position on the path; `NULL` for all.
#' @return A data frame with one row per penalty: `lambda`, `log_lower` and `upper` (\eqn{\log m} and \eqn{M}), `solution_lower` and
#'   `solution_upper` (the
#'   bounds for one uniform penalty; `NA` where they do not apply).
#' @references
#' Hsieh, Sustik, Dhillon and Ravikumar (2014). QUIC: quadratic approximation for sparse inverse covariance estimation.
#' *Journal of Machine Learning Research* 15, 2911--2947, Lemma 2.
#'
#' Banerjee, El Ghaoui and d'Aspremont (2008). Model selection through sparse maximum likelihood estimation for multivariate Gaussian or binary
#' data. *Journal of Machine Learning Research* 9, 485--516, Theorem 1.
#' @family Gaussian graphs
#' @export
#' @section Several tasks: For [ggm_multi()] with one of the norms and `lambda1 = 0`, one row per task: the eigenvalues of \eqn{X_k} are at least
#'   \eqn{1 / (\|S_k\|_2 + p \lambda / T_k)}{1 / (||S_k||_2 + p lambda / T_k)}, and with a penalised diagonal at most
#'   \eqn{p \sum_k T_k / \lambda}{p sum_k T_k / lambda}.
#' @examples
#' fit <- ggm_lasso(S = cor(mtcars), lambda = 0.2)
#' ggm_bounds(fit)
#' range(eigen(as.matrix(fit))$values)
ggm_bounds <- function(fit, which = NULL) {
  if (inherits(fit, "granary_ggm_multi")) return(ggm_multi_bounds(fit, which))
  if (!inherits(fit, "granary_ggm_lasso")) {
    abort_input(sprintf("`fit` must be a graphical lasso fit, as ggm_lasso() returns, but it is %s.", describe(fit)), "fit")
  }
  S <- fit$S
  p <- ncol(S)
  weights <- if (is.null(fit$weights)) 1 else fit$weights
  diagonal <- if (!fit$penalize_diagonal) 0 else if (is.matrix(weights)) diag(weights) else weights
  lambda <- if (is.null(which)) fit$lambda else fit$lambda[path_position(fit, which)]
  uniform <- is.null(fit$weights) && fit$penalize_diagonal
  norm <- if (uniform) max(abs(unlist(core_eigenvalue_range(S))))
  rows <- lapply(lambda, function(l) {
    start <- p + sum(log(diag(S) + l * diagonal))
    bounds <- core_glasso_bounds(S, list(weights = as.double(l * weights), penalize_diagonal = fit$penalize_diagonal), start)
    data.frame(
      lambda = l, log_lower = bounds[["log_lower"]], upper = bounds[["upper"]],
      solution_lower = if (uniform && l > 0) 1 / (norm + p * l) else NA_real_, solution_upper = if (uniform && l > 0) p / l else NA_real_
    )
  })
  do.call(rbind, rows)
}
