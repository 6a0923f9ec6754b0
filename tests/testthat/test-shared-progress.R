# The events cli sees while `code` runs.
progress_events <- function(code) {
  old <- options(granary.progress = TRUE, cli.progress_handlers_force = "logger", cli.progress_handlers = character())
  on.exit(options(old))
  text <- utils::capture.output(utils::capture.output(try(code, silent = TRUE), type = "message"))
  events <- c("created", "added", "updated", "terminated")
  found <- regmatches(text, regexpr(paste(events, collapse = "|"), text))
  unique(found)
}

test_that("progress is off where it is not wanted", {
  old <- options(granary.progress = FALSE)
  on.exit(options(old))
  expect_null(progress_bar("working"))
  options(granary.progress = NULL)
  expect_identical(is.null(progress_bar("working")), !interactive())
})

test_that("nothing is shown before the delay is over", {
  work <- function(delay) {
    show <- progress_bar("working", delay = delay)
    for (share in c(0, 0.5, NaN, 2)) show(share)
  }
  expect_length(progress_events(work(delay = 60)), 0)
  expect_true("created" %in% progress_events(work(delay = 0)))
})

test_that("the bar goes away when the work ends, also by an error", {
  work <- function(fail) {
    show <- progress_bar("working", delay = 0)
    show(0.5)
    if (fail) stop("failed")
  }
  expect_true("terminated" %in% progress_events(work(FALSE)))
  expect_true("terminated" %in% progress_events(work(TRUE)))
})
