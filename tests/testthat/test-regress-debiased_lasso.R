small <- function(n = 60, p = 20, s0 = 3, b = 1, seed = 1) {
  set.seed(seed)
  sim_debiased_lasso(n, p, s0, b)
}

scaled <- function(x) {
  x <- sweep(x, 2, colMeans(x))
  sweep(x, 2, sqrt(colMeans(x^2)), `/`)
}

test_that("the scaled lasso is a fixed point of its two steps, and equivariant", {
  sim <- small(80, 120)
  fit <- scaled_lasso(sim$x, sim$y)
  expect_equal(fit$lambda, fit$sigma * sqrt(2 * log(120) / 80), tolerance = 1e-7)
  expect_equal(fit$sigma, sqrt(mean(residuals(fit)^2)), tolerance = 1e-7)
  expect_equal(unname(coef(fit)), unname(coef(lasso(sim$x, sim$y, lambda = fit$lambda, tol = 1e-9))[, 1]), tolerance = 1e-6)
  for (s in c(1e-8, 1e8)) {
    other <- scaled_lasso(sim$x / s, sim$y * s)
    expect_equal(other$sigma, s * fit$sigma, tolerance = 1e-6)
    expect_equal(other$coefficients, s^2 * fit$coefficients, tolerance = 1e-5)
  }
  # the joint objective, at scaled columns, is no smaller nearby
  z <- scaled(sim$x)
  y <- sim$y - mean(sim$y)
  objective <- function(t, s) sum((y - z %*% t)^2) / (2 * 80 * s) + s / 2 + fit$lambda0 * sum(abs(t))
  t <- fit$coefficients * sqrt(colMeans(sweep(sim$x, 2, colMeans(sim$x))^2))
  expect_equal(fit$objective, objective(t, fit$sigma), tolerance = 1e-6)
  for (k in 1:20) expect_gt(objective(t + 1e-3 * rnorm(120), fit$sigma * (1 + 1e-3 * rnorm(1))), fit$objective - 1e-9)
  sparse <- scaled_lasso(methods::as(Matrix::Matrix(sim$x, sparse = TRUE), "CsparseMatrix"), sim$y)
  expect_equal(sparse$coefficients, fit$coefficients, tolerance = 1e-6)
  expect_equal(sigma(scaled_lasso(mpg ~ ., mtcars)), scaled_lasso(mtcars[, -1], mtcars$mpg)$sigma)
  expect_output(print(fit), "scaled lasso, n = 80, p = 120")
})

test_that("the scaled lasso recovers the noise level", {
  estimates <- vapply(1:10, function(seed) {
    set.seed(seed)
    sim <- sim_debiased_lasso(200, 300, 4, 1, sigma = 2)
    scaled_lasso(sim$x, sim$y)$sigma
  }, 0)
  expect_lt(abs(mean(estimates) / 2 - 1), 0.12)
})

test_that("rows carry the certificate of equation (4)", {
  sim <- small(50, 80)
  z <- scaled(sim$x)
  s <- crossprod(z) / 50
  for (mu in c(0.16, 0.2, 0.3, 0.6)) {
    rows <- decorrelate(sim$x, mu = mu)
    m <- as.matrix(rows)
    expect_lt(max(abs(m %*% s - diag(80))), mu * (1 + 1e-7))
    value <- rowSums((m %*% s) * m)
    expect_equal(unname(value), unname(diag(m) - mu * rowSums(abs(m))), tolerance = 1e-6)  # zero duality gap
    expect_true(all(value >= (1 - mu)^2 - 1e-8))
    expect_equal(unname(value[rows$table$shortcut]), rep((1 - mu)^2, sum(rows$table$shortcut)), tolerance = 1e-8)
    expect_equal(unname(value), rows$table$variance, tolerance = 1e-8)
    expect_equal(crossprod(rows$rows) / 50, m %*% s %*% t(m), tolerance = 1e-7, ignore_attr = TRUE)
  }
  expect_true(all(decorrelate(sim$x, mu = 0.16)$table$variance >= decorrelate(sim$x, mu = 0.25)$table$variance - 1e-8))
  expect_equal(debiased_lasso_bounds("coherence", sim$x, decorrelate(sim$x, mu = 0.2)), 0.2, tolerance = 1e-6)
  expect_equal(debiased_lasso_bounds("coherence", sim$x), max(abs(s - diag(80))))
  expect_equal(debiased_lasso_bounds("coherence", sim$x, as.matrix(decorrelate(sim$x, mu = 0.2))), 0.2, tolerance = 1e-6)
})

