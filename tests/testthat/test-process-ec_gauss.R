# A Gaussian times factors, and probabilities of boxes: exact values, quadrature, the Ising engine, peers, bad input.

equicorrelated <- function(n, r = 0.5) r + diag(1 - r, n)

test_that("orthants give the worked numbers of EC, and the check beside them the exact 1 / (n + 1)", {
  set.seed(1)
  worked <- c(`2` = -1.100428, `5` = -1.798554, `20` = -3.062742)
  for (n in c(2, 5, 20)) {
    box <- ec_box(equicorrelated(n), lower = 0)
    expect_equal(box$log_prob, worked[[as.character(n)]], tolerance = 1e-6)
    expect_lt(abs(box$mc_log_prob + log(n + 1)), 5 * box$mc_log_se + 1e-6)
    expect_equal(box$error, box$log_prob - box$mc_log_prob)
    expect_lt(box$mc_log_se, 0.01)
  }
})

test_that("one dimension and independence are exact", {
  box <- ec_box(matrix(4), lower = -1, upper = 3, mean = 1, samples = 100)
  expect_equal(box$prob, pnorm(1) - pnorm(-1), tolerance = 1e-10)
  expect_equal(box$mc_prob, pnorm(1) - pnorm(-1), tolerance = 1e-10)
  a <- (0:9) / 3 - 2
  box <- ec_box(diag(10), lower = a, samples = 100)
  expect_equal(box$log_prob, sum(pnorm(a, lower.tail = FALSE, log.p = TRUE)), tolerance = 1e-9)
  expect_equal(unname(box$mean), dnorm(a) / pnorm(-a), tolerance = 1e-7)
  expect_equal(ec_box(diag(3))$log_prob, 0)
  # two dimensions far out, by one integral
  S <- matrix(c(1, 0.5, 0.5, 1), 2)
  h <- function(x) exp(pnorm((40 - x / 2) / sqrt(0.75), lower.tail = FALSE, log.p = TRUE) + dnorm(x, log = TRUE) + 1070)
  truth <- log(integrate(h, 40, 42, rel.tol = 1e-9)$value) - 1070
  set.seed(1)
  tail <- ec_box(S, lower = 40)
  expect_lt(abs(tail$mc_log_prob - truth), 5 * tail$mc_log_se + 1e-4)
  expect_gt(tail$mc_log_se, 0)
  expect_lt(abs(tail$log_prob - truth), 0.5)
  far <- ec_box(diag(4), lower = 40, samples = 100)  # 1e-1400
  expect_equal(far$log_prob, 4 * pnorm(-40, log.p = TRUE), tolerance = 1e-8)
  expect_equal(far$mc_log_prob, far$log_prob, tolerance = 1e-8)
})

test_that("gradients of log Z in mean and covariance are right", {
  set.seed(2)
  S <- crossprod(matrix(rnorm(16), 4)) / 4 + diag(0.3, 4)
  value <- function(S, m) ec_box(S, lower = -1, upper = c(1, 2, 0.5, Inf), mean = m, samples = 0, tol = 1e-11)$log_prob
  m <- c(0.1, -0.2, 0, 0.4)
  box <- ec_box(S, lower = -1, upper = c(1, 2, 0.5, Inf), mean = m, samples = 0, tol = 1e-11)
  h <- 1e-4
  e <- c(0, h, 0, 0)
  expect_equal((value(S, m + e) - value(S, m - e)) / (2 * h), box$gradient$mean[[2L]], tolerance = 1e-5)
  E <- matrix(0, 4, 4)
  E[1, 3] <- E[3, 1] <- h
  expect_equal((value(S + E, m) - value(S - E, m)) / (2 * h), 2 * box$gradient$Sigma[1, 3], tolerance = 1e-5)
  expect_true(is.na(box$mc_prob))
})

test_that("boxes agree with mvtnorm", {
  skip_if_not_installed("mvtnorm")
  pmvnorm <- getExportedValue("mvtnorm", "pmvnorm")
  for (seed in 1:4) {
    set.seed(seed)
    n <- c(3, 8, 15, 30)[seed]
    S <- crossprod(matrix(rnorm(n * n), n)) / n + diag(0.2, n)
    lower <- runif(n, -2, 0)
    upper <- lower + runif(n, 1, 3)
    m <- rnorm(n, sd = 0.3)
    box <- ec_box(S, lower, upper, m)
    peer <- pmvnorm(lower, upper, m, sigma = S)
    expect_lt(abs(box$mc_prob - peer), 5 * box$mc_se + 2 * attr(peer, "error"))
    expect_lt(abs(box$log_prob - log(peer)), 0.05)
  }
})

