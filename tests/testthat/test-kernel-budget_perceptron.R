# Budget perceptrons: the card's traces, properties of every removal rule, and an independent reference in plain R.

hand <- list(x = rbind(c(2, 1), c(-1, -1), c(0.5, -1), c(1, -2), c(3, 1), c(-2, 0.5), c(0.2, 0.1), c(-0.3, 0.1)), y = rep(c(1, -1), 4))

circle <- function(n, noise = 0.3, seed = 1, d = 2) {
  set.seed(seed)
  x <- matrix(rnorm(n * d), n)
  list(x = x, y = factor(ifelse(rowSums(x^2) + rnorm(n, sd = noise) > 0.7 * d, "out", "in")))
}

rules <- c("distill", "max_margin", "oldest", "random", "smallest", "tightest", "projection")

# w, margins and removals from the definition, nothing maintained.
reference <- function(k, y, budget, beta, removal, mira = FALSE) {
  cache <- integer()
  tau <- numeric()
  mistakes <- 0
  for (t in seq_along(y)) {
    s <- sum(tau * k[cache, t])
    if (y[t] * s <= 0) mistakes <- mistakes + 1
    if (y[t] * s > beta) next
    without <- function() vapply(seq_along(cache), function(i) y[cache[i]] * sum(tau[-i] * k[cache[-i], cache[i]]), 0)
    forget <- function(i) {
      cache <<- cache[-i]
      tau <<- tau[-i]
    }
    if (length(cache) >= budget) {
      forget(switch(
        removal, oldest = 1L, smallest = which.min(tau^2 * k[cbind(cache, cache)]),
        tightest = {
          errors <- vapply(seq_along(cache), function(i) sum(y[cache] * drop(k[cache, cache[-i], drop = FALSE] %*% tau[-i]) <= beta - mira * 1e-9), 0)
          value <- without()
          order(errors, -value, cache)[1L]
        },
        which.max(without())
      ))
      s <- sum(tau * k[cache, t])
    }
    step <- if (mira) min(1, max(0, (beta - y[t] * s) / k[t, t])) else 1
    if (step == 0) next
    cache <- c(cache, t)
    tau <- c(tau, y[t] * step)
    if (removal == "distill") {
      repeat {
        value <- without()
        value[length(value)] <- -Inf
        if (max(value) < beta) break
        forget(which.max(value))
      }
    }
  }
  list(cache = cache, tau = tau, mistakes = mistakes)
}

test_that("the hand trace of the paper's algorithm comes out", {
  none <- budget_perceptron(hand$x, hand$y, beta = 1, kernel = "linear", removal = "max_margin", standardize = FALSE)
  expect_identical(none$cache_index, c(1, 3, 4, 7, 8))
  expect_identical(none$mistakes, 3)
  expect_identical(none$margin_errors, 5)
  expect_equal(unname(colSums(coef(none) * none$cache_x)), c(2, 2))
  adaptive <- budget_perceptron(hand$x, hand$y, beta = 1, kernel = "linear", standardize = FALSE)
  expect_identical(adaptive$cache_index, c(3, 4, 7, 8))
  expect_equal(unname(colSums(coef(adaptive) * adaptive$cache_x)), c(0, 1))
  expect_identical(adaptive$largest, 4)
  expect_identical(adaptive$removed, 1)
})

test_that("the numbers of the prototype on iris come out", {
  d <- iris[51:150, ]
  at <- as.vector(rbind(1:50, 51:100))
  x <- scale(d[, c("Petal.Length", "Petal.Width")])[at, ]
  y <- droplevels(d$Species)[at]
  run <- function(...) {
    fit <- budget_perceptron(x, y, kernel = k_rbf(1), ..., standardize = FALSE)
    c(fit$support, fit$mistakes)
  }
  expect_equal(run(removal = "max_margin"), c(9, 8))
  expect_equal(run(removal = "max_margin", budget = 5), c(5, 25))
  expect_equal(run(removal = "max_margin", budget = 10), c(9, 8))
  expect_equal(run(), c(9, 13))
})

