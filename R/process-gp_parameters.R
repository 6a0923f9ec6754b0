# Priors of the parameters of Gaussian processes, and draws from their posterior.

# list(mean, sd) of the logarithms of the parameters, less `shift`; infinite standard deviations where nothing was said. NULL without a prior.
check_prior <- function(prior, names, shift = 0, free = TRUE) {
  if (is.null(prior)) return(NULL)
  usable <- is.list(prior) && !is.data.frame(prior) && length(prior) > 0L && !is.null(names(prior)) && all(nzchar(names(prior)))
  if (!usable) fail_input("prior", "a named list such as list(lengthscale = c(median, sd of the logarithm))", describe(prior))
  if (!free) abort_input("`prior` is for parameters that are learnt, but hyper is \"fixed\".", "prior")
  known <- paste0("\"", names, "\"", collapse = ", ")
  mean <- numeric(length(names))
  sd <- rep(Inf, length(names))
  whole <- names(prior) %in% names
  words <- strsplit(sub("[0-9]+$", "", names), ".", fixed = TRUE)  # "matern.lengthscale2" has the words matern and lengthscale
  for (k in c(which(!whole), which(whole))) {  # a full name overrules a word
    key <- names(prior)[k]
    arg <- paste0("prior$", key)
    hit <- if (whole[k]) names == key else vapply(words, function(parts) key %in% parts, NA)
    if (!any(hit)) {
      abort_input(sprintf("`prior` must name free parameters of the model (%s), or a word of their names, but \"%s\" is none.",
                          if (length(names) > 0L) known else "there are none", key), "prior")
    }
    location <- key == "mean"
    value <- check_vector(prior[[k]], arg, length = 2L, lower = if (location) -Inf else .Machine$double.xmin, upper = 1e300)
    check_number(value[2L], paste0(arg, "[2]"), lower = 1e-6, upper = 1e6)
    mean[hit] <- if (location) value[1L] else log(value[1L])
    sd[hit] <- value[2L]
  }
  list(mean = unname(mean - shift), sd = sd)
}

