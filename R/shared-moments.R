# Sufficient statistics of data that come in pieces or lie with several workers.

#' Moments of data in pieces
#'
#' Number of rows, means and scatter of the columns, which is all that Gaussian graphs, tests of partial correlation and least squares need to know of
#' the data. They are gathered piece by piece ([data_chunks()]), so the data need not fit in memory, and what several workers have gathered is put
#' together by [combine()].
#'
#' @details
#' The scatter is \eqn{\sum_i w_i (x_i - \bar x)(x_i - \bar x)'}. Pieces are joined by
#' \deqn{M = M_a + M_b + \frac{n_a n_b}{n_a + n_b} (\bar x_a - \bar x_b)(\bar x_a - \bar x_b)',}
#' which loses no digits when the means are far from zero, so a fit to the moments is the fit to all rows up to rounding.
#'
#' Give the result as `S` to the Gaussian graphs and searches, such as [ggm_lasso()], [ggm_hub()], [ggm_nodes()], [pc()] and [causal_dag()] (the number of
#' rows comes with it), and as `x` to [lasso()], with the name of the response as `y`.
#'
#' @section Which method when:
#' `data_moments()` for numbers, where a Gaussian graph, a partial correlation or least squares is wanted; [data_counts()] for categories. Methods that
#' look at single rows (kernels, processes) cannot use it.
#'
#' @param x Data: a matrix, data frame or sparse matrix of numbers, or [data_chunks()]. Columns of other kinds are an error: choose with `columns` of
#'   [data_chunks()].
#' @param weights Case weights, one per row; not with data in pieces.
#' @param na What to do with rows that have missing values: stop, or leave them out (their number is kept as `omitted`).
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_moments`: `n` (sum of the weights), `rows`, `mean`, `scatter`, `omitted`. `as.matrix()` gives the covariance
#'   (divisor `n - 1`); `update(object, newdata)` adds rows.
#' @seealso [granary_find()], [granary_catalog()], [granary_report()], [reproduce()]
#' @seealso [data_counts()] for tables, [data_chunks()] for the sources.
#' @references Chan, Golub and LeVeque (1979), Updating formulae and a pairwise algorithm for computing sample variances, Stanford technical report
#'   STAN-CS-79-773.
#' @export
#' @examples
#' # two workers, each with half of the rows
#' first <- data_moments(mtcars[1:16, ])
#' second <- data_moments(data_chunks(mtcars[17:32, ], size = 5))
#' both <- combine(first, second)
#' both
#' all.equal(as.matrix(both), cov(mtcars))
#' ggm_lasso(S = both, lambda = 1)
data_moments <- function(x, weights = NULL, na = c("error", "omit"), ...) {
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  na <- check_choice(na, c("error", "omit"))
  if (!inherits(x, "granary_chunks")) return(piece_moments(x, weights, na))
  if (!is.null(weights)) abort_input("`weights` must be left out with data in pieces: they could not be matched to the rows.", "weights")
  gather_pieces(x, function(piece) piece_moments(piece, NULL, na))
}

piece_moments <- function(x, weights, na) {
  x <- check_matrix(x, "x", allow_na = TRUE, allow_sparse = TRUE)
  if (!is.matrix(x)) x <- as.matrix(x)
  weights <- check_row_weights(weights, nrow(x))
  check_names_unique(colnames(x), "x")
  gone <- rowSums(is.na(x)) > 0
  if (any(gone) && na == "error") {
    abort_input(sprintf("`x` has missing values in %s (the first is row %d). Leave such rows out with na = \"omit\".",
                        counted(sum(gone), "row", "rows"), which(gone)[1L]), "x")
  }
  if (any(gone)) {
    x <- x[!gone, , drop = FALSE]
    weights <- weights[!gone]
  }
  check_all_columns(ncol(x), 2, "Take fewer columns.")
  new_moments(core_moments(x, weights), variable_names(colnames(x), ncol(x)), sum(gone))
}

new_moments <- function(result, names, omitted) {
  names(result$mean) <- names
  dimnames(result$scatter) <- list(names, names)
  seal(structure(c(result[c("n", "rows", "mean", "scatter")], omitted = omitted), class = "granary_moments"))
}

# Reads a source to its end and combines what `summarize` makes of the pieces; nothing at all is an error.
gather_pieces <- function(source, summarize) {
  if (!is.null(source$rewind)) source$rewind()
  on.exit(if (!is.null(source$close)) source$close())
  total <- NULL
  repeat {
    piece <- source$read()
    if (is.null(piece)) break
    rows <- piece$x
    if (!is.null(piece$y)) rows <- cbind(as.data.frame(rows), stats::setNames(data.frame(piece$y), source$label))
    if (nrow(rows) == 0L) next
    part <- summarize(rows)
    total <- if (is.null(total)) part else combine(total, part)
  }
  if (is.null(total)) abort_input(sprintf("`x` gives no rows: %s is empty or has been read already.", source$kind), "x")
  total
}

#' Put together what several pieces or workers have gathered
#'
#' Joins sufficient statistics of different rows of the same variables, so that data spread over files, sessions or the workers of package future give
#' the fit that all rows together give.
#'
#' @section Which method when:
#' `combine()` wherever [data_moments()] or [data_counts()] were gathered in more than one place. Fits themselves are not averaged: give the joined
#' statistics to the method.
#'
#' @param x,... Objects of one class: [data_moments()] or [data_counts()] of different rows. Columns are matched by name.
#' @return One object of that class.
#' @seealso [granary_find()], [granary_catalog()], [granary_report()], [reproduce()], [granary_session()]
#' @export
#' @examples
#' parts <- lapply(split(mtcars, mtcars$cyl), data_moments)
#' combine(parts[[1]], parts[[2]], parts[[3]])
combine <- function(x, ...) {
  if (missing(x)) fail_missing("x")
  UseMethod("combine")
}

#' @export
combine.default <- function(x, ...) {
  fail_input("x", "a summary that can be combined, such as that of data_moments() or data_counts()", describe(x))
}

#' @rdname combine
#' @export
combine.granary_moments <- function(x, ...) {
  for (other in check_combined(x, list(...))) {
    if (!setequal(names(other$mean), names(x$mean))) {
      odd <- c(setdiff(names(other$mean), names(x$mean)), setdiff(names(x$mean), names(other$mean)))
      abort_input(sprintf("The summaries must be of the same columns, but \"%s\" is only in one of them.", odd[1L]), "x")
    }
    at <- names(x$mean)
    other$mean <- other$mean[at]
    other$scatter <- other$scatter[at, at, drop = FALSE]
    x <- new_moments(core_moments_combine(moments_state(x), moments_state(other)), at, x$omitted + other$omitted)
  }
  x
}

moments_state <- function(x) list(n = x$n, rows = x$rows, mean = unname(x$mean), scatter = unname(x$scatter))

check_combined <- function(x, others) {
  for (other in others) {
    if (!inherits(other, class(x)[1L])) fail_input("...", sprintf("objects of class \"%s\" like the first", class(x)[1L]), describe(other))
  }
  others
}

#' @export
update.granary_moments <- function(object, newdata, ...) {
  refuse_dots(...)
  if (missing(newdata)) fail_missing("newdata")
  combine(object, data_moments(newdata))
}

#' @export
as.matrix.granary_moments <- function(x, ...) {
  refuse_dots(...)
  if (x$n <= 1) abort_input("A covariance needs more than one row.", "x")
  x$scatter / (x$n - 1)
}

#' @export
nobs.granary_moments <- function(object, ...) object$rows

#' @export
print.granary_moments <- function(x, ...) {
  cli::cat_line("granary: moments of ", counted(length(x$mean), "column", "columns"), " over ", counted(x$rows, "row", "rows"),
                if (x$omitted > 0) sprintf(" (%s with missing values left out)", format(x$omitted, big.mark = ",")))
  shown <- utils::head(data.frame(mean = x$mean, sd = sqrt(diag(x$scatter) / max(x$n - 1, 1)), row.names = names(x$mean)), 10L)
  print(format(shown, digits = 4))
  if (length(x$mean) > 10L) cli::cat_line("... and ", length(x$mean) - 10L, " more")
  invisible(x)
}

# S, n and the means of functions that take a covariance: moments bring all of them. The divisor is n - `divisor`, as the function has it for data.
moments_covariance <- function(S, n, divisor = 1) {
  if (!inherits(S, "granary_moments")) return(list(S = S, n = n, mean = NULL))
  if (!is.null(n)) abort_input("`n` comes with the moments in `S`. Leave it out.", "n")
  if (S$n <= 1) abort_input("A covariance needs more than one row, but the moments in `S` have no more.", "S")
  list(S = S$scatter / (S$n - divisor), n = S$n, mean = S$mean)
}

#' Counts of data in pieces
#'
#' The different rows of categorical data and how often each occurs, which is all that networks of discrete variables and tests of independence need.
#' Gathered piece by piece and put together by [combine()], as [data_moments()] are.
#'
#' @section Which method when:
#' `data_counts()` for categorical columns, [data_moments()] for numbers. Few different rows make it small, however many rows there are.
#'
#' @param x Categorical data: a data frame, a matrix or [data_chunks()]. Every value is taken as the name of a level; a missing value is one of its own
#'   kind and is refused unless `na = "omit"`.
#' @param na What to do with rows that have missing values: stop, or leave them out (their number is kept as `omitted`).
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_counts`: `cells` (a data frame of factors, one row per different row of the data, in the order of its levels),
#'   `n` (how often each occurs), `omitted`. `as.data.frame()` gives both with the counts as column `Freq`; `as.table()` the whole contingency table.
#' @seealso [granary_find()], [granary_catalog()], [granary_report()], [reproduce()], [granary_session()]
#' @seealso [data_moments()] for numbers.
#' @export
#' @examples
#' cars <- mtcars[c("cyl", "gear", "am")]
#' both <- combine(data_counts(cars[1:10, ]), data_counts(data_chunks(cars[11:32, ], size = 8)))
#' both
#' identical(as.vector(as.table(both)), as.vector(table(cars)))
data_counts <- function(x, na = c("error", "omit"), ...) {
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  na <- check_choice(na, c("error", "omit"))
  if (inherits(x, "granary_chunks")) return(gather_pieces(x, function(piece) piece_counts(piece, na)))
  piece_counts(x, na)
}

