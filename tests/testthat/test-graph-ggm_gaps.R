# What all structured Gaussian graphs have in common: a certified gap on the data of their papers, the graphical lasso where the structure weighs
# nothing, an independent optimiser on few variables, and the same answers to bad input.

quiet <- function(expr) suppressWarnings(expr, classes = "granary_warning_input")

# Gap per variable (and unit of weight): without units, and what the stopping rules look at. Converged, not negative but for rounding, below 1e-6.
expect_certified <- function(fit, size, label) {
  expect_true(all(fit$convergence$converged), label = paste(label, "converged"))
  expect_lt(max(fit$gap) / size, 1e-6, label = paste(label, "gap"))
  expect_gt(min(fit$gap) / size, -1e-10, label = paste(label, "gap"))
}

test_that("every solver certifies 1e-6 on the generators of its paper", {
  p <- 40
  set.seed(1)
  chain <- sim_ggm("chain", p = p, n = 60)$data
  for (method in c("quic", "bcd", "admm")) {
    for (lambda in c(0.1, 0.3)) expect_certified(ggm_lasso(chain, lambda = lambda, method = method, threads = 1), p, paste("lasso", method))
  }
  hub <- sim_hub(p = p, hubs = 2, n = 30)$data
  for (l in list(c(0.4, 0.2, 1), c(0.4, 0.1, 2), c(0.3, 0.25, 0.6))) {
    for (q in c(2, Inf)) expect_certified(quiet(ggm_hub(hub, lambda1 = l[1], lambda2 = l[2], lambda3 = l[3], q = q, threads = 1)), p, paste("hub", q))
  }
  expect_certified(ggm_hub(hub, lambda1 = 0.4, lambda2 = 0.2, lambda3 = 1, method = "admm", threads = 1), p, "hub admm")
  covariance <- sim_hub(p = p, hubs = 2, n = 30, type = "covariance")$data
  for (l in list(c(0.2, 0.1, 1), c(0.05, 0.02, 0.2), c(0.01, 0.01, 0.01))) {
    for (q in c(2, Inf)) {
      expect_certified(quiet(cov_hub(covariance, lambda1 = l[1], lambda2 = l[2], lambda3 = l[3], q = q, threads = 1)), p, "cov_hub")
    }
  }
  regions <- sim_ggm("regions", p = 36, n = 50)$data
  image <- sim_ggm("grid", p = p, rows = 8, n = 100, unit_variance = TRUE)$data
  for (method in c("auto", "admm", "fista")) {
    for (ratio in c(0.1, 1)) {
      expect_certified(ggm_local(regions, neighbors = nb_chain(36), lambda = 0.1, tau = 0.1 * ratio, method = method, threads = 1), 36, "local chain")
      expect_certified(ggm_local(image, neighbors = nb_grid(c(8, 5)), lambda = 0.05, tau = 0.05 * ratio, method = method, threads = 1), p, "local grid")
    }
  }
  for (ratio in c(1, 10)) {
    nodes <- sim_ggm("confounders", p = p, n = 50, connected = 0.3, density = 0.5, ratio = ratio)$data
    for (norm in c("l2", "linf")) {
      rho <- ggm_nodes(nodes, n_lambda = 1, norm = norm)$rho * c(0.5, 0.05)
      expect_certified(ggm_nodes(nodes, lambda = rho, norm = norm, threads = 1), p, paste("nodes", norm))
      expect_certified(ggm_nodes(nodes, lambda = 10 * rho, tau = function(rho) 2 * rho, norm = norm, threads = 1), p, paste("nodes, tau = 2 rho", norm))
    }
  }
  for (density in c(0.1, 0.5)) {
    multi <- sim_ggm_multi(tasks = 4, p = p, n = 50, density = density)$data
    for (norm in c("l2", "linf", "fused")) {
      top <- ggm_multi(multi, norm = norm, n_lambda = 1)$lambda
      for (method in c("newton", "admm", if (norm != "fused") "bcd")) {
        fit <- ggm_multi(multi, lambda = top * c(0.5, 0.1), lambda1 = if (norm == "fused") 5 else 0, norm = norm, method = method, threads = 1)
        expect_certified(fit, p * 200, paste("multi", norm, method))
      }
    }
  }
  expect_certified(ggm_mix(image, priors = list(prior_l1(0.05), prior_local(nb_grid(c(8, 5)), 0.02), prior_nodes(0.1)), threads = 1), p, "mix")
  expect_certified(ggm_mix(hub, priors = list(prior_hub(0.4, 0.2, 1), prior_nodes(0.05)), threads = 1), p, "mix with hubs")
})

