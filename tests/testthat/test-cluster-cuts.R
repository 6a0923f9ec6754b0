random_graph <- function(n, p = 0.5) {
  w <- matrix(0, n, n)
  w[upper.tri(w)] <- rbinom(n * (n - 1) / 2, 1, p) * round(runif(n * (n - 1) / 2, 0.5, 5), 2)
  w + t(w)
}
weight_of <- function(w, part) sum(w[outer(part, part, "!=")]) / 2
all_max_cut <- function(w) max(vapply(0:(2^(nrow(w) - 1) - 1), function(code) weight_of(w, c(0, bitwAnd(bitwShiftR(code, 0:(nrow(w) - 2)), 1))), 0))
all_parts <- function(n, k) unname(as.matrix(expand.grid(c(as.list(seq_len(k)), rep(list(seq_len(k)), n - k)))))
all_multiway <- function(w, k) min(apply(all_parts(nrow(w), k), 1, function(part) weight_of(w, part)))

test_that("the fractional triangle is told from its best cut", {
  w <- matrix(0, 6, 6)
  w[1, c(4, 6)] <- w[2, c(4, 5)] <- w[3, c(5, 6)] <- 2
  w[4, 5] <- w[5, 6] <- w[4, 6] <- 1
  w <- w + t(w)
  cut <- multiway_cut(w, 1:3)
  expect_equal(cut$relaxation, 7.5)
  expect_equal(cut$lower_bound, 7.5)
  expect_equal(cut$objective, 8)
  expect_false(cut$integral)
  expect_false(cut$optimal)
  exact <- multiway_cut(w, 1:3, method = "exact")
  expect_equal(exact$objective, 8)
  expect_true(exact$optimal)
  expect_output(print(cut), "fractional")
})

test_that("multiway cuts: relaxation below, search equal, heuristics within their factor", {
  set.seed(1)
  for (i in 1:12) {
    w <- random_graph(8)
    best <- all_multiway(w, 3)
    cut <- multiway_cut(w, 1:3)
    expect_lte(cut$lower_bound, best * (1 + 1e-9) + 1e-12)
    expect_gte(cut$objective, best * (1 - 1e-9))
    if (cut$optimal) expect_equal(cut$objective, best)
    expect_equal(multiway_cut(w, 1:3, method = "exact")$objective, best)
    rough <- multiway_cut(w, 1:3, method = "isolating")
    expect_lte(rough$objective, (2 - 2 / 3) * best + 1e-9)
    expect_equal(cut$objective, weight_of(w, cut$partition))
    expect_equal(unname(cut$partition[1:3]), 1:3)
  }
})

test_that("two terminals are a minimum cut", {
  skip_if_not_installed("igraph")
  set.seed(2)
  for (i in 1:5) {
    w <- random_graph(15)
    g <- igraph::graph_from_adjacency_matrix(w, "undirected", weighted = TRUE)
    cut <- multiway_cut(g, c(1, 15))
    expect_equal(cut$objective, igraph::max_flow(g, 1, 15, capacity = igraph::E(g)$weight)$value)
    expect_true(cut$optimal)
  }
})

test_that("the first-order method and the simplex method agree, and the bound is one", {
  set.seed(3)
  sim <- sim_resilient(40, k = 3, type = "multiway_cut", factor = 4.5, density = 0.1)  # too large for the simplex method
  cut <- multiway_cut(sim$graph, sim$terminals)
  expect_true(cut$integral)
  expect_true(cut$optimal)
  expect_equal(unname(cut$partition), sim$partition)
  w <- random_graph(16, 0.4)
  large <- multiway_cut(w, 1:3)
  expect_lte(large$lower_bound, large$relaxation * (1 + 1e-9))
  expect_lt(large$relaxation - large$lower_bound, 1e-6 * large$relaxation)
})

test_that("edges are cut by the rounding at most as often as the proof says", {
  w <- matrix(0, 6, 6)
  w[1, c(4, 6)] <- w[2, c(4, 5)] <- w[3, c(5, 6)] <- 2
  w[4, 5] <- w[5, 6] <- w[4, 6] <- 1
  cut <- multiway_cut(w + t(w), 1:3)
  expect_equal(rowSums(cut$position), rep(1, 6), ignore_attr = TRUE)
  expect_equal(unname(cut$position[4, ]), c(0.5, 0.5, 0))
})

