# ggplot2 versions of the pictures of clusterings that are trees.

#' @rdname granary_robust_linkage
#' @usage \method{autoplot}{granary_robust_linkage}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_robust_linkage <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  if (nrow(object$merge) < 2L) not_for(object, "autoplot()", "a tree needs at least three points to be drawn")
  # Of each merger: where its two branches stand, and how high they begin.
  place <- match(seq_along(object$order), object$order)
  middle <- base <- numeric(nrow(object$merge))
  branches <- vector("list", nrow(object$merge))
  for (k in seq_len(nrow(object$merge))) {
    child <- object$merge[k, ]
    x <- ifelse(child < 0, place[pmax(-child, 1L)], middle[pmax(child, 1L)])
    y <- ifelse(child < 0, 0, object$height[pmax(child, 1L)])
    middle[k] <- mean(x)
    branches[[k]] <- data.frame(x = c(x, x[1L]), y = c(y, object$height[k]), xend = c(x, x[2L]),
                                yend = object$height[k])
  }
  named <- object$n <= 60L
  labels <- if (is.null(object$labels)) seq_len(object$n) else object$labels
  gg_canvas(do.call(rbind, branches)) +
    ggplot2::geom_segment(ggplot2::aes(x = .data$x, y = .data$y, xend = .data$xend, yend = .data$yend)) +
    ggplot2::scale_x_continuous(breaks = if (named) seq_len(object$n), labels = if (named) labels[object$order]) +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5),
                   panel.grid.major.x = ggplot2::element_blank(),
                   panel.grid.minor.x = ggplot2::element_blank()) +
    ggplot2::labs(x = NULL, y = "t, size of neighbourhoods",
                  title = sprintf("Robust linkage, eps = %s", format(signif(object$eps, 3L))))
}

#' @exportS3Method ggplot2::autoplot
autoplot.granary_robust_linkage_check <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  limit <- object$smallest / (6 * nrow(object$table))
  point <- data.frame(nu = object$nu, alpha = object$alpha)
  gg_canvas(object$curve, ggplot2::aes(x = .data$nu, y = .data$alpha)) +
    ggplot2::geom_abline(intercept = limit, slope = -1, linetype = 2) +
    ggplot2::geom_step(colour = "#2166ac", linewidth = 1) +
    ggplot2::geom_point(data = point, colour = if (object$guaranteed) "#1b7837" else "#b2182b", size = 3) +
    ggplot2::coord_cartesian(ylim = c(0, max(object$curve$alpha, limit))) +
    ggplot2::labs(x = "nu, share of points called bad", y = "alpha, share of wrong neighbours",
                  title = "Noise in the clusters, and noise forgiven",
                  caption = paste("dashed: forgiven below this line; point:",
                                  if (object$guaranteed) "guaranteed" else "nearest to a guarantee"))
}
