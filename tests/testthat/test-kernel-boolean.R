# Every conjunction, or parity, of up to k attributes as a column
brute_features <- function(x, k, type = "monotone", g = 1, exact = FALSE, empty = FALSE) {
  if (type == "signed") x <- cbind(x, 1 - x)
  n <- ncol(x)
  out <- list()
  names <- character()
  for (i in 0:min(k, n)) {
    if (exact && i != k || (i == 0 && !empty && type != "parity")) next
    for (set in if (i == 0) list(integer()) else utils::combn(n, i, simplify = FALSE)) {
      if (type == "signed" && anyDuplicated((set - 1) %% (n / 2))) next
      part <- if (type == "parity") 1 - 2 * x[, set, drop = FALSE] else x[, set, drop = FALSE]
      out <- c(out, list(g^(i / 2) * apply(part, 1, prod)))
      names <- c(names, paste(colnames(x)[set], collapse = " & "))
    }
  }
  structure(do.call(cbind, out), dimnames = list(NULL, names))
}
bits <- function(n, p) matrix(stats::rbinom(n * p, 1, 0.5), n, p, dimnames = list(NULL, letters[seq_len(p)]))

test_that("boolean kernels are inner products over all conjunctions", {
  set.seed(1)
  x <- bits(6, 5)
  for (type in c("monotone", "signed", "parity")) {
    for (k in 1:5) {
      for (g in c(1, 0.4)) {
        z <- brute_features(x, k, type, g)
        expect_equal(kernel_matrix(k_boolean(k, type, damping = g), x), tcrossprod(z), tolerance = 1e-10)
        z <- brute_features(x, k, type, g, exact = TRUE)
        expect_equal(kernel_matrix(k_boolean(k, type, exact = TRUE, damping = g), x), tcrossprod(z), tolerance = 1e-10)
      }
    }
    z <- brute_features(x, 5, type, empty = TRUE)
    expect_equal(kernel_matrix(k_boolean(Inf, type, empty = TRUE), x), tcrossprod(z), tolerance = 1e-10)
  }
  s <- tcrossprod(x)
  expect_equal(kernel_matrix(k_boolean(Inf), x), 2^s - 1)
  expect_equal(kernel_matrix(k_boolean(Inf), cbind(x, 1)), 2 * 2^s - 1)
  expect_equal(kernel_matrix(k_boolean(Inf, damping = 0.3), x), 1.3^s - 1, tolerance = 1e-12)
  expect_equal(kernel_matrix(k_boolean(2, log = TRUE), x + (1 - x)), log(matrix(15, 6, 6)))
  m <- kernel_matrix(k_boolean(3, "signed", normalize = TRUE), x)
  expect_equal(diag(m), rep(1, 6))
  expect_equal(kernel_matrix(2 * k_boolean(2, columns = 2:3) + k_boolean(1), x),
               2 * tcrossprod(brute_features(x[, 2:3], 2)) + s)
})

test_that("support vector machines with it, dense, sparse, and their rules", {
  set.seed(2)
  x <- bits(60, 8)
  y <- factor(x[, "a"] * x[, "b"] + x[, "c"] * x[, "d"] > 0)
  k <- k_boolean(2)
  dense <- svm(x, y, kernel = k, cost = 100, standardize = FALSE)
  sparse <- svm(methods::as(x, "CsparseMatrix"), y, kernel = k, cost = 100, standardize = FALSE)
  expect_equal(predict(dense, x, type = "link"), predict(sparse, x, type = "link"), tolerance = 1e-3,
               ignore_attr = TRUE)
  z <- brute_features(x, 2)
  weights <- drop(crossprod(z[dense$index, ], dense$coefficients[, 1]))
  rules <- boolean_rules(dense, top = 10)
  expect_equal(rules$estimate, unname(weights[rules$term]), tolerance = 1e-10)
  expect_equal(abs(rules$estimate), sort(abs(unname(weights)), decreasing = TRUE)[1:10], tolerance = 1e-10)
  expect_equal(rules$support, unname(colSums(z)[rules$term]))
  expect_equal(rules$share.TRUE, unname(colMeans(z[y == TRUE, ])[rules$term]))
  expect_setequal(rules$term[1:2], c("a & b", "c & d"))
  expect_error(svm(x, y, kernel = k), "standardize = FALSE", class = "granary_error_input")
  expect_error(boolean_rules(svm(x, y)), "k_boolean", class = "granary_error_input")
  expect_error(boolean_rules(svm(x, y, kernel = k_boolean(2, normalize = TRUE), standardize = FALSE)), "normalised",
               class = "granary_error_input")
})

