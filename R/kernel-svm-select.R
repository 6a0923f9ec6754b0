#' Choose the parameters of a support vector machine
#'
#' Cross-validates [svm()] over a grid of costs, kernel parameters, tubes or nu, and fits the best point to all rows.
#'
#' @details
#' For each fold and kernel the costs are worked through from the smallest to the largest, each machine starting from the one before with its
#' coefficients scaled. Folds are the same for all points and stratified for classes. Columns are scaled once, by all rows, as in the paper's
#' experiments. With equal errors the smallest cost wins, and then the smallest `gamma`.
#'
#' The default grids are the paper's: for `"rbf"` \eqn{\log_2 C}{log2 C} = -5, -3, ..., 15 and \eqn{\log_2\gamma}{log2 gamma} = 3, 1, ..., -15; for
#' `"linear"` \eqn{\log_2 C}{log2 C} = -3, -1, ..., 5; for `"polynomial"` these costs with \eqn{\log_2\gamma}{log2 gamma} = -5, ..., -1 and degrees 2
#' to 4; for `"sigmoid"` \eqn{\log_2 C}{log2 C} = -3, 0, ..., 12, \eqn{\log_2\gamma}{log2 gamma} = -12, -9, ..., 3 and `coef0` = -2.4, -1.8, ...,
#' 2.4. A regression adds \eqn{\log_2\epsilon}{log2 epsilon} = -8, ..., -1, which makes the grid eight times as large. A machine with nu has `nu` =
#' 0.1, 0.2, ..., 0.8 in the place of the tube, for classes in the place of the cost. Other kernels have the costs of `"rbf"`. The paper scales
#' features to \eqn{[-1, 1]}: `standardize = "range"`.
#'
#' The kernels of the grid are worked on by the workers of [future::plan()] where one is set; within each, folds and machines share the threads.
#'
#' @section Which method when:
#' A coarse grid over powers of two first, then a finer one around its best point. For a smooth response surface and costly
#' fits [bayes_opt()] needs fewer fits.
#'
#' @inheritParams svm
#' @param type As in [svm()]; `"one_class"` has nothing to be scored by.
#' @param grid A data frame whose columns are some of `cost`, `gamma`, `degree`, `coef0`, `epsilon`, `nu`, one row per point; or a list of vectors,
#'   whose
#'   combinations are taken. `NULL` for the paper's grid.
#' @param folds Number of folds, or a vector that gives the fold of each row.
#' @param measure The loss: `"error"` (share of rows misclassified), `"balanced"` (its mean over classes), `"mse"` or `"mae"`. By default `"error"`
#'   or `"mse"`.
#' @param object A result of `svm_select()`.
#' @param newdata Rows to predict for; `NULL` for the rows of the fit.
#' @param ... Passed on to [svm()], such as `kernel` or `class_weights`; for methods, to those of [granary_svm].
#' @return An object of class `granary_svm_select`: `table` (the grid with `mean` loss, `se`, share of support vectors `support` and `iterations`),
#'   `best` (a
#'   row of it), `fit` (the [svm()] there), `folds`, `measure`. `predict()` is that of the fit; `plot()` shows the loss over the grid.
#' @references
#' Fan, Chen and Lin (2005). Working set selection using second order information for training support vector machines. *Journal of Machine
#' Learning Research* 6, 1889--1918.
#' @seealso [svm()], [lasvm()], [gp_classify()], [structured_svm()]
#' @export
#' @examples
#' set.seed(1)
#' tuned <- svm_select(Species ~ ., iris, grid = list(cost = 2^(-2:4), gamma = 2^(-4:0)))
#' tuned
#' plot(tuned)
#' table(predict(tuned), iris$Species)
svm_select <- function(x, ...) {
  UseMethod("svm_select", formula_or_first(x, ...))
}

#' @rdname svm_select
#' @export
svm_select.formula <- function(formula, data = NULL, weights, subset, na.action, ...) {
  tuned <- formula_fit(svm_select.default, "svm_select", takes = "weights", ...)
  for (part in c("formula", "design", "na.action")) tuned$fit[[part]] <- tuned[[part]]
  tuned
}

