# CUR and column selection: the oracles of the literature, brute force, and what can be wrong.

norm_of <- function(a) sqrt(sum(a^2))
pinv <- function(a, tol = 1e-10) {
  s <- svd(a)
  keep <- s$d > tol * s$d[1L]
  s$v[, keep, drop = FALSE] %*% (t(s$u[, keep, drop = FALSE]) / s$d[keep])
}
decaying <- function(m = 60, n = 80, seed = 2) {
  set.seed(seed)
  k <- min(m, n)
  q <- qr.Q(qr(matrix(rnorm(m * m), m)))[, 1:k]
  p <- qr.Q(qr(matrix(rnorm(n * n), n)))[, 1:k]
  q %*% (1 / (1:k) * t(p))
}
every <- c("fast", "dual_set", "subspace", "subspace_expected", "leverage_top", "qr", "uniform", "norm2", "adaptive")
quiet <- function(code) suppressMessages(suppressWarnings(code))

test_that("every method: the error is that of the answer, and U is optimal for the columns and rows chosen", {
  a <- decaying()
  for (method in every) {
    set.seed(3)
    fit <- cur(a, k = 5, c = 20, r = 25, method = method)
    expect_equal(fit$error, norm_of(a - fitted(fit)), tolerance = 1e-8, label = method)
    residual <- a - fitted(fit)
    expect_lt(max(abs(t(fit$C) %*% residual %*% t(fit$R))), 1e-9, label = method)
    expect_equal(unname(fit$U), pinv(fit$C) %*% a %*% pinv(fit$R), tolerance = 1e-6, label = method)
    expect_equal(fit$C, a[, fit$cols], label = method)
    expect_equal(fit$column_error, norm_of(a - fit$C %*% pinv(fit$C) %*% a), tolerance = 1e-8, label = method)
    if (!method %in% c("subspace_expected", "dual_set")) {
      expect_identical(c(length(unique(fit$cols)), length(unique(fit$rows))), c(20L, 25L), label = method)
    }
  }
})

test_that("the other middles are what they say, and never better", {
  a <- decaying()
  for (method in c("subspace", "subspace_expected")) {
    set.seed(4)
    best <- cur(a, 5, 20, 30, method, replace = TRUE)
    set.seed(4)
    bone <- cur(a, 5, 20, 30, method, "skeleton", replace = TRUE)
    set.seed(4)
    dmm <- cur(a, 5, 20, 30, method, "dmm", replace = TRUE)
    expect_identical(bone$cols, best$cols)
    expect_equal(bone$U, pinv(a[bone$rows, bone$cols]), ignore_attr = TRUE, tolerance = 1e-6)
    q <- best$row_scores / sum(best$row_scores)
    d <- 1 / sqrt(if (method == "subspace") 30 * q[dmm$rows] else pmin(1, 30 * q[dmm$rows]))
    expect_equal(dmm$U, pinv(d * a[dmm$rows, dmm$cols]) %*% diag(d), ignore_attr = TRUE, tolerance = 1e-6)
    for (fit in list(bone, dmm)) {
      expect_equal(fit$error, norm_of(a - fitted(fit)), tolerance = 1e-8)
      expect_gte(fit$error, best$error * (1 - 1e-10))
    }
  }
})

test_that("a matrix of low rank comes back, and all columns give all of it", {
  set.seed(5)
  a <- matrix(rnorm(40 * 4), 40) %*% matrix(rnorm(4 * 30), 4)
  for (method in every) {
    fit <- quiet(cur(a, k = 4, c = 12, r = 12, method = method))
    expect_lt(fit$error, 1e-10 * norm_of(a), label = method)
    expect_lt(norm_of(fitted(fit) - a), 1e-10 * norm_of(a), label = method)
  }
  b <- decaying(10, 14)
  whole <- cur(b, k = 3, c = 14, r = 10)
  expect_lt(whole$error, 1e-12 * norm_of(b))
  expect_warning(cur(a, k = 9, c = 15, r = 15), "numerical rank 4")
  expect_warning(cur(b, k = 12, c = 13, r = 10), "at most rank 10")
  expect_message(column_select(a, k = 4, c = 10, method = "qr"), "after 4 columns")
})

