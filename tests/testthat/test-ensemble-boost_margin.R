# Boosting by margins.
random_pool <- function(n = 30, m = 40, p = 0.65) {
  y <- sample(c("a", "b"), n, TRUE)
  y[1:2] <- c("a", "b")
  sign <- ifelse(y == "b", 1, -1)
  list(x = sign * matrix(sample(c(1, -1), n * m, TRUE, c(p, 1 - p)), n), y = y, sign = sign)
}

test_that("the certificate holds the best margin at every round, and closes to nu in time", {
  for (seed in 1:4) {
    set.seed(seed)
    d <- random_pool()
    best <- boost_game(d$sign * d$x)
    expect_lt(best$convergence$gap, 1e-9)
    for (method in c("star", "adaboost", "arc_gv", "coordinate_ascent", "rho")) {
      fit <- suppressWarnings(boost(d$x, d$y, method = method, learner = "pool", n_rounds = 300, rho = 0.05))
      expect_true(all(fit$path$margin <= best$value + 1e-9))
      expect_true(all(fit$path$upper >= best$value - 1e-9))
    }
    star <- boost(d$x, d$y, learner = "pool", nu = 0.1)
    expect_equal(nrow(star$path), ceiling(2 * log(30) / 0.1^2))
    expect_lte(star$upper - star$lower, 0.1)
    expect_true(star$convergence$converged)
    expect_true(all(diff(star$path$target) <= 1e-15))
    lp <- boost(d$x, d$y, method = "lpboost", learner = "pool")
    expect_equal(lp$lower, best$value, tolerance = 1e-8)
    expect_equal(lp$upper, best$value, tolerance = 1e-8)
  }
})

test_that("steps, targets and the weights after a step", {
  set.seed(5)
  d <- random_pool()
  fit <- boost(d$x, d$y, learner = "pool", n_rounds = 50, nu = 0.3)
  path <- fit$path
  expect_equal(path$alpha, atanh(path$edge) - atanh(path$target), tolerance = 1e-9)
  expect_equal(path$upper, cummin(path$edge))
  last <- d$sign * d$x[, fit$answers[50]]
  expect_equal(sum(fit$row_weights * last), path$target[50], tolerance = 1e-9)
  factor <- (1 + path$edge) / 2 * exp(-path$alpha) + (1 - path$edge) / 2 * exp(path$alpha)
  expect_equal(path$loss, cumsum(log(factor)), tolerance = 1e-9)
  u <- (d$sign * d$x)[, fit$answers]
  expect_equal(unname(fit$margins), drop(u %*% fit$alpha) / sum(fit$alpha))
  gv <- boost(d$x, d$y, method = "arc_gv", learner = "pool", n_rounds = 50)
  expect_true(all(diff(gv$path$target) >= 0))
})

test_that("three rows and three answers: AdaBoost goes round with the golden edge", {
  u <- 1 - 2 * diag(3)
  y <- c("b", "b", "a")
  x <- c(1, 1, -1) * u
  fit <- boost(x, y, method = "adaboost", learner = "pool", n_rounds = 300)
  expect_equal(fit$path$edge[300], (sqrt(5) - 1) / 2, tolerance = 1e-6)
  expect_equal(fit$answers[298:300], fit$answers[295:297])
  game <- boost_game(u)
  expect_equal(game$value, 1 / 3)
  expect_equal(unname(game$alpha), rep(1 / 3, 3))
  expect_equal(unname(game$weights), rep(1 / 3, 3))
})

test_that("a pool that cannot be right converges, too, and says so", {
  set.seed(6)
  d <- random_pool(p = 0.5, n = 40, m = 10)
  best <- boost_game(d$sign * d$x)$value
  expect_lt(best, 0)
  fit <- suppressMessages(boost(d$x, d$y, learner = "pool", nu = 0.1))
  expect_lte(fit$lower, best + 1e-9)
  expect_gte(fit$upper, best - 1e-9)
  expect_lte(fit$upper - fit$lower, 0.1)
  expect_message(boost(rbind(d$x[1, ], d$x[1, ]), c("a", "b"), learner = "pool", nu = 0.1), "No combination")
})

test_that("stumps: the certificate is that of all stumps", {
  set.seed(7)
  x <- matrix(rnorm(80), 20)
  y <- ifelse(x[, 1] + x[, 2] > 0, "b", "a")
  cuts <- do.call(cbind, lapply(1:4, function(j) sapply(sort(x[, j])[-20], function(c) ifelse(x[, j] <= c, -1, 1))))
  pool <- cbind(cuts, -cuts, 1, -1)
  best <- boost_game(ifelse(y == "b", 1, -1) * pool)$value
  fit <- boost(x, y, nu = 0.05)
  expect_true(fit$certified)
  expect_true(fit$lower <= best + 1e-9 && fit$upper >= best - 1e-9 && fit$upper - fit$lower <= 0.05)
  lp <- boost(x, y, method = "lpboost")
  expect_equal(lp$lower, best, tolerance = 1e-8)
  expect_equal(lp$upper, best, tolerance = 1e-8)
  expect_equal(unname(predict(lp, x, type = "link") * ifelse(y == "b", 1, -1)), unname(lp$margins), tolerance = 1e-10)
})

