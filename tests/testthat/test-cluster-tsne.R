blobs <- function(n, d = 5, groups = 3, apart = 6) {
  label <- rep_len(seq_len(groups), n)
  list(x = matrix(rnorm(groups * d, sd = apart), groups)[label, ] + matrix(rnorm(n * d), n), label = label)
}

test_that("similarities: sum 1, symmetric, the perplexity asked for", {
  p <- tsne_affinity(iris[1:4], perplexity = 20, method = "exact")
  expect_equal(sum(p), 1)
  expect_equal(as.matrix(p), t(as.matrix(p)), ignore_attr = TRUE)
  sigma <- attr(p, "sigma")
  d <- as.matrix(dist(iris[1:4]))
  conditional <- exp(-d^2 / (2 * sigma^2))
  diag(conditional) <- 0
  conditional <- conditional / rowSums(conditional)
  perplexity <- exp(-rowSums(ifelse(conditional > 0, conditional * log(conditional), 0)))
  expect_equal(unname(perplexity), rep(20, 150), tolerance = 1e-6)
  expect_equal(as.matrix(p), (conditional + t(conditional)) / 300, ignore_attr = TRUE, tolerance = 1e-8)
  triangle <- tsne_affinity(cbind(c(0, 1, 0.5), c(0, 0, sqrt(0.75))), perplexity = 2, method = "exact")
  expect_equal(as.matrix(triangle)[upper.tri(diag(3))], rep(1 / 6, 3))
  few <- tsne_affinity(iris[1:4], perplexity = 20)
  expect_lt(Matrix::nnzero(few), Matrix::nnzero(p))
  expect_equal(tsne_affinity(dist(iris[1:4]), perplexity = 20), tsne_affinity(iris[1:4], perplexity = 20), tolerance = 1e-8)
  expect_equal(tsne_affinity(nearest_neighbors(iris[1:4], k = 60), perplexity = 20), few, tolerance = 1e-8)
})

test_that("the gradient is that of the cost, written out in R", {
  set.seed(1)
  x <- blobs(40)$x
  p <- tsne_affinity(x, perplexity = 5)
  y <- matrix(rnorm(80), 40)
  dense <- as.matrix(p)
  cost <- function(y) {
    w <- 1 / (1 + as.matrix(dist(y))^2)
    diag(w) <- 0
    q <- w / sum(w)
    at <- dense > 0
    sum(dense[at] * log(dense[at] / q[at]))
  }
  found <- tsne_gradient(p, y)
  expect_equal(found$cost, cost(y), tolerance = 1e-12)
  expect_equal(sum(found$point_cost), found$cost)
  w <- 1 / (1 + as.matrix(dist(y))^2)
  diag(w) <- 0
  g <- 4 * t(vapply(1:40, function(i) colSums((dense[i, ] - w[i, ] / sum(w)) * w[i, ] * (matrix(y[i, ], 40, 2, byrow = TRUE) - y)), numeric(2)))
  expect_equal(found$gradient, g, tolerance = 1e-10)
  expect_equal(tsne_gradient(dense, y)$cost, found$cost)
  for (method in c("barnes_hut", "dual_tree")) {
    tree <- tsne_gradient(p, y, method = method, theta = 0.5)$gradient
    expect_gt(sum(tree * g) / sqrt(sum(tree^2) * sum(g^2)), 0.99)
  }
})

test_that("groups are kept apart, over several seeds, types and dimensions", {
  for (seed in 1:3) {
    set.seed(seed)
    sim <- blobs(240)
    for (type in c("tsne", "ssne", "elastic")) {
      fit <- tsne(sim$x, type = type, perplexity = 20, max_iter = 500, init = "random")
      expect_equal(assess(fit, truth = sim$label)$error, 0, info = paste(type, seed))
      expect_true(fit$convergence$converged)
    }
  }
  for (k in c(1, 3)) expect_equal(assess(tsne(sim$x, k = k, perplexity = 20, max_iter = 500), truth = sim$label)$error, 0)
  for (method in c("exact", "dual_tree")) expect_equal(assess(tsne(sim$x, method = method, perplexity = 20, max_iter = 500), truth = sim$label)$error, 0)
})

