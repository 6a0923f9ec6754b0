# What every fit has in common: its class, its call, how the solver ended, and how it prints.

#' What every granary fit can do
#'
#' Every estimator of granary returns a list of class `granary_fit` with the estimates under the names the literature uses, the call,
#' and `convergence`: whether the solver finished, after how many iterations, and with which certificate. The methods below work for all of them;
#' an estimator adds its own where it has more to say.
#'
#' `glance()` gives one row per fit (one per penalty on a path): whether the solver converged, iterations, duality gap, residual and
#' seconds, with the log-likelihood, degrees of freedom and number of observations where the fit has them.
#'
#' @param x,object A fit.
#' @param ... Passed on to or from other methods; not used here.
#' @return `print()` returns its argument invisibly, `summary()` an object of class `summary_granary_fit`, `glance()` a data frame.
#' @seealso [granary_find()], [granary_catalog()], [granary_report()], [reproduce()], [granary_session()]
#' @name granary_fit
#' @examples
#' # the methods shown on the smallest of fits
#' fit <- structure(
#'   list(
#'     mean = c(a = 1, b = 2), call = quote(average(x)),
#'     convergence = list(converged = TRUE, iterations = 1L, gap = 0, seconds = 0.01)
#'   ),
#'   class = c("granary_average", "granary_fit")
#' )
#' fit
#' summary(fit)
#' glance(fit)
NULL

# `class` from the most to the least special, without the prefix: new_fit(c("ggm_lasso", "ggm"), precision = ...).
new_fit <- function(class, ..., call, convergence) {
  seal(structure(
    c(list(...), list(convergence = convergence, call = shorten_call(call))),
    class = c(paste0("granary_", class), "granary_fit")
  ))
}

convergence_fields <- c("converged", "iterations", "gap", "residual", "seconds", "message", "reason")

# One row per problem solved, from one record, from a record of vectors, or from a list of records (a path).
convergence_table <- function(convergence) {
  if (is.null(convergence)) convergence <- list()
  several <- is.list(convergence) && length(convergence) > 0L && !any(names(convergence) %in% convergence_fields)
  if (several) return(do.call(rbind, lapply(unname(convergence), convergence_table)))
  empty <- list(converged = NA, iterations = NA_integer_, gap = NaN, residual = NaN, seconds = NaN, message = "", reason = "unsaid")
  for (field in convergence_fields) {
    if (length(convergence[[field]]) > 0L) empty[[field]] <- convergence[[field]]
  }
  as.data.frame(empty, stringsAsFactors = FALSE)
}

# One line: "converged in 7 iterations, duality gap 3e-09, 0.02 s".
format_convergence <- function(convergence) {
  table <- convergence_table(convergence)
  if (all(is.na(table$converged))) return("no iterations were needed")
  done <- table$converged %in% TRUE
  count <- nrow(table)
  reached <- format_reached(table)
  line <- if (count == 1L) {
    if (done) paste("converged in", reached) else paste("NOT converged: stopped after", reached)
  } else if (all(done)) {
    paste0("all ", count, " problems converged in ", reached)
  } else {
    paste0("NOT converged: ", sum(!done), " of ", count, " problems stopped early, after ", format_reached(table[!done, ]))
  }
  notes <- unique(table$message[if (all(done)) rep(TRUE, count) else !done])
  paste(c(line, notes[!is.na(notes) & nzchar(notes)]), collapse = "; ")
}

