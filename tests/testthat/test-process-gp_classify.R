five <- list(x = -2:2, y = c(-1, -1, 1, -1, 1))
fixed <- function(method = "ep", ...) {
  gp_classify(five$x, five$y, k_se(lengthscale = 1, variance = 2.25), method = method, hyper = "fixed", tol = 1e-9, ...)
}
quiet <- function(code) withCallingHandlers(code, granary_warning_input = function(w) invokeRestart("muffleWarning"))

test_that("one case meets the worked numbers of figure 1", {
  expect_warning(ep <- gp_classify(0, 1, k_se(variance = 25), hyper = "fixed"), "one class")
  expect_equal(ep$loglik, log(0.5), tolerance = 1e-10)
  expect_equal(c(ep$latent_mean, ep$latent_variance), c(3.9119509, 9.6966401), tolerance = 1e-6)
  expect_warning(la <- gp_classify(0, 1, k_se(variance = 25), "laplace", "fixed"), "one class")
  expect_equal(c(la$latent_mean, la$latent_variance, la$loglik), c(1.8525091, 5.4715829, -0.8607885), tolerance = 1e-6)
})

test_that("five cases: both methods, all evidences, predictions", {
  ep <- fixed()
  la <- fixed("laplace")
  expect_equal(ep$latent_mean, c(-1.246426, -0.738190, 0.097695, -0.071577, 0.503432), tolerance = 1e-5)
  expect_equal(la$latent_mean, c(-1.034091, -0.608341, 0.097493, -0.077215, 0.424607), tolerance = 1e-5)
  expect_equal(unname(predict(ep, c(0.5, 3))[, 2]), c(0.506389, 0.644047), tolerance = 1e-5)
  expect_equal(unname(predict(la, c(0.5, 3))[, 2]), c(0.504931, 0.626416), tolerance = 1e-5)
  found <- gp_classify_evidence(ep, c("ep", "laplace", "lower_bound"))
  expect_equal(found$log_evidence, c(-4.233143, -4.297467, -4.250361), tolerance = 1e-6)
  expect_equal(fixed(sweeps = "sequential")$loglik, ep$loglik, tolerance = 1e-9)
})

test_that("annealing agrees with EP and stays above the bound", {
  set.seed(1)
  ep <- fixed()
  ais <- gp_classify_evidence(ep, "ais", temperatures = 400, runs = 300)
  expect_equal(ais$log_evidence, -4.2338, tolerance = 0.012)
  expect_lt(ais$se, 0.03)
  expect_lt(-4.250361, ais$log_evidence + 3 * ais$se)
  ess <- gp_classify_evidence(ep, "ais", temperatures = 400, runs = 30, sampler = "ess")
  expect_equal(ess$log_evidence, -4.2338, tolerance = 0.02)
  set.seed(7)
  one <- gp_classify_evidence(ep, "ais", temperatures = 50, threads = 1)
  set.seed(7)
  expect_identical(gp_classify_evidence(ep, "ais", temperatures = 50, threads = 2), one)
})

test_that("EP and Laplace evidences sit where annealing says, from small to large variances", {
  set.seed(21)
  for (variance in c(0.1, 4, 50)) {
    data <- sim_gp_classes(12, "process", k_se(lengthscale = 1, variance = variance))
    fit <- gp_classify(data[1:2], data$y, k_se(lengthscale = 1, variance = variance), hyper = "fixed")
    found <- gp_classify_evidence(fit, c("ep", "laplace", "lower_bound"))
    ais <- gp_classify_evidence(fit, "ais", temperatures = 1500, runs = 20, threads = 1)
    above <- found$log_evidence - ais$log_evidence
    expect_lt(abs(above[1L]), 3 * ais$se + 0.03)
    expect_lt(above[2L], 3 * ais$se)
    expect_lt(above[3L], 3 * ais$se)
    if (variance < 1) expect_lt(abs(above[2L]), 3 * ais$se + 0.03) else expect_lt(above[2L], above[1L] - 0.1)
  }
})

