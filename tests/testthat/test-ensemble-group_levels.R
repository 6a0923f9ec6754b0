# Grouping of levels, against all partitions.

# Restricted growth strings: every partition of n things.
partitions <- function(n) {
  out <- matrix(1L, 1, 1)
  for (i in seq_len(n - 1)) {
    out <- do.call(rbind, lapply(seq_len(nrow(out)), function(r) {
      next_one <- seq_len(max(out[r, ]) + 1L)
      cbind(out[rep(r, length(next_one)), , drop = FALSE], next_one)
    }))
  }
  unname(out)
}

# The criterion by its formula.
cost_of <- function(counts, group) {
  J <- ncol(counts)
  K <- length(unique(group))
  n <- rowsum(counts, group)
  stirling <- function(n, k) if (k == 0) as.numeric(n == 0) else if (n == 0) 0 else k * stirling(n - 1, k) + stirling(n - 1, k - 1)
  bell <- sum(vapply(seq_len(K), function(k) stirling(nrow(counts), k), 0))
  log(nrow(counts)) + log(bell) + sum(lchoose(rowSums(n) + J - 1, J - 1)) + sum(lfactorial(rowSums(n)) - rowSums(lfactorial(n)))
}

random_counts <- function(levels, classes) {
  counts <- matrix(rpois(levels * classes, rexp(levels * classes, 0.1)), levels)
  counts[1, ] <- counts[1, ] + 1
  counts[rowSums(counts) > 0, , drop = FALSE]
}

test_that("the cost is that of its formula", {
  set.seed(1)
  for (run in 1:10) {
    counts <- random_counts(5, sample(2:4, 1))
    group <- match(g <- sample(3, nrow(counts), TRUE), unique(g))
    found <- level_cost(counts, group)
    expect_equal(found$cost, cost_of(counts, group), tolerance = 1e-10)
    expect_equal(found$number + found$partition + found$classes + found$data, found$cost)
    expect_equal(found$relative, exp(found$null_cost - found$cost))
  }
})

test_that("no partition is better: two classes by intervals, more by enumeration; the greedy search never claims less", {
  set.seed(2)
  for (run in 1:40) {
    counts <- random_counts(sample(2:7, 1), sample(2:4, 1))
    if (nrow(counts) < 2) next
    best <- min(apply(partitions(nrow(counts)), 1, function(group) cost_of(counts, group)))
    fit <- group_levels(counts)
    expect_true(fit$exact)
    expect_equal(unname(fit$cost), best, tolerance = 1e-9)
    expect_equal(fit$convergence$gap, 0, tolerance = 1e-6)
    greedy <- group_levels(counts, search = "greedy")
    expect_gte(unname(greedy$cost), best - 1e-8)
    expect_lte(greedy$factors$x$lower, best + 1e-8)
    expect_lt(unname(greedy$cost), best + 3)
  }
})

test_that("a given number of groups: the best partition of that size", {
  set.seed(3)
  for (run in 1:15) {
    counts <- random_counts(6, sample(2:3, 1))
    if (nrow(counts) < 5) next
    all <- partitions(nrow(counts))
    for (k in 2:4) {
      some <- all[apply(all, 1, max) == k, , drop = FALSE]
      fit <- group_levels(counts, groups = k)
      expect_equal(nrow(fit$table), k)
      expect_equal(unname(fit$cost), min(apply(some, 1, function(group) cost_of(counts, group))), tolerance = 1e-9)
      expect_equal(nrow(group_levels(counts, groups = k, search = "greedy")$table), k)
    }
  }
})

