# Wang and Zhang (NIPS 2012). The paper has figures only, on data that are not here (Redrock, Arcene, Dexter); what can be checked is the theory, and the run of a
# prototype on a synthetic matrix.

set.seed(2)
m <- 60
n <- 80
q <- qr.Q(qr(matrix(rnorm(m * m), m)))
p <- qr.Q(qr(matrix(rnorm(n * n), n)))[, 1:m]
a <- q %*% diag(1 / (1:m)) %*% t(p)
best <- sum(svd(a)$d[-(1:5)]^2)
draws <- if (extended) 1000 else 100
ratio <- function(method, c, replace, ...) {
  found <- vapply(seq_len(if (method %in% c("qr", "leverage_top")) 1 else draws), function(seed) {
    set.seed(seed)
    column_select(a, 5, c, method, svd = "exact", replace = replace, ...)$error^2 / best
  }, 0)
  c(mean = mean(found), se = stats::sd(found) / sqrt(length(found)))
}
prototype <- list(list("subspace", 20, 0.591), list("uniform", 20, 0.616), list("norm2", 20, 0.619), list("fast", 20, 0.455), list("qr", 20, 0.368),
                  list("subspace", 10, 1.20), list("uniform", 10, 1.29), list("norm2", 10, 1.19), list("fast", 10, 0.93), list("qr", 10, 0.76))
for (row in prototype) {
  found <- ratio(row[[1]], row[[2]], replace = row[[1]] %in% c("subspace", "uniform", "norm2"))
  claim(sprintf("squared error ratio of %d columns by %s, k = 5", row[[2]], row[[1]]), row[[3]], found[["mean"]], 0.1,
        sprintf("reference of our own, a prototype over 100 draws; %d draws here, standard error %.3f", draws, found[["se"]]))
}

# The theory, on the same matrix.
set.seed(1)
duals <- vapply(c(7, 10, 20, 40), function(c) {
  fit <- column_select(a, 5, c, "dual_set", svd = "exact")
  fit$error^2 / best / (1 + (1 - sqrt(5 / c))^-2)
}, 0)
claim("Lemma 1: |A - CC^+A|^2 <= (1 + (1 - sqrt(k/c))^-2) |A - A_k|^2", TRUE, all(duals <= 1), 0,
      sprintf("largest ratio of the two sides %.2f, for 7, 10, 20 and 40 columns", max(duals)))
bound <- vapply(c(12, 20, 40), function(c) {
  mean(vapply(1:50, function(seed) {
    set.seed(seed)
    fit <- column_select(a, 5, c, svd = "exact")
    fit$error^2 / best / fit$bound^2
  }, 0))
}, 0)
claim("Lemma 2: E |A - CC^+A|^2 <= (1 + eps) |A - A_k|^2", TRUE, all(bound <= 1), 0, sprintf("largest ratio of the two sides %.2f, over 50 draws each", max(bound)))
curs <- mean(vapply(1:50, function(seed) {
  set.seed(seed)
  fit <- cur(a, 2, 12, 40, svd = "exact")
  fit$err_ratio / fit$bound
}, 0))
claim("Theorem 5: E |A - CUR| <= (1 + eps) |A - A_k|", TRUE, curs <= 1, 0, sprintf("mean ratio of the two sides %.2f, k = 2, 12 columns, 40 rows", curs))
sides <- vapply(c(5, 10), function(k) {
  mean(vapply(1:20, function(seed) {
    set.seed(seed)
    fast <- cur(a, k, 2 * k, 4 * k)$error
    set.seed(seed)
    c(cur(a, k, 2 * k, 4 * k, "subspace", "dmm", replace = TRUE)$error / fast)
  }, 0))
}, 0)
claim("Figures 1 to 3, their text: fast CUR has a smaller error than subspace sampling", TRUE, all(sides > 1), 0,
      paste("on the synthetic matrix; error of subspace sampling over that of fast CUR:", paste(sprintf("%.2f", sides), collapse = ", ")))
for (data in c("Redrock", "Arcene", "Dexter")) claim(sprintf("Figure, %s: error ratios", data), NA, NA, 0, "the data are not in the package, and the curves are not printed as numbers")