test_that("a few rows, found without the p x p matrix, are those of all rows", {
  sim <- small(50, 120)
  few <- c(3, 60, 111)
  for (noise in c("gaussian", "robust")) {
    all <- decorrelate(sim$x, mu = 0.22, noise = noise, beta = 0.3)
    part <- decorrelate(sim$x, mu = 0.22, which = few, noise = noise, beta = 0.3)
    expect_equal(part$rows, all$rows[, few], tolerance = 1e-6)
    expect_equal(part$table$variance, all$table$variance[few], tolerance = 1e-7)
    expect_identical(part$table$shortcut, all$table$shortcut[few])
  }
  expect_equal(decorrelate(sim$x, which = few, mu_rule = "search")$table, decorrelate(sim$x, mu_rule = "search")$table[few, ], tolerance = 1e-6)
  node <- debiased_lasso_baseline(sim$x, sim$y, "nodewise")
  expect_equal(debiased_lasso_baseline(sim$x, sim$y, "nodewise", which = few)$coefficients, node$coefficients[few], tolerance = 1e-7)
})

test_that("two rows of 100000 need the memory of the design", {
  skip_if(Sys.getenv("GRANARY_EXTENDED") != "1")  # inner products of all columns would take 80 GB
  set.seed(1)
  rows <- decorrelate(matrix(rnorm(40 * 1e5), 40), which = c(7, 70000), mu = 0.8)
  expect_equal(rows$table$coherence, c(0.8, 0.8), tolerance = 1e-6)
})

test_that("100000 columns take the memory of the design and seconds, from the noise level to the intervals", {
  set.seed(2)
  x <- matrix(rnorm(40 * 1e5), 40)
  y <- 6 * x[, 1] - 6 * x[, 2] + rnorm(40)
  # s0 log p is not small beside sqrt(n) here, so coverage is not promised, and the fit says so
  expect_warning(used <- system.time(fit <- debiased_lasso(x, y, which = 1:2)), "too short", class = "granary_warning_input")
  expect_lt(used[["user.self"]] + used[["sys.self"]], 20)
  # the correction must still go the right way
  expect_true(all(abs(coef(fit) - c(6, -6)) < abs(fit$lasso[1:2] - c(6, -6))))
  expect_true(all(fit$p_adj < 0.05))
  # far below the noise level a third of the columns violate the conditions at zero: their products would take 8 GB
  low <- lasso(x, y, lambda = 0.3, tol = 1e-9)
  expect_true(low$convergence$converged)
  z <- sweep(x, 2, colMeans(x))
  z <- sweep(z, 2, sqrt(colMeans(z^2)), "/")
  b <- drop(low$coefficients[, 1]) * sqrt(colMeans(sweep(x, 2, colMeans(x))^2))
  slope <- drop(crossprod(z, y - mean(y) - z %*% b)) / 40
  expect_lte(max(abs(slope)), 0.3 * (1 + 1e-6))
  expect_equal(unname(slope[b != 0]), unname(0.3 * sign(b[b != 0])), tolerance = 1e-6)
})

test_that("the scaled lasso takes few steps to its fixed point, and says when there is none", {
  set.seed(3)
  x <- matrix(rnorm(60 * 300), 60)
  y <- drop(x[, 1:8] %*% rep(2, 8)) + rnorm(60)
  fit <- scaled_lasso(x, y)
  expect_lt(fit$convergence$iterations, 30)
  expect_equal(sqrt(mean(residuals(fit)^2)), fit$sigma, tolerance = 1e-7)
  expect_equal(fit$lambda, fit$lambda0 * fit$sigma, tolerance = 1e-7)
  expect_error(scaled_lasso(x, y, lambda0 = 0.1), "perfectly", class = "granary_error")
})

