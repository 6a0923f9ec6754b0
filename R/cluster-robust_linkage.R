#' Hierarchical clustering that forgives wrong neighbours
#'
#' A dendrogram from similarities or distances in which the true clusters are prunings even when every point has some
#' wrong neighbours and some points are arbitrary: robust median neighbourhood linkage. The result is an `hclust` too:
#' [stats::cutree()], [stats::as.dendrogram()] and packages for dendrograms work.
#'
#' @details
#' Only the order matters in which each point sees the others. With \eqn{e = \epsilon n}{e = eps n}, where
#' \eqn{\epsilon}{eps} is the share of wrong neighbours a point may have plus the share of bad points, and \eqn{N_t(x)}
#' the
#' \eqn{t} nearest points of \eqn{x} (itself the first), for
#' \eqn{t = \lfloor 6e \rfloor + 1, \dots, n}{t = floor(6 e) + 1, ..., n}:
#'
#' 1. points with \eqn{|N_t(x) \cap N_t(y)| \ge t - 2e}{|N_t(x) & N_t(y)| >= t - 2 e} are neighbours in a graph
#'   \eqn{F_t};
#' 2. two single points are linked when they have more than \eqn{e} common neighbours in \eqn{F_t}; other blobs
#'   \eqn{C_u, C_v} when the median over their pairs of the number of common neighbours within
#'    \eqn{C_u \cup C_v}{C_u + C_v} is more than a quarter of \eqn{|C_u| + |C_v|};
#' 3. linked blobs of together more than \eqn{4e} points are merged, the surest pair first, then components of single
#'   points;
#' 4. single points that are too few to form a blob are given to the blob of least median rank (`singletons`).
#'
#' The height of a merge is its \eqn{t}: the size of neighbourhood at which the groups become one. If of the \eqn{n_C}
#' nearest points of every good point at most \eqn{\alpha n}{alpha n} lie outside its cluster, all but
#' \eqn{\nu n}{nu n} points are good, and every cluster has more than \eqn{6(\alpha + \nu)n}{6 (alpha + nu) n} points,
#' then with `eps` \eqn{= \alpha + \nu}{= alpha + nu} the clusters are a pruning of the tree but for
#' \eqn{\nu n}{nu n} points (Theorem 1 of the paper); [robust_linkage_check()] tells for known labels. The share of the
#' smallest cluster you expect, over seven, is a good `eps`; [robust_linkage_select()] tries several.
#'
#' Time grows with \eqn{n^3} and memory with \eqn{n^2}: a second for 1000 rows, about six for 2000. For more rows
#' `sample` builds the tree of a random sample with twice `eps`, and `predict()` walks every row down from the root to
#' the child that holds most of its \eqn{6e} nearest sampled rows (Algorithm 2).
#'
#' Ties are broken by the order of the rows. Missing similarities are allowed, and come last.
#'
#' @section Which method when:
#' When single wrong similarities or outliers chain clusters together in [stats::hclust()], and when there is no metric:
#' alignment scores, co-occurrence, opinions. For clean Euclidean data Ward's or average linkage do as well and are much
#' faster; for densities see `robust_linkage_baseline(method = "robust_single")`; [bregman_cluster()] when the number of
#' clusters and the law of the columns are known.
#'
#' @param x Rows (a matrix, data frame or sparse matrix), or distances ([stats::dist()]), or with `similarity = TRUE` a
#'   symmetric matrix of similarities, which may have missing values.
#' @param eps Share of wrong neighbours plus share of bad points, below 1/6.
#' @param similarity Whether `x` is a matrix of similarities.
#' @param metric For rows: `"euclidean"`, `"manhattan"`, `"maximum"`, `"cosine"`, `"correlation"`, or a function of two
#'   rows.
#' @param singletons Whether single points that are too few to form a blob are given away.
#' @param sample Number of rows to build the tree of, at random; `NULL` for all.
#' @param step By how much \eqn{t} is raised at a time.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @return An object of classes `granary_robust_linkage` and `hclust`, with `merge`, `height`, `order`, `labels`, `part`
#'   (merges that are only a part of the next one, where several blobs became one at once), `eps`, `blobs` (a table:
#'   blobs and single points left after each \eqn{t} at which something was merged), `rows` (which rows the tree is of).
#' @references
#' Balcan, Liang and Gupta (2014). Robust hierarchical clustering. *Journal of Machine Learning Research* 15,
#' 3831--3871.
#' @seealso [granary_robust_linkage] for what can be done with the tree, [robust_linkage_select()], [tree_pruning()],
#'   [robust_linkage_check()], [robust_linkage_baseline()], [sim_robust_linkage()].
#' @export
#' @examples
#' # eight topics in two fields, and a wrong link from every document to one of the other field
#' sim <- sim_robust_linkage("topics", n = 64)
#' fit <- robust_linkage(sim$similarity, eps = 1 / 64, similarity = TRUE)
#' fit
#' assess(fit, truth = sim$labels$region)
#' assess(hclust(as.dist(1 - sim$similarity), "average"), truth = sim$labels$region)
#' table(cutree(fit, 2), sim$labels$half)
robust_linkage <- function(x, eps = 0.02, similarity = FALSE, metric = "euclidean", singletons = TRUE, sample = NULL,
                           step = 1, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  eps <- check_eps(eps, if (is.null(sample)) 1 else 2)
  singletons <- check_flag(singletons)
  step <- check_count(step)
  threads <- thread_count(threads)
  input <- linkage_input(x, check_flag(similarity), metric)
  rows <- seq_len(input$n)
  if (!is.null(sample)) {
    sample <- check_count(sample, lower = 2)
    if (sample > input$n) {
      abort_input(sprintf("`sample` must be at most the number of rows, %d, not %d.", input$n, sample), "sample")
    }
    rows <- core_robust_sample(input$n, sample, core_seed())
  }
  used <- if (is.null(sample)) eps else 2 * eps
  values <- linkage_values(input, rows)
  found <- link_robustly(values, input$closeness, list(eps = used, singletons = singletons, step = step,
                                                       threads = threads))
  new_robust_linkage(found, input, rows, eps, used, call)
}

