tiny_x <- rbind(c(2, 0), c(1.5, .5), c(0, 2), c(.5, 1), c(-1, -1), c(.6, .4))
tiny_y <- factor(c(1, 1, 2, 2, 3, 3))
tiny_costs <- matrix(c(0, 1, 2, 1, 0, 2, 2, 2, 0), 3)
tiny <- function(...) output_multiclass(tiny_x, tiny_y, ..., intercept = FALSE)

# A two-state chain that emits symbols.
sim_chain <- function(n, length = 15, stay = 0.85, labels = c("a", "b")) {
  y <- lapply(seq_len(n), function(i) labels[1 + (cumsum(runif(length) > stay) + rbinom(1, 1, 0.5)) %% 2])
  x <- lapply(y, function(v) ifelse(v == labels[1], sample(1:6, length, TRUE), sample(4:9, length, TRUE)))
  list(x = lapply(x, as.character), y = y)
}

test_that("the exact optima of the tiny problem are found", {
  for (how in c("block", "full")) {
    fit <- structured_svm(tiny(), cost = 3, penalty = "linear", rescale = "none", tol = 1e-7, optimize = how)
    expect_equal(fit$primal, 1.6575, tolerance = 1e-6)
    expect_equal(unname(coef(fit)), rbind(c(.45, -.25, -.20), c(-.20, .50, -.30)), tolerance = 1e-5)
    fit <- structured_svm(tiny(loss = tiny_costs), cost = 3, penalty = "linear", rescale = "slack", tol = 1e-7, optimize = how)
    expect_equal(fit$primal, 2.44041667, tolerance = 1e-6)
    expect_equal(fit$slacks, c(0, .35, 0, .675, 0, 3.07), tolerance = 1e-5)
    expect_lte(fit$convergence$gap, 3e-7)
  }
})

test_that("every formulation agrees with a quadratic program over all constraints", {
  skip_if_not_installed("quadprog")
  solve_qp <- getExportedValue("quadprog", "solve.QP")
  n <- 6
  cost <- 2
  dpsi <- function(i, k) {
    v <- matrix(0, 2, 3)
    v[, as.integer(tiny_y)[i]] <- tiny_x[i, ]
    v[, k] <- v[, k] - tiny_x[i, ]
    as.double(v)
  }
  for (penalty in c("linear", "squared")) {
    for (rescale in c("none", "margin", "slack")) {
      rows <- NULL
      bound <- NULL
      for (i in 1:n) {
        for (k in setdiff(1:3, as.integer(tiny_y)[i])) {
          d <- tiny_costs[as.integer(tiny_y)[i], k]
          if (penalty == "squared") d <- sqrt(d)
          scale <- if (rescale == "slack") d else 1  # <w, d dPsi> + xi >= d
          e <- numeric(n)
          e[i] <- 1
          rows <- rbind(rows, c(scale * dpsi(i, k), e))
          bound <- c(bound, if (rescale == "none") 1 else d)
        }
      }
      if (penalty == "linear") {
        rows <- rbind(rows, cbind(matrix(0, n, 6), diag(n)))
        bound <- c(bound, rep(0, n))
      }
      curvature <- diag(c(rep(1, 6), rep(if (penalty == "squared") cost / n else 1e-9, n)))
      linear <- c(rep(0, 6), rep(if (penalty == "linear") -cost / n else 0, n))
      w <- solve_qp(curvature, linear, t(rows), bound)$solution
      fit <- structured_svm(tiny(loss = tiny_costs), cost = cost, penalty = penalty, rescale = rescale, tol = 1e-8)
      expect_equal(as.double(coef(fit)), w[1:6], tolerance = 1e-4)
      expect_equal(fit$slacks, pmax(w[-(1:6)], 0), tolerance = 1e-4)
    }
  }
})

test_that("units of the loss: Proposition 3 for slack rescaling, not for margin rescaling", {
  change <- function(rescale) {
    one <- structured_svm(tiny(loss = tiny_costs), cost = 3, penalty = "linear", rescale = rescale, tol = 1e-7)
    five <- structured_svm(tiny(loss = 5 * tiny_costs), cost = 3 / 5, penalty = "linear", rescale = rescale, tol = 1e-7)
    max(abs(one$weights - five$weights))
  }
  expect_lt(change("slack"), 1e-6)
  expect_gt(change("margin"), 0.1)
})

