# Decisions by expected F, against all 2^m decisions.

all_vectors <- function(m) unname(as.matrix(expand.grid(rep(list(0:1), m))))

value_of <- function(y, h, beta = 1) {
  below <- beta^2 * sum(y) + sum(h)
  if (below > 0) (1 + beta^2) * sum(y * h) / below else 1
}

best_value <- function(y, w, score) max(apply(all_vectors(ncol(y)), 1, function(h) sum(w * apply(y, 1, score, h))))

test_that("independent labels: the best of all decisions, for any beta", {
  set.seed(1)
  for (run in 1:25) {
    m <- sample(1:7, 1)
    beta <- sample(c(0.3, 1, sqrt(2), 4), 1)
    p <- runif(m)^sample(c(0.3, 1, 3), 1)
    if (run %% 5 == 0) p[sample(m, 1)] <- sample(0:1, 1)
    y <- all_vectors(m)
    w <- apply(y, 1, function(one) prod(ifelse(one == 1, p, 1 - p)))
    best <- best_value(y, w, function(one, h) value_of(one, h, beta))
    expect_equal(f_decide(p, beta = beta)$expected, best, tolerance = 1e-12)
    expect_equal(f_decide(sample = y, weights = w, beta = beta)$expected, best, tolerance = 1e-12)
  }
})

test_that("any joint law: GFM is the best of all decisions, and the rest of the targets are right", {
  set.seed(2)
  for (run in 1:20) {
    m <- sample(2:6, 1)
    y <- all_vectors(m)
    w <- rexp(nrow(y))^3
    w <- w / sum(w)
    beta <- sample(c(0.5, 1, 2), 1)
    fit <- f_decide(sample = y, weights = w, beta = beta)
    expect_equal(fit$expected, best_value(y, w, function(one, h) value_of(one, h, beta)), tolerance = 1e-12)
    expect_equal(fit$expected, sum(w * apply(y, 1, value_of, fit$labels, beta)), tolerance = 1e-12)
    expect_equal(f_decide(sample = y, weights = w, target = "hamming")$labels, as.integer(colSums(w * y) > 0.5))
    expect_equal(f_decide(sample = y, weights = w, target = "subset")$labels, as.integer(y[which.max(w), ]), ignore_attr = TRUE)
  }
})

test_that("Jaccard of independent labels is the best of all decisions", {
  set.seed(3)
  jaccard <- function(y, h) if (sum(y | h) > 0) sum(y & h) / sum(y | h) else 1
  for (run in 1:15) {
    m <- sample(1:6, 1)
    p <- runif(m)
    y <- all_vectors(m)
    w <- apply(y, 1, function(one) prod(ifelse(one == 1, p, 1 - p)))
    expect_equal(f_decide(p, target = "jaccard")$expected, best_value(y, w, jaccard), tolerance = 1e-12)
    none <- f_decide(p, target = "jaccard", empty = 0)
    expect_equal(none$curve[1], 0)
    # a sample of all vectors: the candidates hold every vector, so the heuristic is the best of all
    expect_equal(f_decide(sample = y, weights = w, target = "jaccard")$expected, best_value(y, w, jaccard), tolerance = 1e-12)
  }
})

test_that("the two laws with the same marginal probabilities (paper, section 4.1)", {
  one <- f_decide(sample = rbind(c(0, 0, 0, 1), c(0, 0, 1, 0), c(0, 1, 0, 0), c(1, 0, 0, 0)), weights = c(0.1, 0.2, 0.2, 0.5))
  two <- f_decide(sample = rbind(0, c(1, 0, 0, 1), c(1, 0, 1, 0), c(1, 1, 0, 0)), weights = c(0.5, 0.1, 0.2, 0.2))
  expect_equal(one$p, two$p)
  expect_equal(one$labels, c(1, 0, 0, 0))
  expect_equal(two$labels, c(0, 0, 0, 0))
  expect_equal(c(one$expected, two$expected), c(0.5, 0.5))
})

