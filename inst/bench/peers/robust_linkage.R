# Times robust_linkage() beside genie, fastcluster and stats::hclust. Rscript robust_linkage.R [output.rds]
#
# CPU seconds of one thread, distances included. Robust linkage compares neighbourhoods of all pairs at all scales, O(n^3) where the paper's algorithm is O(n^3.4), and cannot be as fast as linkages that look
# at every distance once: what it buys is the error. `error` is the classification error of the best pruning. Five normal groups in ten columns; clean, and with one similarity in ten replaced by noise. Growth: seconds
# for twice as many rows; n^3 is 8. The minimum spanning tree behind robust single linkage is compared with dbscan::hdbscan.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
note <- function(setting, method, seconds, error, ours) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, error = error)
  print(rows[[length(rows)]], row.names = FALSE)
}
groups <- function(n) {
  label <- rep_len(1:5, n)
  list(x = matrix(rnorm(50, sd = 2), 5)[label, ] + matrix(rnorm(10 * n), n), label = label)
}
for (n in c(500, 1000, 2000, if (extended) 5000)) {
  set.seed(1)
  sim <- groups(n)
  for (noise in c(0, 0.1)) {
    if (noise > 0 && n > 2000) next
    d <- as.matrix(dist(sim$x))
    hit <- upper.tri(d) & matrix(runif(n * n) < noise, n)
    d[hit] <- runif(sum(hit), 0, max(d))
    d[lower.tri(d)] <- t(d)[lower.tri(d)]
    d <- as.dist(d)
    setting <- sprintf("%d rows, %g%% noise", n, 100 * noise)
    eps <- if (noise > 0) 0.03 else 0.02
    seconds <- cpu(fit <- robust_linkage(d, eps = eps, threads = 1))
    error <- function(tree) assess(tree, truth = sim$label)$error
    note(setting, "robust_linkage()", seconds, error(fit), seconds)
    if (has("genie")) {
      used <- cpu(tree <- getExportedValue("genie", "hclust2")(d))
      note(setting, "genie::hclust2", used, error(tree), seconds)
    }
    if (has("fastcluster")) {
      used <- cpu(tree <- getExportedValue("fastcluster", "hclust")(d, "average"))
      note(setting, "fastcluster::hclust, average", used, error(tree), seconds)
    }
    used <- cpu(tree <- stats::hclust(d, "ward.D2"))
    note(setting, "stats::hclust, Ward", used, error(tree), seconds)
  }
}
set.seed(2)
sim <- groups(3000)
seconds <- cpu(ours <- robust_linkage_baseline(sim$x, "robust_single", k = 5, alpha = 1))
note("robust single linkage, 3000 rows", "robust_linkage_baseline()", seconds, NA, seconds)
if (has("dbscan")) {
  used <- cpu(theirs <- getExportedValue("dbscan", "hdbscan")(sim$x, minPts = 5))
  note("robust single linkage, 3000 rows", "dbscan::hdbscan", used, max(abs(sort(theirs$hc$height) - sort(ours$height))), seconds)
}
saveRDS(do.call(rbind, rows), output)
