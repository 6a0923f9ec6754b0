# Multilabel learners.

set.seed(1)
sim <- sim_multilabel(260, m = 5, type = "chain", p = 3)
train <- 1:160
x <- sim$x[train, ]
y <- sim$y[train, ]

test_that("every model learns more than the frequencies tell", {
  set.seed(2)
  none <- f_score(sim$y[-train, ], matrix(f_decide(sample = y)$labels, 100, 5, byrow = TRUE))
  for (model in c("pcc", "efp", "lfp", "br", "knn", "ftree")) {
    fit <- suppressWarnings(multilabel(x, y, model = model, lambda = c(0.1, 10), n_trees = if (model == "ftree") 20 else 1, mtry = 2))
    said <- suppressWarnings(predict(fit, sim$x[-train, ], n_draws = 200))
    expect_equal(dim(said), c(100, 5))
    expect_setequal(unique(as.vector(said)), 0:1)
    expect_gt(f_score(sim$y[-train, ], said)$f_instance, none$f_instance - 0.03)
    prob <- predict(fit, sim$x[-train, ], type = "prob", n_draws = 200)
    expect_true(all(prob >= 0 & prob <= 1))
    expect_gt(cor(as.vector(prob), as.vector(sim$y[-train, ])), 0.3)
    expect_output(print(fit), "Multilabel")
    expect_output(print(summary(fit)), "rows of the fit")
  }
})

test_that("binary relevance is logistic regression with a ridge", {
  fit <- multilabel(x, y, model = "br", lambda = 1e-6, tol = 1e-9, max_iter = 2000)
  for (j in c(2, 5)) {
    reference <- suppressWarnings(glm.fit(cbind(1, x), y[, j], family = binomial()))
    if (reference$converged) expect_equal(unname(coef(fit)[, j]), unname(reference$coefficients), tolerance = 1e-3)
  }
  prob <- predict(fit, type = "prob")
  expect_equal(predict(fit), 1L * (prob > 0.5), ignore_attr = TRUE)
})

test_that("the ridge: the gradient of the penalised log-likelihood is 0", {
  lambda <- 3
  fit <- multilabel(x, y, model = "br", lambda = lambda, tol = 1e-8)
  z <- scale(x) * sqrt(nrow(x) / (nrow(x) - 1))
  b <- coef(fit)[-1, 1] / (attr(z, "scaled:scale")^-1) * sqrt((nrow(x) - 1) / nrow(x))
  p <- predict(fit, type = "prob")[, 1]
  expect_equal(unname(drop(crossprod(z, y[, 1] - p))), unname(lambda * b), tolerance = 1e-4)
})

test_that("chains: the exact mode is the mode of all vectors, and draws follow the law", {
  fit <- multilabel(x, y, model = "pcc", target = "subset", lambda = 1)
  vectors <- as.matrix(expand.grid(rep(list(0:1), 5)))
  chain <- fit$core$chains[[1]]
  law <- function(row) {
    apply(vectors, 1, function(v) {
      before <- row
      value <- 1
      for (i in 1:5) {
        step <- chain$step[[i]]
        p <- if (step$constant >= 0) step$constant else plogis(step$fit$intercept + sum(step$fit$coefficients * before))
        value <- value * (if (v[chain$order[i]] == 1) p else 1 - p)
        before <- c(before, v[chain$order[i]])
      }
      value
    })
  }
  new <- sim$x[201:206, ]
  mode <- predict(fit, new)
  set.seed(3)
  draws <- predict(fit, new, type = "sample", n_draws = 4000)
  expect_equal(dim(draws), c(6, 5, 4000))
  for (r in 1:6) {
    prob <- law(new[r, ])
    expect_equal(sum(prob), 1)
    expect_equal(unname(mode[r, ]), unname(vectors[which.max(prob), ]))
    expect_equal(attr(mode, "expected")[r], max(prob))
    expect_lt(max(abs(rowMeans(draws[r, , ]) - colSums(vectors * prob))), 0.05)
  }
  wide <- predict(fit, new, search = "beam")
  expect_equal(wide, mode, ignore_attr = TRUE)
  expect_lte(max(attr(predict(fit, new, search = "greedy"), "expected") - attr(mode, "expected")), 1e-12)
})

test_that("the size model is GFM of the law it learns: a saturated model on a discrete x", {
  set.seed(4)
  group <- rep(1:2, c(150, 150))
  labels <- rbind(matrix(rbinom(150 * 3, 1, 0.6), 150), matrix(rbinom(150 * 3, 1, c(0.2, 0.5, 0.9)), 150, byrow = TRUE))
  indicator <- cbind(g = group == 2)
  fit <- multilabel(indicator + 0, labels, model = "efp", lambda = 1e-6, tol = 1e-7)
  for (g in 1:2) {
    direct <- f_decide(sample = labels[group == g, ])
    said <- predict(fit, cbind(g = g - 1))
    expect_equal(unname(said[1, ]), direct$labels)
    expect_equal(attr(said, "expected"), direct$expected, tolerance = 1e-3)
  }
  expect_equal(f_score(labels, predict(fit, calibrate = TRUE))$n, 300)
})

