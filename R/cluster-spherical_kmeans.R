#' Spherical k-means
#'
#' Partitions rows by their cosines: k-means for documents, embeddings and profiles, with a local search that leaves the
#' poor solutions in which sparse data with small clusters hold ordinary k-means.
#'
#' @details
#' With rows of length 1 it maximises
#' \eqn{\sum_i w_i x_i'\mu_{z(i)} = \sum_h |r_h|}{sum_i w_i x_i'mu_z(i) = sum_h |r_h|}, \eqn{r_h} the sum of the rows of
#' a cluster and
#' \eqn{\mu_h = r_h / |r_h|}{mu_h = r_h / |r_h|}. Assigning rows to their nearest direction stops early when clusters
#' are small, because every row pulls its own direction towards itself. The local search
#' moves rows one at a time where that raises the objective, and tries chains of moves where no single one does. Where
#' the start was not given it then joins the two clusters that lose least by it and divides another, and keeps what that
#' gains, so that two starting rows in one cluster do no harm.
#'
#' `balance = TRUE` gives clusters of similar sizes: directions compete with the concentration
#' \eqn{\kappa n / (k n_h)}{kappa n / (k n_h)}, so that large clusters lose (the frequency-sensitive variant of the
#' paper, which does not print its constant; \eqn{\kappa}{kappa} is the common one of [vmf_mixture()]). No local search
#' is made then.
#'
#' "Converged" means that every row is in the cluster of its nearest direction and, with local search, that no single
#' move raises the objective.
#'
#' @section Which method when:
#' When a partition by cosine is all that is wanted; [vmf_mixture()] when clusters differ in tightness or size, or
#' memberships are to be graded; [bregman_cluster()] for other distances.
#'
#' @inheritParams vmf_mixture
#' @param k Number of clusters.
#' @param balance Whether clusters are to have similar sizes.
#' @param local_search Whether rows are moved one at a time after the iterations have stopped.
#' @param start `"plusplus"`, `"sample"`, a matrix of directions, labels of the rows, or a mixture fitted before.
#' @return An object of class `granary_spherical_kmeans`, a [granary_clustering], with `cluster`, `centers` (the
#'   directions), `sizes`, `resultant` (mean cosine in each cluster), `objective` (sum of the
#'   cosines), `trace`, `values` (of all starts), `moves` of the local search.
#' @references
#' Dhillon and Modha (2001). Concept decompositions for large sparse text data using clustering. *Machine Learning* 42,
#' 143--175.
#'
#' Dhillon, Guan and Kogan (2002). Iterative clustering of high dimensional text data augmented by local search. *IEEE
#' International Conference on Data Mining*, 131--138.
#'
#' Banerjee, Dhillon, Ghosh and Sra (2005). Clustering on the unit hypersphere using von Mises-Fisher distributions.
#' *Journal of Machine Learning Research* 6, 1345--1382.
#' @seealso [vmf_mixture()], [cluster_cohesion()], [cluster_agreement()], [bregman_cluster()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_vmf(300, k = 3, d = 50, kappa = 40)
#' fit <- spherical_kmeans(sim$x, k = 3)
#' fit
#' assess(fit, truth = sim$cluster)
#' plot(fit, newdata = sim$x)
spherical_kmeans <- function(x, k, balance = FALSE, local_search = TRUE, weights = NULL, start = "plusplus",
                             n_starts = 10, normalize = TRUE, empty = c("error", "omit"),
                             max_iter = 300, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(k)) fail_missing("k")
  balance <- check_flag(balance)
  local_search <- check_flag(local_search)
  rows <- check_directions(x, normalize, empty, weights, inform = missing(normalize))
  k <- check_clusters(k, nrow(rows$x))
  begin <- direction_start(start, c("plusplus", "sample"), rows, k)
  if (!is.null(begin$parameters)) begin <- list(centers = begin$parameters$directions)
  options <- c(list(k = k, n_starts = check_count(n_starts), max_iter = check_count(max_iter),
                    threads = thread_count(threads)), begin)
  bar <- progress_bar("spherical k-means")
  if (balance) {
    found <- core_vmf_mixture(plain_rows(rows$x), rows$weights,
                              c(options, list(type = "hard", kappa = "balanced", equal_share = TRUE)), core_seed(), bar)
    w <- if (length(rows$weights) > 0L) rows$weights else rep(1, nrow(rows$x))
    found <- list(cluster = found$cluster, directions = found$parameters$directions,
                  size = vapply(seq_len(k), function(h) sum(w[found$cluster == h]), 0), resultant = found$resultant,
                  objective = sum(w * found$resultant[found$cluster]), trace = numeric(), values = found$values,
                  moves = 0L, convergence = found$convergence)
  } else {
    found <- core_spherical_kmeans(plain_rows(rows$x), rows$weights, c(options, list(local_search = local_search)),
                                   core_seed(), bar)
  }
  new_spherical(found, rows, k, balance, sorted = !is.null(begin$start), call)
}

