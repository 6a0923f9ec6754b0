grid11 <- seq(0, 1, by = 0.1)

plot_in_file <- function(x, ...) {
  pdf(NULL)
  on.exit(dev.off())
  plot(x, ...)
}

start_search <- function(...) {
  search <- gp_bandit(grid11, k_se(lengthscale = 0.2), 0.01, ...)
  search$history <- data.frame(id = 1:2, candidate = c(3L, 8L), y = c(0.5, -0.2), mean = 0, sd = 1, bound = 0, information = 0)
  seal(search)  # choices from elsewhere, as if they had been made here
}

test_that("a batch has the worked picks", {
  search <- start_search()
  # beta = 4 through the multiplier of alpha_3
  search$premult <- 4 / gp_bandit_bounds("weight", 3, 11)
  search <- gp_bandit_suggest(search)
  expect_identical(search$batch$candidate, c(1L, 11L, 5L, 2L, 4L))
  expect_equal(search$batch$bound, c(1.899552, 1.821231, 1.596679, 0.753216, 0.682860), tolerance = 1e-6)
  expect_equal(search$batch$information, c(2.083474, 4.336351, 6.265429, 6.878447, 7.390804), tolerance = 1e-6)
  expect_warning(again <- gp_bandit_suggest(search), "5 pending choices wait")
  expect_identical(nrow(again$history), 7L)
})

test_that("the posterior is that of Gaussian conditioning, whatever is pending", {
  search <- gp_bandit_suggest(start_search(batch_size = 2))
  K <- kernel_matrix(k_se(lengthscale = 0.2), grid11)
  at <- c(3, 8)
  C <- K[at, at] + diag(0.01, 2)
  expect_equal(predict(search), drop(K[, at] %*% solve(C, c(0.5, -0.2))), tolerance = 1e-10)
  p <- predict(search, se = TRUE)
  expect_equal(p$se.fit^2, diag(K - K[, at] %*% solve(C, K[at, ])), tolerance = 1e-8)
  all <- search$history$candidate
  expect_equal(predict(search, se = TRUE, pending = TRUE)$se.fit^2, diag(K - K[, all] %*% solve(K[all, all] + diag(0.01, 4), K[all, ])), tolerance = 1e-8)
  shifted <- start_search(prior_mean = 10)
  shifted$history$y <- shifted$history$y + 10
  expect_equal(predict(shifted), predict(start_search()) + 10, tolerance = 1e-10)
})

test_that("results may come late and out of order", {
  set.seed(1)
  search <- gp_bandit_suggest(gp_bandit(grid11, k_se(lengthscale = 0.2), 0.01, batch_size = 3))
  late <- gp_bandit_observe(search, c(3, 1), c(0.3, 0.1))
  expect_identical(is.na(late$history$y), c(FALSE, TRUE, FALSE))
  one <- gp_bandit_observe(gp_bandit_observe(search, 1, 0.1), 3, 0.3)
  expect_equal(predict(one), predict(late))
  more <- gp_bandit_suggest(late)
  expect_identical(nrow(more$batch), 2L)
  expect_error(gp_bandit_observe(late, 9, 1), "never suggested", class = "granary_error_input")
  expect_error(gp_bandit_observe(late, 1, 1), "already has a result", class = "granary_error_input")
  expect_error(gp_bandit_observe(late, c(2, 2), c(1, 1)), "twice", class = "granary_error_input")
  expect_error(gp_bandit_observe(late, 2, c(1, 2)), "`y`", class = "granary_error_input")
  expect_error(gp_bandit_observe(late, 2, NA_real_), "`y`", class = "granary_error_input")
  single <- gp_bandit_suggest(late, n = 1)
  expect_identical(nrow(single$batch), 1L)
  expect_error(gp_bandit_suggest(late, n = 3), "`n`", class = "granary_error_input")
})

test_that("lazy and dense searches agree through R", {
  x <- as.matrix(expand.grid(seq(0, 1, length.out = 31), seq(0, 1, length.out = 31)))
  f <- -rowSums((x - 0.3)^2)
  run <- function(lazy, ...) simulate(gp_bandit(x, k_se(0.3), 0.01, lazy = lazy, ...), nsim = 2, seed = 3, f = f, n_rounds = 5)
  dense <- run(FALSE)
  expect_identical(run(TRUE)$choice, dense$choice)
  expect_true(all(run(TRUE)$solves < dense$solves))
  expect_identical(run(TRUE, strategy = "aucb", b_min = 2)$choice, run(FALSE, strategy = "aucb", b_min = 2)$choice)
})

