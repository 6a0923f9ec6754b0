# Rscript debiased_lasso.R <file for the results, .rds>
#
# Times debiased_lasso() for all coefficients at n = 300, p = 1000 (circulant design) against hdi::lasso.proj (nodewise lasso, cross-validated),
# and the rows of M alone
# against selectiveInference::debiasingMatrix, row for row at the same mu. CPU seconds on one thread; `two threads` are seconds of the clock on
# one and two
# threads, with smaller mu so that there is work. `violation` is the largest excess of |S m - e_i| over mu, `variance` the mean of m'Sm (smaller
# is better
# where the constraint holds). hdi::lasso.proj is stopped after GRANARY_LIMIT seconds of CPU time (180) if it has not ended, and its row says so.
# Peers that are not installed are left out. (hdi and scalreg may be missing from the index of CRAN for an older R, and still install from their
# source packages.)

Sys.setenv(OMP_NUM_THREADS = "2")
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

set.seed(1)
sim <- sim_debiased_lasso(300, 1000, 5, 0.5)
rows <- list()
add <- function(task, method, seconds, violation = NA, variance = NA) {
  rows[[length(rows) + 1L]] <<- data.frame(task = task, method = method, seconds = seconds, violation = violation, variance = variance)
}
seconds <- median(replicate(3, cpu(fit <<- debiased_lasso(sim$x, sim$y))))
add("all coefficients", "debiased_lasso", seconds, max(fit$table$coherence - fit$mu), mean(fit$table$variance))
seconds <- cpu(node <- debiased_lasso_baseline(sim$x, sim$y, "nodewise"))
add("all coefficients", "debiased_baseline nodewise", seconds)
peer <- "hdi"
if (requireNamespace(peer, quietly = TRUE)) {
  limit <- as.numeric(Sys.getenv("GRANARY_LIMIT", "180"))
  ended <- TRUE
  setTimeLimit(cpu = limit, transient = TRUE)
  seconds <- cpu(tryCatch(getExportedValue(peer, "lasso.proj")(sim$x, sim$y), error = function(e) {
    if (!grepl("time limit", conditionMessage(e))) stop(e)
    ended <<- FALSE
  }))
  setTimeLimit()
  add("all coefficients", if (ended) "hdi::lasso.proj" else "hdi::lasso.proj, stopped before its end", seconds)
} else {
  cat("hdi is not installed.\n")
}

z <- scale(sim$x) * sqrt(300 / 299)
s <- crossprod(z) / 300
for (mu in c(0.15, 0.1)) {
  which <- 1:50
  seconds <- median(replicate(3, cpu(d <<- decorrelate(z, mu = mu, which = which, intercept = FALSE, standardize = FALSE))))
  deviation <- abs(as.matrix(d$m) %*% s - diag(1000)[which, ])
  add(sprintf("50 rows, mu = %.2f", mu), "decorrelate", seconds, max(deviation) - mu, mean(d$table$variance))
  peer <- "selectiveInference"
  if (requireNamespace(peer, quietly = TRUE)) {
    seconds <- cpu(m <- getExportedValue(peer, "debiasingMatrix")(z, TRUE, 300, which, bound = mu, linesearch = FALSE, verbose = FALSE))
    m <- as.matrix(m)
    add(sprintf("50 rows, mu = %.2f", mu), "selectiveInference::debiasingMatrix", seconds, max(abs(m %*% s - diag(1000)[which, ])) - mu,
        mean(rowSums((m %*% s) * m)))
  } else {
    cat("selectiveInference is not installed.\n")
  }
}
for (threads in 1:2) {
  seconds <- median(replicate(3, system.time(decorrelate(sim$x, mu = 0.09, which = 1:400, threads = threads))[["elapsed"]]))
  add("400 rows, mu = 0.09, seconds of the clock", paste(threads, if (threads == 1) "thread" else "threads"), seconds)
}
table <- do.call(rbind, rows)
print(table, digits = 3, row.names = FALSE)
if (!is.na(output)) saveRDS(table, output)
