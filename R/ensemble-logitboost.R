#' LogitBoost
#'
#' Boosting of the multinomial likelihood by regression stumps or small trees: probabilities of any number of classes,
#' with the number of rounds chosen by cross-validation.
#'
#' @details
#' Starting from equal probabilities, every round fits a small tree for each class to the working responses
#' \eqn{z = (y - p)/(p(1 - p))}, held within 4 of 0, with weights \eqn{p(1 - p)}, and adds
#' \deqn{F_j \leftarrow F_j + \nu \frac{J - 1}{J} \Big(f_j - \frac1J \sum_k f_k\Big), \quad p = \mathrm{softmax}(F)}{
#' F_j <- F_j + nu (J - 1)/J (f_j - mean_k f_k), p = softmax(F)}
#' (Friedman, Hastie and Tibshirani 2000, Algorithm 6). For two classes one tree a round is enough. Where `folds` are
#' given, the number of rounds is the one with the least held-out log loss. Columns may be sparse, and missing values go
#' to the side where they gain more.
#'
#' @section Which method when:
#' As the learner that combines others ([stack_classifiers()], [span_stack()]), where it was the best of the paper, and
#' for probabilities from few columns. [boost()] has margins and costs, [forest()] needs no tuning.
#'
#' @param x Rows, a numeric matrix (a sparse one too) or data frame; or a formula.
#' @param y Classes.
#' @param formula,data,subset,na.action A formula and its data frame, as for [stats::lm()].
#' @param weights Case weights.
#' @param n_rounds Most rounds.
#' @param max_leaves Leaves of a tree; 2 for stumps.
#' @param min_leaf Rows that a leaf needs.
#' @param shrinkage Factor \eqn{\nu} of all steps.
#' @param folds Folds for the number of rounds, as a number or one label per row; `NULL` for all rounds.
#' @param threads Threads; default `getOption("granary.threads")`. Nothing depends on it.
#' @param ... For the formula: arguments of the default method.
#' @return An object of class `granary_logitboost`, inheriting from `granary_fit`: `core` (trees), `rounds`, `loss` and
#'   `held_out` (log loss after 0, 1, ... rounds), `importance` of the columns, `levels`.
#' @references
#' Friedman, J., Hastie, T. and Tibshirani, R. (2000). Additive logistic regression: a statistical view of boosting.
#' *Annals of Statistics* 28, 337-407.
#'
#' Sigletos, G., Paliouras, G., Spyropoulos, C. D. and Hatzopoulos, M. (2005). Combining information extraction systems
#' using voting and stacked generalization.
#' *Journal of Machine Learning Research* 6, 1751-1782.
#' @seealso [boost()], [forest()], [stack_classifiers()], [span_stack()]
#' @export
#' @examples
#' set.seed(1)
#' fit <- logitboost(Species ~ ., iris, folds = 5)
#' fit
#' table(predict(fit, iris), iris$Species)
#' plot(fit)
logitboost <- function(x, ...) {
  UseMethod("logitboost", formula_or_first(x, ...))
}

#' @rdname logitboost
#' @export
logitboost.formula <- function(formula, data = NULL, weights, subset, na.action, ...) {
  formula_fit(logitboost.default, "logitboost", takes = "weights", ...)
}

#' @rdname logitboost
#' @export
logitboost.default <- function(x, y, weights = NULL, n_rounds = 50, max_leaves = 2, min_leaf = 1, shrinkage = 1,
                               folds = 10,
                               threads = NULL, ...) {
  call <- generic_call(match.call(), "logitboost")
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  x <- check_design(x, "x")
  y <- transfer_labels(y, nrow(x), "y")
  if (nlevels(y) < 2L) {
    abort_input(sprintf("`y` must have at least two classes, but all its labels are \"%s\".", levels(y)), "y")
  }
  w <- numeric()
  if (!is.null(weights)) {
    w <- unname(check_vector(weights, length = nrow(x), lower = 0))
    if (sum(w) == 0) abort_input("`weights` must not all be zero.", "weights")
    w <- w * length(w) / sum(w)
  }
  options <- list(classes = nlevels(y), n_rounds = check_count(n_rounds, upper = 1e5),
                  max_leaves = check_count(max_leaves, lower = 2, upper = 1e4), min_leaf = check_count(min_leaf),
                  shrinkage = check_number(shrinkage, lower = 0, strict_lower = TRUE, upper = 1),
                  threads = thread_count(threads))
  if (!is.null(folds)) {
    parts <- check_folds(if (length(folds) == 1L && is.numeric(folds)) min(folds, nrow(x)) else folds, nrow(x))
    options$fold <- match(parts, sort(unique(parts)))
    options$folds <- max(options$fold)
  }
  found <- core_logitboost(unname_design(x), as.integer(y), w, options, core_seed(), progress_bar("logitboost"))
  new_fit("logitboost", core = found, rounds = found$rounds, loss = found$loss,
          held_out = if (length(found$held_out) > 0L) found$held_out,
          importance = stats::setNames(found$importance, colnames(x)), levels = levels(y), columns = colnames(x), x = x,
          y = y, n = nrow(x), call = call, convergence = NULL)
}

