unit <- function(x) x / sqrt(rowSums(x^2))

test_that("table 1 of the paper: mean resultant lengths and the three approximations", {
  d <- c(10, 100, 500, 1000)
  kappa <- c(10, 60, 300, 800)
  printed <- rbind(c(.63366839, 12.28395, 9.36923, 10.16308), c(.46945263, 93.29987, 59.36435, 60.08331), c(.46859068, 469.5063, 296.8318, 300.0841), c(.55438572, 1120.925, 776.7988, 800.1302))
  for (i in 1:4) {
    r <- vmf_bounds("resultant", kappa = kappa[i], d = d[i])
    expect_equal(r, printed[i, 1], tolerance = 1e-7)
    ours <- vapply(c("large", "small", "banerjee"), function(m) vmf_bounds("kappa", resultant = r, d = d[i], method = m), 0)
    expect_equal(unname(ours), printed[i, 2:4], tolerance = 1e-6)
    expect_equal(vmf_bounds("kappa", resultant = r, d = d[i]), kappa[i], tolerance = 1e-12)
    range <- vmf_bounds("kappa_range", resultant = r, d = d[i])
    expect_true(range$lower <= kappa[i] && kappa[i] <= range$upper)
  }
  expect_equal(vmf_bounds("constant", kappa = 800, d = 1000), 1772.11016627656, tolerance = 1e-13)
  expect_equal(vmf_bounds("kappa", resultant = c(a = 0, b = 1), d = 5), c(a = 0, b = Inf))
})

test_that("the density integrates to one, and is the von Mises law on the circle", {
  for (d in c(3, 7, 40)) {
    for (kappa in c(0.1, 5, 60)) {
      area <- 2 * pi^((d - 1) / 2) / gamma((d - 1) / 2)
      mu <- c(1, rep(0, d - 1))
      f <- function(t) vapply(t, function(u) dvmf(c(u, sqrt(1 - u^2), rep(0, d - 2)), mu, kappa), 0) * (1 - t^2)^((d - 3) / 2) * area
      expect_equal(integrate(f, -1, 1, rel.tol = 1e-8)$value, 1, tolerance = 1e-6)
    }
  }
  angle <- c(-2, 0, 1)
  expect_equal(dvmf(cbind(cos(angle), sin(angle)), c(cos(0.3), sin(0.3)), 4), exp(4 * cos(angle - 0.3)) / (2 * pi * besselI(4, 0)))
  expect_equal(dvmf(c(b = 0, a = 2), c(a = 1, b = 0), 3), dvmf(c(1, 0), c(1, 0), 3), ignore_attr = TRUE)
})

test_that("one law: estimates, standard error, interval, draws, and one component is the same", {
  set.seed(1)
  x <- rvmf(500, c(a = 1, b = 2, c = 2), 15)
  expect_equal(rowSums(x^2), rep(1, 500))
  fit <- vmf_fit(x)
  expect_equal(unname(fit$direction), unname(colSums(x) / sqrt(sum(colSums(x)^2))))
  expect_equal(1 / tanh(fit$concentration) - 1 / fit$concentration, sqrt(sum(colSums(x)^2)) / 500)
  expect_equal(fit$std.error, 1 / sqrt(500 * vmf_bounds("variance", kappa = fit$concentration, d = 3)))
  expect_true(confint(fit)[1] < 15 && confint(fit)[2] > 15)
  expect_equal(sum(predict(fit, x)), fit$loglik)
  expect_equal(sum(dvmf(x, fit$direction, fit$concentration, log = TRUE)), fit$loglik)
  expect_equal(fit$df, 3)
  mixture <- vmf_mixture(x, k = 1)
  expect_equal(mixture$loglik, fit$loglik)
  expect_equal(mixture$concentration, fit$concentration)
  expect_equal(mixture$centers[1, ], fit$direction)
  expect_equal(vmf_fit(x, weights = rep(2, 500))$loglik, 2 * fit$loglik)
  expect_equal(vmf_fit(rbind(x, x))$std.error, fit$std.error / sqrt(2))
  expect_output(print(fit), "Concentration")
  expect_equal(tidy(fit)$term, c("a", "b", "c", "kappa"))
  expect_equal(dim(simulate(fit, 2, seed = 1)[[2]]), c(500L, 3L))
  expect_warning(vmf_fit(rbind(c(1, 0), c(1, 0))), class = "granary_warning_input")
  expect_warning(flat <- vmf_fit(rbind(c(1, 0), c(-1, 0))), class = "granary_warning_input")
  expect_equal(flat$concentration, 0)
})

