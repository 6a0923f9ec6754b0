chain_path <- function(n = 40, p = 8, ...) {
  sim <- sim_ggm("chain", p = p, n = n)
  ggm_lasso(sim$data, ...)
}

test_that("EBIC and BIC are their formulas", {
  set.seed(1)
  path <- chain_path(n_lambda = 6)
  n <- 40
  p <- 8
  S <- path$S
  by_hand <- function(gamma) {
    vapply(path$precision, function(X) {
      X <- as.matrix(X)
      edges <- sum(X[upper.tri(X)] != 0)
      loglik <- (n * log(det(X)) - (n - 1) * sum(diag(S %*% X)) - n * p * log(2 * pi)) / 2
      -2 * loglik + edges * log(n) + 4 * gamma * edges * log(p)
    }, 0)
  }
  for (gamma in c(0, 0.5, 1)) {
    best <- ggm_select(path, "ebic", gamma = gamma)
    expect_equal(best$selection$table$value, by_hand(gamma), tolerance = 1e-9)
    expect_identical(best$selection$which, which.min(by_hand(gamma)))
    expect_identical(best$precision, path$precision[[best$selection$which]])
    expect_identical(best$lambda, path$lambda[best$selection$which])
  }
  expect_equal(ggm_select(path, "bic")$selection$table$value, by_hand(0), tolerance = 1e-9)
  expect_equal(ggm_select(path, "bic")$selection$table$value, BIC(path) - p * log(n))
  expect_named(best$selection$table, c("lambda", "edges", "value"))
  expect_identical(best$selection$criterion, "ebic")
  expect_identical(as.list(best$call)[[1]], quote(ggm_select))
})

test_that("a heavier criterion keeps fewer edges, and a path from S does for information criteria", {
  set.seed(2)
  path <- chain_path(n = 100, p = 15)
  edges <- vapply(c(0, 0.5, 1), function(gamma) ggm_select(path, gamma = gamma)$df, 0)
  expect_true(all(diff(edges) <= 0))
  from_s <- ggm_lasso(S = path$S, n = 100)
  expect_identical(ggm_select(from_s)$selection$which, ggm_select(path)$selection$which)
})

test_that("EBIC finds the chain when there is data enough", {
  found <- vapply(1:4, function(seed) {
    set.seed(seed)
    sim <- sim_ggm("chain", p = 20, n = 1000)
    score <- ggm_score(sim, ggm_select(ggm_lasso(sim$data, penalize_diagonal = FALSE), "ebic"))
    c(score$tpr, score$fpr)
  }, c(0, 0))
  expect_identical(found[1, ], rep(1, 4))
  expect_lt(mean(found[2, ]), 0.12)
})

test_that("the cross-validation score is the held-out likelihood, on the folds given", {
  set.seed(3)
  path <- chain_path(n = 31, p = 5, lambda = c(0.5, 0.2, 0.05), tol = 1e-10)
  x <- path$x
  folds <- rep_len(c(3, 1, 2), 31)
  best <- ggm_select(path, "cv", folds = folds)
  score <- vapply(1:3, function(k) {
    train <- x[folds != k, ]
    held_out <- sweep(x[folds == k, ], 2, colMeans(train))
    vapply(path$lambda, function(l) {
      X <- as.matrix(ggm_lasso(S = cov(train), lambda = l, tol = 1e-10))
      log(det(X)) - sum(X * crossprod(held_out)) / nrow(held_out)
    }, 0)
  }, numeric(3))
  table <- best$selection$table
  expect_equal(table$value, rowMeans(score), tolerance = 1e-7)
  expect_equal(table$se, apply(score, 1, sd) / sqrt(3), tolerance = 1e-6)
  expect_identical(best$selection$which, which.max(rowMeans(score)))
  expect_identical(best$selection$folds, folds)
  careful <- ggm_select(path, "cv", folds = folds, rule = "1se")$selection$which
  top <- which.max(table$value)
  expect_identical(careful, which(table$value >= table$value[top] - table$se[top])[1])
})

test_that("cross-validation refits with the settings of the fit", {
  set.seed(4)
  x <- matrix(rnorm(120), 30)
  weights <- c(1, 2, 0.5, 1)
  folds <- rep(1:2, 15)
  path <- ggm_lasso(x, lambda = c(0.3, 0.1), weights = weights, penalize_diagonal = FALSE, tol = 1e-9)
  train <- x[folds == 2, ]
  X <- as.matrix(ggm_lasso(train, lambda = 0.1, weights = weights, penalize_diagonal = FALSE, tol = 1e-9))
  out <- sweep(x[folds == 1, ], 2, colMeans(train))
  first <- log(det(X)) - sum(X * crossprod(out)) / 15
  train <- x[folds == 1, ]
  X <- as.matrix(ggm_lasso(train, lambda = 0.1, weights = weights, penalize_diagonal = FALSE, tol = 1e-9))
  out <- sweep(x[folds == 2, ], 2, colMeans(train))
  second <- log(det(X)) - sum(X * crossprod(out)) / 15
  expect_equal(ggm_select(path, "cv", folds = folds)$selection$table$value[2], (first + second) / 2, tolerance = 1e-6)
})

