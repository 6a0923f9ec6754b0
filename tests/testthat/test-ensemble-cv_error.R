data_set <- function(n = 40, p = 2, seed = 1) {
  set.seed(seed)
  x <- matrix(rnorm(n * p), n, dimnames = list(NULL, paste0("v", seq_len(p))))
  list(x = x, y = drop(x %*% seq_len(p)) + rnorm(n))
}

test_that("errors of least squares and ridge regression are those of fits to the training rows", {
  d <- data_set()
  set.seed(2)
  folds <- cv_folds(40, scheme = "random", n_rep = 6)
  fit <- cv_error(d$x, d$y, folds = folds)
  by_hand <- vapply(folds$test, function(t) {
    b <- lm.fit(cbind(1, d$x[-t, ]), d$y[-t])$coefficients
    mean((d$y[t] - cbind(1, d$x[t, ]) %*% b)^2)
  }, 0)
  expect_equal(fit$split_mean, by_hand, tolerance = 1e-10)
  expect_equal(fit$estimate, mean(by_hand), tolerance = 1e-10)
  mean_fit <- cv_error(d$x, d$y, "mean", folds = folds)
  expect_equal(mean_fit$split_mean, vapply(folds$test, function(t) mean((d$y[t] - mean(d$y[-t]))^2), 0), tolerance = 1e-10)
  wide <- matrix(rnorm(20 * 30), 20)
  yw <- rnorm(20)
  parts <- cv_folds(20, folds = 4)
  ridge <- cv_error(wide, yw, cv_learner("ridge", lambda = 3), folds = parts)
  by_hand <- vapply(parts$test, function(t) {
    z <- cbind(1, wide[-t, ])
    b <- solve(crossprod(z) + diag(c(0, rep(3, 30))), crossprod(z, yw[-t]))
    mean((yw[t] - cbind(1, wide[t, ]) %*% b)^2)
  }, 0)
  expect_equal(ridge$split_mean, by_hand, tolerance = 1e-8)
})

test_that("the exact variance is that of new responses with the splits as they are", {
  d <- data_set(30)
  set.seed(3)
  folds <- cv_folds(30, scheme = "random", n_rep = 5)
  fit <- cv_error(d$x, d$y, folds = folds, kurtosis = 0)
  truth <- 2 * fit$details$trace_square  # errors of variance 1
  draws <- replicate(300, cv_error(d$x, rnorm(30), folds = folds, kurtosis = 0)$estimate)
  expect_lt(abs(var(draws) / truth - 1), 0.35)
  expect_lt(abs(mean(draws) - fit$details$trace), 4 * sd(draws) / sqrt(300))
  expect_equal(fit$std.error^2, truth * fit$details$noise_var^2, tolerance = 1e-12)
})

test_that("the mean is least squares with a constant, and LOO is PRESS", {
  d <- data_set(25)
  folds <- cv_folds(25, scheme = "loo")
  fit <- cv_error(d$x, d$y, folds = folds)
  model <- lm(d$y ~ d$x)
  expect_equal(fit$estimate, mean((residuals(model) / (1 - hatvalues(model)))^2), tolerance = 1e-10)
  expect_equal(unname(fitted(fit)), unname(d$y - residuals(model) / (1 - hatvalues(model))), tolerance = 1e-10)
  expect_equal(unname(residuals(fit)), d$y - fitted(fit))
})

test_that("a shift of y does nothing, and a scale goes to the fourth power", {
  d <- data_set()
  folds <- cv_folds(40, folds = 5)
  base <- cv_error(d$x, d$y, folds = folds)
  expect_equal(cv_error(d$x, d$y + 100, folds = folds)$variance$variance, base$variance$variance, tolerance = 1e-6)
  for (s in c(1e-8, 1e8)) {
    scaled <- cv_error(d$x * s, d$y * s, folds = folds)
    expect_equal(scaled$variance$variance / s^4, base$variance$variance, tolerance = 1e-6)
  }
})

