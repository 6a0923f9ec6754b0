# Raetsch and Warmuth (2005): Figure 1 and Figure 4 in kind, Table 2 on classes drawn after the paper's picture, and the closed forms.

reference <- if ("source" %in% names(formals(claim))) function(...) claim(..., source = "reference") else claim

# Three rows, three answers, each wrong once.
u <- 1 - 2 * diag(3)
claim("best margin of three rows and three answers", 1 / 3, boost_game(u)$value, 1e-9)
fit <- boost(c(1, 1, -1) * u, c("b", "b", "a"), method = "adaboost", learner = "pool", n_rounds = 300)
claim("edge of plain AdaBoost there, in the limit", (sqrt(5) - 1) / 2, fit$path$edge[300], 1e-6)

# Theorem 6.
set.seed(1)
n <- 50
sign <- rep(c(-1, 1), n / 2)
pool <- sign * matrix(sample(c(1, -1), n * 200, TRUE, c(0.65, 0.35)), n)
star <- boost(pool, factor(sign), learner = "pool", nu = 0.1)
claim("rounds for nu = 0.1 and 50 rows", ceiling(2 * log(50) / 0.01), nrow(star$path), 0)
claim("the gap is at most nu then", TRUE, star$upper - star$lower <= 0.1, 0)

# Figure 1 in kind: the margin of AdaBoost_rho lies between the lower bound and the best margin; the worst selection stays near the bound.
repeats <- if (extended) 100 else 6
outcome <- vapply(seq_len(repeats), function(r) {
  set.seed(r)
  n <- sample(10:100, 1)
  sign <- replace(sample(c(-1, 1), n, TRUE), 1:2, c(-1, 1))
  u <- matrix(sample(c(1, -1), n * 300, TRUE, c(0.6, 0.4)), n)
  u <- u[, colSums(u) < n]
  value <- boost_game(u)$value
  one <- function(selection) {
    fit <- suppressMessages(boost(sign * u, factor(sign), method = "rho", rho = 0, learner = "pool", n_rounds = if (extended) 10000 else 2000, selection = selection))
    c(fit$lower, boost_bounds("margin", edge = min(fit$path$edge), rho = 0))
  }
  c(value, one("worst"), one("best"))
}, numeric(5))
some <- outcome[1, ] > 0.02
claim("Figure 1: the worst selection ends above the lower bound", TRUE, all(outcome[2, some] >= outcome[3, some] - 0.02), 0)
claim("Figure 1: the best selection comes nearer to the best margin than the worst", TRUE, mean(outcome[4, ]) >= mean(outcome[2, ]), 0)

# Figure 4 in kind: 50 rows, the nu of the budget against one that is too small.
rounds <- if (extended) 20000 else 2000
reached <- vapply(list(budget = NULL, small = 0.001), function(nu) {
  suppressWarnings(boost(pool, factor(sign), learner = "pool", n_rounds = rounds, nu = nu))$lower
}, 0)
claim("Figure 4: the nu of the budget reaches at least the margin of nu = 0.001", TRUE, reached[["budget"]] >= reached[["small"]], 0,
      "a random matrix of signs; the data of the paper are in a figure only")

# Table 2 in kind: 98 columns of noise, two that part the classes; trees of three nodes, 200 rounds.
banana <- function(n) {
  y <- rep_len(0:1, n)
  t <- runif(n, 0, pi)
  x <- cbind(cos(t) + y, sin(t) * ifelse(y == 1, -1, 1) + 0.4 * y) + matrix(rnorm(2 * n, sd = 0.1), n)
  list(x = cbind(x, matrix(runif(98 * n), n)), y = factor(y))
}
splits <- if (extended) 200 else 4
table2 <- rowMeans(vapply(seq_len(splits), function(r) {
  set.seed(100 + r)
  train <- banana(100)
  test <- banana(2000)
  unlist(lapply(c("adaboost", "marginal", "star"), function(method) {
    fit <- suppressMessages(boost(train$x, train$y, method = method, nu = 0.1, n_rounds = 200, max_leaves = 3))
    c(mean(predict(fit, test$x) != test$y), fit$lower)
  }))
}, numeric(6)))
why <- "the two columns that matter are a picture in the paper: the order counts, not the digits"
# The digits belong to data that are not printed, so they stand beside each other and are not compared.
beside <- function(text, paper, value) claim(text, paper, NA_real_, 0, sprintf("%s; on ours %s", why, format(value, digits = 3L)))
beside("Table 2: margin of AdaBoost", 0.31, table2[2])
beside("Table 2: margin of marginal AdaBoost", 0.55, table2[4])
beside("Table 2: margin of AdaBoost*", 0.58, table2[6])
beside("Table 2: test error of AdaBoost*, percent", 3.5, 100 * table2[5])
beside("Table 2: test error of AdaBoost, percent", 4.0, 100 * table2[1])
claim("Table 2: AdaBoost* has a larger margin than AdaBoost", TRUE, table2[6] > table2[2], 0, why)

# Table 2, text: after 1000 rounds on one data set AdaBoost .37, Arc-GV .53, AdaBoost* .58.
if (extended) {
  set.seed(200)
  train <- banana(100)
  long <- vapply(c("adaboost", "arc_gv", "star"), function(method) {
    suppressWarnings(suppressMessages(boost(train$x, train$y, method = method, nu = 0.1, n_rounds = 1000, max_leaves = 3)))$lower
  }, 0)
  beside("margin after 1000 rounds, AdaBoost", 0.37, long[["adaboost"]])
  beside("margin after 1000 rounds, Arc-GV", 0.53, long[["arc_gv"]])
  beside("margin after 1000 rounds, AdaBoost*", 0.58, long[["star"]])
  claim("after 1000 rounds AdaBoost* has a larger margin than AdaBoost", TRUE, long[["star"]] > long[["adaboost"]], 0, why)
}

# Appendix B: one kernel is its machine, and kernels added do not raise the objective.
set.seed(3)
x <- matrix(rnorm(100), 50)
y <- factor(ifelse(rowSums(x^2) + 0.3 * rnorm(50) > 1.4, "out", "in"))
kernels <- list(linear = tcrossprod(x), square = (1 + tcrossprod(x))^2, noise = tcrossprod(matrix(rnorm(100), 50)))
mixed <- boost_kernels(kernels, y, normalize = FALSE)
alone <- boost_kernels(kernels["square"], y, normalize = FALSE)
claim("Appendix B: the objective of one kernel is that of its machine", alone$single[["square"]], alone$objective, 1e-4 * alone$objective)
claim("Appendix B: a mixture of three kernels is no worse than the best of them", TRUE, mixed$upper <= min(mixed$single) * (1 + 1e-3), 0)
by_steps <- suppressWarnings(boost_kernels(kernels, y, method = "star", nu = 0.05, normalize = FALSE))
claim("Appendix B: AdaBoost* and the linear program enclose each other", TRUE, by_steps$lower <= mixed$upper && by_steps$upper >= mixed$lower, 0)
