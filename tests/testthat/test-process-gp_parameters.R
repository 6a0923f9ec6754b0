# Priors and posterior draws of the parameters of Gaussian processes.

set.seed(11)
few <- seq(0, 1, length.out = 9)
few_y <- sin(5 * few) + 0.2 * cos(17 * few)

# The restricted likelihood of a constant trend, written out.
restricted <- function(lengthscale, x = few, y = few_y, nugget = 0.01) {
  C <- kernel_matrix(k_matern(2.5, lengthscale), matrix(x)) + nugget * diag(length(x))
  Ci <- solve(C)
  b <- sum(Ci %*% y) / sum(Ci)
  S <- as.vector(t(y - b) %*% Ci %*% (y - b))
  -0.5 * ((length(x) - 1) * log(S) + as.double(determinant(C)$modulus) + log(sum(Ci)))
}

test_that("the restricted likelihood is the likelihood with trend and variance integrated out", {
  x <- few[c(1, 4, 6, 9)]
  y <- few_y[c(1, 4, 6, 9)]
  by_integration <- function(lengthscale) {
    C <- kernel_matrix(k_matern(2.5, lengthscale), matrix(x)) + 0.01 * diag(4)
    Ci <- solve(C)
    log_det <- as.double(determinant(C)$modulus)
    centre <- sum(Ci %*% y) / sum(Ci)
    steps <- seq(-9, 9, length.out = 1201)
    given <- function(v) {  # over beta, on a grid of standard deviations
      b <- centre + steps * exp(v / 2) / sqrt(sum(Ci))
      squares <- vapply(b, function(one) as.vector(t(y - one) %*% Ci %*% (y - one)), 0)
      sum(exp(-0.5 * (4 * v + log_det + squares * exp(-v)))) * (b[2] - b[1])
    }
    log_s2 <- seq(-8, 25, by = 0.1)
    log(sum(vapply(log_s2, given, 0)))
  }
  expect_equal(by_integration(0.5) - by_integration(0.2), restricted(0.5, x, y) - restricted(0.2, x, y), tolerance = 1e-4)
})

test_that("a posterior mode is that of optim() on likelihood times prior, for kriging", {
  prior <- list(lengthscale = c(0.2, 0.3))
  fit <- kriging(few, few_y, nugget = 0.01, method = "REML", prior = prior, n_starts = 3)
  reference <- optimize(function(p) restricted(exp(p)) + dnorm(p, log(0.2), 0.3, log = TRUE), log(c(0.02, 5)), maximum = TRUE, tol = 1e-9)
  expect_equal(unname(fit$lengthscale), exp(reference$maximum), tolerance = 1e-4)
  free <- kriging(few, few_y, nugget = 0.01, method = "REML", n_starts = 3)
  expect_gt(abs(log(free$lengthscale / fit$lengthscale)), 0.05)  # the prior does something
  expect_lt(fit$loglik, free$loglik)
  # in other units the same
  wide <- kriging(1000 * few, few_y, nugget = 0.01, method = "REML", prior = list(lengthscale = c(200, 0.3)), n_starts = 3)
  expect_equal(unname(wide$lengthscale) / 1000, unname(fit$lengthscale), tolerance = 1e-5)
  # an optimiser of the user's sees the prior too
  own <- kriging(few, few_y, nugget = 0.01, method = "REML", prior = prior, n_starts = 1, optimizer = function(par, fn, gr, lower, upper) {
    optim(par, fn, gr, method = "L-BFGS-B", lower = lower, upper = upper, control = list(factr = 10))
  })
  expect_equal(own$lengthscale, fit$lengthscale, tolerance = 1e-4)
  tight <- kriging(few, few_y, nugget = "estimate", prior = list(lengthscale = c(0.123, 1e-4), nugget = c(0.05, 1e-4)), n_starts = 2)
  expect_equal(c(tight$lengthscale, tight$nugget), c(0.123, 0.05), tolerance = 1e-3, ignore_attr = TRUE)
})

