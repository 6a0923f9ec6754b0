#' Random forests
#'
#' Forests of classification or regression trees: bootstrap samples, columns drawn at each node, best or random thresholds, dense, sparse and mixed data with
#' missing values. The same forest at any number of threads.
#'
#' @details
#' Tree \eqn{b} is grown on a bootstrap sample (`replace = TRUE`) or on a share `sample` of the rows. At each node `mtry` columns are drawn, and the split
#' \eqn{x_j \le c}{x_j <= c} is taken that lowers most
#' \deqn{\sum_{side} W \left(1 - \sum_c p_c^2\right), \quad \sum_{side} -W \sum_c p_c \log p_c, \quad \sum_{side} \sum_i w_i (y_i - \bar y)^2}{
#' sum_side W (1 - sum_c p_c^2), sum_side -W sum_c p_c log p_c, or sum_side sum_i w_i (y_i - mean)^2}
#' for `score = "gini"`, `"entropy"` and for numbers. With `cuts` > 0 that many thresholds are drawn uniformly between the smallest and the largest value of
#' the node instead (extremely randomised trees, there usually with `replace = FALSE` and `sample = 1`). The forest answers with the mean over its trees of
#' the shares of classes, or of the means, in the leaf of a row.
#'
#' Factors are split by sets of levels: their levels are ordered by the share of the node's largest class or by their mean, and cut once, which is the best of
#' all sets for two classes and for numbers. Ordered factors are split as numbers. Rows with a missing value are tried on both sides of a split; where none was
#' missing in training they go with the larger side, and so do levels the fit has not met.
#'
#' `prediction` is out of bag: of every row the mean over the trees that have not seen it, and `error` the share of wrong classes or the mean squared error of
#' that. `importance = "impurity"` adds up what the splits of a column gain, `"permutation"` is by how much the error of unseen rows rises, on average over trees,
#' when the column is shuffled among them; the former favours columns with many values.
#'
#' @section Which method when:
#' `forest()` when effects are not linear, columns interact and the form is unknown, with next to no tuning. [lasso()] when few columns act linearly, [svm()] or
#' [gp_classify()] for smooth boundaries in few columns, [adapt_partition()] for regression in a few columns with a guarantee.
#'
#' @param x Rows: a matrix, a data frame with numbers and factors, or a sparse matrix. Or a formula.
#' @param y Classes (a factor, text, logical) or numbers. Numbers 0 and 1 are numbers; make them a factor for classes.
#' @param formula,data A formula such as `y ~ .` and the data frame of its variables; factors stay whole.
#' @param subset,na.action As in [stats::lm()]. Without `na.action` missing values of the right-hand side stay.
#' @param n_trees Number of trees.
#' @param mtry Columns drawn at each node; `NULL` for the root of their number, or a third of it for numbers.
#' @param min_node Rows a node needs to be split; `NULL` for 2, or 6 for numbers.
#' @param min_leaf Rows a leaf needs.
#' @param max_depth,max_leaves Most splits on the way to a leaf, and most leaves (best first); `NULL` for any number.
#' @param cuts Thresholds drawn per column; 0 for the best of all.
#' @param replace,sample Whether rows are drawn with replacement, and how many per tree, as a share of all.
#' @param score What a split of a classification tree lowers.
#' @param importance Which importance of the columns is computed.
#' @param weights One weight per row, or `NULL`.
#' @param threads Threads; default `getOption("granary.threads")`. The forest does not depend on it.
#' @param ... For the formula: arguments of the default method.
#' @return An object of class `granary_forest`, inheriting from `granary_fit`, with `prediction` (out of bag: numbers, or a matrix with one column per class),
#'   `error`, `importance`, `levels`, and `trees`, the trees in flat arrays.
#' @references
#' Breiman, L. (2001). Random forests. *Machine Learning* 45, 5-32.
#'
#' Geurts, P., Ernst, D. and Wehenkel, L. (2006). Extremely randomized trees. *Machine Learning* 63, 3-42.
#' @seealso [assess()], [svm()], [adapt_partition()]
#' @export
#' @examples
#' set.seed(1)
#' fit <- forest(Species ~ ., iris, n_trees = 100)
#' fit
#' head(predict(fit, iris[c(1, 51, 101), ], type = "prob"))
#' plot(fit)
forest <- function(x, ...) {
  UseMethod("forest", formula_or_first(x, ...))
}

#' @rdname forest
#' @export
forest.formula <- function(formula, data = NULL, subset, weights, na.action, ...) {
  tree_formula_fit(forest.default, "forest", ...)
}

