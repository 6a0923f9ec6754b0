#' Bregman divergences
#'
#' The divergence to cluster with, and through it the law of the data: squared distances are the normal law, the I-divergence counts, relative entropy
#' proportions, Itakura-Saito waiting times and power spectra. `bregman_divergence()` computes divergences between rows.
#'
#' @details
#' For a strictly convex \eqn{\phi}{phi}, \eqn{d(x, m) = \phi(x) - \phi(m) - \langle x - m, \nabla\phi(m) \rangle}{d(x, m) = phi(x) - phi(m) - <x - m, grad phi(m)>}.
#' Summed over the columns:
#'
#' | kind | \eqn{d(x, m)} | law | `parameter` |
#' | --- | --- | --- | --- |
#' | `"gaussian"` | \eqn{(x - m)^2 / (2 \sigma^2)}{(x - m)^2 / (2 s^2)} | normal | \eqn{\sigma^2}{s^2}, 1 |
#' | `"squared"` | \eqn{(x - m)^2}, as [stats::kmeans()] | normal, variance 1/2 | |
#' | `"poisson"` | \eqn{x \log(x / m) - x + m}{x log(x / m) - x + m} | Poisson | |
#' | `"bernoulli"` | \eqn{x \log(x / m) + (1 - x) \log((1 - x) / (1 - m))}{x log(x / m) + (1 - x) log((1 - x) / (1 - m))} | Bernoulli | |
#' | `"binomial"` | \eqn{x \log(x / m) + (N - x) \log((N - x) / (N - m))}{x log(x / m) + (N - x) log((N - x) / (N - m))} | binomial | \eqn{N} |
#' | `"negbinomial"` | \eqn{x \log(x / m) - (x + r) \log((x + r) / (m + r))}{x log(x / m) - (x + r) log((x + r) / (m + r))} | negative binomial | \eqn{r} |
#' | `"multinomial"` | \eqn{\sum_j x_j \log(x_j / m_j)}{sum_j x_j log(x_j / m_j)}, rows of equal sums | multinomial | |
#' | `"exponential"` | \eqn{x / m - \log(x / m) - 1}{x / m - log(x / m) - 1} (Itakura-Saito) | exponential | |
#' | `"gamma"` | \eqn{a (x / m - \log(x / m) - 1)}{a (x / m - log(x / m) - 1)} | gamma | shape \eqn{a} |
#' | `"exp_loss"` | \eqn{e^x - e^m - (x - m) e^m}{e^x - e^m - (x - m) e^m} | none: hard clusters only | |
#' | `"power"` | \eqn{x^p - m^p - p (x - m) m^{p - 1}}{x^p - m^p - p (x - m) m^(p - 1)} | none: hard clusters only | \eqn{p > 1} |
#' | `"mahalanobis"` | \eqn{(x - m)' A (x - m)}{(x - m)' A (x - m)} | normal | the matrix \eqn{A} |
#'
#' \eqn{0 \log 0 = 0}{0 log 0 = 0}. An own divergence is given by `phi` and its `gradient`, functions of a matrix that return one number per row (or one per
#' entry, which are summed) and a matrix; they are checked at `at`, rows where they make sense. `inverse`, the inverse of the gradient, is needed for left-sided
#' clusters only. Different columns may have different divergences: give [bregman_cluster()] a list of families.
#'
#' @section Which method when:
#' `"gaussian"` for measurements, `"poisson"` for counts, `"multinomial"` for proportions and text, `"exponential"` for durations and spectra,
#' `"bernoulli"` for 0/1 columns; [bregman_check()] for one of your own.
#'
#' @param kind The divergence, by name; see Details.
#' @param parameter Its parameter.
#' @param scale Factor of the divergence, for data of mixed kinds.
#' @param phi,gradient,inverse Functions of an own divergence.
#' @param at A matrix of rows at which an own divergence is checked; `NULL` for no check.
#' @param x,y Rows: a matrix or data frame; without `y`, all pairs of rows of `x`.
#' @param divergence A name or a family.
#' @return `bregman_family()` an object of class `granary_bregman_family`; `bregman_divergence()` a matrix with a row for each row of `x` and a column for each
#'   row of `y`: entry \eqn{(i, j)} is \eqn{d(x_i, y_j)}, infinite where \eqn{x_i} cannot come from a law with mean \eqn{y_j}.
#' @references
#' Banerjee, Merugu, Dhillon and Ghosh (2005). Clustering with Bregman divergences. *Journal of Machine Learning Research* 6, 1705--1749.
#' @seealso [bregman_cluster()], [bregman_information()].
#' @export
#' @examples
#' bregman_divergence(rbind(c(1, 4), c(2, 2)), divergence = "poisson")
#'
#' # an own divergence: phi(x) = sum of x^4
#' quartic <- bregman_family(phi = function(x) x^4, gradient = function(x) 4 * x^3, at = matrix(c(1, 2, 3, 0.5), 2))
#' bregman_divergence(1:3, 2, quartic)
bregman_family <- function(kind = "gaussian", parameter = NULL, scale = 1, phi = NULL, gradient = NULL, inverse = NULL, at = NULL) {
  scale <- check_number(scale, lower = 0, strict_lower = TRUE)
  if (!is.null(phi) || !is.null(gradient)) return(own_family(phi, gradient, inverse, scale, at))
  kind <- check_choice(kind, bregman_kinds)
  if (kind == "mahalanobis") {
    if (is.null(parameter)) abort_input("`parameter` must be the matrix A of the Mahalanobis divergence.", "parameter")
    a <- unname(check_symmetric(parameter, "parameter"))
    core_bregman_table(matrix(0, 1L, ncol(a)), matrix(0, 1L, ncol(a)), list(matrix = a), "phi")
    return(new_family("mahalanobis", list(matrix = scale * a), sprintf("mahalanobis (%d columns)", ncol(a))))
  }
  if (kind == "squared") {
    if (!is.null(parameter)) abort_input("`parameter` must be left out for \"squared\".", "parameter")
    return(new_family("squared", list(columns = list(list(kind = "gaussian", parameter = 0.5, scale = scale))), "squared distance"))
  }
  needed <- kind %in% c("binomial", "negbinomial", "gamma", "power")
  if (needed && is.null(parameter)) {
    abort_input(sprintf("`parameter` must be given for \"%s\": its %s.", kind, switch(kind, binomial = "size N", negbinomial = "size r", gamma = "shape", "exponent p > 1")),
                "parameter")
  }
  if (!is.null(parameter) && !needed && kind != "gaussian") abort_input(sprintf("`parameter` must be left out for \"%s\", which has none.", kind), "parameter")
  if (is.null(parameter)) parameter <- 1
  parameter <- check_number(parameter, lower = if (kind == "power") 1 else 0, strict_lower = TRUE)
  if (kind == "binomial" && parameter != round(parameter)) abort_input(sprintf("`parameter` must be a whole number for \"binomial\", not %s.", format(parameter)), "parameter")
  new_family(kind, list(columns = list(list(kind = kind, parameter = parameter, scale = scale))),
             if (needed || parameter != 1) sprintf("%s (%s)", kind, format(parameter)) else kind)
}

