# Values marked "prototype" were computed independently of the package, on a fine uniform grid of times.

test_that("the curve has the prototype's values", {
  curve <- sgd_curve(2, 1, 0.1, 0.1, t = c(0, 1, 2, 5))
  expect_equal(curve$test, c(0.5, 0.245948, 0.154896, 0.083313), tolerance = 3e-6)
  expect_equal(curve$train[c(1, 2, 4)], c(0.55, 0.210549, 0.064394), tolerance = 5e-6)
  expect_equal(curve$eps_inf, 0.0659497, tolerance = 1e-6)
  expect_equal(curve$test, curve$bias + curve$variance + curve$noise)
  over <- sgd_curve(0.7, 1, 1e-4, 0.1, t = c(5, 6, 15))
  expect_equal(over$test, c(0.226, 0.226, 0.240), tolerance = 3e-3)
  expect_equal(sgd_curve(5, 1.5, 1e-4, 0.1, t = 15)$test, 0.1325, tolerance = 1e-4)
})

test_that("a plain solution of the Volterra equation on a uniform grid gives the same curve", {
  alpha <- 1.5
  eta <- 1.2
  lambda <- 0.05
  noise_var <- 0.2
  # eigenvalues of one large random matrix instead of the Marchenko-Pastur law
  set.seed(1)
  x <- matrix(rnorm(180 * 120), 180)
  a <- eigen(crossprod(x) / 120, symmetric = TRUE)$values
  a <- a * alpha / mean(a)
  h <- 0.002
  t <- seq(0, 4, h)
  E0 <- vapply(t, function(u) {
    g <- 1 - exp(-eta / alpha * (a + lambda) * u)
    r <- a / (a + lambda)
    m <- 0.5 * ((g * r - 1)^2 + g^2 * noise_var * a / (a + lambda)^2)
    noise_var / 2 + mean(a * m) / alpha - noise_var / alpha * mean(g * r)
  }, 0)
  K <- vapply(t, function(v) (eta / alpha)^2 * mean(a^2 * exp(-2 * eta / alpha * (a + lambda) * v)), 0)
  E <- numeric(length(t))
  E[1] <- E0[1]
  for (k in 2:length(t)) {
    inner <- if (k > 2) sum(K[(k - 1):2] * E[2:(k - 1)]) else 0
    E[k] <- (E0[k] + h * (K[k] * E[1] / 2 + inner)) / (1 - h * K[1] / 2)
  }
  curve <- sgd_curve(alpha, eta, lambda, noise_var, t = c(1, 4), spectrum = a)
  expect_equal(curve$train, E[match(c(1, 4), round(t, 6))], tolerance = 2e-5)
})

test_that("inverse Laplace transform agrees", {
  # E~(s) = E0~(s) / (1 - K~(s)), inverted by Talbot's contour
  alpha <- 2
  eta <- 1
  lambda <- 0.1
  noise_var <- 0.1
  theta <- (seq_len(2000) - 0.5) * pi / 2000
  s_minus <- abs(1 - sqrt(alpha))
  s_plus <- 1 + sqrt(alpha)
  half <- (s_plus - s_minus) / 2
  s <- s_minus + half * (1 - cos(theta))
  w <- half^2 * sin(theta)^2 * sqrt((s_plus + s) * (s + s_minus)) / (pi * s) * pi / 2000
  a <- s^2
  expect_equal(sum(w), 1, tolerance = 1e-8)
  rate <- eta / alpha * (a + lambda)
  transform <- function(z) {
    power <- a^2 + noise_var * a
    e0 <- (0.5 * (1 + noise_var)) / z
    for_g <- 1 / z - 1 / (z + rate)
    for_g2 <- 1 / z - 2 / (z + rate) + 1 / (z + 2 * rate)
    e0 <- e0 + sum(w * power / alpha * (-for_g / (a + lambda) + 0.5 * a * for_g2 / (a + lambda)^2))
    k <- (eta / alpha)^2 * sum(w * a^2 / (z + 2 * rate))
    e0 / (1 - k)
  }
  talbot <- function(t, n = 32) {
    angle <- (seq_len(n - 1)) * pi / n
    p <- c(2 * n / 5, 2 * angle * n / 5 * (1 / tan(angle) + 1i))
    weight <- c(0.5 * exp(p[1]), (1 + 1i * angle * (1 + (1 / tan(angle))^2) - 1i / tan(angle)) * exp(p[-1]))
    2 / (5 * t) * sum(Re(weight * vapply(p / t, transform, 1i)))
  }
  curve <- sgd_curve(alpha, eta, lambda, noise_var, t = c(0.5, 3, 10))
  expect_equal(curve$train, vapply(c(0.5, 3, 10), talbot, 0), tolerance = 1e-6)
})

