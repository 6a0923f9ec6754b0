#' Points on a Swiss roll
#'
#' A rectangle rolled up in three dimensions, which principal components cannot unroll.
#'
#' @details \eqn{t = 1.5\pi(1 + 2u)}{t = 1.5 pi (1 + 2 u)} and \eqn{h = 21v} for uniform \eqn{u, v}, at
#'   \eqn{(t\cos t, h, t\sin t)}{(t cos t, h, t sin t)}.
#'
#' @section Which method when:
#' `sim_swiss_roll()` to try [isomap()], [gplvm()] and [kernel_pca()] on points whose true positions are known.
#'
#' @param n Number of points.
#' @param noise Standard deviation of normal noise.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list with the points `x`, the position `t` along the roll and the `height`.
#' @references
#' Tenenbaum, de Silva and Langford (2000). A global geometric framework for nonlinear dimensionality reduction. *Science* 290, 2319--2323.
#' @seealso [gplvm()], [dppca()], [gplvm_dimension()], [isomap()], [kernel_pca()], [gtm()]
#' @export
#' @examples
#' set.seed(1)
#' roll <- sim_swiss_roll(300)
#' plot(roll$x[, 1], roll$x[, 3], col = hcl.colors(300)[rank(roll$t)], pch = 19)
sim_swiss_roll <- function(n = 1000, noise = 0, ...) {
  refuse_dots(...)
  n <- check_count(n, upper = 1e8)
  noise <- check_number(noise, lower = 0)
  t <- 1.5 * pi * (1 + 2 * stats::runif(n))
  height <- 21 * stats::runif(n)
  x <- cbind(x = t * cos(t), y = height, z = t * sin(t))
  if (noise > 0) x <- x + stats::rnorm(length(x), sd = noise)
  list(x = x, t = t, height = height)
}
