# Methods of co-boosting.

#' @rdname co_boost
#' @param object A fit.
#' @param newdata New cases, in the form of `x`; `NULL` for those of the fit. Views and columns are taken by name.
#' @param type `"class"`; `"prob"`: shares of the votes, or for `rule = "posterior"` the one-against-the-rest
#'   probabilities brought to sum one; `"link"`: log odds; `"staged"`: a data frame with the class after each round.
#' @export
predict.granary_co_boost <- function(object, newdata = NULL, type = c("class", "prob", "link", "staged"), rule = NULL,
                                     n_rounds = NULL, na = c("error", "skip"), threads = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(if (identical(type, "response")) "class" else type, c("class", "prob", "link", "staged"))
  rule <- if (is.null(rule)) object$rule else check_choice(rule, c("vote", "posterior"))
  n_rounds <- check_count(n_rounds, lower = 0, upper = max(0, nrow(object$path)), allow_null = TRUE)
  na <- check_choice(na, c("error", "skip"))
  threads <- thread_count(threads)
  if (is.null(newdata)) {
    if (type == "staged" || !is.null(n_rounds))
      abort_input("Answers after some of the rounds need `newdata`, which may be the cases of the fit.", "newdata")
    votes <- object$votes
    odds <- object$log_odds
  } else {
    data <- co_boost_newdata(object, newdata, na)
    ask <- list(rule = rule, staged = type == "staged", threads = threads)
    if (!is.null(n_rounds)) ask$last <- n_rounds
    found <- core_co_boost_scores(object$model, core_views(data), ask, progress_bar("co-boosting"))
    if (type == "staged") {
      out <- lapply(seq_len(ncol(found$staged)), function(r) factor(object$levels[found$staged[, r]], object$levels))
      return(structure(stats::setNames(out, sprintf("round%d", seq_along(out))), class = "data.frame",
                       row.names = if (is.null(data$case_names)) seq_len(data$n) else data$case_names))
    }
    votes <- structure(found$votes, dimnames = list(data$case_names, object$levels))
    odds <- structure(found$log_odds, dimnames = list(data$case_names, object$levels))
  }
  switch(type, class = co_boost_class(object, votes, odds, rule), prob = co_boost_prob(votes, odds, rule), link = odds)
}

co_boost_newdata <- function(object, newdata, na) {
  if (!is.null(object$formula)) newdata <- new_design(newdata, object$columns, object$design, "newdata",
                                                      allow_sparse = FALSE)
  view_data(newdata, NULL, na, "newdata", known = list(form = object$form, names = object$views,
                                                       columns = object$columns, parts = object$parts))
}

#' @export
print.granary_co_boost <- function(x, ...) {
  refuse_dots(...)
  rounds <- nrow(x$path)
  words <- unique(vapply(x$settings$learners, `[[`, "", "learner"))
  cli::cat_line("Co-boosting: ", counted(length(x$views), "view", "views"), ", ", counted(rounds, "round", "rounds"),
                ", ", length(x$levels), " classes, weak classifiers: ", paste(words, collapse = ", "))
  print_call(x$call)
  cli::cat_line(counted(x$n, "case", "cases"), "; columns of a candidate: ",
                paste0(x$views, " ", x$sizes, " of ", lengths(x$picked), collapse = ", "))
  if (rounds == 0L) {
    cli::cat_line("Nothing was learnt: no weak classifier was better than chance.")
    return(invisible(x))
  }
  cli::cat_line(sprintf("Misclassified of the cases fitted: %.1f%% by votes, %.1f%% by log odds; bound %s, at first %s",
                        100 * x$path$vote_error[rounds],
                        100 * x$path$odds_error[rounds], format(x$path$bound[rounds], digits = 3L),
                        format(sum(x$bound[1L, ]), digits = 3L)))
  cli::cat_line(sprintf("Largest weight of a case: %.1f%%", 100 * x$path$largest_weight[rounds]))
  if (x$dropped > 0L) cli::cat_line(counted(x$dropped, "candidate was", "candidates were"),
                                    " no better than chance and left out")
  cli::cat_line("Answers by ", if (x$rule == "vote") "votes" else "log odds", "; updates: ",
                format_convergence(x$convergence))
  invisible(x)
}

