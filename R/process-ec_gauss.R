#' A Gaussian times one-dimensional factors
#'
#' Posterior moments, marginal laws and the normalising constant of \eqn{N(x | \mu, \Sigma) \prod_i t_i(x_i)}{N(x | mu, Sigma) prod_i t_i(x_i)}:
#' truncated normal laws, probit
#' models, spike-and-slab priors, discrete variables with a Gaussian coupling, and mixtures of these.
#'
#' @details
#' Expectation consistency with \eqn{q}{q} the factors, \eqn{r}{r} the Gaussian and diagonal moments; its fixed points are those of expectation
#' propagation, which finds them here. \eqn{\Sigma}{Sigma} is never inverted, so it may be
#' singular. `log_z` is \eqn{\log \int N(x | \mu, \Sigma) \prod_i t_i(x_i) dx}{log int N(x | mu, Sigma) prod_i t_i(x_i) dx} with the Gaussian
#' normalised. At the solution its derivatives are in `gradient`:
#' \eqn{\partial \log Z / \partial \mu}{d log Z / d mu} and \eqn{\partial \log Z / \partial \Sigma}{d log Z / d Sigma}, for learning
#' hyperparameters.
#'
#' With factors that are not log-concave (spike and slab, discrete) a site precision may get negative, the approximation may have several
#' solutions, and it may fail; smaller `damping` helps.
#'
#' @section Which method when:
#' For a probability of a box use [ec_box()], which also states the error. For binary variables with given couplings [ec_ising()] has a tree to
#' offer. Factors that touch several variables at once are beyond it.
#'
#' @param Sigma Covariance matrix.
#' @param mu Mean: one number per variable, or one for all.
#' @param factors One factor for all variables, or one for each; see [ec_factor()].
#' @param damping Share of each step taken; `NULL` for 1 (0.8 for parallel sweeps).
#' @param parallel Whether to change all factors at once, with one factorisation per sweep: faster for many variables, less sure to settle.
#'   `NULL`: above 500 variables.
#' @param tol Stop when means and standard deviations of factors and Gaussian differ by less than this many standard deviations; `log_z` is then
#'   good to about its square.
#' @param max_iter Largest number of sweeps.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_ec_gauss`: `mean`, `cov`, `log_z`, `sites` (precision `tau` and shift `nu` of each Gaussian site, its
#'   cavity, and its share of \eqn{\log Z}{log Z}), `gradient`,
#'   `factors`, `convergence`. Methods: `coef()`, `vcov()`, `logLik()`, `plot()` of the marginal laws, `simulate()` from the Gaussian
#'   approximation, `tidy()`; [predict()][predict.granary_ec].
#' @references
#' Opper and Winther (2005). Expectation Consistent Approximate Inference. *Journal of Machine Learning Research* 6, 2177--2204.
#'
#' Minka (2001). Expectation Propagation for approximate Bayesian inference. *Uncertainty in Artificial Intelligence* 17, 362--369.
#' @seealso [ec_ising()], [ec_ising_fit()], [ec_box()], [ec_factor()], [ec_baseline()]
#' @export
#' @examples
#' Sigma <- 0.5 + diag(0.5, 3)
#' fit <- ec_gauss(Sigma, factors = ec_factor("truncate", lower = 0))
#' fit
#' exp(fit$log_z)  # exact: 1/4
#' # a sparse signal behind noise
#' ec_gauss(diag(0.1, 3), mu = c(2, 0.1, -1.5), factors = ec_factor("spike_slab", 0.3, 4))$mean
ec_gauss <- function(Sigma, mu = 0, factors, damping = NULL, parallel = NULL, tol = 1e-8, max_iter = 500, ...) {
  refuse_dots(...)
  call <- match.call()
  prior <- ec_prior(Sigma, mu)
  n <- length(prior$mu)
  parts <- ec_factor_parts(factors, n)
  damping <- check_number(damping, lower = 0, upper = 1, strict_lower = TRUE, allow_null = TRUE)
  parallel <- check_flag(parallel, allow_null = TRUE)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  max_iter <- check_count(max_iter, upper = 1e7)
  result <- ec_gauss_run(prior, parts, damping, parallel, tol, max_iter)
  names <- prior$names
  label <- function(v) stats::setNames(as.vector(v), names)
  square <- function(m) {
    dimnames(m) <- list(names, names)
    m
  }
  fit <- new_fit(
    "ec_gauss", mean = label(result$mean), cov = square(result$cov), log_z = result$log_z,
    sites = data.frame(tau = result$tau, nu = result$nu, cavity_mean = result$cavity_mean, cavity_sd = sqrt(abs(result$cavity_variance)),
                       log_z = result$site_log_z, row.names = make.unique(names)),
    gradient = list(mu = label(result$weight), Sigma = square((tcrossprod(result$weight) - result$r) / 2)), skipped = result$skipped,
    factors = parts, call = call, convergence = result$convergence
  )
  check_convergence(fit, "Use a smaller `damping`, or more `max_iter`; factors that are not log-concave may have no solution.")
  fit
}

