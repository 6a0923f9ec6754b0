# Methods of ensembles that are trained together, and of what they are compared with.

#' @rdname nc_ensemble
#' @param object,x A fit; for `nc_ensemble()` the data.
#' @param newdata Rows to predict for, in the columns of the fit; without it the rows it was made from.
#' @param type `"response"`: the answer of the ensemble; `"members"`: a matrix with one column per member.
#' @export
predict.granary_nc_ensemble <- function(object, newdata = NULL, type = c("response", "members"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("response", "members"))
  if (is.null(newdata)) return(if (type == "members") object$members else object$fitted)
  x <- new_design(newdata, object$columns, object$design, "newdata", allow_sparse = FALSE)
  rows <- rownames(x)
  x <- unname_design(x)
  storage.mode(x) <- "double"
  members <- if (identical(object$method, "mean")) matrix(object$members[1L], nrow(x), 1L)
             else if (!is.null(object$trees)) core_tree_members(x, object$trees, 1L, progress_bar("ensemble"))
             else core_nc_members(x, object$model, progress_bar("ensemble"))
  dimnames(members) <- list(rows, colnames(object$members))
  if (type == "members") members else nc_combine(members, object$vote)
}

nc_learner_words <- function(settings) {
  unit <- settings$size
  switch(settings$learner,
    mlp = paste("networks of", counted(unit, "sigmoid", "sigmoids")),
    rbf = paste("sums of", counted(unit, "bump", "bumps")),
    tree = sprintf("trees of at most %d leaves", settings$max_leaves),
    paste("sums of", unit, switch(settings$basis, fourier = "fixed waves", rbf = "fixed bumps",
                                  if (unit == 1L) "column" else "columns"))
  )
}

#' @export
print.granary_nc_ensemble <- function(x, ...) {
  refuse_dots(...)
  how <- x$method
  titles <- c(independent = "Regression ensemble, members on their own", joint = "Regression ensemble as one model",
              bagging = "Bagging", boosting = "AdaBoost.R2", mean = "The mean of the response")
  cli::cat_line(if (is.null(how)) "Regression ensemble trained together" else titles[[how]],
                if (!identical(how, "mean")) paste0(": ", ncol(x$members), " ", nc_learner_words(x$settings)))
  print_call(x$call)
  cli::cat_line(counted(x$n, "row", "rows"), ", ", counted(length(x$columns), "column", "columns"),
                if (length(x$held) > 0L) paste0("; ", counted(length(x$held), "row", "rows"), " held out"))
  if (is.null(x$vote) && ncol(x$members) > 1L && is.null(how)) {
    cli::cat_line("Strength lambda = ", format(x$lambda, digits = 4L),
                  if (!is.null(x$gamma)) paste0(" (gamma = ", format(x$gamma, digits = 4L), ")"),
                  if (x$settings$penalty != "mean") paste0(", penalty \"", x$settings$penalty, "\""),
                  "; it can be 1 at most")
  }
  for (i in seq_len(nrow(x$parts))) {
    part <- x$parts[i, ]
    cli::cat_line("Mean squared error, rows ", part$rows, ": ", format(part$mse, digits = 4L),
                  if (ncol(x$members) > 1L) paste0(" = ", format(part$members, digits = 4L), " of the members less ",
                                                   format(part$ambiguity, digits = 4L),
                                                   if (is.null(x$vote)) " of ambiguity" else " by their median"))
  }
  if (!identical(how, "mean")) cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @export
summary.granary_nc_ensemble <- function(object, ...) {
  refuse_dots(...)
  found <- core_ambiguity(unname_design(object$members), object$y, numeric(), NULL)
  off <- found$correlation[upper.tri(found$correlation)]
  seal(structure(list(fit = object, parts = object$parts, members = tidy.granary_nc_ensemble(object),
                      correlation = if (any(is.finite(off))) range(off[is.finite(off)])),
                 class = "summary_granary_nc_ensemble"))
}

#' @export
print.summary_granary_nc_ensemble <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  cli::cat_line("Error of the ensemble = mean error of its members - ambiguity:")
  print(format(x$parts, digits = 4L), row.names = FALSE)
  cli::cat_line()
  cli::cat_line("Members (mean squared error, mean squared distance from the ensemble):")
  print(format(utils::head(x$members, 10L), digits = 4L), row.names = FALSE)
  if (nrow(x$members) > 10L) cli::cat_line("... and ", nrow(x$members) - 10L, " more")
  if (!is.null(x$correlation)) {
    cli::cat_line(sprintf("Correlations of their errors: %.2f to %.2f", x$correlation[1L], x$correlation[2L]))
  }
  invisible(x)
}

