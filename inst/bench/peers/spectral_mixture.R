# Times spectral_mixture() against VEM of topicmodels. Rscript spectral_mixture.R [output.rds]
#
# CPU seconds of one thread. Documents are drawn from latent Dirichlet allocation; `perplexity` is that of 500 other documents, for both by our variational bound at the topics and alpha of the fit,
# so that the same yardstick serves both. topicmodels runs at its defaults (tolerance 1e-4 for EM, 1e-6 for documents) with alpha estimated, as ours is in the polish.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
note <- function(setting, method, seconds, ours, perplexity) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, perplexity = perplexity)
  print(rows[[length(rows)]], row.names = FALSE)
}
held_out <- function(fit, alpha, topics, x) {
  fit$alpha[] <- alpha
  fit$means[] <- topics
  fit$polish <- list(converged = TRUE)  # topics as they are
  assess(fit, newdata = x)$perplexity
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
    seconds <- cpu(peer <- topicmodels::LDA(dtm, k = s[["k"]], method = "VEM", control = list(seed = 1)))
    topics <- matrix(1e-12, s[["k"]], s[["d"]])
    topics[, kept] <- pmax(exp(peer@beta), 1e-12)
    note(setting, "topicmodels, VEM", seconds, ours, held_out(fit, peer@alpha, topics / rowSums(topics), test))
    smooth <- 0.01 + sweep(topics, 1, colSums(peer@gamma) / sum(peer@gamma) * sum(train), "*")
    note(setting, "topicmodels, VEM, counts smoothed by 0.01", seconds, ours, held_out(fit, peer@alpha, smooth / rowSums(smooth), test))
  }
}
saveRDS(do.call(rbind, rows), output)
