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
  for (name in intersect(c("lasso", "svm", "rvm", "kriging", "sparse_gp", "gp_classify", "adapt_partition", "scaled_lasso", "lasvm"), getNamespaceExports("granary"))) {
    fun <- getExportedValue("granary", name)
    extra <- switch(name, lasso = list(lambda = 0.1), kriging = list(n_starts = 1), sparse_gp = list(k = 10), list())
    extra <- extra[names(extra) %in% names(formals(get0(paste0(name, ".default"), asNamespace("granary"))))]
    do.call(pair, c(list(fun, if (name %in% c("gp_classify", "lasvm")) "z" else "y"), extra))
  }
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
