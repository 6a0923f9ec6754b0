#' How much a clustering can bear
#'
#' Says whether clusters are an artefact of small errors in the distances: margins that stable clusters must have, an
#' adversarial change of the distances at the most fragile point, and the share of random changes after which the same
#' clusters are found again.
#'
#' @details
#' Distances \eqn{d'} are an \eqn{\alpha}{alpha}-perturbation of \eqn{d} if
#' \eqn{d \le d' \le \alpha d}{d <= d' <= alpha d}. Clusters that are optimal for all of them must have
#' \eqn{\rho = \min d(p, c_j) / d(p, c_i) > \alpha}{rho = min d(p, c_j) / d(p, c_i) > alpha} over points \eqn{p} of
#' cluster \eqn{i} and other centres \eqn{c_j}: `rho` bounds from above what a clustering can bear. The adversary is the
#' metric of the proof at the point where `rho` is attained,
#' \eqn{d'(u, v) = \min(d(u, v), d(u, p) + r + d(c_j, v), d(v, p) + r + d(c_j, u))}{d'(u, v) = min(d(u, v), d(u, p) + r + d(c_j, v), d(v, p) + r + d(c_j, u))}
#' with \eqn{r = d(p, c_i)}{r = d(p, c_i)}, which makes the rival centre as near as the own one. If another clustering
#' is then cheaper, the given one does not survive factors of `rho`.
#'
#' Random changes multiply every distance by a factor from \eqn{[1, \alpha]}{[1, alpha]} (`type = "uniform"`) or by 1 or
#' \eqn{\alpha}{alpha} (`"extreme"`); with `metric`, shortest paths make a metric of the result again, which stays
#' within the bounds.
#'
#' @section Which method when:
#' After any clustering, to see which points are fragile and how large errors may be. Bootstrap methods ask whether
#' other *rows* would give the same clusters; this asks about the same rows with other *distances*.
#' [cluster_silhouette()] for a quick look without refitting.
#'
#' @param x Distances ([stats::dist()]) or rows of numbers.
#' @param cluster Labels of the points, or a clustering of granary.
#' @param objective What the clustering minimises: `"median"`, `"means"` or `"center"`.
#' @param factor Factors \eqn{\alpha}{alpha} to try.
#' @param n_rep Random changes for each factor.
#' @param type Law of the factors.
#' @param metric Whether changed distances are made a metric again.
#' @param recluster A function of distances ([stats::dist()]) that returns labels, by which the points are clustered
#'   anew; `NULL` for [resilient_cluster()] with both trees.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @param object A result of `cluster_resilience()`.
#' @param ... Passed on to [graphics::plot()], or not used.
#' @return An object of class `granary_cluster_resilience` with `margins` (`rho`, `separation`, `centers`, `balls`),
#'   `points` (a data frame: cluster, own and rival centre, `proximity`, `separation` for every point), `curve` (for
#'   every factor the share `unchanged`, mean `ari` and its 5% quantile), `together` (how often two points stay together
#'   at the largest factor) and `adversary`.
#' @inherit resilient_cluster references
#' @seealso [resilient_cluster()], [perturb_metric()], [cut_stability()].
#' @export
#' @examples
#' set.seed(1)
#' fit <- resilient_cluster(UScitiesD, k = 3)
#' how <- cluster_resilience(UScitiesD, fit, factor = c(1.1, 1.5), n_rep = 20)
#' how
#' head(tidy(how))
#' plot(how)
cluster_resilience <- function(x, cluster, objective = c("median", "means", "center"), factor = c(1.1, 1.5, 2, 2.41),
                               n_rep = 200, type = c("uniform", "extreme"), metric = TRUE,
                               recluster = NULL, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(cluster)) fail_missing("cluster")
  given <- check_distances(x)
  own <- inherits(cluster, "granary_clustering")
  labels <- check_labels(if (own) cluster$cluster else cluster, "cluster")
  if (length(labels) != given$n) {
    abort_input(sprintf("`cluster` must have one label per point, %d, but it has %d.", given$n, length(labels)),
                "cluster")
  }
  objective <- if (missing(objective) && own && !is.null(cluster$kind)) {
    cluster$kind
  } else {
    check_choice(objective, c("median", "means", "center"))
  }
  factor <- sort(unique(check_vector(factor, lower = 1)))
  type <- check_choice(type, c("uniform", "extreme"))
  metric <- check_flag(metric)
  again <- if (!is.null(recluster)) {
    check_function(recluster, "recluster")
    function(d) as.integer(check_labels(user_value(recluster, "recluster", stats::as.dist(d)), "recluster")) - 1L
  }
  options <- list(objective = objective, tree = "both", alpha = factor, n_rep = check_count(n_rep), law = type,
                  metric = metric, threads = thread_count(threads))
  if (metric && is.null(given$rows)) warn_no_metric(given$d, options$threads)
  found <- core_cluster_resilience(given$d, as.integer(labels), options, again, core_seed(),
                                   progress_bar("changed distances"))
  name <- function(i) if (is.null(given$labels)) i else given$labels[i]
  margins <- found$margins
  rival <- found$medoids[ifelse(margins$rival > 0L, margins$rival, NA)]
  points <- data.frame(point = name(seq_len(given$n)), cluster = labels,
                       center = name(found$medoids[as.integer(labels)]), rival = name(rival),
                       proximity = margins$proximity, separation = margins$distance_ratio)
  together <- found$together
  if (!is.null(given$labels)) dimnames(together) <- list(given$labels, given$labels)
  adversary <- found$adversary
  adversary <- if (adversary$point > 0L) {
    list(point = name(adversary$point), rival = name(adversary$rival), alpha = adversary$alpha,
         before = adversary$before, after = adversary$after, cluster = adversary$cluster,
         changes = adversary$after < adversary$before * (1 - 1e-10))
  }
  new_fit("cluster_resilience", margins = margins[c("rho", "separation", "centers", "balls")], points = points,
          curve = stats::setNames(as.data.frame(found$curve), c("factor", "unchanged", "ari", "ari_low")),
          together = together, adversary = adversary, medoids = found$medoids, n_rep = options$n_rep, type = type,
          metric = metric, n = given$n, call = call, convergence = NULL)
}