test_that("every rule does what a plain implementation of it does", {
  d <- circle(300)
  k <- kernel_matrix(k_rbf(0.5), d$x)
  y <- ifelse(d$y == "out", 1, -1)
  for (rule in c("distill", "max_margin", "oldest", "smallest", "tightest")) {
    for (step in c("perceptron", "mira")) {
      for (budget in c(1, 15)) {
        fit <- budget_perceptron(d$x, d$y, budget = budget, beta = 0.1, removal = rule, update = step, gamma = 0.5, standardize = FALSE)
        slow <- reference(k, y, budget, 0.1, rule, step == "mira")
        expect_identical(fit$cache_index, as.numeric(sort(slow$cache)), label = paste(rule, step, budget))
        expect_equal(fit$coefficients, slow$tau[order(slow$cache)], label = paste(rule, step, budget))
        expect_identical(fit$mistakes, as.numeric(slow$mistakes), label = paste(rule, step, budget))
      }
    }
  }
})

test_that("the budget holds, and scores are those of the cache, for every rule and any number of classes", {
  for (classes in 2:4) {
    set.seed(classes)
    x <- matrix(rnorm(600), 200)
    y <- factor(letters[1 + (floor(x[, 1] * 1.3) + floor(x[, 2] * 1.3)) %% classes])
    for (rule in rules) {
      for (step in c("perceptron", "mira")) {
        fit <- budget_perceptron(x, y, budget = 12, removal = rule, update = step, gamma = 0.4, standardize = FALSE)
        expect_lte(fit$largest, 12)
        expect_lte(max(tidy(fit)$support), 12)
        k <- kernel_matrix(k_rbf(0.4), x, fit$cache_x)
        expect_equal(predict(fit, x, type = "link"), drop(k %*% fit$coefficients), ignore_attr = TRUE, tolerance = 1e-8)
        if (!is.null(fit$state$scores) && ncol(fit$state$scores) > 0) {
          expect_equal(fit$state$scores, fit$state$current$coefficients %*% kernel_matrix(k_rbf(0.4), fit$state$points), tolerance = 1e-10)
        }
        if (classes > 2) expect_equal(rowSums(fit$coefficients), rep(0, fit$support), tolerance = 1e-8)
      }
    }
  }
})

test_that("after distillation no older example has its margin without itself", {
  d <- circle(400)
  for (order in c("largest", "oldest", "random")) {
    fit <- budget_perceptron(d$x, d$y, beta = 0.2, gamma = 0.5, order = order, standardize = FALSE)
    k <- kernel_matrix(k_rbf(0.5), fit$cache_x)
    sign <- ifelse(d$y[fit$cache_index] == "out", 1, -1)
    without <- sign * (drop(k %*% fit$coefficients) - fit$coefficients * diag(k))
    expect_true(all(without[-which.max(fit$cache_index)] < 0.2))
    expect_gt(fit$removed, 0)
  }
})

test_that("the cache stays within the bound of Theorem 1, and mistakes within Novikoff's", {
  for (seed in 1:5) {
    set.seed(seed)
    x <- matrix(rnorm(2500), 500)
    x <- x / sqrt(rowSums(x^2))
    x <- x[abs(x[, 1]) > 0.1, ]
    y <- sign(x[, 1])
    margin <- budget_bounds("margin", x, y, kernel = "linear")
    expect_gte(margin$gamma, 0.1 - 1e-3)  # the first axis separates with margin 0.1
    for (beta in c(0.01, 0.5)) {
      fit <- budget_perceptron(x, y, beta = beta, kernel = "linear", standardize = FALSE)
      expect_lte(fit$largest, budget_bounds("cache", fit$radius, margin$gamma, beta))
      # ||w||^2 grew by at most R^2 + 2 beta per example held
      expect_lte(sum(colSums(coef(fit) * fit$cache_x)^2), fit$support * (fit$radius^2 + 2 * beta) + 1e-9)
      kept <- budget_perceptron(x, y, beta = beta, kernel = "linear", removal = "max_margin", standardize = FALSE)
      expect_lte(kept$margin_errors, budget_bounds("cache", kept$radius, margin$gamma, beta))
    }
    expect_lte(kernel_perceptron(x, y, kernel = "linear", standardize = FALSE)$mistakes, (1 / margin$gamma)^2)
  }
  expect_equal(budget_bounds("cache", 1, 0.1, 0.01), 102)
  expect_identical(budget_bounds("cache", 1, NA), NA_real_)
})

