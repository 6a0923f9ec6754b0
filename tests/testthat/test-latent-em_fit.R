test_that("the mixture of Old Faithful and of iris has the likelihoods known elsewhere", {
  set.seed(1)
  fit <- em_fit(faithful, k = 2, tol = 1e-12)
  expect_equal(fit$loglik, -1130.264, tolerance = 1e-6)  # mclust
  expect_equal(em_fit(iris[1:4], k = 3, tol = 1e-12)$loglik, -180.1855, tolerance = 1e-6)
  expect_equal(em_fit(iris[1:4], k = 3, covariance = "tied", tol = 1e-12)$loglik, -256.354, tolerance = 1e-6)
  direct <- function(x) {
    d <- vapply(1:2, function(h) {
      z <- sweep(as.matrix(x), 2L, fit$centers[h, ])
      fit$share[h] * exp(-0.5 * rowSums((z %*% solve(fit$covariance[[h]])) * z)) / sqrt(det(2 * pi * fit$covariance[[h]]))
    }, numeric(nrow(x)))
    log(rowSums(d))
  }
  expect_equal(predict(fit, faithful, type = "density"), direct(faithful), tolerance = 1e-10)
  expect_equal(sum(direct(faithful)), fit$loglik, tolerance = 1e-12)
  expect_equal(rowSums(fit$membership), rep(1, 272), tolerance = 1e-12, ignore_attr = TRUE)
  expect_lt(abs(fit$gap), 1e-8)
  expect_identical(fit$rises, 0L)
})

test_that("mclust from the same start ends at the same likelihood", {
  skip_if_not_installed("mclust")
  start <- as.integer(cut(faithful$eruptions, 2))
  for (kind in c(full = "VVV", tied = "EEE", diagonal = "VVI", spherical = "VII")) {
    z <- mclust::unmap(start)
    peer <- getExportedValue("mclust", paste0("me", kind))(faithful, z = z, control = mclust::emControl(tol = c(1e-12, 1e-12), itmax = c(5000, 5000)))
    ours <- em_fit(faithful, k = 2, covariance = names(which(c(full = "VVV", tied = "EEE", diagonal = "VVI", spherical = "VII") == kind)), start = start, tol = 1e-13, max_iter = 5000)
    expect_equal(ours$loglik, peer$loglik, tolerance = 1e-7)
  }
})

test_that("all methods end at the same place, and the same at one and two threads", {
  set.seed(2)
  sim <- sim_em(3000, means = rbind(c(0, 0), c(3, 0), c(0, 3)))
  start <- em_fit(sim$x, k = 3, n_starts = 1)
  fits <- lapply(c("em", "incremental", "gem", "squarem"), function(m) em_fit(sim$x, k = 3, method = m, start = start, tol = 1e-12))
  for (fit in fits[-1]) expect_equal(fit$centers, fits[[1]]$centers, tolerance = 1e-4)
  set.seed(3)
  one <- em_fit(sim$x, k = 3, n_starts = 2, threads = 1)
  set.seed(3)
  two <- em_fit(sim$x, k = 3, n_starts = 2, threads = 2)
  expect_identical(one$centers, two$centers)
  expect_identical(one$loglik, two$loglik)
  # recovery
  expect_lt(max(abs(one$centers[order(one$centers[, 1] + 2 * one$centers[, 2]), ] - rbind(c(0, 0), c(3, 0), c(0, 3)))), 0.2)
  set.seed(4)
  a <- em_fit(sim$x, k = 3, method = "incremental", order = "random")
  set.seed(4)
  expect_identical(a$loglik, em_fit(sim$x, k = 3, method = "incremental", order = "random")$loglik)
})

