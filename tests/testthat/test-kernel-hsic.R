curve_data <- function(n = 120, seed = 1) {
  set.seed(seed)
  x <- rnorm(n)
  list(x = x, y = x^2 + 0.5 * rnorm(n), z = rnorm(n))
}
centre <- function(k) k - rowMeans(k) - rep(colMeans(k), each = nrow(k)) + mean(k)
gauss <- function(x, width) exp(-as.matrix(dist(x))^2 / (2 * width^2))

test_that("the worked examples on four points come out", {
  x <- c(-1, 0, 1, 2)
  y <- c(1, 0, 1, 4)
  expect_equal(coco(x, y, kernel = k_linear(), rank_tol = 0)$value, 1.25)
  expect_equal(coco(x, y, kernel = k_linear())$value, abs(mean((x - mean(x)) * (y - mean(y)))))
  expect_equal(coco(x, y, width = 1, rank_tol = 0)$value, 0.1067699, tolerance = 1e-6)
  fit <- kmi(x, y, width = 0.5, nu = "parzen", rank_tol = 0)
  expect_equal(fit$nu, 0.7978846, tolerance = 1e-7)
  expect_equal(fit$value, 0.5563216, tolerance = 1e-6)
  values <- vapply(c(0, 0.1, 0.5, 0.9), function(theta) kgv(x, y, width = 0.5, theta = theta, nu = "parzen", rank_tol = 0)$value, 0)
  expect_equal(values, c(0.5563216, 0.6004657, 0.8938438, 2.069573), tolerance = 1e-6)
})

test_that("values are those of the full kernel matrices", {
  d <- curve_data()
  n <- length(d$x)
  k <- centre(gauss(d$x, 0.7))
  l <- centre(gauss(d$y, 0.7))
  gamma <- sqrt(pmax(Re(eigen(k %*% l, only.values = TRUE)$values), 0))
  expect_equal(hsic(d$x, d$y, width = 0.7, rank_tol = 0)$value, sum(k * l) / n^2, tolerance = 1e-9)
  fit <- coco(d$x, d$y, width = 0.7, density = FALSE, rank_tol = 0)
  expect_equal(fit$value, gamma[1] / n, tolerance = 1e-8)
  expect_equal(fit$spectrum[1:5], gamma[1:5], tolerance = 1e-6)
  size <- 1 / (0.7 * sqrt(2 * pi))
  expect_equal(coco(d$x, d$y, width = 0.7, rank_tol = 0)$value, gamma[1] / n * size, tolerance = 1e-8)
  laplace <- centre(exp(-as.matrix(dist(d$x)) / 0.7))
  expect_equal(hsic(d$x, d$y, kernel = list("laplace", "gaussian"), width = 0.7, rank_tol = 0)$value, sum(laplace * l) / n^2, tolerance = 1e-9)
  ridge <- diag(n * 0.1 / 2, n)
  a <- solve(k + ridge, k)
  b <- solve(l + ridge, l)
  expect_equal(kgv(d$x, d$y, width = 0.7, kappa = 0.1, rank_tol = 0)$value,
               -0.5 * determinant(diag(n) - a %*% a %*% b %*% b)$modulus[1], tolerance = 1e-4)
  a <- solve(k + 2 * ridge, k)
  b <- solve(l + 2 * ridge, l)
  rho <- sqrt(max(Re(eigen(a %*% b, only.values = TRUE)$values)))
  expect_equal(kcc(d$x, d$y, width = 0.7, kappa = 0.1, form = "ridge", rank_tol = 0)$value, rho, tolerance = 1e-6)
  nu <- 60
  expect_equal(kmi(d$x, d$y, width = 0.7, nu = nu, density = FALSE, rank_tol = 0)$value,
               -0.5 * determinant(diag(n) - k %*% l / nu^2)$modulus[1], tolerance = 1e-8)
  expect_equal(suppressWarnings(kmi(d$x, d$y, width = 0.7, nu = "gram", density = FALSE, rank_tol = 0))$nu,
               min(rowSums(gauss(d$x, 0.7)), rowSums(gauss(d$y, 0.7))))
  safe <- kmi(d$x, d$y, width = 0.7, nu = "safe")
  expect_true(safe$valid)
  expect_gt(safe$nu, max(safe$norms))
})

