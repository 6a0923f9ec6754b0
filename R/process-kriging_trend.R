# Trends of kriging models: which columns f(x), and their derivatives in the inputs.
#
# A trend is a list with `kind`: "none", "constant", "formula" (with `terms`) or "effects": terms that are products of at most two polynomials of
# coded inputs z = 2 (x - low) / width - 1. `names` are the columns, `keep` those that do not depend on the others.

trend_degrees <- c("constant", "linear", "quadratic", "cubic", "quartic")

make_trend <- function(trend, x, arg = "trend") {
  expected <- paste0("a one-sided formula in the columns of `x`, one of \"none\", ", paste0("\"", trend_degrees, "\"", collapse = ", "),
                     ", or a degree from 0 to 4")
  if (is.null(trend)) return(list(kind = "none", names = character()))
  if (inherits(trend, "formula")) return(formula_trend(trend, x, arg, expected))
  if (is.character(trend) && length(trend) == 1L && !is.na(trend)) {
    if (identical(trend, "none")) return(list(kind = "none", names = character()))
    trend <- match(check_choice(trend, c(trend_degrees, "none"), arg), trend_degrees) - 1
  }
  if (!is_plain_numeric(trend) || length(trend) != 1L || is.na(trend) || !trend %in% 0:4) fail_input(arg, expected, describe(trend))
  if (trend == 0) return(list(kind = "constant", names = "(Intercept)"))
  polynomial_trend(x, as.integer(trend))
}

formula_trend <- function(trend, x, arg, expected) {
  if (length(trend) != 2L) fail_input(arg, expected, "a formula with a left-hand side")
  frame <- as.data.frame(x)
  terms <- tryCatch({
    stats::terms(stats::model.frame(stats::terms(trend, data = frame), frame, na.action = stats::na.pass))
  }, error = function(e) {
    abort_input(sprintf("`%s` could not be evaluated in the columns of `x` (%s): %s.", arg, paste(colnames(x), collapse = ", "),
                        conditionMessage(e)), arg)
  })
  if (length(attr(terms, "term.labels")) == 0L && is.null(attr(terms, "offset"))) {
    return(if (attr(terms, "intercept") == 1L) list(kind = "constant", names = "(Intercept)") else list(kind = "none", names = character()))
  }
  out <- list(kind = "formula", terms = terms)
  values <- trend_matrix(out, x)
  out$names <- colnames(values)
  out
}

# All products z_i^a z_j^b of total degree at most `degree`.
polynomial_trend <- function(x, degree) {
  d <- ncol(x)
  power <- function(a) c(numeric(a), 1)
  label <- function(j, a) if (a == 1L) colnames(x)[j] else paste0(colnames(x)[j], "^", a)
  terms <- list(list(inputs = integer(), polynomials = list()))
  names <- "(Intercept)"
  for (j in seq_len(d)) for (a in seq_len(degree)) {
    terms <- c(terms, list(list(inputs = j, polynomials = list(power(a)))))
    names <- c(names, label(j, a))
  }
  pairs <- if (degree > 1L && d > 1L) utils::combn(d, 2L) else matrix(0L, 2L, 0L)
  for (pair in seq_len(ncol(pairs))) for (a in seq_len(degree - 1L)) for (b in seq_len(degree - a)) {
    i <- pairs[1L, pair]
    j <- pairs[2L, pair]
    terms <- c(terms, list(list(inputs = c(i, j), polynomials = list(power(a), power(b)))))
    names <- c(names, paste(label(i, a), label(j, b), sep = ":"))
  }
  effects_trend(x, terms, names)
}

effects_trend <- function(x, terms, names) {
  low <- apply(x, 2L, min)
  list(kind = "effects", terms = terms, names = names, low = low, width = apply(x, 2L, max) - low)
}

code_inputs <- function(x, low, width) sweep(sweep(x, 2L, low), 2L, 2 / width, `*`) - 1

horner <- function(coefficients, z) {
  value <- numeric(length(z))
  for (a in rev(coefficients)) value <- value * z + a
  value
}

# f at the rows of x; aliased columns are left out once `keep` is known.
trend_matrix <- function(trend, x) {
  n <- nrow(x)
  value <- switch(trend$kind, none = matrix(0, n, 0L), constant = matrix(1, n, 1L), formula = {
    frame <- tryCatch(suppressWarnings(stats::model.frame(trend$terms, as.data.frame(x), na.action = stats::na.pass)), error = function(e) {
      abort_input(paste0("The trend could not be evaluated: ", conditionMessage(e), "."), "trend")
    })
    value <- stats::model.matrix(trend$terms, frame)
    if (!is.null(attr(trend$terms, "offset"))) abort_input("`trend` must not contain an offset: subtract it from `y`.", "trend")
    bad <- which(!is.finite(value))[1L]
    if (!is.na(bad)) {
      abort_input(sprintf("`trend` must be finite at all points, but its term %s is not in row %d.", colnames(value)[(bad - 1L) %/% n + 1L],
                          (bad - 1L) %% n + 1L), "trend")
    }
    matrix(value, n, dimnames = list(NULL, colnames(value)))
  }, effects = {
    z <- code_inputs(x, trend$low, trend$width)
    columns <- lapply(trend$terms, function(term) {
      value <- rep(1, n)
      for (k in seq_along(term$inputs)) value <- value * horner(term$polynomials[[k]], z[, term$inputs[k]])
      value
    })
    matrix(unlist(columns), n)
  })
  if (!is.null(trend$keep)) value <- value[, trend$keep, drop = FALSE]
  value
}

# d f / d x_k, one matrix per input. Formulas are differentiated by a five-point rule, exact for polynomials up to degree four.
trend_gradient <- function(trend, x, width) {
  if (trend$kind %in% c("none", "constant")) return(list())
  n <- nrow(x)
  if (trend$kind == "formula") {
    return(lapply(seq_len(ncol(x)), function(k) {
      step <- 1e-3 * width[k]
      at <- function(times) {
        x[, k] <- x[, k] + times * step
        trend_matrix(trend, x)
      }
      unname((8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step))
    }))
  }
  z <- code_inputs(x, trend$low, trend$width)
  slope <- function(polynomial) if (length(polynomial) > 1L) polynomial[-1L] * seq_len(length(polynomial) - 1L) else 0
  lapply(seq_len(ncol(x)), function(k) {
    columns <- lapply(trend$terms, function(term) {
      if (!k %in% term$inputs) return(numeric(n))
      value <- rep(2 / trend$width[[k]], n)
      for (i in seq_along(term$inputs)) {
        polynomial <- term$polynomials[[i]]
        value <- value * horner(if (term$inputs[i] == k) slope(polynomial) else polynomial, z[, term$inputs[i]])
      }
      value
    })
    value <- matrix(unlist(columns), n)
    if (!is.null(trend$keep)) value[, trend$keep, drop = FALSE] else value
  })
}

# Leaves out columns that depend on those before them, as lm() does.
drop_aliased <- function(trend, f) {
  if (ncol(f) == 0L) return(list(trend = trend, f = f))
  keep <- core_trend_columns(unname(f), numeric(nrow(f)))$keep
  if (length(keep) < ncol(f)) {
    trend$keep <- keep
    f <- f[, keep, drop = FALSE]
  }
  list(trend = trend, f = unname(f))
}

trend_coefficients <- function(trend, beta) {
  out <- stats::setNames(rep(NA_real_, length(trend$names)), trend$names)
  out[if (is.null(trend$keep)) seq_along(out) else trend$keep] <- beta
  out
}
