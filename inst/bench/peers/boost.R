# Times boost() against adabag and gbm. Rscript boost.R [output.rds] [extended]
#
# CPU seconds of one thread. adabag: AdaBoost.M1 and SAMME on trees of rpart (maxdepth 2, no pruning), against ours with the same method and as many rounds, at most four leaves; its trees split by Gini,
# ours by cost. gbm: trees of one and of two levels, no subsampling, one row per leaf, shrinkage 0.1, two classes (bernoulli) against boost(method = "adaboost") with as many leaves. `error` is that of
# new rows. xgboost cannot be had for this version of R, so it is not here.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
note <- function(setting, method, seconds, error, ours) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, error = error)
  print(rows[[length(rows)]], row.names = FALSE)
}
draw <- function(n, p, k) {
  x <- matrix(rnorm(n * p), n, dimnames = list(NULL, paste0("x", seq_len(p))))
  score <- x[, 1] + x[, 2] * x[, 3] + abs(x[, 4]) + 0.5 * rnorm(n)
  data.frame(x, y = factor(letters[cut(rank(score), k, labels = FALSE)]))
}
wrong <- function(found, test) mean(as.character(found) != test$y)

# Against adabag.
for (k in c(2, 5)) {
  set.seed(1)
  train <- draw(2000, 10, k)
  test <- draw(2000, 10, k)
  for (method in c("m1", "samme")) {
    setting <- sprintf("2000 x 10, %d classes, 50 trees, %s", k, method)
    seconds <- cpu(fit <- suppressMessages(boost(y ~ ., train, method = method, n_rounds = 50, max_leaves = 4)))
    note(setting, "boost()", seconds, wrong(predict(fit, test), test), seconds)
    if (has("adabag")) {
      used <- cpu(theirs <- adabag::boosting(y ~ ., train, boos = FALSE, mfinal = 50, coeflearn = if (method == "m1") "Freund" else "Zhu",
                                             control = rpart::rpart.control(maxdepth = 2, cp = -1, minsplit = 2, xval = 0)))
      note(setting, "adabag", used, wrong(predict(theirs, test)$class, test), seconds)
    }
  }
  seconds <- cpu(fit <- boost(y ~ ., train, method = "adaptive", n_rounds = 50, max_leaves = 4))
  note(sprintf("2000 x 10, %d classes, 50 trees, adaptive", k), "boost()", seconds, wrong(predict(fit, test), test), seconds)
}

# Against gbm.
for (n in c(1e4, if (extended) 1e5)) {
  set.seed(2)
  train <- draw(n, 20, 2)
  test <- draw(5000, 20, 2)
  for (leaves in c(2, 3)) {
    setting <- sprintf("%g x 20, two classes, 200 trees, %d leaves", n, leaves)
    seconds <- cpu(fit <- boost(y ~ ., train, method = "adaboost", n_rounds = 200, max_leaves = leaves))
    note(setting, "boost()", seconds, wrong(predict(fit, test), test), seconds)
    if (has("gbm")) {
      numbers <- transform(train, y = as.integer(y == "b"))
      used <- cpu(theirs <- gbm::gbm(y ~ ., distribution = "bernoulli", data = numbers, n.trees = 200, interaction.depth = leaves - 1, shrinkage = 0.1, bag.fraction = 1, n.minobsinnode = 1,
                                     keep.data = FALSE))
      note(setting, "gbm", used, wrong(ifelse(predict(theirs, test, n.trees = 200) > 0, "b", "a"), test), seconds)
    }
  }
}

result <- do.call(rbind, rows)
print(result, digits = 3, row.names = FALSE)
if (!is.na(output)) saveRDS(result, output)
