# Waegeman, Dembczynski, Jachnik, Cheng and Huellermeier (JMLR 15, 2014). Examples, theorems and the shapes of the synthetic experiments (Section 6) are re-made; Mulan's
# data (scene, yeast, enron, mediamill) are not in the package: what is printed for them is listed.

# Section 4.1: two laws with the same marginal probabilities.
single <- f_decide(sample = rbind(c(0, 0, 0, 1), c(0, 0, 1, 0), c(0, 1, 0, 0), c(1, 0, 0, 0)), weights = c(0.1, 0.2, 0.2, 0.5))
double <- f_decide(sample = rbind(0, c(1, 0, 0, 1), c(1, 0, 1, 0), c(1, 1, 0, 0)), weights = c(0.5, 0.1, 0.2, 0.2))
claim("Section 4.1: the maximizers are 1000 and 0000", TRUE, identical(c(single$labels, double$labels), c(1L, rep(0L, 7))), 0)
claim("Section 4.1: expected F of the first", 0.5, single$expected, 1e-12, "reference of our own: the probability of the vector", "reference")
claim("Section 4.1: expected F of the second", 0.5, double$expected, 1e-12, "reference of our own: the probability of the vector", "reference")

# Section 4.3: twelve labels.
twelve <- rbind(rep(0, 12), c(1, rep(0, 11)), c(0, rep(1, 6), rep(0, 5)), c(0, 1, rep(0, 5), rep(1, 5)))
weights <- c(0.21, 0.39, 0.2, 0.2)
best <- f_decide(sample = twelve, weights = weights)
claim("Section 4.3: the maximizer has the first label alone", TRUE, identical(as.integer(best$labels), c(1L, rep(0L, 11))), 0)
claim("Section 4.3: its expected F", 0.39, best$expected, 1e-12)
claim("Section 4.3: the best threshold expects", 0.36, f_decide(sample = twelve, weights = weights, method = "threshold")$expected, 1e-12,
      "reference of our own: the paper says that no threshold finds the maximizer", "reference")

# Theorems.
law <- sim_multilabel(1, 4, "subset")$law
claim("Theorem 2, m = 4: the regret of the empty vector, as printed in the appendix", 13 / 24, -diff(f_regret(law$y, law$prob, decisions = rep(0, 4))$f[c(1, 8)]), 1e-9,
      "an erratum: the formula and the law give 13/21")
claim("Theorem 2, m = 4: the formula", 13 / 21, -diff(f_regret(law$y, law$prob, decisions = rep(0, 4))$f[c(1, 8)]), 1e-9)
for (m in c(3, 5, 10, 20)) {
  law <- sim_multilabel(1, m, "subset")$law
  claim(sprintf("Theorem 2, m = %d: the formula is the regret on the worst law", m), f_bounds("subset", m)$bound,
        -diff(f_regret(law$y, law$prob, decisions = rep(0, m))$f[c(1, 8)]), 1e-9)
}
claim("Corollary 1: the regret of independence tends to 1", TRUE, all(diff(f_bounds("independence", c(10, 100, 1000, 10000))$bound) > 0) &&
        f_bounds("independence", 10000)$bound > 0.99, 0)
law <- sim_multilabel(1, 42, "threshold")$law
regret <- f_regret(law$y, law$prob)
claim("Theorem 7, m = 42: thresholds lose at least", f_bounds("threshold", 42)$bound, regret$regret[regret$decision == "threshold"], 2e-5)

# Figures 2 and 3: labels without columns, m = 25. FM: independence; GFM: any law; MM: marginal modes; JM: joint mode; estimated from n rows, scored on the law.
runs <- if (extended) 60 else 8
shape <- function(type, n, seed) {
  set.seed(seed)
  sim <- sim_multilabel(n + 10000, 25, type)
  train <- sim$y[seq_len(n), , drop = FALSE]
  test <- sim$y[-seq_len(n), ]
  decisions <- list(fm = f_decide(sample = train, method = "independent"), gfm = f_decide(sample = train), mm = f_decide(sample = train, target = "hamming"),
                    jm = f_decide(sample = train, target = "subset"))
  vapply(decisions, function(one) f_score(test, matrix(one$labels, nrow(test), 25, byrow = TRUE))$f_instance, 0)
}
independent <- rowMeans(vapply(seq_len(runs), function(seed) shape("independent", 2000, seed), numeric(4)))
dependent <- rowMeans(vapply(seq_len(runs), function(seed) shape("chain", 2000, seed), numeric(4)))
note <- function(x) paste(names(x), sprintf("%.4f", x), collapse = ", ")
claim("Figure 2, its shape: for independent labels FM and GFM are equal", TRUE, abs(independent[["fm"]] - independent[["gfm"]]) < 0.003, 0, note(independent))
claim("Figure 2, its shape: and better than the marginal and the joint modes", TRUE, min(independent[c("fm", "gfm")]) > max(independent[c("mm", "jm")]), 0, note(independent))
claim("Figure 3, its shape: for dependent labels GFM is the best for F", TRUE, dependent[["gfm"]] >= max(dependent[c("fm", "mm", "jm")]), 0, note(dependent))

# Learners, on simulated rows: the order of the paper's tables.
set.seed(1)
sim <- sim_multilabel(if (extended) 3000 else 900, 8, "chain", p = 6)
train <- seq_len(nrow(sim$y) / 3)
score <- function(model, ...) {
  fit <- multilabel(sim$x[train, ], sim$y[train, ], model = model, lambda = c(0.1, 1, 10), ...)
  f_score(sim$y[-train, ], suppressWarnings(predict(fit, sim$x[-train, ], n_draws = 500)))$f_instance
}
found <- vapply(c("br", "lfp", "efp", "pcc"), score, 0)
claim("Tables 3 to 5, their order: methods that decide by F are better than binary relevance", TRUE, min(found[c("lfp", "efp", "pcc")]) > found[["br"]] - 0.005, 0,
      paste("simulated:", note(found)))

printed <- c("scene, kNN with 10 neighbours, GFM" = 71.42, "yeast, kNN with 10 neighbours, GFM" = 65.49, "enron, kNN with 10 neighbours, FM" = 47.50,
             "scene, classifier chains, GFM" = 72.78, "yeast, classifier chains, GFM" = 65.63, "enron, classifier chains, GFM" = 59.08, "scene, BR" = 55.73, "scene, LFP" = 74.38,
             "scene, EFP" = 74.44, "yeast, EFP" = 65.47, "enron, EFP" = 61.04)
for (what in names(printed)) claim(paste("F in percent:", what), printed[[what]], NA, 0, "the data are not in the package")