test_that("descent on simulated data lies within its standard errors", {
  set.seed(3)
  run <- sim_sgd(100, 2, 1, 0.1, 0.1, t = c(0, 1, 5), n_rep = 60, threads = 1)
  gap <- assess(sgd_curve(2, 1, 0.1, 0.1), truth = run)
  expect_lt(max(abs(gap$z[-1])), 3.5)
  expect_lt(max(gap$se), 0.01)
  expect_equal(run$test[1], 0.5)
  off <- sgd_curve(2, 0.2, 0.1, 0.1, t = c(0, 6), method = "offline")
  again <- simulate(off, nsim = 60, seed = 4, N = 100)
  expect_lt(abs(again$test[2] - off$test[2]) / again$test_se[2], 3.5)
})

test_that("same seed, same runs, on one thread and on two", {
  set.seed(5)
  one <- sim_sgd(30, 1, 1, t = 0:3, n_rep = 7, threads = 1)
  set.seed(5)
  two <- sim_sgd(30, 1, 1, t = 0:3, n_rep = 7, threads = 2)
  expect_identical(one$test_runs, two$test_runs)
  expect_identical(one$train_runs, two$train_runs)
  expect_identical(sgd_optimize(1, c(5, 10), lambda = 0.1, threads = 1)$table, sgd_optimize(1, c(5, 10), lambda = 0.1, threads = 2)$table)
})

test_that("rates and final errors: values, limits, recycling", {
  rates <- sgd_bounds("rates", c(0.5, 1, 2, 5), c(0.1, 0.1, 1, 1))
  expect_equal(rates$eta_c, c(2.186191, 2.157461, 2.828427, 2.385165), tolerance = 3e-7)
  expect_equal(sgd_bounds("rates", c(0.5, 1, 5), c(0.1, 1, 0.1))$eta_x, c(2.014116, 2.666667, 1.700412), tolerance = 3e-7)
  expect_equal(sgd_bounds("rates", 2)$eta_min, 1.783612, tolerance = 3e-7)
  expect_equal(sgd_bounds("rates", 3, 0.5)$offline, 2 / ((1 + sqrt(3))^2 + 0.5))
  expect_equal(sgd_bounds("rates", 2, spectrum = c(1, 2, 3))$eta_c, 2)
  expect_warning(end <- sgd_bounds("asymptote", 2, c(0.5, 3), 0.1), "1 setting", class = "granary_warning_input")
  expect_identical(is.infinite(end$test), c(FALSE, TRUE))
  expect_lt(end$decay_slow[2], 0)
  expect_identical(sgd_bounds("asymptote", 1, 0.5, 0, 0.1)$test, Inf)
  expect_error(sgd_bounds("rates", 1:3, c(0, 1)), "`lambda` must have length 1 or 3", class = "granary_error_input")
  expect_error(sgd_bounds("rates", 1:2, spectrum = c(0.5, 1.5)), "`alpha` must be one number", class = "granary_error_input")
  expect_error(sgd_bounds("asymptote", 1:2, 0.1, spectrum = c(0.5, 1.5)), "`alpha` must be one number", class = "granary_error_input")
})

test_that("the smallest final error is at lambda = noise_var and a small rate, and equals that of ridge regression", {
  lambda <- exp(seq(log(0.01), log(1), length.out = 401))
  end <- sgd_bounds("asymptote", 2, 1e-6, lambda, 0.1)
  expect_equal(lambda[which.min(end$test)], 0.1, tolerance = 0.01)
  set.seed(1)
  N <- 300
  error <- replicate(10, {
    x <- matrix(rnorm(2 * N * N), 2 * N)
    truth <- rnorm(N)
    y <- drop(x %*% truth) / sqrt(N) + rnorm(2 * N, sd = sqrt(0.1))
    w <- solve(crossprod(x) / N + 0.3 * diag(N), crossprod(x, y) / sqrt(N))
    mean((w - truth)^2) / 2 / mean(truth^2)
  })
  expect_equal(mean(error), sgd_bounds("asymptote", 2, 0, 0.3, 0.1)$test, tolerance = 0.02)
})

