#' A matrix by its own columns and rows
#'
#' CUR decomposition \eqn{A \approx CUR}{A ~ C U R}: a large matrix written in a few of its actual columns \eqn{C} and
#' rows \eqn{R}, with a certificate of the error. Where singular vectors cannot be read (genes and patients, words and
#' documents), these can.
#'
#' @details
#' How columns are chosen (`method`), rows alike:
#'
#' * `"fast"` (the paper's Algorithm 1): some by a dual set on the leading singular vectors, the others by adaptive
#'   sampling, with probability proportional to what the first leave of a column. With \eqn{c = 2k/\epsilon}{c = 2k/eps}
#'   columns and
#'   \eqn{r = 2c/\epsilon}{r = 2c/eps} rows, up to lower order, the expected error is at most \eqn{1+\epsilon}{1 + eps}
#'   times that of the best matrix of rank \eqn{k}: see [cur_plan()]. `split` says how many the dual set gives; by
#'   default those with the best bound.
#' * `"dual_set"`: the dual set alone. No randomness but that of the singular vectors; it may want fewer columns than
#'   `c`.
#' * `"subspace"`: independent draws by leverage scores; `"subspace_expected"`: each column by itself, so that their
#'   number is `c` on average. Rows go by the leverage scores of the rows of \eqn{C}.
#' * `"leverage_top"`: the largest leverage scores. `"qr"`: pivoted QR, of `x` where it is small (at most 2e7 entries),
#'   else of a Gaussian sketch.
#' * `"uniform"`, `"norm2"`: draws with equal probability, or by squared length. `"adaptive"`: adaptive sampling from
#'   nothing, in ten rounds.
#' * `"given"`: the `cols` and `rows` you name.
#'
#' \eqn{U} is `"optimal"`, \eqn{C^+AR^+}; or `"skeleton"`, the pseudo-inverse of \eqn{A(rows, cols)}, which needs no
#' more of \eqn{A} than \eqn{C} and \eqn{R} (for a positive semi-definite matrix with the same rows and columns this is
#' [nystrom()]); or
#' `"dmm"`, the weighted skeleton of the subspace methods.
#'
#' **The error is computed**, not bounded: `error` is \eqn{|A - CUR|_F} of this very answer, and `best_error` that of
#' the best matrix of rank
#' \eqn{k}: exact with `svd = "exact"`, else estimated from above by the sketch.
#' `err_ratio` is their ratio, and may be below one, since \eqn{CUR} has a larger rank than \eqn{k}.
#'
#' **Data.** A dense or sparse matrix stays as it is. A function `x(j)` that gives columns `j`, the path of a delimited
#' file, or [data_chunks()] are read in passes (`passes` counts them) of which one block at a time is in memory.
#'
#' Columns of zeros are never chosen. Where the columns chosen so far leave nothing, fewer than `c` come back, and a
#' message says so.
#'
#' @section Which method when:
#' `"qr"` gave the smallest error at the same number of columns in our comparisons, and is deterministic; `"fast"` has
#' the guarantee and costs less than a full decomposition; `"leverage_top"` and `"subspace"` for comparison with the
#' literature; `"uniform"` is what all should beat. Where vectors need no meaning, a truncated singular value
#' decomposition is the best of all. Columns alone: [column_select()]. Kernel matrices: [nystrom()].
#'
#' @param x A matrix, data frame or sparse matrix (package Matrix); a function of column numbers; the path of a file; or
#'   [data_chunks()].
#' @param k Target rank.
#' @param c,r Numbers of columns and rows; `r = NULL` for as many rows as columns.
#' @param method How to choose them, see Details.
#' @param u The matrix in the middle, see Details.
#' @param split For `"fast"`: how many columns (and rows, if it has two numbers) come from the dual set.
#' @param svd Singular vectors by a Gaussian sketch (`"random"`), exactly, or exactly where that is cheap (`"auto"`).
#' @param replace Independent draws, which may repeat, as in the theory; else different columns.
#' @param oversample,power Columns of the sketch beyond `k`, and power iterations.
#' @param cols,rows For `"given"`: numbers or names.
#' @param dim For a function `x`: its numbers of rows and columns.
#' @param size For a function `x`: how many columns it is asked for at a time.
#' @param na What to do with missing values: refuse them, or put the column's mean in their place.
#' @param threads Threads; `NULL` for `getOption("granary.threads")`.
#' @param ... For `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @return An object of class `granary_cur`: `cols` and `rows` (positions, named), `C`, `U`, `R`, `col_scores` and
#'   `row_scores` (leverage scores, or what the draws went by), `error`, `best_error`, `column_error`
#'   (\eqn{|A - CC^+A|_F}), `err_ratio`, `bound` (on the expected ratio, for `"fast"`), `values` (leading singular
#'   values), `k`, `norm`, `passes`.
#'   `fitted()` and `as.matrix()` give \eqn{CUR}; `predict()` for new rows of which the columns `cols` are known, all
#'   columns (`type = "response"`) or their coefficients on the rows \eqn{R} (`"latent"`); `tidy()` a row per column and
#'   row chosen;
#'   `plot()` the scores, with the chosen ones marked.
#' @references
#' Wang and Zhang (2012). A scalable CUR matrix decomposition algorithm: lower time complexity and tighter bound.
#' *Advances in Neural Information Processing Systems* 25.
#'
#' Boutsidis, Drineas and Magdon-Ismail (2014). Near-optimal column-based matrix reconstruction. *SIAM Journal on
#' Computing* 43, 687--717.
#'
#' Drineas, Mahoney and Muthukrishnan (2008). Relative-error CUR matrix decompositions. *SIAM Journal on Matrix Analysis
#' and Applications* 30, 844--881.
#' @seealso [column_select()], [cur_plan()], [leverage_scores()], [nystrom()]
#' @export
#' @examples
#' # the heights of a volcano by 12 of its columns and 12 of its rows
#' set.seed(1)
#' fit <- cur(volcano, k = 4, c = 12, r = 12)
#' fit
#' max(abs(fitted(fit) - volcano))
#' plot(fit)
#' cur(volcano, k = 4, c = 12, r = 12, method = "qr")$err_ratio
#'
#' # in pieces: a function that computes its columns
#' hilbert <- function(j) outer(1:50, j, function(i, j) 1 / (i + j - 1))
#' cur(hilbert, k = 3, dim = c(50, 40), method = "qr")
cur <- function(x, k, c = 4 * k, r = NULL,
                method = c("fast", "dual_set", "subspace", "subspace_expected", "leverage_top", "qr", "uniform",
                           "norm2", "adaptive", "given"),
                u = c("optimal", "skeleton", "dmm"), split = NULL, svd = c("auto", "random", "exact"), replace = FALSE,
                oversample = 10, power = 1,
                cols = NULL, rows = NULL, dim = NULL, size = 256, na = c("error", "mean"), threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(x)) fail_missing("x")
  # first, since a look for the function c() finds the argument, whose default needs it
  if (missing(k)) fail_missing("k")
  source <- lowrank_source(x, dim, check_count(size), check_choice(na, c("error", "mean")))
  on.exit(source$close())
  method <- check_choice(method, c("fast", "dual_set", "subspace", "subspace_expected", "leverage_top", "qr", "uniform",
                                   "norm2", "adaptive", "given"))
  u <- check_choice(u, c("optimal", "skeleton", "dmm"))
  if (u == "dmm" && !startsWith(method, "subspace")) {
    abort_input("u = \"dmm\" is made from the probabilities of method = \"subspace\" or \"subspace_expected\".", "u")
  }
  k <- check_rank(k, source)
  given <- given_places(cols, rows, source, method)
  c <- if (method == "given") length(given$columns) else check_size_of_choice(c, "c", source$cols, k, method, replace)
  if (is.null(r)) r <- if (isTRUE(replace)) c else min(c, source$rows)
  r <- if (method == "given") length(given$rows) else check_size_of_choice(r, "r", source$rows, k, method, replace)
  options <- c(choice_options(k, c, method, split, svd, replace, oversample, power, threads, r, u), given)
  options$parts <- source$pieces
  raw <- core_cur(source$x, options, core_seed(), progress_bar("columns and rows"))
  warn_choice(raw, k, method, both = TRUE)
  cols <- named_places(raw$columns$index, source$col_names)
  rows <- named_places(raw$rows$index, source$row_names)
  middle <- raw$u
  dimnames(middle) <- list(names(cols), names(rows))
  new_fit(
    "cur", cols = cols, rows = rows, C = if (source$pieces) label_both(raw$c, source$row_names,
                                                                       names(cols)) else source$x[, cols, drop = FALSE],
    U = middle, R = if (source$pieces) label_both(raw$r, names(rows), source$col_names) else source$x[rows, ,
                                                                                                      drop = FALSE],
    col_scores = stats::setNames(raw$columns$scores, source$col_names),
    row_scores = stats::setNames(raw$rows$scores, source$row_names),
    col_weights = raw$columns$weights, row_weights = raw$rows$weights, values = raw$values, k = raw$k, norm = raw$norm,
    error = raw$error,
    best_error = raw$best_error, column_error = raw$column_error,
    err_ratio = error_ratio(raw$error, raw$best_error, raw$norm), bound = raw$bound,
    exact_svd = raw$exact_svd, method = method, middle = u, dims = c(source$rows, source$cols),
    variables = source$col_names, passes = raw$passes,
    n = source$rows, seconds = raw$seconds, call = call, convergence = list()
  )
}

