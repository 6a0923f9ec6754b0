#' The methods of granary
#'
#' One list of everything the package estimates: the key of the paper, what the method is for, and the functions that offer it.
#'
#' @param pattern A regular expression looked for in every field, whatever the case; `NULL` lists everything.
#' @return A data frame of class `granary_catalog` with columns `key`, `title`, `family`, `functions`, `paper` and `use`, printed by family.
#' @family infrastructure
#' @seealso [errata()] for what the papers print wrongly, [reproduce()] to re-make their numbers.
#' @export
#' @examples
#' granary_catalog()
#' granary_catalog("graph")$functions
granary_catalog <- function(pattern = NULL) {
  pattern <- check_string(pattern, "pattern", allow_null = TRUE)
  catalog <- read_records("catalog.dcf", c("Key", "Title", "Family", "Functions", "Paper", "Use"))
  if (!is.null(pattern)) {
    text <- do.call(paste, c(catalog, sep = "\n"))
    catalog <- catalog[matches(pattern, text), ]
    row.names(catalog) <- NULL
  }
  structure(catalog, class = c("granary_catalog", "data.frame"), pattern = pattern)
}

#' @export
print.granary_catalog <- function(x, ...) {
  if (!all(c("key", "title", "family", "functions") %in% names(x))) return(NextMethod())  # a subset of the columns
  if (nrow(x) == 0L) {
    pattern <- attr(x, "pattern")
    cli::cat_line(if (is.null(pattern)) "No method." else paste0("No method matches \"", pattern, "\"."))
    cli::cat_line("granary_catalog() lists all of them.")
    return(invisible(x))
  }
  for (family in unique(x$family)) {
    cli::cat_line(cli::rule(left = family, width = min(80L, cli::console_width())))
    for (i in which(x$family == family)) {
      cli::cat_line(cli::style_bold(x$title[i]), " [", x$key[i], "]")
      cat_wrapped(paste0(split_words(x$functions[i]), "()", collapse = ", "))
      if (!is.null(x$use)) cat_wrapped(x$use[i])
      if (!is.null(x$paper)) cat_wrapped(x$paper[i])
    }
  }
  invisible(x)
}

catalog_functions <- function() {
  unique(unlist(lapply(granary_catalog()$functions, split_words)))
}

# Every record of a file in Debian control format that ships with the package; text on several lines becomes one line.
read_records <- function(file, fields) {
  path <- system.file(file, package = "granary")
  empty <- stats::setNames(rep(list(character()), length(fields)), tolower(fields))
  if (!nzchar(path)) return(as.data.frame(empty))
  records <- read.dcf(path, fields = fields)
  records[] <- trimws(gsub("[[:space:]]+", " ", records))
  records <- as.data.frame(records, stringsAsFactors = FALSE)
  names(records) <- tolower(fields)
  records
}

# A regular expression, or where the user's text is none, the text itself.
matches <- function(pattern, text) {
  tryCatch(
    suppressWarnings(grepl(pattern, text, ignore.case = TRUE)),
    error = function(e) grepl(tolower(pattern), tolower(text), fixed = TRUE)
  )
}

split_words <- function(text) {
  words <- strsplit(text, "[[:space:],]+")[[1L]]
  words[nzchar(words)]
}

cat_wrapped <- function(text, indent = 2L, prefix = "") {
  width <- max(40L, min(100L, cli::console_width())) - 1L
  first <- paste0(strrep(" ", indent), prefix)
  lines <- strwrap(text, width = width, initial = first, prefix = strrep(" ", nchar(first)))
  cli::cat_line(lines)
}
