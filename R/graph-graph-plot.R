#' Draw a graph with its marks
#'
#' Arrows are drawn as filled heads, circles as open circles and tails as plain line ends.
#'
#' @param x,object A graph.
#' @param layout A two-column matrix of positions, one row per node. By default in layers for DAGs of up to 100 nodes and force-directed
#'   otherwise,
#'   where `igraph` is installed; else a circle.
#' @param labels Whether to write the names; by default with at most 100 nodes.
#' @param isolated Whether to draw nodes without edges; by default with at most 60 nodes.
#' @param col Colour of the edges: one, or one per kind, named `"-->"`, `"---"`, `"<->"`, `"o->"`, `"o-o"`, `"--o"`.
#' @param ... For `plot()`, passed on to [graphics::plot()].
#' @return `plot()` the layout, invisibly; `autoplot()` a ggplot.
#' @seealso [as_graph()], [graph_convert()], [pc()], [ggm_lasso()]
#' @export
#' @examples
#' plot(as_graph("a -> b <- c; c <-> d; d o-> e; e o-o f; a -- f"))
plot.granary_graph <- function(x, layout = NULL, labels = NULL, isolated = NULL, col = NULL, ...) {
  p <- length(x$nodes)
  labels <- check_flag(if (is.null(labels)) p <= 100 else labels, "labels")
  isolated <- check_flag(if (is.null(isolated)) p <= 60 else isolated, "isolated")
  colours <- edge_colours(x, col)
  shown <- isolated | seq_len(p) %in% x$edges[, 1:2]
  draw_graph(x, graph_layout(x, layout), sprintf("%s: %s", graph_titles[[x$type]], counted(nrow(x$edges), "edge", "edges")), colours, labels, shown, list(...))
}

# Lines with their marks, then the nodes: circles, or squares where `square`. `fill` and `border` are colours, one or one per node.
draw_graph <- function(graph, position, main, colours, labels, shown, user, square = FALSE, fill = "white", border = "grey30") {
  p <- length(graph$nodes)
  old <- graphics::par(mar = c(1, 1, 2, 1))
  on.exit(graphics::par(old))
  box <- position[if (any(shown)) shown else rep(TRUE, p), , drop = FALSE]
  if (nrow(box) == 0L) box <- cbind(0, 0)
  draw(graphics::plot, box, type = "n", axes = FALSE, xlab = "", ylab = "", asp = 1, xlim = stretch(box[, 1L]), ylim = stretch(box[, 2L]),
       main = main,
       user = user)
  usr <- graphics::par("usr")
  size <- min(usr[2L] - usr[1L], usr[4L] - usr[3L]) * (if (p <= 30) 0.022 else if (p <= 100) 0.013 else 0.006)
  lines <- edge_lines(graph, position, if (any(square)) 1.2 * size else size)
  if (!is.null(lines)) {
    graphics::segments(lines$x0, lines$y0, lines$x1, lines$y1, col = colours, lwd = if (p <= 100) 1.5 else 0.7)
    draw_marks(lines$x0, lines$y0, -lines$ux, -lines$uy, graph$edges[, 3L], size, colours)
    draw_marks(lines$x1, lines$y1, lines$ux, lines$uy, graph$edges[, 4L], size, colours)
  }
  square <- rep_len(square, p)
  fill <- rep_len(fill, p)
  border <- rep_len(border, p)
  symbols <- function(at, ...) {
    if (any(at)) graphics::symbols(position[at, 1L], position[at, 2L], ..., inches = FALSE, add = TRUE, bg = fill[at], fg = border[at])
  }
  symbols(shown & square, squares = rep(1.8 * size, sum(shown & square)))
  symbols(shown & !square, circles = rep(size, sum(shown & !square)))
  if (labels && any(shown)) {
    side <- label_side(position, graph$edges[, 1L], graph$edges[, 2L])
    halo_text(position[shown, , drop = FALSE], graph$nodes[shown], 0.8, side[shown], size)
  }
  invisible(position)
}

