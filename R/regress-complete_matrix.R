#' Matrix completion with the trace norm
#'
#' Fills the holes of a matrix (ratings, survey tables, panels) by the matrix of small trace norm that fits the observed cells, optionally with
#' predictions inside a known range, and certifies each fit with a duality gap.
#'
#' @details
#' With \eqn{S}{S} the observed values of the matrix \eqn{X}{X} and \eqn{\|W\|_{tr}}{|W|_tr} the sum of the singular values of \eqn{W}{W}, the
#' models are
#'
#' * `"trace"`: minimise \deqn{\sum_{(i,j) \in S} (X_{ij} - W_{ij})^2 + \lambda \|W\|_{tr}.}{sum_S (X_ij - W_ij)^2 + lambda |W|_tr.} With
#'   `trace_norm = t` the
#'   constraint \eqn{\|W\|_{tr} \le t}{|W|_tr <= t} takes the place of the penalty.
#' * `"clipped"`: the same fit, predictions cut to `bound`.
#' * `"bounded"`: predictions \eqn{\phi(W_{ij})}{phi(W_ij)} with the sigmoid \eqn{\phi(z) = lo + (hi - lo) / (1 + e^{-z})}{phi(z) = lo + (hi - lo)
#'   / (1 + exp(-z))}, strictly
#'   inside the bounds. Not convex: the answer is a stationary point.
#' * `"maxabs"`: the trace-norm problem with every entry of \eqn{W}{W} kept inside `bound` (`bound = b` means `c(-b, b)`). Convex and dense: for
#'   matrices whose
#'   smaller side is at most 2000.
#'
#' There is no factor 1/2 and no division by the number of cells: `lambda` is twice that of the package softImpute. `scale = "mean"` divides the
#' sum of squares by the
#' number of values (`lambda` is then smaller by the same factor). The fit is zero from \eqn{\lambda_{\max} = 2 \|P_S(X)\|_{sp}}{lambda_max = 2
#' |P_S(X)|_sp} on; the default
#' path goes down from there.
#'
#' **Solvers.** `"als"` (the default, `"auto"`) keeps \eqn{W = U'V}{W = U'V} as factors: ridge regressions of rows on columns and columns on rows,
#' accelerated by Anderson's
#' method, and from rank 13 on a limited-memory quasi-Newton method on both factors, whose steps cost less;
#' when they stall, singular vectors of the residual with values above `lambda` are added, so that the rank finds itself. `"softimpute"`
#' is proximal gradient with
#' momentum and restarts, one truncated singular value decomposition per step. `"fw"` is Frank and Wolfe's method for `trace_norm`. `"sgd"` is the
#' paper's stochastic
#' gradient, for comparison. Memory is of the order of the number of observed cells and the factors.
#'
#' **Certificate.** With \eqn{G = 2 P_S(X - W)}{G = 2 P_S(X - W)} a multiple of \eqn{G}{G} of spectral norm at most `lambda` is dual feasible, and
#' the difference of the two objectives
#' bounds the distance to the minimum whatever the solver did. `gap` is that bound, and the solvers stop once it is `tol` relative to the
#' objective (to a millionth of the sum of squares
#' where the fit interpolates). With a limit on the rank below what the problem needs the fit may be stationary without being certified;
#' `certified` tells.
#' For `"bounded"` the distance of the gradient from `lambda` times a subgradient is reported instead.
#'
#' **Input.** Missing cells are `NA` in a matrix; in a sparse matrix the stored entries, zeros too, are observed and all others missing. Repeated
#' cells of a triplet matrix or a data frame
#' add up in the loss, as in a sample of cells with replacement (`repeats = "weight"`), or count once with their mean (`repeats = "mean"`). Rows
#' and columns without any
#' observed cell get the centre (zero without centring), with a warning.
#'
#' @section Which method when:
#' `"trace"` when nothing is known of the range. Ratings and other bounded scales: `"bounded"`, or `"clipped"`, which costs nothing more than
#' `"trace"`; the paper finds modest gains of either. Use
#' `"maxabs"` for its guarantee (Theorem 4), on small matrices. [complete_matrix_baseline()] has means and unpenalised low-rank fits to compare with,
#' [complete_matrix_select()] chooses
#' `lambda`, [complete_matrix_bounds()] says what can be guaranteed for cells not seen.
#'
#' @param x A matrix with `NA` in its holes, a sparse matrix of observed cells, or a data frame with columns `i`, `j` and `value` (positions or
#'   labels).
#' @param lambda Penalties; `NULL` for a path from the largest useful one down.
#' @param n_lambda,lambda_min_ratio Length of that path, and its smallest penalty relative to the largest. The path ends earlier, after the first fit with
#'   as many free numbers (\eqn{r (m + n - r)}{r (m + n - r)} for rank \eqn{r}{r}) as there are cells, or that leaves a thousandth of the sum of squares: beyond, fits only
#'   interpolate. Give `lambda` to go on.
#' @param bound Range of the values: `c(lo, hi)`, or one number `b` for `c(-b, b)`.
#' @param model What is fitted: see the details.
#' @param rank Largest rank allowed; `NULL` for no limit.
#' @param solver Algorithm: see the details.
#' @param trace_norm Bounds on the trace norm, instead of `lambda`.
#' @param center Means removed before and added after: none, of rows, of columns, or both (least squares on the observed cells). Only for
#'   `"trace"` and `"clipped"`.
#' @param standardize Whether rows, columns or both are divided by their root mean square (after centring) before the fit, and predictions multiplied by
#'   it afterwards; `objective` and `loss` are then those of the scaled values. Only for `"trace"` and `"clipped"`.
#' @param scale Whether squares are summed or averaged over the observed values.
#' @param repeats What repeated cells do: weigh as often as they were seen, or count once.
#' @param dims Numbers of rows and columns when `x` is a data frame; by default the largest positions.
#' @param tol Duality gap at which to stop, relative to the objective.
#' @param max_iter Largest number of iterations per penalty.
#' @param control A list with any of `anderson` (depth of the acceleration of `"als"`, 5), `corrective` (for `"fw"`: re-optimise in the span of
#'   all atoms, `TRUE`), `step` and `epochs` (of `"sgd"`:
#'   the first step, by default 0.1 over the root mean square, and 100).
#' @param start A fit to start from.
#' @param threads Number of threads; `NULL` for the session's default, or one where there are few cells.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_trace_completion`: lists `u`, `d` and `v` with the singular vectors and values per penalty, `lambda`,
#'   `rank`, `trace_norm`, `objective`, `loss`, `gap`,
#'   `certified`, `bound`, the centres `row` and `col`, the scales `row_scale` and `col_scale`, and `convergence`.
#' @references
#' Shamir and Shalev-Shwartz (2014). Matrix completion with the trace norm: learning, bounding, and transducing. *Journal of Machine Learning
#' Research* 15, 3401--3423.
#'
#' Mazumder, Hastie and Tibshirani (2010). Spectral regularization algorithms for learning large incomplete matrices. *Journal of Machine Learning
#' Research* 11, 2287--2322.
#' @seealso [complete_matrix_select()], [complete_matrix_baseline()], [complete_matrix_bounds()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_complete_matrix(40, 30, rank = 2, n_obs = 500, noise = 0.1)
#' fit <- complete_matrix(sim$x, n_lambda = 8)
#' fit
#' predict(fit, data.frame(i = 1:3, j = c(2, 2, 5)))
#' plot(fit)
complete_matrix <- function(x, lambda = NULL, n_lambda = 20, bound = NULL, model = c("trace", "clipped", "bounded", "maxabs"), rank = NULL,
                            solver = c("auto", "als", "softimpute", "fw", "sgd"), center = c("none", "row", "col", "both"),
                            standardize = c("none", "row", "col", "both"), trace_norm = NULL,
                            lambda_min_ratio = 0.02, scale = c("sum", "mean"), repeats = c("weight",
                                                            "mean"), dims = NULL, tol = 1e-6, max_iter = 2000,
                            control = list(), start = NULL, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  model <- check_choice(model, c("trace", "clipped", "bounded", "maxabs"))
  solver <- check_choice(solver, c("auto", "als", "softimpute", "fw", "sgd"))
  scale <- check_choice(scale, c("sum", "mean"))
  center <- check_choice(center, c("none", "row", "col", "both"))
  standardize <- check_choice(standardize, c("none", "row", "col", "both"))
  cells <- completion_cells(x, check_choice(repeats, c("weight", "mean")), dims)
  bound <- completion_range(bound, model, cells)
  settings <- completion_settings(rank, tol, max_iter, control)
  solver <- completion_solver(solver, model, trace_norm, lambda, settings)
  if (model %in% c("bounded", "maxabs") && (center != "none" || standardize != "none")) {
    arg <- if (center != "none") "center" else "standardize"
    abort_input(sprintf("`%s` must be \"none\" for model \"%s\", whose range is that of the values themselves.", arg, model), arg)
  }
  if (model == "maxabs" && (min(cells$rows, cells$cols) > 2000L || as.double(cells$rows) * cells$cols > 2e7)) {
    abort_input("Model \"maxabs\" works on the dense matrix, whose smaller side must be at most 2000. Use \"bounded\" or \"clipped\".", "model")
  }
  warn_unobserved(cells, center)
  centre <- completion_centre(cells, center)
  cells$value <- cells$value - centre$row[cells$i + 1L] - centre$col[cells$j + 1L]
  spread <- completion_spread(cells, standardize)
  cells$value <- cells$value / spread$row[cells$i + 1L] / spread$col[cells$j + 1L]

  # Solved in units of the largest value: nothing overflows or vanishes, and tolerances have no units.
  unit <- max(abs(cells$value))
  if (unit == 0) unit <- 1
  scaled <- cells
  scaled$value <- cells$value / unit
  limits <- if (is.null(bound)) c(-1, 1) else bound / unit
  about <- core_completion_cells(cell_triplets(scaled), list(model = model, lower = limits[1L], upper = limits[2L]))
  # W has the units of the values, but for the sigmoid model, where it has none
  per_lambda <- (if (model == "bounded") unit^2 else unit) / (if (scale == "mean") about$observations else 1)
  penalty <- completion_penalty(lambda, trace_norm, n_lambda, lambda_min_ratio, about$lambda_max, per_lambda, unit)
  from <- completion_start(start, cells, if (model == "bounded") 1 else unit)
  threads <- completion_threads(threads, cells)
  if (is.null(lambda) && is.null(trace_norm)) completion_time(cells)
  results <- if (about$total == 0 && model %in% c("trace", "clipped")) {
    rep(list(zero_completion(cells, about)), length(penalty$value))  # nothing but zeros: so is the fit
  } else {
    options <- c(settings, list(model = model, solver = solver, penalty = penalty$value, constrained = penalty$constrained, lower = limits[1L],
                                upper = limits[2L], early_stop = is.null(lambda) && is.null(trace_norm) && n_lambda > 1, threads = threads))
    core_completion_path(cell_triplets(scaled), options, from, core_seed(), progress_bar("matrix completion"))
  }
  penalty$value <- penalty$value[seq_along(results)]  # a path may end early
  fit <- new_completion(results, cells, penalty, list(unit = unit, factor = if (model == "bounded") 1 else unit, per_lambda = per_lambda,
                                                      about = about, scale = scale), call)
  fit <- utils::modifyList(fit, list(model = model, solver = solver, center = center, row = centre$row, col = centre$col,
                                     standardize = standardize, row_scale = spread$row, col_scale = spread$col, settings = settings))
  fit$bound <- bound
  fit <- seal(structure(fit, class = c("granary_trace_completion", "granary_fit")))
  if (solver == "sgd") {
    check_convergence(fit, "Raise `epochs` in `control`, loosen `tol`, or use solver = \"als\".")
  } else {
    check_convergence(fit)
  }
  fit
}

