all_medoids <- function(d, k, objective = "median") {  # the best of all sets of medoids
  d <- as.matrix(d)
  loss <- function(s) {
    nearest <- do.call(pmin, lapply(s, function(c) d[, c]))
    switch(objective, median = sum(nearest), means = sum(nearest^2), center = max(nearest))
  }
  min(apply(utils::combn(nrow(d), k), 2, loss))
}

test_that("eight points on a line have the costs of all objectives, and the clusters", {
  line <- c(0, 0.1, 0.35, 0.45, 5, 7, 9, 11)
  for (objective in c("median", "means", "center")) {
    fit <- resilient_cluster(line, k = 3, objective = objective)
    expect_equal(fit$objective, c(median = 4.7, means = 8.195, center = 2)[[objective]])
    expect_equal(fit$objective, all_medoids(dist(line), 3, objective))
    expect_equal(unname(fit$cluster), c(1, 1, 1, 1, 2, 2, 3, 3))
  }
})

test_that("the optimum is found whenever it is stable, and nothing better than the optimum ever", {
  set.seed(1)
  found <- 0
  for (i in 1:40) {
    d <- dist(rbind(matrix(rnorm(10, sd = 0.4), 5), matrix(rnorm(10, 3, 0.4), 5), matrix(rnorm(6, c(0, 5), 0.4), 3, byrow = TRUE)))
    for (objective in c("median", "means", "center")) {
      best <- all_medoids(d, 3, objective)
      fit <- resilient_cluster(d, k = 3, objective = objective)
      expect_gte(fit$objective, best * (1 - 1e-12))
      expect_lte(fit$objective, fit$tree_objective)
      expect_equal(fit$tree_objective, resilient_cluster(d, k = 3, objective = objective, polish = FALSE)$objective)
      if (fit$guaranteed) {
        found <- found + 1
        expect_equal(fit$objective, best)
      }
      both <- resilient_cluster(d, k = 3, objective = objective, tree = "both")
      expect_lte(both$tree_objective, fit$tree_objective * (1 + 1e-12))
    }
  }
  expect_gt(found, 20)
})

test_that("without stability the clustering is as good as that of pam() on average, and no swap lowers its cost", {
  skip_if_not_installed("cluster")
  set.seed(11)
  ratio <- replicate(10, {
    d <- dist(matrix(runif(80), 40))
    fit <- resilient_cluster(d, k = 4)
    full <- as.matrix(d)
    expect_equal(fit$objective, sum(full[cbind(1:40, fit$medoids[fit$cluster])]))
    swaps <- outer(1:4, 1:40, Vectorize(function(h, x) sum(do.call(pmin, lapply(replace(fit$medoids, h, x), function(c) full[, c])))))
    expect_gte(min(swaps), fit$objective * (1 - 1e-9))
    fit$objective / sum(full[cbind(1:40, cluster::pam(d, 4)$id.med[cluster::pam(d, 4)$clustering])])
  })
  expect_lt(mean(ratio), 1.02)
})

# Every division of the points into nodes of the tree, by recursion.
prunings <- function(tree, node, k) {
  members <- function(node) if (node < 0) -node else unlist(lapply(tree$merge[node, ], members))
  if (k == 1) return(list(list(members(node))))
  if (node < 0) return(list())
  out <- list()
  for (a in seq_len(k - 1)) {
    for (l in prunings(tree, tree$merge[node, 1], a)) for (r in prunings(tree, tree$merge[node, 2], k - a)) out <- c(out, list(c(l, r)))
  }
  out
}

test_that("the division of the tree is the best of all divisions, for every number of clusters", {
  set.seed(2)
  x <- matrix(rnorm(20), 10)
  d <- as.matrix(dist(x))
  fit <- resilient_cluster(x, k = 4, k_max = 6, polish = FALSE)
  expect_equal(fit$objective, fit$costs[4])
  tree <- as.hclust(fit)
  cost <- function(part) sum(vapply(part, function(p) min(colSums(d[p, p, drop = FALSE])), 0))
  for (k in 1:6) expect_equal(fit$costs[k], min(vapply(prunings(tree, nrow(tree$merge), k), cost, 0)))
})

