# Threads and seeds: what the core needs to know from the session.

# The argument, else options(granary.threads), else 1 while R CMD check runs, else the cores of the machine up to 8.
thread_count <- function(threads = NULL) {
  if (!is.null(threads)) return(check_count(threads, "threads", upper = 1024))
  threads <- getOption("granary.threads")
  if (!is.null(threads)) return(check_count(threads, "options(granary.threads)", upper = 1024))
  checking <- nzchar(Sys.getenv("_R_CHECK_LIMIT_CORES_")) || nzchar(Sys.getenv("_R_CHECK_PACKAGE_NAME_"))
  if (checking) return(1L)
  cores <- parallel::detectCores()
  if (is.na(cores)) 1L else max(1L, min(8L, cores))
}

# Two integers from R's stream, so that set.seed() governs what the core draws.
core_seed <- function() {
  as.double(sample.int(.Machine$integer.max, 2L))
}
