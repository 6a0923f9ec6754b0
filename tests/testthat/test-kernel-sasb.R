# SBSB and SASB, their bound, the baselines over attributes, and the mistake-driven wrapper.

binary <- function(n, p, seed = 1) {
  set.seed(seed)
  matrix(rbinom(n * p, 1, 0.5), n)
}

# Bayes by integration over the prior: which attribute matters, its match probability, the rate of label 1. NA: not observed.
bayes_by_quadrature <- function(x, y, new) {
  n <- ncol(x)
  grid <- (seq_len(2000) - 0.5) / 2000
  joint <- function(x, y) {  # p(data), labels and attributes
    label <- mean(grid^sum(y) * (1 - grid)^sum(1 - y))
    per_attribute <- vapply(seq_len(n), function(i) {
      seen <- !is.na(x[, i])
      match <- sum(x[seen, i] == y[seen])
      mean(grid^match * (1 - grid)^(sum(seen) - match)) * 0.5^sum(!is.na(x[, -i]))
    }, 0)
    label * mean(per_attribute)
  }
  both <- vapply(0:1, function(label) joint(rbind(x, new), c(y, label)), 0)
  both[2] / sum(both)
}

test_that("SBSB is Bayes' rule under its prior, with missing attributes too", {
  for (seed in 1:6) {
    set.seed(seed)
    n <- 1 + seed %% 3
    t <- sample(1:4, 1)
    x <- matrix(rbinom(n * t, 1, 0.5), t)
    if (seed > 3) x[sample(length(x), 1)] <- NA
    y <- rbinom(t, 1, 0.5)
    fit <- sasb(x, y, mistake_driven = FALSE)
    new <- binary(3, n, seed + 10)
    if (seed > 4) new[1, 1] <- NA
    exact <- vapply(1:3, function(i) bayes_by_quadrature(x, y, new[i, , drop = FALSE]), 0)
    expect_equal(unname(predict(fit, new, type = "prob")), exact, tolerance = 1e-5)
  }
})

test_that("the rule printed in the paper and the threshold form agree", {
  x <- binary(60, 5)
  y <- rbinom(60, 1, 0.5)
  fit <- sasb(x, y, mistake_driven = FALSE)
  expect_equal(unname(fit$s), colSums(x == y))
  expect_equal(c(fit$M, fit$t), c(sum(y), 60))
  expect_equal(unname(fit$weights), (1 / choose(60, fit$s)) / sum(1 / choose(60, fit$s)), ignore_attr = TRUE)
  new <- binary(32, 5, 2)
  printed <- apply(new, 1, function(v) {
    left <- (fit$M + 1) * sum((v * (fit$s + 1) + (1 - v) * (60 - fit$s + 1)) / choose(60, fit$s))
    right <- (60 - fit$M + 1) * sum(((1 - v) * (fit$s + 1) + v * (60 - fit$s + 1)) / choose(60, fit$s))
    left > right
  })
  expect_identical(predict(fit, new) == "1", printed)
  threshold <- drop(cbind(1, new) %*% coef(fit))
  expect_equal(unname(predict(fit, new, type = "score")), threshold, tolerance = 1e-12)
  expect_identical(predict(fit, new, type = "prob") > 0.5, threshold > 0)
})

test_that("the hand run comes out", {
  first <- sasb(rbind(c(1, 0)), 1)
  expect_identical(first$mistakes, 1)  # the first prediction is 0, a tie
  expect_identical(unname(first$s), c(1, 0))
  expect_identical(c(first$M, first$t), c(1, 1))
  expect_equal(unname(first$q), c(2 / 3, 1 / 3))
  expect_identical(as.character(predict(first, rbind(c(1, 0)))), "1")
  expect_equal(predict(first, rbind(c(1, 0)), type = "score"), 2 / 3 + 2 / 3 - 1)
  for (n in c(1, 3, 20, 33, 100)) expect_identical(sasb(binary(1, n), 0)$mistakes, 0)
})

test_that("counts are counts of mistakes, and right predictions leave the state as it is", {
  d <- { set.seed(3); sim_sasb(500, 20, 3, 0.1) }
  fit <- sasb(d$x, d$y)
  expect_identical(fit$t, fit$mistakes)
  expect_true(all(fit$s >= 0 & fit$s <= fit$t) && fit$M <= fit$t)
  # replay: counts over the wrong trials only
  wrong <- which(diff(c(0, tidy(fit)$mistakes)) == 1)
  expect_equal(unname(fit$s), unname(colSums(d$x[wrong, ] == d$y[wrong])))
  frozen <- sasb(d$x[1:2, ], c(0, 0))  # ties go to 0, so nothing is wrong
  expect_identical(frozen$t, 0)
  every <- sasb(d$x, d$y, mistake_driven = FALSE)
  expect_identical(every$t, 500)
})

