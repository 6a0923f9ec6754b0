#' Methods for Bayesian optimisation
#'
#' Print, predict with the surrogate, plot, and go on.
#'
#' @param x,object A fit of [bayes_opt()] or a state of [bo_init()].
#' @param newdata Points in the user's units; by default those evaluated.
#' @param se Whether to give the standard deviation of the prediction too (the scale where a t law has no variance, \eqn{\nu \le 2}{nu <= 2}).
#' @param cov Whether to give the covariance of the predictions (of the first particle, for `learn = "mcmc"`).
#' @param f The function; by default the one of before.
#' @param n_iter,batch,target,time_limit,file,verbose As in [bayes_opt()].
#' @param which `"trace"` (responses and best so far), `"surrogate"` (one input: the prediction with a band of two standard deviations and the
#'   criterion
#'   below; more: prediction and criterion over two of them, others at the best point), or `NULL` for the surrogate where there are at most two
#'   numeric
#'   inputs and nothing else, and the trace otherwise.
#' @param inputs Names or positions of the inputs for `"surrogate"`, one or two.
#' @param points Grid points per input; `NULL` for 300 with one input and 60 with two.
#' @param ... For `plot()`, passed on to the plotting function; otherwise not used.
#' @return `predict()` a vector of predictions, or a list with `fit`, `se.fit` and `cov` as asked for. `update()` a new fit. `coef()` the kernel's
#'   parameters,
#'   with the noise where it is learnt. `tidy()` the evaluations as a data frame, `glance()` one row.
#' @seealso [bayes_opt()], [bo_acquisition()], [gp_bandit()], [kriging()], [test_function()]
#' @name granary_bayes_opt
#' @examples
#' set.seed(2)
#' branin <- test_function("branin")
#' box <- attr(branin, "box")
#' fit <- bayes_opt(branin, box[, 1], box[, 2], n_init = 5, n_iter = 6)
#' summary(fit)
#' predict(fit, rbind(c(3, 2)), se = TRUE)
#' fit <- update(fit, n_iter = 2)
#' coef(fit)
#' plot(fit, "trace")
#' plot(fit, "surrogate", points = 15)
#' glance(fit)
#' head(tidy(fit))
NULL

#' @rdname granary_bayes_opt
#' @export
print.granary_bayes_opt <- function(x, ...) {
  n <- length(x$y)
  cli::cat_line("granary: Bayesian optimisation, ", if (x$settings$maximize) "maximum" else "minimum", " of ", bo_space_text(x$space))
  print_call(x$call)
  cli::cat_line("Model: ", x$type, ", ", format(x$model$kernel), "; criterion ", acquisition_text(x$criterion), "; learning ", x$settings$learn)
  if (n == 0L) {
    cli::cat_line("No evaluations yet: bo_suggest() proposes points, bo_observe() takes their results.")
    return(invisible(x))
  }
  failed <- sum(x$status != "ok")
  cli::cat_line("Evaluations: ", n, if (failed > 0L) paste0(", ", failed, " of them failed"),
                if (nzchar(x$convergence$message)) paste0("; ", x$convergence$message))
  if (!is.na(x$best_y)) {
    cli::cat_line("Best value ", format(x$best_y, digits = 6L), " at evaluation ", match(x$best_y, x$y), ":")
    cli::cat_line("  ", bo_point_text(x, match(x$best_y, x$y)))
    if (bo_noisy(x) && !is.null(x$theta)) {
      expected <- predict(x)
      at <- which(x$status == "ok")
      at <- at[which.min((if (x$settings$maximize) -1 else 1) * expected[at])]
      cli::cat_line("Best prediction ", format(expected[at], digits = 6L), " at evaluation ", at, ":")
      cli::cat_line("  ", bo_point_text(x, at))
    }
  }
  invisible(x)
}

bo_point_text <- function(x, i) {
  point <- bo_point(x$space, x$x, i)
  labels <- names(point) %||% x$space$names
  shown <- utils::head(seq_along(point), 10L)
  values <- vapply(point[shown], function(v) if (is.numeric(v)) format(v, digits = 5L) else as.character(v), "")
  paste0(paste0(labels[shown], " = ", values, collapse = ", "), if (length(point) > 10L) ", ...")
}

bo_space_text <- function(space) {
  if (nrow(space$candidates) > 0L) return(paste("a list of", nrow(space$candidates), "candidates"))
  if (!is.null(space$embedding)) return(sprintf("%d inputs through a random embedding of dimension %d", length(space$lower), ncol(space$embedding)))
  whole <- sum(space$values > 0L & space$categorical == 0L)
  paste(c(
    if (sum(space$values == 0L) > 0L) counted(sum(space$values == 0L), "continuous input", "continuous inputs"),
    if (whole > 0L) counted(whole, "integer input", "integer inputs"),
    if (length(space$levels) > 0L) counted(length(space$levels), "categorical input", "categorical inputs")
  ), collapse = ", ")
}

