# Methods of cv_error().

#' @export
print.granary_cv_error <- function(x, ...) {
  cli::cat_line("Cross-validated ", loss_label_of(x), " of \"", x$learner, "\"")
  print_call(x$call)
  cli::cat_line(x$n, " rows; ", scheme_words(x$folds), "; trained on ", range_words(x$folds$table$train), " rows")
  cli::cat_line("Estimate ", format(x$estimate, digits = 4L),
                if (!is.na(x$std.error)) paste0(", standard error ", format(x$std.error, digits = 3L), " (",
                                                method_words[[x$method]], ")"))
  if (!is.na(x$std.error)) {
    interval <- confint.granary_cv_error(x)
    cli::cat_line("95% interval ", format(interval[1L], digits = 4L), " to ", format(interval[2L], digits = 4L),
                  ", for fits to that many rows on average")
  }
  if (length(x$chosen) > 0L) {
    cli::cat_line("Chosen inside, by row of the grid: ",
                  paste(names(table(x$chosen)), table(x$chosen), sep = " x", collapse = ", "))
  }
  invisible(x)
}

method_words <- c(exact = "exact", moment = "moment approximation", nadeau_bengio = "Nadeau-Bengio",
                  conservative = "conservative", naive = "naive, too small", none = "none")

loss_label_of <- function(x) if (x$loss == "function") "loss" else loss_words[[x$loss]]

#' @export
summary.granary_cv_error <- function(object, ...) {
  seal(structure(list(fit = object, interval = interval_table(object, 0.95)), class = "summary_granary_cv_error"))
}

#' @export
print.summary_granary_cv_error <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  print(x$interval, digits = 4L, row.names = FALSE)
  invisible(x)
}

# Variances with intervals, one row per method.
interval_table <- function(x, level) {
  table <- x$variance
  half <- stats::qt(0.5 + level / 2, pmax(table$df, 1)) * table$std.error
  low <- table$estimate - half
  if (x$loss != "function") low <- pmax(low, 0)  # no loss of ours is below 0
  cbind(table, conf.low = low, conf.high = table$estimate + half)
}

#' @rdname cv_error
#' @export
confint.granary_cv_error <- function(object, parm, level = 0.95, method = NULL, ...) {
  refuse_dots(...)
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  method <- if (is.null(method)) object$method else check_choice(method, c("exact", "moment", "nadeau_bengio", "naive"))
  row <- match(method, object$variance$method)
  if (is.na(row)) abort_input(sprintf("There is no variance by method \"%s\" here.", method), "method")
  table <- interval_table(object, level)
  ends <- 0.5 + c(-0.5, 0.5) * level
  matrix(c(table$conf.low[row], table$conf.high[row]), 1L,
         dimnames = list("error", paste0(format(100 * ends, digits = 3L, trim = TRUE), " %")))
}

#' @export
coef.granary_cv_error <- function(object, ...) c(error = object$estimate)

#' @export
vcov.granary_cv_error <- function(object, ...) matrix(object$std.error^2, 1L, 1L, dimnames = list("error", "error"))

#' @export
tidy.granary_cv_error <- function(x, level = 0.95, ...) {
  refuse_dots(...)
  interval_table(x, check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE))
}

#' @export
glance.granary_cv_error <- function(x, ...) {
  data.frame(estimate = x$estimate, std.error = x$std.error, method = x$method, loss = x$loss,
             splits = length(x$split_mean), n = x$n)
}

#' @export
predict.granary_cv_error <- function(object, ...) {
  not_for(object, "predict()", "it fits many models and keeps none; the out-of-fold predictions are in `prediction`")
}

#' @export
fitted.granary_cv_error <- function(object, ...) {
  rows <- object$prediction
  if (anyDuplicated(rows$row) > 0L || nrow(rows) != object$n) {
    not_for(object, "fitted()", "rows were tested more than once, or never")
  }
  rows$prediction[order(rows$row)]
}

