#' Data in pieces
#'
#' A source of rows, with labels or without, that gives them piece by piece, so that the data need not fit in memory. Online classifiers
#' learn from it: `update(fit, data_chunks(...))`, or `kernel_perceptron(data_chunks(...), levels = ...)`; [data_moments()] and [data_counts()] gather
#' from it what Gaussian graphs, least squares, networks and tests need.
#'
#' @details
#' The pieces come from
#' * a **matrix**, a data frame or a sparse matrix of package Matrix in memory, with the labels in `y`;
#' * a **function** without arguments that returns the next piece, or `NULL` when there is no more. A piece is a list with `x` and `y`, or, when `y`
#'   is
#'   given to `data_chunks()`, a data frame with that column;
#' * a delimited **file** (the text `x` is its path; compressed files are read too), one line per row. Columns that hold numbers in the first
#'   piece must hold numbers in all others;
#' * a **result of package DBI**, as `DBI::dbSendQuery()` returns it (SQLite, DuckDB and others); its rows are fetched as they are needed;
#' * an **Arrow stream** of package nanoarrow (`nanoarrow::as_nanoarrow_array_stream()`, or `arrow::as_record_batch_reader()` through it), batch by batch.
#'
#' Data in memory and files can be read again (`epochs > 1`); a function and a DBI result can be read once only. A source is used up
#' by learning from it; learning from it again starts it anew where that is possible, else there is nothing left to learn.
#'
#' With pieces, a classifier cannot know all its classes from the first one: declare them, as `levels`.
#'
#' @section Which method when:
#' `data_chunks()` for online classifiers and for data that do not fit in memory; what fits in memory goes into a method as it is.
#'
#' @param x The data: a numeric matrix, data frame or sparse matrix; a function; the path of a file; a DBI result; or an Arrow stream.
#' @param y The labels of a matrix or data frame; for the others the name (or number) of the column with the labels. For a data frame
#'   it may be such a name, too. `NULL`: there are no labels.
#' @param size Number of rows in a piece (a function decides itself).
#' @param columns For files, DBI results and functions that give data frames: names or numbers of the columns to learn from; `NULL` for all but that
#'   of
#'   the labels.
#' @param sep,header,na For files: the character between columns, whether the first line names the columns, and the texts that
#'   stand for a missing value.
#' @param ... Not used.
#' @return An object of class `granary_chunks`.
#' @seealso [lasvm()], [update(finish = TRUE)], [lasvm_suggest()], [budget_perceptron()], [kernel_perceptron()], [sasb()]
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(400), 200)
#' y <- factor(ifelse(x[, 1] + x[, 2] > 0, "yes", "no"))
#' data_chunks(x, y, size = 50)
#'
#' # a file, read 64 lines at a time
#' path <- tempfile(fileext = ".csv")
#' write.csv(data.frame(a = x[, 1], b = x[, 2], y = y), path, row.names = FALSE)
#' pieces <- data_chunks(path, "y", size = 64, columns = "a")
#' fit <- winnow(pieces, levels = c("no", "yes"), binarize = "zero")
#' fit$trials
#'
#' # a generator that never holds more than 10 rows
#' left <- 5
#' generate <- function() {
#'   if (left == 0) return(NULL)
#'   left <<- left - 1
#'   x <- matrix(rbinom(30, 1, 0.5), 10)
#'   list(x = x, y = x[, 1])
#' }
#' winnow(data_chunks(generate), levels = 0:1)
data_chunks <- function(x, y = NULL, size = 1000, columns = NULL, sep = ",", header = TRUE, na = "NA", ...) {
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (inherits(x, "granary_chunks")) return(x)
  size <- check_count(size)
  columns <- check_columns(columns)
  if (is.function(x)) return(chunks_from_function(x, check_label_column(y), columns))
  if (inherits(x, "DBIResult")) return(chunks_from_dbi(x, check_label_column(y), columns, size))
  if (inherits(x, "nanoarrow_array_stream")) return(chunks_from_arrow(x, check_label_column(y), columns))
  if (is.character(x) && is.null(dim(x))) {
    return(chunks_from_file(check_string(x), check_label_column(y), columns, size, check_string(sep), check_flag(header), na))
  }
  chunks_from_memory(x, y, size)
}

# `read()` gives list(x, y), or NULL at the end (y is NULL without labels); `rewind()` starts again, and is NULL where the data can be read only once.
# `rows` may be NA; `label` is the name of the labels.
new_chunks <- function(kind, read, rewind = NULL, rows = NA_real_, size = NA_integer_, close = NULL, label = NULL) {
  label <- if (is.character(label)) label else "y"
  seal(structure(list(kind = kind, read = read, rewind = rewind, rows = rows, size = size, close = close, label = label), class = "granary_chunks"))
}

