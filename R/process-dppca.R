#' Dual probabilistic principal component analysis
#'
#' Principal components as the maximum likelihood latent positions of a Gaussian process with a linear kernel, in closed form: the linear special case
#' of [gplvm()], with the same methods.
#'
#' @details
#' Probabilistic principal component analysis integrates out the scores and optimises the loadings; its dual integrates out the loadings and
#' optimises the scores. With eigenpairs \eqn{(\lambda_j, u_j)}{(lambda_j, u_j)} of \eqn{S = YY'/D}, largest first,
#' \deqn{\frac1\beta = \frac{1}{N - q}\sum_{j > q}\lambda_j, \qquad X = U_q\,\mathrm{diag}(\lambda_j - 1/\beta)^{1/2},}{1/beta = sum_(j > q)
#' lambda_j /
#'   (N - q),   X = U_q diag(lambda_j - 1/beta)^(1/2),}
#' maximises the likelihood of [gplvm()] for the kernel \eqn{x'z + \beta^{-1}\delta}{x'z + white of variance 1/beta}, where it is
#' \eqn{-\frac{DN}{2}(\log 2\pi + 1) - \frac D2(\sum_{j\le q}\log\lambda_j + (N - q)\log\beta^{-1})}{-(D N / 2) (log 2 pi + 1) - (D / 2)
#' (sum_(j <= q) log lambda_j + (N - q) log(1/beta))}. The eigenproblem is solved in the smaller of the two dimensions. The noise
#' \eqn{1/\beta}{1/beta}
#' divides by \eqn{N - q}; that of probabilistic principal component analysis, which divides by \eqn{D - q} and is reported as `ppca_noise`, is
#' another number. The rotation is chosen so that the columns of \eqn{X} are orthogonal.
#'
#' @section Which method when:
#' For a linear map with predictions and a likelihood; as a yardstick for [gplvm()].
#'
#' @param x Data, one row per case, without missing cells.
#' @param k Number of latent dimensions, less than the rank of the centred data.
#' @param center,scale Whether to subtract column means, and to divide by standard deviations.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_dppca`, also a `granary_gplvm`: a list with `latent` (\eqn{X}), `eigenvalues`, `beta`, `noise_var`
#'   (\eqn{1/\beta}{1/beta}), `ppca_noise`, `loglik`, `kernel` and what [gplvm()] returns.
#' @references
#' Lawrence (2005). Probabilistic non-linear principal component analysis with Gaussian process latent variable models. *Journal of Machine
#' Learning Research* 6, 1783--1816.
#' @seealso [gplvm()], [isomap()], [kernel_pca()], [gtm()], [mds()]
#' @seealso [gplvm_dimension()] to choose `k`
#' @export
#' @examples
#' fit <- dppca(iris[, 1:4])
#' fit
#' head(predict(fit))
#' plot(fit, labels = iris$Species)
dppca <- function(x, k = 2, center = TRUE, scale = FALSE, ...) {
  refuse_dots(...)
  call <- match.call()
  data <- latent_data(x, center = check_flag(center), scale = check_flag(scale), allow_na = FALSE, min_rows = 2L)
  q <- check_count(k)
  if (q > min(dim(data$y))) {
    abort_input(sprintf("`k` must be at most %d for these data, but it is %d.", min(dim(data$y)), q), "k")
  }
  raw <- core_dual_pca(data$filled, q)
  latent <- raw$latent
  kernel <- prepare_kernel(k_linear(1, fixed = "variance") + k_white(raw$noise), q)
  unit <- data$unit
  positions <- latent * unit
  dimnames(positions) <- list(rownames(data$x), paste0("dim", seq_len(q)))
  likelihood <- raw$loglik - data$jacobian
  # X carries the units of x, so the linear part of the kernel has none.
  new_fit(
    c("dppca", "gplvm", "embedding"), latent = positions, kernel = k_linear(1, fixed = "variance") + k_white(raw$noise * unit^2),
    eigenvalues = as.double(raw$eigenvalues) * unit^2, beta = 1 / (raw$noise * unit^2), noise_var = raw$noise * unit^2,
    ppca_noise = raw$ppca_noise * unit^2, loglik = likelihood, objective = likelihood, starts = NULL, trace = likelihood,
    active = seq_len(nrow(data$x)), method = "closed form", noise = "gaussian", k = q, prior = FALSE, x = data$x, centre = data$centre,
    scale = data$scale, unit = unit, keep = data$keep, constant = data$constant, latent_unit = unit,
    model = list(latent = raw$root, kernel = kernel, y = raw$stand_in, noise = matrix(0, 0L, 0L), bernoulli = FALSE, offset = numeric(),
                 prior = FALSE),
    call = call, convergence = list(converged = TRUE, iterations = 0L)
  )
}

