#' Kriging: Gaussian process emulators
#'
#' An interpolator (or smoother, where the runs are noisy) of an expensive function from a few runs, with error bars: simple, ordinary, universal and
#' stochastic kriging in one function.
#'
#' @details
#' The model is \eqn{y(x) = f(x)'\beta + z(x)}{y(x) = f(x)'b + z(x)}, \eqn{z} a Gaussian process with variance \eqn{\sigma^2}{s2} and correlation
#' \eqn{R}, a [kernel][kernels] with one lengthscale per input. With \eqn{C = R + \lambda I = LL'}{C = R + lambda I = LL'} among the runs,
#' \deqn{\hat\beta = (F'C^{-1}F)^{-1}F'C^{-1}y, \quad \hat\sigma^2 = (y - F\hat\beta)'C^{-1}(y - F\hat\beta)/n,}{b = (F'C^-1 F)^-1 F'C^-1 y, s2 =
#' (y - Fb)'C^-1 (y - Fb) / n,} \deqn{m(x) = f'\hat\beta + r'C^{-1}(y - F\hat\beta), \quad v(x) = \sigma^2\{1 - r'C^{-1}r +
#' u'(F'C^{-1}F)^{-1}u\},}{m(x) = f'b + r'C^-1 (y - Fb), v(x) = s2 (1 - r'C^-1 r + u'(F'C^-1 F)^-1 u),} \eqn{r = R(X, x)}, \eqn{u = F'C^{-1}r -
#' f}{u = F'C^-1 r - f}.
#'
#' | kriging | how |
#' | --- | --- |
#' | simple | `trend = "none"`, or `known_trend` = the coefficients of `trend` |
#' | ordinary | `trend = ~1`, the default |
#' | universal | `trend` a formula in the inputs, or `"linear"` up to `"quartic"`: products of at most two inputs coded to \eqn{[-1, 1]} |
#' | stochastic, noise unknown | `nugget = "estimate"`: \eqn{\lambda}{lambda} is learnt |
#' | stochastic, noise known | `noise_var`: \eqn{C = \sigma^2 R + \mathrm{diag}(v)}{C = s2 R + diag(v)}; `"replicates"`: \eqn{v_i = S_i^2/n_i} |
#' | blind | [blind_kriging()] finds the trend |
#' | co-kriging | [cokriging()] joins runs of several fidelities |
#'
#' **Parameters.** Lengthscales (and what else the kernel has, and \eqn{\lambda}{lambda}) maximise a criterion: `"ML"` is the concentrated
#' log-likelihood \eqn{-\frac12\{n\log(2\pi\hat\sigma^2) + \log|C| + n\}}{-1/2 (n log(2 pi s2) + log|C| + n)}; `"REML"` the restricted one, with
#' \eqn{\hat\sigma^2}{s2} over \eqn{n - p}; `"LOO"` minus the sum of squared leave-one-out errors. Gradients are exact and cost one inverse for all
#' parameters together, \eqn{O(n^3)}. The search is a projected quasi-Newton method in the logarithms, from `n_starts` starts: where the kernel
#' stands (half the range of each input for a kernel given as text), and a Latin hypercube over the box `lower` to `upper`. The starts run in
#' parallel; a different optimiser can be given as a function. Inputs are scaled to unit ranges inside; a kernel with one lengthscale for several
#' inputs keeps their proportions, and kernels that are not functions of distances (`k_linear()`, `k_mlp()`, own functions) see the inputs as they are.
#'
#' With `prior` the logarithms of the parameters it names have normal priors, whose log density is added to the criterion: the posterior mode
#' (maximum a posteriori). It keeps lengthscales from running away where runs are few. [gp_parameter_sample()] draws from the posterior.
#'
#' **Numerics.** Where \eqn{C} cannot be factored, \eqn{10^{-12}}{1e-12} up to \eqn{10^{-6}}{1e-6} of its diagonal is added; `jitter` says how
#' much. Repeated rows with equal responses are dropped; with different responses the runs are noisy, and the nugget is estimated. Trend columns that depend on
#' others get `NA`, as in [stats::lm()]. Memory is \eqn{n^2} numbers, prediction of a mean \eqn{O(n)}, of a variance \eqn{O(n^2)}.
#'
#' @section Which method when:
#' `kriging()` for deterministic simulators of up to some thousand runs and up to some dozen inputs; with `nugget = "estimate"` for noisy responses.
#' [blind_kriging()] where a strong polynomial trend is likely but unknown; [cokriging()] where a cheap version of the simulator exists. The kernel
#' `"matern52"` suits most simulators, `"se"` only very smooth ones.
#'
#' @param x Inputs, one run per row: a matrix, a data frame, or a vector for one input; or a formula such as `y ~ a + b`.
#' @param y Responses.
#' @param formula,data A formula, response ~ inputs, and a data frame with its variables.
#' @param weights,subset,na.action,offset As in [stats::lm()]; weights and offsets are refused.
#' @param trend The trend: a one-sided formula in the columns of `x`, `"none"`, `"constant"`, `"linear"`, `"quadratic"`, `"cubic"`, `"quartic"`,
#'   or the degree as a number.
#' @param kernel A [kernel][kernels], or its name. A name gives each input a lengthscale of its own; a kernel object is taken as it is. The
#'   variance of the kernel is estimated as `s2`.
#' @param lengthscale Known lengthscales, one or one per input, in the units of the inputs; `NULL` to estimate them.
#' @param theta The same for the kernel `"se"` in the parameters of DACE and ooDACE, \eqn{\theta = 1/(2\ell^2)}{theta = 1 / (2 l^2)}.
#' @param nugget Noise variance over process variance, \eqn{\lambda}{lambda}: a number, or `"estimate"`. `NULL` is 0, unless rows of `x` are
#'   repeated with different responses: then it is estimated, with a message.
#' @param noise_var Known noise variances, one or one per run, or `"replicates"`.
#' @param method Criterion: `"ML"`, `"REML"` or `"LOO"`.
#' @param prior `NULL`, or a list of log-normal priors, each a median and the standard deviation of the logarithm, such as
#'   `list(lengthscale = c(0.5, 1), nugget = c(0.01, 2))`. A name is that of a parameter, as in the column names of `starts`, or a word of it, for
#'   all parameters that have it. In the units of the inputs.
#' @param known_trend Known coefficients of `trend`.
#' @param n_starts Number of starts of the search.
#' @param lower,upper Bounds of the lengthscales in the units of the inputs, one or one per lengthscale; `NULL` for 0.01 and 10 times the range of the
#'   input.
#' @param optimizer A function `function(fn, gr, lower, upper)` or `function(par, fn, gr, lower, upper)` that minimises `fn` (gradient `gr`) over the
#'   logarithms of the parameters and returns the minimiser, or a list with it as `par`. With an argument `par` it is called from every start.
#' @param max_iter Iterations of the search from one start.
#' @param tol The search ends when the largest entry of the gradient has fallen to this share of the first one.
#' @param threads Number of threads for the starts; `NULL` for `options(granary.threads)`.
#' @param ... Passed from the formula method to the default method.
#' @return An object of class `granary_kriging`: `beta`, `s2`, `lengthscale`, `nugget`, `noise_sd`, `loglik`, `kernel` (with the parameters
#'   found), `trend`, `fitted`, `loo` (leave-one-out means and variances), `cvpe` (root mean squared leave-one-out error), `s2_ri` (variance of
#'   the re-interpolation, for noisy runs), `starts` (what became of every start), `at_bound`, `jitter`. See [granary_kriging] for what can be
#'   done with it.
#' @references Couckuyt, Dhaene and Demeester (2014). ooDACE toolbox: a flexible object-oriented Kriging implementation. *Journal of Machine
#' Learning Research* 15, 3183--3186.
#'
#' Sacks, Welch, Mitchell and Wynn (1989). Design and analysis of computer experiments. *Statistical Science* 4, 409--423.
#'
#' Staum (2009). Better simulation metamodeling: the why, what, and how of stochastic kriging. *Winter Simulation Conference*, 119--133.
#' @seealso [blind_kriging()], [cokriging()], [kriging_diagnose()], [gp_parameter_sample()], [sparse_gp()], [gp_classify()]
#' @export
#' @examples
#' set.seed(1)
#' x <- cbind(a = runif(30, -5, 10), b = runif(30, 0, 15))
#' y <- test_function("branin")(x)
#' fit <- kriging(x, y, kernel = "se", n_starts = 3)
#' fit
#' predict(fit, cbind(a = c(0, pi), b = c(5, 2.275)), se = TRUE)
#' plot(fit, type = "surface")
#'
#' # noisy runs, and a formula
#' runs <- data.frame(t = seq(0, 1, length.out = 25))
#' runs$y <- sin(6 * runs$t) + rnorm(25, sd = 0.2)
#' noisy <- kriging(y ~ t, runs, nugget = "estimate", n_starts = 3)
#' plot(noisy)
kriging <- function(x, ...) {
  UseMethod("kriging", formula_or_first(x, ...))
}

