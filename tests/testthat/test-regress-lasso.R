sim_lasso <- function(n = 60, p = 20, seed = 1, binomial = FALSE) {
  set.seed(seed)
  x <- matrix(rnorm(n * p), n) + 0.5 * rnorm(n)
  eta <- drop(x[, 1:3] %*% c(1, -1, 0.5))
  list(x = x, y = if (binomial) rbinom(n, 1, plogis(eta)) else eta + rnorm(n))
}

# Largest violation of the optimality conditions, as a correlation, computed here in R.
violation <- function(fit, k, weights = rep(1, length(fit$y))) {
  w <- weights / sum(weights)
  x <- as.matrix(fit$x)
  mean <- colSums(w * x)
  sd <- sqrt(colSums(w * sweep(x, 2, mean)^2))
  eta <- drop(x %*% fit$coefficients[, k]) + fit$intercept[k]
  r <- w * (fit$y - if (fit$family == "gaussian") eta else plogis(eta))
  g <- colSums(x * r) / sd
  b <- fit$coefficients[, k] * sd
  unit <- sqrt(sum(w * (fit$y - sum(w * fit$y))^2))
  max(ifelse(b == 0, pmax(abs(g) - fit$lambda[k], 0), abs(g - fit$lambda[k] * sign(b))), abs(sum(r))) / unit
}

test_that("paths satisfy the optimality conditions, whatever the shape, storage and family", {
  for (binomial in c(FALSE, TRUE)) for (p in c(5, 100)) {
    d <- sim_lasso(50, p, binomial = binomial)
    weights <- runif(50)
    for (x in list(d$x, methods::as(Matrix::Matrix(d$x, sparse = TRUE), "CsparseMatrix"))) {
      fit <- lasso(x, d$y, if (binomial) "binomial" else "gaussian", weights = weights, tol = 1e-8, lambda_min_ratio = 0.05, n_lambda = 20)
      expect_true(fit$convergence$converged)
      expect_lt(max(vapply(seq_along(fit$lambda), function(k) violation(fit, k, weights), 0)), 1.01e-8)
    }
  }
})

test_that("the path is glmnet's", {
  skip_if_not_installed("glmnet")
  glmnet <- getExportedValue("glmnet", "glmnet")
  for (family in c("gaussian", "binomial")) {
    d <- sim_lasso(60, 30, binomial = family == "binomial")
    fit <- lasso(d$x, d$y, family, tol = 1e-9, lambda_min_ratio = 0.01)
    peer <- glmnet(d$x, d$y, family = family, lambda = fit$lambda, thresh = 1e-14)
    expect_equal(as.matrix(fit$coefficients), as.matrix(peer$beta), tolerance = 1e-5, ignore_attr = TRUE)
    expect_equal(fit$dev_ratio, peer$dev.ratio, tolerance = 1e-6)
    peer <- glmnet(d$x, d$y, family = family, nlambda = 5, lambda.min.ratio = 0.05)
    expect_equal(lasso(d$x, d$y, family, n_lambda = 5, lambda_min_ratio = 0.05)$lambda[1:3], peer$lambda[1:3], tolerance = 1e-6)
  }
})

test_that("least squares, ridge and soft thresholding are special cases", {
  d <- sim_lasso(60, 4)
  fit <- lasso(d$x, d$y, lambda = 0, tol = 1e-12)
  expect_equal(unname(coef(fit)[, 1]), unname(coef(lm(d$y ~ d$x))), tolerance = 1e-8)
  ridge <- lasso(d$x, d$y, lambda = 0.3, mixture = 0, standardize = FALSE, tol = 1e-12)
  centred <- scale(d$x, scale = FALSE)
  expect_equal(unname(ridge$coefficients[, 1]), drop(solve(crossprod(centred) / 60 + diag(0.3, 4), crossprod(centred, d$y) / 60)), tolerance = 1e-8,
               ignore_attr = TRUE)
  q <- qr.Q(qr(scale(matrix(rnorm(60 * 4), 60), scale = FALSE))) * sqrt(60)
  z <- drop(crossprod(q, d$y)) / 60
  expect_equal(unname(lasso(q, d$y, lambda = 0.2, tol = 1e-12)$coefficients[, 1]), sign(z) * pmax(abs(z) - 0.2, 0), tolerance = 1e-8)
  logistic <- sim_lasso(80, 3, binomial = TRUE)
  fit <- lasso(logistic$x, logistic$y, "binomial", lambda = 0, tol = 1e-12)
  glm <- glm(logistic$y ~ logistic$x, family = binomial(), epsilon = 1e-14)
  expect_equal(unname(coef(fit)[, 1]), unname(coef(glm)), tolerance = 1e-6)
  expect_equal(unname(deviance(fit)), deviance(glm), tolerance = 1e-8)
  expect_equal(as.double(logLik(fit)), as.double(logLik(glm)), tolerance = 1e-8)
})

