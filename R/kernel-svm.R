#' Support vector machines
#'
#' Classifiers of two or more classes, regression and novelty detection by kernels, solved by sequential minimal optimisation with second-order
#' working sets to a tolerance that is certified by the duality gap.
#'
#' @details
#' Each machine has a decision function \eqn{g(z) = \sum_t b_t k(x_t, z) + b_0}{g(z) = sum_t b_t k(x_t, z) + b0}, whose signed coefficients
#' \eqn{b} solve a quadratic program. With \eqn{K_{st} = k(x_s, x_t)}{K_st = k(x_s, x_t)} and row weights \eqn{w_t} (`weights` times `class_weights`):
#'
#' * `"classification"`, with \eqn{y_t = \pm 1}{y_t = +-1}:
#'   \deqn{\min \tfrac12 b'Kb - y'b, \quad 0 \le y_t b_t \le C w_t, \quad 1'b = 0.}{min 1/2 b'Kb - y'b, 0 <= y_t b_t <= C w_t, 1'b = 0.}
#' * `"regression"` of targets \eqn{z} with a tube of half-width \eqn{\epsilon}{epsilon}:
#'   \deqn{\min \tfrac12 b'Kb - z'b + \epsilon |b|_1, \quad |b_t| \le C w_t, \quad 1'b = 0.}{
#'   min 1/2 b'Kb - z'b + epsilon |b|_1, |b_t| <= C w_t, 1'b = 0.}
#' * `"one_class"`: \deqn{\min \tfrac12 b'Kb, \quad 0 \le b_t \le w_t, \quad 1'b = \nu 1'w.}{min 1/2 b'Kb, 0 <= b_t <= w_t, 1'b = nu 1'w.}
#'   At most a share \eqn{\nu}{nu} of the rows has a negative decision value, and at least that share are support vectors.
#' * `"nu_classification"`: \eqn{0 \le y_t b_t \le w_t}{0 <= y_t b_t <= w_t}, and the coefficients of each class sum to
#'   \eqn{\pm\nu 1'w/2}{+-nu 1'w / 2}. The machine is divided by its margin, so that margins are at \eqn{\pm 1}{+-1}. A \eqn{\nu}{nu} above
#'   twice the share of the smaller class is not feasible.
#' * `"nu_regression"`: as regression, but \eqn{\nu}{nu} bounds the share of rows outside a tube whose half-width is found.
#'
#' **The solver** moves two coefficients at a time. `wss = "wss3"` takes the row that violates optimality most, and the partner that decreases the
#' objective most if the box is not looked at; `"wss1"` the most violating pair; `"wss2_feasible"` looks at the box, and `"full"` at all pairs (for
#' studies of small problems). `"wss2"` is the name of `"wss3"` for positive definite kernels. It stops when the largest violation of the optimality
#' conditions is below `tol`. Rows whose coefficient rests at a bound are set aside (`shrink`), and kernel rows are kept in a cache of `cache_mb`
#' megabytes for each machine. Kernels that are not positive semidefinite (some sigmoids, some matrices) are admitted: the answer is then a
#' stationary point, and a message says so.
#'
#' Which coefficients the data determine is in `identified`: those at a bound (or at zero) beyond every violating pair are the same in every optimum,
#' even where the kernel matrix is singular.
#'
#' **More than two classes** are fitted as one machine for each pair, and predicted by votes, or one for each class against the rest, and predicted
#' by the largest decision value. Machines run in parallel, with the same result on any number of threads.
#'
#' **Probabilities** come from decision values on `probability_folds` left-out folds: by Platt's sigmoid, with the regularised targets and the
#' Newton method of Lin, Lin and Weng, or by isotonic regression (interpolated between its steps). For pairs of classes they are combined by the
#' pairwise coupling of Wu, Lin and Weng; for classes against the rest they are divided by their sum.
#'
#' **Scaling.** With `standardize = TRUE` columns of a dense `x` are centred and divided by their standard deviation, and so is the response of a regression
#' (`epsilon` is in its standard deviations); `"range"` maps columns to \eqn{[-1, 1]}, as the paper does. Sparse matrices and kernel matrices are left
#' as they are. A column that does not vary is left out with a message.
#'
#' @section Which method when:
#' `svm()` for up to about 100000 rows, when a good boundary is wanted; [gp_classify()] for up to 5000 rows, when the
#' probabilities themselves matter; [lasso()] where the boundary is linear and few columns matter. Choose `cost` and `gamma` by
#' [svm_select()]. `"nu_..."` where a share of outliers is easier to name than a cost.
#'
#' @param x A numeric matrix, data frame or sparse matrix (package Matrix), one row per case; a kernel matrix with `kernel = "precomputed"`; for a kernel
#'   over objects (see [kernels]) a character vector, a list, or a data frame with a column of them; a fit of [nystrom()], for a
#'   linear machine on its features; or a formula.
#' @param formula,data,subset,na.action A formula and a data frame with its variables, rows to use, and what to do with missing values, as for
#'   [stats::lm()]. For `type = "one_class"` the formula has no left-hand side: `~ a + b`.
#' @param y Labels (factor, text, logical; or numbers with `type` given) or numeric targets; not used for `"one_class"`.
#' @param type What to fit. Left out: `"classification"` for labels and for numbers that are all 0/1 or -1/1, `"regression"` for other numbers,
#'   `"one_class"` without `y`.
#' @param cost \eqn{C > 0}.
#' @param nu \eqn{\nu}{nu} in (0, 1].
#' @param epsilon Half-width of the tube of `"regression"`.
#' @param kernel `"rbf"`, `"linear"`, `"polynomial"`, `"sigmoid"`, `"laplace"`, `"precomputed"`, a kernel such as [k_se()], text such as
#'   `"matern52 + bias"`, or a function of two matrices (see [k_user()]).
#' @param gamma,degree,coef0 For kernels given by name: \eqn{\exp(-\gamma|x-z|^2)}{exp(-gamma |x - z|^2)} for `"rbf"`,
#'   \eqn{\exp(-\gamma|x-z|)}{exp(-gamma |x - z|)} for `"laplace"`, \eqn{(\gamma x'z + c_0)^d}{(gamma x'z + coef0)^degree} for `"polynomial"` and
#'   \eqn{\tanh(\gamma x'z + c_0)}{tanh(gamma x'z + coef0)} for `"sigmoid"`. `gamma = NULL` is one over the number of columns that vary. (The paper's
#'   polynomial is \eqn{(\gamma(x'z + 1))^d}{(gamma (x'z + 1))^d}: set `coef0 = gamma`.)
#' @param class_weights Factors of the cost by class: a vector with the names of the classes, or `"balanced"` for the inverse of the classes' sizes.
#' @param weights Factors of the cost by row; a row of weight zero is left out.
#' @param standardize `TRUE`, `FALSE` or `"range"`, see Details.
#' @param multiclass `"one_vs_one"` or `"one_vs_rest"`.
#' @param probability `"none"`, `"platt"` or `"isotonic"`.
#' @param probability_folds Number of folds for the probabilities.
#' @param tol Largest violation of the optimality conditions. Below 1e-5 kernel rows are cached in double precision.
#' @param wss How the two coefficients are chosen, see Details.
#' @param shrink Whether to set rows aside.
#' @param cache_mb Megabytes for kernel rows, for each machine.
#' @param max_iter Largest number of steps of a machine.
#' @param trace Whether to keep the violation at every step, for `plot(fit, "violation")`.
#' @param start A fit to the same rows to start from, for instance with another `cost`.
#' @param threads Threads for machines and predictions; `NULL` for `getOption("granary.threads")`.
#' @param ... Passed from the formula method to the default method.
#' @return An object of class `granary_svm`: `index` (rows that are support vectors), `sv` (these rows, scaled), `coefficients` (signed, a column
#'   per machine), `offset`, `objective`, `gap`, `violation`, `n_iter`, `n_kernel` (kernel values computed), `ratio` (the least violation of a pair
#'   taken over the largest there was, which WSS 4 bounds away from zero), `bounded` and `identified` (a list with a vector per machine: rows at
#'   their upper
#'   bound, rows whose coefficient is unique), `epsilon`, `margin`, `levels`, `kernel`, `decision` (of the rows of the fit, where there is one
#'   machine), `trace`,
#'   `scaling`, `convergence` (one record per machine). See [granary_svm] for what can be done with it.
#' @references
#' Fan, Chen and Lin (2005). Working set selection using second order information for training support vector machines. *Journal of Machine
#' Learning Research* 6, 1889--1918.
#'
#' Lin, Lin and Weng (2007). A note on Platt's probabilistic outputs for support vector machines. *Machine Learning* 68, 267--276.
#'
#' Wu, Lin and Weng (2004). Probability estimates for multi-class classification by pairwise coupling. *Journal of Machine Learning Research* 5,
#' 975--1005.
#' @seealso [svm_select()], [lasvm()], [gp_classify()], [structured_svm()]
#' @export
#' @examples
#' fit <- svm(Species ~ ., iris, cost = 10)
#' fit
#' table(predict(fit, iris), iris$Species)
#' svm(mpg ~ wt + hp, mtcars, type = "regression", epsilon = 0.2)
#' svm(as.matrix(mtcars), nu = 0.1)  # which cars are unusual?
svm <- function(x, ...) {
  UseMethod("svm", formula_or_first(x, ...))
}

