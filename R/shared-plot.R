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