#' @rdname kriging
#' @export
kriging.formula <- function(formula, data = NULL, weights, subset, na.action, offset, ...) {
  formula_fit(function(x, y, ...) kriging.default(unname_rows(x), y, ...), "kriging", takes = character(), ...)
}

unname_rows <- function(x) {
  attributes(x) <- attributes(x)[c("dim", "dimnames")]
  rownames(x) <- NULL
  x
}

#' @rdname kriging
#' @export
kriging.default <- function(x, y, trend = ~1, kernel = "matern52", lengthscale = NULL, theta = NULL, nugget = NULL, noise_var = NULL,
                            method = c("ML", "REML", "LOO"), prior = NULL, known_trend = NULL, n_starts = 10, lower = NULL, upper = NULL,
                            optimizer = NULL, max_iter = 500, tol = 1e-6, threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  method <- check_choice(method, c("ML", "REML", "LOO"))
  runs <- check_runs(x, y, noise_var, check_nugget(nugget))
  check_all_pairs(nrow(runs$x), 4, "Use sparse_gp(), or a sample of the runs.")
  nugget <- runs$nugget
  trend <- make_trend(trend, runs$x)
  kernel <- kriging_kernel(kernel, runs$x, lengthscale, theta)
  settings <- kriging_settings(nugget, method, known_trend, n_starts, lower, upper, optimizer, max_iter, tol, threads, prior)
  fit <- krige(runs, trend, kernel, settings)
  fit$call <- generic_call(call, "kriging")
  warn_on_bound(fit$at_bound)
  check_convergence(fit)
}

