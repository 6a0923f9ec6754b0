# Sequences as compiled code wants them: the rows of all, one sequence after the other.

# list(x (a matrix with names), begin (first row of each from 0, and the number of rows), ids, listed). `na` = "skip"
# lets rows with missing values be.
sequence_data <- function(x, id = NULL, na = "error", arg = "x", columns = NULL) {
  listed <- is.list(x) && !is.data.frame(x)
  if (listed) {
    if (!is.null(id))
      abort_input("`id` is for rows in one table; a list of sequences says itself which rows belong together.", "id")
    rows <- stack_sequences(x, arg, columns)
  } else {
    rows <- split_table(x, id, arg, columns)
  }
  check_sequence_values(rows, na, arg)
  check_names_unique(colnames(rows$x), arg)
  c(rows, list(listed = listed))
}

stack_sequences <- function(x, arg, columns = NULL) {
  if (length(x) == 0L) fail_input(arg, "a list with at least one sequence", "an empty list")
  label <- function(i) if (is.null(names(x)) || !nzchar(names(x)[i])) sprintf("`%s[[%d]]`", arg, i) else
    sprintf("`%s[[%d]]` (\"%s\")", arg, i, names(x)[i])
  parts <- lapply(seq_along(x), function(i) {
    one <- x[[i]]
    if (is_plain_numeric(one) && is.null(dim(one)) && length(one) > 0L) one <- matrix(as.double(one), ncol = 1L)
    if (is.data.frame(one)) one <- matrix_from_frame(one, arg)
    if (!is.matrix(one) || !(is.numeric(one) || is.logical(one)) || length(one) == 0L) {
      abort_input(sprintf("Every element of `%s` must be a numeric matrix with rows, or a vector, but %s is %s.", arg,
                           label(i), describe(x[[i]])), arg)
    }
    one
  })
  widths <- vapply(parts, ncol, 0L)
  odd <- which(widths != widths[1L])
  if (length(odd) > 0L) {
    abort_input(sprintf("All sequences of `%s` must have the same columns, but the first has %d and %s has %d.", arg,
                        widths[1L], label(odd[1L]), widths[odd[1L]]), arg)
  }
  first <- if (is.null(columns)) colnames(parts[[1L]]) else columns
  if (!is.null(first)) {
    parts <- lapply(seq_along(parts), function(i) {
      given <- colnames(parts[[i]])
      if (is.null(columns) && (is.null(given) || identical(given, first))) return(parts[[i]])
      if (!is.null(columns)) return(match_columns(parts[[i]], columns, arg))
      if (!setequal(given, first))
        abort_input(sprintf("All sequences of `%s` must have the same columns, but %s has no \"%s\".", arg, label(i),
                            setdiff(first, given)[1L]), arg)
      parts[[i]][, first, drop = FALSE]
    })
  }
  lengths <- vapply(parts, nrow, 0L)
  whole <- do.call(rbind, lapply(parts, unname))
  storage.mode(whole) <- "double"
  dimnames(whole) <- list(NULL, variable_names(first, widths[1L]))
  ids <- if (is.null(names(x)) || anyDuplicated(names(x)) > 0L) as.character(seq_along(x)) else names(x)
  list(x = whole, begin = c(0, cumsum(lengths)), ids = ids)
}

split_table <- function(x, id, arg, columns = NULL) {
  if (is.character(id) && length(id) == 1L && is.data.frame(x) && id %in% names(x)) {
    name <- id
    id <- x[[name]]
    x <- x[setdiff(names(x), name)]
  }
  if (is_plain_numeric(x) && is.null(dim(x)) && length(x) > 0L) x <- matrix(as.double(x), ncol = 1L)
  if (is.data.frame(x) && !is.null(columns) && all(columns %in% names(x))) x <- x[columns]
  x <- if (is.data.frame(x)) matrix_from_frame(x, arg) else matrix_from_array(x, arg)
  check_shape(x, arg, 1L, 1L)
  if (!is.null(columns)) x <- match_columns(x, columns, arg)
  begin <- c(0, nrow(x))
  ids <- "1"
  if (!is.null(id)) {
    if (!is.atomic(id) || length(id) != nrow(x) || anyNA(id))
      fail_input("id", sprintf("one value for each of the %d rows, none missing", nrow(x)), describe(id))
    runs <- rle(as.character(id))
    twice <- anyDuplicated(runs$values)
    if (twice > 0L) {
      abort_input(sprintf("Rows of a sequence must stand together, but `id` has \"%s\" in two places: sort by it.",
                          runs$values[twice]), "id")
    }
    begin <- c(0, cumsum(runs$lengths))
    ids <- runs$values
  }
  dimnames(x) <- list(rownames(x), variable_names(if (is.null(columns)) colnames(x) else columns, ncol(x)))
  list(x = x, begin = begin, ids = ids)
}

# Names the case and its row, which the position in the stacked rows would not.
check_sequence_values <- function(rows, na, arg) {
  values <- rows$x
  if (is.finite(sum(values)) && core_largest(values) <= 1e150) return(invisible())
  where <- function(at) {
    row <- (at - 1L) %% nrow(values) + 1L
    case <- findInterval(row - 1L, rows$begin)
    sprintf("row %d of case \"%s\", column \"%s\"", row - rows$begin[case], rows$ids[case],
            colnames(values)[(at - 1L) %/% nrow(values) + 1L])
  }
  bad <- which(is.infinite(values))
  if (length(bad) > 0L) abort_input(sprintf("`%s` must be finite, but there is an infinite value in %s.", arg,
                                            where(bad[1L])), arg)
  bad <- which(is.na(values))
  if (length(bad) > 0L && na == "error") {
    abort_input(sprintf(paste0("`%s` must have no missing values, but there is one in %s.\n",
                               "Use na = \"skip\": such a row then says nothing, but time goes on."), arg,
                                 where(bad[1L])), arg)
  }
  bad <- which(abs(values) > 1e150)
  if (length(bad) > 0L) abort_input(sprintf("`%s` has a value too large to compute with in %s: rescale the data.", arg,
                                            where(bad[1L])), arg)
  empty <- length(values) > 0L && all(rowSums(is.na(values)) > 0)
  if (empty) abort_input(sprintf("Every row of `%s` has a missing value: nothing can be learnt.", arg), arg)
  invisible()
}

# Values that belong to the rows, as one vector or matrix for a table, as a list for a list.
for_sequences <- function(values, rows) {
  if (!rows$listed) return(values)
  at <- rep(seq_along(rows$ids), diff(rows$begin))
  parts <- if (is.matrix(values)) lapply(split(seq_along(at), at), function(i) values[i, , drop = FALSE]) else
    split(unname(values), at)
  stats::setNames(parts, rows$ids)
}
