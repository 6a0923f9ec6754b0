# Methods of transfer forests.

#' @rdname transfer_forest
#' @param object A fit.
#' @param newdata Rows in the columns of the fit; without it those of the target the fit was made with, out of bag with `replace`.
#' @param type `"class"`; `"prob"`: shares of the classes; `"leaf"`: the number of the leaf in each tree.
#' @param group Which rows belong together, such as the frames of a film or the measurements of a person: groups get one answer each, from the product of the
#'   shares of their rows (naive Bayes).
#' @param prior For groups: `NULL` for the product of shares, as in the paper, which counts the shares of the classes in training once per row; `"training"` counts
#'   them once; or the shares of the classes among groups, named.
#' @export
predict.granary_transfer_forest <- function(object, newdata = NULL, type = c("class", "prob", "leaf"), group = NULL, prior = NULL, threads = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(if (identical(type, "response")) "class" else type, c("class", "prob", "leaf"))
  if (is.null(newdata) && !is.null(object$prediction) && type != "leaf") {
    prob <- object$prediction
  } else {
    x <- if (is.null(newdata)) object$x else new_design(newdata, object$columns, object$design, "newdata", allow_sparse = FALSE)
    rows <- rownames(x)
    x <- unname_design(x)
    storage.mode(x) <- "double"
    if (length(object$append) > 0L) x <- cbind(x, matrix(object$append, nrow(x), length(object$append), byrow = TRUE))
    x <- unname_design(x)
    if (type == "leaf") {
      if (!is.null(group)) abort_input("Groups have no leaf: use type = \"class\" or \"prob\" with `group`.", "group")
      return(core_transfer_leaves(x, held_transfer(object), thread_count(threads), progress_bar("transfer forest")))
    }
    prob <- core_transfer_predict(x, held_transfer(object), object$settings$smooth, thread_count(threads), progress_bar("transfer forest"))
    dimnames(prob) <- list(rows, object$levels)
  }
  if (is.null(group)) {
    if (!is.null(prior)) abort_input("`prior` is for groups: give `group` as well.", "prior")
  } else {
    prob <- group_shares(object, prob, group, prior)
  }
  tree_answer(prob, object$levels, type)
}

group_shares <- function(object, prob, group, prior) {
  group <- transfer_labels(group, nrow(prob), "group")
  if (anyNA(prob)) abort_input("Some rows were in every tree: grow more trees, or predict for `newdata`.", "group")
  names <- as.character(unique(group))
  shares <- list()
  if (!is.null(prior)) {
    other <- if (identical(prior, "training")) object$prior else check_group_prior(prior, object$levels)
    shares <- list(prior = unname(object$prior), other = unname(other))
  }
  least <- 0.5 / (length(object$trees$start) * max(colSums(object$trees$cases)))  # half the smallest share that the forest can give
  found <- core_group_posterior(unname_design(prob), match(as.character(group), names), c(list(groups = length(names), floor = least), shares))
  dimnames(found) <- list(names, object$levels)
  found
}

check_group_prior <- function(prior, levels) {
  if (is.character(prior)) fail_input("prior", "NULL, \"training\", or one share per class", describe(prior))
  prior <- check_vector(prior, "prior", length = length(levels), lower = 0, strict_lower = TRUE)
  if (!is.null(names(prior))) {
    if (!setequal(names(prior), levels)) abort_input(sprintf("The names of `prior` must be the classes, %s.", paste0("\"", levels, "\"", collapse = ", ")), "prior")
    prior <- prior[levels]
  }
  prior / sum(prior)
}

#' @export
fitted.granary_transfer_forest <- function(object, ...) predict.granary_transfer_forest(object, ...)

#' @export
print.granary_transfer_forest <- function(x, ...) {
  refuse_dots(...)
  trees <- length(x$trees$start)
  cli::cat_line(if (inherits(x, "granary_transfer_forest_baseline")) paste0("Baseline of transfer forests (", x$method, "): ") else "Transfer forest: ",
                counted(trees, "tree", "trees"), ", ", format(round(length(x$trees$lender) / trees), big.mark = ","), " leaves on average")
  print_call(x$call)
  cases <- x$task_gain$cases
  cli::cat_line("Target: ", counted(cases[1L], "case", "cases"), " of ", length(x$levels), " classes; ", if (length(cases) == 1L) "no sources" else
    paste0(counted(length(cases) - 1L, "source", "sources"), " with ", counted(sum(cases[-1L]), "case", "cases"), ", gamma = ", format(x$settings$gain$gamma)))
  cli::cat_line(sprintf("%.1f%% of the leaves have no case of the target: %s", 100 * x$borrowed,
                        if (x$settings$propagate) "they borrow from the nearest that has" else "they have those of their ancestor"))
  if (!is.na(x$error)) cli::cat_line(sprintf("Out of bag: %.1f%% of the target misclassified", 100 * x$error))
  most <- utils::head(rownames(x$importance)[order(-transfer_mixed(x))], 5L)
  cli::cat_line("Most important: ", paste(most, collapse = ", "))
  invisible(x)
}

