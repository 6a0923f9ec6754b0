# What a multi-task fit can do: the verbs of `granary_ggm`, with `task =`, as its `precision` is a list over tasks. ggm_task() makes one task an
# ordinary `granary_ggm`.

#' Methods for multi-task Gaussian graph fits
#'
#' The verbs of [granary_ggm] for fits of [ggm_multi()], with `task =` to choose one task (a name or a number).
#'
#' @param x,object A fit.
#' @param which Position on the path; by default the only fit, or the last (smallest penalty).
#' @param task One task; `NULL` for all.
#' @param newdata New rows, with the variables of the fit.
#' @param type For `predict()`: `"loglik"`, the log density of each row under each task (one column per task); `"class"`, the task with the
#'   largest log
#'   density plus log share of observations; `"conditional"`, the mean of every variable given the others (needs `task`). For `plot()`:
#'   `"network"`, one panel per task
#'   in one layout; `"heatmap"`, edges by tasks; `"path"`, numbers of edges; `"selection"`.
#' @param nsim Number of rows to draw per task.
#' @param seed A seed for [set.seed()]; usually left `NULL`.
#' @param labels,layout As for [plot.granary_ggm()].
#' @param ... Not used; for `plot()` passed on to the plotting function.
#' @return `coef()` and `as.matrix()` a list of precision matrices (sparse and dense) or one of them, `logLik()` the sum over tasks,
#'   `predict()` a
#'   matrix or factor, `simulate()` a
#' list of
#'   matrices or one of them, as does `residuals()`, `augment()` the rows of all tasks with their task and log density, `tidy()` a data
#'   frame with
#'   one row per edge and task, where `tasks` counts the tasks that have the edge.
#' @seealso [ggm_multi()], [ggm_difference()], [ggm_lasso()], [ggm_select()], [ggm_hub()], [ggm_local()]
#' @name granary_ggm_multi
#' @examples
#' fit <- ggm_multi(scale(iris[1:4]), groups = iris$Species, lambda = 10)
#' tidy(fit)
#' coef(fit, task = 1)
#' logLik(fit)
#' table(predict(fit, scale(iris[1:4]), type = "class"), iris$Species)
#' set.seed(1)
#' simulate(fit, nsim = 2, task = "setosa")
#' plot(fit)
#' summary(fit)
NULL

check_ggm_multi <- function(fit, arg = "fit") {
  if (!inherits(fit, "granary_ggm_multi")) {
    abort_input(sprintf("`%s` must be a multi-task Gaussian graph fit, as ggm_multi() returns, but it is %s.", arg, describe(fit)), arg)
  }
  check_fit(fit)
  invisible(fit)
}

multi_task <- function(fit, task, arg = "task") {
  tasks <- names(fit$S)
  if (checkmate::test_string(task)) {
    at <- match(task, tasks)
    if (is.na(at)) abort_input(sprintf("`%s` must be one of %s, but it is \"%s\".", arg, paste0("\"", tasks, "\"", collapse = ", "), task), arg)
    return(at)
  }
  check_count(task, arg, upper = length(tasks))
}

#' @exportS3Method
take_from_path.granary_ggm_multi <- function(fit, which) {
  one <- fit
  for (part in c("precision", "component", "covariance")) if (!is.null(fit[[part]])) one[[part]] <- fit[[part]][[which]]
  for (part in c("lambda", "lambda1", "df", "shared", "objective", "gap")) one[[part]] <- fit[[part]][which]
  for (part in c("edges", "log_det", "trace_sx")) one[[part]] <- fit[[part]][which, , drop = FALSE]
  one$convergence <- fit$convergence[[which]]
  one$common_edges <- multi_common_edges(one)
  one
}

