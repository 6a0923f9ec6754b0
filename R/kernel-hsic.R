#' Kernel measures of dependence
#'
#' How strongly are two or more variables related, whatever the shape of the relation, and through which functions? Variables may be numbers,
#' vectors of numbers, categories, or anything else with a kernel.
#'
#' @details
#' Let \eqn{K} and \eqn{L} be the kernel matrices of two variables for \eqn{m} observations, \eqn{H = I - 11'/m}, and
#' \eqn{\gamma_1 \ge \gamma_2 \ge \dots}{gamma_1 >= gamma_2 >= ...} the square roots of the eigenvalues of \eqn{HKH\,HLH}{HKH HLH}.
#'
#' | function | value |
#' | --- | --- |
#' | `hsic()` | \eqn{\sum_i \gamma_i^2/m^2 = \mathrm{tr}(HKH\,HLH)/m^2}{sum gamma_i^2 / m^2 = tr(HKH HLH) / m^2} |
#' | `coco()` | \eqn{\gamma_1/m}{gamma_1 / m}: the largest covariance of \eqn{f(x)} and \eqn{g(y)} over functions of norm one |
#' | `kmi()` | \eqn{-\frac12\sum_i\log(1 - \gamma_i^2/\nu^2)}{-1/2 sum log(1 - gamma_i^2 / nu^2)}: bounds the mutual information near independence |
#' | `kcc()` | \eqn{\rho_1}{rho_1}, the largest correlation of \eqn{f(x)} and \eqn{g(y)}, regularised by \eqn{\kappa}{kappa} |
#' | `kgv()` | \eqn{-\frac12\sum_i\log(1 - \rho_i^2)}{-1/2 sum log(1 - rho_i^2)} |
#'
#' All are zero for a sample without any dependence, and with Gaussian or Laplace kernels in the limit only if the variables are independent.
#'
#' **Regularisation.** \eqn{\rho}{rho} solves
#' \deqn{\left(\begin{array}{cc}0 & \tilde K\tilde L\\ \tilde L\tilde K & 0\end{array}\right)c = \rho
#'   \left(\begin{array}{cc}R(\tilde K) & 0\\ 0 & R(\tilde L)\end{array}\right)c}{[0 KL; LK 0] c = rho blkdiag(R(K), R(L)) c}
#' for the centred matrices, with \eqn{R(K) = (K + m\kappa/2)^2}{R(K) = (K + m kappa / 2)^2} (`form = "squared"`, Bach and Jordan),
#' \eqn{K^2 + m\kappa K}{K^2 + m kappa K} (`"ridge"`), or, where `theta` is given,
#' \eqn{\theta K^2 + \nu(1 - \theta)K}{theta K^2 + nu (1 - theta) K}: `theta = 0` is the kernel mutual information, and the value grows with
#' `theta`.
#' Without regularisation \eqn{\rho_1 = 1}{rho_1 = 1} always.
#'
#' **Nu.** `"parzen"`: the kernel is the convolution of a Parzen window \eqn{q} of the given `width` with itself, and
#' \eqn{\nu = \min_j\sum_i q(x_i - x_j)}{nu = min_j sum_i q(x_i - x_j)} over all variables. `"gram"`: `width` is that of the kernel itself, and
#' the row sums
#' are those of the kernel matrices. `"safe"`: 1.01 times the largest eigenvalue of the centred kernel matrices. The element `valid` says whether
#' \eqn{\nu}{nu} exceeds those eigenvalues, which guarantees a finite value and that the KGV with `theta` bounds the KMI. Where the value is
#' undefined it is `Inf`, with a warning.
#'
#' **More than two variables.** With \eqn{\lambda}{lambda} the eigenvalues of the matrix whose off-diagonal blocks couple the variables and whose
#' diagonal
#' blocks are zero: COCO is \eqn{\max|\lambda|/m}{max |lambda| / m}, KMI and KGV
#' \eqn{-\frac12\sum\log(1 + \lambda/\nu)}{-1/2 sum log(1 + lambda / nu)}, KCC \eqn{-\frac12\log(1 + \min\lambda)}{-1/2 log(1 + min lambda)} (so
#' that its scale
#' is another one than for two), HSIC the sum over pairs. Each is zero if and only if all pairs are: dependence that no pair shows is found by
#' [independence_test()] with `measure = "dhsic"`.
#'
#' **Cost.** Kernel matrices are never formed: each is replaced by a pivoted incomplete Cholesky factor of rank \eqn{d}, with
#' \eqn{\mathrm{tr}(K - ZZ') \le}{tr(K - ZZ') <=} `rank_tol` \eqn{\mathrm{tr}(K)}{tr(K)}, so that time and memory are linear in \eqn{m}:
#' \eqn{O(m d^2)}. `rank_tol = 0` is exact.
#'
#' **Kernels.** `"gaussian"` \eqn{\exp(-d^2/2w^2)}{exp(-d^2 / (2 w^2))} and `"laplace"` \eqn{\exp(-d/w)}{exp(-d / w)}, \eqn{w} the `width`,
#' divided by their
#' integrals where `density` is `TRUE`; `"delta"` is 1 for equal and 0 for different values and used for factors, text and logical values without
#' being asked for; `"precomputed"` says that the variable is a kernel matrix; any kernel of the package's language (see [kernels]), with its own
#' scales.
#'
#' @section Which method when:
#' `hsic()` with [independence_test()] to test independence; `coco()` to see which functions of the variables go together (`plot()`), since both
#' functions have unit norm and so stay smooth; `kcc()` for the same on the scale of a correlation; `kmi()` and `kgv()` as estimates on the scale of
#' mutual information. The value of KCC and KGV depends on `kappa`: with outliers take about 0.1.
#'
#' @param x,y Two variables: vectors of numbers, factors, text, logical values, or matrices and data frames of numbers with one row per observation.
#'   Without `y`, `x` is a list of variables, or a matrix or data frame with one variable in each column. `x` is a fit for the methods.
#' @param kernel See Details: one for all variables, or a list with one for each.
#' @param width Scale of the Gaussian or Laplace kernel: positive numbers, one or one per variable; `"median"`: the median distance of two
#'   observations over
#'   \eqn{\sqrt2}{sqrt(2)} (of 1000 rows where there are more).
#' @param density Whether these kernels are densities. `NULL`: as in the papers, for `coco()`, `kmi()` and `kgv()` with `theta`.
#' @param kappa Regularisation, positive.
#' @param theta See Details: from 0 to below 1, in place of `kappa`.
#' @param form How `kappa` enters; see Details.
#' @param nu A rule, see Details, or a number. `NULL`: `"safe"`, with which the value is finite.
#' @param rank_tol Share of the trace of each kernel matrix that may be left out.
#' @param max_rank Largest rank of a factor; `NULL` for no bound.
#' @param threads Number of threads; `NULL` for `options(granary.threads)`.
#' @param object A fit.
#' @param newdata New values of the variables, as they came: a list with one element per variable; for `"precomputed"`, kernel values of new rows
#'   against
#'   the observations. `NULL` for the data.
#' @param which For `plot()`: `"witness"` for the functions \eqn{f} and \eqn{g} that attain the largest \eqn{\gamma}{gamma} or
#'   \eqn{\rho}{rho}, `"spectrum"`.
#' @param ... For `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @return An object of class `granary_dependence`: a list with
#' \item{value}{the measure}
#' \item{spectrum}{all \eqn{\gamma}{gamma} (`hsic()`, `coco()`, `kmi()`) or \eqn{\rho}{rho}; for more than two variables
#'   \eqn{\lambda}{lambda}; at most the 50
#'   largest where the ranks exceed 400}
#' \item{nu, valid, norms}{\eqn{\nu}{nu}, whether it exceeds the largest eigenvalues of the centred kernel matrices, and these eigenvalues}
#' \item{witness}{for each variable the leading function: its values `f` at the data, and its `coefficients` at the observations `pivots`}
#' \item{rank, residual}{rank of each factor, and the share of the trace left out}
#' `predict()` gives a matrix of the leading functions at new values, one column per variable; `tidy()` one row with the value.
#' @references
#' Gretton, Herbrich, Smola, Bousquet and Schoelkopf (2005). Kernel methods for measuring independence. *Journal of Machine Learning Research* 6,
#' 2075--2129.
#'
#' Bach and Jordan (2002). Kernel independent component analysis. *Journal of Machine Learning Research* 3, 1--48.
#'
#' Gretton, Bousquet, Smola and Schoelkopf (2005). Measuring statistical dependence with Hilbert-Schmidt norms. *Algorithmic Learning Theory*,
#' 63--77.
#' @seealso [independence_test()], [kernel_features()], [kernel_ica()], [kmi_bounds()]
#' @name kernel_dependence
#' @examples
#' set.seed(1)
#' angle <- runif(200, 0, 2 * pi)
#' x <- cos(angle) + rnorm(200, sd = 0.1)
#' y <- sin(angle) + rnorm(200, sd = 0.1)
#' cor(x, y)
#' fit <- coco(x, y)
#' fit
#' plot(fit)
#' plot(fit, type = "spectrum")
#' predict(fit, list(x = c(-1, 0, 1), y = c(-1, 0, 1)))
#' hsic(x, y)
#' kcc(x, y)
#' kgv(x, y)
#' kmi(x, y, width = 0.2, nu = "safe")
#' hsic(iris)  # five variables, one of them a factor
#' tidy(hsic(iris$Species, iris[, 1:4]))
NULL

