test_that("kernels follow their formulas", {
  x <- matrix(c(0.3, -1, 2, 0.5, 1, -0.7), 3)
  z <- matrix(c(1, -0.2, 0.4, 0.9), 2)
  r2 <- outer(1:3, 1:2, Vectorize(function(i, j) sum(((x[i, ] - z[j, ]) / c(0.5, 2))^2)))
  inner <- x %*% t(z)
  expect_equal(kernel_matrix(se(c(0.5, 2), variance = 1.5), x, z), 1.5 * exp(-r2 / 2))
  expect_equal(kernel_matrix(matern(1.5, c(0.5, 2)), x, z), (1 + sqrt(3 * r2)) * exp(-sqrt(3 * r2)))
  expect_equal(kernel_matrix(rq(0.7, c(0.5, 2)), x, z), (1 + r2 / 1.4)^-0.7)
  expect_equal(kernel_matrix(linear(c(2, 3)), x, z), x %*% diag(c(2, 3)) %*% t(z))
  expect_equal(kernel_matrix(polynomial(3, slope = 0.5, offset = 2), x, z), (0.5 * inner + 2)^3)
  expect_equal(kernel_matrix(sigmoid(0.5, -1), x, z), tanh(0.5 * inner - 1))
  expect_equal(kernel_matrix(rbf(0.8), x, z), exp(-0.8 * outer(1:3, 1:2, Vectorize(function(i, j) sum((x[i, ] - z[j, ])^2)))))
  expect_equal(kernel_matrix(se(columns = 2), x, z), kernel_matrix(se(), x[, 2], z[, 2]))
})

test_that("sums, products and multiples combine", {
  x <- matrix(c(0.3, -1, 2, 0.5, 1, -0.7), 3)
  a <- se(0.7)
  b <- linear(2)
  expect_equal(kernel_matrix(a + b * a + 3 * white(0.2), x),
               kernel_matrix(a, x) * (1 + kernel_matrix(b, x)) + diag(0.6, 3))
  expect_identical(kernel_matrix("se + linear * bias", x), kernel_matrix(se() + linear() * bias(), x))
  expect_identical(kernel_matrix("2 * (se + matern32)", x), kernel_matrix(2 * (se() + matern(1.5)), x))
  expect_identical(format((a + b) * rq() + 0.5 * white()), "(se + linear) * rq + 0.5 * white")
})

test_that("parameters have names, can be held and come back", {
  k <- prepare_kernel(se(2, ard = TRUE) * rq(fixed = "variance") + 0.5 * linear(3) + user_kernel(function(x, z, p) p * x %*% t(z), 0.4), 2)
  p <- coef(k)
  expect_named(p, c("se.variance", "se.lengthscale1", "se.lengthscale2", "rq.lengthscale", "rq.shape", "linear.variance", "user.parameter1"))
  moved <- set_kernel_parameters(k, log(p * (1:7)))
  expect_equal(coef(moved), p * (1:7))
})

test_that("gradients meet differences through R", {
  set.seed(1)
  x <- matrix(rnorm(10), 5)
  g <- crossprod(matrix(rnorm(25), 5))
  k <- prepare_kernel(se(ard = TRUE) + mlp() * matern(1.5), 2)
  theta <- log(coef(k))
  loss <- function(theta) sum(g * kernel_matrix(set_kernel_parameters(k, theta), x))
  slope <- vapply(seq_along(theta), function(i) {
    h <- replace(numeric(length(theta)), i, 1e-5)
    (loss(theta + h) - loss(theta - h)) / 2e-5
  }, 0)
  expect_equal(core_kernel_gradient(k, x, g, FALSE)$parameters, slope, tolerance = 1e-7)
})

test_that("a user's function is a kernel", {
  x <- matrix(c(0.3, -1, 2, 0.5), 2)
  expect_equal(kernel_matrix(function(x, z) x %*% t(z) + 1, x), tcrossprod(x) + 1)
  expect_error(kernel_matrix(function(x, z) "no", x), class = "granary_error_input")
  expect_error(kernel_matrix(function(x, z) 1, x), "2 x 2", class = "granary_error_input")
  expect_error(kernel_matrix(function(x, z) stop("mine"), x), "mine", class = "granary_error_input")
})

test_that("what is no kernel is refused", {
  expect_error(se(-1), class = "granary_error_input")
  expect_error(se(variance = 0), class = "granary_error_input")
  expect_error(se(columns = 1.5), class = "granary_error_input")
  expect_error(se(fixed = "nothing"), class = "granary_error_input")
  expect_error(matern(60), class = "granary_error_input")
  expect_error(powexp(2.1), class = "granary_error_input")
  expect_error(se() - white(), "added and multiplied", class = "granary_error_input")
  expect_error(se() + 1, "bias", class = "granary_error_input")
  expect_error(-1 * se(), class = "granary_error_input")
  expect_error(kernel_matrix("sea", 1:3), "not understood", class = "granary_error_input")
  expect_error(kernel_matrix("system('true')", 1:3), class = "granary_error_input")
  expect_error(kernel_matrix(se(c(1, 2)), 1:3), "lengthscales", class = "granary_error_input")
  expect_error(kernel_matrix(se(columns = 3), matrix(1:4, 2)), "column 3", class = "granary_error_input")
  expect_error(kernel_matrix(se(), matrix(1:4, 2), matrix(1:3, 1)), "columns", class = "granary_error_input")
})

test_that("kernels print and plot", {
  expect_output(print(se(c(0.5, 2)) + 0.1 * linear() + white(0.01)), "kernel: se \\+ 0.1 \\* linear \\+ white")
  expect_output(print(polynomial(3)), "degree 3")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_null(plot(matern(1.5, c(1, 3))))
  expect_error(plot(se(), range = -1), class = "granary_error_input")
})
