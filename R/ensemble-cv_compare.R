#' Is one learner better than another?
#'
#' Test and interval for the difference of two cross-validated errors on the same splits, and the probability that one
#' is better by more than matters.
#'
#' @details
#' With \eqn{d_j} the difference of the mean losses on test set \eqn{j}, `"corrected"` is the corrected resampled t
#' test: \eqn{\bar d / \sqrt{(1/J + n_2/n_1) S_d^2}}{mean(d) / sqrt((1/J + n2/n1) S_d^2)} on
#' \eqn{J - 1} degrees of freedom (Nadeau and Bengio, 2003). Read as a posterior (Corani and Benavoli, 2015) it gives
#' the probabilities that the difference lies below, inside and above the region of practical equivalence
#' \eqn{[-r, r]}{[-rope, rope]}.
#'
#' `"exact"`, for two linear learners with squared error, uses \eqn{y'(A_a - A_b)y} and its exact variance; the moments
#' of the errors come from the larger of the two models.
#' `"five_by_two"` is Dietterich's test, for splits made by `cv_folds(n, folds = 2, n_rep = 5)`. `"naive"`, the paired t
#' test, is there for comparison: it calls far too many differences real.
#'
#' @section Which method when:
#' `cv_compare()` for two learners on one data set. For several data sets the splits do not matter any more: put the
#' errors into a table for [compare_methods()].
#'
#' @param a,b Results of [cv_error()] with the same splits, loss and response.
#' @param method Which test; `"auto"` is `"exact"` where there is one, else `"corrected"`.
#' @param rope Half-width of the region of practical equivalence, in units of the loss.
#' @param rho Correlation of two splits in `"corrected"`, or `NULL` for \eqn{n_2/n}{n2/n}.
#' @param level Level of the interval.
#' @param x,object A comparison.
#' @param parm Not used.
#' @param ... Passed to [graphics::plot()].
#' @return An object of class `granary_cv_compare`: `estimate`, error of `a` less that of `b`; `table`, one row per test
#'   that there is, with `std.error`, `statistic`, `df`, `p.value`, `conf.low`, `conf.high` and the posterior
#'   probabilities `below`, `inside`, `above`; `method`, the row that counts; `difference` by test set.
#' @references
#' Corani, G. and Benavoli, A. (2015). A Bayesian approach for comparing cross-validated algorithms on multiple data
#' sets. *Machine Learning* 100, 285-304.
#'
#' Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised classification learning algorithms.
#' *Neural Computation* 10, 1895-1923.
#' @seealso [cv_error()], [compare_methods()]
#' @export
#' @examples
#' set.seed(1)
#' folds <- cv_folds(mtcars, scheme = "random", n_rep = 30)
#' line <- cv_error(mpg ~ wt, mtcars, folds = folds)
#' more <- cv_error(mpg ~ wt + hp + qsec, mtcars, folds = folds)
#' test <- cv_compare(line, more, rope = 0.5)
#' test
#' plot(test)
cv_compare <- function(a, b, method = c("auto", "exact", "corrected", "five_by_two", "naive"), rope = 0, rho = NULL,
                       level = 0.95) {
  call <- match.call()
  first <- check_cv_error(a, "a")
  second <- check_cv_error(b, "b")
  method <- check_choice(method, c("auto", "exact", "corrected", "five_by_two", "naive"))
  rope <- check_number(rope, lower = 0)
  rho <- check_number(rho, lower = -1, upper = 1, strict_upper = TRUE, allow_null = TRUE)
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  same <- c(
    folds = identical(unname(first$folds$test), unname(second$folds$test)),
    y = identical(first$problem$y, second$problem$y),
    loss = identical(first$loss, second$loss)
  )
  if (!all(same)) {
    what <- c(folds = "splits: make them once with cv_folds() and give them to both", y = "response", loss = "loss")
    abort_input(sprintf("`a` and `b` must have the same %s.", what[[names(same)[!same][1L]]]), "b")
  }
  difference <- first$split_mean - second$split_mean
  sizes <- first$folds$table
  options <- list(n1 = mean(sizes$train), n2 = mean(sizes$test), rope = rope, level = level)
  if (!is.null(rho)) options$rho <- rho
  tests <- list()
  if (is.null(why_not_exact(first, second))) tests$exact <- exact_difference(first, second, rope, level)
  if (length(difference) > 1L) {
    tests$corrected <- core_corrected_t(difference, options)
    tests$naive <- core_corrected_t(difference, utils::modifyList(options, list(rho = 0)))
  }
  if (is_five_by_two(first$folds)) {
    tests$five_by_two <- core_five_by_two(matrix(difference, ncol = 2L, byrow = TRUE), level)
  }
  if (length(tests) == 0L) abort_input("One split gives no test: use more.", "a")
  if (method == "auto") method <- names(tests)[1L]
  if (is.null(tests[[method]])) {
    why <- switch(method, exact = why_not_exact(first, second),
                  five_by_two = "it needs splits made by cv_folds(n, folds = 2, n_rep = 5)",
                  "it needs at least two splits")
    abort_input(sprintf("There is no test by method \"%s\" here: %s.", method, why), "method")
  }
  table <- do.call(rbind, lapply(names(tests), function(name) {
    t <- lapply(tests[[name]], na_for_nan)
    data.frame(method = name, estimate = t$estimate, std.error = sqrt(t$variance),
               t[c("statistic", "df", "p.value", "conf.low", "conf.high", "below", "inside", "above")])
  }))
  labels <- c(first$learner, second$learner)
  if (labels[1L] == labels[2L]) labels <- paste(labels, c("a", "b"))
  new_fit("cv_compare", estimate = mean(difference), table = table, method = method, difference = difference,
          labels = labels, errors = c(first$estimate, second$estimate), loss = first$loss, rope = rope, level = level,
          n = first$n, call = call, convergence = NULL)
}

