# y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise, ten columns.
friedman <- function(n, seed, p = 10) {
  set.seed(seed)
  x <- matrix(runif(n * p), n, dimnames = list(NULL, paste0("v", seq_len(p))))
  list(x = x, y = 10 * sin(pi * x[, 1] * x[, 2]) + 20 * (x[, 3] - 0.5)^2 + 10 * x[, 4] + 5 * x[, 5] + rnorm(n))
}
grown <- function(..., seed = 1) {
  set.seed(seed)
  forest(...)
}

test_that("one tree on all rows with all columns is grown until it is pure, and repeats the training labels", {
  fit <- grown(iris[1:4], iris$Species, n_trees = 1, mtry = 4, replace = FALSE)
  expect_identical(as.character(predict(fit, iris[1:4])), as.character(iris$Species))
  two <- grown(cbind(a = c(1, 2, 3, 4)), c(0, 0, 10, 10), n_trees = 1, replace = FALSE, min_node = 2)
  expect_identical(two$trees$threshold[1], 2.5)
  expect_identical(unname(predict(two, cbind(a = c(0, 2.4, 2.6, 9)))), c(0, 0, 10, 10))
})

test_that("errors on new rows are those of ranger and randomForest, for numbers and classes", {
  train <- friedman(500, 1)
  test <- friedman(2000, 2)
  ours <- mean((predict(grown(train$x, train$y, n_trees = 300, mtry = 3), test$x) - test$y)^2)
  cut <- function(y) factor(ifelse(y > 14, "high", "low"))
  classes <- mean(predict(grown(train$x, cut(train$y), n_trees = 300, mtry = 3), test$x) != cut(test$y))
  expect_lt(ours, 0.4 * var(test$y))
  skip_if_not_installed("ranger")
  set.seed(1)
  theirs <- ranger::ranger(x = train$x, y = train$y, num.trees = 300, mtry = 3, min.node.size = 5, num.threads = 1)
  expect_lt(abs(ours / mean((predict(theirs, test$x, num.threads = 1)$predictions - test$y)^2) - 1), 0.06)
  theirs <- ranger::ranger(x = train$x, y = cut(train$y), num.trees = 300, mtry = 3, min.node.size = 1, num.threads = 1)
  expect_lt(abs(classes - mean(predict(theirs, test$x, num.threads = 1)$predictions != cut(test$y))), 0.015)
  skip_if_not_installed("randomForest")
  theirs <- randomForest::randomForest(train$x, train$y, ntree = 300, mtry = 3)
  expect_lt(abs(ours / mean((predict(theirs, test$x) - test$y)^2) - 1), 0.06)
})

test_that("the out-of-bag error is that of its predictions and close to the error on new rows", {
  train <- friedman(400, 3)
  test <- friedman(2000, 4)
  fit <- grown(train$x, train$y, n_trees = 300)
  expect_equal(fit$error, mean((fit$prediction - train$y)^2), tolerance = 1e-10)
  expect_lt(abs(fit$error / mean((predict(fit, test$x) - test$y)^2) - 1), 0.15)
  expect_identical(predict(fit), fit$prediction)
  few <- grown(train$x[1:20, ], train$y[1:20], n_trees = 1)
  expect_true(anyNA(few$prediction))
  expect_true(is.na(grown(train$x, train$y, n_trees = 2, replace = FALSE)$error))
})

test_that("important columns come first, by either importance, over several seeds", {
  for (seed in 1:4) {
    train <- friedman(300, seed)
    for (importance in c("impurity", "permutation")) {
      fit <- grown(train$x, train$y, n_trees = 100, mtry = 4, importance = importance, seed = seed)
      expect_setequal(names(sort(fit$importance, decreasing = TRUE))[1:5], paste0("v", 1:5))
    }
    expect_lt(max(abs(fit$importance[6:10])), 0.1 * fit$importance["v4"])
  }
})

test_that("the forest is the same at 1 and 2 threads, and after set.seed()", {
  train <- friedman(200, 5)
  one <- grown(train$x, train$y, n_trees = 20, threads = 1)
  two <- grown(train$x, train$y, n_trees = 20, threads = 2)
  expect_identical(one$trees, two$trees)
  expect_identical(one$prediction, two$prediction)
  expect_false(identical(one$trees, grown(train$x, train$y, n_trees = 20, seed = 2)$trees))
})