new_completion <- function(results, cells, penalty, units, call) {
  pick <- function(name) vapply(results, function(r) as.double(r[[name]]), 0)
  unit <- units$unit
  square <- unit^2 / (if (units$scale == "mean") units$about$observations else 1)
  d <- lapply(results, function(r) r$d * units$factor)
  convergence <- lapply(results, `[[`, "convergence")
  convergence <- lapply(convergence, function(one) {
    one$gap <- one$gap * square
    one
  })
  new_fit(
    "trace_completion",
    u = lapply(results, function(r) label_rows(r$u, cells$row_names)), d = d, v = lapply(results, function(r) label_rows(r$v, cells$col_names)),
    lambda = if (penalty$constrained) pick("gradient_norm") * units$per_lambda else penalty$value * units$per_lambda,
    rank = lengths(d), trace_norm = vapply(d, sum, 0), objective = (pick("objective") + units$about$within) * square,
    loss = (pick("loss") + units$about$within) * square, gap = vapply(convergence, `[[`, 0, "gap"), certified = pick("certified") == 1,
    constrained = penalty$constrained, lambda_max = units$about$lambda_max * units$per_lambda, cells = cells, dim = c(cells$rows, cells$cols),
    observed = units$about$cells, observations = units$about$observations, scale = units$scale, trace = lapply(results, function(r) r$trace * square),
    call = call, convergence = convergence
  )
}

