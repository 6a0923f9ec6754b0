#' Distances from a kernel
#'
#' The distances a kernel puts between observations, for [stats::hclust()], [stats::cmdscale()], nearest neighbours
#' and whatever else wants distances.
#'
#' @details
#' `"feature"` is the distance of the points in the feature space, \eqn{\{k(x, x) + k(z, z) - 2k(x,
#' z)\}^{1/2}}{sqrt(k(x, x) + k(z, z) - 2 k(x, z))}. `"log"` is \eqn{[-\log\{k(x, z)/\sqrt{k(x, x)k(z,
#' z)}\}]^{1/2}}{sqrt(-log(k(x, z) / sqrt(k(x, x) k(z, z))))}, for kernels that are above zero and all of whose
#' positive powers are kernels too; then it is a metric. For `k_bag("jensen_shannon")` it is the root of the
#' Jensen-Shannon divergence, which stays apart where `"feature"` levels off.
#'
#' @section Which method when:
#' `"log"` for `k_se()` and for `k_bag()` of types `"jensen_shannon"`, `"entropy"`, `"igv"` and `"mean_map"`;
#' `"feature"` for all else.
#'
#' @param x Observations as for [kernel_matrix()].
#' @param kernel A kernel, or its text.
#' @param type Which distance.
#' @param ... Not used.
#' @return An object of class `dist`.
#' @references
#' Endres and Schindelin (2003). A new metric for probability distributions. *IEEE Transactions on Information
#' Theory* 49, 1858--1860.
#' @seealso [kernel_matrix()], [k_bag()], [k_string()]
#' @export
#' @examples
#' d <- kernel_distance(t(HairEyeColor[, , "Male"]), k_bag("jensen_shannon"), type = "log")
#' d
#' hclust(d)
#' kernel_distance(c("granary", "grammar", "hammer"), k_string(length = 2))
kernel_distance <- function(x, kernel, type = c("feature", "log"), ...) {
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (missing(kernel)) fail_missing("kernel")
  type <- check_choice(type, c("feature", "log"))
  k <- kernel_matrix(kernel, x)
  diagonal <- diag(k)
  if (type == "feature") {
    squares <- outer(diagonal, diagonal, `+`) - 2 * k
  } else {
    if (any(k <= 0)) {
      at <- which(k <= 0, arr.ind = TRUE)[1L, ]
      text <- paste0("`type = \"log\"` needs a kernel above zero, but that of observations %d and %d is %s.\n",
                     "Use type = \"feature\".")
      abort_input(sprintf(text, at[1L], at[2L], format(k[at[1L], at[2L]], digits = 3L)), "type")
    }
    squares <- -log(k / sqrt(outer(diagonal, diagonal)))
  }
  stats::as.dist(sqrt(pmax(squares, 0)))
}