#' @rdname granary_bayes_opt
#' @export
summary.granary_bayes_opt <- function(object, ...) {
  seal(structure(list(fit = object, parameters = if (!is.null(object$theta)) coef(object), used = table(object$trace$used),
                 messages = unique(object$trace$message[object$status != "ok"])), class = "summary_granary_bayes_opt"))
}

#' @export
print.summary_granary_bayes_opt <- function(x, ...) {
  print(x$fit)
  if (length(x$parameters) > 0L) {
    cli::cat_line("Kernel parameters (inputs scaled to [0, 1]):")
    print(x$parameters, digits = 4L)
    bound <- bo_on_bound(x$fit)
    if (length(bound) > 0L) cli::cat_line("At a bound of the search: ", paste(bound, collapse = ", "))
  }
  if (length(x$used) > 0L) cli::cat_line("Points chosen by: ", paste0(names(x$used), " ", x$used, collapse = ", "))
  if (length(x$fit$gains) > 0L) cli::cat_line("Gains of the criteria: ", paste(format(x$fit$gains, digits = 4L), collapse = ", "))
  if (length(x$messages) > 0L) cli::cat_line("Failures: ", paste(utils::head(x$messages, 5L), collapse = "; "))
  cli::cat_line("Seconds besides f: ", format(x$fit$convergence$seconds, digits = 3L))
  invisible(x)
}

bo_on_bound <- function(object) {
  at <- colMeans(object$theta)
  object$box$names[abs(at - object$box$lower) < 1e-6 | abs(at - object$box$upper) < 1e-6]
}

#' @rdname granary_bayes_opt
#' @export
coef.granary_bayes_opt <- function(object, ...) {
  object <- bo_ready(object)
  stats::setNames(exp(colMeans(object$theta)), object$box$names)
}

#' @rdname granary_bayes_opt
#' @export
predict.granary_bayes_opt <- function(object, newdata = NULL, type = c("response", "criterion"), se = FALSE, cov = FALSE, criterion = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("response", "criterion"))
  if (type == "criterion") return(bo_criterion_at(object, if (is.null(newdata)) object$x else newdata, criterion))
  if (!is.null(criterion)) abort_input("`criterion` goes with type = \"criterion\".", "criterion")
  se <- check_flag(se)
  cov <- check_flag(cov)
  object <- bo_ready(object)
  unit <- if (is.null(newdata)) {
    object$unit
  } else if (!is.null(object$space$embedding)) {
    bo_embedded(object, newdata, "newdata")
  } else {
    bo_to_unit(object$space, newdata, "newdata")
  }
  data <- bo_data(object)
  raw <- bo_predict_unit(object, unit)
  fit <- data$sign * (data$centre + data$scale * rowMeans(raw$location))
  if (!se && !cov) return(fit)
  inflation <- ifelse(raw$nu > 2, ifelse(is.finite(raw$nu), raw$nu / (raw$nu - 2), 1), 1)
  result <- list(fit = fit)
  if (se) {
    within <- rowMeans(sweep(raw$scale^2, 2L, inflation, "*"))
    result$se.fit <- data$scale * sqrt(within + rowMeans((raw$location - rowMeans(raw$location))^2))
  }
  if (cov) {
    result$cov <- data$scale^2 * inflation[1L] *
      core_bo_covariance(bo_core_state(object, data), unit)
  }
  result
}

#' @rdname granary_bayes_opt
#' @export
update.granary_bayes_opt <- function(object, n_iter = 10, f = NULL, batch = 1, target = NULL, time_limit = Inf, file = NULL, verbose = FALSE, ...) {
  object <- check_bo(object)
  n_iter <- check_count(n_iter, lower = 0)
  run <- bo_run_options(batch, target, time_limit, file, verbose)
  f <- f %||% object$f
  if (!is.function(f)) fail_input("f", "a function of a point (the state has none of its own)", describe(f))
  if (!is.null(object$pending)) {  # read from a file that was written before an evaluation which never came back
    pending <- object$pending
    object["pending"] <- list(NULL)
    object <- bo_tell(object, pending, rep(NA_real_, nrow(pending)), rep("failed", nrow(pending)), rep(NA_real_, nrow(pending)),
                      rep("R ended during this evaluation", nrow(pending)))
  }
  bo_run(object, f, max(length(object$y), nrow(object$design)) + n_iter, run)
}

