#' Gaussian graphs of several related data sets
#'
#' Estimates one sparse precision matrix per task (subject, site, tumour subtype, regime) from few observations each, with a penalty that
#' lets the
#' tasks share their edges: the multi-task graphical lasso with the \eqn{\ell_{1,2}}{l1,2} or \eqn{\ell_{1,\infty}}{l1,inf} norm, and the group
#' and fused
#' joint graphical lasso. Every fit carries its duality gap.
#'
#' @details
#' With \eqn{x_{ij} = (X_{1,ij}, \dots, X_{K,ij})}{x_ij = (X_1,ij, ..., X_K,ij)} the estimates minimise over positive definite matrices
#' \deqn{\sum_k T_k \{-\log\det X_k + \mathrm{tr}(S_k X_k)\} + \sum_{i \ne j} \{\lambda_1 \|x_{ij}\|_1 + \lambda N(x_{ij})\},}{
#'   sum_k T_k (-log det X_k + tr(S_k X_k)) + sum_{i != j} (lambda1 |x_ij|_1 + lambda N(x_ij)),}
#' the sum running over ordered pairs, with \eqn{N} the Euclidean norm (`"l2"`), the largest absolute value (`"linf"`) or
#' \eqn{\sum_{k<l} |x_k - x_l|}{sum_{k<l} |x_k - x_l|} (`"fused"`). With `lambda1 = 0` the first two are problem (4.1) of Honorio (2012), whose
#' \eqn{\rho}{rho} is
#' `lambda`: an edge is in all tasks or in none. With `lambda1 > 0`, `"l2"` and `"fused"` are the group and fused graphical lasso of Danaher,
#' Wang and
#' Witten (2014), whose \eqn{\lambda_2}{lambda2} is `lambda`. As there, the fused norm also ties the diagonals together; otherwise the diagonal
#' is free
#' unless `penalize_diagonal = TRUE`. With `lambda = 0` the problem falls into one [ggm_lasso()] per task, with penalty
#' \eqn{\lambda_1 / T_k}{lambda1 / T_k}.
#'
#' The weights \eqn{T_k} matter: with `"size"` they are the numbers of observations, so that `lambda` is in units of observations times
#' covariance; with
#' `"proportion"` they sum to one (the penalties quoted in the experiments of the thesis only make sense so); with `"equal"` they are one.
#'
#' Variables \eqn{i} and \eqn{j} are connected when the covariances of the pair, over all tasks, are too large for \eqn{x_{ij} = 0}{x_ij = 0}:
#' \eqn{\|(T_k S_{k,ij})_k\|_{p'} > \lambda}{|(T_k S_k,ij)_k|_p' > lambda} for the two norms (with \eqn{p' = 2} and 1, after soft-thresholding at
#' `lambda1`), a condition on the
#' sums of the largest entries for the fused one. The components of this graph are those of the union of the solutions, so they are solved one by
#' one; this is exact.
#'
#' `method = "newton"` (default) is a proximal Newton method over all tasks, whose steps solve the small problem of each pair over its \eqn{K}
#' entries exactly. `"bcd"` is the
#' block coordinate descent of the thesis (Algorithm 4.1; it makes 10 sweeps, `max_iter` here), for the two norms. `"admm"` is the alternating
#' direction method, the
#' one in the `JGL` package. The stopping rule looks at how far each pair alone would still move, relative to the size of the matrices.
#'
#' @section Which method when: `"l2"` when tasks share their graph but not its strengths; `"linf"` when the strengths are alike too (it
#' makes many of
#' them
#' equal in size); `"fused"` with `lambda1 > 0` when whole matrices are nearly equal and their differences are of interest. When graphs have
#' little in common (the
#' thesis finds break-even at half of the edges shared) fit [ggm_lasso()] to each task. Choose the penalty with [ggm_select()].
#'
#' @param x Data: a list of matrices or data frames, one per task, with the same variables (matched by name); or one matrix or data frame, with
#'   `groups`.
#' @param groups The task of each row of `x`, when `x` is one matrix.
#' @param S Instead of `x`: a list of covariance matrices.
#' @param n Numbers of observations behind `S`, one per task or one for all.
#' @param lambda Weight of the norm across tasks: a number or a sequence (sorted to be decreasing). By default `n_lambda` values, evenly
#'   spaced on
#'   the log scale, from
#'   the smallest that empties the graphs.
#' @param lambda1 Weight of the entrywise penalty: a number, or one per `lambda`. `NULL` for 0, or, with the fused norm and no `lambda`, for the
#'   same
#'   sequence as `lambda`.
#' @param norm The norm \eqn{N}; see Details.
#' @param weights The weights \eqn{T_k}; one of the words in Details, or a positive number per task.
#' @param n_lambda,lambda_min_ratio Length of the default sequence and the ratio of its ends.
#' @param penalize_diagonal Whether the diagonal is penalised too. The thesis finds that this never helps.
#' @param method The solver; see Details.
#' @param screen Whether to split into components first. `FALSE` only to see what it saves.
#' @param tol Stopping tolerance; see Details.
#' @param max_iter Largest number of Newton steps, sweeps or iterations; `NULL` for the method's own: 100, 1000, 10000.
#' @param covariance Whether to keep the dense covariance estimates along a path. A single fit always has them.
#' @param threads Threads; default `getOption("granary.threads")`.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_ggm_multi`, inheriting from `granary_ggm` and `granary_fit` (methods: [granary_ggm_multi]): a list with
#' \item{precision}{a list of sparse matrices, one per task; on a path a list of such lists}
#' \item{covariance}{their inverses, if kept}
#' \item{lambda, lambda1, norm, weights}{the penalty and the weights \eqn{T_k}}
#' \item{df, edges, shared}{pairs with an edge in any task; per task; in all tasks}
#' \item{common_edges}{for a single fit, the pairs with an edge in all tasks and their partial correlations per task}
#' \item{objective, gap}{objective and duality gap}
#' \item{component}{the component each variable was solved in}
#' \item{S, n, mean, x}{what was fitted, one element per task}
#' \item{convergence}{how the solver ended, per penalty}
#' @references
#' Honorio (2012). *Tractable learning of graphical model structures from data*. PhD thesis, Stony Brook University, chapter 4.
#'
#' Honorio and Samaras (2010). Multi-task learning of Gaussian graphical models. *ICML* 27, 447--454.
#'
#' Danaher, Wang and Witten (2014). The joint graphical lasso for inverse covariance estimation across multiple classes. *Journal of the Royal
#' Statistical
#' Society B* 76, 373--397.
#' @seealso [ggm_lasso()], [ggm_select()], [assess()], [ggm_difference()], [sim_ggm()], [ggm_baseline()]; `errata("thesis-4-multi-task")`
#' @export
#' @examples
#' fit <- ggm_multi(scale(iris[1:4]), groups = iris$Species, lambda = 10)
#' fit
#' coef(fit, task = "virginica")
#'
#' # data sets of different sizes as a list; a path
#' tasks <- split(as.data.frame(scale(mtcars[c(1, 3:6)])), mtcars$cyl)
#' ggm_multi(tasks, norm = "linf", n_lambda = 5)
#' # the fused joint graphical lasso
#' ggm_multi(tasks, lambda1 = 0.1, lambda = 0.05, norm = "fused", weights = "equal")
ggm_multi <- function(x = NULL, groups = NULL, S = NULL, n = NULL, lambda = NULL, lambda1 = NULL, norm = c("l2", "linf", "fused"),
                      weights = c("size", "proportion", "equal"), n_lambda = 20, lambda_min_ratio = 0.05, penalize_diagonal = FALSE,
                      method = c("newton", "bcd", "admm"), screen = TRUE, tol = 1e-6, max_iter = NULL, covariance = FALSE, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  data <- multi_input(x, groups, S, n)
  norm <- check_choice(norm, c("l2", "linf", "fused"))
  method <- check_choice(method, c("newton", "bcd", "admm"))
  penalize_diagonal <- check_flag(penalize_diagonal)
  screen <- check_flag(screen)
  covariance <- check_flag(covariance)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  max_iter <- check_count(max_iter, allow_null = TRUE)
  if (is.null(max_iter)) max_iter <- c(newton = 100L, bcd = 1000L, admm = 10000L)[[method]]
  if (method == "bcd" && norm == "fused") {
    abort_input(paste("Block coordinate descent (method = \"bcd\") is for the norms \"l2\" and \"linf\":",
                      "use \"newton\" or \"admm\" for \"fused\"."), "method")
  }
  weights <- multi_weights(weights, data)
  penalty <- multi_penalty(lambda, lambda1, norm, data$S, weights, check_count(n_lambda), lambda_min_ratio)
  multi_check_variances(data, penalize_diagonal, norm, penalty)
  if (length(data$S) == 1L) message("Only one task: this is the graphical lasso, see ggm_lasso().")
  settings <- list(norm = norm, penalize_diagonal = penalize_diagonal, method = method, screen = screen, tol = tol, max_iter = max_iter)
  fit <- fit_multi_path(data, penalty, weights, settings, covariance, thread_count(threads), call)
  check_convergence(fit)
  fit
}

