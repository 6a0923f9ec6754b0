#' Many related tasks that share a subspace
#'
#' Linear regression or classification for several tasks at once (alternating structure optimisation). The weight vectors of all tasks are pulled
#' towards
#' a low-dimensional subspace that is learnt with them, so tasks with few rows borrow from the others.
#'
#' @details
#' Task \eqn{l} predicts with \eqn{u_l'x + b_l}, \eqn{u_l = w_l + \Theta'v_l}{u_l = w_l + Theta'v_l}, where \eqn{\Theta}{Theta} (`h` x p,
#' orthonormal rows) is common:
#' \deqn{\min \sum_l \left[ \frac{1}{n_l} \sum_i L(u_l'x_i + b_l, y_i) + \lambda_l \|u_l - \Theta'v_l\|^2 \right], \quad \Theta\Theta' = I.}{min
#'   sum_l [ 1/n_l sum_i L(u_l'x_i + b_l, y_i) + lambda_l ||u_l - Theta'v_l||^2 ],  Theta Theta' = I.}
#' Given the \eqn{u_l}, \eqn{v_l = \Theta u_l}{v_l = Theta u_l} and \eqn{\Theta}{Theta} holds the `h` leading left singular vectors of
#' \eqn{U = [\sqrt{\lambda_l} u_l]}{U = [sqrt(lambda_l) u_l]}. Seen without \eqn{v} the penalty is
#' \eqn{\lambda_l(\|u_l\|^2 - \|\Theta u_l\|^2)}{lambda_l (||u_l||^2 - ||Theta u_l||^2)}, and without \eqn{\Theta}{Theta} the sum of the squared
#' singular values of \eqn{U} beyond the
#' `h`-th: `h = 0` is ridge regression task by task, a large `h` no penalty at all.
#'
#' The rounds alternate between the tasks (in parallel) and the decomposition. All \eqn{u_l} are zero at the start, so the first round is ridge
#' regression. `variant = "fixed_v"` is the paper's: \eqn{v_l} rests while \eqn{u_l} moves. `"joint"` moves both, has the same fixed points,
#' and needs far fewer rounds. The paper stops after one round; that is enough for thousands of auxiliary problems
#' ([aso_semi()] does so), but **not for few tasks with few rows**, where iterating is what helps.
#'
#' **Losses** (\eqn{p} the prediction, \eqn{y = \pm 1}{y = -1 or 1}): `"huber"`, the paper's modified Huber loss \eqn{\max(0, 1 - py)^2}{max(0, 1 -
#' py)^2} for
#' \eqn{py \ge -1}{py >= -1} and \eqn{-4py} below; `"squared"` \eqn{(p - y)^2}; `"logistic"` \eqn{\log(1 + e^{-py})}{log(1 + exp(-py))}; `"hinge2"`
#' \eqn{\max(0, 1 - py)^2}{max(0, 1 - py)^2}. There is no factor 1/2 in loss or penalty: for squared loss `lambda` here is glmnet's ridge `lambda`
#' over 2 on
#' data that is not standardised. `lambda = 1e-4` presumes rows of unit length (`normalize = TRUE`).
#'
#' **Groups.** With `groups` each group of columns has its own \eqn{\Theta_t}{Theta_t} with `h[t]` rows; `h[t] = 0` for plain ridge in that group.
#' `positive = TRUE` lets only positive weights into the decomposition (for counts of words, say); the others are shrunk towards zero.
#'
#' Sparse matrices are used as they are: never centred, never made dense. The intercept has no penalty.
#'
#' **Which method when:** many tasks that should need similar features: `aso()`. One task with few labels and many unlabelled rows: [aso_semi()]. A
#' new task
#' that resembles old ones: [aso_transfer()]. Fewer than about `2 * h` tasks: plain ridge or lasso for each is as good.
#'
#' @param x Features: a matrix, data frame or sparse `dgCMatrix` shared by all tasks, a list of these with one per task, or the result of
#'   [aso_auxiliary()].
#' @param y Responses: a matrix with one column per task (`NA` where a row was not observed for the task), a list with one vector per task, or a
#'   factor
#'   (one task per class, one against the rest). For classification -1/1, 0/1 or logical. Not given with [aso_auxiliary()].
#' @param h Dimension of the shared subspace: one number, or one per group. Cut to the number of tasks.
#' @param lambda Penalty: one number, one per task, or a tasks x groups matrix.
#' @param loss See Details.
#' @param groups `NULL`, or the group of each column.
#' @param positive See Details; implies `variant = "fixed_v"`.
#' @param n_iter Most rounds.
#' @param variant See Details.
#' @param intercept Fit an intercept per task?
#' @param normalize Scale every row of `x` to unit length? Predictions then do the same.
#' @param masked `NULL`, or a list with the columns (names or positions) that each task must not see.
#' @param tol Rounds end when the objective changes relatively by less than this.
#' @param max_iter Most iterations of the solver of one task in one round.
#' @param threads Number of threads over tasks; see `options(granary.threads)`.
#' @param object A fit.
#' @param newdata New rows, in the columns of the fit.
#' @param task Names or positions of tasks; all by default.
#' @param type For `predict()`: `"link"` for \eqn{u'x + b}, `"response"` for the same or, for logistic loss, probabilities, `"class"` for the class
#'   (of a factor the most
#'   probable one, otherwise the sign, per task). For `plot()`: singular values of \eqn{U}, or the rows of \eqn{\Theta}{Theta}.
#' @param ... For `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @return An object of class `granary_aso`: a list with
#' \item{theta}{\eqn{\Theta}{Theta}, `h` x p; a list with `groups`}
#' \item{u, v, intercepts}{weights p x tasks, their coordinates in the subspace, intercepts}
#' \item{d}{leading singular values of \eqn{U}, a few more than `h`}
#' \item{objective, objective_path}{at the end and after every round}
#' \item{losses}{mean loss of every task}
#' \item{lambda, loss, groups, h, classes}{as used}
#'
#' `tidy()` gives one row per task and feature with the weight and the part of it outside the subspace, `own`; `glance()` one row.
#' @references
#' Ando and Zhang (2005). A framework for learning predictive structures from multiple tasks and unlabeled data.
#' *Journal of Machine Learning Research* 6, 1817--1853.
#' @family shared structure
#' @seealso `reproduce("jmlr6-alternating-structure-optimization")`; `errata("jmlr6-alternating-structure-optimization")`
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_aso(p = 40, tasks = 30, n = 25, h = 3)
#' fit <- aso(sim$x, sim$y, h = 3, lambda = 1, loss = "squared", intercept = FALSE)
#' fit
#' plot(fit)
#' ridge <- aso(sim$x, sim$y, h = 0, lambda = 1, loss = "squared", intercept = FALSE)
#' c(shared = mean((coef(fit)[-1, ] - sim$u)^2), ridge = mean((coef(ridge)[-1, ] - sim$u)^2))
#' predict(fit, sim$x[[1]][1:2, ], task = 1:3)
#' dim(aso_project(fit, sim$x[[1]]))
#' tidy(fit, task = 1)[1:3, ]
#' glance(fit)
aso <- function(x, y = NULL, h = 5, lambda = 1e-4, loss = c("huber", "squared", "logistic", "hinge2"), groups = NULL, positive = FALSE, n_iter = 20,
                variant = c("joint", "fixed_v"), intercept = TRUE, normalize = FALSE, masked = NULL, tol = 1e-6, max_iter = 500, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(loss) && inherits(x, "granary_auxiliary")) loss <- x$loss
  settings <- aso_settings(loss, intercept, normalize, max_iter, threads)
  positive <- check_flag(positive)
  n_iter <- check_count(n_iter)
  variant <- check_choice(variant, c("joint", "fixed_v"))
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  if (inherits(x, "granary_auxiliary")) {
    if (!is.null(y)) abort_input("`y` must not be given with auxiliary tasks: they have their own.", "y")
    if (is.null(groups)) groups <- x$groups
    data <- x
    data$x <- lapply(x$x, normalize_rows, normalize)
  } else {
    data <- aso_data(x, y, settings)
    data$masked <- check_masked(masked, data)
  }
  groups <- check_groups(groups, data$names)
  lambda <- check_task_lambda(lambda, length(data$y), length(groups), names(data$y), names(groups))
  h <- check_task_h(h, lengths(groups), length(data$y))
  options <- list(loss = settings$loss, intercept = settings$intercept, max_iter = settings$max_iter, h = h, variant = variant, positive = positive,
                  n_iter = n_iter, tol = tol, threads = settings$threads)
  raw <- core_aso(aso_tasks(data, lambda), list(groups = unname(groups)), options, progress_bar("tasks"))
  if (n_iter == 1L) raw$convergence$converged <- TRUE  # one round is what was asked for
  fit <- aso_fit("aso", raw, data, groups, lambda, settings, call)
  if (raw$unfinished > 0L) {
    warn_convergence(sprintf("The solver of %d of %d tasks stopped early in the last round. Raise `max_iter` or `lambda`, or rescale the features.",
                             raw$unfinished, length(data$y)))
  }
  check_convergence(fit, "Raise `n_iter`, or loosen `tol`.")
  fit
}

