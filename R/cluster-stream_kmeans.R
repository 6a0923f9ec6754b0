#' k-means of a stream
#'
#' Clusters rows in one pass and in bounded memory, from a file, a database, a function or any source of
#' [data_chunks()], with a guarantee relative to the best k-means solution and an upper bound on the cost over rows that
#' are already gone. The fit goes on with `update()`, and fits made by several workers are put together by [combine()].
#'
#' @details
#' The cost of centres \eqn{C} is
#' \eqn{\phi_C = \sum_x w(x) \min_{c \in C} |x - c|^2}{phi_C = sum_x w(x) min_c |x - c|^2}. Rows fill a buffer of
#' `memory` rows. When it is full, k-means# picks at most
#' \eqn{k \lceil 3 \ln k \rceil}{k ceil(3 ln k)} representatives (`method = "plusplus"`: \eqn{k}), every row hands its
#' weight to the nearest of them, and the representatives go to the buffer of the next level, which is treated alike.
#' The centres are those of k-means++ on all that is held. If the summaries are \eqn{b}-approximate and the last step
#' \eqn{b'}-approximate, the cost is at most \eqn{2 b + 4 b' (b + 1)} times the optimum with \eqn{k} centres (one
#' level); \eqn{b = 64} with probability \eqn{1 - (3/4)^{repeats}}{1 - (3/4)^repeats} for each summary of `"sharp"`,
#' \eqn{b = 8 (\ln k + 2)}{b = 8 (ln k + 2)} on average for `"plusplus"`. [stream_kmeans_bounds()] has the numbers.
#'
#' With `recenter` each representative is the mean of its rows and carries their sum of squares. Then
#' \deqn{\sum_t SSE(t) + \sum_t w(t) |t - c(t)|^2}{sum_t SSE(t) + sum_t w(t) |t - c(t)|^2}
#' is exactly the cost of assigning every row through its representative, and so at least the true cost: it is
#' `cost_bound`, usually within a few percent. Without it,
#' \eqn{\sqrt{\phi}}{sqrt(phi)} is at most \eqn{\sqrt{\phi(summary)}}{sqrt(phi(summary))} plus the root of the squared
#' moves of every level. Nothing summarised, `cost_bound` is the cost itself.
#'
#' `polish` improves the centres by Lloyd's iterations on what is held, from the best of `n_starts`; `passes` by as many
#' passes over the source itself, where it can be read again, after which `cost` is the exact cost. The paper has
#' `recenter = FALSE, polish = FALSE, n_starts = 1, repeats = NULL`.
#'
#' The same rows give the same fit whatever the pieces they come in. A fit can be saved with [saveRDS()] and goes on
#' exactly where it stopped. The state holds at most `memory` rows per level; while it is read, a piece of as many rows
#' stands beside it.
#'
#' @section Which method when:
#' When rows do not fit in memory, come one after the other, or lie with several workers; also as a quick, good start
#' for big data. [bregman_cluster()] for rows in memory: it is k-means with a fixed point as its certificate.
#' [kmeans_seed()] gives starting rows only.
#'
#' @param x Rows: a matrix or data frame, one or more paths of files, a function that gives the next piece, a DBI
#'   result, an Arrow stream, a list of matrices, or [data_chunks()].
#' @param k Number of clusters.
#' @param method How buffers are summarised: k-means# (`"sharp"`) or k-means++ (`"plusplus"`).
#' @param memory Rows a buffer holds; `NULL` for \eqn{\sqrt{nk}}{sqrt(n k)} where the number of rows is known, and 20000
#'   where it is not, or what `levels` asks for; at least twice what a buffer is summarised to.
#' @param levels How often rows may be summarised, the last buffer then grows as it must; `NULL` for as often as needed.
#' @param repeats Runs per full buffer, of which the best is kept; `NULL` for the
#'   \eqn{\lceil 3 \log_2 n \rceil}{ceil(3 log2 n)} of the paper.
#' @param recenter Whether representatives are means of their rows.
#' @param polish Whether the centres are improved on what is held.
#' @param n_starts Number of starts at the end, of which the best is kept.
#' @param passes Passes over the source after the first.
#' @param n Number of rows, if known; used for the defaults of `memory` and `repeats`.
#' @param weights Case weights: `NULL` for ones, a vector with one entry per row of the stream in the order the rows come,
#'   or the name of the column that holds them, which is then no column of the data.
#' @param na What to do with rows that have missing values: stop, or leave them out.
#' @param max_iter Largest number of iterations of the polish.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @return An object of class `granary_stream_kmeans`, a [granary_clustering], with `centers`, `sizes` (number of rows
#'   of each cluster, or their weight, through the representatives), `cost_bound`, `cost` (after `passes`), `summary` (a data frame:
#'   `weight`, `scatter`,
#'   `cluster` and the points that are held), `n` rows seen, `levels`, `memory` (rows per buffer), `peak` (largest
#'   number of points held), `guarantee` (as in [stream_kmeans_bounds()]), `state`. It has no labels:
#'   `predict(fit, newdata)` gives them.
#' @references Ailon, Jaiswal and Monteleoni (2009). Streaming k-means approximation. *Advances in Neural Information
#'   Processing Systems* 22, 10--18.
#' @seealso [kmeans_seed()], [stream_kmeans_bounds()], [stream_kmeans_baseline()], [data_chunks()], [combine()],
#'   [bregman_cluster()].
#' @export
#' @examples
#' set.seed(1)
#' x <- sim_stream_kmeans(2000, k = 5, d = 3)$x
#' fit <- stream_kmeans(x, k = 5, memory = 200)
#' fit
#' kmeans_cost(x, fit)
#'
#' # piece by piece, and from two workers
#' first <- stream_kmeans(data_chunks(x[1:900, ], size = 100), k = 5, memory = 200)
#' first <- update(first, x[901:1000, ])
#' both <- combine(first, stream_kmeans(x[1001:2000, ], k = 5, memory = 200))
#' both$n
stream_kmeans <- function(x, k, method = c("sharp", "plusplus"), memory = NULL, levels = NULL, repeats = 1,
                          recenter = TRUE, polish = TRUE, n_starts = 10, passes = 0, n = NULL,
                          weights = NULL, na = c("error", "omit"), max_iter = 300, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(k)) fail_missing("k")
  k <- check_count(k, upper = 1e6)
  method <- check_choice(method, c("sharp", "plusplus"))
  na <- check_choice(na, c("error", "omit"))
  passes <- check_count(passes, lower = 0)
  weights <- check_stream_weights(weights)
  memory <- check_count(memory, allow_null = TRUE)
  levels <- check_count(levels, upper = 50, allow_null = TRUE)
  n <- check_number(n, lower = 1, allow_null = TRUE)
  rows <- if (!is.null(n)) n else if (is.matrix(x) || is.data.frame(x) ||
                                      isS4(x)) as.double(NROW(x)) else if (inherits(x, "granary_chunks") &&
                                                                           !is.na(x$rows)) x$rows
  if (is.null(memory)) memory <- default_memory(rows, k, method, levels)
  repeats <- check_count(repeats, allow_null = TRUE)
  if (is.null(repeats)) repeats <- as.integer(ceiling(3 * log2(max(if (is.null(rows)) 1e6 else rows, 2))))
  options <- list(k = k, method = method, memory = memory, levels = if (is.null(levels)) 0L else levels,
                  repeats = repeats, recenter = check_flag(recenter), polish = check_flag(polish),
                  n_starts = check_count(n_starts), max_iter = check_count(max_iter), threads = thread_count(threads))
  source <- stream_source(x, memory)
  if (passes > 0L && is.null(source$rewind)) {
    abort_input(sprintf("`passes` must be 0 for %s: it can be read once only.", source$kind), "passes")
  }
  read <- stream_read(source, options, na, rows = rows, weights = weights)
  fit <- new_stream_kmeans(read, call)
  for (pass in seq_len(passes)) fit <- stream_pass(fit, source, last = pass == passes, weights)
  fit
}

