curve_data <- function(seed, n = 120, p = 3) {
  set.seed(seed)
  x <- matrix(runif(n * p), n, dimnames = list(NULL, letters[seq_len(p)]))
  list(x = x, y = sin(6 * x[, 1]) + x[, 2]^2 + 0.1 * rnorm(n))
}
linear <- function(d, ..., seed = 1) {
  set.seed(seed)
  nc_ensemble(d$x, d$y, learner = "features", ...)
}

test_that("the two scales of the strength are one", {
  d <- curve_data(1)
  expect_equal(linear(d, gamma = 0.5)$members, linear(d)$members)
  expect_equal(linear(d, gamma = 0.4, n_members = 5)$lambda, 2 * 0.4 * 0.8)
  expect_equal(linear(d, lambda = 0.64, n_members = 5)$gamma, 0.4)
  expect_null(linear(d, lambda = 0.4, penalty = "target")$gamma)
  table <- nc_ensemble_bounds("strength", n_members = 5)
  expect_equal(table$gamma_upper, 0.78125)
  expect_equal(table$lambda_upper, 1.25)
  both <- nc_ensemble_bounds("strength", n_members = c(2, 10), gamma = 0.5)
  expect_equal(both$lambda, c(0.5, 0.9))
  expect_equal(nc_ensemble_bounds("strength", n_members = 10, lambda = c(0.5, 0.9))$gamma, c(0.5, 0.9) / 1.8)
  expect_equal(linear(d, n_members = 10)$bounds[["gamma"]], 10 / 18)
})

test_that("the answer is the mean of the members and the error that of the members less their ambiguity", {
  d <- curve_data(2)
  for (learner in c("mlp", "rbf", "features")) {
    set.seed(1)
    fit <- nc_ensemble(d$x, d$y, learner = learner, n_members = 5)
    expect_equal(unname(fit$fitted), rowMeans(fit$members))
    expect_equal(fit$parts$mse, fit$parts$members - fit$parts$ambiguity, tolerance = 1e-10)
    expect_equal(fit$residuals, d$y - fit$fitted, ignore_attr = TRUE)
    expect_equal(predict(fit, d$x), fit$fitted, ignore_attr = TRUE, tolerance = 1e-10)
    expect_equal(predict(fit, d$x, type = "members"), fit$members, ignore_attr = TRUE, tolerance = 1e-10)
    expect_gt(assess(fit)$r.squared, 0.8)
    if (learner != "features") expect_equal(fit$parts$mse[2], min(fit$trace$valid), tolerance = 1e-8)
    expect_equal(sum(fit$parts$n), 120)
  }
})

test_that("networks' weights are those of the formula", {
  d <- curve_data(3)
  set.seed(1)
  fit <- suppressWarnings(nc_ensemble(d$x, d$y, n_members = 2, size = 3, max_iter = 50))
  w <- coef(fit)
  z <- sweep(sweep(d$x, 2, apply(d$x, 2, min)), 2, apply(d$x, 2, function(v) diff(range(v))), `/`)
  one <- function(m) {
    unit <- function(h) {
      inner <- drop(z %*% w[sprintf("member%d:%s:unit%d", m, c("a", "b", "c"), h)]) +
        w[[sprintf("member%d:unit%d", m, h)]]
      w[[sprintf("member%d:unit%d:out", m, h)]] / (1 + exp(-inner))
    }
    w[[sprintf("member%d:out", m)]] + unit(1) + unit(2) + unit(3)
  }
  middle <- mean(range(d$y))
  expect_equal(one(2) * diff(range(d$y)) / 2 + middle, unname(fit$members[, 2]), tolerance = 1e-10)
  set.seed(1)
  bumps <- suppressWarnings(nc_ensemble(d$x, d$y, learner = "rbf", n_members = 1, size = 2, max_iter = 50))
  w <- coef(bumps)
  value <- rep(w[["member1:out"]], 120)
  for (h in 1:2) {
    center <- w[sprintf("member1:%s:unit%d", c("a", "b", "c"), h)]
    value <- value + w[[sprintf("member1:unit%d:out", h)]] *
      exp(-colSums((t(z) - center)^2) / (2 * exp(2 * w[[sprintf("member1:unit%d:logwidth", h)]])))
  }
  expect_equal(value * diff(range(d$y)) / 2 + middle, unname(bumps$fitted), tolerance = 1e-9)
})

