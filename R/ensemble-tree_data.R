# Rows as trees take them: numbers, with factors by the number of their level and NaN where a value is missing.

# list(x, levels): `x` a matrix or dgCMatrix with names; `levels` by column its levels, or NULL where it holds numbers. Ordered factors are numbers to a tree.
tree_data <- function(x, arg = deparse1(substitute(x))) {
  force(arg)
  if (!is.data.frame(x)) {
    x <- check_matrix(x, arg, allow_na = TRUE, allow_sparse = TRUE)
    if (is.null(colnames(x))) {
      dimnames(x) <- list(rownames(x), paste0("V", seq_len(ncol(x))))
    } else if (anyDuplicated(colnames(x)) > 0L || anyNA(colnames(x))) {
      dimnames(x) <- list(rownames(x), make.unique(ifelse(is.na(colnames(x)), "V", colnames(x))))
    }
    return(list(x = x, levels = stats::setNames(vector("list", ncol(x)), colnames(x)), ordered = logical(ncol(x))))
  }
  if (ncol(x) == 0L) fail_input(arg, "a data frame with at least one column", "one without columns")
  if (nrow(x) == 0L) fail_input(arg, "a data frame with at least one row", "one without rows")
  names(x) <- make.unique(names(x))
  parts <- lapply(names(x), function(name) tree_column(x[[name]], name, arg))
  values <- matrix(unlist(lapply(parts, `[[`, "values"), use.names = FALSE), nrow(x), dimnames = list(NULL, names(x)))
  if (is.character(attr(x, "row.names"))) rownames(values) <- attr(x, "row.names")
  list(x = values, levels = stats::setNames(lapply(parts, `[[`, "levels"), names(x)), ordered = vapply(parts, `[[`, NA, "ordered"))
}

tree_column <- function(column, name, arg) {
  if (is.character(column) || is.logical(column)) column <- factor(readable(as.character(column)))
  if (is.factor(column)) {
    if (nlevels(column) == 0L) abort_input(sprintf("Column \"%s\" of `%s` is a factor without levels.", name, arg), arg)
    return(list(values = as.double(unclass(column)) - 1, levels = levels(column), ordered = is.ordered(column)))
  }
  if (!is.numeric(column) || !is.null(dim(column)) || is.object(column) && !inherits(column, "integer64")) {
    abort_input(sprintf("Column \"%s\" of `%s` must be numbers or a factor, but it is %s.", name, arg, describe(column)), arg)
  }
  values <- as.double(column)
  check_finite(values, arg, TRUE, function(i) sprintf("row %d of column \"%s\"", i, name))
  list(values = values, levels = NULL, ordered = FALSE)
}

# Numbers of levels for the core: 0 for numbers and for ordered factors.
tree_level_counts <- function(data) as.integer(ifelse(data$ordered, 0L, lengths(data$levels)))

# Rows to predict for, in the columns of the fit. Levels that the fit has not met get the number after the last: trees send them where missing values go.
tree_newdata <- function(object, newdata, arg = "newdata") {
  if (!is.null(object$design) && is.data.frame(newdata)) newdata <- tree_frame_new(object$design, newdata, arg)
  factors <- lengths(object$column_levels) > 0L
  if (!is.data.frame(newdata)) {
    if (any(factors)) fail_input(arg, "a data frame, for the fit has factors", describe(newdata))
    newdata <- check_matrix(newdata, arg, allow_na = TRUE, allow_sparse = TRUE)
    return(match_columns(newdata, names(object$column_levels), arg))
  }
  names <- names(object$column_levels)
  frame <- match_columns(newdata, names, arg)
  out <- matrix(NA_real_, nrow(frame), length(names), dimnames = list(NULL, names))
  for (j in seq_along(names)) {
    column <- frame[[j]]
    if (!factors[j]) {
      out[, j] <- tree_column(column, names[j], arg)$values
      if (is.factor(column) || is.character(column)) abort_input(sprintf("Column \"%s\" of `%s` must be numbers, as in the fit, but it is %s.", names[j], arg, describe(column)), arg)
      next
    }
    words <- readable(as.character(column))
    at <- match(words, object$column_levels[[j]])
    unseen <- unique(words[is.na(at) & !is.na(words)])
    if (length(unseen) > 0L) {
      message(sprintf("Column \"%s\" of `%s` has %s that the fit has not met, such as \"%s\": they go where missing values go.", names[j], arg,
                      counted(length(unseen), "level", "levels"), unseen[1L]))
      if (!object$ordered[j]) at[is.na(at) & !is.na(words)] <- length(object$column_levels[[j]]) + 1L
    }
    out[, j] <- at - 1
  }
  if (is.character(attr(newdata, "row.names"))) rownames(out) <- attr(newdata, "row.names")
  out
}

