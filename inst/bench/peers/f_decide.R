# Rscript f_decide.R <file for the results, .rds>
#
# f_decide() against what can be had in R. utiml, which thresholds multilabel scores in R code, and mldr are not at hand everywhere, and neither has an exact decision for expected
# F: the peer is a plain R version of the same algorithms, vectorised where R allows it: Ye et al.'s recursion for independent labels, Algorithm 1 for samples. Where utiml is
# installed its score-driven threshold is timed too. One thread, CPU seconds; `ratio` is the peer's time over ours, `gap` the difference of the expected F.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

ye <- function(p) {
  p <- sort(p, decreasing = TRUE)
  m <- length(p)
  s <- 1 / seq_len(2 * m + 1)
  rows <- vector("list", m + 1)
  rows[[m + 1]] <- s
  for (k in m:1) rows[[k]] <- p[k] * c(rows[[k + 1]][-1], 0) + (1 - p[k]) * rows[[k + 1]]
  law <- 1
  best <- prod(1 - p)
  for (k in seq_len(m)) {
    law <- c(law * (1 - p[k]), 0) + c(0, law * p[k])
    best <- max(best, sum(2 * (0:k) * law * rows[[k + 1]][k + 0:k]))
  }
  best
}
gfm <- function(y) {
  m <- ncol(y)
  size <- rowSums(y)
  sizes <- sort(unique(size[size > 0]))
  joint <- vapply(sizes, function(s) colSums(y[size == s, , drop = FALSE]), numeric(m)) / nrow(y)
  delta <- joint %*% outer(sizes, seq_len(m), function(s, k) 2 / (s + k))
  max(mean(size == 0), vapply(seq_len(m), function(k) sum(sort(delta[, k], decreasing = TRUE)[seq_len(k)]), 0))
}

rows <- list()
note <- function(task, size, peer, peer_s, ours_s, gap) {
  rows[[length(rows) + 1L]] <<- data.frame(task = task, size = size, peer = peer, peer_s = peer_s, granary_s = ours_s, ratio = peer_s / ours_s, gap = gap)
  print(rows[[length(rows)]], digits = 3, row.names = FALSE)
}
set.seed(1)
for (m in c(100, 1000, 3000)) {
  p <- rbeta(m, 0.3, 2)
  times <- max(1, 2000 %/% m)
  ours <- cpu(for (i in seq_len(times)) fit <- f_decide(p))
  peer <- cpu(for (i in seq_len(times)) value <- ye(p))
  note("independent", m, "plain R (Ye et al.)", peer / times, ours / times, fit$expected - value)
}
p <- matrix(rbeta(2000 * 25, 0.3, 1), 2000)
ours <- cpu(fit <- f_decide(p))
peer <- cpu(value <- apply(p, 1, ye))
note("2000 rows of 25", 25, "plain R (Ye et al.)", peer, ours, max(abs(fit$expected - value)))
for (m in c(25, 200)) {
  y <- sim_multilabel(1000, m, "chain")$y
  ours <- cpu(for (i in 1:20) fit <- f_decide(sample = y)) / 20
  peer <- cpu(for (i in 1:20) value <- gfm(y)) / 20
  note("sample of 1000", m, "plain R (GFM)", peer, ours, fit$expected - value)
}
if (has("utiml") && has("mldr")) {
  scores <- as.data.frame(p)
  peer <- cpu(said <- utiml::fixed_threshold(utiml::as.mlresult(as.matrix(scores)), 0.5))
  note("2000 rows of 25", 25, "utiml, fixed threshold", peer, ours, NA)
}
if (extended) {
  p <- rbeta(1e6, 0.3, 4)
  note("independent", 1e6, "none", NA, cpu(f_decide(p)), NA)
}
results <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(results, output)
