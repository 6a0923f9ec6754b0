# Drukh and Mansour (2005): the paper has no experiments; its one number, exact values, and simulations of what the theorems say.
names_list <- c(2, 1, 1, 1, 2, 1, 1, 1)
claim("list of names: missing mass", 0.6, good_turing(names_list)$missing[["estimate"]], 1e-12, "in the text of the paper")
model <- unigram_model(names_list, vocabulary = 20, method = "loo")
claim("list of names, 20 words: q of words seen at most once", 7 / 162, model$unseen[["prob"]], 1e-12, "exact value", source = "reference")
claim("list of names, 20 words: leave-one-out log-loss", 3.138020447, model$log_loss, 1e-9, "exact value", source = "reference")
law <- 1 / (1:50) / sum(1 / (1:50))
exact <- good_turing_bounds("hitting", n = 40, k = 0:3, prob = law)
for (k in 0:3) {
  claim(sprintf("p ~ 1/i, 50 words, 40 draws: E M_%d", k), c(.292525, .186306, .109438, .073314)[k + 1], exact$mean_mass[k + 1], 5.1e-7, "exact value", source = "reference")
  claim(sprintf("p ~ 1/i, 50 words, 40 draws: E G_%d", k), c(.297183, .191918, .115226, .079193)[k + 1], exact$mean_good_turing[k + 1], 5.1e-7, "exact value", source = "reference")
}
claim("uniform, 20 words, 200 draws: Var M_10", .0056157733, good_turing_bounds("hitting", n = 200, k = 10, prob = rep(0.05, 20))$sd_mass^2, 5e-11, "exact value", source = "reference")

# Theorem 28: Good-Turing for small k, empirical for large, the combined at most the worse of both.
set.seed(1)
zipf <- sim_unigram(0, vocabulary = 50000)$prob
replicates <- if (extended) 50L else 10L
out <- good_turing_compare(zipf, n = 10000, n_rep = replicates, k = c(0:40, 60, 80, 100))
few <- out$table$k <= 3
many <- out$table$k >= 60
claim("Zipf, 50000 words, 10000 draws: Good-Turing is better for k <= 3", 1, as.numeric(all(out$table$good_turing[few] < out$table$empirical[few])), 0)
claim("Zipf: empirical masses are better on average for k >= 60", 1, as.numeric(mean(out$table$empirical[many]) < mean(out$table$good_turing[many])), 0)
# The leave-one-out log-loss: the error falls about as 1 / sqrt(m).
sizes <- if (extended) c(1e3, 1e4, 1e5, 1e6) else c(1e3, 1e4, 1e5)
gaps <- vapply(sizes, function(n) {
  loss <- good_turing_compare(zipf, n = n, n_rep = replicates, k = 0)$log_loss
  mean(abs(loss$truth - loss$estimate))
}, 0)
slope <- stats::coef(stats::lm(log(gaps) ~ log(sizes)))[[2L]]
claim("Zipf, 50000 words: power of m with which |L - L_loo| falls", -0.5, slope, 0.15, sprintf("%d samples a size", replicates), source = "reference")
# Statements hold at least as often as they say.
hold <- mean(replicate(if (extended) 500L else 100L, {
  sim <- sim_unigram(5000, vocabulary = 2000)
  sure <- good_turing(sim$counts, level = 0.9)$missing
  truth <- sum(sim$prob[sim$counts == 0])
  sure[["sure.low"]] <= truth && truth <= sure[["sure.high"]]
}))
claim("missing mass within its sure interval at level 0.9: share of samples", 1, hold, 0.1, "at least 0.9")
