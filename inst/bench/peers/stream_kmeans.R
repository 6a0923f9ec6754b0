# Times stream_kmeans() against ClusterR's mini-batches and batch k-means, and kmeans_seed() against ClusterR's k-means++. Rscript stream_kmeans.R [output.rds] [extended]
#
# CPU seconds of one thread. `cost` is the sum of squared distances over all rows. In memory: ours sees each row once in buffers; mini-batches see a sample of them;
# k-means (Lloyd, from the same rows) sees them in every iteration. Batch: bregman_cluster() with squared distances is the k-means of this package. From a file (extended: 1e7 rows): ours reads
# pieces and holds buffers; ClusterR has to hold the whole table, whose reading by data.table::fread() is counted where that is installed. `held` is what is in memory at
# once, in MB of doubles.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
note <- function(setting, method, seconds, ours, cost, held = NA) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, cost = formatC(as.double(cost), digits = 6L, format = "g"), held = held)
  print(rows[[length(rows)]], row.names = FALSE)
}
blobs <- function(n, d, k, spread) {
  centers <- matrix(rnorm(k * d, sd = spread), k)
  centers[sample(k, n, TRUE), ] + matrix(rnorm(n * d), n)
}
mb <- function(count, d) count * d * 8 / 2^20

set.seed(1)
n <- 1e6
d <- 20
k <- 100
x <- blobs(n, d, k, 2)
setting <- sprintf("in memory, %g x %g, k = %g", n, d, k)
seconds <- cpu(fit <- stream_kmeans(x, k))
note(setting, "stream_kmeans()", seconds, seconds, kmeans_cost(x, fit), mb(fit$peak, d + 1))
if (has("ClusterR")) {
  used <- cpu(theirs <- ClusterR::MiniBatchKmeans(x, k, batch_size = 10000, num_init = 1, max_iters = 100, initializer = "kmeans++"))
  note(setting, "ClusterR::MiniBatchKmeans(), batches of 1e4", used, seconds, kmeans_cost(x, theirs$centroids), mb(n, d))
}
start <- x[sample(n, k), ]
setting <- sprintf("batch, %g x %g, k = %g, the same start", n, d, k)
seconds <- cpu(ours <- bregman_cluster(x, k = k, divergence = "squared", start = start, max_iter = 1000))
note(setting, "bregman_cluster()", seconds, seconds, ours$within * n)
used <- cpu(theirs <- suppressWarnings(stats::kmeans(x, start, iter.max = 300)))
enough <- which(ours$trace * n <= theirs$tot.withinss)[1L]  # iterations after which ours costs no more
if (!is.na(enough)) {
  until <- cpu(stopped <- suppressWarnings(bregman_cluster(x, k = k, divergence = "squared", start = start, max_iter = enough)))
  note(setting, "bregman_cluster(), stopped at the cost of the next", until, until, stopped$within * n)
} else {
  until <- seconds
}
note(setting, "stats::kmeans(), Hartigan-Wong, which gives up", used, until, theirs$tot.withinss)
if (has("ClusterR")) {
  used <- cpu(theirs <- ClusterR::KMeans_rcpp(x, k, num_init = 1, max_iters = 25, CENTROIDS = start, tol = 1e-9))
  note(setting, "ClusterR::KMeans_rcpp(), stopped after 25 iterations", used, seconds, sum(theirs$WCSS_per_cluster))
}
setting <- sprintf("seeds, %g x %g, k = %g", n, d, k)
seconds <- cpu(seeds <- kmeans_seed(x, k))
note(setting, "kmeans_seed()", seconds, seconds, seeds$cost)
if (has("LICORS")) {
  used <- cpu(theirs <- LICORS::kmeanspp(x[seq_len(1e5), ], k, iter.max = 1))
  note(setting, "LICORS::kmeanspp(), 1e5 rows, one iteration of k-means", used, seconds, kmeans_cost(x, theirs$inicial.centers))
}
rm(x)

n <- if (extended) 1e7 else 1e6
d <- 10
k <- 20
path <- tempfile(fileext = ".csv")
set.seed(2)
for (part in seq_len(n / 1e5)) {
  if (part == 1L) centers <- matrix(rnorm(k * d, sd = 3), k)
  piece <- centers[sample(k, 1e5, TRUE), ] + matrix(rnorm(1e5 * d), 1e5)
  piece <- as.data.frame(signif(piece, 6L))
  if (has("data.table")) {
    data.table::fwrite(piece, path, append = part > 1L, nThread = 1L)
  } else {
    utils::write.table(piece, path, sep = ",", row.names = FALSE, col.names = part == 1L, append = part > 1L)
  }
}
setting <- sprintf("from a file, %g x %g, k = %g", n, d, k)
seconds <- cpu(fit <- stream_kmeans(path, k, n = n))
table <- NULL
fread <- 0
if (has("data.table")) fread <- cpu(table <- as.matrix(data.table::fread(path, nThread = 1L)))
cost_of_file <- function(centers) {
  if (!is.null(table)) return(kmeans_cost(unname(table), unname(centers)))
  source <- data_chunks(path, size = 1e5)
  total <- 0
  repeat {
    piece <- source$read()
    if (is.null(piece)) return(total)
    total <- total + kmeans_cost(unname(as.matrix(piece$x)), unname(centers))
  }
}
note(setting, "stream_kmeans(), reading included", seconds, seconds, cost_of_file(fit$centers), mb(fit$peak + fit$memory, d + 1))
note(setting, "its bound on the cost", NA, seconds, fit$cost_bound)
reading <- cpu({
  source <- data_chunks(path, size = fit$memory)
  while (!is.null(source$read())) NULL
})
note(setting, "of which reading the file", reading, seconds, NA)
if (has("ClusterR") && !is.null(table)) {
  used <- cpu(theirs <- ClusterR::MiniBatchKmeans(table, k, batch_size = 10000, num_init = 1, max_iters = 100, initializer = "kmeans++"))
  note(setting, "data.table::fread() and ClusterR::MiniBatchKmeans()", used + fread, seconds, cost_of_file(theirs$centroids), mb(n, d))
}
unlink(path)
saveRDS(do.call(rbind, rows), output)
