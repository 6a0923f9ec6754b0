exotic <- list(
  null = NULL, list = list(1), empty_list = list(), function_ = mean, primitive = sum, environment = globalenv(), name = quote(a),
  call = quote(a + b), formula = y ~ x, expression = expression(a), factor = factor("a"), date = as.Date("2020-01-01"), time = Sys.time(),
  difftime = as.difftime(1, units = "secs"), complex = 1i, raw = as.raw(1), text = "a", na_text = NA_character_, na = NA, na_integer = NA_integer_,
  na_real = NA_real_, nan = NaN, na_complex = NA_complex_, infinite = Inf, minus_infinite = -Inf, logical_0 = logical(), numeric_0 = numeric(),
  character_0 = character(), two = c(1, 2), array = array(1, c(1, 1, 1)), frame_0 = data.frame(), matrix_text = matrix("a"),
  matrix_0 = matrix(0, 0, 3), s4 = Matrix::Matrix(0, 2, 2), lm = structure(list(), class = "lm"), dated = structure(1, class = "integer64")
)

test_that("no exotic value passes or breaks a check: all end in a granary_error_input naming the argument", {
  checks <- list(
    number = function(v) check_number(v, "arg_name"), count = function(v) check_count(v, "arg_name"), flag = function(v) check_flag(v, "arg_name"),
    choice = function(v) check_choice(v, c("one", "other"), "arg_name"), vector = function(v) check_vector(v, "arg_name", length = 3),
    matrix = function(v) check_matrix(v, "arg_name"), symmetric = function(v) check_symmetric(v, "arg_name", min_size = 3)
  )
  for (check in names(checks)) {
    for (value in names(exotic)) {
      passes <- check == "matrix" && value == "s4"
      if (check == "number" && value %in% "array" || check == "count" && value %in% "array") next  # one number all the same
      result <- tryCatch(checks[[check]](exotic[[value]]), error = identity)
      label <- paste(check, "of", value)
      if (passes) {
        expect_true(is.matrix(result), label = label)
      } else {
        expect_s3_class(result, "granary_error_input")
        if (!inherits(result, "granary_error_input")) fail(label)
        if (inherits(result, "condition")) expect_match(conditionMessage(result), "`arg_name`", label = label)
      }
    }
  }
})

test_that("check_number() keeps to its range", {
  expect_identical(check_number(1L, "x"), 1)
  expect_error(check_number(0, "x", lower = 0, strict_lower = TRUE), "`x` must be one number greater than 0, not the value 0",
               class = "granary_error_input")
  expect_identical(check_number(0, "x", lower = 0), 0)
  expect_error(check_number(2, "x", upper = 1), "at most 1")
  expect_identical(check_number(1e308, "x"), 1e308)
  expect_null(check_number(NULL, "x", allow_null = TRUE))
  expect_identical(check_number(Inf, "x", allow_infinite = TRUE), Inf)
  lambda <- "a"
  expect_error(check_number(lambda), "`lambda`")
})

test_that("check_count() wants whole numbers an integer can hold", {
  expect_identical(check_count(3, "k"), 3L)
  expect_error(check_count(1.5, "k"), "whole number")
  expect_error(check_count(0, "k"), "at least 1")
  expect_error(check_count(1e308, "k"), "too large")
  expect_error(check_count(3e9, "k"), "too large")
})

test_that("check_choice() works like match.arg() and suggests", {
  choices <- c("quic", "bcd", "admm")
  expect_identical(check_choice(choices, choices), "quic")
  expect_identical(check_choice("b", choices), "bcd")
  expect_error(check_choice("quick", choices, "method"),
               "`method`.*one of \"quic\", \"bcd\", \"admm\".*Did you mean \"quic\"", class = "granary_error_input")
  expect_error(check_choice("", choices, "method"), class = "granary_error_input")
  expect_error(check_choice("x", c("xa", "xb"), "method"), class = "granary_error_input")
})

test_that("check_vector() returns doubles with their names", {
  expect_identical(check_vector(c(a = 1L, b = 2L), "w"), c(a = 1, b = 2))
  expect_identical(check_vector(matrix(1:3, 3), "w"), c(1, 2, 3))
  expect_error(check_vector(1:2, "w", length = 3), "of length 3, not one of length 2")
  expect_error(check_vector(c(1, -1), "w", lower = 0), "element 2 is -1")
  expect_error(check_vector(c(1, NA, NaN), "w"), "2 values are NA or NaN, the first at element 2")
  expect_identical(check_vector(c(1, NA), "w", allow_na = TRUE), c(1, NA))
  expect_error(check_vector(c(1, Inf), "w", allow_na = TRUE), "1 value is infinite")
})

