# Rscript gplvm.R <file for the results, .rds>
#
# No package on CRAN fits Gaussian process latent variable models. The first table times gplvm() beside the same objective and gradient written in R
# with matrix products and handed to optim(method = "L-BFGS-B"), from the same start for the same number of iterations; the
# log-likelihood says how far each got. The second has the maps around it: kernel_pca() beside kernlab::kpca(), isomap() beside vegan::isomap(),
# dppca()
# beside prcomp(); `difference` is one minus the smallest absolute correlation of the leading two columns (for isomap() one minus the correlation of
# the distances in the maps). One thread; CPU seconds, best of three for what takes less than a second.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
cpu <- function(run) {
  once <- function() {
    time <- system.time(value <- run())
    list(seconds = sum(time[c("user.self", "sys.self")]), value = value)
  }
  first <- once()
  if (first$seconds < 1) first$seconds <- min(first$seconds, once()$seconds, once()$seconds)
  first
}

# L for se + bias + white, and its gradient, from vector operations alone; as in the package, the scale of X being free, without the prior.
in_r <- function(y, start, iterations) {
  n <- nrow(y)
  d <- ncol(y)
  q <- ncol(start)
  split <- function(v) list(x = matrix(v[seq_len(n * q)], n), p = exp(v[-seq_len(n * q)]))
  pieces <- function(v) {
    at <- split(v)
    squares <- rowSums(at$x^2)
    r <- at$p[1] * exp(-0.5 / at$p[2]^2 * pmax(outer(squares, squares, "+") - 2 * tcrossprod(at$x), 0))
    k <- r + at$p[3]
    diag(k) <- diag(k) + at$p[4] + 1e-6
    c(at, list(r = r, root = tryCatch(chol(k), error = function(e) NULL)))
  }
  value <- function(v) {
    s <- pieces(v)
    if (is.null(s$root)) return(1e10)
    0.5 * (d * n * log(2 * pi) + 2 * d * sum(log(diag(s$root))) + sum(backsolve(s$root, y, transpose = TRUE)^2))
  }
  gradient <- function(v) {
    s <- pieces(v)
    inverse <- chol2inv(s$root)
    g <- 0.5 * (tcrossprod(inverse %*% y) - d * inverse)
    gr <- g * s$r
    squares <- rowSums(s$x^2)
    apart <- pmax(outer(squares, squares, "+") - 2 * tcrossprod(s$x), 0)
    dx <- -2 / s$p[2]^2 * (rowSums(gr) * s$x - gr %*% s$x)
    -c(dx, sum(gr), sum(gr * apart) / s$p[2]^2, s$p[3] * sum(g), s$p[4] * sum(diag(g)))
  }
  found <- optim(c(start, log(c(1, 1, exp(-1), exp(-1)))), value, gradient, method = "L-BFGS-B",
                 control = list(maxit = iterations, factr = 0, lmm = 10))
  -found$value
}
swirl <- function(n, d) {
  t <- matrix(rnorm(2 * n), n)
  sin(t %*% matrix(rnorm(2 * d), 2)) + 0.1 * rnorm(n * d)
}
rows <- list()
for (n in c(200L, 500L)) {
  set.seed(1)
  y <- scale(swirl(n, 20L))
  start <- prcomp(y)$x[, 1:2]
  start <- start / sqrt(mean(start^2))
  iterations <- if (n > 300L) 50L else 200L
  ours <- cpu(function() suppressWarnings(gplvm(y, init = start, max_iter = iterations, tol = 1e-14)))
  theirs <- cpu(function() in_r(y, start, iterations))
  sparse <- cpu(function() gplvm(y, init = start, method = "sparse", active = 100))
  rows[[length(rows) + 1L]] <- data.frame(
    rows = n, columns = 20L, method = c("gplvm, full", "the same in R, optim", "gplvm, sparse, d = 100, T = 15"),
    iterations = c(iterations, iterations, NA), cpu_seconds = c(ours$seconds, theirs$seconds, sparse$seconds),
    ratio_to_gplvm = c(1, theirs$seconds / ours$seconds, sparse$seconds / ours$seconds),
    loglik = c(ours$value$loglik, theirs$value, sparse$value$loglik)
  )
  print(rows[[length(rows)]], row.names = FALSE)
}
models <- do.call(rbind, rows)

rows <- list()
note <- function(n, d, ours_name, ours, peer_name, peer, difference) {
  rows[[length(rows) + 1L]] <<- data.frame(rows = n, columns = d, ours = ours_name, cpu_seconds = ours$seconds, peer = peer_name,
                                           peer_seconds = peer$seconds, ratio = peer$seconds / ours$seconds, difference = difference)
  print(rows[[length(rows)]], row.names = FALSE)
}
apart <- function(a, b) 1 - min(abs(diag(cor(a, b))))
set.seed(2)
for (d in c(20L, 1500L)) {  # at 20 columns both take milliseconds, most of ours in checking the input
  y <- swirl(500L, d)
  pc <- cpu(function() prcomp(y, rank. = 2))
  dual <- cpu(function() dppca(y))
  note(500L, d, "dppca", dual, "prcomp", pc, apart(dual$value$latent, pc$value$x[, 1:2]))
}
y <- swirl(1000L, 20L)
if (requireNamespace("kernlab", quietly = TRUE)) {
  kpca <- getExportedValue("kernlab", "kpca")
  ours <- cpu(function() kernel_pca(y, kernel = k_se(lengthscale = 3)))
  peer <- cpu(function() kpca(y, kernel = "rbfdot", kpar = list(sigma = 1 / 18), features = 2))
  note(1000L, 20L, "kernel_pca", ours, "kernlab::kpca", peer, apart(ours$value$latent, getExportedValue("kernlab", "rotated")(peer$value)))
}
if (requireNamespace("vegan", quietly = TRUE)) {
  roll <- sim_swiss_roll(1000)$x
  unroll <- getExportedValue("vegan", "isomap")
  ours <- cpu(function() isomap(roll, neighbors = 6))
  peer <- cpu(function() unroll(dist(roll), ndim = 2, k = 6))
  note(1000L, 3L, "isomap", ours, "vegan::isomap", peer, 1 - cor(dist(ours$value$latent), dist(peer$value$points[, 1:2])))
}
maps <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(list(models = models, maps = maps), output)
