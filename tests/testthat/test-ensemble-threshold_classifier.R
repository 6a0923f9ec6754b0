test_that("known cut points are found, at the rate of the theory and with its interval", {
  covered <- 0
  for (seed in 1:40) {
    set.seed(seed)
    d <- sim_thresholds(1500, "line")
    ci <- confint(threshold_classifier(d$x, d$y))
    covered <- covered + (ci[1] < 0.5 && ci[2] > 0.5)
  }
  expect_gte(covered, 33)
  set.seed(1)
  d <- sim_thresholds(4000, "cosine")
  fit <- threshold_classifier(d$x, d$y, k = 3)
  expect_lt(max(abs(coef(fit) - d$truth)), 0.08)
  expect_identical(fit$labels, c("-1", "1", "-1", "1"))
  expect_identical(mean(predict(fit, d$x) != d$y), fit$risk)
})

test_that("the law of the cut is Chernoff's", {
  set.seed(2)
  cuts <- replicate(600, {
    d <- sim_thresholds(1000, "line")
    coef(threshold_classifier(d$x, d$y))
  })
  z <- 1000^(1 / 3) * (cuts - 0.5)
  expect_lt(abs(var(z) - 0.2636), 0.05)
  expect_lt(abs(mean(z < 0.845) - 0.95), 0.03)
})

test_that("subsampling and the jump have intervals of the right size, the bootstrap a warning", {
  set.seed(3)
  d <- sim_thresholds(2000, "line")
  fit <- threshold_classifier(d$x, d$y)
  plugin <- diff(drop(confint(fit)))
  sub <- diff(drop(confint(fit, method = "subsample")))
  expect_lt(abs(log(sub / plugin)), 0.7)
  expect_warning(confint(fit, method = "bootstrap", n_draws = 50), "inconsistent", class = "granary_warning_input")
  covered <- 0
  for (seed in 1:40) {
    set.seed(seed)
    d <- sim_thresholds(400, "step")
    ci <- suppressWarnings(confint(threshold_classifier(d$x, d$y), method = "jump"))
    covered <- covered + isTRUE(ci[1] <= 0.5 && ci[2] >= 0.5)
  }
  expect_gte(covered, 35)
  set.seed(1)
  one <- confint(fit, method = "subsample", n_draws = 50, threads = 1)
  set.seed(1)
  expect_identical(confint(fit, method = "subsample", n_draws = 50, threads = 2), one)
})

test_that("swapping labels swaps the first one, costs move the cut", {
  set.seed(4)
  d <- sim_thresholds(800, "line")
  fit <- threshold_classifier(d$x, d$y)
  swapped <- threshold_classifier(d$x, factor(d$y, c("1", "-1")), first = "positive")
  expect_identical(coef(swapped), coef(fit))
  expect_identical(predict(swapped, 0.1), factor("-1", c("1", "-1")))
  dear <- threshold_classifier(d$x, d$y, cost = c(4, 1))
  expect_gt(coef(dear), coef(fit) + 0.1)
  expect_lt(abs(coef(dear) - 0.8), 0.15)
  expect_identical(threshold_classifier(d$x, d$y, weights = rep(2, 800))$thresholds, fit$thresholds)
  free <- threshold_classifier(-d$x, d$y, first = "free")
  expect_identical(unname(-coef(free)), unname(coef(fit)))
})

test_that("one class, few values, cuts at the end", {
  expect_message(one <- threshold_classifier(1:40, factor(rep("a", 40), c("a", "b"))), "Every label")
  expect_length(one$thresholds, 0)
  expect_identical(one$risk, 0)
  expect_output(print(one), "0 cuts")
  expect_identical(as.character(predict(one, 5)), "a")
  expect_warning(few <- threshold_classifier(rep(1:5, 8), rep(c(0, 0, 1, 1, 1), 8)), "only 5 different", class = "granary_warning_input")
  expect_identical(unname(coef(few)), 2.5)
  expect_identical(few$risk, 0)
  x <- c(1:50)
  end <- threshold_classifier(x, c(rep(1, 49), 0), first = "negative")
  expect_identical(unname(coef(end)), -Inf)
  expect_warning(ci <- confint(end), "at the end", class = "granary_warning_input")
  expect_true(all(is.na(ci)))
  flat <- sim_thresholds(300, "line")
  flat$y <- factor(rep(c("-1", "1"), 150))
  expect_warning(ci <- confint(threshold_classifier(flat$x[order(flat$x)], flat$y)), "near 0|at the end", class = "granary_warning_input")
})

test_that("bad input is refused with a sentence", {
  expect_error(threshold_classifier(c(1, NA, 3), c(0, 1, 0)), "`x`.*missing", class = "granary_error_input")
  expect_error(threshold_classifier(1:3, c(0, NA, 1)), "missing", class = "granary_error_input")
  expect_error(threshold_classifier(1:3, c("a", "b", "c")), "two classes", class = "granary_error_input")
  expect_error(threshold_classifier(1:3, 0:1), "one label per row", class = "granary_error_input")
  expect_error(threshold_classifier(1:3, c(0, 1, 1), weights = c(0, 0, 0)), "weights", class = "granary_error_input")
  expect_error(threshold_classifier(1:3, c(0, 1, 1), cost = c(0, 1)), "cost", class = "granary_error_input")
  expect_error(threshold_classifier(1:3, c(0, 1, 1), k = -1), "`k`", class = "granary_error_input")
  set.seed(5)
  d <- sim_thresholds(100)
  fit <- threshold_classifier(d$x, d$y)
  expect_error(confint(fit, 7), "parm", class = "granary_error_input")
  expect_error(predict(fit, "a"), "newdata", class = "granary_error_input")
  expect_error(confint(threshold_classifier(d$x, d$y, cost = c(1, 2)), method = "jump"), "equal costs", class = "granary_error_input")
  expect_error(linear_01(cbind(d$x, d$x), rep("a", 100)), "two classes", class = "granary_error_input")
  expect_error(threshold_bounds("jump", left = 0.6, right = 0.7), "left", class = "granary_error_input")
  expect_error(threshold_bounds("smooth", slope = 0), "slope", class = "granary_error_input")
  expect_error(qchernoff(2), "`p`", class = "granary_error_input")
  expect_error(threshold_select(d$x, d$y, method = "penalty", rule = "1se"), "standard errors", class = "granary_error_input")
})