# Where ggm_multi() and the refits of ggm_select() meet: everything is checked by now.
fit_multi_path <- function(data, penalty, weights, settings, covariance, threads, call) {
  path <- c(lapply(penalty[c("lambda", "lambda1")], as.double), settings[c("norm", "penalize_diagonal")])
  options <- c(settings[c("method", "screen", "tol", "max_iter")], list(covariance = covariance, threads = threads))
  results <- core_multi_path(task_parts(data$S, weights), path, options, progress_bar("multi-task graphical lasso"))
  new_ggm_multi(results, data, penalty, weights, settings, call)
}

task_parts <- function(S, weights) list(s = unname(S), weight = as.double(unname(weights)))

# Data or covariances, checked: lists over tasks S, n, mean and x (the last two NULL for covariances).
multi_input <- function(x, groups, S, n) {
  if (is.null(x) == is.null(S)) {
    abort_input(paste("Give either the data `x` or covariance matrices `S`,", if (is.null(x)) "but neither came." else "not both."), "x")
  }
  if (is.null(x)) {
    if (!is.null(groups)) abort_input("`groups` goes with data `x`, not with covariance matrices.", "groups")
    return(multi_input_covariances(S, n))
  }
  if (!is.null(n)) abort_input("`n` goes with covariance matrices; with data it is the number of rows. Leave it out.", "n")
  tasks <- multi_split(x, groups)
  rows <- attr(tasks, "rows")
  attr(tasks, "rows") <- NULL
  small <- vapply(tasks, nrow, 0L) < 2L
  if (any(small)) {
    abort_input(sprintf("Every task needs at least two observations, but task %s has %d.", names(tasks)[small][1L],
                        nrow(tasks[[which(small)[1L]]])), "x")
  }
  tasks <- multi_match(tasks, "x")
  S <- lapply(tasks, function(m) {
    check_all_columns(ncol(m), 5, "Choose the variables beforehand, such as those that vary most.")
    s <- core_covariance(m)
    dimnames(s) <- rep(list(colnames(m)), 2L)
    s
  })
  list(S = S, n = vapply(tasks, nrow, 0L), mean = lapply(tasks, colMeans), x = tasks, rows = rows)
}

