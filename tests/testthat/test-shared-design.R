d <- data.frame(y = c(1.2, 0.4, 2.2, 3.1, 1.9, 2.5, 0.3, 1.1), a = c(1, 0, 2, 3, 2, 2, 0, 1), g = factor(rep(c("u", "v"), 4), levels = c("u", "v", "w")),
                w = c(1, 2, 1, 1, 3, 1, 1, 2), o = (1:8) / 10)
design <- function(...) formula_design(match.call(function(formula, data, weights, subset, na.action, offset) NULL, sys.call()), parent.frame())

test_that("a design has the columns of model.matrix() without the intercept", {
  made <- design(y ~ a * g + poly(a, 2), d)
  expect_equal(made$x, model.matrix(y ~ a * g + poly(a, 2), droplevels(d))[, -1], ignore_attr = TRUE)
  expect_true(made$intercept)
  expect_identical(colnames(design(y ~ ., d[c("y", "a", "g")])$x), c("a", "gv"))
})

test_that("weights, subset and offsets are looked up in the data", {
  made <- design(y ~ a, d, weights = w, subset = w < 3, offset = o)
  keep <- d$w < 3
  expect_identical(made$weights, d$w[keep])
  expect_equal(unname(made$offset), d$o[keep])
  expect_equal(unname(design(y ~ a + offset(o), d)$offset), d$o)
  expect_identical(unname(made$y), d$y[keep])
})

test_that("0 + is seen, and factors are then coded in full", {
  made <- design(y ~ 0 + g, d)
  expect_false(made$intercept)
  expect_identical(colnames(made$x), c("gu", "gv"))
})

test_that("what a method cannot use is refused, not dropped", {
  ask <- function(...) formula_design(match.call(function(formula, data, weights, offset) NULL, sys.call()), parent.frame(), takes = "intercept")
  expect_error(ask(y ~ a + offset(o), d), "no offset", class = "granary_error_input")
  expect_error(ask(y ~ a, d, weights = w), "no case weights", class = "granary_error_input")
})

test_that("missing values are an error unless an action is named", {
  holes <- d
  holes$a[2] <- NA
  expect_error(design(y ~ a, holes), "\"a\" has 1", class = "granary_error_input")
  made <- design(y ~ a, holes, na.action = na.omit)
  expect_identical(nrow(made$x), 7L)
  expect_identical(unclass(made$na.action)[[1]], 2L)
})

test_that("what is no formula, or has nothing on its right, is refused", {
  expect_error(design(~a, d), "left-hand side", class = "granary_error_input")
  expect_error(design(y ~ 1, d), "at least one term", class = "granary_error_input")
  expect_error(design(y ~ nothing_there, d), "could not be found", class = "granary_error_input")
  expect_error(design(y ~ a, 3), "`data`", class = "granary_error_input")
})

test_that("new columns are matched by name, never guessed", {
  x <- cbind(a = 1:3, b = 4:6) + 0
  expect_identical(match_columns(x[, 2:1], c("a", "b")), x)
  expect_identical(match_columns(cbind(x, c = 7), c("a", "b")), x)
  expect_identical(match_columns(unname(x), c("a", "b")), unname(x))
  expect_identical(match_columns(x, c("V1", "V2")), x)
  expect_error(match_columns(cbind(b = 1:3, A = 4:6) + 0, c("a", "b")), "\"a\" is missing. Did you mean \"A\"", class = "granary_error_input")
  expect_error(match_columns(unname(x), c("a", "b", "c")), "3 columns", class = "granary_error_input")
})

test_that("an unknown argument is refused, with the one that was meant", {
  f <- function(lambda = 1, ...) refuse_dots(...)
  expect_error(f(lamda = 2), "Did you mean `lambda`", class = "granary_error_input")
  expect_error(f(1, 2), "value too many", class = "granary_error_input")
  expect_silent(f(lambda = 3))
})

