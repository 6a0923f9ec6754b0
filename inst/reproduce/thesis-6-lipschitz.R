# Honorio (2012), chapter 6: the figure on synthetic data, the counterexamples, and the tables that need outside data.

set.seed(1)
# Figure 6.1: three curves against the penalty. The thesis shows no numbers; that they move together is read as rank correlations above 0.5, a
# threshold fixed before the first run.
repetitions <- if (extended) 50L else 3L
for (model in c("gaussian", "ising")) {
  for (density in c(0.2, 0.5, 0.8)) {
    runs <- lapply(seq_len(repetitions), function(r) model_path(model, density = density, rho = 2^seq(0, -6, by = -1)))
    mean_path <- Reduce(`+`, runs) / repetitions
    name <- sprintf("Figure 6.1, %s, density %g: ", model, density)
    claim(paste0(name, "KL and test loss move together"), TRUE, cor(mean_path$kl, mean_path$test_loss, method = "spearman") > 0.5, 0)
    claim(paste0(name, "KL and Frobenius error move together"), TRUE, cor(mean_path$kl, mean_path$frobenius, method = "spearman") > 0.5, 0,
          "three repetitions by default, fifty in the extended run, as in the thesis")
  }
}

eye <- function(n, k) model_gaussian(precision = k * diag(n))
printed <- model_bounds("pair", eye(7, 1), eye(7, 2), "printed")
claim("Lemma 6.23 as printed holds in 7 dimensions (spectral norm)", TRUE, printed$valid[printed$bound_name == "precision, spectral norm"], 0,
      "an erratum: KL is 1.074 and the bound 1; the dual norm is needed")
printed <- model_bounds("pair", eye(43, 1), eye(43, 2), "printed")
claim("Lemma 6.23 as printed holds in 43 dimensions (Frobenius norm)", TRUE, printed$valid[printed$bound_name == "precision, Frobenius norm"], 0,
      "an erratum, as above")
bounds <- model_bounds("pair", eye(43, 1), eye(43, 2), "nuclear")
claim("the corrected bounds hold there", TRUE, all(bounds$bound[bounds$quantity == "kl"] >= bounds$exact[bounds$quantity == "kl"]), 0)

needs <- "needs the CMU motion capture data, which cannot be shipped"
table_1 <- list("l1 covariance" = c(78, 78, 74, 76), "Tikhonov covariance" = c(78, 78, 78, 78), "l1 precision" = c(96, 93, 90, 75),
                "Tikhonov precision" = c(97, 96, 93, 92))
for (row in names(table_1)) {
  for (k in 1:4) claim(sprintf("Table 6.1, %s, penalty %g: accuracy in per cent", row, c(0.001, 0.01, 0.1, 1)[k]), table_1[[row]][k], NA, NA, needs)
}
table_2 <- c(walk = 93, squats = 87, run = 83, stop = 73, stretch = 70, jump = 96)
for (row in names(table_2)) claim(sprintf("Table 6.2, %s: windows segmented correctly in per cent", row), table_2[[row]], NA, NA, needs)
