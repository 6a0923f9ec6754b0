# Feldman, Gupta and Frigyik (2014), Table 7: reigns of kings. The table prints 9 Achaemenid kings; its averages need 7.
kings <- data.frame(
  group = c("Larsa", "Amorite", "Assyrian", "Israel", "Judah", "Achaemenid", "Khmer", "Song", "Mongol", "Ming", "Qing", "Mamluk", "Ottoman",
            "Normandy", "Plantagenet",
            "Lancaster", "York", "Tudor", "Stuart", "Hanover", "Windsor", "Capet", "Valois", "Habsburg", "Bourbon", "Oldenburg", "Mughal", "Edo",
            "Kamehameha", "Zulu"),
  mean = c(17.7, 26.9, 17.3, 13.4, 21.5, 24.3, 20, 17.7, 10.8, 16.3, 24.6, 10.1, 17, 23, 30.8, 20.3, 8, 23.4, 16.8, 31, 14, 22.7, 24.3, 34.4,
           21.8, 25.8, 15.7, 18.6,
           15.4, 15.8),
  n = c(15, 11, 27, 21, 22, 7, 33, 18, 4, 17, 12, 10, 36, 3, 8, 3, 3, 5, 6, 6, 3, 15, 7, 5, 10, 16, 20, 15, 5, 4)
)

samples <- function(seed = 1, tasks = 8) {
  set.seed(seed)
  sim_mta(tasks, s2_mu = 0.4, n_range = c(2, 12))
}

laplacian <- function(A) diag(rowSums(A)) - A
equation_9 <- function(A, s, gamma = 1) solve(diag(length(s)) + gamma / length(s) * s * laplacian(A))

test_that("the table of kings is reproduced", {
  constant <- mta(kings, noise_var = 216.9)
  expect_equal(unname(coef(constant)[c("Amorite", "York", "Habsburg", "Mongol", "Khmer")]), c(24.6, 15.8, 26.8, 16.1, 20), tolerance = 0.005)
  expect_equal(mean(coef(constant)), 20.00, tolerance = 5e-4)
  expect_equal(constant$a, 0.02557, tolerance = 1e-3)
  minimax <- mta(kings, method = "minimax", noise_var = 216.9)
  expect_equal(unname(coef(minimax)[c("Amorite", "York", "Habsburg", "Mongol")]), c(26.5, 10.1, 32.8, 12.0), tolerance = 0.01)
  expect_equal(minimax$a, 0.00287, tolerance = 1e-3)
  expect_equal(mean(coef(minimax)), 20.01, tolerance = 5e-4)
})

test_that("constant and minimax solve equation (9), whatever the variances", {
  d <- samples()
  for (variance in c("pooled", "own")) {
    for (gamma in c(0.3, 1, 7)) {
      fit <- mta(d$y, d$group, variance = variance, gamma = gamma, weights = TRUE)
      n <- tabulate(d$group)
      own <- tapply(d$y, d$group, var)
      s <- if (variance == "pooled") sum((n - 1) * own) / sum(n - 1) / n else own / n
      mean <- tapply(d$y, d$group, mean)
      W <- equation_9(matrix(1 / var(as.vector(mean)), 8, 8), as.vector(s), gamma)
      expect_equal(unname(fit$estimate), as.vector(W %*% mean), tolerance = 1e-12)
      expect_equal(unname(fit$W), W, tolerance = 1e-12)
      expect_equal(unname(fit$se), sqrt(diag(W %*% diag(as.vector(s)) %*% t(W))), tolerance = 1e-10)
      expect_equal(unname(fit$posterior_sd), sqrt(diag(W) * as.vector(s)), tolerance = 1e-10)
      A <- matrix(2 / diff(range(mean))^2, 8, 8)
      expect_equal(unname(coef(mta(d$y, d$group, "minimax", variance = variance, gamma = gamma))),
                   as.vector(equation_9(A, as.vector(s), gamma) %*% mean), tolerance = 1e-12)
    }
  }
})

test_that("a equals the pairwise definition, and two tasks make constant and minimax one", {
  d <- samples(2, 5)
  fit <- mta(d$y, d$group)
  expect_equal(fit$a, 2 / (sum(outer(fit$mean, fit$mean, "-")^2) / (5 * 4)))
  expect_equal(fit$tau2, var(unname(fit$mean)))
  two <- d[d$group < 3, ]
  expect_equal(coef(mta(two$y, two$group)), coef(mta(two$y, two$group, "minimax")))
  expect_equal(mta(two$y, two$group)$a, 2 / diff(unname(mta(two$y, two$group)$mean))^2)
})