test_that("the robust row bounds Xm, costs variance, and changes nothing when the bound is slack", {
  sim <- small(40, 60)
  plain <- decorrelate(sim$x, mu = 0.2, which = 1:10)
  robust <- decorrelate(sim$x, mu = 0.2, which = 1:10, noise = "robust", beta = 0.26)
  expect_true(any(plain$table$largest > 40^0.26))
  fine <- robust$table$feasible & robust$table$mu == 0.2
  expect_true(any(fine))
  expect_true(all(robust$table$largest[fine] <= 40^0.26 * (1 + 1e-6)))
  expect_true(all(robust$table$coherence[fine] <= 0.2 * (1 + 1e-6)))
  expect_true(all(robust$table$variance[fine] >= plain$table$variance[fine] - 1e-7))
  slack <- decorrelate(sim$x, mu = 0.2, which = 1:10, noise = "robust", beta = 0.49)
  same <- plain$table$largest < 40^0.49
  expect_true(any(same))
  expect_equal(slack$table$variance[same], plain$table$variance[same], tolerance = 1e-5)
  tall <- small(60, 12)
  expect_equal(decorrelate(tall$x, mu = 0.05, noise = "robust", beta = 0.49)$table$variance, decorrelate(tall$x, mu = 0.05)$table$variance,
               tolerance = 1e-5)
})

test_that("with n > p and mu = 0 the estimate is least squares for every lambda", {
  sim <- small(60, 12)
  truth <- lm(sim$y ~ sim$x)
  for (lambda in c(0, 0.1, 10)) {
    fit <- debiased_lasso(sim$x, sim$y, lambda = lambda, mu = 0, sigma = summary(truth)$sigma)
    expect_equal(unname(coef(fit)), unname(coef(truth)[-1]), tolerance = 1e-7)
    expect_equal(unname(vcov(fit)), unname(vcov(truth)[-1, -1]), tolerance = 1e-7)
  }
  ols <- debiased_lasso_baseline(sim$x, sim$y, "ols")
  expect_equal(ols$se, summary(truth)$coefficients[-1, 2], tolerance = 1e-8, ignore_attr = TRUE)
  expect_equal(unname(debiased_lasso(sim$x, sim$y, mu_rule = "min", sigma = 1)$coefficients), unname(coef(truth)[-1]), tolerance = 1e-6)
})

test_that("with M = I the correction is lambda times a subgradient", {
  sim <- small(50, 80)
  fit <- debiased_lasso(sim$x, sim$y, m = diag(80), standardize = FALSE, intercept = FALSE)
  step <- fit$coefficients - fit$lasso
  expect_lt(max(abs(step)), fit$lambda * (1 + 1e-6))
  active <- fit$lasso != 0
  expect_true(any(active))
  expect_equal(unname(step[active]), unname(fit$lambda * sign(fit$lasso[active])), tolerance = 1e-6)
})

test_that("the error splits into noise and bias as the paper says", {
  sim <- small(50, 80)
  rows <- decorrelate(sim$x, mu = 0.2, intercept = FALSE, standardize = FALSE)
  fit <- debiased_lasso(sim$x, sim$y, m = rows, intercept = FALSE, standardize = FALSE)
  m <- as.matrix(rows)
  noise <- sim$y - drop(sim$x %*% sim$theta)
  s <- crossprod(sim$x) / 50
  expected <- drop(m %*% crossprod(sim$x, noise)) / 50 + drop((m %*% s - diag(80)) %*% (sim$theta - fit$lasso))
  expect_equal(unname(fit$coefficients - sim$theta), unname(expected), tolerance = 1e-8)
})

