series <- function(n, p, seed) {
  set.seed(seed)
  matrix(rnorm(n * p), n) %*% matrix(rnorm(p * p), p)
}

test_that("one window is the whole series, and distances of features are Frobenius", {
  x <- series(60, 4, 1)
  w <- ggm_windows(x, width = 60, lambda = 0.3)
  z <- scale(x)
  expect_equal(unname(w$matrices[[1]]), unname(solve(cov(z) + 0.3 * diag(4))))
  many <- ggm_windows(x, width = 20, step = 7)
  expect_equal(as.matrix(dist(many$features)), window_distances(many), ignore_attr = TRUE)
  a <- many$matrices[[1]]
  b <- many$matrices[[3]]
  expect_equal(sqrt(sum((a - b)^2)), window_distances(many)[1, 3])
  expect_identical(many$info$first, seq(1L, 41L, 7L))
})

test_that("sliding covariances and updated inverses agree with fresh ones", {
  x <- series(150, 30, 2) + 1e3
  for (param in c("covariance", "precision")) {
    w <- ggm_windows(x, width = 40, step = 1, param = param, lambda = 0.5)
    z <- scale(x)
    for (k in c(2, 31, 32, 60, 111)) {
      s <- cov(z[k:(k + 39), ])
      expect_equal(unname(w$matrices[[k]]), unname(if (param == "covariance") s else solve(s + 0.5 * diag(30))), tolerance = 1e-7)
    }
  }
  expect_gt(w$updates, 100)
})

test_that("l1 windows are graphical lassos", {
  x <- series(80, 4, 3)
  w <- ggm_windows(x, width = 30, step = 10, reg = "l1", lambda = 0.2, tol = 1e-8)
  z <- scale(x)
  for (k in c(1, 4)) {
    at <- w$info$first[k]:w$info$last[k]
    expect_equal(w$matrices[[k]], as.matrix(ggm_lasso(S = unname(cov(z[at, ])), lambda = 0.2, tol = 1e-8)), tolerance = 1e-4, ignore_attr = TRUE)
  }
  expect_output(print(w), "sparse precision.*converged")
})

test_that("metrics: closed forms and affine invariance", {
  x <- series(100, 3, 4)
  w <- ggm_windows(x, width = 50, step = 25, param = "covariance", scale = FALSE)
  mixed <- ggm_windows(x %*% matrix(c(2, 1, 0, 0, 1, 1, 1, 0, 3), 3), width = 50, step = 25, param = "covariance", scale = FALSE)
  expect_equal(window_distances(w, "riemann"), window_distances(mixed, "riemann"), tolerance = 1e-6)
  expect_gt(max(abs(window_distances(w) - window_distances(mixed))), 0.1)
  logm <- function(m) { e <- eigen(m); e$vectors %*% diag(log(e$values)) %*% t(e$vectors) }
  expect_equal(window_distances(w, "logeuclid")[1, 2], sqrt(sum((logm(w$matrices[[1]]) - logm(w$matrices[[2]]))^2)))
  expect_equal(window_distances(w, "riemann")[1, 2], sqrt(sum(log(Re(eigen(solve(w$matrices[[1]], w$matrices[[2]]))$values))^2)))
  expect_identical(window_distances(w, "riemann", threads = 1), window_distances(w, "riemann", threads = 2))
})

test_that("two regimes are found, new series are mapped alike", {
  for (seed in 1:3) {
    set.seed(seed)
    quiet <- matrix(rnorm(600), 200)
    moving <- matrix(rnorm(600), 200) %*% rbind(c(1, 0.95, 0), c(0, 0.3, 0), c(0, 0, 1))
    x <- rbind(quiet, moving)
    w <- ggm_windows(x, width = 40, step = 20)
    groups <- cluster_windows(w, 2)$cluster
    pure <- w$info$last <= 200 | w$info$first > 200
    expect_identical(groups[pure], ifelse(w$info$first[pure] > 200, 2L, 1L))
    expect_equal(predict(w, x), w$features)
  }
  both <- ggm_windows(list(a = quiet, b = moving), width = 50, step = 50)
  expect_identical(as.character(both$info$subject), rep(c("a", "b"), each = 4))
  pdf(NULL)
  on.exit(dev.off())
  expect_silent(plot(w))
  expect_silent(plot(w, "pca", k = 2))
})

test_that("bad series are named", {
  x <- series(20, 3, 5)
  expect_error(ggm_windows(x, width = 21), "at most the length of the series, 20 rows", class = "granary_error_input")
  expect_error(ggm_windows(x, width = 20, lag = 1), "19 rows after differencing", class = "granary_error_input")
  expect_error(ggm_windows(x, width = 3, lambda = 0), "greater than the number of variables", class = "granary_error_input")
  x[, 2] <- 1
  expect_warning(w <- ggm_windows(x, width = 10), "Constant column.*V2", class = "granary_warning_input")
  expect_true(all(is.finite(w$features)))
  y <- series(40, 2, 6)
  y[1:12, 2] <- 7  # a window without variation
  expect_true(all(is.finite(ggm_windows(y, width = 10, step = 5)$features)))
  expect_error(ggm_windows(y, width = 10, lambda = 0), "singular", class = "granary_error_input")
  expect_error(ggm_windows(list(y, y[, 1, drop = FALSE]), width = 10), "column", class = "granary_error_input")
  expect_error(window_distances(1), "ggm_windows", class = "granary_error_input")
  expect_error(window_distances(ggm_windows(y, width = 10, param = "covariance"), "riemann"), "positive definite", class = "granary_error_input")
})