piece_counts <- function(x, na) {
  if (is.matrix(x)) x <- as.data.frame(x)
  if (!is.data.frame(x) || ncol(x) == 0L) fail_input("x", "a data frame or matrix with at least one column", describe(x))
  check_names_unique(names(x), "x")
  gone <- rowSums(is.na(x)) > 0
  if (any(gone) && na == "error") {
    abort_input(sprintf("`x` has missing values in %s. Leave such rows out with na = \"omit\".", counted(sum(gone), "row", "rows")), "x")
  }
  x <- lapply(x[!gone, , drop = FALSE], function(column) if (is.factor(column)) column else factor(column))
  new_counts(x, rep(1, sum(!gone)), sum(gone))
}

# Equal rows as one, in the order of their levels (the first column changes slowest).
new_counts <- function(columns, n, omitted) {
  codes <- lapply(columns, as.integer)
  key <- do.call(paste, c(unname(codes), sep = ","))
  first <- !duplicated(key)
  total <- rowsum(n, match(key, key[first]), reorder = TRUE)
  cells <- as.data.frame(lapply(columns, function(column) column[first]), optional = TRUE)
  at <- do.call(order, unname(lapply(codes, function(code) code[first])))
  cells <- cells[at, , drop = FALSE]
  row.names(cells) <- NULL
  seal(structure(list(cells = cells, n = as.vector(total)[at], omitted = omitted), class = "granary_counts"))
}