#' @rdname logitboost
#' @param object A fit.
#' @param newdata Rows in the columns of the fit; without it those the fit was made with.
#' @param type `"class"` or `"prob"`.
#' @param rounds Rounds that count; `NULL` for the number chosen.
#' @export
predict.granary_logitboost <- function(object, newdata = NULL, type = c("class", "prob"), rounds = NULL, threads = NULL,
                                       ...) {
  refuse_dots(...)
  type <- check_choice(if (identical(type, "response")) "class" else type, c("class", "prob"))
  x <- if (is.null(newdata)) object$x else new_design(newdata, object$columns, object$design, "newdata")
  rounds <- if (is.null(rounds)) object$rounds else check_count(rounds, lower = 0, upper = length(object$loss) - 1L)
  rows <- rownames(x)
  prob <- core_logitboost_predict(unname_design(x), object$core, rounds, thread_count(threads),
                                  progress_bar("logitboost"))
  dimnames(prob) <- list(rows, object$levels)
  if (type == "prob") return(prob)
  factor(object$levels[max.col(prob, ties.method = "first")], object$levels)
}

#' @export
fitted.granary_logitboost <- function(object, ...) predict.granary_logitboost(object, ...)

#' @export
print.granary_logitboost <- function(x, ...) {
  refuse_dots(...)
  cli::cat_line("LogitBoost: ", counted(x$rounds, "round", "rounds"), ", ", length(x$levels), " classes, ",
                counted(x$n, "row", "rows"), ", ", counted(length(x$columns), "column", "columns"))
  print_call(x$call)
  cli::cat_line(sprintf("Log loss per row %.4f", x$loss[x$rounds + 1L]),
                if (!is.null(x$held_out)) sprintf(", held out %.4f (the least of %d rounds)", min(x$held_out),
                                                  length(x$held_out) - 1L))
  cli::cat_line("Most important: ", paste(names(utils::head(sort(-x$importance[x$importance > 0]), 5L)),
                                          collapse = ", "))
  invisible(x)
}

#' @export
summary.granary_logitboost <- function(object, ...) {
  seal(structure(list(fit = object, scores = assess(object)), class = "summary_granary_logitboost"))
}

#' @export
print.summary_granary_logitboost <- function(x, ...) {
  print(x$fit)
  cli::cat_line("On the rows of the fit:")
  print(x$scores, digits = 3L, row.names = FALSE)
  invisible(x)
}

#' @export
tidy.granary_logitboost <- function(x, ...) {
  out <- data.frame(term = names(x$importance), estimate = unname(x$importance))
  out[order(-out$estimate), ]
}

#' @export
glance.granary_logitboost <- function(x, ...) {
  data.frame(n = x$n, columns = length(x$columns), rounds = x$rounds, loss = x$loss[x$rounds + 1L],
             held.out = if (is.null(x$held_out)) NA_real_ else min(x$held_out))
}

logitboost_curve <- function(x) {
  data.frame(round = rep(seq_along(x$loss) - 1L, 1L + !is.null(x$held_out)), loss = c(x$loss, x$held_out),
             rows = rep(c("of the fit", if (!is.null(x$held_out)) "held out"), each = length(x$loss)))
}

#' @rdname logitboost
#' @details `plot()` shows the log loss after each round.
#' @export
plot.granary_logitboost <- function(x, ...) {
  curve <- logitboost_curve(x)
  draw(graphics::plot, curve$round, curve$loss, type = "n", ylim = c(0, max(curve$loss)), bty = "n", xlab = "rounds",
       ylab = "log loss per row", user = list(...))
  for (rows in unique(curve$rows)) {
    one <- curve[curve$rows == rows, ]
    graphics::lines(one$round, one$loss,
                    col = if (rows == "held out") sign_colours[["negative"]] else sign_colours[["positive"]], lwd = 2)
  }
  graphics::abline(v = x$rounds, lty = 3)
  graphics::legend("topright", unique(curve$rows), col = rev(unname(sign_colours))[seq_along(unique(curve$rows))],
                   lwd = 2, bty = "n")
  invisible(x)
}

#' @rdname logitboost
#' @usage \method{autoplot}{granary_logitboost}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_logitboost <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  gg_canvas(logitboost_curve(object), ggplot2::aes(.data$round, .data$loss, colour = .data$rows)) +
    ggplot2::geom_line() +
    ggplot2::geom_vline(xintercept = object$rounds, linetype = 3) + gg_palette("colour") +
      ggplot2::labs(x = "rounds", y = "log loss per row", colour = NULL)
}