check_rank <- function(k, source) {
  k <- check_count(k, "k")
  most <- min(source$rows, source$cols)
  if (k > most) {
    warn_input(sprintf("`k` is %d, but a %.0f x %.0f matrix has at most rank %.0f, which is taken.", k, source$rows,
                       source$cols, most), "k")
    k <- as.integer(most)
  }
  k
}

check_size_of_choice <- function(size, arg, available, k, method, replace) {
  size <- check_count(size, arg)
  if (size > available && !isTRUE(replace)) {
    message("`", arg, "` is ", size, ", but there are ", available, ": all are taken.")
    size <- as.integer(available)
  }
  if (size <= k && method == "dual_set") {
    abort_input(sprintf("method = \"dual_set\" needs `%s` above `k`, which is %d: raise it, or use method = \"qr\".",
                        arg, k), arg)
  }
  size
}

choice_options <- function(k, c, method, split, svd, replace, oversample, power, threads, r = 0L, u = "optimal") {
  split <- if (is.null(split)) c(0, 0) else check_vector(split, "split", lower = 0)
  if (!length(split) %in% 1:2 || any(split != round(split))) {
    abort_input("`split` must be one or two whole numbers: of columns, and of rows.", "split")
  }
  split <- rep_len(unname(split), 2L)
  if (any(split > 0)) {
    if (method != "fast") abort_input("`split` is for method = \"fast\".", "split")
    most <- c(c, if (r > 0L) r else Inf)
    if (any(split > 0 & (split <= k | split > most))) {
      abort_input(sprintf("`split` must be above `k`, which is %d, and at most `c` (and `r`).", k), "split")
    }
  }
  list(k = k, c = c, r = r, method = method, u = u, split = split[1L], split_rows = split[2L],
       svd = check_choice(svd, c("auto", "random", "exact")), replace = check_flag(replace),
       oversample = check_count(oversample, lower = 0),
       power = check_count(power, lower = 0, upper = 100), threads = thread_count(threads))
}

