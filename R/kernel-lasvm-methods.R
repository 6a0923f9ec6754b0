#' What an online support vector machine can do
#'
#' Methods of fits of [lasvm()]: go on learning, finish, certify, look at it. `predict()`, `tidy()`, `glance()` and `online_compare()` are
#' those of every [granary_online_classifier].
#'
#' @details
#' `update()` visits more rows from where the fit stands, in the order given; where the fit was made without finishing and without shuffling, the
#' result is that of one call with all rows. `update(finish = TRUE)` maximises the dual over the rows held. A fit is a value: what `update(finish = TRUE)` returns can be looked
#' at and thrown away, and the fit before it goes on learning.
#'
#' `lasvm_bounds()` compares the primal value over all rows given, \eqn{P = \frac12 a'Ka + \sum_i C_i \max(0, 1 - y_i f(x_i))}{
#' P = 1/2 a'Ka + sum_i C_i max(0, 1 - y_i f(x_i))}, with the dual \eqn{W}: the optimum is between them, whichever rows were visited. `violation` is
#' the largest \eqn{g_i - g_j} of all rows that could move, zero at the optimum.
#'
#' @section Which method when:
#' `update()` for rows that come later, `update(finish = TRUE)` before predictions that shall be those of [svm()], `lasvm_bounds()` for how far from it a
#' machine can be; [lasvm_suggest()] for which rows to label.
#'
#' @param object,x A fit of [lasvm()].
#' @param newdata A matrix, data frame or sparse matrix; for `update()` also data in pieces, see [data_chunks()].
#' @param newy Labels of `newdata`.
#' @param shuffle Whether to visit the new rows in random order.
#' @param finish Whether to finish afterwards.
#' @param type `"trace"`: support vectors and \eqn{\delta}{delta} against visits; `"boundary"`: two columns of the inputs, decision values and
#'   support vectors; `"curve"`: error on the validation rows and support vectors against labels; `"error"`: share of mistakes made before
#'   learning.
#' @param columns For `"boundary"`: two columns, by name or number; others are held at their mean over the support vectors.
#' @param compare For `"curve"`: a named list of other fits, such as one that chose rows at random.
#' @param points For `"boundary"`: a list with `x` and `y`, rows to show.
#' @param ... For `plot()` passed on to [graphics::plot()]; otherwise not used.
#' @return `update()` and `update(finish = TRUE)` a fit; `lasvm_bounds()` a data frame with one row per machine: `primal`, `dual`, `gap`, `violation`.
#' @seealso [lasvm()], [lasvm_suggest()], [data_chunks()], [budget_perceptron()], [kernel_perceptron()], [sasb()]
#' @name granary_lasvm
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(600), 300)
#' y <- factor(x[, 1] * x[, 2] > 0, labels = c("no", "yes"))
#' fit <- lasvm(x[1:150, ], y[1:150], finish = FALSE, shuffle = FALSE)
#' now <- update(fit, finish = TRUE)
#' head(coef(now), 3)
#' lasvm_bounds(now, x, y)
#' fit <- update(fit, x[151:300, ], y[151:300])
#' lasvm_bounds(update(fit, finish = TRUE), x, y)
#' plot(fit)
#'
#' # labels chosen by the machine against random ones
#' test <- list(x = x, y = y)
#' active <- lasvm(x, y, select = "active", max_labels = 60, validation = test, snapshots = 6)
#' random <- lasvm(x, y, max_labels = 60, validation = test, snapshots = 6)
#' plot(active, "curve", compare = list(random = random))
NULL

#' @rdname granary_lasvm
#' @export
update.granary_lasvm <- function(object, newdata, newy = NULL, shuffle = FALSE, finish = FALSE, ...) {
  refuse_dots(...)
  finish <- check_flag(finish)
  if (missing(newdata)) {
    if (!finish) abort_input("`newdata` must be given, or finish = TRUE to finish the machine with the rows it has.", "newdata")
    return(finish_lasvm(object))
  }
  fit <- update.granary_online_classifier(object, newdata, newy, shuffle)
  if (finish) finish_lasvm(fit) else lasvm_refresh(fit)
}

#' @rdname granary_lasvm
#' @importFrom stats coef
#' @export
coef.granary_lasvm <- function(object, ...) {
  out <- object$coefficients
  if (is.matrix(out)) rownames(out) <- object$sv_index else names(out) <- object$sv_index
  out
}