kind_colours <- c("-->" = "#2166ac", "---" = "grey45", "<->" = "#b2182b", "o->" = "#5e3c99", "o-o" = "grey45", "--o" = "#e08214", "o--" = "#e08214")

edge_colours <- function(graph, col) {
  kinds <- edge_table(graph)$edge
  if (is.null(col)) return(unname(kind_colours[kinds]))
  if (!is.character(col) || is.object(col) || anyNA(col) || (length(col) != 1L && is.null(names(col)))) {
    fail_input("col", "one colour, or colours named by the kind of edge (or NULL)", describe(col))
  }
  valid <- tryCatch({ grDevices::col2rgb(col); TRUE }, error = function(e) FALSE)
  if (!valid) abort_input(sprintf("`col` must hold names or codes of colours, but it has \"%s\".", col[1L]), "col")
  if (length(col) == 1L && is.null(names(col))) return(rep(col, length(kinds)))
  chosen <- kind_colours
  chosen[names(col)] <- col
  unname(chosen[kinds])
}

graph_layout <- function(graph, layout) {
  p <- length(graph$nodes)
  if (!is.null(layout)) {
    layout <- check_matrix(layout, "layout", min_rows = p, min_cols = 2L)
    if (nrow(layout) != p) abort_input(sprintf("`layout` must have one row per node (%d), but it has %d.", p, nrow(layout)), "layout")
    return(unname(layout[, 1:2, drop = FALSE]))
  }
  if (requireNamespace("igraph", quietly = TRUE) && nrow(graph$edges) > 0L) {
    return(keep_seed({
      set.seed(1)
      g <- igraph::make_empty_graph(p, directed = graph$type == "dag")
      ends <- graph$edges[, 1:2, drop = FALSE]
      if (graph$type == "dag") {
        back <- graph$edges[, 4L] == 1L
        ends[back, ] <- ends[back, 2:1]
      }
      g <- igraph::add_edges(g, as.vector(t(ends)))
      place <- if (graph$type == "dag" && p <= 100L) igraph::layout_with_sugiyama(g)$layout[seq_len(p), , drop = FALSE] else igraph::layout_with_fr(g)
      range <- apply(place, 2L, function(v) diff(range(v)))
      sweep(place, 2L, ifelse(range > 0, range, 1), "/")
    }))
  }
  angle <- 2 * pi * (seq_len(p) - 1) / max(p, 1)
  cbind(cos(angle), sin(angle))
}

# Ends of the lines between the borders of the nodes, and unit vectors along them.
edge_lines <- function(graph, position, size) {
  if (nrow(graph$edges) == 0L) return(NULL)
  from <- position[graph$edges[, 1L], , drop = FALSE]
  to <- position[graph$edges[, 2L], , drop = FALSE]
  length <- pmax(sqrt(rowSums((to - from)^2)), 1e-12)
  u <- (to - from) / length
  gap <- pmin(size, length / 4)
  list(x0 = from[, 1L] + gap * u[, 1L], y0 = from[, 2L] + gap * u[, 2L], x1 = to[, 1L] - gap * u[, 1L], y1 = to[, 2L] - gap * u[, 2L],
       ux = u[, 1L], uy = u[, 2L])
}

# Marks at the points (x, y), pointing along (ux, uy).
draw_marks <- function(x, y, ux, uy, mark, size, colours) {
  head <- 1.1 * size
  for (k in which(mark == 2L)) {
    base <- c(x[k] - head * ux[k], y[k] - head * uy[k])
    side <- 0.5 * head * c(-uy[k], ux[k])
    graphics::polygon(c(x[k], base[1L] + side[1L], base[1L] - side[1L]), c(y[k], base[2L] + side[2L], base[2L] - side[2L]), col = colours[k],
                      border = colours[k])
  }
  open <- which(mark == 3L)
  if (length(open) > 0L) {
    radius <- 0.35 * head
    graphics::symbols(x[open] - radius * ux[open], y[open] - radius * uy[open], circles = rep(radius, length(open)), inches = FALSE, add = TRUE,
                      bg = "white", fg = colours[open])
  }
}

