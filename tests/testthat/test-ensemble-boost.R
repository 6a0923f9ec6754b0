# Boosting: votes for any number of classes.
ring <- function(n, k = 5, spread = 0.55) {
  y <- rep_len(seq_len(k), n)
  x <- cbind(cos(2 * pi * y / k), sin(2 * pi * y / k)) + matrix(rnorm(2 * n, sd = spread), n)
  list(x = x, y = factor(letters[y]))
}

test_that("two classes: the adaptive booster is AdaBoost", {
  set.seed(1)
  x <- matrix(sample(-1:1, 40 * 12, TRUE), 40)
  y <- factor(ifelse(x[, 1] + x[, 2] + rnorm(40) > 0, "b", "a"))
  ours <- boost(x, y, method = "adaptive", learner = "stump", n_rounds = 20)
  sign <- ifelse(y == "b", 1, -1)
  d <- rep(1 / 40, 40)
  link <- sapply(1:20, function(t) {
    now <- predict(ours, x, type = "link", n_rounds = t)
    (now[, 2] - now[, 1]) * sum(ours$alpha[1:t])
  })
  answers <- sign(link - cbind(0, link[, -20]))
  for (t in 1:20) {
    eps <- sum(d[answers[, t] != sign])
    expect_equal(ours$path$edge[t], 1 - 2 * eps, tolerance = 1e-10)
    expect_equal(ours$alpha[t], 0.5 * log((1 - eps) / eps), tolerance = 1e-10)
    d <- d * exp(-ours$alpha[t] * sign * answers[, t])
    d <- d / sum(d)
  }
  plain <- boost(x, y, method = "adaboost", n_rounds = 20)
  expect_equal(plain$alpha, ours$alpha, tolerance = 1e-10)
  expect_equal(unname(plain$score), unname(ours$score), tolerance = 1e-10)
})

test_that("the loss falls as the edges promise, and the error stays below it", {
  for (seed in 1:4) {
    set.seed(seed)
    d <- ring(150)
    for (step in c("paper", "exact")) {
      fit <- boost(d$x, d$y, n_rounds = 60, step = step)
      path <- fit$path
      before <- c(log(4), path$loss[-nrow(path)])
      expect_true(all(path$loss <= before + 0.5 * log(1 - path$edge^2) + 1e-9))
      expect_true(all(path$loss <= path$bound + 1e-9))
      expect_true(all(path$error <= exp(path$loss) + 1e-12))
      expect_equal(exp(path$bound), exp(log(4) + cumsum(0.5 * log(1 - path$edge^2))), tolerance = 1e-9)
    }
    slow <- boost(d$x, d$y, n_rounds = 60, shrinkage = 0.3)
    expect_true(all(slow$path$loss <= slow$path$bound + 1e-9))
  }
})

test_that("the exact step has the smallest loss along its answer", {
  set.seed(2)
  d <- ring(90, 3)
  one <- boost(d$x, d$y, n_rounds = 1, step = "exact")
  paper <- boost(d$x, d$y, n_rounds = 1)
  right <- one$fitted == d$y
  plus <- 2 * sum(right)
  minus <- sum(!right)
  rest <- 2 * 90 - plus - minus
  expect_equal(one$alpha, 0.5 * log(plus / minus))
  expect_equal(exp(one$path$loss), (rest + 2 * sqrt(plus * minus)) / 90)
  expect_lte(one$path$loss, paper$path$loss)
})

test_that("a fixed edge: each round multiplies the loss by its factor", {
  set.seed(3)
  d <- ring(120, 4)
  fit <- boost(d$x, d$y, method = "fixed_edge", edge = 0.15, n_rounds = 25)
  ratio <- diff(c(log(3), fit$path$loss))
  expect_equal(exp(ratio), boost_bounds("factor", edge = fit$path$edge, eta = fit$eta, k = 4), tolerance = 1e-9)
  expect_equal(fit$eta, boost_bounds("step", edge = 0.15, k = 4))
})