bregman_kinds <- c("gaussian", "squared", "poisson", "bernoulli", "binomial", "negbinomial", "multinomial", "exponential", "gamma", "exp_loss", "power", "mahalanobis")

new_family <- function(kind, core, label) seal(structure(list(kind = kind, core = core, label = label), class = "granary_bregman_family"))

# Functions of a matrix that may answer by entries; what they return is checked where it comes back.
own_family <- function(phi, gradient, inverse, scale, at) {
  for (name in c("phi", "gradient")) if (!is.function(get(name))) fail_input(name, "a function of a matrix", describe(get(name)))
  if (!is.null(inverse) && !is.function(inverse)) fail_input("inverse", "a function of a matrix, or NULL", describe(inverse))
  force(scale)
  per_row <- function(m) {
    value <- phi(m)
    if (is.numeric(value) && length(value) == length(m) && ncol(m) > 1L) value <- rowSums(matrix(value, nrow(m)))
    if (!is.numeric(value) || length(value) != nrow(m)) abort_input(sprintf("`phi` must return one number per row, %d, but it returned %s.", nrow(m), describe(value)), "phi")
    scale * as.double(value)
  }
  table <- function(f, arg, factor) {
    function(m) {
      value <- f(m)
      if (!is.numeric(value) || length(value) != length(m)) abort_input(sprintf("`%s` must return a matrix of the size of its argument, but it returned %s.", arg, describe(value)), arg)
      factor * matrix(as.double(value), nrow(m))
    }
  }
  back <- if (!is.null(inverse)) function(m) table(inverse, "inverse", 1)(m / scale)
  family <- new_family("own", list(phi = per_row, gradient = table(gradient, "gradient", scale), inverse = back), "own divergence")
  if (!is.null(at)) check_own_family(family, unname(check_matrix(at, "at")))
  family
}