test_that("two classes are a binary machine without intercept, and class weights sum to zero", {
  skip_if_not_installed("kernlab")
  set.seed(1)
  x <- matrix(rnorm(80), 40)
  y <- factor(ifelse(x[, 1] + rnorm(40) > 0, "p", "q"))
  fit <- structured_svm(output_multiclass(x, y, intercept = FALSE), cost = 20, penalty = "linear", rescale = "none", tol = 1e-7)
  v <- coef(fit)
  expect_equal(unname(rowSums(v)), c(0, 0), tolerance = 1e-6)
  # the dual of the binary machine without intercept, C_bin = 2 C / n, by projected ascent
  s <- ifelse(y == "p", 1, -1)
  q <- tcrossprod(s * x)
  a <- numeric(40)
  for (step in 1:4000) for (i in 1:40) a[i] <- min(1, max(0, a[i] + (1 - sum(q[i, ] * a)) / q[i, i]))
  expect_equal(unname(v[, "p"] - v[, "q"]), colSums(a * s * x), tolerance = 1e-4)
})

test_that("iris agrees with the Crammer-Singer machine of kernlab", {
  skip_if_not_installed("kernlab")
  x <- scale(as.matrix(iris[, 1:4]))
  ksvm <- getExportedValue("kernlab", "ksvm")
  cost <- 2
  peer <- suppressWarnings(ksvm(x, iris$Species, type = "spoc-svc", kernel = "vanilladot", kpar = list(), C = cost, scaled = FALSE, tol = 1e-6))
  fit <- structured_svm(output_multiclass(x, iris$Species, intercept = FALSE), cost = cost * 150, penalty = "linear", rescale = "none", tol = 1e-4)
  objective <- function(v) {
    scores <- x %*% v
    right <- scores[cbind(1:150, as.integer(iris$Species))]
    scores[cbind(1:150, as.integer(iris$Species))] <- -Inf
    sum(v^2) / 2 + cost * sum(pmax(0, 1 + apply(scores, 1, max) - right))
  }
  expect_equal(objective(coef(fit)), fit$primal, tolerance = 1e-8)
  expect_lt(mean(predict(fit) != getExportedValue("kernlab", "predict")(peer, x)), 0.03)
})

test_that("a chain of length one is a multiclass problem", {
  x <- scale(as.matrix(iris[1:120, 1:4]))
  y <- droplevels(iris$Species[1:120])
  chain <- output_chain(lapply(1:120, function(i) x[i, , drop = FALSE]), lapply(y, identity))
  one <- structured_svm(chain, cost = 10, tol = 1e-6)
  two <- structured_svm(output_multiclass(x, y), cost = 10, tol = 1e-6)
  expect_equal(one$primal, two$primal, tolerance = 1e-6)
  expect_equal(coef(one)$emission, coef(two), tolerance = 1e-4, ignore_attr = TRUE)
  expect_equal(structured_baseline(chain, "crf", cost = 10)$objective, structured_baseline(output_multiclass(x, y), "crf", cost = 10)$objective)
})

test_that("taxonomies: without inner nodes as flat, features and losses of nodes by definition", {
  kinds <- c("1" = "left", "2" = "left", "3" = "right", left = "root", right = "root")
  tree <- tiny(loss = "tree", taxonomy = kinds)
  expect_equal(tree$core$loss, rbind(c(0, 1, 2), c(1, 0, 2), c(2, 2, 0)), ignore_attr = TRUE)
  expect_identical(colnames(tree$core$class_features), c("1", "2", "3", "left", "right", "root"))
  expect_equal(tree$core$class_features["1", ], c(1, 0, 0, 1, 0, 1), ignore_attr = TRUE)
  flat <- structured_svm(tiny(), tol = 1e-6)
  alone <- structured_svm(tiny(taxonomy = c("1" = "root", "2" = "root", "3" = "root")), tol = 1e-6)
  expect_equal(alone$primal, flat$primal, tolerance = 1e-5)
  expect_equal(coef(alone)[, 1:3], coef(flat), tolerance = 1e-4, ignore_attr = TRUE)
  # Lambda with the identity appended: another optimum, the same kind of predictions (Corollary 23)
  wide <- structured_svm(tiny(class_features = cbind(diag(3), c(1, 1, 0))), tol = 1e-6)
  expect_gt(abs(wide$primal - flat$primal), 1e-3)
  expect_equal(predict(wide, tiny_x, type = "score"), tiny_x %*% coef(wide) %*% t(cbind(diag(3), c(1, 1, 0))), ignore_attr = TRUE)
  weighted <- tiny(taxonomy = kinds, node_weights = c(left = 3))
  expect_equal(weighted$core$class_features[, "left"], c(3, 3, 0), ignore_attr = TRUE)
  edges <- data.frame(child = names(kinds), parent = unname(kinds))
  expect_equal(tiny(taxonomy = edges)$core$class_features, tree$core$class_features)
  similarity <- tcrossprod(tree$core$class_features)
  expect_equal(structured_svm(tiny(class_kernel = similarity), tol = 1e-6)$primal, structured_svm(tiny(taxonomy = kinds), tol = 1e-6)$primal,
               tolerance = 1e-5)
})

