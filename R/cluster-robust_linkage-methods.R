# What can be done with a tree of robust linkage.

#' What can be done with a robust tree
#'
#' Summarise, draw and cut the tree, place new rows in it, and score it against known labels.
#'
#' @details
#' The tree is an `hclust`: [stats::cutree()] cuts it at a height or into a number of clusters, [stats::as.dendrogram()]
#' turns it into a dendrogram. Clusters need not lie at the same height: [tree_pruning()] finds the most persistent
#' ones, and for known labels the best.
#'
#' `predict()` walks each new row from the root to the child that holds most of its \eqn{6e} nearest rows of the tree,
#' down to a row (Algorithm 2 of the paper); it is in the clusters of that row.
#' `type = "node"` gives the row reached. For a tree made from similarities or distances `newdata` holds those of new
#' points (rows) to the points of the tree (columns). With `sample`,
#' `predict(fit, k = )` without `newdata` gives the sampled rows; give all rows as `newdata` to cluster them.
#'
#' `assess()` with `truth`: the classification `error` of the best pruning with one cluster per label (exact up to 12
#' labels), the `error.cut` of `cutree()` with as many clusters, and the adjusted Rand index `ari` of the best pruning.
#' It works for any `hclust`, so that linkages can be compared.
#'
#' @param x,object A tree of [robust_linkage()], for `assess()` any `hclust`.
#' @param newdata New rows, or their similarities or distances to the points of the tree.
#' @param k Number of clusters; `NULL` for the most persistent ones.
#' @param type `"class"` for clusters, `"node"` for the row of the tree that is reached.
#' @param truth Labels of the points of the tree (or of all rows, of which those of the tree are taken).
#' @param data The data of the tree, to which the column `.cluster` is added.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @param ... For `plot()`, passed on to the method for `hclust`; otherwise not used.
#' @return `predict()` whole numbers with the names of the rows; `assess()` a data frame with one row; `tidy()` the
#'   merges: `height`, `size`, `until` (the height at which it is merged itself); `summary()` those of the largest
#'   clusters that last.
#' @seealso [robust_linkage()], [tree_pruning()].
#' @name granary_robust_linkage
#' @examples
#' fit <- robust_linkage(iris[1:4], eps = 0.02)
#' summary(fit)
#' assess(fit, truth = iris$Species)
#' table(predict(fit, iris[1:4], k = 3), iris$Species)
#' plot(fit)
NULL

#' @rdname granary_robust_linkage
#' @export
print.granary_robust_linkage <- function(x, ...) {
  cli::cat_line("Robust median neighbourhood linkage: a tree of ", counted(x$n, "point", "points"),
                if (x$sampled) sprintf(", a sample of %d rows", x$n_all))
  print_call(x$call)
  cli::cat_line(sprintf("eps = %s%s: neighbourhoods from %d points on, blobs of at least %s", format(signif(x$eps, 4L)),
                        if (x$sampled) ", doubled for the sample" else "",
                        min(x$n, floor(6 * x$eps_used * x$n + 1e-9) + 1),
                        format(max(2, ceiling(4 * x$eps_used * x$n - 1e-9)))))
  if (x$missing > 0) {
    cli::cat_line(counted(x$missing, "similarity was", "similarities were"), " missing and taken as the least")
  }
  stages <- x$blobs
  if (nrow(stages) > 0L) {
    shown <- stages[unique(c(seq_len(min(4L, nrow(stages))), max(1L, nrow(stages) - 3L):nrow(stages))), ]
    cli::cat_line("Blobs (and single points) left: ", paste0(sprintf("%d (%d) at t = %d", shown$blobs, shown$singles,
                                                                     shown$t), collapse = ", "))
  }
  cli::cat_line("Next: cutree(), tree_pruning(), plot(), predict()")
  invisible(x)
}

#' @rdname granary_robust_linkage
#' @export
tidy.granary_robust_linkage <- function(x, ...) {
  refuse_dots(...)
  m <- nrow(x$merge)
  size <- integer(m)
  until <- rep(NA_real_, m)
  for (i in seq_len(m)) {
    for (entry in x$merge[i, ]) {
      size[i] <- size[i] + if (entry < 0) 1L else size[entry]
      if (entry > 0) until[entry] <- x$height[i]
    }
  }
  data.frame(merge = seq_len(m), height = x$height, size = size, until = until, part = x$part)
}

