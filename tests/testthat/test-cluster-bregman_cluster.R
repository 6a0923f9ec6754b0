test_that("squared distance is k-means: labels and sums of squares of stats::kmeans from the same centres", {
  set.seed(1)
  x <- as.matrix(iris[1:4])
  centers <- x[c(10, 70, 120), ]
  ours <- bregman_cluster(x, k = 3, divergence = "squared", start = centers)
  theirs <- stats::kmeans(x, centers, algorithm = "Lloyd", iter.max = 100)
  expect_equal(ours$cluster, theirs$cluster, ignore_attr = TRUE)
  expect_equal(ours$within * 150, theirs$tot.withinss)
  expect_equal(ours$total * 150, theirs$totss)
  expect_equal(ours$total, ours$within + ours$between)
  expect_equal(ours$centers, theirs$centers, ignore_attr = TRUE)
  expect_equal(as.vector(ours$sizes), theirs$size)
  labelled <- bregman_cluster(x, k = 3, divergence = "squared", start = theirs$cluster)
  expect_equal(labelled$within, ours$within)
})

test_that("soft clusters have the likelihood of the mixture, and one cluster that of the law", {
  set.seed(2)
  y <- cbind(a = rpois(120, rep(c(2, 9), 60)))
  fit <- bregman_cluster(y, k = 2, divergence = "poisson", type = "soft", tol = 1e-12)
  density <- fit$share[1] * dpois(y[, 1], fit$centers[1, 1]) + fit$share[2] * dpois(y[, 1], fit$centers[2, 1])
  expect_equal(as.double(logLik(fit)), sum(log(density)), tolerance = 1e-10)
  expect_equal(attr(logLik(fit), "df"), 3)
  one <- bregman_cluster(y, k = 1, divergence = "poisson", type = "soft")
  expect_equal(one$loglik, sum(dpois(y[, 1], mean(y), log = TRUE)), tolerance = 1e-10)
  laws <- list(
    list("bernoulli", matrix(rbinom(60, 1, 0.4), 30), function(x, m) dbinom(x, 1, m, log = TRUE)),
    list(bregman_family("binomial", 9), matrix(rbinom(60, 9, 0.4), 30), function(x, m) dbinom(x, 9, m / 9, log = TRUE)),
    list(bregman_family("gaussian", 2), matrix(rnorm(60), 30), function(x, m) dnorm(x, m, sqrt(2), log = TRUE)),
    list("exponential", matrix(rexp(60), 30), function(x, m) dexp(x, 1 / m, log = TRUE)),
    list(bregman_family("gamma", 3), matrix(rgamma(60, 3), 30), function(x, m) dgamma(x, 3, scale = m / 3, log = TRUE)),
    list(bregman_family("negbinomial", 2), matrix(rnbinom(60, 2, 0.3), 30), function(x, m) dnbinom(x, size = 2, mu = m, log = TRUE))
  )
  for (law in laws) {
    fit <- bregman_cluster(law[[2]], k = 1, divergence = law[[1]], type = "soft")
    means <- matrix(colMeans(law[[2]]), 30, 2, byrow = TRUE)
    expect_equal(fit$loglik, sum(law[[3]](law[[2]], means)), tolerance = 1e-8, info = fit$divergence$label)
  }
  counts <- t(rmultinom(40, 12, c(0.5, 0.3, 0.2)))
  multi <- bregman_cluster(counts, k = 1, divergence = "multinomial", type = "soft")
  expect_equal(multi$loglik, sum(apply(counts, 1, dmultinom, prob = colMeans(counts) / 12, log = TRUE)), tolerance = 1e-8)
  expect_equal(multi$df, 2)
})

test_that("components are recovered over several seeds", {
  for (seed in 1:4) {
    set.seed(seed)
    sim <- sim_bregman(600, cbind(a = c(2, 10, 25), b = c(20, 5, 12)), "poisson")
    fit <- bregman_cluster(sim$x, k = 3, divergence = "poisson", type = "soft")
    found <- cluster_agreement(fit, sim$cluster)
    expect_gt(found$accuracy, 0.97)
    order <- order(fit$centers[, "a"])
    expect_equal(unname(fit$centers[order, ]), unname(sim$centers), tolerance = 0.1)
    expect_true(fit$convergence$converged)
  }
})