test_that("the kernel version with a linear kernel is the linear version, also in prediction", {
  x <- scale(as.matrix(iris[, 1:4]))
  new <- x[c(3, 70, 120), ] + 0.1
  kinds <- c(setosa = "small", versicolor = "large", virginica = "large")
  for (tree in list(NULL, kinds)) {
    plain <- structured_svm(output_multiclass(x, iris$Species, taxonomy = tree), cost = 50, tol = 1e-4)
    kernel <- structured_svm(output_multiclass(x, iris$Species, taxonomy = tree, kernel = "linear"), cost = 50, tol = 1e-4)
    expect_equal(kernel$primal, plain$primal, tolerance = 1e-4)
    expect_equal(predict(kernel, new, type = "score"), predict(plain, new, type = "score"), tolerance = 0.01)
    expect_identical(predict(kernel, new), predict(plain, new))
    expect_identical(predict(kernel), predict(kernel, x))
  }
  ring <- cbind(rnorm(60), rnorm(60))
  y <- ifelse(rowSums(ring^2) > 1, "out", "in")
  curved <- structured_svm(output_multiclass(ring, y, kernel = k_rbf(1)), cost = 1000)
  expect_lt(mean(predict(curved) != y), 0.05)
  set.seed(3)
  data <- sim_chain(12)
  a <- structured_svm(output_chain(data$x, data$y), cost = 5, tol = 1e-3)
  b <- structured_svm(output_chain(data$x, data$y, kernel = "linear"), cost = 5, tol = 1e-3)
  expect_equal(a$primal, b$primal, tolerance = 1e-2)
  expect_equal(coef(a)$transition, coef(b)$transition, tolerance = 0.05)
  expect_equal(predict(a, data$x[1:3], type = "score"), predict(b, data$x[1:3], type = "score"), tolerance = 0.01)
})

test_that("sequences are learnt from every form of input, and transitions help", {
  for (seed in 1:3) {
    set.seed(seed)
    train <- sim_chain(60)
    test <- sim_chain(60)
    error <- function(fit) mean(unlist(lapply(predict(fit, test$x), as.character)) != unlist(test$y))
    both <- structured_svm(output_chain(train$x, train$y), cost = 100)
    alone <- structured_svm(output_chain(train$x, train$y, transition_scale = 0), cost = 100)
    expect_lt(error(both), error(alone))
    expect_lt(error(both), 0.2)
  }
  long <- list(x = unlist(train$x), y = unlist(train$y), group = rep(seq_along(train$x), each = 15))
  grouped <- structured_svm(output_chain(long$x, long$y, group = long$group), cost = 100)
  expect_equal(grouped$weights, both$weights)
  frame <- structured_svm(output_chain(data.frame(symbol = long$x), long$y, group = long$group), cost = 100)
  expect_equal(frame$weights, both$weights)
  indicator <- lapply(train$x, function(v) outer(v, sort(unique(long$x)), "==") * 1)
  expect_equal(structured_svm(output_chain(indicator, train$y), cost = 100)$weights, both$weights, tolerance = 1e-6)
  sparse <- lapply(indicator, function(m) Matrix::Matrix(m, sparse = TRUE))
  expect_equal(structured_svm(output_chain(sparse, train$y), cost = 100)$weights, both$weights, tolerance = 1e-6)
  shuffled <- sample(length(long$x))
  shuffled <- shuffled[order(order(long$group[shuffled]) * 0 + shuffled)]  # any order of groups, positions in order
  expect_equal(structured_svm(output_chain(long$x[shuffled], long$y[shuffled], group = long$group[shuffled]), cost = 100)$weights, both$weights)
})

