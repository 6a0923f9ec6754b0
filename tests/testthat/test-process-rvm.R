# The relevance vector machine.

set.seed(1)
sinc_x <- runif(90, -10, 10)
sinc_y <- sin(sinc_x) / sinc_x + rnorm(90, sd = 0.1)

test_that("surviving weights satisfy a mu^2 = gamma = 1 - a S, and the evidence is that of the degenerate process", {
  for (algorithm in c("fast", "fixed_point")) {
    fit <- rvm(sinc_x, sinc_y, kernel = k_se(2), algorithm = algorithm)
    expect_true(fit$convergence$converged)
    expect_lt(fit$convergence$residual, 1e-4)
    expect_lt(length(fit$relevant), 20)
    expect_equal(unname(fit$precision * fit$coefficients^2), unname(fit$gamma), tolerance = 1e-4)
    expect_equal(unname(1 - fit$precision * diag(fit$covariance)), unname(fit$gamma), tolerance = 1e-6)
    phi <- cbind(if (0 %in% fit$relevant) 1, kernel_matrix(k_se(2), sinc_x, unname(fit$vectors)))
    c <- fit$noise_var * diag(90) + phi %*% (t(phi) / fit$precision)
    expect_equal(fit$loglik, -0.5 * (determinant(c)$modulus[1] + sum(sinc_y * solve(c, sinc_y)) + 90 * log(2 * pi)), tolerance = 1e-6)
    # the predictions are those of the process, too
    at <- predict(fit, c(0, 3), se = TRUE)
    new <- cbind(if (0 %in% fit$relevant) 1, kernel_matrix(k_se(2), c(0, 3), unname(fit$vectors)))
    cross <- phi %*% (t(new) / fit$precision)
    expect_equal(at$fit, drop(crossprod(cross, solve(c, sinc_y))), tolerance = 1e-6)
    expect_equal(at$se.fit^2, diag(new %*% (t(new) / fit$precision) - crossprod(cross, solve(c, cross))), tolerance = 1e-5)
  }
})

test_that("the evidence never falls and the signal is found, over seeds", {
  for (seed in 1:4) {
    set.seed(seed)
    x <- runif(100, -10, 10)
    y <- sin(x) / x + rnorm(100, sd = 0.1)
    fit <- rvm(x, y, kernel = k_se(2))
    expect_true(all(diff(fit$trace) > -1e-7))
    expect_equal(sqrt(fit$noise_var), 0.1, tolerance = 0.25)
    grid <- seq(-9, 9, 0.37)
    expect_lt(sqrt(mean((predict(fit, grid) - sin(grid) / grid)^2)), 0.06)
  }
})

test_that("augmentation is the model with one more basis function", {
  fit <- rvm(sinc_x, sinc_y, kernel = k_se(2))
  far <- predict(fit, 40, se = TRUE)
  healed <- predict(fit, 40, se = TRUE, augment = TRUE)
  expect_lt(far$se.fit, 0.1)
  kernels <- fit$relevant > 0
  expect_equal(healed$se.fit^2, far$se.fit^2 + mean(1 / fit$precision[kernels]), tolerance = 1e-6)
  at <- 1.3
  phi <- cbind(if (!all(kernels)) 1, kernel_matrix(k_se(2), sinc_x, unname(fit$vectors)), kernel_matrix(k_se(2), sinc_x, at))
  new <- c(if (!all(kernels)) 1, kernel_matrix(k_se(2), at, unname(fit$vectors)), 1)
  s <- solve(crossprod(phi) / fit$noise_var + diag(c(fit$precision, 1 / mean(1 / fit$precision[kernels]))))
  near <- predict(fit, at, se = TRUE, augment = TRUE)
  expect_equal(near$fit, sum(new * (s %*% crossprod(phi, sinc_y))) / fit$noise_var, tolerance = 1e-6)
  expect_equal(near$se.fit^2, drop(new %*% s %*% new), tolerance = 1e-6)
})

test_that("units do not matter", {
  base <- rvm(sinc_x, sinc_y, kernel = "se")
  for (scale in c(1e-8, 1e8)) {
    fit <- rvm(sinc_x * scale, sinc_y * scale, kernel = "se")
    expect_identical(fit$relevant, base$relevant)
    expect_equal(predict(fit, c(1, 2) * scale) / scale, predict(base, c(1, 2)), tolerance = 1e-4)
  }
})

