# Archer, Park and Pillow (2014): Figures 7, 8 and 10 are curves over sample sizes; what they show is made into statements. Moby Dick and the retina are not at hand.
entropy_of <- function(p) -sum(p[p > 0] * log(p[p > 0]))
zipf <- function(s, n) (1:n)^-s / sum((1:n)^-s)
laws <- list(`p ~ i^-2` = zipf(2, 1e6), `p ~ i^-1.5` = zipf(1.5, 1e6), `1/n, 1000 symbols` = zipf(1, 1000), `uniform, 1000 symbols` = rep(1e-3, 1000),
             `Poisson(e)` = dpois(0:60, exp(1)))
known <- c(1.6376, 3.2181, 5.1910, 6.9078, 1.8772)
for (i in seq_along(laws)) claim(paste("true entropy,", names(laws)[i]), known[i], entropy_of(laws[[i]]), if (i == 2) 0.02 else 1e-4,
                                 if (i == 2) "of the law without end; ours is cut at 10^6 symbols" else "exact value", source = "reference")

# Exact values by fine quadrature.
for (case in list(list(c(4, 3, 2, 1), "pym", 1.736844, 0.428270), list(c(4, 3, 2, 1), "dpm", 1.712414, 0.409227),
                  list(c(10, 8, 5, 4, 2, 1, 1, 1, 1, 1), "pym", 2.229264, 0.239951), list(c(10, 8, 5, 4, 2, 1, 1, 1, 1, 1), "dpm", 2.207375, 0.226330))) {
  fit <- entropy_estimate(case[[1]], case[[2]], tol = 1e-9)
  claim(sprintf("%s of counts %s: mean", toupper(case[[2]]), paste(case[[1]], collapse = " ")), case[[3]], fit$estimate, 2e-6, "exact value", source = "reference")
  claim(sprintf("%s of counts %s: sd", toupper(case[[2]]), paste(case[[1]], collapse = " ")), case[[4]], fit$std.error, 2e-6, "exact value", source = "reference")
}

set.seed(1)
replicates <- if (extended) 100L else 10L
draw <- function(p, n) tabulate(sample.int(length(p), n, TRUE, p), length(p))
study <- function(p, n, methods = c("plugin", "miller_madow", "chao_shen", "dpm", "pym")) {
  truth <- entropy_of(p)
  runs <- replicate(replicates, {
    counts <- draw(p, n)
    fits <- lapply(methods, function(m) entropy_estimate(counts, m))
    rbind(vapply(fits, `[[`, 0, "estimate"), vapply(fits, `[[`, 0, "conf.low"), vapply(fits, `[[`, 0, "conf.high"))
  })
  low <- runs[2L, , ]
  high <- runs[3L, , ]
  list(mean = stats::setNames(rowMeans(runs[1L, , ]), methods), covers = stats::setNames(rowMeans(low) <= truth & truth <= rowMeans(high), methods),
       share = stats::setNames(rowMeans(low <= truth & truth <= high), methods), truth = truth)
}
# The figures shade intervals averaged over the samples of a size; how many of the single ones cover stands in the note.
interval_claim <- function(text, out, method) {
  claim(paste0(text, ": the average ", toupper(method), " interval covers the truth"), 1, as.numeric(out$covers[[method]]), 0,
        sprintf("of the single intervals of %d samples %.0f%% do", replicates, 100 * out$share[[method]]))
}
prototype <- list(`uniform, 1000 symbols` = c(5.517, 5.951, 6.99, 7.46, 7.60), `1/n, 1000 symbols` = c(4.41, 4.66, 4.96, 5.15, 5.65), `p ~ i^-1.5` = c(2.70, 2.80, 3.03, 2.96, 3.06))
for (name in names(prototype)) {
  out <- study(laws[[name]], 300)
  for (m in seq_along(out$mean)) {
    claim(sprintf("%s, N = 300, mean of %s", name, names(out$mean)[m]), prototype[[name]][m], out$mean[[m]], 0.15,
          sprintf("of a prototype, 10 samples with a standard error of about .05; here %d", replicates), source = "reference")
  }
}
# Figure 8: "the credible interval covers the true entropy for all sample sizes"
for (name in c("p ~ i^-2", "p ~ i^-1.5")) {
  for (n in c(100, 1000, 10000)) {
    out <- study(laws[[name]], n, c("dpm", "pym"))
    for (method in c("pym", "dpm")) interval_claim(sprintf("Figure 8, %s, N = %d", name, n), out, method)
  }
}
# Figure 10: uniform: PYM and DPM slightly above, CAE nearly perfect; 1/n: intervals cover.
out <- study(laws[["uniform, 1000 symbols"]], 300)
claim("Figure 10, uniform, N = 300: CAE minus the truth", 0, out$mean[["chao_shen"]] - out$truth, 0.15, "\"almost perfect performance\"")
claim("Figure 10, uniform, N = 300: DPM and PYM are above the truth", 1, as.numeric(out$mean[["dpm"]] > out$truth && out$mean[["pym"]] > out$truth), 0)
for (n in c(300, 3000)) {
  out <- study(laws[["1/n, 1000 symbols"]], n, c("dpm", "pym"))
  for (method in c("pym", "dpm")) interval_claim(sprintf("Figure 10, 1/n, N = %d", n), out, method)
}
# Figure 7: data of the model itself.
for (law in list(c(0, 1000), c(0.1, 1000), c(0.4, 100))) {
  weights <- sim_pitman_yor(2e5, law[1], law[2], type = "weights")
  p <- weights / sum(weights)
  out <- study(p, 1000, c("plugin", "dpm", "pym"))
  best <- if (law[1] == 0) "dpm" else "pym"
  claim(sprintf("Figure 7, PY(%g, %g), N = 1000: error of %s below that of the plug-in", law[1], law[2], toupper(best)), 1,
        as.numeric(abs(out$mean[[best]] - out$truth) < abs(out$mean[["plugin"]] - out$truth)), 0)
}
counts <- draw(laws[["p ~ i^-1.5"]], 1e5)
time <- system.time(entropy_estimate(counts))
claim("Section 4.3: seconds of PYM at N = 10^5", 0.1, sum(time[1:2]), 0.2, "the paper's machine is of 2014")
claim("Figure 9, Moby Dick and the retina", NA, NA, NA, "the data are not in R or CRAN")
