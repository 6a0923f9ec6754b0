# Cross-validation of a path of penalties, the same for every estimator that has one.

#' Cross-validated choice of a penalty
#'
#' What [cv_lasso()] and its relatives return: the path fitted to all rows, the held-out loss at every penalty, and the penalty chosen.
#'
#' @details
#' The path is refitted to all but one fold, at the penalties of the fit to all rows, and the left-out rows are scored. `mean` is the average
#' loss over all rows, `se` the standard deviation of the folds' averages over the square root of their number. Rule `"min"` takes the
#' penalty of the smallest mean, `"1se"` the largest penalty whose mean is within one standard error of it.
#'
#' Folds come from R's random numbers: use [set.seed()]. They are fitted on the workers of [future::plan()] when one is set and `future.apply` is
#' installed.
#'
#' @param x,object A cross-validated fit.
#' @param rule The rule that picks the penalty; by default the one the fit was made with.
#' @param newdata Rows to predict for, in the form the underlying fit takes them; `NULL` for the data of the fit.
#' @param ... For `coef()` and `predict()`, passed on to the method of the underlying fit (such as the type of prediction); for `plot()`, to
#'   [graphics::plot()].
#' @return `print()` its argument invisibly, `plot()` `NULL` invisibly, `autoplot()` a ggplot, `coef()` and `predict()` what the underlying fit
#'   gives at the chosen penalty, `tidy()` a data frame with the mean loss at every penalty and one standard error to either side, `glance()`
#'   one row with the penalties of both rules and the loss at the one chosen.
#' @family regression
#' @name granary_cv
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(100 * 20), 100)
#' y <- x[, 1] - x[, 2] + rnorm(100)
#' cv <- cv_lasso(x, y, folds = 5)
#' cv
#' coef(cv, rule = "1se")
#' predict(cv, x[1:3, ])
#' plot(cv)
#' if (requireNamespace("ggplot2", quietly = TRUE)) ggplot2::autoplot(cv)
NULL

# refit(rows): the path, at the penalties of `fit`, fitted to these rows; held_out(refit, rows): losses, one row per left-out row and one
# column per penalty, NA where there is none. A penalty that some fold could not score has no mean and is not chosen.
cross_validate <- function(fit, n, folds, refit, held_out, rule, measure, label = "cross-validation") {
  rule <- check_choice(rule, c("min", "1se"))
  folds <- check_folds(folds, n)
  parts <- sort(unique(folds))
  count <- length(fit$lambda)
  results <- resample_lapply(parts, function(part) {
    train <- refit(which(folds != part))
    loss <- held_out(train, which(folds == part))
    stopifnot(ncol(loss) == count)
    list(total = colSums(loss), rows = nrow(loss), converged = all(convergence_table(train$convergence)$converged %in% TRUE))
  }, label)
  stopped <- sum(!vapply(results, `[[`, NA, "converged"))
  if (stopped > 0L) {
    warn_convergence(sprintf("The solver stopped early in %d of %d folds, so the choice may be off. Use a larger `max_iter`.", stopped,
                             length(parts)))
  }
  rows <- vapply(results, `[[`, 0, "rows")
  totals <- matrix(vapply(results, `[[`, numeric(count), "total"), count)
  mean <- rowSums(totals) / sum(rows)
  averages <- sweep(totals, 2L, rows, `/`)
  se <- apply(averages, 1L, stats::sd) / sqrt(length(parts))
  if (all(is.na(mean))) abort_numeric("No penalty could be scored on all folds. Use fewer folds, or penalties that every fold can be fitted at.")
  new_fit(
    c(paste0("cv_", sub("^granary_", "", class(fit)[1L])), "cv"),
    fit = fit, lambda = fit$lambda, table = data.frame(lambda = fit$lambda, mean = mean, se = se), folds = folds, rule = rule, measure = measure,
    call = user_call(), convergence = fit$convergence
  )
}