test_that("one column is solved exactly, as Ckmeans.1d.dp does for squares", {
  set.seed(3)
  x <- c(rnorm(40), rnorm(40, 4), rnorm(20, 9))
  fit <- bregman_cluster(x, k = 4, divergence = "squared")
  expect_true(fit$exact)
  lloyd <- min(vapply(1:50, function(i) bregman_cluster(x, k = 4, divergence = "squared", exact = FALSE, n_starts = 1)$within, 0))
  expect_lte(fit$within, lloyd + 1e-12)
  skip_if_not_installed("Ckmeans.1d.dp")
  theirs <- getExportedValue("Ckmeans.1d.dp", "Ckmeans.1d.dp")(x, 4)
  expect_equal(fit$within * 100, theirs$tot.withinss)
})

test_that("columns are matched by name, rows keep their order, weights are repeated rows, and mixed columns add up", {
  set.seed(4)
  x <- cbind(a = rpois(50, 5), b = rbinom(50, 1, 0.3), c = rnorm(50))
  kinds <- list(c = "gaussian", a = "poisson", b = "bernoulli")
  set.seed(9)
  fit <- bregman_cluster(x, k = 2, divergence = kinds, smooth = 1e-6)
  set.seed(9)
  turned <- bregman_cluster(x[, c("c", "a", "b")], k = 2, divergence = kinds, smooth = 1e-6)
  expect_equal(turned$within, fit$within)
  expect_equal(turned$centers[, c("a", "b", "c")], fit$centers)
  expect_equal(predict(fit, x[, 3:1]), predict(fit, x))
  expect_equal(predict(fit, x), fit$cluster)
  expect_error(predict(fit, cbind(x[, 1:2], d = 1)), class = "granary_error_input")
  parts <- bregman_divergence(x[1:3, "a", drop = FALSE], x[4, "a", drop = FALSE] + 1, "poisson") + bregman_divergence(x[1:3, "c", drop = FALSE], x[4, "c", drop = FALSE])
  expect_equal(bregman_divergence(x[1:3, c("a", "c")], rbind(c(a = x[[4, "a"]] + 1, c = x[[4, "c"]])), list(a = "poisson", c = "gaussian")), parts, ignore_attr = TRUE)
  w <- rep(1:2, 25)
  start <- x[c(1, 9), ]
  start[start == 0] <- 0.5
  weighted <- bregman_cluster(x, k = 2, divergence = kinds, weights = w, start = start, smooth = 1e-6)
  repeated <- bregman_cluster(x[rep(1:50, w), ], k = 2, divergence = kinds, start = start, smooth = 1e-6)
  expect_equal(weighted$within, repeated$within)
  expect_equal(weighted$centers, repeated$centers)
  expect_equal(sum(weighted$sizes), sum(w))
})

test_that("sparse is dense, threads and seeds do not matter beyond set.seed(), and scales scale", {
  set.seed(5)
  x <- matrix(rpois(4000, 0.3), 200)
  run <- function(x, ...) {
    set.seed(1)
    bregman_cluster(x, k = 3, divergence = "poisson", smooth = 1e-4, ...)
  }
  dense <- run(x)
  sparse <- run(Matrix::Matrix(x, sparse = TRUE))
  expect_equal(sparse$within, dense$within)
  expect_equal(sparse$cluster, dense$cluster)
  expect_identical(run(x, threads = 2)$centers, run(x, threads = 1)$centers)
  y <- as.matrix(iris[1:4])
  for (scale in c(1e-8, 1e8)) {
    set.seed(2)
    big <- bregman_cluster(y * scale, k = 3, divergence = "squared")
    set.seed(2)
    plain <- bregman_cluster(y, k = 3, divergence = "squared")
    expect_equal(big$within / scale^2, plain$within)
    expect_equal(big$cluster, plain$cluster)
  }
})

