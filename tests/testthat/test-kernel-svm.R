# Two classes that overlap, targets and new rows.
svm_example <- function(n = 100, seed = 1) {
  set.seed(seed)
  x <- matrix(rnorm(n * 3), n, dimnames = list(NULL, c("a", "b", "c")))
  score <- x[, 1] + 0.5 * x[, 1] * x[, 2] + 0.4 * rnorm(n)
  list(x = x, y = factor(ifelse(score > 0, "yes", "no")), target = score, new = matrix(rnorm(60), 20, dimnames = list(NULL, c("a", "b", "c"))))
}

peer_svm <- function(...) getFromNamespace("svm.default", "e1071")(..., tolerance = 1e-8)  # by name: both packages have such a method
peer_decision <- function(fit, new) {
  value <- attr(getExportedValue("stats", "predict")(fit, new, decision.values = TRUE), "decision.values")[, 1]
  unname(value)
}
same_up_to_sign <- function(ours, theirs) {
  ours <- unname(ours)
  if (sum(ours * theirs) < 0) theirs <- -theirs  # the peer's first class is the first it meets
  max(abs(ours - theirs))
}

test_that("all five machines agree with LIBSVM", {
  skip_if_not_installed("e1071")
  d <- svm_example(100)
  for (kernel in c("rbf", "linear")) {
    theirs <- if (kernel == "rbf") "radial" else kernel
    tolerance <- if (kernel == "rbf") 1e-6 else 5e-6  # the peer keeps kernel values in single precision
    fit <- svm(d$x, d$y, kernel = kernel, gamma = 0.4, cost = 2, tol = 1e-8)
    peer <- peer_svm(d$x, d$y, kernel = theirs, gamma = 0.4, cost = 2)
    expect_lt(same_up_to_sign(predict(fit, d$new, "link"), peer_decision(peer, d$new)), tolerance)
    expect_identical(as.character(predict(fit, d$new)), as.character(getExportedValue("stats", "predict")(peer, d$new)))
    fit <- svm(d$x, d$y, "nu_classification", kernel = kernel, gamma = 0.4, nu = 0.6, tol = 1e-8)
    peer <- peer_svm(d$x, d$y, type = "nu-classification", kernel = theirs, gamma = 0.4, nu = 0.6)
    expect_lt(same_up_to_sign(predict(fit, d$new, "link"), peer_decision(peer, d$new)), tolerance)
    fit <- svm(d$x, d$target, kernel = kernel, gamma = 0.4, tol = 1e-8)
    peer <- peer_svm(d$x, d$target, kernel = theirs, gamma = 0.4)
    expect_equal(predict(fit, d$new), unname(getExportedValue("stats", "predict")(peer, d$new)), tolerance = tolerance)
    fit <- svm(d$x, d$target, "nu_regression", kernel = kernel, gamma = 0.4, nu = 0.3, tol = 1e-8)
    peer <- peer_svm(d$x, d$target, type = "nu-regression", kernel = theirs, gamma = 0.4, nu = 0.3)
    expect_equal(predict(fit, d$new), unname(getExportedValue("stats", "predict")(peer, d$new)), tolerance = tolerance)
    fit <- svm(d$x, kernel = kernel, gamma = 0.4, nu = 0.2, tol = 1e-8)
    peer <- peer_svm(d$x, type = "one-classification", kernel = theirs, gamma = 0.4, nu = 0.2)
    expect_lt(same_up_to_sign(predict(fit, d$new, "link"), peer_decision(peer, d$new)), 4 * tolerance)
  }
})

