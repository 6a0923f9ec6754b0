#' Fits on adaptive partitions
#'
#' What fits of [adapt_partition()] can do.
#'
#' @details `predict()` with `tau` gives the fit at another threshold of the path, at the same depth; the partitions are nested. `type =
#' "cell"` gives the row of `cells` that holds each new row. `tidy(type = "path")` lists all partitions of the threshold path: the threshold at which each
#' appears, the constant `kappa` it corresponds to, the number of cells and the sum of squared residuals.
#'
#' `plot()` draws the fitted function over the rows for one column, the cells coloured by their means for two, and with `type = "path"` the sum
#' of squares, or the cross-validated error, against the number of cells.
#'
#' @param object,x A fit.
#' @param newdata New rows, as `x` of [adapt_partition()], or a data frame with the variables of the formula. `NULL` for the rows of the fit.
#' @param tau Another threshold, for fits with `method = "threshold"`.
#' @param type What to return, or to draw.
#' @param newdata,newy Further rows and their responses; with a formula `newdata` is a data frame, and `newy` may be left out.
#' @param refresh Make the table `cells` anew? `FALSE` saves time in a stream of single rows; the table is then absent.
#' @param points For `plot()`: the largest number of rows to draw.
#' @param ... Passed on to plotting functions; not used by other methods.
#' @param data The data frame of the fit; by default the response alone.
#' @return `predict()` a vector; `update()` a fit; `tidy()` (one row per cell, or per partition of the path), `glance()` (one row) and `summary()` data frames;
#'   `augment()` the data with `.fitted`, `.resid` and the row `.cell` of `tidy()` each lies in; `plot()` `NULL`, invisibly; `autoplot()` a
#'   ggplot.
#' @seealso [lasso()], [lasso_select()], [gen_lasso()], [debiased_lasso()], [adapt_partition()], [mta()]
#' @name granary_partition
#' @examples
#' set.seed(1)
#' x <- runif(500)
#' y <- (x > 0.4) + rnorm(500, sd = 0.2)
#' fit <- adapt_partition(x, y)
#' summary(fit)
#' head(tidy(fit, type = "path"))
#' glance(fit)
#' augment(fit)[1:3, ]
#' predict(fit, c(0.1, 0.7), tau = 0.01)
#' fit <- update(fit, newdata = 0.5, newy = 1.2)
#' plot(fit, type = "path")
NULL

partition_titles <- c(threshold = "Adaptive partition by thresholding", cart = "Adaptive partition by dyadic CART", uniform = "Uniform partition")

#' @rdname granary_partition
#' @export
print.granary_adapt_partition <- function(x, ...) {
  short <- function(value) format(value, digits = 4L)
  cli::cat_line(partition_titles[[x$method]], ": ", x$n, " rows, ", counted(length(x$names), "column", "columns"))
  print_call(x$call)
  now <- partition_now(x)
  cli::cat_line(counted(now[["cells"]], "cell", "cells"), " of level at most ", x$j0, " (", x$split, ", ", x$a, " children",
                if (x$cuts == "quantile") ", at quantiles", ")", if (x$degree == 1L) ", a plane in each")
  if (x$method != "uniform") {
    cli::cat_line("tau ", short(x$tau), ", kappa ", short(x$kappa), if (!is.null(x$folds)) " (cross-validated)", ", sigma ", short(x$sigma))
  } else if (!is.null(x$folds)) {
    cli::cat_line("level chosen by cross-validation")
  }
  cli::cat_line("Residual standard deviation ", short(sqrt(now[["sse"]] / x$n)))
  invisible(x)
}

partition_now <- function(fit) {
  if (!is.null(fit$cells)) return(c(cells = fit$n_cells, tree_size = fit$tree_size, sse = fit$sse))
  unlist(core_partition_summary(partition_tree(fit), partition_rule(fit)))
}

#' @rdname granary_partition
#' @export
summary.granary_adapt_partition <- function(object, ...) {
  now <- partition_now(object)
  if (is.null(object$cells)) object <- refresh_cells(object)
  levels <- split(object$cells, object$cells$level)
  table <- data.frame(level = as.integer(names(levels)), cells = vapply(levels, nrow, 0L),
                      empty = vapply(levels, function(cells) sum(cells$n == 0), 0L),
                      rows = vapply(levels, function(cells) sum(cells$n), 0L), row.names = NULL)
  y <- stream_rows(object$stream, object$n)$y
  total <- sum((y - mean(y))^2)
  seal(structure(list(fit = object, levels = table, r_squared = if (total > 0) 1 - now[["sse"]] / total else NA_real_),
            class = "summary_granary_partition"))
}