test_that("Nadeau-Bengio and the naive variance are their formulas", {
  means <- c(0.81, 0.79, 0.84, 0.80, 0.77)
  table <- cv_variance(means, c("nadeau_bengio", "naive"), n1 = 90, n2 = 30)
  expect_equal(table$variance, c(0.2 + 1 / 3, 0.2) * var(means))
  expect_equal(table$df, c(4, 4))
  expect_equal(cv_variance(means, rho = 0.25)$variance, (0.2 + 1 / 3) * var(means))
  expect_identical(cv_variance(rep(0.5, 4), n1 = 3, n2 = 1)$variance, 0)
})

test_that("the moment approximation for the mean is Theorem 3.1, for squared and absolute errors", {
  set.seed(4)
  y <- rnorm(50, 3)
  x <- matrix(rnorm(50), 50)
  folds <- cv_folds(50, scheme = "random", n_rep = 15, test = 0.2)
  fit <- cv_error(x, y, "mean", folds = folds)
  v <- var((y - mean(y))^2)
  s4 <- var(y)^2
  by_hand <- (v / 10 + 4 * s4 / (40 * 10)) / 15 + 14 / 15 * (0.98 * (-s4 / 1600) + (4 * s4 / 50 - s4 / 1600 + v) / 50)
  # E L'^2 = 4 mean (y - ybar)^2 has divisor n, var(y) has n - 1
  expect_equal(cv_variance(fit, "moment")$variance, by_hand, tolerance = 2e-3)
  own <- cv_error(x, y, "mean", loss = function(y, m) (y - m)^2, folds = folds)
  expect_equal(cv_variance(own, "moment")$variance, cv_variance(fit, "moment")$variance, tolerance = 1e-5)
  absolute <- cv_error(x, y, "mean", "absolute", folds = folds)
  expect_identical(absolute$method, "moment")
  expect_gt(absolute$std.error, 0)
  kfold <- cv_error(x, y, "mean", folds = 5)
  expect_equal(cv_variance(kfold, "moment")$variance, v / 50 + 3 * 5 * s4 / (4 * 2500), tolerance = 2e-3)
})

test_that("for two classes the paper's rule and its smooth loss", {
  set.seed(5)
  g <- rbinom(200, 1, 0.4)
  x <- rnorm(200, 1 + 2 * g)
  y <- factor(g)
  folds <- cv_folds(200, scheme = "random", n_rep = 15, test = 0.2)
  fit <- cv_error(cbind(x), y, "mean", "misclass", folds = folds)
  by_hand <- vapply(folds$test, function(t) mean(ifelse(mean(x[-t]) > x[t], 0, 1) != g[t]), 0)
  expect_equal(fit$split_mean, by_hand)
  expect_identical(fit$method, "moment")
  expect_gt(fit$std.error, 0.01)
  expect_lt(fit$std.error, 0.06)
  expect_error(cv_error(cbind(x, x), y, "mean"), "rule", class = "granary_error_input")
})

test_that("the conservative variance is larger where training sets are much smaller", {
  d <- data_set(60)
  set.seed(6)
  fit <- cv_error(d$x, d$y, scheme = "random", test = 0.2)
  table <- cv_variance(fit, c("exact", "conservative"), n_rep = 20)
  expect_gt(table$variance[2], table$variance[1])
  expect_error(cv_variance(cv_error(d$x, d$y, scheme = "random", test = 0.49), "conservative"), "smaller test sets",
               class = "granary_error_input")
})