test_that("permuted and complemented attributes and swapped labels change nothing but names", {
  d <- { set.seed(4); sim_sasb(400, 10, 3, 0.15) }
  for (driven in c(TRUE, FALSE)) {
    fit <- sasb(d$x, d$y, mistake_driven = driven)
    p <- sample(10)
    expect_equal(tidy(sasb(d$x[, p], d$y, mistake_driven = driven)), tidy(fit))
    flipped <- d$x
    flipped[, c(1, 4, 7)] <- 1 - flipped[, c(1, 4, 7)]
    other <- sasb(flipped, d$y, mistake_driven = driven)
    expect_equal(tidy(other), tidy(fit))
    expect_equal(other$s[c(1, 4, 7)], fit$t - fit$s[c(1, 4, 7)])
  }
  every <- sasb(d$x, d$y, mistake_driven = FALSE)
  swapped <- sasb(1 - d$x, 1 - d$y, mistake_driven = FALSE)
  expect_equal(predict(swapped, 1 - d$x, type = "prob"), 1 - predict(every, d$x, type = "prob"), tolerance = 1e-10)
})

test_that("missing attributes say nothing", {
  d <- { set.seed(5); sim_sasb(300, 6, 2, 0.1) }
  x <- cbind(d$x, extra = NA)
  fit <- sasb(x, d$y, mistake_driven = FALSE)
  plain <- sasb(d$x, d$y, mistake_driven = FALSE)
  expect_equal(unname(fit$seen), c(rep(300, 6), 0))
  expect_equal(fit$weights[1:6] / sum(fit$weights[1:6]), plain$weights, tolerance = 1e-10)
  some <- d$x
  some[cbind(sample(300, 60), sample(6, 60, TRUE))] <- NA
  gaps <- sasb(some, d$y)
  expect_equal(unname(gaps$s), unname({
    wrong <- which(diff(c(0, tidy(gaps)$mistakes)) == 1)
    colSums(some[wrong, ] == d$y[wrong], na.rm = TRUE)
  }))
  expect_true(all(is.finite(predict(gaps, some, type = "prob"))))
  for (learner in list(winnow, weighted_majority, online_naive_bayes)) expect_identical(learner(some, d$y)$trials, 300)
})

test_that("sparse and dense data, grouped and single counts, cut and resumed runs agree", {
  set.seed(6)
  x <- matrix(rbinom(400 * 60, 1, 0.1), 400)
  y <- x[, 1] | x[, 2]
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  for (learner in list(sasb, weighted_majority, winnow, perceptron, online_naive_bayes)) {
    a <- learner(x, y)
    b <- learner(sparse, y)
    expect_identical(a$state, b$state)
    file <- tempfile()
    half <- learner(x[1:150, ], y[1:150])
    saveRDS(half, file)
    resumed <- update(readRDS(file), x[151:400, ], y[151:400])
    unlink(file)
    expect_identical(resumed$state, a$state)
    expect_identical(resumed$record, a$record)
  }
  # few attributes and many trials: the counts spread too far to be grouped
  long <- sim_sasb(3000, 5, 2, 0.2)
  spread <- sasb(long$x, long$y, mistake_driven = FALSE)
  expect_false(spread$state$grouped)
  expect_equal(unname(spread$s), unname(colSums(long$x == long$y)))
  expect_equal(sum(spread$weights), 1)
  expect_identical(update(sasb(long$x[1:1500, ], long$y[1:1500], mistake_driven = FALSE), long$x[1501:3000, ], long$y[1501:3000])$state, spread$state)
})

test_that("weights stay finite after very many trials", {
  x <- cbind(rep(c(0, 1), 1e5), rbinom(2e5, 1, 0.5))
  fit <- sasb(x, x[, 1], mistake_driven = FALSE)
  expect_true(all(is.finite(fit$weights)) && abs(sum(fit$weights) - 1) < 1e-12)
  expect_gt(fit$weights[1], 0.999)
})

