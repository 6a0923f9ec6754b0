# Graphs with hubs: closed forms, the graphical lasso where they coincide, brute force, certificates, recovery, and bad input.

hub_data <- function(p = 30, hubs = 2, n = 100, seed = 1, ...) {
  set.seed(seed)
  sim_hub(p = p, hubs = hubs, n = n, ...)
}

soft <- function(x, l) sign(x) * pmax(abs(x) - l, 0)
off <- function(m) {
  m <- as.matrix(m)
  diag(m) <- 0
  m
}

hub_cost <- function(V, Z, l, q = 2) {
  norm <- function(v) if (q == 1) sum(abs(v)) else if (q == 2) sqrt(sum(v^2)) else max(abs(v))
  l[1] * sum(abs(off(Z))) + l[2] * sum(abs(off(V))) + l[3] * sum(apply(off(V), 2, norm))
}

# ||soft(2 L_.j, l2)||_s - l3 and |L| - l1: at most zero in the dual set.
dual_excess <- function(L, l, q = 2) {
  L <- off(L)
  size <- apply(soft(2 * L, l[2]), 2, function(v) if (q == 1) max(abs(v)) else if (q == 2) sqrt(sum(v^2)) else sum(abs(v)))
  max(abs(L) - l[1], size - l[3])
}

fit_hub <- function(S, l, ..., tol = 1e-12) {
  suppressWarnings(ggm_hub(S = S, lambda1 = l[1], lambda2 = l[2], lambda3 = l[3], tol = tol, threads = 1, ...), classes = "granary_warning_input")
}
lasso <- function(S, lambda) as.matrix(ggm_lasso(S = S, lambda = lambda, penalize_diagonal = FALSE, tol = 1e-12, threads = 1))

test_that("it equals the graphical lasso where the penalty is one, with the plain ADMM and with the shortcuts", {
  set.seed(1)
  S <- random_covariance(12, 20)
  top <- max(abs(S[upper.tri(S)]))
  for (method in c("auto", "admm")) {
    fit <- function(l, q = 2) as.matrix(fit_hub(S, top * l, method = method, q = q))
    expect_lt(max(abs(fit(c(0.4, 0.5, 0)) - lasso(S, top * 0.25))), 1e-5)  # l3 = 0: min(l1, l2 / 2)
    expect_lt(max(abs(fit(c(0.2, 0.5, 0)) - lasso(S, top * 0.2))), 1e-5)
    expect_lt(max(abs(fit(c(0.3, 100, 0.1)) - lasso(S, top * 0.3))), 1e-5)  # l2 huge
    expect_lt(max(abs(fit(c(0.3, 0.1, 100)) - lasso(S, top * 0.3))), 1e-5)  # l3 huge
    edge <- 0.1 + 2 * (0.3 - 0.05) * sqrt(11) * 1.01 - 0.1  # just inside Lemma 4: l1 < l2 / 2 + l3 / (2 sqrt(p - 1))
    expect_lt(max(abs(fit(c(0.3, 0.1, edge)) - lasso(S, top * 0.3))), 1e-5)
    expect_lt(max(abs(fit(c(0.5, 0.2, 0.3), q = 1) - lasso(S, top * 0.25))), 1e-5)  # Lemma 6
    expect_lt(max(abs(fit(c(0.2, 0.2, 0.3), q = 1) - lasso(S, top * 0.2))), 1e-5)
  }
  # l3 = 0 by the graphical lasso's own solver agrees to the accuracy of that solver
  expect_lt(max(abs(as.matrix(fit_hub(S, top * c(0.4, 0.5, 0))) - lasso(S, top * 0.25))), 1e-8)
})

