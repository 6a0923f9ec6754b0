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

#' @rdname gp_bandit
#' @usage \method{autoplot}{granary_bandit}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_bandit <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  state <- bandit_posterior(object)
  names <- colnames(object$candidates)
  seen <- !is.na(object$history$y)
  at <- object$history$candidate
  if (ncol(object$candidates) == 1L) {
    half <- 2 * sqrt(state$variance_seen)
    band <- data.frame(x = object$candidates[, 1L], fit = state$mean, low = state$mean - half, high = state$mean + half)
    points <- data.frame(x = object$candidates[at[seen], 1L], fit = object$history$y[seen])
    return(ggplot_band(band[order(band$x), ], points, if (is.null(names)) "candidate" else names, "reward"))
  }
  table <- data.frame(a = object$candidates[, 1L], b = object$candidates[, 2L], mean = state$mean)
  tried <- cbind(table[at, c("a", "b"), drop = FALSE], result = factor(ifelse(seen, "known", "pending"), c("known", "pending")))
  gg_canvas(table, ggplot2::aes(x = .data$a, y = .data$b)) + ggplot2::geom_point(ggplot2::aes(colour = .data$mean), shape = 15) +
    ggplot2::geom_point(ggplot2::aes(shape = .data$result), tried, size = 2.5) +
    ggplot2::scale_shape_manual(values = c(known = 1, pending = 8), drop = FALSE) +
    ggplot2::scale_colour_gradientn(colours = grDevices::hcl.colors(64L, "YlGnBu", rev = TRUE)) +
    ggplot2::labs(x = if (is.null(names)) "x1" else names[1L], y = if (is.null(names)) "x2" else names[2L], colour = "posterior mean")
}

#' @rdname granary_bandit_sim
#' @usage \method{autoplot}{granary_bandit_sim}(object, type = c("average", "simple"), ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_bandit_sim <- function(object, type = c("average", "simple"), ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  type <- check_choice(type, c("average", "simple"))
  quantiles <- matrix(apply(object[[type]], 1L, stats::quantile, c(0.1, 0.5, 0.9), na.rm = TRUE), 3L)
  table <- data.frame(step = seq_len(ncol(quantiles)), low = quantiles[1L, ], middle = quantiles[2L, ], high = quantiles[3L, ],
                      mean = rowMeans(object[[type]], na.rm = TRUE))
  gg_canvas(table, ggplot2::aes(x = .data$step)) +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$low, ymax = .data$high), fill = sign_colours[["positive"]], alpha = 0.2) +
    ggplot2::geom_line(ggplot2::aes(y = .data$middle), colour = sign_colours[["positive"]]) +
    ggplot2::geom_line(ggplot2::aes(y = .data$mean), linetype = "dashed") +
    ggplot2::labs(x = "choices", y = paste(type, "regret"), title = object$strategy, caption = "median and middle 80%; dashed: mean")
}

#' @rdname granary_ec
#' @usage \method{autoplot}{granary_ec}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_ec <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  if (length(object$mean) <= 20L && object$method != "exact") {
    table <- data.frame(exact = as.vector(ec_enumerate(object)$prob), prob = as.vector(object$prob))
    return(gg_canvas(table, ggplot2::aes(x = .data$exact, y = .data$prob)) +
             ggplot2::geom_abline(slope = 1, intercept = 0, colour = "grey60") + ggplot2::geom_point() + ggplot2::coord_equal(xlim = 0:1, ylim = 0:1) +
             ggplot2::labs(x = "exact P(x = 1)", y = ec_titles[[object$method]]))
  }
  table <- data.frame(variable = seq_along(object$prob), prob = as.vector(object$prob))
  gg_canvas(table, ggplot2::aes(x = .data$variable, y = .data$prob)) + ggplot2::geom_hline(yintercept = 0.5, linetype = "dashed", colour = "grey60") +
    ggplot2::geom_segment(ggplot2::aes(xend = .data$variable, yend = 0)) + ggplot2::ylim(0, 1) + ggplot2::labs(x = "variable", y = "P(x = 1)")
}

#' @rdname ec_gauss
#' @usage \method{autoplot}{granary_ec_gauss}(object, which = 1, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_ec_gauss <- function(object, which = 1, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  table <- stats::predict(object, which)
  mass <- table[table$mass > 0, ]
  curve <- table[table$density > 0 | table$mass == 0, ]
  gg_canvas(curve, ggplot2::aes(x = .data$x, y = .data$density)) + ggplot2::geom_line(colour = sign_colours[["positive"]]) +
    ggplot2::geom_segment(ggplot2::aes(xend = .data$x, yend = 0, y = .data$mass), mass, colour = sign_colours[["negative"]], linewidth = 1) +
    ggplot2::facet_wrap(~variable, scales = "free") +
    ggplot2::labs(x = NULL, y = if (nrow(curve) > 0L) "density" else "probability")
}