# The gradient against differences of phi, convexity on pairs, and the inverse.
check_own_family <- function(family, at) {
  core <- family$core
  slope <- core$gradient(at)
  for (j in seq_len(ncol(at))) {
    step <- 1e-5 * pmax(abs(at[, j]), 1e-3)
    up <- down <- at
    up[, j] <- at[, j] + step
    down[, j] <- at[, j] - step
    numeric <- (core$phi(up) - core$phi(down)) / (2 * step)
    wrong <- which(abs(numeric - slope[, j]) > 1e-4 * (1 + abs(slope[, j])))
    if (length(wrong) > 0L) {
      abort_input(sprintf("`gradient` must be the gradient of `phi`, but at row %d of `at` its entry %d is %s where differences of `phi` give %s.",
                          wrong[1L], j, format(slope[wrong[1L], j]), format(numeric[wrong[1L]])), "gradient")
    }
  }
  if (nrow(at) > 1L) {
    other <- at[c(seq_len(nrow(at))[-1L], 1L), , drop = FALSE]
    gap <- (core$phi(at) + core$phi(other)) / 2 - core$phi((at + other) / 2)
    flat <- which(gap <= 0 & rowSums(abs(at - other)) > 0)
    if (length(flat) > 0L) abort_input(sprintf("`phi` must be strictly convex, but it is not between row %d of `at` and the next.", flat[1L]), "phi")
  }
  if (!is.null(core$inverse) && any(abs(core$inverse(slope) - at) > 1e-6 * (1 + abs(at)))) {
    abort_input("`inverse` must be the inverse of `gradient`, but at some row of `at` it does not lead back.", "inverse")
  }
}

# A name, a family, or a list of them, one per column; as what C++ reads, with a label.
check_divergence <- function(divergence, d, names = NULL) {
  if (inherits(divergence, "granary_bregman_family")) return(divergence)
  if (is.character(divergence) && length(divergence) == 1L) return(bregman_family(check_choice(divergence, bregman_kinds, "divergence")))
  if (!is.list(divergence) && !is.character(divergence)) fail_input("divergence", "a name, a bregman_family(), or a list of them, one per column", describe(divergence))
  if (!is.null(names(divergence)) && !is.null(names)) {
    if (!setequal(names(divergence), names)) {
      abort_input(sprintf("`divergence` must have the names of the columns, but \"%s\" is not among them.", c(setdiff(names(divergence), names), "?")[1L]), "divergence")
    }
    divergence <- divergence[names]
  }
  if (length(divergence) != d) abort_input(sprintf("`divergence` must have one entry per column, %d, but it has %d.", d, length(divergence)), "divergence")
  parts <- lapply(unname(as.list(divergence)), check_divergence, d = 1L)
  kinds <- vapply(parts, function(p) p$kind, "")
  bad <- which(kinds %in% c("own", "mahalanobis", "multinomial"))
  if (length(bad) > 0L) abort_input(sprintf("`divergence` by column must be of single columns, but entry %d is \"%s\".", bad[1L], kinds[bad[1L]]), "divergence")
  new_family("mixed", list(columns = lapply(parts, function(p) p$core$columns[[1L]])), paste0("mixed (", paste(unique(kinds), collapse = ", "), ")"))
}

#' @export
print.granary_bregman_family <- function(x, ...) {
  cli::cat_line("Bregman divergence: ", x$label)
  invisible(x)
}

#' @rdname bregman_family
#' @export
bregman_divergence <- function(x, y = NULL, divergence = "gaussian") {
  if (missing(x)) fail_missing("x")
  x <- as.matrix(check_rows(x))
  y <- if (is.null(y)) x else match_columns_of(as.matrix(check_rows(y, "y")), x)
  if (ncol(y) != ncol(x)) abort_input(sprintf("`y` must have the %d columns of `x`, but it has %d.", ncol(x), ncol(y)), "y")
  family <- check_divergence(divergence, ncol(x), colnames(x))
  out <- core_bregman_table(plain_rows(x), plain_rows(y), family$core, "divergence")
  if (!is.null(rownames(x)) || !is.null(rownames(y))) dimnames(out) <- list(rownames(x), rownames(y))
  out
}

