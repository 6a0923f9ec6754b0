# Kriging: worked numbers, brute force, error paths.

x5 <- c(0, 0.2, 0.45, 0.7, 1)
y5 <- sin(6 * x5) + x5
example <- function(...) kriging(x5, y5, kernel = "se", lengthscale = 0.3, ...)

test_that("the worked example comes out, in lengthscales and in theta", {
  fit <- example()
  expect_equal(unname(fit$beta), 0.3877707, tolerance = 1e-6)
  expect_equal(fit$s2, 1.2789227, tolerance = 1e-7)
  expect_equal(as.double(logLik(fit)), -5.6657612, tolerance = 1e-7)
  at <- predict(fit, c(0.1, 0.33, 0.9), se = TRUE)
  expect_equal(at$fit, c(0.6192761, 1.2940789, 0.2685639), tolerance = 1e-6)
  expect_equal(at$se.fit^2, c(0.001858582, 0.001917845, 0.011547441), tolerance = 1e-6)
  expect_equal(fit$loo$mean, c(0.695183, 0.869603, 0.783471, 0.281811, -0.316523), tolerance = 1e-5)
  expect_equal(fit$loo$variance, c(0.287483, 0.104558, 0.119897, 0.192437, 0.700282), tolerance = 1e-5)
  expect_equal(as.double(kriging_diagnose(fit, "imse", 0, 1)), 0.002625685, tolerance = 1e-6)
  expect_equal(as.double(kriging_diagnose(fit, "imse", 0, 1, method = "sobol")), 0.002625685, tolerance = 1e-3)
  same <- kriging(x5, y5, kernel = "se", theta = 1 / (2 * 0.3^2))
  expect_equal(same$s2, fit$s2, tolerance = 1e-12)
  noisy <- example(nugget = 0.01)
  expect_equal(c(noisy$beta, noisy$s2, noisy$loglik, noisy$s2_ri), c(0.3972834, 1.2154459, -5.709876, 1.1553254), tolerance = 1e-6,
               ignore_attr = TRUE)
})

test_that("without noise the fit interpolates and is certain at the runs; re-interpolation does so with noise", {
  fit <- example()
  own <- predict(fit, se = TRUE)
  expect_equal(own$fit, y5, tolerance = 1e-10)
  expect_lt(max(own$se.fit), 1e-6)
  noisy <- example(nugget = 0.05)
  expect_gt(min(predict(noisy, se = TRUE)$se.fit), 0.05)
  through <- predict(noisy, x5, se = TRUE, type = "reinterpolate")
  expect_lt(max(through$se.fit), 1e-6)
  expect_equal(through$fit, fitted(noisy), tolerance = 1e-8)
  response <- predict(noisy, 0.3, se = TRUE, type = "response")$se.fit
  expect_equal(response^2, predict(noisy, 0.3, se = TRUE)$se.fit^2 + noisy$nugget * noisy$s2, tolerance = 1e-10)
})

test_that("universal kriging is generalised least squares by hand, in any units", {
  set.seed(1)
  for (size in c(1e-8, 1, 1e8)) {
    x <- cbind(a = runif(14), b = runif(14)) * size
    y <- (sin(3 * x[, 1] / size) + x[, 2] / size) * size
    fit <- kriging(x, y, trend = ~ a + b, kernel = "matern52", lengthscale = c(0.4, 0.9) * size, nugget = 0.01)
    C <- kernel_matrix(k_matern(2.5, c(0.4, 0.9) * size), x) + 0.01 * diag(14)
    new <- cbind(a = c(0.2, 0.8), b = c(0.5, 0.1)) * size
    r <- kernel_matrix(k_matern(2.5, c(0.4, 0.9) * size), x, new)
    f <- cbind(1, x / size)  # columns of one size
    g <- cbind(1, new / size)
    Ci <- solve(C)
    beta <- solve(t(f) %*% Ci %*% f, t(f) %*% Ci %*% y)
    e <- y - f %*% beta
    expect_equal(unname(fit$beta), as.vector(beta) / c(1, size, size), tolerance = 1e-7)
    expect_equal(predict(fit, new) / size, as.vector(g %*% beta + t(r) %*% Ci %*% e) / size, tolerance = 1e-8)
    expect_equal(fit$s2 / size^2, as.vector(t(e) %*% Ci %*% e) / 14 / size^2, tolerance = 1e-7)
    expect_equal(unname(fit$lengthscale) / size, c(0.4, 0.9), tolerance = 1e-12)
  }
})

