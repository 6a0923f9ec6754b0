#' Rows about the corners of a cube
#'
#' The data of the paper: random corners of \eqn{\{0, width\}^d}{\{0, width\}^d} with normal rows of variance 1 about
#' each.
#'
#' @param n Number of rows, dealt out equally and in random order.
#' @param k,d Number of corners and of columns.
#' @param width Side of the cube.
#' @return A list with `x`, `cluster` and `centers`.
#' @section Which method when:
#' To see how much good seeds are worth where the clusters are known and far apart; [sim_bregman()] for clusters of other
#' laws.
#' @seealso [stream_kmeans()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_stream_kmeans(1000)
#' kmeans_cost(sim$x, sim$centers)
sim_stream_kmeans <- function(n = 10000, k = 25, d = 15, width = 500) {
  n <- check_count(n, upper = 1e8)
  k <- check_count(k)
  d <- check_count(d)
  width <- check_number(width, lower = 0)
  if (d < 31L && k > 2^d) abort_input(sprintf("`k` must be at most the number of corners, %.0f, not %d.", 2^d, k), "k")
  centers <- matrix(0, 0L, d)
  while (nrow(centers) < k) {  # corners that differ
    more <- matrix(stats::rbinom(2L * k * d, 1L, 0.5), ncol = d)
    centers <- unique(rbind(centers, more))
  }
  centers <- width * centers[seq_len(k), , drop = FALSE]
  cluster <- sample(rep_len(seq_len(k), n))
  list(x = centers[cluster, , drop = FALSE] + stats::rnorm(n * d), cluster = cluster, centers = centers)
}
