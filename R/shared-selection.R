# Choosing among candidates: one class for every <stem>_select().

#' A choice among candidates
#'
#' What every function whose name ends in `_select` returns, whatever the candidates are (penalties, kernels, numbers of components) and whatever the
#' rule (cross-validation, an information criterion, stability).
#'
#' @details
#' `table` has one row per candidate: its parameters, `estimate` (the criterion; smaller is better unless `maximize` is `TRUE`) and, where the rule gives one,
#' `std.error`. `selected` is the row that was chosen, `fit` the fit at it (for paths, the whole path; `coef()` and `predict()` take the chosen place).
#'
#' Rule `"min"` takes the best estimate, `"1se"` the simplest candidate whose estimate is within one standard error of the best. Folds come from R's random
#' numbers: use [set.seed()]. They are fitted on the workers of [future::plan()] when one is set and `future.apply` is installed.
#'
#' @param x,object A selection.
#' @param rule The rule that picks; by default the one the selection was made with.
#' @param newdata Rows to predict for, in the form the underlying fit takes them; `NULL` for the data of the fit.
#' @param ... For `coef()` and `predict()`, passed on to the method of the underlying fit (such as the type of prediction); for `plot()`, to
#'   [graphics::plot()].
#' @return `print()` its argument invisibly, `plot()` `NULL` invisibly, `autoplot()` a ggplot, `coef()`, `predict()`, `fitted()`, `residuals()` and `logLik()` what
#'   the underlying fit gives at the chosen place, `tidy()` the table with intervals of one standard error, `glance()` one row.
#' @seealso [granary_find()], [granary_catalog()], [granary_report()], [reproduce()], [granary_session()]
#' @name granary_selection
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(100 * 20), 100)
#' y <- x[, 1] - x[, 2] + rnorm(100)
#' choice <- lasso_select(x, y, folds = 5)
#' choice
#' coef(choice, rule = "1se")
#' predict(choice, x[1:3, ])
#' plot(choice)
#' if (requireNamespace("ggplot2", quietly = TRUE)) ggplot2::autoplot(choice)
NULL

# `table`: a data frame with `estimate`, perhaps `std.error`, and the parameters of each candidate. `at(row)`: arguments that coef() and predict() of `fit` need to
# speak of that candidate, list() where `fit` is the chosen one alone. `simplicity`: a number per candidate, larger is simpler; needed for the rule "1se".
# `axis`: the column of the table that a plot has along its axis.
new_selection <- function(stem, fit, table, rule, measure, at = function(row) list(), simplicity = NULL, maximize = FALSE, axis = names(table)[1L], ...,
                          selected = NULL, call = user_call(), convergence = fit$convergence) {
  out <- new_fit(c(paste0(stem, "_select"), "selection"), fit = fit, table = table, selected = NA_integer_, rule = rule, measure = measure, at = at,
                 simplicity = simplicity, maximize = maximize, axis = axis, ..., call = call, convergence = convergence)
  out$selected <- if (is.null(selected)) selection_row(out, rule) else selected
  out
}

# The row a rule picks.
selection_row <- function(selection, rule = NULL) {
  if (!is.null(rule) && (!is.character(rule) || length(rule) != 1L || is.na(rule))) fail_input("rule", "\"min\" or \"1se\" (or NULL)", describe(rule))
  if (is.null(rule) || (identical(rule, selection$rule) && !is.na(selection$selected))) return(selection$selected)
  rules <- c("min", if (!is.null(selection$table$std.error) && !is.null(selection$simplicity)) "1se")
  if (!all(rule %in% rules) && !is.na(selection$selected)) {
    abort_input(sprintf("`rule` must be %s for this selection, not %s.", paste0("\"", unique(c(selection$rule, rules)), "\"", collapse = " or "), describe(rule)), "rule")
  }
  value <- selection$table$estimate * (if (selection$maximize) -1 else 1)
  best <- which.min(value)
  if (length(best) == 0L) abort_numeric("No candidate could be scored.")
  if (identical(rule, "min")) return(best)
  near <- which(value <= value[best] + selection$table$std.error[best])
  near[which.max(selection$simplicity[near])]
}

#' @rdname granary_selection
#' @export
print.granary_selection <- function(x, ...) {
  cli::cat_line(fit_title(x))
  print_call(x$call)
  cli::cat_line(if (!is.null(x$folds)) paste0(length(unique(x$folds)), " folds, "), nrow(x$table), " candidates, criterion: ", x$measure, if (x$maximize) " (larger is better)")
  rows <- c(min = selection_row(x, if (x$rule %in% c("min", "1se")) "min"))
  if (x$rule %in% c("min", "1se") && !is.null(x$table$std.error) && !is.null(x$simplicity)) rows <- c(rows, `1se` = selection_row(x, "1se"))
  if (!x$rule %in% c("min", "1se")) rows <- stats::setNames(x$selected, x$rule)
  shown <- x$table[rows, , drop = FALSE]
  rownames(shown) <- make.unique(names(rows))
  print(format(shown, digits = 4L))
  cli::cat_line("Chosen by rule \"", x$rule, "\": ", paste0(x$axis, " = ", format(x$table[[x$axis]][x$selected], digits = 4L)))
  invisible(x)
}

#' @rdname granary_selection
#' @export
summary.granary_selection <- function(object, ...) {
  seal(structure(list(selection = object, fit = summary(object$fit)), class = "summary_granary_selection"))
}

#' @export
print.summary_granary_selection <- function(x, ...) {
  if (inherits(x$selection, "granary_ggm_select")) print_ggm_choice(x$selection) else print(x$selection)  # the fit comes below
  cli::cat_line()
  cli::cat_line("The underlying fit:")
  print(x$fit)
  invisible(x)
}