test_that("left-sided centres are geometric means, predict in the dual, and are refused for soft clusters", {
  set.seed(6)
  x <- matrix(rexp(60) + 0.1, 20)
  fit <- bregman_cluster(x, k = 2, divergence = "poisson", side = "left")
  expect_equal(predict(fit, x), fit$cluster, ignore_attr = TRUE)
  expect_equal(unname(fit$centers[1, ]), unname(exp(colMeans(log(x[fit$cluster == 1, , drop = FALSE])))))
  expect_error(bregman_cluster(x, k = 2, type = "soft", side = "left"), "right side", class = "granary_error_input")
})

test_that("own divergences are checked and cluster as the built-in ones", {
  at <- matrix(c(1, 2, 3, 0.5, 1.5, 2.5), 3)
  entropy <- bregman_family(phi = function(x) x * log(x) - x, gradient = log, inverse = exp, at = at)
  set.seed(7)
  x <- matrix(rexp(80) + 0.1, 40)
  expect_equal(bregman_divergence(x[1:4, ], x[5:6, ], entropy), bregman_divergence(x[1:4, ], x[5:6, ], "poisson"))
  own <- bregman_cluster(x, k = 2, divergence = entropy, start = x[1:2, ])
  expect_equal(own$within, bregman_cluster(x, k = 2, divergence = "poisson", start = x[1:2, ])$within)
  expect_error(bregman_family(phi = function(x) x^2, gradient = function(x) x, at = at), "differences of `phi`", class = "granary_error_input")
  expect_error(bregman_family(phi = function(x) -x^2, gradient = function(x) -2 * x, at = at), "convex", class = "granary_error_input")
  expect_error(bregman_family(phi = function(x) x^2, gradient = function(x) 2 * x, inverse = identity, at = at), "lead back", class = "granary_error_input")
  expect_error(bregman_family(phi = 3, gradient = log), "function", class = "granary_error_input")
  expect_error(bregman_divergence(x, divergence = bregman_family(phi = function(x) "a", gradient = identity)), "one number per row", class = "granary_error_input")
  whitened <- bregman_family("mahalanobis", matrix(c(2, 0.5, 0.5, 1), 2))
  d <- bregman_divergence(x[1:2, ], divergence = whitened)
  v <- x[1, ] - x[2, ]
  expect_equal(d[1, 2], drop(v %*% matrix(c(2, 0.5, 0.5, 1), 2) %*% v))
  expect_error(bregman_family("mahalanobis", matrix(c(1, 2, 2, 1), 2)), "positive definite", class = "granary_error_input")
})

test_that("bregman_check() knows divergences from distances", {
  x <- matrix(c(1, 2, 3, 0.5, 1.5, 2.5), 3)
  expect_true(bregman_check(function(x, y) sum((x - y)^2), x)$bregman)
  expect_true(bregman_check(function(x, y) sum(x / y - log(x / y) - 1), x)$bregman)
  expect_false(bregman_check(function(x, y) sum(abs(x - y)), x)$bregman)
  expect_false(bregman_check(function(x, y) sqrt(sum((x - y)^2)), x)$bregman)
  expect_error(bregman_check(function(x, y) c(1, 2), x), "one number", class = "granary_error_input")
})

test_that("information is variance, mutual information and Jensen-Shannon divergence", {
  set.seed(8)
  y <- rnorm(30)
  expect_equal(bregman_information(y, divergence = "squared")$total, mean((y - mean(y))^2))
  joint <- apply(HairEyeColor, 1:2, sum) / sum(HairEyeColor)
  mutual <- sum(joint * log(joint / outer(rowSums(joint), colSums(joint))))
  found <- bregman_information(joint / rowSums(joint), divergence = "multinomial", weights = rowSums(joint))
  expect_equal(found$total, mutual)
  p <- c(0.2, 0.8)
  q <- c(0.6, 0.4)
  entropy <- function(p) -sum(p * log(p))
  expect_equal(bregman_information(rbind(p, q), divergence = "multinomial")$total, entropy((p + q) / 2) - (entropy(p) + entropy(q)) / 2)
  groups <- bregman_information(iris[1:4], iris$Species, divergence = "squared")
  expect_equal(groups$total, groups$within + groups$between)
  expect_equal(sum(groups$parts), groups$within)
})

