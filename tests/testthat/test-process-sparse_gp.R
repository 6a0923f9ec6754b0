# Sparse Gaussian process regression. The algebra against dense matrices is tested in C++; here what users see.

set.seed(1)
toy_x <- runif(120, 0, 6)
toy_y <- sin(2 * toy_x) + 0.3 * toy_x + rnorm(120, sd = 0.2)
carried <- c("fitc", "pitc", "dtc", "sor", "vfe", "fic", "nystrom")
fixed_fit <- function(method, ..., x = toy_x, y = toy_y, kernel = k_se(0.8), noise_var = 0.05, inducing = 8) {
  sparse_gp(x, y, method = method, inducing = inducing, kernel = kernel, hyper = "fixed", noise_var = noise_var, threads = 1, ...)
}
# log density of y under N(b, c) with b by generalised least squares
dense_evidence <- function(y, c, trend = matrix(1, length(y), 1)) {
  solved <- solve(c, cbind(y, trend))
  b <- solve(crossprod(trend, solved[, -1]), crossprod(trend, solved[, 1]))
  r <- y - trend %*% b
  -0.5 * (determinant(c)$modulus[1] + sum(r * solve(c, r)) + length(y) * log(2 * pi))
}

test_that("the worked example comes out", {
  x <- c(-3, -2.2, -1.5, -.8, 0, .6, 1.4, 2.1, 3)
  y <- c(-.2, -.9, -1.1, -.6, .1, .5, 1, .8, .1)
  check <- function(method, mean, variance, evidence) {
    fit <- sparse_gp(x, y, method = method, inducing = cbind(c(-2, 0, 2)), kernel = k_se(), hyper = "fixed", noise_var = 0.1, mean = "zero")
    at <- predict(fit, c(-2.5, .3, 5), se = TRUE)
    expect_equal(at$fit, mean, tolerance = 1e-6)
    expect_equal(at$se.fit^2, variance, tolerance = 2e-6)
    expect_equal(fit$loglik, evidence, tolerance = 1e-6)
    expect_equal(predict(fit, c(-2.5, .3, 5), se = TRUE, type = "response")$se.fit^2, variance + 0.1, tolerance = 1e-6)
  }
  check("exact", c(-.6309930, .3126091, -.0416915), c(.0651373, .0537153, .9753594), -6.851454)
  check("sor", c(-.8413730, .2158441, .0087805), c(.0356226, .0394575, 6.286827e-06), -6.047451)
  check("dtc", c(-.8413730, .2158441, .0087805), c(.2509108, .1107570, .9998805), -6.047451)
  check("fitc", c(-.8176776, .2208574, .0086316), c(.2848126, .1340677, .9998846), -7.686980)
})

test_that("the exact process is brute-force conditioning to 1e-10", {
  fit <- fixed_fit("exact", mean = "zero")
  k <- kernel_matrix(k_se(0.8), toy_x) + 0.05 * diag(120)
  new <- c(-1, 0.3, 4, 9)
  cross <- kernel_matrix(k_se(0.8), toy_x, new)
  at <- predict(fit, new, se = TRUE, cov = TRUE)
  expect_equal(at$fit, drop(crossprod(cross, solve(k, toy_y))), tolerance = 1e-10)
  expect_equal(at$cov, kernel_matrix(k_se(0.8), new) - crossprod(cross, solve(k, cross)), tolerance = 1e-10)
  expect_equal(fit$loglik, -0.5 * (determinant(k)$modulus[1] + sum(toy_y * solve(k, toy_y)) + 120 * log(2 * pi)), tolerance = 1e-10)
})

test_that("evidence, gradients and blocks agree with dense matrices in three columns, linear trend included", {
  set.seed(2)
  x <- matrix(rnorm(150), 50)
  y <- x[, 1] + sin(2 * x[, 2]) + rnorm(50, sd = 0.3) + 5
  u <- x[1:7, ] + 0.1
  kernel <- k_matern(2.5, lengthscale = c(1, 2, 0.7), variance = 1.4)
  blocks <- rep(1:5, length.out = 50)
  q <- crossprod(kernel_matrix(kernel, u, x), solve(kernel_matrix(kernel, u) + 1.4e-10 * diag(7), kernel_matrix(kernel, u, x)))
  open <- kernel_matrix(kernel, x) - q
  lambda <- list(dtc = 0 * open, fitc = diag(diag(open)), pitc = open * outer(blocks, blocks, "=="))
  for (method in names(lambda)) {
    for (mean in c("constant", "linear")) {
      fit <- fixed_fit(method, x = x, y = y, kernel = kernel, inducing = u, mean = mean, blocks = if (method == "pitc") blocks)
      trend <- if (mean == "constant") matrix(1, 50, 1) else cbind(1, x)
      expect_equal(fit$loglik, dense_evidence(y, q + lambda[[method]] + 0.05 * diag(50), trend), tolerance = 1e-7)
      expect_equal(fit$gap[["trace"]], sum(diag(open)) / (1.4 * 50), tolerance = 1e-6)
      at <- rbind(c(0.2, -0.4, 1), c(-1, 0, 0.5))
      slope <- predict(fit, at, gradient = TRUE)$gradient
      numeric <- sapply(1:3, function(j) {
        step <- 1e-5 * (col(at) == j)
        (predict(fit, at + step) - predict(fit, at - step)) / 2e-5
      })
      expect_equal(unname(slope), numeric, tolerance = 1e-6)
    }
  }
})