check_eps <- function(eps, factor = 1, arg = "eps") {
  eps <- check_number(eps, arg, lower = 0, strict_lower = TRUE)
  if (factor * eps >= 1 / 6) {
    abort_input(
      sprintf("`%s` must be less than %s%s, not %s: neighbourhoods of more than six times the noise must fit into the data.",
              arg, if (factor == 1) "1/6" else "1/12", if (factor == 1) "" else " with `sample`, which doubles it",
              format(eps)), arg)
  }
  eps
}

link_robustly <- function(values, closeness, options, label = "robust linkage") {
  n <- nrow(values)
  if (n >= 2L && 4 * options$eps * n < 2) {
    warn_input(
      sprintf("`eps` is less than half a point of the %d: pairs of points count as blobs, and the tree forgives little.",
              n), "eps")
  }
  core_robust_linkage(values, closeness, options, progress_bar(label))
}

# What a tree can be made of: rows with a metric, distances, or similarities.
linkage_input <- function(x, similarity, metric) {
  if (similarity) {
    x <- check_matrix(x, "x", allow_na = TRUE)
    if (nrow(x) != ncol(x)) {
      abort_input(sprintf("`x` must be a square matrix of similarities, but it is %d x %d.", nrow(x), ncol(x)), "x")
    }
    known <- x[row(x) != col(x) & !is.na(x)]
    if (length(known) == 0L && nrow(x) > 1L) abort_input("`x` must have similarities that are not missing.", "x")
    if (any(is.na(x) != is.na(t(x))) || any(abs(x - t(x)) > 1e-8 * max(abs(known), 0), na.rm = TRUE)) {
      abort_input("`x` must be symmetric: take pmax(x, t(x)) or (x + t(x)) / 2, whichever a similarity means here.",
                  "x")
    }
    return(list(n = nrow(x), closeness = "similarity", values = unname(x),
                labels = if (is.null(rownames(x))) colnames(x) else rownames(x), missing = sum(is.na(x[upper.tri(x)]))))
  }
  source <- map_source(x, metric)
  if (!is.null(source$index)) {
    abort_input("`x` must be rows or distances, not neighbours: every point has to see all others.", "x")
  }
  c(source, list(closeness = "distance", missing = 0L))
}

