test_that("the test functions have their known values and minima", {
  expect_equal(test_function("branin")(rbind(c(-pi, 12.275), c(pi, 2.275), c(3 * pi, 2.475))), rep(0.397887, 3), tolerance = 1e-5)
  expect_equal(test_function("camelback")(c(0.0898, -0.7126)), -1.031628, tolerance = 1e-6)
  expect_equal(test_function("camelback")(-c(0.0898, -0.7126)), -1.031628, tolerance = 1e-6)
  expect_equal(test_function("hartmann6")(rep(0.5, 6)), -0.505315, tolerance = 1e-6)
  expect_equal(test_function("hartmann6")(c(0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573)), -3.32237, tolerance = 1e-5)
  expect_equal(stats::optimize(test_function("forrester"), c(0.6, 0.9))$objective, -6.020740, tolerance = 1e-6)
  expect_equal(test_function("forrester")(c(0.1, 0.7), "cheap"), 0.5 * test_function("forrester")(c(0.1, 0.7)) + 10 * (c(0.1, 0.7) - 0.5) - 5)
  expect_identical(dim(attr(test_function("hartmann6"), "box")), c(6L, 2L))
})

test_that("the test functions say which points they take", {
  expect_error(test_function("branin")(1:3), "2 numbers", class = "granary_error_input")
  expect_error(test_function("branin")(matrix(1, 2, 3)), "2 columns", class = "granary_error_input")
  expect_error(test_function("hartmann6")(), "`x`", class = "granary_error_input")
  expect_error(test_function("forrester")(c(0, NA)), "`x`", class = "granary_error_input")
  expect_error(test_function("forrester")(0.5, "middling"), "`fidelity`", class = "granary_error_input")
})
