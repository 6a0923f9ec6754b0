# Calculators of the paper on the debiased lasso.

#' What theory says about the debiased lasso
#'
#' Power and sample size of its tests, bounds on its bias, and the two constants of a design that decide them: the coherence and the compatibility.
#'
#' @details
#' `"power"`: the power of the test of one coefficient, the sample size for a power, or the smallest effect that can be detected: give all but one of `n`,
#' `gamma` and `power`. With \eqn{G(\alpha, u) = 2 - \Phi(z + u) - \Phi(z - u)}{G(alpha, u) = 2 - Phi(z + u) - Phi(z - u)}, \eqn{z = \Phi^{-1}(1 -
#' \alpha/2)}{z = qnorm(1 - alpha/2)}, the test has asymptotic power \eqn{G(\alpha, \sqrt{n}\gamma / (\sigma\sqrt{\Omega_{ii}}))}{G(alpha, sqrt(n)
#' gamma / (sigma sqrt(Omega_ii)))} against a coefficient of size \eqn{\gamma}{gamma}, \eqn{\Omega = \Sigma^{-1}}{Omega = Sigma^-1}. For Gaussian
#' designs no test at level \eqn{\alpha}{alpha} can exceed
#' \eqn{\min_\xi G(\alpha, \gamma/\sigma_{eff}(\xi)) + e^{-\xi^2/8}}{min_xi G(alpha, gamma / sigma_eff(xi)) + exp(-xi^2 / 8)}, \eqn{\sigma_{eff} =
#' \sigma / (\sqrt{\Sigma_{i|A}} (\sqrt{n - s_0 + 1} + \xi))}{sigma_eff = sigma / (sqrt(Sigma_i|A) (sqrt(n - s0 + 1) + xi))} (Theorem 17).
#' The loss of efficiency is \eqn{\eta = \Sigma_{i|A} \Omega_{ii} \ge 1}{eta = Sigma_i|A Omega_ii >= 1}: the factor by which a test that knew the
#' other active columns \eqn{A} could do with fewer rows.
#'
#' `"bias"`: with \eqn{\lambda = c \sigma \sqrt{\log p / n}}{lambda = c sigma sqrt(log p / n)} the bias of every debiased coefficient is at most
#' \eqn{4 c \mu_* \sigma s_0 \sqrt{\log p} / (\phi_0^2 \sqrt{n})}{4 c mu* sigma s0 sqrt(log p) / (phi0^2 sqrt(n))} with probability at least
#' \eqn{1 - 2 p^{1 - c^2/(32K)}}{1 - 2 p^(1 - c^2 / (32 K))}, \eqn{K = \max S_{ii}}{K = max S_ii} (Theorem 6); for Gaussian designs and
#' \eqn{\mu = a \sqrt{\log p / n}}{mu = a sqrt(log p / n)} it is at most
#' \eqn{160 a \sigma s_0 \log p / (C_{min} n)}{160 a sigma s0 log p / (C_min n)} (Corollary 10). These are worst cases: compare their order, not
#' their size, with a standard error.
#'
#' `"coherence"`: the largest entry of \eqn{|MS - I|}{|MS - I|}.
#'
#' `"compatibility"`: \eqn{\phi^2(S, A) = \min |A|\, t'St / \|t_A\|_1^2}{phi^2(S, A) = min |A| t'St / |t_A|_1^2} over
#' \eqn{\|t_{A^c}\|_1 \le L \|t_A\|_1}{|t_Ac|_1 <= L |t_A|_1}, exactly, by one quadratic program for each pattern of signs of \eqn{t_A}; hence at
#' most 12 columns in the set.
#'
#' @section Which method when:
#' `"power"` before collecting data; `omega` is 1 for uncorrelated columns of unit variance and grows with their correlation. A coherence near `mu` says
#' that the correction works as the theory asks; a compatibility near zero that the lasso itself cannot be trusted on that set.
#'
#' @param what Which calculator; see Details.
#' @param ... Its arguments.
#'
#'   `"power"`: `n`, `gamma`, `power` (two of the three, numbers or vectors), `sigma` (1), the standard deviation of the errors, `omega` (1), the diagonal
#'   entry of the inverse covariance of the columns, `alpha` (0.05), the level of the test, `s0` (0), the number of active columns, and `conditional`, the
#'   variance of the column given the other active ones, between `1 / omega` and its variance; the last two for the upper bound.
#'
#'   `"bias"`: `n`, `p` and `s0`, rows, columns, and columns that matter; `mu`, the coherence; `sigma` (1), `phi2` (1), the compatibility constant
#'   \eqn{\phi_0^2}{phi0^2}; `c` (8), the constant of the penalty; `K` (1), the largest second moment of a column; `a` and `c_min` (1), constant of `mu`
#'   and smallest eigenvalue of the covariance, for Corollary 10.
#'
#'   `"coherence"`: `x`, a design, which is centred and scaled as in [decorrelate()] (`intercept`, `standardize`, both `TRUE`); `m`, a matrix with one row
#'   per column of `x`, a result of [decorrelate()], or `NULL` for the identity (the classical coherence).
#'
#'   `"compatibility"`: `S`, a covariance matrix of the columns; `set`, the set \eqn{A}, by number or name; `L` (3), the opening of the cone; `threads`.
#' @return `"power"` a data frame with `n`, `gamma`, `power`, `upper` (the bound on the power of any test) and `efficiency_loss`; `"bias"` a list of
#'   `bias`, `probability` (of exceeding it) and `bias_gaussian`; `"coherence"` a number; `"compatibility"` a list of `value` \eqn{\phi^2}{phi^2} and
#'   `direction`, the vector that attains it.
#' @references
#' Javanmard and Montanari (2014). Confidence intervals and hypothesis testing for high-dimensional regression. *Journal of Machine Learning
#' Research* 15, 2869--2909.
#' @seealso [lasso()], [lasso_select()], [scaled_lasso()], [debiased_lasso_baseline()]
#' @seealso [debiased_lasso()], [decorrelate()]
#' @export
#' @examples
#' debiased_lasso_bounds("power", n = 1000, gamma = c(0.05, 0.1))
#' debiased_lasso_bounds("power", gamma = 0.1, power = 0.8)
#' debiased_lasso_bounds("bias", n = 1000, p = 600, s0 = 10, mu = 0.08)
#' set.seed(1)
#' sim <- sim_debiased_lasso(n = 100, p = 20, s0 = 3, b = 1)
#' debiased_lasso_bounds("coherence", x = sim$x)
#' debiased_lasso_bounds("compatibility", S = cor(sim$x), set = 1:3)$value
debiased_lasso_bounds <- function(what = c("power", "bias", "coherence", "compatibility"), ...) {
  by_what(what, list(power = test_power, bias = bias_bounds, coherence = design_coherence, compatibility = compatibility_constant), ...)
}