kriging_settings <- function(nugget = 0, method = "ML", known_trend = NULL, n_starts = 10, lower = NULL, upper = NULL, optimizer = NULL,
                             max_iter = 500, tol = 1e-6, threads = NULL, prior = NULL) {
  if (!is.null(optimizer) && !is.function(optimizer)) fail_input("optimizer", "a function(fn, gr, lower, upper) (or NULL)", describe(optimizer))
  if (!is.null(prior) && method == "LOO") {
    abort_input("`prior` needs method = \"ML\" or \"REML\", but method is \"LOO\": leave-one-out errors are no likelihood.", "prior")
  }
  list(nugget = check_nugget(nugget), method = method, known_trend = known_trend, n_starts = check_count(n_starts, "n_starts", upper = 1e4),
       lower = lower, upper = upper, optimizer = optimizer, max_iter = check_count(max_iter, "max_iter"),
       tol = check_number(tol, "tol", lower = 1e-14, upper = 0.1), threads = threads, prior = prior)
}

check_nugget <- function(nugget) {
  if (is.null(nugget) || identical(nugget, "estimate")) return(nugget)
  if (is.character(nugget)) fail_input("nugget", "a number at least 0, or \"estimate\"", describe(nugget))
  check_number(nugget, "nugget", lower = 0, upper = 1e8)
}

