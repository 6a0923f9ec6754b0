# Feature weights: q_alpha() and what goes with it.

standard <- function(x) apply(x, 2, function(v) (v - mean(v)) / sqrt(sum((v - mean(v))^2)))
dense_g <- function(m, q) crossprod(m) * tcrossprod(crossprod(m, q))

test_that("weights are the leading eigenvector of G and the objective is the sum of squared eigenvalues", {
  set.seed(1)
  sim <- sim_q_alpha("clusters", clusters = 3)
  m <- standard(sim$x)
  for (method in c("power", "basic", "ritz")) {
    fit <- q_alpha(sim$x, 3, method = method, tol = 1e-9, max_iter = 3000, n_starts = 3)
    leading <- eigen(dense_g(m, fit$embedding), symmetric = TRUE)
    expect_equal(fit$objective, leading$values[1], tolerance = 1e-6)
    expect_equal(unname(fit$weights), abs(leading$vectors[, 1]), tolerance = 1e-4)
    expect_equal(fit$objective, sum(fit$eigenvalues^2), tolerance = 1e-6)
    expect_true(all(diff(fit$objective_path) > -1e-9))
    expect_setequal(names(coef(q_alpha_select(fit))), sim$relevant)
    expect_gt(fit$min_weight, 0)
    expect_equal(sum(fit$weights^2), 1)
    expect_equal(fit$trace, sum(fit$weights))
  }
})

test_that("a linear kernel, k = q and duplicated features behave as theory says", {
  set.seed(2)
  x <- sim_q_alpha("clusters", clusters = 2, noise = 30)$x
  plain <- q_alpha(x, 2, n_starts = 1, method = "power", tol = 1e-9)
  expect_equal(q_alpha(x, 2, kernel = "linear", n_starts = 1, tol = 1e-9)$weights, plain$weights, tolerance = 1e-7)
  expect_equal(q_alpha(x, 2, kernel = crossprod(standard(x)), n_starts = 1, tol = 1e-9)$weights, plain$weights, tolerance = 1e-7)
  small <- x[1:8, 1:12]
  squares <- eigen(crossprod(standard(small))^2, symmetric = TRUE)
  expect_equal(unname(q_alpha(small, 8, n_starts = 1, tol = 1e-9)$weights), abs(squares$vectors[, 1]), tolerance = 1e-6)
  doubled <- q_alpha(cbind(x, x[, 7]), 2)
  expect_equal(doubled$weights[[7]], doubled$weights[[ncol(x) + 1]], tolerance = 1e-6)
  expect_gt(doubled$weights[[7]], plain$weights[[7]])
})

test_that("permuting samples changes nothing, permuting features permutes, signs, scales and shifts do not matter", {
  set.seed(3)
  x <- sim_q_alpha("clusters", clusters = 3, noise = 20)$x
  weights <- function(x) unname(q_alpha(x, 3, n_starts = 1, tol = 1e-8)$weights)
  base <- weights(x)
  rows <- sample(nrow(x))
  columns <- sample(ncol(x))
  expect_equal(weights(x[rows, ]), base, tolerance = 1e-5)
  expect_equal(weights(x[, columns]), base[columns], tolerance = 1e-5)
  for (scale in c(1e-8, 1e8)) expect_equal(weights(scale * x), base, tolerance = 1e-5)
  expect_equal(weights(sweep(-x, 2, seq_len(ncol(x)), "+")), base, tolerance = 1e-5)
})

weight_ratio <- function(fit) mean(fit$weights[1:5]) / mean(fit$weights[-(1:5)])

test_that("relevant features are found over seeds, and the gap criterion sharpens the profile", {
  for (seed in 1:4) {
    set.seed(seed)
    sim <- sim_q_alpha("clusters", clusters = 4)
    fit <- q_alpha(sim$x, 4)
    expect_gt(mean(names(coef(q_alpha_select(fit, "top", n = 5))) %in% sim$relevant), 0.7)
    expect_gt(weight_ratio(fit), 4)
  }
  gap <- q_alpha(sim$x, 4, criterion = "gap")
  expect_gt(weight_ratio(gap), weight_ratio(fit))
  expect_equal(gap$objective, {
    all <- eigen(tcrossprod(sweep(standard(sim$x), 2, sqrt(gap$weights), "*")), symmetric = TRUE)$values
    2 * sum(all[1:4]^2) - sum(all^2)
  }, tolerance = 1e-3)  # weights below zero, which this criterion allows, are reported as zero
})

