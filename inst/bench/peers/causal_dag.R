# Rscript causal_dag.R <file for the results, .rds>
#
# Times causal_dag() and best_dag() against hill climbing (bnlearn), greedy equivalence search (pcalg::ges) and the exact dynamic program of
# pcalg::simy, looked for in the library GRANARY_PEERS and left out when absent; one thread. Two jobs: the usual BIC search (Gaussian likelihood,
# complete graph), in which all optimise the same score, so that the excess over the exact optimum stands beside each time; and recovery of a
# DAG with equal error variances, which the others do not use.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
arguments <- commandArgs(TRUE)
output <- arguments[1L]
has <- function(package) requireNamespace(package, quietly = TRUE)

bic <- function(adjacency, S, n) {  # sum of log residual variances + log(n)/n per edge, as weights = "likelihood" has it
  sum(vapply(seq_len(ncol(S)), function(j) {
    s <- which(adjacency[, j] != 0)
    log(S[j, j] - if (length(s) > 0L) drop(S[j, s] %*% solve(S[s, s], S[s, j])) else 0)
  }, 0)) + log(n) / n * sum(adjacency != 0)
}
pcalg_dag <- function(dag) {
  m <- methods::as(dag, "matrix")
  1 * (if (is.logical(m)) m else m != 0)
}
rows <- list()
note <- function(job, p, n, method, seconds, excess, shd, exact) {
  rows[[length(rows) + 1L]] <<- data.frame(job = job, p = p, n = n, method = method, seconds = seconds, excess = excess, shd = shd, exact = exact)
  print(rows[[length(rows)]], row.names = FALSE)
}
timed <- function(code) {
  seconds <- system.time(value <- code)[["elapsed"]]
  list(value = value, seconds = seconds)
}

for (p in c(10, 15, 20)) {
  set.seed(p)
  n <- 500
  sim <- sim_dag(p, n = n, degree = 3, weights = c(0.4, 1), signs = TRUE, shuffle = TRUE)
  x <- sim$data
  S <- cov(x) * (n - 1) / n
  complete <- as_graph(1 - diag(p), nodes = colnames(x))
  truth <- graph_convert(sim$graph, "cpdag")
  ours <- timed(causal_dag(x, weights = "likelihood", penalty = "bic", graph = complete, prune = "none", max_parents = p, threads = 1))
  best <- bic(ours$value$B, S, n)
  note("BIC, complete graph", p, n, "causal_dag, subsets", ours$seconds, 0, assess(graph_convert(ours$value$graph, "cpdag"), truth)$shd, TRUE)
  if (has("bnlearn")) {
    hc <- timed(getExportedValue("bnlearn", "hc")(as.data.frame(x), score = "bic-g"))
    m <- getExportedValue("bnlearn", "amat")(hc$value)
    note("BIC, complete graph", p, n, "bnlearn::hc", hc$seconds, bic(m, S, n) - best, assess(graph_convert(as_graph(m), "cpdag"), truth)$shd, FALSE)
  }
  if (has("pcalg")) {
    score <- methods::new("GaussL0penObsScore", data = x)
    ges <- timed(getExportedValue("pcalg", "ges")(score))
    m <- pcalg_dag(ges$value$repr)
    dimnames(m) <- list(colnames(x), colnames(x))
    note("BIC, complete graph", p, n, "pcalg::ges", ges$seconds, bic(m, S, n) - best, assess(graph_convert(as_graph(m), "cpdag"), truth)$shd, FALSE)
    if (p <= 15) {
      simy <- timed(getExportedValue("pcalg", "simy")(score))
      m <- pcalg_dag(simy$value$repr)
      dimnames(m) <- list(colnames(x), colnames(x))
      note("BIC, complete graph", p, n, "pcalg::simy", simy$seconds, bic(m, S, n) - best, assess(graph_convert(as_graph(m), "cpdag"), truth)$shd, TRUE)
    }
  }
}

for (p in c(15, 50, 100)) {
  set.seed(100 + p)
  n <- 2000
  sim <- sim_dag(p, n = n, degree = 2, weights = c(0.5, 1), signs = TRUE, shuffle = TRUE)
  x <- sim$data
  ours <- timed(suppressWarnings(causal_dag(x, threads = 1)))
  note("equal variances", p, n, "causal_dag", ours$seconds, ours$value$gap, assess(ours$value$graph, sim$graph)$shd, ours$value$exact)
  down <- timed(causal_dag(x, search = "topdown", threads = 1))
  note("equal variances", p, n, "causal_dag, top-down", down$seconds, down$value$score - ours$value$score, assess(down$value$graph, sim$graph)$shd, FALSE)
  if (has("bnlearn")) {
    hc <- timed(getExportedValue("bnlearn", "hc")(as.data.frame(x), score = "bic-g"))
    note("equal variances", p, n, "bnlearn::hc", hc$seconds, NA, assess(as_graph(getExportedValue("bnlearn", "amat")(hc$value)), sim$graph)$shd, FALSE)
  }
}
results <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(results, output)
print(results, row.names = FALSE)