check_cv_error <- function(x, arg) {
  if (missing(x)) fail_missing(arg)
  if (!inherits(x, "granary_cv_error")) fail_input(arg, "a result of cv_error()", describe(x))
  check_fit(x)
  x
}

is_five_by_two <- function(folds) folds$scheme == "kfold" && max(folds$table$fold) == 2L && max(folds$table$rep) > 1L

why_not_exact <- function(a, b) {
  for (one in list(a, b)) {
    why <- method_absent(one, "exact")
    if (!is.null(why)) return(why)
  }
  if (a$n > 4000L) return("it is for up to 4000 rows")
  NULL
}

exact_difference <- function(a, b, rope, level) {
  side <- function(fit) {
    learner <- fit$problem$learner
    list(x = unname_design(linear_design(learner$learner, fit$problem$x)),
         options = linear_options(learner, learner$arguments, fit$folds$test, fit$settings$kurtosis))
  }
  one <- side(a)
  two <- side(b)
  found <- core_cv_linear_difference(one$x, two$x, a$problem$y, one$options, two$options, progress_bar("difference"))
  core_t_test(found$estimate, found$exact, Inf, rope, level)
}

compare_row <- function(x) x$table[match(x$method, x$table$method), ]

test_words <- c(exact = "exact quadratic form", corrected = "corrected resampled t", five_by_two = "5 x 2 t",
                naive = "paired t, too sure")

#' @export
print.granary_cv_compare <- function(x, ...) {
  row <- compare_row(x)
  cli::cat_line("Cross-validated ", loss_label_of(x), ": \"", x$labels[1L], "\" ", format(x$errors[1L], digits = 4L),
                ", \"", x$labels[2L],
                "\" ", format(x$errors[2L], digits = 4L))
  print_call(x$call)
  cli::cat_line("Difference ", format(x$estimate, digits = 4L), ", ", format(100 * x$level), "% interval ",
                format(row$conf.low, digits = 3L), " to ", format(row$conf.high, digits = 3L), ", p = ",
                format.pval(row$p.value, digits = 3L), " (", test_words[[x$method]], ")")
  chances <- c(row$below, row$inside, row$above)
  if (!anyNA(chances)) {
    better <- sprintf("%s better %.3f", x$labels, chances[c(1L, 3L)])
    equal <- if (x$rope > 0 || chances[2L] > 0) sprintf(", no matter %.3f", chances[2L])
    cli::cat_line("Posterior: ", better[1L], equal, ", ", better[2L])
  }
  invisible(x)
}

