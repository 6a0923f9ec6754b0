low_rank <- function(m, n, rank = 2, share = 0.4, noise = 0.3, seed = 1) {
  set.seed(seed)
  sim_complete_matrix(m, n, rank = rank, n_obs = round(share * m * n), noise = noise)
}
objective <- function(x, w, lambda) sum((x - w)^2, na.rm = TRUE) + lambda * sum(svd(w)$d)

test_that("with every cell observed the answer is the shrunk singular value decomposition", {
  set.seed(1)
  x <- matrix(rnorm(12 * 8), 12)
  s <- svd(x)
  expected <- s$u %*% (pmax(s$d - 1.5, 0) * t(s$v))
  for (solver in c("als", "softimpute")) {
    fit <- complete_matrix(x, lambda = 3, solver = solver, tol = 1e-9)
    expect_equal(as.matrix(fit), expected, tolerance = 1e-4)
    expect_equal(fit$objective, objective(x, expected, 3), tolerance = 1e-8)
    expect_true(fit$certified)
  }
  expect_equal(complete_matrix(x, lambda = 2.001 * s$d[1])$rank, 0L)
  expect_equal(complete_matrix(x, n_lambda = 2)$lambda[1], 2 * s$d[1], tolerance = 1e-6)
})

test_that("solvers agree, gaps are true, the path warms up and sparse, triplet and matrix input are one", {
  sim <- low_rank(40, 30)
  fit <- complete_matrix(sim$x, n_lambda = 6, lambda_min_ratio = 0.1)
  soft <- complete_matrix(sim$x, lambda = fit$lambda, solver = "softimpute")
  expect_equal(fit$objective, soft$objective, tolerance = 3e-6)
  expect_true(all(fit$certified))
  expect_true(all(fit$gap <= 1e-6 * fit$objective + 1e-12))
  expect_true(all(diff(fit$trace_norm) > 0))
  k <- 5
  w <- as.matrix(fit, lambda = fit$lambda[k])
  expect_equal(fit$objective[k], objective(sim$x, w, fit$lambda[k]), tolerance = 1e-8)
  g <- ifelse(is.na(sim$x), 0, 2 * (sim$x - w))
  expect_lte(svd(g)$d[1], fit$lambda[k] * (1 + 1e-4))
  expect_equal(sum(g * w), fit$lambda[k] * fit$trace_norm[k], tolerance = 1e-4)
  frame <- complete_matrix(sim$cells, lambda = fit$lambda[k], dims = c(40, 30))
  sparse <- Matrix::sparseMatrix(i = sim$cells$i, j = sim$cells$j, x = sim$cells$value, dims = c(40, 30))
  expect_equal(frame$objective, fit$objective[k], tolerance = 2e-6)
  expect_equal(complete_matrix(sparse, lambda = fit$lambda[k])$objective, frame$objective)
  expect_equal(complete_matrix(methods::as(sparse, "TsparseMatrix"), lambda = fit$lambda[k])$objective, frame$objective)
  rows <- sample(40)
  columns <- sample(30)
  shuffled <- complete_matrix(sim$x[rows, columns], lambda = fit$lambda[k], tol = 1e-9)
  flipped <- complete_matrix(t(sim$x), lambda = fit$lambda[k], tol = 1e-9)
  exact <- complete_matrix(sim$x, lambda = fit$lambda[k], tol = 1e-9)
  expect_equal(as.matrix(shuffled), as.matrix(exact)[rows, columns], tolerance = 1e-4)
  expect_equal(as.matrix(flipped), t(as.matrix(exact)), tolerance = 1e-4)
})

test_that("softImpute finds no better objective at half our lambda", {
  skip_if_not_installed("softImpute")
  sim <- low_rank(50, 30)
  fit <- complete_matrix(sim$x, lambda = 6)
  peer <- getExportedValue("softImpute", "softImpute")(sim$x, rank.max = 20, lambda = 3, type = "svd", thresh = 1e-12, maxit = 5000)
  w <- peer$u %*% (peer$d * t(peer$v))
  theirs <- objective(sim$x, w, 6)
  expect_equal(fit$objective, theirs, tolerance = 2e-6)
  expect_gte(theirs, fit$objective - fit$gap)
})