#' @rdname combine
#' @export
combine.granary_counts <- function(x, ...) {
  for (other in check_combined(x, list(...))) {
    if (!setequal(names(other$cells), names(x$cells))) {
      odd <- c(setdiff(names(other$cells), names(x$cells)), setdiff(names(x$cells), names(other$cells)))
      abort_input(sprintf("The summaries must be of the same columns, but \"%s\" is only in one of them.", odd[1L]), "x")
    }
    columns <- Map(function(a, b) {
      levels <- union(levels(a), levels(b))
      if (!is.ordered(a)) levels <- sort_levels(levels, c(levels(a), levels(b)))
      factor(c(as.character(a), as.character(b)), levels)
    }, x$cells, other$cells[names(x$cells)])
    x <- new_counts(columns, c(x$n, other$n), x$omitted + other$omitted)
  }
  x
}

# Levels that are numbers in the order of the numbers, so that the order of the pieces does not show.
sort_levels <- function(levels, given) {
  number <- suppressWarnings(as.numeric(levels))
  if (anyNA(number)) levels else levels[order(number)]
}

#' @export
update.granary_counts <- function(object, newdata, ...) {
  refuse_dots(...)
  if (missing(newdata)) fail_missing("newdata")
  combine(object, data_counts(newdata))
}

