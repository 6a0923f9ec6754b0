# ggplot2 versions of the pictures of graphs' relatives.

#' @rdname bn_classifier
#' @usage \method{autoplot}{granary_bn_classifier}(object, n = 15, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_bn_classifier <- function(object, n = 15, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  gg_signed_bars(rev(summary(object, n = n)$largest), "weight (log-odds)", paste("For", object$levels[2L]))
}

#' @rdname fused_signal
#' @usage \method{autoplot}{granary_fused_signal}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_fused_signal <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  if (!is.matrix(object$fitted) || min(dim(object$fitted)) < 2L) {
    return(gg_signal(object$y, object$fitted, if (object$penalty == "l1") "step" else "line"))
  }
  gg_matrix(object$fitted, "fitted")
}

#' @rdname ggm_windows
#' @usage \method{autoplot}{granary_ggm_windows}(object, metric = "frobenius", ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_ggm_windows <- function(object, metric = "frobenius", ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  d <- window_distances(object, metric)
  cells <- data.frame(a = as.vector(row(d)), b = as.vector(col(d)), distance = as.vector(d))
  gg_canvas(cells, ggplot2::aes(x = .data$a, y = .data$b, fill = .data$distance)) + ggplot2::geom_raster() +
    ggplot2::coord_equal() +
    ggplot2::scale_fill_gradientn(colours = grDevices::hcl.colors(64L, "YlOrRd", rev = TRUE)) +
    ggplot2::labs(x = "window", y = "window", fill = paste("distance:", metric))
}

#' @rdname ida
#' @usage \method{autoplot}{granary_ida}(object, n = 20, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_ida <- function(object, n = 20, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  effects <- object$effects[, rev(utils::head(order(-object$minimum), check_count(n))), drop = FALSE]
  if (ncol(effects) == 0L) abort_input("There are no effects to draw.", "object")
  names <- factor(rep(colnames(effects), each = nrow(effects)), colnames(effects))
  table <- data.frame(effect = as.vector(effects), variable = names)
  table$sign <- ifelse(table$effect >= 0, "positive", "negative")
  gg_canvas(table, ggplot2::aes(x = .data$effect, y = .data$variable)) +
    ggplot2::geom_vline(xintercept = 0, colour = "grey70") +
    ggplot2::geom_line(ggplot2::aes(group = .data$variable), colour = "grey60") +
      ggplot2::geom_point(ggplot2::aes(colour = .data$sign)) +
    ggplot2::scale_colour_manual(values = sign_colours, guide = "none") +
    ggplot2::labs(x = "effect of one unit more", y = NULL, title = paste("Possible effects of", object$x))
}

#' @rdname sbn_fit
#' @usage \method{autoplot}{granary_sbn}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_sbn <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  nets <- if (is.null(object$networks)) list(weights = object) else object$networks
  cells <- do.call(rbind, lapply(seq_along(nets), function(k) {
    w <- nets[[k]]$weights
    data.frame(to = factor(rownames(w)[row(w)], rev(object$variables)),
               from = factor(colnames(w)[col(w)], object$variables), weight = as.vector(w), network = names(nets)[k])
  }))
  picture <- gg_canvas(cells, ggplot2::aes(x = .data$from, y = .data$to, fill = .data$weight)) +
    ggplot2::geom_raster() +
    gg_signed_fill(cells$weight) + ggplot2::labs(x = "from", y = "to") +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, hjust = 1))
  if (length(nets) > 1L) picture + ggplot2::facet_wrap(~network) else picture
}

#' @rdname ising_path
#' @usage \method{autoplot}{granary_ising_path}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_ising_path <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  table <- data.frame(place = penalty_place(object$lambda), edges = object$df)[object$lambda > 0, ]
  gg_canvas(table, ggplot2::aes(x = .data$place, y = .data$edges)) + ggplot2::geom_line() + ggplot2::geom_point() +
    gg_penalties(table$place) + ggplot2::labs(x = "lambda", y = "edges")
}

#' @exportS3Method ggplot2::autoplot
autoplot.granary_dag_ranking <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  table <- data.frame(rank = object$rank, score = object$score)
  gg_canvas(table, ggplot2::aes(x = .data$rank, y = .data$score)) +
    ggplot2::geom_hline(yintercept = table$score[1L], linetype = 3) +
    ggplot2::geom_point(colour = sign_colours[["positive"]]) +
      ggplot2::labs(x = "rank", y = "score (smaller is better)")
}

#' @exportS3Method ggplot2::autoplot
autoplot.granary_ggm_difference <- function(object, layout = NULL, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  network <- difference_network(object)
  autoplot_network(network$graph, layout) + ggplot2::labs(title = network$title, colour = "difference")
}

#' @exportS3Method ggplot2::autoplot
autoplot.granary_ggm_score <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  table <- data.frame(fpr = object$fpr, tpr = object$tpr)
  line <- rbind(data.frame(fpr = 0, tpr = 0), table[order(table$fpr, table$tpr), ], data.frame(fpr = 1, tpr = 1))
  gg_canvas(table, ggplot2::aes(x = .data$fpr, y = .data$tpr)) + ggplot2::geom_abline(linetype = 3, colour = "grey70") +
    ggplot2::geom_path(data = line, colour = "grey60") + ggplot2::geom_point(colour = sign_colours[["positive"]]) +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = c(0, 1)) +
      ggplot2::labs(x = "false positive rate", y = "true positive rate")
}