test_that("data in R: the groupings and costs of the card", {
  titanic <- as.data.frame(Titanic)
  fit <- group_levels(titanic$Class, titanic$Survived, weights = titanic$Freq)
  expect_setequal(lapply(fit$groups, sort), list(c("3rd", "Crew"), "1st", "2nd"))
  expect_equal(unname(c(fit$cost, fit$null_cost)), c(1307.400, 1389.804), tolerance = 1e-6)
  counts <- t(apply(UCBAdmissions, c(1, 3), sum))
  fit <- group_levels(counts)
  expect_setequal(lapply(fit$groups, sort), list(c("A", "B"), c("C", "D"), "E", "F"))
  expect_equal(unname(c(fit$cost, fit$null_cost)), c(2615.652, 3027.971), tolerance = 1e-6)
})

test_that("numbers of partitions", {
  expect_equal(exp(level_bounds(4)$log_bell), c(1, 8, 14, 15))
  expect_equal(exp(level_bounds(10)$log_bell[10]), 115975)
  expect_equal(level_bounds(1000, 2)$log_bell, c(0, 999 * log(2)))
  stirling <- function(n, k) sum((-1)^(0:k) * choose(k, 0:k) * (k - 0:k)^n) / factorial(k)
  expect_equal(exp(level_bounds(15)$log_stirling), vapply(1:15, function(k) stirling(15, k), 0), tolerance = 1e-6)
  # far beyond doubles: S(n, 3) = (3^(n - 1) + 1)/2 - 2^(n - 1)
  expect_equal(level_bounds(5000, 3)$log_stirling[3], 4999 * log(3) - log(2), tolerance = 1e-12)
})

test_that("theorems: distinct levels make one group, pure levels of a class are together, y constant makes one group", {
  set.seed(4)
  fit <- group_levels(factor(1:40), sample(c("a", "b"), 40, TRUE))
  expect_equal(nrow(fit$table), 1)
  counts <- rbind(random_counts(6, 3), c(4, 0, 0), c(9, 0, 0), c(0, 2, 0), c(0, 30, 0))
  for (search in c("auto", "greedy")) {
    group <- group_levels(counts, search = search)$factors$x$group
    n <- length(group)
    expect_equal(group[[n]], group[[n - 1]])
    expect_equal(group[[n - 2]], group[[n - 3]])
  }
  one <- group_levels(factor(c("a", "b", "c")), rep("yes", 3))
  expect_equal(nrow(one$table), 1)
  expect_equal(unname(one$cost), log(3))
  expect_equal(unname(one$gain), 0)
})

test_that("order and names do not matter; levels of one group may be one level", {
  set.seed(5)
  for (classes in 2:3) {
    counts <- random_counts(9, classes)
    fit <- group_levels(counts)
    order <- sample(nrow(counts))
    again <- group_levels(counts[order, sample(classes)])
    expect_equal(unname(again$cost), unname(fit$cost))
    group <- fit$factors$x$group
    two <- which(duplicated(group) | duplicated(group, fromLast = TRUE))
    if (length(two) >= 2) {
      pair <- which(group == group[two[1]])[1:2]
      joined <- counts
      joined[pair[1], ] <- joined[pair[1], ] + joined[pair[2], ]
      joined <- joined[-pair[2], ]
      part <- level_cost(joined, group[-pair[2]])
      expect_equal(part$classes + part$data, sum(fit$costs[, c("classes", "data")]))
    }
  }
})

test_that("many levels: exact for two classes, with a bound for more, in a short time", {
  set.seed(6)
  level <- sample(2e4, 1e5, TRUE)
  share <- c(0.1, 0.3, 0.6, 0.9)[level %% 4 + 1]
  two <- group_levels(level, rbinom(1e5, 1, share))
  expect_true(two$exact)
  expect_lt(two$convergence$seconds, 10)
  sim <- sim_levels(20000, 400, "mixture")
  fit <- group_levels(sim$x, sim$y)
  expect_gte(unname(fit$cost), fit$factors$x$lower)
  expect_gte(nrow(fit$table), 4)
  # single levels have no reason to move
  one <- fit$factors$x
  for (i in sample(length(one$group), 20)) {
    for (k in setdiff(seq_along(one$groups), one$group[i])) {
      moved <- replace(one$group, i, k)
      expect_gte(level_cost(one$counts, moved)$cost, one$cost - 1e-6)
    }
  }
})

