iris_data <- as.matrix(iris[, 1:4])

test_that("dual PCA of iris has the known values, and its scores are those of prcomp", {
  fit <- dppca(iris_data)
  expect_equal(fit$beta, 38.93547, tolerance = 1e-6)
  expect_equal(fit$loglik, 218.0389, tolerance = 1e-6)
  expect_equal(fit$eigenvalues, c(157.5020, 9.0395, 2.9133, 0.8879), tolerance = 1e-4)
  pc <- prcomp(iris_data)
  expect_equal(fit$eigenvalues, pc$sdev^2 * 149 / 4, tolerance = 1e-9)
  expect_equal(abs(diag(cor(fit$latent, pc$x[, 1:2]))), c(1, 1), ignore_attr = TRUE, tolerance = 1e-9)
  expect_equal(fit$ppca_noise, sum(pc$sdev[3:4]^2) * 149 / 150 / 2, tolerance = 1e-9)
  expect_equal(as.double(logLik(fit)), fit$loglik)
})

test_that("the likelihood is that of the normal law it maximises, in any units", {
  direct <- function(fit, x) {
    y <- sweep(x, 2, colMeans(x))
    k <- tcrossprod(fit$latent) + fit$noise_var * diag(nrow(x))
    -0.5 * (ncol(x) * (nrow(x) * log(2 * pi) + as.double(determinant(k)$modulus)) + sum(y * solve(k, y)))
  }
  for (size in c(1e-8, 1, 1e8)) {
    x <- iris_data[1:40, ] * size
    fit <- dppca(x)
    expect_equal(fit$loglik, if (size == 1) direct(fit, x) else dppca(iris_data[1:40, ])$loglik - 160 * log(size), tolerance = 1e-8)
    expect_equal(fit$latent, dppca(iris_data[1:40, ])$latent * size, tolerance = 1e-8)
  }
})

test_that("predictions through the stand-in rows are those of the process over all rows", {
  x <- iris_data[seq(1, 150, 5), ]
  fit <- dppca(x, k = 2)
  y <- sweep(x, 2, colMeans(x))
  k <- tcrossprod(fit$latent) + fit$noise_var * diag(nrow(x))
  new <- rbind(c(1, -0.5), c(0, 2))
  cross <- tcrossprod(new, fit$latent)
  at <- predict(fit, new, se = TRUE)
  expect_equal(at$fit, sweep(cross %*% solve(k, y), 2, colMeans(x), "+"), ignore_attr = TRUE, tolerance = 1e-9)
  variance <- rowSums(new^2) - rowSums(cross * t(solve(k, t(cross)))) + fit$noise_var
  expect_equal(at$se.fit[, 1], sqrt(variance), ignore_attr = TRUE, tolerance = 1e-8)
  expect_equal(predict(fit, x, type = "latent")[, 1], fit$latent[, 1], tolerance = 0.15, ignore_attr = TRUE)
  expect_identical(dim(fitted(fit)), dim(x))
})

test_that("more columns than rows, and ranks that are too small", {
  set.seed(1)
  wide <- matrix(rnorm(8 * 30), 8)
  fit <- dppca(wide, k = 3)
  y <- sweep(wide, 2, colMeans(wide))
  expect_equal(fit$eigenvalues[1:7], eigen(tcrossprod(y) / 30)$values[1:7], tolerance = 1e-9)
  flat <- matrix(rnorm(20), 10) %*% matrix(rnorm(10), 2)
  expect_error(dppca(flat, k = 2), "rank 2", class = "granary_error_input")
  expect_error(dppca(iris_data, k = 5), "`k`", class = "granary_error_input")
  expect_error(dppca(iris_data[1, , drop = FALSE]), "at least 2 rows", class = "granary_error_input")
  expect_error(dppca(replace(iris_data, 3, NA)), "missing values", class = "granary_error_input")
  expect_error(dppca(matrix(1, 5, 3)), "all are constant", class = "granary_error_input")
  expect_warning(fit <- dppca(cbind(iris_data, one = 7)), "1 constant column is dropped: one", class = "granary_warning_input")
  expect_identical(unname(fitted(fit)[1:3, "one"]), c(7, 7, 7))
  twice <- dppca(rbind(iris_data, iris_data))
  expect_equal(twice$latent[1, ], twice$latent[151, ])
})

test_that("the KL criterion is the divergence it claims to be", {
  set.seed(2)
  s <- crossprod(matrix(rnorm(60), 10))
  kl <- function(k) {
    0.5 * (as.double(determinant(k)$modulus) - as.double(determinant(s)$modulus) + sum(diag(s %*% solve(k))) - 6)
  }
  parts <- eigen(s)
  table <- gplvm_dimension(s, k = 0:4)
  for (q in 0:4) {
    noise <- mean(parts$values[(q + 1):6])
    k <- parts$vectors %*% diag(c(parts$values[seq_len(q)], rep(noise, 6 - q))) %*% t(parts$vectors)
    expect_equal(table$kl[q + 1], kl(k), tolerance = 1e-8)
    expect_equal(table$noise[q + 1], noise)
  }
  # reversed: the formula on the inverse
  expect_equal(gplvm_dimension(s, k = 2, reverse = TRUE)$kl, gplvm_dimension(solve(s), k = 2)$kl, tolerance = 1e-8)
  # and for K = XX' + noise the reversed divergence keeps large eigenvalues, not small ones
  reversed <- function(keep) {
    noise <- 1 / mean(1 / parts$values[-keep])
    k <- parts$vectors %*% diag(replace(rep(noise, 6), keep, pmax(parts$values[keep], noise))) %*% t(parts$vectors)
    0.5 * (as.double(determinant(s)$modulus) - as.double(determinant(k)$modulus) + sum(diag(k %*% solve(s))) - 6)
  }
  expect_lt(reversed(1:2), reversed(5:6))
  expect_warning(gplvm_dimension(tcrossprod(iris_data[1:10, ]), k = 1:2), "singular", class = "granary_warning_input")
  expect_silent(gplvm_dimension(tcrossprod(iris_data[1:10, ]), k = 1:2, ridge = 0.01))
  expect_error(gplvm_dimension(diag(c(1, -1)), k = 1), "positive definite", class = "granary_error_input")
  expect_error(gplvm_dimension(diag(3), k = 3), "less than 3", class = "granary_error_input")
  expect_error(gplvm_dimension(diag(3), k = 0.5), "whole", class = "granary_error_input")
  expect_error(gplvm_dimension(matrix(0, 2, 2)), "zero", class = "granary_error_input")
})

test_that("both noises are printed, and dimensions that cannot be looked at are named", {
  fit <- dppca(iris[, 1:4])
  expect_output(print(fit), "1/beta = 0.02568 .*probabilistic PCA 0.05068")
  expect_equal(fit$ppca_noise, sum(fit$eigenvalues[3:4]) * 4 / 150 / 2)  # eigenvalues of YY'/D, where it takes those of Y'Y/N
  expect_warning(found <- gplvm_dimension(diag(c(5, 4, 1)), k = 1:7), "up to 2 only", class = "granary_warning_input")
  expect_identical(found$k, 1:2)
  expect_no_warning(gplvm_dimension(diag(c(5, 4, 1))))
  expect_warning(dppca(cbind(as.matrix(iris[1:20, 1:3]), 7)), "V4", class = "granary_warning_input")
})