test_that("any learner: two functions, methods of granary, a grid", {
  d <- data_set()
  set.seed(7)
  folds <- cv_folds(40, folds = 4)
  functions <- cv_learner(function(x, y) lm.fit(cbind(1, x), y)$coefficients, predict = function(fit, newdata) cbind(1, newdata) %*% fit)
  expect_equal(cv_error(d$x, d$y, functions, folds = folds)$split_mean, cv_error(d$x, d$y, folds = folds)$split_mean)
  as_list <- list(fit = function(x, y) mean(y), predict = function(fit, newdata) rep(fit, nrow(newdata)))
  expect_equal(cv_error(d$x, d$y, as_list, folds = folds)$estimate, cv_error(d$x, d$y, "mean", folds = folds)$estimate)
  grid <- cv_learner("ridge", grid = data.frame(lambda = c(1e-8, 1e6)), inner = 3)
  chosen <- cv_error(d$x, d$y, grid, folds = folds)
  expect_identical(chosen$chosen, rep(1L, 4))
  expect_equal(chosen$estimate, cv_error(d$x, d$y, folds = folds)$estimate, tolerance = 1e-5)
  forest <- cv_error(iris[1:4], iris$Species, cv_learner("forest", n_trees = 20), folds = 3)
  expect_lt(forest$estimate, 0.1)
  expect_identical(nrow(forest$prediction), 150L)
  expect_identical(forest$estimate, mean(forest$split_mean))
})

test_that("the result does not depend on the order of the work, and set.seed() gives it again", {
  run <- function() {
    set.seed(8)
    cv_error(iris[1:4], iris$Species, cv_learner("forest", n_trees = 5), folds = 3)
  }
  expect_identical(run()$prediction, run()$prediction)
  d <- data_set()
  folds <- cv_folds(40, scheme = "random", n_rep = 30)
  expect_identical(cv_error(d$x, d$y, folds = folds, threads = 1)$variance, cv_error(d$x, d$y, folds = folds, threads = 2)$variance)
})

test_that("losses of classes are those of their definitions", {
  set.seed(9)
  folds <- cv_folds(150, folds = 3, strata = iris$Species)
  run <- function(loss) {
    set.seed(1)
    cv_error(iris[1:4], iris$Species, cv_learner("forest", n_trees = 30), loss, folds)
  }
  table <- run("log_loss")$prediction
  prob <- as.matrix(table[paste0("prob.", levels(iris$Species))])
  own <- prob[cbind(1:150, as.integer(table$y))]
  expect_equal(table$loss, -log(pmax(own, .Machine$double.xmin)))
  hot <- outer(as.integer(table$y), 1:3, `==`)
  expect_equal(run("brier")$estimate, mean(rowSums((prob - hot)^2)))
  f <- vapply(split(table, table$split), function(t) {
    mean(vapply(levels(t$y), function(k) 2 * sum(t$y == k & t$prediction == k) / (sum(t$y == k) + sum(t$prediction == k)), 0))
  }, 0)
  expect_equal(run("f")$estimate, 1 - mean(f))
  expect_lt(run("auc")$estimate, 0.05)
  expect_equal(run(function(y, prob) mean(prob[, 1]))$estimate, mean(prob[, 1]))
})

test_that("the exact comparison has the variance of new responses; equal learners have no difference", {
  d <- data_set(30, 3)
  set.seed(10)
  folds <- cv_folds(30, scheme = "random", n_rep = 5)
  one <- cv_error(d$x, d$y, folds = folds, kurtosis = 0)
  two <- cv_error(d$x[, 1:2], d$y, folds = folds, kurtosis = 0)
  test <- cv_compare(two, one)
  expect_identical(test$method, "exact")
  m <- fitted(lm(d$y ~ d$x))
  s <- summary(lm(d$y ~ d$x))$sigma
  draws <- replicate(150, {
    y <- m + s * rnorm(30)
    cv_error(d$x[, 1:2], y, folds = folds, kurtosis = 0)$estimate - cv_error(d$x, y, folds = folds, kurtosis = 0)$estimate
  })
  expect_lt(abs(test$table$std.error[1] / sd(draws) - 1), 0.35)
  same <- cv_compare(one, one)
  expect_identical(same$estimate, 0)
  expect_identical(tidy(same)$p.value[tidy(same)$method == "corrected"], 1)
})

