# Printing and drawing fits with hubs.

ggm_hub_title <- "Gaussian graph with hubs"

#' @export
print.granary_ggm_hub <- function(x, ...) {
  p <- ncol(x$S)
  cli::cat_line(ggm_hub_title, ": ", p, " variables", if (!is.null(x$n)) paste0(", n = ", x$n))
  print_call(x$call)
  if (is_path(x)) {
    table <- data.frame(lambda2 = x$lambda, edges = x$df, hubs = vapply(x$hubs, nrow, 0L), bic = x$bic, gap = x$gap)
    print(format(table, digits = 4L), quote = FALSE)
    cli::cat_line("Solver: ", format_convergence(x$convergence))
    cli::cat_line("Next: ggm_select() chooses a penalty; coef(type = \"parts\") shows the hubs.")
    return(invisible(x))
  }
  part <- hub_parts(x)
  print_hubs(part, x$penalty, x$lambda, x$df)
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  cli::cat_line("Certified within ", format(max(x$gap, 0), digits = 2L), " of the minimum ", format(x$objective, digits = 8L))
  invisible(x)
}

print_hubs <- function(part, penalty, lambda2, edges) {
  cli::cat_line("lambda1 ", format(penalty$lambda1, digits = 4L), ", lambda2 ", format(lambda2, digits = 4L), ", lambda3 ",
                format(penalty$lambda3, digits = 4L), ", q = ", penalty$q, " (", part$regime, ")")
  if (edges == 0) {
    cli::cat_line("The graph is empty: see ggm_bounds(what = \"hub_lambda_max\") for penalties that leave edges")
  } else if (nrow(part$hubs) == 0L) {
    cli::cat_line("No hubs")
  } else {
    cli::cat_line("Nodes with a column in V", if (nrow(part$hubs) > 10L) paste0(" (10 of ", nrow(part$hubs), ")"), ":")
    print(format(utils::head(part$hubs, 10L), digits = 3L), row.names = FALSE)
  }
  cli::cat_line(edges, " edges, ", count_edges(part$Z), " of them with a part in Z",
                if (!is.na(part$bic)) paste0("; BIC ", format(part$bic, digits = 6L)))
}

#' Plot a fit with hubs
#'
#' @param x A fit of [ggm_hub()].
#' @param type As for [plot.granary_ggm()], or `"parts"`: V and Z side by side.
#' @param which Position on a path.
#' @param layout,min_degree Positions of the variables, as for [plot.granary_ggm()]; nodes with fewer edges are not marked as hubs.
#' @param ... Passed on to [plot.granary_ggm()].
#' @return As for [plot.granary_ggm()].
#' @seealso [ggm_hub()], [cov_hub()], [ising_hub()], [ggm_hub_select()], [hub_screen()], [sim_hub()]
#' @export
#' @examples
#' fit <- ggm_hub(scale(mtcars), lambda1 = 0.5, lambda2 = 0.3, lambda3 = 0.5)
#' plot(fit)
#' plot(fit, type = "parts")
#' if (requireNamespace("ggplot2", quietly = TRUE)) ggplot2::autoplot(fit)
plot.granary_ggm_hub <- function(x, type = NULL, which = NULL, min_degree = NULL, ...) {
  part <- hub_parts(x, which, min_degree)
  if (identical(type, "parts")) return(plot_parts(part, precision = TRUE))
  position <- plot.granary_ggm(x, type = type, which = which, ...)
  if (is.matrix(position)) mark_hubs(position, part, colnames(x$S))
  invisible(position)
}

#' @rdname plot.granary_ggm_hub
#' @param object As `x`.
#' @usage \method{autoplot}{granary_ggm_hub}(object, type = NULL, which = NULL, layout = NULL, min_degree = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_ggm_hub <- function(object, type = NULL, which = NULL, layout = NULL, min_degree = NULL, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  part <- hub_parts(object, which, min_degree)
  if (identical(type, "parts")) return(autoplot_parts(part, precision = TRUE))
  type <- plot_type(object, type)
  if (type != "network") return(autoplot.granary_ggm(object, type, which))
  one <- ggm_at(object, path_position(object, which))
  position <- network_layout(one, layout)
  autoplot_network(one, position) + autoplot_hubs(position, part, colnames(object$S))
}