test_that("members on columns at lambda = 1 are one linear model", {
  set.seed(4)
  x <- matrix(rnorm(400), 100, dimnames = list(NULL, paste0("x", 1:4)))
  y <- drop(x %*% c(1, -2, 0.5, 0)) + rnorm(100)
  fit <- linear(list(x = x, y = y), basis = "columns", size = 2, n_members = 12, lambda = 1, decay = 0)
  expect_equal(unname(fit$fitted), unname(fitted(lm(y ~ x))), tolerance = 1e-6)
  expect_match(fit$convergence$message, "only the ensemble is determined")
  weights <- runif(100)
  set.seed(1)
  weighted <- nc_ensemble(x, y, learner = "features", basis = "columns", size = 4, n_members = 2, lambda = 0.5,
                          decay = 0, weights = weights)
  expect_equal(unname(weighted$fitted), unname(fitted(lm(y ~ x, weights = weights))), tolerance = 1e-6)
})

test_that("leaving rows out by the hat matrix is refitting without them", {
  d <- curve_data(5, n = 40)
  d$x[1:2, ] <- rbind(rep(0, 3), rep(1, 3))  # the ranges stay
  d$y[1:2] <- range(d$y) + c(-1, 1)
  set.seed(2)
  choice <- nc_ensemble_select(d$x, d$y, lambda = c(0, 0.9), method = "loo", learner = "features", basis = "columns",
                               size = 3, n_members = 2, decay = 0)
  by_hand <- mean(vapply(3:40, function(i) {
    rest <- lm.fit(cbind(1, d$x[-i, ]), d$y[-i])
    (d$y[i] - sum(c(1, d$x[i, ]) * rest$coefficients))^2
  }, 0))
  # members on all columns without a ridge are the same least squares at any strength
  hat <- hatvalues(lm(d$y ~ d$x))
  expect_equal(choice$table$estimate, rep(mean((residuals(lm(d$y ~ d$x)) / (1 - hat))^2), 2), tolerance = 1e-6)
  expect_equal(mean((residuals(lm(d$y ~ d$x)) / (1 - hat))[3:40]^2), by_hand, tolerance = 1e-8)
})

test_that("a strength is chosen by folds, by leaving one out and by the rows held out", {
  d <- curve_data(6)
  for (method in c("cv", "loo", "validation")) {
    learner <- if (method == "loo") "features" else "mlp"
    set.seed(1)
    choice <- nc_ensemble_select(d$x, d$y, lambda = c(0, 0.5, 1), method = method, folds = 3, learner = learner,
                                 n_members = 4, size = 3, max_iter = 2000)
    expect_s3_class(choice, "granary_selection")
    expect_equal(choice$table$lambda, c(0, 0.5, 1))
    expect_equal(choice$table$gamma, c(0, 0.5, 1) * 4 / 6)
    expect_equal(choice$selected, which.min(choice$table$estimate))
    expect_equal(choice$fit$lambda, choice$table$lambda[choice$selected])
    expect_true(all(choice$table$std.error > 0))
    set.seed(1)
    again <- nc_ensemble_select(d$x, d$y, lambda = c(0, 0.5, 1), method = method, folds = 3, learner = learner,
                                n_members = 4, size = 3, max_iter = 2000, rule = "1se")
    expect_equal(again$table, choice$table)
    near <- which(choice$table$estimate <= min(choice$table$estimate) + choice$table$std.error[choice$selected])
    expect_equal(again$selected, min(near))
  }
  by_gamma <- nc_ensemble_select(d$x, d$y, gamma = c(0, 0.5), method = "loo", learner = "features", n_members = 5)
  expect_equal(by_gamma$table$lambda, c(0, 0.8))
  expect_length(predict(by_gamma, d$x[1:4, ]), 4)
})

test_that("coupled members predict Friedman's curve better than free ones, on most seeds", {
  better <- vapply(1:6, function(seed) {
    set.seed(seed)
    sim <- sim_nc_ensemble(200, p = 5)
    error <- function(lambda) {
      set.seed(seed)
      fit <- nc_ensemble(sim$x, sim$y, lambda = lambda, learner = "features", size = 10, n_members = 12)
      assess(fit, newdata = sim$newx, newy = sim$newmean)$mse
    }
    error(0.95) < error(0)
  }, NA)
  expect_gte(sum(better), 5)
})

test_that("the same seed gives the same ensemble on one and two threads", {
  d <- curve_data(7)
  for (learner in c("mlp", "rbf", "features"))
    for (lambda in c(0, 0.8)) {
      run <- function(threads) {
        set.seed(3)
        nc_ensemble(d$x, d$y, lambda = lambda, learner = learner, max_iter = 60, threads = threads)$members
      }
      expect_identical(suppressWarnings(run(1)), suppressWarnings(run(2)))
    }
  set.seed(3)
  one <- nc_ensemble_baseline(d$x, d$y, "bagging", n_members = 4, threads = 1)$members
  set.seed(3)
  expect_identical(nc_ensemble_baseline(d$x, d$y, "bagging", n_members = 4, threads = 2)$members, one)
})