test_that("voters vote, and one voter is none", {
  d <- { set.seed(7); sim_sasb(400, 8, 2, 0.15) }
  plain <- sasb(d$x, d$y)
  voted <- sasb(d$x, d$y, voters = 3)
  expect_identical(voted$s, plain$s)  # the current hypothesis alone decides what is counted
  expect_identical(voted$t, plain$t)
  wrong <- which(diff(c(0, tidy(plain)$mistakes)) == 1)
  hypotheses <- lapply(utils::tail(wrong, 3), function(t) sasb(d$x[1:t, ], d$y[1:t], levels = 0:1))
  lives <- diff(c(utils::tail(wrong, 3), 401))
  share <- Reduce(`+`, Map(function(h, l) l * ifelse(predict(h, d$x) == "1", 1, -1), hypotheses, lives)) / sum(lives)
  expect_equal(unname(predict(voted, d$x, type = "score")), share, tolerance = 1e-12)
  expect_error(sasb(d$x, d$y, voters = 3, mistake_driven = FALSE), "`voters`", class = "granary_error_input")
})

test_that("mistakes stay within the bound, in any order", {
  expect_equal(c(sasb_bounds("mistakes", 20, 0, 1), sasb_bounds("mistakes", 100, 0, 1), sasb_bounds("mistakes", 1000, 0, 1), sasb_bounds("mistakes", 50, 0, 0.5),
                 sasb_bounds("mistakes", 20, 1 / 3, 2 / 3)), c(8, 11, 15, 77, 132))
  # by plain enumeration of m and M
  slow <- function(n, b0, b1) {
    m <- 1:400
    ok <- vapply(m, function(m) {
      ones <- 0:m
      s <- pmin(m, pmax(m / 2, ones * b1 + (m - ones) * (1 - b0)))
      any(log(n) + 2 * log(m + 1) + lchoose(m, ones) + lgamma(m + 1) - lgamma(s + 1) - lgamma(m - s + 1) >= m * log(4))
    }, NA)
    max(m[ok])
  }
  for (setup in list(c(7, 0.1, 0.9), c(40, 0.3, 0.8), c(12, 0.5, 1), c(3, 0.2, 0.7))) {
    expect_equal(as.double(sasb_bounds("mistakes", setup[1], setup[2], setup[3])), slow(setup[1], setup[2], setup[3]))
  }
  expect_identical(as.double(sasb_bounds("mistakes", 10, 0.5, 0.5)), Inf)
  for (target in list(c(1, 1, 20), c(2, 3, 20), c(3, 5, 30), c(1, 3, 40))) {
    r <- target[1]
    k <- target[2]
    bound <- sasb_bounds("mistakes", target[3], (r - 1) / k, r / k)
    for (seed in 1:3) {
      x <- binary(800, target[3], seed)
      y <- rowSums(x[, seq_len(k), drop = FALSE]) >= r
      expect_lte(sasb(x, y)$mistakes, bound)
      expect_lte(sasb(x[order(y), ], sort(y), epochs = 3)$mistakes, bound)
      # an adversary that always asks what is answered wrongly, while it can
      fit <- sasb(x[1, , drop = FALSE], y[1])
      for (round in 1:60) {
        bad <- which((predict(fit, x) == "TRUE") != y)
        if (length(bad) == 0) break
        fit <- update(fit, x[bad[1], , drop = FALSE], y[bad[1]])
      }
      expect_lte(fit$mistakes, bound)
    }
  }
  # Winnow on disjunctions: alpha k (log_alpha theta + 1) + n / theta
  x <- binary(2000, 50)
  expect_lte(winnow(x, x[, 1] | x[, 2])$mistakes, 2 * 2 * (log2(25) + 1) + 2)
})

test_that("the gap found is a gap, and the largest", {
  x <- binary(200, 7)
  gap <- sasb_bounds("separation", x, rowSums(x[, 1:3]) >= 2)
  expect_equal(gap$delta, 1 / 3, tolerance = 1e-8)
  expect_equal(unname(gap$gamma), c(1, 1, 1, 0, 0, 0, 0) / 3, tolerance = 1e-8)
  value <- drop(x %*% gap$gamma + (1 - x) %*% gap$gamma_complement)
  y <- rowSums(x[, 1:3]) >= 2
  expect_lte(max(value[!y]), gap$b0 + 1e-9)
  expect_gte(min(value[y]), gap$b1 - 1e-9)
  against <- sasb_bounds("separation", x, 1 - x[, 2])
  expect_equal(c(against$delta, against$gamma_complement[[2]]), c(1, 1))
  expect_lte(sasb_bounds("separation", rbind(c(0, 1), c(0, 1)), 0:1)$delta, 1e-9)  # equal rows, different labels
  expect_error(sasb_bounds("separation", x + 0.5, x[, 1]), "0 and 1 only", class = "granary_error_input")
  expect_error(sasb_bounds("separation", x, rep(1, 200)), "both classes", class = "granary_error_input")
  expect_output(print(summary(sasb(x, y), gap = c(gap$b0, gap$b1))), "bound on mistakes")
})

