test_that("every regression is a lasso solution, and the rules join them", {
  set.seed(1)
  S <- random_covariance(7, 30)
  dimnames(S) <- rep(list(letters[1:7]), 2)
  for (standardize in c(TRUE, FALSE)) {
    fits <- lapply(c(and = "and", or = "or"), function(rule) ggm_neighbors(S = S, n = 30, lambda = 0.15, rule = rule, standardize = standardize))
    B <- as.matrix(fits$and$coefficients)
    expect_equal(unname(diag(B)), numeric(7))
    for (j in 1:7) {
      g <- S[, j] - drop(S %*% B[, j])
      bound <- 0.15 * (if (standardize) sqrt(S[j, j] * diag(S)) else rep(1, 7))
      on <- B[, j] != 0
      expect_lt(max(0, abs(g - bound * sign(B[, j]))[on]), 1e-6)
      expect_true(all((abs(g) <= bound + 1e-6)[-j]))
    }
    edge <- function(fit) as.matrix(fit) != 0 & row(S) != col(S)
    expect_identical(unname(edge(fits$and)), unname(B != 0 & t(B) != 0))
    expect_identical(unname(edge(fits$or)), unname(B != 0 | t(B) != 0))
  }
})

test_that("the refit is the maximum likelihood estimate on the graph", {
  set.seed(2)
  S <- random_covariance(6, 40)
  fit <- ggm_neighbors(S = S, n = 40, lambda = 0.2, tol = 1e-9)
  expect_equal(fit$refit, 0)
  on <- as.matrix(fit) != 0
  expect_lt(max(abs((solve(as.matrix(fit)) - S)[on])), 1e-6)
  expect_equal(ggm_neighbors(S = random_covariance(12, 6), lambda = 0.3)$refit, 0.01)
})

test_that("huge finds the same neighbourhoods", {
  skip_if_not_installed("huge")
  set.seed(3)
  sim <- sim_ggm("chain", p = 15, n = 80)
  theirs <- huge::huge(sim$data, lambda = 0.3, method = "mb", sym = "and", verbose = FALSE)
  ours <- ggm_neighbors(sim$data, lambda = 0.3)
  expect_lte(sum(as.matrix(theirs$path[[1]]) != (as.matrix(ours) != 0 & row(ours$S) != col(ours$S))), 2)
})

test_that("paths start empty, recover a chain, and can be selected", {
  set.seed(4)
  sim <- sim_ggm("chain", p = 15, n = 300)
  path <- ggm_neighbors(sim$data, n_lambda = 8)
  expect_equal(path$df[1], 0)
  expect_gt(max(ggm_score(sim, path)$f1), 0.95)
  expect_s3_class(path, c("granary_ggm_neighbors", "granary_ggm", "granary_fit"), exact = TRUE)
  for (criterion in c("ebic", "cv", "stars")) {
    chosen <- suppressWarnings(ggm_select(path, criterion, folds = 3, n_rep = 4), classes = "granary_warning_input")
    expect_equal(dim(chosen$fit$coefficients), c(15L, 15L))
  }
  expect_identical(ggm_neighbors(sim$data, lambda = 0.2, threads = 2)$precision, ggm_neighbors(sim$data, lambda = 0.2, threads = 1)$precision)
  free <- ggm_baseline(sim$data, type = "scale_free", n_lambda = 4)
  expect_equal(free$df[1], 0)
  expect_true(all(diff(free$df) >= 0))
  expect_s3_class(ggm_select(free, "cv", folds = 2)$fit, "granary_ggm_scale_free")
})

test_that("constant columns, p > n and bad arguments", {
  set.seed(5)
  x <- matrix(rnorm(60), 6)
  expect_true(ggm_neighbors(x, lambda = 0.4)$convergence$converged)
  x[, 2] <- 1
  expect_warning(fit <- ggm_neighbors(x, lambda = 0.4), "Constant", class = "granary_warning_input")
  expect_equal(unname(fit$coefficients[, 2]), numeric(10))
  expect_error(suppressWarnings(ggm_neighbors(x, lambda = 0.4, refit = 0)), "`refit`", class = "granary_error_input")
  expect_error(suppressWarnings(ggm_baseline(x, type = "scale_free", lambda = 0.4)), "variance 0", class = "granary_error_input")
  expect_error(ggm_neighbors(S = diag(2), lambda = -1), "`lambda`", class = "granary_error_input")
  expect_error(ggm_neighbors(S = diag(2), rule = "xor"), "`rule`", class = "granary_error_input")
  expect_error(ggm_baseline(S = diag(2), type = "scale_free", max_iter = 0), "`max_iter`", class = "granary_error_input")
  expect_equal(ggm_neighbors(S = diag(3), n_lambda = 2)$df, c(0, 0))
  expect_equal(ggm_baseline(S = diag(3), type = "scale_free", n_lambda = 2)$df, c(0, 0))
})
