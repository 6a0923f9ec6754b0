#' Several kernels, and what a classifier should make of each
#'
#' Multiple kernel learning for two classes: the weights of the kernels that make the support vector machine of their
#' mixture best, with a bound on how far they are from it.
#'
#' @details
#' Over mixtures \eqn{\beta}{beta} (not negative, sum 1) and machines \eqn{a}, \eqn{0 \le a \le C}{0 <= a <= C},
#' \eqn{y'a = 0},
#' \deqn{\min_\beta \max_a \sum_j \beta_j S_j(a), \quad
#' S_j(a) = \sum_n a_n - \frac12 \sum_{r,s} a_r a_s y_r y_s k_j(x_r, x_s)}{
#' min_beta max_a sum_j beta_j S_j(a),   S_j(a) = sum_n a_n - 1/2 sum_{r,s} a_r a_s y_r y_s k_j(x_r, x_s)}
#' is a game with as many rows as kernels: kernels play the part of examples and machines that of answers. Each round
#' solves the machine of the mixture at hand. `"star"`: AdaBoost* then moves weight to kernels on which that machine
#' does badly, as in the paper; `"lp"`: a linear program finds the best mixture against all machines so far, which takes
#' far fewer of them. The value lies between `lower` and
#' `upper`; kernels that the classifier does not need get weight 0 with `"lp"`, and little with `"star"`.
#'
#' Kernels compete by their scale: a kernel ten times as large does the same with coefficients a tenth as large, and is
#' preferred. With
#' `normalize` each is divided by the mean of its diagonal first.
#'
#' @section Which method when:
#' Several sources of one thing (sequences, measurements, texts), each with a kernel of its own, and the question which
#' of them tell the classes apart. For one kernel [svm()]. A plain mean of normalised kernels is often as good for
#' prediction: compare.
#'
#' @param x A list of kernel matrices of the same rows; names are kept.
#' @param y Two classes, one label per row.
#' @param cost \eqn{C}: what an error costs.
#' @param method `"lp"` or `"star"`.
#' @param nu Precision of `"star"`, as a share of the largest \eqn{|S_j|}{|S_j|} met.
#' @param normalize Whether kernels are brought to a mean diagonal of 1.
#' @param tol Gap between `upper` and `lower` to stop at, relative to the objective.
#' @param max_iter Most machines.
#' @return An object of class `granary_boost_kernels`, inheriting from `granary_fit`: `coefficients` (weights of the
#'   kernels), `alpha` (signed coefficients of the rows), `intercept`, `objective`, `lower`, `upper`, `single` (the
#'   objective of each kernel alone: none is below the value), `path`, `decision`, `fitted`, `levels`.
#' @references
#' Ratsch, G. and Warmuth, M. K. (2005). Efficient margin maximizing with boosting. *Journal of Machine Learning
#' Research* 6, 2131-2152 (Appendix B).
#'
#' Sonnenburg, S., Ratsch, G., Schafer, C. and Scholkopf, B. (2006). Large scale multiple kernel learning. *Journal of
#' Machine Learning Research* 7, 1531-1565.
#' @seealso [svm()], [kernel_matrix()], [boost()], [boost_game()]
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(120), 60)
#' y <- factor(ifelse(rowSums(x^2) > 1.2, "out", "in"))
#' noise <- matrix(rnorm(120), 60)
#' kernels <- list(linear = tcrossprod(x), circle = tcrossprod(cbind(x^2, 1)), noise = tcrossprod(noise))
#' fit <- boost_kernels(kernels, y)
#' fit
#' table(predict(fit), y)
#' plot(fit)
#' by_steps <- boost_kernels(kernels, y, method = "star", nu = 0.05, normalize = FALSE)
#' c(by_steps$lower, by_steps$upper)
boost_kernels <- function(x, y, cost = 1, method = c("lp", "star"), nu = 0.01, normalize = TRUE, tol = 1e-3,
                          max_iter = 1000) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  kernels <- check_kernels(x)
  n <- nrow(kernels[[1L]])
  classes <- tree_classes(y, n)
  if (length(classes$levels) != 2L) {
    abort_input(sprintf("`y` must have two classes, but it has %d.", length(classes$levels)), "y")
  }
  options <- list(cost = check_number(cost, lower = 0, strict_lower = TRUE, upper = 1e6),
                  method = check_choice(method, c("lp", "star")),
                  nu = check_number(nu, lower = 0, strict_lower = TRUE, upper = 1),
                  tol = check_number(tol, lower = 0, strict_lower = TRUE), max_iter = check_count(max_iter))
  unit <- rep(1, length(kernels))
  if (check_flag(normalize)) unit <- vapply(kernels, function(k) mean(diag(k)), 0)
  dull <- which(!(unit > 0))
  if (length(dull) > 0L) {
    abort_input(sprintf("Kernel %s of `x` is zero: it has no scale.", label_of(names(kernels), dull[1L])), "x")
  }
  together <- do.call(cbind, Map(function(k, u) unname(k) / u, kernels, unit))
  found <- core_boost_kernels(unname_design(together), 2 * classes$y - 1, options, progress_bar("kernels"))
  rows <- rownames(kernels[[1L]])
  decision <- stats::setNames(found$decision, rows)
  weights <- stats::setNames(found$beta, names(kernels))
  fit <- new_fit(
    "boost_kernels", coefficients = weights, alpha = stats::setNames(found$coefficients, rows),
    intercept = found$intercept,
    objective = found$objective, lower = found$lower, upper = found$upper,
    single = stats::setNames(found$single, names(kernels)),
    path = cbind(round = seq_along(found$path$edge), as.data.frame(found$path)), decision = decision,
    fitted = kernel_class(decision, classes$levels), y = factor(classes$levels[classes$y + 1], classes$levels),
    levels = classes$levels,
    unit = unname(unit), row_names = rows, settings = options, n = n, call = call, convergence = found$convergence
  )
  check_convergence(fit, "Raise `max_iter`, or give a larger `tol` (or `nu`).")
}

