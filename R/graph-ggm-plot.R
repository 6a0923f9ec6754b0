#' Plot a Gaussian graph fit
#'
#' Three pictures: the graph, the number of edges along the path, and the partial correlations. [ggm_select()] has a fourth, the criterion.
#'
#' @param x,object A Gaussian graph fit.
#' @param type `"network"`: the graph, edges coloured by the sign of the partial correlation (blue positive, red negative) and drawn wider the
#'   stronger; `"path"`: number of edges along the penalties; `"heatmap"`: the partial correlations.
#'   The default is the path for a path and the network for a single fit.
#' @param which Position on the path.
#' @param labels Whether to write the variables' names; by default when at most 60 are drawn (40 on the heat map).
#' @param isolated Whether to draw variables without edges; by default when there are at most 60 variables.
#' @param layout A two-column matrix of positions, one row per variable; by default a force-directed layout when `igraph` is installed,
#'   else a circle.
#' @param ... For `plot()`, passed on to [graphics::plot()] (to [graphics::image()] for the heat map).
#' @return `plot()` returns the layout (network) or `NULL`, invisibly; `autoplot()` a ggplot.
#' @seealso [ggm_lasso()], [ggm_select()], [ggm_hub()], [ggm_multi()], [ggm_local()], [ggm_nodes()]
#' @export
#' @examples
#' path <- ggm_lasso(scale(mtcars))
#' plot(path)
#' best <- ggm_at(path, 10)
#' plot(best)
#' plot(best, type = "heatmap")
plot.granary_ggm <- function(x, type = NULL, which = NULL, labels = NULL, isolated = NULL, layout = NULL, ...) {
  type <- plot_type(x, type)
  switch(type,
    network = plot_network(ggm_at(x, path_position(x, which)), labels, isolated, layout, ...),
    path = plot_path(x, ...),
    heatmap = plot_heatmap(ggm_at(x, path_position(x, which)), labels, ...)
  )
}

plot_type <- function(x, type) {
  types <- c("network", "path", "heatmap")
  if (is.null(type)) return(if (is_path(x)) "path" else "network")
  type <- check_choice(type, types)
  if (type == "path" && !is_path(x)) {
    abort_input("This fit has a single penalty, so there is no path to plot. Use type = \"network\" or \"heatmap\".", "type")
  }
  type
}

network_layout <- function(fit, layout) {
  p <- ncol(fit$S)
  if (!is.null(layout)) {
    layout <- check_matrix(layout, "layout", min_rows = p, min_cols = 2L)
    if (nrow(layout) != p) abort_input(sprintf("`layout` must have one row per variable (%d), but it has %d.", p, nrow(layout)), "layout")
    return(layout[, 1:2, drop = FALSE])
  }
  if (requireNamespace("igraph", quietly = TRUE) && fit$df > 0) {
    graph <- ggm_igraph(fit)
    return(keep_seed({
      set.seed(1)
      igraph::layout_with_fr(graph, weights = 0.1 + abs(igraph::E(graph)$estimate))
    }))
  }
  angle <- 2 * pi * (seq_len(p) - 1) / p
  cbind(cos(angle), sin(angle))
}

plot_network <- function(fit, labels, isolated, layout, ...) {
  p <- ncol(fit$S)
  isolated <- check_flag(if (is.null(isolated)) p <= 60 else isolated, "isolated")
  position <- network_layout(fit, layout)
  edges <- tidy(fit)
  degree <- ggm_degrees(fit$precision)
  shown <- isolated | degree > 0
  labels <- check_flag(if (is.null(labels)) sum(shown) <= 60 else labels, "labels")
  old <- graphics::par(mar = c(1, 1, 2, 1))
  on.exit(graphics::par(old))
  box <- position[if (any(shown)) shown else rep(TRUE, p), , drop = FALSE]
  draw(graphics::plot, box, type = "n", axes = FALSE, xlab = "", ylab = "", xlim = stretch(box[, 1L]), ylim = stretch(box[, 2L]),
       main = sprintf("%s at lambda = %s", counted(fit$df, "edge", "edges"), format(fit$lambda, digits = 3L)), user = list(...))
  if (nrow(edges) > 0L) {
    edges <- edges[rev(seq_len(nrow(edges))), ]  # the strongest on top
    from <- match(edges$from, colnames(fit$S))
    to <- match(edges$to, colnames(fit$S))
    strength <- abs(edges$estimate) / max(abs(edges$estimate))
    colour <- sign_colours[ifelse(edges$estimate > 0, "positive", "negative")]
    graphics::segments(position[from, 1L], position[from, 2L], position[to, 1L], position[to, 2L], lwd = 0.5 + 4 * strength,
                       col = grDevices::adjustcolor(colour, 0.75))
  }
  size <- if (sum(shown) <= 60) 1.6 else 0.8
  graphics::points(position[shown, , drop = FALSE], pch = 21, cex = size * (1 + degree[shown] / max(1, degree)), bg = "white", col = "grey30")
  if (labels && any(shown)) {
    side <- if (nrow(edges) > 0L) label_side(position, from, to) else rep(3, p)
    halo_text(position[shown, , drop = FALSE], colnames(fit$S)[shown], 0.8, side[shown])
  }
  invisible(position)
}

