# The methods every Gaussian graph fit has.

set.seed(101)
cars <- scale(mtcars)[, 1:6]
single <- ggm_lasso(cars, lambda = 0.2)
path <- ggm_lasso(cars, n_lambda = 5)
from_s <- ggm_lasso(S = cor(mtcars)[1:6, 1:6], n = 32, lambda = 0.2)

# Row-wise normal log densities, from solve() and det().
log_density <- function(x, mean, X) {
  centred <- sweep(x, 2, mean)
  -ncol(x) / 2 * log(2 * pi) + log(det(X)) / 2 - rowSums((centred %*% X) * centred) / 2
}

test_that("logLik() is the sum of normal log densities", {
  X <- as.matrix(single)
  by_hand <- sum(log_density(cars, colMeans(cars), X))
  expect_equal(as.numeric(logLik(single)), by_hand, tolerance = 1e-10)
  expect_equal(sum(predict(single, type = "loglik")), by_hand, tolerance = 1e-10)
  expect_equal(predict(single, cars[3:5, ], type = "loglik"), log_density(cars[3:5, ], colMeans(cars), X), tolerance = 1e-10, ignore_attr = TRUE)
  expect_identical(attr(logLik(single), "df"), single$df + 6)
  expect_identical(nobs(logLik(single)), 32L)
  Xs <- as.matrix(from_s)
  expect_equal(as.numeric(logLik(from_s)), 16 * (log(det(Xs)) - sum(from_s$S * Xs) - 6 * log(2 * pi)), tolerance = 1e-10)
})

test_that("AIC and BIC follow from it, on a path too", {
  expect_equal(AIC(single), -2 * as.numeric(logLik(single)) + 2 * (single$df + 6))
  expect_equal(BIC(single), -2 * as.numeric(logLik(single)) + log(32) * (single$df + 6))
  expect_equal(AIC(path), vapply(1:5, function(k) AIC(ggm_at(path, k)), 0))
  expect_true(all(diff(as.numeric(logLik(path))) > 0))
  expect_error(logLik(ggm_lasso(S = diag(2), lambda = 0.1)), "number of observations is not known", class = "granary_error_input")
})

test_that("with no penalty conditional means are linear regression, residuals too", {
  free <- ggm_lasso(cars, lambda = 0, tol = 1e-12)
  fitted <- predict(free)
  for (j in 1:6) {
    regression <- lm(cars[, j] ~ cars[, -j])
    expect_equal(unname(fitted[, j]), unname(fitted(regression)), tolerance = 1e-7)
    expect_equal(unname(residuals(free)[, j]), unname(resid(regression)), tolerance = 1e-6)
  }
  X <- as.matrix(single)  # with one, they are the conditional expectations of the fitted normal
  W <- solve(X)
  for (j in c(1, 4)) {
    by_hand <- colMeans(cars)[j] + sweep(cars[, -j], 2, colMeans(cars)[-j]) %*% solve(W[-j, -j], W[-j, j])
    expect_equal(predict(single)[, j], by_hand[, 1], tolerance = 1e-8)
  }
  expect_equal(residuals(single), cars - predict(single), ignore_attr = TRUE)
  expect_identical(colnames(predict(single)), colnames(cars))
})

test_that("new data are matched by name, and the wrong ones refused", {
  shuffled <- as.data.frame(cars[1:4, 6:1])
  expect_equal(predict(single, shuffled), predict(single, cars[1:4, ]), ignore_attr = TRUE)
  expect_identical(colnames(predict(single, shuffled)), colnames(cars))
  expect_equal(predict(single, cbind(cars, more = 1)), predict(single), ignore_attr = TRUE)
  expect_equal(predict(single, unname(cars)), predict(single), ignore_attr = TRUE)
  wrong <- cars
  colnames(wrong)[2] <- "other"
  bad <- function(call, message) expect_error(call, message, class = "granary_error_input")
  for (fit in list(single, from_s)) bad(predict(fit, wrong), "`newdata` lacks variables of the fit: cyl")
  bad(predict(single, cars[, 1:3]), "`newdata` must have the 6 variables")
  bad(predict(from_s), "`newdata` is needed")
  bad(residuals(from_s), "`newdata` is needed")
  bad(predict(single, type = "class"), "`type`")
  bad(predict(path, which = 6), "`which`")
  nameless <- ggm_lasso(S = unname(from_s$S), lambda = 0.2)
  expect_identical(dim(predict(nameless, cars)), dim(cars))
})

test_that("simulate() draws from the fitted normal", {
  set.seed(1)
  n <- 20000
  shifted <- ggm_lasso(sweep(cars, 2, 1:6, "+"), lambda = 0.2, covariance = TRUE)
  x <- simulate(shifted, nsim = n)
  W <- shifted$covariance
  expect_identical(colnames(x), colnames(cars))
  expect_lt(max(abs(colMeans(x) - 1:6) / sqrt(diag(W) / n)), 4.5)
  expect_lt(max(abs(cov(x) - W) / sqrt((outer(diag(W), diag(W)) + W^2) / n)), 4.5)
  expect_lt(max(abs(colMeans(simulate(from_s, 2000)))), 0.15)
})

