#' A report on a sparse graph
#'
#' Writes an HTML page about a Gaussian graphical model: the fit, its network, its path, the heat map of partial correlations, the
#' strongest edges and the certificate of the solver. From data it first estimates the graph, with the graphical lasso and the extended
#' BIC, after standardising the columns.
#'
#' The page is one file with its pictures inside. It is made with \pkg{rmarkdown} where pandoc is installed, otherwise with \pkg{knitr} and
#' \pkg{markdown}. The same document is offered as an R Markdown template ("granary report"), to be edited.
#'
#' @param x A numeric matrix or data frame, one row per observation; or a fit of [ggm_lasso()] or [ggm_select()].
#' @param output The file to write.
#' @param title The title of the page.
#' @param quiet Say nothing on the way?
#' @return The path of the file, invisibly.
#' @family infrastructure
#' @export
#' @examples
#' \donttest{
#' page <- granary_report(attitude)
#' if (interactive()) browseURL(page)
#' }
granary_report <- function(x, output = tempfile(fileext = ".html"), title = "A sparse graph", quiet = TRUE) {
  if (missing(x)) fail_missing("x")
  if (!inherits(x, "granary_fit")) x <- check_matrix(x, "x", min_rows = 2L, min_cols = 2L)
  output <- check_string(output, "output")
  title <- check_string(title, "title")
  quiet <- check_flag(quiet, "quiet")
  folder <- dirname(output)
  if (!dir.exists(folder)) {
    abort_input(paste0("`output` must lie in an existing folder, but there is no folder \"", folder, "\".\nCreate it with dir.create()."),
                arg = "output")
  }
  check_installed("knitr", "to write a report")
  params <- if (inherits(x, "granary_fit")) list(data = NULL, fit = x) else list(data = x, fit = NULL)
  skeleton <- system.file("rmarkdown", "templates", "granary_report", "skeleton", "skeleton.Rmd", package = "granary")
  page <- render_report(skeleton, c(params, list(title = title)), quiet)
  if (!file.copy(page, output, overwrite = TRUE)) {
    abort_input(paste0("`output` must be a file that can be written, but \"", output, "\" cannot."), arg = "output")
  }
  if (!quiet) cli::cat_line("Report written to ", output)
  invisible(output)
}

# Renders an R Markdown file in a folder of its own and returns the page.
render_report <- function(source, params, quiet = TRUE, pandoc = has_pandoc()) {
  folder <- tempfile("granary_report_")
  dir.create(folder)
  document <- file.path(folder, "report.Rmd")
  file.copy(source, document)
  # parent: the namespace, so that the document works without library(granary)
  envir <- new.env(parent = new_scope())
  if (pandoc) {
    rmarkdown::render(document, rmarkdown::html_document(mathjax = NULL, self_contained = TRUE), params = params, envir = envir, quiet = quiet)
  } else {
    render_with_markdown(document, params, envir, quiet)
  }
}

new_scope <- function() {
  own <- topenv()
  exported <- if (isNamespace(own)) getNamespaceExports(own) else ls(own)
  list2env(mget(exported, envir = own, inherits = TRUE), parent = globalenv())
}

has_pandoc <- function() {
  requireNamespace("rmarkdown", quietly = TRUE) && rmarkdown::pandoc_available("1.12.3")
}

render_with_markdown <- function(document, params, envir, quiet) {
  to_html <- markdown_converter()
  envir$params <- params
  saved <- list(chunk = knitr::opts_chunk$get(), knit = knitr::opts_knit$get())
  on.exit({
    knitr::opts_chunk$restore(saved$chunk)
    knitr::opts_knit$restore(saved$knit)
  })
  folder <- dirname(document)
  knitr::opts_knit$set(base.dir = folder, root.dir = folder)
  knitr::opts_chunk$set(fig.path = "figure/")
  result <- knitr::knit(document, output = file.path(folder, "report.md"), envir = envir, quiet = quiet)
  text <- readLines(result, encoding = "UTF-8", warn = FALSE)
  rules <- which(text == "---")
  if (length(rules) >= 2L && rules[1L] == 1L) text <- text[-seq_len(rules[2L])]  # the header is for rmarkdown
  back <- setwd(folder)  # where the converter looks for the pictures
  on.exit(setwd(back), add = TRUE)
  body <- embed_images(to_html(text), folder)
  page <- file.path(folder, "report.html")
  writeLines(enc2utf8(html_page(params$title, body)), page, useBytes = TRUE)
  page
}

# markdown 1.x converts by itself, 2.x through litedown; both call it mark().
markdown_converter <- function() {
  for (package in c("markdown", "litedown")) {
    usable <- requireNamespace(package, quietly = TRUE) && "mark" %in% getNamespaceExports(package)
    if (usable) {
      mark <- getExportedValue(package, "mark")
      return(function(text) html_body(paste(mark(text = text), collapse = "\n")))
    }
  }
  abort_input(paste0("A report needs pandoc with the package rmarkdown, or the package markdown (1.3 or later).\n",
                     "Install the latter with install.packages(\"markdown\")."))
}

html_body <- function(html) {
  if (!grepl("<body", html, fixed = TRUE)) return(html)
  sub("(?s)</body>.*$", "", sub("(?s)^.*<body[^>]*>", "", html, perl = TRUE), perl = TRUE)
}

embed_images <- function(html, folder) {
  found <- unique(regmatches(html, gregexpr("src=\"[^\"]+\"", html))[[1L]])
  for (source in found) {
    file <- file.path(folder, utils::URLdecode(substr(source, 6L, nchar(source) - 1L)))
    if (file.exists(file)) html <- gsub(source, paste0("src=\"", knitr::image_uri(file), "\""), html, fixed = TRUE)
  }
  html
}

html_page <- function(title, body) {
  escape <- function(text) gsub(">", "&gt;", gsub("<", "&lt;", gsub("&", "&amp;", text, fixed = TRUE), fixed = TRUE), fixed = TRUE)
  style <- paste(
    "body { max-width: 50em; margin: 2em auto; padding: 0 1em; font-family: sans-serif; line-height: 1.5; color: #222 }",
    "img { max-width: 100% } pre { background: #f6f6f6; padding: .6em; overflow-x: auto }",
    "table { border-collapse: collapse } td, th { padding: .2em .8em; border-bottom: 1px solid #ddd; text-align: left }",
    sep = "\n"
  )
  c(
    "<!DOCTYPE html>", "<html lang=\"en\">", "<head>", "<meta charset=\"utf-8\">", paste0("<title>", escape(title), "</title>"),
    paste0("<style>\n", style, "\n</style>"), "</head>", "<body>", paste0("<h1>", escape(title), "</h1>"), body, "</body>", "</html>"
  )
}
