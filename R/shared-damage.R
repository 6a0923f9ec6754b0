# A fit that comes from a file, or that was edited by hand, is input. Whoever makes an object seals it: a seal is the type and the size of every
# field. Every method for granary's classes looks at the seal before it does anything else (guard_methods() writes that line into them while the
# package is installed), and says in a sentence that the fit is damaged, before a field that is gone or too short reaches compiled code.
#
# Fields may be added freely and the call may be changed. What the package itself assigns to a field of a fit is sealed again by `$<-`.

# The version of what a fit holds; it changes when a fit saved by an older granary can no longer be used.
fit_format <- 2L

seal <- function(object) {
  parts <- unclass(object)
  attr(object, "format") <- fit_format
  attr(object, "shape") <- shapes_of(parts[names(parts) != "call"])
  object
}

# "double 3 4" for each field; for a list also what is in it, two levels down.
shapes_of <- function(parts) stats::setNames(core_shapes(parts), names(parts))
shape_of <- function(x) core_shapes(list(x))

# Stops where a field is not as it was when the object was sealed. An object without a seal was made by hand, and passes.
check_fit <- function(object) {
  shape <- attr(object, "shape", exact = TRUE)
  format <- attr(object, "format", exact = TRUE)
  if (is.null(shape) && is.null(format)) return(invisible(object))
  if (is.null(shape) || !identical(format, fit_format)) abort_damaged(object, "its format is another one")
  now <- core_shapes(unclass(object)[names(shape)])
  wrong <- which(now != shape)
  if (length(wrong) == 0L) return(invisible(object))
  field <- names(shape)[wrong[1L]]
  inside <- nchar(now[wrong[1L]]) + nchar(shape[wrong[1L]]) > 100L
  abort_damaged(object, if (now[wrong[1L]] == "NULL") {
    sprintf("`%s` is gone", field)
  } else if (inside) {
    sprintf("`%s` is not what it was", field)
  } else {
    sprintf("`%s` was %s and is %s", field, shape[wrong[1L]], now[wrong[1L]])
  })
}

abort_damaged <- function(object, what) {
  abort_input(sprintf("The object of class %s is damaged or was saved by another version of granary: %s. Make it again.", class(object)[1L], what), "object")
}

assigned_inside <- function(frame) identical(topenv(frame), topenv())

#' @export
`$<-.granary_fit` <- function(x, name, value) {
  sealed <- attr(x, "shape", exact = TRUE)
  x <- NextMethod()
  if (!is.null(sealed) && name != "call" && assigned_inside(parent.frame())) attr(x, "shape")[name] <- shape_of(value)
  x
}

#' @export
`[[<-.granary_fit` <- function(x, i, ..., value) {
  sealed <- attr(x, "shape", exact = TRUE)
  x <- NextMethod()
  if (is.null(sealed) || !assigned_inside(parent.frame())) return(x)
  if (!is.character(i) || length(i) != 1L) return(seal(x))
  if (i != "call") attr(x, "shape")[i] <- shape_of(value)  # one field only: a seal of the whole reads every field
  x
}

#' @export
`[<-.granary_fit` <- function(x, i, ..., value) {
  sealed <- attr(x, "shape", exact = TRUE)
  x <- NextMethod()
  if (!is.null(sealed) && assigned_inside(parent.frame())) x <- seal(x)
  x
}

#' @export
`$<-.granary_kernel` <- `$<-.granary_fit`

#' @export
`$<-.granary_graph` <- `$<-.granary_fit`

#' @export
`$<-.granary_output` <- `$<-.granary_fit`

# Writes check_fit(<first argument>) at the head of every method for a class of granary in `space`.
guard_methods <- function(space) {
  for (name in grep("^[A-Za-z][A-Za-z0-9_.]*\\.(summary_)?granary_", ls(space), value = TRUE)) {
    method <- get(name, envir = space)
    if (!is.function(method) || length(formals(method)) == 0L || names(formals(method))[1L] == "...") next
    body(method) <- call("{", call("check_fit", as.name(names(formals(method))[1L])), body(method))
    assign(name, method, envir = space)
  }
}