# The definition: the least padded radius of a point of the two whose ball holds both.
closure <- function(d, a, b) {
  both <- c(a, b)
  padded <- function(x, r) {
    inside <- which(d[x, ] <= r)
    outside <- setdiff(seq_len(nrow(d)), inside)
    length(outside) == 0 || all(d[inside, outside, drop = FALSE] > d[inside, x])
  }
  min(vapply(both, function(x) min(Filter(function(r) r >= max(d[x, both]) && padded(x, r), sort(unique(d[x, ])))), 0))
}

test_that("merges are those of the closure distance by its definition, with ties and duplicates", {
  set.seed(3)
  for (x in list(matrix(rnorm(16), 8), matrix(sample(0:3, 16, TRUE), 8))) {
    d <- as.matrix(dist(x))
    tree <- as.hclust(resilient_cluster(x, k = 1))
    groups <- as.list(seq_len(8))
    top <- 0
    for (m in 1:7) {
      pairs <- utils::combn(length(groups), 2)
      values <- apply(pairs, 2, function(p) closure(d, groups[[p[1]]], groups[[p[2]]]))
      top <- max(top, min(values))
      expect_equal(tree$height[m], top)
      members <- function(node) if (node < 0) -node else unlist(lapply(tree$merge[node, ], members))
      joined <- sort(members(m))
      at <- which(vapply(groups, function(g) all(g %in% joined), NA))
      expect_length(at, 2)
      expect_equal(closure(d, groups[[at[1]]], groups[[at[2]]]), min(values))
      groups <- c(groups[-at], list(joined))
    }
  }
})

test_that("single linkage is that of hclust(), and trees work with what takes an hclust", {
  set.seed(4)
  x <- matrix(rnorm(60), 30, dimnames = list(paste0("p", 1:30), NULL))
  fit <- resilient_cluster(x, k = 3, tree = "single")
  ours <- as.hclust(fit)
  theirs <- hclust(dist(x), "single")
  expect_equal(ours$height, theirs$height)
  expect_equal(cophenetic(ours), cophenetic(theirs), ignore_attr = TRUE)
  expect_length(cutree(ours, 4), 30)
  expect_s3_class(as.dendrogram(ours), "dendrogram")
  expect_setequal(ours$order, 1:30)
})

test_that("scale, order and names do not matter; duplicates stay together", {
  set.seed(5)
  x <- rbind(matrix(rnorm(24), 12), matrix(rnorm(24, 6), 12))
  x <- rbind(x, x[c(1, 20), ])
  rownames(x) <- paste0("r", seq_len(nrow(x)))
  fit <- resilient_cluster(x, k = 2)
  for (s in c(1e-8, 1e8)) expect_identical(resilient_cluster(x * s, k = 2)$cluster, fit$cluster)
  o <- sample(nrow(x))
  other <- resilient_cluster(x[o, ], k = 2)
  expect_equal(cluster_agreement(other$cluster[rownames(x)], fit$cluster)$ari, 1)
  expect_equal(other$objective, fit$objective)
  expect_equal(fit$cluster[["r25"]], fit$cluster[["r1"]])
  expect_equal(fit$cluster[["r26"]], fit$cluster[["r20"]])
  expect_identical(resilient_cluster(x, k = 2, threads = 2)$cluster, fit$cluster)
})

test_that("new points go to the nearest centre, from rows or from distances", {
  set.seed(6)
  sim <- sim_resilient(40, k = 3)
  fit <- resilient_cluster(sim$x, k = 3)
  expect_equal(assess(fit, truth = sim$cluster)$ari, 1)
  new <- sim$x[c(5, 9, 1), ] + 0.01
  expect_equal(unname(predict(fit, new)), unname(fit$cluster[c(5, 9, 1)]))
  rownames(sim$x) <- paste0("p", 1:40)
  d <- dist(sim$x)
  by_distance <- resilient_cluster(d, k = 3)
  to_points <- as.matrix(d)[c(5, 9, 1), ]
  expect_equal(unname(predict(by_distance, to_points[, 40:1])), unname(by_distance$cluster[c(5, 9, 1)]))
  expect_error(predict(by_distance, to_points[, 1:3]), class = "granary_error_input")
})