aso_settings <- function(loss, intercept, normalize, max_iter, threads) {
  list(loss = check_choice(loss, c("huber", "squared", "logistic", "hinge2"), "loss"), intercept = check_flag(intercept, "intercept"),
       normalize = check_flag(normalize, "normalize"), max_iter = check_count(max_iter, "max_iter"), threads = thread_count(threads))
}

aso_fit <- function(class, raw, data, groups, lambda, settings, call, ...) {
  tasks <- names(data$y)
  theta <- Map(function(t, columns) {
    dimnames(t) <- list(if (nrow(t) > 0L) paste0("theta", seq_len(nrow(t))), data$names[columns])
    t
  }, raw$theta, groups)
  names(theta) <- names(groups)
  u <- raw$u
  dimnames(u) <- list(data$names, tasks)
  v <- Map(function(t, columns) t %*% u[columns, , drop = FALSE], theta, groups)
  one <- length(groups) == 1L
  pick <- function(parts) if (one) parts[[1L]] else parts
  new_fit(
    class, theta = pick(theta), u = u, v = pick(v), intercepts = stats::setNames(raw$intercepts, tasks), d = pick(lapply(raw$d, as.double)),
    objective = raw$path[length(raw$path)], objective_path = as.double(raw$path), losses = stats::setNames(as.double(raw$losses), tasks),
    lambda = lambda, loss = settings$loss, groups = groups, h = stats::setNames(vapply(theta, nrow, 0L), names(groups)), classes = data$classes,
    labels = data$labels, intercept = settings$intercept, normalize = settings$normalize, ..., call = call, convergence = raw$convergence
  )
}

