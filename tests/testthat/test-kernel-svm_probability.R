test_that("Platt's sigmoid maximises the likelihood of the regularised targets", {
  set.seed(1)
  score <- rnorm(200)
  label <- ifelse(runif(200) < plogis(2 * score - 0.5), 1, -1)
  weight <- rep(1, 200)
  found <- granary:::core_svm_platt(score, label, weight)
  positive <- sum(label > 0)
  target <- ifelse(label > 0, (positive + 1) / (positive + 2), 1 / (200 - positive + 2))
  by_glm <- suppressWarnings(glm(target ~ score, family = binomial()))
  expect_equal(-found$slope, coef(by_glm)[["score"]], tolerance = 1e-5)
  expect_equal(-found$intercept, coef(by_glm)[[1]], tolerance = 1e-5)
  expect_true(found$convergence$converged)
  tiny <- granary:::core_svm_platt(score * 1e-8, label, weight)
  expect_equal(tiny$slope * 1e-8, found$slope, tolerance = 1e-5)
  apart <- granary:::core_svm_platt(c(-2, -1, 1, 2), c(-1, -1, 1, 1), rep(1, 4))  # separable: the targets keep it finite
  expect_true(is.finite(apart$slope) && apart$slope < 0)
})

test_that("isotonic regression is that of isoreg(), with ties pooled", {
  set.seed(2)
  score <- rnorm(100)
  label <- ifelse(runif(100) < plogis(score), 1, -1)
  steps <- granary:::core_svm_isotonic(score, label, rep(1, 100))
  exact <- isoreg(score, label > 0)
  ours <- approx(steps$at, steps$value, sort(score), ties = "ordered")$y
  expect_equal(ours, exact$yf, tolerance = 1e-12)
  tied <- granary:::core_svm_isotonic(c(0, 0, 0, 1), c(1, -1, -1, 1), rep(1, 4))
  expect_equal(tied, list(at = c(0, 1), value = c(1 / 3, 1)))
  weighted <- granary:::core_svm_isotonic(c(0, 1), c(1, -1), c(3, 1))
  expect_equal(weighted$value, c(0.75, 0.75))
})

test_that("coupling gives back probabilities that the pairs come from, and minimises the paper's sum", {
  p <- c(0.5, 0.2, 0.2, 0.1)
  pairs <- combn(4, 2)
  r <- apply(pairs, 2, function(ab) p[ab[2]] / sum(p[ab]))
  expect_equal(drop(granary:::core_svm_couple(matrix(r, 1), 4L)), p, tolerance = 1e-10)
  set.seed(3)
  r <- runif(6)
  found <- drop(granary:::core_svm_couple(matrix(r, 1), 4L))
  loss <- function(q) sum(mapply(function(a, b, later) (later * q[a] - (1 - later) * q[b])^2, pairs[1, ], pairs[2, ], r))
  others <- replicate(200, loss(local({ q <- found * exp(0.05 * rnorm(4)); q / sum(q) })))
  expect_true(all(others >= loss(found) - 1e-12))
  expect_equal(sum(found), 1)
})

test_that("probabilities of a fit: they sum to one, follow the decision, are calibrated and reproducible on any threads", {
  set.seed(4)
  n <- 600
  x <- matrix(rnorm(2 * n), n)
  chance <- plogis(2 * x[, 1])
  y <- factor(ifelse(runif(n) < chance, "b", "a"))
  for (method in c("platt", "isotonic")) {
    set.seed(5)
    one <- svm(x, y, probability = method, threads = 1)
    set.seed(5)
    two <- svm(x, y, probability = method, threads = 2)
    expect_identical(one$calibration[[1]]$scores, two$calibration[[1]]$scores)
    expect_identical(predict(one, x, type = "prob", threads = 1), predict(two, x, type = "prob", threads = 2))
    p <- predict(one, x, type = "prob")
    expect_identical(colnames(p), c("a", "b"))
    expect_equal(rowSums(p), rep(1, n))
    expect_lt(mean(abs(p[, "b"] - chance)), 0.08)
    expect_true(all(diff(p[order(predict(one, x, type = "link")), "b"]) >= -1e-12))
  }
  for (multiclass in c("one_vs_one", "one_vs_rest")) {
    fit <- svm(Species ~ ., iris, probability = "platt", multiclass = multiclass)
    p <- predict(fit, iris, type = "prob")
    expect_equal(unname(rowSums(p)), rep(1, 150))
    expect_gt(mean(levels(iris$Species)[max.col(p)] == iris$Species), 0.95)
  }
  nu <- svm(x, y, "nu_classification", nu = 0.4, probability = "platt")
  expect_true(all(is.finite(predict(nu, x, type = "prob"))))
})
