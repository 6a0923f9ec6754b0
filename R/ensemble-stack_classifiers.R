#' Stacking of classifiers
#'
#' Learns from out-of-fold predictions of several classifiers how to combine them, and combines them for new rows.
#'
#' @details
#' Every base learner is fitted on all folds but one and predicts that one; what it said about each row without having
#' seen it are the columns of the meta-learner. The base learners are then fitted to all rows. `features`:
#'
#' * `"prob"`: the probabilities of all classes by each learner (Ting and Witten 1999); `"class"`: indicators of the
#'   predicted class (Wolpert 1992);
#' * `"stackingc"`: for class q the probabilities of class q only (Seewald 2003);
#' * `"extended"`: probabilities, probabilities times the entropy, the entropy, and the largest probability (Dzeroski
#'   and Zenko 2004);
#' * `"attributes"`: indicators of the predicted class and the columns of `x` (the class-attribute combiner of Chan
#'   1996); `"arbiter"`: the columns of
#'   `x`, learnt from rows on which the learners disagree, and asked on such rows; `"hybrid"`: as `"attributes"`, from
#'   and for such rows. Where the learners agree, their answer stands.
#'
#' `meta`: `"logitboost"`, `"mlr"` (multi-response linear regression; `nonnegative = TRUE` for weights of at least 0),
#' `"logistic"` (with a ridge), `"bayes"`, `"nearest"`,
#' `"tree"`, or a learner of your own as below.
#'
#' A learner is a list of two functions, `fit(x, y)` and `predict(fit, x)`, the second giving a matrix of probabilities
#' with a column per class (or the classes); or the name of a method of this package that classifies, such as `"forest"`
#' or `"logitboost"`.
#'
#' @section Which method when:
#' With a few good classifiers that err on different rows. `"stackingc"` or `"prob"` with `meta = "mlr"` for many
#' classes, `meta = "logitboost"` for few columns. [span_stack()] is the same for spans in documents.
#'
#' @param x Rows, a numeric matrix or data frame; or a formula.
#' @param y Classes.
#' @param formula,data,subset,na.action A formula and its data frame.
#' @param learners A named list of learners, or names of methods.
#' @param meta What combines them.
#' @param features What the meta-learner sees.
#' @param folds Folds, as a number or one label per row (rows that belong together share a label).
#' @param nonnegative For `meta = "mlr"`: weights of at least 0.
#' @param n_rounds Most rounds of `"logitboost"`; their number is chosen by the folds.
#' @param threads Threads.
#' @param ... For the formula: arguments of the default method.
#' @return An object of class `granary_classifier_stack`, inheriting from `granary_fit`: `fits` (base learners on all
#'   rows), `meta` (the combination), `held_out` (out-of-fold probabilities by learner), `scores` (out-of-fold errors of
#'   the learners and, by a second cross-validation of the meta-learner, of the stack), `levels`.
#' @references
#' Wolpert, D. (1992). Stacked generalization. *Neural Networks* 5, 241-259.
#'
#' Ting, K. and Witten, I. (1999). Issues in stacked generalization. *Journal of Artificial Intelligence Research* 10,
#' 271-289.
#'
#' Sigletos, G., Paliouras, G., Spyropoulos, C. D. and Hatzopoulos, M. (2005). Combining information extraction systems
#' using voting and stacked generalization.
#' *Journal of Machine Learning Research* 6, 1751-1782.
#' @seealso [logitboost()], [span_stack()], [forest()]
#' @export
#' @examples
#' set.seed(1)
#' fit <- stack_classifiers(Species ~ ., iris, learners = c("forest", "logitboost"), folds = 2, n_rounds = 10)
#' fit
#' mean(predict(fit, iris) == iris$Species)
stack_classifiers <- function(x, ...) {
  UseMethod("stack_classifiers", formula_or_first(x, ...))
}

#' @rdname stack_classifiers
#' @export
stack_classifiers.formula <- function(formula, data = NULL, subset, na.action, ...) {
  formula_fit(stack_classifiers.default, "stack_classifiers", ...)
}