test_that("tight priors hold blind kriging, co-kriging, sparse processes and classifiers where they say", {
  set.seed(3)
  x <- matrix(runif(40), 20)
  y <- x[, 1] + sin(4 * x[, 2])
  blind <- suppressWarnings(blind_kriging(x, y, max_terms = 1, prior = list(lengthscale = c(0.7, 1e-4)), n_starts = 2))
  expect_equal(unname(blind$lengthscale), c(0.7, 0.7), tolerance = 1e-3)
  two <- suppressWarnings(cokriging(few, few_y, few[c(1, 3, 5, 7, 9)], few_y[c(1, 3, 5, 7, 9)] + 1, prior = list(lengthscale = c(0.4, 1e-4)),
                                    n_starts = 2))
  expect_equal(unname(two$levels[[1]]$lengthscale), 0.4, tolerance = 1e-3)
  sparse <- sparse_gp(x, y, inducing = 10, prior = list(lengthscale = c(0.8, 1e-4), se.variance = c(2, 1e-4), noise_var = c(0.03, 1e-4)))
  expect_equal(unname(coef(sparse$kernel)), c(2, 0.8, 0.8), tolerance = 1e-3)
  expect_equal(sparse$noise_var, 0.03, tolerance = 1e-3)
  labels <- rep(0:1, 10)
  classes <- gp_classify(x, labels, mean = "constant", prior = list(lengthscale = c(1.5, 1e-4), variance = c(3, 1e-4), mean = c(0.5, 1e-4)),
                         n_starts = 1)
  expect_equal(unname(classes$parameters), c(3, 1.5, 0.5), tolerance = 1e-3)
})

test_that("a wide prior moves the evidence of sparse processes and classifiers as written out", {
  set.seed(4)
  x <- runif(60, 0, 4)
  y <- sin(2 * x) + rnorm(60, sd = 0.3)
  prior <- list(lengthscale = c(3, 0.2))
  fit <- sparse_gp(x, y, inducing = 8, kernel = k_se(1), prior = prior, tol = 1e-8)
  at <- function(p) {
    one <- sparse_gp(x, y, inducing = fit$inducing, kernel = k_se(exp(p[2]), exp(p[1])), hyper = "fixed", noise_var = exp(p[3]))
    -one$loglik - dnorm(p[2], log(3), 0.2, log = TRUE)
  }
  found <- log(c(coef(fit$kernel), fit$noise_var))
  h <- 1e-4
  for (k in 1:3) {
    step <- replace(numeric(3), k, h)
    expect_lt(abs(at(found + step) - at(found - step)) / (2 * h), 5e-3)
  }
  set.seed(5)
  z <- rnorm(40)
  labels <- as.integer(sin(2 * z) + 0.3 * rnorm(40) > 0)
  for (method in c("ep", "laplace")) {
    fit <- gp_classify(z, labels, k_se(1), method, standardize = FALSE, prior = list(variance = c(2, 0.3)))
    at <- function(p) {
      one <- gp_classify(z, labels, k_se(exp(p[2]), exp(p[1])), method, "fixed")
      -one$loglik - dnorm(p[1], log(2), 0.3, log = TRUE)
    }
    found <- log(unname(coef(fit)))
    for (k in 1:2) {
      step <- replace(numeric(2), k, h)
      expect_lt(abs(at(found + step) - at(found - step)) / (2 * h), 5e-3)
    }
  }
})

test_that("draws have the posterior of a lengthscale that quadrature gives, for every sampler, and predictions average over it", {
  fit <- kriging(few, few_y, nugget = 0.01, prior = list(lengthscale = c(0.4, 0.8)), n_starts = 2)
  grid <- seq(log(0.01), log(10), length.out = 2000)
  density <- vapply(grid, function(p) restricted(exp(p)) + dnorm(p, log(0.4), 0.8, log = TRUE), 0)
  weight <- exp(density - max(density)) / sum(exp(density - max(density)))
  mean <- sum(weight * grid)
  sd <- sqrt(sum(weight * (grid - mean)^2))
  for (sampler in c("slice", "hmc", "ess")) {
    set.seed(1)
    draws <- gp_parameter_sample(fit, n_draws = 1500, burn_in = 200, sampler = sampler, chains = 2)
    expect_equal(base::mean(log(draws$draws)), mean, tolerance = 0.05 * sd / abs(mean) + 0.02)
    expect_equal(stats::sd(log(draws$draws)), sd, tolerance = 0.08)
    expect_lt(draws$rhat, 1.03)
    expect_output(print(draws), "effective size")
  }
  # t law of the integrated model against the mixture over the grid
  new <- c(0.31, 0.77)
  set.seed(2)
  draws <- gp_parameter_sample(fit, n_draws = 2000, burn_in = 100)
  at <- predict(draws, new, se = TRUE, draws = 400)
  keep <- which(weight > 1e-6)
  keep <- keep[seq(1, length(keep), by = 5)]
  parts <- lapply(keep, function(k) predict(kriging(few, few_y, lengthscale = exp(grid[k]), nugget = 0.01, method = "REML"), new, se = TRUE))
  w <- weight[keep] / sum(weight[keep])
  means <- vapply(parts, `[[`, c(0, 0), "fit")
  variances <- vapply(parts, `[[`, c(0, 0), "se.fit")^2 * 8 / 6
  centre <- as.vector(means %*% w)
  expect_equal(at$fit, centre, tolerance = 0.01)
  expect_equal(at$se.fit, sqrt(as.vector(variances %*% w) + as.vector((means - centre)^2 %*% w)), tolerance = 0.05)
})