test_that("labels turned over turn w over, and scales cancel", {
  d <- circle(200)
  fit <- budget_perceptron(d$x, d$y, gamma = 0.5, standardize = FALSE)
  flipped <- budget_perceptron(d$x, factor(d$y, levels = c("out", "in")), gamma = 0.5, standardize = FALSE)
  expect_identical(flipped$coefficients, -fit$coefficients)
  expect_identical(flipped$cache_index, fit$cache_index)
  for (scale in c(1e-8, 1e8)) {
    scaled <- budget_perceptron(scale * d$x, d$y, kernel = "linear", beta = 0.1 * scale^2, standardize = FALSE)
    plain <- budget_perceptron(d$x, d$y, kernel = "linear", beta = 0.1, standardize = FALSE)
    expect_identical(scaled$cache_index, plain$cache_index)
    expect_identical(scaled$coefficients, plain$coefficients)
    wide <- budget_perceptron(scale * d$x, d$y, gamma = 0.5 / scale^2, standardize = FALSE)
    expect_identical(wide$cache_index, fit$cache_index)
  }
  moved <- budget_perceptron(d$x + 1e6, d$y, gamma = 0.5, standardize = FALSE)  # distances keep their digits far from the origin
  expect_identical(moved$cache_index, fit$cache_index)
})

test_that("MIRA with two prototypes is MIRA with one vector, and its step solves the quadratic program", {
  # k = 3, against a fine grid over the two free coordinates
  set.seed(2)
  for (trial in 1:5) {
    x <- rbind(rnorm(4), rnorm(4), rnorm(4), rnorm(4))
    y <- factor(c("a", "b", "c", "b"), levels = c("a", "b", "c"))
    before <- budget_perceptron(x[1:3, ], y[1:3], kernel = "linear", beta = 0.3, removal = "max_margin", update = "mira", standardize = FALSE)
    after <- budget_perceptron(x, y, kernel = "linear", beta = 0.3, removal = "max_margin", update = "mira", standardize = FALSE)
    m <- t(before$coefficients) %*% before$cache_x
    score <- drop(m %*% x[4, ])
    margin <- score[2] - max(score[-2])
    tau <- drop((t(after$coefficients) %*% after$cache_x - m) %*% x[4, ]) / sum(x[4, ]^2)
    if (margin > 0.3) {
      expect_equal(tau, c(a = 0, b = 0, c = 0))
      next
    }
    target <- score - c(0, 0.3, 0)
    value <- function(t) sum((target + t * sum(x[4, ]^2))^2)
    grid <- expand.grid(a = seq(-1, 0, length.out = 401), c = seq(-1, 0, length.out = 401))
    grid <- grid[-grid$a - grid$c <= 1, ]
    best <- min(apply(cbind(grid$a, -grid$a - grid$c, grid$c), 1, value))
    expect_lte(value(tau), best + 1e-9)
    expect_equal(sum(tau), 0, tolerance = 1e-10)
    expect_true(tau[["b"]] <= 1 + 1e-12 && all(tau[c("a", "c")] <= 1e-12))
  }
})

test_that("averages over time are averages", {
  d <- circle(120)
  k <- kernel_matrix(k_rbf(0.5), d$x)
  # without removals: over all trials
  states <- vapply(1:120, function(t) {
    fit <- budget_perceptron(d$x[1:t, , drop = FALSE], d$y[1:t], levels = levels(d$y), removal = "oldest", gamma = 0.5, standardize = FALSE)
    drop(k[, fit$cache_index, drop = FALSE] %*% fit$coefficients)
  }, numeric(120))
  averaged <- budget_perceptron(d$x, d$y, removal = "oldest", gamma = 0.5, average = TRUE, standardize = FALSE)
  expect_equal(unname(predict(averaged, d$x, type = "link")), rowMeans(states), tolerance = 1e-10)
  expect_equal(unname(predict(kernel_perceptron(d$x, d$y, beta = 0.01, gamma = 0.5, standardize = FALSE), d$x, type = "link")), rowMeans(states), tolerance = 1e-10)
  # with removals: over the trials since the |C|-th last change
  for (rule in c("oldest", "distill", "max_margin")) {
    run <- function(t) budget_perceptron(d$x[1:t, , drop = FALSE], d$y[1:t], levels = levels(d$y), budget = 8, removal = rule, gamma = 0.5, standardize = FALSE)
    full <- budget_perceptron(d$x, d$y, budget = 8, removal = rule, gamma = 0.5, average = TRUE, standardize = FALSE)
    expect_gt(full$removed, 0)
    window <- full$state$changes[1]:120
    states <- vapply(window, function(t) {
      fit <- run(t)
      drop(k[, fit$cache_index, drop = FALSE] %*% fit$coefficients)
    }, numeric(120))
    expect_equal(unname(predict(full, d$x, type = "link")), rowMeans(states), tolerance = 1e-10, label = rule)
    expect_lte(length(full$state$changes), full$support)
    cut <- update(budget_perceptron(d$x[1:50, ], d$y[1:50], budget = 8, removal = rule, gamma = 0.5, average = TRUE, standardize = FALSE), d$x[51:120, ], d$y[51:120])
    expect_identical(cut$state[-1], full$state[-1])
  }
})