test_that("the estimate satisfies the optimality conditions, computed here, for q = 2 and q = Inf, also with p > n", {
  for (case in list(list(p = 15, n = 40, q = 2), list(p = 25, n = 12, q = 2), list(p = 15, n = 40, q = Inf))) {
    S <- cov(hub_data(case$p, 2, case$n, seed = 3)$data)
    l <- c(0.3, 0.25, if (case$q == 2) 0.6 else 1)
    fit <- fit_hub(S, l, q = case$q)
    T <- as.matrix(fit)
    L <- solve(T) - S
    expect_lt(max(abs(diag(L))), 1e-5)
    expect_lt(dual_excess(L, l, case$q), 1e-5)
    expect_equal(sum(L * T), hub_cost(fit$V, fit$Z, l, case$q), tolerance = 1e-6)  # <L, T> = P(T): complementary slackness
    expect_equal(unname(T), unname(as.matrix(fit$V + Matrix::t(fit$V) + fit$Z)), tolerance = 1e-14)
    expect_identical(unname(diag(as.matrix(fit$V))), numeric(case$p))
    expect_equal(fit$objective, -as.numeric(determinant(T)$modulus) + sum(S * T) + hub_cost(fit$V, fit$Z, l, case$q))
    expect_lt(fit$gap, 1e-9 * case$p)
    expect_gt(fit$gap, -1e-9 * case$p)
    expect_gt(nrow(fit$hubs), 0)
  }
})

test_that("no other split or matrix does better: a general optimiser on p = 3 and 4", {
  for (p in 3:4) {
    set.seed(p)
    S <- random_covariance(p, 10)
    l <- max(abs(S[upper.tri(S)])) * c(0.5, 0.3, 0.6)
    fit <- fit_hub(S, l)
    unpack <- function(v) {
      V <- Z <- matrix(0, p, p)
      V[row(V) != col(V)] <- v[seq_len(p * (p - 1))]
      Z[upper.tri(Z, diag = TRUE)] <- v[-seq_len(p * (p - 1))]
      list(V = V, Z = Z + t(Z) - diag(diag(Z), p))
    }
    objective <- function(v) {
      m <- unpack(v)
      T <- m$V + t(m$V) + m$Z
      e <- eigen(T, symmetric = TRUE, only.values = TRUE)$values
      if (min(e) <= 0) return(1e10)
      -sum(log(e)) + sum(S * T) + hub_cost(m$V, m$Z, l)
    }
    start <- c(numeric(p * (p - 1)), diag(1 / diag(S))[upper.tri(S, diag = TRUE)])
    best <- Inf
    for (k in 1:6) {
      found <- optim(start + rnorm(length(start), 0, 0.02 * k), objective, method = "BFGS", control = list(maxit = 2000, reltol = 1e-14))
      found <- optim(found$par, objective, method = "Nelder-Mead", control = list(maxit = 5000, reltol = 1e-14))
      best <- min(best, found$value)
    }
    expect_lt(fit$objective, best + 1e-7)
    expect_gt(fit$objective, best - 0.02)  # and the other comes near
  }
})

test_that("the exact test for an empty graph: just above the threshold none, just below some", {
  set.seed(5)
  S <- random_covariance(10, 30)
  l2 <- 0.2
  top <- hub_lambda_max(S, l2)
  expect_equal(top[["lambda1"]], max(abs(off(S))))
  expect_equal(top[["lambda3"]], max(apply(soft(2 * off(S), l2), 2, function(v) sqrt(sum(v^2)))))
  for (model in list(ggm_hub, cov_hub)) {
    edges <- function(a, b) {
      suppressWarnings(model(S = S, lambda1 = a, lambda2 = l2, lambda3 = b, tol = 1e-13, threads = 1), classes = "granary_warning_input")$df
    }
    expect_identical(as.double(edges(top[[1]] * 1.001, top[[2]] * 1.001)), 0)
    expect_gt(edges(top[[1]] * 1.001, top[[2]] * 0.98), 0)
    expect_gt(edges(top[[1]] * 0.98, top[[2]] * 1.001), 0)
  }
})