#' @rdname stack_classifiers
#' @export
stack_classifiers.default <- function(x, y, learners, meta = "logitboost",
                                      features = c("prob", "class", "stackingc", "extended", "attributes", "arbiter",
                                                   "hybrid"), folds = 10,
                                      nonnegative = FALSE, n_rounds = 50, threads = NULL, ...) {
  call <- generic_call(match.call(), "stack_classifiers")
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  if (missing(learners)) fail_missing("learners")
  x <- check_design(x, "x", allow_sparse = FALSE)
  y <- transfer_labels(y, nrow(x), "y")
  if (nlevels(y) < 2L) {
    abort_input(sprintf("`y` must have at least two classes, but all its labels are \"%s\".", levels(y)), "y")
  }
  learners <- check_stack_learners(learners, "learners")
  features <- check_choice(features, c("prob", "class", "stackingc", "extended", "attributes", "arbiter", "hybrid"))
  meta <- check_meta(meta, features)
  settings <- list(nonnegative = check_flag(nonnegative), n_rounds = check_count(n_rounds, upper = 1e5),
                   threads = thread_count(threads))
  if (settings$nonnegative && !identical(meta, "mlr")) {
    abort_input("`nonnegative` is for meta = \"mlr\".", "nonnegative")
  }
  folds <- check_folds(if (length(folds) == 1L) min(folds, nrow(x)) else folds, nrow(x))
  fold <- match(folds, sort(unique(folds)))
  parts <- resample_lapply(seq_len(max(fold)), function(part) {
    lapply(learners, function(learner) {
      fit <- learner$fit(x[fold != part, , drop = FALSE], y[fold != part])
      learner_matrix_of(learner$predict(fit, x[fold == part, , drop = FALSE]), levels(y), sum(fold == part))
    })
  }, "stacking")
  held <- lapply(stats::setNames(nm = names(learners)), function(name) {
    out <- matrix(0, nrow(x), nlevels(y), dimnames = list(NULL, levels(y)))
    for (part in seq_along(parts)) out[fold == part, ] <- parts[[part]][[name]]
    out
  })
  fits <- lapply(learners, function(learner) learner$fit(x, y))
  combined <- fit_meta(stack_features(held, x, features), y, meta, features, fold, settings, held)
  scores <- stack_scores(held, x, y, meta, features, fold, settings)
  new_fit("classifier_stack", fits = fits, learners = learners, meta = combined,
          meta_kind = if (is.character(meta)) meta else "own", features = features, held_out = held, scores = scores,
          levels = levels(y), columns = colnames(x), x = x, y = y, folds = fold, n = nrow(x), call = call,
          convergence = NULL)
}

check_meta <- function(meta, features) {
  if (is.character(meta)) return(check_choice(meta, c("logitboost", "mlr", "logistic", "bayes", "nearest", "tree")))
  if (features == "stackingc") {
    abort_input("features = \"stackingc\" needs a meta-learner of this package, not one of your own.", "meta")
  }
  check_stack_learners(list(meta = meta), "meta")[[1L]]
}

# A named list of list(fit, predict).
check_stack_learners <- function(learners, arg) {
  if (is.character(learners)) {
    known <- Filter(function(row) "classification" %in% names(row$modes), learners())
    names <- learners
    learners <- lapply(names, function(name) {
      if (is.null(known[[name]])) {
        abort_input(sprintf("`%s` names \"%s\", which is no classifier of this package.%s", arg, name,
                            did_you_mean(name, names(known))), arg)
      }
      package_learner(known[[name]])
    })
    names(learners) <- make.unique(names)
  }
  if (!is.list(learners) || length(learners) == 0L) {
    fail_input(arg, "a named list of learners, or names of methods", describe(learners))
  }
  if (is.function(learners$fit) && is.function(learners$predict)) learners <- list(learner = learners)
  names(learners) <- variable_names(names(learners), length(learners))
  check_names_unique(names(learners), arg)
  for (name in names(learners)) {
    one <- learners[[name]]
    if (is.character(one) && length(one) == 1L) {
      learners[[name]] <- check_stack_learners(one, arg)[[1L]]
    } else if (!is.list(one) || !is.function(one$fit) || !is.function(one$predict)) {
      fail_input(arg, "lists of two functions, fit(x, y) and predict(fit, x)",
                 sprintf("%s for \"%s\"", describe(one), name))
    }
  }
  learners
}

package_learner <- function(row) {
  force(row)
  with_prob <- !is.null(row$probabilities)
  list(
    fit = function(x, y) {
      y <- droplevels(y)
      if (nlevels(y) < 2L) return(levels(y))
      learner_fit(row, as.data.frame(x), y, learner_arguments(row, "classification", prob = with_prob))
    },
    predict = function(fit, x) {
      if (is.character(fit)) return(rep(fit, nrow(x)))
      learner_answer(row, fit, as.data.frame(x), if (with_prob) "prob" else "class")
    }
  )
}

