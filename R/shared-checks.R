# Checks at the door. Each returns its argument in the form the core wants, or stops with a `granary_error_input` that says
# which argument it is, what was expected, what came, and what to do.

# Text that is in no valid encoding with its bytes spelt out: R's own functions for text stop at it.
readable <- function(x) ifelse(validEnc(x), x, iconv(x, "UTF-8", "UTF-8", sub = "byte"))

# What came, in a few words: "the text \"a\"", "a list of length 2", "a 3 x 4 character matrix".
describe <- function(x) {
  plural <- function(n, what) paste0(what, " of length ", n)
  if (is.null(x)) return("NULL")
  if (is.function(x)) return("a function")
  if (is.environment(x)) return("an environment")
  if (is.name(x) || is.call(x) || is.expression(x) || inherits(x, "formula")) return("an unevaluated expression")
  if (isS4(x)) return(paste0("an object of class ", class(x)[1L]))
  if (is.data.frame(x)) return(sprintf("a data frame with %d rows and %d columns", nrow(x), length(x)))
  if (is.factor(x)) return(plural(length(x), "a factor"))
  if (is.matrix(x)) return(sprintf("a %d x %d %s matrix", nrow(x), ncol(x), element_type(x)))
  if (is.array(x)) return(sprintf("a %d-dimensional array", length(dim(x))))
  if (is.list(x)) {
    return(if (is.object(x)) paste0("an object of class ", class(x)[1L]) else plural(length(x), "a list"))
  }
  if (!is.atomic(x)) return(paste0("an object of type ", typeof(x)))
  if (is.object(x)) return(plural(length(x), paste("a", class(x)[1L], "vector")))
  if (length(x) != 1L) return(plural(length(x), paste("a", element_type(x), "vector")))
  if (is.character(x) && !is.na(x)) return(paste0("the text \"", substr(readable(x), 1L, 40L), "\""))
  if (is.na(x)) return(if (is.nan(x)) "NaN" else "NA")
  paste0("the ", if (!is.numeric(x) && !is.logical(x)) paste0(element_type(x), " "), "value ", format(x, digits = 6L))
}

element_type <- function(x) {
  switch(typeof(x), integer = , double = "numeric", closure = "function", typeof(x))
}

fail_input <- function(arg, expected, came, advice = NULL) {
  abort_input(paste0("`", arg, "` must be ", expected, ", not ", came, ".", if (!is.null(advice)) paste0("\n", advice)), arg = arg)
}

# missing() sees through the caller: an argument that the user left out is missing here too.
fail_missing <- function(arg) {
  abort_input(paste0("`", arg, "` must be given: it has no default."), arg = arg)
}

range_text <- function(lower, upper, strict_lower, strict_upper) {
  low <- if (lower > -Inf) paste(if (strict_lower) "greater than" else "at least", format(lower))
  high <- if (upper < Inf) paste(if (strict_upper) "less than" else "at most", format(upper))
  text <- paste(c(low, high), collapse = " and ")
  if (nzchar(text)) paste0(" ", text) else ""
}

outside <- function(x, lower, upper, strict_lower, strict_upper) {
  x < lower | x > upper | (strict_lower & x == lower) | (strict_upper & x == upper)
}

# A plain numeric vector: no class that changes what its numbers mean (factor, Date, difftime, integer64).
is_plain_numeric <- function(x) {
  is.numeric(x) && !inherits(x, "integer64") && !isS4(x)
}

check_number <- function(x, arg = deparse1(substitute(x)), lower = -Inf, upper = Inf, strict_lower = FALSE,
                         strict_upper = FALSE, allow_null = FALSE, allow_infinite = FALSE) {
  if (missing(x)) fail_missing(arg)
  if (is.null(x) && allow_null) return(NULL)
  ok <- is_plain_numeric(x) && checkmate::test_number(as.vector(x), finite = !allow_infinite)
  if (!ok || outside(x, lower, upper, strict_lower, strict_upper)) {
    range <- range_text(lower, upper, strict_lower, strict_upper)
    fail_input(arg, paste0("one number", range, if (allow_null) " (or NULL)"), describe(x))
  }
  as.double(x)
}

