# The class that all clusterings share. A method returns new_clustering(); what can be done with it stands here once.

#' What every clustering can do
#'
#' Clusterings of granary share a class, `granary_clustering`: labels, centres, sizes and what was minimised, under the same names, with the same
#' methods. A method adds its own where it has more to say.
#'
#' @details
#' `predict()` puts new rows into the clusters: `type = "class"` gives numbers, `type = "prob"` the memberships of a soft clustering (one column per
#' cluster). New rows are matched to the columns of the data by name.
#'
#' `assess()` with `truth`, the labels that are known, gives the mutual information `mi` in nats, the normalised one `nmi`
#' \eqn{= I / \sqrt{H H'}}{= I / sqrt(H H')}, the adjusted Rand index `ari`, the `accuracy` after clusters and labels have been matched one to one in the best
#' way, and the `purity`; see [cluster_agreement()]. Without weights also scores of pairs of rows: `rand`, `precision`, `recall` and their harmonic mean `f`, with the counts
#' `n11` (together in both), `n00`, `n10` (in the truth only) and `n01`; the variation of information `vi` in nats and `nvi` \eqn{= 1 - vi / \log n}{= 1 - vi / log n}; the
#' share of rows `ced` that must move to turn the clusters into those of the truth, and back (`ced.back`), `nes` \eqn{= 1 -}{= 1 -} both, `nes.text` (with their
#' mean), `moves`, `merges` and `creates`. With `newdata`, the rows, it adds the mean `silhouette` ([cluster_silhouette()]).
#'
#' `plot()` draws the centres, one column each, scaled by the columns, with the sizes; given the rows as `newdata` it draws them on the plane of the
#' two directions in which they vary most (or two columns of your choice), coloured by cluster.
#'
#' @param x,object A clustering.
#' @param newdata Rows: a matrix, data frame or sparse matrix with the columns of the data.
#' @param type `"class"` for numbers of clusters, `"prob"` for memberships.
#' @param truth Labels of the rows.
#' @param weights One weight per row, or `NULL`.
#' @param columns Names or numbers of two columns to draw; `NULL` for the plane of largest variance.
#' @param data The data the clustering was made of, to which the column `.cluster` is added.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @param ... Passed on to [graphics::plot()] by `plot()`; otherwise not used.
#' @return `predict()` a vector of whole numbers with the names of the rows, or a matrix; `assess()` a data frame with one row; `fitted()` the centre of each
#'   row; `tidy()` one row per cluster: `cluster`, `size`, what the method knows of it, and its centre; `augment()` the data with `.cluster`.
#' @name granary_clustering
#' @seealso [bregman_cluster()], [cluster_agreement()], [cluster_silhouette()]
#' @examples
#' set.seed(1)
#' fit <- bregman_cluster(iris[1:4], k = 3)
#' fit
#' assess(fit, truth = iris$Species)
#' predict(fit, iris[c(1, 51, 101), ])
#' plot(fit, newdata = iris[1:4])
NULL

# `centers` (k x d, with the columns' names), `cluster`, `sizes` (weights of the clusters), `objective`; `scores` (theta, bias) where labels follow from linear
# scores; `membership` for soft clusterings. `title` is the first line of the print, `measure` names the objective.
new_clustering <- function(class, cluster, centers, sizes, objective, ..., title, measure, call, convergence) {
  fit <- new_fit(c(class, "clustering"), cluster = cluster, centers = centers, sizes = sizes, objective = objective, ..., n = length(cluster),
                 title = title, measure = measure, call = call, convergence = convergence)
  fit
}

# Rows to be clustered: a matrix without missing values, sparse where it is; a plain vector is one column.
check_rows <- function(x, arg = "x", min_rows = 1L) {
  if (is_plain_numeric(x) && is.null(dim(x)) && length(x) > 0L) x <- matrix(as.double(x), dimnames = list(names(x), NULL))
  x <- check_matrix(x, arg, allow_sparse = TRUE, min_rows = min_rows)
  check_names_unique(colnames(x), arg)
  x
}

