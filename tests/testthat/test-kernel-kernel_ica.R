mixed <- function(laws, m, seed = 1) {
  set.seed(seed)
  s <- granary:::ica_sources(m, laws)
  B <- granary:::random_mixing(ncol(s))
  list(s = s, B = B, x = s %*% t(B))
}

test_that("two uniform sources are recovered, whatever the measure", {
  d <- mixed(c("c", "c"), 2000)
  expect_lt(granary:::amari_error(kernel_ica(d$x, threads = 1), d$B), 3)
  for (measure in c("hsic", "coco", "kcc", "kgv")) {
    fit <- kernel_ica(d$x[1:500, ], measure = measure, threads = 1)
    expect_lt(granary:::amari_error(fit, d$B), 6)
    expect_equal(crossprod(fit$rotation), diag(2), tolerance = 1e-10)
  }
  expect_lt(granary:::amari_error(kernel_ica(d$x[1:500, ], kernel = "laplace"), d$B), 5)
  expect_lt(granary:::amari_error(kernel_ica(d$x[1:500, ], measure = "hsic", kernel = k_rq(shape = 2)), d$B), 5)
})

test_that("several sources are recovered over seeds, better than by moments", {
  errors <- vapply(1:5, function(seed) {
    d <- mixed(c("c", "g", "b", "e"), 500, seed)
    fit <- kernel_ica(d$x, measure = "hsic", threads = 1)
    for (k in unique(fit$trace$kernel)) expect_true(all(diff(fit$trace$value[fit$trace$kernel == k]) <= 0))
    c(kernel = granary:::amari_error(fit, d$B), fastica = granary:::amari_error(ica_baseline(d$x, method = "fastica", contrast = "cubic"), d$B), jade = granary:::amari_error(ica_baseline(d$x, method = "jade"), d$B))
  }, double(3))
  expect_lt(mean(errors["kernel", ]), 4)
  expect_lt(mean(errors["kernel", ]), mean(errors["fastica", ]))
  expect_lt(max(errors), 25)
})

test_that("outliers hurt moments, not kernels", {
  set.seed(9)
  errors <- t(replicate(8, {
    B <- granary:::random_mixing(2)
    x <- granary:::ica_outliers(granary:::ica_sources(500, c("g", "c")) %*% t(B), 15)
    c(kernel = granary:::amari_error(kernel_ica(x, measure = "hsic", threads = 1), B), jade = granary:::amari_error(ica_baseline(x, method = "jade"), B))
  }))
  expect_lt(2 * mean(errors[, "kernel"]), mean(errors[, "jade"]))
})

test_that("a fit has the parts it says, in the units of the data", {
  d <- mixed(c("c", "b", "g"), 300)
  x <- d$x
  colnames(x) <- c("one", "two", "three")
  x <- x + 10
  fit <- kernel_ica(x)
  expect_equal(unname(fit$W %*% fit$A), diag(3), tolerance = 1e-8)
  expect_equal(predict(fit, x), fit$S, tolerance = 1e-8, ignore_attr = TRUE)
  expect_equal(fitted(fit), x, tolerance = 1e-8, ignore_attr = TRUE)
  expect_equal(crossprod(fit$S) / 300, diag(3), tolerance = 1e-8, ignore_attr = TRUE)
  expect_identical(dimnames(coef(fit)), list(c("one", "two", "three"), c("IC1", "IC2", "IC3")))
  expect_true(all(diff(colSums(fit$A^2)) <= 0))
  expect_true(all(apply(fit$A, 2, function(a) a[which.max(abs(a))]) > 0))
  expect_identical(tidy(fit)$component, c("IC1", "IC2", "IC3"))
  expect_equal(sum(tidy(fit)$share), 1)
  for (scale in c(1e-8, 1e8)) {
    expect_equal(kernel_ica(scale * x)$A, scale * fit$A, tolerance = 1e-5)
  }
  expect_output(print(fit), "Kernel independent components by the kernel mutual information: 300 rows, 3 components.*Mixing matrix")
  expect_error(predict(fit, x[, 1:2]), "columns of the fit", class = "granary_error_input")
  pdf(NULL)
  on.exit(dev.off())
  expect_silent(plot(fit))
  expect_silent(plot(fit, type = "trace"))
  expect_error(plot(ica_baseline(x, method = "jade"), type = "trace"), "kernel_ica", class = "granary_error_input")
})

