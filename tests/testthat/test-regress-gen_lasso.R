# Generalized lasso: enumeration, closed forms, optimality worked out here, all update modes and baselines, losses, bounds, bad input.


simulated <- function(n = 40, p = 15, seed = 1) {
  set.seed(seed)
  x <- matrix(rnorm(n * p), n)
  b <- rep(c(0, 2, -1), each = p / 3)
  list(x = x, y = drop(x %*% b) + rnorm(n, sd = 0.5), b = b)
}
null_basis <- function(m) {
  parts <- qr(t(m))
  qr.Q(parts, complete = TRUE)[, seq_len(ncol(m))[-seq_len(parts$rank)], drop = FALSE]
}
objective <- function(x, y, R, b, lambda) sum((y - x %*% b)^2) / 2 + lambda * sum(abs(R %*% b))

test_that("the optimum over all sign patterns is found", {
  for (seed in 1:4) {
    set.seed(seed)
    p <- 4
    x <- matrix(rnorm(10 * p), 10)
    y <- rnorm(10)
    for (R in list(diff(diag(p)), rbind(diff(diag(p)), c(1, 0, 0, -1)), diff(diag(p), differences = 2), rbind(diff(diag(p)), 0.5 * diag(p))[1:5, ])) {
      lambda <- 0.7
      best <- Inf
      patterns <- as.matrix(expand.grid(rep(list(-1:1), nrow(R))))
      for (k in seq_len(nrow(patterns))) {
        s <- patterns[k, ]
        zero <- R[s == 0, , drop = FALSE]
        basis <- if (nrow(zero) == 0) diag(p) else null_basis(zero)
        if (ncol(basis) == 0) {
          b <- rep(0, p)
        } else {
          xb <- x %*% basis
          b <- drop(basis %*% solve(crossprod(xb), crossprod(xb, y) - lambda * crossprod(basis, crossprod(R, s))))
        }
        best <- min(best, objective(x, y, R, b, lambda))
      }
      fit <- gen_lasso(x, y, R, lambda = lambda, tol = 1e-10, intercept = FALSE)
      expect_equal(fit$objective, best, tolerance = 1e-8)
      expect_equal(objective(x, y, R, fit$beta[, 1], lambda), fit$objective, tolerance = 1e-10)
    }
  }
})

test_that("optimality conditions hold and the gap bounds the distance", {
  sim <- simulated()
  fit <- gen_lasso(sim$x, sim$y, gen_lasso_penalty("chain", 15), lambda = c(20, 5, 1, 0.1), intercept = FALSE)
  R <- diff(diag(15))
  for (k in 1:4) {
    b <- fit$beta[, k]
    mu <- fit$mu[, k]
    expect_lt(max(abs(crossprod(sim$x, sim$y - sim$x %*% b) - t(R) %*% mu)), 1e-4 * max(abs(crossprod(sim$x, sim$y))))
    expect_lte(max(abs(mu)), fit$lambda[k] * (1 + 1e-8))
    expect_equal(sum(mu * (R %*% b)), fit$lambda[k] * sum(abs(R %*% b)), tolerance = 1e-6)
    expect_lt(fit$convergence[[k]]$gap, 1e-8 * sum(sim$y^2) / 2)
    # the lower bound of full column rank
    left <- crossprod(sim$x, sim$y) - t(R) %*% mu
    bound <- sum(sim$y^2) / 2 - sum(left * solve(crossprod(sim$x), left)) / 2
    expect_gte(fit$objective[k], bound - 1e-8)
    expect_equal(fit$objective[k], bound, tolerance = 1e-6)
    expect_identical(fit$df[k], as.double(1 + sum(diff(b) != 0)))
  }
  expect_true(all(diff(fit$trace[[2]]) <= 1e-9))
})

test_that("limits: the identity penalty is the lasso, no penalty is least squares, a large one a polynomial", {
  sim <- simulated()
  fit <- gen_lasso(sim$x, sim$y, gen_lasso_penalty("matrix", R = diag(15)), lambda = 4, intercept = FALSE)
  b <- rep(0, 15)
  for (sweep in 1:2000) for (j in 1:15) {
    r <- sim$y - sim$x[, -j] %*% b[-j]
    v <- sum(sim$x[, j] * r)
    b[j] <- sign(v) * max(abs(v) - 4, 0) / sum(sim$x[, j]^2)
  }
  expect_equal(unname(fit$beta[, 1]), b, tolerance = 1e-7)
  expect_equal(unname(gen_lasso(sim$x, sim$y, lambda = 0, intercept = FALSE)$beta[, 1]), unname(lm.fit(sim$x, sim$y)$coefficients), tolerance = 1e-7)
  for (order in 1:3) {
    fit <- gen_lasso(sim$x, sim$y, gen_lasso_penalty("chain", 15, order = order), lambda = 1e7, intercept = FALSE)
    poly <- outer(1:15, seq_len(order) - 1, `^`)
    expect_equal(unname(fit$beta[, 1]), drop(poly %*% lm.fit(sim$x %*% poly, sim$y)$coefficients), tolerance = 1e-5)
    expect_identical(fit$df, as.double(order))
  }
})