test_that("columns are matched by name", {
  train <- friedman(200, 6)
  fit <- grown(train$x, train$y, n_trees = 20)
  expect_identical(predict(fit, train$x[1:5, 10:1]), predict(fit, train$x[1:5, ]))
  expect_identical(unname(predict(fit, as.data.frame(train$x)[1:5, 10:1])), unname(predict(fit, train$x[1:5, ])))
  expect_error(predict(fit, train$x[, -1]), "v1", class = "granary_error_input")
})

test_that("factors are split by sets of levels, and levels without rows or never seen are told", {
  set.seed(7)
  g <- factor(sample(letters, 600, TRUE), letters)
  good <- c("b", "f", "k", "q", "z")
  y <- as.numeric(g %in% good)
  fit <- grown(data.frame(g = g), y, n_trees = 1, replace = FALSE, max_leaves = 2)
  expect_equal(unname(predict(fit, data.frame(g = factor(letters)))), as.numeric(letters %in% good))
  frame <- data.frame(g = g, u = runif(600))
  classes <- grown(frame, factor(y), n_trees = 10)
  expect_message(predict(classes, data.frame(g = "new", u = 0.5)), "not met")
  expect_message(grown(frame, factor(y, c(0, 1, 2)), n_trees = 2), "No row has the level")
  expect_identical(levels(predict(classes, frame[1:2, ])), c("0", "1"))
})

test_that("missing values go where the labels send them", {
  set.seed(8)
  u <- runif(200)
  y <- ifelse(u > 0.5, 5, 0)
  u[y == 5][1:40] <- NA
  fit <- grown(cbind(u = u), y, n_trees = 1, replace = FALSE)
  expect_equal(unname(predict(fit, cbind(u = NA_real_))), 5, tolerance = 1e-12)
  expect_error(grown(cbind(u = u), replace(y, 1, NA)), "`y`", class = "granary_error_input")
  all <- grown(cbind(u = y + 0.1, gone = NA_real_), y, n_trees = 3)
  expect_identical(unname(all$importance["gone"]), 0)
})

test_that("ties, constant columns and duplicated rows split nothing", {
  x <- cbind(constant = rep(1, 40), two = rep(0:1, 20))
  fit <- grown(x, rep(0:1, 20) * 3, n_trees = 5, mtry = 2)
  expect_identical(unname(fit$importance["constant"]), 0)
  expect_equal(unname(predict(fit, x)), rep(0:1, 20) * 3)
  expect_message(constant <- grown(x, rep(2, 40), n_trees = 3), "constant")
  expect_identical(unique(unname(predict(constant, x))), 2)
  expect_message(single <- grown(matrix(1:3, 1), 7, n_trees = 2), NA)
  expect_identical(unname(predict(single, matrix(9, 1, 3, dimnames = list(NULL, c("V1", "V2", "V3"))))), 7)
})

test_that("sparse rows give the forest of dense ones", {
  set.seed(9)
  dense <- matrix(rbinom(300 * 20, 3, 0.1), 300, dimnames = list(NULL, paste0("w", 1:20)))
  y <- factor(dense[, 1] + dense[, 2] > 0)
  sparse <- Matrix::Matrix(dense, sparse = TRUE)
  a <- grown(dense + 0, y, n_trees = 10)
  b <- grown(sparse, y, n_trees = 10)
  expect_identical(a$trees, b$trees)
  expect_identical(predict(b, sparse[1:9, ]), predict(a, dense[1:9, ] + 0))
})

test_that("weights count as repeated rows", {
  train <- friedman(60, 10)
  w <- rep(1:3, 20)
  at <- rep(1:60, w)
  common <- list(n_trees = 1, mtry = 10, replace = FALSE, max_depth = 3, min_node = 2)
  a <- do.call(grown, c(list(train$x, train$y, weights = w), common))
  b <- do.call(grown, c(list(train$x[at, ], train$y[at]), common))
  expect_equal(predict(a, train$x), predict(b, train$x), tolerance = 1e-10)
  expect_error(forest(train$x, train$y, weights = rep(0, 60)), "weights", class = "granary_error_input")
  expect_error(forest(train$x, train$y, weights = -w), "weights", class = "granary_error_input")
})

test_that("scales 1e-8 and 1e8 of columns and response do not change the answers", {
  train <- friedman(150, 11)
  answer <- predict(grown(train$x, train$y, n_trees = 10), train$x)
  for (scale in c(1e-8, 1e8)) {
    fit <- grown(train$x * scale, train$y * scale, n_trees = 10)
    expect_equal(predict(fit, train$x * scale) / scale, answer, tolerance = 1e-8)
  }
})

