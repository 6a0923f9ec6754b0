#' t-SNE: a map of data by their neighbours
#'
#' Positions in two (or one, or three) dimensions in which the neighbours of a row are its neighbours in the data: a
#' picture of groups, text, cells, images. Barnes-Hut t-SNE in
#' \eqn{O(n \log n)}{O(n log n)}, the dual-tree variant, exact t-SNE, and two relatives.
#'
#' @details
#' Rows \eqn{i} and \eqn{j} are alike by \eqn{p_{ij} = (p_{j|i} + p_{i|j}) / 2n}{p_ij = (p_j|i + p_i|j) / 2n}, with
#' \eqn{p_{j|i} \propto \exp(-d_{ij}^2 / 2\sigma_i^2)}{p_j|i ~ exp(-d_ij^2 / 2 sigma_i^2)} over the
#' \eqn{\lfloor 3u \rfloor}{floor(3 u)} nearest neighbours and \eqn{\sigma_i}{sigma_i} such that the perplexity is
#' \eqn{u} ([tsne_affinity()]). The map minimises
#' \deqn{KL(P \| Q) = \sum_{ij} p_{ij} \log\frac{p_{ij}}{q_{ij}}, \quad q_{ij} = \frac{(1 + |y_i - y_j|^2)^{-1}}{Z}}{KL(P || Q) = sum_ij p_ij log(p_ij / q_ij), q_ij = 1 / (1 + |y_i - y_j|^2) / Z}
#' by descent with momentum and a gain for each coordinate. Attraction runs over the neighbours; repulsion is
#' approximated by a tree of cells: a cell stands for all its points where its side is less than `theta` times its
#' distance (`method = "barnes_hut"`), or pairs of cells do (`"dual_tree"`; the paper finds no gain, and nor do we).
#' `"exact"` uses all pairs, in \eqn{P} too.
#'
#' `type = "ssne"` has a normal kernel in the map,
#' \eqn{q_{ij} \propto \exp(-|y_i - y_j|^2)}{q_ij ~ exp(-|y_i - y_j|^2)}; `"elastic"` minimises
#' \eqn{\sum p_{ij} |y_i - y_j|^2 + \lambda}{sum p_ij |y_i - y_j|^2 + lambda} mean
#' \eqn{\exp(-|y_i - y_j|^2)}{exp(-|y_i - y_j|^2)}. They crowd the middle more, and keep the large scale better.
#'
#' **The cost that is reported** has \eqn{Z} summed over all pairs up to 20000 rows, and by a tree with `theta` 0.1
#' beyond (`exact_cost` says which). Costs in `trace` have the \eqn{Z} of the tree of the run, which is too small:
#' compare maps by `cost`, never by what a tree reports on the way.
#'
#' **What to trust.** Neighbours and groups, not distances between groups, sizes of groups, or densities. Run it twice,
#' with another seed (`init = "random"`) and another perplexity, and look with [assess()] at how many neighbours were
#' kept. The solver stops after `max_iter` iterations; it is called converged when attraction and repulsion at the
#' answer balance to within 5 percent of their sizes, computed without a tree up to 20000 rows.
#' `update(fit, max_iter = 500)` goes on where it stopped; the result is the same as that of one longer run.
#'
#' The paper's settings are `perplexity = 50, init = "random", rate = 200`; others are defaults here. `rate = "auto"` is
#' \eqn{n} over the exaggeration, at least 200, and `init = "pca"` starts from the two leading principal components,
#' which keeps more of the large scale (both became usual after the paper). Results depend on `set.seed()` only where
#' the start is random, and never on the number of threads.
#'
#' @section Which method when:
#' `tsne()` to see groups and neighbours in many rows. Principal components or [mds()] when distances in the picture
#' must mean something, [isomap()] for one bent sheet, [gplvm()] for few rows with noise and a model,
#' [bregman_cluster()] to find the groups themselves.
#'
#' @param x Rows: a matrix, data frame or sparse matrix without missing values; or distances ([stats::dist()]); or
#'   neighbours from [nearest_neighbors()], a list of `index` and `distance`.
#' @param k Number of dimensions of the map: 1, 2 or 3.
#' @param perplexity How many neighbours a row has, in effect; at most a third of the other rows.
#' @param type `"tsne"`, or one of its relatives; see Details.
#' @param method How repulsion is summed.
#' @param metric `"euclidean"`, `"manhattan"`, `"maximum"`, `"cosine"`, `"correlation"`, or a function of two rows that
#'   is a metric.
#' @param theta Largest size of a cell, relative to its distance, that stands for its points; `NULL` for 0.5, and 0.2
#'   for the dual tree. 0 is exact.
#' @param cell What the size of a cell is: its side, as in the author's program, or its diagonal, as the paper says.
#' @param pca Rows with more columns than this are first reduced to so many principal components (Euclidean distance
#'   only); 0 for never.
#' @param init `"pca"`, `"random"`, or a matrix of positions.
#' @param lambda Weight of the repulsion, for `type = "elastic"`.
#' @param exaggeration,exaggeration_iter Factor of \eqn{P} in the first iterations, and their number; `NULL` for 12, and
#'   4 for the relatives.
#' @param momentum Momentum in the first iterations and after.
#' @param rate Learning rate, or `"auto"`.
#' @param max_iter Number of iterations.
#' @param tol Stop before that when the forces balance to within this share; 0 for never.
#' @param callback `NULL`, `"plot"` to see the map every 50 iterations, or a function of the iteration, the map and its
#'   cost; if it gives `FALSE` the run ends there.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @return An object of class `granary_tsne`, a [granary_embedding], with `latent` (the map, rows in the order they
#'   came), `cost`, `point_cost` (of each row), `exact_cost`, `trace`, `sigma`, `perplexity`,
#'   `theta`, `rate`, `restarts` (how often the learning rate had to be halved) and `convergence`.
#' @references
#' van der Maaten (2014). Accelerating t-SNE using tree-based algorithms. *Journal of Machine Learning Research* 15,
#' 3221--3245.
#'
#' van der Maaten and Hinton (2008). Visualizing data using t-SNE. *Journal of Machine Learning Research* 9, 2579--2605.
#'
#' Carreira-Perpinan (2010). The elastic embedding algorithm for dimensionality reduction. *International Conference on
#' Machine Learning*, 167--174.
#' @seealso [granary_tsne] for what can be done with the map, [nearest_neighbors()], [tsne_affinity()],
#'   [tsne_gradient()], [isomap()], [mds()].
#' @export
#' @examples
#' fit <- tsne(iris[1:4])
#' fit
#' plot(fit, labels = iris$Species)
#' assess(fit, truth = iris$Species)
tsne <- function(x, k = 2, perplexity = 30, type = c("tsne", "ssne", "elastic"),
                 method = c("barnes_hut", "dual_tree", "exact"), metric = "euclidean", theta = NULL,
                 cell = c("side", "diagonal"), pca = 50, init = "pca", lambda = 10, exaggeration = NULL,
                 exaggeration_iter = 250, momentum = c(0.5, 0.8), rate = "auto",
                 max_iter = 1000, tol = 0, callback = NULL, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  k <- check_count(k, upper = 3)
  options <- tsne_options(k, check_choice(type, c("tsne", "ssne", "elastic")),
                          check_choice(method, c("barnes_hut", "dual_tree", "exact")), theta,
                          check_choice(cell, c("side", "diagonal")), lambda, exaggeration, exaggeration_iter, momentum,
                          max_iter, tol, thread_count(threads))
  pca <- check_count(pca, lower = 0)
  watch <- tsne_watch(callback)
  source <- map_source(x, metric)
  perplexity <- check_perplexity(perplexity, source, options$method)
  n <- source$n
  options$rate <- if (identical(rate, "auto")) max(n / options$exaggeration,
                                                   if (options$type == "tsne") 200 else 0) else {
    if (!is_plain_numeric(rate)) fail_input("rate", "\"auto\" or one number greater than 0", describe(rate))
    check_number(rate, lower = 0, strict_lower = TRUE)
  }
  start <- tsne_init(init, source, k)
  source <- reduce_source(source, pca)
  affinity <- source_affinity(source, perplexity, options$method, options$threads)
  if (is.null(start)) start <- core_tsne_start(source$x, k, 1e-4, NULL)
  found <- core_tsne(affinity$p, start, options, watch, progress_bar("t-SNE"))
  new_tsne(found, affinity$sigma, source, perplexity, options, call)
}

