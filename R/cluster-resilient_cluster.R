#' Clusters that survive wrong distances
#'
#' Clusters around data points (k-median, k-means or k-center with centres among the points), found in a tree of merges
#' that provably holds the best clustering when that is stable: unchanged when distances are wrong by factors up to
#' \eqn{1 + \sqrt 2}{1 + sqrt(2)}.
#'
#' @details
#' The objective is \eqn{\sum_i \sum_{p \in C_i} d(p, c_i)}{sum_i sum_(p in C_i) d(p, c_i)} (`"median"`), the sum of
#' squares (`"means"`) or the largest distance (`"center"`), over partitions and centres \eqn{c_i \in C_i}{c_i in C_i}.
#' All three are hard in general. A *padded* ball \eqn{B(x, r)} is one whose points are all strictly nearer to \eqn{x}
#' than to any point outside; the
#' **closure tree** always merges the two clusters that a smallest padded ball around one of their points holds. If the
#' optimum is the only optimum for all metrics \eqn{d'} with
#' \eqn{d \le d' \le (1 + \sqrt 2) d}{d <= d' <= (1 + sqrt 2) d}, its clusters are nodes of this tree. `tree = "single"`
#' takes single linkage, which holds the optimum of instances stable to a factor 2; `"both"` the better of the two.
#' Within the tree the best division into \eqn{k} nodes is found by dynamic programming, for all numbers of clusters up
#' to `k_max` at once.
#'
#' Where the clusters are not stable, the best clustering inside the tree can be poor. `polish` then goes on from it: points
#' to their nearest centre, centres anew, and swaps of a centre with another point while one pays (not for `"center"`),
#' as in partitioning around medoids. On stable clusters it changes nothing.
#'
#' Stability itself cannot be checked, but what it implies can: every point must be more than
#' \eqn{1 + \sqrt 2}{1 + sqrt 2} times nearer to its own centre than to any other. The least such ratio is reported as
#' `rho`, with the other margins of the proof; where `rho` is below, the print says that the guarantee does not apply.
#' See [cluster_resilience()] for more.
#'
#' Time grows with \eqn{n^3}{n^3} in the worst case, memory with \eqn{n^2}{n^2}: a thousand points took 0.8 seconds of one
#' thread, 2000 took 9 where clusters are stable. A search by swaps alone (`cluster::pam()`) is several times faster, and
#' proves nothing: the tree asks of pairs and triples of points whether a ball is padded.
#'
#' @section Which method when:
#' `resilient_cluster()` when only distances are known, when centres must be data points, or when the question is
#' whether clusters are an artefact of measurement; [bregman_cluster()] for large tables; [k_center()] when the farthest
#' point matters and there are many; [stats::hclust()] for a tree without centres. Where `rho` is near 1 the groups are
#' not stable, the tree need not hold a good clustering, and what is returned is that of a search by swaps.
#'
#' @param x Distances ([stats::dist()]), or rows of numbers, whose Euclidean distances are taken. Turn a matrix of
#'   distances into such with [stats::as.dist()].
#' @param k Number of clusters.
#' @param objective `"median"`, `"means"` or `"center"`.
#' @param tree `"closure"`, `"single"` or `"both"`.
#' @param polish Whether to lower the cost further by swaps of centres, where the clustering of the tree leaves room.
#' @param k_max Costs are reported for 1 to `k_max` clusters.
#' @param object,newdata For `predict()`: new rows, or for a clustering of distances a matrix of their distances to the
#'   points (one column per point, matched by name).
#' @param threads Number of threads; see `options(granary.threads)`.
#' @param ... Not used.
#' @return An object of class `granary_resilient_cluster`, a [granary_clustering], with `cluster`, `medoids` (row
#'   numbers of the centres), `sizes`, `objective`, `costs` (for each number of clusters, inside the tree), `tree_objective`,
#'   `polished` (whether swaps found a cheaper clustering than the tree has), `tree` (the tree it was found
#'   in), `margins` (`rho`, `separation`, `centers`, `balls`; `proximity` per point), `guaranteed` (whether `rho` is
#'   large enough for the theorem) and, where `x` had rows, `centers`. [stats::as.hclust()] gives the tree, for
#'   [stats::cutree()] and [stats::as.dendrogram()]; its heights never fall, so a merge at a smaller closure distance
#'   than one before it is drawn at the height of that one.
#' @references Makarychev and Makarychev (2016). Bilu-Linial stability. In: *Perturbations, Optimization, and
#'   Statistics*, chapter 13. MIT Press.
#' @seealso [cluster_resilience()], [k_center()], [cluster_agreement()], [multiway_cut()].
#' @export
#' @examples
#' x <- c(0, 0.1, 0.35, 0.45, 5, 7, 9, 11)
#' fit <- resilient_cluster(x, k = 3)
#' fit
#' fit$costs
#' trip <- resilient_cluster(UScitiesD, k = 3, tree = "both")
#' split(labels(UScitiesD), trip$cluster)
#' plot(trip)
resilient_cluster <- function(x, k, objective = c("median", "means", "center"), tree = c("closure", "single", "both"),
                              k_max = k, polish = TRUE, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(k)) fail_missing("k")
  given <- check_distances(x)
  k <- check_clusters(k, given$n)
  k_max <- check_clusters(k_max, given$n, "k_max")
  objective <- check_choice(objective, c("median", "means", "center"))
  tree <- check_choice(tree, c("closure", "single", "both"))
  threads <- thread_count(threads)
  distinct <- distinct_points(given$d)
  if (k > distinct) {
    abort_input(sprintf("`k` must be at most the number of different points, %d, not %d.", distinct, k), "k")
  }
  options <- list(k = k, k_max = max(k, k_max), objective = objective, tree = tree, polish = check_flag(polish),
                  threads = threads)
  found <- core_resilient_cluster(given$d, options, progress_bar("tree of merges"))
  if (is.null(given$rows)) warn_no_metric(given$d, threads)
  margins <- found$margins
  needed <- if (found$tree == "closure") 1 + sqrt(2) else 2
  centers <- if (!is.null(given$rows)) given$rows[found$medoids, , drop = FALSE]
  if (!is.null(centers)) dimnames(centers) <- list(seq_len(k), variable_names(colnames(given$rows), ncol(given$rows)))
  names(margins$proximity) <- names(margins$distance_ratio) <- given$labels
  new_clustering(
    "resilient_cluster", cluster = stats::setNames(found$cluster, given$labels), centers = centers,
    sizes = tabulate(found$cluster, k), objective = found$objective,
    medoids = stats::setNames(found$medoids, given$labels[found$medoids]), costs = found$costs, tree = found$tree,
    kind = objective, margins = margins, tree_objective = found$tree_objective, polished = found$polished,
    guaranteed = margins$rho > needed && !found$polished, needed = needed, hclust = found$hclust, labels = given$labels,
    scores = if (!is.null(centers)) center_scores(centers),
    per_cluster = list(medoid = if (is.null(given$labels)) found$medoids else given$labels[found$medoids]),
    title = sprintf("Clusters around data points (k-%s) from the %s tree%s", objective,
                    if (found$tree == "closure") "closure" else "single-linkage",
                    if (found$polished) ", improved by swaps" else ""),
    measure = switch(objective, median = "Sum of distances to the centres",
                     means = "Sum of squared distances to the centres", center = "Largest distance to a centre"),
    call = call, convergence = found$convergence
  )
}