test_that("the corrected t test is its formula, with the Bayesian reading and the 5 x 2 test", {
  d <- data_set(40, 3)
  set.seed(11)
  folds <- cv_folds(40, folds = 2, n_rep = 5)
  a <- cv_error(d$x[, 1:2], d$y, cv_learner("forest", n_trees = 5), folds = folds)
  b <- cv_error(d$x, d$y, cv_learner("forest", n_trees = 5), folds = folds)
  test <- cv_compare(a, b, rope = 0.5)
  diff <- a$split_mean - b$split_mean
  se <- sqrt((0.1 + 1) * var(diff))
  row <- test$table[test$table$method == "corrected", ]
  expect_equal(row$std.error, se)
  expect_equal(row$p.value, 2 * pt(-abs(mean(diff)) / se, 9))
  expect_equal(row$conf.high, mean(diff) + qt(0.975, 9) * se)
  expect_equal(c(row$below, row$inside + row$below), pt((c(-0.5, 0.5) - mean(diff)) / se, 9))
  expect_equal(row$below + row$inside + row$above, 1)
  pairs <- matrix(diff, ncol = 2, byrow = TRUE)
  s2 <- (pairs[, 1] - rowMeans(pairs))^2 + (pairs[, 2] - rowMeans(pairs))^2
  five <- test$table[test$table$method == "five_by_two", ]
  expect_equal(five$statistic, pairs[1, 1] / sqrt(mean(s2)))
  expect_equal(five$df, 5)
  expect_lt(test$table$p.value[test$table$method == "naive"], row$p.value)
})

test_that("plans are the closed forms, and the oracles of the card", {
  plan <- tidy(cv_plan(100, n_rep = c(15, 50)))
  random <- plan[plan$scheme == "random", ]
  at <- function(n2, j) random$variance[random$test == n2 & random$n_rep == j]
  expect_equal(c(at(10, 15), at(20, 15), at(30, 15), at(40, 15), at(50, 15)), c(0.03292, 0.02618, 0.02400, 0.02297, 0.02244), tolerance = 5e-4)
  expect_equal(c(at(10, 50), at(20, 50), at(50, 50)), c(0.02433, 0.02235, 0.02145), tolerance = 5e-4)
  once <- tidy(cv_plan(100, n_rep = 1))
  once <- once[once$scheme == "kfold", ]
  expect_equal(once$variance[match(c(4, 5, 10, 100), once$folds)], c(0.021096, 0.020953, 0.020743, 0.020612), tolerance = 5e-5)
  expect_equal(tidy(cv_plan(100, sigma = 2))$variance, 16 * tidy(cv_plan(100))$variance)
  expect_true(all(plan$variance >= plan$limit - 1e-12))
  expect_equal(cv_bounds("mean", 20, 15)$pair[c(1, 3)], c(0.119766, 0.1122222), tolerance = 1e-4)
  overlap <- cv_bounds("overlap", 10, 7)
  expect_equal(sum(overlap$train * overlap$prob), 4.9)
  expect_equal(sum(overlap$test * overlap$prob), 0.9)
  expect_equal(overlap$prob, dhyper(overlap$train, 7, 3, 7))
  expect_message(cv_plan(20, folds = c(5, 50)), "50")
})

