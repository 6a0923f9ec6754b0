test_that("the path over costs with warm starts gives the errors of fits from scratch", {
  set.seed(1)
  d <- iris[51:150, ]
  folds <- rep_len(1:4, 100)
  tuned <- svm_select(Species ~ ., d, grid = list(cost = c(0.1, 1, 10), gamma = c(0.05, 0.5)), folds = folds, standardize = FALSE, tol = 1e-5)
  expect_identical(nrow(tuned$table), 6L)
  by_hand <- vapply(seq_len(6), function(k) {
    at <- tuned$table[k, ]
    mean(unlist(lapply(1:4, function(f) {
      fit <- svm(Species ~ ., d[folds != f, ], cost = at$cost, gamma = at$gamma, standardize = FALSE, tol = 1e-5)
      as.character(predict(fit, d[folds == f, ])) != d$Species[folds == f]
    })))
  }, 0)
  expect_equal(tuned$table$estimate, by_hand)
  expect_identical(tuned$table$estimate[tuned$selected], min(tuned$table$estimate))
  expect_identical(tuned$fit$parameters$cost, tuned$table$cost[tuned$selected])
  expect_identical(predict(tuned, d), predict(tuned$fit, d))
})

test_that("the paper's grids are the defaults, and regression, nu and several classes are tuned", {
  set.seed(2)
  x <- matrix(rnorm(80), 40)
  z <- x[, 1] + 0.3 * rnorm(40)
  line <- svm_select(x, z, kernel = "linear", standardize = "range")
  expect_identical(sort(unique(line$table$cost)), 2^seq(-3, 5, 2))
  expect_identical(sort(unique(line$table$epsilon)), 2^(-8:-1))
  expect_lt(line$table$estimate[line$selected], 0.5 * var(z))
  expect_identical(nrow(svm_select(x, z > 0)$table), 110L)
  expect_message(nu <- svm_select(x, z > 0, "nu_classification", gamma = 0.5, grid = list(nu = c(0.2, 0.5, 1))), "left out")
  expect_identical(nu$parameters, "nu")
  three <- svm_select(Species ~ ., iris, grid = list(cost = c(1, 10)), multiclass = "one_vs_rest", measure = "balanced")
  expect_lt(three$table$estimate[three$selected], 0.1)
  given <- svm_select(kernel_matrix(k_rbf(0.5), x), z > 0, kernel = "precomputed", grid = data.frame(cost = c(1, 5)))
  same <- svm_select(x, z > 0, kernel = k_rbf(0.5), grid = data.frame(cost = c(1, 5)), standardize = FALSE, folds = 5)
  expect_identical(dim(given$table), dim(same$table))
})

test_that("the same seed gives the same choice on one and two threads", {
  run <- function(threads) {
    set.seed(3)
    svm_select(Species ~ ., iris, grid = list(cost = 2^(0:3), gamma = c(0.1, 1)), threads = threads)$table
  }
  expect_identical(run(1), run(2))
})

test_that("a tuned machine prints and plots, and misuse has its message", {
  set.seed(4)
  tuned <- svm_select(Species ~ ., iris, grid = list(cost = c(0.01, 1, 100), gamma = c(0.1, 1)), folds = 3)
  expect_output(print(tuned), "6 points, 3 folds.*best: cost.*share of rows misclassified")
  pdf(NULL)
  on.exit(dev.off())
  expect_null(plot(tuned))
  expect_null(plot(svm_select(Species ~ ., iris, grid = list(cost = c(1, 2)), folds = 3)))
  expect_error(plot(svm_select(Species ~ ., iris, grid = list(cost = 1), folds = 3)), "one point", class = "granary_error_input")
  bad <- function(text, ...) expect_error(svm_select(Species ~ ., iris, ...), text, class = "granary_error_input")
  bad("some of \"cost\"", grid = list(colour = 1))
  bad("named list", grid = 3)
  bad("grid\\$cost", grid = list(cost = -1))
  bad("`folds`", folds = 1)
  bad("Without fold 1", folds = rep(1:3, each = 50))
  bad("`measure`", measure = "mse")
  bad("nothing to tune", type = "one_class")
})

test_that("svm_select() says which argument it needs", {
  expect_error(svm_select(), "`x` must be given", class = "granary_error_input")
  expect_error(svm_select(iris[, 1:4]), "`y` must be given", class = "granary_error_input")
})
