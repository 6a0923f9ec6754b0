three <- function(seed, n = 150, wrong = 0.15) {
  set.seed(seed)
  y <- rep_len(1:3, n)
  x <- cbind(a = cos(2 * y), b = sin(2 * y)) + 0.4 * matrix(rnorm(2 * n), n)
  flip <- runif(n) < wrong
  y[flip] <- sample(3, sum(flip), TRUE)
  list(x = x, y = factor(letters[y]))
}

test_that("rounds are chosen by the error on rows left out", {
  d <- three(1)
  folds <- rep_len(1:3, 150)
  choice <- boost_select(d$x, d$y, n_rounds = 30, folds = folds)
  expect_s3_class(choice, "granary_selection")
  expect_equal(nrow(choice$table), 30)
  by_hand <- vapply(1:3, function(k) {
    fit <- suppressMessages(boost(d$x[folds != k, ], d$y[folds != k], n_rounds = 30))
    colMeans(predict(fit, d$x[folds == k, ], type = "staged") != as.character(d$y[folds == k]))
  }, numeric(30))
  expect_equal(choice$table$estimate, rowMeans(by_hand))
  expect_equal(choice$selected, which.min(choice$table$estimate))
  expect_lte(length(choice$fit$alpha), choice$selected)
  simple <- boost_select(d$x, d$y, n_rounds = 30, folds = folds, rule = "1se")
  best <- which.min(choice$table$estimate)
  expect_equal(simple$selected, min(which(choice$table$estimate <= choice$table$estimate[best] +
                                          choice$table$std.error[best])))
  expect_s3_class(predict(simple, d$x[1:3, ]), "factor")
})

test_that("what cannot be chosen is refused", {
  d <- three(2, 30)
  input <- function(code, regexp) expect_error(code, regexp, class = "granary_error_input")
  input(boost_select(d$x), "`y` must be given")
  input(boost_select(d$x, d$y, max_leafs = 3), "Did you mean `max_leaves`")
  input(boost_select(d$x, d$y, folds = ifelse(d$y == "a", 1, 2)), "a class has no rows")
})

test_that("errors and margins of new rows follow the votes", {
  d <- three(3)
  new <- three(4)
  fit <- suppressMessages(boost(d$x, d$y, n_rounds = 25))
  staged <- assess(fit, newdata = new$x, newy = new$y, staged = TRUE)
  expect_equal(staged$error[nrow(staged)], assess(fit, newdata = new$x, newy = new$y)$error)
  expect_equal(staged$error[3], mean(predict(fit, new$x, n_rounds = 3) != new$y))
  expect_equal(assess(fit, staged = TRUE)$error, fit$path$error)
  margin <- predict(fit, new$x, type = "margin", newy = new$y)
  expect_equal(margin < 0, as.character(predict(fit, new$x)) != as.character(new$y) & margin != 0, ignore_attr = TRUE)
  expect_equal(predict(fit, d$x, type = "margin", newy = d$y), predict(fit, type = "margin"), ignore_attr = TRUE,
               tolerance = 1e-10)
  expect_error(predict(fit, new$x, type = "margin"), "`newy` must be given", class = "granary_error_input")
  expect_error(predict(fit, new$x, newy = new$y), "is for type", class = "granary_error_input")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(fit, "margins", newdata = new$x, newy = new$y))
})

test_that("AdaBoost.M2 with sets keeps the bound, and is the adaptive booster for a pool", {
  d <- three(5)
  fit <- suppressMessages(boost(d$x, d$y, method = "m2", n_rounds = 30))
  expect_true(all(fit$path$error <= exp(fit$path$loss) + 1e-9))
  expect_true(all(fit$path$loss <= fit$path$bound + 1e-9))
  expect_equal(assess(fit, newdata = d$x, newy = d$y)$error, fit$path$error[nrow(fit$path)])
  pool <- replicate(12, ifelse(runif(150) < 0.45, as.character(d$y), sample(letters[1:3], 150, TRUE)))
  one <- suppressMessages(boost(pool, d$y, learner = "pool", n_rounds = 10))
  sets <- suppressMessages(boost(pool, d$y, method = "m2", learner = "pool", n_rounds = 10))
  expect_equal(sets$alpha, one$alpha)
  mh <- suppressMessages(boost(d$x, d$y, method = "mh", sets = TRUE, n_rounds = 20))
  expect_true(all(diff(mh$path$loss) <= 1e-12))
  expect_error(boost(d$x, d$y, sets = TRUE), "for method = \"mh\"", class = "granary_error_input")
})

