test_that("all ways to write a graph agree", {
  text <- as_graph("a -> b <- c; c <-> d; d o-> e; e o-o f; a -- f")
  expect_identical(as_graph(as.matrix(text)), text)
  expect_identical(as_graph(as.data.frame(text), nodes = text$nodes), text)
  expect_identical(as_graph(text), text)
  m <- rbind(c(0, 1, 0), c(0, 0, 1), c(0, 1, 0))
  expect_equal(as_graph(m, nodes = c("a", "b", "c")), as_graph("a -> b -- c"), ignore_attr = TRUE)
  expect_equal(as_graph(m > 0, nodes = c("a", "b", "c")), as_graph("a -> b -- c"), ignore_attr = TRUE)
  expect_identical(as_graph("x <- y")$edges[, "at_from"], 2L, ignore_attr = TRUE)
  expect_identical(as_graph("a, b")$nodes, c("a", "b"))
  types <- vapply(c("a -> b", "a -- b", "a -> b -- c", "a <-> b", "a o-> b"), function(g) as_graph(g)$type, "")
  expect_identical(unname(types), c("dag", "undirected", "pdag", "mixed", "pag"))
})

test_that("igraph there and back", {
  skip_if_not_installed("igraph")
  for (text in c("a -> b <-> c; d o-o a", "a -- b -- c", "a -> b -> c")) {
    graph <- as_graph(text)
    expect_equal(as_graph(graph_igraph(graph)), graph)
  }
  expect_identical(as_graph(igraph::make_ring(4))$type, "undirected")
  expect_identical(as_graph(igraph::graph_from_literal(a -+ b))$type, "dag")
})

test_that("conversions of DAGs", {
  dag <- as_graph("a -> b -> d <- c <- a; d -> e")
  expect_equal(shd(graph_cpdag(dag), as_graph("a -- b -> d <- c -- a; d -> e")), 0)
  expect_equal(shd(graph_cpdag(graph_dag(graph_cpdag(dag))), graph_cpdag(dag)), 0)
  expect_identical(nrow(graph_moral(dag)$edges), 6L)
  expect_identical(graph_skeleton(dag)$type, "undirected")
  expect_identical(graph_order(dag), c("a", "b", "c", "d", "e"))
  expect_setequal(graph_ancestors(dag, "d"), c("a", "b", "c", "d"))
  expect_setequal(graph_descendants(dag, "b"), c("b", "d", "e"))
  expect_true(graph_separated(dag, "b", "c", "a"))
  expect_false(graph_separated(dag, "b", "c", c("a", "e")))
  expect_true(graph_separated("a -> b <-> c", "a", "c"))
  expect_false(graph_separated("a -> b <-> c", "a", "c", "b"))
  expect_warning(expect_null(graph_dag("a -- b -- c -- d -- a")), "no DAG", class = "granary_warning_input")
})

test_that("equivalence classes agree with enumeration of all DAGs on four nodes", {
  pairs <- t(combn(4, 2))
  all <- expand.grid(rep(list(0:2), 6))
  graphs <- apply(all, 1L, function(code) {
    m <- matrix(0, 4, 4)
    m[pairs[code == 1, , drop = FALSE]] <- 1
    m[pairs[code == 2, 2:1, drop = FALSE]] <- 1
    m
  }, simplify = FALSE)
  graphs <- Filter(function(m) all((m %*% m %*% m %*% m) == 0), graphs)
  expect_length(graphs, 543)
  key <- vapply(graphs, function(m) {  # skeleton and v-structures
    adjacent <- m + t(m) > 0
    v <- character()
    for (j in 1:4) {
      parents <- which(m[, j] == 1)
      for (i in parents) for (k in parents) if (i < k && !adjacent[i, k]) v <- c(v, paste(i, j, k))
    }
    paste(c(which(adjacent), "|", sort(v)), collapse = ",")
  }, "")
  expect_length(unique(key), 185)
  for (class in split(graphs, key)[seq(1, 185, by = 6)]) {
    share <- Reduce(`+`, class) / length(class)
    expected <- ifelse(share > 0 & t(share) > 0, 1, ifelse(share > 0, 2, ifelse(t(share) > 0, 1, 0)))
    for (m in class) expect_equal(unname(as.matrix(graph_cpdag(m))), expected)
  }
})

