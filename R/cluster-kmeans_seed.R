#' Rows to start k-means from
#'
#' Rows far apart, drawn by k-means++ or k-means#, which alone have a cost within a known factor of the best k-means
#' solution. Works with [stats::kmeans()]:
#' `kmeans(x, x[kmeans_seed(x, 5)$rows, ])`.
#'
#' @details
#' The first row is drawn with probability proportional to its weight, every other with probability proportional to its
#' weight times the squared distance from the rows drawn so far: the expected cost of
#' `k` rows is at most \eqn{8 (\ln k + 2)}{8 (ln k + 2)} times the optimum. `method = "sharp"` draws
#' \eqn{\lceil 3 \ln k \rceil}{ceil(3 ln k)} rows in each of `k` rounds, whose cost is at most 64 times the optimum for
#' `k` centres with probability at least 1/4. With `candidates` > 1 each row is the best of so many draws (greedy).
#'
#' @section Which method when:
#' To start a k-means of your own or of another package; [bregman_cluster()] and [stream_kmeans()] do this by
#' themselves.
#'
#' @param x Rows: a matrix or data frame.
#' @param k Number of clusters.
#' @param method `"plusplus"` for `k` rows, `"sharp"` for more.
#' @param weights Case weights, or `NULL`.
#' @param candidates Draws per row, of which the best is kept.
#' @param repeats Runs, of which the best is kept.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @return `kmeans_seed()` an object of class `granary_kmeans_seed`: `rows`, their numbers, `centers`, `sizes` (weight
#'   of the rows nearest to each) and `cost`. There are fewer than `k` where there are fewer distinct rows.
#'   `kmeans_cost()` the sum of squared distances from the nearest centre.
#' @references
#' Arthur and Vassilvitskii (2007). k-means++: the advantages of careful seeding. *Symposium on Discrete Algorithms*,
#' 1027--1035.
#'
#' Ailon, Jaiswal and Monteleoni (2009). Streaming k-means approximation. *Advances in Neural Information Processing
#' Systems* 22, 10--18.
#' @seealso [stream_kmeans()], [bregman_cluster()].
#' @export
#' @examples
#' set.seed(1)
#' seeds <- kmeans_seed(iris[1:4], k = 3)
#' seeds
#' kmeans_cost(iris[1:4], seeds$centers)
#' kmeans_cost(iris[1:4], stats::kmeans(iris[1:4], iris[seeds$rows, 1:4])$centers)
kmeans_seed <- function(x, k, method = c("plusplus", "sharp"), weights = NULL, candidates = 1, repeats = 1,
                        threads = NULL) {
  if (missing(x)) fail_missing("x")
  if (missing(k)) fail_missing("k")
  x <- as.matrix(check_rows(x))
  k <- check_clusters(k, nrow(x))
  weights <- check_case_weights(weights, nrow(x))
  options <- list(k = k, method = check_choice(method, c("plusplus", "sharp")),
                  candidates = check_count(candidates, upper = 1e4), repeats = check_count(repeats))
  found <- core_kmeans_seeds(plain_rows(x), weights, options, thread_count(threads), core_seed(), progress_bar("seeds"))
  seal(structure(list(rows = found$rows, centers = x[found$rows, , drop = FALSE], sizes = found$sizes,
                      cost = found$cost, method = options$method), class = "granary_kmeans_seed"))
}

#' @export
print.granary_kmeans_seed <- function(x, ...) {
  cli::cat_line(if (x$method == "sharp") "k-means#: " else "k-means++: ", counted(length(x$rows), "row", "rows"), " (",
                paste(utils::head(x$rows, 10L), collapse = ", "), if (length(x$rows) > 10L) ", ...",
                ") of cost ", format(x$cost, digits = 6L))
  invisible(x)
}

#' @rdname kmeans_seed
#' @param centers Centres, one per row, or a clustering of granary.
#' @export
kmeans_cost <- function(x, centers, weights = NULL, threads = NULL) {
  if (missing(x)) fail_missing("x")
  if (missing(centers)) fail_missing("centers")
  x <- as.matrix(check_rows(x))
  if (inherits(centers, "granary_clustering") || inherits(centers, "granary_kmeans_seed")) centers <- centers$centers
  centers <- as.matrix(check_rows(centers, "centers"))
  if (ncol(x) == ncol(centers) && !is.null(colnames(centers)) && !is.null(colnames(x))) {
    x <- match_columns(x, colnames(centers), "x")
  }
  if (ncol(x) != ncol(centers)) {
    abort_input(sprintf("`centers` must have the %d columns of `x`, but it has %d.", ncol(x), ncol(centers)), "centers")
  }
  weights <- check_case_weights(weights, nrow(x))
  pass <- list(centers = plain_rows(centers), sums = matrix(0, nrow(centers), ncol(centers)),
               weight = rep(0, nrow(centers)), cost = 0)
  core_kmeans_pass(pass, plain_rows(x), weights, thread_count(threads), progress_bar("cost"))$cost
}

