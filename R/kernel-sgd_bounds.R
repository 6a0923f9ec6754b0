#' Critical rates and final errors of stochastic gradient descent
#'
#' Closed forms of the theory behind [sgd_curve()]. `"rates"` are the learning rates at which the behaviour of the descent changes,
#' `"asymptote"` the errors after infinite time
#' and how fast they are approached, `"units"` translates steps and penalties of other conventions into those of the theory.
#'
#' With \eqn{\rho}{rho} the Marchenko-Pastur law for `alpha` examples per weight on \eqn{[a_-, a_+]}{[a_-, a_+]}, \eqn{a_\pm = (1 \pm
#' \sqrt\alpha)^2}{a_+- = (1 +- sqrt(alpha))^2}:
#' * `eta_c` \eqn{= 2\alpha / \int \rho\, a^2 / (a + \lambda)}{= 2 alpha / int rho a^2 / (a + lambda)}: beyond it the weights diverge. It is 2
#'   without weight decay, and tends to \eqn{2(1 + \lambda)}{2(1 + lambda)}
#'   for few and to \eqn{2(1 + \lambda/\alpha)}{2(1 + lambda/alpha)} for many examples.
#' * `eta_min` \eqn{= 2 / (\sqrt\alpha + 1/\sqrt\alpha - 1)}{= 2 / (sqrt(alpha) + 1/sqrt(alpha) - 1)}: above it the error has a slow mode beside the
#'   normal one, which decays as \eqn{\exp(-ct)}{exp(-ct)} with
#'   \eqn{c = \eta (\lambda + a_-) / \alpha}{c = eta (lambda + a_-) / alpha}.
#' * `eta_x`: where the two modes decay equally fast. Final convergence is fastest there, and any larger rate is worse in every respect.
#' * `offline`: full-gradient descent is stable below \eqn{2 / (a_+ + \lambda)}{2 / (a_+ + lambda)}.
#'
#' The final test error is \eqn{\epsilon_0 + (\eta/2) \int \rho\, a/(a + \lambda)\, E_\infty}{eps_0 + (eta/2) int rho a/(a + lambda) E_inf},
#' \eqn{\epsilon_0}{eps_0} that of ridge regression with penalty `lambda`, and \eqn{E_\infty}{E_inf} the
#' final training error, \eqn{1 / (1 - \eta/\eta_c)}{1 / (1 - eta/eta_c)} times that of ridge regression. It is smallest for `lambda = sigma2` and
#' `eta` towards zero.
#'
#' Where `eta_min` exceeds `eta_c` or `eta_x` there is no slow mode below it.
#'
#' @section Which method when:
#' `"rates"` to see which rates are safe at all, `"asymptote"` when there is time to converge, [sgd_optimize()] when there is not.
#'
#' @param what `"rates"` with arguments `alpha`, `lambda`, `spectrum`; `"asymptote"` with `alpha`, `eta`, `lambda`, `sigma2`, `spectrum`; `"units"` with `n`
#'   rows, `N` columns and `step`, `penalty` or `eta`, `lambda`, and `norm2`, the mean square length of a row; `"blocks"` with `alpha`, `blocks`, `spectrum`:
#'   the spectrum cut into blocks of equal numbers of eigenvalues, as [committee_curve()] works with; `"schedule"` with `t`, `eta`: the schedule
#'   \eqn{(a + b \log t) / t}{(a + b log t) / t} through rates that were best at these times in test runs of your own (`t` may be a result of [sgd_optimize()]).
#' @param ... These arguments: numbers or vectors, recycled, as in [sgd_curve()].
#' @return `"rates"`, `"asymptote"`: a data frame with one row per setting. `decay` and `decay_slow` are the decay constants of the
#'   normal and the slow mode (`NA` where there is none, negative
#'   where the weights diverge). `"blocks"`: a data frame with `mean`, `lower` and `upper` eigenvalue of each block. `"schedule"`: a fit with `coef()` and
#'   `predict(object, t)`. `"units"`: a list with `alpha`, `eta`, `lambda`, `step` and `penalty`.
#' @inherit sgd_curve references
#' @seealso [sgd_curve()], [sgd_optimize()], [sgd_exact()], [sgd_data()], [committee_curve()]
#' @export
#' @examples
#' sgd_bounds("rates", alpha = c(0.5, 1, 2, 5), lambda = 0.1)
#' sgd_bounds("asymptote", alpha = 2, eta = c(0.1, 0.5, 1, 1.9), lambda = 0.1, sigma2 = 0.1)
#' # an ordinary step of 0.002 for 500 rows and 100 columns of mean square one
#' sgd_bounds("units", n = 500, N = 100, step = 0.002)
#' # and back: the step that is eta = 1
#' sgd_bounds("units", n = 500, N = 100, eta = 1, lambda = 0.1)$step
#' # the rate for a long run from short ones
#' predict(sgd_bounds("schedule", t = c(5, 10, 20), eta = c(0.98, 0.75, 0.52)), t = 100)
sgd_bounds <- function(what = c("rates", "asymptote", "units", "blocks", "schedule"), ...) {
  by_what(what, list(rates = sgd_rates, asymptote = sgd_asymptote, units = sgd_units, blocks = mp_blocks, schedule = sgd_schedule), ...)
}