test_that("rate-distortion: nothing below the critical beta, then rising; fixed support is convex; the bottleneck keeps what its groups tell", {
  set.seed(9)
  curve <- rate_distortion(faithful, k = 3, divergence = bregman_family("gaussian", 50))
  expect_lt(curve$table$rate[1], 1e-4)
  expect_equal(curve$table$k[1], 1)
  expect_true(all(diff(curve$table$rate) > -1e-6))
  expect_true(all(diff(curve$table$distortion) < 1e-6 * curve$total))
  expect_equal(curve$critical, 50 / max(eigen(cov(faithful) * 271 / 272)$values), tolerance = 1e-5)
  fixed <- rate_distortion(faithful, divergence = bregman_family("gaussian", 50), beta = c(1, 5), support = faithful[c(1, 2, 3), ])
  expect_equal(unname(fixed$centers), unname(as.matrix(faithful[1:3, ])))
  expect_error(rate_distortion(faithful, k = 2, beta = c(2, 1)), "increase", class = "granary_error_input")
  expect_error(rate_distortion(matrix(1, 5, 2), k = 2), "vary", class = "granary_error_input")
  table <- apply(HairEyeColor, 1:2, sum)
  hard <- information_bottleneck(table, k = 2, type = "hard")
  joint <- table / sum(table)
  grouped <- rowsum(joint, hard$cluster)
  mutual <- function(p) sum(p * log(p / outer(rowSums(p), colSums(p))))
  expect_equal(hard$information[["group_y"]], mutual(grouped))
  expect_equal(hard$information[["xy"]], mutual(joint))
  soft <- information_bottleneck(table, k = 3, beta = 30)
  expect_equal(soft$information[["group_y"]], mutual(t(soft$membership) %*% joint), tolerance = 1e-4)
  expect_error(information_bottleneck(rbind(c(1, 2), 0), k = 1), "row 2", class = "granary_error_input")
  expect_error(information_bottleneck(rbind(c(1, -2), 1), k = 1), "negative", class = "granary_error_input")
})

test_that("simulate() draws from the mixture and leaves the session's stream alone", {
  set.seed(10)
  sim <- sim_bregman(400, rbind(c(2, 3), c(10, 12)), "poisson")
  fit <- bregman_cluster(sim$x, k = 2, divergence = "poisson", type = "soft")
  state <- .Random.seed
  one <- simulate(fit, seed = 1)[[1]]
  expect_identical(.Random.seed, state)
  expect_identical(one, simulate(fit, seed = 1)[[1]])
  expect_equal(unname(colMeans(one)), colMeans(sim$x), tolerance = 0.15)
  expect_error(simulate(bregman_cluster(sim$x, k = 2)), class = "granary_error_input")
  words <- sim_bregman(50, rbind(c(0.5, 0.3, 0.2), c(0.1, 0.1, 0.8)), "multinomial", size = 30)
  expect_true(all(rowSums(words$x) == 30))
})

test_that("what cannot be is refused in a sentence", {
  x <- matrix(c(1, 2, 3, 4, 5, 6), 3)
  expect_error(bregman_cluster(x, k = 4), "at most the number of rows, 3, not 4", class = "granary_error_input")
  expect_error(bregman_cluster(x, k = 0), class = "granary_error_input")
  expect_error(bregman_cluster(replace(x, 2, NA), k = 2), class = "granary_error_input")
  expect_error(bregman_cluster(replace(x, 2, Inf), k = 2), class = "granary_error_input")
  expect_error(bregman_cluster(-x, k = 2, divergence = "poisson"), "not negative", class = "granary_error_input")
  expect_error(bregman_cluster(replace(x, 5, 0), k = 2, divergence = "exponential"), "row 2 of column 2", class = "granary_error_input")
  expect_error(bregman_cluster(x, k = 2, divergence = "multinomial"), "equal sums", class = "granary_error_input")
  expect_error(bregman_cluster(x + 0.5, k = 2, divergence = "poisson", type = "soft"), "whole numbers", class = "granary_error_input")
  expect_error(bregman_cluster(x, k = 2, divergence = "binomial"), "size N", class = "granary_error_input")
  expect_error(bregman_cluster(x, k = 2, divergence = "euclid"), class = "granary_error_input")
  expect_error(bregman_cluster(x, k = 2, divergence = list("gaussian")), "one entry per column", class = "granary_error_input")
  expect_error(bregman_cluster(x, k = 2, weights = c(1, -1, 1)), class = "granary_error_input")
  expect_error(bregman_cluster(x, k = 2, weights = c(0, 0, 0)), class = "granary_error_input")
  expect_error(bregman_cluster(x, k = 2, beta = 2), "soft", class = "granary_error_input")
  expect_error(bregman_cluster(x, k = 2, start = matrix(0, 1, 2)), "2 centres", class = "granary_error_input")
  expect_error(bregman_cluster(x, k = 2, start = c(1, 1, 1)), "2 different labels", class = "granary_error_input")
})