check_clusters <- function(k, n, arg = "k") {
  k <- check_count(k, arg)
  if (k > n) abort_input(sprintf("`%s` must be at most the number of rows, %d, not %d.", arg, n, k), arg)
  k
}

# Rows at which weights are given: one number per row, not negative, not all zero.
check_case_weights <- function(weights, n, arg = "weights") {
  if (is.null(weights)) return(numeric())
  weights <- check_vector(weights, arg, length = n, lower = 0)
  if (sum(weights) == 0) abort_input(sprintf("`%s` must not all be zero.", arg), arg)
  as.double(weights)
}

# New rows with the columns of the centres, in their order.
cluster_rows <- function(object, newdata, arg = "newdata") {
  new_design(newdata, colnames(object$centers), arg = arg)
}

format_sizes <- function(sizes) {
  shown <- format(signif(sizes, 6L), trim = TRUE)
  if (length(shown) > 12L) shown <- c(shown[1:12], "...")
  paste(shown, collapse = ", ")
}

#' @rdname granary_clustering
#' @export
print.granary_clustering <- function(x, ...) {
  cli::cat_line(x$title)
  print_call(x$call)
  cli::cat_line(counted(length(x$sizes), "cluster", "clusters"), " of ", format_sizes(x$sizes), if (length(x$cluster) > 0L) paste0(" (", counted(length(x$cluster), "row", "rows"), ")"))
  cli::cat_line(x$measure, ": ", format(x$objective, digits = 6L))
  print_more(x)
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

# Lines a method adds to the print of its clusterings.
print_more <- function(x) UseMethod("print_more")
#' @export
print_more.default <- function(x) invisible()

#' @rdname granary_clustering
#' @export
summary.granary_clustering <- function(object, ...) {
  refuse_dots(...)
  seal(structure(list(title = object$title, call = object$call, table = tidy(object), measure = object$measure, objective = object$objective,
                      convergence = object$convergence), class = "summary_granary_clustering"))
}

#' @export
print.summary_granary_clustering <- function(x, ...) {
  cli::cat_line(x$title)
  print_call(x$call)
  table <- x$table
  more <- ncol(table) - 12L
  if (more > 0L) table <- table[seq_len(12L)]
  print(table, digits = 4L, row.names = FALSE)
  if (more > 0L) cli::cat_line("and ", counted(more, "more column", "more columns"), " of the centres")
  cli::cat_line(x$measure, ": ", format(x$objective, digits = 6L))
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname granary_clustering
#' @export
predict.granary_clustering <- function(object, newdata = NULL, type = c("class", "prob"), threads = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("class", "prob"))
  if (type == "prob" && is.null(object$membership)) not_for(object, "type = \"prob\"", "its clusters are hard")
  if (is.null(newdata)) return(if (type == "class") object$cluster else object$membership)
  if (is.null(object$scores)) not_for(object, "predict()", "it does not say where new rows belong")
  x <- cluster_rows(object, newdata)
  threads <- thread_count(threads)
  progress <- progress_bar("placing rows")
  if (type == "class") {
    out <- core_cluster_best(plain_rows(x), object$scores$theta, object$scores$bias, threads, progress)$cluster
    return(stats::setNames(out, rownames(x)))
  }
  out <- core_cluster_membership(plain_rows(x), object$scores$theta, object$scores$bias, threads, progress)
  dimnames(out) <- list(rownames(x), seq_len(ncol(out)))
  out
}

# Without names, of which compiled code knows nothing.
plain_rows <- function(x) {
  if (isS4(x)) {
    x@Dimnames <- list(NULL, NULL)
    return(x)
  }
  storage.mode(x) <- "double"
  unname(x)
}

#' @rdname granary_clustering
#' @export
assess.granary_clustering <- function(object, truth = NULL, newdata = NULL, weights = NULL, ...) {
  refuse_dots(...)
  if (is.null(truth) && is.null(newdata)) abort_input("Give `truth`, labels of the rows, or `newdata`, the rows, or both.", "truth")
  cluster <- if (is.null(newdata)) object$cluster else stats::predict(object, newdata)
  out <- data.frame(k = length(object$sizes), n = length(cluster))
  if (!is.null(truth)) {
    with <- cluster_agreement(cluster, truth, weights)
    out <- cbind(out, mi = with$mi, nmi = with$nmi, ari = with$ari, accuracy = with$accuracy, purity = with$purity)
    if (is.null(weights)) out <- cbind(out, pair_scores(cluster, truth))
  }
  if (!is.null(newdata)) {
    out$silhouette <- if (length(unique(cluster)) > 1L) mean(cluster_silhouette(cluster_rows(object, newdata), cluster)$width) else NA_real_
  }
  out
}

#' @rdname granary_clustering
#' @export
fitted.granary_clustering <- function(object, ...) {
  if (is.null(object$centers)) not_for(object, "fitted()", "it has no centres")
  out <- object$centers[object$cluster, , drop = FALSE]
  rownames(out) <- names(object$cluster)
  out
}

#' @rdname granary_clustering
#' @export
coef.granary_clustering <- function(object, ...) {
  if (is.null(object$centers)) not_for(object, "coef()", "it has no centres")
  object$centers
}

#' @rdname granary_clustering
#' @export
tidy.granary_clustering <- function(x, ...) {
  refuse_dots(...)
  out <- data.frame(cluster = seq_along(x$sizes), size = unname(as.vector(x$sizes)))
  for (name in names(x$per_cluster)) out[[name]] <- unname(x$per_cluster[[name]])
  if (!is.null(x$centers)) out <- cbind(out, as.data.frame(as.matrix(x$centers), row.names = NULL))
  out
}

#' @rdname granary_clustering
#' @export
glance.granary_clustering <- function(x, ...) {
  cbind(data.frame(k = length(x$sizes), n = stats::nobs(x), objective = x$objective), NextMethod())
}

#' @rdname granary_clustering
#' @export
augment.granary_clustering <- function(x, data = NULL, ...) {
  refuse_dots(...)
  if (is.null(data)) return(data.frame(.cluster = x$cluster))
  if (is.matrix(data) || isS4(data)) data <- as.data.frame(as.matrix(data))
  if (!is.data.frame(data) || nrow(data) != length(x$cluster)) fail_input("data", sprintf("a data frame with the %d rows of the fit", length(x$cluster)), describe(data))
  data$.cluster <- unname(x$cluster)
  data
}

# Colours that can be told apart, one per cluster.
cluster_colors <- function(k) if (k <= 8L) grDevices::palette.colors(k + 1L, "Okabe-Ito")[-1L] else grDevices::hcl.colors(k, "Dark 3")

# Positions of rows and centres for a picture, with the names of its axes.
cluster_picture <- function(object, newdata, columns) {
  x <- cluster_rows(object, newdata)
  label <- stats::predict(object, newdata)
  if (is.null(columns) && ncol(x) > 2L) {
    plane <- core_cluster_plane(plain_rows(x), unname(object$centers), NULL)
    axes <- sprintf("direction %d (%.0f%% of the variance)", 1:2, 100 * plane$share)
    return(list(rows = plane$rows, centers = plane$centers, cluster = label, axes = axes))
  }
  names <- colnames(object$centers)
  if (is.null(columns)) columns <- seq_len(ncol(x))
  at <- if (is.character(columns)) match(columns, names) else if (is_plain_numeric(columns)) as.vector(columns)
  if (!(length(at) %in% 1:2) || !all(at %in% seq_along(names))) fail_input("columns", "one or two names or numbers of columns of the data", describe(columns))
  two <- function(m) if (length(at) == 2L) m[, at, drop = FALSE] else cbind(m[, at], seq_len(nrow(m)))
  list(rows = unname(as.matrix(two(x))), centers = if (length(at) == 2L) unname(object$centers[, at, drop = FALSE]), cluster = label,
       axes = c(names[at], if (length(at) == 1L) "row"))
}

#' @rdname granary_clustering
#' @export
plot.granary_clustering <- function(x, newdata = NULL, columns = NULL, ...) {
  k <- length(x$sizes)
  colors <- cluster_colors(k)
  if (is.null(newdata)) return(plot_centers(x, ...))
  picture <- cluster_picture(x, newdata, columns)
  old <- graphics::par(mar = c(4.1, 4.1, 2.1, 7.1))
  on.exit(graphics::par(old))
  draw(graphics::plot, picture$rows[, 1L], picture$rows[, 2L], col = grDevices::adjustcolor(colors[picture$cluster], 0.6), pch = 16, cex = 0.7,
       xlab = picture$axes[1L], ylab = picture$axes[2L], main = "", bty = "l", user = list(...))
  if (!is.null(picture$centers)) graphics::points(picture$centers, pch = 21, bg = colors, col = "black", cex = 1.6, lwd = 1.5)
  cluster_legend(x$sizes, colors)
  invisible(x)
}

# Beside the picture, never over the data.
cluster_legend <- function(sizes, colors) {
  shown <- seq_len(min(length(sizes), 20L))
  place <- graphics::par("usr")
  graphics::legend(place[2L], place[4L], sprintf("%d (%s)", shown, format(signif(sizes[shown], 4L), trim = TRUE)), pch = 16, col = colors[shown], bty = "n", xpd = NA,
                   title = "cluster (size)", cex = 0.8)
}

# The centres, each of the first columns scaled over the clusters.
scaled_centers <- function(x, most = 40L) {
  scaled <- scale(as.matrix(x$centers[, seq_len(min(ncol(x$centers), most)), drop = FALSE]))
  scaled[!is.finite(scaled)] <- 0
  scaled
}

# The centres as a map of columns against clusters, each column scaled: red below its mean over the clusters, blue above.
plot_centers <- function(x, ...) {
  if (is.null(x$centers)) not_for(x, "plot()", "it has no centres; give the rows as `newdata`")
  scaled <- scaled_centers(x)
  old <- graphics::par(mar = c(4.1, min(4.1 + 0.35 * max(nchar(colnames(scaled))), 14), 2.1, 1.1))
  on.exit(graphics::par(old))
  limit <- max(abs(scaled), 1)
  draw(graphics::image, seq_len(nrow(scaled)), seq_len(ncol(scaled)), scaled[, rev(seq_len(ncol(scaled))), drop = FALSE], zlim = c(-limit, limit),
       col = signed_colours(41L), axes = FALSE, xlab = "cluster (size below)", ylab = "",
       main = if (ncol(x$centers) > 40L) "centres, the first 40 columns" else "centres", user = list(...))
  graphics::axis(1L, seq_len(nrow(scaled)), paste0(seq_len(nrow(scaled)), "\n", format(signif(x$sizes, 4L), trim = TRUE)), tick = FALSE, padj = 0.5)
  graphics::axis(2L, seq_len(ncol(scaled)), rev(colnames(scaled)), las = 1, tick = FALSE)
  graphics::box()
  invisible(x)
}

#' @rdname granary_clustering
#' @usage \method{autoplot}{granary_clustering}(object, newdata = NULL, columns = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_clustering <- function(object, newdata = NULL, columns = NULL, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  if (!is.null(newdata)) {
    picture <- cluster_picture(object, newdata, columns)
    rows <- data.frame(a = picture$rows[, 1L], b = picture$rows[, 2L], cluster = factor(picture$cluster, seq_along(object$sizes)))
    out <- gg_canvas(rows, ggplot2::aes(.data$a, .data$b, colour = .data$cluster)) + ggplot2::geom_point(alpha = 0.6, size = 1) +
      ggplot2::scale_colour_manual(values = unname(cluster_colors(length(object$sizes))), drop = FALSE) +
      ggplot2::labs(x = picture$axes[1L], y = picture$axes[2L]) + ggplot2::theme_minimal()
    return(out)
  }
  if (is.null(object$centers)) not_for(object, "autoplot()", "it has no centres; give the rows as `newdata`")
  scaled <- scaled_centers(object)
  cells <- data.frame(cluster = factor(rep(seq_len(nrow(scaled)), ncol(scaled))), column = factor(rep(colnames(scaled), each = nrow(scaled)), rev(colnames(scaled))),
                      value = as.vector(scaled))
  gg_canvas(cells, ggplot2::aes(.data$cluster, .data$column, fill = .data$value)) + ggplot2::geom_tile() +
    ggplot2::scale_fill_gradient2(low = sign_colours[["negative"]], high = sign_colours[["positive"]], name = "scaled\ncentre") +
    ggplot2::scale_y_discrete(guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    ggplot2::labs(y = NULL, title = if (ncol(object$centers) > ncol(scaled)) sprintf("the first %d columns", ncol(scaled))) + ggplot2::theme_minimal()
}