#' @rdname granary_lasvm
#' @export
lasvm_bounds <- function(object, newdata, newy, ...) {
  refuse_dots(...)
  if (missing(object)) fail_missing("object")
  if (!inherits(object, "granary_lasvm")) fail_input("object", "a fit of lasvm()", describe(object))
  check_fit(object)
  if (missing(newdata)) fail_missing("newdata")
  if (missing(newy)) fail_missing("newy")
  fit <- object
  scores <- as.matrix(predict(fit, newdata, "link"))
  codes <- label_codes(newy, fit$levels, "newy")
  if (length(codes) != nrow(scores)) {
    abort_input(sprintf("`newy` must have one label per row, %d, but it has %d.", nrow(scores), length(codes)), "newy")
  }
  if (anyNA(codes)) abort_input("`newy` must have no missing labels here.", "newy")
  state <- fit$state
  cost <- lasvm_cost(fit)[codes]
  positive <- if (ncol(scores) == 1L) matrix(codes == 2L) else outer(codes, seq_along(fit$levels), "==")
  sign <- ifelse(positive, 1, -1)
  quadratic <- colSums(state$alpha * state$f)
  loss <- 1 - sign * scores
  loss[loss < 0] <- 0
  primal <- 0.5 * quadratic + colSums(cost * loss)
  alpha <- matrix(0, nrow(scores), ncol(scores))
  at <- match(state$id, seq_len(nrow(scores)))
  alpha[at[!is.na(at)], ] <- state$alpha[!is.na(at), ]
  violation <- vapply(seq_len(ncol(scores)), function(c) {
    g <- sign[, c] - scores[, c] + fit$b[c]
    grow <- g[alpha[, c] < pmax(0, cost * sign[, c])]
    shrink <- g[alpha[, c] > pmin(0, cost * sign[, c])]
    if (!fit$settings$bias) return(max(0, grow, -shrink))
    if (length(grow) == 0L || length(shrink) == 0L) 0 else max(grow) - min(shrink)
  }, 0)
  data.frame(machine = if (ncol(scores) == 1L) fit$levels[2L] else fit$levels, primal = primal, dual = state$objective,
             gap = primal - state$objective, violation = violation)
}

#' @export
online_facts.granary_lasvm <- function(fit) {
  settings <- fit$settings
  number <- function(x) format(x, big.mark = ",", digits = 6L, scientific = FALSE)
  c(kernel = lasvm_kernel_text(fit),
    cost = format(settings$cost), "support vectors" = sprintf("%s, %s of them at the bound", number(fit$n_sv), number(fit$n_bounded)),
    selection = settings$select, "labels used" = number(length(fit$labels_used)), "objective W" = format(fit$objective, digits = 7L),
    delta = paste0(format(fit$delta, digits = 3L), if (isTRUE(fit$finished)) " (finished)" else " (not finished: see update(finish = TRUE))"),
    "duality gap" = lasvm_gap_text(fit),
    "kernel values" = number(fit$n_kernel), "cache hits" = sprintf("%.1f%%", 100 * fit$cache_hit_rate))
}

# How far from the optimum, and over which rows.
lasvm_gap_text <- function(fit) {
  convergence <- fit$convergence
  if (!isTRUE(is.finite(convergence$gap))) return(if (fit$finished) convergence$message)
  used <- length(fit$labels_used)
  paste0(format(convergence$gap, digits = 3L), sprintf(", %s%% of W", format(100 * convergence$gap / max(abs(fit$objective), 1e-300), digits = 2L)),
         sprintf(", over %s%s rows", if (fit$state$checked < used) "" else "all ", format(fit$state$checked, big.mark = ",")),
         if (nzchar(convergence$message)) paste0("\n", strrep(" ", 17L), convergence$message))
}

lasvm_kernel_text <- function(fit) {
  settings <- fit$settings
  if (settings$precomputed) return("given as a matrix")
  if (is.null(fit$state$kernel)) return("not set yet: no data")
  named <- is.character(settings$kernel) && settings$kernel %in% machine_kernels
  if (!named) return(paste(format(fit$state$kernel), collapse = " "))
  gamma <- if (is.null(settings$gamma)) 1 / length(fit$columns) else settings$gamma
  paste(c(settings$kernel, if (settings$kernel != "linear") paste("gamma", format(gamma, digits = 4L)),
          if (settings$kernel == "polynomial") paste("degree", settings$degree),
          if (settings$kernel %in% c("polynomial", "sigmoid")) paste("coef0", format(settings$coef0))), collapse = ", ")
}

#' @rdname granary_lasvm
#' @export
plot.granary_lasvm <- function(x, type = c("trace", "boundary", "curve", "error"), columns = 1:2, compare = NULL, points = NULL, ...) {
  type <- check_choice(type, c("trace", "boundary", "curve", "error"))
  check_lasvm_rows(points, "points")
  if (!is.null(compare) && (!is.list(compare) || is.object(compare))) fail_input("compare", "a list of fits of lasvm() (or NULL)", describe(compare))
  switch(type, trace = plot_lasvm_trace(x, ...), boundary = plot_lasvm_boundary(x, columns, points, ...),
         curve = plot_lasvm_curve(x, compare, ...), error = plot_online(list(x), "error", ...))
  invisible(x)
}