test_that("singular covariances are allowed", {
  set.seed(1)
  S <- tcrossprod(c(1, 1))  # the same variable twice
  box <- ec_box(S, lower = c(0, -1), upper = c(2, 1))
  expect_equal(box$mc_prob, pnorm(1) - 0.5, tolerance = 1e-3)
  expect_equal(box$log_prob, log(pnorm(1) - 0.5), tolerance = 0.1)
})

test_that("quasi-Monte Carlo is accurate at its default, in the middle and in the tails", {
  # equal correlations of one half: one integral
  exact <- function(n, from) {
    at <- seq(-10, 30, by = 1e-3)
    terms <- dnorm(at, log = TRUE) + n * pnorm(at - from / sqrt(0.5), log.p = TRUE)
    max(terms) + log(sum(exp(terms - max(terms))) * 1e-3)
  }
  set.seed(1)
  for (from in c(0, 2, 6)) {
    box <- ec_box(equicorrelated(10), lower = from)
    truth <- exact(10, from)
    expect_lt(box$mc_log_se, 5e-4)
    expect_lt(abs(box$mc_log_prob - truth), 5 * box$mc_log_se)
  }
  set.seed(2)
  box <- ec_box(equicorrelated(50), lower = 4)
  expect_lt(box$mc_log_se, 0.03)
  expect_lt(abs(box$mc_log_prob - exact(50, 4)), 5 * box$mc_log_se)
})

test_that("the answer does not depend on threads, and follows the seed", {
  S <- equicorrelated(12)
  set.seed(4)
  one <- ec_box(S, lower = -0.5, threads = 1)
  set.seed(4)
  two <- ec_box(S, lower = -0.5, threads = 2)
  expect_identical(one$mc_log_prob, two$mc_log_prob)
  expect_identical(one$log_prob, two$log_prob)
})

test_that("units do not matter", {
  S <- equicorrelated(4, 0.3)
  plain <- ec_box(S, lower = -0.5, upper = 1, samples = 0)
  for (scale in c(1e-8, 1e8)) {
    scaled <- ec_box(S * scale^2, lower = -0.5 * scale, upper = scale, samples = 0)
    expect_equal(scaled$log_prob, plain$log_prob, tolerance = 1e-8)
    expect_equal(scaled$mean / scale, plain$mean, tolerance = 1e-7)
  }
})

test_that("Gaussian factors are exact", {
  set.seed(3)
  S <- crossprod(matrix(rnorm(25), 5)) + diag(5)
  y <- rnorm(5)
  v <- runif(5, 0.5, 2)
  fit <- ec_gauss(S, 0.3, ec_factor("gaussian", y, v))
  total <- S + diag(v)
  r <- y - 0.3
  expect_equal(fit$log_z, as.vector(-0.5 * (5 * log(2 * pi) + determinant(total)$modulus + r %*% solve(total, r))), tolerance = 1e-8)
  expect_equal(unname(fit$mean), as.vector(0.3 + S %*% solve(total, r)), tolerance = 1e-7)
  expect_equal(unname(fit$cov), S - S %*% solve(total, S), tolerance = 1e-7)
  flat <- ec_gauss(S, 0.3, ec_factor("flat"))
  expect_equal(flat$log_z, 0)
  expect_equal(unname(flat$cov), S)
})

test_that("with probit factors log Z is the evidence of classification by EP", {
  set.seed(6)
  x <- matrix(rnorm(40), 20)
  y <- ifelse(x[, 1] + rnorm(20) > 0, 1, -1)
  kernel <- k_se(lengthscale = 0.9, variance = 2.5)
  classifier <- gp_classify(x, factor(y), kernel, hyper = "fixed", standardize = FALSE, tol = 1e-12)
  ec <- ec_gauss(kernel_matrix(kernel, x), 0, ec_factor("probit", y), tol = 1e-12)
  expect_equal(ec$log_z, classifier$loglik, tolerance = 1e-8)
})

