cube <- function(names) stats::setNames(expand.grid(rep(list(0:1), length(names))), names)

random_dag <- function(p, prob) {
  m <- matrix(0, p, p, dimnames = rep(list(letters[seq_len(p)]), 2))
  m[upper.tri(m)] <- stats::rbinom(p * (p - 1) / 2, 1, prob)
  as_graph(m, type = if (any(m != 0)) "dag")
}
empty_dag <- function(nodes) as_graph(nodes[1], nodes = nodes)

# log density straight from the definition
log_density <- function(x, graph, cpts) {
  total <- 0
  marks <- as.matrix(graph)
  for (node in names(cpts)) {
    parents <- graph$nodes[marks[, node] == 2 & marks[node, ] == 1]
    pattern <- 1
    stride <- 1
    for (q in parents) {
      pattern <- pattern + stride * x[[q]]
      stride <- stride * 2
    }
    total <- total + log(cpts[[node]][cbind(pattern, x[[node]] + 1)])
  }
  total
}

random_cpts <- function(graph) {
  marks <- as.matrix(graph)
  out <- lapply(graph$nodes, function(node) {
    p <- stats::runif(2^sum(marks[, node] == 2 & marks[node, ] == 1), 0.05, 0.95)
    cbind(1 - p, p)
  })
  stats::setNames(out, graph$nodes)
}

test_that("both bases give the log-odds of any two networks exactly", {
  set.seed(1)
  for (rep in 1:4) {
    g <- random_dag(6, 0.5)
    x <- cube(g$nodes)
    p <- random_cpts(g)
    q <- random_cpts(g)
    odds <- log_density(x, g, p) - log_density(x, g, q)
    for (basis in c("monomial", "indicator")) {
      features <- bn_kernel(x, dag = g, basis = basis, type = "features")
      spec <- granary:::bn_spec(g, rep(2L, 6))
      w <- granary:::core_bn_weights(spec, basis, unname(p), unname(q), 1e6)$weights
      expect_equal(as.double(features %*% w), odds, tolerance = 1e-12)
    }
  }
})

test_that("monomials are independent, both bases span the same space, and |U| is their number", {
  set.seed(2)
  for (rep in 1:4) {
    g <- random_dag(5, 0.5)
    x <- cube(g$nodes)
    mono <- as.matrix(bn_kernel(x, dag = g, type = "features"))
    ind <- as.matrix(bn_kernel(x, dag = g, basis = "indicator", type = "features"))
    d <- bn_bounds("dimension", g)
    expect_identical(qr(mono)$rank, ncol(mono))
    expect_identical(qr(ind)$rank, ncol(mono))
    expect_identical(qr(cbind(mono, ind))$rank, ncol(mono))
    expect_identical(d$monomials, as.double(ncol(mono)))
    expect_true(d$lower <= d$monomials && d$monomials <= ncol(ind))
  }
})

test_that("kernels are the inner products of the features", {
  set.seed(3)
  g <- random_dag(7, 0.4)
  x <- as.data.frame(matrix(rbinom(70, 1, 0.5), 10, dimnames = list(NULL, g$nodes)))
  y <- as.data.frame(matrix(rbinom(35, 1, 0.5), 5, dimnames = list(NULL, g$nodes)))
  for (basis in c("monomial", "indicator")) {
    a <- as.matrix(bn_kernel(x, dag = g, basis = basis, type = "features"))
    b <- as.matrix(bn_kernel(y, dag = g, basis = basis, type = "features"))
    expect_equal(bn_kernel(x, y, g, basis), unname(a %*% t(b)))
    expect_identical(bn_kernel(x, dag = g, basis = basis, threads = 1), bn_kernel(x, dag = g, basis = basis, threads = 2))
  }
  flipped <- x
  flipped$a <- 1 - flipped$a
  expect_equal(bn_kernel(x, dag = g, basis = "symmetric"), bn_kernel(flipped, dag = g, basis = "symmetric"))
})

test_that("factors with more levels and groups of patterns follow the same formulas", {
  x <- expand.grid(a = factor(c("u", "v", "w")), b = factor(c("no", "yes")), c = factor(1:3))
  for (basis in c("monomial", "indicator")) {
    f <- as.matrix(bn_kernel(x, dag = "a -> b -> c", basis = basis, type = "features"))
    expect_equal(bn_kernel(x, dag = "a -> b -> c", basis = basis), unname(tcrossprod(f)))
    expect_identical(qr(f)$rank, as.integer(bn_bounds("dimension", "a -> b -> c", levels = c(3, 2, 3))$monomials))
  }
  groups <- list(b = c(1, 2, 2), c = c(1, 1))
  f <- bn_kernel(x, dag = "a -> b -> c", basis = "indicator", groups = groups, type = "features")
  expect_identical(ncol(f), 3L + 4L + 3L)
  expect_equal(bn_kernel(x, dag = "a -> b -> c", basis = "indicator", groups = groups), unname(tcrossprod(as.matrix(f))))
  expect_error(bn_kernel(x, dag = "a -> b -> c", groups = groups, type = "features"), "indicator", class = "granary_error_input")
  expect_error(bn_kernel(x, dag = "a -> b -> c", basis = "indicator", groups = list(b = c(1, 3, 3)), type = "features"), "unused", class = "granary_error_input")
  expect_error(bn_kernel(x, dag = "a -> b -> c", basis = "indicator", groups = list(b = c(1, 2)), type = "features"), "3 patterns", class = "granary_error_input")
})

