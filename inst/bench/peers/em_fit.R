# Times em_fit() against the EM of mclust. Rscript em_fit.R [output.rds]
#
# CPU seconds of one thread: the same rows, the same kind of covariance, the same labels to start from (half of them wrong), the same relative tolerance on the
# likelihood; `value` is the log-likelihood reached.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
note <- function(setting, method, seconds, ours, value, iterations) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, value = formatC(value, digits = 10L, format = "g"),
                                           iterations = iterations)
  print(rows[[length(rows)]], row.names = FALSE)
}

for (size in list(c(1e4, 5, 5), c(1e5, 5, 5), c(2e4, 20, 10))) {
  set.seed(1)
  n <- size[1L]
  k <- size[3L]
  sim <- sim_em(n, means = matrix(rnorm(k * size[2L]), k) * 1.5)
  labels <- sim$cluster
  labels[sample(n, n / 2)] <- sample(k, n / 2, TRUE)
  for (kind in c("full", "tied")) {
    setting <- sprintf("%g x %d, k = %d, %s covariances", n, size[2L], k, kind)
    seconds <- cpu(fit <- em_fit(sim$x, k = k, covariance = kind, start = labels, max_iter = 2000))
    note(setting, "em_fit()", seconds, seconds, fit$loglik, fit$convergence$iterations)
    used <- cpu(leap <- em_fit(sim$x, k = k, covariance = kind, start = labels, method = "squarem", max_iter = 2000))
    note(setting, "em_fit(), squarem", used, seconds, leap$loglik, leap$convergence$iterations)
    used <- cpu(block <- em_fit(sim$x, k = k, covariance = kind, start = labels, method = "incremental", max_iter = 2000))
    note(setting, "em_fit(), incremental", used, seconds, block$loglik, block$convergence$iterations)
    if (has("mclust")) {
      em <- switch(kind, full = mclust::meVVV, tied = mclust::meEEE)  # me() needs the package attached
      used <- cpu(theirs <- em(sim$x, z = mclust::unmap(labels),
                               control = mclust::emControl(tol = c(1e-8, 1e-8), itmax = c(2000L, 2000L))))
      note(setting, "mclust", used, seconds, theirs$loglik, attr(theirs, "info")[["iterations"]])
    }
  }
}
saveRDS(do.call(rbind, rows), output)