#' Draws from the posterior of the parameters of a Gaussian process
#'
#' Lengthscales, variances and noise by Markov chains, in place of one best value: how sure the data are of them, and predictions that carry
#' that doubt.
#'
#' @details
#' The chain moves the logarithms \eqn{\theta}{theta} of the parameters that the fit has learnt, inside the box of its search, with density
#' proportional to the evidence times the prior: \deqn{\log p(\theta | y) = \log p(y | \theta) - \frac12\sum_j\{(\theta_j - \mu_j)/s_j\}^2 +
#' \mathrm{const}.}{log p(theta | y) = log p(y | theta) - 1/2 sum_j ((theta_j - mu_j) / s_j)^2 + const.} Parameters without a prior are uniform in
#' the logarithm over the box.
#'
#' | fit | \eqn{p(y | \theta)}{p(y | theta)} |
#' | --- | --- |
#' | [kriging()], [blind_kriging()] | the restricted likelihood |
#' | [sparse_gp()] | the evidence of its method at its inducing inputs, the trend at its best value |
#' | [gp_classify()] | the evidence of EP or of Laplace's method |
#'
#' The restricted likelihood of a kriging model is what is left when its trend and variance are integrated out under
#' \eqn{p(\beta, \sigma^2) \propto 1/\sigma^2}{p(b, s2) proportional to 1 / s2}; with `noise_var` the variance is a parameter.
#'
#' `sampler = "slice"` takes one parameter at a time by stepping out and shrinking (Neal) and has nothing to tune: a draw costs some five
#' evaluations per
#' parameter. `"hmc"` makes Hamiltonian moves of `steps` leapfrogs with gradients, its step size learnt during the burn-in: better with many
#' parameters. `"ess"` makes elliptical slices, for fits with a prior of every parameter.
#'
#' `predict()` averages over draws. Means are the mean of the means; variances the mean of the variances plus the variance of the means. For
#' kriging, the variance given a draw is that of the t law with \eqn{n - p} degrees of freedom that integrating \eqn{\sigma^2}{s2} leaves.
#'
#' @section Which method when:
#' With few runs, when lengthscales end on bounds, or when the width of intervals matters. With hundreds of rows and few parameters the posterior is
#' narrow, and the fit itself says the same.
#'
#' @param object A fit by [kriging()], [blind_kriging()], [sparse_gp()] or [gp_classify()] that has learnt its parameters; for `predict()` and
#'   `summary()` a sample.
#' @param n_draws Draws kept from each chain.
#' @param burn_in Sweeps or moves before the first draw.
#' @param sampler `"slice"`, `"hmc"` or `"ess"`.
#' @param prior As in [kriging()]; `NULL` for that of the fit.
#' @param thin Sweeps or moves per draw.
#' @param steps Leapfrog steps of a Hamiltonian move.
#' @param chains Number of chains.
#' @param threads Threads for the chains; results do not depend on it.
#' @param newdata Rows to predict for; `NULL` for those of the fit.
#' @param se Whether to give standard errors. For probabilities: how much they differ between draws.
#' @param draws Number of draws that predictions average over, evenly spaced in the sample; each costs a fit with given parameters.
#' @param x A sample.
#' @param ... For `predict()` arguments of the prediction of the fit, such as `type`; for `plot()`, passed on to [graphics::hist()].
#' @return An object of class `granary_gp_parameter_sample`: `draws` (a row per draw, in the units of the fit), `log_density`, `effective_size` (of
#'   `log_density`), `rhat` (of the worst parameter, from the halves of the chains), `acceptance`, `fit`. `predict()` gives a vector, or a list
#'   with `fit` and `se.fit`; `summary()` a table of means, standard deviations and quantiles; `plot()` histograms.
#' @references Neal (2003). Slice sampling. *Annals of Statistics* 31, 705--767.
#'
#' Murray, Adams and MacKay (2010). Elliptical slice sampling. *Proceedings of Machine Learning Research* 9, 541--548.
#' @seealso [kriging()], [blind_kriging()], [cokriging()], [kriging_diagnose()], [sparse_gp()], [gp_classify()]
#' @export
#' @examples
#' set.seed(1)
#' x <- seq(0, 1, length.out = 12)
#' fit <- kriging(x, sin(6 * x) + rnorm(12, sd = 0.1), nugget = "estimate", n_starts = 2,
#'                prior = list(lengthscale = c(0.3, 1), nugget = c(0.01, 2)))
#' draws <- gp_parameter_sample(fit, n_draws = 100, burn_in = 50)
#' draws
#' predict(draws, c(0.25, 0.5), se = TRUE, draws = 20)
#' plot(draws)
gp_parameter_sample <- function(object, n_draws = 500, burn_in = 200, sampler = c("slice", "hmc", "ess"), prior = NULL, thin = 1,
                                steps = 10, chains = 1,
                                threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(object)) fail_missing("object")
  n <- check_count(n_draws, "n_draws", upper = 1e6)
  burn_in <- check_count(burn_in, lower = 0, upper = 1e6)
  sampler <- check_choice(sampler, c("slice", "hmc", "ess"))
  thin <- check_count(thin, upper = 1e4)
  steps <- check_count(steps, upper = 1e4)
  chains <- check_count(chains, upper = 1000)
  if (as.double(n) * thin * chains > 1e7) abort_input("`n_draws` times `thin` times `chains` asks for more than 1e7 moves. Use fewer.", "n_draws")
  target <- parameter_target(object, prior)
  if (sampler == "ess" && !(length(target$prior$sd) > 0L && all(is.finite(target$prior$sd)))) {
    without <- if (is.null(target$prior)) target$names else target$names[!is.finite(target$prior$sd)]
    abort_input(sprintf("sampler = \"ess\" needs a `prior` of every parameter, but there is none of %s.",
                        paste0("\"", without, "\"", collapse = ", ")), "prior")
  }
  settings <- c(target[c("lower", "upper")], if (!is.null(target$prior)) target["prior"], list(
    sampler = sampler, n_draws = n, burn_in = burn_in, thin = thin, steps = steps, chains = chains,
    threads = if (has_user_code(object$kernel)) 1L else thread_count(threads)
  ))
  found <- target$run(settings)
  draws <- t(target$natural(t(found$theta)))
  dimnames(draws) <- list(NULL, target$names)
  rhat <- split_rhat(found$theta, n, chains)
  check_chains(new_fit(
    "gp_parameter_sample", draws = draws, theta = found$theta, log_density = found$log_density, effective_size = found$effective_size,
    acceptance = found$acceptance, rhat = rhat, sampler = sampler, chains = chains, prior = target$prior, fit = object, call = call,
    convergence = chain_convergence(rhat, found$effective_size, n, thin, burn_in)
  ))
}