test_that("rows and signs do not matter; the same seed gives the same fit", {
  set.seed(8)
  d <- random_pool()
  fit <- boost(d$x, d$y, learner = "pool", n_rounds = 40, nu = 0.3)
  order <- sample(30)
  expect_equal(boost(d$x[order, ], d$y[order], learner = "pool", n_rounds = 40, nu = 0.3)$alpha, fit$alpha, tolerance = 1e-9)
  swapped <- boost(-d$x, ifelse(d$y == "a", "b", "a"), learner = "pool", n_rounds = 40, nu = 0.3)
  expect_equal(swapped$alpha, fit$alpha, tolerance = 1e-9)
  draw <- function() {
    set.seed(1)
    suppressWarnings(boost(d$x, d$y, learner = "pool", n_rounds = 40, selection = "random"))$answers
  }
  expect_identical(draw(), draw())
})

test_that("numbers between -1 and 1: line search and functions", {
  set.seed(9)
  d <- random_pool()
  x <- d$x * matrix(runif(length(d$x)), nrow(d$x))
  fit <- suppressWarnings(boost(x, d$y, learner = "pool", n_rounds = 40, line_search = TRUE))
  last <- d$sign * x[, fit$answers[length(fit$answers)]]
  expect_equal(sum(fit$row_weights * last), fit$path$target[nrow(fit$path)], tolerance = 1e-8)
  plain <- suppressWarnings(boost(x, d$y, learner = "pool", n_rounds = 40))
  asked <- boost(x, d$y, n_rounds = 40, learner = function(x, y, cost) {
    w <- rowSums(cost) * ifelse(y == "b", 1, -1)
    best <- which.max(colSums(w * x))
    function(x) x[, best]
  })
  expect_false(asked$certified)
  expect_equal(asked$alpha, plain$alpha)
  expect_equal(predict(asked, x, type = "link"), unname(asked$margins * d$sign), tolerance = 1e-10)
})

test_that("bisection and two passes report their runs; selection keeps edges above the best margin", {
  set.seed(10)
  d <- random_pool()
  best <- boost_game(d$sign * d$x)$value
  two <- suppressWarnings(boost(d$x, d$y, method = "two_pass", learner = "pool", n_rounds = 400))
  expect_equal(two$runs$rounds, c(200L, 200L))
  halved <- suppressWarnings(boost(d$x, d$y, method = "marginal", learner = "pool", n_rounds = 2000, nu = 0.05))
  expect_true(all(halved$runs$lower <= best + 1e-9))
  expect_gt(halved$lower, best - 0.2)
  worst <- suppressWarnings(boost(d$x, d$y, method = "rho", rho = 0, learner = "pool", n_rounds = 100, selection = "worst"))
  expect_true(all(worst$path$edge >= best - 1e-9))
  expect_false(worst$certified)
})

test_that("a single row, a perfect answer, refusals", {
  expect_identical(boost(matrix(1:6), rep(c("a", "b"), each = 3))$end, "perfect")
  refused <- function(code, text) expect_error(code, text, class = "granary_error_input")
  refused(boost(matrix(2, 2, 2), c("a", "b"), learner = "pool"), "[-1, 1]")
  refused(boost(matrix(1:4), rep(c("a", "b"), 2), nu = 1e-9), "rounds")
  refused(boost(matrix(1:4), rep(c("a", "b"), 2), method = "lpboost", line_search = TRUE), "line_search")
  refused(boost_game(matrix(NA_real_, 2, 2)), "NA")
  refused(boost_game(diag(2), nu = 0), "`nu`")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  fit <- suppressWarnings(boost(Species ~ ., iris[51:150, ], n_rounds = 40))
  for (what in c("path", "margins", "edge", "importance")) expect_no_error(plot(fit, what))
  expect_no_error(plot(boost_game(diag(3))))
  expect_output(print(fit), "Smallest margin")
})

test_that("a degenerate game that stops the simplex is solved from the other side", {
  set.seed(5)
  n <- sample(10:100, 1)
  invisible(replace(sample(c(-1, 1), n, TRUE), 1:2, c(-1, 1)))
  u <- matrix(sample(c(1, -1), n * 300, TRUE, c(0.6, 0.4)), n)
  game <- boost_game(u)
  expect_equal(game$value, 0.3234483, tolerance = 1e-6)
  expect_equal(-boost_game(-t(u))$value, game$value, tolerance = 1e-9)
})
