# Rscript svm.R <file for the results, .rds> [extended]
#
# Times svm() beside e1071 (LIBSVM) and kernlab, in one run on one thread, CPU seconds of the R process, with the same tolerance (1e-3), the same
# cache (40 MB) and no scaling. Dense: 20 columns, overlapping classes, rbf with gamma = 0.05. Sparse: 4000 documents (20000 with `extended`) of
# about 60 words out of 50000, linear kernel and rbf. `ratio` is the peer's time over ours; `difference` is the relative difference of the dual
# objectives, both computed from the coefficients in double precision. `predict_ratio` is the same for decisions on as many rows (at most 5000).
# e1071 fits with fitted = FALSE and predicts without decision values. Above 2000 rows a peer fits in a process of its own, which is ended when
# it has used 90 s of CPU or twice (kernlab: 3.5 times) our time, whichever is more: `ended` is then "no", `ratio` is the least it can be, and
# there is no objective to compare. So the extended run, the only one with n = 30000, takes about twelve minutes at most on a quiet machine;
# `elapsed` is the seconds since its start. kernlab caches 40 MB, too; it is left out for sparse data, and for a cost of 100 at 30000 rows.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

dense <- function(n) {
  set.seed(7)
  x <- matrix(rnorm(n * 20), n)
  score <- x[, 1] * x[, 2] + x[, 3] + 0.5 * rowSums(x[, 4:6]^2 - 1)
  list(x = x, y = factor(ifelse(score + rnorm(n) > 0, "b", "a")))
}
# Word frequencies fall as in a text; some words are commoner in one class. Documents have length one.
documents <- function(n, d = 50000) {
  set.seed(8)
  length <- 20 + rpois(n, 40)
  class <- rep(0:1, length.out = n)
  word <- pmin(d, ceiling(exp(runif(sum(length), 0, log(d)))))
  row <- rep(seq_len(n), length)
  informative <- word %% 7 == 0 & runif(length(word)) < 0.5
  word[informative] <- pmin(d, word[informative] + class[row[informative]])
  x <- Matrix::sparseMatrix(row, word, x = 1, dims = c(n, d))
  list(x = Matrix::Diagonal(x = 1 / sqrt(Matrix::rowSums(x^2))) %*% x, y = factor(c("a", "b")[class + 1]))
}
# 1/2 b'Kb - 1'|b|
objective <- function(sv, kernel, b) {
  decide <- getFromNamespace("core_svm_decision", "granary")
  prepare <- getFromNamespace("prepare_kernel", "granary")
  0.5 * sum(b * decide(sv, prepare(kernel, ncol(sv)), matrix(b), sv, 1L, NULL)) - sum(abs(b))
}

rows <- list()
begun <- proc.time()[["elapsed"]]
add <- function(...) {
  rows[[length(rows) + 1L]] <<- data.frame(..., elapsed = proc.time()[["elapsed"]] - begun)
  print(rows[[length(rows)]], digits = 3, row.names = FALSE)
  if (!is.na(output)) saveRDS(do.call(rbind, rows), output)
}
# What `fit` takes and gives, in a fork that may use `limit` seconds of CPU (the value is NULL at the limit); for small data the median of five runs.
peer_fit <- function(fit, small, limit) {
  if (small) return(list(seconds = median(replicate(5L, cpu(value <<- fit()))), value = value))
  job <- parallel::mcparallel({
    seconds <- cpu(value <- fit())
    list(seconds = seconds, value = value)
  })
  used <- 0
  while (used < limit) {
    done <- suppressWarnings(parallel::mccollect(job, wait = FALSE, timeout = 5))
    if (length(done) > 0L) {
      suppressWarnings(parallel::mccollect(job))
      return(done[[1L]])
    }
    used <- as.numeric(system2("ps", c("-o", "cputimes=", "-p", job$pid), stdout = TRUE))
  }
  tools::pskill(job$pid, tools::SIGKILL)
  suppressWarnings(parallel::mccollect(job))
  list(seconds = used, value = NULL)
}
value <- NULL
compare <- function(data, d, cost, kernel, gamma = 0.05, with_kernlab = FALSE) {
  n <- nrow(d$x)
  used <- if (kernel == "linear") k_linear() else k_rbf(gamma)
  some <- seq_len(min(n, 5000))
  repeats <- if (n <= 2000) 5L else 1L
  seconds <- median(replicate(repeats, cpu(fit <<- svm(d$x, d$y, cost = cost, kernel = kernel, gamma = gamma, standardize = FALSE, cache_mb = 40))))
  ours <- objective(fit$sv, used, fit$coefficients[, 1])
  predict_seconds <- median(replicate(3L, cpu(predict(fit, d$x[some, ]))))
  beside <- function(name, peer, guess, index, coefficients) {
    ended <- !is.null(peer$value)
    theirs <- if (ended) objective(d$x[index(peer$value), ], used, coefficients(peer$value)) else NA_real_
    predict_peer <- if (ended) cpu(guess(peer$value)) else NA_real_
    add(data = data, n = n, cost = cost, kernel = kernel, peer = name, ended = if (ended) "yes" else "no", peer_s = peer$seconds,
        granary_s = seconds, ratio = peer$seconds / seconds, difference = (ours - theirs) / abs(theirs), predict_peer_s = predict_peer,
        predict_s = predict_seconds, predict_ratio = predict_peer / predict_seconds, support = length(fit$index), steps = fit$n_iter[[1]])
  }
  name <- "e1071"
  sparse <- isS4(d$x)
  if (requireNamespace(name, quietly = TRUE) && (!sparse || requireNamespace("SparseM", quietly = TRUE))) {
    space <- loadNamespace(name)
    given <- if (sparse) methods::as(d$x, "matrix.csr") else d$x
    peer_kernel <- if (kernel == "linear") "linear" else "radial"
    peer <- peer_fit(function() space$svm(given, d$y, cost = cost, kernel = peer_kernel, gamma = gamma, scale = FALSE, cachesize = 40,
                                          fitted = FALSE), n <= 2000, max(90, 2 * seconds))
    beside(name, peer, function(fit) stats::predict(fit, given[some, ]), function(fit) fit$index, function(fit) drop(fit$coefs))
  }
  name <- "kernlab"
  if (with_kernlab && requireNamespace(name, quietly = TRUE)) {
    space <- loadNamespace(name)
    peer <- peer_fit(function() space$ksvm(d$x, d$y, type = "C-svc", kernel = "rbfdot", kpar = list(sigma = gamma), C = cost, scaled = FALSE,
                                           cache = 40, tol = 1e-3, fit = FALSE), n <= 2000, max(90, 3.5 * seconds))
    beside(name, peer, function(fit) space$predict(fit, d$x[some, ]), function(fit) fit@SVindex, function(fit) unlist(space$coef(fit)))
  }
}
d <- dense(2000)
for (cost in c(1, 100)) compare("dense", d, cost, "rbf", with_kernlab = TRUE)
d <- dense(10000)
for (cost in c(1, 100)) compare("dense", d, cost, "rbf", with_kernlab = TRUE)
if (extended) compare("dense", dense(30000), 1, "rbf", with_kernlab = TRUE)
d <- documents(if (extended) 20000 else 4000)
for (kernel in c("linear", "rbf")) compare("sparse", d, 1, kernel, gamma = 0.5)
if (extended) compare("dense", dense(30000), 100, "rbf")