# Symmetric matrices of one size and with the same rows, none of them with an eigenvalue clearly below 0.
check_kernels <- function(x) {
  if (is.matrix(x) && is.numeric(x)) x <- list(x)
  if (!is.list(x) || is.data.frame(x) || length(x) == 0L) fail_input("x", "a list of kernel matrices", describe(x))
  names <- variable_names(names(x), length(x))
  if (anyDuplicated(names) > 0L) abort_input("The names of the kernels in `x` must differ.", "x")
  x <- lapply(seq_along(x), function(j) check_symmetric(x[[j]], sprintf("x[[%d]]", j), min_size = 2L))
  names(x) <- names
  for (j in seq_along(x)) {
    if (nrow(x[[j]]) != nrow(x[[1L]])) {
      abort_input(sprintf("All kernels in `x` must have the same rows, but kernel %s has %d and the first %d.",
                          label_of(names, j), nrow(x[[j]]), nrow(x[[1L]])), "x")
    }
    given <- rownames(x[[j]])
    if (!is.null(given) && !is.null(rownames(x[[1L]])) && !identical(given, rownames(x[[1L]]))) {
      if (!setequal(given, rownames(x[[1L]])) || anyDuplicated(given) > 0L) {
        abort_input(sprintf("The rows of kernel %s in `x` have other names than those of the first.",
                            label_of(names, j)), "x")
      }
      x[[j]] <- x[[j]][rownames(x[[1L]]), rownames(x[[1L]])]
    }
    least <- core_smallest_share(unname_design(x[[j]]))
    if (least < -1e-8) {
      abort_input(
        sprintf("Kernel %s of `x` must be positive semidefinite: its smallest eigenvalue is %.3g times its largest.",
                label_of(names, j), least), "x")
    }
  }
  x
}

kernel_class <- function(decision, levels) stats::setNames(factor(levels[1L + (decision > 0)], levels), names(decision))

#' @rdname boost_kernels
#' @param object A fit.
#' @param newdata A list of matrices, one per kernel: new rows by rows of the fit. Without it the rows of the fit.
#' @param type `"response"` or `"class"`: classes; `"link"`: decision values, positive for the second class.
#' @param ... Nothing: an argument that is not known is an error; for `plot()` further arguments of [graphics::plot()].
#' @export
predict.granary_boost_kernels <- function(object, newdata = NULL, type = c("response", "class", "link"), ...) {
  refuse_dots(...)
  if (identical(type, "prob")) abort_input("Decision values are no probabilities: ask for type = \"link\".", "type")
  type <- check_choice(type, c("response", "class", "link"))
  decision <- if (is.null(newdata)) object$decision else new_decision(object, newdata)
  if (type == "link") decision else kernel_class(decision, object$levels)
}

new_decision <- function(object, newdata) {
  weights <- object$coefficients
  if (is.matrix(newdata)) newdata <- list(newdata)
  if (!is.list(newdata) || is.data.frame(newdata) || length(newdata) != length(weights)) {
    fail_input("newdata", sprintf("a list of %s, new rows by rows of the fit",
                                  counted(length(weights), "matrix", "matrices")), describe(newdata))
  }
  if (!is.null(names(newdata)) && all(nzchar(names(newdata)))) {
    lacking <- setdiff(names(weights), names(newdata))
    made_up <- identical(names(weights), paste0("V", seq_along(weights)))
    if (length(lacking) > 0L && !made_up) {
      abort_input(sprintf("`newdata` must have the kernels of the fit, but \"%s\" is missing.", lacking[1L]), "newdata")
    }
    if (!made_up) newdata <- newdata[names(weights)]
  }
  out <- object$intercept
  for (j in seq_along(weights)) {
    k <- check_matrix(newdata[[j]], sprintf("newdata[[%d]]", j))
    if (ncol(k) != object$n) {
      abort_input(sprintf("`newdata[[%d]]` must have a column for each of the %d rows of the fit, but it has %d.", j,
                          object$n, ncol(k)), "newdata")
    }
    if (!is.null(object$row_names) && !is.null(colnames(k))) {
      k <- match_columns(k, object$row_names, sprintf("newdata[[%d]]", j))
    }
    if (j > 1L && nrow(k) != length(out)) abort_input("The matrices in `newdata` must have the same rows.", "newdata")
    out <- out + weights[[j]] / object$unit[j] * drop(k %*% object$alpha)
  }
  stats::setNames(as.vector(out), rownames(newdata[[1L]]))
}