test_that("regimes: ordinary edges or hubs vanish exactly, and impossible hubs are announced", {
  S <- cov(hub_data(seed = 2)$data)
  only <- fit_hub(S, c(0.6, 0.2, 0.8), tol = 1e-8)
  expect_identical(only$regime, "hubs only")
  expect_identical(max(abs(off(only$Z))), 0)
  plain <- fit_hub(S, c(0.6, 0.2, 0.8), tol = 1e-10, method = "admm")
  expect_identical(max(abs(off(plain$Z))), 0)
  expect_lt(max(abs(as.matrix(plain) - as.matrix(only))), 1e-3)
  expect_warning(none <- ggm_hub(S = S, lambda1 = 0.15, lambda2 = 0.2, lambda3 = 2), "No hub is possible", class = "granary_warning_input")
  expect_identical(none$regime, "no hubs possible")
  expect_identical(length(none$V@x), 0L)
  expect_identical(hub_regime(0.4, 0.2, 1, p = 50), "mixed")
  expect_identical(hub_regime(0.4, 0.2, 1, p = 50, q = 1), "no hubs possible")
  p <- 17  # both boundaries of Corollary 5
  expect_identical(hub_regime(0.1 + 1 / (2 * 4) - 1e-9, 0.2, 1, p), "no hubs possible")
  expect_identical(hub_regime(0.1 + 1 / (2 * 4) + 1e-9, 0.2, 1, p), "mixed")
  expect_identical(hub_regime(0.6 + 1e-9, 0.2, 1, p), "hubs only")
  expect_identical(hub_regime(0.1 + 1 / (2 * 16) - 1e-9, 0.2, 1, p, q = Inf), "no hubs possible")
})

test_that("screening, threads, order of variables, units and a warm start do not change the answer", {
  a <- hub_data(15, 1, 60, seed = 4)$data
  b <- hub_data(12, 1, 60, seed = 5)$data
  S <- as.matrix(Matrix::bdiag(cov(a), cov(b)))
  l <- c(0.35, 0.4, 0.5)
  fit <- fit_hub(S, l)
  expect_gt(max(fit$component), 1)
  expect_lt(max(abs(as.matrix(fit) - as.matrix(fit_hub(S, l, screen = FALSE)))), 1e-5)
  two <- ggm_hub(S = S, lambda1 = l[1], lambda2 = l[2], lambda3 = l[3], tol = 1e-12, threads = 2)
  expect_identical(as.matrix(two), as.matrix(fit))
  order <- sample(27)
  turned <- fit_hub(S[order, order], l)
  expect_lt(max(abs(as.matrix(turned) - as.matrix(fit)[order, order])), 1e-5)
  for (unit in c(1e-8, 1e8)) {
    scaled <- fit_hub(unit * S, unit * l)
    expect_lt(max(abs(unit * as.matrix(scaled) - as.matrix(fit))), 1e-5)
    expect_identical(scaled$df, fit$df)
  }
  warm <- fit_hub(S, l, start = fit)
  expect_lt(max(abs(as.matrix(warm) - as.matrix(fit))), 1e-5)
  expect_lte(warm$convergence$iterations, fit$convergence$iterations)
})

test_that("covariance graphs: clipped eigenvalues without penalty, l1 with l3 = 0, optimality, units", {
  set.seed(6)
  S <- random_covariance(8, 5)
  free <- suppressWarnings(cov_hub(S = S, lambda1 = 0, lambda2 = 0, lambda3 = 0, eps = 0.05, tol = 1e-13))
  e <- eigen(S, symmetric = TRUE)
  expect_lt(max(abs(as.matrix(coef(free)) - e$vectors %*% (pmax(e$values, 0.05) * t(e$vectors)))), 1e-5)
  # eps far below: the answer is the soft-thresholded S as long as that is positive definite
  S <- diag(8) + 0.1 * random_covariance(8, 30)
  l1 <- suppressWarnings(cov_hub(S = S, lambda1 = 1, lambda2 = 0.04, lambda3 = 0, tol = 1e-13))
  want <- soft(S, 0.02)
  diag(want) <- diag(S)
  expect_lt(max(abs(as.matrix(coef(l1)) - want)), 1e-5)
  S <- cov(hub_data(20, 2, 15, seed = 7, type = "covariance")$data)
  l <- c(0.3, 0.25, 0.6)
  fit <- cov_hub(S = S, n = 15, lambda1 = l[1], lambda2 = l[2], lambda3 = l[3], tol = 1e-11)
  sigma <- as.matrix(coef(fit))
  expect_gte(min(eigen(sigma)$values), 1e-4 * (1 - 1e-8))
  expect_lt(fit$gap, 1e-8)
  expect_equal(fit$objective, sum((sigma - S)^2) / 2 + hub_cost(fit$V, fit$Z, l))
  big <- cov_hub(S = 1e8 * S, lambda1 = 1e8 * l[1], lambda2 = 1e8 * l[2], lambda3 = 1e8 * l[3], eps = 1e4, tol = 1e-11)
  expect_lt(max(abs(as.matrix(coef(big)) / 1e8 - sigma)), 1e-4)
  whole <- cov_hub(S = S, lambda1 = l[1], lambda2 = l[2], lambda3 = l[3], tol = 1e-11, screen = FALSE, method = "admm")
  expect_equal(whole$objective, fit$objective, tolerance = 1e-8)
  expect_lt(max(abs(as.matrix(coef(whole)) - sigma)), 1e-4)
})