test_that("components are recovered over several seeds, by every way of assigning rows and starting", {
  for (seed in 1:3) {
    set.seed(seed)
    sim <- sim_vmf(900, k = 3, d = 30, kappa = c(20, 40, 80), share = c(0.5, 0.3, 0.2))
    for (type in c("soft", "hard", "hybrid", "stochastic")) {
      fit <- vmf_mixture(sim$x, k = 3, type = type, n_starts = 5, start = if (seed == 1) "perturb" else "plusplus")
      expect_gt(cluster_agreement(fit, sim$cluster)$accuracy, 0.97)
      expect_equal(fit$concentration, sim$kappa, tolerance = 0.12, info = type)
      expect_equal(fit$share, sim$share, tolerance = 0.1)
      expect_gt(min(diag(fit$centers %*% t(sim$centers))), 0.98)
      expect_true(fit$bounds[[1]] <= fit$bounds[[2]] + 1e-8 && fit$bounds[[2]] <= fit$bounds[[3]] + 1e-8)
    }
  }
})

test_that("the set-up small-mix of the paper", {
  errors <- kappas <- NULL
  for (seed in 1:5) {
    set.seed(seed)
    sim <- sim_vmf(50, centers = rbind(c(-.251, -.968), c(.399, .917)), kappa = 4, share = c(.48, .52))
    fit <- vmf_mixture(sim$x, k = 2)
    errors <- c(errors, 50 * (1 - cluster_agreement(fit, sim$cluster)$accuracy))
    kappas <- rbind(kappas, fit$concentration)
  }
  expect_lte(median(errors), 4)
  expect_true(all(apply(kappas, 2, median) > 2.5 & apply(kappas, 2, median) < 6))
})

test_that("sparse is dense, threads and seeds do not matter beyond set.seed(), names and order survive", {
  set.seed(3)
  x <- matrix(rpois(6000, 0.3), 200, dimnames = list(paste0("doc", 1:200), paste0("w", 1:30)))
  x[rowSums(x) == 0, 1] <- 1
  run <- function(x, ..., type = "soft") {
    set.seed(1)
    vmf_mixture(x, k = 3, normalize = TRUE, n_starts = 3, type = type, start = "plusplus", tol = 1e-10, ...)
  }
  for (type in c("soft", "hard", "stochastic")) {
    dense <- run(x, type = type)
    sparse <- run(Matrix::Matrix(x, sparse = TRUE), type = type)
    expect_equal(sparse$loglik, dense$loglik)
    expect_equal(sparse$cluster, dense$cluster)
    expect_identical(run(x, threads = 2, type = type)$centers, run(x, threads = 1, type = type)$centers)
  }
  fit <- run(x)
  expect_equal(names(fit$cluster), rownames(x))
  expect_equal(rownames(fit$membership), rownames(x))
  expect_equal(colnames(fit$centers), colnames(x))
  expect_equal(predict(fit, x), fit$cluster)
  expect_equal(predict(fit, x[, 30:1]), fit$cluster)
  expect_equal(predict(fit, x, type = "prob"), fit$membership, tolerance = 1e-6)
  expect_equal(sum(predict(fit, x, type = "density")), fit$loglik, tolerance = 1e-8)
  for (scale in c(1e-8, 1e8)) expect_equal(run(x * scale)$loglik, fit$loglik)
  kept <- spherical_kmeans(x, 3, normalize = TRUE, threads = 2)
  expect_equal(predict(kept, x * 7), kept$cluster)
})

