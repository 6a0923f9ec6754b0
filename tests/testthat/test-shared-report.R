read_page <- function(file) gsub("base64,[^\"]+", "base64,...", paste(readLines(file, encoding = "UTF-8", warn = FALSE), collapse = "\n"))

test_that("base64 is that of RFC 4648", {
  texts <- c("", "f", "fo", "foo", "foob", "fooba", "foobar")
  wanted <- c("", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy")
  expect_identical(vapply(texts[-1], function(text) base64(charToRaw(text)), ""), stats::setNames(wanted[-1], texts[-1]))
})

test_that("the report of a regression speaks of the regression", {
  fit <- lasso(mpg ~ ., mtcars)
  page <- read_page(granary_report(fit, title = "Two < three"))
  for (text in c("<h1>Two &lt; three</h1>", "What was asked", "lasso(formula = mpg ~ ., data = mtcars)", "How well it was solved", "duality gap", "How to cite",
                 "data:image/png;base64", "<table>")) {
    expect_true(grepl(text, page, fixed = TRUE), label = text)
  }
  expect_false(grepl("parse graph", page, fixed = TRUE))
})

test_that("a table becomes a graph, and what was left out is said", {
  table <- data.frame(attitude, label = "a", same = 1)
  table$rating[3] <- NA
  page <- read_page(granary_report(table))
  for (text in c("hold no numbers: label", "do not vary: same", "missing values: 1 of 30")) expect_true(grepl(text, page, fixed = TRUE), label = text)
})

test_that("a solver that stopped early is not called done", {
  fit <- suppressWarnings(lasso(mpg ~ ., mtcars, max_iter = 1))
  skip_if(all(convergence_table(fit$convergence)$converged))
  expect_true(grepl("stopped before it was done", read_page(granary_report(fit)), fixed = TRUE))
})

test_that("granary_report() refuses what it cannot use", {
  expect_error(granary_report("a"), "`x`", class = "granary_error_input")
  expect_error(granary_report(data.frame(a = letters)), "two numeric columns", class = "granary_error_input")
  expect_error(granary_report(attitude, output = 1), "`output`", class = "granary_error_input")
  expect_error(granary_report(attitude, output = file.path(tempfile(), "a.html")), "existing folder", class = "granary_error_input")
  expect_error(granary_report(attitude, title = 1), "`title`", class = "granary_error_input")
  expect_error(granary_report(attitude, quiet = "no"), "`quiet`", class = "granary_error_input")
})