test_that("the margin is the largest: worked examples, the features, optimality", {
  fit <- boolean_svm(rbind(c(1, 1, 0), c(0, 1, 1), c(0, 0, 0)), c(1, 1, 0), tol = 1e-9)
  expect_equal(unname(fit$margin), rep(0.7071068, 2), tolerance = 1e-6)
  two <- boolean_svm(rbind(c(1, 1, 0), c(0, 0, 0)), c("b", "a"), k = 2)
  expect_equal(two$margin[["lower"]], sqrt(3) / 2, tolerance = 1e-6)
  expect_equal(two$theta / two$norm, sqrt(3) / 2, tolerance = 1e-6)
  for (seed in 3:5) {
    set.seed(seed)
    x <- bits(30, 7)
    y <- x[, 1] + x[, 2] * x[, 3] > 0
    for (type in c("monotone", "signed")) {
      fit <- boolean_svm(x, y, k = 3, type = type, tol = 1e-8)
      w <- drop(crossprod(brute_features(x, 3, type), fit$coefficients))
      f <- drop(brute_features(x, 3, type) %*% w) - fit$theta
      b <- ifelse(y, 1, -1)
      expect_equal(unname(fit$decision), f, tolerance = 1e-7)
      expect_equal(min(b * f) / sqrt(sum(w^2)), fit$margin[["lower"]], tolerance = 1e-6)
      expect_true(all(abs(fit$coefficients) * (b * f - 1) < 1e-5))
      expect_equal(sum(fit$coefficients), 0, tolerance = 1e-10)
      expect_lte(fit$certificate, fit$margin[["upper"]])
      expect_identical(as.logical(as.character(predict(fit))), unname(y))
    }
  }
})

test_that("data frames, factors, formulas and new rows by name", {
  set.seed(6)
  d <- data.frame(eye = sample(c("blue", "brown", "green"), 60, TRUE), tall = sample(c(TRUE, FALSE), 60, TRUE),
                  coin = rbinom(60, 1, 0.5))
  d$y <- ifelse(d$eye == "blue" & d$tall, "yes", "no")
  fit <- boolean_svm(d[1:3], d$y, k = 2)
  expect_identical(as.character(predict(fit, d[60:1, 3:1])), d$y[60:1])
  expect_identical(boolean_rules(fit, top = 1)$term, "eye=blue & tall")
  expect_error(predict(fit, transform(d, eye = "red")), "red", class = "granary_error_input")
  agree <- outer(1:5, 1:5, Vectorize(function(i, j) sum(d$eye[i] == d$eye[j]) + 0))
  expect_equal(kernel_matrix(k_boolean(1), boolean_attributes(d[1:5, "eye", drop = FALSE])), agree, ignore_attr = TRUE)
  by_formula <- boolean_svm(y ~ eye + tall + coin, d, k = 2, type = "signed")
  expect_identical(as.character(predict(by_formula, d)), d$y)
  expect_output(print(by_formula), "margin")
  expect_named(glance(fit), c("nobs", "margin", "upper", "radius", "memorisation", "n_support", "converged",
                              "iterations", "gap", "residual", "seconds"))
  expect_identical(nobs(fit), 60L)
  expect_identical(names(coef(fit, top = 3)), tidy(fit, top = 3)$term)
  expect_s3_class(augment(fit), "data.frame")
})

