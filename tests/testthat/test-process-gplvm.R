curve_data <- function(n = 40, noise = 0.03) {
  t <- seq(-1.4, 1.4, length.out = n)
  x <- cbind(a = 2 * t, b = t + 0.5 * t^2, c = sin(2 * t), d = 0.5 * cos(2 * t)) + rnorm(4 * n, sd = noise)
  list(x = x, t = t)
}
set.seed(1)
bend <- curve_data()
fit1 <- gplvm(bend$x, k = 1, max_iter = 500, tol = 1e-6)

test_that("the value and the gradient are those of the formulas", {
  set.seed(3)
  y <- matrix(rnorm(30), 10)
  at <- matrix(rnorm(20), 10)
  kernel <- k_se(lengthscale = 0.8, variance = 1.3) + k_bias(0.3) + k_white(0.2)
  none <- matrix(0, 0, 0)
  k <- kernel_matrix(kernel, at)
  direct <- -0.5 * (3 * (10 * log(2 * pi) + as.double(determinant(k)$modulus)) + sum(y * solve(k, y)))
  value <- core_gplvm_value(list(y = y, noise = none, kernel = kernel), at, 0)
  expect_equal(value$value, direct, tolerance = 1e-10)
  # equation (10) with its factor 1/2, and the chain rule for the squared exponential
  inverse <- solve(k)
  g <- 0.5 * (inverse %*% tcrossprod(y) %*% inverse - 3 * inverse)
  r <- g * kernel_matrix(k_se(lengthscale = 0.8, variance = 1.3), at)
  expect_equal(value$latent, -2 / 0.8^2 * (rowSums(r) * at - r %*% at), tolerance = 1e-8)
  expect_equal(value$parameters[c(1, 3, 4)], c(sum(r), 0.3 * sum(g), 0.2 * sum(diag(g))), tolerance = 1e-8)
})

test_that("the kernel of a multi-layer perceptron has known values", {
  k <- kernel_matrix(k_mlp(), rbind(c(1, 0), c(0, 1), c(-1, 2)))
  expect_equal(diag(k), c(1.2609517, 1.2609517, 1.3894766), tolerance = 1e-7)
  expect_equal(k[cbind(c(1, 1, 2), c(2, 3, 3))], c(0.4963174, 0, 0.9939708), tolerance = 1e-6)
})

test_that("iris starts at the penalised likelihood of a reference run and ends far above it", {
  x <- scale(iris[, 1:4])
  pc <- prcomp(x)$x[, 1:2]
  start <- core_gplvm_value(list(y = unname(x), noise = matrix(0, 0, 0), kernel = k_se() + k_bias(exp(-1)) + k_white(exp(-1))), unname(pc), 0)$value - sum(pc^2) / 2
  expect_equal(start, -682.8, tolerance = 1e-4)
  fit <- gplvm(x, init = pc)
  expect_gt(fit$loglik, 330)
  expect_lt(assess(fit, truth = iris$Species)$wrong, granary:::neighbour_errors(pc, iris$Species))
  expect_identical(granary:::neighbour_errors(pc, iris$Species), 18L)
  at_end <- core_gplvm_value(list(y = unname(x), noise = matrix(0, 0, 0), kernel = fit$kernel), unname(fit$latent), 0)$value
  expect_equal(at_end, fit$loglik, tolerance = 1e-6)
  expect_equal(fit$objective, fit$loglik - sum(fit$latent^2) / 2)
  expect_equal(mean(fit$latent^2), 1, tolerance = 1e-6)  # the convention for a scale that is free
})

test_that("a curve is recovered over several seeds", {
  found <- vapply(1:4, function(seed) {
    set.seed(seed)
    sim <- curve_data(30)
    fit <- suppressWarnings(gplvm(sim$x, k = 1, max_iter = 200, tol = 1e-6))
    abs(cor(fit$latent[, 1], sim$t, method = "spearman"))
  }, 0)
  expect_true(all(found > 0.97))
})

