cheap <- seq(0, 1, 0.1)
dear <- c(0, 0.4, 0.6, 1)  # 0.6 is not seq(0, 1, 0.1)[7] to the last bit
grid <- seq(0, 1, length.out = 41)
pair <- function(...) suppressWarnings(cokriging(cheap, test_function("forrester")(cheap, "cheap"), dear, test_function("forrester")(dear), kernel = "se", n_starts = 4, ...))

test_that("nested designs are seen through rounding; the recursion equals the joint law", {
  fit <- pair()
  expect_true(fit$nested)
  recursive <- predict(fit, grid, se = TRUE, how = "recursive")
  joint <- predict(fit, grid, se = TRUE, how = "joint")
  expect_equal(recursive$fit, joint$fit, tolerance = 1e-6)
  expect_equal(recursive$se.fit^2, joint$se.fit^2, tolerance = 1e-5)
  expect_equal(predict(fit, dear), test_function("forrester")(dear), tolerance = 1e-7)
  expect_lt(max(predict(fit, dear, se = TRUE)$se.fit), 1e-3)
})

test_that("the joint law is conditioning of one Gaussian vector", {
  fit <- pair(nugget = 1e-6)
  expect_false(fit$nested)  # noise: prediction is joint
  c1 <- fit$levels[[1]]
  d1 <- fit$levels[[2]]
  k <- function(level, a, b) level$s2 * kernel_matrix(k_se(level$lengthscale), a, b)
  rho <- fit$rho
  C <- rbind(cbind(k(c1, cheap, cheap), rho * k(c1, cheap, dear)),
             cbind(rho * k(c1, dear, cheap), rho^2 * k(c1, dear, dear) + k(d1, dear, dear)))
  diag(C) <- diag(C) + rep(c(c1$s2, d1$s2) * 1e-6, c(11, 4))
  f <- cbind(rep(c(1, rho), c(11, 4)), rep(0:1, c(11, 4)))
  y <- c(test_function("forrester")(cheap, "cheap"), test_function("forrester")(dear))
  r <- rbind(rho * k(c1, cheap, 0.25), rho^2 * k(c1, dear, 0.25) + k(d1, dear, 0.25))
  Ci <- solve(C, tol = 0)
  b <- solve(t(f) %*% Ci %*% f, t(f) %*% Ci %*% y)
  expect_equal(predict(fit, 0.25), as.vector(c(rho, 1) %*% b + t(r) %*% Ci %*% (y - f %*% b)), tolerance = 1e-4)
})

test_that("a cheap level helps, rho is found, and the fit is better than kriging of the expensive runs", {
  fit <- pair()
  alone <- suppressWarnings(kriging(dear, test_function("forrester")(dear), kernel = "se", n_starts = 4))
  error <- function(f) sqrt(mean((predict(f, grid) - test_function("forrester")(grid))^2))
  expect_lt(error(fit), 0.25 * error(alone))
  expect_equal(fit$rho, 2, tolerance = 0.1)
  expect_named(coef(fit), c("rho1", "level1.(Intercept)", "level2.(Intercept)"))
})

test_that("three levels, and designs that are not nested", {
  middle <- c(0, 0.2, 0.4, 0.6, 0.8, 1)
  mid <- function(x) 0.8 * test_function("forrester")(x) + 3 * x
  three <- suppressWarnings(cokriging(list(cheap, middle), list(test_function("forrester")(cheap, "cheap"), mid(middle)), dear, test_function("forrester")(dear), kernel = "se",
                                      n_starts = 3))
  expect_length(three$rho, 2)
  expect_true(three$nested)
  expect_equal(predict(three, grid, how = "joint"), predict(three, grid), tolerance = 1e-5)
  off <- c(0.05, 0.37, 0.62, 0.97)
  expect_message(apart <- suppressWarnings(cokriging(cheap, test_function("forrester")(cheap, "cheap"), off, test_function("forrester")(off), kernel = "se", n_starts = 3)), "4 rows")
  expect_false(apart$nested)
  expect_equal(predict(apart, off), test_function("forrester")(off), tolerance = 1e-4)
})