test_that("the error of exact potentials stays below the promise where the edges hold", {
  set.seed(4)
  d <- ring(80, 3, 0.3)
  fit <- boost(d$x, d$y, method = "minimax01", edge = 0.3, n_rounds = 25)
  expect_equal(fit$below, 0)
  expect_equal(exp(fit$path$bound[1]), boost_bounds("zero_one", edge = 0.3, k = 3, n_rounds = 25))
  expect_true(all(diff(fit$path$loss) <= 1e-12))
  expect_lte(fit$path$error[nrow(fit$path)], exp(fit$path$bound[1]))
})

test_that("AdaBoost.M1 and SAMME by hand", {
  pool <- cbind(a = c(1, 1, 2, 3, 3, 1), b = c(1, 2, 2, 1, 3, 3), c = c(2, 1, 3, 3, 1, 2))
  y <- c(1, 1, 2, 3, 3, 2)
  for (method in c("m1", "samme")) {
    fit <- boost(pool, y, method = method, learner = "pool", n_rounds = 5)
    d <- rep(1 / 6, 6)
    for (t in seq_along(fit$alpha)) {
      eps <- colSums(d * (pool != y))
      pick <- which.min(eps)
      expect_equal(fit$answers[t], unname(pick))
      eps <- min(eps)
      alpha <- if (method == "m1") 0.5 * log((1 - eps) / eps) else log((1 - eps) / eps) + log(2)
      expect_equal(fit$alpha[t], alpha, tolerance = 1e-10)
      wrong <- pool[, pick] != y
      d <- if (method == "m1") d * exp(alpha * ifelse(wrong, 1, -1)) else d * exp(alpha * wrong)
      d <- d / sum(d)
    }
  }
})

test_that("classes, rows and constants do not matter where they must not", {
  set.seed(5)
  d <- ring(100)
  fit <- boost(d$x, d$y, n_rounds = 20)
  other <- factor(d$y, rev(levels(d$y)))
  renamed <- boost(d$x, other, n_rounds = 20)
  expect_equal(renamed$path$edge, fit$path$edge, tolerance = 1e-8)
  twice <- boost(rbind(d$x, d$x), c(d$y, d$y), n_rounds = 20)
  expect_equal(twice$alpha, fit$alpha, tolerance = 1e-8)
  weighted <- boost(d$x, d$y, n_rounds = 20, weights = rep(3, 100))
  expect_equal(weighted$alpha, fit$alpha, tolerance = 1e-8)
  none <- boost(rbind(d$x, c(9, 9)), c(as.character(d$y), "a"), n_rounds = 20, weights = rep(1:0, c(100, 1)))
  expect_equal(none$alpha, fit$alpha, tolerance = 1e-8)
  for (scale in c(1e-8, 1e8)) expect_equal(boost(scale * d$x, d$y, n_rounds = 20)$alpha, fit$alpha, tolerance = 1e-8)
  expect_identical(boost(d$x, d$y, n_rounds = 20, threads = 2)$alpha, fit$alpha)
})

test_that("small trees recover classes that plain stumps of M1 do not", {
  errors <- sapply(1:3, function(seed) {
    set.seed(seed)
    train <- ring(400, 8, 0.25)
    test <- ring(800, 8, 0.25)
    adaptive <- boost(train$x, train$y, n_rounds = 60)
    m1 <- suppressMessages(boost(train$x, train$y, n_rounds = 60, method = "m1", learner = "stump"))
    c(mean(predict(adaptive, test$x) != test$y), mean(predict(m1, test$x) != test$y))
  })
  expect_true(all(errors[1, ] < 0.2))
  expect_true(all(errors[2, ] > 0.5))
})

test_that("predictions: stages, names, permuted columns, missing values and unseen levels", {
  set.seed(6)
  rows <- iris[sample(150), ]
  rows$place <- factor(sample(c("u", "v", "w"), 150, TRUE))
  rows$Petal.Width[1:10] <- NA
  fit <- boost(Species ~ ., rows, n_rounds = 15)
  expect_identical(predict(fit, rows), predict(fit, rows[rev(names(rows))]))
  expect_identical(as.character(predict(fit, rows)), as.character(fit$fitted))
  staged <- predict(fit, rows, type = "staged")
  expect_identical(dim(staged), c(150L, 15L))
  expect_identical(unname(staged[, 15]), as.character(predict(fit, rows)))
  expect_identical(unname(staged[, 4]), as.character(predict(fit, rows, n_rounds = 4)))
  expect_equal(unname(colMeans(staged != as.character(rows$Species))), fit$path$error)
  expect_equal(unname(predict(fit, rows, type = "link")), unname(fit$score), tolerance = 1e-12)
  expect_equal(unname(rowSums(fit$score)), rep(1, 150))
  new <- rows[1:2, ]
  new$place <- factor(c("u", "z"))
  expect_message(predict(fit, new), "has not met")
  saved <- unserialize(serialize(fit, NULL))
  expect_identical(predict(saved, rows), predict(fit, rows))
})