test_that("with bounds, minimax takes them", {
  d <- samples(3)
  expect_equal(mta(d$y, d$group, "minimax", bounds = c(-3, 5))$a, 2 / 64)
  expect_error(mta(d$y, d$group, "minimax", bounds = c(5, -3)), "larger upper bound", class = "granary_error_input")
  expect_error(mta(d$y, d$group, bounds = c(0, 1)), "minimax", class = "granary_error_input")
})

test_that("estimates are convex combinations; gamma 0 and infinite are the limits", {
  d <- samples(4)
  A <- matrix(rexp(64), 8)
  for (method in c("constant", "minimax", "pairwise", "custom")) {
    use <- if (method == "custom") A
    fit <- mta(d$y, d$group, method, A = use, weights = TRUE)
    expect_true(all(fit$W >= 0))
    expect_equal(unname(rowSums(fit$W)), rep(1, 8), tolerance = 1e-12)
    expect_true(all(fit$estimate >= min(fit$mean) & fit$estimate <= max(fit$mean)))
    expect_equal(coef(mta(d$y, d$group, method, A = use, gamma = 0)), fit$mean)
    far <- mta(d$y, d$group, method, A = use, gamma = 1e13)
    expect_equal(unname(coef(far)), rep(sum(fit$mean / fit$var_mean) / sum(1 / fit$var_mean), 8), tolerance = 1e-8)
  }
})

test_that("given similarities: full and sparse agree, the diagonal is ignored, asymmetric ones are symmetrised", {
  d <- samples(5)
  A <- Matrix::rsparsematrix(8, 8, 0.4, rand.x = runif)
  full <- as.matrix(A)
  s <- mta(d$y, d$group)$var_mean
  mean <- mta(d$y, d$group)$mean
  expected <- as.vector(equation_9((full + t(full)) / 2, unname(s), 3) %*% mean)
  one <- mta(d$y, d$group, "custom", A = A, gamma = 3)
  two <- mta(d$y, d$group, "custom", A = full, gamma = 3)
  diag(full) <- 100
  three <- mta(d$y, d$group, "custom", A = full, gamma = 3)
  expect_equal(unname(coef(one)), expected, tolerance = 1e-12)
  expect_equal(coef(one), coef(two), tolerance = 1e-12)
  expect_equal(coef(three), coef(two), tolerance = 1e-12)
  expect_equal(one$se, two$se, tolerance = 1e-12)
  expect_equal(one$posterior_sd, two$posterior_sd, tolerance = 1e-12)
  expect_equal(unname(mta_bounds("weights", one) %*% one$mean)[, 1], expected, tolerance = 1e-12)
})

test_that("pairwise similarities are those of the means; ties are merged", {
  y <- list(a = c(1, 3), b = c(2, 2.5, 1.5), c = c(5, 6), d = c(8, 9, 10))
  fit <- mta(y, method = "pairwise", noise_var = 1)
  expect_equal(fit$estimate[["a"]], fit$estimate[["b"]])
  y$b <- y$b + 0.5
  fit <- mta(y, method = "pairwise", noise_var = 1)
  A <- 2 / outer(fit$mean, fit$mean, "-")^2
  diag(A) <- 0
  expect_equal(unname(coef(fit)), as.vector(equation_9(A, unname(fit$var_mean)) %*% fit$mean), tolerance = 1e-12)
})

test_that("shift and scale equivariance, over sixteen orders of magnitude", {
  d <- samples(6)
  for (method in c("constant", "minimax", "pairwise")) {
    base <- mta(d$y, d$group, method)
    for (unit in c(1e-8, 1e8)) {
      fit <- mta(unit * d$y, d$group, method)
      expect_equal(coef(fit) / unit, coef(base), tolerance = 1e-10)
      expect_equal(fit$se / unit, base$se, tolerance = 1e-10)
    }
    expect_equal(coef(mta(5 - 2 * d$y, d$group, method)), 5 - 2 * coef(base), tolerance = 1e-10)
    expect_equal(coef(mta(d$y + 1e6, d$group, method)) - 1e6, coef(base), tolerance = 1e-6)
  }
  js <- mta(d$y, d$group, method = "james_stein")
  expect_equal(coef(mta(5 - 2 * d$y, d$group, method = "james_stein")), 5 - 2 * coef(js), tolerance = 1e-10)
})

