#' Data from a mixture of an exponential family
#'
#' Rows from a mixture of normal, Poisson, binomial, multinomial, exponential, gamma, Bernoulli or negative binomial laws, to try clusterings on.
#'
#' @section Which method when:
#' `sim_bregman()` for mixtures with known clusters to try [bregman_cluster()] on; `simulate()` of a fit for data like those at hand.
#'
#' @param n Number of rows.
#' @param centers Means of the components, one per row; a vector is one column.
#' @param divergence The law, as a name or [bregman_family()].
#' @param share Shares of the components; `NULL` for equal ones.
#' @param size Sum of a row, for `"multinomial"`.
#' @return A list with `x`, the rows, `cluster`, their components, and `centers`.
#' @seealso [bregman_cluster()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_bregman(100, c(10, 20, 40), bregman_family("binomial", 100))
#' table(sim$cluster, bregman_cluster(sim$x, k = 3, divergence = bregman_family("binomial", 100))$cluster)
sim_bregman <- function(n, centers, divergence = "gaussian", share = NULL, size = 100) {
  n <- check_count(n, upper = 1e8)
  if (missing(centers)) fail_missing("centers")
  centers <- as.matrix(check_rows(centers, "centers"))
  family <- check_divergence(divergence, ncol(centers), colnames(centers))
  size <- check_count(size)
  share <- if (is.null(share)) rep(1, nrow(centers)) else check_vector(share, length = nrow(centers), lower = 0)
  if (sum(share) == 0) abort_input("`share` must not all be zero.", "share")
  core_bregman_base(plain_rows(centers), family$core, FALSE)
  drawn <- core_bregman_draws(n, plain_rows(centers), share, family$core, size, core_seed())
  colnames(drawn$x) <- colnames(centers)
  list(x = drawn$x, cluster = drawn$cluster, centers = centers)
}
