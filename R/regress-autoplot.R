# ggplot2 versions of the pictures of regressions.

#' @rdname aso
#' @usage \method{autoplot}{granary_aso}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_aso <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  d <- if (is.list(object$d)) object$d else list(object$d)
  if (sum(lengths(d)) == 0L) {
    abort_input("There are no singular values to draw: this fit took its structure from another.", "object")
  }
  group <- rep(if (is.null(names(d))) seq_along(d) else names(d), lengths(d))
  table <- data.frame(component = unlist(lapply(lengths(d), seq_len)), value = unlist(d, use.names = FALSE),
                      group = factor(group))
  kept <- data.frame(at = unlist(object$h) + 0.5)
  picture <- gg_canvas(table, ggplot2::aes(x = .data$component, y = .data$value, colour = .data$group)) +
    ggplot2::geom_line() +
    ggplot2::geom_point() + ggplot2::geom_vline(ggplot2::aes(xintercept = .data$at),
                                                kept[kept$at > 0.5, , drop = FALSE], linetype = "dotted") +
    ggplot2::labs(x = "component", y = "singular value of U", colour = NULL) + gg_palette("colour")
  if (length(d) == 1L) picture + ggplot2::guides(colour = "none") else picture
}

#' @rdname aso_baseline
#' @usage \method{autoplot}{granary_co_training}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_co_training <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  gg_canvas(object$rounds, ggplot2::aes(x = .data$round, y = .data$labelled)) + ggplot2::geom_line() +
    ggplot2::geom_point() +
    ggplot2::labs(x = "round", y = "labelled rows")
}

#' @rdname decorrelate
#' @usage \method{autoplot}{granary_decorrelate}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_decorrelate <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  table <- object$table[order(object$table$variance), ]
  table$at <- seq_len(nrow(table))
  gg_canvas(table, ggplot2::aes(x = .data$at, y = .data$variance)) + ggplot2::geom_point() +
    ggplot2::geom_step(ggplot2::aes(y = .data$floor), linetype = "dotted") +
    ggplot2::labs(x = "columns, in order", y = "variance factor m'Sm", caption = "dotted: the least there can be")
}

#' @rdname gen_lasso_image
#' @usage \method{autoplot}{granary_gen_lasso_image}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_gen_lasso_image <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  if (!is.matrix(object$image) || min(dim(object$image)) < 2L) return(gg_signal(object$observed, object$image, "step"))
  cells <- function(m, what) {
    data.frame(row = as.vector(row(m)), column = as.vector(col(m)), value = as.vector(m), what = what)
  }
  both <- rbind(cells(object$observed, "observed"), cells(object$image, "estimate"))
  both$what <- factor(both$what, c("observed", "estimate"))
  gg_canvas(both, ggplot2::aes(x = .data$column, y = .data$row, fill = .data$value)) + ggplot2::geom_raster() +
    ggplot2::facet_wrap(~what) + ggplot2::scale_y_reverse() + ggplot2::coord_equal() +
    ggplot2::scale_fill_gradient(low = "black", high = "white") + ggplot2::labs(x = NULL, y = NULL, fill = NULL)
}

#' @rdname q_alpha
#' @usage \method{autoplot}{granary_q_alpha}(object, n = 100, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_q_alpha <- function(object, n = 100, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  sorted <- sort(object$weights, decreasing = TRUE)
  chosen <- length(suggested_features(object))
  shown <- sorted[seq_len(min(max(check_count(n), chosen + 1L), length(sorted)))]
  table <- data.frame(rank = seq_along(shown), weight = as.vector(shown),
                      part = ifelse(seq_along(shown) <= chosen, "suggested", "others"))
  gg_canvas(table, ggplot2::aes(x = .data$rank, y = .data$weight, colour = .data$part)) +
    ggplot2::geom_segment(ggplot2::aes(xend = .data$rank, yend = 0)) +
    ggplot2::scale_colour_manual(values = c(suggested = "#b2182b", others = "grey60")) +
      ggplot2::labs(x = "rank", y = "weight", colour = NULL)
}

#' @rdname scaled_lasso
#' @usage \method{autoplot}{granary_scaled_lasso}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_scaled_lasso <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  table <- data.frame(fitted = as.vector(stats::predict(object)), residual = as.vector(stats::residuals(object)))
  gg_canvas(table, ggplot2::aes(x = .data$fitted, y = .data$residual)) +
    ggplot2::geom_hline(yintercept = c(-2, 0, 2) * object$sigma, linetype = c("dotted", "solid", "dotted"),
                        colour = "grey60") +
    ggplot2::geom_point() + ggplot2::labs(x = "fitted value", y = "residual",
                                          caption = "dotted: two standard deviations of the noise")
}