# The position of the penalty a rule picks.
cv_choice <- function(cv, rule = cv$rule) {
  rule <- check_choice(rule, c("min", "1se"))
  best <- which.min(cv$table$mean)
  if (rule == "min") return(best)
  near <- which(cv$table$mean <= cv$table$mean[best] + cv$table$se[best])
  near[which.max(cv$lambda[near])]
}

#' @rdname granary_cv
#' @export
print.granary_cv <- function(x, ...) {
  cli::cat_line(fit_title(x))
  print_call(x$call)
  table <- x$table[c(cv_choice(x, "min"), cv_choice(x, "1se")), ]
  rownames(table) <- c("min", "1se")
  cli::cat_line(length(unique(x$folds)), " folds, ", length(x$lambda), " penalties, loss: ", x$measure)
  print(format(table, digits = 4L))
  cli::cat_line("Chosen by rule \"", x$rule, "\": lambda = ", format(x$lambda[cv_choice(x)], digits = 4L))
  invisible(x)
}

#' @rdname granary_cv
#' @export
coef.granary_cv <- function(object, rule = NULL, ...) {
  coef(object$fit, lambda = object$lambda[cv_choice(object, if (is.null(rule)) object$rule else rule)], ...)
}

#' @rdname granary_cv
#' @export
predict.granary_cv <- function(object, newdata = NULL, ..., rule = NULL) {
  lambda <- object$lambda[cv_choice(object, if (is.null(rule)) object$rule else rule)]
  if (is.null(newdata)) return(predict(object$fit, ..., lambda = lambda))  # not every fit has new rows to predict
  predict(object$fit, newdata, ..., lambda = lambda)
}

#' @rdname granary_cv
#' @export
tidy.granary_cv <- function(x, ...) {
  table <- x$table
  data.frame(lambda = table$lambda, estimate = table$mean, std.error = table$se, conf.low = table$mean - table$se, conf.high = table$mean + table$se)
}

#' @rdname granary_cv
#' @export
glance.granary_cv <- function(x, ...) {
  at <- c(cv_choice(x, "min"), cv_choice(x, "1se"))
  data.frame(lambda.min = x$lambda[at[1L]], lambda.1se = x$lambda[at[2L]], estimate = x$table$mean[cv_choice(x)],
             std.error = x$table$se[cv_choice(x)], rule = x$rule, measure = x$measure, nobs = length(x$folds))
}

#' @rdname granary_cv
#' @export
plot.granary_cv <- function(x, ...) {
  table <- x$table[is.finite(x$table$mean) & x$lambda > 0, ]
  spread <- range(table$mean - table$se, table$mean + table$se, na.rm = TRUE)
  draw(graphics::plot, table$lambda, table$mean, log = "x", ylim = spread, pch = 19, col = "#b2182b", xlab = "penalty", ylab = x$measure,
       xlim = rev(range(table$lambda)), user = list(...))
  graphics::segments(table$lambda, table$mean - table$se, table$lambda, table$mean + table$se, col = "grey60")
  graphics::abline(v = x$lambda[c(cv_choice(x, "min"), cv_choice(x, "1se"))], lty = 3)
  invisible()
}

#' @rdname granary_cv
#' @usage \method{autoplot}{granary_cv}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_cv <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  table <- object$table[is.finite(object$table$mean) & object$lambda > 0, ]
  table$low <- table$mean - table$se
  table$high <- table$mean + table$se
  chosen <- object$lambda[c(cv_choice(object, "min"), cv_choice(object, "1se"))]
  ggplot2::ggplot(table, ggplot2::aes(x = .data$lambda, y = .data$mean)) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$low, ymax = .data$high), colour = "grey60") +
    ggplot2::geom_point(colour = "#b2182b") + ggplot2::geom_vline(xintercept = chosen[chosen > 0], linetype = 3) +
    ggplot2::scale_x_continuous(trans = "log10") + ggplot2::labs(x = "penalty", y = object$measure)
}