test_that("check_matrix() reads every kind of table alike", {
  truth <- matrix(c(1, 2, 3, 4), 2, dimnames = list(NULL, c("a", "b")))
  frame <- data.frame(a = 1:2, b = c(3, 4))
  expect_identical(check_matrix(truth), truth)
  expect_identical(check_matrix(frame), truth)
  storage <- truth
  storage.mode(storage) <- "integer"
  expect_identical(check_matrix(storage), truth)
  expect_identical(check_matrix(Matrix::Matrix(truth, sparse = TRUE)), truth)
  expect_identical(check_matrix(ts(truth)), truth)
  expect_identical(rownames(check_matrix(data.frame(a = 1, row.names = "first"))), "first")
  expect_identical(check_matrix(matrix(c(TRUE, FALSE), 1)), matrix(c(1, 0), 1))
  skip_if_not_installed("tibble")
  expect_identical(check_matrix(tibble::as_tibble(frame)), truth)
})

test_that("sparse matrices stay sparse where that is allowed", {
  for (x in list(Matrix::Diagonal(3), Matrix::sparseMatrix(1:2, 2:3, x = c(1, 2), dims = c(3, 3), symmetric = TRUE), methods::as(3:1, "pMatrix"),
                 Matrix::Matrix(c(TRUE, FALSE), 2, 2, sparse = TRUE))) {
    expect_s4_class(y <- check_matrix(x, "x", allow_sparse = TRUE), "dgCMatrix")
    expect_equal(as.matrix(y), as.matrix(x) + 0)
  }
  broken <- Matrix::sparseMatrix(c(1, 3), c(1, 2), x = c(1, NA), dims = c(3, 3))
  expect_error(check_matrix(broken, "x", allow_sparse = TRUE), "row 3, column 2", class = "granary_error_input")
  expect_error(check_matrix(Matrix::sparseMatrix(1, 1, x = 1, dims = c(1e5, 1e5)), "x"), "too large", class = "granary_error_input")
})

test_that("check_matrix() names the column at fault", {
  expect_error(check_matrix(iris, "x"), "column 5 \\(\"Species\"\\) is a factor.*model.matrix", class = "granary_error_input")
  expect_error(check_matrix(data.frame(a = 1, d = Sys.Date()), "x"), "column 2 \\(\"d\"\\) is a Date")
  expect_error(check_matrix(data.frame(a = 1, l = I(list(1))), "x"), "\"l\"")
  expect_error(check_matrix(data.frame(a = 1, z = 1i), "x"), "complex")
})

test_that("check_matrix() counts and places what is missing or infinite", {
  x <- matrix(0, 3, 2, dimnames = list(NULL, c("a", "b")))
  x[2, 2] <- NA
  x[3, 2] <- NaN
  expect_error(check_matrix(x, "x"), "2 values are NA or NaN, the first at row 2, column 2 \\(\"b\"\\).*na.omit")
  expect_identical(check_matrix(x, "x", allow_na = TRUE), x)
  expect_silent(check_matrix(NA * x, "x", allow_na = TRUE))
  x[1, 1] <- -Inf
  expect_error(check_matrix(x, "x", allow_na = TRUE), "1 value is infinite, the first at row 1, column 1")
})

test_that("check_matrix() minds the shape and the size of the numbers", {
  expect_error(check_matrix(matrix(0, 0, 2), "x"), "at least 1 row, but it has none")
  expect_error(check_matrix(matrix(0, 2, 0), "x"), "at least 1 column, but it has none")
  expect_error(check_matrix(matrix(0, 1, 2), "x", min_rows = 2), "at least 2 rows, but it has 1")
  expect_error(check_matrix(matrix(c(1, 1e308), 2), "x"), "too large.*1e\\+308 at row 2, column 1")
  expect_error(check_matrix(1:3, "x"), "cbind")
  expect_identical(check_matrix(matrix(c(1e200, -1e200), 1), "x", max_abs = Inf), matrix(c(1e200, -1e200), 1))
  expect_identical(check_matrix(matrix(c(1e308, 1e308), 1), "x", max_abs = Inf), matrix(c(1e308, 1e308), 1))  # whose sum is infinite
})

test_that("check_symmetric() symmetrises rounding and names the worst pair", {
  x <- matrix(c(2, 1, 1 + 1e-12, 3), 2)
  y <- check_symmetric(x, "S")
  expect_identical(y, t(y))
  x <- diag(3)
  x[1, 2] <- 0.5
  x[3, 1] <- 0.1
  dimnames(x) <- list(letters[1:3], letters[1:3])
  expect_error(check_symmetric(x, "S"), "\"a\" and \"b\"", class = "granary_error_input")
  expect_error(check_symmetric(matrix(0, 2, 3), "S"), "2 rows, 3 columns")
  expect_identical(dimnames(check_symmetric(matrix(1, 2, 2, dimnames = list(NULL, c("a", "b"))), "S")), list(c("a", "b"), c("a", "b")))
  expect_error(check_symmetric(matrix(1, 2, 2, dimnames = list(c("b", "a"), c("a", "b"))), "S"), "row 1 is \"b\" and column 1 is \"a\"")
  for (scale in c(1e-8, 1e8)) expect_error(check_symmetric(scale * x, "S"), "symmetric")
  expect_s4_class(check_symmetric(Matrix::Diagonal(3), "S", allow_sparse = TRUE), "dgCMatrix")
})

