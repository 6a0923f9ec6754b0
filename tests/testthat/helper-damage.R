# Damaged objects: every object the help pages make, every field of it, gone, empty, short or narrow, given to every method of its classes.
# The calls run in child processes with a limit of CPU seconds, so that a crash or an endless loop is a failure with a name and ends nothing else.

# One object of every class of granary that the examples make, fits and others; tables are left out, whose rows and columns anybody may take away.
example_objects <- function(examples) {
  session <- list2env(mget(getNamespaceExports("granary"), envir = asNamespace("granary"), inherits = TRUE), parent = globalenv())
  objects <- list()
  for (page in examples) {
    envir <- new.env(parent = session)
    for (expression in as.list(page$code)) {
      value <- tryCatch(quietly(suppressWarnings(eval(expression, envir))), error = function(e) NULL)
      for (object in c(list(value), mget(ls(envir), envir = envir))) {
        kind <- class(object)[1L]
        if (grepl("^granary_", kind) && is.list(object) && !is.data.frame(object) && is.null(objects[[kind]])) objects[[kind]] <- object
      }
    }
  }
  objects
}

# The damaged copies of one object: "field gone" = copy, ...; attributes stay as a file would bring them.
damaged_copies <- function(object) {
  parts <- unclass(object)
  copies <- list()
  for (field in setdiff(names(parts)[nzchar(names(parts))], "call")) {
    value <- parts[[field]]
    if (is.null(value)) next
    spoiled <- list(gone = NULL)
    if (is.atomic(value) || (is.list(value) && !is.data.frame(value))) {
      plain <- unclass(value)
      if (length(plain) > 0L) {
        spoiled$empty <- plain[0L]
        spoiled$short <- plain[-length(plain)]
      }
      if (is.matrix(plain) && ncol(plain) > 1L) spoiled$narrow <- plain[, -1L, drop = FALSE]
    } else if (length(dim(value)) == 2L && all(dim(value) > 1L)) {
      spoiled <- c(spoiled, list(empty = value[0L, , drop = FALSE], short = value[-1L, , drop = FALSE], narrow = value[, -1L, drop = FALSE]))
    }
    if (!"gone" %in% names(spoiled)) spoiled <- c(list(gone = NULL), spoiled)
    for (kind in names(spoiled)) {
      copy <- parts
      copy[[field]] <- spoiled[[kind]]
      kept <- attributes(parts)
      kept$names <- names(copy)
      attributes(copy) <- c(kept, list(class = class(object)))
      copies[[paste(field, kind)]] <- copy
    }
  }
  copies
}

# The methods for the classes of an object: generic = function.
methods_of <- function(object) {
  registered <- getNamespaceInfo(asNamespace("granary"), "S3methods")
  found <- list()
  for (kind in intersect(class(object), registered[, 2L])) {
    for (i in which(registered[, 2L] == kind)) {
      generic <- sub("^.*::", "", registered[i, 1L])
      if (grepl("<-$", generic) || !is.null(found[[generic]])) next
      found[[generic]] <- get(registered[i, 3L], envir = asNamespace("granary"))
    }
  }
  found
}

# "" where a call says that the object is damaged, else what it did.
judge_damage <- function(method, object, sealed = TRUE) {
  answer <- tryCatch(quietly(suppressWarnings(method(object))), error = identity)
  said <- inherits(answer, "granary_error") && grepl("damaged", conditionMessage(answer), fixed = TRUE)
  if (!sealed || said) return("")
  if (inherits(answer, "error")) paste0("another error: ", conditionMessage(answer)) else "an answer in silence"
}

# Runs the damages of `objects` in this process, from the call numbered `from` on, noting each in `log` before it starts.
sweep_damage <- function(objects, log, from = 1L, sealed = TRUE) {
  number <- 0L
  for (kind in names(objects)) {
    methods <- methods_of(objects[[kind]])
    copies <- damaged_copies(objects[[kind]])
    for (copy in names(copies)) {
      spoiled <- copies[[copy]]
      if (!sealed) attr(spoiled, "shape") <- attr(spoiled, "format") <- NULL
      for (generic in names(methods)) {
        number <- number + 1L
        if (number < from) next
        label <- paste0(generic, "(<", kind, ">): ", copy)
        cat(number, label, "\n", file = log, append = TRUE)
        verdict <- judge_damage(methods[[generic]], spoiled, sealed)
        if (nzchar(verdict)) cat("FAILED", label, "->", gsub("\n", " ", verdict), "\n", file = log, append = TRUE)
      }
    }
  }
  cat("DONE", number, "\n", file = log, append = TRUE)
}

# The same in child processes with `cpu` seconds each: list(calls, failures). A child that dies is started again behind the call that ended it.
sweep_in_children <- function(objects, cpu = 60, sealed = TRUE, deaths = 200L) {
  helpers <- test_helper_files()
  folder <- tempfile("damage_")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  log <- file.path(folder, "log")
  saveRDS(objects, file.path(folder, "objects.rds"))
  script <- file.path(folder, "child.R")
  writeLines(c(
    "arguments <- commandArgs(TRUE)", "library(granary)", "options(granary.progress = FALSE)", "grDevices::pdf(NULL)",
    sprintf("for (file in c(%s)) source(file)", paste0("\"", helpers, "\"", collapse = ", ")),
    sprintf("setwd(\"%s\")", folder),
    sprintf("sweep_damage(readRDS(\"objects.rds\"), \"log\", as.integer(arguments[1L]), %s)", sealed)
  ), script)
  from <- 1L
  failures <- character()
  for (attempt in seq_len(deaths)) {
    run_child(script, from, cpu, folder)
    lines <- if (file.exists(log)) readLines(log, warn = FALSE) else character()
    if (any(grepl("^DONE", lines))) break
    numbered <- grep("^[0-9]+ ", lines, value = TRUE)
    if (length(numbered) == 0L) return(list(calls = 0L, failures = "the child process did not start"))
    last <- numbered[length(numbered)]
    failures <- c(failures, paste("the process ended in", sub("^[0-9]+ ", "", last)))
    from <- as.integer(sub(" .*", "", last)) + 1L
  }
  list(calls = sum(grepl("^[0-9]+ ", lines)), failures = c(failures, sub("^FAILED ", "", grep("^FAILED", lines, value = TRUE))))
}

# Rscript with a limit of CPU seconds, in the library of this session.
run_child <- function(script, argument, cpu, folder) {
  command <- sprintf("ulimit -c 0; ulimit -t %d; R_LIBS='%s' exec '%s' --vanilla '%s' %s > '%s' 2>&1", as.integer(cpu),
                     paste(.libPaths(), collapse = .Platform$path.sep), file.path(R.home("bin"), "Rscript"), script, argument, file.path(folder, "output"))
  suppressWarnings(system(command))
}

test_helper_files <- function() normalizePath(testthat::test_path(c("helper-mutation.R", "helper-damage.R")))
