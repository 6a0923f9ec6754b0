# The Nystrom approximation: oracles of the paper, brute force, sampling, certificates, and what can be wrong.

gaussian <- function(x, z = x, gamma = 0.5) {
  exp(-gamma * outer(rowSums(x^2), rowSums(z^2), "+") + 2 * gamma * tcrossprod(x, z))
}
points <- function(n = 40, seed = 1) {
  set.seed(seed)
  matrix(rnorm(2 * n), n)
}
worked <- matrix(c(4, 2, 0, 1, 2, 3, 1, 0, 0, 1, 2, 1, 1, 0, 1, 1.5), 4)
of <- function(g, ...) nystrom(g, "precomputed", ...)
samplings <- c("uniform", "uniform_wr", "trace", "diag2", "column", "inverse", "leverage", "adaptive", "greedy")

test_that("the worked example comes out", {
  two <- of(worked, landmarks = c(1, 3), k = 2)
  g <- fitted(two)
  expect_equal(c(g[2, 2], g[2, 4], g[4, 4]), c(1.5, 1, 0.75), tolerance = 1e-12)
  expect_lt(max(abs((worked - g)[-c(2, 4), ])), 1e-12)
  three <- of(worked, landmarks = c(1, 3, 4))
  expect_equal(three$trace_error, 1 / 6, tolerance = 1e-12)
  expect_equal(assess(three)$error[1:2], c(1 / 6, 1 / 6), tolerance = 1e-10)
})

test_that("with k = 1 and W truncated the scaling matters, as in the worked example", {
  by_hand <- function(p, c = 3) {
    i <- c(1, 3, 4)
    d <- diag(1 / sqrt(c * p[i]))
    w <- eigen(d %*% worked[i, i] %*% d, TRUE)
    z <- worked[, i] %*% d %*% w$vectors[, 1] / sqrt(w$values[1])
    sqrt(sum((worked - tcrossprod(z))^2))
  }
  expect_equal(by_hand(diag(worked) / sum(diag(worked))), 4.830211, tolerance = 1e-6)
  expect_equal(by_hand(rep(0.25, 4)), 3.660159, tolerance = 1e-6)
  # draws until the three rows were drawn once each
  found <- function(sampling) {
    for (seed in 1:200) {
      set.seed(seed)
      fit <- suppressWarnings(of(worked, c = 3, k = 1, sampling = sampling, truncate = "W"))
      if (setequal(fit$landmarks, c(1, 3, 4))) return(assess(fit)$error[2])
    }
  }
  expect_equal(found("uniform_wr"), 3.660159, tolerance = 1e-6)
  expect_equal(found("trace"), 4.830211, tolerance = 1e-6)
})

test_that("all landmarks give the matrix, and few that span it too", {
  x <- points(25)
  all <- nystrom(x, c = 25, gamma = 0.5, tol = 0)
  expect_equal(fitted(all), gaussian(x), tolerance = 1e-8, ignore_attr = TRUE)
  low <- tcrossprod(matrix(rnorm(75), 25))
  for (sampling in samplings) {
    set.seed(2)
    fit <- of(low, c = 8, sampling = sampling)
    expect_lt(max(abs(fitted(fit) - low)), 1e-8 * max(low), label = sampling)
    expect_identical(fit$rank, 3L)
  }
})