# The next piece for who learns from labels.
read_labelled <- function(source) {
  piece <- source$read()
  if (!is.null(piece) && is.null(piece$y)) abort_input(sprintf("Labels are needed, but %s has none: name their column as `y` of data_chunks().", source$kind), "y")
  piece
}

chunks_from_memory <- function(x, y, size) {
  by_name <- is.character(y) || is_plain_numeric(y)
  named <- is.data.frame(x) && length(y) == 1L && by_name && (nrow(x) != 1L || (is.character(y) && y %in% names(x)))
  label <- if (named) y
  if (named) {
    parts <- split_labels(x, check_label_column(y), NULL)
    x <- parts$x
    y <- parts$y
  }
  if (!is.data.frame(x)) x <- check_matrix(x, "x", allow_na = TRUE, allow_sparse = TRUE)
  if (nrow(x) == 0L || ncol(x) == 0L) abort_input("`x` must have at least one row and one column.", "x")
  if (!is.null(y)) check_label_count(y, nrow(x))
  done <- 0
  read <- function() {
    if (done >= nrow(x)) return(NULL)
    rows <- (done + 1):min(done + size, nrow(x))
    done <<- rows[length(rows)]
    if (length(rows) == nrow(x)) return(list(x = x, y = y))
    list(x = x[rows, , drop = FALSE], y = y[rows])
  }
  new_chunks("data in memory", read, rewind = function() done <<- 0, rows = nrow(x), size = size, label = label)
}

chunks_from_function <- function(f, label, columns) {
  force(label)
  read <- function() {
    piece <- tryCatch(f(), error = function(e) {
      if (inherits(e, "granary_error")) stop(e)
      abort_input(paste0("The function that gives the pieces failed: ", conditionMessage(e), "."), "x")
    })
    if (is.null(piece)) return(NULL)
    if (is.data.frame(piece)) return(split_labels(piece, label, columns))
    if (is.matrix(piece) && is.null(label)) return(list(x = piece, y = NULL))
    if (!is.list(piece) || !all(c("x", "y") %in% names(piece))) {
      fail_input("x", "a function that gives a list with `x` and `y`, or NULL at the end (or data frames, with `y` the name of the labels)",
                 paste("one that gives", describe(piece)))
    }
    if (is.null(dim(piece$x)) || length(dim(piece$x)) != 2L) {
      fail_input("x", "a function that gives pieces whose `x` is a matrix or data frame", paste("one whose `x` is", describe(piece$x)))
    }
    check_label_count(piece$y, nrow(piece$x))
    piece[c("x", "y")]
  }
  new_chunks("a function", read, label = label)
}

chunks_from_dbi <- function(result, label, columns, size) {
  force(label)
  check_installed("DBI", "to fetch the rows of a query")
  fetch <- getExportedValue("DBI", "dbFetch")
  completed <- getExportedValue("DBI", "dbHasCompleted")
  empty <- 0L
  read <- function() {
    piece <- tryCatch(fetch(result, n = size), error = function(e) {
      abort_input(paste0("The rows of the query could not be fetched: ", conditionMessage(e), "."), "x")
    })
    if (nrow(piece) > 0L) return(split_labels(piece, label, columns))
    empty <<- empty + 1L
    if (completed(result)) return(NULL)
    if (empty < 100L) return(read())  # some drivers give no rows now and then
    abort_input("The query gives no more rows, but its driver says that it is not at its end.", "x")
  }
  new_chunks("a DBI result", read, size = size, label = label)
}

# Batches as the stream has them; their size is the producer's.
chunks_from_arrow <- function(stream, label, columns) {
  force(label)
  check_installed("nanoarrow", "to read Arrow streams")
  convert <- getExportedValue("nanoarrow", "convert_array")
  read <- function() {
    batch <- tryCatch(stream$get_next(), error = function(e) abort_input(paste0("The Arrow stream could not be read: ", conditionMessage(e), "."), "x"))
    if (is.null(batch)) return(NULL)
    split_labels(convert(batch), label, columns)
  }
  new_chunks("an Arrow stream", read, close = function() stream$release(), label = label)
}