#' Do two clusterings agree?
#'
#' Compares two labellings of the same rows: a clustering with known classes, or two clusterings with each other.
#'
#' @details
#' With \eqn{p_{ab}} the share of the rows labelled \eqn{a} by the first and \eqn{b} by the second, `mi` is
#' \eqn{I = \sum_{ab} p_{ab} \log (p_{ab} / (p_a p_b))}{I = sum_ab p_ab log(p_ab / (p_a p_b))} in nats and `nmi` \eqn{= I / \sqrt{H_a H_b}}{= I / sqrt(H_a H_b)} with the two
#' entropies. `ari` is the adjusted Rand index, 0 on average for labels at random and 1 for equal partitions. `accuracy` is the largest share of rows with
#' matching labels over all one-to-one matchings, found exactly (linear assignment); `purity` lets several clusters have the same label.
#'
#' @section Which method when:
#' `ari` to compare partitions with different numbers of clusters, `accuracy` when clusters should be the classes one to one, `nmi` where the literature of the
#' field uses it (it favours many clusters), [cluster_silhouette()] when there are no labels.
#'
#' @param x,truth Labels of the rows: numbers, text or factors, or a clustering of granary as `x`.
#' @param weights One weight per row, or `NULL`.
#' @return A list of class `granary_agreement` with `table`, `mi`, `nmi`, `ari`, `accuracy`, `purity` and `match`, the label of `truth` that each label of `x` is
#'   matched with.
#' @references
#' Hubert and Arabie (1985). Comparing partitions. *Journal of Classification* 2, 193--218.
#'
#' Strehl and Ghosh (2002). Cluster ensembles. *Journal of Machine Learning Research* 3, 583--617.
#' @seealso [assess()] for a clustering.
#' @export
#' @examples
#' set.seed(1)
#' fit <- bregman_cluster(iris[1:4], k = 3)
#' cluster_agreement(fit, iris$Species)
cluster_agreement <- function(x, truth, weights = NULL) {
  if (missing(x)) fail_missing("x")
  if (missing(truth)) fail_missing("truth")
  first <- check_labels(if (inherits(x, "granary_clustering")) x$cluster else x, "x")
  second <- check_labels(if (inherits(truth, "granary_clustering")) truth$cluster else truth, "truth")
  if (length(first) != length(second)) {
    abort_input(sprintf("`truth` must have one label per row, %d, but it has %d.", length(first), length(second)), "truth")
  }
  weights <- check_case_weights(weights, length(first))
  found <- core_cluster_agreement(as.integer(first), as.integer(second), weights, NULL)
  dimnames(found$table) <- list(x = levels(first), truth = levels(second))
  match <- rep(NA_character_, nlevels(first))
  match[found$match > 0L] <- levels(second)[found$match]
  seal(structure(list(table = found$table, mi = found$mutual_information, nmi = found$nmi, ari = found$ari, accuracy = found$accuracy, purity = found$purity,
                      match = stats::setNames(match, levels(first))), class = "granary_agreement"))
}