test_that("the Laplace window convolved with itself is the kernel of its kmi()", {
  d <- curve_data(40)
  window <- function(u, l = 2) l / 2 * exp(-l * abs(u))
  pair <- c(0.3, 0.9)
  by_hand <- integrate(function(q) window(pair[1] - q) * window(pair[2] - q), -Inf, Inf)$value
  expect_equal(kernel_matrix(granary:::laplace_kernel(0.5, 1L, convolved = TRUE), pair)[1, 2], by_hand, tolerance = 1e-6)
  fit <- kmi(d$x, d$z, kernel = "laplace", width = 0.5, nu = "parzen", rank_tol = 0)
  expect_equal(fit$nu, min(colSums(window(outer(d$x, d$x, "-"))), colSums(window(outer(d$z, d$z, "-")))))
  # in two dimensions, at the origin
  size <- kernel_matrix(granary:::laplace_kernel(0.5, 2L), matrix(0, 1, 2))[1, 1]
  radial <- integrate(function(r) 2 * pi * r * (size * exp(-2 * r))^2, 0, Inf)$value
  expect_equal(kernel_matrix(granary:::laplace_kernel(0.5, 2L, convolved = TRUE), matrix(0, 1, 2))[1, 1], radial, tolerance = 1e-6)
  expect_equal(integrate(function(r) 2 * pi * r * size * exp(-2 * r), 0, Inf)$value, 1, tolerance = 1e-6)
})

test_that("inequalities, symmetry and invariance hold", {
  d <- curve_data()
  h <- hsic(d$x, d$y, width = 1)
  c1 <- coco(d$x, d$y, width = 1, density = FALSE)
  expect_lte(c1$value^2, h$value * (1 + 1e-9))
  expect_lte(h$value, max(h$rank) * c1$value^2)
  for (f in list(hsic, coco, kcc, kgv)) {
    value <- f(d$x, d$y)$value
    expect_equal(f(d$y, d$x)$value, value, tolerance = 1e-8)
    order <- sample(length(d$x))
    expect_equal(f(d$x[order], d$y[order])$value, value, tolerance = 1e-3)
    expect_equal(f(d$x + 100, d$y - 3)$value, value, tolerance = 1e-6)
  }
  for (scale in c(1e-8, 1e8)) {
    expect_equal(hsic(scale * d$x, d$y)$value, hsic(d$x, d$y)$value, tolerance = 1e-6)
    expect_equal(kgv(scale * d$x, scale * d$y)$value, kgv(d$x, d$y)$value, tolerance = 1e-6)
    fit <- kmi(scale * d$x, scale * d$z, width = 0.3 * scale, nu = "safe")
    expect_equal(fit$value, kmi(d$x, d$z, width = 0.3, nu = "safe")$value, tolerance = 1e-6)
  }
  bound <- kgv(d$x, d$z, theta = 0.3, width = 0.5, nu = "safe")
  expect_true(bound$valid)
  expect_gte(bound$value, kmi(d$x, d$z, width = 0.5, nu = "safe")$value)
})

test_that("low rank tends to exact, and its error is bounded by the tolerance", {
  d <- curve_data(200)
  exact <- hsic(d$x, d$y, rank_tol = 0)
  errors <- vapply(c(1e-2, 1e-4, 1e-6), function(tol) abs(hsic(d$x, d$y, rank_tol = tol)$value - exact$value), 0)
  expect_true(all(diff(errors) < 0))
  expect_lt(errors[3], 1e-6 * exact$value)
  rough <- hsic(d$x, d$y, rank_tol = 1e-3)
  expect_true(all(rough$residual <= 1e-3))
  expect_identical(unname(hsic(d$x, d$y, max_rank = 2)$rank), c(2L, 2L))
  expect_lt(max(hsic(rnorm(20000), rnorm(20000))$rank), 60)
})

test_that("witness functions attain the value, have unit norm and can be evaluated anywhere", {
  d <- curve_data()
  fit <- coco(d$x, d$y, width = 0.8)
  f <- predict(fit)
  expect_identical(colnames(f), c("d$x", "d$y"))
  expect_equal(mean(f[, 1] * f[, 2]), fit$value, tolerance = 1e-8)
  expect_equal(colMeans(f), c("d$x" = 0, "d$y" = 0), tolerance = 1e-8)
  w <- fit$witness[[1]]
  k <- kernel_matrix(w$kernel, w$at)
  norm <- drop(w$coefficients %*% k %*% w$coefficients)
  expect_equal(norm, 1, tolerance = 1e-6)
  expect_equal(predict(fit, list(d$x, d$y)), f, tolerance = 1e-6)
  expect_equal(unname(predict(fit, list("d$y" = d$y[1:3], "d$x" = d$x[1:3]))), unname(f[1:3, ]), tolerance = 1e-6)
  expect_error(predict(fit, list(1:3)), "`newdata`", class = "granary_error_input")
  expect_error(predict(fit, list(1:3, 1:2)), "same number", class = "granary_error_input")
  expect_error(predict(fit, list(matrix(1:4, 2), 1:2)), "1 column, not 2", class = "granary_error_input")
  # the relation is even in x: so is its witness
  at <- predict(fit, list(c(-1.5, 0, 1.5), c(0, 1, 2)))[, 1]
  expect_lt(at[2] * at[1], 0)
  expect_gt(at[1] * at[3], 0)
})