test_that("tiny lengthscales give lm()", {
  set.seed(2)
  x <- cbind(a = runif(30), b = runif(30))
  y <- 1 + x[, 1] + x[, 2]^2 + rnorm(30)
  fit <- kriging(x, y, trend = ~ a + I(b^2), lengthscale = 1e-6)
  reference <- lm(y ~ a + I(b^2), as.data.frame(x))
  expect_equal(unname(coef(fit)), unname(coef(reference)), tolerance = 1e-8)
  expect_equal(fit$s2 * 30, sum(resid(reference)^2), tolerance = 1e-8)
  restricted <- kriging(x, y, trend = ~ a + I(b^2), lengthscale = 1e-6, method = "REML")
  expect_equal(vcov(restricted), vcov(reference), tolerance = 1e-7, ignore_attr = TRUE)
})

test_that("leave-one-out is leaving one out, and folds of one run are the same", {
  set.seed(3)
  x <- matrix(runif(24), 12)
  y <- sin(5 * x[, 1]) + x[, 2]
  fit <- kriging(x, y, trend = "linear", lengthscale = c(0.4, 0.7), nugget = 0.02)
  by_fold <- assess(fit, folds = 1:12)
  rows <- attr(by_fold, "rows")
  expect_equal(rows$.fitted, fit$loo$mean, tolerance = 1e-9)
  expect_equal(rows$.se.fit^2, fit$loo$variance, tolerance = 1e-8)
  expect_identical(rows$fold, 1:12)
  expect_equal(by_fold$rmse, fit$cvpe, tolerance = 1e-8)
  expect_equal(by_fold$coverage, mean(abs(y - fit$loo$mean) <= 2 * sqrt(fit$loo$variance)))
  expect_equal(residuals(fit, "standardized"), (y - fit$loo$mean) / sqrt(fit$loo$variance))
  set.seed(1)
  again <- assess(kriging(x, y, n_starts = 2, lower = 0.05, upper = 4, nugget = 0.01), folds = 3, refit = TRUE)
  expect_true(is.finite(again$rmse) && all(is.finite(attr(again, "rows")$.fitted)))
  expect_identical(sort(unique(attr(again, "rows")$fold)), 1:3)
})

test_that("derivatives of mean and variance meet differences, for formulas and polynomials", {
  set.seed(4)
  x <- cbind(a = runif(20, 0, 2), b = runif(20, -1, 5))
  y <- sin(2 * x[, 1]) + 0.1 * x[, 2]^2
  new <- cbind(a = c(0.5, 1.3), b = c(0.2, 3))
  for (trend in list(~1, ~ a + I(b^3) + sin(a), "quartic", "none")) {
    fit <- kriging(x, y, trend = trend, lengthscale = c(0.8, 2), nugget = 1e-3)
    at <- predict(fit, new, se = TRUE, gradient = TRUE)
    for (k in 1:2) {
      h <- 1e-4
      step <- replace(numeric(2), k, h)
      up <- predict(fit, sweep(new, 2, step, `+`), se = TRUE)
      down <- predict(fit, sweep(new, 2, step), se = TRUE)
      expect_equal(unname(at$gradient[, k]), (up$fit - down$fit) / (2 * h), tolerance = 1e-5)
      expect_equal(unname(at$variance_gradient[, k]), (up$se.fit^2 - down$se.fit^2) / (2 * h), tolerance = 1e-4)
    }
  }
  known <- kriging(x, y, trend = ~a, known_trend = c(0.5, 2), lengthscale = c(0.8, 2))
  up <- predict(known, new + rep(c(1e-4, 0), each = 2))
  down <- predict(known, new - rep(c(1e-4, 0), each = 2))
  expect_equal(unname(predict(known, new, gradient = TRUE)$gradient[, 1]), (up - down) / 2e-4, tolerance = 1e-6)
})

