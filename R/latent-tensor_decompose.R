#' Orthogonal decomposition of a symmetric tensor
#'
#' Takes a symmetric tensor of order three apart into rank-one terms with orthonormal vectors, as the moments of many latent variable models are after whitening.
#'
#' @details
#' The model is
#' \deqn{T = \sum_{i=1}^k \lambda_i \, v_i \otimes v_i \otimes v_i, \quad v_i'v_j = [i = j], \quad \lambda_i > 0,}{T = sum_i lambda_i v_i (x) v_i (x) v_i, v_i orthonormal, lambda_i > 0,}
#' which, unlike the eigenvalues of a matrix, is unique even where the \eqn{\lambda_i}{lambda_i} are equal. `"power"` iterates \eqn{u \leftarrow T(I, u, u) / |T(I, u, u)|}{u <- T(I,u,u)/|.|} from `n_starts` random
#' directions, keeps the one with the largest \eqn{T(u, u, u)}, and takes it off (Algorithm 1); convergence is quadratic. `"power_stop"` takes the first start with
#' \eqn{|T(u,u,u)| \ge \max\{|T|_F / (2 \sqrt r), |T(I,I,u)|_F / 1.05\}}{|T(u,u,u)| >= max{|T|_F / (2 sqrt r), |T(I,I,u)|_F / 1.05}} while `r` components are left (Algorithm 2). `"ball"` adds
#' a shift to the step, which then climbs for certain. `"joint"` diagonalises many slices together by rotations, `"jennrich"` one random slice, `"svd"` uses the unfolding, which fails where
#' two \eqn{\lambda_i}{lambda_i} are equal.
#'
#' Two checks of each component come from the tensor alone: `attraction` below 1 says that power steps from nearby lead to the vector, `curvature` below 0 that it is
#' a strict local maximum of \eqn{T(u,u,u)} on the sphere. The tensor has other eigenvectors, mixtures of the \eqn{v_i}{v_i}; these fail both.
#'
#' @section Which method when:
#' `"power"` for exact or nearly orthogonal tensors, `"joint"` where moments are noisy: it fits all components at once and no error of one is handed on to the next. `"jennrich"` and `"svd"`
#' are quick looks. For moments of data use [spectral_mixture()], which makes the tensor too.
#'
#' @param x A symmetric array, k x k x k. Entries are averaged over all orders of the indices; an array far from symmetric is refused.
#' @param k Number of components, at most the side of the tensor.
#' @param method Algorithm.
#' @param n_starts Random starts for each component; 0 for the larger of 20 and three times the side.
#' @param tol Change of a vector at which its steps end.
#' @param max_iter Steps from a start.
#' @return An object of class `granary_tensor_decompose`: `values` (\eqn{\lambda}{lambda}, largest first), `vectors` (columns), `residual` (relative Frobenius norm of what is left), `coherence` (largest
#'   entry of \eqn{|V'V - I|}), `table` with the checks, `n_starts`, `convergence`.
#' @references Anandkumar, Ge, Hsu, Kakade and Telgarsky (2014). Tensor decompositions for learning latent variable models. *Journal of Machine Learning Research* 15, 2773--2832.
#' @seealso [spectral_mixture()], [spectral_mixture_bounds()].
#' @export
#' @examples
#' v <- diag(3)
#' x <- array(0, c(3, 3, 3))
#' for (i in 1:3) x <- x + c(3, 2, 1)[i] * (v[, i] %o% v[, i] %o% v[, i])
#' set.seed(1)
#' tensor_decompose(x)
tensor_decompose <- function(x, k = dim(x)[1L], method = c("power", "power_stop", "joint", "jennrich", "svd", "ball"), n_starts = 0, tol = 1e-12, max_iter = 100) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  size <- dim(x)
  if (!is.numeric(x) || is.object(x) || length(size) != 3L || size[1L] < 1L || any(size != size[1L])) fail_input("x", "a symmetric array of three equal sides", describe(x))
  if (any(!is.finite(x))) abort_input(sprintf("`x` must be finite, but entry %d is %s.", which(!is.finite(x))[1L], format(x[!is.finite(x)][1L])), "x")
  gap <- max(abs(x - aperm(x, c(2L, 1L, 3L))), abs(x - aperm(x, c(3L, 2L, 1L))))
  if (gap > 1e-6 * max(abs(x))) abort_input(sprintf("`x` must be symmetric in its three indices, but entries that should be equal differ by %s.", format(gap, digits = 3L)), "x")
  if (all(x == 0)) abort_input("`x` must not be zero everywhere: there is nothing to take apart.", "x")
  k <- check_count(k)
  if (k > size[1L]) abort_input(sprintf("`k` must be at most the side of `x`, %d, not %d.", size[1L], k), "k")
  options <- tensor_options(method, n_starts, tol, max_iter)
  found <- core_tensor_decompose(matrix(as.double(x), size[1L]), k, options, core_seed(), progress_bar("tensor"))
  at <- order(-found$values)
  fit <- new_fit("tensor_decompose", values = found$values[at], vectors = structure(found$vectors[, at, drop = FALSE], dimnames = list(dimnames(x)[[1L]], NULL)),
                 residual = found$residual, coherence = found$coherence, table = tensor_table(found, at), method = options$method, n_starts = found$starts, n = size[1L],
                 call = call, convergence = found$convergence)
  check_convergence(fit, "Raise `max_iter` or `n_starts`, use a smaller `k`, or method = \"joint\".")
}

tensor_options <- function(method, n_starts, tol, max_iter) {
  list(method = check_choice(method, c("power", "power_stop", "joint", "jennrich", "svd", "ball"), "method"), n_starts = check_count(n_starts, "n_starts", lower = 0),
       tol = check_number(tol, "tol", lower = 0, strict_lower = TRUE), max_iter = check_count(max_iter, "max_iter"))
}

tensor_table <- function(found, at = seq_along(found$values)) {
  checks <- length(found$attraction) > 0L
  data.frame(component = seq_along(at), value = found$values[at], attraction = if (checks) found$attraction[at] else NA_real_,
             curvature = if (checks) found$curvature[at] else NA_real_, step = if (length(found$steps) > 0L) found$steps[at] else NA_real_)
}

#' @export
print.granary_tensor_decompose <- function(x, ...) {
  cli::cat_line("Orthogonal tensor decomposition by \"", x$method, "\": ", counted(length(x$values), "component", "components"), " of side ", nrow(x$vectors))
  print(format(x$table, digits = 4L), row.names = FALSE)
  cli::cat_line("Left over: ", format(100 * x$residual, digits = 3L), "% of the norm; ", format_convergence(x$convergence))
  invisible(x)
}

#' @export
coef.granary_tensor_decompose <- function(object, ...) {
  refuse_dots(...)
  stats::setNames(object$values, paste0("lambda", seq_along(object$values)))
}

#' @export
tidy.granary_tensor_decompose <- function(x, ...) x$table

#' @export
plot.granary_tensor_decompose <- function(x, ...) {
  draw(graphics::barplot, x$values, names.arg = seq_along(x$values), col = "#0072B2", border = NA, xlab = "component", ylab = "lambda", main = "", user = list(...))
  invisible(x)
}

#' @exportS3Method ggplot2::autoplot
autoplot.granary_tensor_decompose <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  gg_canvas(object$table, ggplot2::aes(.data$component, .data$value)) + ggplot2::geom_col(fill = "#0072B2") + ggplot2::labs(y = "lambda")
}
