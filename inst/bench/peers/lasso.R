# Rscript lasso.R <file for the results, .rds>
#
# Times lasso() against glmnet on one thread, paths of 100 penalties (glmnet's grid, fitted by both), gaussian and binomial. CPU seconds of the R
# process, median of three runs (one for the large cases). glmnet runs at its default thresh and at 1e-12; lasso() gets as `tol` the largest
# violation of the
# optimality conditions over the path that glmnet left, as a correlation, measured by the same code for both. `worst` and `best` are the largest and
# smallest relative excess of our objective over glmnet's at a penalty. Where `worst` exceeds 0.002 although the violations are equal (the
# end of a path of separable classes, where the loss is nearly zero), a second row has the smaller `tol` (in steps of 1.25) that mends it. At thresh 1e-12 glmnet
# takes many
# minutes on the large binomial and the sparse problems; they are left out.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
peer <- "glmnet"
if (!requireNamespace(peer, quietly = TRUE)) stop("glmnet is not installed.")
glmnet <- getExportedValue(peer, "glmnet")

make <- function(n, p, density) {
  set.seed(7)
  x <- if (density < 1) Matrix::rsparsematrix(n, p, density) else matrix(rnorm(n * p), n) + 0.5 * rnorm(n)
  b <- replace(numeric(p), sample(p, 20), rnorm(20))
  eta <- as.vector(x %*% b)
  list(x = x, gaussian = eta + rnorm(n) * sd(eta), binomial = as.double(rbinom(n, 1, plogis(2 * eta / sd(eta)))))
}

judge <- function(x, y, family, lambda, intercept, beta) {
  n <- nrow(x)
  mean <- Matrix::colMeans(x)
  sd <- if (isS4(x)) sqrt(Matrix::colMeans(x^2) - mean^2) else sqrt(colMeans(sweep(x, 2L, mean)^2))
  unit <- sqrt(mean((y - mean(y))^2))
  out <- vapply(seq_along(lambda), function(k) {
    eta <- as.vector(x %*% beta[, k]) + intercept[k]
    r <- y - if (family == "gaussian") eta else plogis(eta)
    b <- beta[, k] * sd
    g <- as.vector(Matrix::crossprod(x, r - mean(r))) / n / sd
    loss <- if (family == "gaussian") mean((y - eta)^2) / 2 else mean(log1p(exp(-abs(eta))) + pmax(eta, 0) - y * eta)
    c(max(ifelse(b == 0, pmax(abs(g) - lambda[k], 0), abs(g - lambda[k] * sign(b)))) / unit, loss + lambda[k] * sum(abs(b)))
  }, numeric(2))
  list(violation = max(out[1L, ]), objective = out[2L, ])
}

rows <- list()
cases <- list(c(1000, 200, 1), c(200, 5000, 1), c(5000, 1000, 1), c(10000, 10000, 0.01))
for (case in cases) {
  data <- make(case[1L], case[2L], case[3L])
  for (family in c("gaussian", "binomial")) {
    y <- data[[family]]
    big <- case[1L] >= 5000
    for (thresh in c(1e-7, 1e-12)) {
      if (thresh < 1e-7 && case[1L] >= 5000 && (family == "binomial" || case[3L] < 1)) next  # glmnet takes many minutes
      runs <- if (big) 1L else 3L
      theirs <- median(replicate(runs, cpu(peer_fit <<- glmnet(data$x, y, family = family, thresh = thresh))))
      before <- judge(data$x, y, family, peer_fit$lambda, peer_fit$a0, peer_fit$beta)
      tol <- min(0.1, max(before$violation, 1e-10))
      repeat {
        ours <- median(replicate(runs, cpu(fit <<- suppressWarnings(lasso(data$x, y, family, lambda = peer_fit$lambda, tol = tol)))))
        after <- judge(data$x, y, family, fit$lambda, fit$intercept, fit$coefficients)
        shared <- seq_along(fit$lambda)
        gap <- (after$objective - before$objective[shared]) / before$objective[shared]
        row <- data.frame(
          n = case[1L], p = case[2L], density = case[3L], family = family, thresh = thresh, tol = tol, glmnet_s = theirs, granary_s = ours,
          ratio = ours / theirs, glmnet_violation = before$violation, granary_violation = after$violation, worst = max(gap), best = min(gap)
        )
        print(row, digits = 3, row.names = FALSE)
        same <- max(gap) <= 2e-3
        if (same || tol >= before$violation) rows[[length(rows) + 1L]] <- row
        if (same) break
        tol <- tol / 1.25
      }
    }
  }
}
if (!is.na(output)) saveRDS(do.call(rbind, rows), output)