#' @rdname forest
#' @export
forest.default <- function(x, y = NULL, n_trees = 500, mtry = NULL, min_node = NULL, min_leaf = 1, max_depth = NULL, max_leaves = NULL, cuts = 0, replace = TRUE,
                           sample = 1, score = c("gini", "entropy"), importance = c("impurity", "permutation", "none"), weights = NULL, threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (is.null(y)) fail_missing("y")
  data <- tree_data(x, "x")
  n <- nrow(data$x)
  classes <- if (!is.numeric(y) || is.factor(y)) tree_classes(y, n)
  target <- if (is.null(classes)) unname(check_vector(y, "y", length = n)) else classes$y
  if (is.null(classes) && n > 1L && all(target == target[1L])) message("`y` is constant: every tree is a leaf.")
  p <- ncol(data$x)
  mtry <- check_count(mtry, upper = p, allow_null = TRUE)
  if (is.null(mtry)) mtry <- max(1L, floor(if (is.null(classes)) p / 3 else sqrt(p)))
  min_node <- check_count(min_node, lower = 2, allow_null = TRUE)
  weights <- if (is.null(weights)) numeric() else unname(check_vector(weights, "weights", length = n, lower = 0))
  if (length(weights) > 0L && sum(weights) == 0) abort_input("`weights` must not all be 0.", "weights")
  options <- list(
    levels = tree_level_counts(data), classes = length(classes$levels), n_trees = check_count(n_trees, upper = 1e6), mtry = mtry,
    min_node = if (is.null(min_node)) if (is.null(classes)) 6L else 2L else min_node, min_leaf = check_count(min_leaf),
    max_depth = some_or_any(max_depth, "max_depth"), max_leaves = some_or_any(max_leaves, "max_leaves", 2), cuts = check_count(cuts, lower = 0, upper = 1000),
    replace = check_flag(replace), sample = check_number(sample, lower = 0, strict_lower = TRUE, upper = if (isTRUE(replace)) 1e3 else 1),
    score = check_choice(score, c("gini", "entropy")), importance = check_choice(importance, c("impurity", "permutation", "none")), threads = thread_count(threads)
  )
  found <- core_forest(unname_design(data$x), target, weights, options, core_seed(), progress_bar("forest"))
  prediction <- found$out_of_bag
  prediction[is.nan(prediction)] <- NA
  rownames(prediction) <- rownames(data$x)
  if (is.null(classes)) prediction <- prediction[, 1L] else colnames(prediction) <- classes$levels
  importance <- if (length(found$importance) > 0L) stats::setNames(found$importance, colnames(data$x))
  new_fit("forest", prediction = prediction, error = if (is.nan(found$error)) NA_real_ else found$error, importance = importance,
          importance_se = if (length(found$importance_se) > 0L) stats::setNames(found$importance_se, colnames(data$x)), trees = found$trees,
          y = if (is.null(classes)) target else factor(classes$levels[target + 1], classes$levels), levels = classes$levels, column_levels = data$levels,
          ordered = data$ordered, settings = options, n = n, weights = if (length(weights) > 0L) weights, held = new.env(parent = emptyenv()),
          call = generic_call(call, "forest"), convergence = NULL)
}

# A count, or 0 for any number where it is NULL.
some_or_any <- function(x, arg, lower = 1) {
  x <- check_count(x, arg, lower = lower, allow_null = TRUE)
  if (is.null(x)) 0L else x
}

# The trees in C++: brought there at the first prediction, and again in another session.
held_trees <- function(object) {
  if (is.null(object$held$trees) || !core_trees_alive(object$held$trees)) object$held$trees <- core_hold_trees(object$trees)
  object$held$trees
}

unname_design <- function(x) {
  dimnames(x) <- list(NULL, NULL)
  x
}

#' @rdname forest
#' @param object,x A fit.
#' @param newdata Rows in the columns of the fit; without it the answers are out of bag.
#' @param type `"response"`: numbers, or classes; `"class"`; `"prob"`: shares of the classes; `"leaf"`: the number of the leaf in each tree.
#' @export
predict.granary_forest <- function(object, newdata = NULL, type = c("response", "class", "prob", "leaf"), threads = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("response", "class", "prob", "leaf"))
  if (type %in% c("class", "prob") && is.null(object$levels)) abort_input("The forest has no classes: its response is a number.", "type")
  if (is.null(newdata)) {
    if (type == "leaf") abort_input("`newdata` must be given for type = \"leaf\".", "newdata")
    return(tree_answer(object$prediction, object$levels, type))
  }
  x <- tree_newdata(object, newdata)
  if (type == "leaf") return(core_forest_leaves(unname_design(x), held_trees(object), thread_count(threads), progress_bar("forest")))
  found <- core_forest_predict(unname_design(x), held_trees(object), length(object$trees$start), thread_count(threads), progress_bar("forest"))
  rownames(found) <- rownames(x)
  if (is.null(object$levels)) found <- found[, 1L] else colnames(found) <- object$levels
  tree_answer(found, object$levels, type)
}