# Everything into list(x, y, design, names, classes): designs, one response per task, and which design it goes with (from 0).
aso_data <- function(x, y, settings) {
  shared <- !is.list(x) || is.data.frame(x)
  designs <- if (shared) list(check_design(x, "x", min_rows = 1L)) else {
    if (length(x) == 0L) fail_input("x", "a matrix, or a list with one per task", describe(x))
    Map(function(part, k) check_design(part, sprintf("x[[%d]]", k), min_rows = 1L), unname(x), seq_along(x))
  }
  columns <- vapply(designs, ncol, 0L)
  if (any(columns != columns[1L])) {
    abort_input(sprintf("All matrices in `x` must have the same columns, but the first has %d and another %d.", columns[1L],
                        columns[columns != columns[1L]][1L]), "x")
  }
  if (!shared) {
    named <- vapply(x, function(part) !is.null(colnames(part)), NA)
    designs <- aso_align(designs, named)
  }
  response <- aso_response(y, if (shared) NULL else length(designs), settings$loss)
  design <- if (shared) rep(0L, length(response$y)) else seq_along(designs) - 1L
  for (l in seq_along(response$y)) {
    rows <- nrow(designs[[design[l] + 1L]])
    if (length(response$y[[l]]) != rows) {
      abort_input(sprintf("`y` must have one value per row of `x`, but task %d has %d for %d rows.", l, length(response$y[[l]]), rows), "y")
    }
  }
  c(list(x = lapply(designs, normalize_rows, settings$normalize), design = design, names = colnames(designs[[1L]])), response)
}

