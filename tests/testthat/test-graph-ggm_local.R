# Local constancy: closed forms, the definition, brute force, the graphical lasso, symmetries, the thesis' algorithm, bad input.

local_at <- function(S, neighbors, rho, tau, ..., tol = 1e-11, max_iter = 20000) {
  suppressWarnings(ggm_local(S = S, neighbors = neighbors, lambda = rho, tau = tau, ..., tol = tol, max_iter = max_iter, threads = 1),
                   classes = "granary_warning")
}

# The objective from its definition.
local_objective <- function(X, S, edges, rho, tau) {
  X <- as.matrix(X)
  values <- eigen(X, symmetric = TRUE, only.values = TRUE)$values
  if (min(values) <= 0) return(Inf)
  p <- ncol(X)
  variation <- sum(apply(edges, 1, function(e) sum(abs(X[e[1], -e] - X[e[2], -e]))))
  -sum(log(values)) + sum(S * X) + rho * sum(abs(X)) + tau * (if (p > 2 && nrow(edges) > 0) variation else 0)
}

test_that("tau = 0, no neighbours and two variables give the graphical lasso", {
  set.seed(1)
  for (p in c(5, 12)) for (method in c("auto", "admm", "fista", "bcd")) {
    S <- random_covariance(p, 2 * p)
    peer <- ggm_lasso(S = S, lambda = 0.1, tol = 1e-12)
    fit <- local_at(S, nb_chain(p), 0.1, 0, method = method, tol = 1e-13)
    expect_equal(fit$objective, peer$objective, tolerance = 1e-9)
    expect_lt(max(abs(as.matrix(fit) - as.matrix(peer))), if (method == "bcd") 1e-4 else 1e-5)
    expect_equal(local_at(S, nb_edges(matrix(0, 0, 2), p), 0.1, 3)$objective, peer$objective, tolerance = 1e-9)
  }
  S <- matrix(c(1, 0.6, 0.6, 2), 2)
  for (tau in c(0, 1, 100)) {
    expect_equal(as.matrix(local_at(S, nb_chain(2), 0.1, tau)), as.matrix(ggm_lasso(S = S, lambda = 0.1, tol = 1e-12)), tolerance = 1e-5)
  }
  fit <- local_at(random_covariance(6, 40), nb_chain(6), 0.1, 0, method = "admm", tol = 1e-15, max_iter = 500)
  expect_lt(max(abs(as.matrix(fit) - as.matrix(ggm_lasso(S = fit$S, lambda = 0.1, tol = 1e-14)))), 1e-8 * max(as.matrix(fit)) * 10)
})

test_that("three equal variables on a chain with a large tau share one interaction", {
  S <- matrix(c(1, 0.5, 0.2, 0.5, 1, 0.35, 0.2, 0.35, 1), 3)
  for (method in c("auto", "admm", "bcd+admm")) {
    X <- as.matrix(local_at(S, nb_chain(3), 0.05, 5, method = method))
    expect_equal(unname(diag(X)), rep(1.0909091, 3), tolerance = 1e-5)
    expect_equal(unname(X[upper.tri(X)]), rep(-0.2424242, 3), tolerance = 1e-5)
    expect_length(unique(X[upper.tri(X)]), 1)
  }
})

test_that("brute force over the Cholesky factor finds nothing better, for up to five variables", {
  set.seed(2)
  for (p in 3:5) for (closed in c(FALSE, TRUE)) {
    S <- random_covariance(p, 8)
    nb <- nb_chain(p, closed)
    fit <- local_at(S, nb, 0.05, 0.08)
    upper <- upper.tri(S, diag = TRUE)
    # Absolute values rounded off at eps, less and less: smooth problems that a quasi-Newton method can follow.
    value <- function(theta, eps) {
      R <- matrix(0, p, p)
      R[upper] <- theta
      X <- crossprod(R)
      size <- function(z) sum(sqrt(z^2 + eps^2))
      variation <- sum(apply(nb$edges, 1, function(e) size(X[e[1], -e] - X[e[2], -e])))
      -2 * sum(log(abs(diag(R)))) + sum(S * X) + 0.05 * size(X) + 0.08 * variation
    }
    theta <- chol(diag(1 / diag(S)))[upper]
    for (eps in 10^-(1:6)) theta <- optim(theta, value, eps = eps, method = "BFGS", control = list(maxit = 500, reltol = 1e-13))$par
    expect_gte(value(theta, 0), fit$objective - 1e-9)
    expect_equal(value(theta, 0), fit$objective, tolerance = 1e-4)
    expect_equal(fit$objective, local_objective(fit$precision, S, nb$edges, 0.05, 0.08), tolerance = 1e-11)
  }
})

