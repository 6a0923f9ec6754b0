# What supervised methods share: designs, responses, formulas, new data.

# The call of a method as the user wrote it: by the name of the generic.
generic_call <- function(call, name) {
  call[[1L]] <- as.name(name)
  shorten_call(call)
}

# What a generic with a formula method looks at: the argument named `formula` wherever it stands, as in lasso(formula = y ~ a, d), otherwise the first.
formula_or_first <- function(first, ...) {
  given <- ...names()
  if ("formula" %in% given) return(...elt(match("formula", given)))
  if (missing(first)) NULL else first
}

# What other packages call some arguments.
foreign_words <- c(newx = "newdata", new_data = "newdata", se.fit = "se", scale = "standardize", maxit = "max_iter", thresh = "tol")

# For methods with `...` that they do not pass on: a misspelt argument is an error, not silence. `known` are the words that were possible, by default
# the arguments of the function that calls.
refuse_dots <- function(..., known = names(formals(sys.function(sys.parent())))) {
  if (...length() == 0L) return(invisible())
  given <- names(list(...))
  name <- if (is.null(given)) "" else given[1L]
  if (!nzchar(name)) abort_input("There is a value too many: it has no name and belongs to no argument. See the help page for the arguments there are.")
  known <- setdiff(known, c("...", given))
  ours <- foreign_words[name]
  if (!is.na(ours) && ours %in% known) {
    abort_input(sprintf("There is no argument `%s`. Here it is called `%s`.", name, ours), name)
  }
  abort_input(paste0("There is no argument `", name, "`.", did_you_mean(name, known, "`"), " See the help page for those there are."), name)
}

