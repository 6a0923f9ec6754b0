#' Learning curves of stochastic gradient descent, without running it
#'
#' How will the test error and the training error of gradient descent evolve in linear regression, for a given learning rate, weight decay and
#' number of examples per
#' weight? `sgd_curve()` computes the curve for a large network from the exact theory of Sollich and Barber (1997): overfitting in time, the
#' noise that the random order of the examples adds, divergence. It is meant for planning (which rate, how much decay, how many passes), for
#' teaching,
#' and as a reference for code that runs the descent.
#'
#' `N` weights are learned from `p` = `alpha` `N` examples \eqn{y = w^{*T} x / \sqrt N + \xi}{y = w*'x / sqrt(N) + xi} with
#' \eqn{|w^*|^2 = |x|^2 = N}{|w*|^2 = |x|^2 = N} and noise of variance `noise_var`. From \eqn{w = 0}{w = 0} each update picks one of the examples at
#' random and sets
#' \deqn{w \leftarrow w - \eta \left[ \frac{x_\mu}{\sqrt N} \left( \frac{w^T x_\mu}{\sqrt N} - y_\mu \right) + \frac{\gamma}{N} w \right], \quad
#' \lambda = \gamma \alpha.}{w <- w - eta [ x_mu (w'x_mu / sqrt(N) - y_mu) / sqrt(N) + (gamma / N) w ],  lambda = gamma alpha.}
#' Time is counted in updates per weight, so `t / alpha` is the number of passes over the examples; [sgd_bounds()] translates steps and penalties of
#' other
#' conventions. The test error is \eqn{|w - w^*|^2 / (2N)}{|w - w*|^2 / (2N)}, the training error half the mean squared residual.
#'
#' For large `N` both are the same for almost every draw of the data. With \eqn{\rho}{rho} the spectrum of \eqn{A = \sum x x^T / N}{A = sum x x' /
#' N}, the training error solves the Volterra
#' equation
#' \deqn{E(t) = E_0(t) + \int_0^t K(t - u) E(u) du, \quad K(v) = (\eta/\alpha)^2 \int \rho(a) a^2 e^{-2 (\eta/\alpha)(a + \lambda) v} da,}{E(t) =
#' E_0(t) + int_0^t K(t - u) E(u) du,  K(v) = (eta/alpha)^2 int rho(a) a^2 exp(-2 (eta/alpha)(a + lambda) v) da,}
#' \eqn{E_0}{E_0} being the error of the mean weights. The test error is the sum of three parts, returned as `bias` (what is not yet learned, or
#' shrunk away), `variance`
#' (noise of the responses that has been learned) and `noise` (spread of the weights through the random order of the examples). The paper gives the
#' Laplace transform of this solution;
#' here the equation is solved in time by collocation with an exponential integrator for each eigenvalue and steps controlled by its residual
#' (relative error about 1e-7).
#'
#' `method = "offline"` is descent along the full gradient, \eqn{w \leftarrow w - \eta [(A + \lambda) w - A w^* - b]}{w <- w - eta [(A + lambda) w -
#' A w* - b]}, one step per pass; its
#' rate has other units and is stable below `sgd_bounds("rates", ...)$offline`.
#'
#' @section Which method when:
#' `sgd_curve()` for the curve of one setting; [sgd_bounds()] for the rates at which things change and for the end of the curve,
#' [sgd_optimize()] for the best rate and decay for
#' a given time. [sim_sgd()] runs the descent for finite `N`; [sgd_exact()] averages it exactly for one small set of examples;
#' [sgd_data()] predicts it for your own data.
#' [committee_curve()] is the theory for two-layer networks.
#'
#' @param alpha Examples per weight, `p / N`.
#' @param eta Learning rate. Above the critical rate of [sgd_bounds()] the curve diverges; it can still be computed at finite times.
#' @param lambda Weight decay, in the units of the penalty of ridge regression on \eqn{A}{A}.
#' @param noise_var Variance of the noise; the clean responses have variance one.
#' @param t Times, in updates per weight, ascending.
#' @param method `"online"`: one example per update; `"offline"`: the full gradient, once per pass.
#' @param spectrum `NULL` for inputs without structure (the Marchenko-Pastur law), or the `N` eigenvalues of \eqn{X^T X / N}{X'X / N}, zeros
#'   included. For inputs with other spectra the noise part
#'   is an approximation, which needs eigenvectors that are spread over many examples.
#' @param nodes Number of nodes that stand for the Marchenko-Pastur law.
#' @return A fit of class `granary_sgd_curve` with `t`, `test`, `train`, the parts `bias`, `variance` and `noise` of the test error, `train_mean`
#'   (\eqn{E_0}{E_0}),
#'   `eps_inf` and `train_inf`, the errors for infinite time, and `settings`. `predict()` and `tidy()` give data frames, `simulate()` runs the
#'   descent ([sim_sgd()]),
#'   `summary()` adds rates, decay constants and the best time to stop.
#' @references Sollich, P. and Barber, D. (1997). Online learning from finite training sets: an analytical case study. *Advances in Neural
#'   Information Processing
#'   Systems* 9, 274-280.
#' @seealso [sgd_optimize()], [sgd_bounds()], [sgd_exact()], [sgd_data()], [committee_curve()]
#' @export
#' @examples
#' curve <- sgd_curve(alpha = 0.7, eta = 1, lambda = 1e-4, noise_var = 0.1)
#' curve
#' summary(curve)
#' slower <- sgd_curve(alpha = 0.7, eta = 0.5, lambda = 1e-4, noise_var = 0.1)
#' set.seed(1)
#' run <- simulate(curve, nsim = 5, N = 50)
#' plot(curve, slower, run)
#' predict(curve, t = c(1, 10, 100))
#' head(tidy(curve))
sgd_curve <- function(alpha, eta, lambda = 0, noise_var = 0.1, t = seq(0, 20, by = 0.1), method = c("online", "offline"), spectrum = NULL, nodes = 300, ...) {
  refuse_dots(...)
  settings <- check_sgd(alpha, eta, lambda, noise_var)
  settings$method <- check_choice(method, c("online", "offline"))
  settings$spectrum <- check_spectrum(spectrum, settings$alpha)
  settings$nodes <- check_count(nodes, lower = 10, upper = 100000)
  t <- check_times(t)
  found <- sgd_curve_at(settings, t)
  end <- curve_end(settings)
  if (is.infinite(end$test) && settings$eta >= end$limit) {
    warn_input(sprintf("`eta` is not below %s, the largest stable rate: the error grows without bound.", format(end$limit, digits = 6L)), "eta")
  }
  new_fit(c("sgd_curve", "learning_curve"), t = t, test = found$test, train = found$train, bias = found$bias, variance = found$variance,
          noise = found$noise, train_mean = found$train_mean, eps_inf = end$test, train_inf = end$train, settings = settings, call = match.call(),
          convergence = found$convergence)
}