test_that("windows, second order and transitions by input put their features where they belong", {
  x <- list(c("u", "v", "u"), c("v", "v"))
  y <- list(c("a", "b", "b"), c("b", "a"))
  problem <- output_chain(x, y, window = 1, intercept = FALSE)
  expect_identical(problem$features, c("u[-1]", "v[-1]", "u", "v", "u[+1]", "v[+1]"))
  expect_equal(as.matrix(problem$core$x), rbind(c(0, 0, 1, 0, 0, 1), c(1, 0, 0, 1, 1, 0), c(0, 1, 1, 0, 0, 0), c(0, 0, 0, 1, 0, 1),
                                                c(0, 1, 0, 1, 0, 0)), ignore_attr = TRUE)
  dense <- output_chain(list(cbind(1:3), cbind(4:5)), y, window = 1)
  expect_equal(dense$core$x, cbind(1, c(0, 1, 2, 0, 4), 1:5, c(2, 3, 0, 5, 0)), ignore_attr = TRUE)
  fit <- structured_svm(output_chain(x, y, order = 2, input_transitions = TRUE, start = TRUE))
  expect_identical(lapply(coef(fit), dim), list(emission = c(3L, 2L), transition = c(2L, 2L), triple = c(2L, 2L, 2L),
                                                input_transition = c(3L, 2L, 2L), start = NULL))
  expect_length(fit$weights, 6 + 4 + 8 + 12 + 2)
  # a rule that only triples can express: every label repeats the one before the last
  set.seed(1)
  make <- function(n) lapply(seq_len(n), function(i) rep_len(sample(c("a", "b"), 2, TRUE), 12))
  z <- make(40)
  noisy <- lapply(z, function(v) ifelse(seq_along(v) < 3 | runif(12) < 0.4, v, "?"))
  one <- structured_svm(output_chain(noisy, z, input_transitions = FALSE), cost = 100)
  two <- structured_svm(output_chain(noisy, z, order = 2), cost = 100)
  expect_lt(two$risk, 0.05)
  expect_gt(one$risk, 0.5)
})

test_that("threads and repetition do not change the answer", {
  set.seed(2)
  data <- sim_chain(10, length = 40)
  problem <- output_chain(data$x, data$y, order = 2)
  for (rescale in c("margin", "slack")) {
    one <- structured_svm(problem, rescale = rescale, threads = 1)
    two <- structured_svm(problem, rescale = rescale, threads = 2)
    expect_identical(one$weights, two$weights)
  }
  expect_identical(structured_baseline(problem, "crf", threads = 1)$weights, structured_baseline(problem, "crf", threads = 2)$weights)
  set.seed(1)
  first <- structured_baseline(problem, "perceptron")
  set.seed(1)
  expect_identical(structured_baseline(problem, "perceptron")$weights, first$weights)
})

test_that("fits say what they are", {
  set.seed(1)
  data <- sim_chain(10)
  fit <- structured_svm(output_chain(data$x, data$y), cost = 5, optimize = "full")
  expect_output(print(fit), "SVM2 with margin rescaling, cost 5.*converged")
  expect_output(print(summary(fit)), "Gap promised by theory")
  expect_output(print(fit$problem), "sequences:.*10, of length 15")
  expect_output(print(output_chain(data$x, data$y, order = 2, start = TRUE)), "triples of labels, first label")
  expect_output(print(tiny()), "classes: *3 \\(1, 2, 3\\)")
  expect_gte(fit$risk_bound, fit$risk)
  expect_identical(nrow(fit$history), as.integer(fit$cuts_added))
  expect_true(all(fit$history$gain >= structured_bounds(fit)$gain))
  expect_lte(fit$cuts_added, structured_bounds(fit)$cuts)
  expect_true(all(diff(fit$trace$dual) > -1e-9))
  expect_equal(sum(fit$active$alpha > 0), fit$support)
  # w is the sum of alpha dPsi: the transitions by counting
  w <- matrix(0, 2, 2, dimnames = list(c("a", "b"), c("a", "b")))
  count <- function(y) unclass(table(factor(head(y, -1), c("a", "b")), factor(tail(y, -1), c("a", "b"))))
  for (k in seq_along(fit$active$alpha)) {
    w <- w + fit$active$alpha[k] * (count(data$y[[fit$active$example[k]]]) - count(as.character(fit$active$output[[k]])))
  }
  expect_equal(coef(fit)$transition, w, ignore_attr = TRUE)
  expect_identical(nrow(tidy(fit)), length(fit$weights))
  expect_named(glance(fit), c("primal", "dual", "gap", "risk", "risk_bound", "cuts", "support", "sweeps", "converged", "seconds"))
  pdf(NULL)
  on.exit(dev.off())
  expect_invisible(plot(fit))
  expect_invisible(plot(fit, type = "weights"))
  expect_invisible(plot(structured_baseline(fit$problem, "perceptron")))
  expect_warning(structured_svm(output_chain(data$x, data$y), max_iter = 1), "NOT converged", class = "granary_warning_convergence")
})

