# Rscript gp_classify.R <file for the results, .rds>
#
# Times inference of gp_classify() at fixed parameters (squared exponential kernel, probit link), one thread, CPU seconds of the R process. Peers:
# gplite by expectation propagation and by Laplace's method, to the evidence `peer_evidence`, where it is installed; and kernlab::gausspr, whose
# Laplace iteration for a logistic model gives no evidence, so only its time stands here. `ratio` is the peer's time over ours. The second table is learning:
# ML-II from one start.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

make <- function(n) {
  set.seed(7)
  x <- matrix(rnorm(4 * n), n)
  f <- 2 * sin(1.5 * x[, 1]) + x[, 2] * x[, 3]
  list(x = x, y = as.double(f + rnorm(n) > 0))
}

rows <- list()
add <- function(...) {
  rows[[length(rows) + 1L]] <<- data.frame(...)
  print(rows[[length(rows)]], digits = 4, row.names = FALSE)
}
for (n in c(300, 1000)) {
  d <- make(n)
  for (variance in c(4, 100)) {
    kernel <- k_se(lengthscale = 1.5, variance = variance)
    for (method in c("ep", "laplace")) {
      seconds <- median(replicate(if (n > 500) 1L else 3L, cpu(fit <<- gp_classify(d$x, d$y, kernel, method, "fixed", tol = 1e-5))))
      peer_seconds <- evidence <- NA_real_
      name <- "gplite"
      if (requireNamespace(name, quietly = TRUE)) {
        space <- loadNamespace(name)
        model <- space$gp_init(space$cf_sexp(lscale = 1.5, magn = sqrt(variance)), space$lik_bernoulli(link = "probit"),
                               approx = if (method == "ep") space$approx_ep() else space$approx_laplace())
        peer_seconds <- cpu(peer <- try(space$gp_fit(model, d$x, as.integer(d$y)), silent = TRUE))
        if (!inherits(peer, "try-error")) evidence <- peer$fit$loglik else peer_seconds <- NA_real_
      }
      add(n = n, variance = variance, method = method, peer = name, peer_s = peer_seconds, granary_s = seconds, ratio = peer_seconds / seconds,
          peer_evidence = evidence, granary_evidence = fit$loglik, granary_sweeps = fit$convergence$iterations)
    }
    name <- "kernlab"
    if (requireNamespace(name, quietly = TRUE)) {
      space <- loadNamespace(name)
      width <- list(sigma = 1 / (2 * 1.5^2))
      peer_seconds <- cpu(try(space$gausspr(d$x, factor(d$y), kernel = "rbfdot", kpar = width, scaled = FALSE), silent = TRUE))
      seconds <- rows[[length(rows) - 1L]]$granary_s
      add(n = n, variance = variance, method = "ep", peer = "kernlab::gausspr", peer_s = peer_seconds, granary_s = seconds,
          ratio = peer_seconds / seconds, peer_evidence = NA_real_, granary_evidence = rows[[length(rows) - 1L]]$granary_evidence, granary_sweeps = NA)
    }
  }
}
inference <- do.call(rbind, rows)
learning <- do.call(rbind, lapply(c(300, 1000), function(n) {
  d <- make(n)
  seconds <- cpu(fit <- suppressWarnings(gp_classify(d$x, d$y, n_starts = 1, standardize = FALSE)))
  data.frame(n = n, granary_s = seconds, evidence = fit$loglik, lengthscale = coef(fit)[["se.lengthscale"]],
             variance = coef(fit)[["se.variance"]])
}))
print(learning)
if (!is.na(output)) saveRDS(list(inference = inference, learning = learning), output)