test_that("margins follow their definitions", {
  x <- c(0, 1, 2, 10, 11, 13)
  fit <- resilient_cluster(x, k = 2)
  d <- as.matrix(dist(x))
  own <- d[cbind(1:6, fit$medoids[fit$cluster])]
  rival <- d[cbind(1:6, fit$medoids[3 - fit$cluster])]
  expect_equal(fit$margins$rho, min((rival / own)[own > 0]))
  outside <- vapply(1:6, function(p) min(d[p, fit$cluster != fit$cluster[p]]), 0)
  expect_equal(fit$margins$separation, min((outside / own)[own > 0]))
  expect_true(fit$margins$balls)
  expect_equal(resilient_cluster(x, k = 1)$margins$rho, Inf)
})

test_that("bad distances and numbers are refused in a sentence", {
  d <- as.matrix(dist(1:5))
  bad <- as.dist(-d)
  expect_error(resilient_cluster(bad, k = 2), "negative", class = "granary_error_input")
  expect_error(resilient_cluster(1:5, k = 6), "at most", class = "granary_error_input")
  expect_error(resilient_cluster(c(1, 1, 1, 2), k = 3), "different points, 2", class = "granary_error_input")
  expect_error(resilient_cluster(c(1, NA, 2), k = 1), class = "granary_error_input")
  d[1, 5] <- d[5, 1] <- 100
  expect_warning(resilient_cluster(as.dist(d), k = 2), "no metric", class = "granary_warning")
  expect_equal(resilient_cluster(3, k = 1)$objective, 0)
  expect_error(resilient_cluster(dist(1:3) * 1e155, k = 2, objective = "means"), "[Rr]escale", class = "granary_error")
  expect_error(cluster_resilience(1:6, rep(1:2, 3), factor = 1e300, n_rep = 2), "[Rr]escale", class = "granary_error")
})

test_that("the violation of the triangle inequality is that of all triples, for every number of points", {
  set.seed(5)
  for (n in c(3, 7, 16, 17, 31, 33, 50)) {
    d <- matrix(runif(n * n, 1, 3), n)
    d <- d + t(d)
    diag(d) <- 0
    worst <- 0
    for (i in seq_len(n)) for (j in seq_len(n)[-i]) worst <- max(worst, 1 - min(d[i, ] + d[, j]) / d[i, j])
    found <- tryCatch(resilient_cluster(as.dist(d), k = 2), granary_warning = conditionMessage)
    if (worst > 1e-8) expect_match(found, sprintf("%.3g%% shorter", 100 * worst), fixed = TRUE) else expect_s3_class(found, "granary_resilient_cluster")
    expect_no_warning(resilient_cluster(dist(matrix(rnorm(2 * n), n)), k = 2))
  }
})

test_that("a full matrix of distances given as rows is told from rows", {
  d <- as.matrix(dist(c(0, 1, 2, 9, 10, 11)))
  for (call in list(function(x) resilient_cluster(x, k = 2), function(x) k_center(x, 2, method = "exact"),
                    function(x) robust_linkage(x, eps = 0.1), function(x) nearest_neighbors(x, 2))) {
    expect_warning(call(d), "as.dist", class = "granary_warning_input")
    expect_no_warning(call(as.data.frame(d)))
    expect_no_warning(call(d[, -1]))
  }
  expect_warning(fit <- k_center(matrix(1, 4, 2), 2), "only 1 different point:", class = "granary_warning_input")
  expect_equal(fit$objective, 0)
})