parameter_target <- function(object, prior = NULL) {
  if (inherits(object, "granary_kriging")) return(kriging_target(object, prior))
  if (inherits(object, "granary_sparse_gp")) return(sparse_target(object, prior))
  if (inherits(object, "granary_gp_classify")) return(classifier_target(object, prior))
  fail_input("object", "a fit of kriging(), blind_kriging(), sparse_gp() or gp_classify()", describe(object))
}

# What a chain needs to know of a fit: names, box, prior; how to run; the parameters as the user knows them; the fit at a draw, with the factor of
# its predictive variance.
kriging_target <- function(object, prior) {
  search <- object$search
  if (length(search$at) == 0L || object$s2 == 0) fail_not_learnt()
  core <- object$core
  core$learn_nugget <- "nugget" %in% search$names
  m <- length(search$at) - core$learn_nugget
  free <- nrow(core$x) - ncol(core$f)
  list(
    names = search$names, lower = search$lower, upper = search$upper,
    prior = if (is.null(prior)) core$prior else check_prior(prior, search$names, search$shift),
    run = function(settings) core_kriging_sample(core, search$at, settings, core_seed(), progress_bar("parameters")),
    natural = function(theta) exp(theta + search$shift),
    at = function(theta) {
      object$core$kernel <- set_kernel_parameters(object$core$kernel, theta[seq_len(m)])
      if (core$learn_nugget) object$core$nugget <- exp(theta[m + 1L])
      object$core$method <- "REML"
      fit <- rebuild_kriging(object)
      class(fit) <- class(object)
      list(fit = fit, inflate = if (core$profile && free > 2L) free / (free - 2) else 1)
    }
  )
}

sparse_target <- function(object, prior) {
  search <- object$search
  if (is.null(search)) fail_not_learnt()
  learnt <- c(rep(TRUE, length(search$at) - 1L), isTRUE(search$learn_noise))
  if (!any(learnt)) fail_not_learnt()
  exact <- object$method %in% c("exact", "sod")
  rows <- if (exact) object$rows else NULL
  if (is.null(rows)) rows <- seq_len(nrow(object$x))
  x <- object$x[rows, , drop = FALSE]
  targets <- cbind(object$y - object$data$offset, trend_basis(object$data, object$x))[rows, , drop = FALSE]
  data <- sparse_rows(x, targets, object$blocks, object$kernel, object$method)
  at <- search$at
  limit <- function(prior) if (!is.null(prior)) lapply(prior, `[`, learnt)
  list(
    names = search$names[learnt], lower = search$lower[learnt], upper = search$upper[learnt],
    prior = limit(if (is.null(prior)) search$prior else check_prior(prior, search$names)),
    run = function(settings) {
      start <- list(inducing = if (exact) matrix(0, 0L, ncol(x)) else unname(object$inducing), parameters = at, learn_noise = search$learn_noise)
      core_sparse_sample(data, start, settings, core_seed(), progress_bar("parameters"))
    },
    natural = exp,
    at = function(theta) {
      at[learnt] <- theta
      last <- length(at)
      fit <- suppressWarnings(sparse_gp.default(
        if (exact) x else object$x, if (exact) object$y[rows] else object$y, if (exact) "exact" else object$method,
        inducing = object$inducing, kernel = set_kernel_parameters(object$kernel, at[-last]), hyper = "fixed", noise_var = exp(at[last]),
        blocks = object$blocks, mean = object$mean, threads = object$threads
      ), classes = "granary_warning")
      fit$design <- object$design
      list(fit = fit, inflate = 1)
    }
  )
}

classifier_target <- function(object, prior) {
  bounds <- object$bounds
  if (object$hyper != "ml2" || length(bounds$lower) == 0L) fail_not_learnt()
  start <- c(log(unname(stats::coef(object$kernel))), if (object$settings$learn_mean) object$settings$mean)
  positive <- bounds$names != "mean"
  list(
    names = bounds$names, lower = bounds$lower, upper = bounds$upper, prior = if (is.null(prior)) bounds$prior else check_prior(prior, bounds$names),
    run = function(settings) {
      core_gp_classify_sample(object, pmin(pmax(start, bounds$lower), bounds$upper), settings, core_seed(), progress_bar("parameters"))
    },
    natural = function(theta) {
      theta[positive, ] <- exp(theta[positive, ])
      theta
    },
    at = function(theta) {
      object$kernel <- set_kernel_parameters(object$kernel, theta[positive])
      if (!all(positive)) object$settings$mean <- theta[!positive]
      found <- core_gp_classify_posterior(object, core_seed(), NULL)
      object[c("tau", "nu", "weight")] <- found[c("tau", "nu", "weight")]
      list(fit = object, inflate = 1)
    }
  )
}

