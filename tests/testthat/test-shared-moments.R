rows_of <- function(n = 200, p = 6, seed = 1) {
  set.seed(seed)
  x <- matrix(rnorm(n * p), n) %*% (diag(p) + 0.4 * (abs(row(diag(p)) - col(diag(p))) == 1))
  colnames(x) <- paste0("v", seq_len(p))
  x + rep(c(0, 1e6, -3, 0, 10, 0)[seq_len(p)], each = n)
}

test_that("moments of pieces are the covariance of all rows, in any order of rows and columns", {
  x <- rows_of()
  whole <- data_moments(x)
  expect_equal(as.matrix(whole), cov(x), tolerance = 1e-12)
  expect_equal(whole$mean, colMeans(x))
  pieces <- data_moments(data_chunks(x, size = 33))
  expect_equal(pieces[c("n", "rows", "mean", "scatter")], whole[c("n", "rows", "mean", "scatter")], tolerance = 1e-12)
  parts <- combine(data_moments(x[101:200, 6:1]), data_moments(x[1, , drop = FALSE]), data_moments(x[2:100, ]))
  expect_identical(names(parts$mean), rev(colnames(x)))
  expect_equal(as.matrix(parts)[colnames(x), colnames(x)], cov(x), tolerance = 1e-10)
  expect_equal(as.matrix(update(data_moments(x[1:50, ]), x[51:200, ])), cov(x), tolerance = 1e-10)
})

test_that("weights count rows; incomplete rows are an error or left out and counted", {
  x <- rows_of(20)
  w <- rep(c(1, 3), 10)
  expect_equal(data_moments(x, weights = w)$scatter, data_moments(x[rep(1:20, w), ])$scatter, tolerance = 1e-12)
  x[3, 2] <- NA
  expect_error(data_moments(x), "missing values in 1 row", class = "granary_error_input")
  left <- data_moments(x, na = "omit")
  expect_identical(left$omitted, 1L)
  expect_equal(as.matrix(left), cov(x[-3, ]), tolerance = 1e-12)
})

test_that("a fit to moments is the fit to the rows", {
  x <- rows_of()
  moments <- combine(data_moments(x[1:70, ]), data_moments(x[71:200, ]))
  expect_equal(ggm_lasso(S = moments, lambda = 0.1)$precision, ggm_lasso(x, lambda = 0.1)$precision, tolerance = 1e-8)
  expect_equal(ggm_lasso(S = moments, lambda = 0.1)$n, 200)
  expect_identical(as.matrix(pc(S = moments)$graph), as.matrix(pc(x)$graph))
  expect_equal(causal_dag(S = moments)$coefficients, causal_dag(x)$coefficients, tolerance = 1e-8)
  groups <- rep(1:2, 100)
  tasks <- list(`1` = data_moments(x[groups == 1, ]), `2` = data_moments(x[groups == 2, ]))
  expect_equal(ggm_multi(S = tasks, lambda = 0.2)$precision, ggm_multi(x, groups, lambda = 0.2)$precision, tolerance = 1e-6)
  expect_error(ggm_lasso(S = moments, n = 200), "`n` comes with the moments", class = "granary_error_input")
})

test_that("least squares on moments is least squares on the rows", {
  x <- rows_of()
  moments <- data_moments(data_chunks(x, size = 64))
  for (arguments in list(list(), list(mixture = 0.3), list(standardize = FALSE), list(penalty_factor = c(0, 1, 1, 2, 1)), list(lower = 0))) {
    of_rows <- do.call(lasso, c(list(x[, -3], x[, 3], lambda = c(0.3, 0.05, 0.001), tol = 1e-10), arguments))
    of_moments <- do.call(lasso, c(list(moments, "v3", lambda = c(0.3, 0.05, 0.001), tol = 1e-10), arguments))
    expect_equal(as.matrix(coef(of_moments)), as.matrix(coef(of_rows)), tolerance = 1e-6)
    expect_equal(predict(of_moments, x[1:5, ]), predict(of_rows, x[1:5, ]), tolerance = 1e-6)
  }
  expect_equal(lasso(moments, "v3")$lambda, lasso(x[, -3], x[, 3])$lambda, tolerance = 1e-8)
  expect_equal(nobs(lasso(moments, "v3", lambda = 0.1)), 200)
  expect_error(lasso(moments, "w"), "\"w\"", class = "granary_error_input")
  expect_error(lasso(moments, "v3", family = "binomial"), "family", class = "granary_error_input")
  expect_error(fitted(lasso(moments, "v3", lambda = 0.1)), class = "granary_error")
})