# Cells as they cross: numbers of rows and columns from 0.
cell_triplets <- function(cells) cells[c("i", "j", "value", "rows", "cols", "weighted")]

# Sweeps over few cells are over before a second thread has started; an explicit number is taken at its word.
completion_threads <- function(threads, cells) {
  if (is.null(threads) && length(cells$i) < 50000L) 1L else thread_count(threads)
}

# Measured for default paths on one core, with 10 and 20 cells per row of square matrices of 2000 and 4000 rows: 1.7 to 9.7 s.
completion_time <- function(cells) {
  side <- sqrt(as.double(cells$rows) * cells$cols)
  slow_work(2e9 * 1.65 * (side / 2000)^2.1 * (length(cells$i) / side / 10)^0.6, "The path of complete_matrix()",
            "a larger `lambda_min_ratio`, one `lambda`, a `rank` or solver = \"sgd\"")
}

# A result of the core with W = 0 and nothing left to do.
zero_completion <- function(cells, about) {
  list(u = matrix(0, cells$rows, 0L), d = numeric(), v = matrix(0, cells$cols, 0L), objective = about$total, loss = about$total,
       gradient_norm = about$lambda_max, certified = TRUE, trace = numeric(),
       convergence = list(converged = TRUE, iterations = 0L, gap = 0, residual = 0, seconds = 0, message = ""))
}

