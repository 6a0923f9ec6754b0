#' Probabilities from scores of systems
#'
#' Turns the scores of systems into the probability that they are right, for each system and field, from spans for which
#' the truth is known.
#'
#' @details
#' The curves are learnt from spans that the systems made for documents they had not seen. `"isotonic"` is the rising
#' step function nearest to the outcomes, joined by lines, `"logistic"` a sigmoid (Platt), `"bins"` the shares of right
#' spans in bins of equal size, joined by lines; `"none"` takes the scores for probabilities. A curve of n spans is
#' mixed with the system's mean accuracy with the weight n : `shrink`. A field with fewer than `least` spans of a system
#' takes the curve of all its fields. A missing score has the mean accuracy.
#'
#' @section Which method when:
#' `"isotonic"` with a few hundred spans of each system, `"logistic"` with fewer. [span_stack()] calibrates by itself;
#' [span_vote()] takes the result.
#'
#' @param x What [span_merge()] returns with `gold`; or scores, with `correct`.
#' @param correct For scores: whether each was right.
#' @param method The curve.
#' @param falling Systems for which smaller scores are better; for scores `TRUE` or `FALSE`.
#' @param least Spans that a field needs for a curve of its own.
#' @param shrink Weight of the mean accuracy, in spans.
#' @param bins Number of bins.
#' @return An object of class `granary_span_calibration`, inheriting from `granary_fit`; `predict()` gives
#'   probabilities, a matrix of rows by systems, or a vector.
#' @inherit spans references
#' @seealso [span_merge()], [span_vote()], [span_stack()], [svm_probability()]
#' @export
#' @examples
#' set.seed(1)
#' score <- runif(300)
#' curve <- span_calibrate(score, correct = runif(300) < score^2, method = "logistic")
#' predict(curve, c(0.2, 0.5, 0.9))
#' plot(curve)
span_calibrate <- function(x, correct = NULL, method = c("isotonic", "logistic", "bins", "none"), falling = FALSE,
                           least = 20, shrink = 2,
                           bins = 10) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  method <- check_choice(method, c("isotonic", "logistic", "bins", "none"))
  how <- list(method = method, bins = check_count(bins, lower = 2, upper = 1e5),
              shrink = check_number(shrink, lower = 0))
  least <- check_count(least)
  if (is.numeric(x)) {
    x <- unname(check_vector(x, allow_na = TRUE))
    if (is.null(correct)) fail_missing("correct")
    correct <- unname(check_vector(if (is.logical(correct)) correct + 0 else correct, "correct", length = length(x),
                                   lower = 0, upper = 1))
    curve <- core_span_curve(x, correct, c(how, list(falling = check_flag(falling))))
    return(new_fit("span_calibration", curve = curve, method = method, x = x, y = correct, n = length(x), call = call,
                   convergence = NULL))
  }
  x <- check_merged(x, gold = TRUE)
  if (!is.null(correct)) abort_input("`correct` is for scores; merged spans know what is right.", "correct")
  calibrate_merged(x, how, falling, least, call)
}

calibrate_merged <- function(x, how, falling = FALSE, least = 20L, call = NULL, rows = seq_len(x$n)) {
  down <- if (is.logical(falling)) rep(check_flag(falling), length(x$systems)) else {
    check_span_words(falling, "falling")
    strange <- setdiff(falling, x$systems)
    if (length(strange) > 0L) {
      abort_input(sprintf("`falling` names \"%s\", which is no system.", strange[1L]), "falling")
    }
    x$systems %in% falling
  }
  gold <- match(x$spans$gold[rows], x$fields)
  gold[is.na(gold)] <- 0L
  options <- lapply(down, function(one) c(how, list(falling = one)))
  curves <- core_span_curves(x$field[rows, , drop = FALSE], unname(x$score[rows, , drop = FALSE]), gold,
                             c(max(length(x$fields), 1L), least), options)
  new_fit("span_calibration", curves = curves, systems = x$systems, fields = x$fields, method = how$method,
          n = length(rows), call = call, convergence = NULL)
}

check_calibration <- function(x, arg = "calibration") {
  if (!inherits(x, "granary_span_calibration")) fail_input(arg, "what span_calibrate() returns", describe(x))
  x
}

