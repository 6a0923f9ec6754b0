#' Bounds for regression on partitions
#'
#' What the theory promises for the cell means of a fixed partition, and the constants of the adaptive estimator.
#'
#' @details For a response with \eqn{|y| \le M}{|y| <= M}, \eqn{m} rows and a partition of \eqn{N} cells that does not depend on the response,
#' with \eqn{c = 3 / (256 M^2)},
#' \deqn{P(\|P f - \hat f\| > \eta) \le 4 N e^{-c m \eta^2 / N}, \qquad E \|P f - \hat f\|^2 \le \frac{N \log(4N) + N}{c m},}{
#' P(|P f - fhat| > eta) <= 4 N exp(-c m eta^2 / N),  E |P f - fhat|^2 <= (N log(4 N) + N) / (c m),}
#' where \eqn{P f} is the best approximation on the partition (the paper's integral for the second omits a factor two). `eta` is the
#' distance not exceeded with probability `1 - delta`. The adaptive estimator has the rate
#' \eqn{(\log m / m)^{2s / (2s + 1)}}{(log(m) / m)^(2 s / (2 s + 1))} with probability \eqn{1 - C m^{-\beta}}{1 - C m^(-beta)} if
#' \eqn{\kappa \ge \kappa_0 = b M \sqrt{312 (\beta + 1/\gamma)}}{kappa >= kappa_0 = b M sqrt(312 (beta + 1/gamma))}, \eqn{b = 2 \sqrt{a -
#' 1}}{b = 2 sqrt(a - 1)}, some sixty
#' times `M`: a constant for proofs, not for data.
#'
#' @section Which method when: To see orders of magnitude; for data use the defaults of [adapt_partition()].
#'
#' @param m Number of rows.
#' @param N Number of cells.
#' @param M Bound of the absolute response.
#' @param delta Probability of failure.
#' @param a Children of a cell.
#' @param beta,gamma Constants of the theorem on the adaptive estimator.
#' @param s Smoothness, for the rate.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A data frame with `m`, `N`, `eta`, `expected` (the bound of the expected squared distance), `kappa_0` and `rate`. Arguments may be
#'   vectors.
#' @references Binev, Cohen, Dahmen, DeVore and Temlyakov (2005). Universal algorithms for learning theory. Part I: piecewise constant
#' functions. *Journal of Machine Learning Research* 6, 1297--1321.
#' @seealso [adapt_partition()]
#' @seealso [lasso()], [lasso_select()], [gen_lasso()], [debiased_lasso()], [mta()]
#' @export
#' @examples
#' adapt_partition_bounds(m = 10^(4:6), N = 20)
adapt_partition_bounds <- function(m, N, M = 1, delta = 0.05, a = 2, beta = 1, gamma = 0.5, s = 1, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  m <- unname(check_vector(m, lower = 1))
  N <- unname(check_vector(N, "N", lower = 1))  # nolint: object_name_linter.
  M <- unname(check_vector(M, "M", lower = 0, strict_lower = TRUE, upper = 1e100))  # nolint: object_name_linter.
  delta <- unname(check_vector(delta, lower = 0, upper = 1, strict_lower = TRUE))
  a <- unname(check_vector(a, lower = 2))
  beta <- unname(check_vector(beta, lower = 0, strict_lower = TRUE))
  gamma <- unname(check_vector(gamma, lower = 0, strict_lower = TRUE))
  s <- unname(check_vector(s, lower = 0, strict_lower = TRUE))
  size <- max(lengths(list(m, N, M, delta, a, beta, gamma, s)))
  if (any(size %% lengths(list(m, N, M, delta, a, beta, gamma, s)) != 0L)) abort_input("The arguments must have equal lengths, or length one.", "N")
  rate <- 3 / (256 * M^2)
  data.frame(
    m = rep_len(m, size), N = rep_len(N, size), eta = rep_len(sqrt(N * pmax(log(4 * N / delta), 0) / (rate * m)), size),
    expected = rep_len((N * log(4 * N) + N) / (rate * m), size),
    kappa_0 = rep_len(2 * sqrt(a - 1) * M * sqrt(312 * (beta + 1 / gamma)), size), rate = rep_len((log(pmax(m, 3)) / m)^(2 * s / (2 * s + 1)), size)
  )
}