#' @export
print.granary_boost_kernels <- function(x, ...) {
  refuse_dots(...)
  cli::cat_line("Mixture of ", counted(length(x$coefficients), "kernel", "kernels"),
                " for a support vector machine, cost ", format(x$settings$cost))
  print_call(x$call)
  cli::cat_line(counted(x$n, "row", "rows"), ", classes ", paste(x$levels, collapse = " and "), "; ",
                counted(sum(abs(x$alpha) > 1e-8), "support vector", "support vectors"),
                sprintf(", %.1f%% of the rows misclassified", 100 * mean(x$fitted != x$y)))
  weights <- sort(x$coefficients, decreasing = TRUE)
  cli::cat_line("Weights: ", paste(utils::head(sprintf("%s %.3f", names(weights), weights), 8L), collapse = ", "),
                if (length(weights) > 8L) ", ...")
  cli::cat_line(sprintf("Objective %.6g, the best is at least %.6g; best kernel alone %.6g", x$upper, x$lower,
                        min(x$single)))
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @export
summary.granary_boost_kernels <- function(object, ...) {
  refuse_dots(...)
  seal(structure(list(fit = object, kernels = tidy.granary_boost_kernels(object),
                      confusion = table(class = object$y, predicted = object$fitted)),
                 class = "summary_granary_boost_kernels"))
}

#' @export
print.summary_granary_boost_kernels <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  print(x$kernels, digits = 4L, row.names = FALSE)
  cli::cat_line()
  print(x$confusion)
  invisible(x)
}

#' @export
tidy.granary_boost_kernels <- function(x, ...) {
  data.frame(term = names(x$coefficients), estimate = unname(x$coefficients), single = unname(x$single))
}

#' @export
glance.granary_boost_kernels <- function(x, ...) {
  data.frame(n = x$n, kernels = length(x$coefficients), used = sum(x$coefficients > 1e-6), objective = x$objective,
             lower = x$lower, upper = x$upper, rounds = nrow(x$path), converged = isTRUE(x$convergence$converged))
}

#' @rdname boost_kernels
#' @details `plot()` shows the weights of the kernels, `what = "path"` the bounds by round.
#' @param what `"weights"` or `"path"`.
#' @export
plot.granary_boost_kernels <- function(x, what = c("weights", "path"), ...) {
  what <- check_choice(what, c("weights", "path"))
  old <- graphics::par(mar = c(4.1, if (what == "path") 4.1 else max(4, min(15,
                                                                            0.55 * max(nchar(names(x$coefficients))))) +
                               1, 1.1, 1.1))
  on.exit(graphics::par(old))
  if (what == "weights") {
    weights <- rev(sort(x$coefficients, decreasing = TRUE))
    draw(graphics::plot, weights, seq_along(weights), xlim = c(0, max(weights)), ylim = c(0.5, length(weights) + 0.5),
         yaxt = "n", ylab = "", pch = 16L, col = "#0072B2", bty = "n",
         xlab = "weight of the kernel", main = "", user = list(...))
    graphics::segments(0, seq_along(weights), weights, seq_along(weights), col = "#0072B2")
    graphics::axis(2L, seq_along(weights), names(weights), las = 1L, tick = FALSE)
    return(invisible(x))
  }
  path <- x$path[is.finite(x$path$lower), ]
  draw(graphics::plot, path$round, path$upper, type = "l", col = "#D55E00", lwd = 2, bty = "n", las = 1L,
       xlab = "round", ylab = "objective", ylim = range(path$lower, path$upper), main = "",
       user = list(...))
  graphics::lines(path$round, path$lower, col = "#0072B2", lwd = 2)
  graphics::legend("right", c("best mixture yet", "no mixture is below"), col = c("#D55E00", "#0072B2"), lwd = 2,
                   bty = "n")
  invisible(x)
}

#' @rdname boost_kernels
#' @usage \method{autoplot}{granary_boost_kernels}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_boost_kernels <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  table <- tidy.granary_boost_kernels(object)
  table$term <- factor(table$term, table$term[order(table$estimate)])
  gg_canvas(table, ggplot2::aes(.data$estimate, .data$term)) + ggplot2::geom_point(colour = "#0072B2", size = 2) +
    ggplot2::geom_segment(ggplot2::aes(x = 0, xend = .data$estimate, yend = .data$term), colour = "#0072B2") +
      ggplot2::labs(x = "weight of the kernel", y = NULL)
}
