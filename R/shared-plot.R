# What all plots share: drawing with the user's wishes, colours, legends.

# Draws with what the caller passed in `...` in place of our defaults of the same name.
draw <- function(fun, ..., user) {
  do.call(fun, utils::modifyList(list(...), user))
}

sign_colours <- c(negative = "#b2182b", positive = "#2166ac")

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
