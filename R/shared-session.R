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

#' What granary computes with
#'
#' The engine of dense linear algebra, the number of threads, and the versions of what matters for a result: for reports and for questions.
#'
#' @details
#' Dense products, factorisations and solves are done by one of three engines: `"portable"` runs everywhere, `"native"` uses the AVX2 and FMA instructions of
#' the processor where it has them, and `"r"` is the BLAS that R is linked to. `options(granary.blas = )` chooses one before the package is loaded (or call
#' `granary_session(blas = )`); `"auto"`, the default, takes `"native"` where it exists, and `"r"` when that multiplies at least half again as fast.
#' Results of different engines differ in their last digits; within an engine they do not depend on the number of threads.
#'
#' @section Which method when:
#' `granary_session()` at the end of a report or in a question about a result; `utils::sessionInfo()` has the rest.
#'
#' @param blas Changes the engine: `"auto"`, `"portable"`, `"native"` or `"r"`; `NULL` leaves it.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list of class `granary_session` with `version`, `engine`, `engines` (those there are), `threads`, `r` and `platform`.
#' @seealso [granary_find()], [granary_catalog()], [granary_report()], [reproduce()]
#' @export
#' @examples
#' granary_session()
granary_session <- function(blas = NULL, ...) {
  refuse_dots(...)
  if (!is.null(blas)) core_use_engine(check_choice(blas, c("auto", "portable", "native", "r")))
  engines <- core_engines()
  seal(structure(list(version = as.character(utils::packageVersion("granary")), engine = engines$engine, engines = engines$available,
                 threads = thread_count(), r = R.version.string, platform = R.version$platform), class = "granary_session"))
}

#' @export
print.granary_session <- function(x, ...) {
  cli::cat_line("granary ", x$version, " on ", x$r, " (", x$platform, ")")
  cli::cat_line("Dense algebra: ", x$engine, " (available: ", paste(x$engines, collapse = ", "), ")")
  cli::cat_line("Threads: ", x$threads)
  invisible(x)
}