# The runs of a deterministic or noisy simulator: list(x, y, noise_var).
# `nugget` NULL: none, unless equal inputs have different responses. What it became is in the result.
check_runs <- function(x, y, noise_var, nugget, arg_x = "x", arg_y = "y") {
  runs <- check_run_values(x, y, noise_var, if (is.null(nugget)) 0 else nugget, arg_x, arg_y, is.null(nugget))
  if (is.null(runs$nugget)) runs$nugget <- if (is.null(nugget)) 0 else nugget
  runs
}

check_run_values <- function(x, y, noise_var, nugget, arg_x, arg_y, free) {
  x <- if (is_plain_numeric(x) && is.null(dim(x))) check_inputs(x, arg_x) else x
  x <- check_design(x, arg_x, allow_sparse = FALSE, min_rows = 1L)
  rownames(x) <- NULL
  if (missing(y)) fail_missing(arg_y)
  y <- check_response(y, nrow(x), arg = arg_y)$y
  if (max(abs(y)) > 1e150) abort_input(sprintf("`%s` has a value too large to compute with: %s.", arg_y, format(max(abs(y)), digits = 3L)), arg_y)
  range <- input_ranges(x)
  constant <- which(!(range > 1e-12 * apply(abs(x), 2L, max)))
  if (length(constant) > 0L) {
    if (nrow(x) == 1L) abort_input(sprintf("`%s` must have at least two rows, but it has one.\nOne run says nothing of the process.", arg_x), arg_x)
    abort_input(sprintf("Every column of `%s` must vary, but column %s does not.\nLeave it out.", arg_x, label_of(colnames(x), constant[1L])), arg_x)
  }
  if (any(range < 1e-140)) abort_input(sprintf("The columns of `%s` are too small to compute with. Rescale them.", arg_x), arg_x)
  if (identical(noise_var, "replicates")) return(collapse_replicates(x, y))
  if (is.character(noise_var)) fail_input("noise_var", "noise variances, or \"replicates\"", describe(noise_var))
  noise_var <- check_vector(noise_var, "noise_var", lower = 0, allow_null = TRUE)
  if (!is.null(noise_var)) {
    if (!length(noise_var) %in% c(1L, nrow(x))) {
      abort_input(sprintf("`noise_var` must be one number or one per run (%d), but it has length %d.", nrow(x), length(noise_var)), "noise_var")
    }
    if (!any(noise_var > 0)) abort_input("`noise_var` must not be all zero: leave it out for runs without noise.", "noise_var")
    if (!identical(nugget, "estimate") && nugget > 0) abort_input("With `noise_var`, `nugget` must be 0 or \"estimate\".", "nugget")
    return(list(x = x, y = y, noise_var = unname(rep_len(noise_var, nrow(x)))))
  }
  if (!identical(nugget, "estimate") && nugget == 0) return(drop_repeated(x, y, arg_x, free))
  list(x = x, y = y, noise_var = NULL)
}

# `free`: a nugget may be estimated where equal rows have different responses.
drop_repeated <- function(x, y, arg, free = FALSE) {
  again <- duplicated(x)
  if (!any(again)) return(list(x = x, y = y, noise_var = NULL))
  key <- do.call(paste, c(as.data.frame(x), sep = "\r"))
  first <- match(key, key)
  apart <- which(abs(y - y[first]) > 1e-12 * max(abs(y)))
  if (length(apart) > 0L && free) {
    message(sprintf("Rows %d and %d of `%s` are equal but their responses differ: the runs are noisy, and `nugget` is estimated.",
                    first[apart[1L]], apart[1L], arg))
    return(list(x = x, y = y, noise_var = NULL, nugget = "estimate"))
  }
  if (length(apart) > 0L) {
    abort_input(sprintf(paste0("Rows %d and %d of `%s` are equal but their responses differ, which an interpolator cannot follow.\n",
                               "Use nugget = \"estimate\", or noise_var = \"replicates\" where noise comes from repeated runs."),
                        first[apart[1L]], apart[1L], arg), arg)
  }
  warn_input(sprintf("%s of `%s` with the same response dropped.", counted(sum(again), "repeated row", "repeated rows"), arg), arg)
  list(x = x[!again, , drop = FALSE], y = y[!again], noise_var = NULL)
}