#' @rdname cluster_resilience
#' @export
print.granary_cluster_resilience <- function(x, ...) {
  cli::cat_line("How much a clustering of ", x$n, " points can bear")
  print_call(x$call)
  m <- x$margins
  cli::cat_line(if (!is.finite(m$rho)) "Every point lies on its centre, or there is no other: no bound on what is survived" else {
    sprintf("Not every change of distances by factors up to %.4g is survived (rho, at %s)", m$rho, if (is.null(x$adversary)) "no point" else x$adversary$point)
  })
  cli::cat_line(
    sprintf("Margins: nearest point outside / own centre %.3g, distance of centres / radius %.3g (stable clusters: above 1.41), clusters are balls: %s",
            m$separation, m$centers, if (m$balls) "yes" else "no"))
  if (!is.null(x$adversary)) {
    cli::cat_line(
      if (x$adversary$changes) sprintf("The adversary at %s makes another clustering cheaper: %.6g instead of %.6g",
                                       x$adversary$point, x$adversary$after,
                                       x$adversary$before) else sprintf(
                                         "The adversary at %s found no cheaper clustering", x$adversary$point))
  }
  cli::cat_line(sprintf("Random changes (%d each, %s%s):", x$n_rep, x$type, if (x$metric) ", metric" else ""))
  print(x$curve, digits = 3L, row.names = FALSE)
  invisible(x)
}

#' @rdname cluster_resilience
#' @export
summary.granary_cluster_resilience <- function(object, ...) {
  refuse_dots(...)
  object
}

#' @rdname cluster_resilience
#' @export
tidy.granary_cluster_resilience <- function(x, ...) {
  refuse_dots(...)
  x$points[order(x$points$proximity), ]
}

#' @rdname cluster_resilience
#' @export
glance.granary_cluster_resilience <- function(x, ...) {
  refuse_dots(...)
  data.frame(n = x$n, rho = x$margins$rho, separation = x$margins$separation, centers = x$margins$centers,
             balls = x$margins$balls)
}

#' @rdname cluster_resilience
#' @export
plot.granary_cluster_resilience <- function(x, ...) {
  draw(graphics::plot, x$curve$factor, x$curve$unchanged, type = "b", pch = 16, ylim = c(0, 1),
       xlab = "largest factor of a distance", ylab = "share of random changes", bty = "l",
       main = "Same clusters after random changes", col = sign_colours[["positive"]], user = list(...))
  graphics::lines(x$curve$factor, x$curve$ari, type = "b", pch = 1, lty = 2)
  graphics::legend("bottomleft", c("unchanged", "mean adjusted Rand index"), pch = c(16, 1), lty = 1:2,
                   col = c(sign_colours[["positive"]], "black"), bty = "n", cex = 0.8)
  invisible(x)
}

#' @rdname cluster_resilience
#' @usage \method{autoplot}{granary_cluster_resilience}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_cluster_resilience <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  curve <- object$curve
  rows <- data.frame(factor = rep(curve$factor, 2L), value = c(curve$unchanged, curve$ari),
                     what = rep(c("unchanged", "mean adjusted Rand index"), each = nrow(curve)))
  ggplot2::ggplot(rows, ggplot2::aes(.data$factor, .data$value, linetype = .data$what)) + ggplot2::geom_line() +
    ggplot2::geom_point() + ggplot2::ylim(0, 1) +
    ggplot2::labs(x = "largest factor of a distance", y = NULL, linetype = NULL) + ggplot2::theme_minimal()
}

#' Distances changed at random
#'
#' Multiplies every distance by a random factor between 1 and `factor`, and makes a metric of the result.
#'
#' @details
#' With `metric`, the distances of the result are the shortest paths through the changed ones. If `x` is a metric they
#' satisfy \eqn{d \le d' \le \alpha d}{d <= d' <= alpha d} and the triangle inequality, as the notion of stability in
#' [cluster_resilience()] asks.
#'
#' @param x Distances ([stats::dist()]) or rows of numbers.
#' @param factor Largest factor \eqn{\alpha}{alpha}.
#' @param type Factors `"uniform"` on \eqn{[1, \alpha]}{[1, alpha]}, or `"extreme"`: 1 or \eqn{\alpha}{alpha}.
#' @param metric Whether to take shortest paths.
#' @return Distances ([stats::dist()]).
#' @section Which method when:
#' To try the stability of a method of your own; [cluster_resilience()] does so for clusterings.
#' @inherit resilient_cluster references
#' @seealso [cluster_resilience()].
#' @export
#' @examples
#' set.seed(1)
#' changed <- perturb_metric(UScitiesD, factor = 1.2)
#' range(changed / UScitiesD)
perturb_metric <- function(x, factor, type = c("uniform", "extreme"), metric = TRUE) {
  if (missing(x)) fail_missing("x")
  if (missing(factor)) fail_missing("factor")
  given <- check_distances(x)
  factor <- check_number(factor, lower = 1)
  type <- check_choice(type, c("uniform", "extreme"))
  out <- core_perturb_metric(given$d, factor, type, check_flag(metric), core_seed(), progress_bar("changed distances"))
  if (!is.null(given$labels)) dimnames(out) <- list(given$labels, given$labels)
  stats::as.dist(out)
}