# A named list of numeric matrices.
multi_split <- function(x, groups) {
  if (is.list(x) && !is.data.frame(x)) {
    if (!is.null(groups)) abort_input("`groups` goes with one matrix of data; `x` is a list with one element per task already.", "groups")
    if (length(x) == 0L) abort_input("`x` must hold at least one task, but the list is empty.", "x")
    names(x) <- task_names(names(x), length(x))
    return(Map(function(m, name) check_matrix(m, paste0("x$", name)), x, names(x)))
  }
  x <- check_matrix(x, "x")
  if (is.null(groups)) {
    abort_input("`groups` is needed to say which row of `x` belongs to which task; or give a list of matrices.", "groups")
  }
  usable <- is.atomic(groups) && is.null(dim(groups)) && (is.factor(groups) || !is.object(groups))
  if (!usable || length(groups) != nrow(x)) {
    abort_input(sprintf("`groups` must be a factor or vector with one entry per row of `x` (%d), but it is %s.", nrow(x),
                        if (usable) paste("of length", length(groups)) else describe(groups)), "groups")
  }
  if (anyNA(groups)) abort_input(sprintf("`groups` must have no missing values, but entry %d is NA.", which(is.na(groups))[1L]), "groups")
  rows <- split(seq_len(nrow(x)), droplevels(as.factor(groups)))
  structure(lapply(rows, function(own) x[own, , drop = FALSE]), rows = unlist(rows, use.names = FALSE))
}

