#' Data for separation experiments
#'
#' Mixtures of independent sources from the 18 laws on which ICA methods are usually compared, by a well-conditioned matrix, with outliers on request.
#' `assess()` of a fit says how far its unmixing matrix is from the truth.
#'
#' @details
#' The laws, all with mean zero and unit variance. Those of Bach and Jordan (`set = "bach"`) are known from their programs. Gretton and others made
#' laws of the same kinds anew and give only their kurtoses, from which the parameters of `set = "gretton"` were solved: these agree with the
#' paper in kind and kurtosis, and in nothing else for certain. Excess kurtoses of the two sets:
#'
#' | law | | gretton | bach |
#' | --- | --- | --- | --- |
#' | a, d | Student's t with 3 and 5 degrees of freedom | Inf, 6 | Inf, 6 |
#' | b, c, e | double exponential, uniform, exponential | 3, -1.2, 6 | 3, -1.2, 6 |
#' | f | two double exponentials | -1.70 | -1.16 |
#' | g, h, i | two Gaussians, equal weights: multimodal, transitional, unimodal | -1.85, -0.75, -0.50 | -1.68, -0.74, -0.50 |
#' | j, k, l | two Gaussians, unequal weights: the same | -0.57, -0.29, -0.20 | -0.53, -0.67, -0.47 |
#' | m, n, o | four Gaussians, symmetric: the same | -0.91, -0.34, -0.40 | -0.82, -0.62, -0.80 |
#' | p, q, r | four Gaussians, asymmetric: the same | -0.67, -0.59, -0.82 | -0.77, -0.29, -0.67 |
#'
#' The Amari error of \eqn{D = WB}, for an unmixing matrix \eqn{W} and the mixing matrix \eqn{B}, is
#' \deqn{\frac{100}{2n(n-1)}\left[\sum_i\left(\frac{\sum_j|d_{ij}|}{\max_j|d_{ij}|} - 1\right) +
#'   \sum_j\left(\frac{\sum_i|d_{ij}|}{\max_i|d_{ij}|} - 1\right)\right]}{100 / (2 n (n - 1)) [sum_i (sum_j |d_ij| / max_j |d_ij| - 1) +
#'   sum_j (sum_i |d_ij| / max_i |d_ij| - 1)]}
#' It is 0 if and only if the sources are recovered up to order and scale, and at most 100.
#'
#' @section Which method when:
#' For simulation studies: draw, separate with [kernel_ica()] or [ica_baseline()], and compare Amari errors.
#'
#' @param n Number of observations.
#' @param laws Letters, one for each source; or the number of sources, for laws drawn with replacement.
#' @param set Whose versions of the laws; see Details.
#' @param mixing Mixing matrix; `NULL` for a random one.
#' @param cond Condition number of a random one: one number, or the range from which it is drawn.
#' @param outliers Number of observations to corrupt.
#' @param size What is added, with random sign, to every column of them.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list with `x`, the mixtures, `sources`, named by law, `mixing`, and `outliers`, the rows that were corrupted.
#' @references
#' Bach and Jordan (2002). Kernel independent component analysis. *Journal of Machine Learning Research* 3, 1--48.
#'
#' Gretton, Herbrich, Smola, Bousquet and Schoelkopf (2005). Kernel methods for measuring independence. *Journal of Machine Learning Research* 6,
#' 2075--2129.
#'
#' Amari, Cichocki and Yang (1996). A new learning algorithm for blind signal separation. *Advances in Neural Information Processing Systems* 8.
#' @seealso [hsic()], [kernel_ica()], [ica_baseline()]
#' @export
#' @examples
#' set.seed(1)
#' data <- sim_ica(200, c("a", "g"), outliers = 5)
#' assess(kernel_ica(data$x), truth = data$mixing)
sim_ica <- function(n, laws = 2, set = c("gretton", "bach"), mixing = NULL, cond = c(1, 2), outliers = 0, size = 5, ...) {
  refuse_dots(...)
  sources <- ica_sources(n, laws, set)
  if (is.null(mixing)) mixing <- random_mixing(ncol(sources), cond)
  mixing <- check_matrix(mixing)
  if (ncol(mixing) != ncol(sources)) {
    abort_input(sprintf("`mixing` must have a column for each of the %d sources, but it has %d.", ncol(sources), ncol(mixing)), "mixing")
  }
  x <- ica_outliers(sources %*% t(mixing), outliers, size)
  list(x = structure(x, rows = NULL), sources = sources, mixing = mixing, outliers = attr(x, "rows"))
}