#' @rdname svm
#' @export
svm.formula <- function(formula, data = NULL, weights, subset, na.action, ...) {
  formula_fit(svm.default, "svm", takes = "weights", ..., response = length(formula) == 3L)
}

svm_types <- c("classification", "regression", "one_class", "nu_classification", "nu_regression")

#' @rdname svm
#' @export
svm.default <- function(x, y = NULL, type = c("classification", "regression", "one_class", "nu_classification", "nu_regression"), cost = 1, nu = 0.5,
                        epsilon = 0.1, kernel = "rbf", gamma = NULL, degree = 3, coef0 = 0, class_weights = NULL, weights = NULL, standardize = TRUE,
                        multiclass = c("one_vs_one", "one_vs_rest"), probability = c("none", "platt", "isotonic"), probability_folds = 5,
                        tol = 1e-3, wss = c("wss3", "wss1", "wss2_feasible", "full", "wss2"), shrink = TRUE, cache_mb = 100, max_iter = 1e7,
                        trace = FALSE, start = NULL, threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  type <- if (missing(type)) svm_type_of(y) else check_choice(type, svm_types)
  problem <- svm_problem(x, y, type, kernel, gamma, degree, coef0, class_weights, weights, standardize,
                         check_choice(multiclass, c("one_vs_one", "one_vs_rest")), threads)
  point <- svm_point(type, cost, nu, epsilon)
  settings <- svm_settings(tol, wss, shrink, cache_mb, max_iter, trace, nrow(problem$x))
  threads <- if (!is.null(problem$kernel) && has_user_code(problem$kernel)) 1L else thread_count(threads)
  probability <- check_choice(probability, c("none", "platt", "isotonic"))
  probability_folds <- check_count(probability_folds, lower = 2)
  if (probability != "none" && is.null(problem$levels)) abort_input("`probability` is for classifiers.", "probability")
  if (type == "nu_classification") svm_check_nu(problem, point$nu)
  tasks <- svm_starts(svm_tasks(problem), problem, start, type)
  found <- lapply(svm_solve(problem, tasks, point, settings, threads), `[[`, 1L)
  calibration <- if (probability != "none") {
    svm_calibrate(problem, point, settings, threads, probability, probability_folds)
  }
  fit <- svm_fit(problem, tasks, found, point, settings, calibration, generic_call(call, "svm"))
  svm_notes(problem, fit)
  check_convergence(fit, "Raise `max_iter`, loosen `tol`, or use a smaller `cost`.")
}

