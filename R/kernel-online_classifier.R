# Online classifiers: what they share. They see one example at a time, predict it, are told its class, and learn.
#
# How a learner moves in. Its constructor checks its own settings and ends with
#
#   fit <- new_online(class, settings, state, levels, call)      # nothing seen yet; `state` is what learn_chunk() wants to find
#   learn_online(fit, x, y, epochs, shuffle)                     # x: matrix, data frame, sparse matrix, or anything data_chunks() takes
#
# and it has two methods of generics that are not exported:
#
#   learn_chunk(fit, x, y, order, id)   Learns from one piece. x: double matrix or (where settings$sparse) a dgCMatrix, in the columns of the fit and
#       without NA (where not settings$allow_na); y: class numbers 1..k; order: the rows to visit, in turn; id: the number of each of these in the
#       stream (order and id are of equal length; a learner that picks its own order may ignore `order`). Gives a list with
#         state    the new state. Plain R data only (no pointers): a fit that was saved and read again must go on exactly as the one that was not
#         wrong    logical, one per example in the order visited: was the prediction made *before* learning wrong? NA: there was none
#         support  integer, likewise: how many examples (or attributes) the state holds after it
#         changed  logical, likewise: did the example change the state?
#   online_scores(fit, x)               Decision values for the rows of x: for two classes a vector, positive for the second class; for
#       more a matrix with a column per class. predict() takes the largest; ties go to the first class.
#
# and, where it has more to say, online_facts(fit): a named character vector, shown by print() and summary(); and online_finish(fit), called when
# a run has ended: it may add elements for users to the fit, made from the state.
#
# Everything else is here: update(), predict(), plot(), summary(), tidy(), glance(), online_compare(), classes declared beforehand, columns by name,
# formulas (online_formula()), missing values, the record of mistakes. What a fit holds: levels, columns, settings, state, trials, mistakes, changes,
# support,
# skipped, epochs, record (see thin_record()), design (of a formula), call.

new_online <- function(class, settings, state, levels, call) {
  new_fit(c(class, "online_classifier"), levels = levels, columns = NULL, settings = settings, state = state, trials = 0, mistakes = 0, changes = 0,
          support = 0L, skipped = 0, rows_seen = 0, record = empty_record(), design = NULL, call = call, convergence = list())
}

learn_chunk <- function(fit, x, y, order, id) UseMethod("learn_chunk")

online_scores <- function(fit, x) UseMethod("online_scores")

# What of a piece crosses, and a state that has `part` once it has begun.
online_piece <- function(y, order, id) list(y = replace(y, is.na(y), 0L), order = order, id = as.double(id))
begun <- function(state, part) if (is.null(state[[part]])) NULL else state

online_facts <- function(fit) UseMethod("online_facts")

#' @export
online_facts.default <- function(fit) character()

online_finish <- function(fit) UseMethod("online_finish")

#' @export
online_finish.default <- function(fit) fit

# Labels -------------------------------------------------------------------------------------------------------------------------------------------

# The classes of a stream: those declared, else those of `y`. `classes`: how many there may be.
online_levels <- function(levels, y, classes = Inf, arg = "y") {
  if (!is.null(levels)) {
    if (is.factor(levels)) levels <- levels(levels)
    plain <- (is.character(levels) || is_plain_numeric(levels) || is.logical(levels)) && is.null(dim(levels)) && !is.object(levels)
    if (!plain || anyNA(levels) || length(levels) < 2L) fail_input("levels", "the names of two classes or more (or NULL)", describe(levels))
    levels <- label_text(levels)
    check_names_unique(levels, "levels")
    arg <- "levels"
  } else {
    levels <- levels_of(y, arg)
  }
  if (length(levels) > classes) {
    abort_input(sprintf("This method takes two classes, but `%s` has %d.\nUse budget_perceptron() or kernel_perceptron() for more.", arg,
                        length(levels)), arg)
  }
  levels
}

levels_of <- function(y, arg) {
  if (is.null(y)) abort_input("`levels` must be given for data in pieces: the first piece need not show all classes.", "levels")
  y <- plain_labels(y, arg)
  if (is.factor(y)) {
    found <- levels(y)
  } else if (is.logical(y)) {
    found <- c("FALSE", "TRUE")
  } else {
    found <- sort(unique(y[!is.na(y)]))
    if (is.numeric(y)) {
      if (any(found != round(found))) abort_input(sprintf("Numbers in `%s` must be whole when they stand for classes.", arg), arg)
      if (all(found %in% c(0, 1))) found <- c(0, 1)
      if (all(found %in% c(-1, 1))) found <- c(-1, 1)
    }
    found <- label_text(found)
  }
  if (length(found) < 2L) {
    abort_input(sprintf("`%s` must show two classes, but it has %s.\nDeclare the classes with `levels`.", arg,
                        if (length(found) == 1L) sprintf("only \"%s\"", found) else "none"), arg)
  }
  found
}

