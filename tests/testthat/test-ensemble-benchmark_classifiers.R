two_classes <- function(n = 60, seed = 1) {
  set.seed(seed)
  x <- matrix(rnorm(2 * n), n, dimnames = list(NULL, c("a", "b")))
  list(x = x, y = factor(ifelse(x[, 1] + x[, 2]^2 + 0.5 * rnorm(n) > 0.7, "yes", "no")))
}
gauss <- function(x, z, gamma) exp(-gamma * outer(rowSums(x^2), rowSums(z^2), `+`) + 2 * gamma * x %*% t(z))

test_that("the kernel machine is kernel ridge regression, and its leave-one-out values those of refits", {
  d <- two_classes(30)
  fit <- kernel_elm(d$x, d$y, cost = 8, gamma = 0.5, standardize = FALSE)
  t <- cbind(ifelse(d$y == "no", 1, -1), ifelse(d$y == "yes", 1, -1))
  beta <- solve(diag(30) / 8 + gauss(d$x, d$x, 0.5), t)
  new <- matrix(rnorm(10), 5, dimnames = list(NULL, c("a", "b")))
  expect_equal(unname(predict(fit, new, type = "link")), gauss(new, d$x, 0.5) %*% beta, tolerance = 1e-8)
  loo <- t(vapply(1:30, function(i) {
    b <- solve(diag(29) / 8 + gauss(d$x[-i, ], d$x[-i, ], 0.5), t[-i, ])
    drop(gauss(d$x[i, , drop = FALSE], d$x[-i, ], 0.5) %*% b)
  }, numeric(2)))
  expect_equal(unname(fit$loo), loo, tolerance = 1e-8)
  expect_equal(fit$error, mean(max.col(loo, "first") != as.integer(d$y)))
  expect_identical(as.character(predict(fit, new)), c("no", "yes")[max.col(gauss(new, d$x, 0.5) %*% beta, "first")])
  grid <- kernel_elm(d$x, d$y, cost = 2^(0:3), gamma = c(0.1, 1))
  expect_identical(grid$error, min(grid$table$error))
})

test_that("landmarks come near to the full kernel", {
  d <- two_classes(80, 2)
  machine <- function(dense) {
    core_kernel_elm(unname(d$x), as.integer(d$y), list(classes = 2, cost = 4, gamma = 0.5, landmarks = 60, dense = dense), c(1, 2), NULL)
  }
  full <- machine(5000)
  less <- machine(10)
  expect_identical(nrow(less$centers), 60L)
  expect_lt(mean(abs(full$loo - less$loo)), 0.05)
})

test_that("random machines are least squares on their units, and their leave-one-out values those of refits", {
  d <- two_classes(40, 3)
  for (activation in c("sine", "sign", "sigmoid", "hardlimit", "triangular", "radial")) {
    set.seed(4)
    fit <- elm(d$x, d$y, hidden = 6, activation = activation)
    expect_lte(fit$error, 0.5)
  }
  set.seed(4)
  fit <- elm(d$x, d$y, hidden = c(3, 8))
  set.seed(4)
  expect_identical(elm(d$x, d$y, hidden = c(3, 8))$loo, fit$loo)
  m <- fit$machine
  z <- scale(d$x)
  z <- sweep(2 * sweep(z, 2, apply(z, 2, min)), 2, apply(z, 2, function(v) diff(range(v))), `/`) - 1
  h <- sin(sweep(z %*% m$weight, 2, m$bias, `+`))[, seq_len(fit$hidden)]
  t <- cbind(ifelse(d$y == "no", 1, -1), ifelse(d$y == "yes", 1, -1))
  b <- qr.coef(qr(h), t)
  expect_equal(unname(predict(fit, d$x, type = "link")), unname(h %*% b), tolerance = 1e-6)
  i <- 7
  expect_equal(unname(fit$loo[i, ]), unname(drop(h[i, ] %*% qr.coef(qr(h[-i, ]), t[-i, ]))), tolerance = 1e-6)
})

test_that("the probabilistic net is a mean of kernels, with its ends at shares and nearest neighbours", {
  d <- two_classes(30, 5)
  fit <- pnn(d$x, d$y, sigma = 0.7, standardize = FALSE)
  new <- matrix(rnorm(10), 5, dimnames = list(NULL, c("a", "b")))
  k <- gauss(new, d$x, 0.5 / 0.49)
  score <- vapply(levels(d$y), function(l) rowMeans(k[, d$y == l]), numeric(5))
  expect_equal(predict(fit, new, type = "prob"), score / rowSums(score), tolerance = 1e-10)
  small <- pnn(d$x, d$y, sigma = 1e-3, standardize = FALSE)
  nearest <- d$y[apply(as.matrix(dist(rbind(new, d$x)))[1:5, -(1:5)], 1, which.min)]
  expect_identical(as.character(predict(small, new)), as.character(nearest))
  large <- predict(pnn(d$x, d$y, sigma = 1e4), new, type = "prob")
  expect_equal(unname(large), matrix(0.5, 5, 2), tolerance = 1e-6)
  tuned <- pnn(d$x, d$y)
  loo <- vapply(tidy(tuned)$sigma, function(s) {
    z <- scale(d$x)
    k <- gauss(z, z, 0.5 / s^2)
    diag(k) <- 0
    wrong <- vapply(1:30, function(i) {
      score <- vapply(levels(d$y), function(l) sum(k[i, d$y == l]) / sum(d$y[-i] == l), 0)
      levels(d$y)[which.max(score)] != d$y[i]
    }, NA)
    mean(wrong)
  }, 0)
  sane <- tidy(tuned)$sigma > 0.05  # below, kernels underflow in R
  expect_equal(tidy(tuned)$error[sane], loo[sane])
})