#' @export
tidy.granary_nc_ensemble <- function(x, ...) {
  found <- core_ambiguity(unname_design(x$members), x$y, numeric(), NULL)
  out <- data.frame(term = colnames(x$members), mse = found$by_member_error, ambiguity = found$by_member_ambiguity)
  if (!is.null(x$vote)) out$vote <- x$vote
  out
}

#' @export
glance.granary_nc_ensemble <- function(x, ...) {
  held <- x$parts[x$parts$rows == "held out", ]
  spread <- mean((x$y - mean(x$y))^2)
  data.frame(n = x$n, n_members = ncol(x$members),
             size = if (is.null(x$settings$size)) NA_integer_ else x$settings$size, lambda = x$lambda,
             gamma = if (is.null(x$gamma)) NA_real_ else x$gamma, mse = mean(x$residuals^2),
             r.squared = if (spread > 0) 1 - mean(x$residuals^2) / spread else NA_real_,
             mse.held = if (nrow(held) > 0L) held$mse else NA_real_, converged = isTRUE(x$convergence$converged))
}

#' @export
coef.granary_nc_ensemble <- function(object, ...) {
  if (is.null(object$coefficients)) not_for(object, "coef()", "it has no weights")
  object$coefficients
}

nc_colours <- c(train = "#0072B2", held = "#D55E00", ambiguity = "#009E73", grey = "grey60")

#' @rdname nc_ensemble
#' @param what `"trace"`: errors by epoch; `"members"`: answers of members and ensemble, along the column where there is
#'   one and against the response otherwise; `"parts"`: the error of the ensemble beside the mean error of its members.
#'   By default the first that there is.
#' @export
plot.granary_nc_ensemble <- function(x, what = NULL, ...) {
  what <- nc_plot_what(x, what)
  old <- graphics::par(mar = c(4.1, 4.1, 1.1, 1.1))
  on.exit(graphics::par(old))
  switch(what, trace = plot_nc_trace(x, ...), members = plot_nc_members(x, ...), plot_nc_parts(x, ...))
  invisible(x)
}

nc_plot_what <- function(x, what) {
  if (is.null(what)) return(if (!is.null(x$trace)) "trace" else "members")
  what <- check_choice(what, c("trace", "members", "parts"))
  if (what == "trace" && is.null(x$trace)) {
    abort_input(
      "There is no course of training to draw: the weights were found exactly. Use what = \"members\" or \"parts\".",
      "what")
  }
  what
}

plot_nc_trace <- function(x, ...) {
  trace <- x$trace
  values <- c(trace$train, trace$valid)
  values <- values[is.finite(values) & values > 0]
  shown <- range(values)
  many <- length(unique(trace$member)) > 1L
  draw(graphics::plot, range(trace$epoch), shown, type = "n", log = if (shown[2L] / shown[1L] > 20) "y" else "",
       bty = "n", las = 1L, xlab = "epoch", ylab = "mean squared error", main = "", user = list(...))
  for (member in unique(trace$member)) {
    own <- trace[trace$member == member, ]
    graphics::lines(own$epoch, own$train, col = nc_colours[["train"]], lwd = if (many) 1 else 2)
    graphics::lines(own$epoch, own$valid, col = nc_colours[["held"]], lwd = if (many) 1 else 2)
  }
  held <- any(!is.na(trace$valid))
  graphics::legend("topright", c("rows trained on", if (held) "rows held out"),
                   col = nc_colours[c("train", if (held) "held")], lwd = 2, bty = "n",
                   title = if (many) "each member by itself")
}

# Response and answers along a column, or against each other.
nc_member_points <- function(x) {
  if (!is.null(x$abscissa)) return(list(at = x$abscissa, along = TRUE, label = x$columns))
  list(at = x$y, along = FALSE, label = "response")
}