plain_labels <- function(y, arg) {
  if (is.data.frame(y) && length(y) == 1L) y <- y[[1L]]
  if (is.matrix(y) && !isS4(y) && ncol(y) == 1L) y <- y[, 1L]
  plain <- is.factor(y) || ((is.character(y) || is.logical(y) || is_plain_numeric(y)) && is.null(dim(y)) && !is.object(y))
  if (!plain) fail_input(arg, "labels: a factor, text, logical or whole numbers", describe(y))
  y
}

# A number as the text that factor() makes of it, so that predictions compare with numeric labels, whatever options() say: 1e5 is "1e+05".
label_text <- function(y) {
  old <- options(scipen = 0L, OutDec = ".")
  on.exit(options(old))
  as.character(y)
}

label_codes <- function(y, levels, arg = "y") {
  text <- words_of(plain_labels(y, arg), levels)
  codes <- match(text, levels)
  unknown <- which(is.na(codes) & !is.na(text))
  if (length(unknown) > 0L) {
    abort_input(sprintf("`%s` must have the classes of the fit (%s), but label %d is \"%s\".\nDeclare all classes beforehand, with `levels`.", arg,
                        paste0("\"", utils::head(levels, 6L), "\"", collapse = ", "), unknown[1L], text[unknown[1L]]), arg)
  }
  codes
}

# Learning -----------------------------------------------------------------------------------------------------------------------------------------

# Settings every learner has: what a missing value does, and whether the learner takes sparse matrices.
online_settings <- function(na, sparse = TRUE, allow_na = FALSE, ...) {
  list(na = check_choice(na, c("error", "skip")), sparse = sparse, allow_na = allow_na, ...)
}

is_chunk_source <- function(x) {
  inherits(x, c("granary_chunks", "DBIResult")) || is.function(x) || (is.character(x) && is.null(dim(x)))
}

# The pieces of whatever the user gave. Data in memory is one piece.
as_source <- function(x, y) {
  if (is_chunk_source(x)) return(data_chunks(x, y))
  if (is.null(x)) fail_input("x", "a numeric matrix, a data frame, or a source as data_chunks() makes it", describe(x))
  rows <- if (length(dim(x)) == 2L) nrow(x) else 1L
  chunks_from_memory(x, y, max(rows, 1L))
}

learn_online <- function(fit, x, y = NULL, epochs = 1L, shuffle = FALSE) {
  source <- as_source(x, y)
  if (!is.null(source$close)) on.exit(source$close())
  before <- fit$rows_seen
  if (epochs > 1L && is.null(source$rewind)) {
    abort_input(sprintf("`epochs` must be 1 for %s, which can be read only once.", source$kind), "epochs")
  }
  progress <- progress_bar("learning")
  for (epoch in seq_len(epochs)) {
    if (!is.null(source$rewind)) source$rewind()
    fit$rows_seen <- if (epoch == 1L) fit$rows_seen else start
    start <- fit$rows_seen
    repeat {
      piece <- read_labelled(source)
      if (is.null(piece)) break
      fit <- learn_piece(fit, piece$x, piece$y, shuffle)
      if (!is.null(progress) && !is.na(source$rows)) progress((epoch - 1 + (fit$rows_seen - start) / source$rows) / epochs)
    }
  }
  if (is_chunk_source(x) && !is.function(x) && fit$rows_seen == before) {
    warn_input(sprintf("There were no rows in %s: nothing was learnt.", source$kind), "x")
  }
  online_finish(fit)
}

learn_piece <- function(fit, x, y, shuffle) {
  x <- online_design(fit, x, "x")
  fit <- online_begin(fit, x)
  if (fit$begins) x <- online_scaled(fit, x)
  fit$begins <- NULL
  codes <- label_codes(y, fit$levels)
  n <- nrow(x)
  if (length(codes) != n) abort_input(sprintf("`y` must have one label per row, %d, but it has %d.", n, length(codes)), "y")
  keep <- usable_rows(fit, x, codes)
  order <- which(keep)
  if (shuffle) order <- order[sample.int(length(order))]
  if (length(order) > 0L) {
    if (!all(keep) && !fit$settings$allow_na) x[which(!keep), ] <- 0  # rows that are never visited
    out <- learn_chunk(fit, x, codes, order, fit$rows_seen + order)
    fit$state <- out$state
    fit$record <- extend_record(fit$record, fit, out)
    fit$trials <- fit$trials + length(out$wrong)
    fit$mistakes <- fit$mistakes + sum(out$wrong, na.rm = TRUE)
    fit$changes <- fit$changes + sum(out$changed)
    fit$support <- out$support[length(out$support)]
  }
  fit$skipped <- fit$skipped + sum(!keep)
  fit$rows_seen <- fit$rows_seen + n
  fit
}

