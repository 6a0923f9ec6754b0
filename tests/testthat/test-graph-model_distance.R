random_precision <- function(p, shift = 0.3) {
  m <- crossprod(matrix(stats::rnorm(p * p), p)) / p
  m + diag(shift, p)
}

# KL of two Gaussians from the textbook, by solve()
gaussian_kl <- function(m1, s1, m2, s2) {
  0.5 * (log(det(s2) / det(s1)) + sum(diag(solve(s2, s1))) - length(m1) + sum((m1 - m2) * solve(s2, m1 - m2)))
}

test_that("Gaussian divergences: closed forms, blocks, invariance", {
  set.seed(1)
  for (rep in 1:5) {
    o1 <- random_precision(4)
    o2 <- random_precision(4)
    m1 <- rnorm(4)
    m2 <- rnorm(4)
    a <- model_given("gaussian", m1, precision = o1)
    b <- model_given("gaussian", m2, covariance = solve(o2))
    kl <- gaussian_kl(m1, solve(o1), m2, solve(o2))
    expect_equal(model_distance(a, b)$value, kl)
    expect_equal(model_distance(a, b, "symkl")$value, kl + gaussian_kl(m2, solve(o2), m1, solve(o1)))
    mix <- matrix(rnorm(16), 4)
    moved <- function(m, o) model_given("gaussian", drop(mix %*% m), covariance = mix %*% solve(o) %*% t(mix))
    for (type in c("kl", "hellinger", "bhattacharyya")) {
      expect_equal(model_distance(moved(m1, o1), moved(m2, o2), type)$value, model_distance(a, b, type)$value, tolerance = 1e-6)
    }
    mc <- model_distance(a, b, "bhattacharyya", exact = FALSE, n_draws = 20000)
    expect_lt(abs(mc$value - model_distance(a, b, "bhattacharyya")$value), 5 * mc$se + 1e-3)
  }
  one <- function(v) model_given("gaussian", covariance = matrix(v))
  expect_equal(model_distance(one(1), one(4))$value, 0.5 * (log(4) + 1 / 4 - 1))
  expect_identical(model_distance(one(2), one(2))$value, 0)
  block <- function(u, v) model_given("gaussian", covariance = diag(c(u, v)))
  expect_equal(model_distance(block(1, 2), block(3, 5))$value, model_distance(one(1), one(3))$value + model_distance(one(2), one(5))$value)
  for (scale in c(1e-8, 1e8)) expect_equal(model_distance(one(scale), one(4 * scale))$value, 0.5 * (log(4) + 1 / 4 - 1))
})

test_that("Bayes error of shifted Gaussians is Phi(-Mahalanobis / 2), within its bracket", {
  set.seed(2)
  s <- solve(random_precision(3))
  shift <- c(1, -0.5, 0.3)
  be <- model_distance(model_given("gaussian", covariance = s), model_given("gaussian", shift, covariance = s), "bayes_error", n_draws = 1e5)
  truth <- stats::pnorm(-sqrt(sum(shift * solve(s, shift))) / 2)
  expect_lt(abs(be$value - truth), 5 * be$se)
  expect_true(be$bracket[["lower"]] <= truth && truth <= be$bracket[["upper"]])
  expect_output(print(be), "standard error.*between")
})

random_bn <- function(dag, levels) {
  g <- as_graph(dag)
  marks <- as.matrix(g)
  cpts <- lapply(g$nodes, function(node) {
    parents <- g$nodes[marks[, node] == 2 & marks[node, ] == 1]
    t <- matrix(stats::rexp(prod(levels[parents]) * levels[[node]]) + 0.05, ncol = levels[[node]])
    t / rowSums(t)
  })
  model_given("bn", g, stats::setNames(cpts, g$nodes))
}

