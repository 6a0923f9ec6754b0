# Tsochantaridis, Joachims, Hofmann and Altun (JMLR 6, 2005): Table 4 and Figure 2 on the simulated alignments of section 5.3. The other tables need
# corpora. Fewer and smaller runs than the paper's unless extended. The paper does not say where the homologous part is padded, so errors can differ
# by more than chance; those that do are reported as they are.
#
# The generative model hangs on three things the paper leaves open: what its Laplace estimates add to the counts (1 here), over what the shares
# of single letters are taken (whole sequences here), and the base of its logarithms (natural here), which is the unit of its gap score of -0.2,
# "which performs best on the test set". On our test sets -0.2 is far from best: even with the true probabilities in place of counts it errs three
# times as often as the best gap, about -1. Perhaps the paper's unit is another one. Its procedure does not hang on the unit: the one gap that
# is best on the test sets is taken, from a grid. Both are reported, -0.2 as printed and the gap so chosen.
#
# The machine errs more than the paper's at every n up to 20, at n = 4 and 10 by more than two standard errors. We do not know why. C is part of it: in
# trial runs at n = 4 (14 of them) it erred in 23.5 (standard error 1.6), 18.3 (1.9) and 19.2 (2.2) per cent of cases with C = 0.01, 0.1 and 1 on the sum
# of squared slacks; training errors at n = 20 were 5.0, 0.8 and 0 per cent, the paper's are 1.0. C = 0.1 is nearer to the paper than the C it
# prints, but does not settle n = 4. The claims keep the printed one.

set.seed(1)
sizes <- if (extended) c(1, 2, 4, 10, 20, 40, 80) else c(1, 2, 4, 10, 20)
# mean and standard error as printed
paper <- data.frame(n = c(1, 2, 4, 10, 20, 40, 80), svm = c(47.0, 34.3, 14.4, 7.1, 5.2, 3.0, 2.8), svm_error = c(4.6, 4.3, 1.4, 1.6, 0.5, 0.3, 0.6),
                    counts = c(74.3, 54.5, 28.0, 10.2, 3.4, 2.3, 1.9), counts_error = c(2.7, 3.3, 2.3, 0.7, 0.7, 0.5, 0.4))
runs <- if (extended) 20 else 8
tests <- if (extended) 200 else 40
gaps <- c(-0.2, -0.5, -0.7, -1, -1.5)
wrong <- function(fit, new) 100 * mean(predict(fit, new) != 1)
one <- function(n) {
  sim <- sim_align(n)
  new <- sim_align(tests)
  new <- list(native = new$native, candidates = Map(function(h, d) c(list(h), d), new$homolog, new$decoys))
  problem <- output_align(sim$native, sim$homolog, sim$decoys, sim$alignment, alphabet = 1:20)
  sum_scaled <- structured_svm(problem, cost = 0.01 * n, threads = 1)  # C on the sum of squared slacks
  mean_scaled <- structured_svm(problem, cost = 0.01, threads = 1)     # C on their mean, as printed
  c(sum = wrong(sum_scaled, new), mean = wrong(mean_scaled, new), cuts = mean_scaled$cuts_added,
    counts = vapply(gaps, function(gap) wrong(structured_baseline(problem, "generative", gap = gap), new), 0))
}
all_runs <- lapply(sizes, function(n) replicate(runs, one(n)))
table4 <- sapply(all_runs, rowMeans)
table4_error <- sapply(all_runs, function(m) apply(m, 1, stats::sd) / sqrt(runs))
within <- function(error, k, row) 2 * sqrt(error^2 + table4_error[row, k]^2)  # two standard errors of the difference
for (k in seq_along(sizes)) {
  claim(sprintf("Table 4, n = %d: test error of SVM2 in percent", sizes[k]), paper$svm[k], table4["sum", k], within(paper$svm_error[k], k, "sum"),
        sprintf("C = 0.01 on the sum of squared slacks; %.1f with C on their mean, as section 2.2.2 has it", table4["mean", k]))
}
counts <- paste0("counts", seq_along(gaps))
best <- which.min(rowMeans(table4[counts, ]))
claim("Table 4: the gap score with which the generative model performs best on the test set", -0.2, gaps[best], 0.1,
      "natural logarithms; the paper's are not stated. Of -0.2, -0.5, -0.7, -1 and -1.5 the best in the mean over all n")
for (k in seq_along(sizes)) {
  text <- sprintf("Table 4, n = %d: test error of the generative model in percent", sizes[k])
  claim(paste0(text, ", gap -0.2"), paper$counts[k], table4["counts1", k], within(paper$counts_error[k], k, "counts1"),
        "the unit of the gap is not stated")
  row <- counts[best]
  claim(paste0(text, ", gap best on the test set"), paper$counts[k], table4[row, k], within(paper$counts_error[k], k, row),
        sprintf("gap %g", gaps[best]))
}
claim("Table 4: with few examples the machine is better than counting", TRUE,
      all(table4["sum", sizes <= 4] < table4[counts[best], sizes <= 4]), 0)
growth <- table4["cuts", length(sizes)] / table4["cuts", 1]
claim("Figure 2: the number of cuts grows less than n", TRUE, growth < max(sizes), 0,
      sprintf("%.0f cuts for n = 1, %.0f for n = %d, C on the mean of slacks", table4["cuts", 1], table4["cuts", length(sizes)], max(sizes)))

set.seed(2)
sim <- sim_align(20)
problem <- output_align(sim$native, sim$homolog, sim$decoys, sim$alignment, alphabet = 1:20)
cuts <- vapply(c(0.5, 0.1, 0.02), function(eps) structured_svm(problem, cost = 0.2, tol = eps, threads = 1)$cuts_added, 0)
claim("Figure 2: cuts grow far slower than 1 / eps^2", TRUE, cuts[3] / cuts[1] < 25, 0,
      sprintf("eps = 0.5, 0.1, 0.02: %s cuts, where the bound grows 625-fold", paste(cuts, collapse = ", ")))

# Section 3: bounds and certificates on the same data.
fit <- structured_svm(problem, cost = 0.2, optimize = "full", threads = 1)
claim("Theorem 18: no more cuts than the bound", TRUE, fit$cuts_added <= structured_bounds(fit)$cuts, 0,
      sprintf("%d of at most %.0f", fit$cuts_added, structured_bounds(fit)$cuts))
claim("Proposition 15: every cut raises the dual by the bound at least", TRUE, all(fit$history$gain >= structured_bounds(fit)$gain), 0)
claim("Propositions 1 and 2: mean slack bounds the training error", TRUE, fit$risk <= fit$risk_bound, 0)

claim("Table 1: WIPO-alpha D, taxonomy and tree loss: accuracy 29.74, loss 1.21", NA, NA, NA, "needs the corpus")
claim("Table 2: CoNLL-2002 Spanish: HMM 9.36, CRF 5.17, perceptron 5.94, SVM 5.08 percent errors", NA, NA, NA, "needs the corpus")
claim("Table 3: the same by formulation", NA, NA, NA, "needs the corpus")
claim("Table 5: Penn treebank, F1 of PCFG 86.0, SVM2 86.2, slack 88.5, margin 88.4", NA, NA, NA, "needs the corpus")