label_rows <- function(m, names) {
  if (!is.null(names)) rownames(m) <- names
  m
}

# ---- input ------------------------------------------------------------------------------------------------------------------------------

# The observed values as list(i, j, value, rows, cols, weighted, row_names, col_names), positions from zero.
completion_cells <- function(x, repeats = "weight", dims = NULL, arg = "x") {
  if (missing(x)) fail_missing(arg)
  cells <- if (is.data.frame(x) && all(c("i", "j", "value") %in% names(x))) {
    cells_from_frame(x, dims, arg)
  } else if (is_triplets(x)) {
    cells_from_frame(stats::setNames(x, c("i", "j", "value")), dims, arg)
  } else if (inherits(x, "sparseMatrix") && !inherits(x, c("nMatrix", "indMatrix"))) {
    cells_from_sparse(x, arg)
  } else {
    cells_from_matrix(x, arg)
  }
  if (!is.null(dims) && !is.data.frame(x)) abort_input("`dims` is for data frames of cells; a matrix has its own.", "dims")
  if (length(cells$value) == 0L) abort_input(paste0("`", arg, "` must have at least one observed cell, but all are missing."), arg)
  if (length(cells$value) >= .Machine$integer.max) abort_input(paste0("`", arg, "` has too many observed cells."), arg)
  check_finite(cells$value, arg, FALSE, function(at) paste0("cell (", cells$i[at] + 1L, ", ", cells$j[at] + 1L, ")"))
  if (max(abs(cells$value)) > 1e150) abort_input(paste0("`", arg, "` has a value too large to compute with. Rescale the data."), arg)
  cells$weighted <- repeats == "weight"
  cells$original <- cells$value
  cells
}

# Three columns, two of them labels: user, item, rating. Numbers in all three could be a matrix as well, so they must be named.
is_triplets <- function(x) {
  if (!is.data.frame(x) || length(x) != 3L || nrow(x) == 0L) return(FALSE)
  label <- function(v) is.character(v) || is.factor(v)
  if (label(x[[1L]]) && label(x[[2L]]) && is.numeric(x[[3L]])) return(TRUE)
  whole <- function(v) is.numeric(v) && !anyNA(v) && all(v >= 1) && all(v == round(v))
  if (nrow(x) > 3L && whole(x[[1L]]) && whole(x[[2L]]) && is.numeric(x[[3L]])) {
    abort_input(paste("`x` has three columns, two of them whole numbers: cells or a matrix?",
                      "Name the columns i, j and value if they are cells, or use as.matrix(x)."), "x")
  }
  FALSE
}

