#' What theory says before anything is computed
#'
#' `"eigenvalues"`: bounds on the eigenvalues of the precision matrix of a [ggm_lasso()] or [ggm_multi()] fit, from the covariance and the penalty alone.
#' `"hub_regime"` and `"hub_lambda_max"`: what the penalties of [ggm_hub()] leave room for.
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
#' `"hub_regime"` says whether the penalties on hubs leave room for hubs and for ordinary edges (Lemmas 3 and 4 of Tan et al.): `"mixed"`, `"no hubs
#' possible"` or `"hubs only"`. `"hub_lambda_max"` gives the smallest `lambda1` and the smallest `lambda3` that leave no edge with a given `lambda2`.
#'
#' @section Which method when: `"eigenvalues"` to see that a problem is well posed; the others before [ggm_hub()], to find penalties that are worth trying,
#' among which [ggm_hub_select()] chooses.
#' @param fit A [ggm_lasso()] or [ggm_multi()] fit (for `"eigenvalues"`).
#' @param which Position on the path; `NULL` for all.
#' @param what What is asked.
#' @param lambda1,lambda2,lambda3,q Penalties, as in [ggm_hub()].
#' @param p Number of variables (for `"hub_regime"`).
#' @param S Covariance matrix (for `"hub_lambda_max"`).
#' @param ... Nothing: an argument that is not known is an error.
#' @return A word for `"hub_regime"`, a vector with names `lambda1` and `lambda3` for `"hub_lambda_max"`; else a data frame with one row per
#'   penalty: `lambda`, `log_lower` and `upper` (\eqn{\log m} and \eqn{M}), `solution_lower` and
#'   `solution_upper` (the
#'   bounds for one uniform penalty; `NA` where they do not apply).
#' @references
#' Hsieh, Sustik, Dhillon and Ravikumar (2014). QUIC: quadratic approximation for sparse inverse covariance estimation.
#' *Journal of Machine Learning Research* 15, 2911--2947, Lemma 2.
#'
#' Banerjee, El Ghaoui and d'Aspremont (2008). Model selection through sparse maximum likelihood estimation for multivariate Gaussian or binary
#' data. *Journal of Machine Learning Research* 9, 485--516, Theorem 1.
#'
#' Tan, London, Mohan, Lee, Fazel and Witten (2014). Learning graphical models with hubs. *Journal of Machine Learning Research* 15, 3297--3331.
#' @seealso [ggm_lasso()], [ggm_select()], [ggm_at()], [ggm_hub()], [ggm_multi()], [ggm_local()]
#' @export
#' @section Several tasks: For [ggm_multi()] with one of the norms and `lambda1 = 0`, one row per task: the eigenvalues of \eqn{X_k} are at least
#'   \eqn{1 / (\|S_k\|_2 + p \lambda / T_k)}{1 / (||S_k||_2 + p lambda / T_k)}, and with a penalised diagonal at most
#'   \eqn{p \sum_k T_k / \lambda}{p sum_k T_k / lambda}.
#' @examples
#' fit <- ggm_lasso(S = cor(mtcars), lambda = 0.2)
#' ggm_bounds(fit)
#' range(eigen(as.matrix(fit))$values)
#' ggm_bounds(what = "hub_regime", lambda1 = 0.4, lambda2 = 0.3, lambda3 = 1, p = 50)
#' ggm_bounds(what = "hub_lambda_max", S = cor(mtcars), lambda2 = 0.3)
ggm_bounds <- function(fit = NULL, which = NULL, what = c("eigenvalues", "hub_regime", "hub_lambda_max"), lambda1 = NULL, lambda2 = 0,
                       lambda3 = NULL, q = 2, p = NULL, S = NULL, ...) {
  refuse_dots(...)
  what <- check_choice(what, c("eigenvalues", "hub_regime", "hub_lambda_max"))
  if (what == "eigenvalues") return(eigenvalue_bounds(fit, which))
  if (!is.null(fit) || !is.null(which)) abort_input(sprintf("`fit` and `which` are not used with what = \"%s\": give the penalties.", what), "fit")
  if (what == "hub_regime") return(hub_regime(lambda1, lambda2, lambda3, p, q))
  if (is.null(S)) fail_missing("S")
  hub_lambda_max(S, lambda2, q)
}

eigenvalue_bounds <- function(fit, which = NULL) {
  if (inherits(fit, "granary_ggm_multi")) return(ggm_multi_bounds(fit, which))
  if (!inherits(fit, "granary_ggm_lasso")) {
    abort_input(sprintf("`fit` must be a graphical lasso fit, as ggm_lasso() returns, but it is %s.", describe(fit)), "fit")
  }
  check_fit(fit)
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

ggm_multi_bounds <- function(fit, which = NULL) {
  one <- ggm_at(fit, which)
  p <- ncol(one$S[[1L]])
  applies <- one$norm %in% c("l2", "linf") && one$lambda1 == 0 && one$lambda > 0
  norms <- vapply(one$S, function(s) max(abs(unlist(core_eigenvalue_range(s)))), 0)
  data.frame(
    task = names(one$S), lower = if (applies) unname(1 / (norms + p * one$lambda / one$weights)) else 0,
    upper = if (applies && one$settings$penalize_diagonal) p * sum(one$weights) / one$lambda else Inf
  )
}