#' @rdname svm_select
#' @export
svm_select.default <- function(x, y = NULL, type = c("classification", "regression", "one_class", "nu_classification", "nu_regression"), grid = NULL,
                             folds = 10, measure = NULL, kernel = "rbf", gamma = NULL, degree = 3, coef0 = 0, cost = 1, nu = 0.5, epsilon = 0.1,
                             class_weights = NULL, weights = NULL, standardize = TRUE, multiclass = c("one_vs_one", "one_vs_rest"), tol = 1e-3,
                             cache_mb = 100, max_iter = 1e7, threads = NULL, ...) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (is.null(y) && missing(type)) fail_missing("y")
  type <- if (missing(type)) svm_type_of(y) else check_choice(type, svm_types)
  if (type == "one_class") abort_input("Novelty detection has no response to be scored by, so there is nothing to tune.", "type")
  multiclass <- check_choice(multiclass, c("one_vs_one", "one_vs_rest"))
  problem <- svm_problem(x, y, type, kernel, gamma, degree, coef0, class_weights, weights, standardize, multiclass)
  settings <- svm_settings(tol, "wss3", TRUE, cache_mb, max_iter, FALSE, nrow(problem$x))
  d <- if (is.null(problem$scaling)) ncol(problem$x) else max(1, sum(problem$scaling$factor != 0))
  fixed <- c(svm_point(type, cost, nu, epsilon),
             list(gamma = if (is.null(gamma)) 1 / d else check_number(gamma), degree = check_count(degree), coef0 = check_number(coef0)))
  grid <- svm_grid(grid, kernel, type, fixed)
  measure <- if (is.null(measure)) if (is.null(problem$levels)) "mse" else "error" else check_choice(measure, c("error", "balanced", "mse", "mae"))
  if (is.null(problem$levels) != (measure %in% c("mse", "mae"))) {
    abort_input("`measure` must be \"error\" or \"balanced\" for classes, \"mse\" or \"mae\" for a regression.", "measure")
  }
  folds <- svm_folds(folds, problem)
  threads <- if (!is.null(problem$kernel) && has_user_code(problem$kernel)) 1L else thread_count(threads)
  if (type == "nu_classification") grid <- svm_feasible_grid(grid, problem, folds)
  # One task for each kernel: its costs are a path.
  named <- svm_named_kernel(kernel) && !is.null(problem$kernel)
  group <- if (named) interaction(grid$values$gamma, grid$values$degree, grid$values$coef0, drop = TRUE) else factor(rep(1L, nrow(grid$values)))
  parts <- split(seq_len(nrow(grid$values)), group)
  scored <- resample_lapply(parts, function(points) {
    points <- points[order(grid$values$cost[points], -grid$values$epsilon[points], grid$values$nu[points])]
    at <- grid$values[points, ]
    here <- problem
    if (named) here$kernel <- machine_kernel(kernel, ncol(problem$x), at$gamma[1L], at$degree[1L], at$coef0[1L])
    data.frame(point = points, svm_cross_validate(here, at, settings, threads, folds, measure))
  }, "tuning")
  scored <- do.call(rbind, scored)
  scored <- scored[order(scored$point), -1L]
  table <- cbind(grid$values[grid$names], scored)
  rownames(table) <- NULL
  if (any(!scored$converged)) {
    warn_convergence(sprintf("The solver stopped early at %d of %d points of the grid. Raise `max_iter` or leave out the largest costs.",
                             sum(!scored$converged), nrow(scored)))
  }
  best <- order(scored$mean, grid$values$cost, grid$values$gamma, grid$values$degree)[1L]
  at <- grid$values[best, ]
  fit <- svm.default(x, y, type = type, cost = at$cost, nu = at$nu, epsilon = at$epsilon, kernel = kernel, gamma = if (named) at$gamma,
                     degree = at$degree, coef0 = at$coef0, class_weights = class_weights, weights = weights, standardize = standardize,
                     multiclass = multiclass, tol = tol, cache_mb = cache_mb, max_iter = max_iter, threads = threads, ...)
  names(table)[match(c("mean", "se"), names(table))] <- c("estimate", "std.error")
  new_selection("svm", fit, table, "min", svm_measures[[measure]], axis = grid$names[1L], selected = best, folds = folds, parameters = grid$names,
                call = generic_call(call, "svm_select"))
}

svm_parameters <- c("cost", "gamma", "degree", "coef0", "epsilon", "nu")