# By name where both have names.
match_columns_of <- function(y, x) if (!is.null(colnames(x)) && !is.null(colnames(y))) match_columns(y, colnames(x), "y") else y

#' Is it a Bregman divergence?
#'
#' Tries a function of two points for what only Bregman divergences have: that the mean of any points minimises the sum of their divergences.
#'
#' @details
#' With \eqn{\phi_a(x) = d(x, a)}{phi_a(x) = d(x, a)} for one of the points, a Bregman divergence is its own: \eqn{d(x, y) = \phi_a(x) - \phi_a(y) - \langle x - y,
#' \nabla\phi_a(y) \rangle}{d(x, y) = phi_a(x) - phi_a(y) - <x - y, grad phi_a(y)>} (appendix of the paper), which is tried on all pairs of the rows of `x` with gradients by differences; and
#' \eqn{\phi_a}{phi_a} must be strictly convex. Agreement at some points is no proof, disagreement is.
#'
#' @section Which method when:
#' `bregman_check()` before a divergence of your own goes into [bregman_cluster()] through [bregman_family()]; the named families need no check.
#'
#' @param d A function of two vectors that returns one number.
#' @param x Rows at which to try.
#' @param tol Largest disagreement, relative to the divergences.
#' @return A list of class `granary_bregman_check`: `bregman` (TRUE or FALSE), `residual` (the largest relative disagreement), `convex`, and `at`, the pair of rows where it
#'   is worst.
#' @inherit bregman_family references
#' @seealso [bregman_family()] to cluster with it.
#' @export
#' @examples
#' x <- matrix(c(1, 2, 3, 0.5, 1.5, 2.5), 3)
#' bregman_check(function(x, y) sum(x * log(x / y) - x + y), x)
#' bregman_check(function(x, y) sum(abs(x - y)), x)
bregman_check <- function(d, x, tol = 1e-5) {
  if (missing(d)) fail_missing("d")
  check_function(d, "d")
  if (missing(x)) fail_missing("x")
  x <- unname(check_matrix(x, min_rows = 2L))
  tol <- check_number(tol, lower = 0, strict_lower = TRUE)
  at <- function(u, v) {
    value <- suppressWarnings(user_value(d, "d", u, v))  # NaN outside the domain is no news: the verdict speaks of it
    if (!is_plain_numeric(value) || length(value) != 1L) abort_input(sprintf("`d` must return one number, but it returned %s.", describe(value)), "d")
    as.double(value)
  }
  n <- nrow(x)
  a <- x[1L, ]
  phi <- apply(x, 1L, at, v = a)
  slope <- t(vapply(seq_len(n), function(i) {
    vapply(seq_len(ncol(x)), function(j) {
      step <- 1e-5 * max(abs(x[i, j]), 1e-3)
      move <- replace(numeric(ncol(x)), j, step)
      (at(x[i, ] + move, a) - at(x[i, ] - move, a)) / (2 * step)
    }, 0)
  }, numeric(ncol(x))))
  slope <- matrix(slope, n)
  pairs <- expand.grid(i = seq_len(n), j = seq_len(n))
  pairs <- pairs[pairs$i != pairs$j, ]
  given <- mapply(function(i, j) at(x[i, ], x[j, ]), pairs$i, pairs$j)
  implied <- mapply(function(i, j) phi[i] - phi[j] - sum((x[i, ] - x[j, ]) * slope[j, ]), pairs$i, pairs$j)
  gap <- mapply(function(i, j) (phi[i] + phi[j]) / 2 - at((x[i, ] + x[j, ]) / 2, a), pairs$i, pairs$j)
  off <- abs(given - implied) / max(abs(given), .Machine$double.xmin)
  off[!is.finite(off)] <- Inf
  worst <- which.max(off)
  convex <- all(is.finite(gap)) && all(gap > 0)
  seal(structure(list(bregman = off[worst] <= tol && convex, residual = off[worst], convex = convex, at = unlist(pairs[worst, ], use.names = FALSE)),
                 class = "granary_bregman_check"))
}

#' @export
print.granary_bregman_check <- function(x, ...) {
  cli::cat_line(if (x$bregman) "No sign against a Bregman divergence" else "Not a Bregman divergence", sprintf(": largest relative disagreement %.2g (rows %d and %d)", x$residual, x$at[1L], x$at[2L]),
                if (!x$convex) ", not strictly convex")
  invisible(x)
}
