# What theory and simulation have in common: `t`, `test` and `train`, and for simulations their standard errors `test_se` and `train_se`.

#' Draw learning curves, theory against simulation
#'
#' Curves of theory ([sgd_curve()], [committee_curve()], [sgd_exact()], [sgd_data()]) are drawn as lines, those of simulations
#' ([sim_sgd()], [sim_committee()]) as points with bars of two
#' standard errors: the test error solid and filled, the training error dashed and open. Any number of them go into one picture.
#'
#' @param x A learning curve.
#' @param ... Further learning curves to draw into the same picture, and graphical parameters.
#' @param type Which error to draw.
#' @return `plot()` returns nothing; `tidy()` a data frame with one row per time.
#' @seealso [sgd_curve()], [sgd_exact()], [sgd_optimize()], [sgd_bounds()], [committee_curve()], [sgd_data()]
#' @name granary_learning_curve
#' @examples
#' theory <- sgd_curve(alpha = 2, eta = 1, lambda = 0.1, t = seq(0, 10, 0.25))
#' set.seed(1)
#' run <- sim_sgd(N = 50, alpha = 2, eta = 1, lambda = 0.1, t = 0:10, n_rep = 5)
#' plot(theory, run, main = "theory and five runs")
#' head(tidy(run))
NULL

#' @rdname granary_learning_curve
#' @export
plot.granary_learning_curve <- function(x, ..., type = c("both", "test", "train")) {
  type <- check_choice(type, c("both", "test", "train"))
  extra <- list(...)
  is_curve <- vapply(extra, inherits, NA, "granary_learning_curve")
  draw_learning_curves(c(list(x), extra[is_curve]), type, extra[!is_curve])
}

draw_learning_curves <- function(curves, what, user) {
  shown <- if (what == "both") c("test", "train") else what
  has <- vapply(shown, function(name) any(lengths(lapply(curves, `[[`, name)) > 0L), NA)
  if (!any(has)) abort_input("`type` must be an error that one of the curves has.", "type")
  shown <- shown[has]
  # A curve that diverges would flatten the others: what is far above the start is cut off.
  start <- max(unlist(lapply(curves, function(curve) vapply(curve[shown], function(y) if (length(y) > 0L) y[1L] else 0, 0))))
  values <- unlist(lapply(curves, function(curve) curve[shown]))
  top <- min(max(values[is.finite(values)], 0), 3 * start)
  if (!is.finite(top) || top <= 0) top <- 1
  times <- range(unlist(lapply(curves, `[[`, "t")))
  draw(graphics::plot, NULL, xlim = times, ylim = c(0, 1.05 * top), xlab = "time (updates per weight)", ylab = "error", user = user)
  # Theory and simulation of one setting share a colour.
  defining <- c("alpha", "eta", "lambda", "sigma2", "L", "M", "noise", "activation")
  setting <- vapply(curves, function(curve) paste(format(unlist(curve$settings[defining])), is_offline(curve$settings), collapse = " "), "")
  setting <- match(setting, unique(setting))
  colours <- grDevices::hcl.colors(max(3L, setting), "Dark 3")[setting]
  simulated <- vapply(curves, function(curve) !is.null(curve$n_rep), NA)
  for (i in seq_along(curves)) {
    for (name in shown) draw_learning_curve(curves[[i]], name, colours[i])
  }
  both <- length(shown) == 2L
  graphics::legend("topright", legend = c(vapply(curves, curve_label, ""), if (both) c("test", "train")), bty = "n", cex = 0.8,
                   col = c(colours, if (both) c("black", "black")), lty = c(ifelse(simulated, 0, 1), if (both) 1:2),
                   pch = c(ifelse(simulated, 19, NA), if (both) c(19, 1)))
  invisible()
}

draw_learning_curve <- function(curve, name, colour) {
  y <- curve[[name]]
  if (length(y) == 0L) return(invisible())
  y[!is.finite(y)] <- NA
  se <- curve[[paste0(name, "_se")]]
  if (is.null(se)) {
    graphics::lines(curve$t, y, col = colour, lty = if (name == "test") 1 else 2, lwd = 2)
    return(invisible())
  }
  some <- unique(round(seq(1, length(curve$t), length.out = min(25L, length(curve$t)))))
  graphics::segments(curve$t[some], (y - 2 * se)[some], curve$t[some], (y + 2 * se)[some], col = "grey50")
  graphics::points(curve$t[some], y[some], pch = if (name == "test") 19 else 1, col = colour, cex = 0.7)
}

curve_label <- function(curve) {
  s <- curve$settings
  paste0(if (!is.null(curve$n_rep)) paste0(curve$n_rep, " runs, N = ", s$N, ", "), "alpha = ", format(s$alpha, digits = 3L), ", eta = ",
         format(s$eta, digits = 3L), if (length(s$lambda) > 0L && s$lambda > 0) paste0(", lambda = ", format(s$lambda, digits = 3L)),
         if (is_offline(s)) ", offline")
}

is_offline <- function(settings) identical(settings$method, "offline") || identical(settings$order, "full")

#' @rdname granary_learning_curve
#' @export
tidy.granary_learning_curve <- function(x, ...) {
  parts <- unclass(x)[intersect(c("t", "test", "test_se", "train", "train_se", "bias", "variance", "noise"), names(x))]
  as.data.frame(parts[lengths(parts) > 0L])
}

# Mean and standard error over the columns; a diverged run makes the mean infinite, and one run has no standard error.
replicate_summary <- function(values) {
  if (nrow(values) == 0L) return(NULL)
  mean <- rowMeans(values)
  se <- if (ncol(values) > 1L) sqrt(rowSums((values - mean)^2) / (ncol(values) - 1) / ncol(values)) else rep(NA_real_, nrow(values))
  se[!is.finite(se)] <- NA
  list(mean = mean, se = se)
}

print_curve_points <- function(x) {
  last <- length(x$t)
  line <- function(label, y) {
    if (length(y) == 0L || all(is.na(y))) return(invisible())
    best <- which.min(y)
    cli::cat_line(label, " error ", format(y[1L], digits = 4L), " -> ", format(y[last], digits = 4L),
                  if (length(best) > 0L && best < last) paste0(", smallest ", format(y[best], digits = 4L), " at t = ",
                                                               format(x$t[best], digits = 4L)))
  }
  line("test", x$test)
  line("training", x$train)
}