test_that("the first penalty is the smallest with an empty model, and scales do not matter", {
  d <- sim_lasso()
  fit <- lasso(d$x, d$y)
  expect_identical(fit$df[1], 0L)
  expect_gt(lasso(d$x, d$y, lambda = fit$lambda[1] * 0.999)$df, 0)
  for (s in c(1e-8, 1e8)) {
    other <- lasso(d$x * s, d$y / s, tol = 1e-8)
    expect_equal(as.matrix(other$coefficients) * s * s, as.matrix(lasso(d$x, d$y, tol = 1e-8)$coefficients), tolerance = 1e-5)
  }
})

test_that("bounds, penalty factors, offsets and no intercept are respected", {
  d <- sim_lasso()
  fit <- lasso(d$x, d$y, lower = 0, upper = 0.3)
  expect_true(all(fit$coefficients >= 0 & fit$coefficients <= 0.3 + 1e-12))
  factor <- rep(1, 20)
  factor[1] <- 0
  factor[2] <- Inf
  fit <- lasso(d$x, d$y, penalty_factor = factor)
  expect_true(all(fit$coefficients[1, ] != 0))
  expect_true(all(fit$coefficients[2, ] == 0))
  fit <- lasso(d$x, d$y, offset = 3 * d$x[, 5], lambda = 0.01)
  plain <- lasso(d$x, d$y - 3 * d$x[, 5], lambda = 0.01)
  expect_equal(fit$coefficients, plain$coefficients)
  expect_error(predict(fit, d$x), "`offset`", class = "granary_error_input")
  expect_equal(predict(fit, d$x, offset = 3 * d$x[, 5]), predict(fit))
  expect_identical(lasso(d$x, d$y, intercept = FALSE)$intercept[3], 0)
})

test_that("formulas, data frames, factors and new data", {
  fit <- lasso(mpg ~ . - cyl + factor(cyl), mtcars, lambda = 0.2)
  expect_identical(rownames(coef(fit))[10:12], c("carb", "factor(cyl)6", "factor(cyl)8"))
  expect_equal(unname(predict(fit, mtcars[1:4, ])), unname(predict(fit)[1:4, , drop = FALSE]))
  expect_error(predict(fit, mtcars[, -2]), "\"cyl\" is missing", class = "granary_error_input")
  expect_error(lasso(mpg ~ nothing_here, mtcars), "could not be found", class = "granary_error_input")
  expect_error(lasso(~mpg, mtcars), "left-hand side", class = "granary_error_input")
  broken <- mtcars
  broken$hp[3] <- NA
  expect_error(lasso(mpg ~ ., broken), "\"hp\" has 1, the first in row 3", class = "granary_error_input")
  expect_error(lasso(as.matrix(mtcars[, -1]), mtcars$mpg, lamda = 1), "no argument `lamda`", class = "granary_error_input")
  class <- lasso(Species ~ ., droplevels(iris[51:150, ]), family = "binomial", lambda = 0.05)
  expect_identical(class$levels, c("versicolor", "virginica"))
  expect_gt(mean(predict(class, type = "class")[, 1] == as.character(iris$Species[51:150])), 0.9)
  by_name <- lasso(mtcars[, -1], mtcars$mpg, lambda = 0.2)
  expect_equal(predict(by_name, mtcars[, 11:1]), predict(by_name), ignore_attr = TRUE)
})

test_that("coefficients are interpolated between penalties, exactly where the path is linear", {
  d <- sim_lasso(60, 3)
  fit <- lasso(d$x, d$y, lambda = c(0.05, 0.03), tol = 1e-11)
  between <- coef(fit, lambda = 0.04)
  expect_equal(between, coef(fit, lambda = 0.04, exact = TRUE), tolerance = 1e-8)
  expect_equal(coef(fit, lambda = 0.05)[, 1], coef(fit)[, 1])
  expect_warning(coef(fit, lambda = 0.01), "beyond the end of the path", class = "granary_warning_input")
  expect_equal(coef(fit, lambda = 0.01, exact = TRUE), coef(lasso(d$x, d$y, lambda = 0.01, tol = 1e-11)), tolerance = 1e-6)
  expect_equal(unname(coef(fit, lambda = 7)[, 1]), unname(coef(fit, lambda = 0.05)[, 1]))
})