test_that("iris: the exact cost is what Rtsne reaches, and 1-NN errors are the paper's kind", {
  fit <- tsne(iris[1:4])
  expect_lt(fit$cost, 0.135)
  expect_true(fit$exact_cost)
  expect_equal(tsne_gradient(tsne_affinity(iris[1:4]), fit)$cost, fit$cost, tolerance = 1e-8)
  score <- assess(fit, truth = iris$Species)
  expect_lt(score$error, 0.06)
  expect_gt(score$trustworthiness, 0.97)
  late <- fit$trace$cost[fit$trace$iteration >= 250]
  expect_lt(fit$cost, late[1L])
  exact <- tsne(iris[1:4], method = "exact")
  expect_lt(exact$cost, 0.13)
  skip_if_not_installed("Rtsne")
  set.seed(1)
  theirs <- Rtsne::Rtsne(as.matrix(iris[1:4]), check_duplicates = FALSE, pca = FALSE)
  expect_lt(fit$cost, tsne_gradient(tsne_affinity(iris[1:4]), theirs$Y)$cost + 0.01)
})

test_that("a run goes on where it stopped, at any number of threads, and set.seed() fixes it", {
  x <- blobs(150)$x
  set.seed(5)
  whole <- tsne(x, max_iter = 400, init = "random", threads = 1)
  set.seed(5)
  half <- tsne(x, max_iter = 250, init = "random", threads = 2)
  rest <- update(half, max_iter = 150, threads = 2)
  expect_identical(rest$latent, whole$latent)
  expect_equal(rest$cost, whole$cost)
  expect_identical(rest$trace$iteration, whole$trace$iteration)
  expect_equal(update(whole, perplexity = 10, max_iter = 100)$perplexity, 10)
  expect_error(update(whole, perplexty = 10), "perplexity", class = "granary_error_input")
  expect_error(update(whole, x[1:3, ], perplexity = 10), "not both", class = "granary_error_input")
})

test_that("rows are added and placed near their like", {
  set.seed(6)
  sim <- blobs(300)
  old <- 1:200
  fit <- tsne(sim$x[old, ], perplexity = 20, max_iter = 500)
  placed <- predict(fit, sim$x[-old, ])
  nearest <- nearest_neighbors(fit$latent, k = 1, newdata = placed)$index[, 1]
  expect_equal(sim$label[old][nearest], sim$label[-old])
  expect_equal(assess(fit, truth = sim$label[old], newdata = sim$x[-old, ], newy = sim$label[-old])$new.error, 0)
  # an old row lands beside itself
  again <- predict(fit, sim$x[1:20, ])
  expect_lt(median(sqrt(rowSums((again - fit$latent[1:20, ])^2))), 1)
  more <- update(fit, sim$x[-old, ], max_iter = 100)
  expect_equal(nrow(more$latent), 300)
  expect_equal(assess(more, truth = sim$label)$error, 0)
  expect_identical(predict(fit), fit$latent)
  expect_error(predict(tsne(dist(sim$x[old, ]), perplexity = 20, max_iter = 50), sim$x), "not from rows", class = "granary_error_input")
})

test_that("every kind of input: names, distances, neighbours, metrics, sparse rows, many columns", {
  set.seed(7)
  sim <- blobs(120, d = 60)
  rownames(sim$x) <- paste0("r", 1:120)
  fit <- tsne(sim$x, perplexity = 15, max_iter = 500)
  expect_identical(rownames(fit$latent), rownames(sim$x))
  expect_equal(dim(fit$source$reduction$rotation), c(60L, 50L))
  inputs <- list(
    tsne(dist(sim$x), perplexity = 15, max_iter = 500), tsne(nearest_neighbors(sim$x, k = 45), perplexity = 15, max_iter = 500),
    tsne(methods::as(sim$x, "CsparseMatrix"), perplexity = 15, max_iter = 500), tsne(methods::as(sim$x, "CsparseMatrix"), pca = 0, perplexity = 15, max_iter = 500),
    tsne(sim$x, metric = "manhattan", perplexity = 15, max_iter = 500), tsne(sim$x, metric = "cosine", perplexity = 15, max_iter = 500),
    tsne(sim$x[, 1:5], metric = function(a, b) max(abs(a - b)), perplexity = 15, max_iter = 500)
  )
  for (one in inputs) {
    expect_equal(assess(one, truth = sim$label)$error, 0)
    expect_identical(rownames(one$latent), rownames(sim$x))
  }
  expect_equal(dim(predict(inputs[[4]], methods::as(sim$x[1:3, ], "CsparseMatrix"))), c(3L, 2L))
  expect_equal(dim(predict(inputs[[7]], sim$x[1:3, 1:5])), c(3L, 2L))
})