test_that("StARS instability is what its definition says", {
  set.seed(5)
  path <- chain_path(n = 50, p = 6, lambda = c(0.6, 0.3, 0.1), tol = 1e-8)
  set.seed(6)
  best <- ggm_select(path, "stars", n_rep = 7, beta = 0.2)
  # the same subsets: one seed per task is drawn from the session's stream
  set.seed(6)
  seeds <- sample.int(.Machine$integer.max, 7)
  adjacency <- lapply(seeds, function(seed) {
    set.seed(seed)
    rows <- sort(sample.int(50, 40))
    lapply(path$lambda, function(l) as.matrix(ggm_lasso(path$x[rows, ], lambda = l, tol = 1e-8)) != 0)
  })
  instability <- vapply(1:3, function(j) {
    theta <- Reduce(`+`, lapply(adjacency, `[[`, j)) / 7
    mean((2 * theta * (1 - theta))[upper.tri(theta)])
  }, 0)
  expect_equal(best$selection$table$instability, instability, tolerance = 1e-12)
  expect_gt(max(instability), 0)
  expect_equal(best$selection$table$value, cummax(instability), tolerance = 1e-12)
  expect_identical(best$selection$which, max(which(cummax(instability) <= 0.2)))
  expect_identical(best$selection$subsample_size, 40)
  big <- sim_ggm("chain", p = 3, n = 400)
  expect_identical(ggm_select(ggm_lasso(big$data, lambda = c(9, 8)), "stars", n_rep = 2)$selection$subsample_size, 200)
})

test_that("StARS says so when no penalty is stable, and returns the largest", {
  set.seed(7)
  x <- matrix(rnorm(20 * 8), 20)
  path <- ggm_lasso(x, lambda = c(0.12, 0.1))
  expect_warning(best <- ggm_select(path, "stars", beta = 1e-6), "less stable than `beta`", class = "granary_warning_input")
  expect_identical(best$selection$which, 1L)
})

test_that("the seed decides folds and subsets, nothing else does, and the stream moves on", {
  set.seed(8)
  path <- chain_path(n_lambda = 4)
  for (criterion in c("cv", "stars")) {
    set.seed(9)
    one <- ggm_select(path, criterion, n_rep = 5)$selection
    after <- runif(1)
    set.seed(9)
    expect_identical(ggm_select(path, criterion, n_rep = 5)$selection, one)
    expect_identical(runif(1), after)
    expect_false(identical(ggm_select(path, criterion, n_rep = 5)$selection$table, one$table))
  }
})

test_that("refits that stop early are counted", {
  set.seed(12)
  path <- suppressWarnings(chain_path(n_lambda = 3, max_iter = 1, tol = 1e-12))
  expect_warning(ggm_select(path, "cv", folds = 4), "stopped early in 4 of 4 refits", class = "granary_warning_convergence")
})

test_that("a single penalty can be scored, though there is nothing to choose", {
  set.seed(10)
  fit <- chain_path(lambda = 0.2)
  for (criterion in c("ebic", "bic", "cv", "stars")) {
    best <- suppressWarnings(ggm_select(fit, criterion, n_rep = 3))
    expect_identical(best$selection$which, 1L)
    expect_identical(best$precision, fit$precision)
    expect_identical(nrow(best$selection$table), 1L)
  }
})

test_that("what cannot be selected is named", {
  set.seed(11)
  path <- chain_path(n = 10, p = 3, n_lambda = 3)
  bad <- function(call, message) expect_error(call, message, class = "granary_error_input")
  bad(ggm_select(1), "`fit` must be a Gaussian graph fit")
  bad(ggm_select(path, "aic"), "`criterion`")
  bad(ggm_select(path, gamma = 2), "`gamma`")
  bad(ggm_select(path, "cv", folds = 1), "`folds`")
  bad(ggm_select(path, "cv", folds = 11), "`folds`")
  bad(ggm_select(path, "cv", folds = rep(1, 10)), "at least two folds")
  bad(ggm_select(path, "cv", folds = 1:3), "`folds` must be a numeric vector of length 10")
  bad(ggm_select(path, "cv", folds = c(1, rep(2, 9))), "leave at least two rows")
  bad(ggm_select(path, "cv", rule = "2se"), "`rule`")
  bad(ggm_select(path, "stars", n_rep = 1), "`n_rep`")
  bad(ggm_select(path, "stars", beta = 0), "`beta`")
  bad(ggm_select(ggm_lasso(S = diag(3), lambda = 0.1)), "number of observations is not known")
  bad(ggm_select(ggm_lasso(S = diag(3), n = 9, lambda = 0.1), "cv"), "fit from `x`")
  bad(ggm_select(ggm_lasso(S = diag(3), n = 9, lambda = 0.1), "stars"), "fit from `x`")
  bad(ggm_select(ggm_lasso(matrix(c(1, 2, 2, 1), 2), lambda = 0.1), "stars"), "at least two rows")
})

test_that("cross-validation keeps more edges than EBIC, on average", {
  extended()
  edges <- vapply(1:10, function(seed) {
    set.seed(seed)
    path <- chain_path(n = 200, p = 30)
    c(ggm_select(path, "ebic")$df, ggm_select(path, "cv")$df)
  }, c(0, 0))
  expect_gt(mean(edges[2, ] - edges[1, ]), 5)
})