test_that("intervals, p-values and tests belong together", {
  sim <- small(60, 40)
  fit <- debiased_lasso(sim$x, sim$y)
  expect_equal(unname(fit$pvalue), unname(2 * pnorm(-abs(fit$coefficients / fit$se))))
  expect_equal(fit$ci, confint(fit))
  expect_equal(unname(sqrt(diag(vcov(fit)))), unname(fit$se), tolerance = 1e-8)
  expect_equal(anova(fit, parm = 3)$p.value, unname(fit$pvalue[3]), tolerance = 1e-8)
  expect_equal(unname(confint(fit, 3, joint = "ellipsoid")), unname(confint(fit, 3)), tolerance = 1e-8)
  expect_true(all(confint(fit, 1:4, joint = "ellipsoid")[, 2] > confint(fit, 1:4, joint = "bonferroni")[, 2]))
  difference <- anova(fit, parm = 1:2, contrast = rbind(c(1, -1)))
  v <- vcov(fit)[1:2, 1:2]
  expect_equal(unname(difference$statistic), unname((fit$coefficients[1] - fit$coefficients[2])^2 / (v[1, 1] + v[2, 2] - 2 * v[1, 2])),
               tolerance = 1e-8)
  expect_lt(anova(fit, parm = sim$support)$p.value, 1e-6)
  expect_gt(anova(fit, parm = sim$support, value = fit$coefficients[sim$support])$p.value, 0.99)
  expect_equal(unname(fit$y - predict(fit)), unname(residuals(fit)))
  expect_equal(nrow(tidy(fit)), 40)
  expect_identical(names(glance(fit))[1], "sigma")
  expect_output(print(summary(fit, adjust = "BH")), "after adjustment \\(BH\\)")
  expect_output(print(fit), "familywise level")
  pdf(NULL)
  on.exit(dev.off())
  for (type in c("ci", "qq", "pvalue")) expect_null(plot(fit, type))
  part <- debiased_lasso(sim$x, sim$y, which = c("V3", "V7"))
  expect_equal(part$coefficients, fit$coefficients[c("V3", "V7")], tolerance = 1e-8)
  tiny <- debiased_lasso(sim$x, sim$y + 4 * sim$x[, 5], sigma = 1, which = 5)$pvalue
  expect_true(tiny > 0 && tiny < 1e-100)
})

test_that("tidy, glance and augment of the noise level, the rows and the intervals", {
  sim <- small(60, 40)
  noise <- scaled_lasso(sim$x, sim$y)
  expect_equal(glance(noise)[c("sigma", "lambda", "df")], data.frame(sigma = noise$sigma, lambda = noise$lambda, df = noise$df))
  expect_equal(augment(noise)$.resid, unname(residuals(noise)))
  rows <- decorrelate(sim$x, which = 3:5)
  expect_identical(tidy(rows)$term, c("V3", "V4", "V5"))
  expect_equal(tidy(rows)$variance, rows$table$variance)
  fit <- debiased_lasso(sim$x, sim$y)
  frame <- data.frame(id = 1:60)
  expect_identical(names(augment(fit, frame)), c("id", ".fitted", ".resid"))
  expect_equal(augment(fit, frame)$.fitted, unname(predict(fit)))
})