test_that("the truth is recovered from half of the cells, better than by the baselines", {
  for (seed in 1:3) {
    sim <- low_rank(60, 50, rank = 2, share = 0.4, noise = 0.1, seed = seed)
    fit <- complete_matrix(sim$x, n_lambda = 10)
    best <- min(assess(fit, sim$test)$rmse)
    expect_lt(best, 0.2)
    expect_lt(best, assess(complete_matrix_baseline(sim$x, "additive"), sim$test)$rmse / 3)
    hard <- complete_matrix_baseline(sim$x, "hard", rank = 2)
    expect_lt(assess(hard, sim$test)$rmse, 0.2)
  }
})

test_that("explicit zeros are observed, missing cells are not, repeats weigh or count once", {
  sparse <- methods::new("dgTMatrix", i = c(0L, 1L, 1L), j = c(0L, 0L, 1L), x = c(0, 2, 3), Dim = c(2L, 2L))
  fit <- complete_matrix(sparse, lambda = 0.1)
  expect_equal(fit$observed, 3)
  expect_length(fitted(fit), 3L)
  sim <- low_rank(15, 12)
  once <- complete_matrix(sim$cells, dims = c(15, 12), lambda = 2)
  twice <- complete_matrix(rbind(sim$cells, sim$cells), dims = c(15, 12), lambda = 4)
  expect_equal(twice$objective, 2 * once$objective, tolerance = 2e-6)
  expect_equal(complete_matrix(rbind(sim$cells, sim$cells), dims = c(15, 12), lambda = 2, repeats = "mean")$objective, once$objective,
               tolerance = 2e-6)
  spread <- sim$cells
  spread$value[1] <- spread$value[1] + 1
  spread <- rbind(sim$cells, spread)  # one cell with two values half apart from their mean: 2 * 0.25 in the loss, whatever the fit
  fit <- complete_matrix(spread, dims = c(15, 12), lambda = 4)
  expect_equal(fit$loss, sum(residuals(fit)^2), tolerance = 1e-8)
  expect_equal(complete_matrix(sim$cells, dims = c(15, 12), lambda = 2 / nrow(sim$cells), scale = "mean")$objective * nrow(sim$cells), once$objective,
               tolerance = 2e-6)
})

test_that("the constrained form agrees with the penalised one, by search and by Frank and Wolfe", {
  sim <- low_rank(25, 20)
  fit <- complete_matrix(sim$x, lambda = 5, tol = 1e-8)
  search <- complete_matrix(sim$x, trace_norm = fit$trace_norm)
  fw <- complete_matrix(sim$x, trace_norm = fit$trace_norm, solver = "fw")
  plain <- suppressWarnings(complete_matrix(sim$x, trace_norm = fit$trace_norm, solver = "fw", control = list(corrective = FALSE), tol = 1e-2))
  expect_equal(search$loss, fit$loss, tolerance = 1e-4)
  expect_equal(fw$loss, fit$loss, tolerance = 1e-4)
  expect_equal(search$lambda, 5, tolerance = 0.02)
  expect_lte(fw$trace_norm, fit$trace_norm * (1 + 1e-6))
  expect_lte(plain$loss - fit$loss, plain$gap + 1e-4 * fit$loss)
})

test_that("stochastic gradient comes near and follows the seed", {
  sim <- low_rank(30, 20, share = 0.6)
  best <- complete_matrix(sim$x, lambda = 4)
  run <- function() {
    set.seed(3)
    suppressWarnings(complete_matrix(sim$x, lambda = 4, solver = "sgd", rank = 6, control = list(epochs = 150)))
  }
  fit <- run()
  expect_lt(fit$objective, 1.15 * best$objective)
  expect_gte(fit$objective, best$objective - best$gap)
  expect_identical(fit$d, run()$d)
})