test_that("one row, one cluster, equal rows, duplicated rows", {
  one <- bregman_cluster(matrix(c(1, 2), 1), k = 1)
  expect_equal(one$within, 0)
  expect_equal(unname(one$centers[1, ]), c(1, 2))
  expect_warning(flat <- bregman_cluster(matrix(3, 6, 2), k = 2, exact = FALSE), "no row")
  expect_true(flat$convergence$converged)
  expect_equal(flat$within, 0)
  twice <- as.matrix(iris[1:4])
  set.seed(1)
  a <- bregman_cluster(twice, k = 3, start = twice[c(1, 60, 120), ])
  b <- bregman_cluster(rbind(twice, twice), k = 3, start = twice[c(1, 60, 120), ])
  expect_equal(a$within, b$within)
})

test_that("data far from zero keep their digits: soft, Mahalanobis and rate-distortion", {
  set.seed(1)
  x <- rbind(matrix(rnorm(60), 20), matrix(rnorm(60, 6), 20), matrix(rnorm(60, 12), 20))
  start <- x[c(1, 21, 41), ]
  a <- diag(3) + 0.2
  near <- bregman_cluster(x, 3, type = "soft", start = start)
  curve <- rate_distortion(x, 3, beta = c(0.01, 0.1, 1))$table
  for (far in c(1e6, 1e8)) {
    fit <- bregman_cluster(x + far, 3, type = "soft", start = start + far)
    expect_true(fit$convergence$converged)
    expect_equal(fit$loglik, near$loglik, tolerance = 1e-7)
    expect_equal(bregman_cluster(x + far, 3, bregman_family("mahalanobis", a), start = start + far)$within,
                 bregman_cluster(x, 3, bregman_family("mahalanobis", a), start = start)$within, tolerance = 1e-6)
    expect_equal(rate_distortion(x + far, 3, beta = c(0.01, 0.1, 1))$table$distortion, curve$distortion, tolerance = 1e-6)
  }
})

test_that("soft clusters that are called converged solve their equations", {
  mixing <- function(x, fit, d) {
    m <- sapply(seq_along(fit$share), function(h) log(fit$share[h]) - rowSums(d(x, rep(fit$centers[h, ], each = nrow(x)))))
    exp(m - apply(m, 1, max)) / rowSums(exp(m - apply(m, 1, max)))
  }
  set.seed(1)
  flowers <- as.matrix(iris[1:4])
  fit <- bregman_cluster(flowers, 3, type = "soft")
  expect_true(fit$convergence$converged)
  p <- mixing(flowers, fit, function(x, m) (x - m)^2 / 2)
  expect_lt(max(abs(crossprod(p, flowers) / colSums(p) - fit$centers)), 1e-5)
  expect_lt(max(abs(colMeans(p) - fit$share)), 1e-6)
  counts <- matrix(rpois(240, rep(c(3, 6), each = 120)), 80)
  fit <- bregman_cluster(counts, 2, "poisson", type = "soft")
  expect_true(fit$convergence$converged)
  p <- mixing(counts, fit, function(x, m) ifelse(x > 0, x * log(x / m), 0) - x + m)
  expect_lt(max(abs(crossprod(p, counts) / colSums(p) - fit$centers)), 1e-5)
  expect_true(all(diff(fit$trace) > -1e-10))
  expect_warning(stopped <- bregman_cluster(flowers, 3, type = "soft", max_iter = 5), "NOT converged")
  expect_false(stopped$convergence$converged)
})

