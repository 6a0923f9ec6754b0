# Structure shared by tasks: aso() and what goes with it.

ridge <- function(x, y, lambda) solve(crossprod(x) / nrow(x) + lambda * diag(ncol(x)), crossprod(x, y) / nrow(x))
projector <- function(theta) crossprod(theta)
quiet <- function(code) suppressMessages(suppressWarnings(code))

test_that("one round with squared loss is ridge regression, and Theta its leading singular space", {
  set.seed(1)
  sim <- sim_aso(p = 12, tasks = 8, n = 20, h = 2)
  lambda <- seq(0.5, 2, length.out = 8)
  fit <- aso(sim$x, sim$y, h = 2, lambda = lambda, loss = "squared", intercept = FALSE, n_iter = 1)
  u <- vapply(1:8, function(l) drop(ridge(sim$x[[l]], sim$y[[l]], lambda[l])), numeric(12))
  expect_equal(unname(fit$u), u, tolerance = 1e-6)
  left <- svd(sweep(u, 2, sqrt(lambda), "*"))
  expect_equal(unname(projector(fit$theta)), tcrossprod(left$u[, 1:2]), tolerance = 1e-6)
  expect_equal(fit$d, left$d, tolerance = 1e-6)
  expect_equal(fit$v, fit$theta %*% fit$u)
  expect_equal(tcrossprod(fit$theta), diag(2), ignore_attr = TRUE, tolerance = 1e-10)
})

test_that("the objective falls, both variants meet, and the penalty is what lies beyond h singular values", {
  set.seed(2)
  sim <- sim_aso(p = 10, tasks = 9, n = 25, h = 2, own = 0.3)
  run <- function(variant, n_iter) quiet(aso(sim$x, sim$y, h = 2, lambda = 0.5, loss = "squared", n_iter = n_iter, variant = variant, tol = 1e-13))
  joint <- run("joint", 300)
  fixed <- run("fixed_v", 2000)
  expect_true(all(diff(joint$objective_path) < 1e-10))
  expect_true(all(diff(fixed$objective_path) < 1e-10))
  expect_equal(joint$objective, fixed$objective, tolerance = 1e-6)
  expect_equal(projector(joint$theta), projector(fixed$theta), tolerance = 1e-3)
  expect_lt(joint$convergence$iterations, fixed$convergence$iterations)
  expect_equal(joint$objective, sum(joint$losses) + sum(joint$d[-(1:2)]^2), tolerance = 1e-6)
})

test_that("h = 0 is independent ridge, a large h no penalty at all", {
  set.seed(3)
  sim <- sim_aso(p = 6, tasks = 7, n = 30, h = 2)
  none <- aso(sim$x, sim$y, h = 0, lambda = 1, loss = "squared", intercept = FALSE)
  expect_equal(unname(none$u[, 3]), drop(ridge(sim$x[[3]], sim$y[[3]], 1)), tolerance = 1e-6)
  full <- quiet(aso(sim$x, sim$y, h = 6, lambda = 1, loss = "squared", n_iter = 200, tol = 1e-12))
  ls <- lm.fit(cbind(1, sim$x[[3]]), sim$y[[3]])$coefficients
  expect_equal(unname(coef(full, task = 3)[, 1]), unname(ls), tolerance = 1e-4)
  expect_message(aso(sim$x, sim$y, h = 50, lambda = 1, loss = "squared", n_iter = 1), "cut")
})

test_that("the target fit has its closed form, dense and sparse, with and without an intercept", {
  set.seed(4)
  x <- matrix(rnorm(40 * 8), 40)
  y <- rnorm(40)
  theta <- t(qr.Q(qr(matrix(rnorm(16), 8))))
  fit <- aso(x, y, structure = theta, lambda = 0.7, loss = "squared", intercept = FALSE)
  closed <- solve(crossprod(x) / 40 + 0.7 * (diag(8) - projector(theta)), crossprod(x, y) / 40)
  expect_equal(unname(fit$u), closed, tolerance = 1e-5)
  sparse <- Matrix::Matrix(x * (abs(x) > 1), sparse = TRUE)
  for (loss in c("squared", "huber", "logistic", "hinge2")) {
    target <- if (loss == "squared") y else sign(y)
    a <- aso(as.matrix(sparse), target, structure = theta, lambda = 0.3, loss = loss)
    b <- aso(sparse, target, structure = theta, lambda = 0.3, loss = loss)
    expect_equal(a$u, b$u, tolerance = 1e-4)
    expect_equal(a$intercepts, b$intercepts, tolerance = 1e-4)
  }
})

