# Resampling shared by every method that chooses something by refitting.

# lapply() over independent tasks; on the workers of future::plan() where the user has set one. Random numbers: each task gets a seed drawn
# here, from the session's stream, so the answer does not depend on where or in which order tasks run. One bar counts the tasks: those of the fits inside are
# silent. Workers use as many threads as options(granary.threads) says here, and tell progressr when a task is done.
resample_lapply <- function(tasks, fun, label) {
  seeds <- sample.int(.Machine$integer.max, length(tasks))
  wanted <- list(granary.progress = FALSE, granary.threads = getOption("granary.threads"), granary.blas = getOption("granary.blas"))
  run <- function(k) {
    old <- options(wanted)
    on.exit(options(old))
    keep_seed({
      set.seed(seeds[k])
      fun(tasks[[k]])
    })
  }
  if (has_workers()) {
    done <- if (requireNamespace("progressr", quietly = TRUE)) progressr::progressor(length(tasks), message = label) else function(...) NULL
    return(future.apply::future_lapply(seq_along(tasks), function(k) {
      on.exit(done())
      run(k)
    }, future.seed = NULL, future.packages = "granary"))
  }
  progress <- progress_bar(label)
  lapply(seq_along(tasks), function(k) {
    if (!is.null(progress)) progress((k - 1) / length(tasks))
    run(k)
  })
}

has_workers <- function() {
  requireNamespace("future.apply", quietly = TRUE) && requireNamespace("future", quietly = TRUE) &&
    !inherits(future::plan(), "sequential") && future::nbrOfWorkers() > 1
}

# Evaluates and leaves the session's random numbers as they were.
keep_seed <- function(expr) {
  old <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit({
    if (!is.null(old)) {
      assign(".Random.seed", old, globalenv())
    } else if (exists(".Random.seed", globalenv(), inherits = FALSE)) {
      rm(".Random.seed", envir = globalenv())
    }
  })
  force(expr)
}

# Evaluates as after set.seed(seed): what the `seed` of simulate() means.
with_seed <- function(seed, expr) {
  seed <- check_number(seed, "seed", lower = -.Machine$integer.max, upper = .Machine$integer.max)
  keep_seed({
    set.seed(seed)
    expr
  })
}

# Fold of each row, sizes as equal as they can be, at random.
make_folds <- function(n, folds) {
  sample(rep_len(seq_len(folds), n))
}

# Folds as a number of them, or one label per row.
check_folds <- function(folds, n) {
  if (length(folds) == 1L) return(make_folds(n, check_count(folds, "folds", lower = 2, upper = n)))
  folds <- check_vector(folds, "folds", length = n)
  if (length(unique(folds)) < 2L) abort_input("`folds` must name at least two folds.", "folds")
  folds
}

