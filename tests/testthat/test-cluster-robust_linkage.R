test_that("eight topics: no error where single, average and complete linkage have a half and more", {
  sim <- sim_robust_linkage("topics", n = 64)
  fit <- robust_linkage(sim$similarity, eps = 1 / 64, similarity = TRUE)
  for (target in names(sim$labels)) expect_equal(assess(fit, truth = sim$labels[[target]])$error, 0, info = target)
  expect_equal(as.vector(table(fit$height)), c(56L, 4L, 2L, 1L))
  expect_equal(sort(unique(fit$height)), c(7, 16, 32, 62))
  for (method in c("single", "average", "complete")) {
    tree <- robust_linkage_baseline(sim$similarity, method, similarity = TRUE)
    for (target in c("region", "pair", "half")) expect_gte(assess(tree, truth = sim$labels[[target]])$error, 0.5)
  }
  clean <- sim_robust_linkage("topics", n = 64, wrong = FALSE)
  expect_equal(assess(robust_linkage_baseline(clean$similarity, "single", similarity = TRUE), truth = clean$labels$pair)$error, 0)
})

test_that("fields with boundary points, over several seeds; more noise raises the errors of others", {
  for (seed in 1:3) {
    set.seed(seed)
    sim <- sim_robust_linkage("fields", n = 128)
    fit <- robust_linkage(sim$similarity, eps = 1 / 32, similarity = TRUE)
    for (target in names(sim$labels)) expect_equal(assess(fit, truth = sim$labels[[target]])$error, 0, info = paste(target, seed))
    expect_gt(assess(robust_linkage_baseline(sim$similarity, "average", similarity = TRUE), truth = sim$labels$area)$error, 0.1)
  }
  bad <- sim_robust_linkage("fields", n = 256, nu = 2 / 256)
  fit <- robust_linkage(bad$similarity, eps = 1 / 32 + 2 / 256, similarity = TRUE)
  expect_lte(assess(fit, truth = bad$labels$field)$error, 2 / 256 + 1e-9)
})

test_that("alpha-good data are recovered, and with bad points but for them (Theorem 1)", {
  for (seed in 1:4) {
    set.seed(seed)
    n <- 180
    label <- rep(1:3, each = 60)
    k <- outer(label, label, `==`) + matrix(runif(n * n, 0, 0.5), n)
    k <- (k + t(k)) / 2
    for (i in seq_len(n)) {  # a wrong neighbour each, and for some more
      to <- sample(which(label != label[i]), 1)
      k[i, to] <- k[to, i] <- 2 + runif(1)
    }
    alpha <- max(robust_linkage_check(k, label, similarity = TRUE)$table$outside) / n
    expect_lt(6 * alpha * n, 60)
    expect_equal(assess(robust_linkage(k, eps = alpha, similarity = TRUE), truth = label)$error, 0)
    bad <- sample(n, 2)
    k[bad, ] <- runif(2 * n, 0, 3)
    k[, bad] <- t(k[bad, ])
    k[bad, bad] <- 1
    check <- robust_linkage_check(k, label, similarity = TRUE)
    expect_true(check$guaranteed)
    expect_lte(assess(robust_linkage(k, eps = check$eps, similarity = TRUE), truth = label)$error, check$nu + 1e-9)
  }
})

test_that("Ward's counter-example, iris, and strictly separated data", {
  x <- c(rep(0, 40), rep(5, 10), rep(11, 10))
  truth <- rep(1:2, c(50, 10))
  expect_equal(assess(robust_linkage(x, eps = 0.02), truth = truth)$error, 0)
  expect_equal(assess(robust_linkage_baseline(x, "ward"), truth = truth)$error, 1 / 6)
  for (eps in c(0.01, 0.02)) expect_lte(assess(robust_linkage(iris[1:4], eps = eps), truth = iris$Species)$error, 0.11)
  set.seed(3)
  far <- rbind(matrix(rnorm(60), 30), matrix(rnorm(60, 50), 30))
  half <- rep(1:2, each = 30)
  fit <- robust_linkage(far, eps = 0.03)
  expect_equal(assess(fit, truth = half)$error, 0)
  two <- tree_pruning(fit, k = 2)
  expect_equal(cluster_agreement(two$cluster, half)$ari, 1)
  expect_true(all(fit$height[!fit$part][fit$height[!fit$part] < max(fit$height)] <= 30))
  expect_true(robust_linkage_check(far, half)$strict)
})

