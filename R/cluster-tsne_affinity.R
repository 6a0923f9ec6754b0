#' Similarities of t-SNE
#'
#' The matrix \eqn{P} that a t-SNE map is made of: how much each row is a neighbour of each other one, at a given
#' perplexity.
#'
#' @details
#' \eqn{p_{j|i} \propto \exp(-d_{ij}^2 / 2\sigma_i^2)}{p_j|i ~ exp(-d_ij^2 / 2 sigma_i^2)} over the
#' \eqn{\lfloor 3u \rfloor}{floor(3 u)} nearest neighbours, with \eqn{\sigma_i}{sigma_i} such that
#' \eqn{-\sum_j p_{j|i} \log p_{j|i} = \log u}{-sum_j p_j|i log p_j|i = log u}, found to 1e-12;
#' \eqn{p_{ij} = (p_{j|i} + p_{i|j}) / 2n}{p_ij = (p_j|i + p_i|j) / 2n}. Where more than \eqn{u} rows are equal, or all
#' neighbours equally far, no width reaches \eqn{u}: these share the probability evenly.
#'
#' @section Which method when:
#' For [tsne_gradient()], for spectral clustering or other maps of the same similarities, or to look at `sigma`, the
#' local scale of the data.
#' @inheritParams tsne
#' @param method `"exact"` for the similarities of all pairs.
#' @return A symmetric sparse matrix (`dgCMatrix`) of sum 1, with the widths \eqn{\sigma_i}{sigma_i} as its attribute
#'   `sigma`.
#' @inherit tsne references
#' @seealso [tsne()], [tsne_gradient()], [nearest_neighbors()].
#' @export
#' @examples
#' p <- tsne_affinity(iris[1:4], perplexity = 20)
#' sum(p)
#' summary(attr(p, "sigma"))
tsne_affinity <- function(x, perplexity = 30, method = c("barnes_hut", "exact"), metric = "euclidean", pca = 50,
                          threads = NULL) {
  if (missing(x)) fail_missing("x")
  method <- check_choice(method, c("barnes_hut", "exact"))
  pca <- check_count(pca, lower = 0)
  threads <- thread_count(threads)
  source <- map_source(x, metric)
  perplexity <- check_perplexity(perplexity, source, method)
  found <- source_affinity(reduce_source(source, pca), perplexity, method, threads)
  p <- found$p
  if (!is.null(source$labels)) dimnames(p) <- list(source$labels, source$labels)
  attr(p, "sigma") <- found$sigma
  p
}

#' Cost and gradient of a map
#'
#' What [tsne()] minimises, and its slope, for any map of the rows: to compare maps of different programs, to check a
#' tree against all pairs, or for an optimiser of your own.
#'
#' @details
#' \eqn{C = \sum_{ij} p_{ij} \log(p_{ij} / q_{ij})}{C = sum_ij p_ij log(p_ij / q_ij)} and
#' \eqn{dC/dy_i = 4 \sum_j (p_{ij} - q_{ij}) (1 + |y_i - y_j|^2)^{-1} (y_i - y_j)}{dC/dy_i = 4 sum_j (p_ij - q_ij) (y_i - y_j) / (1 + |y_i - y_j|^2)}
#' for t-SNE; see [tsne()] for its relatives. With `theta` above 0 repulsion and \eqn{Z} come from a tree, and the cost
#' is too small.
#'
#' @section Which method when: [assess()] for how well a map keeps neighbours; this for the cost itself.
#' @param x Similarities of the rows, from [tsne_affinity()]: a symmetric matrix, sparse or dense, that is not negative
#'   and has sum 1.
#' @param map Positions of the rows, one to three columns, or a map of granary.
#' @inheritParams tsne
#' @param theta Largest size of a cell, relative to its distance, that stands for its points; 0 sums over all pairs.
#' @return A list with `cost`, `point_cost`, `gradient` (of the size of the map) and `z`.
#' @inherit tsne references
#' @seealso [tsne()], [tsne_affinity()].
#' @export
#' @examples
#' p <- tsne_affinity(iris[1:4])
#' # principal components as a map, and t-SNE
#' tsne_gradient(p, stats::prcomp(iris[1:4])$x[, 1:2])$cost
#' tsne_gradient(p, tsne(iris[1:4]))$cost
tsne_gradient <- function(x, map, type = c("tsne", "ssne", "elastic"), method = c("barnes_hut", "dual_tree", "exact"),
                          theta = 0, cell = c("side", "diagonal"), lambda = 10,
                          threads = NULL) {
  if (missing(x)) fail_missing("x")
  if (missing(map)) fail_missing("map")
  p <- check_affinity(x)
  if (inherits(map, "granary_embedding")) map <- map$latent
  map <- check_matrix(map, max_abs = 1e100)
  if (nrow(map) != nrow(p) || ncol(map) > 3L) {
    abort_input(sprintf("`map` must have %d rows and one to three columns, but it is %d x %d.", nrow(p), nrow(map),
                        ncol(map)), "map")
  }
  options <- list(type = check_choice(type, c("tsne", "ssne", "elastic")),
                  method = check_choice(method, c("barnes_hut", "dual_tree", "exact")),
                  theta = check_number(theta, lower = 0, upper = 2), cell = check_choice(cell, c("side", "diagonal")),
                  lambda = check_number(lambda, lower = 0, strict_lower = TRUE), threads = thread_count(threads))
  found <- core_tsne_gradient(p, unname(map), options, progress_bar("gradient"))
  dimnames(found$gradient) <- dimnames(map)
  found$point_cost <- stats::setNames(found$point_cost, rownames(map))
  found[c("cost", "point_cost", "gradient", "z")]
}

# Similarities as compiled code wants them: sparse, symmetric, of sum 1, with a zero diagonal.
check_affinity <- function(x) {
  p <- check_matrix(x, "x", allow_sparse = TRUE)
  if (nrow(p) != ncol(p)) {
    abort_input(sprintf("`x` must be a symmetric matrix of similarities, but it is not square: %d rows, %d columns.",
                        nrow(p), ncol(p)), "x")
  }
  if (!isS4(p)) p <- methods::as(methods::as(unname(p), "CsparseMatrix"), "generalMatrix")
  attributes(p)$sigma <- NULL
  p@Dimnames <- list(NULL, NULL)
  if (any(p@x < 0)) abort_input("`x` must hold similarities, which are not negative.", "x")
  gap <- (p - Matrix::t(p))@x
  if (length(gap) > 0L && max(abs(gap)) > 1e-8 * max(p@x)) {
    abort_input("`x` must be symmetric: take (x + t(x)) / 2.", "x")
  }
  if (abs(sum(p@x) - 1) > 1e-6) {
    abort_input(sprintf("`x` must have sum 1, but its sum is %s: divide it by its sum.", format(sum(p@x), digits = 6L)),
                "x")
  }
  if (any(Matrix::diag(p) != 0)) abort_input("`x` must have a zero diagonal: a row is not its own neighbour.", "x")
  p
}
