# Runs the R tests on the installed package.
#
#   Rscript tools/dev/run-tests.R [counts file] [filter]
#
# Prints every failure in full and every skip with its reason, and writes "passed failed skipped" to the counts file. The test files are dealt out to as
# many processes as there are cores (GRANARY_TEST_JOBS), so that a crash is counted and reported like any other failure and costs one share of the files only.

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

# The files whose name matches, dealt out so that each process has about as much to do; the mutations, which take longest by far, count for a third.
shares <- function(jobs) {
  files <- list.files(tests, "^test-.*[.]R$")
  names <- sub("^test-(.*)[.]R$", "\\1", files)
  keep <- is.null(filter) | grepl(if (is.null(filter)) "" else filter, names)
  size <- file.size(file.path(tests, files))
  size[names == "shared-mutation"] <- sum(size) / 3
  order <- which(keep)[order(-size[keep])]
  deck <- rep(list(character()), jobs)
  load <- numeric(jobs)
  for (i in order) {
    k <- which.min(load)
    deck[[k]] <- c(deck[[k]], names[i])
    load[k] <- load[k] + size[i]
  }
  Filter(length, deck)
}

run_outside <- function() {
  unlink(counts_file)
  jobs <- suppressWarnings(as.integer(Sys.getenv("GRANARY_TEST_JOBS", parallel::detectCores())))
  if (is.na(jobs) || jobs < 1L) jobs <- 1L
  decks <- shares(jobs)
  workers <- lapply(decks, function(deck) list(counts = tempfile(), output = tempfile(), log = tempfile(), done = tempfile(), deck = deck))
  for (w in workers) {
    pattern <- paste0("^(", paste(gsub("([.+])", "\\\\\\1", w$deck), collapse = "|"), ")$")
    Sys.setenv(GRANARY_TEST_PROCESS = "1", GRANARY_MUTATION_LOG = w$log, NOT_CRAN = "true")
    command <- paste(shQuote(file.path(R.home("bin"), "Rscript")), shQuote(this_file), shQuote(w$counts), shQuote(pattern), ">", shQuote(w$output), "2>&1; echo $? >",
                     shQuote(w$done))
    system2("sh", c("-c", shQuote(command)), wait = FALSE)
  }
  while (!all(vapply(workers, function(w) file.exists(w$done) && file.size(w$done) > 0, NA))) Sys.sleep(0.5)
  total <- c(0L, 0L, 0L)
  for (w in workers) {
    lines <- readLines(w$output, warn = FALSE)
    writeLines(lines[!grepl("^R tests: ", lines)])
    if (file.exists(w$counts)) {
      total <- total + as.integer(scan(w$counts, quiet = TRUE))
    } else {
      cat("FAILED a test process ended early, with status ", readLines(w$done), ", over ", paste(w$deck, collapse = ", "), "\n", sep = "")
      if (file.exists(w$log)) cat("The last input mutation that started was ", readLines(w$log), "\n", sep = "")
      total <- total + c(0L, 1L, 0L)
    }
  }
  write_counts(total[1L], total[2L], total[3L])
  cat("R tests: ", total[1L], " passed, ", total[2L], " failed, ", total[3L], " skipped\n", sep = "")
  as.integer(total[2L] > 0)
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
