orthogonal_tensor <- function(lambda, seed = 1) {
  set.seed(seed)
  k <- length(lambda)
  v <- qr.Q(qr(matrix(rnorm(k^2), k)))
  x <- array(0, c(k, k, k))
  for (i in seq_len(k)) x <- x + lambda[i] * (v[, i] %o% v[, i] %o% v[, i])
  list(x = x, v = v)
}

test_that("all methods agree on exact tensors with distinct values", {
  t <- orthogonal_tensor(c(3, 2, 1.5, 1))
  for (method in c("power", "power_stop", "joint", "jennrich", "svd", "ball")) {
    set.seed(2)
    fit <- tensor_decompose(t$x, method = method)
    expect_equal(fit$values, c(3, 2, 1.5, 1), tolerance = 1e-7)
    expect_lt(max(abs(abs(colSums(fit$vectors * t$v)) - 1)), 1e-7)
    expect_lt(fit$residual, 1e-6)
    expect_true(all(fit$table$attraction < 1e-4) && all(fit$table$curvature < 0))
  }
})

test_that("equal values are no obstacle to power steps and rotations; scales do not matter", {
  for (scale in c(1e-8, 1, 1e8)) {
    t <- orthogonal_tensor(scale * c(1, 1, 1), seed = 3)
    for (method in c("power", "joint", "ball")) {
      set.seed(1)
      fit <- tensor_decompose(t$x, method = method)
      expect_equal(fit$values / scale, c(1, 1, 1), tolerance = 1e-7)
      expect_true(fit$convergence$converged)
    }
  }
})

test_that("a tensor of one entry, and of a part of its components", {
  expect_equal(tensor_decompose(array(2, c(1, 1, 1)))$values, 2)
  t <- orthogonal_tensor(c(3, 2, 1))
  expect_equal(tensor_decompose(t$x, k = 2)$values, c(3, 2), tolerance = 1e-8)
})

test_that("tensors that are none are refused by name", {
  expect_error(tensor_decompose(), "`x` must be given", class = "granary_error_input")
  expect_error(tensor_decompose(matrix(1, 2, 2)), "three equal sides", class = "granary_error_input")
  expect_error(tensor_decompose(array(c(1, NA), c(2, 2, 2))), "finite", class = "granary_error_input")
  expect_error(tensor_decompose(array(0, c(2, 2, 2))), "zero everywhere", class = "granary_error_input")
  expect_error(tensor_decompose(array(1:8, c(2, 2, 2))), "symmetric", class = "granary_error_input")
  expect_error(tensor_decompose(array(1, c(2, 2, 2)), k = 3), "at most the side", class = "granary_error_input")
})

test_that("bounds are those of the paper, worked by hand", {
  starts <- spectral_mixture_bounds("starts", k = 5)
  expect_equal(log(2) / -pnorm(starts$threshold, log.p = TRUE) / 4.4e7, 1, tolerance = 0.02)
  p <- spectral_mixture_bounds("perturbation", lambda = c(2, 1), error = 1e-7)
  expect_equal(p$vector_error, c(4e-7, 8e-7))
  expect_true(all(p$valid))
  expect_false(any(spectral_mixture_bounds("perturbation", lambda = c(2, 1), error = 1e-3)$valid))
  expect_equal(spectral_mixture_bounds("coherence", k = 2, error = 0.5, delta = 0.1)$coherence, 0.25 / 6 / log(60))
  # u <- T(I, u, u) itself stays below the bound
  b <- spectral_mixture_bounds("convergence", lambda = c(2, 1), start = c(0.6, 0.8), max_iter = 6)
  u <- c(0.6, 0.8)
  for (t in 0:6) {
    expect_lte(sqrt(sum((u - c(1, 0))^2)), b$bound[t + 1] + 1e-12)
    u <- c(2, 1) * u^2
    u <- u / sqrt(sum(u^2))
  }
  expect_error(spectral_mixture_bounds("starts"), "`k` must be given", class = "granary_error_input")
  expect_error(spectral_mixture_bounds("convergence", lambda = 1, start = 1), "at least two", class = "granary_error_input")
})
