# What compare_methods() prints and draws.

#' @rdname compare_methods
#' @export
print.granary_compare_methods <- function(x, n = 10, ...) {
  n <- check_count(n)
  cli::cat_line(nrow(x$table), " methods on ", counted(x$n, "data set", "data sets"),
                if (!x$maximize) ", smaller is better")
  print_call(x$call)
  test <- x$friedman
  cli::cat_line("Friedman chi2 = ", format(test$statistic[1L], digits = 4L), " on ", test$df1[1L], " df, p = ",
                format.pval(test$p.value[1L], digits = 3L), "; mean ranks differ by ", format(x$critical, digits = 3L),
                " or more at level ", format(x$alpha))
  shown <- utils::head(x$table, n)
  columns <- intersect(c("method", "rank", "mean", "sd", if (any(x$table$failed > 0L)) "failed", "pama", "reach", "pma",
                         "family"), names(shown))
  print(format(shown[columns], digits = 3L), row.names = FALSE)
  if (nrow(x$table) > n) cli::cat_line("... and ", nrow(x$table) - n, " more: tidy() has them all")
  cli::cat_line("Pairs in `pairs`; plot() draws the critical differences")
  invisible(x)
}

#' @export
summary.granary_compare_methods <- function(object, ...) {
  seal(structure(list(comparison = object), class = "summary_granary_compare_methods"))
}

#' @export
print.summary_granary_compare_methods <- function(x, ...) {
  print(x$comparison)
  pairs <- utils::head(x$comparison$pairs, 20L)
  cli::cat_line()
  cli::cat_line("Pairs (p-values corrected by ", x$comparison$adjust, "):")
  columns <- intersect(c("first", "second", "difference", "conf.low", "conf.high", "nemenyi.p", "t.adjusted",
                         "wilcoxon.adjusted", "wins", "ties", "losses", "first.better", "no.matter", "second.better"),
                       names(pairs))
  print(format(pairs[columns], digits = 3L), row.names = FALSE)
  if (!is.null(x$comparison$families)) {
    cli::cat_line()
    print(format(x$comparison$families, digits = 3L), row.names = FALSE)
  }
  invisible(x)
}

#' @export
tidy.granary_compare_methods <- function(x, ...) x$table

#' @export
glance.granary_compare_methods <- function(x, ...) {
  data.frame(methods = nrow(x$table), n = x$n, best = x$table$method[1L], statistic = x$friedman$statistic[1L],
             p.value = x$friedman$p.value[1L], critical = x$critical)
}

#' @export
coef.granary_compare_methods <- function(object, ...) stats::setNames(object$table$rank, object$table$method)

#' @rdname compare_methods
#' @export
plot.granary_compare_methods <- function(x, type = c("cd", "profile", "rank", "family", "pairs"), n = 20, ...) {
  type <- check_choice(type, c("cd", "profile", "rank", "family", "pairs"))
  n <- check_count(n)
  switch(type, cd = plot_cd(x, n, ...), profile = plot_profile(x, n, ...), rank = plot_ranks(x, n, ...),
         family = plot_families(x, ...), pairs = plot_pairs(x, n, ...))
  invisible(x)
}

# Where everything of a critical difference diagram stands: labels left and right of the axis, bars below it.
cd_layout <- function(x, n) {
  rank <- utils::head(x$table$rank, n)
  k <- length(rank)
  left <- seq_len(ceiling(k / 2))
  groups <- Filter(function(g) g[1L] < k, x$groups)
  groups <- lapply(groups, function(g) pmin(g, k))
  groups <- Filter(function(g) g[2L] > g[1L], groups)
  list(
    names = utils::head(x$table$method, n), rank = rank, k = k, side = ifelse(seq_len(k) %in% left, "left", "right"),
    level = -(length(groups) * 0.35 + ifelse(seq_len(k) %in% left, seq_len(k), k + 1 - seq_len(k))),
    groups = groups, bars = -0.35 * seq_along(groups),
    range = c(floor(min(rank)), ceiling(max(rank, min(rank) + x$critical)))
  )
}

plot_cd <- function(x, n, ...) {
  at <- cd_layout(x, n)
  width <- diff(at$range)
  old <- graphics::par(mar = c(0.5, 0.5, 0.5, 0.5), xpd = NA)
  on.exit(graphics::par(old))
  room <- 0.45 * width
  draw(graphics::plot, NULL, xlim = at$range + c(-room, room), ylim = c(min(at$level) - 0.5, 2.2), axes = FALSE,
       xlab = "", ylab = "", user = list(...))
  graphics::segments(at$range[1L], 0, at$range[2L], 0)
  ticks <- pretty(at$range, min(10, width))
  ticks <- ticks[ticks >= at$range[1L] & ticks <= at$range[2L]]
  graphics::segments(ticks, 0, ticks, 0.15)
  graphics::text(ticks, 0.2, ticks, pos = 3L, cex = 0.8)
  graphics::segments(at$range[1L], 1.5, at$range[1L] + x$critical, 1.5, lwd = 2)
  graphics::text(at$range[1L] + x$critical / 2, 1.5, paste("CD", format(x$critical, digits = 3L)), pos = 3L, cex = 0.8)
  end <- ifelse(at$side == "left", at$range[1L] - 0.06 * width, at$range[2L] + 0.06 * width)
  graphics::segments(at$rank, 0, at$rank, at$level, col = "grey40")
  graphics::segments(at$rank, at$level, end, at$level, col = "grey40")
  graphics::text(end, at$level, sprintf("%s  %.2f", at$names, at$rank), pos = ifelse(at$side == "left", 2L, 4L),
                 cex = 0.85)
  for (g in seq_along(at$groups)) {
    ends <- at$rank[at$groups[[g]]]
    graphics::segments(ends[1L] - 0.01 * width, at$bars[g], ends[2L] + 0.01 * width, at$bars[g], lwd = 4, lend = 1L)
  }
}

