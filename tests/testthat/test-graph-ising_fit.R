# References in plain R: nothing here calls the core.
all_states <- function(p) as.matrix(expand.grid(rep(list(c(-1, 1)), p)))

brute_ising <- function(W, b) {
  x <- all_states(length(b))
  energy <- rowSums(x * (x %*% W)) + drop(x %*% b)
  z <- sum(exp(energy))
  prob <- exp(energy) / z
  list(logz = log(z), prob = prob, mean = colSums(prob * x), second = crossprod(x, prob * x), x = x)
}

ising_violation <- function(x, W, b, lambda) {
  model <- brute_ising(W, b)
  G <- model$second - crossprod(x) / nrow(x)
  diag(G) <- 0
  off <- upper.tri(W)
  on <- W != 0 & off
  max(0, abs(G + lambda * sign(W))[on], (abs(G) - lambda)[off & !on], abs(model$mean - colMeans(x)))
}

test_that("exact fits satisfy the optimality conditions computed by brute force", {
  for (seed in 1:3) {
    set.seed(seed)
    sim <- sim_ising(7, density = 0.5, field = "uniform", n = 100, size = 0.5)
    for (lambda in c(0.02, 0.1)) {
      fit <- ising_fit(sim$data, lambda = lambda, method = "exact", tol = 1e-8)
      expect_true(fit$convergence$converged)
      expect_lt(ising_violation(sim$data, unname(fit$W), unname(fit$b), lambda), 1e-7)
      expect_equal(as.numeric(logLik(fit)), sum(predict(fit, type = "log_density")), tolerance = 1e-10)
      bounds <- ising_bounds(sim$data, lambda)
      expect_lte(sum(abs(fit$W)), bounds$W)
      expect_lte(sum(abs(fit$b)), bounds$b)
    }
  }
})

test_that("two variables without penalty give the log odds ratio of the table", {
  x <- cbind(a = rep(c(0, 0, 1, 1), c(10, 4, 3, 9)), b = rep(c(0, 1, 0, 1), c(10, 4, 3, 9)))
  fit <- ising_fit(x, lambda = 0, method = "exact", tol = 1e-9)
  expect_equal(tidy(fit)$log_odds_ratio, log(10 * 9 / (4 * 3)), tolerance = 1e-6)
  for (method in c("pseudolik", "nodewise")) {
    other <- ising_fit(x, lambda = 1e-7, method = method, tol = 1e-9)
    expect_equal(tidy(other)$log_odds_ratio, log(10 * 9 / (4 * 3)), tolerance = 1e-3)
  }
})

test_that("flipping, permuting and repeating the data does what it should", {
  set.seed(4)
  x <- sim_ising(6, density = 0.5, field = "uniform", n = 80, size = 0.5)$data
  for (method in c("exact", "pseudolik")) {
    fit <- ising_fit(x, lambda = 0.05, method = method, tol = 1e-9)
    flipped <- x
    flipped[, 2] <- -flipped[, 2]
    s <- c(1, -1, 1, 1, 1, 1)
    other <- ising_fit(flipped, lambda = 0.05, method = method, tol = 1e-9)
    expect_equal(other$W, fit$W * tcrossprod(s), tolerance = 1e-5)
    expect_equal(unname(other$b), unname(fit$b * s), tolerance = 1e-5)
    expect_equal(ising_fit(x[, 6:1], lambda = 0.05, method = method, tol = 1e-9)$W, fit$W[6:1, 6:1], tolerance = 1e-5)
    expect_equal(ising_fit(rbind(x, x), lambda = 0.05, method = method, tol = 1e-9)$W, fit$W, tolerance = 1e-6)
  }
})

test_that("the largest penalty gives the empty graph and means of the data; a little less gives one edge", {
  set.seed(5)
  x <- sim_ising(6, n = 200, size = 0.3)$data
  m <- colMeans(x)
  s <- abs(crossprod(x) / nrow(x) - tcrossprod(m))
  top <- max(s[upper.tri(s)])
  null <- ising_fit(x, lambda = top, method = "exact")
  expect_equal(null$df, 0)
  expect_equal(unname(null$b), unname(atanh(m)), tolerance = 1e-6)
  expect_equal(ising_fit(x, lambda = 0.99 * top, method = "exact")$df, 1)
  expect_equal(ising_fit(x, lambda = 2 * top, method = "pseudolik")$df, 0)
  expect_equal(ising_path(x, n_lambda = 4)$df[1], 0)
})