plot_lasvm_trace <- function(fit, ...) {
  if (is.null(fit$trace) || nrow(fit$trace) == 0L) abort_input("There is nothing to plot: no row has been visited yet.", "x")
  old <- graphics::par(mfrow = c(2L, 1L), mar = c(4.2, 5, 1, 1), mgp = c(3.2, 0.8, 0))
  on.exit(graphics::par(old))
  draw(graphics::plot, fit$trace$iter, fit$trace$n_sv, type = "s", lwd = 2, xlab = "visits", ylab = "support vectors", las = 1, user = list(...))
  positive <- fit$trace$delta > 0
  draw(graphics::plot, fit$trace$iter[positive], fit$trace$delta[positive], type = "l", log = "y", xlab = "visits", ylab = "delta", las = 1,
       user = list(...))
}

lasvm_two_columns <- function(fit, columns) {
  if (fit$settings$precomputed) abort_input("The boundary cannot be drawn for a kernel matrix: there are no inputs.", "type")
  if (ncol(fit$sv) < 2L) abort_input("The boundary needs inputs with two columns or more.", "type")
  at <- if (is.character(columns)) match(columns, fit$columns) else if (is_plain_numeric(columns)) match(columns, seq_along(fit$columns)) else NA
  if (length(at) != 2L || anyNA(at) || at[1L] == at[2L]) {
    fail_input("columns", "two different columns of the fit, by name or number", describe(columns))
  }
  at
}

plot_lasvm_boundary <- function(fit, columns, points, ...) {
  at <- lasvm_two_columns(fit, columns)
  if (fit$n_sv == 0L) abort_input("There is nothing to plot: the machine has no support vectors yet.", "x")
  sv <- online_unscaled(fit, as.matrix(fit$sv))
  shown <- if (is.null(points)) sv else as.matrix(online_columns(fit, points$x, "points$x"))
  span <- function(v) range(v) + c(-0.1, 0.1) * max(diff(range(v)), 1e-8)
  a <- seq(span(shown[, at[1L]])[1L], span(shown[, at[1L]])[2L], length.out = 80L)
  b <- seq(span(shown[, at[2L]])[1L], span(shown[, at[2L]])[2L], length.out = 80L)
  grid <- matrix(colMeans(sv), length(a) * length(b), ncol(sv), byrow = TRUE)
  grid[, at] <- as.matrix(expand.grid(a, b))
  scores <- online_scores(fit, online_scaled(fit, grid))
  colours <- grDevices::hcl.colors(length(fit$levels), "Dark 3")
  class <- matrix(as.integer(classes_of(scores, fit$levels)), length(a))
  draw(graphics::image, a, b, class, col = grDevices::adjustcolor(colours, 0.25), zlim = c(0.5, length(fit$levels) + 0.5),
       xlab = fit$columns[at[1L]], ylab = fit$columns[at[2L]], las = 1, user = list(...))
  if (!is.matrix(scores)) {
    graphics::contour(a, b, matrix(scores, length(a)), levels = c(-1, 0, 1), lty = c(2, 1, 2), lwd = c(1, 2, 1), drawlabels = FALSE, add = TRUE)
  }
  if (!is.null(points)) {
    graphics::points(shown[, at[1L]], shown[, at[2L]], col = colours[label_codes(points$y, fit$levels, "points$y")], pch = 16, cex = 0.5)
  }
  own <- fit$state$label[match(fit$sv_index, fit$state$id)]
  graphics::points(sv[, at[1L]], sv[, at[2L]], col = colours[own], pch = 1)
  graphics::legend("bottom", utils::head(fit$levels, 8L), col = colours, pch = 1, bty = "n", cex = 0.8, horiz = TRUE, inset = c(0, 1), xpd = NA)
}

plot_lasvm_curve <- function(fit, compare, ...) {
  fits <- c(list(fit), compare)
  for (other in fits) {
    if (!inherits(other, "granary_lasvm")) fail_input("compare", "a list of fits of lasvm()", describe(compare))
    check_fit(other)
    if (is.null(other$curve)) abort_input("A fit has no learning curve: give `validation` to lasvm().", "x")
  }
  labels <- c(fit$settings$select, if (length(compare) > 0L) if (is.null(names(compare))) paste("fit", 1L + seq_along(compare)) else names(compare))
  colours <- grDevices::hcl.colors(max(2L, length(fits)), "Dark 3")
  old <- graphics::par(mfrow = c(2L, 1L), mar = c(4.2, 5, 1, 1), mgp = c(3.2, 0.8, 0))
  on.exit(graphics::par(old))
  for (what in c("error", "n_sv")) {
    most <- max(vapply(fits, function(f) max(f$curve[[what]]), 0))
    draw(graphics::plot, NA, xlim = c(0, max(vapply(fits, function(f) max(f$curve$labels), 0))), ylim = c(0, max(most, 1e-3)), xlab = "labels used",
         ylab = if (what == "error") "validation error" else "support vectors", las = 1, user = list(...))
    for (k in seq_along(fits)) graphics::lines(fits[[k]]$curve$labels, fits[[k]]$curve[[what]], col = colours[k], lwd = 2)
    if (what == "error" && length(fits) > 1L) graphics::legend("topright", labels, col = colours, lwd = 2, bty = "n")
  }
}
