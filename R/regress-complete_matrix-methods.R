#' Methods for matrix completions
#'
#' @param x,object A fit of [complete_matrix()] or [complete_matrix_baseline()].
#' @param lambda One of the penalties of the fit; by default the last, which is the smallest.
#' @param newdata Cells to predict: a data frame or matrix with columns `i` and `j`, rows and columns as positions or names; `NULL` for all cells, as a
#'   matrix.
#' @param type For `predict()`: the model's values, those with the observed cells put back (`"completed"`), or \eqn{W}{W} before the link and the
#'   centre
#'   (`"link"`). For `plot()`: rank and objective along the path, or the singular values at `lambda`.
#' @param truth For `assess()`: cells and their true values, in any form [complete_matrix()] takes.
#' @param bound Range that normalises the mean absolute error; by default the fit's, else that of the observed values.
#' @param ... For `plot()`, passed on to [graphics::plot()]; for `update()`, new arguments of [complete_matrix()]; not used otherwise.
#' @return `coef()` a list with `u`, `d` and `v`; `predict()` a vector or a matrix; `fitted()` and `residuals()` vectors in the order of the
#'   observed values;
#'   `as.matrix()` the matrix of predictions; `update()` a fit started from this one; `tidy()` one row per penalty; `assess()` a
#'   data frame with the root mean squared error, the normalised mean absolute error, the share of predictions (before clipping) outside the
#'   bounds and the
#'   prediction of largest magnitude, per penalty.
#' @seealso [complete_matrix()], [complete_matrix_select()], [complete_matrix_baseline()]
#' @name granary_trace_completion
#' @examples
#' set.seed(1)
#' sim <- sim_complete_matrix(40, 30, rank = 2, n_obs = 500, noise = 0.1)
#' fit <- complete_matrix(sim$x, n_lambda = 8)
#' str(coef(fit))
#' predict(fit, data.frame(i = 1:3, j = c(2, 2, 5)))
#' dim(predict(fit, type = "completed"))
#' dim(as.matrix(fit))
#' head(residuals(fit))
#' head(fitted(fit))
#' tidy(fit)
#' summary(fit)
#' plot(fit, type = "values")
#' finer <- update(fit, lambda = min(fit$lambda) / 2)
#' assess(finer, truth = sim$test)
#' if (requireNamespace("ggplot2", quietly = TRUE)) ggplot2::autoplot(fit)
NULL

completion_at <- function(object, lambda) {
  if (is.null(lambda)) return(length(object$lambda))
  lambda <- check_number(lambda, "lambda", lower = 0)
  at <- which.min(abs(object$lambda - lambda))
  if (abs(object$lambda[at] - lambda) > 1e-6 * max(lambda, object$lambda[at])) {
    abort_input(sprintf("`lambda` must be one of the penalties of the fit; the nearest to %g is %g.\nUse update() to fit another.", lambda,
                        object$lambda[at]), "lambda")
  }
  at
}