# Tasks share their features by name where they have names, else by position.
aso_align <- function(designs, named, names = colnames(designs[[which.max(named)]])) {
  lapply(seq_along(designs), function(k) {
    part <- designs[[k]]
    if (!named[k] || identical(colnames(part), names)) {
      colnames(part) <- names
      return(part)
    }
    unknown <- setdiff(colnames(part), names)
    if (length(unknown) > 0L) {
      abort_input(sprintf("The columns of `x[[%d]]` must be those of the others, but \"%s\" is not among them.", k, unknown[1L]), "x")
    }
    part[, names, drop = FALSE]
  })
}

normalize_rows <- function(x, wanted) {
  if (!wanted) return(x)
  squares <- if (isS4(x)) Matrix::rowSums(x^2) else rowSums(x^2)
  scale <- ifelse(squares > 0, 1 / sqrt(squares), 0)
  if (isS4(x)) {
    x@x <- x@x * scale[x@i + 1L]
    return(x)
  }
  x * scale
}

# list(y, classes, labels): one numeric vector per task, NaN where there is no value; -1 and 1 for classification.
aso_response <- function(y, count, loss) {
  if (is.null(y)) fail_missing("y")
  classes <- NULL
  if (is.character(y) && is.null(dim(y))) y <- factor(y)
  if (is.factor(y)) {
    if (loss == "squared") abort_input("`y` must be numeric for squared loss, not a factor. Use loss = \"huber\".", "y")
    if (anyNA(y)) abort_input("`y` must have no missing classes.", "y")
    classes <- levels(droplevels(y))
    if (length(classes) < 2L) abort_input("`y` must have at least two classes.", "y")
    wanted <- if (length(classes) == 2L) classes[2L] else classes
    tasks <- stats::setNames(lapply(wanted, function(level) ifelse(y == level, 1, -1)), wanted)
  } else if (is.list(y) && !is.data.frame(y)) {
    if (length(y) == 0L) fail_input("y", "a list with one vector per task", describe(y))
    tasks <- if (is.null(names(y))) stats::setNames(y, paste0("task", seq_along(y))) else y
  } else if (is.null(dim(y))) {
    tasks <- list(task1 = y)
  } else {
    if (is.data.frame(y)) y <- matrix_from_frame(y, "y")
    y <- check_matrix(y, "y", allow_na = TRUE)
    labels <- if (is.null(colnames(y))) paste0("task", seq_len(ncol(y))) else colnames(y)
    tasks <- stats::setNames(lapply(seq_len(ncol(y)), function(l) y[, l]), labels)
  }
  if (!is.null(count) && length(tasks) != count) {
    abort_input(sprintf("`y` must have one response per matrix in `x` (%d), but it has %d.", count, length(tasks)), "y")
  }
  list(y = Map(function(values, name) check_task_response(values, name, loss), tasks, names(tasks)), classes = classes, labels = NULL)
}

check_task_response <- function(values, name, loss) {
  arg <- sprintf("y (task %s)", name)
  if (is.logical(values)) values <- ifelse(values, 1, -1)
  values <- as.double(check_vector(values, arg, allow_na = TRUE))
  values[is.na(values)] <- NaN
  seen <- values[!is.nan(values)]
  if (length(seen) == 0L) abort_input(sprintf("`%s` must have at least one value that is not missing.", arg), "y")
  if (loss == "squared") return(values)
  if (all(seen %in% c(0, 1)) && any(seen == 0)) {
    values <- 2 * values - 1
  } else if (!all(seen %in% c(-1, 1))) {
    abort_input(sprintf("`%s` must be -1/1, 0/1 or logical for a classification loss. Use loss = \"squared\" for numbers.", arg), "y")
  }
  values
}

