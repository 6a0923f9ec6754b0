#' Regression data with a circulant design
#'
#' The simulation of Javanmard and Montanari (Section 5.1): Gaussian rows with correlation 0.1 between neighbours on a circle.
#'
#' @details
#' Rows of `x` are \eqn{N(0, \Sigma)}{N(0, Sigma)} with \eqn{\Sigma_{jj} = 1}{Sigma_jj = 1}, \eqn{\Sigma_{jk} = }{Sigma_jk = }`rho` at circular
#' distance 1 to
#' `width`, else 0. A random set of `s0` columns has coefficient `b`, and \eqn{y = X\theta + \sigma w}{y = X theta + sigma w}, \eqn{w} standard
#' normal.
#' The root of \eqn{\Sigma}{Sigma} is applied by a fast Fourier transform.
#'
#' @section Which method when: To try [debiased_lasso()] and its relatives where the truth is known.
#'
#' @param n,p Rows and columns; `p` must exceed `2 * width`.
#' @param s0 Number of coefficients that are not zero.
#' @param b Their value.
#' @param sigma Standard deviation of the errors.
#' @param rho,width Correlation, and the distance up to which it holds.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list: `x`, `y`, `theta`, `support`, `sigma`, and `omega`, the diagonal entry of \eqn{\Sigma^{-1}}{Sigma^-1}.
#' @seealso [lasso()], [lasso_select()], [scaled_lasso()], [debiased_lasso()], [debiased_lasso_baseline()], [gen_lasso()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_debiased_lasso(n = 50, p = 100, s0 = 5, b = 1)
#' sim$support
#' sim$omega
sim_debiased_lasso <- function(n, p, s0, b, sigma = 1, rho = 0.1, width = 5, ...) {
  refuse_dots(...)
  n <- check_count(n, upper = 1e6)
  width <- check_count(width, lower = 0, upper = 1e6)
  p <- check_count(p, lower = 2 * width + 1, upper = 1e6)
  if (as.double(n) * p > 1e9) abort_input("`n` times `p` must be at most 1e9.", "p")
  s0 <- check_count(s0, lower = 0, upper = p)
  b <- check_number(b)
  sigma <- check_number(sigma, lower = 0)
  rho <- check_number(rho, lower = -1, upper = 1)
  first <- numeric(p)
  first[1L] <- 1
  if (width > 0L) first[c(1L + seq_len(width), p + 1L - seq_len(width))] <- rho
  spectrum <- Re(stats::fft(first))
  if (min(spectrum) <= 1e-12) abort_input("`rho` and `width` do not give a positive definite covariance. Use a smaller `rho`.", "rho")
  z <- matrix(stats::rnorm(n * p), p)
  x <- t(Re(stats::mvfft(sqrt(spectrum) * stats::mvfft(z), inverse = TRUE)) / p)
  support <- sort(sample.int(p, s0))
  theta <- numeric(p)
  theta[support] <- b
  colnames(x) <- paste0("V", seq_len(p))
  list(x = x, y = drop(x %*% theta) + sigma * stats::rnorm(n), theta = theta, support = support, sigma = sigma, omega = mean(1 / spectrum))
}