stretch <- function(x) {
  range <- range(x)
  range + c(-0.08, 0.08) * max(diff(range), 1e-9)
}

plot_path <- function(x, ...) {
  plot_along(x$lambda, x$df, "edges", ...)
}

# Of a selection; with a second penalty one curve for each of its values.
plot_selection <- function(x, ...) {
  table <- x$table
  taus <- sort(unique(table$tau))
  if (length(taus) > 1L && length(taus) < nrow(table)) return(plot_second_penalty(x, taus, ...))
  se <- if (is.null(table$std.error)) 0 else table$std.error
  plot_along(table$lambda, table$estimate, x$measure, se, extra = function() {
    graphics::abline(v = table$lambda[x$selected], lty = 2)
    if (!is.null(x$beta)) graphics::abline(h = x$beta, lty = 3)
  }, ...)
}

# The criterion along the penalties, one curve per second penalty.
plot_second_penalty <- function(x, taus, ...) {
  table <- x$table
  colours <- grDevices::hcl.colors(length(taus), "Viridis")
  digits <- max(nchar(format(pretty(table$estimate))))
  old <- graphics::par(mar = c(4.1, 3.1 + 0.55 * digits, 2.1, 7.1))
  on.exit(graphics::par(old))
  draw(graphics::plot, table$lambda, table$estimate, log = if (all(table$lambda > 0)) "x" else "", type = "n", las = 1, xlab = "lambda", ylab = "",
       user = list(...))
  graphics::title(ylab = x$measure, line = 1.7 + 0.55 * digits)
  for (k in seq_along(taus)) {
    part <- table[table$tau == taus[k], ]
    graphics::lines(part$lambda, part$estimate, type = "b", pch = 19, col = colours[k])
  }
  graphics::points(table$lambda[x$selected], table$estimate[x$selected], cex = 2)
  graphics::legend("topleft", legend = format(taus, digits = 3L), col = colours, pch = 19, title = "tau", bty = "n", inset = c(1.01, 0), xpd = NA)
  invisible()
}

# A curve along the penalties, with standard errors where there are any. The left margin grows with the numbers on the axis, so that its
# label stands clear of them.
plot_along <- function(lambda, value, label, se = 0, extra = NULL, ...) {
  ylim <- range(value - se, value + se, finite = TRUE)
  digits <- max(nchar(format(pretty(ylim))))
  old <- graphics::par(mar = c(4.1, 3.1 + 0.55 * digits, 2.1, 1.1))
  on.exit(graphics::par(old))
  user <- list(...)
  if (!is.null(user$ylab)) label <- user$ylab
  draw(graphics::plot, lambda, value, log = if (all(lambda > 0)) "x" else "", type = "b", pch = 19, col = sign_colours[["positive"]], las = 1,
       xlab = "lambda", ylim = ylim, user = utils::modifyList(user, list(ylab = "")))
  graphics::title(ylab = label, line = 1.7 + 0.55 * digits)
  if (any(se > 0)) graphics::segments(lambda, value - se, lambda, value + se, col = "grey60")
  if (!is.null(extra)) extra()
  invisible()
}

partial_correlations <- function(fit) {
  m <- -stats::cov2cor(as.matrix(fit$precision))
  diag(m) <- NA
  m
}

plot_heatmap <- function(fit, labels, ...) {
  p <- ncol(fit$S)
  labels <- check_flag(if (is.null(labels)) p <= 40 else labels, "labels")
  m <- partial_correlations(fit)
  limit <- max(abs(m), 1e-9, na.rm = TRUE)
  colours <- signed_colours(101L)
  margin <- if (labels) min(8, 1 + 0.55 * max(nchar(colnames(m)))) else 1
  old <- graphics::par(mar = c(margin, margin, 2, 3.1))
  on.exit(graphics::par(old))
  draw(graphics::image, seq_len(p), seq_len(p), m[, p:1L, drop = FALSE], zlim = c(-limit, limit), col = colours, axes = FALSE, xlab = "",
       ylab = "", main = sprintf("partial correlations, |r| up to %.2f", limit), user = list(...))
  graphics::rect(seq_len(p) - 0.5, p:1 - 0.5, seq_len(p) + 0.5, p:1 + 0.5, col = "grey90", border = NA)  # the diagonal
  found <- which(m != 0, arr.ind = TRUE)
  if (labels && p <= 15L && nrow(found) > 0L) {
    colour <- ifelse(abs(m[found]) > 0.6 * limit, "white", "grey20")
    graphics::text(found[, 1L], p + 1L - found[, 2L], sprintf("%.2f", m[found]), cex = 0.7, col = colour)
  }
  graphics::box(col = "grey60")
  draw_key(c(-limit, limit), colours)
  if (labels) {
    graphics::axis(1, seq_len(p), colnames(m), las = 2, tick = FALSE, line = -0.7, cex.axis = 0.8)
    graphics::axis(2, seq_len(p), rev(colnames(m)), las = 2, tick = FALSE, line = -0.7, cex.axis = 0.8)
  }
  invisible()
}