test_that("bad data and graphs are named", {
  x <- data.frame(a = c(0, 1), b = c(1, 1))
  expect_error(bn_kernel(data.frame(a = c(0, 2), b = 0:1), dag = "a -> b", type = "features"), "zeros and ones.*row 2 is 2", class = "granary_error_input")
  expect_error(bn_kernel(data.frame(a = c(0, NA), b = 0:1), dag = "a -> b", type = "features"), "missing.*row 2", class = "granary_error_input")
  expect_error(bn_kernel(x, dag = "a -> b; b -> c; c -> a", type = "features"), "cycle a -> b -> c -> a", class = "granary_error_input")
  expect_error(bn_kernel(x, dag = "a -> c", type = "features"), "\"c\" is only in the graph", class = "granary_error_input")
  expect_error(bn_kernel(x, dag = "a -- b", type = "features"), "not directed", class = "granary_error_input")
  expect_error(bn_kernel(data.frame(a = factor(c("x", "x")), b = 0:1), dag = "a -> b", type = "features"), "two levels", class = "granary_error_input")
  expect_warning(bn_kernel(data.frame(a = factor(c("x", "y"), c("x", "y", "z")), b = 0:1), dag = "a -> b", type = "features"), "do not occur",
                 class = "granary_warning_input")
  expect_error(bn_kernel(x, data.frame(a = 1), "a -> b"), "`y` lacks the variable b", class = "granary_error_input")
  big <- as.data.frame(matrix(0:1, 2, 24, dimnames = list(NULL, paste0("v", 1:24))))
  star <- as_graph(data.frame(from = paste0("v", 1:23), to = "v24"), nodes = paste0("v", 1:24))
  expect_error(bn_kernel(big, dag = star, type = "features"), "bn_kernel", class = "granary_error_input")
  expect_equal(bn_kernel(big, dag = star, basis = "monomial")[2, 2], 2^24)
})

test_that("closed forms of the paper", {
  chain <- function(n, k) {
    m <- outer(1:n, 1:n, function(i, j) (j > i & j - i <= k) * 1)
    if (k == 0) empty_dag(paste0("V", 1:n)) else as_graph(m, type = "dag")
  }
  for (n in 1:12) {
    for (k in 0:(n - 1)) expect_equal(bn_bounds("dimension", chain(n, k))$monomials, (n - k + 1) * 2^k)
  }
  d <- bn_bounds("dimension", chain(10, 2))
  expect_equal(c(d$lower, d$upper, d$parameters), c(35, 36, 35))
  expect_equal(bn_bounds("dimension", chain(10, 0))$exact, 11)
  two <- bn_bounds("dimension", as_graph(data.frame(from = rep(c("a", "b"), each = 4), to = c("c", "d", "e", "f"))))
  expect_equal(two$exact, 20)
  expect_equal(bn_bounds("dimension", 8, "logistic")$lower, 28)
  expect_equal(bn_bounds("dimension", 10, "logistic2")$lower, 4)
  expect_equal(bn_bounds("dimension", 5)$exact, 31)
  expect_equal(bn_bounds("dimension", "a -> b", groups = list(b = c(1, 1)))$lower, 2)
  expect_output(print(d), "Markov chain of order 2.*between 35 and 36")
  expect_error(bn_bounds("dimension", "a -> b", "reduced"), "groups", class = "granary_error_input")
})

test_that("brute force agrees with the exact dimensions and refutes Theorem 14 at n = k + 1", {
  expect_identical(bn_bounds("vc", empty_dag("a"))$vc, 1L)
  expect_identical(bn_bounds("vc", empty_dag(c("a", "b")))$vc, 3L)
  expect_identical(bn_bounds("vc", empty_dag(c("a", "b", "c")))$vc, 4L)
  full <- bn_bounds("vc", "a -> b")
  expect_identical(full$vc, 3L)  # the theorem says 4
  expect_identical(nrow(full$concepts), 15L)
  expect_false(any(rowSums(full$concepts) == 0))
  expect_identical(bn_bounds("vc", "a -> b; a -> c")$vc, 6L)  # 2^1 (3 - 1 + 1)
  expect_lt(bn_bounds("vc", "a -> c <- b")$vc, 8L)            # the theorem says 8
  chain <- bn_bounds("vc", "a -> b -> c")$vc
  expect_true(chain >= 5 && chain <= 6)
  # any concept that random tables realise is in the list
  set.seed(4)
  g <- as_graph("a -> b -> c")
  known <- apply(bn_bounds("vc", g)$concepts, 1, paste, collapse = "")
  x <- cube(g$nodes)
  for (rep in 1:100) {
    seen <- log_density(x, g, random_cpts(g)) >= log_density(x, g, random_cpts(g))
    expect_true(paste(seen, collapse = "") %in% known)
  }
  expect_error(bn_bounds("vc", 5), "at most 4", class = "granary_error_input")
})

