# Colombo and Maathuis (JMLR 2014). Section 5.1's high-dimensional setting: p = 1000, expected degree 2, n = 50. The paper averages 250 graphs and
# 20 orders of the variables each; here
# one random order of a few graphs. Tolerances: three standard errors of such a mean, from the standard deviations of Table 4.

set.seed(301)
graphs <- if (extended) 25 else 4

runs <- lapply(seq_len(graphs), function(k) {
  sim <- sim_dag(1000, n = 50, degree = 2)
  x <- sim$data[, sample(1000)]
  search <- function(...) pc(x, threads = 1, ...)
  asked <- function(fit) {  # the printed algorithm repeats tests that we remember
    counts <- fit$tests$tests + fit$tests$repeats
    c(counts, numeric(5))[1:5]
  }
  truth <- graph_convert(sim$graph, "cpdag")
  quality <- function(fit) {
    found <- assess(fit, truth)
    c(edges = found$skeleton[["estimated"]], errors = found$skeleton[["fp"]] + found$skeleton[["fn"]], tdr = found$skeleton[["tdr"]], shd = found$shd)
  }
  list(
    original = asked(search(alpha = 0.04, method = "original", colliders = "standard")), stable = asked(search(alpha = 0.04, colliders = "standard")),
    pc = quality(search(alpha = 0.01, method = "original", colliders = "standard", conflicts = "overwrite")),
    pc_stable = quality(search(alpha = 0.01, colliders = "standard", conflicts = "overwrite")),
    cpc = quality(search(alpha = 0.01, colliders = "conservative", conflicts = "overwrite")),
    mpc = quality(search(alpha = 0.01, colliders = "majority", conflicts = "overwrite")), lmpc = quality(search(alpha = 0.01, colliders = "majority"))
  )
})
mean_of <- function(part) rowMeans(vapply(runs, function(run) run[[part]], runs[[1L]][[part]]))

# Table 4: tests by size of the conditioning set, alpha = 0.04 -----------------------------------------------------------------------
table_4 <- list(
  original = list(mean = c(5.21e5, 1.29e5, 1.10e4, 1.12e3, 9.38e1), sd = c(1.95e2, 2.19e3, 5.93e2, 1.21e2, 2.86e1), digits = c(5e2, 5e2, 50, 5,
      0.05)),
  stable = list(mean = c(5.21e5, 2.65e5, 1.44e4, 5.05e2, 3.08e1), sd = c(1.95e2, 4.68e3, 8.90e2, 8.54e1, 1.78e1), digits = c(5e2, 5e2, 50, 0.5, 0.05))
)
for (method in names(table_4)) {
  paper <- table_4[[method]]
  ours <- mean_of(method)
  for (size in 0:4) {
    claim(sprintf("Table 4, %s, tests given %d variables", if (method == "stable") "PC-stable" else "PC", size), paper$mean[size + 1L],
          ours[size + 1L],
          3 * paper$sd[size + 1L] / sqrt(graphs) + paper$digits[size + 1L])
  }
}

# Figures 5 and 7, alpha = 0.01: curves only, so their order is compared ---------------------------------------------------------------
original <- mean_of("pc")
stable <- mean_of("pc_stable")
claim("Figure 5: PC-stable has fewer edges than PC", TRUE, stable[["edges"]] < original[["edges"]], 0)
claim("Figure 5: PC-stable makes fewer errors in the skeleton than PC", TRUE, stable[["errors"]] < original[["errors"]], 0)
claim("Figure 5: PC-stable has the higher true discovery rate", TRUE, stable[["tdr"]] > original[["tdr"]], 0)
claim("Figure 7: PC-stable has the smaller SHD", TRUE, stable[["shd"]] < original[["shd"]], 0)
below <- function(part) {  # the mean over graphs, beside its standard error
  change <- vapply(runs, function(run) run[[part]][["shd"]] - run$pc_stable[["shd"]], 0)
  sprintf("SHD %.0f against %.0f, a difference of %.1f with standard error %.1f over %d graphs; the paper has 250 graphs with 20 orders each and prints curves",
          mean_of(part)[["shd"]], stable[["shd"]], mean(change), stats::sd(change) / sqrt(graphs), graphs)
}
claim("Figure 7: CPC-stable has a smaller SHD than PC-stable", TRUE, mean_of("cpc")[["shd"]] < stable[["shd"]], 0, below("cpc"))
claim("Figure 7: MPC-stable has a smaller SHD than PC-stable", TRUE, mean_of("mpc")[["shd"]] < stable[["shd"]], 0, below("mpc"))
claim("Figure 7: relative difference of SHD between LMPC-stable and MPC-stable", 0, abs(mean_of("lmpc")[["shd"]] / mean_of("mpc")[["shd"]] - 1), 0.05,
      "'little difference' in the paper")
for (part in c("edges", "tdr")) {
  claim(paste("alpha = 0.01,", part, "of PC"), NA, original[[part]], NA, "the paper prints a curve only")
  claim(paste("alpha = 0.01,", part, "of PC-stable"), NA, stable[[part]], NA, "the paper prints a curve only")
}

# Table 5: seconds, alpha = 0.04 -----------------------------------------------------------------------------------------------------
x <- sim_dag(1000, n = 50, degree = 2)$data
claim("Table 5: seconds of PC-stable, alpha = 0.04", 170.49, system.time(pc(x, alpha = 0.04, threads = 1))[["elapsed"]], NA,
      "another machine and another language")

# Low dimensions (appendix A.1): the skeletons of PC and PC-stable are indistinguishable --------------------------------------------------
low <- vapply(seq_len(if (extended) 50 else 10), function(k) {
  sim <- sim_dag(50, n = 1000, degree = 2)
  error <- function(method) sum(assess(pc(sim$data, alpha = 0.01, method = method, threads = 1), graph_convert(sim$graph, "cpdag"))$skeleton[c("fp",
      "fn")])
  c(error("original"), error("stable"))
}, c(0, 0))
claim("p = 50, n = 1000: difference of skeleton errors per graph between PC and PC-stable", 0, mean(low[1L, ] - low[2L, ]), 0.5,
      "'basically indistinguishable'")

# Yeast ------------------------------------------------------------------------------------------------------------------------------
external <- "the data are not part of this package"
claim("yeast, alpha = 0.01: edges of PC-stable", 2086, NA, NA, external)
claim("yeast, alpha = 0.01: fewest edges of PC over 26 orders", 5015, NA, NA, external)
claim("yeast, alpha = 0.01: most edges of PC over 26 orders", 5159, NA, NA, external)
claim("yeast, alpha = 0.01: edges present in all 26 orders", 1478, NA, NA, external)