test_that("bounded predictions stay inside, shift with the data and are stationary", {
  set.seed(2)
  sim <- sim_complete_matrix(40, 30, rank = 3, n_obs = 500, design = "ratings", noise = 0.5)
  fit <- complete_matrix(sim$x, model = "bounded", bound = c(1, 5), lambda = 10)
  w <- as.matrix(fit)
  expect_true(all(w > 1 & w < 5))
  moved <- complete_matrix(sim$x + 7, model = "bounded", bound = c(8, 12), lambda = 10)
  expect_equal(moved$objective, fit$objective, tolerance = 1e-4)
  link <- predict(fit, type = "link")
  expect_equal(w, 1 + 4 * plogis(link))
  expect_equal(fit$objective, sum((sim$x - w)^2, na.rm = TRUE) + 10 * sum(svd(link)$d), tolerance = 1e-6)
  g <- ifelse(is.na(sim$x), 0, 2 * (sim$x - w) * 4 * plogis(link) * (1 - plogis(link)))
  expect_lte(svd(g)$d[1], 10 * 1.01)
  clipped <- complete_matrix(sim$x, model = "clipped", bound = c(1, 5), lambda = 5)
  expect_true(all(as.matrix(clipped) >= 1 & as.matrix(clipped) <= 5))
  expect_error(complete_matrix(sim$x, model = "bounded", bound = c(2, 5), lambda = 5), "inside `bound`", class = "granary_error_input")
})

test_that("the entry constraint is obeyed and certified", {
  sim <- low_rank(15, 12)
  plain <- complete_matrix(sim$x, lambda = 3)
  b <- max(abs(as.matrix(plain))) / 2
  fit <- complete_matrix(sim$x, lambda = 3, model = "maxabs", bound = b)
  expect_lte(max(abs(as.matrix(fit))), b + 1e-9)
  expect_true(fit$certified)
  expect_gt(fit$objective, plain$objective)
  expect_equal(complete_matrix(sim$x, lambda = 3, model = "maxabs", bound = 100)$objective, plain$objective, tolerance = 1e-4)
  box <- complete_matrix(sim$x, lambda = 3, model = "maxabs", bound = c(0, 1))
  expect_true(all(as.matrix(box) >= 0 & as.matrix(box) <= 1))
})

test_that("centring: an additive matrix needs no singular values", {
  x <- outer(1:10, 1:8, `+`) + 0
  x[cbind(c(1, 4, 7), c(2, 5, 8))] <- NA
  fit <- complete_matrix(x, lambda = 1, center = "both")
  expect_equal(fit$rank, 0L)
  expect_equal(as.matrix(fit), outer(1:10, 1:8, `+`) + 0, tolerance = 1e-6)
  expect_equal(predict(complete_matrix_baseline(x, "row"), data.frame(i = 1, j = 2)), mean(x[1, ], na.rm = TRUE))
  expect_equal(predict(complete_matrix_baseline(x, "column"), data.frame(i = 1, j = 2)), mean(x[, 2], na.rm = TRUE))
  expect_equal(predict(complete_matrix_baseline(x, "mean"), data.frame(i = 1, j = 2)), mean(x, na.rm = TRUE))
})