test_that("the law of twelve labels (paper, section 4.3): no threshold finds the best", {
  y <- rbind(rep(0, 12), c(1, rep(0, 11)), c(0, rep(1, 6), rep(0, 5)), c(0, 1, rep(0, 5), rep(1, 5)))
  w <- c(0.21, 0.39, 0.2, 0.2)
  fit <- f_decide(sample = y, weights = w)
  expect_equal(fit$labels, c(1, rep(0, 11)))
  expect_equal(fit$expected, 0.39)
  best <- f_decide(sample = y, weights = w, method = "threshold")
  expect_equal(best$k, 2)
  expect_equal(best$expected, 0.36)
  expect_false(best$exact)
})

test_that("Theorem 2's law of four labels has the regret 13/21", {
  law <- sim_multilabel(1, 4, "subset")$law
  table <- f_regret(law$y, law$prob, decisions = rep(0, 4))
  expect_equal(table$f[1] - table$f[8], 13 / 21)
  expect_equal(f_bounds("subset", 4)$bound, 13 / 21)
  expect_equal(max(table$regret), 13 / 21, tolerance = 1e-9)
})

test_that("one true label: probabilities that do not sum to one are refused", {
  expect_error(f_decide(c(0.5, 0.6), method = "categorical"), "sum to 1", class = "granary_error_input")
  expect_error(f_decide(rbind(c(0.5, 0.5), c(0.3, 0.1)), method = "categorical"), "decision 2", class = "granary_error_input")
})

test_that("one true label: the categorical rule is GFM on the one-hot law", {
  set.seed(4)
  for (run in 1:10) {
    p <- rexp(6)^2
    p <- p / sum(p)
    rule <- f_decide(p, method = "categorical")
    gfm <- f_decide(sample = diag(6), weights = p)
    expect_equal(rule$labels, gfm$labels)
    expect_equal(rule$expected, gfm$expected)
    ordered <- sort(p, decreasing = TRUE)
    first <- which(cumsum(ordered) >= (1 + 1:6) * c(ordered[-1], 0))[1]
    expect_equal(rule$k, first)
  }
})

test_that("joint and delta agree with the sample they come from", {
  set.seed(5)
  y <- matrix(rbinom(200 * 5, 1, 0.4), 200)
  size <- rowSums(y)
  joint <- sapply(1:5, function(s) colMeans(y * (size == s)))
  p0 <- mean(size == 0)
  from <- f_decide(sample = y)
  expect_equal(f_decide(joint = joint, p0 = p0)$expected, from$expected)
  expect_equal(f_decide(joint = joint, p0 = p0)$labels, from$labels)
  delta <- joint %*% outer(1:5, 1:5, function(s, k) 2 / (s + k))
  expect_equal(f_decide(delta = delta, p0 = p0)$curve, from$curve)
  expect_warning(f_decide(delta = delta * 3, p0 = p0), class = "granary_warning_input")
})

test_that("properties: permutation, labels that never come, certainty, extremes of beta", {
  set.seed(6)
  p <- runif(9)
  order <- sample(9)
  fit <- f_decide(p)
  expect_equal(f_decide(p[order])$labels, fit$labels[order])
  expect_equal(f_decide(c(p, 0))$expected, fit$expected)
  expect_equal(f_decide(c(p, 0))$labels, c(fit$labels, 0L))
  expect_equal(f_decide(rep(0, 4))$k, 0)
  expect_equal(f_decide(rep(0, 4))$expected, 1)
  expect_equal(f_decide(rep(1, 4))$k, 4)
  expect_equal(f_decide(rep(1, 4))$expected, 1)
  expect_equal(f_decide(c(0.9, 0.5, 0.2), beta = 1e-3)$k, 1)
  expect_equal(f_decide(c(0.9, 0.5, 0.2), beta = 1e3)$k, 3)
  expect_equal(f_decide(0.3)$labels, 0L)  # one label: chosen where p > 1 - p
  expect_equal(f_decide(0.7)$labels, 1L)
})