default_memory <- function(n, k, method, levels) {
  per_batch <- k * if (method == "sharp") max(1, ceiling(3 * log(k))) else 1
  least <- 2 * per_batch + 1
  rows <- if (is.null(n)) 20000 else if (is.null(levels)) ceiling(sqrt(n * k)) else ceiling((n * per_batch^levels)^(1 /
                                                                                                                    (levels + 1)))
  if (max(rows, least) > .Machine$integer.max) abort_input("`k` is too large for a buffer: give `memory`.", "k")
  as.integer(max(rows, 2 * least))
}

# Any source of rows as pieces of about `size` rows, read again where that is possible.
stream_source <- function(x, size) {
  if (inherits(x, "granary_chunks")) return(x)
  if (is.list(x) && !is.data.frame(x) && !is.object(x)) return(source_of_list(x))
  if (is.character(x) && length(x) > 1L && is.null(dim(x))) {
    return(source_of_sources(lapply(x, data_chunks, size = size)))
  }
  if (is_plain_numeric(x) && is.null(dim(x))) x <- matrix(as.double(x), dimnames = list(names(x), NULL))
  data_chunks(x, size = size)
}

source_of_list <- function(x) {
  if (length(x) == 0L) fail_input("x", "rows, or a list of matrices with at least one element", describe(x))
  for (i in seq_along(x)) {
    if (!is.matrix(x[[i]]) && !is.data.frame(x[[i]])) {
      fail_input("x", "a list of matrices or data frames", sprintf("one whose element %d is %s", i, describe(x[[i]])))
    }
  }
  at <- 0L
  read <- function() {
    if (at >= length(x)) return(NULL)
    at <<- at + 1L
    list(x = x[[at]], y = NULL)
  }
  new_chunks("a list of pieces", read, rewind = function() at <<- 0L, rows = sum(vapply(x, nrow, 1L)))
}