test_that("methods: names, prediction, completion, update, scores", {
  sim <- low_rank(20, 15)
  dimnames(sim$x) <- list(paste0("r", 1:20), paste0("c", 1:15))
  fit <- complete_matrix(sim$x, n_lambda = 5)
  expect_equal(dimnames(as.matrix(fit)), dimnames(sim$x))
  expect_equal(predict(fit, data.frame(i = c("r2", "r3"), j = c("c1", "c5"))), as.matrix(fit)[cbind(2:3, c(1, 5))])
  done <- predict(fit, type = "completed")
  expect_equal(done[!is.na(sim$x)], sim$x[!is.na(sim$x)])
  expect_equal(done[is.na(sim$x)], as.matrix(fit)[is.na(sim$x)])
  expect_equal(predict(fit, data.frame(i = 1:20, j = 1), type = "completed"), unname(done[, 1]))
  expect_equal(fitted(fit) + residuals(fit), sim$x[!is.na(sim$x)])
  last <- length(fit$lambda)
  new <- update(fit, lambda = fit$lambda[last] / 1.5)
  expect_equal(new$objective, complete_matrix(sim$x, lambda = fit$lambda[last] / 1.5)$objective, tolerance = 2e-6)
  expect_equal(rownames(new$u[[1]]), rownames(sim$x))
  expect_equal(update(fit)$lambda, fit$lambda)
  set.seed(1)
  sgd <- suppressWarnings(complete_matrix(sim$x, lambda = 5, solver = "sgd", rank = 3, control = list(epochs = 7, step = 0.02)))
  again <- suppressWarnings(update(sgd, lambda = 4))
  expect_identical(again$settings[c("epochs", "step", "rank")], sgd$settings[c("epochs", "step", "rank")])
  expect_identical(again$convergence[[1]]$iterations, 7L)
  score <- assess(fit, sim$test)
  expect_equal(score$rmse[last], sqrt(mean((as.matrix(fit)[as.matrix(sim$test[, 1:2])] - sim$test$value)^2)))
  expect_equal(coef(fit, lambda = fit$lambda[last - 1])$d, fit$d[[last - 1]])
  expect_output(print(fit), "Matrix completion: 20 x 15")
  expect_output(print(summary(fit)), "singular values")
  expect_equal(nrow(tidy(fit)), last)
  expect_equal(nrow(glance(fit)), last)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(fit))
  expect_silent(plot(fit, type = "values"))
  if (requireNamespace("ggplot2", quietly = TRUE)) expect_s3_class(ggplot2::autoplot(fit), "ggplot")
})

test_that("cross-validation finds the penalty that predicts, by folds and by splits", {
  sim <- low_rank(40, 30, share = 0.5, noise = 0.5)
  set.seed(1)
  cv <- complete_matrix_select(sim$x, folds = 4, n_lambda = 10)
  truth <- assess(cv$fit, sim$test)$rmse
  expect_lt(truth[which.min(cv$table$estimate)], min(truth) * 1.1)
  expect_equal(predict(cv, data.frame(i = 1:2, j = 1:2)), predict(cv$fit, data.frame(i = 1:2, j = 1:2), lambda = cv$lambda[which.min(cv$table$estimate)]))
  set.seed(1)
  expect_identical(complete_matrix_select(sim$x, folds = 4, n_lambda = 10)$table, cv$table)
  set.seed(1)
  split <- complete_matrix_select(sim$x, split = 0.2, times = 3, n_lambda = 5, metric = "nmae", rule = "1se")
  expect_true(all(split$table$estimate > 0 & split$table$estimate < 1))
  expect_output(print(split), "normalised")
  expect_error(complete_matrix_select(sim$x, folds = 1), class = "granary_error_input")
})

test_that("the answer does not depend on threads", {
  sim <- low_rank(120, 90)
  expect_identical(complete_matrix(sim$x, lambda = 8, threads = 1)$d, complete_matrix(sim$x, lambda = 8, threads = 2)$d)
  set.seed(1)
  one <- complete_matrix_bounds("complexity", sim$x, t = 10, n_draws = 10, threads = 1)$norm
  set.seed(1)
  expect_identical(complete_matrix_bounds("complexity", sim$x, t = 10, n_draws = 10, threads = 2)$norm, one)
})

