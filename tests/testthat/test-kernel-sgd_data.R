make_data <- function(n = 120, N = 60, noise = 0.5, seed = 1) {
  set.seed(seed)
  # correlated columns: not the Marchenko-Pastur law
  root <- chol(0.5^abs(outer(seq_len(N), seq_len(N), "-")))
  x <- matrix(rnorm(n * N), n) %*% root
  list(x = x, y = drop(x %*% rnorm(N)) / sqrt(N) + rnorm(n, sd = noise))
}

test_that("the prediction follows runs on the same data", {
  d <- make_data(240)
  train <- 1:120
  plan <- sgd_data(d$x[train, ], d$y[train], eta = 0.8, lambda = 0.2, passes = 6, newdata = d$x[-train, ], newy = d$y[-train], points = 7)
  set.seed(2)
  run <- simulate(plan, nsim = 40, threads = 1)
  expect_equal(plan$train, run$train, tolerance = 0.06)
  expect_equal(plan$test, run$test, tolerance = 0.06)
  # at the end mean weights are those of ridge regression
  long <- sgd_data(d$x[train, ], d$y[train], eta = 0.1, lambda = 0.2, passes = 3000, points = 2)
  z <- scale(d$x[train, ]) * sqrt(120 / 119)
  y <- d$y[train] - mean(d$y[train])
  w <- solve(crossprod(z) / 60 + 0.2 * diag(60), crossprod(z, y) / sqrt(60))
  expect_equal(unname(predict(long, d$x[1:5, ])), drop(z[1:5, ] %*% w) / sqrt(60) + mean(d$y[train]), tolerance = 1e-6, ignore_attr = TRUE)
})

test_that("the prediction agrees with exact means", {
  d <- make_data(60, 30)
  plan <- sgd_data(d$x, d$y, eta = 0.7, lambda = 0.1, passes = 3, points = 4)
  exact <- sgd_exact(plan$data$x, plan$data$y, eta = 0.7, lambda = 0.1, t = plan$t)
  expect_equal(plan$train, exact$train, tolerance = 0.08)
  off <- sgd_data(d$x, d$y, eta = 0.05, lambda = 0.1, passes = 3, points = 4, method = "offline")
  run <- simulate(off, nsim = 1, seed = 1)
  expect_equal(off$train, run$train, tolerance = 1e-10)  # full gradients know no chance
})

test_that("scales and shapes: rows, columns, constants, ties", {
  d <- make_data(60, 40)
  plain <- sgd_data(d$x, d$y, eta = 0.5, passes = 2)
  for (scale in c(1e-8, 1e8)) {
    other <- sgd_data(d$x * scale, d$y * scale, eta = 0.5, passes = 2)
    expect_equal(other$train / scale^2, plain$train, tolerance = 1e-8)
    expect_equal(unname(coef(other))[-1], unname(coef(plain))[-1], tolerance = 1e-7)
  }
  wide <- sgd_data(d$x[1:5, ], d$y[1:5], eta = 0.5, passes = 200)  # p < N: fitted exactly
  expect_lt(wide$train[101], 1e-12 * wide$train[1])
  expect_gt(wide$train[101], 0)
  expect_warning(constant <- sgd_data(cbind(d$x, 1), d$y, eta = 0.5, passes = 2), "1 constant column", class = "granary_warning_input")
  expect_equal(constant$train, plain$train)
  expect_length(coef(constant), 41)
  expect_equal(predict(constant, cbind(d$x, 1)), predict(plain, d$x))
  doubled <- sgd_data(rbind(d$x, d$x), c(d$y, d$y), eta = 0.5, passes = 2)
  expect_true(all(is.finite(doubled$train)))
})

test_that("bad data", {
  d <- make_data(60, 40)
  expect_error(sgd_data(d$x, d$y[-1], eta = 1), "length 60", class = "granary_error_input")
  expect_error(sgd_data(d$x[1, , drop = FALSE], 1, eta = 1), "at least 2 rows", class = "granary_error_input")
  expect_error(sgd_data(matrix(1, 5, 2), 1:5, eta = 1), "not constant", class = "granary_error_input")
  expect_error(sgd_data(d$x, d$y, eta = 1, newdata = d$x), "both `newdata` and `newy`", class = "granary_error_input")
  expect_error(sgd_data(d$x, d$y, eta = 1, newdata = d$x[, -1], newy = d$y), "columns of `x`", class = "granary_error_input")
  expect_error(sgd_data(replace(d$x, 3, NA), d$y, eta = 1), "missing", class = "granary_error_input")
  expect_error(sgd_data(replace(d$x, 3, Inf), d$y, eta = 1), "infinite", class = "granary_error_input")
  expect_warning(wild <- sgd_data(d$x, d$y, eta = 50, passes = 500), "largest stable rate", class = "granary_warning_input")
  expect_identical(wild$train[101], Inf)
  expect_output(print(wild), "largest stable rate")
  uneven <- d$x
  uneven[1:8, ] <- 20 * uneven[1:8, ]
  expect_warning(fit <- sgd_data(uneven, d$y, eta = 0.5), "lengths of the rows", class = "granary_warning_input")
  expect_output(print(fit), "check against simulate")
  plan <- sgd_data(d$x, d$y, eta = 1)
  expect_error(predict(plan, d$x[, 1:3]), "40 columns", class = "granary_error_input")
  pdf(NULL)
  on.exit(dev.off())
  expect_error(plot(plan, type = "test"), "one of the curves has", class = "granary_error_input")
  expect_no_error(plot(plan))
  set.seed(3)
  one <- simulate(plan, 4, threads = 1)
  set.seed(3)
  expect_identical(simulate(plan, 4, threads = 2)$train_runs, one$train_runs)
})