test_that("scales, permuted columns and rows, and weights do what they must", {
  set.seed(5)
  sim <- sim_em(300, means = rbind(c(0, 0), c(5, 5)))
  colnames(sim$x) <- c("a", "b")
  fit <- em_fit(sim$x, k = 2, tol = 1e-12)
  for (scale in c(1e-8, 1e8)) {
    other <- em_fit(sim$x * scale, k = 2, tol = 1e-12)
    expect_equal(other$centers / scale, fit$centers, tolerance = 1e-6)
    expect_equal(other$loglik, fit$loglik - 600 * log(scale), tolerance = 1e-8)
  }
  expect_identical(predict(fit, sim$x[, 2:1]), predict(fit, sim$x))
  expect_equal(predict(fit, sim$x[300:1, ], type = "prob"), predict(fit, sim$x, type = "prob")[300:1, ], tolerance = 1e-12)
  expect_error(predict(fit, cbind(A = 1, b = 2)), class = "granary_error_input")
  w <- rep(c(1, 2), 150)
  twice <- em_fit(sim$x[rep(1:300, w), ], k = 2, start = fit, tol = 1e-12)
  weighted <- em_fit(sim$x, k = 2, weights = w, start = fit, tol = 1e-12)
  expect_equal(weighted$centers, twice$centers, tolerance = 1e-6)
  expect_equal(weighted$loglik, twice$loglik, tolerance = 1e-9)
})

test_that("latent classes, Poisson and multinomial mixtures recover their tables; sparse and dense agree; missing items are allowed", {
  set.seed(6)
  table <- rbind(c(.9, .1, .8, .2, .7, .2, .1), c(.2, .8, .3, .7, .1, .2, .7))
  sim <- sim_em(4000, family = "categorical", means = table, share = c(.6, .4), levels = c(2, 2, 3))
  sim$x$item1[sample(4000, 400)] <- NA
  fit <- em_fit(sim$x, k = 2, family = "categorical")
  expect_lt(max(abs(fit$centers - table)), 0.08)
  expect_equal(fit$df, 1 + 2 * (1 + 1 + 2))
  expect_error(predict(fit, data.frame(item1 = "9", item2 = "1", item3 = "1")), "does not know")
  rates <- rbind(c(2, 10, 5), c(8, 1, 5))
  counts <- sim_em(1000, family = "poisson", means = rates)$x
  dense <- em_fit(counts, k = 2, family = "poisson", start = as.integer(counts[, 1] > 5))
  sparse <- em_fit(Matrix::Matrix(counts, sparse = TRUE), k = 2, family = "poisson", start = as.integer(counts[, 1] > 5))
  expect_equal(sparse$loglik, dense$loglik, tolerance = 1e-10)
  expect_lt(max(abs(dense$centers[order(dense$centers[, 1]), ] - rates)), 0.5)
  direct <- sum(log(rowSums(vapply(1:2, function(h) dense$share[h] * apply(dpois(t(counts), dense$centers[h, ]), 2, prod), numeric(1000)))))
  expect_equal(dense$loglik, direct, tolerance = 1e-10)
  words <- sim_em(500, family = "multinomial", means = rbind(c(.7, .2, .1), c(.1, .2, .7)), size = 30)$x
  topics <- em_fit(words, k = 2, family = "multinomial")
  expect_equal(rowSums(topics$centers), c(1, 1), tolerance = 1e-12, ignore_attr = TRUE)
  expect_equal(topics$loglik, sum(log(rowSums(vapply(1:2, function(h) topics$share[h] * apply(words, 1, dmultinom, prob = topics$centers[h, ]), numeric(500))))), tolerance = 1e-9)
})

