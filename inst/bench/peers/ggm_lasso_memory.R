# Rscript ggm_lasso_memory.R <file for the results, .rds> <p>: peak memory of one ggm_lasso() fit, in p x p matrices of doubles.
#
# A process of its own, because the operating system only remembers the highest mark. Linux only: elsewhere the result is NA.
arguments <- commandArgs(TRUE)
p <- as.integer(arguments[2L])
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
status <- function(field) {
  if (!file.exists("/proc/self/status")) return(NA_real_)
  line <- grep(paste0("^", field, ":"), readLines("/proc/self/status"), value = TRUE)
  1024 * as.double(gsub("[^0-9]", "", line))
}
# Banded by construction, so that making it needs no more memory than holding it, and the high-water mark is the fit's.
S <- matrix(0, p, p)
for (j in seq_len(p)) S[abs(seq_len(p) - j) <= 40L, j] <- (4 / 3) * 0.5^abs(seq_len(p) - j)[abs(seq_len(p) - j) <= 40L]
invisible(gc())
before <- status("VmRSS")
mark <- status("VmHWM")
fit <- ggm_lasso(S = S, lambda = 0.1, threads = 1)
after <- status("VmHWM")
saveRDS(data.frame(p = p, matrices = if (isTRUE(after > mark)) (after - before) / (8 * p^2) else NA_real_), arguments[1L])