test_that("choosing k; learning by heart on the paper's law", {
  set.seed(7)
  x <- bits(80, 8)
  y <- x[, "a"] * x[, "b"] + x[, "c"] * x[, "d"] > 0
  choice <- boolean_select(x, y, k = 1:4, folds = 5)
  expect_s3_class(choice, "granary_selection")
  expect_identical(choice$fit$kernel$max_length, 2L)
  expect_identical(nrow(choice$table), 4L)
  expect_identical(boolean_select(x, y, k = 2:3, rule = "radius")$table$k, c(2, 3))
  # Result 2: the target is the first attribute, yet long conjunctions fail
  errors <- vapply(c(1, 5), function(k) {
    mean(vapply(1:3, function(seed) {
      set.seed(seed)
      d <- sim_boolean(250, 200, "result2")
      fit <- suppressWarnings(boolean_svm(d$x[1:50, ], d$y[1:50], k = k))
      mean(predict(fit, d$x[51:250, ]) != d$y[51:250])
    }, 0))
  }, 0)
  expect_lt(errors[1], 0.3)
  expect_gt(errors[2], 0.4)
  set.seed(1)
  d <- sim_boolean(250, 200, "result2")
  expect_warning(fit <- boolean_svm(d$x[1:50, ], d$y[1:50], k = 5), "memorisation")
  forced <- predict(fit, d$x[51:250, ], type = "forced")
  expect_true(all(predict(fit, d$x[51:250, ])[forced] == (if (fit$theta > 0) "0" else "1")))
})

test_that("bounds of the paper", {
  first <- function(n, p, column) {
    table <- boolean_bounds(n = n, p = p, k_max = 15)
    table$k[table[[column]]][1]
  }
  expect_identical(c(first(100, 1e3, "overfits"), first(1000, 1e3, "overfits"), first(100, 1e4, "overfits"),
                     first(100, 1e5, "overfits"), first(1000, 1e6, "overfits")),
                   c(5L, 7L, 4L, 3L, 4L))
  expect_identical(c(first(100, 1e3, "polynomial"), first(100, 1e4, "polynomial"), first(1000, 1e6, "polynomial")),
                   c(9L, 7L, 7L))
  expect_false(any(boolean_bounds(n = 100, p = 1e6)$uniform))
  expect_identical(nrow(boolean_bounds("sample", x = diag(4), y = c(1, 1, 2, 2))), 1L)
})

test_that("simulated data are the same after set.seed()", {
  set.seed(8)
  a <- sim_boolean(20, 30, "D")
  set.seed(8)
  expect_identical(sim_boolean(20, 30, "D"), a)
  expect_true(all(a$x %in% 0:1))
})

test_that("what makes no sense is refused in a sentence", {
  fails <- function(expression, pattern) expect_error(expression, pattern, class = "granary_error_input")
  x <- rbind(c(0, 1), c(1, 0), c(1, 1))
  fails(k_boolean(0), "k")
  fails(k_boolean(1.5), "k")
  fails(k_boolean(type = "monoton3"), "Did you mean")
  fails(k_boolean(Inf, exact = TRUE), "exact")
  fails(k_boolean(2, exact = TRUE, empty = TRUE), "exclude")
  fails(k_boolean(damping = 0), "damping")
  fails(k_boolean(normalize = TRUE, log = TRUE), "normalised")
  fails(k_boolean(type = "parity", log = TRUE), "logarithm")
  fails(kernel_matrix(k_boolean(), x / 2), "0 or 1")
  fails(kernel_matrix(k_boolean(), iris[, 1:2]), "0 or 1")
  fails(boolean_svm(x * 2, c(1, 1, 2)), "0 or 1")
  fails(boolean_svm(x, c(1, 1, 1)), "two classes")
  fails(boolean_svm(x, 1:3), "two classes")
  fails(boolean_svm(x, c(1, NA, 2)), "NA")
  fails(boolean_svm(rbind(x, x[1, ]), c(1, 1, 2, 2)), "rows 1 and 4")
  fails(boolean_svm(rbind(c(NA, 1), x), c(1, 1, 2, 2)), "missing")
  fails(boolean_svm(x, c(1, 1, 2), weights = 1:3), "weights")
  fails(boolean_attributes(data.frame(a = c("x", NA))), "missing")
  fails(boolean_attributes(data.frame(a = c(0, 2))), "0 or 1")
  fails(boolean_rules(1), "boolean_svm")
  fails(sim_boolean(10, 3, terms = 2, term_length = 2), "attributes")
  fails(boolean_bounds(), "n")
  expect_warning(boolean_svm(rbind(c(0, 0), c(0, 1), c(1, 0), c(1, 1)), c(1, 2, 2, 1), k = 1), "separates",
                 class = "granary_warning_convergence")
  expect_error(kernel_matrix(k_boolean(Inf), matrix(1, 2, 2000)), "range", class = "granary_error_numeric")
})
