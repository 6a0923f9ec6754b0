#' What the papers print wrongly
#'
#' Implementing a paper line by line finds its slips: a sign, a missing case, a table whose columns cannot all be right. This is the list of
#' those that granary found, with the form it uses instead and the check that tells the two apart, so that nobody has to find them again.
#' Matters of taste, and details a paper merely leaves open, are not listed.
#'
#' @section Which method when:
#' `errata()` when a formula of granary differs from that in the paper; [reproduce()] for its numbers.
#'
#' @param key The key of a paper, as in [granary_catalog()], or several; `NULL` for all papers.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A data frame of class `granary_errata` with columns `key`, `place`, `printed`, `corrected` and `check`, one row per erratum,
#'   printed by paper. It has no rows for a paper in which nothing was found.
#' @seealso [granary_find()], [granary_catalog()], [granary_report()], [reproduce()], [granary_session()]
#' @export
#' @examples
#' errata("jmlr15-quic")
#' errata()[, c("key", "place")]
errata <- function(key = NULL, ...) {
  refuse_dots(...)
  found <- errata_records()
  if (!is.null(key)) {
    known <- granary_catalog()$key
    check_keys(key, union(known, found$key))
    found <- found[found$key %in% key, ]
    row.names(found) <- NULL
  }
  structure(found, class = c("granary_errata", "data.frame"), keys = key)
}

check_keys <- function(key, known, arg = "key", one = FALSE) {
  expected <- if (one) "the key of a paper" else "the keys of papers"
  usable <- is.character(key) && !is.object(key) && length(key) > 0L && !anyNA(key) && (!one || length(key) == 1L)
  if (!usable) fail_input(arg, expected, describe(key), "granary_catalog() lists the keys.")
  unknown <- setdiff(key, known)
  if (length(unknown) > 0L) {
    near <- if (length(known) > 0L) known[which.min(utils::adist(unknown[1L], known, ignore.case = TRUE, partial = TRUE))]
    fail_input(arg, expected, describe(unknown[1L]), paste0(
      if (length(near) > 0L) paste0("The nearest is \"", near, "\"; "), "granary_catalog() lists the keys."
    ))
  }
  key
}

#' @export
print.granary_errata <- function(x, ...) {
  if (!all(c("key", "place", "printed", "corrected", "check") %in% names(x))) return(NextMethod())  # a subset of the columns
  if (nrow(x) == 0L) {
    keys <- attr(x, "keys")
    cli::cat_line("No errata are known", if (length(keys) > 0L) paste0(" for ", paste(keys, collapse = ", ")), ".")
    return(invisible(x))
  }
  papers <- granary_catalog()
  for (key in unique(x$key)) {
    cli::cat_line(cli::rule(left = key, width = min(80L, cli::console_width())))
    paper <- papers$paper[papers$key == key]
    if (length(paper) == 1L) cat_wrapped(paper, indent = 0L)
    for (i in which(x$key == key)) {
      cli::cat_line()
      cli::cat_line(cli::style_bold(x$place[i]))
      cat_wrapped(x$printed[i], prefix = "printed    ")
      cat_wrapped(x$corrected[i], prefix = "corrected  ")
      cat_wrapped(x$check[i], prefix = "check      ")
    }
  }
  invisible(x)
}