test_that("memberships of the information bottleneck are a fixed point to 1e-10", {
  joint <- apply(HairEyeColor, 1:2, sum)
  joint <- joint / sum(joint)
  px <- rowSums(joint)
  given <- joint / px
  for (beta in c(1, 5, 20)) {
    set.seed(1)
    fit <- information_bottleneck(joint, 2, beta = beta)
    expect_true(fit$convergence$converged)
    m <- fit$membership
    share <- colSums(px * m)
    py <- t(m * px) %*% given / share
    kl <- sapply(1:2, function(h) rowSums(given * log(given / rep(py[h, ], each = 4))))
    next_m <- exp(rep(log(share), each = 4) - beta * kl)
    expect_lt(max(abs(next_m / rowSums(next_m) - m)), 1e-9)
    expect_gte(fit$information[["group_y"]], 0)
  }
  expect_error(information_bottleneck(joint - 0.01, 2), "must not be negative, but it has -.* at row", class = "granary_error_input")
})

test_that("left-sided multinomial centres are normalised geometric means", {
  set.seed(1)
  x <- t(rmultinom(60, 40, c(0.3, 0.3, 0.4)))
  fit <- bregman_cluster(x, 2, "multinomial", side = "left")
  geometric <- t(sapply(1:2, function(h) exp(colMeans(log(x[fit$cluster == h, ])))))
  expect_equal(unname(fit$centers), 40 * geometric / rowSums(geometric), tolerance = 1e-10)
  kl <- sapply(1:60, function(i) sum(fit$centers[fit$cluster[i], ] * log(fit$centers[fit$cluster[i], ] / x[i, ])))
  expect_equal(fit$within, mean(kl))
  expect_equal(fit$total, fit$within + fit$between)
  expect_identical(predict(fit, x), fit$cluster)
  expect_error(bregman_cluster(matrix(rbinom(60, 1, 0.4), 20), 2, "bernoulli", side = "left"), "inside the domain",
               class = "granary_error_input")
})

test_that("the Mahalanobis divergence has its normal law, and knows its columns", {
  set.seed(1)
  x <- matrix(rnorm(90), 30)
  a <- crossprod(matrix(rnorm(9), 3)) + diag(3)
  fit <- bregman_cluster(x, 1, bregman_family("mahalanobis", a), type = "soft")
  apart <- sweep(x, 2, colMeans(x))
  expect_equal(fit$loglik, sum(-rowSums((apart %*% a) * apart)) + 30 * (log(det(a)) / 2 - 1.5 * log(pi)))
  drawn <- simulate(bregman_cluster(x[rep(1:30, 700), ], 1, bregman_family("mahalanobis", a), type = "soft"), seed = 1)[[1]]
  expect_equal(unname(cov(drawn)), solve(2 * a), tolerance = 0.05)
  expect_equal(rate_distortion(x, 2, bregman_family("mahalanobis", a))$critical, 1 / max(Re(eigen(2 * a %*% cov(x) * 29 / 30)$values)),
               tolerance = 1e-6)
  expect_error(bregman_divergence(matrix(1, 2, 4), divergence = bregman_family("mahalanobis", a)), "3 x 3, but the rows have 4",
               class = "granary_error_input")
})

test_that("the scale of the data does not change Itakura-Saito clusters", {
  set.seed(2)
  x <- matrix(rexp(90, 1 / rep(c(1, 5, 20), each = 10)), 30) + 0.01
  fits <- lapply(c(2^-27, 1, 2^27), function(s) {
    set.seed(3)
    bregman_cluster(s * x, 3, "exponential")
  })
  expect_identical(fits[[1]]$cluster, fits[[2]]$cluster)
  expect_identical(fits[[3]]$cluster, fits[[2]]$cluster)
})
