#' Decisions that maximise the expected F-measure
#'
#' Turns probabilities into yes and no so that the expected F-measure is as large as it can be: tags of a document, rare
#' events in a list, a set of likely classes. Given marginal probabilities of independent labels, draws of label
#' vectors, or the few numbers that the best decision depends on.
#'
#' @details
#' For truth \eqn{y} and decision \eqn{h} in \eqn{\{0,1\}^m}{{0,1}^m},
#' \deqn{F_\beta(y, h) = \frac{(1 + \beta^2) \sum_i y_i h_i}{\beta^2 \sum_i y_i + \sum_i h_i}, \quad 0/0 = 1}{
#' F_b(y, h) = (1 + b^2) sum y_i h_i / (b^2 sum y_i + sum h_i), 0/0 = 1}
#' and the best decision is not the labels with a probability above one half, nor in general those above any threshold.
#'
#' * `p`: labels are independent. The best set holds the most probable labels (Lewis 1995); the expected F of every size
#'   is computed exactly in
#'   \eqn{O(m^{3/2})} steps, for any `beta`. Above 5000 labels (a test set of 10^5 rows is a vector of 10^5 labels)
#'   sizes that bounds exclude are left out, which stand as `NA` in `curve`; the answer stays exact. `method = "lewis"`
#'   is the usual approximation, `"categorical"` takes `p` as the probabilities that exactly this one label is right:
#'   the answer is a set of classes.
#' * `sample`: a 0/1 matrix with one label vector per row, and `weights` where the rows have probabilities; without
#'   weights the rows are draws, and the expected value has a Monte Carlo standard error. The general F-maximizer (GFM)
#'   is exact under the law of the rows:
#'   \deqn{\Delta_{ik} = \sum_{y: y_i = 1} \frac{(1 + \beta^2) P(y)}{\beta^2 s_y + k}, \quad s_y = \sum_i y_i,}{
#'   Delta_ik = sum over y with y_i = 1 of (1 + b^2) P(y) / (b^2 s_y + k), s_y = sum y_i,}
#'   the \eqn{k} largest entries of column \eqn{k} sum to the best value among the sets of size \eqn{k}, and
#'   \eqn{P(y = 0)} is the value of the empty set:
#'   \eqn{O(m^2)} in all. `method = "threshold"` is the best set of most probable labels under the same law,
#'   `"independent"` and `"lewis"` look at its marginal probabilities only.
#' * `joint`: the matrix of \eqn{P(y_i = 1, s_y = s)}, one row per label, one column for \eqn{s = 1, 2, \ldots}; or
#'   `delta` itself; with `p0`
#'   \eqn{= P(y = 0)}.
#'
#' A matrix `p` has one row per instance. `average = "instance"` decides each row by itself, `"macro"` each column (the
#' F-measure of a label over the instances), `"micro"` all entries at once.
#'
#' `target` asks for other decisions from the same law: `"hamming"` (each label by its own probability), `"subset"` (the
#' most probable vector), `"jaccard"` (exact for independent labels, where the best sets are those of the most probable
#' labels too; for a sample the best of all rows and the GFM's sets, which need not be the best of all).
#'
#' @section Which method when:
#' `f_decide()` where probabilities or draws are there already. [multilabel()] learns them and decides in one go.
#' [f_regret()] says what simpler decisions would lose, [f_score()] scores decisions against the truth. With costs of
#' errors in the place of the F-measure, a threshold on `p` is the best.
#'
#' @param p Probabilities of independent labels: a vector, or a matrix with one row per instance.
#' @param sample Label vectors, a 0/1 matrix or data frame with one column per label.
#' @param joint Probabilities \eqn{P(y_i = 1, s_y = s)}, a matrix with one row per label and one column per size from 1.
#' @param delta The matrix \eqn{\Delta}, labels by sizes.
#' @param p0 With `joint` or `delta`: the probability that no label is right.
#' @param weights Probabilities of the rows of `sample`, up to a factor; `NULL`: the rows are draws.
#' @param beta Weight of recall against precision; 1 for \eqn{F_1}.
#' @param method How; `"auto"` is exact for what is given.
#' @param target What is maximised: the F-measure, the Jaccard index, the share of right labels, or the probability that
#'   all are right.
#' @param average For a matrix `p`: whether the F-measure is of each row, of each column, or of all entries.
#' @param empty The Jaccard index of two empty sets; the paper has 0.
#' @param threads Threads; default `getOption("granary.threads")`. The answer does not depend on it.
#' @return An object of class `granary_f_decision`, inheriting from `granary_fit`: `labels` (0 and 1, in the shape of
#'   the input), `expected` (of the target, one number per decision), `k` (sizes), `curve` (expected value of the best
#'   set of each size 0, ..., m, for a single decision), `threshold` (the smallest marginal probability that was
#'   chosen), `margin` (over the best set of another size), `ties` (sizes as good), `std.error`, `exact`.
#' @references
#' Waegeman, W., Dembczynski, K., Jachnik, A., Cheng, W. and Huellermeier, E. (2014). On the Bayes-optimality of
#' F-measure maximizers. *Journal of Machine Learning Research* 15, 3513-3568.
#'
#' Lewis, D. (1995). Evaluating and optimizing autonomous text classification systems. *SIGIR*, 246-254.
#' @seealso [f_regret()], [f_score()], [multilabel()], [sim_multilabel()]
#' @export
#' @examples
#' # half of the labels are more likely than not to be wrong, and yet are chosen
#' fit <- f_decide(p = c(tree = 0.9, dog = 0.45, car = 0.4, boat = 0.05))
#' fit
#' # the same marginal probabilities, but labels that come together
#' f_decide(sample = rbind(c(0, 0, 0, 0), c(1, 0, 0, 1), c(1, 0, 1, 0), c(1, 1, 0, 0)), weights = c(0.5, 0.1, 0.2, 0.2))
#' plot(fit)
f_decide <- function(p = NULL, sample = NULL, joint = NULL, delta = NULL, p0 = NULL, weights = NULL, beta = 1,
                     method = c("auto", "independent", "gfm", "categorical", "lewis", "threshold"),
                     target = c("f", "jaccard", "hamming", "subset"), average = c("instance", "micro", "macro"),
                     empty = 1,
                     threads = NULL) {
  call <- match.call()
  given <- c(p = !is.null(p), sample = !is.null(sample), joint = !is.null(joint), delta = !is.null(delta))
  if (sum(given) != 1L) {
    abort_input(paste0("Give one of `p`, `sample`, `joint` and `delta`, not ",
                       if (any(given)) paste0("`", names(given)[given], "`", collapse = " and ") else "none", "."), "p")
  }
  options <- f_options(beta, method, target, empty)
  average <- check_choice(average, c("instance", "micro", "macro"))
  if (!is.null(weights) && !given["sample"]) abort_input("`weights` are those of the rows of `sample`.", "weights")
  check_f_words(names(given)[given], options, p0)
  options$threads <- thread_count(threads)
  switch(names(given)[given],
    p = decide_p(p, options, average, call),
    sample = decide_draws(sample, weights, options, call),
    decide_table(joint, delta, p0, options, call)
  )
}

