# Banerjee, Merugu, Dhillon and Ghosh (2005): Tables 3 and 4, and the worked example of section 2.
cube <- matrix(rep(1:5, 3), 5)
claim("Section 3, phi = sum of cubes on (1,1,1) .. (5,5,5): the minimiser is the mean", 3, unname(bregman_information(cube, divergence = bregman_family("power", 3))$mean[1]), 1e-12)
claim("Section 3, phi = sum of cubes: Bregman information", 54, bregman_information(cube, divergence = bregman_family("power", 3))$total, 1e-10, "worked by hand", source = "reference")

laws <- list(gaussian = bregman_family("gaussian", 25), poisson = bregman_family("poisson"), binomial = bregman_family("binomial", 100))
score <- function(n, centers, law, trials, exact) {
  values <- replicate(trials, {
    sim <- sim_bregman(n, centers, law)
    x <- pmin(pmax(sim$x, 0.001), 99.999)  # what was done with negative draws is not in the paper
    vapply(laws, function(d) cluster_agreement(bregman_cluster(x, k = nrow(centers), divergence = d, exact = exact)$cluster, sim$cluster)$nmi, 0)
  })
  list(mean = rowMeans(values), se = apply(values, 1L, sd) / sqrt(trials))
}

# Table 3: one column, 100 points, means 10, 20, 40. The paper's means of ten trials are within .03 to .06 of themselves.
paper <- rbind(gaussian = c(.701, .633, .641), poisson = c(.689, .734, .694), binomial = c(.769, .746, .825))
reference <- rbind(gaussian = c(.682, .679, .679), poisson = c(.707, .742, .745), binomial = c(.777, .791, .788))
colnames(paper) <- colnames(reference) <- names(laws)
set.seed(1)
trials <- if (extended) 400L else 40L
for (truth in names(laws)) {
  found <- score(100L, matrix(c(10, 20, 40)), laws[[truth]], trials, TRUE)
  for (d in names(laws)) {
    claim(sprintf("Table 3, NMI, %s data, %s divergence", truth, d), paper[truth, d], found$mean[[d]], 0.06 + 2 * found$se[[d]],
          sprintf("mean of %d trials, s.e. %.3f; the paper's has s.e. of about .05 / sqrt(10), its optimum is local, ours global", trials, found$se[[d]]))
    claim(sprintf("Table 3, NMI, %s data, %s divergence, our earlier exact run", truth, d), reference[truth, d], found$mean[[d]], 0.03 + 2 * found$se[[d]], source = "reference")
  }
  if (truth != "gaussian") {
    claim(sprintf("Table 3, %s data: the own divergence beats squared error (1 = yes)", truth), 1, as.numeric(found$mean[[truth]] > found$mean[["gaussian"]]), 0)
  }
}

# Table 4: 2000 points in ten columns, 15 components. Their means are not in the paper, so only the order can be compared.
if (extended) {
  set.seed(2)
  centers <- matrix(sample(10:40, 150, TRUE), 15)
  centers <- 20 + (centers - 20) * 0.35  # scaled to an agreement of about .8
  paper <- rbind(gaussian = c(.728, .661, .669), poisson = c(.792, .815, .802), binomial = c(.823, .833, .849))
  colnames(paper) <- names(laws)
  for (truth in names(laws)) {
    found <- score(2000L, centers, laws[[truth]], 10L, FALSE)
    for (d in names(laws)) claim(sprintf("Table 4, NMI, %s data, %s divergence", truth, d), paper[truth, d], found$mean[[d]], NA, "the means of the components are not printed")
    best <- names(which.max(found$mean))
    claim(sprintf("Table 4, %s data: the own divergence has the largest NMI (1 = yes)", truth), 1, as.numeric(best == truth), 0, sprintf("largest: %s", best))
  }
}

# A mixture's likelihood is that of its densities.
set.seed(3)
sim <- sim_bregman(500, matrix(c(3, 12)), "poisson")
fit <- bregman_cluster(sim$x, k = 2, divergence = "poisson", type = "soft")
direct <- sum(log(fit$share[1] * dpois(sim$x, fit$centers[1]) + fit$share[2] * dpois(sim$x, fit$centers[2])))
claim("Theorem 4: log-likelihood of a Poisson mixture by divergences less that by densities", 0, fit$loglik - direct, 1e-8, source = "reference")
