#' Power of tests by the debiased lasso
#'
#' The power of the test of one coefficient, the sample size for a power, or the smallest effect that can be detected: give all but one of `n`,
#' `gamma` and
#' `power`. Beside it the power that no test can exceed.
#'
#' @details
#' With \eqn{G(\alpha, u) = 2 - \Phi(z + u) - \Phi(z - u)}{G(alpha, u) = 2 - Phi(z + u) - Phi(z - u)}, \eqn{z = \Phi^{-1}(1 - \alpha/2)}{z =
#' qnorm(1 - alpha/2)}, the
#' test has asymptotic power \eqn{G(\alpha, \sqrt{n}\gamma / (\sigma\sqrt{\Omega_{ii}}))}{G(alpha, sqrt(n) gamma / (sigma sqrt(Omega_ii)))} against a
#' coefficient of size \eqn{\gamma}{gamma}, \eqn{\Omega = \Sigma^{-1}}{Omega = Sigma^-1}. For Gaussian designs no test at level
#' \eqn{\alpha}{alpha} can exceed
#' \eqn{\min_\xi G(\alpha, \gamma/\sigma_{eff}(\xi)) + e^{-\xi^2/8}}{min_xi G(alpha, gamma / sigma_eff(xi)) + exp(-xi^2 / 8)}, \eqn{\sigma_{eff} =
#' \sigma / (\sqrt{\Sigma_{i|A}} (\sqrt{n - s_0 + 1} + \xi))}{sigma_eff = sigma / (sqrt(Sigma_i|A) (sqrt(n - s0 + 1) + xi))} (Theorem 17).
#' The loss of efficiency is \eqn{\eta = \Sigma_{i|A} \Omega_{ii} \ge 1}{eta = Sigma_i|A Omega_ii >= 1}: the factor by which a test that knew the
#' other active
#' columns \eqn{A} could do with fewer rows.
#'
#' **Which method when:** before collecting data. `omega` is 1 for uncorrelated columns of unit variance and grows with their correlation.
#'
#' @param n Number of rows.
#' @param gamma Size of the coefficient.
#' @param power Power asked for.
#' @param sigma Standard deviation of the errors.
#' @param omega Diagonal entry of the inverse covariance of the columns.
#' @param alpha Level of the test.
#' @param s0 Number of active columns, for the upper bound.
#' @param conditional Variance of the column given the other active ones, between `1 / omega` and its variance; for the upper bound.
#' @return A data frame with `n`, `gamma`, `power`, `upper` (the bound on the power of any test) and `efficiency_loss`. All arguments but `n`,
#'   `gamma` and
#'   `power` are single numbers; of these three, the given ones may be vectors.
#' @references
#' Javanmard and Montanari (2014). Confidence intervals and hypothesis testing for high-dimensional regression. *Journal of Machine Learning
#' Research* 15, 2869--2909.
#' @family regression
#' @export
#' @examples
#' debiased_power(n = 1000, gamma = c(0.05, 0.1))
#' debiased_power(gamma = 0.1, power = 0.8)
#' debiased_power(n = 500, power = 0.9, omega = 1.07)
debiased_power <- function(n = NULL, gamma = NULL, power = NULL, sigma = 1, omega = 1, alpha = 0.05, s0 = 0, conditional = NULL) {
  sigma <- check_number(sigma, lower = 0, strict_lower = TRUE, upper = 1e100)
  omega <- check_number(omega, lower = 0, strict_lower = TRUE, upper = 1e100)
  alpha <- check_number(alpha, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  s0 <- check_count(s0, lower = 0)
  conditional <- check_number(conditional, lower = 0, strict_lower = TRUE, upper = 1e100, allow_null = TRUE)
  if (is.null(conditional)) conditional <- 1 / omega
  n <- check_vector(n, lower = 1, upper = 1e15, allow_null = TRUE)
  gamma <- check_vector(gamma, lower = 0, strict_lower = is.null(n), upper = 1e100, allow_null = TRUE)
  power <- check_vector(power, lower = alpha, strict_lower = TRUE, upper = 1, strict_upper = TRUE, allow_null = TRUE)
  if (sum(is.null(n), is.null(gamma), is.null(power)) != 1L) {
    abort_input("Give two of `n`, `gamma` and `power`; the third is computed.", "power")
  }
  unit <- sigma * sqrt(omega)
  if (is.null(power)) {
    grid <- recycle(n = n, gamma = gamma)
    grid$power <- two_sided_power(alpha, sqrt(grid$n) * grid$gamma / unit)
  } else if (is.null(n)) {
    grid <- recycle(gamma = gamma, power = power)
    grid$n <- ceiling((vapply(grid$power, needed_shift, 0, alpha = alpha) * unit / grid$gamma)^2)
  } else {
    grid <- recycle(n = n, power = power)
    grid$gamma <- vapply(grid$power, needed_shift, 0, alpha = alpha) * unit / sqrt(grid$n)
  }
  grid$upper <- mapply(best_power, grid$n, grid$gamma, MoreArgs = list(sigma = sigma, conditional = conditional, s0 = s0, alpha = alpha))
  grid$efficiency_loss <- conditional * omega
  grid[c("n", "gamma", "power", "upper", "efficiency_loss")]
}

recycle <- function(...) {
  parts <- list(...)
  size <- max(lengths(parts))
  if (any(size %% lengths(parts) != 0L)) abort_input("`n`, `gamma` and `power` must have equal lengths, or length 1.", names(parts)[1L])
  as.data.frame(lapply(parts, function(part) rep_len(unname(part), size)))
}

two_sided_power <- function(alpha, u) {
  z <- stats::qnorm(alpha / 2, lower.tail = FALSE)
  stats::pnorm(z + u, lower.tail = FALSE) + stats::pnorm(z - u, lower.tail = FALSE)
}

needed_shift <- function(power, alpha) {
  stats::uniroot(function(u) two_sided_power(alpha, u) - power, c(0, 100), tol = 1e-12)$root
}

best_power <- function(n, gamma, sigma, conditional, s0, alpha) {
  if (n - s0 + 1 <= 0) return(1)
  root <- sqrt(n - s0 + 1)
  bound <- function(xi) two_sided_power(alpha, gamma * sqrt(conditional) * (root + xi) / sigma) + exp(-xi^2 / 8)
  xi <- seq(0, 1.5 * root, length.out = 200L)
  best <- xi[which.min(vapply(xi, bound, 0))]
  step <- xi[2L]
  min(1, stats::optimize(bound, c(max(0, best - step), min(1.5 * root, best + step)))$objective)
}

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
#' **Which method when:** to try [debiased_lasso()] and its relatives where the truth is known.
#'
#' @param n,p Rows and columns; `p` must exceed `2 * width`.
#' @param s0 Number of coefficients that are not zero.
#' @param b Their value.
#' @param sigma Standard deviation of the errors.
#' @param rho,width Correlation, and the distance up to which it holds.
#' @return A list: `x`, `y`, `theta`, `support`, `sigma`, and `omega`, the diagonal entry of \eqn{\Sigma^{-1}}{Sigma^-1}.
#' @family regression
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_debiased_lasso(n = 50, p = 100, s0 = 5, b = 1)
#' sim$support
#' sim$omega
sim_debiased_lasso <- function(n, p, s0, b, sigma = 1, rho = 0.1, width = 5) {
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
