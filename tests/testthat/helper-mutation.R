# Input mutation: take the example on a function's help page, find the call of the function in it, and spoil each argument in turn.
# Whatever comes in, there are three ways to answer: an error of class granary_error, a result with a warning of class granary_warning, or
# a result. A bare error of R or C++, a warning without class, a fit full of NaN, a result that does not print, and silence for more than
# ten seconds are failures.

# Arguments that are not spoiled, with the reason. A name is "function", or "function argument".
mutation_exceptions <- c(
  "tidy" = "a generic of another package", "glance" = "a generic of another package", "augment" = "a generic of another package",
  "granary_report" = "each call writes a page; test-shared-report.R has its arguments"
)

# Values that stand in for any argument, and values made from the argument itself.
mutations <- function(original) {
  common <- list(
    "NULL" = NULL, "NA" = NA, "NaN" = NaN, "Inf" = Inf, "-Inf" = -Inf, "NA text" = NA_character_, "text" = "granary", "empty text" = "",
    "text in no encoding" = "gran\xe4ry\xff", "a list" = list(1, "a"), "an empty list" = list(), "a negative number" = -1, "zero" = 0, "a fraction" = 0.5, "a huge number" = 1e308,
    "TRUE" = TRUE, "a factor" = factor(c("a", "b")), "a function" = function(x) x, "an environment" = new.env(), "a formula" = y ~ x,
    "a complex number" = 1i, "a date" = as.Date("2020-01-01"), "no numbers" = numeric(), "numbers" = c(3, 1, 2),
    "a data frame" = data.frame(a = 1:3, b = c(2, 0, 1)),
    "a frame with text" = data.frame(a = 1:3, b = letters[1:3]), "an empty frame" = data.frame(), "a 0 x 0 matrix" = matrix(0, 0, 0)
  )
  c(common, mutations_of_table(original), mutations_of_vector(original))
}

mutations_of_table <- function(x) {
  if (!(is.matrix(x) || is.data.frame(x)) || nrow(x) == 0L || ncol(x) == 0L) return(list())
  with_value <- function(value) {
    x[1L, 1L] <- value
    x
  }
  matrix <- as.matrix(x)
  spoiled <- list(
    "no rows" = x[0L, , drop = FALSE], "no columns" = x[, 0L, drop = FALSE], "one row" = x[1L, , drop = FALSE], "one column" = x[, 1L, drop = FALSE],
    "a row too few" = x[-1L, , drop = FALSE], "a column too few" = x[, -1L, drop = FALSE], "as a data frame" = as.data.frame(x), "transposed" = t(x),
    "as text" = array(as.character(matrix), dim(matrix))
  )
  misnamed <- x
  colnames(misnamed) <- c("a\xff", sprintf("V%d", seq_len(ncol(x))))[seq_len(ncol(x))]
  spoiled[["a name in no encoding"]] <- misnamed
  if (requireNamespace("tibble", quietly = TRUE)) {
    spoiled[["as a tibble"]] <- tibble::as_tibble(as.data.frame(x), .name_repair = "unique_quiet")
  }
  if (!is.numeric(matrix)) return(spoiled)
  c(spoiled, list(
    "one NA" = with_value(NA), "one Inf" = with_value(Inf), "one huge value" = with_value(1e308), "all zero" = 0 * x, "all NA" = NA * x,
    "tiny values" = 1e-200 * x, "negated" = -x, "two equal columns" = x[, c(1L, seq_len(ncol(x))), drop = FALSE],
    "as a sparse matrix" = Matrix::Matrix(matrix, sparse = TRUE)
  ))
}

mutations_of_vector <- function(x) {
  if (!is.atomic(x) || is.null(x) || !is.null(dim(x)) || length(x) == 0L) return(list())
  with_na <- x
  with_na[1L] <- NA
  labelled <- if (is.character(x)) replace(x, 1L, "a\xff") else if (is.factor(x)) factor(replace(as.character(x), 1L, "a\xff")) else stats::setNames(x, rep("a\xff", length(x)))
  list("a label in no encoding" = labelled, "one element too many" = c(x, x[1L]), "one element too few" = x[-1L], "backwards" = rev(x), "one element NA" = with_na, "twice" = rep(x, 2L))
}

# The example of every help page: a list of list(aliases, code).
help_examples <- function(package) {
  pages <- tools::Rd_db(package)
  lapply(pages, function(page) {
    tags <- vapply(page, function(part) as.character(attr(part, "Rd_tag")), "")
    aliases <- vapply(page[tags == "\\alias"], function(part) trimws(paste(unlist(part), collapse = "")), "")
    file <- tempfile(fileext = ".R")
    on.exit(unlink(file))
    tools::Rd2ex(page, out = file, commentDontrun = TRUE, commentDonttest = TRUE)
    list(aliases = aliases, code = if (file.exists(file)) parse(file, keep.source = FALSE) else expression())
  })
}