test_that("the largest penalty is where the first difference leaves zero", {
  sim <- simulated()
  set.seed(2)
  for (penalty in list(gen_lasso_penalty("chain", 15), gen_lasso_penalty("chain", 15, order = 2), gen_lasso_penalty("grid", dim = c(5, 3)), gen_lasso_penalty("chain", 15, sparse = 0.5), gen_lasso_penalty("matrix", R = diag(15)))) {
    top <- gen_lasso(sim$x, sim$y, penalty, n_lambda = 1, intercept = FALSE)
    expect_true(top$lambda_max_exact)
    size <- function(l) sum(abs(penalty$matrix %*% gen_lasso(sim$x, sim$y, penalty, lambda = l, tol = 1e-11, intercept = FALSE)$beta[, 1]))
    expect_lt(size(1.001 * top$lambda_max), 1e-4)
    expect_gt(size(0.98 * top$lambda_max), 1e-4)
  }
  expect_false(gen_lasso(sim$x, sim$y, gen_lasso_penalty("grid", dim = c(5, 3), norm = "l2"), n_lambda = 1, intercept = FALSE)$lambda_max_exact)
})

test_that("at the first penalty of a default path nothing but the null space is left", {
  for (seed in 1:5) {
    set.seed(seed)
    x <- matrix(rnorm(1800), 60)
    y <- drop(x %*% rep(c(0, 2, 0), each = 10)) + rnorm(60)
    expect_identical(gen_lasso(x, y, n_lambda = 2, intercept = FALSE)$df[1], 1)
    expect_identical(gen_lasso(x, y, gen_lasso_penalty("matrix", R = diag(30)), n_lambda = 2, intercept = FALSE)$df[1], 0)
  }
})

test_that("the identity design is solved in one round, chains like the dynamic program", {
  set.seed(3)
  y <- rnorm(200) + rep(c(0, 3), each = 100)
  fit <- gen_lasso(NULL, y, lambda = 2)
  expect_equal(fit$beta[, 1], fused_signal(y, tau = 2)$fitted, tolerance = 1e-12)
  expect_identical(fit$convergence[[1]]$iterations, 1L)
  expect_equal(gen_lasso(NULL, y + 7, lambda = 2)$beta, fit$beta + 7, tolerance = 1e-10)
  expect_equal(sum(fit$beta), sum(y))
  expect_equal(gen_lasso_image(matrix(y, 1), 2)$image, matrix(fit$beta, 1), tolerance = 1e-12)
  sparse <- gen_lasso(NULL, y, gen_lasso_penalty("chain", 200, sparse = 0.3), lambda = 2)
  expect_equal(sparse$beta[, 1], fused_signal(y, lambda = 0.6, tau = 2)$fitted, tolerance = 1e-10)
  expect_lt(sparse$convergence[[1]]$gap, 1e-9)
  # trend filtering: equation by equation
  trend <- gen_lasso(NULL, y, gen_lasso_penalty("chain", 200, order = 2), lambda = 5)
  R <- diff(diag(200), differences = 2)
  expect_equal(drop(t(R) %*% trend$mu[, 1]), y - trend$beta[, 1], tolerance = 1e-8)
  expect_lte(max(abs(trend$mu)), 5 * (1 + 1e-10))
  expect_lt(trend$convergence[[1]]$gap, 1e-8 * sum(y^2))
})

test_that("all update modes and baselines reach one objective", {
  sim <- simulated(40, 12)
  reference <- gen_lasso(sim$x, sim$y, lambda = 3, tol = 1e-11, intercept = FALSE)
  for (update in c("test", "pr", "dr_h", "dr_f")) {
    fit <- gen_lasso(sim$x, sim$y, lambda = 3, update = update, polish = FALSE, tol = 1e-9, intercept = FALSE)
    expect_equal(fit$objective, reference$objective, tolerance = 1e-7, label = update)
  }
  for (method in c("fista", "admm", "sparsa")) {
    fit <- gen_lasso(sim$x, sim$y, lambda = 3, method = method, tol = 1e-9, intercept = FALSE)
    expect_equal(fit$objective, reference$objective, tolerance = 1e-7, label = method)
  }
  R <- diff(diag(12))
  ridge <- gen_lasso(sim$x, sim$y, lambda = 3, method = "tikhonov", intercept = FALSE)
  expect_equal(unname(ridge$beta[, 1]), drop(solve(crossprod(sim$x) + 6 * crossprod(R), crossprod(sim$x, sim$y))), tolerance = 1e-7)
})