test_that("voted predictions are votes of the past", {
  d <- circle(100)
  fit <- kernel_perceptron(d$x, d$y, gamma = 0.5, prediction = "voted", standardize = FALSE)
  k <- kernel_matrix(k_rbf(0.5), d$x)
  votes <- rowMeans(vapply(1:100, function(t) {
    past <- kernel_perceptron(d$x[1:t, , drop = FALSE], d$y[1:t], levels = levels(d$y), gamma = 0.5, standardize = FALSE)
    sign(drop(k[, past$cache_index, drop = FALSE] %*% past$coefficients))
  }, numeric(100)))
  expect_equal(unname(predict(fit, d$x, type = "link")), votes, tolerance = 1e-12)
  three <- kernel_perceptron(iris[1:4], iris$Species, shuffle = TRUE, standardize = FALSE)
  shares <- predict(three, iris[1:4], type = "link", prediction = "voted")
  expect_true(all(shares >= 0) && all(rowSums(shares) <= 1 + 1e-12))
  expect_error(predict(fit, d$x, prediction = "guess"), "`prediction`", class = "granary_error_input")
})

test_that("a perceptron with a kernel is a perceptron in its features", {
  d <- circle(150)
  features <- cbind(1, sqrt(2) * d$x, d$x^2, sqrt(2) * d$x[, 1] * d$x[, 2])
  for (removal in c("max_margin", "distill")) {
    kernel <- budget_perceptron(d$x, d$y, kernel = k_polynomial(2), removal = removal, standardize = FALSE)
    explicit <- budget_perceptron(features, d$y, kernel = "linear", removal = removal, standardize = FALSE)
    expect_identical(kernel$cache_index, explicit$cache_index)
  }
  w <- numeric(6)
  mistakes <- 0
  for (t in 1:150) {
    y <- if (d$y[t] == "out") 1 else -1
    if (y * sum(w * features[t, ]) <= 0) {
      w <- w + y * features[t, ]
      mistakes <- mistakes + 1
    }
  }
  expect_identical(kernel_perceptron(d$x, d$y, kernel = k_polynomial(2), standardize = FALSE)$mistakes, mistakes)
})

test_that("kernels of all kinds, dense and sparse rows, and normalised kernels give the same run", {
  d <- circle(80, d = 6)
  sparse <- Matrix::Matrix(d$x * (abs(d$x) > 0.3), sparse = TRUE)
  dense <- as.matrix(sparse)
  for (kernel in list("rbf", "linear", "laplace", "polynomial", k_se(c(1, 2, 3, 1, 2, 3)), k_rbf(1, columns = 2:6), k_matern(2.5), k_rq())) {
    one <- budget_perceptron(dense, d$y, kernel = kernel, budget = 10, standardize = FALSE)
    two <- budget_perceptron(sparse, d$y, kernel = kernel, budget = 10, standardize = FALSE)
    expect_identical(one$cache_index, two$cache_index)
    expect_equal(as.matrix(two$cache_x), one$cache_x, ignore_attr = TRUE)
    expect_equal(predict(one, dense, type = "link"), predict(two, sparse, type = "link"), tolerance = 1e-6)
    expect_equal(predict(one, sparse), predict(one, dense))
    expect_equal(predict(two, dense), predict(one, dense))
    own <- k_user(function(x, z) kernel_matrix(prepare_kernel(if (is.character(kernel)) machine_kernel(kernel, 6) else kernel, 6), x, z))
    expect_identical(budget_perceptron(dense, d$y, kernel = own, budget = 10, standardize = FALSE)$cache_index, one$cache_index)
  }
  general <- budget_perceptron(dense, d$y, kernel = "se + bias", budget = 10, standardize = FALSE)
  expect_lte(general$support, 10L)
  expect_error(budget_perceptron(sparse, d$y, kernel = k_hamming(), standardize = FALSE), "Sparse data", class = "granary_error_input")
  wild <- budget_perceptron(1e3 * d$x, d$y, kernel = "polynomial", degree = 9, normalize = TRUE, standardize = FALSE)
  k <- kernel_matrix(k_polynomial(9, 1 / 6, 0), 1e3 * d$x)
  k <- k / sqrt(outer(diag(k), diag(k)))
  expect_equal(unname(predict(wild, 1e3 * d$x, type = "link")), unname(drop(k[, wild$cache_index] %*% wild$coefficients)), tolerance = 1e-8)
})