test_that("residuals, deviance, likelihood and tables agree with each other", {
  d <- sim_lasso()
  fit <- lasso(d$x, d$y)
  expect_equal(colSums(residuals(fit)^2), deviance(fit), ignore_attr = TRUE, tolerance = 1e-8)
  expect_equal(deviance(fit, lambda = fit$lambda[7]), deviance(fit)[7], ignore_attr = TRUE, tolerance = 1e-8)
  expect_equal(nrow(glance(fit)), length(fit$lambda))
  expect_equal(sum(tidy(fit, fit$lambda[20])$estimate != 0), fit$df[20])
  expect_equal(augment(fit, lambda = 0.1)$.resid, unname(residuals(fit, lambda = 0.1)[, 1]))
  logistic <- sim_lasso(binomial = TRUE)
  fit <- lasso(logistic$x, logistic$y, "binomial")
  expect_equal(colSums(residuals(fit, type = "deviance")^2), deviance(fit), ignore_attr = TRUE, tolerance = 1e-6)
  expect_output(print(fit), "lasso path, family binomial, n = 60, p = 20")
  expect_output(print(summary(fit)), "smallest BIC")
  pdf(NULL)
  on.exit(dev.off())
  for (against in c("lambda", "norm", "deviance")) expect_null(plot(fit, against))
  skip_if_not_installed("ggplot2")
  expect_s3_class(getExportedValue("ggplot2", "autoplot")(fit), "ggplot")
})

test_that("the true columns are found", {
  for (seed in 1:3) {
    d <- sim_lasso(200, 300, seed)
    cv <- lasso_select(d$x, d$y, folds = 5)
    expect_true(all(coef(cv, rule = "1se")[2:4, 1] != 0))
    expect_lt(sum(coef(cv, rule = "1se") != 0), 40)
  }
})

test_that("separable classes and penalties that are not reached are announced", {
  x <- matrix(rnorm(40 * 3), 40)
  expect_warning(lasso(x, x[, 1] > 0, "binomial"), "classes are separable", class = "granary_warning_input")
  expect_warning(suppressWarnings(expect_warning(lasso(x, x[, 1] > 0, "binomial", lambda = c(0.1, 1e-6, 1e-7)), "were not fitted")), NA)
})

test_that("bad input is refused with the argument's name", {
  d <- sim_lasso()
  refused <- function(expr, text) expect_error(expr, text, class = "granary_error_input")
  refused(lasso(d$x), "`y` must be given")
  refused(lasso(d$x, d$y[-1]), "`y`.*60")
  refused(lasso(d$x, replace(d$y, 3, NA)), "`y`.*missing")
  refused(lasso(replace(d$x, 3, Inf), d$y), "`x` must be finite")
  refused(lasso(d$x[1, , drop = FALSE], d$y[1]), "at least 2 rows")
  refused(lasso(d$x, d$y, "binomial"), "`y`")
  refused(lasso(d$x, rep(1, 60), "binomial"), "both classes")
  refused(lasso(d$x, factor(rep(1:3, 20)), "binomial"), "two classes")
  refused(lasso(d$x, d$y, lambda = -1), "`lambda`")
  refused(lasso(d$x, d$y, mixture = 2), "`mixture`")
  refused(lasso(d$x, d$y, weights = rep(0, 60)), "not all be zero")
  refused(lasso(d$x, d$y, penalty_factor = -1), "`penalty_factor`")
  refused(lasso(d$x, d$y, penalty_factor = rep(-1, 20)), "`penalty_factor`")
  refused(lasso(d$x, d$y, lower = 1), "`lower` must be at most zero")
  refused(lasso(d$x, d$y, upper = -1), "`upper` must be at least zero")
  refused(predict(lasso(d$x, d$y), d$x[, 1:3]), "20 columns")
  refused(predict(lasso(d$x, d$y), type = "class"), "binomial")
})

test_that("edge cases: constant y, constant and duplicated columns, p > n, one column", {
  d <- sim_lasso()
  fit <- lasso(d$x, rep(2, 60))
  expect_true(all(fit$coefficients == 0))
  expect_equal(fit$intercept[1], 2)
  x <- cbind(d$x, 1, d$x[, 1])
  fit <- lasso(x, d$y)
  expect_true(fit$convergence$converged)
  expect_true(all(fit$coefficients[21, ] == 0))
  expect_true(lasso(d$x[1:5, ], d$y[1:5])$convergence$converged)
  expect_identical(dim(lasso(d$x[, 1, drop = FALSE], d$y, n_lambda = 3)$coefficients)[1], 1L)
  expect_identical(lasso(d$x[c(1, 1, 2, 2), ], d$y[c(1, 1, 2, 2)], lambda = 0.1)$df >= 0L, TRUE)
  expect_warning(lasso(d$x, d$y, max_iter = 1, tol = 1e-12), class = "granary_warning_convergence")
})

