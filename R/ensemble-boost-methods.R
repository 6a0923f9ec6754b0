#' @rdname boost
#' @param object,x A fit.
#' @param newdata Rows in the columns of the fit; without it the rows it was made from.
#' @param type `"response"` or `"class"`: classes; `"link"`: shares of the votes, one column per class (by margins one number in \eqn{[-1, 1]}{[-1, 1]}, towards the
#'   second class); `"margin"`: by row the share of the right class less the best other's, for new rows with `newy`; `"staged"`: a matrix of the classes after each
#'   round. There is no `"prob"`: shares of votes are no probabilities.
#' @export
predict.granary_boost <- function(object, newdata = NULL, type = c("response", "class", "link", "margin", "staged"), n_rounds = NULL, newy = NULL, threads = NULL, ...) {
  refuse_dots(...)
  if (identical(type, "prob")) abort_input("Votes of boosting are no probabilities: ask for type = \"link\", or use forest().", "type")
  type <- check_choice(type, c("response", "class", "link", "margin", "staged"))
  if (is.null(newy) != (type != "margin" || is.null(newdata))) {
    abort_input(if (is.null(newy)) "`newy` must be given for type = \"margin\" of new rows." else "`newy` is for type = \"margin\" of new rows.", "newy")
  }
  rounds <- length(object$alpha)
  last <- check_count(n_rounds, "n_rounds", lower = 1, upper = max(1L, rounds), allow_null = TRUE)
  last <- if (is.null(last)) rounds else min(last, rounds)
  if (is.null(newdata)) {
    if (type == "staged" || last < rounds) abort_input("`newdata` must be given for earlier rounds: the fit keeps the answers of the last one.", "newdata")
    return(if (type == "margin") object$margins else boost_answer(object, object$score, type))
  }
  trees <- object$learner %in% c("tree", "stump")
  x <- if (trees) tree_newdata(object, newdata) else boost_members(object, newdata, last)
  names <- rownames(x)
  x <- unname_design(x)
  if (type == "staged") {
    at <- if (trees) core_boost_staged(x, held_trees(object), boost_rounds(object), last, thread_count(threads), progress_bar("boost"))
          else core_answer_staged(x, object$alpha[seq_len(last)], length(object$levels), object$method %in% margin_methods, last)
    return(matrix(object$levels[at], nrow(x), dimnames = list(names, NULL)))
  }
  score <- if (trees) core_boost_score(x, held_trees(object), boost_rounds(object), last, thread_count(threads), progress_bar("boost"))
           else core_answer_score(x, object$alpha[seq_len(last)], length(object$levels), object$method %in% margin_methods, last)
  dimnames(score) <- list(names, object$levels)
  if (type == "margin") vote_margins(score, newy, object$levels) else boost_answer(object, score, type)
}

boost_rounds <- function(object) list(alpha = object$alpha, picks = object$answers)

# The share of the right label less the best other's.
vote_margins <- function(score, newy, levels) {
  at <- match(boost_words(newy, nrow(score), levels), levels)
  if (anyNA(at)) abort_input(sprintf("`newy` must hold classes of the fit, but label %d is \"%s\".", which(is.na(at))[1L], as.character(newy)[is.na(at)][1L]), "newy")
  own <- score[cbind(seq_along(at), at)]
  score[cbind(seq_along(at), at)] <- -Inf
  stats::setNames(own - apply(score, 1L, max), rownames(score))
}

boost_words <- function(newy, n, levels) {
  words <- words_of(if (is.factor(newy)) as.character(newy) else newy, levels)
  if (length(words) != n) abort_input(sprintf("`newy` must have one label per row, %d, but it has %d.", n, length(words)), "newy")
  words
}

# The answers of the members of rounds 1, ..., last, rows x rounds.
boost_members <- function(object, newdata, last) {
  by_margin <- object$method %in% margin_methods
  if (object$learner == "custom") {
    if (!is.null(object$design) && is.data.frame(newdata)) newdata <- tree_frame_new(object$design, newdata, "newdata")
    newdata <- custom_rows(newdata, "newdata")
    found <- lapply(object$answers[seq_len(last)], member_answers, newdata, object$levels, by_margin)
    return(matrix(as.double(unlist(found)), nrow(newdata), last, dimnames = list(row_words(newdata), NULL)))
  }
  x <- pool_answers(newdata, object$levels, by_margin, "newdata")
  if (!is.null(object$pool_names) && !is.null(colnames(x))) x <- match_columns(x, object$pool_names, "newdata")
  if (ncol(x) != object$pool_size) fail_input("newdata", sprintf("the answers of the %d members of the pool", object$pool_size), counted(ncol(x), "column", "columns"))
  if (isTRUE(object$negate)) x <- closed_pool(x)
  x[, object$answers[seq_len(last)], drop = FALSE]
}