check_count <- function(x, arg = deparse1(substitute(x)), lower = 1, upper = .Machine$integer.max, allow_null = FALSE) {
  if (missing(x)) fail_missing(arg)
  if (is.null(x) && allow_null) return(NULL)
  ok <- is_plain_numeric(x) && checkmate::test_number(as.vector(x), finite = TRUE)
  too_large <- ok && x == round(x) && x > upper && upper >= .Machine$integer.max
  if (!ok || x != round(x) || x < lower || x > upper) {
    range <- range_text(lower, if (upper < .Machine$integer.max) upper else Inf, FALSE, FALSE)
    fail_input(arg, paste0("a whole number", range, if (allow_null) " (or NULL)"), describe(x), if (too_large) "It is too large for an integer.")
  }
  as.integer(x)
}

check_flag <- function(x, arg = deparse1(substitute(x)), allow_null = FALSE) {
  if (missing(x)) fail_missing(arg)
  if (is.null(x) && allow_null) return(NULL)
  if (isS4(x) || is.object(x) || !checkmate::test_flag(x)) {
    fail_input(arg, paste0("TRUE or FALSE", if (allow_null) " (or NULL)"), describe(x))
  }
  as.vector(x)
}

check_string <- function(x, arg = deparse1(substitute(x)), allow_null = FALSE) {
  if (missing(x)) fail_missing(arg)
  if (is.null(x) && allow_null) return(NULL)
  if (isS4(x) || is.object(x) || !checkmate::test_string(x, min.chars = 1L)) {
    fail_input(arg, paste0("one text", if (allow_null) " (or NULL)"), describe(x))
  }
  as.vector(x)
}

# As match.arg(): the whole vector of choices stands for the first of them, and a beginning that fits only one is enough.
check_choice <- function(x, choices, arg = deparse1(substitute(x))) {
  if (missing(x)) fail_missing(arg)
  if (identical(x, choices)) return(choices[1L])
  string <- !isS4(x) && !is.object(x) && checkmate::test_string(x)
  at <- if (string && nzchar(x)) pmatch(x, choices) else NA
  if (is.na(at)) {
    expected <- paste0("one of ", paste0("\"", choices, "\"", collapse = ", "))
    if (!string) fail_input(arg, expected, describe(x))
    distance <- drop(utils::adist(x, choices, ignore.case = TRUE))
    near <- choices[which.min(distance)]
    advice <- if (nzchar(x) && min(distance) <= max(1, nchar(near) / 3)) paste0("Did you mean \"", near, "\"?")
    fail_input(arg, expected, describe(x), advice)
  }
  choices[at]
}

check_vector <- function(x, arg = deparse1(substitute(x)), length = NULL, min_length = 1L, lower = -Inf, upper = Inf,
                         strict_lower = FALSE, strict_upper = FALSE, allow_na = FALSE, allow_null = FALSE) {
  if (missing(x)) fail_missing(arg)
  force(arg)  # before x changes, and with it what substitute() sees
  if (is.null(x) && allow_null) return(NULL)
  size <- if (!is.null(length)) paste0(" of length ", length) else ""
  expected <- paste0("a numeric vector", size, if (allow_null) " (or NULL)")
  if (is.matrix(x) && any(dim(x) == 1L)) x <- structure(as.vector(x), names = c(rownames(x), colnames(x))[seq_along(x)])
  plain <- is_plain_numeric(x) || (is.logical(x) && !is.object(x) && allow_na)
  if (!plain || !checkmate::test_atomic_vector(as.vector(x)) || !is.null(dim(x))) fail_input(arg, expected, describe(x), response_advice(x, arg))
  if (!is.null(length) && base::length(x) != length) fail_input(arg, expected, paste("one of length", base::length(x)))
  if (base::length(x) < min_length) {
    fail_input(arg, paste(expected, "with at least", min_length, if (min_length == 1L) "element" else "elements"), describe(x))
  }
  values <- as.double(x)
  check_finite(values, arg, allow_na, function(at) paste("element", at))
  # the ends decide for all: long vectors are looked at without copies of them
  all_inside <- base::length(values) > 0L && !anyNA(values) && !any(outside(range(values), lower, upper, strict_lower, strict_upper))
  bad <- if (all_inside) integer() else which(outside(values, lower, upper, strict_lower, strict_upper))
  if (base::length(bad) > 0L) {
    range <- range_text(lower, upper, strict_lower, strict_upper)
    abort_input(paste0("Every element of `", arg, "` must be", range, ", but element ", bad[1L], " is ",
                       format(values[bad[1L]], digits = 6L), "."), arg = arg)
  }
  names(values) <- names(x)
  values
}