test_that("too many shares for the exact search: intervals of least entropy, improved, and a bound that holds", {
  set.seed(7)
  counts <- cbind(rpois(300, 20 * (1:300 > 100) + 5), rpois(300, 20 * (1:300 < 200) + 5))
  exact <- group_levels(counts)
  near <- group_levels(counts, max_exact = 50)
  expect_true(exact$exact)
  expect_gte(unname(near$cost), unname(exact$cost) - 1e-8)
  expect_lt(unname(near$cost), unname(exact$cost) + 1)
  expect_lte(near$factors$x$lower, unname(exact$cost) + 1e-8)
  expect_error(group_levels(counts, max_exact = 50, search = "exact"), "up to 50", class = "granary_error_input")
})

test_that("noise makes one group, and the mixture is found", {
  set.seed(8)
  groups <- vapply(1:20, function(run) {
    sim <- sim_levels(1000, 60, "noise")
    nrow(group_levels(sim$x, sim$y)$table)
  }, 0L)
  expect_equal(max(groups), 1)
  sim <- sim_levels(20000, 16, "mixture")
  fit <- group_levels(sim$x, sim$y)
  expect_equal(nrow(fit$table), 8)
  expect_equal(length(unique(paste(predict(fit, sim$x), sim$block))), 8)
})

test_that("other criteria", {
  counts <- t(apply(UCBAdmissions, c(1, 3), sum))
  bic <- group_levels(counts, method = "bic")
  value <- function(group) {
    n <- rowsum(counts, group)
    p <- n / rowSums(n)
    -2 * sum(n * log(p)) + log(sum(n)) * (nrow(n) - 1)
  }
  expect_equal(bic$factors$x$criterion, min(apply(partitions(6), 1, value)), tolerance = 1e-10)
  # CHAID by hand: merge the pair with the largest p-value while it is above alpha
  now <- counts
  repeat {
    pairs <- combn(nrow(now), 2)
    p <- apply(pairs, 2, function(two) suppressWarnings(chisq.test(now[two, ], correct = FALSE)$p.value))
    if (max(p) <= 0.05) break
    best <- pairs[, which.max(p)]
    now[best[1], ] <- colSums(now[best, ])
    now <- now[-best[2], , drop = FALSE]
    if (nrow(now) < 2) break
  }
  chaid <- group_levels(counts, method = "chaid")
  expect_equal(sort(rowSums(chaid$table)), sort(rowSums(now)), ignore_attr = TRUE)
  expect_equal(nrow(group_levels(counts, method = "none")$table), 6)
  for (method in c("chaid_exhaustive", "khiops")) expect_gte(nrow(group_levels(counts, method = method)$table), 2)
  tschuprow <- group_levels(counts, method = "tschuprow")
  statistic <- suppressWarnings(chisq.test(tschuprow$table, correct = FALSE)$statistic)
  expect_equal(tschuprow$factors$x$criterion, unname(sqrt(statistic / (sum(counts) * sqrt(nrow(tschuprow$table) - 1)))))
  set.seed(9)
  noise <- sim_levels(1000, 20)
  for (method in c("tschuprow", "gain_ratio")) expect_gte(nrow(group_levels(noise$x, noise$y, method = method)$table), 2)
  for (groups in 1:4) {
    for (method in c("chaid", "bic", "tschuprow")) expect_equal(nrow(group_levels(counts, method = method, groups = groups)$table), groups)
  }
})