#' @rdname plot.granary_ggm
#' @usage \method{autoplot}{granary_ggm}(object, type = NULL, which = NULL, layout = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_ggm <- function(object, type = NULL, which = NULL, layout = NULL, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  type <- plot_type(object, type)
  switch(type,
    network = autoplot_network(ggm_at(object, path_position(object, which)), layout),
    path = autoplot_line(data.frame(lambda = object$lambda, value = object$df), "edges"),
    heatmap = autoplot_heatmap(ggm_at(object, path_position(object, which)))
  )
}

autoplot_line <- function(table, label) {
  gg_canvas(table, ggplot2::aes(.data$lambda, .data$value)) +
    ggplot2::geom_line(colour = "grey60") + ggplot2::geom_point(colour = sign_colours[["positive"]]) +
    (if (all(table$lambda > 0)) ggplot2::scale_x_log10()) + ggplot2::labs(x = "lambda", y = label)
}

autoplot_network <- function(fit, layout, room = 0.15) {
  position <- network_layout(fit, layout)
  all <- data.frame(x = position[, 1L], y = position[, 2L], name = colnames(fit$S))
  shown <- nrow(all) <= 60L | ggm_degrees(fit$precision) > 0
  nodes <- if (any(shown)) all[shown, ] else all
  edges <- tidy(fit)
  from <- match(edges$from, nodes$name)
  to <- match(edges$to, nodes$name)
  edges <- cbind(edges, x = nodes$x[from], y = nodes$y[from], xend = nodes$x[to], yend = nodes$y[to])
  gg_canvas(nodes, ggplot2::aes(.data$x, .data$y)) +
    ggplot2::geom_segment(
      ggplot2::aes(xend = .data$xend, yend = .data$yend, colour = .data$estimate, linewidth = abs(.data$estimate)), edges
    ) +
    ggplot2::geom_point(shape = 21, fill = "white", size = 3) +
    (if (nrow(nodes) <= 100L) gg_names(nodes$name, cbind(nodes$x, nodes$y), from, to)) +
    ggplot2::scale_colour_gradient2(low = sign_colours[["negative"]], mid = "grey85", high = sign_colours[["positive"]]) +
    ggplot2::scale_linewidth(range = c(0.3, 2), guide = "none") +
    gg_room(room) + ggplot2::coord_cartesian(clip = "off") + ggplot2::theme_void() + ggplot2::labs(colour = "partial\ncorrelation")
}

autoplot_heatmap <- function(fit) {
  m <- partial_correlations(fit)
  names <- colnames(m)
  table <- data.frame(
    row = factor(rep(names, ncol(m)), levels = rev(names)), column = factor(rep(names, each = nrow(m)), levels = names), value = as.vector(m)
  )
  gg_canvas(table, ggplot2::aes(.data$column, .data$row, fill = .data$value)) + ggplot2::geom_tile() +
    ggplot2::scale_fill_gradient2(low = sign_colours[["negative"]], mid = "white", high = sign_colours[["positive"]], na.value = "grey95") +
    ggplot2::labs(x = NULL, y = NULL, fill = "partial\ncorrelation") +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, hjust = 1))
}

ggm_igraph <- function(fit, which = NULL) {
  check_ggm(fit)
  check_installed("igraph", "as.igraph()")
  edges <- tidy(fit, which = which)
  several <- inherits(fit, "granary_ggm_multi")
  igraph::graph_from_data_frame(edges[c("from", "to", "estimate", "precision", if (several) "task")], directed = FALSE,
                                vertices = data.frame(name = colnames(if (several) fit$S[[1L]] else fit$S)))
}

#' @exportS3Method igraph::as.igraph
as.igraph.granary_ggm <- function(x, ...) ggm_igraph(x, ...)  # nolint: object_name_linter.

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.granary_ggm <- function(x, ...) tidygraph::as_tbl_graph(ggm_igraph(x, ...))  # nolint: object_name_linter.

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.granary_graph <- function(x, ...) tidygraph::as_tbl_graph(graph_igraph(x))  # nolint: object_name_linter.
