# Runs the R tests on the installed package.
#
#   Rscript tools/dev/run-tests.R [counts file] [filter]
#
# Prints every failure in full and every skip with its reason, and writes "passed failed skipped" to the counts file. The tests run
# in a process of their own, so that a crash is counted and reported like any other failure.

arguments <- commandArgs(TRUE)
inside <- identical(Sys.getenv("GRANARY_TEST_PROCESS"), "1")
counts_file <- if (length(arguments) >= 1L && nzchar(arguments[1L])) arguments[1L] else tempfile()
filter <- if (length(arguments) >= 2L && nzchar(arguments[2L])) arguments[2L]

this_file <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
tests <- normalizePath(file.path(dirname(this_file), "..", "..", "tests", "testthat"))

write_counts <- function(passed, failed, skipped) writeLines(paste(passed, failed, skipped), counts_file)

run_inside <- function() {
  results <- testthat::test_dir(tests, package = "granary", load_package = "installed", filter = filter, reporter = "silent", stop_on_failure = FALSE)
  counts <- c(passed = 0L, failed = 0L, skipped = 0L)
  skips <- character()
  warnings <- character()
  for (test in results) {
    where <- paste0(test$file, ": ", test$test)
    if (length(test$results) == 0L) skips <- c(skips, paste0(where, ": it makes no expectation"))
    for (result in test$results) {
      place <- if (!is.null(result$srcref)) paste0(" (line ", result$srcref[1L], ")") else ""
      if (inherits(result, c("expectation_failure", "expectation_error"))) {
        counts["failed"] <- counts["failed"] + 1L
        cat("FAILED ", where, place, "\n", cli::ansi_strip(conditionMessage(result)), "\n\n", sep = "")
      } else if (inherits(result, "expectation_skip")) {
        counts["skipped"] <- counts["skipped"] + 1L
        skips <- c(skips, paste0(where, ": ", sub("^Reason: ", "", conditionMessage(result))))
      } else if (inherits(result, "expectation_warning")) {
        warnings <- c(warnings, paste0(where, place, ": ", conditionMessage(result)))
      } else {
        counts["passed"] <- counts["passed"] + 1L
      }
    }
  }
  for (warning in warnings) cat("WARNING ", warning, "\n", sep = "")
  for (skip in skips) cat("SKIPPED ", skip, "\n", sep = "")
  write_counts(counts["passed"], counts["failed"], counts["skipped"])
  cat("R tests: ", counts["passed"], " passed, ", counts["failed"], " failed, ", counts["skipped"], " skipped\n", sep = "")
}

run_outside <- function() {
  unlink(counts_file)
  log <- tempfile()
  Sys.setenv(GRANARY_TEST_PROCESS = "1", GRANARY_MUTATION_LOG = log, NOT_CRAN = "true")
  status <- system2(file.path(R.home("bin"), "Rscript"), shQuote(c(this_file, counts_file, filter)))
  if (file.exists(counts_file)) return(as.integer(scan(counts_file, quiet = TRUE)[2L] > 0))
  cat("FAILED the test process ended early, with status ", status, "\n", sep = "")
  if (file.exists(log)) cat("The last input mutation that started was ", readLines(log), "\n", sep = "")
  write_counts(0L, 1L, 0L)
  1L
}

if (!requireNamespace("testthat", quietly = TRUE)) {
  cat("FAILED no R test could run, because testthat is not installed. From CRAN, its dependency fs needs cmake or the headers of libuv:\n",
      "install one of them, delete build/setup.stamp, and run make test again.\n", sep = "")
  write_counts(0L, 1L, 0L)
  quit(status = 1L)
}
if (inside) {
  run_inside()
} else {
  quit(status = run_outside())
}