test_that("cross-validation scores held-out rows as a loop would", {
  d <- sim_lasso()
  folds <- rep(1:4, 15)
  cv <- lasso_select(d$x, d$y, folds = folds, tol = 1e-9)
  by_hand <- unname(sapply(1:4, function(part) {
    fit <- lasso(d$x[folds != part, ], d$y[folds != part], lambda = cv$lambda, tol = 1e-9)
    colMeans((d$y[folds == part] - predict(fit, d$x[folds == part, ]))^2)
  }))
  expect_equal(cv$table$estimate, rowMeans(by_hand), tolerance = 1e-6)
  expect_equal(cv$table$std.error, apply(by_hand, 1, sd) / 2, tolerance = 1e-6)
  best <- which.min(cv$table$estimate)
  expect_identical(coef(cv), coef(cv$fit, lambda = cv$lambda[best]))
  within <- which(cv$table$estimate <= cv$table$estimate[best] + cv$table$std.error[best])
  expect_identical(coef(cv, rule = "1se"), coef(cv$fit, lambda = max(cv$lambda[within])))
  expect_identical(predict(cv, d$x[1:2, ]), predict(cv$fit, d$x[1:2, ], lambda = cv$lambda[best]))
  set.seed(3)
  first <- lasso_select(d$x, d$y, folds = 5)
  set.seed(3)
  expect_identical(lasso_select(d$x, d$y, folds = 5)$table, first$table)
  pdf(NULL)
  on.exit(dev.off())
  expect_null(plot(cv))
  expect_output(print(cv), "4 folds.*mean squared error")
})

test_that("tidy and glance of a cross-validation are its table and its choices", {
  set.seed(1)
  x <- matrix(rnorm(600), 60)
  cv <- lasso_select(x, x[, 1] + rnorm(60), folds = 4, rule = "1se")
  table <- tidy(cv)
  expect_equal(table$estimate, cv$table$estimate)
  expect_equal(table$conf.high - table$estimate, table$std.error)
  line <- glance(cv)
  expect_identical(table$selected, table$lambda == line$lambda)
  expect_gte(line$lambda, table$lambda[which.min(table$estimate)])
  expect_equal(line$estimate, table$estimate[table$selected])
})

test_that("cross-validation of classes: stratified folds, all measures, formulas", {
  d <- sim_lasso(100, 10, binomial = TRUE)
  d$y <- rep(0:1, c(85, 15))
  d$x[, 1] <- d$x[, 1] + 2 * d$y
  cv <- lasso_select(d$x, d$y, family = "binomial", folds = 5)
  expect_identical(as.vector(table(cv$folds[d$y == 1])), rep(3L, 5))
  for (measure in c("mae", "class")) expect_lt(min(lasso_select(d$x, d$y, family = "binomial", folds = 5, measure = measure)$table$estimate), 0.3)
  expect_error(lasso_select(d$x, d$y, measure = "class"), "binomial", class = "granary_error_input")
  expect_error(lasso_select(d$x, d$y, folds = 200), "`folds`", class = "granary_error_input")
  expect_error(lasso_select(d$x, d$y, folds = rep(1, 100)), "two folds", class = "granary_error_input")
  cv <- lasso_select(mpg ~ ., mtcars, folds = 4, weights = rep(1:2, 16))
  expect_identical(nrow(predict(cv, mtcars[1:3, ])), 3L)
  expect_equal(dim(coef(cv)), c(11L, 1L))
})

test_that("plot() and autoplot() draw penalties in one direction, and names at the ends of paths lie apart", {
  skip_if_not_installed("ggplot2")
  fit <- lasso(mpg ~ ., mtcars)
  set.seed(71)
  x <- matrix(rnorm(300), 30)
  paths <- list(fit, gen_lasso(x, x[, 1] + rnorm(30), gen_lasso_penalty("chain", p = 10)))
  for (path in paths) {
    drawn <- expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(path)))
    lines <- Filter(function(layer) all(c("x", "group") %in% names(layer)) && nrow(layer) > 50, drawn$data)[[1]]
    expect_false(anyNA(lines$x))  # limits that are turned round would take every line away
    expect_equal(sort(unique(10^-lines$x)), sort(path$lambda[path$lambda > 0]), tolerance = 1e-8)
    large <- lines[which.min(lines$x), "x"]
    expect_equal(10^-large, max(path$lambda))  # the largest penalty is at the left, as in plot()
  }
  placed <- granary:::spread_labels(c(1, 1.001, 5, 0.999), c(0, 10))
  expect_true(all(diff(sort(placed)) > 0.3))
  expect_identical(order(placed), order(c(1, 1.001, 5, 0.999)))
  expect_equal(granary:::spread_labels(c(1, 3), c(0, 10)), c(1, 3))
})
