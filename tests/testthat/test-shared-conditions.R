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

thrown <- function(class, message = "because") {
  stop(structure(class = c(class, "C++Error", "error", "condition"), list(message = message, call = NULL)))
}

test_that("core_call() gives C++ exceptions our classes and the user's call", {
  fit <- as_package_function(function(class) core_call(thrown(class)), thrown = thrown)
  e <- expect_error(fit("granary::InputError"), "because", class = "granary_error_input")
  expect_identical(conditionCall(e)[[1]], quote(fit))
  expect_error(fit("granary::NumericalError"), "because", class = "granary_error_numeric")
  expect_error(fit("N7granary10InputErrorE"), class = "granary_error_input")
  expect_error(fit("std::bad_alloc"), "memory", class = "granary_error_numeric")
  expect_error(fit("std::out_of_range"), "because.*report", class = "granary_error_numeric")
  expect_identical(core_call(1 + 1), 2)
  expect_error(core_call(stop("ours")), "ours")
})

test_that("an interrupted core raises an R interrupt, which is no error", {
  caught <- tryCatch(core_call(thrown("granary::Interrupted")), error = function(e) "error", interrupt = function(i) "interrupt")
  expect_identical(caught, "interrupt")
  abandoned <- withRestarts(core_call(thrown("granary::Interrupted")), abort = function() "top level")
  expect_identical(abandoned, "top level")
})
