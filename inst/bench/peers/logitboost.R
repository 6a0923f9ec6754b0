# Rscript logitboost.R <file for the results, .rds>
#
# logitboost() against caTools::LogitBoost (decision stumps; its votes for more than two classes are one against the rest) where that is installed, and span_vote() against a plain
# R version of the same vote. No R package merges or stacks spans. One thread, CPU seconds; `ratio` is the peer's time over ours, errors are on other rows.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
make <- function(n, p = 20) {
  x <- matrix(rnorm(n * p), n, dimnames = list(NULL, paste0("v", seq_len(p))))
  list(x = x, y = factor(findInterval(x[, 1] + x[, 2]^2 - x[, 3] + rnorm(n, sd = 0.5), c(0, 1.5))))
}
set.seed(1)
train <- make(5000)
test <- make(5000)
ours <- cpu(fit <- logitboost(train$x, train$y, n_rounds = 50, folds = NULL))
error <- mean(predict(fit, test$x) != test$y)
if (has("caTools")) {
  peer <- cpu(other <- caTools::LogitBoost(train$x, train$y, nIter = 50))
  theirs <- predict(other, test$x)
  rows[[1L]] <- data.frame(task = "three classes, 5000 x 20, 50 rounds", peer = "caTools", peer_s = peer, granary_s = ours, ratio = peer / ours,
                           peer_error = mean(is.na(theirs) | theirs != test$y), granary_error = error)
} else {
  rows[[1L]] <- data.frame(task = "three classes, 5000 x 20, 50 rounds", peer = "none", peer_s = NA, granary_s = ours, ratio = NA, peer_error = NA, granary_error = error)
}
print(rows[[1L]], digits = 3, row.names = FALSE)

vote <- function(x) {
  key <- paste(x$doc, x$start, x$end)
  unlist(lapply(split(x, key), function(one) {
    p <- tapply(one$score, one$field, function(s) 1 - prod(1 - s))
    if (max(p) >= 0.5) paste(one$doc[1], one$start[1], one$end[1], names(p)[which.max(p)])
  }), use.names = FALSE)
}
sim <- sim_spans(2000)
ours <- cpu(said <- span_vote(sim$spans))
peer <- cpu(theirs <- vote(as.data.frame(unclass(sim$spans))))
rows[[2L]] <- data.frame(task = sprintf("vote of %d spans", nrow(sim$spans)), peer = "plain R", peer_s = peer, granary_s = ours, ratio = peer / ours, peer_error = NA,
                         granary_error = mean(!paste(said$doc, said$start, said$end, said$field) %in% theirs))
print(rows[[2L]], digits = 3, row.names = FALSE)
results <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(results, output)