ggm_task <- function(fit, task, which = NULL) {
  check_ggm_multi(fit)
  k <- multi_task(fit, task)
  if (!is.null(which)) fit <- ggm_at(fit, which)
  path <- is_path(fit)
  pick <- function(part) if (is.null(part)) NULL else if (path) lapply(part, `[[`, k) else part[[k]]
  precision <- pick(fit$precision)
  list_of <- if (path) precision else list(precision)
  new_fit(
    c("ggm_task", "ggm"),
    precision = precision, covariance = pick(fit$covariance), lambda = fit$lambda, df = vapply(list_of, count_edges, 0),
    objective = fit$weights[[k]] * (fit$trace_sx[, k] - fit$log_det[, k]), log_det = fit$log_det[, k], trace_sx = fit$trace_sx[, k],
    kkt = rep(NA_real_, length(fit$lambda)), gap = fit$gap, component = fit$component, S = fit$S[[k]],
    n = if (!is.null(fit$n)) fit$n[[k]], mean = fit$mean[[k]], x = fit$x[[k]], task = names(fit$S)[k],
    call = fit$call, convergence = fit$convergence
  )
}

#' @exportS3Method
refit_path.granary_ggm_task <- function(fit, x) {
  abort_input("One task cannot be refitted alone: choose the penalty of all tasks with ggm_select().", "fit")
}

norm_words <- c(l2 = "l1,2 norm", linf = "l1,inf norm", fused = "fused penalty", separate = "each task alone", pooled = "all tasks as one", ridge = "ridge",
                irls = "l1,2 norm by reweighted ridge", hierarchical = "hierarchical penalty", mixed = "mixed priors")

#' @export
print.granary_ggm_multi <- function(x, ...) {
  tasks <- names(x$S)
  p <- ncol(x$S[[1L]])
  sizes <- if (is.null(x$n)) tasks else paste0(tasks, " (n = ", x$n, ")")
  shown <- if (length(sizes) > 6L) c(sizes[1:5], paste("and", length(sizes) - 5L, "more")) else sizes
  cli::cat_line("Multi-task Gaussian graphs (", norm_words[[x$norm]], "): ", length(tasks), if (length(tasks) == 1L) " task, " else " tasks, ", p,
                if (p == 1L) " variable" else " variables")
  cli::cat_line("Tasks: ", paste(shown, collapse = ", "))
  print_call(x$call)
  if (is_path(x)) {
    table <- data.frame(lambda = x$lambda, lambda1 = x$lambda1, edges = x$df, shared = x$shared, objective = x$objective, gap = x$gap)
    if (all(x$lambda1 == 0)) table$lambda1 <- NULL
    rows <- if (nrow(table) > 12L) unique(round(seq(1, nrow(table), length.out = 10L))) else seq_len(nrow(table))
    print(format(table[rows, ], digits = 4L), quote = FALSE)
    if (length(rows) < nrow(table)) cli::cat_line("(", length(rows), " of ", nrow(table), " penalties shown)")
  } else {
    cli::cat_line("lambda ", format(x$lambda, digits = 4L), if (x$lambda1 > 0) paste0(", lambda1 ", format(x$lambda1, digits = 4L)), ": ", x$df,
                  " of ", p * (p - 1) / 2, " possible edges in any task, ", x$shared, " in all, in ", max(x$component),
                  if (max(x$component) == 1L) " component" else " components")
    own <- x$edges[1L, ] - x$shared
    if (any(own > 0)) {
      first <- seq_len(min(8L, length(own)))
      cli::cat_line("Edges per task: ", paste0(tasks[first], " ", x$edges[1L, first], collapse = ", "), if (length(own) > 8L) ", ...")
    }
    if (x$shared > 0L) {
      cli::cat_line("Strongest shared edges, partial correlations:")
      columns <- seq_len(min(ncol(x$common_edges), 10L))
      print(format(utils::head(x$common_edges[columns], 6L), digits = 3L), row.names = FALSE)
    }
  }
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  if (is_path(x)) cli::cat_line("Next: ggm_select() chooses a penalty; plot() shows the path.")
  invisible(x)
}