test_that("the duals agree with an interior point solver", {
  skip_if_not_installed("quadprog")
  d <- svm_example(30)
  k <- kernel_matrix(k_rbf(0.4), d$x) + diag(1e-9, 30)
  y <- ifelse(d$y == "yes", 1, -1)
  solve_qp <- getExportedValue("quadprog", "solve.QP")
  exact <- solve_qp(k * tcrossprod(y), rep(1, 30), cbind(y, diag(30), -diag(30)), c(0, rep(0, 30), rep(-2, 30)), meq = 1)
  fit <- svm(d$x, d$y, kernel = k_rbf(0.4), cost = 2, standardize = FALSE, tol = 1e-9)
  expect_equal(fit$objective[[1]], exact$value, tolerance = 1e-7)
  raw <- granary:::svm_qp(k, y, C = 2, tol = 1e-9)
  expect_equal(raw$alpha, exact$solution, tolerance = 1e-6)
  expect_equal(raw$objective, exact$value, tolerance = 1e-9)
  # regression: a and a*, 60 variables
  z <- d$target
  q <- rbind(cbind(k, -k), cbind(-k, k)) + diag(1e-6, 60)  # the peer needs a definite matrix
  exact <- solve_qp(q, -c(0.1 - z, 0.1 + z), cbind(rep(c(1, -1), each = 30), diag(60), -diag(60)), c(0, rep(0, 60), rep(-1, 60)), meq = 1)
  fit <- svm(d$x, z, kernel = k_rbf(0.4), cost = 1, epsilon = 0.1, standardize = FALSE, tol = 1e-9)
  expect_equal(fit$objective[[1]], exact$value, tolerance = 1e-4)
})

test_that("closed forms: the exclusive or, two points, a hard margin, a small cost", {
  x <- rbind(c(0, 0), c(1, 1), c(1, 0), c(0, 1))
  a <- 1 / (1 - exp(-1))^2
  fit <- svm(x, c(1, 1, -1, -1), kernel = k_rbf(1), cost = 10, standardize = FALSE, tol = 1e-9)
  expect_equal(unname(fit$coefficients[, 1]), a * c(1, 1, -1, -1), tolerance = 1e-7)
  expect_equal(fit$objective[[1]], -2 * a, tolerance = 1e-8)
  expect_equal(fit$offset[[1]], 0, tolerance = 1e-8)
  for (cost in c(0.2, 0.5, 3)) {
    line <- svm(cbind(c(-1, 1)), c(-1, 1), kernel = "linear", cost = cost, standardize = FALSE, tol = 1e-9)
    expect_equal(unname(line$coefficients[, 1]), c(-1, 1) * min(cost, 0.5), tolerance = 1e-8)
  }
  # hard margin: (0,0), (0,1) against (2,0): the boundary is x1 = 1
  points <- rbind(c(0, 0), c(0, 1), c(2, 0))
  hard <- granary:::svm_qp(tcrossprod(points), c(-1, -1, 1), C = Inf, tol = 1e-10)
  expect_equal(drop(crossprod(points, c(-1, -1, 1) * hard$alpha)), c(1, 0), tolerance = 1e-6)
  expect_equal(hard$b, -1, tolerance = 1e-6)
  # a cost so small that every row is at its bound
  z <- c(-3, -1, 2, 5)
  small <- svm(cbind(1:4), z, "regression", epsilon = 0, cost = 1e-4, standardize = FALSE, tol = 1e-9)
  expect_equal(unname(small$coefficients[, 1]), 1e-4 * c(-1, -1, 1, 1), tolerance = 1e-10)
})