# The square matrix of the chosen rows.
linkage_values <- function(input, rows) {
  check_all_pairs(length(rows), 2, "Use `sample`.")
  if (!is.null(input$values)) return(if (length(rows) == input$n) input$values else input$values[rows, rows, drop = FALSE])
  if (!is.null(input$dist)) {
    full <- unname(as.matrix(structure(input$dist, Size = input$n, class = "dist", Diag = FALSE, Upper = FALSE)))
    return(if (length(rows) == input$n) full else full[rows, rows, drop = FALSE])
  }
  all_distances(input, input$x[rows, , drop = FALSE])
}

# Distances of all pairs of rows, or of rows to others: as R's own where it has them.
all_distances <- function(input, rows) {
  m <- nrow(rows)
  if (is.function(input$metric)) {
    rows <- as.matrix(rows)
    out <- matrix(0, m, m)
    for (i in seq_len(m - 1L)) {
      for (j in (i + 1L):m) out[i, j] <- out[j, i] <- own_distance(input$metric, rows[i, ], rows[j, ])
    }
    return(out)
  }
  if (m == 1L) return(matrix(0, 1L, 1L))
  if (input$metric %in% c("euclidean", "manhattan", "maximum")) return(unname(as.matrix(row_dist(rows, input$metric))))
  near <- core_nearest(rows, NULL, list(k = m - 1L, metric = input$metric, threads = thread_count()), NULL)
  out <- matrix(0, m, m)
  out[cbind(rep(seq_len(m), each = m - 1L), as.vector(near$index))] <- as.vector(near$distance)
  out
}

row_dist <- function(rows, metric) {
  rows <- as.matrix(rows)
  size <- max(abs(rows), .Machine$double.xmin)  # so that no square leaves the range of numbers
  stats::dist(rows / size, metric) * size
}

# The distances of all points as dist() has them.
linkage_dist <- function(input) {
  check_all_pairs(input$n, 2, "Take a sample of the rows.")
  if (!is.null(input$dist)) return(structure(input$dist, Size = input$n, class = "dist", Diag = FALSE, Upper = FALSE))
  if (!is.null(input$x) && !is.function(input$metric) && input$metric %in% c("euclidean", "manhattan", "maximum")) {
    return(row_dist(input$x, input$metric))
  }
  values <- linkage_values(input, seq_len(input$n))
  stats::as.dist(if (input$closeness == "similarity") max(values) - values else values)
}

new_robust_linkage <- function(found, input, rows, eps, used, call) {
  labels <- input$labels[rows]
  sampled <- length(rows) < input$n
  keep <- input[intersect(c("metric", "variables", "closeness"), names(input))]
  if (!is.null(input$x)) keep$x <- input$x[rows, , drop = FALSE]
  fit <- new_fit("robust_linkage", merge = found$merge, height = found$height, order = found$order, labels = labels,
                 method = "robust median neighbourhood",
                 dist.method = if (is.character(input$metric)) input$metric else input$closeness, part = found$part,
                 eps = eps, eps_used = used, blobs = data.frame(t = found$at, blobs = found$blobs,
                                                                singles = found$singles), rows = rows, n = length(rows),
                 n_all = input$n, sampled = sampled, missing = input$missing, evaluations = found$evaluations,
                 source = keep, call = call, convergence = found$convergence)
  class(fit) <- c(class(fit), "hclust")
  seal(fit)
}

# A tree as compiled code wants it, from any hclust.
tree_of <- function(tree, arg = "tree") {
  if (!inherits(tree, "hclust")) fail_input(arg, "a tree: robust_linkage(), hclust() or as.hclust()", describe(tree))
  merge <- tree$merge
  height <- tree$height
  if (!is.matrix(merge) || !is.numeric(merge) || ncol(merge) != 2L || !is.numeric(height) ||
      length(height) != nrow(merge) || anyNA(merge) || anyNA(height)) {
    abort_input(sprintf("`%s` is no whole hclust: `merge` must have two columns and `height` one number per row of it.",
                        arg), arg)
  }
  part <- tree$part
  if (!is.logical(part) || length(part) != nrow(merge)) part <- rep(FALSE, nrow(merge))
  storage.mode(merge) <- "integer"
  list(merge = unname(merge), height = as.double(height), part = part)
}