test_that("L-BFGS with a linear kernel reaches the closed form from random starts and never exceeds it", {
  x <- as.matrix(iris[seq(1, 150, 5), 1:4])
  best <- dppca(x)$loglik
  set.seed(2)
  fit <- suppressWarnings(gplvm(x, kernel = k_linear(1, fixed = "variance") + k_white(0.1), prior = FALSE, init = "random", n_starts = 3, tol = 1e-10))
  expect_lt(fit$loglik, best + 1e-4)
  expect_equal(fit$loglik, best, tolerance = 1e-4)
  expect_identical(fit$starts$start, rep("random", 3))
  expect_equal(fit$objective, max(fit$starts$objective))
})

test_that("units carry through: the same map for data 1e8 times as large", {
  small <- suppressWarnings(gplvm(bend$x * 1e-8, k = 1, max_iter = 60))
  large <- suppressWarnings(gplvm(bend$x * 1e8, k = 1, max_iter = 60))
  expect_equal(small$latent, large$latent, tolerance = 1e-6)
  expect_equal(small$loglik - large$loglik, 160 * log(1e16), tolerance = 1e-6)
  expect_equal(unname(coef(large)["se.variance"] / coef(small)["se.variance"]), 1e32, tolerance = 1e-6)
  expect_equal(predict(large) / 1e16, predict(small), tolerance = 1e-6)
})

test_that("kernel objects start at their values in the units of the data", {
  expect_equal(multiply_kernel(2 * k_se() + k_linear() * k_bias(3) + k_white(2), 4),
               {
                 k <- 2 * k_se() + k_linear() * k_bias(3) + k_white(2)
                 k$children[[1]]$children[[1]]$variance <- 8
                 k$children[[2]]$children[[1]]$scales <- 4
                 k$children[[3]]$variance <- 8
                 k
               })
  expect_identical(gplvm_kernel("rbf + bias + white", 2L, 1), gplvm_kernel("se + bias + white", 2L, 1))
  points <- matrix(rnorm(6), 3)
  k <- k_se() * k_linear() + k_mlp() + k_white(0.1)
  expect_equal(kernel_matrix(multiply_kernel(k, 2.5), points), 2.5 * kernel_matrix(k, points))
  for (kernel in list(k_se(), k_se() + k_white(0.3), k_white(2), k_se() * k_white(2))) {
    expect_equal(kernel_matrix(add_white(kernel, 0.2), points), kernel_matrix(kernel, points) + diag(0.2, 3))
  }
})

test_that("predictions equal conditioning by hand, with missing cells and known noise", {
  x <- bend$x
  x[c(3, 9), 2] <- NA
  fit <- suppressWarnings(gplvm(x, k = 1, noise_var = c(0, 0, 0.01, 0), max_iter = 60, tol = 1e-5))
  new <- cbind(c(-0.5, 0, 0.8))
  at <- predict(fit, new, se = TRUE)
  k <- kernel_matrix(fit$kernel, fit$latent)
  cross <- kernel_matrix(fit$kernel, new, fit$latent)
  for (j in 1:4) {
    rows <- which(!is.na(x[, j]))
    a <- k[rows, rows] + diag(c(0, 0, 0.01, 0)[j], length(rows))
    y <- x[rows, j] - mean(x[rows, j])
    expect_equal(at$fit[, j], drop(mean(x[rows, j]) + cross[, rows] %*% solve(a, y)), tolerance = 1e-6, ignore_attr = TRUE)
    variance <- diag(kernel_matrix(fit$kernel, new)) - rowSums(cross[, rows] * t(solve(a, t(cross[, rows]))))
    expect_equal(at$se.fit[, j]^2, variance, tolerance = 1e-6, ignore_attr = TRUE)
  }
  expect_false(anyNA(predict(fit, type = "impute")))
  expect_lt(max(abs(predict(fit, type = "impute")[c(3, 9), 2] - bend$x[c(3, 9), 2])), 0.2)
  expect_identical(predict(fit, type = "impute")[1, ], x[1, ])
  link <- predict(fit, new, se = TRUE, type = "link")
  expect_true(all(link$se.fit < at$se.fit))
})

