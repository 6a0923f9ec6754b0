test_that("resample_lapply() gives each task its own seed from the session's stream", {
  set.seed(1)
  one <- resample_lapply(1:4, function(k) c(k, runif(1)), "test")
  after <- runif(1)
  set.seed(1)
  expect_identical(resample_lapply(1:4, function(k) c(k, runif(1)), "test"), one)
  expect_identical(runif(1), after)
  expect_identical(vapply(one, `[`, 0, 1), as.double(1:4))
  expect_identical(anyDuplicated(vapply(one, `[`, 0, 2)), 0L)
  # how much a task draws does not touch the others
  set.seed(1)
  greedy <- resample_lapply(1:4, function(k) {
    value <- runif(1)
    if (k == 1) runif(100)
    c(k, value)
  }, "test")
  expect_identical(greedy, one)
  expect_identical(resample_lapply(list(), identity, "test"), list())
})

test_that("errors of a task reach the caller, and the stream is as it would have been", {
  set.seed(2)
  expect_error(resample_lapply(1:3, function(k) if (k == 2) abort_input("no", "k"), "test"), class = "granary_error_input")
  state <- runif(1)
  set.seed(2)
  resample_lapply(1:3, identity, "test")
  expect_identical(runif(1), state)
})

test_that("keep_seed() leaves no trace", {
  set.seed(3)
  before <- .Random.seed
  expect_identical(keep_seed({
    set.seed(99)
    runif(1)
  }), {
    set.seed(99)
    value <- runif(1)
    assign(".Random.seed", before, globalenv())
    value
  })
  expect_identical(.Random.seed, before)
  rm(".Random.seed", envir = globalenv())
  keep_seed(runif(1))
  expect_false(exists(".Random.seed", globalenv(), inherits = FALSE))
  set.seed(4)
})

test_that("make_folds() is balanced and random", {
  set.seed(5)
  for (n in c(7, 20)) {
    folds <- make_folds(n, 3)
    expect_length(folds, n)
    expect_lte(diff(range(table(folds))), 1)
    expect_setequal(folds, 1:3)
  }
  expect_identical(sort(make_folds(5, 5)), 1:5)
  expect_false(identical(make_folds(20, 3), folds))
})

test_that("workers of future::plan() give the same answer", {
  extended()
  skip_if_not_installed("future.apply")
  set.seed(6)
  path <- ggm_lasso(sim_ggm("chain", p = 6, n = 40)$data, n_lambda = 4)
  set.seed(7)
  here <- ggm_select(path, "stars", n_rep = 4)$table
  old <- future::plan("multisession", workers = 2)
  on.exit(future::plan(old))
  expect_true(has_workers())
  set.seed(7)
  expect_identical(ggm_select(path, "stars", n_rep = 4)$table, here)
})

test_that("one bar counts the tasks, and the fits inside are silent", {
  old <- options(granary.progress = TRUE)
  on.exit(options(old))
  inner <- resample_lapply(1:2, function(k) is.null(progress_bar("inside")), "outside")
  expect_identical(inner, list(TRUE, TRUE))
  expect_true(getOption("granary.progress"))
})

test_that("a fork after threads were used does not wait for ever", {
  skip_on_os("windows")
  skip_on_cran()
  old <- options(granary.threads = 2)
  on.exit(options(old))
  set.seed(1)
  x <- matrix(rnorm(6000), 200)
  whole <- ggm_neighbors(x)
  parts <- parallel::mclapply(1:2, function(i) ggm_neighbors(x)$precision, mc.cores = 2)
  expect_equal(parts[[1]], whole$precision)
})

test_that("what a user's function takes from the workspace goes along to the workers", {
  assign("granary_test_width", 0.7, envir = globalenv())
  assign("granary_test_square", eval(quote(function(d) (d / granary_test_width)^2), globalenv()), envir = globalenv())
  on.exit(rm("granary_test_width", "granary_test_square", envir = globalenv()))
  f <- eval(quote(function(x, z) exp(-granary_test_square(outer(x[, 1], z[, 1], "-")))), globalenv())
  kernel <- k_user(f)
  task <- function(k) kernel
  found <- granary:::session_globals(task)
  expect_setequal(names(found), c("granary_test_width", "granary_test_square"))
  expect_identical(found$granary_test_width, 0.7)
  expect_length(granary:::session_globals(eval(quote(function(k) sum(k)), globalenv())), 0L)
  skip_if_not_installed("future.apply")
  skip_on_cran()
  old <- future::plan("multisession", workers = 2)
  on.exit(future::plan(old), add = TRUE)
  x <- cbind(seq(0, 1, length.out = 5))
  values <- granary:::resample_lapply(1:2, function(k) kernel_matrix(kernel, x), "test")
  expect_equal(values[[1]], kernel_matrix(kernel, x))
})