test_that("pools and functions are learners, too", {
  set.seed(7)
  d <- ring(60, 3)
  pool <- sapply(1:20, function(j) sample(levels(d$y), 60, TRUE))
  pool[, 1:8] <- ifelse(matrix(runif(480) < 0.6, 60), as.character(d$y), pool[, 1:8])
  fit <- boost(pool, d$y, learner = "pool", n_rounds = 15)
  expect_identical(predict(fit, pool), fit$fitted)
  asked <- boost(pool, d$y, n_rounds = 15, learner = function(x, y, cost) {
    best <- which.min(apply(x, 2, function(a) sum(cost[cbind(seq_along(a), match(a, levels(y)))])))
    function(x) x[, best]
  })
  expect_equal(asked$alpha, fit$alpha)
  expect_identical(predict(asked, pool), unname(predict(fit, pool)))
})

test_that("one perfect answer is returned alone, and a learner without an edge ends it", {
  fit <- boost(matrix(c(1, 2, 3, 4)), c("a", "a", "b", "b"), method = "adaptive")
  expect_identical(fit$end, "perfect")
  expect_equal(fit$alpha, 1)
  expect_message(none <- boost(matrix(1, 6, 2), rep(c("a", "b", "c"), 2)), "no edge")
  expect_identical(none$end, "no_edge")
  expect_length(predict(none, matrix(1, 2, 2)), 2)
  expect_output(print(none), "Nothing was learnt")
  expect_error(plot(none), class = "granary_error_input")
})

test_that("methods of a fit", {
  fit <- boost(Species ~ ., iris, n_rounds = 8)
  expect_output(print(fit), "adaptive booster")
  expect_output(print(summary(fit)), "Margins")
  expect_s3_class(tidy(fit), "data.frame")
  expect_equal(sum(tidy(fit)$estimate), 1)
  expect_identical(glance(fit)$rounds, 8L)
  expect_length(coef(fit), 8)
  expect_identical(nobs(fit), 150L)
  expect_equal(assess(fit)$error, fit$path$error[8])
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (what in c("path", "margins", "edge", "importance")) expect_no_error(plot(fit, what))
  expect_no_error(plot(fit, newdata = iris, newy = iris$Species))
})

test_that("what cannot be is said", {
  x <- as.matrix(iris[1:4])
  y <- iris$Species
  refused <- function(code, text) expect_error(code, text, class = "granary_error_input")
  refused(boost(x), "`y`")
  refused(boost(x, y[-1]), "one label per row")
  refused(boost(x, rep("a", 150)), "two classes")
  refused(boost(x, replace(y, 3, NA)), "missing labels")
  refused(boost(x, y, method = "star"), "two classes")
  refused(boost(x, y, learner = "stump", max_leaves = 3), "two leaves")
  refused(boost(x, y, shrinkage = 2), "`shrinkage`")
  refused(boost(x, y, shrinkage = 0.5, method = "fixed_edge"), "`shrinkage`")
  refused(boost(x, y, selection = "worst"), "pools")
  refused(boost(x, y, weights = rep(0, 150)), "not all be 0")
  refused(boost(x, y, learner = function(x, y, cost) 1), "must return a function")
  refused(boost(x, y, learner = function(x, y, cost) function(x) "setosa"), "every row")
  refused(boost(x, y, learner = function(x, y, cost) function(x) rep("q", nrow(x))), "levels of `y`")
  refused(boost(replace(x, 5, Inf), y), "infinite")
  refused(boost(x, y, "minimax01", n_rounds = 3000), "too long")
  refused(predict(boost(x, y, n_rounds = 3), x, type = "prob"), "no probabilities")
  refused(predict(boost(x, y, n_rounds = 3), type = "staged"), "newdata")
})