test_that("categories, vectors, kernels of the language, own functions and kernel matrices are variables too", {
  d <- curve_data(60)
  group <- factor(sample(c("a", "b", "c"), 60, TRUE), levels = c("a", "b", "c", "empty"))
  same <- centre(outer(as.character(group), as.character(group), "==") + 0)
  fit <- hsic(group, d$x, width = 1, rank_tol = 0)
  expect_equal(fit$value, sum(same * centre(gauss(d$x, 1))) / 60^2, tolerance = 1e-9)
  expect_identical(unname(fit$rank[1]), 3L)
  expect_equal(hsic(as.character(group), d$x, width = 1)$value, hsic(group, d$x, width = 1)$value)
  expect_equal(hsic(as.integer(group), d$x, kernel = c("delta", "gaussian"), width = 1)$value, hsic(group, d$x, width = 1)$value)
  expect_equal(predict(fit, list(c("a", "c"), c(0, 1)))[1, 1], fit$witness[[1]]$f[group == "a"][1], ignore_attr = TRUE)
  expect_error(predict(fit, list("zz", 0)), "among a, b, c", class = "granary_error_input")
  both <- cbind(d$x, d$y)
  expect_equal(hsic(both, d$z, width = 1, rank_tol = 0)$value, sum(centre(gauss(both, 1)) * centre(gauss(d$z, 1))) / 60^2, tolerance = 1e-9)
  value <- hsic(d$x, d$y, width = 1)$value
  expect_equal(hsic(d$x, d$y, kernel = k_se())$value, value)
  expect_equal(hsic(d$x, d$y, kernel = "se")$value, value)
  expect_equal(hsic(d$x, d$y, kernel = function(x, z) exp(-outer(x[, 1], z[, 1], "-")^2 / 2), threads = 2)$value, value)
  fit <- hsic(gauss(d$x, 1), gauss(d$y, 1), kernel = "precomputed")
  expect_equal(fit$value, value, tolerance = 1e-4)
  expect_equal(unname(predict(fit, list(gauss(d$x, 1)[1:4, ], gauss(d$y, 1)[1:4, ]))), unname(predict(fit)[1:4, ]), tolerance = 1e-6)
  expect_equal(kmi(gauss(d$x, 1), gauss(d$z, 1), kernel = "precomputed", nu = "safe")$value, kmi(d$x, d$z, kernel = k_se(), nu = "safe")$value,
               tolerance = 1e-4)
  expect_error(hsic(matrix(c(1, 2, 2, 1), 2)[c(1, 2, 1, 2), c(1, 2, 1, 2)], diag(4), kernel = "precomputed"), "positive semi-definite",
               class = "granary_error_input")
})

test_that("more than two variables: pairs are enough, a copy raises every measure, and two are the same either way", {
  d <- curve_data(80)
  pairs <- hsic(d$x, d$y)$value + hsic(d$x, d$z)$value + hsic(d$y, d$z)$value
  expect_equal(hsic(d)$value, pairs, tolerance = 1e-9)
  expect_equal(hsic(as.data.frame(d))$value, pairs, tolerance = 1e-9)
  expect_equal(hsic(cbind(d$x, d$y, d$z))$value, pairs, tolerance = 1e-9)
  expect_equal(kmi(d[1:2], nu = "safe")$value, kmi(d$x, d$y, nu = "safe")$value)
  for (f in list(coco, kcc, kgv, function(v) kmi(v, nu = 100))) {
    expect_lt(f(d)$value, f(c(d, list(copy = d$x)))$value)
  }
  fit <- coco(d)
  expect_named(fit$witness, c("x", "y", "z"))
  expect_length(fit$spectrum, sum(fit$rank))
})