test_that("folds: sizes, strata, groups, one row out", {
  set.seed(12)
  folds <- cv_folds(103, folds = 10, n_rep = 3)
  expect_true(all(lengths(folds$test) %in% 10:11))
  for (r in 1:3) expect_identical(sort(unlist(folds$test[folds$table$rep == r])), 1:103)
  strata <- rep(c("a", "b"), c(80, 20))
  by_class <- cv_folds(100, folds = 5, strata = strata)
  expect_true(all(vapply(by_class$test, function(t) sum(strata[t] == "b"), 0) == 4))
  random <- cv_folds(100, scheme = "random", test = 0.2, n_rep = 4, strata = strata)
  expect_true(all(vapply(random$test, function(t) c(sum(strata[t] == "a"), sum(strata[t] == "b")), c(0, 0)) == c(16, 4)))
  group <- rep(1:25, 4)
  grouped <- cv_folds(100, folds = 5, group = group)
  for (t in grouped$test) expect_length(intersect(group[t], group[-t]), 0)
  expect_true(all(lengths(grouped$test) == 20))
  expect_length(cv_folds(100, scheme = "loo", group = group)$test, 25)
  numbers <- cv_folds(100, folds = 5, strata = 1:100)
  expect_true(all(vapply(numbers$test, function(t) max(abs(tabulate(ceiling(t / 25), 4) - 5)), 0) <= 1))
  given <- cv_folds(6, folds = c("x", "y", "x", "y", "z", "z"))
  expect_identical(lengths(given$test), c(2L, 2L, 2L))
})

test_that("bad splits are refused with a sentence", {
  expect_error(cv_folds(5, folds = 10), "`folds`.*at most 5", class = "granary_error_input")
  expect_error(cv_folds(1), "`n`", class = "granary_error_input")
  expect_error(cv_folds(10, folds = rep(1, 10)), "two folds", class = "granary_error_input")
  expect_error(cv_folds(10, folds = 1:3), "one label per row", class = "granary_error_input")
  expect_error(cv_folds(10, strata = 1:10, group = 1:10), "not both", class = "granary_error_input")
  expect_error(cv_folds(10, folds = 5, group = rep(1:2, 5)), "as many groups", class = "granary_error_input")
  expect_error(cv_folds(10, scheme = "loo", n_rep = 2), "n_rep", class = "granary_error_input")
  expect_error(cv_folds(10, group = c(NA, 1:9)), "missing", class = "granary_error_input")
  expect_warning(cv_folds(20, folds = 5, strata = rep(c("a", "b"), c(18, 2))), "without it", class = "granary_warning_input")
})

test_that("fewer rows than folds, a class absent in a fold, and other bad input name what is wrong", {
  d <- data_set(8)
  expect_error(cv_error(d$x, d$y, folds = 10), "`folds` must be a whole number at least 2 and at most 8", class = "granary_error_input")
  expect_error(cv_error(d$x, d$y, scheme = "random", test = 0.8), "split 1 do not determine", class = "granary_error_input")
  rare <- factor(c(rep("a", 39), "b"))
  x <- data_set(40)$x
  labels <- rep(1:4, 10)
  expect_error(cv_error(x, rare, "svm", folds = labels), "split 4.*no row of class \"b\"", class = "granary_error_input")
  thin <- factor(replace(rep("a", 40), 1:2, "b"))
  expect_error(cv_error(x, thin, "forest", "auc", folds = labels), "no value.*split 3", class = "granary_error_input")
  expect_error(cv_error(x, rep("a", 40), "forest"), "two classes", class = "granary_error_input")
  expect_error(cv_error(x, data_set(40)$y, loss = "misclass"), "for classes", class = "granary_error_input")
  expect_error(cv_error(x, rare, "lm"), "linear learner", class = "granary_error_input")
  expect_error(cv_error(x, c(NA, 1:39)), "missing", class = "granary_error_input")
  expect_error(cv_error(x, 1:39), "`y`", class = "granary_error_input")
  expect_error(cv_error(cbind(x, x), data_set(40)$y), "dependent", class = "granary_error_input")
  expect_error(cv_error(x, data_set(40)$y, "granny"), "learner", class = "granary_error_input")
  expect_error(cv_error(x, data_set(40)$y, cv_learner("ridge")), "lambda", class = "granary_error_input")
  expect_error(cv_error(x, data_set(40)$y, "forest", method = "exact"), "linear|learners", class = "granary_error_input")
  expect_error(cv_error(x, data_set(40)$y, nonsense = 1), "nonsense", class = "granary_error_input")
  expect_error(cv_error(cbind(replace(x[, 1], 3, Inf)), data_set(40)$y), "finite", class = "granary_error_input")
  bad <- cv_learner(function(x, y) 1, predict = function(fit, newdata) NA)
  expect_error(cv_error(x, data_set(40)$y, bad, folds = 4), "must predict", class = "granary_error_input")
  expect_error(cv_learner("forest", trees = 5), "no argument `trees`", class = "granary_error_input")
  expect_error(cv_learner(function(x, y) 1), "predict", class = "granary_error_input")
  expect_error(cv_variance(c(1, 2), "exact"), "cv_error", class = "granary_error_input")
  expect_error(cv_variance(c(1, 2)), "n1", class = "granary_error_input")
  expect_error(cv_variance(5), "at least 2", class = "granary_error_input")
})

