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