#' @export
summary.granary_co_boost <- function(object, ...) {
  share <- view_share(object)
  top <- lapply(object$views, function(v) {
    picked <- sort(object$picked[[v]], decreasing = TRUE)
    utils::head(picked[picked > 0], 5L)
  })
  seal(structure(list(fit = object, views = share, top = stats::setNames(top, object$views),
                      confusion = table(class = object$y, predicted = object$fitted)),
                 class = "summary_granary_co_boost"))
}

# What each view contributes: its members' mean error and its share of all votes.
view_share <- function(object) {
  members <- object$members
  all <- sum(members$alpha)
  data.frame(view = object$views, members = as.vector(table(members$view)),
             error = vapply(object$views, function(v) mean(members$error[members$view == v]), 0),
             share = vapply(object$views, function(v) if (all > 0) sum(members$alpha[members$view == v]) / all else
                            NA_real_, 0), row.names = NULL)
}

#' @export
print.summary_granary_co_boost <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  cli::cat_line("Views: mean weighted error of their weak classifiers, and share of the votes")
  print(format(x$views, digits = 3L), row.names = FALSE)
  for (v in names(x$top)) {
    top <- x$top[[v]]
    if (length(top) == 0L) next
    used <- paste0(names(top), sprintf(" (%.0f%%)", 100 * top), collapse = ", ")
    cli::cat_line("Most used columns of ", v, ": ", used)
  }
  cli::cat_line()
  print(x$confusion)
  invisible(x)
}

#' @export
tidy.granary_co_boost <- function(x, ...) {
  out <- do.call(rbind, lapply(x$views, function(v) data.frame(view = v, term = names(x$picked[[v]]),
                                                               estimate = unname(x$picked[[v]]))))
  out[order(-out$estimate), ]
}

#' @export
glance.granary_co_boost <- function(x, ...) {
  rounds <- nrow(x$path)
  last <- function(column) if (rounds > 0L) x$path[[column]][rounds] else NA_real_
  data.frame(n = x$n, views = length(x$views), classes = length(x$levels), n_rounds = rounds,
             error = mean(x$fitted != x$y), bound = last("bound"), largest_weight = last("largest_weight"),
             dropped = x$dropped, end = x$end, converged = x$convergence$converged)
}

co_colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999", "#000000", "#8C510A",
                "#5E3C99", "#1B7837", "#C51B7D")

