# Balcan, Liang and Gupta (2014): the examples of figures 1, 2, 7 and 16 and the experiments of section 6 that need no outside data. Most of the paper's results are figures, so what is
# compared are its statements; numbers of our own earlier runs are marked.
error <- function(tree, truth) assess(tree, truth = truth)$error
linkages <- c("single", "average", "complete", "ward")

# Figure 2: eight topics with a wrong link each.
sim <- sim_robust_linkage("topics", n = 64)
fit <- robust_linkage(sim$similarity, eps = 1 / 64, similarity = TRUE)
for (target in names(sim$labels)) claim(sprintf("Figure 2, %s: error of robust linkage", target), 0, error(fit, sim$labels[[target]]), 0)
for (method in c("single", "average", "complete")) {
  tree <- robust_linkage_baseline(sim$similarity, method, similarity = TRUE)
  claim(sprintf("Figure 2, halves: %s linkage has an error of at least a half (1 = yes)", method), 1, as.numeric(error(tree, sim$labels$half) >= 0.5), 0)
}
heights <- sort(unique(fit$height))
for (i in 1:4) claim(sprintf("Figure 2: t of the merges, %s", c("regions", "pairs", "halves", "all")[i]), c(7, 16, 32, 62)[i], heights[i], 0, source = "reference")

# Section 6.1, figure 10: fields, with nu = 0 and alpha from 1/32, alpha = 1/32 and nu > 0, and both; the error is at most nu while alpha + nu < 1/24.
set.seed(1)
n <- if (extended) 512L else 256L
runs <- if (extended) 10L else 2L
for (i in 0:2) {
  for (kind in c("alpha", "nu", "both")) {
    more <- i / 256
    alpha <- if (kind == "nu") 0 else more
    nu <- if (kind == "alpha") 0 else more
    if (1 / 32 + alpha + nu >= 1 / 24 || (i == 0 && kind != "alpha")) next
    errors <- replicate(runs, {
      sim <- sim_robust_linkage("fields", n = n, alpha = alpha, nu = nu)
      c(ours = error(robust_linkage(sim$similarity, eps = 1 / 32 + alpha + nu, similarity = TRUE), sim$labels$field),
        vapply(linkages, function(method) error(robust_linkage_baseline(sim$similarity, method, similarity = TRUE), sim$labels$field), 0))
    })
    claim(sprintf("Figure 10, alpha = 1/32 + %d/256, nu = %d/256: error of robust linkage at most nu (1 = yes)", round(256 * alpha), round(256 * nu)), 1, as.numeric(max(errors["ours", ]) <= nu + 1e-9), 0,
          sprintf("%d runs of %d points; errors: ours %.3f, %s", runs, n, mean(errors["ours", ]), paste(sprintf("%s %.3f", linkages, rowMeans(errors)[linkages]), collapse = ", ")))
    claim(sprintf("Figure 10, alpha = 1/32 + %d/256, nu = %d/256: every other linkage has a larger error (1 = yes)", round(256 * alpha), round(256 * nu)), 1,
          as.numeric(all(rowMeans(errors)[linkages] > mean(errors["ours", ]))), 0)
  }
}

# Appendix C: Ward's method fails under strict separation.
x <- c(rep(0, 40), rep(5, 10), rep(11, 10))
truth <- rep(1:2, c(50, 10))
claim("Appendix C: Ward's best pruning has the error 1/6", 1 / 6, error(robust_linkage_baseline(x, "ward"), truth), 1e-9)
claim("Appendix C: error of robust linkage", 0, error(robust_linkage(x, eps = 0.02), truth), 0)

# Figures 11 and 13: iris over a range of eps.
range <- vapply(c(0.01, 0.015, 0.02), function(eps) error(robust_linkage(iris[1:4], eps = eps), iris$Species), 0)
claim("Figure 11, iris: error of robust linkage, best eps", 0.1, min(range), 0.005, "the paper has a figure; earlier run of ours", source = "reference")
claim("Figure 11, iris: error of average linkage", NA, error(robust_linkage_baseline(iris[1:4], "average"), iris$Species), NA, "does as well here: there is little noise in iris")

# Figure 12, second row: similarities of iris replaced by noise.
set.seed(2)
runs <- if (extended) 30L else 3L
scaled <- apply(iris[1:4], 2L, function(v) (v - min(v)) / diff(range(v)))
k <- 1 - as.matrix(stats::dist(scaled)) / max(stats::dist(scaled))
grid <- seq(0.01, 0.16, by = 0.01)
corrupted <- function(p) {
  hit <- upper.tri(k) & matrix(stats::runif(length(k)) < p, nrow(k))
  noisy <- k
  noisy[hit] <- stats::rnorm(sum(hit))
  noisy[lower.tri(noisy)] <- t(noisy)[lower.tri(noisy)]
  c(ours = min(vapply(grid, function(eps) error(robust_linkage(noisy, eps = eps, similarity = TRUE), iris$Species), 0)),
    vapply(linkages, function(method) error(robust_linkage_baseline(noisy, method, similarity = TRUE), iris$Species), 0))
}
clean <- corrupted(0)
noisy <- rowMeans(replicate(runs, corrupted(0.2)))
claim("Figure 12, iris, 20% of the similarities replaced: robust linkage has the least error (1 = yes)", 1, as.numeric(noisy[["ours"]] < min(noisy[linkages])), 0,
      paste(sprintf("%s %.3f", names(noisy), noisy), collapse = ", "))
claim("Figure 12, iris: error at 20% minus error without noise, robust linkage, \"nearly the same\"", 0, noisy[["ours"]] - clean[["ours"]], 0.1, "best eps of a grid for each, as in the paper")

# Section 5: a sample, and all rows placed.
set.seed(3)
label <- sample(3, 2000, TRUE)
rows <- matrix(stats::rnorm(9, sd = 6), 3)[label, ] + matrix(stats::rnorm(6000), 2000)
tree <- robust_linkage(rows, eps = 0.02, sample = 200)
claim("Section 5: 10% of 2000 rows sampled, error of all rows", 0, 1 - cluster_agreement(predict(tree, rows, k = 3), label)$accuracy, 0.01, "three normal groups", source = "reference")