test_that("ggm_multi() goes on until the gap, not only the residual, is small", {
  set.seed(1)
  x <- sim_ggm_multi(tasks = 3, p = 80, n = 50, density = 0.1)$data
  for (norm in c("l2", "linf")) {
    top <- ggm_multi(x, norm = norm, n_lambda = 1)$lambda
    for (method in c("newton", "bcd")) expect_certified(ggm_multi(x, lambda = 0.1 * top, norm = norm, method = method, threads = 1), 80 * 150, method)
  }
})

test_that("with no weight on the structure all are the graphical lasso", {
  set.seed(2)
  S <- random_covariance(8, 20)
  lasso <- function(diagonal) as.matrix(ggm_lasso(S = S, lambda = 0.15, penalize_diagonal = diagonal, tol = 1e-12))
  near <- function(fit, diagonal, tol = 1e-6) expect_lt(max(abs(as.matrix(fit) - lasso(diagonal))), tol * max(lasso(diagonal)))
  for (norm in c("l2", "linf", "fused")) {
    for (method in c("newton", "admm")) {
      fit <- ggm_multi(S = list(S, S), n = 10, lambda = 0, lambda1 = 1.5, norm = norm, method = method, tol = 1e-10)
      near(fit$precision[[1L]], FALSE)
      near(fit$precision[[2L]], FALSE)
    }
  }
  for (norm in c("l2", "linf")) near(ggm_nodes(S = S, lambda = 0.15, tau = 0, norm = norm, tol = 1e-11), TRUE)
  for (method in c("auto", "admm", "fista")) {
    near(ggm_local(S = S, neighbors = nb_chain(8), lambda = 0.15, tau = 0, method = method, tol = 1e-12), TRUE, 1e-4)
  }
  for (q in c(1, 2, Inf)) near(quiet(ggm_hub(S = S, lambda1 = 0.15, lambda2 = 1e3, lambda3 = 1e3, q = q, tol = 1e-12)), FALSE)
  all_off <- list(prior_l1(0.15), prior_local(nb_chain(8), 0), prior_nodes(0), prior_hub(0, 0, 0))
  near(ggm_mix(S = S, priors = all_off, tol = 1e-11), TRUE, 1e-4)
  for (q in c(1, 2, Inf)) near(ggm_mix(S = S, priors = prior_hub(0.15, 1e3, 1e3, q), tol = 1e-11), FALSE, 1e-4)
})

# The minimum by a quasi-Newton method on a Cholesky factor, with absolute values rounded off at eps, less and less: knows nothing of the core.
smoothed_minimum <- function(value, start) {
  for (eps in 10^-seq(1, 5, by = 0.5)) {
    control <- list(maxit = 200, reltol = 1e-12, ndeps = rep(max(eps / 30, 1e-6), length(start)))
    start <- optim(start, value, eps = eps, method = "BFGS", control = control)$par
  }
  value(start, 0)
}
size <- function(z, eps) sum(sqrt(z^2 + eps^2))
largest <- function(z, eps) {
  if (eps == 0) return(max(abs(z)))
  z <- sqrt(z^2 + eps^2)
  max(z) + eps * log(sum(exp((z - max(z)) / eps)))
}
norm_of <- function(z, q, eps) if (q == 2) sqrt(sum(z^2) + eps^2) else largest(z, eps)
factor_of <- function(theta, p) {
  R <- matrix(0, p, p)
  R[upper.tri(R, diag = TRUE)] <- theta
  R
}
off <- function(X) X[row(X) != col(X)]

