#' Nearest neighbours
#'
#' The `k` nearest rows of every row, or of every row of `newdata`, exactly, for several metrics, an own one, or
#' distances that are known.
#'
#' @details
#' Three engines give the same answer and differ in speed only. `"kd_tree"` is for few columns. `"blocked"` is for many:
#' near rows are put into balls of about two hundred, and for pairs of balls that may hold neighbours all distances are
#' one product of matrices, in single precision with a bound on its error; what may be among the nearest within that
#' bound is measured again in double precision. `"vp_tree"`, a vantage-point tree, needs nothing but a metric: each node
#' is a row with the median of its distances to the rows below it, and the triangle inequality tells which side cannot
#' hold a neighbour. `"auto"` takes the kd-tree up to nine columns, products beyond, and the vantage-point tree for
#' `"manhattan"`, `"maximum"` and own metrics. Sparse rows stay sparse for `"euclidean"` and `"cosine"`.
#'
#' Of rows at the same distance the one of smaller number comes first. A row is not its own neighbour, but its
#' duplicates are. `"cosine"` is one minus the cosine of the angle,
#' `"correlation"` one minus the correlation of two rows.
#'
#' @section Which method when:
#' For graphs of neighbours, densities, outliers or as the start of [tsne()], when the answer must be exact. Time grows
#' with \eqn{n \log n}{n log n} in few dimensions and towards \eqn{n^2} in many, where approximate searches (not here)
#' give up exactness for speed.
#'
#' @param x Rows: a matrix, data frame or sparse matrix, or a [stats::dist] object.
#' @param k Number of neighbours.
#' @param newdata Rows whose neighbours among those of `x` are wanted, with the columns of `x`; `NULL` for the rows of
#'   `x`.
#' @param metric `"euclidean"`, `"manhattan"`, `"maximum"`, `"cosine"`, `"correlation"`, or a function of two rows that
#'   gives their distance and is a metric.
#' @param method Engine; see Details.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @return A list of class `granary_nearest` with the matrices `index` (row numbers of `x`) and `distance`, one row per
#'   row asked for and one column per neighbour, the nearest first.
#' @references
#' Yianilos (1993). Data structures and algorithms for nearest neighbor search in general metric spaces. *Symposium on
#' Discrete Algorithms*, 311--321.
#'
#' Friedman, Bentley and Finkel (1977). An algorithm for finding best matches in logarithmic expected time. *ACM
#' Transactions on Mathematical Software* 3, 209--226.
#' @seealso [tsne()], [tsne_affinity()].
#' @export
#' @examples
#' near <- nearest_neighbors(iris[1:4], k = 3)
#' near
#' # how often is the nearest flower of the same species?
#' mean(iris$Species[near$index[, 1]] == iris$Species)
#'
#' nearest_neighbors(iris[1:100, 1:4], k = 2, newdata = iris[101:103, 1:4])
#' nearest_neighbors(iris[1:4], k = 2, metric = function(a, b) sum(abs(a - b)^3)^(1 / 3))
nearest_neighbors <- function(x, k = 10, newdata = NULL, metric = "euclidean",
                              method = c("auto", "kd_tree", "vp_tree", "blocked"), threads = NULL) {
  if (missing(x)) fail_missing("x")
  k <- check_count(k)
  method <- check_choice(method, c("auto", "kd_tree", "vp_tree", "blocked"))
  threads <- thread_count(threads)
  source <- map_source(x, metric)
  if (!is.null(source$index)) abort_input("`x` holds neighbours already: give rows or distances.", "x")
  if (k > source$n - is.null(newdata)) {
    abort_input(sprintf("`k` must be at most %d, the number of %srows, not %d.", source$n - is.null(newdata),
                        if (is.null(newdata)) "other " else "", k), "k")
  }
  if (!is.null(newdata) && is.null(source$x)) {
    abort_input("`newdata` needs rows as `x`: distances of all pairs say nothing of new rows.", "newdata")
  }
  if (!is.null(newdata)) {
    newdata <- new_design(newdata, variable_names(source$variables, ncol(source$x)), arg = "newdata")
  }
  labels <- if (is.null(newdata)) source$labels else rownames(newdata)
  found <- find_neighbors(source, newdata, k, method, threads)
  new_nearest(found, labels)
}

find_neighbors <- function(source, newdata, k, method, threads) {
  progress <- progress_bar("neighbours")
  if (!is.null(source$dist)) return(core_nearest_dist(source$dist, source$n, k, threads, progress))
  if (!is.null(source$own)) {
    if (is.null(newdata)) return(core_nearest_own(source$n, source$own, k, progress))
    return(own_neighbors(source, newdata, k))
  }
  core_nearest(source$x, if (!is.null(newdata)) plain_rows(newdata),
               list(k = k, metric = source$metric, method = method, threads = threads), progress)
}

# With an own metric new rows look at all.
own_neighbors <- function(source, newdata, k) {
  rows <- as.matrix(newdata)
  old <- as.matrix(source$x)
  away <- vapply(seq_len(nrow(rows)), function(i) vapply(seq_len(nrow(old)),
                                                         function(j) own_distance(source$metric, rows[i, ], old[j, ]),
                                                         0), numeric(nrow(old)))
  away <- matrix(away, nrow(old))
  index <- matrix(apply(away, 2L, function(d) order(d)[seq_len(k)]), k)
  list(index = index, distance = matrix(away[cbind(as.vector(index), rep(seq_len(ncol(away)), each = k))], k))
}

