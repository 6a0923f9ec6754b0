# Few interacting nodes: closed forms, brute force, the graphical lasso, screening, the thesis' algorithm, bad input.

nodes_at <- function(S, rho, tau, ..., tol = 1e-9, max_iter = 50000) {
  suppressWarnings(ggm_nodes(S = S, lambda = rho, tau = tau, ..., tol = tol, max_iter = max_iter, threads = 1), classes = "granary_warning_convergence")
}

# The objective from its definition.
nodes_objective <- function(X, S, rho, tau, norm) {
  X <- as.matrix(X)
  values <- eigen(X, symmetric = TRUE, only.values = TRUE)$values
  if (min(values) <= 0) return(Inf)
  off <- X
  diag(off) <- 0
  rows <- if (norm == "l2") sqrt(rowSums(off^2)) else apply(abs(off), 1, max)
  -sum(log(values)) + sum(S * X) + rho * sum(abs(X)) + tau * sum(rows)
}

soft_norm <- function(S, rho, norm) {
  T <- pmax(abs(S) - rho, 0)
  diag(T) <- 0
  if (norm == "l2") sqrt(rowSums(T^2)) else rowSums(T)
}

norms <- c("l2", "linf")

test_that("two variables are a graphical lasso with off-diagonal penalty rho + tau", {
  S <- matrix(c(1, 0.6, 0.6, 2), 2)
  for (norm in norms) for (method in c("admm", "bcd", "auto")) {
    fit <- nodes_at(S, 0.1, 0.2, norm = norm, method = method)
    expect_equal(as.matrix(fit), matrix(c(0.945946, -0.135135, -0.135135, 0.495496), 2), tolerance = 1e-5, ignore_attr = TRUE)
    expect_equal(fit$covariance, matrix(c(1.1, 0.3, 0.3, 2.1), 2), tolerance = 1e-7, ignore_attr = TRUE)
    weights <- matrix(c(0.1, 0.3, 0.3, 0.1), 2)
    expect_equal(as.matrix(fit), as.matrix(ggm_lasso(S = S, lambda = weights, tol = 1e-12)), tolerance = 1e-7)
    expect_lt(abs(fit$gap), 1e-8)
  }
})

test_that("without the row penalty it is the graphical lasso", {
  set.seed(1)
  for (shape in list(c(5, 20), c(12, 8), c(20, 60))) {
    S <- random_covariance(shape[1], shape[2])
    for (norm in norms) for (rho in c(0.05, 0.3)) {
      fit <- nodes_at(S, rho, 0, norm = norm, tol = 1e-11)
      peer <- ggm_lasso(S = S, lambda = rho, tol = 1e-12)
      expect_lt(max(abs(as.matrix(fit) - as.matrix(peer))), 1e-8 * max(abs(as.matrix(peer))) * 10)
      expect_identical(as.matrix(fit) != 0, as.matrix(peer) != 0)
      expect_equal(fit$objective, peer$objective, tolerance = 1e-10)
    }
  }
})

test_that("brute force over the Cholesky factor finds nothing better, for up to four variables", {
  set.seed(2)
  for (p in 2:4) for (norm in norms) {
    S <- random_covariance(p, 6)
    rho <- 0.03
    tau <- 0.25
    fit <- nodes_at(S, rho, tau, norm = norm)
    upper <- upper.tri(S, diag = TRUE)
    value <- function(theta) {
      R <- matrix(0, p, p)
      R[upper] <- theta
      nodes_objective(crossprod(R), S, rho, tau, norm)
    }
    theta <- chol(diag(1 / diag(S), p))[upper]
    for (round in 1:6) theta <- optim(theta, value, control = list(maxit = 4000, reltol = 1e-14))$par
    expect_gte(value(theta), fit$objective - 1e-9)
    expect_equal(value(theta), fit$objective, tolerance = 1e-4)
    expect_equal(fit$objective, nodes_objective(fit$precision, S, rho, tau, norm), tolerance = 1e-11)
  }
})