# What to spoil: exported functions, and the methods registered for granary's classes. `called` is the name used in the example.
mutation_targets <- function(package) {
  space <- asNamespace(package)
  exported <- sort(getNamespaceExports(space))
  exported <- exported[vapply(exported, function(name) is.function(getExportedValue(package, name)), NA)]
  functions <- lapply(exported, function(name) list(name = name, called = name, fun = getExportedValue(package, name), class = NULL))
  registered <- getNamespaceInfo(space, "S3methods")
  methods <- list()
  for (i in seq_len(nrow(registered))) {
    name <- paste(registered[i, 1L], registered[i, 2L], sep = ".")
    if (!grepl("granary_", registered[i, 2L]) || !exists(name, space, inherits = FALSE)) next
    called <- sub("^.*::", "", registered[i, 1L])
    methods[[length(methods) + 1L]] <- list(name = name, called = called, fun = get(name, space), class = registered[i, 2L])
  }
  c(functions, methods)
}

# Every call of `name` within an expression, outermost first.
calls_of <- function(expression, name) {
  if (!is.call(expression)) return(list())
  head <- expression[[1L]]
  own <- identical(head, as.name(name)) ||
    (is.call(head) && length(head) == 3L && as.character(head[[1L]]) %in% c("::", ":::") && identical(head[[3L]], as.name(name)))
  inner <- lapply(as.list(expression), function(part) if (missing(part)) list() else calls_of(part, name))
  c(if (own) list(expression), unlist(inner, recursive = FALSE))
}

quietly <- function(code) {
  utils::capture.output(value <- suppressMessages(code))
  value
}

# Runs the example up to the first call of the target that works: list(call, envir, seconds), or NULL.
find_call <- function(target, code, parent = globalenv()) {
  envir <- new.env(parent = parent)
  for (expression in as.list(code)) {
    for (call in calls_of(expression, target$called)) {
      call <- tryCatch(match.call(target$fun, call, envir = envir), error = function(e) NULL)
      if (is.null(call)) next
      # the generic calls its first argument x, the formula method does not
      if (is.call(call$x) && identical(call$x[[1L]], as.name("~"))) names(call)[names(call) == "x"] <- ""
      if (!is.null(target$class)) {
        object <- tryCatch(quietly(eval(call[[2L]], envir)), error = function(e) NULL)
        if (!inherits(object, target$class)) next
      }
      started <- proc.time()[["elapsed"]]
      works <- tryCatch({ quietly(suppressWarnings(eval(call, envir))); TRUE }, error = function(e) FALSE)
      if (works) return(list(call = call, envir = envir, seconds = proc.time()[["elapsed"]] - started))
    }
    quietly(suppressWarnings(try(eval(expression, envir), silent = TRUE)))
  }
  NULL
}

has_nan <- function(x, depth = 0L) {
  if (is.double(x)) return(any(is.nan(x)))
  if (isS4(x) && methods::.hasSlot(x, "x")) return(any(is.nan(x@x)))
  if (is.list(x) && depth < 5L) return(any(vapply(unclass(x)[setdiff(names(x), "convergence")], has_nan, NA, depth = depth + 1L)))
  FALSE
}

# NULL if the answer is a proper one, else what is wrong with it.
judge <- function(call, envir, limit = 10) {
  warned <- NULL
  started <- proc.time()[["elapsed"]]
  too_long <- function() proc.time()[["elapsed"]] - started >= 0.9 * limit
  set.seed(1)
  setTimeLimit(elapsed = limit, transient = TRUE)
  on.exit(setTimeLimit(elapsed = Inf))
  answer <- tryCatch(
    withCallingHandlers(
      quietly({
        value <- eval(call, envir)
        if (any(grepl("^granary", class(value)))) print(value)
        value
      }),
      warning = function(w) {
        if (!inherits(w, "granary_warning")) warned <<- c(warned, conditionMessage(w))
        tryInvokeRestart("muffleWarning")
      }
    ),
    error = identity, interrupt = identity
  )
  setTimeLimit(elapsed = Inf)
  if (inherits(answer, "interrupt") || (inherits(answer, "error") && too_long())) return(paste("no answer within", limit, "seconds"))
  if (inherits(answer, "granary_error")) return(NULL)
  if (inherits(answer, "error")) {
    return(paste0("an error without class: ", conditionMessage(answer), " [in ", paste(deparse(conditionCall(answer))[1L], collapse = ""), "]"))
  }
  if (length(warned) > 0L) return(paste0("a warning without class: ", warned[1L]))
  if (inherits(answer, "granary_fit") && has_nan(answer)) return("a fit that contains NaN")
  NULL
}

