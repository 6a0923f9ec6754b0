with_settings <- function(code, threads = NULL, limit = "", package = "") {
  old <- options(granary.threads = threads)
  names <- c("_R_CHECK_LIMIT_CORES_", "_R_CHECK_PACKAGE_NAME_")
  before <- Sys.getenv(names, unset = NA)
  on.exit({
    options(old)
    for (name in names) if (is.na(before[[name]])) Sys.unsetenv(name) else do.call(Sys.setenv, as.list(before[name]))
  })
  do.call(Sys.setenv, stats::setNames(list(limit, package), names))
  force(code)
}

test_that("the argument comes before the option, the option before R CMD check", {
  expect_identical(with_settings(thread_count(3), threads = 2, limit = "TRUE"), 3L)
  expect_identical(with_settings(thread_count(), threads = 2, limit = "TRUE"), 2L)
  expect_identical(with_settings(thread_count(), limit = "TRUE"), 1L)
  expect_identical(with_settings(thread_count(), package = "granary"), 1L)
  expect_true(with_settings(thread_count()) %in% 1:8)
})

test_that("an impossible number of threads is refused, wherever it comes from", {
  expect_error(thread_count(0), "`threads`", class = "granary_error_input")
  expect_error(thread_count("many"), "`threads`", class = "granary_error_input")
  expect_error(with_settings(thread_count(), threads = -1), "granary.threads", class = "granary_error_input")
})

test_that("set.seed() governs the seed of the core", {
  set.seed(1)
  first <- core_seed()
  second <- core_seed()
  set.seed(1)
  expect_identical(core_seed(), first)
  expect_false(identical(first, second))
  expect_type(first, "double")
  expect_length(first, 2)
  expect_true(all(first >= 1 & first == round(first)))
})
