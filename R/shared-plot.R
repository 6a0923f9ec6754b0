# What all plots share: drawing with the user's wishes, colours, legends.

# Draws with what the caller passed in `...` in place of our defaults of the same name.
draw <- function(fun, ..., user) {
  do.call(fun, utils::modifyList(list(...), user))
}

sign_colours <- c(negative = "#b2182b", positive = "#2166ac")
signed_colours <- function(n) grDevices::colorRampPalette(c(sign_colours[["negative"]], "white", sign_colours[["positive"]]))(n)

# Where every autoplot() begins: one theme for all.
gg_canvas <- function(...) ggplot2::ggplot(...) + ggplot2::theme_minimal()

# The colours of classes and paths, the same as those of plot().
gg_palette <- function(aesthetics = c("colour", "fill"), ...) {
  ggplot2::discrete_scale(aesthetics, "granary", function(n) grDevices::hcl.colors(n, "Dark 3"), ...)
}

# Penalties on a logarithmic axis from large to small, as in plot(). The limits of a transformed scale cannot be turned round, so the places are:
# x = penalty_place(lambda), labelled with what they stand for; `room` is left at the end, as a share.
penalty_place <- function(lambda) -log10(lambda)
gg_penalties <- function(place, room = 0) {
  ggplot2::scale_x_continuous(limits = c(min(place), max(place) + room * diff(range(place))), labels = function(v) format(signif(10^-v, 3L), trim = TRUE, drop0trailing = TRUE))
}

# The side of each node on which its name is clear of its lines, as text() counts them: above where that will do, else below, right or left.
label_side <- function(position, from, to) {
  sides <- rbind(c(0, 1), c(0, -1), c(1, 0), c(-1, 0))
  delta <- position[c(to, from), , drop = FALSE] - position[c(from, to), , drop = FALSE]
  delta <- delta / pmax(sqrt(rowSums(delta^2)), 1e-12)
  node <- factor(c(from, to), levels = seq_len(nrow(position)))
  nearest <- apply(sides, 1L, function(side) {
    worst <- tapply(delta[, 1L] * side[1L] + delta[, 2L] * side[2L], node, max)
    ifelse(is.na(worst), -1, worst)  # the cosine of the angle to the line that comes closest
  })
  nearest <- matrix(nearest, ncol = 4L)
  clear <- nearest[, 1L] < 0.7
  c(3, 1, 4, 2)[ifelse(clear, 1L, max.col(-nearest, ties.method = "first"))]
}

# Labels beside the points, on a white outline so that the edges below do not cross the letters.
# `side` is that of text(), one per label; `radius` that of the nodes.
halo_text <- function(position, labels, size, side = 3, radius = 0) {
  out_x <- radius * c(0, -1, 0, 1)[side]
  out_y <- radius * c(-1, 0, 1, 0)[side]
  write <- function(dx, dy, col) {
    graphics::text(position[, 1L] + out_x + dx, position[, 2L] + out_y + dy, labels, pos = side, offset = if (radius > 0) 0.3 else 0.7, cex = size,
                   col = col, xpd = NA)
  }
  width <- 0.09 * c(graphics::strwidth("m", cex = size), graphics::strheight("m", cex = size))
  for (angle in 2 * pi * (1:12) / 12) write(width[1L] * cos(angle), 2 * width[2L] * sin(angle), "white")
  write(0, 0, "black")
}

# The same for autoplot(): names of nodes with an outline, clear of the lines `from`, `to`; `away` from large nodes.
gg_names <- function(names, position, from = integer(), to = integer(), size = 3, away = 0) {
  side <- label_side(position, from, to)
  extent <- max(apply(position, 2L, function(v) diff(range(v))), 1e-9)
  nodes <- data.frame(x = position[, 1L], y = position[, 2L], name = names, h = c(0.5, 1.3 + away / 4, 0.5, -0.3 - away / 4)[side],
                      v = c(1.9 + away, 0.5, -0.9 - away, 0.5)[side])
  angle <- 2 * pi * (1:8) / 8
  halo <- nodes[rep(seq_len(nrow(nodes)), each = 8L), ]
  halo$x <- halo$x + 0.004 * extent * cos(angle)
  halo$y <- halo$y + 0.004 * extent * sin(angle)
  write <- function(data, colour) {
    ggplot2::geom_text(ggplot2::aes(.data$x, .data$y, label = .data$name, hjust = .data$h, vjust = .data$v), data, size = size, colour = colour)
  }
  list(write(halo, "white"), write(nodes, "black"))
}