expect_minimum <- function(fit, found, label) {
  expect_gte(found, fit$objective - 1e-6, label = label)  # the fit's own gap allows as much
  expect_equal(found, fit$objective, tolerance = 2e-4, label = label)
}

test_that("an independent optimiser on up to five variables finds nothing better", {
  set.seed(3)
  upper <- function(p) p * (p + 1) / 2
  for (p in c(3, 5)) {
    S <- random_covariance(p, 8)
    start <- chol(diag(1 / diag(S)))[upper.tri(S, diag = TRUE)]
    gauss <- function(R) -2 * sum(log(abs(diag(R)))) + sum(S * crossprod(R))
    lasso <- smoothed_minimum(function(theta, eps) {
      R <- factor_of(theta, p)
      gauss(R) + 0.1 * size(crossprod(R), eps)
    }, start)
    for (method in c("quic", "bcd", "admm")) expect_minimum(ggm_lasso(S = S, lambda = 0.1, method = method), lasso, paste("lasso", method))
    for (norm in c("l2", "linf")) {
      found <- smoothed_minimum(function(theta, eps) {
        R <- factor_of(theta, p)
        X <- crossprod(R)
        gauss(R) + 0.03 * size(X, eps) + 0.2 * sum(vapply(seq_len(p), function(n) norm_of(X[n, -n], if (norm == "l2") 2 else Inf, eps), 0))
      }, start)
      expect_minimum(ggm_nodes(S = S, lambda = 0.03, tau = 0.2, norm = norm), found, paste("nodes", norm))
    }
    if (p > 3) next  # the split into hubs and the rest makes for many more unknowns
    l <- max(abs(off(S))) * c(0.5, 0.3, 0.6)
    cost <- function(T, v, q, eps, l) {
      V <- matrix(0, p, p)
      V[row(V) != col(V)] <- v
      Z <- T - V - t(V)
      l[1] * size(off(Z), eps) + l[2] * size(off(V), eps) + l[3] * sum(vapply(seq_len(p), function(j) norm_of(V[-j, j], q, eps), 0))
    }
    k <- seq_len(upper(p))
    for (q in c(2, Inf)) {
      found <- smoothed_minimum(function(theta, eps) {
        R <- factor_of(theta[k], p)
        gauss(R) + cost(crossprod(R), theta[-k], q, eps, l)
      }, c(start, numeric(p * (p - 1))))
      expect_minimum(quiet(ggm_hub(S = S, lambda1 = l[1], lambda2 = l[2], lambda3 = l[3], q = q)), found, paste("hub, q =", q))
      expect_minimum(ggm_mix(S = S, priors = prior_hub(l[1], l[2], l[3], q)), found, paste("mix with hubs, q =", q))
      found <- smoothed_minimum(function(theta, eps) {
        R <- factor_of(theta[k], p)
        T <- crossprod(R) + diag(1e-4, p)
        sum((T - S)^2) / 2 + cost(T, theta[-k], q, eps, l)
      }, c(chol(diag(diag(S)))[upper.tri(S, diag = TRUE)], numeric(p * (p - 1))))
      expect_minimum(quiet(cov_hub(S = S, lambda1 = l[1], lambda2 = l[2], lambda3 = l[3], q = q)), found, paste("cov_hub, q =", q))
    }
    nb <- nb_chain(p)
    found <- smoothed_minimum(function(theta, eps) {
      R <- factor_of(theta[k], p)
      X <- crossprod(R)
      variation <- sum(apply(nb$edges, 1, function(e) size(X[e[1], -e] - X[e[2], -e], eps)))
      gauss(R) + cost(X, theta[-k], 2, eps, l) + 0.05 * variation + 0.1 * sum(vapply(seq_len(p), function(n) norm_of(X[n, -n], 2, eps), 0))
    }, c(start, numeric(p * (p - 1))))
    expect_minimum(ggm_mix(S = S, priors = list(prior_hub(l[1], l[2], l[3]), prior_local(nb, 0.05), prior_nodes(0.1))), found, "mix of three")
  }
  p <- 3
  S <- list(random_covariance(p, 8), random_covariance(p, 10))
  start <- unlist(lapply(S, function(s) chol(diag(1 / diag(s)))[upper.tri(s, diag = TRUE)]))
  k <- seq_len(upper(p))
  for (norm in c("l2", "linf", "fused")) {
    found <- smoothed_minimum(function(theta, eps) {
      R <- list(factor_of(theta[k], p), factor_of(theta[-k], p))
      X <- lapply(R, crossprod)
      fit <- sum(mapply(function(r, x, s, t) t * (sum(s * x) - 2 * sum(log(abs(diag(r))))), R, X, S, c(4, 6)))
      pair <- cbind(off(X[[1L]]), off(X[[2L]]))
      ties <- switch(norm, l2 = sum(sqrt(rowSums(pair^2) + eps^2)), linf = sum(apply(pair, 1, largest, eps)), fused = size(X[[1L]] - X[[2L]], eps))
      fit + 0.5 * ties + 0.2 * size(pair, eps)
    }, start)
    for (method in c("newton", "admm", if (norm != "fused") "bcd")) {
      fit <- ggm_multi(S = S, n = c(4, 6), lambda = 0.5, lambda1 = 0.2, norm = norm, method = method, tol = 1e-8)
      expect_minimum(fit, found, paste("multi", norm, method))
    }
  }
})