sgd_curve_at <- function(settings, t) {
  core_sgd_curve(sgd_setting(settings), t, progress_bar("learning curve"))
}

# What of the settings crosses.
sgd_setting <- function(settings, ...) {
  out <- settings[intersect(c("alpha", "eta", "lambda", "noise_var", "method", "nodes"), names(settings))]
  c(out, list(spectrum = as.double(settings$spectrum)), ...)
}

# Rates and limits, a row per setting.
sgd_limits <- function(alpha, eta, lambda, noise_var, spectrum) {
  as.data.frame(core_sgd_limits(list(alpha = as.double(alpha), eta = as.double(eta), lambda = as.double(lambda), noise_var = as.double(noise_var),
                                     spectrum = as.double(spectrum))))
}

# Errors for infinite time, and the largest stable rate. Full-gradient descent ends at the ridge estimate.
curve_end <- function(settings) {
  eta <- if (settings$method == "online") settings$eta else 0
  end <- sgd_limits(settings$alpha, eta, settings$lambda, settings$noise_var, settings$spectrum)
  limit <- if (settings$method == "online") end$eta_c else end$offline
  stable <- settings$eta < limit
  list(test = if (stable) end$test else Inf, train = if (stable) end$train else Inf, limit = limit)
}

# The parameters of the model, within what double precision can follow.
check_sgd <- function(alpha, eta, lambda, noise_var, arg_noise = "noise_var") {
  list(alpha = check_number(alpha, "alpha", lower = 1e-6, upper = 1e8), eta = check_number(eta, "eta", lower = 0, upper = 1e6, strict_lower = TRUE),
       lambda = check_number(lambda, "lambda", lower = 0, upper = 1e12), noise_var = check_number(noise_var, arg_noise, lower = 0, upper = 1e12))
}

check_times <- function(t, arg = "t", strict = FALSE) {
  t <- unname(check_vector(t, arg, lower = 0, upper = 1e9, strict_lower = strict))
  if (is.unsorted(t)) abort_input(sprintf("`%s` must ascend. Use sort(%s).", arg, arg), arg)
  t
}

