# Kernel ridge regression, kernel principal components and eigenfunctions against their definitions.

sim_smooth <- function(n = 60, seed = 1, p = 1) {
  set.seed(seed)
  x <- matrix(runif(n * p, -2, 2), n, dimnames = list(NULL, letters[seq_len(p)]))
  list(x = x, y = sin(2 * x[, 1]) + 0.5 * x[, p] + rnorm(n, sd = 0.3))
}
scaled <- function(x) scale(x, scale = apply(x, 2, function(v) sqrt(mean((v - mean(v))^2))))
rbf <- function(x, z, gamma) exp(-gamma * outer(rowSums(x^2), rowSums(z^2), "+") + 2 * gamma * tcrossprod(x, z))

test_that("the fit solves the penalised problem, with intercept, free columns and weights", {
  d <- sim_smooth(p = 2)
  set.seed(2)
  w <- runif(60, 0.5, 2)
  for (parametric in list(NULL, "b", c("a", "b"))) for (intercept in c(TRUE, FALSE)) {
    fit <- kernel_ridge(d$x, d$y, lambda = 0.7, gamma = 0.5, parametric = parametric, intercept = intercept,
                        weights = w)
    smooth <- if (identical(parametric, "b")) d$x[, "a", drop = FALSE] else d$x
    k <- rbf(scaled(smooth), scaled(smooth), 0.5)
    p <- cbind(if (intercept) rep(1, 60), if (!is.null(parametric)) d$x[, parametric])
    # (K + lambda W^-1) alpha + P b = y, P'alpha = 0
    q <- NCOL(p)
    if (is.null(p)) {
      expected <- k %*% solve(k + 0.7 * diag(1 / w), d$y)
    } else {
      left <- rbind(cbind(k + 0.7 * diag(1 / w), p), cbind(t(p), matrix(0, q, q)))
      solution <- solve(left, c(d$y, rep(0, q)))
      expected <- k %*% solution[1:60] + p %*% solution[-(1:60)]
      expect_equal(unname(coef(fit)), unname(solution[-(1:60)]), tolerance = 1e-5)
    }
    expect_equal(unname(fitted(fit)), as.vector(expected), tolerance = 1e-6)
    expect_equal(unname(predict(fit, d$x)), as.vector(expected), tolerance = 1e-6)
  }
})

test_that("degrees of freedom, GCV, leave-one-out and both likelihoods are what they are called", {
  d <- sim_smooth(30, 3)
  k <- rbf(scaled(d$x), scaled(d$x), 0.5)
  fit <- kernel_ridge(d$x, d$y, lambda = c(0.3, 1), gamma = 0.5)
  expect_identical(fit$table$lambda, c(1, 0.3))
  for (i in 1:2) {
    lambda <- fit$table$lambda[i]
    smoother <- vapply(1:30, function(j) unname(fitted(kernel_ridge(d$x, replace(numeric(30), j, 1), lambda = lambda,
                                                                    gamma = 0.5))), numeric(30))
    expect_equal(fit$table$df[i], sum(diag(smoother)), tolerance = 1e-6)
    rss <- sum((d$y - smoother %*% d$y)^2)
    expect_equal(fit$table$gcv[i], 30 * rss / (30 - sum(diag(smoother)))^2, tolerance = 1e-6)
    v <- diag(30) + k / lambda
    one <- rep(1, 30)
    inverse <- solve(v)
    b <- sum(inverse %*% d$y) / sum(inverse)
    left <- sum((d$y - b) * (inverse %*% (d$y - b)))
    log_det <- as.numeric(determinant(v)$modulus)
    expect_equal(fit$table$ml[i], -0.5 * (30 * log(2 * pi * left / 30) + log_det + 30), tolerance = 1e-6)
    contrast <- qr.Q(qr(cbind(1, diag(30))))[, 2:30]
    inner <- t(contrast) %*% v %*% contrast
    quad <- sum((t(contrast) %*% d$y) * solve(inner, t(contrast) %*% d$y))
    expect_equal(fit$table$reml[i], -0.5 * (29 * log(2 * pi * quad / 29) + as.numeric(determinant(inner)$modulus) + 29),
                 tolerance = 1e-6)
  }
  # leave-one-out, by leaving out
  at <- kernel_ridge(d$x, d$y, lambda = 0.3, gamma = 0.5, standardize = FALSE)
  left_out <- vapply(1:30, function(i) {
    d$y[i] - predict(kernel_ridge(d$x[-i, , drop = FALSE], d$y[-i], lambda = 0.3, gamma = 0.5, standardize = FALSE),
                     d$x[i, , drop = FALSE])
  }, 0)
  expect_equal(unname(at$loo), unname(left_out), tolerance = 1e-6)
  expect_equal(at$chosen$loo, mean(left_out^2), tolerance = 1e-6)
})

