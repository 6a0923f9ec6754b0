# Mixed priors, baselines and fused signals.

test_that("mixed priors equal the special functions, in any order", {
  set.seed(1)
  S <- random_covariance(9, 30)
  nb <- nb_chain(9)
  mix <- function(...) ggm_mix(S = S, priors = list(...), tol = 1e-9, threads = 1)
  expect_equal(mix(prior_l1(0.1))$objective, ggm_lasso(S = S, lambda = 0.1, tol = 1e-12)$objective, tolerance = 1e-8)
  expect_equal(mix(prior_l1(0.05), prior_local(nb, 0.05))$objective,
               ggm_local(S = S, neighbors = nb, lambda = 0.05, tau = 0.05, tol = 1e-10)$objective, tolerance = 1e-8)
  for (norm in c("l2", "linf")) {
    expect_equal(mix(prior_l1(0.05), prior_nodes(0.2, norm))$objective,
                 ggm_nodes(S = S, lambda = 0.05, tau = 0.2, norm = norm, tol = 1e-9)$objective, tolerance = 1e-7)
  }
  a <- mix(prior_l1(0.05), prior_local(nb, 0.05), prior_nodes(0.2))
  b <- mix(prior_nodes(0.2), prior_local(nb, 0.05), prior_l1(0.05))
  expect_true(a$convergence$converged && b$convergence$converged)
  expect_equal(a$objective, b$objective, tolerance = 1e-8)
  expect_equal(as.matrix(a), as.matrix(b), tolerance = 1e-3)
  expect_gt(a$gap, -1e-9)
  expect_equal(a$objective, -a$log_det + a$trace_sx + sum(a$penalties), tolerance = 1e-10)
  # Two halves of one prior are one prior.
  expect_equal(mix(prior_l1(0.03), prior_l1(0.07))$objective, mix(prior_l1(0.1))$objective, tolerance = 1e-7)
  expect_identical(ggm_mix(S = S, priors = list(prior_l1(0.1), prior_local(nb, 0.1)), threads = 2)$precision,
                   ggm_mix(S = S, priors = list(prior_l1(0.1), prior_local(nb, 0.1)), threads = 1)$precision)
})

test_that("mixed priors are checked, printed and refitted", {
  S <- diag(3)
  expect_error(ggm_mix(S = S), "`priors`", class = "granary_error_input")
  expect_error(ggm_mix(S = S, priors = list(1)), "`priors`", class = "granary_error_input")
  expect_error(ggm_mix(S = S, priors = prior_local(nb_chain(4), 1)), "4 variables", class = "granary_error_input")
  expect_error(ggm_mix(S = diag(c(0, 1)), priors = prior_nodes(1)), "variance 0", class = "granary_error_input")
  expect_error(ggm_mix(S = matrix(1, 3, 3), priors = prior_local(nb_chain(3), 1)), "unbounded", class = "granary_error_numeric")
  expect_error(prior_l1(-1), "`lambda`", class = "granary_error_input")
  expect_output(print(prior_local(nb_chain(4), 0.5)), "local constancy")
  set.seed(2)
  sim <- sim_ggm("regions", n = 60)
  fit <- ggm_mix(sim$data, priors = list(prior_l1(0.05), prior_local(nb_chain(9), 0.05)))
  expect_output(print(fit), "2 priors")
  expect_length(ggm_select(fit, "cv", folds = 3)$table$estimate, 1)
  expect_identical(dim(simulate(fit, 2)), c(2L, 9L))
})

test_that("baselines: independence, inverse, ridge", {
  set.seed(3)
  x <- matrix(rnorm(200), 40)
  S <- cov(x)
  expect_equal(as.matrix(ggm_baseline(x, type = "independent")), diag(1 / diag(S)), ignore_attr = TRUE)
  expect_equal(as.matrix(ggm_baseline(x, type = "full")), solve(S), tolerance = 1e-10, ignore_attr = TRUE)
  ridge <- ggm_baseline(S = S, type = "ridge", lambda = c(0.1, 1))
  expect_equal(as.matrix(ridge, which = 1), solve(S + diag(5)), tolerance = 1e-10, ignore_attr = TRUE)
  expect_lte(max(eigen(as.matrix(ridge, which = 2))$values), 1 / 0.1)
  expect_error(ggm_baseline(x[1:4, ], type = "full"), "singular", class = "granary_error_numeric")
  expect_error(ggm_baseline(x, type = "ridge"), "`lambda`", class = "granary_error_input")
  expect_error(ggm_baseline(x, type = "full", lambda = 1), "no penalty", class = "granary_error_input")
  expect_error(ggm_baseline(S = diag(c(1, 0)), type = "independent"), "variance 0", class = "granary_error_input")
})