test_that("comparison counts what it says", {
  found <- compare_graphs("a -> b -- c; a -> c; d", "a -> b -> c; c <- d")
  expect_identical(found$shd, 3L)
  expect_equal(found$skeleton[c("tp", "fp", "fn")], c(tp = 2, fp = 1, fn = 1))
  expect_equal(found$directed[c("tp", "fp", "fn")], c(tp = 1, fp = 1, fn = 2))
  expect_equal(found$skeleton[["fpr"]], 1 / 3)
  expect_identical(shd("b <- a", "a -> b"), 0L)
  expect_error(shd("a -> b", "a -> c"), "same nodes", class = "granary_error_input")
  expect_error(shd("a -> b", "a -> b -> c"), "2 and 3", class = "granary_error_input")
  expect_output(print(found), "Hamming distance 3")
})

test_that("bad graphs are refused with a reason", {
  bad <- function(...) expect_error(as_graph(...), class = "granary_error_input")
  bad("a -> a")
  bad("a -> b; b -> a")
  bad("a ->")
  bad(matrix(1, 2, 3))
  bad(diag(2))
  bad(matrix(c(0, 0.5, 0, 0), 2))
  bad(rbind(c(0, 2), c(0, 0)))
  bad(data.frame(from = "a", to = NA))
  bad(data.frame(from = "a", to = "b", edge = "=>"))
  bad("a -> b", nodes = "a")
  expect_error(as_graph("a -> b -> c -> a", type = "dag"), "cycle a -> b -> c -> a", class = "granary_error_input")
  expect_error(as_graph("a -- b", type = "dag"), "not directed", class = "granary_error_input")
  expect_error(graph_cpdag("a -> b -> c -> a"), "cycle", class = "granary_error_input")
  expect_error(graph_separated("a -> b", "a", "z"), "no node \"z\"", class = "granary_error_input")
  expect_error(graph_separated("a -> b", "a", "a"), "in common", class = "granary_error_input")
  expect_error(ci_oracle("a o-> b"), "circles", class = "granary_error_input")
})

test_that("graphs of every kind print and draw", {
  graph <- as_graph("a -> b <- c; c <-> d; d o-> e; e o-o f; a -- f; g")
  expect_output(print(graph), "7 nodes, 6 edges")
  expect_output(print(summary(graph)), "Components: 2")
  expect_output(print(as_graph(matrix(0, 1, 1))), "1 node, 0 edges")
  pdf(NULL)
  on.exit(dev.off())
  expect_identical(dim(plot(graph)), c(7L, 2L))
  plot(as_graph(matrix(0, 3, 3)))
  plot(graph, layout = cbind(1:7, 0), col = "red")
  plot(sim_dag(12)$graph)
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(graph), "ggplot")
})

test_that("simulated DAGs obey the seed, the degree and the covariance", {
  set.seed(1)
  a <- sim_dag(30, n = 5, degree = 3)
  set.seed(1)
  expect_identical(sim_dag(30, n = 5, degree = 3), a)
  set.seed(2)
  sim <- sim_dag(5, n = 20000, degree = 2)
  inverse <- solve(diag(5) - as.matrix(sim$weights))
  expect_lt(max(abs(cov(sim$data) - inverse %*% t(inverse))), 0.1)
  hidden <- sim_dag(20, n = 4, degree = 4, latent = TRUE)
  expect_identical(ncol(hidden$data), 20L - length(hidden$latent))
  expect_identical(sim_dag(4, latent = 2)$latent, "V2")
  expect_error(sim_dag(4, degree = 9), "at most", class = "granary_error_input")
})