# Means over equal rows and the variance of each mean; where a row has one run only, the pooled variance.
collapse_replicates <- function(x, y) {
  key <- do.call(paste, c(as.data.frame(x), sep = "\r"))
  group <- match(key, unique(key))
  count <- tabulate(group)
  mean <- as.vector(rowsum(y, group)) / count
  square <- as.vector(rowsum((y - mean[group])^2, group))
  if (sum(count - 1L) == 0L) abort_input("noise_var = \"replicates\" needs repeated rows, but every row of `x` is there once.", "noise_var")
  pooled <- sum(square) / sum(count - 1L)
  if (!(pooled > 0)) abort_input("noise_var = \"replicates\" needs runs that vary, but repeated rows have equal responses.", "noise_var")
  variance <- ifelse(count > 1L & square > 0, square / pmax(count - 1L, 1L), pooled)
  list(x = x[!duplicated(key), , drop = FALSE], y = mean, noise_var = variance / count, counts = count)
}

# Fits the model. `extra`: further trend columns, whose coefficients come last (co-kriging).
krige <- function(runs, trend, kernel, settings, extra = NULL, units = NULL) {
  x <- runs$x
  n <- nrow(x)
  f <- trend_matrix(trend, x)
  offset <- numeric(n)
  if (!is.null(settings$known_trend)) {
    known <- check_vector(settings$known_trend, "known_trend", lower = -1e100, upper = 1e100)
    if (length(known) != ncol(f)) {
      abort_input(sprintf("`known_trend` must have one coefficient per term of the trend (%d), but it has %d.", ncol(f), length(known)),
                  "known_trend")
    }
    offset <- as.vector(f %*% known)
    f <- matrix(0, n, 0L)
  } else {
    reduced <- drop_aliased(trend, f)
    trend <- reduced$trend
    f <- reduced$f
  }
  f <- unname(cbind(f, extra))
  if (n <= ncol(f)) {
    abort_input(sprintf("A trend of %s needs more than %s: there must be more runs than terms.", counted(ncol(f), "term", "terms"),
                        counted(n, "run", "runs")), "x")
  }
  z <- runs$y - offset
  profile <- is.null(runs$noise_var)
  estimate <- identical(settings$nugget, "estimate")
  left <- core_trend_columns(f, z)$residual
  flat <- profile && left <= 1e-26 * sum(z^2)
  size <- if (profile) NULL else max(left / n, mean(runs$noise_var))
  kernel <- anchor_variance(kernel, free = !profile)
  if (is.null(kernel$children) && (profile || kernel$learn[1L])) kernel$variance <- 1
  if (is.null(units)) units <- input_units(kernel, x)
  unit_kernel <- rescale_kernel(kernel, 1 / units$width)
  parameters <- kriging_parameters(kernel, unit_kernel, x, settings$lower, settings$upper, size, estimate)
  core <- list(x = to_units(x, units), y = z, f = f, kernel = unit_kernel, nugget = if (estimate) 0.01 else settings$nugget,
               learn_nugget = estimate, noise = if (profile) numeric() else runs$noise_var, profile = profile, method = settings$method)
  core["prior"] <- list(check_prior(settings$prior, parameters$names, parameters$shift))
  learn <- length(parameters$start) > 0L && !flat
  found <- if (learn) learn_kriging(core, parameters, settings)
  m <- length(parameters$start) - estimate
  at <- if (learn) found$parameters else parameters$start
  if (learn) core$kernel <- set_kernel_parameters(unit_kernel, at)
  if (estimate) core$nugget <- exp(at[m + 1L])
  if (flat) core$nugget <- if (estimate) 0 else core$nugget
  core$learn_nugget <- FALSE
  solved <- if (is.null(found$solution)) core_kriging_solve(core, NULL) else found$solution
  if (flat) {
    solved$scale <- 0
    solved$value <- Inf
    solved$loo_variance[] <- 0
    warn_input(if (ncol(f) > 1L) "The trend fits `y` exactly: the process has variance 0 and predictions are those of the trend." else
      "`y` is constant: the process has variance 0 and every prediction is that constant.", "y")
  }
  bound <- if (learn) on_bounds(parameters, at)
  fit <- new_kriging(runs, trend, units, core, solved, settings, offset, found, bound, length(at) * learn, if (is.null(extra)) 0L else ncol(extra))
  fit$search <- c(parameters[c("names", "lower", "upper", "shift")], list(at = at))
  fit
}