test_that("memory follows the observed cells, not the matrix", {
  skip_on_cran()
  skip_if_not(file.exists("/proc/self/status"))
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(c(
    sprintf(".libPaths(%s)", deparse1(.libPaths())), "suppressPackageStartupMessages(library(granary))", "set.seed(1)", "m <- 100000L",
    "n <- 2000L  # the dense matrix would need 1600 MB",
    "cells <- unique(data.frame(i = sample.int(m, 2 * m, TRUE), j = sample.int(n, 2 * m, TRUE)))", "cells$value <- 1 + 0.1 * rnorm(nrow(cells))",
    "quiet <- function(...) suppressWarnings(complete_matrix(cells, dims = c(m, n), tol = 1e-3, max_iter = 5, ...))",
    "als <- quiet(n_lambda = 1, lambda_min_ratio = 0.8)", "soft <- quiet(lambda = als$lambda, solver = 'softimpute')",
    "fw <- quiet(trace_norm = als$trace_norm, solver = 'fw')",
    "stopifnot(identical(c(als$rank, soft$rank), c(1L, 1L)), soft$objective >= als$objective - als$gap, abs(fw$loss / als$loss - 1) < 0.01)",
    "stopifnot(length(predict(als, data.frame(i = 1:3, j = 1:3))) == 3L)",
    "cat(as.numeric(gsub('[^0-9]', '', grep('^VmHWM', readLines('/proc/self/status'), value = TRUE))) / 1024)"
  ), script)
  peak <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), shQuote(script), stdout = TRUE, stderr = TRUE))
  expect_lt(as.numeric(utils::tail(peak, 1L)), 1000)
})

test_that("stochastic gradient halves a step that diverges", {
  sim <- low_rank(30, 20, share = 0.6)
  expect_warning(wild <- complete_matrix(sim$x, lambda = 4, solver = "sgd", rank = 4, control = list(epochs = 40, step = 1e6)),
                 "`epochs` in `control`", class = "granary_warning_convergence")
  expect_true(is.finite(wild$objective))
  expect_lt(wild$objective, sum(sim$x^2, na.rm = TRUE))
})

test_that("a small penalty interpolates, and balanced factors have the trace norm", {
  sim <- low_rank(12, 9, share = 0.5)
  for (lambda in c(1, 1e-2, 1e-4)) {
    fit <- suppressWarnings(complete_matrix(sim$x, lambda = lambda, tol = 1e-8))
    expect_lt(max(abs(residuals(fit))), 0.6 * lambda)  # 2 |X - W| is at most the spectral norm of G, which is lambda
  }
  # (5): with full factors the objective is the convex one, and half the squared norms of the factors are the trace norm
  exact <- complete_matrix(sim$x, lambda = 2, tol = 1e-8)
  full <- complete_matrix(sim$x, lambda = 2, rank = 9, tol = 1e-8)
  expect_equal(full$objective, exact$objective, tolerance = 1e-6)
  s <- coef(exact)
  U <- s$u %*% diag(sqrt(s$d), length(s$d))
  V <- s$v %*% diag(sqrt(s$d), length(s$d))
  expect_equal((sum(U^2) + sum(V^2)) / 2, exact$trace_norm, tolerance = 1e-10)
  # stationary for (5): the ridge regression of a row on V gives back its factor
  i <- which.max(rowSums(!is.na(sim$x)))
  seen <- which(!is.na(sim$x[i, ]))
  ridge <- solve(crossprod(V[seen, , drop = FALSE]) + diag(1, ncol(V)), crossprod(V[seen, , drop = FALSE], sim$x[i, seen]))
  expect_equal(drop(ridge), U[i, ], tolerance = 1e-3)
  for (solver in c("als", "softimpute")) {
    trace <- complete_matrix(sim$x, lambda = 2, solver = solver)$trace[[1]]
    expect_true(all(diff(trace) <= 1e-9 * trace[1]))
  }
  limited <- complete_matrix(sim$x, lambda = 0.5, rank = 1)
  expect_false(limited$certified)
})

test_that("scales do not matter", {
  sim <- low_rank(20, 15)
  fit <- complete_matrix(sim$x, lambda = 3)
  for (scale in c(1e-8, 1e8, 1e-160)) {
    other <- complete_matrix(scale * sim$x, lambda = scale * 3)
    expect_equal(other$d[[1]] / scale, fit$d[[1]], tolerance = 1e-6)
  }
  ratings <- round(pmin(pmax(sim$x, -2), 2))
  near <- complete_matrix(ratings, lambda = 4, model = "bounded", bound = c(-3, 3))
  far <- complete_matrix(1e6 * ratings, lambda = 4e12, model = "bounded", bound = c(-3e6, 3e6))
  expect_equal(as.matrix(far) / 1e6, as.matrix(near), tolerance = 1e-4)
})