test_that("gap, trace identity, bounds, diagonal; bcd is never better; ties are exact", {
  set.seed(3)
  for (p in c(6, 12)) for (n in c(5, 60)) for (ratio in c(0.1, 1)) {
    S <- random_covariance(p, n)
    nb <- if (p == 12) nb_grid(c(3, 4)) else nb_chain(p, closed = TRUE)
    fit <- local_at(S, nb, 0.08, 0.08 * ratio)
    expect_true(fit$convergence$converged)
    expect_gt(fit$gap, -1e-9)
    expect_lt(fit$gap, 1e-8)
    expect_equal(fit$objective + fit$log_det, p, tolerance = 1e-4)
    expect_equal(diag(fit$covariance), diag(S) + 0.08, tolerance = 1e-4, ignore_attr = TRUE)
    values <- range(eigen(as.matrix(fit))$values)
    expect_gte(values[1], fit$bounds$lower)
    expect_lte(values[2], fit$bounds$upper)
    bcd <- local_at(S, nb, 0.08, 0.08 * ratio, method = "bcd", max_iter = 100)
    expect_gte(bcd$objective, fit$objective - 1e-9)
    expect_true(all(diff(bcd$trace$objective) <= 1e-9))
    expect_gte(bcd$gap, bcd$objective - fit$objective - 1e-9)
    admm <- local_at(S, nb, 0.08, 0.08 * ratio, method = "admm")
    expect_equal(admm$objective, fit$objective, tolerance = 1e-9)
    expect_true(all(tapply(fit$blocks$precision, fit$blocks$block, function(v) diff(range(v))) <= 1e-8 * max(abs(as.matrix(fit)))))
  }
  expect_warning(ggm_local(S = matrix(c(1, 0.5, 0.2, 0.5, 1, 0.35, 0.2, 0.35, 1), 3), neighbors = nb_chain(3), lambda = 0.05, tau = 5, method = "bcd"),
                 "auto", class = "granary_warning_convergence")
})

test_that("it is equivariant: reversal, rotation, order and sign of the pairs, units", {
  set.seed(4)
  S <- random_covariance(8, 20)
  X <- as.matrix(local_at(S, nb_chain(8), 0.1, 0.1))
  expect_equal(as.matrix(local_at(S[8:1, 8:1], nb_chain(8), 0.1, 0.1)), X[8:1, 8:1], tolerance = 1e-4, ignore_attr = TRUE)
  turn <- c(3:8, 1:2)
  Y <- as.matrix(local_at(S, nb_chain(8, TRUE), 0.1, 0.1))
  expect_equal(as.matrix(local_at(S[turn, turn], nb_chain(8, TRUE), 0.1, 0.1)), Y[turn, turn], tolerance = 1e-4, ignore_attr = TRUE)
  pairs <- nb_chain(8)$edges[sample(7), 2:1]
  expect_equal(as.matrix(local_at(S, nb_edges(pairs, 8), 0.1, 0.1)), X, tolerance = 1e-4, ignore_attr = TRUE)
  expect_equal(as.matrix(local_at(S, abs(outer(1:8, 1:8, "-")) == 1, 0.1, 0.1)), X, tolerance = 1e-4, ignore_attr = TRUE)
  D <- Matrix::bandSparse(7, 8, 0:1, list(rep(-1, 7), rep(1, 7)))
  expect_equal(local_at(S, NULL, 0.1, 0.1, operator = D, tol = 1e-8)$objective, local_at(S, nb_chain(8), 0.1, 0.1)$objective, tolerance = 1e-7)
  for (c in c(1e-8, 1e8)) expect_equal(c * as.matrix(local_at(c * S, nb_chain(8), c * 0.1, c * 0.1)), X, tolerance = 1e-4, ignore_attr = TRUE)
})

test_that("isolated variables are isolated in the optimum, but deleting them changes it", {
  set.seed(5)
  S <- random_covariance(7, 30)
  S[4, -4] <- S[-4, 4] <- 0.03
  fit <- local_at(S, nb_chain(7), 0.1, 0.06)
  expect_identical(fit$isolated, "V4")
  expect_true(all(as.matrix(fit)[4, -4] == 0))
  without <- local_at(S[-4, -4], nb_edges(rbind(c(1, 2), c(2, 3), c(4, 5), c(5, 6)), 6), 0.1, 0.06)
  expect_gt(max(abs(as.matrix(fit)[-4, -4] - as.matrix(without))), 1e-3)
})

