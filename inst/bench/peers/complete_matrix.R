# Times complete_matrix() against softImpute in one run. Rscript complete_matrix.R [output.rds] [extended]
#
# Seconds are processor time (user and system) of one thread. `gap` is the duality gap relative to the objective, computed by granary for every
# answer; softImpute's threshold is lowered a hundredfold until its gap is that of granary (1e-6) or its iterations are used up, and only the last run
# is timed; where its gap is larger, the ratio is a lower bound. Its lambda is half of ours, and its rank limit is put a little above the rank of the
# solution, which it has to be told. Peers that are not installed are left out.

peers_library <- Sys.getenv("GRANARY_PEERS", "build/peers")
if (dir.exists(peers_library)) .libPaths(c(peers_library, .libPaths()))
library(granary)
arguments <- commandArgs(trailingOnly = TRUE)
output <- if (length(arguments) > 0L) arguments[1L] else NA
extended <- "extended" %in% arguments

cpu <- function(run) {
  gc(FALSE)
  started <- proc.time()
  value <- run()
  used <- proc.time() - started
  list(seconds = used[["user.self"]] + used[["sys.self"]], value = value)
}
rows <- list()
note <- function(...) {
  rows[[length(rows) + 1L]] <<- data.frame(...)
  print(rows[[length(rows)]], row.names = FALSE)
}

compare <- function(m, n, n_obs, rank, share, noise = 1, thresholds = 10^-c(6, 8, 10, 12), maxit = 2000) {
  set.seed(1)
  a <- matrix(rnorm(m * rank), m)
  b <- matrix(rnorm(n * rank), n)
  seen <- unique(data.frame(i = sample.int(m, n_obs, TRUE), j = sample.int(n, n_obs, TRUE)))
  value <- rowSums(a[seen$i, ] * b[seen$j, ]) + noise * rnorm(nrow(seen))
  x <- Matrix::sparseMatrix(i = seen$i, j = seen$j, x = value, dims = c(m, n))
  cells <- getFromNamespace("completion_cells", "granary")(x)
  top <- getFromNamespace("core_completion_cells", "granary")(cells, "trace", c(-1, 1))$lambda_max
  lambda <- share * top
  setting <- sprintf("%d x %d, %d cells, lambda = %g lambda_max", m, n, nrow(seen), share)
  certificate <- function(u, d, v) getFromNamespace("core_completion_certificate", "granary")(cells, u, d, v, lambda)
  ours <- cpu(function() complete_matrix(x, lambda = lambda, threads = 1))
  fit <- ours$value
  seen_ours <- certificate(fit$u[[1L]], fit$d[[1L]], fit$v[[1L]])
  note(setting = setting, method = "granary als", seconds = ours$seconds, ratio = 1, rank = fit$rank, objective = seen_ours$objective,
       gap = seen_ours$gap / seen_ours$objective)
  if (requireNamespace("softImpute", quietly = TRUE)) {
    run <- getExportedValue("softImpute", "softImpute")
    incomplete <- getExportedValue("softImpute", "Incomplete")(seen$i, seen$j, value)
    for (type in if (extended) c("als", "svd") else "als") {
      for (thresh in thresholds) {
        theirs <- cpu(function() suppressWarnings(run(incomplete, rank.max = fit$rank + 5L, lambda = lambda / 2, type = type, thresh = thresh,
                                                      maxit = maxit)))
        peer <- theirs$value
        keep <- peer$d > 0
        seen_peer <- certificate(peer$u[, keep, drop = FALSE], peer$d[keep], peer$v[, keep, drop = FALSE])
        gap <- seen_peer$gap / seen_peer$objective
        if (gap <= 1e-6) break
      }
      note(setting = setting, method = sprintf("softImpute %s, thresh %g", type, thresh), seconds = theirs$seconds,
           ratio = theirs$seconds / ours$seconds,
           rank = sum(keep), objective = seen_peer$objective, gap = gap)
    }
  }
}

compare(1000, 500, 50000, 5, 0.3)
# One run of at most 60 iterations, or the peer takes many minutes: where its gap is still above ours, the ratio is a lower bound.
compare(10000, 1000, 1000000, 20, 0.2, thresholds = 1e-8, maxit = 60)
if (extended) compare(10000, 1000, 1000000, 20, 0.4)
results <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(results, output)
