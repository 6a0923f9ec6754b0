# Methods of cur() and column_select().

#' @rdname cur
#' @export
print.granary_cur <- function(x, ...) {
  cli::cat_line("granary: a ", x$dims[1L], " x ", x$dims[2L], " matrix by ",
                counted(length(x$cols), "column", "columns"), " and ", counted(length(x$rows), "row", "rows"))
  print_call(x$call)
  print_chosen("columns: ", x$cols)
  print_chosen("rows:    ", x$rows)
  print_errors(x)
  invisible(x)
}

print_chosen <- function(label, at) {
  shown <- if (is.null(names(at))) at else names(at)
  cli::cat_line(label, paste(utils::head(shown, 10L), collapse = " "),
                if (length(shown) > 10L) sprintf(" and %d more", length(shown) - 10L))
}

print_errors <- function(x) {
  share <- function(e) format(e / x$norm, digits = 3L)
  cli::cat_line("error:   ", share(x$error), " of the norm; the best of rank ", x$k,
                if (x$exact_svd) " has " else " has at most ", share(x$best_error), ", ratio ",
                format(x$err_ratio, digits = 4L), if (is.finite(x$bound)) paste0(" (in expectation at most ",
                                                                                 format(x$bound, digits = 4L), ")"))
}

#' @rdname cur
#' @param object A fit.
#' @export
summary.granary_cur <- function(object, ...) {
  seal(structure(
    list(title = sprintf("granary: CUR decomposition by method \"%s\"", object$method), call = object$call,
         table = errors_table(object)),
    class = "summary_granary_cur"
  ))
}

errors_table <- function(object) {
  data.frame(what = c("matrix", sprintf("best of rank %d", object$k), if (!is.null(object$rows)) "columns alone",
                      "this approximation"), norm = c(object$norm, object$best_error,
                                                      if (!is.null(object$rows)) object$column_error, object$error),
             share = c(1, c(object$best_error, if (!is.null(object$rows)) object$column_error, object$error) /
                       object$norm))
}

#' @export
print.summary_granary_cur <- function(x, ...) {
  cli::cat_line(x$title)
  print_call(x$call)
  cli::cat_line()
  print(x$table, digits = 4L, row.names = FALSE)
  invisible(x)
}

#' @rdname cur
#' @export
fitted.granary_cur <- function(object, ...) {
  refuse_dots(...)
  if (prod(object$dims) > 5e7) {
    abort_input(
      sprintf("The fitted matrix would be %.0f x %.0f, %.1f GB: multiply the rows of `C` you need by `U` and `R`.",
              object$dims[1L], object$dims[2L], 8 * prod(object$dims) / 2^30), "object")
  }
  as.matrix(object$C %*% object$U %*% object$R)
}

#' @rdname cur
#' @export
as.matrix.granary_cur <- function(x, ...) fitted.granary_cur(x, ...)

#' @rdname cur
#' @param newdata New rows: with all columns of `x`, or only those chosen, in their order.
#' @param type `"response"` for all columns of the new rows, `"latent"` for their coefficients on the rows chosen.
#' @export
predict.granary_cur <- function(object, newdata = NULL, type = c("response", "latent"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("response", "latent"))
  if (is.null(newdata) && type == "response") return(fitted.granary_cur(object))
  known <- if (is.null(newdata)) object$C else known_columns(newdata, object$cols, object$dims[2L])
  latent <- as.matrix(known %*% object$U)
  if (type == "latent") latent else as.matrix(latent %*% object$R)
}

# The chosen columns of new rows.
known_columns <- function(newdata, cols, total) {
  if (is_plain_numeric(newdata) && is.null(dim(newdata)) && length(newdata) %in% c(length(cols), total)) {
    newdata <- matrix(newdata, 1L)
  }
  if (is.data.frame(newdata) && !is.null(names(cols)) && all(names(cols) %in% names(newdata))) {
    newdata <- newdata[unique(names(cols))]
  }
  newdata <- check_matrix(newdata, "newdata", allow_sparse = TRUE)
  if (!is.null(names(cols)) && !is.null(colnames(newdata)) && all(names(cols) %in% colnames(newdata))) {
    return(newdata[, names(cols), drop = FALSE])
  }
  if (ncol(newdata) == total) return(newdata[, cols, drop = FALSE])
  if (ncol(newdata) != length(cols)) {
    abort_input(sprintf("`newdata` must have all %.0f columns or the %d chosen ones, but it has %d.", total,
                        length(cols), ncol(newdata)), "newdata")
  }
  newdata
}

#' @rdname cur
#' @export
tidy.granary_cur <- function(x, ...) {
  refuse_dots(...)
  rbind(chosen_table(x$cols, x$col_scores, "column"), if (!is.null(x$rows)) chosen_table(x$rows, x$row_scores, "row"))
}

chosen_table <- function(at, scores, what) {
  data.frame(what = what, order = seq_along(at), index = unname(at),
             name = if (is.null(names(at))) as.character(at) else names(at), score = unname(scores[at]))
}

#' @rdname cur
#' @export
glance.granary_cur <- function(x, ...) {
  refuse_dots(...)
  data.frame(k = x$k, c = length(x$cols), r = length(x$rows), error = x$error, best_error = x$best_error,
             err_ratio = x$err_ratio, bound = x$bound, share = x$error / x$norm, nobs = x$n)
}

#' @rdname cur
#' @export
plot.granary_cur <- function(x, ...) {
  sides <- score_sides(x)
  if (length(sides) > 1L) {
    old <- graphics::par(mfrow = c(length(sides), 1L), mar = c(4.1, 4.1, 1.6, 0.6))
    on.exit(graphics::par(old))
  }
  for (side in sides) {
    marked <- side$chosen
    draw(graphics::plot, seq_along(side$scores), side$scores, type = "h", col = "grey60", ylim = c(0, max(side$scores)),
         xlab = side$label, ylab = side$score, user = list(...))
    graphics::points(marked, side$scores[marked], pch = 16, col = sign_colours[["positive"]])
  }
  invisible()
}

score_sides <- function(x) {
  score <- if (x$method == "norm2") "squared length" else if (x$method == "uniform") "weight" else "leverage score"
  sides <- list(list(scores = unname(x$col_scores), chosen = unname(x$cols), label = "column", score = score))
  if (!is.null(x$rows)) {
    sides <- c(sides, list(list(scores = unname(x$row_scores), chosen = unname(x$rows), label = "row", score = score)))
  }
  sides
}

#' @rdname cur
#' @usage \method{autoplot}{granary_cur}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_cur <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  table <- do.call(rbind, lapply(score_sides(object), function(side) {
    data.frame(position = seq_along(side$scores), score = side$scores, side = paste0(side$label, "s"),
               chosen = seq_along(side$scores) %in% side$chosen)
  }))
  gg_canvas(table, ggplot2::aes(x = .data$position, y = .data$score)) +
    ggplot2::geom_segment(ggplot2::aes(xend = .data$position, yend = 0), colour = "grey60") +
    ggplot2::geom_point(data = table[table$chosen, ], colour = sign_colours[["positive"]]) +
      ggplot2::facet_wrap("side", ncol = 1L, scales = "free") +
    ggplot2::labs(x = NULL, y = score_sides(object)[[1L]]$score)
}
