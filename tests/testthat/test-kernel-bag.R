triangle <- rbind(c(0, 0), c(1, 0), c(0, 1))
pair <- rbind(c(1, 1), c(2, 1))

# the definition: one determinant over the points of both
direct <- function(a, b, gram, eta) {
  x <- rbind(a, b)
  w <- c(rep(0.5 / nrow(a), nrow(a)), rep(0.5 / nrow(b), nrow(b)))
  left <- diag(nrow(x)) - matrix(w, nrow(x), nrow(x), byrow = TRUE)
  1 / det(diag(nrow(x)) + left %*% gram(x) %*% t(left) %*% diag(w) / eta)
}
value <- function(x, ...) kernel_matrix(k_bag(...), x)[1, 2]

test_that("the worked examples of inverse generalised variance", {
  two <- list(triangle, pair)
  expect_equal(vapply(c(1, 0.1, 0.01), function(eta) value(two, eta = eta, normalize = FALSE), 0),
               c(0.5242718, 0.05033792, 0.0008555607), tolerance = 1e-6)
  expect_equal(vapply(c(1, 0.1, 0.01), function(eta) value(two, eta = eta), 0), c(0.7134436, 0.2848366, 0.0889585),
               tolerance = 1e-6)
  expect_equal(value(two, kernel = k_se(), eta = 0.1, normalize = FALSE), 0.06362584, tolerance = 1e-7)
  expect_equal(value(two, kernel = k_se(), eta = 0.1), 0.2763682, tolerance = 1e-6)
  expect_equal(value(two, kernel = "linear", eta = 0.1), value(two, eta = 0.1), tolerance = 1e-8)
})

test_that("the kernelised form is the determinant over all points, and landmarks at all points change nothing", {
  for (seed in 1:4) {
    set.seed(seed)
    x <- lapply(c(3, 6, 1, 9), function(n) matrix(rnorm(2 * n), n))
    base <- k_se(lengthscale = 0.8)
    k <- kernel_matrix(k_bag(kernel = base, eta = 0.05, normalize = FALSE), x)
    expected <- outer(1:4, 1:4,
                      Vectorize(function(i, j) direct(x[[i]], x[[j]], function(z) kernel_matrix(base, z), 0.05)))
    expect_equal(k, expected, tolerance = 1e-7)
    landmarks <- do.call(rbind, x)
    expect_equal(kernel_matrix(k_bag(kernel = base, eta = 0.05, normalize = FALSE, landmarks = landmarks), x), k,
                 tolerance = 1e-5)
  }
})

test_that("histograms: Jensen-Shannon, entropy and Dirichlet", {
  p <- c(0.5, 0.25, 0.25, 0)
  q <- c(0.1, 0.2, 0.3, 0.4)
  expect_equal(value(rbind(p, q), "jensen_shannon"), 0.8074009, tolerance = 1e-6)
  expect_equal(value(list(c(a = 1), c(b = 2)), "jensen_shannon"), exp(-log(2)))
  h <- function(f) -sum(ifelse(f > 0, f * log(f), 0))
  expect_equal(value(rbind(p, 10 * q), "entropy", normalize = FALSE), exp(-h(p + 10 * q)), tolerance = 1e-10)
  n <- rbind(c(3, 0, 2), c(1, 4, 0))
  expect_equal(log(value(n, "dirichlet", normalize = FALSE)), -12.93772, tolerance = 1e-6)
  expect_equal(value(n, "dirichlet"), 0.01283816, tolerance = 1e-6)
  mixture <- value(n, "dirichlet", prior = rbind(c(1, 1, 1), c(2, 0.1, 1)), weights = c(0.3, 0.7), normalize = FALSE)
  parts <- c(value(n, "dirichlet", prior = 1, normalize = FALSE),
             value(n, "dirichlet", prior = c(2, 0.1, 1), normalize = FALSE))
  expect_equal(mixture, sum(c(0.3, 0.7) * parts), tolerance = 1e-12)
  words <- list(c("a", "b", "a"), c("b", "c"))
  expect_equal(value(words, "jensen_shannon"), value(rbind(c(2, 1, 0), c(0, 1, 1)), "jensen_shannon"))
  expect_equal(value(words, "dirichlet", levels = letters[1:5]),
               value(rbind(c(2, 1, 0, 0, 0), c(0, 1, 1, 0, 0)), "dirichlet"))
  expect_equal(value(lapply(words, factor, levels = letters[1:3]), "jensen_shannon"), value(words, "jensen_shannon"))
})

