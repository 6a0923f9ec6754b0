# Martinez-Cantin (2014), Table 1: mean gap f(best) - f(optimum) over runs, by number of evaluations (initial design included). The paper has ten runs
# per cell; the short form here has fewer and stops earlier, `extended` runs the table. Seconds were measured in 2014 and are not compared.
gaps <- function(f, optimum, at, n_init, runs, ...) {
  box <- attr(f, "box")
  paths <- vapply(seq_len(runs), function(seed) {
    set.seed(seed)
    bayes_opt(f, box[, 1], box[, 2], n_init = n_init, n_iter = max(at) - n_init, ...)$trace$best[at] - optimum
  }, at + 0)
  rowMeans(matrix(paths, length(at)))
}
every_20 <- "the paper's setting: maximum posterior, learnt anew every 20 evaluations; a mean over ten runs with a printed sd as large as itself"
ours <- "learnt after every evaluation up to 60, then every tenth: our default"
runs <- if (extended) 10 else 3

mean_sd <- function(sd, own = runs) 2 * sd * sqrt(1 / 10 + 1 / own)  # two standard errors of the difference of means over ten and over our runs
branin_map <- gaps(test_function("branin"), 0.397887, if (extended) c(50, 200) else 50, 5, runs)
branin_20 <- if (extended) gaps(test_function("branin"), 0.397887, c(50, 200), 5, runs, relearn = 20)
claim("Branin, MAP, gap after 50", 1.16844, if (extended) branin_20[1] else NA, mean_sd(1.745), if (extended) every_20 else "needs extended = TRUE")
claim("Branin, MAP, gap after 200", 0, if (extended) branin_20[2] else NA, 1e-4, if (extended) every_20 else "needs extended = TRUE")
claim("Branin, DiceOptim's setting (learnt every step), gap after 50", 0.00004, branin_map[1], 1e-3, ours)
claim("Branin, our default, gap after 200 (the paper's 0.00000)", 0, if (extended) branin_map[2] else NA, 1e-4,
      if (extended) ours else "needs extended = TRUE")

camel <- gaps(test_function("camelback"), -1.031628, if (extended) c(50, 100) else 50, 5, runs)
camel_20 <- if (extended) gaps(test_function("camelback"), -1.031628, c(50, 100), 5, runs, relearn = 20)
claim("Camelback, MAP, gap after 50", 0.00852, if (extended) camel_20[1] else camel[1], mean_sd(0.021), if (extended) every_20 else ours)
claim("Camelback, MAP, gap after 100", 0, if (extended) camel_20[2] else NA, 1e-4, if (extended) every_20 else "needs extended = TRUE")
claim("Camelback, our default, gap after 100 (the paper's 0.00000)", 0, if (extended) camel[2] else NA, 1e-4,
      if (extended) ours else "needs extended = TRUE")

# The second-best minimum of this function is 0.1192 above the best: a mean gap after 200 evaluations counts the runs
# that end there, 0.02385 two in ten.
hartmann <- gaps(test_function("hartmann6"), -3.32237, if (extended) c(50, 200) else 50, 10, runs)
hartmann_20 <- if (extended) gaps(test_function("hartmann6"), -3.32237, c(50, 200), 10, runs, relearn = 20)
claim("Hartmann-6, MAP, gap after 50", 0.06476, if (extended) hartmann_20[1] else hartmann[1], mean_sd(0.047),
      if (extended) every_20 else ours)
claim("Hartmann-6, MAP, gap after 200", 0.02385, if (extended) hartmann_20[2] else NA, mean_sd(0.048),
      if (extended) every_20 else "needs extended = TRUE")
claim("Hartmann-6, our default, gap after 200 (the paper's 0.02385)", 0.02385, if (extended) hartmann[2] else NA, mean_sd(0.048),
      if (extended) paste(ours, "; runs that miss end in the second minimum, 0.1192 above") else "needs extended = TRUE")

mcmc <- "slice sampler, 10 particles after 100 sweeps, design of 2 points"
branin_mcmc <- if (extended) gaps(test_function("branin"), 0.397887, 50, 2, 5, learn = "mcmc")
camel_mcmc <- if (extended) gaps(test_function("camelback"), -1.031628, 50, 2, 5, learn = "mcmc")
claim("Branin, MCMC, gap after 50", 0.04742, if (extended) branin_mcmc else NA, mean_sd(0.116, 5), if (extended) mcmc else "needs extended = TRUE")
claim("Camelback, MCMC, gap after 50", 0, if (extended) camel_mcmc else NA, 1e-3, if (extended) mcmc else "needs extended = TRUE")
claim("Hartmann-6, MCMC, gap after 50", 1.05608, NA, NA, "an average over particles at 50 points in 6 dimensions takes minutes per run: not re-made")
claim("Branin, seconds for 200 evaluations", 8.6, NA, NA, "measured on the author's machine; inst/bench/results/bayes_opt.md has ours")
for (peer in c("SMAC", "HyperOpt", "Spearmint")) claim(paste(peer, "on the three functions"), NA, NA, NA, "other programs, not in R")
