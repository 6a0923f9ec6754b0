# Rscript evaluation.R <file for the results, .rds>
#
# cv_error() against boot::cv.glm (the same folds are not to be had: equal numbers of them), compare_methods() against stats::friedman.test and wilcox.test, and
# threshold_classifier() against the first split of rpart. One thread, CPU seconds; `difference` is that of the estimates. None of the peers has a standard error
# of the cross-validated error that knows about the overlap.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
add <- function(...) {
  rows[[length(rows) + 1L]] <<- data.frame(...)
  print(rows[[length(rows)]], digits = 4, row.names = FALSE)
}
set.seed(1)
for (n in c(500, 2000)) {
  x <- matrix(rnorm(n * 20), n)
  y <- drop(x[, 1:3] %*% c(1, 1, 1)) + rnorm(n)
  data <- data.frame(y, x)
  ours <- cpu(fit <- cv_error(x, y, folds = 10, threads = 1))
  if (has("boot")) {
    theirs <- cpu(other <- boot::cv.glm(data, glm(y ~ ., data = data), K = 10)$delta[1L])
    add(what = "10 folds", n = n, peer = "boot::cv.glm", peer_s = theirs, granary_s = ours, ratio = theirs / ours, difference = other - fit$estimate)
  }
  ours <- cpu(cv_error(x, y, scheme = "random", n_rep = 50, threads = 1))
  add(what = "50 random splits with exact variance", n = n, peer = "none", peer_s = NA, granary_s = ours, ratio = NA, difference = NA)
}
a <- matrix(runif(1e6), 1000)
ours <- cpu(found <- compare_methods(a, threads = 1))
theirs <- cpu({
  base <- friedman.test(a)
  for (j in 2:1000) wilcox.test(a[, 1], a[, j], paired = TRUE, exact = FALSE)
})
add(what = "1000 x 1000 table", n = 1000, peer = "stats", peer_s = theirs, granary_s = ours, ratio = theirs / ours, difference = base$statistic - found$friedman$statistic[1])
x <- runif(1e5)
y <- rbinom(1e5, 1, x)
ours <- cpu(fit <- threshold_classifier(x, y))
if (has("rpart")) {
  theirs <- cpu(tree <- rpart::rpart(factor(y) ~ x, maxdepth = 1, cp = 0))
  risk <- mean(predict(tree, type = "class") != y)
  add(what = "one cut, n = 1e5", n = 1e5, peer = "rpart", peer_s = theirs, granary_s = ours, ratio = theirs / ours, difference = risk - fit$risk)
}
results <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(results, output)