test_that("losses: values and slopes of the modified Huber loss, gradients by differences, logistic against glm", {
  huber <- core_loss("huber", c(-1 - 1e-9, -1 + 1e-9, 1, 2, 0), rep(1, 5))
  expect_equal(huber$value, c(4, 4, 0, 0, 1), tolerance = 1e-7)
  expect_equal(huber$slope, c(-4, -4, 0, 0, -2), tolerance = 1e-7)
  at <- c(-3, -0.5, 0.4, 1.7)
  for (loss in c("huber", "squared", "logistic", "hinge2")) {
    for (y in c(-1, 1)) {
      rise <- (core_loss(loss, at + 1e-6, rep(y, 4))$value - core_loss(loss, at - 1e-6, rep(y, 4))$value) / 2e-6
      expect_equal(core_loss(loss, at, rep(y, 4))$slope, rise, tolerance = 1e-5)
    }
  }
  set.seed(5)
  x <- matrix(rnorm(200 * 3), 200)
  y <- rbinom(200, 1, plogis(x[, 1] - 0.5))
  fit <- aso(x, y, h = 0, lambda = 0, loss = "logistic")
  expect_equal(unname(coef(fit)[, 1]), unname(coef(glm(y ~ x, family = binomial))), tolerance = 1e-3)
})

test_that("rotating features rotates Theta, duplicating tasks changes nothing, one task gives its own direction", {
  set.seed(6)
  sim <- sim_aso(p = 8, tasks = 6, n = 30, h = 2)
  rotation <- qr.Q(qr(matrix(rnorm(64), 8)))
  run <- function(x, y, h = 2) quiet(aso(x, y, h = h, lambda = 1, loss = "squared", n_iter = 3))
  plain <- run(sim$x, sim$y)
  turned <- run(lapply(sim$x, `%*%`, rotation), sim$y)
  expect_equal(unname(projector(turned$theta)), unname(t(rotation) %*% projector(plain$theta) %*% rotation), tolerance = 1e-5)
  expect_equal(projector(run(c(sim$x, sim$x), c(sim$y, sim$y))$theta), projector(plain$theta), tolerance = 1e-5)
  one <- quiet(aso(sim$x[[1]], sim$y[[1]], h = 1, lambda = 1, loss = "squared", n_iter = 1))
  expect_equal(abs(drop(one$theta %*% one$u)), sqrt(sum(one$u^2)), ignore_attr = TRUE)
})

test_that("a shared subspace is recovered over seeds, and helps", {
  for (seed in 1:3) {
    set.seed(seed)
    sim <- sim_aso(p = 60, tasks = 60, n = 30, h = 3)
    fit <- quiet(aso(sim$x, sim$y, h = 3, lambda = 1, loss = "squared", intercept = FALSE, n_iter = 30))
    alone <- aso(sim$x, sim$y, h = 0, lambda = 1, loss = "squared", intercept = FALSE)
    expect_lt(mean((fit$u - sim$u)^2), 0.3 * mean((alone$u - sim$u)^2))
    expect_gt(min(svd(fit$theta %*% t(sim$theta))$d), 0.9)
  }
})

test_that("groups have structures of their own, masks hide columns, missing responses drop rows", {
  set.seed(7)
  sim <- sim_aso(p = 10, tasks = 6, n = 20, h = 2)
  groups <- rep(c("a", "b"), c(4, 6))
  fit <- quiet(aso(sim$x, sim$y, h = c(0, 2), lambda = 1, loss = "squared", groups = groups, n_iter = 4))
  expect_identical(unname(fit$h), c(0L, 2L))
  expect_identical(dim(fit$theta$b), c(2L, 6L))
  expect_identical(dim(predict(fit, sim$x[[1]], type = "latent")), c(20L, 2L))
  hidden <- quiet(aso(sim$x, sim$y, h = 0, lambda = 1, loss = "squared", masked = rep(list(3), 6)))
  dropped <- quiet(aso(lapply(sim$x, function(x) replace(x, cbind(1:20, 3), 0)), sim$y, h = 0, lambda = 1, loss = "squared"))
  expect_equal(hidden$u, dropped$u, tolerance = 1e-4)
  expect_equal(max(abs(hidden$u[3, ])), 0, tolerance = 1e-8)
  x <- sim$x[[1]]
  y <- cbind(sim$y[[1]], replace(sim$y[[2]], 5:9, NA))
  expect_equal(quiet(aso(x, y, h = 0, lambda = 1, loss = "squared"))$u[, 2],
               quiet(aso(x[-(5:9), ], y[-(5:9), 2], h = 0, lambda = 1, loss = "squared"))$u[, 1], tolerance = 1e-6)
})

