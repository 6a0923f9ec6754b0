random_table <- function(n = 12, k = 5, seed = 1, ties = FALSE) {
  set.seed(seed)
  a <- matrix(runif(n * k, 40, 100), n, dimnames = list(paste0("d", seq_len(n)), paste0("m", seq_len(k))))
  if (ties) round(a, -1) else a
}

test_that("Friedman, ranks and their sum are those of stats, ties or not", {
  for (ties in c(FALSE, TRUE)) {
    a <- random_table(ties = ties)
    found <- compare_methods(a)
    base <- friedman.test(a)
    expect_equal(found$friedman$statistic[1], unname(base$statistic))
    expect_equal(found$friedman$p.value[1], base$p.value)
    ranks <- t(apply(-a, 1, rank))
    expect_equal(found$ranks, ranks[, colnames(found$ranks)])
    expect_equal(sum(found$table$rank), 15)
    chi2 <- unname(base$statistic)
    f <- 11 * chi2 / (12 * 4 - chi2)
    expect_equal(found$friedman$statistic[2], f)
    expect_equal(found$friedman$p.value[2], pf(f, 4, 44, lower.tail = FALSE))
  }
})

test_that("Nemenyi is Tukey's range", {
  a <- random_table(20, 6, seed = 2)
  found <- compare_methods(a, against = "all")
  expect_equal(found$critical, qtukey(0.95, 6, Inf) / sqrt(2) * sqrt(6 * 7 / (6 * 20)), tolerance = 1e-6)
  q <- abs(found$pairs$rank.difference) / sqrt(6 * 7 / 120) * sqrt(2)
  expect_equal(found$pairs$nemenyi.p, ptukey(q, 6, Inf, lower.tail = FALSE), tolerance = 1e-6)
  expect_identical(nrow(found$pairs), 15L)
  for (k in c(2, 10, 50)) expect_equal(core_range_quantile(0.95, k), qtukey(0.95, k, Inf), tolerance = 1e-6)
})

test_that("paired tests are those of stats, with corrections", {
  a <- random_table(15, 4, seed = 3)
  found <- compare_methods(a, adjust = "BH")
  for (i in seq_len(nrow(found$pairs))) {
    row <- found$pairs[i, ]
    d <- a[, row$first] - a[, row$second]
    t <- t.test(d)
    expect_equal(c(row$difference, row$conf.low, row$conf.high, row$t.p), c(unname(t$estimate), t$conf.int, t$p.value), ignore_attr = TRUE)
    expect_equal(row$wilcoxon.p, wilcox.test(d)$p.value)
    expect_equal(row$sign.p, binom.test(sum(d > 0), 15)$p.value)
    expect_equal(c(row$wins, row$losses, row$gain, row$loss), c(sum(d > 0), sum(d < 0), sum(pmax(d, 0)), sum(pmax(-d, 0))))
  }
  expect_equal(found$pairs$wilcoxon.adjusted, p.adjust(found$pairs$wilcoxon.p, "BH"))
  long <- random_table(80, 3, seed = 4)
  row <- compare_methods(long)$pairs[1, ]
  expect_equal(row$wilcoxon.p, wilcox.test(long[, row$first] - long[, row$second], exact = FALSE)$p.value)
})

test_that("with ties Wilcoxon's test is exact given the ranks", {
  d <- c(1, 1, -1, 2, 3, -2, 4)
  a <- cbind(a = 50 + d, b = 50)
  signs <- as.matrix(expand.grid(rep(list(c(-1, 1)), 7)))
  r <- rank(abs(d))
  v <- rowSums((signs > 0) * rep(r, each = 128))
  seen <- sum(r[d > 0])
  p <- min(1, 2 * min(mean(v <= seen), mean(v >= seen)))
  row <- compare_methods(a)$pairs
  expect_equal(row$wilcoxon.p, p)
})

test_that("shares of the best, profile and weights", {
  a <- random_table(10, 4, seed = 5)
  found <- compare_methods(a, info = data.frame(size = 1:10))
  ratio <- (a / apply(a, 1, max))[, found$table$method]
  expect_equal(found$table$pma, unname(100 * colMeans(ratio)))
  expect_equal(found$table$pama, unname(100 * colMeans(ratio == 1)))
  expect_equal(found$table$reach, unname(100 * colMeans(ratio >= 0.95)))
  at <- seq(0, 1, length.out = 2001)
  share <- core_method_profile(unname(a), TRUE, at)
  area <- colSums(share[-1, ]) * (at[2] - at[1])
  expect_equal(area, unname(colMeans(a / apply(a, 1, max))), tolerance = 1e-3)
  for (kind in c("complexity", "proportional", "decreasing")) {
    w <- core_row_weights(unname(a), as.double(1:10), kind, list(scale = 100))
    expect_equal(sum(w), 10)
    expect_true(all(w >= 0))
  }
  w <- 10 * (10 - 1:10) / (10 * 10 - sum(1:10))
  expect_equal(found$table$by_few_size, unname(colMeans(a * w))[match(found$table$method, colnames(a))])
  best <- cbind(a, top = apply(a, 1, max))
  expect_equal(compare_methods(best)$table$pma[compare_methods(best)$table$method == "top"], 100)
})