#' @rdname span_calibrate
#' @param object What `span_calibrate()` returns.
#' @param newdata Merged spans of the same systems and fields, or scores.
#' @param ... Not used.
#' @export
predict.granary_span_calibration <- function(object, newdata = NULL, ...) {
  refuse_dots(...)
  if (!is.null(object[["curve"]])) {
    newdata <- if (is.null(newdata)) object$x else check_vector(newdata, "newdata", allow_na = TRUE)
    return(core_span_curve_at(object[["curve"]], unname(newdata)))
  }
  x <- check_merged(newdata, arg = "newdata")
  if (!identical(x$systems, object$systems) || !identical(x$fields, object$fields)) {
    abort_input("`newdata` must be merged with the systems and fields of the calibration: give them to span_merge().",
                "newdata")
  }
  out <- na_for_nan(core_span_curves_at(object$curves, x$field, unname(x$score)))
  dimnames(out) <- list(NULL, x$systems)
  out
}

#' @export
print.granary_span_calibration <- function(x, ...) {
  refuse_dots(...)
  cli::cat_line("Calibration of scores (", x$method, "), ", counted(x$n, "span", "spans"))
  print_call(x$call)
  print(format(tidy(x), digits = 3L), row.names = FALSE)
  invisible(x)
}

#' @export
tidy.granary_span_calibration <- function(x, ...) {
  if (!is.null(x[["curve"]])) return(data.frame(cases = x[["curve"]]$cases, accuracy = x[["curve"]]$mean))
  systems <- data.frame(system = x$systems, field = "all", cases = vapply(x$curves$system, `[[`, 0L, "cases"),
                        accuracy = vapply(x$curves$system, `[[`, 0, "mean"))
  fields <- data.frame(system = rep(x$systems, each = x$curves$fields),
                       field = rep_len(x$fields, length(x$curves$field)),
                       cases = vapply(x$curves$field, `[[`, 0L, "cases"),
                       accuracy = vapply(x$curves$field, `[[`, 0, "mean"))
  rbind(systems, fields)
}

#' @export
glance.granary_span_calibration <- function(x, ...) data.frame(n = x$n, method = x$method)

calibration_curves <- function(x, at = seq(0, 1, length.out = 101L)) {
  if (!is.null(x[["curve"]])) {
    range <- range(x$x, na.rm = TRUE)
    at <- range[1L] + at * diff(range)
    return(data.frame(system = "score", score = at, probability = core_span_curve_at(x[["curve"]], at)))
  }
  do.call(rbind, lapply(seq_along(x$systems), function(s) {
    curve <- x$curves$system[[s]]
    points <- if (length(curve$steps$at) > 0L) range(curve$steps$at) * (if (curve$how$falling) -1 else 1) else c(0, 1)
    score <- min(points) + at * diff(range(points))
    data.frame(system = x$systems[s], score = score, probability = core_span_curve_at(curve, score))
  }))
}

#' @rdname span_calibrate
#' @details `plot()` shows the curves, over all fields of a system.
#' @export
plot.granary_span_calibration <- function(x, ...) {
  curves <- calibration_curves(x)
  systems <- unique(curves$system)
  colours <- grDevices::hcl.colors(max(length(systems), 2L), "Dark 3")
  draw(graphics::plot, curves$score, curves$probability, type = "n", ylim = c(0, 1), bty = "n", xlab = "score",
       ylab = "probability to be right", user = list(...))
  for (s in seq_along(systems)) {
    graphics::lines(curves$score[curves$system == systems[s]], curves$probability[curves$system == systems[s]],
                    col = colours[s], lwd = 2)
  }
  if (!is.null(x[["curve"]])) graphics::rug(x$x[x$y > 0], side = 3L)
  if (!is.null(x[["curve"]])) graphics::rug(x$x[x$y == 0])
  if (length(systems) > 1L) graphics::legend("bottomright", systems, col = colours, lwd = 2, bty = "n")
  invisible(x)
}

#' @rdname span_calibrate
#' @usage \method{autoplot}{granary_span_calibration}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_span_calibration <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  gg_canvas(calibration_curves(object), ggplot2::aes(.data$score, .data$probability, colour = .data$system)) +
    ggplot2::geom_line(linewidth = 1) +
    ggplot2::ylim(0, 1) + gg_palette("colour") + ggplot2::labs(x = "score", y = "probability to be right",
                                                               colour = NULL)
}