test_that("fused signals: thresholds, means, brute force, images", {
  set.seed(5)
  y <- rnorm(20)
  expect_equal(fused_signal(y, lambda = 0.3, tau = 0)$fitted, sign(y) * pmax(abs(y) - 0.3, 0))
  expect_equal(fused_signal(y, tau = 1e3)$fitted, rep(mean(y), 20))
  f <- function(x, rho, tau, squared) {
    d <- diff(x)
    sum((x - y)^2) / 2 + rho * sum(abs(x)) + tau * sum(if (squared) d^2 else abs(d))
  }
  for (penalty in c("l1", "l2")) {
    fit <- fused_signal(y, 0.1, 0.6, penalty)
    expect_equal(fit$objective, f(fit$fitted, 0.1, 0.6, penalty == "l2"), tolerance = 1e-12)
    worse <- replicate(300, f(fit$fitted + rnorm(20) * 10^runif(1, -5, -1) * rbinom(20, 1, 0.4), 0.1, 0.6, penalty == "l2"))
    expect_true(all(worse >= fit$objective - 1e-12))
  }
  expect_equal(fused_signal(y, 0, 2, "l2")$fitted, solve(diag(20) + 4 * crossprod(diff(diag(20))), y), tolerance = 1e-10)
  image <- matrix(rnorm(30), 5)
  smooth <- fused_signal(image, 0.1, 0.5, neighbors = nb_grid(c(5, 6)))
  expect_identical(dim(smooth$fitted), c(5L, 6L))
  expect_lt(abs(smooth$convergence$gap), 1e-12)
  expect_equal(residuals(smooth), image - fitted(smooth))
  expect_identical(names(fused_signal(c(a = 1, b = 2))$fitted), c("a", "b"))
  expect_output(print(smooth), "constant pieces")
  expect_error(fused_signal(c(1, NA)), "missing", class = "granary_error_input")
  expect_error(fused_signal(1:3, neighbors = nb_chain(4)), "4 variables", class = "granary_error_input")
  pdf(NULL)
  on.exit(dev.off())
  expect_no_error(plot(smooth))
  expect_no_error(plot(fused_signal(y)))
})

test_that("an own prior given by its value and prox is that of the package when it is the same", {
  set.seed(41)
  sim <- sim_ggm("chain", p = 6, n = 80)
  soft <- function(x, t) sign(x) * pmax(abs(x) - 0.1 * t, 0)
  own <- list(own = list(penalty = function(x) 0.1 * sum(abs(x)), prox = soft, name = "mine"))
  fit <- ggm_mix(sim$data, priors = own)
  plain <- ggm_mix(sim$data, priors = list(l1 = 0.1))
  expect_true(fit$convergence$converged)
  expect_lt(fit$gap, 6e-6)
  expect_equal(fit$objective, plain$objective, tolerance = 1e-6)
  expect_equal(as.matrix(fit$precision), as.matrix(plain$precision), tolerance = 1e-3)
  expect_output(print(fit$priors[[1]]), "mine")
})

test_that("an own prior need not be a seminorm, and mixes with the others", {
  set.seed(42)
  sim <- sim_ggm("chain", p = 5, n = 60)
  target <- diag(5)
  # weight / 2 ||X - target||_F^2: the optimum under it alone solves S - X^-1 + w (X - target) = 0
  w <- 0.5
  ridge <- list(penalty = function(x) w / 2 * sum((x - diag(nrow(x)))^2), prox = function(x, t) (x + t * w * diag(nrow(x))) / (1 + t * w))
  fit <- ggm_mix(sim$data, priors = list(own = ridge), tol = 1e-9)
  X <- as.matrix(fit$precision)
  S <- fit$S
  expect_equal(unname(S - solve(X) + w * (X - target)), matrix(0, 5, 5), tolerance = 1e-3)
  expect_lt(fit$gap, 5e-9)
  both <- ggm_mix(sim$data, priors = list(own = ridge, l1 = 0.1))
  expect_true(both$convergence$converged)
  expect_gt(both$objective, fit$objective)
})

test_that("an own prior that cannot be one is refused", {
  set.seed(43)
  sim <- sim_ggm("chain", p = 5, n = 60)
  value <- function(x) sum(abs(x))
  expect_error(ggm_mix(sim$data, priors = list(own = list(penalty = value, prox = function(x, t) x / 2))), "does not belong", class = "granary_error_input")
  expect_error(ggm_mix(sim$data, priors = list(own = list(penalty = value, prox = function(x, t) 1))), "matrix of the size", class = "granary_error_input")
  expect_error(ggm_mix(sim$data, priors = list(own = list(penalty = function(x) "a", prox = function(x, t) x))), "one finite number", class = "granary_error_input")
  expect_error(ggm_mix(sim$data, priors = list(own = list(penalty = value, prox = function(x, t) stop("no")))), "`prox` failed: no", class = "granary_error_input")
  expect_error(ggm_mix(sim$data, priors = list(own = list(penalty = value))), "prox", class = "granary_error_input")
})

