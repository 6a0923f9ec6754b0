#' Several labels per row, decided by expected F
#'
#' Learns the law of several labels given the columns of a row, as far as the best decision needs it, and decides: tags,
#' diagnoses, genres, faults. Classifier chains with sampling, plug-in models of the label sets' sizes, neighbours, and
#' trees grown for the F-measure.
#'
#' @details
#' * `"pcc"`: classifier chains,
#'   \eqn{P(y | x) = \prod_i P(y_i | x, y_1, \ldots, y_{i-1})}{P(y | x) = prod_i P(y_i | x, y_1, ..., y_(i-1))} by ridge
#'   logistic regressions. `predict()` draws `n_draws` label vectors for each row and decides by them: exact under the
#'   law of the draws. `n_chains` chains, the first in the order of the columns (or of `order`), the others in random
#'   orders, pool their draws.
#' * `"efp"`: the numbers that decide, \eqn{P(y_i = 1, s_y = s | x)}, by one multinomial regression per label and a
#'   logistic one for
#'   \eqn{P(y = 0 | x)}. Where more than `max_sizes` sizes occur, neighbouring ones are pooled at their mean size.
#' * `"lfp"`: a logistic regression per label, labels as if independent. `"br"` (binary relevance): the same, each label
#'   decided at one half.
#' * `"knn"`: the label vectors of the `neighbors` nearest rows, columns at variance 1.
#' * `"ftree"`: splits that raise \eqn{(n_L F(L) + n_R F(R)) / n}, where \eqn{F(N)} is the largest mean F of a single
#'   decision in a node; with
#'   `n_trees > 1` bagged, the label vectors of the leaves pooled.
#'
#' Ridge penalties are \eqn{\lambda/2 |b|^2}{lambda/2 |b|^2} beside the log-likelihood of all rows, for columns at
#' variance 1; each label has its own from `lambda`, by the cross-validated log-likelihood. A label that is the same in
#' all rows keeps its frequency. No structured support vector machine is built; see [structured_svm()].
#'
#' @section Which method when:
#' `"pcc"` in general, and for targets other than F; `"efp"` where there are many labels and F is all that counts;
#' `"lfp"` for independent labels; `"ftree"` bagged for columns on odd scales and interactions; `"br"` and `"knn"` as
#' baselines. [f_decide()] decides from probabilities of your own models.
#'
#' @param x Rows, a numeric matrix or data frame; or a formula.
#' @param y Labels, a 0/1 matrix or data frame with one column per label.
#' @param formula,data,subset,na.action A formula such as `cbind(a, b, c) ~ .` and the data frame of its variables, as
#'   for [stats::lm()].
#' @param model What is learnt.
#' @param target What `predict()` decides by.
#' @param beta Weight of recall in F.
#' @param lambda Ridge penalties to choose from.
#' @param folds Folds of that choice, a number or one label per row; the paper has 5.
#' @param n_chains Chains of `"pcc"`.
#' @param order Order of the labels in the first chain: their names or numbers.
#' @param max_sizes Most sizes of label sets that `"efp"` tells apart.
#' @param neighbors Neighbours of `"knn"`.
#' @param n_trees Trees of `"ftree"`.
#' @param min_node Rows that a node needs to be split.
#' @param mtry Columns tried at a node; 0 for all.
#' @param cuts Thresholds tried per column; 0 for all.
#' @param tol Largest gradient of the log-likelihood per row at the answer.
#' @param max_iter Most iterations of a regression.
#' @param threads Threads; default `getOption("granary.threads")`. Nothing depends on it.
#' @param ... For the formula: arguments of the default method.
#' @return An object of class `granary_multilabel`, inheriting from `granary_fit`: `labels` (names), `frequency` of the
#'   labels, `model`, `core` (the parts of the model),
#'   `importance` of the columns for trees.
#' @inherit f_decide references
#' @seealso [f_decide()], [f_score()], [f_regret()], [sim_multilabel()], [structured_svm()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_multilabel(300, m = 5, type = "chain", p = 3)
#' fit <- multilabel(sim$x[1:200, ], sim$y[1:200, ], lambda = 1)
#' fit
#' f_score(sim$y[201:300, ], predict(fit, sim$x[201:300, ], n_draws = 200))
#' br <- multilabel(sim$x[1:200, ], sim$y[1:200, ], model = "br", lambda = 1)
#' f_score(sim$y[201:300, ], predict(br, sim$x[201:300, ]))
multilabel <- function(x, ...) {
  UseMethod("multilabel", formula_or_first(x, ...))
}