#' @rdname co_boost
#' @param what For `plot()` and `autoplot()`: the course of errors and bound, how often columns are used, or the weights
#'   of the cases at the end.
#' @export
plot.granary_co_boost <- function(x, what = c("course", "columns", "weights"), ...) {
  what <- check_choice(what, c("course", "columns", "weights"))
  if (nrow(x$path) == 0L) abort_input("There is nothing to draw: no round was learnt.", "x")
  shown <- co_colours[seq_along(x$views)]
  if (what == "course") {
    old <- graphics::par(mfrow = c(1L, 2L), mar = c(4.1, 4.1, 2.1, 1.1))
    on.exit(graphics::par(old))
    members <- x$members
    top <- 1.35 * max(members$error, x$path$vote_error, 0.01)  # room for the legend
    draw(graphics::plot, members$round, members$error, type = "n", ylim = c(0, top),
         xlab = "round", ylab = "error", bty = "l", main = "", user = list(...))
    for (v in seq_along(x$views)) {
      mine <- members$view == x$views[v]
      graphics::points(members$round[mine], members$error[mine], pch = 16, col = shown[v])
    }
    graphics::lines(x$path$round, x$path$vote_error, lwd = 2)
    graphics::legend("topright", c(paste("weak,", x$views), "all, by votes"), col = c(shown, "black"),
                     pch = c(rep(16, length(shown)), NA), lty = c(rep(NA, length(shown)), 1), lwd = 2, bty = "n",
                     cex = 0.8)
    scale <- sum(x$bound[1L, ])
    graphics::plot(c(0, x$path$round), c(scale, x$path$bound) / scale, log = "y", type = "l", lwd = 2, xlab = "round",
                   ylab = "bound, as a share of its start", bty = "l")
    return(invisible(x))
  }
  if (what == "columns") {
    table <- utils::head(tidy.granary_co_boost(x), 30L)
    table <- table[rev(seq_len(nrow(table))), ]
    label <- paste0(table$view, ": ", table$term)
    old <- graphics::par(mar = c(4.1, min(15, 2 + 0.55 * max(nchar(label))), 1.1, 1.1))
    on.exit(graphics::par(old))
    draw(graphics::barplot, table$estimate, horiz = TRUE, names.arg = label, las = 1L, cex.names = 0.7, border = NA,
         col = shown[match(table$view, x$views)],
         xlab = "share of the rounds that use the column", user = list(...))
    return(invisible(x))
  }
  weight <- sort(x$case_weights, decreasing = TRUE)
  right <- (x$fitted == x$y)[order(-x$case_weights)]
  draw(graphics::plot, weight, type = "h", col = ifelse(right, sign_colours[["positive"]], sign_colours[["negative"]]),
       xlab = "cases, by weight", ylab = "weight after the last round", bty = "l",
       main = "", user = list(...))
  graphics::legend("topright", c("right", "wrong"), col = sign_colours[c("positive", "negative")], lty = 1, lwd = 2,
                   bty = "n")
  invisible(x)
}

#' @rdname co_boost
#' @usage \method{autoplot}{granary_co_boost}(object, what = c("course", "columns", "weights"), ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_co_boost <- function(object, what = c("course", "columns", "weights"), ...) {
  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  what <- check_choice(what, c("course", "columns", "weights"))
  if (nrow(object$path) == 0L) abort_input("There is nothing to draw: no round was learnt.", "object")
  shown <- stats::setNames(co_colours[seq_along(object$views)], object$views)
  if (what == "course") {
    return(gg_canvas(object$members, ggplot2::aes(.data$round, .data$error)) +
           ggplot2::geom_point(ggplot2::aes(colour = .data$view)) +
             ggplot2::geom_line(ggplot2::aes(y = .data$vote_error), object$path) +
               ggplot2::scale_colour_manual(values = shown) +
             ggplot2::labs(y = "error (line: of all, by votes)", colour = "weak classifiers of"))
  }
  if (what == "columns") {
    table <- utils::head(tidy.granary_co_boost(object), 30L)
    table$name <- factor(paste0(table$view, ": ", table$term), rev(paste0(table$view, ": ", table$term)))
    return(gg_canvas(table, ggplot2::aes(.data$estimate, .data$name, fill = .data$view)) + ggplot2::geom_col() +
           ggplot2::scale_fill_manual(values = shown) +
             ggplot2::labs(x = "share of the rounds that use the column", y = NULL, fill = NULL))
  }
  order <- order(-object$case_weights)
  table <- data.frame(place = seq_along(order), weight = unname(object$case_weights[order]),
                      answer = ifelse((object$fitted == object$y)[order], "right", "wrong"))
  gg_canvas(table, ggplot2::aes(.data$place, .data$weight, colour = .data$answer)) +
    ggplot2::geom_segment(ggplot2::aes(xend = .data$place, yend = 0)) +
    ggplot2::scale_colour_manual(values = c(right = sign_colours[["positive"]], wrong = sign_colours[["negative"]])) +
    ggplot2::labs(x = "cases, by weight", y = "weight after the last round", colour = NULL)
}