test_that("the certificate holds: feasible, a gap from the primal, decision values from the coefficients", {
  d <- svm_example(150, 3)
  fit <- svm(d$x, d$y, kernel = k_rbf(0.3), cost = 5, standardize = FALSE)
  k <- kernel_matrix(k_rbf(0.3), d$x)
  y <- ifelse(d$y == "yes", 1, -1)
  b <- numeric(150)
  b[fit$index] <- fit$coefficients[, 1]
  expect_equal(sum(b), 0, tolerance = 1e-10)
  expect_true(all(y * b >= 0) && all(y * b <= 5))
  expect_lt(fit$violation, 1e-3)
  primal <- 0.5 * sum(b * (k %*% b)) + 5 * sum(pmax(0, 1 - y * (k %*% b + fit$offset)))
  expect_equal(primal + fit$objective[[1]], fit$gap, tolerance = 2e-3)  # kernel rows in single precision
  expect_gte(fit$gap, 0)
  expect_lte(fit$gap, fit$violation * 150 * 5)
  expect_equal(unname(predict(fit, type = "link")), drop(k %*% b) + fit$offset[[1]], tolerance = 1e-5)
  expect_equal(unname(predict(fit, d$x, "link")), drop(k %*% b) + fit$offset[[1]], tolerance = 1e-10)
  # bounded rows are inside the margin, identified ones off it
  expect_setequal(fit$bounded[[1]], which(y * b == 5))
  slack <- y * predict(fit, d$x, "link") - 1
  expect_true(all(slack[fit$bounded[[1]]] < 1e-3))
  expect_true(all(b[-fit$identified[[1]]] == 0 | abs(slack[-fit$identified[[1]]]) < 2e-3))
  # WSS 4: with sigma = sqrt(min a / max a) over all pairs, no pair taken violates less than sigma times the most there was
  curvature <- outer(diag(k), diag(k), "+") - 2 * k
  curvature <- curvature[upper.tri(curvature)]
  expect_gte(fit$ratio, sqrt(min(curvature) / max(curvature)) * (1 - 1e-4))
  expect_lte(fit$ratio, 1)
})

test_that("working set rules, shrinking and the cache do not change the answer; the second order takes fewer steps", {
  d <- svm_example(120, 4)
  fits <- lapply(c("wss3", "wss1", "wss2_feasible", "full", "wss2"), function(wss) svm(d$x, d$y, cost = 10, wss = wss, tol = 1e-6))
  objective <- vapply(fits, function(f) f$objective[[1]], 0)
  expect_equal(objective, rep(objective[1], 5), tolerance = 1e-8)
  steps <- vapply(fits, function(f) f$n_iter[[1]], 0)
  expect_lt(steps[1], steps[2])
  expect_identical(steps[1], steps[5])
  expect_equal(svm(d$x, d$y, cost = 10, tol = 1e-6, shrink = FALSE)$objective, fits[[1]]$objective, tolerance = 1e-8)
  expect_message(tiny <- svm(d$x, d$y, cost = 10, tol = 1e-6, cache_mb = 0), "cache of 0 MB")
  expect_equal(tiny$objective, fits[[1]]$objective, tolerance = 1e-9)
})

test_that("a trace has the violation at every step, and max_iter is honoured with a warning", {
  d <- svm_example(60)
  fit <- svm(d$x, d$y, trace = TRUE)
  expect_length(fit$trace[[1]], fit$n_iter[[1]])
  expect_true(all(fit$trace[[1]] >= 1e-3))
  expect_warning(stopped <- svm(d$x, d$y, cost = 1000, max_iter = 3), "NOT converged", class = "granary_warning_convergence")
  expect_identical(stopped$n_iter[[1]], 3)
  expect_gt(stopped$violation, 1e-3)
  expect_output(print(stopped), "NOT converged")
})

test_that("invariances: labels swapped, a row twice, a constant added, kernel and cost scaled", {
  d <- svm_example(60, 5)
  fit <- svm(d$x, d$y, kernel = k_rbf(0.5), cost = 3, standardize = FALSE, tol = 1e-8)
  base <- predict(fit, d$new, "link")
  flipped <- svm(d$x, factor(d$y, c("yes", "no")), kernel = k_rbf(0.5), cost = 3, standardize = FALSE, tol = 1e-8)
  expect_equal(predict(flipped, d$new, "link"), -base, tolerance = 1e-6)
  twice <- svm(d$x[c(1:60, 7), ], d$y[c(1:60, 7)], kernel = k_rbf(0.5), cost = 3, standardize = FALSE, tol = 1e-8)
  doubled <- svm(d$x, d$y, kernel = k_rbf(0.5), cost = 3, standardize = FALSE, tol = 1e-8, weights = replace(rep(1, 60), 7, 2))
  expect_equal(predict(twice, d$new, "link"), predict(doubled, d$new, "link"), tolerance = 1e-6)
  raised <- svm(d$x, d$y, kernel = k_rbf(0.5) + k_bias(7), cost = 3, standardize = FALSE, tol = 1e-8)
  expect_equal(predict(raised, d$new, "link"), base, tolerance = 1e-6)
  larger <- svm(d$x, d$y, kernel = k_se(1, variance = 4), cost = 0.75, standardize = FALSE, tol = 1e-8)
  expect_equal(predict(larger, d$new, "link"), base, tolerance = 1e-6)
  expect_equal(larger$objective * 4, fit$objective, tolerance = 1e-8)
  without <- svm(d$x, d$y, kernel = k_rbf(0.5), cost = 3, standardize = FALSE, tol = 1e-8, weights = replace(rep(1, 60), 5, 0))
  dropped <- svm(d$x[-5, ], d$y[-5], kernel = k_rbf(0.5), cost = 3, standardize = FALSE, tol = 1e-8)
  expect_equal(predict(without, d$new, "link"), predict(dropped, d$new, "link"), tolerance = 1e-7)
  expect_false(5 %in% without$index)
  expect_length(predict(without), 59)
})