f_options <- function(beta = 1, method = "auto", target = "f", empty = 1) {
  list(
    beta = check_number(beta, lower = 0, strict_lower = TRUE, upper = 1e6),
    method = check_choice(method, c("auto", "independent", "gfm", "categorical", "lewis", "threshold")),
    target = check_choice(target, c("f", "jaccard", "hamming", "subset")),
    empty = check_number(empty, lower = 0, upper = 1)
  )
}

# Not every method fits what was given.
check_f_words <- function(given, options, p0) {
  possible <- switch(given, p = c("auto", "independent", "categorical", "lewis"),
                     sample = c("auto", "gfm", "independent", "categorical", "lewis", "threshold"), c("auto", "gfm"))
  if (!options$method %in% possible) {
    abort_input(sprintf("method = \"%s\" needs %s; with `%s` it can be %s.", options$method,
                        if (options$method %in% c("gfm", "threshold")) "`sample`" else "`p` or `sample`", given,
                        paste0("\"", possible, "\"", collapse = ", ")), "method")
  }
  if (options$target != "f" && given %in% c("joint", "delta")) {
    abort_input(sprintf("`%s` says nothing about other targets than \"f\".", given), "target")
  }
  if (options$target != "f" && options$method != "auto") abort_input("`method` is for target = \"f\".", "method")
  if (is.null(p0) != given %in% c("p", "sample")) {
    abort_input(if (is.null(p0)) sprintf("`p0`, the probability that no label is right, must be given with `%s`.",
                                         given) else "`p0` goes with `joint` or `delta`.", "p0")
  }
}