#' Number of latent dimensions from a similarity matrix
#'
#' How much is lost when a similarity matrix is replaced by one of `k` dimensions and noise, as a Kullback-Leibler divergence.
#'
#' @details
#' Principal components, kernel principal components and classical scaling all minimise
#' \eqn{\mathrm{KL}\{N(0, S) \| N(0, XX' + \sigma^2 I)\}}{KL(N(0, S) || N(0, XX' + sigma^2 I))} over \eqn{X} and \eqn{\sigma^2}{sigma^2}, each
#' with its
#' own \eqn{S}. At the minimum the \eqn{q} largest eigenvalues are kept, \eqn{\sigma^2}{sigma^2} is the mean of the others, and
#' \deqn{\mathrm{KL}(q) = \frac{N - q}{2}\Big(\log\overline{\lambda_{>q}} - \overline{\log\lambda_{>q}}\Big).}{KL(q) = (N - q) / 2 (log
#' mean(lambda_>q) -
#'   mean(log lambda_>q)).}
#' With `reverse = TRUE` the laws change places and the precision matrix has the low-dimensional form,
#' \eqn{K^{-1} = XX' + \sigma^{-2}I}{K^-1 = XX' + I / sigma^2}: then the `k` smallest eigenvalues are kept (minor components) and the formula
#' holds for
#' their inverses.
#' \eqn{S} has to be positive definite. \eqn{YY'/D} is not when \eqn{D < N}: eigenvalues of zero are then left out, with a warning, or lifted by
#' `ridge`.
#'
#' @section Which method when:
#' `gplvm_dimension()` for a first idea of how many dimensions [gplvm()] or [dppca()] need; evidence of fits with several `k` where it is close.
#'
#' @param s A symmetric matrix of similarities: \eqn{YY'/D}, a centred kernel matrix, or \eqn{-\frac12 J D^2 J}{-J D2 J / 2} of distances.
#' @param k Numbers of dimensions to look at.
#' @param reverse Whether to take the reversed divergence.
#' @param ridge Added to all eigenvalues, as a share of their mean.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A data frame with the columns `k`, `kl`, `noise` (\eqn{\sigma^2}{sigma^2}) and `share`, the part of the trace in the eigenvalues kept.
#' @references
#' Lawrence (2005). Probabilistic non-linear principal component analysis with Gaussian process latent variable models. *Journal of Machine
#' Learning Research* 6, 1783--1816, Section 2.6.
#' @seealso [gplvm()], [dppca()], [isomap()], [kernel_pca()], [gtm()], [mds()]
#' @export
#' @examples
#' y <- scale(iris[1:20, 1:4], scale = FALSE)
#' gplvm_dimension(tcrossprod(y) / 4, k = 1:3, ridge = 0.01)
#' gplvm_dimension(kernel_matrix(k_se(lengthscale = 2), y), k = 1:5)
gplvm_dimension <- function(s, k = 1:10, reverse = FALSE, ridge = 0, ...) {
  refuse_dots(...)
  asked <- !missing(k)
  s <- check_symmetric(s, min_size = 2L)
  q <- check_vector(k, lower = 0)
  if (any(q != round(q))) abort_input("`k` must be whole numbers.", "k")
  reverse <- check_flag(reverse)
  ridge <- check_number(ridge, lower = 0)
  top <- max(abs(s))
  if (top == 0) abort_input("`s` must not be zero everywhere.", "s")
  found <- core_dimension_kl(unname(s), list(k = as.integer(q), reverse = reverse, ridge = ridge))
  if (found$smallest < -1e-6 * found$largest) {
    abort_input(sprintf("`s` must be positive definite, but it has the eigenvalue %s. Use another similarity.", format(found$smallest, digits = 4L)),
                "s")
  }
  if (found$zero > 0L) {
    warn_input(sprintf("`s` is singular: %d of its %d eigenvalues are zero and left out. Use `ridge` to keep them.", found$zero, nrow(s)), "s")
  }
  if (length(found$k) < length(q)) {
    if (length(found$k) == 0L) abort_input(sprintf("`k` must be less than %d, the number of positive eigenvalues.", found$positive), "k")
    if (asked) warn_input(sprintf("`k` is looked at up to %d only: there are %d positive eigenvalues.", max(found$k), found$positive), "k")
  }
  data.frame(k = found$k, kl = found$kl, noise = found$noise, share = found$share)
}