# The same parameters with other runs or another trend. `solved`: what the core says of them, where it is known.
rebuild_kriging <- function(fit, runs = fit[c("x", "y", "noise_var")], trend = fit$trend, solved = NULL) {
  f <- trend_matrix(trend, runs$x)
  known <- fit$settings$known_trend
  offset <- if (is.null(known)) numeric(nrow(f)) else as.vector(f %*% known)
  core <- fit$core
  core$x <- to_units(runs$x, fit$units)
  core$y <- runs$y - offset
  core$f <- if (is.null(known)) unname(f) else matrix(0, nrow(f), 0L)
  core$noise <- if (core$profile) numeric() else runs$noise_var
  if (is.null(solved)) solved <- core_kriging_solve(core, NULL)
  out <- new_kriging(runs, trend, fit$units, core, solved, fit$settings, offset, NULL, fit$at_bound, fit$n_parameters)
  same <- c("starts", "convergence", "call", "design", "search")
  out[same] <- fit[same]
  out
}

on_bounds <- function(parameters, at) {
  near <- 1e-6 * (parameters$upper - parameters$lower)
  hit <- at <= parameters$lower + near | at >= parameters$upper - near
  side <- ifelse(at <= parameters$lower + near, "lower", "upper")
  sprintf("%s (%s, %s)", parameters$names[hit], side[hit], format(exp((at + parameters$shift)[hit]), digits = 3L, trim = TRUE))
}

learn_kriging <- function(core, parameters, settings) {
  search <- c(parameters[c("start", "lower", "upper", "spread_low", "spread_high")], settings[c("n_starts", "max_iter", "tol")],
              list(threads = if (has_user_code(core$kernel)) 1L else thread_count(settings$threads)))
  if (is.null(settings$optimizer)) {
    found <- core_kriging(core, search, core_seed(), progress_bar("kriging"))
  } else {
    found <- own_optimiser(core, core_kriging_starts(search, core_seed()), parameters, settings$optimizer)
  }
  table <- data.frame(criterion = found$values, converged = found$converged, evaluations = found$evaluations)
  ends <- exp(sweep(matrix(found$to, nrow(table)), 2L, parameters$shift, `+`))
  colnames(ends) <- parameters$names
  found$table <- cbind(table, ends)
  found
}