svm_type_of <- function(y) {
  if (is.data.frame(y) && length(y) == 1L) y <- y[[1L]]
  if (is.null(y)) return("one_class")
  if (!is.atomic(y)) return("classification")  # which refuses it
  signs <- all(y %in% c(0, 1)) || all(y %in% c(-1, 1))
  if (is.numeric(y) && !is.object(y) && !signs) "regression" else "classification"
}

svm_point <- function(type, cost, nu, epsilon) {
  list(cost = check_number(cost, lower = 0, strict_lower = TRUE, upper = 1e15), nu = check_number(nu, lower = 0, upper = 1, strict_lower = TRUE),
       epsilon = check_number(epsilon, lower = 0))
}

svm_settings <- function(tol, wss, shrink, cache_mb, max_iter, trace, n) {
  wss <- check_choice(wss, c("wss3", "wss1", "wss2_feasible", "full", "wss2"))
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 10)
  if (wss == "full" && n > 5000L) {
    abort_input(sprintf("wss = \"full\" looks at all pairs in every step and is for at most 5000 rows, but there are %d.", n), "wss")
  }
  list(tol = tol, wss = if (wss == "wss2") "wss3" else wss, shrink = check_flag(shrink), cache_mb = check_number(cache_mb, lower = 0, upper = 1e7),
       max_iter = check_number(max_iter, lower = 1, upper = 1e15), trace = check_flag(trace))
}

