gestures <- function(seed = 1, ...) {
  set.seed(seed)
  sim_co_boost(..., n_views = 1)
}

test_that("classes of new sequences are found, seed by seed", {
  error <- vapply(1:4, function(seed) {
    sim <- gestures(seed, n = 10, n_test = 20, n_classes = 4, p = 6)
    fit <- hmm_classifier(sim$x[[1]], sim$y, k = 4, topology = "left_right")
    assess(fit, newdata = sim$newx[[1]], newy = sim$newy)$error
  }, 0)
  expect_lt(mean(error), 0.1)
})

test_that("the models are those of hmm_fit() on the sequences of each class", {
  sim <- gestures(2, n = 6, n_test = 2, n_classes = 2, p = 3)
  w <- runif(12, 0.5, 2)
  fit <- hmm_classifier(sim$x[[1]], sim$y, k = 3, topology = "left_right", weights = w, max_iter = 500, tol = 1e-9,
                        floor = 1e-8)
  link <- predict(fit, sim$newx[[1]], "link")
  for (c in c("a", "b")) {
    mine <- sim$y == c
    alone <- hmm_fit(sim$x[[1]][mine], k = 3, topology = "left_right", weights = w[mine], floor = 1e-8)
    expect_equal(unname(link[, c]), unname(predict(alone, sim$newx[[1]], "density")), tolerance = 1e-4)
  }
  prob <- predict(fit, sim$newx[[1]], "prob")
  expect_equal(prob[, "a"], plogis(link[, "a"] - link[, "b"]), tolerance = 1e-10)
  expect_equal(as.character(predict(fit, sim$newx[[1]])), colnames(prob)[max.col(prob)], ignore_attr = TRUE)
  expect_true(all(fit$models$converged))
})

test_that("priors move the answer as Bayes' rule says", {
  sim <- gestures(3, n = 5, n_test = 5, n_classes = 2, p = 2, length = 3, signal = 0.3)
  flat <- hmm_classifier(sim$x[[1]], sim$y, k = 2)
  told <- hmm_classifier(sim$x[[1]], sim$y, k = 2, prior = c(b = 0.9, a = 0.1))
  shift <- predict(told, sim$newx[[1]], "link") - predict(flat, sim$newx[[1]], "link")
  expect_equal(unname(shift[1, ]), log(c(0.1, 0.9)), tolerance = 1e-10)
  counted <- hmm_classifier(sim$x[[1]][1:8], sim$y[1:8], k = 2, prior = "cases")
  expect_equal(unname(counted$prior), c(5, 3) / 8)
  expect_error(hmm_classifier(sim$x[[1]], sim$y, prior = c(a = 1, z = 1)), "prior", class = "granary_error_input")
  expect_error(hmm_classifier(sim$x[[1]], sim$y, prior = "some"), "prior", class = "granary_error_input")
})

test_that("the order of the cases and the names of the classes do not matter", {
  sim <- gestures(4, n = 5, n_test = 3, n_classes = 3, p = 3)
  fit <- hmm_classifier(sim$x[[1]], sim$y, k = 3, topology = "left_right")
  set.seed(1)
  order <- sample(15)
  shuffled <- hmm_classifier(sim$x[[1]][order], sim$y[order], k = 3, topology = "left_right")
  expect_equal(predict(shuffled, sim$newx[[1]], "link"), predict(fit, sim$newx[[1]], "link"), tolerance = 1e-6)
  renamed <- hmm_classifier(sim$x[[1]], factor(c(a = "z", b = "y", c = "x")[as.character(sim$y)]), k = 3,
                            topology = "left_right")
  expect_equal(unname(predict(renamed, sim$newx[[1]], "link")[, 3:1]), unname(predict(fit, sim$newx[[1]], "link")),
               tolerance = 1e-6)
})

test_that("sequences of length one, a class with one case and missing rows are no trouble", {
  set.seed(1)
  x <- as.list(c(rnorm(20), rnorm(20, 5)))
  y <- rep(c("low", "high"), each = 20)
  fit <- hmm_classifier(x, y, k = 1)
  expect_gt(mean(fit$fitted == y), 0.95)
  lone <- hmm_classifier(c(x, list(30)), c(y, "far"), k = 2)
  expect_equal(lone$models$states[lone$models$class == "far"], 1L)
  expect_equal(as.character(predict(lone, list(30))), "far")
  gap <- list(matrix(rnorm(10), 5), matrix(rnorm(10, 3), 5))
  gap[[1]][2, ] <- NA
  expect_error(hmm_classifier(gap, c("a", "b"), k = 1), "missing", class = "granary_error_input")
  expect_s3_class(hmm_classifier(gap, c("a", "b"), k = 1, na = "skip"), "granary_hmm_classifier")
  gap[[2]][, 1] <- NA
  expect_error(hmm_classifier(gap, c("a", "b"), k = 1, na = "skip"), "Class \"b\" has no row",
               class = "granary_error_input")
})

test_that("each argument that is not what was asked for is named", {
  sim <- gestures(5, n = 3, n_test = 1, n_classes = 2, p = 2)
  x <- sim$x[[1]]
  expect_error(hmm_classifier(y = sim$y), "`x`", class = "granary_error_input")
  expect_error(hmm_classifier(x), "`y`", class = "granary_error_input")
  expect_error(hmm_classifier(x, sim$y[1:3]), "one label per case, 6", class = "granary_error_input")
  expect_error(hmm_classifier(x, rep("a", 6)), "two classes", class = "granary_error_input")
  expect_error(hmm_classifier(x, sim$y, weights = c(1, 1, 1, 0, 0, 0)), "Class \"b\" has no case",
               class = "granary_error_input")
  expect_error(hmm_classifier(x, sim$y, k = 2, states = 3), "no argument `states`", class = "granary_error_input")
  fit <- hmm_classifier(x, sim$y, k = 2)
  expect_error(predict(fit, list(diag(3))), "columns", class = "granary_error_input")
  expect_error(predict(fit, type = "link"), "newdata", class = "granary_error_input")
})

test_that("a classifier prints, sums up and draws; one thread or two", {
  sim <- gestures(6, n = 4, n_test = 2, n_classes = 3, p = 3)
  fit <- hmm_classifier(sim$x[[1]], sim$y, k = 2, threads = 1)
  expect_identical(fit$member, hmm_classifier(sim$x[[1]], sim$y, k = 2, threads = 2)$member)
  expect_output(print(fit), "each of 3 classes")
  expect_output(print(summary(fit)), "predicted")
  expect_equal(nrow(tidy(fit)), 3 * 2 * 3)
  expect_equal(glance(fit)$classes, 3)
  expect_equal(nobs(fit), 12)
  expect_equal(predict(fit, sim$x[[1]], "prob"), fit$posterior, tolerance = 1e-10)
  path <- tempfile(fileext = ".png")
  grDevices::png(path)
  plot(fit)
  grDevices::dev.off()
  expect_gt(file.size(path), 1000)
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
})
