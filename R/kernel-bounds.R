# The body of a <stem>_bounds(what, ...): the function that goes with the word, called with arguments that must be its own.
by_what <- function(what, functions, ...) {
  wanted <- functions[[check_choice(what, names(functions), "what")]]
  refuse_dots_of(wanted, ...)
  wanted(...)
}

# An argument that `f` does not have is an error that says so.
refuse_dots_of <- function(f, ...) {
  known <- names(formals(f))
  given <- names(list(...))
  unknown <- setdiff(given[nzchar(given)], known)
  if (length(unknown) > 0L) {
    abort_input(paste0("There is no argument `", unknown[1L], "` here.", did_you_mean(unknown[1L], known, "`"), " There are ",
                       paste0("`", known, "`", collapse = ", "), "."), unknown[1L])
  }
  if (...length() > length(known)) abort_input(sprintf("There are %d arguments at most here, but %d were given.", length(known), ...length()))
}