#' @exportS3Method ggplot2::autoplot
autoplot.granary_neighbors <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  at <- neighbor_positions(object)
  points <- data.frame(x = at[, 1L], y = at[, 2L])
  lines <- cbind(points[object$edges[, 1L], ], stats::setNames(points[object$edges[, 2L], ], c("xend", "yend")))
  gg_canvas(points, ggplot2::aes(x = .data$x, y = .data$y)) +
    ggplot2::geom_segment(ggplot2::aes(xend = .data$xend, yend = .data$yend), lines, linetype = 2, colour = "grey50") +
    ggplot2::geom_point(shape = 21, fill = "white") + ggplot2::coord_equal() + ggplot2::theme_void() +
      ggplot2::labs(title = object$type)
}

#' @rdname cg_tree
#' @usage \method{autoplot}{granary_cg_tree}(object, ...)
#' @exportS3Method ggplot2::autoplot
# nolint: object_name_linter.
autoplot.granary_cg_tree <- function(object, ...) autoplot.granary_graph(cg_tree_graph(object), ...)

#' @rdname cg_marginal
#' @usage \method{autoplot}{granary_cg_marginal}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_cg_marginal <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  if (object$kind == "table") return(gg_table(object))
  if (is.matrix(object$means)) {
    outline <- as.data.frame(ellipse_points(object))
    names <- names(outline)
    outline <- stats::setNames(cbind(outline, rep(seq_along(object$weights),
                                                  each = nrow(outline) / length(object$weights))), c("x", "y", "part"))
    outline$weight <- object$weights[outline$part]
    return(gg_canvas(outline[!is.na(outline$x), ], ggplot2::aes(x = .data$x, y = .data$y, group = .data$part,
                                                                linewidth = .data$weight)) +
           ggplot2::geom_path(colour = sign_colours[["positive"]]) +
           ggplot2::scale_linewidth(range = c(0.3, 1.5), limits = c(0, 1)) +
           ggplot2::labs(x = names[1L], y = names[2L]))
  }
  curve <- cg_density(object)
  picture <- gg_canvas(data.frame(x = curve$at, y = curve$height), ggplot2::aes(x = .data$x, y = .data$y)) +
    ggplot2::geom_line(na.rm = TRUE) +
    ggplot2::labs(x = object$nodes, y = "density")
  if (!any(curve$point)) return(picture)
  picture + ggplot2::geom_vline(xintercept = object$means[curve$point], linetype = 2,
                                linewidth = 0.3 + object$weights[curve$point])
}

# The probabilities of the states of one node, or of several: bars side by side for the first, a panel for each state of
# the third on.
gg_table <- function(marginal) {
  cells <- as.data.frame(as.table(marginal$probabilities), responseName = "probability", stringsAsFactors = TRUE)
  nodes <- marginal$nodes
  names(cells)[seq_along(nodes)] <- paste0("node", seq_along(nodes))
  if (length(nodes) == 1L) {
    return(gg_canvas(cells, ggplot2::aes(x = .data$node1, y = .data$probability)) + ggplot2::geom_col() +
           ggplot2::ylim(0, 1) + ggplot2::labs(x = nodes, y = "probability"))
  }
  picture <- gg_canvas(cells, ggplot2::aes(x = .data$node2, y = .data$probability, fill = .data$node1)) +
    ggplot2::geom_col(position = "dodge") +
    gg_palette("fill") + ggplot2::labs(x = nodes[2L], y = "probability", fill = nodes[1L])
  if (length(nodes) == 2L) return(picture)
  cells$panel <- do.call(paste, c(Map(paste, nodes[-(1:2)], cells[paste0("node", seq_along(nodes)[-(1:2)])],
                                      MoreArgs = list(sep = " = ")), sep = ", "))
  picture$data <- cells
  picture + ggplot2::facet_wrap(~panel)
}

#' @rdname cg_marginal
#' @usage \method{autoplot}{granary_cg_marginals}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_cg_marginals <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  one <- function(marginal) {
    node <- marginal$nodes
    if (marginal$kind == "table") {
      p <- as.vector(marginal$probabilities)
      states <- names(marginal$probabilities) %||% dimnames(marginal$probabilities)[[1L]]
      return(data.frame(node = node, x = seq_along(p), y = p, state = states, line = FALSE))
    }
    curve <- cg_density(marginal)
    data.frame(node = node, x = curve$at, y = curve$height, state = "", line = TRUE)
  }
  shown <- utils::head(unclass(object), 16L)
  table <- do.call(rbind, lapply(shown, one))
  table$node <- factor(table$node, unique(table$node))
  bars <- table[!table$line, ]
  gg_canvas(table, ggplot2::aes(x = .data$x, y = .data$y)) +
    ggplot2::geom_col(data = bars, fill = "grey60", width = 0.8) +
    ggplot2::geom_text(ggplot2::aes(label = .data$state, y = 0), bars, vjust = 1.2, size = 3) +
    ggplot2::geom_line(data = table[table$line, ], na.rm = TRUE) + ggplot2::facet_wrap(~node, scales = "free") +
    ggplot2::scale_x_continuous(expand = ggplot2::expansion(mult = 0.1)) +
      ggplot2::labs(x = NULL, y = "probability or density")
}
