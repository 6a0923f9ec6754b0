# Times bn_classifier() against e1071 and bnlearn, and shows how kernels and dimensions grow. Rscript bn_kernel.R [output.rds]
#
# Seconds are processor time of one thread, the smallest of three runs; `difference` is the largest difference of the log-odds. No other package
# has feature maps, kernels or dimensions of networks: those are growth tables.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
output <- commandArgs(trailingOnly = TRUE)[1L]
has <- function(package) requireNamespace(package, quietly = TRUE)
cpu <- function(run) {
  best <- Inf
  for (k in 1:3) {
    used <- system.time(value <- run())
    best <- min(best, used[["user.self"]] + used[["sys.self"]])
  }
  list(seconds = best, value = value)
}
rows <- list()
# `times_ours`: seconds over those of granary in the same setting.
note <- function(setting, method, timed, difference = NA) {
  first <- Find(function(row) row$setting == setting, rows)
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = timed$seconds, difference = difference,
                                           times_ours = if (is.null(first)) 1 else timed$seconds / first$seconds)
  print(rows[[length(rows)]], row.names = FALSE)
}

for (n in c(2000, 20000)) {
  set.seed(1)
  p <- 30
  x <- as.data.frame(matrix(rbinom(n * p, 1, 0.5), n, dimnames = list(NULL, paste0("x", seq_len(p)))))
  y <- rbinom(n, 1, plogis(x$x1 - x$x2))
  setting <- sprintf("naive Bayes, fit and predict, n = %d, p = %d", n, p)
  ours <- cpu(function() predict(bn_classifier(x, y), type = "link"))
  note(setting, "granary", ours)
  frame <- as.data.frame(lapply(x, factor, 0:1))
  classes <- factor(y)
  if (has("e1071")) {
    peer <- cpu(function() qlogis(predict(getExportedValue("e1071", "naiveBayes")(frame, classes, laplace = 1), frame, type = "raw")[, 2L]))
    note(setting, "e1071", peer, max(abs(peer$value - ours$value)))
  }
  if (has("bnlearn")) {
    data <- cbind(frame, class = classes)
    peer <- cpu(function() {
      fit <- getExportedValue("bnlearn", "bn.fit")(getExportedValue("bnlearn", "naive.bayes")(data, "class"), data)
      qlogis(attr(predict(fit, data, prob = TRUE), "prob")[2L, ])
    })
    note(setting, "bnlearn (no smoothing)", peer, max(abs(peer$value - ours$value)))
  }
  tree <- cpu(function() bn_classifier(x, y, "tree"))
  note(sprintf("tree, n = %d, p = %d", n, p), "granary", tree)
  note(sprintf("logistic on the tree, n = %d, p = %d", n, p), "granary", cpu(function() bn_classifier(x, y, "tree", method = "logistic")))
}
for (k in c(1, 3, 6, 10)) {
  set.seed(1)
  names <- paste0("x", 1:60)
  dag <- as_graph(outer(1:60, 1:60, function(i, j) (j > i & j - i <= k) * 1), nodes = names, type = "dag")
  x <- as.data.frame(matrix(rbinom(200 * 60, 1, 0.5), 200, dimnames = list(NULL, names)))
  for (basis in c("indicator", "monomial")) {
    note(sprintf("kernel of 200 rows, chain of 60, order %d", k), basis, cpu(function() bn_kernel(x, dag = dag, basis = basis, threads = 1)))
  }
  note(sprintf("dimension, chain of 60, order %d", k), "granary", cpu(function() bn_bounds("dimension", dag)))
}
if (!is.na(output)) saveRDS(do.call(rbind, rows), output)