# The formula entry of tree methods: variables as they are, factors whole. Interactions are what trees find by themselves.
tree_formula_fit <- function(default, name, ...) {
  frame <- sys.parent()
  env <- parent.frame(2L)
  call <- match.call(sys.function(frame), sys.call(frame), expand.dots = FALSE, envir = env)
  refuse_parts(call, "weights")
  formula <- eval(call$formula, env)
  data <- check_formula_data(formula, if (is.null(call$data)) NULL else eval(call$data, env), TRUE)
  parts <- intersect(c("subset", "weights"), names(call))
  ask <- c(list(quote(stats::model.frame), formula = formula, data = data, drop.unused.levels = TRUE, na.action = quote(stats::na.pass)),
           as.list(call[parts]))
  rows <- tryCatch(eval(as.call(ask), env),
                   error = function(e) abort_input(paste0("The variables of `formula` could not be found or combined: ", conditionMessage(e), "."), "formula"))
  if (nrow(rows) == 0L) abort_input("`data` must have at least one row, but it has none.", "data")
  terms <- stats::terms(rows)
  if (!is.null(stats::model.offset(rows))) refuse_offset()
  if (any(attr(terms, "order") > 1L)) abort_input("Trees find interactions by themselves: name the variables only, as in y ~ a + b.", "formula")
  rows <- formula_rows(rows, if ("na.action" %in% names(call)) eval(call$na.action, env), missing_x = TRUE)
  x <- tree_frame(rows, stats::delete.response(terms))
  weights <- stats::model.weights(rows)
  fit <- do.call(default, c(list(x, stats::model.response(rows)), if (!is.null(weights)) list(weights = weights), list(...)), quote = TRUE)
  fit$formula <- stats::formula(terms)
  fit$design <- list(terms = stats::delete.response(terms), missing_x = TRUE)
  if (!is.null(attr(rows, "na.action"))) fit$na.action <- attr(rows, "na.action")
  fit$call <- generic_call(match.call(sys.function(frame), sys.call(frame), envir = env), name)
  fit
}

# The variables of the right-hand side, those that are matrices (poly(), cbind()) column by column.
tree_frame <- function(frame, terms) {
  names <- vapply(as.list(attr(terms, "variables"))[-1L], deparse1, "")
  columns <- frame[names]
  flat <- lapply(names, function(name) {
    column <- columns[[name]]
    if (!is.matrix(column)) return(stats::setNames(list(column), name))
    stats::setNames(lapply(seq_len(ncol(column)), function(j) as.vector(column[, j])), paste0(name, if (is.null(colnames(column))) seq_len(ncol(column)) else colnames(column)))
  })
  structure(do.call(c, flat), class = "data.frame", row.names = attr(frame, "row.names"))
}

tree_frame_new <- function(design, newdata, arg) {
  lacking <- setdiff(all.vars(design$terms), names(newdata))
  lacking <- lacking[!vapply(lacking, exists, NA, envir = environment(design$terms))]
  if (length(lacking) > 0L) {
    abort_input(sprintf("`%s` must have the variables of the formula, but \"%s\" is missing.%s", arg, lacking[1L], did_you_mean(lacking[1L], names(newdata))), arg)
  }
  frame <- tryCatch(stats::model.frame(design$terms, newdata, na.action = stats::na.pass),
                    error = function(e) abort_input(paste0("`", arg, "` does not fit the formula: ", conditionMessage(e), "."), arg))
  tree_frame(frame, design$terms)
}

# Labels of a classifier: list(y from 0, levels, dropped). Levels without rows are dropped and named.
tree_classes <- function(y, n, arg = "y") {
  if (is.data.frame(y) && length(y) == 1L) y <- y[[1L]]
  if (is.matrix(y) && ncol(y) == 1L) y <- y[, 1L]
  if (is.null(y) || !is.atomic(y) || !is.null(dim(y))) fail_input(arg, "one label per row", describe(y))
  if (length(y) != n) abort_input(sprintf("`%s` must have one label per row, %d, but it has %d.", arg, n, length(y)), arg)
  if (anyNA(y)) abort_input(sprintf("`%s` must not have missing labels, but it has %d, the first in row %d.", arg, sum(is.na(y)), which(is.na(y))[1L]), arg)
  given <- if (is.factor(y)) y else factor(if (is.character(y)) readable(y) else y)
  dropped <- setdiff(levels(given), as.character(unique(given)))
  if (length(dropped) > 0L) {
    message(sprintf("No row has the %s %s of `%s`: left out.", if (length(dropped) == 1L) "level" else "levels", paste0("\"", utils::head(dropped, 3L), "\"", collapse = ", "), arg))
    given <- droplevels(given)
  }
  if (nlevels(given) < 2L) abort_input(sprintf("`%s` must have at least two classes, but every label is \"%s\".", arg, levels(given)), arg)
  list(y = as.double(unclass(given)) - 1, levels = levels(given))
}