test_that("the coverage to be expected follows from bias and noise, whatever the units, and a low one is announced", {
  sim <- small(60, 40)
  fit <- debiased_lasso(sim$x, sim$y)
  z <- scale(sim$x) * sqrt(60 / 59)
  off <- pmin(fit$lambda, abs(fit$lasso * fit$scale))
  ms <- t(crossprod(z, fit$rows)) / 60
  bias <- sqrt(drop((ms - diag(40))^2 %*% off^2)) / (fit$sigma * sqrt(fit$table$variance / 60))
  expect_equal(unname(fit$bias), unname(bias), tolerance = 1e-8)
  share <- ifelse(fit$lasso != 0, diag(ms), 1)
  guess <- pnorm((qnorm(0.975) - bias) * share) - pnorm((-qnorm(0.975) - bias) * share)
  expect_equal(unname(fit$coverage), unname(guess), tolerance = 1e-8)
  expect_equal(glance(fit)$coverage, mean(guess[fit$lasso != 0]), tolerance = 1e-8)
  expect_equal(debiased_lasso(1e6 * sim$x, 1e-3 * sim$y)$coverage, fit$coverage, tolerance = 1e-5)
  expect_equal(unname(debiased_lasso(sim$x, sim$y, mu = 0)$coverage), rep(0.95, 40), tolerance = 1e-6)
  expect_equal(unname(debiased_lasso(sim$x, sim$y, lambda = 1e3)$coverage), rep(0.95, 40))  # nothing selected, nothing known
  set.seed(4)
  wide <- sim_debiased_lasso(40, 2000, 2, 4)
  expect_warning(short <- debiased_lasso(wide$x, wide$y, which = wide$support), "too short.*log\\(p\\) / sqrt\\(n\\)",
                 class = "granary_warning_input")
  expect_lt(glance(short)$coverage, 0.8)
  expect_output(print(short), "coverage to be expected")
  tall <- sim_debiased_lasso(1000, 60, 5, 0.5)
  expect_silent(debiased_lasso(tall$x, tall$y, which = 1:5))
})

test_that("the coverage to be expected is about the coverage there is", {
  skip_if(Sys.getenv("GRANARY_EXTENDED") != "1")
  set.seed(21)
  for (size in list(c(100, 300), c(60, 1000), c(400, 300))) {
    seen <- replicate(100, {
      sim <- sim_debiased_lasso(size[1], size[2], 3, 1.5, rho = 0)
      fit <- suppressWarnings(debiased_lasso(sim$x, sim$y, which = sim$support))
      c(mean(fit$ci[, 1] <= 1.5 & fit$ci[, 2] >= 1.5), glance(fit)$coverage)
    })
    expect_lt(abs(mean(seen[1, ]) - mean(seen[2, ], na.rm = TRUE)), 0.1)
  }
})

test_that("formulas and scales", {
  fit <- debiased_lasso(mpg ~ ., mtcars)
  plain <- debiased_lasso(mtcars[, -1], mtcars$mpg)
  expect_equal(coef(fit), coef(plain))
  expect_equal(predict(fit, mtcars[1:3, ]), predict(plain)[1:3], ignore_attr = TRUE)
  sim <- small(50, 60)
  fit <- debiased_lasso(sim$x, sim$y)
  for (s in c(1e-8, 1e8)) {
    other <- debiased_lasso(sim$x * s, sim$y)
    expect_equal(other$coefficients * s, fit$coefficients, tolerance = 1e-5)
    expect_equal(other$pvalue, fit$pvalue, tolerance = 1e-4)
  }
})

test_that("one thread and two give the same answer", {
  sim <- small(60, 40)
  expect_identical(debiased_lasso(sim$x, sim$y, threads = 1)$coefficients, debiased_lasso(sim$x, sim$y, threads = 2)$coefficients)
})

test_that("p-values under the null are uniform, and intervals cover", {
  set.seed(7)
  sim <- sim_debiased_lasso(100, 60, 0, 0)
  p <- unlist(lapply(1:10, function(k) debiased_lasso(sim$x, rnorm(100), sigma = 1, m = decorrelate(sim$x))$pvalue))
  expect_gt(ks.test(p[seq(1, length(p), by = 7)], "punif")$p.value, 0.001)
  covered <- replicate(20, {
    sim <- sim_debiased_lasso(150, 100, 4, 0.8)
    ci <- debiased_lasso(sim$x, sim$y)$ci
    c(mean(ci[sim$support, 1] <= 0.8 & ci[sim$support, 2] >= 0.8), mean(ci[-sim$support, 1] <= 0 & ci[-sim$support, 2] >= 0))
  })
  expect_gt(mean(covered[2, ]), 0.9)
  expect_gt(mean(covered[1, ]), 0.75)
})