test_that("hidden Markov models recover their transitions, from a list or with id, and predict paths", {
  set.seed(7)
  transition <- rbind(c(.9, .1), c(.2, .8))
  sim <- sim_em(20, means = rbind(0, 3), transition = transition, length = 100)
  fit <- em_fit(sim$x, k = 2, id = sim$id)
  expect_lt(max(abs(fit$transition - transition)), 0.06)
  expect_gt(mean(fit$cluster == sim$cluster), 0.95)
  set.seed(8)
  a <- em_fit(sim$x, k = 2, id = sim$id)
  set.seed(8)
  b <- em_fit(split(sim$x[, 1], factor(sim$id)), k = 2)
  expect_equal(a$loglik, b$loglik)
  expect_length(predict(fit, list(sim$x[1:10, , drop = FALSE], sim$x[11:15, , drop = FALSE])), 15L)
  # the likelihood of one sequence by the forward recursion, written out
  x <- sim$x[1:100, 1]
  alpha <- fit$share * dnorm(x[1], fit$centers, sqrt(unlist(fit$covariance)))
  total <- log(sum(alpha))
  for (t in 2:100) {
    alpha <- as.vector(alpha / sum(alpha)) %*% fit$transition * dnorm(x[t], fit$centers[, 1], sqrt(unlist(fit$covariance)))
    total <- total + log(sum(alpha))
  }
  expect_equal(unname(predict(fit, type = "density")[1]), total, tolerance = 1e-8)
  lone <- em_fit(list(c(0, 0.1), 3, c(3.1, 2.9, 0)), k = 2, prior = 1)
  expect_length(lone$cluster, 6L)
  expect_error(em_fit(sim$x, k = 2, id = rep(1:2, 1000)), "stand together")
  expect_error(em_fit(sim$x, k = 2, id = sim$id, forward = "box", lower = .1), "exact")
  expect_error(em_fit(list(), k = 2), class = "granary_error_input")
})

test_that("hard, boxed and tempered fits say that they are no maximum of the likelihood", {
  set.seed(9)
  exact <- em_fit(faithful, k = 2)
  for (kind in c("hard", "box", "tempered")) {
    fit <- em_fit(faithful, k = 2, forward = kind, lower = 0.05, upper = 0.95, temperature = 3, start = exact)
    expect_gt(fit$gap, 0)
    expect_lt(fit$loglik, exact$loglik + 1e-8)
    expect_output(print(fit), "not a maximum likelihood")
  }
  expect_error(em_fit(faithful, k = 2, forward = "box", lower = 0.6), "sum must be 1")
})

test_that("bad input is refused with its reason, and edges hold", {
  expect_error(em_fit(faithful, k = 300), "at most the number of rows")
  expect_error(em_fit(matrix(1, 5, 2), k = 1), "equal")
  expect_error(em_fit(c(1, NA), k = 1), class = "granary_error_input")
  expect_error(em_fit(c(1, Inf), k = 1), class = "granary_error_input")
  expect_error(em_fit(cbind(c(1, -2)), k = 1, family = "poisson"), "negative")
  expect_error(em_fit(cbind(c(1, .5)), k = 1, family = "poisson"), "counts")
  expect_error(em_fit(faithful, k = 2, start = rep(1, 272)), "different labels")
  expect_error(em_fit(faithful, k = 2, start = matrix(.4, 272, 2)), "sum 1")
  expect_error(em_fit(data.frame(a = factor(c(NA, NA), "x")), k = 1, family = "categorical"), "no value")
  one <- em_fit(faithful, k = 1)
  n <- 272
  expect_equal(one$covariance[[1]], cov(faithful) * (n - 1) / n, tolerance = 1e-10, ignore_attr = TRUE)
  set.seed(1)
  expect_warning(expect_warning(em_fit(rbind(matrix(0, 20, 2), matrix(rnorm(40), 20)), k = 2, start = rep(1:2, each = 20)), "held up by a floor"), "more passes do not help")
  expect_silent(em_fit(rbind(matrix(0, 20, 2), matrix(rnorm(40), 20)), k = 2, prior = 1, start = rep(1:2, each = 20)))
  wide <- suppressWarnings(em_fit(matrix(rnorm(60), 6), k = 2, covariance = "spherical"))
  expect_true(is.finite(wide$loglik))
})

test_that("the criteria choose, simulate() and the plots work", {
  set.seed(10)
  choice <- em_select(faithful, k = 1:3, covariance = c("full", "tied"), n_starts = 2)
  expect_s3_class(choice, "granary_selection")
  expect_equal(choice$table$estimate[choice$selected], BIC(choice$fit), tolerance = 1e-10)
  fit <- choice$fit
  drawn <- simulate(fit, nsim = 2, seed = 1)
  expect_identical(dim(drawn[[1]]), c(272L, 2L))
  expect_identical(drawn, simulate(fit, nsim = 2, seed = 1))
  path <- tempfile(fileext = ".pdf")
  grDevices::pdf(path)
  plot(fit)
  plot(fit, newdata = faithful)
  plot(choice)
  grDevices::dev.off()
  expect_gt(file.size(path), 1000)
  expect_error(em_select(faithful, k = 1:2, kind = "full"), "no `kind`")
})

