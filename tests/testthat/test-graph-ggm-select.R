chain_path <- function(n = 40, p = 8, ...) {
  sim <- sim_ggm("chain", p = p, n = n)
  ggm_lasso(sim$data, ...)
}

test_that("a default path whose best penalty is its last is extended, a user's is not", {
  set.seed(3)
  x <- matrix(rnorm(2000 * 6), 2000) %*% chol(toeplitz(0.7^(0:5)))
  path <- ggm_lasso(x, n_lambda = 5, lambda_min_ratio = 0.5)
  best <- ggm_select(path, "bic")
  expect_gt(best$extended, 0)
  expect_gt(nrow(best$table), 5)
  expect_equal(best$table$lambda[1:5], path$lambda)
  expect_equal(diff(log(best$table$lambda)), rep(diff(log(path$lambda))[1], nrow(best$table) - 1))
  expect_output(print(best), "extended by")
  own <- ggm_select(ggm_lasso(x, lambda = path$lambda), "bic")
  expect_identical(nrow(own$table), 5L)
  expect_output(print(own), "goes further down may do better")
})

test_that("what a selection knows goes to the chosen fit", {
  set.seed(4)
  sim <- sim_ggm("chain", p = 8, n = 100)
  best <- ggm_select(ggm_lasso(sim$data, n_lambda = 8), "cv", folds = 4)
  expect_identical(coef(best), coef(best$fit))
  other <- ggm_at(best$path, selection_row(best, "1se"))
  expect_identical(coef(best, rule = "1se"), coef(other))
  expect_identical(predict(best, sim$data[1:3, ], type = "loglik", rule = "1se"), predict(other, sim$data[1:3, ], type = "loglik"))
  expect_equal(assess(best, sim), assess(best$fit, sim))
  expect_identical(as.matrix(best), as.matrix(best$fit))
  expect_identical(residuals(best), residuals(best$fit))
  expect_identical(simulate(best, 2, seed = 1), simulate(best$fit, 2, seed = 1))
  expect_true(all(c("lambda", "estimate", "std.error", "conf.low", "selected") %in% names(tidy(best))))
})

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
    expect_equal(best$table$estimate, by_hand(gamma), tolerance = 1e-9)
    expect_identical(best$selected, which.min(by_hand(gamma)))
    expect_identical(best$fit$precision, path$precision[[best$selected]])
    expect_identical(best$fit$lambda, path$lambda[best$selected])
  }
  expect_equal(ggm_select(path, "bic")$table$estimate, by_hand(0), tolerance = 1e-9)
  expect_equal(ggm_select(path, "bic")$table$estimate, BIC(path) - p * log(n))
  expect_named(best$table, c("lambda", "edges", "estimate"))
  expect_identical(best$criterion, "ebic")
  expect_identical(as.list(best$call)[[1]], quote(ggm_select))
})

test_that("a heavier criterion keeps fewer edges, and a path from S does for information criteria", {
  set.seed(2)
  path <- chain_path(n = 100, p = 15)
  edges <- vapply(c(0, 0.5, 1), function(gamma) ggm_select(path, gamma = gamma)$fit$df, 0)
  expect_true(all(diff(edges) <= 0))
  from_s <- ggm_lasso(S = path$S, n = 100)
  expect_identical(ggm_select(from_s)$selected, ggm_select(path)$selected)
})

test_that("EBIC finds the chain when there is data enough", {
  found <- vapply(1:4, function(seed) {
    set.seed(seed)
    sim <- sim_ggm("chain", p = 20, n = 1000)
    score <- assess(ggm_select(ggm_lasso(sim$data, penalize_diagonal = FALSE), "ebic"), sim)
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
  table <- best$table
  expect_equal(table$estimate, rowMeans(score), tolerance = 1e-7)
  expect_equal(table$std.error, apply(score, 1, sd) / sqrt(3), tolerance = 1e-6)
  expect_identical(best$selected, which.max(rowMeans(score)))
  expect_identical(best$folds, folds)
  careful <- ggm_select(path, "cv", folds = folds, rule = "1se")$selected
  top <- which.max(table$estimate)
  expect_identical(careful, which(table$estimate >= table$estimate[top] - table$std.error[top])[1])
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
  expect_equal(ggm_select(path, "cv", folds = folds)$table$estimate[2], (first + second) / 2, tolerance = 1e-6)
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
  expect_equal(best$table$instability, instability, tolerance = 1e-12)
  expect_gt(max(instability), 0)
  expect_equal(best$table$estimate, cummax(instability), tolerance = 1e-12)
  expect_identical(best$selected, max(which(cummax(instability) <= 0.2)))
  expect_identical(best$subsample_size, 40)
  big <- sim_ggm("chain", p = 3, n = 400)
  expect_identical(ggm_select(ggm_lasso(big$data, lambda = c(9, 8)), "stars", n_rep = 2)$subsample_size, 200)
})

test_that("StARS says so when no penalty is stable, and returns the largest", {
  set.seed(7)
  x <- matrix(rnorm(20 * 8), 20)
  path <- ggm_lasso(x, lambda = c(0.12, 0.1))
  expect_warning(best <- ggm_select(path, "stars", beta = 1e-6), "less stable than `beta`", class = "granary_warning_input")
  expect_identical(best$selected, 1L)
})

test_that("the seed decides folds and subsets, nothing else does, and the stream moves on", {
  set.seed(8)
  path <- chain_path(n_lambda = 4)
  for (criterion in c("cv", "stars")) {
    set.seed(9)
    one <- ggm_select(path, criterion, n_rep = 5)$table
    after <- runif(1)
    set.seed(9)
    expect_identical(ggm_select(path, criterion, n_rep = 5)$table, one)
    expect_identical(runif(1), after)
    expect_false(identical(ggm_select(path, criterion, n_rep = 5)$table, one$table))
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
    expect_identical(best$selected, 1L)
    expect_identical(best$fit$precision, fit$precision)
    expect_identical(nrow(best$table), 1L)
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
    c(ggm_select(path, "ebic")$fit$df, ggm_select(path, "cv")$fit$df)
  }, c(0, 0))
  expect_gt(mean(edges[2, ] - edges[1, ]), 5)
})

test_that("a summary shows the chosen fit once, and a full graph is said to be one", {
  set.seed(3)
  best <- ggm_select(ggm_lasso(sim_ggm(p = 6, n = 60)$data))
  text <- capture.output(print(summary(best)))
  expect_length(grep("Strongest partial correlations", text), 1L)
  expect_match(text, "Chosen by rule", all = FALSE)
  full <- ggm_select(ggm_lasso(scale(iris[, 1:4])))
  expect_output(print(full), "an edge between every two variables")
})