decide_p <- function(p, options, average, call) {
  if (is.null(dim(p))) {
    p <- check_vector(p, lower = 0, upper = 1)
    check_one_right(options, sum(p))
    return(new_f_decision(core_f_marginals(unname(p), options, progress_bar("decision")), names(p), p, options, call))
  }
  p <- check_probabilities(p, "p")
  check_one_right(options, if (average == "micro") sum(p) else if (average == "macro") colSums(p) else rowSums(p))
  if (average == "micro") {
    found <- core_f_marginals(as.vector(p), options, progress_bar("decision"))
    found$labels <- matrix(found$labels, nrow(p), dimnames = dimnames(p))
    return(new_f_decision(found, NULL, p, options, call, average))
  }
  found <- core_f_rows(unname(if (average == "macro") t(p) else p), options, progress_bar("decisions"))
  if (average == "macro") found$labels <- t(found$labels)
  dimnames(found$labels) <- dimnames(p)
  new_f_decision(found, NULL, p, options, call, average)
}

# method = "categorical": exactly one label is right, so the probabilities of a decision sum to one.
check_one_right <- function(options, total) {
  if (options$method != "categorical") return(invisible())
  bad <- which(abs(total - 1) > 1e-6)
  if (length(bad) > 0L) {
    where <- if (length(total) > 1L) sprintf(" (decision %d)", bad[1L]) else ""
    abort_input(paste0("method = \"categorical\" takes probabilities that sum to 1, since exactly one label is right, ",
                       "not to ", format(total[bad[1L]], digits = 6L), where, "."), "p")
  }
}

check_probabilities <- function(p, arg) {
  p <- check_matrix(p, arg)
  bad <- which(p < 0 | p > 1)
  if (length(bad) > 0L) {
    abort_input(sprintf("`%s` must be probabilities, but %s is %s.", arg, describe_position(p, bad[1L]),
                        format(p[bad[1L]], digits = 6L)), arg)
  }
  p
}

# A matrix of 0 and 1.
check_label_matrix <- function(y, arg, min_cols = 1L) {
  if (is.data.frame(y)) {
    y[] <- lapply(y, function(column) {
      if (is.factor(column) && nlevels(column) == 2L) as.integer(column) - 1L else column
    })
  }
  y <- check_matrix(y, arg, min_cols = min_cols)
  bad <- which(y != 0 & y != 1)
  if (length(bad) > 0L) {
    abort_input(sprintf("`%s` must be 0 or 1 throughout, but %s is %s.", arg, describe_position(y, bad[1L]),
                        format(y[bad[1L]], digits = 6L)), arg)
  }
  y
}

check_sample_weights <- function(weights, n) {
  if (is.null(weights)) return(numeric())
  weights <- unname(check_vector(weights, "weights", length = n, lower = 0))
  if (sum(weights) == 0) abort_input("`weights` must not all be 0.", "weights")
  weights
}