test_that("95 percent intervals cover 92 to 98 percent of active and of inactive coefficients", {
  skip_if(Sys.getenv("GRANARY_EXTENDED") != "1")
  set.seed(2)
  sim <- rows <- NULL
  covered <- vapply(1:200, function(k) {  # the first setting of the paper, a new design every twentieth time
    if (k %% 20 == 1) {
      sim <<- sim_debiased_lasso(1000, 600, 10, 0.5)
      rows <<- decorrelate(sim$x)
    }
    ci <- debiased_lasso(sim$x, drop(sim$x %*% sim$theta) + rnorm(1000), m = rows)$ci
    inside <- ci[, 1] <= sim$theta & sim$theta <= ci[, 2]
    c(active = mean(inside[sim$support]), inactive = mean(inside[-sim$support]))
  }, numeric(2))
  expect_true(all(rowMeans(covered) > 0.92 & rowMeans(covered) < 0.98), info = toString(round(rowMeans(covered), 4)))
})

test_that("duplicated columns are reported with the mu they need, and the other choices work", {
  sim <- small(30, 20)
  x <- cbind(sim$x[, 1:8], copy = sim$x[, 1])
  expect_warning(fit <- debiased_lasso(x, sim$y, mu = 0.1), "2 columns: \"V1\", \"copy\".*at least 0.5", class = "granary_warning_input")
  expect_identical(names(which(!fit$feasible)), c("V1", "copy"))
  expect_equal(fit$table$mu_min[c(1, 9)], c(0.5, 0.5), tolerance = 1e-4)
  expect_true(all(fit$table$coherence <= fit$table$mu + 1e-6))
  expect_error(debiased_lasso(x, sim$y, mu = 0.1, infeasible = "error"), "smallest feasible mu is 0.[45]", class = "granary_error")
  expect_warning(fit <- decorrelate(x, mu = 0.1, infeasible = "identity"), "identity", class = "granary_warning_input")
  expect_equal(unname(as.matrix(fit)[1, ]), c(1, rep(0, 8)))
})

test_that("the rules for mu: search goes as low as it can, min is close to the bound", {
  sim <- small(40, 60)
  start <- qnorm(1 - 0.1 / 60^2) / sqrt(40)
  found <- decorrelate(sim$x, which = 1:10, mu_rule = "search")$table
  steps <- log(found$mu / start) / log(1.5)
  expect_equal(steps, round(steps), tolerance = 1e-6)
  expect_true(all(found$coherence <= found$mu * (1 + 1e-6)))
  smallest <- decorrelate(sim$x, which = 1:10, mu_rule = "min")$table
  expect_true(all(smallest$mu <= found$mu))
  for (i in 1:3) {  # below the bound there is no row
    expect_error(decorrelate(sim$x, which = i, mu = 0.9 * smallest$mu_min[i], infeasible = "error"), class = "granary_error")
  }
  expect_warning(paper <- debiased_lasso(sim$x, sim$y, preset = "paper", which = 1), NA)
  expect_equal(unname(paper$mu), 2 * sqrt(log(60) / 40))
  expect_equal(paper$lambda, 4 * paper$sigma * sqrt(2 * log(60) / 40))
  plain <- debiased_lasso(sim$x, sim$y, which = 1)
  expect_equal(plain$lambda, plain$sigma * sqrt(2 * log(60) / 40) / 2)
})

test_that("baselines find strong effects and keep their promises", {
  sim <- small(100, 120, 3, 1.5)
  for (method in c("nodewise", "ridge", "split")) {
    set.seed(2)
    fit <- debiased_lasso_baseline(sim$x, sim$y, method, splits = 11)
    expect_s3_class(fit, "granary_debiased_lasso")
    expect_true(all(fit$p_adj[sim$support] < 0.05))
    expect_lte(sum(fit$p_adj[-sim$support] < 0.05), 2)
    expect_output(print(fit), "n = 100")
  }
  expect_error(confint(fit), "p-values, not intervals", class = "granary_error_input")
  expect_error(vcov(fit), "no covariance", class = "granary_error_input")
  set.seed(2)
  expect_identical(debiased_lasso_baseline(sim$x, sim$y, "split", splits = 11)$pvalue, fit$pvalue)
  # nodewise rows: tau^2 and the bound |S m - e_j| <= lambda / tau^2 off the diagonal
  z <- scaled(sim$x)
  fit <- debiased_lasso_baseline(sim$x, sim$y, "nodewise", lambda_nodes = 0.2)
  tau2 <- 1 / diag(crossprod(fit$rows, z) / 100) # = 1 by construction
  expect_equal(unname(tau2), rep(1, 120), tolerance = 1e-6)
  expect_error(debiased_lasso_baseline(sim$x, sim$y, "ols"), "more rows than columns", class = "granary_error_input")
})

