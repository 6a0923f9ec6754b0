document <- c(
  "---", "title: \"`r params$title`\"", "params:", "  title: \"t\"", "  data: null", "  fit: null", "---", "",
  "Mean `r mean(params$data)`.", "", "```{r plot}", "plot(1:3)", "```", "", "```{r table, echo = FALSE}",
  "knitr::kable(head(cars, 2), format = \"pipe\")", "```"
)

render <- function(pandoc) {
  source <- tempfile(fileext = ".Rmd")
  on.exit(unlink(source))
  writeLines(document, source)
  page <- suppressMessages(render_report(source, list(title = "Two < three", data = matrix(2, 2, 2), fit = NULL), pandoc = pandoc))
  read_page(page)
}

# The page with what is embedded cut out: matching patterns in a megabyte of base64 takes minutes.
read_page <- function(file) {
  html <- paste(readLines(file, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  html <- gsub("(data:[a-z]+/)[^\"')]{50,}", "\\1...", html, perl = TRUE)
  gsub("(?s)<(script|style)[^>]*>.*?</\\1>", "", html, perl = TRUE)
}

expect_report <- function(html) {
  expect_true(grepl("Mean 2", html, fixed = TRUE))
  expect_true(grepl("src=\"data:image/", html, fixed = TRUE))
  expect_false(grepl("src=\"(?!data:)", html, perl = TRUE))
  expect_true(grepl("<table", html, fixed = TRUE))
  expect_true(grepl("Two &lt; three", html, fixed = TRUE))
}

test_that("a page is made without pandoc, with its pictures inside", {
  skip_if_not_installed("knitr")
  skip_if_not_installed("markdown")
  before <- knitr::opts_chunk$get()
  expect_report(render(pandoc = FALSE))
  expect_identical(knitr::opts_chunk$get(), before)
})

test_that("a page is made with pandoc, with its pictures inside", {
  skip_if_not(has_pandoc(), "rmarkdown or pandoc is not installed")
  expect_report(render(pandoc = TRUE))
})

test_that("the body of a whole page is taken, a fragment is left alone", {
  expect_identical(html_body("<html><body class=\"a\">x\ny</body></html>"), "x\ny")
  expect_identical(html_body("<p>x</p>"), "<p>x</p>")
})

test_that("granary_report() refuses what it cannot use", {
  expect_error(granary_report("a"), "`x`", class = "granary_error_input")
  expect_error(granary_report(attitude, output = 1), "`output`", class = "granary_error_input")
  expect_error(granary_report(attitude, output = file.path(tempfile(), "a.html")), "existing folder", class = "granary_error_input")
  expect_error(granary_report(attitude, title = NULL), "`title`", class = "granary_error_input")
  expect_error(granary_report(attitude, quiet = "no"), "`quiet`", class = "granary_error_input")
})

test_that("granary_report() reports on data and on a fit", {
  skip_if_not("ggm_lasso" %in% getNamespaceExports("granary"), "the estimator is not exported yet")
  skip_if_not_installed("knitr")
  skip_if_not(has_pandoc() || requireNamespace("markdown", quietly = TRUE), "neither pandoc nor markdown is installed")
  output <- tempfile(fileext = ".html")
  on.exit(unlink(output))
  expect_identical(granary_report(attitude, output), output)
  html <- read_page(output)
  expect_true(grepl("30 rows and 7 columns", html, fixed = TRUE))
  expect_true(grepl("complaints", html, fixed = TRUE))
  expect_gt(length(gregexpr("src=\"data:image/", html, fixed = TRUE)[[1]]), 2)
  fit <- getExportedValue("granary", "ggm_lasso")(scale(attitude), lambda = 0.3)
  expect_true(file.exists(granary_report(fit)))
})
