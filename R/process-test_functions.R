# Functions that emulators and optimisers are tried on.

#' Test functions for emulation and optimisation
#'
#' Cheap stand-ins for expensive simulators, with known minima.
#'
#' @details
#' | function | inputs | box | minimum |
#' | --- | --- | --- | --- |
#' | `"branin"` | 2 | \eqn{[-5, 10]\times[0, 15]}{[-5, 10] x [0, 15]} | 0.397887, at three points |
#' | `"camelback"` | 2 | \eqn{[-2, 2]\times[-1, 1]}{[-2, 2] x [-1, 1]} | -1.031628, at two points |
#' | `"hartmann6"` | 6 | \eqn{[0, 1]^6} | -3.32237 |
#' | `"forrester"` | 1 | \eqn{[0, 1]} | -6.020740 |
#'
#' `"forrester"` comes at two levels of fidelity: the cheap one is \eqn{0.5 f(x) + 10(x - 0.5) - 5}{0.5 f(x) + 10 (x - 0.5) - 5}.
#'
#' @section Which method when:
#' `"branin"` and `"camelback"` for two inputs, `"hartmann6"` for six, `"forrester"` for one and for [cokriging()]; a simulator of your own as soon as
#' there is one.
#'
#' @param name The name of a function.
#' @param ... Nothing: an argument that is not known is an error.
#' @return The function, of points: one per row, or a vector of as many numbers as it has inputs for one point (`"forrester"`: one point each, and a second
#'   argument `fidelity`, `"expensive"` or `"cheap"`). It gives one value per point; its attribute `box` is a matrix with its bounds.
#' @references
#' Forrester, Sobester and Keane (2008). *Engineering Design via Surrogate Modelling*. Wiley.
#'
#' Dixon and Szego (1978). The global optimization problem: an introduction. *Towards Global Optimisation 2*, 1-15.
#' @seealso [kriging()], [blind_kriging()], [cokriging()], [kriging_diagnose()], [gp_parameter_sample()], [bayes_opt()]
#' @export
#' @examples
#' test_function("branin")(c(pi, 2.275))
#' test_function("camelback")(rbind(c(0.0898, -0.7126), c(0, 0)))
#' test_function("hartmann6")(rep(0.5, 6))
#' test_function("forrester")(c(0.2, 0.75))
#' curve(test_function("forrester")(x), 0, 1)
#' curve(test_function("forrester")(x, "cheap"), add = TRUE, lty = 2)
test_function <- function(name = c("branin", "camelback", "hartmann6", "forrester"), ...) {
  refuse_dots(...)
  name <- check_choice(name, c("branin", "camelback", "hartmann6", "forrester"))
  switch(name, branin = objective_branin, camelback = objective_camelback, hartmann6 = objective_hartmann6, forrester = objective_forrester)
}

test_points <- function(x, d) {
  if (missing(x)) fail_missing("x")
  if (is_plain_numeric(x) && is.null(dim(x)) && d > 1L) {
    if (length(x) != d) abort_input(sprintf("`x` must be a point of %d numbers or a matrix with %d columns, but it has length %d.", d, d,
                                            length(x)), "x")
    x <- matrix(x, 1L)
  }
  x <- check_inputs(x, "x")
  if (ncol(x) != d) abort_input(sprintf("`x` must have %s, but it has %d.", counted(d, "column", "columns"), ncol(x)), "x")
  unname(x)
}

with_box <- function(f, lower, upper) {
  structure(f, box = cbind(lower = lower, upper = upper))
}

objective_branin <- with_box(function(x) {
  x <- test_points(x, 2L)
  (x[, 2L] - 5.1 * x[, 1L]^2 / (4 * pi^2) + 5 * x[, 1L] / pi - 6)^2 + 10 * (1 - 1 / (8 * pi)) * cos(x[, 1L]) + 10
}, c(-5, 0), c(10, 15))

objective_camelback <- with_box(function(x) {
  x <- test_points(x, 2L)
  a <- x[, 1L]^2
  b <- x[, 2L]^2
  (4 - 2.1 * a + a^2 / 3) * a + x[, 1L] * x[, 2L] + (4 * b - 4) * b
}, c(-2, -1), c(2, 1))

objective_hartmann6 <- with_box(function(x) {
  x <- test_points(x, 6L)
  weight <- rbind(c(10, 3, 17, 3.5, 1.7, 8), c(0.05, 10, 17, 0.1, 8, 14), c(3, 3.5, 1.7, 10, 17, 8), c(17, 8, 0.05, 10, 0.1, 14))
  centre <- 1e-4 * rbind(c(1312, 1696, 5569, 124, 8283, 5886), c(2329, 4135, 8307, 3736, 1004, 9991),
                         c(2348, 1451, 3522, 2883, 3047, 6650), c(4047, 8828, 8732, 5743, 1091, 381))
  height <- c(1, 1.2, 3, 3.2)
  value <- numeric(nrow(x))
  for (i in 1:4) value <- value - height[i] * exp(-drop(sweep(x, 2L, centre[i, ])^2 %*% weight[i, ]))
  value
}, rep(0, 6), rep(1, 6))

objective_forrester <- with_box(function(x, fidelity = c("expensive", "cheap")) {
  fidelity <- check_choice(fidelity, c("expensive", "cheap"))
  x <- test_points(x, 1L)[, 1L]
  value <- (6 * x - 2)^2 * sin(12 * x - 4)
  if (fidelity == "cheap") 0.5 * value + 10 * (x - 0.5) - 5 else value
}, 0, 1)
