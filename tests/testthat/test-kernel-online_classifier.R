# The class the online classifiers share, and the sources they learn from. winnow() stands for all learners.

attributes_or <- function(n, p = 30, seed = 1) {
  set.seed(seed)
  x <- matrix(rbinom(n * p, 1, 0.3), n, dimnames = list(NULL, paste0("a", seq_len(p))))
  list(x = x, y = factor(ifelse(x[, 2] | x[, 5], "yes", "no")))
}

same_learning <- function(a, b) {
  parts <- c("levels", "columns", "state", "trials", "mistakes", "changes", "support", "record")
  expect_identical(unclass(a)[parts], unclass(b)[parts])
}

test_that("in how many pieces the rows come does not matter", {
  d <- attributes_or(300)
  whole <- winnow(d$x, d$y)
  in_two <- update(winnow(d$x[1:100, ], d$y[1:100]), d$x[101:300, ], d$y[101:300])
  same_learning(whole, in_two)
  for (size in c(1, 7, 300, 1000)) same_learning(whole, winnow(data_chunks(d$x, d$y, size = size), levels = c("no", "yes")))
  same_learning(whole, winnow(as.data.frame(d$x), d$y))
  same_learning(whole, winnow(Matrix::Matrix(d$x, sparse = TRUE), d$y))
  same_learning(whole, winnow(data_chunks(Matrix::Matrix(d$x, sparse = TRUE), d$y, size = 13), levels = c("no", "yes")))
})

test_that("functions, files, data frames and databases give what the matrix gives", {
  d <- attributes_or(200)
  whole <- winnow(d$x, d$y)
  levels <- c("no", "yes")
  at <- 0
  generate <- function() {
    if (at >= 200) return(NULL)
    at <<- at + 50
    list(x = d$x[at - 49:0, ], y = d$y[at - 49:0])
  }
  same_learning(whole, winnow(generate, levels = levels))
  frame <- data.frame(d$x, label = d$y)
  same_learning(whole, winnow(data_chunks(frame, "label", size = 60), levels = levels))
  expect_identical(winnow(data_chunks(frame[1, ], "label"), levels = levels)$columns, whole$columns)
  at <- 0
  generate_frame <- function() {
    if (at >= 200) return(NULL)
    at <<- at + 20
    frame[at - 19:0, ]
  }
  same_learning(whole, winnow(data_chunks(generate_frame, "label"), levels = levels))

  path <- tempfile(fileext = ".csv")
  on.exit(unlink(path))
  utils::write.csv(frame, path, row.names = FALSE)
  source <- data_chunks(path, "label", size = 33)
  same_learning(whole, winnow(source, levels = levels))
  same_learning(whole, winnow(source, levels = levels))  # a file can be read again
  expect_identical(winnow(source, levels = levels, epochs = 3)$trials, 600)
  packed <- tempfile(fileext = ".gz")
  connection <- gzfile(packed, "w")
  utils::write.table(frame, connection, row.names = FALSE, col.names = FALSE, sep = ";")
  close(connection)
  unnamed <- winnow(data_chunks(packed, 31, size = 64, sep = ";", header = FALSE), levels = levels)
  expect_identical(unnamed$state, whole$state)
  expect_identical(unnamed$columns, paste0("V", 1:30))
  only <- winnow(data_chunks(path, "label", columns = c("a5", "a2")), levels = levels)
  expect_identical(only$columns, c("a5", "a2"))
  same_learning(only, winnow(d$x[, c("a5", "a2")], d$y))
})

test_that("a DBI result is read as it is fetched", {
  skip_if_not_installed("DBI")
  skip_if_not_installed("RSQLite")
  dbi <- function(name) getExportedValue("DBI", name)
  d <- attributes_or(120, 8)
  connection <- dbi("dbConnect")(getExportedValue("RSQLite", "SQLite")(), ":memory:")
  on.exit(dbi("dbDisconnect")(connection))
  dbi("dbWriteTable")(connection, "trials", data.frame(d$x, label = as.character(d$y)))
  result <- dbi("dbSendQuery")(connection, "select * from trials")
  fit <- winnow(data_chunks(result, "label", size = 25), levels = c("no", "yes"))
  same_learning(fit, winnow(d$x, d$y))
  expect_error(winnow(data_chunks(result, "label"), levels = c("no", "yes"), epochs = 2), "read only once", class = "granary_error_input")
  dbi("dbClearResult")(result)
  expect_error(winnow(data_chunks(result, "label"), levels = c("no", "yes")), "could not be fetched", class = "granary_error_input")
})

