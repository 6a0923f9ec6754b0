#' Gaussian mutual information of tables and densities
#'
#' Mutual information of Gaussian variables that have the covariances of the cells of a table: the quantity that the kernel mutual information
#' bounds.
#' `what = "table"` has it from a contingency table, `"grid"` from Parzen window estimates on a grid. For checking [kmi()], not for use at scale.
#'
#' @details
#' With cell probabilities \eqn{P}, margins \eqn{p} and \eqn{q}, and \eqn{C = P - pq'},
#' \deqn{-\frac12\log|I - C'D_p^{-1}CD_q^{-1}|}{-1/2 log |I - C' D_p^-1 C D_q^-1|}
#' which near independence is the mutual information and \eqn{\chi^2/(2m)}{chi^2 / (2 m)}. It is infinite where the table determines a combination
#' of rows from the
#' columns.
#'
#' `"grid"` puts windows of the given width on every observation, on a grid over the range of the data, the support in
#' Theorem 16 (`margin` widths more on request): the singular values
#' \eqn{\rho}{rho} of \eqn{D_x^{-1/2}K_lHL_l'D_y^{-1/2}}{D_x^-1/2 K H L' D_y^-1/2} give
#' \eqn{-\frac12\sum\log(1 - \rho^2)}{-1/2 sum log(1 - rho^2)}. With fine grids it is at
#' most about the value of `kmi(width = width)` with `nu = "parzen"`.
#'
#' @section Which method when:
#' `"table"` for tables of categories near independence; otherwise [kmi()].
#'
#' @param what `"table"` with argument `table`, a contingency table: a matrix of counts, or what [table()] gives. `"grid"` with `x`, `y`, two vectors of
#'   numbers of one length, `width` of the window (standard deviation for the Gaussian one): one number, or two; and perhaps `kernel`, `"gaussian"` or
#'   `"laplace"`, `grid`, the number of grid points in each direction, and `margin`, how far the grid reaches beyond the data, in widths.
#' @param ... These arguments.
#' @return A number.
#' @references
#' Gretton, Herbrich, Smola, Bousquet and Schoelkopf (2005). Kernel methods for measuring independence. *Journal of Machine Learning Research* 6,
#' 2075--2129, equations (18) and (20)--(23).
#' @seealso [hsic()], [independence_test()], [kernel_features()], [kernel_ica()]
#' @export
#' @examples
#' counts <- table(mtcars$cyl, mtcars$gear)
#' kmi_bounds("table", counts)
#' set.seed(1)
#' x <- runif(50)
#' y <- runif(50)
#' kmi_bounds("grid", x, y, width = 0.3)
#' kmi(x, y, width = 0.3, nu = "parzen")$value
kmi_bounds <- function(what = c("table", "grid"), ...) by_what(what, list(table = gmi_table, grid = gmi_grid), ...)

gmi_table <- function(table) {
  if (missing(table)) fail_missing("table")
  if (inherits(table, "table") && length(dim(table)) == 2L) table <- matrix(as.double(table), nrow(table), ncol(table))
  counts <- check_matrix(table, "table", min_rows = 1L, min_cols = 1L)
  if (any(counts < 0) || !(sum(counts) > 0)) abort_input("`table` must hold counts: not negative, and not all zero.", "table")
  core_table_information(unname(counts))
}

gmi_grid <- function(x, y, width, kernel = c("gaussian", "laplace"), grid = 200, margin = 0) {
  x <- check_vector(x, min_length = 4L)
  y <- check_vector(y, length = length(x))
  width <- width_per_variable(if (missing(width)) fail_missing("width") else width, c("x", "y"))
  if (anyNA(width)) fail_input("width", "one or two positive numbers", "\"median\"")
  kernel <- check_choice(kernel, c("gaussian", "laplace"))
  grid <- check_count(grid, lower = 2, upper = 2000)
  margin <- check_number(margin, lower = 0, upper = 100)
  make <- if (kernel == "gaussian") gaussian_kernel else laplace_kernel
  core_grid_information(x, y, lapply(width, make, d = 1L), margin * width, grid)
}