test_that("formula, names and units are as everywhere", {
  d <- curve_data(8)
  frame <- data.frame(d$x, y = d$y, group = factor(rep(c("u", "v"), 60)))
  set.seed(1)
  fit <- nc_ensemble(y ~ ., frame, learner = "features")
  expect_equal(fit$columns, c("a", "b", "c", "groupv"))
  expect_equal(predict(fit, frame[5:1, 5:1]), fit$fitted[5:1], ignore_attr = TRUE)
  expect_equal(formula(fit), y ~ a + b + c + group, ignore_attr = TRUE)
  set.seed(1)
  by_x <- linear(d)
  expect_equal(predict(by_x, d$x[, 3:1]), by_x$fitted, ignore_attr = TRUE)
  expect_equal(linear(list(x = 1e8 * d$x, y = 1e-8 * d$y))$fitted * 1e8, by_x$fitted, tolerance = 1e-6)
  rownames(d$x) <- paste0("row", 1:120)
  named <- linear(d)
  expect_named(named$fitted, rownames(d$x))
  expect_equal(rownames(predict(named, d$x[3:2, ], type = "members")), c("row3", "row2"))
  expect_equal(nobs(fit), 120L)
  expect_equal(nrow(augment(by_x)), 120)
})

test_that("a fit survives saving, and a damaged one is refused", {
  d <- curve_data(9)
  fit <- linear(d)
  file <- withr::local_tempfile()
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), d$x), predict(fit, d$x))
  fit$model$weights <- fit$model$weights[-1, ]
  expect_error(predict(fit, d$x), "damaged", class = "granary_error")
})

test_that("bagging and boosting are what they say", {
  d <- curve_data(10)
  set.seed(1)
  boosted <- nc_ensemble_baseline(d$x, d$y, "boosting", learner = "tree", n_members = 15, max_leaves = 6)
  beta <- boosted$losses / (1 - boosted$losses)
  expect_equal(boosted$vote, log(1 / beta), tolerance = 1e-10)
  median_of <- function(v, w) {
    o <- order(v)
    v[o][which(cumsum(w[o]) >= sum(w) / 2)[1]]
  }
  expect_equal(unname(boosted$fitted), apply(boosted$members, 1, median_of, w = boosted$vote))
  expect_equal(predict(boosted, d$x), boosted$fitted, ignore_attr = TRUE)
  for (loss in c("square", "exponential")) {
    expect_true(all(nc_ensemble_baseline(d$x, d$y, "boosting", learner = "tree", loss = loss,
                                         n_members = 5)$losses < 0.5))
  }
  set.seed(1)
  bag <- nc_ensemble_baseline(d$x, d$y, "bagging", learner = "tree", n_members = 20)
  expect_equal(bag$parts$mse, bag$parts$members - bag$parts$ambiguity, tolerance = 1e-10)
  expect_gt(assess(bag)$r.squared, 0.7)
  naive <- nc_ensemble_baseline(d$x, d$y, "mean")
  expect_equal(unname(predict(naive, d$x[1:2, ])), rep(mean(d$y), 2))
  expect_equal(assess(naive)$r.squared, 0)
  set.seed(1)
  alone <- nc_ensemble_baseline(d$x, d$y, "independent", n_members = 3)
  set.seed(1)
  expect_identical(nc_ensemble(d$x, d$y, lambda = 0, n_members = 3)$members, alone$members)
  expect_equal(nc_ensemble_baseline(d$x, d$y, "joint", learner = "features")$lambda, 1)
})