test_that("starts, seeds and threads", {
  d <- mixed(c("c", "b", "g"), 300)
  run <- function(threads, ...) {
    set.seed(5)
    kernel_ica(d$x, measure = "hsic", threads = threads, ...)
  }
  fit <- run(1, n_starts = 3)
  expect_identical(run(2, n_starts = 3)$W, fit$W)
  expect_length(fit$starts, 3)
  expect_equal(fit$value, min(fit$starts))
  expect_output(print(fit), "starts: 3")
  truth <- kernel_ica(d$x, measure = "hsic", start = solve(d$B))
  expect_equal(truth$value, fit$value, tolerance = 0.01)
  for (start in c("fastica", "random")) expect_true(is.finite(run(1, start = start)$value))
  few <- suppressWarnings(run(1, start = "random", max_iter = 1, polish = FALSE))
  expect_warning(run(1, start = "random", max_iter = 1, polish = FALSE), "NOT converged", class = "granary_warning_convergence")
  expect_false(few$convergence$converged)
  two <- kernel_ica(d$x, k = 2)
  expect_identical(dim(two$W), c(2L, 3L))
  expect_identical(nrow(unique(fit$trace["kernel"])), 2L)
  expect_identical(unique(run(1, polish = FALSE)$trace$kernel), 1L)
  raised <- kernel_ica(mixed(c("a", "b", "g"), 500)$x, nu = "gram")
  expect_true(raised$nu_raised)
  expect_error(kernel_ica(d$x, nu = 1e-3), "not defined at the start", class = "granary_error_numeric")
})

test_that("the default width is halved once, not twice", {
  d <- mixed(c("c", "b", "g"), 1001)
  stages <- function(...) unique(kernel_ica(..., tol = 0.01)$trace$kernel)
  expect_identical(stages(d$x, measure = "kgv"), 1L)
  expect_identical(kernel_ica(d$x, measure = "kgv")$width, 0.5)
  expect_identical(stages(d$x, measure = "kgv", polish = TRUE), 1:2)
  expect_identical(stages(d$x, measure = "kgv", width = 1, kappa = 0.02), 1:2)
  expect_identical(stages(d$x[1:1000, ], measure = "kgv"), 1:2)
  expect_identical(stages(d$x, measure = "hsic"), 1:2)
  expect_error(kernel_ica(d$x, polish = 2), "`polish`", class = "granary_error_input")
})

test_that("with two sources, the error averaged over all pairs of laws is the paper's", {
  extended()
  # KGV, m = 250: 5.3 in Table 4 (1000 draws of two laws). The standard error of one data set for each pair is about 0.3.
  pairs <- expand.grid(first = letters[1:18], second = letters[1:18], stringsAsFactors = FALSE)
  pairs <- pairs[pairs$first <= pairs$second, ]
  set.seed(21)
  errors <- vapply(seq_len(nrow(pairs)), function(i) {
    B <- granary:::random_mixing(2)
    x <- granary:::ica_sources(250, unlist(pairs[i, ]), "bach") %*% t(B)
    granary:::amari_error(suppressWarnings(kernel_ica(x, measure = "kgv", threads = 1)), B)
  }, 0)
  expect_equal(sum(errors * ifelse(pairs$first == pairs$second, 1, 2)) / 324, 5.3, tolerance = 0.2)
})

