# Drineas and Mahoney (JMLR 6, 2005). Theory without experiments: the constants of Theorem 3, and a run of our own on a synthetic kernel matrix.

claim("Theorem 3: eta at delta = 0.1", 5.29193, sqrt(nystrom_bounds(1, c = 1, delta = 0.1, norm = "2")$eps^2 / 4), 1e-5, "from eps = 2 eta / sqrt(c)")
claim("Theorem 3, Frobenius, in expectation: c for k = 5, eps = 0.5", 5120, nystrom_bounds(5, eps = 0.5, delta = 1)$c, 0, "64 k / eps^4")
claim("Theorem 3, Frobenius, probability 0.9: c for k = 5, eps = 0.5", 143384, nystrom_bounds(5, eps = 0.5)$c, 0, "64 k eta^2 / eps^4, rounded up")
claim("Theorem 3, spectral, in expectation: c for eps = 0.5", 16, nystrom_bounds(5, eps = 0.5, delta = 1, norm = "2")$c, 0, "4 / eps^2")
claim("Theorem 3, spectral, probability 0.9: c for eps = 0.5", 449, nystrom_bounds(5, eps = 0.5, norm = "2")$c, 0, "4 eta^2 / eps^2, rounded up")

set.seed(42)
x <- matrix(rnorm(400), 200)
reference <- list(list(10, 3.578, 12.3), list(20, 0.5628, 4.3), list(40, 0.00657, 1.2))
draws <- if (extended) 500 else 50
for (row in reference) {
  c <- row[[1]]
  found <- vapply(seq_len(draws), function(seed) {
    set.seed(seed)
    assess(nystrom(x, gamma = 0.5, c = c, sampling = "uniform_wr"))$error[2]
  }, 0)
  best <- assess(nystrom(x, gamma = 0.5, landmarks = 1:200, k = c, tol = 1e-14))$best[2]
  claim(sprintf("best Frobenius error of rank %d", c), row[[2]], best, 1e-3 * row[[2]], "reference of our own, another programme on the same matrix")
  claim(sprintf("mean Frobenius error, %d uniform draws with replacement", c), row[[3]], mean(found), 0.15 * row[[3]],
        sprintf("reference of our own; %d draws here, standard error %.2f", draws, stats::sd(found) / sqrt(draws)))
}

# The bound in expectation, on this matrix.
g <- kernel_matrix(k_rbf(0.5), x)
spectrum <- eigen(g, TRUE, TRUE)$values
error <- mean(vapply(1:20, function(seed) {
  set.seed(seed)
  assess(nystrom(x, gamma = 0.5, c = 64, k = 5, sampling = "trace", truncate = "W"))$error[3]
}, 0))
claim("Theorem 3, spectral, in expectation: |G - G~_k| <= |G - G_k| + eps tr(G)", TRUE, error <= spectrum[6] + nystrom_bounds(5, c = 64, delta = 1, norm = "2")$eps * sum(spectrum),
      0, sprintf("mean error %.2f, best %.2f, bound %.1f", error, spectrum[6], spectrum[6] + nystrom_bounds(5, c = 64, delta = 1, norm = "2")$eps * sum(spectrum)))
brown <- kernel_eigenfunctions(k_user(function(x, z) outer(x[, 1], z[, 1], pmin)), k = 3)
claim("Section 5.3, integral equations: the first eigenvalue of min(s, t)", 4 / pi^2, brown$values[1], 1e-4, "reference of our own: 1 / (pi / 2)^2")
