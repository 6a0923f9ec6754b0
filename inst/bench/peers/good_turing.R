# Times good_turing() and unigram_model() against vegan, iNEXT, edgeR and a loop in R. Rscript good_turing.R [output.rds]
#
# CPU seconds of one thread, of the same counts. `value` is the missing mass for coverage (iNEXT corrects its estimate by (m - 1) n_1 / ((m - 1) n_1 + 2 n_2), so it is a
# little smaller), the number of unseen words for Chao's estimate, and the leave-one-out log-loss in nats for laws of words. The reference "refits in R" deletes an
# occurrence of every distinct count and makes the table of counts anew, as a user without the formulas of the paper would; its value must be the same.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

note <- value_table()

# Absolute discounting of counts up to tau with a fixed discount.
refits <- function(y, discount, tau) {
  y <- y[order(y)]
  m <- sum(y)
  loss <- 0
  for (k in unique(y[y > 0])) {
    i <- match(k, y)
    z <- y
    z[i] <- k - 1
    low <- sum(z >= 1 & z <= tau)
    q <- if (k == 1) discount * low / ((m - 1) * sum(z == 0)) else if (k - 1 <= tau) (k - 1 - discount) / (m - 1) else (k - 1) / (m - 1)
    loss <- loss - k * sum(y == k) / m * log(q)
  }
  loss
}

for (size in list(c(5e3, 1e3), c(5e6, 1e6))) {
  set.seed(1)
  y <- sim_unigram(size[1L], vocabulary = size[2L])$counts
  seen <- y[y > 0]
  setting <- sprintf("Zipf law, %g words, %g draws", size[2L], size[1L])
  times <- if (length(y) > 1e5) 3L else 50L
  seconds <- timed(fit <- good_turing(y), times)
  note(setting, "good_turing(), missing mass", seconds, seconds, fit$missing[["estimate"]])
  if (has("iNEXT")) note(setting, "iNEXT::DataInfo(), missing mass", timed(info <- iNEXT::DataInfo(seen)), seconds, 1 - info$SC)
  note(setting, "good_turing(), unseen words", seconds, seconds, fit$unseen[["chao1"]])
  if (has("vegan")) {
    used <- timed(chao <- vegan::estimateR(seen), if (times > 3L) 20L else 1L)
    note(setting, "vegan::estimateR(), unseen words", used, seconds, chao[["S.chao1"]] - chao[["S.obs"]])
  }
  seconds <- timed(simple <- good_turing(y, method = "simple"), times)
  note(setting, "good_turing(\"simple\"), missing mass", seconds, seconds, simple$missing[["estimate"]])
  if (has("edgeR")) note(setting, "edgeR::goodTuring(), missing mass", timed(theirs <- edgeR::goodTuring(seen), times), seconds, theirs$P0)
  tau <- floor(sum(y)^0.4)
  seconds <- timed(law <- unigram_model(y, discount = 0.5, tau = tau), times)
  note(setting, "unigram_model(), log-loss", seconds, seconds, law$log_loss)
  note(setting, "refits in R, log-loss", timed(loss <- refits(y, 0.5, tau)), seconds, loss)
}
saveRDS(note(), output)
