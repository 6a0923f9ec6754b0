blobs <- function(n, d = 3, k = 4) {
  centers <- matrix(rnorm(k * d, sd = 20), k)
  centers[sample(k, n, TRUE), ] + matrix(rnorm(n * d), n)
}

test_that("every source and every size of pieces gives the same fit", {
  set.seed(1)
  x <- blobs(700)
  colnames(x) <- c("a", "b", "c")
  path <- withr::local_tempfile(fileext = ".csv")
  write.csv(as.data.frame(x), path, row.names = FALSE)
  x <- as.matrix(read.csv(path))
  halves <- c(withr::local_tempfile(fileext = ".csv"), withr::local_tempfile(fileext = ".csv"))
  write.csv(as.data.frame(x[1:300, ]), halves[1], row.names = FALSE)
  write.csv(as.data.frame(x[301:700, ]), halves[2], row.names = FALSE)
  left <- 7
  generate <- function() {
    if (left == 0) return(NULL)
    left <<- left - 1
    x[(6 - left) * 100 + 1:100, ]
  }
  run <- function(source) {
    set.seed(9)
    stream_kmeans(source, k = 4, memory = 60)
  }
  whole <- run(x)
  expect_equal(colnames(whole$centers), c("a", "b", "c"))
  for (source in list(data_chunks(x, size = 13), as.data.frame(x), path, halves, generate, list(x[1:5, ], x[6:700, ]), Matrix::Matrix(x, sparse = TRUE))) {
    fit <- run(source)
    expect_equal(fit$centers, whole$centers)
    expect_equal(fit$cost_bound, whole$cost_bound)
    expect_equal(fit$n, 700)
  }
  skip_if_not_installed("RSQLite")
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  DBI::dbWriteTable(db, "rows", as.data.frame(x))
  result <- DBI::dbSendQuery(db, "select * from rows")
  expect_equal(run(result)$centers, whole$centers)
  DBI::dbClearResult(result)
  DBI::dbDisconnect(db)
})

test_that("an Arrow stream is read batch by batch", {
  skip_if_not_installed("nanoarrow")
  set.seed(2)
  x <- as.data.frame(blobs(200))
  stream <- getExportedValue("nanoarrow", "basic_array_stream")(list(getExportedValue("nanoarrow", "as_nanoarrow_array")(x[1:90, ]), getExportedValue("nanoarrow", "as_nanoarrow_array")(x[91:200, ])))
  set.seed(3)
  a <- stream_kmeans(stream, k = 3, memory = 60)
  set.seed(3)
  expect_equal(a$centers, stream_kmeans(x, k = 3, memory = 60)$centers)
})

test_that("the bound holds on every run, is the cost while nothing is summarised, and passes find the cost", {
  for (seed in 1:4) {
    set.seed(seed)
    x <- blobs(2000, 5, 8)
    for (recenter in c(TRUE, FALSE)) {
      fit <- stream_kmeans(x, k = 8, memory = 250, recenter = recenter, method = if (seed > 2) "plusplus" else "sharp")
      expect_lte(kmeans_cost(x, fit), fit$cost_bound * (1 + 1e-12))
      expect_equal(sum(fit$sizes), 2000)
      expect_equal(sum(fit$summary$weight), 2000)
      expect_gt(fit$levels, 0)
      if (recenter && seed <= 2) expect_lt(fit$cost_bound, 2 * kmeans_cost(x, fit))
    }
    all <- stream_kmeans(x, k = 8, memory = 2000)
    expect_equal(all$cost_bound, kmeans_cost(x, all))
    expect_equal(all$levels, 0L)
    more <- stream_kmeans(x, k = 8, memory = 250, passes = 2)
    expect_equal(more$cost, kmeans_cost(x, more))
    expect_lte(more$cost, kmeans_cost(x, fit) * 1.5)
  }
})

test_that("one batch of everything draws what kmeans_seed() draws, and one centre is the mean", {
  set.seed(4)
  x <- blobs(150)
  set.seed(5)
  seeds <- kmeans_seed(x, 6)
  set.seed(5)
  fit <- stream_kmeans(x, 6, method = "plusplus", memory = 150, polish = FALSE, n_starts = 1)
  expect_equal(fit$cost_bound, seeds$cost)
  expect_equal(unname(fit$centers[order(fit$centers[, 1]), ]), unname(seeds$centers[order(seeds$centers[, 1]), ]))
  expect_equal(seeds$cost, kmeans_cost(x, x[seeds$rows, ]))
  one <- stream_kmeans(x, 1, memory = 20)
  expect_equal(unname(one$centers[1, ]), colMeans(x))
  expect_equal(one$cost_bound, sum(scale(x, scale = FALSE)^2))
})