test_that("the default tolerance, 1e-8, is reached without a warning", {
  for (clusters in c(2, 5, 8)) {
    set.seed(clusters)
    x <- sim_q_alpha("clusters", clusters = clusters)$x
    expect_warning(fit <- q_alpha(x, clusters), NA)
    expect_true(fit$convergence$converged)
    expect_lt(fit$convergence$iterations, 200)
    again <- q_alpha(x, clusters, tol = 1e-10, max_iter = 2000)
    expect_equal(fit$objective, again$objective, tolerance = 1e-8)
    expect_equal(fit$weights, again$weights, tolerance = 1e-3)
  }
})

test_that("a direction that is all noise, with saddles on the way, settles too", {
  skip_if(Sys.getenv("GRANARY_EXTENDED") != "1")
  set.seed(1)
  labels <- rep_len(1:3, 100)
  x <- matrix(rnorm(100 * 20000), 100)
  x[, 1:200] <- x[, 1:200] + matrix(rnorm(3 * 200, sd = 0.8), 3)[labels, ]
  fit <- q_alpha(x, 3, method = "basic", n_starts = 1)
  expect_true(fit$convergence$converged)
  expect_lt(fit$convergence$iterations, 200)
})

test_that("classes: features active in one class win; the printed warning about centred features holds", {
  set.seed(4)
  labels <- factor(rep(c("a", "b"), each = 15))
  x <- abs(matrix(rnorm(30 * 20), 30))
  x[, 1:3] <- 0.05 * x[, 1:3] + 2 * (labels == "a")
  x[, 4:6] <- 0.05 * x[, 4:6] + 2 * (labels == "b")
  fit <- q_alpha(x, labels = labels)
  expect_true(all(names(coef(q_alpha_select(fit, "top", n = 3))) %in% paste0("V", 1:6)))
  expect_identical(fit$k, 2L)
  expect_false(fit$center)
  expect_true(all(fit$weights >= 0))
  expect_equal(max(fit$objective_path), fit$objective, tolerance = 1e-12)
  opposite <- matrix(rnorm(30 * 20), 30)
  opposite[, 1:3] <- opposite[, 1:3] + 3 * ifelse(labels == "a", 1, -1)
  centred <- suppressWarnings(q_alpha(opposite, labels = labels, center = TRUE))
  expect_lt(mean(centred$weights[1:3]), mean(suppressWarnings(q_alpha(opposite, labels = labels, center = TRUE, gamma = -0.5))$weights[1:3]))
  expect_s3_class(suppressWarnings(q_alpha(x, labels = factor(c("c", as.character(labels[-1]))))), "granary_q_alpha")  # a class of size one
})

test_that("kernels see what correlations do not", {
  hits <- vapply(1:5, function(seed) {
    set.seed(seed)
    sim <- sim_q_alpha("sessions")
    fit <- q_alpha(sim$x, 3, kernel = "blocks", center = FALSE, kernel_center = TRUE, n_starts = 3)
    sum(names(coef(q_alpha_select(fit, "top", n = 12))) %in% sim$relevant)
  }, 0)
  expect_gt(mean(hits), 9)
  set.seed(1)
  x <- matrix(rnorm(24), 3)
  blocks <- kernel_matrix(granary:::block_kernel(8, 3, 2), x)
  expect_equal(blocks[1, 2], sum(x[1, 1:3] * x[2, 1:3])^2 + sum(x[1, 4:6] * x[2, 4:6])^2 + sum(x[1, 7:8] * x[2, 7:8])^2)
})

test_that("the Laplacian spectrum with centred features gives the weights of the standard one", {
  set.seed(5)
  x <- sim_q_alpha("clusters", clusters = 2, noise = 15)$x
  expect_equal(q_alpha(x, 2, spectrum = "laplacian", n_starts = 1, tol = 1e-9)$weights, q_alpha(x, 2, n_starts = 1, tol = 1e-9)$weights,
               tolerance = 1e-3)
  fit <- q_alpha(abs(x), 2, spectrum = "laplacian", center = FALSE, n_starts = 2)
  expect_true(all(is.finite(fit$weights)))
})

test_that("the same seed gives the same answer on one and two threads", {
  x <- sim_q_alpha("clusters", clusters = 3, noise = 40)$x
  run <- function(threads) {
    set.seed(9)
    q_alpha(x, 3, threads = threads)[c("weights", "start_objectives")]
  }
  expect_identical(run(1), run(2))
})