test_that("simple kriging takes a known trend", {
  fit <- kriging(x5, y5, trend = ~1, known_trend = 0.7, kernel = "se", lengthscale = 0.3)
  shifted <- kriging(x5, y5 - 0.7, trend = "none", kernel = "se", lengthscale = 0.3)
  expect_equal(predict(fit, 0.6), predict(shifted, 0.6) + 0.7, tolerance = 1e-12)
  expect_equal(predict(fit, 0.6, se = TRUE)$se.fit, predict(shifted, 0.6, se = TRUE)$se.fit)
  expect_output(print(fit), "simple kriging")
})

test_that("a learnt fit is at a maximum: no neighbour and no start is better", {
  set.seed(5)
  x <- cbind(a = runif(40), b = runif(40, 0, 100))
  y <- sin(5 * x[, 1]) + cos(x[, 2] / 20) + 0.05 * rnorm(40)
  for (method in c("ML", "REML", "LOO")) {
    fit <- kriging(x, y, nugget = "estimate", method = method, n_starts = 4)
    surface <- kriging_diagnose(fit, "surface", 1:2, lower = fit$lengthscale * 0.7, upper = fit$lengthscale / 0.7, size = 5)
    expect_lte(max(surface$criterion), fit$criterion + 1e-6 * abs(fit$criterion))
    expect_equal(max(fit$starts$criterion), fit$criterion)
    expect_equal(surface$criterion[13], fit$criterion, tolerance = 1e-8)  # the middle of the grid
  }
})

test_that("learning agrees with optim() on the likelihood written out", {
  set.seed(6)
  x <- matrix(runif(60), 30)
  y <- sin(4 * x[, 1]) * x[, 2] + 0.1 * rnorm(30)
  minus <- function(p) {
    C <- kernel_matrix(k_matern(2.5, exp(p[1:2])), x) + exp(p[3]) * diag(30)
    Ci <- solve(C)
    b <- sum(Ci %*% y) / sum(Ci)
    s2 <- as.vector(t(y - b) %*% Ci %*% (y - b)) / 30
    0.5 * (30 * log(2 * pi * s2) + as.double(determinant(C)$modulus) + 30)
  }
  reference <- optim(log(c(0.5, 0.5, 0.01)), minus, method = "BFGS", control = list(reltol = 1e-12))
  fit <- kriging(x, y, nugget = "estimate", n_starts = 3)
  expect_equal(fit$loglik, -reference$value, tolerance = 1e-6)
  expect_equal(c(fit$lengthscale, fit$nugget), exp(reference$par), tolerance = 1e-2, ignore_attr = TRUE)
})

test_that("an optimiser of the user's finds the same, with and without starts", {
  set.seed(7)
  x <- matrix(runif(40), 20)
  y <- sin(5 * x[, 1]) + x[, 2]^2
  ours <- kriging(x, y, kernel = "matern32", n_starts = 3)
  from_starts <- kriging(x, y, kernel = "matern32", n_starts = 3, optimizer = function(par, fn, gr, lower, upper) {
    stats::optim(par, fn, gr, method = "L-BFGS-B", lower = lower, upper = upper)
  })
  expect_equal(from_starts$loglik, ours$loglik, tolerance = 1e-4)
  alone <- kriging(x, y, kernel = "matern32", optimizer = function(fn, gr, lower, upper) {
    stats::nlminb((lower + upper) / 2, fn, gr, lower = lower, upper = upper)$par
  })
  expect_equal(alone$loglik, ours$loglik, tolerance = 1e-4)
  expect_identical(nrow(alone$starts), 1L)
  expect_error(kriging(x, y, optimizer = function(fn, gr, lower, upper) "a"), "optimizer", class = "granary_error_input")
  expect_error(kriging(x, y, optimizer = function(fn, gr, lower, upper) stop("no")), "failed: no", class = "granary_error_input")
})

test_that("set.seed() fixes the fit, whatever the number of threads", {
  x <- matrix(seq(0, 1, length.out = 40), 20)[sample.int(20), ]
  set.seed(8)
  x <- matrix(runif(40), 20)
  y <- sin(7 * x[, 1]) + x[, 2]
  set.seed(1)
  one <- suppressWarnings(kriging(x, y, n_starts = 4, threads = 1))
  set.seed(1)
  two <- suppressWarnings(kriging(x, y, n_starts = 4, threads = 2))
  expect_identical(one$lengthscale, two$lengthscale)
  expect_identical(simulate(one, 2, seed = 4), simulate(one, 2, seed = 4))
  expect_identical(predict(one, x, se = TRUE, threads = 1), predict(one, x, se = TRUE, threads = 2))
})