test_that("failed runs are ranked by the mean of their row, and counted", {
  a <- random_table(8, 4, seed = 6)
  a[2, 3] <- NA
  found <- compare_methods(a)
  filled <- a
  filled[2, 3] <- mean(a[2, -3])
  expect_equal(found$ranks[2, ], rank(-filled[2, ])[colnames(found$ranks)])
  row <- found$table[found$table$method == "m3", ]
  expect_identical(row$failed, 1L)
  expect_equal(row$mean, mean(a[, 3], na.rm = TRUE))
  expect_equal(row$pma, 100 * mean((a[, 3] / apply(a, 1, max, na.rm = TRUE)), na.rm = TRUE))
  expect_equal(row$reach, 100 * sum(a[, 3] >= 0.95 * apply(a, 1, max, na.rm = TRUE), na.rm = TRUE) / 8)
})

test_that("monotone maps of a row keep the ranks; equal columns tie; smaller may be better", {
  a <- random_table(10, 4, seed = 7)
  expect_identical(compare_methods(log(a), scale = 10)$ranks, compare_methods(a)$ranks)
  twice <- cbind(a, copy = a[, 1])
  rank <- coef(compare_methods(twice))
  expect_identical(rank[["m1"]], rank[["copy"]])
  error <- 100 - a
  down <- compare_methods(error, maximize = FALSE)
  expect_equal(sort(coef(down)), sort(coef(compare_methods(a))))
  expect_equal(down$table$pma, unname(100 * colMeans(apply(error, 1, min) / error)[down$table$method]))
})

test_that("the Bayesian signed rank test agrees with its draws in R", {
  set.seed(8)
  d <- rnorm(12, 1)
  z <- c(0, d)
  a <- cbind(one = 50 + d, two = 50)
  row <- compare_methods(a, rope = 0.5, n_draws = 20000)$pairs
  shares <- replicate(4000, {
    w <- rgamma(13, c(0.5, rep(1, 12)))
    s <- outer(z, z, `+`) / 2
    ww <- outer(w, w)
    which.max(c(sum(ww[s > 0.5]), sum(ww[abs(s) <= 0.5]), sum(ww[s < -0.5])))
  })
  flip <- if (row$first == "one") 1 else 3
  expect_lt(abs(row$first.better - mean(shares == flip)), 0.04)
  expect_equal(row$first.better + row$no.matter + row$second.better, 1)
  set.seed(1)
  one <- compare_methods(random_table(), rope = 1, n_draws = 500, against = "all", threads = 1)$pairs
  set.seed(1)
  expect_identical(compare_methods(random_table(), rope = 1, n_draws = 500, against = "all", threads = 2)$pairs, one)
})

test_that("groups hold what does not differ", {
  expect_equal(core_rank_groups(c(1, 1.5, 3, 3.2, 6), 2.1), list(c(1, 3), c(2, 4)))
  expect_length(core_rank_groups(c(1, 4, 8), 1), 0)
})

test_that("one data set, all ties, empty rows and columns", {
  expect_warning(one <- compare_methods(random_table(1)), "nothing to test", class = "granary_warning_input")
  expect_true(all(is.na(one$friedman$p.value)))
  expect_true(all(is.na(one$pairs$wilcoxon.p)))
  ties <- compare_methods(matrix(50, 6, 3))
  expect_identical(ties$table$rank, rep(2, 3))
  expect_identical(ties$friedman$p.value[1], 1)
  expect_identical(ties$pairs$wilcoxon.p, c(1, 1))
  a <- random_table()
  a[3, ] <- NA
  expect_message(left <- compare_methods(a), "d3", class = "message")
  expect_identical(left$n, 11L)
  a[, 2] <- NA
  expect_error(suppressMessages(compare_methods(a)), "\"m2\" has no value", class = "granary_error_input")
  expect_error(compare_methods(matrix(NA_real_, 2, 2)), "all are NA", class = "granary_error_input")
})

test_that("bad input is refused with a sentence", {
  a <- random_table()
  expect_error(compare_methods(a[, 1, drop = FALSE]), "2 columns", class = "granary_error_input")
  expect_error(compare_methods(a, against = "m9"), "no method", class = "granary_error_input")
  expect_error(compare_methods(a, family = c("x", "y")), "family", class = "granary_error_input")
  expect_error(compare_methods(a, info = data.frame(n = 1:3)), "one row per data set", class = "granary_error_input")
  expect_error(compare_methods(a, scale = 1), "scale", class = "granary_error_input")
  expect_error(compare_methods(a, adjust = "magic"), "adjust", class = "granary_error_input")
  expect_error(compare_methods(`colnames<-`(a, rep("m", 5))), "unique", class = "granary_error_input")
  expect_error(compare_methods(replace(a, 1, Inf)), "finite", class = "granary_error_input")
  expect_error(plot(compare_methods(a), "family"), "family", class = "granary_error_input")
})

test_that("methods and pictures", {
  found <- compare_methods(random_table(12, 6), family = rep(c("a", "b"), 3), rope = 2, n_draws = 200)
  expect_output(print(found), "Friedman")
  expect_output(print(summary(found)), "first.better")
  expect_identical(nrow(tidy(found)), 6L)
  expect_identical(nobs(found), 12L)
  expect_identical(found$families$methods, c(3L, 3L))
  pdf(NULL)
  on.exit(dev.off())
  for (type in c("cd", "profile", "rank", "family", "pairs")) expect_no_error(plot(found, type))
})