#' @export
print.summary_granary_partition <- function(x, ...) {
  print(x$fit)
  cli::cat_line("Share of the variance explained: ", format(x$r_squared, digits = 3L))
  print(x$levels, row.names = FALSE)
  invisible(x)
}

# New rows in the form the compiled code takes.
partition_values <- function(fit, newdata, arg = "newdata") {
  if (fit$split == "nested") {
    newdata <- check_categories(newdata)
    if (!all(fit$names %in% names(newdata))) {
      if (length(newdata) != length(fit$names)) abort_input(sprintf("`%s` must have the columns %s.", arg, paste(fit$names, collapse = ", ")), arg)
      names(newdata) <- fit$names
    }
    if (nrow(newdata) == 0L) abort_input(sprintf("`%s` must have at least one row, but it has none.", arg), arg)
    return(nested_digits(fit$hierarchy, newdata[fit$names]))
  }
  if (is_plain_numeric(newdata) && is.null(dim(newdata)) && length(newdata) %% length(fit$names) == 0L) {
    if (length(fit$names) == 1L || length(newdata) == length(fit$names)) newdata <- matrix(newdata, ncol = length(fit$names))
  }
  out <- new_design(newdata, fit$names, fit$design, arg, allow_sparse = FALSE)
  attr(out, "contrasts") <- attr(out, "assign") <- NULL
  out
}

#' @rdname granary_partition
#' @export
predict.granary_adapt_partition <- function(object, newdata = NULL, tau = NULL, type = c("response", "cell"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("response", "cell"))
  tau <- check_number(tau, lower = 0, allow_null = TRUE)
  if (!is.null(tau) && object$method != "threshold") abort_input("`tau` is for fits with method = \"threshold\" only.", "tau")
  values <- if (is.null(newdata)) stream_rows(object$stream, object$n)$x else partition_values(object, newdata)
  rule <- partition_rule(object, tau)
  tree <- partition_tree(object)
  out <- core_partition_predict(tree, row_values(values), rule, progress_bar("prediction"))
  if (out$outside > 0L && !is.null(newdata)) {
    warn_input(sprintf("%s outside the box of the fit, and got the value of the nearest cell.",
                       counted(out$outside, "new row lies", "new rows lie")), "newdata")
  }
  if (type == "response") return(out$value)
  cells <- core_partition_cells(tree, rule, progress_bar("cells"))
  if (object$split == "nested") return(ifelse(out$empty > 0, NA_integer_, match(out$node, cells$node)))
  cell_of(values, cells, out, object)
}

# Cells with rows are told by their node; those without by looking for the box.
cell_of <- function(values, cells, found, fit) {
  filled <- which(cells$n > 0)
  at <- filled[match(found$node, cells$node[filled])]
  at[found$empty > 0] <- NA
  for (i in which(is.na(at))) {
    x <- pmin(pmax(values[i, ], fit$box[1L, ]), fit$box[2L, ])
    lower <- t(cells$lower)
    upper <- t(cells$upper)
    inside <- colSums(x >= lower & (x < upper | (x == upper & upper == fit$box[2L, ]))) == length(x)
    at[i] <- which(inside)[1L]
  }
  at
}

#' @rdname granary_partition
#' @export
fitted.granary_adapt_partition <- function(object, ...) predict(object)

#' @rdname granary_partition
#' @export
residuals.granary_adapt_partition <- function(object, ...) stream_rows(object$stream, object$n)$y - predict(object)

#' @importFrom stats update
#' @rdname granary_partition
#' @export
update.granary_adapt_partition <- function(object, newdata, newy, refresh = TRUE, ...) {
  refuse_dots(...)
  if (missing(newdata)) fail_missing("newdata")
  refresh <- check_flag(refresh)
  if (missing(newy)) {
    if (is.null(object$response) || !is.data.frame(newdata)) fail_missing("newy")
    newy <- tryCatch(eval(object$response, newdata, environment(object$design$terms)),
                      error = function(e) abort_input(paste0("The response could not be found in `newdata`: ", conditionMessage(e), "."), "newdata"))
  }
  x <- partition_values(object, newdata, "newdata")
  y <- unname(check_vector(newy, "newy", length = nrow(x), lower = -1e150, upper = 1e150))
  if (object$split == "nested" && any(x < 0L)) {
    at <- which(x < 0L, arr.ind = TRUE)[1L, ]
    abort_input(sprintf("Row %d of `newdata` has a category of column %s that the first fit has not seen.", at[[1L]],
                        label_of(object$names, at[[2L]])), "newdata")
  }
  if (object$winsorise) y <- pmin(pmax(y, object$range[1L]), object$range[2L])
  if (object$stream$count != object$n) {  # this fit was updated before: go on from its own rows
    rows <- stream_rows(object$stream, object$n)
    object$stream <- new_stream(rows$x, rows$y, build_tree(object, rows))
  }
  tree <- partition_tree(object)
  store_rows(object$stream, x, y)
  outside <- core_partition_insert(tree, row_values(x), y)
  if (outside > 0L) {
    warn_input(sprintf("%s outside the box of the fit, and %s counted in the nearest cell. Give `box` to adapt_partition().",
                       counted(outside, "new row lies", "new rows lie"), if (outside == 1L) "is" else "are"), "newdata")
  }
  object$n <- object$stream$count
  object <- set_depth(object)
  core_partition_deepen(tree, object$j0, NULL)
  if (!object$range_given) object$range <- range(object$range, y)
  object["cells"] <- object["n_cells"] <- object["tree_size"] <- object["sse"] <- object["path"] <- list(NULL)
  if (refresh) {
    object <- refresh_cells(object)
    object$path <- thin_path(object)
  }
  object
}

