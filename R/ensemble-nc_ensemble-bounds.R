#' How strong the coupling of an ensemble can be
#'
#' The scales and bounds of the strength of [nc_ensemble()], the second derivative they come from, and the parts of the
#' gradient of a member.
#'
#' @details
#' `"strength"`: one strength on both scales, \eqn{\lambda = 2 \gamma (1 - 1/M)}{lambda = 2 gamma (1 - 1/M)}; `bound`,
#' where trouble starts, \eqn{\lambda = 1}{lambda = 1}; and
#' `upper`, beyond which the error of no member has a minimum, \eqn{\lambda = M / (M - 1)}{lambda = M / (M - 1)},
#' \eqn{\gamma = M^2 / (2 (M - 1)^2)}{gamma = M^2 / (2 (M - 1)^2)}.
#'
#' `"hessian"`: the diagonal entry of the second derivative of a member's error in the weight of a unit with value
#' `phi`,
#' \eqn{(1 - \lambda (1 - 1/M)) \phi^2}{(1 - lambda (1 - 1/M)) phi^2}; and the two eigenvalues of that of the joint
#' error in the members' outputs, `apart`
#' \eqn{1 - \lambda}{1 - lambda} and `together` 1 (times 1/M in the paper's scaling).
#'
#' `"gradient"`: of each row and member \eqn{A = f_i - t}, \eqn{B = f_i - \bar f}{B = f_i - fbar}, \eqn{C = B / M},
#' \eqn{D = \frac1M \sum_{j \ne i} (f_j - \bar f) = -C}{D = (1/M) sum_{j != i} (f_j - fbar) = -C}, and the derivatives
#' they make: `single` \eqn{A}, `nc` \eqn{A - \lambda B}{A - lambda B}, `whole` \eqn{(A - B) / M}.
#'
#' `"objective"`:
#' \eqn{\frac1M \sum_i \frac12 (f_i - t)^2 - \lambda \frac1M \sum_i \frac12 (f_i - \bar f)^2}{
#' 1/M sum_i 1/2 (f_i - t)^2 - lambda 1/M sum_i 1/2 (f_i - fbar)^2},
#' averaged over the rows.
#'
#' @section Which method when:
#' `"strength"` to translate between papers and to see how far one can go, `"gradient"` to follow what pulls at a
#' member.
#'
#' @param what Which calculator.
#' @param ... Its arguments.
#'
#'   `"strength"`: `n_members` (several), and `lambda` or `gamma`, or neither.
#'
#'   `"hessian"`: `lambda` (several), `n_members`, `phi` (1).
#'
#'   `"gradient"`, `"objective"`: `x`, predictions of the members, one column each; `y`; `lambda`.
#' @return `"strength"`, `"hessian"`, `"gradient"` data frames, `"objective"` a number.
#' @references
#' Brown, G., Wyatt, J. L. and Tino, P. (2005). Managing diversity in regression ensembles. *Journal of Machine Learning
#' Research* 6, 1621-1650.
#' @seealso [nc_ensemble()], [nc_ensemble_select()], [nc_ensemble_baseline()], [ensemble_diversity()],
#'   [sim_nc_ensemble()]
#' @export
#' @examples
#' nc_ensemble_bounds("strength", n_members = c(2, 5, 20), gamma = 0.5)
#' nc_ensemble_bounds("hessian", lambda = c(0, 0.9, 1.1), n_members = 10)
#' nc_ensemble_bounds("gradient", x = rbind(c(8, 1, 2, 2, 2)), y = 4, lambda = 0.64)
#' nc_ensemble_bounds("objective", x = rbind(c(8, 1, 2, 2, 2)), y = 4, lambda = 0.64)
nc_ensemble_bounds <- function(what = c("strength", "hessian", "gradient", "objective"), ...) {
  by_what(what, list(strength = nc_strengths, hessian = nc_hessian, gradient = nc_gradient, objective = nc_value), ...)
}

nc_strength_bounds <- function(m) {
  c(lambda = 1, gamma = m / (2 * (m - 1)), lambda_upper = m / (m - 1), gamma_upper = m^2 / (2 * (m - 1)^2))
}

nc_strengths <- function(n_members, lambda = NULL, gamma = NULL) {
  if (missing(n_members)) fail_missing("n_members")
  m <- unname(check_vector(n_members, "n_members", lower = 2, upper = 1e9))
  if (any(m != round(m))) fail_input("n_members", "whole numbers of members", describe(n_members))
  if (!is.null(lambda) && !is.null(gamma)) {
    abort_input("Give `lambda` or `gamma`, not both: they are one strength on two scales.", "gamma")
  }
  given <- if (is.null(lambda)) gamma else lambda
  if (!is.null(given)) {
    given <- unname(check_vector(given, if (is.null(lambda)) "gamma" else "lambda", lower = 0))
    if (length(m) > 1L && length(given) > 1L && length(m) != length(given)) {
      abort_input(
        sprintf("`n_members` and the strengths must be as many, or one of them single, but there are %d and %d.",
                length(m), length(given)), "n_members")
    }
  }
  size <- max(length(m), length(given))
  m <- rep_len(m, size)
  given <- if (is.null(given)) rep(NA_real_, size) else rep_len(given, size)
  ratio <- 2 * (1 - 1 / m)
  data.frame(n_members = m, lambda = if (is.null(gamma)) given else given * ratio,
             gamma = if (is.null(gamma)) given / ratio else given, lambda_bound = 1, gamma_bound = 1 / ratio,
             lambda_upper = m / (m - 1), gamma_upper = m^2 / (2 * (m - 1)^2))
}

nc_hessian <- function(lambda, n_members, phi = 1) {
  if (missing(lambda)) fail_missing("lambda")
  if (missing(n_members)) fail_missing("n_members")
  lambda <- unname(check_vector(lambda, "lambda", lower = 0))
  m <- check_count(n_members, "n_members")
  phi <- check_number(phi, "phi")
  data.frame(lambda = lambda, diagonal = (1 - lambda * (1 - 1 / m)) * phi^2, apart = 1 - lambda,
             together = rep(1, length(lambda)))
}

nc_rows <- function(x, y) {
  x <- check_matrix(x, "x")
  list(x = x, y = unname(check_vector(y, "y", length = nrow(x))))
}

nc_gradient <- function(x, y, lambda = 1) {
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  data <- nc_rows(x, y)
  found <- core_gradient_parts(unname_design(data$x), data$y, check_number(lambda, "lambda", lower = 0))
  members <- if (is.null(colnames(data$x))) paste0("member", seq_len(ncol(data$x))) else colnames(data$x)
  data.frame(row = rep(seq_len(nrow(data$x)), ncol(data$x)), member = rep(members, each = nrow(data$x)),
             A = as.vector(found$a), B = as.vector(found$b), C = as.vector(found$c), D = as.vector(found$d),
             single = as.vector(found$single), nc = as.vector(found$nc), whole = as.vector(found$whole))
}

nc_value <- function(x, y, lambda = 1) {
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  data <- nc_rows(x, y)
  core_nc_objective(unname_design(data$x), data$y, check_number(lambda, "lambda", lower = 0))
}