test_that("hubs among mixed priors are those of ggm_hub(), in any order and company", {
  set.seed(4)
  hub <- sim_hub(p = 25, hubs = 2, n = 50)$data
  S <- cov(hub)
  for (q in c(2, Inf)) {
    alone <- ggm_hub(S = S, lambda1 = 0.4, lambda2 = 0.2, lambda3 = if (q == 2) 1 else 1.5, q = q, tol = 1e-10)
    mixed <- ggm_mix(S = S, priors = prior_hub(0.4, 0.2, if (q == 2) 1 else 1.5, q), tol = 1e-9)
    expect_equal(mixed$objective, alone$objective, tolerance = 1e-8)
    expect_lt(max(abs(as.matrix(mixed) - as.matrix(alone))), 1e-3)
    expect_gt(sum(as.matrix(mixed$V[[1L]]) != 0), 0)
  }
  a <- ggm_mix(S = S, priors = list(prior_hub(0.4, 0.2, 1), prior_l1(0.05), prior_nodes(0.2, "linf")), tol = 1e-8, threads = 1)
  b <- ggm_mix(S = S, priors = list(prior_nodes(0.2, "linf"), prior_l1(0.05), prior_hub(0.4, 0.2, 1)), tol = 1e-8, threads = 2)
  expect_equal(a$objective, b$objective, tolerance = 1e-7)
  expect_null(a$V[[2L]])
  # What the cost of hubs is, from the split that comes with the fit.
  V <- as.matrix(a$V[[1L]])
  Z <- as.matrix(a) - V - t(V)
  expect_equal(a$penalties[[1L]], 0.4 * sum(abs(off(Z))) + 0.2 * sum(abs(V)) + sum(sqrt(colSums(V^2))), tolerance = 1e-10)
  expect_equal(a$objective, -a$log_det + a$trace_sx + sum(a$penalties), tolerance = 1e-10)
  for (scale in c(1e-8, 1e8)) {
    other <- ggm_mix(S = scale * S, priors = list(prior_hub(0.4 * scale, 0.2 * scale, scale), prior_l1(0.05 * scale)), tol = 1e-8)
    base <- ggm_mix(S = S, priors = list(prior_hub(0.4, 0.2, 1), prior_l1(0.05)), tol = 1e-8)
    expect_equal(scale * as.matrix(other), as.matrix(base), tolerance = 1e-4)
  }
  expect_output(print(prior_hub(0.4, 0.2, 1)), "hubs (lambda 0.4, 0.2, 1.0)", fixed = TRUE)
  expect_output(print(a), "hubs")
  expect_error(prior_hub(-1, 0, 0), "`lambda1`", class = "granary_error_input")
  expect_error(prior_hub(1, 1), "lambda3", class = "granary_error_input")
  expect_error(prior_hub(1, 1, 1, q = 3), "`q`", class = "granary_error_input")
  expect_error(ggm_mix(S = matrix(1, 3, 3), priors = prior_hub(0, 1, 1)), "unbounded", class = "granary_error_numeric")
})

