#' Estimates of many means
#'
#' What fits of [mta()] can do.
#'
#' @details `confint(type = "naive")` is the estimate plus or minus a normal quantile times `se`: the spread of the estimator if the amount of
#' shrinkage were known, around its biased expectation, so it is too short. `type = "posterior"` (not for James-Stein) uses the posterior standard
#' deviation under the prior that corresponds to the shrinkage, which has the right coverage *on average over the tasks* when the means
#' scatter like that prior. Neither knows that the amount of shrinkage was estimated.
#'
#' `fitted()` and `residuals()` are per sample, where the fit has samples; `fitted()` of a fit to a table is the estimate of each task.
#' `plot()` draws an arrow from each sample mean to its estimate against the number of samples.
#'
#' @param x,object A fit.
#' @param parm Tasks, by name or number; all by default.
#' @param level Confidence level.
#' @param type Kind of interval; see Details.
#' @param max_tasks Draw at most so many tasks, spread evenly over the numbers of samples.
#' @param newdata Names of tasks; new tasks get the common target.
#' @param ... Passed to [graphics::plot()]; not used by other methods.
#' @return `coef()` the estimates; `confint()` a matrix with lower and upper limits; `predict()` a vector; `summary()` and `tidy()` a data
#'   frame with a row for each task; `plot()` `NULL`, invisibly; `autoplot()` a ggplot.
#' @seealso [lasso()], [lasso_select()], [gen_lasso()], [debiased_lasso()], [adapt_partition()], [mta()]
#' @name granary_means
#' @examples
#' set.seed(1)
#' data <- sim_mta(8, s2_mu = 0.3, n_range = c(2, 30))
#' fit <- mta(y ~ group, data)
#' summary(fit)
#' confint(fit, parm = 1:3)
#' tidy(fit)
#' predict(fit, c("1", "new"))
#' plot(fit)
NULL

method_titles <- c(
  constant = "MTA Constant", minimax = "MTA Minimax", pairwise = "MTA Pairwise", custom = "MTA with given similarities", james_stein = "James-Stein",
  james_stein_cv = "James-Stein with cross-validated factor"
)

#' @rdname granary_means
#' @export
print.granary_means <- function(x, ...) {
  count <- length(x$n)
  cli::cat_line(method_titles[[x$method]], ": ", counted(count, "mean", "means"),
                if (is.matrix(x$mean)) paste0(" of ", counted(ncol(x$mean), "coordinate", "coordinates")),
                " from ", format(sum(x$n)), " samples")
  print_call(x$call)
  short <- function(value) paste(format(value, digits = 4L), collapse = " ")
  if (!is.null(x$gamma)) {
    cli::cat_line("gamma ", short(x$gamma), if (!is.null(x$cv)) " (cross-validated)", if (!is.null(x$tau2)) paste0(", tau^2 ", short(x$tau2)),
                  if (length(x$target) == 1L) paste0(", target ", short(x$target)))
  } else {
    cli::cat_line("keeps ", short(100 * x$shrinkage), "% of the distance to ", short(x$target), if (!is.null(x$cv)) " (cross-validated)")
  }
  if (length(x$sigma2) == 1L) {
    cli::cat_line("Variance within tasks: ", short(x$sigma2), " (", x$variance, ")")
  } else {
    cli::cat_line("Variances within tasks: ", x$variance)
  }
  if (!is.matrix(x$mean)) {
    shown <- utils::head(seq_len(count), 6L)
    print(data.frame(n = x$n[shown], mean = x$mean[shown], estimate = x$estimate[shown], row.names = names(x$estimate)[shown]), digits = 4L)
  } else {
    print(utils::head(x$estimate, 6L), digits = 4L)
  }
  if (count > 6L) cli::cat_line("... and ", count - 6L, " more; coef(), summary(), confint(), plot()")
  invisible(x)
}

#' @importFrom stats coef confint
#' @rdname granary_means
#' @export
coef.granary_means <- function(object, ...) object$estimate