# Probabilities of the classes, rows by levels, from a matrix or from classes.
learner_matrix_of <- function(answer, levels, n) {
  if (is.factor(answer) || (is.character(answer) && is.null(dim(answer)))) {
    if (length(answer) != n) {
      abort_input(sprintf("A learner must answer for each of the %d rows, but one answered for %d.", n, length(answer)),
                  "learners")
    }
    return(outer(as.character(answer), levels, `==`) * 1)
  }
  answer <- check_matrix(answer, "answer of a learner")
  if (nrow(answer) != n) {
    abort_input(sprintf("A learner must answer for each of the %d rows, but one answered for %d.", n, nrow(answer)),
                "learners")
  }
  if (is.null(colnames(answer)) && ncol(answer) == length(levels)) return(answer)
  strange <- setdiff(colnames(answer), levels)
  if (is.null(colnames(answer)) || length(strange) > 0L) {
    abort_input("A learner must give probabilities with a column for each class, named by the classes.", "learners")
  }
  learner_probabilities(answer, levels)
}

said_by <- function(prob) max.col(prob, ties.method = "first")

# Rows on which the learners disagree.
in_dispute <- function(held) {
  said <- vapply(held, said_by, integer(nrow(held[[1L]])))
  if (is.null(dim(said))) said <- matrix(said, nrow = nrow(held[[1L]]))
  apply(said, 1L, function(row) any(row != row[1L]))
}

stack_features <- function(held, x, features) {
  indicators <- function() {
    do.call(cbind, lapply(held, function(prob) outer(said_by(prob), seq_len(ncol(prob)), `==`) * 1))
  }
  probs <- do.call(cbind, held)
  entropy <- function(prob) -rowSums(ifelse(prob > 0, prob * log(prob), 0))
  out <- switch(features,
    prob = , stackingc = probs, class = indicators(), attributes = , hybrid = cbind(indicators(), x), arbiter = x,
    extended = do.call(cbind, lapply(held, function(prob) {
      h <- entropy(prob)
      cbind(prob, prob * h, h, apply(prob, 1L, max))
    }))
  )
  unname(out)
}

fit_meta <- function(z, y, meta, features, fold, settings, held, rows = seq_along(y)) {
  disputed <- features %in% c("arbiter", "hybrid")
  if (disputed) rows <- rows[in_dispute(lapply(held, function(prob) prob[rows, , drop = FALSE]))]
  if (disputed && length(rows) < 2L) return(NULL)  # they always agree
  if (is.list(meta)) return(list(own = meta$fit(z[rows, , drop = FALSE], droplevels(y[rows])), learner = meta))
  parts <- fold[rows]
  parts <- match(parts, sort(unique(parts)))
  options <- list(kind = meta, classes = nlevels(y), n_rounds = settings$n_rounds, nonnegative = settings$nonnegative,
                  threads = settings$threads)
  if (max(parts) > 1L) options <- c(options, list(fold = parts, folds = max(parts)))
  if (features == "stackingc") {
    k <- nlevels(y)
    options$columns <- lapply(seq_len(k), function(q) as.integer(q + k * (seq_along(held) - 1L)))
  }
  list(core = core_meta_fit(z[rows, , drop = FALSE], as.integer(y)[rows], numeric(), options, core_seed(), NULL))
}

meta_answer <- function(meta, z, held, levels, features, threads) {
  n <- nrow(held[[1L]])
  if (features %in% c("arbiter", "hybrid")) {
    out <- Reduce(`+`, held) / length(held)
    rows <- which(in_dispute(held))
    if (is.null(meta) || length(rows) == 0L) return(out)
  } else {
    out <- matrix(0, n, length(levels), dimnames = list(NULL, levels))
    rows <- seq_len(n)
  }
  out[rows, ] <- if (!is.null(meta$learner)) {
    learner_matrix_of(meta$learner$predict(meta$own, z[rows, , drop = FALSE]), levels, length(rows))
  } else {
    core_meta_predict(z[rows, , drop = FALSE], meta$core, threads, NULL)
  }
  out
}

stack_scores <- function(held, x, y, meta, features, fold, settings) {
  z <- stack_features(held, x, features)
  whole <- matrix(0, length(y), nlevels(y), dimnames = list(NULL, levels(y)))
  for (part in sort(unique(fold))) {
    out <- fold == part
    combined <- fit_meta(z, y, meta, features, fold, settings, held, which(!out))
    whole[out, ] <- meta_answer(combined, z[out, , drop = FALSE],
                                lapply(held, function(prob) prob[out, , drop = FALSE]), levels(y), features,
                                settings$threads)
  }
  all <- c(held, list(stack = whole))
  do.call(rbind, lapply(names(all), function(name) {
    prob <- all[[name]]
    data.frame(learner = name, score_classes(y, factor(levels(y)[said_by(prob)], levels(y)), prob))
  }))
}

