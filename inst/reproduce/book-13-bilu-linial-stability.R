# Makarychev and Makarychev (2016), chapter 13: no experiments are printed; the thresholds of its theorems and small instances worked by hand.
line <- c(0, 0.1, 0.35, 0.45, 5, 7, 9, 11)
for (objective in c("median", "means", "center")) {
  fit <- resilient_cluster(line, k = 3, objective = objective)
  claim(sprintf("Eight points on a line, k-%s: cost of the closure tree", objective), c(median = 4.7, means = 8.195, center = 2)[[objective]], fit$objective, 1e-9, "worked by enumeration", source = "reference")
}
w <- matrix(0, 6, 6)
w[1, c(4, 6)] <- w[2, c(4, 5)] <- w[3, c(5, 6)] <- 2
w[4, 5] <- w[5, 6] <- w[4, 6] <- 1
w <- w + t(w)
cut <- multiway_cut(w, 1:3)
claim("Three terminals around a triangle: value of the relaxation", 7.5, cut$relaxation, 1e-9, "all positions half-integral: not 4-stable", source = "reference")
claim("Three terminals around a triangle: weight of the best cut", 8, multiway_cut(w, 1:3, method = "exact")$objective, 1e-9, source = "reference")
cycle <- function(weights) {
  m <- matrix(0, 5, 5)
  m[cbind(1:5, c(2:5, 1))] <- weights
  m + t(m)
}
for (weights in list(c(4, 4, 4, 4, 1), rep(1, 5))) {
  m <- cycle(weights)
  best <- max_cut(m)
  claim(sprintf("Pentagon with weights %s: max cut", paste(weights, collapse = ", ")), sum(weights) - min(weights), best$objective, 1e-9, source = "reference")
  claim(sprintf("Pentagon with weights %s: stability", paste(weights, collapse = ", ")), if (weights[5] == 1 && weights[1] == 4) 4 else 1, cut_stability(m, best)$gamma, 1e-9, source = "reference")
}

# Theorem 13.10: whenever the optimum has rho > 1 + sqrt 2, the closure tree finds it. Theorem 13.6 and 13.8 likewise on planted instances.
set.seed(1)
brute <- function(d, k) min(apply(utils::combn(nrow(d), k), 2L, function(s) sum(do.call(pmin, lapply(s, function(c) d[, c])))))
trials <- if (extended) 400L else 40L
stable <- 0
agree <- 0
for (i in seq_len(trials)) {
  sim <- sim_resilient(12, k = 3, factor = 2.45)
  d <- as.matrix(stats::dist(sim$x))
  fit <- resilient_cluster(stats::as.dist(d), k = 3)
  if (fit$margins$rho > 1 + sqrt(2)) {
    stable <- stable + 1
    agree <- agree + (abs(fit$objective - brute(d, 3)) < 1e-9)
  }
}
claim("Theorem 13.10: share of planted stable instances on which the tree has the optimum of all medoids", 1, agree / stable, 0, sprintf("%d instances with rho > 2.414 of %d", stable, trials))
solved <- mean(replicate(if (extended) 100 else 10, {
  sim <- sim_resilient(30, k = 3, type = "multiway_cut", factor = 4.5, density = 0.1)
  multiway_cut(sim$graph, sim$terminals)$integral
}))
claim("Theorem 13.6: share of graphs with a planted heavy partition on which the relaxation is a cut", 1, solved, 0)
same <- mean(replicate(if (extended) 100 else 10, {
  sim <- sim_resilient(40, k = 4, factor = 2.5)
  a <- k_center(sim$x, 4)
  cluster_agreement(a, sim$cluster)$ari == 1 && cluster_agreement(k_center(sim$x, 4, "threshold"), a)$ari == 1
}))
claim("Theorem 13.8: share of stable instances on which both 2-approximations of k-center find the clusters", 1, same, 0)
