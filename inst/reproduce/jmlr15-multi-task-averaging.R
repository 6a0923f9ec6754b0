# Feldman, Gupta and Frigyik (2014): Table 7, Figures 1 and 2, and what the text says of Figures 4 to 8.

# Table 7, reigns of kings: number of kings, sample mean, and the columns of the estimators without cross-validation.
kings <- read.table(text = "
Larsa 15 17.7 19.2 18.3 17.8
Amorite 11 26.9 22.3 24.6 26.5
Assyrian 27 17.3 19.1 17.8 17.4
Israel 21 13.4 17.7 14.8 13.6
Judah 22 21.5 20.5 21.2 21.5
Achaemenid 7 24.3 21.4 22.4 23.9
Khmer 33 20.0 20.0 20.0 20.0
Song 18 17.7 19.2 18.3 17.8
Mongol 4 10.8 16.8 16.1 12.0
Ming 17 16.3 18.7 17.2 16.4
Qing 12 24.6 21.6 23.1 24.4
Mamluk 10 10.1 16.6 13.6 10.7
Ottoman 36 17.0 19.0 17.4 17.1
Normandy 3 23.0 21.0 21.1 22.5
Plantagenet 8 30.8 23.7 26.4 30.0
Lancaster 3 20.3 20.1 20.1 20.3
York 3 8.0 15.9 15.8 10.1
Tudor 5 23.4 21.1 21.6 23.0
Stuart 6 16.8 18.9 18.4 17.1
Hanover 6 31.0 23.7 25.7 30.0
Windsor 3 14.0 17.9 17.9 15.0
Capet 15 22.7 20.9 21.9 22.6
Valois 7 24.3 21.4 22.4 23.9
Habsburg 5 34.4 24.9 26.8 32.8
Bourbon 10 21.8 20.6 21.2 21.7
Oldenburg 16 25.8 22.0 24.3 25.6
Mughal 20 15.7 18.5 16.6 15.8
Edo 15 18.6 19.5 19.0 18.7
Kamehameha 5 15.4 18.4 17.8 15.9
Zulu 4 15.8 18.5 18.2 16.3", col.names = c("group", "n", "mean", "james_stein", "constant", "minimax"))
back_solved <- "the pooled variance is not printed; 216.9 was found by fitting the column MTA Const., and 7 Achaemenid kings are used (see errata)"
constant <- mta(kings[c("group", "n", "mean")], noise_var = 216.9)
minimax <- mta(kings[c("group", "n", "mean")], method = "minimax", noise_var = 216.9)
stein <- mta(kings[c("group", "n", "mean")], noise_var = 216.9, method = "james_stein")
claim("Table 7, pooled mean", 19.49, sum(kings$n * kings$mean) / sum(kings$n), 0.006)
claim("Table 7, average of the sample means", 19.98, mean(kings$mean), 0.006)
claim("Table 7, MTA Constant: largest difference over 30 dynasties", 0, max(abs(coef(constant) - kings$constant)), 0.1, back_solved)
claim("Table 7, MTA Minimax: largest difference over 30 dynasties", 0, max(abs(coef(minimax) - kings$minimax)), 0.1, back_solved)
claim("Table 7, James-Stein: largest difference over 30 dynasties", 0, max(abs(coef(stein) - kings$james_stein)), 0.1, back_solved)
claim("Table 7, MTA Constant, average over dynasties", 20.00, mean(coef(constant)), 0.006)
claim("Table 7, MTA Minimax, average over dynasties", 20.01, mean(coef(minimax)), 0.006)
claim("Table 7, James-Stein, average over dynasties", 19.98, mean(coef(stein)), 0.006)
for (name in c("York", "Habsburg", "Mongol")) {
  claim(paste("Table 7, MTA Constant,", name), kings$constant[kings$group == name], coef(constant)[[name]], 0.1)
  claim(paste("Table 7, MTA Minimax,", name), kings$minimax[kings$group == name], coef(minimax)[[name]], 0.1)
}

# Figure 1: two tasks, variance 1, a = 1. The paper plots a simulation; the formula needs none.
claim("Figure 1, N = 20, equal means: change in risk, per cent", -5, mta_bounds("risk", c(0, 0), 1 / 20, a = 1)$change, 0.5, "read from the text: 'a 5% win'")
claim("Figure 1, N = 2, equal means: change in risk, per cent", -20, mta_bounds("risk", c(0, 0), 1 / 2, a = 1)$change, 2,
      "read from the text: 'a 20% win'; with known variances formula (11) gives -27.8, so the paper must have estimated them from two samples")
claim("Figure 1, N = 20: distance at which the gain ends", 2, mta_bounds("risk", c(0, 0), 1 / 20, a = 1)$break_even, 0.05)
claim("Figure 1, N = 2: distance at which the gain ends", 1.5, mta_bounds("risk", c(0, 0), 1 / 2, a = 1)$break_even, 0.1,
      "formula (12) gives sqrt(4 + 1/2 + 1/2) = 2.24; as above, variances estimated from two samples shorten it")
set.seed(1)
two_samples <- function(distance, draws = 2e5L) {  # equation (10) with own variances from two samples, a = 1
  y <- matrix(rnorm(4 * draws), 4) + c(0, 0, distance, distance)
  m <- rbind(y[1, ] + y[2, ], y[3, ] + y[4, ]) / 2
  s <- rbind((y[1, ] - y[2, ])^2, (y[3, ] - y[4, ])^2) / 4
  estimate <- m + s * (m[2:1, ] - m) / (2 + rep(colSums(s), each = 2))
  100 * (sum((estimate - c(0, distance))^2) / sum((m - c(0, distance))^2) - 1)
}
claim("Figure 1, N = 2, equal means, own variances estimated: change in risk, per cent", -20, two_samples(0), 1)
claim("Figure 1, N = 2, own variances estimated: distance at which the gain ends", 1.5, uniroot(two_samples, c(0.5, 3), tol = 0.005)$root, 0.1)

# Figure 2 and equation (14): the best similarity is 2 / D^2 = 2 whatever N.
for (n in c(2, 10, 20)) {
  best <- optimize(function(a) mta_bounds("risk", c(0, 1), 1 / n, a = a)$risk, c(0.01, 20), tol = 1e-8)$minimum
  claim(sprintf("Figure 2, N = %d: best similarity for means 0 and 1", n), 2, best, 1e-3)
}

# Figures 4 to 7: no numbers are printed, so the sentences of the text are checked. Change in total squared error, summed over draws.
draws <- if (extended) 10000L else 200L
study <- function(tasks, s2_mu, type, methods, draws) {
  risks <- replicate(draws, {
    d <- sim_mta(tasks, s2_mu, type)
    mta_compare(d$y, d$group, methods, risk = "truth", truth = attr(d, "mu"))$risk
  })
  stats::setNames(100 * (rowSums(risks)[-1L] / sum(risks[1L, ]) - 1), methods)
}
set.seed(2)
all <- c("james_stein", "constant", "minimax")
for (type in c("gaussian", "uniform")) {
  note <- sprintf("%d draws", draws)
  two <- lapply(c(0.1, 5), function(s2) study(2, s2, type, all, 5L * draws))
  claim(sprintf("T = 2, %s: James-Stein is the sample mean", type), 0, max(abs(two[[1]][["james_stein"]]), abs(two[[2]][["james_stein"]])), 1e-9,
        note)
  claim(sprintf("T = 2, %s: MTA gains while means are close", type), TRUE, two[[1]][["constant"]] < 0, 0, note)
  claim(sprintf("T = 2, %s: MTA loses when they are far", type), TRUE, two[[2]][["constant"]] > 0, 0, note)
  for (tasks in c(5, 25)) {
    runs <- lapply(c(0.1, 1, 3), function(s2) study(tasks, s2, type, all, draws))
    claim(sprintf("T = %d, %s: MTA Minimax beats the sample means at all distances", tasks, type), TRUE,
          all(vapply(runs, function(r) r[["minimax"]] < 0, NA)), 0, note)
    claim(sprintf("T = %d, %s: MTA Constant beats James-Stein when means are close", tasks, type), TRUE,
          runs[[1]][["constant"]] < runs[[1]][["james_stein"]], 0, note)
  }
}
five <- study(5, 5, "uniform", "constant", draws)
claim("T = 5, uniform: MTA Constant does worse than the sample means when they are far apart", TRUE, five[["constant"]] > 0, 0,
      "the text on Figure 6, whose axis is not in the text; at variances of the means up to 5 we find a change between -2 and 0 per cent")
large <- study(500, 0.1, "gaussian", "constant", if (extended) 1000L else 30L)
claim("T = 500, gaussian, variance of the means 0.1: change in risk of MTA Constant, per cent", -40, large[["constant"]], 5,
      "a reading of Figure 5, which has no numbers and whose smallest variance of the means is not in the text")

# Figure 8: pairwise similarities of the true means, true variances.
set.seed(3)
oracle <- replicate(draws, {
  d <- sim_mta(5, 0.1)
  mu <- attr(d, "mu")
  n <- tabulate(d$group)
  m <- as.vector(tapply(d$y, d$group, mean))
  centres <- outer(mu, mu, "-")^2
  A <- ifelse(centres > 0, 2 / centres, 0)
  o <- coef(mta(data.frame(mean = m, n = n), method = "custom", A = A, noise_var = attr(d, "noise_var")))
  c(sum((o - mu)^2), sum((coef(mta(d$y, d$group)) - mu)^2))
})
claim("Figure 8, T = 5: oracle MTA is over 30% better than MTA Constant", TRUE, sum(oracle[1, ]) < 0.7 * sum(oracle[2, ]), 0,
      "the text says 'over 30% better'; here the variance of the means is 0.1")

needs <- "needs data that is not public (reviews, grades, orders), or the reigns themselves"
for (row in list(c("Table 3, pooled mean", -5.5), c("Table 3, James-Stein", -8.9), c("Table 3, MTA Constant", -11.9),
                 c("Table 3, MTA Minimax", -4), c("Table 4, James-Stein", -14.9),
                 c("Table 4, MTA Constant", -16.6), c("Table 4, MTA Minimax", -2.7), c("Table 5, pooled mean", -10.6),
                 c("Table 5, James-Stein", -21.1),
                 c("Table 5, MTA Constant", -22.4), c("Table 5, MTA Minimax", -0.6), c("Table 6, pooled mean", -8.2), c("Table 6, James-Stein", -8.7),
                 c("Table 6, MTA Constant", -8.9), c("Table 6, MTA Minimax", -3.1))) {
  claim(paste0(row[1], ": average change in risk, per cent"), as.numeric(row[2]), NA, NA, needs)
}
