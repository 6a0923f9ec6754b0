# Functions that emulators and optimisers are tried on.

#' Test functions for emulation and optimisation
#'
#' Cheap stand-ins for expensive simulators, with known minima.
#'
#' @details
#' | function | inputs | box | minimum |
#' | --- | --- | --- | --- |
#' | `branin()` | 2 | \eqn{[-5, 10]\times[0, 15]}{[-5, 10] x [0, 15]} | 0.397887, at three points |
#' | `camelback()` | 2 | \eqn{[-2, 2]\times[-1, 1]}{[-2, 2] x [-1, 1]} | -1.031628, at two points |
#' | `hartmann6()` | 6 | \eqn{[0, 1]^6} | -3.32237 |
#' | `forrester()` | 1 | \eqn{[0, 1]} | -6.020740 |
#'
#' `forrester()` comes at two levels of fidelity: the cheap one is \eqn{0.5 f(x) + 10(x - 0.5) - 5}{0.5 f(x) + 10 (x - 0.5) - 5}.
#'
#' @param x Points, one per row; a vector of as many numbers as the function has inputs is one point (for `forrester()`, one point each).
#' @param fidelity For `forrester()`: the expensive or the cheap version.
#' @return A vector with one value per point. The attribute `box` of each function, `attr(branin, "box")`, is a matrix with its bounds.
#' @references
#' Forrester, Sobester and Keane (2008). *Engineering Design via Surrogate Modelling*. Wiley.
#'
#' Dixon and Szego (1978). The global optimization problem: an introduction. *Towards Global Optimisation 2*, 1-15.
#' @family test functions
#' @name test_functions
#' @examples
#' branin(c(pi, 2.275))
#' camelback(rbind(c(0.0898, -0.7126), c(0, 0)))
#' hartmann6(rep(0.5, 6))
#' forrester(c(0.2, 0.75))
#' curve(forrester(x), 0, 1)
#' curve(forrester(x, "cheap"), add = TRUE, lty = 2)
NULL

test_points <- function(x, d) {
  if (missing(x)) fail_missing("x")
  if (is_plain_numeric(x) && is.null(dim(x)) && d > 1L) {
    if (length(x) != d) abort_input(sprintf("`x` must be a point of %d numbers or a matrix with %d columns, but it has length %d.", d, d, length(x)), "x")
    x <- matrix(x, 1L)
  }
  x <- check_inputs(x, "x")
  if (ncol(x) != d) abort_input(sprintf("`x` must have %s, but it has %d.", counted(d, "column", "columns"), ncol(x)), "x")
  unname(x)
}

test_function <- function(f, lower, upper) {
  structure(f, box = cbind(lower = lower, upper = upper))
}

#' @rdname test_functions
#' @export
branin <- test_function(function(x) {
  x <- test_points(x, 2L)
  (x[, 2L] - 5.1 * x[, 1L]^2 / (4 * pi^2) + 5 * x[, 1L] / pi - 6)^2 + 10 * (1 - 1 / (8 * pi)) * cos(x[, 1L]) + 10
}, c(-5, 0), c(10, 15))

#' @rdname test_functions
#' @export
camelback <- test_function(function(x) {
  x <- test_points(x, 2L)
  a <- x[, 1L]^2
  b <- x[, 2L]^2
  (4 - 2.1 * a + a^2 / 3) * a + x[, 1L] * x[, 2L] + (4 * b - 4) * b
}, c(-2, -1), c(2, 1))

#' @rdname test_functions
#' @export
hartmann6 <- test_function(function(x) {
  x <- test_points(x, 6L)
  weight <- rbind(c(10, 3, 17, 3.5, 1.7, 8), c(0.05, 10, 17, 0.1, 8, 14), c(3, 3.5, 1.7, 10, 17, 8), c(17, 8, 0.05, 10, 0.1, 14))
  centre <- 1e-4 * rbind(c(1312, 1696, 5569, 124, 8283, 5886), c(2329, 4135, 8307, 3736, 1004, 9991),
                         c(2348, 1451, 3522, 2883, 3047, 6650), c(4047, 8828, 8732, 5743, 1091, 381))
  height <- c(1, 1.2, 3, 3.2)
  value <- numeric(nrow(x))
  for (i in 1:4) value <- value - height[i] * exp(-drop(sweep(x, 2L, centre[i, ])^2 %*% weight[i, ]))
  value
}, rep(0, 6), rep(1, 6))

#' @rdname test_functions
#' @export
forrester <- test_function(function(x, fidelity = c("expensive", "cheap")) {
  fidelity <- check_choice(fidelity, c("expensive", "cheap"))
  x <- test_points(x, 1L)[, 1L]
  value <- (6 * x - 2)^2 * sin(12 * x - 4)
  if (fidelity == "cheap") 0.5 * value + 10 * (x - 0.5) - 5 else value
}, 0, 1)
