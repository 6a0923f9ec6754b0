#' Co-training and self-training
#'
#' The rivals of [aso_semi()]: classifiers on two views of the columns label rows for each other (co-training, Blum and Mitchell 1998), or one
#' classifier
#' labels rows for itself (self-training).
#'
#' @details
#' A pool of `pool` unlabelled rows is kept filled at random. In every round each classifier picks `add` rows of the pool: a class is drawn with the
#' shares of the labelled rows, then the row most confidently given to that class. They join the labelled rows with the proposed classes.
#' This goes on until the unlabelled rows are used up or `max_rounds` are over. Predictions add the scores of the views. Scores may first rise and
#' then fall with the rounds; the paper reports the best round, chosen on the test data, which is not to be had in practice.
#'
#' **Which method when:** to compare with; [aso_semi()] does not feed its own mistakes back as labels.
#'
#' @param x_lab,y_lab Labelled rows and their classes, a factor.
#' @param x_unlab Unlabelled rows, in the same columns.
#' @param views `NULL` for two random halves, or 1 and 2 for the columns.
#' @param pool,add Size of the pool; rows added per view and round.
#' @param max_rounds Most rounds.
#' @param lambda,loss,normalize,threads As in [aso()].
#' @param object,newdata A fit, and rows to predict for.
#' @param type For `predict()`: `"class"`, or `"link"` for the summed scores.
#' @param ... Not used.
#' @return An object of class `granary_co_training`: `fits` (one [`granary_aso`][aso] per view), `rounds` (a data frame: rows labelled after each
#'   round),
#'   `views`, `classes`.
#' @references
#' Blum and Mitchell (1998). Combining labeled and unlabeled data with co-training. *COLT* 11, 92--100.
#'
#' Ando and Zhang (2005). *Journal of Machine Learning Research* 6, 1817--1853, Section 5.2.5.
#' @family shared structure
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_documents(words = 20, unlabelled = 1000, labelled = 20)
#' fit <- co_training(sim$x_lab, sim$y_lab, sim$x_unlab, pool = 300, add = 50, max_rounds = 5)
#' fit
#' mean(predict(fit, sim$x_test) == sim$y_test)
#' own <- self_training(sim$x_lab, sim$y_lab, sim$x_unlab, pool = 300, add = 50, max_rounds = 5)
#' mean(predict(own, sim$x_test) == sim$y_test)
co_training <- function(x_lab, y_lab, x_unlab, views = NULL, pool = 10000, add = 1000, max_rounds = 50, lambda = 1e-4, loss = "huber",
                        normalize = TRUE,
                        threads = NULL) {
  call <- match.call()
  x_lab <- check_design(x_lab)
  views <- check_halves(views, ncol(x_lab))
  bootstrap_labels("co_training", x_lab, y_lab, x_unlab, list(views == 1L, views == 2L), pool, add, max_rounds, lambda, loss, normalize, threads,
                   call)
}

#' @rdname co_training
#' @export
self_training <- function(x_lab, y_lab, x_unlab, pool = 10000, add = 1000, max_rounds = 50, lambda = 1e-4, loss = "huber", normalize = TRUE,
                          threads = NULL) {
  call <- match.call()
  x_lab <- check_design(x_lab)
  bootstrap_labels("self_training", x_lab, y_lab, x_unlab, list(rep(TRUE, ncol(x_lab))), pool, add, max_rounds, lambda, loss, normalize, threads,
                   call)
}

bootstrap_labels <- function(class, x_lab, y_lab, x_unlab, views, pool, add, max_rounds, lambda, loss, normalize, threads, call) {
  if (missing(y_lab)) fail_missing("y_lab")
  if (missing(x_unlab)) fail_missing("x_unlab")
  x_unlab <- new_design(x_unlab, colnames(x_lab), arg = "x_unlab")
  y_lab <- check_sample_labels(y_lab, nrow(x_lab), "y_lab")
  pool <- check_count(pool)
  add <- check_count(add)
  max_rounds <- check_count(max_rounds)
  options <- list(pool = pool, add = add, max_rounds = max_rounds, lambda = check_number(lambda, lower = 0, strict_lower = TRUE),
                  loss = check_choice(loss, c("huber", "logistic", "hinge2")), normalize = check_flag(normalize), threads = thread_count(threads))
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
          classes = classes, call = call, convergence = raw$convergence)
}

# One column per class, also for two.
view_scores <- function(fit, x) {
  scores <- predict(fit, x)
  if (ncol(scores) == 1L) cbind(-scores, scores) else scores
}

