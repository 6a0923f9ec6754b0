# Times label_accuracy() against its formula written in R. Rscript label_accuracy.R [output.rds]
#
# No package computes this error. The reference is what a user would write: scores of the log-density of rows and labels by central differences over the parameters, with
# the densities of mvtnorm where it is installed, the two information matrices from them, and the eigenvalues of their quotient. CPU seconds of one thread; `value` is the
# coefficient of maximum likelihood, `difference` that of the coefficients over ours.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

log_density <- function(x, mean, covariance) {
  if (has("mvtnorm")) return(mvtnorm::dmvnorm(x, mean, covariance, log = TRUE))
  root <- chol(covariance)
  z <- backsolve(root, t(x) - mean, transpose = TRUE)
  -sum(log(diag(root))) - ncol(x) / 2 * log(2 * pi) - colSums(z^2) / 2
}

in_r <- function(fit, x) {
  k <- length(fit$share)
  p <- ncol(x)
  lower <- which(lower.tri(diag(p), TRUE))
  joint <- function(w) {
    share <- c(w[seq_len(k - 1)], 1 - sum(w[seq_len(k - 1)]))
    each <- matrix(w[-seq_len(k - 1)], ncol = k)
    vapply(seq_len(k), function(h) {
      s <- matrix(0, p, p)
      s[lower] <- each[-seq_len(p), h]
      s <- s + t(s) - diag(diag(s), p)
      log(share[h]) + log_density(x, each[seq_len(p), h], s)
    }, numeric(nrow(x)))
  }
  w <- c(fit$share[-k], vapply(seq_len(k), function(h) c(fit$centers[h, ], fit$covariance[[h]][lower]), numeric(p + length(lower))))
  score <- lapply(seq_along(w), function(j) {
    e <- replace(numeric(length(w)), j, 1e-5 * max(abs(w[j]), 0.1))
    (joint(w + e) - joint(w - e)) / (2 * sum(e))
  })
  at <- joint(w)
  r <- exp(at - apply(at, 1, max))
  r <- r / rowSums(r)
  mean_score <- vapply(score, function(s) rowSums(r * s), numeric(nrow(x)))
  observed <- crossprod(mean_score) / nrow(x)
  hidden <- Reduce(`+`, lapply(seq_len(k), function(h) {
    gap <- vapply(score, function(s) s[, h], numeric(nrow(x))) - mean_score
    crossprod(gap, r[, h] * gap)
  })) / nrow(x)
  sum(diag(solve(observed, hidden))) / 2
}

rows <- list()
for (size in list(c(1e4, 2, 3), c(1e5, 2, 3), c(2e4, 8, 5))) {
  set.seed(1)
  sim <- sim_em(size[1L], means = matrix(rnorm(size[3L] * size[2L]), size[3L]) * 2.5)
  fit <- em_fit(sim$x, k = size[3L], start = sim$cluster, tol = 1e-10, max_iter = 5000)
  setting <- sprintf("%g x %d, k = %d, full covariances", size[1L], size[2L], size[3L])
  seconds <- cpu(ours <- label_accuracy(fit, newdata = sim$x))
  value <- ours$table$coefficient[1L]
  used <- cpu(theirs <- in_r(fit, sim$x))
  both <- data.frame(setting = setting, method = c("label_accuracy()", "the formula in R, by differences"), seconds = c(seconds, used), ratio = c(1, used / seconds),
                     value = formatC(c(value, theirs), digits = 8L, format = "g"), difference = c(0, abs(theirs / value - 1)))
  print(both, row.names = FALSE)
  rows[[length(rows) + 1L]] <- both
}
saveRDS(do.call(rbind, rows), output)
