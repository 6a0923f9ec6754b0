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

test_that("another answer under permuted names, and an argument nobody knows, are caught", {
  target <- list(name = "predict.toy", called = "predict", fun = function(object, newdata, ...) as.vector(as.matrix(newdata) %*% 1:2), class = "toy")
  envir <- list2env(list(predict = target$fun, f = structure(list(), class = "toy"), d = cbind(a = c(1, 5), b = 2:3)), parent = globalenv())
  found <- list(call = quote(predict(object = f, newdata = d)), envir = envir, seconds = 0)
  failures <- mutate_target(target, found)
  expect_match(failures, "columns in another order>\\): another answer", all = FALSE)
  expect_match(failures, "no_such_argument = 1\\): an argument nobody knows", all = FALSE)
})

# Every exported function, and every method of granary's classes.

test_that("no exported function breaks on spoiled input", {
  skip_on_cran()
  skip_on_os("windows")
  targets <- setdiff(vapply(mutation_targets("granary"), function(target) target$name, ""), names(mutation_exceptions))
  # one seed for all, so that a commit passes or fails whatever the hour; the extended run takes another every time
  extended <- identical(Sys.getenv("GRANARY_EXTENDED"), "1")
  budget <- as.numeric(Sys.getenv("GRANARY_MUTATION_SECONDS", if (extended) "420" else "150"))
  seed <- as.integer(Sys.getenv("GRANARY_MUTATION_SEED", if (extended) format(as.integer(Sys.time()) %% 100000L) else "1"))
  set.seed(seed)
  shares <- split(sample(targets), rep_len(1:6, length(targets)))
  results <- lapply(shares, mutation_in_children, seed = seed, seconds = budget / length(shares))
  left <- unlist(lapply(results, `[[`, "left"))
  never <- sub(" .*", "", grep(" 0 [0-9]+ *$", left, value = TRUE))
  cat(sprintf("mutations: GRANARY_MUTATION_SEED=%d, %d calls of %d functions and methods; %d of them have calls left for other seeds\n", seed,
              sum(vapply(results, `[[`, 0L, "calls")), length(targets), length(left)))
  failures <- unlist(lapply(results, `[[`, "failures"))
  expect(length(failures) == 0L, paste(c(paste0(length(failures), " failures (GRANARY_MUTATION_SEED=", seed, "):"), failures), collapse = "\n"))
  expect(length(never) == 0L, paste("out of time before a single call of", paste(never, collapse = ", "), "(GRANARY_MUTATION_SECONDS)"))
})