test_that("the landmarks' columns are exact, the error is positive semi-definite, and more landmarks help", {
  x <- points()
  g <- gaussian(x)
  for (sampling in samplings) {
    set.seed(3)
    fit <- nystrom(x, gamma = 0.5, c = 10, sampling = sampling, tol = 1e-13)
    error <- g - fitted(fit)
    expect_lt(max(abs(error[, fit$landmarks])), 1e-6, label = sampling)
    expect_gt(min(eigen(error, TRUE, TRUE)$values), -1e-8, label = sampling)
    expect_equal(fit$trace_error, sum(diag(error)), tolerance = 1e-8, label = sampling)
    expect_equal(unname(fit$resid_diag), unname(diag(error)), tolerance = 1e-6, label = sampling)
    expect_equal(crossprod(fit$features), diag(fit$eigenvalues, fit$rank), ignore_attr = TRUE, tolerance = 1e-8)
  }
  few <- nystrom(x, gamma = 0.5, landmarks = 1:6)
  more <- nystrom(x, gamma = 0.5, landmarks = 1:12)
  expect_lte(more$trace_error, few$trace_error + 1e-12)
  expect_equal(fitted(nystrom(x, gamma = 0.5, landmarks = c(1:6, 3, 3))), fitted(few), tolerance = 1e-8)
})

test_that("the answer does not depend on probabilities where the rank is not cut", {
  x <- points()
  set.seed(4)
  one <- nystrom(x, gamma = 0.5, c = 8, sampling = "uniform_wr", truncate = "W")
  again <- nystrom(x, gamma = 0.5, landmarks = one$landmarks, truncate = "W")
  expect_equal(fitted(one), fitted(again), tolerance = 1e-6)
})

test_that("cutting G is the best rank k of the full-rank answer, and at least as good as cutting W", {
  x <- points(120, 5)
  g <- gaussian(x)
  for (k in c(3, 6)) {
    set.seed(6)
    full <- nystrom(x, gamma = 0.5, c = 20)
    cut <- nystrom(x, gamma = 0.5, landmarks = full$landmarks, k = k)
    w <- nystrom(x, gamma = 0.5, landmarks = full$landmarks, k = k, truncate = "W")
    e <- eigen(fitted(full), TRUE)
    best <- e$vectors[, 1:k] %*% (e$values[1:k] * t(e$vectors[, 1:k]))
    expect_equal(fitted(cut), best, tolerance = 1e-8, ignore_attr = TRUE)
    expect_lte(cut$trace_error, w$trace_error + 1e-10)
    expect_gte(assess(cut)$ratio[2], 1)
  }
})

test_that("new rows get the features, for every kind of data", {
  x <- points(60, 7)
  new <- points(5, 8)
  fit <- nystrom(x, gamma = 0.5, c = 20)
  c <- gaussian(new, x[fit$landmarks, ])
  w <- gaussian(x[fit$landmarks, ])
  expect_equal(tcrossprod(predict(fit, new)), c %*% solve(w, t(c)), tolerance = 1e-6, ignore_attr = TRUE)
  expect_equal(predict(fit, x), predict(fit), tolerance = 1e-8)
  by_matrix <- of(gaussian(x), landmarks = fit$landmarks)
  expect_equal(tcrossprod(predict(by_matrix, gaussian(new, x))), tcrossprod(predict(fit, new)), tolerance = 1e-6,
               ignore_attr = TRUE)
  expect_equal(predict(by_matrix, gaussian(new, x[fit$landmarks, ])), predict(by_matrix, gaussian(new, x)),
               tolerance = 1e-10)
  by_function <- nystrom(function(i, j) gaussian(x[i, , drop = FALSE], x[j, , drop = FALSE]), n = 60,
                         landmarks = fit$landmarks)
  expect_equal(fitted(by_function), fitted(fit), tolerance = 1e-8, ignore_attr = TRUE)
  sparse <- nystrom(methods::as(x * (abs(x) > 0.5), "CsparseMatrix"), gamma = 0.5, landmarks = 1:20)
  dense <- nystrom(x * (abs(x) > 0.5), gamma = 0.5, landmarks = 1:20)
  expect_equal(fitted(sparse), fitted(dense), tolerance = 1e-8)
  expect_equal(tcrossprod(predict(sparse, new)), tcrossprod(predict(dense, new)), tolerance = 1e-8)
  words <- c("abc", "abd", "xyz", "bca", "ace", "dab")
  overlap <- k_user(function(a, b) outer(a, b, Vectorize(function(s, t) length(intersect(strsplit(s, "")[[1]],
                                                                                         strsplit(t, "")[[1]])))),
                    objects = TRUE)
  text <- nystrom(words, overlap, c = 6)
  expect_equal(fitted(text), kernel_matrix(overlap, words), tolerance = 1e-8, ignore_attr = TRUE)
  expect_equal(predict(text, words[2:3]), unname(text$features[2:3, ]), tolerance = 1e-8, ignore_attr = TRUE)
})