test_that("binary networks: logits when empty, optimality computed here, both inner solvers agree", {
  x <- hub_data(8, 1, 120, seed = 8, type = "binary", exact = TRUE)$data
  n <- nrow(x)
  empty <- suppressWarnings(ising_hub(x, 1e4, 1e4, 1e4))
  expect_equal(unname(diag(as.matrix(coef(empty)))), unname(qlogis(colMeans(x))), tolerance = 1e-8)
  expect_identical(as.double(empty$df), 0)
  expect_lt(max(abs(as.matrix(coef(suppressWarnings(ising_hub(x, 1e4, 1e4, 1e4, method = "admm")))) - as.matrix(coef(empty)))), 1e-6)
  S <- crossprod(x) - n * tcrossprod(colMeans(x))
  top <- hub_lambda_max(S, 4)
  expect_identical(as.double(suppressWarnings(ising_hub(x, 1.001 * top[[1]], 4, 1.001 * top[[2]]))$df), 0)
  expect_gt(suppressWarnings(ising_hub(x, 1.001 * top[[1]], 4, 0.97 * top[[2]], tol = 1e-8))$df, 0)
  l <- c(5, 3, 7)
  fit <- ising_hub(x, l[1], l[2], l[3], tol = 1e-8)
  theta <- as.matrix(coef(fit))
  prob <- predict(fit)
  R <- crossprod(x, prob) - crossprod(x)
  diag(R) <- colSums(prob - x)
  L <- -(R + t(R)) / 2
  expect_lt(max(abs(diag(L))), 1e-8)
  expect_lt(dual_excess(L, l), 0.01)
  expect_equal(sum(L * theta), hub_cost(fit$V, fit$Z, l), tolerance = 1e-4)
  eta <- sweep(x %*% off(theta), 2, diag(theta), "+")
  expect_equal(fit$objective, -sum(theta * crossprod(x)) + sum(log1p(exp(eta))) + hub_cost(fit$V, fit$Z, l))
  for (inner in c("lbfgs", "barzilai_borwein")) {
    other <- ising_hub(x, l[1], l[2], l[3], tol = 1e-7, method = "admm", inner = inner)
    expect_equal(other$objective, fit$objective, tolerance = 1e-6)
    expect_lt(max(abs(as.matrix(coef(other)) - theta)), 0.01)
  }
  expect_equal(as.double(logLik(fit)), -fit$loss)
})

test_that("an Ising model without edges is a set of logits; draws have the probabilities of the states", {
  theta <- matrix(c(0.5, -1, 0.3, -1, 0.2, 0, 0.3, 0, -0.4), 3)
  states <- as.matrix(expand.grid(0:1, 0:1, 0:1))
  pairs <- function(s) theta[1, 2] * s[1] * s[2] + theta[1, 3] * s[1] * s[3] + theta[2, 3] * s[2] * s[3]
  weight <- apply(states, 1, function(s) exp(sum(diag(theta) * s) + pairs(s)))
  prob <- weight / sum(weight)
  count <- function(draws) tabulate(1 + draws %*% c(1, 2, 4), 8)
  exact <- count(core_ising_sample(theta, list(n = 20000L, exact = TRUE), c(1, 2), NULL))
  gibbs <- count(core_ising_sample(theta, list(n = 20000L, burn_in = 100L, thin = 5L), c(3, 4), NULL))
  expect_gt(chisq.test(exact, p = prob)$p.value, 1e-4)
  expect_gt(chisq.test(gibbs, p = prob)$p.value, 1e-4)
})