# The failures of one target, as lines "function(argument = mutation): what happened".
# A call whose first argument is a formula and has no name.
is_formula_call <- function(call) {
  length(call) > 1L && is.call(call[[2L]]) && identical(call[[2L]][[1L]], as.name("~")) && (is.null(names(call)) || !nzchar(names(call)[2L]))
}

mutate_target <- function(target, found, limit = 10) {
  failures <- lapply(mutation_cases(target, found), function(case) run_case(case, found, limit))
  as.character(unlist(failures))
}

# What to try on one target: list(label, call, kind, call it must agree with).
mutation_cases <- function(target, found, pairs = 5L) {
  arguments <- setdiff(names(formals(target$fun)), "...")
  if (!is.null(target$class)) arguments <- arguments[-1L]
  arguments <- arguments[!paste(target$name, arguments) %in% names(mutation_exceptions)]
  spoil <- function(call, argument, value) {
    call[place_of(found$call, argument)] <- list(as_literal(value))
    call
  }
  values <- stats::setNames(lapply(arguments, function(argument) mutations(original_value(target, found, argument))), arguments)
  cases <- list()
  for (argument in arguments) {
    for (name in names(values[[argument]])) {
      label <- paste0(target$name, "(", argument, " = <", name, ">)")
      cases[[length(cases) + 1L]] <- list(label = label, call = spoil(found$call, argument, values[[argument]][[name]]), kind = "spoiled")
    }
  }
  for (i in seq_len(if (length(arguments) > 1L) pairs else 0L)) {
    two <- sample(arguments, 2L)
    names <- vapply(two, function(argument) sample(names(values[[argument]]), 1L), "")
    call <- spoil(spoil(found$call, two[1L], values[[two[1L]]][[names[1L]]]), two[2L], values[[two[2L]]][[names[2L]]])
    label <- paste0(target$name, "(", paste0(two, " = <", names, ">", collapse = ", "), ")")
    cases[[length(cases) + 1L]] <- list(label = label, call = call, kind = "spoiled")
  }
  c(cases, agreement_cases(target, found, arguments, spoil))
}

# Answers that are known from the answer of the intact call: rows under permuted names, names as a factor; and an argument that nobody knows.
agreement_cases <- function(target, found, arguments, spoil) {
  cases <- list()
  for (argument in arguments) {
    original <- original_value(target, found, argument)
    if (argument == "newdata" && !is.null(colnames(original)) && ncol(original) > 1L) {
      cases[[length(cases) + 1L]] <- list(label = paste0(target$name, "(newdata = <columns in another order>)"), kind = "same",
                                          call = spoil(found$call, argument, original[, rev(seq_len(ncol(original))), drop = FALSE]))
    }
    if (is.character(original) && is.null(dim(original)) && argument %in% names(found$call)) {
      cases[[length(cases) + 1L]] <- list(label = paste0(target$name, "(", argument, " = <a factor of the same names>)"), kind = "same or refused",
                                          call = spoil(found$call, argument, factor(original, levels = rev(unique(original)))))
    }
  }
  if (target$called == "predict") {
    call <- found$call
    call$no_such_argument <- 1
    cases[[length(cases) + 1L]] <- list(label = paste0(target$name, "(no_such_argument = 1)"), call = call, kind = "refused")
  }
  cases
}

place_of <- function(call, argument) if (argument == "x" && is_formula_call(call)) 2L else argument

original_value <- function(target, found, argument) {
  at <- place_of(found$call, argument)
  original <- if (is.numeric(at) || at %in% names(found$call)) tryCatch(quietly(eval(found$call[[at]], found$envir)), error = function(e) NULL)
  required <- identical(formals(target$fun)[[argument]], quote(expr = ))
  if (is.null(original) && !required) original <- tryCatch(eval(formals(target$fun)[[argument]], baseenv()), error = function(e) NULL)
  original
}

# NULL, or the line that says what went wrong. Spoiling an argument may not spoil the next call: each gets variables of its own.
run_case <- function(case, found, limit = 10) {
  fresh <- function() list2env(as.list(found$envir, all.names = TRUE), parent = parent.env(found$envir))
  verdict <- if (case$kind == "spoiled") judge(case$call, fresh(), limit) else judge_agreement(case, found$call, fresh)
  if (!is.null(verdict)) paste0(case$label, ": ", verdict)
}