#' @rdname stack_classifiers
#' @param object A fit.
#' @param newdata Rows in the columns of the fit; without it those the fit was made with, each by learners that have not
#'   seen it.
#' @param type `"class"` or `"prob"`.
#' @export
predict.granary_classifier_stack <- function(object, newdata = NULL, type = c("class", "prob"), threads = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(if (identical(type, "response")) "class" else type, c("class", "prob"))
  x <- if (is.null(newdata)) {
    object$x
  } else {
    new_design(newdata, object$columns, object$design, "newdata", allow_sparse = FALSE)
  }
  held <- if (is.null(newdata)) object$held_out else lapply(stats::setNames(nm = names(object$fits)), function(name) {
    structure(learner_matrix_of(object$learners[[name]]$predict(object$fits[[name]], x), object$levels, nrow(x)),
              dimnames = list(NULL, object$levels))
  })
  prob <- meta_answer(object$meta, stack_features(held, x, object$features), held, object$levels, object$features,
                      thread_count(threads))
  dimnames(prob) <- list(rownames(x), object$levels)
  if (type == "prob") return(prob)
  factor(object$levels[said_by(prob)], object$levels)
}

#' @export
fitted.granary_classifier_stack <- function(object, ...) predict.granary_classifier_stack(object, ...)

#' @export
coef.granary_classifier_stack <- function(object, ...) {
  refuse_dots(...)
  if (object$meta_kind != "mlr" || is.null(object$meta$core)) {
    not_for(object, "coef()", "only meta = \"mlr\" has weights of its columns")
  }
  core <- object$meta$core
  per <- length(object$levels)
  if (object$features == "stackingc") {
    weights <- vapply(core$parts, function(part) part$weights[-1L, 2L], numeric(length(object$fits)))
    return(structure(matrix(weights, length(object$fits)), dimnames = list(names(object$fits), object$levels)))
  }
  names <- if (object$features %in% c("prob", "class")) {
    paste(rep(names(object$fits), each = per), object$levels, sep = ".")
  } else {
    paste0("V", seq_len(core$inputs))
  }
  structure(core$weights, dimnames = list(c("(Intercept)", names), object$levels))
}

#' @export
print.granary_classifier_stack <- function(x, ...) {
  refuse_dots(...)
  cli::cat_line("Stack of ", paste(names(x$fits), collapse = ", "), " by ", x$meta_kind, " on ", x$features, ": ",
                counted(x$n, "row", "rows"), ", ", length(x$levels), " classes")
  print_call(x$call)
  cli::cat_line("Out of fold:")
  print(format(x$scores[c("learner", "error", "kappa", "log.loss", "brier")], digits = 3L), row.names = FALSE)
  invisible(x)
}

#' @export
summary.granary_classifier_stack <- function(object, ...) {
  seal(structure(list(fit = object), class = "summary_granary_classifier_stack"))
}

#' @export
print.summary_granary_classifier_stack <- function(x, ...) {
  print(x$fit)
  cli::cat_line(sprintf("The learners disagree on %.1f%% of the rows.", 100 * mean(in_dispute(x$fit$held_out))))
  invisible(x)
}

#' @export
tidy.granary_classifier_stack <- function(x, ...) x$scores

#' @export
glance.granary_classifier_stack <- function(x, ...) {
  own <- x$scores[x$scores$learner == "stack", ]
  data.frame(n = x$n, learners = length(x$fits), meta = x$meta_kind, features = x$features, error = own$error,
             best = min(x$scores$error[x$scores$learner != "stack"]))
}

#' @rdname stack_classifiers
#' @details `plot()` shows the out-of-fold errors.
#' @export
plot.granary_classifier_stack <- function(x, ...) {
  draw(graphics::dotchart, rev(x$scores$error), labels = rev(x$scores$learner), pch = 19, xlab = "error out of fold",
       color = rev(ifelse(x$scores$learner == "stack", sign_colours[["negative"]], sign_colours[["positive"]])),
       user = list(...))
  invisible(x)
}

#' @rdname stack_classifiers
#' @usage \method{autoplot}{granary_classifier_stack}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_classifier_stack <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  gg_canvas(object$scores, ggplot2::aes(.data$error, stats::reorder(.data$learner, -.data$error))) +
    ggplot2::geom_point(colour = sign_colours[["positive"]], size = 3) +
      ggplot2::labs(x = "error out of fold", y = NULL)
}
