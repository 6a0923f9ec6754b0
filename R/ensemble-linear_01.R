#' The line with the fewest errors
#'
#' Half-spaces that minimise the number, or the cost, of misclassified rows: exact for one and two columns, by a search
#' for more. This is the maximum score estimator of econometrics.
#'
#' @details
#' In the plane every partition by a line is one by a line through a row, turned a little: the others are sorted by
#' angle for each row, in \eqn{O(n^2 \log n)}{O(n^2 log n)} together. For three or more columns coefficients are
#' improved one at a time, each exactly, from least squares and `n_starts` random directions; the result is the best
#' point seen and says `exact = FALSE`. Coefficients have length one; they too settle at the rate
#' \eqn{n^{-1/3}}{n^(-1/3)}.
#'
#' @section Which method when:
#' `linear_01()` where the error itself is what counts and classes overlap or rows are wild; [svm()] or logistic
#' regression for many columns or rows; [threshold_classifier()] for one column.
#'
#' @param x Rows: a numeric matrix or data frame; or a formula.
#' @param y Two classes; the second level counts as positive.
#' @param formula,data A formula such as `y ~ .` and the data frame of its variables.
#' @param subset,na.action As in [stats::lm()].
#' @param weights One weight per row, or `NULL`.
#' @param cost Costs of a false positive and of a false negative.
#' @param exact Whether the exact sweep is used in one or two columns.
#' @param n_starts,max_iter Random starts of the search, and most rounds over the coefficients.
#' @param threads Threads; default `getOption("granary.threads")`.
#' @param object A fit.
#' @param newdata Rows in the columns of the fit; `NULL` for its own.
#' @param type `"class"`, or `"link"` for the signed distance.
#' @param ... For the formula: arguments of the default method. For `plot()`: passed to [graphics::plot()].
#' @return An object of class `granary_linear_01`: `coefficients`, `intercept`, `risk`, `exact`, `levels`.
#' @references Mohammadi, L. and van de Geer, S. (2005). Asymptotics in empirical risk minimization. *Journal of Machine
#'   Learning Research* 6, 2027-2047.
#' @seealso [threshold_classifier()], [svm()]
#' @export
#' @examples
#' two <- droplevels(iris[51:150, ])
#' fit <- linear_01(Species ~ Petal.Length + Petal.Width, two)
#' fit
#' plot(fit)
linear_01 <- function(x, ...) {
  UseMethod("linear_01", formula_or_first(x, ...))
}

#' @rdname linear_01
#' @export
linear_01.formula <- function(formula, data = NULL, subset, weights, na.action, ...) {
  formula_fit(linear_01.default, "linear_01", takes = "weights", ...)
}

#' @rdname linear_01
#' @export
linear_01.default <- function(x, y = NULL, weights = NULL, cost = c(1, 1), exact = TRUE, n_starts = 20, max_iter = 50,
                              threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (is.null(y)) fail_missing("y")
  x <- check_design(x, "x", allow_sparse = FALSE)
  classes <- tree_classes(y, nrow(x))
  if (length(classes$levels) != 2L) {
    abort_input(sprintf("`y` must have two classes, but it has %d.", length(classes$levels)), "y")
  }
  weights <- if (is.null(weights)) {
    rep(1, nrow(x))
  } else {
    unname(check_vector(weights, "weights", length = nrow(x), lower = 0))
  }
  if (sum(weights) == 0) abort_input("`weights` must not all be 0.", "weights")
  cost <- check_vector(cost, "cost", length = 2L, lower = 0, strict_lower = TRUE)
  options <- list(exact = check_flag(exact), n_starts = check_count(n_starts, lower = 0),
                  max_iter = check_count(max_iter), false_positive = unname(cost[1L]),
                  false_negative = unname(cost[2L]), threads = thread_count(threads))
  if (options$exact && ncol(x) == 2L && nrow(x) > 20000L) {
    abort_input(sprintf("The exact sweep over %d rows would take very long: use exact = FALSE, or fewer rows.",
                        nrow(x)), "exact")
  }
  found <- core_linear01(unname_design(x), classes$y, weights, options, core_seed(), progress_bar("line"))
  new_fit("linear_01", coefficients = stats::setNames(found$coefficients, colnames(x)), intercept = found$intercept,
          risk = found$risk, exact = found$exact, x = x, y = factor(classes$levels[classes$y + 1], classes$levels),
          levels = classes$levels, n = nrow(x), call = generic_call(call, "linear_01"), convergence = NULL)
}