test_that("counts of pieces are the table of all rows", {
  cars <- mtcars[c("cyl", "gear", "am")]
  whole <- data_counts(cars)
  expect_identical(sum(whole$n), 32)
  expect_identical(unname(unclass(as.table(whole))), unname(unclass(xtabs(~ cyl + gear + am, cars)) + 0), ignore_attr = TRUE)
  parts <- combine(data_counts(cars[20:32, 3:1]), data_counts(data_chunks(cars[1:19, ], size = 4)))
  expect_identical(sum(parts$n), 32)
  expect_equal(as.vector(aperm(as.table(parts), 3:1)), as.vector(as.table(whole)))
  cars$gear[2] <- NA
  expect_error(data_counts(cars), "missing values", class = "granary_error_input")
  expect_identical(data_counts(cars, na = "omit")$omitted, 1L)
})

test_that("what cannot be combined is said", {
  x <- rows_of(20)
  expect_error(combine(data_moments(x), data_moments(x[, -1])), "\"v1\" is only in one", class = "granary_error_input")
  expect_error(combine(data_moments(x), data_counts(mtcars["cyl"])), "granary_moments", class = "granary_error_input")
  expect_error(combine(1), "summary that can be combined", class = "granary_error_input")
  expect_error(data_moments(data.frame(a = letters)), "`x`", class = "granary_error_input")
  expect_error(data_moments(data_chunks(function() NULL)), "no rows", class = "granary_error_input")
  expect_error(data_moments(), "`x`", class = "granary_error_input")
  expect_output(print(data_moments(x)), "6 columns over 20 rows")
  expect_output(print(data_counts(mtcars["cyl"])), "3 different rows of 1 variable over 32 rows")
})

test_that("sources without labels: file, query, function; a learner asks for labels", {
  x <- rows_of(50)
  path <- tempfile(fileext = ".csv")
  on.exit(unlink(path))
  write.csv(x, path, row.names = FALSE)
  expect_equal(as.matrix(data_moments(data_chunks(path, size = 7))), cov(x), tolerance = 1e-8)
  expect_error(winnow(data_chunks(path), levels = 0:1), "Labels are needed", class = "granary_error_input")
  done <- FALSE
  once <- function() if (done) NULL else { done <<- TRUE; x }
  expect_equal(as.matrix(data_moments(data_chunks(once))), cov(x), tolerance = 1e-10)
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con), add = TRUE)
  DBI::dbWriteTable(con, "t", as.data.frame(x))
  result <- DBI::dbSendQuery(con, "SELECT v1, v3 FROM t")
  expect_equal(as.matrix(data_moments(data_chunks(result, size = 8))), cov(x[, c("v1", "v3")]), tolerance = 1e-10)
  DBI::dbClearResult(result)
})

test_that("an Arrow stream is read batch by batch", {
  skip_if_not_installed("nanoarrow")
  x <- rows_of(50)
  batches <- lapply(split(as.data.frame(x), rep(1:5, each = 10)), nanoarrow::as_nanoarrow_array)
  stream <- nanoarrow::basic_array_stream(unname(batches))
  expect_equal(as.matrix(data_moments(data_chunks(stream))), cov(x), tolerance = 1e-10)
})