test_that("blocks of one row are the l1 norm, and isotropic variation satisfies its conditions", {
  sim <- simulated()
  expect_equal(gen_lasso(sim$x, sim$y, gen_lasso_penalty("matrix", R = diff(diag(15)), groups = 1:14), lambda = 2, intercept = FALSE)$objective,
               gen_lasso(sim$x, sim$y, gen_lasso_penalty("chain", 15), lambda = 2, intercept = FALSE)$objective, tolerance = 1e-8)
  set.seed(4)
  image <- matrix(rnorm(30 * 20), 30) + 2 * outer(1:30 > 15, 1:20 > 8)
  fit <- gen_lasso_image(image, 0.8, type = "l2", tol = 1e-8)
  R <- fit$fit$penalty$matrix
  mu <- fit$fit$mu[, 1]
  block <- rep(seq_along(fit$fit$penalty$blocks), fit$fit$penalty$blocks)
  expect_equal(as.vector(Matrix::crossprod(R, mu)), as.vector(image - fit$image), tolerance = 1e-9)
  expect_lte(max(sqrt(rowsum(mu^2, block))), 0.8 * (1 + 1e-9))
  expect_lt(fit$convergence[[1]]$gap, 1e-8 * sum(image^2))
  expect_equal(gen_lasso_image(image[, 1, drop = FALSE], 0.8, type = "l2", tol = 1e-9)$image, gen_lasso_image(image[, 1, drop = FALSE], 0.8)$image, tolerance = 1e-4)
  general <- gen_lasso(sim$x, sim$y, gen_lasso_penalty("grid", dim = c(5, 3), norm = "l2"), lambda = 2, intercept = FALSE)
  expect_lt(general$convergence[[1]]$gap, 1e-7 * sum(sim$y^2))
})

test_that("other losses satisfy their conditions; the intercept is that of glm at no penalty", {
  set.seed(5)
  x <- matrix(rnorm(150 * 9), 150)
  eta <- drop(x %*% rep(c(0, 1, -0.5), each = 3))
  R <- diff(diag(9))
  check <- function(fit, mean, y) {
    r <- y - mean
    expect_lt(max(abs(crossprod(x, r) - t(R) %*% fit$mu[, 1])), 1e-3 * max(abs(crossprod(x, y))))
    expect_lte(max(abs(fit$mu)), fit$lambda * (1 + 1e-8))
    expect_true(fit$convergence[[1]]$converged)
  }
  binary <- rbinom(150, 1, plogis(eta))
  fit <- gen_lasso(x, binary, lambda = 1, family = "binomial", intercept = TRUE)
  check(fit, predict(fit, x, type = "response"), binary)
  expect_equal(sum(binary), sum(predict(fit, x, type = "response")), tolerance = 1e-5)
  expect_lt(fit$convergence[[1]]$gap, 1e-6 * 150)
  counts <- rpois(150, exp(0.5 * eta))
  fit <- gen_lasso(x, counts, lambda = 2, family = "poisson", intercept = TRUE)
  check(fit, predict(fit, x, type = "response"), counts)
  y <- eta + rt(150, 2)
  fit <- gen_lasso(x, y, lambda = 2, family = "huber", delta = 1, intercept = FALSE)
  check(fit, y - pmax(pmin(y - predict(fit, x), 1), -1), y)
  free <- gen_lasso(x, y, lambda = 0, intercept = TRUE)
  expect_equal(unname(coef(free, lambda = 0)), unname(lm(y ~ x)$coefficients), tolerance = 1e-6)
})

test_that("bounds hold and are optimal", {
  sim <- simulated()
  fit <- gen_lasso(sim$x, sim$y, lambda = 1, lower = -0.5, upper = 1.5, tol = 1e-7, intercept = FALSE)
  expect_true(all(fit$beta >= -0.5 & fit$beta <= 1.5))
  R <- diff(diag(15))
  direct <- optim(fit$beta[, 1], function(b) objective(sim$x, sim$y, R, b, 1), method = "L-BFGS-B", lower = -0.5, upper = 1.5)$value
  expect_lte(fit$objective, direct + 1e-6 * abs(direct))
  expect_lt(fit$convergence[[1]]$gap, 1e-6 * sum(sim$y^2))
  positive <- suppressWarnings(gen_lasso(sim$x, sim$y, lambda = 1, lower = 0, tol = 1e-7, intercept = FALSE))
  expect_true(all(positive$beta >= 0))
})

test_that("graphs: duplicated edges add up, loops go, pieces and isolated nodes are allowed", {
  edges <- rbind(c(1, 2), c(2, 1), c(2, 2), c(4, 5))
  penalty <- gen_lasso_penalty("graph", edges = edges, p = 6, weights = c(1, 2, 9, 1))
  expect_equal(sort(abs(as.matrix(penalty$matrix))[as.matrix(penalty$matrix) != 0]), c(1, 1, 3, 3))
  y <- c(0, 2, 5, -1, 1, 3)
  expect_equal(gen_lasso(NULL, y, penalty, lambda = 0.1)$beta[, 1], c(0.3, 1.7, 5, -0.9, 0.9, 3))
  expect_equal(gen_lasso(NULL, y, gen_lasso_penalty("graph", edges = matrix(0, 0, 2), p = 6), lambda = 1)$beta[, 1], y)
  skip_if_not_installed("igraph")
  expect_equal(as.matrix(gen_lasso_penalty("graph", edges = igraph::make_ring(5))$matrix != 0), as.matrix(gen_lasso_penalty("graph", edges = nb_chain(5, closed = TRUE))$matrix != 0))
})

