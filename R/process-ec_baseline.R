#' What expectation consistent inference is compared with
#'
#' `ec_baseline()` answers the question of [ec_ising()] in other ways; `ec_compare()` sets several beside the exact answer; `sim_ec_ising()` draws
#' the models of the paper's experiments.
#'
#' @details
#' Methods: `"exact"` enumeration (at most 25 variables in a connected component), `"mean_field"` (naive; its \eqn{\log Z}{log Z} is a lower
#' bound; covariances by linear response), `"tap"`
#' (\eqn{m_i = \tanh(\theta_i + \sum_j J_{ij} m_j - m_i \sum_j J_{ij}^2 (1 - m_j^2))}{m_i = tanh(theta_i + sum_j J_ij m_j - m_i sum_j J_ij^2 (1 -
#' m_j^2))}, Plefka's expansion
#' to second order), `"bethe"` (loopy belief propagation with the Bethe value of \eqn{\log Z}{log Z}; pairs without an edge count as
#' uncorrelated), `"gibbs"` (sampling; no \eqn{\log Z}{log Z}).
#'
#' `ec_compare()` gives the paper's measures against enumeration: `mad1`, the largest error of a \eqn{P(x_i = 1)}{P(x_i = 1)}; `mad2`, the largest
#' error of a pair's probability; `aad`, the mean error of
#' \eqn{P(x_i = 1)}{P(x_i = 1)}; `log_z_error`.
#'
#' Models: `"gaussian"`, fields `field` and \eqn{J_{ij} = \beta w_{ij} / \sqrt{N}}{J_ij = beta w_ij / sqrt(N)} with standard normal \eqn{w}{w} and
#' \eqn{\beta}{beta} = `size` (Figures 1
#' and 2 of the paper, with `n = 10`, `field = 0.1`); `"full"` and `"grid"`, all pairs or the neighbours on a square, fields uniform between
#' -`field` and `field`, couplings uniform between -2 `size` and 0
#' (`"repulsive"`), -`size` and `size` (`"mixed"`), 0 and 2 `size` (`"attractive"`) (Table 1, with `n = 16`, `field = 0.25`).
#'
#' @section Which method when:
#' `method = "exact"` up to about 20 variables, `"gibbs"` as a check beyond, `"mean_field"`, `"tap"` and `"bethe"` to see what [ec_ising()] gains;
#' `ec_compare()` sets them side by side.
#'
#' @param J,theta,spins As for [ec_ising()].
#' @param method How, see Details; for `ec_compare()` several, also those of [ec_ising()].
#' @param samples,sweeps For `"gibbs"`: number of draws, and sweeps on each.
#' @param ... Nothing: an argument that is not known is an error.
#' @return `ec_baseline()`: an object of class `granary_ec` as from [ec_ising()]. `ec_compare()`: a data frame with one row per method.
#'   `sim_ec_ising()`: a list with `J` and `theta`.
#' @seealso [ec_ising()], [ec_ising_fit()], [ec_gauss()], [ec_box()], [ec_factor()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_ec_ising("gaussian", n = 10, size = 0.5)
#' ec_baseline(sim$J, sim$theta, "tap")
#' ec_compare(sim$J, sim$theta, c("tree", "factorized", "bethe", "mean_field"))
ec_baseline <- function(J, theta = 0, method = c("exact", "mean_field", "tap", "bethe", "gibbs"), spins = c("-1/1", "0/1"), samples = 2000,
                        sweeps = 50, ...) {
  refuse_dots(...)
  call <- match.call()
  method <- check_choice(method, c("exact", "mean_field", "tap", "bethe", "gibbs"))
  spins <- check_choice(spins, c("-1/1", "0/1"))
  model <- ec_model(J, theta, spins)
  samples <- check_count(samples, upper = 1e7)
  sweeps <- check_count(sweeps, upper = 1e5)
  ec_baseline_run(model, method, samples, sweeps, call)
}

