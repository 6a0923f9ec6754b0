# A progress bar for work that lasts. Returns NULL where progress is off, else a function of the share done, in [0, 1]. The bar
# appears once `delay` seconds have passed and goes away when the calling function ends, however it ends.
#
# options(granary.progress = TRUE or FALSE) decides; the default is to show progress in interactive sessions.
progress_bar <- function(label, delay = 2, frame = parent.frame()) {
  wanted <- getOption("granary.progress", interactive())
  if (!isTRUE(wanted)) return(NULL)
  force(frame)
  started <- proc.time()[["elapsed"]]
  bar <- NULL
  function(share) {
    if (!checkmate::test_number(share, finite = TRUE)) return(invisible())
    share <- min(1, max(0, share))
    if (is.null(bar)) {
      if (proc.time()[["elapsed"]] - started < delay) return(invisible())
      old <- options(cli.progress_show_after = 0)  # the wait is over; cli would add its own
      on.exit(options(old))
      bar <<- cli::cli_progress_bar(name = label, total = 100, clear = TRUE, .envir = frame)
    }
    cli::cli_progress_update(set = 100 * share, id = bar, .envir = frame)
    invisible()
  }
}