test_that("corrupted similarities hardly hurt, where average linkage loses", {
  set.seed(4)
  k <- -as.matrix(dist(scale(iris[1:4])))
  k <- (k - min(k)) / diff(range(k))
  hit <- matrix(runif(150^2) < 0.2, 150)
  hit <- hit & upper.tri(hit)
  noise <- k
  noise[hit] <- rnorm(sum(hit))
  noise[lower.tri(noise)] <- t(noise)[lower.tri(noise)]
  error <- function(x, eps) assess(robust_linkage(x, eps = eps, similarity = TRUE), truth = iris$Species)$error
  best <- min(vapply(c(0.02, 0.04, 0.06, 0.08, 0.1, 0.12), function(eps) error(noise, eps), 0))
  average <- assess(robust_linkage_baseline(noise, "average", similarity = TRUE), truth = iris$Species)$error
  expect_lt(best, average)
  expect_lt(best, 0.35)
})

test_that("it is an hclust: cutree, dendrogram, order, names", {
  x <- as.matrix(iris[c(1:20, 51:70), 1:4])
  rownames(x) <- paste0("r", 1:40)
  fit <- robust_linkage(x, eps = 0.05)
  expect_s3_class(fit, "hclust")
  expect_identical(as.hclust(fit), fit)
  expect_equal(sort(fit$order), 1:40)
  expect_false(is.unsorted(fit$height))
  expect_equal(nrow(fit$merge), 39)
  two <- cutree(fit, 2)
  expect_identical(names(two), rownames(x))
  expect_equal(unname(two), rep(1:2, each = 20))
  tree <- as.dendrogram(fit)
  expect_equal(stats::nobs(tree), 40)
  expect_setequal(labels(tree), rownames(x))
  expect_equal(order.dendrogram(tree), fit$order)
  # every merge is a range of the order
  place <- order(fit$order)
  below <- list()
  for (i in 1:39) {
    below[[i]] <- unlist(lapply(fit$merge[i, ], function(m) if (m < 0) -m else below[[m]]))
    expect_equal(diff(range(place[below[[i]]])) + 1, length(below[[i]]))
  }
})

test_that("rows, distances, similarities and metrics give the same tree; threads do not matter", {
  x <- as.matrix(iris[seq(1, 150, 2), 1:4]) + matrix(rnorm(300, sd = 1e-6), 75)
  fit <- robust_linkage(x, eps = 0.03)
  same <- function(other) {
    expect_identical(other$merge, fit$merge)
    expect_identical(other$height, fit$height)
  }
  same(robust_linkage(dist(x), eps = 0.03))
  same(robust_linkage(-as.matrix(dist(x)), eps = 0.03, similarity = TRUE))
  same(robust_linkage(exp(-as.matrix(dist(x))), eps = 0.03, similarity = TRUE))
  same(robust_linkage(x, eps = 0.03, metric = function(a, b) sqrt(sum((a - b)^2))))
  same(robust_linkage(x, eps = 0.03, threads = 2))
  same(robust_linkage(x * 1e8, eps = 0.03))
  same(robust_linkage(x * 1e-8, eps = 0.03))
  expect_equal(robust_linkage(x, eps = 0.03, step = 3)$n, 75)
})

test_that("new rows walk down the tree; samples cluster all rows", {
  set.seed(5)
  x <- rbind(matrix(rnorm(900), ncol = 3), matrix(rnorm(900, 5), ncol = 3), matrix(rnorm(900, -5), ncol = 3))
  label <- rep(1:3, each = 300)
  fit <- robust_linkage(x, eps = 0.02, sample = 200)
  expect_length(fit$rows, 200)
  placed <- predict(fit, x, k = 3)
  expect_equal(cluster_agreement(placed, label)$accuracy, 1)
  expect_equal(assess(fit, truth = label)$error, 0)
  # a row of a blob that formed at once reaches itself; one that joined a blob later may reach its neighbour there
  expect_gt(mean(unname(predict(fit, x[fit$rows, ], type = "node")) == fit$rows), 0.9)
  expect_equal(unname(predict(fit, x[fit$rows, ], k = 3)), unname(predict(fit, k = 3)))
  whole <- robust_linkage(x[1:100, ], eps = 0.02)
  expect_equal(length(predict(whole)), 100)
  k <- exp(-as.matrix(dist(x[c(1:50, 301:350), ])))
  tree <- robust_linkage(k[1:90, 1:90], eps = 0.03, similarity = TRUE)
  expect_equal(unname(predict(tree, k[91:100, 1:90], k = 2)), rep(unname(predict(tree, k = 2))[60], 10))
  expect_error(predict(tree, k[91:100, 1:5]), "90 points", class = "granary_error_input")
})

