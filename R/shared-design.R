# What supervised methods share: designs, responses, formulas, new data.

# The call of a method as the user wrote it: by the name of the generic.
generic_call <- function(call, name) {
  call[[1L]] <- as.name(name)
  shorten_call(call)
}

# For methods with `...` that they do not pass on: a misspelt argument is an error, not silence.
refuse_dots <- function(...) {
  if (...length() == 0L) return(invisible())
  name <- names(list(...))[1L]
  abort_input(paste0("There is no argument ", if (length(name) == 1L && nzchar(name)) paste0("`", name, "`") else "for one of the values given",
                     ". See the help page for those there are."))
}

# A design as the solvers take it: a double matrix, or a dgCMatrix where `allow_sparse`, with names for all its columns.
check_design <- function(x, arg = deparse1(substitute(x)), allow_sparse = TRUE, min_rows = 2L) {
  force(arg)
  x <- check_matrix(x, arg, min_rows = min_rows, allow_sparse = allow_sparse)
  if (is.null(colnames(x))) {
    dimnames(x) <- list(rownames(x), paste0("V", seq_len(ncol(x))))
  } else if (anyDuplicated(colnames(x)) > 0L || anyNA(colnames(x))) {
    dimnames(x) <- list(rownames(x), make.unique(ifelse(is.na(colnames(x)), "V", colnames(x))))  # coefficients are asked for by name
  }
  x
}

# The response of a gaussian or binomial model as doubles: list(y, levels). Two-level factors, logicals and 0/1 are binomial; the second
# level counts as success.
check_response <- function(y, n, family = "gaussian", arg = deparse1(substitute(y))) {
  force(arg)
  if (missing(y)) fail_missing(arg)
  if (is.data.frame(y) && length(y) == 1L) y <- y[[1L]]
  if (is.matrix(y) && ncol(y) == 1L) y <- y[, 1L]
  if (family == "gaussian") {
    if (is.logical(y)) y <- as.double(y)
    return(list(y = unname(check_vector(y, arg, length = n)), levels = NULL))
  }
  if (is.character(y)) y <- factor(y)
  labels <- c("0", "1")
  if (is.factor(y)) {
    if (nlevels(y) != 2L) {
      abort_input(sprintf(paste0("`%s` must have two classes for a binomial model, but it is a factor with %d levels.\n",
                                 "Drop unused levels with droplevels()."),
                          arg, nlevels(y)), arg)
    }
    labels <- levels(y)
    y <- as.integer(y) - 1
  } else if (is.logical(y)) {
    labels <- c("FALSE", "TRUE")
    y <- as.double(y)
  }
  y <- unname(check_vector(y, arg, length = n, lower = 0, upper = 1))
  if (all(y == y[1L]) && y[1L] %in% c(0, 1)) {
    abort_input(sprintf("`%s` must contain both classes, but every observation is \"%s\".", arg, labels[y[1L] + 1]), arg)
  }
  list(y = y, levels = labels)
}

# A formula and its data as list(x, y, terms, xlevels, contrasts). The intercept is the method's own business, so its column is taken out.
design_from_formula <- function(formula, data, response = TRUE) {
  if (!inherits(formula, "formula") || (response && length(formula) != 3L)) {
    fail_input("formula", "a formula with a left-hand side, such as y ~ .", describe(formula))
  }
  if (missing(data) || is.null(data)) {
    data <- environment(formula)
  } else if (is.matrix(data)) {
    data <- as.data.frame(data)
  } else if (!is.data.frame(data) && !is.environment(data)) {
    fail_input("data", "a data frame with the variables of the formula", describe(data))
  }
  frame <- tryCatch(
    stats::model.frame(formula, data, na.action = stats::na.pass, drop.unused.levels = TRUE),
    error = function(e) abort_input(paste0("The variables of `formula` could not be found or combined: ", conditionMessage(e), "."), "formula")
  )
  if (nrow(frame) == 0L) abort_input("`data` must have at least one row, but it has none.", "data")
  refuse_missing(frame, "data")
  terms <- stats::terms(frame)
  x <- frame_columns(terms, frame, NULL)
  if (ncol(x) == 0L) abort_input("`formula` must have at least one term on its right-hand side.", "formula")
  list(x = x, y = stats::model.response(frame), terms = stats::delete.response(terms), xlevels = stats::.getXlevels(terms, frame),
       contrasts = attr(x, "contrasts"))
}

refuse_missing <- function(frame, arg) {
  for (name in names(frame)) {
    column <- frame[[name]]
    at <- which(is.na(if (is.matrix(column)) rowSums(column) else column))
    if (length(at) > 0L) {
      abort_input(sprintf(paste0("`%s` must not have missing values, but \"%s\" has %d, the first in row %d.\n",
                                 "Drop those rows with na.omit(), or impute them."),
                          arg, name, length(at), at[1L]), arg)
    }
  }
}

frame_columns <- function(terms, frame, contrasts) {
  x <- stats::model.matrix(terms, frame, contrasts.arg = contrasts)
  made_with <- attr(x, "contrasts")
  x <- x[, colnames(x) != "(Intercept)", drop = FALSE]
  attr(x, "contrasts") <- made_with
  x
}

# Rows to predict for, in the columns of the fit: through the terms when the fit came from a formula, else a matrix of as many columns, taken
# by name where names differ in order.
new_design <- function(newx, names, design = NULL, arg = "newdata", allow_sparse = TRUE) {
  if (!is.null(design) && is.data.frame(newx)) {
    missing_variables <- setdiff(all.vars(design$terms), names(newx))
    missing_variables <- missing_variables[!vapply(missing_variables, exists, NA, envir = environment(design$terms))]
    if (length(missing_variables) > 0L) {
      abort_input(sprintf("`%s` must have the variables of the formula, but \"%s\" is missing.", arg, missing_variables[1L]), arg)
    }
    frame <- tryCatch(
      stats::model.frame(design$terms, newx, na.action = stats::na.pass, xlev = design$xlevels),
      error = function(e) abort_input(paste0("`", arg, "` does not fit the formula: ", conditionMessage(e), "."), arg)
    )
    refuse_missing(frame, arg)
    newx <- frame_columns(design$terms, frame, design$contrasts)
  }
  newx <- check_matrix(newx, arg, allow_sparse = allow_sparse)
  if (!is.null(colnames(newx)) && all(names %in% colnames(newx))) return(newx[, names, drop = FALSE])
  if (ncol(newx) != length(names)) {
    abort_input(sprintf("`%s` must have the %d columns of the fit, but it has %d.", arg, length(names), ncol(newx)), arg)
  }
  newx
}

# What augment() gives: the data, or the response alone, with the fitted values and residuals of the fit.
augment_rows <- function(data, y, fitted) {
  if (is.null(data)) data <- data.frame(y = y)
  if (!is.data.frame(data) || nrow(data) != length(fitted)) {
    fail_input("data", sprintf("a data frame with the %d rows of the fit", length(fitted)), describe(data))
  }
  data$.fitted <- unname(fitted)
  data$.resid <- unname(y - fitted)
  data
}