test_that("all forms of input give the same fit", {
  d <- samples(7)
  base <- mta(d$y, d$group)
  same <- function(fit) expect_equal(coef(fit), coef(base), tolerance = 1e-12)
  same(mta(split(d$y, d$group)))
  same(mta(y ~ group, d))
  same(mta(y ~ group, list2env(as.list(d))))
  same(mta(d$y, as.character(d$group)))
  same(mta(d$y, factor(d$group)))
  same(mta(d$y, d$group + 0))
  same(mta(matrix(d$y), d$group))
  order <- sample(nrow(d))
  same(mta(d$y[order], d$group[order]))
  table <- data.frame(group = names(base$mean), mean = base$mean, n = base$n, var = as.vector(tapply(d$y, d$group, var)))
  same(mta(table))
  expect_identical(mta(d$y, d$group - 1000L)$n, stats::setNames(base$n, as.integer(names(base$n)) - 1000L))
  both <- mta(y ~ a + b, data.frame(y = 1:8 + 0.5, a = rep(1:2, 4), b = rep(c("u", "v"), each = 4)))
  expect_identical(names(coef(both)), c("1:u", "1:v", "2:u", "2:v"))
})

test_that("missing values and empty groups are dropped with a message", {
  d <- samples(8)
  base <- mta(d$y, d$group)
  y <- c(d$y, NA, 3)
  g <- factor(c(d$group, 1, NA), levels = 1:10)
  expect_message(expect_message(fit <- mta(y, g), "2 samples were dropped"), "2 tasks without samples were dropped: 9, 10")
  expect_equal(coef(fit), coef(base))
  expect_message(mta(data.frame(mean = c(1, 2, 3), n = c(3, 0, 4), var = 1)), "1 task without samples")
})

test_that("groups of one, no variance, equal means, one task", {
  expect_error(mta(c(1, 2, 3), c(1, 2, 2), variance = "own"), "Task 1 \\(\"1\"\\) has one sample", class = "granary_error_input")
  expect_error(mta(1:3, 1:3), "Give it as `noise_var`", class = "granary_error_input")
  fit <- mta(c(1, 2, 3.5), c("a", "b", "b"))
  expect_identical(fit$n, c(a = 1, b = 2))
  fit <- mta(list(c(1, 1, 1), c(2, 4), c(5, 6)), variance = "own")
  expect_identical(unname(coef(fit)[1]), 1)
  expect_identical(unname(fit$weights[1]), 1)
  fit <- mta(list(c(1, 3), c(2, 2), c(0, 4)))
  expect_identical(unname(coef(fit)), c(2, 2, 2))
  expect_identical(c(fit$a, fit$tau2), c(Inf, 0))
  fit <- mta(list(c(1, 1), c(1, 1)))
  expect_identical(unname(coef(fit)), c(1, 1))
  expect_warning(fit <- mta(c(1, 2, 4), c(1, 1, 1)), "only one task", class = "granary_warning_input")
  expect_equal(unname(coef(fit)), 7 / 3)
})