# Points that are no duplicates of an earlier one.
distinct_points <- function(d) {
  same <- d == 0 & upper.tri(d)
  if (!any(same)) return(nrow(d))
  twin <- which(colSums(same) > 0)
  first <- max.col(t(same[, twin, drop = FALSE]), "first")
  nrow(d) - sum(vapply(seq_along(twin), function(i) all(d[, twin[i]] == d[, first[i]]), NA))
}

# Distances as a full matrix, from a dist object or rows; `rows` is NULL for the former.
check_distances <- function(x, arg = "x") {
  if (inherits(x, "dist")) {
    d <- tryCatch(as.matrix(x), error = function(e) fail_input(arg, "distances (dist)", describe(x)))
    if (length(d) == 0L) abort_input(sprintf("`%s` must hold the distances of at least one point.", arg), arg)
    d <- check_symmetric(d, arg)
    if (any(d < 0)) abort_input(sprintf("Distances in `%s` must not be negative.", arg), arg)
    if (any(diag(d) != 0)) {
      abort_input(sprintf("The distance of a point from itself must be 0, but `%s` has others.", arg), arg)
    }
    labels <- attr(x, "Labels")
    if (!is.null(labels) && (length(labels) != nrow(d) || anyNA(labels))) labels <- NULL
    check_names_unique(labels, arg)
    return(list(d = unname(d), n = nrow(d), labels = labels, rows = NULL))
  }
  given <- x
  rows <- as.matrix(check_rows(x, arg))
  warn_distances(given, arg)
  check_all_pairs(nrow(rows), 5, "Take a sample of the rows, or use k_center().")
  size <- max(abs(rows), .Machine$double.xmin)
  list(d = unname(as.matrix(stats::dist(rows / size))) * size, n = nrow(rows), labels = rownames(rows), rows = rows)
}

# Guarantees are about metrics.
warn_no_metric <- function(d, threads = 1L, progress = NULL) {
  if (nrow(d) < 3L) return(invisible())
  violation <- core_triangle_violation(d, threads, progress)
  if (violation > 1e-8) {
    warn_input(
      sprintf("The distances are no metric: a detour is %.3g%% shorter than a direct distance. The clustering stands, its guarantee does not.",
              100 * violation), "x")
  }
}

#' @export
print_more.granary_resilient_cluster <- function(x) {
  rho <- x$margins$rho
  cli::cat_line("Centres: ", paste(utils::head(x$per_cluster$medoid, 12L), collapse = ", "),
                if (length(x$medoids) > 12L) ", ...")
  cli::cat_line(if (is.finite(rho)) sprintf("Every point is at least %.3g times nearer to its centre than to another: ", rho) else "Every point lies on its centre, or there is no other: ",
                if (x$guaranteed) sprintf(
                  "as clusters that survive factors of %.3g have it; if these do, they are the optimum", x$needed)
                else sprintf("below %.3g, so no guarantee of the optimum", x$needed))
}