test_that("discrete networks: elimination agrees with enumeration, whatever the DAGs", {
  set.seed(3)
  levels <- c(a = 2, b = 3, c = 2, d = 2, e = 3)
  for (rep in 1:4) {
    p <- random_bn("a -> b -> c; a -> d <- c; d -> e; b -> e", levels)
    q <- random_bn("a -> c -> e; b; d -> c; d", levels)
    lp <- granary:::core_discrete_log_probabilities(granary:::model_parts(p))
    expect_equal(sum(exp(lp)), 1)
    # q in the order of p
    pair <- granary:::model_pair(p, q)
    lq <- granary:::core_discrete_log_probabilities(granary:::model_parts(pair[[2]]))
    expect_equal(sum(exp(lq)), 1)
    expect_equal(model_distance(p, q)$value, sum(exp(lp) * (lp - lq)))
    same <- random_bn("a -> b -> c; a -> d <- c; d -> e; b -> e", levels)
    ls <- granary:::core_discrete_log_probabilities(granary:::model_parts(same))
    expect_equal(model_distance(p, same, "symkl")$value, sum((exp(lp) - exp(ls)) * (lp - ls)))
    expect_equal(model_distance(p, same, "bayes_error")$value, sum(pmin(exp(lp), exp(ls))) / 2)
    expect_equal(model_distance(p, same, "hellinger")$value, sqrt(1 - sum(exp((lp + ls) / 2))))
    middle <- log((exp(lp) + exp(ls)) / 2)
    expect_equal(model_distance(p, same, "js")$value, sum(exp(lp) * (lp - middle) + exp(ls) * (ls - middle)) / 2)
    for (type in c("kl", "js", "bayes_error")) {
      mc <- model_distance(p, same, type, exact = FALSE, n_draws = 20000)
      expect_lt(abs(mc$value - model_distance(p, same, type)$value), 5 * mc$se)
    }
  }
})

test_that("variables and levels are matched by name", {
  set.seed(4)
  t1 <- list(a = c(no = 0.3, yes = 0.7), b = rbind(c(no = 0.9, yes = 0.1), c(0.2, 0.8)))
  p <- model_given("bn", "a -> b", t1)
  turned <- model_given("bn", as_graph("a -> b", nodes = c("a", "b")), list(a = c(yes = 0.7, no = 0.3), b = rbind(c(no = 0.2, yes = 0.8), c(0.9, 0.1))))
  expect_equal(model_distance(p, turned)$value, 0)
  swapped <- as_graph(data.frame(from = "a", to = "b"), nodes = c("b", "a"))
  expect_equal(model_distance(p, model_given("bn", swapped, t1))$value, 0)
  g1 <- random_precision(3)
  dimnames(g1) <- rep(list(c("x", "y", "z")), 2)
  expect_equal(model_distance(model_given("gaussian", precision = g1), model_given("gaussian", precision = g1[3:1, 3:1]))$value, 0)
  i1 <- model_given("ising", g1)
  expect_equal(model_distance(i1, model_given("ising", g1[c(2, 3, 1), c(2, 3, 1)]))$value, 0)
  other <- g1
  dimnames(other) <- rep(list(c("x", "y", "w")), 2)
  expect_error(model_distance(model_given("gaussian", precision = g1), model_given("gaussian", precision = other)), "z occur only in `m1` and w only in `m2`",
               class = "granary_error_input")
  expect_error(model_distance(model_given("gaussian", precision = g1), i1), "one kind", class = "granary_error_input")
})

test_that("a large chain is compared exactly, and zeros give infinity, not NaN", {
  set.seed(5)
  n <- 40
  nodes <- paste0("n", 1:n)
  dag <- data.frame(from = nodes[-n], to = nodes[-1])
  chain <- function() {
    model_given("bn", as_graph(dag), stats::setNames(c(list(c(0.5, 0.5)), lapply(2:n, function(i) { p <- runif(2, 0.2, 0.8); cbind(1 - p, p) })), nodes))
  }
  p <- chain()
  q <- chain()
  exact <- model_distance(p, q)$value
  mc <- model_distance(p, q, exact = FALSE, n_draws = 20000)
  expect_lt(abs(mc$value - exact), 5 * mc$se)
  expect_error(model_distance(p, q, "js"), "exact = FALSE", class = "granary_error_input")
  zero <- model_given("bn", "a", list(a = c(1, 0)))
  half <- model_given("bn", "a", list(a = c(0.5, 0.5)))
  expect_identical(model_distance(half, zero)$value, Inf)
  expect_equal(model_distance(zero, half)$value, log(2))
  expect_equal(model_distance(half, zero, "bayes_error")$value, 0.25)
})

