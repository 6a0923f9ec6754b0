# Expectation consistent inference for Ising models: worked numbers, exact cases, baselines, fits, bad input.

three <- matrix(c(0, 0.5, -0.4, 0.5, 0, 0.3, -0.4, 0.3, 0), 3)
field <- c(0.2, -0.1, 0.4)

test_that("three spins give the worked numbers at every level", {
  exact <- ec_baseline(three, field, "exact")
  expect_equal(exact$log_z, 2.3403655, tolerance = 1e-7)
  expect_equal(unname(exact$mean), c(0.0632926, 0.0224118, 0.3241357), tolerance = 1e-6)
  tree <- ec_ising(three, field, tol = 1e-18)
  expect_equal(tree$log_z, 2.3408070, tolerance = 1e-7)
  expect_equal(unname(tree$mean), c(0.0616379, 0.0245912, 0.3232234), tolerance = 1e-6)
  expect_equal(tree$tree, rbind(1:2, c(1L, 3L)))
  factorized <- ec_ising(three, field, "factorized", tol = 1e-18)
  expect_equal(factorized$log_z, 2.3371559, tolerance = 1e-7)
  expect_equal(as.vector(factorized$lambda$r$lambda), c(1.2744944, 1.2147624, 1.2615163), tolerance = 1e-6)
  expect_equal(factorized$cov[1, 2], 0.3525767, tolerance = 1e-6)
  expect_equal(ec_ising(three, field, "restricted", tol = 1e-16)$log_z, 2.3359203, tolerance = 1e-7)
  naive <- ec_baseline(three, field, "mean_field")
  expect_equal(naive$log_z, 2.1596078, tolerance = 1e-6)
  expect_equal(unname(naive$mean), c(0.0778688, 0.0486016, 0.3656851), tolerance = 1e-5)
})

test_that("the loops agree, and the double loop never raises its free energy", {
  set.seed(3)
  for (method in c("tree", "factorized", "restricted")) {
    sim <- sim_ec_ising("gaussian", n = 8, size = 0.8)
    answers <- lapply(c("single", "greedy", "double"), function(a) ec_ising(sim$J, sim$theta, method, a, max_iter = 3000))
    for (a in answers[-1L]) {
      expect_equal(a$log_z, answers[[1L]]$log_z, tolerance = 1e-7)
      expect_equal(a$mean, answers[[1L]]$mean, tolerance = 1e-4)
    }
    expect_true(all(diff(answers[[3L]]$free_energy) <= 1e-9))
    expect_identical(vapply(answers, `[[`, "", "algorithm"), c("single", "greedy", "double"))
  }
})

test_that("a forest is exact, and so is a spin alone", {
  set.seed(8)
  J <- matrix(0, 7, 7)
  for (i in c(2:4, 6:7)) J[i, sample(if (i < 5) 1:(i - 1) else 5:(i - 1), 1)] <- rnorm(1)
  J[6, 5] <- 0.7
  J[6, 1:4] <- 0
  J <- J + t(J)
  theta <- rnorm(7, sd = 0.5)
  fit <- ec_ising(J, theta, tol = 1e-20)
  truth <- ec_baseline(J, theta)
  expect_equal(fit$log_z, truth$log_z, tolerance = 1e-8)
  expect_equal(fit$mean, truth$mean, tolerance = 1e-7)
  expect_equal(fit$cov, truth$cov, tolerance = 1e-6)
  one <- ec_ising(matrix(0), 0.7)
  expect_equal(c(one$log_z, one$mean[[1L]]), c(log(2 * cosh(0.7)), tanh(0.7)), tolerance = 1e-8)
  expect_identical(nrow(one$tree), 0L)
})

test_that("wider trees are closer to the truth on grids, and exact once they hold all couplings", {
  errors <- vapply(1:6, function(seed) {
    set.seed(seed)
    sim <- sim_ec_ising("grid", n = 16, size = 1)
    exact <- ec_baseline(sim$J, sim$theta, "exact")
    vapply(c(1, 2, 4), function(width) {
      fit <- suppressWarnings(ec_ising(sim$J, sim$theta, width = width))
      mean(abs(fit$prob - exact$prob))
    }, 0)
  }, numeric(3))
  expect_true(all(diff(rowMeans(errors)) < 0))
  J <- outer(1:6, 1:6, function(a, b) ifelse(a != b & abs(a - b) <= 2, 0.4, 0))
  expect_equal(ec_ising(J, 0.1, width = 2)$log_z, ec_baseline(J, 0.1, "exact")$log_z, tolerance = 1e-8)
  expect_error(ec_ising(J, 0.1, method = "factorized", width = 2), "`width`", class = "granary_error_input")
  expect_error(ec_ising(J, 0.1, algorithm = "double", width = 2), "single loop", class = "granary_error_input")
})