test_that("an empty penalty, a column of zeros, p > n, a single row and non-uniqueness", {
  sim <- simulated()
  fit <- gen_lasso(sim$x, sim$y, gen_lasso_penalty("matrix", R = matrix(0, 0, 15)), lambda = 1, intercept = FALSE)
  expect_equal(unname(fit$beta[, 1]), unname(lm.fit(sim$x, sim$y)$coefficients), tolerance = 1e-5)
  zero <- sim$x
  zero[, 3] <- 0
  fit <- gen_lasso(zero, sim$y, lambda = 2, intercept = FALSE)
  expect_true(fit$convergence[[1]]$converged)
  expect_equal(fit$objective, gen_lasso(Matrix::Matrix(zero, sparse = TRUE), sim$y, lambda = 2, intercept = FALSE)$objective, tolerance = 1e-8)
  wide <- simulated(20, 60)
  fit <- gen_lasso(wide$x, wide$y, n_lambda = 5, intercept = FALSE)
  expect_true(all(vapply(fit$convergence, `[[`, NA, "converged")))
  expect_s3_class(gen_lasso(sim$x[1, , drop = FALSE], sim$y[1], lambda = 1, intercept = FALSE), "granary_gen_lasso")
  centred <- sweep(zero, 1, rowMeans(zero))
  expect_warning(fit <- gen_lasso(centred, sim$y, lambda = 2, intercept = FALSE), "not unique", class = "granary_warning_input")
  expect_false(fit$unique)
})

test_that("answers scale with the data", {
  sim <- simulated()
  fit <- gen_lasso(sim$x, sim$y, lambda = 2, intercept = FALSE)
  for (scale in c(1e-8, 1e8)) {
    expect_equal(gen_lasso(sim$x, scale * sim$y, lambda = 2 * scale, intercept = FALSE)$beta / scale, fit$beta, tolerance = 1e-5)
    expect_equal(gen_lasso(scale * sim$x, sim$y, lambda = 2 * scale, intercept = FALSE)$beta * scale, fit$beta, tolerance = 1e-5)
  }
})

test_that("columns in units eight orders apart give the answer of one unit", {
  sim <- simulated()
  plain <- gen_lasso(sim$x, sim$y, gen_lasso_penalty("matrix", R = diff(diag(15))), lambda = 2, intercept = FALSE)
  for (range in c(2, 4)) {
    unit <- 10^seq(-range, range, length.out = 15)
    fit <- gen_lasso(sweep(sim$x, 2, unit, "*"), sim$y, gen_lasso_penalty("matrix", R = sweep(diff(diag(15)), 2, unit, "*")), lambda = 2, intercept = FALSE)
    expect_equal(fit$objective, plain$objective, tolerance = 1e-6)
    expect_equal(fit$beta[, 1] * unit, plain$beta[, 1], tolerance = 1e-3)
  }
})

test_that("the certificate is tight when columns are eight orders apart and the penalty is in one unit", {
  for (seed in 1:3) {
    set.seed(seed)
    x <- sweep(matrix(rnorm(600), 40), 2, 10^seq(-4, 4, length.out = 15), "*")
    y <- drop(x %*% (rep(c(0, 1, -1), each = 5) / 10^seq(-4, 4, length.out = 15))) + rnorm(40, sd = 0.3)
    for (penalty in list(gen_lasso_penalty("chain", 15), gen_lasso_penalty("matrix", R = diag(15)), gen_lasso_penalty("chain", 15, sparse = 1))) {
      fit <- gen_lasso(x, y, penalty, lambda = c(200, 2), intercept = FALSE)
      expect_true(all(glance(fit)$gap < 1e-6 * sum(y^2) / 2), info = paste(seed, penalty$type, toString(signif(glance(fit)$gap, 2))))
    }
  }
})

test_that("tidy, glance, augment, fitted values and residuals belong together, for every design", {
  sim <- simulated()
  x <- sim$x
  colnames(x) <- paste0("x", seq_len(ncol(x)))
  frame <- data.frame(y = sim$y, x)
  fits <- list(gen_lasso(x, sim$y, lambda = c(3, 1), intercept = FALSE), gen_lasso(Matrix::Matrix(x, sparse = TRUE), sim$y, lambda = c(3, 1), intercept = FALSE),
               gen_lasso(y ~ ., frame, lambda = c(3, 1)))
  for (fit in fits) {
    byhand <- cbind(1, x) %*% rbind(fit$intercept, fit$beta)
    expect_equal(unname(fitted(fit)), unname(byhand), tolerance = 1e-10)
    expect_equal(unname(residuals(fit)), unname(sim$y - byhand), tolerance = 1e-10)
    expect_equal(glance(fit)$deviance, unname(colSums(residuals(fit)^2)), tolerance = 1e-6)
    expect_identical(glance(fit)$lambda, c(3, 1))
    expect_true(all(glance(fit)$converged) && all(glance(fit)$nobs == length(sim$y)))
    one <- tidy(fit, lambda = 1)
    expect_identical(one$term[one$term != "(Intercept)"], colnames(x))
    expect_equal(one$estimate, unname(coef(fit, lambda = 1)))
    expect_equal(nrow(tidy(fit)), 2 * nrow(one))
    rows <- augment(fit, frame, lambda = 3)
    expect_equal(rows$.fitted + rows$.resid, sim$y)
    expect_equal(rows$.fitted, unname(byhand[, 1]), tolerance = 1e-10)
  }
  expect_error(augment(fits[[1]], frame[1:3, ]), "`data` must be", class = "granary_error_input")
  counts <- rpois(nrow(x), 2)
  expect_equal(unname(residuals(poisson <- gen_lasso(x, counts, family = "poisson", lambda = 1, intercept = FALSE))),
               counts - exp(unname(drop(x %*% poisson$beta))), tolerance = 1e-10)
  signal <- gen_lasso(NULL, sim$y, lambda = 1)
  expect_equal(fitted(signal), signal$beta[, 1])
  expect_identical(tidy(signal)$term, as.character(seq_along(sim$y)))
})