ec_baseline_run <- function(model, method, samples = 2000L, sweeps = 50L, call = NULL) {
  if (method == "exact") return(ec_enumerate_model(model, call))
  if (samples * as.double(length(model$theta)) > 2e8) abort_input("`samples` times the number of variables must be at most 2e8.", "samples")
  result <- core_ec_baseline(model[c("J", "theta")], list(method = method, samples = samples, sweeps = sweeps), core_seed(),
                             progress_bar("moments"))
  if (is.nan(result$log_z)) result$log_z <- NA_real_
  ec_finish(result, model, method, NULL, call, "ec_baseline", "Use ec_ising(), or weaker couplings.")
}

ec_enumerate_model <- function(model, call = NULL) {
  result <- core_ec_baseline(model[c("J", "theta")], list(method = "exact"), c(1, 1), progress_bar("enumeration"))
  ec_finish(result, model, "exact", NULL, call, "ec_baseline")
}

#' @rdname ec_baseline
#' @export
ec_compare <- function(J, theta = 0, method = c("tree", "factorized", "restricted", "bethe", "tap", "mean_field"), spins = c("-1/1", "0/1"), ...) {
  refuse_dots(...)
  all <- c("tree", "factorized", "restricted", "bethe", "tap", "mean_field", "gibbs")
  if (!is.character(method) || length(method) == 0L || !all(method %in% all)) {
    fail_input("method", paste0("some of ", paste0("\"", all, "\"", collapse = ", ")), describe(method))
  }
  model <- ec_model(J, theta, check_choice(spins, c("-1/1", "0/1")))
  truth <- ec_enumerate_model(model)
  truth_pairs <- as.matrix(ec_pair_table(truth)[c("p00", "p01", "p10", "p11")])
  row <- function(name) {
    fit <- suppressWarnings(if (name %in% c("tree", "factorized", "restricted")) {
      ec_finish(core_ec_ising(model[c("J", "theta")], list(method = name), c(1, 1), NULL)$best, model, name, NULL, NULL)
    } else {
      ec_baseline_run(model, name)
    }, classes = "granary_warning_convergence")
    pairs <- as.matrix(ec_pair_table(fit)[c("p00", "p01", "p10", "p11")])
    error <- abs(fit$prob - truth$prob)
    data.frame(method = name, mad1 = max(error), mad2 = if (length(pairs) > 0L) max(abs(pairs - truth_pairs)) else 0, aad = mean(error),
               log_z_error = fit$log_z - truth$log_z, converged = fit$convergence$converged, iterations = fit$convergence$iterations)
  }
  do.call(rbind, lapply(method, row))
}