#' @export
summary.granary_ggm_multi <- function(object, which = NULL, ...) {
  one <- ggm_at(object, which)
  range_of <- function(m) unlist(core_eigenvalue_range(as.matrix(m)), use.names = FALSE)
  eigenvalues <- vapply(one$precision, range_of, numeric(2))
  table <- data.frame(task = names(one$S), weight = unname(one$weights), edges = one$edges[1L, ], smallest_eigenvalue = eigenvalues[1L, ],
                      largest_eigenvalue = eigenvalues[2L, ], row.names = NULL)
  if (!is.null(one$n)) table <- cbind(table[1L], n = unname(one$n), table[-1L])
  seal(structure(list(fit = one, tasks = table), class = "summary_granary_ggm_multi"))
}

#' @export
print.summary_granary_ggm_multi <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  print(format(x$tasks, digits = 4L), row.names = FALSE)
  cli::cat_line("Objective ", format(x$fit$objective, digits = 8L),
                if (!is.na(x$fit$gap)) paste0(", certified within ", format(x$fit$gap, digits = 2L), " of its minimum"))
  if (max(x$fit$weights) > 10 * min(x$fit$weights)) {
    cli::cat_line("The weights differ more than tenfold: the small tasks follow the large ones. weights = \"equal\" treats all alike.")
  }
  invisible(x)
}

#' @rdname granary_ggm_multi
#' @export
coef.granary_ggm_multi <- function(object, which = NULL, task = NULL, ...) {
  refuse_dots(...)
  one <- ggm_at(object, which)
  if (is.null(task)) one$precision else one$precision[[multi_task(one, task)]]
}

#' @rdname granary_ggm_multi
#' @export
as.matrix.granary_ggm_multi <- function(x, which = NULL, task = NULL, ...) {
  found <- coef(x, which = which, task = task)
  if (is.list(found)) lapply(found, as.matrix) else as.matrix(found)
}

# Rows of all tasks one after the other, back in the order in which one matrix with `groups` had them.
rows_as_given <- function(fit, table) if (is.null(fit$rows)) table else table[order(fit$rows), , drop = FALSE]

#' @rdname granary_ggm_multi
#' @export
residuals.granary_ggm_multi <- function(object, which = NULL, task = NULL, ...) {
  refuse_dots(...)
  one <- ggm_at(object, which)
  if (!is.null(task)) return(residuals(ggm_task(one, task)))
  tasks <- stats::setNames(names(one$S), names(one$S))
  lapply(tasks, function(k) residuals(ggm_task(one, k)))
}

#' @export
augment.granary_ggm_multi <- function(x, which = NULL, ...) {
  refuse_dots(...)
  one <- ggm_at(x, which)
  rows_as_given(one, do.call(rbind, lapply(names(one$S), function(k) cbind(.task = k, augment(ggm_task(one, k))))))
}

#' @rdname granary_ggm_multi
#' @export
logLik.granary_ggm_multi <- function(object, task = NULL, ...) {
  n <- needs_n(object)
  tasks <- if (is.null(task)) seq_along(n) else multi_task(object, task)
  p <- ncol(object$S[[1L]])
  value <- 0
  for (k in tasks) {
    scatter <- if (is.null(object$x)) n[[k]] else n[[k]] - 1  # S of data has divisor n - 1
    value <- value + (n[[k]] * object$log_det[, k] - scatter * object$trace_sx[, k] - n[[k]] * p * log(2 * pi)) / 2
  }
  structure(unname(value), df = unname(rowSums(object$edges[, tasks, drop = FALSE])) + p * length(tasks), nobs = sum(n[tasks]), class = "logLik")
}

