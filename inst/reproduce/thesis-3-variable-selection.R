# Honorio (PhD thesis, Stony Brook 2012), section 3.5: few interacting nodes among confounders.
#
# The thesis prints curves, not numbers, and data sets that are not part of this package. What can be put beside it are the order of the
# methods in Kullback-Leibler divergence, the effect of its algorithm, and its times. Every divergence below is the best along a grid of
# penalties, as in its figures, and a mean over a few samples of 50 rows.

set.seed(201)

grid_of <- function(S, length) mean(diag(S)) * exp(seq(log(1), log(5e-4), length.out = length))

best_kl <- function(truth, fits) min(vapply(fits, function(X) assess(X, truth)$kl, 0), na.rm = TRUE)

one_sample <- function(connected, ratio, grid_length, with_linf) {
  sim <- sim_ggm("confounders", p = 50, n = 50, connected = connected, density = 0.5, ratio = ratio)
  S <- stats::cov(sim$data) * 49 / 50
  grid <- grid_of(S, grid_length)
  rows <- function(norm) suppressWarnings(ggm_nodes(S = S, lambda = grid, norm = norm, tol = 1e-4, threads = 1)$precision)
  ridge <- lapply(grid, function(r) solve(S + diag(r, 50)))
  c(
    l2 = best_kl(sim, rows("l2")), linf = if (with_linf) best_kl(sim, rows("linf")) else NA,
    glasso = best_kl(sim, ggm_lasso(S = S, lambda = grid, tol = 1e-4, threads = 1)$precision),
    ridge = best_kl(sim, lapply(ridge, function(m) (m + t(m)) / 2))
  )
}

compare <- function(connected, ratio, reference, samples = 5, grid_length = 20, with_linf = TRUE) {
  kl <- replicate(samples, one_sample(connected, ratio, grid_length, with_linf))
  mean <- rowMeans(kl)
  error <- apply(kl, 1L, stats::sd) / sqrt(samples)
  name <- paste0("N = 50, ", 100 * connected, "% connected, sd ratio ", ratio, ": best KL of ")
  for (method in names(mean)) {
    claim(paste0(name, method), NA, mean[[method]], NA,
          sprintf("the thesis prints curves only; an independent run of the same specification gave %.3g (ours has standard error %.2g)",
                  reference[[method]], error[[method]]))
  }
  if (ratio == 10) {
    claim(paste0(name, "l2 is below that of the graphical lasso"), TRUE, mean[["l2"]] < mean[["glasso"]], 0)
    claim(paste0(name, "l2 is below that of ridge"), TRUE, mean[["l2"]] < mean[["ridge"]], 0)
    if (with_linf) claim(paste0(name, "linf is below that of the graphical lasso"), TRUE, mean[["linf"]] < mean[["glasso"]], 0)
  } else if (with_linf) {
    claim(paste0(name, "linf is below that of the graphical lasso"), TRUE, mean[["linf"]] < mean[["glasso"]], 0,
          paste("Figure 3.1. Solved exactly (gap certified) with tau = 50 rho it is not. In a run apart (seed 201, 3 samples, 20% connected, 10 penalties) the mean best",
                "divergences were 4.32 exact, 2.71 with the thesis' Algorithm 3.1, which stops above the optimum, 2.74 exact with tau = 2 rho,",
                "and 2.62 for the graphical lasso. Three samples: this suggests the tied tau as the reason, but does not show it"))
  }
}

# Figures 3.1 and 3.2, D.2 -----------------------------------------------------------------------------------------------------------
compare(0.2, 10, c(l2 = 0.845, linf = 1.05, glasso = 2.56, ridge = 6.93), samples = if (extended) 5 else 3, grid_length = if (extended) 20 else 10)
compare(0.2, 1, c(l2 = 2.55, linf = 3.23, glasso = 2.49, ridge = 5.9), samples = if (extended) 5 else 3, grid_length = if (extended) 20 else 10)
if (extended) {
  compare(0.5, 10, c(l2 = 2.24, linf = 2.95, glasso = 5.57, ridge = 13))
  compare(0.5, 1, c(l2 = 3.92, linf = 4.44, glasso = 4.01, ridge = 6.88))
  compare(0.8, 1, c(l2 = 4.9, linf = 5.29, glasso = 5.24, ridge = 6.51))
}

# Algorithm 3.1 against the optimum ---------------------------------------------------------------------------------------------------
excess <- vapply(1:12, function(k) {
  data <- sim_ggm("confounders", p = 8, n = 30, connected = 1, density = 0.6, shift = 0.5)$data
  vapply(c(l2 = "l2", linf = "linf"), function(norm) {
    rho <- 0.5 * ggm_nodes(data, n_lambda = 1, norm = norm)$rho
    exact <- ggm_nodes(data, lambda = rho, norm = norm, tol = 1e-8, threads = 1)
    printed <- suppressWarnings(ggm_nodes(data, lambda = rho, norm = norm, method = "bcd", max_iter = 200, threads = 1))
    printed$objective - exact$objective
  }, 0)
}, c(0, 0))
for (norm in rownames(excess)) {
  claim(paste0("8 variables, ", norm, ": share of 12 samples in which Algorithm 3.1 reaches the optimum"), 1, mean(excess[norm, ] < 1e-4), 0,
        sprintf("it stops up to %.2g above a minimum whose gap is certified, so the claim is the paper's error (see errata)", max(excess[norm, ])))
}

# Times (10 sweeps on the author's machine) ------------------------------------------------------------------------------------------
seconds <- function(p, norm) {
  sim <- sim_ggm("confounders", p = p, n = 50, connected = 0.8, density = 0.5, ratio = 10)
  rho <- 0.3 * ggm_nodes(sim$data, n_lambda = 1, norm = norm)$rho
  system.time(ggm_nodes(sim$data, lambda = rho, norm = norm, threads = 1))[["elapsed"]]
}
machine <- "another machine, an exact solver, and a penalty the thesis does not state: not comparable"
claim("l2, N = 100: seconds", 0.07, seconds(100, "l2"), NA, machine)
claim("linf, N = 100: seconds", 0.13, seconds(100, "linf"), NA, machine)
if (extended) {
  claim("l2, N = 200: seconds", 0.12, seconds(200, "l2"), NA, machine)
  claim("linf, N = 200: seconds", 0.63, seconds(200, "linf"), NA, machine)
}

# Real data --------------------------------------------------------------------------------------------------------------------------
external <- "the data are not part of this package"
claim("baker's yeast, N = 677: relative log-likelihood of l2", 22, NA, NA, external)
claim("brain fMRI, rho = 1/16: density of the l2 graph", 0.0016, NA, NA, external)
claim("brain fMRI: classification accuracy", 0.846, NA, NA, external)