# Everything about the data: rows that count, scaled columns, targets, row weights, kernel.
svm_problem <- function(x, y, type, kernel, gamma, degree, coef0, class_weights, weights, standardize, multiclass, threads = NULL) {
  precomputed <- identical(kernel, "precomputed")
  bound <- if (precomputed) list() else bind_kernel(kernel, x, threads = threads)
  if (!is.null(bound$layout)) {
    x <- bound$x
    kernel <- bound$kernel
  } else {
    x <- if (precomputed) check_symmetric(x) else check_design(x, min_rows = 1L)
  }
  n <- nrow(x)
  weights <- if (is.null(weights)) rep(1, n) else unname(check_vector(weights, length = n, lower = 0, upper = 1e15))
  rows <- which(weights > 0)
  if (length(rows) == 0L) abort_input("`weights` must not all be zero.", "weights")
  classes <- type %in% c("classification", "nu_classification")
  labels <- if (classes) svm_labels(y, n, rows)
  if (type %in% c("regression", "nu_regression") && (is.factor(y) || is.character(y))) {
    abort_input(sprintf("`y` must be numbers for type = \"%s\", not %s.\nFor classes use type = \"%s\".", type, describe(y),
                        sub("regression", "classification", type)), "y")
  }
  target <- if (type %in% c("regression", "nu_regression")) check_response(y, n, "gaussian", "y")$y
  if (type == "one_class" && !is.null(y)) {
    abort_input("`y` has no part in type = \"one_class\": leave it out, and mark the rows that are novel afterwards.", "y")
  }
  if (!is.null(class_weights)) {
    if (!classes) abort_input("`class_weights` are for classifiers.", "class_weights")
    weights <- weights * svm_class_weights(class_weights, labels, weights)[labels$class]
  }
  original <- x
  scaling <- svm_scaling(x, rows, standardize, precomputed, bound$layout$objects)
  if (!is.null(scaling)) x <- svm_scale(x, scaling)
  response <- list(centre = 0, scale = 1)
  if (!is.null(target) && !isFALSE(standardize)) {
    response$centre <- mean(target[rows])
    spread <- stats::sd(target[rows])
    if (is.finite(spread) && spread > 1e-12 * max(abs(target[rows]))) response$scale <- spread
  }
  if (!is.null(target)) target <- (target - response$centre) / response$scale
  d <- if (is.null(scaling)) ncol(x) else max(1, sum(scaling$factor != 0))
  if (is.null(gamma) && svm_named_kernel(kernel)) gamma <- 1 / d
  kernel <- if (precomputed) NULL else machine_kernel(kernel, ncol(x), gamma, degree, coef0)
  if (isS4(x) && kernel_needs_points(kernel)) {
    abort_input("`x` is sparse, but this kernel needs whole points: make `x` a dense matrix with as.matrix().", "x")
  }
  list(x = x, original = original, y = y, rows = rows, n = n, weights = weights, class = labels$class, levels = labels$levels, target = target,
       type = type, kernel = kernel, layout = bound$layout, scaling = scaling, response = response, multiclass = multiclass)
}