#' @rdname granary_partition
#' @export
tidy.granary_adapt_partition <- function(x, type = c("cells", "path"), ...) {
  refuse_dots(...)
  if (check_choice(type, c("cells", "path")) == "path") return(partition_path(x))
  if (is.null(x$cells)) x <- refresh_cells(x)
  if (is.null(x$cells$lower)) return(x$cells)
  lower <- as.data.frame(x$cells$lower)
  upper <- as.data.frame(x$cells$upper)
  names(lower) <- paste0(x$names, ".lower")
  names(upper) <- paste0(x$names, ".upper")
  out <- cbind(lower, upper, x$cells[c("level", "n", "mean")])
  for (name in intersect(c("centre", "slope"), names(x$cells))) out[paste0(x$names, ".", name)] <- as.data.frame(x$cells[[name]])
  out
}

# All partitions of the threshold path; of the others those that were looked at.
partition_path <- function(object) {
  if (object$method == "threshold") return(full_path(object))
  if (is.null(object$path)) thin_path(object) else object$path
}

#' @rdname granary_partition
#' @export
glance.granary_adapt_partition <- function(x, ...) {
  refuse_dots(...)
  now <- partition_now(x)
  y <- stream_rows(x$stream, x$n)$y
  total <- sum((y - mean(y))^2)
  data.frame(n_cells = now[["cells"]], tau = if (is.null(x$tau)) NA_real_ else x$tau, j0 = x$j0, sigma = sqrt(now[["sse"]] / x$n),
             r.squared = if (total > 0) 1 - now[["sse"]] / total else NA_real_, nobs = x$n)
}

#' @rdname granary_partition
#' @export
augment.granary_adapt_partition <- function(x, data = NULL, ...) {
  refuse_dots(...)
  out <- augment_rows(data, stream_rows(x$stream, x$n)$y, predict(x))
  out$.cell <- predict(x, type = "cell")
  out
}

# The fit at the two ends of every cell of one column.
cell_ends <- function(fit) {
  cells <- fit$cells[order(fit$cells$lower[, 1L]), ]
  at <- function(x) {
    if (is.null(cells$slope)) return(cells$mean)
    pmin(pmax(cells$mean + cells$slope[, 1L] * (x - cells$centre[, 1L]), fit$range[1L]), fit$range[2L])
  }
  data.frame(from = cells$lower[, 1L], to = cells$upper[, 1L], left = at(cells$lower[, 1L]), right = at(cells$upper[, 1L]))
}

partition_plot_type <- function(fit, type) {
  d <- if (fit$split == "nested") 0L else length(fit$names)
  if (is.null(type)) return(if (d %in% 1:2) "fit" else "path")
  type <- check_choice(type, c("fit", "path"))
  if (type == "fit" && !d %in% 1:2) abort_input("`type` must be \"path\" unless the fit has one or two numeric columns.", "type")
  type
}

path_table <- function(fit) {
  table <- if (is.null(fit$path)) thin_path(fit) else fit$path
  table$value <- if (is.null(table$cv)) table$sse / fit$n else table$cv
  table
}

rows_shown <- function(fit, points) {
  points <- check_count(points, "points", lower = 0)
  rows <- stream_rows(fit$stream, fit$n)
  at <- if (fit$n > points) round(seq(1, fit$n, length.out = points)) else seq_len(fit$n)
  list(x = rows$x[at, , drop = FALSE], y = rows$y[at])
}