test_that("units: an ordinary descent is the theory's", {
  set.seed(2)
  n <- 12
  N <- 4
  x <- matrix(rnorm(n * N, sd = 3), n)
  y <- rnorm(n)
  units <- sgd_bounds("units", n, N, step = 0.01, penalty = 0.5, norm2 = mean(rowSums(x^2)))
  back <- sgd_bounds("units", n, N, eta = units$eta, lambda = units$lambda, norm2 = mean(rowSums(x^2)))
  expect_equal(back[c("step", "penalty")], list(step = 0.01, penalty = 0.5))
  # one update in both conventions
  b <- rnorm(N)
  scale <- sqrt(N / mean(rowSums(x^2)))
  z <- x * scale
  w <- b * sqrt(N) / scale
  b_new <- b - 0.01 * (x[3, ] * (sum(x[3, ] * b) - y[3]) + 0.5 * b)
  w_new <- w - units$eta * (z[3, ] * (sum(z[3, ] * w) / sqrt(N) - y[3]) / sqrt(N) + units$lambda / n * w)
  expect_equal(w_new / sqrt(N) * scale, b_new)
  expect_error(sgd_bounds("units", 10, 5), "exactly one", class = "granary_error_input")
  expect_error(sgd_bounds("units", 10, 5, step = 1, eta = 1), "exactly one", class = "granary_error_input")
  expect_error(sgd_bounds("units", 10, 5, step = 1, lambda = 1), "`penalty`", class = "granary_error_input")
  expect_error(sgd_bounds("units", 10, 5, eta = 1, penalty = 1), "`lambda`", class = "granary_error_input")
})

test_that("best rates: prototype values, schedule, offline", {
  best <- sgd_optimize(1, c(10, 50), 0.1, lambda = 0.1)
  expect_equal(best$table$eta, c(0.7547, 0.2790), tolerance = 3e-4)
  expect_equal(best$table$test, c(0.14574, 0.13718), tolerance = 5e-5)
  expect_null(best$schedule)
  expect_error(predict(best), "three times", class = "granary_error_input")
  both <- sgd_optimize(2, c(10, 20, 30, 50), 0.1)
  expect_true(all(both$table$test < sgd_optimize(2, c(10, 20, 30, 50), 0.1, lambda = 0.1)$table$test))
  expect_true(all(diff(both$table$lambda) > 0) && all(both$table$lambda < 0.1))
  expect_identical(both$table$lambda[1], 0)  # early on any decay hurts
  expect_equal(predict(both, 30), both$table$eta[3], tolerance = 0.05)
  expect_equal(coef(sgd_bounds("schedule", both)), coef(both$schedule))
  expect_warning(predict(both, 0.01), "not positive", class = "granary_warning_input")
  off <- sgd_optimize(1, 10, 0.1, method = "offline")
  expect_lt(off$table$test, 0.142)
  expect_lt(off$table$eta, sgd_bounds("rates", 1, off$table$lambda)$offline)
  expect_output(print(both), "lambda optimised too.*schedule: eta")
  expect_output(print(both$schedule), "from 4 times")
  expect_error(sgd_optimize(1, 0), "greater than 0", class = "granary_error_input")
  expect_error(sgd_optimize(2, 1, method = "offline"), "no complete pass", class = "granary_error_input")
  expect_error(sgd_bounds("schedule", c(1, 1), c(1, 1)), "different times", class = "granary_error_input")
  expect_error(sgd_bounds("schedule", both, 1), "`eta` must not", class = "granary_error_input")
  expect_error(sgd_bounds("schedule", 1:3, c(1, 2)), "length 3", class = "granary_error_input")
  expect_identical(sgd_optimize(1, 5, noise_var = 0)$table$lambda, 0)
})

test_that("curve: bad input, divergence, methods", {
  expect_error(sgd_curve(-1, 1), "`alpha`", class = "granary_error_input")
  expect_error(sgd_curve(1, -1), "`eta`", class = "granary_error_input")
  expect_error(sgd_curve(1, 1, -1), "`lambda`", class = "granary_error_input")
  expect_error(sgd_curve(1, 1, 0, -1), "`noise_var`", class = "granary_error_input")
  expect_error(sgd_curve(1, 1, t = c(2, 1)), "`t` must ascend", class = "granary_error_input")
  expect_error(sgd_curve(1, 1, spectrum = c(0, 0)), "above zero", class = "granary_error_input")
  expect_warning(sgd_curve(1, 0.5, spectrum = c(0, 5)), "mean of `spectrum`", class = "granary_warning_input")
  expect_error(sgd_curve(eta = 1), "`alpha` must be given", class = "granary_error_input")
  expect_warning(wild <- sgd_curve(1, 3, t = c(0, 1, 1e5)), "largest stable rate", class = "granary_warning_input")
  expect_identical(wild$test[3], Inf)
  expect_identical(wild$eps_inf, Inf)
  expect_output(print(wild), "DIVERGES")
  expect_output(print(sgd_curve(1, 1)), "grows without bound")
  curve <- sgd_curve(0.7, 1, 1e-4)
  expect_output(print(summary(curve)), "critical rate.*best time to stop")
  expect_equal(predict(curve, c(1, 10)), as.data.frame(tidy(curve)[match(c(1, 10), curve$t), c("t", "test", "train")]), ignore_attr = TRUE,
               tolerance = 1e-5)
  expect_output(print(summary(sgd_curve(0.7, 0.1, method = "offline"))), "full-gradient")
  expect_error(simulate(sgd_curve(1, 1, spectrum = c(0.5, 1.5))), "own spectrum", class = "granary_error_input")
  expect_named(glance(curve), c("converged", "iterations", "gap", "residual", "seconds"))
  pdf(NULL)
  on.exit(dev.off())
  expect_no_error(plot(curve, wild, sim_sgd(20, 0.7, 1, t = 0:3, n_rep = 2, threads = 1), main = "all"))
  expect_no_error(plot(sgd_optimize(1, c(2, 5, 9), lambda = 0.1, nodes = 50)))
  expect_no_error(plot(sgd_bounds("schedule", 1:3, 3:1)))
})