test_that("with every row an inducing input every method is the exact process", {
  x <- sort(toy_x)[seq(1, 120, 5)]
  y <- toy_y[order(toy_x)][seq(1, 120, 5)]
  truth <- predict(fixed_fit("exact", x = x, y = y), c(-1, 1, 3.3, 7), se = TRUE)
  for (method in carried) {
    fit <- fixed_fit(method, x = x, y = y, inducing = cbind(x))
    at <- predict(fit, c(-1, 1, 3.3, 7), se = TRUE)
    expect_equal(at$fit, truth$fit, tolerance = 1e-6)
    if (method == "sor") expect_true(all(at$se.fit <= truth$se.fit + 1e-6)) else expect_equal(at$se.fit, truth$se.fit, tolerance = 1e-5)
  }
  sod <- fixed_fit("sod", x = x, y = y, inducing = 24, select = "random")
  expect_equal(predict(sod, 1:3), predict(fixed_fit("exact", x = x, y = y), 1:3), tolerance = 1e-9)
})

test_that("a linear kernel with enough inducing inputs is ridge regression", {
  set.seed(3)
  x <- matrix(rnorm(120), 40)
  y <- drop(x %*% c(1, -2, 0.5)) + rnorm(40)
  ridge <- solve(crossprod(x) / 0.5 + diag(3), crossprod(x, y) / 0.5)
  new <- matrix(rnorm(9), 3)
  for (method in c("sor", "exact", "dtc", "fitc")) {
    fit <- fixed_fit(method, x = x, y = y, kernel = k_linear(), noise_var = 0.5, inducing = x[1:3, ], mean = "zero")
    expect_equal(predict(fit, new), drop(new %*% ridge), tolerance = 1e-6)
  }
})

test_that("DTC has SoR's mean and no smaller variance; single-row blocks are FITC; FIC differs in joint predictions only", {
  set.seed(4)
  grid <- seq(-1, 8, 0.25)
  fits <- lapply(c(sor = "sor", dtc = "dtc", fitc = "fitc", fic = "fic"), fixed_fit, inducing = cbind(toy_x[1:9]))
  at <- lapply(fits, predict, grid, se = TRUE)
  expect_equal(at$sor$fit, at$dtc$fit)
  expect_true(all(at$dtc$se.fit >= at$sor$se.fit - 1e-12))
  single <- fixed_fit("pitc", inducing = cbind(toy_x[1:9]), blocks = seq_along(toy_x))
  expect_equal(predict(single, grid, se = TRUE), at$fitc, tolerance = 1e-7)
  expect_equal(at$fic, at$fitc)
  joint <- predict(fits$fitc, grid, cov = TRUE)$cov
  separate <- predict(fits$fic, grid, cov = TRUE)$cov
  expect_equal(diag(joint), diag(separate))
  expect_gt(max(abs(joint - separate)), 1e-3)
  expect_gt(min(eigen(joint, symmetric = TRUE)$values), -1e-8)
})

test_that("augmentation makes SoR and DTC one, and heals the vanishing error bars", {
  sor <- predict(fixed_fit("sor", inducing = cbind(1:5)), c(2.5, 20), se = TRUE, augment = TRUE)
  dtc <- predict(fixed_fit("dtc", inducing = cbind(1:5)), c(2.5, 20), se = TRUE, augment = TRUE)
  expect_equal(sor, dtc)
  plain <- predict(fixed_fit("sor", inducing = cbind(1:5), mean = "zero"), 20, se = TRUE)
  healed <- predict(fixed_fit("sor", inducing = cbind(1:5), mean = "zero"), 20, se = TRUE, augment = TRUE)
  expect_lt(plain$se.fit, 1e-6)
  expect_equal(healed$se.fit, 1, tolerance = 1e-6)
  for (method in c("fitc", "pitc", "vfe")) {
    fit <- fixed_fit(method, inducing = cbind(1:5), blocks = if (method == "pitc") 10)
    grown <- fixed_fit(method, inducing = cbind(c(1:5, 2.5)), blocks = fit$blocks)
    expect_equal(predict(fit, 2.5, se = TRUE, augment = TRUE), predict(grown, 2.5, se = TRUE), tolerance = 1e-7)
  }
})

