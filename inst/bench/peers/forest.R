# Rscript forest.R <file for the results, .rds>
#
# forest() against ranger (and randomForest at n = 1e4): y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + N(0, 1), or whether that is above 14; p = 50 uniform columns, and
# 5000 sparse columns of counts. Equal trees, mtry and node size, Gini or squares, one thread, CPU seconds; `ratio` is the peer's time over ours. Errors are out
# of bag and on 10000 other rows: mean squares, or shares misclassified. ranger splits nodes above `min.node.size`, forest() nodes of at least `min_node`.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

friedman <- function(n, p = 50) {
  x <- matrix(runif(n * p), n, dimnames = list(NULL, paste0("v", seq_len(p))))
  y <- 10 * sin(pi * x[, 1] * x[, 2]) + 20 * (x[, 3] - 0.5)^2 + 10 * x[, 4] + 5 * x[, 5] + rnorm(n)
  list(x = x, y = y)
}
counts <- function(n, p = 5000) {
  x <- Matrix::rsparsematrix(n, p, 0.01, rand.x = function(k) rpois(k, 1) + 1)
  colnames(x) <- paste0("v", seq_len(p))
  list(x = x, y = factor(as.vector(Matrix::rowSums(x[, 1:250])) > 5))
}
classes <- function(data) list(x = data$x, y = factor(ifelse(data$y > 14, "high", "low")))
loss <- function(answer, y) if (is.factor(y)) mean(answer != y) else mean((answer - y)^2)

rows <- list()
compare <- function(what, train, test, n_trees, peers) {
  numbers <- !is.factor(train$y)
  mtry <- max(1, floor(if (numbers) ncol(train$x) / 3 else sqrt(ncol(train$x))))
  set.seed(1)
  fit_s <- cpu(fit <- forest(train$x, train$y, n_trees = n_trees, mtry = mtry, min_node = if (numbers) 6 else 2, importance = "none"))
  predict_s <- cpu(answer <- predict(fit, test$x))
  for (peer in peers) {
    if (!has(peer)) next
    if (peer == "ranger") {
      peer_s <- cpu(other <- ranger::ranger(x = train$x, y = train$y, num.trees = n_trees, mtry = mtry, min.node.size = if (numbers) 5 else 1, num.threads = 1, seed = 1))
      peer_predict_s <- cpu(theirs <- predict(other, test$x, num.threads = 1)$predictions)
      oob <- other$prediction.error
    } else {
      peer_s <- cpu(other <- randomForest::randomForest(train$x, train$y, ntree = n_trees, mtry = mtry, nodesize = if (numbers) 5 else 1))
      peer_predict_s <- cpu(theirs <- predict(other, test$x))
      oob <- if (numbers) other$mse[n_trees] else other$err.rate[n_trees, 1L]
    }
    rows[[length(rows) + 1L]] <<- data.frame(
      data = what, n = nrow(train$x), p = ncol(train$x), n_trees = n_trees, peer = peer, peer_s = peer_s, granary_s = fit_s, ratio = peer_s / fit_s,
      peer_predict_s = peer_predict_s, granary_predict_s = predict_s, predict_ratio = peer_predict_s / predict_s, peer_oob = oob, granary_oob = fit$error,
      peer_error = loss(theirs, test$y), granary_error = loss(answer, test$y)
    )
    print(rows[[length(rows)]], digits = 4, row.names = FALSE)
  }
}
set.seed(1)
test <- friedman(10000)
for (n in c(1e4, 1e5)) {
  train <- friedman(n)
  trees <- if (n > 1e4) 20 else 100
  peers <- c("ranger", if (n == 1e4) "randomForest")
  compare("numbers", train, test, trees, peers)
  compare("two classes", classes(train), classes(test), trees, peers)
}
compare("sparse counts", counts(1e4), counts(2000), 50, "ranger")
results <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(results, output)
