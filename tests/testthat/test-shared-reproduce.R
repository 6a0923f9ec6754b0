run <- function(code, ...) {
  file <- tempfile(fileext = ".R")
  on.exit(unlink(file))
  writeLines(code, file)
  run_reproduction(file, "jmlr15-quic", ...)
}

test_that("claims are collected and judged", {
  result <- run(c(
    'claim("three", 3, 3.05, 0.1)', 'claim("four", 4, 5, 0.1, "ours is larger")', 'claim("private", 5, NA, 0.1, "needs outside data")',
    'claim("target", NA, 2, NA, "prototype target")', 'claim("holds", TRUE, 1 + 1 == 2, 0)'
  ))
  expect_s3_class(result, "granary_reproduction")
  expect_identical(names(result), c("claim", "paper", "ours", "tolerance", "agrees", "source", "note"))
  expect_identical(result$agrees, c(TRUE, FALSE, NA, NA, TRUE))
})

test_that("print says plainly what does not agree and what cannot be had", {
  text <- paste(capture.output(print(run(c('claim("three", 3, 3, 0)', 'claim("four", 4, 5, 0.1, "ours is larger")',
                                           'claim("private", 5, NA, 0.1, "needs outside data")')))), collapse = "\n")
  expect_match(text, "1 of 3 claims agree, 1 do not, 1 cannot be compared")
  expect_match(text, "Does not agree:\n  - four: ours is larger")
  expect_match(text, "Cannot be compared:\n  - private: needs outside data")
  expect_match(text, "extended = TRUE")
  expect_output(print(run("")), "no claim")
})

test_that("a claim without comparison needs a reason, and a broken script says where it broke", {
  expect_error(run('claim("silent", NA, 1, 0)'), "after 0 claims.*`note` must say why", class = "granary_error")
  expect_error(run(c('claim("one", 1, 1, 0)', 'stop("broken")')), "after 1 claims: broken", class = "granary_error")
  expect_error(run('claim("one", "a", 1, 0)'), "`paper`", class = "granary_error")
})

test_that("scripts see granary, R and `extended`, but nothing of the session", {
  assign("granary_test_variable", 1, envir = globalenv())
  on.exit(rm("granary_test_variable", envir = globalenv()))
  said <- capture.output(result <- run(c('claim("hidden", FALSE, exists("granary_test_variable"), 0)', 'claim("long", TRUE, extended, 0)',
                  'claim("stats", 2, median(c(1, 2, 3)), 0)', 'claim("own", TRUE, is.function(granary_catalog), 0)',
                  'claim("data", 30, nrow(attitude), 0)'), extended = TRUE))
  expect_true(all(result$agrees))
  expect_match(said[5L], "data: paper +30, ours +30")  # the long runs say each claim as it comes
  expect_silent(run('claim("one", 1, 1, 0)'))
})

test_that("the session's random numbers are left as they were", {
  set.seed(1)
  expected <- runif(2)
  set.seed(1)
  first <- runif(1)
  run(c('set.seed(42)', 'invisible(rnorm(10))', 'claim("one", 1, 1, 0)'))
  expect_identical(c(first, runif(1)), expected)
})

test_that("reproduce() lists its keys and explains a wrong one", {
  expect_s3_class(reproduce(), "granary_catalog")
  expect_error(reproduce("jmlr15-quick"), "`key`", class = "granary_error_input")
  expect_error(reproduce(c("jmlr15-quic", "jmlr15-quic")), "`key`", class = "granary_error_input")
  expect_error(reproduce(extended = NA), "`extended`", class = "granary_error_input")
})

test_that("every script belongs to a paper of the catalog", {
  scripts <- list.files(system.file("reproduce", package = "granary"), pattern = "[.]R$")
  expect_identical(setdiff(sub("[.]R$", "", scripts), granary_catalog()$key), character())
  for (script in scripts) expect_silent(parse(system.file("reproduce", script, package = "granary")))
})

test_that("references of our own are counted apart, and vague tolerances are named", {
  result <- run(c('claim("three", 3, 3, 0)', 'claim("prototype", 2, 5, 0.1, source = "reference")', 'claim("vague", 0.1, 0.15, 0.1)'))
  expect_identical(result$source, c("paper", "reference", "paper"))
  text <- paste(capture.output(print(result)), collapse = "\n")
  expect_match(text, "1 of 2 claims agree, 0 do not, 1 cannot be compared")
  expect_match(text, "1 numbers marked \\[reference\\].*1 of them differ")
  expect_match(text, "1 tolerances are as wide as the number: vague")
  expect_error(run('claim("one", 1, 1, 0, source = "memory")'), "`source`", class = "granary_error")
})
