test_that("complexities that are known exactly", {
  one_row <- data.frame(i = 1, j = 1:9)
  r <- complete_matrix_bounds("complexity", one_row, t = 2, n_draws = 10, dims = c(5, 9))
  expect_equal(r$norm, 3, tolerance = 1e-6)
  expect_lt(r$norm_se, 1e-6)
  expect_equal(r$value, 2 * 3 / 9, tolerance = 1e-6)
  diagonal <- data.frame(i = 1:6, j = c(3, 1, 2, 6, 5, 4))
  expect_equal(complete_matrix_bounds("complexity", diagonal, t = 1, n_draws = 10)$norm, 1, tolerance = 1e-6)
  expect_equal(complete_matrix_bounds("complexity", diagonal, t = 1, n_draws = 10, lipschitz = 3)$value, 3 / 6, tolerance = 1e-6)
})

test_that("repeated cells: the split by hits is exact for one cell and never worse", {
  cell <- data.frame(i = rep(1, 16), j = 1)
  set.seed(1)
  r <- complete_matrix_bounds("complexity", cell, t = 100, n_draws = 50, type = "inductive", loss_bound = 1)
  expect_equal(r$value, 2 ^ (1 - 16) * 8 * choose(16, 8) / 16, tolerance = 1e-9)  # charged with the bound of the loss
  expect_equal(r$threshold, 0)
  expect_equal(complete_matrix_bounds("complexity", cell, t = 100, n_draws = 5)$observations, 1)  # transductive: distinct cells
  set.seed(2)
  sample_cells <- data.frame(i = sample(10, 200, TRUE), j = sample(10, 200, TRUE))
  set.seed(3)
  whole <- complete_matrix_bounds("complexity", sample_cells, t = 10, n_draws = 40, type = "inductive")
  set.seed(3)
  split <- complete_matrix_bounds("complexity", sample_cells, t = 10, n_draws = 40, type = "inductive", loss_bound = 1)
  expect_lte(split$value, whole$value + 1e-12)
})

test_that("Theorem 3: the link's slope multiplies, its range caps what a cell can cost", {
  set.seed(1)
  cells <- data.frame(i = sample(8, 60, TRUE), j = sample(6, 60, TRUE))
  run <- function(...) {
    set.seed(2)
    complete_matrix_bounds("complexity", cells, t = 7, n_draws = 20, dims = c(8, 6), ...)
  }
  expect_equal(run(sigmoid = c(1, 5))$value, run()$value, tolerance = 1e-12)  # slope 1
  expect_equal(run(sigmoid = c(0, 1))$value, run()$value / 4, tolerance = 1e-12)
  expect_equal(run(sigmoid = c(0, 1))$analytic, run()$analytic / 4, tolerance = 1e-12)
  charged <- run(type = "inductive", sigmoid = c(1, 5), lipschitz = 3)
  expect_equal(charged$value, run(type = "inductive", loss_bound = 3 * 2, lipschitz = 3)$value, tolerance = 1e-12)
  expect_lte(charged$value, run(type = "inductive", lipschitz = 3)$value)
  # l sqrt(9 l_phi b_phi t (sqrt(m) + sqrt(n)) / N) with l_phi = 1, b_phi = 2
  expect_equal(charged$analytic[["theorem3"]], 3 * sqrt(9 * 1 * 2 * 7 * (sqrt(8) + sqrt(6)) / 60))
  expect_equal(run(type = "inductive", sigmoid = c(-1, 1) * 1e4)$value, run(type = "inductive", sigmoid = c(0, 2e4))$value, tolerance = 1e-12)
  one <- complete_matrix_bounds("complexity", data.frame(i = rep(1, 16), j = 1), t = 1e6, n_draws = 5, type = "inductive", sigmoid = c(0, 2))
  expect_equal(one$value, 2^(1 - 16) * 8 * choose(16, 8) / 16, tolerance = 1e-9)  # one cell: b_phi E|sum of signs| / N
  expect_error(run(sigmoid = c(5, 1)), "lo below hi", class = "granary_error_input")
  expect_error(run(sigmoid = c(1, 5), max_abs = 1), "not both", class = "granary_error_input")
  sim <- sim_complete_matrix(20, 15, n_obs = 150, design = "ratings", noise = 0.5)
  fit <- suppressWarnings(complete_matrix(sim$x, model = "bounded", bound = c(1, 5), lambda = 8))
  expect_true("theorem3" %in% names(complete_matrix_bounds("error", fit, n_draws = 5)$rademacher$analytic))
})

test_that("evenly spread cells are worth more than dense rows", {
  set.seed(1)
  n <- 60
  even <- complete_matrix_bounds("complexity", sim_complete_matrix(n, n, n_obs = 600)$x, t = n, n_draws = 20)
  rows <- complete_matrix_bounds("complexity", data.frame(i = rep(1:10, each = n), j = rep(1:n, 10)), t = n, n_draws = 20, dims = c(n, n))
  expect_lt(even$norm, rows$norm)
  expect_lt(even$analytic[["log_form"]], rows$analytic[["log_form"]])
  expect_equal(even$analytic[["theorem6"]], rows$analytic[["theorem6"]])
  expect_output(print(even), "closed forms")
})