svm_named_kernel <- function(kernel) is.character(kernel) && length(kernel) == 1L && kernel %in% machine_kernels

kernel_needs_points <- function(kernel) {
  if (!is.null(kernel$children)) return(any(vapply(kernel$children, kernel_needs_points, NA)))
  kernel$type %in% c("powexp", "hamming", "user") || is_object_leaf(kernel)
}

# Classes of the rows that count, as numbers, with the names of the classes that occur.
svm_labels <- function(y, n, rows) {
  if (is.data.frame(y) && length(y) == 1L) y <- y[[1L]]
  if (is.matrix(y) && ncol(y) == 1L) y <- y[, 1L]
  if (is.null(y)) abort_input("`y` must be given: a classifier needs labels.", "y")
  plain <- is.factor(y) || ((is.character(y) || is.logical(y) || is_plain_numeric(y)) && is.null(dim(y)) && !is.object(y))
  if (!plain) fail_input("y", "labels: a factor, text, logical or numbers", describe(y))
  if (length(y) != n) abort_input(sprintf("`y` must have one label per row, %d, but it has %d.", n, length(y)), "y")
  if (anyNA(y)) abort_input(sprintf("`y` must have no missing labels, but label %d is NA.\nDrop those rows.", which(is.na(y))[1L]), "y")
  levels <- levels(droplevels(factor(y)[rows]))
  if (length(levels) < 2L) abort_input(sprintf("`y` must have at least two classes, but all labels are \"%s\".", levels), "y")
  if (is.numeric(y) && length(levels) > 20L && length(levels) > n / 2) {
    abort_input("`y` has almost as many different numbers as rows: for a numeric response use type = \"regression\".", "y")
  }
  list(class = match(as.character(y), levels), levels = levels)
}

svm_class_weights <- function(class_weights, labels, weights) {
  if (identical(class_weights, "balanced")) {
    size <- vapply(seq_along(labels$levels), function(k) sum(weights[labels$class %in% k]), 0)
    return(sum(size) / (length(size) * size))
  }
  class_weights <- check_vector(class_weights, lower = 0, strict_lower = TRUE, upper = 1e15)
  if (is.null(names(class_weights)) || !all(names(class_weights) %in% labels$levels) || anyDuplicated(names(class_weights)) > 0L) {
    abort_input(sprintf("`class_weights` must be named by classes: %s.", paste0("\"", labels$levels, "\"", collapse = ", ")), "class_weights")
  }
  out <- stats::setNames(rep(1, length(labels$levels)), labels$levels)
  out[names(class_weights)] <- class_weights
  unname(out)
}

# How columns are shifted and multiplied: list(centre, factor), the factor zero where a column does not vary. NULL for no scaling.
svm_scaling <- function(x, rows, standardize, precomputed, objects = NULL) {
  if (!identical(standardize, "range")) standardize <- check_flag(standardize)
  if (precomputed || isS4(x) || isFALSE(standardize) || length(objects) == ncol(x)) return(NULL)
  if (length(objects) > 0L) {  # places of objects stay as they are
    numbers <- setdiff(seq_len(ncol(x)), objects)
    some <- svm_scaling(x[, numbers, drop = FALSE], rows, standardize, FALSE)
    scaling <- list(centre = numeric(ncol(x)), factor = rep(1, ncol(x)))
    scaling$centre[numbers] <- some$centre
    scaling$factor[numbers] <- some$factor
    return(scaling)
  }
  used <- if (length(rows) < nrow(x)) x[rows, , drop = FALSE] else x
  if (identical(standardize, "range")) {
    low <- apply(used, 2L, min)
    high <- apply(used, 2L, max)
    centre <- low / 2 + high / 2
    spread <- high / 2 - low / 2
    size <- pmax(abs(low), abs(high))
  } else {
    centre <- colMeans(used)
    size <- apply(abs(used), 2L, max)
    unit <- ifelse(size > 0, size, 1)
    spread <- unit * sqrt(colSums((t((t(used) - centre) / unit))^2) / max(1, nrow(used) - 1))
  }
  constant <- !(spread > 1e-12 * size)
  if (all(constant) && nrow(used) > 1L) {
    abort_input("No column of `x` varies, so the rows cannot be told apart.", "x")
  }
  if (any(constant) && nrow(used) > 1L) {
    message(counted(sum(constant), "column does", "columns do"), " not vary and ", if (sum(constant) == 1L) "is" else "are", " left out: ",
            paste(utils::head(variable_names(colnames(x), ncol(x))[constant], 5L), collapse = ", "), if (sum(constant) > 5L) ", ...", ".")
  }
  list(centre = unname(centre), factor = unname(ifelse(constant, 0, 1 / spread)))
}