test_that("every criterion finds its best penalty", {
  d <- sim_smooth(80, 4)
  for (criterion in c("gcv", "loo", "reml", "ml")) {
    fit <- kernel_ridge(d$x, d$y, gamma = 0.5, criterion = criterion)
    sign <- if (criterion %in% c("reml", "ml")) -1 else 1
    at <- function(lambda) {
      sign * kernel_ridge(d$x, d$y, gamma = 0.5, criterion = criterion, lambda = lambda)$chosen[[criterion]]
    }
    best <- at(fit$lambda)
    for (factor in c(0.5, 0.9, 1.1, 2)) expect_lte(best, at(fit$lambda * factor) + 1e-10)
    expect_true(fit$convergence$converged)
    expect_lt(mean((fitted(fit) - sin(2 * d$x[, 1]) - 0.5 * d$x[, 1])^2), 0.03)
  }
})

test_that("standard errors are the posterior ones of the Gaussian process, and cover", {
  d <- sim_smooth(25, 5)
  fit <- kernel_ridge(d$x, d$y, gamma = 0.5, lambda = 0.4, criterion = "reml", standardize = FALSE)
  new <- matrix(c(-3, 0.2, 1, 6), dimnames = list(NULL, "a"))
  k <- rbf(d$x, d$x, 0.5)
  c <- rbf(new, d$x, 0.5)
  s2 <- fit$noise_var
  v <- solve(k + 0.4 * diag(25))
  u <- 1 - c %*% v %*% rep(1, 25)
  variance <- s2 / 0.4 * (1 - diag(c %*% v %*% t(c))) + s2 / 0.4 * as.vector(u)^2 / sum(v)
  answer <- predict(fit, new, se = TRUE)
  expect_equal(unname(answer$se.fit)^2, variance, tolerance = 1e-5)
  expect_equal(sqrt(vcov(fit)[1, 1]), sqrt(s2 / 0.4 / sum(v)), tolerance = 1e-5)
  covered <- mean(vapply(1:60, function(s) {
    d <- sim_smooth(40, s)
    fit <- kernel_ridge(d$x, d$y, gamma = 0.5, criterion = "reml")
    at <- predict(fit, matrix(0.5), interval = "confidence", level = 0.9)
    sin(1) + 0.25 > at$lwr && sin(1) + 0.25 < at$upr
  }, NA))
  expect_gt(covered, 0.75)
  wide <- predict(fit, new, interval = "prediction")
  expect_true(all(wide$upr - wide$lwr > 2 * sqrt(s2)))
})

test_that("a linear kernel is ridge regression", {
  x <- as.matrix(mtcars[, c("wt", "hp", "qsec")])
  z <- scaled(x)
  fit <- kernel_ridge(x, mtcars$mpg, kernel = "linear", lambda = 3)
  beta <- solve(crossprod(z) + 3 * diag(3), crossprod(z, mtcars$mpg - mean(mtcars$mpg)))
  expect_equal(unname(fitted(fit)), as.vector(mean(mtcars$mpg) + z %*% beta), tolerance = 1e-8)
})

test_that("Nystrom features: near the exact fit with many landmarks, and the fit of a nystrom() is its own", {
  d <- sim_smooth(300, 6, 2)
  exact <- kernel_ridge(d$x, d$y, gamma = 0.3, lambda = 1)
  few <- kernel_ridge(d$x, d$y, gamma = 0.3, lambda = 1, c = 60)
  expect_lt(max(abs(fitted(few) - fitted(exact))), 0.02)
  features <- nystrom(d$x, gamma = 0.3, c = 40)
  own <- kernel_ridge(features, d$y, lambda = 1)
  z <- features$features
  v <- tcrossprod(z) + diag(300)
  b <- sum(solve(v, d$y)) / sum(solve(v))
  expect_equal(unname(fitted(own)), as.vector(b + tcrossprod(z) %*% solve(v, d$y - b)), tolerance = 1e-6)
  expect_equal(predict(own, d$x), fitted(own), tolerance = 1e-8, ignore_attr = TRUE)
})