check_spectrum <- function(spectrum, alpha) {
  spectrum <- check_vector(spectrum, "spectrum", lower = -1e-8, upper = 1e12, allow_null = TRUE)
  if (is.null(spectrum)) return(NULL)
  spectrum <- sort(pmax(unname(spectrum), 0))
  if (!any(spectrum > 0)) abort_input("`spectrum` must have an eigenvalue above zero.", "spectrum")
  if (abs(mean(spectrum) / alpha - 1) > 0.1) {
    warn_input(sprintf(paste("The mean of `spectrum` is %s, but `alpha` is %s: they agree where the inputs have mean square one.",
                             "Rescale the inputs, or give all N eigenvalues, zeros too."),
                       format(mean(spectrum), digits = 4L), format(alpha, digits = 4L)), "spectrum")
  }
  spectrum
}

describe_sgd <- function(settings) {
  parts <- c(alpha = settings$alpha, eta = settings$eta, lambda = settings$lambda, noise_var = settings$noise_var)
  text <- paste(names(parts), "=", format(parts, digits = 4L, trim = TRUE, drop0trailing = TRUE), collapse = ", ")
  if (!is.null(settings$spectrum)) paste0(text, ", own spectrum of ", length(settings$spectrum), " eigenvalues") else text
}

#' @rdname sgd_curve
#' @param x,object A learning curve.
#' @param ... Not used; see [plot.granary_learning_curve()] for what `plot()` takes.
#' @export
print.granary_sgd_curve <- function(x, ...) {
  settings <- x$settings
  cli::cat_line("granary: learning curve of ", settings$method, " gradient descent")
  cli::cat_line(describe_sgd(settings))
  cli::cat_line("time ", format(x$t[1L]), " to ", format(x$t[length(x$t)]), " updates per weight (", format(max(x$t) / settings$alpha, digits = 3L),
                " passes)")
  print_curve_points(x)
  if (is.finite(x$eps_inf)) {
    cli::cat_line("at the end of time: test error ", format(x$eps_inf, digits = 5L), ", training error ", format(x$train_inf, digits = 5L))
  } else if (x$settings$eta < curve_end(settings)$limit) {
    cli::cat_line("the test error grows without bound: the smallest eigenvalues reach zero and nothing shrinks the weights")
  } else {
    cli::cat_line("DIVERGES: eta is above the largest stable rate ", format(curve_end(settings)$limit, digits = 5L))
  }
  invisible(x)
}

#' @rdname sgd_curve
#' @export
summary.granary_sgd_curve <- function(object, ...) {
  settings <- object$settings
  end <- sgd_limits(settings$alpha, settings$eta, settings$lambda, settings$noise_var, settings$spectrum)
  best <- which.min(object$test)
  seal(structure(list(curve = object, rates = unlist(end[c("eta_c", "eta_min", "eta_x", "offline")]),
                 decay = c(normal = end$decay, slow = if (is.nan(end$decay_slow)) NA else end$decay_slow),
                 best = if (length(best) > 0L) c(t = object$t[best], test = object$test[best])), class = "summary_granary_sgd_curve"))
}

#' @export
print.summary_granary_sgd_curve <- function(x, ...) {
  print(x$curve)
  number <- function(v) format(v, digits = 5L)
  if (x$curve$settings$method == "online") {
    cli::cat_line("critical rate eta_c ", number(x$rates[["eta_c"]]), ", fastest final convergence at eta_x ", number(x$rates[["eta_x"]]),
                  ", slow mode from eta_min ", number(x$rates[["eta_min"]]))
    cli::cat_line("decay constants: normal mode ", number(x$decay[["normal"]]), ", slow mode ",
                  if (is.na(x$decay[["slow"]])) "none" else number(x$decay[["slow"]]))
  } else {
    cli::cat_line("largest stable rate of full-gradient descent ", number(x$rates[["offline"]]))
  }
  if (!is.null(x$best)) cli::cat_line("best time to stop within the curve: t = ", number(x$best[["t"]]), ", test error ", number(x$best[["test"]]))
  invisible(x)
}

#' @rdname sgd_curve
#' @export
predict.granary_sgd_curve <- function(object, t = object$t, ...) {
  refuse_dots(...)
  t <- check_times(t)
  found <- sgd_curve_at(object$settings, t)
  data.frame(t = t, test = found$test, train = found$train)
}

#' @rdname sgd_curve
#' @param nsim,seed,N For `simulate()`: number of runs, a seed to use instead of the session's, number of weights.
#' @export
simulate.granary_sgd_curve <- function(object, nsim = 20, seed = NULL, N = 100, ...) {
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim, N = N)))
  s <- object$settings
  if (!is.null(s$spectrum)) {
    abort_input("A curve with its own spectrum cannot be simulated: give the data to sgd_data() and simulate that.", "object")
  }
  sim_sgd(N, s$alpha, s$eta, s$lambda, s$noise_var, object$t, n_rep = nsim, order = if (s$method == "online") "replacement" else "full")
}