ec_prior <- function(Sigma, mu) {
  Sigma <- check_symmetric(Sigma, "Sigma")
  n <- nrow(Sigma)
  names <- colnames(Sigma)
  mu <- check_vector(mu, "mu")
  if (is.null(names) && length(mu) == n) names <- names(mu)
  if (!length(mu) %in% c(1L, n)) {
    abort_input(sprintf("`mu` must have one value per variable (%d) or one for all, but it has %d.", n, length(mu)), "mu")
  }
  d <- diag(Sigma)
  if (any(d <= 0)) {
    abort_input(sprintf("`Sigma` must have positive variances, but entry (%d, %d) is %s.", which(d <= 0)[1L], which(d <= 0)[1L],
                        format(d[d <= 0][1L])), "Sigma")
  }
  Sigma <- unname(Sigma)
  scale <- sqrt(d)
  excess <- core_semidefinite_excess(Sigma / tcrossprod(scale))
  if (excess > 1e-8 * n) {
    abort_input(sprintf("`Sigma` must be positive semidefinite, but its correlation matrix has the eigenvalue %.3g.", -excess), "Sigma")
  }
  list(Sigma = Sigma, mu = rep_len(unname(mu), n), names = variable_names(names, n))
}

ec_gauss_run <- function(prior, parts, damping, parallel, tol, max_iter) {
  parts <- ec_reach(prior, parts)
  if (is.null(parallel)) parallel <- length(prior$mu) > 500L
  options <- list(parallel = parallel, damping = if (is.null(damping)) 0 else damping, tol = tol, max_iter = max_iter)
  core_ec_gauss(c(prior[c("Sigma", "mu")], parts), options, core_seed(), progress_bar("expectation propagation"))
}

# Bounds that cannot matter become infinite. Beyond a thousand standard deviations the site precisions eat up all digits of the prior.
ec_reach <- function(prior, parts) {
  box <- parts$kind == "truncate"
  sd <- sqrt(diag(prior$Sigma))
  below <- (parts$a - prior$mu) / sd
  above <- (parts$b - prior$mu) / sd
  far <- which(box & (below > 1e3 | above < -1e3))
  if (length(far) > 0L) {
    abort_input(sprintf("The interval of variable %d must lie within 1000 standard deviations of its mean, but it does not.", far[1L]), "lower")
  }
  parts$a[box & below < -1e3] <- -Inf
  parts$b[box & above > 1e3] <- Inf
  parts
}