test_that("posterior samples have EP's means, and Laplace is too timid", {
  set.seed(2)
  data <- sim_gp_classes(15)
  fit <- gp_classify(data["x"], data$y, k_se(lengthscale = 1.5, variance = 20), hyper = "fixed")
  timid <- gp_classify(data["x"], data$y, k_se(lengthscale = 1.5, variance = 20), "laplace", "fixed")
  draws <- gp_classify_sample(fit, n_draws = 1500, burn_in = 500, chains = 2)
  expect_lt(draws$rhat, 1.1)
  error <- sqrt(mean((draws$latent_mean - fit$latent_mean)^2)) / sqrt(mean(fit$latent_mean^2))
  expect_lt(error, 0.1)
  expect_gt(sqrt(mean((draws$latent_mean - timid$latent_mean)^2)), 2 * sqrt(mean((draws$latent_mean - fit$latent_mean)^2)))
  expect_gt(sum(fit$latent_mean^2), sum(timid$latent_mean^2))
  slices <- gp_classify_sample(fit, n_draws = 1500, burn_in = 500, sampler = "ess", thin = 3)
  expect_lt(max(abs(predict(slices) - predict(fit))), 0.1)
  expect_lt(max(abs(predict(draws, c(-6, -3, 0, 2)) - predict(fit, c(-6, -3, 0, 2)))), 0.06)
  expect_named(predict(draws, c(1, 2), se = TRUE), c("fit", "se.fit"))
  expect_s3_class(predict(draws, c(1, 2), type = "class"), "factor")
  expect_output(print(draws), "Hamiltonian")
  grDevices::pdf(NULL)
  expect_silent(plot(draws, which = 2))
  grDevices::dev.off()
})

test_that("learning recovers the parameters that made the labels", {
  # Inputs are standard normal: a lengthscale of 0.2 is seen some thirty times, one of 1 only six.
  estimates <- vapply(1:4, function(seed) {
    set.seed(seed)
    data <- sim_gp_classes(250, "process", k_se(lengthscale = 0.2, variance = 9), d = 1)
    quiet(coef(gp_classify(y ~ x1, data, standardize = FALSE, n_starts = 2)))
  }, numeric(2))
  expect_lt(abs(mean(log(estimates[2L, ] / 0.2))), 0.4)
  expect_lt(abs(mean(log(estimates[1L, ] / 9))), 1)
  expect_lt(max(abs(log(estimates[2L, ] / 0.2))), 0.6)
})

test_that("the learnt evidence is a maximum, beats a grid, and does not depend on threads or units", {
  set.seed(3)
  data <- sim_gp_classes(20)
  set.seed(1)
  fit <- gp_classify(y ~ x, data, threads = 1)
  set.seed(1)
  two <- gp_classify(y ~ x, data, threads = 2)
  expect_identical(two$loglik, fit$loglik)
  expect_identical(two$parameters, fit$parameters)
  grid <- gp_classify_evidence(fit, "ep", grid = list(se.lengthscale = coef(fit)[["se.lengthscale"]] * c(0.5, 0.8, 1.25, 2),
                                             se.variance = coef(fit)[["se.variance"]] * c(0.25, 1, 4)))
  expect_true(all(grid$log_evidence < fit$loglik))
  for (unit in c(1e-8, 1e8)) {
    set.seed(1)
    scaled <- gp_classify(data.frame(x = data$x * unit), data$y)
    expect_equal(scaled$loglik, fit$loglik, tolerance = 1e-5)
  }
  expect_equal(logLik(fit), structure(fit$loglik, df = 2L, nobs = 60L, class = "logLik"))
})

test_that("leave-one-out from the cavities is close to refitting", {
  set.seed(4)
  data <- sim_gp_classes(8)
  kernel <- k_se(lengthscale = 1.5, variance = 4)
  for (method in c("ep", "laplace")) {
    fit <- gp_classify(data["x"], data$y, kernel, method, "fixed")
    refit <- vapply(1:24, function(i) unname(predict(gp_classify(data$x[-i], data$y[-i], kernel, method, "fixed"), data$x[i])[, 2]), 0)
    own <- ifelse(data$y == "1", refit, 1 - refit)
    close <- if (method == "ep") 0.02 else 0.06
    expect_lt(max(abs(predict(fit, loo = TRUE)[, "1"] - refit)), close)
    left_out <- loo.granary_gp_classify(fit)  # of the label each row has
    expect_identical(left_out$label, data$y)
    expect_lt(max(abs(left_out$prob - own)), close)
    expect_equal(left_out$log_prob, log(left_out$prob))
  }
  expect_equal(unname(residuals(fit)), ifelse(data$y == "1", 1 - left_out$prob, left_out$prob - 1))
})