cells_from_matrix <- function(x, arg) {
  x <- check_matrix(x, arg, allow_na = TRUE)
  seen <- which(!is.na(x))
  list(i = as.integer((seen - 1L) %% nrow(x)), j = as.integer((seen - 1L) %/% nrow(x)), value = as.double(x[seen]), rows = nrow(x), cols = ncol(x),
       row_names = rownames(x), col_names = colnames(x))
}

cells_from_sparse <- function(x, arg) {
  x <- methods::as(methods::as(x, "dMatrix"), "generalMatrix")
  check_shape(x, arg, 1L, 1L)
  if (!methods::is(x, "TsparseMatrix")) x <- methods::as(x, "TsparseMatrix")
  keep <- !is.na(x@x)
  list(i = x@i[keep], j = x@j[keep], value = x@x[keep], rows = nrow(x), cols = ncol(x), row_names = rownames(x), col_names = colnames(x))
}

cells_from_frame <- function(x, dims, arg) {
  if (!is.null(dims)) {
    dims <- check_vector(dims, "dims", length = 2L, lower = 1, upper = .Machine$integer.max)
    if (any(dims != round(dims))) abort_input("`dims` must be two whole numbers.", "dims")
  }
  value <- check_vector(x$value, paste0(arg, "$value"), min_length = 0L, allow_na = TRUE)
  side <- function(name, size) {
    at <- x[[name]]
    labels <- NULL
    if (is.character(at)) at <- factor(at)
    if (is.factor(at)) {
      labels <- levels(at)
      at <- as.integer(at)
    }
    at <- check_vector(at, paste0(arg, "$", name), min_length = 0L, lower = 1, upper = .Machine$integer.max)
    if (any(at != round(at))) abort_input(sprintf("`%s$%s` must hold whole numbers or labels.", arg, name), arg)
    most <- if (!is.null(labels)) length(labels) else if (length(at) > 0L) max(at) else 1
    if (!is.null(size) && most > size) abort_input(sprintf("`dims` allows %d positions for `%s`, but %d is used.", as.integer(size), name,
                                                           as.integer(most)), "dims")
    list(at = as.integer(at) - 1L, size = as.integer(if (is.null(size) || !is.null(labels)) most else size), labels = labels)
  }
  row <- side("i", dims[1L])
  col <- side("j", dims[2L])
  keep <- !is.na(value)
  list(i = row$at[keep], j = col$at[keep], value = unname(value[keep]), rows = row$size, cols = col$size, row_names = row$labels,
       col_names = col$labels)
}

completion_range <- function(bound, model, cells) {
  if (is.null(bound)) {
    if (model != "trace") abort_input(sprintf("`bound` must be given for model \"%s\": the range c(lo, hi) of the values.", model), "bound")
    return(NULL)
  }
  bound <- unname(check_vector(bound))
  if (length(bound) == 1L) bound <- c(-bound, bound)
  if (length(bound) != 2L || bound[1L] >= bound[2L]) abort_input("`bound` must be c(lo, hi) with lo below hi, or one positive number.", "bound")
  if (model == "bounded" && (min(cells$value) < bound[1L] || max(cells$value) > bound[2L])) {
    abort_input(sprintf("`x` must lie inside `bound` for model \"bounded\", but its values go from %g to %g.", min(cells$value), max(cells$value)),
                "bound")
  }
  bound
}

completion_settings <- function(rank, tol, max_iter, control) {
  defaults <- list(anderson = 5, corrective = TRUE, step = NULL, epochs = 100)
  if (!is.list(control) || is.object(control) || (length(control) > 0L && is.null(names(control)))) {
    fail_input("control", "a named list", describe(control))
  }
  unknown <- setdiff(names(control), names(defaults))
  if (length(unknown) > 0L) abort_input(sprintf("`control` has no entry \"%s\"; there are anderson, corrective, step and epochs.", unknown[1L]),
                                        "control")
  control <- utils::modifyList(defaults, control)
  rank <- check_count(rank, "rank", allow_null = TRUE)
  step <- check_number(control$step, "control$step", lower = 0, strict_lower = TRUE, allow_null = TRUE)
  list(
    rank = if (is.null(rank)) 0L else rank, tol = check_number(tol, "tol", lower = 0, strict_lower = TRUE, upper = 1),
    max_iter = check_count(max_iter, "max_iter"), anderson = check_count(control$anderson, "control$anderson", lower = 0, upper = 100),
    corrective = check_flag(control$corrective, "control$corrective"), step = if (is.null(step)) 0 else step,
    epochs = check_count(control$epochs, "control$epochs")
  )
}

