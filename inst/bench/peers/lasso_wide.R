# Times lasso() against glmnet with many more columns than rows, at several tolerances of both. Rscript lasso_wide.R [output.rds]
#
# Seconds are processor time of one thread, the least of two runs along glmnet's own path of penalties. `excess` is the largest objective along the
# path over the best known (glmnet with thresh = 1e-14, or ours if that is lower), relative: a time without it says nothing, as glmnet's default stops
# at 1e-4 to 1e-3 where the columns are correlated and ours at 1e-9.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
output <- commandArgs(trailingOnly = TRUE)[1L]
stopifnot(requireNamespace("glmnet", quietly = TRUE))
rows <- list()
for (size in list(c(100, 5000), c(100, 20000), c(200, 10000))) for (rho in c(0, 0.5)) {
  set.seed(1)
  n <- size[1L]
  p <- size[2L]
  x <- matrix(rnorm(n * p), n) + sqrt(rho / (1 - rho)) * rnorm(n)
  y <- drop(x[, 1:10] %*% rep(1, 10)) + rnorm(n)
  spread <- apply(x, 2L, function(v) sqrt(mean((v - mean(v))^2)))
  lambda <- glmnet::glmnet(x, y)$lambda
  value <- function(beta, intercept) {
    vapply(seq_along(lambda), function(k) sum((y - intercept[k] - x %*% beta[, k])^2) / 2 / n + lambda[k] * sum(abs(beta[, k] * spread)), 0)
  }
  runs <- c(
    lapply(c(1e-7, 1e-9, 1e-11), function(t) list(who = "glmnet", tol = t, run = function() {
      fit <- glmnet::glmnet(x, y, lambda = lambda, thresh = t, maxit = 1e7)
      list(as.matrix(fit$beta), fit$a0)
    })),
    lapply(c(1e-4, 1e-5, 1e-6), function(t) list(who = "granary", tol = t, run = function() {
      both <- as.matrix(coef(suppressWarnings(granary::lasso(x, y, lambda = lambda, tol = t))))
      list(both[-1L, ], both[1L, ])
    }))
  )
  exact <- glmnet::glmnet(x, y, lambda = lambda, thresh = 1e-14, maxit = 1e8)
  best <- value(as.matrix(exact$beta), exact$a0)
  for (one in runs) {
    seconds <- Inf
    for (again in 1:2) {
      started <- proc.time()[[1L]]
      found <- one$run()
      seconds <- min(seconds, proc.time()[[1L]] - started)
    }
    reached <- value(found[[1L]], found[[2L]])
    rows[[length(rows) + 1L]] <- data.frame(n, p, rho, who = one$who, tol = one$tol, seconds, excess = max((reached - best) / best))
    print(rows[[length(rows)]], row.names = FALSE)
  }
}
if (!is.na(output)) saveRDS(do.call(rbind, rows), output)