test_that("the logit link, a constant mean, ARD and other kernels work", {
  set.seed(5)
  x <- matrix(rnorm(160), 80)
  y <- x[, 1] + 0.3 * rnorm(80) > 0.8
  ard <- quiet(gp_classify(x, y, ard = TRUE, n_starts = 2))
  scales <- coef(ard)[c("se.lengthscale1", "se.lengthscale2")]
  expect_gt(scales[[2L]], 3 * scales[[1L]])
  logit <- quiet(gp_classify(x, y, link = "logit", method = "laplace"))
  probit <- quiet(gp_classify(x, y, method = "laplace"))
  expect_gt(cor(predict(logit)[, 2], predict(probit)[, 2]), 0.98)
  logit_ep <- quiet(gp_classify(x, y, k_se(variance = 5), link = "logit", hyper = "fixed"))
  ais <- gp_classify_evidence(logit_ep, "ais", temperatures = 1000)
  expect_lt(abs(ais$log_evidence - logit_ep$loglik), 1)
  rare <- runif(80) < 0.15  # nothing but a low share to learn
  centred <- quiet(gp_classify(x, rare, mean = "constant", n_starts = 1))
  expect_equal(pnorm(coef(centred)[["mean"]]), mean(rare), tolerance = 0.3)
  expect_gt(centred$loglik, quiet(gp_classify(x, rare, n_starts = 1))$loglik)
  mixed <- quiet(gp_classify(x, y, "matern52 + bias", n_starts = 1))
  expect_gt(mixed$loglik, -80 * log(2))
  linear <- quiet(gp_classify(x, y, "linear + bias", n_starts = 1))
  expect_lt(assess(linear)$error, 0.2)
  own <- quiet(gp_classify(x, y, k_user(function(x, z) exp(-as.matrix(stats::dist(rbind(x, z)))[seq_len(nrow(x)), nrow(x) + seq_len(nrow(z))])),
                           hyper = "fixed"))
  expect_true(own$convergence$converged)
})

test_that("gradients, standard errors and covariances of predictions", {
  set.seed(6)
  data <- sim_gp_classes(15)
  fit <- quiet(gp_classify(y ~ x, data))
  at <- function(u) data.frame(x = u)
  for (type in c("prob", "latent")) {
    p <- predict(fit, at(c(-4, 1)), type = type, gradient = TRUE, se = TRUE, cov = TRUE)
    second <- function(p) if (is.matrix(p)) p[, 2] else p
    slope <- (second(predict(fit, at(c(-4, 1) + 1e-4), type = type)) - second(predict(fit, at(c(-4, 1) - 1e-4), type = type))) / 2e-4
    expect_equal(unname(p$gradient[, 1L]), unname(slope), tolerance = 1e-4)
    expect_true(all(p$se.fit > 0))
    expect_identical(dim(p$cov), c(2L, 2L))
  }
  expect_equal(sqrt(diag(p$cov)), p$se.fit, tolerance = 1e-6)
  expect_identical(levels(predict(fit, at(0), type = "class")), c("-1", "1"))
  expect_identical(as.character(predict(fit, at(c(-6, 0)), type = "class")), c("1", "-1"))
})

test_that("small variances guess, labels conflict, rows repeat, columns are constant, p > n", {
  tiny <- gp_classify(five$x, five$y, k_se(variance = 1e-8), hyper = "fixed")
  expect_equal(tiny$loglik, -5 * log(2), tolerance = 1e-6)
  expect_equal(unname(predict(tiny, 1)[, 2]), 0.5, tolerance = 1e-3)
  twice <- quiet(gp_classify(c(1, 1, 2, 2), c(0, 1, 0, 1)))
  expect_equal(unname(predict(twice, 1)[, 2]), 0.5, tolerance = 1e-6)
  expect_true(is.finite(quiet(gp_classify(cbind(rnorm(10), 1), rep(0:1, 5)))$loglik))
  expect_true(is.finite(quiet(gp_classify(matrix(rnorm(200), 5), c(0, 1, 0, 1, 1)))$loglik))
  set.seed(1)
  x <- c(rnorm(20, -3), rnorm(20, 3))
  expect_warning(gp_classify(x, x > 0), "bound")
  hard <- quiet(gp_classify(x, x > 0))
  expect_true(hard$convergence$converged && all(is.finite(predict(hard, seq(-20, 20)))))
  one <- factor(rep("a", 5), c("a", "b"))
  expect_warning(gp_classify(five$x, one), "one class", class = "granary_warning_input")
})

test_that("labels come as factors, text, logicals and numbers", {
  reference <- fixed()$loglik
  for (y in list(factor(five$y), ifelse(five$y > 0, "yes", "no"), five$y > 0, (five$y + 1) / 2)) {
    expect_equal(gp_classify(five$x, y, k_se(variance = 2.25), hyper = "fixed")$loglik, reference, tolerance = 1e-8)
  }
})