test_that("the optimality conditions hold: gap, diagonal, trace, zero rows", {
  set.seed(3)
  for (p in c(6, 15)) for (n in c(4, 60)) for (norm in norms) {
    S <- random_covariance(p, n)
    for (rho in c(0.01, 0.1)) {
      tau <- 0.3 * max(soft_norm(S, rho, norm))
      fit <- nodes_at(S, rho, tau, norm = norm)
      expect_true(fit$convergence$converged)
      expect_gt(fit$gap, -1e-9)
      expect_lt(fit$gap, 1e-5)
      expect_lt(fit$kkt, 1e-5)
      expect_equal(diag(fit$covariance), diag(S) + rho, tolerance = 1e-6, ignore_attr = TRUE)
      expect_equal(fit$trace_sx + rho * sum(abs(fit$precision)) + tau * sum(fit$node_norm), p, tolerance = 1e-6)
      if (norm == "l2") {  # rows that are not zero have a unique subgradient
        X <- as.matrix(fit)
        on <- fit$node_norm > 0
        B <- X / pmax(fit$node_norm, 1e-300)
        G <- S - fit$covariance + tau / 2 * (B + t(B))
        check <- outer(on, on) > 0 & row(S) != col(S)
        edge <- check & X != 0
        expect_lt(max(0, abs(G + rho * sign(X))[edge]), 1e-5)
        expect_lt(max(0, abs(G[check & X == 0]) - rho), 1e-5)
      }
      values <- range(eigen(as.matrix(fit))$values)
      expect_gte(values[1], fit$bounds$lower)
      expect_lte(values[2], fit$bounds$upper)
    }
  }
})

test_that("the block descent never beats the exact solver, mostly stops above it, and stays at the optimum", {
  set.seed(4)
  above <- c(l2 = 0, linf = 0)
  for (k in 1:12) for (norm in norms) {
    S <- random_covariance(8, 16)
    exact <- nodes_at(S, 0.01, 0.5, norm = norm)
    bcd <- nodes_at(S, 0.01, 0.5, norm = norm, method = "bcd", max_iter = 200)
    expect_gte(bcd$objective, exact$objective - 1e-8)
    expect_gte(bcd$gap, bcd$objective - exact$objective - 1e-8)
    expect_true(all(diff(bcd$trace$objective) <= 1e-10))
    above[norm] <- above[norm] + (bcd$objective > exact$objective + 1e-4)
    still <- nodes_at(S, 0.01, 0.5, norm = norm, method = "bcd", start = exact)
    expect_lt(max(abs(as.matrix(still) - as.matrix(exact))), 1e-4)
    expect_equal(nodes_at(S, 0.01, 0.5, norm = norm, method = "auto")$objective, exact$objective, tolerance = 1e-8)
  }
  expect_gte(above[["linf"]], 10)
  expect_gte(above[["l2"]], 1)
  expect_warning(ggm_nodes(S = S, lambda = 0.01, tau = 0.5, norm = "linf", method = "bcd"), "admm", class = "granary_warning_convergence")
})

test_that("screening is exact: the same answer without it, and rule by rule", {
  set.seed(5)
  seen <- character()
  for (k in 1:8) for (norm in norms) {
    S <- random_covariance(12, 14)
    rho <- runif(1, 0, 0.2)
    tau <- runif(1, 0.4, 1.2) * max(soft_norm(S, rho, norm))
    fit <- nodes_at(S, rho, tau, norm = norm)
    plain <- nodes_at(S, rho, tau, norm = norm, screen = FALSE)
    expect_equal(fit$objective, plain$objective, tolerance = 1e-9)
    expect_lt(max(abs(as.matrix(fit) - as.matrix(plain))), 1e-5)
    gone <- fit$screened != "none"
    expect_lt(max(0, plain$node_norm[gone]), 1e-7 * max(Matrix::diag(plain$precision)))
    expect_equal(Matrix::diag(fit$precision)[gone], 1 / (diag(S) + rho)[gone], ignore_attr = TRUE)
    off <- S
    diag(off) <- 0
    dual <- if (norm == "l2") sqrt(rowSums(off^2)) else rowSums(abs(off))
    lemma <- apply(abs(off), 1, max) <= rho + tau / (2 * 11^(if (norm == "l2") 1 / 2 else 1)) | dual <= rho + tau / 2
    expect_identical(as.vector(fit$screened == "lemma"), as.vector(lemma))
    expect_true(all(gone[soft_norm(S, rho, norm) <= tau / 2]))
    seen <- union(seen, as.character(fit$screened))
    empty <- nodes_at(S, rho, max(soft_norm(S, rho, norm)) * (1 + 1e-12), norm = norm)
    expect_identical(empty$convergence$iterations, 0L)
    expect_identical(empty$df, 0)
  }
  expect_true(all(c("none", "set") %in% seen))
})