test_that("probit and every other factor meet quadrature in one dimension", {
  expect_equal(ec_gauss(matrix(25), 0, ec_factor("probit", 1))$log_z, log(0.5), tolerance = 1e-8)
  prior <- function(x) dnorm(x, 0.4, sqrt(1.5))
  moments <- function(t, lower = -15, upper = 15) {
    z <- integrate(function(x) t(x) * prior(x), lower, upper, rel.tol = 1e-10)$value
    m <- integrate(function(x) x * t(x) * prior(x), lower, upper, rel.tol = 1e-10)$value / z
    c(log(z), m, integrate(function(x) (x - m)^2 * t(x) * prior(x), lower, upper, rel.tol = 1e-10)$value / z)
  }
  found <- function(factor) {
    fit <- ec_gauss(matrix(1.5), 0.4, factor, tol = 1e-10)
    c(fit$log_z, fit$mean[[1L]], fit$cov[[1L]])
  }
  expect_equal(found(ec_factor("probit", -1)), moments(function(x) pnorm(-x)), tolerance = 1e-6)
  expect_equal(found(ec_factor("truncate", 0.2, 1.1)), moments(function(x) 1 + 0 * x, 0.2, 1.1), tolerance = 1e-6)
  expect_equal(found(ec_factor("laplace", 0.7)), moments(function(x) exp(-abs(x) / 0.7) / 1.4), tolerance = 1e-5)
  expect_equal(found(ec_factor("generic", function(x) 2 * x - exp(x))), moments(function(x) exp(2 * x - exp(x))), tolerance = 1e-5)
  w <- 0.3
  slab <- dnorm(0.4, 0, sqrt(1.5 + 4)) * w
  spike <- dnorm(0, 0.4, sqrt(1.5)) * (1 - w)
  expect_equal(found(ec_factor("spike_slab", w, 4))[1L], log(slab + spike), tolerance = 1e-7)
  p <- prior(c(-1, 0, 2)) * c(1, 2, 0.5)
  expect_equal(found(ec_factor("discrete", c(-1, 0, 2), c(1, 2, 0.5))), c(log(sum(p)), sum(p * c(-1, 0, 2)) / sum(p),
               sum(p * c(1, 0, 4)) / sum(p) - (sum(p * c(-1, 0, 2)) / sum(p))^2), tolerance = 1e-6)
})

test_that("spins as discrete factors give what ec_ising() gives", {
  set.seed(6)
  sim <- sim_ec_ising("gaussian", n = 6, size = 0.6)
  P <- diag(2.5, 6) - sim$J  # any diagonal will do
  S <- solve(P)
  mu <- as.vector(S %*% sim$theta)
  gauss <- ec_gauss(S, mu, ec_factor("discrete", c(-1, 1)), tol = 1e-9)
  ising <- ec_ising(sim$J, sim$theta, "factorized", tol = 1e-18)
  expect_equal(gauss$mean, ising$mean, tolerance = 1e-6)
  expect_equal(gauss$cov, ising$cov, tolerance = 1e-5)
  constant <- -6 / 2 * log(2 * pi) + 0.5 * determinant(P)$modulus - 0.5 * sum(mu * sim$theta) - 6 * 2.5 / 2
  expect_equal(gauss$log_z, ising$log_z + as.vector(constant), tolerance = 1e-7)
})

test_that("truncated moments agree with rejection sampling, and spike and slab with enumeration", {
  set.seed(9)
  S <- matrix(c(1, 0.6, 0.6, 1), 2)
  x <- matrix(rnorm(4e5), ncol = 2) %*% chol(S)
  keep <- x[x[, 1] > 0 & x[, 2] > 0.5, ]
  fit <- ec_gauss(S, 0, ec_factor("truncate", c(0, 0.5)))
  expect_equal(unname(fit$mean), colMeans(keep), tolerance = 0.02)
  expect_equal(unname(fit$cov), cov(keep), tolerance = 0.05)
  # y = x + e with independent noise: the posterior factorises over the inclusion of each
  mu <- c(2.5, 0.1, -1.8)
  fit <- ec_gauss(diag(0.3, 3), mu, ec_factor("spike_slab", 0.3, 4))
  inclusion <- 0.3 * dnorm(mu, 0, sqrt(4.3)) / (0.3 * dnorm(mu, 0, sqrt(4.3)) + 0.7 * dnorm(mu, 0, sqrt(0.3)))
  mass <- vapply(1:3, function(i) sum(predict(fit, i)$mass), 0)
  expect_equal(1 - mass, inclusion, tolerance = 1e-6)
  expect_equal(unname(fit$mean), inclusion * mu * 4 / 4.3, tolerance = 1e-6)
})

test_that("parallel sweeps and sequential ones end at the same point", {
  set.seed(5)
  S <- crossprod(matrix(rnorm(400), 20)) / 20 + diag(0.1, 20)
  y <- rbinom(20, 1, 0.5)
  one <- ec_gauss(S, 0, ec_factor("probit", y))
  two <- ec_gauss(S, 0, ec_factor("probit", 2 * y - 1), parallel = TRUE)
  three <- ec_gauss(S, 0, ec_factor("probit", y == 1), damping = 0.5)
  expect_equal(one$log_z, two$log_z, tolerance = 1e-8)
  expect_equal(one$log_z, three$log_z, tolerance = 1e-8)
})