test_that("columns in other units do not matter when they are scaled, at 1e-8 and 1e8", {
  d <- svm_example(60)
  fit <- svm(d$x, d$y, tol = 1e-6)
  line <- svm(d$x, d$target, tol = 1e-6)
  for (unit in c(1e-8, 1e8)) {
    expect_equal(predict(svm(d$x * unit, d$y, tol = 1e-6), d$new * unit, "link"), predict(fit, d$new, "link"), tolerance = 1e-5)
    expect_equal(predict(svm(d$x * unit, d$target * unit, tol = 1e-6), d$new * unit) / unit, predict(line, d$new), tolerance = 1e-5)
  }
  range <- svm(d$x, d$y, standardize = "range")
  expect_equal(range(range$scaling$factor * (apply(d$x, 2, max) - range$scaling$centre)), c(1, 1))
})

test_that("matrix, data frame, formula, sparse matrix and kernel matrix give the same machine", {
  d <- svm_example(80)
  fit <- svm(d$x, d$y, tol = 1e-7, standardize = FALSE)
  value <- predict(fit, d$new, "link")
  frame <- data.frame(d$x, y = d$y)
  expect_equal(predict(svm(data.frame(d$x), d$y, tol = 1e-7, standardize = FALSE), data.frame(d$new), "link"), value, tolerance = 1e-6)
  by_formula <- svm(y ~ ., frame, tol = 1e-7, standardize = FALSE)
  expect_equal(unname(predict(by_formula, data.frame(d$new), "link")), unname(value), tolerance = 1e-6)
  sparse <- svm(Matrix::Matrix(d$x, sparse = TRUE), d$y, tol = 1e-7)
  expect_equal(predict(sparse, Matrix::Matrix(d$new, sparse = TRUE), "link"), value, tolerance = 1e-6)
  expect_equal(predict(sparse, d$new, "link"), value, tolerance = 1e-6)
  gram <- kernel_matrix(k_rbf(1 / 3), d$x)
  given <- svm(gram, d$y, kernel = "precomputed", tol = 1e-7)
  expect_equal(unname(predict(given, kernel_matrix(k_rbf(1 / 3), d$new, d$x), "link")), unname(value), tolerance = 1e-6)
  by_function <- svm(d$x, d$y, kernel = function(x, z, p) exp(-outer(rowSums(x^2), rowSums(z^2), "+") / 3 + 2 * tcrossprod(x, z) / 3), tol = 1e-7,
                     standardize = FALSE)
  expect_equal(predict(by_function, d$new, "link"), value, tolerance = 1e-6)
  novelty <- svm(~ a + b, data.frame(d$x), nu = 0.2)
  expect_equal(sum(!predict(novelty, data.frame(d$x))), 16, tolerance = 0.2)
})

