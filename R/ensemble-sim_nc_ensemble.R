#' Friedman's curve in five of ten columns
#'
#' \eqn{y = 10 \sin(\pi x_1 x_2) + 20 (x_3 - 0.5)^2 + 10 x_4 + 5 x_5 + \epsilon}{
#' y = 10 sin(pi x1 x2) + 20 (x3 - 0.5)^2 + 10 x4 + 5 x5 + e}
#' with uniform columns: the data on which ensembles of networks are usually compared.
#'
#' @section Which method when:
#' To see what [nc_ensemble()] gains over members on their own, and how that depends on their number and size.
#'
#' @param n Number of rows.
#' @param p Number of columns, at least five: the others have no effect.
#' @param noise Standard deviation of the noise.
#' @param n_test Number of new rows.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list with `x`, `y`, the noiseless `mean`, and new rows `newx`, `newy`, `newmean`.
#' @references
#' Friedman, J. H. (1991). Multivariate adaptive regression splines. *Annals of Statistics* 19, 1-67.
#' @seealso [nc_ensemble()], [nc_ensemble_select()], [nc_ensemble_baseline()], [nc_ensemble_bounds()],
#'   [ensemble_diversity()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_nc_ensemble(100)
#' str(sim)
#' cor(sim$x, sim$y)
sim_nc_ensemble <- function(n = 200, p = 10, noise = 1, n_test = 1000, ...) {
  refuse_dots(...)
  n <- check_count(n, upper = 1e7)
  p <- check_count(p, lower = 5, upper = 1e5)
  noise <- check_number(noise, lower = 0)
  n_test <- check_count(n_test, lower = 0, upper = 1e7)
  draw_rows <- function(n) matrix(stats::runif(n * p), n, p, dimnames = list(NULL, paste0("x", seq_len(p))))
  curve <- function(x) 10 * sin(pi * x[, 1L] * x[, 2L]) + 20 * (x[, 3L] - 0.5)^2 + 10 * x[, 4L] + 5 * x[, 5L]
  x <- draw_rows(n)
  newx <- draw_rows(n_test)
  mean <- curve(x)
  newmean <- curve(newx)
  list(x = x, y = mean + noise * stats::rnorm(n), mean = mean, newx = newx,
       newy = newmean + noise * stats::rnorm(n_test), newmean = newmean)
}