test_that("turned rows give the turned fit, repeated rows the same one", {
  set.seed(4)
  sim <- sim_vmf(200, k = 2, d = 6, kappa = c(8, 15))
  turn <- qr.Q(qr(matrix(rnorm(36), 6)))
  start <- sample(2, 200, TRUE)
  fit <- vmf_mixture(sim$x, k = 2, start = start, tol = 1e-12)
  turned <- vmf_mixture(sim$x %*% turn, k = 2, start = start, tol = 1e-12)
  expect_equal(turned$loglik, fit$loglik)
  expect_equal(turned$concentration, fit$concentration, tolerance = 1e-6)
  expect_equal(unname(turned$centers), unname(fit$centers %*% turn), tolerance = 1e-6)
  twice <- vmf_mixture(rbind(sim$x, sim$x), k = 2, start = c(start, start), tol = 1e-12)
  expect_equal(twice$loglik, 2 * fit$loglik)
  expect_equal(twice$concentration, fit$concentration, tolerance = 1e-6)
  weighted <- vmf_mixture(sim$x, k = 2, start = start, tol = 1e-12, weights = rep(2, 200))
  expect_equal(weighted$loglik, twice$loglik)
  expect_equal(sum(weighted$sizes), 400)
  again <- vmf_mixture(sim$x, k = 2, start = fit)
  expect_lte(again$convergence$iterations, 2)
  expect_lt(fit$convergence$residual, 1e-5)
  expect_true(all(diff(fit$trace) >= -1e-8))
})

test_that("restrictions: one kappa, a given kappa, equal shares, approximate kappas, and their degrees of freedom", {
  set.seed(5)
  sim <- sim_vmf(300, k = 3, d = 10, kappa = 25)
  free <- vmf_mixture(sim$x, 3)
  common <- vmf_mixture(sim$x, 3, kappa = "common", equal_share = TRUE)
  fixed <- vmf_mixture(sim$x, 3, kappa = 25)
  expect_equal(c(free$df, common$df, fixed$df), c(3 * 9 + 3 + 2, 3 * 9 + 1, 3 * 9 + 2))
  expect_equal(diff(range(common$concentration)), 0)
  expect_equal(common$share, rep(1 / 3, 3))
  expect_equal(fixed$concentration, rep(25, 3))
  expect_gte(free$loglik, common$loglik - 1e-6)
  expect_equal(AIC(free), -2 * free$loglik + 2 * 32)
  near <- vmf_mixture(sim$x, 3, method = "banerjee")
  expect_equal(near$concentration, free$concentration, tolerance = 0.05)
  expect_lte(near$loglik, free$loglik + 1e-6)
})

test_that("a hard mixture of one kappa and equal shares is spherical k-means, label for label", {
  set.seed(6)
  x <- sim_vmf(200, k = 4, d = 8, kappa = 10)$x
  means <- spherical_kmeans(x, 4, start = x[1:4, ], local_search = FALSE)
  expect_equal(vmf_mixture(x, 4, type = "hard", kappa = "common", equal_share = TRUE, start = x[1:4, ])$cluster, means$cluster)
  expect_equal(means$objective, sum(vapply(1:4, function(h) sqrt(sum(colSums(x[means$cluster == h, , drop = FALSE])^2)), 0)))
  better <- spherical_kmeans(x, 4, start = means$cluster)
  expect_gte(better$objective, means$objective)
  uneven <- sim_vmf(300, k = 2, d = 8, kappa = 4, share = c(0.8, 0.2))$x
  spread <- function(balance) diff(range(spherical_kmeans(uneven, 2, balance = balance)$sizes))
  expect_lt(spread(TRUE), spread(FALSE))
  expect_output(print(better), "Mean cosine")
  expect_error(predict(better, x, type = "prob"), class = "granary_error_input")
})

