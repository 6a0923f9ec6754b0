# Pictures of kriging models: diagnostics by leaving one out, bands along one input, surfaces over two.

# The inputs to draw and the values of the others.
surface_inputs <- function(object, inputs, at) {
  d <- ncol(object$x)
  labels <- colnames(object$x)
  if (is.null(inputs)) inputs <- seq_len(min(2L, d))
  if (is.character(inputs)) {
    if (!all(inputs %in% labels)) abort_input(paste0("`inputs` must be inputs of the fit: ", paste(labels, collapse = ", "), "."), "inputs")
    inputs <- match(inputs, labels)
  }
  if (!is_plain_numeric(inputs) || !length(inputs) %in% 1:2 || !all(inputs %in% seq_len(d)) || anyDuplicated(inputs)) {
    fail_input("inputs", sprintf("one or two inputs, by name or by number from 1 to %d", d), describe(inputs))
  }
  others <- setdiff(seq_len(d), inputs)
  middle <- apply(object$x, 2L, function(column) mean(range(column)))
  if (!is.null(at)) {
    if (length(others) == 0L) abort_input("`at` is not used: there are no other inputs.", "at")
    middle[others] <- check_vector(at, "at", length = length(others))
  }
  list(inputs = as.integer(inputs), middle = middle)
}

# Points, mean and standard error along one input or over two.
surface_values <- function(object, inputs, at, size) {
  chosen <- surface_inputs(object, inputs, at)
  axes <- lapply(chosen$inputs, function(k) seq(min(object$x[, k]), max(object$x[, k]), length.out = size))
  grid <- as.matrix(expand.grid(axes))
  points <- matrix(chosen$middle, nrow(grid), length(chosen$middle), byrow = TRUE, dimnames = list(NULL, colnames(object$x)))
  points[, chosen$inputs] <- grid
  value <- predict_points(object, points)
  list(inputs = chosen$inputs, axes = axes, fit = value$fit, se = value$se.fit)
}

# Of points that are in the columns of the fit already.
predict_points <- function(object, points) {
  object$design <- NULL
  predict(object, points, se = TRUE)
}

draw_loo <- function(object, user) {
  old <- graphics::par(mfrow = c(1L, 3L))
  on.exit(graphics::par(old))
  z <- residuals(object, "standardized")
  draw(graphics::plot, object$loo$mean, object$y, xlab = "leave-one-out mean", ylab = "response", pch = 19, cex = 0.7, main = "Leave one out",
       user = user)
  graphics::abline(0, 1, col = "#2166ac")
  draw(graphics::plot, object$loo$mean, z, xlab = "leave-one-out mean", ylab = "standardised error", pch = 19, cex = 0.7,
       ylim = range(z, -2.5, 2.5), main = "Standardised errors", user = user)
  graphics::abline(h = c(-2, 0, 2), lty = c(2, 1, 2), col = "#2166ac")
  stats::qqnorm(z, pch = 19, cex = 0.7, main = "Normal quantiles", xlab = "theoretical", ylab = "standardised error")
  graphics::abline(0, 1, col = "#2166ac")
}

draw_kriging_surface <- function(object, inputs, at, size, user) {
  value <- surface_values(object, inputs, at, size)
  labels <- colnames(object$x)[value$inputs]
  if (length(value$inputs) == 1L) {
    alone <- ncol(object$x) == 1L
    draw_band(value$axes[[1L]], value$fit, value$se, x = if (alone) object$x[, 1L], y = if (alone) object$y, xlab = labels, ylab = "response",
              user = user)
    return(invisible())
  }
  old <- graphics::par(mfrow = c(1L, 2L), mar = c(4, 4, 2.5, 4))  # room for what the shades mean
  on.exit(graphics::par(old))
  points <- object$x[, value$inputs]
  as_grid <- function(v) matrix(v, size, size)
  draw_surface(value$axes[[1L]], value$axes[[2L]], as_grid(value$fit), points, labels[1L], labels[2L], main = "mean", user = user)
  draw_surface(value$axes[[1L]], value$axes[[2L]], as_grid(value$se), points, labels[1L], labels[2L], main = "standard error", palette = "Reds",
               user = user)
}

#' @rdname granary_kriging
#' @export
plot.granary_kriging <- function(x, type = c("auto", "loo", "surface"), inputs = NULL, at = NULL, size = 60, ...) {
  type <- check_choice(type, c("auto", "loo", "surface"))
  size <- check_count(size, lower = 2, upper = 2000)
  if (type == "auto") type <- if (ncol(x$x) <= 2L || !is.null(inputs)) "surface" else "loo"
  if (type == "loo") draw_loo(x, list(...)) else draw_kriging_surface(x, inputs, at, size, list(...))
  invisible()
}

#' @rdname granary_kriging
#' @usage \method{autoplot}{granary_kriging}(object, type = c("auto", "loo", "surface"), inputs = NULL,
#'   at = NULL, size = 60, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_kriging <- function(object, type = c("auto", "loo", "surface"), inputs = NULL, at = NULL, size = 60,  # nolint: object_name_linter.
                                     ...) {
  check_installed("ggplot2", "for autoplot()")
  type <- check_choice(type, c("auto", "loo", "surface"))
  size <- check_count(size, lower = 2, upper = 2000)
  if (type == "auto") type <- if (ncol(object$x) <= 2L || !is.null(inputs)) "surface" else "loo"
  aes <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))
  if (type == "loo") {
    data <- data.frame(mean = object$loo$mean, response = object$y, low = object$loo$mean - 2 * sqrt(object$loo$variance),
                       high = object$loo$mean + 2 * sqrt(object$loo$variance))
    return(gg_canvas(data, aes(x = "response", y = "mean")) + ggplot2::geom_abline(colour = "#2166ac") +
             ggplot2::geom_pointrange(aes(ymin = "low", ymax = "high"), size = 0.3) + ggplot2::labs(y = "leave-one-out mean, 2 standard errors"))
  }
  value <- surface_values(object, inputs, at, size)
  labels <- colnames(object$x)[value$inputs]
  if (length(value$inputs) == 1L) {
    data <- data.frame(x = value$axes[[1L]], fit = value$fit, low = value$fit - 2 * value$se, high = value$fit + 2 * value$se)
    out <- gg_canvas(data, aes(x = "x", y = "fit")) + ggplot2::geom_ribbon(aes(ymin = "low", ymax = "high"), fill = "#2166ac", alpha = 0.2) +
      ggplot2::geom_line(colour = "#2166ac") + ggplot2::labs(x = labels, y = "response")
    if (ncol(object$x) > 1L) return(out)
    return(out + ggplot2::geom_point(data = data.frame(x = object$x[, 1L], fit = object$y)))
  }
  data <- data.frame(expand.grid(a = value$axes[[1L]], b = value$axes[[2L]]), fit = value$fit)
  gg_canvas(data, aes(x = "a", y = "b")) + ggplot2::geom_raster(aes(fill = "fit")) +
    ggplot2::geom_point(data = data.frame(a = object$x[, value$inputs[1L]], b = object$x[, value$inputs[2L]]), shape = 21, fill = "white") +
    ggplot2::labs(x = labels[1L], y = labels[2L])
}
