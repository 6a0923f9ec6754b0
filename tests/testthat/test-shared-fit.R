record <- function(converged = TRUE, iterations = 7L, gap = 3e-9, residual = 1e-8, seconds = 0.02, message = "") {
  list(converged = converged, iterations = iterations, gap = gap, residual = residual, seconds = seconds, message = message)
}

test_that("new_fit() prefixes the classes and keeps the parts", {
  fit <- new_fit(c("ggm_lasso", "ggm"), precision = diag(2), call = quote(f(x)), convergence = record())
  expect_s3_class(fit, c("granary_ggm_lasso", "granary_ggm", "granary_fit"), exact = TRUE)
  expect_identical(fit$precision, diag(2))
  expect_identical(fit$call, quote(f(x)))
})

test_that("format_convergence() is one line that says how the solver ended", {
  expect_identical(format_convergence(record()), "converged in 7 iterations, duality gap 3e-09, 0.02 s")
  expect_identical(format_convergence(record(iterations = 1L, gap = NaN)), "converged in 1 iteration, residual 1e-08, 0.02 s")
  expect_identical(format_convergence(record(FALSE, 100L, message = "line search failed")),
                   "NOT converged: stopped after 100 iterations, duality gap 3e-09, 0.02 s; line search failed")
  expect_identical(format_convergence(record(gap = NaN, residual = NaN, seconds = NaN)), "converged in 7 iterations")
  expect_identical(format_convergence(NULL), "no iterations were needed")
})

test_that("format_convergence() sums up a path", {
  path <- list(record(iterations = 3L), record(iterations = 9L, gap = 5e-9))
  expect_identical(format_convergence(path), "all 2 problems converged in 3 to 9 iterations, largest duality gap 5e-09, 0.04 s")
  vectors <- record(converged = c(TRUE, FALSE), iterations = c(3L, 100L), gap = c(1e-9, 0.5))
  expect_match(format_convergence(vectors), "^NOT converged: 1 of 2 problems stopped early, after 100 iterations, duality gap 0.5")
})

test_that("check_convergence() warns with what was reached, and only then", {
  good <- new_fit("x", call = NULL, convergence = record())
  expect_silent(check_convergence(good))
  bad <- new_fit("x", call = NULL, convergence = record(FALSE, 100L, 0.3))
  expect_warning(check_convergence(bad), "NOT converged.*100 iterations.*0.3.*max_iter", class = "granary_warning_convergence")
})

test_that("print, summary and glance work for any fit", {
  fit <- new_fit("average", mean = c(a = 1, b = 2), weights = runif(20), model = "normal", nothing = NULL,
                 sparse = Matrix::Diagonal(2), call = quote(average(x)), convergence = record(FALSE))
  text <- paste(capture.output(returned <- print(fit)), collapse = "\n")
  expect_identical(returned, fit)
  expect_match(text, "granary: average\nCall: average\\(x\\)")
  expect_match(text, "NOT converged")
  expect_match(paste(capture.output(summary(fit)), collapse = "\n"), "median.*NOT converged")
  expect_s3_class(summary(fit), "summary_granary_fit")
  row <- glance(fit)
  expect_identical(nrow(row), 1L)
  expect_identical(row$converged, FALSE)
  path <- new_fit("path", call = NULL, convergence = list(record(), record()))
  expect_identical(nrow(glance(path)), 2L)
  expect_output(print(summary(path)), "all 2 problems")
})
