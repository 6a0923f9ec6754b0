test_that("bounds hold for every iterate and the solution", {
  set.seed(1)
  S <- random_covariance(8)
  for (diagonal in c(TRUE, FALSE)) for (lambda in c(0.5, 0.05)) {
    fit <- ggm_lasso(S = S, lambda = lambda, penalize_diagonal = diagonal)
    bounds <- ggm_bounds(fit)
    for (steps in 1:3) {
      iterate <- suppressWarnings(ggm_lasso(S = S, lambda = lambda, penalize_diagonal = diagonal, max_iter = steps))
      values <- eigen(as.matrix(iterate), symmetric = TRUE)$values
      expect_gt(log(min(values)), bounds$log_lower)
      expect_lt(max(values), bounds$upper)
    }
    values <- eigen(as.matrix(fit), symmetric = TRUE)$values
    if (diagonal) {
      expect_equal(bounds$solution_lower, 1 / (norm(S, "2") + 8 * lambda))
      expect_equal(bounds$solution_upper, 8 / lambda)
      expect_true(min(values) >= bounds$solution_lower && max(values) <= bounds$solution_upper)
    } else {
      expect_identical(c(bounds$solution_lower, bounds$solution_upper), c(NA_real_, NA_real_))
    }
  }
})

test_that("M is the largest root of its equation, and m follows from it", {
  S <- toeplitz(c(2, 0.5, 0.3)) + diag(c(0, 1, 2))
  weights <- matrix(c(1, 2, 1, 2, 0.5, 3, 1, 3, 2), 3)
  for (w in list(NULL, c(1, 2, 0.5), weights)) {
    bounds <- ggm_bounds(ggm_lasso(S = S, lambda = 0.1, weights = w))
    L <- penalty_matrix(3, 0.1, w)
    start <- 3 + sum(log(diag(S + L)))
    expect_equal(start, glasso_objective(diag(1 / diag(S + L)), S, L))
    factor <- 1 + 0.5 / min(L[upper.tri(L)])
    excess <- function(M) 2 * M - factor * (start + 3 * log(M))
    M <- uniroot(excess, c(factor * 3 / 2, 1e6), tol = 1e-10)$root
    expect_equal(bounds$upper, M, tolerance = 1e-8)
    expect_true(all(excess(M * seq(1.01, 100, length.out = 50)) > 0))
    expect_equal(bounds$log_lower, -start - 2 * log(M), tolerance = 1e-8)
  }
})

test_that("a path has a row per penalty; edge cases have no bound, or the point itself", {
  path <- ggm_lasso(S = cor(mtcars), n_lambda = 4)
  expect_identical(ggm_bounds(path)$lambda, path$lambda)
  expect_identical(ggm_bounds(path, 2), ggm_bounds(ggm_at(path, 2)))
  expect_named(ggm_bounds(path), c("lambda", "log_lower", "upper", "solution_lower", "solution_upper"))
  none <- ggm_bounds(ggm_lasso(S = cor(mtcars), lambda = 0))
  expect_identical(c(none$log_lower, none$upper, none$solution_upper), c(-Inf, Inf, NA))
  zero <- ggm_bounds(suppressWarnings(ggm_lasso(S = diag(c(0, 1)), lambda = 0.1)))
  expect_identical(zero$upper, Inf)
  point <- ggm_bounds(ggm_lasso(S = matrix(3), lambda = 0.1, penalize_diagonal = FALSE))
  expect_equal(c(point$log_lower, point$upper), c(-1 - log(3), 1 / 3), tolerance = 1e-5)  # a level set of one point
  expect_error(ggm_bounds(1), "`fit` must be a graphical lasso fit", class = "granary_error_input")
  expect_error(ggm_bounds(path, 5), "`which`", class = "granary_error_input")
})