test_that("mistake_driven() makes SASB of SBSB, exactly, and any learner careful", {
  d <- { set.seed(8); sim_sasb(600, 15, 3, 0.1) }
  wrapped <- mistake_driven(sasb, d$x, d$y, mistake_driven = FALSE)
  own <- sasb(d$x, d$y)
  expect_identical(tidy(wrapped)[c("trial", "mistakes")], tidy(own)[c("trial", "mistakes")])
  expect_identical(wrapped$learner$s, own$s)
  expect_identical(predict(wrapped, d$x), predict(own, d$x))
  bayes <- mistake_driven(online_naive_bayes, d$x, d$y)
  expect_identical(tidy(bayes)$mistakes, tidy(online_naive_bayes(d$x, d$y, mistake_driven = TRUE))$mistakes)
  cut <- update(mistake_driven(online_naive_bayes, d$x[1:250, ], d$y[1:250]), d$x[251:600, ], d$y[251:600])
  expect_identical(cut$state$inner$state, bayes$state$inner$state)
  # perceptrons learn from mistakes only, and stay as they are
  kernel <- kernel_perceptron(d$x, d$y, prediction = "last", standardize = FALSE)
  again <- mistake_driven(kernel_perceptron, d$x, d$y, prediction = "last", standardize = FALSE)
  expect_identical(again$mistakes, kernel$mistakes)
  expect_identical(again$learner$coefficients, kernel$coefficients)
  three <- mistake_driven(online_naive_bayes, iris[1:4], iris$Species, binarize = "median", shuffle = TRUE)
  expect_identical(three$trials, 150)
  from <- mistake_driven(sasb(d$x[1:100, ], d$y[1:100], mistake_driven = FALSE), d$x[101:600, ], d$y[101:600])
  expect_identical(from$learner$t, 100 + from$mistakes)
  expect_error(mistake_driven(function(...) 1, d$x, d$y), "`learner`", class = "granary_error_input")
  expect_error(mistake_driven(function(x) x, d$x, d$y), "`learner`", class = "granary_error_input")
  expect_error(mistake_driven(1, d$x, d$y), "`learner`", class = "granary_error_input")
})

test_that("naive Bayes, weighted majority, Winnow and the perceptron follow their definitions", {
  d <- { set.seed(9); sim_sasb(200, 6, 2, 0.2) }
  bayes <- online_naive_bayes(d$x, d$y)
  score <- function(v, label) {
    rows <- d$y == label
    p <- (colSums(d$x[rows, ]) + 1) / (sum(rows) + 2)
    log((sum(rows) + 1) / 202) + sum(log(ifelse(v == 1, p, 1 - p)))
  }
  expect_equal(unname(predict(bayes, d$x[1:5, ], type = "link")), apply(d$x[1:5, ], 1, function(v) score(v, 1) - score(v, 0)), tolerance = 1e-10)

  majority <- weighted_majority(d$x, d$y, beta = 0.7)
  w <- v <- rep(1, 6)
  mistakes <- 0
  for (t in 1:200) {
    x <- d$x[t, ]
    says <- sum(w * x + v * (1 - x)) > sum(w * (1 - x) + v * x) + 1e-12
    if (says != (d$y[t] == 1)) {
      mistakes <- mistakes + 1
      w[x != d$y[t]] <- w[x != d$y[t]] * 0.7
      v[x == d$y[t]] <- v[x == d$y[t]] * 0.7
    }
  }
  expect_identical(majority$mistakes, mistakes)

  for (balanced in c(FALSE, TRUE)) {
    fit <- winnow(d$x, d$y, promotion = 1.5, threshold = 2.2, balanced = balanced)
    w <- v <- rep(1, 6)
    mistakes <- 0
    for (t in 1:200) {
      x <- d$x[t, ]
      says <- sum(w * x) + balanced * sum(v * (1 - x)) > 2.2
      if (says == (d$y[t] == 1)) next
      mistakes <- mistakes + 1
      factor <- if (d$y[t] == 1) 1.5 else 1 / 1.5
      w[x == 1] <- w[x == 1] * factor
      v[x == 0] <- v[x == 0] * factor
    }
    expect_identical(fit$mistakes, mistakes)
    expect_equal(unname(coef(fit)), c(w, if (balanced) v))
  }

  real <- matrix(rnorm(400), 200)
  y <- ifelse(real[, 1] > 0.3 * real[, 2], 1, -1)
  w <- numeric(3)
  sum_w <- numeric(3)
  for (t in 1:200) {
    z <- c(1, real[t, ])
    if (y[t] * sum(w * z) <= 0) w <- w + y[t] * z
    sum_w <- sum_w + w
  }
  expect_equal(unname(coef(perceptron(real, y, prediction = "last"))), w)
  expect_equal(unname(coef(perceptron(real, y))), sum_w / 200)
  expect_identical(coef(perceptron(real, y, bias = FALSE))[["(Intercept)"]], 0)
  with_kernel <- kernel_perceptron(cbind(1, real), y, kernel = "linear", prediction = "last", standardize = FALSE)
  expect_identical(with_kernel$mistakes, perceptron(real, y)$mistakes)
})