test_that("power, its inverses and its bound", {
  curve <- debiased_lasso_bounds("power", n = 100, gamma = seq(0, 0.5, 0.01))$power
  expect_equal(curve[1], 0.05)
  expect_true(all(diff(curve) > 0))
  z <- qnorm(0.975)
  expect_equal(curve, pnorm(-z - seq(0, 5, 0.1)) + pnorm(-z + seq(0, 5, 0.1)), tolerance = 1e-12)
  bound <- function(xi, n, gamma) 2 - pnorm(z + gamma * (sqrt(n + 1) + xi)) - pnorm(z - gamma * (sqrt(n + 1) + xi)) + exp(-xi^2 / 8)
  expect_equal(debiased_lasso_bounds("power", n = 50, gamma = 0.02)$upper, min(bound(seq(0, 1.5 * sqrt(51), 1e-4), 50, 0.02)), tolerance = 1e-7)
  p <- debiased_lasso_bounds("power", n = 400, gamma = 0.1, omega = 1.07)
  expect_equal(p$power, pnorm(-qnorm(0.975) + 2 / sqrt(1.07)) + pnorm(-qnorm(0.975) - 2 / sqrt(1.07)))
  expect_gte(p$upper, p$power)
  expect_equal(debiased_lasso_bounds("power", n = 400, power = p$power, omega = 1.07)$gamma, 0.1, tolerance = 1e-8)
  expect_equal(debiased_lasso_bounds("power", gamma = 0.1, power = p$power, omega = 1.07)$n, 400, tolerance = 0.01)
  expect_gt(debiased_lasso_bounds("power", n = 400, gamma = 0.1, omega = 2, conditional = 1)$efficiency_loss, 1.9)
  expect_error(debiased_lasso_bounds("power", n = 10), "two of", class = "granary_error_input")
  expect_error(debiased_lasso_bounds("power", n = 10, power = 0.01), "`power`", class = "granary_error_input")
})

test_that("the compatibility constant matches a fine search, and bounds follow the formulas", {
  set.seed(1)
  s <- cov2cor(crossprod(matrix(rnorm(30), 10)))
  exact <- debiased_lasso_bounds("compatibility", s, 1:2)
  t <- exact$direction
  expect_equal(sum(abs(t[1:2])), 1, tolerance = 1e-6)
  expect_lte(sum(abs(t[3])), 3 + 1e-6)
  grid <- expand.grid(a = seq(0, 1, 0.01), sign = c(-1, 1), rest = seq(-3, 3, 0.01))
  vectors <- cbind(grid$a, grid$sign * (1 - grid$a), grid$rest)
  expect_equal(exact$value, min(2 * rowSums((vectors %*% s) * vectors)), tolerance = 1e-3)
  expect_equal(debiased_lasso_bounds("compatibility", diag(4), 1:3)$value, 1, tolerance = 1e-6)
  expect_equal(debiased_lasso_bounds("compatibility", 5 * diag(4), 2)$value, 5, tolerance = 1e-6)
  expect_error(debiased_lasso_bounds("compatibility", diag(20), 1:13), "at most 12", class = "granary_error_input")
  b <- debiased_lasso_bounds("bias", 1000, 600, 10, sigma = 2, mu = 0.08, phi2 = 0.5, c = 8)
  expect_equal(b$bias, 4 * 8 * 0.08 * 2 * 10 * sqrt(log(600)) / (0.5 * sqrt(1000)))
  expect_equal(b$probability, 2 / 600)
  expect_equal(b$bias_gaussian, 160 * 2 * 10 * log(600) / 1000)
})

