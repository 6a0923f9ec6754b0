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

test_that("model strings of bnlearn are read", {
  expect_identical(as_graph("[a][b|a][c|a:b]"), as_graph("a -> b; a -> c; b -> c"))
  expect_identical(as_graph("[a] [b]\n[c|b]")$nodes, c("a", "b", "c"))
  expect_identical(as_graph("[a][b]")$type, "dag")
  expect_identical(as_graph("[b][a|b]", nodes = c("a", "b", "c"))$nodes, c("a", "b", "c"))
  expect_equal(shd("[a][b|a]", "b -> a"), 1)
  expect_equal(compare_graphs("[a][b|a][c|b]", "a -> b -> c")$shd, 0)
  expect_equal(shd(pc("[a][b][c|a:b]"), as_graph("a -> c <- b")), 0)
  expect_error(as_graph("[a][b|z]"), "parent \"z\"", class = "granary_error_input")
  expect_error(as_graph("[a][b|a"), "begins with a bracket", class = "granary_error_input")
  expect_error(as_graph("[a][a]"), class = "granary_error_input")
})

test_that("networks of bnlearn are read", {
  # Built by hand: the classes are lists, and this package does not need bnlearn to look into them.
  arcs <- matrix(c("a", "b", "c", "b", "b", "c"), ncol = 2L, byrow = TRUE, dimnames = list(NULL, c("from", "to")))
  bn <- structure(list(learning = list(), nodes = list(a = list(), b = list(), c = list()), arcs = arcs), class = "bn")
  expect_equal(shd(as_graph(bn), as_graph("a -> b -- c")), 0)
  expect_identical(as_graph(bn, nodes = c("x", "y", "z"))$nodes, c("x", "y", "z"))
  fitted <- structure(list(a = list(parents = character()), b = list(parents = "a")), class = c("bn.fit", "bn.fit.gnet"))
  expect_identical(as_graph(fitted), as_graph("a -> b"))
  expect_error(as_graph(structure(list(1), class = "bn")), "not its parts", class = "granary_error_input")
  skip_if_not_installed("bnlearn")
  real <- getExportedValue("bnlearn", "model2network")("[a][b|a][c|a:b]")
  expect_identical(as_graph(real), as_graph("[a][b|a][c|a:b]"))
  expect_equal(shd(getExportedValue("bnlearn", "cpdag")(real), graph_cpdag("[a][b|a][c|a:b]")), 0)
})

test_that("fits are read where a graph is wanted", {
  set.seed(1)
  x <- sim_sem(300, rbind(c(0, 1, 0), c(0, 0, -1), 0))
  fit <- causal_dag(x)
  expect_identical(as_graph(fit), fit$graph)
  expect_equal(compare_graphs(fit, "V1 -> V2 -> V3")$shd, 0)
  table <- data.frame(node = c("a", "a", "b", "b"), parents = c("", "b", "", "a"), score = c(3, 1, 3, 2))
  expect_equal(shd(best_dag(table), "b -> a"), 0)
  net <- cg_fit(fit$graph, as.data.frame(x))
  expect_identical(as_graph(net)$edges, fit$graph$edges)
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
  expect_true(graph_nodes(dag, "separated", of = "b", from = "c", given = "a"))
  expect_false(graph_nodes(dag, "separated", of = "b", from = "c", given = c("a", "e")))
  expect_true(graph_nodes("a -> b <-> c", "separated", of = "a", from = "c"))
  expect_false(graph_nodes("a -> b <-> c", "separated", of = "a", from = "c", given = "b"))
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
  expect_error(graph_nodes("a -> b", "separated", of = "a", from = "z"), "no node \"z\"", class = "granary_error_input")
  expect_error(graph_nodes("a -> b", "separated", of = "a", from = "a"), "in common", class = "granary_error_input")
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

test_that("autoplot() draws graphs, networks, Ising models and games", {
  skip_if_not_installed("ggplot2")
  autoplot <- ggplot2::autoplot
  layers <- function(picture) {
    expect_s3_class(picture, "ggplot")
    pdf(NULL)
    on.exit(dev.off())
    ggplot2::ggplot_build(picture)$data
  }
  parts <- layers(autoplot(as_graph("a -> b <- c; c <-> d; d o-> e")))
  expect_equal(nrow(parts[[1L]]), 4L)  # a line per edge
  expect_equal(length(unique(parts[[2L]]$group)), 5L)  # an arrow head per arrow
  expect_equal(nrow(parts[[3L]]), 1L)  # one circle
  net <- cg_condition(cg_fit("Species -> Sepal.Length -> Petal.Length", iris), list(Species = "setosa"))
  nodes <- layers(autoplot(net))[[3L]]
  expect_equal(sort(nodes$shape), c(21, 21, 22))
  expect_equal(sum(nodes$fill == "grey55"), 1L)
  set.seed(1)
  sim <- sim_ising(6, density = 0.5, n = NULL)
  edges <- layers(autoplot(sim))[[1L]]
  expect_equal(nrow(edges), sum(sim$W[upper.tri(sim$W)] != 0))
  expect_equal(nrow(layers(autoplot(sim, type = "heatmap"))[[1L]]), 36L)
  game <- sim_influence_game(5, 0.5, 1)
  expect_equal(nrow(layers(autoplot(game))[[1L]]), sum(game$W != 0))
  expect_equal(nrow(layers(autoplot(game, type = "heatmap", groups = c(2, 1, 2, 1, 1)))[[1L]]), 25L)
  expect_error(autoplot(game, groups = 1:2), "groups", class = "granary_error_input")
  expect_equal(length(layers(autoplot(ising_model(matrix(0, 2, 2))))), 3L)  # nodes, names and their outline alone
  expect_error(autoplot(sim, layout = diag(2)), "layout", class = "granary_error_input")
})