test_that("predict: groups, levels never seen, NA, other columns, several factors", {
  set.seed(10)
  data <- data.frame(a = sample(c(letters[1:6], NA), 600, TRUE), b = rep(LETTERS[1:4], 150), z = rnorm(600))
  y <- factor(ifelse(runif(600) < ifelse(data$a %in% c("a", "b", NA), 0.9, 0.2), "yes", "no"))
  fit <- group_levels(data[c("a", "b")], y)
  expect_s3_class(fit, "granary_level_groups")
  expect_equal(nrow(fit$factors$b$table), 1)
  out <- predict(fit, data)
  expect_identical(out$z, data$z)
  expect_equal(nlevels(out$a), 2)
  expect_identical(out$a[which(is.na(data$a))[1]], out$a[which(data$a == "a")[1]])
  expect_false("b" %in% names(predict(fit, data, drop = TRUE)))
  expect_equal(ncol(model.matrix(~ ., predict(fit, data, drop = TRUE))), 3)
  single <- group_levels(data$a, y)
  expect_warning(lost <- predict(single, c("a", "q", NA)), "not seen", class = "granary_warning_input")
  expect_true(is.na(lost[2]))
  expect_false(is.na(lost[3]))
  expect_equal(as.integer(predict(single, "q", unseen = "largest")), 1L)
  expect_false(is.na(predict(single, "q", unseen = "majority")))
  expect_error(predict(single, "q", unseen = "error"), "not seen", class = "granary_error_input")
  prob <- predict(single, c("a", "q"), type = "prob", smooth = 0)
  expect_equal(unname(prob[1, ]), unname(coef(single)[single$factors$x$group[["a"]], ]))
  expect_equal(unname(prob[2, ]), unname(c(table(y)) / 600))
  # naive Bayes by hand
  both <- predict(fit, data[1:5, ], type = "prob")
  hand <- t(vapply(1:5, function(i) {
    groups <- list(a = as.integer(out$a[i]), b = as.integer(out$b[i]))
    value <- fit$prior / sum(fit$prior)
    for (name in names(groups)) {
      table <- fit$factors[[name]]$table
      value <- value * (table[groups[[name]], ] + 1) / (fit$prior + nrow(table))
    }
    value / sum(value)
  }, numeric(2)))
  expect_equal(unname(both), unname(hand))
  expect_identical(predict(fit, data[1:5, ], type = "class"), factor(fit$levels[max.col(hand)], fit$levels))
})

test_that("divergence to new data", {
  fit <- group_levels(cbind(a = c(30, 10, 5), b = c(5, 10, 30)))
  counts <- rbind(c(12, 4), c(6, 6), c(1, 3))
  level <- rep(rep(c("V1", "V2", "V3"), 2), c(counts))
  newy <- rep(c("a", "b"), colSums(counts))
  p <- (fit$table / rowSums(fit$table))[fit$factors$x$group, ]
  q <- (counts + 1) / (rowSums(counts) + 2)
  expect_equal(assess(fit, level, newy)$divergence, sum(rowSums(counts) / sum(counts) * rowSums(p * log(p / q))))
})

test_that("a column may be numbers, text, logical; pairs; formulas with weights", {
  iris$z <- rep(c(TRUE, FALSE), 75)
  fit <- group_levels(Species ~ Petal.Width + z, iris)
  expect_named(fit$factors, c("Petal.Width", "z"))
  expect_length(fit$breaks$Petal.Width, 9)
  expect_gt(mean(predict(fit, iris, type = "class") == iris$Species), 0.9)
  pair <- group_levels(iris[c("Petal.Width", "z")], iris$Species, pairs = TRUE)
  expect_named(pair$factors, c("Petal.Width", "z", "Petal.Width:z"))
  expect_s3_class(predict(pair, iris)[["Petal.Width:z"]], "factor")
  titanic <- as.data.frame(Titanic)
  by <- group_levels(Survived ~ Class + Sex, titanic, weights = Freq)
  expect_equal(unname(by$cost["Class"]), 1307.4, tolerance = 1e-6)
  expect_equal(by$n, 2201)
  expect_error(group_levels(Survived ~ Class:Sex, titanic), "sum of columns", class = "granary_error_input")
})