check_masked <- function(masked, data) {
  tasks <- length(data$y)
  if (is.null(masked)) return(rep(list(integer()), tasks))
  if (!is.list(masked) || is.data.frame(masked) || length(masked) != tasks) fail_input("masked", sprintf("a list with one element per task (%d)",
                                                                                                         tasks), describe(masked))
  positions <- stats::setNames(seq_along(data$names), data$names)
  lapply(unname(masked), function(columns) if (length(columns) == 0L) integer() else which(check_features(columns, positions, "masked")) - 1L)
}

check_groups <- function(groups, names) {
  if (is.null(groups)) return(list(all = seq_along(names)))
  if (!(is.atomic(groups) || is.factor(groups)) || !is.null(dim(groups)) || length(groups) != length(names) || anyNA(groups)) {
    fail_input("groups", sprintf("the group of each of the %d columns", length(names)), describe(groups))
  }
  split(seq_along(names), factor(groups, levels = unique(groups)))
}

# Designs and tasks as core_aso() takes them.
aso_tasks <- function(data, lambda) {
  tasks <- lapply(seq_along(data$y), function(l) {
    list(design = data$design[l] + 1L, y = as.double(data$y[[l]]), lambda = unname(lambda[l, ]), masked = data$masked[[l]] + 1L)
  })
  list(designs = unname(data$x), tasks = tasks)
}

check_task_lambda <- function(lambda, tasks, groups, task_names, group_names) {
  if (is.matrix(lambda) && !(nrow(lambda) == 1L && ncol(lambda) == 1L)) {
    lambda <- check_matrix(lambda, "lambda")
    if (nrow(lambda) != tasks || ncol(lambda) != groups) {
      abort_input(sprintf("`lambda` must be one number, one per task, or a %d x %d matrix, but it is %d x %d.", tasks, groups, nrow(lambda),
                          ncol(lambda)), "lambda")
    }
    if (any(lambda < 0)) abort_input("`lambda` must not be negative.", "lambda")
  } else {
    lambda <- check_vector(lambda, "lambda", lower = 0)
    if (!length(lambda) %in% c(1L, tasks)) {
      abort_input(sprintf("`lambda` must be one number, one per task (%d), or a matrix, but it has %d elements.", tasks, length(lambda)), "lambda")
    }
    lambda <- matrix(rep_len(as.double(lambda), tasks), tasks, groups)
  }
  dimnames(lambda) <- list(task_names, group_names)
  lambda
}

check_task_h <- function(h, sizes, tasks) {
  h <- check_vector(h, "h", lower = 0, upper = .Machine$integer.max)
  if (any(h != round(h))) abort_input("`h` must hold whole numbers.", "h")
  if (!length(h) %in% c(1L, length(sizes))) {
    abort_input(sprintf("`h` must be one number or one per group (%d), but it has %d elements.", length(sizes), length(h)), "h")
  }
  h <- rep_len(as.integer(h), length(sizes))
  most <- pmin(sizes, tasks)
  if (any(h > most)) cli::cli_inform("{.arg h} is cut to {.val {unname(pmin(h, most))}}: no more than columns and tasks.")
  as.integer(pmin(h, most))
}

aso_thetas <- function(fit) if (is.list(fit$theta)) fit$theta else list(fit$theta)

