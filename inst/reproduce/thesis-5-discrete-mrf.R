# Honorio (PhD thesis, Stony Brook 2012), section 5.4: convergence of forward-backward splitting (FBS) and proximal gradient (PG) on synthetic Ising
# models.
#
# The thesis prints curves, not numbers; what can be compared is their order. Set-up: 15 variables, density 0.5, w uniform on [-1, 1], 50 exact draws,
# lambda = 1/16, beta = 1, Gibbs sampler with five sweeps, ten repetitions, of which the thesis shows means. K = 1000 steps and S_k = ceiling(sqrt(k))
# draws are ours:
# the text of the thesis states neither. A first run of this script had three repetitions and asked for every comparison run by run; one of them,
# that the
# accelerated method fails, did not hold in each run, and its note now says in how many it does.

set.seed(501)
repetitions <- 10L
regimes <- if (extended) c("zero", "uniform") else "zero"

end_gap <- function(fit, best, iterate) fit$trace[nrow(fit$trace), iterate] - best

one_run <- function(field) {
  x <- sim_ising(15, density = 0.5, field = field, n = 50)$data
  while (any(abs(colMeans(x)) == 1)) x <- sim_ising(15, density = 0.5, field = field, n = 50)$data
  best <- ising_fit(x, lambda = 1 / 16, method = "exact", tol = 1e-7)$objective
  run <- function(...) suppressWarnings(ising_fit(x, lambda = 1 / 16, max_iter = 1000, ...))
  exact_fbs <- run(method = "fbs", sampler = "exact", tol = 1e-12)
  exact_pg <- run(method = "pg", sampler = "exact", tol = 1e-12)
  fbs <- run(method = "fbs")
  pg <- run(method = "pg")
  importance <- run(method = "fbs", sampler = "importance")
  apg <- run(method = "apg")
  beliefs <- run(method = "bp2step")
  c(
    exact_last = end_gap(exact_fbs, best, "last"), exact_average = end_gap(exact_fbs, best, "average"), exact_robust = end_gap(exact_fbs, best,
                                                                                                                               "robust"),
    pg_exact = end_gap(exact_pg, best, "last"), fbs_last = end_gap(fbs, best, "last"), fbs_average = end_gap(fbs, best, "average"),
    fbs_robust = end_gap(fbs, best, "robust"), fbs_first = fbs$trace$last[1L] - best, pg_last = end_gap(pg, best, "last"),
    pg_average = end_gap(pg, best, "average"), importance_last = end_gap(importance, best, "last"),
    apg_last = if (is.na(apg$objective)) Inf else apg$objective - best, beliefs = beliefs$objective - best
  )
}

for (field in regimes) {
  gaps <- replicate(repetitions, one_run(field))
  mean <- rowMeans(gaps)
  name <- paste0(if (field == "zero") "zero" else "non-zero", " field, K = 1000, mean gap to the optimum: ")
  own <- c(exact_last = "0.07 to 0.10", exact_average = "0.12 to 0.18", exact_robust = "0.20 to 0.29", pg_exact = "below 0.001",
           fbs_last = "0.08 to 0.14",
           pg_last = "0.03 to 0.76", pg_average = "0.03 to 0.11", apg_last = "above 900")
  for (item in names(own)) {
    claim(paste0(name, item), NA, mean[[item]], NA, paste("curves only in the thesis; an independent run of the set-up gave", own[[item]]))
  }
  claim(paste0(name, "FBS last < average < robust, exact gradients"), TRUE, all(gaps["exact_last", ] < gaps["exact_average", ] &
    gaps["exact_average", ] < gaps["exact_robust", ]), 0)
  claim(paste0(name, "FBS last < average < robust, Gibbs"), TRUE,
        mean[["fbs_last"]] < mean[["fbs_average"]] && mean[["fbs_average"]] < mean[["fbs_robust"]], 0)
  claim(paste0(name, "exact PG is below exact FBS"), TRUE, all(gaps["pg_exact", ] < gaps["exact_last", ]), 0)
  claim(paste0(name, "FBS with Gibbs draws comes nearer than a tenth of its first gap"), TRUE, all(gaps["fbs_last", ] < 0.1 * gaps["fbs_first", ]), 0,
        "the thesis: FBS converges slowly, but for every schedule")
  claim(paste0(name, "accelerated PG fails with few draws"), TRUE, mean[["apg_last"]] > 10 * mean[["fbs_last"]], 0,
        sprintf("in the mean; in %d of %d runs one by one", sum(gaps["apg_last", ] > 10 * gaps["fbs_last", ]), repetitions))
  claim(paste0(name, "the two-step method with beliefs stays away from the optimum"), TRUE, all(gaps["beliefs", ] > gaps["pg_exact", ] + 0.01), 0)
}
