two <- function(delta) list(family = "gaussian", means = rbind(0, delta), covariance = 1, type = "tied")

test_that("coefficients of two normals agree with quadrature made elsewhere", {
  found <- label_accuracy(two(3), known = "covariance", engine = "quadrature", n = 1000)
  expect_equal(found$table$coefficient, c(.938851, .556225, .683034), tolerance = 2e-6)
  expect_equal(found$table$error, found$table$coefficient / 1000)
  expect_equal(label_accuracy(two(3), n = 1000)$table$coefficient, c(1.32377, .823021, .996390), tolerance = 2e-6)
  expect_equal(predict(found, error = 0.001), 939)
})

test_that("order of the coefficients, known parameters, engines, units", {
  set.seed(1)
  fit <- em_fit(iris[1:4], k = 2)
  trust <- label_accuracy(fit, newdata = iris[1:4], alpha = c(1, .5, .1))
  c <- trust$table$coefficient
  expect_true(c[2] <= c[3] && c[3] <= c[4] && c[4] <= c[1])
  expect_true(all(trust$lambda >= 1))
  expect_lte(label_accuracy(fit, newdata = iris[1:4], known = "covariance")$table$coefficient[1], c[1] + 1e-12)
  scaled <- em_fit(iris[1:4] * 1000, k = 2, start = fit$cluster, tol = 1e-12)
  plain <- em_fit(iris[1:4], k = 2, start = fit$cluster, tol = 1e-12)
  expect_equal(label_accuracy(scaled, newdata = iris[1:4] * 1000)$table$coefficient, label_accuracy(plain, newdata = iris[1:4])$table$coefficient, tolerance = 1e-4)
  set.seed(2)
  a <- label_accuracy(two(3), engine = "monte_carlo", n = 100)$table$coefficient
  expect_equal(a, label_accuracy(two(3), engine = "quadrature", n = 100)$table$coefficient, tolerance = 0.05)
  expect_output(print(trust), "Hardest direction")
})

test_that("the observed information is that of the likelihood, by differences", {
  set.seed(3)
  x <- sim_em(400, means = rbind(0, 3))$x
  fit <- em_fit(x, k = 2, covariance = "tied", tol = 1e-13)
  trust <- label_accuracy(fit, newdata = x)
  loglik <- function(w) sum(log(w[1] * dnorm(x, w[2], sqrt(w[4])) + (1 - w[1]) * dnorm(x, w[3], sqrt(w[4]))))
  w <- c(fit$share[1], fit$centers, fit$covariance[[1]])
  score <- t(vapply(seq_along(x), function(i) vapply(1:4, function(j) {
    e <- replace(numeric(4), j, 1e-5)
    f <- function(w) log(w[1] * dnorm(x[i], w[2], sqrt(w[4])) + (1 - w[1]) * dnorm(x[i], w[3], sqrt(w[4])))
    (f(w + e) - f(w - e)) / 2e-5
  }, 0), numeric(4)))
  expect_equal(unname(trust$observed), crossprod(score) / 400, tolerance = 1e-5)
  expect_lt(max(abs(colSums(score))), 0.05)
})

test_that("fits of mclust are read, own scores are taken", {
  own <- list(k = 2, log_joint = function(x, k) dnorm(x[, 1], c(0, 3)[k], log = TRUE),
              score = function(x, k) cbind(c(1, -1)[k] * 2, (k == 1) * x[, 1], (k == 2) * (x[, 1] - 3)))
  set.seed(4)
  x <- sim_em(500, means = rbind(0, 3))$x
  expect_equal(label_accuracy(own, newdata = x)$lambda, label_accuracy(two(3), newdata = x, known = "covariance")$lambda, tolerance = 1e-8)
  skip_if_not_installed("mclust")
  mclustBIC <- mclust::mclustBIC
  peer <- mclust::Mclust(faithful, G = 2, modelNames = "VVV", verbose = FALSE)
  ours <- em_fit(faithful, k = 2, tol = 1e-12)
  expect_equal(label_accuracy(peer)$table$coefficient, label_accuracy(ours, newdata = faithful)$table$coefficient, tolerance = 0.02)
})