test_that("simulations repeat with their seed, on one and two threads", {
  search <- gp_bandit(grid11, "matern32", 0.05, batch_size = 3)
  a <- simulate(search, nsim = 4, seed = 7, n_rounds = 6, threads = 1)
  b <- simulate(search, nsim = 4, seed = 7, n_rounds = 6, threads = 2)
  expect_identical(a[c("choice", "regret")], b[c("choice", "regret")])
  expect_identical(dim(a$regret), c(18L, 4L))
  expect_true(all(diff(a$simple[, 1]) <= 0))
  expect_equal(a$average[18, ], colMeans(a$regret))
  set.seed(7)
  expect_identical(simulate(search, nsim = 4, n_rounds = 6)$choice, a$choice)
})

test_that("searches find the maximum, and all strategies run", {
  f <- sin(7 * grid11) + grid11
  for (strategy in c("bucb", "aucb", "aucb_local", "ucb", "hbbo", "hbbo_ucb", "ei", "sm_ucb", "sm_ei")) {
    sim <- simulate(gp_bandit(grid11, k_se(0.2), 0.01, strategy = strategy, batch_size = 3), nsim = 3, seed = 1, f = f, n_rounds = 15)
    expect_lt(max(sim$simple[nrow(sim$simple), ], na.rm = TRUE), 1e-8)
  }
  for (strategy in c("uncertainty", "repeat", "top")) {
    sim <- simulate(gp_bandit(grid11, k_se(0.2), 0.01, strategy = strategy, batch_size = 3), seed = 1, f = f, n_rounds = 4)
    expect_identical(dim(sim$regret), c(12L, 1L))
  }
  delayed <- simulate(gp_bandit(grid11, k_se(0.2), 0.01, batch_size = 4), nsim = 2, seed = 1, f = f, n_rounds = 30, delay = 4)
  expect_identical(dim(delayed$regret), c(30L, 2L))
  expect_error(simulate(gp_bandit(grid11, k_se(0.2), 0.01, strategy = "top"), delay = 2), "whole batches")
  wait <- simulate(gp_bandit(grid11, k_se(0.2), 0.01, strategy = "aucb", batch_size = 4), seed = 1, f = f, n_rounds = 30, delay = 4)
  expect_lt(nrow(wait$regret), 30)  # it balked
})

test_that("batches of one are GP-UCB, and hallucination costs little", {
  k <- k_matern(1.5, lengthscale = 0.1, variance = 0.5)
  x <- seq(0, 1, length.out = 80)
  one <- simulate(gp_bandit(x, k, 0.025, batch_size = 1), nsim = 10, seed = 1, n_rounds = 40)
  ucb <- simulate(gp_bandit(x, k, 0.025, strategy = "ucb"), nsim = 10, seed = 1, n_rounds = 40)
  expect_identical(one$choice, ucb$choice)
  five <- simulate(gp_bandit(x, k, 0.025, batch_size = 5), nsim = 10, seed = 1, n_rounds = 24)
  random <- simulate(gp_bandit(x, k, 0.025, strategy = "uncertainty", batch_size = 5), nsim = 10, seed = 1, n_rounds = 24)
  expect_lt(mean(five$average[120, ]), 0.6 * mean(random$average[120, ]))
})