test_that("baselines are what they say", {
  d <- two_classes(50, 6)
  new <- matrix(rnorm(12), 6, dimnames = list(NULL, c("a", "b")))
  z <- function(v) scale(v, colMeans(d$x), apply(d$x, 2, sd))
  shares <- unname(c(prop.table(table(d$y))))
  majority <- predict(benchmark_baseline(d$x, d$y), new, type = "prob")
  expect_equal(unname(majority[1, ]), shares)
  knn <- predict(benchmark_baseline(d$x, d$y, "knn", k = 3), new)
  near <- apply(as.matrix(dist(rbind(z(new), z(d$x))))[1:6, -(1:6)], 1, function(v) names(which.max(table(d$y[order(v)[1:3]]))))
  expect_identical(as.character(knn), unname(near))
  bayes <- predict(benchmark_baseline(d$x, d$y, "naive_bayes", standardize = FALSE), new, type = "prob")
  joint <- vapply(levels(d$y), function(l) {
    rows <- d$x[d$y == l, ]
    mean(d$y == l) * dnorm(new[, 1], mean(rows[, 1]), sd(rows[, 1])) * dnorm(new[, 2], mean(rows[, 2]), sd(rows[, 2]))
  }, numeric(6))
  expect_equal(bayes, joint / rowSums(joint), tolerance = 1e-10)
  kernel <- predict(benchmark_baseline(d$x, d$y, "kernel_naive_bayes", standardize = FALSE), new, type = "prob")
  joint <- vapply(levels(d$y), function(l) {
    rows <- d$x[d$y == l, ]
    one <- function(j) vapply(new[, j], function(v) mean(dnorm(v, rows[, j], bw.nrd0(rows[, j]))), 0)
    mean(d$y == l) * one(1) * one(2)
  }, numeric(6))
  expect_equal(kernel, joint / rowSums(joint), tolerance = 1e-8)
  direct <- predict(benchmark_baseline(d$x, d$y, "direct_perceptron", gamma = 0.5, standardize = FALSE), new)
  score <- vapply(levels(d$y), function(l) {
    rows <- d$x[d$y == l, ]
    rowMeans(gauss(new, rows, 0.5)) - mean(gauss(rows, rows, 0.5)) / 2
  }, numeric(6))
  expect_identical(as.character(direct), levels(d$y)[max.col(score)])
  set.seed(1)
  nets <- benchmark_baseline(d$x, d$y, "nets", threads = 1)
  set.seed(1)
  expect_identical(benchmark_baseline(d$x, d$y, "nets", threads = 2)$state$nets, nets$state$nets)
  expect_gt(mean(predict(nets) == d$y), 0.8)
})

test_that("a table of accuracies: the largest class, seeds, both protocols, a test set of its own", {
  d <- two_classes(60, 7)
  sets <- list(one = data.frame(d$x, class = d$y), iris = iris)
  run <- function(...) {
    set.seed(8)
    benchmark_classifiers(sets, c("majority", "knn", "elm"), ...)
  }
  found <- run()
  expect_identical(run()$accuracy, found$accuracy)
  expect_identical(dim(found$accuracy), c(2L, 3L))
  largest <- 100 * max(table(d$y)) / 60
  expect_equal(found$accuracy["one", "majority"], largest)
  expect_equal(found$kappa["one", "majority"], 0)
  expect_gt(found$accuracy["iris", "knn"], 90)
  nested <- run(protocol = "nested")
  expect_lt(abs(nested$accuracy["iris", "knn"] - found$accuracy["iris", "knn"]), 5)
  expect_equal(found$info["iris", "classes"], 3)
  own <- benchmark_classifiers(list(x = d$x, y = d$y, test = 1:20), list(near = "knn"))
  expect_equal(own$accuracy[1, 1] %% 5, 0)
  expect_s3_class(compare_methods(found), "granary_compare_methods")
  grid <- cv_learner("pnn", grid = data.frame(sigma = c(0.5, 50)), label = "tuned")
  tuned <- benchmark_classifiers(iris, list(grid))
  expect_identical(tuned$chosen$row, 1L)
  expect_identical(unique(benchmark_classifiers(iris, list(grid), "nested")$chosen$row), 1L)
})

