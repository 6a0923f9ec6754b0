#' Rivals of learning from unlabelled rows
#'
#' What [aso_semi()] is measured against: classifiers on two views of the columns label rows for each other (co-training, Blum and Mitchell 1998), one
#' classifier labels rows for itself (self-training), or principal directions of all rows take the place of a learnt structure.
#'
#' @details
#' `"co_training"`, `"self_training"`: a pool of `pool` unlabelled rows is kept filled at random. In every round each classifier picks `add` rows of the
#' pool: a class is drawn with the shares of the labelled rows, then the row most confidently given to that class. They join the labelled rows with the
#' proposed classes. This goes on until the unlabelled rows are used up or `max_rounds` are over. Predictions add the scores of the views. Scores may first
#' rise and then fall with the rounds; the paper reports the best round, chosen on the test data, which is not to be had in practice.
#'
#' `"pca"`: the `h` leading right singular vectors of all rows, uncentred, as `structure` of [aso()] for the labelled rows.
#'
#' @section Which method when: To compare with; [aso_semi()] does not feed its own mistakes back as labels.
#'
#' @param x_lab,y_lab Labelled rows and their classes, a factor.
#' @param x_unlab Unlabelled rows, in the same columns.
#' @param method Which rival; see Details.
#' @param views For `"co_training"`: `NULL` for two random halves, or 1 and 2 for the columns.
#' @param pool,add Size of the pool; rows added per view and round.
#' @param max_rounds Most rounds.
#' @param h For `"pca"`: number of principal directions.
#' @param lambda,loss,normalize,threads As in [aso()].
#' @param formula,data,subset,na.action A formula with the classes on its left, and the labelled rows; `x_unlab` is then a data frame with the variables on
#'   the right.
#' @param object,newdata A fit, and rows to predict for.
#' @param type For `predict()`: `"class"`, or `"link"` for the summed scores.
#' @param ... For the formula method, arguments of the default method; for `plot()`, passed on to [graphics::plot()].
#' @return For `"co_training"` and `"self_training"` an object of class `granary_co_training`: `fits` (one [`granary_aso`][aso] per view), `rounds` (a data
#'   frame: rows labelled after each round), `views`, `classes`. For `"pca"` a fit of class [`granary_aso`][aso].
#' @references
#' Blum and Mitchell (1998). Combining labeled and unlabeled data with co-training. *COLT* 11, 92--100.
#'
#' Ando and Zhang (2005). *Journal of Machine Learning Research* 6, 1817--1853, Section 5.2.5.
#' @seealso [aso()], [aso_semi()], [aso_auxiliary()], [aso_select()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_aso("documents", words = 20, unlabelled = 1000, labelled = 20)
#' fit <- aso_baseline(sim$x_lab, sim$y_lab, sim$x_unlab, pool = 300, add = 50, max_rounds = 5)
#' fit
#' mean(predict(fit, sim$x_test) == sim$y_test)
#' pca <- aso_baseline(sim$x_lab, sim$y_lab, sim$x_unlab, "pca", h = 5)
#' mean(predict(pca, sim$x_test, type = "class") == sim$y_test)
#' own <- aso_baseline(Species ~ ., iris, x_unlab = iris[1:4], method = "self_training",
#'                     subset = seq(1, 150, 10), pool = 50, add = 10)
#' mean(predict(own, iris) == iris$Species)
aso_baseline <- function(x_lab, ...) UseMethod("aso_baseline", formula_or_first(x_lab, ...))

#' @rdname aso_baseline
#' @export
aso_baseline.formula <- function(formula, data = NULL, x_unlab, subset, na.action, ...) {
  call <- match.call(expand.dots = FALSE)
  if (missing(x_unlab)) fail_missing("x_unlab")
  design <- formula_design(call[setdiff(names(call), c("x_unlab", "..."))], parent.frame(), "intercept")
  fit <- aso_baseline.default(design$x, factor(design$y), new_design(x_unlab, colnames(design$x), design, "x_unlab"), ...)
  keep_design(fit, design, generic_call(match.call(), "aso_baseline"))
}