task_names <- function(names, tasks) {
  fallback <- paste0("task", seq_len(tasks))
  if (is.null(names)) return(fallback)
  names[is.na(names) | !nzchar(names)] <- fallback[is.na(names) | !nzchar(names)]
  make.unique(names)
}

# The variables of every task in the order of the first, matched by name; without names by position.
multi_match <- function(tasks, arg) {
  labels <- lapply(tasks, colnames)
  unnamed <- vapply(labels, is.null, NA)
  sizes <- vapply(tasks, ncol, 0L)
  if (all(unnamed)) {
    if (any(sizes != sizes[1L])) {
      bad <- which(sizes != sizes[1L])[1L]
      abort_input(sprintf("All tasks must have the same variables, but task %s has %d and task %s has %d.", names(tasks)[1L], sizes[1L],
                          names(tasks)[bad], sizes[bad]), arg)
    }
    return(lapply(tasks, function(m) {
      colnames(m) <- variable_names(NULL, ncol(m))
      m
    }))
  }
  if (any(unnamed)) {
    abort_input(sprintf("Variables are matched by name, but task %s has none: name its columns, or those of no task.",
                        names(tasks)[unnamed][1L]), arg)
  }
  for (k in seq_along(tasks)) check_names_unique(labels[[k]], paste0(arg, "$", names(tasks)[k]))
  for (k in seq_along(tasks)[-1L]) {
    lacks <- setdiff(labels[[1L]], labels[[k]])
    extra <- setdiff(labels[[k]], labels[[1L]])
    if (length(lacks) + length(extra) > 0L) {
      parts <- c(if (length(lacks) > 0L) paste("lacks", paste(utils::head(lacks, 5L), collapse = ", ")),
                 if (length(extra) > 0L) paste("has besides", paste(utils::head(extra, 5L), collapse = ", ")))
      abort_input(sprintf("All tasks must have the same variables, but compared with task %s, task %s %s.", names(tasks)[1L], names(tasks)[k],
                          paste(parts, collapse = " and ")), arg)
    }
  }
  lapply(tasks, function(m) m[, labels[[1L]], drop = FALSE])
}

