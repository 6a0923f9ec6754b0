# Gretton, Herbrich, Smola, Bousquet, Schoelkopf (JMLR 6, 2005). The paper's 18 source laws were made after the descriptions of Bach and Jordan; it names them and gives
# their kurtoses, not their parameters. Table 4 is re-made with Bach and Jordan's own laws (sim_ica(set = "bach")), whose parameters are known, and in the extended
# run also with laws solved from the printed kurtoses (set = "gretton"). A mean Amari error depends on how many nearly Gaussian laws there are: for the KGV with two
# sources of 1000 samples it is 7.4 for law i with itself and 1.5 for c with g. The paper draws the laws anew for each of its 1000 data sets; fewer draws miss its mean by
# chance. So here laws are not drawn: each of the 171 pairs of two takes its turn and is weighted by its probability; with more sources, or fewer data sets, laws are
# dealt, each as often as any other. KCC and KGV are polished, as the paper says, where kernel_ica() by itself would not (more than 1000 samples). The tolerance is 25% of
# the printed mean in the extended run, and 40% in the default run, which averages fewer data sets.
#
# What can be had at all: with K = k1 + k2 - 2, where k_i is the Fisher information of a unit-variance law under shifts, maximum likelihood after whitening has entries
# d_12 of WB with m var(d_12) = ((k2 - 1)^2 + K) / K^2. Over all pairs that is a mean Amari error of 1.97 for two sources of 1000 samples of Bach and Jordan's laws, and
# 2.17 for the laws solved from kurtoses: those are harder than the paper's, whose KGV has 2.3.

# Exact values on four points.
x <- c(-1, 0, 1, 2)
y <- c(1, 0, 1, 4)
claim("Linear kernels: COCO is the covariance (computed by hand)", 1.25, coco(x, y, kernel = k_linear(), rank_tol = 0)$value, 1e-10)
claim("Gaussian kernels: COCO (computed independently)", 0.1067699, coco(x, y, width = 1, rank_tol = 0)$value, 1e-6)
claim("Parzen windows: KMI (computed independently)", 0.5563216, kmi(x, y, width = 0.5, nu = "parzen", rank_tol = 0)$value, 1e-6)
claim("Theorem 18: the KGV with theta = 0 is the KMI", 0.5563216, kgv(x, y, width = 0.5, theta = 0, nu = "parzen", rank_tol = 0)$value, 1e-6)
claim("Theorem 18: and grows with theta (0.5)", 0.8938438, kgv(x, y, width = 0.5, theta = 0.5, nu = "parzen", rank_tol = 0)$value, 1e-6)
set.seed(1)
u <- runif(80)
v <- runif(80)
claim("Theorem 16: the KMI bounds the Parzen estimate of the Gaussian mutual information", TRUE,
      kmi_bounds("grid", u, v, width = 0.3) <= kmi(u, v, width = 0.3, nu = "parzen")$value, 0,
      sprintf("grid %.4f, KMI %.4f", kmi_bounds("grid", u, v, width = 0.3), kmi(u, v, width = 0.3, nu = "parzen")$value))
claim("Lemma 9: without regularisation the kernel canonical correlation is one", 1, kcc(u, v, width = 0.01, kappa = 1e-9, form = "ridge", rank_tol = 0)$value, 1e-2,
      "for kernel matrices of full rank: a narrow kernel")