test_that("failures are kept with their message, and the others go on", {
  d <- two_classes(40, 9)
  broken <- cv_learner(function(x, y) stop("out of order"), predict = function(fit, newdata) NULL, label = "broken")
  expect_warning(found <- benchmark_classifiers(list(one = data.frame(d$x, d$y)), list("majority", broken)), "1 run of 2 failed", class = "granary_warning_input")
  expect_true(is.na(found$accuracy[1, "broken"]))
  expect_match(found$errors$message, "out of order")
  slow <- cv_learner(function(x, y) Sys.sleep(5), predict = function(fit, newdata) NULL, label = "slow")
  expect_warning(late <- benchmark_classifiers(data.frame(d$x, d$y), list(slow), time_limit = 0.3), "more than 0.3 seconds")
  expect_true(is.na(late$accuracy[1, 1]))
})

test_that("a cache is used where all is the same, and not otherwise", {
  folder <- tempfile()
  on.exit(unlink(folder, recursive = TRUE))
  run <- function(learners, data = iris) {
    set.seed(10)
    benchmark_classifiers(list(iris = data), learners, cache = folder)
  }
  first <- run(c("majority", "knn"))
  expect_length(list.files(folder), 2)
  again <- run(c("majority", "knn"))
  expect_identical(again$seconds, first$seconds)
  changed <- run(c("majority", "knn"), transform(iris, Sepal.Length = Sepal.Length^2)[names(iris)])
  expect_false(identical(changed$seconds, first$seconds))
})

test_that("missing values, text and constant columns are made usable", {
  d <- data.frame(a = c(NA, rnorm(39)), b = rep(c("u", "v"), 20), c = 1, class = rep(c("p", "q"), 20))
  found <- benchmark_classifiers(d, "knn")
  expect_gt(found$accuracy[1, 1], 90)
  expect_equal(found$info$inputs, 2)
})

test_that("bad input is refused with a sentence", {
  expect_error(benchmark_classifiers(iris, "granny"), "no learner", class = "granary_error_input")
  expect_error(benchmark_classifiers(iris, "lm"), "numbers, not classes", class = "granary_error_input")
  expect_error(benchmark_classifiers(iris, folds = 1000), "at most the rows", class = "granary_error_input")
  expect_error(benchmark_classifiers(data.frame(a = 1:100, y = rnorm(100))), "number with 100 values", class = "granary_error_input")
  expect_error(benchmark_classifiers(data.frame(a = rep(1, 10), y = rep(1:2, 5))), "constant", class = "granary_error_input")
  expect_error(benchmark_classifiers(list(1)), "data frame", class = "granary_error_input")
  expect_warning(benchmark_classifiers(data.frame(a = rnorm(20), y = rep(c("p", "q"), c(18, 2))), "majority"), "fewer than the 4 folds", class = "granary_warning_input")
  expect_error(kernel_elm(iris[1:4], iris$Species, cost = -1), "cost", class = "granary_error_input")
  expect_error(elm(iris[1:4], iris$Species, hidden = 1.5), "whole", class = "granary_error_input")
  expect_error(benchmark_baseline(iris[1:4], iris$Species, "knn", k = 1.5), "whole", class = "granary_error_input")
  expect_error(pnn(iris[1:4], rep("a", 150)), "two classes", class = "granary_error_input")
  expect_error(predict(pnn(iris[1:4], iris$Species), iris[1:3]), "columns", class = "granary_error_input")
})

test_that("drawn data sets are what they are said to be", {
  set.seed(11)
  two <- sim_benchmark("twonorm", 4000)
  best <- rowSums(two[1:20]) > 0
  expect_lt(abs(mean(best == (two$class == "1")) - pnorm(2)), 0.01)
  ring <- sim_benchmark("ringnorm", 4000)
  score <- -20 * log(2) - rowSums(ring[1:20]^2) / 8 + rowSums((ring[1:20] - 1 / sqrt(20))^2) / 2
  expect_lt(abs(mean((score > 0) != (ring$class == "1")) - 0.013), 0.008)
  expect_identical(c(table(sim_benchmark("balance")$class)), c(left = 288L, balanced = 49L, right = 288L))
  expect_identical(c(table(sim_benchmark("tictactoe")$class)), c(negative = 332L, positive = 626L))
  expect_identical(ncol(sim_benchmark("waveform_noise", 5)), 41L)
  led <- sim_benchmark("led", 3000)
  expect_identical(nlevels(led$class), 10L)
  monks <- sim_benchmark("monks1", 200)
  expect_identical(monks$class == "yes", monks$a1 == monks$a2 | monks$a5 == 1)
})

test_that("methods and pictures", {
  set.seed(12)
  found <- benchmark_classifiers(list(iris = iris, two = sim_benchmark("twonorm", 60)), c("majority", "knn"))
  expect_output(print(found), "2 classifiers on 2 data sets")
  expect_output(print(summary(found)), "seconds")
  expect_identical(nrow(tidy(found)), 4L)
  pdf(NULL)
  on.exit(dev.off())
  plot(found)
  plot(found, "time")
  plot(kernel_elm(iris[1:4], iris$Species, cost = 1:3, gamma = 1:3))
  plot(elm(iris[1:4], iris$Species))
  plot(pnn(iris[1:4], iris$Species))
  plot(benchmark_baseline(iris[1:4], iris$Species))
  expect_output(print(elm(iris[1:4], iris$Species)), "units")
})
