#' Does robust linkage recover these clusters?
#'
#' For known labels: how many wrong neighbours each point has, how many points are better called bad, and whether
#' [robust_linkage()] is guaranteed to have the labels as a pruning.
#'
#' @details
#' A clustering has the \eqn{\alpha}{alpha}-good neighbourhood property when of the \eqn{n_C} nearest points of every
#' \eqn{x} (itself included, \eqn{n_C} the size of its cluster) at most \eqn{\alpha n}{alpha n} lie outside its cluster,
#' and the \eqn{(\alpha, \nu)}{(alpha, nu)} property when it does so after \eqn{\nu n}{nu n} bad points are removed.
#' Points are removed greedily, the worst first, which gives a curve of \eqn{\alpha}{alpha} against \eqn{\nu}{nu}: each
#' \eqn{\nu}{nu} is an upper bound of the least one. Where the smallest cluster has more than
#' \eqn{6(\alpha + \nu)n}{6 (alpha + nu) n} points, Theorem 1 of the paper guarantees a pruning with error at most
#' \eqn{\nu}{nu}; the point of the curve with the least such
#' \eqn{\nu}{nu} is reported. \eqn{\alpha = 0}{alpha = 0} is strict separation, under which single, average and complete
#' linkage work too.
#'
#' With `groups`, sets within the clusters (areas within fields, say), the weak property of section 4: the nearest of
#' each point, as many as its set has, lie in the set but for \eqn{\alpha n}{alpha n}, and a share \eqn{\beta}{beta} of
#' every set is good at that \eqn{\alpha}{alpha}; Theorem 4 needs \eqn{\beta \ge 7/8}{beta >= 7/8} and sets of more than
#' \eqn{6\alpha n}{6 alpha n} points.
#'
#' @inheritParams robust_linkage
#' @param labels Clusters of the points.
#' @param groups `NULL`, or sets of points within the clusters.
#' @param max_share Largest share of points to remove.
#' @return A list of class `granary_robust_linkage_check` with `table` (per point: `label`, wrong neighbours `outside`,
#'   `alpha`, and whether it is `"good"`, `"boundary"` or `"bad"` at the point of the curve that is reported), `curve`
#'   (`nu`, `alpha`, `size`, the size that clusters must have, `guaranteed`), `alpha`, `nu`, `eps`, `guaranteed`,
#'   `strict` (strict separation) and with `groups` `weak`.
#' @section Which method when:
#' To see whether noise or outliers are why a linkage fails, and what `eps` would be right, on data whose labels are
#' known.
#' @inherit robust_linkage references
#' @seealso [robust_linkage()], [tree_pruning()].
#' @export
#' @examples
#' sim <- sim_robust_linkage("topics", n = 64)
#' check <- robust_linkage_check(sim$similarity, sim$labels$region, similarity = TRUE)
#' check
#' plot(robust_linkage_check(iris[1:4], iris$Species))
robust_linkage_check <- function(x, labels, similarity = FALSE, metric = "euclidean", groups = NULL, max_share = 0.2,
                                 threads = NULL) {
  if (missing(x)) fail_missing("x")
  if (missing(labels)) fail_missing("labels")
  input <- linkage_input(x, check_flag(similarity), metric)
  labels <- check_row_labels(labels, input$n)
  sets <- if (!is.null(groups)) check_row_labels(groups, input$n, "groups")
  max_share <- check_number(max_share, lower = 0, upper = 1)
  if (!is.null(sets) && any(rowSums(table(sets, labels) > 0) > 1L)) {
    abort_input("`groups` must lie within the clusters: a group must not have points of two labels.", "groups")
  }
  n <- input$n
  values <- linkage_values(input, seq_len(n))
  found <- core_robust_check(values, input$closeness, as.integer(labels),
                             if (is.null(sets)) integer() else as.integer(sets), floor(max_share * n + 1e-9),
                             thread_count(threads))
  smallest <- min(table(labels))
  curve <- data.frame(nu = (seq_along(found$alpha) - 1) / n, alpha = found$alpha)
  curve$size <- 6 * (curve$alpha + curve$nu) * n
  curve$guaranteed <- curve$size < smallest - 1e-9
  at <- if (any(curve$guaranteed)) which(curve$guaranteed)[1L] else which.min(curve$size)
  status <- rep("good", n)
  status[found$outside > curve$alpha[at] * n + 1e-9] <- "boundary"
  status[found$removed[seq_len(at - 1L)]] <- "bad"
  table <- data.frame(label = labels, outside = found$outside, alpha = found$outside / n,
                      status = factor(status, c("good", "boundary", "bad")), row.names = input$labels)
  weak <- if (!is.null(sets)) weak_check(found$outside_set, found$outside, sets, n)
  seal(structure(list(table = table, curve = curve, alpha = curve$alpha[at], nu = curve$nu[at],
                      eps = curve$alpha[at] + curve$nu[at], guaranteed = curve$guaranteed[at],
                      smallest = as.integer(smallest), strict = found$alpha[1L] == 0, weak = weak),
                 class = "granary_robust_linkage_check"))
}