#' @rdname granary_ggm_multi
#' @export
predict.granary_ggm_multi <- function(object, newdata = NULL, type = c("loglik", "class", "conditional"), which = NULL, task = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("loglik", "class", "conditional"))
  one <- ggm_at(object, which)
  if (!is.null(task)) {
    if (type == "class") abort_input("`task` must be NULL for type = \"class\", which compares all tasks.", "task")
    return(predict(ggm_task(one, task), newdata, type = type))
  }
  if (type == "conditional") abort_input("`task` is needed for type = \"conditional\".", "task")
  if (is.null(newdata)) {
    if (is.null(one$x)) abort_input("`newdata` is needed: the model was fitted to covariance matrices, not to data.", "newdata")
    newdata <- rows_as_given(one, do.call(rbind, one$x))
  }
  values <- lapply(seq_along(one$S), function(k) predict(ggm_task(one, k), newdata, type = "loglik"))
  values <- matrix(unlist(values), ncol = length(values), dimnames = list(NULL, names(one$S)))
  if (type == "loglik") return(values)
  prior <- if (is.null(one$n)) 0 else log(as.double(one$n) / sum(one$n))
  factor(names(one$S)[max.col(sweep(values, 2L, prior, "+"), ties.method = "first")], levels = names(one$S))
}

#' @rdname granary_ggm_multi
#' @export
simulate.granary_ggm_multi <- function(object, nsim = 1, seed = NULL, which = NULL, task = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim, which = which, task = task)))
  one <- ggm_at(object, which)
  if (!is.null(task)) return(simulate(ggm_task(one, task), nsim = nsim))
  tasks <- stats::setNames(names(one$S), names(one$S))
  lapply(tasks, function(k) simulate(ggm_task(one, k), nsim = nsim))
}

#' @rdname granary_ggm_multi
#' @export
tidy.granary_ggm_multi <- function(x, which = NULL, task = NULL, ...) {
  refuse_dots(...)
  one <- ggm_at(x, which)
  tables <- lapply(names(one$S), function(k) {
    edges <- tidy(ggm_task(one, k))
    cbind(edges[c("from", "to")], task = rep(k, nrow(edges)), edges[c("estimate", "precision")])
  })
  table <- do.call(rbind, tables)
  pair <- paste(table$from, table$to, sep = "\r")
  table$tasks <- as.vector(table(pair)[pair])
  if (!is.null(task)) table <- table[table$task == names(one$S)[multi_task(one, task)], ]
  rownames(table) <- NULL
  table
}

#' @export
glance.granary_ggm_multi <- function(x, ...) {
  table <- NextMethod()
  cbind(table["lambda"], lambda1 = x$lambda1, table["edges"], shared = x$shared, table[setdiff(names(table), c("lambda", "edges"))])
}

#' @rdname granary_ggm_multi
#' @export
plot.granary_ggm_multi <- function(x, type = NULL, which = NULL, task = NULL, labels = NULL, layout = NULL, ...) {
  if (is.null(type)) type <- if (is_path(x)) "path" else "network"
  type <- check_choice(type, c("network", "heatmap", "path"))
  if (type == "path") {
    if (!is_path(x)) abort_input("This fit has a single penalty, so there is no path to plot. Use type = \"network\" or \"heatmap\".", "type")
    return(plot_along(x$lambda, x$df, "edges in any task", ...))
  }
  one <- ggm_at(x, which)
  if (type == "heatmap") return(plot_multi_heatmap(one, ...))
  if (!is.null(task)) return(plot(ggm_task(one, task), type = "network", labels = labels, layout = layout, ...))
  layout <- multi_layout(one, layout)
  panels <- length(one$S)
  columns <- ceiling(sqrt(panels))
  old <- graphics::par(mfrow = c(ceiling(panels / columns), columns))
  on.exit(graphics::par(old))
  for (name in names(one$S)) {
    part <- ggm_task(one, name)
    do.call(plot_network, utils::modifyList(list(part, labels, NULL, layout, main = sprintf("%s: %s", name, counted(part$df, "edge", "edges"))), list(...)))
  }
  invisible(layout)
}