# scan() reads records from an open connection where it left off; the types of the columns are those of the first piece.
chunks_from_file <- function(path, label, columns, size, sep, header, na) {
  force(label)
  if (!is.character(na) || anyNA(na)) fail_input("na", "the texts that stand for a missing value", describe(na))
  if (nchar(sep) != 1L) fail_input("sep", "one character", describe(sep))
  if (!file.exists(path) || dir.exists(path)) abort_input(sprintf("There is no file \"%s\".", path), "x")
  state <- new.env(parent = emptyenv())
  open_file <- function() {
    state$connection <- file(path, "r")
    first <- scan(state$connection, "", nlines = 1L, sep = sep, quote = "\"", quiet = TRUE, strip.white = TRUE)
    if (length(first) == 0L) {
      shut()
      abort_input(sprintf("The file \"%s\" has no line to read.", path), "x")
    }
    if (!header) {
      shut()
      state$connection <- file(path, "r")
    }
    state$names <- if (header) first else paste0("V", seq_along(first))
    state$lines <- 0
  }
  shut <- function() {
    if (!is.null(state$connection)) close(state$connection)
    state$connection <- NULL
  }
  state$finished <- FALSE
  read <- function() {
    if (state$finished) return(NULL)
    if (is.null(state$connection)) open_file()
    if (is.null(state$types)) state$types <- rep(list(""), length(state$names))
    first <- is.null(state$settled)
    piece <- tryCatch(
      scan(state$connection, state$types, nmax = size, sep = sep, quote = "\"", dec = ".", na.strings = na, quiet = TRUE, strip.white = TRUE,
           multi.line = FALSE, fill = FALSE, blank.lines.skip = TRUE),
      error = function(e) {
        shut()
        state$finished <- TRUE
        abort_input(sprintf("The file \"%s\" could not be read after data row %.0f: %s.", path, state$lines, conditionMessage(e)), "x")
      }
    )
    count <- length(piece[[1L]])
    if (count == 0L) {
      shut()
      state$finished <- TRUE
      return(NULL)
    }
    state$lines <- state$lines + count
    piece <- structure(piece, names = make.unique(state$names), row.names = seq_len(count), class = "data.frame")
    if (first) {
      piece[] <- lapply(piece, utils::type.convert, as.is = TRUE, na.strings = na)
      if (!is.null(label)) {
        at <- column_positions(piece, label, "y")
        piece[[at]] <- as.character(piece[[at]])
      }
      state$types <- lapply(unname(as.list(piece)), function(column) if (is.character(column)) "" else 0)
      state$settled <- TRUE
    }
    split_labels(piece, label, columns)
  }
  rewind <- function() {
    shut()
    state$finished <- FALSE
  }
  new_chunks(sprintf("the file \"%s\"", basename(path)), read, rewind, size = size, close = shut, label = label)
}

check_label_column <- function(y) {
  if (is.null(y)) return(NULL)
  named <- checkmate::test_string(y, min.chars = 1L) && !is.object(y)
  if (!named && !(is_plain_numeric(y) && checkmate::test_count(y, positive = TRUE))) {
    fail_input("y", "the name or number of the column with the labels", describe(y))
  }
  y
}

check_columns <- function(columns) {
  if (is.null(columns)) return(NULL)
  whole <- is_plain_numeric(columns) && checkmate::test_integerish(columns, lower = 1, any.missing = FALSE, min.len = 1L)
  if (!whole && !(checkmate::test_character(columns, any.missing = FALSE, min.len = 1L) && !is.object(columns))) {
    fail_input("columns", "names or numbers of columns (or NULL)", describe(columns))
  }
  columns
}

check_label_count <- function(y, n) {
  if (!is.atomic(y) || is.null(y) || (!is.null(dim(y)) && NCOL(y) != 1L)) fail_input("y", "labels, one per row", describe(y))
  if (length(y) != n) abort_input(sprintf("`y` must have one label per row, %d, but it has %d.", n, length(y)), "y")
}

column_positions <- function(frame, wanted, arg) {
  at <- if (is.character(wanted)) match(wanted, names(frame)) else ifelse(wanted <= length(frame), wanted, NA)
  if (anyNA(at)) {
    abort_input(sprintf("`%s` asks for column \"%s\", but the columns are %s.", arg, as.character(wanted)[is.na(at)][1L],
                        paste0("\"", utils::head(names(frame), 10L), "\"", collapse = ", ")), arg)
  }
  as.integer(at)
}

split_labels <- function(frame, label, columns) {
  frame <- as.data.frame(frame)
  at <- if (!is.null(label)) column_positions(frame, label, "y")
  inputs <- if (is.null(columns)) setdiff(seq_along(frame), at) else column_positions(frame, columns, "columns")
  if (length(inputs) == 0L) abort_input("There must be a column to learn from besides that of the labels.", "x")
  list(x = frame[inputs], y = if (!is.null(at)) frame[[at]])
}

#' @export
print.granary_chunks <- function(x, ...) {
  parts <- c(if (!is.na(x$rows)) counted(x$rows, "row", "rows"), if (!is.na(x$size)) sprintf("%d at a time", x$size),
             if (is.null(x$rewind)) "to be read once" else "can be read again")
  cli::cat_line("granary: data in pieces from ", x$kind, " (", paste(parts, collapse = ", "), ")")
  invisible(x)
}
