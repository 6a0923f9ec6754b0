# Pictures of kernel methods as ggplot objects: the same as their plot() draws first.

#' @rdname granary_svm
#' @usage \method{autoplot}{granary_svm}(object, columns = NULL, size = 101, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_svm <- function(object, columns = NULL, size = 101, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  slice <- svm_slice(object, columns, check_count(size, lower = 2, upper = 1000))
  regression <- grepl("regression", object$type)
  rows <- as.data.frame(slice$data[, slice$columns, drop = FALSE])
  name <- object$columns[slice$columns]
  names(rows) <- c("a", "b")[seq_along(name)]
  if (length(name) == 1L) {
    curve <- data.frame(a = slice$at[[1L]], value = as.double(if (regression) svm_answer(object, slice$decision) else slice$decision[, 1L]))
    return(gg_canvas(curve, ggplot2::aes(x = .data$a, y = .data$value)) + ggplot2::geom_line() +
             ggplot2::labs(x = name, y = if (regression) "response" else "decision value"))
  }
  grid <- expand.grid(a = slice$at[[1L]], b = slice$at[[2L]])
  grid$answer <- if (regression || is.null(object$levels)) as.double(slice$decision[, 1L]) else svm_answer(object, slice$decision)
  picture <- gg_canvas(grid, ggplot2::aes(x = .data$a, y = .data$b)) + ggplot2::geom_raster(ggplot2::aes(fill = .data$answer), alpha = 0.5) +
    ggplot2::labs(x = name[1L], y = name[2L], fill = if (is.null(object$levels)) "decision" else "class", caption = slice$held)
  if (is.null(object$levels)) return(picture + ggplot2::geom_point(data = rows, size = 0.8))
  y <- if (is.data.frame(object$y)) object$y[[1L]] else as.vector(object$y)
  rows$class <- factor(as.character(y)[object$used], object$levels)
  picture + ggplot2::geom_point(ggplot2::aes(colour = .data$class), data = rows, size = 0.8) + gg_palette(name = "class")
}

#' @rdname granary_online_classifier
#' @usage \method{autoplot}{granary_online_classifier}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_online_classifier <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  record <- full_record(object)
  if (nrow(record) == 0L) abort_input("There is nothing to plot: no row has been visited yet.", "object")
  record$share <- record$mistakes / record$trial
  gg_canvas(record, ggplot2::aes(x = .data$trial, y = .data$share)) + ggplot2::geom_line() +
    ggplot2::labs(x = "examples seen", y = "share of mistakes made before learning")
}

#' @rdname structured_svm
#' @usage \method{autoplot}{granary_structured_svm}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_structured_svm <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  long <- data.frame(sweep = rep(object$trace$sweep, 2L), value = c(object$trace$primal, object$trace$dual),
                     part = rep(c("primal", "dual"), each = nrow(object$trace)))
  gg_canvas(long[is.finite(long$value), ], ggplot2::aes(x = .data$sweep, y = .data$value, colour = .data$part)) + ggplot2::geom_line() +
    ggplot2::geom_point() + ggplot2::labs(x = "sweep", y = "objective", colour = NULL)
}

#' @rdname sgd_curve
#' @usage \method{autoplot}{granary_learning_curve}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_learning_curve <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  parts <- Filter(function(part) length(object[[part]]) == length(object$t), c("test", "train"))
  long <- do.call(rbind, lapply(parts, function(part) data.frame(t = object$t, error = object[[part]], on = part)))
  gg_canvas(long[is.finite(long$error), ], ggplot2::aes(x = .data$t, y = .data$error, colour = .data$on)) + ggplot2::geom_line() +
    ggplot2::labs(x = "time (updates per weight)", y = "error", colour = NULL)
}

#' @rdname ica_baseline
#' @usage \method{autoplot}{granary_ica}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_ica <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  long <- data.frame(value = as.double(object$S), component = rep(colnames(object$S), each = nrow(object$S)))
  gg_canvas(long, ggplot2::aes(x = .data$value)) + ggplot2::geom_density() + ggplot2::facet_wrap(~component, scales = "free") +
    ggplot2::labs(x = "source", y = "density")
}

#' @rdname structured_svm
#' @usage \method{autoplot}{granary_structured}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_structured <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  shaped <- stats::coef(object)
  m <- if (is.matrix(shaped)) shaped else if (is.list(shaped)) shaped$transition %||% shaped$substitution
  if (!is.null(m)) return(gg_matrix(m, "weight"))
  values <- sort(if (is.data.frame(shaped)) shaped$weight else unlist(shaped))
  table <- data.frame(at = seq_along(values), value = as.vector(values))
  gg_canvas(table, ggplot2::aes(x = .data$at, y = .data$value)) +
    ggplot2::geom_segment(ggplot2::aes(xend = .data$at, yend = 0)) + ggplot2::labs(x = "feature, sorted", y = "weight")
}

#' @rdname sgd_optimize
#' @usage \method{autoplot}{granary_sgd_optimum}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_sgd_optimum <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  gg_rates(object$table$t, object$table$eta, object$schedule$coefficients, "best learning rate")
}

#' @rdname sgd_optimize
#' @usage \method{autoplot}{granary_sgd_schedule}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_sgd_schedule <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  gg_rates(object$t, object$eta, object$coefficients, "learning rate")
}

gg_rates <- function(t, eta, coefficients, label) {
  picture <- gg_canvas(data.frame(t = t, eta = eta), ggplot2::aes(x = .data$t, y = .data$eta)) + ggplot2::geom_point() +
    ggplot2::expand_limits(y = 0) + ggplot2::labs(x = "final time (updates per weight)", y = label)
  if (is.null(coefficients)) return(picture)
  at <- seq(min(t), max(t), length.out = 200L)
  curve <- data.frame(t = at, eta = (coefficients[["a"]] + coefficients[["b"]] * log(at)) / at)
  picture + ggplot2::geom_line(data = curve, linetype = "dotted") + ggplot2::labs(caption = "dotted: (a + b log t) / t")
}

#' @rdname kernel_dependence
#' @usage \method{autoplot}{granary_dependence}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_dependence <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  values <- if (length(object$spectrum) > 0L) as.vector(object$spectrum) else 0
  table <- data.frame(order = seq_along(values), value = values)
  label <- if (length(object$witness) > 2L) "lambda" else if (object$measure %in% c("kcc", "kgv")) "rho" else "gamma"
  gg_canvas(table, ggplot2::aes(x = .data$order, y = .data$value)) +
    ggplot2::geom_segment(ggplot2::aes(xend = .data$order, yend = 0), linewidth = 1) +
    ggplot2::labs(x = "order", y = label, title = measure_titles[[object$measure]])
}