profile_table <- function(x, n) {
  best <- utils::head(seq_len(ncol(x$x)), n)
  at <- seq(0, 1, length.out = 501L)
  list(at = at, share = core_method_profile(unname_design(x$x), x$maximize, at)[, best, drop = FALSE],
       names = colnames(x$x)[best])
}

plot_profile <- function(x, n, ...) {
  found <- profile_table(x, n)
  # begin where the curves leave 1
  start <- max(0, min(found$at[rowSums(found$share < max(found$share)) > 0], 0.98) - 0.02)
  col <- grDevices::hcl.colors(length(found$names), "Dark 3")
  draw(graphics::matplot, found$at, found$share, type = "s", lty = 1L, lwd = 2, col = col, xlim = c(start, 1),
       ylim = c(0, 1), bty = "l", xlab = if (x$maximize) "share of the best value" else "best value over own",
       ylab = "share of data sets", user = list(...))
  graphics::legend("bottomleft", found$names, col = col, lty = 1L, lwd = 2, bty = "n", cex = 0.75)
}

plot_ranks <- function(x, n, ...) {
  show <- rev(utils::head(seq_len(ncol(x$ranks)), n))
  old <- graphics::par(mar = c(4.1, 2 + 0.5 * max(nchar(colnames(x$ranks))), 1.1, 1.1))
  on.exit(graphics::par(old))
  draw(graphics::boxplot, lapply(show, function(j) x$ranks[, j]), names = colnames(x$ranks)[show], horizontal = TRUE,
       las = 1L, xlab = "rank",
       col = "#0072B233", border = "grey40", frame.plot = FALSE, cex.axis = 0.85, user = list(...))
  graphics::points(x$table$rank[show], seq_along(show), pch = 18, col = "#D55E00")
}

plot_families <- function(x, ...) {
  if (is.null(x$families)) abort_input("There are no families: give `family` to compare_methods().", "type")
  table <- x$families[rev(seq_len(nrow(x$families))), ]
  at <- seq_len(nrow(table))
  old <- graphics::par(mar = c(4.1, 2 + 0.6 * max(nchar(table$family)), 1.1, 1.1))
  on.exit(graphics::par(old))
  draw(graphics::plot, table$mean, at, xlim = range(table$min, table$max), ylim = c(0.5, nrow(table) + 0.5), yaxt = "n",
       ylab = "", pch = 16, bty = "n", xlab = "mean rank: best, mean and worst of the family", user = list(...))
  graphics::segments(table$min, at, table$max, at, lwd = 2, col = "#0072B2")
  graphics::points(table$min, at, pch = 18, col = "#D55E00")
  graphics::points(table$mean, at, pch = 16)
  graphics::axis(2L, at, table$family, las = 1L, tick = FALSE)
}

pair_rows <- function(x, n) {
  table <- utils::head(x$pairs[!is.na(x$pairs$conf.low), ], n)
  if (nrow(table) == 0L) abort_input("There are no intervals: one data set has none.", "x")
  table$pair <- paste(table$first, "-", table$second)
  table
}

plot_pairs <- function(x, n, ...) {
  table <- pair_rows(x, n)
  at <- rev(seq_len(nrow(table)))
  old <- graphics::par(mar = c(4.1, 2 + 0.5 * max(nchar(table$pair)), 1.1, 1.1))
  on.exit(graphics::par(old))
  draw(graphics::plot, table$difference, at, xlim = range(table$conf.low, table$conf.high, 0), yaxt = "n", ylab = "",
       pch = 16, col = "#0072B2", bty = "n",
       xlab = paste0("mean difference with ", format(100 * x$level), "% interval"), user = list(...))
  graphics::segments(table$conf.low, at, table$conf.high, at, col = "#0072B2")
  graphics::axis(2L, at, table$pair, las = 1L, tick = FALSE, cex.axis = 0.85)
  graphics::abline(v = c(0, if (!is.null(x$rope)) c(-1, 1) * x$rope), lty = 3)
}

#' @rdname compare_methods
#' @usage \method{autoplot}{granary_compare_methods}(object, type = c("cd", "profile", "rank", "family", "pairs"), n =
#' 20, ...)
#' @exportS3Method ggplot2::autoplot
# nolint: object_name_linter.
autoplot.granary_compare_methods <- function(object, type = c("cd", "profile", "rank", "family", "pairs"), n = 20,
                                             ...) {
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  type <- check_choice(type, c("cd", "profile", "rank", "family", "pairs"))
  n <- check_count(n)
  switch(type, cd = gg_cd(object, n), profile = gg_profile(object, n), rank = gg_ranks(object, n),
         family = gg_families(object), pairs = gg_pairs(object, n))
}

