#' Rows for supervised clustering
#'
#' Draws clustered rows of which a part, whole clusters at a time, is for training.
#'
#' @details
#' `type = "plus"`: clusters in two columns, in each of which half of the rows spread along the first and half along the second, so that a cluster looks like a plus sign and no
#' single set of weights fits (footnote 9 of the paper). `type = "model"`: a draw from the model with `p` columns: clusters and two types from Dirichlet processes.
#'
#' @section Which method when: To try [supervised_cluster()] where the truth is known.
#'
#' @param n Number of rows.
#' @param type `"plus"` or `"model"`.
#' @param k Number of clusters of `"plus"`.
#' @param p Number of columns of `"model"`.
#' @param theta Concentration of the clusters of `"model"`.
#' @param share Share of the clusters that are for training.
#' @return A list with `x`, `cluster`, `kind` (the reference type) and `train`, which rows are for training.
#' @references Daume and Marcu (2005). A Bayesian model for supervised clustering with the Dirichlet process prior. *Journal of Machine Learning Research* 6,
#'   1551--1577.
#' @seealso [supervised_cluster()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_supervised_cluster(200)
#' plot(sim$x, col = sim$cluster, pch = ifelse(sim$train, 16, 1), asp = 1)
sim_supervised_cluster <- function(n, type = c("plus", "model"), k = 12, p = 4, theta = 5, share = 0.5) {
  n <- check_count(n)
  type <- check_choice(type, c("plus", "model"))
  share <- check_number(share, lower = 0, upper = 1)
  if (type == "plus") {
    k <- check_count(k, upper = n)
    cluster <- rep_len(seq_len(k), n)
    side <- ceiling(sqrt(k))
    place <- cbind((seq_len(k) - 1) %% side, (seq_len(k) - 1) %/% side)
    place <- place + matrix(stats::runif(2 * k, -0.25, 0.25), k)
    kind <- ceiling(seq_len(n) / k) %% 2 + 1
    sd <- rbind(c(0.35, 0.03), c(0.03, 0.35))[kind, , drop = FALSE]
    x <- place[cluster, , drop = FALSE] + sd * matrix(stats::rnorm(2 * n), n)
    colnames(x) <- c("a", "b")
  } else {
    p <- check_count(p)
    theta <- check_number(theta, lower = 0, strict_lower = TRUE)
    cluster <- partition_prior(n, prior_dp(theta), n_draws = 1)$draws[1L, ]
    kind <- sample.int(2L, n, TRUE)
    means <- matrix(stats::rnorm(max(cluster) * p), ncol = p)
    weight <- matrix(stats::rgamma(2L * p, 1, 0.02), 2L)
    x <- means[cluster, , drop = FALSE] + matrix(stats::rnorm(n * p), n) / sqrt(weight[kind, , drop = FALSE])
    colnames(x) <- paste0("V", seq_len(p))
  }
  groups <- max(cluster)
  for_training <- sample.int(groups, round(share * groups))
  list(x = x, cluster = cluster, kind = kind, train = cluster %in% for_training)
}