test_that("it is equivariant: permutations, signs, units", {
  set.seed(6)
  S <- random_covariance(9, 20)
  o <- sample(9)
  s <- sample(c(-1, 1), 9, TRUE)
  for (norm in norms) {
    X <- as.matrix(nodes_at(S, 0.05, 0.4, norm = norm))
    expect_equal(as.matrix(nodes_at(S[o, o], 0.05, 0.4, norm = norm)), X[o, o], tolerance = 1e-6, ignore_attr = TRUE)
    expect_equal(as.matrix(nodes_at(S * outer(s, s), 0.05, 0.4, norm = norm)), X * outer(s, s), tolerance = 1e-6, ignore_attr = TRUE)
    for (c in c(1e-8, 1e8)) {
      expect_equal(c * as.matrix(nodes_at(c * S, c * 0.05, c * 0.4, norm = norm)), X, tolerance = 1e-6)
    }
  }
})

test_that("for l-inf the largest entries of a row tie", {
  set.seed(7)
  fit <- nodes_at(random_covariance(8, 20), 0.01, 0.5, norm = "linf")
  off <- abs(as.matrix(fit))
  diag(off) <- 0
  ties <- apply(off, 1, function(row) sum(row == max(row)))
  expect_gt(mean(ties[fit$node_norm > 0] > 1), 0.5)
})

test_that("a path equals its fits, orders the nodes by entry, and gives consistent single fits", {
  set.seed(8)
  sim <- sim_ggm("confounders", p = 30, n = 100, connected = 0.3, density = 0.5, ratio = 10)
  path <- ggm_nodes(sim$data, n_lambda = 6, tol = 1e-8)
  expect_identical(path$df[1], 0)
  expect_equal(path$tau, 50 * path$rho)
  for (k in c(2, 5)) {
    one <- ggm_at(path, k)
    alone <- ggm_nodes(sim$data, lambda = path$rho[k], tol = 1e-8)
    expect_equal(one$objective, alone$objective, tolerance = 1e-9)
    expect_identical(one$selected, alone$selected)
    expect_equal(one$node_norm, alone$node_norm, tolerance = 1e-4)
    expect_identical(one$screened, alone$screened)
    expect_identical(one$tau, alone$tau)
    expect_identical(one$selected, names(which(granary:::ggm_degrees(one$precision) > 0)))
  }
  expect_true(all(diff(path$entry[!is.na(path$entry)]) <= 0))
  for (criterion in c("ebic", "cv", "stars")) {
    chosen <- suppressWarnings(ggm_select(path, criterion, folds = 3, n_rep = 4), classes = "granary_warning_input")
    expect_identical(chosen$fit$selected, path$selected[[chosen$selected]])
  }
  expect_equal(ggm_nodes(sim$data, lambda = c(0.01, 0.02), tau = 0.3)$tau, c(0.3, 0.3))
  expect_equal(ggm_nodes(sim$data, lambda = c(0.01, 0.02), tau = c(0.3, 0.5))$tau, c(0.5, 0.3))
  expect_identical(ggm_nodes(sim$data, tau = 0.5, n_lambda = 3)$df[1], 0)
})

test_that("the connected nodes are recovered from many, over seeds", {
  found <- vapply(1:5, function(seed) {
    set.seed(seed)
    sim <- sim_ggm("confounders", p = 200, n = 200, connected = 0.05, density = 0.6, ratio = 10)
    truth <- names(which(granary:::ggm_degrees(sim$precision) > 0))
    best <- ggm_select(ggm_nodes(sim$data, n_lambda = 8, lambda_min_ratio = 0.03, threads = 1), "ebic")$fit
    c(mean(truth %in% best$selected), mean(best$selected %in% truth))
  }, c(0, 0))
  expect_gte(mean(found[1, ]), 0.9)
  expect_gte(mean(found[2, ]), 0.8)
})