test_that("the committee machine predicts its test rows, jointly, and no others", {
  new <- cbind(c(0.5, 2, 3.7, 5))
  fit <- fixed_fit("pitc", inducing = "test", newdata = new, blocks = 20)
  direct <- fixed_fit("pitc", inducing = new, blocks = fit$blocks)
  expect_equal(predict(fit, se = TRUE), predict(direct, new, se = TRUE))
  expect_equal(predict(fit, new, cov = TRUE)$cov, predict(direct, new, cov = TRUE)$cov)
  expect_error(predict(fit, 1), "transductive", class = "granary_error_input")
  expect_error(update(fit, 1, 2), "cannot be updated", class = "granary_error_input")
  expect_length(fitted(fit), 120)
  expect_error(fixed_fit("pitc", inducing = "test"), "newdata", class = "granary_error_input")
})

test_that("Nystrom reports negative variances and does not hide them", {
  fit <- fixed_fit("nystrom", inducing = cbind(c(1, 5)), kernel = k_se(0.5), noise_var = 0.01)
  expect_warning(at <- predict(fit, seq(0, 6, 0.1), se = TRUE), "negative", class = "granary_warning_input")
  expect_true(any(at$variance < 0))
  expect_identical(is.na(at$se.fit), at$variance < 0)
  expect_error(simulate(fit, newdata = 1), "Nystrom", class = "granary_error_input")
})

test_that("learning finds the parameters that made the data, over seeds and methods", {
  for (seed in 1:3) {
    set.seed(seed)
    x <- runif(400, 0, 10)
    f <- drop(t(chol(kernel_matrix(k_se(1, 2), x) + 1e-8 * diag(400))) %*% rnorm(400))
    y <- 3 + f + rnorm(400, sd = 0.3)
    exact <- sparse_gp(x, y, method = "exact", threads = 1)
    expect_equal(exact$noise_var, 0.09, tolerance = 0.25)
    expect_equal(log(coef(exact$kernel)[["se.lengthscale"]]), 0, tolerance = 0.5)
    for (method in c("fitc", "vfe", "dtc", "pitc")) {
      fit <- sparse_gp(x, y, method = method, inducing = 40, threads = 1)
      expect_true(fit$convergence$converged)
      expect_equal(fit$loglik, exact$loglik, tolerance = 0.01)
      expect_equal(fit$noise_var, exact$noise_var, tolerance = 0.05)
      if (method == "vfe") expect_lte(fit$loglik, exact$loglik + 1e-3)
    }
  }
})

test_that("optimised inducing inputs raise the evidence and stay near the data", {
  set.seed(5)
  still <- sparse_gp(toy_x, toy_y, method = "vfe", inducing = 5, threads = 1)
  set.seed(5)
  moved <- sparse_gp(toy_x, toy_y, method = "vfe", inducing = 5, select = "optimize", threads = 1)
  expect_gt(moved$loglik, still$loglik + 1)
  expect_true(all(moved$inducing >= min(toy_x) - 0.61 & moved$inducing <= max(toy_x) + 0.61))
  expect_gte(max(diff(cummax(moved$trace))), 0)
  expect_identical(moved$learnt, 3L + 5L)
  expect_warning(sparse_gp(toy_x, toy_y, method = "dtc", inducing = 3, select = "optimize"), "over-fits", class = "granary_warning_input")
})

test_that("every rule selects, irrelevant columns get long lengthscales", {
  set.seed(6)
  x <- matrix(runif(600), 200)
  y <- sin(6 * x[, 1]) + rnorm(200, sd = 0.1)
  for (select in c("kmeans", "pivchol", "random", "info", "posterior", "evidence")) {
    fit <- suppressWarnings(sparse_gp(x, y, inducing = 15, select = select, threads = 1))
    expect_lte(nrow(fit$inducing), 15)
    scales <- fit$kernel$scales
    expect_gt(min(scales[2:3]) / scales[1], 2)
    expect_gt(cor(fitted(fit), y), 0.95)
    if (select != "kmeans") expect_equal(unname(fit$inducing), unname(x[fit$rows, , drop = FALSE]))
  }
})

test_that("the same seed gives the same fit at one and two threads", {
  for (method in c("fitc", "pitc")) {
    fits <- lapply(1:2, function(threads) {
      set.seed(7)
      sparse_gp(toy_x, toy_y, method = method, inducing = 10, threads = threads)
    })
    expect_identical(fits[[1]]$loglik, fits[[2]]$loglik)
    expect_identical(fits[[1]]$inducing, fits[[2]]$inducing)
    expect_identical(predict(fits[[1]], 1:5), predict(fits[[2]], 1:5))
  }
})