test_that("fitted values of a blur are the blurred estimate, up to and beyond the size of the image", {
  set.seed(2)
  image <- matrix(rnorm(30), 5)
  for (size in c(1, 3, 5, 13)) {
    fit <- suppressWarnings(gen_lasso_image(image, blur = size, lambda = 0.1))
    half <- size %/% 2
    near <- function(k) abs(outer(seq_len(k), seq_len(k), `-`)) <= half
    expect_no_error(kernel_matrix_of(matrix(1, size, size), dim(image)))
    matrix <- (near(6) / rowSums(near(6))) %x% (near(5) / rowSums(near(5)))
    expect_equal(fitted(fit$fit), as.vector(matrix %*% as.vector(fit$image)), tolerance = 1e-10)
    expect_equal(residuals(fit), image - as.vector(fitted(fit$fit)), tolerance = 1e-10)
  }
  expect_error(predict(fit$fit, image), "`newdata` must be NULL", class = "granary_error_input")
  cells <- tidy(fit)
  expect_identical(cells$estimate[cells$row == 2 & cells$column == 4], fit$image[2, 4])
})

test_that("a mask leaves cells out of a volume; image metrics are their formulas; simulated coefficients are the paper's", {
  mask <- array(TRUE, c(4, 4, 3))
  mask[1, 1, 1] <- mask[2, 3, 2] <- FALSE
  penalty <- gen_lasso_penalty("grid", dim = c(4, 4, 3), mask = mask)
  pairs <- sum(mask[-1, , ] & mask[-4, , ]) + sum(mask[, -1, ] & mask[, -4, ]) + sum(mask[, , -1] & mask[, , -3])
  expect_identical(dim(penalty$matrix), as.integer(c(pairs, 46)))
  expect_true(all(abs(Matrix::rowSums(penalty$matrix)) == 0 & Matrix::rowSums(abs(penalty$matrix)) == 2))
  expect_equal(unlist(assess(gen_lasso_image(c(1, 2), 0), truth = c(1, 3))[1:2]), c(mse = 0.5, snr = 10 * log10(2)), tolerance = 1e-6)
  set.seed(1)
  expect_identical(which(sim_gen_lasso("blocks", n = 5, p = 100)$beta == 1), 11:20)
  expect_identical(which(sim_gen_lasso("blocks", n = 5, p = 100)$beta == 2), 21:40)
  expect_identical(sum(abs(sim_gen_lasso("spikes", n = 5, p = 1000)$beta)), 160)
})

test_that("the truth is recovered, by cross-validation too, with the same folds from the same seed", {
  errors <- vapply(1:5, function(seed) {
    sim <- simulated(60, 30, seed)
    set.seed(seed)
    cv <- gen_lasso_select(sim$x, sim$y, folds = 5, n_lambda = 15, lambda_min_ratio = 0.001, intercept = FALSE)
    sqrt(mean((coef(cv) - sim$b)^2))
  }, 0)
  expect_lt(max(errors), 0.15)
  sim <- simulated(60, 30)
  set.seed(9)
  a <- gen_lasso_select(sim$x, sim$y, folds = 3, n_lambda = 5, intercept = FALSE)
  set.seed(9)
  b <- gen_lasso_select(sim$x, sim$y, folds = 3, n_lambda = 5, intercept = FALSE)
  expect_identical(a$table, b$table)
  expect_length(predict(a, sim$x[1:4, ]), 4)
})

test_that("formulas, coefficients between penalties, predictions and deviance agree", {
  sim <- simulated()
  data <- data.frame(y = sim$y, sim$x)
  fit <- gen_lasso(y ~ ., data, n_lambda = 6)
  direct <- gen_lasso(sim$x, sim$y, n_lambda = 6, intercept = TRUE)
  expect_equal(unname(fit$beta), unname(direct$beta), tolerance = 1e-8)
  expect_equal(predict(fit, data[1:3, ], lambda = fit$lambda[2]), predict(fit, sim$x[1:3, ], lambda = fit$lambda[2]), ignore_attr = TRUE)
  expect_equal(deviance(direct), colSums((sim$y - predict(direct, sim$x))^2), ignore_attr = TRUE)
  middle <- mean(fit$lambda[2:3])
  expect_equal(coef(fit, lambda = middle), (coef(fit, lambda = fit$lambda[2]) + coef(fit, lambda = fit$lambda[3])) / 2)
  expect_output(print(fit), "Generalized lasso")
  expect_silent({
    pdf(NULL)
    plot(fit)
    plot(gen_lasso(NULL, rnorm(9), lambda = 1))
    plot(gen_lasso_image(matrix(rnorm(9), 3), 1))
    dev.off()
  })
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
})