test_that("prunings: best for labels, persistent ones, many labels", {
  tree <- hclust(dist(iris[1:4]), "average")
  best <- tree_pruning(tree, truth = iris$Species)
  expect_true(best$exact)
  expect_equal(mean(best$label[best$cluster] != iris$Species), best$error)
  expect_lte(best$error, 1 - cluster_agreement(cutree(tree, 3), iris$Species)$accuracy + 1e-12)
  expect_equal(length(tree_pruning(tree, k = 4)$nodes), 4)
  many <- tree_pruning(tree, truth = rep(1:15, 10))
  expect_false(many$exact)
  expect_equal(many$error, 1 - cluster_agreement(cutree(tree, 15), rep(1:15, 10))$accuracy)
  expect_error(tree_pruning(iris), "a tree", class = "granary_error_input")
  expect_error(tree_pruning(tree, truth = iris$Species, k = 3), "number of labels", class = "granary_error_input")
  expect_error(tree_pruning(tree, truth = 1:3), "of length 150", class = "granary_error_input")
  tree$merge[1, 1] <- -200L
  expect_error(tree_pruning(tree, k = 2), class = "granary_error_input")
})

test_that("robust single linkage is single linkage of mutual reachability", {
  x <- as.matrix(faithful)[1:80, ]
  d <- as.matrix(dist(x))
  radius <- apply(d, 1, function(row) sort(row)[5])
  reach <- pmax(outer(radius, radius, pmax), d / sqrt(2))
  wanted <- hclust(as.dist(reach), "single")
  tree <- robust_linkage_baseline(x, "robust_single", k = 5)
  expect_equal(sort(tree$height), sort(wanted$height))
  expect_equal(unname(tree$radius), unname(radius))
  for (k in c(2, 5, 12)) {
    at <- mean(sort(wanted$height, decreasing = TRUE)[c(k - 1, k)])
    expect_equal(cluster_agreement(cutree(tree, h = at), cutree(wanted, h = at))$ari, 1)
  }
  skip_if_not_installed("dbscan")
  theirs <- dbscan::hdbscan(x, minPts = 5)$hc
  ours <- robust_linkage_baseline(x, "robust_single", k = 5, alpha = 1)
  expect_equal(sort(ours$height), sort(theirs$height))
})

test_that("robust single linkage of rows is that of their distances, at any scale and number of threads, with ties", {
  set.seed(8)
  sets <- list(matrix(rnorm(600), 200), as.matrix(faithful), matrix(sample(4, 200, TRUE), 100), matrix(rnorm(2400), 60))
  for (x in sets) {
    for (k in c(1, 2, 7)) {
      rows <- robust_linkage_baseline(x, "robust_single", k = k)
      distances <- robust_linkage_baseline(dist(x), "robust_single", k = k)
      expect_equal(rows$height, distances$height)
      expect_equal(unname(rows$radius), unname(distances$radius))
    }
  }
  x <- sets[[1]]
  for (size in c(1e-8, 1e8, 1e140)) {
    expect_equal(robust_linkage_baseline(x * size, "robust_single")$height / size, robust_linkage_baseline(x, "robust_single")$height)
  }
  options(granary.threads = 2)
  on.exit(options(granary.threads = NULL))
  two <- robust_linkage_baseline(x, "robust_single")
  options(granary.threads = 1)
  expect_identical(two$merge, robust_linkage_baseline(x, "robust_single")$merge)
  expect_equal(robust_linkage_baseline(matrix(0, 3, 2), "robust_single", k = 2)$height, c(0, 0))
  expect_equal(robust_linkage_baseline(matrix(c(0, 3)), "robust_single", k = 1, alpha = 1)$height, 3)
  expect_error(robust_linkage_baseline(x, "robust_single", k = 201), "at most the number of rows", class = "granary_error_input")
})

test_that("the choice of eps is stable where clusters are", {
  sim <- sim_robust_linkage("topics", n = 64)
  chosen <- robust_linkage_select(sim$similarity, eps = c(1, 1.5, 2, 4) / 64, similarity = TRUE)
  expect_s3_class(chosen, "granary_selection")
  expect_named(chosen$table, c("eps", "clusters", "stability", "largest", "estimate"))
  expect_equal(assess(chosen$fit, truth = sim$labels$half)$error, 0)
  with_k <- robust_linkage_select(iris[1:4], eps = c(0.01, 0.02, 0.05), k = 2)
  expect_equal(with_k$table$clusters, c(2L, 2L, 2L))
  expect_error(robust_linkage_select(iris[1:4], eps = c(0.02, 0.01)), "increase", class = "granary_error_input")
})