#' Simple k-means to compare a stream with
#'
#' Batch k-means from random rows or from k-means++ seeds, and the online k-means of MacQueen, as in the experiments of
#' the paper.
#'
#' @details
#' `"lloyd"` starts from rows at random and iterates until the cost falls by less than `least`, which the paper takes as
#' 1; `"plusplus"` does so from k-means++ seeds. `"online"` starts at the first `k` distinct rows; each further row
#' moves its nearest centre by \eqn{(x - c) / n_c}, once.
#'
#' @section Which method when:
#' For comparisons only. For rows in memory use [bregman_cluster()], for streams [stream_kmeans()].
#'
#' @param x Rows: a matrix or data frame.
#' @param k Number of clusters.
#' @param method Which.
#' @param least Stop when the cost falls by less.
#' @param max_iter Largest number of iterations.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @return An object of class `granary_kmeans_baseline`, a [granary_clustering], with `cost` beside `cluster`, `centers`
#'   and `sizes`.
#' @inherit stream_kmeans references
#' @seealso [stream_kmeans()].
#' @export
#' @examples
#' set.seed(1)
#' x <- sim_stream_kmeans(1000, k = 10, d = 5)$x
#' stream_kmeans_baseline(x, k = 10)$cost
#' stream_kmeans_baseline(x, k = 10, method = "online")$cost
#' stream_kmeans(x, k = 10)$cost_bound
stream_kmeans_baseline <- function(x, k, method = c("lloyd", "plusplus", "online"), least = 1, max_iter = 1000,
                                   threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(k)) fail_missing("k")
  x <- as.matrix(check_rows(x))
  k <- check_clusters(k, nrow(x))
  method <- check_choice(method, c("lloyd", "plusplus", "online"))
  options <- list(k = k, method = method, least = check_number(least, lower = 0), max_iter = check_count(max_iter),
                  threads = thread_count(threads))
  found <- core_stream_baseline(plain_rows(x), options, core_seed(), progress_bar("k-means"))
  dimnames(found$centers) <- list(seq_len(k), variable_names(colnames(x), ncol(x)))
  check_convergence(new_clustering(
    "kmeans_baseline", cluster = stats::setNames(found$cluster, rownames(x)), centers = found$centers,
    sizes = found$sizes, objective = found$cost, cost = found$cost,
    scores = center_scores(found$centers), method = method,
    title = paste0("k-means: ", switch(method, lloyd = "batch, from rows at random", plusplus = "batch, from k-means++",
                                       "online, one pass")), measure = "Cost", call = call,
    convergence = found$convergence
  ))
}

