#' Bounds of tensor power iteration
#'
#' Calculators for what the theory of the tensor power method guarantees.
#'
#' @details
#' * `"starts"`: random starts with which Algorithm 1 finds a good one (Lemma B.1 with its constant made explicit by the normal quantile):
#'   \eqn{\Phi^{-1}(2^{-1/L}) \ge \sqrt{2 \log 8} + (\sqrt{2 \log k} + \sqrt{2 \log 4}) / (1 - \gamma)}{qnorm(2^(-1/L)) >= sqrt(2 log 8) + (sqrt(2 log k) + sqrt(2 log 4)) / (1 - gamma)} with
#'   \eqn{\gamma = 0.01}{gamma = 0.01}, times \eqn{\log_2(k / \eta)}{log2(k / eta)}. Far more than are needed in practice.
#' * `"perturbation"` (Theorem 5.1): if the tensor is known up to an error of operator norm \eqn{\epsilon}{error}, then \eqn{|v - \hat v| \le 8 \epsilon / \lambda}{|v - v_hat| <= 8 error / lambda},
#'   \eqn{|\lambda - \hat\lambda| \le 5 \epsilon}{|lambda - lambda_hat| <= 5 error}, and what is left has norm at most \eqn{55 \epsilon}{55 error}; `valid` says whether
#'   \eqn{\epsilon \le C_1 \lambda_{\min} / k}{error <= C1 min(lambda) / k} with the largest \eqn{C_1}{C1} that the proof supports, 1/(56 * 9 * 102).
#' * `"convergence"` (Lemma 5.1):
#'   \deqn{|v_1 - u_t|^2 \le 2 \lambda_1^2 \sum_{i > 1} \lambda_i^{-2} |\lambda_2 c_2 / (\lambda_1 c_1)|^{2^{t+1}}}{|v1 - u_t|^2 <= 2 lambda1^2 sum_{i > 1} lambda_i^-2 |lambda2 c2 / (lambda1 c1)|^(2^(t + 1))}
#'   after \eqn{t} steps from a start with the products `start` = \eqn{c_i = v_i'u_0}{c_i = v_i'u_0}; components are ordered by
#'   \eqn{|\lambda_i c_i|}{|lambda_i c_i|}, and `bound` is the square root.
#' * `"coherence"`: columns may be split at random in three views if the coherence of the means is at most \eqn{(\epsilon^2 / 6) / \log(3 k / \delta)}{(error^2 / 6) / log(3 k / delta)}.
#'
#' @section Which method when:
#' To see which way a guarantee depends on the components; the `residual` and the checks in `table` of [spectral_mixture()] and [tensor_decompose()] say more of a fit at hand.
#'
#' @param what Which bound.
#' @param k Number of components.
#' @param lambda Values of the components, as in [tensor_decompose()].
#' @param error Operator norm of the error of the tensor; for `"coherence"` the relative error of singular values.
#' @param start Products of the start with the components, one for each of `lambda`.
#' @param max_iter Steps.
#' @param eta,delta Probability of failure.
#' @return A data frame with one row, or one per component or step.
#' @references Anandkumar, Ge, Hsu, Kakade and Telgarsky (2014). Tensor decompositions for learning latent variable models. *Journal of Machine Learning Research* 15, 2773--2832.
#' @seealso [tensor_decompose()], [spectral_mixture()].
#' @export
#' @examples
#' spectral_mixture_bounds("starts", k = 5)
#' spectral_mixture_bounds("convergence", lambda = c(2, 1), start = c(0.6, 0.8), max_iter = 5)
spectral_mixture_bounds <- function(what = c("starts", "perturbation", "convergence", "coherence"), k = NULL, lambda = NULL, error = NULL, start = NULL, max_iter = 10, eta = 0.1,
                                    delta = 0.05) {
  what <- check_choice(what, c("starts", "perturbation", "convergence", "coherence"))
  needed <- list(starts = "k", perturbation = c("lambda", "error"), convergence = c("lambda", "start"), coherence = c("k", "error"))[[what]]
  for (arg in needed) if (is.null(get(arg))) fail_missing(arg)
  if (!is.null(k)) k <- check_count(k)
  if (!is.null(lambda)) lambda <- check_vector(lambda, lower = 0, strict_lower = TRUE)
  if (!is.null(error)) error <- check_number(error, lower = 0)
  max_iter <- check_count(max_iter)
  eta <- check_number(eta, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  delta <- check_number(delta, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  switch(what,
    starts = {
      threshold <- sqrt(2 * log(8)) + (sqrt(2 * log(k)) + sqrt(2 * log(4))) / 0.99
      once <- log(2) / -stats::pnorm(threshold, log.p = TRUE)
      data.frame(k = k, eta = eta, threshold = threshold, n_starts = ceiling(once * max(1, log2(k / eta))))
    },
    perturbation = {
      constant <- 1 / (56 * 9 * 102)
      data.frame(component = seq_along(lambda), value = lambda, vector_error = 8 * error / lambda, value_error = 5 * error, residual = 55 * error,
                 valid = error <= constant * min(lambda) / length(lambda))
    },
    convergence = {
      start <- check_vector(start, length = length(lambda))
      if (length(lambda) < 2L) abort_input("`lambda` must have at least two values: with one component there is nothing to converge from.", "lambda")
      if (all(start == 0)) abort_input("`start` must not be zero for all components.", "start")
      at <- order(-abs(lambda * start))
      lambda <- lambda[at]
      ratio <- abs(lambda[2L] * start[at[2L]]) / abs(lambda[1L] * start[at[1L]])
      steps <- 0:max_iter
      data.frame(step = steps, component = at[1L], bound = sqrt(2 * lambda[1L]^2 * sum(lambda[-1L]^-2) * ratio^(2^(steps + 1))))
    },
    coherence = data.frame(k = k, error = error, delta = delta, coherence = error^2 / 6 / log(3 * k / delta))
  )
}