test_that("deblurring inverts the operator, for squares and kernels", {
  set.seed(6)
  sim <- sim_gen_lasso("image", dim = c(20, 24), sd = 0.01, blur = 3)
  fit <- gen_lasso_image(sim$image, blur = 3, lambda = 0.003)
  smooth <- gen_lasso_image(sim$image, blur = 3, lambda = 0.003, type = "tikhonov")
  score <- assess(fit, truth = sim$truth)
  expect_gt(score$snr, score$snr_observed + 3)
  expect_gt(score$snr, assess(smooth, truth = sim$truth)$snr)
  kernel <- gen_lasso_image(sim$image, blur = matrix(1, 3, 3), lambda = 0.003)
  expect_equal(kernel$objective, fit$objective, tolerance = 1e-4)
  expect_identical(nrow(gen_lasso_penalty("grid", dim = c(256, 256))$matrix), 130560L)
  expect_identical(nrow(gen_lasso_penalty("grid", dim = c(3, 4, 5))$matrix), as.integer(2 * 4 * 5 + 3 * 3 * 5 + 3 * 4 * 4))
  volume <- gen_lasso_image(array(rnorm(60), 3:5), 0.5)
  expect_lt(volume$convergence[[1]]$gap, 1e-9)
})

test_that("genlasso agrees", {
  skip_if_not_installed("genlasso")
  sim <- simulated()
  path <- getExportedValue("genlasso", "genlasso")(sim$y, sim$x, diff(diag(15)))
  ours <- gen_lasso(sim$x, sim$y, lambda = c(10, 3, 1), intercept = FALSE)
  theirs <- getExportedValue("genlasso", "coef.genlasso")(path, lambda = c(10, 3, 1))$beta
  expect_equal(unname(ours$beta), unname(theirs), tolerance = 1e-4)
})

test_that("bad input is refused by name", {
  x <- matrix(rnorm(20), 5)
  y <- rnorm(5)
  refused <- function(code, text) expect_error(code, text, class = "granary_error_input")
  refused(gen_lasso(), "x")
  refused(gen_lasso(x, intercept = FALSE), "y")
  refused(gen_lasso(x, y[-1], intercept = FALSE), "y")
  refused(gen_lasso(x, replace(y, 2, NA), intercept = FALSE), "missing")
  refused(gen_lasso(replace(x, 2, Inf), y, intercept = FALSE), "finite")
  refused(gen_lasso(x, y, gen_lasso_penalty("chain", 5), intercept = FALSE), "penalty")
  refused(gen_lasso(x, y, "chain", intercept = FALSE), "penalty")
  refused(gen_lasso(x, y, lambda = -1, intercept = FALSE), "lambda")
  refused(gen_lasso(x, y, lamda = 1, intercept = FALSE), "no argument `lamda`")
  refused(gen_lasso(x, y, lambda = NA_real_, intercept = FALSE), "lambda")
  refused(gen_lasso(x, y, lower = 2, upper = 1, intercept = FALSE), "lower")
  refused(gen_lasso(x, y, lower = c(0, 0), intercept = FALSE), "lower")
  refused(gen_lasso(x, y, gamma = 1, intercept = FALSE), "gamma")
  refused(gen_lasso(x, y, lower = 0, method = "admm", intercept = FALSE), "method")
  refused(gen_lasso(x, y, family = "poisson", intercept = FALSE), "y")
  refused(gen_lasso(NULL, y, intercept = TRUE), "intercept")
  refused(predict(gen_lasso(NULL, y, lambda = 1), x), "newdata")
  refused(gen_lasso_penalty("chain", 3, order = 3), "order")
  refused(gen_lasso_penalty("graph", edges = rbind(c(1, 9)), p = 3), "edges")
  refused(gen_lasso_penalty("graph", edges = matrix(0, 0, 2)), "p")
  refused(gen_lasso_penalty("grid", dim = c(2, 2, 2, 2)), "dim")
  refused(gen_lasso_penalty("grid", dim = c(2, 2), mask = c(TRUE, NA, TRUE, TRUE)), "mask")
  refused(gen_lasso_penalty("matrix", R = diag(2), groups = 1), "groups")
  refused(gen_lasso_image(diag(4), 1, blur = 2), "odd")
  refused(gen_lasso_image(matrix(1, 4, 4), 1, blur = matrix(1, 2, 2)), "odd")
  refused(gen_lasso_image(1:4, blur = 3, lambda = 1), "image")
  refused(assess(gen_lasso_image(1:3, 1), truth = 1:2), "truth")
  refused(gen_lasso_select(granary:::blur_operator(c(4, 5), 3), y), "x")
  refused(gen_lasso_penalty("chain", 4, edges = diag(2)), "edges")
  refused(gen_lasso_penalty("chain", pos = c(1, 3, 2)), "pos")
  refused(gen_lasso_penalty("grid"), "dim")
  refused(plot(gen_lasso(x, y, lambda = 1, intercept = FALSE), type = "image"), "image")
})

test_that("separable classes are announced, overlapping ones are not", {
  set.seed(6)
  x <- matrix(rnorm(200), 40)
  expect_warning(gen_lasso(x, x[, 1] + x[, 2] > 0, gen_lasso_penalty("matrix", R = diag(5)), family = "binomial", lambda = 0.01, tol = 1e-3, intercept = FALSE), "separable",
                 class = "granary_warning_input")
  expect_silent(gen_lasso(x, x[, 1] + rnorm(40) > 0, gen_lasso_penalty("matrix", R = diag(5)), family = "binomial", lambda = 0.05, intercept = FALSE))
})