multi_input_covariances <- function(S, n) {
  if (!is.list(S) || is.data.frame(S) || length(S) == 0L) {
    abort_input(sprintf("`S` must be a list of covariance matrices, one per task, but it is %s.", describe(S)), "S")
  }
  named <- !is.null(names(S))
  names(S) <- task_names(names(S), length(S))
  if (all(vapply(S, inherits, NA, what = "granary_moments"))) {
    given <- lapply(S, moments_covariance, n = n)
    S <- lapply(given, `[[`, "S")
    n <- vapply(given, `[[`, 0, "n")
  }
  S <- Map(function(m, name) check_symmetric(m, paste0("S$", name)), S, names(S))
  S <- multi_match(S, "S")
  S <- lapply(S, function(m) {
    if (is.null(rownames(m))) rownames(m) <- colnames(m)
    m[colnames(m), , drop = FALSE]
  })
  if (!is.null(n)) {
    n <- check_vector(n, "n", lower = 0)
    if (!length(n) %in% c(1L, length(S))) {
      abort_input(sprintf("`n` must have one entry per task (%d) or one for all, but it has %d.", length(S), length(n)), "n")
    }
    if (named && length(n) == length(S)) n <- match_tasks(n, names(S), "n")
    n <- stats::setNames(rep_len(n, length(S)), names(S))
    if (any(n < 2)) abort_input(sprintf("Every task needs at least two observations, but task %s has %g.", names(S)[n < 2][1L], n[n < 2][1L]), "n")
  }
  for (name in names(S)) {
    if (any(diag(S[[name]]) < 0)) abort_input(sprintf("`S$%s` must have a nonnegative diagonal.", name), "S")
    excess <- core_semidefinite_excess(S[[name]])
    if (excess > 1e-8) {
      warn_input(sprintf(paste(
        "The covariance of task %s is not positive semi-definite (it would take about %.2g of its mean variance on the diagonal).",
        "At small penalties the problem can be unbounded."
      ), name, excess), "S")
    }
  }
  list(S = S, n = n, mean = NULL, x = NULL)
}

# A variance of zero leaves the likelihood without a maximum, unless the diagonal is penalised.
multi_check_variances <- function(data, penalize_diagonal, norm, penalty) {
  bounded <- penalize_diagonal && all(penalty$lambda1 > 0 | (penalty$lambda > 0 & norm != "fused"))
  if (bounded) return(invisible())
  for (task in names(data$S)) {
    limit <- if (is.null(data$x)) 0 else 1e-24 * colMeans(data$x[[task]]^2)
    constant <- diag(data$S[[task]]) <= limit
    if (any(constant)) {
      abort_input(sprintf("Variable %s has variance 0 in task %s, so the likelihood has no maximum: drop it or set penalize_diagonal = TRUE.",
                          colnames(data$S[[task]])[constant][1L], task), "x")
    }
  }
}

# One value per task, in the order of the tasks. Where no name is one of theirs the order is taken as given.
match_tasks <- function(x, tasks, arg) {
  if (is.null(names(x)) || !any(names(x) %in% tasks)) return(x)
  at <- match(tasks, names(x))
  if (anyNA(at)) abort_input(sprintf("`%s` must name the tasks, but \"%s\" is not among its names.", arg, tasks[is.na(at)][1L]), arg)
  x[at]
}

multi_weights <- function(weights, data) {
  tasks <- length(data$S)
  if (is.numeric(weights)) {
    weights <- check_vector(weights, "weights", length = tasks, lower = 0, strict_lower = TRUE)
    return(stats::setNames(match_tasks(weights, names(data$S), "weights"), names(data$S)))
  }
  asked <- weights
  weights <- check_choice(weights, c("size", "proportion", "equal"))
  if (weights == "equal") return(stats::setNames(rep(1, tasks), names(data$S)))
  if (is.null(data$n)) {
    if (length(asked) > 1L) return(stats::setNames(rep(1, tasks), names(data$S)))  # the default, and nothing to weigh by
    abort_input(sprintf("weights = \"%s\" needs the numbers of observations: give `n`, or weights = \"equal\".", weights), "weights")
  }
  n <- as.double(data$n)
  stats::setNames(if (weights == "size") n else n / sum(n), names(data$S))
}