gg_cd <- function(x, n) {
  at <- cd_layout(x, n)
  width <- diff(at$range)
  end <- ifelse(at$side == "left", at$range[1L] - 0.06 * width, at$range[2L] + 0.06 * width)
  stems <- data.frame(x = c(at$rank, at$rank), y = c(rep(0, at$k), at$level), xend = c(at$rank, end),
                      yend = c(at$level, at$level))
  labels <- data.frame(x = end, y = at$level, label = sprintf(" %s  %.2f ", at$names, at$rank),
                       h = as.numeric(at$side == "left"))
  picture <- ggplot2::ggplot() + ggplot2::theme_void() +
    ggplot2::annotate("segment", x = at$range[1L], xend = at$range[2L], y = 0, yend = 0) +
    ggplot2::geom_segment(ggplot2::aes(.data$x, .data$y, xend = .data$xend, yend = .data$yend), stems,
                          colour = "grey40") +
    ggplot2::geom_text(ggplot2::aes(.data$x, .data$y, label = .data$label, hjust = .data$h), labels, size = 3.2) +
    ggplot2::annotate("segment", x = at$range[1L], xend = at$range[1L] + x$critical, y = 1.5, yend = 1.5,
                      linewidth = 0.8) +
    ggplot2::annotate("text", x = at$range[1L] + x$critical / 2, y = 1.9,
                      label = paste("CD", format(x$critical, digits = 3L)), size = 3)
  ticks <- pretty(at$range, min(10, width))
  ticks <- ticks[ticks >= at$range[1L] & ticks <= at$range[2L]]
  picture <- picture + ggplot2::annotate("segment", x = ticks, xend = ticks, y = 0, yend = 0.15) +
    ggplot2::annotate("text", x = ticks, y = 0.5, label = ticks, size = 3) +
    ggplot2::xlim(at$range + c(-0.5, 0.5) * width)
  if (length(at$groups) == 0L) return(picture)
  bars <- data.frame(y = at$bars, x = vapply(at$groups, function(g) at$rank[g[1L]], 0),
                     xend = vapply(at$groups, function(g) at$rank[g[2L]], 0))
  picture + ggplot2::geom_segment(ggplot2::aes(.data$x, .data$y, xend = .data$xend, yend = .data$y), bars,
                                  linewidth = 1.8)
}

gg_profile <- function(x, n) {
  found <- profile_table(x, n)
  table <- data.frame(at = rep(found$at, length(found$names)), share = as.vector(found$share),
                      method = factor(rep(found$names, each = length(found$at)), found$names))
  gg_canvas(table, ggplot2::aes(.data$at, .data$share, colour = .data$method)) + ggplot2::geom_step() +
    gg_palette("colour") +
    ggplot2::labs(x = if (x$maximize) "share of the best value" else "best value over own", y = "share of data sets",
                  colour = NULL)
}

gg_ranks <- function(x, n) {
  show <- utils::head(colnames(x$ranks), n)
  table <- data.frame(rank = as.vector(x$ranks[, show]), method = factor(rep(show, each = nrow(x$ranks)), rev(show)))
  means <- data.frame(rank = utils::head(x$table$rank, n), method = factor(show, rev(show)))
  gg_canvas(table, ggplot2::aes(.data$rank, .data$method)) +
    ggplot2::geom_boxplot(fill = "#0072B233", colour = "grey40") +
    ggplot2::geom_point(data = means, colour = "#D55E00", shape = 18, size = 3) + ggplot2::labs(y = NULL)
}

gg_families <- function(x) {
  if (is.null(x$families)) abort_input("There are no families: give `family` to compare_methods().", "type")
  table <- x$families
  table$family <- factor(table$family, rev(table$family))
  gg_canvas(table, ggplot2::aes(.data$mean, .data$family)) +
    ggplot2::geom_segment(ggplot2::aes(x = .data$min, xend = .data$max, yend = .data$family), colour = "#0072B2") +
      ggplot2::geom_point() +
    ggplot2::geom_point(ggplot2::aes(x = .data$min), colour = "#D55E00", shape = 18, size = 3) +
      ggplot2::labs(x = "mean rank", y = NULL)
}

gg_pairs <- function(x, n) {
  table <- pair_rows(x, n)
  table$pair <- factor(table$pair, rev(table$pair))
  gg_canvas(table, ggplot2::aes(.data$difference, .data$pair)) +
    ggplot2::geom_vline(xintercept = c(0, if (!is.null(x$rope)) c(-1, 1) * x$rope), linetype = 3) +
      ggplot2::geom_point(colour = "#0072B2") +
    ggplot2::geom_segment(ggplot2::aes(x = .data$conf.low, xend = .data$conf.high, yend = .data$pair),
                          colour = "#0072B2") +
    ggplot2::labs(x = "mean difference", y = NULL)
}