own_distance <- function(metric, a, b) {
  d <- user_value(metric, "metric", a, b)
  if (!is_plain_numeric(d) || length(d) != 1L || is.na(d) || d < 0) {
    abort_input(paste0("The function `metric` must give one number that is not negative, not ", describe(d), "."),
                "metric")
  }
  as.double(d)
}

new_nearest <- function(found, labels = NULL) {
  index <- t(found$index)
  distance <- t(found$distance)
  dimnames(index) <- dimnames(distance) <- if (!is.null(labels)) list(labels, NULL)
  seal(structure(list(index = index, distance = distance), class = "granary_nearest"))
}

#' @export
print.granary_nearest <- function(x, ...) {
  n <- nrow(x$index)
  cli::cat_line(sprintf("The %s of %s", counted(ncol(x$index), "nearest neighbour", "nearest neighbours"),
                        counted(n, "row", "rows")))
  cli::cat_line(sprintf("Distance to the nearest: median %s, largest %s; to the last: median %s, largest %s",
                        format(stats::median(x$distance[, 1L]), digits = 4L),
                        format(max(x$distance[, 1L]), digits = 4L),
                        format(stats::median(x$distance[, ncol(x$distance)]), digits = 4L),
                        format(max(x$distance), digits = 4L)))
  shown <- seq_len(min(n, 5L))
  table <- x$index[shown, seq_len(min(ncol(x$index), 10L)), drop = FALSE]
  dimnames(table) <- list(if (is.null(rownames(table))) shown else rownames(table), paste0("nn", seq_len(ncol(table))))
  print(table)
  if (n > 5L) cli::cat_line("and ", n - 5L, " more in $index and $distance")
  invisible(x)
}

# What a map or neighbours can be made of: list(n, labels, variables) with x and metric, own (a function of two row
# numbers), dist, or index and distance (k x n).
map_source <- function(x, metric, arg = "x") {
  words <- c("euclidean", "manhattan", "maximum", "cosine", "correlation")
  if (!is.function(metric)) metric <- check_choice(metric, words)
  if (inherits(x, "dist")) return(dist_source(x, arg))
  if (inherits(x, "granary_nearest") || (is.list(x) && !is.data.frame(x) && !is.object(x) &&
                                         all(c("index", "distance") %in% names(x)))) {
    return(neighbor_source(x, arg))
  }
  given <- x
  x <- check_rows(x, arg)
  warn_distances(given, arg)
  out <- list(n = nrow(x), labels = rownames(x), variables = colnames(x), x = plain_rows(x), metric = metric)
  if (is.function(metric)) {
    rows <- as.matrix(x)
    if (is.null(rownames(rows))) rownames(rows) <- NULL
    out$own <- function(i, j) own_distance(metric, rows[i + 1L, ], rows[j + 1L, ])
  }
  out
}

# Rows that look like a full matrix of distances: taken as rows they give an answer that nobody asked for.
warn_distances <- function(x, arg = "x") {
  if (is.null(dim(x)) || isS4(x) || is.data.frame(x) || nrow(x) != ncol(x) || nrow(x) < 4L) return(invisible())
  if (any(diag(x) != 0) || any(x < 0) || all(x == 0) || !isSymmetric(unname(x))) return(invisible())
  warn_input(sprintf(paste("`%s` looks like a matrix of distances, but its rows are taken as points.",
                           "If it holds distances, pass as.dist(%s); if not, as.data.frame(%s)."), arg, arg, arg), arg)
}

dist_source <- function(x, arg) {
  n <- attr(x, "Size")
  labels <- attr(x, "Labels")
  values <- as.vector(unclass(x))
  if (!checkmate::test_count(n, positive = TRUE) || !is.numeric(values) || length(values) != n * (n - 1) / 2) {
    abort_input(sprintf("`%s` must be a whole object of dist(), but its attributes and its length do not fit.", arg),
                arg)
  }
  if (n < 2) abort_input(sprintf("`%s` must hold the distances of at least two rows.", arg), arg)
  values <- check_vector(as.double(values), arg, lower = 0)
  list(n = as.integer(n), labels = if (is.character(labels) && length(labels) == n) labels, dist = as.double(values))
}

neighbor_source <- function(x, arg) {
  index <- check_matrix(x$index, paste0(arg, "$index"))
  distance <- check_matrix(x$distance, paste0(arg, "$distance"))
  if (!identical(dim(index), dim(distance))) {
    abort_input(sprintf("`%s$index` and `%s$distance` must have the same size.", arg, arg), arg)
  }
  n <- nrow(index)
  if (any(index != round(index)) || any(index < 1) || any(index > n)) {
    abort_input(sprintf("`%s$index` must hold numbers of rows, 1 to %d.", arg, n), arg)
  }
  if (any(index == row(index))) {
    abort_input(sprintf("`%s$index` must not name a row as its own neighbour, but row %d does.", arg,
                        which(rowSums(index == row(index)) > 0)[1L]), arg)
  }
  if (any(distance < 0)) abort_input(sprintf("`%s$distance` must not be negative.", arg), arg)
  twice <- which(apply(index, 1L, anyDuplicated) > 0L)
  if (length(twice) > 0L) {
    abort_input(sprintf("`%s$index` must not name a neighbour twice, but row %d does.", arg, twice[1L]), arg)
  }
  if (ncol(distance) > 1L && any(distance[, -1L] < distance[, -ncol(distance)])) {
    abort_input(sprintf("`%s$distance` must rise along each row: the nearest first.", arg), arg)
  }
  list(n = n, labels = rownames(index), index = unname(t(index)), distance = unname(t(distance)))
}