test_that("scales and shifts of x and y change the units only", {
  base <- { set.seed(8); sparse_gp(toy_x, toy_y, inducing = 10, threads = 1) }
  for (scale in c(1e-8, 1e8)) {
    set.seed(8)
    fit <- sparse_gp(toy_x * scale, toy_y * scale + 3 * scale, inducing = 10, threads = 1)
    expect_equal(predict(fit, (1:5) * scale) / scale - 3, predict(base, 1:5), tolerance = 1e-3)
    expect_equal(fit$noise_var / scale^2, base$noise_var, tolerance = 1e-2)
    expect_equal(fit$kernel$scales / scale, base$kernel$scales, tolerance = 1e-2)
  }
  set.seed(8)
  far <- sparse_gp(toy_x + 1e6, toy_y + 1e6, inducing = 10, threads = 1)
  expect_equal(predict(far, 1e6 + 1:5) - 1e6, predict(base, 1:5), tolerance = 1e-3)
})

test_that("new rows are added as if they had been there", {
  for (method in c("fitc", "dtc", "sor", "vfe", "fic", "nystrom", "exact", "pitc")) {
    blocks <- if (method == "pitc") rep(1:11, c(rep(11, 10), 10))
    first <- fixed_fit(method, x = toy_x[1:110], y = toy_y[1:110], inducing = cbind(1:5), blocks = blocks[1:110], mean = "zero")
    grown <- update(first, toy_x[111:120], toy_y[111:120])
    whole <- fixed_fit(method, inducing = cbind(1:5), blocks = blocks, mean = "zero")
    expect_equal(grown$loglik, whole$loglik, tolerance = 1e-8)
    expect_equal(predict(grown, 1:3), predict(whole, 1:3), tolerance = 1e-7)
    expect_identical(nrow(grown$x), 120L)
  }
  set.seed(9)
  sod <- update(fixed_fit("sod", inducing = 20), 3, 1)
  expect_identical(nrow(sod$inducing), 21L)
})

test_that("simulated functions have the mean and covariance of the prediction", {
  fit <- fixed_fit("fitc", inducing = cbind(1:5))
  at <- predict(fit, c(1, 4, 9), cov = TRUE)
  draws <- simulate(fit, 4000, seed = 1, newdata = c(1, 4, 9))
  expect_identical(draws, simulate(fit, 4000, seed = 1, newdata = c(1, 4, 9)))
  expect_equal(rowMeans(draws), at$fit, tolerance = 0.1, ignore_attr = TRUE)
  expect_equal(cov(t(draws)), at$cov, tolerance = 0.1, ignore_attr = TRUE)
  noisy <- simulate(fit, 4000, seed = 1, newdata = 1, type = "response")
  expect_equal(var(drop(noisy)), at$cov[1, 1] + 0.05, tolerance = 0.1)
})

test_that("inducing inputs that repeat one another are left out, and predictions stay", {
  set.seed(4)
  x <- runif(60)
  y <- sin(4 * x) + rnorm(60, sd = 0.1)
  fit_with <- function(m) {
    suppressWarnings(sparse_gp(x, y, inducing = m, select = "optimize", kernel = k_se(0.8), noise_var = 0.01, hyper = "fixed", max_iter = 20),
                     classes = "granary_warning_convergence")
  }
  expect_warning(fit <- fit_with(20), "Redundant inducing inputs were left out: [0-9]+ of 20")
  expect_identical(nrow(fit$inducing) + fit$dropped, 20L)
  few <- fit_with(3)
  expect_identical(few$dropped, 0L)
  exact <- sparse_gp(x, y, method = "exact", kernel = k_se(0.8), noise_var = 0.01, hyper = "fixed")
  expect_equal(predict(fit, c(0.1, 0.77)), predict(exact, c(0.1, 0.77)), tolerance = 1e-4)
  expect_equal(fit$loglik, exact$loglik, tolerance = 1e-4)
})

test_that("an optimum over inducing inputs is never given away, and they may be started by hand", {
  set.seed(2)
  x <- runif(2000, 0, 5)
  y <- sin(3 * x) + rnorm(2000, sd = 0.2)
  set.seed(1)
  moved <- suppressWarnings(sparse_gp(x, y, inducing = 8, select = "optimize", max_iter = 200))
  expect_gt(moved$loglik, max(moved$trace) - 1e-3 * abs(moved$loglik))
  set.seed(1)
  still <- suppressWarnings(sparse_gp(x, y, inducing = 8))
  expect_gt(moved$loglik, still$loglik)
  own <- suppressWarnings(sparse_gp(x, y, inducing = matrix(seq(0, 5, length.out = 8)), select = "optimize", max_iter = 50))
  expect_gt(own$loglik, suppressWarnings(sparse_gp(x, y, inducing = matrix(seq(0, 5, length.out = 8))))$loglik - 1e-6)
})
