# A function as if it were the package's own: its call is what errors should show.
as_package_function <- function(fun, ...) {
  environment(fun) <- list2env(list(...), parent = environment(granary_catalog))
  fun
}

test_that("each signal has its class, message and argument", {
  e <- expect_error(abort_input("bad", arg = "x"), class = "granary_error_input")
  expect_s3_class(e, c("granary_error_input", "granary_error", "error", "condition"), exact = TRUE)
  expect_identical(conditionMessage(e), "bad")
  expect_identical(e$arg, "x")
  expect_s3_class(expect_error(abort_numeric("bad")), "granary_error_numeric")
  expect_s3_class(expect_warning(warn_input("hm")), "granary_warning_input")
  w <- expect_warning(warn_convergence("slow", convergence = list(iterations = 3)), class = "granary_warning_convergence")
  expect_identical(w$convergence$iterations, 3)
})

test_that("messages carry no terminal codes", {
  message <- conditionMessage(expect_error(abort_input("\033[31mred\033[39m")))
  expect_identical(message, "red")
})

test_that("the call of an error is the one the user wrote", {
  outer <- as_package_function(function(x) vapply(1, function(i) { check_number(x, "x"); 1 }, 1))
  e <- tryCatch(outer("a"), error = identity)
  expect_identical(conditionCall(e), quote(outer("a")))
})

test_that("an error in a forced argument belongs to the argument's own call", {
  first <- as_package_function(function(x) check_number(x, "x"))
  second <- as_package_function(function(fit) check_flag(fit, "fit"))
  e <- tryCatch(second(first("a")), error = identity)
  expect_identical(conditionCall(e), quote(first("a")))
})

test_that("data put into a call by do.call() does not get into the error", {
  first <- as_package_function(function(x, y) check_number(y, "y"))
  e <- tryCatch(do.call(first, list(matrix(0, 100, 100), y = "a")), error = identity)
  expect_lt(nchar(paste(deparse(conditionCall(e)), collapse = "")), 60)
})

test_that("what goes wrong in compiled code has our classes and the user's call", {
  fit <- as_package_function(function(kind) core_raise(kind, "because"))
  expect_error(fit("input"), "because", class = "granary_error_input")
  expect_error(fit("numeric"), "because", class = "granary_error_numeric")
  expect_error(fit("memory"), "memory", class = "granary_error_numeric")
  expect_error(fit("defect"), "because.*report", class = "granary_error_numeric")
  e <- expect_error(kernel_matrix(k_se(lengthscale = 1:3), matrix(0, 2, 2)), class = "granary_error_input")
  expect_identical(conditionCall(e)[[1]], quote(kernel_matrix))
})

test_that("an interrupted core raises an R interrupt, which is no error", {
  caught <- tryCatch(core_raise("interrupt", ""), error = function(e) "error", interrupt = function(i) "interrupt")
  expect_identical(caught, "interrupt")
  abandoned <- withRestarts(core_raise("interrupt", ""), abort = function() "top level")
  expect_identical(abandoned, "top level")
})