test_that("edges and steps may be prescribed round by round", {
  d <- three(6, wrong = 0)
  fit <- suppressMessages(boost(d$x, d$y, method = "fixed_edge", n_rounds = 6, edge = seq(0.3, 0.2, length.out = 6),
                                eta = rep(0.2, 6)))
  expect_equal(fit$alpha, rep(0.2, length(fit$alpha)))
  expect_equal(exp(fit$path$bound), cumprod(boost_bounds("factor", edge = seq(0.3, 0.2, length.out = 6), eta = 0.2,
                                                         k = 3))[seq_along(fit$alpha)] * 2)
  expect_error(boost(d$x, d$y, method = "fixed_edge", n_rounds = 5, edge = c(0.1, 0.2)),
               "one per round, 5, but it has 2", class = "granary_error_input")
  expect_error(boost(d$x, d$y, method = "minimax01", n_rounds = 2, edge = c(0.1, 0.2)), "must be one number",
               class = "granary_error_input")
})

test_that("potentials of any loss, and by random votes", {
  loss <- function(votes) as.numeric(votes[, 1] <= pmax(votes[, 2], votes[, 3]))
  exact <- boost_bounds("zero_one", edge = 0.2, k = 3, n_rounds = 12)
  expect_equal(boost_bounds("loss", edge = 0.2, k = 3, n_rounds = 12, loss = loss), exact, tolerance = 1e-12)
  set.seed(1)
  drawn <- boost_bounds("zero_one", edge = 0.2, k = 3, n_rounds = 12, n_draws = 20000)
  expect_lt(abs(drawn[["estimate"]] - exact), 5 * drawn[["std.error"]])
  set.seed(1)
  expect_identical(boost_bounds("zero_one", edge = 0.2, k = 3, n_rounds = 12, n_draws = 20000), drawn)
  several <- boost_bounds("loss", edge = 0.2, k = 3, n_rounds = 5, state = c(1, 0, 2),
                          loss = function(v) exp(0.3 * (v[, 2] - v[, 1])) + exp(0.7 * (v[, 3] - v[, 1])))
  expect_equal(boost_bounds("exponential", edge = 0.2, k = 3, n_rounds = 5, state = c(1, 0, 2), eta = c(0.3, 0.7)),
               several, tolerance = 1e-12)
  input <- function(code, regexp) expect_error(code, regexp, class = "granary_error_input")
  input(boost_bounds("loss", edge = 0.2, k = 3), "`loss` must be given")
  input(boost_bounds("loss", edge = 0.2, k = 3, n_rounds = 3, loss = function(v) 1), "one number per row of votes, 10")
  input(boost_bounds("loss", edge = 0.2, k = 10, n_rounds = 100, loss = loss), "n_draws")
  input(boost_bounds("exponential", edge = 0.2, k = 3, eta = 1:3), "one per wrong label, 2")
  input(boost_bounds("error", edge = 0.2, n_draws = 100), "for the potentials")
  d <- three(7)
  set.seed(2)
  fit <- suppressMessages(boost(d$x, d$y, method = "minimax01", n_rounds = 15, n_draws = 2000))
  set.seed(2)
  expect_identical(suppressMessages(boost(d$x, d$y, method = "minimax01", n_rounds = 15, n_draws = 2000))$path,
                   fit$path)
})

test_that("answers and their opposites: the margin is that of the one norm", {
  set.seed(8)
  u <- matrix(sample(c(-1, 1), 12 * 20, TRUE, c(0.6, 0.4)), 12, dimnames = list(NULL, letters[1:20]))
  both <- boost_game(u, negate = TRUE)
  expect_equal(sum(abs(both$alpha)), 1, tolerance = 1e-9)
  expect_equal(both$value, min(drop(u %*% both$alpha)), tolerance = 1e-9)
  expect_equal(both$value, boost_game(cbind(u, -u))$value, tolerance = 1e-9)
  expect_gte(both$value, boost_game(u)$value - 1e-12)
  expect_gte(both$value, -1e-12)
  sign <- rep(c(-1, 1), 6)
  fit <- suppressWarnings(boost(sign * u, factor(sign), learner = "pool", negate = TRUE, n_rounds = 50))
  expect_equal(predict(fit, sign * u, type = "link"), predict(fit, type = "link"), ignore_attr = TRUE,
               tolerance = 1e-10)
  expect_equal(predict(fit, (sign * u)[, 20:1], type = "link"), predict(fit, type = "link"), ignore_attr = TRUE,
               tolerance = 1e-10)
  expect_error(boost(three(9)$x, three(9)$y, negate = TRUE), "for pools", class = "granary_error_input")
})

test_that("equal trees are kept once", {
  set.seed(10)
  x <- matrix(round(runif(60), 1), 30)
  y <- factor(ifelse(x[, 1] + x[, 2] > 1, "b", "a"))
  fit <- suppressWarnings(boost(x, y, n_rounds = 300))
  expect_lt(length(fit$trees$start), 60)
  expect_length(fit$answers, length(fit$alpha))
  expect_equal(predict(fit, x, type = "link"), predict(fit, type = "link"), ignore_attr = TRUE, tolerance = 1e-9)
  staged <- predict(fit, x, type = "staged")
  expect_equal(colMeans(staged != as.character(y)), fit$path$error, ignore_attr = TRUE)
})