test_that("every wrong argument gets a sentence", {
  expect_input <- function(code, pattern) expect_error(code, pattern, class = "granary_error_input")
  expect_input(gp_classify(five$x), "`y` must be given")
  expect_input(gp_classify(five$x, 1:5), "0 and 1 or -1 and 1")
  expect_input(gp_classify(five$x, letters[1:5]), "two classes, but it has 5 levels")
  expect_input(gp_classify(five$x, five$y[-1]), "one label per row")
  expect_input(gp_classify(five$x, c(NA, 1, 0, 1, 1)), "missing labels")
  expect_input(gp_classify(c(1, NA, 3, 4, 5), five$y), "missing values")
  expect_input(gp_classify(c(1, Inf, 3, 4, 5), five$y), "infinite")
  expect_input(gp_classify(five$x, five$y, mean = "learn"), "`mean`")
  expect_input(gp_classify(five$x, five$y, lower = c(a = 1)), "`lower` must be named")
  expect_input(gp_classify(five$x, five$y, lower = c(se.variance = 2), upper = c(se.variance = 1)), "below its upper")
  expect_input(gp_classify(matrix(0, 5001, 1), rep(0:1, length.out = 5001)), "at most 5000")
  expect_input(gp_classify(five$x, five$y, methd = "ep"), "no argument `methd`")
  fit <- fixed()
  expect_input(predict(fit, matrix(0, 1, 2)), "columns")
  expect_input(gp_classify_evidence(fit, "magic"), "`method`")
  expect_input(gp_classify_evidence(fit, "ep", grid = list(width = 1)), "`grid`")
  expect_input(gp_classify_evidence(1), "`object`")
  expect_input(assess(fit, 1:2), "given together")
  expect_input(assess(fit, 1:2, c("a", "b")), "labels of the fit")
  expect_input(gp_classify_sample(fit, n_draws = 0), "`n_draws`")
})

test_that("EP that runs out of sweeps says so", {
  expect_warning(gp_classify(five$x, five$y, k_se(variance = 1e4), hyper = "fixed", max_iter = 1), class = "granary_warning_convergence")
})

test_that("scores, calibration and simulations are right", {
  set.seed(8)
  train <- sim_gp_classes(30)
  test <- sim_gp_classes(100)
  fit <- quiet(gp_classify(y ~ x, train))
  score <- assess(fit, test, test$y)
  p <- predict(fit, test)[, 2]
  y <- test$y == "1"
  entropy <- -(2 / 3 * log2(2 / 3) + 1 / 3 * log2(1 / 3))
  expect_equal(score$information, mean(log2(ifelse(y, p, 1 - p))) + entropy, tolerance = 1e-8)
  expect_equal(score$error, mean((p > 0.5) != y))
  expect_lt(mean(abs(p - test$prob)), 0.15)
  table <- attr(assess(fit, test, test$y, bins = 4), "calibration")
  expect_identical(sum(table$n), 300L)
  expect_equal(sum(table$n * table$observed), sum(y))
  drawn <- simulate(fit, 400, seed = 1, newdata = data.frame(x = c(-6, 0, 1)))
  expect_equal(rowMeans(drawn == "1"), unname(predict(fit, data.frame(x = c(-6, 0, 1)))[, 2]), tolerance = 0.1)
  expect_identical(simulate(fit, 2, seed = 1), simulate(fit, 2, seed = 1))
  expect_identical(dim(simulate(fit, 3, seed = 1, what = "latent")), c(90L, 3L))
})

test_that("the cut normal law: EP meets the exact moments, the mode does not", {
  set.seed(9)
  cut <- sim_gp_classes(4000, "orthant", d = 50)
  expect_equal(cut$ep$mean, cut$exact$mean, tolerance = 0.01)
  expect_equal(cut$ep$log_z, cut$exact$log_z, tolerance = 0.02)
  expect_equal(mean(cut$x), cut$exact$mean, tolerance = 0.02)
  expect_equal(var(cut$x[, 1L]), cut$exact$variance, tolerance = 0.1)
  expect_gt(min(cut$x), 0)
  two <- sim_gp_classes(10, "orthant", d = 2, eigenvalue = 3)  # correlation 1/2: probability 1/3
  expect_equal(two$exact$log_z, log(1 / 3), tolerance = 1e-6)
  expect_output(print(cut), "mode")
})