test_that("nu is an upper bound of the rows outside and a lower bound of the support vectors", {
  d <- svm_example(200, 7)
  for (nu in c(0.1, 0.3)) {
    novelty <- svm(d$x, nu = nu, tol = 1e-6)
    expect_lte(mean(predict(novelty, type = "link") < -1e-5), nu + 1e-9)
    expect_gte(length(novelty$index) / 200, nu - 1e-9)
    classes <- svm(d$x, d$y, "nu_classification", nu = nu, tol = 1e-6)
    margin <- ifelse(d$y == "yes", 1, -1) * predict(classes, type = "link")
    expect_lte(mean(margin < 1 - 2e-6 / classes$margin), nu + 1e-9)  # tol is in units before the division by the margin
    expect_gte(length(classes$index) / 200, nu - 1e-9)
    line <- svm(d$x, d$target, "nu_regression", nu = nu, tol = 1e-6)
    outside <- abs(residuals(line)) > line$epsilon + 1e-4
    expect_lte(mean(outside), nu + 1e-9)
    expect_gte(length(line$index) / 200, nu - 1e-9)
  }
  # nu regression is regression with the tube it found
  same <- svm(d$x, d$target, epsilon = line$epsilon[[1]] / sd(d$target), tol = 1e-6)
  expect_equal(predict(same, d$new), predict(line, d$new), tolerance = 1e-4)
})

test_that("several classes: pairs, one against the rest, class weights, the same on two threads", {
  fit <- svm(Species ~ ., iris, threads = 1)
  expect_identical(colnames(fit$coefficients), c("versicolor/setosa", "virginica/setosa", "virginica/versicolor"))
  expect_gt(mean(predict(fit) == iris$Species), 0.96)
  two <- svm(Species ~ ., iris, threads = 2)
  expect_identical(fit$coefficients, two$coefficients)
  expect_identical(predict(fit, iris, threads = 1, type = "link"), predict(two, iris, threads = 2, type = "link"))
  rest <- svm(Species ~ ., iris, multiclass = "one_vs_rest")
  expect_identical(colnames(rest$coefficients), levels(iris$Species))
  expect_gt(mean(predict(rest) == iris$Species), 0.95)
  pair <- iris[51:150, ]
  machine <- svm(Species ~ ., droplevels(pair), standardize = FALSE, gamma = 0.25)
  whole <- svm(Species ~ ., iris, standardize = FALSE, gamma = 0.25)
  expect_equal(whole$objective[["virginica/versicolor"]], machine$objective[[1]], tolerance = 1e-9)
  expect_identical(svm(Species ~ ., pair)$levels, c("versicolor", "virginica"))  # unused level dropped
  heavy <- svm(Species ~ Petal.Width, pair, class_weights = c(virginica = 20))
  expect_gt(sum(predict(heavy) == "virginica"), sum(predict(svm(Species ~ Petal.Width, pair)) == "virginica"))
  balanced <- svm(Species ~ ., iris[c(51:100, 101:110), ], class_weights = "balanced", standardize = FALSE)
  by_hand <- svm(Species ~ ., iris[c(51:100, 101:110), ], class_weights = c(versicolor = 0.6, virginica = 3), standardize = FALSE)
  expect_equal(balanced$objective, by_hand$objective)
})

test_that("a warm start reaches the same optimum in fewer steps", {
  d <- svm_example(150, 9)
  for (type in c("classification", "nu_classification")) {
    first <- svm(d$x, d$y, type, cost = 5, nu = 0.3, tol = 1e-5)
    second <- svm(d$x, d$y, type, cost = 6, nu = 0.32, tol = 1e-5, start = first)
    cold <- svm(d$x, d$y, type, cost = 6, nu = 0.32, tol = 1e-5)
    expect_equal(second$objective, cold$objective, tolerance = if (type == "classification") 1e-6 else 1e-3)
    expect_lt(second$n_iter, cold$n_iter)
  }
  for (type in c("regression", "nu_regression")) {
    first <- svm(d$x, d$target, type, cost = 5, tol = 1e-5)
    second <- svm(d$x, d$target, type, cost = 5.5, tol = 1e-5, start = first)
    expect_equal(second$objective, svm(d$x, d$target, type, cost = 5.5, tol = 1e-5)$objective, tolerance = 1e-6)
  }
  novelty <- svm(d$x, nu = 0.2, tol = 1e-5)
  expect_equal(svm(d$x, nu = 0.1, tol = 1e-5, start = novelty)$objective, svm(d$x, nu = 0.1, tol = 1e-5)$objective, tolerance = 1e-6)
  expect_error(svm(d$x[-1, ], d$y[-1], start = first), "same rows", class = "granary_error_input")
  expect_error(svm(d$x, d$y, start = 3), "`start`", class = "granary_error_input")
})