test_that("no missing cells: the masked code is the plain one", {
  masked <- suppressWarnings(gplvm(bend$x, k = 1, noise_var = 0, max_iter = 40))
  plain <- suppressWarnings(gplvm(bend$x, k = 1, max_iter = 40))
  expect_equal(masked$latent, plain$latent, tolerance = 1e-5)
  expect_equal(masked$loglik, plain$loglik, tolerance = 1e-6)
})

test_that("a training row is projected to where it is, and missing cells are filled in", {
  expect_equal(predict(fit1, bend$x, type = "latent"), fit1$latent, tolerance = 0.1)
  holes <- bend$x[seq(2, 40, 4), ]
  whole <- holes
  holes[, 3] <- NA
  filled <- predict(fit1, holes, type = "impute")
  expect_gt(cor(filled[, 3], whole[, 3]), 0.98)
  expect_equal(filled[, 1], whole[, 1])
  found <- predict(fit1, bend$x[1:3, ], modes = TRUE, n_draws = 500, type = "latent")
  expect_identical(sort(names(found)), sort(c("latent", "loglik", "objective", "log_marginal", "log_marginal_se", "modes")))
  expect_equal(found$objective, found$loglik - rowSums(found$latent^2) / 2, tolerance = 1e-6)
  expect_true(all(found$modes$row %in% 1:3))
  best <- tapply(found$modes$objective, found$modes$row, max)
  expect_equal(as.double(best), unname(found$objective))
  expect_equal(as.double(logLik(fit1, bend$x[1:3, ])), sum(predict(fit1, bend$x[1:3, ], modes = TRUE, type = "latent")$loglik), tolerance = 1e-4)
  # columns are found by name
  expect_equal(predict(fit1, bend$x[1:3, 4:1], type = "latent"), predict(fit1, bend$x[1:3, ], type = "latent"), tolerance = 1e-4)
})

test_that("the same seed gives the same answer on one and on two threads", {
  x <- bend$x
  x[5, 1] <- NA
  run <- function(threads) {
    set.seed(4)
    fit <- suppressWarnings(gplvm(x, k = 1, init = "random", method = "sparse", active = 15, n_rounds = 3, threads = threads))
    list(fit$latent, fit$loglik, predict(fit, x[1:4, ], threads = threads, type = "latent"))
  }
  expect_identical(run(1), run(2))
  binary <- 1 * (bend$x > 0)
  run <- function(threads) suppressWarnings(gplvm(binary, k = 1, noise = "bernoulli", n_rounds = 2, max_iter = 10, threads = threads)$latent)
  expect_identical(run(1), run(2))
})

test_that("the sparse method with all rows active is the full one", {
  sparse <- gplvm(bend$x, k = 1, method = "sparse", active = 40, max_iter = 500, tol = 1e-6, n_rounds = 1)
  expect_equal(sparse$loglik, fit1$loglik, tolerance = 0.02)
  expect_setequal(sparse$active, 1:40)
  few <- gplvm(bend$x, k = 1, method = "sparse", active = 20)
  expect_gt(abs(cor(few$latent[, 1], bend$t, method = "spearman")), 0.95)
  expect_equal(few$objective, max(few$trace))
  expect_length(few$active, 20)
  expect_warning(fixed <- gplvm(bend$x, k = 1, method = "sparse", active = 20, move_active = FALSE, n_rounds = 4), "Raise `n_rounds`",
                 class = "granary_warning_convergence")
  expect_true(is.finite(fixed$loglik))
  expect_false(fixed$convergence$converged)
})

