#' Stable clusters and cuts to try methods on
#'
#' Points in clusters, every point more than `factor` times nearer to its own centre than to another; or graphs with a
#' planted max cut or multiway cut whose edges weigh at least `factor` times those elsewhere.
#'
#' @details
#' `"clusters"`: centres at least \eqn{(\alpha + 1)(1 + m)}{(alpha + 1)(1 + m)} radii apart, \eqn{m} the `margin`,
#' points uniform in balls of radius 1 around them, the centre among them. `"max_cut"`: two sides, edges between them
#' with weights uniform on \eqn{[\alpha, 2\alpha]}{[alpha, 2 alpha]}, a few inside with weights uniform on
#' \eqn{[0, 1]}{[0, 1]}. `"multiway_cut"`: `k` parts with one terminal each, heavy edges inside and light ones between.
#'
#' @param n Number of points or nodes.
#' @param k Number of clusters or parts (two for a max cut).
#' @param type `"clusters"`, `"max_cut"` or `"multiway_cut"`.
#' @param factor Stability \eqn{\alpha}{alpha} that is planted.
#' @param p Dimension of the points.
#' @param margin How much farther apart than needed the centres are.
#' @param density Share of the pairs that have a light edge.
#' @return For clusters a list with `x`, `cluster`, `medoids`; for cuts one with `graph` (a matrix of weights),
#'   `partition` and, for multiway cuts, `terminals`.
#' @section Which method when:
#' To see [resilient_cluster()], [max_cut()] and [multiway_cut()] at work where the answer is known.
#' @inherit resilient_cluster references
#' @seealso [resilient_cluster()], [multiway_cut()], [max_cut()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_resilient(60, k = 3)
#' fit <- resilient_cluster(sim$x, k = 3)
#' assess(fit, truth = sim$cluster)
sim_resilient <- function(n, k = 3, type = c("clusters", "max_cut", "multiway_cut"), factor = 2.5, p = 2, margin = 0.1,
                          density = 0.3) {
  if (missing(n)) fail_missing("n")
  n <- check_count(n)
  type <- check_choice(type, c("clusters", "max_cut", "multiway_cut"))
  k <- check_clusters(if (type == "max_cut") 2 else k, n)
  alpha <- check_number(factor, lower = 1)
  margin <- check_number(margin, lower = 0)
  density <- check_number(density, lower = 0, upper = 1)
  p <- check_count(p)
  label <- c(seq_len(k), sample.int(k, n - k, replace = TRUE))
  if (type == "clusters") {
    apart <- (alpha + 1) * (1 + margin)
    side <- ceiling(k^(1 / p))
    grid <- as.matrix(expand.grid(rep(list(seq_len(side)), p)))[seq_len(k), , drop = FALSE] * apart
    direction <- matrix(stats::rnorm(n * p), n)
    x <- grid[label, , drop = FALSE] + direction / sqrt(rowSums(direction^2)) * stats::runif(n)^(1 / p)
    x[seq_len(k), ] <- grid
    dimnames(x) <- list(NULL, paste0("x", seq_len(p)))
    return(list(x = x, cluster = label, medoids = seq_len(k)))
  }
  heavy <- outer(label, label, if (type == "max_cut") `!=` else `==`)
  weight <- matrix(0, n, n)
  upper <- upper.tri(weight)
  weight[upper] <- ifelse(heavy[upper], stats::runif(sum(upper), alpha, 2 * alpha),
                          stats::runif(sum(upper)) * (stats::runif(sum(upper)) < density))
  weight <- weight + t(weight)
  c(list(graph = weight, partition = label), if (type == "multiway_cut") list(terminals = seq_len(k)))
}
