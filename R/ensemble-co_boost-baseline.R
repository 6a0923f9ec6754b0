#' What co-boosting has to beat
#'
#' One classifier of one view, late fusion of one classifier per view, and boosting of one view, with and without the
#' choice of columns.
#'
#' @details `"single"` is one weak classifier of all columns of `view`: one round, one candidate. `"boost"` boosts it,
#'   `"boost_select"` boosts the best of `candidates` random sets of columns; both are [co_boost()] with one view, whose
#'   update is that of confidence-rated boosting. `"late_fusion"` fits one classifier to each view and answers with
#' \deqn{\arg\max_c \sum_v a_v P(c | \mathrm{view}\ v)}{argmax_c sum_v a_v P(c | view v)} where \eqn{a} is that point of
#' a lattice with steps of one tenth which errs least over `folds` (of equal ones the nearest to equal shares), or
#' `fusion`. The paper adds likelihoods; probabilities are what makes views of different lengths and numbers of columns
#' comparable.
#'
#' @section Which method when: Beside every [co_boost()]: where `"late_fusion"` is as good, take it, it is quicker and
#'   easier to explain.
#'
#' @inheritParams co_boost
#' @param method Which baseline.
#' @param view Name or number of the view, for all methods but `"late_fusion"`.
#' @param folds For `"late_fusion"`: a number, or the fold of every case.
#' @param fusion For `"late_fusion"`: weights of the views, in the place of those found over folds.
#' @param ... Further arguments of [co_boost()].
#' @return For `"late_fusion"` an object of class `granary_co_boost_fusion` with `fusion` (weights of the views),
#'   `table` (the lattice and its errors over folds), `view_error`, `posterior`, `fitted`, `members`; else a fit of
#'   [co_boost()] with one view.
#' @references
#' Wu, J. and Cheng, J. (2014). Bayesian co-boosting for multi-modal gesture recognition. *Journal of Machine Learning
#' Research* 15, 3013-3036. Section 4.
#' @seealso [co_boost()], [sim_co_boost()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_co_boost(n = 8, n_test = 5, n_classes = 3, p = 6)
#' fused <- co_boost_baseline(sim$x, sim$y, "late_fusion", folds = 4, k = 3)
#' fused
#' assess(fused, newdata = sim$newx, newy = sim$newy)
#' assess(co_boost_baseline(sim$x, sim$y, "single", view = 2, k = 3), newdata = sim$newx["view2"], newy = sim$newy)
co_boost_baseline <- function(x, y, method = c("late_fusion", "single", "boost", "boost_select"), view = 1,
                              views = NULL, folds = 10, fusion = NULL, learner = NULL,
                              prior = c("equal", "cases"), weights = NULL, na = c("error", "skip"), k = 5,
                              covariance = "diagonal", topology = "ergodic",
                              start = c("segments", "kmeans"), forward = c("exact", "hard"), floor = 1e-3, tol = 1e-6,
                              max_iter = 20, max_leaves = 2, min_leaf = 1, threads = NULL,
                              ...) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  method <- check_choice(method, c("late_fusion", "single", "boost", "boost_select"))
  na <- check_choice(na, c("error", "skip"))
  data <- view_data(x, views, na)
  extra <- list(...)
  known <- setdiff(names(formals(co_boost.default)), c(names(formals(co_boost_baseline)), "x", "y", "..."))
  if (length(extra) > 0L && (is.null(names(extra)) || !all(names(extra) %in% known))) {
    odd <- if (is.null(names(extra))) "" else setdiff(names(extra), known)[1L]
    abort_input(if (!nzchar(odd)) "Further arguments must have names." else
                sprintf("There is no argument `%s`.%s", odd, did_you_mean(odd, known, "`")), odd)
  }
  if (method != "late_fusion") {
    at <- if (is.character(view) && length(view) == 1L) match(view, data$names) else
      check_count(view, upper = length(data$views))
    if (is.na(at)) {
      fail_input("view", paste0("one of ", paste0("\"", data$names, "\"", collapse = ", ")), describe(view))
    }
    if (!is.null(fusion)) abort_input("`fusion` is for method = \"late_fusion\".", "fusion")
    own <- if (data$form == "columns") {
      whole <- stats::setNames(list(seq_along(data$parts[[at]])), data$names[at])
      list(data_columns(x, data$parts[[at]]), y, views = whole)
    } else {
      list(stats::setNames(x[at], data$names[at]), y)
    }
    one <- function(value) {
      if (length(value) != length(data$views)) return(value)
      if (is.null(names(value))) value[[at]] else value[[data$names[at]]]
    }
    own <- c(own, list(learner = if (is.null(learner)) NULL else one(learner), prior = prior, weights = weights,
                       na = na, k = one(k), covariance = one(covariance),
                       topology = one(topology), start = start, forward = forward, floor = floor, tol = tol,
                       max_iter = max_iter, max_leaves = one(max_leaves), min_leaf = min_leaf,
                       threads = threads))
    if (method != "boost_select") own <- c(own, list(candidates = 1, share = 1))
    if (method == "single") own$n_rounds <- 1
    clash <- intersect(names(extra), names(own))
    if (length(clash) > 0L) abort_input(sprintf("`%s` is set by method = \"%s\".", clash[1L], method), clash[1L])
    fit <- do.call(co_boost.default, c(own, extra), quote = TRUE)
    fit$call <- generic_call(call, "co_boost_baseline")
    return(fit)
  }
  if (length(extra) > 0L) {
    abort_input(sprintf("`%s` is for boosting, not for method = \"late_fusion\".", names(extra)[1L]), names(extra)[1L])
  }
  classes <- case_classes(y, data$n)
  weights <- check_sequence_weights(weights, data$n, "case")
  for (v in seq_along(data$views)) check_class_rows(data$views[[v]], classes, weights, paste0("view ", data$names[v]))
  learners <- view_learners(data, learner, k, covariance, topology, start, forward, max_iter, tol, floor, max_leaves,
                            min_leaf, prior)
  options <- list(classes = length(classes$levels), learners = learners, threads = thread_count(threads))
  fold <- numeric()
  if (is.null(fusion)) {
    fold <- fusion_folds(folds, classes, weights, data$n)
  } else {
    fusion <- unlist(per_view(fusion, "fusion", data, function(a) check_number(a, "fusion", lower = 0)))
    if (sum(fusion) == 0) abort_input("`fusion` must not be zero for all views.", "fusion")
    options$share <- fusion
  }
  found <- core_late_fusion(list(views = core_views(data), y = classes$y + 1), weights, fold, options, core_seed(),
                            progress_bar("late fusion"))
  posterior <- core_late_fusion_posterior(found$model, core_views(data), options$threads, NULL)
  dimnames(posterior) <- list(data$case_names, classes$levels)
  lattice <- as.data.frame(structure(found$lattice, dimnames = list(NULL, if (length(found$error) > 0L) data$names)))
  table <- if (length(found$error) > 0L) cbind(lattice, error = found$error)
  new_fit(
    c("co_boost_fusion"), fusion = stats::setNames(found$model$share, data$names), table = table,
    view_error = if (length(found$view_error) > 0L) stats::setNames(found$view_error, data$names),
    posterior = posterior, fitted = co_boost_class(list(levels = classes$levels), posterior, NULL, "vote"),
    members = found$model, levels = classes$levels, y = factor(classes$levels[classes$y + 1], classes$levels),
    views = data$names, form = data$form,
    columns = if (data$form == "list") stats::setNames(data$columns, NULL) else data$columns, parts = data$parts,
    settings = options, folds = if (length(fold) > 0L) fold, n = data$n,
    call = generic_call(call, "co_boost_baseline"), convergence =
      list(converged = NA, iterations = NA_integer_, seconds = NaN, message = "", reason = "unsaid")
  )
}