test_that("custom outputs do what the ready ones do", {
  argmax <- function(w, x, y, mode, root) {
    scores <- drop(t(matrix(w, 2)) %*% x)
    if (mode == "predict") return(which.max(scores))
    cost <- tiny_costs[y, ]
    if (root) cost <- sqrt(cost)
    h <- switch(mode, wrong = scores, margin = cost + scores, slack = cost * (1 + scores - scores[y]))
    h[y] <- -Inf
    which.max(h)
  }
  psi <- function(x, y) as.double(outer(x, 1:3 == y))
  x <- lapply(1:6, function(i) tiny_x[i, ])
  y <- as.list(as.integer(tiny_y))
  searched <- output_custom(x, y, psi, function(y, y2) tiny_costs[y, y2], argmax)
  listed <- output_custom(x, y, psi, function(y, y2) tiny_costs[y, y2], candidates = function(x) list(1L, 2L, 3L))
  for (penalty in c("linear", "squared")) {
    for (rescale in c("none", "margin", "slack")) {
      ready <- structured_svm(tiny(loss = tiny_costs), cost = 3, penalty = penalty, rescale = rescale, tol = 1e-4)
      for (problem in list(searched, listed)) {
        fit <- structured_svm(problem, cost = 3, penalty = penalty, rescale = rescale, tol = 1e-4)
        expect_equal(fit$weights, as.double(coef(ready)), tolerance = 1e-3)
        expect_false(fit$heuristic)
      }
    }
  }
  expect_identical(unlist(predict(fit)), as.integer(predict(ready)))
  expect_identical(unlist(predict(fit, x[2:3])), as.integer(predict(ready, tiny_x[2:3, ])))
  lazy <- output_custom(x, y, psi, function(y, y2) tiny_costs[y, y2], function(w, x, y, mode) sample(3L, 1L), exact = FALSE)
  set.seed(1)
  fit <- suppressWarnings(structured_svm(lazy))
  expect_true(fit$heuristic)
  expect_output(print(fit), "no certificate")
  fickle <- output_custom(x, y, psi, function(y, y2) tiny_costs[y, y2], function(w, x, y, mode) sample(3L, 1L))
  expect_true(suppressWarnings(structured_svm(fickle))$heuristic)  # found out
  expect_equal(structured_bounds(fit, radius = 3, largest_loss = 2)$cuts, (1 * 2 * 9 + 6 * 2) / 0.01)
  expect_error(structured_bounds(fit), "`radius`", class = "granary_error_input")
  expect_error(output_custom(x, y, psi, function(y, y2) -1, argmax), "`loss`", class = "granary_error_input")
  expect_error(output_custom(x, y, psi, function(y, y2) 1, argmax), "`loss` must be 0", class = "granary_error_input")
  expect_error(output_custom(x, y, function(x, y) "a", function(y, y2) 0, argmax), "`psi`", class = "granary_error_input")
  expect_error(output_custom(x, y, function(x, y) stop("no"), function(y, y2) 0, argmax), "`psi` failed: no", class = "granary_error_input")
  expect_error(output_custom(x, y, psi, function(y, y2) 0), "either `argmax`", class = "granary_error_input")
  expect_error(output_custom(x, y[-1], psi, function(y, y2) 0, argmax), "`y`", class = "granary_error_input")
  broken <- output_custom(x, y, psi, function(y, y2) tiny_costs[y, y2], function(w, x, y, mode) stop("lost"))
  expect_error(structured_svm(broken), "`argmax` failed: lost", class = "granary_error_input")
  growing <- output_custom(x, y, function(x, y) rep(1, if (y == 1) 2 else 3), function(y, y2) tiny_costs[y, y2], argmax)
  expect_error(structured_svm(growing), "as many features", class = "granary_error_input")
})