new_spherical <- function(found, rows, k, balance, sorted, call) {
  at <- if (sorted) order(-found$size, seq_len(k)) else seq_len(k)
  centers <- found$directions[at, , drop = FALSE]
  dimnames(centers) <- list(seq_len(k), variable_names(colnames(rows$x), ncol(rows$x)))
  fit <- new_clustering(
    "spherical_kmeans", cluster = at_rows(match(found$cluster, at), rows), centers = centers, sizes = found$size[at],
    objective = found$objective, resultant = found$resultant[at],
    trace = found$trace, values = found$values, moves = found$moves,
    scores = list(theta = unname(centers), bias = rep(0, k)), balance = balance, omitted = rows$n - nrow(rows$x),
    scaled = rows$scaled, per_cluster = list(resultant = found$resultant[at]),
    title = paste0("Spherical k-means", if (balance) ", balanced", ": ", ncol(rows$x), " columns"),
    measure = "Sum of cosines", call = call, convergence = found$convergence
  )
  fit$n <- nrow(rows$x)
  check_convergence(seal(fit))
}

#' @export
print_more.granary_spherical_kmeans <- function(x) {
  cli::cat_line("Mean cosine with the own direction: ", format(x$objective / sum(x$sizes), digits = 4L),
                if (x$moves > 0L) paste0(" (", counted(x$moves, "row", "rows"), " moved by the local search)"))
  if (x$omitted > 0L) cli::cat_line(counted(x$omitted, "row of zeros has", "rows of zeros have"), " no cluster")
}

#' @rdname spherical_kmeans
#' @param object A clustering.
#' @param newdata New rows with the columns of the data, scaled to length 1 as those were.
#' @param type `"class"`, the only kind: these clusters are hard.
#' @param ... Not used.
#' @export
predict.granary_spherical_kmeans <- function(object, newdata = NULL, type = "class", threads = NULL, ...) {
  if (!is.null(newdata) && identical(type, "class")) check_directions(cluster_rows(object, newdata), arg = "newdata")
  predict.granary_clustering(object, newdata, type, threads, ...)
}

#' @rdname spherical_kmeans
#' @param truth Labels of the rows.
#' @export
assess.granary_spherical_kmeans <- function(object, truth = NULL, newdata = NULL, weights = NULL, ...) {
  refuse_dots(...)
  assess_directions(object, truth, newdata, weights)
}

#' Cohesion and separation of clusters of directions
#'
#' How near rows are to the direction of their cluster and how near directions are to each other, in cosines. Works for
#' any labels.
#'
#' @details
#' With \eqn{\mu_h}{mu_h} the direction of the sum of the rows of a cluster, scaled to length 1 each, `h_mean` and
#' `h_min` are the mean and the least of
#' \eqn{x_i'\mu_{z(i)}}{x_i'mu_z(i)} (large: tight clusters), `s_mean` is the
#' mean of \eqn{\mu_g'\mu_h}{mu_g'mu_h} over pairs of clusters, weighted by \eqn{n_g n_h}, and `s_max` their largest
#' (small: well separated); equations 6.1 to 6.4 of the paper.
#'
#' @section Which method when:
#' Without labels, for cosines, in linear time; [cluster_silhouette()] looks at every pair of rows,
#' [cluster_agreement()] at labels.
#'
#' @param x Rows, as in [vmf_mixture()].
#' @param cluster Labels of the rows, or a clustering of granary.
#' @return A list of class `granary_cohesion` with `h_mean`, `h_min`, `s_mean`, `s_max` (`NaN` for one cluster), and
#'   `clusters`, a data frame with one row per cluster.
#' @references Banerjee, Dhillon, Ghosh and Sra (2005). Clustering on the unit hypersphere using von Mises-Fisher
#'   distributions. *Journal of Machine Learning Research* 6, 1345--1382.
#' @seealso [assess()] for a clustering.
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_vmf(200, k = 3, d = 20, kappa = 30)
#' cluster_cohesion(sim$x, sim$cluster)
cluster_cohesion <- function(x, cluster) {
  if (missing(x)) fail_missing("x")
  if (missing(cluster)) fail_missing("cluster")
  rows <- check_directions(x)
  given <- if (inherits(cluster, "granary_clustering")) cluster$cluster else cluster
  labels <- check_labels(given, "cluster")
  if (length(labels) != nrow(rows$x)) {
    abort_input(sprintf("`cluster` must have one label per row, %d, but it has %d.", nrow(rows$x), length(labels)),
                "cluster")
  }
  found <- core_cluster_cohesion(plain_rows(rows$x), as.integer(labels))
  seal(structure(c(found[c("h_mean", "h_min", "s_mean", "s_max")],
                   list(clusters = data.frame(cluster = levels(labels), size = found$size, mean = found$cluster_mean, min = found$cluster_min))), class = "granary_cohesion"))
}

#' @export
print.granary_cohesion <- function(x, ...) {
  cli::cat_line(sprintf("Cosine of rows with their direction: mean %.4f, least %.4f", x$h_mean, x$h_min))
  if (!is.nan(x$s_mean)) cli::cat_line(sprintf("Cosine between directions: mean %.4f, largest %.4f", x$s_mean, x$s_max))
  print(x$clusters, digits = 4L, row.names = FALSE)
  invisible(x)
}