test_that("two Gaussian sources are not identified, and said not to be", {
  warned <- vapply(1:8, function(seed) {
    set.seed(seed)
    seen <- FALSE
    withCallingHandlers(kernel_ica(matrix(rnorm(800), 400), measure = "hsic", polish = FALSE), granary_warning_input = function(w) {
      seen <<- grepl("look Gaussian", conditionMessage(w))
      invokeRestart("muffleWarning")
    })
    seen
  }, NA)
  expect_gte(sum(warned), 6)
  expect_no_warning(kernel_ica(mixed(c("c", "b"), 400)$x, measure = "hsic"))
})

test_that("data that cannot be separated are refused", {
  d <- mixed(c("c", "b", "g"), 100)
  bad <- function(code, text) expect_error(code, text, class = "granary_error_input")
  bad(kernel_ica(), "`x` must be given")
  bad(kernel_ica(matrix(1, 10, 2)), "No column of `x` varies")
  bad(kernel_ica(d$x[1:3, ]), "more rows than columns")
  bad(kernel_ica(replace(d$x, 5, NA)), "missing values")
  bad(kernel_ica(d$x, k = 4), "`k`")
  bad(kernel_ica(d$x, width = 0), "`width`")
  bad(kernel_ica(d$x, kernel = k_se(), width = 1), "their own scales")
  bad(kernel_ica(d$x, measure = "kgv", kappa = 0), "`kappa`")
  bad(kernel_ica(d$x, start = diag(2)), "unmixing matrix with 3 rows")
  bad(kernel_ica(d$x, start = matrix(1, 3, 3)), "full rank")
  bad(kernel_ica(d$x, nu = "parzen"), "`nu`")
  expect_message(fit <- suppressWarnings(kernel_ica(cbind(d$x, d$x[, 1] + d$x[, 2]))), "3 instead of 4 components")
  expect_identical(dim(fit$W), c(3L, 4L))
  expect_equal(fitted(fit), cbind(d$x, d$x[, 1] + d$x[, 2]), tolerance = 1e-6, ignore_attr = TRUE)
  constant <- suppressMessages(ica_baseline(cbind(d$x, 7), method = "jade"))
  expect_identical(nrow(constant$W), 3L)
  one <- ica_baseline(d$x[, 1, drop = FALSE], method = "jade")
  expect_equal(abs(one$S[, 1]), abs(drop(scale(d$x[, 1]))) * sqrt(100 / 99), tolerance = 1e-8, ignore_attr = TRUE)
  expect_true(kernel_ica(d$x[, 1, drop = FALSE])$convergence$converged)
})

test_that("JADE and FastICA recover sources, and agree with their packages", {
  d <- mixed(c("c", "b", "g", "e"), 2000)
  jade <- ica_baseline(d$x, method = "jade")
  expect_lt(granary:::amari_error(jade, d$B), 6)
  for (contrast in c("tanh", "cubic")) {
    set.seed(1)
    fit <- ica_baseline(d$x, method = "fastica", contrast = contrast)
    expect_lt(granary:::amari_error(fit, d$B), 8)
    expect_equal(crossprod(fit$rotation), diag(4), tolerance = 1e-10)
  }
  expect_output(print(jade), "by JADE")
  expect_output(print(fit), "by FastICA")
  expect_warning(ica_baseline(d$x, method = "fastica", max_iter = 1), "NOT converged", class = "granary_warning_convergence")
  name <- "JADE"
  if (requireNamespace(name, quietly = TRUE)) {
    peer <- getExportedValue(name, "JADE")(d$x)
    expect_lt(granary:::amari_error(peer$W, jade$A), 0.1)
  }
  name <- "fastICA"
  if (requireNamespace(name, quietly = TRUE)) {
    set.seed(1)
    peer <- getExportedValue(name, "fastICA")(d$x, 4, fun = "logcosh", tol = 1e-10)
    set.seed(1)
    expect_lt(granary:::amari_error(t(peer$K %*% peer$W), ica_baseline(d$x, method = "fastica", tol = 1e-12)$A), 0.1)
  }
})