test_that("a search by functions gets its arguments by name, and names of features stay with the features", {
  psi <- function(x, y) c(slope = x * y, level = y, none = 0)
  right <- list(-1, -1, 1, 1)
  wrong <- function(y, y2) as.double(y != y2)
  search <- function(w, x, mode, y) {
    scores <- w[["slope"]] * c(-x, x) + w[["level"]] * c(-1, 1)
    if (mode != "predict") scores[c(-1, 1) == y] <- -Inf  # zero-one loss: the best wrong output, whatever the mode
    c(-1, 1)[which.max(scores)]
  }
  search_named <- function(mode, y, x, w) search(stats::setNames(w, c("slope", "level", "none")), x, mode, y)
  by_position <- function(weights, input, truth, what) search_named(what, truth, input, weights)
  listed <- structured_svm(output_custom(c(1, 2, 4, 5), right, psi, wrong, candidates = function(x) list(-1, 1)), cost = 10, tol = 1e-4)
  for (argmax in list(search_named, by_position)) {
    fit <- structured_svm(output_custom(c(1, 2, 4, 5), right, psi, wrong, argmax), cost = 10, tol = 1e-4)
    expect_equal(fit$weights, listed$weights, tolerance = 1e-3)
  }
  expect_identical(predict(listed), right)
  expect_named(coef(listed), c("slope", "level", "none"))
})

test_that("sequences in one table are predicted in the order of its rows", {
  set.seed(3)
  data <- sim_chain(12, length = 6)
  table <- data.frame(face = unlist(data$x))
  id <- rep(letters[12:1], each = 6)
  mixed <- order(rep(1:6, 12), id)  # sequences interleaved, in another order of names
  fit <- structured_svm(output_chain(table, unlist(data$y), group = id), cost = 10)
  apart <- predict(fit, lapply(data$x, function(v) data.frame(face = v)))
  together <- predict(fit, table[mixed, , drop = FALSE], group = id[mixed])
  expect_identical(as.character(together), unlist(lapply(apart, as.character))[mixed])
  marginal <- do.call(rbind, predict(fit, lapply(data$x, function(v) data.frame(face = v)), type = "marginal"))
  expect_equal(predict(fit, table[mixed, , drop = FALSE], type = "marginal", group = id[mixed]), marginal[mixed, ])
  expect_named(predict(fit, table, type = "score", group = id), unique(id))
  expect_error(predict(fit, table, group = 1:3), "`group`", class = "granary_error_input")
  expect_error(predict(fit, group = id), "`group` goes with `newdata`", class = "granary_error_input")
  expect_error(predict(structured_svm(tiny()), tiny_x, group = 1:6), "`group` goes with", class = "granary_error_input")
})

test_that("hard margins are found where there are any", {
  apart <- tiny_y != 3 | tiny_x[, 1] < 0
  fit <- structured_svm(output_multiclass(tiny_x[apart, ], tiny_y[apart], intercept = FALSE), penalty = "hard", tol = 1e-5)
  scores <- tiny_x[apart, ] %*% coef(fit)
  at <- cbind(seq_len(sum(apart)), as.integer(tiny_y[apart]))
  right <- scores[at]
  scores[at] <- -Inf
  expect_gt(min(right - apply(scores, 1, max)), 1 - 1e-4)
  expect_true(is.na(fit$risk_bound))
  expect_error(structured_svm(tiny(), penalty = "hard"), "cannot be separated", class = "granary_error_input")
  expect_error(structured_svm(tiny(), penalty = "hard", rescale = "slack"), "`rescale`", class = "granary_error_input")
  expect_error(structured_svm(output_multiclass(rbind(c(1, 1), c(1, 1)), c("a", "b")), penalty = "hard"), "cannot be separated",
               class = "granary_error_input")
})

test_that("costs of zero between classes are dropped under slack rescaling", {
  loss <- tiny_costs
  loss[1, 2] <- loss[2, 1] <- 0
  fit <- structured_svm(tiny(loss = loss), cost = 3, penalty = "linear", rescale = "slack", tol = 1e-5)
  expect_true(fit$convergence$converged)
  expect_true(all(fit$active$loss > 0))
})