#' Choose the noise of robust linkage
#'
#' Builds trees for several `eps` and takes the one whose most persistent clusters agree best with those of its
#' neighbours in the grid.
#'
#' @details
#' The paper leaves the choice of `eps` open and reports the best of several. Here, for each `eps`, the tree is pruned
#' to its most persistent clusters (or to `k` of them; [tree_pruning()]); the score is the mean adjusted Rand index with
#' the prunings of the next smaller and next larger `eps`. This is a rule of ours: a stable stretch of the grid is where
#' the noise is covered and the clusters are not yet too small for it.
#'
#' @inheritParams robust_linkage
#' @param eps Values to try, increasing, below 1/6.
#' @param k Number of clusters, or `NULL`.
#' @section Which method when:
#' When you cannot say how large the smallest cluster is. With known labels of some rows compare `assess(fit, truth =)`
#' instead.
#' @return A `granary_selection` with `fit`, `table` (`eps`, number of `clusters`, `stability`, `largest`, the share of
#'   the largest cluster) and `selected`.
#' @inherit robust_linkage references
#' @seealso [robust_linkage()], [tree_pruning()].
#' @export
#' @examples
#' sim <- sim_robust_linkage("topics", n = 64)
#' robust_linkage_select(sim$similarity, eps = c(1, 2, 3, 4) / 64, similarity = TRUE)
robust_linkage_select <- function(x, eps = c(0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12), k = NULL, similarity = FALSE,
                                  metric = "euclidean", singletons = TRUE, sample = NULL, step = 1,
                                  threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  eps <- check_vector(eps, "eps", min_length = 2, lower = 0, strict_lower = TRUE)
  if (is.unsorted(eps, strictly = TRUE)) abort_input("`eps` must increase.", "eps")
  for (one in eps) check_eps(one, if (is.null(sample)) 1 else 2)
  k <- check_count(k, allow_null = TRUE, lower = 2)
  input <- linkage_input(x, check_flag(similarity), metric)
  singletons <- check_flag(singletons)
  rows <- seq_len(input$n)
  if (!is.null(sample)) {
    sample <- check_count(sample, lower = 2)
    if (sample > input$n) {
      abort_input(sprintf("`sample` must be at most the number of rows, %d, not %d.", input$n, sample), "sample")
    }
    rows <- core_robust_sample(input$n, sample, core_seed())
  }
  if (length(rows) < 3L) abort_input("`x` must have at least three rows to choose `eps`.", "x")
  values <- linkage_values(input, rows)
  fits <- lapply(eps, function(one) {
    used <- if (is.null(sample)) one else 2 * one
    found <- suppress_small(link_robustly(values, input$closeness,
                                          list(eps = used, singletons = singletons, step = check_count(step),
                                               threads = thread_count(threads))))
    new_robust_linkage(found, input, rows, one, used, call)
  })
  prunings <- lapply(fits, function(fit) {
    whole <- tree_of(fit)
    # into k clusters by persistence where the tree has such a pruning, else by height
    if (is.null(k)) return(core_tree_pruning(whole, NULL, 0L, NULL)$cluster)
    tryCatch(core_tree_pruning(whole, NULL, min(k, length(rows)), NULL)$cluster,
             granary_error_input = function(e) as.integer(stats::cutree(plain_tree(fit), k)))
  })
  between <- vapply(seq_len(length(eps) - 1L), function(i) core_cluster_agreement(prunings[[i]], prunings[[i + 1L]],
                                                                                  numeric(), NULL)$ari, 0)
  table <- data.frame(eps = eps, clusters = vapply(prunings, max, 0L),
                      stability = (c(NA, between) + c(between, NA)) / 2,
                      largest = vapply(prunings, function(z) max(tabulate(z)) / length(z), 0))
  ends <- c(1L, length(eps))
  table$stability[ends] <- between[c(1L, length(between))]
  # One cluster that holds nearly all is stable too, and says nothing.
  score <- ifelse(table$largest > 0.95, -1, table$stability)
  selected <- which.max(score)
  table$estimate <- score
  new_selection("robust_linkage", fit = fits[[selected]], table = table, rule = "stability",
                measure = "adjusted Rand index with the next eps", maximize = TRUE, selected = selected, call = call)
}

suppress_small <- function(code) {
  withCallingHandlers(code, granary_warning_input = function(w) invokeRestart("muffleWarning"))
}