test_that("the bound on entries only helps", {
  set.seed(1)
  cells <- sim_complete_matrix(8, 6, n_obs = 24)$cells
  set.seed(2)
  trace <- complete_matrix_bounds("complexity", cells, t = 10, n_draws = 10, dims = c(8, 6))
  set.seed(2)
  both <- complete_matrix_bounds("complexity", cells, t = 10, n_draws = 10, max_abs = 0.5, dims = c(8, 6))
  expect_lt(both$value, trace$value)
  expect_lte(both$value, 0.5 * 1.001)  # never above b
  set.seed(2)
  expect_equal(complete_matrix_bounds("complexity", cells, t = 10, n_draws = 10, max_abs = 1e3, dims = c(8, 6))$value, trace$value, tolerance = 1e-2)
})

test_that("Lemma 12: the value lies between the bounds of weak duality", {
  set.seed(1)
  G <- matrix(rnorm(30), 6)
  norm <- complete_matrix_bounds("dual", G, t = 8, max_abs = 0.8)
  expect_equal(norm$Y + norm$Z, G)
  expect_equal(norm$value, 0.8 * sum(abs(norm$Y)) + 8 * svd(norm$Z)$d[1], tolerance = 1e-8)
  expect_lte(max(abs(norm$W)), 0.8 + 1e-9)
  expect_lte(sum(svd(norm$W)$d), 8 + 1e-7)
  expect_gte(sum(G * norm$W), norm$value - norm$gap - 1e-9)
  expect_lt(norm$gap, 1e-5 * norm$value)
  expect_lt(norm$value, min(0.8 * sum(abs(G)), 8 * svd(G)$d[1]) * 0.999)  # where the printed proof would have equality
  expect_equal(complete_matrix_bounds("dual", 1e8 * G, t = 8, max_abs = 0.8)$value, 1e8 * norm$value, tolerance = 1e-5)
  expect_equal(complete_matrix_bounds("dual", 0 * G, t = 1, max_abs = 1)$value, 0)
})

test_that("guarantees for unseen cells hold and say when they are empty", {
  set.seed(1)
  sim <- sim_complete_matrix(30, 30, rank = 1, n_obs = 800)
  half <- sample(800, 400)
  fit <- complete_matrix(sim$cells[half, ], dims = c(30, 30), lambda = 10, bound = 5, model = "clipped")
  bound <- complete_matrix_bounds("error", fit, newdata = sim$cells[-half, ], n_draws = 20)
  test <- mean(abs(predict(fit, sim$cells[-half, ]) - sim$cells$value[-half]))
  expect_gt(bound$bound, test)
  expect_equal(bound$bound, bound$train + bound$complexity + bound$deviation)
  expect_equal(bound$deviation, 10 * (11 + 4 * sqrt(log(20))) / sqrt(400))
  expect_false(bound$vacuous)
  expect_output(print(complete_matrix_bounds("error", fit, newdata = sim$cells[-half, ], n_draws = 20, delta = 1e-6)), "Vacuous")
  squared <- complete_matrix_bounds("error", fit, newdata = sim$cells[-half, ], n_draws = 20, loss = "squared")
  expect_equal(squared$loss_bound, 100)
  inductive <- complete_matrix_bounds("error", fit, n_draws = 20)
  expect_equal(inductive$deviation, 10 * sqrt(2 * log(40) / 400))
  expect_warning(complete_matrix_bounds("error", fit, newdata = sim$cells[-half, ][1:50, ], n_draws = 5), class = "granary_warning_input")
  expect_error(complete_matrix_bounds("error", fit, newdata = sim$cells[half, ], n_draws = 5), "not seen", class = "granary_error_input")
  plain <- complete_matrix(sim$cells[half, ], dims = c(30, 30), lambda = 10)
  expect_error(complete_matrix_bounds("error", plain, n_draws = 5), "`bound` must be given", class = "granary_error_input")
})

test_that("simulated matrices are what they say, and the lower-bound instance cannot be learnt", {
  set.seed(1)
  sim <- sim_complete_matrix(30, 20, rank = 3, n_obs = 100)
  expect_equal(sum(!is.na(sim$x)), 100)
  expect_equal(sum(svd(sim$signal)$d > 1e-8), 3)
  expect_equal(nrow(sim$test), 500L)
  power <- sim_complete_matrix(50, 40, n_obs = 400, sampling = "power")
  uniform <- sim_complete_matrix(50, 40, n_obs = 400)
  expect_gt(max(rowSums(!is.na(power$x))), max(rowSums(!is.na(uniform$x))))
  ratings <- sim_complete_matrix(30, 20, n_obs = 100, design = "ratings", noise = 0.5)
  expect_true(all(ratings$cells$value %in% 1:5))
  hard <- sim_complete_matrix(36, 36, n_obs = 108, design = "lower_bound", t = 36)
  expect_lte(sum(svd(hard$signal)$d), 36)
  expect_true(all(hard$cells$i <= 6))
  fit <- suppressWarnings(complete_matrix(hard$x, n_lambda = 8))
  expect_gt(min(assess(fit, hard$test)$rmse), 0.95)  # predicting zero scores one
  expect_error(sim_complete_matrix(5, 4, n_obs = 5, design = "lower_bound"), class = "granary_error_input")
  expect_error(sim_complete_matrix(5, 4, n_obs = 21), class = "granary_error_input")
})

test_that("bad input to the bounds is refused", {
  expect_error(complete_matrix_bounds("complexity", matrix(NA_real_, 2, 2), t = 1), class = "granary_error_input")
  expect_error(complete_matrix_bounds("complexity", diag(2), t = 0), class = "granary_error_input")
  expect_error(complete_matrix_bounds("complexity", diag(2), t = 1, n_draws = 1), class = "granary_error_input")
  expect_error(complete_matrix_bounds("dual", diag(2), t = -1, max_abs = 1), class = "granary_error_input")
  expect_error(complete_matrix_bounds("error", 3), class = "granary_error_input")
})