test_that("the coding of the data does not matter, and comes back", {
  set.seed(6)
  x <- sim_ising(4, n = 60, size = 0.5)$data
  reference <- ising_fit(x, lambda = 0.05)
  codes <- list(zero_one = (x + 1) / 2, logical = x > 0, integer = matrix(as.integer(x), nrow(x), dimnames = dimnames(x)))
  for (code in codes) expect_equal(ising_fit(code, lambda = 0.05)$W, reference$W)
  frame <- as.data.frame(lapply(as.data.frame(x), function(v) factor(ifelse(v > 0, "yes", "no"))))
  fit <- ising_fit(frame, lambda = 0.05)
  expect_equal(fit$W, reference$W)
  set.seed(1)
  draw <- simulate(fit, 5)
  expect_identical(levels(draw$V1), c("no", "yes"))
  shuffled <- frame[, 4:1]
  levels_turned <- shuffled
  levels_turned$V1 <- factor(as.character(frame$V1), levels = c("yes", "no"))
  expect_equal(predict(fit, levels_turned), predict(fit, frame))
  expect_identical(typeof(simulate(ising_fit(codes$logical, lambda = 0.05), 2)), "logical")
  expect_true(all(simulate(ising_fit(codes$zero_one, lambda = 0.05), 9) %in% 0:1))
  expect_error(predict(fit, frame[, 1:3]), "\"V4\" is missing", class = "granary_error_input")
})

test_that("conditional and joint probabilities agree with brute force", {
  set.seed(7)
  model <- sim_ising(5, field = "uniform", n = 20, size = 0.6)
  brute <- brute_ising(unname(model$W), unname(model$b))
  colnames(brute$x) <- colnames(model$W)
  expect_equal(exp(predict(model, brute$x, "log_density")), brute$prob, tolerance = 1e-12)
  conditional <- predict(model, brute$x)
  partner <- brute$x
  for (i in 1:5) {
    up <- down <- brute$x
    up[, i] <- 1
    down[, i] <- -1
    pu <- exp(predict(model, up, "log_density"))
    pd <- exp(predict(model, down, "log_density"))
    expect_equal(unname(conditional[, i]), pu / (pu + pd), tolerance = 1e-12)
  }
  expect_equal(ising_moments(model)$logz, brute$logz, tolerance = 1e-12)
  moments <- ising_moments(model)
  expect_equal(unname(moments$mean), unname(brute$mean), tolerance = 1e-12)
  expect_equal(unname(moments$second), unname(brute$second), tolerance = 1e-12)
  expect_equal(moments$entropy, -sum(brute$prob * log(brute$prob)), tolerance = 1e-10)
  other <- sim_ising(5, n = NULL, size = 0.6)
  expect_equal(assess(other, truth = model)$kl, sum(brute$prob * log(brute$prob / exp(predict(other, brute$x, "log_density")))), tolerance = 1e-10)
  expect_lte(ising_moments(model, "mean_field")$logz, brute$logz)
})

test_that("chains have the closed forms of log Z and correlations, and belief propagation is exact on them", {
  chain <- ising_model(toeplitz(c(0, 0.4, rep(0, 28))))  # 30 in one component: too many to enumerate, but not for beliefs
  expect_equal(ising_moments(chain)$logz, 30 * log(2) + 29 * log(cosh(0.8)), tolerance = 1e-6)
  expect_error(ising_moments(chain, "exact")$logz, "pseudo-likelihood", class = "granary_error_input")
  expect_equal(ising_moments(ising_model(matrix(0), 0.7))$logz, log(2 * cosh(0.7)))
})

test_that("the gap of an exact fit is a duality gap, the bound of the theorem stands beside it", {
  set.seed(13)
  sim <- sim_ising(7, n = 80)
  best <- ising_fit(sim$data, lambda = 0.05, method = "exact", tol = 1e-9)
  expect_lt(best$convergence$gap, 1e-6)
  expect_true(best$theorem_bound >= 0 && best$theorem_bound < 1e-4)
  expect_output(print(best), "duality gap")
  expect_output(print(summary(best)), "Theorem 5.2")
  early <- suppressWarnings(ising_fit(sim$data, lambda = 0.05, method = "exact", max_iter = 3))
  expect_gte(early$convergence$gap, early$objective - best$objective)
  expect_gte(early$theorem_bound, early$objective - best$objective)
  for (penalised in c(TRUE, FALSE)) {
    ridge <- ising_fit(sim$data, lambda = 0.1, method = "exact", penalty = "ridge", field_penalty = penalised, tol = 1e-9)
    expect_true(is.na(ridge$theorem_bound) && ridge$convergence$gap < 1e-6)
  }
  rough <- suppressWarnings(ising_fit(sim$data, lambda = 0.05, method = "fbs", max_iter = 50))
  expect_gte(rough$convergence$gap, rough$objective - best$objective)
})