#' @rdname resilient_cluster
#' @export
predict.granary_resilient_cluster <- function(object, newdata = NULL, ...) {
  if (is.null(newdata) || !is.null(object$centers)) return(NextMethod())
  refuse_dots(...)
  d <- check_matrix(newdata, "newdata")
  n <- length(object$cluster)
  if (!is.null(colnames(d)) && !is.null(object$labels)) d <- match_columns(d, object$labels, "newdata")
  if (ncol(d) != n) {
    abort_input(sprintf("`newdata` must have the distances to all %d points as columns, but it has %d.", n, ncol(d)),
                "newdata")
  }
  if (any(d < 0)) abort_input("Distances in `newdata` must not be negative.", "newdata")
  stats::setNames(max.col(-d[, object$medoids, drop = FALSE], "first"), rownames(d))
}

#' @rdname resilient_cluster
#' @importFrom stats as.hclust
#' @export
as.hclust.granary_resilient_cluster <- function(x, ...) {
  refuse_dots(...)
  tree <- x$hclust
  structure(list(merge = tree$merge, height = tree$height, order = tree$order, labels = x$labels,
                 method = if (x$tree == "closure") "closure" else "single", call = x$call, dist.method = NULL),
            class = "hclust")
}

#' @rdname resilient_cluster
#' @param type For `plot()`: `"tree"` for the tree with the clusters, `"proximity"` for how much nearer each point is to
#'   its centre than to another.
#' @export
plot.granary_resilient_cluster <- function(x, newdata = NULL, type = c("tree", "proximity"), ...) {
  if (!is.null(newdata)) return(NextMethod())
  type <- check_choice(type, c("tree", "proximity"))
  colors <- cluster_colors(length(x$sizes))
  if (type == "proximity") return(plot_proximity(x, colors, ...))
  if (length(x$cluster) < 2L) not_for(x, "plot(type = \"tree\")", "it has one point")
  tree <- stats::as.hclust(x)
  old <- graphics::par(mar = c(if (length(x$cluster) <= 60L) 7.1 else 2.1, 4.1, 2.1, 1.1))
  on.exit(graphics::par(old))
  drawn <- stats::as.dendrogram(tree)
  named <- length(x$cluster) <= 60L
  drawn <- stats::dendrapply(drawn, function(node) {
    if (stats::is.leaf(node)) {
      at <- if (is.null(x$labels)) as.integer(attr(node, "label")) else match(attr(node, "label"), x$labels)
      attr(node, "nodePar") <- list(pch = if (at %in% x$medoids) 17 else 16, cex = 0.7, col = colors[x$cluster[[at]]],
                                    lab.cex = 0.75)
    }
    node
  })
  draw(graphics::plot, drawn, ylab = if (x$tree == "closure") "closure distance" else "distance",
       main = sprintf("%d clusters; triangles are centres", length(x$sizes)),
       leaflab = if (named) "perpendicular" else "none", user = list(...))
  invisible(x)
}

plot_proximity <- function(x, colors, ...) {
  ratio <- pmin(x$margins$proximity, 100)
  order <- order(x$cluster, -ratio)
  draw(graphics::barplot, ratio[order], col = colors[x$cluster[order]], border = NA, log = "y",
       names.arg = if (length(ratio) <= 60L) x$labels[order], las = 2, cex.names = 0.7,
       ylab = "distance to the next centre / own centre", main = "Proximity of the points to their centres",
       user = list(...))
  graphics::abline(h = x$needed, lty = 2)
  graphics::mtext(sprintf("%.3g", x$needed), side = 4, at = x$needed, las = 1, cex = 0.8)
  invisible(x)
}

#' @rdname resilient_cluster
#' @usage \method{autoplot}{granary_resilient_cluster}(object, newdata = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_resilient_cluster <- function(object, newdata = NULL, ...) {  # nolint: object_name_linter.
  if (!is.null(newdata)) return(NextMethod())
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  order <- order(object$cluster, -object$margins$proximity)
  rows <- data.frame(place = seq_along(order), ratio = pmin(object$margins$proximity[order], 100),
                     cluster = factor(object$cluster[order]))
  ggplot2::ggplot(rows, ggplot2::aes(.data$place, .data$ratio, colour = .data$cluster)) + ggplot2::geom_point() +
    ggplot2::geom_hline(yintercept = object$needed, linetype = 2) + ggplot2::scale_y_log10() +
    ggplot2::scale_colour_manual(values = unname(cluster_colors(length(object$sizes)))) +
    ggplot2::labs(x = "point", y = "distance to the next centre / own centre") + ggplot2::theme_minimal()
}

#' @rdname resilient_cluster
#' @export
augment.granary_resilient_cluster <- function(x, data = NULL, ...) {
  out <- NextMethod()
  out$.proximity <- unname(x$margins$proximity)
  out
}