test_that("sparse fits with missing cells or known noise climb to a maximum too, and binary ones say when they did not", {
  x <- as.matrix(scale(iris[, 1:4]))
  x[cbind(c(1, 20, 60, 100, 149), c(1, 2, 3, 4, 1))] <- NA
  for (noise in list(NULL, 0.05)) {
    fit <- gplvm(x, method = "sparse", active = 20, noise_var = noise, tol = 1e-5)
    rounds <- fit$trace[length(fit$trace) - 1L]
    expect_gt(fit$objective, rounds + 10)
    expect_equal(fit$objective, max(fit$trace))
    expect_true(fit$convergence$converged)
  }
  set.seed(5)
  y <- matrix(rbinom(30 * 6, 1, 0.5), 30)
  expect_warning(fit <- gplvm(y, method = "sparse", noise = "bernoulli", active = 15, n_rounds = 2), "Raise `n_rounds`",
                 class = "granary_warning_convergence")
  expect_false(fit$convergence$converged)
})

test_that("small active sets climb far above what rounds reach, to the size the prior expects, and more rows do better", {
  x <- scale(iris[, 1:4])
  # with ten rows the likelihood creeps on, and says so
  fits <- lapply(c(10, 20, 60), function(d) suppressWarnings(gplvm(x, method = "sparse", active = d, tol = 1e-5)))
  reached <- vapply(fits, function(f) f$objective, 0)
  expect_true(all(diff(reached) > 0))
  expect_gt(reached[1], 0)  # rounds alone: -112
  expect_lt(assess(fits[[2L]], truth = iris$Species)$wrong, granary:::neighbour_errors(prcomp(x)$x[, 1:2], iris$Species))
  for (f in fits) {
    expect_equal(mean(f$latent^2), 1, tolerance = 1e-6)
    expect_equal(f$objective, max(f$trace))
  }
  expect_true(fits[[2L]]$convergence$converged && fits[[3L]]$convergence$converged)
})

test_that("full binary models say whether they settled, and never end below where they were", {
  set.seed(1)
  y <- matrix(rbinom(40 * 10, 1, 0.3), 40)
  expect_warning(short <- gplvm(y, noise = "bernoulli", kernel = "mlp + bias + white", n_rounds = 3), "n_rounds")
  expect_false(short$convergence$converged)
  expect_equal(short$objective, max(short$trace))
  long <- suppressWarnings(gplvm(y, noise = "bernoulli", kernel = "mlp + bias + white"))
  expect_gt(long$objective, short$objective)
})

test_that("binary columns: probabilities beat the base rate, cells can be missing", {
  set.seed(5)
  t <- runif(60, -2, 2)
  prob <- pnorm(outer(t, seq(-1.5, 1.5, length.out = 10), "-") * 3)
  x <- 1 * (matrix(runif(600), 60) < prob)
  x[cbind(1:20, rep(1:10, 2))] <- NA
  for (method in c("full", "sparse")) {
    fit <- suppressWarnings(gplvm(x, k = 1, noise = "bernoulli", method = method, active = 30, n_rounds = 5, max_iter = 30))
    expect_gt(abs(cor(fit$latent[, 1], t, method = "spearman")), 0.85)
    p <- predict(fit)
    expect_true(all(p > 0 & p < 1))
    expect_lt(mean((p > 0.5) != (prob > 0.5)), 0.12)
    expect_lt(fit$loglik, 0)
    expect_false(anyNA(predict(fit, type = "impute")))
    expect_identical(dim(simulate(fit, seed = 1)[[1]]), dim(x))
    expect_true(all(simulate(fit, seed = 1)[[1]] %in% 0:1))
    placed <- predict(fit, x[21:30, ], type = "latent")
    expect_gt(abs(cor(placed[, 1], fit$latent[21:30, 1])), 0.9)
  }
  expect_error(gplvm(x + 1, noise = "bernoulli"), "must be 0 or 1", class = "granary_error_input")
  expect_error(predict(fit, x[1:2, ] + 1, type = "latent"), "0 or 1", class = "granary_error_input")
  expect_error(gplvm(x, noise = "bernoulli", noise_var = 1), "noise_var", class = "granary_error_input")
})