test_that("the kernel mutual information bounds the Parzen estimate near independence, and the table's is half of chi-squared", {
  set.seed(3)
  x <- runif(80)
  y <- runif(80)
  for (kernel in c("gaussian", "laplace")) {
    bound <- kmi(x, y, kernel = kernel, width = 0.3, rank_tol = 0)$value
    grid <- kmi_bounds("grid", x, y, width = 0.3, kernel = kernel)
    expect_true(is.finite(bound) && grid > 0)
    expect_lte(grid, bound)
    expect_equal(kmi_bounds("grid", x, y, width = 0.3, kernel = kernel, grid = 400), grid, tolerance = 0.02)
  }
  counts <- matrix(c(250, 255, 240, 260, 245, 250), 2)
  expected <- suppressWarnings(chisq.test(counts))$statistic[[1]] / (2 * sum(counts))
  expect_equal(kmi_bounds("table", counts), expected, tolerance = 0.01)
  expect_equal(kmi_bounds("table", as.table(counts)), kmi_bounds("table", counts))
  expect_equal(kmi_bounds("table", rbind(counts, 0)), kmi_bounds("table", counts))
  expect_identical(kmi_bounds("table", diag(3)), Inf)
  expect_equal(kmi_bounds("table", outer(1:3, 2:4)), 0)
  expect_error(kmi_bounds("table", -counts), "counts", class = "granary_error_input")
  expect_error(kmi_bounds("grid", x, y[-1], 0.1), "length 80", class = "granary_error_input")
  expect_error(kmi_bounds("grid", x, y, "median"), "`width`", class = "granary_error_input")
  expect_error(kmi_bounds("grid", x, y), "`width` must be given", class = "granary_error_input")
})

test_that("an undefined kernel mutual information is Inf with a warning", {
  x <- seq(0, 1, length.out = 50)
  expect_warning(fit <- kmi(x, x, width = 0.05, nu = "parzen"), "not defined", class = "granary_warning_input")
  expect_identical(fit$value, Inf)
  expect_false(fit$valid)
  expect_warning(test <- independence_test(x, x, measure = "kmi", width = 0.05, nu = "parzen", n_perm = 19), "not defined")
  expect_lte(test$p.value, 1)
})

test_that("kmi() is finite by default, and its test has power, on dependent data", {
  set.seed(1)
  for (k in 1:5) {
    x <- rnorm(80)
    y <- x^2 + rnorm(80, sd = 0.3)
    fit <- kmi(x, y)
    expect_true(is.finite(fit$value) && fit$valid)
    expect_lt(independence_test(x, y, measure = "kmi", n_perm = 99)$p.value, 0.05)
  }
  expect_true(is.finite(kmi(x, x)$value))
  expect_true(is.finite(kgv(x, y, theta = 0.5)$value))
})

test_that("a kernel too narrow for the number of rows is refused before it costs minutes", {
  set.seed(1)
  x <- rnorm(30000)
  expect_error(hsic(x, rev(x), width = 1e-6), "so narrow that", class = "granary_error_input")
})

test_that("input that cannot be used is refused, saying why", {
  x <- c(1, 5, 2, 8, 3)
  y <- c(2, 1, 7, 3, 4)
  bad <- function(code, text) expect_error(code, text, class = "granary_error_input")
  bad(hsic(x), "two variables or more|a list of variables")
  bad(hsic(), "`x` must be given")
  bad(hsic(list(x)), "two variables or more")
  bad(hsic(x, y[-1]), "same number of observations")
  bad(hsic(x[1:3], y[1:3]), "At least 4 observations")
  bad(hsic(c(x[-1], NA), y), "missing values")
  bad(hsic(c(x[-1], Inf), y), "finite")
  bad(hsic(factor(c("a", NA, "b", "a", "b")), y), "missing values")
  bad(hsic(x, y, width = 0), "`width`")
  bad(hsic(x, y, width = -1), "`width`")
  bad(hsic(x, y, width = c(1, 2, 3)), "one for each variable")
  bad(hsic(x, y, width = "mean"), "\"median\"")
  bad(hsic(c(1, 1, 1, 1, 2), y), "median distance")
  bad(hsic(x, y, kernel = "gauss"), "not understood")
  bad(hsic(x, y, kernel = list("gaussian", "gaussian", "delta")), "one for each variable")
  bad(hsic(x, y, rank_tol = 1), "`rank_tol`")
  bad(hsic(x, y, max_rank = 0), "`max_rank`")
  bad(hsic(x, y, kernel = k_sigmoid(offset = -1)), "negative or not finite|positive semi-definite")
  bad(kcc(x, y, kappa = 0), "`kappa`")
  bad(kgv(x, y, theta = 1), "`theta`")
  bad(kmi(x, y, nu = 0), "`nu`")
  bad(kmi(x, y, nu = "big"), "`nu`")
  bad(kmi(x, y, kernel = k_se(), nu = "parzen"), "Parzen windows are known")
  bad(kmi(x - 4, y, kernel = k_linear(), nu = "gram"), "a sum that is not positive")
  expect_warning(flat <- coco(rep(1, 5), y), "constant", class = "granary_warning_input")
  expect_identical(flat$value, 0)
  expect_warning(flat <- kmi(rep(1, 5), y), "constant")
  expect_identical(flat$value, 0)
})