#' @rdname kernel_dependence
#' @export
hsic <- function(x, y = NULL, kernel = "gaussian", width = "median", density = NULL, rank_tol = 1e-5, max_rank = NULL, threads = NULL, ...) {
  refuse_dots(...)
  settings <- dependence_settings("hsic", kernel, density = density, rank_tol = rank_tol, max_rank = max_rank)
  measure_dependence("hsic", x, y, kernel, width, settings, threads, match.call(), argument_labels(substitute(x), substitute(y)))
}

#' @rdname kernel_dependence
#' @export
coco <- function(x, y = NULL, kernel = "gaussian", width = "median", density = NULL, rank_tol = 1e-5, max_rank = NULL, threads = NULL, ...) {
  refuse_dots(...)
  settings <- dependence_settings("coco", kernel, density = density, rank_tol = rank_tol, max_rank = max_rank)
  measure_dependence("coco", x, y, kernel, width, settings, threads, match.call(), argument_labels(substitute(x), substitute(y)))
}

#' @rdname kernel_dependence
#' @export
kcc <- function(x, y = NULL, kernel = "gaussian", width = "median", kappa = 2e-2, form = c("squared", "ridge"), density = NULL, rank_tol = 1e-5,
                max_rank = NULL, threads = NULL, ...) {
  refuse_dots(...)
  form <- check_choice(form, c("squared", "ridge"))
  settings <- dependence_settings("kcc", kernel, kappa, form = form, density = density, rank_tol = rank_tol, max_rank = max_rank)
  measure_dependence("kcc", x, y, kernel, width, settings, threads, match.call(), argument_labels(substitute(x), substitute(y)))
}

#' @rdname kernel_dependence
#' @export
kgv <- function(x, y = NULL, kernel = "gaussian", width = "median", kappa = 2e-2, theta = NULL, nu = NULL, form = c("squared", "ridge"),
                density = NULL, rank_tol = 1e-5, max_rank = NULL, threads = NULL, ...) {
  refuse_dots(...)
  form <- check_choice(form, c("squared", "ridge"))
  settings <- dependence_settings("kgv", kernel, kappa, theta, form, nu, density, rank_tol, max_rank)
  measure_dependence("kgv", x, y, kernel, width, settings, threads, match.call(), argument_labels(substitute(x), substitute(y)))
}

#' @rdname kernel_dependence
#' @export
kmi <- function(x, y = NULL, kernel = "gaussian", width = "median", nu = NULL, density = NULL, rank_tol = 1e-5, max_rank = NULL, threads = NULL, ...) {
  refuse_dots(...)
  settings <- dependence_settings("kmi", kernel, nu = nu, density = density, rank_tol = rank_tol, max_rank = max_rank)
  measure_dependence("kmi", x, y, kernel, width, settings, threads, match.call(), argument_labels(substitute(x), substitute(y)))
}