test_that("scales, duplicates, constant columns, equal rows", {
  set.seed(10)
  x <- matrix(rnorm(600), 150)
  base <- tsne_affinity(x)
  for (scale in c(1e-8, 1e8, 1e140)) {
    scaled <- tsne_affinity(x * scale)
    expect_equal(scaled@x, base@x, tolerance = 1e-8)
    expect_equal(attr(scaled, "sigma") / scale, attr(base, "sigma"), tolerance = 1e-8)
    expect_lt(tsne(iris[1:4] * scale)$cost, 0.135)
  }
  expect_equal(tsne_affinity(cbind(x, 3))@x, base@x, tolerance = 1e-8)
  twice <- tsne(rbind(iris[1:4], iris[1:4]), max_iter = 300)
  expect_true(all(is.finite(twice$latent)))
  expect_warning(same <- tsne(matrix(1, 100, 3), max_iter = 300, init = "random"), class = "granary_warning_input")
  expect_true(all(is.finite(same$latent)))
  expect_warning(still <- tsne(matrix(1, 100, 3), max_iter = 10), class = "granary_warning_input")
  expect_true(all(is.finite(still$latent)))
  expect_equal(dim(tsne(cbind(1:4), perplexity = 1, max_iter = 50)$latent), c(4L, 2L))
  expect_equal(dim(tsne(cbind(1:2), perplexity = 1, method = "exact", max_iter = 50)$latent), c(2L, 2L))
  wide <- matrix(rnorm(20 * 400), 20)
  expect_equal(dim(tsne(wide, perplexity = 5, max_iter = 50)$latent), c(20L, 2L))
})

test_that("callbacks see maps, and can end a run", {
  seen <- integer()
  fit <- tsne(iris[1:4], max_iter = 500, callback = function(iteration, map, cost) {
    seen <<- c(seen, iteration)
    stopifnot(identical(dim(map), c(150L, 2L)), is.finite(cost))
    iteration < 200
  })
  expect_identical(seen, c(50L, 100L, 150L, 200L))
  expect_identical(fit$convergence$iterations, 200L)
  expect_error(tsne(iris[1:4], callback = function(...) stop("enough")), "failed: enough", class = "granary_error_input")
  expect_error(tsne(iris[1:4], callback = 3), class = "granary_error_input")
  pdf(NULL)
  on.exit(dev.off())
  expect_s3_class(tsne(iris[1:4], max_iter = 50, callback = "plot"), "granary_tsne")
  plot(fit, labels = iris$Species, density = TRUE)
  plot(fit)
  plot(fit, density = TRUE)
  plot(tsne(iris[1:4], k = 1, max_iter = 50), density = TRUE)
})

test_that("tol ends a run early, and exaggeration, momentum and rate are used", {
  fit <- tsne(iris[1:4], tol = 0.01)
  expect_lt(fit$convergence$iterations, 1000)
  expect_gt(fit$convergence$iterations, 249)
  expect_equal(tsne(iris[1:4], rate = 50, max_iter = 50)$rate, 50)
  a <- tsne(iris[1:4], max_iter = 100)$latent
  expect_false(isTRUE(all.equal(a, tsne(iris[1:4], max_iter = 100, exaggeration = 4)$latent)))
  expect_false(isTRUE(all.equal(a, tsne(iris[1:4], max_iter = 100, momentum = c(0.2, 0.8))$latent)))
  expect_false(isTRUE(all.equal(a, tsne(iris[1:4], max_iter = 100, cell = "diagonal")$latent)))
})