# The least alpha at which seven eighths of every set are good.
weak_check <- function(outside_set, outside, sets, n) {
  enough <- tapply(outside, sets, function(wrong) sort(wrong)[ceiling(7 / 8 * length(wrong))])
  alpha <- max(outside_set, enough) / n
  beta <- min(tapply(outside <= alpha * n + 1e-9, sets, mean))
  smallest <- min(table(sets))
  list(alpha = alpha, beta = beta, smallest = as.integer(smallest), guaranteed = smallest > 6 * alpha * n)
}

#' @export
print.granary_robust_linkage_check <- function(x, ...) {
  n <- nrow(x$table)
  cli::cat_line(sprintf("Neighbourhoods of %d points in %d clusters, the smallest of %d", n, nlevels(x$table$label),
                        x$smallest))
  cli::cat_line(sprintf("Wrong neighbours: %s of all points have none, the worst has %d (alpha = %s)",
                        paste0(format(100 * mean(x$table$outside == 0), digits = 3L), "%"), max(x$table$outside),
                        format(x$curve$alpha[1L], digits = 3L)))
  if (x$strict) cli::cat_line("Strict separation: single, average and complete linkage recover them too (but for ties)")
  if (x$guaranteed) {
    cli::cat_line(
      sprintf("With %s called bad: alpha = %s, nu = %s. robust_linkage(eps = %s) has a pruning with error at most %s (Theorem 1)",
              counted(round(x$nu * n), "point", "points"), format(x$alpha, digits = 3L), format(x$nu, digits = 3L),
              format(x$eps, digits = 3L), format(x$nu, digits = 3L)))
  } else {
    cli::cat_line(
      sprintf("No guarantee: clusters would have to have more than %s points (alpha = %s, nu = %s). Robust linkage may still do well",
              format(ceiling(6 * x$eps * n)), format(x$alpha, digits = 3L), format(x$nu, digits = 3L)))
  }
  if (!is.null(x$weak)) {
    cli::cat_line(sprintf("Within groups: alpha = %s, beta = %s, smallest group %d: %s",
                          format(x$weak$alpha, digits = 3L), format(x$weak$beta, digits = 3L), x$weak$smallest,
                          if (x$weak$guaranteed) "recovered (Theorem 4)" else "no guarantee"))
  }
  invisible(x)
}

