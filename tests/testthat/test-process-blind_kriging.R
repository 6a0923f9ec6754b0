test_that("the effects of a quadratic are found first, and the errors of the path are those of fits", {
  set.seed(1)
  x <- cbind(a = runif(25), b = runif(25), c = runif(25))
  y <- 5 * x[, 1] + 20 * (x[, 2] - 0.5)^2 + 0.1 * sin(9 * x[, 3])
  fit <- suppressWarnings(blind_kriging(x, y, kernel = "se", n_starts = 3, max_terms = 5))
  expect_setequal(fit$path$term[2:3], c("lin(a)", "quad(b)"))
  expect_identical(nrow(fit$path), 6L)
  expect_identical(which.min(fit$path$cvpe), sum(fit$path$kept))
  expect_lte(fit$cvpe, min(fit$path$cvpe) * (1 + 1e-8))
  expect_s3_class(fit, c("granary_blind_kriging", "granary_kriging"), exact = FALSE)
  expect_output(print(fit), "effects kept")
  expect_equal(predict(fit), y, tolerance = 1e-6)
})

test_that("every step of the path is universal kriging with that trend", {
  set.seed(2)
  x <- cbind(a = runif(16), b = runif(16))
  y <- 3 * x[, 1] * x[, 2] + sin(6 * x[, 1])
  ordinary <- suppressWarnings(kriging(x, y, n_starts = 2, nugget = 1e-4))
  set.seed(3)
  fit <- suppressWarnings(blind_kriging(x, y, n_starts = 2, nugget = 1e-4, max_terms = 3))
  expect_equal(fit$path$cvpe[1], ordinary$cvpe, tolerance = 1e-4)
  z <- function(v) 2 * (v - min(v)) / diff(range(v)) - 1
  effect <- function(term) {
    v <- z(x[, sub(".*\\((.)\\)", "\\1", term)])
    if (grepl("lin", term)) sqrt(1.5) * v else sqrt(0.5) * (3 * v^2 - 2)
  }
  columns <- vapply(fit$path$term[-1], function(term) Reduce(`*`, lapply(strsplit(term, ":")[[1]], effect)), numeric(16))
  for (s in 1:3) {
    f <- cbind(1, columns[, seq_len(s)])
    C <- kernel_matrix(k_matern(2.5, ordinary$lengthscale), x) + 1e-4 * diag(16)
    Ci <- solve(C)
    H <- Ci - Ci %*% f %*% solve(t(f) %*% Ci %*% f) %*% t(f) %*% Ci
    expect_equal(fit$path$cvpe[s + 1], sqrt(mean((H %*% y / diag(H))^2)), tolerance = 1e-3)
  }
})

test_that("derivatives go through the trend that was found, and update keeps it", {
  set.seed(4)
  x <- cbind(a = runif(20, 0, 3), b = runif(20, -4, 4))
  y <- x[, 1]^2 + x[, 1] * x[, 2] + sin(3 * x[, 2])
  fit <- suppressWarnings(blind_kriging(x, y, n_starts = 2, degree = 3, nugget = 1e-6))
  new <- cbind(a = 1.2, b = 0.7)
  slope <- predict(fit, new, gradient = TRUE)$gradient
  for (k in 1:2) {
    step <- replace(numeric(2), k, 1e-4)
    expect_equal(slope[[k]], (predict(fit, new + step) - predict(fit, new - step)) / 2e-4, tolerance = 1e-5)
  }
  more <- update(fit, new, 1.2^2 + 1.2 * 0.7 + sin(2.1))
  expect_s3_class(more, "granary_blind_kriging")
  expect_identical(more$path, fit$path)
})

test_that("constant responses, few runs and kernels that are not stationary have an answer", {
  expect_warning(flat <- blind_kriging(1:5, rep(2, 5)), "constant", class = "granary_warning_input")
  expect_identical(nrow(flat$path), 1L)
  expect_s3_class(suppressWarnings(blind_kriging(1:2, c(1, 3))), "granary_blind_kriging")
  expect_error(blind_kriging(1:5, 1:5, kernel = "linear"), "stationary", class = "granary_error_input")
  expect_error(blind_kriging(1:5, 1:5, degree = 5), "`degree`", class = "granary_error_input")
  expect_error(blind_kriging(1:5, 1:5, max_terms = -1), "`max_terms`", class = "granary_error_input")
  expect_error(blind_kriging(1:5), "`y`", class = "granary_error_input")
  none <- suppressWarnings(blind_kriging(c(0, 1, 2, 4), c(1, 3, 2, 0), max_terms = 0))
  expect_identical(none$trend$kind, "constant")
})