test_that("every dichotomy of the shattered sets is realised", {
  set.seed(5)
  for (constants in c("small", "paper")) {
    expect_equal(bn_bounds("shatter", "a -> b -> c", constants = constants, all = TRUE)$failures, 0)
    expect_equal(bn_bounds("shatter", "a -> c <- b; c -> d", constants = constants, all = TRUE)$failures, 0)
    expect_equal(bn_bounds("shatter", 5, type = "logistic", constants = constants, all = TRUE)$failures, 0)
  }
  expect_equal(bn_bounds("shatter", empty_dag(letters[1:6]), type = "naive", all = TRUE)$failures, 0)
  big <- bn_bounds("shatter", 9, labels = sample(c(-1, 1), 2^9 - 1, TRUE), constants = "paper")
  expect_true(big$verified)
  # parameters in log2, evaluated by R
  s <- bn_bounds("shatter", "a -> b", labels = c(1, -1, 1))
  odds <- function(x) {
    one <- function(p, q, on) if (on) p - q else log2(1 - 2^p) - log2(1 - 2^q)
    one(s$p$a, s$q$a, x[1]) + one(s$p$b[x[1] + 1], s$q$b[x[1] + 1], x[2])
  }
  expect_equal(apply(s$points, 1, odds), s$log2_odds)
  expect_error(bn_bounds("shatter", "a -> b", labels = c(1, 1)), "labels", class = "granary_error_input")
  expect_error(bn_bounds("shatter", empty_dag("a"), type = "naive"), "n >= 2", class = "granary_error_input")
  expect_output(print(s), "verified")
})

test_that("half-spaces and naive Bayes are inverse to each other, at any scale", {
  p <- c(0.2, 0.7, 1e-8, 0.5, 1 - 1e-6)
  q <- c(0.5, 0.6, 0.3, 0.5, 0.1)
  h <- bn_bounds("halfspace", p, q)
  expect_true(all(h$b > 0 & h$b < 1))
  for (x in 0:1) expect_equal(h$w * (x - h$b), x * log(p / q) + (1 - x) * log((1 - p) / (1 - q)), tolerance = 1e-8)
  back <- bn_bounds("halfspace", slope = h$w, threshold = h$b)
  expect_equal(back$p[-4], p[-4], tolerance = 1e-8)
  expect_equal(back$q[-4], q[-4], tolerance = 1e-8)
  expect_equal(bn_bounds("halfspace", slope = 0, threshold = 0.3)$p, bn_bounds("halfspace", slope = 0, threshold = 0.3)$q)
  expect_error(bn_bounds("halfspace", 1, 0.5), "less than 1", class = "granary_error_input")
})

test_that("the parity network computes parity", {
  for (a in list(c(1, 0, 1, 1), c(0, 0), 1, rep(1, 8))) {
    x <- as.matrix(expand.grid(rep(list(0:1), length(a))))
    odds <- predict(bn_bounds("parity", a))
    expect_equal(sign(odds), (-1)^drop(x %*% a))
    expect_gt(min(abs(odds)), log(2))
  }
})

test_that("sign rank: Hadamard, identity-like signs, and the factors certify", {
  set.seed(6)
  h <- Reduce(kronecker, rep(list(matrix(c(1, 1, 1, -1), 2)), 4))
  b <- bn_bounds("sign_rank", h)
  expect_equal(b$forster, 4)
  expect_lte(b$lower, b$upper)
  expect_identical(unname(sign(b$left %*% t(b$right))), h)
  s <- 2 * diag(8) - 1  # half-planes: sign rank 3 at most
  b <- bn_bounds("sign_rank", s)
  expect_lte(b$upper, 3)
  expect_identical(unname(sign(b$left %*% t(b$right))), s)
  expect_identical(bn_bounds("sign_rank", matrix(1, 3, 4))$upper, 1L)
  all <- 2 * as.matrix(expand.grid(rep(list(0:1), 3))) - 1
  expect_identical(bn_bounds("sign_rank", unname(all))$vc, 3L)
  expect_error(bn_bounds("sign_rank", matrix(0, 2, 2)), "1 and -1", class = "granary_error_input")
})