test_that("a fit that was saved goes on exactly as the one that was not", {
  d <- attributes_or(200)
  fit <- winnow(d$x[1:90, ], d$y[1:90], balanced = TRUE)
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(fit, file)
  expect_identical(update(readRDS(file), d$x[91:200, ], d$y[91:200]), update(fit, d$x[91:200, ], d$y[91:200]))
})

test_that("the record says what happened, trial by trial, and is thinned the same way however the data is cut", {
  d <- attributes_or(100)
  fit <- winnow(d$x, d$y)
  run <- tidy(fit)
  expect_identical(run$trial, as.numeric(1:100))
  expect_identical(run$mistakes[100], fit$mistakes)
  expect_equal(run$error, run$mistakes / run$trial)
  # the prediction of each trial is made with what was learnt before it
  wrong <- vapply(2:100, function(t) predict(winnow(d$x[1:(t - 1), , drop = FALSE], d$y[1:(t - 1)]), d$x[t, , drop = FALSE]) != d$y[t], NA)
  expect_identical(diff(run$mistakes), as.numeric(wrong))
  expect_identical(run$support, as.integer(run$changes))

  long <- attributes_or(9001, 5)
  whole <- winnow(long$x, long$y)
  expect_lte(nrow(whole$record$table), 4096)
  expect_identical(whole$record$stride, 4)
  expect_true(all(whole$record$table$trial %% 4 == 0))
  expect_identical(utils::tail(tidy(whole)$trial, 2), c(9000, 9001))
  same_learning(whole, winnow(data_chunks(long$x, long$y, size = 1111), levels = c("no", "yes")))
  expect_identical(glance(whole)$trials, 9001)
})

test_that("classes can be declared before they are seen, and only those are learnt", {
  d <- attributes_or(40)
  no <- d$y == "no"
  fit <- winnow(d$x[no, ], d$y[no], levels = c("no", "yes"))
  expect_identical(fit$levels, c("no", "yes"))
  fit <- update(fit, d$x, as.character(d$y))
  expect_identical(levels(predict(fit, d$x)), c("no", "yes"))
  expect_error(update(fit, d$x[1:2, ], c("no", "maybe")), "label 2 is \"maybe\"", class = "granary_error_input")
  expect_error(winnow(d$x[no, ], as.character(d$y[no])), "Declare the classes", class = "granary_error_input")
  expect_error(winnow(data_chunks(d$x, d$y)), "`levels` must be given", class = "granary_error_input")
  expect_error(winnow(d$x, rep(1:4, 10)), "two classes", class = "granary_error_input")
  expect_error(winnow(d$x, d$y, levels = c("no", "no")), "unique", class = "granary_error_input")
  expect_error(winnow(d$x, d$y, levels = "no"), "two classes or more", class = "granary_error_input")
  expect_error(winnow(d$x, d$x[, 1] + 0.5), "whole", class = "granary_error_input")
  expect_identical(winnow(d$x, rep(1, 40))$levels, c("0", "1"))
  expect_identical(winnow(d$x, rep(TRUE, 40))$levels, c("FALSE", "TRUE"))
  expect_identical(winnow(d$x, rep(-1, 40))$levels, c("-1", "1"))
})

test_that("columns are found by name, and wrong ones are refused", {
  d <- attributes_or(60)
  fit <- winnow(d$x[1:30, ], d$y[1:30])
  turned <- d$x[31:60, 30:1]
  same_learning(update(fit, turned, d$y[31:60]), update(fit, d$x[31:60, ], d$y[31:60]))
  expect_identical(predict(fit, turned), predict(fit, d$x[31:60, ]))
  expect_identical(predict(fit, unname(d$x)), predict(fit, d$x))
  expect_error(update(fit, d$x[, 1:29], d$y), "30 columns of the fit, but it has 29", class = "granary_error_input")
  expect_error(predict(fit, d$x[, 1:29]), "`newdata`.*30 columns", class = "granary_error_input")
  expect_error(update(fit, d$x, d$y[1:10]), "one label per row", class = "granary_error_input")
})

test_that("a formula works, also for new rows with the response among them", {
  d <- attributes_or(80, 5)
  frame <- data.frame(d$x, colour = factor(rep(c("red", "blue"), 40)), y = d$y)
  fit <- winnow(y ~ ., frame[1:50, ])
  expect_identical(fit$columns, c(paste0("a", 1:5), "colourred"))
  more <- update(fit, frame[51:80, ])
  same_learning(more, update(fit, frame[51:80, 1:6], d$y[51:80]))
  same_learning(more, update(fit, data_chunks(frame[51:80, ], "y", size = 9)))
  expect_identical(more$trials, 80)
  expect_length(predict(fit, frame[1:3, 1:6]), 3)
  expect_error(update(fit, frame[, 1:6]), "response of the formula", class = "granary_error_input")
  expect_error(update(fit, d$x), "`newy` must be given", class = "granary_error_input")
  expect_error(winnow(y ~ nothing, frame), class = "granary_error_input")
})