test_that("centres and points of one's own are landmarks", {
  x <- points(100, 9)
  set.seed(10)
  fit <- nystrom(x, gamma = 0.5, c = 12, sampling = "kmeans")
  again <- nystrom(x, gamma = 0.5, landmarks = fit$points)
  expect_equal(fitted(again), fitted(fit), tolerance = 1e-8)
  c <- gaussian(x, fit$points)
  expect_equal(fitted(fit), c %*% solve(gaussian(fit$points), t(c)), tolerance = 1e-5, ignore_attr = TRUE)
  expect_gt(min(eigen(gaussian(x) - fitted(fit), TRUE, TRUE)$values), -1e-8)
  uniform <- mean(vapply(1:20, function(s) {
    set.seed(s)
    nystrom(x, gamma = 0.5, c = 12)$trace_error
  }, 0))
  expect_lt(fit$trace_error, uniform)
})

test_that("probabilities are what they are called, and beta is their price", {
  g <- worked
  d <- diag(g)
  expect_equal(of(g, c = 3, sampling = "trace")$prob, d / sum(d))
  expect_equal(of(g, c = 3, sampling = "trace")$beta, 1)
  expect_equal(of(g, c = 3, sampling = "diag2")$prob, d^2 / sum(d^2))
  expect_equal(of(g, c = 3, sampling = "inverse")$prob, (1 / d) / sum(1 / d))
  expect_equal(of(g, c = 3, sampling = "column")$prob, colSums(g^2) / sum(g^2))
  expect_equal(of(g, c = 3)$beta, min(0.25 / (d / sum(d))))
  expect_equal(of(g, prob = c(1, 1, 2, 0), c = 2)$prob, c(0.25, 0.25, 0.5, 0))
  expect_equal(nystrom(points(), c = 5)$beta, 1)
  # exact ridge leverage scores, with all rows as pilot
  x <- points(20, 11)
  k <- gaussian(x)
  set.seed(1)
  p <- nystrom(x, gamma = 0.5, c = 12, k = 4, sampling = "leverage", tol = 1e-14)$prob
  lambda <- sum(eigen(k, TRUE, TRUE)$values[-(1:4)]) / 4
  score <- diag(k %*% solve(k + lambda * diag(20)))
  expect_equal(p, score / sum(score), tolerance = 1e-3)
  # adaptive draws: the first by the diagonal, duplicates never
  first <- vapply(1:300, function(s) {
    set.seed(s)
    unname(of(g, c = 2, sampling = "adaptive")$landmarks[1])
  }, 0L)
  expect_equal(as.vector(table(factor(first, 1:4))) / 300, d / sum(d), tolerance = 0.25)
  expect_identical(unname(of(g, c = 1, sampling = "greedy")$landmarks), 1L)
  some <- nystrom(points(200, 12), gamma = 0.5, c = 200, sampling = "greedy", rank_tol = 0.01)
  expect_lte(some$trace_error, 0.01 * some$trace)
  expect_lt(nrow(some$map), 100)
})

