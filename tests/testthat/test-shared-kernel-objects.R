# Kernels over objects, by a kernel of the user's: everything is compared with the same method on the kernel matrix.

letters_of <- function(s) strsplit(s, "")[[1L]]
overlap <- function(a, b) {
  outer(seq_along(a), seq_along(b), Vectorize(function(i, j) {
    s <- tabulate(match(letters_of(a[[i]]), letters), 26L)
    t <- tabulate(match(letters_of(b[[j]]), letters), 26L)
    sum(s * t)
  }))
}
bag_kernel <- function(...) k_user(overlap, objects = TRUE, ...)

words <- function(n, seed = 1) {
  set.seed(seed)
  replicate(n, paste(sample(letters, sample(3:8, 1), replace = TRUE, prob = 26:1), collapse = ""))
}

test_that("a kernel of texts has the values of its function, names kept and repeated texts kept apart", {
  x <- c(a = "abc", b = "abd", c = "xyz", d = "abc")
  k <- kernel_matrix(bag_kernel(), x)
  expect_equal(unname(k), overlap(x, x))
  expect_identical(dimnames(k), list(names(x), names(x)))
  expect_equal(unname(kernel_matrix(bag_kernel(), x, c("cab", "abc"))), overlap(x, c("cab", "abc")))
  expect_equal(unname(kernel_matrix(bag_kernel(), factor(x))), unname(overlap(x, x)))
  lists <- list(1:3, 2:5, 9L)
  shared <- k_user(function(a, b) sapply(b, function(t) sapply(a, function(s) length(intersect(s, t)))), objects = TRUE)
  expect_equal(kernel_matrix(shared, lists), matrix(c(3, 2, 0, 2, 4, 0, 0, 0, 1), 3))
})

test_that("kernels over objects add and multiply with kernels over the columns of numbers", {
  data <- data.frame(u = c(0.1, 2, 3), text = c("abc", "bcd", "abc"), v = c(1, 1, 0))
  numbers <- as.matrix(data[c("u", "v")])
  k <- bag_kernel()
  expect_equal(unname(kernel_matrix(k + k_se(2), data)),
               overlap(data$text, data$text) + unname(kernel_matrix(k_se(2), numbers)))
  expect_equal(unname(kernel_matrix(0.5 * k * k_linear(columns = 3), data)),
               0.5 * overlap(data$text, data$text) * tcrossprod(data$v))
  expect_equal(unname(kernel_matrix(bag_kernel(columns = "text") * k_white(2), data)),
               overlap(data$text, data$text) * diag(2, 3))
  both <- data.frame(text = data$text, other = c("x", "xy", "z"))
  expect_equal(unname(kernel_matrix(bag_kernel(columns = "text") + bag_kernel(columns = 2), both)),
               overlap(both$text, both$text) + overlap(both$other, both$other))
})

test_that("svm() on texts is svm() on their kernel matrix, for new texts too, and after saving", {
  x <- words(60)
  y <- factor(ifelse(grepl("a", x), "with", "without"))
  k <- overlap(x, x)
  new <- c("abba", "zzz", x[7])
  fit <- svm(x, y, kernel = bag_kernel(), tol = 1e-8)
  by_matrix <- svm(k, y, kernel = "precomputed", tol = 1e-8)
  expect_equal(fit$objective, by_matrix$objective, tolerance = 1e-8)
  expect_equal(unname(predict(fit, new, type = "link")), unname(predict(by_matrix, overlap(new, x), type = "link")),
               tolerance = 1e-6)
  file <- tempfile()
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), new, type = "link"), predict(fit, new, type = "link"))
  expect_identical(predict(fit, x), fitted(fit))
  expect_null(fit$kernel$known)
  two <- svm(x, y, kernel = bag_kernel(), tol = 1e-8, threads = 2)
  expect_identical(two$coefficients, fit$coefficients)
  expect_error(plot(fit), "no axes")
})

test_that("svm() scales numbers beside texts and leaves the texts", {
  x <- words(40, 2)
  set.seed(3)
  size <- rnorm(40, 100, 20)
  y <- nchar(x) + size / 50
  data <- data.frame(text = x, size)
  fit <- svm(data, y, kernel = bag_kernel(columns = "text") + k_rbf(0.5, columns = 2), tol = 1e-8, cost = 10)
  z <- as.vector(scale(size))
  k <- overlap(x, x) + exp(-0.5 * outer(z, z, "-")^2)
  by_matrix <- svm(k, y, kernel = "precomputed", tol = 1e-8, cost = 10)
  expect_equal(unname(predict(fit)), unname(predict(by_matrix, k)), tolerance = 1e-5)
  # columns of new rows are taken by name
  expect_equal(predict(fit, data[5:8, 2:1]), predict(fit, data[5:8, ]))
  expect_error(predict(fit, data["size"]), "\"text\" is missing")
})