# What a response that is no number may have been meant for.
response_advice <- function(x, arg) {
  if (arg != "y") return(NULL)
  if (is.character(x) && base::length(x) == 1L && !is.na(x)) {
    name <- readable(x)
    return(sprintf("To name a column of a data frame use a formula, such as %s ~ . with `data`.", if (make.names(name) == name) name else paste0("`", name, "`")))
  }
  if (!is.factor(x) && !is.character(x)) return(NULL)
  few <- if (nlevels(factor(x)) == 2L) "family = \"binomial\" where there is one, "
  paste0("For classes take ", few, "svm(), gp_classify() or bn_classifier(); for ordered ones that are numbers as.numeric(as.character(y)).")
}

# `place` turns the position of a value into words.
check_finite <- function(values, arg, allow_na, place) {
  if (is.finite(sum(values))) return(invisible())  # no NA, NaN or Inf can hide in a finite sum
  infinite <- which(is.infinite(values))
  if (length(infinite) > 0L) {
    abort_input(paste0(
      "`", arg, "` must be finite, but ", counted(length(infinite), "value is", "values are"), " infinite, the first at ",
      place(infinite[1L]), ".\nRemove it or put a finite number in its place."
    ), arg = arg)
  }
  missing <- which(is.na(values))
  if (length(missing) > 0L && !allow_na) {
    abort_input(paste0(
      "`", arg, "` must have no missing values, but ", counted(length(missing), "value is", "values are"), " NA or NaN, the first at ",
      place(missing[1L]), ".\nRemove the rows with na.omit() or impute before calling."
    ), arg = arg)
  }
}

counted <- function(n, one, many) {
  paste(n, if (n == 1L) one else many)
}

# A double matrix (or a dgCMatrix, where `allow_sparse`) from a matrix, a data frame, a tibble or an object of package Matrix.
# `max_abs`: beyond it squares overflow, and with them every covariance.
check_matrix <- function(x, arg = deparse1(substitute(x)), min_rows = 1L, min_cols = 1L, allow_na = FALSE,
                         allow_sparse = FALSE, max_abs = 1e150, allow_null = FALSE) {
  if (missing(x)) fail_missing(arg)
  force(arg)  # before x changes, and with it what substitute() sees
  if (is.null(x) && allow_null) return(NULL)
  x <- if (is.data.frame(x)) {
    matrix_from_frame(x, arg)
  } else if (inherits(x, "Matrix")) {
    matrix_from_matrix_package(x, arg, allow_sparse)
  } else {
    matrix_from_array(x, arg)
  }
  check_shape(x, arg, min_rows, min_cols)
  values <- if (isS4(x)) x@x else x
  check_finite(values, arg, allow_na, function(at) describe_position(x, at))
  if (core_largest(values) > max_abs) {
    at <- which.max(abs(values))
    abort_input(paste0("`", arg, "` has a value too large to compute with: ", format(values[at], digits = 3L), " at ",
                       describe_position(x, at), ".\nRescale the data, or correct the value."), arg = arg)
  }
  x
}