# " Did you mean `lambda`?" where a word is near enough, else nothing.
did_you_mean <- function(word, known, quote = "\"") {
  if (length(known) == 0L || !is.character(known) || !is.character(word)) return("")
  word <- readable(word)
  known <- readable(known)
  distance <- drop(utils::adist(word, known, ignore.case = TRUE))
  starts <- startsWith(known, word) | startsWith(word, known)
  distance[starts] <- pmin(distance[starts], 1)
  near <- known[which.min(distance)]
  if (min(distance) <= max(1, round(nchar(near) / 3))) paste0(" Did you mean ", quote, near, quote, "?") else ""
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

# The formula method of an estimator: its design by model.frame(), the rest by the default method.
#
#   lasso.formula <- function(formula, data = NULL, weights, subset, na.action, offset, ...) {
#     formula_fit(lasso.default, "lasso", takes = c("weights", "offset", "intercept"), ...)
#   }
#
# `takes` says which of weights, offset and intercept the default method has: those are passed on, the others are refused where the formula or the call
# has them. `missing_x`: the method takes missing attributes (not responses). weights, subset and offset are looked up in `data`, as lm() does it; rows with missing values are an error unless `na.action` says otherwise.
formula_fit <- function(default, name, takes = character(), ..., response = TRUE, missing_x = FALSE) {
  frame <- sys.parent()
  call <- match.call(sys.function(frame), sys.call(frame), expand.dots = FALSE, envir = parent.frame(2L))
  refuse_parts(call, takes)
  design <- formula_design(call, parent.frame(2L), takes, response, missing_x)
  arguments <- list(design$x)
  if (response) arguments <- c(arguments, list(design$y))
  for (part in intersect(takes, c("weights", "offset"))) if (!is.null(design[[part]])) arguments[[part]] <- design[[part]]
  if ("intercept" %in% takes && !design$intercept) {
    if (isTRUE(list(...)$intercept)) abort_input("The formula leaves the intercept out (`0 +`), but `intercept` is TRUE. Change one of them.", "intercept")
    arguments$intercept <- FALSE
  }
  dots <- list(...)
  if ("intercept" %in% names(arguments)) dots$intercept <- NULL
  fit <- do.call(default, c(arguments, dots), quote = TRUE)
  shown <- match.call(sys.function(frame), sys.call(frame), envir = parent.frame(2L))
  keep_design(fit, design, generic_call(shown, name))
}

# What a fit remembers of its formula: enough for predict(), formula(), terms(), model.frame() and update().
keep_design <- function(fit, design, call) {
  fit$formula <- design$formula
  fit$design <- design[c("terms", "xlevels", "contrasts", "missing_x")]
  if (!is.null(design$na.action)) fit$na.action <- design$na.action
  fit$call <- call
  fit
}

# `call`: a matched call with formula, data and perhaps weights, subset, na.action, offset; `env` where the user wrote it.
formula_design <- function(call, env, takes = c("weights", "offset", "intercept"), response = TRUE, missing_x = FALSE) {
  formula <- eval(call$formula, env)
  data <- check_formula_data(formula, if (is.null(call$data)) NULL else eval(call$data, env), response)
  parts <- intersect(c("subset", "weights", "offset"), names(call))
  ask <- c(list(quote(stats::model.frame), formula = formula, data = data, drop.unused.levels = TRUE, na.action = quote(stats::na.pass)),
           as.list(call[parts]))
  frame <- tryCatch(
    eval(as.call(ask), env),
    error = function(e) abort_input(paste0("The variables of `formula` could not be found or combined: ", conditionMessage(e), "."), "formula")
  )
  if (nrow(frame) == 0L) abort_input("`data` must have at least one row, but it has none.", "data")
  frame <- formula_rows(frame, if ("na.action" %in% names(call)) eval(call$na.action, env), missing_x)
  terms <- stats::terms(frame)
  x <- frame_columns(terms, frame, NULL)
  if (ncol(x) == 0L) abort_input("`formula` must have at least one term on its right-hand side.", "formula")
  design <- list(x = x, y = if (response) stats::model.response(frame), terms = stats::delete.response(terms), formula = stats::formula(terms),
                 xlevels = stats::.getXlevels(terms, frame), contrasts = attr(x, "contrasts"), intercept = attr(terms, "intercept") == 1L,
                 weights = stats::model.weights(frame), offset = stats::model.offset(frame), na.action = attr(frame, "na.action"),
                 missing_x = missing_x)
  if (!is.null(design$offset) && !"offset" %in% takes) refuse_offset()
  if (!is.null(design$weights) && !"weights" %in% takes) refuse_weights()
  design
}

refuse_offset <- function() abort_input("This method has no offset: take offset() out of the formula, or subtract it from the response.", "offset")
refuse_weights <- function() abort_input("This method takes no case weights: leave `weights` out, or repeat the rows.", "weights")

# Of a call whose method has no such argument, before the dots are looked at: what `weights` names may be found in the data only.
refuse_parts <- function(call, takes) {
  others <- setdiff(names(call$...), takes)
  if ("weights" %in% others) refuse_weights()
  if ("offset" %in% others) refuse_offset()
}

check_formula_data <- function(formula, data, response) {
  if (!inherits(formula, "formula") || (response && length(formula) != 3L)) {
    fail_input("formula", "a formula with a left-hand side, such as y ~ .", describe(formula))
  }
  if (is.null(data)) return(environment(formula))
  if (is.matrix(data)) return(as.data.frame(data))
  if (!is.data.frame(data) && !is.environment(data) && !is.list(data)) {
    fail_input("data", "a data frame with the variables of the formula", describe(data))
  }
  data
}

# `action`: NULL refuses missing values; otherwise a function or its name, as for lm().
formula_rows <- function(frame, action, missing_x = FALSE) {
  if (is.null(action)) {
    refuse_missing(if (missing_x) frame[attr(attr(frame, "terms"), "response")] else frame, "data")
    return(frame)
  }
  terms <- attr(frame, "terms")
  kept <- match.fun(action)(frame)
  if (nrow(kept) == 0L) abort_input("No row of `data` is left once those with missing values are taken out.", "data")
  refuse_missing(kept, "data")
  attr(kept, "terms") <- terms
  kept
}

refuse_missing <- function(frame, arg) {
  for (name in names(frame)) {
    column <- frame[[name]]
    at <- which(is.na(if (is.matrix(column)) rowSums(column) else column))
    if (length(at) > 0L) {
      abort_input(sprintf(paste0("`%s` must not have missing values, but \"%s\" has %d, the first in row %d.\n",
                                 "Use na.action = na.omit to leave those rows out, or impute them."),
                          arg, name, length(at), at[1L]), arg)
    }
  }
}

# The columns of a frame without the intercept, which is the method's own business.
frame_columns <- function(terms, frame, contrasts) {
  x <- stats::model.matrix(terms, frame, contrasts.arg = contrasts)
  made_with <- attr(x, "contrasts")
  x <- x[, colnames(x) != "(Intercept)", drop = FALSE]
  attr(x, "contrasts") <- made_with
  x
}

# Rows to predict for, in the columns of the fit: through the terms when the fit came from a formula; otherwise by name, or by position where one of
# the two has no names of its own.
new_design <- function(newx, names, design = NULL, arg = "newdata", allow_sparse = TRUE) {
  if (!is.null(design) && is.data.frame(newx)) newx <- frame_columns_new(newx, design, arg)
  if (is.null(design) && is.data.frame(newx) && all(names %in% names(newx))) newx <- newx[names]  # other columns may be text
  newx <- check_matrix(newx, arg, allow_sparse = allow_sparse)
  match_columns(newx, names, arg)
}

frame_columns_new <- function(newx, design, arg) {
  missing_variables <- setdiff(all.vars(design$terms), names(newx))
  missing_variables <- missing_variables[!vapply(missing_variables, exists, NA, envir = environment(design$terms))]
  if (length(missing_variables) > 0L) {
    abort_input(sprintf("`%s` must have the variables of the formula, but \"%s\" is missing.", arg, missing_variables[1L]), arg)
  }
  frame <- tryCatch(
    stats::model.frame(design$terms, newx, na.action = stats::na.pass, xlev = design$xlevels),
    error = function(e) abort_input(paste0("`", arg, "` does not fit the formula: ", conditionMessage(e), "."), arg)
  )
  if (!isTRUE(design$missing_x)) refuse_missing(frame, arg)
  frame_columns(design$terms, frame, design$contrasts)
}

# The columns `names` of x, in that order. Where both sides have names they decide: a name that is missing is an error, others are ignored.
match_columns <- function(x, names, arg = "newdata") {
  given <- colnames(x)
  made_up <- identical(as.vector(names), paste0("V", seq_along(names)))  # the fit had no names
  if (!is.null(given) && all(names %in% given)) {
    if (identical(given, names)) return(x)
    return(x[, names, drop = FALSE])
  }
  if (!is.null(given) && any(nzchar(given)) && !made_up && !identical(given, paste0("V", seq_along(given)))) {
    lacking <- setdiff(names, given)
    abort_input(sprintf("`%s` must have the columns of the fit, but %s missing.%s\nColumns are taken by name; take the names off to give them by position.", arg,
                        if (length(lacking) == 1L) paste0("\"", lacking, "\" is") else paste0("\"", lacking[1L], "\" and ", length(lacking) - 1L, " more are"),
                        did_you_mean(lacking[1L], setdiff(given, names))), arg)
  }
  if (ncol(x) != length(names)) {
    abort_input(sprintf("`%s` must have the %d columns of the fit, but it has %d.", arg, length(names), ncol(x)), arg)
  }
  x
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