test_that("adding trend columns never lowers the likelihood at given lengthscales", {
  set.seed(9)
  x <- cbind(a = runif(25), b = runif(25))
  y <- rnorm(25)
  values <- vapply(list("none", "constant", "linear", "quadratic", "cubic"), function(trend) {
    kriging(x, y, trend = trend, lengthscale = c(0.3, 0.5))$loglik
  }, 0)
  expect_true(all(diff(values) >= 0))
})

test_that("update() is fitting all runs, and refit learns again", {
  set.seed(10)
  x <- cbind(a = runif(20), b = runif(20))
  y <- sin(4 * x[, 1]) + x[, 2]
  part <- kriging(x[1:15, ], y[1:15], trend = ~a, lengthscale = c(0.5, 0.8), nugget = 1e-3)
  more <- update(part, x[16:20, ], y[16:20])
  whole <- kriging(x, y, trend = ~a, lengthscale = c(0.5, 0.8), nugget = 1e-3)
  expect_equal(more$loglik, whole$loglik, tolerance = 1e-9)
  expect_equal(more$s2, whole$s2, tolerance = 1e-9)
  expect_equal(predict(more, x + 0.01, se = TRUE)$se.fit, predict(whole, x + 0.01, se = TRUE)$se.fit, tolerance = 1e-7)
  expect_equal(more$loo, whole$loo, tolerance = 1e-7)
  learnt <- suppressWarnings(kriging(x[1:15, ], y[1:15], kernel = "se", nugget = "estimate", n_starts = 2))
  again <- suppressWarnings(update(learnt, x[16:20, ], y[16:20], refit = TRUE))
  expect_gte(again$loglik, update(learnt, x[16:20, ], y[16:20])$loglik - 1e-6)
  exact <- kriging(x5, y5, kernel = "se", lengthscale = 0.3)
  expect_warning(same <- update(exact, 0.2, y5[2]), "dropped", class = "granary_warning_input")
  expect_identical(nrow(same$x), 5L)
  expect_error(update(exact, 0.2, 9), "responses differ", class = "granary_error_input")
  expect_s3_class(update(exact, 0.2 + 1e-10, y5[2]), "granary_kriging")  # too close for an append
})

test_that("known noise: the likelihood is that of s2 R + diag(v), and replicates are means", {
  set.seed(11)
  x <- seq(0, 1, length.out = 15)
  v <- runif(15, 0.01, 0.1)
  y <- sin(6 * x) + rnorm(15, sd = sqrt(v))
  fit <- kriging(x, y, noise_var = v, n_starts = 4)
  C <- fit$s2 * kernel_matrix(k_matern(2.5, fit$lengthscale), x) + diag(v)
  Ci <- solve(C)
  b <- sum(Ci %*% y) / sum(Ci)
  value <- -0.5 * (15 * log(2 * pi) + as.double(determinant(C)$modulus) + as.vector(t(y - b) %*% Ci %*% (y - b)))
  expect_equal(fit$loglik, value, tolerance = 1e-8)
  expect_equal(unname(fit$beta), b, tolerance = 1e-8)
  near <- kriging(x, y, kernel = k_matern(2.5, fit$lengthscale * 1.1, variance = fit$s2, fixed = c("lengthscale", "variance")), noise_var = v)
  expect_lt(near$loglik, fit$loglik)
  expect_equal(near$s2, fit$s2)
  expect_error(predict(fit, 0.5, se = TRUE, type = "response"), "noise_var", class = "granary_error_input")
  expect_equal(predict(fit, 0.5, se = TRUE, type = "response", noise_var = 0.3)$se.fit^2, predict(fit, 0.5, se = TRUE)$se.fit^2 + 0.3,
               tolerance = 1e-10)
  expect_lt(max(predict(fit, se = TRUE, type = "reinterpolate")$se.fit), 1e-4)
  xs <- rep(x, each = 4)
  ys <- sin(6 * xs) + rnorm(60, sd = 0.1)
  grouped <- kriging(xs, ys, noise_var = "replicates", n_starts = 2)
  expect_equal(grouped$y, as.vector(tapply(ys, xs, mean)))
  expect_equal(grouped$noise_var, as.vector(tapply(ys, xs, var)) / 4)
})