test_that("columns of a diagonal matrix are its largest", {
  a <- diag(c(1, 9, 3, 8, 2, 7))
  expect_setequal(column_select(a, 3, 3, "leverage_top")$cols, c(2, 4, 6))
  expect_identical(unname(column_select(a, 3, 3, "qr")$cols), c(2L, 4L, 6L))
  expect_equal(column_select(a, 3, 3, "qr")$error, norm_of(c(1, 3, 2)), tolerance = 1e-12)
})

test_that("leverage scores sum to the rank, and turn with their columns", {
  a <- decaying()
  exact <- leverage_scores(a, 5, svd = "exact")
  expect_equal(sum(exact$scores), 5, tolerance = 1e-10)
  expect_equal(exact$scores, rowSums(svd(a)$v[, 1:5]^2), tolerance = 1e-8)
  expect_equal(leverage_scores(a, 5, margin = 1, svd = "exact")$scores, rowSums(svd(a)$u[, 1:5]^2), tolerance = 1e-8)
  order <- c(80:1)
  expect_equal(leverage_scores(a[, order], 5, svd = "exact")$scores, exact$scores[order], tolerance = 1e-8)
  turn <- qr.Q(qr(matrix(rnorm(3600), 60)))
  expect_equal(leverage_scores(turn %*% a, 5, svd = "exact")$scores, exact$scores, tolerance = 1e-8)
  for (method in c("qr", "leverage_top", "dual_set")) {
    plain <- column_select(a, 5, 9, method, svd = "exact")
    expect_setequal(order[column_select(a[, order], 5, 9, method, svd = "exact")$cols], plain$cols)
    expect_setequal(column_select(turn %*% a, 5, 9, method, svd = "exact")$cols, plain$cols)
  }
  set.seed(6)
  expect_equal(leverage_scores(a, 5, svd = "random", power = 8, oversample = 20)$scores, exact$scores, tolerance = 1e-4)
})

test_that("dual sets keep both promises on every input", {
  set.seed(7)
  for (trial in 1:20) {
    n <- sample(6:40, 1)
    k <- sample(1:5, 1)
    r <- k + sample(1:10, 1)
    v <- qr.Q(qr(matrix(rnorm(n * k), n)))
    x <- switch(trial %% 3 + 1, rexp(n), numeric(n), c(rep(0, n - 1), 1))
    found <- dual_set(x, v, r)
    expect_lte(sum(found$weights > 0), r)
    expect_true(all(found$weights >= 0))
    expect_gte(min(eigen(crossprod(v * sqrt(found$weights)), TRUE)$values), (1 - sqrt(k / r))^2 - 1e-10)
    expect_lte(sum(found$weights * x), sum(x) + 1e-10)
    expect_equal(found$smallest, min(eigen(crossprod(v * sqrt(found$weights)), TRUE)$values), tolerance = 1e-8)
  }
  # Lemma 1: a bound for every matrix
  a <- decaying()
  best <- norm_of(svd(a)$d[-(1:5)])
  for (c in c(7, 10, 20)) {
    fit <- column_select(a, 5, c, "dual_set", svd = "exact")
    expect_lte(fit$error, sqrt(1 + (1 - sqrt(5 / c))^-2) * best)
    expect_equal(fit$best_error, best, tolerance = 1e-8)
    expect_equal(fit$bound, sqrt(1 + (1 - sqrt(5 / c))^-2))
  }
})

test_that("adaptive sampling keeps Theorem 3, by enumeration of all draws", {
  a <- decaying(6, 7, 8)
  rows <- 1:2
  left <- a - a %*% pinv(a[rows, ]) %*% a[rows, ]
  q <- rowSums(left^2) / sum(left^2)
  columns <- a[, 1:3]
  project <- columns %*% pinv(columns) %*% a
  expected <- sum(q * vapply(1:6, function(i) {
    r <- a[c(rows, i), , drop = FALSE]
    if (q[i] < 1e-14) 0 else sum((a - project %*% pinv(r) %*% r)^2)
  }, 0))
  one_left <- a - a %*% pinv(a[rows, ]) %*% a[rows, ]
  expect_lte(expected, sum((a - project)^2) + 3 / 1 * sum(one_left^2))
  # and the draws of `fast` and `adaptive` follow these probabilities: a column that the others span is never drawn
  b <- cbind(a, a[, 1] + a[, 2], 0)
  for (seed in 1:10) {
    set.seed(seed)
    expect_false(9L %in% column_select(b, 3, 6, "adaptive")$cols)
    expect_false(9L %in% column_select(b, 3, 6, "norm2")$cols)
    expect_false(9L %in% column_select(b, 3, 6, "uniform")$cols)
  }
})

