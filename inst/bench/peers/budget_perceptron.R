# Rscript budget_perceptron.R <file for the results, .rds>
#
# Times budget_perceptron() beside onlearn() of kernlab (NORMA with a buffer, the one budgeted online kernel classifier on CRAN), one pass, rows one at a time, the same RBF kernel and
# buffer, on two classes of clustered points in 20 dimensions with 5% of the labels wrong. The methods differ: error is the share of 2000 new rows, with right labels, that are classified
# wrongly. onlearn() gets its rows in a loop, as its help page does (with all rows in one call it overruns its buffer), at the best of three step sizes; the time is of one run. The batch
# support vector machine of kernlab says what can be reached. onlearn() is left out of the longest stream; throughput of ours there is the last table. One thread; CPU seconds.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
peer <- "kernlab"
has_peer <- requireNamespace(peer, quietly = TRUE)
from_peer <- function(name) getExportedValue(peer, name)
cpu <- function(run) {
  time <- system.time(value <- run())
  list(seconds = sum(time[c("user.self", "sys.self")]), value = value)
}
centres <- NULL
stream <- function(n, noise) {
  which <- sample(nrow(centres), n, TRUE)
  y <- ifelse(which %% 2 == 0, 1, -1)
  list(x = centres[which, ] + matrix(rnorm(20 * n, sd = 0.7), n), y = ifelse(runif(n) < noise, -y, y))
}
set.seed(1)
centres <- matrix(rnorm(40 * 20), 40)
test <- stream(2000, 0)
rows <- list()
note <- function(n, budget, method, timed, error, size) {
  rows[[length(rows) + 1L]] <<- data.frame(rows = n, budget = budget, method = method, cpu_seconds = timed$seconds, error = error, examples = size)
  print(rows[[length(rows)]], row.names = FALSE)
}
ours <- function(train, budget, label, ...) {
  n <- nrow(train$x)
  timed <- cpu(function() budget_perceptron(train$x, train$y, budget = budget, gamma = 0.05, ..., standardize = FALSE))
  note(n, budget, label, timed, mean(as.numeric(as.character(predict(timed$value, test$x))) != test$y), timed$value$support)
}
for (n in c(2000L, 10000L)) {
  train <- stream(n, 0.05)
  for (budget in c(100L, 500L)) {
    ours(train, budget, "budget_perceptron, max_margin", removal = "max_margin")
    ours(train, budget, "budget_perceptron, distill", removal = "distill")
    ours(train, budget, "budget_perceptron, mira, oldest, averaged", removal = "oldest", update = "mira", average = TRUE)
    ours(train, budget, "budget_perceptron, oldest, averaged", removal = "oldest", average = TRUE)
    ours(train, budget, "budget_perceptron, projection", removal = "projection")
    if (has_peer) {
      best <- NULL
      for (lambda in c(0.1, 0.01, 0.001)) {
        timed <- cpu(function() {
          machine <- from_peer("inlearn")(20, kernel = "rbfdot", kpar = list(sigma = 0.05), buffersize = budget, type = "classification")
          for (i in seq_len(n)) machine <- from_peer("onlearn")(machine, train$x[i, ], train$y[i], nu = 0.03, lambda = lambda)
          machine
        })
        timed$error <- mean(sign(from_peer("predict")(timed$value, test$x)) != test$y)
        if (is.null(best) || timed$error < best$error) best <- timed
      }
      timed <- best
      note(n, budget, "kernlab onlearn", timed, timed$error, length(from_peer("alpha")(timed$value)))
    }
  }
  if (has_peer) {
    timed <- cpu(function() from_peer("ksvm")(train$x, factor(train$y), kernel = "rbfdot", kpar = list(sigma = 0.05), C = 1))
    note(n, NA, "kernlab ksvm, batch", timed, mean(as.numeric(as.character(from_peer("predict")(timed$value, test$x))) != test$y),
         from_peer("nSV")(timed$value))
  }
}
comparison <- do.call(rbind, rows)
mine <- comparison[comparison$method == "budget_perceptron, oldest, averaged", ]
theirs <- comparison[comparison$method == "kernlab onlearn", ]
ratio <- merge(mine, theirs, by = c("rows", "budget"), suffixes = c("_ours", "_peer"))
ratios <- data.frame(rows = ratio$rows, budget = ratio$budget, times_faster = ratio$cpu_seconds_peer / ratio$cpu_seconds_ours,
                     error_ours = ratio$error_ours, error_peer = ratio$error_peer)
print(ratios)

rows <- list()
train <- stream(1e6L, 0.05)
ours(train, 500L, "budget_perceptron, max_margin", removal = "max_margin")
ours(train, 500L, "budget_perceptron, oldest, averaged", removal = "oldest", average = TRUE)
long <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(list(comparison = comparison, "against onlearn" = ratios, "a million rows" = long), output)