test_that("estimated noise is found again", {
  found <- vapply(1:4, function(seed) {
    set.seed(seed)
    x <- matrix(runif(160), 80)
    fit <- suppressWarnings(kriging(x, sin(5 * x[, 1]) + x[, 2] + rnorm(80, sd = 0.3), nugget = "estimate", n_starts = 2))
    fit$noise_sd
  }, 0)
  expect_equal(mean(found), 0.3, tolerance = 0.15)
})

test_that("draws from a model are covered by its leave-one-out errors", {
  set.seed(12)
  x <- matrix(runif(60), 30)
  base <- kriging(x, sin(5 * x[, 1]) + x[, 2], lengthscale = c(0.3, 0.6))
  draws <- simulate(base, nsim = 40, conditional = FALSE, seed = 1)
  z <- apply(draws, 2, function(y) residuals(kriging(x, y, lengthscale = c(0.3, 0.6), method = "REML"), "standardized"))
  expect_lt(abs(mean(z)), 0.15)
  expect_equal(mean(z^2), 1, tolerance = 0.1)
  new <- matrix(runif(10), 5)
  many <- simulate(base, nsim = 4000, newdata = new, seed = 2)
  at <- predict(base, new, se = TRUE, cov = TRUE)
  expect_equal(rowMeans(many), at$fit, tolerance = 0.05)
  expect_equal(stats::cov(t(many)), at$cov, tolerance = 0.15)
  expect_equal(sqrt(diag(at$cov)), at$se.fit, tolerance = 1e-8)
})

test_that("composite, isotropic and own kernels are taken as they are", {
  set.seed(13)
  x <- cbind(a = runif(20), b = runif(20, 0, 10))
  y <- x[, 1] + sin(x[, 2])
  iso <- kriging(x, y, kernel = k_matern(2.5), nugget = 1e-6, n_starts = 3)
  expect_length(iso$lengthscale, 1)
  C <- kernel_matrix(k_matern(2.5, iso$lengthscale), x) + 1e-6 * diag(20)
  r <- kernel_matrix(k_matern(2.5, iso$lengthscale), x, cbind(0.5, 5))
  b <- sum(solve(C, y)) / sum(solve(C))
  expect_equal(predict(iso, cbind(0.5, 5)), b + as.vector(t(r) %*% solve(C, y - b)), tolerance = 1e-5)
  sum_kernel <- suppressWarnings(kriging(x, y, kernel = k_se(ard = TRUE) + k_linear(), nugget = 0.01, n_starts = 2))
  expect_output(print(sum_kernel), "se \\+ linear")
  own <- kriging(x, y, kernel = function(a, b) exp(-as.matrix(dist(rbind(a, b)))[seq_len(nrow(a)), nrow(a) + seq_len(nrow(b)), drop = FALSE]))
  expect_equal(predict(own), y, tolerance = 1e-6)
  tensor <- suppressWarnings(kriging(x, y, kernel = k_matern(2.5, 0.5, columns = 1) * k_matern(2.5, 3, columns = 2), nugget = 1e-6, n_starts = 2))
  expect_length(tensor$lengthscale, 2)
})

test_that("formulas, data frames and names", {
  set.seed(14)
  d <- data.frame(u = runif(20), g = rep(c("a", "b"), 10))
  d$y <- sin(5 * d$u) + (d$g == "b")
  fit <- suppressWarnings(kriging(y ~ u + g, d, nugget = 1e-4, n_starts = 2))
  expect_named(fit$lengthscale, c("u", "gb"))
  expect_equal(predict(fit, d), fitted(fit), tolerance = 1e-8)
  expect_output(print(fit), "kriging\\(formula = y ~ u \\+ g")
  frame <- data.frame(b = runif(15), a = runif(15))
  named <- suppressWarnings(kriging(frame, frame$a + frame$b^2, trend = ~a, n_starts = 1))
  expect_equal(predict(named, frame[1:3, c("a", "b")]), predict(named, frame[1:3, ]))
  expect_identical(unname(predict(named, frame[1:3, ], se = TRUE)$extrapolates), rep(FALSE, 3))
  expect_true(predict(named, data.frame(b = 7, a = 0), se = TRUE)$extrapolates)
})