test_that("a stream goes on after saveRDS() as if it had never stopped, and workers are put together", {
  set.seed(6)
  x <- blobs(1000)
  run <- function() {
    set.seed(7)
    stream_kmeans(x[1:333, ], k = 4, memory = 90)
  }
  first <- run()
  file <- withr::local_tempfile(fileext = ".rds")
  saveRDS(first, file)
  later <- update(readRDS(file), x[334:1000, ])
  set.seed(7)
  once <- stream_kmeans(x, k = 4, memory = 90)
  expect_equal(later$centers, once$centers)
  expect_equal(later$state, once$state)
  expect_equal(update(update(run(), x[334:500, ]), x[501:1000, ])$centers, once$centers)
  parts <- lapply(split(seq_len(1000), rep(1:3, length.out = 1000)), function(rows) stream_kmeans(x[rows, ], k = 4, memory = 90))
  both <- combine(parts[[1]], parts[[2]], parts[[3]])
  expect_equal(both$n, 1000)
  expect_equal(sum(both$sizes), 1000)
  expect_lte(kmeans_cost(x, both), both$cost_bound * (1 + 1e-12))
  expect_lt(both$cost_bound, 1.2 * once$cost_bound)
  expect_error(combine(parts[[1]], stream_kmeans(x[, 1:2], k = 4, memory = 90)), class = "granary_error_input")
  expect_error(combine(parts[[1]], stream_kmeans(x, k = 3, memory = 90)), class = "granary_error_input")
  expect_error(combine(parts[[1]], 3), class = "granary_error_input")
  damaged <- parts[[1]]
  damaged$state$levels <- NULL
  expect_error(update(damaged, x), class = "granary_error_input")
})

test_that("threads do not matter, columns are matched by name, and labels come from predict()", {
  set.seed(8)
  x <- blobs(900)
  colnames(x) <- c("a", "b", "c")
  run <- function(threads) {
    set.seed(1)
    stream_kmeans(x, k = 4, memory = 100, threads = threads)
  }
  expect_identical(run(1)$centers, run(2)$centers)
  fit <- run(1)
  expect_equal(predict(fit, x[, 3:1]), predict(fit, x))
  expect_equal(tabulate(predict(fit, x), 4), apply(outer(1:4, predict(fit, x), `==`), 1, sum))
  expect_equal(update(fit, x[1:50, 3:1])$n, 950)
  truth <- predict(bregman_cluster(x, 4), x)
  scores <- assess(fit, truth = truth, newdata = x)
  expect_gt(scores$ari, 0.9)
  expect_equal(nrow(tidy(fit)), 4)
  expect_equal(nobs(fit), 900)
  expect_equal(nrow(augment(fit, as.data.frame(x))), 900)
  expect_error(predict(fit), class = "granary_error_input")
  expect_error(fitted(fit), class = "granary_error_input")
  expect_output(print(fit), "Guarantee")
  expect_output(print(summary(fit)), "Cost at most")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_no_error(plot(fit))
  expect_no_error(plot(fit, newdata = x))
  if (requireNamespace("ggplot2", quietly = TRUE)) expect_s3_class(ggplot2::autoplot(fit), "ggplot")
})

test_that("scales, shifts, repeated and constant columns do no harm", {
  set.seed(9)
  x <- cbind(blobs(400), 7)
  base <- function(y) {
    set.seed(2)
    stream_kmeans(y, k = 3, memory = 80)
  }
  plain <- base(x)
  for (scale in c(1e-8, 1e8)) expect_equal(base(x * scale)$cost_bound / scale^2, plain$cost_bound, tolerance = 1e-6)
  far <- base(x + 1e6)
  expect_equal(far$cost_bound, plain$cost_bound, tolerance = 1e-4)
  expect_equal(kmeans_cost(x + 1e7, far$centers + 9e6), kmeans_cost(x, far$centers - 1e6), tolerance = 1e-6)
  expect_equal(predict(far, x + 1e6), predict(plain, x))
  same <- matrix(1, 200, 2)
  expect_message(flat <- stream_kmeans(same, 3, memory = 50), "Only 1 of 3")
  expect_equal(flat$cost_bound, 0)
  expect_equal(nrow(stream_kmeans(x[1, , drop = FALSE], 1)$centers), 1)
})

