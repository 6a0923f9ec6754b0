# Kernels over objects (texts, lists of tokens, bags): how their objects become a column of places that every method can
# work with.
#
# Such a kernel is a leaf with `options`. Bound to data it also has `objects`, the container, and may have `known`,
# values computed beforehand. What the matrix of a method holds in the column the leaf looks at are places in the
# container; new rows are appended to it. The readers objects_of_<type>(x, arg, kernel) turn what a user gives into the
# container: a character vector or a list.

new_object_kernel <- function(type, options, variance = 1, normalize = TRUE, columns = NULL, fixed = NULL, psd = TRUE) {
  at <- columns
  if (is.character(columns)) {
    at <- check_string(columns, "columns")
  } else if (!is.null(columns)) {
    at <- check_count(columns, "columns")
  }
  kernel <- new_kernel(type, variance, numeric(), fixed = fixed)
  kernel$options <- options
  kernel$normalize <- check_flag(normalize, "normalize")
  kernel$at <- at
  kernel$psd <- psd
  kernel$learn[2:3] <- FALSE
  kernel
}

# A function of the user's over two lists or character vectors.
user_objects_kernel <- function(f, columns) {
  force(f)
  call <- function(objects, i, j) {
    value <- tryCatch(f(objects[i], objects[j]), error = function(e) {
      abort_input(paste0("The function of the user kernel failed: ", sub("\\.$", "", conditionMessage(e)), "."), "f")
    })
    if (!is.numeric(value) && !is.logical(value)) {
      fail_input("f", "a function that returns a matrix of numbers", describe(value))
    }
    matrix(as.double(value), NROW(value), NCOL(value))
  }
  new_object_kernel("user_objects", list(call = call), normalize = FALSE, columns = columns, psd = FALSE)
}

objects_of_user_objects <- function(x, arg, kernel) {
  if (is.matrix(x)) fail_input(arg, "a character vector or a list, one element per observation", describe(x))
  x
}

describe_kernel_user_objects <- function(kernel) "a function of two lists of objects"

is_object_leaf <- function(leaf) !is.null(leaf$options)
has_objects <- function(kernel) {
  inherits(kernel, "granary_kernel") && any(vapply(kernel_leaves(kernel), is_object_leaf, NA))
}

# The reader of a type, and whether text may name it.
object_reader <- function(type) get0(paste0("objects_of_", type), envir = topenv(), mode = "function")

most_known <- 3000L  # objects all of whose pairs are computed beforehand: 72 MB

# list(x, kernel, layout): a matrix, the kernel bound to the objects in `x`, and where its columns came from, for
# bind_new_objects(). Kernels over numbers leave all as it is, with layout NULL.
bind_kernel <- function(kernel, x, arg = "x", threads = NULL, values = TRUE, kernel_arg = "kernel") {
  if (missing(x)) fail_missing(arg)
  kernel <- as_object_kernel(kernel)
  bound <- has_objects(kernel) && all(vapply(kernel_leaves(kernel), function(leaf) !is_object_leaf(leaf) ||
                                             !is.null(leaf$objects), NA))
  if (!has_objects(kernel) || (bound && is.matrix(x) && is.numeric(x))) {
    return(list(x = x, kernel = kernel, layout = NULL))
  }
  if (bound) kernel <- map_leaves(kernel, unbind_leaf)
  table <- object_table(x, arg)
  kernel <- map_leaves(kernel, function(leaf) if (is_object_leaf(leaf)) place_object_leaf(leaf, table, arg,
                                                                                          kernel_arg) else leaf)
  at <- unique(vapply(Filter(is_object_leaf, kernel_leaves(kernel)), `[[`, 0L, "columns"))
  numbers <- setdiff(seq_along(table$columns), at)
  used <- numbers[vapply(numbers, function(j) is.numeric(table$columns[[j]]) || is.logical(table$columns[[j]]), NA)]
  kernel <- map_leaves(kernel, function(leaf) if (is_object_leaf(leaf)) leaf else place_number_leaf(leaf, at, used,
                                                                                                    numbers, table, arg,
                                                                                                    kernel_arg))
  looked_at <- unique(unlist(lapply(Filter(Negate(is_object_leaf), kernel_leaves(kernel)), `[[`, "columns")))
  layout <- list(names = table$names, size = length(table$columns), objects = at, numbers = intersect(used, looked_at))
  coded <- code_objects(kernel, table, layout, arg)
  list(x = coded$x, kernel = if (values) know_values(coded$kernel, 0L, threads) else coded$kernel, layout = layout)
}