test_that("the laplacian and a user's operator have certified optima", {
  set.seed(6)
  S <- random_covariance(6, 30)
  L <- diag(c(1, 2, 2, 2, 2, 1))
  L[abs(row(L) - col(L)) == 1] <- -1
  fit <- local_at(S, nb_chain(6), 0.05, 0.03, operator = "laplacian", tol = 1e-8)
  expect_true(fit$convergence$converged)
  expect_equal(local_at(S, nb_chain(6), 0.05, 0.03, operator = L, tol = 1e-8)$objective, fit$objective, tolerance = 1e-7)
  expect_equal(local_at(S, nb_chain(6), 0.05, 0.03, operator = "laplacian", method = "admm", tol = 1e-8)$objective, fit$objective, tolerance = 1e-7)
  X <- as.matrix(fit)
  penalty <- sum(abs((L %*% X) * (L == 0)))
  expect_equal(fit$objective, -determinant(X)$modulus[[1]] + sum(S * X) + 0.05 * sum(abs(X)) + 0.03 * penalty, tolerance = 1e-9)
  expect_error(ggm_local(S = S, neighbors = nb_chain(6), lambda = 0.1, operator = "laplacian", method = "bcd"), "block descent", class = "granary_error_input")
})

test_that("a grid of penalties is fitted, ordered, selected and taken apart", {
  set.seed(7)
  sim <- sim_ggm("regions", n = 120)
  path <- ggm_local(sim$data, neighbors = nb_chain(9), lambda = c(0.02, 0.2, 0.05), tau = c(0.01, 0.05), threads = 1)
  expect_equal(path$rho, rep(c(0.2, 0.05, 0.02), each = 2))
  expect_equal(path$tau, rep(c(0.05, 0.01), 3))
  one <- ggm_at(path, 3)
  alone <- ggm_local(sim$data, neighbors = nb_chain(9), lambda = 0.05, tau = 0.05, threads = 1)
  expect_equal(one$objective, alone$objective, tolerance = 1e-7)
  for (criterion in c("ebic", "bic", "cv", "stars")) {
    chosen <- suppressWarnings(ggm_select(path, criterion, folds = 3, n_rep = 4), classes = "granary_warning_input")
    expect_identical(chosen$fit$tau, path$tau[chosen$selected])
    expect_true("tau" %in% names(chosen$table))
  }
  default <- ggm_local(sim$data, neighbors = nb_chain(9), n_lambda = 4, threads = 1)
  expect_identical(default$df[1], 0)
  expect_equal(default$tau, 0.1 * default$rho)
})

test_that("local constancy estimates the regions better than the graphical lasso, over seeds", {
  gain <- vapply(1:8, function(seed) {
    set.seed(seed)
    sim <- sim_ggm("regions", n = 400)
    rho <- c(0.01, 0.02, 0.03, 0.05)
    kl <- function(fit) min(ggm_score(sim, fit)$kl)
    kl(ggm_lasso(sim$data, lambda = rho, threads = 1)) - kl(ggm_local(sim$data, neighbors = nb_chain(9), lambda = rho, tau = function(r) r, threads = 1))
  }, 0)
  expect_gt(mean(gain), 0)
  expect_gte(sum(gain > 0), 6)
})

test_that("the regions generator is the model of the thesis at any multiple of nine", {
  X <- as.matrix(sim_ggm("regions")$precision)
  expect_equal(min(eigen(X)$values), 0.2216, tolerance = 1e-3)
  expect_identical(sum(X[upper.tri(X)] != 0), 9L)
  expect_true(all(X[3, -3] == 0))
  expect_equal(min(eigen(as.matrix(sim_ggm("regions", p = 27)$precision))$values), min(eigen(X)$values), tolerance = 1e-9)
  expect_error(sim_ggm("regions", p = 10), "multiple of 9", class = "granary_error_input")
})

test_that("one and two threads agree", {
  set.seed(8)
  S <- random_covariance(12, 20)
  for (method in c("auto", "admm")) {
    expect_identical(ggm_local(S = S, neighbors = nb_grid(c(3, 4)), lambda = 0.05, tau = 0.05, method = method, threads = 2)$precision,
                     ggm_local(S = S, neighbors = nb_grid(c(3, 4)), lambda = 0.05, tau = 0.05, method = method, threads = 1)$precision)
  }
})