sgd_rates <- function(alpha, lambda = 0, spectrum = NULL) {
  setting <- recycle_settings(alpha = check_vector(alpha, lower = 1e-6, upper = 1e8), lambda = check_vector(lambda, lower = 0, upper = 1e12))
  spectrum <- check_spectrum(spectrum, setting$alpha[1L])
  if (!is.null(spectrum) && length(unique(setting$alpha)) > 1L) abort_input("`alpha` must be one number where `spectrum` is given.", "alpha")
  nothing <- numeric(nrow(setting))
  data.frame(setting, sgd_limits(setting$alpha, nothing, setting$lambda, nothing, spectrum)[c("eta_c", "eta_min", "eta_x", "offline")])
}

sgd_asymptote <- function(alpha, eta, lambda = 0, sigma2 = 0.1, spectrum = NULL) {
  setting <- recycle_settings(alpha = check_vector(alpha, lower = 1e-6, upper = 1e8), eta = check_vector(eta, lower = 0, upper = 1e6),
                              lambda = check_vector(lambda, lower = 0, upper = 1e12), sigma2 = check_vector(sigma2, lower = 0, upper = 1e12))
  spectrum <- check_spectrum(spectrum, setting$alpha[1L])
  if (!is.null(spectrum) && length(unique(setting$alpha)) > 1L) abort_input("`alpha` must be one number where `spectrum` is given.", "alpha")
  end <- sgd_limits(setting$alpha, setting$eta, setting$lambda, setting$sigma2, spectrum)
  end$decay_slow[is.nan(end$decay_slow)] <- NA
  result <- data.frame(setting, end[c("test", "train", "ridge", "decay", "decay_slow")])
  unstable <- is.infinite(result$train)
  if (any(unstable)) {
    warn_input(sprintf("`eta` is not below the critical rate in %s: the errors there are infinite.", counted(sum(unstable), "setting", "settings")),
               "eta")
  }
  result
}

recycle_settings <- function(...) {
  parts <- lapply(list(...), unname)
  size <- max(lengths(parts))
  for (name in names(parts)) {
    if (!length(parts[[name]]) %in% c(1L, size)) {
      abort_input(sprintf("`%s` must have length 1 or %d, that of the longest argument, not %d.", name, size, length(parts[[name]])), name)
    }
  }
  as.data.frame(lapply(parts, rep_len, size))
}

sgd_units <- function(n, N, step = NULL, penalty = 0, eta = NULL, lambda = 0, norm2 = N) {
  n <- check_count(n)
  N <- check_count(N)
  step <- check_number(step, lower = 0, upper = 1e100, strict_lower = TRUE, allow_null = TRUE)
  eta <- check_number(eta, lower = 0, upper = 1e100, strict_lower = TRUE, allow_null = TRUE)
  penalty <- check_number(penalty, lower = 0, upper = 1e100)
  lambda <- check_number(lambda, lower = 0, upper = 1e100)
  norm2 <- check_number(norm2, lower = 0, upper = 1e100, strict_lower = TRUE)
  if (is.null(step) == is.null(eta)) abort_input("Give exactly one of `step` and `eta`.", "step")
  if (is.null(eta)) {
    if (lambda > 0) abort_input("With `step` the penalty goes into `penalty`; `lambda` goes with `eta`.", "lambda")
    eta <- step * norm2
    lambda <- n * penalty / norm2
  } else {
    if (penalty > 0) abort_input("With `eta` the penalty goes into `lambda`; `penalty` goes with `step`.", "penalty")
    step <- eta / norm2
    penalty <- lambda * norm2 / n
  }
  list(alpha = n / N, eta = eta, lambda = lambda, step = step, penalty = penalty)
}

# The spectrum of random inputs, or a given one, in blocks of equal numbers of eigenvalues.
mp_blocks <- function(alpha, blocks = 10, spectrum = NULL) {
  alpha <- check_number(alpha, lower = 1e-6, upper = 1e12)
  blocks <- check_count(blocks, upper = 1e6)
  if (!is.null(spectrum)) {
    spectrum <- unname(check_vector(spectrum, lower = -1e-8, upper = 1e12))
    spectrum <- pmax(spectrum, 0)
    if (blocks > length(spectrum)) {
      abort_input(sprintf("`blocks` must be at most the number of eigenvalues, %d, not %d.", length(spectrum), blocks), "blocks")
    }
  }
  found <- core_mp_blocks(alpha, as.double(spectrum), blocks)
  data.frame(block = seq_len(blocks), mean = found$mean, lower = found$lower, upper = found$upper)
}