test_that("errors name what is wrong", {
  x <- c("a", "b", "a")
  expect_error(group_levels(x, c("u", "v")), "one class per row", class = "granary_error_input")
  expect_error(group_levels(x, c("u", NA, "v")), "missing classes", class = "granary_error_input")
  expect_error(group_levels(x, c(0.5, 1, 2)), "fractions", class = "granary_error_input")
  expect_error(group_levels(c("a", NA, "b"), x, na = "error"), "missing", class = "granary_error_input")
  expect_error(group_levels(x, x, weights = c(1, 0.5, 1)), "whole numbers", class = "granary_error_input")
  expect_error(group_levels(x, x, weights = c(0, 0, 0)), "all be 0", class = "granary_error_input")
  expect_error(group_levels(x, x, groups = 3), "only 2 levels", class = "granary_error_input")
  expect_error(group_levels(x), "class of every row", class = "granary_error_input")
  expect_error(group_levels(matrix(-1, 2, 2)), "counts", class = "granary_error_input")
  expect_error(group_levels(matrix(0, 2, 2)), "at least one case", class = "granary_error_input")
  expect_error(group_levels(character(), character()), "at least one row", class = "granary_error_input")
  expect_error(group_levels(x, x, pairs = TRUE), "two columns", class = "granary_error_input")
  expect_error(level_cost(diag(3), c(1, 2)), "one group per level", class = "granary_error_input")
  expect_error(level_cost(diag(3), list("V1", "V2")), "leaves out", class = "granary_error_input")
  expect_error(level_bounds(3, 4), "at most", class = "granary_error_input")
  expect_error(predict(group_levels(data.frame(a = x, b = x), x), data.frame(a = "a")), "\"b\" is missing", class = "granary_error_input")
  expect_error(sim_levels(10, 4, "mixture"), "at least 8", class = "granary_error_input")
})

test_that("methods", {
  fit <- group_levels(cbind(a = c(30, 10, 5), b = c(5, 10, 30)))
  expect_output(print(fit), "in [123] group")
  expect_output(print(summary(fit)), "Parts of the cost")
  expect_equal(nrow(tidy(fit)), 3)
  expect_equal(glance(fit)$levels, 3)
  expect_equal(nobs(fit), 90)
  share <- fit$table / rowSums(fit$table)
  expect_equal(as.numeric(logLik(fit)), sum(fit$table * log(share)))
  expect_equal(rowSums(coef(fit)), rep(1, nrow(fit$table)), ignore_attr = TRUE)
  file <- tempfile(fileext = ".png")
  png(file)
  plot(fit)
  dev.off()
  expect_gt(file.size(file), 0)
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
})

test_that("a step of a recipe does what group_levels() does", {
  skip_if_not_installed("recipes")
  set.seed(11)
  data <- sim_levels(800, 40, "mixture")[1:2]
  recipe <- step_group_levels(recipes::recipe(y ~ x, data), x, outcome = "y")
  expect_output(print(recipe$steps[[1]]), "by y")
  ready <- recipes::prep(recipe, data)
  baked <- recipes::bake(ready, data)
  expect_identical(baked$x, predict(group_levels(data["x"], data$y), data["x"])$x)
  expect_equal(nrow(tidy(ready$steps[[1]])), nlevels(droplevels(data$x)))
  expect_identical(recipes::bake(ready, data.frame(x = factor("l1", levels(data$x))))$x, baked$x[match("l1", data$x)])
  expect_error(recipes::prep(step_group_levels(recipes::recipe(y ~ x, data), x, outcome = "w"), data), class = "granary_error_input")
})

test_that("a grouping by BIC speaks of BIC", {
  tab <- matrix(c(15, 1, 3, 2, 9, 3, 5, 7), 4, dimnames = list(letters[1:4], c("u", "v")))
  expect_output(print(group_levels(tab, method = "bic")), "No grouping has a smaller BIC")
})