test_that("formulas, data frames, kernel matrices, objects and sparse data work", {
  fit <- kernel_ridge(mpg ~ wt + hp, mtcars, gamma = 0.3, lambda = 0.5)
  same <- kernel_ridge(mtcars[c("wt", "hp")], mtcars$mpg, gamma = 0.3, lambda = 0.5)
  expect_equal(fitted(fit), fitted(same))
  expect_equal(predict(fit, mtcars[3:4, ]), fitted(fit)[3:4], tolerance = 1e-8)
  expect_equal(predict(same, mtcars[3:4, c("hp", "wt")]), fitted(fit)[3:4], tolerance = 1e-8)
  x <- scaled(as.matrix(mtcars[c("wt", "hp")]))
  k <- rbf(x, x, 0.3)
  by_matrix <- kernel_ridge(unname(k), mtcars$mpg, kernel = "precomputed", lambda = 0.5)
  expect_equal(unname(fitted(by_matrix)), unname(fitted(fit)), tolerance = 1e-6)
  expect_equal(unname(predict(by_matrix, unname(k[1:3, ]))), unname(fitted(fit)[1:3]), tolerance = 1e-6)
  words <- c("aa", "ab", "abb", "bbb", "ba", "aaa")
  count_a <- k_user(function(s, t) outer(nchar(gsub("b", "", s)), nchar(gsub("b", "", t))), objects = TRUE)
  text <- kernel_ridge(words, c(2, 1, 1, 0, 1, 3), kernel = count_a, lambda = 1e-6)
  expect_equal(unname(predict(text, c("aab", "bbbbb"))), c(2, 0), tolerance = 1e-3)
  sparse <- kernel_ridge(methods::as(as.matrix(mtcars[c("vs", "am")]), "CsparseMatrix"), mtcars$mpg, kernel = "linear",
                         lambda = 1)
  dense <- kernel_ridge(as.matrix(mtcars[c("vs", "am")]), mtcars$mpg, kernel = "linear", lambda = 1,
                        standardize = FALSE)
  expect_equal(unname(fitted(sparse)), unname(fitted(dense)), tolerance = 1e-8)
})

test_that("the usual methods answer", {
  fit <- kernel_ridge(dist ~ speed, cars, criterion = "reml")
  expect_output(print(fit), "degrees of freedom")
  expect_output(print(summary(fit)), "Intercept")
  expect_identical(nrow(tidy(fit)), 1L)
  expect_identical(glance(fit)$nobs, 50L)
  expect_equal(residuals(fit), cars$dist - fitted(fit), ignore_attr = TRUE)
  expect_equal(as.double(logLik(fit)), fit$chosen$reml)
  expect_true(confint(fit)[1] < coef(fit) && coef(fit) < confint(fit)[2])
  expect_error(logLik(kernel_ridge(dist ~ speed, cars)), "no likelihood")
  for (type in c("criterion", "fitted", "loo")) expect_silent(plot(fit, type))
})

test_that("what is wrong is said, and edges hold", {
  wrong <- function(code, what) expect_error(code, what, class = "granary_error_input")
  d <- sim_smooth(20, 7, 2)
  wrong(kernel_ridge(d$x), "`y` must be given")
  wrong(kernel_ridge(d$x, d$y[-1]), "20")
  wrong(kernel_ridge(d$x, replace(d$y, 2, NA)), "NA")
  wrong(kernel_ridge(d$x, d$y, lambda = 0), "greater than 0")
  wrong(kernel_ridge(d$x, d$y, parametric = "z"), "\"z\"")
  wrong(kernel_ridge(cbind(d$x, c = 1), d$y, parametric = "c"), "depend on each other")
  wrong(kernel_ridge(d$x, d$y, weights = rep(0, 20)), "greater than 0")
  wrong(kernel_ridge(nystrom(d$x, c = 5), d$y, parametric = "a"), "fit of nystrom")
  wrong(kernel_ridge(d$x[1, , drop = FALSE], 1), "more rows")
  wrong(predict(kernel_ridge(d$x, d$y), d$x[, "a", drop = FALSE]), "\"b\"")
  fit <- suppressMessages(kernel_ridge(d$x, d$y * 0 + 2))
  expect_equal(unname(fitted(fit)), rep(2, 20), tolerance = 1e-8)
  for (scale in c(1e-8, 1e8)) {
    a <- kernel_ridge(d$x, d$y, gamma = 0.5)
    b <- kernel_ridge(d$x * scale, d$y * scale, gamma = 0.5)
    expect_equal(fitted(b) / scale, fitted(a), tolerance = 1e-5)
  }
})

test_that("kernel principal components with a linear kernel are those of prcomp()", {
  x <- as.matrix(iris[, 1:4])
  fit <- kernel_pca(x, k = 4, kernel = "linear")
  known <- stats::prcomp(x)
  expect_equal(sqrt(fit$eigenvalues / 149), known$sdev, tolerance = 1e-8)
  expect_equal(abs(unname(fit$latent)), abs(unname(known$x)), tolerance = 1e-6)
  expect_equal(predict(fit, x[1:5, ]), fit$latent[1:5, ], tolerance = 1e-8, ignore_attr = TRUE)
  expect_equal(sum(fit$share), 1, tolerance = 1e-8)
  k <- rbf(x, x, 0.2)
  centred <- scale(t(scale(k, scale = FALSE)), scale = FALSE)
  gaussian <- kernel_pca(x, k = 3, kernel = "rbf", gamma = 0.2)
  e <- eigen(centred, TRUE)
  expect_equal(gaussian$eigenvalues, e$values[1:3], tolerance = 1e-6)
  expect_equal(abs(unname(gaussian$latent)), abs(e$vectors[, 1:3] %*% diag(sqrt(e$values[1:3]))), tolerance = 1e-5)
  expect_equal(kernel_pca(k, k = 3, kernel = "precomputed")$eigenvalues, gaussian$eigenvalues, tolerance = 1e-6)
})