#' @rdname granary_robust_linkage
#' @export
summary.granary_robust_linkage <- function(object, ...) {
  refuse_dots(...)
  table <- tidy.granary_robust_linkage(object)
  table <- table[!table$part, setdiff(names(table), "part")]
  table$lasts <- ifelse(is.na(table$until), 0, table$until - table$height)
  large <- table[table$lasts > 0 & table$size >= 4 * object$eps_used * object$n, ]
  large <- large[order(-large$size * large$lasts), ]
  seal(structure(list(n = object$n, eps = object$eps, clusters = utils::head(large, 12L), blobs = object$blobs,
                      call = object$call), class = "summary_granary_robust_linkage"))
}

#' @export
print.summary_granary_robust_linkage <- function(x, ...) {
  cli::cat_line("Robust median neighbourhood linkage of ", counted(x$n, "point", "points"), ", eps = ",
                format(signif(x$eps, 4L)))
  if (nrow(x$clusters) == 0L) {
    cli::cat_line("No cluster lasts: all points became one at once")
  } else {
    cli::cat_line("Clusters by size and by how long they last:")
    print(x$clusters, row.names = FALSE, digits = 4L)
  }
  invisible(x)
}

#' @rdname granary_robust_linkage
#' @export
glance.granary_robust_linkage <- function(x, ...) {
  cbind(data.frame(n = x$n, eps = x$eps, merges = nrow(x$merge), events = nrow(x$blobs)), NextMethod())
}

# The plain hclust.
plain_tree <- function(x) {
  structure(list(merge = x$merge, height = x$height, order = x$order, labels = x$labels, call = x$call,
                 method = x$method, dist.method = x$dist.method), class = "hclust")
}

#' @rdname granary_robust_linkage
#' @export
plot.granary_robust_linkage <- function(x, ...) {
  if (nrow(x$merge) < 2L) not_for(x, "plot()", "a tree needs at least three points to be drawn")
  draw(graphics::plot, plain_tree(x), xlab = "", sub = "", ylab = "t, size of neighbourhoods",
       main = sprintf("Robust linkage, eps = %s", format(signif(x$eps, 3L))), labels = if (x$n > 60L) FALSE else NULL,
       hang = -1, user = list(...))
  invisible()
}

#' @rdname granary_robust_linkage
#' @export
predict.granary_robust_linkage <- function(object, newdata = NULL, k = NULL, type = c("class", "node"), threads = NULL,
                                           ...) {
  refuse_dots(...)
  type <- check_choice(type, c("class", "node"))
  k <- check_count(k, allow_null = TRUE, upper = object$n)
  threads <- thread_count(threads)
  cluster <- if (object$n == 1L) 1L else if (is.null(k)) core_tree_pruning(tree_of(object), NULL, 0L,
                                                                           NULL)$cluster else stats::cutree(
                                                                             plain_tree(object), k)
  if (is.null(newdata)) {
    return(stats::setNames(if (type == "class") as.integer(unname(cluster)) else object$rows, object$labels))
  }
  source <- object$source
  many <- max(1L, min(object$n, as.integer(floor(6 * object$eps * object$n + 1e-9))))
  if (!is.null(source$x)) {
    newdata <- new_design(newdata, variable_names(source$variables, ncol(source$x)))
    source$n <- object$n
    near <- find_neighbors(source, newdata, many, "auto", threads)$index
  } else {
    newdata <- check_matrix(newdata, allow_na = TRUE)
    if (ncol(newdata) != object$n) {
      abort_input(
        sprintf("`newdata` must hold the %s of new points to the %d points of the tree, one column each, but it has %d.",
                if (source$closeness == "similarity") "similarities" else "distances", object$n, ncol(newdata)),
        "newdata")
    }
    if (!is.null(object$labels) && !is.null(colnames(newdata)) && setequal(object$labels, colnames(newdata))) {
      newdata <- newdata[, object$labels, drop = FALSE]
    }
    near <- core_robust_near(unname(newdata), source$closeness, many)
  }
  reached <- if (object$n == 1L) {
    rep(1L, nrow(newdata))
  } else {
    core_tree_descend(tree_of(object), near, threads, progress_bar("placing rows"))
  }
  stats::setNames(if (type == "class") as.integer(unname(cluster[reached])) else object$rows[reached],
                  rownames(newdata))
}

#' @rdname granary_robust_linkage
#' @export
assess.granary_robust_linkage <- function(object, truth, ...) {
  refuse_dots(...)
  if (missing(truth)) fail_missing("truth")
  if (object$sampled && length(truth) == object$n_all) truth <- truth[object$rows]
  score_tree(object, truth)
}