test_that("formula and matrix give the same fit, for every supervised method", {
  skip_on_cran()
  set.seed(2)
  n <- 40
  data <- data.frame(a = rnorm(n), b = rnorm(n), c = rnorm(n))
  data$y <- data$a - data$b + rnorm(n, sd = 0.3)
  data$z <- factor(ifelse(data$y > 0, "up", "down"))
  x <- as.matrix(data[c("a", "b", "c")])
  pair <- function(fun, response, ...) {
    set.seed(1)
    by_matrix <- suppressWarnings(fun(x, data[[response]], ...))
    set.seed(1)
    by_formula <- suppressWarnings(do.call(fun, list(formula = stats::as.formula(paste(response, "~ a + b + c")), data = data, ...)))
    expect_equal(predict(by_formula, data[1:5, ]), predict(by_matrix, x[1:5, ]), ignore_attr = TRUE, tolerance = 1e-8)
  }
  classifiers <- c("gp_classify", "lasvm", "kernel_perceptron", "budget_perceptron", "perceptron", "boost", "kernel_elm", "elm",
                   "pnn", "logitboost")
  for (name in c("lasso", "svm", "rvm", "kriging", "blind_kriging", "sparse_gp", "adapt_partition", "scaled_lasso", "debiased_lasso", "gen_lasso", "forest", "nc_ensemble",
                 "kernel_ridge", classifiers)) {
    fun <- getExportedValue("granary", name)
    extra <- switch(name, lasso = list(lambda = 0.1), gen_lasso = list(lambda = 0.1), kriging = , blind_kriging = list(n_starts = 1), sparse_gp = list(inducing = 10), forest = list(n_trees = 10), list())
    do.call(pair, c(list(fun, if (name %in% classifiers) "z" else "y"), extra))
  }
  # attributes of two values
  data[c("a", "b", "c")] <- lapply(data[c("a", "b", "c")], function(column) as.double(column > 0))
  x <- as.matrix(data[c("a", "b", "c")])
  for (name in c("sasb", "winnow", "weighted_majority", "online_naive_bayes", "bn_classifier", "sbn_fit")) pair(getExportedValue("granary", name), "z")
  several <- grep("[.]formula$", ls(asNamespace("granary")), value = TRUE)
  tested <- c("lasso", "svm", "rvm", "kriging", "blind_kriging", "sparse_gp", "adapt_partition", "scaled_lasso", "debiased_lasso", "gen_lasso", "forest", "nc_ensemble", "kernel_ridge", classifiers, "sasb", "winnow",
              "weighted_majority", "online_naive_bayes", "bn_classifier", "sbn_fit")
  # those with a table, a choice or several tasks as their answer have tests of their own
  own <- c("aso", "aso_baseline", "mta", "mta_compare", "cokriging", "sparse_gp_compare", "debiased_lasso_baseline", "lasso_select", "gen_lasso_select", "svm_select", "transfer_forest",
           "boolean_svm", "co_boost", "cv_error", "group_levels", "linear_01", "multilabel", "stack_classifiers")
  expect_identical(setdiff(sub("[.]formula$", "", several), c(tested, own)), character())
})

test_that("a formula by name goes with data by place, as in lm()", {
  expect_identical(coef(lasso(formula = y ~ a, d, lambda = 0.1)), coef(lasso(y ~ a, d, lambda = 0.1)))
  expect_identical(coef(lasso(d, formula = y ~ a, lambda = 0.1)), coef(lasso(y ~ a, d, lambda = 0.1)))
  expect_identical(coef(lasso(data = d, formula = y ~ a, lambda = 0.1)), coef(lasso(y ~ a, d, lambda = 0.1)))
  generics <- sub("[.]formula$", "", grep("[.]formula$", ls(asNamespace("granary")), value = TRUE))
  for (name in setdiff(generics, "formula_or_first")) {
    body <- deparse(body(get(name, asNamespace("granary"))))
    expect(any(grepl("formula_or_first", body)), paste0(name, "(formula = , data) would not see its formula"))
  }
  expect_error(lasso(), "`x`", class = "granary_error_input")
})