test_that("a path is warm-started, agrees with single fits, and ggm_select() works on it", {
  x <- hub_data(20, 2, 80, seed = 9)$data
  path <- ggm_hub(x, lambda1 = 0.35, lambda2 = c(0.2, 0.5, 0.3), lambda3 = 0.6, tol = 1e-10)
  expect_identical(path$lambda, c(0.5, 0.3, 0.2))
  alone <- ggm_hub(x, lambda1 = 0.35, lambda2 = 0.3, lambda3 = 0.6, tol = 1e-10)
  expect_lt(max(abs(as.matrix(path, which = 2) - as.matrix(alone))), 1e-4)
  expect_identical(hub_parts(path, 2)$hubs$node, alone$hubs$node)
  chosen <- ggm_select(path, "ebic")
  expect_s3_class(chosen$fit, c("granary_ggm_hub", "granary_ggm", "granary_fit"), exact = TRUE)
  expect_identical(as.matrix(hub_parts(chosen$fit)$V), as.matrix(hub_parts(path, chosen$selected)$V))
  set.seed(1)
  expect_s3_class(ggm_select(path, "cv", folds = 3), c("granary_ggm_select", "granary_selection", "granary_fit"), exact = TRUE)
  expect_output(print(path), "lambda2.*hubs.*bic")
  expect_output(print(chosen), "hubs|column in V")
})

test_that("BIC is the printed formula, and ggm_hub_select() takes its minimum", {
  x <- hub_data(20, 2, 80, seed = 9)$data
  best <- ggm_hub_select(x, lambda1 = 0.35, lambda2 = c(0.5, 0.3), lambda3 = c(0.8, 0.5))
  expect_identical(nrow(best$table), 4L)
  expect_equal(best$fit$bic, min(best$table$estimate))
  best <- best$fit
  T <- as.matrix(best)
  V <- as.matrix(best$V)
  nu <- sum(colSums(V != 0) > 0)
  # with the whole likelihood (scatter matrix of n - 1 degrees of freedom) and the p diagonal entries, which the printed formula leaves out
  want <- -80 * as.numeric(determinant(T)$modulus) + 79 * sum(cov(x) * T) + 80 * 20 * log(2 * pi) +
    log(80) * (20 + sum(off(best$Z)[upper.tri(T)] != 0) + nu + 0.2 * (sum(V != 0) - nu))
  expect_equal(best$bic, want, tolerance = 1e-8)
  expect_error(ggm_hub_select(S = cov(x), lambda1 = 0.3), "`n`", class = "granary_error_input")
  expect_s3_class(ggm_hub_select(S = cov(x), n = 80, lambda1 = 0.35, lambda2 = 0.3, criterion = "ebic")$fit, "granary_ggm_hub")
})

test_that("the usual methods work: print, plot, predict, simulate, hub_parts, scores, baselines", {
  sim <- hub_data(20, 2, 100, seed = 10)
  fit <- ggm_hub(sim$data, lambda1 = 0.3, lambda2 = 0.2, lambda3 = 0.6)
  expect_output(print(fit), "strength.*degree.*Certified within")
  expect_output(print(summary(fit)), "certified")
  expect_identical(dim(predict(fit, sim$data)), c(100L, 20L))
  expect_identical(dim(simulate(fit, 3)), c(3L, 20L))
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  plot(fit)
  plot(fit, type = "parts")
  plot(fit, type = "heatmap")
  cov <- cov_hub(sim$data, lambda1 = 0.3, lambda2 = 0.2, lambda3 = 0.6)
  plot(cov)
  plot(cov, type = "parts")
  grDevices::dev.off()
  expect_gt(file.size(file), 0)
  expect_output(print(cov), "Covariance graph with hubs")
  expect_identical(dim(simulate(cov, 4, seed = 1)), c(4L, 20L))
  expect_true(all(hub_parts(fit, min_degree = 5)$hubs$degree >= 5))
  score <- hub_score(sim, fit, r = 3)
  upper <- upper.tri(diag(20))
  expect_identical(score$correct, sum((abs(as.matrix(fit)) > 1e-5 & as.matrix(sim$theta) != 0)[upper]))
  expect_identical(hub_score(sim, sim$theta)$hub_edges, 1)
  expect_identical(hub_score(sim, sim$theta)$sse, 0)
  partial <- -cov2cor(solve(cor(sim$data)))
  diag(partial) <- 0
  degree <- colSums(abs(partial) > 0.2)
  screened <- hub_screen(sim$data, rho = 0.2, d = 3)
  expect_setequal(screened$node, names(degree)[degree >= 3])
  expect_equal(screened$degree, unname(degree[screened$node]))
})