test_that("Ising models: brute force in both codings, fits as models", {
  set.seed(6)
  theta <- matrix(rnorm(16), 4)
  theta <- (theta + t(theta)) / 2
  other <- theta + diag(0.5, 4)
  brute <- function(t, values) {
    x <- as.matrix(expand.grid(rep(list(values), 4)))
    pairs <- t - diag(diag(t))
    e <- drop(x %*% diag(t)) + rowSums((x %*% pairs) * x) / 2
    e - log(sum(exp(e)))
  }
  for (coding in c("01", "spin")) {
    values <- if (coding == "01") 0:1 else c(-1, 1)
    lp <- brute(theta, values)
    lq <- brute(other, values)
    p <- model_given("ising", theta, coding)
    expect_equal(granary:::core_discrete_log_probabilities(granary:::model_parts(p)), lp)
    expect_equal(model_distance(p, model_given("ising", other, coding))$value, sum(exp(lp) * (lp - lq)))
    expect_true(all(simulate(p, 5) %in% values))
  }
  expect_error(model_distance(p, p, exact = FALSE), "enumeration", class = "granary_error_input")
  expect_error(model_distance(model_given("ising", diag(23)), model_given("ising", diag(23))), "22", class = "granary_error_input")
  f1 <- ggm_lasso(scale(mtcars), lambda = 0.2)
  f2 <- ggm_lasso(scale(mtcars), lambda = 0.4)
  expect_gt(model_distance(f1, f2)$value, 0)
  expect_error(model_distance(ggm_lasso(scale(mtcars)), f1), "path", class = "granary_error_input")
})

test_that("bad models are named", {
  expect_error(model_given("gaussian", precision = diag(c(1, -1))), "smallest eigenvalue is -1", class = "granary_error_input")
  expect_error(model_given("gaussian", covariance = matrix(1, 2, 2)), "positive definite", class = "granary_error_input")
  expect_error(model_given("gaussian"), "neither", class = "granary_error_input")
  expect_error(model_given("bn", "a -> b", list(a = c(0.5, 0.5), b = c(0.5, 0.5))), "2 rows", class = "granary_error_input")
  expect_error(model_given("bn", "a -> b", list(a = c(0.5, 0.6), b = diag(2))), "sum to one", class = "granary_error_input")
  expect_error(model_given("bn", "a -> b; b -> a", list(a = 1)), class = "granary_error_input")
  expect_error(model_given("bn", "a -> b", list(a = c(0.5, 0.5))), "none for \"b\"", class = "granary_error_input")
  data <- data.frame(a = c(0, 1, 1), b = c(1, 1, 0))
  fit <- model_given("bn", "a -> b", data = data)
  expect_equal(fit$tables[[1]], rbind(c(2, 3) / 5))
  expect_identical(names(simulate(fit, 4)), c("a", "b"))
})

test_that("valid bounds hold over random pairs; the counterexamples of the thesis come out false", {
  set.seed(7)
  bad <- 0
  for (rep in seq_len(if (Sys.getenv("GRANARY_EXTENDED") == "1") 10000 else 300)) {
    p <- sample(1:5, 1)
    scale <- exp(rnorm(1, 0, 2))
    b <- lipschitz_bounds(model_given("gaussian", precision = scale * random_precision(p, 0.05)),
                          model_given("gaussian", precision = scale * random_precision(p, 0.05)))
    b <- b[b$norm != "printed" & !is.na(b$exact), ]
    bad <- bad + sum(ifelse(b$side == "above", b$bound < b$exact - 1e-9, b$bound > b$exact + 1e-9))
  }
  expect_identical(bad, 0)
  printed <- function(a, b) lipschitz_bounds(a, b, "printed")
  eye <- function(n, k) model_given("gaussian", precision = k * diag(n))
  first <- printed(eye(7, 1), eye(7, 2))
  expect_equal(first$exact[1], 7 / 2 * (2 - 1 - log(2)))
  expect_false(first$valid[first$bound_name == "precision, spectral norm"])
  expect_true(first$valid[first$bound_name == "precision, Frobenius norm"])
  second <- printed(eye(43, 1), eye(43, 2))
  expect_false(second$valid[second$bound_name == "precision, Frobenius norm"])
  row <- function(w) { e <- exp(c(w, 0)); model_given("bn", "a", list(a = e / sum(e))) }
  third <- printed(row(c(5, 0)), row(c(-5, 10)))
  expect_equal(third$exact, 14.79, tolerance = 1e-3)
  expect_false(third$valid)
})