#' @export
print.granary_ec_gauss <- function(x, ...) {
  n <- length(x$mean)
  kinds <- table(x$factors$kind)
  cli::cat_line("Gaussian times factors by expectation consistency: ", n, if (n == 1L) " variable" else " variables", " (",
                paste(paste(kinds, names(kinds)), collapse = ", "), ")")
  print_call(x$call)
  cli::cat_line("log Z: ", format(x$log_z, digits = 7L))
  cli::cat_line(if (n > 8L) "First means and sds:" else "Means and sds:")
  print(utils::head(tidy(x)[c("variable", "mean", "sd")], 8L), digits = 4L, row.names = FALSE)
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @export
coef.granary_ec_gauss <- function(object, ...) object$mean

#' @export
vcov.granary_ec_gauss <- function(object, ...) object$cov

#' @export
logLik.granary_ec_gauss <- function(object, ...) structure(object$log_z, df = 0L, nobs = length(object$mean), class = "logLik")

#' @export
tidy.granary_ec_gauss <- function(x, ...) {
  data.frame(variable = names(x$mean), mean = unname(x$mean), sd = sqrt(pmax(0, diag(x$cov))), factor = x$factors$kind)
}

#' @importFrom stats simulate
#' @export
simulate.granary_ec_gauss <- function(object, nsim = 1, seed = NULL, ...) {
  nsim <- check_count(nsim, upper = 1e7)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  n <- length(object$mean)
  scale <- sqrt(diag(object$cov))
  draws <- core_gaussian_draws(numeric(n), unname(object$cov) / tcrossprod(scale), nsim, core_seed(), NULL)
  draws <- t(draws * scale + unname(object$mean))
  colnames(draws) <- names(object$mean)
  draws
}

#' @export
plot.granary_ec_gauss <- function(x, which = 1, ...) {
  table <- predict(x, which)
  user <- list(...)
  if (length(unique(table$variable)) > 1L) abort_input("`which` must be one variable.", "which")
  mass <- table[table$mass > 0, ]
  curve <- table[table$density > 0 | table$mass == 0, ]
  top <- max(curve$density, mass$mass, 0)
  draw(graphics::plot, range(table$x), c(0, top), type = "n", xlab = table$variable[1L], ylab = if (nrow(curve) > 0L) "density" else "probability",
       user = user)
  if (nrow(curve) > 0L) graphics::lines(curve$x, curve$density, lwd = 2, col = "#2166ac")
  if (nrow(mass) > 0L) graphics::segments(mass$x, 0, mass$x, mass$mass, lwd = 3, col = "#b2182b")
  invisible(x)
}

# The law of a variable is its factor times the cavity, normalised.
ec_gauss_marginals <- function(object, index, at) {
  if (!is.null(at)) at <- sort(check_vector(at, "at"))
  one <- function(i) {
    f <- lapply(object$factors, `[[`, i)
    m <- object$sites$cavity_mean[i]
    s <- object$sites$cavity_sd[i]
    log_z <- object$sites$log_z[i]
    name <- names(object$mean)[i]
    row <- function(x, density, mass) data.frame(variable = rep(name, length(x)), x = x, density = density, mass = mass)
    if (f$kind == "discrete") {
      mass <- exp(f$extra$log_w + stats::dnorm(f$extra$values, m, s, log = TRUE) - log_z)
      return(row(f$extra$values, 0, mass))
    }
    centre <- object$mean[[i]]
    spread <- sqrt(object$cov[i, i])
    x <- if (!is.null(at)) at else seq(max(centre - 5 * spread, if (f$kind == "truncate") f$a else -Inf),
                                       min(centre + 5 * spread, if (f$kind == "truncate") f$b else Inf), length.out = 101L)
    log_t <- switch(f$kind,
      truncate = ifelse(x >= f$a & x <= f$b, 0, -Inf), probit = stats::pnorm(f$a * x, log.p = TRUE), laplace = -abs(x) / f$a - log(2 * f$a),
      gaussian = stats::dnorm(x, f$a, sqrt(f$b), log = TRUE), spike_slab = log(f$a) + stats::dnorm(x, 0, sqrt(f$b), log = TRUE),
      generic = vapply(x, f$extra$log_density, 0), rep(0, length(x)))
    out <- row(x, exp(log_t + stats::dnorm(x, m, s, log = TRUE) - log_z), 0)
    if (f$kind == "spike_slab" && f$a < 1) out <- rbind(row(0, 0, (1 - f$a) * exp(stats::dnorm(0, m, s, log = TRUE) - log_z)), out)
    out
  }
  do.call(rbind, lapply(index, one))
}

#' Probabilities of boxes and orthants under a normal law
#'
#' \eqn{P(a < X < b)}{P(a < X < b)} for \eqn{X \sim N(\mu, \Sigma)}{X ~ N(mu, Sigma)}, with the moments of \eqn{X}{X} given the box and the
#' derivatives of the probability, by expectation propagation in milliseconds;
#' quasi-Monte Carlo beside it states the error.
#'
#' @details
#' The EP value is deterministic and smooth in all its arguments, and its relative error is usually some per cent or less, whatever the size of
#' the probability: fit for use inside an optimiser. The second value, `mc_prob`, is the separation of
#' variables of Genz with ordered variables, the minimax tilting of Botev, and Sobol's points, scrambled at random 12 times; it is unbiased, and
#' `mc_se` is its standard error from the 12 results. `error` is the difference of the logarithms: what EP is off by, give or take
#' `mc_log_se`. For correlations close to one the second value is the one to watch: look at its standard error.
#'
#' @section Which method when:
#' For one number to many digits take `mc_prob` and raise `samples`: the error falls almost as one over their number in few dimensions, and as
#' its square root in many. For gradients, truncated moments or thousands of calls use the EP value with `samples = 0`.
#' Other factors than intervals: [ec_gauss()].
#'
#' @param Sigma Covariance matrix; may be singular.
#' @param lower,upper Bounds, one per variable or one for all; may be infinite. An orthant is `lower = 0`.
#' @param mean Mean: one number per variable, or one for all.
#' @param samples Number of quasi-Monte Carlo points, rounded up to 12 times a power of two; 0 for none.
#' @param tol,max_iter As for [ec_gauss()].
#' @param threads Number of threads for the quasi-Monte Carlo part; the answer does not depend on it.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_gauss_box`: `prob`, `log_prob` (EP), `mc_prob`, `mc_se`, `mc_log_prob`, `mc_log_se`, `error` (of
#'   `log_prob`, estimated), `mean` and `cov` of \eqn{X}{X} in the box, `gradient` (of
#'   `log_prob` in `mean` and `Sigma`), `convergence`.
#' @references
#' Opper and Winther (2005). Expectation Consistent Approximate Inference. *Journal of Machine Learning Research* 6, 2177--2204.
#'
#' Genz (1992). Numerical computation of multivariate normal probabilities. *Journal of Computational and Graphical Statistics* 1, 141--149.
#'
#' Botev (2017). The normal law under linear restrictions: simulation and estimation via minimax tilting. *Journal of the Royal Statistical
#' Society B* 79, 125--148.
#'
#' Cunningham, Hennig and Lacoste-Julien (2011). Gaussian probabilities and expectation propagation. arXiv:1111.6832.
#' @seealso [ec_ising()], [ec_ising_fit()], [ec_gauss()], [ec_factor()], [ec_baseline()]
#' @export
#' @examples
#' set.seed(1)
#' Sigma <- 0.5 + diag(0.5, 5)
#' box <- ec_box(Sigma, lower = 0)  # exact: 1/6
#' box
#' box$mean
ec_box <- function(Sigma, lower = -Inf, upper = Inf, mean = 0, samples = 24576, tol = 1e-8, max_iter = 500, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  prior <- ec_prior(Sigma, check_vector(mean, "mean"))
  n <- length(prior$mu)
  box <- ec_bounds(lower, upper)
  if (!length(box$lower) %in% c(1L, n)) {
    abort_input(sprintf("`lower` and `upper` must have one bound per variable (%d) or one for all, but there are %d.", n, length(box$lower)),
                "lower")
  }
  box <- lapply(box, rep_len, n)
  samples <- check_count(samples, lower = 0, upper = 1e9)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  max_iter <- check_count(max_iter, upper = 1e7)
  threads <- thread_count(threads)
  parts <- lapply(unclass(new_ec_factor("truncate", box$lower, box$upper)), rep_len, n)
  result <- ec_gauss_run(prior, parts, NULL, NULL, tol, max_iter)
  names <- prior$names
  square <- function(m) {
    dimnames(m) <- list(names, names)
    m
  }
  mc <- c(NA_real_, NA_real_)
  if (samples > 0L) {
    problem <- c(prior[c("Sigma", "mu")], list(a = box$lower, b = box$upper))
    mc <- unlist(core_ec_box(problem, list(samples = samples, threads = threads), core_seed(), progress_bar("quasi-Monte Carlo")), use.names = FALSE)
  }
  fit <- new_fit(
    "gauss_box", prob = exp(result$log_z), log_prob = result$log_z, mc_prob = exp(mc[1L]), mc_se = exp(mc[1L]) * mc[2L], mc_log_prob = mc[1L],
    mc_log_se = mc[2L],
    error = result$log_z - mc[1L], mean = stats::setNames(as.vector(result$mean), names), cov = square(result$cov),
    gradient = list(mean = stats::setNames(as.vector(result$weight), names), Sigma = square((tcrossprod(result$weight) - result$r) / 2)),
    samples = samples, call = call, convergence = result$convergence
  )
  check_convergence(fit, "Raise `max_iter`.")
  fit
}

#' @export
print.granary_gauss_box <- function(x, ...) {
  cli::cat_line("Probability of a box in ", length(x$mean), if (length(x$mean) == 1L) " dimension" else " dimensions")
  print_call(x$call)
  cli::cat_line("EP: ", format(x$prob, digits = 6L), " (log ", format(x$log_prob, digits = 6L), ")")
  if (x$samples > 0L) {
    cli::cat_line("Quasi-Monte Carlo: ", format(x$mc_prob, digits = 6L), " (log ", format(x$mc_log_prob, digits = 6L), "), standard error ",
                  format(x$mc_se, digits = 2L))
    cli::cat_line("Error of the log by EP: ", format(x$error, digits = 2L), " (give or take ", format(x$mc_log_se, digits = 2L), ")")
  }
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}
