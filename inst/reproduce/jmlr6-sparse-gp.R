# Quinonero-Candela and Rasmussen (JMLR 6, 2005). The paper is a taxonomy: it has no tables of results, and Figure 5 does not say how its data
# were made. Its statements are checked on data of the kind: 100 inputs uniform on (0, 6), y = sin(2x) + 0.3x + N(0, 0.05), a squared exponential
# kernel with the too short lengthscale 0.5, 10 inducing inputs among the training inputs, blocks of 10 neighbors, zero mean.

grid <- seq(-1, 7, length.out = 200)
divergence <- function(p, q) mean(log(q$se.fit / p$se.fit) + (p$se.fit^2 + (p$fit - q$fit)^2) / (2 * q$se.fit^2) - 0.5)
distance <- function(p, q, where) sqrt(mean((p$fit - q$fit)[where]^2))
one_run <- function(seed) {
  set.seed(seed)
  x <- sort(runif(100, 0, 6))
  y <- sin(2 * x) + 0.3 * x + rnorm(100, sd = sqrt(0.05))
  u <- cbind(sort(sample(x, 10)))
  fit <- function(method, ...) {
    sparse_gp(x, y, method = method, kernel = k_se(0.5), hyper = "fixed", noise_var = 0.05, mean = "zero", threads = 1, ...)
  }
  fits <- list(exact = fit("exact"), sor = fit("sor", inducing = u), dtc = fit("dtc", inducing = u), fitc = fit("fitc", inducing = u),
               pitc = fit("pitc", inducing = u, blocks = rep(1:10, each = 10)))
  set.seed(seed)
  fits$sod <- fit("sod", inducing = 10, select = "random")
  at <- lapply(fits, predict, grid, se = TRUE)
  at$asor <- predict(fits$sor, grid, se = TRUE, augment = TRUE)
  at$adtc <- predict(fits$dtc, grid, se = TRUE, augment = TRUE)
  at$afitc <- predict(fits$fitc, grid, se = TRUE, augment = TRUE)
  inside <- grid > 0.2 & grid < 5.8
  part <- function(p) lapply(p, `[`, inside)
  c(vapply(at[-1], function(q) divergence(at$exact, q), 0), same = max(abs(at$asor$fit - at$adtc$fit), abs(at$asor$se.fit - at$adtc$se.fit)),
    far_sor = at$sor$se.fit[1], far_dtc = at$dtc$se.fit[1], wide = mean(at$sod$se.fit[inside]) / mean(at$exact$se.fit[inside]),
    tighter = mean(at$adtc$se.fit[inside] <= at$dtc$se.fit[inside] + 1e-9), mean_same = max(abs(at$sor$fit - at$dtc$fit)),
    larger = min(at$dtc$se.fit - at$sor$se.fit), mean_error = distance(at$adtc, at$exact, inside) / distance(at$dtc, at$exact, inside),
    mean_error_all = distance(at$adtc, at$exact, TRUE) / distance(at$dtc, at$exact, TRUE),
    kl_inside = divergence(part(at$exact), part(at$adtc)) / divergence(part(at$exact), part(at$dtc)))
}
runs <- vapply(seq_len(if (extended) 200 else 20), one_run, one_run(1))
middle <- apply(runs, 1, median)
shown <- paste("median KL(exact || method):", paste(names(middle)[1:8], signif(middle[1:8], 3), collapse = ", "))

claim("Remark 5: DTC and SoR have the same mean; largest difference", 0, max(runs["mean_same", ]), 1e-9)
claim("Remark 5: the variance of DTC is never below that of SoR", TRUE, min(runs["larger", ]) >= -1e-9, 0)
claim("Remark 12: augmented SoR is augmented DTC; largest difference", 0, max(runs["same", ]), 1e-6)
claim("Remark 13: augmented SoR is more accurate than DTC (median KL to the exact process)", TRUE, middle[["asor"]] < middle[["dtc"]], 0,
      sprintf("%s; inside (0.2, 5.8) the KL of augmented SoR is %.2f times DTC's", shown, middle[["kl_inside"]]))
claim("Section 8.1, Figure 5: augmented DTC has a better mean than DTC (distance to the exact mean inside the data)", TRUE,
      middle[["mean_error"]] < 1, 0,
      sprintf("median ratio of root mean squared distances %.2f; on the whole grid %.2f", middle[["mean_error"]], middle[["mean_error_all"]]))
claim("Figure 5: SoD has wide predictive distributions (over three times those of the exact process)", TRUE, middle[["wide"]] > 3, 0,
      sprintf("ratio of mean standard errors inside the data: %.1f", middle[["wide"]]))
claim("Figure 5: SoR's error bars collapse away from the inducing inputs (median KL above 100 times DTC's)", TRUE,
      middle[["sor"]] > 100 * middle[["dtc"]], 0)
claim("Figure 5: DTC's error bars grow away from the data, SoR's do not", TRUE, middle[["far_dtc"]] > 0.8 && middle[["far_sor"]] < 0.3, 0,
      sprintf("standard errors at x = -1, prior 1: DTC %.2f, SoR %.2f", middle[["far_dtc"]], middle[["far_sor"]]))
claim("Figure 5: FITC and PITC are closer to the full process than DTC", TRUE, max(middle[["fitc"]], middle[["pitc"]]) < middle[["dtc"]], 0, shown)
reference <- c(fitc = 0.511, pitc = 0.516, dtc = 0.569)  # an independent run on these data
for (method in names(reference)) {
  claim(sprintf("Data of Figure 5's kind, 20 seeds: median KL(exact || %s) (computed independently)", toupper(method)), reference[[method]],
        median(runs[method, 1:20]), 0.005)
}
claim("Section 7: PITC's predictions are closer than FITC's", NA, middle[["pitc"]] / middle[["fitc"]], NA,
      "the paper ranks the priors, not the predictions; ours is the ratio of the median KL")
claim("Section 8.1: augmented DTC is less under-confident near the data than DTC (share of the grid where its error bar is no wider)", TRUE,
      middle[["tighter"]] > 0.9, 0, sprintf("%.3f", middle[["tighter"]]))

# Cost linear in n at fixed m (Table 1: n m^2). Evidence for fixed parameters.
sizes <- if (extended) c(2e4, 4e4, 8e4, 16e4) else c(2e4, 4e4, 8e4)
seconds <- vapply(sizes, function(n) {
  set.seed(1)
  x <- matrix(rnorm(n * 4), n)
  y <- rnorm(n)
  kernel <- k_se(rep(2, 4))
  min(replicate(3, sum(system.time(sparse_gp(x, y, inducing = x[1:100, ], kernel = kernel, hyper = "fixed", noise_var = 1, threads = 1))[1:2])))
}, 0)
claim("Table 1: cost grows linearly with n (slope of log time on log n, m = 100)", 1, unname(coef(lm(log(seconds) ~ log(sizes)))[2]), 0.15)

claim("Section 9: optimising inducing inputs with the parameters, at once, raises the evidence", TRUE, {
  set.seed(3)
  x <- runif(300, 0, 6)
  y <- sin(2 * x) + 0.3 * x + rnorm(300, sd = sqrt(0.05))
  still <- sparse_gp(x, y, inducing = 5, threads = 1)
  moved <- suppressWarnings(sparse_gp(x, y, inducing = 5, select = "optimize", threads = 1))
  moved$loglik > still$loglik
}, 0)
claim("Figure 5: the curves themselves", NA, NA, NA, "the data of the figure are not given")