test_that("information adds up, saturates, and is bounded", {
  K <- kernel_matrix(k_se(lengthscale = 0.2), grid11)
  expect_equal(gp_bandit_bounds("information", K, 0.01, c(1, 4)), 0.5 * log(det(diag(2) + K[c(1, 4), c(1, 4)] / 0.01)))
  expect_equal(gp_bandit_bounds("information", K, 0.01, c(1, 4, 4), given = 2), gp_bandit_bounds("information", K, 0.01, c(1, 4, 4, 2)) - gp_bandit_bounds("information", K, 0.01, 2))
  best <- gp_bandit_bounds("max_information", K, 0.01, 3, exact = TRUE)
  expect_equal(best$path, c(2.307560, 4.615121, 6.920785), tolerance = 1e-6)
  expect_equal(best$exact, 6.920785, tolerance = 1e-6)
  expect_identical(best$set, c(1L, 11L, 6L))
  expect_true(best$lower <= best$exact + 1e-9 && best$exact <= best$upper)
  # submodular: what a result tells shrinks with what is known already
  set.seed(2)
  for (k in 1:5) {
    order <- sample(11)
    gains <- vapply(0:9, function(t) gp_bandit_bounds("information", K, 0.01, order[11], if (t > 0) order[seq_len(t)]), 0)
    expect_true(all(diff(gains) < 1e-10))
    expect_lt(gains[10], gains[1])
  }
  # no data: the bound is largest where least is known, and no batch tells more than the best set of its size
  blind <- gp_bandit_suggest(gp_bandit(grid11, k_se(0.2), 0.01, batch_size = 4))$batch
  expect_identical(blind$candidate, c(1L, 11L, 6L, 3L))
  expect_identical(blind$candidate, gp_bandit_suggest(gp_bandit(grid11, k_se(0.2), 0.01, "uncertainty", batch_size = 4))$batch$candidate)
  expect_lte(blind$information[3], best$exact + 1e-9)
  expect_error(gp_bandit_bounds("information", K, 0.01, 12), "`A`", class = "granary_error_input")
  expect_error(gp_bandit_bounds("information", K, 0.01, 1.5), "`A`", class = "granary_error_input")
  expect_error(gp_bandit_bounds("information", -K, 0.01, 1), "`K`", class = "granary_error_input")
  expect_error(gp_bandit_bounds("max_information", diag(1000), 1, 6, exact = TRUE), "1e7")
})

test_that("weights, bounds and starting sizes have their values", {
  expect_equal(gp_bandit_bounds("weight", c(1, 10, 200), 1000), c(19.41608, 28.62642, 40.60935), tolerance = 1e-6)
  expect_equal(gp_bandit_bounds("weight", 2, delta = 0.1, case = 2, d = 2, a = 1, b = 2, l = 3),
               2 * log(2 * 4 * pi^2 / 0.3) + 4 * log(4 * 2 * 2 * 3 * sqrt(log(80))))
  expect_equal(gp_bandit_bounds("weight", 5, delta = 0.1, case = 3, M = 2, gamma = 3), 4 + 900 * log(50)^3)
  expect_equal(gp_bandit_bounds("regret", 100, 10, 20, 0.1, 0.5), sqrt(8 / log(11) * 100 * exp(1) * 200) + 2)
  expect_warning(expect_identical(gp_bandit_bounds("regret", 10, 1, 1, 1, 400), Inf), "overflow")
  expect_identical(gp_bandit_bounds("initial_size", "linear", 5, 2)$size, 62)
  expect_identical(gp_bandit_bounds("initial_size", "se", 5, 1)$size, 91)
  expect_identical(gp_bandit_bounds("initial_size", "matern", 5)$size, 16)
  # what they promise: (B - 1) / T0 times the bound on gamma is at most C
  linear <- gp_bandit_bounds("initial_size", "linear", 8, 3)
  expect_lte(7 / linear$size * 3 * log(linear$size + 1), linear$limit)
  for (size in c(3, 8, 20)) {
    smooth <- gp_bandit_bounds("initial_size", "se", size, 2, eta = 1.5)
    expect_lte((size - 1) / smooth$size * 1.5 * log(smooth$size + 1)^3, smooth$limit)
    rough <- gp_bandit_bounds("initial_size", "matern", size, nu = 2, eps = 0.3)
    expect_lte((size - 1) / rough$size * 2 * rough$size^0.3, rough$limit)
  }
  expect_error(gp_bandit_bounds("initial_size", "linear", 1), "`batch_size`", class = "granary_error_input")
  set <- gp_bandit_bounds("initial_set", gp_bandit(grid11, k_se(0.2), 0.1, batch_size = 3), limit = 0.4)
  K <- kernel_matrix(k_se(0.2), grid11)
  last <- gp_bandit_bounds("information", K, 0.1, set[length(set)], set[-length(set)])
  expect_true(2 * last <= 0.4 || 2 * gp_bandit_bounds("information", K, 0.1, set) / length(set) <= 0.4)
})