test_that("what cannot be is refused in words", {
  d <- curve_data(11, n = 30)
  input <- function(code, regexp) expect_error(code, regexp, class = "granary_error_input")
  input(nc_ensemble(d$x), "`y` must be given")
  input(nc_ensemble(d$x, d$y, lambda = 0.5, gamma = 0.5), "one strength on two scales")
  input(nc_ensemble(d$x, d$y, n_members = 1, lambda = 0.5), "nothing to couple")
  input(nc_ensemble(d$x, d$y, n_members = 4, lambda = 1.4), "at most 1.3333 for 4 members")
  input(nc_ensemble(d$x, d$y, n_members = 4, gamma = 0.95), "`gamma` must be at most 0.88889")
  input(nc_ensemble(d$x, d$y, gamma = 0.5, penalty = "target"), "`gamma` is a scale of penalty = \"mean\"")
  input(nc_ensemble(d$x, d$y, optimizer = "exact"), "networks take \"lbfgs\" or \"sgd\"")
  input(nc_ensemble(d$x, d$y, learner = "features", lambda = 1.05, n_members = 5), "no minimum to find")
  input(nc_ensemble(d$x, d$y, learner = "features", basis = "columns", size = 4), "at most the number of columns, 3")
  input(nc_ensemble(d$x, d$y[-1]), "`y` must be")
  input(nc_ensemble(replace(d$x, 1, NA), d$y), "missing values")
  input(nc_ensemble(d$x, replace(d$y, 1, Inf)), "infinite")
  input(nc_ensemble(d$x, d$y, weights = rep(0, 30)), "must not all be 0")
  input(nc_ensemble(d$x, d$y, validation = 1), "`validation` must be")
  input(nc_ensemble(d$x, d$y, lamda = 1), "Did you mean `lambda`")
  input(nc_ensemble(y ~ a, data.frame(a = 1:3, y = 1:3), offset = 1:3), "no offset")
  input(nc_ensemble_select(d$x, d$y, method = "loo"), "left out exactly only of members with fixed features")
  input(nc_ensemble_select(d$x, d$y, method = "validation", validation = 0), "No rows are held out")
  input(nc_ensemble_select(d$x, d$y, lambda = 1, gamma = 1), "one strength on two scales")
  input(nc_ensemble_select(d$x, d$y, sise = 3), "Did you mean `size`")
  input(nc_ensemble_baseline(d$x, d$y, "joint", learner = "tree"), "Trees are members for bagging and boosting")
  input(nc_ensemble_baseline(d$x, d$y, "bagging", penalty = "target"), "do not see each other")
  input(predict(linear(d), d$x[, 1:2]), "\"c\" is missing|columns of the fit")
  input(plot(linear(d), what = "trace"), "no course of training")
  input(coef(nc_ensemble_baseline(d$x, d$y, "mean")), "coef\\(\\) does not apply")
  input(nc_ensemble_bounds("strength"), "`n_members` must be given")
  input(nc_ensemble_bounds("strength", n_members = 1), "at least 2")
  input(nc_ensemble_bounds("gradient", x = d$x, y = 1:3), "`y` must be")
})

test_that("exploding training is told, with the best weights on the way", {
  d <- curve_data(12, n = 60)
  expect_warning(expect_warning(fit <- nc_ensemble(d$x, d$y, lambda = 1.3, n_members = 4, validation = 0,
                                                   max_iter = 1e5), "falls without end",
                                class = "granary_warning_input"), "exploded", class = "granary_warning_convergence")
  expect_equal(fit$convergence$reason, "unbounded")
  expect_true(all(is.finite(fit$members)))
  expect_lt(assess(fit)$mse, 3 * var(d$y))
})

test_that("tiny, constant and repeated data do no harm", {
  d <- curve_data(13, n = 12)
  expect_message(fit <- nc_ensemble(d$x, d$y, n_members = 2, size = 2, max_iter = 20000, decay = 0.01),
                 "too few rows to hold any out")
  expect_length(fit$held, 0)
  expect_message(one <- nc_ensemble(d$x[1, , drop = FALSE], d$y[1], n_members = 2), "too few rows")
  expect_equal(unname(one$fitted), d$y[1], tolerance = 1e-3)
  flat <- nc_ensemble(d$x, rep(3, 12), learner = "features", n_members = 3)
  expect_equal(unname(flat$fitted), rep(3, 12))
  constant <- nc_ensemble(cbind(d$x, k = 5), d$y, learner = "features", n_members = 3)
  expect_true(all(is.finite(constant$members)))
  twice <- nc_ensemble(rbind(d$x, d$x), c(d$y, d$y), learner = "features", n_members = 2, size = 5, basis = "rbf",
                       lambda = 1, decay = 0)
  expect_true(all(is.finite(twice$members)))
  wide <- nc_ensemble(matrix(rnorm(12 * 50), 12), d$y, learner = "features", n_members = 5)
  expect_true(wide$convergence$converged)
  single <- nc_ensemble(d$x, d$y, learner = "features", n_members = 1)
  expect_equal(single$lambda, 0)
  expect_output(print(single), "sums of 20 fixed waves")
})

test_that("fits are printed, summarised and drawn", {
  d <- curve_data(14)
  set.seed(1)
  fit <- nc_ensemble(d$x, d$y, n_members = 3)
  expect_output(print(fit), "trained together: 3 networks of 4 sigmoids")
  expect_output(print(summary(fit)), "Correlations of their errors")
  expect_named(tidy(fit), c("term", "mse", "ambiguity"))
  expect_equal(glance(fit)$lambda, 2 / 3)
  one <- linear(list(x = d$x[, 1, drop = FALSE], y = d$y))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (what in c("trace", "members", "parts")) expect_silent(plot(fit, what = what))
  expect_silent(plot(one))
  expect_silent(plot(linear(d)))
  skip_if_not_installed("ggplot2")
  for (what in c("trace", "members", "parts")) expect_s3_class(ggplot2::autoplot(fit, what = what), "ggplot")
  expect_s3_class(ggplot2::autoplot(one), "ggplot")
})
