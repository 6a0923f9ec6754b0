truth <- matrix(c(2, 0.5, 0, 0, 0.5, 2, -0.4, 0, 0, -0.4, 2, 0, 0, 0, 0, 1), 4)

test_that("rates are counted over pairs, with entries of either sign as edges", {
  estimate <- diag(4)
  estimate[1, 2] <- estimate[2, 1] <- -0.1  # true
  estimate[1, 4] <- estimate[4, 1] <- 0.2   # false
  score <- ggm_score(truth, estimate)
  expect_identical(unlist(score[c("edges", "tp", "fp")], use.names = FALSE), c(2L, 1L, 1L))
  expect_equal(unlist(score[c("tpr", "fpr", "precision", "f1")], use.names = FALSE), c(1 / 2, 1 / 4, 1 / 2, 1 / 2))
  found <- c(1, 0, 0, 1, 0, 0)  # the six pairs; Matthews correlation is Pearson's of the indicators
  true <- c(1, 1, 0, 0, 0, 0)
  expect_equal(score$mcc, cor(found, true))
  expect_identical(score$lambda, NA_real_)
})

test_that("KL and Frobenius errors are those of the normal distributions", {
  set.seed(1)
  estimate <- truth + diag(c(0.3, -0.2, 0.1, 0.5))
  score <- ggm_score(truth, estimate)
  product <- estimate %*% solve(truth)
  expect_equal(score$kl, (sum(diag(product)) - log(det(product)) - 4) / 2, tolerance = 1e-12)
  expect_equal(score$frobenius, sqrt(sum((estimate - truth)^2) / sum(truth^2)))
  expect_equal(ggm_score(truth, truth)$kl, 0, tolerance = 1e-14)
  # against its definition as an expectation under the truth
  x <- matrix(rnorm(4 * 2e5), ncol = 4) %*% chol(solve(truth))
  log_density <- function(X) (log(det(X)) - rowSums((x %*% X) * x)) / 2
  ratio <- log_density(truth) - log_density(estimate)
  expect_lt(abs(mean(ratio) - score$kl), 5 * sd(ratio) / sqrt(2e5))
})

test_that("a path is scored per penalty, with the area under its curve", {
  set.seed(2)
  sim <- sim_ggm("hub", p = 20, n = 200, groups = 2)
  path <- ggm_lasso(sim$data, n_lambda = 8)
  scores <- ggm_score(sim, path)
  expect_s3_class(scores, c("granary_ggm_score", "data.frame"), exact = TRUE)
  expect_identical(scores$lambda, path$lambda)
  expect_equal(scores$edges, path$df)
  for (k in c(2, 8)) expect_equal(scores[k, -1], ggm_score(sim$precision, path$precision[[k]])[, -1], ignore_attr = TRUE)
  expect_equal(scores[3, ], ggm_score(sim, ggm_at(path, 3)), ignore_attr = TRUE)
  auc <- attr(scores, "auc")
  order <- order(scores$fpr, scores$tpr)
  area <- approx(c(0, scores$fpr[order], 1), c(0, scores$tpr[order], 1), seq(0, 1, length.out = 1e5), ties = "ordered")
  expect_equal(auc, mean(area$y), tolerance = 1e-3)
  expect_gt(auc, 0.8)
  expect_output(print(scores), "Area under the ROC curve")
  pdf(NULL)
  on.exit(dev.off())
  expect_identical(plot(scores, main = "a title", xlab = "mine"), scores)
})

test_that("an adjacency matrix has edge scores only", {
  adjacency <- (truth != 0) - diag(4)
  score <- ggm_score(adjacency, truth)
  expect_equal(c(score$tpr, score$fpr, score$f1, score$mcc), c(1, 0, 1, 1), tolerance = 1e-14)
  expect_identical(c(score$kl, score$frobenius), c(NA_real_, NA_real_))
  expect_identical(ggm_score(Matrix::Matrix(adjacency, sparse = TRUE), truth)$tpr, 1)
})

test_that("rates without a denominator are missing, not NaN", {
  score <- ggm_score(2 * diag(3), diag(3))
  expect_true(is.na(score$tpr) && !is.nan(score$tpr))
  expect_identical(c(score$fpr, score$edges), c(0, 0))
  expect_true(is.na(score$precision) && is.na(score$f1) && is.na(score$mcc))
  not_pd <- matrix(c(1, 2, 2, 1), 2)
  expect_true(is.na(ggm_score(diag(2) * 2, not_pd)$kl))
})

test_that("what cannot be scored is named", {
  expect_error(ggm_score(truth, diag(3)), "`truth` has 4 variables and `fit` has 3", class = "granary_error_input")
  expect_error(ggm_score(matrix(1:4, 2), diag(2)), "`truth` must be symmetric", class = "granary_error_input")
  expect_error(ggm_score(truth, "a"), "`fit`", class = "granary_error_input")
  expect_error(ggm_score(truth, matrix(NA_real_, 4, 4)), "`fit` must have no missing", class = "granary_error_input")
})