source_of_sources <- function(parts) {
  at <- 1L
  read <- function() {
    while (at <= length(parts)) {
      piece <- parts[[at]]$read()
      if (!is.null(piece)) return(piece)
      at <<- at + 1L
    }
    NULL
  }
  again <- function() {
    for (part in parts) part$rewind()
    at <<- 1L
  }
  new_chunks(counted(length(parts), "file", "files"), read, rewind = again,
             close = function() for (part in parts) if (!is.null(part$close)) part$close())
}

check_stream_weights <- function(weights) {
  if (is.null(weights)) return(NULL)
  if (is.character(weights) && length(weights) == 1L && !is.na(weights)) return(weights)
  if (!is_plain_numeric(weights)) {
    fail_input("weights", "NULL, numbers, one per row, or the name of the column that holds them", describe(weights))
  }
  unname(check_vector(weights, "weights", lower = 0))
}

# The rows of a piece as a matrix without missing values, and their weights; `seen` rows came before it.
stream_piece <- function(piece, names, na, seen, weights = NULL) {
  x <- piece$x
  if (isS4(x)) x <- as.matrix(x)
  w <- numeric()
  if (is.character(weights)) {
    if (!weights %in% colnames(x)) abort_input(sprintf("`weights` must be a column of `x`, but there is no \"%s\".", weights), "weights")
    if (ncol(x) < 2L) abort_input("`x` must have columns beside that of the weights.", "x")
    w <- check_vector(as.vector(if (is.data.frame(x)) x[[weights]] else x[, weights]), "weights", lower = 0)
    x <- x[, colnames(x) != weights, drop = FALSE]
  } else if (!is.null(weights)) {
    if (seen + nrow(x) > length(weights)) {
      abort_input(sprintf("`weights` must have one entry per row of the stream, but it has %d and there are more rows.", length(weights)),
                  "weights")
    }
    w <- weights[seen + seq_len(nrow(x))]
  }
  odd <- if (is.matrix(x) && is.numeric(x)) which(is.infinite(x)) else integer()
  if (length(odd) > 0L) {
    abort_input(sprintf("`x` must be finite, but row %.0f of the stream has %s. Remove it or put a finite number in its place.",
                        seen + min((odd - 1L) %% nrow(x)) + 1, format(x[odd[1L]])), "x")
  }
  x <- check_matrix(x, "x", min_rows = 0L, allow_na = TRUE)
  if (is.null(names)) {
    check_names_unique(colnames(x), "x")
  } else {
    known <- colnames(x)
    x <- match_columns(x, names, "x")
    more <- setdiff(known, names)
    if (length(more) > 0L && all(names %in% known)) {
      abort_input(sprintf("The columns of `x` must stay the same, but from row %.0f of the stream on there is \"%s\", too.", seen + 1, more[1L]), "x")
    }
  }
  gone <- rowSums(is.na(x)) > 0
  if (any(gone) && na == "error") {
    abort_input(sprintf("`x` has missing values in row %.0f of the stream. Leave such rows out with na = \"omit\".",
                        seen + which(gone)[1L]), "x")
  }
  list(x = x[!gone, , drop = FALSE], weights = if (length(w) > 0L) w[!gone] else w, omitted = sum(gone), rows = nrow(x))
}