tsne_options <- function(k, type, method, theta, cell, lambda, exaggeration, exaggeration_iter, momentum, max_iter, tol,
                         threads) {
  if (is.null(theta)) theta <- if (method == "dual_tree") 0.2 else 0.5
  if (is.null(exaggeration)) exaggeration <- if (type == "tsne") 12 else 4
  momentum <- check_vector(momentum, "momentum", length = 2, lower = 0, upper = 1, strict_upper = TRUE)
  list(k = k, type = type, method = method, theta = check_number(theta, lower = 0, upper = 2), cell = cell,
       lambda = check_number(lambda, lower = 0, strict_lower = TRUE),
       exaggeration = check_number(exaggeration, lower = 1),
       exaggeration_iter = check_count(exaggeration_iter, lower = 0), early_momentum = momentum[1L],
       late_momentum = momentum[2L], max_iter = check_count(max_iter, lower = 0), tol = check_number(tol, lower = 0),
       threads = threads)
}

# Every third of the other rows is a neighbour at most; with all pairs every other row.
check_perplexity <- function(perplexity, source, method) {
  perplexity <- check_number(perplexity, "perplexity", lower = 1)
  others <- if (is.null(source$index)) source$n - 1L else nrow(source$index)
  most <- if (method == "exact") others else floor(others / 3)
  if (most < 1) {
    abort_input(sprintf("`x` must have at least %d rows for a map.", if (method == "exact") 2L else 4L), "x")
  }
  if (method == "exact" && !is.null(source$index) && others < source$n - 1L) {
    abort_input("`method = \"exact\"` needs the distances of all pairs: give rows or distances instead of neighbours.",
                "method")
  }
  if (floor(3 * perplexity) > others && method != "exact" || perplexity > most) {
    abort_input(sprintf("`perplexity` must be at most %s for %d rows%s, not %s.", format(most), source$n,
                        if (is.null(source$index)) "" else sprintf(" with %d neighbours each", others),
                        format(perplexity)), "perplexity")
  }
  if (method == "exact") check_all_pairs(source$n, 5, "Use method = \"barnes_hut\".")
  perplexity
}