test_that("co-kriging takes a formula and two data frames", {
  cheap <- data.frame(x = seq(0, 1, 0.1))
  cheap$y <- test_function("forrester")(cheap$x, "cheap")
  dear <- data.frame(x = c(0, 0.4, 0.6, 1))
  dear$y <- test_function("forrester")(dear$x)
  by_matrix <- suppressWarnings(cokriging(cheap$x, cheap$y, dear$x, dear$y, kernel = "se", n_starts = 1))
  by_formula <- suppressWarnings(cokriging(y ~ x, cheap, dear, kernel = "se", n_starts = 1))
  expect_equal(predict(by_formula, data.frame(x = c(0.25, 0.75))), predict(by_matrix, c(0.25, 0.75)), ignore_attr = TRUE)
  expect_identical(formula(by_formula), y ~ x)
  expect_error(cokriging(y ~ x, cheap), "`expensive`", class = "granary_error_input")
  expect_error(cokriging(y ~ x, cheap, dear["x"]), "could not be found", class = "granary_error_input")
})

test_that("weights and offsets that a method does not take are refused before they are looked for", {
  two <- data.frame(z = factor(rep(c("u", "v"), 10)), a = rep(c(0, 1), 10) + (1:20) / 50, w = 1, q = factor(rep(1:2, 10)), q2 = factor(rep(1:2, each = 10)))
  for (name in c("lasvm", "kernel_perceptron", "perceptron", "gp_classify", "budget_perceptron")) {
    fun <- getExportedValue("granary", name)
    expect_error(fun(z ~ a, two, weights = w), "case weights", class = "granary_error_input")
    expect_error(fun(z ~ a, two, offset = w), "offset", class = "granary_error_input")
  }
  for (name in c("bn_classifier", "sbn_fit")) {
    expect_error(getExportedValue("granary", name)(z ~ q + q2, two, weights = w), "case weights", class = "granary_error_input")
  }
  expect_error(svm(z ~ a, two, offset = w), "offset", class = "granary_error_input")
})

test_that("sparse approximations are compared by formula as by matrix", {
  set.seed(3)
  rows <- data.frame(x = runif(60, 0, 6))
  rows$y <- sin(rows$x) + rnorm(60, sd = 0.1)
  run <- function(...) {
    set.seed(1)
    sparse_gp_compare(..., methods = c("sor", "fitc"), inducing = 6, kernel = k_se(lengthscale = 1), hyper = "fixed", noise_var = 0.01)
  }
  expect_equal(run(y ~ x, rows[1:40, ], rows[41:60, ])$smse, run(rows$x[1:40], rows$y[1:40], rows$x[41:60], rows$y[41:60])$smse)
})

test_that("every function names the argument that was meant", {
  exports <- getNamespaceExports("granary")
  functions <- Filter(is.function, mget(exports, envir = asNamespace("granary"), inherits = TRUE))
  others <- names(Filter(function(f) !"..." %in% names(formals(f)), functions))
  catalog <- granary_catalog()
  mine <- unlist(lapply(catalog$functions[catalog$family %in% c("graph", "regress", "kernel", "process")], split_words))
  expect_identical(intersect(others, mine), character())  # none without dots, which refuse_dots() looks at
  expect_error(ggm_lasso(mtcars, lamda = 0.1), "no argument `lamda`. Did you mean `lambda`", class = "granary_error_input")
  expect_error(pc(mtcars, alfa = 0.1), "Did you mean `alpha`", class = "granary_error_input")
  expect_error(hsic(1:9, 9:1, widths = 1), "Did you mean `width`", class = "granary_error_input")
  expect_error(sim_ggm("chain", 5, 10, sead = 1), "no argument `sead`", class = "granary_error_input")
})

test_that("what other packages call an argument is translated", {
  fit <- lasso(mpg ~ ., mtcars, lambda = 1)
  expect_error(predict(fit, newx = mtcars), "Here it is called `newdata`", class = "granary_error_input")
  expect_error(svm(Species ~ ., iris, scale = FALSE), "called `standardize`", class = "granary_error_input")
})