test_that("what is wrong with the input is said", {
  expect_error(structured_svm(1), "`problem` must be made by", class = "granary_error_input")
  expect_error(structured_svm(), "`problem` must be given", class = "granary_error_input")
  expect_error(structured_svm(tiny(), cost = 0), "`cost`", class = "granary_error_input")
  expect_error(structured_svm(tiny(), tol = 0), "`tol`", class = "granary_error_input")
  expect_error(output_multiclass(tiny_x, rep(1, 6)), "two classes", class = "granary_error_input")
  expect_error(output_multiclass(tiny_x, tiny_y[-1]), "`y`", class = "granary_error_input")
  expect_error(output_multiclass(replace(tiny_x, 2, NA), tiny_y), "`x`", class = "granary_error_input")
  expect_error(tiny(loss = tiny_costs[1:2, 1:2]), "`loss`", class = "granary_error_input")
  expect_error(tiny(loss = tiny_costs + 1), "diagonal", class = "granary_error_input")
  expect_error(tiny(loss = -tiny_costs), "negative", class = "granary_error_input")
  expect_error(tiny(loss = 0 * tiny_costs), "positive cost", class = "granary_error_input")
  expect_error(tiny(loss = "tree"), "taxonomy", class = "granary_error_input")
  expect_error(tiny(taxonomy = c(a = "b", b = "a")), "circle", class = "granary_error_input")
  expect_error(tiny(taxonomy = 1), "`taxonomy`", class = "granary_error_input")
  expect_error(tiny(taxonomy = c("1" = "r"), class_features = diag(3)), "Only one of", class = "granary_error_input")
  expect_error(tiny(node_weights = 1), "`node_weights`", class = "granary_error_input")
  expect_error(tiny(class_features = diag(2)), "`class_features`", class = "granary_error_input")
  expect_error(tiny(class_kernel = diag(c(1, 1, -1))), "semi-definite", class = "granary_error_input")
  expect_error(predict(structured_svm(tiny()), tiny_x[, 1, drop = FALSE]), "columns", class = "granary_error_input")
  expect_error(predict(structured_svm(tiny()), type = "marginal"), "label sequences", class = "granary_error_input")
  x <- list(c("u", "v"), "u")
  y <- list(c("a", "b"), "a")
  expect_error(output_chain(x, y[1]), "one element per sequence", class = "granary_error_input")
  expect_error(output_chain(x, list("a", "b")), "as many as positions", class = "granary_error_input")
  expect_error(output_chain(list(character(), "u"), y), "has none", class = "granary_error_input")
  expect_error(output_chain(list(), list()), "at least one sequence", class = "granary_error_input")
  expect_error(output_chain(list("u", 1), y), "one kind", class = "granary_error_input")
  expect_error(output_chain(list(c("u", NA), "u"), y), "missing", class = "granary_error_input")
  expect_error(output_chain(x, list(c("a", NA), "a")), "missing", class = "granary_error_input")
  expect_error(output_chain(x, list(c("a", "a"), "a")), "two labels", class = "granary_error_input")
  expect_error(output_chain(x, list(factor(c("a", "b")), factor("a"))), "same levels", class = "granary_error_input")
  expect_error(output_chain(list(diag(2), matrix(1, 1, 3)), y), "same features", class = "granary_error_input")
  expect_error(output_chain(c("u", "v", "u"), c("a", "b", "a"), group = 1:2), "`group`", class = "granary_error_input")
  expect_error(output_chain(x, y, kernel = "linear", input_transitions = TRUE), "cannot be combined", class = "granary_error_input")
  fit <- structured_svm(output_chain(x, y))
  expect_warning(predict(fit, list(c("u", "w"))), "not there in training", class = "granary_warning_input")
  expect_error(predict(fit, list(1:2)), "`newdata`", class = "granary_error_input")
  expect_error(predict(fit, "u"), "`newdata`", class = "granary_error_input")
  expect_error(structured_baseline(output_custom(list(1), list(1), function(x, y) 1, function(y, y2) 0, candidates = function(x) 1), "crf"), "output_chain",
               class = "granary_error_input")
})