test_that("fits of flexmix are read: normal, Poisson and binary rows, regressions on an intercept", {
  skip_if_not_installed("flexmix")
  skip_if_not_installed("mvtnorm")
  own <- function(...) label_accuracy(...)$table$coefficient
  control <- list(tolerance = 1e-14, iter.max = 5000)
  set.seed(1)
  peer <- flexmix::flexmix(as.matrix(faithful) ~ 1, k = 2, model = flexmix::FLXMCmvnorm(diagonal = FALSE), cluster = 1 + (faithful$eruptions > 3), control = control)
  p <- flexmix::parameters(peer, simplify = FALSE)
  same <- list(family = "gaussian", share = peer@prior, means = rbind(p[[1]]$center, p[[2]]$center), covariance = unname(lapply(p, function(one) unname(one$cov))))
  expect_equal(own(peer), own(same, newdata = faithful), tolerance = 1e-10)
  expect_equal(own(peer, newdata = faithful[2:1]), own(peer), tolerance = 1e-12)  # columns by their names
  expect_equal(own(peer), own(em_fit(faithful, k = 2, tol = 1e-12), newdata = faithful), tolerance = 0.01)  # flexmix divides by n - 1
  counts <- cbind(a = rpois(200, rep(c(2, 9), 100)), b = rpois(200, 3))
  peer <- flexmix::flexmix(counts ~ 1, k = 2, model = flexmix::FLXMCmvpois(), cluster = 1 + (counts[, 1] > 5), control = control)
  expect_equal(own(peer), own(em_fit(counts, 2, "poisson", start = 1 + (counts[, 1] > 5), tol = 1e-14), newdata = counts), tolerance = 1e-3)
  bits <- matrix(rbinom(1600, 1, rep(c(.2, .9), each = 400)), 400, byrow = TRUE)
  start <- 1 + (rowSums(bits) > 2)
  peer <- flexmix::flexmix(bits ~ 1, k = 2, model = flexmix::FLXMCmvbinary(), cluster = start, control = control)
  expect_equal(own(peer), own(em_fit(as.data.frame(bits), 2, "categorical", start = start, tol = 1e-14), newdata = as.data.frame(bits)), tolerance = 1e-3)
  peer <- flexmix::flexmix(eruptions ~ 1, k = 2, data = faithful, cluster = 1 + (faithful$eruptions > 3), control = control)
  expect_equal(own(peer), own(em_fit(faithful["eruptions"], k = 2, tol = 1e-12), newdata = faithful["eruptions"]), tolerance = 0.02)
  twice <- flexmix::flexmix(eruptions ~ 1, k = 2, data = faithful, weights = rep(2L, 272), cluster = 1 + (faithful$eruptions > 3), control = control)
  expect_identical(label_accuracy(twice)$n, 544)
  expect_error(label_accuracy(flexmix::flexmix(eruptions ~ waiting, k = 1, data = faithful)), "on an intercept alone")
  shares <- flexmix::flexmix(eruptions ~ 1, k = 2, data = faithful, concomitant = flexmix::FLXPmultinom(~waiting), cluster = 1 + (faithful$eruptions > 3))
  expect_error(label_accuracy(shares), "shares that depend on covariates")
})

test_that("where there is no regular limit an error names the direction; small n warns", {
  expect_error(label_accuracy(two(0), n = 100), "singular")
  expect_warning(label_accuracy(two(1), n = 10), "asymptotics")
  expect_error(label_accuracy(list(family = "categorical", means = rbind(c(1, 0), c(.5, .5)), levels = 2), n = 10), "infinite score")
  expect_error(label_accuracy(two(3), engine = "empirical", n = 5), "newdata")
  expect_error(label_accuracy(two(3), alpha = 0, n = 5), "alpha")
  expect_error(label_accuracy(1), class = "granary_error_input")
  expect_error(label_accuracy(list(family = "poisson", means = rbind(1, 5)), engine = "quadrature", n = 5), "Gaussian")
})

test_that("simulation and the exact error stand beside the asymptote", {
  exact <- label_simulate(list(share = 0.3, probs = c(0.9, 0.2), prior = c(1, 1)), n = c(5, 20, 100))
  expect_equal(exact$estimate, c(.183289, .358676, .427472), tolerance = 1e-5)
  expect_equal(exact$asymptote[1], .427383, tolerance = 1e-5)
  set.seed(5)
  one <- label_simulate(two(4), n = 400, n_rep = 100, threads = 1)
  set.seed(5)
  expect_identical(one, label_simulate(two(4), n = 400, n_rep = 100, threads = 2))
  expect_lt(abs(one$estimate - one$asymptote), 4 * one$std.error + 0.1 * one$asymptote)
})

# All labellings of few rows, with the names that the assignment to a reference gives.
labels_by_listing <- function(x, k, gamma, reference, marginal) {
  z <- as.matrix(expand.grid(rep(list(seq_len(k)), length(x))))
  log_p <- apply(z, 1, function(y) sum(vapply(seq_len(k), function(h) lgamma(gamma + sum(y == h)) - lgamma(gamma) + if (any(y == h)) marginal(x[y == h]) else 0, 0)))
  p <- exp(log_p - max(log_p))
  p <- p / sum(p)
  swaps <- unique(z[, seq_len(k), drop = FALSE][apply(z[, seq_len(k), drop = FALSE], 1, function(y) length(unique(y)) == k), , drop = FALSE])
  out <- matrix(0, length(x), k)
  for (r in seq_len(nrow(z))) {
    gains <- apply(swaps, 1, function(s) sum(reference[cbind(seq_along(x), s[z[r, ]])]))
    y <- swaps[which.max(gains), ][z[r, ]]
    out[cbind(seq_along(x), y)] <- out[cbind(seq_along(x), y)] + p[r]
  }
  out
}

