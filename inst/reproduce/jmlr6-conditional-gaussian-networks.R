# Cowell (JMLR 6, 2005). The paper has no numerical results: what can be checked are its worked structures (Figures 1, 3 and 4), the storage counts of Section 3.3, and
# that the representation it derives is the law it should be. Parameters are drawn here.

set.seed(1)
binary <- c(a = 0.4, b = 0.6)
frame <- function(discrete, continuous) {
  x <- if (length(discrete) > 0) expand.grid(stats::setNames(rep(list(c("a", "b")), length(discrete)), discrete), stringsAsFactors = FALSE) else data.frame(row.names = 1L)
  size <- max(nrow(x), 1L)
  for (z in continuous) x[[z]] <- stats::rnorm(size)
  x$intercept <- stats::rnorm(size)
  x$variance <- 0.5 + stats::runif(size)
  x
}
random_table <- function(node, parents) {
  x <- matrix(0.2 + stats::runif(2^(length(parents) + 1)), 2)
  array(sweep(x, 2, colSums(x), "/"), rep(2, length(parents) + 1), stats::setNames(rep(list(c("a", "b")), length(parents) + 1), c(node, parents)))
}
clusters <- function(tree) vapply(seq_len(nrow(tree$clusters)), function(k) paste(sort(c(tree$clusters$discrete[[k]], tree$clusters$continuous[[k]])), collapse = ""), "")
same <- function(a, b) setequal(a, b)
tails <- function(net) vapply(cg_tree(net)$regressions, function(r) paste(sort(setdiff(names(r), c("intercept", "variance"))), collapse = ""), "")

# Figure 1: A - B - CD, E and F on BCD.
figure_1 <- cg_network("A -> B -> C; B -> D <- C; B -> E <- C; D -> E; B -> F <- C; D -> F", list(
  A = binary, B = random_table("B", "A"), C = random_table("C", "B"), D = random_table("D", c("B", "C")), E = random_table("E", c("B", "C", "D")),
  F = random_table("F", c("B", "C", "D"))
))
tree <- cg_tree(figure_1, "junction", order = c("F", "E", "D", "C", "B", "A"))
claim("Figure 1: the junction tree has the cliques AB, BCDE, BCDF", TRUE, same(clusters(tree), c("AB", "BCDE", "BCDF")), 0)
parents <- clusters(tree)[tree$clusters$parent]
claim("Figure 1: it is the chain AB - BCDE - BCDF", TRUE, identical(parents, c("BCDE", "AB")), 0)

# Figures 2 and 3.
figure_2 <- function(order = NULL) {
  cg_network("A -> X <- B; X -> Y <- C; Y -> Z <- C", list(A = binary, B = binary, C = binary), regressions_2, order = order)
}
regressions_2 <- list(X = frame(c("A", "B"), NULL), Y = frame("C", "X"), Z = frame("C", "Y"))
order_3 <- c("Y", "X", "Z", "C", "A", "B")
net <- figure_2(order_3)
claim("Figure 3: the strong elimination tree has 6 clusters", 6, nrow(cg_tree(net, "elimination", order = order_3)$clusters), 0)
claim("Figure 3: the semi-elimination tree is YXZC, XZABC, ZABC, ABC", TRUE, same(clusters(cg_tree(net, order = order_3)), c("CXYZ", "ABCXZ", "ABCZ", "ABC")), 0)
claim("Figure 3: the strong junction tree is YXZC, XZABC", TRUE, same(clusters(cg_tree(net, "junction", order = order_3)), c("CXYZ", "ABCXZ")), 0)
claim("Section 4.3: after initialisation Y | X,Z,C; X | Z,A,B,C; Z | A,B,C", TRUE, identical(tails(net)[c("Y", "X", "Z")], c(Y = "CXZ", X = "ABCZ", Z = "ABC")), 0)

