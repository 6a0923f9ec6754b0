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

#' @rdname budget_path
#' @usage \method{autoplot}{granary_budget_path}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_budget_path <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  finite <- is.finite(object$budget)
  at <- ifelse(finite, object$budget, object$size)
  table <- rbind(data.frame(at = at, error = object$online_error, half = object$standard_error, on = "online", finite = finite),
                 data.frame(at = at, error = object$new_error, half = NA, on = "new rows", finite = finite))
  table <- table[!is.na(table$error), ]
  table$on <- factor(table$on, c("online", "new rows"))
  gg_canvas(table, ggplot2::aes(x = .data$at, y = .data$error, colour = .data$on, linetype = .data$on)) + ggplot2::geom_line() +
    ggplot2::geom_point(ggplot2::aes(shape = .data$finite)) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$error - .data$half, ymax = .data$error + .data$half), table[!is.na(table$half), ], linetype = 1) +
    ggplot2::scale_x_log10() + ggplot2::scale_shape_manual(values = c("TRUE" = 19, "FALSE" = 17), guide = "none") +
    ggplot2::scale_colour_manual(values = c(online = "black", "new rows" = sign_colours[["positive"]]), drop = TRUE) + ggplot2::expand_limits(y = 0) +
    ggplot2::labs(x = "budget", y = "share of mistakes", colour = NULL, linetype = NULL)
}

#' @rdname granary_online_classifier
#' @usage \method{autoplot}{granary_online_comparison}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_online_comparison <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  runs <- do.call(rbind, Map(function(run, name) if (nrow(run) > 0L) data.frame(trial = run$trial, error = run$error, learner = name),
                             lapply(object$fits, tidy), names(object$fits)))
  if (is.null(runs)) abort_input("There is nothing to plot: no trial has been seen yet.", "object")
  runs$learner <- factor(runs$learner, names(object$fits))
  late <- runs$trial >= max(runs$trial) / 100  # the first trials are all or nothing
  gg_canvas(runs, ggplot2::aes(x = .data$trial, y = .data$error, colour = .data$learner)) + ggplot2::geom_line() + gg_palette("colour") +
    ggplot2::coord_cartesian(ylim = c(0, max(runs$error[late], 1e-3))) + ggplot2::labs(x = "trial", y = "mistake rate", colour = NULL)
}

#' @rdname independence_test
#' @usage \method{autoplot}{granary_independence_test}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_independence_test <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  value <- unname(object$statistic)
  title <- sprintf("p = %s", format.pval(object$p.value, digits = 3L))
  if (!is.null(names(object$null))) {
    at <- seq(0, max(value, stats::qgamma(0.9999, object$null[["shape"]], scale = object$null[["scale"]])) * 1.05, length.out = 401L)
    curve <- data.frame(at = at, density = stats::dgamma(at, object$null[["shape"]], scale = object$null[["scale"]]))
    curve <- curve[is.finite(curve$density), ]
    picture <- gg_canvas(curve, ggplot2::aes(x = .data$at, y = .data$density)) + ggplot2::geom_line()
  } else {
    shown <- object$null[is.finite(object$null)]
    if (length(shown) == 0L) abort_input("There is nothing to draw: the statistic was undefined after every permutation.", "object")
    bins <- max(1L, min(100L, grDevices::nclass.FD(shown)))
    picture <- gg_canvas(data.frame(at = shown), ggplot2::aes(x = .data$at)) +
      ggplot2::geom_histogram(bins = bins, fill = "grey85", colour = "white")
  }
  if (is.finite(value)) picture <- picture + ggplot2::geom_vline(xintercept = value, colour = sign_colours[["negative"]], linewidth = 1)
  picture + ggplot2::labs(x = names(object$statistic), title = title)
}

#' @rdname kernels
#' @usage \method{autoplot}{granary_kernel}(object, range = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_kernel <- function(object, range = NULL, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  gg_canvas(kernel_profile(object, range), ggplot2::aes(x = .data$at, y = .data$value)) + ggplot2::geom_line() + ggplot2::expand_limits(y = 0) +
    ggplot2::labs(x = "distance along the diagonal from 0", y = format(object))
}