test_that("source laws have unit variance and the kurtosis of the paper", {
  set.seed(7)
  s <- granary:::ica_sources(2e5, letters[1:18])
  expect_lt(max(abs(colMeans(s))), 0.02)
  expect_lt(max(abs(colMeans(s[, -1]^2) - 1)), 0.02)
  kurtosis <- colMeans(s^4) / colMeans(s^2)^2 - 3
  paper <- c(b = 3, c = -1.2, e = 6, f = -1.7, g = -1.85, h = -0.75, i = -0.5, j = -0.57, k = -0.29, l = -0.2, m = -0.91, n = -0.34, o = -0.4,
             p = -0.67, q = -0.59, r = -0.82)
  expect_lt(max(abs(kurtosis[names(paper)] - paper)[-c(1, 3)]), 0.03)
  expect_equal(kurtosis[c("b", "e")], paper[c("b", "e")], tolerance = 0.15)
  s <- granary:::ica_sources(2e5, letters[6:18], set = "bach")
  expect_lt(max(abs(colMeans(s)), abs(colMeans(s^2) - 1)), 0.02)
  bach <- c(-1.16, -1.68, -0.74, -0.5, -0.53, -0.67, -0.47, -0.82, -0.62, -0.8, -0.77, -0.29, -0.67)
  expect_lt(max(abs(colMeans(s^4) / colMeans(s^2)^2 - 3 - bach)), 0.03)
  expect_error(granary:::ica_sources(5, set = "other"), "`set`", class = "granary_error_input")
  expect_identical(dim(granary:::ica_sources(5, 3)), c(5L, 3L))
  expect_error(granary:::ica_sources(5, "z"), "`laws`", class = "granary_error_input")
  expect_error(granary:::ica_sources(0), "`n`", class = "granary_error_input")
})

test_that("mixing matrices have the condition asked for, outliers are where they say", {
  set.seed(8)
  conditions <- replicate(20, kappa(granary:::random_mixing(4), exact = TRUE))
  expect_true(all(conditions >= 1 - 1e-9 & conditions <= 2 + 1e-9))
  expect_equal(kappa(granary:::random_mixing(3, 10), exact = TRUE), 10)
  expect_identical(dim(granary:::random_mixing(1)), c(1L, 1L))
  expect_error(granary:::random_mixing(3, 0.5), "`cond`", class = "granary_error_input")
  expect_error(granary:::random_mixing(3, c(3, 2)), "`cond`", class = "granary_error_input")
  x <- matrix(0, 20, 2)
  spoiled <- granary:::ica_outliers(x, 4)
  expect_identical(which(rowSums(abs(spoiled)) > 0), attr(spoiled, "rows"))
  expect_true(all(abs(spoiled[attr(spoiled, "rows"), ]) == 5))
  expect_equal(granary:::ica_outliers(x, 0), structure(x, rows = integer()))
  expect_error(granary:::ica_outliers(x, 21), "`outliers`", class = "granary_error_input")
})

test_that("the Amari error is 0 for signed permutations, 100 for equal mixtures", {
  W <- diag(3)[c(2, 3, 1), ] * c(2, -1, 0.5)
  expect_equal(granary:::amari_error(W, diag(3)), 0)
  expect_equal(granary:::amari_error(matrix(1, 3, 3), diag(3)), 100)
  B <- matrix(c(1, 0.2, 0, 1), 2)
  expect_equal(granary:::amari_error(diag(2), B), 100 / 4 * (0.2 + 0.2))
  expect_error(granary:::amari_error(diag(2), diag(3)), "square", class = "granary_error_input")
  expect_error(granary:::amari_error(matrix(0, 2, 2), diag(2)), "not defined", class = "granary_error_input")
  expect_error(granary:::amari_error(1, 1), class = "granary_error_input")
})