svm_scale <- function(x, scaling) {
  labels <- dimnames(x)
  x <- t((t(x) - scaling$centre) * scaling$factor)
  dimnames(x) <- labels
  x
}

# The machines: list(rows, y, weight, name), for one machine, pairs of classes or classes against the rest. Labels are 1 for the class that comes
# later, or for the one that stands against the rest.
svm_tasks <- function(problem, rows = problem$rows) {
  task <- function(rows, y, name) {
    list(rows = rows, y = y, weight = problem$weights[rows], start = numeric(), start_cost = 1, held_out = integer(), name = name)
  }
  levels <- problem$levels
  if (is.null(levels)) return(list(task(rows, if (is.null(problem$target)) numeric() else problem$target[rows], problem$type)))
  class <- problem$class
  k <- length(levels)
  if (k == 2L || problem$multiclass == "one_vs_one") {
    pairs <- utils::combn(k, 2L)
    return(lapply(seq_len(ncol(pairs)), function(p) {
      a <- pairs[1L, p]
      b <- pairs[2L, p]
      mine <- rows[class[rows] == a | class[rows] == b]
      task(mine, ifelse(class[mine] == b, 1, -1), paste0(levels[b], "/", levels[a]))
    }))
  }
  lapply(seq_len(k), function(a) task(rows, ifelse(class[rows] == a, 1, -1), levels[a]))
}

# The largest nu of a classifier: twice the share of the smaller class.
svm_largest_nu <- function(task) {
  positive <- sum(task$weight[task$y > 0])
  2 * min(positive, sum(task$weight) - positive) / sum(task$weight)
}

svm_check_nu <- function(problem, nu) {
  for (task in svm_tasks(problem)) {
    largest <- svm_largest_nu(task)
    if (nu > largest * (1 + 1e-12)) {
      abort_input(sprintf("`nu` must be at most %s, twice the share of the smaller class of %s, but it is %s.", format(largest, digits = 6L),
                          task$name, format(nu)), "nu")
    }
  }
}

# Starts from the coefficients of an earlier fit to the same rows.
svm_starts <- function(tasks, problem, start, type) {
  if (is.null(start)) return(tasks)
  if (!inherits(start, "granary_svm")) fail_input("start", "a fit of svm() to the same rows (or NULL)", describe(start))
  check_fit(start)
  names <- vapply(tasks, `[[`, "", "name")
  if (start$n != problem$n || start$type != type || !identical(colnames(start$coefficients), names)) {
    abort_input("`start` must be a fit of the same type and classes to the same rows.", "start")
  }
  lapply(seq_along(tasks), function(k) {
    whole <- numeric(problem$n)
    whole[start$index] <- start$coefficients[, k] * (if (type == "nu_classification") start$margin[[k]] else 1)
    tasks[[k]]$start <- whole[tasks[[k]]$rows]
    tasks[[k]]$start_cost <- start$parameters$cost
    tasks[[k]]
  })
}

