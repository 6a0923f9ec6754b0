#' Blocks of the spectrum of random inputs
#'
#' Cuts the eigenvalues of \eqn{X^T X / N}{X'X / N}, for `alpha` `N` rows and `N` columns of independent inputs of mean square one, into blocks of
#' equal numbers of eigenvalues, from the
#' smallest to the largest. For large `N` they follow the Marchenko-Pastur law,
#' \deqn{\rho(a) = \frac{\sqrt{(a_+ - a)(a - a_-)}}{2 \pi a}, \quad a_\pm = (1 \pm \sqrt\alpha)^2,}{rho(a) = sqrt((a_+ - a)(a - a_-)) / (2 pi a), 
#' a_+- = (1 +- sqrt(alpha))^2,}
#' with a share \eqn{1 - \alpha}{1 - alpha} of zeros where there are fewer examples than weights. [committee_curve()] works with these blocks.
#'
#' Mass and mean of a block have closed forms in the angle \eqn{\phi}{phi} of \eqn{a = 1 + \alpha + 2 \sqrt\alpha \cos\phi}{a = 1 + alpha + 2
#' sqrt(alpha) cos(phi)}; only the ends of the blocks are sought numerically.
#'
#' @section Which method when:
#' For a coarse picture of a spectrum that keeps its mean exactly. [sgd_curve()] uses a fine quadrature instead.
#'
#' @param alpha Examples per weight.
#' @param blocks Number of blocks.
#' @param spectrum `NULL`, or eigenvalues to cut instead of those of the Marchenko-Pastur law.
#' @return A data frame with one row per block: `mean`, `lower` and `upper` eigenvalue. The mean of `mean` is `alpha` (that of `spectrum`).
#' @inherit committee_curve references
#' @family learning curves
#' @export
#' @examples
#' mp_blocks(alpha = 0.5, blocks = 10)
#' set.seed(1)
#' x <- matrix(rnorm(200 * 400), 200, 400)
#' mp_blocks(0.5, 10, spectrum = eigen(crossprod(x) / 400, symmetric = TRUE)$values)
mp_blocks <- function(alpha, blocks = 10, spectrum = NULL) {
  alpha <- check_number(alpha, lower = 1e-6, upper = 1e12)
  blocks <- check_count(blocks, upper = 1e6)
  if (!is.null(spectrum)) {
    spectrum <- unname(check_vector(spectrum, lower = -1e-8, upper = 1e12))
    spectrum <- pmax(spectrum, 0)
    if (blocks > length(spectrum)) {
      abort_input(sprintf("`blocks` must be at most the number of eigenvalues, %d, not %d.", length(spectrum), blocks), "blocks")
    }
  }
  found <- core_mp_blocks(alpha, as.double(spectrum), blocks)
  data.frame(block = seq_len(blocks), mean = found$mean, lower = found$lower, upper = found$upper)
}
