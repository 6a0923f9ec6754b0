# Anandkumar, Ge, Hsu, Kakade, Telgarsky (2014): the paper has no experiments. References are of our own: exact values, and simulations with known parameters.
set.seed(1)
claim("random starts of Algorithm 1 that Lemma B.1 asks for once, k = 5", 4.4e7, with(spectral_mixture_bounds("starts", k = 5), log(2) / -stats::pnorm(threshold, log.p = TRUE)), 1e6,
      "the constant of the lemma made explicit", source = "reference")
v <- diag(4)
tensor <- array(0, c(4, 4, 4))
for (i in 1:4) tensor <- tensor + c(4, 3, 2, 1)[i] * (v[, i] %o% v[, i] %o% v[, i])
for (method in c("power", "power_stop", "joint", "jennrich", "svd", "ball")) {
  claim(sprintf("smallest value of an exact tensor, method \"%s\"", method), 1, tensor_decompose(tensor, method = method)$values[4], 1e-8, "exact value", source = "reference")
}
seeds <- if (extended) 1:20 else 1:5
lda_error <- function(n) {
  vapply(seeds, function(seed) {
    set.seed(seed)
    sim <- sim_spectral_mixture(n, "lda", k = 3, d = 30, alpha = 0.3, length = 50)
    fit <- spectral_mixture(sim$x, 3, "lda", alpha0 = 0.9)
    c(max(assess(fit, truth = sim$means)$l1), range(fit$alpha))
  }, numeric(3))
}
small <- lda_error(5000)
claim("LDA, 5000 documents of 50 words: mean over seeds of the largest column L1 error", 0.022, mean(small[1, ]), 0.01, "a prototype had .017 to .027 over five seeds", source = "reference")
claim("LDA, 5000 documents: smallest alpha over seeds", 0.285, min(small[2, ]), 0.03, "a prototype had .285", source = "reference")
claim("LDA, 5000 documents: largest alpha over seeds", 0.312, max(small[3, ]), 0.03, "a prototype had .312", source = "reference")
claim("LDA, 20000 documents: mean over seeds of the largest column L1 error", 0.012, mean(lda_error(20000)[1, ]), 0.006, "a prototype had .010 to .014", source = "reference")
gmm <- vapply(seeds, function(seed) {
  set.seed(seed)
  sim <- sim_spectral_mixture(20000, "gmm", k = 3, d = 10, share = c(0.2, 0.3, 0.5))
  fit <- spectral_mixture(sim$x, 3, "gmm")
  c(max(assess(fit, truth = sim$means)$l2), max(abs(fit$share - c(0.5, 0.3, 0.2))), abs(fit$noise_var[[1L]] - 1))
}, numeric(3))
claim("spherical Gaussians, 20000 rows: mean over seeds of the largest L2 error", 0.08, mean(gmm[1, ]), 0.04, "a prototype had .05 to .11", source = "reference")
claim("spherical Gaussians: largest error of a weight over seeds", 0.005, max(gmm[2, ]), 0.005, "a prototype stayed below .005", source = "reference")
claim("spherical Gaussians: largest error of the variance over seeds", 0.005, max(gmm[3, ]), 0.005, "a prototype stayed below .005", source = "reference")