#' @export
plot.granary_robust_linkage_check <- function(x, ...) {
  curve <- x$curve
  shown <- curve[!duplicated(curve$alpha) | seq_len(nrow(curve)) == nrow(curve), ]
  limit <- x$smallest / (6 * nrow(x$table))
  draw(graphics::plot, curve$nu, curve$alpha, type = "s", xlab = "nu, share of points called bad",
       ylab = "alpha, share of wrong neighbours", lwd = 2, col = "#2166ac",
       ylim = c(0, max(curve$alpha, limit)), main = "Noise that the clusters have, and noise that is forgiven",
       user = list(...))
  graphics::abline(limit, -1, lty = 2)
  graphics::points(x$nu, x$alpha, pch = 19, col = if (x$guaranteed) "#1b7837" else "#b2182b", cex = 1.3)
  graphics::legend("topright", c("the worst point that is left", "forgiven below this line",
                                 if (x$guaranteed) "guaranteed" else "nearest to a guarantee"), lty = c(1, 2, NA),
                   lwd = c(2, 1, NA), pch = c(NA, NA, 19),
                   col = c("#2166ac", "black", if (x$guaranteed) "#1b7837" else "#b2182b"), bty = "n", cex = 0.85)
  invisible(shown)
}

#' Linkages to compare with
#'
#' Robust single linkage of Chaudhuri and Dasgupta, and the usual linkages of [stats::hclust()] under one roof.
#'
#' @details
#' `"robust_single"`: points \eqn{x} and \eqn{y} are joined at radius \eqn{r} when
#' \eqn{d(x, y) \le \alpha r}{d(x, y) <= alpha r} and both have at least `k` points, themselves included, within
#' \eqn{r}: the tree of the level sets of a density, consistent for
#' \eqn{\alpha \ge \sqrt 2}{alpha >= sqrt(2)}. It is single linkage for
#' \eqn{\max(r_k(x), r_k(y), d(x, y) / \alpha)}{max(r_k(x), r_k(y), d(x, y) / alpha)}, by a minimum spanning tree in
#' \eqn{O(n^2)}; with `alpha = 1` Wishart's method. The others are those of [stats::hclust()], Ward's with squared
#' distances (`"ward.D2"`).
#'
#' @inheritParams robust_linkage
#' @param method Which linkage.
#' @param k Number of points that make a point dense, for `"robust_single"`.
#' @param alpha Factor of the radius, for `"robust_single"`.
#' @return An `hclust`; for `"robust_single"` with the element `radius`, the distance of each point to its `k`-th.
#' @section Which method when:
#' To see what robustness buys; `"robust_single"` by itself for clusters that are separated by low density.
#' @references Chaudhuri and Dasgupta (2010). Rates of convergence for the cluster tree. *Advances in Neural Information
#'   Processing Systems* 23, 343--351.
#' @seealso [robust_linkage()], [tree_pruning()].
#' @export
#' @examples
#' tree <- robust_linkage_baseline(faithful, method = "robust_single", k = 10)
#' table(tree_pruning(tree, k = 2)$cluster)
#' assess(robust_linkage_baseline(iris[1:4], method = "ward"), truth = iris$Species)
robust_linkage_baseline <- function(x, method = c("robust_single", "single", "average", "complete", "ward"),
                                    similarity = FALSE, metric = "euclidean", k = 5, alpha = sqrt(2)) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  method <- check_choice(method, c("robust_single", "single", "average", "complete", "ward"))
  k <- check_count(k)
  alpha <- check_number(alpha, lower = 0, strict_lower = TRUE)
  input <- linkage_input(x, check_flag(similarity), metric)
  if (input$n < 2L) abort_input("`x` must have at least two rows.", "x")
  if (input$missing > 0) abort_input("`x` must have no missing similarities for this method.", "x")
  if (method == "robust_single" && k > input$n) {
    abort_input(sprintf("`k` must be at most the number of rows, %d, not %d.", input$n, k), "k")
  }
  by_rows <- method == "robust_single" && !is.null(input$x) && !isS4(input$x) && identical(input$metric, "euclidean")
  distance <- if (!by_rows) linkage_dist(input)
  if (method != "robust_single") {
    tree <- stats::hclust(distance, if (method == "ward") "ward.D2" else method)
    tree$labels <- input$labels
    tree$call <- shorten_call(call)
    return(tree)
  }
  bar <- progress_bar("robust single linkage")
  if (by_rows) {
    size <- max(abs(input$x), .Machine$double.xmin)  # so that no square leaves the range of numbers
    found <- core_robust_single_rows(input$x / size, k, alpha, thread_count(), bar)
    found$height <- found$height * size
    found$radius <- found$radius * size
  } else {
    found <- core_robust_single(as.double(distance), k, alpha, bar)
  }
  structure(list(merge = found$merge, height = found$height, order = found$order, labels = input$labels,
                 call = shorten_call(call), method = "robust single",
                 dist.method = if (is.character(input$metric)) input$metric else input$closeness,
                 radius = found$radius), class = "hclust")
}

