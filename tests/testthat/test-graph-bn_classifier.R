binary_data <- function(n, p, seed) {
  set.seed(seed)
  x <- as.data.frame(matrix(rbinom(n * p, 1, 0.5), n, dimnames = list(NULL, letters[seq_len(p)])))
  x$b <- ifelse(runif(n) < 0.8, x$a, 1 - x$a)
  y <- rbinom(n, 1, plogis(1.5 * x$a - x$c + 2 * x$a * x$b - 1))
  list(x = x, y = y)
}

test_that("generative naive Bayes equals e1071", {
  skip_if_not_installed("e1071")
  d <- binary_data(200, 5, 1)
  fit <- bn_classifier(d$x, d$y)
  frame <- as.data.frame(lapply(d$x, factor, 0:1))
  peer <- getExportedValue("e1071", "naiveBayes")(frame, factor(d$y), laplace = 1)
  expect_equal(unname(predict(fit, type = "prob")[, 2]), unname(predict(peer, frame, type = "raw")[, 2]), tolerance = 1e-10)
})

test_that("the discriminative fit on the naive structure is glm, and never worse than the generative one in sample", {
  d <- binary_data(300, 5, 2)
  fit <- bn_classifier(d$x, d$y, method = "logistic", lambda = 0)
  peer <- stats::glm(class ~ ., data = cbind(d$x, class = d$y), family = stats::binomial())
  expect_equal(unname(coef(fit)), unname(stats::coef(peer)), tolerance = 1e-4)
  for (dag in c("naive", "markov", "tree", "bipartite")) {
    logistic <- bn_classifier(d$x, d$y, dag = dag, method = "logistic", lambda = 1e-4)
    expect_lte(logistic$loss, logistic$generative_loss + 1e-4)
    expect_true(logistic$convergence$converged)
  }
})

test_that("log-odds of the generative rule is that of its tables", {
  d <- binary_data(150, 6, 3)
  fit <- bn_classifier(d$x, d$y, dag = "tree", pseudo_count = 0.5)
  spec <- granary:::bn_model_spec(fit)
  expect_equal(predict(fit, type = "link"),
               granary:::core_bn_log_density(spec, unname(fit$cpts[["1"]]), fit$x) - granary:::core_bn_log_density(spec, unname(fit$cpts[["0"]]),
                                                                                                                   fit$x) +
                 log(sum(d$y == 1) / sum(d$y == 0)))
  expect_equal(unname(rowSums(fit$cpts[["1"]]$b)), rep(1, nrow(fit$cpts[["1"]]$b)))
})

test_that("interactions that the graph allows are found", {
  error <- vapply(1:3, function(seed) {
    set.seed(seed)
    x <- as.data.frame(matrix(rbinom(2000, 1, 0.5), 500, dimnames = list(NULL, letters[1:4])))
    y <- x$a != x$b  # exclusive or: not linear
    fit <- bn_classifier(x, y, "a -> b; c; d", method = "logistic")
    expect_identical(names(summary(fit, n = 1)$largest), "a:b")
    mean(predict(fit) != y)
  }, 0)
  expect_equal(error, rep(0, 3))
})

test_that("svm, l1, groups, factors and prediction by name", {
  d <- binary_data(200, 5, 4)
  svm <- bn_classifier(d$x, d$y, method = "svm", lambda = 0.01)
  expect_true(svm$convergence$converged)
  sparse <- bn_classifier(d$x, d$y, dag = "markov", k = 2, method = "logistic", penalty = "l1", lambda = 0.03)
  expect_gt(sum(coef(sparse) == 0), 3)
  grouped <- bn_classifier(d$x, d$y, "a -> b; c; d; e", groups = list(b = c(1, 1)))
  naive <- bn_classifier(d$x, d$y)
  expect_equal(predict(grouped, type = "link"), predict(naive, type = "link"))
  expect_identical(predict(naive, d$x[5:1][1:7, ]), predict(naive)[1:7])
  mixed <- data.frame(a = factor(c("x", "y", "z", "x")), b = c(TRUE, FALSE, TRUE, TRUE))
  fit <- bn_classifier(mixed, c("u", "v", "u", "v"), "a -> b")
  expect_identical(levels(predict(fit)), c("u", "v"))
  expect_error(predict(fit, data.frame(a = "q", b = TRUE)), "\"q\"", class = "granary_error_input")
  expect_output(print(summary(svm)), "largest weights")
  pdf(NULL)
  on.exit(dev.off())
  expect_silent(plot(svm))
})

