#' A report on a fit
#'
#' Writes an HTML page about any fit of granary: what was asked, the estimates with their pictures, how well the problem was solved and what that means,
#' how to cite the method, and the session. From a table of data it first estimates a sparse graph of the numeric columns, with the graphical lasso and the
#' extended BIC, after standardising them, and says what it left out.
#'
#' The page is one file with its pictures inside; neither pandoc nor another package is needed. An R Markdown template ("granary report") is there too, for a
#' report that is to be edited.
#'
#' @section Which method when:
#' `granary_report()` for a page to send or keep; `summary()`, `tidy()` and `plot()` while working.
#'
#' @param x A fit of granary; or a numeric matrix or a data frame, one row per observation.
#' @param output The file to write.
#' @param title The title of the page; `NULL` for the name of the method.
#' @param quiet Say nothing on the way?
#' @param ... Nothing: an argument that is not known is an error.
#' @return The path of the file, invisibly.
#' @seealso [granary_find()], [granary_catalog()], [reproduce()], [granary_session()]
#' @export
#' @examples
#' page <- granary_report(lasso(mpg ~ ., mtcars))
#' if (interactive()) browseURL(page)
granary_report <- function(x, output = tempfile(fileext = ".html"), title = NULL, quiet = TRUE, ...) {
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  title <- check_string(title, "title", allow_null = TRUE)
  output <- check_string(output, "output")
  quiet <- check_flag(quiet, "quiet")
  folder <- dirname(output)
  if (!dir.exists(folder)) {
    abort_input(paste0("`output` must lie in an existing folder, but there is no folder \"", folder, "\".\nCreate it with dir.create()."),
                arg = "output")
  }
  notes <- character()
  if (!inherits(x, "granary_fit")) {
    table <- report_table(x)
    notes <- table$notes
    x <- report_graph(table$x)
  }
  check_fit(x)
  page <- html_page(if (is.null(title)) report_title(x) else title, report_body(x, notes))
  written <- tryCatch({
    writeLines(enc2utf8(page), output, useBytes = TRUE)
    TRUE
  }, error = function(e) FALSE, warning = function(w) FALSE)
  if (!written) abort_input(paste0("`output` must be a file that can be written, but \"", output, "\" cannot."), arg = "output")
  if (!quiet) cli::cat_line("Report written to ", output)
  invisible(output)
}

# The columns and rows of a table that a graph can be made of, and in words what was left out.
report_table <- function(x) {
  if (!is.data.frame(x)) return(list(x = check_matrix(x, "x", min_rows = 2L, min_cols = 2L), notes = character()))
  usable <- vapply(x, function(column) is.null(dim(column)) && (is_plain_numeric(column) || (is.logical(column) && !is.object(column))), NA)
  varies <- vapply(x, function(column) length(unique(column[!is.na(column)])) > 1L, NA)
  notes <- character()
  if (any(!usable)) notes <- c(notes, paste0("Columns left out because they hold no numbers: ", paste(names(x)[!usable], collapse = ", "), "."))
  if (any(usable & !varies)) notes <- c(notes, paste0("Columns left out because they do not vary: ", paste(names(x)[usable & !varies], collapse = ", "), "."))
  kept <- x[usable & varies]
  if (length(kept) < 2L) abort_input("`x` must have at least two numeric columns that vary.", "x")
  whole <- stats::complete.cases(kept)
  if (any(!whole)) notes <- c(notes, sprintf("Rows left out because of missing values: %d of %d.", sum(!whole), nrow(kept)))
  list(x = check_matrix(kept[whole, , drop = FALSE], "x", min_rows = 2L, min_cols = 2L), notes = notes)
}

report_graph <- function(x) ggm_select(ggm_lasso(scale(x)))

report_fit <- function(fit) if (inherits(fit, "granary_selection")) fit$fit else fit

# The record of the catalogue whose functions include the one that made the fit, or NULL.
report_method <- function(fit) {
  made_by <- unique(c(if (is.call(fit$call)) as.character(fit$call[[1L]])[1L], sub("^granary_", "", class(fit))))
  catalog <- granary_catalog()
  for (name in made_by) {
    at <- which(vapply(catalog$functions, function(f) name %in% split_words(f), NA))
    if (length(at) > 0L) return(catalog[at[1L], ])
  }
  NULL
}

report_title <- function(fit) {
  method <- report_method(fit)
  if (is.null(method)) sub("^granary: ", "", fit_title(fit)) else method$title
}

report_body <- function(fit, notes) {
  method <- report_method(fit)
  c(
    html_section("What was asked", if (!is.null(method)) html_text(method$use), if (is.call(fit$call)) html_code(paste(deparse(fit$call), collapse = "\n")),
                 html_text(notes)),
    html_section("The answer", html_code(report_capture(fit)), report_estimates(fit)),
    html_section("Pictures", report_pictures(fit)),
    html_section("How well it was solved", report_solver(fit)),
    html_section("How to cite", html_text(if (!is.null(method)) method$paper), html_text(paste0(
      "granary ", utils::packageVersion("granary"), "; citation(\"granary\") has the entry."))),
    html_section("Session", html_code(utils::capture.output(print(granary_session()))))
  )
}

report_capture <- function(fit) utils::capture.output(print(fit))