test_that("everything prints and draws", {
  set.seed(10)
  x <- matrix(rnorm(60), 30, dimnames = list(NULL, c("a", "b")))
  fit <- quiet(gp_classify(x, x[, 1] + x[, 2]^2 + 0.3 * rnorm(30) > 0.5, n_starts = 1))
  expect_output(print(fit), "expectation propagation")
  expect_output(print(summary(fit)), "leave-one-out")
  expect_identical(tidy(fit)$term, names(coef(fit)))
  expect_identical(glance(fit)$nobs, 30L)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(fit))
  expect_silent(plot(fit, type = "latent"))
  expect_silent(plot(fit, columns = 1))
  expect_silent(plot(fit, "latent", columns = 2))
  expect_silent(plot(fit, type = "calibration", bins = 5))
  expect_silent(plot(gp_classify_evidence(fit, c("ep", "laplace"), grid = list(se.lengthscale = c(0.5, 1, 2)))))
  expect_silent(plot(gp_classify_evidence(fit, "ep", grid = list(se.lengthscale = c(0.5, 1, 2), se.variance = c(1, 5)))))
  expect_silent(plot(sim_gp_classes(100, "orthant", d = 5)))
  skip_if_not_installed("ggplot2")
  draws <- suppressWarnings(gp_classify_sample(fit, n_draws = 100, burn_in = 50), classes = "granary_warning_convergence")
  pictures <- list(
    ggplot2::autoplot(fit), ggplot2::autoplot(fit, type = "latent"), ggplot2::autoplot(fit, columns = 1),
    ggplot2::autoplot(fit, "latent", columns = 2), ggplot2::autoplot(fit, "calibration", bins = 5), ggplot2::autoplot(draws, which = 2),
    ggplot2::autoplot(gp_classify_evidence(fit, c("ep", "laplace"), grid = list(se.lengthscale = c(0.5, 1, 2)))),
    ggplot2::autoplot(gp_classify_evidence(fit, "ep", grid = list(se.lengthscale = c(0.5, 1, 2), se.variance = c(1, 5))))
  )
  for (picture in pictures) expect_gt(nrow(ggplot2::layer_data(picture, length(picture$layers))), 1)
  shown <- ggplot2::layer_data(ggplot2::autoplot(fit, columns = 1), 3L)  # the curve is predict()'s, the other column at its mean
  at <- cbind(a = shown$x[c(1, 100)], b = mean(x[, 2]))
  expect_equal(shown$y[c(1, 100)], unname(predict(fit, at)[, 2]), tolerance = 1e-8)
  expect_error(ggplot2::autoplot(fit, columns = 3), "`columns`", class = "granary_error_input")
})

test_that("the support vector machine of the paper predicts well", {
  set.seed(11)
  train <- sim_gp_classes(30)
  test <- sim_gp_classes(60)
  fit <- gp_classify_baseline(train["x"], train$y, cost = c(1, 10), gamma = c(0.5, 2))
  score <- assess(fit, test, test$y)
  expect_lt(score$error, 0.25)
  expect_gt(score$information, 0)
  expect_s3_class(predict(fit, test, type = "class"), "factor")
  expect_output(print(fit), "support vector")
  expect_error(gp_classify_baseline(1:5, rep(1, 5)), "both classes", class = "granary_error_input")
})

test_that("EP agrees with gplite at the same parameters", {
  skip_if_not_installed("gplite")
  set.seed(12)
  data <- sim_gp_classes(20)
  space <- loadNamespace(c("gplite")[1L])
  gp <- space$gp_init(space$cf_sexp(lscale = 1.5, magn = 2), space$lik_bernoulli(link = "probit"), approx = space$approx_ep())
  theirs <- space$gp_fit(gp, matrix(data$x), as.integer(data$y == "1"))
  ours <- gp_classify(data$x, data$y, k_se(lengthscale = 1.5, variance = 4), hyper = "fixed")
  expect_equal(theirs$fit$loglik, ours$loglik, tolerance = 1e-3)
})

test_that("EP information is at least Laplace's on the ionosphere data, and evidence agrees with annealing", {
  skip_if(Sys.getenv("GRANARY_EXTENDED") != "1", "minutes")
  source <- "mlbench"
  skip_if_not_installed(source)
  shelf <- new.env()
  utils::data("Ionosphere", package = source, envir = shelf)
  x <- data.matrix(shelf$Ionosphere[, -c(2, 35)])
  set.seed(1)
  rows <- sample(351, 200)
  ep <- quiet(gp_classify(x[rows, ], shelf$Ionosphere$Class[rows]))
  la <- quiet(gp_classify(x[rows, ], shelf$Ionosphere$Class[rows], "se", "laplace"))
  expect_gt(assess(ep, x[-rows, ], shelf$Ionosphere$Class[-rows])$information, assess(la, x[-rows, ], shelf$Ionosphere$Class[-rows])$information)
  ais <- gp_classify_evidence(ep, "ais")
  expect_lt(abs(ais$log_evidence - ep$loglik), 1)
})

test_that("a variance at its lower bound is not told as separable classes", {
  expect_warning(gp_classify(matrix(1:40, 20), rep(0:1, 10)), "say nothing about the classes")
})