#' @rdname gp_parameter_sample
#' @usage \method{autoplot}{granary_gp_parameter_sample}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_gp_parameter_sample <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  logs <- colnames(object$draws) != "mean"  # of a classifier, which may be negative
  shown <- object$draws
  shown[, logs] <- log10(shown[, logs])
  names <- ifelse(logs, paste("log10", colnames(shown)), colnames(shown))
  table <- data.frame(value = as.vector(shown), parameter = factor(rep(names, each = nrow(shown)), names))
  middle <- data.frame(value = apply(shown, 2L, stats::median), parameter = factor(names, names))
  gg_canvas(table, ggplot2::aes(x = .data$value)) + ggplot2::geom_histogram(bins = 30, fill = "#2166ac55", colour = "white") +
    ggplot2::geom_vline(ggplot2::aes(xintercept = .data$value), middle, colour = sign_colours[["negative"]]) +
    ggplot2::facet_wrap(~parameter, scales = "free") + ggplot2::labs(x = NULL, y = "draws")
}

#' @rdname granary_bandit_sim
#' @usage \method{autoplot}{granary_bandit_cost}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_bandit_cost <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  names <- dimnames(object$cost)$strategy
  weights <- dimnames(object$cost)$weight
  levels <- dimnames(object$cost)$level
  cells <- data.frame(level = factor(rep(levels, length(weights)), levels), weight = factor(rep(weights, each = length(levels)), weights),
                      strategy = factor(as.vector(object$cheapest), names))
  gg_canvas(cells, ggplot2::aes(x = .data$weight, y = .data$level, fill = .data$strategy)) + ggplot2::geom_raster() +
    gg_palette("fill", drop = FALSE) + ggplot2::labs(x = "weight of a choice", y = "average regret", fill = NULL, title = "cheapest strategy")
}

#' @rdname kriging_diagnose
#' @usage \method{autoplot}{granary_kriging_surface}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_kriging_surface <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  label <- surface_label(object)
  best <- attr(object, "best")
  value <- object$criterion
  value[!is.finite(value)] <- NA
  name <- paste("lengthscale of", names(object))
  if (ncol(object) == 2L) {
    table <- data.frame(at = object[[1L]], value = value)
    return(gg_canvas(table, ggplot2::aes(x = .data$at, y = .data$value)) + ggplot2::geom_line(na.rm = TRUE) +
             ggplot2::geom_vline(xintercept = best, linetype = 2, colour = sign_colours[["negative"]]) + ggplot2::scale_x_log10() +
             ggplot2::labs(x = name[1L], y = label))
  }
  # a deep hole at one corner would hide the rest
  table <- data.frame(a = object[[1L]], b = object[[2L]], value = pmax(value, stats::quantile(value, 0.1, na.rm = TRUE)))
  gg_canvas(table, ggplot2::aes(x = .data$a, y = .data$b)) + ggplot2::geom_raster(ggplot2::aes(fill = .data$value)) +
    ggplot2::geom_contour(ggplot2::aes(z = .data$value), colour = "#00000066", na.rm = TRUE) +
    ggplot2::annotate("point", x = best[1L], y = best[2L], shape = 4, size = 3, stroke = 1.5, colour = sign_colours[["negative"]]) +
    ggplot2::scale_x_log10() + ggplot2::scale_y_log10() +
    ggplot2::scale_fill_gradientn(colours = grDevices::hcl.colors(64L, "YlGnBu", rev = TRUE)) + ggplot2::labs(x = name[1L], y = name[2L], fill = NULL, title = label)
}

#' @rdname kriging_diagnose
#' @usage \method{autoplot}{granary_variogram}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_variogram <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  curve <- attr(object, "curve")
  table <- data.frame(distance = object$distance, gamma = object$gamma, pairs = object$pairs)
  picture <- gg_canvas(table, ggplot2::aes(x = .data$distance, y = .data$gamma)) + ggplot2::geom_point(ggplot2::aes(size = .data$pairs)) +
    ggplot2::scale_size_area(max_size = 4) + ggplot2::labs(x = paste0("distance (", attr(object, "unit"), ")"), y = "half mean squared difference")
  if (is.null(curve)) return(picture)
  picture + ggplot2::geom_line(data = data.frame(distance = curve$distance, gamma = curve$gamma), colour = sign_colours[["positive"]], linewidth = 1) +
    ggplot2::coord_cartesian(xlim = c(0, max(table$distance)), ylim = c(0, min(max(table$gamma, curve$gamma), 2 * max(table$gamma))))
}

#' @rdname sim_gp_classes
#' @usage \method{autoplot}{granary_orthant}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_orthant <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  first <- object$x[, 1L]
  at <- seq(min(first), max(first), length.out = 200L)
  curve <- data.frame(at = at, density = stats::dnorm(at, object$ep$mean, sqrt(object$ep$variance)))
  gg_canvas(data.frame(at = first), ggplot2::aes(x = .data$at)) +
    ggplot2::geom_histogram(ggplot2::aes(y = ggplot2::after_stat(.data$density)), bins = 40L, fill = "grey85", colour = "white") +
    ggplot2::geom_line(ggplot2::aes(y = .data$density), curve, colour = sign_colours[["positive"]], linewidth = 1) +
    ggplot2::geom_vline(xintercept = 0, linetype = 2, colour = sign_colours[["negative"]]) + ggplot2::labs(x = "first coordinate", y = "density")
}