test_that("edge cases: constant features, one feature, orthogonal features, duplicated samples", {
  set.seed(6)
  x <- matrix(rnorm(50), 10)
  x[, 2] <- 7
  expect_warning(fit <- q_alpha(x, 2), "does not vary", class = "granary_warning_input")
  expect_identical(fit$weights[[2]], 0)
  expect_identical(fit$dropped, "V2")
  expect_equal(q_alpha(x[, 1, drop = FALSE], 1)$weights, c(V1 = 1))
  expect_equal(q_alpha(diag(4)[rep(1:4, 2), ], 4, center = FALSE)$objective, 1, tolerance = 1e-8)
  expect_equal(q_alpha(x[rep(1:10, 2), -2], 2, n_starts = 1, tol = 1e-9)$weights, q_alpha(x[, -2], 2, n_starts = 1, tol = 1e-9)$weights,
               tolerance = 1e-4, ignore_attr = TRUE)
})

test_that("every error names its argument", {
  x <- matrix(rnorm(60), 10)
  expect_error(q_alpha(x), "`k` must be given", class = "granary_error_input")
  expect_error(q_alpha(x, 11), "`k`", class = "granary_error_input")
  expect_error(q_alpha(x[1:2, ], 1), "at least 3 rows", class = "granary_error_input")
  expect_error(q_alpha(matrix(1, 5, 3), 1), "all are constant", class = "granary_error_input")
  x[2, 3] <- NA
  expect_error(q_alpha(x, 2), "missing", class = "granary_error_input")
  x[2, 3] <- Inf
  expect_error(q_alpha(x, 2), "infinite", class = "granary_error_input")
  x[2, 3] <- 0
  expect_error(q_alpha(x, 2, labels = 1:3), "length 10", class = "granary_error_input")
  expect_error(q_alpha(x, 2, labels = rep(1, 10)), "two classes", class = "granary_error_input")
  expect_error(q_alpha(x, 2, labels = c(NA, rep(1:3, 3))), "missing", class = "granary_error_input")
  expect_error(q_alpha(x, 2, kernel = diag(3)), "one row per feature", class = "granary_error_input")
  expect_error(q_alpha(x, 2, kernel = "linear", labels = rep(1:2, 5)), "cannot be combined", class = "granary_error_input")
  expect_error(q_alpha(x, 2, kernel = "linear", method = "basic"), "With `kernel` only", class = "granary_error_input")
  expect_error(q_alpha(x, 2, spectrum = "laplacian", criterion = "gap"), "laplacian", class = "granary_error_input")
  expect_error(q_alpha(x, 2, method = "ritz", criterion = "gap"), "ritz", class = "granary_error_input")
  expect_error(names(coef(q_alpha_select(q_alpha(x, 2), "top"))), "`n` must be given", class = "granary_error_input")
  expect_error(q_alpha_bounds("irrelevant", q_alpha(x, 2), x, "nobody"), "not there", class = "granary_error_input")
  expect_error(q_alpha_baseline(x), "`y` must be given", class = "granary_error_input")
  expect_warning(q_alpha(x, 2, max_iter = 2, tol = 1e-9), class = "granary_warning_convergence")
})

test_that("selection rules do what they say", {
  weights <- c(a = 5, b = 4, c = 0.5, d = 0.4, e = 0.39)
  expect_identical(names(coef(q_alpha_select(weights))), c("a", "b"))
  expect_identical(names(coef(q_alpha_select(weights, "top", n = 3))), c("a", "b", "c"))
  expect_identical(names(coef(q_alpha_select(weights, "mass", mass = 0.6))), "a")
  expect_identical(names(coef(q_alpha_select(weights, "mass", mass = 0.99))), c("a", "b", "c"))
  choice <- q_alpha_select(weights)
  expect_s3_class(choice, "granary_selection")
  expect_equal(tidy(choice)$sparsity_gap[2], 4.5 / mean(weights[3:5]))
  expect_equal(tidy(choice)$estimate[1:2], c(5 / 4, 4 / 0.5))
  expect_identical(which(tidy(choice)$selected), 2L)
  expect_equal(tidy(choice)$mass[5], 1)
  expect_error(q_alpha_select(unname(weights)), "names", class = "granary_error_input")
  expect_error(q_alpha_select(weights, "stability", n = 2, x = matrix(0, 6, 5)), "q_alpha", class = "granary_error_input")
})