test_that("the number of cuts is found by three rules", {
  set.seed(6)
  d <- sim_thresholds(1500, "cosine")
  for (method in c("cv", "penalty")) {
    choice <- threshold_select(d$x, d$y, k_max = 6, method = method)
    expect_identical(length(choice$fit$thresholds), 3L, info = method)
  }
  expect_gte(length(threshold_select(d$x, d$y, k_max = 6, method = "holdout")$fit$thresholds), 3L)  # one split is rough
  expect_lte(length(threshold_select(d$x, d$y, k_max = 6, rule = "1se")$fit$thresholds), 3L)
  path <- threshold_select(d$x, d$y, k_max = 6, method = "penalty")$table
  expect_equal(path$risk[3], threshold_classifier(d$x, d$y, k = 2)$risk)
  expect_equal(path$estimate, path$risk + 0.25 * sqrt(path$k * log(1500) / 1500))
})

test_that("a line is never worse than logistic regression, and is predicted as it was fitted", {
  for (seed in 1:5) {
    set.seed(seed)
    x <- matrix(rnorm(160), 80, dimnames = list(NULL, c("a", "b")))
    y <- factor(x[, 1] + 0.5 * x[, 2] + rnorm(80) > 0)
    fit <- linear_01(x, y)
    logistic <- mean((fitted(glm(y ~ x, family = binomial)) > 0.5) != (y == "TRUE"))
    expect_lte(fit$risk, logistic)
    expect_identical(mean(predict(fit, x) != y), fit$risk)
    search <- linear_01(x, y, exact = FALSE)
    expect_gte(search$risk, fit$risk)
    expect_lte(search$risk, logistic + 0.02)
  }
  expect_identical(predict(fit, x[1:5, 2:1]), predict(fit, x[1:5, ]))
  expect_lte(linear_01(Species ~ ., droplevels(iris[51:150, ]))$risk, 0.02)
})

test_that("baselines and bounds", {
  set.seed(7)
  d <- sim_thresholds(600, "line")
  best <- threshold_classifier(d$x, d$y)$risk
  for (method in c("logistic", "youden", "stump", "kernel")) {
    found <- threshold_baseline(d$x, d$y, method)
    expect_gte(found$risk[1], best - 1e-12)
    expect_lt(abs(found$cut[1] - 0.5), 0.2)
  }
  cut <- threshold_baseline(d$x, d$y, "youden")$cut
  youden <- function(c) mean(d$x[d$y == "1"] >= c) + mean(d$x[d$y == "-1"] < c)
  expect_equal(youden(cut), max(vapply(d$x, youden, 0)), tolerance = 1e-9)
  margin <- threshold_bounds("margin", eps = c(0, 1))
  expect_equal(margin$cut_rate, c(1, 1 / 3))
  expect_equal(margin$risk_rate, c(1, 2 / 3))
  jump <- threshold_bounds("jump", left = 0.4, right = 0.7)
  expect_equal(jump$prob[2:5], c(0.8095, 0.5465, 0.3517, 0.2246), tolerance = 1e-3)
  smooth <- threshold_bounds("smooth", slope = rep(1.2 * pi, 3))
  expect_equal(c(smooth$scale[1], smooth$excess_mean[1]), c(0.4128, 0.5080), tolerance = 1e-3)
  expect_gt(threshold_bounds("bound", n = 100)$bound, threshold_bounds("bound", n = 10000)$bound)
  expect_equal(pchernoff(0), 0.5, tolerance = 1e-9)
  expect_equal(integrate(dchernoff, -4, 4, rel.tol = 1e-8)$value, 1, tolerance = 1e-7)
  set.seed(8)
  expect_lt(abs(var(rchernoff(20000)) - 0.26356), 0.01)
})

test_that("methods and pictures", {
  set.seed(9)
  d <- sim_thresholds(300, "cosine")
  fit <- threshold_classifier(d$x, d$y, k = 3)
  expect_output(print(fit), "Regions")
  expect_output(print(summary(fit)), "risk")
  expect_named(tidy(fit), c("term", "estimate", "low", "high"))
  expect_identical(nobs(fit), 300L)
  expect_identical(dim(simulate(fit, 2, seed = 1)), c(300L, 2L))
  expect_identical(simulate(fit, 1, seed = 1), simulate(fit, 1, seed = 1))
  pdf(NULL)
  on.exit(dev.off())
  plot(fit)
  plot(linear_01(cbind(d$x, d$x^2), d$y))
  plot(linear_01(cbind(d$x, d$x^2, 1), d$y, n_starts = 1))
})