test_that("the circulant simulator has the covariance it names", {
  set.seed(1)
  sim <- sim_debiased_lasso(20000, 12, 2, 3, sigma = 0.5)
  s <- crossprod(sim$x) / 20000
  truth <- outer(1:12, 1:12, function(i, j) {
    d <- pmin(abs(i - j), 12 - abs(i - j))
    ifelse(d == 0, 1, ifelse(d <= 5, 0.1, 0))
  })
  expect_lt(max(abs(s - truth)), 0.04)
  expect_equal(sim$omega, solve(truth)[1, 1])
  expect_equal(sd(sim$y - sim$x %*% sim$theta), 0.5, tolerance = 0.02)
  expect_equal(sim_debiased_lasso(2, 600, 0, 0)$omega, 1.0725, tolerance = 1e-4)
  expect_error(sim_debiased_lasso(5, 5, 1, 1), "`p`", class = "granary_error_input")
  expect_error(sim_debiased_lasso(5, 20, 1, 1, rho = 0.9, width = 3), "positive definite", class = "granary_error_input")
})

test_that("bad input is refused, constant columns are left out", {
  sim <- small(30, 12)
  refused <- function(expr, text) expect_error(expr, text, class = "granary_error_input")
  refused(debiased_lasso(sim$x, rep(1, 30)), "`y` is constant")
  refused(debiased_lasso(sim$x[1:2, ], sim$y[1:2]), "at least 3 rows")
  refused(debiased_lasso(replace(sim$x, 5, NA), sim$y), "missing")
  refused(debiased_lasso(sim$x[, 1, drop = FALSE], sim$y), "one column")
  refused(debiased_lasso(sim$x, sim$y, which = 13), "`which`")
  refused(debiased_lasso(sim$x, sim$y, which = "nobody"), "nobody")
  refused(debiased_lasso(sim$x, sim$y, m = diag(3)), "12 x 12")
  refused(debiased_lasso(sim$x, sim$y, beta = 0.7), "`beta`")
  refused(debiased_lasso(sim$x, sim$y, sigmma = 1), "sigmma")
  refused(debiased_lasso(0 * sim$x + 1, sim$y), "Every column")
  refused(decorrelate(sim$x[, 1, drop = FALSE]), "log p is zero")
  refused(scaled_lasso(sim$x[, 1, drop = FALSE], sim$y), "log p is zero")
  expect_error(scaled_lasso(sim$x, rep(1, 30)), "constant", class = "granary_error")
  expect_error(debiased_lasso(sim$x, drop(sim$x %*% (1:12)), lambda0 = 1e-9), "perfect", class = "granary_error")
  expect_warning(fit <- debiased_lasso(cbind(sim$x, one = 1), sim$y), "1 column is constant and left out: \"one\"", class = "granary_warning_input")
  expect_false("one" %in% names(coef(fit)))
  one <- debiased_lasso(sim$x[, 1, drop = FALSE], sim$y, sigma = 1, lambda = 0.1, mu = 0)
  expect_equal(unname(coef(one)), unname(coef(lm(sim$y ~ sim$x[, 1]))[2]), tolerance = 1e-8)
})

test_that("a row that no point satisfies under the robust bound is called infeasible, with the level a linear program finds", {
  set.seed(12)
  Z <- matrix(rt(480, 1.8), 60)
  expect_warning(rows <- decorrelate(Z, mu = 0.3, noise = "robust", beta = 0.26), "at least 0.373", class = "granary_warning")
  expect_output(print(rows), "infeasible at the mu asked for: \"V3\"")
})

test_that("many columns: it is said how long they may take", {
  wide <- list(x = matrix(0, 100, 20000))
  expect_message(slow_rows(wide, "debiased_lasso()"), "debiased_lasso\\(\\) may take up to 2 minutes.*`which`")
  expect_silent(slow_rows(c(wide, list(which = 1:100)), "debiased_lasso()"))
})