test_that("gp_classify() and the tests of independence take texts", {
  x <- words(50, 4)
  has <- grepl("a", x)
  fit <- gp_classify(x, has, kernel = bag_kernel(), hyper = "fixed")
  root <- chol(overlap(x, x) + diag(1e-10, 50))
  linear <- gp_classify(t(root), has, kernel = k_linear(), hyper = "fixed", standardize = FALSE)
  expect_equal(fit$loglik, linear$loglik, tolerance = 1e-5)
  learnt <- gp_classify(x, has, kernel = bag_kernel(), n_starts = 1)
  expect_gt(learnt$loglik, fit$loglik - 1e-6)
  expect_equal(predict(learnt, x[3:5]), predict(learnt)[3:5, ], tolerance = 1e-6)
  value <- hsic(x, as.double(has), kernel = list(bag_kernel(), k_linear()))
  centred <- function(k) scale(t(scale(k, scale = FALSE)), scale = FALSE)
  expect_equal(value$value, sum(centred(overlap(x, x)) * centred(tcrossprod(has))) / 50^2, tolerance = 1e-4)
  expect_length(predict(value, list(c("abc", "zz"), c(0, 1))), 4L)
  set.seed(1)
  expect_lt(independence_test(x, has, kernel = list(bag_kernel(), "delta"), n_perm = 99)$p.value, 0.05)
  z <- kernel_features(x, kernel = bag_kernel(), tol = 0)
  expect_equal(tcrossprod(z$factor), overlap(x, x), tolerance = 1e-8)
  expect_equal(predict(z, x[1:4]), unname(z$factor[1:4, ]), tolerance = 1e-8)
})

test_that("what is wrong with objects is said", {
  k <- bag_kernel()
  y <- factor(rep(c("a", "b"), 5))
  expect_error(kernel_matrix(k, 1:3), "must be objects", class = "granary_error_input")
  expect_error(kernel_matrix(k, character()), "at least one", class = "granary_error_input")
  expect_error(kernel_matrix(k, c("a", NA)), "element 2 is NA", class = "granary_error_input")
  expect_error(kernel_matrix(k + k_se(), c("a", "b")), "needs columns of numbers", class = "granary_error_input")
  expect_error(kernel_matrix(k, data.frame(a = c("x", "y"), b = c("x", "y"))), "say which",
               class = "granary_error_input")
  expect_error(kernel_matrix(bag_kernel(columns = "text"), data.frame(a = "x")), "no such column",
               class = "granary_error_input")
  expect_error(kernel_matrix(bag_kernel(columns = 3), data.frame(a = "x")), "looks at column 3",
               class = "granary_error_input")
  expect_error(kernel_matrix(k + k_se(columns = 1), data.frame(a = "x", b = 1)), "holds no numbers",
               class = "granary_error_input")
  expect_error(kernel_matrix(k + k_user(function(x, z) 1), data.frame(a = "x", b = 1)), "function of all columns",
               class = "granary_error_input")
  expect_error(kernel_matrix(k_user(function(a, b) stop("no."), objects = TRUE), "a"), "failed: no",
               class = "granary_error_input")
  expect_error(kernel_matrix(k_user(function(a, b) "a", objects = TRUE), "a"), "matrix of numbers",
               class = "granary_error_input")
  expect_error(kernel_matrix(k_user(function(a, b) c(1, 2, 3), objects = TRUE), "a"), "1 x 1",
               class = "granary_error_input")
  expect_error(kernel_matrix(k_user(function(a, b) matrix(Inf, length(a), length(b)), objects = TRUE), "a"),
               "not finite", class = "granary_error_input")
  expect_error(k_user(overlap, parameters = 1, objects = TRUE), "parameters", class = "granary_error_input")
  expect_error(k_user(overlap, columns = 1), "columns", class = "granary_error_input")
  expect_error(rvm(matrix(1:10, 10), 1:10, kernel = k), "takes numbers only", class = "granary_error_input")
  expect_error(svm(words(10), y, kernel = "rbf"), class = "granary_error_input")
  # a column that no kernel looks at may be what it likes
  expect_error(kernel_matrix(k, data.frame(text = c("a", "b"), u = c(1, NA))), NA)
})