judge_agreement <- function(case, intact, fresh) {
  answer <- function(call) {
    set.seed(1)
    tryCatch(quietly(suppressWarnings(eval(call, fresh()))), error = identity)
  }
  found <- answer(case$call)
  if (case$kind == "refused") return(if (!inherits(found, "error")) "an argument nobody knows is taken in silence")
  if (inherits(found, "granary_error")) return(if (case$kind == "same") paste("refused:", conditionMessage(found)))
  if (inherits(found, "error")) return(paste0("an error without class: ", conditionMessage(found)))
  if (inherits(found, "granary_fit")) return(NULL)  # its seconds and its call differ
  same <- all.equal(found, answer(intact), check.attributes = FALSE)
  if (!isTRUE(same)) paste("another answer:", same[1L])
}

# ---- in child processes ---------------------------------------------------------------------------------------------------------------------------

# One share of the targets in this process: first one case of each, then a second, until all are done or `seconds` are over. Writes to `log` what is
# about to run, what failed and what was left.
mutation_share <- function(names, log, seed, seconds, skip = character()) {
  say <- function(...) cat(..., "\n", file = log, append = TRUE)
  spent <- function() sum(proc.time()[1:2])  # CPU seconds: a busy machine leaves no cases out
  deadline <- spent() + seconds
  examples <- help_examples("granary")
  session <- list2env(mget(getNamespaceExports("granary"), envir = asNamespace("granary"), inherits = TRUE), parent = globalenv())
  ready <- list()
  for (target in Filter(function(target) target$name %in% names, mutation_targets("granary"))) {
    pages <- Filter(function(page) target$name %in% page$aliases, examples)
    found <- NULL
    say("RUN", paste0("the example of ", target$name))
    for (page in pages) if (is.null(found)) found <- find_call(target, page$code, session)
    # a method need not be shown on its own; a function must be
    if (is.null(found) && is.null(target$class)) say("FAILED", paste0(target$name, "(): no call of it works in the example on its help page"))
    if (is.null(found)) next
    set.seed(seed)
    cases <- mutation_cases(target, found)
    cases <- cases[sample.int(length(cases))]
    ready[[target$name]] <- list(target = target, found = found, cases = cases, nth = 0L)
  }
  left <- length(ready)
  while (left > 0L) {
    left <- 0L
    for (name in names(ready)) {
      item <- ready[[name]]
      if (item$nth >= length(item$cases)) next
      if (spent() > deadline) {
        say("LEFT", name, item$nth, length(item$cases))
        next
      }
      left <- left + 1L
      ready[[name]]$nth <- item$nth + 1L
      case <- item$cases[[item$nth + 1L]]
      if (case$label %in% skip) next
      say("RUN", case$label)
      failure <- run_case(case, item$found)
      if (!is.null(failure)) say("FAILED", gsub("\n", " ", failure))
    }
  }
  say("DONE")
}

# A share in child processes with a limit of CPU seconds; a child that dies names the case, and the next one goes on without it.
mutation_in_children <- function(names, seed, seconds, deaths = 10L) {
  folder <- tempfile("mutation_")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  log <- file.path(folder, "log")
  script <- file.path(folder, "child.R")
  deadly <- character()
  lines <- character()
  failures <- character()
  left <- character()
  for (attempt in seq_len(deaths)) {
    unlink(log)
    saveRDS(list(names = names, skip = deadly), file.path(folder, "share.rds"))
    writeLines(c(
      "library(granary)", "options(granary.progress = FALSE)", "grDevices::pdf(NULL)",
      sprintf("for (file in c(%s)) source(file)", paste0("\"", test_helper_files(), "\"", collapse = ", ")),
      sprintf("setwd(\"%s\")", folder), "share <- readRDS(\"share.rds\")",
      sprintf("mutation_share(share$names, \"log\", %d, %g, share$skip)", seed, seconds)
    ), script)
    run_child(script, "", 2 * seconds + 60, folder)
    lines <- if (file.exists(log)) readLines(log, warn = FALSE) else character()
    failures <- c(failures, sub("^FAILED ", "", grep("^FAILED", lines, value = TRUE, useBytes = TRUE)))
    left <- sub("^LEFT ", "", grep("^LEFT", lines, value = TRUE, useBytes = TRUE))
    if (any(grepl("^DONE", lines, useBytes = TRUE))) break
    started <- grep("^RUN", lines, value = TRUE, useBytes = TRUE)
    last <- if (length(started) > 0L) trimws(sub("^RUN ", "", started[length(started)])) else "nothing: it did not start"
    failures <- c(failures, paste("the process ended in", last))
    if (length(started) == 0L) break
    deadly <- c(deadly, last)
  }
  list(calls = sum(grepl("^RUN", lines, useBytes = TRUE)), failures = unique(failures), left = left)
}

# Formulas are calls and would be evaluated; a quoted one stands for itself.
as_literal <- function(value) {
  if (is.language(value)) call("quote", value) else value
}