test_that("many labels: the sizes left out by bounds are not the best, and probabilities near 0 and 1 lose no digits", {
  set.seed(7)
  p <- rbeta(5200, 0.4, 3)
  large <- f_decide(p)
  expect_true(anyNA(large$curve))
  expect_lt(abs(large$threshold - large$expected / 2), 0.01)
  # a slower way: the law of the others by adding one label at a time
  others <- function(q) {
    law <- 1
    for (one in q) law <- c(law * (1 - one), 0) + c(0, law * one)
    law
  }
  p <- c(1 - 1e-12, 1e-12, 0.5, 0.5, 0.999, runif(20))
  sorted <- sort(p, decreasing = TRUE)
  fit <- f_decide(p)
  curve <- vapply(seq_along(p), function(k) {
    sum(vapply(seq_len(k), function(i) sorted[i] * sum(others(sorted[-i]) * 2 / (seq_along(p) + k)), 0))
  }, 0)
  expect_equal(fit$curve[-1], curve, tolerance = 1e-13)
})

test_that("rows, columns and all entries", {
  set.seed(8)
  p <- matrix(rbeta(60, 0.5, 1), 12, dimnames = list(NULL, letters[1:5]))
  rows <- f_decide(p)
  expect_equal(dim(rows$labels), dim(p))
  expect_equal(rows$labels[3, ], f_decide(p[3, ])$labels)
  expect_equal(rows$expected[3], f_decide(p[3, ])$expected)
  columns <- f_decide(p, average = "macro")
  expect_equal(columns$labels[, "b"], f_decide(p[, "b"])$labels, ignore_attr = TRUE)
  expect_length(columns$expected, 5)
  all <- f_decide(p, average = "micro")
  expect_equal(as.vector(all$labels), f_decide(as.vector(p))$labels)
  expect_identical(f_decide(p, threads = 1)$labels, f_decide(p, threads = 2)$labels)
})

test_that("a sample has a Monte Carlo standard error, weights have none", {
  set.seed(9)
  y <- matrix(rbinom(400 * 4, 1, 0.4), 400)
  fit <- f_decide(sample = y)
  value <- apply(y, 1, value_of, fit$labels)
  expect_equal(fit$std.error, sd(value) / sqrt(400), tolerance = 1e-8)
  expect_true(is.na(f_decide(sample = y, weights = rep(1, 400))$std.error))
})

test_that("scores are those of their definitions", {
  truth <- rbind(c(1, 0, 1), c(0, 0, 0), c(0, 1, 0), c(1, 1, 1))
  said <- rbind(c(1, 0, 0), c(0, 0, 0), c(1, 1, 0), c(0, 0, 0))
  scores <- f_score(truth, said)
  expect_equal(scores$f_instance, mean(c(2 / 3, 1, 2 / 3, 0)))
  expect_equal(scores$f_micro, 2 * 2 / (6 + 3))
  expect_equal(scores$f_macro, mean(c(2 * 1 / 4, 2 * 1 / 3, 0)))
  expect_equal(scores$jaccard, mean(c(1 / 2, 1, 1 / 2, 0)))
  expect_equal(f_score(truth, said, empty = 0)$jaccard, mean(c(1 / 2, 0, 1 / 2, 0)))
  expect_equal(scores$hamming, 5 / 12)
  expect_equal(scores$subset, 3 / 4)
  expect_equal(c(scores$precision, scores$recall), c(2 / 3, 1 / 3))
  expect_equal(f_score(truth, said, by = "instance")$f, c(2 / 3, 1, 2 / 3, 0))
  expect_equal(f_score(truth, said, by = "label")$positives, c(2, 2, 2))
  expect_equal(f_score(truth, said, beta = 2)$f_micro, 5 * 2 / (4 * 6 + 3))
  expect_equal(f_score(truth, said, weights = c(1, 0, 0, 0))$f_instance, 2 / 3)
  expect_equal(f_score(truth[, 1], said[, 1])$f_macro, 0.5)
})

