# Tsochantaridis, Joachims, Hofmann and Altun (JMLR 6, 2005): Table 4 and Figure 2 on the simulated alignments of section 5.3. The other tables need
# corpora. Fewer and smaller runs than the paper's unless extended. The paper does not say where the homologous part is padded, what its Laplace
# estimates add to the counts, nor over what the shares of single letters are taken, so errors can differ by more than chance; those that do are
# reported as they are. The generative model hangs on these choices more than on anything else: with 1 added to every pair and single letters counted
# in whole sequences, our default, it errs more than the paper's at n = 2 and 4, with 0.1 added less, so the paper's own choice lies between.

set.seed(1)
sizes <- if (extended) c(1, 2, 4, 10, 20, 40, 80) else c(1, 2, 4, 10, 20)
# mean and standard error as printed
paper <- data.frame(n = c(1, 2, 4, 10, 20, 40, 80), svm = c(47.0, 34.3, 14.4, 7.1, 5.2, 3.0, 2.8), svm_error = c(4.6, 4.3, 1.4, 1.6, 0.5, 0.3, 0.6),
                    counts = c(74.3, 54.5, 28.0, 10.2, 3.4, 2.3, 1.9), counts_error = c(2.7, 3.3, 2.3, 0.7, 0.7, 0.5, 0.4))
runs <- if (extended) 20 else 8
tests <- if (extended) 200 else 40
wrong <- function(fit, new) 100 * mean(predict(fit, new) != 1)
one <- function(n) {
  sim <- sim_homologs(n)
  new <- sim_homologs(tests)
  new <- list(native = new$native, candidates = Map(function(h, d) c(list(h), d), new$homolog, new$decoys))
  problem <- output_align(sim$native, sim$homolog, sim$decoys, sim$alignment, alphabet = 1:20)
  sum_scaled <- structured_svm(problem, cost = 0.01 * n, threads = 1)  # C on the sum of squared slacks
  mean_scaled <- structured_svm(problem, cost = 0.01, threads = 1)     # C on their mean, as printed
  c(sum = wrong(sum_scaled, new), mean = wrong(mean_scaled, new), counts = wrong(structured_generative(problem), new),
    faint = wrong(structured_generative(problem, laplace = 0.1), new), cuts = mean_scaled$cuts_added)
}
all_runs <- lapply(sizes, function(n) replicate(runs, one(n)))
table4 <- sapply(all_runs, rowMeans)
table4_error <- sapply(all_runs, function(m) apply(m, 1, stats::sd) / sqrt(runs))
within <- function(error, k, row) 2 * sqrt(error^2 + table4_error[row, k]^2)  # two standard errors of the difference
for (k in seq_along(sizes)) {
  claim(sprintf("Table 4, n = %d: test error of SVM2 in percent", sizes[k]), paper$svm[k], table4["sum", k], within(paper$svm_error[k], k, "sum"),
        sprintf("C = 0.01 on the sum of squared slacks; %.1f with C on their mean, as section 2.2.2 has it", table4["mean", k]))
}
for (k in seq_along(sizes)) {
  claim(sprintf("Table 4, n = %d: test error of the generative model in percent", sizes[k]), paper$counts[k], table4["counts", k],
        within(paper$counts_error[k], k, "counts"), sprintf("gap -0.2, counts plus 1; %.1f with counts plus 0.1", table4["faint", k]))
}
claim("Table 4: with few examples the machine is better than counting", TRUE, all(table4["sum", sizes <= 4] < table4["counts", sizes <= 4]), 0)
growth <- table4["cuts", length(sizes)] / table4["cuts", 1]
claim("Figure 2: the number of cuts grows less than n", TRUE, growth < max(sizes), 0,
      sprintf("%.0f cuts for n = 1, %.0f for n = %d, C on the mean of slacks", table4["cuts", 1], table4["cuts", length(sizes)], max(sizes)))

set.seed(2)
sim <- sim_homologs(20)
problem <- output_align(sim$native, sim$homolog, sim$decoys, sim$alignment, alphabet = 1:20)
cuts <- vapply(c(0.5, 0.1, 0.02), function(eps) structured_svm(problem, cost = 0.2, tol = eps, threads = 1)$cuts_added, 0)
claim("Figure 2: cuts grow far slower than 1 / eps^2", TRUE, cuts[3] / cuts[1] < 25, 0,
      sprintf("eps = 0.5, 0.1, 0.02: %s cuts, where the bound grows 625-fold", paste(cuts, collapse = ", ")))

# Section 3: bounds and certificates on the same data.
fit <- structured_svm(problem, cost = 0.2, optimize = "full", threads = 1)
claim("Theorem 18: no more cuts than the bound", TRUE, fit$cuts_added <= structured_bound(fit)$cuts, 0,
      sprintf("%d of at most %.0f", fit$cuts_added, structured_bound(fit)$cuts))
claim("Proposition 15: every cut raises the dual by the bound at least", TRUE, all(fit$history$gain >= structured_bound(fit)$gain), 0)
claim("Propositions 1 and 2: mean slack bounds the training error", TRUE, fit$risk <= fit$risk_bound, 0)

claim("Table 1: WIPO-alpha D, taxonomy and tree loss: accuracy 29.74, loss 1.21", NA, NA, NA, "needs the corpus")
claim("Table 2: CoNLL-2002 Spanish: HMM 9.36, CRF 5.17, perceptron 5.94, SVM 5.08 percent errors", NA, NA, NA, "needs the corpus")
claim("Table 3: the same by formulation", NA, NA, NA, "needs the corpus")
claim("Table 5: Penn treebank, F1 of PCFG 86.0, SVM2 86.2, slack 88.5, margin 88.4", NA, NA, NA, "needs the corpus")
