test_that("separate and pooled baselines are graphical lassos", {
  set.seed(1)
  data <- sim_ggm_multi(tasks = 3, p = 8, n = c(30, 40, 50), density = 0.2)$data
  alone <- ggm_multi_baseline(data, method = "separate", lambda = c(6, 3), tol = 1e-9)
  pooled <- ggm_multi_baseline(data, method = "pooled", lambda = 6, tol = 1e-9)
  n <- c(30, 40, 50)
  for (k in 1:3) {
    own <- ggm_lasso(S = cov(data[[k]]), lambda = 3 / n[k], penalize_diagonal = FALSE, tol = 1e-9)
    expect_equal(as.matrix(alone, which = 2, task = k), as.matrix(own), tolerance = 1e-6, ignore_attr = TRUE)
  }
  S <- Reduce(`+`, Map(function(x, t) t * cov(x), data, n / 120))
  expect_equal(as.matrix(pooled, task = 2), as.matrix(ggm_lasso(S = S, lambda = 6 / 120, penalize_diagonal = FALSE, tol = 1e-9)), tolerance = 1e-6)
  expect_identical(as.matrix(pooled, task = 1), as.matrix(pooled, task = 3))
  ridge <- ggm_multi_baseline(data, method = "ridge", lambda = 5)
  expect_equal(as.matrix(ridge, task = 2), solve(cov(data[[2]]) + diag(5 / 40, 8)), ignore_attr = TRUE)
  expect_error(ggm_multi_baseline(data, method = "ridge", lambda = 0), "greater than 0", class = "granary_error_input")
})

test_that("reweighted ridge approaches ggm_multi(), and says how far it is", {
  set.seed(2)
  data <- sim_ggm_multi(tasks = 3, p = 8, n = 40, density = 0.2)$data
  exact <- ggm_multi(data, lambda = 8, tol = 1e-10)
  irls <- ggm_multi_baseline(data, method = "irls", lambda = 8, tol = 1e-8, max_iter = 1000)
  expect_gte(irls$objective, exact$objective - 1e-7)
  expect_lt(irls$objective - exact$objective, 1e-2)
  expect_gte(irls$gap, irls$objective - exact$objective - 1e-6)
  expect_warning(ggm_multi_baseline(data, method = "irls", lambda = 8, max_iter = 2), "NOT converged", class = "granary_warning_convergence")
})

test_that("the hierarchical penalty is stationary and its path starts empty", {
  set.seed(3)
  data <- sim_ggm_multi(tasks = 2, p = 6, n = 50, density = 0.3)$data
  path <- ggm_multi_baseline(data, method = "hierarchical", n_lambda = 5, lambda_min_ratio = 0.01, tol = 1e-9, max_iter = 200)
  expect_equal(path$df[1], 0)
  expect_true(all(is.na(path$gap)) && !any(is.nan(path$gap)))
  one <- ggm_at(path, 5)
  expect_gt(one$df, 0)
  for (i in 1:5) for (j in (i + 1):6) {
    x <- vapply(one$precision, function(m) m[i, j], 0)
    if (all(x == 0)) next
    force <- mapply(function(m, s, t) t * (solve(as.matrix(m)) - s)[i, j], one$precision, one$S, one$weights)
    bound <- one$lambda / (2 * sqrt(sum(abs(x))))
    expect_lt(max(abs(force - sign(x) * bound)[x != 0]), 1e-2 * bound)
    expect_lte(max(abs(force)), bound * 1.01)
  }
})

test_that("baselines have the methods of ggm_multi() and can be selected and compared", {
  set.seed(4)
  sim <- sim_ggm_multi(tasks = 3, p = 8, n = 60, density = 0.2)
  for (method in c("separate", "pooled", "ridge", "irls", "hierarchical")) {
    path <- suppressWarnings(ggm_multi_baseline(sim$data, method = method, n_lambda = 3), classes = "granary_warning_convergence")
    expect_s3_class(path, c("granary_ggm_multi_baseline", "granary_ggm_multi", "granary_ggm", "granary_fit"), exact = TRUE)
    expect_output(print(path), "3 tasks, 8 variables")
    expect_output(print(summary(path)), "Objective")
    expect_equal(nrow(ggm_score(sim, path)), 3L)
    set.seed(5)
    best <- suppressWarnings(ggm_select(path, "cv", folds = 2), classes = "granary_warning_convergence")
    expect_length(best$scores, 3L)
    expect_s3_class(ggm_select(path, "ebic")$fit, "granary_ggm_multi")
  }
  expect_equal(nrow(ggm_multi_compare(best, best)), 3L)
  expect_identical(ggm_multi_baseline(sim$data, method = "hierarchical", lambda = 5, threads = 2)$precision,
                   ggm_multi_baseline(sim$data, method = "hierarchical", lambda = 5, threads = 1)$precision)
  expect_error(ggm_multi_baseline(sim$data, method = "other"), "`type`", class = "granary_error_input")
  expect_error(ggm_multi_baseline(sim$data, lambda = -1), "`lambda`", class = "granary_error_input")
})

test_that("ggm_baseline() takes several tasks", {
  set.seed(6)
  data <- sim_ggm("tasks", tasks = 2, p = 6, n = 40)$data
  expect_identical(ggm_baseline(data, type = "pooled", lambda = 5)$precision, ggm_multi_baseline(data, method = "pooled", lambda = 5)$precision)
  expect_s3_class(ggm_baseline(scale(iris[1:4]), groups = iris$Species, lambda = 5), "granary_ggm_multi_baseline")
  expect_error(ggm_baseline(data, type = "independent"), "`type`", class = "granary_error_input")
  expect_error(ggm_baseline(data[[1]], type = "pooled"), "`type`", class = "granary_error_input")
})

test_that("anova() compares two selections of several tasks, and two fits on new rows", {
  set.seed(7)
  data <- sim_ggm("tasks", tasks = 2, p = 6, n = 40)$data
  a <- suppressWarnings(ggm_select(ggm_multi(data, n_lambda = 4), "cv", folds = 2))
  b <- suppressWarnings(ggm_select(ggm_baseline(data, type = "separate", n_lambda = 4), "cv", folds = 2))
  expect_named(anova(a, b), c("task", "first", "second", "z", "p.value"))
  x <- data[[1]]
  one <- ggm_lasso(x[1:20, ], lambda = 0.2)
  out <- anova(one, ggm_baseline(x[1:20, ]), newdata = x[21:40, ])
  expect_equal(out$statistic, 2 * diff(rev(out$table$loglik)))
  expect_error(anova(one), "one other fit", class = "granary_error_input")
  expect_error(anova(one, ggm_baseline(x[1:20, ])), "newdata", class = "granary_error_input")
})