test_that("errors say what is wrong", {
  set.seed(10)
  x <- blobs(100)
  expect_error(stream_kmeans(x), "k", class = "granary_error_input")
  expect_error(stream_kmeans(x, 5, memory = 20), "at least 51", class = "granary_error_input")
  bad <- replace(x, 57, NA)
  expect_error(stream_kmeans(data_chunks(bad, size = 10), 2), "row 57 of the stream", class = "granary_error_input")
  expect_equal(stream_kmeans(bad, 2, na = "omit")$n, 99)
  expect_output(print(stream_kmeans(bad, 2, na = "omit")), "1 row with missing")
  pieces <- list(matrix(1, 3, 2), matrix(1, 3, 3))
  expect_error(stream_kmeans(pieces, 1), class = "granary_error_input")
  expect_error(stream_kmeans(list(), 1), class = "granary_error_input")
  expect_error(stream_kmeans(list(1, "a"), 1), class = "granary_error_input")
  expect_error(stream_kmeans(function() NULL, 1), "no rows", class = "granary_error_input")
  expect_error(stream_kmeans(function() NULL, 1, passes = 1), "once", class = "granary_error_input")
  expect_error(kmeans_seed(x, 101), class = "granary_error_input")
  expect_error(kmeans_cost(x, matrix(0, 2, 5)), class = "granary_error_input")
  expect_error(kmeans_seed(x, 2, weights = rep(0, 100)), class = "granary_error_input")
  expect_error(stream_kmeans_bounds("plan", k = 3), "n", class = "granary_error_input")
  expect_error(stream_kmeans_bounds("plan", k = 30, n = 1e6, memory = 100), "at least", class = "granary_error_input")
  expect_error(stream_kmeans_baseline(matrix(1, 5, 2), 2, method = "online"), "different rows", class = "granary_error_input")
  expect_error(sim_stream_kmeans(10, k = 9, d = 3), class = "granary_error_input")
})

test_that("seeds: Lemma 2.2, weights as repeated rows in distribution, greedy and repeated runs no worse", {
  x <- c(0, 1, 2, 10, 11, 13, 20, 26)
  expect_equal(mean(vapply(x, function(c) kmeans_cost(x, matrix(c)), 0)), 1219.75)
  expect_equal(sum((x - mean(x))^2), 609.875)
  set.seed(11)
  costs <- replicate(800, kmeans_seed(x, 1)$cost)
  expect_lt(abs(mean(costs) - 1219.75), 4 * sd(costs) / sqrt(800))
  first <- replicate(600, kmeans_seed(x, 1, weights = c(5, 0, 0, 0, 1, 0, 0, 0))$rows)
  expect_setequal(first, c(1, 5))
  expect_equal(mean(first == 1), 5 / 6, tolerance = 0.08)
  y <- blobs(300, 2, 10)
  set.seed(12)
  plain <- mean(replicate(20, kmeans_seed(y, 10)$cost))
  expect_lt(mean(replicate(20, kmeans_seed(y, 10, candidates = 4)$cost)), plain)
  expect_lt(mean(replicate(20, kmeans_seed(y, 10, repeats = 5)$cost)), plain)
  sharp <- kmeans_seed(y, 10, "sharp")
  expect_lte(length(sharp$rows), 70)
  expect_lt(sharp$cost, plain)
  expect_equal(sum(sharp$sizes), 300)
  expect_equal(kmeans_cost(y, y), 0)
  expect_output(print(sharp), "k-means#")
})

test_that("costs ask for all columns of the rows, in any order", {
  x <- as.matrix(iris[1:4])
  centers <- x[c(1, 60, 120), ]
  expect_equal(kmeans_cost(x, centers[, 4:1]), kmeans_cost(x, centers))
  expect_error(kmeans_cost(x, centers[, 1:2]), "must have the 4 columns", class = "granary_error_input")
  expect_error(kmeans_cost(x[, 1:2], centers), "must have the 2 columns", class = "granary_error_input")
})