test_that("aliased trend columns are left out as lm() does", {
  set.seed(15)
  x <- cbind(a = runif(12), b = runif(12))
  y <- x[, 1] + rnorm(12)
  fit <- kriging(x, y, trend = ~ a + I(2 * a) + b, lengthscale = c(1e-5, 1e-5))
  expect_equal(is.na(coef(fit)), is.na(coef(lm(y ~ a + I(2 * a) + b, as.data.frame(x)))))
  expect_true(is.finite(predict(fit, cbind(0.5, 0.5))))
})

test_that("constant responses, repeated rows, few runs and constant columns have an answer", {
  expect_warning(flat <- kriging(x5, rep(3, 5)), "constant", class = "granary_warning_input")
  expect_identical(flat$s2, 0)
  expect_equal(predict(flat, c(0.3, 9), se = TRUE)[c("fit", "se.fit")], list(fit = c(3, 3), se.fit = c(0, 0)))
  expect_output(print(flat), "s2 0")
  expect_warning(kriging(x5, 2 * x5 + 1, trend = ~V1), "exactly", class = "granary_warning_input")
  expect_warning(fit <- kriging(c(x5, 0.2), c(y5, y5[2]), kernel = "se", lengthscale = 0.3), "repeated", class = "granary_warning_input")
  expect_equal(fit$s2, example()$s2)
  expect_error(kriging(c(x5, 0.2), c(y5, 7), nugget = 0), "nugget", class = "granary_error_input")
  expect_error(kriging(1, 1), "at least two rows, but it has one", class = "granary_error_input")
  expect_error(kriging(cbind(x5, 1), y5), "column 2", class = "granary_error_input")
  expect_error(kriging(x5[1:2], y5[1:2], trend = "linear"), "more runs than terms", class = "granary_error_input")
  expect_error(kriging(x5, replace(y5, 2, NA)), "`y`", class = "granary_error_input")
  expect_error(kriging(replace(x5, 2, Inf), y5), "row 2", class = "granary_error_input")
  expect_warning(kriging(x5, c(1, -1, 1, -1, 1), n_starts = 2), "bound", class = "granary_warning_input")
  close <- example()
  near <- kriging(c(x5, 0.2 + 1e-9), c(y5, y5[2]), kernel = "se", lengthscale = 0.3)
  expect_gt(near$jitter, 0)
  expect_equal(predict(near, 0.6), predict(close, 0.6), tolerance = 1e-2)
})

test_that("each wrong argument is named", {
  bad <- function(pattern, ...) expect_error(kriging(x5, y5, ...), pattern, class = "granary_error_input")
  bad("`trend`", trend = y ~ x)
  bad("`trend`", trend = ~nowhere)
  bad("`trend`", trend = 7)
  bad("`trend`", trend = ~ log(V1))
  bad("offset", trend = ~ offset(V1))
  bad("`nugget`", nugget = "some")
  bad("`nugget`", nugget = -1)
  bad("`lengthscale`", lengthscale = c(1, 2))
  bad("`lengthscale`", lengthscale = 1, kernel = k_se() + k_bias())
  bad("`theta`", theta = 1)
  bad("not both", theta = 1, lengthscale = 1, kernel = "se")
  bad("`known_trend`", known_trend = 1:2)
  bad("`noise_var`", noise_var = 1:2)
  bad("`noise_var`", noise_var = "yes")
  bad("all zero", noise_var = 0)
  bad("`nugget`", noise_var = 1, nugget = 0.1)
  bad("repeated rows", noise_var = "replicates")
  bad("`lower`", lower = 2, upper = 1)
  bad("`upper`", upper = 1:3)
  bad("`optimizer`", optimizer = 3)
  bad("`method`", method = "MAP")
  bad("no argument `spline`", spline = 1)
  fit <- example()
  expect_error(predict(fit, cbind(1, 2)), "columns", class = "granary_error_input")
  expect_error(predict(fit, NA_real_), "newdata", class = "granary_error_input")
  expect_error(kriging_diagnose(fit, "imse", 1, 0), "`lower`", class = "granary_error_input")
  expect_error(kriging_diagnose(kriging(x5, y5, lengthscale = 1), "imse", method = "exact"), "closed form", class = "granary_error_input")
  expect_error(kriging_diagnose(3, "imse"), "kriging", class = "granary_error_input")
  expect_error(kriging_diagnose(fit, "surface", 2), "`parameters`", class = "granary_error_input")
  expect_error(assess(fit, folds = 1), "`folds`", class = "granary_error_input")
})

