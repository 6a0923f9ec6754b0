brute_equilibria <- function(W, b, epsilon = 0) {
  x <- unname(as.matrix(expand.grid(rep(list(c(-1, 1)), length(b)))))
  f <- sweep(x %*% t(W), 2, b)
  x[rowSums(x * f < -epsilon - 1e-9) == 0, , drop = FALSE]
}

sorted <- function(states) sort(apply(states, 1, paste, collapse = ","))

test_that("all methods list the equilibria that brute force finds", {
  set.seed(1)
  for (k in 1:6) {
    game <- sim_influence_game(4 + k, density = runif(1, 0.2, 0.9), p_plus = runif(1), b = rnorm(4 + k, sd = 0.5))
    want <- brute_equilibria(unname(game$W), unname(game$b))
    for (method in c("gray", "elimination", "search", "auto")) {
      found <- game_equilibria(game, method = method)
      expect_equal(found$count, nrow(want))
      expect_identical(sorted(found$states), sorted(want))
    }
    if (nrow(want) > 0) expect_true(all(game_equilibria(game, "test", x = want)))
    expect_equal(game_equilibria(game, epsilon = 0.7)$count, nrow(brute_equilibria(unname(game$W), unname(game$b), 0.7)))
  }
})

test_that("the worked examples of the thesis hold", {
  chain <- rbind(c(0, 0, 0), c(0.5, 0, 0), c(0, 1, 0))
  chain[1, 2] <- 1
  star <- rbind(c(0, 2, 1), c(2, 0, 0), c(1, 0, 0))
  for (W in list(chain, star, 1 - diag(3))) {
    found <- game_equilibria(as_influence_game(W))
    expect_identical(sorted(found$states), sorted(rbind(c(-1, -1, -1), c(1, 1, 1))))
  }
  expect_equal(game_equilibria(as_influence_game(matrix(0, 5, 5)), "count"), 32)
  expect_true(game_equilibria(as_influence_game(matrix(0, 5, 5)))$trivial)
  for (epsilon in c(1e-8, 1, 1e8)) expect_equal(game_equilibria(as_influence_game(epsilon * (1 - diag(6))), "count"), 2)
  for (n in c(4, 7, 10)) {
    expect_equal(game_equilibria(as_influence_game(diag(n) - 1), "count"), if (n %% 2 == 0) choose(n, n / 2) else 2 * choose(n, (n - 1) / 2))
  }
  expect_equal(granary:::core_game_linear_sets(4L), 23706)
})

test_that("sparse games of many players are counted, dense ones say what is left", {
  chain <- matrix(0, 40, 40)
  chain[abs(row(chain) - col(chain)) == 1] <- 1
  found <- suppressWarnings(game_equilibria(as_influence_game(chain), max_list = 0))
  expect_identical(found$method, "elimination")
  expect_equal(found$count, 2 * 63245986)  # Fibonacci numbers
  expect_warning(game_equilibria(as_influence_game(chain), max_list = 10), "not listed", class = "granary_warning_input")
  dense <- as_influence_game(diag(40) - 1)
  expect_error(game_equilibria(dense, max_nodes = 1e4), "game_equilibria", class = "granary_error_numeric")
  expect_error(game_equilibria(dense, method = "gray"), "stops at 26 players", class = "granary_error_input")
  expect_error(game_equilibria(dense, method = "elimination"), "width", class = "granary_error_input")
})

test_that("independent logistic losses equal glm() without penalty", {
  set.seed(2)
  game <- sim_influence_game(4, density = 0.7, p_plus = 1, q = 0.5)
  x <- simulate(game, nsim = 300)
  # With next to no penalty no dual point is near, so there is no certificate: the estimate is compared instead.
  fit <- suppressWarnings(influence_game(x, lambda = 1e-10, loss = "il", tol = 1e-12))
  for (i in 1:4) {
    glm <- glm((x[, i] > 0) ~ x[, -i], family = binomial)
    expect_equal(unname(c(-fit$b[i], fit$W[i, -i])), unname(coef(glm)), tolerance = 1e-3)
  }
})

test_that("every loss has a certificate, and no random change of the weights is better", {
  set.seed(3)
  game <- sim_influence_game(5, density = 0.6, p_plus = 0.8)
  x <- simulate(game, nsim = 60)
  loss_of <- function(W, b, loss) {
    z <- x * sweep(x %*% t(W), 2, b)
    switch(loss, sl = mean(log(1 + rowSums(exp(-z)))), il = sum(log(1 + exp(-z))) / nrow(x), ss = mean(pmax(0, apply(1 - z, 1, max))),
           is = sum(pmax(0, 1 - z)) / nrow(x))
  }
  for (loss in c("sl", "il", "ss", "is")) {
    fit <- influence_game(x, lambda = 0.05, loss = loss)
    expect_true(fit$convergence$converged)
    value <- loss_of(fit$W, fit$b, loss) + 0.05 * sum(abs(fit$W))
    expect_equal(fit$objective, value, tolerance = 1e-9)
    for (k in 1:10) {
      W <- fit$W + 0.05 * rnorm(25)
      diag(W) <- 0
      expect_gte(loss_of(W, fit$b + 0.05 * rnorm(5), loss) + 0.05 * sum(abs(W)), value - fit$convergence$gap - 1e-12)
    }
    ridge <- influence_game(x, lambda = 0.05, loss = loss, penalty = "ridge", mask = (game$W != 0) + 0)
    expect_true(all(ridge$W[game$W == 0] == 0))
  }
})