# Calls a generic on the underlying fit at the place that is chosen.
at_selection <- function(generic, object, rule, ...) {
  do.call(generic, c(list(object$fit), list(...), object$at(selection_row(object, rule))))
}

#' @rdname granary_selection
#' @export
coef.granary_selection <- function(object, rule = NULL, ...) at_selection(stats::coef, object, rule, ...)

#' @rdname granary_selection
#' @export
predict.granary_selection <- function(object, newdata = NULL, ..., rule = NULL) {
  if (is.null(newdata)) return(at_selection(stats::predict, object, rule, ...))  # not every fit has new rows to predict
  at_selection(stats::predict, object, rule, newdata, ...)
}

#' @rdname granary_selection
#' @export
fitted.granary_selection <- function(object, rule = NULL, ...) at_selection(stats::fitted, object, rule, ...)

#' @rdname granary_selection
#' @export
residuals.granary_selection <- function(object, rule = NULL, ...) at_selection(stats::residuals, object, rule, ...)

#' @rdname granary_selection
#' @export
nobs.granary_selection <- function(object, ...) stats::nobs(object$fit)

#' @rdname granary_selection
#' @export
logLik.granary_selection <- function(object, ...) stats::logLik(object$fit)

#' @rdname granary_selection
#' @export
tidy.granary_selection <- function(x, ...) {
  table <- x$table
  if (!is.null(table$std.error)) {
    table$conf.low <- table$estimate - table$std.error
    table$conf.high <- table$estimate + table$std.error
  }
  table$selected <- seq_len(nrow(table)) == x$selected
  table
}

#' @rdname granary_selection
#' @export
glance.granary_selection <- function(x, ...) {
  out <- cbind(x$table[x$selected, , drop = FALSE], rule = x$rule, measure = x$measure, candidates = nrow(x$table))
  row.names(out) <- NULL
  out
}

#' @rdname granary_selection
#' @export
plot.granary_selection <- function(x, ...) {
  table <- selection_points(x)
  if (!is.numeric(table$at)) {
    draw(graphics::dotchart, rev(table$estimate), labels = rev(as.character(table$at)), xlab = x$measure, pch = 19,
         xlim = range(table$low, table$high, na.rm = TRUE), user = list(...))
    places <- rev(seq_len(nrow(table)))
    graphics::segments(table$low, places, table$high, places, col = "grey60")
    chosen <- which(table$at == x$table[[x$axis]][x$selected])
    graphics::points(table$estimate[chosen], places[chosen], cex = 2)
    return(invisible())
  }
  spread <- range(table$low, table$high, na.rm = TRUE)
  draw(graphics::plot, table$at, table$estimate, log = if (selection_log(table$at)) "x" else "", ylim = spread, pch = 19, col = sign_colours[["negative"]],
       xlab = x$axis, ylab = x$measure, user = list(...))
  graphics::segments(table$at, table$low, table$at, table$high, col = "grey60")
  graphics::abline(v = x$table[[x$axis]][x$selected], lty = 3)
  invisible()
}

selection_points <- function(x) {
  table <- data.frame(at = x$table[[x$axis]], estimate = x$table$estimate)
  se <- if (is.null(x$table$std.error)) rep(0, nrow(table)) else x$table$std.error
  se[is.na(se)] <- 0
  table$low <- table$estimate - se
  table$high <- table$estimate + se
  positive <- table$at[is.numeric(table$at) & !table$at %in% 0]
  table[is.finite(table$estimate) & !(table$at %in% 0 & selection_log(positive)), ]  # a logarithmic axis has no 0
}

# Candidates that lie about evenly on a logarithmic scale are drawn on one.
selection_log <- function(at) is.numeric(at) && length(at) > 2L && all(at > 0) && max(at) / min(at) > 30

#' @rdname granary_selection
#' @usage \method{autoplot}{granary_selection}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_selection <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  table <- selection_points(object)
  chosen <- object$table[[object$axis]][object$selected]
  picture <- gg_canvas(table, ggplot2::aes(x = .data$at, y = .data$estimate)) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$low, ymax = .data$high), colour = "grey60") +
    ggplot2::geom_point(colour = sign_colours[["negative"]]) + ggplot2::labs(x = object$axis, y = object$measure)
  if (!is.numeric(table$at)) {  # names have room beside the axis, the first on top
    return(picture + ggplot2::geom_point(data = table[table$at == chosen, ], size = 4, shape = 21) +
             ggplot2::scale_x_discrete(limits = rev(unique(as.character(table$at)))) + ggplot2::coord_flip())
  }
  picture <- picture + ggplot2::geom_vline(xintercept = chosen, linetype = 3)
  if (selection_log(table$at)) picture + ggplot2::scale_x_continuous(trans = "log10") else picture
}

# Cross-validation of a path of penalties, the same for every estimator that has one: refit(rows): the path, at the penalties of `fit`, fitted to these rows;
# held_out(refit, rows): losses, one row per left-out row and one column per penalty, NA where there is none. A penalty that some fold could not score has
# no mean and is not chosen.
cross_validate <- function(fit, n, folds, refit, held_out, rule, measure, label = "cross-validation", stem = sub("^granary_", "", class(fit)[1L])) {
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
  estimate <- rowSums(totals) / sum(rows)
  averages <- sweep(totals, 2L, rows, `/`)
  se <- apply(averages, 1L, stats::sd) / sqrt(length(parts))
  if (all(is.na(estimate))) abort_numeric("No penalty could be scored on all folds. Use fewer folds, or penalties that every fold can be fitted at.")
  lambda <- fit$lambda
  new_selection(stem, fit, data.frame(lambda = lambda, estimate = estimate, std.error = se), rule, measure,
                at = function(row) list(lambda = lambda[row]), simplicity = lambda, lambda = lambda, folds = folds)
}