# A row without label cannot be learnt from; one with missing inputs only where the learner knows what to do.
usable_rows <- function(fit, x, codes) {
  bad <- is.na(codes)
  if (!fit$settings$allow_na) bad <- bad | missing_inputs(x)
  if (any(bad) && fit$settings$na == "error") {
    at <- which(bad)[1L]
    abort_input(sprintf("%s must have no missing values, but row %d has one.\nUse `na = \"skip\"` to pass over such rows.",
                        if (is.na(codes[at])) "`y`" else "`x`", at), if (is.na(codes[at])) "y" else "x")
  }
  !bad
}

missing_inputs <- function(x) {
  values <- if (isS4(x)) x@x else x
  if (!is.na(sum(values))) return(logical(nrow(x)))
  if (!isS4(x)) return(is.na(rowSums(x)))
  seq_len(nrow(x)) %in% (x@i[is.na(x@x)] + 1L)
}

# The first piece decides which columns there are, and how they are scaled.
online_begin <- function(fit, x) {
  fit$begins <- is.null(fit$columns)
  if (!fit$begins) return(fit)
  fit$columns <- column_names(x)
  fit$named <- !is.null(colnames(x))
  complete <- which(!missing_inputs(x))
  varies <- function() any(apply(x[complete, , drop = FALSE], 2L, function(v) any(v != v[1L])))
  if (isTRUE(fit$settings$standardize) && !isS4(x) && length(complete) > 1L && varies()) fit$scaling <- svm_scaling(x, complete, TRUE, FALSE)
  fit
}

online_scaled <- function(fit, x) if (is.null(fit$scaling) || isS4(x)) x else svm_scale(x, fit$scaling)

# Points as they came.
online_unscaled <- function(fit, x) {
  if (is.null(fit$scaling) || isS4(x)) return(x)
  factor <- ifelse(fit$scaling$factor == 0, 1, fit$scaling$factor)
  t(t(x) / factor + fit$scaling$centre)
}

# Inputs in the columns of the fit, scaled as its first ones were.
online_design <- function(fit, x, arg) online_scaled(fit, online_columns(fit, x, arg))

online_columns <- function(fit, x, arg) {
  if (is.null(fit$columns) && is.null(fit$design)) return(check_matrix(x, arg, allow_na = TRUE, allow_sparse = fit$settings$sparse))
  if (!is.null(fit$design) && is.data.frame(x)) {
    if (!isTRUE(fit$design$missing_x)) return(new_design(x, fit$columns, fit$design, arg))
    return(match_columns(frame_columns_new(x, fit$design, arg), fit$columns, arg))
  }
  x <- check_matrix(x, arg, allow_na = TRUE, allow_sparse = fit$settings$sparse)
  if (!is.null(colnames(x)) && all(fit$columns %in% colnames(x))) {
    return(if (identical(colnames(x), fit$columns)) x else x[, fit$columns, drop = FALSE])
  }
  unknown <- setdiff(colnames(x), fit$columns)
  if (length(unknown) > 0L && !is.null(colnames(x)) && isTRUE(fit$named)) {
    abort_input(sprintf("`%s` must have the columns of the fit, but it has no \"%s\".", arg, setdiff(fit$columns, colnames(x))[1L]), arg)
  }
  if (ncol(x) != length(fit$columns)) {
    abort_input(sprintf("`%s` must have the %d columns of the fit, but it has %d.", arg, length(fit$columns), ncol(x)), arg)
  }
  x
}

column_names <- function(x) {
  if (is.null(colnames(x))) paste0("V", seq_len(ncol(x))) else make.unique(ifelse(is.na(colnames(x)), "V", colnames(x)))
}

# The record of a run --------------------------------------------------------------------------------------------------------------------------------

# Cumulative mistakes, changes and support after trials that are multiples of `stride`, a power of two that keeps them few. What is kept depends on
# the number of
# trials only, not on how they were cut into pieces.
record_points <- 4096

empty_record <- function() {
  list(stride = 1, table = data.frame(trial = numeric(), mistakes = numeric(), changes = numeric(), support = integer()))
}

extend_record <- function(record, fit, out) {
  total <- fit$trials + length(out$wrong)
  stride <- record$stride
  while (total / stride > record_points) stride <- 2 * stride
  table <- record$table
  if (stride > record$stride) table <- table[table$trial %% stride == 0, ]
  at <- seq_len(total %/% stride - fit$trials %/% stride) * stride + fit$trials %/% stride * stride - fit$trials
  wrong <- out$wrong
  wrong[is.na(wrong)] <- FALSE
  new <- data.frame(trial = fit$trials + at, mistakes = fit$mistakes + cumsum(wrong)[at], changes = fit$changes + cumsum(out$changed)[at],
                    support = out$support[at])
  table <- rbind(table, new)
  rownames(table) <- NULL
  list(stride = stride, table = table)
}

# The record with the last trial, whether or not it is on the grid.
full_record <- function(fit) {
  table <- fit$record$table
  last <- if (nrow(table) > 0L) table$trial[nrow(table)] else 0
  if (last < fit$trials) {
    table <- rbind(table, data.frame(trial = fit$trials, mistakes = fit$mistakes, changes = fit$changes, support = fit$support))
  }
  rownames(table) <- NULL
  table
}
