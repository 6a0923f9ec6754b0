# Pictures of Gaussian process classifiers. plot() and autoplot() show the same tables.

class_colours <- c("#b2182b", "#2166ac")  # of the first and the second class

check_shown_columns <- function(x, columns) {
  d <- ncol(x$x)
  columns <- if (is.null(columns)) seq_len(min(2L, d)) else check_vector(columns, lower = 1, upper = d)
  if (length(columns) > 2L || any(columns != round(columns)) || anyDuplicated(columns)) {
    abort_input("`columns` must be one or two different columns of the inputs.", "columns")
  }
  columns
}

# The fit on a grid over the columns shown, others at their mean, and the cases, in the units of the data.
shown_classifier <- function(x, columns) {
  original <- function(v, j) v * x$scaling$scale[j] + x$scaling$centre[j]
  count <- if (length(columns) == 1L) 201L else 51L
  sides <- lapply(columns, function(j) {
    seen <- range(x$x[, j])
    pad <- 0.1 * max(diff(seen), 1e-8)
    seq(seen[1L] - pad, seen[2L] + pad, length.out = count)
  })
  table <- expand.grid(sides)
  at <- matrix(colMeans(x$x), nrow(table), ncol(x$x), byrow = TRUE)
  at[, columns] <- as.matrix(table)
  found <- classifier_predict(x, at)
  in_units <- function(values) as.data.frame(stats::setNames(Map(original, values, columns), c("a", "b")[seq_along(columns)]))
  list(grid = cbind(in_units(unname(as.list(table))), mean = found$mean, se = sqrt(found$variance), prob = exp(found$log_positive)),
       cases = cbind(in_units(lapply(columns, function(j) x$x[, j])), positive = x$y > 0, label = factor(x$levels[(x$y + 3) / 2], x$levels)),
       sides = Map(original, sides, columns), names = colnames(x$x)[columns], chance = paste0("probability of ", x$levels[2L]))
}

#' @rdname granary_gp_classify
#' @export
plot.granary_gp_classify <- function(x, type = c("probability", "latent", "calibration"), columns = NULL, bins = 10, ...) {
  type <- check_choice(type, c("probability", "latent", "calibration"))
  if (type == "calibration") {
    plot(new_calibration(loo_second(x), x$y > 0, check_count(bins), "leave-one-out"), ...)
    return(invisible())
  }
  shown <- shown_classifier(x, check_shown_columns(x, columns))
  grid <- shown$grid
  cases <- shown$cases
  colour <- class_colours[1L + cases$positive]
  if (length(shown$names) == 2L) {
    draw_surface(shown$sides[[1L]], shown$sides[[2L]], matrix(if (type == "latent") grid$mean else grid$prob, length(shown$sides[[1L]])),
                 xlab = shown$names[1L], ylab = shown$names[2L], main = if (type == "latent") "latent mean" else shown$chance, user = list(...))
    graphics::points(cases$a, cases$b, pch = 21, col = "white", bg = colour)  # seen on light and on dark ground
  } else if (type == "latent") {
    draw_band(grid$a, grid$mean, grid$se, xlab = shown$names, ylab = "latent value", user = list(...))
    graphics::abline(h = 0, lty = 3)
  } else {
    draw(graphics::plot, grid$a, grid$prob, type = "l", lwd = 2, col = class_colours[2L], ylim = c(0, 1), xlab = shown$names, ylab = shown$chance,
         user = list(...))
    graphics::points(cases$a, as.double(cases$positive), pch = 19, cex = 0.6, col = colour)
    graphics::abline(h = 0.5, lty = 3)
  }
  invisible()
}

#' @rdname granary_gp_classify
#' @usage \method{autoplot}{granary_gp_classify}(object,
#'   type = c("probability", "latent", "calibration"), columns = NULL, bins = 10, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_gp_classify <- function(object, type = c("probability", "latent", "calibration"), columns = NULL,  # nolint: object_name_linter.
                                         bins = 10, ...) {
  check_installed("ggplot2", "autoplot()")
  type <- check_choice(type, c("probability", "latent", "calibration"))
  if (type == "calibration") {
    return(autoplot.granary_calibration(new_calibration(loo_second(object), object$y > 0, check_count(bins), "leave-one-out")))
  }
  shown <- shown_classifier(object, check_shown_columns(object, columns))
  value <- if (type == "latent") "latent mean" else shown$chance
  shown$grid$value <- if (type == "latent") shown$grid$mean else shown$grid$prob
  colours <- ggplot2::scale_colour_manual(values = stats::setNames(class_colours, object$levels), name = NULL)
  if (length(shown$names) == 2L) {
    return(gg_canvas(shown$grid, ggplot2::aes(x = .data$a, y = .data$b)) + ggplot2::geom_raster(ggplot2::aes(fill = .data$value)) +
             ggplot2::geom_contour(ggplot2::aes(z = .data$value), breaks = if (type == "latent") 0 else 0.5, colour = "grey20") +
             ggplot2::geom_point(ggplot2::aes(colour = .data$label), shown$cases) + colours +
             ggplot2::scale_fill_gradient2(low = "#f4a582", mid = "white", high = "#92c5de", midpoint = if (type == "latent") 0 else 0.5) +
             ggplot2::labs(x = shown$names[1L], y = shown$names[2L], fill = value))
  }
  picture <- gg_canvas(shown$grid, ggplot2::aes(x = .data$a))
  if (type == "latent") {
    picture <- picture + ggplot2::geom_hline(yintercept = 0, linetype = 3) +
      ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$mean - 2 * .data$se, ymax = .data$mean + 2 * .data$se), fill = class_colours[2L], alpha = 0.18)
  } else {
    picture <- picture + ggplot2::geom_hline(yintercept = 0.5, linetype = 3) +
      ggplot2::geom_point(ggplot2::aes(y = as.double(.data$positive), colour = .data$label), shown$cases) + colours
  }
  picture + ggplot2::geom_line(ggplot2::aes(y = .data$value), colour = class_colours[2L]) + ggplot2::labs(x = shown$names, y = value)
}