test_that("bounds of discrete models hold, and the Bayes error bound too", {
  set.seed(8)
  levels <- c(a = 2, b = 3, c = 2)
  for (rep in 1:50) {
    b <- lipschitz_bounds(random_bn("a -> b -> c", levels), random_bn("a -> b -> c", levels))
    b <- b[b$norm != "printed", ]
    expect_true(all(ifelse(b$side == "above", b$bound >= b$exact - 1e-9, b$bound <= b$exact + 1e-9)))
    t1 <- matrix(rnorm(9), 3)
    t2 <- t1 + matrix(rnorm(9), 3)
    b <- lipschitz_bounds(model_given("ising", t1 + t(t1), "spin"), model_given("ising", t2 + t(t2), "spin"))
    b <- b[b$norm != "printed", ]
    expect_true(all(ifelse(b$side == "above", b$bound >= b$exact - 1e-9, b$bound <= b$exact + 1e-9)))
  }
  a <- model_given("gaussian", precision = diag(2))
  d <- model_given("gaussian", precision = 3 * diag(2))
  b <- lipschitz_bounds(a, d)
  be <- model_distance(a, d, "bayes_error", n_draws = 1e5)
  below <- b[b$quantity == "bayes_error" & b$side == "below", ]
  expect_true(all(below$bound < be$value + 5 * be$se))
  # closed form of BB against integration over the squared radius
  dist <- 4
  bb <- exp(-dist / 2) * (mean(exp(-dist * rchisq(2e5, 2) / 2)) + mean(exp(-dist * rchisq(2e5, 2) / 6)))
  expect_equal(below$bound[1], bb / 4, tolerance = 0.02)
  huge <- lipschitz_bounds(model_given("gaussian", precision = diag(1e-3, 50)), model_given("gaussian", precision = diag(1e3, 50)))
  expect_true(all(is.finite(huge$log_bound[huge$bound_name %in% c("BB / 4", "factor graph, loose")])))
  expect_error(lipschitz_bounds(a, model_given("gaussian", c(1, 0), precision = diag(2))), "equal means", class = "granary_error_input")
  expect_output(print(lipschitz_bounds(a, d, "nuclear")), "tight")
})

test_that("constants bound finite differences of the log density", {
  set.seed(9)
  h <- 1e-6
  for (rep in 1:20) {
    o <- random_precision(3)
    a <- min(eigen(o)$values)
    x <- rnorm(3)
    f <- function(m) 0.5 * log(det(m)) - 0.5 * sum(x * (m %*% x))
    g <- matrix(0, 3, 3)
    for (i in 1:3) for (j in 1:3) {
      e <- matrix(0, 3, 3)
      e[i, j] <- e[i, j] + h / 2
      e[j, i] <- e[j, i] + h / 2
      g[i, j] <- (f(o + e) - f(o - e)) / (2 * h)
    }
    expect_lte(max(abs(eigen((g + t(g)) / 2)$values)), lipschitz_constant(rbind(x), "precision", alpha = a)$K + 1e-5)
    w <- rnorm(3)
    y <- rnorm(1)
    gradient <- (y - sum(w * x)) * x
    expect_lte(sqrt(sum(gradient^2)), lipschitz_constant(rbind(x), "gaussian_cpd", y = y, beta = sqrt(sum(w^2)))$K + 1e-10)
  }
  expect_identical(lipschitz_constant(diag(2), "factor")$K, c(2, 2))
  expect_error(lipschitz_constant(diag(2), "precision"), "`alpha`", class = "granary_error_input")
})

test_that("norm bounds of estimates hold, and the ridge bound is attained", {
  set.seed(10)
  s <- cov(matrix(rnorm(60), 12))
  for (rho in c(0.01, 0.3, 2)) {
    e <- range(eigen(solve(s + rho * diag(5)))$values)
    b <- precision_bounds(s, rho)
    expect_true(b[["lower"]] <= e[1] + 1e-12 && e[2] <= b[["upper"]] + 1e-12)
    e <- range(eigen(as.matrix(ggm_lasso(S = s, lambda = rho)))$values)
    b <- precision_bounds(s, rho, "glasso")
    expect_true(b[["lower"]] <= e[1] && e[2] <= b[["upper"]])
    x <- sqrt(rho) * qr.Q(qr(matrix(rnorm(24), 8)))
    y <- drop(x %*% rnorm(3))
    w <- solve(crossprod(x) + rho * diag(3), crossprod(x, y))
    expect_equal(sqrt(sum(w^2)), ridge_bound(y, rho))
  }
  expect_error(precision_bounds(-diag(2), 1), "semi-definite", class = "granary_error_input")
})

test_that("an Ising fit is a model, with its own divergence", {
  set.seed(31)
  a <- sim_ising(p = 5)
  b <- ising_model(a$W / 2, a$b + 0.1)
  expect_equal(model_distance(ising_model(a$W, a$b), b)$value, assess(b, truth = ising_model(a$W, a$b))$kl, tolerance = 1e-9)
})