# The hubs as a layer, large and coloured.
autoplot_hubs <- function(position, part, names) {
  at <- match(part$hubs$node, names)
  hubs <- data.frame(x = position[at, 1L], y = position[at, 2L], strength = part$hubs$strength)
  list(
    ggplot2::geom_point(ggplot2::aes(.data$x, .data$y, size = .data$strength), hubs, shape = 21, fill = hub_colour, inherit.aes = FALSE),
    ggplot2::scale_size(range = c(3, 8), name = "hub\nstrength")
  )
}

# A negative entry of a precision matrix is a positive partial correlation.
parts_colours <- function(precision) if (precision) sign_colours[c("positive", "negative")] else sign_colours[c("negative", "positive")]

autoplot_parts <- function(part, precision) {
  ends <- parts_colours(precision)
  names <- colnames(part$V)
  table <- do.call(rbind, lapply(c("V", "Z"), function(name) {
    m <- as.matrix(part[[name]])
    diag(m) <- 0
    data.frame(part = if (name == "V") "V: hubs are columns" else "Z: ordinary edges", row = factor(rep(names, ncol(m)), levels = rev(names)),
               column = factor(rep(names, each = nrow(m)), levels = names), value = as.vector(m))
  }))
  gg_canvas(table, ggplot2::aes(.data$column, .data$row, fill = .data$value)) + ggplot2::geom_tile() + ggplot2::facet_wrap(~part) +
    ggplot2::scale_fill_gradient2(low = ends[[1L]], mid = "white", high = ends[[2L]]) +
    ggplot2::labs(x = NULL, y = NULL, fill = NULL) +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, hjust = 1))
}

hub_colour <- "#f4a582"

# Names of nodes on a circle stand outside it.
circle_side <- function(position) {
  wide <- abs(position[, 1L]) > abs(position[, 2L])
  ifelse(wide, ifelse(position[, 1L] > 0, 4, 2), ifelse(position[, 2L] > 0, 3, 1))
}

mark_hubs <- function(position, part, names, side = 3) {
  if (nrow(part$hubs) == 0L) return(invisible())
  at <- match(part$hubs$node, names)
  size <- 2 + 2 * part$hubs$strength / max(part$hubs$strength)
  graphics::points(position[at, , drop = FALSE], pch = 21, cex = size, bg = hub_colour, col = "grey20")
  halo_text(position[at, , drop = FALSE], part$hubs$node, 0.9, rep_len(side, length(names))[at])
}

plot_parts <- function(part, precision) {
  names <- colnames(part$V)
  room <- if (length(names) <= 40L) min(7, 1 + 0.5 * max(nchar(names))) else 1
  old <- graphics::par(mfrow = c(1, 2), mar = c(room, room, 3, 3.1))
  on.exit(graphics::par(old))
  for (name in c("V", "Z")) {
    m <- as.matrix(part[[name]])
    diag(m) <- 0
    limit <- max(abs(m), 1e-9)
    ends <- parts_colours(precision)
    colours <- grDevices::colorRampPalette(c(ends[[1L]], "white", ends[[2L]]))(101L)
    p <- ncol(m)
    graphics::image(seq_len(p), seq_len(p), t(m)[, p:1L, drop = FALSE], zlim = c(-limit, limit), col = colours, axes = FALSE, xlab = "", ylab = "",
                    main = if (name == "V") "V: hubs are columns" else "Z: ordinary edges")
    graphics::box(col = "grey60")
    if (p <= 40L) {
      graphics::axis(1, seq_len(p), names, las = 2, tick = FALSE, line = -0.7, cex.axis = 0.8)
      graphics::axis(2, seq_len(p), rev(names), las = 2, tick = FALSE, line = -0.7, cex.axis = 0.8)
    }
    if (any(m != 0)) draw_key(c(-limit, limit), colours) else graphics::text((p + 1) / 2, (p + 1) / 2, "all zero", col = "grey40")
  }
  invisible()
}
