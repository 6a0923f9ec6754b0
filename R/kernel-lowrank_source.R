# A matrix as low-rank methods ask for it: in memory (dense, sparse), or in pieces from a file, a function or a source
# of pieces.

# list(x, rows, cols, row_names, col_names, pieces): `x` is what crosses.
lowrank_source <- function(x, dim = NULL, size = 256L, na = "error", arg = "x") {
  if (missing(x)) fail_missing(arg)
  if (is.function(x)) return(source_of_function(x, dim, size, arg))
  if (!is.null(dim)) abort_input("`dim` is for a function of columns: everything else knows its size.", "dim")
  if (is.character(x) && is.null(dim(x))) x <- data_chunks(x, size = max(size, 1000L))
  if (inherits(x, "granary_chunks")) return(source_of_chunks(x, arg))
  x <- check_matrix(x, arg, allow_sparse = TRUE, allow_na = na == "mean")
  if (na == "mean") x <- fill_with_means(x, arg)
  list(x = x, rows = nrow(x), cols = ncol(x), row_names = rownames(x), col_names = colnames(x), pieces = FALSE,
       close = function() NULL)
}

fill_with_means <- function(x, arg) {
  if (isS4(x)) {
    if (anyNA(x@x)) {
      abort_input(
        sprintf("na = \"mean\" would fill a sparse `%s`; give it as a dense matrix, or without missing values.", arg),
        "na")
    }
    return(x)
  }
  lacking <- colSums(is.na(x)) > 0
  for (j in which(lacking)) {
    if (all(is.na(x[, j]))) {
      abort_input(sprintf("Column %s of `%s` is missing throughout.", label_of(colnames(x), j), arg), arg)
    }
    x[is.na(x[, j]), j] <- mean(x[, j], na.rm = TRUE)
  }
  x
}

# f(j) gives the columns j.
source_of_function <- function(f, dim, size, arg) {
  if (is.null(dim)) {
    abort_input(sprintf("`dim` must be given for a function `%s`: its numbers of rows and columns.", arg), "dim")
  }
  dim <- check_vector(dim, "dim", length = 2L, lower = 1, upper = .Machine$integer.max)
  if (any(dim != round(dim))) abort_input("`dim` must be two whole numbers: of rows and of columns.", "dim")
  at <- 0
  read <- function(restart) {
    if (restart) at <<- 0
    if (at >= dim[2L]) return(matrix(0, 0L, 0L))
    columns <- (at + 1):min(at + size, dim[2L])
    at <<- at + length(columns)
    block <- user_value(f, arg, columns)
    if (inherits(block, "Matrix")) block <- as.matrix(block)
    if (!is.matrix(block) || !is.numeric(block) || nrow(block) != dim[1L] || ncol(block) != length(columns)) {
      fail_input(arg, sprintf("a function of column numbers that gives a numeric matrix, here %.0f x %d", dim[1L],
                              length(columns)), describe(block))
    }
    matrix(as.double(block), nrow(block))
  }
  list(x = list(rows = dim[1L], cols = dim[2L], by_rows = FALSE, read = read), rows = dim[1L], cols = dim[2L],
       row_names = NULL, col_names = NULL, pieces = TRUE, close = function() NULL)
}

# Pieces of rows; a first pass counts them.
source_of_chunks <- function(chunks, arg) {
  if (is.null(chunks$rewind)) {
    abort_input(sprintf("`%s` can be read once only, but several passes are needed: use a file or data in memory.",
                        arg), arg)
  }
  names <- NULL
  piece <- function() {
    found <- chunks$read()
    if (is.null(found)) return(NULL)
    block <- check_matrix(found$x, arg, allow_sparse = TRUE)
    if (isS4(block)) block <- as.matrix(block)
    block
  }
  chunks$rewind()
  rows <- 0
  cols <- NA
  while (!is.null(block <- piece())) {
    if (is.na(cols)) {
      cols <- ncol(block)
      names <- colnames(block)
    }
    if (ncol(block) != cols) {
      abort_input(sprintf("All pieces of `%s` must have %d columns, but one has %d.", arg, cols, ncol(block)), arg)
    }
    rows <- rows + nrow(block)
  }
  if (rows == 0) abort_input(sprintf("`%s` has no rows.", arg), arg)
  read <- function(restart) {
    if (restart) chunks$rewind()
    block <- piece()
    if (is.null(block)) matrix(0, 0L, 0L) else unname(block)
  }
  list(x = list(rows = rows, cols = cols, by_rows = TRUE, read = read), rows = rows, cols = cols, row_names = NULL,
       col_names = names, pieces = TRUE, close = function() if (!is.null(chunks$close)) chunks$close())
}