#' Coordinates in a learnt subspace
#'
#' `aso_project()` maps rows into the space a fit has found: for [aso()] the features \eqn{\Theta x}{Theta x} that its tasks share.
#'
#' @param object A fit.
#' @param newdata Rows, in the columns of the fit.
#' @param ... Passed on to methods.
#' @return A matrix with one row per row of `newdata`.
#' @family shared structure
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_aso(p = 20, tasks = 10, n = 30, h = 2)
#' fit <- aso(sim$x, sim$y, h = 2, lambda = 1, loss = "squared")
#' head(aso_project(fit, sim$x[[1]]))
aso_project <- function(object, ...) UseMethod("aso_project")

#' @rdname aso_project
#' @export
aso_project.default <- function(object, ...) {
  fail_input("object", "a fit that spans a subspace, such as one of aso()", describe(object))
}

#' @rdname aso_project
#' @export
aso_project.granary_aso <- function(object, newdata, ...) {
  refuse_dots(...)
  if (missing(newdata)) fail_missing("newdata")
  newdata <- normalize_rows(new_design(newdata, rownames(object$u), arg = "newdata"), object$normalize)
  parts <- Map(function(theta, columns) as.matrix(Matrix::tcrossprod(newdata[, columns, drop = FALSE], theta)), aso_thetas(object), object$groups)
  labels <- unlist(Map(function(theta, name) if (nrow(theta) > 0L) if (length(parts) > 1L) paste0(name, ".", rownames(theta)) else rownames(theta),
                       aso_thetas(object), names(object$groups)))
  out <- do.call(cbind, unname(parts))
  dimnames(out) <- list(rownames(newdata), unname(labels))
  out
}

check_task <- function(task, fit) {
  names <- colnames(fit$u)
  if (is.null(task)) return(seq_along(names))
  which(check_features(task, stats::setNames(seq_along(names), names), "task"))
}

#' @rdname aso
#' @export
coef.granary_aso <- function(object, task = NULL, ...) {
  refuse_dots(...)
  at <- check_task(task, object)
  rbind("(Intercept)" = object$intercepts[at], object$u[, at, drop = FALSE])
}

#' @rdname aso
#' @importFrom stats predict
#' @export
predict.granary_aso <- function(object, newdata, task = NULL, type = c("link", "response", "class"), ...) {
  refuse_dots(...)
  if (missing(newdata)) fail_missing("newdata")
  type <- check_choice(type, c("link", "response", "class"))
  newdata <- normalize_rows(new_design(newdata, rownames(object$u), arg = "newdata"), object$normalize)
  at <- check_task(task, object)
  scores <- as.matrix(newdata %*% object$u[, at, drop = FALSE])
  scores <- sweep(scores, 2L, object$intercepts[at], `+`)
  dimnames(scores) <- list(rownames(newdata), colnames(object$u)[at])
  if (type == "class") return(aso_classes(object, scores, is.null(task)))
  if (type == "response" && object$loss == "logistic") stats::plogis(scores) else scores
}

aso_classes <- function(fit, scores, all_tasks) {
  if (fit$loss == "squared") abort_input("There are no classes with squared loss: use type = \"link\".", "type")
  if (is.null(fit$classes) || !all_tasks) return(ifelse(scores > 0, 1L, -1L))
  if (ncol(scores) == 1L) return(factor(fit$classes[(scores[, 1L] > 0) + 1L], levels = fit$classes))
  factor(fit$classes[max.col(scores, ties.method = "first")], levels = fit$classes)
}