completion_solver <- function(solver, model, trace_norm, lambda, settings) {
  if (!is.null(trace_norm) && !is.null(lambda)) abort_input("Give `lambda` or `trace_norm`, not both: one determines the other.", "trace_norm")
  if (!is.null(trace_norm) && model == "bounded") abort_input("`trace_norm` is not available for model \"bounded\"; use `lambda`.", "trace_norm")
  if (model %in% c("bounded", "maxabs")) {
    if (solver != "auto") abort_input(sprintf("`solver` must be \"auto\" for model \"%s\", which has its own.", model), "solver")
    return(if (model == "bounded") "lbfgs" else "admm")
  }
  if (solver == "fw" && is.null(trace_norm)) abort_input("`trace_norm` must be given for solver \"fw\", which solves the constrained form.",
                                                         "trace_norm")
  if (!is.null(trace_norm) && solver %in% c("softimpute", "sgd")) {
    abort_input(sprintf("`solver` must be \"fw\" or \"als\" with `trace_norm`, not \"%s\".", solver), "solver")
  }
  if (solver == "fw" && settings$rank > 0L) abort_input("`rank` cannot be limited with solver \"fw\".", "rank")
  if (solver == "auto") "als" else solver
}

# The penalties (or radii) in the units of the solver, largest penalty first.
completion_penalty <- function(lambda, trace_norm, n_lambda, ratio, top, per_lambda, unit) {
  n_lambda <- check_count(n_lambda, "n_lambda")
  ratio <- check_number(ratio, "lambda_min_ratio", lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  if (!is.null(trace_norm)) {
    radius <- sort(unname(check_vector(trace_norm, "trace_norm", lower = 0, strict_lower = TRUE)))
    return(list(value = radius / unit, constrained = TRUE))
  }
  if (is.null(lambda)) {
    if (top == 0) return(list(value = 1, constrained = FALSE))
    value <- if (n_lambda == 1L) top * ratio else top * exp(seq(0, log(ratio), length.out = n_lambda))
    return(list(value = value, constrained = FALSE))
  }
  lambda <- sort(unname(check_vector(lambda, "lambda", lower = 0)), decreasing = TRUE)
  if (any(lambda == 0)) {
    abort_input(paste0("Every `lambda` must be greater than 0, but one is 0: without a penalty the completion is not unique.\n",
                       "Use a small one, which comes close to interpolation, or complete_matrix_baseline(method = \"hard\")."), "lambda")
  }
  list(value = lambda / per_lambda, constrained = FALSE)
}

completion_start <- function(start, cells, unit) {
  if (is.null(start)) return(NULL)
  if (!inherits(start, "granary_trace_completion")) fail_input("start", "a fit of complete_matrix()", describe(start))
  check_fit(start)
  if (!identical(as.integer(start$dim), as.integer(c(cells$rows, cells$cols)))) {
    abort_input(sprintf("`start` is a fit to a %d x %d matrix, but `x` is %d x %d.", start$dim[1L], start$dim[2L], cells$rows, cells$cols), "start")
  }
  last <- length(start$lambda)
  list(u = unname(start$u[[last]]), d = start$d[[last]] / unit, v = unname(start$v[[last]]))
}

warn_unobserved <- function(cells, center) {
  rows <- cells$rows - length(unique(cells$i))
  cols <- cells$cols - length(unique(cells$j))
  if (rows + cols > 0L) {
    which <- c(if (rows > 0L) counted(rows, "row", "rows"), if (cols > 0L) counted(cols, "column", "columns"))
    warn_input(sprintf("No cell is observed in %s: the data say nothing about them, and their predictions are %s.", paste(which, collapse = " and "),
                       if (center == "none") "zero (for a sigmoid, the middle)" else "the centre"), "x")
  }
}

completion_centre <- function(cells, center) {
  if (center == "none") return(list(row = numeric(cells$rows), col = numeric(cells$cols)))
  core_completion_centre(cell_triplets(cells), center %in% c("row", "both"), center %in% c("col", "both"))
}

completion_spread <- function(cells, standardize) {
  if (standardize == "none") return(list(row = rep(1, cells$rows), col = rep(1, cells$cols)))
  core_completion_scale(cell_triplets(cells), standardize %in% c("row", "both"), standardize %in% c("col", "both"))
}