# Calls `use(x, weights)` with pieces of at least `size` rows (the last may be smaller), so that few of them cross; gives
# the number of rows and of those left out.
each_piece <- function(source, size, names, na, use, rows = source$rows, label = "stream", weights = NULL) {
  bar <- if (!is.null(rows) && !is.na(rows)) progress_bar(label)  # an honest bar needs to know how many rows there are
  if (!is.null(source$rewind)) source$rewind()
  on.exit(if (!is.null(source$close)) source$close())
  waiting <- heavy <- list()
  count <- seen <- omitted <- 0
  flush <- function() {
    if (count == 0) return()
    use(if (length(waiting) == 1L) waiting[[1L]] else do.call(rbind, waiting), as.double(unlist(heavy)))
    waiting <<- heavy <<- list()
    count <<- 0
  }
  repeat {
    piece <- source$read()
    if (is.null(piece)) break
    if (NROW(piece$x) == 0L) next
    piece <- stream_piece(piece, names, na, seen, weights)
    if (is.null(names)) names <- variable_names(colnames(piece$x), ncol(piece$x))
    seen <- seen + piece$rows
    omitted <- omitted + piece$omitted
    if (nrow(piece$x) == 0L) next
    waiting[[length(waiting) + 1L]] <- plain_rows(piece$x)
    heavy[[length(heavy) + 1L]] <- piece$weights
    count <- count + nrow(piece$x)
    if (count >= size) flush()
    if (!is.null(bar)) bar(seen / rows)
  }
  flush()
  if (is.numeric(weights) && length(weights) != seen) {
    abort_input(sprintf("`weights` must have one entry per row of the stream, %.0f, but it has %d.", seen, length(weights)), "weights")
  }
  list(rows = seen, omitted = omitted, names = names)
}

stream_read <- function(source, options, na, state = NULL, names = NULL, rows = source$rows, weights = NULL) {
  use <- function(x, w) {
    if (is.null(state)) state <<- core_stream_start(options, ncol(x), core_seed())
    state <<- core_stream_update(state, x, w, options$threads, NULL)
  }
  read <- each_piece(source, options$memory, names, na, use, rows, weights = weights)
  if (is.null(state)) {
    abort_input(sprintf("`x` gives no rows%s: %s is empty or has been read already.",
                        if (read$omitted > 0) " without missing values" else "", source$kind), "x")
  }
  if (!(state$weight > 0)) abort_input("`weights` must not all be zero.", "weights")
  list(state = state, names = read$names, omitted = read$omitted, na = na)
}

new_stream_kmeans <- function(read, call) {
  found <- core_stream_centers(read$state, progress_bar("centres"))
  options <- read$state$options
  at <- order(-found$sizes, seq_along(found$sizes))
  k <- length(at)
  centers <- found$centers[at, , drop = FALSE]
  dimnames(centers) <- list(seq_len(k), read$names)
  points <- found$summary
  colnames(points) <- read$names
  summary <- data.frame(weight = found$summary_weights, scatter = found$summary_scatter,
                        cluster = match(found$summary_cluster, at), points, check.names = FALSE)
  depth <- sum(vapply(read$state$levels, function(level) nrow(level$points) > 0L, NA) &
               seq_along(read$state$levels) > 1L)
  guarantee <- stream_guarantee(options$k, options$method, options$repeats, max(read$state$calls, 0),
                                max(length(read$state$levels) - 1L, 0L))
  fit <- new_clustering(
    "stream_kmeans", cluster = integer(), centers = centers, sizes = found$sizes[at], objective = found$cost_bound,
    cost_bound = found$cost_bound, cost = if (depth == 0L) found$cost_bound,
    summary_cost = found$summary_cost, summary = summary, values = found$values, levels = depth,
    memory = options$memory, peak = read$state$peak, words = read$state$peak * (length(read$names) + 1),
    calls = read$state$calls, guarantee = guarantee, omitted = read$omitted, na = read$na, names = read$names,
    state = read$state,
    scores = center_scores(centers),
    title = paste0("k-means of a stream: ", format(read$state$rows, big.mark = ",", scientific = FALSE), " rows, ",
                   length(read$names), " columns"), measure = "Cost at most", call = call,
    convergence = found$convergence
  )
  fit$n <- read$state$rows
  if (k < options$k) cli::cli_inform("Only {k} of {options$k} centres: there are no more different rows.")
  check_convergence(seal(fit))
}