test_that("assess() agrees with brute force, sampled or not", {
  x <- points(150, 13)
  g <- gaussian(x)
  fit <- nystrom(x, gamma = 0.5, c = 10, k = 6)
  e <- g - fitted(fit)
  table <- assess(fit)
  spectrum <- eigen(g, TRUE, TRUE)$values
  expect_equal(table$error, c(sum(diag(e)), sqrt(sum(e^2)), max(eigen(e, TRUE, TRUE)$values)), tolerance = 1e-8)
  expect_equal(table$best, c(sum(spectrum[-(1:6)]), sqrt(sum(spectrum[-(1:6)]^2)), spectrum[7]), tolerance = 1e-6)
  set.seed(1)
  sampled <- assess(fit, columns = 75)
  expect_equal(sampled$error[2], table$error[2], tolerance = 0.4)
  expect_true(sampled$sampled[2])
})

test_that("the bounds have the constants of the paper", {
  expect_equal(1 + sqrt(8 * log(10)), 5.29193, tolerance = 1e-5)
  expect_equal(nystrom_bounds(5, eps = 0.5, delta = 1)$c, 5120)
  expect_equal(nystrom_bounds(5, eps = 0.5)$c, 143384)
  expect_equal(nystrom_bounds(5, eps = 0.5, delta = 1, norm = "2")$c, 16)
  expect_equal(nystrom_bounds(5, eps = 0.5, norm = "2")$c, 449)
  expect_equal(nystrom_bounds(5, c = 5120, delta = 1)$eps, 0.5, tolerance = 1e-12)
  expect_equal(nystrom_bounds(5, eps = 0.5, delta = 1, beta = 0.5)$c, 10240)
  # the bound in expectation holds
  x <- points(60, 14)
  error <- mean(vapply(1:30, function(s) {
    set.seed(s)
    assess(nystrom(x, gamma = 0.5, c = 30, k = 4, sampling = "trace", truncate = "W"))$error[3]
  }, 0))
  best <- eigen(gaussian(x), TRUE, TRUE)$values[5]
  expect_lte(error, best + nystrom_bounds(4, c = 30, delta = 1, norm = "2")$eps * 60)
})

test_that("a support vector machine on the features is the machine on the approximate kernel", {
  x <- points(80, 15)
  y <- factor(ifelse(rowSums(x^2) > 1.5, "out", "in"))
  features <- nystrom(x, gamma = 0.5, landmarks = 1:25)
  fit <- svm(features, y, cost = 5, tol = 1e-8)
  by_matrix <- svm(fitted(features), y, kernel = "precomputed", cost = 5, tol = 1e-8)
  expect_equal(fit$objective, by_matrix$objective, tolerance = 1e-6)
  new <- points(10, 16)
  expect_equal(predict(fit, new, type = "link"), predict(by_matrix, tcrossprod(predict(features, new),
                                                                               features$features), type = "link"),
               tolerance = 1e-4, ignore_attr = TRUE)
  expect_equal(predict(fit, x, type = "link"), predict(fit, type = "link"), tolerance = 1e-6, ignore_attr = TRUE)
  expect_error(svm(features, y, kernel = "rbf"), "belongs to nystrom", class = "granary_error_input")
})

test_that("a seed fixes the answer at any number of threads", {
  x <- points(500, 17)
  for (sampling in c("uniform", "leverage", "adaptive", "kmeans")) {
    set.seed(18)
    one <- nystrom(x, c = 30, sampling = sampling, threads = 1)
    set.seed(18)
    two <- nystrom(x, c = 30, sampling = sampling, threads = 2)
    expect_identical(one$features, two$features, label = sampling)
  }
})

test_that("the usual methods answer", {
  fit <- nystrom(points(), c = 8)
  expect_output(print(fit), "40 observations")
  expect_output(print(summary(fit)), "residual diagonal")
  expect_identical(nrow(tidy(fit)), 8L)
  expect_identical(glance(fit)$landmarks, 8L)
  expect_identical(nobs(fit), 40L)
  expect_equal(as.matrix(fit), fitted(fit))
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
})