format_reached <- function(table) {
  short <- function(x) format(x, digits = 2L)
  worst <- function(x) if (any(!is.na(x))) max(x, na.rm = TRUE) else NA
  iterations <- range(c(table$iterations, NA), na.rm = !all(is.na(table$iterations)))
  steps <- if (anyNA(iterations)) {
    "an unknown number of iterations"
  } else if (iterations[1L] == iterations[2L]) {
    paste0(iterations[1L], if (iterations[1L] == 1) " iteration" else " iterations")
  } else {
    paste0(iterations[1L], " to ", iterations[2L], " iterations")
  }
  most <- if (nrow(table) > 1L) "largest " else ""
  gap <- worst(table$gap)
  residual <- worst(table$residual)
  seconds <- sum(table$seconds, na.rm = TRUE)
  paste(c(
    steps,
    if (!is.na(gap)) paste0(most, "duality gap ", short(max(gap, 0))),
    if (is.na(gap) && !is.na(residual)) paste0(most, "residual ", short(residual)),
    if (!all(is.na(table$seconds))) paste0(short(signif(seconds, 2L)), " s")
  ), collapse = ", ")
}

# Warns where a solver stopped early, saying how far it got. Returns the fit.
check_convergence <- function(fit, advice = "Raise `max_iter`, loosen `tol`, or rescale the data.") {
  if (isTRUE(fit$convergence$converged) || length(fit$convergence) == 0L) return(fit)  # the common cases, without a table
  table <- convergence_table(fit$convergence)
  failed <- table$converged %in% FALSE
  if (any(failed)) {
    if (!any(table$reason[failed] %in% c("iterations", "unsaid"))) advice <- advice_when_stalled(advice)
    warn_convergence(paste0("The solver has ", format_convergence(fit$convergence), ".\n", advice), convergence = fit$convergence)
  }
  fit
}

# Where a solver stopped for another reason than its budget more of it would not help, and is not advised.
advice_when_stalled <- function(advice) {
  rest <- sub("^Raise `max_iter`(, or|,|[.])? *", "", advice)
  if (rest == advice) return(advice)
  paste0("More iterations will not help", if (nzchar(rest)) paste0(": ", rest) else ".")
}

# The parts of a fit that are estimates, each in a few words.
describe_parts <- function(fit) {
  parts <- unclass(fit)[setdiff(names(fit), c("call", "convergence"))]
  parts <- parts[!vapply(parts, is.null, NA)]
  size <- function(part) {
    if (isS4(part) && length(dim(part)) == 2L) return(paste0(nrow(part), " x ", ncol(part), " sparse or packed matrix"))
    if (is.matrix(part)) return(paste0(nrow(part), " x ", ncol(part), " matrix"))
    if (is.atomic(part) && length(part) == 1L) return(format(part, digits = 6L))
    if (is.numeric(part) && length(part) <= 5L) return(paste(format(part, digits = 4L), collapse = " "))
    sub("^an? ", "", describe(part))
  }
  vapply(parts, size, "")
}

fit_title <- function(fit) {
  paste("granary:", gsub("_", " ", sub("^granary_", "", class(fit)[1L])))
}

print_parts <- function(parts) {
  if (length(parts) > 0L) cli::cat_line(format(paste0(names(parts), ":")), " ", parts)
}

print_call <- function(call) {
  if (!is.null(call)) cli::cat_line("Call: ", paste(deparse(call, width.cutoff = 100L), collapse = "\n      "))
}

