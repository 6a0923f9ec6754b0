# Lawrence (JMLR 6, 2005). The oil flow, digit and image data are not part of the package; the Swiss roll is generated, with N and the scaling of the
# data our own, as the paper does not state them. The rows on iris are ours: known values of the closed form, and maps compared as in Table 2.

iris_data <- as.matrix(iris[, 1:4])
species <- iris$Species

# Section 2.3: dual probabilistic PCA.
closed <- dppca(iris_data)
claim("Iris, q = 2: beta of dual PCA (computed independently)", 38.93547, closed$beta, 1e-4)
claim("Iris, q = 2: log-likelihood of dual PCA (computed independently)", 218.0389, closed$loglik, 1e-3)
set.seed(1)
flat <- k_linear(1, fixed = "variance") + k_white(0.1)
climbed <- suppressWarnings(gplvm(iris_data, kernel = flat, prior = FALSE, init = "random", tol = 1e-10, threads = 1))
claim("Section 2.3: gradient ascent with a linear kernel ends at the closed form", closed$loglik, climbed$loglik, 0.01)

# Section 7.2.3: the Swiss roll.
set.seed(1)
roll <- sim_swiss_roll(if (extended) 1000 else 400)
rolled <- suppressWarnings(gplvm(roll$x, init = c("pca", "isomap"), neighbors = 5, scale = TRUE, max_iter = if (extended) 500 else 60, threads = 1))
found <- rolled$starts$loglik
claim("Swiss roll: the Isomap start has the higher likelihood", TRUE, found[2] > found[1], 0,
      sprintf("PCA %.0f, Isomap %.0f after the same number of steps", found[1], found[2]))
claim("Swiss roll: log-likelihood from Isomap", -45.19, NA, 0, "the paper states neither N nor the scaling of the data")
claim("Swiss roll: log-likelihood from PCA", -534.0, NA, 0, "the paper states neither N nor the scaling of the data")
claim("Swiss roll: the map from Isomap recovers the position along the sheet", TRUE,
      max(abs(cor(rolled$latent, roll$t, method = "spearman"))) > 0.95, 0,
      sprintf("rank correlation %.3f", max(abs(cor(rolled$latent, roll$t, method = "spearman")))))
from_pca <- suppressWarnings(gplvm(roll$x, init = "pca", scale = TRUE, max_iter = 60, threads = 1))
claim("Swiss roll: the map from PCA does not", TRUE, max(abs(cor(from_pca$latent, roll$t, method = "spearman"))) < 0.9, 0,
      sprintf("rank correlation %.3f", max(abs(cor(from_pca$latent, roll$t, method = "spearman")))))

# Table 2's comparison on iris, standardised.
x <- scale(iris_data)
pc <- prcomp(x)$x[, 1:2]
full <- suppressWarnings(gplvm(x, init = pc, threads = 1))
errors <- c(PCA = granary:::neighbour_errors(pc, species), "GP-LVM" = granary:::neighbour_errors(full, species), GTM = granary:::neighbour_errors(suppressWarnings(gtm(x)), species),
            "kernel PCA" = granary:::neighbour_errors(kernel_pca(x), species), Isomap = granary:::neighbour_errors(suppressWarnings(isomap(x)), species),
            Sammon = granary:::neighbour_errors(mds(x), species), "non-metric scaling" = granary:::neighbour_errors(mds(x, method = "nonmetric"), species))
listed <- paste(names(errors), errors, sep = " ", collapse = ", ")
# The likelihood has many maxima, and those of larger likelihood do not have fewer errors: every start is shown.
unit <- suppressWarnings(gplvm(x, threads = 1))
others <- list("components of unit variance" = unit, Isomap = suppressWarnings(gplvm(x, init = "isomap", threads = 1)))
for (k in 1:4) {
  set.seed(k)
  others[[paste("random", k)]] <- suppressWarnings(gplvm(x, init = "random", threads = 1))
}
maxima <- paste(vapply(names(others), function(name) {
  sprintf("%s %.0f with %d", name, others[[name]]$loglik, granary:::neighbour_errors(others[[name]], species))
}, ""), collapse = ", ")
claim("Iris: nearest-neighbour errors of PCA (reference run)", 18, errors[["PCA"]], 0)
claim("Iris: nearest-neighbour errors of the GP-LVM from principal components (reference run, other optimizer)", 5, errors[["GP-LVM"]], 0,
      sprintf("one of many maxima: log-likelihood %.0f with %d errors here; from other starts %s. Other maps: %s", full$loglik,
              errors[["GP-LVM"]], maxima, listed))
claim("Iris: nearest-neighbour errors from components of unit variance (reference run, other optimizer)", 10, granary:::neighbour_errors(unit, species), 3,
      "see the note on the maxima")