# The same for new rows: list(x, kernel), the kernel with the new objects behind those of the fit. `rows` of the fit
# (the matrix with places) are those that the new ones will be compared with.
bind_new_objects <- function(kernel, newdata, layout, arg = "newdata", threads = NULL, values = TRUE, rows = NULL) {
  table <- object_table(newdata, arg)
  if (!is.null(layout$names) && !is.null(table$names) && all(layout$names %in% table$names)) {
    table$columns <- table$columns[match(layout$names, table$names)]
  } else if (length(table$columns) != layout$size || (!is.null(layout$names) && !is.null(table$names))) {
    lacking <- if (is.null(table$names)) character() else setdiff(layout$names, table$names)
    abort_input(if (length(lacking) > 0L) sprintf("`%s` must have the columns of the fit, but \"%s\" is missing.", arg,
                                                  lacking[1L]) else sprintf("`%s` must have the %s of the fit, not %d.",
                                                                            arg, counted(layout$size, "column",
                                                                                         "columns"),
                                                                            length(table$columns)), arg)
  }
  before <- length(Filter(is_object_leaf, kernel_leaves(kernel))[[1L]]$objects)
  coded <- code_objects(kernel, table, layout, arg)
  list(x = coded$x, kernel = if (values) know_values(coded$kernel, before, threads, rows) else coded$kernel)
}

# Text of the kernel language that names a kernel over objects.
as_object_kernel <- function(kernel) {
  if (!is.character(kernel) || length(kernel) != 1L || is.na(kernel) || !validUTF8(kernel)) return(kernel)
  words <- regmatches(kernel, gregexpr("[a-z0-9_]+", kernel))[[1L]]
  if (any(vapply(words, function(word) !is.null(object_reader(word)), NA))) as_kernel(kernel) else kernel
}

unbind_leaf <- function(leaf) {
  if (!is_object_leaf(leaf)) return(leaf)
  leaf$objects <- NULL
  leaf$known <- NULL
  leaf
}

# What was given as columns: list(columns, names, labels, n). Anything but a data frame or a matrix of text is one
# column of objects.
object_table <- function(x, arg) {
  if (is.matrix(x) && is.character(x)) x <- as.data.frame(x)
  if (is.data.frame(x)) {
    if (nrow(x) == 0L || length(x) == 0L) fail_input(arg, "objects, at least one", describe(x))
    return(list(columns = unname(as.list(x)), names = names(x), labels = if (.row_names_info(x) > 0L) row.names(x),
                n = nrow(x)))
  }
  usable <- is.character(x) || is.factor(x) || (is.list(x) && !is.object(x)) || is.matrix(x)
  if (!usable) {
    fail_input(arg, "objects for this kernel: a character vector, a factor, a list or a data frame", describe(x))
  }
  if (NROW(x) == 0L) fail_input(arg, "objects, at least one", describe(x))
  list(columns = list(x), names = NULL, labels = if (is.matrix(x)) rownames(x) else names(x), n = NROW(x))
}