# list(values: a data frame with all parameters, names: those that were asked for).
svm_grid <- function(grid, kernel, type, fixed) {
  if (is.null(grid)) grid <- svm_paper_grid(kernel, type)
  if (is.list(grid) && !is.data.frame(grid)) {
    if (length(grid) == 0L || is.null(names(grid)) || !all(vapply(grid, is_plain_numeric, NA))) {
      fail_input("grid", "a data frame or a named list of numeric vectors", describe(grid))
    }
    grid <- expand.grid(grid)
  }
  if (!is.data.frame(grid) || length(grid) == 0L || nrow(grid) == 0L) {
    fail_input("grid", "a data frame or a named list of numeric vectors", describe(grid))
  }
  if (!all(names(grid) %in% svm_parameters) || anyDuplicated(names(grid)) > 0L) {
    abort_input(sprintf("The columns of `grid` must be some of %s.", paste0("\"", svm_parameters, "\"", collapse = ", ")), "grid")
  }
  values <- as.data.frame(fixed)[rep(1L, nrow(grid)), ]
  rownames(values) <- NULL
  for (name in names(grid)) {
    strict <- !name %in% c("coef0", "epsilon")
    values[[name]] <- check_vector(grid[[name]], paste0("grid$", name), lower = if (name == "coef0") -Inf else 0, strict_lower = strict,
                                   upper = if (name == "nu") 1 else 1e15)
  }
  list(values = values, names = names(grid))
}

svm_paper_grid <- function(kernel, type) {
  name <- if (svm_named_kernel(kernel)) kernel else "other"
  grid <- switch(
    name,
    rbf = , laplace = list(cost = 2^seq(-5, 15, 2), gamma = 2^seq(3, -15, -2)), linear = list(cost = 2^seq(-3, 5, 2)),
    polynomial = list(cost = 2^seq(-3, 5, 2), gamma = 2^(-5:-1), degree = 2:4),
    sigmoid = list(cost = 2^seq(-3, 12, 3), gamma = 2^seq(-12, 3, 3), coef0 = seq(-2.4, 2.4, 0.6)), list(cost = 2^seq(-5, 15, 2))
  )
  if (type == "nu_classification") grid$cost <- NULL
  if (grepl("^nu", type)) grid$nu <- seq(0.1, 0.8, 0.1)
  if (type == "regression") grid$epsilon <- 2^(-8:-1)
  grid
}

svm_folds <- function(folds, problem) {
  n <- length(problem$rows)
  if (length(folds) == 1L) {
    folds <- check_count(folds, "folds", lower = 2, upper = n)
    folds <- if (is.null(problem$levels)) make_folds(n, folds) else stratified_folds(problem$class[problem$rows], folds)
  } else {
    folds <- check_vector(folds, "folds", length = problem$n)[problem$rows]
  }
  if (length(unique(folds)) < 2L) abort_input("`folds` must name at least two folds.", "folds")
  if (!is.null(problem$levels)) {
    for (part in unique(folds)) {
      left <- problem$class[problem$rows][folds != part]
      gone <- setdiff(seq_along(problem$levels), left)
      if (length(gone) > 0L) {
        abort_input(sprintf("Without fold %s there is no row of class \"%s\". Use other `folds`, or leave the class out.", format(part),
                            problem$levels[gone[1L]]), "folds")
      }
    }
  }
  folds
}

# Points whose nu every fold can have.
svm_feasible_grid <- function(grid, problem, folds) {
  largest <- min(vapply(unique(folds), function(part) {
    min(vapply(svm_tasks(problem, problem$rows[folds != part]), svm_largest_nu, 0))
  }, 0))
  keep <- grid$values$nu <= largest
  if (!any(keep)) {
    abort_input(sprintf("No `nu` of the grid is feasible: the largest that all folds can have is %s.", format(largest, digits = 4L)), "grid")
  }
  if (!all(keep)) {
    message(counted(sum(!keep), "point", "points"), " of the grid left out: the largest feasible nu is ", format(largest, digits = 4L), ".")
  }
  grid$values <- grid$values[keep, ]
  rownames(grid$values) <- NULL
  grid
}

# Mean loss, its standard error and the share of support vectors at each point of a path.
svm_cross_validate <- function(problem, points, settings, threads, folds, measure) {
  parts <- sort(unique(folds))
  tasks <- lapply(parts, function(part) {
    lapply(svm_tasks(problem, problem$rows[folds != part]), function(task) {
      task$held_out <- problem$rows[folds == part]
      task
    })
  })
  machines <- length(tasks[[1L]])
  found <- svm_solve(problem, unlist(tasks, recursive = FALSE), points, settings, threads, "tuning")
  shape <- list(type = problem$type, levels = problem$levels, multiclass = problem$multiclass, response = problem$response)
  count <- nrow(points)
  loss <- matrix(0, count, length(parts))
  support <- iterations <- numeric(count)
  converged <- rep(TRUE, count)
  for (f in seq_along(parts)) {
    rows <- problem$rows[folds == parts[f]]
    mine <- found[(f - 1L) * machines + seq_len(machines)]
    for (p in seq_len(count)) {
      decision <- vapply(mine, function(path) path[[p]]$held_out, numeric(length(rows)))
      answer <- svm_answer(shape, matrix(decision, length(rows)))
      loss[p, f] <- svm_loss(problem, rows, answer, measure)
      used <- Reduce(`|`, lapply(seq_len(machines), function(m) {
        replace(logical(problem$n), tasks[[f]][[m]]$rows[mine[[m]][[p]]$coefficients != 0], TRUE)
      }))
      support[p] <- support[p] + sum(used) / sum(folds != parts[f])
      iterations[p] <- iterations[p] + sum(vapply(mine, function(path) path[[p]]$solver$iterations, 0))
      converged[p] <- converged[p] && all(vapply(mine, function(path) path[[p]]$solver$convergence$converged, NA))
    }
  }
  size <- vapply(parts, function(part) sum(folds == part), 0)
  data.frame(mean = drop(loss %*% size) / sum(size), se = apply(loss, 1L, stats::sd) / sqrt(length(parts)), support = support / length(parts),
             iterations = iterations, converged = converged)
}

