brute_neighbors <- function(x, k, f) {
  d <- apply(x, 1, function(a) apply(x, 1, function(b) f(a, b)))
  diag(d) <- Inf
  t(apply(d, 1, function(row) sort(row)[seq_len(k)]))
}

test_that("neighbours are those of all pairs, for every metric and engine", {
  set.seed(1)
  x <- matrix(rnorm(60 * 4), 60)
  x[7, ] <- x[31, ]
  metrics <- list(
    euclidean = function(a, b) sqrt(sum((a - b)^2)), manhattan = function(a, b) sum(abs(a - b)), maximum = function(a, b) max(abs(a - b)),
    cosine = function(a, b) 1 - sum(a * b) / sqrt(sum(a^2) * sum(b^2)), correlation = function(a, b) 1 - cor(a, b)
  )
  for (metric in names(metrics)) {
    wanted <- brute_neighbors(x, 5, metrics[[metric]])
    engines <- c("auto", "vp_tree", if (!metric %in% c("manhattan", "maximum")) c("kd_tree", "blocked"))
    for (engine in engines) expect_equal(nearest_neighbors(x, k = 5, metric = metric, method = engine)$distance, wanted, tolerance = 1e-7, info = paste(metric, engine))
  }
  own <- nearest_neighbors(x, k = 5, metric = metrics$manhattan)
  expect_equal(own, nearest_neighbors(x, k = 5, metric = "manhattan"))
  expect_equal(nearest_neighbors(dist(x), k = 5)$index, nearest_neighbors(x, k = 5)$index)
  expect_identical(nearest_neighbors(x, k = 5, threads = 2), nearest_neighbors(x, k = 5, threads = 1))
})

test_that("new rows, names, sparse rows", {
  x <- as.matrix(iris[1:100, 1:4])
  rownames(x) <- paste0("a", 1:100)
  near <- nearest_neighbors(x, k = 2, newdata = iris[101:110, 4:1])
  d <- as.matrix(dist(rbind(x, as.matrix(iris[101:110, 1:4]))))[101:110, 1:100]
  expect_equal(unname(near$distance[, 1]), unname(apply(d, 1, min)))
  expect_equal(nearest_neighbors(x, k = 1, newdata = x)$distance[, 1], rep(0, 100), ignore_attr = TRUE)
  expect_identical(rownames(nearest_neighbors(x, k = 2)$index), rownames(x))
  sparse <- Matrix::rsparsematrix(80, 50, 0.2)
  sparse[, 1] <- 1
  sparse <- methods::as(sparse, "CsparseMatrix")
  for (metric in c("euclidean", "cosine", "manhattan")) {
    expect_equal(nearest_neighbors(sparse, k = 3, metric = metric), nearest_neighbors(as.matrix(sparse), k = 3, metric = metric), info = metric)
  }
  own <- nearest_neighbors(x, k = 3, newdata = iris[101:104, 1:4], metric = function(a, b) sqrt(sum((a - b)^2)))
  expect_equal(own, nearest_neighbors(x, k = 3, newdata = iris[101:104, 1:4]))
  expect_equal(nearest_neighbors(1:10, k = 1)$index[, 1], c(2, 1:9), ignore_attr = TRUE)
})

test_that("what cannot be done is said", {
  x <- matrix(rnorm(40), 10)
  expect_error(nearest_neighbors(), class = "granary_error_input")
  expect_error(nearest_neighbors(x, k = 10), "at most 9", class = "granary_error_input")
  expect_error(nearest_neighbors(x, k = 11, newdata = x), "at most 10", class = "granary_error_input")
  expect_error(nearest_neighbors(dist(x), k = 2, newdata = x), "needs rows", class = "granary_error_input")
  expect_error(nearest_neighbors(rbind(x, 0), k = 2, metric = "cosine"), "row 11 is zero", class = "granary_error_input")
  expect_error(nearest_neighbors(rbind(x, 1), k = 2, metric = "correlation"), "row 11 is constant", class = "granary_error_input")
  expect_error(nearest_neighbors(x, k = 2, metric = "manhattan", method = "kd_tree"), "vp_tree", class = "granary_error_input")
  expect_error(nearest_neighbors(x, k = 2, metric = function(a, b) stop("no")), "failed: no", class = "granary_error_input")
  expect_error(nearest_neighbors(x, k = 2, metric = function(a, b) -1), "not negative", class = "granary_error_input")
  expect_error(nearest_neighbors(nearest_neighbors(x, k = 2)), "already", class = "granary_error_input")
  x[3, 2] <- NA
  expect_error(nearest_neighbors(x, k = 2), "missing", class = "granary_error_input")
  broken <- dist(matrix(rnorm(10), 5))
  attr(broken, "Size") <- 7L
  expect_error(nearest_neighbors(broken, k = 2), "whole object of dist", class = "granary_error_input")
  expect_output(print(nearest_neighbors(matrix(rnorm(40), 10), k = 2)), "nearest neighbours of 10 rows")
})

test_that("FNN and dbscan agree", {
  skip_if_not_installed("FNN")
  set.seed(2)
  x <- matrix(rnorm(2000 * 12), 2000)
  theirs <- FNN::get.knn(x, 7)
  ours <- nearest_neighbors(x, k = 7)
  expect_equal(ours$distance, theirs$nn.dist)
  expect_equal(ours$index, theirs$nn.index)
})