# Scores of squared distances relative to the middle of the centres, so that little cancels far from zero.
center_scores <- function(centers) {
  middle <- colMeans(centers)
  theta <- sweep(unname(centers), 2L, middle)
  list(theta = theta, bias = -0.5 * rowSums(theta * sweep(unname(centers), 2L, middle, `+`)))
}

# One more pass of Lloyd over the source; the last one also gives the exact cost.
stream_pass <- function(fit, source, last, weights = NULL) {
  measure <- function(centers) {
    pass <- list(centers = unname(centers), sums = matrix(0, nrow(centers), ncol(centers)),
                 weight = rep(0, nrow(centers)), cost = 0)
    add <- function(x, w) pass <<- core_kmeans_pass(pass, x, w, fit$state$options$threads, NULL)
    each_piece(source, fit$memory, fit$names, fit$na, add, fit$n, "pass", weights)
    pass
  }
  pass <- measure(fit$centers)
  centers <- core_kmeans_pass_centers(pass)
  dimnames(centers) <- dimnames(fit$centers)
  fit$centers <- centers
  fit$scores <- center_scores(centers)
  fit$sizes <- pass$weight
  fit$cost_bound <- fit$cost <- fit$objective <- pass$cost  # of the centres before; those after cost no more
  if (last) {
    pass <- measure(centers)
    fit$cost_bound <- fit$cost <- fit$objective <- pass$cost
    fit$sizes <- pass$weight
    fit$measure <- "Cost"
  }
  seal(fit)
}

#' @export
print_more.granary_stream_kmeans <- function(x) {
  held <- nrow(x$summary)
  cli::cat_line(
    if (x$levels == 0L) "Nothing was summarised: the bound is the cost" else sprintf(
      "Summarised to %s %s; at most %s points were held (%s numbers)", format(held, big.mark = ","),
      if (x$levels == 1L) "points" else sprintf("points on %d levels", x$levels), format(x$peak, big.mark = ","),
      format(x$words, big.mark = ",", scientific = FALSE)))
  g <- x$guarantee
  if (x$levels > 0L) {
    cli::cat_line(sprintf("Guarantee before any polish: at most %s times the best cost with k centres%s",
                          format(g$factor, digits = 3L, big.mark = ","),
                          if (is.na(g$probability)) ", on average" else if (g$probability > 0.01) sprintf(
                            ", with probability at least %.2g",
                            g$probability) else "; use repeats = NULL for a probability of at least 1/2"))
  }
  if (x$omitted > 0) cli::cat_line(sprintf("%s with missing values left out", counted(x$omitted, "row", "rows")))
}

#' @rdname stream_kmeans
#' @param object A fit.
#' @param newdata More rows: any of the sources above.
#' @param ... Not used.
#' @export
update.granary_stream_kmeans <- function(object, newdata, weights = NULL, ...) {
  refuse_dots(...)
  weights <- check_stream_weights(weights)
  if (missing(newdata)) fail_missing("newdata")
  options <- object$state$options
  options$threads <- thread_count(NULL)
  read <- stream_read(stream_source(newdata, options$memory), options, object$na, object$state, object$names,
                      weights = weights)
  read$omitted <- read$omitted + object$omitted
  new_stream_kmeans(read, object$call)
}

#' @rdname combine
#' @export
combine.granary_stream_kmeans <- function(x, ...) {
  state <- x$state
  omitted <- x$omitted
  for (other in check_combined(x, list(...))) {
    if (!identical(x$names, other$names)) {
      odd <- c(setdiff(other$names, x$names), setdiff(x$names, other$names))
      abort_input(
        if (length(odd) > 0L) sprintf("The streams must be of the same columns, but \"%s\" is only in one of them.",
                                      odd[1L]) else "The streams must have their columns in the same order.", "x")
    }
    state <- core_stream_combine(state, other$state, NULL)
    omitted <- omitted + other$omitted
  }
  new_stream_kmeans(list(state = state, names = x$names, omitted = omitted, na = x$na), x$call)
}