test_that("a run saved in the middle goes on exactly, for every rule", {
  d <- circle(200)
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  for (rule in rules) {
    for (kernel in list("rbf", "se + bias")) {
      set.seed(3)
      half <- budget_perceptron(d$x[1:100, ], d$y[1:100], budget = 9, removal = rule, kernel = kernel, levels = c("in", "out"), standardize = FALSE)
      saveRDS(half, file)
      resumed <- update(readRDS(file), d$x[101:200, ], d$y[101:200])
      set.seed(3)
      whole <- budget_perceptron(d$x, d$y, budget = 9, removal = rule, kernel = kernel, standardize = FALSE)
      expect_identical(resumed$state, whole$state, label = rule)
      expect_identical(resumed$record, whole$record, label = rule)
    }
  }
})

test_that("random removal follows set.seed()", {
  d <- circle(200)
  run <- function(seed) {
    set.seed(seed)
    budget_perceptron(d$x, d$y, budget = 10, removal = "random", standardize = FALSE)$cache_index
  }
  expect_identical(run(1), run(1))
  expect_false(identical(run(1), run(2)))
})

test_that("odd data is learnt from or refused with a word", {
  input <- function(code, pattern) expect_error(code, pattern, class = "granary_error_input")
  d <- circle(30)
  one <- budget_perceptron(d$x[1, , drop = FALSE], d$y[1], standardize = FALSE)
  expect_identical(one$support, 1L)
  expect_identical(one$mistakes, 1)
  same <- budget_perceptron(matrix(1, 20, 2), rep(c("a", "b"), 10), standardize = FALSE)
  expect_true(all(is.finite(same$coefficients)))
  zero <- budget_perceptron(matrix(0, 6, 2), rep(c("a", "b"), 3), kernel = "linear", update = "mira", standardize = FALSE)
  expect_identical(zero$support, 0L)
  expect_identical(as.character(predict(zero, matrix(0, 1, 2))), "a")
  wide <- budget_perceptron(matrix(rnorm(500), 5), c("a", "b", "a", "b", "a"), standardize = FALSE)
  expect_identical(wide$trials, 5)
  singular <- budget_perceptron(matrix(c(1, 1, 2, 2), 20, 1), rep(c("a", "b", "b"), 7)[1:20], removal = "projection", budget = 3, kernel = "linear", standardize = FALSE)
  expect_true(all(is.finite(singular$coefficients)))
  spoiled <- d$x
  spoiled[4, 1] <- NA
  input(budget_perceptron(spoiled, d$y, standardize = FALSE), "`x`.*row 4")
  skipped <- budget_perceptron(spoiled, d$y, na = "skip", standardize = FALSE)
  expect_identical(skipped$skipped, 1)
  expect_identical(skipped$coefficients, budget_perceptron(d$x[-4, ], d$y[-4], standardize = FALSE)$coefficients)
  input(predict(skipped, spoiled), "newdata.*row 4")
  spoiled[4, 1] <- Inf
  input(budget_perceptron(spoiled, d$y, standardize = FALSE), "finite")
  input(budget_perceptron(d$x, d$y, beta = -1, standardize = FALSE), "`beta`")
  input(budget_perceptron(d$x, d$y, budget = 0, standardize = FALSE), "`budget`")
  input(budget_perceptron(d$x, d$y, budget = 2.5, standardize = FALSE), "`budget`")
  input(budget_perceptron(d$x, d$y, removal = "newest", standardize = FALSE), "`removal`")
  input(budget_perceptron(d$x, d$y, removal = "projection", average = TRUE, standardize = FALSE), "`average`")
  input(budget_perceptron(d$x, d$y, kernel = "precomputed", standardize = FALSE), "precomputed")
  input(budget_perceptron(d$x, d$y, kernel = "nothing", standardize = FALSE), "`kernel`")
  input(budget_perceptron(d$x, d$y, gamma = -1, standardize = FALSE), "`gamma`")
  expect_error(budget_perceptron(1e30 * d$x, d$y, kernel = "polynomial", degree = 20, standardize = FALSE), "not finite", class = "granary_error")
  expect_output(print(summary(budget_perceptron(d$x, d$y, standardize = FALSE), gamma_margin = 0.1)), "bound on the cache")
})