test_that("confidence bounds of case 1 hold as often as they promise", {
  x <- seq(0, 1, length.out = 30)
  K <- kernel_matrix(k_se(0.2), x)
  set.seed(2)
  inside <- replicate(200, {
    f <- drop(crossprod(chol(K + diag(1e-8, 30)), rnorm(30)))
    picks <- sample(30, 5)
    C <- K[picks, picks] + diag(0.05, 5)
    mean <- drop(K[, picks] %*% solve(C, f[picks] + sqrt(0.05) * rnorm(5)))
    sd <- sqrt(pmax(0, diag(K - K[, picks] %*% solve(C, K[picks, ]))))
    all(abs(f - mean) <= sqrt(gp_bandit_bounds("weight", 6, 30)) * sd + 1e-6)
  })
  expect_gte(mean(inside), 0.9)
})

test_that("hyperparameters can follow the results", {
  x <- seq(0, 1, length.out = 40)
  set.seed(4)
  search <- gp_bandit(x, k_se(lengthscale = 0.25), 0.1, strategy = "uncertainty", batch_size = 10, refit_every = 20)
  for (round in 1:2) {
    search <- gp_bandit_suggest(search)
    search <- gp_bandit_observe(search, search$batch$id, sin(12 * search$batch$x1) + rnorm(10, sd = 0.1))
  }
  expect_lt(search$kernel$scales, 0.2)
  expect_lt(search$noise_var, 0.05)
})

test_that("one refit carries parameters as far as the results say", {
  x <- seq(0, 1, length.out = 40)
  set.seed(4)
  learn <- function(kernel) {
    search <- gp_bandit_suggest(gp_bandit(x, kernel, 1e-4, strategy = "uncertainty", batch_size = 30, refit_every = 30))
    suppressWarnings(gp_bandit_observe(search, search$batch$id, 50 * sin(6 * search$batch$x1) + rnorm(30)))
  }
  far <- learn(k_se(lengthscale = 0.01))  # 30 times too short
  expect_gt(far$kernel$scales, 0.15)
  expect_gt(far$kernel$variance, 100)
  expect_equal(far$noise_var, 1, tolerance = 0.8)
  # bounds of the rational quadratic kernel's shape were once those of its lengthscale
  rational <- learn(k_rq(lengthscale = 0.3, shape = 0.05))
  expect_gt(rational$kernel$shape, 1.1)
})

test_that("kernels that are linear have the paper's smaller weights", {
  expect_identical(gp_bandit(grid11, k_linear(), 0.1)$premult, 0.05)
  expect_identical(gp_bandit(grid11, k_linear() + k_bias(), 0.1)$premult, 0.05)
  expect_identical(gp_bandit(grid11, k_linear() + k_se(), 0.1)$premult, 0.1)
  expect_identical(gp_bandit(grid11, k_linear(), 0.1, premult = 0.2)$premult, 0.2)
})

test_that("adaptive batches are as long as the printed rule makes them: one first, then until the information reaches C", {
  f <- sin(7 * grid11)
  search <- gp_bandit(grid11, k_se(0.4), 0.01, strategy = "aucb", batch_size = 6)
  expect_equal(search$limit, log1p(1 / 0.01) / 2)  # gamma_1
  K <- kernel_matrix(k_se(0.4), grid11)
  seen <- integer()
  sizes <- integer()
  for (round in 1:6) {
    search <- gp_bandit_suggest(search)
    now <- search$batch$candidate
    gain <- vapply(seq_along(now), function(k) gp_bandit_bounds("information", K, 0.01, now[seq_len(k)], given = if (length(seen) > 0) seen), 0)
    expect_true(all(gain[-length(gain)] < search$limit))
    if (length(now) < 6) expect_gte(gain[length(gain)], search$limit * (1 - 1e-8))
    search <- gp_bandit_observe(search, search$batch$id, f[now])
    seen <- c(seen, now)
    sizes <- c(sizes, length(now))
  }
  expect_identical(sizes[1], 1L)
  # any correlation with the first result leaves the second choice less than gamma_1 to tell: the second batch has more than one member
  expect_gt(sizes[2], 1L)
  expect_identical(sizes[6], 6L)
})

