# Times tsne() against Rtsne, and nearest_neighbors() against FNN and dbscan. Rscript tsne.R [output.rds]
#
# CPU seconds of one thread, PCA left out on both sides, 1000 iterations unless said otherwise, theta 0.5, perplexity 30. `cost` is the Kullback-Leibler divergence of each map with Z over all pairs, computed for
# both by tsne_gradient(theta = 0) from the same similarities: what a tree reports on the way is too small, and differently so for different trees. Ten normal groups in 50 dimensions
# with centres of standard deviation 3, and a closed curve in 20 dimensions with noise, which has no groups. Growth: seconds of an iteration for n doubling, over those of half as many rows;
# n log n is 2.2, n^2 is 4. Threads: elapsed seconds of one thread over those of two, which only an idle machine can show.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
note <- function(setting, method, seconds, cost, ours) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, cost = cost)
  print(rows[[length(rows)]], row.names = FALSE)
}
groups <- function(n, d = 50) matrix(rnorm(10 * d, sd = 3), 10)[sample(10, n, TRUE), ] + matrix(rnorm(n * d), n)
curve <- function(n, d = 20) {
  t <- runif(n, 0, 2 * pi)
  outer(t, seq_len(d), function(t, j) sin(ceiling(j / 2) * t + pi / 2 * (j %% 2))) * 3 + matrix(rnorm(n * d, sd = 0.3), n)
}

compare <- function(setting, x, iterations = 1000, printed = TRUE) {
  seconds <- cpu(ours <- tsne(x, pca = 0, threads = 1, max_iter = iterations))
  p <- tsne_affinity(x, pca = 0)
  exact <- function(map) tsne_gradient(p, map, theta = 0)$cost
  note(setting, "tsne()", seconds, exact(ours), seconds)
  if (printed) {
    used <- cpu(ours <- tsne(x, pca = 0, threads = 1, init = "random", rate = 200, max_iter = iterations))
    note(setting, "tsne(), the paper's start and rate", used, exact(ours), seconds)
  }
  if (has("Rtsne")) {
    used <- cpu(theirs <- getExportedValue("Rtsne", "Rtsne")(x, pca = FALSE, num_threads = 1, max_iter = iterations))
    note(setting, "Rtsne", used, exact(theirs$Y), seconds)
  }
}
set.seed(1)
compare("ten groups, 1e4 x 50", groups(1e4))
compare("closed curve, 1e4 x 20", curve(1e4))
if (extended) compare("ten groups, 1e5 x 50, 300 iterations", groups(1e5), 300, FALSE)

set.seed(2)
half <- NA
for (n in 1000 * 2^(0:(if (extended) 6 else 4))) {
  x <- groups(n)
  fit <- tsne(x, pca = 0, threads = 1, max_iter = 300)
  seconds <- (cpu(update(fit, max_iter = 100)) - cpu(update(fit, max_iter = 0))) / 100
  note(sprintf("one iteration, %d rows", n), "tsne()", seconds, NA, if (is.na(half)) seconds else half)
  half <- seconds
}
x <- groups(2e4)
elapsed <- function(threads) system.time(tsne(x, pca = 0, threads = threads, max_iter = 200))[["elapsed"]]
one <- min(elapsed(1), elapsed(1))
note("200 iterations, 2e4 rows, elapsed", "tsne(), two threads", min(elapsed(2), elapsed(2)), NA, one)
note("200 iterations, 2e4 rows, elapsed", "tsne(), one thread", one, NA, one)

set.seed(3)
for (d in c(3, 50)) {
  x <- groups(2e4, d)
  setting <- sprintf("30 neighbours, 2e4 x %d", d)
  seconds <- cpu(ours <- nearest_neighbors(x, k = 30, threads = 1))
  note(setting, "nearest_neighbors()", seconds, 0, seconds)
  used <- cpu(nearest_neighbors(x, k = 30, method = "vp_tree", threads = 1))
  note(setting, "nearest_neighbors(), vp_tree", used, 0, seconds)
  if (has("FNN")) {
    used <- cpu(theirs <- getExportedValue("FNN", "get.knn")(x, 30))
    note(setting, "FNN::get.knn", used, max(abs(theirs$nn.dist - ours$distance)), seconds)
  }
  if (has("dbscan")) {
    used <- cpu(theirs <- getExportedValue("dbscan", "kNN")(x, 30))
    note(setting, "dbscan::kNN", used, max(abs(theirs$dist - ours$distance)), seconds)
  }
}
saveRDS(do.call(rbind, rows), output)