test_that("worst cases", {
  expect_equal(f_bounds("hamming", c(3, 50))$bound, c(0.5, 0.5))
  expect_equal(f_bounds("threshold", c(4, 8, 20))$bound, c(0, 0, 1 / 6 - 1 / 12))
  expect_equal(f_bounds("jaccard", 5, expected = 0.6)$bound, 0.7)
  m <- 10
  q <- (f_bounds("independence", m)$bound + 1) / 2
  gain <- function(q) {
    s <- 1:m
    sum(exp(lfactorial(m) - lfactorial(m - s) - lfactorial(s - 1)) * 2 / (m + s) * q^(m - s) * (1 - q)^s) - q^m
  }
  expect_gt(gain(q - 1e-6), 0)
  expect_lt(gain(q + 1e-6), 0)
  # and a law that has this regret: independence chooses all, the F-maximizer none
  law <- sim_multilabel(1, m, "all_or_none", prob = q - 1e-6)$law
  table <- f_regret(law$y, law$prob)
  expect_equal(table$regret[table$decision == "independent"], 2 * q - 1, tolerance = 1e-4)
})

test_that("errors name what is wrong", {
  expect_error(f_decide(), "one of", class = "granary_error_input")
  expect_error(f_decide(0.5, sample = diag(2)), "`p` and `sample`", class = "granary_error_input")
  expect_error(f_decide(c(0.2, 1.2)), "element 2", class = "granary_error_input")
  expect_error(f_decide(c(0.2, NA)), "missing", class = "granary_error_input")
  expect_error(f_decide(matrix(c(0.2, -1), 1)), "probabilities", class = "granary_error_input")
  expect_error(f_decide(sample = matrix(2, 2, 2)), "0 or 1", class = "granary_error_input")
  expect_error(f_decide(sample = diag(2), weights = c(0, 0)), "all be 0", class = "granary_error_input")
  expect_error(f_decide(sample = diag(2), weights = 1), "length", class = "granary_error_input")
  expect_error(f_decide(0.5, weights = 1), "rows of `sample`", class = "granary_error_input")
  expect_error(f_decide(0.5, method = "gfm"), "needs `sample`", class = "granary_error_input")
  expect_error(f_decide(delta = diag(2)), "p0", class = "granary_error_input")
  expect_error(f_decide(delta = matrix(0, 2, 3), p0 = 0), "square", class = "granary_error_input")
  expect_error(f_decide(joint = matrix(0, 2, 3), p0 = 0), "sizes", class = "granary_error_input")
  expect_error(f_decide(joint = matrix(-1, 2, 2), p0 = 0), "negative", class = "granary_error_input")
  expect_error(f_decide(0.5, p0 = 0.5), "goes with", class = "granary_error_input")
  expect_error(f_decide(0.5, beta = 0), "beta", class = "granary_error_input")
  expect_error(f_decide(0.5, method = "lewis", target = "hamming"), "target = \"f\"", class = "granary_error_input")
  expect_error(f_decide(delta = diag(2), p0 = 0, target = "subset"), "other targets", class = "granary_error_input")
  expect_error(f_score(diag(2), diag(3)), "2 rows", class = "granary_error_input")
  expect_error(f_regret(diag(2), decisions = c(1, 0, 1)), "one entry per label", class = "granary_error_input")
  expect_error(f_bounds("jaccard", 5), "expected", class = "granary_error_input")
  expect_error(f_bounds("subset", 2), "at least 3", class = "granary_error_input")
  expect_error(sim_multilabel(5, 5, "threshold"), "even", class = "granary_error_input")
  expect_error(sim_multilabel(5, 5, "subset", p = 2), "columns", class = "granary_error_input")
})

test_that("methods", {
  fit <- f_decide(c(a = 0.8, b = 0.4, c = 0.1))
  expect_output(print(fit), "Chosen: a, b")
  expect_output(print(summary(fit)), "estimate")
  expect_equal(tidy(fit)$term, c("a", "b", "c"))
  expect_equal(glance(fit)$labels, 3)
  expect_equal(nobs(fit), 3)
  expect_output(print(f_decide(matrix(runif(6), 3))), "3 decisions")
  expect_error(predict(fit), class = "granary_error_input")
  file <- tempfile(fileext = ".png")
  png(file)
  plot(fit)
  plot(f_decide(matrix(runif(6), 3)))
  dev.off()
  expect_gt(file.size(file), 0)
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
})
