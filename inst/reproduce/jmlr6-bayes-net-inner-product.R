# Nakamura, Schmitt, Schmitt, Simon (JMLR 6, 2005): the closed forms. The paper has no experiments.

chain <- function(n, k) {
  names <- paste0("x", seq_len(n))
  if (k == 0) return(as_graph(names[1L], nodes = names))
  as_graph(outer(seq_len(n), seq_len(n), function(i, j) (j > i & j - i <= k) * 1), nodes = names, type = "dag")
}
markov <- bn_bounds("dimension", chain(10, 2))
claim("Example 1, n = 10, k = 2: parameters", 35, markov$parameters, 0)
claim("Corollary 19, n = 10, k = 2: lower bound", 35, markov$lower, 0)
claim("Corollary 19, n = 10, k = 2: upper bound", 36, markov$upper, 0)
agree <- vapply(1:12, function(n) all(vapply(0:(n - 1), function(k) bn_bounds("dimension", chain(n, k))$monomials == (n - k + 1) * 2^k, NA)), NA)
claim("Corollary 10: |U| = (n - k + 1) 2^k for all n <= 12, k < n", TRUE, all(agree), 0)
claim("Theorem 12, n = 10: naive Bayes", 11, bn_bounds("dimension", chain(10, 0))$exact, 0)
claim("Theorem 12, n = 1: VC dimension by brute force", 1, bn_bounds("vc", chain(1, 0))$vc, 0)
claim("Theorem 12, n = 3: VC dimension by brute force", 4, bn_bounds("vc", chain(3, 0))$vc, 0)
bipartite <- as_graph(data.frame(from = rep(c("a", "b"), each = 4L), to = c("c", "d", "e", "f")))
claim("Theorem 14, n = 6, k = 2", 20, bn_bounds("dimension", bipartite)$exact, 0)
claim("Theorem 14, n = 3, k = 1: VC dimension by brute force", 6, bn_bounds("vc", "a -> b; a -> c")$vc, 0)
claim("Theorem 14, n = 2, k = 1: VC dimension by brute force", 4, bn_bounds("vc", "a -> b")$vc, 0,
      "an erratum: the theorem needs n >= k + 2; both networks sum to one, so that no rule says -1 at all four points")
claim("Corollary 8, four bits: Forster's bound", 4, bn_bounds("sign_rank", Reduce(kronecker, rep(list(matrix(c(1, 1, 1, -1), 2)), 4)), n_starts = 0)$forster, 1e-9)
claim("Theorem 17, chain of 4 nodes: labellings of the shattered set that fail", 0, bn_bounds("shatter", chain(4, 1), constants = "paper", all = TRUE)$failures, 0)
claim("Theorem 22, n = 8: lower bound", 28, bn_bounds("dimension", 8, "logistic")$lower, 0)
claim("Theorem 22, n = 5: labellings of the shattered set that fail", 0, bn_bounds("shatter", 5, type = "logistic", constants = "paper", all = TRUE)$failures, 0)
bits <- as.matrix(expand.grid(rep(list(0:1), 6)))
wrong <- sum(apply(bits, 1L, function(a) sum(sign(predict(bn_bounds("parity", a))) != (-1)^drop(bits %*% a))))
claim("Theorem 25, n = 12: wrong signs over all parities of 6 bits", 0, wrong, 0)