test_power <- function(n = NULL, gamma = NULL, power = NULL, sigma = 1, omega = 1, alpha = 0.05, s0 = 0, conditional = NULL) {
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
  given <- recycle(Filter(Negate(is.null), list(n = n, gamma = gamma, power = power)))
  out <- core_debiased_power(c(given, list(sigma = sigma, omega = omega, alpha = alpha, conditional = conditional, s0 = s0)))
  data.frame(n = out$n, gamma = out$gamma, power = out$power, upper = out$upper, efficiency_loss = conditional * omega)
}

recycle <- function(parts) {
  size <- max(lengths(parts))
  if (any(size %% lengths(parts) != 0L)) abort_input("`n`, `gamma` and `power` must have equal lengths, or length 1.", names(parts)[1L])
  lapply(parts, function(part) rep_len(as.double(unname(part)), size))
}

design_coherence <- function(x, m = NULL, intercept = TRUE, standardize = TRUE) {
  data <- list(x = check_design(x, allow_sparse = FALSE))
  if (inherits(m, "granary_decorrelate")) {
    data$which <- match(rownames(m$table), colnames(data$x))
    if (nrow(m$rows) != nrow(data$x) || anyNA(data$which)) abort_input("`m` was not made from the columns and rows of `x`.", "m")
    data$rows <- unname(m$rows)
  } else {
    data$m <- check_matrix(m, allow_null = TRUE)
  }
  core_coherence(data, list(intercept = check_flag(intercept), standardize = check_flag(standardize)))
}

compatibility_constant <- function(S, set, L = 3, threads = NULL) {
  S <- check_symmetric(S)
  names <- if (is.null(colnames(S))) as.character(seq_len(ncol(S))) else colnames(S)
  if (missing(set)) fail_missing("set")
  set <- if (is.null(set)) fail_input("set", "column numbers or names", "NULL") else check_which(set, names)
  if (length(set) > 12L) abort_input(sprintf("`set` must have at most 12 columns, but it has %d: the work doubles with each.", length(set)), "set")
  L <- check_number(L, lower = 0, upper = 1e6)
  if (ncol(S) > 500L) abort_input("`S` must have at most 500 columns for an exact compatibility constant.", "S")
  largest <- max(abs(S))
  if (largest == 0) return(list(value = 0, direction = stats::setNames(numeric(ncol(S)), names)))
  out <- core_compatibility(unname(S) / largest, set, L, thread_count(threads), progress_bar("compatibility"))
  list(value = out$value * largest, direction = stats::setNames(out$t, names))
}

bias_bounds <- function(n, p, s0, sigma = 1, mu, phi2 = 1, c = sqrt(64), K = 1, a = 1, c_min = 1) {
  n <- check_count(n, lower = 2)
  p <- check_count(p, lower = 2)
  s0 <- check_count(s0, lower = 0, upper = p)
  sigma <- check_number(sigma, lower = 0)
  mu <- check_number(mu, lower = 0)
  phi2 <- check_number(phi2, lower = 0, strict_lower = TRUE)
  c <- check_number(c, lower = 0, strict_lower = TRUE)
  K <- check_number(K, lower = 0, strict_lower = TRUE)
  a <- check_number(a, lower = 0)
  c_min <- check_number(c_min, lower = 0, strict_lower = TRUE)
  list(bias = 4 * c * mu * sigma * s0 * sqrt(log(p)) / (phi2 * sqrt(n)), probability = min(1, 2 * p^(1 - c^2 / (32 * K))),
       bias_gaussian = 160 * a * sigma * s0 * log(p) / (c_min * n))
}