test_that("derivatives of log Z are the moments", {
  set.seed(4)
  sim <- sim_ec_ising("gaussian", n = 5, size = 0.7)
  value <- function(J, theta) ec_ising(J, theta, tol = 1e-20, tree = cbind(1:4, 2:5))$log_z
  fit <- ec_ising(sim$J, sim$theta, tol = 1e-20, tree = cbind(1:4, 2:5))
  h <- 1e-4
  up <- replace(sim$theta, 2, sim$theta[2] + h)
  down <- replace(sim$theta, 2, sim$theta[2] - h)
  expect_equal((value(sim$J, up) - value(sim$J, down)) / (2 * h), fit$mean[[2L]], tolerance = 1e-5)
  for (pair in list(c(1, 2), c(1, 4))) {  # on the tree and off it
    E <- matrix(0, 5, 5)
    E[pair[1], pair[2]] <- E[pair[2], pair[1]] <- h
    expect_equal((value(sim$J + E, sim$theta) - value(sim$J - E, sim$theta)) / (2 * h),
                 fit$cov[pair[1], pair[2]] + fit$mean[[pair[1]]] * fit$mean[[pair[2]]], tolerance = 1e-5)
  }
})

test_that("zeros and ones, a diagonal, names and models are understood", {
  set.seed(5)
  J <- three
  diag(J) <- c(0.3, -0.2, 0.1)
  states <- as.matrix(expand.grid(0:1, 0:1, 0:1))
  energy <- rowSums((states %*% J) * states) / 2 + as.vector(states %*% field)
  p <- exp(energy) / sum(exp(energy))
  exact <- ec_baseline(J, field, "exact", spins = "0/1")
  expect_equal(exact$log_z, log(sum(exp(energy))), tolerance = 1e-10)
  expect_equal(unname(exact$mean), as.vector(p %*% states), tolerance = 1e-10)
  fit <- ec_ising(J, field, spins = "0/1")
  expect_equal(fit$mean, exact$mean, tolerance = 0.01)
  expect_equal(fit$prob, fit$mean)
  pairs <- predict(exact, c(1, 1), c(2, 3))
  expect_equal(pairs$p11, c(sum(p[states[, 1] & states[, 2]]), sum(p[states[, 1] & states[, 3]])), tolerance = 1e-9)
  # the diagonal is a constant for spins
  expect_equal(ec_ising(J, field)$log_z, ec_ising(three, field)$log_z + sum(diag(J)) / 2, tolerance = 1e-6)
  named <- three
  dimnames(named) <- list(letters[1:3], letters[1:3])
  expect_named(coef(ec_ising(named, field)), letters[1:3])
  expect_identical(dimnames(vcov(ec_ising(named, field))), list(letters[1:3], letters[1:3]))
  expect_equal(ec_ising(ising_model(three / 2, field))$log_z, ec_ising(three, field)$log_z)
})

test_that("EC is better than Bethe and mean field on the paper's models, tree better than factorized", {
  set.seed(6)
  total <- Reduce(`+`, lapply(1:15, function(k) {
    sim <- sim_ec_ising("grid", n = 16, size = 1)
    as.matrix(ec_compare(sim$J, sim$theta, c("tree", "factorized", "bethe", "tap", "mean_field"))[c("mad1", "mad2", "aad")])
  })) / 15
  expect_lt(total[1, "aad"], 0.005)
  expect_lt(total[1, "mad2"], total[2, "mad2"])
  expect_lt(total[2, "mad2"], total[3, "mad2"])
  expect_lt(total[3, "aad"], total[5, "aad"])
})

test_that("TAP and the other baselines do what they should", {
  # weak couplings: TAP's error is of third order, mean field's of second
  set.seed(7)
  sim <- sim_ec_ising("gaussian", n = 8, size = 0.1)
  truth <- ec_baseline(sim$J, sim$theta)
  tap <- ec_baseline(sim$J, sim$theta, "tap")
  naive <- ec_baseline(sim$J, sim$theta, "mean_field")
  expect_lt(abs(tap$log_z - truth$log_z), 0.1 * abs(naive$log_z - truth$log_z))
  expect_lte(naive$log_z, truth$log_z)
  expect_lt(max(abs(tap$cov - truth$cov)), 1e-3)
  # its fixed point
  J2 <- sim$J^2
  m <- unname(tap$mean)
  expect_equal(m, as.vector(tanh(sim$theta + sim$J %*% m - m * (J2 %*% (1 - m^2)))), tolerance = 1e-8)
  set.seed(1)
  gibbs <- ec_baseline(sim$J, sim$theta, "gibbs", samples = 4000)
  expect_lt(max(abs(gibbs$mean - truth$mean)), 0.08)
  expect_true(is.na(gibbs$log_z))
  chain <- ec_baseline(toeplitz(c(0, 0.6, 0, 0)), 0.1, "bethe")
  expect_equal(chain$log_z, ec_baseline(toeplitz(c(0, 0.6, 0, 0)), 0.1)$log_z, tolerance = 1e-6)
})