# Mixtures: means, weights, standard deviations (one for all, or one each). Law f is of double exponentials.
mixture_laws <- list(
  gretton = list(
    f = list(c(-1, 1), c(1, 1), 0.2 * sqrt(2)),
    g = list(c(-1, 1), c(1, 1), 0.2), h = list(c(-1, 1), c(1, 1), 0.7956), i = list(c(-1, 1), c(1, 1), 1),
    j = list(c(-1, 1), c(1, 3), 0.2472), k = list(c(-1, 1), c(1, 3), 0.6222), l = list(c(-1, 1), c(1, 3), 0.787),
    m = list(c(-3, -1, 1, 3), c(1, 2, 2, 1), 0.2534), n = list(c(-2.5, -0.8, 0.8, 2.5), c(1, 3, 3, 1), 0.7986),
    o = list(c(-3, -1, 1, 3), c(1, 2, 2, 1), 1.4002), p = list(c(-3, -1, 1, 3), c(1, 3, 2, 1), 0.3859),
    q = list(c(-3, -1, 1, 3), c(1, 2, 3, 2), 0.9109), r = list(c(-3, -1, 1, 3), c(3, 3, 4, 4), 1.128)
  ),
  bach = list(
    f = list(c(-1, 1), c(1, 1), 0.5),
    g = list(c(-0.5, 0.5), c(1, 1), 0.15), h = list(c(-0.5, 0.5), c(1, 1), 0.4), i = list(c(-0.5, 0.5), c(1, 1), 0.5),
    j = list(c(-0.5, 0.5), c(1, 3), 0.15), k = list(c(-0.7, 0.5), c(1, 2), 0.4), l = list(c(-0.7, 0.5), c(1, 2), 0.5),
    m = list(c(-1, -0.33, 0.33, 1), c(1, 2, 2, 1), 0.16), n = list(c(-1, -0.2, 0.2, 1), c(1, 2, 2, 1), c(0.2, 0.3, 0.3, 0.2)),
    o = list(c(-0.7, -0.2, 0.2, 0.7), c(1, 2, 2, 1), c(0.2, 0.3, 0.3, 0.2)), p = list(c(-1, 0.3, -0.3, 1.1), c(1, 1, 2, 1), 0.2),
    q = list(c(-1, -0.2, 0.3, 1), c(1, 3, 2, 0.5), c(0.2, 0.3, 0.2, 0.2)), r = list(c(-0.8, -0.2, 0.2, 0.5), c(1, 2, 2, 1), c(0.22, 0.3, 0.3, 0.2))
  )
)

draw_law <- function(law, m, set) {
  double_exponential <- function(m) stats::rexp(m) * sample(c(-1, 1), m, TRUE) / sqrt(2)
  switch(
    law,
    a = stats::rt(m, 3) / sqrt(3), b = double_exponential(m), c = stats::runif(m, -sqrt(3), sqrt(3)), d = stats::rt(m, 5) / sqrt(5 / 3),
    e = stats::rexp(m) - 1,
    {
      parts <- mixture_laws[[set]][[law]]
      mean <- parts[[1L]]
      weights <- parts[[2L]] / sum(parts[[2L]])
      sd <- rep_len(parts[[3L]], length(mean))
      centre <- sum(weights * mean)
      spread <- sqrt(sum(weights * ((mean - centre)^2 + sd^2)))
      at <- sample.int(length(weights), m, TRUE, weights)
      (mean[at] + sd[at] * (if (law == "f") double_exponential(m) else stats::rnorm(m)) - centre) / spread
    }
  )
}

ica_sources <- function(m, laws = 2, set = c("gretton", "bach")) {
  m <- check_count(m, "n", upper = 1e7)
  set <- check_choice(set, c("gretton", "bach"))
  if (is.character(laws)) {
    bad <- setdiff(laws, letters[1:18])
    if (length(laws) == 0L || length(bad) > 0L) {
      fail_input("laws", "letters from \"a\" to \"r\", or a number of sources", if (length(bad) > 0L) describe(bad[1L]) else describe(laws))
    }
  } else {
    laws <- sample(letters[1:18], check_count(laws, upper = 1000), replace = TRUE)
  }
  s <- vapply(laws, draw_law, double(m), m = m, set = set, USE.NAMES = FALSE)
  matrix(s, m, length(laws), dimnames = list(NULL, laws))
}

random_mixing <- function(n, cond = c(1, 2)) {
  n <- check_count(n, upper = 1000)
  cond <- check_vector(cond, lower = 1)
  if (length(cond) > 2L || (length(cond) == 2L && cond[1L] > cond[2L])) {
    fail_input("cond", "one condition number, or the two ends of a range", describe(cond))
  }
  target <- if (length(cond) == 2L) stats::runif(1L, cond[1L], cond[2L]) else cond
  rotation <- function() {
    q <- qr(matrix(stats::rnorm(n * n), n))
    qr.Q(q) * rep(sign(diag(qr.R(q))), each = n)
  }
  values <- if (n == 1L) 1 else c(1, target, stats::runif(n - 2L, 1, target))
  rotation() %*% diag(values, n) %*% rotation()
}

ica_outliers <- function(x, count, size = 5) {
  x <- check_matrix(x)
  count <- check_count(count, "outliers", lower = 0)
  size <- check_number(size)
  if (count > nrow(x)) fail_input("outliers", sprintf("at most the number of rows, %d", nrow(x)), describe(count))
  rows <- sample.int(nrow(x), count)
  x[rows, ] <- x[rows, ] + size * sample(c(-1, 1), count * ncol(x), TRUE)
  attr(x, "rows") <- sort(rows)
  x
}

amari_error <- function(W, B) {
  if (missing(W)) fail_missing("W")
  if (inherits(W, "granary_ica")) W <- W$W
  W <- check_matrix(W)
  B <- check_matrix(B)
  if (ncol(W) != nrow(B) || nrow(W) != ncol(B)) {
    abort_input(sprintf("`W` and `B` must multiply to a square matrix, but they are %d x %d and %d x %d.", nrow(W), ncol(W), nrow(B), ncol(B)), "B")
  }
  d <- abs(W %*% B)
  n <- nrow(d)
  if (n < 2L) fail_input("W", "an unmixing matrix of two components or more", describe(W))
  if (any(c(apply(d, 1L, max), apply(d, 2L, max)) == 0) || !all(is.finite(d))) {
    abort_input("The product of `W` and `B` has a row or column of zeros, or overflows: its Amari error is not defined.", "W")
  }
  excess <- function(margin) sum(apply(d, margin, function(v) sum(v / max(v))) - 1)
  100 * (excess(1L) + excess(2L)) / (2 * n * (n - 1))
}