test_that("positive parts only: negative weights do not enter the decomposition", {
  set.seed(8)
  sim <- sim_aso(p = 8, tasks = 6, n = 30, h = 2)
  fit <- quiet(aso(sim$x, sim$y, h = 2, lambda = 1, loss = "squared", positive = TRUE, n_iter = 1))
  expect_equal(unname(projector(fit$theta)), tcrossprod(svd(pmax(fit$u, 0))$u[, 1:2]), tolerance = 1e-6)
  expect_true(is.finite(quiet(aso(sim$x, sim$y, h = 2, lambda = 1, loss = "squared", positive = TRUE, n_iter = 5))$objective))
})

test_that("classes: factors become one task each; predictions have the levels", {
  set.seed(9)
  y <- factor(sample(c("x", "y", "z"), 90, TRUE))
  x <- matrix(rnorm(90 * 6), 90) + 3 * unname(model.matrix(~ y - 1))[, c(1, 2, 3, 1, 2, 3)]
  fit <- quiet(aso(x, y, h = 2, lambda = 1e-3, n_iter = 3))
  expect_identical(colnames(fit$u), levels(y))
  expect_gt(mean(predict(fit, x, type = "class") == y), 0.9)
  expect_identical(dim(predict(fit, x)), c(90L, 3L))
  expect_true(all(predict(fit, x, task = 1, type = "class") %in% c(-1L, 1L)))
  two <- quiet(aso(x[y != "z", ], droplevels(y[y != "z"]), h = 1, lambda = 1e-3, loss = "logistic", n_iter = 1))
  expect_true(all(predict(two, x, type = "response") >= 0 & predict(two, x, type = "response") <= 1))
  expect_identical(levels(predict(two, x, type = "class")), c("x", "y"))
})

test_that("scales 1e-8 and 1e8 of x, one and two threads, sparse input", {
  set.seed(10)
  sim <- sim_aso(p = 8, tasks = 6, n = 30, h = 2)
  run <- function(scale, threads = 1) quiet(aso(lapply(sim$x, `*`, scale), sim$y, h = 2, lambda = scale^2, loss = "squared", n_iter = 4,
                                                threads = threads))
  for (scale in c(1e-8, 1e8)) expect_equal(run(scale)$u * scale, run(1)$u, tolerance = 1e-4)
  expect_identical(run(1, 1)$u, run(1, 2)$u)
  x <- Matrix::rsparsematrix(60, 15, 0.2)
  y <- matrix(sign(rnorm(240)), 60)
  dense <- quiet(aso(as.matrix(x), y, h = 2, lambda = 0.05, n_iter = 3))
  sparse <- quiet(aso(x, y, h = 2, lambda = 0.05, n_iter = 3))
  expect_equal(dense$u, sparse$u, tolerance = 1e-3)
  expect_equal(predict(sparse, x), predict(sparse, as.matrix(x)))
})

test_that("normalised rows are rows divided by their length, in fit and prediction; constant auxiliary labels are left out", {
  set.seed(15)
  x <- matrix(rnorm(10 * 20), 10)
  y <- matrix(rnorm(30), 10)
  unit <- x / sqrt(rowSums(x^2))
  fit <- quiet(aso(x, y, h = 1, lambda = 0.1, loss = "squared", normalize = TRUE))
  same <- quiet(aso(unit, y, h = 1, lambda = 0.1, loss = "squared"))
  expect_equal(fit$u, same$u)
  expect_equal(predict(fit, 7 * x), predict(same, unit))
  made <- aso_auxiliary(cbind((x > 0) + 0, 1, 0), "mask", min_positive = 1)
  expect_false(any(c("V21", "V22") %in% names(made$y)))
})