test_that("kernels that are not positive semidefinite are solved to a stationary point, with a message", {
  d <- svm_example(60)
  expect_message(fit <- svm(d$x, d$y, kernel = "sigmoid", gamma = 1, coef0 = -1), "not positive semidefinite")
  expect_true(fit$convergence$converged)
  expect_true(all(is.finite(fit$coefficients)))
  k <- kernel_matrix(k_rbf(1), d$x)
  expect_no_message(svm(k, d$y, kernel = "precomputed"))
  expect_message(svm(k - 3 * diag(60), d$y, kernel = "precomputed"), "not positive semidefinite")
  expect_no_message(svm(-as.matrix(dist(d$x))^2, d$y, kernel = "precomputed"))  # positive where coefficients sum to zero
})

test_that("linear weights are in the units of the columns", {
  fit <- svm(mpg ~ wt + hp, mtcars, kernel = "linear")
  by_hand <- drop(cbind(1, as.matrix(mtcars[c("wt", "hp")])) %*% coef(fit))
  expect_equal(predict(fit, mtcars), by_hand, tolerance = 1e-10)
  expect_equal(fitted(fit) + residuals(fit), setNames(mtcars$mpg, rownames(mtcars)), tolerance = 1e-6)
  pairs <- svm(Species ~ ., iris, kernel = "linear")
  expect_identical(dim(coef(pairs)), c(5L, 3L))
  expect_equal(unname(cbind(1, as.matrix(iris[1:4])) %*% coef(pairs)), unname(predict(pairs, iris, "link")), tolerance = 1e-9)
  expect_identical(coef(svm(Species ~ ., iris)), svm(Species ~ ., iris)$coefficients)
})

test_that("edges: one row, constant columns, equal rows with both labels, more columns than rows, a class with one row", {
  expect_equal(unname(predict(svm(matrix(2), 5, "regression"))), 5)
  expect_true(is.finite(svm(matrix(c(2, 3), 1), nu = 0.5)$offset))
  d <- svm_example(40)
  expect_message(fit <- svm(cbind(d$x, k = 1), d$y), "1 column does not vary and is left out: k")
  expect_message(svm(cbind(d$x, 1), d$y), "left out: V4\\.")
  expect_equal(predict(fit, cbind(d$new, k = 5), "link"), predict(svm(d$x, d$y), d$new, "link"))
  same <- svm(matrix(1, 6, 2), rep(c("a", "b"), 3), standardize = FALSE)
  expect_true(all(is.finite(same$coefficients)))
  expect_true(same$convergence$converged)
  twins <- rbind(d$x, d$x)
  both <- svm(twins, rep(c("a", "b"), each = 40), cost = 10)
  expect_true(both$convergence$converged && all(is.finite(both$coefficients)))
  wide <- svm(matrix(rnorm(10 * 50), 10), rep(0:1, 5))
  expect_identical(mean(predict(wide) == rep(0:1, 5)), 1)
  rare <- svm(Species ~ ., iris[c(1:50, 51, 101:150), ])
  expect_identical(rare$levels, levels(iris$Species))
  expect_error(svm(Species ~ ., iris[c(1:50, 51, 101:150), ], probability = "platt"), "two rows of each class", class = "granary_error_input")
})

