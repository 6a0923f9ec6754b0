# Rscript lasvm.R <file for the results, .rds>
#
# One pass of lasvm() with finishing against e1071 (LIBSVM, the batch machine) and lasvmR (the authors' own program; one pass and finishing, too;
# no longer on CRAN but in its archive): x ~ N(0, I_20), y = sign(x1 x2 + x3 + x4^2 / 2 - 1/2 + N(0, 1)), RBF with gamma 1/20, C = 1, tolerance
# 0.001, 256 MB of cache for all, one thread, CPU seconds. `online_s` is the pass alone, `granary_s` pass and finishing in one call. `error` is
# on 10000 other rows; `ratio` is the peer's time over ours. The second table is active learning: labels until the error on those rows is within
# 0.01 of the batch machine's.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

make <- function(n) {
  x <- matrix(rnorm(n * 20), n)
  list(x = x, y = factor(sign(x[, 1] * x[, 2] + x[, 3] + x[, 4]^2 / 2 - 1 / 2 + rnorm(n))))
}
# Each fits, and gives its support vectors and its predictions for other rows.
peers <- list(
  e1071 = function(train) {
    fit <- getExportedValue("e1071", "svm")(train$x, train$y, gamma = 1 / 20, scale = FALSE, cachesize = 256)
    list(sv = fit$tot.nSV, predict = function(x) predict(fit, x))
  },
  lasvmR = function(train) {
    fit <- getExportedValue("lasvmR", "lasvmTrain")(train$x, as.numeric(as.character(train$y)), gamma = 1 / 20, cachesize = 256)
    list(sv = length(fit$alpha), predict = function(x) getExportedValue("lasvmR", "lasvmPredict")(x, fit)$predictions)
  }
)
rows <- list()
for (n in c(2000, 10000, 30000)) {
  set.seed(n)
  train <- make(n)
  test <- make(10000)
  set.seed(n + 1)
  online_s <- cpu(lasvm(train$x, train$y, finish = FALSE, standardize = FALSE))
  set.seed(n + 1)
  granary_s <- cpu(fit <- lasvm(train$x, train$y, standardize = FALSE))  # finishing uses the cache that the pass has filled
  for (peer in names(peers)) {
    there <- requireNamespace(peer, quietly = TRUE)
    peer_s <- if (there) cpu(other <- peers[[peer]](train)) else NA_real_
    rows[[length(rows) + 1L]] <- data.frame(
      n = n, peer = peer, peer_s = peer_s, online_s = online_s, granary_s = granary_s, ratio = peer_s / granary_s,
      peer_error = if (there) mean(other$predict(test$x) != test$y) else NA, granary_error = mean(predict(fit, test$x) != test$y),
      peer_sv = if (there) other$sv else NA, granary_sv = fit$n_sv, kernel_values_m = fit$n_kernel / 1e6
    )
    print(rows[[length(rows)]], digits = 4, row.names = FALSE)
  }
}
results <- do.call(rbind, rows)

set.seed(1)
train <- make(5000)
test <- make(10000)
goal <- mean(predict(lasvm(train$x, train$y, epochs = 3, standardize = FALSE), test$x) != test$y) + 0.01
curves <- lapply(c("random", "active", "autoactive", "gradient"), function(select) {
  seconds <- cpu(fit <- lasvm(train$x, train$y, select = select, max_labels = 2500, validation = test, snapshots = 25, standardize = FALSE))
  there <- fit$curve$labels[fit$curve$error <= goal]
  data.frame(select = select, labels_to_goal = if (length(there) > 0L) there[1L] else NA, error_at_2500 = fit$curve$error[nrow(fit$curve)],
             sv = fit$n_sv, seconds = seconds)
})
results <- list("one pass" = results, selection = do.call(rbind, curves))
print(results)
if (!is.na(output)) saveRDS(results, output)