test_that("auxiliary problems are what they say", {
  set.seed(11)
  x <- Matrix::rsparsematrix(80, 10, 0.4, rand.x = function(n) rpois(n, 2) + 1)
  halves <- rep(1:2, 5)
  sparse <- aso_auxiliary(x, "freq", halves = halves, min_positive = 3)
  dense <- aso_auxiliary(as.matrix(x), "freq", halves = halves, min_positive = 3)
  expect_identical(sparse$y, dense$y)
  expect_equal(as.matrix(sparse$x[[1]]), dense$x[[1]], ignore_attr = TRUE)
  expect_true(all(as.matrix(sparse$x[[1]])[, halves == 1] == 0))
  m <- as.matrix(x)[, halves == 1]
  top <- ifelse(apply(m, 1, max) > 0, which(halves == 1)[max.col(m, "first")], NA)
  expect_identical(sum(sparse$y[["freq1:1"]] == 1), sum(top == 1, na.rm = TRUE))
  mask <- aso_auxiliary(x, "mask", min_positive = 3, max_tasks = 4, mask_groups = rep(1:5, each = 2))
  expect_length(mask$y, 4)
  expect_true(all(lengths(mask$masked) == 2))
  value <- aso_auxiliary(as.matrix(x), "mask", label = "value", columns = "V3")
  expect_identical(value$y$V3, as.double(x[, 3]))
  expect_identical(value$loss, "squared")
  labels <- factor(sample(c("a", "b", "c"), 80, TRUE))
  top2 <- aso_auxiliary(x, "topk", x_lab = x, y_lab = labels, min_positive = 1, k = 2)
  expect_lte(sum(grepl("^topk1", names(top2$y))), 6)
  expect_true(all(rowSums(do.call(cbind, top2$y[grepl("^topk1", names(top2$y))]) == 1) <= 1))
  expect_output(print(aso_auxiliary(x, "confidence", x_lab = x, y_lab = labels)), "problems")
  multi <- aso_auxiliary(x, "multik", x_lab = x, y_lab = matrix(runif(240) < 0.4, 80), k = 1, min_positive = 1)
  expect_true(all(Reduce(`+`, lapply(multi$y[grepl("^multik1", names(multi$y))], `==`, 1)) <= 1))
})

test_that("unlabelled documents teach which words go together", {
  set.seed(12)
  sim <- sim_aso("documents", words = 20, unlabelled = 4000, labelled = 10, test = 400)
  fit <- quiet(aso_semi(sim$x_lab, sim$y_lab, sim$x_unlab, aux = "mask", h = 2, folds = 0, columns = sim$first, mask_groups = rep(1:2, each = 100)))
  accuracy <- function(fit) mean(predict(fit, sim$x_test, type = "class") == sim$y_test)
  expect_gt(accuracy(fit), 0.9)
  expect_lt(accuracy(fit$baseline), 0.85)
  expect_output(print(fit), "auxiliary problems")
})

test_that("aso_semi cross-validates both fits, also for several labels per row; co-training runs to the end", {
  set.seed(13)
  sim <- sim_aso("documents", words = 8, unlabelled = 300, labelled = 40, test = 100)
  fit <- quiet(aso_semi(sim$x_lab, sim$y_lab, sim$x_unlab, h = 2, folds = 3))
  expect_identical(names(fit$cv), c("fold", "structure", "baseline"))
  expect_true(all(fit$cv$structure >= 0 & fit$cv$structure <= 1))
  several <- cbind(a = sim$y_lab == "1", b = runif(40) < 0.5)
  expect_identical(quiet(aso_semi(sim$x_lab, several, sim$x_unlab, aux = "multik", k = 1, h = 2, folds = 2))$measure, "micro F")
  co <- aso_baseline(sim$x_lab, sim$y_lab, sim$x_unlab, pool = 100, add = 30)
  expect_identical(co$rounds$labelled[nrow(co$rounds)], 340L)
  expect_gt(mean(predict(co, sim$x_test) == sim$y_test), 0.6)
  set.seed(1)
  own <- aso_baseline(sim$x_lab, sim$y_lab, sim$x_unlab, method = "self_training", pool = 100, add = 30, max_rounds = 2)
  expect_identical(own$rounds$labelled, c(40L, 70L, 100L))
  expect_output(print(own), "self training")
})