boost_answer <- function(object, score, type) {
  if (type != "link") return(tree_answer(score, object$levels, "class"))
  if (object$method %in% margin_methods) score[, 2L] - score[, 1L] else score
}

boost_titles <- c(
  adaptive = "the adaptive booster", m2 = "AdaBoost.M2", fixed_edge = "a fixed edge", minimax01 = "exact potentials of the 0-1 loss", m1 = "AdaBoost.M1", samme = "SAMME", mh = "AdaBoost.MH",
  star = "AdaBoost* (largest smallest margin)", adaboost = "AdaBoost", rho = "AdaBoost towards a margin", arc_gv = "Arc-GV", marginal = "marginal AdaBoost",
  coordinate_ascent = "coordinate ascent of a smooth margin", two_pass = "AdaBoost* in two passes", lpboost = "LPBoost (totally corrective)"
)
boost_ends <- c(rounds = "all rounds done", no_edge = "the learner had no edge any more", perfect = "one answer is right everywhere", gap = "the gap is closed",
                settled = "every row is settled", repeated = "the learner repeats itself")

#' @export
print.granary_boost <- function(x, ...) {
  cli::cat_line("Boosting by ", boost_titles[[x$method]], ": ", counted(length(x$alpha), "round", "rounds"), " (", boost_ends[[x$end]], ")")
  print_call(x$call)
  what <- switch(x$learner, pool = sprintf("a pool of %d answers", x$pool_size), custom = "a learner given as a function", sprintf("trees of at most %d leaves", x$settings$max_leaves))
  cli::cat_line(counted(x$n, "row", "rows"), ", ", length(x$levels), " classes: ", paste(utils::head(x$levels, 6L), collapse = ", "), if (length(x$levels) > 6L) ", ...", "; ", what)
  if (length(x$alpha) == 0L) {
    cli::cat_line("Nothing was learnt.")
    return(invisible(x))
  }
  last <- x$path[nrow(x$path), ]
  cli::cat_line(sprintf("Training error %.2f%%", 100 * last$error), if (is.finite(last$bound)) sprintf(", at most %.3g by the edges", min(1, exp(last$bound))),
                sprintf("; edges %.3g to %.3g", min(x$path$edge), max(x$path$edge)))
  if (!is.null(x$lower)) {
    cli::cat_line(sprintf("Smallest margin %.4g, ", x$lower),
                  if (x$certified) sprintf("the best of all combinations is at most %.4g (gap %.2g)", x$upper, max(0, x$upper - x$lower))
                  else "without a certificate: the learner does not find the largest edge")
  }
  if (isTRUE(x$below > 0L)) cli::cat_line("In ", counted(x$below, "round", "rounds"), " the edge was below the ", paste(format(unique(range(x$settings$edge))), collapse = " to "), " counted on: the bound does not hold")
  if (!is.null(x$importance) && any(x$importance > 0)) {
    cli::cat_line("Most important: ", paste(names(utils::head(sort(x$importance[x$importance > 0], decreasing = TRUE), 5L)), collapse = ", "))
  }
  invisible(x)
}

#' @export
summary.granary_boost <- function(object, ...) {
  structure(list(fit = object, margins = stats::quantile(object$margins, c(0, 0.1, 0.25, 0.5, 0.75, 1)),
                 confusion = table(class = object$y, predicted = object$fitted), path = object$path[unique(round(seq(1, nrow(object$path), length.out = 6L))), ]),
            class = "summary_granary_boost")
}

#' @export
print.summary_granary_boost <- function(x, ...) {
  print(x$fit)
  cli::cat_line("\nMargins of the rows:")
  print(x$margins, digits = 3L)
  cli::cat_line("\nTraining rows:")
  print(x$confusion)
  if (nrow(x$fit$path) > 0L) {
    cli::cat_line("\nRounds (loss and bound as logarithms):")
    print(x$path, digits = 4L, row.names = FALSE)
  }
  invisible(x)
}

