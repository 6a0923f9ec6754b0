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
    lent <- session_globals(fun)
    done <- if (requireNamespace("progressr", quietly = TRUE)) progressr::progressor(length(tasks), message = label) else function(...) NULL
    return(future.apply::future_lapply(seq_along(tasks), function(k) {
      on.exit(done())
      lend_globals(lent)
      run(k)
    }, future.seed = NULL, future.packages = "granary"))
  }
  progress <- progress_bar(label)
  lapply(seq_along(tasks), function(k) {
    if (!is.null(progress)) progress((k - 1) / length(tasks))
    run(k)
  })
}

# The variables of the session's workspace that functions of the user, such as a kernel of his own, speak of: a closure takes its own variables with it to a
# worker, but not those. Functions are looked for in what `object` holds, in lists and the variables of closures; what such a function calls is looked into too.
session_globals <- function(object) {
  found <- list()
  seen <- list()
  look <- function(value, depth) {
    if (depth > 8L) return(invisible())
    if (is.function(value) && !is.primitive(value)) {
      home <- environment(value)
      if (is.null(home) || isNamespace(topenv(home)) && environmentName(topenv(home)) != "granary") return(invisible())
      if (identical(topenv(home), globalenv())) names_in(value, depth)
      look(home, depth + 1L)
    } else if (is.environment(value)) {
      if (isNamespace(value) || identical(value, globalenv()) || identical(value, baseenv()) || identical(value, emptyenv())) return(invisible())
      if (any(vapply(seen, identical, NA, value))) return(invisible())
      seen[[length(seen) + 1L]] <<- value
      for (name in ls(value)) look(tryCatch(get(name, envir = value), error = function(e) NULL), depth + 1L)  # a missing argument has no value
      look(parent.env(value), depth)
    } else if (is.list(value)) {
      for (part in unclass(value)) if (is.recursive(part)) look(part, depth + 1L)
    }
    invisible()
  }
  names_in <- function(f, depth) {
    for (name in unique(all.names(body(f)))) {
      if (!is.null(found[[name]]) || !exists(name, envir = globalenv(), inherits = FALSE)) next
      value <- get(name, envir = globalenv())
      found[name] <<- list(value)
      if (is.recursive(value)) look(value, depth + 1L)
    }
  }
  look(object, 0L)
  found
}

lend_globals <- function(values) {
  for (name in names(values)) if (!exists(name, envir = globalenv(), inherits = FALSE)) assign(name, values[[name]], envir = globalenv())
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