#' @rdname granary_partition
#' @export
plot.granary_adapt_partition <- function(x, type = NULL, points = 2000, ...) {
  type <- partition_plot_type(x, type)
  if (type == "path") {
    table <- path_table(x)
    label <- if (is.null(table$cv)) "mean squared residual" else "cross-validated error"
    draw(graphics::plot, table$n_cells, table$value, log = "x", type = "s", las = 1, xlab = "cells", ylab = label,
         col = sign_colours[["positive"]], user = list(...))
    graphics::abline(v = partition_now(x)[["cells"]], lty = 3)
    return(invisible())
  }
  if (is.null(x$cells)) x <- refresh_cells(x)
  shown <- rows_shown(x, points)
  if (length(x$names) == 1L) {
    ends <- cell_ends(x)
    limits <- range(ends$left, ends$right, shown$y)
    draw(graphics::plot, shown$x[, 1L], shown$y, pch = 19, cex = 0.4, col = "grey70", las = 1, xlim = x$box[, 1L], ylim = limits, xlab = x$names,
         ylab = "response", user = list(...))
    graphics::segments(ends$from, ends$left, ends$to, ends$right, lwd = 2, col = sign_colours[["positive"]])
    inner <- seq_len(nrow(ends) - 1L)
    graphics::segments(ends$to[inner], ends$right[inner], ends$to[inner], ends$left[inner + 1L], lwd = 1, col = sign_colours[["positive"]])
    return(invisible())
  }
  shades <- signed_colours(64L)  # large means blue
  span <- range(x$cells$mean)
  shade <- if (diff(span) > 0) 1 + floor(63.999 * (x$cells$mean - span[1L]) / diff(span)) else rep(32, nrow(x$cells))
  draw(graphics::plot, NA, xlim = x$box[, 1L], ylim = x$box[, 2L], xlab = x$names[1L], ylab = x$names[2L], las = 1, xaxs = "i", yaxs = "i",
       user = list(...))
  graphics::rect(x$cells$lower[, 1L], x$cells$lower[, 2L], x$cells$upper[, 1L], x$cells$upper[, 2L], col = shades[shade], border = "white", lwd = 0.3)
  graphics::legend("top", inset = c(0, -0.12), horiz = TRUE, bty = "n", xpd = NA, fill = shades[c(1L, 32L, 64L)], border = NA,
                   legend = format(c(span[1L], mean(span), span[2L]), digits = 3L), title = "mean")
  invisible()
}

#' @rdname granary_partition
#' @usage \method{autoplot}{granary_adapt_partition}(object, type = NULL, points = 2000, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_adapt_partition <- function(object, type = NULL, points = 2000, ...) {  # nolint: object_name_linter, object_length_linter.
  check_installed("ggplot2", "autoplot()")
  type <- partition_plot_type(object, type)
  if (type == "path") {
    table <- path_table(object)
    return(gg_canvas(table, ggplot2::aes(x = .data$n_cells, y = .data$value)) + ggplot2::geom_step(colour = sign_colours[["positive"]]) +
             ggplot2::scale_x_continuous(trans = "log10") + ggplot2::geom_vline(xintercept = partition_now(object)[["cells"]], linetype = 3) +
             ggplot2::labs(x = "cells", y = if (is.null(table$cv)) "mean squared residual" else "cross-validated error"))
  }
  if (is.null(object$cells)) object <- refresh_cells(object)
  cells <- tidy(object)
  names(cells)[seq_len(2L * length(object$names))] <- if (length(object$names) == 1L) c("xmin", "xmax") else c("xmin", "ymin", "xmax", "ymax")
  if (length(object$names) == 1L) {
    shown <- rows_shown(object, points)
    rows <- data.frame(x = shown$x[, 1L], y = shown$y)
    return(gg_canvas(cell_ends(object)) + ggplot2::geom_point(ggplot2::aes(x = .data$x, y = .data$y), rows, colour = "grey70", size = 0.5) +
             ggplot2::geom_segment(ggplot2::aes(x = .data$from, xend = .data$to, y = .data$left, yend = .data$right),
                                   colour = sign_colours[["positive"]]) +
             ggplot2::labs(x = object$names, y = "response"))
  }
  gg_canvas(cells) +
    ggplot2::geom_rect(ggplot2::aes(xmin = .data$xmin, xmax = .data$xmax, ymin = .data$ymin, ymax = .data$ymax, fill = .data$mean),
                       colour = "white") +
    ggplot2::scale_fill_gradient2(low = sign_colours[["negative"]], mid = "grey95", high = sign_colours[["positive"]], midpoint = mean(range(cells$mean))) +
    ggplot2::labs(x = object$names[1L], y = object$names[2L])
}
