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
#' **A known structure.** With `structure` the subspace is held fixed: \eqn{\min \frac1n \sum_i L(u'x_i + b, y_i) + \lambda \|(I - \Theta'\Theta)u\|^2}{min
#' 1/n sum_i L(u'x_i + b, y_i) + lambda ||(I - Theta'Theta) u||^2}, which is to append the features \eqn{\Theta x}{Theta x} without a penalty. A ridge of
#' 1e-8 times the mean square of `x` on the subspace makes the answer unique. Loss and `normalize` are those of the fit that found the structure, unless given.
#'
#' **What the rows of \eqn{\Theta}{Theta} stand for:** `tidy(type = "features")` lists for each row the features that belong to it most: those whose entry
#' is the largest in their column and among the `largest` most positive, or most negative, of the row.
#'
#' @section Which method when:
#' Many tasks that should need similar features: `aso()`. One task with few labels and many unlabelled rows: [aso_semi()]. A new task that resembles old
#' ones: `aso()` with the old fit as `structure`. Fewer than about `2 * h` tasks: plain ridge or lasso for each is as good. [aso_select()] chooses `h` and
#' `lambda`.
#'
#' @param x Features: a matrix, data frame or sparse `dgCMatrix` shared by all tasks, a list of these with one per task, or the result of
#'   [aso_auxiliary()]; or a formula.
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
#' @param structure `NULL` to learn the structure; or a known one: an [aso()] fit, or a matrix with orthonormal rows in the columns of `x`.
#' @param masked `NULL`, or a list with the columns (names or positions) that each task must not see.
#' @param tol Rounds end when the objective changes relatively by less than this.
#' @param max_iter Most iterations of the solver of one task in one round.
#' @param threads Number of threads over tasks; see `options(granary.threads)`.
#' @param object A fit.
#' @param newdata New rows, in the columns of the fit.
#' @param task Names or positions of tasks; all by default.
#' @param formula,data,subset,na.action A formula and the data frame with its variables, as for [stats::lm()]. A matrix on the left-hand side, as by
#'   `cbind()`, has one task per column.
#' @param group For the formula method: the task of each row, looked up in `data`; `NULL` where all tasks have the same rows.
#' @param n,largest For `tidy(type = "features")`: most features to list per row and sign; how many entries of a row count as large, 100 in the paper.
#' @param type For `predict()`: `"latent"` for the shared features \eqn{\Theta x}{Theta x}, `"link"` for \eqn{u'x + b}, `"response"` for the same or, for logistic loss, probabilities, `"class"` for the class
#'   (of a factor the most
#'   probable one, otherwise the sign, per task). For `plot()`: singular values of \eqn{U}, or the rows of \eqn{\Theta}{Theta}. For `tidy()`: the weights, or
#'   what the rows of \eqn{\Theta}{Theta} stand for.
#' @param ... For the formula method, arguments of the default method; for `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @return An object of class `granary_aso`: a list with
#' \item{theta}{\eqn{\Theta}{Theta}, `h` x p; a list with `groups`}
#' \item{u, v, intercepts}{weights p x tasks, their coordinates in the subspace, intercepts}
#' \item{d}{leading singular values of \eqn{U}, a few more than `h`}
#' \item{objective, objective_path}{at the end and after every round}
#' \item{losses}{mean loss of every task}
#' \item{lambda, loss, groups, h, classes}{as used}
#'
#' `tidy()` gives one row per task and feature with the weight and the part of it outside the subspace, `own`, or with `type = "features"` one
#' row per entry: `group`, `row`, `sign`, `feature`, `entry`; `glance()` one row.
#' @references
#' Ando and Zhang (2005). A framework for learning predictive structures from multiple tasks and unlabeled data.
#' *Journal of Machine Learning Research* 6, 1817--1853.
#' @seealso [aso_semi()], [aso_auxiliary()], [aso_select()], [aso_baseline()]
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
#' dim(predict(fit, sim$x[[1]], type = "latent"))
#' tidy(fit, task = 1)[1:3, ]
#' tidy(fit, type = "features", n = 2)[1:3, ]
#' glance(fit)
#' # a new task on the structure of the old ones
#' new <- aso(sim$x[[1]], sim$y[[1]], structure = fit, lambda = 1)
#' # several responses by formula
#' aso(cbind(mpg, qsec) ~ ., mtcars, h = 1, lambda = 0.1, loss = "squared")
aso <- function(x, ...) UseMethod("aso", formula_or_first(x, ...))

#' @rdname aso
#' @export
aso.formula <- function(formula, data = NULL, group = NULL, subset, na.action, ...) {
  call <- match.call(expand.dots = FALSE)
  env <- parent.frame()
  design <- formula_design(call[setdiff(names(call), c("group", "..."))], env, "intercept")
  task <- eval(call$group, if (is.data.frame(data)) data, env)
  parts <- list(x = design$x, y = design$y)
  if (!is.null(task)) parts <- split_tasks(design, task, data)
  if (!design$intercept && !isFALSE(list(...)$intercept)) abort_input("The formula leaves the intercept out (`0 +`): say intercept = FALSE as well.", "intercept")
  fit <- aso.default(parts$x, parts$y, ...)
  keep_design(fit, design, generic_call(match.call(), "aso"))
}

# Rows of each task; `task` belongs to the rows of `data`, of which the formula may have kept some only.
split_tasks <- function(design, task, data) {
  rows <- if (is.data.frame(data) && length(task) == nrow(data)) match(rownames(design$x), row.names(data)) else seq_len(nrow(design$x))
  usable <- (is.factor(task) || is.atomic(task)) && is.null(dim(task)) && length(task) >= max(rows)
  if (!usable) fail_input("group", sprintf("the task of each of the %d rows", nrow(design$x)), describe(task))
  if (is.matrix(design$y)) abort_input("Give tasks as columns of the response or by `group`, not both.", "group")
  at <- split(seq_along(rows), factor(task[rows]))
  list(x = unname(lapply(at, function(i) design$x[i, , drop = FALSE])), y = lapply(at, function(i) design$y[i]))
}

#' @rdname aso
#' @export
aso.default <- function(x, y = NULL, h = 5, lambda = 1e-4, loss = c("huber", "squared", "logistic", "hinge2"), groups = NULL, positive = FALSE,
                        n_iter = 100, variant = c("joint", "fixed_v"), intercept = TRUE, normalize = FALSE, structure = NULL, masked = NULL, tol = 1e-6,
                        max_iter = 500, threads = NULL, ...) {
  call <- generic_call(match.call(), "aso")
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (!is.null(structure)) {
    given <- c(h = !missing(h), groups = !is.null(groups), positive = !missing(positive), masked = !is.null(masked))
    if (any(given)) abort_input(sprintf("`%s` must not be given with `structure`, which decides it.", names(which(given))[1L]), names(which(given))[1L])
    return(aso_on(structure, x, y, lambda, if (!missing(loss)) loss, intercept, if (!missing(normalize)) normalize, max_iter, threads, call))
  }
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