test_that("smoothed samples, exponential families, integrals", {
  expect_equal(-log(value(list(c(0, 1, 3), c(0.5, 2)), "parzen", width = 0.5)), 0.100722, tolerance = 1e-5)
  set.seed(1)
  three <- list(cbind(c(0, 1, 3), 0, 0), cbind(c(0.5, 2), 0, 0))
  expect_equal(-log(value(three, "parzen", width = 0.5, n_draws = 20000)), 0.100722, tolerance = 0.1)
  set.seed(1)
  first <- value(three, "parzen", width = 0.5)
  set.seed(1)
  expect_identical(value(three, "parzen", width = 0.5), first)
  two <- list(triangle, pair)
  expect_equal(value(two, "laplace", eta = 0.1), value(two, eta = 0.1), tolerance = 1e-10)
  n <- rbind(c(1, 2, 3), c(3, 1, 0))
  expect_equal(value(n, "laplace", family = "multinomial"), value(n, "jensen_shannon", beta = 2), tolerance = 1e-12)
  f <- list(function(x) x[, 1], function(x) -x[, 2])
  expect_equal(value(two, "integral", functions = f, weights = c(2, 1), normalize = FALSE),
               2 * exp(1 + 3) + exp(-1 - 2))
  expect_equal(value(list(c(0.5, 0.2), 0.9), "interval", normalize = FALSE),
               0.2 + 0.3 * exp(1) + 0.4 * exp(2) + 0.1 * exp(3))
  expect_warning(k_bag("laplace", beta = 0.7), "semidefinite")
  expect_warning(k_bag("laplace", family = "exponential"), "semidefinite")
  reference <- value(list(0, 2), reference = cbind(c(-1, 1)), reference_share = 0.4, eta = 0.1, normalize = FALSE)
  expect_equal(reference, 1 / (1 + (1.6 - 0.36) / 0.1))
})

test_that("order, duplicates, scale of the weights, and the names of coordinates", {
  set.seed(2)
  x <- matrix(rnorm(12), 6, dimnames = list(NULL, c("u", "v")))
  twice <- rbind(x, x)[sample(12), c("v", "u")]
  weighted <- structure(x, weights = rep(3, 6))
  for (type in c("igv", "bhattacharyya", "mean_map", "parzen")) {
    k <- kernel_matrix(k_bag(type, kernel = if (type != "parzen") k_se(), eta = 0.1),
                       list(x, twice, weighted, x[1:3, ]))
    expect_equal(k[1:3, 1:3], matrix(1, 3, 3), tolerance = 1e-6)
    expect_equal(k[1:3, 4], rep(k[1, 4], 3), tolerance = 1e-6)
    expect_lt(k[1, 4], 0.999)
  }
})

test_that("circles, segments and discs: the kernelised form tells what covariances cannot", {
  # one nearest neighbour, each object left out
  errors <- function(k, y) {
    d <- as.matrix(stats::as.dist(outer(diag(k), diag(k), `+`) - 2 * k))
    diag(d) <- Inf
    mean(y[apply(d, 1L, which.min)] != y)
  }
  for (seed in 1:2) {
    set.seed(seed)
    y <- rep(1:3, each = 12)
    x <- lapply(y, function(class) {
      angle <- stats::runif(40, 0, 2 * pi)
      radius <- switch(class, 0.3, 0, 0.3 * sqrt(2 * stats::runif(40)))
      z <- if (class == 2) cbind(stats::runif(40, -0.3, 0.3), 0) else radius * cbind(cos(angle), sin(angle))
      turn <- stats::runif(1, 0, 2 * pi)
      z <- z %*% rbind(c(cos(turn), sin(turn)), c(-sin(turn), cos(turn)))
      sweep(z, 2L, 0.5 + stats::rnorm(2, 0, 0.03), `+`) + stats::rnorm(80, 0, 0.02)
    })
    expect_lt(errors(kernel_matrix(k_bag(kernel = k_se(lengthscale = 0.1)), x), y), 0.06)
    expect_gt(errors(kernel_matrix(k_bag(eta = 0.01), x), y), 0.1)
  }
})

test_that("kernel matrices are positive, the same on all threads, and new bags continue them", {
  set.seed(3)
  x <- lapply(1:20, function(i) matrix(rnorm(2 * (3 + i %% 5)), ncol = 2))
  for (k in list(k_bag(kernel = k_se()), k_bag(eta = 0.1), k_bag("bhattacharyya", kernel = k_matern()),
                 k_bag("mean_map", kernel = "se"), k_bag("parzen"))) {
    m <- kernel_matrix(k, x)
    expect_identical(m, t(m))
    expect_equal(diag(m), rep(1, 20), tolerance = 1e-9)
    expect_gt(min(eigen(m, symmetric = TRUE, only.values = TRUE)$values), -1e-8)
    expect_equal(kernel_matrix(k, x[1:7], x[8:12]), m[1:7, 8:12], tolerance = 1e-9)
    expect_identical(withr::with_options(list(granary.threads = 2), kernel_matrix(k, x)), m)
  }
})