test_that("several tasks: the multi-task prior is ggm_multi()", {
  set.seed(1)
  x <- sim_ggm("chain", 6, 120)$data
  g <- rep(c("b", "a", "c"), 40)
  for (norm in c("l2", "linf", "fused")) {
    for (weights in c("size", "proportion")) {
      lambda <- if (weights == "size") 3 else 0.03
      special <- ggm_multi(x, groups = g, lambda = lambda, lambda1 = lambda / 3, norm = norm, weights = weights, tol = 1e-9)
      tied <- list(lambda, lambda1 = lambda / 3, norm = norm)
      fit <- ggm_mix(x, groups = g, weights = weights, priors = list(multi = tied), tol = 1e-9)
      expect_equal(fit$objective, special$objective, tolerance = 1e-7)
      expect_equal(lapply(fit$precision, as.matrix), lapply(special$precision, as.matrix), tolerance = 1e-4)
      split <- ggm_mix(x, groups = g, weights = weights, priors = list(l1 = list(lambda / 3, diagonal = FALSE), multi = tied[-2]), tol = 1e-9)
      expect_equal(split$objective, special$objective, tolerance = 1e-7)
      expect_gt(split$gap, -1e-9 * abs(split$objective))
    }
  }
})

test_that("several tasks: other priors charge each task for itself", {
  set.seed(2)
  x <- sim_ggm("regions", n = 120)$data
  g <- rep(1:2, 60)
  S <- lapply(split(seq_len(120), g), function(own) cov(x[own, ]))
  alike <- list(nb_chain(9), tau = 0.05)
  priors <- function(t) list(l1 = 0.05 * t, local = list(nb_chain(9), tau = 0.05 * t), nodes = 0.1 * t, hub = list(lambda1 = 0.2 * t, lambda2 = 0.1 * t, lambda3 = 0.3 * t))
  fit <- ggm_mix(S = S, n = 60, weights = c(2, 2), priors = priors(2), tol = 1e-8)
  alone <- lapply(S, function(s) ggm_mix(S = s, priors = priors(1), tol = 1e-8))
  expect_equal(fit$objective, 2 * sum(vapply(alone, `[[`, 0, "objective")), tolerance = 1e-6)
  for (k in 1:2) expect_equal(as.matrix(fit$precision[[k]]), as.matrix(alone[[k]]), tolerance = 1e-3, ignore_attr = TRUE)
  expect_equal(fit$objective, sum(2 * (fit$trace_sx - fit$log_det)) + sum(fit$penalties), tolerance = 1e-8)
  shared <- function(c, t) sign(c) * pmax(abs(c) - 0.1 * t, 0)
  own <- ggm_mix(S = S, weights = "equal", priors = list(own = list(function(x) 0.1 * sum(abs(x)), shared)), tol = 1e-9)
  expect_equal(own$objective, ggm_mix(S = S, weights = "equal", priors = list(l1 = 0.1), tol = 1e-9)$objective, tolerance = 1e-7)
  one <- ggm_mix(S = S[1], weights = "equal", priors = list(l1 = 0.1, nodes = 0.1), tol = 1e-9)
  expect_equal(one$objective, ggm_mix(S = S[[1]], priors = list(l1 = 0.1, nodes = 0.1), tol = 1e-9)$objective, tolerance = 1e-8)
})

test_that("several tasks: methods, units, threads and errors", {
  set.seed(3)
  x <- sim_ggm("chain", 5, 90)$data
  g <- rep(1:3, 30)
  mixed <- function(x, ...) ggm_mix(x, groups = g, weights = "proportion", ...)
  fit <- mixed(x, priors = list(multi = 0.05, hub = list(lambda1 = 0.1, lambda2 = 0.05, lambda3 = 0.2)))
  expect_s3_class(fit, c("granary_ggm_mix_tasks", "granary_ggm_multi"), exact = FALSE)
  expect_true(fit$convergence$converged)
  expect_output(print(fit), "tasks \\(l2, lambda 0.05\\).*hubs")
  expect_length(predict(fit, x, type = "class"), 90L)
  expect_silent(check_fit(fit))
  expect_length(ggm_select(fit, "cv", folds = 3)$table$estimate, 1)
  expect_identical(mixed(x, priors = list(multi = 0.05), threads = 2)$precision, mixed(x, priors = list(multi = 0.05), threads = 1)$precision)
  for (unit in c(1e-4, 1e4)) {
    other <- mixed(x * unit, priors = list(multi = 0.05 * unit^2))
    expect_equal(as.matrix(other$precision[[2]]) * unit^2, as.matrix(mixed(x, priors = list(multi = 0.05))$precision[[2]]), tolerance = 1e-3)
  }
  expect_error(ggm_mix(x, priors = list(multi = 0.1)), "needs several tasks", class = "granary_error_input")
  expect_error(ggm_mix(x, priors = list(l1 = 0.1), weights = "equal"), "`weights`", class = "granary_error_input")
  expect_error(mixed(x, priors = list(multi = list(0.1, norm = "l3"))), "`norm`", class = "granary_error_input")
  expect_error(mixed(x, priors = list(multi = -1)), "`lambda`", class = "granary_error_input")
  expect_error(mixed(cbind(x, one = 1), priors = list(multi = 1)), "variance 0", class = "granary_error")
})