#' @rdname co_training
#' @importFrom stats predict
#' @export
predict.granary_co_training <- function(object, newdata, type = c("class", "link"), ...) {
  refuse_dots(...)
  if (missing(newdata)) fail_missing("newdata")
  type <- check_choice(type, c("class", "link"))
  newdata <- new_design(newdata, rownames(object$fits[[1L]]$u), arg = "newdata")
  parts <- Map(function(fit, view) view_scores(fit, keep_columns(newdata, view)), object$fits, object$views)
  scores <- Reduce(`+`, parts)
  colnames(scores) <- object$classes
  if (type == "link") scores else factor(object$classes[max.col(scores, ties.method = "first")], levels = object$classes)
}

#' @rdname co_training
#' @param x A fit.
#' @export
print.granary_co_training <- function(x, ...) {
  cli::cat_line(fit_title(x))
  print_call(x$call)
  cli::cat_line(counted(length(x$fits), "view", "views"), ", ", length(x$classes), " classes; ", x$rounds$labelled[1L], " labelled rows grew to ",
                x$rounds$labelled[nrow(x$rounds)], " in ", counted(nrow(x$rounds) - 1L, "round", "rounds"))
  invisible(x)
}

#' @rdname co_training
#' @export
plot.granary_co_training <- function(x, ...) {
  draw(graphics::plot, x$rounds$round, x$rounds$labelled, type = "b", pch = 19, xlab = "round", ylab = "labelled rows", user = list(...))
  invisible()
}

#' Cross-validated dimension and penalty of a shared structure
#'
#' Refits [aso()] without a part of the rows of every task, for each pair of `h` and `lambda`, and scores the rows left out by the loss of the fit.
#'
#' @param x,y,loss As in [aso()].
#' @param h,lambda Values to try.
#' @param folds Number of folds; rows of every task are dealt out at random.
#' @param ... Further arguments of [aso()].
#' @return A [granary_selection]: `fit` (the best, for all rows), `table` with `h`, `lambda`, `estimate` and `std.error` of the loss of left-out rows.
#' @family shared structure
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_aso(p = 20, tasks = 15, n = 20, h = 2)
#' aso_select(sim$x, sim$y, h = c(0, 2), lambda = c(0.1, 1), loss = "squared", folds = 3)
aso_select <- function(x, y, h = c(0, 2, 5, 10), lambda = c(0.01, 0.1, 1), loss = c("huber", "squared", "logistic", "hinge2"), folds = 10, ...) {
  call <- match.call()
  loss <- check_choice(loss, c("huber", "squared", "logistic", "hinge2"))
  h <- check_vector(h, lower = 0, upper = 1e6)
  lambda <- check_vector(lambda, lower = 0)
  folds <- check_count(folds, lower = 2, upper = 1000)
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  data <- aso_data(x, y, aso_settings(loss, TRUE, FALSE, 500, 1))
  dealt <- lapply(data$y, function(values) sample(rep_len(seq_len(folds), length(values))))
  grid <- expand.grid(h = h, lambda = lambda)
  designs <- if (is.list(x) && !is.data.frame(x)) data$x else data$x[[1L]]
  losses <- resample_lapply(seq_len(nrow(grid) * folds), function(task) {
    pair <- (task - 1L) %/% folds + 1L
    part <- (task - 1L) %% folds + 1L
    train <- Map(function(values, fold) replace(values, fold == part, NaN), data$y, dealt)
    if (any(vapply(train, function(values) all(is.nan(values)), NA))) return(NA_real_)
    fit <- suppressWarnings(suppressMessages(aso(designs, train, h = grid$h[pair], lambda = grid$lambda[pair], loss = loss, ...)))
    scores <- lapply(seq_along(data$y), function(l) {
      held <- which(dealt[[l]] == part & !is.nan(data$y[[l]]))
      if (length(held) == 0L) return(numeric())
      core_loss(loss, predict(fit, data$x[[data$design[l] + 1L]][held, , drop = FALSE], task = l)[, 1L], data$y[[l]][held])$value
    })
    mean(unlist(scores))
  }, "cross-validation")
  losses <- matrix(unlist(losses), folds)
  table <- data.frame(grid, estimate = colMeans(losses, na.rm = TRUE), std.error = apply(losses, 2L, stats::sd, na.rm = TRUE) / sqrt(folds))
  best <- which.min(table$estimate)
  fit <- suppressMessages(aso(designs, data$y, h = table$h[best], lambda = table$lambda[best], loss = loss, ...))
  new_selection("aso", fit, table, "min", paste(loss, "loss"), selected = best, call = shorten_call(call))
}
