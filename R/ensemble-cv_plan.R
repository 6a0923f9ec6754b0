#' How many folds, how many repetitions?
#'
#' The variance of a cross-validated squared error for every way of splitting, before any model is fitted: folds,
#' repeated folds and random splits, beside what each costs.
#'
#' @details
#' The variances are those of the sample mean with independent errors, in closed form (the moments of the rows that two
#' random training sets share are hypergeometric). For a model with few coefficients for its rows they are close to the
#' truth; `limit` is what no number of splits can fall below. With more splits the variance only falls to the covariance
#' of two of them,
#' \eqn{2\sigma^4/n}{2 s^4/n} and a little: most of what can be had is had with `n_rep` of 15 to 50 random splits of a
#' quarter of the rows, or with any number of folds. Leaving one out gains next to nothing.
#'
#' @section Which method when:
#' `cv_plan()` before the work, [cv_error()] for the estimate, [cv_variance()] for other ways to its standard error.
#'
#' @param n Number of rows.
#' @param folds Numbers of folds to consider; those above `n` are left out with a message.
#' @param n_rep Numbers of repetitions: partitions, and random splits.
#' @param test Shares of the rows in a random test set.
#' @param sigma Standard deviation of the errors.
#' @param kurtosis Excess kurtosis of the errors.
#' @param x,object A plan.
#' @param ... Passed to [graphics::plot()].
#' @return An object of class `granary_cv_plan` with `table`, one row per plan: `scheme`, `folds`, `n_rep`, `train`,
#'   `test`, `splits`, `split_var` and `pair_cov` (of one split, and of two), `variance`, `std.error`,
#'   `moment` (the paper's approximation), `limit`, and `cost` in fits to all rows.
#' @seealso [cv_folds()], [cv_error()]
#' @export
#' @examples
#' plan <- cv_plan(100)
#' plan
#' plot(plan)
cv_plan <- function(n, folds = c(2, 4, 5, 10, n), n_rep = c(1, 5, 15, 50), test = c(0.1, 0.2, 0.25, 0.3, 0.4, 0.5),
                    sigma = 1,
                    kurtosis = 0) {
  call <- match.call()
  n <- check_count(n, lower = 3, upper = 1e6)
  folds <- check_vector(folds, "folds", lower = 2)
  n_rep <- check_vector(n_rep, "n_rep", lower = 1, upper = 1e6)
  if (any(folds != round(folds))) abort_input("`folds` must be whole numbers.", "folds")
  if (any(n_rep != round(n_rep))) abort_input("`n_rep` must be whole numbers.", "n_rep")
  test <- check_vector(test, "test", lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  sigma <- check_number(sigma, lower = 0, strict_lower = TRUE)
  kurtosis <- check_number(kurtosis, lower = -2)
  if (any(folds > n)) message("More folds than rows are left out: ", paste(folds[folds > n], collapse = ", "), ".")
  folds <- unique(folds[folds <= n])
  tested <- unique(pmin(n - 2, pmax(1, round(test * n))))
  random <- expand.grid(splits = unique(n_rep), n2 = tested)
  parts <- expand.grid(n_rep = unique(n_rep), folds = folds)
  parts <- parts[parts$folds < n | parts$n_rep == 1, ]
  row <- function(scheme, n2, splits, repeats) {
    list(n = n, n1 = n - n2, splits = splits, repeats = repeats, scheme = scheme, kurtosis = kurtosis)
  }
  plans <- c(
    Map(function(k, r) row("kfold", n / k, k, r), parts$folds, parts$n_rep),
    Map(function(j, n2) row("random", n2, j, 1), random$splits, random$n2)
  )
  found <- as.data.frame(core_cv_plan(unname(plans)))
  scale <- sigma^4
  count <- nrow(parts)
  kind <- rep(c("kfold", "random"), c(count, nrow(random)))
  table <- data.frame(
    scheme = kind, folds = c(parts$folds, rep(NA, nrow(random))), n_rep = c(parts$n_rep, random$splits),
    train = found$n1, test = found$n2,
    splits = found$splits * found$repeats, split_var = scale * found$split_var,
    pair_cov = scale * na_for_nan(found$pair_cov),
    variance = scale * found$variance, std.error = sqrt(scale * found$variance), moment = scale * found$moment,
    limit = scale * found$limit, cost = found$cost
  )
  new_fit("cv_plan", table = table, n = n, sigma = sigma, kurtosis = kurtosis, call = call, convergence = NULL)
}

#' @export
print.granary_cv_plan <- function(x, ...) {
  cli::cat_line("Plans for the cross-validation of ", x$n, " rows, errors of standard deviation ", format(x$sigma))
  print_call(x$call)
  table <- x$table
  table <- table[order(table$variance), ]
  shown <- utils::head(table[!duplicated(table[c("scheme", "test")]), ], 8L)
  cli::cat_line("The best number of repetitions for each size of the test set:")
  print(format(shown[c("scheme", "folds", "n_rep", "test", "std.error", "cost")], digits = 3L), row.names = FALSE)
  invisible(x)
}

#' @export
summary.granary_cv_plan <- function(object, ...) seal(structure(list(plan = object), class = "summary_granary_cv_plan"))

#' @export
print.summary_granary_cv_plan <- function(x, ...) {
  print(x$plan)
  cli::cat_line()
  print(x$plan$table[-(7:8)], digits = 3L, row.names = FALSE)
  invisible(x)
}

#' @export
tidy.granary_cv_plan <- function(x, ...) x$table

#' @export
glance.granary_cv_plan <- function(x, ...) {
  data.frame(n = x$n, plans = nrow(x$table), best = min(x$table$std.error), limit = sqrt(min(x$table$limit)))
}

#' @rdname cv_plan
#' @export
plot.granary_cv_plan <- function(x, ...) {
  table <- plan_lines(x)
  sets <- split(table, factor(table$line, unique(table$line)))
  col <- stats::setNames(grDevices::hcl.colors(length(sets), "Dark 3"), names(sets))
  pch <- vapply(sets, function(set) if (set$scheme[1L] == "kfold") 16L else 1L, 0L)
  draw(graphics::plot, table$cost, table$std.error, log = "x", type = "n", xlab = "cost, in fits to all rows",
       ylab = "standard error of the estimate", bty = "l", xaxt = "n", user = list(...))
  ticks <- as.vector(outer(c(1, 3), 10^(-2:7)))
  graphics::axis(1L, ticks, format(ticks, trim = TRUE, drop0trailing = TRUE, scientific = FALSE))
  graphics::abline(h = min(sqrt(x$table$limit)), lty = 3)
  for (name in names(sets)) {
    set <- sets[[name]][order(sets[[name]]$cost), ]
    graphics::lines(set$cost, set$std.error, col = col[[name]], type = "b", pch = pch[[name]])
  }
  graphics::legend("topright", names(sets), col = col, pch = pch, lty = 1L, bty = "n", cex = 0.75)
  invisible(x)
}

plan_lines <- function(x) {
  table <- x$table
  table$line <- ifelse(table$scheme == "kfold", ifelse(table$folds == x$n, "leave one out",
                                                       paste(table$folds, "folds")),
                       paste0("random ", round(100 * table$test / x$n), "%"))
  table
}

#' @rdname cv_plan
#' @usage \method{autoplot}{granary_cv_plan}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_cv_plan <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  gg_canvas(plan_lines(object), ggplot2::aes(.data$cost, .data$std.error, colour = .data$line)) + ggplot2::geom_line() +
    ggplot2::geom_point(ggplot2::aes(shape = .data$scheme)) + ggplot2::scale_x_continuous(trans = "log10") +
      gg_palette("colour") +
    ggplot2::geom_hline(yintercept = min(sqrt(object$table$limit)), linetype = 3) +
    ggplot2::labs(x = "cost, in fits to all rows", y = "standard error of the estimate", colour = NULL, shape = NULL)
}