test_that("simulate() follows set.seed(), and its seed argument leaves the session's stream alone", {
  set.seed(2)
  one <- simulate(single, 3)
  set.seed(2)
  expect_identical(simulate(single, 3), one)
  expect_false(identical(simulate(single, 3), one))
  set.seed(3)
  before <- .Random.seed
  expect_identical(simulate(single, 3, seed = 2), one)
  expect_identical(.Random.seed, before)
  expect_equal(simulate(path, 3, seed = 2, which = 5), simulate(ggm_at(path, 5), 3, seed = 2))
  expect_error(simulate(single, 0), "`nsim`", class = "granary_error_input")
  expect_error(simulate(single, seed = "a"), "`seed`", class = "granary_error_input")
})

test_that("tidy() lists the edges with partial correlations, strongest first", {
  edges <- tidy(single)
  expect_named(edges, c("from", "to", "estimate", "precision"))
  expect_identical(nrow(edges), as.integer(single$df))
  X <- as.matrix(single)
  at <- cbind(edges$from, edges$to)
  expect_identical(edges$precision, X[at])
  expect_equal(edges$estimate, -cov2cor(X)[at])
  expect_false(is.unsorted(-abs(edges$estimate)))
  expect_true(all(match(edges$from, colnames(X)) < match(edges$to, colnames(X))))
  expect_identical(nrow(tidy(path, which = 1)), 0L)
  # the partial correlation is the correlation of residuals on all others
  free <- ggm_lasso(cars, lambda = 0, tol = 1e-12)
  r <- cor(resid(lm(cars[, 1] ~ cars[, 3:6])), resid(lm(cars[, 2] ~ cars[, 3:6])))
  edge <- tidy(free)
  expect_equal(edge$estimate[edge$from == "mpg" & edge$to == "cyl"], r, tolerance = 1e-6)
})

test_that("glance() and augment() have the columns users expect", {
  row <- glance(single)
  expect_named(row, c("lambda", "edges", "objective", "converged", "iterations", "gap", "residual", "seconds", "logLik", "df", "nobs"))
  expect_identical(nrow(row), 1L)
  expect_equal(row$logLik, as.numeric(logLik(single)))
  expect_identical(row$edges, single$df)
  expect_identical(nrow(glance(path)), 5L)
  expect_identical(glance(path)$lambda, path$lambda)
  expect_false("logLik" %in% names(glance(ggm_lasso(S = diag(2), lambda = 0.1))))
  table <- augment(single)
  expect_named(table, c(colnames(cars), paste0(".fitted_", colnames(cars)), ".loglik"))
  expect_identical(table$.fitted_cyl, unname(predict(single)[, "cyl"]))
  expect_equal(sum(table$.loglik), as.numeric(logLik(single)))
  expect_identical(table$mpg, unname(cars[, "mpg"]))
  expect_error(augment(from_s), class = "granary_error_input")
})

test_that("coef() and as.matrix() give the precision, ggm_at() one fit of a path", {
  expect_identical(coef(single), single$precision)
  expect_identical(as.matrix(single), as.matrix(single$precision))
  expect_identical(coef(path), path$precision[[5]])
  expect_identical(coef(path, which = 2), path$precision[[2]])
  two <- ggm_at(path, 2)
  expect_s3_class(two, c("granary_ggm_lasso", "granary_ggm", "granary_fit"), exact = TRUE)
  for (part in c("lambda", "df", "objective", "log_det", "kkt", "gap")) expect_identical(two[[part]], path[[part]][2])
  for (part in c("precision", "component", "trace", "convergence")) expect_identical(two[[part]], path[[part]][[2]])
  expect_identical(ggm_at(path, lambda = path$lambda[3] * 1.01), ggm_at(path, 3))
  expect_identical(ggm_at(path, lambda = 0)$lambda, path$lambda[5])
  expect_identical(ggm_at(path, lambda = 1e9)$lambda, path$lambda[1])
  expect_identical(ggm_at(single), single)
  expect_identical(ggm_at(ggm_lasso(cars, n_lambda = 2, covariance = TRUE), 1)$covariance, ggm_lasso(cars, n_lambda = 1, covariance = TRUE)$covariance)
  bad <- function(call, message) expect_error(call, message, class = "granary_error_input")
  bad(ggm_at(path, 6), "`which`")
  bad(ggm_at(path, 1, lambda = 0.1), "not both")
  bad(ggm_at(path, lambda = -1), "`lambda`")
  bad(ggm_at(1, 1), "`fit` must be a Gaussian graph fit")
})

test_that("print and summary say what was estimated and how well", {
  expect_output(expect_identical(print(single), single), "6 variables, n = 32.*lambda 0.2: .* of 15 possible edges.*Strongest.*converged in")
  expect_output(print(path), "lambda edges.*all 5 problems converged.*ggm_select")
  expect_output(print(ggm_lasso(cars, n_lambda = 30)), "of 30 penalties shown")
  expect_output(print(ggm_lasso(S = matrix(1), lambda = 0.1)), "1 variable")
  text <- summary(single)
  expect_equal(text$eigenvalues, range(eigen(as.matrix(single))$values))
  expect_identical(sum(text$degrees), as.integer(2 * single$df))
  expect_output(print(text), "certified within.*Largest violation.*Eigenvalues.*Degrees")
  expect_output(print(summary(path, which = 2)), "certified")
})

test_that("a fit survives being saved", {
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  for (fit in list(single, path, from_s)) {
    saveRDS(fit, file)
    back <- readRDS(file)
    expect_identical(back, fit)
    expect_identical(predict(back, cars), predict(fit, cars))
  }
})