test_that("Gibbs moments come with R-hat, which warns of chains that do not mix", {
  set.seed(14)
  easy <- ising_moments(ising_model(toeplitz(c(0, 0.1, 0, 0))), "gibbs", samples = 500, sweeps = 50)
  expect_lt(easy$r_hat, 1.2)
  field <- ising_model(toeplitz(c(0, -2, 0.5, 1, 0, -1, 1, 0.3)))
  expect_warning(hard <- ising_moments(field, "gibbs", samples = 200, sweeps = 10), "not mixed", class = "granary_warning_convergence")
  expect_gt(hard$r_hat, 1.2)
  expect_true(is.na(ising_moments(field, "exact")$r_hat))
})

test_that("stochastic methods approach the optimum, in the order of the thesis, and repeat with a seed", {
  set.seed(8)
  sim <- sim_ising(8, n = 50)
  best <- ising_fit(sim$data, lambda = 1 / 16, method = "exact")$objective
  exact <- ising_fit(sim$data, lambda = 1 / 16, method = "apg", sampler = "exact", max_iter = 5000)
  expect_equal(exact$objective, best, tolerance = 1e-6)
  run <- function(...) {
    set.seed(1)
    ising_fit(sim$data, lambda = 1 / 16, max_iter = 300, ...)
  }
  fbs <- run(method = "fbs")
  expect_identical(fbs$W, run(method = "fbs")$W)
  gap <- unlist(fbs$trace[nrow(fbs$trace), c("last", "average", "robust")]) - best
  expect_true(all(gap > 0) && !is.unsorted(gap))
  for (sampler in c("pcd", "importance", "mean_field", "belief")) expect_true(all(is.finite(suppressWarnings(run(method = "pg",
                                                                                                                 sampler = sampler))$W)))
  for (output in c("average", "robust", "random")) expect_true(all(is.finite(run(method = "fbs", output = output)$W)))
  expect_warning(run(method = "apg"), "need not converge", class = "granary_warning")
})

test_that("forward-backward splitting with exact moments is Algorithm 5.1, step by step", {
  set.seed(3)
  x <- sim_ising(5, n = 50)$data
  S <- crossprod(x) / 50 - diag(5)
  m <- colMeans(x)
  G <- sqrt(25 * (1 + max(abs(S)))^2 + 5 * (1 + max(abs(m)))^2)
  W <- matrix(0, 5, 5)
  b <- rep(0, 5)
  for (k in 1:100) {
    model <- brute_ising(W, b)
    step <- W - (model$second - diag(5) - S) / (G * sqrt(k))
    b <- b - (model$mean - m) / (G * sqrt(k))
    W <- sign(step) * pmax(abs(step) - 1 / (16 * G * sqrt(k + 1)), 0)
  }
  fit <- suppressWarnings(ising_fit(x, lambda = 1 / 16, method = "fbs", sampler = "exact", max_iter = 100, tol = 1e-12))
  expect_equal(unname(fit$W), unname(W), tolerance = 1e-12)
  expect_equal(unname(fit$b), unname(b), tolerance = 1e-12)
})

test_that("graphs are recovered over several seeds", {
  for (seed in 1:3) {
    set.seed(seed)
    W <- matrix(0, 12, 12)
    W[cbind(1:11, 2:12)] <- 0.35 * sample(c(-1, 1), 11, TRUE)
    truth <- ising_model(W + t(W))
    x <- simulate(truth, nsim = 1500)
    for (method in c("exact", "pseudolik", "nodewise")) {
      found <- ising_fit(x, method = method)
      expect_true(all(found$W[truth$W != 0] * truth$W[truth$W != 0] > 0))
      expect_lte(found$df, if (method == "nodewise") 13 else 30)
    }
  }
})

test_that("nodewise fits agree with IsingFit", {
  skip_if_not_installed("IsingFit")
  set.seed(9)
  x <- (sim_ising(8, density = 0.3, n = 400, size = 0.5)$data + 1) / 2
  peer <- getExportedValue("IsingFit", "IsingFit")(x, plot = FALSE, progressbar = FALSE)
  fit <- ising_fit(x, method = "nodewise", tol = 1e-7)
  expect_equal(unname(8 * fit$W), unname(as.matrix(peer$weiadj)), tolerance = 1e-2)
})

test_that("nodewise fits do not depend on the number of threads", {
  set.seed(10)
  x <- sim_ising(9, n = 200, size = 0.4)$data
  expect_identical(ising_fit(x, method = "nodewise", threads = 1)$W, ising_fit(x, method = "nodewise", threads = 2)$W)
})