# Shares of classes or numbers as what was asked for; of equal shares the first class.
tree_answer <- function(found, levels, type) {
  if (is.null(levels) || type == "prob") return(found)
  known <- !is.na(found[, 1L])
  at <- rep(NA_integer_, nrow(found))
  at[known] <- max.col(found[known, , drop = FALSE], "first")
  stats::setNames(factor(levels[at], levels), rownames(found))
}

#' @export
print.granary_forest <- function(x, ...) {
  trees <- length(x$trees$start)
  leaves <- sum(x$trees$feature < 0)
  cli::cat_line("Random forest: ", counted(trees, "tree", "trees"), ", ", format(round(leaves / trees), big.mark = ","), " leaves on average")
  print_call(x$call)
  cli::cat_line(counted(x$n, "row", "rows"), ", ", counted(length(x$column_levels), "column", "columns"), ", ", x$settings$mtry, " tried at each node",
                if (x$settings$cuts > 0L) paste0(", ", counted(x$settings$cuts, "random threshold", "random thresholds"), " each"))
  if (!is.null(x$levels)) cli::cat_line(length(x$levels), " classes: ", paste(utils::head(x$levels, 6L), collapse = ", "), if (length(x$levels) > 6L) ", ...")
  if (!is.na(x$error)) {
    spread <- if (is.null(x$levels)) x$error / mean((x$y - mean(x$y))^2)
    cli::cat_line("Out of bag: ", if (is.null(x$levels)) sprintf("mean squared error %s, %.1f%% of the variance explained", format(x$error, digits = 4L), 100 * (1 - spread))
                  else sprintf("%.1f%% of the rows misclassified", 100 * x$error))
  }
  if (!is.null(x$importance)) {
    most <- utils::head(sort(x$importance, decreasing = TRUE), 5L)
    cli::cat_line("Most important (", x$settings$importance, "): ", paste(names(most), collapse = ", "))
  }
  invisible(x)
}

#' @rdname forest
#' @export
plot.granary_forest <- function(x, ...) {
  if (is.null(x$importance)) abort_input("The forest was grown with importance = \"none\".", "x")
  most <- rev(utils::head(sort(x$importance, decreasing = TRUE), 20L))
  old <- graphics::par(mar = c(4.1, max(4, min(15, 0.55 * max(nchar(names(most))))) + 1, 1.1, 1.1))
  on.exit(graphics::par(old))
  se <- if (is.null(x$importance_se)) 0 else x$importance_se[names(most)]
  draw(graphics::plot, most, seq_along(most), xlim = range(0, most - 2 * se, most + 2 * se), yaxt = "n", ylab = "", pch = 16, col = "#0072B2", bty = "n",
       xlab = if (x$settings$importance == "permutation") "rise of the error when shuffled" else "mean gain of its splits", main = "", user = list(...))
  graphics::segments(if (any(se > 0)) most - 2 * se else 0, seq_along(most), if (any(se > 0)) most + 2 * se else most, seq_along(most), col = "#0072B2")
  graphics::axis(2L, seq_along(most), names(most), las = 1L, tick = FALSE, cex.axis = 0.8)
  graphics::abline(v = 0, col = "grey80")
  invisible(x)
}


#' @export
tidy.granary_forest <- function(x, ...) {
  if (is.null(x$importance)) abort_input("The forest was grown with importance = \"none\".", "x")
  out <- data.frame(term = names(x$importance), estimate = unname(x$importance))
  if (!is.null(x$importance_se)) out$std.error <- unname(x$importance_se)
  out[order(-out$estimate), ]
}

#' @export
glance.granary_forest <- function(x, ...) {
  data.frame(n = x$n, columns = length(x$column_levels), n_trees = length(x$trees$start), leaves = sum(x$trees$feature < 0), error = x$error)
}

#' @export
fitted.granary_forest <- function(object, ...) predict.granary_forest(object, ...)

#' @rdname forest
#' @usage \method{autoplot}{granary_forest}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_forest <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  table <- utils::head(tidy.granary_forest(object), 20L)
  table$term <- factor(table$term, rev(table$term))
  plot <- gg_canvas(table, ggplot2::aes(.data$estimate, .data$term)) + ggplot2::geom_point(colour = "#0072B2", size = 2) +
    ggplot2::labs(x = if (object$settings$importance == "permutation") "rise of the error when shuffled" else "mean gain of its splits", y = NULL)
  if (is.null(table$std.error)) return(plot)
  plot + ggplot2::geom_segment(ggplot2::aes(x = .data$estimate - 2 * .data$std.error, xend = .data$estimate + 2 * .data$std.error, yend = .data$term), colour = "#0072B2")
}
