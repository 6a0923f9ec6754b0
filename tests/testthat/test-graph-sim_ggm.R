types <- c("chain", "band", "random", "block", "hub", "cluster", "scale_free", "grid")

smallest <- function(m) min(eigen(as.matrix(m), symmetric = TRUE, only.values = TRUE)$values)
pattern <- function(sim) {
  m <- as.matrix(sim$precision) != 0
  diag(m) <- FALSE
  unname(m)
}

test_that("every type is symmetric and positive definite, at any size", {
  set.seed(1)
  for (type in types) for (p in c(1, 2, 3, 5, 30)) {
    sim <- sim_ggm(type, p = p, n = 2, block = p, groups = min(2, p), rows = 3)
    expect_s3_class(sim, "granary_sim_ggm")
    expect_s4_class(sim$precision, "dgCMatrix")
    expect_identical(as.matrix(sim$precision), t(as.matrix(sim$precision)))
    expect_gt(smallest(sim$precision), 0)
    expect_identical(dim(sim$data), c(2L, as.integer(p)))
    expect_identical(colnames(sim$data), paste0("V", seq_len(p)))
    expect_true(all(is.finite(sim$data)))
  }
})

test_that("the patterns are what the help page says", {
  set.seed(2)
  chain <- as.matrix(sim_ggm("chain", p = 6)$precision)
  expect_identical(unname(chain), toeplitz(c(1.25, -0.5, 0, 0, 0, 0)))
  band <- sim_ggm("band", p = 8, width = 3)
  m <- unname(as.matrix(band$precision))
  expect_equal(m[cbind(1:7, 2:8)], rep(-0.5, 7))
  expect_equal(m[cbind(1:5, 4:8)], rep(-0.5 / 3, 5))
  expect_identical(pattern(band), abs(row(m) - col(m)) <= 3 & row(m) != col(m))
  expect_equal(smallest(m), 0.4, tolerance = 1e-8)

  hub <- pattern(sim_ggm("hub", p = 12, groups = 3))
  expect_identical(sort(colSums(hub)), c(rep(1, 9), rep(3, 3)))
  expect_identical(which(colSums(hub) == 3), c(1L, 5L, 9L))
  cluster <- pattern(sim_ggm("cluster", p = 12, groups = 3, density = 1))
  expect_identical(cluster, unname(as.matrix(Matrix::bdiag(rep(list(!diag(4)), 3)))) != 0)
  expect_identical(sum(pattern(sim_ggm("cluster", p = 12, groups = 3, density = 0))), 0L)
  tree <- pattern(sim_ggm("scale_free", p = 25))
  expect_identical(sum(tree) / 2, 24)
  expect_true(all(rowSums(tree * lower.tri(tree))[-1] == 1))  # one edge to an older node: a tree
  grid <- pattern(sim_ggm("grid", p = 12, rows = 3))
  at <- expand.grid(r = 1:3, c = 1:4)
  expect_identical(grid, unname(as.matrix(dist(at, "manhattan")) == 1))
  block <- sim_ggm("block", p = 30, block = 10)
  whole <- as.matrix(block$precision)
  expect_identical(unname(whole[1:10, 1:10]), unname(whole[21:30, 21:30]))
  expect_true(all(whole[1:10, 11:30] == 0))
})

test_that("drawn edges lie in +-[0.25, 0.6] with both signs, and the smallest eigenvalue is the shift", {
  set.seed(3)
  for (type in c("hub", "cluster", "scale_free", "grid")) {
    sim <- sim_ggm(type, p = 60, groups = 4, shift = 0.7)
    values <- as.matrix(sim$precision)[pattern(sim)]
    expect_true(all(abs(values) >= 0.25 & abs(values) <= 0.6))
    expect_true(any(values > 0) && any(values < 0))
    expect_equal(smallest(sim$precision), 0.7, tolerance = 1e-6)
  }
})

test_that("the random type is U'U + c I with about ten p entries", {
  set.seed(4)
  sim <- sim_ggm("random", p = 400, shift = 0.25)
  m <- as.matrix(sim$precision)
  expect_equal(unname(diag(m)), rep(3.25, 400))
  expect_true(all(m[pattern(sim)] == round(m[pattern(sim)])))
  expect_gte(smallest(m), 0.25 - 1e-10)
  # a pair of columns shares a row with probability about 9 / p
  expect_equal(sum(m != 0) / 400, 10, tolerance = 0.1)
})

test_that("unit_variance rescales and keeps the pattern", {
  for (type in types) {
    set.seed(5)
    plain <- sim_ggm(type, p = 12, block = 6, rows = 4)
    set.seed(5)
    unit <- sim_ggm(type, p = 12, block = 6, rows = 4, unit_variance = TRUE)
    expect_equal(unname(diag(solve(as.matrix(unit$precision)))), rep(1, 12), tolerance = 1e-10)
    expect_identical(pattern(unit), pattern(plain))
    expect_equal(cov2cor(as.matrix(unit$precision)), cov2cor(as.matrix(plain$precision)), tolerance = 1e-10)
  }
})

test_that("the data have mean zero and the inverse covariance asked for", {
  set.seed(6)
  n <- 20000
  sim <- sim_ggm("scale_free", p = 8, n = n)
  Sigma <- solve(as.matrix(sim$precision))
  expect_lt(max(abs(colMeans(sim$data)) / sqrt(diag(Sigma) / n)), 4.5)
  se <- sqrt((outer(diag(Sigma), diag(Sigma)) + Sigma^2) / n)
  expect_lt(max(abs(cov(sim$data) - Sigma) / se), 4.5)
  # a normal: squared distances are chi-squared
  distance <- rowSums((sim$data %*% as.matrix(sim$precision)) * sim$data)
  expect_gt(ks.test(distance, "pchisq", df = 8)$p.value, 1e-4)
})

test_that("set.seed() decides", {
  for (type in types) {
    set.seed(7)
    one <- sim_ggm(type, p = 12, n = 4, block = 6, rows = 4)
    set.seed(7)
    expect_identical(sim_ggm(type, p = 12, n = 4, block = 6, rows = 4), one)
    expect_false(identical(sim_ggm(type, p = 12, n = 4, block = 6, rows = 4)$data, one$data))
  }
  expect_null(sim_ggm("chain", p = 3)$data)
  expect_output(print(one), "grid.*12 variables, 17 edges, n = 4")
})

test_that("impossible requests are named", {
  bad <- function(call, message) expect_error(call, message, class = "granary_error_input")
  bad(sim_ggm("star"), "`type`")
  bad(sim_ggm(p = 0), "`p`")
  bad(sim_ggm(p = 2.5), "`p`")
  bad(sim_ggm(p = 1e6), "`p`")
  bad(sim_ggm(n = 0), "`n`")
  bad(sim_ggm("hub", p = 4, groups = 5), "`groups`")
  bad(sim_ggm("cluster", density = 1.5), "`density`")
  bad(sim_ggm("block", p = 100), "`p` must be a multiple of `block`")
  bad(sim_ggm("random", shift = 0), "`shift`")
  bad(sim_ggm("band", width = 0), "`width`")
  bad(sim_ggm("grid", rows = -1), "`rows`")
  bad(sim_ggm(unit_variance = NA), "`unit_variance`")
})