#' @export
summary.granary_cv_compare <- function(object, ...) {
  seal(structure(list(comparison = object), class = "summary_granary_cv_compare"))
}

#' @export
print.summary_granary_cv_compare <- function(x, ...) {
  print(x$comparison)
  cli::cat_line()
  print(x$comparison$table[1:8], digits = 3L, row.names = FALSE)
  invisible(x)
}

#' @export
tidy.granary_cv_compare <- function(x, ...) x$table

#' @export
glance.granary_cv_compare <- function(x, ...) {
  row <- compare_row(x)
  row.names(row) <- NULL
  row
}

#' @export
coef.granary_cv_compare <- function(object, ...) c(difference = object$estimate)

#' @export
vcov.granary_cv_compare <- function(object, ...) {
  matrix(compare_row(object)$std.error^2, 1L, 1L, dimnames = list("difference", "difference"))
}

#' @rdname cv_compare
#' @export
confint.granary_cv_compare <- function(object, parm, level = 0.95, ...) {
  refuse_dots(...)
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  row <- compare_row(object)
  test <- core_t_test(row$estimate, row$std.error^2, row$df, 0, level)
  ends <- 0.5 + c(-0.5, 0.5) * level
  matrix(c(test$conf.low, test$conf.high), 1L, dimnames = list("difference",
                                                               paste0(format(100 * ends, digits = 3L, trim = TRUE),
                                                                      " %")))
}

#' @rdname cv_compare
#' @export
plot.granary_cv_compare <- function(x, ...) {
  table <- compare_curve(x)
  row <- compare_row(x)
  draw(graphics::plot, table$at, table$density, type = "l", lwd = 2, col = "#0072B2", yaxt = "n", ylab = "", bty = "n",
       xlab = paste0("difference of the ", loss_label_of(x), ", ", x$labels[1L], " less ", x$labels[2L]),
       user = list(...))
  if (x$rope > 0) graphics::rect(-x$rope, 0, x$rope, max(table$density), col = "#00000014", border = NA)
  graphics::rug(x$difference, col = "grey50")
  graphics::abline(v = 0, lty = 3)
  graphics::segments(row$conf.low, 0, row$conf.high, 0, lwd = 4, col = "#D55E00")
  invisible(x)
}

# The density that the interval belongs to.
compare_curve <- function(x) {
  row <- compare_row(x)
  if (is.na(row$std.error) || row$std.error == 0) {
    abort_input("There is nothing to draw: the difference is the same on all test sets.", "x")
  }
  reach <- max(4 * row$std.error, abs(x$difference - row$estimate))
  at <- row$estimate + seq(-1, 1, length.out = 201L) * reach
  data.frame(at = at, density = stats::dt((at - row$estimate) / row$std.error, row$df) / row$std.error)
}

#' @rdname cv_compare
#' @usage \method{autoplot}{granary_cv_compare}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_cv_compare <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  row <- compare_row(object)
  gg_canvas(compare_curve(object), ggplot2::aes(.data$at, .data$density)) +
    ggplot2::annotate("rect", xmin = -object$rope, xmax = object$rope, ymin = 0, ymax = Inf, alpha = 0.08) +
    ggplot2::geom_line(colour = "#0072B2") + ggplot2::geom_vline(xintercept = 0, linetype = 3) +
    ggplot2::geom_rug(ggplot2::aes(x = .data$at), data.frame(at = object$difference), inherit.aes = FALSE, sides = "b",
                      colour = "grey50") +
    ggplot2::annotate("segment", x = row$conf.low, xend = row$conf.high, y = 0, yend = 0, colour = "#D55E00",
                      linewidth = 2) +
    ggplot2::labs(x = paste0("difference, ", object$labels[1L], " less ", object$labels[2L]), y = NULL)
}
