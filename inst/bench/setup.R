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
# The mean of several runs where one is too short for the clock.
timed <- function(code, times = 1L) {
  expr <- substitute(code)
  frame <- parent.frame()
  cpu(for (i in seq_len(times)) eval(expr, frame)) / times
}
# A function that notes and prints rows of setting, method, seconds, ratio to ours, and a value with many digits; without arguments it gives the table.
value_table <- function() {
  rows <- list()
  function(setting, method, seconds, ours, value) {
    if (missing(setting)) return(do.call(rbind, rows))
    rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, value = formatC(value, digits = 9L, format = "g"))
    print(rows[[length(rows)]], row.names = FALSE)
  }
}