test_that("fits print, summarise, draw and become tables", {
  d <- curve_data(60)
  expect_output(print(hsic(d$x, d$y)), "Hilbert-Schmidt independence criterion of d\\$x and d\\$y: 60 observations.*value:.*rank")
  expect_output(print(kmi(d$x, d$z, nu = "safe")), "nu: .*above the norms")
  expect_output(print(kmi(d$x, d$z, nu = 50)), "no bound is guaranteed|above the norms")
  expect_output(print(kgv(d, theta = 0.2, nu = "safe")), "theta:")
  expect_output(print(kcc(d)), "kappa:")
  expect_output(print(summary(hsic(d))), "hsic")
  row <- tidy(hsic(d))
  expect_identical(row$variables, 3L)
  expect_identical(row$measure, "hsic")
  pdf(NULL)
  on.exit(dev.off())
  expect_silent(plot(coco(d$x, d$y)))
  expect_silent(plot(hsic(d), type = "spectrum"))
  expect_silent(plot(hsic(list(cbind(d$x, d$y), factor(d$z > 0), d$z))))
  expect_silent(plot(suppressWarnings(coco(rep(1, 60), d$y))))
})

test_that("hsic() agrees with dHSIC", {
  name <- "dHSIC"
  skip_if_not_installed(name)
  d <- curve_data(200)
  peer <- getExportedValue(name, "dhsic")(d$x, d$y)
  expect_equal(hsic(d$x, d$y, rank_tol = 0)$value, peer$dHSIC, tolerance = 1e-3)  # another median of an even number of distances
})

test_that("kernel_features() leaves out no more than asked, and maps new rows", {
  x <- as.matrix(iris[, 1:4])
  k <- kernel_matrix(k_se(lengthscale = 2), x)
  z <- kernel_features(x, k_se(lengthscale = 2), tol = 1e-4)
  expect_equal(sum(diag(k - tcrossprod(z$factor))), z$residual, tolerance = 1e-8)
  expect_lte(z$residual, 1e-4 * z$trace)
  expect_equal(predict(z, x[1:5, ]), z$factor[1:5, ], tolerance = 1e-6, ignore_attr = TRUE)
  centred <- kernel_features(x, k_se(lengthscale = 2), tol = 1e-4, center = TRUE)
  expect_equal(colMeans(centred$factor), rep(0, centred$rank), tolerance = 1e-10)
  expect_equal(predict(centred, x[1:5, ]), centred$factor[1:5, ], tolerance = 1e-6, ignore_attr = TRUE)
  expect_equal(abs(kernel_features(unname(k), "precomputed", tol = 1e-4)$factor), abs(z$factor), tolerance = 1e-6)
  expect_identical(kernel_features(x, max_rank = 3)$rank, 3L)
  expect_identical(kernel_features(iris$Species)$rank, 3L)
  expect_identical(kernel_features(rep(2, 6), k_linear(), tol = 0)$rank, 1L)
  expect_output(print(z), "kernel features")
  expect_error(kernel_features(x, tol = -1), "`tol`", class = "granary_error_input")
  expect_error(predict(z), "`newdata`", class = "granary_error_input")
  expect_error(predict(z, x[, 1:2]), "Petal.Length", class = "granary_error_input")
  expect_error(predict(z, unname(x[, 1:2])), "4 columns", class = "granary_error_input")
})

test_that("a hopelessly narrow kernel on many rows is refused before the work", {
  set.seed(51)
  x <- runif(20000)
  y <- runif(20000)
  seconds <- system.time(expect_error(hsic(x, y, width = 1e-7), "so narrow", class = "granary_error_input"))[["user.self"]]
  expect_lt(seconds, 10)
})