test_that("every misuse has its message", {
  d <- svm_example(30)
  bad <- function(text, ...) expect_error(svm(...), text, class = "granary_error_input")
  bad("two classes, but all labels are \"yes\"", d$x, rep("yes", 30))
  bad("`cost` must be one number greater than 0", d$x, d$y, cost = 0)
  bad("`nu` must be at most", d$x, d$y, "nu_classification", nu = 1)
  bad("`nu`", d$x, nu = 0)
  bad("`epsilon`", d$x, d$target, epsilon = -1)
  bad("infinite", replace(d$x, 3, Inf), d$y)
  bad("missing", replace(d$x, 3, NA), d$y)
  bad("label 2 is NA", d$x, replace(d$y, 2, NA))
  bad("one label per row, 30, but it has 29", d$x, d$y[-1])
  bad("`y` must be given", d$x, type = "classification")
  bad("has no part", d$x, d$y, "one_class")
  bad("symmetric", matrix(1:9, 3), c(1, -1, 1), kernel = "precomputed")
  bad("square", matrix(1:6, 3), c(1, -1, 1), kernel = "precomputed")
  bad("`gamma`", d$x, d$y, gamma = 0)
  bad("`kernel`", d$x, d$y, kernel = "rubbish")
  bad("named by classes", d$x, d$y, class_weights = c(1, 2))
  bad("for classifiers", d$x, d$target, class_weights = c(a = 1))
  bad("for classifiers", d$x, d$target, probability = "platt")
  bad("not all be zero", d$x, d$y, weights = rep(0, 30))
  bad("No column", matrix(1, 30, 2), d$y)
  bad("no argument `csot`", d$x, d$y, csot = 2)
  bad("as many different numbers as rows", d$x, d$target, "classification")
  bad("at most 5000", matrix(rnorm(5001), 5001), rep(0:1, length.out = 5001), wss = "full")
  bad("sparse", Matrix::Matrix(d$x, sparse = TRUE), d$y, kernel = k_powexp())
  fit <- svm(d$x, d$y)
  expect_error(predict(fit, d$new[, 1:2]), "columns of the fit", class = "granary_error_input")
  expect_error(predict(fit, d$new, "prob"), "no probabilities", class = "granary_error_input")
  expect_error(residuals(fit), "regressions", class = "granary_error_input")
  expect_error(plot(fit, "violation"), "trace = TRUE", class = "granary_error_input")
  expect_error(plot(fit, columns = 1), "columns", class = "granary_error_input")
  given <- svm(kernel_matrix(k_rbf(1), d$x), d$y, kernel = "precomputed")
  expect_error(predict(given, d$new), "all 30 rows", class = "granary_error_input")
  expect_error(granary:::svm_qp(diag(3), c(1, 2, 1)), "signs", class = "granary_error_input")
  expect_error(granary:::svm_qp(diag(3), c(1, 1, 1), d = 5), "have the sum", class = "granary_error_input")
})

test_that("svm_qp() keeps the sum, starts where it is told, and traces", {
  d <- svm_example(40)
  k <- kernel_matrix(k_rbf(0.5), d$x)
  one <- granary:::svm_qp(k, rep(1, 40), p = 0, C = 1, d = 8, tol = 1e-8, trace = TRUE)
  expect_equal(sum(one$alpha), 8)
  expect_length(one$trace, one$n_iter)
  novelty <- svm(d$x, kernel = k_rbf(0.5), nu = 0.2, standardize = FALSE, tol = 1e-8)
  expect_equal(one$objective, novelty$objective[[1]], tolerance = 1e-9)
  expect_equal(one$b, novelty$offset[[1]], tolerance = 1e-6)
  again <- granary:::svm_qp(k, rep(1, 40), p = 0, C = 1, d = 8, tol = 1e-8, start = one$alpha)
  expect_lte(again$n_iter, 2)
  expect_equal(one$gradient, unname(drop(k %*% one$alpha)), tolerance = 1e-9)
})