test_that("own steps: the coin of the paper", {
  posterior <- function(theta) theta^2 / (theta^2 + (1 - theta)^2)
  h <- function(q) if (q <= 0 || q >= 1) 0 else -q * log(q) - (1 - q) * log(1 - q)
  divergence <- function(q, theta) -h(q) - 2 * (q * log(theta) + (1 - q) * log(1 - theta))
  loglik <- function(theta) log(theta^2 + (1 - theta)^2)
  em <- em_iterate(0.3, function(q, theta) posterior(theta), function(q, theta) q, divergence, loglik, max_iter = 3)
  expect_equal(em$theta, 0.0011368, tolerance = 1e-4)
  expect_equal(em$trace$forward, -em$trace$loglik, tolerance = 1e-12)
  held <- em_iterate(0.3, function(q, theta) min(max(posterior(theta), .4), .6), function(q, theta) q, divergence, loglik)
  expect_equal(held$theta, 0.4)
  expect_identical(held$falls, 1L)
  expect_gt(held$gap, 0)
  expect_warning(em_iterate(0.3, function(q, theta) posterior(theta), function(q, theta) 1 - q, divergence, loglik, max_iter = 5), "rose")
  expect_error(em_iterate(0.3, 1, 2, 3), class = "granary_error_input")
  expect_error(em_iterate(0.3, function(q, theta) 1, function(q, theta) 1, function(q, theta) "a"), "one number")
})

test_that("Boltzmann machines: exact EM has no slope left, mean field says what it has, bad input is refused", {
  set.seed(11)
  J <- matrix(0, 4, 4)
  J[1, 2] <- J[2, 1] <- 2
  J[3, 4] <- J[4, 3] <- -2
  x <- sim_boltzmann(2000, J, c(-1, -1, 1, 1))
  fit <- boltzmann_fit(x, lambda = 1e-4)
  expect_lt(max(abs(fit$J - J)), 0.5)
  expect_lt(fit$score, 1e-4)
  expect_equal(sum(predict(fit, x, type = "density")), fit$loglik, tolerance = 1e-10)
  y <- x
  y[sample(length(y), 2000)] <- NA
  field <- boltzmann_fit(y, method = "mean_field", lambda = 1e-2)
  exact <- boltzmann_fit(y, lambda = 1e-2)
  expect_gte(field$gap, 0)
  expect_equal(exact$gap, 0, tolerance = 1e-6)
  expect_output(print(field), "not a maximum likelihood")
  # likelihood by listing all states
  states <- as.matrix(expand.grid(rep(list(0:1), 4)))
  e <- rowSums((states %*% (exact$J / 2)) * states) + states %*% exact$b
  row <- y[5, ]
  fits <- apply(states, 1, function(s) all(is.na(row) | s == row))
  expect_equal(unname(predict(exact, y[5, , drop = FALSE], type = "density")), log(sum(exp(e[fits]))) - log(sum(exp(e))), tolerance = 1e-10)
  expect_error(boltzmann_fit(matrix(2, 3, 2)), "0, 1 and NA")
  expect_error(boltzmann_fit(matrix(0, 3, 21)), "20 nodes")
  expect_warning(boltzmann_fit(cbind(c(0, 0, 1, 1), c(0, 0, 1, 1))), "lambda")
})

test_that("a fit that a floor holds stops where nothing falls any more, and says so", {
  wide <- t(as.matrix(faithful[1:40, ]))
  fit <- suppressWarnings(em_fit(wide, k = 1, n_starts = 1))
  expect_false(fit$convergence$converged)
  expect_identical(fit$convergence$reason, "stalled")
  expect_lt(fit$convergence$iterations, 50)
})