test_that("max cuts: exact, bounded, improved, on small graphs of either sign", {
  set.seed(4)
  for (i in 1:12) {
    w <- random_graph(9)
    if (i > 8) w <- w * (1 - 2 * (abs(w - round(w)) < 0.4))
    w <- (w + t(w)) / 2
    best <- max(0, all_max_cut(w))
    for (method in c("exact", "auto", "improve")) expect_equal(max_cut(w, method = method)$objective, best)
    bounded <- max_cut(w, method = "relaxation")
    expect_gte(bounded$upper_bound, best * (1 - 1e-9))
    expect_gte(bounded$relaxation, best * (1 - 1e-4))
    expect_lte(max_cut(w, method = "local")$objective, best * (1 + 1e-12))
  }
})

test_that("a bipartite graph is cut whole, and nothing limits its stability", {
  w <- matrix(0, 6, 6)
  w[1:3, 4:6] <- 1:9
  w <- w + t(w)
  cut <- max_cut(w)
  expect_equal(cut$objective, 45)
  expect_equal(cut_stability(w, cut)$gamma, Inf)
  large <- matrix(0, 60, 60)
  large[1:30, 31:60] <- 1
  cut <- max_cut(large + t(large))
  expect_equal(cut$objective, 900)
  expect_true(cut$optimal)
})

test_that("stability of the pentagon, and what it means", {
  cycle <- function(weights) {
    m <- matrix(0, 5, 5)
    m[cbind(1:5, c(2:5, 1))] <- weights
    m + t(m)
  }
  w <- cycle(c(4, 4, 4, 4, 1))
  cut <- max_cut(w)
  how <- cut_stability(w, cut)
  expect_equal(how$gamma, 4)
  expect_equal(cut_stability(cycle(rep(1, 5)), max_cut(cycle(rep(1, 5))))$gamma, 1)
  # the edges that the rival has and the cut lacks, made heavier by a little more or less than gamma
  gained <- outer(how$rival, how$rival, "!=") & !outer(cut$partition, cut$partition, "!=")
  for (s in c(0.98, 1.02)) {
    changed <- w
    changed[gained] <- w[gained] * how$gamma * s
    expect_equal(max_cut(changed)$objective > weight_of(changed, cut$partition) + 1e-9, s > 1)
  }
})

test_that("stability by enumeration equals the definition, and local moves bound it from above", {
  set.seed(5)
  for (i in 1:6) {
    w <- random_graph(7)
    cut <- multiway_cut(w, 1:3, method = "exact")
    how <- cut_stability(w, cut)
    inside <- outer(cut$partition, cut$partition, "!=") & upper.tri(w)
    ratios <- apply(all_parts(7, 3), 1, function(part) {
      other <- outer(part, part, "!=") & upper.tri(w)
      lost <- sum(w[inside & !other])
      won <- sum(w[other & !inside])
      if (lost == 0) Inf else won / lost
    })
    expect_equal(how$gamma, min(ratios))
    expect_gte(cut_stability(w, cut, exact = FALSE)$gamma, how$gamma * (1 - 1e-12))
    expect_gte(cut_stability(w, cut, delta = 0.3)$gamma, how$gamma)
  }
})

test_that("isolated and disconnected nodes cost nothing; names are matched; bad input is refused", {
  w <- matrix(0, 5, 5, dimnames = list(letters[1:5], letters[1:5]))
  w["a", "b"] <- w["b", "a"] <- 1
  expect_equal(multiway_cut(w, c("a", "c", "e"))$objective, 0)
  expect_equal(max_cut(w * 0)$objective, 0)
  cut <- max_cut(w)
  o <- 5:1
  expect_equal(cut_stability(w[o, o], cut)$gamma, cut_stability(w, cut)$gamma)
  expect_error(multiway_cut(w, "a"), class = "granary_error_input")
  expect_error(multiway_cut(w, c("a", "a")), "twice", class = "granary_error_input")
  expect_error(multiway_cut(w, c("a", "z")), class = "granary_error_input")
  expect_error(multiway_cut(-w, c("a", "b")), "negative", class = "granary_error_input")
  w[1, 3] <- 2
  expect_error(max_cut(w), "symmetric", class = "granary_error_input")
  expect_error(cut_stability(diag(0, 40), rep(1:2, 20), exact = TRUE), "too many", class = "granary_error_input")
})