matrix_from_frame <- function(x, arg) {
  if (length(x) == 0L || nrow(x) == 0L) return(matrix(0, nrow(x), length(x)))
  labels <- names(x)
  for (j in seq_along(x)) {
    column <- x[[j]]
    usable <- is.null(dim(column)) && (is_plain_numeric(column) || (is.logical(column) && !is.object(column)))
    if (!usable) {
      advice <- if (is.factor(column) || is.character(column)) {
        "Drop the column, or turn it into numbers with model.matrix()."
      } else {
        "Drop the column, or turn it into numbers with as.numeric()."
      }
      abort_input(paste0("Every column of `", arg, "` must be numeric, but column ", label_of(labels, j), " is ",
                         describe(column), ".\n", advice), arg = arg)
    }
  }
  rows <- if (.row_names_info(x) > 0L) attr(x, "row.names")
  matrix(unlist(lapply(x, as.double), use.names = FALSE), nrow(x), length(x), dimnames = list(rows, labels))
}

matrix_from_matrix_package <- function(x, arg, allow_sparse) {
  as_needed <- function(y, class) if (methods::is(y, class)) y else methods::as(y, class)
  if (allow_sparse && methods::is(x, "sparseMatrix")) {
    return(as_needed(as_needed(as_needed(x, "dMatrix"), "generalMatrix"), "CsparseMatrix"))
  }
  if (prod(dim(x)) > 2^30) {
    abort_input(paste0("`", arg, "` is a sparse ", nrow(x), " x ", ncol(x), " matrix, too large to be held as a dense one, ",
                       "which this method needs.\nUse fewer columns or rows."), arg = arg)
  }
  x <- as.matrix(x)
  storage.mode(x) <- "double"
  x
}

matrix_from_array <- function(x, arg) {
  usable <- is.matrix(x) && !isS4(x) && !inherits(x, "integer64") && (is.numeric(x) || is.logical(x))
  if (!usable) {
    advice <- if (is_plain_numeric(x) && is.null(dim(x))) {
      "Use cbind() for one column, rbind() for one row."
    } else if (is.matrix(x) && is.character(x)) {
      "Drop the columns of text, or turn them into numbers."
    }
    fail_input(arg, "a numeric matrix or a data frame with numeric columns", describe(x), advice)
  }
  labels <- dimnames(x)
  if (is.object(x)) x <- unclass(x)
  if (is.double(x) && all(names(attributes(x)) %in% c("dim", "dimnames"))) return(x)  # nothing to change, nothing copied
  matrix(as.double(x), nrow(x), ncol(x), dimnames = labels)
}

check_shape <- function(x, arg, min_rows, min_cols) {
  short <- function(have, need, what) {
    if (have >= need) return(invisible())
    abort_input(paste0("`", arg, "` must have at least ", counted(need, what, paste0(what, "s")), ", but it has ",
                       if (have == 0L) "none" else have, "."), arg = arg)
  }
  short(nrow(x), min_rows, "row")
  short(ncol(x), min_cols, "column")
}

label_of <- function(labels, j) {
  if (is.null(labels) || is.na(labels[j]) || !nzchar(labels[j])) as.character(j) else paste0(j, " (\"", labels[j], "\")")
}

describe_position <- function(x, at) {
  if (isS4(x)) {
    row <- x@i[at] + 1L
    column <- findInterval(at - 1L, x@p)
  } else {
    row <- (at - 1L) %% nrow(x) + 1L
    column <- (at - 1L) %/% nrow(x) + 1L
  }
  paste0("row ", row, ", column ", label_of(colnames(x), column))
}