test_that("more columns than rows, depth, leaves and random thresholds are honoured", {
  set.seed(12)
  x <- matrix(rnorm(20 * 100), 20)
  y <- factor(x[, 1] > 0)
  expect_s3_class(grown(x, y, n_trees = 20), "granary_forest")
  train <- friedman(300, 12)
  stumps <- grown(train$x, train$y, n_trees = 5, max_depth = 1)
  expect_lte(max(table(cumsum(seq_along(stumps$trees$feature) %in% (stumps$trees$start + 1)))), 3)
  leaves <- grown(train$x, train$y, n_trees = 5, max_leaves = 4)
  expect_identical(sum(leaves$trees$feature < 0), 20L)
  small <- grown(train$x, train$y, n_trees = 5, min_leaf = 20)
  expect_gte(min(small$trees$rows[small$trees$feature < 0]), 20)
  extra <- grown(train$x, train$y, n_trees = 100, cuts = 1, replace = FALSE, mtry = 10)
  test <- friedman(1000, 13)
  expect_lt(mean((predict(extra, test$x) - test$y)^2), 0.4 * var(test$y))
})

test_that("the formula keeps factors whole, takes weights and subset, and update() refits", {
  fit <- grown(Species ~ ., iris, n_trees = 20)
  expect_identical(names(fit$column_levels), names(iris)[1:4])
  expect_identical(rownames(predict(grown(mpg ~ wt, mtcars, n_trees = 3), mtcars[3:4, ], type = "leaf")), NULL)
  expect_identical(names(predict(grown(mpg ~ wt, mtcars, n_trees = 3), mtcars[3:4, ])), rownames(mtcars)[3:4])
  half <- forest(Sepal.Length ~ Species + Petal.Width, iris, subset = Sepal.Width > 3, weights = Petal.Length, n_trees = 5)
  expect_identical(half$n, sum(iris$Sepal.Width > 3))
  fit <- forest(Species ~ ., iris, n_trees = 4)
  expect_identical(length(update(fit, n_trees = 3)$trees$start), 3L)
  expect_error(forest(Species ~ Sepal.Length:Petal.Length, iris), "interactions", class = "granary_error_input")
  holes <- iris
  holes$Sepal.Length[1:10] <- NA
  expect_identical(grown(Species ~ ., holes, n_trees = 3)$n, 150L)
  expect_identical(grown(Species ~ ., holes, na.action = na.omit, n_trees = 3)$n, 140L)
})

test_that("every wrong argument is told", {
  train <- friedman(30, 14)
  bad <- function(pattern, ...) {
    given <- list(...)
    arguments <- list(x = train$x, y = train$y)
    arguments[names(given)] <- given
    expect_error(suppressMessages(do.call(forest, arguments)), pattern, class = "granary_error_input")
  }
  bad("`y`", y = train$y[-1])
  bad("`y`", y = replace(train$y, 1, Inf))
  bad("two classes", y = rep("a", 30))
  bad("mtry", mtry = 11)
  bad("mtry", mtry = 0)
  bad("n_trees", n_trees = 0)
  bad("min_node", min_node = 1)
  bad("sample", sample = 0)
  bad("sample", sample = 2, replace = FALSE)
  bad("importance", importance = "shap")
  bad("score", score = "mse")
  bad("cuts", cuts = -1)
  bad("`x`", x = replace(train$x, 1, Inf))
  bad("without levels", x = data.frame(a = factor(rep(NA, 30))))
  fit <- grown(train$x, train$y, n_trees = 2, importance = "none")
  expect_error(predict(fit, train$x, type = "prob"), "no classes", class = "granary_error_input")
  expect_error(predict(fit, type = "leaf"), "newdata", class = "granary_error_input")
  expect_error(tidy(fit), "importance", class = "granary_error_input")
  expect_error(plot(fit), "importance", class = "granary_error_input")
})

test_that("print, assess and files", {
  fit <- grown(Species ~ ., iris, n_trees = 50)
  expect_output(print(fit), "50 trees.*Out of bag")
  expect_lt(assess(fit, newdata = iris, newy = iris$Species)$error, 0.05)
  expect_equal(assess(fit)$error, fit$error)
  file <- tempfile(fileext = ".rds")
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), iris[1:5, ]), predict(fit, iris[1:5, ]))
  fit$trees$left[1] <- 0L
  fit$held <- new.env()
  expect_error(predict(fit, iris), "damaged", class = "granary_error_input")
})
