# Pictures of mixtures and of partitions.

#' @rdname dp_mixture
#' @usage \method{plot}{granary_dp_mixture}(x, type = c("count", "similarity", "density", "trace", "sizes"), ...)
#' @export
plot.granary_dp_mixture <- function(x, type = c("count", "similarity", "density", "trace", "sizes"), ...) {
  type <- check_choice(type, c("count", "similarity", "density", "trace", "sizes"))
  switch(type, count = plot_count(x, ...), similarity = draw_similarity(core_partition_similarity(thinned(x$partitions, 2000L), progress_bar("similarities")), x$cluster, ...),
         density = plot_density(x, ...), trace = plot_trace(x, ...), sizes = plot_sizes(x, ...))
  invisible(x)
}

# Evenly spaced rows of a matrix of draws.
thinned <- function(draws, most) if (nrow(draws) <= most) draws else draws[round(seq(1, nrow(draws), length.out = most)), , drop = FALSE]

plot_count <- function(x, ...) {
  most <- max(which(x$count$probability > 1e-3), if (!is.null(x$components)) which(x$components$probability > 5e-3), 2L)
  bars <- rbind(T = pad(x$count$probability, most), if (!is.null(x$components)) k = pad(x$components$probability, most))
  colors <- c("#0072B2", "#E69F00")[seq_len(nrow(bars))]
  places <- draw(graphics::barplot, bars, beside = TRUE, names.arg = seq_len(most), col = colors, border = NA, xlab = "number", ylab = "posterior probability",
                 main = x$prior$words, user = list(...))
  graphics::legend("topright", c("clusters in the data, T", "components, k")[seq_len(nrow(bars))], fill = colors, border = NA, bty = "n")
  invisible(places)
}

pad <- function(x, n) c(x, rep(0, n))[seq_len(n)]

# Rows in the order of their clusters; dark where two rows are nearly always together.
draw_similarity <- function(s, cluster, ...) {
  order <- order(cluster)
  n <- nrow(s)
  draw(graphics::image, seq_len(n), seq_len(n), s[order, rev(order), drop = FALSE], zlim = c(0, 1), col = grDevices::hcl.colors(64L, "YlGnBu", rev = TRUE), axes = FALSE, asp = 1,
       xlab = "rows, by cluster", ylab = "", main = "chance of being in one cluster", user = list(...))
  ends <- cumsum(tabulate(cluster))
  ends <- ends[-length(ends)] + 0.5
  if (length(ends) > 0L) {
    graphics::segments(ends, 0.5, ends, n + 0.5, col = "white")
    graphics::segments(0.5, n + 1 - ends, n + 0.5, n + 1 - ends, col = "white")
  }
  invisible()
}

plot_density <- function(x, ...) {
  if (length(x$columns) != 1L || !is.null(x$levels)) not_for(x, "type = \"density\"", "it is for one column of numbers; see predict(type = \"density\")")
  values <- x$x[, 1L]
  whole <- x$family %in% c("poisson", "geometric", "negative_binomial", "binomial")
  positive <- x$family %in% c("exponential", "weibull", "lognormal")
  room <- 0.15 * max(diff(range(values)), 1e-8)
  at <- if (whole) seq(max(0, min(values) - 2), max(values) + (x$family != "binomial") * 2) else seq(if (positive) max(min(values) / 2, min(values) - room) else min(values) - room, max(values) + room, length.out = 300L)
  less <- x
  class(less) <- class(x)
  keep <- round(seq(1, nrow(x$partitions), length.out = min(500L, nrow(x$partitions))))
  if (x$family != "richardson_green") {
    less[c("partitions", "theta_draws")] <- list(x$partitions[keep, , drop = FALSE], x$theta_draws[keep])
  }
  height <- stats::predict(less, matrix(at, dimnames = list(NULL, x$columns)), type = "density")
  colors <- cluster_colors(length(x$sizes))
  draw(graphics::plot, at, height, type = if (whole) "h" else "l", lwd = 2, bty = "l", ylim = c(0, 1.05 * max(height)), xlab = x$columns, ylab = "predictive density", main = "", user = list(...))
  graphics::rug(values[order(x$cluster)], col = NA)
  for (k in seq_along(x$sizes)) graphics::rug(values[x$cluster == k], col = colors[k], lwd = 1, ticksize = 0.04)
  invisible()
}

plot_trace <- function(x, ...) {
  old <- graphics::par(mfrow = c(2L, 1L), mar = c(4.1, 4.1, 1.1, 1.1))
  on.exit(graphics::par(old))
  n <- length(x$count_draws) %/% x$chains
  colors <- cluster_colors(x$chains)
  for (series in list(list(x$count_draws, "clusters T"), list(x$loglik_draws, "log-likelihood"))) {
    draw(graphics::matplot, matrix(series[[1L]], n), type = "l", lty = 1, col = grDevices::adjustcolor(colors, 0.7), bty = "l", xlab = "draw", ylab = series[[2L]], user = list(...))
  }
  invisible()
}

plot_sizes <- function(x, ...) {
  sizes <- cumsum(core_partition_sizes(x$partitions, 0)$expected)
  draw(graphics::plot, seq_along(sizes), sizes, type = "s", log = "x", lwd = 2, col = "#0072B2", bty = "l", xlab = "size", ylab = "expected clusters of at most this size",
       main = "", user = list(...))
  invisible()
}

#' @rdname dp_mixture
#' @usage \method{autoplot}{granary_dp_mixture}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_dp_mixture <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  bars <- data.frame(number = object$count$clusters, probability = object$count$probability, what = "clusters, T")
  if (!is.null(object$components)) bars <- rbind(bars, data.frame(number = object$components$components, probability = object$components$probability, what = "components, k"))
  bars <- bars[bars$probability > 1e-3, ]
  gg_canvas(bars, ggplot2::aes(.data$number, .data$probability, fill = .data$what)) + ggplot2::geom_col(position = "dodge") + gg_palette("fill") +
    ggplot2::labs(x = "number", y = "posterior probability", fill = NULL, title = object$prior$words)
}