test_that("columns are made 0/1 on request, and others refused", {
  x <- matrix(c(0.2, 3, -1, 5, 2, 2), 3)
  expect_error(sasb(x, c(0, 1, 1)), "0 and 1 only, but row 1, column 1 is 0.2", class = "granary_error_input")
  expect_error(winnow(x, c(0, 1, 1), binarize = 1:3), "one per column", class = "granary_error_input")
  expect_error(winnow(x, c(0, 1, 1), binarize = "mean"), "`binarize`", class = "granary_error_input")
  zero <- sasb(x, c(0, 1, 1), binarize = "zero", mistake_driven = FALSE)
  expect_identical(zero$s, sasb(1 * (x > 0), c(0, 1, 1), mistake_driven = FALSE)$s)
  middle <- sasb(x, c(0, 1, 1), binarize = "median", mistake_driven = FALSE)
  expect_equal(middle$state$cut, c(0.2, 2))
  expect_identical(predict(middle, x, type = "score"), predict(middle, x, type = "link"))
  set.seed(10)
  real <- Matrix::rsparsematrix(50, 6, 0.3)
  y <- rbinom(50, 1, 0.5)
  expect_identical(sasb(real, y, binarize = 0.5)$state, sasb(as.matrix(real), y, binarize = 0.5)$state)
  expect_identical(sasb(real, y, binarize = -0.5)$state, sasb(as.matrix(real), y, binarize = -0.5)$state)
  constant <- sasb(matrix(1, 5, 3), c(0, 1, 1, 0, 1))
  expect_true(all(is.finite(constant$coefficients)))
  one_class <- sasb(matrix(1, 5, 3), rep(1, 5))
  expect_lte(one_class$mistakes, 1)
})

test_that("the generator draws what it says", {
  set.seed(11)
  d <- sim_sasb(20000, 6, 2, 0.1, rate = 0.3)
  expect_equal(mean(d$y), 0.3, tolerance = 0.05)
  expect_equal(unname(colMeans(d$x == d$y)), c(0.9, 0.9, 0.5, 0.5, 0.5, 0.5), tolerance = 0.02)
  theta <- c(1, 0.2, 0.5)
  sure <- sim_sasb(100, 3, theta = theta)
  expect_identical(sure$optimal, as.integer(sure$y))
  five <- sim_sasb(20000, 20, 5, 0.1)
  expect_identical(five$optimal, as.integer(rowSums(five$x[, 1:5]) >= 3))
  expect_equal(mean(five$optimal != five$y), 0.00856, tolerance = 0.25)
  expect_error(sim_sasb(10, 3, 4), "`k`", class = "granary_error_input")
})

test_that("the curves of the paper come out", {
  skip_if(Sys.getenv("GRANARY_EXTENDED") != "1", "30 runs of 10000 trials")
  set.seed(12)
  mistakes <- function(k, p) {
    rowMeans(replicate(30, {
      d <- sim_sasb(10000, 20, k, p)
      c(sasb(d$x, d$y)$mistakes, sasb(d$x, d$y, mistake_driven = FALSE)$mistakes)
    }))
  }
  expect_equal(mistakes(1, 0.01), c(215, 103), tolerance = 0.08)
  expect_equal(mistakes(5, 0.1), c(204.4, 997), tolerance = 0.05)
})

test_that("a formula keeps rows with missing attributes, as the matrix does", {
  set.seed(31)
  d <- as.data.frame(matrix(rbinom(1200, 1, 0.5), 200))
  d$y <- factor(ifelse(d$V1 == 1, "u", "v"))
  d$V2[c(3, 50)] <- NA
  d$V1[7] <- NA
  a <- sasb(y ~ ., d)
  b <- sasb(as.matrix(d[1:6]), d$y)
  expect_equal(coef(a), coef(b))
  expect_identical(predict(a, d[1:8, ]), predict(b, as.matrix(d[1:8, 1:6])))
  expect_identical(sasb(y ~ ., d, na.action = na.omit)$trials, 197)
  d$y[9] <- NA
  expect_error(sasb(y ~ ., d), "\"y\" has 1", class = "granary_error_input")
})
