#' Multidimensional scaling
#'
#' A map whose distances follow those between the rows: classical scaling, Sammon's map, or non-metric scaling, which follows their order only.
#'
#' @details
#' With \eqn{d_{ij}}{d_ij} the given distances, \eqn{e_{ij} = |x_i - x_j|}{e_ij = |x_i - x_j|} those on the map and sums over pairs:
#'
#' * `"sammon"` minimises \eqn{\sum (d_{ij} - e_{ij})^2/d_{ij} \big/ \sum d_{ij}}{sum (d - e)^2 / d over sum d}: near pairs count most. A pair at
#'   distance zero has the weight of the nearest pair that is not.
#' * `"nonmetric"` minimises Kruskal's stress \eqn{\sqrt{\sum (e_{ij} - h_{ij})^2/\sum e_{ij}^2}}{sqrt(sum (e - h)^2 / sum e^2)} with \eqn{h} the
#'   best fit to \eqn{e} that increases with \eqn{d}; equal distances may have different \eqn{h}. The map is given the scale nearest to \eqn{d}.
#' * `"classical"` is the projection onto the leading eigenvectors of \eqn{-\frac12 J D^2 J}{-1/2 J D^2 J}, principal components where the
#'   distances are Euclidean; its `stress` is Kruskal's with \eqn{h = d}.
#'
#' The first two climb down by L-BFGS from classical scaling, or from `init`, to a local minimum; \eqn{O(n^2q)} per step.
#'
#' @section Which method when:
#' These are what [gplvm()] and its relatives are compared with: maps for data that are known by distances alone. They have no mapping back to the data
#' and place no new rows. Sammon's map keeps neighbourhoods, non-metric scaling suits ranks and ratings, classical scaling is the quick look.
#'
#' @param x Data, one row per case, or distances: the result of [stats::dist()].
#' @param k Number of dimensions of the map.
#' @param method See Details.
#' @param init A matrix to start from; `NULL` for classical scaling.
#' @param max_iter Largest number of steps.
#' @param tol Relative change of the objective at which to stop.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_mds` with the map `latent`, its `stress` and the `distance`s.
#' @references
#' Kruskal (1964). Nonmetric multidimensional scaling: a numerical method. *Psychometrika* 29, 115--129.
#'
#' Sammon (1969). A nonlinear mapping for data structure analysis. *IEEE Transactions on Computers* C-18, 401--409.
#' @seealso [gplvm()], [dppca()], [gplvm_dimension()], [isomap()], [kernel_pca()], [gtm()]
#' @export
#' @examples
#' fit <- mds(scale(iris[, 1:4]))
#' fit
#' assess(fit, truth = iris$Species)
#' plot(mds(eurodist, method = "classical"))
mds <- function(x, k = 2, method = c("sammon", "nonmetric", "classical"), init = NULL, max_iter = 500, tol = 1e-10, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(x)) fail_missing("x")
  method <- check_choice(method, c("sammon", "nonmetric", "classical"))
  data <- NULL
  if (inherits(x, "dist")) {
    if (length(x) == 0L) abort_input("`x` must hold the distances of at least two rows.", "x")
    distance <- check_matrix(as.matrix(x), "x")
    if (any(distance < 0)) abort_input("Distances in `x` must not be negative.", "x")
  } else {
    data <- check_matrix(x, min_rows = 2L)
    check_all_pairs(nrow(data), 5, "Take a sample of the rows.")
    size <- max(abs(data), .Machine$double.xmin)
    distance <- as.matrix(stats::dist(data / size)) * size
  }
  if (all(distance == 0)) abort_input("`x` must have rows that differ, but all are equal.", "x")
  n <- nrow(distance)
  q <- check_map_dimension(k, n - 1L)
  max_iter <- check_count(max_iter)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE)
  distance <- unname(distance)
  start <- matrix(0, 0L, q)
  if (!is.null(init)) {
    start <- unname(check_inputs(init, "init"))
    if (!identical(dim(start), c(n, q))) {
      abort_input(sprintf("`init` must be a %d x %d matrix of positions, but it is %d x %d.", n, q, nrow(start), ncol(start)), "init")
    }
  }
  labels <- if (is.null(data)) attr(x, "Labels") else rownames(data)
  raw <- core_mds(distance, start, list(method = method, k = q, max_iter = max_iter, tol = tol), progress_bar("multidimensional scaling"))
  source <- if (is.null(data)) matrix(0, n, 0L, dimnames = list(labels, NULL)) else data
  fit <- new_embedding("mds", raw$latent, source, stress = raw$stress, method = method, distance = distance, call = call,
                       convergence = raw$convergence)
  if (is.null(data)) fit$x <- NULL
  check_convergence(fit)
  fit
}