#' @rdname granary_robust_linkage
#' @export
assess.hclust <- function(object, truth, ...) {
  refuse_dots(...)
  if (missing(truth)) fail_missing("truth")
  score_tree(object, truth)
}

score_tree <- function(object, truth) {
  tree <- tree_of(object, "object")
  n <- nrow(tree$merge) + 1L
  truth <- check_row_labels(truth, n, "truth")
  found <- core_tree_pruning(tree, as.integer(truth), nlevels(truth), NULL)
  cut <- stats::cutree(list(merge = tree$merge, height = tree$height, labels = NULL), nlevels(truth))
  data.frame(n = n, k = nlevels(truth), error = 1 - found$value / n, exact = found$exact,
             error.cut = 1 - core_cluster_agreement(as.integer(cut), as.integer(truth), numeric(), NULL)$accuracy,
             ari = core_cluster_agreement(found$cluster, as.integer(truth), numeric(), NULL)$ari)
}

#' @rdname granary_robust_linkage
#' @export
augment.granary_robust_linkage <- function(x, data = NULL, k = NULL, ...) {
  refuse_dots(...)
  cluster <- predict.granary_robust_linkage(x, k = k)
  if (is.null(data)) data <- data.frame(row = x$rows)
  if (!is.data.frame(data) && !is.matrix(data) || nrow(data) != x$n) {
    fail_input("data", sprintf("a data frame with the %d points of the tree", x$n), describe(data))
  }
  data <- as.data.frame(data)
  data$.cluster <- unname(cluster)
  data
}

#' Prunings of a tree
#'
#' Clusters of a tree that need not lie at the same height: the best ones for known labels, or the most persistent ones.
#'
#' @details
#' With `truth`: the pruning with one cluster per label that puts most points under their label, over all prunings and
#' all ways to name the clusters, found exactly by dynamic programming over nodes and sets of labels,
#' \eqn{g(u, \{l\})} = points of label \eqn{l} below \eqn{u},
#' \eqn{g(u, L) = \max_{L = L_1 \cup L_2} g(left, L_1) + g(right, L_2)}{g(u, L) = max over L = L1 + L2 of g(left, L1) + g(right, L2)}, in \eqn{O(n 3^k)} for \eqn{k} labels;
#' beyond 12 labels the horizontal cut is matched with the labels instead (`exact` is `FALSE`). This is how the paper scores hierarchies.
#'
#' Without: the pruning with the largest sum of size times life (height at which a cluster is merged with others, minus
#' its own), into `k` clusters or any number. Points by themselves count nothing.
#'
#' @param x A tree: [robust_linkage()], or any `hclust`.
#' @param truth Labels of the points, or `NULL`.
#' @param k Number of clusters; `NULL` for any. Not with `truth`.
#' @return A list with `cluster`, `nodes` (as in `merge`: negative for points, positive for merges), and with `truth`
#'   the `label` of each, `error` and `exact`; without, `persistence`.
#' @section Which method when:
#' `truth` to judge a tree, persistence to use one; [stats::cutree()] when all clusters have about the same scale.
#' @inherit robust_linkage references
#' @seealso [robust_linkage()], [cluster_agreement()].
#' @export
#' @examples
#' tree <- hclust(dist(iris[1:4]), "average")
#' tree_pruning(tree, truth = iris$Species)$error
#' table(tree_pruning(tree, k = 3)$cluster, iris$Species)
tree_pruning <- function(x, truth = NULL, k = NULL) {
  if (missing(x)) fail_missing("x")
  if (inherits(x, "granary_fit")) check_fit(x)
  tree <- tree_of(x, "x")
  n <- nrow(tree$merge) + 1L
  names <- if (is.character(x$labels) && length(x$labels) == n) x$labels
  if (is.null(truth)) {
    k <- check_count(k, allow_null = TRUE, upper = n)
    found <- core_tree_pruning(tree, NULL, if (is.null(k)) 0L else k, progress_bar("pruning"))
    return(list(cluster = stats::setNames(found$cluster, names), nodes = found$nodes, persistence = found$value))
  }
  if (!is.null(k)) abort_input("`k` is the number of labels where `truth` is given.", "k")
  truth <- check_row_labels(truth, n, "truth")
  found <- core_tree_pruning(tree, as.integer(truth), nlevels(truth), progress_bar("pruning"))
  list(cluster = stats::setNames(found$cluster, names), nodes = found$nodes, label = levels(truth)[found$label],
       error = 1 - found$value / n, exact = found$exact)
}