test_that("small and odd problems work", {
  one <- structured_svm(output_multiclass(matrix(1, 1, 1), factor("a", c("a", "b")), loss = 1 - diag(2)))
  expect_identical(as.character(predict(one)), "a")
  wide <- structured_svm(output_multiclass(matrix(rnorm(4 * 50), 4), c("a", "b", "a", "b")), cost = 1000)
  expect_equal(wide$risk, 0)
  constant <- structured_svm(output_multiclass(cbind(1, tiny_x, 0), tiny_y))
  expect_true(constant$convergence$converged)
  twice <- structured_svm(output_multiclass(rbind(tiny_x, tiny_x), c(tiny_y, tiny_y), intercept = FALSE), tol = 1e-6)
  expect_equal(twice$weights, structured_svm(tiny(), tol = 1e-6)$weights, tolerance = 1e-4)
  unused <- output_multiclass(tiny_x, factor(tiny_y, 1:5))
  expect_identical(unused$classes, c("1", "2", "3"))
  sparse <- Matrix::Matrix(tiny_x, sparse = TRUE)
  expect_equal(structured_svm(output_multiclass(sparse, tiny_y, intercept = FALSE), tol = 1e-6)$weights, structured_svm(tiny(), tol = 1e-6)$weights)
  expect_equal(predict(structured_svm(output_multiclass(sparse, tiny_y)), sparse), predict(structured_svm(output_multiclass(tiny_x, tiny_y))))
  for (scale in c(1e-8, 1e8)) {
    scaled <- structured_svm(output_multiclass(scale * tiny_x, tiny_y, intercept = FALSE), cost = 1 / scale^2, tol = 1e-6)
    expect_equal(scaled$weights * scale, structured_svm(tiny(), tol = 1e-6)$weights, tolerance = 1e-4)
  }
  single <- structured_svm(output_chain(list("u", "v"), list("a", "b"), order = 2, input_transitions = TRUE))
  expect_identical(as.character(unlist(predict(single))), c("a", "b"))
})

test_that("errata: Proposition 17 needs its first term, Proposition 24 classes whose features do not oppose", {
  # one example of two classes: the first cut raises the dual by max of a - a^2 over 0 <= a <= C = 0.01
  one <- output_multiclass(matrix(1), factor("a", c("a", "b")), loss = 1 - diag(2), intercept = FALSE)
  fit <- structured_svm(one, cost = 0.01, penalty = "linear", tol = 0.5, optimize = "full")
  expect_equal(fit$history$gain, 0.01 - 0.01^2)
  expect_lt(fit$history$gain, 0.5^2 / (8 * 2))
  expect_gte(fit$history$gain, structured_bounds(fit)$gain)
  opposed <- output_multiclass(matrix(1), factor("a", c("a", "b")), class_features = cbind(c(1, -1)), intercept = FALSE)
  expect_equal(structured_bounds(opposed)$radius, 2)  # printed: sqrt(2)
})

test_that("the search is over the whole output space: many classes, long chains", {
  skip_if(Sys.getenv("GRANARY_EXTENDED") != "1", "takes a minute")
  set.seed(1)
  # taxonomy of 60 classes, 3 examples each: the tree helps against its own loss
  group <- rep(1:6, each = 10)
  kinds <- stats::setNames(c(paste0("g", group), rep("root", 6)), c(paste0("c", 1:60), paste0("g", 1:6)))
  losses <- replicate(5, {
    top <- matrix(rnorm(6 * 40), 6)
    centre <- top[group, ] + 0.5 * matrix(rnorm(60 * 40), 60)
    draw <- function(per) {
      y <- rep(1:60, each = per)
      list(x = centre[y, ] + 1.5 * matrix(rnorm(length(y) * 40), length(y)), y = factor(paste0("c", y), paste0("c", 1:60)))
    }
    train <- draw(3)
    test <- draw(20)
    tree <- output_multiclass(train$x, train$y, "tree", taxonomy = kinds)
    cost_of <- tree$core$loss
    judge <- function(problem) mean(cost_of[cbind(as.character(test$y), as.character(predict(structured_svm(problem, cost = 20), test$x)))])
    c(flat = judge(output_multiclass(train$x, train$y)), tree = judge(tree))
  })
  expect_lt(mean(losses["tree", ]), mean(losses["flat", ]))
  # the loss that is trained for is the one that is small
  worse <- replicate(5, {
    make <- function(n) {
      y <- sample(c("a", "b", "c"), n, TRUE)
      list(x = cbind(match(y, c("a", "b", "c")) + rnorm(n), rnorm(n)), y = factor(y))
    }
    train <- make(300)
    test <- make(2000)
    costs <- matrix(c(0, 1, 20, 1, 0, 20, 1, 1, 0), 3)  # to miss c is cheap, to cry c is not
    risk <- function(loss, rescale) {
      fit <- structured_svm(output_multiclass(train$x, train$y, loss), cost = 300, rescale = rescale)
      mean(costs[cbind(as.integer(test$y), as.integer(predict(fit, test$x)))])
    }
    c(risk("zero_one", "none"), risk(costs, "margin"), risk(costs, "slack"))
  })
  expect_lt(mean(worse[2, ]), mean(worse[1, ]))
  expect_lt(mean(worse[3, ]), mean(worse[1, ]))
})