test_that("predictions of data in pieces are those of the whole", {
  d <- attributes_or(50)
  fit <- winnow(d$x, d$y)
  expect_identical(predict(fit, data_chunks(d$x, d$y, size = 7)), predict(fit, d$x))
  expect_identical(predict(fit, data_chunks(d$x, d$y, size = 7), type = "link"), predict(fit, d$x, type = "link"))
  expect_identical(predict(fit, d$x, type = "link") > 0, predict(fit, d$x) == "yes")
  never <- winnow(function() NULL, levels = 0:1)
  expect_identical(never$trials, 0)
  expect_output(print(never), "none yet")
  expect_error(predict(never, d$x), "has not seen any data", class = "granary_error_input")
  expect_error(plot(never), "nothing to plot", class = "granary_error_input")
  expect_output(print(summary(never)), "winnow")
})

test_that("rows that cannot be learnt from stop the run or are skipped and counted", {
  d <- attributes_or(30)
  y <- d$y
  y[c(3, 8)] <- NA
  expect_error(winnow(d$x, y), "`y`.*row 3", class = "granary_error_input")
  fit <- winnow(d$x, y, na = "skip")
  expect_identical(fit$skipped, 2)
  expect_identical(fit$trials, 28)
  expect_identical(fit$state, winnow(d$x[-c(3, 8), ], y[-c(3, 8)])$state)
  expect_output(print(fit), "rows skipped: *2")
  all_gone <- winnow(d$x, replace(y, TRUE, NA), na = "skip")
  expect_identical(all_gone$trials, 0)
})

test_that("shuffling follows set.seed() and epochs repeat the data", {
  d <- attributes_or(100)
  run <- function(seed) {
    set.seed(seed)
    winnow(d$x, d$y, shuffle = TRUE, epochs = 2)
  }
  expect_identical(run(1), run(1))
  expect_false(identical(run(1)$record, run(2)$record))
  expect_identical(run(1)$trials, 200)
  same_learning(winnow(d$x, d$y, epochs = 2), update(winnow(d$x, d$y), d$x, d$y))
})

test_that("print, summary, plots and comparisons show the run", {
  d <- attributes_or(100)
  fit <- winnow(d$x, d$y)
  expect_output(print(fit), "online mistakes: +[0-9]+ of 100")
  expect_output(print(summary(fit)), "recent")
  expect_identical(summary(fit)$trace$trial, c(10, 25, 50, 75, 100))
  pdf(NULL)
  on.exit(dev.off())
  for (what in c("both", "error", "mistakes", "support")) expect_null(plot(fit, type = what))
  both <- online_compare(fit, balanced = winnow(d$x, d$y, balanced = TRUE))
  expect_identical(glance(both)$fit, c("winnow", "balanced"))
  expect_identical(online_compare(list(fit, fit))$fits[[2]], fit)
  expect_identical(names(online_compare(list(fit, fit))$fits), c("winnow", "winnow.1"))
  expect_output(print(both), "2 online classifiers")
  expect_null(plot(both, main = "two"))
  expect_identical(nrow(tidy(both)), 200L)
  expect_error(online_compare(), "at least one", class = "granary_error_input")
  expect_error(online_compare(1, 2), "online classifiers", class = "granary_error_input")
  expect_error(plot(fit, type = "nothing"), "`type`", class = "granary_error_input")
})