#' @rdname linear_01
#' @export
predict.granary_linear_01 <- function(object, newdata = NULL, type = c("class", "link"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("class", "link"))
  x <- if (is.null(newdata)) {
    object$x
  } else {
    new_design(newdata, names(object$coefficients), object$design, allow_sparse = FALSE)
  }
  value <- drop(x %*% object$coefficients) + object$intercept
  if (type == "link") value else factor(object$levels[ifelse(value > 0, 2L, 1L)], object$levels)
}

#' @export
print.granary_linear_01 <- function(x, ...) {
  cli::cat_line("Half-space with the fewest errors: ", x$n, " rows, ", length(x$coefficients), " columns, ",
                if (x$exact) "exact" else "by search")
  print_call(x$call)
  print(c("(Intercept)" = x$intercept, x$coefficients), digits = 4L)
  cli::cat_line("\"", x$levels[2L], "\" where the sum is above 0; risk ", format(x$risk, digits = 4L))
  invisible(x)
}

#' @export
tidy.granary_linear_01 <- function(x, ...) {
  data.frame(term = c("(Intercept)", names(x$coefficients)), estimate = c(x$intercept, unname(x$coefficients)))
}

#' @export
glance.granary_linear_01 <- function(x, ...) {
  data.frame(n = x$n, columns = length(x$coefficients), risk = x$risk, exact = x$exact)
}

#' @export
fitted.granary_linear_01 <- function(object, ...) predict.granary_linear_01(object, ...)

#' @rdname linear_01
#' @export
plot.granary_linear_01 <- function(x, ...) {
  col <- c("#0072B2", "#D55E00")[as.integer(x$y)]
  if (length(x$coefficients) != 2L) {
    value <- predict.granary_linear_01(x, type = "link")
    draw(graphics::stripchart, split(value, x$y), method = "jitter", pch = 16, col = c("#0072B2", "#D55E00"),
         xlab = "signed distance", user = list(...))
    graphics::abline(v = 0, lty = 3)
    return(invisible(x))
  }
  draw(graphics::plot, x$x[, 1L], x$x[, 2L], pch = 16, col = col, xlab = names(x$coefficients)[1L],
       ylab = names(x$coefficients)[2L], bty = "l", user = list(...))
  w <- x$coefficients
  if (abs(w[2L]) > 1e-12) {
    graphics::abline(-x$intercept / w[2L], -w[1L] / w[2L], lwd = 2)
  } else {
    graphics::abline(v = -x$intercept / w[1L], lwd = 2)
  }
  invisible(x)
}

#' @rdname linear_01
#' @usage \method{autoplot}{granary_linear_01}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_linear_01 <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  if (length(object$coefficients) != 2L) {
    table <- data.frame(distance = predict.granary_linear_01(object, type = "link"), class = object$y)
    return(gg_canvas(table, ggplot2::aes(.data$distance, .data$class, colour = .data$class)) +
           ggplot2::geom_jitter(width = 0, height = 0.2) + gg_palette("colour") +
           ggplot2::geom_vline(xintercept = 0, linetype = 3))
  }
  w <- object$coefficients
  table <- data.frame(a = object$x[, 1L], b = object$x[, 2L], class = object$y)
  picture <- gg_canvas(table, ggplot2::aes(.data$a, .data$b, colour = .data$class)) + ggplot2::geom_point() +
    gg_palette("colour") +
    ggplot2::labs(x = names(w)[1L], y = names(w)[2L])
  if (abs(w[2L]) <= 1e-12) return(picture + ggplot2::geom_vline(xintercept = -object$intercept / w[1L]))
  picture + ggplot2::geom_abline(intercept = -object$intercept / w[2L], slope = -w[1L] / w[2L])
}