# The symmetrised matrix. `tol` is relative to the largest entry.
check_symmetric <- function(x, arg = deparse1(substitute(x)), tol = 1e-8, min_size = 1L, allow_sparse = FALSE, allow_null = FALSE) {
  if (missing(x)) fail_missing(arg)
  force(arg)  # before x changes, and with it what substitute() sees
  if (is.null(x) && allow_null) return(NULL)
  x <- check_matrix(x, arg, allow_sparse = allow_sparse)
  if (nrow(x) != ncol(x)) {
    abort_input(paste0("`", arg, "` must be a symmetric matrix, but it is not square: ", nrow(x), " rows, ", ncol(x), " columns."),
                arg = arg)
  }
  if (nrow(x) < min_size) check_shape(x, arg, min_size, min_size)
  labels <- symmetric_labels(x, arg)
  if (isS4(x)) {
    dimnames(x) <- list(NULL, NULL)
    # only what is stored is looked at: comparing whole sparse matrices makes dense ones
    gap <- Matrix::summary(methods::as(x - Matrix::t(x), "generalMatrix"))
    most <- if (nrow(gap) > 0L) which.max(abs(gap$x)) else 0L
    at <- if (most > 0L) sort(c(gap$i[most], gap$j[most])) else c(1L, 1L)
    found <- c(if (most > 0L) abs(gap$x[most]) else 0, at, max(abs(x@x), 0))
  } else {
    found <- core_asymmetry(x)
  }
  if (found[1L] > tol * found[4L]) {
    i <- found[2L]
    j <- found[3L]
    abort_input(paste0(
      "`", arg, "` must be symmetric, but its entry (", i, ", ", j, ") is ", format(x[i, j], digits = 6L), " and (", j, ", ", i, ") is ",
      format(x[j, i], digits = 6L), if (!is.null(labels)) paste0(" (variables \"", labels[i], "\" and \"", labels[j], "\")"), ".\n",
      "If the difference is rounding, pass (", arg, " + t(", arg, ")) / 2."
    ), arg = arg)
  }
  if (found[1L] > 0) {
    dimnames(x) <- NULL
    x <- (x + if (isS4(x)) Matrix::t(x) else t(x)) / 2
  }
  wanted <- if (!is.null(labels)) list(labels, labels)
  if (!isS4(x) && !identical(dimnames(x), wanted)) dimnames(x) <- wanted  # a copy only where something changes
  if (isS4(x)) dimnames(x) <- list(labels, labels)
  x
}

symmetric_labels <- function(x, arg) {
  rows <- rownames(x)
  columns <- colnames(x)
  if (!is.null(rows) && !is.null(columns) && !identical(rows, columns)) {
    at <- which(rows != columns)[1L]
    abort_input(paste0("`", arg, "` must name its rows and columns alike, but row ", at, " is \"", rows[at], "\" and column ", at,
                       " is \"", columns[at], "\"."), arg = arg)
  }
  if (is.null(columns)) rows else columns
}

# Names, where there are any, must tell the variables apart.
check_names_unique <- function(x, arg = deparse1(substitute(x))) {
  if (is.null(x)) return(invisible(NULL))
  if (!is.character(x)) fail_input(arg, "a character vector of names", describe(x))
  empty <- which(is.na(x) | !nzchar(x))
  if (length(empty) > 0L) abort_input(paste0("Every name in `", arg, "` must be non-empty, but name ", empty[1L], " is not."), arg = arg)
  twice <- which(duplicated(x))
  if (length(twice) > 0L) {
    abort_input(paste0("The names in `", arg, "` must be unique, but \"", x[twice[1L]], "\" appears more than once.\n",
                       "Make them unique with make.unique()."), arg = arg)
  }
  invisible(x)
}

check_installed <- function(pkg, why) {
  missing <- pkg[!vapply(pkg, requireNamespace, NA, quietly = TRUE)]
  if (length(missing) > 0L) {
    abort_input(paste0(
      if (length(missing) == 1L) "Package " else "Packages ", paste(missing, collapse = ", "),
      if (length(missing) == 1L) " is" else " are", " needed ", why, ".\n",
      "Install with install.packages(", paste(deparse(unname(missing)), collapse = ""), ")."
    ))
  }
  invisible(TRUE)
}

# V1, V2, ... where there are no names, or an empty one as cbind() leaves it.
variable_names <- function(names, p) {
  blank <- if (is.null(names)) seq_len(p) else which(!nzchar(names))
  if (is.null(names)) names <- character(p)
  names[blank] <- paste0("V", blank)
  names
}

check_function <- function(f, arg) {
  if (!is.function(f)) fail_input(arg, "a function", describe(f))
  f
}

# The user's functions with their mistakes caught where they happen.
user_value <- function(f, arg, ...) {
  tryCatch(f(...), error = function(e) {
    if (inherits(e, "granary_error")) stop(e)
    abort_input(sprintf("The function `%s` failed: %s.", arg, sub("\\.$", "", conditionMessage(e))), arg)
  })
}