#' Calculators of the theory of cross-validation
#'
#' The rows that random training sets share, and the variances of the sample mean's error in the paper's closed forms
#' and in exact ones.
#'
#' @details
#' \describe{
#' \item{`"overlap"`}{the law of the number \eqn{Y} of rows that two random training sets of size \eqn{n_1}{n1} out of
#'   \eqn{n} share, hypergeometric with mean \eqn{n_1^2/n}{n1^2/n}, and \eqn{Y^* = n - 2n_1 + Y}{Y* = n - 2 n1 + Y} of
#'   the
#'   test sets, with mean \eqn{n_2^2/n}{n2^2/n}.}
#' \item{`"mean"`}{for the sample mean of normal errors with variance 1 and squared error, under `n_rep` random splits
#'   with \eqn{n_1}{n1} training rows, or under `folds` folds: exact variance, the paper's
#'   approximation, and what the paper prints as exact.}
#' }
#'
#' @section Which method when:
#' [cv_plan()] compares many plans at once; `cv_bounds()` gives the parts of one.
#'
#' @param what Which calculator.
#' @param n Number of rows.
#' @param n1 Number of training rows.
#' @param n_rep Number of random splits.
#' @param folds Number of folds, in place of `n1` and `n_rep`.
#' @return A data frame: for `"overlap"` one row per number of shared rows with `train`, `test`, `prob`; for `"mean"`
#'   one row per formula with `split`, `pair` and `total`.
#' @references Markatou, M., Tian, H., Biswas, S. and Hripcsak, G. (2005). Analysis of variance of cross-validation
#'   estimators of the generalization error. *Journal of Machine Learning Research* 6, 1127-1168.
#' @seealso [cv_plan()], [cv_variance()]
#' @export
#' @examples
#' cv_bounds("overlap", n = 10, n1 = 7)
#' cv_bounds("mean", n = 100, n1 = 75, n_rep = 15)
cv_bounds <- function(what = c("overlap", "mean"), n, n1 = NULL, n_rep = 15, folds = NULL) {
  what <- check_choice(what, c("overlap", "mean"))
  n <- check_count(n, lower = 2, upper = 1e6)
  folds <- check_count(folds, lower = 2, upper = n, allow_null = TRUE)
  n_rep <- check_count(n_rep)
  if (is.null(folds) || what == "overlap") n1 <- check_count(n1, lower = 1, upper = n - 1)
  if (what == "overlap") {
    train <- seq.int(max(0, 2 * n1 - n), n1)
    return(data.frame(train = train, test = n - 2L * n1 + train, prob = core_overlap_law(n, n1)))
  }
  if (is.null(folds)) {
    plan <- list(n = n, n1 = n1, splits = n_rep, repeats = 1, scheme = "random", kurtosis = 0)
    printed <- 2 / n * (1 + 2 / n) + 2 / n1 * (1 / n1 - 1 / n)
  } else {
    plan <- list(n = n, n1 = n - n / folds, splits = folds, repeats = 1, scheme = "kfold", kurtosis = 0)
    printed <- NA_real_
  }
  row <- as.data.frame(core_cv_plan(list(plan)))
  moments <- list(mean = 1, var = 2, slope = 0, slope_square = 4, curvature = 2, curvature_var = 0, cov_curvature = 0,
                  noise_var = 1)
  paper <- core_mean_moment(moments, plan)
  splits <- plan$splits
  out <- data.frame(formula = c("exact", "moment", "printed as exact"),
                    split = c(row$split_var, paper$split, row$split_var), pair = c(row$pair_cov, paper$pair, printed))
  out$total <- c(row$variance, paper$total, row$split_var / splits + (splits - 1) / splits * printed)
  if (is.null(folds)) out else out[1:2, ]
}
