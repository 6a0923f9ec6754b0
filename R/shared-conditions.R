# Conditions: every error and warning of the package has a class, and its call is the call the user wrote.
#
#   granary_error_input      an argument is not what was asked for
#   granary_error_numeric    the computation cannot go on, though the input looked right
#   granary_warning_input    the input is usable, but probably not what was meant
#   granary_warning_convergence   a solver stopped before it was done

abort_input <- function(message, arg = NULL, call = user_call()) {
  stop(granary_condition(message, c("granary_error_input", "granary_error", "error"), call, arg = arg))
}

abort_numeric <- function(message, call = user_call()) {
  stop(granary_condition(message, c("granary_error_numeric", "granary_error", "error"), call))
}

warn_input <- function(message, arg = NULL, call = user_call()) {
  warning(granary_condition(message, c("granary_warning_input", "granary_warning", "warning"), call, arg = arg))
}

warn_convergence <- function(message, convergence = NULL, call = user_call()) {
  classes <- c("granary_warning_convergence", "granary_warning", "warning")
  warning(granary_condition(message, classes, call, convergence = convergence))
}

granary_condition <- function(message, class, call, ...) {
  message <- cli::ansi_strip(paste(message, collapse = "\n"))
  structure(class = c(class, "condition"), list(message = message, call = call, ...))
}

# What goes wrong in compiled code comes back through here (raise() in src/r_core.cpp), called in the frame above the export.
core_raise <- function(kind, text) {
  call <- user_call(sys.nframe() - 1L)
  switch(kind,
    interrupt = signal_interrupt(),
    input = abort_input(text, call = call),
    numeric = abort_numeric(text, call = call),
    memory = abort_numeric("There is not enough memory for this problem. Use fewer rows or columns, or a sparser input.", call = call),
    abort_numeric(paste0(
      "The compiled code stopped unexpectedly: ", text, ".\n",
      "This is a defect in granary: please report it with the data or the call that led here."
    ), call = call)
  )
}

# What Ctrl-C does in R: handlers for `interrupt` see it, and where there is none the computation is abandoned; a script ends.
signal_interrupt <- function() {
  signalCondition(structure(class = c("interrupt", "condition"), list(message = "interrupted by the user", call = NULL)))
  invokeRestart("abort")
}

# The call of the outermost granary function on the way from here to the user's code. It follows callers rather than the
# stack, so that in select(fit(x)) an error while x is fitted belongs to fit(), although select() forced it.
user_call <- function(frame = sys.parents()[sys.nframe()]) {
  force(frame)
  parents <- sys.parents()
  home <- topenv()
  found <- NULL
  while (frame > 0L) {
    fun <- sys.function(frame)
    owner <- topenv(environment(fun))
    if (identical(owner, home)) {
      found <- sys.call(frame)
    } else if (!identical(owner, baseenv()) && !identical(owner, .BaseNamespaceEnv)) {
      break
    } else if (identical(fun, eval) || identical(fun, evalq)) {
      break
    }
    if (parents[frame] >= frame) break
    frame <- parents[frame]
  }
  shorten_call(user_words(found, home))
}

# A method is called by the name of its generic: gen_lasso(...), not gen_lasso.default(...).
user_words <- function(call, home = topenv()) {
  if (is.null(call) || !is.name(call[[1L]])) return(call)
  generic <- sub("[.](default|formula)$", "", as.character(call[[1L]]))
  if (generic != as.character(call[[1L]]) && exists(generic, home, inherits = FALSE)) call[[1L]] <- as.name(generic)
  call
}

# do.call() puts whole data sets into the call; nobody wants them in an error message.
shorten_call <- function(call) {
  if (is.null(call)) return(NULL)
  short <- function(part) {
    is.language(part) || is.null(part) || identical(part, quote(expr = )) || (is.atomic(part) && length(part) == 1L && printable(part))  # nolint: spaces_inside_linter.
  }
  printable <- function(part) all(validEnc(as.character(c(names(part), if (is.character(part)) part, levels(part)))))
  parts <- as.list(call)
  if (is.function(parts[[1L]])) parts[[1L]] <- quote(granary)
  long <- !vapply(parts, short, NA)
  parts[long] <- list(quote(...))
  as.call(parts)
}