test_that("k-center: bounds hold, exact is exact, both approximations are within 2", {
  set.seed(7)
  for (i in 1:15) {
    x <- matrix(rnorm(24), 12)
    for (k in c(1, 2, 4)) {
      best <- all_medoids(dist(x), k, "center")
      exact <- k_center(x, k, method = "exact")
      expect_equal(exact$objective, best)
      expect_true(exact$exact)
      for (method in c("farthest", "threshold")) {
        fit <- k_center(x, k, method = method)
        expect_lte(fit$objective, 2 * best * (1 + 1e-12))
        expect_gte(fit$objective, best * (1 - 1e-12))
        expect_lte(fit$lower_bound, best * (1 + 1e-12))
        expect_equal(fit$objective, max(sqrt(rowSums((x - fitted(fit))^2))))
      }
    }
  }
  expect_equal(k_center(UScitiesD, 3)$objective, k_center(as.dist(as.matrix(UScitiesD)), 3)$objective)
  expect_warning(fit <- k_center(c(1, 1, 2), 3), "different points")
  expect_equal(fit$objective, 0)
})

test_that("perturbed metrics stay within their bounds and are metrics", {
  set.seed(8)
  d <- dist(matrix(rnorm(40), 20))
  for (type in c("uniform", "extreme")) {
    changed <- perturb_metric(d, 1.7, type = type)
    expect_true(all(changed >= d * (1 - 1e-12)) && all(changed <= 1.7 * d * (1 + 1e-12)))
    m <- as.matrix(changed)
    for (w in 1:20) expect_true(all(m <= outer(m[, w], m[w, ], "+") + 1e-9))
  }
  set.seed(1)
  a <- perturb_metric(d, 2)
  set.seed(1)
  expect_identical(perturb_metric(d, 2), a)
})

test_that("resilience: stable clusters survive, fragile ones do not, threads do not matter", {
  set.seed(9)
  sim <- sim_resilient(24, k = 3, factor = 4)
  fit <- resilient_cluster(sim$x, k = 3)
  set.seed(1)
  how <- cluster_resilience(sim$x, fit, factor = c(1.2, 2), n_rep = 20, threads = 1)
  expect_equal(how$curve$unchanged, c(1, 1))
  expect_gt(how$margins$rho, 4)
  set.seed(1)
  expect_equal(cluster_resilience(sim$x, fit, factor = c(1.2, 2), n_rep = 20, threads = 2)$together, how$together)
  noise <- matrix(runif(40), 20)
  fragile <- cluster_resilience(noise, resilient_cluster(noise, k = 4), factor = 2, n_rep = 20)
  expect_lt(fragile$curve$unchanged, 0.5)
  expect_equal(diag(fragile$together), rep(1, 20))
  own <- cluster_resilience(noise, rep(1:2, 10), factor = 1.5, n_rep = 3, recluster = function(d) cutree(hclust(d), 2))
  expect_true(all(own$curve$ari <= 1))
  expect_error(cluster_resilience(noise, rep(1:2, 10), recluster = function(d) stop("no"), n_rep = 2), "no", class = "granary_error_input")
  expect_error(cluster_resilience(noise, 1:3), class = "granary_error_input")
})

test_that("the adversary is a perturbation by rho that makes the rival as near", {
  x <- c(0, 1, 2, 3.2, 10, 11)
  fit <- resilient_cluster(x, k = 2)
  how <- cluster_resilience(x, fit, factor = 1.1, n_rep = 2)
  expect_equal(how$adversary$alpha, how$margins$rho)
  expect_lte(how$adversary$after, how$adversary$before * (1 + 1e-12))
})

test_that("new rows far from zero go to their nearest centre", {
  x <- as.matrix(iris[1:4]) + 1e7
  fit <- resilient_cluster(x, 3)
  expect_identical(unname(predict(fit, x)), unname(fit$cluster))
  centers <- k_center(x, 3)
  nearest <- max.col(-as.matrix(dist(rbind(x, x[centers$medoids, ])))[1:150, 151:153], "first")
  expect_identical(unname(predict(centers, x)), nearest)
})

test_that("different points are counted by their distances", {
  expect_error(resilient_cluster(c(1, 1, 2, 2, 2), 3), "different points, 2, not 3", class = "granary_error_input")
  expect_identical(max(resilient_cluster(c(1, 1, 2, 2, 2), 2)$cluster), 2L)
})