place_object_leaf <- function(leaf, table, arg, kernel_arg) {
  at <- leaf$at
  if (is.character(at)) {
    at <- if (is.null(table$names)) 1L else match(at, table$names)
    if (is.na(at)) {
      abort_input(sprintf("`%s` looks at column \"%s\", but `%s` has no such column.", kernel_arg, leaf$at, arg),
                  kernel_arg)
    }
  } else if (is.null(at)) {
    other <- which(!vapply(table$columns, function(v) is.numeric(v) || is.logical(v), NA))
    if (length(table$columns) == 1L) other <- 1L
    if (length(other) != 1L) {
      abort_input(sprintf("`%s` is for one column of objects, but `%s` has %s: say which with k_%s(columns = ).",
                          kernel_arg, arg, if (length(other) == 0L) "none" else paste(length(other),
                                                                                      "that are no numbers"),
                          leaf$type), kernel_arg)
    }
    at <- other
  } else if (at > length(table$columns)) {
    abort_input(sprintf("`%s` looks at column %d, but `%s` has %d.", kernel_arg, at, arg, length(table$columns)),
                kernel_arg)
  }
  leaf$columns <- as.integer(at)
  leaf
}

place_number_leaf <- function(leaf, objects, used, numbers, table, arg, kernel_arg) {
  if (leaf$type %in% c("bias", "white")) return(leaf)
  what <- sprintf("The %s part of `%s`", leaf$type, kernel_arg)
  if (leaf$type == "user") {
    abort_input(paste(what, "is a function of all columns, and does not go with kernels over objects."), kernel_arg)
  }
  if (length(leaf$columns) == 0L) {
    if (length(used) == 0L) {
      abort_input(sprintf("%s needs columns of numbers, but `%s` has none.", what, arg), kernel_arg)
    }
    leaf$columns <- used
  } else if (any(leaf$columns > length(table$columns)) || any(!leaf$columns %in% used)) {
    at <- leaf$columns[leaf$columns > length(table$columns) | !leaf$columns %in% used][1L]
    abort_input(sprintf("%s looks at column %d of `%s`, which %s.", what, at, arg,
                        if (at > length(table$columns)) "does not exist" else "holds no numbers"), kernel_arg)
  }
  leaf
}

# The matrix of numbers and places, and the kernel with the objects of this table behind those it has.
code_objects <- function(kernel, table, layout, arg) {
  x <- matrix(0, table$n, layout$size, dimnames = if (!is.null(table$labels) ||
                                                      !is.null(layout$names)) list(table$labels, layout$names))
  label <- function(j) if (is.null(layout$names)) arg else paste0(arg, "$", layout$names[j])
  for (j in layout$numbers) {
    x[, j] <- drop(check_matrix(matrix(as_numbers(table$columns[[j]], label(j)), ncol = 1L), label(j)))
  }
  for (j in layout$objects) {
    column <- table$columns[[j]]
    if (is.factor(column)) column <- as.character(column)
    if (is.character(column) && anyNA(column)) {
      abort_input(
        sprintf("`%s` must have no missing values, but element %d is NA.\nRemove it, or put an empty text there.",
                label(j), which(is.na(column))[1L]), arg)
    }
    places <- seq_len(table$n)
    if (is.character(column) && is.null(dim(column))) {
      distinct <- unique(unname(column))
      places <- match(column, distinct)
      column <- distinct
    }
    before <- 0L
    kernel <- map_leaves(kernel, function(leaf) {
      if (!is_object_leaf(leaf) || leaf$columns != j) return(leaf)
      added <- object_reader(leaf$type)(column, label(j), leaf)
      if (length(added) != max(places)) abort_input(sprintf("`%s` must have one object per row.", label(j)), arg)
      before <<- length(leaf$objects)
      leaf$objects <- c(leaf$objects, unname(added))
      leaf$known <- NULL
      leaf
    })
    x[, j] <- before + places
  }
  list(x = x, kernel = kernel)
}

as_numbers <- function(column, arg) {
  if (!(is_plain_numeric(column) || (is.logical(column) && !is.object(column))) || !is.null(dim(column))) {
    fail_input(arg, "numbers", describe(column))
  }
  as.double(column)
}