test_that("bad input: covariances that are none, empty graphs, isolated nodes", {
  indefinite <- matrix(0.9, 3, 3)
  indefinite[1, 2] <- indefinite[2, 1] <- -0.9
  diag(indefinite) <- 1
  warned <- function(expr) {
    expect_warning(fit <- expr, "positive semi-definite", class = "granary_warning_input")
    fit
  }
  for (fit in list(
    warned(ggm_lasso(S = indefinite, lambda = 0.7)), warned(ggm_nodes(S = indefinite, lambda = 0.5, tau = 0.6)),
    warned(ggm_local(S = indefinite, neighbors = nb_chain(3), lambda = 0.7, tau = 0.1)), warned(ggm_mix(S = indefinite, priors = prior_l1(0.7))),
    warned(ggm_hub(S = indefinite, lambda1 = 0.6, lambda2 = 0.7, lambda3 = 0.6))
  )) {
    expect_gt(min(eigen(as.matrix(fit), only.values = TRUE)$values), 0)
  }

  # Penalties so large that no edge is possible: the diagonal comes back, and print says so.
  set.seed(5)
  S <- random_covariance(5, 20)
  empty <- list(
    lasso = ggm_lasso(S = S, lambda = 10), nodes = ggm_nodes(S = S, lambda = 0.1, tau = 100),
    mix = ggm_mix(S = S, priors = list(prior_l1(0.1), prior_nodes(100))),
    local = quiet(ggm_local(S = S, neighbors = nb_chain(5), lambda = 10, tau = 0.1)),
    hub = quiet(ggm_hub(S = S, lambda1 = 10, lambda2 = 10, lambda3 = 10))
  )
  for (name in names(empty)) {
    X <- as.matrix(empty[[name]])
    expect_true(all(off(X) == 0), label = name)
    expect_true(all(diag(X) > 0), label = name)
    expect_identical(as.double(empty[[name]]$df), 0, label = name)
    expect_output(print(empty[[name]]), "empty|0 edges|0 of 5|0 of 10 possible edges", label = name)
  }
  many <- ggm_multi(S = list(a = S, b = S), n = 20, lambda = 1e3)
  expect_identical(as.double(many$df), 0)
  expect_output(print(many), "0 of 10 possible edges")

  # A variable without ties to the others stays alone, with its own variance, whatever the structure.
  lonely <- as.matrix(Matrix::bdiag(S, 2))
  for (fit in list(
    ggm_nodes(S = lonely, lambda = 0.05, tau = 0.1), ggm_local(S = lonely, neighbors = nb_edges(cbind(1:4, 2:5), 6), lambda = 0.05, tau = 0.05),
    ggm_mix(S = lonely, priors = list(prior_l1(0.05), prior_nodes(0.1)))
  )) {
    expect_identical(unname(as.matrix(fit)[6, 1:5]), numeric(5))
    expect_equal(unname(as.matrix(fit)[6, 6]), 1 / 2.05, tolerance = 1e-5)
  }
  hub <- quiet(ggm_hub(S = lonely, lambda1 = 0.2, lambda2 = 0.1, lambda3 = 0.2))
  expect_identical(unname(as.matrix(hub)[6, ]), c(numeric(5), 0.5))
})