# The first rows of tidy(), where the fit has it.
report_estimates <- function(fit) {
  table <- tryCatch(tidy(fit), error = function(e) NULL)
  if (!is.data.frame(table) || nrow(table) == 0L) return(NULL)
  shown <- utils::head(table[vapply(table, is.atomic, NA)], 20L)
  c(html_table(shown), if (nrow(table) > 20L) html_text(sprintf("The first 20 of %d rows of tidy().", nrow(table))))
}

report_pictures <- function(fit) {
  method <- plot_method(fit)
  types <- tryCatch(eval(formals(method)$type), error = function(e) NULL)
  calls <- if (is.character(types) && length(types) > 1L) types else list(NULL)
  pictures <- unlist(lapply(calls, function(type) html_picture(function() if (is.null(type)) plot(fit) else plot(fit, type = type))))
  if (length(pictures) == 0L) html_text("This kind of fit has no picture.") else pictures
}

plot_method <- function(fit) {
  for (class in class(fit)) {
    method <- utils::getS3method("plot", class, optional = TRUE, envir = topenv())
    if (!is.null(method)) return(method)
  }
  NULL
}

# One sentence per fact of the convergence record, in plain words.
report_solver <- function(fit) {
  table <- convergence_table(report_fit(fit)$convergence)
  meaning <- c(
    if (all(is.na(table$converged))) "The estimate has a closed form or was found by enumeration: there is nothing to converge.",
    if (any(table$converged %in% FALSE)) paste0(
      "The solver stopped before it was done (", paste(unique(table$reason[table$converged %in% FALSE]), collapse = ", "),
      "): read the estimates with care, raise `max_iter`, or loosen `tol`."),
    if (all(table$converged %in% TRUE)) "The stopping rule was met. It is computed from the answer that is returned, not from the course of the solver.",
    if (any(!is.na(table$gap))) paste0("The duality gap bounds how far the objective can be from its optimum: at most ", format(max(table$gap, 0, na.rm = TRUE), digits = 2L), ".")
  )
  c(html_text(format_convergence(report_fit(fit)$convergence)), html_text(meaning))
}

# ---- HTML, by hand --------------------------------------------------------------------------------------------------------------------------------

html_escape <- function(text) gsub("\"", "&quot;", gsub(">", "&gt;", gsub("<", "&lt;", gsub("&", "&amp;", text, fixed = TRUE), fixed = TRUE), fixed = TRUE), fixed = TRUE)
html_text <- function(text) if (length(text) > 0L) paste0("<p>", html_escape(text), "</p>")
html_code <- function(text) paste0("<pre>", html_escape(paste(cli::ansi_strip(text), collapse = "\n")), "</pre>")
html_section <- function(title, ...) c(paste0("<h2>", html_escape(title), "</h2>"), ...)

html_table <- function(table) {
  cells <- vapply(table, function(column) if (is.numeric(column)) format(column, digits = 4L, trim = TRUE) else as.character(column), character(nrow(table)))
  cells <- matrix(html_escape(cells), nrow(table))
  row <- function(values, tag) paste0("<tr>", paste0("<", tag, ">", values, "</", tag, ">", collapse = ""), "</tr>")
  c("<table>", row(html_escape(names(table)), "th"), apply(cells, 1L, row, tag = "td"), "</table>")
}

# What `show` draws, as an image inside the page; NULL where it draws nothing.
html_picture <- function(show) {
  if (!capabilities("png")) return(html_text("This R cannot write PNG pictures."))
  file <- tempfile(fileext = ".png")
  on.exit(unlink(file))
  grDevices::png(file, width = 1200, height = 900, res = 150)
  drawn <- tryCatch({
    suppressMessages(utils::capture.output(show()))
    TRUE
  }, error = function(e) FALSE, finally = grDevices::dev.off())
  if (!drawn || !file.exists(file)) return(NULL)
  paste0("<p><img alt=\"picture of the fit\" src=\"data:image/png;base64,", base64(readBin(file, "raw", file.size(file))), "\"></p>")
}

# RFC 4648.
base64 <- function(bytes) {
  alphabet <- c(LETTERS, letters, 0:9, "+", "/")
  padding <- (3L - length(bytes) %% 3L) %% 3L
  triples <- matrix(as.integer(c(bytes, raw(padding))), 3L)
  value <- triples[1L, ] * 65536L + triples[2L, ] * 256L + triples[3L, ]
  letters <- rbind(alphabet[value %/% 262144L + 1L], alphabet[value %/% 4096L %% 64L + 1L], alphabet[value %/% 64L %% 64L + 1L], alphabet[value %% 64L + 1L])
  if (padding > 0L) letters[length(letters) + 1L - seq_len(padding)] <- "="
  paste(letters, collapse = "")
}

html_page <- function(title, body) {
  style <- paste(
    "body { max-width: 50em; margin: 2em auto; padding: 0 1em; font-family: sans-serif; line-height: 1.5; color: #222 }",
    "img { max-width: 100% } pre { background: #f6f6f6; padding: .6em; overflow-x: auto }",
    "table { border-collapse: collapse } td, th { padding: .2em .8em; border-bottom: 1px solid #ddd; text-align: left }",
    sep = "\n"
  )
  c(
    "<!DOCTYPE html>", "<html lang=\"en\">", "<head>", "<meta charset=\"utf-8\">", paste0("<title>", html_escape(title), "</title>"),
    paste0("<style>\n", style, "\n</style>"), "</head>", "<body>", paste0("<h1>", html_escape(title), "</h1>"), body, "</body>", "</html>"
  )
}