test_that("plans and guarantees by hand", {
  expect_equal(stream_kmeans_bounds("memory", k = 25), 2 * 250 + 1)
  g <- stream_kmeans_bounds("guarantee", k = 10, calls = 5, repeats = 3)
  b <- 8 * (log(10) + 2)
  expect_equal(g$factor, 2 * 64 + 4 * b * 65)
  expect_equal(g$probability, (1 - 0.75^3)^5)
  two <- stream_kmeans_bounds("guarantee", k = 10, levels = 2, method = "plusplus")
  inner <- 2 * b + 4 * b * (b + 1)
  expect_equal(two$factor, 2 * inner + 4 * b * (inner + 1))
  plan <- stream_kmeans_bounds("plan", k = 25, n = 1e6, d = 10)
  expect_equal(plan$memory[1], ceiling(sqrt(1e6 * 250)))
  expect_true(all(diff(plan$memory) < 0))
  expect_equal(plan$words, plan$held * 11)
  chosen <- stream_kmeans_bounds("plan", k = 25, n = 1e6, memory = 5000)
  expect_lte(chosen$levels, 3)
  expect_gt(stream_kmeans_bounds("plan", k = 5, n = 1e5)$probability[1], 0.5)
})

test_that("at the true number of clusters one pass is far better than batch k-means from random rows, as in the paper", {
  set.seed(13)
  x <- sim_stream_kmeans(2500)$x
  fit <- stream_kmeans(x, 25, memory = 510)
  batch <- stream_kmeans_baseline(x, 25)
  online <- stream_kmeans_baseline(x, 25, "online")
  expect_lt(fit$cost_bound, 1e5)
  expect_gt(batch$cost, 100 * fit$cost_bound)
  expect_gt(online$cost, 100 * fit$cost_bound)
  expect_equal(batch$cost, kmeans_cost(x, batch))
  expect_output(print(batch), "random")
  good <- stream_kmeans_baseline(x, 25, "plusplus", least = 0)
  expect_equal(good$cost, sum((x - good$centers[good$cluster, ])^2))
})

test_that("case weights are repeated rows", {
  set.seed(1)
  x <- blobs(400)
  colnames(x) <- c("a", "b", "c")
  w <- sample(0:3, 400, TRUE)
  whole <- stream_kmeans(x, 4, memory = 2000, weights = w)
  repeated <- stream_kmeans(x[rep(1:400, w), ], 4, memory = 2000)
  expect_equal(whole$cost_bound, repeated$cost_bound)
  expect_equal(sum(whole$sizes), sum(w))
  expect_equal(whole$cost_bound, kmeans_cost(x, whole$centers, w))
  set.seed(2)
  pieces <- stream_kmeans(data_chunks(x, size = 33), 4, memory = 100, weights = w, n = 400)
  set.seed(2)
  named <- stream_kmeans(cbind(x, case = w), 4, memory = 100, weights = "case")
  expect_identical(named$centers, pieces$centers)
  expect_equal(sum(pieces$summary$weight), sum(w))
  expect_gte(pieces$cost_bound * (1 + 1e-12), kmeans_cost(x, pieces$centers, w))
  set.seed(2)
  first <- stream_kmeans(x[1:150, ], 4, memory = 100, weights = w[1:150])
  expect_identical(update(first, x[151:400, ], weights = w[151:400])$centers, pieces$centers)
  passed <- stream_kmeans(x, 4, memory = 100, weights = w, passes = 1)
  expect_equal(passed$cost, kmeans_cost(x, passed$centers, w))
  expect_error(stream_kmeans(x, 4, weights = w[-1]), "one entry per row", class = "granary_error_input")
  expect_error(stream_kmeans(x, 4, weights = c(w, 1)), "one entry per row of the stream, 400, but it has 401", class = "granary_error_input")
  expect_error(stream_kmeans(x, 4, weights = "z"), "no \"z\"", class = "granary_error_input")
  expect_error(stream_kmeans(x, 4, weights = rep(0, 400)), "not all be zero", class = "granary_error_input")
  expect_error(stream_kmeans(x, 4, weights = -w), "at least 0", class = "granary_error_input")
})

test_that("a stream whose columns change, or that has an infinite number, is told by its row", {
  x <- matrix(as.double(1:60), 20, dimnames = list(NULL, c("a", "b", "c")))
  expect_error(stream_kmeans(list(x[1:10, ], cbind(x[11:20, ], d = 1)), 2), "from row 11 of the stream on there is \"d\"",
               class = "granary_error_input")
  left <- list(x[1:10, ], replace(x[11:20, ], 15, Inf))
  feed <- function() {
    if (length(left) == 0) return(NULL)
    piece <- left[[1]]
    left <<- left[-1]
    piece
  }
  expect_error(stream_kmeans(feed, 2), "row 15 of the stream has Inf", class = "granary_error_input")
})