claim("Iris: log-likelihood from components of unit variance, about 361 (reference run)", 361, unit$loglik, 30)
claim("Iris: the GP-LVM makes fewer errors than PCA", TRUE, errors[["GP-LVM"]] < errors[["PCA"]], 0)
claim("Iris: log-likelihood from principal components, about 355 with its prior after 400 steps (reference run)", 355, full$loglik, 30,
      "ours is without the prior, whose supremum over the free scale of the map is the same")
sparse <- gplvm(x, method = "sparse", active = 100, threads = 1)
# Both from the same start.
claim("Section 7.2.1: the sparse algorithm reaches a lower likelihood than the full one", TRUE, sparse$loglik < unit$loglik, 0,
      sprintf(paste("sparse %.0f (d = 100, T = 15, then all rows at once, which the paper does not do), full %.0f; errors %d and %d;",
                    "they end in different maxima, and either may be the higher"),
              sparse$loglik, unit$loglik, granary:::neighbour_errors(sparse, species), granary:::neighbour_errors(unit, species)))

# Section 7.3: missing pixels. Binary rows from a one-dimensional family stand in for the digits.
set.seed(2)
shapes <- function(n) {
  t <- runif(n, -1, 1)
  centre <- outer(t, rep(1, 64))
  cell <- expand.grid(seq(-1, 1, length.out = 8), seq(-1, 1, length.out = 8))
  band <- abs(outer(rep(1, n), cell[, 1]) - centre * outer(rep(1, n), cell[, 2])) < 0.3
  1 * xor(band, matrix(runif(64 * n) < 0.03, n))
}
train <- shapes(if (extended) 300 else 80)
test <- shapes(if (extended) 100 else 40)
hidden <- matrix(runif(length(test)) < 0.2, nrow(test))
holes <- replace(test, hidden, NA)
rate <- function(noise) {
  fit <- suppressWarnings(gplvm(train, noise = noise, method = "sparse", active = 60, n_rounds = 5, threads = 1))
  mean((predict(fit, holes, threads = 1, type = "impute")[hidden] > 0.5) != test[hidden])
}
bernoulli <- rate("bernoulli")
gaussian <- rate("gaussian")
blank <- mean(test[hidden] != 0)
claim("Table 5, on simulated images: both fill in better than blank pixels", TRUE, bernoulli < blank && gaussian < blank, 0,
      sprintf("errors: Bernoulli %.3f, Gaussian %.3f, blank %.3f", bernoulli, gaussian, blank))
claim("Table 5, on simulated images: Bernoulli noise is better than Gaussian", TRUE, bernoulli < gaussian, 0)

outside <- "needs the data, which are not part of the package"
claim("Table 2, oil flow, 100 points: errors of PCA", 20, NA, 0, outside)
claim("Table 2, oil flow, 100 points: errors of the GP-LVM", 4, NA, 0, outside)
claim("Table 2, oil flow, 100 points: errors of non-metric scaling", 13, NA, 0, outside)
claim("Table 2, oil flow, 100 points: errors of the Sammon map", 6, NA, 0, outside)
claim("Table 2, oil flow, 100 points: errors of the GTM", 7, NA, 0, outside)
claim("Table 2, oil flow, 100 points: errors of kernel PCA", 13, NA, 0, outside)
claim("Table 3, oil flow, 1000 points: errors of PCA", 162, NA, 0, outside)
claim("Table 3, oil flow, 1000 points: errors of the sparse GP-LVM, RBF", 24, NA, 0, outside)
claim("Table 3, oil flow, 1000 points: errors of the full GP-LVM, RBF", 1, NA, 0, outside)
claim("Table 3, oil flow, 1000 points: errors of the sparse GP-LVM, MLP", 14, NA, 0, outside)
claim("Table 3, oil flow, 1000 points: errors of the GTM", 11, NA, 0, outside)
claim("Table 4, USPS digits 0 to 4: errors of PCA", 780, NA, 0, outside)
claim("Table 4, USPS digits 0 to 4: errors of the sparse GP-LVM, RBF", 208, NA, 0, outside)
claim("Table 4, USPS digits 0 to 4: errors of the sparse GP-LVM, MLP", 202, NA, 0, outside)
claim("Table 4, USPS digits 0 to 4: errors of the GTM", 158, NA, 0, outside)
claim("Table 5, binary twos: pixel errors in percent, Bernoulli noise", 23.5, NA, 0, outside)
claim("Table 5, binary twos: pixel errors in percent, Gaussian noise", 35.9, NA, 0, outside)
claim("Table 5, binary twos: pixel errors in percent, blank", 51.5, NA, 0, outside)