test_that("sparse and dense graphs give the same, at any scale, and the same seed the same cut", {
  set.seed(6)
  w <- random_graph(30, 0.2)
  set.seed(1)
  a <- max_cut(w)
  set.seed(1)
  b <- max_cut(Matrix::Matrix(w, sparse = TRUE))
  expect_identical(a$partition, b$partition)
  for (s in c(1e-8, 1e8)) {
    set.seed(1)
    expect_equal(max_cut(w * s)$objective, a$objective * s)
    expect_equal(multiway_cut(w * s, 1:3)$objective, multiway_cut(w, 1:3)$objective * s, tolerance = 1e-6)
  }
})

test_that("an igraph is the matrix of its weights: parallel and directed edges add up, loops do not count", {
  skip_if_not_installed("igraph")
  ends <- rbind(c(1, 2), c(2, 1), c(3, 2), c(1, 2), c(4, 3), c(4, 4), c(1, 4), c(5, 1))
  weight <- c(1, 2, 0.5, 1, 2, 7, 0, 1)
  for (directed in c(FALSE, TRUE)) {
    graph <- igraph::make_graph(t(ends), n = 6, directed = directed)
    igraph::E(graph)$weight <- weight
    full <- matrix(0, 6, 6)
    for (i in seq_along(weight)) full[ends[i, 1], ends[i, 2]] <- full[ends[i, 1], ends[i, 2]] + weight[i]
    full <- full + t(full)
    diag(full) <- 0
    for (terminals in list(c(1, 3), c(2, 4, 5))) {
      ours <- multiway_cut(graph, terminals)
      wanted <- multiway_cut(full, terminals)
      expect_equal(ours$edges, wanted$edges)
      expect_equal(ours$objective, wanted$objective)
    }
  }
  igraph::E(graph)$weight[2] <- NA
  expect_error(multiway_cut(graph, c(1, 3)), "weight", class = "granary_error_input")
  expect_equal(nrow(multiway_cut(igraph::make_empty_graph(3), c(1, 3))$edges), 0L)
  named <- igraph::set_vertex_attr(igraph::make_ring(4), "name", value = c("d", "a", "c", "b"))
  expect_setequal(names(multiway_cut(named, c("a", "b"))$partition), c("a", "b", "c", "d"))
})

test_that("a drawing shows the edges that are cut, whatever the order of the edges", {
  set.seed(7)
  w <- random_graph(12, 0.4)
  cut <- multiway_cut(w, 1:3)
  shown <- granary:::cut_drawing(cut)
  expect_no_error(plot(cut))
  ends <- shown$graph$edges
  expect_identical(shown$colours != "grey70", unname(cut$partition[ends[, 1]] != cut$partition[ends[, 2]]))
  expect_equal(sum(w[ends[shown$colours != "grey70", 1:2]]), cut$objective)
})

test_that("a large sparse graph is cut without a dense copy of it", {
  set.seed(1)
  n <- 30000
  path <- Matrix::sparseMatrix(i = seq_len(n - 1), j = 2:n, x = runif(n - 1, 1, 2), dims = c(n, n))
  path[100, 101] <- 0.25
  graph <- path + Matrix::t(path)
  gc(reset = TRUE)
  cut <- multiway_cut(graph, c(1, n))
  peak <- gc()
  expect_lt(peak[2, ncol(peak)], 1500)  # megabytes; the dense comparison took ten thousand
  expect_equal(cut$objective, 0.25)
  graph[3, 4] <- 9
  expect_error(multiway_cut(graph, c(1, n)), "entry \\(3, 4\\) is 9", class = "granary_error_input")
})

test_that("bounds of cuts follow the scale of the weights", {
  w <- matrix(0, 5, 5)
  w[cbind(1:5, c(2:5, 1))] <- c(4, 4, 4, 4, 1)
  w <- w + t(w)
  for (scale in c(1e-200, 1e-8, 1, 1e8)) {
    cut <- multiway_cut(scale * w, c(1, 3, 5))
    expect_equal(cut$objective / scale, 9)
    expect_lte(cut$lower_bound / scale, 9 * (1 + 1e-9))
    expect_true(cut$optimal)
  }
  expect_error(multiway_cut(w, c(1, 7)), "no node 7, only 5", class = "granary_error_input")
  expect_error(multiway_cut(w, c("V1", "z")), "no node \"z\"", class = "granary_error_input")
})
