test_that("dependence of any shape is found, and p-values are what they should be", {
  set.seed(1)
  x <- rnorm(80)
  y <- x^2 + rnorm(80, sd = 0.5)
  for (measure in c("hsic", "coco", "kcc", "kgv")) {
    test <- independence_test(x, y, measure = measure, n_perm = 99)
    expect_s3_class(test, "htest")
    expect_identical(test$p.value, 0.01)
    expect_identical(names(test$statistic), toupper(measure))
    expect_length(test$null, 99)
  }
  expect_identical(independence_test(x, y, measure = "kmi", nu = "safe", n_perm = 99)$p.value, 0.01)
  expect_lt(independence_test(x, y, method = "gamma")$p.value, 1e-4)
  expect_equal(independence_test(x, y)$statistic[["HSIC"]], hsic(x, y)$value)
  expect_gt(cor.test(x, y)$p.value, 1e-4)  # which a correlation would not have found as clearly
  expect_identical(independence_test(iris$Species, iris[, 1:4], n_perm = 49)$p.value, 0.02)
  three <- independence_test(list(a = x, b = rnorm(80), c = y), n_perm = 99)
  expect_identical(three$p.value, 0.01)
  expect_identical(three$data.name, "a and b and c")
})

test_that("the gamma law has the mean and variance of the permutations", {
  set.seed(2)
  x <- rexp(40)
  y <- rnorm(40)
  gamma <- independence_test(x, y, method = "gamma")
  free <- independence_test(x, y, n_perm = 4000)
  expect_equal(mean(free$null), gamma$null[["mean"]], tolerance = 0.03)
  expect_equal(var(free$null), gamma$null[["variance"]], tolerance = 0.15)
  expect_equal(free$p.value, gamma$p.value, tolerance = 0.1)
  expect_equal(gamma$p.value, pgamma(gamma$statistic[[1]], gamma$null[["shape"]], scale = gamma$null[["scale"]], lower.tail = FALSE))
})

test_that("set.seed() fixes the result at any number of threads, and high ranks take the other road to the same law", {
  set.seed(3)
  x <- rnorm(60)
  y <- rnorm(60)
  run <- function(threads, ...) {
    set.seed(4)
    independence_test(x, y, n_perm = 99, threads = threads, ...)$null
  }
  expect_identical(run(1), run(2))
  expect_identical(run(1, width = 0.02), run(2, width = 0.02))
  expect_identical(run(1, measure = "kgv"), run(2, measure = "kgv"))
  high <- hsic(x, y, width = 0.05)
  expect_gt(prod(high$rank), 60)
  test <- independence_test(x, y, width = 0.05, n_perm = 400)
  expect_equal(test$statistic[[1]], hsic(x, y, width = 0.05, rank_tol = 0)$value)
  expect_equal(mean(test$null), independence_test(x, y, width = 0.05, method = "gamma")$null[["mean"]], tolerance = 0.01)
})

test_that("joint independence is tested with dhsic, which sees what no pair shows", {
  set.seed(8)
  u <- sign(rnorm(80))
  v <- sign(rnorm(80))
  data <- list(u = u, v = v, w = u * v + rnorm(80, sd = 0.2))
  joint <- independence_test(data, measure = "dhsic", width = 1, n_perm = 199)
  expect_identical(joint$p.value, 1 / 200)
  expect_match(joint$method, "joint")
  pairs <- independence_test(data, width = 1, n_perm = 199)
  expect_gt(pairs$p.value, 0.05)
  expect_match(pairs$method, "of all pairs")
  gram <- lapply(data, function(a) exp(-outer(a, a, "-")^2 / 2))
  means <- vapply(gram, rowMeans, double(80))
  value <- mean(Reduce(`*`, gram)) + prod(colMeans(means)) - 2 * mean(apply(means, 1, prod))
  expect_equal(joint$statistic[["dHSIC"]], value, tolerance = 1e-12)
  expect_equal(independence_test(u, data$w, measure = "dhsic")$statistic[[1]], hsic(u, data$w, rank_tol = 0)$value, tolerance = 1e-10)
  run <- function(threads) {
    set.seed(9)
    independence_test(data, measure = "dhsic", n_perm = 49, threads = threads)$null
  }
  expect_identical(run(1), run(2))
  expect_error(independence_test(rnorm(4001), rnorm(4001), measure = "dhsic"), "at most 4000", class = "granary_error_input")
  expect_error(independence_test(data, measure = "dhsic", method = "gamma"), "HSIC of two variables", class = "granary_error_input")
  name <- "dHSIC"
  skip_if_not_installed(name)
  peer <- getExportedValue(name, "dhsic")(unname(data), kernel = "gaussian.fixed", bandwidth = 1)
  expect_equal(joint$statistic[[1]], peer$dHSIC, tolerance = 1e-10)
})