test_that("simulation: bad input and orders", {
  expect_error(sim_sgd(0, 1, 1), "`N`", class = "granary_error_input")
  expect_error(sim_sgd(1e5, 1e4, 1), "too many to hold", class = "granary_error_input")
  expect_error(sim_sgd(1e4, 1, 1, t = 1e9), "updates per run", class = "granary_error_input")
  set.seed(1)
  tiny <- sim_sgd(1, 1, 0.5, t = 0:2, n_rep = 1, threads = 1)
  expect_identical(tiny$test_se, rep(NA_real_, 3))
  expect_output(print(tiny), "1 run of gradient descent")
  wild <- sim_sgd(20, 1, 30, t = c(0, 500), n_rep = 3, inputs = "gaussian", threads = 1)
  expect_identical(wild$test[2], Inf)
  # one example: every order is the same
  one <- lapply(c("replacement", "cyclic", "shuffled"), function(order) {
    set.seed(2)
    sim_sgd(10, 0.1, 1, t = 0:3, n_rep = 2, order = order, threads = 1)$test
  })
  expect_identical(one[[1]], one[[2]])
  expect_identical(one[[1]], one[[3]])
})

test_that("exact means: the theory at finite N, given responses, bad input", {
  set.seed(6)
  N <- 30
  means <- replicate(20, {
    x <- matrix(rnorm(2 * N * N), 2 * N)
    x <- x * sqrt(N / rowSums(x^2))
    truth <- rnorm(N)
    truth <- truth * sqrt(N / sum(truth^2))
    sgd_exact(x, eta = 1, lambda = 0.1, truth = truth, noise_var = 0.1, t = c(1, 3))$test
  })
  theory <- sgd_curve(2, 1, 0.1, 0.1, t = c(1, 3))$test
  expect_lt(max(abs(rowMeans(means) - theory) / theory), 0.06)  # 1/N corrections and 20 designs
  x <- matrix(rnorm(20), 5, dimnames = list(NULL, letters[1:4]))
  y <- rnorm(5)
  fit <- sgd_exact(x, y, eta = 0.5, t = c(0, 2))
  expect_null(fit$test)
  expect_named(coef(fit), letters[1:4])
  expect_equal(fit$train[1], mean(y^2) / 2)
  expect_output(print(fit), "all orders, N = 4, 5 examples, 8 updates")
  expect_named(tidy(fit), c("t", "train"))
  expect_error(sgd_exact(x, eta = 1), "Give `y`", class = "granary_error_input")
  expect_error(sgd_exact(x, y, eta = 1, noise_var = 1), "`noise_var` must be 0", class = "granary_error_input")
  expect_error(sgd_exact(x, y, eta = 1, t = 1e9), "operations each", class = "granary_error_input")
  expect_error(sgd_exact(x, y, eta = 1000, t = 100), "1e200", class = "granary_error_numeric")
  expect_error(sgd_exact(x, y[-1], eta = 1), "length 5", class = "granary_error_input")
  expect_error(sgd_exact(x, y, eta = 1, truth = 1), "length 4", class = "granary_error_input")
  # full gradient steps with a tiny rate end at the least squares fit
  x <- matrix(rnorm(80), 20)
  y <- rnorm(20)
  small <- sgd_exact(x, y, eta = 0.01, t = 10000)
  expect_equal(unname(coef(small)) / 2, unname(qr.coef(qr(x), y)), tolerance = 1e-6)
})
