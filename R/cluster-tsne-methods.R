# What can be done with a map of t-SNE.

#' What can be done with a t-SNE map
#'
#' Place new rows, go on with a run, score the map, draw it.
#'
#' @details
#' `predict()` places new rows without moving the old ones (an extension: the paper has none). A new row has
#' similarities \eqn{p_j} to its neighbours among the old rows, at the perplexity of the fit, starts at their weighted
#' mean, and minimises its own part of the cost, \eqn{\sum_j p_j \log(p_j / q_j)}{sum_j p_j log(p_j / q_j)}, against the
#' fixed map. Rows of a group that the map has never seen land between the groups it knows.
#'
#' `update()` with `max_iter` alone goes on for so many more iterations, exactly as a longer run would have. With
#' `newdata` rows are added: they are placed by `predict()`, and the whole is run from there without exaggeration. With
#' any other argument of [tsne()] the map is made anew.
#'
#' `assess()` gives for the `k` nearest neighbours: `trustworthiness` (near in the map, so near in the data),
#' `continuity` (near in the data, so near in the map) and `preservation` (the share of neighbours kept), for the rows
#' as they were compared (after principal components), from a sample of at most `samples` rows; `cosine`, the cosine of
#' the angle between the gradient of the tree and the exact one at the map (up to 20000 rows), which must be positive
#' for the descent to go down; with `truth`, the number `wrong` and share `error` of rows whose nearest neighbour in the
#' map has another label; with `newdata` and `newy`, the share `new.error` of new rows, placed by `predict()`, whose
#' nearest old row has another label. `map` scores another map of the same rows (of any method) instead.
#'
#' `plot(density = TRUE)` shows a kernel density under the points, and with `labels` one for each class as contours: a
#' scatter plot of very many points hides where most of them are.
#'
#' @param x,object A map of [tsne()].
#' @param newdata Rows with the columns of the data.
#' @param type `"latent"`: positions in the map.
#' @param max_iter Number of iterations; for `predict()`, the largest number for a row.
#' @param callback,tol,threads As for [tsne()].
#' @param truth Labels of the rows.
#' @param newy Labels of new rows.
#' @param map `NULL`, or another map of the same rows.
#' @param k Number of neighbours.
#' @param samples Largest number of rows for the scores that look at all pairs.
#' @param labels Classes of the rows, for colours.
#' @param dims The dimensions to draw.
#' @param density Whether to show densities.
#' @param data The data the map was made of, to which its columns are added.
#' @param ... For `plot()`, passed on to [graphics::plot()]; for `update()`, arguments of [tsne()].
#' @return `predict()` a matrix of positions; `update()` a map; `assess()` a data frame with one row; `augment()` the
#'   data with the columns `.dim1`, ....
#' @seealso [tsne()].
#' @name granary_tsne
#' @examples
#' fit <- tsne(iris[seq(1, 150, 2), 1:4], perplexity = 15, max_iter = 500)
#' predict(fit, iris[c(2, 52, 102), ])
#' assess(fit, truth = iris$Species[seq(1, 150, 2)], newdata = iris[seq(2, 150, 2), ], newy = iris$Species[seq(2, 150, 2)])
#' longer <- update(fit, max_iter = 250)
#' c(fit$cost, longer$cost)
#' plot(longer, labels = iris$Species[seq(1, 150, 2)], density = TRUE)
NULL

#' @rdname granary_tsne
#' @export
print.granary_tsne <- function(x, ...) {
  cli::cat_line(switch(x$type, tsne = "t-SNE", ssne = "Symmetric SNE", elastic = "Elastic embedding"), ": a map of ",
                counted(x$n, "row", "rows"), " in ", counted(x$k, "dimension", "dimensions"))
  print_call(x$call)
  how <- switch(x$method, exact = "all pairs", barnes_hut = sprintf("Barnes-Hut, theta %s", format(x$theta)),
                dual_tree = sprintf("dual tree, theta %s", format(x$theta)))
  cli::cat_line(sprintf("Perplexity %s; %s; learning rate %s", format(x$perplexity), how, format(signif(x$rate, 4L))))
  cli::cat_line(sprintf("Cost: %s (%s)", format(x$cost, digits = 5L),
                        if (x$type == "elastic") "elastic energy" else if (x$exact_cost) "Kullback-Leibler divergence, exact" else "Kullback-Leibler divergence, Z by a tree with theta 0.1"))
  if (x$restarts > 0L) {
    cli::cat_line("The learning rate was halved ", counted(x$restarts, "time", "times"),
                  ": the map left the range of numbers")
  }
  cli::cat_line("Solver: ", format_convergence(x$convergence), "; update() goes on")
  invisible(x)
}

