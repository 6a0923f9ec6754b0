# What every script in peers/ begins with: one thread, the library of the peers, granary, CPU seconds. `output` is the file for the results.
Sys.setenv(OMP_NUM_THREADS = "1", OPENBLAS_NUM_THREADS = "1")
output <- commandArgs(TRUE)[1L]
extended <- "extended" %in% commandArgs(TRUE)
local({
  peers_library <- Sys.getenv("GRANARY_PEERS", "build/peers")
  if (dir.exists(peers_library)) .libPaths(c(peers_library, .libPaths()))
})
library(granary)
options(granary.threads = 1)

cpu <- function(code) {
  t <- system.time(code)
  t[["user.self"]] + t[["sys.self"]]
}
has <- function(name) requireNamespace(name, quietly = TRUE)