test_that("sparse processes and classifiers draw from evidence times prior", {
  set.seed(6)
  x <- runif(25, 0, 4)
  y <- sin(2 * x) + rnorm(25, sd = 0.3)
  fit <- sparse_gp(x, y, inducing = 6, kernel = k_se(1, fixed = "variance"), noise_var = 0.09, mean = "zero")
  grid <- seq(log(0.1), log(5), length.out = 120)
  value <- vapply(grid, function(p) sparse_gp(x, y, inducing = fit$inducing, kernel = k_se(exp(p)), hyper = "fixed", noise_var = 0.09,
                                              mean = "zero")$loglik + dnorm(p, 0, 0.5, log = TRUE), 0)
  weight <- exp(value - max(value)) / sum(exp(value - max(value)))
  for (sampler in c("slice", "hmc", "ess")) {
    draws <- gp_parameter_sample(fit, n_draws = 800, sampler = sampler, prior = list(lengthscale = c(1, 0.5)))
    expect_equal(colnames(draws$draws), "se.lengthscale")
    expect_lt(abs(mean(log(draws$draws)) - sum(weight * grid)), 0.05)
  }
  expect_length(predict(draws, c(1, 2), draws = 5), 2)
  expect_gt(predict(draws, 50, se = TRUE, draws = 5)$se.fit, 0.9)
  set.seed(7)
  z <- rnorm(30)
  labels <- factor(ifelse(z + 0.5 * rnorm(30) > 0, "yes", "no"))
  classes <- gp_classify(z, labels, k_se(1, 2, fixed = "variance"), standardize = FALSE, n_starts = 1, prior = list(lengthscale = c(2, 0.5)))
  grid <- seq(log(0.2), log(20), length.out = 120)
  value <- vapply(grid, function(p) gp_classify(z, labels, k_se(exp(p), 2), hyper = "fixed")$loglik + dnorm(p, log(2), 0.5, log = TRUE), 0)
  weight <- exp(value - max(value)) / sum(exp(value - max(value)))
  for (sampler in c("slice", "hmc")) {
    draws <- gp_parameter_sample(classes, n_draws = 600, sampler = sampler)
    expect_lt(abs(mean(log(draws$draws)) - sum(weight * grid)), 0.08)
  }
  chance <- predict(draws, c(-3, 3), se = TRUE, draws = 10)
  expect_true(all(chance$fit > 0 & chance$fit < 1) && diff(chance$fit[, "yes"]) > 0.5)
  expect_equal(as.character(predict(draws, c(-3, 3), type = "class", draws = 10)), c("no", "yes"))
})

test_that("draws come again after set.seed(), on any number of threads, and for every method of sparse_gp()", {
  fit <- kriging(few, few_y, nugget = 0.01, n_starts = 2)
  run <- function(threads) {
    set.seed(9)
    gp_parameter_sample(fit, n_draws = 20, burn_in = 5, chains = 2, threads = threads)$draws
  }
  expect_identical(run(1), run(2))
  set.seed(8)
  x <- matrix(runif(80), 40)
  y <- x[, 1] + rnorm(40, sd = 0.1)
  for (method in c("fitc", "pitc", "dtc", "sor", "vfe", "fic", "sod", "exact")) {
    one <- suppressWarnings(sparse_gp(x, y, method, inducing = 8))
    draws <- suppressWarnings(gp_parameter_sample(one, n_draws = 10, burn_in = 2), classes = "granary_warning_convergence")
    target <- granary:::parameter_target(one)$at(one$search$at[seq_len(ncol(draws$draws))])
    expect_equal(predict(target$fit, x[1:3, ]), predict(one, x[1:3, ]), tolerance = 1e-5)  # a draw at the fit is the fit
    expect_true(all(is.finite(predict(draws, x[1:3, ], se = TRUE, draws = 3)$se.fit)))
  }
})