test_that("on the decaying matrix the methods order as they should", {
  a <- decaying()
  best <- sum(svd(a)$d[-(1:5)]^2)
  ratio <- function(method, c, replace = FALSE) mean(vapply(1:60, function(seed) {
    set.seed(seed)
    column_select(a, 5, c, method, svd = "exact", replace = replace)$error^2 / best
  }, 0))
  fast <- ratio("fast", 20)
  expect_equal(fast, 0.455, tolerance = 0.05)  # 0.455 over 100 draws in an independent programme
  expect_equal(ratio("qr", 20), 0.368, tolerance = 0.01)
  expect_lt(fast, ratio("subspace", 20))
  expect_equal(ratio("uniform", 20, replace = TRUE), 0.616, tolerance = 0.06)
  expect_equal(ratio("subspace", 20, replace = TRUE), 0.591, tolerance = 0.06)
})

test_that("sparse matrices, functions, files and pieces give what the dense matrix gives", {
  a <- decaying(50, 40)
  a[abs(a) < 0.02] <- 0
  sparse <- methods::as(a, "CsparseMatrix")
  same <- function(one, two) {
    expect_identical(unname(one$cols), unname(two$cols))
    expect_identical(unname(one$rows), unname(two$rows))
    expect_equal(one$error, two$error, tolerance = 1e-8)
    expect_equal(unname(one$U), unname(two$U), tolerance = 1e-6)
    expect_equal(unname(as.matrix(one$C)), unname(as.matrix(two$C)))
    expect_equal(unname(as.matrix(one$R)), unname(as.matrix(two$R)))
  }
  path <- tempfile(fileext = ".csv")
  write.csv(as.data.frame(a), path, row.names = FALSE)
  for (method in every) {
    fit <- function(x, ...) {
      set.seed(9)
      cur(x, 4, 12, 15, method, svd = "random", ...)
    }
    dense <- fit(a)
    expect_s4_class(fit(sparse)$C, "Matrix")
    same(dense, fit(sparse))
    same(dense, fit(function(j) a[, j, drop = FALSE], dim = dim(a), size = 7))
    same(dense, fit(data_chunks(a, size = 11)))
  }
  from_file <- cur(path, 4, 12, 15, "qr")
  same(from_file, cur(a, 4, 12, 15, "qr"))
  expect_identical(names(from_file$cols), paste0("V", from_file$cols))
  expect_gt(from_file$passes, 3)
  expect_equal(cur(a, 4, 12, 15, "qr")$passes, 0)
  wide <- cur(t(a), 4, 15, 12, "qr")
  expect_equal(wide$norm, from_file$norm, tolerance = 1e-8)
})

test_that("a positive matrix with the same rows and columns is the Nystrom approximation", {
  set.seed(10)
  x <- matrix(rnorm(60), 30)
  g <- exp(-as.matrix(dist(x))^2 / 2)
  fit <- cur(unname(g), k = 3, method = "given", cols = c(2, 9, 20, 25), rows = c(2, 9, 20, 25), u = "skeleton")
  by_hand <- g[, c(2, 9, 20, 25)] %*% solve(g[c(2, 9, 20, 25), c(2, 9, 20, 25)]) %*% g[c(2, 9, 20, 25), ]
  expect_equal(unname(fitted(fit)), unname(by_hand), tolerance = 1e-8)
})

test_that("new rows are completed from the chosen columns", {
  set.seed(11)
  a <- matrix(rnorm(40 * 3), 40) %*% matrix(rnorm(3 * 12), 3)
  colnames(a) <- letters[1:12]
  fit <- cur(a[1:30, ], 3, 6, 6)
  expect_equal(predict(fit, a[31:40, names(fit$cols)]), a[31:40, ], tolerance = 1e-8)
  expect_equal(predict(fit, as.data.frame(a[31:40, 12:1])), a[31:40, ], tolerance = 1e-8)
  expect_equal(predict(fit, unname(a[31:40, fit$cols])), a[31:40, ], tolerance = 1e-8)
  expect_equal(predict(fit, a[31, ], type = "latent") %*% fit$R, a[31, , drop = FALSE], tolerance = 1e-8,
               ignore_attr = TRUE)
  expect_equal(predict(fit), fitted(fit))
  chosen <- column_select(a[1:30, ], 3, 5)
  expect_equal(predict(chosen, a[31:40, ]), a[31:40, ], tolerance = 1e-8)
  expect_error(predict(fit, a[31:40, 1:4]), "chosen ones", class = "granary_error_input")
})