test_that("twenty nodes of a thousand take little more than the twenty alone", {
  extended()
  set.seed(1)
  sim <- sim_ggm("confounders", p = 1000, n = 200, connected = 0.02, density = 0.5, ratio = 10)
  rho <- 0.1 * ggm_nodes(sim$data, n_lambda = 1)$rho
  all <- ggm_nodes(sim$data, lambda = rho, threads = 1)
  part <- ggm_nodes(sim$data[, all$selected], lambda = rho, threads = 1)
  expect_lte(length(all$selected), 25)
  expect_equal(as.matrix(all)[all$selected, all$selected], as.matrix(part), tolerance = 1e-6)
  expect_lt(all$convergence$seconds, 1)
})

test_that("one and two threads agree, and the generator obeys the seed", {
  set.seed(9)
  S <- as.matrix(Matrix::bdiag(random_covariance(8), random_covariance(10)))
  for (norm in norms) {
    expect_identical(ggm_nodes(S = S, lambda = 0.02, tau = 0.2, norm = norm, threads = 2)$precision,
                     ggm_nodes(S = S, lambda = 0.02, tau = 0.2, norm = norm, threads = 1)$precision)
  }
  draw <- function() {
    set.seed(3)
    sim_ggm("confounders", p = 40, n = 5, connected = 0.5, density = 0.4, ratio = 10)
  }
  sim <- draw()
  expect_identical(sim, draw())
  X <- as.matrix(sim$precision)
  on <- granary:::ggm_degrees(sim$precision) > 0
  expect_lte(sum(on), 20)
  off <- X
  diag(off) <- 0
  expect_true(all(off %in% c(-1, 0, 1)))
  expect_equal(min(eigen(X[on, on])$values), 0.1, tolerance = 1e-6)
  deviation <- sqrt(diag(solve(X)))
  alone <- deviation == min(deviation)
  expect_gte(sum(alone), 20)
  expect_equal(mean(deviation[!alone]) / deviation[alone][[1]], 10, tolerance = 1e-6)
  expect_identical(count_edges(sim_ggm("confounders", p = 5, connected = 0)$precision), 0L)
})

test_that("edge cases: one variable, p > n, constant columns, rho = 0", {
  expect_equal(as.matrix(ggm_nodes(S = matrix(2), lambda = 0.5)), matrix(0.4), ignore_attr = TRUE)
  expect_length(ggm_nodes(S = matrix(2), n_lambda = 3)$rho, 3)
  set.seed(10)
  wide <- matrix(rnorm(5 * 12), 5)
  expect_true(ggm_nodes(wide, lambda = 0.02)$convergence$converged)
  expect_error(ggm_nodes(wide[1, , drop = FALSE], lambda = 0.1), "at least 2 rows", class = "granary_error_input")
  wide[, 3] <- 7
  expect_warning(fit <- ggm_nodes(wide, lambda = 0.02), "Constant", class = "granary_warning_input")
  expect_equal(unname(Matrix::diag(fit$precision)[3]), 50)
  expect_false("V3" %in% fit$selected)
  expect_error(suppressWarnings(ggm_nodes(wide, lambda = 0, tau = 1)), "`lambda` must be greater than 0", class = "granary_error_input")
  singular <- nodes_at(matrix(1, 2, 2), 0, 0.3)  # the row norms alone bound the problem
  expect_equal(singular$covariance[1, 2], 0.7, tolerance = 1e-6)
  expect_error(ggm_nodes(S = matrix(1, 2, 2), lambda = 0, tau = 0), class = "granary_error_numeric")
  expect_identical(ggm_nodes(S = diag(3), n_lambda = 2)$df, c(0, 0))
  expect_warning(ggm_nodes(S = diag(c(1, 1e-9)), lambda = 0.1), "factor of 1e\\+09", class = "granary_warning_input")
  wide[2, 2] <- NA
  expect_error(ggm_nodes(wide, lambda = 0.1), "missing", class = "granary_error_input")
})