#' @export
residuals.granary_cv_error <- function(object, ...) {
  if (!is.null(object$levels)) not_for(object, "residuals()", "its response is no number")
  object$problem$y - fitted.granary_cv_error(object)
}

#' @export
augment.granary_cv_error <- function(x, data = NULL, ...) {
  if (is.null(data)) return(x$prediction)
  if (!is.data.frame(data) || nrow(data) != x$n) {
    fail_input("data", sprintf("a data frame with the %d rows of the fit", x$n), describe(data))
  }
  cbind(data[x$prediction$row, , drop = FALSE], x$prediction[setdiff(names(x$prediction), c("y", names(data)))])
}

#' @rdname cv_error
#' @export
plot.granary_cv_error <- function(x, type = c("splits", "methods"), ...) {
  type <- check_choice(type, c("splits", "methods"))
  if (type == "methods") return(invisible(plot_methods(x, ...)))
  table <- split_points(x)
  draw(graphics::plot, table$split, table$loss, xlab = "test set", ylab = loss_label_of(x), pch = 16, col = "#0072B2",
       bty = "l",
       ylim = range(table$loss, x$estimate + c(-2, 2) * c(x$std.error[!is.na(x$std.error)], 0)[1L]), user = list(...))
  if (!is.na(x$std.error)) {
    interval <- confint.granary_cv_error(x)
    graphics::rect(graphics::par("usr")[1L], interval[1L], graphics::par("usr")[2L], interval[2L], col = "#0072B222",
                   border = NA)
  }
  graphics::abline(h = x$estimate, col = "#0072B2")
  invisible(x)
}

split_points <- function(x) data.frame(split = seq_along(x$split_mean), loss = x$split_mean)

plot_methods <- function(x, ...) {
  table <- interval_table(x, 0.95)
  table <- table[!is.na(table$variance), ]
  if (nrow(table) == 0L) abort_input("There is no standard error to draw: one split has none.", "x")
  at <- rev(seq_len(nrow(table)))
  old <- graphics::par(mar = c(4.1, 10, 1.1, 1.1))
  on.exit(graphics::par(old))
  draw(graphics::plot, table$estimate, at, xlim = range(table$conf.low, table$conf.high),
       ylim = c(0.5, nrow(table) + 0.5), yaxt = "n",
       ylab = "", xlab = paste0(loss_label_of(x), " with 95% interval"), pch = 16, col = "#0072B2", bty = "n",
       user = list(...))
  graphics::segments(table$conf.low, at, table$conf.high, at, col = "#0072B2", lwd = 2)
  graphics::axis(2L, at, method_words[table$method], las = 1L, tick = FALSE)
  x
}

#' @rdname cv_error
#' @usage \method{autoplot}{granary_cv_error}(object, type = c("splits", "methods"), ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_cv_error <- function(object, type = c("splits", "methods"), ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  type <- check_choice(type, c("splits", "methods"))
  if (type == "methods") {
    table <- interval_table(object, 0.95)
    table$method <- factor(method_words[table$method], rev(method_words[table$method]))
    return(gg_canvas(table, ggplot2::aes(.data$estimate, .data$method)) +
           ggplot2::geom_point(colour = "#0072B2", size = 2) +
             ggplot2::geom_segment(ggplot2::aes(x = .data$conf.low, xend = .data$conf.high, yend = .data$method),
                                   colour = "#0072B2") +
             ggplot2::labs(x = paste0(loss_label_of(object), " with 95% interval"), y = NULL))
  }
  picture <- gg_canvas(split_points(object), ggplot2::aes(.data$split, .data$loss)) +
    ggplot2::geom_hline(yintercept = object$estimate, colour = "#0072B2") + ggplot2::geom_point(colour = "#0072B2") +
    ggplot2::labs(x = "test set", y = loss_label_of(object))
  if (is.na(object$std.error)) return(picture)
  interval <- confint.granary_cv_error(object)
  picture + ggplot2::annotate("rect", xmin = -Inf, xmax = Inf, ymin = interval[1L], ymax = interval[2L],
                              fill = "#0072B2", alpha = 0.12)
}