test_that("a seed fixes the answer at any number of threads", {
  a <- decaying(300, 200)
  for (method in c("fast", "adaptive", "subspace")) {
    set.seed(12)
    one <- cur(a, 5, method = method, svd = "random", threads = 1)
    set.seed(12)
    two <- cur(a, 5, method = method, svd = "random", threads = 2)
    expect_identical(one[c("cols", "rows", "U", "error")], two[c("cols", "rows", "U", "error")])
  }
})

test_that("plans turn into errors and back", {
  plan <- cur_plan(5, eps = c(1, 0.3))
  bound <- function(k, c, c1) k / (c - c1) * (1 + 1 / (1 - sqrt(k / c1))^2)
  for (i in 1:2) {
    expect_lte(bound(5, plan$c[i], plan$c1[i]), plan$eps[i])
    before <- vapply(6:(plan$c[i] - 2), function(c1) bound(5, plan$c[i] - 1, c1), 0)
    expect_gt(min(before), plan$eps[i])
    expect_lte(plan$c[i] / (plan$r[i] - plan$r1[i]) * (1 + 1 / (1 - sqrt(5 / plan$r1[i]))^2), plan$eps[i])
  }
  expect_lte(cur_plan(5, c = plan$c[1], r = plan$r[1])$eps, 1)
  # the splits printed with the method for k = 5
  at <- cur_plan(5, c = c(10, 20, 40, 100), r = 1000)
  expect_identical(at$c1, c(8, 12, 19, 32))
  set.seed(13)
  a <- decaying()
  fit <- cur(a, 2, 30, 50)
  expect_equal(fit$bound, 1 + cur_plan(2, c = 30, r = 50)$eps, tolerance = 1e-10)
})

test_that("choices repeated count how often", {
  a <- cbind(diag(8) * 10, matrix(0.01, 8, 4))
  set.seed(14)
  often <- cur_frequency(a, 3, 8, "norm2", n_rep = 20)
  expect_true(all(often$frequency[1:8] > 0.9))
  expect_length(often$err_ratio, 20)
  expect_identical(cur_frequency(a, 3, 4, "qr", n_rep = 3)$frequency,
                   tabulate(column_select(a, 3, 4, "qr")$cols, 12) * 1)
  half <- cur_frequency(a, 2, 4, "leverage_top", n_rep = 4, share = 0.5)
  expect_true(all(half$frequency <= 1))
})

test_that("the usual methods answer", {
  fit <- cur(volcano, 4, 10, 12, "qr")
  expect_output(print(fit), "10 columns and 12 rows")
  expect_output(print(summary(fit)), "columns alone")
  expect_identical(nrow(tidy(fit)), 22L)
  expect_identical(glance(fit)$c, 10L)
  expect_identical(nobs(fit), 87L)
  expect_equal(as.matrix(fit), fitted(fit))
  chosen <- column_select(volcano, 4, 10, "qr")
  expect_output(print(chosen), "10 columns of 61")
  expect_identical(nrow(tidy(chosen)), 10L)
  expect_error(fitted(chosen), "keeps no rows")
  expect_output(print(leverage_scores(volcano, 3)), "61 columns")
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
})

