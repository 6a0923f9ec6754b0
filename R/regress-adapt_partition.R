#' Regression by an adaptive partition
#'
#' Estimates a regression function by a step function on a partition that adapts to it: fine where the function changes, coarse where it does
#' not. Cells come from a fixed hierarchy of boxes that does not look at the response; the data decide which of them are split. One pass fits
#' all thresholds, and new rows can be added one by one.
#'
#' @details The hierarchy splits every cell \eqn{I} into \eqn{a} children. With \eqn{n_I} of the \eqn{m} rows in the cell, \eqn{\rho_I = n_I /
#' m} and mean response \eqn{c_I}, its energy
#' \deqn{\epsilon_I^2 = \sum_{J\ \mathrm{child}} \rho_J (c_J - c_I)^2}{eps_I^2 = sum over children J of rho_J (c_J - c_I)^2}
#' is what splitting it takes off the mean squared error. With `method = "threshold"` the cells of level below \eqn{j_0} with
#' \eqn{\epsilon_I \ge \tau}{eps_I >= tau}, and all their ancestors, are split. So
#' a cell without gain of its own is split where a descendant matters, which greedy splitting misses.
#' \deqn{\tau = \kappa \sqrt{\log m / m},}{tau = kappa sqrt(log(m) / m),}
#' and \eqn{j_0} is the largest \eqn{j} with \eqn{a^j \le (\tau / w)^{-1/\gamma}}{a^j <= (tau / w)^(-1/gamma)}, where \eqn{w} is the width
#' of the range of the response (the paper has a response of fixed scale and no
#' \eqn{w}; without it the depth would depend on units). `rule = "consistent"` takes \eqn{\tau = \kappa \log m / \sqrt m}{tau = kappa log(m)
#' / sqrt(m)}, which is consistent for every bounded regression
#' function. For \eqn{m < 3}, \eqn{\log 3}{log(3)} is used.
#'
#' The default \eqn{\kappa = \sqrt 2 \hat\sigma}{kappa = sqrt(2) sigma} is that of the universal threshold of wavelets, with
#' \eqn{\hat\sigma}{sigma} from differences between rows that are neighbours in the order of the hierarchy. The constant for which the theory
#' holds (see [adapt_partition_bounds()]) is far too large to be of use. With `cv`, \eqn{\kappa} has the smallest cross-validated error on the path
#' of all thresholds, at the depth \eqn{j_0} of the default. With few rows that error is flat, and the choice may have as many cells as rows: `path`
#' holds it with its standard errors.
#'
#' * `method = "cart"`: of all prunings of the same hierarchy, the one of smallest \eqn{\mathrm{SSE}/m + \lambda\, \#\mathrm{cells}}{SSE/m +
#'   lambda #cells}, \eqn{\lambda = \tau^2}{lambda = tau^2}, exactly, by dynamic programming (dyadic CART).
#' * `method = "uniform"`: all cells of one level, the smallest \eqn{j} with \eqn{a^{j (1 + 2s)} \ge m / \log m}{a^(j (1 + 2 s)) >= m /
#'   log(m)} for smoothness \eqn{s} (`smoothness`), or, with `cv`, the level of smallest cross-validated error. A regressogram.
#'
#' **Planes instead of steps.** With `degree = 1` every cell has a least-squares plane in place of a mean, and the energy of a cell is what
#' the planes of its children take off the mean squared error of its own. The paper calls this step almost straightforward and leaves its
#' analysis to another one. Under noise alone \eqn{m \epsilon_I^2 / \sigma^2}{m eps_I^2 / sigma^2} is then chi-squared with \eqn{(a - 1)(d +
#' 1)} degrees of freedom, and the default \eqn{\kappa^2 \log m}{kappa^2 log(m)} is \eqn{\hat\sigma^2}{sigma^2} times what such a variable
#' exceeds once in \eqn{m} times. Predictions are always truncated to `range`, as a plane on few rows may be steep. A column that the others
#' explain within a cell has slope zero there, as in [stats::lm()].
#'
#' **Hierarchies.** `"cube"` halves all coordinates at once (\eqn{a = 2^d}, at most six columns), `"cyclic"` one after the other (\eqn{a =
#' 2}); `"auto"` takes cubes up to two columns. `cuts = "quantile"` halves at the quantiles of each column instead of the middle of the box,
#' which looks at `x` only. `"nested"` takes a data frame of categorical columns from coarse to fine, each splitting the categories of the
#' columns before it (region, district, town). Cells are half-open, the last closed. Constant columns are never split. New rows outside the
#' box belong to the nearest cell, with a warning.
#'
#' **Online.** `update(fit, newdata, newy)` adds rows in \eqn{O(a j_0)} operations each, and gives what a fit to all rows would give with the
#' same `kappa`, `range` and `box`, in whatever order they came. With `refresh = FALSE` the table of cells is not made anew, which takes time
#' in the number of cells; prediction works either way. Give `box` and `range` if later rows may lie outside those of the first. (The tree is
#' shared between a fit and its updates; an older fit is still good to predict from, but has to rebuild the tree.)
#'
#' @section Which method when: For few columns, jumps or smoothness that varies, many rows, and rows that keep coming. `"threshold"` for
#' speed, updates and nested paths; `"cart"` when the smallest partition of a given error matters; `"uniform"` as a baseline. Greedy trees
#' that search all split points (`rpart`) place jumps exactly and cope with many columns, but have no updates and may miss checkerboards. For
#' smooth functions take `degree = 1`, or for one variable a spline or local regression: a step function cannot gain from more than one
#' derivative.
#' [fused_signal()] puts jumps anywhere on a chain or graph.
#'
#' @param x A numeric matrix or data frame; for one column also a vector; for `split = "nested"` a data frame of categorical columns; or a formula.
#' @param y The response, numeric.
#' @param kappa The constant of the threshold, in units of `y`; `NULL` for the default, see Details.
#' @param gamma Depth of the hierarchy: smaller is deeper.
#' @param method How the partition is chosen; see Details.
#' @param split The hierarchy; see Details.
#' @param cuts Where cells are halved.
#' @param box A matrix with two rows, smallest and largest value of each column; by default the range of `x`.
#' @param cv Number of folds, or the fold of every row; 0 for no cross-validation.
#' @param range Lower and upper bound of the response: predictions are truncated to it. By default the range of `y`.
#' @param winsorise Also move responses outside `range` to its ends (for heavy tails)?
#' @param empty Prediction in cells without rows: the mean of the `"parent"`, or `"zero"` as in the paper.
#' @param max_depth An upper bound of \eqn{j_0} (for `"uniform"`, of the level).
#' @param rule The threshold as a function of the number of rows; see Details.
#' @param degree 0 for a mean in every cell, 1 for a plane; see Details.
#' @param columns With more than six columns, whether to split only those that show an effect of their own, the strongest first (`"relevant"`), or all in
#'   rotation, as the paper has it (`"all"`).
#' @param smoothness For `"uniform"`: \eqn{s}, by default 1/d, which suits functions with one derivative.
#' @param threads Threads for the folds of `cv`; by default the option `granary.threads`.
#' @param na What to do with missing values: refuse them, or leave out their rows and say how many. A formula has `na.action` for that.
#' @param formula,data,weights,subset,na.action,offset A formula and the data frame with its variables, as for [stats::lm()]; what a method cannot use
#'   is refused.
#' @param ... For the formula method, the arguments of the default method.
#' @return An object of class `granary_adapt_partition` (see [granary_partition] for its methods): `cells` (a data frame with `level`, `n`,
#'   `mean` and the bounds `lower` and `upper`, which are matrices, as are `slope` and `centre` with `degree = 1`, when the fit is
#'   `mean` + `slope` (x - `centre`)), `n_cells`, `tree_size` (cells that are split), `tau`, `kappa`, `sigma`,
#'   `j0`, `a`, `n`, `sse`, `path` (a data frame of at most 200 partitions, with the cross-validated error `cv` and its standard error `se`;
#'   `tidy(type = "path")` has all), `range`, `box`, `method`, `split`, `call`, `convergence`.
#' @references Binev, Cohen, Dahmen, DeVore and Temlyakov (2005). Universal algorithms for learning theory. Part I: piecewise constant
#' functions. *Journal of Machine Learning Research* 6, 1297--1321.
#'
#' Donoho (1997). CART and best-ortho-basis: a connection. *Annals of Statistics* 25, 1870--1911.
#' @seealso [adapt_partition_bounds()]; `errata("jmlr6-universal-piecewise-constant")`
#' @seealso [lasso()], [lasso_select()], [gen_lasso()], [debiased_lasso()], [mta()]
#' @export
#' @examples
#' set.seed(1)
#' x <- runif(2000)
#' y <- (x > 1 / 3) + 0.5 * sin(6 * x) * (x > 0.6) + rnorm(2000, sd = 0.2)
#' fit <- adapt_partition(x, y)
#' fit
#' plot(fit)
#' predict(fit, c(0.2, 0.5, 0.9))
#'
#' # more rows arrive
#' fit <- update(fit, c(0.34, 0.35), c(1.1, 0.9))
#' fit$n
#'
#' # a plane in every cell
#' bend <- abs(x - 0.4) + rnorm(2000, sd = 0.05)
#' plot(adapt_partition(x, bend, degree = 1))
#'
#' square <- data.frame(u = runif(2000), v = runif(2000))
#' square$y <- (square$u^2 + square$v^2 < 0.5) + rnorm(2000, sd = 0.2)
#' plot(adapt_partition(y ~ u + v, square))
adapt_partition <- function(x, ...) UseMethod("adapt_partition", formula_or_first(x, ...))