test_that("errors say what is wrong", {
  d <- samples(9)
  expect_error(mta(d$y), "which task each sample belongs to", class = "granary_error_input")
  expect_error(mta(d$y, d$group[-1]), "as long as the samples", class = "granary_error_input")
  expect_error(mta(d$y, d$group, "custom"), "`A` must be", class = "granary_error_input")
  expect_error(mta(d$y, d$group, "custom", A = -diag(8)), "negative entries", class = "granary_error_input")
  expect_error(mta(d$y, d$group, "custom", A = diag(3)), "one row and one column per task", class = "granary_error_input")
  expect_error(mta(d$y, d$group, A = diag(8)), "custom", class = "granary_error_input")
  expect_error(mta(d$y, d$group, gamma = -1), "at least 0", class = "granary_error_input")
  expect_error(mta(d$y, d$group, gamma = 1:2), "one number unless", class = "granary_error_input")
  expect_error(mta(c(Inf, d$y[-1]), d$group), "infinite", class = "granary_error_input")
  expect_error(mta(list()), "empty list", class = "granary_error_input")
  expect_error(mta(list(a = 1:2, b = "x")), "element 2 \\(\"b\"\\)", class = "granary_error_input")
  expect_error(mta(data.frame(n = 2, var = 1)), "`mean` is missing", class = "granary_error_input")
  expect_error(mta(data.frame(mean = 1:2, n = c(2, 2.5), var = 1)), "whole numbers", class = "granary_error_input")
  expect_error(mta(data.frame(mean = 1:2, n = 2)), "not known", class = "granary_error_input")
  expect_error(mta(data.frame(mean = 1:2, n = 2, var = 1), cv = "loo"), "needs the samples", class = "granary_error_input")
  expect_error(mta(d$y, d$group, noise_var = 1:3), "one per task", class = "granary_error_input")
  expect_error(mta(~ group, d), "two sides", class = "granary_error_input")
  expect_error(mta(nothing ~ group, d), "could not be found", class = "granary_error_input")
  expect_error(mta(d$y, d$group, colour = 1), "no argument `colour`", class = "granary_error_input")
  expect_error(mta(NA_real_, 1), "at least one sample", class = "granary_error_input")
})

test_that("gamma is chosen by the smaller leave-one-out risk", {
  d <- samples(10)
  fit <- mta(d$y, d$group, "minimax", cv = "loo")
  expect_identical(fit$cv$gamma, 2^(-15:15))
  expect_identical(fit$gamma, fit$cv$gamma[which.min(fit$cv$risk)])
  for (k in c(1, 16, 25)) {
    risk <- 0
    for (i in seq_along(d$y)) {
      g <- d$group[i]
      if (sum(d$group == g) < 2) next
      estimate <- coef(mta(d$y[-i], d$group[-i], "minimax", gamma = fit$cv$gamma[k]))[[as.character(g)]]
      risk <- risk + (d$y[i] - estimate)^2 / sum(d$group == g)
    }
    expect_equal(fit$cv$risk[k], risk, tolerance = 1e-10)
  }
  set.seed(3)
  one <- mta(d$y, d$group, cv = "split")
  set.seed(3)
  two <- mta(d$y, d$group, cv = "split")
  expect_identical(one$cv, two$cv)
  expect_identical(one$cv$gamma, 2^(-5:5))
  A <- 1 * (abs(outer(1:8, 1:8, "-")) == 1)
  chain <- mta(d$y, d$group, "custom", A = A, gamma = c(0.1, 1, 10), cv = "loo")
  expect_true(chain$gamma %in% c(0.1, 1, 10))
})

test_that("half splits tune every kind of similarity, full and sparse alike", {
  d <- samples(10)
  A <- 1 * (abs(outer(1:8, 1:8, "-")) == 1)
  tuned <- function(...) {
    set.seed(3)
    mta(d$y, d$group, ..., cv = "split")
  }
  full <- tuned("custom", A = A)
  sparse <- tuned("custom", A = methods::as(Matrix::Matrix(A, sparse = TRUE), "generalMatrix"))
  expect_identical(full$cv$gamma, 2^(-5:5))
  expect_equal(full$cv, sparse$cv, tolerance = 1e-10)
  expect_identical(full$gamma, full$cv$gamma[which.min(full$cv$risk)])
  expect_true(all(tuned("pairwise")$cv$risk > 0))
  # one split, samples that do not differ within tasks: halves have the means of all samples, so the error is that of shrinking
  y <- rep(c(1, 2, 4), each = 4)
  g <- rep(1:3, each = 4)
  fit <- mta(y, g, "custom", A = matrix(1, 3, 3), noise_var = 2, cv = "split", splits = 1, gamma = c(0.5, 3))
  error <- vapply(c(0.5, 3), function(gamma) sum((equation_9(matrix(1, 3, 3), rep(1, 3), gamma) %*% c(1, 2, 4) - c(1, 2, 4))^2), 0)
  expect_equal(fit$cv$risk, error, tolerance = 1e-12)
  pairs <- mta(y, g, "pairwise", noise_var = 2, cv = "split", splits = 1, gamma = c(0.5, 3))
  P <- ifelse(diag(3) == 1, 0, 2 / outer(c(1, 2, 4), c(1, 2, 4), "-")^2)
  error <- vapply(c(0.5, 3), function(gamma) sum((equation_9(P, rep(1, 3), gamma) %*% c(1, 2, 4) - c(1, 2, 4))^2), 0)
  expect_equal(pairs$cv$risk, error, tolerance = 1e-12)
  many <- list(y = rep(1:2, 2500) + 0, group = rep(1:2500, each = 2))
  expect_error(mta(many$y, many$group, "custom", A = Matrix::Diagonal(2500), cv = "loo"), "use cv = \"split\"", class = "granary_error_input")
})