fail_not_learnt <- function() {
  abort_input("`object` must be a fit that has learnt parameters, but all of its parameters were given or nothing varies.", "object")
}

#' @rdname gp_parameter_sample
#' @export
predict.granary_gp_parameter_sample <- function(object, newdata = NULL, se = FALSE, draws = 50, ...) {
  se <- check_flag(se)
  draws <- check_count(draws, upper = 1e6)
  chosen <- unique(round(seq(1, nrow(object$theta), length.out = min(draws, nrow(object$theta)))))
  classes <- inherits(object$fit, "granary_gp_classify")
  if (classes && identical(list(...)$type, "class")) {
    chance <- predict(object, newdata, draws = draws)[, 2L]
    return(factor(object$fit$levels[1L + (chance > 0.5)], object$fit$levels))
  }
  probability <- classes && !identical(list(...)$type, "latent")
  target <- parameter_target(object$fit)
  parts <- lapply(chosen, function(s) {
    here <- target$at(object$theta[s, ])
    at <- predict(here$fit, newdata, se = se && !probability, ...)
    if (probability) at <- at[, 2L]
    list(mean = if (is.list(at)) at$fit else at, variance = if (se && !probability) here$inflate * at$se.fit^2 else 0)
  })
  means <- do.call(cbind, lapply(parts, `[[`, "mean"))
  fit <- rowMeans(means)
  shape <- function(fit) if (probability) prob_matrix(fit, object$fit$levels) else fit
  if (!se) return(shape(fit))
  within <- rowMeans(do.call(cbind, lapply(parts, `[[`, "variance")))
  list(fit = shape(fit), se.fit = sqrt(within + rowMeans((means - fit)^2)))
}

#' @rdname gp_parameter_sample
#' @export
summary.granary_gp_parameter_sample <- function(object, ...) {
  refuse_dots(...)
  draws <- object$draws
  quantiles <- t(apply(draws, 2L, stats::quantile, c(0.025, 0.5, 0.975), names = FALSE))
  data.frame(parameter = colnames(draws), mean = colMeans(draws), sd = apply(draws, 2L, stats::sd), lower = quantiles[, 1L],
             median = quantiles[, 2L], upper = quantiles[, 3L], row.names = NULL)
}

#' @rdname gp_parameter_sample
#' @export
print.granary_gp_parameter_sample <- function(x, ...) {
  cli::cat_line("posterior sample of the parameters of a Gaussian process by ",
                c(slice = "slices", hmc = "Hamiltonian moves", ess = "elliptical slices")[[x$sampler]])
  print_call(x$call)
  cli::cat_line(counted(nrow(x$draws), "draw", "draws"), ", ", counted(x$chains, "chain", "chains"), "; effective size (log posterior) ",
                format(x$effective_size, digits = 3L),
                if (x$sampler == "hmc") paste0(", acceptance ", paste(format(x$acceptance, digits = 2L), collapse = " ")),
                if (!is.na(x$rhat)) paste0(", rhat ", format(x$rhat, digits = 4L)))
  print(summary(x), digits = 3L, row.names = FALSE)
  invisible(x)
}

#' @rdname gp_parameter_sample
#' @export
plot.granary_gp_parameter_sample <- function(x, ...) {
  count <- ncol(x$draws)
  wide <- ceiling(sqrt(count))
  old <- graphics::par(mfrow = c(ceiling(count / wide), wide))
  on.exit(graphics::par(old))
  for (j in seq_len(count)) {
    name <- colnames(x$draws)[j]
    logs <- name != "mean"  # of a classifier, which may be negative
    shown <- if (logs) log10(x$draws[, j]) else x$draws[, j]
    draw(graphics::hist, shown, breaks = 30L, col = "#2166ac55", border = "white", main = name, xlab = if (logs) paste("log10", name) else name,
         user = list(...))
    graphics::abline(v = stats::median(shown), col = "#b2182b", lwd = 2)
  }
  invisible()
}