data_columns <- function(x, at) if (is.data.frame(x)) x[at] else x[, at, drop = FALSE]

# Folds in which every class stays in sight: cases of a class are spread evenly.
fusion_folds <- function(folds, classes, weights, n) {
  if (length(folds) > 1L) {
    fold <- as.numeric(factor(check_folds(folds, n)))
  } else {
    count <- check_count(folds, "folds", lower = 2, upper = n)
    fold <- numeric(n)
    from <- 0
    for (c in unique(classes$y)) {
      mine <- which(classes$y == c)
      fold[mine[sample.int(length(mine))]] <- (from + seq_along(mine) - 1) %% count + 1
      from <- from + length(mine)
    }
  }
  counts <- if (length(weights) > 0L) weights > 0 else rep(TRUE, n)
  for (f in unique(fold)) {
    lost <- setdiff(unique(classes$y), unique(classes$y[fold != f & counts]))
    if (length(lost) > 0L)
      abort_input(sprintf("Without fold %s no case of class \"%s\" is left: use more folds, or drop the class.",
                          format(f), classes$levels[lost[1L] + 1]), "folds")
  }
  fold
}

#' @rdname co_boost_baseline
#' @param object A fit.
#' @param newdata New cases, in the form of `x`; `NULL` for those of the fit.
#' @param type `"class"` or `"prob"`.
#' @export
predict.granary_co_boost_fusion <- function(object, newdata = NULL, type = c("class", "prob"), na = c("error", "skip"),
                                            threads = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(if (identical(type, "response")) "class" else type, c("class", "prob"))
  prob <- object$posterior
  if (!is.null(newdata)) {
    data <- co_boost_newdata(object, newdata, check_choice(na, c("error", "skip")))
    prob <- core_late_fusion_posterior(object$members, core_views(data), thread_count(threads),
                                       progress_bar("late fusion"))
    dimnames(prob) <- list(data$case_names, object$levels)
  }
  if (type == "prob") prob else co_boost_class(object, prob, NULL, "vote")
}

