#' The methods of granary
#'
#' One list of everything the package estimates: the key of the paper, what the method is for, and the functions that offer it.
#'
#' @section Which method when:
#' `granary_catalog()` for the whole list, [granary_find()] with your own words.
#'
#' @param pattern A regular expression looked for in every field, whatever the case; `NULL` lists everything.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A data frame of class `granary_catalog` with columns `key`, `title`, `family`, `functions`, `paper` and `use`, printed by family.
#' @seealso [granary_find()], [granary_report()], [granary_session()]
#' @seealso [errata()] for what the papers print wrongly, [reproduce()] to re-make their numbers.
#' @export
#' @examples
#' granary_catalog()
#' granary_catalog("graph")$functions
granary_catalog <- function(pattern = NULL, ...) {
  refuse_dots(...)
  pattern <- check_string(pattern, "pattern", allow_null = TRUE)
  catalog <- method_records()
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

method_fields <- c("Key", "Title", "Family", "Functions", "Paper", "Use", "Task", "Data", "Output", "Size", "Keywords")
errata_fields <- c("Place", "Printed", "Corrected", "Check")

# inst/methods/<key>.dcf holds all that is known of a method: its description first, then one record per erratum of its paper.
method_files <- function() {
  folder <- system.file("methods", package = "granary")
  if (nzchar(folder)) list.files(folder, "[.]dcf$", full.names = TRUE) else character()
}

# The records of one file; text on several lines becomes one line.
read_records <- function(file, fields) {
  records <- read.dcf(file, fields = fields)
  records[] <- trimws(gsub("[[:space:]]+", " ", records))
  records <- as.data.frame(records, stringsAsFactors = FALSE)
  names(records) <- tolower(fields)
  records
}

family_order <- c("graph", "regress", "kernel", "process", "cluster", "latent", "ensemble", "perturb", "rank", "concept", "signal", "neural", "decide")

method_records <- function() {
  found <- lapply(method_files(), function(file) read_records(file, method_fields)[1L, ])
  if (length(found) == 0L) return(as.data.frame(stats::setNames(rep(list(character()), length(method_fields)), tolower(method_fields))))
  table <- do.call(rbind, found)
  table <- table[order(match(table$family, family_order), table$key), ]
  row.names(table) <- NULL
  table
}

errata_records <- function() {
  found <- lapply(method_files(), function(file) {
    records <- read_records(file, c("Key", errata_fields))
    records$key <- records$key[1L]
    records[-1L, ]
  })
  table <- do.call(rbind, found)
  row.names(table) <- NULL
  table
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