plot_nc_members <- function(x, ...) {
  where <- nc_member_points(x)
  order <- order(where$at)
  draw(graphics::matplot, where$at[order], x$members[order, , drop = FALSE], type = if (where$along) "l" else "p",
       pch = 16L, cex = 0.4, lty = 1L, col = "grey75", bty = "n", las = 1L, xlab = where$label,
       ylab = if (where$along) "response" else "prediction", main = "", user = list(...))
  if (where$along) {
    graphics::points(where$at, x$y, pch = 16, cex = 0.6)
    graphics::lines(where$at[order], x$fitted[order], col = nc_colours[["train"]], lwd = 2)
  } else {
    graphics::points(where$at, x$fitted, pch = 16, cex = 0.7, col = nc_colours[["train"]])
    graphics::abline(0, 1, col = "grey40", lty = 3L)
  }
  graphics::legend("topleft", c("members", "ensemble"), col = c("grey75", nc_colours[["train"]]),
                   lty = if (where$along) 1L else NA, pch = if (where$along) NA else 16L,
                   lwd = if (where$along) c(1, 2) else NA, bty = "n")
}

plot_nc_parts <- function(x, ...) {
  parts <- x$parts
  height <- t(as.matrix(parts[c("mse", "ambiguity")]))
  colnames(height) <- parts$rows
  draw(graphics::barplot, height, col = nc_colours[c("train", "ambiguity")], border = NA, las = 1L,
       ylab = "mean squared error of the members", main = "", ylim = c(0, 1.25 * max(colSums(pmax(height, 0)))),
       user = list(...))
  graphics::legend("topright", c("taken away by the mean: ambiguity", "left to the ensemble"),
                   fill = nc_colours[c("ambiguity", "train")], border = NA, bty = "n")
}

#' @rdname nc_ensemble
#' @usage \method{autoplot}{granary_nc_ensemble}(object, what = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_nc_ensemble <- function(object, what = NULL, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  switch(nc_plot_what(object, what), trace = gg_nc_trace(object), members = gg_nc_members(object), gg_nc_parts(object))
}

gg_nc_trace <- function(object) {
  trace <- object$trace
  table <- data.frame(epoch = trace$epoch, member = trace$member, mse = c(trace$train, trace$valid),
                      rows = rep(c("trained on", "held out"), each = nrow(trace)))
  table <- table[is.finite(table$mse), ]
  picture <- gg_canvas(table, ggplot2::aes(.data$epoch, .data$mse, colour = .data$rows,
                                           group = interaction(.data$rows, .data$member))) + ggplot2::geom_line() +
    ggplot2::scale_colour_manual(values = c("trained on" = nc_colours[["train"]], "held out" = nc_colours[["held"]])) +
      ggplot2::labs(x = "epoch", y = "mean squared error", colour = "rows")
  if (max(table$mse) > 20 * min(table$mse) && min(table$mse) > 0) picture + ggplot2::scale_y_log10() else picture
}

gg_nc_members <- function(object) {
  where <- nc_member_points(object)
  m <- ncol(object$members)
  table <- data.frame(at = rep(where$at, m), value = as.vector(object$members),
                      member = rep(seq_len(m), each = object$n))
  all <- data.frame(at = where$at, value = unname(object$fitted), y = object$y)
  picture <- gg_canvas(table, ggplot2::aes(.data$at, .data$value)) +
    ggplot2::labs(x = where$label, y = if (where$along) "response" else "prediction")
  if (where$along) {
    return(picture + ggplot2::geom_line(ggplot2::aes(group = .data$member), colour = "grey75") +
           ggplot2::geom_point(ggplot2::aes(y = .data$y), all, size = 0.8) +
           ggplot2::geom_line(data = all, colour = nc_colours[["train"]], linewidth = 1))
  }
  picture + ggplot2::geom_point(colour = "grey75", size = 0.5) +
    ggplot2::geom_point(data = all, colour = nc_colours[["train"]], size = 1) +
    ggplot2::geom_abline(linetype = 3L, colour = "grey40")
}

gg_nc_parts <- function(object) {
  parts <- object$parts
  table <- data.frame(rows = factor(parts$rows, parts$rows), value = c(parts$ambiguity, parts$mse),
                      what = factor(rep(c("ambiguity", "ensemble"), each = nrow(parts)), c("ambiguity", "ensemble")))
  gg_canvas(table, ggplot2::aes(.data$rows, .data$value, fill = .data$what)) + ggplot2::geom_col() +
    ggplot2::scale_fill_manual(values = c(ambiguity = nc_colours[["ambiguity"]], ensemble = nc_colours[["train"]])) +
    ggplot2::labs(x = NULL, y = "mean squared error of the members", fill = NULL)
}
