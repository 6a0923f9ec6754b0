# Rscript cur.R <file for the results, .rds>
#
# Times cur(), column_select() and nystrom() against rsvd (randomised SVD, rcur, rid) on a dense 10^4 x 10^3 matrix, and on a sparse one of 10^6 x 10^4, with the
# largest memory R held. One thread, CPU seconds. `error` is the relative Frobenius error of each answer.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
add <- function(...) {
  rows[[length(rows) + 1L]] <<- data.frame(...)
  print(rows[[length(rows)]], digits = 4, row.names = FALSE)
}
set.seed(1)
m <- 1e4
n <- 1e3
a <- matrix(rnorm(m * 60), m) %*% (1 / (1:60) * matrix(rnorm(60 * n), 60)) + 0.01 * matrix(rnorm(m * n), m)
size <- sqrt(sum(a^2))
k <- 20
relative <- function(b) sqrt(sum((a - b)^2)) / size
for (method in c("fast", "qr", "leverage_top")) {
  seconds <- cpu(fit <- cur(a, k, 60, 60, method, threads = 1))
  add(data = "dense", method = paste("granary cur", method), seconds = seconds, error = fit$error / size, megabytes = NA_real_)
}
seconds <- cpu(fit <- column_select(a, k, 40, "qr", threads = 1))
add(data = "dense", method = "granary column_select qr", seconds = seconds, error = fit$error / size, megabytes = NA_real_)
seconds <- cpu(fit <- column_select(a, k, 40, "leverage_top", threads = 1))
add(data = "dense", method = "granary column_select leverage_top", seconds = seconds, error = fit$error / size, megabytes = NA_real_)
if (has("rsvd")) {
  peer <- loadNamespace("rsvd")
  seconds <- cpu(fit <- peer$rcur(a, k = 60))
  add(data = "dense", method = "rsvd::rcur, k = 60", seconds = seconds, error = relative(fit$C %*% fit$U %*% fit$R), megabytes = NA_real_)
  seconds <- cpu(fit <- peer$rid(a, k = 40))
  add(data = "dense", method = "rsvd::rid, k = 40", seconds = seconds, error = relative(fit$C %*% fit$Z), megabytes = NA_real_)
  seconds <- cpu(fit <- peer$rsvd(a, k = 40))
  add(data = "dense", method = "rsvd::rsvd, k = 40", seconds = seconds, error = relative(fit$u %*% (fit$d * t(fit$v))), megabytes = NA_real_)
}
x <- a[, 1:5]
for (sampling in c("uniform", "adaptive", "kmeans")) {
  seconds <- cpu(fit <- nystrom(scale(x), gamma = 0.1, c = 100, sampling = sampling, threads = 1))
  add(data = "kernel of 10^4 rows", method = paste("granary nystrom", sampling), seconds = seconds, error = fit$trace_error / fit$trace, megabytes = NA_real_)
}
rm(a, x)
rows_n <- 1e6
per_column <- 500
set.seed(2)
i <- sample.int(rows_n, 1e4 * per_column, replace = TRUE)
j <- rep(seq_len(1e4), each = per_column)
s <- Matrix::sparseMatrix(i, j, x = rexp(length(i)) * (1 / (1 + j %% 50)), dims = c(rows_n, 1e4))
invisible(gc(reset = TRUE))
for (method in c("fast", "leverage_top")) {
  invisible(gc(reset = TRUE))
  seconds <- cpu(fit <- cur(s, 10, 30, 30, method, threads = 1))
  add(data = "sparse 10^6 x 10^4", method = paste("granary cur", method), seconds = seconds, error = fit$error / fit$norm, megabytes = sum(gc()[, 6]))
}
if (!is.na(output)) saveRDS(list(results = do.call(rbind, rows)), output)