test_that("priors and chains say what is wrong with them", {
  run <- function(prior, ...) kriging(few, few_y, nugget = 0.01, prior = prior, n_starts = 1, ...)
  expect_input <- function(code, text) expect_error(code, text, class = "granary_error_input")
  expect_input(run(c(1, 2)), "named list")
  expect_input(run(list(1)), "named list")
  expect_input(run(list(width = c(1, 1))), "lengthscale.*\"width\" is none")
  expect_input(run(list(lengthscale = 1)), "prior\\$lengthscale")
  expect_input(run(list(lengthscale = c(-1, 1))), "prior\\$lengthscale")
  expect_input(run(list(lengthscale = c(1, 0))), "prior\\$lengthscale")
  expect_input(run(list(lengthscale = c(1, 1)), method = "LOO"), "LOO")
  expect_input(sparse_gp(few, few_y, hyper = "fixed", noise_var = 1, prior = list(lengthscale = c(1, 1))), "fixed")
  expect_input(gp_parameter_sample(1), "a fit of")
  expect_input(gp_parameter_sample(kriging(few, few_y, lengthscale = 0.3)), "learnt")
  expect_input(gp_parameter_sample(sparse_gp(few, few_y, kernel = k_se(1), hyper = "fixed", noise_var = 1)), "learnt")
  expect_input(gp_parameter_sample(run(NULL), sampler = "ess"), "every parameter")
})

test_that("draws go to posterior and coda with their chains, and say how well these have mixed", {
  set.seed(9)
  fit <- kriging(few, few_y, nugget = 0.01, n_starts = 2)
  draws <- gp_parameter_sample(fit, n_draws = 60, burn_in = 20, chains = 3)
  expect_lt(draws$rhat, 1.1)
  expect_true(draws$convergence$converged)
  expect_identical(draws$convergence$reason, "approximate")
  # two chains at different places
  apart <- split_rhat(c(rnorm(100), rnorm(100, 5)), 100, 2)
  expect_gt(apart, 2)
  expect_gt(split_rhat(c(rnorm(100), rnorm(100, 5)), 200, 1), 2)  # one chain that wanders off
  expect_false(chain_convergence(apart, 200, 100, 1, 0)$converged)
  expect_false(chain_convergence(1.01, 2.65, 100, 1, 0)$converged)
  expect_true(is.na(split_rhat(1:3, 3, 1)))
  expect_warning(gp_parameter_sample(fit, n_draws = 3, burn_in = 0), "too few draws", class = "granary_warning_convergence")
  if (requireNamespace("posterior", quietly = TRUE)) {
    theirs <- posterior::as_draws(draws)
    expect_identical(posterior::nchains(theirs), 3L)
    expect_identical(posterior::niterations(theirs), 60L)
    expect_identical(posterior::variables(theirs), colnames(draws$draws))
    expect_equal(as.vector(theirs[, 2, 1]), draws$draws[61:120, 1], ignore_attr = TRUE)
    expect_identical(nrow(posterior::as_draws_df(draws)), 180L)
  }
  if (requireNamespace("coda", quietly = TRUE)) {
    chains <- coda::as.mcmc(draws)
    expect_identical(coda::nchain(chains), 3L)
    expect_equal(as.vector(chains[[3L]][, 1]), draws$draws[121:180, 1])
  }
  set.seed(1)
  labels <- gp_classify(-2:2, c(-1, -1, 1, -1, 1), k_se(), hyper = "fixed")
  latent <- gp_classify_sample(labels, n_draws = 200, burn_in = 100, chains = 2)
  if (requireNamespace("posterior", quietly = TRUE)) expect_identical(dim(posterior::as_draws(latent)), c(200L, 2L, 5L))
  if (requireNamespace("coda", quietly = TRUE)) expect_identical(dim(coda::as.mcmc(latent)[[1L]]), c(200L, 5L))
})