# What the user's optimiser sees is minus the criterion; where the covariance cannot be factored, a large number.
own_optimiser <- function(core, starts, parameters, optimizer) {
  evaluations <- 0L
  last <- NULL
  evaluate <- function(p) {
    p <- check_vector(p, "par", length = length(parameters$start))
    if (!is.null(last) && identical(last$at, p)) return(last)
    evaluations <<- evaluations + 1L
    found <- core_kriging_objective(core, p)
    if (!is.finite(found$value)) found <- list(value = -1e50, gradient = numeric(length(p)))
    last <<- list(at = p, value = found$value, gradient = found$gradient)
    last
  }
  fn <- function(par) -evaluate(par)$value
  gr <- function(par) -evaluate(par)$gradient
  takes_par <- any(c("par", "...") %in% names(formals(optimizer)))
  if (!takes_par) starts <- starts[1L, , drop = FALSE]
  started <- proc.time()[["elapsed"]]
  ends <- lapply(seq_len(nrow(starts)), function(s) {
    before <- evaluations
    arguments <- list(fn = fn, gr = gr, lower = parameters$lower, upper = parameters$upper)
    if (takes_par) arguments <- c(list(par = starts[s, ]), arguments)
    out <- tryCatch(do.call(optimizer, arguments), granary_error = stop, error = function(e) {
      abort_input(paste0("`optimizer` failed: ", conditionMessage(e), "."), "optimizer")
    })
    par <- if (is.list(out)) out$par else out
    if (!is_plain_numeric(par) || length(par) != length(parameters$start) || anyNA(par)) {
      fail_input("optimizer", sprintf("a function that returns %d numbers, or a list with them as `par`", length(parameters$start)), describe(par))
    }
    par <- pmin(pmax(as.double(par), parameters$lower), parameters$upper)
    list(par = par, value = evaluate(par)$value, evaluations = evaluations - before)
  })
  values <- vapply(ends, `[[`, 0, "value")
  best <- ends[[which.max(values)]]
  list(parameters = best$par, value = best$value, to = do.call(rbind, lapply(ends, `[[`, "par")), values = values, converged = rep(NA, length(ends)),
       evaluations = vapply(ends, `[[`, 0L, "evaluations"),
       convergence = list(converged = TRUE, iterations = evaluations, gap = NaN, residual = NaN, seconds = proc.time()[["elapsed"]] - started,
                          message = "own optimiser"))
}

new_kriging <- function(runs, trend, units, core, solved, settings, offset, found, bound, n_learnt, n_extra = 0L) {
  kernel <- rescale_kernel(core$kernel, units$width)
  single <- is.null(kernel$children)
  s2 <- solved$scale * if (single) kernel$variance else 1
  kept <- c("factor", "jitter", "scale", "inverse_diagonal")
  core[kept] <- solved[kept]
  noise <- if (core$profile) core$nugget * solved$scale else core$nugget
  leaves <- Filter(function(leaf) leaf$type %in% c(radial_types, "hamming"), kernel_leaves(kernel))
  lengths <- lapply(leaves, function(leaf) {
    columns <- leaf_columns(leaf, ncol(runs$x))
    stats::setNames(leaf$scales, if (length(leaf$scales) == length(columns)) colnames(runs$x)[columns] else NULL)
  })
  beta <- solved$beta
  n_trend <- length(beta) - n_extra
  known <- !is.null(settings$known_trend)
  coefficients <- if (known) stats::setNames(as.double(settings$known_trend), trend$names) else trend_coefficients(trend, beta[seq_len(n_trend)])
  noisy <- core$nugget > 0 || length(core$noise) > 0L
  convergence <- if (is.null(found)) list(converged = NA, message = "parameters were given") else found$convergence
  fit <- new_fit(
    "kriging", beta = coefficients, s2 = s2, lengthscale = if (length(lengths) == 1L) lengths[[1L]] else lengths,
    nugget = if (s2 > 0) noise / s2 else 0, noise_sd = sqrt(noise), loglik = solved$value,
    criterion = if (is.null(found)) solved$value else found$value, method = settings$method,
    kernel = kernel, trend = trend, x = runs$x, y = runs$y, noise_var = runs$noise_var,
    fitted = solved$fitted + offset, loo = data.frame(mean = solved$loo_mean + offset, variance = solved$loo_variance),
    cvpe = sqrt(mean((core$y - solved$loo_mean)^2)), alpha = solved$alpha, starts = found$table,
    at_bound = as.character(bound), jitter = solved$jitter,
    units = units, settings = settings, core = core, n_parameters = n_learnt,
    extra = beta[seq_len(n_extra) + n_trend], call = NULL, convergence = convergence
  )
  fit$trend_covariance <- solved$trend_covariance
  if (noisy && s2 > 0) {
    # alpha'K alpha / n, without a matrix of kernel values: K alpha is fitted minus trend
    smooth <- solved$fitted - if (ncol(core$f) > 0L) as.vector(core$f %*% beta) else 0
    fit$s2_ri <- sum(solved$alpha * smooth) / nrow(runs$x) * if (single) kernel$variance else 1
  }
  fit
}