#' @rdname granary_means
#' @export
fitted.granary_means <- function(object, ...) {
  refuse_dots(...)
  if (is.null(object$group)) return(object$estimate)
  if (is.matrix(object$estimate)) object$estimate[object$group, , drop = FALSE] else object$estimate[object$group]
}

#' @rdname granary_means
#' @export
residuals.granary_means <- function(object, ...) {
  refuse_dots(...)
  if (is.null(object$group)) abort_input("`object` was fitted to means, so there are no residuals of samples.", "object")
  object$y - fitted(object)
}

#' @rdname granary_means
#' @export
predict.granary_means <- function(object, newdata = NULL, ...) {
  refuse_dots(...)
  if (is.null(newdata)) return(object$estimate)
  if (is.data.frame(newdata) && !is.null(newdata$group)) newdata <- newdata$group
  if (is.factor(newdata) || (is.numeric(newdata) && !is.object(newdata))) newdata <- as.character(newdata)
  if (!is.character(newdata) || anyNA(newdata) || length(newdata) == 0L) fail_input("newdata", "the names of tasks", describe(newdata))
  names <- if (is.matrix(object$estimate)) rownames(object$estimate) else names(object$estimate)
  at <- match(newdata, names)
  if (anyNA(at) && is.null(object$target)) {
    abort_input(sprintf("`newdata` must name tasks of the fit, but \"%s\" is none, and this method has no common target.",
                        newdata[is.na(at)][1L]), "newdata")
  }
  if (is.matrix(object$estimate)) {
    out <- object$estimate[at, , drop = FALSE]
    out[is.na(at), ] <- rep(object$target, each = sum(is.na(at)))
    rownames(out) <- newdata
    return(out)
  }
  out <- object$estimate[at]
  out[is.na(at)] <- object$target
  stats::setNames(out, newdata)
}

#' @rdname granary_means
#' @export
confint.granary_means <- function(object, parm = NULL, level = 0.95, type = c("naive", "posterior"), ...) {
  refuse_dots(...)
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  type <- check_choice(type, c("naive", "posterior"))
  if (is.matrix(object$estimate)) abort_input("confint() is for scalar means; `se` has a standard error for every coordinate.", "object")
  spread <- if (type == "naive") object$se else object$posterior_sd
  if (is.null(spread)) {
    abort_input(if (type == "naive") "The fit has no standard errors: there are too many tasks for a given similarity." else
      "The fit has no posterior standard deviations; use type = \"naive\".", "object")
  }
  at <- task_positions(parm, names(object$estimate))
  tail <- (1 - level) / 2
  width <- stats::qnorm(1 - tail) * spread[at]
  limits <- cbind(object$estimate[at] - width, object$estimate[at] + width)
  dimnames(limits) <- list(names(object$estimate)[at], paste(format(100 * c(tail, 1 - tail), trim = TRUE, digits = 3L), "%"))
  limits
}

task_positions <- function(parm, names) {
  if (is.null(parm)) return(seq_along(names))
  if (is.factor(parm)) parm <- as.character(parm)
  if (is.character(parm) && length(parm) > 0L) {
    at <- match(parm, names)
    if (anyNA(at)) abort_input(sprintf("`parm` must name tasks of the fit, but \"%s\" is none.", parm[is.na(at)][1L]), "parm")
    return(at)
  }
  parm <- check_vector(parm, "parm", lower = 1, upper = length(names))
  if (any(parm != round(parm))) abort_input("`parm` must hold whole numbers or names.", "parm")
  as.integer(parm)
}

