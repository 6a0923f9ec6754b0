#' Centres that leave no point far away
#'
#' Chooses `k` of the points as centres so that the farthest point is as near to its centre as possible: where to place
#' stations, which rows to keep as examples, how to cover a data set with few balls.
#'
#' @details
#' Minimises \eqn{\max_p \min_i d(p, c_i)}{max_p min_i d(p, c_i)}. `"farthest"` (Gonzalez) adds the point farthest from
#' the centres so far, in \eqn{O(nk)}{O(nk)} distances; `"threshold"` (Hochbaum and Shmoys) searches the least radius at
#' which greedy centres, pairwise more than two radii apart, suffice; both are at most twice the optimum, and no method
#' in polynomial time can promise less. `"exact"` finds the optimum by covers with branch and bound, for up to some
#' hundred points. A lower bound comes with each: \eqn{k + 1} points that are pairwise far apart need a radius of half
#' their distance.
#'
#' A clustering that survives all errors of distances by a factor 2 is found by every method with that promise (Theorem
#' 13.8 of the reference). So if `"farthest"` and `"threshold"` disagree, the data are not that stable.
#'
#' @section Which method when:
#' `k_center()` when the worst point counts, and for millions of rows (`"farthest"` needs no table of distances);
#' [resilient_cluster()] with `objective = "center"` when clusters rather than centres are wanted; [bregman_cluster()]
#' when the typical point counts.
#'
#' @param x Rows of numbers (Euclidean distances), or distances ([stats::dist()]).
#' @param k Number of centres.
#' @param method `"farthest"`, `"threshold"` or `"exact"`.
#' @param max_nodes Largest number of nodes in the search for a cover (`"exact"`).
#' @return An object of class `granary_k_center`, a [granary_clustering], with `cluster`, `medoids` (row numbers),
#'   `objective` (the radius), `lower_bound` of the best radius, `exact`, and for rows `centers`.
#' @references
#' Gonzalez (1985). Clustering to minimize the maximum intercluster distance. *Theoretical Computer Science* 38,
#' 293--306.
#'
#' Hochbaum and Shmoys (1985). A best possible heuristic for the k-center problem. *Mathematics of Operations Research*
#' 10, 180--184.
#'
#' Makarychev and Makarychev (2016). Bilu-Linial stability. In: *Perturbations, Optimization, and Statistics*, chapter
#' 13. MIT Press.
#' @seealso [resilient_cluster()], [cluster_resilience()].
#' @export
#' @examples
#' fit <- k_center(UScitiesD, k = 4, method = "exact")
#' fit
#' labels(UScitiesD)[fit$medoids]
#' k_center(iris[1:4], k = 5)
k_center <- function(x, k, method = c("farthest", "threshold", "exact"), max_nodes = 1e7) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(k)) fail_missing("k")
  method <- check_choice(method, c("farthest", "threshold", "exact"))
  rows <- NULL
  d <- NULL
  if (inherits(x, "dist") || method != "farthest") {
    given <- check_distances(x)
    d <- given$d
    rows <- given$rows
    labels <- given$labels
    n <- given$n
  } else {
    rows <- check_rows(x)
    labels <- rownames(rows)
    n <- nrow(rows)
  }
  k <- check_clusters(k, n)
  options <- list(k = k, method = method, max_nodes = check_number(max_nodes, lower = 1))
  found <- core_k_center(d, if (is.null(d)) plain_rows(rows), options, progress_bar("centres"))
  if (length(found$medoids) < k) {
    found_points <- length(found$medoids)
    warn_input(sprintf(ngettext(found_points, "There is only %d different point: one centre is enough.",
                                "There are only %d different points: so many centres are enough."), found_points), "k")
    k <- length(found$medoids)
  }
  centers <- if (!is.null(rows)) as.matrix(rows[found$medoids, , drop = FALSE])
  if (!is.null(centers)) dimnames(centers) <- list(seq_len(k), variable_names(colnames(rows), ncol(rows)))
  fit <- new_clustering(
    c("k_center", "resilient_cluster"), cluster = stats::setNames(found$cluster, labels), centers = centers,
    sizes = tabulate(found$cluster, k), objective = found$objective,
    medoids = stats::setNames(found$medoids, labels[found$medoids]), lower_bound = found$lower_bound,
    exact = found$exact, method = method, labels = labels,
    scores = if (!is.null(centers)) center_scores(centers),
    per_cluster = list(medoid = if (is.null(labels)) found$medoids else labels[found$medoids]),
    title = "Centres that leave no point far away", measure = "Radius", call = call, convergence = found$convergence
  )
  check_convergence(fit)
}

#' @export
print_more.granary_k_center <- function(x) {
  cli::cat_line("Centres: ", paste(utils::head(x$per_cluster$medoid, 12L), collapse = ", "),
                if (length(x$medoids) > 12L) ", ...")
  cli::cat_line(
    if (x$exact) "No choice of centres has a smaller radius" else sprintf(
      "No choice of centres has a radius below %.6g", x$lower_bound))
}

#' @export
plot.granary_k_center <- function(x, newdata = NULL, ...) {
  if (!is.null(newdata)) return(plot.granary_clustering(x, newdata, ...))
  if (is.null(x$centers)) {
    draw(graphics::barplot, x$sizes, names.arg = x$per_cluster$medoid, las = 2, ylab = "points",
         main = "Points of each centre", col = cluster_colors(length(x$sizes)), border = NA, user = list(...))
    return(invisible(x))
  }
  plot_centers(x, ...)
}

#' @exportS3Method ggplot2::autoplot
autoplot.granary_k_center <- function(object, newdata = NULL, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  if (!is.null(newdata) || !is.null(object$centers)) return(autoplot.granary_clustering(object, newdata))
  rows <- data.frame(center = factor(object$per_cluster$medoid, object$per_cluster$medoid), points = object$sizes)
  ggplot2::ggplot(rows, ggplot2::aes(.data$center, .data$points)) + ggplot2::geom_col() + ggplot2::labs(x = NULL) +
    ggplot2::theme_minimal()
}

#' @importFrom stats as.hclust
#' @export
as.hclust.granary_k_center <- function(x, ...) not_for(x, "as.hclust()", "it has no tree")

#' @export
augment.granary_k_center <- function(x, data = NULL, ...) augment.granary_clustering(x, data, ...)