# Room for names at the border of a drawing.
gg_room <- function(wide = 0.15) {
  list(ggplot2::scale_x_continuous(expand = ggplot2::expansion(mult = wide)), ggplot2::scale_y_continuous(expand = ggplot2::expansion(mult = 0.12)))
}

# Heights for labels at the ends of lines, moved apart where they would lie on each other: at least `gap` of the range between neighbours.
spread_labels <- function(at, range, gap = 0.035) {
  least <- gap * diff(range)
  order <- order(at)
  placed <- at[order]
  for (round in 1:50) {
    close <- which(diff(placed) < least * (1 - 1e-6))
    if (length(close) == 0L) break
    for (k in close) {
      missing <- (least - (placed[k + 1L] - placed[k])) / 2
      if (missing <= 0) next
      placed[k] <- placed[k] - missing
      placed[k + 1L] <- placed[k + 1L] + missing
    }
  }
  at[order] <- placed
  at
}

# Bars to both sides of zero, the last on top, by name; blue is positive.
gg_signed_bars <- function(values, label, title) {
  table <- data.frame(name = factor(names(values), names(values)), value = as.vector(values))
  table$sign <- ifelse(table$value > 0, "positive", "negative")
  gg_canvas(table, ggplot2::aes(x = .data$value, y = .data$name, fill = .data$sign)) + ggplot2::geom_col() +
    ggplot2::scale_fill_manual(values = sign_colours, guide = "none") + ggplot2::labs(x = label, y = NULL, title = title)
}

# White at zero, blue positive, red negative, as far as the largest value.
gg_signed_fill <- function(values) {
  top <- max(abs(values[is.finite(values)]), 1e-12)
  ggplot2::scale_fill_gradient2(low = sign_colours[["negative"]], mid = "white", high = sign_colours[["positive"]], limits = c(-top, top))
}

# A matrix as it is printed, its first row on top.
gg_matrix <- function(m, label) {
  cells <- data.frame(row = as.vector(row(m)), column = as.vector(col(m)), value = as.vector(m))
  picture <- gg_canvas(cells, ggplot2::aes(x = .data$column, y = .data$row, fill = .data$value)) + ggplot2::geom_raster() +
    gg_signed_fill(cells$value) + ggplot2::labs(x = NULL, y = NULL, fill = label)
  few <- !is.null(colnames(m)) && !is.null(rownames(m)) && max(dim(m)) <= 40L
  if (!few) return(picture + ggplot2::scale_y_reverse() + ggplot2::coord_equal())
  picture + ggplot2::scale_y_reverse(breaks = seq_len(nrow(m)), labels = rownames(m)) + ggplot2::coord_equal() +
    ggplot2::scale_x_continuous(breaks = seq_len(ncol(m)), labels = colnames(m)) +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5))
}

# Data as points, the estimate as a line or as steps.
gg_signal <- function(y, estimate, shape) {
  table <- data.frame(position = seq_along(y), y = as.vector(y), estimate = as.vector(estimate))
  line <- if (shape == "step") ggplot2::geom_step else ggplot2::geom_line
  gg_canvas(table, ggplot2::aes(x = .data$position)) + ggplot2::geom_point(ggplot2::aes(y = .data$y), colour = "grey60", size = 0.9) +
    line(ggplot2::aes(y = .data$estimate), colour = sign_colours[["positive"]]) + ggplot2::labs(x = "position", y = "value")
}