#' @rdname plot.granary_graph
#' @usage \method{autoplot}{granary_graph}(object, layout = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_graph <- function(object, layout = NULL, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  position <- graph_layout(object, layout)
  autoplot_edges(object, position) + ggplot2::geom_point(shape = 21, fill = "white", size = 3) +
    autoplot_names(object$nodes, position, object$edges[, 1L], object$edges[, 2L])
}

# The edges with their marks, ready for nodes to be laid upon them.
autoplot_edges <- function(graph, position) {
  nodes <- data.frame(x = position[, 1L], y = position[, 2L])
  size <- 0.025 * max(apply(position, 2L, function(v) diff(range(v))), 1e-9)
  picture <- gg_canvas(nodes, ggplot2::aes(.data$x, .data$y))
  lines <- edge_lines(graph, position, size)
  if (is.null(lines)) return(picture)
  edges <- data.frame(lines, kind = edge_table(graph)$edge)
  heads <- mark_polygons(lines, graph$edges, edges$kind, size)
  picture <- picture + ggplot2::geom_segment(ggplot2::aes(.data$x0, .data$y0, xend = .data$x1, yend = .data$y1, colour = .data$kind), edges) +
    ggplot2::scale_colour_manual(values = kind_colours, name = NULL, aesthetics = c("colour", "fill"),
                                 guide = if (length(unique(edges$kind)) > 1L) "legend" else "none")
  if (!is.null(heads$arrow)) {
    picture <- picture + ggplot2::geom_polygon(ggplot2::aes(.data$x, .data$y, group = .data$group, fill = .data$kind), heads$arrow,
                                               show.legend = FALSE)
  }
  if (is.null(heads$circle)) return(picture)
  picture + ggplot2::geom_point(ggplot2::aes(.data$x, .data$y, colour = .data$kind), heads$circle, shape = 21, fill = "white")
}

autoplot_names <- function(names, position, from = integer(), to = integer()) {
  c(gg_names(names, position, from, to), gg_room(max(0.15, 0.015 * nchar(names))), list(ggplot2::coord_equal(clip = "off"), ggplot2::theme_void()))
}

mark_polygons <- function(lines, edges, kind, size) {
  x <- c(lines$x0, lines$x1)
  y <- c(lines$y0, lines$y1)
  ux <- c(-lines$ux, lines$ux)
  uy <- c(-lines$uy, lines$uy)
  mark <- c(edges[, 3L], edges[, 4L])
  kind <- c(kind, kind)
  arrow <- which(mark == 2L)
  circle <- which(mark == 3L)
  base <- function(k, side) cbind(x[k] - size * ux[k] - side * 0.5 * size * uy[k], y[k] - size * uy[k] + side * 0.5 * size * ux[k])
  list(
    arrow = if (length(arrow) > 0L) {
      corners <- rbind(cbind(x[arrow], y[arrow]), base(arrow, 1), base(arrow, -1))
      data.frame(x = corners[, 1L], y = corners[, 2L], group = rep(arrow, 3L), kind = rep(kind[arrow], 3L))
    },
    circle = if (length(circle) > 0L) data.frame(x = x[circle] - 0.4 * size * ux[circle], y = y[circle] - 0.4 * size * uy[circle],
                                                 kind = kind[circle])
  )
}

graph_igraph <- function(graph) {
  graph <- check_graph(graph)
  check_installed("igraph", "as.igraph()")
  igraph::graph_from_data_frame(edge_table(graph)[c("from", "to", "edge")], directed = graph$type != "undirected",
                                vertices = data.frame(name = graph$nodes))
}

#' @exportS3Method igraph::as.igraph
as.igraph.granary_graph <- function(x, ...) graph_igraph(x)  # nolint: object_name_linter.