test_that("cross-validation prefers the true dimension; features of a row are its own", {
  set.seed(14)
  sim <- sim_aso(p = 20, tasks = 20, n = 25, h = 2)
  cv <- quiet(aso_select(sim$x, sim$y, h = c(0, 2), lambda = 1, loss = "squared", folds = 3, n_iter = 10))
  expect_identical(cv$table$h[cv$selected], 2)
  expect_s3_class(cv$fit, "granary_aso")
  listed <- tidy(cv$fit, type = "features", n = 4)
  theta <- cv$fit$theta
  expect_true(all(abs(listed$entry) == apply(abs(theta[, listed$feature]), 2, max)))
  pca <- granary:::principal_structure(sim$x[[1]], 2)
  expect_equal(projector(pca), tcrossprod(svd(sim$x[[1]])$v[, 1:2]), tolerance = 1e-6, ignore_attr = TRUE)
  pdf(NULL)
  on.exit(dev.off())
  expect_null(plot(cv$fit))
  expect_null(plot(cv$fit, "theta"))
  expect_output(print(summary(cv$fit)), "singular_values")
})

test_that("tidy splits the weights into the shared part and a task's own; glance has one row", {
  set.seed(1)
  sim <- sim_aso(p = 12, tasks = 8, n = 20, h = 2)
  fit <- aso(sim$x, sim$y, h = 2, lambda = 1, loss = "squared", tol = 1e-3)
  table <- tidy(fit)
  expect_equal(dim(table), c(12 * 8, 4))
  expect_equal(matrix(table$estimate, 12), unname(fit$u))
  expect_equal(matrix(table$estimate - table$own, 12), unname(crossprod(fit$theta, fit$v)), tolerance = 1e-12)
  expect_equal(max(abs(fit$theta %*% matrix(table$own, 12))), 0, tolerance = 1e-10)
  expect_identical(unique(tidy(fit, task = c("task3", "task5"))$task), c("task3", "task5"))
  line <- glance(fit)
  expect_equal(nrow(line), 1)
  expect_equal(line$share_inside, 1 - sum(table$own^2) / sum(table$estimate^2), tolerance = 1e-10)
  grouped <- suppressMessages(aso(sim$x, sim$y, h = c(1, 2), lambda = 1, loss = "squared", groups = rep(1:2, c(5, 7)), tol = 1e-3))
  expect_equal(glance(grouped)$h, 3)
  expect_equal(matrix(tidy(grouped)$own, 12)[1:5, ], unname(grouped$u[1:5, ] - crossprod(grouped$theta[[1]], grouped$v[[1]])), tolerance = 1e-12)
})

test_that("every error names its argument", {
  x <- matrix(rnorm(40), 10)
  y <- sign(rnorm(10))
  expect_error(aso(x), "`y` must be given", class = "granary_error_input")
  expect_error(aso(x, y[-1]), "one value per row", class = "granary_error_input")
  expect_error(aso(x, rnorm(10)), "-1/1, 0/1 or logical", class = "granary_error_input")
  expect_error(aso(x, rep(NA_real_, 10), loss = "squared"), "not missing", class = "granary_error_input")
  expect_error(aso(list(x, x[, -1]), list(y, y)), "same columns", class = "granary_error_input")
  expect_error(aso(list(x, x), y), "one response per matrix", class = "granary_error_input")
  expect_error(aso(x, y, lambda = -1), "lambda", class = "granary_error_input")
  expect_error(aso(x, y, lambda = 1:3), "one per task", class = "granary_error_input")
  expect_error(aso(x, y, h = c(1, 2)), "one per group", class = "granary_error_input")
  expect_error(aso(x, y, groups = 1:3), "group of each of the 4 columns", class = "granary_error_input")
  expect_error(aso(replace(x, 3, NA), y), "missing", class = "granary_error_input")
  expect_error(aso(x, factor(rep("a", 10))), "two classes", class = "granary_error_input")
  expect_error(aso(x, y, structure = matrix(1, 1, 4)), "orthonormal", class = "granary_error_input")
  expect_error(aso_semi(x, factor(y), x, aux = c("mask", "freq")), "alone", class = "granary_error_input")
  expect_error(aso_semi(x, factor(y), x, loss = "squared"), "classification loss", class = "granary_error_input")
  expect_error(aso_auxiliary(x, "topk"), "x_lab", class = "granary_error_input")
  expect_error(aso_auxiliary(x, "freq", min_positive = 100), "No auxiliary problem", class = "granary_error_input")
  expect_error(aso(x, y, structure = diag(4), h = 2), "`h` must not be given", class = "granary_error_input")
  expect_error(predict(quiet(aso(x, rnorm(10), h = 0, loss = "squared")), x, type = "class"), "no classes", class = "granary_error_input")
  expect_s3_class(quiet(aso(x[1, , drop = FALSE], 1, h = 1, lambda = 1)), "granary_aso")  # one row
})