test_that("neighbours: the law of the nearest rows", {
  fit <- multilabel(x, y, model = "knn", neighbors = 7)
  z <- scale(x)
  distance <- colSums((t(z) - z[10, ])^2)
  near <- order(distance)[1:7]
  expect_equal(unname(predict(fit, x[10, , drop = FALSE])[1, ]), f_decide(sample = y[near, ])$labels, ignore_attr = TRUE)
  expect_equal(unname(predict(fit, x[10, , drop = FALSE], type = "prob")[1, ]), unname(colMeans(y[near, ])))
})

test_that("a tree's first split is the best of all splits", {
  fit <- multilabel(x, y, model = "ftree", cuts = 0, min_node = nrow(x))
  best_f <- function(rows) f_decide(sample = y[rows, , drop = FALSE])$expected * length(rows)
  gain <- apply(x, 2, function(column) {
    cuts <- sort(column)
    max(vapply(cuts[-length(cuts)], function(cut) best_f(which(column <= cut)) + best_f(which(column > cut)), 0))
  })
  tree <- fit$core$trees[[1]]
  expect_equal(tree$column[1], unname(which.max(gain)))
  expect_equal(best_f(which(x[, tree$column[1]] <= tree$threshold[1])) + best_f(which(x[, tree$column[1]] > tree$threshold[1])), max(gain))
  expect_equal(sum(fit$importance), (max(gain) - best_f(seq_len(nrow(x)))) / nrow(x))
})

test_that("formula, names, one and two threads, seeds", {
  data <- data.frame(y, x)
  by_formula <- multilabel(cbind(y1, y2, y3, y4, y5) ~ ., data, model = "lfp", lambda = 1)
  plain <- multilabel(x, y, model = "lfp", lambda = 1)
  expect_equal(predict(by_formula, data, type = "prob"), predict(plain, x, type = "prob"), ignore_attr = TRUE)
  expect_equal(predict(plain, sim$x[170:180, 3:1], type = "prob"), predict(plain, sim$x[170:180, ], type = "prob"))
  set.seed(5)
  one <- multilabel(x, y, model = "ftree", n_trees = 4, mtry = 2, threads = 1)
  set.seed(5)
  two <- multilabel(x, y, model = "ftree", n_trees = 4, mtry = 2, threads = 2)
  expect_identical(one$core$trees, two$core$trees)
  chains <- multilabel(x, y, lambda = 1, n_chains = 3)
  set.seed(6)
  a <- predict(chains, x[1:20, ], n_draws = 50, threads = 1)
  set.seed(6)
  b <- predict(chains, x[1:20, ], n_draws = 50, threads = 2)
  expect_identical(a, b)
  expect_length(chains$core$chains, 3)
  expect_equal(multilabel(x, y, lambda = 1, order = c("y3", "y1", "y2", "y5", "y4"))$core$chains[[1]]$order, c(3, 1, 2, 5, 4))
  fit <- update(by_formula, model = "br")
  expect_equal(fit$model, "br")
})

test_that("labels that never change, one label, constant columns", {
  odd <- cbind(y[, 1:2], never = 0, always = 1)
  for (model in c("pcc", "efp", "lfp", "knn", "ftree")) {
    fit <- multilabel(cbind(x, flat = 1), odd, model = model, lambda = 1)
    said <- suppressWarnings(predict(fit, cbind(x, flat = 1)[1:9, ], n_draws = 100))
    expect_equal(unname(said[, 3]), rep(0, 9))
    expect_equal(unname(said[, 4]), rep(1, 9))
  }
  alone <- multilabel(x, y[, 1], model = "br", lambda = 1)
  expect_equal(ncol(predict(alone, x[1:3, ])), 1)
})

test_that("errors name what is wrong", {
  expect_error(multilabel(x, y[-1, ]), "one row per row", class = "granary_error_input")
  expect_error(multilabel(x, y + 1), "0 or 1", class = "granary_error_input")
  expect_error(multilabel(x, y, lambda = 0), "lambda", class = "granary_error_input")
  expect_error(multilabel(x, y, neighbors = 1000), "neighbors", class = "granary_error_input")
  expect_error(multilabel(x, y, order = c("y1", "z", "y2", "y3", "y4")), "no label", class = "granary_error_input")
  expect_error(multilabel(x, y, order = c(1, 1, 2, 3, 4)), "order", class = "granary_error_input")
  expect_error(multilabel(x, y, weights = 1), "weights", class = "granary_error_input")
  fit <- multilabel(x, y, model = "efp", lambda = 1)
  expect_error(predict(fit, x[, 1:2]), "columns of the fit", class = "granary_error_input")
  expect_error(predict(fit, type = "sample"), "no law", class = "granary_error_input")
  expect_error(predict(multilabel(x, y, model = "knn"), calibrate = TRUE), "efp", class = "granary_error_input")
  expect_error(coef(fit), class = "granary_error_input")
})