svm_loss <- function(problem, rows, answer, measure) {
  if (!is.null(problem$levels)) {
    wrong <- as.integer(answer) != problem$class[rows]
    if (measure == "error") return(mean(wrong))
    return(mean(tapply(wrong, problem$class[rows], mean)))
  }
  residual <- problem$target[rows] * problem$response$scale + problem$response$centre - answer
  if (measure == "mse") mean(residual^2) else mean(abs(residual))
}

svm_measures <- c(error = "share of rows misclassified", balanced = "mean share misclassified of the classes", mse = "mean squared error",
                  mae = "mean absolute error")

#' @rdname svm_select
#' @export
print.granary_svm_select <- function(x, ...) {
  cli::cat_line("granary: support vector machine chosen from ", counted(nrow(x$table), "point", "points"), ", ", length(unique(x$folds)), " folds")
  print_call(x$call)
  best <- x$table[x$selected, ]
  cli::cat_line("best: ", paste(x$parameters, vapply(x$parameters, function(name) format(best[[name]], digits = 4L), ""), sep = " ", collapse = ", "))
  cli::cat_line(x$measure, ": ", format(best$estimate, digits = 4L), " (standard error ", format(best$std.error, digits = 2L), ")")
  edge <- vapply(x$parameters, function(name) {
    seen <- unique(x$table[[name]])
    length(seen) > 2L && best[[name]] %in% range(seen)
  }, NA)
  if (any(edge)) cli::cat_line("at the edge of the grid: ", paste(x$parameters[edge], collapse = ", "))
  cli::cat_line(counted(length(x$fit$index), "support vector", "support vectors"), " of ", length(x$fit$used), " rows")
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname svm_select
#' @export
plot.granary_svm_select <- function(x, ...) {
  varied <- x$parameters[vapply(x$parameters, function(name) length(unique(x$table[[name]])) > 1L, NA)]
  if (length(varied) == 0L) abort_input("The grid has one point: there is nothing to plot.", "x")
  logged <- function(name) !name %in% c("degree", "coef0", "nu") && all(x$table[[name]] > 0)
  along <- function(name) if (logged(name)) log2(x$table[[name]]) else x$table[[name]]
  label <- function(name) if (logged(name)) paste("log2", name) else name
  if (length(varied) == 1L) {
    at <- along(varied)
    table <- x$table[order(at), ]
    at <- sort(at)
    draw(graphics::plot, at, table$estimate, type = "b", pch = 19, col = "#2166ac",
         ylim = range(table$estimate - table$std.error, table$estimate + table$std.error, na.rm = TRUE), xlab = label(varied),
         ylab = x$measure, user = list(...))
    graphics::segments(at, table$estimate - table$std.error, at, table$estimate + table$std.error, col = "grey60")
    return(invisible())
  }
  # Over the first two; the best of the others at each point.
  first <- along(varied[1L])
  second <- along(varied[2L])
  z <- tapply(x$table$estimate, list(first, second), min)
  at1 <- sort(unique(first))
  at2 <- sort(unique(second))
  draw(graphics::image, at1, at2, z, col = grDevices::hcl.colors(64L, "YlGnBu"), xlab = label(varied[1L]), ylab = label(varied[2L]),
       main = x$measure, user = list(...))
  if (diff(range(z, na.rm = TRUE)) > 0 && !anyNA(z)) graphics::contour(at1, at2, z, add = TRUE, col = "#00000066")
  best <- x$selected
  graphics::points(first[best], second[best], pch = 4, lwd = 2, cex = 1.5)
  invisible()
}