#' @rdname multilabel
#' @export
multilabel.formula <- function(formula, data = NULL, subset, na.action, ...) {
  formula_fit(multilabel.default, "multilabel", ...)
}

#' @rdname multilabel
#' @export
multilabel.default <- function(x, y, model = c("pcc", "efp", "lfp", "br", "knn", "ftree"),
                               target = c("f", "jaccard", "hamming", "subset"),
                               beta = 1, lambda = 10^(-4:3), folds = 10, n_chains = 1, order = NULL, max_sizes = 30,
                               neighbors = 20,
                               n_trees = 1, min_node = 10, mtry = 0, cuts = 32, tol = 1e-5, max_iter = 500,
                               threads = NULL, ...) {
  call <- generic_call(match.call(), "multilabel")
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  x <- check_design(x, "x", allow_sparse = FALSE)
  y <- check_label_matrix(if (is.null(dim(y)) && is.atomic(y)) cbind(y = y) else y, "y")
  if (nrow(y) != nrow(x)) {
    abort_input(sprintf("`y` must have one row per row of `x`, %d, but it has %d.", nrow(x), nrow(y)), "y")
  }
  names <- variable_names(colnames(y), ncol(y))
  check_names_unique(names, "y")
  model <- check_choice(model, c("pcc", "efp", "lfp", "br", "knn", "ftree"))
  target <- check_choice(target, c("f", "jaccard", "hamming", "subset"))
  lambda <- unname(check_vector(lambda, lower = 0, strict_lower = TRUE, upper = 1e12))
  options <- list(
    model = model, lambda = lambda, n_chains = check_count(n_chains, upper = 1000), order = label_order(order, names),
    max_sizes = check_count(max_sizes, upper = 1000), neighbors = check_count(neighbors, upper = nrow(x)),
    n_trees = check_count(n_trees, upper = 1e4),
    min_node = check_count(min_node, lower = 2), mtry = check_count(mtry, lower = 0, upper = ncol(x)),
    cuts = check_count(cuts, lower = 0),
    beta = check_number(beta, lower = 0, strict_lower = TRUE, upper = 1e6),
    tol = check_number(tol, lower = 0, strict_lower = TRUE),
    max_iter = check_count(max_iter), threads = thread_count(threads)
  )
  chooses <- length(lambda) > 1L && model %in% c("pcc", "efp", "lfp", "br")
  folds <- if (chooses) {
    match(f <- check_folds(if (length(folds) == 1L) min(folds, nrow(x)) else folds, nrow(x)), sort(unique(f)))
  } else {
    rep(1L, nrow(x))
  }
  options$fold <- folds
  options$folds <- max(folds)
  found <- core_multilabel(unname_design(x), unname(y), options, core_seed(), progress_bar("multilabel"))
  fit <- new_fit("multilabel", labels = names, columns = colnames(x), model = model, target = target,
                 beta = options$beta, frequency = stats::setNames(colMeans(y), names),
                 core = found,
                 importance = if (model == "ftree") stats::setNames(found$importance, colnames(x)),
                 lambda = multilabel_lambda(found, names), x = x, y = structure(y, dimnames = list(rownames(x), names)),
                 n = nrow(x), call = call, convergence = if (model %in% c("knn", "ftree")) NULL else found$convergence)
  check_convergence(fit, "Raise `max_iter`, or take larger values of `lambda`.")
}

label_order <- function(order, names) {
  if (is.null(order)) return(matrix(0L, 0L, length(names)))
  if (is.character(order)) {
    unknown <- setdiff(order, names)
    if (length(unknown) > 0L) {
      abort_input(sprintf("`order` names \"%s\", which is no label.%s", unknown[1L], did_you_mean(unknown[1L], names)),
                  "order")
    }
    order <- match(order, names)
  }
  order <- check_vector(order, "order", length = length(names))
  if (!setequal(order, seq_along(names))) {
    fail_input("order", sprintf("the numbers 1 to %d in some order, or the names of the labels", length(names)),
               describe(order))
  }
  matrix(as.integer(order), 1L)
}

multilabel_lambda <- function(found, names) {
  lambda_of <- function(model) if (model$constant >= 0) NA_real_ else model$fit$lambda
  if (found$model == "pcc") {
    chain <- found$chains[[1L]]
    return(stats::setNames(vapply(chain$step, lambda_of, 0), names[chain$order])[names])
  }
  if (length(found$marginal) > 0L) stats::setNames(vapply(found$marginal, lambda_of, 0), names)
}