#' @rdname granary_tsne
#' @export
predict.granary_tsne <- function(object, newdata = NULL, type = "latent", max_iter = 100, threads = NULL, ...) {
  refuse_dots(...)
  check_choice(type, "latent")
  if (is.null(newdata)) return(object$latent)
  source <- object$source
  if (is.null(source$x)) {
    not_for(object, "predict() of new rows", "it was made from distances or neighbours, not from rows")
  }
  columns <- if (is.null(source$reduction)) ncol(source$x) else length(source$reduction$center)
  rows <- new_design(newdata, variable_names(source$variables, columns))
  labels <- rownames(rows)
  rows <- plain_rows(rows)
  if (!is.null(source$reduction)) {
    rows <- core_tsne_more_rows(rows, source$reduction$center, source$reduction$rotation, source$reduction$unit)
  }
  if (isS4(source$x) && !isS4(rows)) rows <- methods::as(rows, "CsparseMatrix")
  threads <- thread_count(threads)
  many <- min(source$n, max(1L, as.integer(floor(3 * object$perplexity))))
  near <- find_neighbors(source, rows, many, "auto", threads)
  force <- object$options[c("type", "lambda", "method", "cell", "theta")]
  if (force$method == "dual_tree") force$method <- "barnes_hut"
  if (force$method == "exact") force$theta <- 0
  found <- core_tsne_place(unname(object$latent), near,
                           list(force = c(force, list(threads = threads)), perplexity = min(object$perplexity, many),
                                max_iter = check_count(max_iter)), progress_bar("placing rows"))
  structure(found$y, dimnames = list(labels, colnames(object$latent)))
}

#' @rdname granary_tsne
#' @export
update.granary_tsne <- function(object, newdata = NULL, ..., max_iter = 250, callback = NULL, tol = NULL,
                                threads = NULL) {
  changes <- match.call(expand.dots = FALSE)$...
  if (length(changes) > 0L) {
    if (is.null(names(changes)) || !all(nzchar(names(changes)))) {
      abort_input("Give changed arguments of tsne() by name.", "...")
    }
    unknown <- setdiff(names(changes), names(formals(tsne)))
    if (length(unknown) > 0L) {
      abort_input(paste0("There is no argument `", unknown[1L], "` of tsne().",
                         did_you_mean(unknown[1L], names(formals(tsne)), "`")), unknown[1L])
    }
    if (!is.null(newdata)) {
      abort_input("Give `newdata` to add rows, or changed arguments of tsne() to make the map anew, not both.",
                  "newdata")
    }
    again <- object$call
    for (name in c(names(changes), intersect(c("max_iter", "callback", "tol", "threads"), names(match.call())))) {
      again[[name]] <- match.call()[[name]]
    }
    return(eval(again, parent.frame()))
  }
  options <- object$options
  options$max_iter <- check_count(max_iter, lower = 0)
  if (!is.null(tol)) options$tol <- check_number(tol, lower = 0)
  options$threads <- thread_count(threads)
  options$rate <- object$rate
  source <- object$source
  source$labels <- rownames(object$latent)
  state <- object$state
  if (!is.null(newdata)) {
    added <- add_map_rows(object, source, newdata, threads)
    source <- added$source
    options$exaggeration_iter <- 0L
    state <- added$start
  }
  affinity <- source_affinity(source, object$perplexity, options$method, options$threads)
  found <- core_tsne(affinity$p, state, options, tsne_watch(callback), progress_bar("t-SNE"))
  if (is.null(newdata)) found$trace <- merge_traces(object$trace, as.data.frame(found$trace))
  new_tsne(found, affinity$sigma, source, object$perplexity, options, object$call)
}