test_that("costs name the cheapest strategy", {
  k <- k_se(0.2)
  set.seed(1)
  f <- sin(7 * grid11)
  one <- simulate(gp_bandit(grid11, k, 0.01, strategy = "ucb"), nsim = 5, f = f, n_rounds = 30)
  five <- simulate(gp_bandit(grid11, k, 0.01), nsim = 5, f = f, n_rounds = 6)
  cost <- gp_bandit_compare(one = one, five = five, levels = c(0.5, 1e-9), weights = c(0, 1))
  expect_identical(cost$cheapest[1, 1], "five")  # only rounds count
  expect_identical(cost$cheapest[1, 2], "one")   # only choices count
  expect_true(all(is.na(cost$cheapest[2, ])))
  expect_output(print(cost), "cheapest")
  expect_silent(plot_in_file(cost))
  expect_error(gp_bandit_compare(), "simulations", class = "granary_error_input")
  expect_error(gp_bandit_compare(one), "name", class = "granary_error_input")
  expect_error(gp_bandit_compare(a = 1), "simulated", class = "granary_error_input")
})

test_that("searches print and plot in one and two dimensions", {
  search <- gp_bandit_suggest(start_search(strategy = "aucb"))
  expect_output(print(search), "pending")
  plot_in_file(search)
  flat <- gp_bandit_suggest(gp_bandit(as.matrix(expand.grid(1:4, 1:4)), k_se(2), 0.1))
  plot_in_file(flat)
  sim <- simulate(flat, nsim = 3, seed = 1, n_rounds = 3)
  expect_output(print(sim), "simulated searches")
  plot_in_file(sim, type = "simple")
})

test_that("scales do not matter and edges are refused", {
  for (scale in c(1e-8, 1e8)) {
    search <- gp_bandit(grid11, k_se(lengthscale = 0.2, variance = scale^2), 0.01 * scale^2)
    search$history <- data.frame(id = 1:2, candidate = c(3L, 8L), y = scale * c(0.5, -0.2), mean = 0, sd = 1, bound = 0, information = 0)
    expect_identical(gp_bandit_suggest(seal(search))$batch$candidate, gp_bandit_suggest(start_search())$batch$candidate)
  }
  alone <- gp_bandit_suggest(gp_bandit(1, "se", 0.1, batch_size = 3))
  expect_identical(alone$batch$candidate, rep(1L, 3))
  same <- gp_bandit_suggest(gp_bandit(c(0, 0, 1), "se", 0.1, batch_size = 4))
  expect_identical(nrow(same$batch), 4L)
  expect_error(gp_bandit(grid11, "se", 0), "`noise_var`", class = "granary_error_input")
  expect_error(gp_bandit(c(1, NA), "se", 1), "`x`", class = "granary_error_input")
  expect_error(gp_bandit(grid11, "se", 1, strategy = "best"), "`strategy`", class = "granary_error_input")
  expect_error(gp_bandit(grid11, "se", 1, batch_size = 2, b_min = 3), "`b_min`", class = "granary_error_input")
  expect_error(gp_bandit(grid11, "se", 1, lazy = "no"), "`lazy`", class = "granary_error_input")
  expect_error(gp_bandit_suggest(1), "`object`", class = "granary_error_input")
  expect_error(simulate(gp_bandit(grid11, "se", 1), f = 1:3), "`f`", class = "granary_error_input")
  expect_error(simulate(gp_bandit(grid11, "se", 1), nsim = 3, f = matrix(0, 11, 2)), "one column", class = "granary_error_input")
  expect_warning(gp_bandit(grid11, k_se(variance = 4), 0.1, weights = "theory", batch_size = 2), "variance is above 1")
})

