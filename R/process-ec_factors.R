#' Factors for expectation consistent inference with a Gaussian
#'
#' One-dimensional factors \eqn{t_i(x_i)}{t_i(x_i)} for [ec_gauss()]. Arguments may be vectors, one value per variable; `c()` joins factors of
#' different kinds.
#'
#' @details
#' \tabular{ll}{
#' `ec_factor("truncate")` \tab 1 between `lower` and `upper`, else 0 \cr
#' `ec_factor("probit")` \tab \eqn{\Phi(y x)}{Phi(y x)}, the likelihood of a binary response \cr
#' `ec_factor("spike_slab")` \tab \eqn{(1 - p) \delta_0(x) + p N(x | 0, v)}{(1 - p) delta_0(x) + p N(x | 0, v)} \cr
#' `ec_factor("laplace")` \tab \eqn{\exp(-|x| / s) / (2 s)}{exp(-|x| / s) / (2 s)} \cr
#' `ec_factor("gaussian")` \tab \eqn{N(x | y, v)}{N(x | y, v)} \cr
#' `ec_factor("discrete")` \tab \eqn{\sum_k w_k \delta(x - x_k)}{sum_k w_k delta(x - x_k)}: spins, counts, classes \cr
#' `ec_factor("generic")` \tab any positive function, given by its logarithm; kinks, jumps and several modes included; moments by adaptive quadrature \cr
#' `ec_factor("flat")` \tab 1: a variable without a factor
#' }
#'
#' The arguments, one value for all variables or one for each:
#'
#' | factor | arguments |
#' | --- | --- |
#' | `"truncate"` | `lower`, `upper`: bounds, perhaps infinite |
#' | `"probit"` | `y`: responses, -1 and 1, 0 and 1, or logical |
#' | `"spike_slab"` | `p`: probability of the slab, `v`: its variance |
#' | `"laplace"` | `scale` |
#' | `"gaussian"` | `y`: observations, `v`: their variances |
#' | `"discrete"` | `values`, `weights` (all 1 by default): vectors, or lists of them for variables that differ |
#' | `"generic"` | `log_density`: a function of one number that gives one number, or a list of them; `log_concave`: if not, negative site precisions are allowed |
#'
#' @section Which method when:
#' The kind follows what is known of each variable: `"truncate"` for bounds, `"probit"` for labels, `"spike_slab"` and `"laplace"` for sparse
#' coefficients, `"discrete"` for given values, `"generic"` for any density.
#'
#' @param type The kind of factor.
#' @param ... The arguments of that kind; for `c()`, factors.
#' @param x Factors.
#' @return An object of class `granary_ec_factor`, of as many factors as the longest argument has values.
#' @seealso [ec_ising()], [ec_ising_fit()], [ec_gauss()], [ec_box()], [ec_baseline()]
#' @export
#' @examples
#' factors <- c(ec_factor("truncate", lower = 0), ec_factor("probit", 1), ec_factor("spike_slab", 0.2, 4), ec_factor("discrete", 0:2))
#' factors
#' ec_gauss(0.5 + diag(0.5, 4), factors = factors)
#' ec_gauss(diag(2), factors = c(ec_factor("laplace", 1), ec_factor("gaussian", 1, 0.5)))
#' # Poisson observations of exp(x)
#' poisson <- ec_factor("generic", list(function(x) 3 * x - exp(x), function(x) x - exp(x)))
#' ec_gauss(matrix(c(1, 0.8, 0.8, 1), 2), factors = poisson)
#' length(ec_factor("flat"))
ec_factor <- function(type = c("truncate", "probit", "spike_slab", "laplace", "gaussian", "discrete", "generic", "flat"), ...) {
  if (missing(type)) fail_missing("type")
  ask_for(list(truncate = factor_truncate, probit = factor_probit, spike_slab = factor_spike_slab, laplace = factor_laplace,
               gaussian = factor_gaussian, discrete = factor_discrete, generic = factor_generic, flat = factor_flat), type, list(...), "type")
}

new_ec_factor <- function(kind, a = 0, b = 0, extra = list(NULL), log_concave = TRUE) {
  size <- max(length(a), length(b), length(extra))
  for (part in list(a, b)) {
    if (!length(part) %in% c(1L, size)) abort_input(sprintf("The arguments of ec_factor(\"%s\") must be of one length, or of length 1.", kind))
  }
  seal(structure(list(kind = rep(kind, size), a = rep_len(unname(a), size), b = rep_len(unname(b), size), extra = rep_len(extra, size),
                 log_concave = rep(log_concave, size)), class = "granary_ec_factor"))
}

ec_bound <- function(x, arg) {
  if (!is_plain_numeric(x) || length(x) == 0L || anyNA(x)) {
    fail_input(arg, "a numeric vector without missing values (infinite ones are fine)", describe(x))
  }
  as.double(x)
}

ec_bounds <- function(lower, upper) {
  lower <- ec_bound(lower, "lower")
  upper <- ec_bound(upper, "upper")
  size <- max(length(lower), length(upper))
  for (part in list(lower, upper)) {
    if (!length(part) %in% c(1L, size)) {
      abort_input(sprintf("`lower` and `upper` must be of one length, but have %d and %d.", length(lower), length(upper)), "upper")
    }
  }
  lower <- rep_len(lower, size)
  upper <- rep_len(upper, size)
  bad <- which(!(lower < upper))
  if (length(bad) > 0L) {
    abort_input(sprintf("`lower` must be below `upper`, but pair %d is %s and %s.", bad[1L], format(lower[bad[1L]]), format(upper[bad[1L]])),
                "lower")
  }
  list(lower = lower, upper = upper)
}