# Labels as a factor; of an empty level nothing is known.
check_labels <- function(x, arg) {
  if (!(is.factor(x) || is.character(x) || is.logical(x) || is_plain_numeric(x)) || length(x) == 0L) fail_input(arg, "labels, one per row", describe(x))
  if (anyNA(x)) abort_input(sprintf("`%s` must have no missing labels, but label %d is NA.", arg, which(is.na(x))[1L]), arg)
  droplevels(as.factor(if (is.character(x)) readable(x) else x))
}

#' @export
print.granary_agreement <- function(x, ...) {
  if (length(x$table) <= 400L) print(x$table, digits = 6L)
  cli::cat_line(sprintf("adjusted Rand index %.3f, accuracy after matching %.3f, purity %.3f, mutual information %.3f (normalised %.3f)",
                        x$ari, x$accuracy, x$purity, x$mi, x$nmi))
  invisible(x)
}

#' Silhouettes of a clustering
#'
#' How much nearer each row is to its own cluster than to the next one, between -1 (misplaced) and 1.
#'
#' @details
#' \eqn{s_i = (b_i - a_i) / \max(a_i, b_i)}{s_i = (b_i - a_i) / max(a_i, b_i)}, with \eqn{a_i} the mean distance of row \eqn{i} to the other rows of its cluster and
#' \eqn{b_i} the least mean distance to the rows of another one; 0 for a cluster of one row. Distances are taken row by row and never stored: time grows with
#' the square of the number of rows, memory with the number.
#'
#' @param x Rows: a matrix, data frame or sparse matrix.
#' @param cluster Labels of the rows, or a clustering of granary.
#' @param distance `"euclidean"`, its square, or `"cosine"` (one minus the cosine).
#' @param threads Number of threads; see `options(granary.threads)`.
#' @return A data frame with columns `cluster`, `neighbor` (the next cluster) and `width`, one row per row of `x`, in their order.
#' @section Which method when: To choose the number of clusters or to find misplaced rows when there are no labels; [cluster_agreement()] when there are.
#' @references Rousseeuw (1987). Silhouettes: a graphical aid to the interpretation and validation of cluster analysis. *Journal of Computational and Applied
#'   Mathematics* 20, 53--65.
#' @seealso [assess()] gives the mean.
#' @export
#' @examples
#' set.seed(1)
#' fit <- bregman_cluster(iris[1:4], k = 3)
#' widths <- cluster_silhouette(iris[1:4], fit)
#' tapply(widths$width, widths$cluster, mean)
cluster_silhouette <- function(x, cluster, distance = c("euclidean", "squared", "cosine"), threads = NULL) {
  if (missing(x)) fail_missing("x")
  if (missing(cluster)) fail_missing("cluster")
  x <- check_rows(x)
  labels <- check_labels(if (inherits(cluster, "granary_clustering")) cluster$cluster else cluster, "cluster")
  if (length(labels) != nrow(x)) abort_input(sprintf("`cluster` must have one label per row, %d, but it has %d.", nrow(x), length(labels)), "cluster")
  if (nlevels(labels) < 2L) abort_input("`cluster` must have at least two clusters: a silhouette compares a cluster with the next.", "cluster")
  distance <- check_choice(distance, c("euclidean", "squared", "cosine"))
  found <- core_cluster_silhouettes(plain_rows(x), as.integer(labels), distance, thread_count(threads), progress_bar("silhouettes"))
  data.frame(cluster = labels, neighbor = factor(levels(labels)[found$neighbor], levels(labels)), width = found$width, row.names = rownames(x))
}