#' @rdname granary_trace_completion
#' @export
print.granary_trace_completion <- function(x, ...) {
  cli::cat_line("Matrix completion: ", x$dim[1L], " x ", x$dim[2L], ", ", format(x$observed, big.mark = ","), " observed cells (",
                format(100 * x$observed / prod(as.double(x$dim)), digits = 3L), "%), model \"", x$model, "\"",
                if (!is.null(x$bound)) sprintf(" in [%g, %g]", x$bound[1L], x$bound[2L]))
  print_call(x$call)
  table <- as.data.frame(tidy(x))
  if (nrow(table) > 6L) table <- table[unique(round(seq(1, nrow(table), length.out = 6L))), ]
  print(format(table, digits = 4L), row.names = FALSE)
  if (nrow(tidy(x)) > nrow(table)) cli::cat_line("... ", nrow(tidy(x)), " penalties in all; tidy() has every one")
  cli::cat_line("Solver: ", x$solver, ", ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname granary_trace_completion
#' @export
tidy.granary_trace_completion <- function(x, ...) {
  refuse_dots(...)
  root <- sqrt(x$loss / (if (x$scale == "mean") 1 else x$observations))
  if (x$standardize != "none") {  # the loss is in other units than the values
    root <- vapply(seq_along(x$lambda), function(at) sqrt(mean((x$cells$original - predict_cells(x, at, x$cells$i, x$cells$j, "unclipped"))^2)), 0)
  }
  data.frame(lambda = x$lambda, rank = x$rank, trace_norm = x$trace_norm, rmse = root, objective = x$objective, gap = x$gap, certified = x$certified)
}

#' @rdname granary_trace_completion
#' @export
summary.granary_trace_completion <- function(object, lambda = NULL, ...) {
  at <- completion_at(object, lambda)
  seen <- predict_cells(object, at, object$cells$i, object$cells$j, "unclipped")
  outside <- if (!is.null(object$bound)) mean(seen < object$bound[1L] | seen > object$bound[2L]) else NA_real_
  seal(structure(
    list(fit = object, lambda = object$lambda[at], d = object$d[[at]], outside = outside, largest = seen[which.max(abs(seen))],
         residuals = stats::quantile(object$cells$original - predict_cells(object, at, object$cells$i, object$cells$j, "response"))),
    class = "summary_granary_trace_completion"
  ))
}

#' @export
print.summary_granary_trace_completion <- function(x, ...) {
  print(x$fit)
  cli::cat_line("At lambda = ", format(x$lambda, digits = 4L), ":")
  cli::cat_line("  singular values ", paste(format(utils::head(x$d, 8L), digits = 3L), collapse = " "), if (length(x$d) > 8L) " ...")
  cli::cat_line("  residuals (0, 25, 50, 75, 100%) ", paste(format(x$residuals, digits = 3L), collapse = " "))
  cli::cat_line("  largest fitted value ", format(x$largest, digits = 4L),
                if (!is.na(x$outside)) sprintf(", %.2f%% of fitted values outside the bounds before clipping", 100 * x$outside))
  invisible(x)
}

#' @rdname granary_trace_completion
#' @export
coef.granary_trace_completion <- function(object, lambda = NULL, ...) {
  refuse_dots(...)
  at <- completion_at(object, lambda)
  list(u = object$u[[at]], d = object$d[[at]], v = object$v[[at]])
}

# Values at cells, positions from zero. Kinds: "link", "unclipped", "response".
predict_cells <- function(object, at, i, j, kind) {
  w <- numeric(length(i))
  block <- 1e5
  for (from in seq(1, by = block, length.out = ceiling(length(i) / block))) {  # blocks, so that memory does not grow with cells times rank
    part <- from:min(length(i), from + block - 1)
    left <- object$u[[at]][i[part] + 1L, , drop = FALSE]
    right <- object$v[[at]][j[part] + 1L, , drop = FALSE]
    w[part] <- drop((left * right) %*% object$d[[at]])
  }
  finish_prediction(object, w, kind, object$row[i + 1L] + object$col[j + 1L], object$row_scale[i + 1L] * object$col_scale[j + 1L])
}

finish_prediction <- function(object, w, kind, centre, scale) {
  if (kind == "link") return(w)
  if (object$model == "bounded") {
    lo <- object$bound[1L]
    return(lo + (object$bound[2L] - lo) * stats::plogis(pmin(pmax(w, -30), 30)))
  }
  w <- w * scale + centre
  if (kind == "response" && object$model %in% c("clipped", "maxabs")) w <- pmin(pmax(w, object$bound[1L]), object$bound[2L])
  w
}

cell_positions <- function(at, size, names, arg) {
  if (is.factor(at)) at <- as.character(at)
  if (is.character(at)) {
    found <- match(at, names)
    if (anyNA(found)) abort_input(sprintf("`%s` names \"%s\", which the fit does not have.", arg, at[which(is.na(found))[1L]]), arg)
    return(found - 1L)
  }
  at <- check_vector(at, arg, min_length = 0L, lower = 1, upper = size)
  if (any(at != round(at))) abort_input(sprintf("`%s` must hold whole numbers or names.", arg), arg)
  as.integer(at) - 1L
}

#' @rdname granary_trace_completion
#' @export
predict.granary_trace_completion <- function(object, newdata = NULL, lambda = NULL, type = c("response", "completed", "link"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("response", "completed", "link"))
  at <- completion_at(object, lambda)
  cells <- object$cells
  if (!is.null(newdata)) {
    asked <- asked_cells(newdata)
    i <- cell_positions(asked$i, cells$rows, cells$row_names, "newdata$i")
    j <- cell_positions(asked$j, cells$cols, cells$col_names, "newdata$j")
    value <- predict_cells(object, at, i, j, if (type == "completed") "response" else type)
    if (type == "completed") {
      seen <- match(i + as.double(cells$rows) * j, cells$i + as.double(cells$rows) * cells$j)
      value[!is.na(seen)] <- observed_means(cells)[seen[!is.na(seen)]]
    }
    return(value)
  }
  if (prod(as.double(object$dim)) > 2^28) {
    abort_input("The whole matrix is too large to be held; ask for cells with `newdata`.", "newdata")
  }
  w <- object$u[[at]] %*% (object$d[[at]] * t(object$v[[at]]))
  dimnames(w) <- if (!is.null(cells$row_names) || !is.null(cells$col_names)) list(cells$row_names, cells$col_names)
  w[] <- finish_prediction(object, as.vector(w), if (type == "completed") "response" else type, outer(object$row, object$col, `+`),
                           outer(object$row_scale, object$col_scale))
  if (type == "completed") w[cbind(cells$i + 1L, cells$j + 1L)] <- observed_means(cells)
  w
}

# Columns i and j of a data frame; a matrix without names has them as its two columns.
asked_cells <- function(newdata) {
  if (is.matrix(newdata)) newdata <- stats::setNames(as.data.frame(newdata), if (is.null(colnames(newdata))) c("i", "j")[seq_len(ncol(newdata))] else colnames(newdata))
  if (!is.data.frame(newdata) || !all(c("i", "j") %in% names(newdata))) {
    fail_input("newdata", "a data frame with columns `i` and `j`, the cells to predict", describe(newdata))
  }
  newdata[c("i", "j")]
}

# The mean of all values of each observation's cell.
observed_means <- function(cells) {
  key <- cells$i + as.double(cells$rows) * cells$j
  if (!anyDuplicated(key)) return(cells$original)
  stats::ave(cells$original, key)
}

#' @rdname granary_trace_completion
#' @export
as.matrix.granary_trace_completion <- function(x, lambda = NULL, ...) predict(x, lambda = lambda)

#' @rdname granary_trace_completion
#' @importFrom stats fitted
#' @export
fitted.granary_trace_completion <- function(object, lambda = NULL, ...) {
  refuse_dots(...)
  predict_cells(object, completion_at(object, lambda), object$cells$i, object$cells$j, "response")
}

#' @rdname granary_trace_completion
#' @importFrom stats residuals
#' @export
residuals.granary_trace_completion <- function(object, lambda = NULL, ...) {
  refuse_dots(...)
  object$cells$original - predict_cells(object, completion_at(object, lambda), object$cells$i, object$cells$j, "response")
}

#' @rdname granary_trace_completion
#' @importFrom stats update
#' @export
update.granary_trace_completion <- function(object, ...) {
  new <- list(...)
  if (object$solver %in% c("mean", "hard")) abort_input("A baseline has no penalty to update; call complete_matrix_baseline() again.", "object")
  if (length(new) > 0L && (is.null(names(new)) || any(!nzchar(names(new))))) abort_input("`...` must be named arguments of complete_matrix().", "...")
  unknown <- setdiff(names(new), names(formals(complete_matrix)))
  if (length(unknown) > 0L) abort_input(sprintf("complete_matrix() has no argument \"%s\".", unknown[1L]), "...")
  cells <- object$cells
  settings <- object$settings
  old <- list(
    x = refit_frame(object,
                    seq_along(cells$i)), dims = object$dim, bound = object$bound, model = object$model, center = object$center,
    standardize = object$standardize, scale = object$scale,
    repeats = if (cells$weighted) "weight" else "mean", tol = settings$tol, max_iter = settings$max_iter,
    solver = if (object$model %in% c("bounded", "maxabs")) "auto" else object$solver, rank = if (settings$rank > 0L) settings$rank,
    start = if (object$model != "maxabs") object,
    control = list(anderson = settings$anderson, corrective = settings$corrective, step = if (settings$step > 0) settings$step,
                   epochs = settings$epochs)
  )
  if (!any(c("lambda", "trace_norm", "n_lambda") %in% names(new))) {
    if (object$constrained) old$trace_norm <- object$trace_norm else old$lambda <- object$lambda
  }
  if ("x" %in% names(new)) old["dims"] <- list(NULL)
  old[names(new)] <- new  # list(...) keeps a NULL, and so does this
  fit <- do.call(complete_matrix, old, quote = TRUE)
  fit$call <- shorten_call(match.call())
  if (!("x" %in% names(new))) fit <- with_names(fit, cells)
  fit
}

# Some of the observed values as a data frame of cells.
refit_frame <- function(object, which) {
  cells <- object$cells
  data.frame(i = cells$i[which] + 1L, j = cells$j[which] + 1L, value = cells$original[which])
}

with_names <- function(fit, cells) {
  fit$cells$row_names <- cells$row_names
  fit$cells$col_names <- cells$col_names
  fit$u <- lapply(fit$u, label_rows, cells$row_names)
  fit$v <- lapply(fit$v, label_rows, cells$col_names)
  fit
}

#' @rdname granary_trace_completion
#' @export
assess.granary_trace_completion <- function(object, truth, bound = NULL, lambda = NULL, ...) {
  refuse_dots(...)
  cells <- test_cells(object, truth)
  if (is.null(bound)) bound <- if (is.null(object$bound)) range(object$cells$original) else object$bound
  bound <- check_vector(bound, "bound", length = 2L)
  positions <- if (is.null(lambda)) seq_along(object$lambda) else completion_at(object, lambda)
  rows <- lapply(positions, function(at) {
    raw <- predict_cells(object, at, cells$i, cells$j, "unclipped")
    error <- predict_cells(object, at, cells$i, cells$j, "response") - cells$value
    data.frame(lambda = object$lambda[at], rmse = sqrt(mean(error^2)), nmae = mean(abs(error)) / max(diff(bound), .Machine$double.xmin),
               outside = mean(raw < bound[1L] | raw > bound[2L]), largest = raw[which.max(abs(raw))])
  })
  do.call(rbind, rows)
}

# Cells to compare with, which must lie within the matrix of the fit.
test_cells <- function(object, test, arg = "truth") {
  if (missing(test)) fail_missing(arg)
  labelled <- function(at) is.character(at) || is.factor(at)
  if (is.data.frame(test) && all(c("i", "j") %in% names(test)) && (labelled(test$i) || labelled(test$j))) {
    test$i <- cell_positions(test$i, object$dim[1L], object$cells$row_names, paste0(arg, "$i")) + 1L
    test$j <- cell_positions(test$j, object$dim[2L], object$cells$col_names, paste0(arg, "$j")) + 1L
  }
  cells <- completion_cells(test, "weight", if (is.data.frame(test) && all(c("i", "j", "value") %in% names(test))) object$dim, arg)
  if (cells$rows != object$dim[1L] || cells$cols != object$dim[2L]) {
    abort_input(sprintf("`%s` must be cells of the %d x %d matrix of the fit, but it is %d x %d.", arg, object$dim[1L], object$dim[2L], cells$rows,
                        cells$cols), arg)
  }
  cells
}

#' @rdname granary_trace_completion
#' @export
plot.granary_trace_completion <- function(x, type = c("path", "values"), lambda = NULL, ...) {
  type <- check_choice(type, c("path", "values"))
  if (type == "values") {
    d <- x$d[[completion_at(x, lambda)]]
    draw(graphics::plot, seq_along(d), d, type = "h", lwd = 3, col = "#2166ac", xlab = "component", ylab = "singular value", ylim = c(0, max(d,
                                                            1e-300)),
         user = list(...))
    return(invisible(d))
  }
  table <- tidy(x)
  draw(graphics::plot, table$trace_norm, table$rmse, type = "b", pch = 19, col = "#b2182b", xlab = "trace norm",
       ylab = "root mean squared error on observed cells",
       user = list(...))
  graphics::text(table$trace_norm, table$rmse, table$rank, pos = 3, cex = 0.8, col = "grey30", xpd = NA)
  invisible(table)
}

#' @rdname granary_trace_completion
#' @usage \method{autoplot}{granary_trace_completion}(object, type = c("path", "values"), lambda = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_trace_completion <- function(object, type = c("path", "values"), lambda = NULL, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  type <- check_choice(type, c("path", "values"))
  if (type == "values") {
    d <- object$d[[completion_at(object, lambda)]]
    return(gg_canvas(data.frame(component = seq_along(d), value = d), ggplot2::aes(.data$component, .data$value)) +
             ggplot2::geom_col(fill = "#2166ac", width = 0.5) + ggplot2::labs(y = "singular value"))
  }
  gg_canvas(tidy(object), ggplot2::aes(.data$trace_norm, .data$rmse)) + ggplot2::geom_line(colour = "#b2182b") +
    ggplot2::geom_point(colour = "#b2182b") + ggplot2::geom_text(ggplot2::aes(label = .data$rank), hjust = -0.5, size = 3, colour = "grey30") +
    ggplot2::labs(x = "trace norm", y = "root mean squared error on observed cells")
}