test_that("a solver that is stopped says so", {
  sim <- simulated(20, 60)
  expect_warning(gen_lasso(sim$x, sim$y, lambda = 0.01, max_iter = 1, polish = FALSE, tol = 1e-12, intercept = FALSE), class = "granary_warning_convergence")
})

test_that("trend filtering starts at its largest penalty, where the fit is a polynomial", {
  n <- 300
  t <- seq_len(n) / n
  set.seed(1)
  y <- sin(6 * t) + rnorm(n, sd = 0.3)
  fit <- gen_lasso(NULL, y, gen_lasso_penalty("chain", n, order = 3), n_lambda = 3)
  sums <- cumsum(cumsum(cumsum(residuals(lm(y ~ poly(t, 2))))))
  expect_equal(fit$lambda_max, max(abs(sums)), tolerance = 1e-4)
  expect_equal(fit$df[1], 3)
  expect_equal(unname(fit$beta[, 1]), unname(fitted(lm(y ~ poly(t, 2)))), tolerance = 1e-6)
})

test_that("converged means near the minimum, judged by the objective reached", {
  set.seed(3)
  s <- sim_gen_lasso("blocks", n = 60, p = 150, sd = 0.1)
  fit <- gen_lasso(s$x, s$y, s$penalty, lambda = 0.1, intercept = FALSE)
  fine <- gen_lasso(s$x, s$y, s$penalty, lambda = 0.1, intercept = FALSE, tol = 1e-12)
  expect_true(fit$convergence[[1]]$converged)
  expect_lt(fit$objective - fine$objective, 1e-6 * fine$objective)
})

test_that("uneven positions: the rows of Tibshirani's recursion, and polynomials in the positions cost nothing", {
  pos <- c(0, 0.5, 2, 3, 7, 8, 8.5, 11)
  even <- gen_lasso_penalty("chain", 8, order = 3)$matrix
  expect_equal(as.matrix(even), diff(diag(8), differences = 3), ignore_attr = TRUE)
  expect_equal(as.matrix(gen_lasso_penalty("chain", pos = 3 + 1:8, order = 3)$matrix), as.matrix(even))
  d1 <- diff(diag(8))
  d2 <- diff(diag(7)) %*% diag(1 / diff(pos)) %*% d1
  d3 <- diff(diag(6)) %*% diag(2 / (pos[3:8] - pos[1:6])) %*% d2
  penalty <- gen_lasso_penalty("chain", pos = pos, order = 3)
  expect_equal(as.matrix(penalty$matrix), d3, ignore_attr = TRUE)
  expect_lt(max(abs(penalty$matrix %*% cbind(1, pos, pos^2))), 1e-12)
  expect_lt(max(abs(penalty$matrix %*% penalty$null)), 1e-12)
  expect_equal(crossprod(penalty$null), diag(3))
  line <- gen_lasso(NULL, 2 - 3 * pos, gen_lasso_penalty("chain", pos = pos, order = 2), lambda = 5)
  expect_equal(line$beta[, 1], 2 - 3 * pos, tolerance = 1e-8)
  expect_equal(line$df, 2)
  # a repeated position in time is one that is missed: leaving a point out of an even line changes nothing either
  gap <- gen_lasso(NULL, 2 - 3 * c(1:4, 6:9), gen_lasso_penalty("chain", pos = c(1:4, 6:9), order = 2), lambda = 5)
  expect_equal(gap$beta[, 1], 2 - 3 * c(1:4, 6:9), tolerance = 1e-8)
})

test_that("cross-validation of a signal: chains leave every k-th value out, other penalties keep their coefficients", {
  set.seed(4)
  truth <- rep(c(0, 3, 1), each = 30)
  y <- truth + rnorm(90, sd = 0.5)
  cv <- gen_lasso_select(NULL, y, folds = 5)
  expect_s3_class(cv, "granary_selection")
  expect_equal(cv$folds, rep_len(1:5, 90))
  error <- function(fit, lambda) mean((coef(fit, lambda = lambda) - truth)^2)
  expect_lt(mean((coef(cv) - truth)^2), 1.5 * min(vapply(cv$lambda, error, 0, fit = cv$fit)))
  # the score of the first penalty by hand: a constant fit to each training set
  by_hand <- mean(unlist(lapply(1:5, function(k) (y[cv$folds == k] - mean(y[cv$folds != k]))^2)))
  top <- gen_lasso_select(NULL, y, lambda = c(1e4, 1e3), folds = 5)
  expect_equal(top$table$estimate[1], by_hand, tolerance = 1e-8)
  ramp <- gen_lasso_select(NULL, 1:40 + rnorm(40), gen_lasso_penalty("chain", 40, order = 2), folds = 4, n_lambda = 6)
  expect_lt(min(ramp$table$estimate), 3)
  image <- matrix(rep(c(0, 2), each = 32), 8) + rnorm(64, sd = 0.3)
  grid <- suppressWarnings(gen_lasso_select(NULL, image, gen_lasso_penalty("grid", dim = c(8, 8)), lambda = c(20, 0.3, 0.001), folds = 4))
  expect_identical(grid$selected, 2L)
  expect_error(gen_lasso_select(NULL, y, folds = 1), class = "granary_error_input")
})