# lambda and lambda1 as two sequences of one length, lambda decreasing.
multi_penalty <- function(lambda, lambda1, norm, S, weights, n_lambda, lambda_min_ratio) {
  ratio <- check_number(lambda_min_ratio, "lambda_min_ratio", lower = 0, upper = 1, strict_lower = TRUE)
  lambda1 <- check_vector(lambda1, "lambda1", lower = 0, allow_null = TRUE)
  if (!is.null(lambda)) {
    lambda <- check_vector(lambda, "lambda", lower = 0)
    if (is.null(lambda1)) lambda1 <- 0
    if (!length(lambda1) %in% c(1L, length(lambda))) {
      abort_input(sprintf("`lambda1` must be one number or one per `lambda` (%d), but it has length %d.", length(lambda), length(lambda1)), "lambda1")
    }
    order <- order(lambda, decreasing = TRUE)
    return(list(lambda = lambda[order], lambda1 = rep_len(lambda1, length(lambda))[order]))
  }
  fixed <- if (!is.null(lambda1)) check_number(lambda1, "lambda1")
  core_multi_grid(task_parts(S, weights), list(norm = norm, lambda1 = fixed, n = n_lambda, ratio = ratio))[c("lambda", "lambda1")]
}

new_ggm_multi <- function(results, data, penalty, weights, settings, call) {
  tasks <- names(data$S)
  variables <- colnames(data$S[[1L]])
  label <- function(matrices) {
    if (length(matrices) == 0L) return(NULL)
    stats::setNames(lapply(matrices, function(m) {
      dimnames(m) <- list(variables, variables)
      m
    }), tasks)
  }
  one <- length(results) == 1L
  drop_one <- function(list) if (one) list[[1L]] else list
  per_task <- function(values) matrix(values, ncol = length(tasks), byrow = TRUE, dimnames = list(NULL, tasks))
  precision <- lapply(results, function(r) label(r$precision))
  covariance <- lapply(results, function(r) label(r$covariance))
  codes <- lapply(precision, function(list) lapply(list, edge_codes))
  fit <- new_fit(
    c("ggm_multi", "ggm"),
    precision = drop_one(precision), covariance = if (!any(vapply(covariance, is.null, NA))) drop_one(covariance),
    lambda = penalty$lambda, lambda1 = penalty$lambda1, norm = settings$norm, weights = weights,
    df = vapply(codes, function(list) length(unique(unlist(list))), 0L),
    edges = per_task(unlist(lapply(codes, lengths))), shared = vapply(codes, function(list) length(Reduce(intersect, list)), 0L),
    objective = vapply(results, `[[`, 0, "objective"), gap = vapply(results, function(r) r$convergence$gap, 0),
    log_det = per_task(unlist(lapply(results, `[[`, "log_det"))),
    trace_sx = per_task(unlist(lapply(precision, function(list) mapply(trace_product, data$S, list)))),
    component = drop_one(lapply(results, `[[`, "component")), S = data$S, n = data$n, mean = data$mean, x = data$x, rows = data$rows,
    settings = settings,
    call = call, convergence = if (one) results[[1L]]$convergence else lapply(results, `[[`, "convergence")
  )
  if (one) fit$common_edges <- multi_common_edges(fit)
  fit
}

# The pairs with an edge in every task, with the partial correlation in each, strongest on average first.
multi_common_edges <- function(fit) {
  edges <- lapply(fit$precision, edge_codes)
  common <- Reduce(intersect, edges)
  variables <- colnames(fit$S[[1L]])
  p <- length(variables)
  i <- (common - 1) %% p + 1
  j <- (common - 1) %/% p + 1
  values <- vapply(fit$precision, function(m) {
    scale <- 1 / sqrt(Matrix::diag(m))
    -as.vector(m[cbind(i, j)]) * scale[i] * scale[j]
  }, numeric(length(common)))
  values <- matrix(values, ncol = length(fit$precision), dimnames = list(NULL, names(fit$precision)))
  order <- order(-rowMeans(abs(values)))
  table <- data.frame(from = variables[i], to = variables[j], values, check.names = FALSE)[order, , drop = FALSE]
  rownames(table) <- NULL
  table
}