test_that("edge cases: one and two variables, ties, constant columns, one row, NA, impossible penalties", {
  one <- suppressWarnings(ggm_hub(S = matrix(4), lambda1 = 1, lambda2 = 1, lambda3 = 1))
  expect_equal(unname(as.matrix(one)), matrix(0.25))
  S <- matrix(c(1, 0.6, 0.6, 1), 2)
  pair <- fit_hub(S, c(0.5, 0.1, 0.3))  # a pair: l1 penalty min(l1, (l2 + l3) / 2)
  expect_lt(max(abs(as.matrix(pair) - lasso(S, 0.2))), 1e-5)
  tie <- fit_hub(S, c(0.6, 0.6, 0.6))  # Theorem 2 with equality
  expect_identical(as.double(tie$df), 0)
  set.seed(1)
  x <- matrix(rnorm(40), 10)
  x[, 2] <- 3
  expect_error(suppressWarnings(ggm_hub(x, lambda1 = 1, lambda2 = 1, lambda3 = 1)), "V2 has variance 0", class = "granary_error_input")
  expect_warning(expect_warning(cov_hub(x, lambda1 = 2, lambda2 = 1, lambda3 = 2), "Constant", class = "granary_warning_input"), "empty")
  x[1, 2] <- NA
  expect_error(ggm_hub(x, lambda1 = 1, lambda2 = 1, lambda3 = 1), "missing", class = "granary_error_input")
  expect_error(ggm_hub(x[1, , drop = FALSE], lambda1 = 1, lambda2 = 1, lambda3 = 1), class = "granary_error_input")
  for (bad in list(-1, NA, "a", NULL, Inf)) {
    expect_error(ggm_hub(S = S, lambda1 = bad, lambda2 = 1, lambda3 = 1), "`lambda1`", class = "granary_error_input")
    expect_error(ggm_hub(S = S, lambda1 = 1, lambda2 = bad, lambda3 = 1), "`lambda2`", class = "granary_error_input")
    expect_error(ggm_hub(S = S, lambda1 = 1, lambda2 = 1, lambda3 = bad), "`lambda3`", class = "granary_error_input")
  }
  expect_error(ggm_hub(S = S, lambda1 = 1, lambda2 = 1), "`lambda3` must be given", class = "granary_error_input")
  expect_error(ggm_hub(S = S, lambda1 = 1, lambda2 = 1, lambda3 = 1, q = 3), "`q` must be 1, 2 or Inf", class = "granary_error_input")
  expect_error(ggm_hub(S = S, lambda1 = 1, lambda2 = 1, lambda3 = 1, start = 1), "`start`", class = "granary_error_input")
  singular <- matrix(1, 2, 2)
  expect_error(suppressWarnings(ggm_hub(S = singular, lambda1 = 0, lambda2 = 1, lambda3 = 1)), "unbounded", class = "granary_error_numeric")
  expect_error(suppressWarnings(ggm_hub(S = singular, lambda1 = 1, lambda2 = 0, lambda3 = 0)), "unbounded", class = "granary_error_numeric")
  y <- matrix(rbinom(40, 1, 0.5), 10, dimnames = list(NULL, letters[1:4]))
  y[, 3] <- 1
  expect_error(ising_hub(y, 1, 1, 1), "Column c of `x` is constant", class = "granary_error_input")
  y[, 3] <- 2
  expect_error(ising_hub(y, 1, 1, 1), "zeros and ones", class = "granary_error_input")
  expect_error(hub_parts(1), "`fit`", class = "granary_error_input")
  expect_error(sim_hub(p = 5, hubs = 6), "`hubs`", class = "granary_error_input")
  expect_error(sim_hub(p = 16, n = 2, type = "binary", exact = TRUE), "`exact`", class = "granary_error_input")
  S <- random_covariance(10, 30)
  expect_warning(ggm_hub(S = S, lambda1 = 0.2, lambda2 = 0.1, lambda3 = 0.4, tol = 1e-12, max_iter = 20, method = "admm"),
                 class = "granary_warning_convergence")
  expect_warning(cut <- ggm_hub(S = S, lambda1 = 0.2, lambda2 = 0.1, lambda3 = 0.4, max_iter = 1), class = "granary_warning_convergence")
  expect_false(cut$convergence$converged)
  expect_output(print(cut), "NOT converged")
})