test_that("edge cases: one row, one cell, constant, empty rows and columns, all zero", {
  expect_equal(as.vector(as.matrix(suppressWarnings(complete_matrix(matrix(c(3, NA, 4), 1), lambda = 2)))), c(3, 0, 4) * (5 - 1) / 5,
               tolerance = 1e-5)
  expect_equal(complete_matrix(data.frame(i = 1, j = 1, value = 2), lambda = 1)$d[[1]], 1.5, tolerance = 1e-5)
  x <- matrix(1, 5, 4)
  x[2, 3] <- NA
  expect_equal(complete_matrix(x, lambda = 1)$rank, 1L)
  x[2, ] <- NA
  x[, 3] <- NA
  expect_warning(fit <- complete_matrix(x, lambda = 1), "observed in 1 row and 1 column", class = "granary_warning_input")
  expect_equal(as.matrix(fit)[2, ], numeric(4))
  expect_equal(complete_matrix(matrix(0, 3, 3))$rank, 0L)
  expect_equal(as.matrix(complete_matrix(rbind(1:4, 1:4) + 0, lambda = 1e-6)), rbind(1:4, 1:4) + 0, tolerance = 1e-4)
})

test_that("input errors name the argument", {
  x <- matrix(c(1, NA, 2, 3), 2)
  bad <- function(...) expect_error(complete_matrix(...), class = "granary_error_input")
  bad(matrix(NA_real_, 2, 2))
  bad(matrix(c(1, Inf), 1))
  expect_error(complete_matrix(x, lambda = 0), "not unique", class = "granary_error_input")
  bad(x, lambda = -1)
  bad(x, lambda = 1, trace_norm = 1)
  bad(x, solver = "fw")
  bad(x, trace_norm = 1, solver = "sgd")
  bad(x, trace_norm = 1, solver = "fw", rank = 2)
  bad(x, model = "clipped")
  bad(x, model = "bounded", bound = c(5, 1))
  bad(x, model = "bounded", bound = c(0, 5), center = "row")
  bad(x, model = "bounded", bound = c(0, 5), solver = "als")
  bad(x, model = "bounded", bound = c(0, 5), trace_norm = 2)
  bad(x, control = list(speed = 1))
  bad(x, control = 3)
  bad(x, dims = c(2, 2))
  bad(x, start = 3)
  bad(x, lambda = 1, start = complete_matrix(matrix(1:6 + 0, 3), lambda = 1))
  bad(data.frame(i = 3, j = 1, value = 1), dims = c(2, 2))
  bad(data.frame(i = 1.5, j = 1, value = 1))
  bad(matrix("a"))
  bad(matrix(1, 2001, 2001), model = "maxabs", bound = 2)
  fit <- complete_matrix(x, lambda = 1)
  expect_error(predict(fit, data.frame(i = 1)), class = "granary_error_input")
  expect_error(predict(fit, data.frame(i = 3, j = 1)), class = "granary_error_input")
  expect_error(predict(fit, data.frame(i = "a", j = "b")), class = "granary_error_input")
  expect_error(predict(fit, lambda = 2), class = "granary_error_input")
  expect_error(assess(fit, matrix(1, 3, 3)), class = "granary_error_input")
  expect_error(update(fit, speed = 1), class = "granary_error_input")
  expect_warning(complete_matrix(low_rank(20, 20)$x, lambda = 1, max_iter = 1), class = "granary_warning_convergence")
})

test_that("a table of user, item and rating is cells, not a matrix", {
  set.seed(1)
  ratings <- data.frame(user = sample(letters[1:6], 40, TRUE), item = sample(LETTERS[1:5], 40, TRUE), rating = rnorm(40))
  fit <- complete_matrix(ratings, lambda = 1)
  expect_equal(fit$dim, c(length(unique(ratings$user)), length(unique(ratings$item))))
  expect_error(complete_matrix(data.frame(user = 1:6, item = 6:1, rating = rnorm(6))), "i, j and value", class = "granary_error_input")
})