# The first row of the second is the last of the first.
merge_traces <- function(old, new) rbind(old[old$iteration < new$iteration[1L], ], new)

# New rows behind the old ones, in the space where neighbours are looked for, and where they start.
add_map_rows <- function(object, source, newdata, threads) {
  places <- predict.granary_tsne(object, newdata, threads = threads)
  columns <- if (is.null(source$reduction)) ncol(source$x) else length(source$reduction$center)
  rows <- new_design(newdata, variable_names(source$variables, columns))
  labels <- if (!is.null(source$labels) || !is.null(rownames(rows))) {
    c(filled_labels(source$labels, source$n), filled_labels(rownames(rows), nrow(rows)))
  }
  rows <- plain_rows(rows)
  if (!is.null(source$reduction)) {
    rows <- core_tsne_more_rows(rows, source$reduction$center, source$reduction$rotation, source$reduction$unit)
  }
  again <- map_source(rbind(source$x, rows), source$metric)
  source[c("n", "x", "own")] <- again[c("n", "x", "own")]
  source$labels <- labels
  list(source = source, start = unname(rbind(object$latent, places)))
}

filled_labels <- function(labels, n) if (is.null(labels)) as.character(seq_len(n)) else labels

#' @rdname granary_tsne
#' @export
assess.granary_tsne <- function(object, truth = NULL, newdata = NULL, newy = NULL, map = NULL, k = 10, samples = 2000,
                                threads = NULL, ...) {
  refuse_dots(...)
  if (is.null(newdata) != is.null(newy)) {
    abort_input("Give `newdata` and `newy` together, or neither.", if (is.null(newdata)) "newdata" else "newy")
  }
  if (!is.null(newy) && is.null(truth)) abort_input("`newy` needs `truth`, the labels of the old rows.", "truth")
  if (!is.null(newy) && !is.null(map)) {
    abort_input("New rows can be placed in the map of the fit only, not in `map`.", "map")
  }
  source <- object$source
  n <- source$n
  k <- check_count(k)
  samples <- check_count(samples)
  threads <- thread_count(threads)
  if (k > n - 2L || 2 * n - 3 * k - 1 <= 0) {
    abort_input(sprintf("`k` must be less than %d for %d rows, not %d.", min(n - 1L, (2L * n - 1L) %/% 3L), n, k), "k")
  }
  if (inherits(map, "granary_embedding")) map <- map$latent
  latent <- if (is.null(map)) object$latent else check_matrix(map, "map")
  if (nrow(latent) != n) {
    abort_input(sprintf("`map` must have one row per row of the data, %d, but it has %d.", n, nrow(latent)), "map")
  }
  latent <- unname(latent)
  out <- data.frame(n = n, k = k)
  if (is.null(source$index)) {
    which <- if (n <= samples) seq_len(n) else unique(round(seq(1, n, length.out = samples)))
    quality <- core_tsne_quality(core_source(source), latent, k, which, threads, progress_bar("quality of the map"))
    out <- cbind(out, as.data.frame(quality))
  }
  if (is.null(map)) out <- cbind(out, data.frame(cost = object$cost, cosine = gradient_cosine(object, threads)))
  if (!is.null(truth)) {
    truth <- check_row_labels(truth, n, "truth")
    nearest <- nearest_neighbors(latent, k = 1, threads = threads)$index[, 1L]
    out$wrong <- sum(truth[nearest] != truth)
    out$error <- out$wrong / n
  }
  if (!is.null(newy)) {
    places <- predict.granary_tsne(object, newdata, threads = threads)
    newy <- check_row_labels(newy, nrow(places), "newy")
    nearest <- nearest_neighbors(latent, k = 1, newdata = unname(places), threads = threads)$index[, 1L]
    out$new.error <- mean(as.character(truth[nearest]) != as.character(newy))
  }
  out
}