#' @export
print.granary_co_boost_fusion <- function(x, ...) {
  refuse_dots(...)
  cli::cat_line("Late fusion of ", counted(length(x$views), "view", "views"), ", ", length(x$levels), " classes, ",
                counted(x$n, "case", "cases"))
  print_call(x$call)
  cli::cat_line("Weights of the views: ", paste0(x$views, " ", format(x$fusion, digits = 3L, trim = TRUE),
                                                 collapse = ", "))
  if (!is.null(x$table)) {
    cli::cat_line(sprintf("Misclassified over folds: %.1f%%; each view by itself: ", 100 * min(x$table$error)),
                  paste0(x$views, sprintf(" %.1f%%", 100 * x$view_error), collapse = ", "))
  }
  invisible(x)
}

#' @export
summary.granary_co_boost_fusion <- function(object, ...) {
  seal(structure(list(fit = object, confusion = table(class = object$y, predicted = object$fitted)),
                 class = "summary_granary_co_boost_fusion"))
}

#' @export
print.summary_granary_co_boost_fusion <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  print(x$confusion)
  invisible(x)
}

#' @export
tidy.granary_co_boost_fusion <- function(x, ...) {
  data.frame(view = x$views, estimate = unname(x$fusion), error = if (is.null(x$view_error)) NA_real_ else
             unname(x$view_error))
}

#' @export
glance.granary_co_boost_fusion <- function(x, ...) {
  data.frame(n = x$n, views = length(x$views), classes = length(x$levels),
             error = if (is.null(x$table)) NA_real_ else min(x$table$error))
}

#' @rdname co_boost_baseline
#' @details `plot()` shows the error over folds along the weight of the first view, the best of all points with that
#'   weight.
#' @export
plot.granary_co_boost_fusion <- function(x, ...) {
  course <- fusion_course(x)
  draw(graphics::plot, course$weight, course$error, type = "b", pch = 16, xlab = paste("weight of", x$views[1L]),
       ylab = "error over folds", bty = "l", main = "", user = list(...))
  graphics::abline(v = x$fusion[1L], lty = 3L, col = "grey50")
  invisible(x)
}

fusion_course <- function(x) {
  if (is.null(x$table)) abort_input("There is no course to draw: the weights were given.", "x")
  best <- tapply(x$table$error, x$table[[1L]], min)
  data.frame(weight = as.numeric(names(best)), error = as.vector(best))
}

#' @rdname co_boost_baseline
#' @usage \method{autoplot}{granary_co_boost_fusion}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_co_boost_fusion <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  gg_canvas(fusion_course(object), ggplot2::aes(.data$weight, .data$error)) + ggplot2::geom_line() +
    ggplot2::geom_point() +
    ggplot2::geom_vline(xintercept = object$fusion[1L], linetype = 3L) +
      ggplot2::labs(x = paste("weight of", object$views[1L]), y = "error over folds")
}