test_that("a Swiss roll unrolls from Isomap, not from principal components", {
  set.seed(1)
  roll <- sim_swiss_roll(400)
  fit <- suppressWarnings(gplvm(roll$x, init = c("pca", "isomap"), neighbors = 5, max_iter = 60))
  expect_identical(fit$starts$start, c("pca", "isomap"))
  expect_gt(diff(fit$starts$loglik), 100)
  expect_gt(abs(cor(fit$latent[, 1], roll$t, method = "spearman")), 0.95)
})

test_that("draws have the moments of the prediction", {
  new <- cbind(c(-1, 0.5))
  draws <- simulate(fit1, nsim = 2000, seed = 1, newdata = new)
  at <- predict(fit1, new, se = TRUE)
  values <- vapply(draws, function(d) d[, "c"], c(0, 0))
  expect_lt(max(abs(rowMeans(values) - at$fit[, "c"]) / at$se.fit[, "c"]), 4 / sqrt(2000))
  expect_equal(apply(values, 1, sd), at$se.fit[, "c"], tolerance = 0.1, ignore_attr = TRUE)
  expect_identical(simulate(fit1, seed = 2), simulate(fit1, seed = 2))
})

test_that("odd inputs are refused or dealt with", {
  x <- bend$x
  expect_error(gplvm(), "`x`", class = "granary_error_input")
  expect_error(gplvm(x[1, , drop = FALSE]), "at least 3 rows", class = "granary_error_input")
  expect_error(gplvm(replace(x, 1:4 * 40 - 39, NA)), "row 1 all are missing", class = "granary_error_input")
  expect_error(gplvm(cbind(x, NA)), "all are missing", class = "granary_error_input")
  expect_error(gplvm(replace(x, 5, Inf)), "infinite", class = "granary_error_input")
  expect_error(gplvm(x, k = 40), "`k`", class = "granary_error_input")
  expect_error(gplvm(x, init = matrix(0, 3, 2)), "`init`", class = "granary_error_input")
  expect_error(gplvm(x, init = "nowhere"), "`init`", class = "granary_error_input")
  expect_error(gplvm(x, kernel = k_user(function(a, b) tcrossprod(a, b))), "derivative", class = "granary_error_input")
  expect_error(gplvm(x, kernel = "hamming"), "derivative", class = "granary_error_input")
  expect_error(gplvm(x, noise_var = 1:3), "`noise_var`", class = "granary_error_input")
  expect_error(gplvm(x, noise_var = matrix(1, 2, 2)), "`noise_var`", class = "granary_error_input")
  expect_error(gplvm(x, noise_var = -1), "negative", class = "granary_error_input")
  expect_error(gplvm(1e-160 * x), "vary too little", class = "granary_error_input")
  expect_warning(suppressWarnings(gplvm(x, k = 4, max_iter = 5), "granary_warning_convergence"), "need not reduce", class = "granary_warning_input")
  expect_warning(gplvm(x, k = 1, max_iter = 2), "NOT converged", class = "granary_warning_convergence")
  expect_warning(fit <- gplvm(cbind(x, one = 1), k = 1, max_iter = 200, tol = 1e-4), "dropped: one", class = "granary_warning_input")
  expect_identical(unname(predict(fit, cbind(0), se = TRUE)$se.fit[, "one"]), 0)
  expect_error(predict(fit1, matrix(0, 2, 3)), "latent points", class = "granary_error_input")
  expect_error(predict(fit1, x[, 1:2], type = "latent"), "4 columns", class = "granary_error_input")
  expect_error(predict(fit1, matrix(NA_real_, 1, 4), type = "latent"), "all are missing", class = "granary_error_input")
  expect_identical(predict(fit1, type = "latent"), fit1$latent)
  # duplicated rows go to the same place
  twice <- suppressWarnings(gplvm(x[c(1:20, 1:20), ], k = 1, max_iter = 100))
  expect_equal(twice$latent[1:20, ], twice$latent[21:40, ], tolerance = 1e-5)
  # more columns than rows
  set.seed(6)
  wide <- x %*% matrix(rnorm(4 * 60), 4) + rnorm(40 * 60, sd = 0.05)
  expect_gt(abs(cor(suppressWarnings(gplvm(wide, k = 1, max_iter = 100))$latent[, 1], bend$t, method = "spearman")), 0.97)
})