decide_draws <- function(sample, weights, options, call) {
  y <- check_label_matrix(sample, "sample")
  weights <- check_sample_weights(weights, nrow(y))
  found <- core_f_sample(unname(y), weights, options, progress_bar("decision"))
  p <- drop(crossprod(y, if (length(weights) > 0L) weights / sum(weights) else rep(1 / nrow(y), nrow(y))))
  new_f_decision(found, colnames(y), p, options, call, n = nrow(y))
}

decide_table <- function(joint, delta, p0, options, call) {
  p0 <- check_number(p0, lower = 0, upper = 1)
  arg <- if (is.null(joint)) "delta" else "joint"
  x <- check_matrix(if (is.null(joint)) delta else joint, arg)
  if (any(x < 0)) {
    at <- which(x < 0)[1L]
    abort_input(sprintf("`%s` must not be negative, but %s is %s.", arg, describe_position(x, at),
                        format(x[at], digits = 6L)), arg)
  }
  if (is.null(joint)) {
    if (nrow(x) != ncol(x)) {
      abort_input(sprintf("`delta` must be square, but it is %d x %d.", nrow(x), ncol(x)), "delta")
    }
    found <- core_f_delta(unname(x), p0)
  } else {
    if (ncol(x) > nrow(x)) abort_input(sprintf("`joint` has %d sizes for %d labels.", ncol(x), nrow(x)), "joint")
    found <- core_f_joint(unname(x), as.double(seq_len(ncol(x))), p0, options$beta)
  }
  if (!found$consistent) {
    warn_input(sprintf("`%s` and `p0` are not those of any law of labels: an expected F above 1 comes out.", arg), arg)
  }
  new_f_decision(found, rownames(x), NULL, options, call)
}

new_f_decision <- function(found, names, p, options, call, average = "instance", n = NULL) {
  labels <- found$labels
  if (is.null(dim(labels))) names(labels) <- names
  new_fit("f_decision", labels = labels, expected = found$expected, k = found$k, curve = na_for_nan(found$curve),
          threshold = na_for_nan(found$threshold), margin = na_for_nan(found$margin), ties = found$ties,
          std.error = na_for_nan(found$error),
          exact = if (is.null(found$exact)) options$method != "lewis" else found$exact, p = p, target = options$target,
          method = options$method,
          beta = options$beta, average = average, n = if (is.null(n)) length(labels) else n, call = call,
          convergence = NULL)
}

f_target_name <- function(x) {
  switch(x$target, f = if (x$beta == 1) "F" else paste0("F (beta = ", format(x$beta, digits = 3L), ")"),
         jaccard = "Jaccard index", hamming = "share of right labels", subset = "probability that all are right")
}

#' @export
print.granary_f_decision <- function(x, ...) {
  refuse_dots(...)
  m <- length(x$labels)
  several <- length(x$expected) > 1L
  cli::cat_line("Decision by expected ", f_target_name(x), ": ",
                if (several) paste(length(x$expected), "decisions,", m, "labels") else counted(m, "label", "labels"))
  print_call(x$call)
  if (several) {
    cli::cat_line(sprintf("Expected %.4g on average; sizes %d to %d, %.3g on average", mean(x$expected), min(x$k),
                          max(x$k), mean(x$k)))
    return(invisible(x))
  }
  chosen <- which(x$labels == 1)
  shown <- if (is.null(names(x$labels))) chosen else names(x$labels)[chosen]
  cli::cat_line("Chosen: ", if (x$k == 0L) "none" else paste(c(utils::head(shown, 10L), if (x$k > 10L) "..."),
                                                             collapse = ", "),
                if (x$k > 0L) paste0(" (", x$k, " of ", m, ")"))
  cli::cat_line(sprintf("Expected value %.4f", x$expected),
                if (!is.na(x$std.error)) sprintf(", Monte Carlo standard error %.2g", x$std.error),
                if (!x$exact) "; not certain to be the best of all")
  if (!is.na(x$threshold)) cli::cat_line(sprintf("Smallest probability chosen: %.3g", x$threshold))
  if (x$ties > 1L) {
    cli::cat_line(x$ties, if (x$target == "hamming") " labels could go either way" else " decisions are equally good")
  }
  invisible(x)
}