test_that("variogram, robustness and errors on test runs", {
  v <- kriging_diagnose(x5, "variogram", y5, bins = 3, max_distance = 1)
  pairs <- outer(x5, x5, function(a, b) abs(a - b))[lower.tri(diag(5))]
  half <- outer(y5, y5, function(a, b) (a - b)^2 / 2)[lower.tri(diag(5))]
  bin <- cut(pairs, c(0, 1, 2, 3) / 3)
  expect_equal(v$gamma, as.vector(tapply(half, bin, mean)))
  expect_equal(sum(v$pairs), 10)
  fit <- example()
  fitted_curve <- attr(kriging_diagnose(fit, "variogram"), "curve")
  expect_equal(fitted_curve$gamma, fit$s2 * (1 - exp(-fitted_curve$distance^2 / 2)))
  # at a run the weight of that run is one: c(x_i) = e_i, so the largest weight is at least about one
  weight <- kriging_diagnose(fit, "robustness", 0, 1, points = 2000)
  expect_true(all(weight$absolute > 0.99))
  expect_equal(weight$relative, weight$absolute * abs(y5) / sd(y5))
  probe <- example(nugget = 1e6)
  expect_lt(max(kriging_diagnose(probe, "robustness", 0, 1, points = 100)$absolute), 0.21)  # nothing but the mean of five
  error <- assess(fit, newdata = c(0.1, 0.9), newy = c(1, 0))
  expect_equal(error$mae, mean(abs(c(1, 0) - predict(fit, c(0.1, 0.9)))))
})

test_that("fits print, summarise, plot and survive saving", {
  fit <- example()
  expect_output(print(summary(fit)), "share within 2 standard errors")
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), 0.3), predict(fit, 0.3))
  expect_identical(tidy(fit)$part, c("trend", "lengthscale", "variance", "variance"))
  expect_equal(glance(fit)$logLik, fit$loglik)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off(), add = TRUE)
  expect_null(plot(fit))
  expect_null(plot(fit, type = "loo"))
  set.seed(1)
  three <- kriging(matrix(runif(45), 15), runif(15), lengthscale = 0.5)
  expect_null(plot(three))
  expect_null(plot(three, type = "surface", inputs = c("V1", "V3"), at = 0.5, size = 5))
  expect_null(plot(three, inputs = 2, size = 5))
  expect_null(plot(kriging_diagnose(three, "surface", 2, size = 4)))
  expect_error(plot(three, inputs = "z"), "`inputs`", class = "granary_error_input")
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(three), "ggplot")
  expect_s3_class(ggplot2::autoplot(three, inputs = 1), "ggplot")
  expect_s3_class(ggplot2::autoplot(three, inputs = 1:2, size = 4), "ggplot")
})

test_that("DiceKriging has the same likelihood, mean and error", {
  peer <- "DiceKriging"
  skip_if_not_installed(peer)
  set.seed(16)
  x <- matrix(runif(60), 30)
  y <- test_function("branin")(sweep(sweep(x, 2, 15, `*`), 2, c(-5, 0), `+`))
  theirs <- getExportedValue(peer, "km")(~1, data.frame(x), y, "gauss", coef.trend = NULL, parinit = c(0.3, 0.5), control = list(trace = FALSE))
  ours <- kriging(x, y, kernel = "se", lengthscale = theirs@covariance@range.val)
  expect_equal(ours$loglik, theirs@logLik, tolerance = 1e-6)
  tensor <- suppressWarnings(kriging(x, y, kernel = k_matern(2.5, 0.3, columns = 1) * k_matern(2.5, 0.5, columns = 2), lower = 1e-3, upper = 2,
                                     n_starts = 3))
  theirs <- getExportedValue(peer, "km")(~1, data.frame(x), y, "matern5_2", parinit = c(0.3, 0.5), lower = c(1e-3, 1e-3), upper = c(2, 2),
                                         control = list(trace = FALSE))
  expect_gte(tensor$loglik, theirs@logLik - 1e-4)
})

