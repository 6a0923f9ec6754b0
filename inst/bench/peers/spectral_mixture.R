# Times spectral_mixture() against VEM of topicmodels. Rscript spectral_mixture.R [output.rds]
#
# CPU seconds of one thread. Documents are drawn from latent Dirichlet allocation; `perplexity` is that of 500 other documents, for both by our variational bound at the topics and alpha of the fit,
# so that the same yardstick serves both; it agrees with topicmodels::perplexity(). The row to compare with is "start alpha as given": topicmodels begins at the alpha that granary is told, and
# estimates it. At its default, 50 / k, alpha grows without end on these documents and all topics become alike, so that row stops early and is no measure of its speed.
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
  ours <- cpu(fit <- run(20))
  note(setting, "granary, polish = 20", ours, ours, assess(fit, newdata = test)$perplexity)
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
saveRDS(do.call(rbind, rows), output)