test_that("the number of components is chosen, by a criterion or by labels", {
  set.seed(7)
  sim <- sim_vmf(300, k = 3, d = 8, kappa = 30)
  for (criterion in c("bic", "icl")) expect_equal(nrow(vmf_select(sim$x, 1:5, criterion, n_starts = 3)$fit$centers), 3)
  truth <- replace(sim$cluster, sample(300, 240), NA)
  choice <- vmf_select(sim$x, 1:5, "pac_mdl", truth = truth, n_starts = 3)
  expect_equal(nrow(choice$fit$centers), 3)
  at3 <- choice$table[3, ]
  expect_equal(at3$pac_mdl, vmf_bounds("pac_mdl", errors = at3$errors, labelled = 60, unlabelled = 240, classes = 3, k = 3)$bound)
  expect_s3_class(choice, "granary_selection")
  expect_equal(predict(choice, sim$x), choice$fit$cluster)
  expect_error(vmf_select(sim$x, 1:3, "pac_mdl"), "truth")
  expect_error(vmf_select(sim$x, 1:3, truth = truth), "pac_mdl")
  expect_error(vmf_select(sim$x, 1:3, "pac_mdl", truth = sim$cluster), "nothing to bound")
  expect_error(vmf_select(sim$x, c(1, 1)), class = "granary_error_input")
  expect_error(vmf_select(sim$x, 1:2, nonsense = 3), "nonsense")
})

test_that("cohesion by its definition, for labels and in assess()", {
  set.seed(8)
  sim <- sim_vmf(60, k = 2, d = 5, kappa = 10)
  got <- cluster_cohesion(3 * sim$x, sim$cluster)
  mu <- unit(rowsum(sim$x, sim$cluster))
  cosine <- rowSums(sim$x * mu[sim$cluster, ])
  expect_equal(c(got$h_mean, got$h_min, got$s_mean, got$s_max), c(mean(cosine), min(cosine), rep(sum(mu[1, ] * mu[2, ]), 2)))
  fit <- spherical_kmeans(sim$x, 2)
  scores <- assess(fit, truth = sim$cluster, newdata = sim$x)
  expect_true(all(c("ari", "h_mean", "s_max") %in% names(scores)))
  expect_output(print(got), "Cosine")
  expect_error(cluster_cohesion(sim$x, 1:3), class = "granary_error_input")
})

test_that("rows of zeros, of other lengths, and data that cannot be clustered", {
  x <- rbind(c(1, 0), c(0, 0), c(3, 4), c(0, 1))
  expect_error(vmf_mixture(x, 1), "2", class = "granary_error_input")
  expect_message(fit <- vmf_mixture(x, 1, empty = "omit"), "scaled")
  expect_equal(is.na(fit$cluster), c(FALSE, TRUE, FALSE, FALSE))
  expect_equal(nobs(fit), 3)
  expect_error(vmf_mixture(x[-2, ], 1, normalize = FALSE), "length 5", class = "granary_error_input")
  expect_silent(vmf_mixture(x[-2, ], 1, normalize = TRUE))
  expect_error(vmf_mixture(x[-2, 1, drop = FALSE], 1), "two columns", class = "granary_error_input")
  expect_error(vmf_mixture(x[-2, ], 4, normalize = TRUE), class = "granary_error_input")
  expect_error(vmf_mixture(x[c(1, 1, 1), ], 2), "different directions, 1, not 2", class = "granary_error_input")
  expect_error(spherical_kmeans(x[c(1, 1, 1), ], 2), "different directions, 1, not 2", class = "granary_error_input")
  expect_error(vmf_mixture(rbind(c(1, NA), c(1, 2)), 1), class = "granary_error_input")
  expect_error(vmf_mixture(matrix(0, 3, 2), 1, empty = "omit"), "no row", class = "granary_error_input")
  expect_error(vmf_mixture(x[-2, ], 1, kappa = "wild", normalize = TRUE), class = "granary_error_input")
  expect_error(vmf_mixture(x[-2, ], 2, start = x[1:2, ], normalize = TRUE), "row 2 is zero", class = "granary_error_input")
  expect_error(vmf_mixture(x[-2, ], 2, start = c(1, 1, 1), normalize = TRUE), class = "granary_error_input")
  expect_error(predict(fit, x), class = "granary_error_input")
  expect_error(rvmf(3, c(0, 0), 1), "direction", class = "granary_error_input")
  expect_error(dvmf(c(1, 0, 0), c(1, 0), 1), class = "granary_error_input")
  expect_error(vmf_bounds("kappa", d = 3), "resultant", class = "granary_error_input")
  expect_error(sim_vmf(3, centers = rbind(c(0, 0)), kappa = 1), "zero", class = "granary_error_input")
  expect_error(sim_vmf(3, k = 2, d = 3, kappa = 1:3), class = "granary_error_input")
})