test_that("hinge losses of twenty players are solved to their tolerance, with zeros that are zeros", {
  set.seed(1)
  x <- simulate(sim_influence_game(20, density = 0.2, p_plus = 1, q = 0.97), nsim = 300)
  for (loss in c("ss", "is")) {
    fit <- influence_game(x, lambda = 0.001, loss = loss, count = FALSE)
    expect_true(fit$convergence$converged)
    expect_lt(fit$convergence$residual, 1e-7)
    weights <- abs(fit$W[row(fit$W) != col(fit$W)])
    expect_gt(sum(weights == 0), 50)
    expect_gt(min(weights[weights > 0]), 1e-6)
  }
})

test_that("a game with four equilibria is recovered from 50 rows at q = 0.9", {
  W <- matrix(0, 4, 4)
  W[cbind(c(1, 2, 3, 4), c(2, 1, 4, 3))] <- 1
  truth <- as_influence_game(W, q = 0.9)
  right <- vapply(1:10, function(seed) {
    set.seed(seed)
    x <- simulate(truth, nsim = 50)
    assess(influence_game_select(x, lambda = c(0.2, 0.1, 0.05, 0.02), folds = 3)$fit, truth = truth)$equivalent
  }, NA)
  expect_gte(sum(right), 7)
})

test_that("likelihood, divergence and probabilities are those of the definition", {
  set.seed(4)
  a <- as_influence_game(1 - diag(3), q = 0.8)
  b <- as_influence_game(matrix(c(0, 1, -1, 1, 0, 1, 0, 1, 0), 3), b = c(0, 0.5, 0), q = 0.6)
  states <- unname(as.matrix(expand.grid(rep(list(c(-1, 1)), 3))))
  pa <- exp(predict(a, states, "log_density"))
  pb <- exp(predict(b, states, "log_density"))
  expect_equal(sum(pa), 1)
  expect_equal(sum(pb), 1)
  expect_equal(assess(b, truth = a)$kl, sum(pa * log(pa / pb)))
  expect_equal(assess(a, truth = a)$kl, 0)
  x <- simulate(a, nsim = 80)
  fit <- influence_game(x, lambda = 0.05)
  expect_equal(as.numeric(logLik(fit)), sum(predict(fit, x, "log_density")))
  expect_gte(fit$loglik / fit$n, -3 * log(2))
  picked <- influence_game_select(x, type = "any")$fit
  expect_gte(picked$loglik, fit$loglik - 1e-12)
  share <- mean(game_equilibria(a, "test", x = simulate(a, nsim = 4000)))
  expect_lt(abs(share - 0.8), 4 * sqrt(0.16 / 4000))
})

test_that("exhaustive maximum likelihood is at least as good as any other loss", {
  set.seed(5)
  x <- simulate(sim_influence_game(4, 0.7, 0.7), nsim = 40)
  best <- influence_game(x, loss = "exhaustive")
  for (loss in c("sl", "il", "s2", "s1")) expect_lte(suppressWarnings(influence_game(x, loss = loss))$loglik, best$loglik + 1e-10)
  expect_error(influence_game(unname(cbind(x, x)), loss = "exhaustive"), "4 players", class = "granary_error_input")
})

test_that("constant and indifferent players are settled, with a warning", {
  x <- cbind(a = c(1, 1, 1, 1, 1, 1), b = c(1, -1, 1, -1, 1, -1), c = c(1, -1, 1, -1, -1, 1))
  expect_warning(fit <- influence_game(x, lambda = 0.05), "never changes", class = "granary_warning_input")
  expect_equal(fit$b[["a"]], -1)
  x <- cbind(a = c(1, -1, 1, -1), b = c(1, 1, -1, -1))
  fit <- influence_game(x, lambda = 10)
  expect_identical(fit$indifferent, c("a", "b"))
  expect_true(all(abs(fit$b) == 1))
})

test_that("influence is scaled by rows and averaged by groups", {
  W <- rbind(c(0, 2, 0), c(1, 0, 1), c(0, 0, 0))
  game <- as_influence_game(W, b = c(0, 2, 3))
  table <- influence(game)
  expect_equal(table$influence[match(c("V1", "V2", "V3"), table$player)], c(0.25, 1, 0.25))
  expect_equal(table$threshold[match(c("V1", "V2", "V3"), table$player)], c(0, 0.5, 1))
  groups <- influence(game, groups = c("x", "x", "y"))$groups
  expect_equal(groups["x", "x"], mean(c(1, 0.25)))
  expect_equal(groups["x", "y"], mean(c(0, 0.25)))
})

