# Times complete_matrix() against softImpute in one run. Rscript complete_matrix.R [output.rds] [extended]
#
# Seconds are processor time (user and system) of one thread. `gap` is the duality gap relative to the objective, computed by granary for every
# answer, outside the clock. softImpute stops on changes, not on a gap: it runs in parts of 50 iterations, each from where the last one ended, until
# its gap is at most
# 1e-6 (or that of granary, if larger) or 120 seconds are used up; its time is thus rounded up by at most a part. Where its gap is larger, the ratio
# is a lower bound. Its lambda is half of ours, and its
# rank limit is put a little above the rank of the solution, which it has to be told. Peers that are not installed are left out.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
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

# softImpute from a warm start, part after part, until `enough(fit)`; the clock runs only in its own code.
peer_until <- function(incomplete, lambda, type, rank, part, limit, enough) {
  run <- getExportedValue("softImpute", "softImpute")
  seconds <- 0
  iterations <- 0
  warm <- NULL
  repeat {
    timed <- cpu(function() suppressWarnings(run(incomplete, rank.max = rank, lambda = lambda / 2, type = type, thresh = 1e-14, maxit = part,
                                                 warm.start = warm)))
    warm <- timed$value
    seconds <- seconds + timed$seconds
    iterations <- iterations + part
    gap <- enough(warm)
    if (gap$done || seconds > limit) return(list(value = warm, seconds = seconds, iterations = iterations, seen = gap$seen))
  }
}

compare <- function(m, n, n_obs, rank, share, noise = 1, part = 50, limit = 120) {
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
    incomplete <- getExportedValue("softImpute", "Incomplete")(seen$i, seen$j, value)
    target <- max(seen_ours$gap / seen_ours$objective, 1e-6)
    enough <- function(peer) {
      keep <- peer$d > 0
      at <- certificate(peer$u[, keep, drop = FALSE], peer$d[keep], peer$v[, keep, drop = FALSE])
      list(done = at$gap <= target * at$objective, seen = at)
    }
    for (type in if (extended) c("als", "svd") else "als") {
      theirs <- peer_until(incomplete, lambda, type, fit$rank + 5L, part, limit, enough)
      note(setting = setting, method = sprintf("softImpute %s, %d iterations", type, theirs$iterations), seconds = theirs$seconds,
           ratio = theirs$seconds / ours$seconds, rank = sum(theirs$value$d > 0), objective = theirs$seen$objective,
           gap = theirs$seen$gap / theirs$seen$objective)
    }
  }
}

compare(1000, 500, 50000, 5, 0.3)
compare(10000, 1000, 1000000, 20, 0.2)
if (extended) compare(10000, 1000, 1000000, 20, 0.4)
results <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(results, output)