given_places <- function(cols, rows, source, method, columns_only = FALSE) {
  if (method != "given") {
    if (!is.null(cols)) abort_input("`cols` is for method = \"given\".", "cols")
    if (!is.null(rows)) abort_input("`rows` is for method = \"given\".", "rows")
    return(list())
  }
  list(columns = check_places(cols, "cols", source$cols, source$col_names),
       rows = if (!columns_only) check_places(rows, "rows", source$rows, source$row_names))
}

check_places <- function(at, arg, size, names) {
  if (is.null(at)) abort_input(sprintf("`%s` must be given for method = \"given\".", arg), arg)
  if (is.character(at)) {
    place <- match(at, names)
    if (length(at) == 0L || anyNA(place)) {
      abort_input(sprintf("`%s` names \"%s\", which is not there.", arg, at[is.na(place)][1L]), arg)
    }
    return(as.double(place))
  }
  at <- unname(check_vector(at, arg, lower = 1, upper = size))
  if (any(at != round(at))) abort_input(sprintf("`%s` must be whole numbers.", arg), arg)
  at
}

warn_choice <- function(raw, k, method, both = FALSE) {
  if (raw$k < k) warn_input(sprintf("`k` is %d, but the matrix has numerical rank %d, which is taken.", k, raw$k), "k")
  if (raw$columns$exhausted) {
    message("Nothing was left to choose by after ", counted(length(raw$columns$index), "column", "columns"), ".")
  }
  if (both && raw$rows$exhausted) {
    message("Nothing was left to choose by after ", counted(length(raw$rows$index), "row", "rows"), ".")
  }
}

named_places <- function(at, names) stats::setNames(at, if (is.null(names)) NULL else names[at])

label_both <- function(m, rows, cols) {
  dimnames(m) <- list(rows, cols)
  m
}

# Relative to the best matrix of rank k; where that is exact, both errors are rounding.
error_ratio <- function(error, best, norm) {
  if (best > 1e-10 * norm) error / best else if (error > 1e-10 * norm) Inf else 1
}