test_that("the closed-form fit gives back the moments of the data, and recovers couplings", {
  for (seed in 1:3) {
    set.seed(seed)
    sim <- sim_ising(p = 8, density = 0.4, n = 4000, size = 0.15, field = "uniform")
    for (method in c("factorized", "tree")) {
      fit <- ec_ising_fit(sim$data, method = method)
      model <- ec_ising(fit$J, fit$theta, method, tree = if (method == "tree") fit$tree)
      expect_equal(unname(model$mean), unname(colMeans(fit$x)), tolerance = 1e-5)
      expect_equal(unname(model$cov), unname(crossprod(fit$x) / 4000 - tcrossprod(colMeans(fit$x))), tolerance = 1e-4)
      expect_gt(cor(fit$W[upper.tri(fit$W)], sim$W[upper.tri(sim$W)]), 0.93)
    }
  }
  exact <- ising_fit(sim$data, lambda = 0)
  expect_lt(max(abs(exact$W - ec_ising_fit(sim$data, method = "tree")$W)), 0.03)
})

test_that("the penalised fit satisfies its optimality conditions", {
  set.seed(2)
  sim <- sim_ising(p = 10, density = 0.3, n = 500, size = 0.2)
  for (method in c("factorized", "tree")) {
    fit <- ec_ising_fit(sim$data, lambda = 0.05, method = method)
    model <- ec_ising(fit$J, fit$theta, method, tree = if (method == "tree") fit$tree, tol = 1e-18)
    C <- crossprod(fit$x) / 500 - tcrossprod(colMeans(fit$x))
    gap <- unname(C - model$cov)
    expect_equal(max(abs(diag(gap))), 0, tolerance = 1e-5)
    free <- matrix(FALSE, 10, 10)
    free[fit$tree] <- free[fit$tree[, 2:1, drop = FALSE]] <- TRUE
    pairs <- upper.tri(gap) & !free
    expect_lte(max(abs(gap[pairs])), 0.05 + 1e-5)
    active <- pairs & fit$J != 0
    expect_equal(gap[active], 0.05 * sign(fit$J[active]), tolerance = 1e-3)
    expect_equal(max(abs(gap[upper.tri(gap) & free]), 0), 0, tolerance = 1e-5)
  }
  # more variables than rows
  few <- ec_ising_fit(sim$data[1:8, ][, apply(sim$data[1:8, ], 2, function(v) length(unique(v)) == 2)], lambda = 0.5)
  expect_s3_class(few, "granary_ising")
})

test_that("methods of the answers work", {
  fit <- ec_ising(three, field, n_starts = 3)
  expect_output(print(fit), "tree of 2 edges")
  expect_output(print(fit), "3 starts")
  expect_output(print(summary(fit)), "Correlations")
  expect_equal(as.double(logLik(fit)), fit$log_z)
  expect_named(tidy(fit), c("variable", "mean", "sd", "prob"))
  expect_true(glance(fit)$converged)
  expect_equal(rowSums(predict(fit, 1:2, 2:3)[c("p00", "p01", "p10", "p11")]), c(1, 1), ignore_attr = TRUE)
  expect_equal(predict(fit, "V2")$prob, fit$prob[["V2"]])
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (type in c("marginals", "network", "trace")) expect_silent(plot(fit, type))
  big <- ec_ising(matrix(0.01, 30, 30), 0.1)
  expect_silent(plot(big))
  est <- ec_ising_fit(sim_ising(p = 5, n = 300, size = 0.2)$data)
  expect_output(print(est), "approximate maximum likelihood")
  expect_identical(dim(simulate(est, nsim = 3)), c(3L, 5L))
  expect_equal(attr(logLik(est), "nobs"), 300)
})

test_that("a ferromagnet has two solutions, and starts find them", {
  set.seed(1)
  J <- matrix(0.5, 8, 8)
  diag(J) <- 0
  fit <- suppressWarnings(ec_ising(J, 0.01, "factorized", n_starts = 10))
  expect_identical(nrow(fit$starts), 10L)
  expect_gt(diff(range(fit$starts$log_z)), 0.01)
  expect_equal(fit$log_z, max(fit$starts$log_z[fit$starts$converged]))
})