#' @export
as.data.frame.granary_counts <- function(x, ...) cbind(x$cells, Freq = x$n)

# The rows that counts stand for, where a method goes through rows; numbers again where all levels are numbers. Anything else is given back as it is.
counted_rows <- function(x, arg = "x") {
  if (missing(x)) fail_missing(arg)
  if (!inherits(x, "granary_counts")) return(x)
  check_fit(x)
  total <- sum(x$n)
  if (total * length(x$cells) > 1e9) {
    abort_input(sprintf("`%s` stands for %.3g rows of %d columns, and this method goes through the rows: they would not fit in memory. Count a part of the data.", arg, total,
                        length(x$cells)), arg)
  }
  cells <- x$cells
  for (j in seq_along(cells)) {
    values <- suppressWarnings(as.double(levels(cells[[j]])))
    if (!anyNA(values)) cells[[j]] <- values[as.integer(cells[[j]])]
  }
  rows <- cells[rep(seq_len(nrow(cells)), x$n), , drop = FALSE]
  row.names(rows) <- NULL
  rows
}

# Counts with the name of one of their columns as the response: list(x, y).
counted_response <- function(x, y) {
  if (!inherits(x, "granary_counts")) return(list(x = x, y = y))
  rows <- counted_rows(x)
  if (!is.character(y) || length(y) != 1L || !y %in% names(rows)) {
    fail_input("y", sprintf("the name of one of the columns that were counted (%s)", paste(names(rows), collapse = ", ")), describe(y))
  }
  list(x = rows[setdiff(names(rows), y)], y = x$cells[[y]][rep(seq_len(nrow(x$cells)), x$n)])
}

#' @export
as.table.granary_counts <- function(x, ...) {
  cells <- prod(vapply(x$cells, nlevels, 1L))
  if (cells > 1e8) abort_input(sprintf("The whole table would have %.3g cells. Use as.data.frame(), which has those that occur.", cells), "x")
  stats::xtabs(Freq ~ ., as.data.frame(x))
}

#' @export
nobs.granary_counts <- function(object, ...) sum(object$n)

#' @export
print.granary_counts <- function(x, ...) {
  cli::cat_line("granary: ", counted(nrow(x$cells), "different row", "different rows"), " of ", counted(ncol(x$cells), "variable", "variables"), " over ",
                counted(sum(x$n), "row", "rows"), if (x$omitted > 0) sprintf(" (%s with missing values left out)", format(x$omitted, big.mark = ",")))
  print(utils::head(as.data.frame(x), 10L))
  if (nrow(x$cells) > 10L) cli::cat_line("... and ", nrow(x$cells) - 10L, " more")
  invisible(x)
}