#' How many rows to sample
#'
#' The size of the sample with which the inductive version of [robust_linkage()] is guaranteed, and the other numbers of
#' the paper's theorems.
#'
#' @details
#' `"sample"`:
#' \eqn{n \ge C / \min(\alpha, \nu) \cdot \log(1 / (\delta \min(\alpha, \nu)))}{n >= C / min(alpha, nu) log(1 / (delta min(alpha, nu)))}
#' rows suffice for an error of at most \eqn{\nu + \delta}{nu + delta} with probability \eqn{1 - \delta}{1 - delta}
#' (Theorem 11; the paper leaves the constant open, `constant` is a guess). `"bad"`:
#' \eqn{3 / \nu \cdot \log(2 / \delta)}{3 / nu log(2 / delta)} rows have at most twice the share of bad points.
#' `"cluster"`: the share of the points that the
#' smallest cluster must exceed, \eqn{6(\alpha + \nu)}{6 (alpha + nu)}, and twice that for a sample. `"eps"`: the
#' largest `eps` for a smallest cluster of that share.
#'
#' @param what Which bounds; several may be named.
#' @param alpha Share of wrong neighbours of a point.
#' @param nu Share of bad points.
#' @param delta Probability of failure.
#' @param share Share of the smallest cluster.
#' @param constant The constant of the sample size.
#' @return A data frame with `what`, `value` and `meaning`.
#' @section Which method when: Before `robust_linkage(sample = )`.
#' @inherit robust_linkage references
#' @seealso [robust_linkage()], [robust_linkage_check()].
#' @export
#' @examples
#' robust_linkage_bounds(alpha = 0.02, nu = 0.01)
robust_linkage_bounds <- function(what = c("sample", "bad", "cluster", "cluster_sample", "eps"), alpha = 0.02,
                                  nu = 0.01, delta = 0.05, share = 0.1, constant = 3) {
  known <- c("sample", "bad", "cluster", "cluster_sample", "eps")
  if (!is.character(what) || length(what) == 0L || is.object(what)) {
    fail_input("what", paste0("some of ", paste0("\"", known, "\"", collapse = ", ")), describe(what))
  }
  what <- vapply(what, check_choice, "", choices = known, arg = "what", USE.NAMES = FALSE)
  alpha <- check_number(alpha, lower = 0, upper = 1, strict_lower = TRUE)
  nu <- check_number(nu, lower = 0, upper = 1, strict_lower = TRUE)
  delta <- check_number(delta, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  share <- check_number(share, lower = 0, upper = 1, strict_lower = TRUE)
  constant <- check_number(constant, lower = 0, strict_lower = TRUE)
  least <- min(alpha, nu)
  values <- c(sample = ceiling(constant / least * log(1 / (delta * least))), bad = ceiling(3 / nu * log(2 / delta)),
              cluster = 6 * (alpha + nu), cluster_sample = 12 * (alpha + nu), eps = share / 6)
  meaning <- c(sample = "rows to sample for an error of at most nu + delta",
               bad = "rows to sample for at most twice the share of bad points",
               cluster = "share that the smallest cluster must exceed", cluster_sample = "the same with a sample",
               eps = "eps must be below this for a smallest cluster of that share")
  data.frame(what = what, value = unname(values[what]), meaning = unname(meaning[what]))
}