test_that("vector means: coordinates decouple with a common scalar variance", {
  set.seed(1)
  g <- rep(1:6, 2:7)
  y <- cbind(u = rnorm(27) + g / 5, v = rnorm(27))
  fit <- mta(y, g, noise_var = 0.8)
  tau2 <- mean(apply(fit$mean, 2, var))
  expect_equal(fit$tau2, tau2)
  for (j in 1:2) {
    one <- mta(data.frame(mean = fit$mean[, j], n = 2:7), noise_var = 0.8, gamma = var(fit$mean[, j]) / tau2)
    expect_equal(unname(fit$estimate[, j]), unname(coef(one)), tolerance = 1e-12)
    expect_equal(unname(fit$se[, j]), unname(one$se), tolerance = 1e-12)
  }
  # own and pooled covariance matrices against the formula
  S <- lapply(split(as.data.frame(y), g), cov)
  own <- mta(y, g, variance = "own")
  sigma <- matrix(0, 12, 12)
  for (t in 1:6) sigma[2 * t - 1:0, 2 * t - 1:0] <- S[[t]] / (t + 1)
  L <- laplacian(matrix(1 / tau2, 6, 6))
  solved <- solve(diag(12) + sigma %*% kronecker(L, diag(2)) / 6, as.vector(t(fit$mean)))
  expect_equal(as.vector(t(own$estimate)), unname(solved), tolerance = 1e-12)
  pooled <- mta(y, g)
  expect_equal(coef(mta(y, g, noise_var = pooled$covariance)), coef(pooled), tolerance = 1e-12)
  expect_equal(coef(mta(y, g, noise_var = rep(list(pooled$covariance), 6))), coef(pooled), tolerance = 1e-12)
  expect_equal(coef(mta(lapply(1:6, function(t) y[g == t, , drop = FALSE]))), coef(pooled), tolerance = 1e-12)
  expect_identical(dim(coef(mta(y, g, "pairwise"))), c(6L, 2L))
  expect_identical(dim(coef(mta(y, g, "custom", A = matrix(1, 6, 6), variance = "own"))), c(6L, 2L))
  expect_error(mta(y, g, cv = "loo"), "mean vectors", class = "granary_error_input")
  expect_error(mta(y, g, noise_var = -diag(2)), "negative eigenvalue", class = "granary_error_input")
})

test_that("weights of given similarities: Proposition 4", {
  alpha <- c(0.1, 0.2, 0.3)
  W <- mta_bounds("weights", matrix(alpha, 3, 3, byrow = TRUE), Gamma = 2.5)
  expect_equal(W, diag(3) / 2.5 + matrix(alpha, 3, 3, byrow = TRUE), tolerance = 1e-14)
  # Corollary 5: shrinkage towards the pooled mean
  n <- c(2, 5, 3)
  lambda <- 0.7
  W <- mta_bounds("weights", matrix(n, 3, 3, byrow = TRUE), Gamma = (1 - lambda) / (lambda * sum(n)))
  expect_equal(W, lambda * diag(3) + (1 - lambda) * matrix(n / sum(n), 3, 3, byrow = TRUE), tolerance = 1e-14)
  expect_error(mta_bounds("weights", matrix(1, 2, 3)), "square", class = "granary_error_input")
  expect_error(mta_bounds("weights", -diag(2)), "negative", class = "granary_error_input")
})