test_that("edge cases: one variable, p > n, constant columns, empty graphs, rho = 0", {
  expect_equal(as.matrix(ggm_local(S = matrix(2), neighbors = nb_chain(1), lambda = 0.5)), matrix(0.4), ignore_attr = TRUE)
  set.seed(9)
  wide <- matrix(rnorm(4 * 12), 4)
  expect_true(ggm_local(wide, neighbors = nb_chain(12), lambda = 0.1)$convergence$converged)
  wide[, 3] <- 7
  expect_warning(fit <- ggm_local(wide, neighbors = nb_chain(12), lambda = 0.1), "Constant", class = "granary_warning_input")
  expect_equal(unname(Matrix::diag(fit$precision)[3]), 10, tolerance = 1e-4)
  expect_warning(ggm_local(S = diag(c(1, 0, 1)), neighbors = nb_chain(3), lambda = 0.1), "variance 0", class = "granary_warning_input")
  S <- random_covariance(5, 20)
  expect_warning(empty <- ggm_local(S = S, neighbors = nb_chain(5), lambda = 10), "must be empty", class = "granary_warning_input")
  expect_identical(empty$df, 0)
  expect_output(print(empty), "must be empty")
  expect_equal(as.matrix(local_at(S, nb_chain(5), 0, 0)), solve(S), tolerance = 1e-4, ignore_attr = TRUE)
  expect_error(ggm_local(S = diag(c(1, 0)), neighbors = nb_chain(2), lambda = 0), "`lambda` must be greater", class = "granary_error_input")
  expect_error(ggm_local(S = matrix(1, 2, 2), neighbors = nb_chain(2), lambda = 0, tau = 1), "singular", class = "granary_error_numeric")
  expect_warning(ggm_local(S = matrix(c(1, 2, 2, 1), 2), neighbors = nb_chain(2), lambda = 1.5), "not positive semi-definite", class = "granary_warning_input")
  expect_true(local_at(S, nb_edges(rbind(c(1, 2), c(4, 5)), 5), 0.05, 0.1)$convergence$converged)
})

test_that("bad arguments are named", {
  S <- diag(3)
  bad <- function(pattern, ...) expect_error(ggm_local(...), pattern, class = "granary_error_input")
  bad("`neighbors` must be given", S = S, lambda = 1)
  bad("`neighbors`", S = S, lambda = 1, neighbors = "chain")
  bad("has 4 variables, but there are 3", S = S, lambda = 1, neighbors = nb_chain(4))
  bad("must be symmetric", S = S, lambda = 1, neighbors = matrix(c(0, 1, 0, 0, 0, 1, 0, 0, 0), 3))
  bad("own neighbour", S = S, lambda = 1, neighbors = diag(3))
  bad("`lambda`", S = S, neighbors = nb_chain(3), lambda = -1)
  bad("`tau`", S = S, neighbors = nb_chain(3), lambda = 1, tau = -1)
  bad("`tau` is a function", S = S, neighbors = nb_chain(3), lambda = 1, tau = function(r) stop("no"))
  bad("`operator`", S = S, neighbors = nb_chain(3), lambda = 1, operator = "gradient")
  bad("one column per variable", S = S, lambda = 1, operator = diag(4))
  bad("`method`", S = S, neighbors = nb_chain(3), lambda = 1, method = "quic")
  bad("`tol`", S = S, neighbors = nb_chain(3), lambda = 1, tol = 0)
  bad("`start`", S = S, neighbors = nb_chain(3), lambda = 1, start = diag(2))
  expect_error(nb_edges(rbind(c(1, 1)), 3), "own neighbour", class = "granary_error_input")
  expect_error(nb_edges(rbind(c(1, 2), c(2, 1)), 3), "repetition", class = "granary_error_input")
  expect_error(nb_edges(rbind(c(1, 4)), 3), "from 1 to 3", class = "granary_error_input")
  expect_error(nb_edges(rbind(c(1, 1.5)), 3), "from 1 to 3", class = "granary_error_input")
  expect_error(nb_chain(2, closed = TRUE), "at least 3", class = "granary_error_input")
  expect_error(nb_grid(c(2, 2), c(TRUE, NA, TRUE, TRUE)), "missing", class = "granary_error_input")
  expect_error(nb_grid(c(2, 2), rep(FALSE, 4)), "no cell", class = "granary_error_input")
  expect_error(nb_grid(c(2, 2, 2, 2)), "two or three", class = "granary_error_input")
  expect_error(nb_distance(diag(2)), "either", class = "granary_error_input")
  expect_error(nb_edges(rbind(c(1, 2)), 3, coords = diag(2)), "one row per variable", class = "granary_error_input")
})