#' @rdname granary_bayes_opt
#' @export
tidy.granary_bayes_opt <- function(x, ...) {
  cbind(x$trace["iter"], as.data.frame(x$x), x$trace[-1L])
}

#' @rdname granary_bayes_opt
#' @export
glance.granary_bayes_opt <- function(x, ...) {
  data.frame(best = x$best_y, evaluations = length(x$y), failed = sum(x$status != "ok"), converged = x$convergence$converged,
             seconds = x$convergence$seconds)
}

#' @rdname granary_bayes_opt
#' @export
plot.granary_bayes_opt <- function(x, which = NULL, inputs = NULL, points = NULL, ...) {
  points <- check_count(points, lower = 2, upper = 1000, allow_null = TRUE)
  if (!any(x$status == "ok")) abort_input("There is nothing to plot yet: tell it results first, with bo_observe().", "x")
  small <- length(x$space$levels) == 0L && length(x$space$lower) <= 2L && is.null(x$space$embedding)
  which <- if (is.null(which)) if (small) "surrogate" else "trace" else check_choice(which, c("trace", "surrogate"))
  if (which == "trace") return(bo_plot_trace(x, list(...)))
  if (!is.null(x$space$embedding)) abort_input("The surrogate of an embedding cannot be drawn over the inputs. Use which = \"trace\".", "which")
  numeric <- x$space$names[seq_along(x$space$lower)]
  if (length(numeric) == 0L) abort_input("A surrogate of categories only cannot be drawn. Use which = \"trace\".", "which")
  if (is.null(inputs)) inputs <- seq_len(min(2L, length(numeric)))
  at <- match(inputs, if (is.character(inputs)) numeric else seq_along(numeric))
  if (!length(at) %in% 1:2 || anyNA(at) || anyDuplicated(at)) {
    fail_input("inputs", "one or two names or positions of numeric inputs", describe(inputs))
  }
  bo_plot_surrogate(bo_ready(x), at, points %||% c(300L, 60L)[length(at)], list(...))
}

bo_plot_trace <- function(x, user) {
  ok <- x$status == "ok"
  draw(graphics::plot, x$trace$iter[ok], x$y[ok], pch = ifelse(x$trace$used[ok] == "design", 1L, 19L), cex = 0.7, col = "#00000088",
       xlab = "evaluation", ylab = "response", xlim = c(1, length(x$y)), user = user)
  graphics::lines(x$trace$iter, x$trace$best, type = "s", col = "#2166ac", lwd = 2)
  if (any(!ok)) graphics::rug(x$trace$iter[!ok], col = "#b2182b", lwd = 2)
  invisible()
}

bo_plot_surrogate <- function(x, at, points, user) {
  space <- x$space
  grid <- lapply(at, function(j) seq(space$lower[j], space$upper[j], length.out = points))
  grid <- Map(function(g, j) if (space$values[j] > 0L) unique(round(g)) else g, grid, at)
  sizes <- lengths(grid)
  base <- if (is.data.frame(x$x)) as.data.frame(x$best_x) else matrix(x$best_x, 1L, dimnames = list(NULL, space$names))
  where <- base[rep(1L, prod(sizes)), , drop = FALSE]
  where[, at[1L]] <- rep(grid[[1L]], length.out = prod(sizes))
  if (length(at) == 2L) where[, at[2L]] <- rep(grid[[2L]], each = sizes[1L])
  prediction <- predict(x, where, se = TRUE)
  criterion <- if (x$criterion$type == "hedge") x$criterion$children[[1L]] else x$criterion
  value <- bo_criterion_at(x, where, criterion)
  old <- graphics::par(mfrow = if (length(at) == 1L) c(2L, 1L) else c(1L, 2L), mar = c(4, 4, 2, if (length(at) == 1L) 1 else 4))
  on.exit(graphics::par(old))
  ok <- x$status == "ok"
  data <- as.data.frame(x$x)[ok, at, drop = FALSE]
  if (length(at) == 1L) {
    draw_band(grid[[1L]], prediction$fit, prediction$se.fit, data[[1L]], x$y[ok], xlab = names(data), ylab = "response", user = user)
    graphics::plot(grid[[1L]], value, type = "l", lwd = 2, col = "#b2182b", xlab = names(data), ylab = acquisition_text(criterion))
  } else {
    draw_surface(grid[[1L]], grid[[2L]], matrix(prediction$fit, sizes[1L]), points = data, xlab = names(data)[1L], ylab = names(data)[2L],
                 main = "prediction", user = user)
    draw_surface(grid[[1L]], grid[[2L]], matrix(value, sizes[1L]), points = data, xlab = names(data)[1L], ylab = names(data)[2L],
                 main = acquisition_text(criterion), palette = "Oranges")
  }
  invisible()
}