test_that("warnings about cost and noise", {
  set.seed(7)
  big <- matrix(rnorm(2001 * 2), 2001)
  warned <- NULL
  try(withCallingHandlers(gplvm(big, k = 1, max_iter = 1), warning = function(w) {
    warned <<- conditionMessage(w)
    stop("enough")
  }), silent = TRUE)
  expect_match(warned, "cube of 2001 rows")
  exact <- outer(seq(-1, 1, length.out = 12), 1:3)
  expect_warning(suppressWarnings(gplvm(exact, k = 1, max_iter = 300), "granary_warning_convergence"), "at its floor",
                 class = "granary_warning_input")
})

test_that("fits print, summarise, draw and tabulate", {
  expect_output(print(fit1), "40 x 4 data in 1 latent dimension")
  expect_output(print(summary(fit1)), "Share of the variance")
  expect_s3_class(logLik(fit1), "logLik")
  expect_identical(attr(logLik(fit1), "df"), length(fit1$latent) + 4L)
  expect_identical(nrow(tidy(fit1)), 40L)
  expect_equal(residuals(fit1), bend$x - fitted(fit1))
  expect_identical(glance(fit1)$nobs, 40L)
  pdf(NULL)
  on.exit(dev.off())
  expect_null(plot(fit1))
  two <- suppressWarnings(gplvm(bend$x, max_iter = 20))
  expect_null(plot(two, labels = bend$t > 0))
  expect_null(plot(two, background = FALSE))
  expect_error(plot(two, dims = 3), "`dims`", class = "granary_error_input")
  expect_error(plot(two, labels = 1:3), "`labels`", class = "granary_error_input")
  # principal axes, largest entries positive
  spread <- apply(two$latent, 2, sd)
  expect_gte(spread[1], spread[2])
  expect_lt(abs(cor(two$latent)[1, 2]), 1e-8)
  expect_true(all(apply(two$latent, 2, function(v) v[which.max(abs(v))]) > 0))
  skip_if_not_installed("ggplot2")
  shaded <- ggplot2::autoplot(two, labels = bend$t > 0, n_grid = 10)
  expect_identical(nrow(ggplot2::layer_data(shaded, 1L)), 100L)
  expect_equal(ggplot2::layer_data(shaded, 2L)$x, unname(two$latent[, 1]))
  expect_identical(length(ggplot2::autoplot(two, background = FALSE)$layers), 1L)
  expect_s3_class(ggplot2::autoplot(fit1), "ggplot")
})

test_that("an ascent takes the same first steps everywhere, and ends where it ended before", {
  # Steps later on amplify the last bits: after 300 of them two machines, or two dense engines, differ in the second digit. These do not.
  t <- seq(1.5 * pi, 4.5 * pi, length.out = 100)
  height <- (sin(1:100 * 12.9898) * 43758.5453) %% 1 * 20
  roll <- cbind(t * cos(t), height, t * sin(t))
  at <- function(steps) suppressWarnings(gplvm(roll, k = 2, max_iter = steps, threads = 1))$objective
  expect_equal(at(1), -894.74490905624, tolerance = 1e-11)
  expect_equal(at(10), -706.504118126, tolerance = 1e-10)
  full <- gplvm(as.matrix(iris[, 1:4]), max_iter = 500, threads = 1)
  expect_true(full$convergence$converged)
  expect_equal(full$objective, 200.802, tolerance = 1e-5)
  expect_identical(assess(full, truth = iris$Species)$wrong, 3L)
})