# Of the tree's gradient with the exact one.
gradient_cosine <- function(object, threads) {
  if (object$n > 20000L) return(NA_real_)
  p <- source_affinity(object$source, object$perplexity, object$method, threads)$p
  options <- c(object$options[c("type", "lambda", "method", "cell", "theta")], list(threads = threads))
  tree <- core_tsne_gradient(p, unname(object$latent), options, NULL)$gradient
  options$theta <- 0
  exact <- core_tsne_gradient(p, unname(object$latent), options, NULL)$gradient
  size <- sqrt(sum(tree^2) * sum(exact^2))
  if (size > 0) sum(tree * exact) / size else NA_real_
}

#' @rdname granary_tsne
#' @export
plot.granary_tsne <- function(x, labels = NULL, dims = 1:2, density = FALSE, ...) {
  dims <- check_dims(dims, x$k)
  density <- check_flag(density)
  if (!density || length(dims) < 2L) {
    draw_embedding(x$latent, labels, dims, list(...))
    return(invisible())
  }
  groups <- if (!is.null(labels)) check_row_labels(labels, x$n)
  points <- x$latent[, dims, drop = FALSE]
  draw_embedding(x$latent, if (is.null(groups) || nlevels(groups) > 20L) NULL else labels, dims, list(...),
                 background = map_density(points))
  for (one in if (is.null(groups)) character() else levels(groups)) {
    grid <- map_density(points[groups == one, , drop = FALSE], points)
    colour <- label_colours[(match(one, levels(groups)) - 1L) %% length(label_colours) + 1L]
    graphics::contour(grid[[1L]], grid[[2L]], grid[[3L]], levels = -max(-grid[[3L]]) * c(0.5, 0.1), add = TRUE,
                      drawlabels = FALSE, col = colour, lwd = 1.4)
  }
  graphics::box()
  invisible()
}

# Minus a kernel density on a grid around `all`, so that dark is dense: counts of small boxes, smoothed along both
# sides. The width is the distance that a point has from its twentieth neighbour, in the median: groups lie far apart, and a
# width by their spread would blur them.
map_density <- function(points, all = points, size = 128L) {
  near <- nearest_neighbors(all, k = max(1L, min(20L, nrow(all) - 1L)))$distance
  width <- stats::median(near[, ncol(near)])
  smooth <- lapply(1:2, function(j) {
    reach <- range(all[, j])
    reach <- reach + c(-0.08, 0.08) * max(diff(reach), 1e-8)
    breaks <- seq(reach[1L], reach[2L], length.out = size + 1L)
    middle <- (breaks[-1L] + breaks[-(size + 1L)]) / 2
    list(middle = middle, box = findInterval(points[, j], breaks, all.inside = TRUE),
         kernel = exp(-outer(middle, middle, `-`)^2 / (2 * max(width, diff(breaks[1:2]))^2)))
  })
  counts <- matrix(tabulate(smooth[[1L]]$box + size * (smooth[[2L]]$box - 1L), size^2), size)
  list(smooth[[1L]]$middle, smooth[[2L]]$middle, -(smooth[[1L]]$kernel %*% counts %*% smooth[[2L]]$kernel))
}

#' @rdname granary_tsne
#' @export
augment.granary_tsne <- function(x, data = NULL, ...) {
  refuse_dots(...)
  if (is.null(data)) data <- data.frame(row = filled_labels(rownames(x$latent), x$n))
  if (!is.data.frame(data) && !is.matrix(data) || nrow(data) != x$n) {
    fail_input("data", sprintf("a data frame with the %d rows of the map", x$n), describe(data))
  }
  data <- as.data.frame(data)
  data[paste0(".dim", seq_len(x$k))] <- as.data.frame(unname(x$latent))
  data
}

#' @rdname granary_tsne
#' @export
glance.granary_tsne <- function(x, ...) {
  cbind(data.frame(n = x$n, k = x$k, perplexity = x$perplexity, cost = x$cost, exact_cost = x$exact_cost), NextMethod())
}

#' @rdname granary_tsne
#' @export
as.matrix.granary_tsne <- function(x, ...) {
  refuse_dots(...)
  x$latent
}