test_that("the neighbourhood builders build what they say", {
  expect_identical(nrow(nb_chain(5)$edges), 4L)
  expect_identical(nrow(nb_chain(5, TRUE)$edges), 5L)
  expect_identical(nrow(nb_grid(c(3, 4))$edges), 17L)
  expect_identical(nrow(nb_grid(c(2, 2, 2))$edges), 12L)
  mask <- matrix(TRUE, 3, 3)
  mask[2, 2] <- FALSE
  ring <- nb_grid(c(3, 3), mask)
  expect_identical(ring$n, 8L)
  expect_true(all(tabulate(ring$edges, 8) == 2))
  points <- cbind(c(0, 1, 2, 10), 0)
  expect_identical(unname(nb_distance(points, radius = 1)$edges), rbind(1:2, 2:3))
  expect_identical(nb_distance(dist(points), radius = 1)$edges, nb_distance(points, radius = 1)$edges)
  expect_identical(nrow(nb_distance(points, k = 1)$edges), 3L)
  expect_identical(nb_graph(Matrix::Matrix(abs(outer(1:4, 1:4, "-")) == 1, sparse = TRUE))$edges, nb_chain(4)$edges)
  skip_if_not_installed("igraph")
  expect_identical(nb_graph(igraph::make_ring(5))$n, 5L)
  expect_identical(nrow(nb_graph(igraph::make_ring(5))$edges), 5L)
  expect_error(nb_graph(igraph::make_graph(c(1, 2, 1, 2), directed = FALSE)), "repetition", class = "granary_error_input")
})

test_that("it prints, plots and serves the shared methods", {
  set.seed(11)
  sim <- sim_ggm("regions", n = 100)
  path <- ggm_local(sim$data, neighbors = nb_chain(9), lambda = c(0.2, 0.1, 0.05), tau = c(0.02, 0.05), threads = 1)
  fit <- ggm_at(path, 5)
  expect_output(print(path), "blocks")
  expect_output(print(fit), "Largest blocks.*Certificate")
  expect_output(print(summary(fit)), "Theorem 2.1")
  expect_output(print(nb_chain(4)), "4 variables, 3 pairs")
  expect_s3_class(fit, c("granary_ggm_local", "granary_ggm", "granary_fit"), exact = TRUE)
  expect_identical(dim(predict(fit, sim$data)), c(100L, 9L))
  expect_identical(dim(simulate(fit, 3)), c(3L, 9L))
  expect_s3_class(ggm_score(sim, path), "granary_ggm_score")
  expect_true(is.finite(logLik(fit)))
  pdf(NULL)
  on.exit(dev.off())
  for (type in c("network", "heatmap")) expect_no_error(plot(fit, type))
  expect_no_error(plot(path))
  expect_no_error(plot(ggm_select(path), "selection"))
  expect_no_error(plot(nb_grid(c(3, 3))))
})

test_that("the likelihood-ratio comparison is what it says", {
  set.seed(12)
  sim <- sim_ggm("regions", n = 300)
  train <- sim$data[1:200, ]
  test <- sim$data[201:300, ]
  fit <- ggm_local(train, neighbors = nb_chain(9), lambda = 0.05, tau = 0.05)
  none <- ggm_baseline(train, type = "independent")
  out <- ggm_compare(fit, none, test)
  expect_equal(out$statistic, 2 * (sum(predict(fit, test, "loglik")) - sum(predict(none, test, "loglik"))))
  expect_equal(out$df, 2 * fit$df)
  expect_true(out$rejected)
  expect_identical(ggm_compare(none, fit, test)$smaller, "fit")
  expect_true(is.na(ggm_compare(fit, fit, test)$rejected))
  expect_output(print(out), "heuristic")
  expect_error(ggm_compare(fit, 1, test), "`other`", class = "granary_error_input")
})

test_that("an image of 400 pixels takes seconds", {
  extended()
  set.seed(1)
  sim <- sim_ggm("grid", p = 400, rows = 20, n = 400, unit_variance = TRUE)
  fit <- ggm_local(sim$data, neighbors = nb_grid(c(20, 20)), lambda = 0.1, tau = 0.02, tol = 1e-6, threads = 1)
  expect_true(fit$convergence$converged)
  expect_lt(fit$convergence$seconds, 20)
})