test_that("methods, formula, odd data and errors", {
  fit <- rvm(mpg ~ wt + hp, mtcars)
  expect_output(print(fit), "Relevance vector machine.*in use.*converged")
  expect_equal(unname(fitted(fit) + residuals(fit)), mtcars$mpg)
  expect_length(predict(fit, data.frame(wt = 3, hp = c(100, 200))), 2)
  expect_identical(nrow(tidy(fit)), length(fit$relevant))
  expect_s3_class(logLik(fit), "logLik")
  pdf(NULL)
  on.exit(dev.off())
  expect_null(plot(fit))
  expect_null(plot(rvm(sinc_x, sinc_y)))
  expect_warning(none <- rvm(1:5, numeric(5)), "zero everywhere", class = "granary_warning_input")
  expect_equal(predict(none, 1:2), c(0, 0))
  expect_true(is.finite(predict(rvm(1, 3), 1)))
  expect_equal(predict(rvm(c(1, 1, 1), c(2, 2, 2.1)), 1), 2.03, tolerance = 0.02)
  expect_true(all(is.finite(fitted(rvm(matrix(rnorm(60), 6), rnorm(6))))))
  few <- rvm(sinc_x, sinc_y, centers = 10, bias = FALSE)
  expect_identical(few$candidates, 10L)
  expect_false(0 %in% few$relevant)
  expect_equal(rvm(sinc_x, sinc_y, noise_var = 0.02)$noise_var, 0.02)
  bad <- function(pattern, ...) expect_error(rvm(...), pattern, class = "granary_error_input")
  bad("`y`", sinc_x, 1)
  bad("`kernel`", sinc_x, sinc_y, kernel = k_white())
  bad("`centers`", sinc_x, sinc_y, centers = matrix(1, 2, 2))
  bad("`tol`", sinc_x, sinc_y, tol = 0)
  bad("`noise_var`", sinc_x, sinc_y, noise_var = -1)
  bad("`algorithm`", sinc_x, sinc_y, algorithm = "slow")
  bad("missing", c(NA, sinc_x[-1]), sinc_y)
  expect_error(predict(fit, matrix(1, 1, 5)), "columns", class = "granary_error_input")
})

test_that("nearly equal columns neither lower the evidence nor spoil the fit, by either algorithm", {
  set.seed(1)
  x <- seq(-20, 20, 0.1)
  truth <- ifelse(x == 0, 1, sin(x) / x)
  y <- truth + rnorm(401, sd = 0.05)
  # all 402 weights with one precision: a function of two numbers
  phi <- cbind(1, kernel_matrix(granary:::rvm_kernel("se", matrix(x)), x))
  parts <- svd(phi)
  equal <- function(p) {
    v <- c(parts$d^2 * exp(p[1]), rep(0, 401 - length(parts$d))) + exp(p[2])
    0.5 * sum(log(2 * pi * v) + drop(crossprod(parts$u, y))^2 / v)
  }
  floor <- -optim(c(10, -6), equal, control = list(maxit = 2000))$value
  for (algorithm in c("fast", "fixed_point")) {
    expect_no_warning(fit <- rvm(x, y, algorithm = algorithm))
    expect_true(fit$convergence$converged)
    expect_lt(fit$convergence$residual, 1e-4)
    expect_true(all(diff(fit$trace) > -1e-9 * (1 + abs(fit$loglik))))
    expect_gte(fit$loglik, max(fit$trace) - 1e-9 * abs(fit$loglik))
    expect_gt(fit$loglik, floor + 5)
    expect_lt(length(fit$relevant), 30)
    expect_lt(sqrt(mean((predict(fit) - truth)^2)), 0.0125)
    # and from the numbers alone: a mu^2 = gamma, and no column that is out would raise the evidence by much
    used <- phi[, fit$relevant + 1]
    expect_equal(unname(fit$precision * fit$coefficients^2), unname(fit$gamma), tolerance = 1e-4)
    q <- qr(rbind(sweep(used, 2, sqrt(fit$precision * fit$noise_var), "/"), diag(length(fit$relevant))))
    left <- function(b) qr.resid(q, rbind(b / sqrt(fit$noise_var), matrix(0, length(fit$relevant), ncol(b))))
    rest <- left(phi)
    ratio <- drop(crossprod(rest, left(cbind(y))))^2 / colSums(rest^2)
    out <- colSums(rest^2) > 1e-9 * colSums(phi^2) / fit$noise_var & !seq_along(ratio) %in% (fit$relevant + 1)
    expect_lt(max(0.5 * (ratio - 1 - log(ratio))[out & ratio > 1], 0), 1e-4 * fit$loglik)
  }
})