tsne_init <- function(init, source, k) {
  if (is.character(init) && length(init) == 1L && !is.object(init)) {
    init <- check_choice(init, c("pca", "random"))
    if (init == "pca" && !is.null(source$x)) return(NULL)
    return(core_tsne_draw(source$n, k, 1e-2, core_seed()))
  }
  if (inherits(init, "granary_embedding")) init <- init$latent
  start <- check_matrix(init, "init", max_abs = 1e5)
  if (nrow(start) != source$n || ncol(start) != k) {
    abort_input(sprintf("`init` must be \"pca\", \"random\" or a %d x %d matrix of positions, but it is %d x %d.",
                        source$n, k, nrow(start), ncol(start)), "init")
  }
  if (all(start == rep(start[1L, ], each = nrow(start)))) {
    abort_input("`init` must have different positions: rows that start on each other never part.", "init")
  }
  unname(start)
}

# Rows centred, divided by their largest number, and reduced to principal components, where distances are Euclidean.
reduce_source <- function(source, pca) {
  if (is.null(source$x) || !identical(source$metric, "euclidean") ||
      (isS4(source$x) && (pca == 0L || ncol(source$x) <= pca))) {
    return(source)
  }
  reduced <- core_tsne_rows(source$x, pca, progress_bar("principal components"))
  source$x <- reduced$rows
  source$reduction <- reduced[c("center", "rotation", "unit")]
  source
}

# What compiled code is told of a source.
core_source <- function(source) {
  if (is.function(source$metric)) source$metric <- NULL
  source[intersect(c("n", "x", "metric", "dist", "index", "distance", "own"), names(source))]
}

source_affinity <- function(source, perplexity, method, threads) {
  neighbors <- if (method == "exact") 0L else as.integer(floor(3 * perplexity))
  found <- core_tsne_affinity(core_source(source), neighbors, perplexity, threads, progress_bar("neighbours"))
  if (found$unreached == source$n) {
    warn_input(
      "No row reaches the perplexity: all neighbours are equally far, or more rows than that are equal. The map shows ties, not distances.",
      "x")
  }
  if (!is.null(source$reduction)) found$sigma <- found$sigma * source$reduction$unit
  found
}

tsne_watch <- function(callback) {
  if (is.null(callback)) return(NULL)
  if (identical(callback, "plot")) {
    callback <- function(iteration, latent, cost) {
      graphics::plot(latent[, 1L], if (ncol(latent) > 1L) latent[, 2L] else latent[, 1L], pch = 19, cex = 0.4,
                     col = "#2166ac", xlab = "dim1", ylab = "dim2",
                     main = sprintf("iteration %d, cost %.4f", iteration, cost))
    }
  }
  if (!is.function(callback)) {
    fail_input("callback", "NULL, \"plot\" or a function of the iteration, the map and its cost", describe(callback))
  }
  function(iteration, latent, cost) !identical(user_value(callback, "callback", iteration, latent, cost), FALSE)
}

new_tsne <- function(found, sigma, source, perplexity, options, call) {
  latent <- t(found$state$y)
  dimnames(latent) <- list(source$labels, paste0("dim", seq_len(ncol(latent))))
  source$labels <- NULL
  new_fit(c("tsne", "embedding"), latent = latent, cost = found$cost,
          point_cost = stats::setNames(found$point_cost, rownames(latent)), exact_cost = found$exact,
          trace = as.data.frame(found$trace), sigma = sigma, perplexity = perplexity, theta = options$theta,
          type = options$type, method = options$method, rate = found$state$rate, restarts = found$restarts,
          n = source$n, k = ncol(latent), options = options, state = found$state, source = source, call = call,
          convergence = found$convergence)
}