test_that("marginals, printing, plots and draws work", {
  S <- equicorrelated(4)
  dimnames(S) <- list(letters[1:4], letters[1:4])
  fit <- ec_gauss(S, 0, c(ec_factor("truncate", lower = 0), ec_factor("probit", 1), ec_factor("spike_slab", 0.2, 4), ec_factor("discrete", 0:2)))
  expect_output(print(fit), "1 discrete, 1 probit, 1 spike_slab, 1 truncate")
  expect_named(coef(fit), letters[1:4])
  expect_identical(rownames(vcov(fit)), letters[1:4])
  all <- predict(fit)
  area <- vapply(letters[1:4], function(v) {
    part <- all[all$variable == v, ]
    curve <- part[part$mass == 0, ]
    sum(part$mass) + if (nrow(curve) > 1) sum(diff(curve$x) * (head(curve$density, -1) + tail(curve$density, -1)) / 2) else 0
  }, 0)
  expect_equal(unname(area), rep(1, 4), tolerance = 0.01)
  expect_equal(predict(fit, "a", at = -1)$density, 0)
  expect_equal(dim(simulate(fit, 5, seed = 1)), c(5L, 4L))
  expect_identical(simulate(fit, 5, seed = 1), simulate(fit, 5, seed = 1))
  expect_equal(tidy(fit)$factor, c("truncate", "probit", "spike_slab", "discrete"))
  expect_equal(as.double(logLik(fit)), fit$log_z)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (i in 1:4) expect_silent(plot(fit, i))
  expect_output(print(ec_box(S, 0)), "give or take")
  expect_output(print(ec_factor("flat")), "1 factor")
})

test_that("bad input is named", {
  S <- equicorrelated(2)
  expect_error(ec_gauss(S, 0), "factors", class = "granary_error_input")
  expect_error(ec_gauss(S, 0, 3), "factors", class = "granary_error_input")
  expect_error(ec_gauss(S, 0, c(ec_factor("flat"), ec_factor("flat"), ec_factor("flat"))), "factors", class = "granary_error_input")
  expect_error(ec_gauss(S, 1:3, ec_factor("flat")), "mu", class = "granary_error_input")
  expect_error(ec_gauss(matrix(c(1, 2, 2, 1), 2), 0, ec_factor("flat")), "semidefinite", class = "granary_error_input")
  expect_error(ec_gauss(matrix(c(0, 0, 0, 1), 2), 0, ec_factor("flat")), "positive variances", class = "granary_error_input")
  expect_error(ec_box(S, lower = 1, upper = 0), "below", class = "granary_error_input")
  expect_error(ec_box(S, lower = c(0, NA)), "lower", class = "granary_error_input")
  expect_error(ec_box(S, lower = 1:3 * 0), "bound", class = "granary_error_input")
  expect_error(ec_box(S, lower = 1e300), "standard deviations", class = "granary_error_input")
  expect_equal(ec_box(S, lower = -1e300, upper = 1e300)$log_prob, 0)
  expect_equal(ec_box(diag(2), lower = 100)$log_prob, 2 * pnorm(-100, log.p = TRUE))
  expect_error(ec_box(), class = "granary_error_input")
  expect_error(ec_factor("probit", 2), "y", class = "granary_error_input")
  expect_error(ec_factor("spike_slab", 2, 1), "p", class = "granary_error_input")
  expect_error(ec_factor("laplace", 0), class = "granary_error_input")
  expect_error(ec_factor("discrete", list()), "values", class = "granary_error_input")
  expect_error(ec_factor("discrete", 1:2, c(0, 0)), "weights", class = "granary_error_input")
  expect_error(ec_factor("generic", 1), "function", class = "granary_error_input")
  expect_error(ec_gauss(S, 0, ec_factor("generic", function(x) c(1, 2))), "one number", class = "granary_error_input")
  expect_error(c(ec_factor("flat"), 3), "factors", class = "granary_error_input")
  expect_error(predict(ec_gauss(S, 0, ec_factor("flat")), 1, 2), "left out", class = "granary_error_input")
  expect_error(ec_factor("truncate", 1:2, 1:3), "length", class = "granary_error_input")
})

test_that("a factor of one's own may have a kink or a jump where the law is highest", {
  kink <- ec_gauss(matrix(1), 0, ec_factor("generic", function(x) -abs(x)))
  expect_equal(kink$log_z, log(integrate(function(x) exp(-abs(x)) * dnorm(x), -Inf, Inf)$value), tolerance = 1e-6)
  same <- ec_gauss(matrix(1), 0, ec_factor("laplace", 1))
  expect_equal(kink$log_z, same$log_z + log(2), tolerance = 1e-6)
  jump <- ec_gauss(matrix(1), 0.3, ec_factor("generic", function(x) if (x > 0.3) -2 * x else -Inf))
  expect_equal(jump$log_z, log(integrate(function(x) exp(-2 * x) * dnorm(x, 0.3), 0.3, Inf)$value), tolerance = 1e-6)
  far <- ec_gauss(matrix(1), 0, ec_factor("generic", function(x) -0.5 * (x - 40)^2 / 0.01))
  expect_equal(far$log_z, dnorm(40, 0, sqrt(1.01), log = TRUE) + log(sqrt(2 * pi) * 0.1), tolerance = 1e-6)
})