# Values of the objects computed beforehand, on all threads: of all pairs, or of the first `before` objects (those in
# the matrix `rows`, where it is given) with the later ones.
know_values <- function(kernel, before = 0L, threads = NULL, rows = NULL) {
  threads <- thread_count(threads)
  map_leaves(kernel, function(leaf) {
    if (!is_object_leaf(leaf)) return(leaf)
    leaf$known <- NULL
    size <- length(leaf$objects)
    known <- list(diagonal = core_object_diagonal(leaf, threads, progress_bar("lengths of objects")))
    leaf$known <- known
    from <- if (before == 0L) {
      seq_len(size)
    } else if (is.null(rows)) {
      seq_len(before)
    } else {
      sort(unique(rows[, leaf$columns]))
    }
    to <- if (before == 0L) integer() else before + seq_len(size - before)
    if (length(from) > 0L && as.double(length(from)) * max(length(to), if (before == 0L) size) <= most_known^2) {
      known$values <- core_object_values(leaf, as.double(from), as.double(to), threads,
                                         progress_bar("kernel of objects"))
      known$rows <- as.double(from)
      known$columns <- as.double(if (before == 0L) from else to)
    }
    leaf$known <- known
    leaf
  })
}

# Only the lengths of the objects: for methods that need few of the pairs.
know_lengths <- function(kernel, threads = NULL) {
  threads <- thread_count(threads)
  map_leaves(kernel, function(leaf) {
    if (!is_object_leaf(leaf)) return(leaf)
    leaf$known <- NULL
    leaf$known <- list(diagonal = core_object_diagonal(leaf, threads, progress_bar("lengths of objects")))
    leaf
  })
}

# Without what can be computed again: for fits.
forget_values <- function(kernel) {
  if (!has_objects(kernel)) return(kernel)
  map_leaves(kernel, function(leaf) {
    leaf$known <- NULL
    leaf
  })
}

# Rows as bind_new_objects() gives them, with their kernel attached; and a fit with the kernel that belongs to such
# rows.
attach_kernel <- function(x, kernel) {
  if (!is.null(kernel)) attr(x, "kernel") <- kernel
  x
}

with_kernel_of <- function(object, at) {
  kernel <- attr(at, "kernel")
  if (!is.null(kernel)) object$kernel <- kernel
  object
}

# Only the objects that the rows of `x` use: list(x, kernel).
keep_objects <- function(kernel, x) {
  if (!has_objects(kernel)) return(list(x = x, kernel = kernel))
  kept <- list()
  for (leaf in Filter(is_object_leaf, kernel_leaves(kernel))) {
    j <- leaf$columns
    if (is.null(kept[[as.character(j)]])) kept[[as.character(j)]] <- sort(unique(x[, j]))
  }
  kernel <- map_leaves(kernel, function(leaf) {
    if (!is_object_leaf(leaf)) return(leaf)
    leaf$objects <- leaf$objects[kept[[as.character(leaf$columns)]]]
    leaf$known <- NULL
    leaf
  })
  for (j in names(kept)) x[, as.integer(j)] <- match(x[, as.integer(j)], kept[[j]])
  list(x = x, kernel = kernel)
}

# A kernel over objects where a method takes numbers only.
refuse_objects <- function(leaf, arg) {
  if (!is_object_leaf(leaf) || !is.null(leaf$objects)) return(invisible())
  abort_input(
    sprintf("`%s` has a %s part, which is for objects, but this method takes numbers only.\nSee kernel_matrix().",
                      arg, leaf$type), arg)
}

format_object_options <- function(leaf) {
  describe_kernel <- get0(paste0("describe_kernel_", leaf$type), envir = topenv(), mode = "function")
  if (!is.null(describe_kernel)) return(describe_kernel(leaf))
  plain <- Filter(function(v) is.atomic(v) && length(v) == 1L, leaf$options)
  paste(names(plain), vapply(plain, format, ""), collapse = ", ")
}