test_that("risk: the two-task formula, its best similarity and its break-even distance", {
  for (D in c(0.3, 1, 4)) {
    s <- c(0.2, 0.9)
    a <- 0.6
    r <- mta_bounds("risk", c(0, D), s, a = a)
    bottom <- (2 + sum(s) * a)^2
    first <- s[1] * (4 + 4 * s[2] * a + s[1] * s[2] * a^2 + s[2]^2 * a^2) / bottom + D^2 * s[1]^2 * a^2 / bottom
    expect_equal(r$mse[1], first, tolerance = 1e-12)
    best <- optimize(function(l) mta_bounds("risk", c(0, D), s, a = exp(l))$risk, c(-8, 8), tol = 1e-10)
    expect_equal(exp(best$minimum), 2 / D^2, tolerance = 1e-4)
    expect_equal(r$best_a, 2 / D^2)
    expect_equal(mta_bounds("risk", c(0, r$break_even), s, a = a)$mse, s, tolerance = 1e-12)
    expect_equal(mta_bounds("risk", c(0, D), s, oracle = TRUE)$risk, best$objective, tolerance = 1e-8)
  }
  W <- mta_bounds("weights", matrix(1, 3, 3), c(0.1, 0.3, 0.2))
  mu <- c(1, 2, 4)
  s <- c(1, 2, 3)
  expect_equal(mta_bounds("risk", mu, s, W)$risk, sum(diag(W %*% diag(s) %*% t(W))) + sum((mu - W %*% mu)^2), tolerance = 1e-12)
  expect_equal(mta_bounds("risk", c(0, 0), 1 / 2, a = 1)$change, -27.78, tolerance = 1e-3)
  expect_equal(mta_bounds("risk", c(0, 0), 1 / 20, a = 1)$change, -4.65, tolerance = 1e-2)
  expect_error(mta_bounds("risk", mu, s, W, a = 1), "one of", class = "granary_error_input")
  expect_error(mta_bounds("risk", mu, 1:2), "one per task", class = "granary_error_input")
})

test_that("the risk formula is what simulation gives", {
  set.seed(1)
  mu <- c(0, 0.5, 2)
  s <- c(0.5, 1, 0.2)
  W <- mta_bounds("weights", matrix(1, 3, 3), s / 3)
  y <- mu + sqrt(s) * matrix(rnorm(3 * 4e4), 3)
  loss <- colSums((W %*% y - mu)^2)
  expect_lt(abs(mean(loss) - mta_bounds("risk", mu, s, W)$risk), 4 * sd(loss) / sqrt(length(loss)))
})

test_that("leave-one-out risk equals refitting, and cross-validated estimators are honest", {
  d <- samples(11)
  table <- mta_compare(d$y, d$group, c("pooled", "average", "james_stein", "james_stein_effective", "constant", "minimax", "pairwise"))
  refit <- function(estimate) {
    n <- tabulate(d$group)
    sum(vapply(which(n[d$group] > 1), function(i) (d$y[i] - estimate(d$y[-i], d$group[-i])[d$group[i]])^2 / n[d$group[i]], 0))
  }
  expected <- c(
    refit(function(y, g) as.vector(tapply(y, g, mean))), refit(function(y, g) rep(mean(y), 8)),
    refit(function(y, g) rep(mean(tapply(y, g, mean)), 8)),
    refit(function(y, g) coef(mta(y, g, method = "james_stein"))), refit(function(y, g) coef(mta(y, g, dim = "effective", method = "james_stein"))),
    refit(function(y, g) coef(mta(y, g))),
    refit(function(y, g) coef(mta(y, g, "minimax"))), refit(function(y, g) coef(mta(y, g, "pairwise")))
  )
  expect_equal(table$risk, expected, tolerance = 1e-10)
  expect_equal(table$change, 100 * (expected / expected[1] - 1), tolerance = 1e-8)
  small <- d[d$group < 5, ]
  double <- mta_compare(small$y, small$group, c("constant_cv", "james_stein_cv"), gamma = 4^(-2:2))
  n <- tabulate(small$group)
  expected <- sum(vapply(seq_along(small$y), function(i) {
    fit <- mta(small$y[-i], small$group[-i], gamma = 4^(-2:2), cv = "loo")
    (small$y[i] - coef(fit)[[as.character(small$group[i])]])^2 / n[small$group[i]]
  }, 0))
  expect_equal(double$risk[2], expected, tolerance = 1e-10)
})