test_that("labels after Bayes are those of listing all labellings", {
  x <- c(-1.2, -.8, -.5, .3, 1.4, 1.9, 2.3)
  h <- list(m0 = 0.2, k0 = 0.3, a0 = 2, b0 = 0.6)
  marginal <- function(x) {
    n <- length(x)
    kn <- h$k0 + n
    bn <- h$b0 + sum((x - mean(x))^2) / 2 + h$k0 * n * (mean(x) - h$m0)^2 / (2 * kn)
    lgamma(h$a0 + n / 2) - lgamma(h$a0) + h$a0 * log(h$b0) - (h$a0 + n / 2) * log(bn) + log(h$k0 / kn) / 2 - n / 2 * log(2 * pi)
  }
  model <- list(family = "gaussian", share = c(.5, .5), means = rbind(-.8, 1.8), covariance = 0.6)
  set.seed(1)
  found <- label_posterior(model, matrix(x), hyper = h, gamma = 0.7, n_draws = 20000, burn_in = 200, newdata = matrix(c(-1, 0.8)))
  reference <- vapply(c(-.8, 1.8), function(m) dnorm(x, m, sqrt(.6)), numeric(7))
  reference <- reference / rowSums(reference)
  expect_equal(unname(found$plugin), reference, tolerance = 1e-12)
  expect_lt(max(abs(found$membership - labels_by_listing(x, 2, 0.7, reference, marginal))), 0.015)
  expect_equal(rowSums(found$predicted), c(1, 1))
  expect_identical(unname(found$membership), unname(t(apply(found$partitions, 2, tabulate, 2) / nrow(found$partitions))))
  expect_gt(found$predicted[1, 1], 0.8)
  set.seed(2)
  one <- label_posterior(model, matrix(x), n_draws = 100, burn_in = 10, threads = 1)
  set.seed(2)
  expect_identical(one$partitions, label_posterior(model, matrix(x), n_draws = 100, burn_in = 10, threads = 2)$partitions)
  expect_output(print(found), "Mean uncertainty")
  pdf(NULL)
  expect_s3_class(plot(found), "granary_label_posterior")
  dev.off()
  expect_identical(nrow(tidy(found)), 14L)
})

test_that("labels after Bayes of the other families, and their errors", {
  set.seed(3)
  counts <- sim_em(80, "poisson", means = rbind(2, 9))
  fit <- em_fit(counts$x, 2, "poisson")
  found <- label_posterior(fit, counts$x, n_draws = 300, burn_in = 200)
  expect_gt(mean(found$cluster == max.col(fit$membership)), 0.9)
  items <- sim_em(150, "categorical", means = rbind(rep(c(.9, .1), 4), rep(c(.2, .8), 4)), levels = rep(2, 4))
  fit <- em_fit(items$x, 2, "categorical", prior = 1)
  found <- label_posterior(fit, items$x, newdata = items$x[1:3, 4:1], n_draws = 300, burn_in = 200)
  expect_gt(mean(found$cluster == max.col(fit$membership)), 0.9)
  expect_equal(found$predicted, found$membership[1:3, ], tolerance = 0.3, ignore_attr = TRUE)
  two <- em_fit(faithful, 2)
  found <- label_posterior(two, faithful, n_draws = 200, burn_in = 200)
  expect_identical(unname(found$cluster), unname(max.col(two$membership)))
  expect_error(label_posterior(two), "Give `x`")
  expect_error(label_posterior(two, rbind(faithful, NA)), "`x` must have no missing")
  expect_error(label_posterior(list(family = "poisson", means = rbind(1:2, 3:4)), cbind(1:5, 1:5)), "one column")
  expect_error(label_posterior(two, faithful, gamma = 0), "gamma")
  expect_error(label_posterior(list(family = "gaussian", means = rbind(0, 3)), matrix(1:4), hyper = list(foo = 1)), "hyper")
})

test_that("moment fits are read: polished ones have the accuracy of the EM fit of the same model", {
  set.seed(31)
  for (model in c("gmm_hetero", "product")) {
    sim <- sim_spectral_mixture(3000, model, k = 2, d = 6)
    moments <- suppressWarnings(spectral_mixture(sim$x, 2, model, polish = 50))
    em <- em_fit(sim$x, k = 2, covariance = if (model == "product") "diagonal" else "spherical")
    ours <- label_accuracy(moments, newdata = sim$x)
    expect_equal(ours$table$coefficient, label_accuracy(em, newdata = sim$x)$table$coefficient, tolerance = 0.02)
    expect_identical(c(ours$n, ours$df), c(3000, label_accuracy(em, newdata = sim$x)$df), ignore_attr = TRUE)
  }
  one <- sim_spectral_mixture(2000, "gmm", k = 2, d = 6)
  expect_message(label_accuracy(suppressWarnings(spectral_mixture(one$x, 2, "gmm")), newdata = one$x), "upper bound")
  items <- sim_spectral_mixture(3000, "latent_class", k = 2, d = 6)
  fit <- suppressWarnings(spectral_mixture(items$x, 2, "latent_class", polish = 20))
  expect_s3_class(suppressWarnings(label_accuracy(fit, newdata = items$x)), "granary_label_accuracy")
  topics <- suppressWarnings(spectral_mixture(sim_spectral_mixture(300, "lda", k = 2, d = 6)$x, 2, "lda"))
  expect_error(label_accuracy(topics), "shares of topics", class = "granary_error")
})