# What the splits of a column gain, weighted as the score was.
transfer_mixed <- function(x) {
  gamma <- x$settings$gain$gamma
  (1 - gamma) * x$importance[, "target"] + gamma * x$importance[, "sources"]
}

#' @export
summary.granary_transfer_forest <- function(object, ...) {
  seal(structure(list(fit = object, task_gain = object$task_gain), class = "summary_granary_transfer_forest"))
}

#' @export
print.summary_granary_transfer_forest <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  cli::cat_line("What the splits say about the labels of each task (share of the impurity that they take away):")
  print(format(x$task_gain, digits = 3L), row.names = FALSE)
  invisible(x)
}

#' @export
tidy.granary_transfer_forest <- function(x, ...) {
  out <- data.frame(term = rownames(x$importance), estimate = unname(transfer_mixed(x)), target = unname(x$importance[, "target"]), sources = unname(x$importance[, "sources"]))
  out[order(-out$estimate), ]
}

#' @export
glance.granary_transfer_forest <- function(x, ...) {
  data.frame(n = x$n, n_target = x$task_gain$cases[1L], tasks = length(x$tasks), columns = length(x$columns), n_trees = length(x$trees$start),
             leaves = length(x$trees$lender), borrowed = x$borrowed, gamma = x$settings$gain$gamma, error = x$error)
}

transfer_colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#999999")

# Answers on a grid over the range of the target, for two columns.
transfer_grid <- function(x, size = 80L) {
  around <- function(v) {
    range <- range(v)
    if (diff(range) == 0) range <- range + c(-1, 1)
    seq(range[1L] - 0.15 * diff(range), range[2L] + 0.15 * diff(range), length.out = size)
  }
  at <- list(around(x$x[, 1L]), around(x$x[, 2L]))
  points <- as.matrix(expand.grid(at))
  colnames(points) <- x$columns
  trees <- x
  trees$design <- NULL
  list(at = at, points = points, class = stats::predict(trees, points, type = "class"))
}

#' @rdname transfer_forest
#' @details `plot()` shows the classes over the plane where there are two columns, and the importance of the columns otherwise.
#' @export
plot.granary_transfer_forest <- function(x, ...) {
  if (length(x$columns) == 2L && length(x$levels) <= 8L) {
    grid <- transfer_grid(x)
    shown <- transfer_colours[seq_along(x$levels)]
    draw(graphics::image, grid$at[[1L]], grid$at[[2L]], matrix(as.integer(grid$class), length(grid$at[[1L]])), col = paste0(shown, "40"), zlim = c(1, length(x$levels)),
         xlab = x$columns[1L], ylab = x$columns[2L], user = list(...))
    graphics::points(x$x[, 1L], x$x[, 2L], pch = 21, bg = shown[as.integer(x$y)], col = "white")
    graphics::legend("topright", x$levels, pt.bg = shown, pch = 21, col = "white", bty = "n")
    return(invisible(x))
  }
  table <- utils::head(tidy.granary_transfer_forest(x), 20L)
  table <- table[rev(seq_len(nrow(table))), ]
  old <- graphics::par(mar = c(4.1, max(4, min(15, 0.55 * max(nchar(table$term)))) + 1, 1.1, 1.1))
  on.exit(graphics::par(old))
  at <- seq_len(nrow(table))
  draw(graphics::plot, table$target, at, xlim = range(0, table$target, table$sources), yaxt = "n", ylab = "", pch = 16, col = transfer_colours[1L], bty = "n",
       xlab = "gain of its splits", main = "", user = list(...))
  graphics::points(table$sources, at, pch = 1, col = transfer_colours[2L])
  graphics::axis(2L, at, table$term, las = 1L, tick = FALSE, cex.axis = 0.8)
  graphics::legend("bottomright", c("target", "sources"), pch = c(16, 1), col = transfer_colours[1:2], bty = "n")
  invisible(x)
}

#' @rdname transfer_forest
#' @usage \method{autoplot}{granary_transfer_forest}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_transfer_forest <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  if (length(object$columns) == 2L) {
    grid <- transfer_grid(object)
    area <- data.frame(u = grid$points[, 1L], v = grid$points[, 2L], class = grid$class)
    cases <- data.frame(u = object$x[, 1L], v = object$x[, 2L], class = object$y)
    return(gg_canvas(area, ggplot2::aes(.data$u, .data$v, fill = .data$class)) + ggplot2::geom_raster(alpha = 0.3) +
             ggplot2::geom_point(data = cases, shape = 21, colour = "white", size = 2) + ggplot2::labs(x = object$columns[1L], y = object$columns[2L], fill = NULL))
  }
  table <- utils::head(tidy.granary_transfer_forest(object), 20L)
  long <- data.frame(term = factor(rep(table$term, 2L), rev(table$term)), gain = c(table$target, table$sources), of = rep(c("target", "sources"), each = nrow(table)))
  gg_canvas(long, ggplot2::aes(.data$gain, .data$term, colour = .data$of)) + ggplot2::geom_point(size = 2) +
    ggplot2::labs(x = "gain of its splits", y = NULL, colour = NULL)
}