test_that("sources say what is wrong with them", {
  d <- attributes_or(10)
  input <- function(code, pattern) expect_error(code, pattern, class = "granary_error_input")
  learn <- function(source) winnow(source, levels = c("no", "yes"))
  input(data_chunks(), "`x` must be given")
  input(data_chunks(d$x, d$y, size = 0), "`size`")
  input(data_chunks(d$x, d$y[1:3]), "one label per row, 10, but it has 3")
  input(learn(data_chunks(d$x)), "Labels are needed")
  input(data_chunks(d$x[0, ], d$y[0]), "at least 1 row")
  input(data_chunks(as.data.frame(d$x)[0, ], d$y[0]), "at least one row")
  input(data_chunks("no such file", "y"), "no file")
  input(data_chunks(tempdir(), "y"), "no file")
  input(learn(function() stop("lost")), "failed: lost")
  input(learn(function() 1), "gives the value 1")
  input(learn(function() list(x = 1, y = 1)), "whose `x` is")
  input(learn(function() list(x = d$x, y = d$y[1])), "one label per row")
  input(data_chunks(function() NULL, "y", columns = NA), "`columns`")
  input(learn(data_chunks(data.frame(a = 1:3, y = 0), "z")), "asks for column \"z\"")
  input(winnow(function() NULL, levels = 0:1, epochs = 2), "read only once")
  input(winnow(d$x, d$y, treshold = 3), "no argument `treshold`")
  input(update(winnow(d$x, d$y)), "`newdata` must be given")
  input(winnow(d$x), "`y` must be given")

  path <- tempfile(fileext = ".csv")
  on.exit(unlink(path))
  writeLines(character(), path)
  input(learn(data_chunks(path, "y")), "no line to read")
  writeLines(c("a,b,y", "1,0,no", "0,x,yes"), path)
  input(learn(data_chunks(path, "y", size = 1)), "could not be read after data row 1")
  input(learn(data_chunks(path, "z")), "asks for column \"z\", but the columns are \"a\", \"b\", \"y\"")
  input(learn(data_chunks(path, "y", columns = "y2")), "`columns` asks for")
  input(learn(data_chunks(path, "y", sep = ";;")), "`sep`")
  input(learn(data_chunks(path, "y", na = 1)), "`na`")
  writeLines(c("y", "no"), path)
  input(learn(data_chunks(path, "y")), "besides that of the labels")
  expect_output(print(data_chunks(path, "y", size = 5)), "from the file .*5 at a time, can be read again")
  expect_output(print(data_chunks(function() NULL)), "to be read once")
})

test_that("numbers as labels do not depend on how they are printed", {
  set.seed(3)
  x <- matrix(rnorm(200), 100)
  y <- ifelse(x[, 1] > 0, 200000, 100000)
  fit <- perceptron(x, y)
  expect_identical(fit$levels, c("1e+05", "2e+05"))  # as factor() has them
  right <- mean((x[, 1] > 0) == (as.numeric(as.character(predict(fit, x))) == 2e5))
  expect_gt(right, 0.8)
  expect_equal(mean(predict(fit, x) == y), right)
  expect_equal(assess(fit, newdata = x, newy = y)$error, 1 - right)
  expect_equal(assess(fit, newdata = x, newy = as.integer(y))$error, 1 - right)
  expect_equal(assess(fit, newdata = x, newy = factor(y, labels = c("100000", "200000")))$error, 1 - right)
  expect_identical(update(fit, x, as.integer(y))$state, update(fit, x, y)$state)
  expect_error(assess(fit, newdata = x, newy = rep(1:2, 50)), "class \"1\"", class = "granary_error_input")
  old <- options(scipen = -10)
  on.exit(options(old))
  again <- perceptron(x, y)
  expect_identical(again$levels, fit$levels)
  expect_identical(again$state, fit$state)
  expect_identical(update(fit, x, y)$mistakes, update(again, x, y)$mistakes)
  expect_equal(assess(fit, newdata = x, newy = y)$error, 1 - right)
  expect_identical(granary:::label_text(c(1, 10, 1e15, NA, -3)), c("1", "10", "1e+15", NA, "-3"))
  expect_identical(granary:::words_of(c(1e5, 3), c("100000", "2")), c("100000", "3e+00"))
})

test_that("online learners take formulas with subset and missing values as lm() does", {
  d <- transform(mtcars, am = factor(am), wt = replace(wt, 3, NA))
  fit <- perceptron(formula = am ~ wt + hp, data = d, na.action = na.omit)
  expect_identical(fit$trials, 31)
  expect_identical(fit$coefficients, perceptron(as.matrix(d[-3, c("wt", "hp")]), d$am[-3])$coefficients)
  for (learner in list(weighted_majority, online_naive_bayes, winnow, sasb)) {
    half <- learner(am ~ vs, d, subset = gear > 3)
    expect_equal(half$trials, sum(d$gear > 3))
    expect_equal(update(half, d)$trials, half$trials + 32)
  }
})

test_that("a query that gives no rows midway is read on", {
  skip_if_not_installed("DBI")
  skip_if_not_installed("RSQLite")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(connection))
  DBI::dbWriteTable(connection, "cars", transform(mtcars, am = as.character(am)))
  result <- DBI::dbSendQuery(connection, "select am, wt, hp from cars where am = 'x'")
  expect_warning(perceptron(data_chunks(result, "am"), levels = c("0", "1")), "no rows", class = "granary_warning_input")
  DBI::dbClearResult(result)
})