test_that("four workers with a file each give the fit of all rows", {
  skip_if_not_installed("future.apply")
  skip_on_cran()
  x <- rows_of(400)
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  paths <- file.path(folder, paste0(1:4, ".csv"))
  for (i in 1:4) write.csv(x[rep(1:4, 100) == i, ], paths[i], row.names = FALSE)
  old <- future::plan(future::multisession, workers = 4)
  on.exit(future::plan(old), add = TRUE)
  parts <- future.apply::future_lapply(paths, function(path) data_moments(data_chunks(path, size = 50)), future.packages = "granary")
  expect_equal(ggm_lasso(S = do.call(combine, parts), lambda = 0.1)$precision, ggm_lasso(x, lambda = 0.1)$precision, tolerance = 1e-6)
})

test_that("a file larger than what may be held is read in bounded memory", {
  skip_if_not(identical(Sys.getenv("GRANARY_EXTENDED"), "1"), "slow: GRANARY_EXTENDED=1")
  path <- tempfile(fileext = ".csv")
  on.exit(unlink(path))
  out <- file(path, "w")
  cat("a,b,c,d,e,f,g,h,i,j\n", file = out)
  block <- matrix(round(stats::rnorm(1e5), 4), ncol = 10)
  lines <- do.call(paste, c(as.data.frame(block), sep = ","))
  for (k in 1:200) writeLines(lines, out)  # 2e6 rows: 160 MB as numbers
  close(out)
  gc(reset = TRUE)
  before <- sum(gc()[, 6])
  moments <- data_moments(data_chunks(path, size = 1e4))
  used <- sum(gc()[, 6]) - before
  expect_identical(moments$n, 2e6)
  expect_equal(unname(as.matrix(moments)), cov(block), tolerance = 1e-4)
  expect_lt(used, 60)
})

test_that("networks of discrete variables take counts, and give the fit of the rows", {
  set.seed(4)
  rows <- data.frame(a = rbinom(200, 1, 0.5))
  rows$b <- ifelse(runif(200) < 0.8, rows$a, 1 - rows$a)
  rows$c <- ifelse(runif(200) < 0.7, rows$b, 1 - rows$b)
  rows$d <- rbinom(200, 1, 0.4)
  counted <- combine(data_counts(rows[1:90, ]), data_counts(rows[91:200, ]))
  same <- function(fit, what) {
    set.seed(1)
    whole <- fit(rows)
    expect_false(is.null(whole[[what]]))
    set.seed(1)
    expect_equal(fit(counted)[[what]], whole[[what]], tolerance = 1e-6, ignore_attr = TRUE)
  }
  same(function(x) ising_fit(x, lambda = 0.02, method = "exact"), "W")
  same(function(x) ising_select(x, lambda = c(0.2, 0.05), criterion = "ebic")$fit, "W")
  same(function(x) influence_game(x, lambda = 0.02), "W")
  same(function(x) ising_hub(x, 0.06, 0.05, 0.1), "theta")
  same(function(x) ec_ising_fit(x), "W")
  discrete <- data.frame(lapply(rows, function(column) factor(column, labels = c("no", "yes"))))
  counted <- data_counts(discrete)
  same <- function(by_rows, by_counts, what) {
    expect_false(is.null(by_rows[[what]]))
    expect_equal(by_counts[[what]], by_rows[[what]], tolerance = 1e-6, ignore_attr = TRUE)
  }
  same(cg_fit("a -> b -> c; d", discrete), cg_fit("a -> b -> c; d", counted), "loglik")
  same(bn_classifier(discrete[-4], discrete$d), bn_classifier(counted, "d"), "coefficients")
  same(sbn_fit(discrete[-4], discrete$d), sbn_fit(counted, "d"), "loglik")
  expect_error(bn_classifier(counted, "z"), "`y`.*counted", class = "granary_error_input")
})