test_that("what is learnt does not depend on the units of inputs and responses", {
  set.seed(17)
  x <- cbind(a = runif(25), b = runif(25))
  y <- sin(5 * x[, 1]) + x[, 2]^2 + 0.1 * rnorm(25)
  learnt <- function(size, noise) {
    set.seed(2)
    fit <- suppressWarnings(if (noise) kriging(x * size, y * size, noise_var = 0.01 * size^2, n_starts = 2) else
      kriging(x * size, y * size, nugget = "estimate", n_starts = 2))
    c(fit$lengthscale / size, fit$s2 / size^2, fit$nugget)
  }
  for (noise in c(FALSE, TRUE)) {
    for (size in c(1e-8, 1e8)) expect_equal(learnt(size, noise), learnt(1, noise), tolerance = 1e-4)
  }
})

test_that("runs repeated with different responses have their nugget estimated, and it is said", {
  x <- rep(seq(0, 1, length.out = 12), 2)
  set.seed(1)
  y <- sin(6 * x) + rnorm(24, sd = 0.1)
  expect_message(fit <- kriging(x, y, n_starts = 2), "`nugget` is estimated")
  expect_gt(fit$nugget, 0)
  expect_equal(nrow(fit$x), 24L)
  expect_error(kriging(x, y, nugget = 0), class = "granary_error_input")
})

test_that("new runs cost n^2, and leave-one-out follows without an inverse", {
  set.seed(3)
  x <- matrix(runif(60), 30)
  y <- sin(4 * x[, 1]) + x[, 2]
  fit <- kriging(x[1:25, ], y[1:25], lengthscale = c(0.5, 0.8))
  more <- update(fit, x[26:30, ], y[26:30])
  whole <- kriging(x, y, lengthscale = c(0.5, 0.8))
  expect_equal(more$core$inverse_diagonal, whole$core$inverse_diagonal, tolerance = 1e-6)
  expect_equal(more$loo, whole$loo, tolerance = 1e-6)
})

test_that("the closed form of the integrated error says when rounding has eaten it", {
  set.seed(1)
  x <- cbind(a = runif(40), b = runif(40))
  fit <- kriging(x, sin(3 * x[, 1]) + x[, 2]^2, kernel = "se", lengthscale = c(2, 2))
  value <- kriging_diagnose(fit, "imse")
  monte_carlo <- kriging_diagnose(fit, "imse", method = "sobol")
  expect_equal(as.double(value), as.double(monte_carlo), tolerance = 0.1)
})

test_that("intervals are fit and standard error, with the noise for new responses, in every process", {
  set.seed(4)
  x <- runif(40)
  y <- sin(6 * x) + rnorm(40, sd = 0.2)
  at <- c(0.2, 0.7)
  fits <- list(kriging(x, y, nugget = "estimate", n_starts = 2), sparse_gp(x, y, inducing = 10), rvm(x, y))
  for (fit in fits) {
    for (level in c(0.5, 0.95)) {
      for (interval in c("confidence", "prediction")) {
        plain <- predict(fit, at, se = TRUE, type = if (interval == "prediction") "response" else "latent")
        with <- predict(fit, at, interval = interval, level = level)
        half <- qnorm(0.5 + level / 2) * plain$se.fit
        expect_equal(with$lwr, plain$fit - half)
        expect_equal(with$upr, plain$fit + half)
        expect_null(with$se.fit)
        expect_equal(predict(fit, at, se = TRUE, interval = interval)$se.fit, plain$se.fit)
      }
    }
    expect_error(predict(fit, at, interval = "both"), "interval", class = "granary_error_input")
    expect_error(predict(fit, at, interval = "confidence", level = 1), "level", class = "granary_error_input")
    expect_error(predict(fit, at, sefit = TRUE), "sefit", class = "granary_error_input")
  }
  two <- suppressWarnings(cokriging(x, y, x[1:15], y[1:15] + 1, nugget = "estimate", n_starts = 2))
  plain <- predict(two, at, se = TRUE)
  expect_equal(predict(two, at, interval = "confidence")$upr, plain$fit + qnorm(0.975) * plain$se.fit)
  expect_true(all(predict(two, at, interval = "prediction")$upr >= predict(two, at, interval = "confidence")$upr))
})