test_that("collapsed components are flagged and avoided, antipodal rows and one row are fitted", {
  set.seed(9)
  x <- rbind(matrix(c(1, 0, 0), 20, 3, byrow = TRUE), sim_vmf(60, k = 1, d = 3, kappa = 3)$x)
  expect_warning(fit <- vmf_mixture(x, 2, start = rep(1:2, c(20, 60))), "collapsed", class = "granary_warning_input")
  expect_equal(fit$degenerate, c(TRUE, FALSE))
  expect_equal(fit$concentration[1], 1e8)
  expect_true(is.finite(fit$loglik))
  axial <- rbind(diag(3), -diag(3))
  flat <- vmf_mixture(axial, 1)
  expect_lt(flat$concentration, 1e-6)
  expect_false(anyNA(flat$centers))
  two <- suppressWarnings(vmf_mixture(axial, 2))
  expect_false(anyNA(two$membership))
  expect_warning(one <- vmf_mixture(rbind(c(0.6, 0.8)), 1), class = "granary_warning_input")
  expect_equal(unname(one$centers), rbind(c(0.6, 0.8)))
  wide <- vmf_mixture(unit(matrix(rnorm(20 * 200), 20)), 2, kappa = "common", n_starts = 2)
  expect_output(print(summary(wide)), "largest entries")
})

test_that("pictures, simulations and tables can be made", {
  set.seed(10)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (d in c(2, 3, 5)) {
    sim <- sim_vmf(100, k = 2, d = d, kappa = 10)
    fit <- vmf_mixture(sim$x, 2, n_starts = 2)
    expect_no_error(plot(fit))
    expect_no_error(plot(fit, newdata = sim$x))
    drawn <- simulate(fit, seed = 3)[[1]]
    expect_equal(dim(drawn), dim(sim$x))
    expect_identical(simulate(fit, seed = 3)[[1]], drawn)
    if (requireNamespace("ggplot2", quietly = TRUE)) {
      expect_s3_class(ggplot2::autoplot(fit), "ggplot")
      expect_s3_class(ggplot2::autoplot(fit, sim$x), "ggplot")
    }
  }
  expect_no_error(plot(vmf_fit(sim$x)))
  expect_equal(nrow(tidy(fit)), 2)
  expect_true(all(c("share", "kappa", "std.error", "resultant") %in% names(tidy(fit))))
  expect_equal(nrow(glance(fit)), 1)
  expect_output(print(fit), "Concentrations")
  expect_output(print(vmf_mixture(sim$x, 2, type = "hybrid")), "Classification")
})

