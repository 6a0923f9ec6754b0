# Times bregman_cluster() against stats::kmeans() (Lloyd and Hartigan-Wong), ClusterR and flexclust. Rscript bregman_cluster.R [output.rds]
#
# CPU seconds of one thread. Squared distances: all start from the same centres, and `cost` is the sum of squares reached. Hartigan and Wong's algorithm ends at a
# better kind of optimum and may reach less. Divergences: flexclust's kcca() with the divergence as its distance and means as centres, from the same start;
# `cost` is the sum of divergences. One column: the exact optimum beside Ckmeans.1d.dp. Every method has run once on a small table before it is timed, so that
# loading its code is counted for none.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
note <- function(setting, method, seconds, cost, ours) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, cost = cost)
  print(rows[[length(rows)]], row.names = FALSE)
}
blobs <- function(n, d, k, spread) {
  centers <- matrix(rnorm(k * d, sd = spread), k)
  centers[sample(k, n, TRUE), ] + matrix(rnorm(n * d), n)
}

small <- blobs(200, 3, 3, 4)
invisible(list(bregman_cluster(small, 3), bregman_cluster(small[, 1L], 3), stats::kmeans(small, 3), stats::kmeans(small, 3, algorithm = "Lloyd")))
if (has("Ckmeans.1d.dp")) invisible(getExportedValue("Ckmeans.1d.dp", "Ckmeans.1d.dp")(small[, 1L], 3))

sizes <- list(c(1e5, 10, 20))
if (extended) sizes <- c(sizes, list(c(1e6, 20, 100)))
for (size in sizes) {
  set.seed(1)
  n <- size[1L]
  k <- size[3L]
  x <- blobs(n, size[2L], k, 2)
  start <- x[sample(n, k), ]
  setting <- sprintf("squared, %g x %g, k = %g", n, size[2L], k)
  seconds <- cpu(ours <- bregman_cluster(x, k = k, divergence = "squared", start = start, max_iter = 1000, threads = 1))
  note(setting, "bregman_cluster()", seconds, ours$within * n, seconds)
  used <- cpu(theirs <- suppressWarnings(stats::kmeans(x, start, iter.max = 1000, algorithm = "Lloyd")))
  note(setting, "stats::kmeans, Lloyd", used, theirs$tot.withinss, seconds)
  if (n <= 1e5 || extended) {
    used <- cpu(theirs <- suppressWarnings(stats::kmeans(x, start, iter.max = 100)))
    note(setting, "stats::kmeans, Hartigan-Wong", used, theirs$tot.withinss, seconds)
  }
  if (has("ClusterR")) {
    used <- cpu(theirs <- getExportedValue("ClusterR", "KMeans_rcpp")(x, k, num_init = 1, max_iters = 1000, CENTROIDS = start, tol = 1e-9))
    note(setting, "ClusterR::KMeans_rcpp", used, sum(theirs$WCSS_per_cluster), seconds)
  }
}

set.seed(2)
lambda <- matrix(rexp(200, 0.1), 10)
x <- matrix(rpois(2e4 * 20, lambda[sample(10, 2e4, TRUE), ]), 2e4) + 0.5
start <- x[sample(nrow(x), 10), ]
setting <- "I-divergence, 2e4 x 20, k = 10"
seconds <- cpu(ours <- bregman_cluster(x, k = 10, divergence = "poisson", start = start, threads = 1))
note(setting, "bregman_cluster()", seconds, ours$within * nrow(x), seconds)
if (has("flexclust")) {
  base <- rowSums(x * log(x) - x)
  distance <- function(x, centers) vapply(seq_len(nrow(centers)), function(h) base - drop(x %*% log(centers[h, ])) + sum(centers[h, ]), numeric(nrow(x)))
  family <- getExportedValue("flexclust", "kccaFamily")(dist = distance, cent = colMeans)
  used <- cpu(theirs <- getExportedValue("flexclust", "kcca")(x, start, family = family, simple = TRUE))
  label <- getExportedValue("flexclust", "clusters")(theirs)
  note(setting, "flexclust::kcca, vectorised distance", used, nrow(x) * bregman_information(x, label, "poisson")$within, seconds)
}

set.seed(3)
x <- c(rnorm(5e5), rnorm(3e5, 4), rexp(2e5))
setting <- "one column, 1e6 numbers, k = 8, exact"
seconds <- cpu(ours <- bregman_cluster(x, k = 8, divergence = "squared"))
note(setting, "bregman_cluster()", seconds, ours$within * length(x), seconds)
if (has("Ckmeans.1d.dp")) {
  used <- cpu(theirs <- getExportedValue("Ckmeans.1d.dp", "Ckmeans.1d.dp")(x, 8))
  note(setting, "Ckmeans.1d.dp", used, theirs$tot.withinss, seconds)
}
saveRDS(do.call(rbind, rows), output)