test_that("names must tell variables apart, and packages must be there", {
  expect_null(check_names_unique(NULL, "x"))
  expect_identical(check_names_unique(c("a", "b"), "x"), c("a", "b"))
  expect_error(check_names_unique(c("a", "b", "a"), "x"), "\"a\" appears more than once", class = "granary_error_input")
  expect_error(check_names_unique(c("a", ""), "x"), "name 2", class = "granary_error_input")
  expect_true(check_installed("stats", "to test"))
  expect_error(check_installed("no.such.package", "to draw networks"),
               "no.such.package is needed to draw networks.*install.packages", class = "granary_error_input")
})

test_that("an argument is called what the caller calls it, also after conversion", {
  data <- data.frame(a = c(1, NA))
  expect_error(check_matrix(data), "^`data` must have no missing values", class = "granary_error_input")
  weights <- matrix(c(1, NA), 1)
  expect_error(check_vector(weights), "^`weights` must have no missing values", class = "granary_error_input")
  sigma <- data.frame(a = 1:2, b = 3:4)
  expect_error(check_symmetric(sigma), "^`sigma` must be symmetric", class = "granary_error_input")
})

test_that("an argument left out is an input error too", {
  fit <- function(x, k) {
    check_count(k)
    check_matrix(x)
  }
  expect_error(fit(matrix(1)), "`k` must be given", class = "granary_error_input")
  expect_error(fit(k = 1), "`x` must be given", class = "granary_error_input")
})

test_that("a response that is no number says where to go", {
  x <- as.matrix(iris[1:4])
  for (fit in list(lasso, kriging, rvm)) expect_error(fit(x, iris$Species), "For classes take svm", class = "granary_error_input")
  expect_error(lasso(x[1:100, ], factor(iris$Species[1:100])), "binomial", class = "granary_error_input")
  expect_error(lasso(mtcars, "mpg"), "use a formula, such as mpg ~ .", class = "granary_error_input", fixed = TRUE)
  expect_error(kriging(mtcars, "a b"), "`a b` ~ .", class = "granary_error_input", fixed = TRUE)
})

test_that("a function called without its arguments says which it needs", {
  others <- c("reproduce", "tidy", "glance", "augment")  # runs of minutes, and generics of another package
  for (name in setdiff(getNamespaceExports("granary"), others)) {
    f <- get(name, asNamespace("granary"))
    if (!is.function(f)) next
    said <- tryCatch({
      utils::capture.output(suppressMessages(suppressWarnings(do.call(f, list()))))
      ""
    }, granary_error = function(e) "", error = function(e) paste0(name, "(): ", conditionMessage(e)))
    expect_identical(said, "")
  }
})

test_that("what does not fit into memory is refused with its size, before anything is allocated", {
  old <- options(granary.memory = 1e5)
  on.exit(options(old))
  set.seed(1)
  wide <- matrix(rnorm(6 * 200), 6)
  tall <- matrix(rnorm(400), 200)
  columns <- list(
    function() ggm_lasso(wide, lambda = 0.5), function() ggm_neighbors(wide, lambda = 0.5), function() ggm_nodes(wide), function() ggm_hub(wide),
    function() cov_hub(wide), function() causal_dag(wide), function() pc(wide), function() data_moments(wide),
    function() ggm_multi(wide[c(1:6, 1:6), ], groups = rep(1:2, each = 6))
  )
  for (call in columns) expect_error(suppressWarnings(call()), "All pairs of 200 columns need about .* GB", class = "granary_error_input")
  rows <- list(
    function() kriging(tall, tall[, 1]), function() mds(tall, 2), function() isomap(tall, 2), function() kernel_pca(tall, 2), function() gplvm(tall, 1),
    function() resilient_cluster(tall, 2), function() q_alpha(tall, 2), function() tsne(tall, method = "exact")
  )
  for (call in rows) expect_error(suppressWarnings(call()), "All pairs of 200 rows need about .* GB", class = "granary_error_input")
  expect_error(kernel_matrix(k_se(), tall), "4e.04 kernel values need about .* GB", class = "granary_error_input")
})

test_that("a call left unevaluated, and arguments left out, are told as such", {
  expect_error(em_select(quote(a + b)), "`x`", class = "granary_error_input")
  expect_error(output_custom(1:3), "`y` must be given", class = "granary_error_input")
  expect_error(output_custom(1:3, 1:3), "`psi` must be given", class = "granary_error_input")
  expect_output(print(summary(c(ec_factor("truncate"), ec_factor("flat")))), "2 factors")
})