factor_truncate <- function(lower = -Inf, upper = Inf) {
  box <- ec_bounds(lower, upper)
  new_ec_factor("truncate", box$lower, box$upper)
}

factor_probit <- function(y) {
  if (missing(y)) fail_missing("y")
  if (is.logical(y) && !is.object(y) && !anyNA(y)) y <- 2 * y - 1
  y <- check_vector(y, "y")
  if (all(y %in% c(0, 1)) && any(y == 0)) y <- 2 * y - 1
  if (!all(y %in% c(-1, 1))) abort_input("`y` must hold -1 and 1, 0 and 1, or TRUE and FALSE.", "y")
  new_ec_factor("probit", y)
}

factor_spike_slab <- function(p, v) {
  p <- check_vector(p, lower = 0, upper = 1)
  v <- check_vector(v, lower = 0, strict_lower = TRUE)
  new_ec_factor("spike_slab", p, v, log_concave = FALSE)
}

factor_laplace <- function(scale) new_ec_factor("laplace", check_vector(scale, lower = 0, strict_lower = TRUE))

factor_gaussian <- function(y, v) {
  y <- check_vector(y)
  new_ec_factor("gaussian", y, check_vector(v, lower = 0, strict_lower = TRUE))
}

factor_discrete <- function(values, weights = NULL) {
  if (missing(values)) fail_missing("values")
  values <- if (is.list(values)) values else list(values)
  if (length(values) == 0L) abort_input("`values` must not be empty.", "values")
  weights <- if (is.null(weights)) list(NULL) else if (is.list(weights)) weights else list(weights)
  if (!length(weights) %in% c(1L, length(values))) abort_input("`weights` must be a list as long as `values`.", "weights")
  weights <- rep_len(weights, length(values))
  extra <- Map(function(x, w) {
    x <- check_vector(x, "values")
    w <- if (is.null(w)) rep(1, length(x)) else check_vector(w, "weights", length = length(x), lower = 0)
    if (!any(w > 0)) abort_input("`weights` must not all be zero.", "weights")
    list(values = unname(x[w > 0]), log_w = log(unname(w[w > 0])))
  }, values, weights)
  new_ec_factor("discrete", extra = unname(extra), log_concave = FALSE)
}

factor_generic <- function(log_density, log_concave = TRUE) {
  if (missing(log_density)) fail_missing("log_density")
  log_concave <- check_flag(log_concave)
  functions <- if (is.list(log_density)) log_density else list(log_density)
  if (length(functions) == 0L || !all(vapply(functions, is.function, NA))) {
    fail_input("log_density", "a function, or a list of functions", describe(log_density))
  }
  extra <- lapply(functions, function(f) {
    list(log_density = function(x) {
      value <- f(x)
      if (!is_plain_numeric(value) || length(value) != 1L) {
        abort_input(paste0("`log_density` must give one number, not ", describe(value), "."), "log_density")
      }
      if (is.na(value)) -Inf else min(as.double(value), 1e300)
    })
  })
  new_ec_factor("generic", extra = extra, log_concave = log_concave)
}

factor_flat <- function() new_ec_factor("flat")

#' @rdname ec_factor
#' @export
c.granary_ec_factor <- function(...) {
  parts <- list(...)
  if (!all(vapply(parts, inherits, NA, "granary_ec_factor"))) abort_input("Factors can be joined with factors only.")
  for (part in parts) check_fit(part)
  join <- function(name) do.call(c, lapply(parts, `[[`, name))
  seal(structure(list(kind = join("kind"), a = join("a"), b = join("b"), extra = join("extra"), log_concave = join("log_concave")),
            class = "granary_ec_factor"))
}

#' @export
length.granary_ec_factor <- function(x) length(unclass(x)$kind)

#' @export
print.granary_ec_factor <- function(x, ...) {
  count <- table(unclass(x)$kind)
  cli::cat_line(counted(length(x), "factor", "factors"), ": ", paste(paste(count, names(count)), collapse = ", "))
  invisible(x)
}

#' @export
summary.granary_ec_factor <- function(object, ...) {
  refuse_dots(...)
  count <- table(unclass(object)$kind)
  seal(structure(list(table = data.frame(kind = names(count), factors = as.vector(count))), class = "summary_granary_ec_factor"))
}

#' @export
print.summary_granary_ec_factor <- function(x, ...) {
  cli::cat_line(counted(sum(x$table$factors), "factor", "factors"), " of an expectation-consistent approximation")
  print(x$table, row.names = FALSE)
  invisible(x)
}

ec_factor_parts <- function(factors, n) {
  if (missing(factors) || is.null(factors)) abort_input("`factors` must be given, such as ec_factor(\"truncate\", lower = 0).", "factors")
  if (is.list(factors) && !inherits(factors,
                                    "granary_ec_factor") && length(factors) > 0L && all(vapply(factors, inherits, NA, "granary_ec_factor"))) {
    factors <- do.call(c, factors)
  }
  if (!inherits(factors, "granary_ec_factor")) fail_input("factors", "factors, from ec_factor()", describe(factors))
  check_fit(factors)
  size <- length(factors)
  if (!size %in% c(1L, n)) {
    abort_input(sprintf("`factors` must hold one factor per variable (%d) or one for all, but there are %d.", n, size), "factors")
  }
  lapply(unclass(factors), rep_len, n)
}
