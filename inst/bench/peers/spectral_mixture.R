# Times spectral_mixture() against VEM of topicmodels. Rscript spectral_mixture.R [output.rds]
#
# CPU seconds of one thread. Documents are drawn from latent Dirichlet allocation; `perplexity` is that of 500 other documents, for both by our variational bound at the topics and alpha of the fit,
# so that the same yardstick serves both; it agrees with topicmodels::perplexity(). The row to compare with is "start alpha as given": topicmodels begins at the alpha that granary is told, and
# estimates it. Five steps of polish were chosen on six other collections (1500 x 1500 with 6 topics and 3000 x 1000 with 8, three seeds), where 2, 5, 10 and 20 steps gave rising perplexities
# of other documents; 20 steps are shown too. At its default, 50 / k, alpha grows without end on these documents and all topics become alike, so that row stops early and is no measure of its speed.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
note <- function(setting, method, seconds, ours, perplexity) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, perplexity = perplexity)
  print(rows[[length(rows)]], row.names = FALSE)
}
held_out <- function(alpha, topics, x) {
  rows <- granary:::core_topic_rows(Matrix::t(x), TRUE, alpha, unname(topics), 1L, NULL)
  exp(-sum(rows$row_loglik) / sum(x))
}
settings <- list(c(n = 1000, d = 1000, k = 5), c(n = 2000, d = 2000, k = 10))
for (s in settings) {
  setting <- sprintf("%d documents of 80 words, vocabulary %d, %d topics", s[["n"]], s[["d"]], s[["k"]])
  set.seed(2)
  sim <- sim_spectral_mixture(s[["n"]] + 500, "lda", k = s[["k"]], d = s[["d"]], alpha = 0.1, length = 80)
  train <- sim$x[seq_len(s[["n"]]), ]
  test <- sim$x[-seq_len(s[["n"]]), ]
  run <- function(polish) suppressWarnings(spectral_mixture(train, s[["k"]], "lda", alpha0 = 0.1 * s[["k"]], method = "joint", polish = polish, threads = 1))
  invisible(list(run(1), run(1)))  # R compiles functions when they are called again
  ours <- cpu(fit <- run(5))
  note(setting, "granary, polish = 5", ours, ours, assess(fit, newdata = test)$perplexity)
  long <- cpu(polished <- run(20))
  note(setting, "granary, polish = 20", long, ours, assess(polished, newdata = test)$perplexity)
  brief <- cpu(plain <- run(0))
  note(setting, "granary, moments alone", brief, ours, assess(plain, newdata = test)$perplexity)
  if (requireNamespace("topicmodels", quietly = TRUE)) {
    kept <- Matrix::colSums(train) > 0
    dtm <- slam::as.simple_triplet_matrix(as.matrix(train[, kept]))
    starts <- list(`start alpha as given` = list(seed = 1, alpha = 0.1), defaults = list(seed = 1))
    for (start in names(starts)) {
      seconds <- cpu(peer <- topicmodels::LDA(dtm, k = s[["k"]], method = "VEM", control = starts[[start]]))
      topics <- matrix(1e-12, s[["k"]], s[["d"]])
      topics[, kept] <- pmax(exp(peer@beta), 1e-12)
      note(setting, paste("topicmodels, VEM,", start), seconds, ours, held_out(rep(peer@alpha, s[["k"]]), topics / rowSums(topics), test))
    }
  }
}
# A million documents of ten words, a sparse matrix that is handed over in pieces of 20000; `perplexity` is that of 2000 others.
memory <- function(what) if (file.exists("/proc/self/status")) as.numeric(sub("^[^0-9]*([0-9]+).*", "\\1", grep(what, readLines("/proc/self/status"), value = TRUE))) / 1024 else NA
if (extended) {
  set.seed(3)
  topics <- sim_spectral_mixture(10, "lda", k = 5, d = 1000)$means
  draw <- function(n) sim_spectral_mixture(n, "lda", k = 5, means = topics, alpha = 0.1, length = 10)$x
  x <- do.call(rbind, lapply(1:50, function(i) draw(20000)))
  test <- draw(2000)
  invisible(gc(full = TRUE))
  try(cat("5", file = "/proc/self/clear_refs"), silent = TRUE)  # the height so far is forgotten
  before <- memory("VmRSS")
  seconds <- cpu(fit <- suppressWarnings(spectral_mixture(data_chunks(x, size = 20000), 5, "lda", alpha0 = 0.5, method = "joint", polish = 5, threads = 1)))
  note(sprintf("10^6 documents of 10 words, vocabulary 1000, 5 topics: %.0f MB, and %.0f MB more at the height of the work", as.numeric(object.size(x)) / 2^20, memory("VmHWM") - before),
       "granary, polish = 5", seconds, seconds, assess(fit, newdata = test)$perplexity)
}
saveRDS(do.call(rbind, rows), output)