#' @rdname multilabel
#' @param object A fit.
#' @param newdata Rows in the columns of the fit; without it those the fit was made with, which flatters it.
#' @param type `"class"`: 0/1 decisions; `"prob"`: the probability of each label; `"sample"`: label vectors drawn, an
#'   array of rows by labels by draws.
#' @param n_draws Label vectors drawn per row for `"pcc"`, and for `type = "sample"`.
#' @param search For `"pcc"` and `target = "subset"`: how the most probable vector is found; `"exact"` by uniform-cost
#'   search, in about labels / probability steps.
#' @param calibrate For `"efp"`: whether the probabilities of the sizes are scaled to sum to 1 with that of none.
#' @export
predict.granary_multilabel <- function(object, newdata = NULL, type = c("class", "prob", "sample"), target = NULL,
                                       beta = NULL, n_draws = 1000,
                                       search = c("exact", "sample", "greedy", "beam"), calibrate = FALSE,
                                       threads = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(if (identical(type, "response")) "class" else type, c("class", "prob", "sample"))
  x <- if (is.null(newdata)) {
    object$x
  } else {
    new_design(newdata, object$columns, object$design, "newdata", allow_sparse = FALSE)
  }
  target <- if (is.null(target)) object$target else target
  decision <- f_options(if (is.null(beta)) object$beta else beta, target = target)
  search <- check_choice(search, c("exact", "sample", "greedy", "beam"))
  if (check_flag(calibrate) && object$model != "efp") abort_input("`calibrate` is for model = \"efp\".", "calibrate")
  rows <- rownames(x)
  ask <- list(decision = decision, n_draws = check_count(n_draws, upper = 1e6), search = search,
              draws = type == "sample", calibrate = calibrate, threads = thread_count(threads))
  found <- core_multilabel_predict(unname_design(x), object$core, ask, core_seed(), progress_bar("labels"))
  if (type == "sample") {
    draws <- array(found$draws, c(ask$n_draws, nrow(x), length(object$labels)))
    return(structure(aperm(draws, c(2L, 3L, 1L)), dimnames = list(rows, object$labels, NULL)))
  }
  if (type == "prob") return(structure(found$marginal, dimnames = list(rows, object$labels)))
  if (found$unfinished > 0L) {
    warn_input(
      sprintf("For %d rows the search for the most probable vector ended early; theirs is the best met: see `search`.",
              found$unfinished))
  }
  if (found$inconsistent > 0L && !calibrate) {
    warn_input(
      sprintf("For %d rows the probabilities of sizes are those of no law (an expected F above 1): see `calibrate`.",
              found$inconsistent))
  }
  structure(found$labels, dimnames = list(rows, object$labels), expected = found$expected,
            std.error = na_for_nan(found$error))
}

#' @export
fitted.granary_multilabel <- function(object, ...) predict.granary_multilabel(object, ...)

#' @export
residuals.granary_multilabel <- function(object, ...) object$y - predict.granary_multilabel(object, type = "prob", ...)

#' @export
augment.granary_multilabel <- function(x, data = NULL, ...) {
  said <- predict.granary_multilabel(x, ...)
  if (is.null(data)) data <- as.data.frame(x$y)
  if (!is.data.frame(data) || nrow(data) != nrow(said)) {
    fail_input("data", sprintf("a data frame with the %d rows of the fit", nrow(said)), describe(data))
  }
  attributes(said) <- list(dim = dim(said), dimnames = list(NULL, paste0(".fitted_", x$labels)))
  cbind(data, said)
}

#' @export
assess.granary_multilabel <- function(object, newdata = NULL, newy = NULL, weights = NULL, ...) {
  if (is.null(newdata) != is.null(newy)) {
    abort_input("Give `newdata` and `newy` together, or neither.", if (is.null(newdata)) "newdata" else "newy")
  }
  f_score(if (is.null(newdata)) object$y else newy, predict.granary_multilabel(object, newdata, ...),
          beta = object$beta, weights = weights)
}