test_that("exploration weights of the other cases can be used, by results or by choices", {
  box <- function(t) gp_bandit_bounds("weight", t, case = 2, d = 2)
  search <- function(...) gp_bandit_suggest(gp_bandit(grid11, k_se(lengthscale = 0.2), 0.01, batch_size = 3, ...))
  weight <- function(object) with(object$history, ((bound - mean) / sd)^2)
  expect_equal(search(exploration = function(t) gp_bandit_bounds("weight", t, 11, 0.1))$history, search()$history)
  expect_equal(weight(search(exploration = box)), rep(0.1 * box(1), 3))
  expect_equal(weight(search(exploration = box, exploration_at = "choices")), 0.1 * box(1:3))
  later <- gp_bandit_suggest(gp_bandit_observe(search(exploration = box), 1:2, c(0.1, 0.3)))
  expect_equal(weight(later)[4L], 0.1 * box(3))
  theory <- search(exploration = box, exploration_at = "choices", weights = "theory", limit = 0.5)
  expect_equal(weight(theory), exp(1) * box(1:3))
  expect_error(gp_bandit(grid11, "se", 0.1, exploration = 3), "function of steps")
  expect_error(search(exploration = function(t) 1), "one number for each")
  expect_error(search(exploration = function(t) -t), "not negative")
})

test_that("local batches close where the information is reached, in any units", {
  at <- seq(0, 1, by = 0.1)
  sizes <- vapply(c(1, 1e8, 1e-8), function(unit) {
    screen <- gp_bandit(at * unit, k_se(0.2 * unit, variance = unit^2), 0.01 * unit^2, strategy = "aucb_local")
    first <- gp_bandit_suggest(screen)
    second <- gp_bandit_suggest(gp_bandit_observe(first, first$batch$id, unit * sin(first$batch$candidate)))
    nrow(first$batch) + 100 * nrow(second$batch)
  }, 0)
  expect_identical(sizes %% 100, c(1, 1, 1))  # C is what one result tells: strictly less than that is allowed
  expect_identical(sizes, rep(sizes[1], 3))
  # what two results at one place tell is not reached by two results at two places far apart
  loose <- gp_bandit_suggest(gp_bandit(at, k_se(0.05), 0.01, strategy = "aucb_local", b_min = 2))
  expect_identical(nrow(loose$batch), 5L)
})

test_that("noise next to nothing is raised, so that candidates can be tried again", {
  expect_warning(screen <- gp_bandit(seq(0, 1, by = 0.1), k_se(0.2), 1e-300, batch_size = 15), "raised to 1e-10", class = "granary_warning_input")
  screen <- gp_bandit_suggest(screen)
  expect_true(anyDuplicated(screen$batch$candidate) > 0L)
  screen <- gp_bandit_observe(screen, 1:15, sin(screen$batch$candidate))
  expect_equal(predict(screen), sin(1:11), tolerance = 1e-3)
  expect_s3_class(gp_bandit_suggest(screen), "granary_bandit")
})

test_that("a summary lists the candidates that look best", {
  screen <- gp_bandit_suggest(gp_bandit(c(0, 0.5, 1), k_se(0.2), 0.01, batch_size = 3))
  screen <- gp_bandit_observe(screen, c(1, 3), c(2, 1))
  expect_output(print(screen), "among 3 candidates.*best result: 2 .*best prediction: 1.9")
  found <- summary(screen)
  expect_identical(found$tried, 2L)
  expect_identical(found$top$candidate[1], screen$history$candidate[1])
  expect_equal(found$top$mean, sort(predict(screen), decreasing = TRUE))
  expect_output(print(found), "best predictions")
})

test_that("every default level of a cost map is reached by some strategy", {
  set.seed(4)
  for (k in 1:5) {
    sim <- simulate(gp_bandit(seq(0, 1, by = 0.1), k_se(0.2), 0.1), nsim = 3, n_rounds = 5)
    expect_false(anyNA(gp_bandit_compare(one = sim)$cheapest))
  }
})

test_that("results found elsewhere can be entered, at candidates only", {
  dose <- seq(0, 1, by = 0.1)
  screen <- gp_bandit(dose, "se", noise_var = 0.01, batch_size = 2)
  screen <- gp_bandit_observe(screen, x = c(0.2, 0.8), y = c(0.1, 0.9))
  expect_equal(screen$history$candidate, c(3L, 9L))
  asked <- gp_bandit_suggest(screen)
  expect_equal(nrow(asked$batch), 2L)
  expect_gt(predict(asked)[9], predict(asked)[3])
  expect_error(gp_bandit_observe(screen, x = 0.25, y = 1), "no candidate")
  expect_error(gp_bandit_observe(screen, y = 1), class = "granary_error_input")
})