#' Plans and guarantees for k-means of a stream
#'
#' How much memory a stream needs, and what the paper promises for it.
#'
#' @details
#' \describe{
#' \item{`"plan"`}{for `n` rows, `k` centres and `d` columns: rows per buffer and number of summaries
#'   for one number of `levels` after the other (or those given), with the memory in rows and numbers and the guarantee.
#'   With \eqn{r} summaries of
#'   summaries, buffers of \eqn{M = (n k^r a^r)^{1/(r+1)}}{M = (n k^r a^r)^(1/(r+1))} rows use the memory best,
#'   \eqn{a k} being what a buffer is summarised to (section 3.3). Given `memory`, the least number of levels whose
#'   buffers are no larger.}
#' \item{`"guarantee"`}{the factor of the cost over the best with `k` centres, and the probability of it,
#'   for `calls` summaries on `levels` levels. One level: \eqn{2b + 4b'(b+1)} with \eqn{b = 64} (k-means#) or \eqn{8(\ln k + 2)}{8(ln k + 2)}
#'   and \eqn{b' = 8 (\ln k + 2)}{b' = 8 (ln k + 2)}; more levels by taking what a level gives as the \eqn{b} of the
#'   next. For `"sharp"` the probability is that all summaries succeed,
#'   \eqn{(1 - (3/4)^{repeats})^{calls}}{(1 - (3/4)^repeats)^calls}, and the factor of the last step holds on average;
#'   for `"plusplus"` all is on average.}
#' \item{`"memory"`}{the least number of rows per buffer.}
#' }
#' @section Which method when:
#' Before a long run, to choose `memory`; the bound on the cost that a fit prints afterwards is usually far better than
#' the guarantee.
#'
#' @param what What to compute.
#' @param k Number of clusters.
#' @param n Number of rows.
#' @param d Number of columns.
#' @param memory Rows per buffer, or `NULL`.
#' @param levels Number of levels, or `NULL` for one to four.
#' @param method How buffers are summarised.
#' @param repeats Runs per buffer; `NULL` for \eqn{\lceil 3 \log_2 n \rceil}{ceil(3 log2 n)}.
#' @param calls Number of summaries.
#' @return A data frame; for `"memory"` a number.
#' @inherit stream_kmeans references
#' @seealso [stream_kmeans()].
#' @export
#' @examples
#' stream_kmeans_bounds("plan", k = 25, n = 1e7, d = 10)
#' stream_kmeans_bounds("guarantee", k = 25, calls = 100, repeats = 70)
stream_kmeans_bounds <- function(what = c("plan", "guarantee", "memory"), k, n = NULL, d = NULL, memory = NULL,
                                 levels = NULL, method = c("sharp", "plusplus"), repeats = NULL, calls = 1) {
  what <- check_choice(what, c("plan", "guarantee", "memory"))
  if (missing(k)) fail_missing("k")
  k <- check_count(k, upper = 1e6)
  method <- check_choice(method, c("sharp", "plusplus"))
  n <- check_number(n, lower = 1, allow_null = TRUE)
  levels <- check_count(levels, upper = 50, allow_null = TRUE)
  memory <- check_count(memory, allow_null = TRUE)
  repeats <- check_count(repeats, allow_null = TRUE)
  d <- check_count(d, allow_null = TRUE)
  calls <- check_number(calls, lower = 0)
  per_batch <- k * if (method == "sharp") max(1, ceiling(3 * log(k))) else 1
  least <- 2 * per_batch + 1
  if (what == "memory") return(least)
  if (what == "guarantee") {
    if (is.null(repeats)) repeats <- if (is.null(n)) 1L else as.integer(ceiling(3 * log2(max(n, 2))))
    return(stream_guarantee(k, method, repeats, calls, if (is.null(levels)) 1L else levels))
  }
  if (is.null(n)) abort_input("`n` must be given for what = \"plan\": the plan is for so many rows.", "n")
  if (is.null(repeats)) repeats <- as.integer(ceiling(3 * log2(max(n, 2))))
  if (!is.null(memory) && memory < least) {
    abort_input(
      sprintf("`memory` must be at least %d rows: a buffer is summarised to up to %d points, and must hold more than twice as many.",
              least, per_batch), "memory")
  }
  tried <- if (!is.null(levels)) levels else if (is.null(memory)) 1:4 else 1:50
  size <- vapply(tried, function(r) max(ceiling((n * per_batch^r)^(1 / (r + 1))), least), 0)
  if (!is.null(memory) && is.null(levels)) {
    fits <- which(size <= memory)
    if (length(fits) == 0L) {
      abort_input(sprintf("`memory` is too small: with 50 levels a buffer still needs %.0f rows.", min(size)), "memory")
    }
    tried <- tried[fits[1L]]
    size <- as.double(memory)
  }
  rows <- lapply(seq_along(tried), function(i) {
    ratio <- per_batch / size[i]
    count <- sum(ceiling(n / size[i] * ratio^(seq_len(tried[i]) - 1)))
    held <- min((tried[i] + 1) * size[i], n)
    g <- stream_guarantee(k, method, repeats, count, tried[i])
    data.frame(levels = tried[i], memory = size[i], centers = per_batch, calls = count, held = held,
               words = if (is.null(d)) NA_real_ else held * (d + 1), repeats = repeats, factor = g$factor,
               probability = g$probability)
  })
  do.call(rbind, rows)
}

# Theorem 3.1 level by level: what a level gives is the b of the next.
stream_guarantee <- function(k, method, repeats, calls, levels) {
  last <- 8 * (log(k) + 2)
  below <- if (method == "sharp") 64 else last
  b <- below
  for (level in seq_len(max(levels, 1L) - 1L)) b <- 2 * b + 4 * below * (b + 1)
  factor <- if (calls == 0 || levels == 0L) last else 2 * b + 4 * last * (b + 1)
  data.frame(factor = factor, probability = if (method == "sharp" && calls > 0) (1 - 0.75^repeats)^calls else NA_real_)
}
