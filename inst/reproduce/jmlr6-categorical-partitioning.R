# Boulle (JMLR 6, 2005). The two synthetic patterns of Section 3.3 are re-made; the UCI data are not in the package.

runs <- if (extended) 1000 else 60
noise <- function(levels, method) {
  vapply(seq_len(runs), function(seed) {
    set.seed(seed)
    sim <- sim_levels(1000, levels, "noise")
    nrow(group_levels(sim$x, sim$y, method = method)$table)
  }, 0L)
}
for (levels in c(2, 10, 50, 100, 500)) {
  found <- noise(levels, "modl")
  claim(sprintf("Noise pattern, %d levels: more than one group is rare%s", levels, if (levels > 50) " (never, above 50)" else ""), TRUE,
        if (levels > 50) all(found == 1L) else mean(found > 1L) < 0.1, 0, sprintf("%.3f of %d runs have more than one group", mean(found > 1L), runs))
}
for (method in c("gain_ratio", "tschuprow")) {
  claim(paste("Noise pattern:", method, "always has at least two groups"), TRUE, min(noise(20, method)) >= 2L, 0)
}
mixture <- function(levels, seeds = if (extended) 20 else 3) {
  vapply(seq_len(seeds), function(seed) {
    set.seed(seed)
    sim <- sim_levels(10000, levels, "mixture")
    nrow(group_levels(sim$x, sim$y)$table)
  }, 0L)
}
few <- mixture(32)
some <- mixture(500)
many <- mixture(4000)
claim("Mixture pattern: 8 groups for few levels", 8, stats::median(few), 0, paste("32 levels; groups:", paste(few, collapse = " ")))
claim("Mixture pattern: 4 groups from about 500 levels up", 4, stats::median(some), 0, paste("500 levels; groups:", paste(some, collapse = " ")))
claim("Mixture pattern: one group beyond about 2000 levels", 1, stats::median(many), 0, paste("4000 levels; groups:", paste(many, collapse = " ")))

# Conjecture 1, and how good the heuristics are: against the enumeration of all partitions (our own check).
set.seed(1)
worst <- c(exact = 0, greedy = 0)
for (run in seq_len(if (extended) 400 else 60)) {
  counts <- matrix(stats::rpois(12, stats::rexp(12, 0.1)), 6)
  counts <- counts[rowSums(counts) > 0, , drop = FALSE]
  if (nrow(counts) < 2L || any(colSums(counts) == 0)) next
  fit <- group_levels(counts)
  greedy <- group_levels(counts, search = "greedy")
  worst["exact"] <- max(worst["exact"], fit$convergence$gap)
  worst["greedy"] <- max(worst["greedy"], greedy$cost - fit$cost)
}
claim("Conjecture 1: the best groups of two classes are intervals (no failure in tables of 6 levels)", 0, worst[["exact"]], 1e-9, "proved by convexity; see the errata")
claim("Section 2.4: the heuristic is near the optimum", TRUE, worst[["greedy"]] < 1, 0, sprintf("largest difference of costs %.2g", worst[["greedy"]]))

titanic <- as.data.frame(Titanic)
fit <- group_levels(titanic$Class, titanic$Survived, weights = titanic$Freq)
claim("Titanic, class by survival: cost", 1307.400, fit$cost, 5e-4, "reference of our own: a prototype", "reference")
claim("Titanic, class by survival: cost of one group", 1389.804, fit$null_cost, 5e-4, "reference of our own: a prototype", "reference")
fit <- group_levels(t(apply(UCBAdmissions, c(1, 3), sum)))
claim("Berkeley admissions, departments: cost", 2615.652, fit$cost, 5e-4, "reference of our own: a prototype", "reference")
claim("Berkeley admissions, departments: cost of one group", 3027.971, fit$null_cost, 5e-4, "reference of our own: a prototype", "reference")

printed <- c("MODL" = 84.8, "no grouping" = 84.0, "CHAID" = 83.3, "BIC" = 83.2, "MODL, pairs" = 85.8, "no grouping, pairs" = 84.6)
for (what in names(printed)) claim(paste("Naive Bayes, mean accuracy on 12 data sets:", what), printed[[what]], NA, 0, "the data are not in the package")
claim("Mushroom, CapColor: groups of 10 levels", 5, NA, 0, "the data are not in the package")