test_that("what is wrong is said", {
  a <- decaying(10, 12)
  wrong <- function(code, what) expect_error(code, what, class = "granary_error_input")
  wrong(cur(), "`x` must be given")
  wrong(cur(a), "`k` must be given")
  wrong(cur(a, 0), "`k` must be a whole number")
  wrong(cur(a, 2, c = 1.5), "`c` must be a whole number")
  wrong(cur(replace(a, 3, NA), 2), "no missing values")
  wrong(cur(replace(a, 3, Inf), 2), "must be finite")
  wrong(cur(a * 0, 2), "zero everywhere")
  wrong(cur(a, 2, method = "best"), "one of")
  wrong(cur(a, 2, u = "dmm"), "made from the probabilities")
  wrong(cur(a, 5, c = 5, method = "dual_set"), "above `k`")
  wrong(cur(a, 2, split = 1), "above `k`")
  wrong(cur(a, 2, split = 4, method = "qr"), "is for method")
  wrong(cur(a, 2, cols = 1:3), "is for method")
  wrong(cur(a, 2, method = "given", rows = 1:3), "`cols` must be given")
  wrong(cur(a, 2, method = "given", cols = 13, rows = 1), "at most 12")
  wrong(cur(as.data.frame(a), 2, method = "given", cols = "zz", rows = 1), "\"zz\"")
  wrong(cur(function(j) a, 2), "`dim` must be given")
  wrong(cur(function(j) a, 2, dim = c(10, 12), size = 5), "here 10 x 5")
  wrong(cur(function(j) stop("gone"), 2, dim = c(10, 12)), "failed: gone")
  wrong(cur(a, 2, dim = c(10, 12)), "`dim` is for a function")
  wrong(cur(data_chunks(function() NULL), 2), "read once only")
  wrong(cur("nowhere.csv", 2), "no file")
  wrong(cur(a, 2, wrong = 1), "no argument")
  wrong(dual_set(1:3, diag(3)[, 1:2], 2), "more members")
  wrong(dual_set(1:3, matrix(1, 3, 2), 5), "orthonormal")
  wrong(dual_set(1:2, diag(3), 5), "one number per row")
  wrong(cur_plan(5), "either")
  wrong(cur_plan(5, eps = 1, c = 3), "either")
  expect_message(cur(a, 2, c = 50, r = 5), "all are taken")
  filled <- cur(replace(a, 3, NA), 2, na = "mean", method = "qr")
  expect_equal(filled$norm, norm_of(replace(a, 3, mean(a[-3, 1]))))
})

test_that("scale, duplicates, ties and edges do no harm", {
  a <- decaying(20, 15)
  plain <- cur(a, 3, 6, 7, "qr")
  for (scale in c(1e-8, 1e8)) {
    fit <- cur(a * scale, 3, 6, 7, "qr")
    expect_identical(fit$cols, plain$cols)
    expect_equal(fit$err_ratio, plain$err_ratio, tolerance = 1e-8)
  }
  twice <- cbind(a, a)
  set.seed(15)
  for (method in every) expect_true(is.finite(cur(twice, 3, 10, 8, method)$error))
  repeated <- cur(a, 3, 40, 40, "norm2", replace = TRUE)
  expect_length(repeated$cols, 40)
  expect_equal(repeated$error, norm_of(a - fitted(repeated)), tolerance = 1e-8)
  single <- cur(matrix(3), 1, 1, 1)
  expect_equal(fitted(single), matrix(3))
  row <- cur(matrix(1:5, 1), 1, 1, 1, "qr")
  expect_lt(row$error, 1e-12)
  constant <- cur(matrix(2, 5, 6), 1, 3, 3)
  expect_lt(constant$error, 1e-12)
})

test_that("drawn columns have the products of the matrix without bias, and the singular vectors they give are near", {
  a <- decaying(12, 15)
  products <- Reduce(`+`, lapply(1:400, function(seed) {
    set.seed(seed)
    fit <- sampled_svd(a, 3, c = 8)
    expect_equal(norm_of(fit$columns), norm_of(a), tolerance = 1e-10)
    tcrossprod(fit$columns)
  })) / 400
  expect_lt(norm_of(products - tcrossprod(a)), 0.1 * norm_of(a)^2)
  apart <- mean(vapply(1:100, function(seed) {
    set.seed(seed)
    norm_of(tcrossprod(sampled_svd(a, 3, c = 8)$columns) - tcrossprod(a))
  }, 0))
  expect_lte(apart, norm_of(a)^2 / sqrt(8))
  for (method in c("linear", "constant")) {
    set.seed(1)
    fit <- sampled_svd(a, 3, c = 200, w = 200, method = method)
    expect_equal(fit$error, norm_of(a - fit$u %*% t(fit$u) %*% a), tolerance = 1e-10)
    expect_lt(fit$error, 1.1 * norm_of(svd(a)$d[-(1:3)]))
    expect_equal(crossprod(fit$u), diag(3), tolerance = 1e-10)
    expect_output(print(fit), "rank 3")
    expect_equal(predict(fit, a[, 1:2]), fit$u %*% t(fit$u) %*% a[, 1:2], tolerance = 1e-10)
  }
  expect_error(sampled_svd(a * 0, 1), "zero everywhere", class = "granary_error_input")
  expect_error(sampled_svd(a), "`k` must be given", class = "granary_error_input")
})