#' @export
summary.granary_f_decision <- function(object, ...) {
  table <- if (length(object$expected) == 1L) {
    utils::head(tidy(object)[order(-tidy(object)$chosen), ], 20L)
  } else {
    tidy(object)
  }
  seal(structure(list(fit = object, table = table), class = "summary_granary_f_decision"))
}

#' @export
print.summary_granary_f_decision <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  print(utils::head(x$table, 20L), digits = 3L, row.names = FALSE)
  invisible(x)
}

#' @export
tidy.granary_f_decision <- function(x, ...) {
  if (length(x$expected) > 1L) {
    return(data.frame(decision = seq_along(x$expected), size = x$k, expected = x$expected, threshold = x$threshold,
                      margin = x$margin, ties = x$ties))
  }
  data.frame(term = variable_names(names(x$labels), length(x$labels)), chosen = as.integer(x$labels),
             estimate = if (is.null(x$p)) NA_real_ else as.vector(x$p))
}

#' @export
glance.granary_f_decision <- function(x, ...) {
  data.frame(decisions = length(x$expected), labels = length(x$labels), expected = mean(x$expected), size = mean(x$k),
             target = x$target, method = x$method, exact = x$exact)
}

# What is drawn: the curve of a single decision, or the sizes of many.
f_points <- function(x) {
  if (length(x$expected) > 1L || length(x$curve) == 0L || all(is.na(x$curve))) return(NULL)
  data.frame(k = seq_along(x$curve) - 1L, value = x$curve)[!is.na(x$curve), ]
}

#' @rdname f_decide
#' @details `plot()` shows the expected value of the best set of every size, or the sizes of many decisions.
#' @param x A decision.
#' @param ... Passed on to [graphics::plot()].
#' @export
plot.granary_f_decision <- function(x, ...) {
  points <- f_points(x)
  if (is.null(points)) {
    sizes <- table(factor(x$k, seq(min(x$k), max(x$k))))
    draw(graphics::barplot, sizes, xlab = "labels chosen", ylab = "decisions", col = sign_colours[["positive"]],
         border = NA, user = list(...))
    return(invisible(x))
  }
  draw(graphics::plot, points$k, points$value, type = if (nrow(points) > 60L) "l" else "b", pch = 16, bty = "n",
       col = sign_colours[["positive"]], ylim = c(0, max(points$value)), xlab = "labels chosen",
       ylab = paste("expected", f_target_name(x)), user = list(...))
  graphics::points(x$k, x$expected, pch = 1, cex = 2, col = sign_colours[["negative"]])
  invisible(x)
}

#' @rdname f_decide
#' @param object A decision.
#' @usage \method{autoplot}{granary_f_decision}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_f_decision <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  points <- f_points(object)
  if (is.null(points)) {
    return(gg_canvas(data.frame(k = object$k), ggplot2::aes(.data$k)) +
           ggplot2::geom_bar(fill = sign_colours[["positive"]]) + ggplot2::labs(x = "labels chosen", y = "decisions"))
  }
  best <- data.frame(k = object$k, value = object$expected)
  gg_canvas(points, ggplot2::aes(.data$k, .data$value)) + ggplot2::geom_line(colour = sign_colours[["positive"]]) +
    ggplot2::geom_point(data = best, colour = sign_colours[["negative"]], shape = 1, size = 4) +
    ggplot2::labs(x = "labels chosen", y = paste("expected", f_target_name(object)))
}
