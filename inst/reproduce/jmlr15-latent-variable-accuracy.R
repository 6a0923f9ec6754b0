# Yamazaki (2014) prints formulas only (Tables 2 and 3). The numbers here were computed by quadrature elsewhere: references, not the paper's.
two <- function(delta) list(family = "gaussian", means = rbind(0, delta), covariance = 1, type = "tied")
reference <- rbind(c(1, 99.118, 3.1770, NA), c(1.5, 15.318, 1.9995, NA), c(2, 4.64155, 1.30199, 1.86410), c(3, .938851, .556225, .683034), c(4, .272087, .220973, .242928), c(5, .081928, .076182, .078913))
for (i in seq_len(nrow(reference))) {
  found <- suppressWarnings(label_accuracy(two(reference[i, 1L]), known = "covariance", engine = "quadrature", n = 1e6))$table$coefficient
  for (j in 1:3) {
    if (is.na(reference[i, j + 1L])) next
    claim(sprintf("two normals %g apart, variances known: %s", reference[i, 1L], c("maximum likelihood", "Bayes, all labels", "Bayes, half of the labels")[j]), reference[i, j + 1L], found[j],
          1e-4 * reference[i, j + 1L], source = "reference")
  }
}
free <- label_accuracy(two(3), engine = "quadrature", n = 1e6)$table$coefficient
for (j in 1:3) claim(sprintf("two normals 3 apart, common variance unknown: %s", c("maximum likelihood", "Bayes, all labels", "Bayes, half of the labels")[j]), c(1.32377, .823021, .996390)[j], free[j], 1e-5, source = "reference")
exact <- label_simulate(list(share = 0.3, probs = c(0.9, 0.2), prior = c(1, 1)), n = c(5, 20, 100, 500, if (extended) 2000))
value <- c(.183289, .358676, .427472, .427489, .427410)
for (i in seq_len(nrow(exact))) claim(sprintf("one unknown share, exact Bayes error times n, n = %g", exact$n[i]), value[i], exact$estimate[i], 2e-6, source = "reference")
claim("Table 2, Bayes below maximum likelihood for every separation (1 = yes)", 1,
      as.numeric(all(vapply(reference[, 1L], function(delta) suppressWarnings(label_accuracy(two(delta), known = "covariance", engine = "quadrature", n = 1e6))$gain, 0) > 0)), 0)
set.seed(1)
sim <- label_simulate(two(4), n = if (extended) 2000 else 500, n_rep = if (extended) 1000 else 200)
claim("error of maximum likelihood by simulation relative to its asymptote, separation 4", 1, sim$estimate / sim$asymptote, 0.1 + 2 * sim$std.error / sim$asymptote, "all parameters estimated")