test_that("comparisons need the same splits, response and loss", {
  d <- data_set()
  a <- cv_error(d$x, d$y, folds = 5)
  expect_error(cv_compare(a, cv_error(d$x, d$y, folds = 5)), "same splits", class = "granary_error_input")
  expect_error(cv_compare(a, cv_error(d$x, -d$y, folds = a$folds)), "same response", class = "granary_error_input")
  expect_error(cv_compare(a, cv_error(d$x, d$y, loss = "absolute", folds = a$folds)), "same loss", class = "granary_error_input")
  expect_error(cv_compare(a, 1), "`b`", class = "granary_error_input")
  expect_error(cv_compare(a, a, method = "five_by_two"), "folds = 2", class = "granary_error_input")
})

test_that("one split has an estimate and, for linear learners, a standard error", {
  d <- data_set()
  one <- cv_error(d$x, d$y, scheme = "random", n_rep = 1)
  expect_identical(one$method, "exact")
  forest <- cv_error(d$x, d$y, cv_learner("forest", n_trees = 5), scheme = "random", n_rep = 1)
  expect_identical(forest$method, "none")
  expect_true(is.na(forest$std.error))
  expect_output(print(forest), "Estimate")
})

test_that("heavy tails are told", {
  d <- data_set(200)
  y <- d$y
  y[7] <- 1000
  expect_warning(cv_error(d$x, y, folds = 5), "kurtosis", class = "granary_warning_input")
})

test_that("formulas, factors among the columns, methods and pictures", {
  set.seed(13)
  fit <- cv_error(mpg ~ wt + factor(cyl), mtcars, folds = 5)
  expect_output(print(fit), "Cross-validated squared error")
  expect_output(print(summary(fit)), "nadeau_bengio")
  expect_identical(nobs(fit), 32L)
  expect_identical(dim(confint(fit)), c(1L, 2L))
  expect_lt(confint(fit, level = 0.5)[2], confint(fit)[2])
  expect_identical(unname(coef(fit)), fit$estimate)
  expect_named(glance(fit), c("estimate", "std.error", "method", "loss", "splits", "n"))
  expect_identical(nrow(augment(fit)), 32L)
  frame <- data.frame(a = rep(c("u", "v"), 20), b = 1:40)
  expect_s3_class(cv_error(frame, rnorm(40), folds = 4), "granary_cv_error")
  pdf(NULL)
  on.exit(dev.off())
  plot(fit)
  plot(fit, "methods")
  plot(fit$folds)
  plot(cv_plan(30))
  other <- cv_error(mpg ~ wt, mtcars, folds = fit$folds)
  plot(cv_compare(fit, other, rope = 1))
  expect_output(print(cv_compare(fit, other)), "Posterior")
  expect_error(predict(fit), "keeps none", class = "granary_error_input")
})

test_that("learners of parsnip and mlr3 join", {
  skip_if_not_installed("parsnip")
  spec <- parsnip::linear_reg()
  set.seed(14)
  folds <- cv_folds(32, folds = 4)
  fit <- cv_error(mtcars[c("wt", "hp")], mtcars$mpg, spec, folds = folds)
  expect_equal(fit$estimate, cv_error(mtcars[c("wt", "hp")], mtcars$mpg, folds = folds)$estimate)
})