# Section 4.4: Z given Y = y, and then X = x as well, by enumeration of the eight configurations.
cases <- expand.grid(A = 1:2, B = 1:2, C = 1:2)
joint <- lapply(seq_len(8), function(k) {
  x <- regressions_2$X[cases$A[k] + 2 * (cases$B[k] - 1), ]
  y <- regressions_2$Y[cases$C[k], ]
  z <- regressions_2$Z[cases$C[k], ]
  load <- rbind(X = c(1, 0, 0), Y = c(y$X, 1, 0), Z = c(z$Y * y$X, z$Y, 1))
  mean <- c(x$intercept, y$intercept + y$X * x$intercept, z$intercept + z$Y * (y$intercept + y$X * x$intercept))
  list(p = prod(binary[unlist(cases[k, ])]), mean = stats::setNames(mean, c("X", "Y", "Z")), cov = load %*% diag(c(x$variance, y$variance, z$variance)) %*% t(load))
})
given <- function(values, of) {
  v <- names(values)
  parts <- lapply(joint, function(j) {
    s <- solve(j$cov[v, v, drop = FALSE])
    off <- values - j$mean[v]
    list(w = j$p * exp(-0.5 * sum(off * (s %*% off))) * sqrt(det(s) / (2 * pi)^length(v)), mean = j$mean[[of]] + sum(j$cov[of, v] * (s %*% off)))
  })
  w <- vapply(parts, `[[`, 0, "w")
  c(evidence = log(sum(w)), mean = sum(w * vapply(parts, `[[`, 0, "mean")) / sum(w))
}
one <- cg_condition(net, list(Y = 0.7))
two <- cg_condition(one, list(X = -0.3))
claim("Section 4.4: mean of Z given Y, against enumeration", given(c(Y = 0.7), "Z")[["mean"]], cg_marginal(one, "Z")$mean, 1e-10, "parameters drawn here")
claim("Section 4.4: log-evidence of Y", given(c(Y = 0.7), "Z")[["evidence"]], one$log_evidence, 1e-10, "parameters drawn here")
claim("Section 4.4: mean of Z given Y and X", given(c(Y = 0.7, X = -0.3), "Z")[["mean"]], cg_marginal(two, "Z")$mean, 1e-10, "parameters drawn here")
claim("Section 4.4: log-evidence of Y and X", given(c(Y = 0.7, X = -0.3), "Z")[["evidence"]], two$log_evidence, 1e-10, "parameters drawn here")
orders <- list(c("Z", "Y", "X", "C", "B", "A"), c("X", "Z", "Y", "A", "C", "B"))
others <- vapply(orders, function(order) cg_marginal(cg_condition(figure_2(order), list(Y = 0.7)), "Z")$mean, 0)
claim("Section 4.2: other elimination sequences give the same law", 0, max(abs(others - cg_marginal(one, "Z")$mean)), 1e-10)

# Figure 4, Example 3 of Lauritzen and Jensen.
figure_4 <- cg_network("F -> D -> C <- A; C -> E <- F; A -> B <- C; D -> B <- E", list(A = binary), list(
  F = frame(NULL, NULL), D = frame(NULL, "F"), C = frame("A", "D"), E = frame(NULL, c("C", "F")), B = frame("A", c("C", "D", "E"))
), order = c("F", "E", "D", "C", "B", "A"))
claim("Figure 4: clusters CDEF, ABCDE, ABCD, ABC, AB, A", TRUE, same(clusters(cg_tree(figure_4)), c("CDEF", "ABCDE", "ABCD", "ABC", "AB", "A")), 0)
claim("Section 5.4: F | C,D,E; E | A,B,C,D; D | A,B,C; C | A,B; B | A", TRUE,
      identical(tails(figure_4)[c("F", "E", "D", "C", "B")], c(F = "CDE", E = "ABCD", D = "ABC", C = "AB", B = "A")), 0)

# Section 3.3: storage of complete graphs.
k <- 6
names <- paste0("V", seq_len(k))
complete <- matrix(0, k, k, dimnames = list(names, names))
complete[upper.tri(complete)] <- 1
gauss <- cg_network(complete, list(), lapply(stats::setNames(seq_len(k), names), function(j) frame(NULL, names[seq_len(j - 1)])))
claim("Section 3.3: k(k + 3)/2 numbers for k = 6 continuous variables", k * (k + 3) / 2,
      sum(vapply(cg_tree(gauss)$regressions, length, 0L)), 0)
discrete <- cg_network(complete, lapply(stats::setNames(seq_len(k), names), function(j) random_table(names[j], names[seq_len(j - 1)])))
claim("Section 3.3: 2(2^k - 1) table entries in the elimination tree of k = 6 binary variables", 2 * (2^k - 1), sum(cg_tree(discrete, "elimination")$clusters$configurations), 0)
claim("Section 3.3: 2^k in the junction tree", 2^k, sum(cg_tree(discrete, "junction")$clusters$configurations), 0)
claim("Results on data", NA, NA, 0, "the paper has no experiments")