test_that("simulated graphs have the shape asked for, and a seed fixes them", {
  sim <- hub_data(400, 6, NULL, seed = 11)
  A <- as.matrix(sim$theta) != 0
  diag(A) <- FALSE
  hub <- seq_len(400) %in% sim$hubs
  expect_equal(mean(colSums(A)[hub]) / 399, 0.7, tolerance = 0.05)
  expect_equal(mean(A[!hub, !hub]), 0.02, tolerance = 0.15)
  expect_equal(min(eigen(as.matrix(sim$theta), only.values = TRUE)$values), 0.1, tolerance = 1e-8)
  expect_identical(hub_data(400, 6, NULL, seed = 11)$theta, sim$theta)
  two <- hub_data(60, 4, NULL, seed = 12, setup = "two_blocks")
  expect_identical(Matrix::nnzero(two$theta[1:30, 31:60]), 0L)
  expect_identical(sum(two$hubs <= 30), 2L)
  free <- hub_data(500, 0, NULL, seed = 13, setup = "scale_free")
  expect_gt(max(ggm_degrees(free$theta)), 10)
  expect_equal(unname(apply(hub_data(10, 1, 50)$data, 2, sd)), rep(1, 10))
})

# The checks that the errata describe.

test_that("Theorem 2 holds with equality: a diagonal solution on the boundary", {
  S <- matrix(c(1, 0.5, 0.5, 1), 2)
  l <- c(0.5, 0.4, 0.6)
  expect_lte(dual_excess(diag(2) - S, l), 1e-15)  # L = T^-1 - S at T = I is dual feasible, and <L, T> = P(T) = 0
  expect_identical(as.double(fit_hub(S, l)$df), 0)
})

test_that("Section 4.1: projecting before dividing leaves the constraint set", {
  eps <- 0.1
  rho <- 2
  best <- optimize(function(s) s^2 / 2 + rho * s^2 / 2, c(eps, 1), tol = 1e-10)$minimum
  expect_equal(max(0 / (1 + rho), eps), best, tolerance = 1e-4)
  expect_lt(max(0, eps) / (1 + rho), eps)
})

test_that("Appendix F: finite differences give the corrected gradient", {
  set.seed(14)
  x <- matrix(rbinom(36, 1, 0.5), 12)
  theta <- matrix(rnorm(9), 3)
  theta <- theta + t(theta)
  at <- function(t) {
    theta[1, 2] <- theta[2, 1] <- t
    core_ising_loss(x + 0, theta)
  }
  numeric <- (at(theta[1, 2] + 1e-5) - at(theta[1, 2] - 1e-5)) / 2e-5
  eta <- sweep(x %*% off(theta), 2, diag(theta), "+")
  sums <- sum(x[, 2] * plogis(eta[, 1])) + sum(x[, 1] * plogis(eta[, 2]))
  expect_equal(-2 * crossprod(x)[1, 2] + sums, numeric, tolerance = 1e-6)
  expect_gt(abs(-2 * crossprod(x)[1, 1] + sums - numeric), 0.5)
})

test_that("hubs are recovered better than by the graphical lasso, over seeds", {
  extended()
  gain <- vapply(1:10, function(seed) {
    sim <- hub_data(100, 4, 100, seed = seed)
    fit <- ggm_hub(sim$data, lambda1 = 0.4, lambda2 = 0.2, lambda3 = 1)
    grid <- ggm_lasso(sim$data, n_lambda = 40, penalize_diagonal = FALSE)
    near <- ggm_at(grid, which.min(abs(grid$df - fit$df)))
    hub_score(sim, fit, r = 10)$hub_edges - hub_score(sim, near, r = 10)$hub_edges
  }, 0)
  expect_gt(mean(gain), 0.05)
  expect_gte(sum(gain > 0), 8)
})
