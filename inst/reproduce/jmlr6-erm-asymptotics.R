# Mohammadi and van de Geer (JMLR 6, 2005) has no experiments: what follows checks its limit laws on drawn data, against numbers of our own.

runs <- if (extended) 6000 else 600
n <- if (extended) 4000 else 1000
set.seed(1)
cuts <- replicate(runs, {
  d <- sim_thresholds(n, "line")
  coef(threshold_classifier(d$x, d$y))
})
z <- n^(1 / 3) * (cuts - 0.5)
claim("Theorem 1, F0(x) = x: variance of n^(1/3)(a - 1/2)", 0.2636, var(z), if (extended) 0.02 else 0.05, sprintf("reference: Chernoff's variance; %d runs of n = %d", runs, n))
for (p in c(0.95, 0.975)) {
  claim(sprintf("Theorem 1: share below the %s quantile of Chernoff's law", p), p, mean(z < qchernoff(p)), if (extended) 0.012 else 0.025, "reference of our own")
}
smooth <- threshold_bounds("smooth", slope = rep(1.2 * pi, 3), density = 1)
claim("Theorem 1, three cuts: scale (f^2 g)^(-1/3)", 0.4128, smooth$scale[1], 1e-4, "reference: (1.2 pi)^(-2/3)")
claim("Corollary 2: mean of n^(2/3) times the excess risk", 0.5080, smooth$excess_mean[1], 1e-4, "reference of our own")
risk <- function(cuts) {  # of the labels -1, 1, -1, 1 under P(Y = 1 | x) = 0.5 - 0.4 cos(3 pi x)
  prob <- function(x) 0.5 * x - 0.4 * sin(3 * pi * x) / (3 * pi)
  ends <- c(0, pmin(1, pmax(0, cuts)), 1)
  up <- diff(prob(ends))
  sum(ifelse(seq_along(up) %% 2 == 1, up, diff(ends) - up))
}
excess <- replicate(if (extended) 1000 else 150, {
  d <- sim_thresholds(4000, "cosine")
  fit <- threshold_classifier(d$x, d$y, k = 3)
  if (length(coef(fit)) < 3) NA else 4000^(2 / 3) * (risk(coef(fit)) - risk(c(1, 3, 5) / 6))
})
claim("Corollary 2: simulated, n = 4000", 0.5080, mean(excess, na.rm = TRUE), if (extended) 0.06 else 0.12, sprintf("reference of our own; %d runs", length(excess)))
law <- threshold_bounds("jump", left = 0.4, right = 0.7)$prob[2:5]
draws <- replicate(if (extended) 20000 else 2000, {
  d <- sim_thresholds(400, "step")
  fit <- threshold_classifier(d$x, d$y)
  400 * (mean((d$x >= 0.5) != (d$y == "1")) - fit$risk)
})
for (m in 1:4) claim(sprintf("Theorem 6: P(D >= %d) of the jump, n = 400", m), law[m], mean(draws >= m - 1e-9), 0.04, "reference: the closed form of our own")
covered <- mean(replicate(if (extended) 1000 else 150, {
  d <- sim_thresholds(2000, "line")
  ci <- confint(threshold_classifier(d$x, d$y))
  ci[1] < 0.5 && ci[2] > 0.5
}))
claim("Coverage of the plug-in interval, n = 2000", 0.95, covered, 0.06, "reference of our own")