#' @rdname granary_fit
#' @export
print.granary_fit <- function(x, ...) {
  cli::cat_line(fit_title(x))
  print_call(x$call)
  print_parts(describe_parts(x))
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname granary_fit
#' @export
summary.granary_fit <- function(object, ...) {
  numbers <- Filter(function(part) is.numeric(part) && length(part) > 1L, unclass(object))
  quantiles <- lapply(numbers, function(part) stats::quantile(part, c(0, 0.25, 0.5, 0.75, 1), na.rm = TRUE, names = FALSE))
  table <- do.call(rbind, quantiles)
  if (!is.null(table)) colnames(table) <- c("min", "25%", "median", "75%", "max")
  seal(structure(
    list(title = fit_title(object), call = object$call, parts = describe_parts(object), quantiles = table,
         convergence = object$convergence),
    class = "summary_granary_fit"
  ))
}

#' @export
print.summary_granary_fit <- function(x, ...) {
  cli::cat_line(x$title)
  print_call(x$call)
  print_parts(x$parts)
  if (!is.null(x$quantiles)) {
    cli::cat_line()
    print(x$quantiles, digits = 4L)
  }
  table <- convergence_table(x$convergence)
  cli::cat_line()
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  if (nrow(table) > 1L) print(table, digits = 3L, row.names = FALSE)
  invisible(x)
}

#' @rdname granary_fit
#' @export
glance.granary_fit <- function(x, ...) {
  table <- convergence_table(x$convergence)[c("converged", "iterations", "gap", "residual", "seconds")]
  likelihood <- tryCatch(stats::logLik(x), error = function(e) NULL)  # not every fit has one
  if (length(likelihood) == nrow(table)) {
    table$logLik <- as.double(likelihood)
    table$df <- attr(likelihood, "df")
    table$nobs <- attr(likelihood, "nobs")
  }
  table
}

#' @importFrom generics tidy
#' @export
generics::tidy

#' @importFrom generics glance
#' @export
generics::glance

#' @importFrom generics augment
#' @export
generics::augment

# ---- what every fit answers, or refuses in a sentence ---------------------------------------------------------------------------------------------

# For a generic that does not apply to a kind of fit.
not_for <- function(object, what, why = NULL) {
  abort_input(paste0(what, " does not apply to a fit of ", sub("^granary_", "", class(object)[1L]), if (!is.null(why)) paste0(": ", why), "."), "object")
}

#' @rdname granary_fit
#' @importFrom stats nobs
#' @export
nobs.granary_fit <- function(object, ...) {
  n <- object[["n"]]
  if (!is.numeric(n)) n <- object[["nobs"]]
  if (!is.numeric(n) && is.atomic(object[["y"]]) && length(object[["y"]]) > 0L) n <- NROW(object[["y"]])
  if (!is.numeric(n) && (is.matrix(object[["x"]]) || is.data.frame(object[["x"]]) || isS4(object[["x"]]))) n <- nrow(object[["x"]])
  if (!is.numeric(n)) not_for(object, "nobs()", "it was not made from rows")
  if (sum(n) > .Machine$integer.max) sum(n) else as.integer(sum(n))
}

#' @rdname granary_fit
#' @importFrom stats fitted
#' @export
fitted.granary_fit <- function(object, ...) {
  if (!is.null(object[["fitted"]])) return(object[["fitted"]])
  if (is.null(object[["y"]]) && is.null(object[["fitted.values"]])) not_for(object, "fitted()")
  if (!is.null(object[["fitted.values"]])) return(object[["fitted.values"]])
  stats::predict(object, ...)
}

#' @rdname granary_fit
#' @importFrom stats residuals
#' @export
residuals.granary_fit <- function(object, ...) {
  if (!is.null(object[["residuals"]])) return(object[["residuals"]])
  if (!is.numeric(object[["y"]]) || !is.null(object[["levels"]])) not_for(object, "residuals()", "its response is no number")
  object[["y"]] - stats::fitted(object, ...)
}

#' @rdname granary_fit
#' @importFrom stats coef
#' @export
coef.granary_fit <- function(object, ...) {
  if (is.null(object[["coefficients"]])) not_for(object, "coef()", "it has no coefficients")
  object[["coefficients"]]
}

#' @rdname granary_fit
#' @importFrom stats logLik
#' @export
logLik.granary_fit <- function(object, ...) {
  if (is.null(object[["loglik"]])) not_for(object, "logLik()", "the method has no likelihood")
  structure(object[["loglik"]], df = object[["df"]], nobs = stats::nobs(object), class = "logLik")
}

#' @rdname granary_fit
#' @importFrom stats predict
#' @export
predict.granary_fit <- function(object, ...) not_for(object, "predict()")

#' @rdname granary_fit
#' @importFrom stats simulate
#' @export
simulate.granary_fit <- function(object, nsim = 1, seed = NULL, ...) not_for(object, "simulate()")

#' @rdname granary_fit
#' @importFrom stats vcov
#' @export
vcov.granary_fit <- function(object, ...) not_for(object, "vcov()", "it has no standard errors")

#' @rdname granary_fit
#' @importFrom stats confint
#' @export
confint.granary_fit <- function(object, parm, level = 0.95, ...) not_for(object, "confint()", "it has no standard errors")

#' @rdname granary_fit
#' @export
plot.granary_fit <- function(x, ...) not_for(x, "plot()")

#' @rdname granary_fit
#' @usage \method{autoplot}{granary_fit}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_fit <- function(object, ...) not_for(object, "autoplot()", "use plot()")  # nolint: object_name_linter.

#' @rdname granary_fit
#' @export
tidy.granary_fit <- function(x, ...) {
  estimate <- tryCatch(stats::coef(x), granary_error = function(e) NULL)
  if (!is.numeric(estimate) || !is.null(dim(estimate))) not_for(x, "tidy()")
  data.frame(term = variable_names(names(estimate), length(estimate)), estimate = unname(as.vector(estimate)))
}

#' @rdname granary_fit
#' @param data The data the fit was made with, to which columns are added; `NULL` for the response alone.
#' @export
augment.granary_fit <- function(x, data = NULL, ...) {
  if (is.null(x[["y"]])) not_for(x, "augment()", "it has no response")
  if (is.null(x[["levels"]])) return(augment_rows(data, x[["y"]], stats::fitted(x)))
  y <- response_of(x)
  if (is.null(data)) data <- data.frame(y = y)
  class <- stats::predict(x, type = "class")
  if (!is.data.frame(data) || nrow(data) != length(class)) fail_input("data", sprintf("a data frame with the %d rows of the fit", length(class)), describe(data))
  data$.fitted <- class
  data
}

#' @rdname granary_fit
#' @importFrom stats formula
#' @export
formula.granary_fit <- function(x, ...) {
  if (is.null(x[["formula"]])) not_for(x, "formula()", "it was made from a matrix")
  x[["formula"]]
}

#' @rdname granary_fit
#' @importFrom stats terms
#' @export
terms.granary_fit <- function(x, ...) {
  if (!is.list(x[["design"]]) || is.null(x$design$terms)) not_for(x, "terms()", "it was made from a matrix")
  x$design$terms
}

#' @rdname granary_fit
#' @param formula For `model.frame()`, the fit; its name is the generic's.
#' @importFrom stats model.frame
#' @export
model.frame.granary_fit <- function(formula, ...) {
  fit <- formula
  if (is.null(fit[["formula"]])) not_for(fit, "model.frame()", "it was made from a matrix")
  env <- environment(fit[["formula"]])
  call <- fit$call
  parts <- intersect(c("data", "subset", "weights", "na.action", "offset"), names(call))
  ask <- c(list(quote(stats::model.frame), formula = fit[["formula"]], drop.unused.levels = TRUE), as.list(call[parts]))
  tryCatch(eval(as.call(ask), if (is.null(env)) parent.frame() else env),
           error = function(e) abort_input(paste0("The data of the fit cannot be found again: ", conditionMessage(e), "."), "object"))
}

#' @rdname granary_fit
#' @param formula. For `update()`, changes of the formula, such as `. ~ . - b`; other arguments are changed by name in `...`.
#' @param evaluate Whether to fit the changed call, or to return it.
#' @importFrom stats update
#' @export
update.granary_fit <- function(object, formula., ..., evaluate = TRUE) {
  call <- object$call
  if (is.null(call)) not_for(object, "update()", "it has no call")
  if (!missing(formula.)) {
    if (!inherits(formula., "formula")) not_for(object, "update() with new rows")
    call$formula <- stats::update.formula(stats::formula(object), formula.)
  }
  changes <- match.call(expand.dots = FALSE)$...
  for (name in names(changes)) call[[name]] <- changes[[name]]
  if (evaluate) eval(call, parent.frame()) else call
}

# What C++ does not know is NaN there, and NA here.
na_for_nan <- function(x) replace(x, is.nan(x), NA)