test_that("cross-validation by formula is that by matrix", {
  d <- data.frame(matrix(rnorm(300), 50, 6))
  d$y <- d$X1 + d$X2 + rnorm(50)
  folds <- rep_len(1:5, 50)
  formula <- gen_lasso_select(y ~ ., d, folds = folds, n_lambda = 6)
  matrix <- gen_lasso_select(as.matrix(d[1:6]), d$y, folds = folds, n_lambda = 6)
  expect_equal(formula$table, matrix$table)
  expect_equal(predict(formula, d[1:3, ]), predict(matrix, as.matrix(d[1:3, 1:6])))
})

test_that("trend filtering is exact: degrees of freedom and kinks are those of the dual path of genlasso's own example", {
  set.seed(0)
  truth <- numeric(100)
  truth[1:20] <- (0:19) * 4 / 19 + 2
  truth[20:45] <- (25:0) * 3 / 25 + 3
  truth[45:80] <- (0:35) * 9 / 35 + 3
  truth[80:100] <- (20:0) * 4 / 20 + 8
  y <- truth + rnorm(100)
  lambda <- exp(seq(log(510), log(0.0624), length.out = 10))
  fit <- gen_lasso(NULL, y, gen_lasso_penalty("chain", 100, order = 2), lambda = lambda)
  expect_true(all(vapply(fit$convergence, `[[`, NA, "converged")))
  for (k in seq_along(lambda)) {
    bend <- diff(fit$beta[, k], differences = 2)
    kinks <- abs(fit$mu[, k]) == lambda[k]
    expect_equal(fit$df[k], sum(kinks) + 2)
    expect_lt(max(abs(bend[!kinks])), 1e-12)
    expect_true(all(sign(bend[kinks]) == sign(fit$mu[kinks, k])))
    expect_lt(fit$convergence[[k]]$gap, 1e-9)
  }
  skip_if_not_installed("genlasso")
  peer <- getExportedValue("genlasso", "trendfilter")(y, ord = 1)
  at <- coef(peer, lambda = lambda)
  expect_identical(fit$df, as.double(at$df))
  expect_equal(fit$beta, at$beta, tolerance = 1e-8, ignore_attr = TRUE)
})

test_that("summaries are a table of the path, and calls are in the user's words", {
  set.seed(9)
  x <- matrix(rnorm(200), 20)
  fit <- gen_lasso(x, rnorm(20), n_lambda = 15)
  shown <- capture.output(print(summary(fit)))
  expect_false(any(grepl("matrix|list of length|numeric vector", shown)))
  expect_match(shown, "15 penalties in all", all = FALSE)
  expect_match(shown, "stationarity", all = FALSE)
  expect_match(capture.output(print(fit)), "Call: gen_lasso\\(", all = FALSE)
  warned <- tryCatch(gen_lasso(x, rnorm(20), lambda = 0.01, max_iter = 1, tol = 1e-12, polish = FALSE), warning = conditionCall)
  expect_identical(as.character(warned[[1]]), "gen_lasso")
})

test_that("without the polish the rounds are those of Algorithm 1, written out", {
  set.seed(2)
  n <- 40
  p <- 120
  x <- matrix(rnorm(n * p), n)
  x <- sweep(x, 2L, sqrt(colSums(x^2)), "/") * 10  # equal lengths: the h-step is then a signal's
  y <- drop(x %*% rep(c(0, 1, 2, 0), c(12, 12, 24, 72))) + rnorm(n, sd = 0.1)
  lambda <- 0.1
  d <- 100
  chain <- gen_lasso_penalty("chain", p)
  f <- function(b) sum((y - x %*% b)^2) / 2
  h <- function(b) lambda * sum(abs(diff(b)))
  slope <- function(b) drop(crossprod(x, x %*% b - y))
  centre <- b_f <- numeric(p)
  s_f <- slope(b_f)
  best <- f(centre) + h(centre)
  by_hand <- best
  take <- function(b, promise) {
    value <- f(b) + h(b)
    if (value > best - 0.2 * promise) return()
    centre <<- b
    best <<- value
  }
  for (round in 1:40) {
    z <- centre - s_f / d
    b_h <- as.vector(coef(gen_lasso(NULL, z, chain, lambda = lambda / d, tol = 1e-12)))
    s_h <- d * (z - b_h)
    take(b_h, best - (f(b_f) + sum(s_f * (b_h - b_f)) + h(b_h)))
    z <- centre - s_h / d
    b_f <- solve(crossprod(x) + diag(d, p), crossprod(x, y) + d * z)[, 1L]
    s_f <- slope(b_f)
    take(b_f, best - (f(b_f) + sum(s_h * b_f)))
    by_hand <- c(by_hand, best)
  }
  ours <- suppressWarnings(gen_lasso(x, y, chain, lambda = lambda, polish = FALSE, tol = 1e-12, max_iter = 40, start = numeric(p), intercept = FALSE))
  expect_equal(ours$trace[[1L]], by_hand, tolerance = 1e-6)
})
