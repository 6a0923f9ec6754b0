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

test_that("one bar goes forward over a path of completions, and over the starts of kriging", {
  shares <- numeric()
  bar <- function(...) function(share) shares <<- c(shares, share)
  home <- asNamespace("granary")
  put <- function(value) {
    unlockBinding("progress_bar", home)
    assign("progress_bar", value, envir = home)
    lockBinding("progress_bar", home)
  }
  old <- home$progress_bar
  on.exit(put(old))
  put(bar)
  set.seed(61)
  sim <- sim_complete_matrix(300, 250, rank = 5, n_obs = 20000, noise = 0.5)
  complete_matrix(sim$x, n_lambda = 12)
  expect_gt(length(shares), 2)
  expect_true(all(diff(shares) >= 0))
  expect_gt(max(shares), 0.1)
  shares <- numeric()
  x <- matrix(runif(800), 400)
  suppressWarnings(kriging(x, sin(5 * x[, 1]) + x[, 2] + rnorm(400, sd = 0.1), nugget = "estimate", threads = 1))
  expect_gt(length(shares), 2)
  expect_true(all(diff(shares) >= 0))
  expect_gt(max(shares), 0.1)
})