test_that("mta_compare(): seeds, threads, truth, errors", {
  set.seed(1)
  d <- sim_mta(12, 0.3, n_range = c(2, 5))
  run <- function(threads) {
    set.seed(5)
    mta_compare(d$y, d$group, c("minimax_cv", "james_stein_cv"), tune_tasks = 5, threads = threads)
  }
  expect_identical(run(1), run(2))
  truth <- mta_compare(y ~ group, d, c("constant", "constant_cv", "james_stein", "pooled"), risk = "truth", truth = attr(d, "mu"))
  expect_equal(truth$risk[2], sum((coef(mta(y ~ group, d)) - attr(d, "mu"))^2), tolerance = 1e-10)
  expect_equal(truth$risk[3], sum((coef(mta(y ~ group, d, cv = "loo")) - attr(d, "mu"))^2), tolerance = 1e-10)
  expect_equal(truth$risk[4], sum((coef(mta(y ~ group, d, method = "james_stein")) - attr(d, "mu"))^2), tolerance = 1e-10)
  expect_error(mta_compare(d$y, d$group, risk = "truth"), "true means", class = "granary_error_input")
  expect_error(mta_compare(d$y, d$group, "bayes"), "one of", class = "granary_error_input")
  expect_error(mta_compare(data.frame(mean = 1:2, n = 2, var = 1)), "nothing could be left out", class = "granary_error_input")
  expect_error(mta_compare(1:3, 1:3, noise_var = 1), "at least two samples", class = "granary_error_input")
  expect_output(print(truth), "true means")
})

test_that("James-Stein: formulas (5), (6) and (7), clamped for few tasks", {
  d <- samples(12)
  m <- as.vector(tapply(d$y, d$group, mean))
  n <- tabulate(d$group)
  s <- sum((d$y - m[d$group])^2) / (length(d$y) - 8) / n
  keep <- 1 - 5 / sum((m - mean(m))^2 / s)
  expect_equal(unname(coef(mta(d$y, d$group, positive = FALSE, method = "james_stein"))), mean(m) + keep * (m - mean(m)))
  expect_equal(mean(coef(mta(d$y, d$group, method = "james_stein"))), mean(m))
  k <- sum(s) / max(s)
  expect_equal(unname(coef(mta(d$y, d$group, dim = "effective", method = "james_stein"))),
               mean(m) + max(0, 1 - max(0, k - 3) / sum((m - mean(m))^2 / s)) * (m - mean(m)))
  one <- mta(1:6 + 0.5, 1:6, target = "zero", noise_var = 2, method = "james_stein")
  expect_equal(unname(coef(one)), (1 - 4 * 2 / sum((1:6 + 0.5)^2)) * (1:6 + 0.5))
  for (tasks in 2:3) {
    few <- d[d$group <= tasks, ]
    expect_equal(coef(mta(few$y, few$group, method = "james_stein")), coef(mta(few$y, few$group, gamma = 0)))
  }
  # heavy noise: all the way to the target, never beyond it
  expect_equal(mta(d$y, d$group, noise_var = 1e6, method = "james_stein")$shrinkage, 0)
  expect_lt(mta(d$y, d$group, noise_var = 1e6, positive = FALSE, method = "james_stein")$shrinkage, 0)
  cv <- mta(d$y, d$group, cv = "loo", method = "james_stein")
  expect_equal(unname(coef(cv)), mean(m) + cv$shrinkage * (m - mean(m)))
  W <- cv$shrinkage * diag(8) + (1 - cv$shrinkage) / 8
  expect_equal(unname(cv$se), sqrt(diag(W %*% diag(s) %*% t(W))), tolerance = 1e-12)
  expect_equal(mta(list(c(1, 1), c(2, 2), c(3, 3), c(5, 5)), variance = "own", method = "james_stein")$shrinkage, 1)
})

test_that("it is the best linear unbiased prediction of a random-effects model", {
  d <- samples(13)
  fit <- mta(d$y, d$group)
  skip_if_not_installed("metafor")
  rma <- getExportedValue("metafor", "rma.uni")(yi = fit$mean, vi = fit$var_mean, tau2 = fit$tau2)
  blup <- getExportedValue("metafor", "blup")(rma)
  expect_equal(unname(coef(fit)), blup$pred, tolerance = 1e-8)
  expect_equal(unname(fit$posterior_sd), blup$se, tolerance = 1e-8)
})