#' @rdname boost
#' @param what `"path"`: by round the error, the loss and its bound, or by margins the smallest margin between its certificates; `"margins"`: the share of rows whose margin is at
#'   most so large; `"edge"`: edges by round; `"importance"`.
#' @param newy Classes of `newdata`, whose error by round, or margins, are drawn, too.
#' @export
plot.granary_boost <- function(x, what = c("path", "margins", "edge", "importance"), newdata = NULL, newy = NULL, ...) {
  what <- check_choice(what, c("path", "margins", "edge", "importance"))
  if (nrow(x$path) == 0L) abort_input("Nothing was learnt: there is nothing to draw.", "x")
  if (is.null(newdata) != is.null(newy)) abort_input("Give `newdata` and `newy` together, or neither.", if (is.null(newdata)) "newdata" else "newy")
  old <- graphics::par(mar = c(4.1, 4.1, 1.1, 1.1))
  on.exit(graphics::par(old))
  switch(what, margins = plot_boost_margins(x, newdata, newy, ...), edge = plot_boost_edges(x, ...), importance = plot_boost_importance(x, ...),
         if (!is.null(x$lower) && is.null(newdata)) plot_boost_certificate(x, ...) else plot_boost_error(x, newdata, newy, ...))
  invisible(x)
}

boost_colors <- c(blue = "#0072B2", red = "#D55E00", green = "#009E73", grey = "grey50")

plot_boost_certificate <- function(x, ...) {
  path <- x$path
  bracket <- if (x$certified) path$upper
  draw(graphics::plot, path$round, path$margin, type = "l", log = if (nrow(path) > 30L) "x" else "", col = boost_colors[["blue"]], lwd = 2, bty = "n", las = 1L, xlab = "round",
       ylab = "margin", ylim = range(path$margin, bracket, path$target), main = "", user = list(...))
  graphics::lines(path$round, path$target, col = boost_colors[["grey"]], lty = 3L)
  if (x$certified) graphics::lines(path$round, path$upper, col = boost_colors[["red"]], lwd = 2)
  graphics::legend("bottomright", bty = "n", lwd = 2, lty = c(1L, if (x$certified) 1L, 3L), col = boost_colors[c("blue", if (x$certified) "red", "grey")],
                   legend = c("smallest margin", if (x$certified) "smallest edge: no margin is larger", "target"))
}

plot_boost_error <- function(x, newdata, newy, ...) {
  path <- x$path
  test <- if (!is.null(newdata)) staged_error(x, newdata, newy)
  bound <- pmin(exp(path$bound), 1)
  draw(graphics::plot, path$round, path$error, type = "l", col = boost_colors[["blue"]], lwd = 2, bty = "n", las = 1L, xlab = "round", ylab = "share of rows",
       ylim = c(0, max(path$error, test, min(1, 1.5 * max(path$error, test)))), main = "", user = list(...))
  graphics::lines(path$round, bound, col = boost_colors[["grey"]], lty = 3L, lwd = 2)
  graphics::lines(path$round, pmin(exp(path$loss), 1), col = boost_colors[["green"]])
  if (!is.null(test)) graphics::lines(path$round, test, col = boost_colors[["red"]], lwd = 2)
  show <- c(TRUE, !is.null(test), TRUE, TRUE)
  graphics::legend("topright", bty = "n", lwd = 2, lty = c(1L, 1L, 1L, 3L)[show], col = boost_colors[c("blue", "red", "green", "grey")[show]],
                   legend = c("training error", "error of new rows", "loss", "bound by the edges")[show])
}

staged_error <- function(x, newdata, newy) {
  staged <- predict.granary_boost(x, newdata, type = "staged")
  colMeans(staged != boost_words(newy, nrow(staged), x$levels))
}