svm_solve <- function(problem, tasks, points, settings, threads, label = "support vectors") {
  n <- max(lengths(points[c("cost", "nu", "epsilon")]))
  options <- c(list(type = problem$type), lapply(points[c("cost", "nu", "epsilon")], rep_len, n), settings, list(threads = threads))
  core_svm_fit(problem$x, problem$kernel, tasks, options, progress_bar(label))
}

svm_fit <- function(problem, tasks, found, point, settings, calibration, call) {
  names <- vapply(tasks, `[[`, "", "name")
  n <- problem$n
  whole <- matrix(0, n, length(tasks))
  for (k in seq_along(tasks)) whole[tasks[[k]]$rows, k] <- found[[k]]$coefficients
  index <- which(rowSums(whole != 0) > 0)
  coefficients <- whole[index, , drop = FALSE]
  dimnames(coefficients) <- list(rownames(problem$x)[index], names)
  solver <- function(field) stats::setNames(vapply(found, function(f) f$solver[[field]], 0), names)
  each <- function(field) stats::setNames(vapply(found, `[[`, 0, field), names)
  flagged <- function(field) stats::setNames(lapply(seq_along(tasks), function(k) tasks[[k]]$rows[found[[k]][[field]]]), names)
  convergence <- lapply(found, function(f) f$solver$convergence)
  new_fit(
    "svm", type = problem$type, levels = problem$levels, multiclass = if (length(problem$levels) > 2L) problem$multiclass, n = n,
    used = problem$rows, index = index, sv = if (!is.null(problem$kernel)) problem$x[index, , drop = FALSE], coefficients = coefficients,
    offset = each("offset"), objective = solver("objective"), gap = vapply(convergence, function(one) one$gap, 0), violation = solver("violation"),
    n_iter = solver("iterations"), n_kernel = solver("kernel_values"), ratio = solver("ratio"), bounded = flagged("bounded"),
    identified = flagged("identified"), epsilon = if (grepl("regression", problem$type)) each("epsilon") * problem$response$scale,
    margin = if (problem$type == "nu_classification") each("rho"),
    decision = if (length(tasks) == 1L) stats::setNames(found[[1L]]$decision, rownames(problem$x)[tasks[[1L]]$rows]),
    trace = if (settings$trace) stats::setNames(lapply(found, function(f) f$solver$trace), names), calibration = calibration,
    kernel = if (!is.null(problem$kernel)) forget_values(problem$kernel), layout = problem$layout,
    parameters = point, settings = settings, scaling = problem$scaling, response = problem$response, columns = colnames(problem$x),
    cache_small = any(vapply(found, function(f) f$solver$cache_small, NA)), x = if (!is.null(problem$kernel)) problem$original, y = problem$y,
    call = call, convergence = if (length(convergence) == 1L) convergence[[1L]] else convergence
  )
}

# What the user should know, once each.
svm_notes <- function(problem, fit) {
  if (fit$cache_small) {
    message("The cache of ", format(fit$settings$cache_mb),
            " MB holds less than a tenth of the support vectors' kernel rows: slow, but no less exact. Raise `cache_mb`.")
  }
  if (svm_indefinite(problem)) {
    message("The kernel is not positive semidefinite on these rows: the answer is a stationary point, which need not be the best one.")
  }
}

# Whether the kernel has a direction of negative curvature with zero sum, looked for among at most 400 rows.
svm_indefinite <- function(problem) {
  suspect <- is.null(problem$kernel) || kernel_may_be_indefinite(problem$kernel)
  if (!suspect) return(FALSE)
  rows <- problem$rows[unique(round(seq(1, length(problem$rows), length.out = min(400L, length(problem$rows)))))]
  core_svm_indefinite(problem$x, problem$kernel, as.double(rows))
}

kernel_may_be_indefinite <- function(kernel) {
  if (!is.null(kernel$children)) return(any(vapply(kernel$children, kernel_may_be_indefinite, NA)))
  kernel$type %in% c("sigmoid", "user") || identical(kernel$psd, FALSE) || (kernel$type == "polynomial" && kernel$offset < 0)
}
