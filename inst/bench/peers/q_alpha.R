# Rscript q_alpha.R <file for the results, .rds>
#
# Times q_alpha() beside sparse k-means (package sparcl, from the library GRANARY_PEERS), the usual choice for clustering with few relevant
# features, on
# clusters that 5% of the features (at most 200) know about. The methods differ: the accuracy columns say how many of the relevant features are
# among as many best, and
# whether k-means on the selection finds the clusters (adjusted for chance: 1 is perfect). One thread; CPU seconds, one run (the peer at its default
# tuning of one given bound). Laplacian score and variance are ours, for comparison. "ranking" has tol = 1e-4: the ranking is the same. With k = 3 for
# clusters that span two directions once centred, the third is noise, and taking it to the default 1e-8 is most of the work at 20000 features:
# there q_alpha() is slower than the peer, which has no such tolerance.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
peer <- "sparcl"
cpu <- function(run) {
  time <- system.time(value <- run())
  list(seconds = sum(time[c("user.self", "sys.self")]), value = value)
}
adjusted_rand <- function(a, b) {
  t <- table(a, b)
  pairs <- function(n) sum(n * (n - 1) / 2)
  expected <- pairs(rowSums(t)) * pairs(colSums(t)) / pairs(sum(t))
  (pairs(t) - expected) / ((pairs(rowSums(t)) + pairs(colSums(t))) / 2 - expected)
}
rows <- list()
note <- function(q, n, method, timed, weights, labels, relevant, x) {
  top <- order(-weights)[seq_len(relevant)]
  set.seed(1)
  clusters <- kmeans(scale(x[, top]), 3, nstart = 20)$cluster
  rows[[length(rows) + 1L]] <<- data.frame(samples = q, features = n, method = method, cpu_seconds = timed$seconds,
                                           relevant_found = mean(top <= relevant), rand = adjusted_rand(clusters, labels))
  print(rows[[length(rows)]], row.names = FALSE)
}
for (n in c(500L, 2000L, 20000L)) {
  q <- 100L
  relevant <- min(200L, n %/% 20L)
  set.seed(1)
  labels <- rep_len(1:3, q)
  x <- matrix(rnorm(q * n), q)
  x[, seq_len(relevant)] <- x[, seq_len(relevant)] + matrix(rnorm(3 * relevant, sd = 0.8), 3)[labels, ]
  for (starts in c(1L, 10L)) {
    for (tol in c(1e-8, 1e-4)) {
      timed <- cpu(function() q_alpha(x, 3, n_starts = starts, tol = tol, threads = 1))
      note(q, n, paste0("q_alpha, ", starts, if (starts == 1L) " start" else " starts", if (tol > 1e-8) ", ranking"), timed, timed$value$weights,
           labels, relevant, x)
    }
  }
  timed <- cpu(function() q_alpha_baseline(x, method = "laplacian"))
  note(q, n, "feature_score, laplacian", timed, timed$value, labels, relevant, x)
  if (requireNamespace(peer, quietly = TRUE)) {
    sparse <- getExportedValue(peer, "KMeansSparseCluster")
    timed <- cpu(function() sparse(scale(x), K = 3, wbounds = sqrt(relevant), nstart = 20, silent = TRUE))
    note(q, n, "sparcl, one bound, 20 starts", timed, timed$value[[1L]]$ws, labels, relevant, x)
  }
}
results <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(results, output)