plot_boost_margins <- function(x, newdata, newy, ...) {
  m <- sort(x$margins)
  test <- if (!is.null(newdata)) sort(predict.granary_boost(x, newdata, type = "margin", newy = newy))
  draw(graphics::plot, m, seq_along(m) / length(m), type = "s", col = boost_colors[["blue"]], lwd = 2, bty = "n", las = 1L, xlab = "margin", ylab = "share of rows with at most that",
       xlim = range(0, m, test), ylim = c(0, 1), main = "", user = list(...))
  graphics::abline(v = 0, col = "grey80")
  if (isTRUE(x$certified)) graphics::abline(v = x$upper, col = boost_colors[["red"]], lty = 2L)
  if (is.null(test)) return(invisible())
  graphics::lines(test, seq_along(test) / length(test), type = "s", col = boost_colors[["red"]], lwd = 2)
  graphics::legend("topleft", c("training rows", "new rows"), col = boost_colors[c("blue", "red")], lwd = 2, bty = "n")
}

plot_boost_edges <- function(x, ...) {
  draw(graphics::plot, x$path$round, x$path$edge, type = "l", col = boost_colors[["blue"]], bty = "n", las = 1L, xlab = "round", ylab = "edge", ylim = range(0, x$path$edge), main = "",
       user = list(...))
  graphics::abline(h = 0, col = "grey80")
}

plot_boost_importance <- function(x, ...) {
  if (is.null(x$importance)) abort_input("Only boosted trees have an importance of columns.", "what")
  most <- rev(utils::head(sort(x$importance, decreasing = TRUE), 20L))
  graphics::par(mar = c(4.1, max(4, min(15, 0.55 * max(nchar(names(most))))) + 1, 1.1, 1.1))
  draw(graphics::plot, most, seq_along(most), xlim = range(0, most), yaxt = "n", ylab = "", pch = 16L, col = boost_colors[["blue"]], bty = "n", xlab = "share of the cost saved", main = "",
       user = list(...))
  graphics::segments(0, seq_along(most), most, seq_along(most), col = boost_colors[["blue"]])
  graphics::axis(2L, seq_along(most), names(most), las = 1L, tick = FALSE, cex.axis = 0.8)
}

#' @rdname boost
#' @usage \method{autoplot}{granary_boost}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_boost <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  path <- object$path
  if (nrow(path) == 0L) abort_input("Nothing was learnt: there is nothing to draw.", "object")
  lines <- if (is.null(object$lower)) list("training error" = path$error, "loss" = pmin(1, exp(path$loss)), "bound by the edges" = pmin(1, exp(path$bound)))
           else c(list("smallest margin" = path$margin, "target" = path$target), if (object$certified) list("smallest edge" = path$upper))
  table <- data.frame(round = rep(path$round, length(lines)), value = unlist(lines, use.names = FALSE), what = factor(rep(names(lines), each = nrow(path)), names(lines)))
  gg_canvas(table, ggplot2::aes(.data$round, .data$value, colour = .data$what)) + ggplot2::geom_line() + gg_palette("colour") + ggplot2::labs(x = "round", y = NULL, colour = NULL)
}

# The course of the error on new rows, beside the usual scores.
#' @rdname boost
#' @param staged For `assess()`: whether to give the error after each round instead.
#' @export
assess.granary_boost <- function(object, newdata = NULL, newy = NULL, weights = NULL, staged = FALSE, ...) {
  refuse_dots(...)
  if (!check_flag(staged)) return(assess.granary_fit(object, newdata, newy, weights))
  if (!is.null(weights)) abort_input("Errors by round take no weights.", "weights")
  if (is.null(newdata) != is.null(newy)) abort_input("Give `newdata` and `newy` together, or neither.", if (is.null(newdata)) "newdata" else "newy")
  data.frame(round = object$path$round, error = if (is.null(newdata)) object$path$error else staged_error(object, newdata, newy))
}

#' @export
tidy.granary_boost <- function(x, ...) {
  if (!is.null(x$importance)) {
    out <- data.frame(term = names(x$importance), estimate = unname(x$importance))
    return(out[order(-out$estimate), ])
  }
  x$path
}

#' @export
glance.granary_boost <- function(x, ...) {
  rounds <- nrow(x$path)
  data.frame(n = x$n, rounds = rounds, error = if (rounds > 0L) x$path$error[rounds] else NA_real_, edge = if (rounds > 0L) min(x$path$edge) else NA_real_,
             margin = min(x$margins), upper = if (isTRUE(x$certified)) x$upper else NA_real_, end = x$end)
}

#' @export
coef.granary_boost <- function(object, ...) stats::setNames(object$alpha, sprintf("round%d", seq_along(object$alpha)))