# Table 4: mean Amari error.
methods <- list(
  FastICA = function(x) ica_baseline(x, method = "fastica", contrast = "cubic"), Jade = function(x) ica_baseline(x, method = "jade"), KCC = function(x) kernel_ica(x, measure = "kcc", polish = TRUE),
  "COCO, Gaussian" = function(x) kernel_ica(x, measure = "coco"), KGV = function(x) kernel_ica(x, measure = "kgv", polish = TRUE),
  "KMI, Gaussian" = function(x) kernel_ica(x, measure = "kmi"), "KMI, Laplace" = function(x) kernel_ica(x, measure = "kmi", kernel = "laplace"),
  "COCO, Laplace" = function(x) kernel_ica(x, measure = "coco", kernel = "laplace")
)
table4 <- rbind(
  "2, 250" = c(10.5, 9.5, 7.0, 7.8, 5.3, 6.0, 5.7, 7.0), "2, 1000" = c(6.0, 5.1, 3.3, 3.5, 2.3, 2.6, 2.3, 2.9),
  "4, 1000" = c(5.7, 5.6, 4.5, 4.2, 3.1, 4.0, 3.5, 4.6), "4, 4000" = c(3.1, 2.3, 2.4, 1.9, 1.4, 1.4, 1.2, 1.6),
  "8, 2000" = c(4.1, 3.6, 4.8, 3.7, 2.6, 2.1, 1.9, 5.2), "8, 4000" = c(3.2, 2.7, 2.1, 2.0, 1.7, 1.5, 1.3, 1.9),
  "16, 5000" = c(2.9, 3.1, 3.7, 2.4, 1.7, 1.5, 1.5, 2.6)
)
colnames(table4) <- names(methods)
repeats <- if (extended) c(342, 171, 36, 18, 9, 9, 0) else c(54, 18, 9, 0, 0, 0, 0)
smooth <- setdiff(names(methods), c("KMI, Laplace", "COCO, Laplace"))
pairs <- expand.grid(first = letters[1:18], second = letters[1:18], stringsAsFactors = FALSE)
pairs <- pairs[pairs$first <= pairs$second, ]
deal <- function(n, count) {
  if (n == 2 && count %% 171 == 0) {
    weights <- ifelse(pairs$first == pairs$second, 1, 2) / 324 * 171 / count
    return(list(laws = as.matrix(pairs)[rep_len(1:171, count), ], weights = rep_len(weights, count)))
  }
  list(laws = matrix(sample(rep_len(letters[1:18], n * count)), count), weights = rep(1 / count, count))
}
amari_table <- function(k, set, run) {
  size <- as.integer(strsplit(rownames(table4), ", ")[[k]])
  set.seed(k)
  design <- deal(size[1], repeats[k])
  errors <- vapply(seq_len(repeats[k]), function(i) {
    data <- sim_ica(size[2], design$laws[i, ], set)
    vapply(methods[run], function(separate) suppressWarnings(assess(separate(data$x), truth = data$mixing)$amari), 0)
  }, double(length(run)))
  errors <- matrix(errors, length(run), dimnames = list(run, NULL))
  mean <- drop(errors %*% design$weights)
  # from the spread of all data sets: too large where laws are balanced
  data.frame(mean = mean, se = drop(sqrt((errors - mean)^2 %*% design$weights^2)))
}
for (k in seq_len(nrow(table4))) {
  size <- strsplit(rownames(table4), ", ")[[k]]
  run <- if (repeats[k] == 0) character() else if (extended) names(methods) else smooth
  if (k > 4L) run <- intersect(run, smooth)
  bach <- if (length(run) > 0L) amari_table(k, "bach", run)
  solved <- if (length(run) > 0L && extended) amari_table(k, "gretton", run)
  for (name in names(methods)) {
    text <- sprintf("Table 4, %s sources of %s samples: %s", size[1], size[2], name)
    if (name %in% run) {
      claim(text, table4[k, name], bach[name, "mean"], (if (extended) 0.25 else 0.4) * table4[k, name],
            paste0(sprintf("mean of %d data sets, standard error %.2f; Bach and Jordan's laws", repeats[k], bach[name, "se"]),
                   if (extended) sprintf("; laws solved from kurtoses: %.2f, standard error %.2f", solved[name, "mean"], solved[name, "se"])))
    } else {
      claim(text, table4[k, name], NA, 0, if (k == 7L || (k > 4L && !name %in% smooth)) "minutes for each data set: not run" else "in the extended run only")
    }
  }
}
claim("Table 4: RADICAL, Infomax and CFICA", NA, NA, 0, "these methods are not part of the package")

# Figure 2: outliers.
set.seed(20)
outliers <- replicate(if (extended) 100 else 8, {
  data <- sim_ica(if (extended) 1000 else 500, 2, outliers = if (extended) 25 else 12)
  B <- data$mixing
  mixtures <- data$x
  fits <- list(FastICA = ica_baseline(mixtures, method = "fastica"), Jade = ica_baseline(mixtures, method = "jade"), KMI = kernel_ica(mixtures), COCO = kernel_ica(mixtures, measure = "coco"),
               KGV = kernel_ica(mixtures, measure = "kgv", kappa = 0.11))
  vapply(fits, function(fit) assess(fit, truth = B)$amari, 0)
})
means <- rowMeans(outliers)
claim("Figure 2: with 2.5% outliers KMI, COCO and KGV (kappa = 0.11) beat FastICA and Jade", TRUE,
      max(means[c("KMI", "COCO", "KGV")]) < min(means[c("FastICA", "Jade")]), 0, paste(names(means), format(means, digits = 2), collapse = ", "))

# Figure 3: kurtosis near zero.
near_zero <- replicate(if (extended) 60 else 6, {
  weight <- 0.5 * (1 + 1 / sqrt(3))  # two well separated Gaussians of unit variance have no excess kurtosis at this weight
  s <- matrix(rnorm(if (extended) 2000 else 1000), ncol = 2)
  s <- scale(s + ifelse(matrix(runif(length(s)), ncol = 2) < weight, 5, -5))
  B <- sim_ica(10, 2)$mixing
  vapply(list(Jade = ica_baseline(s %*% t(B), method = "jade"), FastICA = suppressWarnings(ica_baseline(s %*% t(B), method = "fastica", contrast = "cubic")), KMI = kernel_ica(s %*% t(B))), function(fit) assess(fit, truth = B)$amari, 0)
})
means <- rowMeans(near_zero)
claim("Figure 3: kurtosis near zero harms methods by moments, not kernels", TRUE, means[["KMI"]] < 0.5 * means[["FastICA"]], 0,
      paste(names(means), format(means, digits = 2), collapse = ", "))
claim("Table 5: music, two sources, KMI", 0.51, NA, 0, "the recordings are not available")
claim("Table 5: music, two sources, KGV", 0.65, NA, 0, "the recordings are not available")