test_that("what is wrong is said", {
  wrong <- function(code, what) expect_error(code, what, class = "granary_error_input")
  x <- points(10)
  wrong(nystrom(), "`x` must be given")
  wrong(nystrom(replace(x, 2, NA)), "no missing values")
  wrong(nystrom(x, c = 0), "`c` must be a whole number")
  wrong(nystrom(x, "none"), "must be one of")
  wrong(nystrom(x, c = 3, sampling = "best"), "one of")
  wrong(nystrom(x, c = 3, landmarks = 1:3, prob = rep(1, 10)), "not both")
  wrong(nystrom(x, c = 3, landmarks = 11), "at most 10")
  wrong(nystrom(x, c = 3, prob = rep(0, 10)), "zero everywhere")
  wrong(nystrom(x, c = 3, rank_tol = 0.1), "is for sampling")
  wrong(nystrom(x, n = 5), "`n` is for")
  wrong(nystrom(function(i, j) 1), "`n` must be given")
  wrong(nystrom(function(i, j) 1, n = 10, c = 3), "must give a")
  wrong(nystrom(function(i, j) stop("gone"), n = 10, c = 3), "failed: gone")
  indefinite <- diag(c(1, 1, 1))
  indefinite[1, 2] <- indefinite[2, 1] <- 2
  wrong(of(indefinite, c = 3), "smallest eigenvalue is -1")
  expect_equal(of(indefinite, c = 3, clip = TRUE)$rank, 2L)
  wrong(of(diag(c(1, -1)), c = 2), "diagonal entry 2 is -1")
  wrong(of(matrix(0, 3, 3), c = 2), "no positive eigenvalue")
  wrong(of(matrix(0, 3, 3), c = 2, sampling = "trace"), "is zero")
  wrong(of(matrix(1:6, 2), c = 2), "not square")
  wrong(of(worked, c = 2, landmarks = matrix(1, 1, 4)), "must be rows here")
  wrong(of(worked, c = 2, sampling = "kmeans"), "rows of numbers")
  wrong(predict(of(worked, c = 2), matrix(1, 1, 3)), "it has 3 columns")
  wrong(fitted(structure(list(n = 6000L), class = c("granary_nystrom", "granary_fit"))), "6000 x 6000")
  wrong(nystrom_bounds(5), "either")
  wrong(nystrom_bounds(5, c = 1, eps = 1), "either")
  wrong(nystrom_bounds(5, eps = 1, delta = 0), "greater than 0")
  expect_warning(nystrom(x, c = 50), "all are landmarks")
  expect_warning(of(tcrossprod(1:5), c = 3, k = 2), "numerical rank 1")
  expect_warning(of(diag(4), c = 4, k = 2, sampling = "uniform", truncate = "W"), "tie")
})

test_that("edges: one point, constant data, duplicates, zero rows, scales", {
  expect_equal(fitted(nystrom(matrix(1, 1, 2), c = 1)), matrix(1))
  constant <- nystrom(matrix(1, 6, 2), c = 3)
  expect_identical(constant$rank, 1L)
  expect_equal(fitted(constant), matrix(1, 6, 6))
  zero <- nystrom(rbind(0, points(10)), k_linear(), c = 6, sampling = "inverse")
  expect_false(1L %in% zero$landmarks)
  expect_lt(zero$trace_error, 1e-10)
  for (scale in c(1e-8, 1e8)) {
    set.seed(1)
    a <- nystrom(points() * scale, k_linear(), c = 5, sampling = "trace")
    set.seed(1)
    b <- nystrom(points(), k_linear(), c = 5, sampling = "trace")
    expect_identical(a$landmarks, b$landmarks)
    expect_equal(a$features, b$features * scale, tolerance = 1e-8)
  }
})

test_that("new points given as a vector must be whole points", {
  set.seed(1)
  map <- kernel_pca(as.matrix(iris[1:30, 1:4]), k = 2)
  expect_equal(predict(map, unlist(iris[31, 1:4])), predict(map, as.matrix(iris[31, 1:4])), ignore_attr = TRUE)
  expect_error(predict(map, 1:3), "points of 4 numbers each", class = "granary_error_input")
})
