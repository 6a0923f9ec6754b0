# ggplots and tables of processes that draw as base plots elsewhere.

#' @rdname rvm
#' @usage \method{autoplot}{granary_rvm}(object, level = 0.95, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_rvm <- function(object, level = 0.95, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  if (ncol(object$x) > 1L) {
    data <- data.frame(fitted = unname(predict(object)), observed = object$y)
    return(gg_canvas(data, ggplot2::aes(x = .data$fitted, y = .data$observed)) + ggplot2::geom_abline(colour = sign_colours[["positive"]]) +
             ggplot2::geom_point())
  }
  span <- range(object$x)
  at <- if (diff(span) > 0) seq(span[1L], span[2L], length.out = 201L) else span[1L] + seq(-1, 1, length.out = 201L)
  band <- predict(object, matrix(at), se = TRUE, type = "response")
  half <- stats::qnorm(0.5 + level / 2) * unname(band$se.fit)
  data <- data.frame(x = at, fit = unname(band$fit), low = unname(band$fit) - half, high = unname(band$fit) + half)
  ggplot_band(data, data.frame(x = object$x[, 1L], fit = object$y), colnames(object$x))
}

ggplot_band <- function(data, points, label, ylab = "response") {
  gg_canvas(data, ggplot2::aes(x = .data$x, y = .data$fit)) +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$low, ymax = .data$high), fill = "#2166ac", alpha = 0.2) +
    ggplot2::geom_line(colour = "#2166ac") + ggplot2::geom_point(data = points) + ggplot2::labs(x = label, y = ylab)
}

#' @rdname cokriging
#' @usage \method{autoplot}{granary_cokriging}(object, inputs = NULL, at = NULL, size = 60, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_cokriging <- function(object, inputs = NULL, at = NULL, size = 60, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  size <- check_count(size, lower = 2, upper = 2000)
  value <- surface_values(object, inputs, at, size)
  labels <- colnames(object$x)[value$inputs]
  if (length(value$inputs) == 1L) {
    data <- data.frame(x = value$axes[[1L]], fit = value$fit, low = value$fit - 2 * value$se, high = value$fit + 2 * value$se)
    points <- data.frame(x = object$x[, value$inputs], fit = object$y)
    return(ggplot_band(data, if (ncol(object$x) == 1L) points else points[0L, ], labels))
  }
  data <- data.frame(expand.grid(a = value$axes[[1L]], b = value$axes[[2L]]), fit = value$fit)
  gg_canvas(data, ggplot2::aes(x = .data$a, y = .data$b)) + ggplot2::geom_raster(ggplot2::aes(fill = .data$fit)) +
    ggplot2::geom_point(data = data.frame(a = object$x[, value$inputs[1L]], b = object$x[, value$inputs[2L]]), shape = 21, fill = "white") +
    ggplot2::labs(x = labels[1L], y = labels[2L])
}

#' @rdname cokriging
#' @export
tidy.granary_cokriging <- function(x, ...) {
  rows <- lapply(seq_along(x$levels), function(t) cbind(level = t, tidy(x$levels[[t]])))
  rho <- data.frame(level = seq_along(x$rho) + 1L, term = rep("rho", length(x$rho)), part = rep("scale", length(x$rho)), estimate = x$rho,
                    std.error = rep(NA_real_, length(x$rho)), stringsAsFactors = FALSE)
  rbind(rho, do.call(rbind, rows))
}

#' @rdname granary_bayes_opt
#' @usage \method{autoplot}{granary_bayes_opt}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_bayes_opt <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  data <- object$trace[object$trace$status == "ok", ]
  gg_canvas(data, ggplot2::aes(x = .data$iter, y = .data$y)) + ggplot2::geom_point(ggplot2::aes(shape = .data$used == "design"),
                                                                                         show.legend = FALSE) +
    ggplot2::geom_step(ggplot2::aes(y = .data$best), colour = "#2166ac") + ggplot2::labs(x = "evaluation", y = "response, and the best so far")
}

#' @rdname gp_parameter_sample
#' @export
tidy.granary_gp_parameter_sample <- function(x, ...) {
  table <- summary(x)
  data.frame(term = table$parameter, estimate = table$median, std.error = table$sd, conf.low = table$lower, conf.high = table$upper)
}