test_that("the spectral embedding is that of the normalised matrix, new rows included", {
  x <- as.matrix(iris[seq(1, 150, 3), 1:2])
  fit <- kernel_pca(x, k = 3, kernel = "rbf", gamma = 0.5, type = "laplacian")
  k <- rbf(x, x, 0.5)
  d <- rowSums(k)
  e <- eigen(k / sqrt(outer(d, d)), TRUE)
  expect_equal(fit$eigenvalues, e$values[1:3], tolerance = 1e-8)
  expect_equal(fit$eigenvalues[1], 1, tolerance = 1e-8)
  expect_equal(abs(unname(fit$latent)), abs(e$vectors[, 1:3]), tolerance = 1e-5)
  expect_equal(predict(fit, x[4:6, ]), fit$latent[4:6, ], tolerance = 1e-6, ignore_attr = TRUE)
  expect_error(kernel_pca(matrix(c(1, -1, 2)), kernel = "linear", k = 1, type = "laplacian"), "positive sums",
               class = "granary_error_input")
})

test_that("eigenfunctions of Brownian motion, and of a sample", {
  brown <- k_user(function(x, z) outer(x[, 1], z[, 1], pmin))
  fit <- kernel_eigenfunctions(brown, k = 4)
  j <- 1:4
  expect_equal(fit$values, 1 / ((j - 0.5)^2 * pi^2), tolerance = 1e-4)
  at <- c(0.1, 0.35, 0.8)
  expect_equal(abs(predict(fit, at)), abs(sqrt(2) * sin(outer(at, (j - 0.5) * pi))), tolerance = 1e-3)
  expect_equal(t(fit$functions) %*% (fit$weights * fit$functions), diag(4), tolerance = 1e-10)
  expect_equal(fit$trace, 0.5, tolerance = 1e-10)
  wide <- kernel_eigenfunctions(k_se(), a = -1, b = 3, k = 3)
  expect_equal(sum(wide$weights), 4, tolerance = 1e-12)
  expect_equal(predict(wide), predict(wide, wide$nodes), tolerance = 1e-6)
  x <- as.matrix(iris[1:40, 1:2])
  sample <- kernel_eigenfunctions(k_se(), x = x, k = 3)
  expect_equal(sample$values, eigen(kernel_matrix(k_se(), x), TRUE, TRUE)$values[1:3] / 40, tolerance = 1e-10)
  expect_equal(crossprod(sample$functions) / 40, diag(3), tolerance = 1e-10)
  expect_warning(kernel_eigenfunctions(k_linear(), k = 3), "only 1 eigenvalue")
  expect_error(kernel_eigenfunctions(k_se(), a = 1, b = 0), "below `b`", class = "granary_error_input")
  expect_output(print(fit), "eigenvalues")
  expect_identical(nrow(tidy(fit)), 4L)
})

test_that("components are maps like the others, and errors are said", {
  fit <- kernel_pca(iris[, 1:4], k = 3)
  expect_identical(dim(fit$latent), c(150L, 3L))
  expect_true(is.data.frame(tidy(fit)))
  expect_lt(assess(fit, truth = iris$Species)$error, 0.1)
  expect_warning(kernel_pca(iris[, 1:2], k = 5, kernel = "linear"), "only 2 components")
  expect_error(kernel_pca(iris), "must be numeric", class = "granary_error_input")
  expect_error(kernel_pca(iris[, 1:4], k = 0), "whole number", class = "granary_error_input")
  words <- c("aab", "aba", "bbb", "ccc", "cca")
  overlap <- k_user(function(a, b) outer(a, b, Vectorize(function(s, t) length(intersect(strsplit(s, "")[[1]],
                                                                                         strsplit(t, "")[[1]])))),
                    objects = TRUE)
  text <- kernel_pca(words, k = 2, kernel = overlap)
  expect_equal(predict(text, words[4:5]), text$latent[4:5, ], tolerance = 1e-6, ignore_attr = TRUE)
  many <- kernel_pca(as.matrix(quakes[, 1:3]), k = 2, c = 80, kernel = "rbf", gamma = 1e-4)
  exact <- kernel_pca(as.matrix(quakes[, 1:3]), k = 2, kernel = "rbf", gamma = 1e-4)
  expect_equal(many$eigenvalues, exact$eigenvalues, tolerance = 0.01)
})