test_that("derivatives, covariances and draws of designs that are not nested are those of the joint law", {
  set.seed(3)
  low <- cbind(a = runif(25, 0, 4), b = runif(25))
  high <- cbind(a = runif(9, 0, 4), b = runif(9))
  truth <- function(x) sin(x[, "a"]) + x[, "b"]^2
  fit <- suppressWarnings(suppressMessages(cokriging(low, 0.5 * truth(low) + low[, "a"], high, truth(high), trend = ~ a + b, trend_difference = ~ a,
                                                     kernel = "se", n_starts = 2)))
  at <- cbind(a = c(0.7, 2.1, 3.3), b = c(0.2, 0.5, 0.9))
  p <- predict(fit, at, se = TRUE, cov = TRUE, gradient = TRUE)
  expect_equal(p$fit, predict(fit, at))
  expect_equal(diag(p$cov), p$se.fit^2, tolerance = 1e-6)
  for (k in 1:2) {
    move <- function(by) predict(fit, at + by * (col(at) == k), se = TRUE)
    up <- move(1e-4)
    down <- move(-1e-4)
    expect_equal(unname(p$gradient[, k]), (up$fit - down$fit) / 2e-4, tolerance = 1e-4)
    expect_equal(unname(p$variance_gradient[, k]), (up$se.fit^2 - down$se.fit^2) / 2e-4, tolerance = 1e-3)
  }
  draws <- simulate(fit, 4000, newdata = at, seed = 1)
  expect_lt(max(abs(rowMeans(draws) - p$fit) / p$se.fit), 4 / sqrt(4000))
  expect_equal(cov(t(draws)), p$cov, tolerance = 0.1)
  expect_equal(simulate(fit, 2, newdata = at, seed = 7), simulate(fit, 2, newdata = at, seed = 7))
  expect_true(predict(fit, cbind(a = 9, b = 0.5), se = TRUE)$extrapolates)
  nested <- pair()
  expect_equal(predict(nested, c(0.25, 0.85), cov = TRUE)$cov, predict(nested, c(0.25, 0.85), cov = TRUE, how = "joint")$cov, tolerance = 1e-4)
})

test_that("derivatives, draws, likelihood and pictures", {
  fit <- pair()
  at <- predict(fit, 0.85, se = TRUE, gradient = TRUE)
  up <- predict(fit, 0.85 + 1e-4, se = TRUE)
  down <- predict(fit, 0.85 - 1e-4, se = TRUE)
  expect_equal(as.vector(at$gradient), (up$fit - down$fit) / 2e-4, tolerance = 1e-5)
  expect_equal(as.vector(at$variance_gradient), (up$se.fit^2 - down$se.fit^2) / 2e-4, tolerance = 1e-2)
  draws <- simulate(fit, 2000, newdata = c(0.33, 0.85), seed = 1)
  expect_equal(rowMeans(draws), predict(fit, c(0.33, 0.85)), tolerance = 0.05)
  expect_equal(apply(draws, 1, sd), predict(fit, c(0.33, 0.85), se = TRUE)$se.fit, tolerance = 0.1)
  expect_equal(attr(logLik(fit), "nobs"), 15)
  expect_length(residuals(fit), 4)
  expect_output(print(fit), "co-kriging of 2 levels")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_null(plot(fit))
})

test_that("each wrong argument is named", {
  y <- test_function("forrester")(cheap, "cheap")
  expect_error(cokriging(cheap, y, dear), "`y_expensive`", class = "granary_error_input")
  expect_error(cokriging(cheap, y[-1], dear, 1:4), "`y_cheap`", class = "granary_error_input")
  expect_error(cokriging(cheap, y, cbind(dear, 1:4), 1:4), "`x_expensive`", class = "granary_error_input")
  expect_error(cokriging(list(cheap), y, dear, 1:4), "lists", class = "granary_error_input")
  expect_error(cokriging(cheap, y, dear, 1:4, trend_difference = y ~ x), "`trend_difference`", class = "granary_error_input")
  expect_error(cokriging(cheap, y, c(0, 1), 1:2), "more runs", class = "granary_error_input")
})

test_that("levels can have kernels, lengthscales and bounds of their own", {
  cheap <- seq(0, 1, 0.1)
  dear <- c(0, 0.4, 0.6, 1)
  fit <- suppressWarnings(cokriging(cheap, test_function("forrester")(cheap, "cheap"), dear, test_function("forrester")(dear), kernel = list("matern52", "se"),
                                    lengthscale = list(NULL, 2), n_starts = 2))
  expect_equal(fit$levels[[2]]$kernel$type, "se")
  expect_equal(unname(fit$levels[[2]]$lengthscale), 2)
  expect_equal(fit$levels[[1]]$kernel$type, "matern")
  expect_error(cokriging(cheap, test_function("forrester")(cheap, "cheap"), dear, test_function("forrester")(dear), kernel = list("se")), class = "granary_error_input")
})