test_that("bad arguments are named", {
  S <- diag(3)
  bad <- function(pattern, ...) expect_error(ggm_nodes(...), pattern, class = "granary_error_input")
  bad("neither", lambda = 1)
  bad("`lambda`", S = S, lambda = -1)
  bad("`tau`", S = S, lambda = 1, tau = -1)
  bad("`tau`.*one per `lambda`", S = S, lambda = 1:3, tau = 1:2)
  bad("`tau`", S = S, tau = 1:2)
  bad("`tau` is a function", S = S, lambda = 1, tau = function(rho) stop("no"))
  bad("tau\\(rho\\)", S = S, lambda = 1, tau = function(rho) "a")
  bad("`norm`", S = S, lambda = 1, norm = "l1")
  bad("`method`", S = S, lambda = 1, method = "quic")
  bad("`screen`", S = S, lambda = 1, screen = NA)
  bad("`tol`", S = S, lambda = 1, tol = 0)
  bad("`max_iter`", S = S, lambda = 1, max_iter = 0)
  bad("`start`", S = S, lambda = 1, start = diag(2))
  bad("start must be a positive definite", S = matrix(c(1, 0.9, 0.9, 1), 2), lambda = 0.1, tau = 0.1, start = -diag(2))
  expect_warning(ggm_nodes(S = toeplitz(0.9^(0:7)), lambda = 0.01, tau = 0.1, max_iter = 2), "NOT converged", class = "granary_warning_convergence")
})

test_that("it prints, plots and serves the shared methods", {
  set.seed(11)
  sim <- sim_ggm("confounders", p = 20, n = 60, connected = 0.3, density = 0.6, ratio = 10)
  path <- ggm_nodes(sim$data, n_lambda = 5)
  fit <- ggm_at(path, 4)
  expect_output(print(path), "First nodes to enter")
  expect_output(print(fit), paste0("of 20 nodes interact.*Nodes: .*Certificate"))
  expect_output(print(summary(fit)), "certified within")
  expect_output(print(ggm_nodes(S = diag(3), lambda = 1)), "0 of 3 nodes")
  expect_s3_class(fit, c("granary_ggm_nodes", "granary_ggm", "granary_fit"), exact = TRUE)
  expect_identical(dim(predict(fit, sim$data)), c(60L, 20L))
  expect_length(predict(fit, sim$data, type = "loglik"), 60)
  expect_identical(dim(simulate(fit, 3)), c(3L, 20L))
  expect_s3_class(ggm_score(sim, path), "granary_ggm_score")
  pdf(NULL)
  on.exit(dev.off())
  for (type in c("network", "heatmap", "nodes")) expect_no_error(plot(fit, type))
  for (type in c("path", "nodes")) expect_no_error(plot(path, type))
  expect_no_error(plot(path))
  expect_error(plot(fit, "path"), "no path", class = "granary_error_input")
})

test_that("rows and groups go to the likeliest class", {
  set.seed(12)
  rows_from <- function(r) matrix(rnorm(400), 100) %*% chol(toeplitz(r^(0:3)))
  a <- rows_from(0.8)
  b <- rows_from(-0.5)
  fits <- list(a = ggm_nodes(a, lambda = 0.005), b = ggm_lasso(b, lambda = 0.05))
  guess <- ggm_classify(fits, rbind(a, b))
  expect_gt(mean(guess$class == rep(c("a", "b"), each = 100)), 0.8)
  by_hand <- cbind(predict(fits$a, rbind(a, b), type = "loglik"), predict(fits$b, rbind(a, b), type = "loglik")) + log(0.5)
  expect_equal(unname(guess$scores), unname(by_hand))
  expect_equal(rowSums(guess$posterior), rep(1, 200))
  group <- rep(1:20, each = 10)
  grouped <- ggm_classify(fits, rbind(a, b), group, prior = c(3, 1))
  expect_equal(unname(grouped$scores), unname(rowsum(by_hand - log(0.5), group) + rep(log(c(0.75, 0.25)), each = 20)), ignore_attr = TRUE)
  expect_identical(as.character(grouped$class), rep(c("a", "b"), each = 10))
  expect_output(print(grouped), "20 cases")
  expect_error(ggm_classify(fits$a, a), "`fits`", class = "granary_error_input")
  expect_error(ggm_classify(fits, a, group = 1:3), "`group`", class = "granary_error_input")
  expect_error(ggm_classify(fits, a, prior = c(0, 1)), "`prior`", class = "granary_error_input")
  expect_error(ggm_classify(list(fits$a, ggm_nodes(a, n_lambda = 3)), a), "single penalty", class = "granary_error_input")
  expect_error(ggm_classify(list(fits$a, ggm_nodes(a[, 1:3], lambda = 1)), a), "same variables", class = "granary_error_input")
  expect_error(ggm_classify(fits), "newdata", class = "granary_error_input")
})