test_that("bad input of the classifier", {
  d <- binary_data(20, 3, 5)
  expect_error(bn_classifier(d$x, rep(1, 20)), "two classes", class = "granary_error_input")
  expect_error(bn_classifier(d$x, 1:20), "two classes", class = "granary_error_input")
  expect_error(bn_classifier(d$x, c(NA, d$y[-1])), "missing", class = "granary_error_input")
  expect_error(bn_classifier(d$x, d$y[-1]), "one class per row", class = "granary_error_input")
  expect_error(bn_classifier(d$x, d$y, pseudo_count = 0), "greater than 0", class = "granary_error_input")
  expect_error(bn_classifier(d$x, d$y, "nave"), "naive", class = "granary_error_input")
  expect_error(bn_classifier(d$x, d$y, "markov", k = 5), "`k`", class = "granary_error_input")
  separable <- data.frame(a = rep(0:1, 10), b = rep(0:1, each = 10))
  expect_warning(bn_classifier(separable, separable$a, method = "logistic", lambda = 0, max_iter = 3), class = "granary_warning_convergence")
})

test_that("sigmoid belief network: each node is glm, the density sums to one, simulation recovers", {
  d <- binary_data(400, 4, 6)
  x <- as.matrix(d$x)
  fit <- sbn_fit(x, lambda = 0, order = c("c", "a", "d", "b"))
  peer <- stats::glm(b ~ c + a + d, data = d$x, family = stats::binomial())
  expect_equal(unname(c(fit$bias["b"], fit$weights["b", c("c", "a", "d")])), unname(stats::coef(peer)), tolerance = 1e-4)
  all <- as.matrix(stats::setNames(expand.grid(rep(list(0:1), 4)), letters[1:4]))
  expect_equal(sum(exp(predict(fit, all))), 1)
  expect_equal(as.double(logLik(fit)), sum(predict(fit, x)))
  set.seed(7)
  again <- sbn_fit(simulate(fit, 20000), lambda = 0, order = c("c", "a", "d", "b"))
  expect_lt(max(abs(again$weights - fit$weights)), 0.25)
  expect_identical(simulate(fit, 5, seed = 1), simulate(fit, 5, seed = 1))
  expect_equal(sbn_fit(x, threads = 1)$weights, sbn_fit(x, threads = 2)$weights)
})

test_that("the scored order is at least as good as its reverse, and classes are predicted", {
  d <- binary_data(300, 5, 8)
  x <- as.matrix(d$x)
  scored <- sbn_fit(x, order = "score")
  expect_setequal(scored$order, 1:5)
  fit <- sbn_fit(x, d$y, penalty = "l1", lambda = 0.01)
  expect_gt(mean(predict(fit) == d$y), mean(d$y == 1) - 0.05)
  expect_equal(unname(rowSums(predict(fit, type = "prob"))), rep(1, 300))
  expect_identical(dim(simulate(fit, 3, class = "1")), c(3L, 5L))
  expect_error(sbn_fit(x, order = 1:3), "order", class = "granary_error_input")
  expect_error(sbn_fit(x + 0.5), "zeros and ones", class = "granary_error_input")
  expect_output(print(fit), "classes 0, 1")
  expect_equal(unname(sbn_fit(x, bias = FALSE)$bias), rep(0, 5))
})