#' @export
coef.granary_multilabel <- function(object, ...) {
  refuse_dots(...)
  one <- function(model, names) {
    if (model$constant >= 0) {
      return(stats::setNames(rep(NA_real_, length(object$columns) + 1L), c("(Intercept)", object$columns)))
    }
    stats::setNames(c(model$fit$intercept[1L], model$fit$coefficients[seq_along(object$columns), 1L]),
                    c("(Intercept)", object$columns))
  }
  if (object$model %in% c("lfp", "br")) {
    return(structure(vapply(object$core$marginal, one, numeric(length(object$columns) + 1L)),
                     dimnames = list(c("(Intercept)", object$columns), object$labels)))
  }
  if (object$model != "pcc") not_for(object, "coef()", "only logistic regressions of single labels have coefficients")
  chain <- object$core$chains[[1L]]
  found <- vapply(chain$step, one, numeric(length(object$columns) + 1L))
  structure(found, dimnames = list(c("(Intercept)", object$columns), object$labels[chain$order]))[, object$labels,
                                                                                                  drop = FALSE]
}

multilabel_words <- c(pcc = "classifier chains", efp = "plug-in with sizes", lfp = "independent logistic regressions",
                      br = "binary relevance", knn = "nearest neighbours", ftree = "trees for F")

#' @export
print.granary_multilabel <- function(x, ...) {
  refuse_dots(...)
  cli::cat_line("Multilabel (", multilabel_words[[x$model]], "): ", counted(length(x$labels), "label", "labels"), ", ",
                counted(x$n, "row", "rows"), ", ", counted(length(x$columns), "column", "columns"))
  print_call(x$call)
  cli::cat_line(sprintf("Decides by expected %s; %.2f labels per row", f_target_name(x), sum(x$frequency)))
  if (length(x$core$chains) > 1L) cli::cat_line(length(x$core$chains), " chains")
  if (length(x$core$trees) > 0L) {
    cli::cat_line(counted(length(x$core$trees), "tree", "trees"), ", most important: ",
                  paste(names(utils::head(sort(-x$importance), 3L)), collapse = ", "))
  }
  if (x$core$pooled > 0L) cli::cat_line(x$core$pooled, " sizes were pooled with a neighbour")
  never <- x$labels[x$frequency %in% c(0, 1)]
  if (length(never) > 0L) cli::cat_line("Always the same: ", paste(utils::head(never, 5L), collapse = ", "))
  if (length(x$convergence) > 0L) cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @export
summary.granary_multilabel <- function(object, ...) {
  seal(structure(list(fit = object, labels = tidy(object), scores = assess(object)),
                 class = "summary_granary_multilabel"))
}

#' @export
print.summary_granary_multilabel <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  print(utils::head(x$labels, 20L), digits = 3L, row.names = FALSE)
  cli::cat_line("On the rows of the fit:")
  print(x$scores, digits = 3L, row.names = FALSE)
  invisible(x)
}

#' @export
tidy.granary_multilabel <- function(x, ...) {
  data.frame(term = x$labels, frequency = unname(x$frequency),
             lambda = if (is.null(x$lambda)) NA_real_ else unname(x$lambda))
}

#' @export
glance.granary_multilabel <- function(x, ...) {
  data.frame(n = x$n, labels = length(x$labels), columns = length(x$columns), model = x$model, target = x$target,
             converged = if (length(x$convergence) > 0L) x$convergence$converged else NA)
}

multilabel_points <- function(x) {
  scores <- f_score(x$y, predict.granary_multilabel(x), beta = x$beta, by = "label")
  data.frame(label = factor(scores$label, rev(scores$label)), frequency = unname(x$frequency), f = scores$f)
}

#' @rdname multilabel
#' @details `plot()` shows the F-measure of each label on the rows of the fit against its frequency.
#' @export
plot.granary_multilabel <- function(x, ...) {
  points <- multilabel_points(x)
  draw(graphics::plot, points$frequency, points$f, xlim = c(0, max(points$frequency)), ylim = c(0, 1), pch = 16,
       bty = "n", col = sign_colours[["positive"]], xlab = "frequency of the label", ylab = "F of its decisions",
       user = list(...))
  if (nrow(points) <= 30L) graphics::text(points$frequency, points$f, points$label, pos = 3L, cex = 0.8, xpd = NA)
  invisible(x)
}

#' @rdname multilabel
#' @usage \method{autoplot}{granary_multilabel}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_multilabel <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  gg_canvas(multilabel_points(object), ggplot2::aes(.data$frequency, .data$f)) +
    ggplot2::geom_point(colour = sign_colours[["positive"]]) +
    ggplot2::geom_text(ggplot2::aes(label = .data$label), vjust = -0.8, size = 3) + ggplot2::ylim(0, 1) +
    ggplot2::labs(x = "frequency of the label", y = "F of its decisions")
}