test_that("cross-validation and EBIC choose, and repeat with a seed", {
  set.seed(11)
  x <- sim_ising(6, density = 0.4, n = 200, size = 0.5)$data
  choose <- function(...) {
    set.seed(2)
    ising_select(x, n_lambda = 6, folds = 3, ...)
  }
  cv <- choose()
  expect_s3_class(cv, "granary_selection")
  expect_identical(cv$table, choose()$table)
  expect_identical(cv$selected, which.max(cv$table$estimate))
  expect_identical(cv$fit$lambda, cv$table$lambda[cv$selected])
  expect_identical(cv$measure, "held-out log-likelihood per row")
  expect_gte(choose(rule = "1se")$fit$lambda, cv$fit$lambda)
  expect_identical(coef(cv), coef(cv$fit))
  ebic <- choose(criterion = "ebic")
  expect_gt(ebic$fit$df, 0)
  expect_identical(ebic$selected, which.min(ebic$table$estimate))
  expect_true(choose(method = "pseudolik")$convergence$converged)
})

test_that("models are compared by the names of their variables", {
  set.seed(21)
  W <- sim_ising(5, n = NULL)$W
  dimnames(W) <- rep(list(letters[1:5]), 2)
  a <- ising_model(W, 1:5 / 5)
  o <- c(3, 1, 5, 2, 4)
  b <- ising_model(W[o, o], (1:5 / 5)[o])
  expect_equal(assess(b, truth = a)$kl, 0)
  expect_equal(assess(b, truth = a)$rmse, 0)
  other <- W
  dimnames(other) <- rep(list(LETTERS[1:5]), 2)
  expect_error(assess(ising_model(other), truth = a), "same variables", class = "granary_error_input")
})

test_that("bounds are those of the thesis, printed and corrected", {
  set.seed(12)
  x <- sim_ising(4, n = 40)$data
  bounds <- ising_bounds(x, 0.1, steps = 100, printed = TRUE)
  s <- max(abs(crossprod(x) / 40 - diag(4)))
  m <- max(abs(colMeans(x)))
  expect_equal(bounds$W, 4 * log(2) / 0.1)
  expect_equal(bounds$b, 4 * log(2) * (0.1 + 1 + s) / (0.1 * (1 - m)))
  expect_equal(bounds$G, sqrt(16 * (1 + s)^2 + 4 * (1 + m)^2))
  expect_equal(bounds$D, sqrt(bounds$W^2 + bounds$b^2))
  corrected <- ising_bounds(x, 0.1, steps = 100)
  expect_gt(corrected$error[["robust"]], bounds$error[["robust"]])
  expect_equal(corrected$error[["average"]], bounds$error[["average"]])
})

test_that("bad input is refused with a reason", {
  x <- cbind(a = c(0, 1, 0, 1, 1), b = c(1, 1, 0, 0, 1))
  refuse <- function(expr, pattern) expect_error(expr, pattern, class = "granary_error_input")
  refuse(ising_fit(cbind(x, c = 1)), "\"c\" of `x` is constant")
  expect_true(all(is.finite(ising_fit(cbind(x, c = 1), lambda = 0.1, field_penalty = TRUE)$b)))
  refuse(ising_fit(cbind(x, c = c(0, 1, 2, 0, 1))), "has 3 values")
  refuse(ising_fit(data.frame(x, c = letters[1:5])), "has 5 values")
  refuse(ising_fit(cbind(x, c = c(1, 2, 1, 2, 1))), "0 and 1, or -1 and 1")
  refuse(ising_fit(replace(x, 3, NA)), "na = \"omit\"")
  expect_equal(ising_fit(replace(x, 3, NA), lambda = 0.1, na = "omit")$n, 4)
  refuse(ising_fit(x[1, , drop = FALSE]), "at least 2 rows")
  refuse(ising_fit(x, lambda = -1), "at least 0")
  refuse(ising_fit(1:3), "two-valued")
  refuse(ising_fit(x, samples = function(k) "a", method = "fbs", lambda = 0.1), "one number for each step")
  refuse(ising_fit(x, lambda = 0.1, method = "nodewise", penalty = "ridge"), "takes no")
  refuse(ising_fit(x, lambda = 0.1, mask = matrix(1, 3, 3)), "one row per variable")
  refuse(ising_model(matrix(1, 2, 2)), "zero diagonal")
  refuse(ising_model(matrix(c(0, 1, 2, 0), 2)), "symmetric")
  refuse(assess(ising_model(matrix(0, 2, 2)), truth = ising_model(matrix(0, 3, 3))), "same variables")
  refuse(ising_moments(1), "an Ising model")
  frame <- data.frame(a = factor(c("u", "v", "u", "v", "v"), levels = c("u", "v", "w")), b = c(TRUE, FALSE, TRUE, TRUE, FALSE))
  expect_warning(ising_fit(frame, lambda = 0.1), "declares 3 levels", class = "granary_warning_input")
  wide <- matrix(sample(0:1, 30 * 40, TRUE), 40)
  refuse(ising_fit(wide, method = "exact"), "pseudolik")
})

