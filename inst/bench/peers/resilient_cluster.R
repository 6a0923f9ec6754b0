# Times resilient_cluster(), k_center(), max_cut() and multiway_cut() against cluster::pam(), igraph's flow and exhaustive search. Rscript resilient_cluster.R [output.rds]
#
# CPU seconds of one thread, beside the objective. On stable clusters both reach the optimum. pam() is faster and must be: it swaps centres, O(n^2) a round, and proves nothing,
# while the tree that provably holds a stable optimum asks of pairs and triples of points whether a ball is padded, O(n^3) at worst. No package on CRAN cuts a tree by the
# k-median objective, reports what a clustering can bear, or bounds multiway and max cuts, so the cuts are timed beside the objective of a simple search in R.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
note <- function(setting, method, seconds, objective, ours) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, objective = objective)
  print(rows[[length(rows)]], row.names = FALSE)
}
for (n in if (extended) c(500, 1000, 2000) else c(500, 1000)) {
  set.seed(1)
  sim <- sim_resilient(n, k = 5)
  d <- stats::dist(sim$x)
  setting <- sprintf("k-median, %g points in 5 stable clusters", n)
  seconds <- cpu(ours <- resilient_cluster(d, k = 5))
  note(setting, "resilient_cluster()", seconds, ours$objective, seconds)
  if (has("cluster")) {
    used <- cpu(theirs <- getExportedValue("cluster", "pam")(d, 5))
    note(setting, "cluster::pam()", used, sum(as.matrix(d)[cbind(seq_len(n), theirs$id.med[theirs$clustering])]), seconds)
    used <- cpu(theirs <- getExportedValue("cluster", "pam")(d, 5, pamonce = 6))
    note(setting, "cluster::pam(pamonce = 6)", used, sum(as.matrix(d)[cbind(seq_len(n), theirs$id.med[theirs$clustering])]), seconds)
  }
}

set.seed(2)
x <- matrix(rnorm(1e6), ncol = 10)
seconds <- cpu(ours <- k_center(x, 20))
note("k-center, 1e5 x 10, k = 20", "k_center()", seconds, ours$objective, seconds)
used <- cpu({
  gap <- rep(Inf, nrow(x))
  at <- 1L
  for (i in 1:20) {
    gap <- pmin(gap, sqrt(colSums((t(x) - x[at, ])^2)))
    at <- which.max(gap)
  }
})
note("k-center, 1e5 x 10, k = 20", "the same in vectorised R", used, max(gap), seconds)

set.seed(3)
n <- 200
w <- matrix(0, n, n)
w[upper.tri(w)] <- rbinom(n * (n - 1) / 2, 1, 0.1)
w <- w + t(w)
seconds <- cpu(ours <- max_cut(w))
note("max cut, 200 nodes", sprintf("max_cut(), at most %.1f%% below the optimum", 100 * ours$gap), seconds, ours$objective, seconds)
used <- cpu({
  best <- 0
  for (start in 1:20) {
    s <- sample(c(-1, 1), n, TRUE)
    repeat {
      gain <- s * drop(w %*% s)
      v <- which.max(gain)
      if (gain[v] <= 0) break
      s[v] <- -s[v]
    }
    best <- max(best, sum(w * (1 - outer(s, s))) / 4)
  }
})
note("max cut, 200 nodes", "20 local searches in R", used, best, seconds)

# Both get the same igraph object and have run once before; `multiway_cut()` also checks it and writes down which edges are cut, the flow alone is
# the least elapsed time of the runs, as the fit reports it.
grid <- function(side) Matrix::bandSparse(side^2, k = c(1, side), diagonals = list(runif(side^2 - 1), runif(side^2 - side)), symmetric = TRUE)
for (side in c(30, 200)) {
  set.seed(4)
  n <- side^2
  g <- grid(side)
  if (has("igraph")) {
    graph <- igraph::graph_from_adjacency_matrix(g, "undirected", weighted = TRUE)
    times <- if (side < 100) 50 else 5
    setting <- sprintf("minimum cut, grid of %d nodes", n)
    warm <- list(multiway_cut(graph, c(1, n)), igraph::max_flow(graph, 1, n, capacity = igraph::E(graph)$weight))
    seconds <- cpu(for (i in seq_len(times)) ours <- multiway_cut(graph, c(1, n))) / times
    note(setting, "multiway_cut()", seconds, ours$objective, seconds)
    note(setting, "multiway_cut(), the flow alone", min(replicate(times, multiway_cut(graph, c(1, n))$convergence$seconds)), ours$objective, seconds)
    used <- cpu(for (i in seq_len(times)) theirs <- igraph::max_flow(graph, 1, n, capacity = igraph::E(graph)$weight)$value) / times
    note(setting, "igraph::max_flow()", used, theirs, seconds)
  }
}
set.seed(4)
g <- grid(30)
seconds <- cpu(ours <- multiway_cut(g, c(1, 30, 871, 900)))
note("multiway cut, grid of 900 nodes, 4 terminals", if (ours$optimal) "multiway_cut(), proven" else "multiway_cut()", seconds, ours$objective, seconds)
saveRDS(do.call(rbind, rows), output)