test_that("budget_path() averages over orders, and the margin of the data is bracketed", {
  d <- circle(150)
  set.seed(1)
  path <- budget_path(d$x, d$y, c(5, 20, Inf), n_rep = 3, newdata = d$x, newy = d$y, standardize = FALSE)
  expect_identical(path$budget, c(5, 20, Inf))
  expect_true(all(path$size[1:2] <= c(5, 20)))
  expect_true(all(is.finite(as.matrix(path[, -1]))))
  expect_output(print(path), "Fewest online mistakes")
  pdf(NULL)
  on.exit(dev.off())
  expect_null(plot(path))
  set.seed(1)
  expect_identical(budget_path(d$x, d$y, c(5, 20, Inf), n_rep = 3, newdata = d$x, newy = d$y, standardize = FALSE), path)
  expect_error(budget_path(d$x, d$y, 0.5, standardize = FALSE), "`budgets`", class = "granary_error_input")
  expect_error(budget_path(d$x, d$y, 5, newdata = d$x, standardize = FALSE), "both", class = "granary_error_input")
  expect_error(budget_path(d$x, d$y, 5, shuffle = TRUE, standardize = FALSE), "itself", class = "granary_error_input")

  pairs <- rbind(c(1, 0), c(0, 1), c(-1, -0.5))
  margin <- budget_bounds("margin", pairs, c(1, 1, -1), kernel = "linear", tol = 1e-8)
  expect_equal(margin$gamma, 1 / sqrt(2), tolerance = 1e-6)  # halfway between the first two
  expect_gte(margin$upper, margin$gamma)
  expect_identical(budget_bounds("margin", rbind(1, 1), c("a", "b"), kernel = "linear")$gamma, NA_real_)
  skip_if_not_installed("quadprog")
  set.seed(4)
  x <- matrix(rnorm(60), 30)
  y <- ifelse(x[, 1] > 0.2, 1, -1)
  x[, 1] <- x[, 1] + 0.3 * y
  ours <- budget_bounds("margin", x, y, kernel = k_rbf(0.7), tol = 1e-6)
  q <- outer(y, y) * kernel_matrix(k_rbf(0.7), x)
  alpha <- getExportedValue("quadprog", "solve.QP")(q + diag(1e-10, 30), rep(1, 30), diag(30), rep(0, 30))$solution
  expect_equal(ours$gamma, 1 / sqrt(sum(alpha)), tolerance = 1e-4)
})

test_that("accuracy is near the support vector machine's", {
  skip_if_not_installed("kernlab")
  d <- circle(2000, seed = 5)
  new <- circle(1000, seed = 6)
  machine <- getExportedValue("kernlab", "ksvm")(d$x, d$y, kernel = "rbfdot", kpar = list(sigma = 0.5), C = 1)
  best <- mean(getExportedValue("kernlab", "predict")(machine, new$x) != new$y)
  all <- kernel_perceptron(d$x, d$y, gamma = 0.5, standardize = FALSE)
  expect_lt(mean(predict(all, new$x) != new$y), best + 0.02)
  expect_lt(mean(predict(all, new$x, prediction = "voted") != new$y), best + 0.02)
  for (rule in c("oldest", "smallest")) {
    few <- budget_perceptron(d$x, d$y, gamma = 0.5, beta = 0.1, removal = rule, budget = 100, average = TRUE, standardize = FALSE)
    expect_lt(mean(predict(few, new$x) != new$y), best + 0.03)
  }
  projected <- budget_perceptron(d$x, d$y, gamma = 0.5, beta = 0.1, removal = "projection", budget = 40, standardize = FALSE)
  expect_lt(projected$mistakes, all$mistakes + 100)
})

test_that("gamma shows in the print of every machine with an rbf kernel", {
  expect_output(print(budget_perceptron(iris[1:100, 1:2], droplevels(iris$Species[1:100]), gamma = 0.35)), "gamma 0.35")
  expect_output(print(kernel_perceptron(iris[1:100, 1:2], droplevels(iris$Species[1:100]), gamma = 0.35)), "gamma 0.35")
  expect_output(print(lasvm(iris[1:100, 1:2], droplevels(iris$Species[1:100]), gamma = 0.35)), "gamma 0.35")
  expect_output(print(svm(iris[1:100, 1:2], droplevels(iris$Species[1:100]), gamma = 0.35)), "gamma: 0.35")
})