#' @rdname assess_gp_classify
#' @usage \method{autoplot}{granary_calibration}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_calibration <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  table <- data.frame(object, lower = pmax(0, object$observed - 2 * object$se), upper = pmin(1, object$observed + 2 * object$se))
  gg_canvas(table, ggplot2::aes(x = .data$predicted, y = .data$observed)) + ggplot2::geom_abline(linetype = 3) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$lower, ymax = .data$upper), colour = class_colours[2L]) +
    ggplot2::geom_point(ggplot2::aes(size = .data$n), colour = class_colours[2L]) + ggplot2::coord_cartesian(c(0, 1), c(0, 1)) +
    ggplot2::labs(x = "predicted probability", y = "observed share", size = "cases", title = attr(object, "source"))
}

# The one or two parameters over which a table of evidences runs.
varied_parameters <- function(x) {
  parameters <- attr(x, "parameters")
  varied <- parameters[vapply(parameters, function(p) length(unique(x[[p]])) > 1L, NA)]
  if (!length(varied) %in% 1:2) abort_input("Only a table over one or two parameters can be drawn.", "x")
  varied
}

#' @rdname gp_classify_evidence
#' @usage \method{autoplot}{granary_gp_evidence}(object, value = "log_evidence", ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_gp_evidence <- function(object, value = "log_evidence", ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  value <- check_choice(value, intersect(c("log_evidence", "information", "error"), names(object)))
  varied <- varied_parameters(object)
  table <- data.frame(a = object[[varied[1L]]], value = object[[value]], method = object$method)
  if (length(varied) == 1L) {
    return(gg_canvas(table, ggplot2::aes(x = .data$a, y = .data$value, colour = .data$method)) + ggplot2::geom_line() +
             ggplot2::scale_x_log10() + ggplot2::labs(x = varied, y = value, colour = NULL))
  }
  table$b <- object[[varied[2L]]]
  gg_canvas(table, ggplot2::aes(x = log(.data$a), y = log(.data$b), z = .data$value)) +
    ggplot2::geom_tile(ggplot2::aes(fill = .data$value)) + ggplot2::facet_wrap(ggplot2::vars(.data$method)) +
    ggplot2::scale_fill_gradientn(colours = grDevices::hcl.colors(64L, "YlGnBu", rev = TRUE)) +  # as plot() has it: dark is high
    ggplot2::labs(x = paste("log", varied[1L]), y = paste("log", varied[2L]), fill = value)
}

# Histogram of one latent value beside the two normal approximations.
marginal_density <- function(x, which) {
  f <- x$f[, which]
  moments <- vapply(c(EP = "ep", Laplace = "laplace"), function(method) {
    problem <- x$fit
    problem$settings$method <- method
    posterior <- core_gp_classify_posterior(problem, c(1, 1), NULL)
    c(posterior$mean[which], sqrt(posterior$variance[which]))
  }, c(0, 0))
  range <- range(f, moments[1L, ] - 3 * moments[2L, ], moments[1L, ] + 3 * moments[2L, ])
  at <- seq(range[1L], range[2L], length.out = 200L)
  list(f = f, at = at, density = apply(moments, 2L, function(m) stats::dnorm(at, m[1L], m[2L])))
}

#' @rdname gp_classify_sample
#' @export
plot.granary_gp_sample <- function(x, which = 1, ...) {
  which <- check_count(which, upper = ncol(x$f))
  shown <- marginal_density(x, which)
  top <- max(shown$density, graphics::hist(shown$f, breaks = 40, plot = FALSE)$density)
  draw(graphics::hist, shown$f, breaks = 40, freq = FALSE, col = "grey85", border = "white", xlab = paste("latent value of case", which), main = "",
       xlim = range(shown$at), ylim = c(0, 1.05 * top), user = list(...))
  graphics::matlines(shown$at, shown$density, col = rev(class_colours), lwd = 2, lty = 1)
  graphics::legend("topright", colnames(shown$density), col = rev(class_colours), lwd = 2, bty = "n")
  invisible()
}

#' @rdname gp_classify_sample
#' @usage \method{autoplot}{granary_gp_sample}(object, which = 1, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_gp_sample <- function(object, which = 1, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  which <- check_count(which, upper = ncol(object$f))
  shown <- marginal_density(object, which)
  bars <- graphics::hist(shown$f, breaks = 40, plot = FALSE)
  lines <- data.frame(at = shown$at, density = c(shown$density), method = rep(colnames(shown$density), each = length(shown$at)))
  gg_canvas(data.frame(at = bars$mids, density = bars$density), ggplot2::aes(x = .data$at, y = .data$density)) +
    ggplot2::geom_col(width = diff(bars$breaks)[1L], fill = "grey80") + ggplot2::geom_line(ggplot2::aes(colour = .data$method), lines) +
    ggplot2::labs(x = paste("latent value of case", which), y = "density", colour = NULL)
}