test_that("other maps are scored on the same footing", {
  fit <- tsne(iris[1:4], max_iter = 500)
  components <- stats::prcomp(iris[1:4])$x[, 1:2]
  other <- assess(fit, truth = iris$Species, map = components)
  own <- assess(fit, truth = iris$Species)
  expect_gt(own$preservation, other$preservation)
  set.seed(9)
  x <- matrix(rnorm(300), 100)
  perfect <- assess(tsne(x, max_iter = 50), map = x)
  expect_equal(c(perfect$trustworthiness, perfect$continuity, perfect$preservation), c(1, 1, 1))
  expect_equal(assess(fit, k = 5, samples = 40)$k, 5)
  expect_error(assess(fit, map = components[1:10, ]), "one row per row", class = "granary_error_input")
  expect_error(assess(fit, k = 149), "less than", class = "granary_error_input")
  expect_error(assess(fit, newdata = iris[1:4]), "together", class = "granary_error_input")
  expect_error(assess(fit, newdata = iris[1:4], newy = iris$Species), "truth", class = "granary_error_input")
})

test_that("what cannot be done is said", {
  x <- as.matrix(iris[1:4])
  expect_error(tsne(), class = "granary_error_input")
  expect_error(tsne(x[1:60, ]), "at most 19", class = "granary_error_input")
  expect_error(tsne(x, perplexity = 0.5), class = "granary_error_input")
  expect_error(tsne(x[1:10, ], perplexity = 10, method = "exact"), "at most 9", class = "granary_error_input")
  expect_error(tsne(x[1:3, ]), "at least 4", class = "granary_error_input")
  expect_error(tsne(x, k = 4), class = "granary_error_input")
  expect_error(tsne(x, rate = "fast"), "rate", class = "granary_error_input")
  expect_error(tsne(x, init = matrix(0, 3, 2)), "150 x 2", class = "granary_error_input")
  expect_error(tsne(nearest_neighbors(x, k = 20)), "20 neighbours", class = "granary_error_input")
  expect_error(tsne(nearest_neighbors(x, k = 20), method = "exact", perplexity = 5), "all pairs", class = "granary_error_input")
  expect_error(tsne(list(index = matrix(1:2, 2), distance = matrix(0, 2))), "own neighbour", class = "granary_error_input")
  expect_error(tsne(list(index = matrix(c(2, 9), 2), distance = matrix(0, 2))), "numbers of rows", class = "granary_error_input")
  x[2, 2] <- NA
  expect_error(tsne(x), "missing", class = "granary_error_input")
  p <- tsne_affinity(iris[1:4])
  expect_error(tsne_gradient(2 * p, matrix(0, 150, 2)), "sum 1", class = "granary_error_input")
  expect_error(tsne_gradient(-p, matrix(0, 150, 2)), "not negative", class = "granary_error_input")
  expect_error(tsne_gradient(p, matrix(0, 10, 2)), "150 rows", class = "granary_error_input")
  expect_error(tsne_gradient(diag(150) / 150, matrix(0, 150, 2)), "zero diagonal", class = "granary_error_input")
})

test_that("printing, tables and generics", {
  fit <- tsne(iris[1:4], max_iter = 300)
  expect_output(print(fit), "Kullback-Leibler divergence, exact")
  expect_named(tidy(fit), c("row", "dim1", "dim2"))
  expect_true(all(c(".dim1", ".dim2") %in% names(augment(fit, iris))))
  expect_equal(glance(fit)$cost, fit$cost)
  expect_identical(as.matrix(fit), fit$latent)
  expect_equal(nobs(fit), 150)
})

test_that("twenty thousand rows: the tree is near all pairs, and beyond them the cost says that it is a tree's", {
  skip_if(Sys.getenv("GRANARY_EXTENDED") != "1")
  set.seed(8)
  sim <- blobs(20500, d = 10, groups = 10)
  fit <- tsne(sim$x, max_iter = 300)
  expect_false(fit$exact_cost)
  expect_equal(fit$cost, tsne_gradient(tsne_affinity(sim$x), fit)$cost, tolerance = 1e-3)
  expect_equal(assess(fit, truth = sim$label)$error, 0)
})

test_that("a start in which all rows coincide is refused, and a map that runs away is brought back", {
  x <- unique(as.matrix(iris[1:4]))
  expect_error(tsne(x, init = matrix(3, nrow(x), 2)), "different positions", class = "granary_error_input")
  fit <- tsne(x, rate = 1e9, max_iter = 300)
  expect_gt(fit$restarts, 0)
  expect_lt(max(abs(fit$latent)), 1e4)
})