#' @rdname aso_baseline
#' @export
aso_baseline.default <- function(x_lab, y_lab, x_unlab, method = c("co_training", "self_training", "pca"), views = NULL, pool = 10000, add = 1000,
                                 max_rounds = 50, h = 50, lambda = 1e-4, loss = c("huber", "logistic", "hinge2"), normalize = TRUE, threads = NULL, ...) {
  call <- generic_call(match.call(), "aso_baseline")
  refuse_dots(...)
  method <- check_choice(method, c("co_training", "self_training", "pca"))
  loss <- check_choice(loss, c("huber", "logistic", "hinge2"))
  x_lab <- check_design(x_lab)
  if (missing(y_lab)) fail_missing("y_lab")
  if (missing(x_unlab)) fail_missing("x_unlab")
  if (method == "pca") {
    y_lab <- droplevels(check_sample_labels(y_lab, nrow(x_lab), "y_lab"))
    x_unlab <- new_design(x_unlab, colnames(x_lab), arg = "x_unlab")
    colnames(x_unlab) <- colnames(x_lab)
    all <- normalize_rows(rbind_rows(x_lab, x_unlab), check_flag(normalize))
    return(aso_on(principal_structure(all, min(check_count(h), dim(all))), x_lab, y_lab, lambda, loss, TRUE, normalize, 500, threads, call))
  }
  views <- if (method == "co_training") check_halves(views, ncol(x_lab), "views") else rep(1L, ncol(x_lab))
  bootstrap_labels(method, x_lab, y_lab, x_unlab, lapply(sort(unique(views)), function(v) views == v), pool, add, max_rounds, lambda, loss, normalize,
                   threads, call)
}

bootstrap_labels <- function(class, x_lab, y_lab, x_unlab, views, pool, add, max_rounds, lambda, loss, normalize, threads, call) {
  x_unlab <- new_design(x_unlab, colnames(x_lab), arg = "x_unlab")
  y_lab <- check_sample_labels(y_lab, nrow(x_lab), "y_lab")
  pool <- check_count(pool)
  add <- check_count(add)
  max_rounds <- check_count(max_rounds)
  options <- list(pool = pool, add = add, max_rounds = max_rounds, lambda = check_number(lambda, lower = 0, strict_lower = TRUE),
                  loss = loss, normalize = check_flag(normalize), threads = thread_count(threads))
  y_lab <- droplevels(y_lab)
  classes <- levels(y_lab)
  data <- list(labelled = x_lab, unlabelled = x_unlab, classes = as.integer(y_lab), views = views)
  raw <- core_co_training(data, options, core_seed(), progress_bar("rounds"))
  tasks <- if (length(classes) == 2L) classes[2L] else classes
  settings <- aso_settings(options$loss, TRUE, options$normalize, 500, options$threads)
  lambda <- check_task_lambda(options$lambda, length(tasks), 1L, tasks, "all")
  fits <- lapply(raw$fits, function(fit) {
    fit$d <- list(numeric())
    aso_fit("aso", fit, list(names = colnames(x_lab), y = stats::setNames(vector("list", length(tasks)), tasks), classes = classes),
            list(all = seq_len(ncol(x_lab))), lambda, settings, NULL)
  })
  new_fit(unique(c(class, "co_training")), fits = fits, rounds = data.frame(round = seq_along(raw$counts) - 1L, labelled = raw$counts), views = views,
          classes = classes, n = nrow(x_lab), call = call, convergence = raw$convergence)
}

# One column per class, also for two.
view_scores <- function(fit, x) {
  scores <- predict(fit, x)
  if (ncol(scores) == 1L) cbind(-scores, scores) else scores
}

#' @rdname aso_baseline
#' @importFrom stats predict
#' @export
predict.granary_co_training <- function(object, newdata, type = c("class", "link"), ...) {
  refuse_dots(...)
  if (missing(newdata)) fail_missing("newdata")
  type <- check_choice(type, c("class", "link"))
  newdata <- new_design(newdata, rownames(object$fits[[1L]]$u), object$design, "newdata")
  parts <- Map(function(fit, view) view_scores(fit, keep_columns(newdata, view)), object$fits, object$views)
  scores <- Reduce(`+`, parts)
  colnames(scores) <- object$classes
  if (type == "link") scores else factor(object$classes[max.col(scores, ties.method = "first")], levels = object$classes)
}

#' @rdname aso_baseline
#' @param x A fit.
#' @export
print.granary_co_training <- function(x, ...) {
  cli::cat_line(fit_title(x))
  print_call(x$call)
  cli::cat_line(counted(length(x$fits), "view", "views"), ", ", length(x$classes), " classes; ", x$rounds$labelled[1L], " labelled rows grew to ",
                x$rounds$labelled[nrow(x$rounds)], " in ", counted(nrow(x$rounds) - 1L, "round", "rounds"))
  invisible(x)
}

#' @rdname aso_baseline
#' @export
plot.granary_co_training <- function(x, ...) {
  draw(graphics::plot, x$rounds$round, x$rounds$labelled, type = "b", pch = 19, xlab = "round", ylab = "labelled rows", user = list(...))
  invisible()
}