#' @rdname adapt_partition
#' @export
adapt_partition.formula <- function(formula, data = NULL, weights, subset, na.action, offset, ...) {
  fit <- formula_fit(adapt_partition.default, "adapt_partition", ...)
  fit$response <- fit$formula[[2L]]
  fit
}

tell_dropped <- function(count) message(counted(count, "row was", "rows were"), " dropped because of missing values.")

#' @rdname adapt_partition
#' @export
adapt_partition.default <- function(x, y, kappa = NULL, gamma = 0.5, method = c("threshold", "cart", "uniform"),
                                    split = c("auto", "cube", "cyclic", "nested"),
                                    cuts = c("middle", "quantile"), box = NULL, cv = 0, range = NULL, winsorise = FALSE, empty = c("parent", "zero"),
                                    max_depth = NULL, rule = c("rate", "consistent"), smoothness = NULL, degree = 0,
                                    columns = c("relevant", "all"), na = c("error", "omit"), threads = NULL, ...) {
  call <- generic_call(match.call(), "adapt_partition")
  refuse_dots(...)
  method <- check_choice(method, c("threshold", "cart", "uniform"))
  split <- check_choice(split, c("auto", "cube", "cyclic", "nested"))
  cuts <- check_choice(cuts, c("middle", "quantile"))
  empty <- check_choice(empty, c("parent", "zero"))
  rule <- check_choice(rule, c("rate", "consistent"))
  columns <- check_choice(columns, c("relevant", "all"))
  kappa <- check_number(kappa, lower = 0, allow_null = TRUE)
  gamma <- check_number(gamma, lower = 0, strict_lower = TRUE, upper = 1e6)
  max_depth <- check_count(max_depth, lower = 0, allow_null = TRUE)
  smoothness <- check_number(smoothness, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  winsorise <- check_flag(winsorise)
  degree <- check_count(degree, lower = 0, upper = 1)
  if (degree == 1L && split == "nested") abort_input("`degree` must be 0 for nested categories: a plane needs numbers.", "degree")
  rows <- partition_rows(x, y, split, cv, na)
  threads <- if (is.null(threads) && is.null(rows$folds)) 1L else thread_count(threads)
  bounds <- partition_range(range, rows$y, winsorise)
  if (winsorise) rows$y <- pmin(pmax(rows$y, bounds$range[1L]), bounds$range[2L])
  hierarchy <- if (split == "nested") nested_hierarchy(rows$x) else box_hierarchy(rows$x, split, cuts, box)
  if (split != "nested" && columns == "relevant") hierarchy <- relevant_columns(hierarchy, rows)
  values <- if (split == "nested") nested_digits(hierarchy, rows$x) else rows$x
  tree <- core_partition_points(row_values(values), rows$y, partition_shape(hierarchy, degree))
  sigma <- core_partition_sigma(tree)
  fit <- new_fit(
    "adapt_partition", cells = NULL, n_cells = NULL, tree_size = NULL, tau = NULL,
    kappa = if (is.null(kappa)) default_kappa(sigma, length(rows$y), hierarchy, degree) else kappa, sigma = sigma, gamma = gamma, j0 = NULL,
    degree = degree, a = hierarchy$a, n = length(rows$y), sse = NULL, path = NULL, range = bounds$range, truncate = bounds$given || degree == 1L,
    range_given = bounds$given, width = bounds$width, box = hierarchy$box, method = method,
    split = hierarchy$split, cuts = cuts, empty = empty, rule = rule, winsorise = winsorise, max_depth = max_depth,
    smoothness = if (is.null(smoothness)) 1 / hierarchy$d else smoothness,
    names = hierarchy$names, hierarchy = hierarchy, stream = new_stream(values, rows$y, tree), call = call, convergence = list()
  )
  fit <- set_depth(fit)
  core_partition_grow(tree, fit$j0, progress_bar("partition"))
  if (!is.null(rows$folds)) fit <- choose_by_folds(fit, rows$folds, threads)
  fit <- refresh_cells(fit)
  if (is.null(fit$path)) fit$path <- thin_path(fit)
  if (fit$split == "cyclic" && fit$j0 < length(hierarchy$active)) {
    never <- hierarchy$names[hierarchy$active[-seq_len(fit$j0)]]
    warn_input(sprintf("Cells are split at most %d times, so %s never tried: %s.\nGive fewer columns, or a larger `max_depth` or smaller `gamma`.", fit$j0,
                       counted(length(never), "column is", "columns are"), list_some(never)), "x")
  }
  fit
}

# With many columns a rotation reaches the later ones too late. Those whose eighths differ in their means by more than noise are split, the one that
# explains most first; a column that matters only together with others is not found this way (columns = "all").
relevant_columns <- function(hierarchy, rows) {
  if (length(hierarchy$active) <= 6L) return(hierarchy)
  gain <- core_partition_gains(row_values(rows$x), rows$y, list(knots = lapply(hierarchy$knots, as.double), active = hierarchy$active))
  keep <- order(-gain)[seq_len(sum(gain > 3))]
  if (length(keep) == 0L || length(keep) == length(hierarchy$active)) return(hierarchy)
  message(sprintf("%d of %d columns show an effect of their own and are split: %s. Use columns = \"all\" for the rotation of the paper.", length(keep),
                  length(hierarchy$active), list_some(hierarchy$names[hierarchy$active[keep]])))
  hierarchy$active <- hierarchy$active[keep]
  hierarchy$d <- length(keep)
  hierarchy
}

default_kappa <- function(sigma, n, hierarchy, degree) {
  if (degree == 0L) return(sqrt(2) * sigma)
  sigma * sqrt(stats::qchisq(1 / max(n, 3), (hierarchy$a - 1) * (hierarchy$d + 1), lower.tail = FALSE) / log_rows(n))
}

# Complete rows: list(x, y, folds).
partition_rows <- function(x, y, split, cv, na) {
  na <- check_choice(na, c("error", "omit"))
  if (missing(x)) fail_missing("x")
  if (split == "nested") {
    x <- check_categories(x)
  } else {
    if (is_plain_numeric(x) && is.null(dim(x))) x <- matrix(x, dimnames = list(NULL, "x"))
    x <- check_matrix(x, "x", allow_na = TRUE)
    if (is.null(colnames(x))) colnames(x) <- paste0("V", seq_len(ncol(x)))
  }
  if (missing(y)) fail_missing("y")
  if (is.data.frame(y) && length(y) == 1L) y <- y[[1L]]
  if (is.logical(y) && !is.object(y)) y <- as.double(y)
  y <- unname(check_vector(y, "y", length = nrow(x), lower = -1e150, upper = 1e150, allow_na = TRUE))
  folds <- if (length(cv) == 1L && identical(check_count(cv, lower = 0), 0L)) NULL else check_folds(cv, length(y))
  whole <- !is.na(y) & if (is.data.frame(x)) stats::complete.cases(x) else is.finite(rowSums(x))
  if (!all(whole)) {
    if (na == "error") {
      abort_input(sprintf("`x` and `y` must not have missing values, but %s, the first is row %d.\nUse na = \"omit\" to leave those rows out, or impute them.",
                          counted(sum(!whole), "row has", "rows have"), which(!whole)[1L]), if (anyNA(y)) "y" else "x")
    }
    tell_dropped(sum(!whole))
    x <- x[whole, , drop = FALSE]
    y <- y[whole]
    folds <- folds[whole]
  }
  if (length(y) == 0L) abort_input("`x` must have at least one row without missing values.", "x")
  if (!is.null(folds)) {
    folds <- match(folds, sort(unique(folds)))
    if (max(folds) < 2L) abort_input("`cv` must leave at least two folds with rows.", "cv")
  }
  list(x = x, y = y, folds = folds)
}

partition_range <- function(range, y, winsorise) {
  range <- check_vector(range, "range", length = 2L, allow_null = TRUE, lower = -1e150, upper = 1e150)
  given <- !is.null(range)
  if (given && range[2L] < range[1L]) abort_input("`range` must be a lower and an upper bound of the response.", "range")
  if (winsorise && !given) abort_input("`winsorise` needs `range`, the bounds to which responses are moved.", "range")
  if (!given) range <- base::range(y)
  list(range = unname(range), given = given, width = diff(unname(range)))
}

box_hierarchy <- function(x, split, cuts, box) {
  d <- ncol(x)
  limits <- apply(x, 2L, base::range)
  dim(limits) <- c(2L, d)
  if (!is.null(box)) {
    box <- if (is_plain_numeric(box) && is.null(dim(box)) && d == 1L) matrix(check_vector(box, "box", length = 2L)) else check_matrix(box, "box")
    if (!identical(dim(box), c(2L, d))) abort_input(sprintf("`box` must be a matrix with 2 rows and %d columns.", d), "box")
    if (any(box[2L, ] < box[1L, ])) abort_input("The second row of `box` must not be below the first.", "box")
    if (any(limits[1L, ] < box[1L, ] | limits[2L, ] > box[2L, ])) {
      warn_input("Some rows of `x` lie outside `box`; they belong to the nearest cells.", "box")
    }
    limits <- unname(box)
  }
  active <- which(limits[2L, ] > limits[1L, ])
  if (split == "auto") split <- if (length(active) <= 2L) "cube" else "cyclic"
  if (split == "cube" && length(active) > 6L) {
    abort_input(sprintf("`split` must not be \"cube\" for %d columns: a cell would have %.0f children. Use \"cyclic\".", length(active),
                        2^length(active)), "split")
  }
  if (length(active) > 62L) abort_input(sprintf("`x` has %d columns that vary, but at most 62 can be split.", length(active)), "x")
  knots <- lapply(seq_len(d), function(j) if (cuts == "quantile" && j %in% active) quantile_knots(x[, j], limits[, j]) else limits[, j])
  colnames(limits) <- colnames(x)
  list(split = split, knots = knots, active = as.integer(active), bits = integer(), box = limits,
       a = if (split == "cube") 2^max(1L, length(active)) else 2,
       d = max(1L, length(active)), names = colnames(x))
}

# Increasing knots at quantiles between the limits; half of the rows lie on each side of the middle knot.
quantile_knots <- function(x, limits) {
  x <- x[x > limits[1L] & x < limits[2L]]
  if (length(x) < 2L) return(limits)
  size <- 2^min(12, ceiling(log2(length(x))))
  inner <- stats::quantile(x, seq_len(size - 1) / size, names = FALSE, type = 7L)
  knots <- c(limits[1L], inner, limits[2L])
  # Ties would make the map flat: their knots are spread evenly over the gap to the next distinct value.
  distinct <- !duplicated(knots)
  if (all(distinct)) return(knots)
  at <- which(distinct)
  if (utils::tail(at, 1L) < length(knots)) {
    at[length(at)] <- length(knots)
  }
  out <- stats::approx(at, knots[distinct], seq_along(knots))$y
  if (anyNA(out) || any(diff(out) <= 0)) limits else out
}

check_categories <- function(x) {
  if (is.factor(x) || is.character(x)) x <- data.frame(x = x)
  if (!is.data.frame(x) || length(x) == 0L) fail_input("x", "a data frame of categorical columns, from coarse to fine", describe(x))
  for (j in seq_along(x)) {
    if (!is.atomic(x[[j]]) || !is.null(dim(x[[j]])) || is.complex(x[[j]])) {
      abort_input(sprintf("Every column of `x` must be categorical, but column %s is %s.", label_of(names(x), j), describe(x[[j]])), "x")
    }
  }
  as.data.frame(lapply(x, as.character), stringsAsFactors = FALSE, check.names = FALSE)
}

# For every column the categories seen, each within its parent: `entry` names parent and category, `digit` counts within the parent.
nested_hierarchy <- function(x) {
  parent <- rep(1L, nrow(x))
  levels <- lapply(x, function(column) {
    entry <- paste(parent, column, sep = "\r")
    seen <- sort(unique(entry))
    of <- as.integer(sub("\r.*$", "", seen))
    seen <- seen[order(of)]
    of <- sort(of)
    parent <<- match(entry, seen)
    list(entry = seen, digit = sequence(rle(of)$lengths) - 1L)
  })
  most <- vapply(levels, function(level) max(level$digit) + 1L, 0L)
  list(split = "nested", knots = list(), active = integer(), bits = as.integer(ceiling(log2(most))), box = NULL, a = max(2, most), d = 1L,
       names = names(x), levels = levels)
}

nested_digits <- function(hierarchy, x) {
  parent <- rep(1L, nrow(x))
  out <- matrix(-1L, nrow(x), length(hierarchy$levels))
  for (j in seq_along(hierarchy$levels)) {
    level <- hierarchy$levels[[j]]
    at <- match(paste(parent, x[[j]], sep = "\r"), level$entry)
    out[, j] <- ifelse(is.na(at), -1L, level$digit[at])
    parent <- ifelse(is.na(at), 0L, at)
  }
  out
}

log_rows <- function(n) log(max(n, 3))

# tau, and j0, the largest level of cells, for the present number of rows.
set_depth <- function(fit) {
  n <- fit$n
  fit$tau <- fit$kappa * if (fit$rule == "rate") sqrt(log_rows(n) / n) else log_rows(n) / sqrt(n)
  levels <- core_partition_levels(partition_tree(fit))
  deepest <- min(levels, if (is.null(fit$max_depth)) Inf else fit$max_depth)
  wanted <- if (fit$method == "uniform") {
    if (is.null(fit$fixed_level)) ceiling(log(max(n / log_rows(n), 1)) / (log(fit$a) * (1 + 2 * fit$smoothness)) - 1e-9) else fit$fixed_level
  } else if (!is.null(fit$fixed_level)) {
    fit$fixed_level
  } else if (fit$width == 0) {
    0
  } else if (fit$tau == 0) {
    Inf
  } else {
    floor(log(fit$width / fit$tau) / (fit$gamma * log(fit$a)) + 1e-9)
  }
  fit$j0 <- as.integer(max(0, min(deepest, wanted)))
  fit
}

# What the compiled code needs to know of a partition; `tau` overrides that of the fit. A cell whose energy is the threshold is split, also after
# the rounding of a square root and its square.
partition_rule <- function(fit, tau = NULL) {
  if (is.null(tau)) tau <- fit$tau
  level <- switch(fit$method, threshold = fit$n * tau^2 * (1 - 1e-12), cart = fit$n * tau^2, uniform = fit$j0)
  list(rule = fit$method, level = level, empty_zero = fit$empty == "zero", lower = if (fit$truncate) fit$range[1L] else -Inf,
       upper = if (fit$truncate) fit$range[2L] else Inf)
}

refresh_cells <- function(fit) {
  out <- core_partition_cells(partition_tree(fit), partition_rule(fit), progress_bar("cells"))
  cells <- data.frame(level = out$level, n = out$n, mean = out$mean)
  if (fit$split != "nested") {
    colnames(out$lower) <- colnames(out$upper) <- fit$names
    cells$lower <- out$lower
    cells$upper <- out$upper
    if (nrow(out$slope) > 0L) {
      colnames(out$centre) <- colnames(out$slope) <- fit$names
      cells$centre <- out$centre
      cells$slope <- out$slope
    }
  }
  fit$cells <- cells
  fit$n_cells <- nrow(cells)
  fit$tree_size <- out$tree_size
  fit$sse <- out$sse
  fit
}

choose_by_folds <- function(fit, folds, threads) {
  power <- if (fit$rule == "rate") 1L else 2L
  unit <- log_rows(fit$n)^power
  tree <- partition_tree(fit)
  if (fit$method == "uniform") {
    deepest <- min(core_partition_levels(tree), floor(log(4 * fit$n) / log(fit$a)), if (is.null(fit$max_depth)) Inf else fit$max_depth)
    grid <- seq.int(0, max(0, deepest))
    depth <- as.integer(max(grid))
  } else {
    levels <- core_partition_path(tree)$level
    levels <- levels[unique(round(exp(seq(0, log(length(levels)), length.out = 80L))))]
    levels <- if (length(levels) > 1L) c(1.01 * levels[2L], levels[-1L]) else 1
    grid <- levels / unit
    depth <- fit$j0
  }
  options <- list(partition = partition_rule(fit), fold = folds, folds = max(folds), grid = as.double(grid), depth = depth, log_power = power,
                  threads = threads)
  errors <- core_partition_cv(tree, options, progress_bar("cross-validation"))
  size <- tabulate(folds)
  table <- data.frame(grid = grid, cv = colSums(errors) / sum(size), se = apply(errors / size, 2L, stats::sd) / sqrt(length(size)))
  best <- which.min(table$cv)
  fit$folds <- folds
  fit$fixed_level <- if (fit$method == "uniform") grid[best] else fit$j0
  if (fit$method != "uniform") fit$kappa <- sqrt(grid[best])
  fit <- set_depth(fit)
  core_partition_grow(tree, if (fit$method == "uniform") depth else fit$j0, progress_bar("partition"))
  fit$path <- describe_partitions(fit, if (fit$method == "uniform") grid else sqrt(grid))
  fit$path$cv <- table$cv
  fit$path$se <- table$se
  if (fit$method == "uniform") core_partition_grow(tree, fit$j0, progress_bar("partition"))
  fit
}

# One row per kappa, or per level of a uniform partition.
describe_partitions <- function(fit, values) {
  rate <- if (fit$rule == "rate") sqrt(log_rows(fit$n) / fit$n) else log_rows(fit$n) / sqrt(fit$n)
  rows <- lapply(values, function(value) {
    rule <- partition_rule(fit, value * rate)
    if (fit$method == "uniform") rule$level <- value
    core_partition_summary(partition_tree(fit), rule)
  })
  cells <- vapply(rows, `[[`, 0, "cells")
  sse <- vapply(rows, `[[`, 0, "sse")
  if (fit$method == "uniform") return(data.frame(level = values, n_cells = cells, sse = sse))
  data.frame(tau = values * rate, kappa = values, n_cells = cells, sse = sse)
}

thin_path <- function(fit, most = 200L) {
  if (fit$method == "uniform") return(describe_partitions(fit, seq.int(0L, fit$j0)))
  full <- full_path(fit)
  full <- full[unique(round(exp(seq(0, log(nrow(full)), length.out = most)))), ]
  row.names(full) <- NULL
  if (fit$method == "threshold") return(full)
  describe_partitions(fit, full$kappa[is.finite(full$kappa)][unique(round(seq(1, sum(is.finite(full$kappa)),
                                                                              length.out = min(40L, sum(is.finite(full$kappa))))))])
}

full_path <- function(fit) {
  out <- core_partition_path(partition_tree(fit))
  tau <- sqrt(out$level / fit$n)
  rate <- if (fit$rule == "rate") sqrt(log_rows(fit$n) / fit$n) else log_rows(fit$n) / sqrt(fit$n)
  data.frame(tau = tau, kappa = tau / rate, n_cells = out$cells, sse = out$sse)
}

# Rows and tree of a fit and all its updates. The tree is compiled code's: it is lost when a session is saved, and remade from the rows.
new_stream <- function(x, y, pointer) {
  stream <- new.env(parent = emptyenv())
  stream$x <- x
  stream$y <- y
  stream$count <- length(y)
  stream$more_x <- NULL
  stream$more_y <- NULL
  stream$pointer <- pointer
  stream
}

stream_rows <- function(stream, n) {
  first <- length(stream$y)
  if (n <= first) return(list(x = stream$x[seq_len(n), , drop = FALSE], y = stream$y[seq_len(n)]))
  more <- seq_len(n - first)
  x <- rbind(stream$x, t(stream$more_x[, more, drop = FALSE]))
  dimnames(x) <- list(NULL, colnames(stream$x))
  list(x = x, y = c(stream$y, stream$more_y[more]))
}

row_values <- function(x) if (is.integer(x)) list(digits = x) else list(values = x)

partition_shape <- function(hierarchy, degree) {
  list(split = hierarchy$split, knots = lapply(hierarchy$knots, as.double), active = hierarchy$active, bits = hierarchy$bits, degree = degree)
}

build_tree <- function(fit, rows) {
  h <- fit$hierarchy
  tree <- core_partition_points(row_values(rows$x), rows$y, partition_shape(h, fit$degree))
  core_partition_grow(tree, if (is.null(fit$j0)) 0L else fit$j0, progress_bar("partition"))
  tree
}

# The tree of exactly the rows of this fit.
partition_tree <- function(fit) {
  stream <- fit$stream
  if (stream$count != fit$n) return(build_tree(fit, stream_rows(stream, fit$n)))  # rows came later, through another fit
  if (!core_partition_alive(stream$pointer)) stream$pointer <- build_tree(fit, stream_rows(stream, fit$n))
  stream$pointer
}

store_rows <- function(stream, x, y) {
  used <- stream$count - length(stream$y)
  need <- used + length(y)
  room <- length(stream$more_y)
  if (need > room) {
    larger <- max(need, 2L * room, 64L)
    wide <- matrix(if (is.integer(x)) 0L else 0, ncol(x), larger)
    tall <- numeric(larger)
    if (used > 0L) {
      wide[, seq_len(used)] <- stream$more_x[, seq_len(used)]
      tall[seq_len(used)] <- stream$more_y[seq_len(used)]
    }
    stream$more_x <- wide
    stream$more_y <- tall
    rm(wide, tall)
  }
  core_store_rows(stream$more_x, stream$more_y, used, x, y)
  stream$count <- stream$count + length(y)
}