#' @export
fitted.granary_stream_kmeans <- function(object, ...) {
  not_for(object, "fitted()", "the rows are gone; use predict() with rows")
}

#' @export
augment.granary_stream_kmeans <- function(x, data = NULL, ...) {
  refuse_dots(...)
  if (is.null(data)) not_for(x, "augment()", "the rows are gone; give them as `data`")
  if (is.matrix(data)) data <- as.data.frame(data)
  label <- stats::predict(x, data)
  data$.cluster <- unname(label)
  data
}

#' @rdname stream_kmeans
#' @param type `"class"`, the only kind: these clusters are hard.
#' @export
predict.granary_stream_kmeans <- function(object, newdata = NULL, type = "class", threads = NULL, ...) {
  if (is.null(newdata)) abort_input("Give `newdata`, the rows: a stream does not keep them.", "newdata")
  predict.granary_clustering(object, newdata, type, threads, ...)
}

#' @rdname stream_kmeans
#' @param columns Names or numbers of two columns to draw; `NULL` for the plane of largest variance.
#' @export
plot.granary_stream_kmeans <- function(x, newdata = NULL, columns = NULL, ...) {
  if (!is.null(newdata)) return(NextMethod())
  points <- as.matrix(x$summary[-(1:3)])
  picture <- if (ncol(points) > 1L) cluster_picture(x, points, columns) else cluster_picture(x, points, 1L)
  colors <- cluster_colors(length(x$sizes))
  old <- graphics::par(mar = c(4.1, 4.1, 2.1, 7.1))
  on.exit(graphics::par(old))
  size <- sqrt(x$summary$weight / max(x$summary$weight))
  draw(graphics::plot, picture$rows[, 1L], picture$rows[, 2L],
       col = grDevices::adjustcolor(colors[x$summary$cluster], 0.5), pch = 16, cex = 0.3 + 2.2 * size,
       xlab = picture$axes[1L], ylab = picture$axes[2L], main = "", bty = "l", user = list(...))
  if (!is.null(picture$centers)) {
    graphics::points(picture$centers, pch = 21, bg = colors, col = "black", cex = 1.6, lwd = 1.5)
  }
  cluster_legend(x$sizes, colors)
  invisible(x)
}

#' @rdname stream_kmeans
#' @usage \method{autoplot}{granary_stream_kmeans}(object, newdata = NULL, columns = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_stream_kmeans <- function(object, newdata = NULL, columns = NULL, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  if (!is.null(newdata)) return(autoplot.granary_clustering(object, newdata, columns))
  points <- as.matrix(object$summary[-(1:3)])
  picture <- cluster_picture(object, points, if (ncol(points) > 1L) columns else 1L)
  rows <- data.frame(a = picture$rows[, 1L], b = picture$rows[, 2L], cluster = factor(object$summary$cluster),
                     weight = object$summary$weight)
  ggplot2::ggplot(rows, ggplot2::aes(.data$a, .data$b, colour = .data$cluster, size = .data$weight)) +
    ggplot2::geom_point(alpha = 0.5) +
    ggplot2::scale_colour_manual(values = unname(cluster_colors(length(object$sizes))), drop = FALSE) +
      ggplot2::labs(x = picture$axes[1L], y = picture$axes[2L]) + ggplot2::theme_minimal()
}

#' @export
assess.granary_stream_kmeans <- function(object, truth = NULL, newdata = NULL, weights = NULL, ...) {
  refuse_dots(...)
  if (is.null(newdata)) abort_input("Give `newdata`, the rows: a stream does not keep them.", "newdata")
  cluster <- stats::predict(object, newdata)
  out <- data.frame(k = length(object$sizes), n = length(cluster), cost = kmeans_cost(newdata, object, weights))
  if (!is.null(truth)) {
    with <- cluster_agreement(cluster, truth, weights)
    out <- cbind(out, mi = with$mi, nmi = with$nmi, ari = with$ari, accuracy = with$accuracy, purity = with$purity)
  }
  out
}