test_that("codings come back, missing votes can be negative, columns are matched by name", {
  set.seed(6)
  x <- simulate(sim_influence_game(4, 0.6, 1), nsim = 30)
  votes <- as.data.frame(lapply(as.data.frame(x), function(v) factor(ifelse(v > 0, "aye", "nay"), levels = c("nay", "aye"))))
  fit <- influence_game(votes, lambda = 0.05)
  expect_equal(fit$W, influence_game(x, lambda = 0.05)$W)
  expect_identical(levels(predict(fit, votes[, 4:1])$V2), c("nay", "aye"))
  missing <- votes
  missing[1:3, 2] <- NA
  expect_error(influence_game(missing), class = "granary_error_input")
  negative <- votes
  negative[1:3, 2] <- "nay"
  expect_equal(influence_game(missing, lambda = 0.05, na = "negative")$W, influence_game(negative, lambda = 0.05)$W)
  expect_equal(influence_game(missing, lambda = 0.05, na = "omit")$n, 27)
})

test_that("bounds are those of the thesis", {
  bounds <- game_bounds(4, 1000, q = 0.9, delta = 0.1, gamma = 0.2, share = 0.8, proportion = 0.25)
  expect_equal(bounds$gap, (log(2000) + 4 * log(2)) * sqrt(2 / 1000 * (64 * log(2) + log(40))))
  expect_equal(bounds$players, ceiling(log(0.02) / log(0.75)))
  kl <- 0.8 * log(0.8 / 0.25) + 0.2 * log(0.2 / 0.75)
  expect_true(bounds$kl[["lower"]] < kl && kl < bounds$kl[["upper"]])
  expect_null(game_bounds(4, 1000)$kl)
})

test_that("bad input is refused with a reason", {
  set.seed(7)
  x <- simulate(sim_influence_game(3, 0.8, 1), nsim = 20)
  refuse <- function(expr, pattern) expect_error(expr, pattern, class = "granary_error_input")
  refuse(influence_game(x, lambda = 0), "greater than 0")
  refuse(influence_game(x[1, , drop = FALSE]), "at least 2 rows")
  refuse(influence_game(x, mask = matrix(2, 3, 3)), "zeros and ones")
  refuse(influence_game(x, loss = "s2", mask = matrix(1, 3, 3)), "no ridge")
  refuse(as_influence_game(matrix(1, 2, 2)), "zero diagonal")
  refuse(as_influence_game(matrix(0, 2, 3)), "square")
  refuse(assess(sim_influence_game(2), truth = sim_influence_game(3)), "same players")
  refuse(game_equilibria(1), "an influence game")
  refuse(influence(sim_influence_game(3), groups = 1:2), "group of each")
  refuse(logLik(sim_influence_game(3)), "not fitted")
})

test_that("a game too large to count says so and keeps the rest", {
  set.seed(8)
  x <- matrix(sample(c(-1, 1), 100 * 70, TRUE), 100)
  expect_warning(fit <- influence_game(x, lambda = 0.1, penalty = "ridge", tol = 1e-3), "game_equilibria", class = "granary_warning_input")
  expect_true(is.na(fit$n_equilibria) && is.na(fit$loglik))
  expect_error(logLik(fit), class = "granary_error_numeric")
  expect_equal(dim(predict(fit)), dim(x))
})

test_that("games print, summarise, plot and convert", {
  set.seed(9)
  fit <- influence_game(simulate(sim_influence_game(5, 0.5, 1), nsim = 40), lambda = 0.05)
  pdf(NULL)
  on.exit(dev.off())
  expect_output(print(fit), "simultaneous logistic loss: 5 players")
  expect_output(print(summary(fit)), "Most influential")
  expect_output(print(game_equilibria(fit)), "of 5 players")
  expect_output(print(influence_game_select(fit$x, type = "any")$fit), "picked from the sample")
  expect_output(print(game_bounds(5, 100)), "no information")
  for (type in c("network", "heatmap")) expect_silent(plot(fit, type = type, groups = c(1, 2, 1, 2, 1)))
  expect_equal(sum(tidy(fit)$estimate != 0), sum(fit$W != 0))
  skip_if_not_installed("igraph")
  expect_equal(igraph::ecount(igraph::as.igraph(fit)), sum(fit$W != 0))
})

test_that("a search that cannot end is refused at once, and one that can is not", {
  set.seed(1)
  game <- sim_influence_game(40, density = 0.8)
  seconds <- system.time(expect_error(game_equilibria(game, "count"), "would take about", class = "granary_error_numeric"))[["user.self"]]
  expect_lt(seconds, 20)
  set.seed(2)
  sparse <- sim_influence_game(30, density = 0.3)
  expect_equal(game_equilibria(sparse, "count", method = "search"), game_equilibria(sparse, "count", method = "gray", max_n = 30))
})