# The checks that the errata describe ------------------------------------------------------------------------------------------------

test_that("thesis Lemma 3.1: the log determinant is strictly concave", {
  set.seed(13)
  X <- random_covariance(4)
  for (k in 1:5) {
    D <- crossprod(matrix(rnorm(16), 4)) - diag(4)
    f <- function(t) as.numeric(determinant(X + t * D)$modulus)
    second <- -sum(diag(solve(X, D) %*% solve(X, D)))
    expect_lt(second, 0)
    expect_equal((f(1e-4) - 2 * f(0) + f(-1e-4)) / 1e-8, second, tolerance = 1e-3)
  }
})

test_that("thesis Theorem 3.2: N / tau is no bound when the rows leave out the diagonal", {
  for (norm in norms) {
    fit <- nodes_at(diag(2), 0.1, 100, norm = norm)
    expect_equal(as.matrix(fit), diag(2) / 1.1, ignore_attr = TRUE)
    expect_gt(1 / 1.1, 2 / max(0.1, 100))
    expect_lte(1 / 1.1, fit$bounds$upper)
  }
})

test_that("thesis section 3.4: |c| <= rho is no test for zero when a = b = 0", {
  f <- function(x) x^2 / 2 - 0.5 * x + 0.1 * abs(x) + 0.5 * abs(x) + 0.5 * abs(x)
  expect_gt(abs(0.5), 0.1)
  expect_lt(abs(optimize(f, c(-2, 2), tol = 1e-10)$minimum), 1e-6)
})

test_that("thesis Algorithm 3.1 stays at the diagonal while the optimum has all edges", {
  S <- matrix(0.5, 3, 3)
  diag(S) <- 1
  stalled <- nodes_at(S, 0.1, 0.5, norm = "linf", method = "bcd", screen = FALSE)
  best <- nodes_at(S, 0.1, 0.5, norm = "linf", screen = FALSE)
  expect_identical(stalled$df, 0)
  expect_identical(best$df, 3)
  expect_equal(stalled$objective, 3 + 3 * log(1.1))
  # equal entries: two parameters, by search
  value <- function(v) nodes_objective(matrix(v[2], 3, 3) + diag(v[1] - v[2], 3), S, 0.1, 0.5, "linf")
  searched <- optim(c(1, -0.05), value, control = list(reltol = 1e-12, maxit = 2000))$value
  expect_equal(best$objective, searched, tolerance = 1e-6)
  expect_equal(c(stalled$objective, best$objective), c(3.2859, 3.2339), tolerance = 1e-4)
})

test_that("thesis Appendix B: the middle matrix has to be inverted", {
  set.seed(14)
  W <- random_covariance(5)
  delta <- c(0.1, -0.2, 0.05, 0.1, 0.3)
  B <- cbind(delta, c(0, 0, 0, 0, 1))
  C <- cbind(c(0, 0, 0, 0, 1), delta)
  H <- solve(W)
  middle <- diag(2) + t(C) %*% H %*% B
  right <- H - H %*% B %*% solve(middle) %*% t(C) %*% H
  printed <- H - H %*% B %*% middle %*% t(C) %*% H
  expect_equal(right, solve(W + B %*% t(C)))
  expect_gt(max(abs(printed - solve(W + B %*% t(C)))), 0.01)
})