test_that("separable data without penalty is not silently infinite", {
  x <- cbind(a = rep(c(-1, 1), each = 5), b = rep(c(-1, 1), each = 5))
  fit <- suppressWarnings(ising_fit(x, lambda = 0, method = "exact", max_iter = 20))
  expect_true(all(is.finite(fit$W)))
  expect_true(ising_fit(x, lambda = 0.05, method = "exact")$convergence$converged)
})

test_that("fits print, summarise and plot", {
  set.seed(13)
  x <- sim_ising(5, n = 60, size = 0.5)$data
  fit <- ising_fit(x, lambda = 0.05, method = "fbs", max_iter = 50)
  pdf(NULL)
  on.exit(dev.off())
  expect_output(print(fit), "forward-backward splitting: 5 variables")
  expect_output(print(summary(fit)), "Most connected")
  for (type in c("network", "heatmap", "trace")) expect_silent(plot(fit, type = type))
  expect_error(plot(ising_fit(x, lambda = 0.05), type = "trace"), class = "granary_error_input")
  expect_output(print(ising_path(x, n_lambda = 3)), "3 penalties")
  expect_silent(plot(ising_path(x, n_lambda = 3)))
  expect_output(print(ising_bounds(x, 0.1)), "norm D")
  expect_s3_class(glance(fit), "data.frame")
  skip_if_not_installed("igraph")
  expect_equal(igraph::vcount(igraph::as.igraph(fit)), 5)
})

test_that("beliefs are exact on a chain for variables that are not neighbours", {
  chain <- ising_model(toeplitz(c(0, 0.4, 0, 0)))
  expect_equal(ising_moments(chain, "belief")$second, ising_moments(chain, "exact")$second, tolerance = 1e-6)
})

test_that("estimated gradients never claim convergence they have not", {
  set.seed(1)
  sim <- sim_ising(p = 6)
  fit <- suppressWarnings(ising_fit(sim$data, 1 / 16, method = "pg", max_iter = 20))
  expect_false(isTRUE(fit$convergence$converged) && fit$convergence$residual > fit$settings$tol)
  expect_identical(fit$convergence$reason, "approximate")
})

test_that("separable rows without a penalty are told as such", {
  x <- rbind(c(1, 1, 1), c(-1, -1, -1), c(1, 1, -1), c(-1, -1, 1))
  colnames(x) <- c("a", "b", "c")
  expect_warning(fit <- ising_fit(x, 0, method = "exact"), "no finite estimate")
  expect_identical(fit$convergence$reason, "unbounded")
})

test_that("without a penalty, rows that separate get capped couplings and a warning, whatever the tolerance and method", {
  x <- cbind(a = c(0, 0, 0, 1, 1, 1), b = c(0, 0, 0, 1, 1, 1), c = c(0, 1, 0, 1, 0, 1))
  value <- function(...) {
    expect_warning(fit <- ising_fit(x, lambda = 0, ...), "no finite estimate", class = "granary_warning_convergence")
    expect_false(fit$convergence$converged)
    fit$W["a", "b"]
  }
  exact <- vapply(c(1e-4, 1e-6, 1e-8), function(tol) value(tol = tol), 0)
  expect_lt(diff(range(exact)), 1e-3)
  pseudo <- vapply(c(1e-4, 1e-6), function(tol) value(tol = tol, method = "pseudolik"), 0)
  expect_lt(diff(range(pseudo)), 1e-2)
  expect_lt(value(method = "nodewise"), 6)
  set.seed(3)
  expect_silent(fit <- ising_fit(sim_ising(4, n = 400, size = 0.3)$data, lambda = 0))
  expect_true(fit$convergence$converged)
})

test_that("importance sampling gives symmetric couplings", {
  set.seed(41)
  x <- sim_ising(12, n = 60, size = 0.5)$data
  fit <- suppressWarnings(ising_fit(x, lambda = 0.1, method = "fbs", sampler = "importance", max_iter = 100))
  expect_identical(fit$W, t(fit$W))
})