#' @rdname aso
#' @export
print.granary_aso <- function(x, ...) {
  cli::cat_line(fit_title(x))
  print_call(x$call)
  cli::cat_line(counted(ncol(x$u), "task", "tasks"), ", ", counted(nrow(x$u), "feature", "features"), ", loss ", x$loss, ", shared dimensions ",
                paste(x$h, collapse = " "), if (length(x$h) > 1L) " (by group)")
  shares <- aso_shared_share(x)
  cli::cat_line("Share of the squared weights inside the subspace: ", format(shares, digits = 3L), "; mean loss ", format(mean(x$losses),
                                                                                                                          digits = 4L))
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

aso_shared_share <- function(fit) {
  total <- sum(fit$u^2)
  if (total == 0) return(0)
  v <- if (is.list(fit$v)) fit$v else list(fit$v)
  sum(vapply(v, function(part) sum(part^2), 0)) / total
}

#' @rdname aso
#' @export
summary.granary_aso <- function(object, ...) {
  d <- if (is.list(object$d)) object$d else list(object$d)
  values <- vapply(d, function(s) paste(format(utils::head(s, 8L), digits = 3L), collapse = " "), "")
  structure(list(
    title = fit_title(object), call = object$call, convergence = object$convergence,
    parts = c(tasks = ncol(object$u), features = nrow(object$u), loss = object$loss, shared = paste(object$h, collapse = " "),
              objective = format(object$objective, digits = 6L), share_inside = format(aso_shared_share(object), digits = 3L),
              singular_values = paste(values, collapse = " | ")),
    quantiles = rbind(losses = stats::setNames(stats::quantile(object$losses, c(0, 0.25, 0.5, 0.75, 1), names = FALSE), c("min", "25%", "median",
                                                                                                                          "75%", "max")))
  ), class = "summary_granary_fit")
}

#' @rdname aso
#' @export
tidy.granary_aso <- function(x, task = NULL, ...) {
  refuse_dots(...)
  at <- check_task(task, x)
  own <- aso_own(x)
  data.frame(task = rep(colnames(x$u)[at], each = nrow(x$u)), term = rep(rownames(x$u), length(at)), estimate = as.vector(x$u[, at, drop = FALSE]),
             own = as.vector(own[, at, drop = FALSE]))
}

# What the tasks have for themselves, w_l = u_l - Theta'v_l.
aso_own <- function(fit) {
  v <- if (is.list(fit$v)) fit$v else list(fit$v)
  own <- fit$u
  for (t in seq_along(fit$groups)) own[fit$groups[[t]], ] <- own[fit$groups[[t]], ] - crossprod(aso_thetas(fit)[[t]], v[[t]])
  own
}

#' @rdname aso
#' @export
glance.granary_aso <- function(x, ...) {
  refuse_dots(...)
  end <- convergence_table(x$convergence)
  data.frame(tasks = ncol(x$u), features = nrow(x$u), h = sum(x$h), loss = x$loss, mean_loss = mean(x$losses), objective = x$objective,
             share_inside = aso_shared_share(x), end[c("converged", "iterations", "seconds")])
}

#' @rdname aso
#' @export
plot.granary_aso <- function(x, type = c("scree", "theta"), ...) {
  type <- check_choice(type, c("scree", "theta"))
  if (type == "theta") {
    theta <- aso_thetas(x)[[which.max(x$h)]]
    if (nrow(theta) == 0L) abort_input("There is no shared structure to draw: `h` is 0.", "x")
    largest <- max(abs(theta))
    graphics::image(seq_len(ncol(theta)), seq_len(nrow(theta)), t(theta), zlim = c(-largest, largest), xlab = "feature", ylab = "row of Theta",
                    yaxt = "n",
                    col = grDevices::colorRampPalette(c(sign_colours[["negative"]], "white", sign_colours[["positive"]]))(41L), ...)
    graphics::axis(2L, seq_len(nrow(theta)), las = 1L)
    return(invisible())
  }
  d <- if (is.list(x$d)) x$d else list(x$d)
  if (sum(lengths(d)) == 0L) abort_input("There are no singular values to draw: this fit took its structure from another.", "x")
  draw(graphics::plot, range(1, lengths(d)), c(0, max(unlist(d))), type = "n", xlab = "component", ylab = "singular value of U", user = list(...))
  for (t in seq_along(d)) {
    graphics::lines(d[[t]], type = "b", pch = 19, col = t)
    if (x$h[[t]] > 0) graphics::abline(v = x$h[[t]] + 0.5, lty = 3, col = t)
  }
  invisible()
}

#' What the rows of a shared structure stand for
#'
#' For every row of \eqn{\Theta}{Theta} the features that belong to it most: those whose entry is the largest in their column and among the
#' `largest` most positive, or most negative, of the row.
#'
#' @param fit An [aso()] fit.
#' @param n Most features to list per row and sign.
#' @param largest How many entries of a row count as large; 100 in the paper.
#' @return A data frame with columns `group`, `row`, `sign`, `feature` and `entry`.
#' @references Ando and Zhang (2005). *Journal of Machine Learning Research* 6, 1817--1853, Section 5.2.8.
#' @family shared structure
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_aso(p = 20, tasks = 10, n = 30, h = 2)
#' aso_features(aso(sim$x, sim$y, h = 2, lambda = 1, loss = "squared"), n = 3)
aso_features <- function(fit, n = 10, largest = 100) {
  check_aso(fit)
  n <- check_count(n)
  largest <- check_count(largest)
  rows <- list()
  for (t in seq_along(fit$groups)) {
    theta <- aso_thetas(fit)[[t]]
    if (nrow(theta) == 0L) next
    owner <- max.col(t(abs(theta)), ties.method = "first")
    for (k in seq_len(nrow(theta))) {
      for (sign in c("positive", "negative")) {
        values <- if (sign == "positive") theta[k, ] else -theta[k, ]
        top <- utils::head(order(-values), largest)
        top <- utils::head(top[values[top] > 0 & owner[top] == k], n)
        if (length(top) == 0L) next
        rows[[length(rows) + 1L]] <- data.frame(group = names(fit$groups)[t], row = k, sign = sign, feature = colnames(theta)[top],
                                                entry = theta[k, top])
      }
    }
  }
  out <- do.call(rbind, rows)
  if (is.null(out)) out <- data.frame(group = character(), row = integer(), sign = character(), feature = character(), entry = numeric())
  rownames(out) <- NULL
  out
}

check_aso <- function(fit, arg = "fit") {
  if (missing(fit)) fail_missing(arg)
  if (!inherits(fit, "granary_aso")) fail_input(arg, "a fit of aso()", describe(fit))
}

#' Tasks with a common subspace
#'
#' Linear tasks whose weights lie near a random subspace: \eqn{u_l = \Theta'v_l + w_l}{u_l = Theta'v_l + w_l} with \eqn{v_l \sim N(0, I)}{v_l ~ N(0,
#' I)} and \eqn{w_l
#' \sim N(0, s^2 I/p)}{w_l ~ N(0, s^2 I / p)}.
#'
#' @param p,tasks,n,h Number of features, of tasks, of rows per task, dimension of the subspace.
#' @param noise Standard deviation of the responses about \eqn{u'x}.
#' @param own The scale \eqn{s} of what a task has for itself.
#' @return A list with `x` and `y` (lists, one element per task), `u` (p x tasks) and `theta` (h x p).
#' @family shared structure
#' @export
#' @examples
#' set.seed(1)
#' str(sim_aso(p = 10, tasks = 2, n = 5, h = 1))
sim_aso <- function(p = 100, tasks = 60, n = 40, h = 5, noise = 0.5, own = 0.1) {
  p <- check_count(p, upper = 1e6)
  tasks <- check_count(tasks, upper = 1e6)
  n <- check_count(n, upper = 1e7)
  h <- check_count(h, lower = 0, upper = p)
  noise <- check_number(noise, lower = 0)
  own <- check_number(own, lower = 0)
  theta <- if (h > 0L) t(qr.Q(qr(matrix(stats::rnorm(p * h), p)))) else matrix(0, 0L, p)
  shared <- if (h > 0L) crossprod(theta, matrix(stats::rnorm(h * tasks), h)) else 0
  u <- shared + own / sqrt(p) * matrix(stats::rnorm(p * tasks), p)
  x <- lapply(seq_len(tasks), function(l) matrix(stats::rnorm(n * p), n))
  y <- lapply(seq_len(tasks), function(l) drop(x[[l]] %*% u[, l]) + noise * stats::rnorm(n))
  list(x = x, y = y, u = u, theta = theta)
}
