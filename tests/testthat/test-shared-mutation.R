# The harness itself, on functions with known faults.

toy <- function(fun) list(name = "toy", called = "toy", fun = fun, class = NULL)

try_toy <- function(fun, code, limit = 10) {
  target <- toy(fun)
  parent <- list2env(list(toy = fun), parent = globalenv())
  found <- find_call(target, code, parent)
  list(found = found, failures = if (!is.null(found)) mutate_target(target, found, limit))
}

test_that("a function that checks its arguments passes", {
  sound <- function(x, k = 1, type = c("a", "b")) {
    x <- check_matrix(x, "x", min_rows = 2L)
    k <- check_count(k, "k")
    type <- check_choice(type, c("a", "b"), "type")
    colMeans(x) * k
  }
  result <- try_toy(sound, expression(y <- matrix(1:6 + 0.5, 3), z <- sum(toy(y))))
  expect_identical(result$found$call, quote(toy(x = y)))
  expect_identical(result$failures, character())
})

test_that("bare errors and warnings are caught, with function, argument and mutation", {
  careless <- function(x) sum(sqrt(x))
  failures <- try_toy(careless, expression(toy(c(1, 2))))$failures
  expect_match(failures, "^toy\\(x = <text>\\): an error without class: non-numeric", all = FALSE)
  expect_match(failures, "^toy\\(x = <a negative number>\\): a warning without class: NaNs produced", all = FALSE)
})

test_that("a fit of NaN, a result that does not print and endless work are caught", {
  nan <- function(x) structure(list(mean = if (is.numeric(x)) 0 / 0 else 1, convergence = list(gap = NaN)), class = c("granary_toy", "granary_fit"))
  expect_match(try_toy(nan, expression(toy(1)))$failures, "contains NaN", all = FALSE)
  unprintable <- function(x) structure(list(), class = c("granary_toy_unprintable"))
  registerS3method("print", "granary_toy_unprintable", function(x, ...) stop("cannot print"))
  expect_match(try_toy(unprintable, expression(toy(1)))$failures, "cannot print", all = FALSE)
  endless <- function(x) if (is.function(x)) repeat NULL else 1
  expect_identical(try_toy(endless, expression(toy(1)), limit = 0.3)$failures, "toy(x = <a function>): no answer within 0.3 seconds")
  interrupted <- function(x) if (is.function(x)) tryCatch(stop("C++"), error = function(e) signal_interrupt()) else 1
  expect_match(try_toy(interrupted, expression(toy(1)))$failures, "a function.*no answer", all = FALSE)
})

test_that("the first call that works is found, wherever it stands", {
  toy <- function(x, ...) check_number(x, "x")
  code <- expression(a <- 2, lapply(1:2, function(i) toy(i)), b <- list(granary::toy(a)))
  found <- find_call(list(name = "toy", called = "toy", fun = toy, class = NULL), code[c(1, 3)], list2env(list(toy = toy), parent = globalenv()))
  expect_null(found)  # granary::toy does not exist
  found <- try_toy(toy, expression(a <- 2, m <- 1:3, lapply(1:2, function(i) toy(i)), print(toy(a))))$found
  expect_identical(found$call, quote(toy(x = a)))
  expect_null(try_toy(toy, expression(1 + 1))$found)
})

# Every exported function, and every method of granary's classes.

test_that("no exported function breaks on spoiled input", {
  skip_on_cran()
  examples <- tryCatch(help_examples("granary"), error = function(e) list())
  skip_if(length(examples) == 0, "the help pages are not installed")
  budget <- as.numeric(Sys.getenv("GRANARY_MUTATION_SECONDS", "420"))
  deadline <- proc.time()[["elapsed"]] + budget

  folder <- tempfile("mutation_")
  dir.create(folder)
  here <- setwd(folder)
  pdf(NULL)
  old <- options(granary.progress = FALSE)
  on.exit({
    options(old)
    dev.off()
    setwd(here)
  })

  session <- list2env(mget(getNamespaceExports("granary"), envir = asNamespace("granary"), inherits = TRUE), parent = globalenv())
  ready <- list()
  for (target in mutation_targets("granary")) {
    if (target$name %in% names(mutation_exceptions)) next
    pages <- Filter(function(page) target$name %in% page$aliases, examples)
    found <- NULL
    for (page in pages) if (is.null(found)) found <- find_call(target, page$code, session)
    if (is.null(found)) {
      # a method need not be shown on its own; a function must be
      if (is.null(target$class)) fail(paste0(target$name, "(): no call of it works in the example on its help page"))
      next
    }
    ready[[length(ready) + 1L]] <- list(target = target, found = found)
  }

  unfinished <- character()
  for (item in ready[order(vapply(ready, function(item) item$found$seconds, 0))]) {
    failures <- mutate_target(item$target, item$found, deadline = deadline)
    if (!is.null(attr(failures, "unfinished"))) unfinished <- c(unfinished, item$target$name)
    expect(length(failures) == 0L, paste(c(paste0(item$target$name, "(), ", length(failures), " failures:"), failures), collapse = "\n"))
  }
  if (length(unfinished) > 0L) {
    skip(paste0("time was up (GRANARY_MUTATION_SECONDS = ", budget, ") before all mutations of ", paste(unfinished, collapse = ", ")))
  }
})