test_that("tests that cannot be made are refused", {
  x <- c(1, 5, 2, 8, 3)
  y <- c(2, 1, 7, 3, 4)
  bad <- function(code, text) expect_error(code, text, class = "granary_error_input")
  bad(independence_test(x[1:4], y[1:4]), "At least 5 observations")
  bad(independence_test(rep(1, 5), y), "constant: there is nothing to test")
  bad(independence_test(x, c(y[-1], NA)), "missing values")
  bad(independence_test(x, y[-1]), "same number")
  bad(independence_test(x, y, n_perm = 0), "`n_perm`")
  bad(independence_test(x, y, measure = "coco", method = "gamma"), "HSIC of two variables")
  bad(independence_test(list(x, y, x), method = "gamma"), "HSIC of two variables")
  bad(independence_test(x, y, measure = "dcor"), "`measure`")
  bad(independence_test(x, y, width = 0), "`width`")
  expect_s3_class(independence_test(x, y, n_perm = 9), "htest")
})

test_that("tests print and draw", {
  set.seed(5)
  x <- rnorm(30)
  test <- independence_test(x, rnorm(30), n_perm = 99)
  expect_output(print(test), "Hilbert-Schmidt independence criterion.*permutations = 99")
  pdf(NULL)
  on.exit(dev.off())
  expect_silent(plot(test))
  expect_silent(plot(independence_test(x, rnorm(30), method = "gamma")))
})

test_that("the level is 5% within 1% under independence, over 2000 simulations", {
  skip_if(Sys.getenv("GRANARY_EXTENDED") != "1", "extended test")
  set.seed(6)
  laws <- list(rnorm, rexp, runif, function(n) rt(n, 3))
  p <- t(replicate(2000, {
    x <- sample(laws, 1L)[[1L]](50)
    y <- sample(laws, 1L)[[1L]](50)
    c(permutation = independence_test(x, y, n_perm = 199, threads = 1)$p.value, gamma = independence_test(x, y, method = "gamma")$p.value,
      coco = independence_test(x, y, measure = "coco", n_perm = 99, threads = 1)$p.value,
      kgv = independence_test(x, y, measure = "kgv", n_perm = 99, threads = 1)$p.value)
  }))
  level <- colMeans(p <= 0.05)
  message(paste(names(level), format(level), collapse = ", "))
  expect_true(all(abs(level - 0.05) <= 0.01))
  expect_gt(ks.test(p[, "permutation"] - runif(2000, 0, 1 / 200), "punif")$p.value, 0.001)
  expect_gt(ks.test(p[, "gamma"], "punif")$p.value, 1e-4)
})

test_that("p-values agree with dHSIC", {
  name <- "dHSIC"
  skip_if_not_installed(name)
  set.seed(7)
  x <- rnorm(60)
  y <- 0.3 * x + rnorm(60)
  ours <- independence_test(x, y, n_perm = 1999)
  set.seed(1)
  peer <- getExportedValue(name, "dhsic.test")(x, y, method = "permutation", B = 1000)
  expect_equal(ours$p.value, peer$p.value, tolerance = 0.5)
  expect_lt(abs(ours$p.value - peer$p.value), 0.03)
  expect_equal(ours$statistic[[1]], peer$statistic / 60, tolerance = 1e-4, ignore_attr = TRUE)
})