test_that("it solves Henderson's mixed-model equations", {
  d <- samples(13)
  for (variance in c("pooled", "own")) {
    fit <- mta(d$y, d$group, variance = variance, gamma = 0.7)
    # y_ti = xi + b_t + e_ti with var(b) = tau^2 and var(e_ti) = sigma_t^2
    weight <- 1 / rep_len(fit$noise_var, 8)[d$group]
    Z <- outer(d$group, 1:8, "==") + 0
    X <- cbind(1, Z)
    solved <- solve(crossprod(X, weight * X) + diag(c(0, rep(1 / fit$tau2, 8))), crossprod(X, weight * d$y))
    expect_equal(fit$target, solved[1], tolerance = 1e-10)
    expect_equal(unname(coef(fit)), solved[1] + solved[-1], tolerance = 1e-10)
  }
})

test_that("methods", {
  d <- samples(14)
  fit <- mta(y ~ group, d)
  expect_identical(unname(fitted(fit)), unname(coef(fit)[as.character(d$group)]))
  expect_equal(unname(residuals(fit)), d$y - unname(fitted(fit)))
  limits <- confint(fit, level = 0.9)
  expect_equal(limits[, 2] - limits[, 1], 2 * qnorm(0.95) * fit$se)
  expect_equal(rownames(confint(fit, c("3", "5"), type = "posterior")), c("3", "5"))
  expect_error(confint(fit, "99"), "\"99\" is none", class = "granary_error_input")
  expect_error(confint(mta(y ~ group, d, method = "james_stein"), type = "posterior"), "naive", class = "granary_error_input")
  expect_equal(unname(predict(fit, c("2", "unheard of"))), c(coef(fit)[["2"]], fit$target))
  expect_error(predict(mta(y ~ group, d, method = "pairwise"), "unheard of"), "no common target", class = "granary_error_input")
  expect_error(residuals(mta(data.frame(mean = 1:3, n = 2, var = 1))), "no residuals", class = "granary_error_input")
  expect_named(tidy(fit), c("term", "n", "mean", "estimate", "std.error", "weight"))
  expect_output(print(fit), "MTA Constant: 8 means")
  expect_output(print(summary(fit)), "Standard deviation of the means")
  expect_identical(deparse(fit$call), "mta(formula = y ~ group, data = d)")
  pdf(NULL)
  expect_null(plot(fit))
  expect_null(plot(mta(list(c(1, 3), c(2, 2), c(0, 4)))))
  dev.off()
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
})

test_that("simulated tasks follow their law", {
  set.seed(1)
  for (type in c("gaussian", "uniform")) {
    d <- sim_mta(4000, s2_mu = 2, design = type, n_range = c(2, 9))
    expect_equal(var(attr(d, "mu")), 2, tolerance = 0.1)
    expect_equal(mean(attr(d, "noise_var")), if (type == "gaussian") 1 else 1.05, tolerance = 0.06)
    z <- (d$y - attr(d, "mu")[d$group]) / sqrt(attr(d, "noise_var")[d$group])
    expect_equal(var(z), 1, tolerance = 0.04)
    expect_identical(range(table(d$group)), c(2L, 9L))
  }
  expect_error(sim_mta(3, n_range = c(5, 2)), "increasing", class = "granary_error_input")
})

test_that("shrinkage helps when means are close (several seeds)", {
  gain <- vapply(1:20, function(seed) {
    set.seed(seed)
    d <- sim_mta(25, s2_mu = 0.1)
    mta_compare(d$y, d$group, c("constant", "minimax"), risk = "truth", truth = attr(d, "mu"))$change[2:3]
  }, c(0, 0))
  expect_lt(mean(gain[1, ]), -25)
  expect_lt(mean(gain[2, ]), -5)
  expect_gt(mean(gain[1, ] < 0), 0.8)
})

test_that("a million groups are linear work", {
  skip_on_cran()
  n <- rep(1:5, 2e5)
  set.seed(1)
  g <- rep.int(seq_along(n), n)
  y <- rnorm(sum(n)) + rnorm(length(n))[g]
  used <- system.time(fit <- mta(y, g))
  expect_lt(used[["user.self"]] + used[["sys.self"]], 10)  # half a second on an idle machine; quadratic work would take an hour
  expect_null(fit$W)
  w <- fit$tau2 / (fit$tau2 + fit$var_mean)
  expect_equal(fit$estimate[[77777]], w[[77777]] * fit$mean[[77777]] + (1 - w[[77777]]) * sum(w * fit$mean) / sum(w))
  expect_error(mta(y, g, weights = TRUE), "would need", class = "granary_error_input")
})
