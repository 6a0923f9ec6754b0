# What can be boosted, and what boosting promises.
votes_of <- function(k, t) as.matrix(expand.grid(rep(list(seq_len(k)), t)))
enumerate <- function(state, t, b, loss) {
  if (t == 0) return(loss(state))
  all <- votes_of(length(b), t)
  sum(apply(all, 1, function(v) prod(b[v]) * loss(state + tabulate(v, length(b)))))
}
wrong <- function(s) as.numeric(s[1] <= max(s[-1]))

test_that("potentials agree with enumeration", {
  for (k in 2:4) {
    for (state in list(integer(k), replace(integer(k), 1, 2L), replace(integer(k), 2, 1L))) {
      for (t in 0:5) {
        b <- c(0.4, rep(0.6 / (k - 1), k - 1))
        if (b[1] >= b[2]) {
          expect_equal(boost_bounds("zero_one", baseline = b, n_rounds = t, state = state), enumerate(state, t, b, wrong), tolerance = 1e-12)
        }
        expect_equal(boost_bounds("exponential", baseline = b, n_rounds = t, state = state, eta = 0.7),
                     enumerate(state, t, b, function(s) sum(exp(0.7 * (s[-1] - s[1])))), tolerance = 1e-12)
      }
    }
  }
  uneven <- c(0.5, 0.35, 0.1, 0.05)
  expect_equal(boost_bounds("zero_one", baseline = uneven, n_rounds = 6), enumerate(integer(4), 6, uneven, wrong), tolerance = 1e-12)
})

test_that("potentials: recursion, and a binomial tail for two classes", {
  b <- c(0.45, 0.3, 0.25)
  value <- function(s, t) boost_bounds("zero_one", baseline = b, n_rounds = t, state = s)
  expect_equal(value(c(1, 0, 2), 40), sum(b * sapply(1:3, function(l) value(c(1, 0, 2) + (1:3 == l), 39))), tolerance = 1e-11)
  for (t in c(1, 10, 301)) expect_equal(boost_bounds("zero_one", edge = 0.2, n_rounds = t), pbinom(floor(t / 2), t, 0.6), tolerance = 1e-10)
})

test_that("factors and bounds", {
  g <- c(0.1, 0.3, 0.6)
  expect_equal(boost_bounds("factor", edge = g), sqrt(1 - g^2))
  for (k in c(3, 7)) {
    best <- boost_bounds("step", edge = g, k = k)
    value <- boost_bounds("factor", edge = g, k = k)
    expect_true(all(value <= boost_bounds("factor", edge = g, k = k, eta = best * 1.01)))
    expect_true(all(value <= boost_bounds("factor", edge = g, k = k, eta = best * 0.99)))
    b <- (1 - g) / k
    expect_equal(value, 1 - (sqrt(b + g) - sqrt(b))^2)
  }
  expect_equal(boost_bounds("error", edge = g, k = 4), 3 * prod(sqrt(1 - g^2)))
  expect_equal(boost_bounds("rounds", n = 50, nu = 0.1), 2 * log(50) / 0.01)
  expect_equal(boost_bounds("rounds", n = 50, nu = 0.1, rho = 0), log(50) / -log(1 - 0.005))
})

test_that("limit of the margin", {
  g <- c(0.2, 0.5, 0.8)
  plain <- (log(1 - 0.1^2) - log(1 - g^2)) / (log((1 + g) / (1 - g)) - log(1.1 / 0.9))
  expect_equal(boost_bounds("margin", edge = g, rho = 0.1), plain)
  expect_true(all(plain >= (g + 0.1) / 2))
  expect_equal(boost_bounds("margin", edge = g, rho = 0.1, shrinkage = 1e-6), g, tolerance = 1e-5)
})

test_that("the share of small margins stays below its bound", {
  set.seed(1)
  u <- matrix(sample(c(1, -1), 600, TRUE, c(0.7, 0.3)), 20)
  fit <- suppressWarnings(boost(u, c(rep("b", 20)[-1], "a")[c(20, 1:19)], method = "adaboost", learner = "pool", n_rounds = 30))
  for (theta in c(0, 0.1)) {
    bound <- boost_bounds("share", edge = fit$path$edge, target = fit$path$target, rho = theta)
    expect_lte(mean(fit$margins <= theta), bound + 1e-12)
  }
})

test_that("SAMME's condition is not enough", {
  found <- boost_check(cbind(c(1, 1), c(2, 2)), c(1, 2), levels = 1:3)
  gamma <- setNames(found$table$gamma, found$table$condition)
  expect_equal(gamma[c("mr", "uniform", "m1", "samme")], c(mr = 0, uniform = -0.5, m1 = 0, samme = 0.25))
  expect_false(found$boostable)
})

test_that("conditions on small pools agree with a fine grid, and imply what they imply", {
  set.seed(2)
  for (seed in 1:6) {
    y <- rep(1:3, 2)
    pool <- sapply(1:3, function(j) ifelse(runif(6) < 0.6, y, sample(3, 6, TRUE)))
    found <- boost_check(pool, y)
    grid <- as.matrix(subset(expand.grid(a = 0:60, b = 0:60), a + b <= 60)) / 60
    value <- apply(cbind(grid, 1 - rowSums(grid)), 1, function(lambda) {
      p <- sapply(1:3, function(l) drop((pool == l) %*% lambda))
      own <- p[cbind(1:6, y)]
      other <- sapply(1:6, function(i) max(p[i, -y[i]]))
      c(mr = min(own - other), v = min(own), u = max(other))
    })
    expect_equal(found$table$value[1], max(value["mr", ]), tolerance = 0.05)
    expect_gte(found$table$value[1], max(value["mr", ]) - 1e-9)
    expect_gte(found$table$value[4], max(value["v", ]) - 1e-9)
    expect_lte(found$table$value[2], min(value["u", ]) + 1e-9)
    expect_lt(max(found$table$gap), 1e-9)
    gamma <- setNames(found$table$gamma, found$table$condition)
    if (gamma[["m1"]] > 1e-9 || gamma[["uniform"]] > 1e-9) expect_gt(gamma[["mr"]], 0)
    # the hardest costs: no member does better
    cost <- found$cost$mr
    member <- sapply(1:3, function(j) sum(cost[cbind(1:6, pool[, j])]))
    expect_gte(min(member), -found$table$value[1] - 1e-9)
    vote <- boost(pool, y, learner = "pool", n_rounds = 200) |> suppressMessages()
    if (min(vote$margins) > 1e-9) expect_true(found$boostable)
  }
})

test_that("a baseline, and what is refused", {
  pool <- cbind(c(1, 2, 3), c(1, 2, 1))
  base <- matrix(0.2, 3, 3) + 0.4 * diag(3)
  found <- boost_check(pool, 1:3, baseline = base)
  expect_equal(found$table$value[5], 0.2)
  refused <- function(code, text) expect_error(code, text, class = "granary_error_input")
  refused(boost_check(pool, 1:3, baseline = 2 * base), "distribution")
  refused(boost_check(pool, 1:2), "one label per row")
  refused(boost_check(cbind(c(1, 5, 3)), 1:3), "levels of `y`")
  refused(boost_bounds("rounds", n = 10), "`nu`")
  refused(boost_bounds("error"), "`edge`")
  refused(boost_bounds("zero_one", baseline = c(0.2, 0.8)), "right label")
  refused(boost_bounds("margin", edge = 0.1, rho = 0.2), "below the edge")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_no_error(plot(found))
  expect_output(print(found), "Can the pool be boosted")
})