test_that("bounds hold, moments and positivity agree with known values", {
  set.seed(7)
  sim <- sim_q_alpha("clusters", clusters = 3)
  fit <- q_alpha(sim$x, 3, n_starts = 2)
  bounds <- q_alpha_bounds("irrelevant", fit, sim$x, 6:125)
  expect_lte(bounds$weight, bounds$bound)
  expect_equal(bounds$squared_norm, sum(crossprod(standard(sim$x)[, 6:125])^2))
  expect_equal(bounds$random_norm, bounds$squared_norm, tolerance = 0.1)
  noise <- matrix(rnorm(300 * 400), 300)
  values <- eigen(tcrossprod(noise) / 400, symmetric = TRUE)$values
  expect_equal(c(q_alpha_bounds("moment", 2, 0.75), q_alpha_bounds("moment", 3, 0.75)), c(mean(values^2), mean(values^3)), tolerance = 0.03)
  expect_equal(q_alpha_bounds("moment", 2, 0.5), 1.5)
  expect_gt(q_alpha_bounds("positivity", 40, n_rep = 200), 0.97)
})

test_that("filters agree with their definitions", {
  set.seed(8)
  x <- matrix(rnorm(80), 20)
  y <- factor(rep(c("a", "b"), 10))
  expect_equal(unname(coef(q_alpha_baseline(x, y))), abs(drop(cor(x, as.integer(y)))))
  ks <- apply(x, 2, function(v) suppressWarnings(ks.test(v[y == "a"], v[y == "b"]))$statistic)
  expect_equal(unname(coef(q_alpha_baseline(x, y, "ks"))), unname(ks))
  one <- split(x[, 1], y)
  expect_equal(coef(q_alpha_baseline(x, y, "fisher"))[[1]], (mean(one$a) - mean(one$b))^2 / (var(one$a) + var(one$b)))
  expect_equal(coef(q_alpha_baseline(x, y, "snr"))[[1]], abs(mean(one$a) - mean(one$b)) / (sd(one$a) + sd(one$b)))
  expect_equal(unname(coef(q_alpha_baseline(x, method = "variance"))), apply(x, 2, var))
  loadings <- svd(standard(x))
  expect_equal(unname(coef(q_alpha_baseline(x, method = "pca"))), sqrt(drop(loadings$v[, 1:2]^2 %*% loadings$d[1:2]^2)))
  expect_identical(coef(q_alpha_baseline(cbind(x, 3), y))[[5]], 0)
  clusters <- sim_q_alpha("clusters", clusters = 3)
  expect_gt(mean(coef(q_alpha_baseline(clusters$x[, 1:20], method = "laplacian"))[1:5]), mean(coef(q_alpha_baseline(clusters$x[, 1:20], method = "laplacian"))[6:20]))
  expect_output(print(q_alpha_baseline(x, y)), "pearson")
  expect_output(print(summary(q_alpha_baseline(x, y))), "selected")
})

test_that("methods: print, summary, predict, plot, tidy, stability", {
  set.seed(10)
  sim <- sim_q_alpha("clusters", clusters = 3)
  fit <- q_alpha(sim$x, 3, n_starts = 2)
  expect_output(print(fit), "Suggested cut")
  expect_output(print(summary(fit)), "sparsity_gap")
  weighted <- predict(fit, sim$x)
  expect_equal(tcrossprod(weighted), tcrossprod(sweep(standard(sim$x), 2, sqrt(fit$weights), "*")), ignore_attr = TRUE)
  expect_identical(colnames(predict(fit, sim$x, type = "selected")), names(coef(q_alpha_select(fit))))
  clusters <- predict(fit, type = "cluster")
  expect_gt(max(table(clusters, sim$labels)[1, ]) / sum(clusters == 1), 0.9)
  expect_identical(nrow(tidy(fit)), 125L)
  pdf(NULL)
  on.exit(dev.off())
  expect_null(plot(fit))
  expect_null(plot(fit, "embedding"))
  stable <- q_alpha_select(fit, "stability", n = 5, x = sim$x, n_rep = 6, n_starts = 1)
  expect_true(all(stable$table$feature[1:3] %in% sim$relevant))
  expect_true(all(diff(stable$table$estimate) <= 0))
  expect_identical(stable$selected, sum(stable$table$estimate > 0.5))
  expect_identical(colnames(predict(stable, sim$x, type = "selected")), stable$table$feature[seq_len(stable$selected)])
})