test_that("bags() cuts long data into bags", {
  x <- bags(iris[, 1:2], iris$Species)
  expect_identical(names(x), levels(iris$Species))
  expect_equal(x$virginica, as.matrix(iris[iris$Species == "virginica", 1:2]), ignore_attr = TRUE)
  expect_identical(names(bags(1:4, c("b", "a", "b", "a"))), c("b", "a"))
  expect_equal(attr(bags(1:3, c(1, 1, 2), weights = c(5, 6, 7))[[1]], "weights"), c(5, 6))
  set.seed(4)
  expect_identical(vapply(bags(iris[, 1:2], iris$Species, size = 10), nrow, 0L),
                   c(setosa = 10L, versicolor = 10L, virginica = 10L))
  expect_error(bags(1:3, factor(c("a", "a", "b"), levels = c("a", "b", "c"))), "without members",
               class = "granary_error_input")
  expect_error(bags(1:3, 1:2), "id", class = "granary_error_input")
  expect_error(bags(1:3, c(1, NA, 2)), "id", class = "granary_error_input")
})

test_that("eigenfunctions of a bag", {
  fit <- bag_eigen(as.matrix(faithful), k_se(lengthscale = c(0.5, 6)), k = 3)
  expect_equal(unname(crossprod(fit$functions) / nrow(faithful)), diag(unname(fit$values)), tolerance = 1e-8)
  expect_equal(predict(fit, faithful[1:5, 2:1]), fit$functions[1:5, ], ignore_attr = TRUE, tolerance = 1e-10)
  expect_output(print(fit), "Eigenvalues")
  expect_identical(tidy(fit)$term, c("f1", "f2", "f3"))
  expect_identical(nobs(fit), 272L)
  expect_error(plot(fit, which = 4), "which", class = "granary_error_input")
  expect_error(predict(fit, faithful[, 1]), "columns", class = "granary_error_input")
})

test_that("distances", {
  x <- rbind(c(0.5, 0.25, 0.25, 0), c(0.1, 0.2, 0.3, 0.4), c(1, 0, 0, 0))
  d <- kernel_distance(x, k_bag("jensen_shannon"), type = "log")
  expect_equal(d[1], sqrt(0.2139349), tolerance = 1e-6)
  expect_lte(d[2], d[1] + d[3])
  z <- c(0, 1, 3)
  expect_equal(c(kernel_distance(z, k_linear())), c(1, 3, 2))
  expect_error(kernel_distance(z, k_linear(), type = "log"), "feature", class = "granary_error_input")
})

test_that("what is no bag is refused in a sentence", {
  fails <- function(expression, pattern) expect_error(expression, pattern, class = "granary_error_input")
  k <- k_bag(kernel = k_se())
  fails(kernel_matrix(k, list(triangle, matrix(0, 0, 2))), "no members")
  fails(kernel_matrix(k, list(triangle, NULL)), "no members")
  fails(kernel_matrix(k, list(triangle, cbind(1:3))), "coordinates")
  fails(kernel_matrix(k, list(triangle, rbind(c(1, NA)))), "missing")
  fails(kernel_matrix(k, list(structure(triangle, weights = 1:2))), "weights")
  fails(kernel_matrix(k, list(structure(triangle, weights = c(0, 0, 0)))), "no members")
  fails(kernel_matrix(k, "a"), "list of bags")
  fails(kernel_matrix(k_bag(eta = 0), list(triangle, pair)), "eta")
  fails(kernel_matrix(k_bag("jensen_shannon"), rbind(c(0, 0), 1:2)), "zero")
  fails(kernel_matrix(k_bag("jensen_shannon"), list(1:2, 1:3)), "cells")
  fails(kernel_matrix(k_bag("jensen_shannon"), list("a", character())), "no members")
  fails(kernel_matrix(k_bag("jensen_shannon"), c("a b", "c")), "string_tokens")
  fails(kernel_matrix(k_bag("jensen_shannon"), list(c(-1, 2))), "at least 0")
  fails(kernel_matrix(k_bag("interval"), list(2)), "between 0 and 1")
  fails(kernel_matrix(k_bag("dirichlet", levels = "a"), list("b")), "levels")
  fails(k_bag("igw"), "Did you mean")
  fails(k_bag(eta = -1), "eta")
  fails(k_bag(kernel = k_se(), eta = 0), "eta")
  fails(k_bag("parzen", kernel = k_se()), "kernel")
  fails(k_bag(kernel = k_string()), "points")
  fails(k_bag(kernel = k_user(function(x, z) x %*% t(z))), "threads")
  fails(k_bag("integral"), "functions")
  fails(k_bag(functions = list(sum)), "integral")
  fails(k_bag("dirichlet", prior = 0), "prior")
  fails(k_bag("dirichlet", prior = 1, weights = 1:2), "weights")
  fails(k_bag(landmarks = pair), "kernel")
  fails(k_bag(reference = pair), "reference_share")
  fails(k_bag(reference = pair, reference_share = 0.5, kernel = k_se()), "reference")
  fails(k_bag(beta = 0), "beta")
  fails(k_bag(frob = 1), "frob")
  fails(kernel_matrix(k_bag("integral", functions = list(function(x) 1)), list(triangle)), "one number for each point")
})