test_that("tasks share features by name, not by place", {
  set.seed(1)
  sim <- sim_aso(p = 8, tasks = 6, n = 30, h = 2)
  x <- lapply(sim$x, function(part) `colnames<-`(part, letters[1:8]))
  fit <- aso(x, sim$y, h = 2, lambda = 1, loss = "squared")
  x[[3]] <- x[[3]][, 8:1]
  expect_equal(coef(aso(x, sim$y, h = 2, lambda = 1, loss = "squared")), coef(fit), tolerance = 1e-6)
  new <- aso(x[[1]], sim$y[[1]], structure = fit, lambda = 1)
  same <- aso(x[[1]][, 8:1], sim$y[[1]], structure = fit, lambda = 1)
  expect_equal(coef(same), coef(new), tolerance = 1e-6)
  colnames(x[[2]])[1] <- "zz"
  expect_error(aso(x, sim$y, h = 2, loss = "squared"), "zz", class = "granary_error_input")
})

test_that("a formula gives what matrices give: tasks as columns, as classes, and by group", {
  wide <- quiet(aso(cbind(mpg, qsec) ~ wt + hp, mtcars, h = 1, lambda = 0.1, loss = "squared"))
  same <- quiet(aso(as.matrix(mtcars[c("wt", "hp")]), as.matrix(mtcars[c("mpg", "qsec")]), h = 1, lambda = 0.1, loss = "squared"))
  expect_equal(coef(wide), coef(same))
  expect_equal(predict(wide, mtcars[1:3, ]), predict(same, mtcars[1:3, c("hp", "wt")]))
  expect_equal(predict(wide, mtcars[1:3, ], type = "latent"), as.matrix(mtcars[1:3, c("wt", "hp")]) %*% t(wide$theta), ignore_attr = TRUE)
  grouped <- quiet(aso(mpg ~ wt + hp, mtcars, group = cyl, subset = hp < 300, h = 1, lambda = 0.1, loss = "squared"))
  kept <- mtcars[mtcars$hp < 300, ]
  parts <- split(kept, kept$cyl)
  lists <- quiet(aso(lapply(parts, function(d) as.matrix(d[c("wt", "hp")])), lapply(parts, `[[`, "mpg"), h = 1, lambda = 0.1, loss = "squared"))
  expect_equal(coef(grouped), coef(lists))
  expect_error(aso(mpg ~ 0 + wt, mtcars, loss = "squared"), "intercept = FALSE", class = "granary_error_input")
  classes <- quiet(aso(Species ~ ., iris, h = 1, lambda = 0.01))
  expect_gt(mean(predict(classes, iris, type = "class") == iris$Species), 0.9)
})

test_that("rivals of aso_semi by formula and by matrix agree; principal directions are those of all rows", {
  run <- function(...) {
    set.seed(3)
    quiet(aso_baseline(..., method = "self_training", pool = 50, add = 10, max_rounds = 3))
  }
  some <- seq(1, 150, 10)
  formula <- run(Species ~ ., iris[some, ], x_unlab = iris[-some, ])
  matrix <- run(as.matrix(iris[some, 1:4]), iris$Species[some], as.matrix(iris[-some, 1:4]))
  expect_equal(predict(formula, iris), predict(matrix, as.matrix(iris[1:4])))
  pca <- quiet(aso_baseline(as.matrix(iris[some, 1:4]), iris$Species[some], as.matrix(iris[-some, 1:4]), "pca", h = 2, normalize = FALSE))
  expect_s3_class(pca, "granary_aso")
  expect_equal(projector(pca$theta), tcrossprod(svd(as.matrix(iris[1:4]))$v[, 1:2]), tolerance = 1e-6, ignore_attr = TRUE)
  expect_error(aso_baseline(as.matrix(iris[some, 1:4]), iris$Species[some], iris[1:4], views = c(1, 1, 1, 1)), "`views`", class = "granary_error_input")
})