means_table <- function(fit) {
  if (is.matrix(fit$estimate)) {
    columns <- if (is.null(colnames(fit$estimate))) seq_len(ncol(fit$estimate)) else colnames(fit$estimate)
    return(data.frame(task = rep(rownames(fit$estimate), length(columns)), coordinate = rep(columns, each = nrow(fit$estimate)),
                      n = rep(unname(fit$n), length(columns)),
                      mean = as.vector(fit$mean), estimate = as.vector(fit$estimate), se = as.vector(fit$se)))
  }
  out <- data.frame(task = names(fit$estimate), n = unname(fit$n), mean = unname(fit$mean), estimate = unname(fit$estimate))
  if (!is.null(fit$se)) out$se <- unname(fit$se)
  if (!is.null(fit$weights)) out$weight <- unname(fit$weights)
  out
}

#' @rdname granary_means
#' @export
tidy.granary_means <- function(x, ...) {
  refuse_dots(...)
  out <- means_table(x)
  names(out)[match(c("task", "se"), names(out), 0L)] <- c("term", "std.error")[match(c("task", "se"), names(out), 0L) > 0L]
  out
}

#' @rdname granary_means
#' @export
summary.granary_means <- function(object, ...) {
  moved <- abs(object$estimate - object$mean)
  seal(structure(list(title = method_titles[[object$method]], call = object$call, table = means_table(object),
                 moved = stats::quantile(moved, names = FALSE),
                 spread = c(mean = stats::sd(object$mean), estimate = stats::sd(object$estimate))), class = "summary_granary_means"))
}

#' @export
print.summary_granary_means <- function(x, ...) {
  cli::cat_line(x$title)
  print_call(x$call)
  cli::cat_line("Moved by (quartiles): ", paste(format(x$moved, digits = 3L), collapse = " "))
  if (!anyNA(x$spread)) cli::cat_line("Standard deviation of the means ", format(x$spread[[1L]], digits = 4L), ", of the estimates ",
                                      format(x$spread[[2L]], digits = 4L))
  print(utils::head(x$table, 30L), digits = 4L, row.names = FALSE)
  if (nrow(x$table) > 30L) cli::cat_line("... and ", nrow(x$table) - 30L, " more rows")
  invisible(x)
}

# The tasks to draw, as a table of scalars.
means_shown <- function(fit, max_tasks) {
  max_tasks <- check_count(max_tasks)
  table <- means_table(fit)
  if (nrow(table) > max_tasks) table <- table[order(table$n)[round(seq(1, nrow(table), length.out = max_tasks))], ]
  table
}

#' @rdname granary_means
#' @export
plot.granary_means <- function(x, max_tasks = 500, ...) {
  table <- means_shown(x, max_tasks)
  shown <- range(table$mean, table$estimate)
  draw(graphics::plot, table$n, table$mean, log = "x", ylim = shown, pch = 1, cex = 0.7, col = "grey50", las = 1, xlab = "samples", ylab = "mean",
       user = list(...))
  far <- abs(table$estimate - table$mean) > 0.01 * max(diff(shown), 1e-300)
  if (any(far)) {
    graphics::arrows(table$n[far], table$mean[far], table$n[far], table$estimate[far], length = 0.05, col = sign_colours[["positive"]])
  }
  graphics::points(table$n[!far], table$estimate[!far], pch = 19, cex = 0.5, col = sign_colours[["positive"]])
  if (length(x$target) == 1L) graphics::abline(h = x$target, lty = 3)
  invisible()
}

#' @rdname granary_means
#' @usage \method{autoplot}{granary_means}(object, max_tasks = 500, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_means <- function(object, max_tasks = 500, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  table <- means_shown(object, max_tasks)
  plot <- ggplot2::ggplot(table, ggplot2::aes(x = .data$n, y = .data$mean)) +
    ggplot2::geom_segment(ggplot2::aes(xend = .data$n, yend = .data$estimate), colour = sign_colours[["positive"]],
                          arrow = ggplot2::arrow(length = ggplot2::unit(0.15, "cm"))) +
    ggplot2::geom_point(shape = 1, colour = "grey50") + ggplot2::scale_x_continuous(trans = "log10") + ggplot2::labs(x = "samples", y = "mean")
  if (length(object$target) == 1L) plot <- plot + ggplot2::geom_hline(yintercept = object$target, linetype = 3)
  plot
}