test_that("wild scales do not break it", {
  set.seed(1)
  for (size in c(1e-8, 1e8)) {
    sim <- sim_ec_ising("full", n = 6, size = size, field = size)
    for (method in c("tree", "factorized", "restricted")) {
      fit <- suppressWarnings(ec_ising(sim$J, sim$theta, method, max_iter = 100))
      expect_true(all(is.finite(fit$mean)) && all(abs(fit$mean) <= 1))
    }
  }
  # pairs far outside what is possible are clipped, and flagged
  sim <- sim_ec_ising("gaussian", n = 10, size = 10)
  pairs <- predict(suppressWarnings(ec_ising(sim$J, sim$theta, "restricted", max_iter = 100)), rep(1, 9), 2:10)
  expect_true(all(unlist(pairs[c("p00", "p01", "p10", "p11")]) >= 0))
  expect_type(pairs$outside, "logical")
})

test_that("not converging is said", {
  sim <- {
    set.seed(1)
    sim_ec_ising("full", n = 12, size = 0.4)
  }
  expect_warning(fit <- ec_ising(sim$J, sim$theta, "factorized", "single", max_iter = 2), class = "granary_warning_convergence")
  expect_false(fit$convergence$converged)
  expect_output(print(fit), "NOT converged")
})

test_that("bad input is named", {
  expect_error(ec_ising(), class = "granary_error_input")
  expect_error(ec_ising(matrix(1, 2, 3)), "square", class = "granary_error_input")
  expect_error(ec_ising(matrix(c(0, NA, NA, 0), 2)), "missing", class = "granary_error_input")
  expect_error(ec_ising(three, c(1, 2)), "theta", class = "granary_error_input")
  expect_error(ec_ising(three, Inf), "finite", class = "granary_error_input")
  expect_warning(ec_ising(three + rbind(c(0, 0.1, 0), 0, 0), field), "not symmetric", class = "granary_warning_input")
  expect_error(ec_ising(three, field, "nonsense"), class = "granary_error_input")
  expect_error(ec_ising(three, field, tree = rbind(1:2, 2:3, c(1, 3))), "cycle", class = "granary_error_input")
  expect_error(ec_ising(three, field, tree = rbind(c(1, 7))), "tree", class = "granary_error_input")
  expect_error(ec_ising(three, field, "factorized", tree = rbind(1:2)), "method", class = "granary_error_input")
  expect_error(ec_ising(three, field, damping = 2), class = "granary_error_input")
  expect_error(ec_ising(ising_model(three), 1), "left out", class = "granary_error_input")
  expect_error(ec_baseline(matrix(1, 30, 30), method = "exact"), "stops at 25.*expectation consistent", class = "granary_error_input")
  expect_error(ec_compare(three, field, "nonsense"), class = "granary_error_input")
  expect_error(predict(ec_ising(three), 1, 1), "different", class = "granary_error_input")
  expect_error(predict(ec_ising(three), "zz"), "zz", class = "granary_error_input")
  expect_error(sim_ec_ising("grid", n = 15), "square", class = "granary_error_input")
  set.seed(1)
  x <- matrix(sample(0:1, 40, TRUE), 10)
  expect_error(ec_ising_fit(cbind(x, 1)), "constant", class = "granary_error_input")
  expect_error(ec_ising_fit(cbind(x, x[, 1])), "inverted", class = "granary_error_input")
  expect_error(ec_ising_fit(x, -1), class = "granary_error_input")
  expect_error(ec_ising_fit(rbind(x, NA)), class = "granary_error_input")
  expect_s3_class(ec_ising_fit(rbind(x, NA), na = "omit", lambda = 0.1), "granary_ec_ising_fit")
})

test_that("Table 1 of the paper comes out in its medians", {
  skip_if(Sys.getenv("GRANARY_EXTENDED") != "1", "a minute of simulation")
  table <- reproduce("jmlr6-expectation-consistent", extended = TRUE)
  medians <- grepl("median error, tree", table$claim)
  expect_true(all(table$agrees[medians]))
})

test_that("couplings too large to compute with end with an error or an answer, not in a loop", {
  set.seed(1)
  s <- sim_ec_ising("gaussian", n = 10, size = 0.5)
  setTimeLimit(elapsed = 20, transient = TRUE)
  on.exit(setTimeLimit())
  found <- tryCatch(ec_compare(s$J + 1e15, s$theta, "tree"), granary_error = identity)
  expect_true(is.data.frame(found) || inherits(found, "granary_error"))
})