# The graph with every edge of any task.
multi_union <- function(one) {
  union <- ggm_task(one, 1L)
  union$precision <- as_sparse(Reduce(`+`, lapply(one$precision, abs)))
  union$df <- count_edges(union$precision)
  union
}

# From the union, so that every panel has its variables in the same places.
multi_layout <- function(one, layout) network_layout(multi_union(one), layout)

# Partial correlations, edges by tasks, the strongest last.
multi_edge_table <- function(one) {
  table <- tidy(one)
  pairs <- unique(paste(table$from, table$to, sep = " - "))
  if (length(pairs) == 0L) abort_input("There are no edges at this penalty, so there is nothing to draw.", "type")
  values <- matrix(0, length(pairs), length(one$S), dimnames = list(pairs, names(one$S)))
  values[cbind(paste(table$from, table$to, sep = " - "), table$task)] <- table$estimate
  values[order(rowMeans(abs(values))), , drop = FALSE]
}

plot_multi_heatmap <- function(one, ...) {
  values <- multi_edge_table(one)
  pairs <- rownames(values)
  limit <- max(abs(values))
  colours <- signed_colours(101L)
  old <- graphics::par(mar = c(5.1, min(16, 1 + 0.45 * max(nchar(pairs))), 2.1, 3.1))
  on.exit(graphics::par(old))
  draw(graphics::image, seq_len(ncol(values)), seq_len(nrow(values)), t(values), col = colours, zlim = c(-limit, limit), axes = FALSE, xlab = "",
       ylab = "", main = "partial correlations", user = list(...))
  graphics::axis(1, seq_len(ncol(values)), colnames(values), las = 2, tick = FALSE)
  if (length(pairs) <= 60L) graphics::axis(2, seq_len(nrow(values)), rownames(values), las = 2, tick = FALSE, cex.axis = 0.7)
  graphics::box(col = "grey60")
  draw_key(c(-limit, limit), colours)
  invisible(values)
}

#' @rdname granary_ggm_multi
#' @usage \method{autoplot}{granary_ggm_multi}(object, type = NULL, which = NULL, layout = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_ggm_multi <- function(object, type = NULL, which = NULL, layout = NULL, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  type <- plot_type(object, type)
  if (type == "path") return(autoplot_line(data.frame(lambda = object$lambda, value = object$df), "edges in any task"))
  one <- ggm_at(object, which)
  if (type == "heatmap") return(autoplot_multi_heatmap(one))
  layout <- multi_layout(one, layout)
  union <- multi_union(one)
  drawing <- autoplot_network(union, layout, room = 0.4)
  edges <- tidy(one)
  position <- data.frame(x = layout[, 1L], y = layout[, 2L], row.names = colnames(union$S))
  edges <- cbind(edges, x = position[edges$from, "x"], y = position[edges$from, "y"], xend = position[edges$to, "x"], yend = position[edges$to, "y"])
  edges$task <- factor(edges$task, levels = names(one$S))
  drawing$layers[[1L]]$data <- edges  # the edges by task in place of those of the union
  drawing + ggplot2::facet_wrap(ggplot2::vars(.data$task), drop = FALSE)
}

autoplot_multi_heatmap <- function(one) {
  values <- multi_edge_table(one)
  table <- data.frame(
    edge = factor(rep(rownames(values), ncol(values)), levels = rownames(values)),
    task = factor(rep(colnames(values), each = nrow(values)), levels = colnames(values)), value = as.vector(values)
  )
  gg_canvas(table, ggplot2::aes(.data$task, .data$edge, fill = .data$value)) + ggplot2::geom_tile() +
    ggplot2::scale_fill_gradient2(low = sign_colours[["negative"]], mid = "white", high = sign_colours[["positive"]]) +
    ggplot2::labs(x = NULL, y = NULL, fill = "partial\ncorrelation")
}