test_that("what cannot be done is said; small and odd inputs work", {
  x <- matrix(rnorm(60), 20)
  expect_error(robust_linkage(), class = "granary_error_input")
  expect_error(robust_linkage(x, eps = 1 / 6), "1/6", class = "granary_error_input")
  expect_error(robust_linkage(x, eps = 0.1, sample = 10), "1/12", class = "granary_error_input")
  expect_error(robust_linkage(x, sample = 21, eps = 0.05), "at most the number of rows", class = "granary_error_input")
  expect_error(robust_linkage(matrix(runif(9), 3), similarity = TRUE, eps = 0.1), "symmetric", class = "granary_error_input")
  expect_error(robust_linkage(x, similarity = TRUE), "square", class = "granary_error_input")
  expect_error(robust_linkage(nearest_neighbors(x, k = 3)), "not neighbours", class = "granary_error_input")
  expect_warning(robust_linkage(x, eps = 0.01), "half a point", class = "granary_warning_input")
  expect_warning(two <- robust_linkage(x[1:2, ], eps = 0.1), class = "granary_warning_input")
  expect_equal(dim(two$merge), c(1L, 2L))
  one <- robust_linkage(x[1, , drop = FALSE], eps = 0.1)
  expect_equal(one$n, 1)
  same <- robust_linkage(matrix(1, 30, 2), eps = 0.05)
  expect_equal(nrow(same$merge), 29)
  k <- -as.matrix(dist(x))
  k[1, 2] <- k[2, 1] <- NA
  expect_equal(robust_linkage(k, eps = 0.05, similarity = TRUE)$missing, 1)
  k[] <- NA
  expect_error(robust_linkage(k, eps = 0.05, similarity = TRUE), "not missing", class = "granary_error_input")
  expect_error(robust_linkage_baseline(x, k = 50), "at most", class = "granary_error_input")
  expect_error(robust_linkage_check(x, 1:3), class = "granary_error_input")
  expect_error(robust_linkage_check(x, rep(1:2, 10), groups = rep(1, 20)), "within the clusters", class = "granary_error_input")
  expect_error(sim_robust_linkage(n = 63), "multiple of 8", class = "granary_error_input")
  expect_error(sim_robust_linkage("topics", alpha = 0.1), "fields", class = "granary_error_input")
})

test_that("checks and bounds are the paper's", {
  set.seed(6)
  sim <- sim_robust_linkage("fields", n = 128)
  weak <- robust_linkage_check(sim$similarity, sim$labels$field, similarity = TRUE, groups = sim$labels$area)
  expect_true(weak$weak$guaranteed)
  expect_gte(weak$weak$beta, 7 / 8)
  bounds <- robust_linkage_bounds(alpha = 0.02, nu = 0.01, delta = 0.05)
  expect_equal(bounds$value[bounds$what == "cluster"], 0.18)
  expect_equal(bounds$value[bounds$what == "bad"], ceiling(300 * log(40)))
  expect_output(print(weak), "Theorem 4")
  expect_output(print(robust_linkage_check(iris[1:4], iris$Species)), "No guarantee")
})

test_that("printing, tables, pictures", {
  fit <- robust_linkage(iris[1:4], eps = 0.02)
  expect_output(print(fit), "Robust median neighbourhood linkage")
  expect_output(print(summary(fit)), "how long they last")
  expect_equal(nrow(tidy(fit)), 149)
  expect_equal(max(tidy(fit)$size), 150)
  expect_true(".cluster" %in% names(augment(fit, iris)))
  expect_equal(glance(fit)$n, 150)
  pdf(NULL)
  on.exit(dev.off())
  plot(fit)
  plot(robust_linkage_check(iris[1:4], iris$Species))
})

test_that("distances of all metrics are those of their definition", {
  set.seed(1)
  x <- matrix(rnorm(60), 20)
  for (metric in c("manhattan", "maximum")) {
    expect_identical(robust_linkage(x, 0.05, metric = metric)$merge, robust_linkage(dist(x, metric), 0.05)$merge)
  }
  unit <- x / sqrt(rowSums(x^2))
  expect_identical(robust_linkage(x, 0.05, metric = "cosine")$merge, robust_linkage(as.dist(1 - tcrossprod(unit)), 0.05)$merge)
  expect_identical(robust_linkage(1e-200 * x, 0.05)$merge, robust_linkage(x, 0.05)$merge)
  tree <- robust_linkage_baseline(x, "robust_single", k = 4)
  d <- as.matrix(dist(x))
  r <- apply(d, 1, function(v) sort(v)[4])
  single <- hclust(as.dist(pmax(outer(r, r, pmax), d / sqrt(2))), "single")
  expect_equal(sort(tree$height), sort(single$height))
})