test_that("the likelihood and the concentrations are those of movMF", {
  skip_if_not_installed("movMF")
  set.seed(11)
  sim <- sim_vmf(300, k = 3, d = 12, kappa = c(10, 20, 30))
  labels <- sample(3, 300, TRUE)
  theirs <- getExportedValue("movMF", "movMF")(sim$x, 3, start = list(labels), kappa = "Newton_Fourier", reltol = 1e-12, maxiter = 2000)
  ours <- vmf_mixture(sim$x, 3, start = labels, tol = 1e-13, max_iter = 5000)
  best <- vmf_mixture(sim$x, 3, tol = 1e-13, max_iter = 5000)
  uniform <- 300 * vmf_bounds("constant", kappa = 0, d = 12)
  if (abs(theirs$L - (best$loglik - uniform)) < 1e-4) ours <- best  # the start is not the same in all details
  expect_equal(theirs$L, ours$loglik - uniform, tolerance = 1e-7)
  expect_equal(sort(unname(sqrt(rowSums(theirs$theta^2)))), sort(ours$concentration), tolerance = 1e-4)
})

test_that("a mixture that is called converged solves its equations to 1e-6", {
  for (seed in 1:3) {
    set.seed(seed)
    x <- sim_vmf(400, k = 2, d = 8, kappa = 8)$x  # components that overlap: the likelihood is flat long before the parameters stand
    fit <- vmf_mixture(x, 2, normalize = TRUE)
    expect_true(fit$convergence$converged)
    p <- fit$membership
    r <- crossprod(p, x)
    length <- sqrt(rowSums(r^2))
    expect_lt(max(sqrt(rowSums((fit$centers - r / length)^2))), 2e-6)
    expect_lt(max(abs(vmf_bounds("resultant", kappa = fit$concentration, d = 8) - length / colSums(p))), 2e-6)
    expect_lt(max(abs(fit$share - colMeans(p))), 2e-6)
    expect_true(all(diff(fit$trace) > -1e-8))
    expect_equal(max(fit$values), fit$objective)
  }
  expect_warning(stopped <- vmf_mixture(x, 2, normalize = TRUE, max_iter = 3), "NOT converged")
  expect_false(stopped$convergence$converged)
})

test_that("a mixture to start from is matched by the names of its columns", {
  set.seed(1)
  x <- sim_vmf(200, k = 3, d = 6, kappa = 40)$x
  colnames(x) <- letters[1:6]
  first <- vmf_mixture(x, 3, normalize = TRUE)
  again <- vmf_mixture(x[, 6:1], 3, start = first, normalize = TRUE)
  expect_equal(again$loglik, first$loglik, tolerance = 1e-10)
  expect_equal(again$trace[1], first$loglik, tolerance = 1e-8)
  expect_equal(again$centers[, letters[1:6]], first$centers, tolerance = 1e-5)
})

test_that("messages about directions name what can be changed", {
  expect_error(vmf_mixture(matrix(1, 5, 3), 2, normalize = TRUE), "`k` must be at most the number of different directions, 1, not 2",
               class = "granary_error_input")
  x <- diag(3)
  fit <- spherical_kmeans(x[c(1, 1, 2, 2), ] + 0.01, 2, normalize = TRUE)
  expect_no_match(tryCatch(predict(fit, rbind(x[1, ], 0)), error = conditionMessage), "empty =")
  expect_error(spherical_kmeans(rbind(x, 0), 2), "empty = \"omit\"", class = "granary_error_input")
})

test_that("two starting rows in one cluster do no harm to spherical k-means", {
  sim <- NULL
  lost <- 0
  for (seed in 1:5) {
    set.seed(seed)
    sim <- sim_vmf(600, k = 12, d = 30, kappa = 200)
    fit <- spherical_kmeans(sim$x, 12, n_starts = 1, normalize = TRUE)
    lost <- lost + (cluster_agreement(fit$cluster, sim$cluster)$ari < 0.99)
  }
  expect_lte(lost, 1)
})
