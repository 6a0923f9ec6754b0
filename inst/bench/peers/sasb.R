# Rscript sasb.R <file for the results, .rds>
#
# No R package has Winnow, SASB or weighted majority. The nearest peer is batch naive Bayes (e1071), timed beside online_naive_bayes(), which makes the same model from one pass: the
# column `difference` is the largest between the probabilities of the two. Ours also predicts every row before it learns from it, which the peer's fit does not: with few attributes that is most of its time. The other tables are throughput: one pass of the learners over attributes, dense and sparse, 5 relevant
# attributes that each differ from the label with probability 0.1 (mistakes are of the pass). One thread; CPU seconds.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
peer <- "e1071"
cpu <- function(run) {
  time <- system.time(value <- run())
  list(seconds = sum(time[c("user.self", "sys.self")]), value = value)
}
set.seed(1)
peers <- list()
for (n in c(20L, 200L)) {
  d <- sim_sasb(20000, n = n, k = 5, p = 0.1)
  ours <- cpu(function() online_naive_bayes(d$x, d$y))
  row <- data.frame(trials = 20000, attributes = n, online_naive_bayes = ours$seconds)
  if (requireNamespace(peer, quietly = TRUE)) {
    frame <- as.data.frame(lapply(as.data.frame(d$x), factor, levels = 0:1))
    theirs <- cpu(function() getExportedValue(peer, "naiveBayes")(frame, factor(d$y), laplace = 1))
    shown <- 1:500
    odds <- predict(ours$value, d$x[shown, ], type = "link")
    probability <- predict(theirs$value, frame[shown, ], type = "raw")[, 2L]
    row <- cbind(row, e1071 = theirs$seconds, times_faster = theirs$seconds / ours$seconds, difference = max(abs(plogis(odds) - probability)))
  }
  peers[[length(peers) + 1L]] <- row
  print(row, row.names = FALSE)
}
learners <- list(sasb = sasb, "sasb, 30 voters" = function(x, y) sasb(x, y, voters = 30), sbsb = function(x, y) sasb(x, y, mistake_driven = FALSE),
                 winnow = function(x, y) winnow(x, y, balanced = TRUE), weighted_majority = weighted_majority, perceptron = perceptron)
throughput <- function(x, y, what, learners) {
  do.call(rbind, lapply(names(learners), function(name) {
    timed <- cpu(function() learners[[name]](x, y))
    row <- data.frame(data = what, method = name, cpu_seconds = timed$seconds, trials_per_second = nrow(x) / timed$seconds, mistakes = timed$value$mistakes)
    print(row, row.names = FALSE)
    row
  }))
}
d <- sim_sasb(100000, n = 50, k = 5, p = 0.1)
dense <- throughput(d$x, d$y, "100000 x 50, dense", learners)
trials <- 20000L
p <- 1000000L
active <- 60L
relevant <- sim_sasb(trials, n = 5, k = 5, p = 0.1)
i <- rep(seq_len(trials), each = active)
j <- sample(6:p, trials * active, TRUE)
ones <- which(relevant$x == 1, arr.ind = TRUE)
pairs <- unique(data.frame(i = c(i, ones[, 1L]), j = c(j, ones[, 2L])))
x <- Matrix::sparseMatrix(pairs$i, pairs$j, x = 1, dims = c(trials, p))
sparse <- throughput(x, relevant$y, "20000 x 1000000, sparse", learners[c("sasb", "weighted_majority", "perceptron")])
results <- list("against batch naive Bayes" = do.call(rbind, peers), "one pass" = rbind(dense, sparse))
if (!is.na(output)) saveRDS(results, output)