#' Fit an Ising model by approximate maximum likelihood
#'
#' Couplings and fields at which the moments of the expectation consistent approximation are those of the data: no enumeration, no sampling, and
#' no iteration either.
#'
#' @details
#' The derivatives of \eqn{\log Z_{EC}}{log Z_EC} are the moments of the approximation, so its maximum likelihood estimate matches means and
#' second moments of the data. With \eqn{m}{m} and \eqn{C}{C} the mean and
#' covariance of the spins, all of \eqn{q}{q} and \eqn{s}{s} is then known, hence \eqn{\lambda_r = \lambda_s - \lambda_q}{lambda_r = lambda_s -
#' lambda_q} on the forest, and
#' \deqn{J = \Lambda_r - C^{-1}, \qquad \theta = C^{-1}m - \gamma_r.}{J = Lambda_r - C^-1, theta = C^-1 m - gamma_r.}
#'
#' With a penalty \eqn{\rho \sum_{i<j} |J_{ij}|}{rho sum_(i<j) |J_ij|} the covariance of \eqn{r}{r} may differ from \eqn{C}{C} by \eqn{\rho}{rho}
#' where there is a coupling, which is the condition of
#' the graphical lasso with a free diagonal: \eqn{C^{-1}}{C^-1} is replaced by that estimate ([ggm_lasso()], with its duality gap), and the
#' optimum is global. For `method = "tree"`
#' the pairs of the tree are not penalised; it is the heaviest spanning tree of the factorized estimate.
#'
#' @section Which method when:
#' [ising_fit()] maximises the true likelihood up to 20 or so variables, and the pseudo-likelihood beyond, which is consistent; `ec_ising_fit()`
#' is a closed form, for hundreds of variables in a moment,
#' good while couplings are weak enough for the approximation. It needs more rows than columns unless there is a penalty.
#'
#' @param x Two-valued data, one row per observation, as in [ising_fit()].
#' @param lambda \eqn{\rho}{rho}, at least 0.
#' @param method `"factorized"` or `"tree"`.
#' @param na What to do with missing values: an error, or leave out the rows.
#' @param tol Duality gap at which the graphical lasso stops.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_ec_ising_fit` and `granary_ising`, so that all methods of [granary_ising] work: `W` (\eqn{J/2}{J/2}), `b`
#'   (\eqn{\theta}{theta}), `J`, `theta`, `tree`, `log_z` and `loglik` (of the
#'   approximation), `n`, `convergence`.
#' @references
#' Opper and Winther (2005). Expectation Consistent Approximate Inference. *Journal of Machine Learning Research* 6, 2177--2204.
#' @seealso [ec_ising()], [ec_gauss()], [ec_box()], [ec_factor()], [ec_baseline()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_ising(p = 8, density = 0.4, n = 2000, size = 0.15)
#' fit <- ec_ising_fit(sim$data)
#' fit
#' cor(fit$W[upper.tri(fit$W)], sim$W[upper.tri(sim$W)])
ec_ising_fit <- function(x, lambda = 0, method = c("factorized", "tree"), na = c("error", "omit"), tol = 1e-8, ...) {
  refuse_dots(...)
  call <- match.call()
  method <- check_choice(method, c("factorized", "tree"))
  lambda <- check_number(lambda, lower = 0, upper = 1e6)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  data <- ising_input(x, check_choice(na, c("error", "omit")), FALSE)
  n <- nrow(data$x)
  found <- core_ec_learn(unname(data$x), list(lambda = lambda, method = method, tol = tol), progress_bar("maximum likelihood"))
  names <- colnames(data$x)
  J <- found$J
  dimnames(J) <- list(names, names)
  theta <- stats::setNames(found$theta, names)
  fit <- new_fit(c("ec_ising_fit", "ising"), W = J / 2, b = theta, coupling = J, J = J, theta = theta, tree = found$tree, method = method,
                 lambda = lambda,
                 log_z = found$log_z, loglik = found$loglik, df = count_pairs(J), levels = data$levels, kind = data$kind, x = data$x, n = n,
                 call = call,
                 convergence = found$convergence)
  if (!found$inference$converged) {
    warn_convergence(paste("The approximation has no stable fixed point at the estimate, so that `log_z` and `loglik` are rough.",
                           "Use a larger `lambda`."), found$inference)
  }
  check_convergence(fit)
  fit
}

#' @export
logLik.granary_ec_ising_fit <- function(object, ...) {
  structure(object$loglik, df = object$df + ncol(object$W), nobs = object$n, type = "expectation consistent", class = "logLik")
}

#' @export
print.granary_ec_ising_fit <- function(x, ...) {
  cli::cat_line("Ising model by approximate maximum likelihood (expectation consistent, ", x$method, "): ", ncol(x$W), " variables, ", x$df,
                " edges, n = ", x$n)
  print_call(x$call)
  cli::cat_line("penalty: ", format(x$lambda, digits = 3L), "; log-likelihood of the approximation: ", format(x$loglik, digits = 6L))
  table <- utils::head(tidy(x), 6L)
  if (nrow(table) > 0L) {
    cli::cat_line("Strongest edges:")
    print(table, digits = 3L, row.names = FALSE)
  }
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}