test_that("fits print, summarise, tidy and plot", {
  d <- svm_example(50)
  fit <- svm(d$x[, 1:2], d$y, trace = TRUE, probability = "platt")
  expect_output(print(fit), "50 rows.*2 classes: no, yes.*support vectors.*probabilities: platt.*converged")
  expect_output(print(summary(fit)), "misclassified.*kernel values computed.*machine")
  table <- tidy(fit)
  expect_identical(nrow(table), length(fit$index))
  expect_identical(sum(table$bounded), length(fit$bounded[[1]]))
  expect_identical(glance(fit)$support, length(fit$index) + 0)
  expect_output(print(svm(d$x, d$target, "nu_regression")), "half-width of the tube")
  expect_output(print(summary(svm(d$x, nu = 0.2))), "share of rows outside")
  expect_output(print(summary(svm(d$x, d$target))), "root mean squared residual")
  expect_output(print(granary:::svm_qp(diag(2), c(1, -1))), "svm qp")
  pdf(NULL)
  on.exit(dev.off())
  for (which in c("boundary", "violation", "calibration")) expect_null(plot(fit, which))
  expect_null(plot(svm(Species ~ ., iris), columns = c("Petal.Length", "Petal.Width"), size = 20))
  expect_null(plot(svm(d$x, nu = 0.2), size = 20))
  expect_null(plot(svm(d$x, d$target), columns = c(1, 3), size = 20))
  larger <- update(fit, cost = 50)
  expect_identical(larger$parameters$cost, 50)
})

test_that("the certificate at large cost is true in double precision", {
  set.seed(4)
  x <- matrix(rnorm(400), 200)
  y <- factor(rowSums(x^2) + rnorm(200) > 2)
  for (cost in c(1e4, 2^15)) {
    fit <- suppressWarnings(svm(x, y, cost = cost, gamma = 0.1, standardize = FALSE, max_iter = 5e5))
    k <- exp(-0.1 * as.matrix(dist(x))^2)
    b <- numeric(200)
    b[fit$index] <- fit$coefficients[, 1]
    sign <- ifelse(as.integer(y) == 2, 1, -1)
    f <- drop(k %*% b)
    slope <- sign - f - fit$offset
    gap <- sum(pmax(0, cost * sign * slope) - b * slope)
    expect_equal(unname(fit$gap), gap, tolerance = 1e-5)
    can_grow <- b < pmax(0, cost * sign)
    can_shrink <- b > pmin(0, cost * sign)
    violation <- max((sign - f)[can_grow]) - min((sign - f)[can_shrink])
    expect_equal(unname(fit$violation), violation, tolerance = 1e-5)
    expect_identical(fit$convergence$converged, violation < 1e-3)
  }
  skip_if_not_installed("MASS")
  boston <- scale(as.matrix(MASS::Boston))
  fit <- suppressWarnings(svm(boston[, -14], boston[, 14], type = "regression", cost = 1e4, gamma = 0.01, standardize = FALSE, max_iter = 1e5))
  k <- exp(-0.01 * as.matrix(dist(boston[, -14]))^2)
  b <- numeric(506)
  b[fit$index] <- fit$coefficients[, 1]
  slope <- boston[, 14] - drop(k %*% b) - fit$offset
  gap <- sum(1e4 * pmax(0, abs(slope) - 0.1) - b * slope + 0.1 * abs(b))
  expect_equal(unname(fit$gap), unname(gap), tolerance = 1e-5)
})

test_that("machines of one column are drawn, and a slice says what the others are held at", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_null(plot(svm(dist ~ speed, cars, type = "regression")))
  expect_null(plot(svm(am ~ wt, transform(mtcars, am = factor(am)))))
  fit <- svm(Species ~ ., iris)
  expect_match(granary:::svm_slice(fit, NULL, 5)$held, "Petal.Length")
  expect_output(print(fit), "gamma: 0.25")
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
  expect_s3_class(ggplot2::autoplot(svm(dist ~ speed, cars, type = "regression")), "ggplot")
})

test_that("classes given to a regression are sent to the classifier", {
  expect_error(svm(iris[1:4], iris$Species, type = "regression"), "For classes use type = \"classification\"", class = "granary_error_input")
  expect_error(svm(iris[1:4], iris$Species, type = "nu_regression"), "nu_classification", class = "granary_error_input")
})
