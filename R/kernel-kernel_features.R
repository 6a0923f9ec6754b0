#' Incomplete Cholesky factor of a kernel matrix
#'
#' Low-rank factor \eqn{Z} with \eqn{K \approx ZZ'}{K ~ ZZ'}, from the columns of the kernel matrix alone, which is never formed.
#'
#' @details
#' Pivoted: at each step the observation whose diagonal entry of \eqn{K - ZZ'} is largest adds a column, until the trace of \eqn{K - ZZ'}, which
#' is its
#' nuclear norm, is at most `tol` times that of \eqn{K}. \eqn{O(nd^2)} time and \eqn{O(nd)} memory for rank \eqn{d}. With \eqn{P} the pivots and
#' \eqn{LL' = K_{PP}}{LL' = K_PP} (`root`), a new row has the features \eqn{L^{-1}k(x_P, x)}{L^-1 k(x_P, x)}: `predict()`. With `center` the
#' columns of \eqn{Z} have
#' mean zero, and \eqn{ZZ'} approximates \eqn{HKH}.
#'
#' @section Which method when:
#' To give kernel methods to large data: any linear method on `factor` is its kernel version with the kernel \eqn{ZZ'}.
#'
#' @param x Observations in rows: a matrix or data frame of numbers, a vector for one column; a kernel matrix if `kernel` is `"precomputed"`.
#' @param kernel A kernel (see [kernels]), or `"gaussian"`, `"laplace"` or `"delta"` (see [kernel_dependence]; not densities).
#' @param width Scale of the Gaussian or Laplace kernel, a number or `"median"`.
#' @param tol Share of the trace that may be left out.
#' @param max_rank Largest number of columns; `NULL` for no bound.
#' @param center Subtract the means of the columns of \eqn{Z}?
#' @param object A factorisation.
#' @param newdata New rows, as `x`; kernel values against the observations for `"precomputed"`.
#' @param ... Not used.
#' @return An object of class `granary_kernel_features`: a list with `factor`, `pivots`, `root`, `mean` of the columns, `rank`, `trace` of
#'   \eqn{K} and `residual`,
#'   that of \eqn{K - ZZ'}. `predict()` gives a matrix with `rank` columns.
#' @references
#' Fine and Scheinberg (2001). Efficient SVM training using low-rank kernel representations. *Journal of Machine Learning Research* 2, 243--264.
#'
#' Bach and Jordan (2002). Kernel independent component analysis. *Journal of Machine Learning Research* 3, 1--48.
#' @seealso [hsic()], [independence_test()], [kernel_ica()], [kmi_bounds()]
#' @export
#' @examples
#' x <- as.matrix(iris[, 1:4])
#' z <- kernel_features(x, k_se(lengthscale = 2), tol = 1e-4)
#' z
#' max(abs(kernel_matrix(k_se(lengthscale = 2), x) - tcrossprod(z$factor)))
#' predict(z, x[1:2, ])
kernel_features <- function(x, kernel = "gaussian", width = "median", tol = 1e-5, max_rank = NULL, center = FALSE, ...) {
  refuse_dots(...)
  call <- match.call()
  tol <- check_number(tol, lower = 0, upper = 1, strict_upper = TRUE)
  max_rank <- check_count(max_rank, allow_null = TRUE)
  center <- check_flag(center)
  if (missing(x)) fail_missing("x")
  kernel <- kernel_per_variable(kernel, "x")[[1L]]
  width <- width_per_variable(width, "x")
  variable <- make_variable(read_variable(x, "x", identical(kernel, "precomputed"), kernel), kernel, width, "x", FALSE, FALSE)
  raw <- core_incomplete_cholesky(core_variables(list(variable)), list(rank_tol = tol, max_rank = if (is.null(max_rank)) 0L else max_rank), center,
                                  progress_bar("incomplete Cholesky"))
  new_fit("kernel_features", factor = raw$values, pivots = raw$pivots, root = raw$root, mean = raw$mean, rank = length(raw$pivots),
          trace = raw$trace, residual = raw$residual, centred = center, levels = variable$levels,
          variables = if (is.null(variable$levels) && !is.null(variable$kernel)) colnames(x),
          at = if (!is.null(variable$kernel)) variable$x[raw$pivots, , drop = FALSE], kernel = if (!is.null(variable$kernel)) forget_values(variable$kernel),
          layout = variable$layout, n = nrow(variable$x), call = call,
          convergence = list())
}

#' @rdname kernel_features
#' @export
predict.granary_kernel_features <- function(object, newdata, ...) {
  refuse_dots(...)
  if (missing(newdata)) fail_missing("newdata")
  if (!is.null(object$variables) && is.null(object$layout) && length(dim(newdata)) == 2L) newdata <- new_design(newdata, object$variables, allow_sparse = FALSE)
  basis <- diag(1, object$rank)
  w <- list(layout = object$layout, levels = object$levels, at = object$at, pivots = object$pivots, constant = 0, kernel = object$kernel,
            coefficients = if (object$rank > 0L) backsolve(object$root, basis, upper.tri = FALSE, transpose = TRUE) else basis)
  if (object$rank == 0L) return(matrix(0, NROW(newdata), 0L))
  values <- matrix(witness_at(w, newdata, "newdata", object$n), ncol = object$rank)
  if (object$centred) values <- values - rep(object$mean, each = nrow(values))
  values
}