test_that("small penalties, whose fits have a high rank, are solved by descent: the optimum, and in little time", {
  set.seed(21)
  sim <- sim_complete_matrix(120, 90, rank = 8, n_obs = 5400, noise = 0.5)
  top <- complete_matrix(sim$x, n_lambda = 2, lambda_min_ratio = 0.5)$lambda_max
  fit <- complete_matrix(sim$x, lambda = 0.05 * top)
  expect_gt(fit$rank, 12)
  expect_true(fit$certified)
  soft <- suppressWarnings(complete_matrix(sim$x, lambda = 0.05 * top, solver = "softimpute", tol = 1e-5))
  expect_lt(fit$objective, soft$objective + soft$gap)
  expect_gte(fit$objective, soft$objective - soft$gap - 1e-8 * fit$objective)
  # and the same where too few cells are seen for dense products
  few <- sim_complete_matrix(150, 150, rank = 8, n_obs = 2000, noise = 0.5)
  fit <- complete_matrix(few$x, lambda = 0.05 * complete_matrix(few$x, n_lambda = 2, lambda_min_ratio = 0.5)$lambda_max)
  expect_gt(fit$rank, 12)
  expect_true(fit$certified)
  expect_lt(fit$convergence[[1]]$seconds, 30)
})

test_that("a default path ends where fits begin to interpolate, a given one where it was told to", {
  set.seed(22)
  sim <- sim_complete_matrix(40, 30, rank = 3, n_obs = 500, noise = 1)
  fit <- complete_matrix(sim$x, n_lambda = 30)
  free <- fit$rank * (70 - fit$rank)
  expect_lt(length(fit$lambda), 30)
  expect_true(all(free[-length(free)] < 500))
  expect_gte(free[length(free)], 500)
  expect_length(complete_matrix(sim$x, lambda = 30:1)$lambda, 30)
})

test_that("rows and columns are scaled for the fit and predictions have the units of the data", {
  set.seed(23)
  x <- matrix(rnorm(40 * 2), 40) %*% matrix(rnorm(2 * 25), 2) + 0.1 * matrix(rnorm(1000), 40)
  units <- 10^runif(25, -3, 3)
  x[sample(1000, 300)] <- NA
  wild <- sweep(x, 2, units, `*`)
  plain <- complete_matrix(x, lambda = 1, standardize = "col")
  fit <- complete_matrix(wild, lambda = 1, standardize = "col")
  expect_equal(predict(fit), sweep(predict(plain), 2, units, `*`), tolerance = 1e-4)
  expect_equal(sqrt(colMeans(x^2, na.rm = TRUE)), plain$col_scale, tolerance = 1e-12)
  expect_equal(predict(fit, data.frame(i = 3, j = 7)), predict(fit)[3, 7], tolerance = 1e-10)
  both <- complete_matrix(sweep(wild, 1, 1:40, `*`), lambda = 1, standardize = "both")
  rest <- sweep(wild, 1, 1:40, `*`) / outer(both$row_scale, both$col_scale)
  expect_equal(colMeans(rest^2, na.rm = TRUE), rep(1, 25), tolerance = 1e-6)
  expect_equal(rowMeans(rest^2, na.rm = TRUE), rep(1, 40), tolerance = 1e-6)
  expect_equal(mean(log(both$col_scale)), 0, tolerance = 1e-10)
  again <- update(both, lambda = 2)
  expect_identical(again$standardize, "both")
  expect_equal(tidy(both)$rmse, sqrt(mean(residuals(both)^2)), tolerance = 1e-8)
  expect_error(complete_matrix(matrix(c(1, 0, 1, NA), 2), model = "bounded", bound = c(0, 1), standardize = "row"), "standardize",
               class = "granary_error_input")
  zero <- complete_matrix(cbind(0, c(1, 2, NA), c(2, 4, 6)), lambda = 0.1, standardize = "col")
  expect_true(all(is.finite(predict(zero))))
})
