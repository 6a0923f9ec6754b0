example_counts <- c(4, 2, 3, 0, 2, 4, 0, 0, 2, 1, 1)

test_that("simple estimators have the values of the entropy package's example", {
  value <- function(method, ...) entropy_estimate(example_counts, method, ...)$estimate
  expect_equal(value("plugin"), 1.968382, tolerance = 1e-6)
  expect_equal(value("miller_madow"), 2.152593, tolerance = 1e-6)
  expect_equal(value("chao_shen"), 2.201137, tolerance = 1e-6)
  expect_equal(value("zhang"), 2.170547, tolerance = 1e-6)
  expect_equal(value("grassberger"), 2.144626, tolerance = 1e-6)
  nsb <- entropy_estimate(example_counts, "nsb")
  expect_equal(nsb$alphabet, 11)
  expect_equal(c(nsb$estimate, nsb$std.error), c(2.187774, 0.140893), tolerance = 1e-6)
  p <- (example_counts + 0.5) / sum(example_counts + 0.5)
  expect_equal(value("dirichlet"), -sum(p * log(p)))
  q <- (example_counts + 2) / sum(example_counts + 2)
  expect_equal(value("dirichlet", pseudo = 2), -sum(q * log(q)))
  expect_equal(value("plugin", unit = "bits"), value("plugin") / log(2))
})

test_that("estimates agree with the packages entropy and EntropyEstimation", {
  skip_if_not_installed("entropy")
  set.seed(1)
  for (i in 1:5) {
    y <- sim_unigram(200, vocabulary = 300)$counts
    expect_equal(entropy_estimate(y, "plugin")$estimate, entropy::entropy.empirical(y))
    expect_equal(entropy_estimate(y, "miller_madow")$estimate, entropy::entropy.MillerMadow(y))
    expect_equal(entropy_estimate(y, "chao_shen")$estimate, entropy::entropy.ChaoShen(y))
    expect_equal(entropy_estimate(y, "shrink")$estimate, as.numeric(entropy::entropy.shrink(y, verbose = FALSE)))
    expect_equal(entropy_estimate(y, "dirichlet", pseudo = "laplace")$estimate, entropy::entropy.Dirichlet(y, a = 1))
    if (requireNamespace("EntropyEstimation", quietly = TRUE)) {
      expect_equal(entropy_estimate(y, "zhang")$estimate, EntropyEstimation::Entropy.z(y[y > 0]), tolerance = 1e-8)
    }
  }
})

test_that("posterior means and spreads are those of fine quadrature", {
  pym <- entropy_estimate(c(4, 3, 2, 1))
  expect_equal(c(pym$estimate, pym$std.error), c(1.736844, 0.428270), tolerance = 2e-6)
  dpm <- entropy_estimate(c(10, 8, 5, 4, 2, 1, 1, 1, 1, 1), "dpm")
  expect_equal(c(dpm$estimate, dpm$std.error), c(2.207375, 0.226330), tolerance = 2e-6)
  expect_true(pym$convergence$converged)
  own <- entropy_estimate(c(4, 3, 2, 1), prior = function(g) 3 * exp(-10 / (1 - g)))
  expect_equal(own$estimate, pym$estimate, tolerance = 1e-6)
  expect_equal(entropy_estimate(c(4, 3, 2, 1), prior = "dp")$estimate, entropy_estimate(c(4, 3, 2, 1), "dpm")$estimate)
  bits <- entropy_estimate(c(4, 3, 2, 1), unit = "bits")
  expect_equal(unlist(tidy(bits)[3:6]) * log(2), unlist(tidy(pym)[3:6]))
})

test_that("counts, tables, symbols and factors are the same sample", {
  words <- c("a", "b", "a", "c", "a", "b", "d")
  whole <- entropy_estimate(words, "chao_shen")$estimate
  expect_equal(entropy_estimate(table(words), "chao_shen")$estimate, whole)
  expect_equal(entropy_estimate(factor(words), "chao_shen")$estimate, whole)
  expect_equal(entropy_estimate(c(3, 2, 1, 1), "chao_shen")$estimate, whole)
  expect_equal(entropy_estimate(c(1L, 3L, 1L, 2L), "chao_shen")$estimate, whole)
  expect_equal(entropy_estimate(factor(words, letters[1:6]), "nsb")$alphabet, 6)
  expect_equal(entropy_estimate(matrix(c(3, 2, 1, 1), 2), "chao_shen")$estimate, whole)
  expect_equal(entropy_estimate(c(TRUE, FALSE, TRUE), "plugin")$estimate, -sum(c(1, 2) / 3 * log(c(1, 2) / 3)))
})

test_that("intervals cover the truth about as often as they say, for laws like the prior's", {
  set.seed(2)
  covered <- vapply(1:60, function(i) {
    weights <- sim_pitman_yor(2e4, discount = 0.2, strength = 20, type = "weights")
    weights <- weights / sum(weights)
    counts <- granary:::core_draw_counts(weights, 200, granary:::core_seed(), NULL)
    truth <- -sum(weights[weights > 0] * log(weights[weights > 0]))
    fit <- entropy_estimate(counts)
    fit$conf.low <= truth && truth <= fit$conf.high
  }, NA)
  expect_gt(mean(covered), 0.8)
})

test_that("means over samples are those of the prototype, and unseen symbols are allowed for", {
  set.seed(3)
  mean_of <- function(law, shape, vocabulary, method) {
    mean(replicate(40, entropy_estimate(sim_unigram(300, vocabulary, law, shape)$counts, method)$estimate))
  }
  # the prototype's means are of 10 samples each, with standard errors of about 0.05
  near <- function(value, target, by = 0.2) expect_lt(abs(value - target), by)
  near(mean_of("uniform", NULL, 1000, "plugin"), 5.517, 0.05)
  near(mean_of("uniform", NULL, 1000, "chao_shen"), 6.99)
  near(mean_of("uniform", NULL, 1000, "dpm"), 7.46)
  near(mean_of("zipf", 1, 1000, "dpm"), 5.15)
})

test_that("draws have the moments of the posterior, the same on one and two threads", {
  counts <- c(10, 8, 5, 4, 2, 1, 1, 1, 1, 1)
  set.seed(4)
  one <- entropy_estimate(counts, n_draws = 4000, threads = 1)
  set.seed(4)
  two <- entropy_estimate(counts, n_draws = 4000, threads = 2)
  expect_identical(one$draws, two$draws)
  expect_equal(mean(one$draws[, "entropy"]), one$estimate, tolerance = 0.01)
  expect_equal(sd(one$draws[, "entropy"]), one$std.error, tolerance = 0.06)
  expect_equal(unname(confint(one)[1, ]), c(one$conf.low, one$conf.high))
  expect_equal(unname(confint(one)[1, ]), unname(confint(entropy_estimate(counts))[1, ]), tolerance = 0.03)
  skip_if_not_installed("posterior")
  expect_identical(dim(posterior::as_draws(one)), c(4000L, 1L, 5L))
  skip_if_not_installed("coda")
  expect_s3_class(coda::as.mcmc(one), "mcmc")
})

test_that("samples without repetitions are infinite, with one they are said to lean on the prior", {
  expect_warning(fit <- entropy_estimate(rep(1, 5)), "infinite", class = "granary_warning_input")
  expect_identical(fit$estimate, Inf)
  expect_output(print(fit), "Inf")
  expect_warning(entropy_estimate(c(2, 1, 1)), "prior", class = "granary_warning_input")
  expect_warning(entropy_estimate(c(20, 10, 5), "ansb"), "90%", class = "granary_warning_input")
  one <- entropy_estimate(50)
  expect_true(one$estimate > 0 && one$estimate < 0.3)
})

test_that("huge samples and a million symbols are no trouble", {
  big <- c(4e8, 3e8, 2e8, 1e8, 12, 1)
  expect_equal(entropy_estimate(big)$estimate, entropy_estimate(big, "plugin")$estimate, tolerance = 1e-6)
  counts <- rep(1:1000, 1000)
  expect_equal(entropy_estimate(counts, "dpm")$estimate, entropy_estimate(counts, "miller_madow")$estimate, tolerance = 1e-4)
})

test_that("wrong samples and arguments are refused in a sentence", {
  input <- function(...) expect_error(entropy_estimate(...), class = "granary_error_input")
  input()
  input(c(1, -1))
  input(c(1, 0.5))
  input(c(1, NA))
  input(c(0, 0))
  input(character())
  input(c("a", NA))
  input(list(1))
  input(data.frame(a = 1:3))
  input(c(1, 1e17))
  input(1:3, "best")
  input(1:3, "nsb", alphabet = 2)
  input(1:3, "plugin", alphabet = 5)
  input(1:3, "plugin", n_draws = 5)
  input(1:3, level = 1)
  input(1:3, prior = "flat")
  input(1:3, prior = function(g) -1)
  input(1:3, prior = function(g) "a")
  input(1:3, "dpm", prior = function(g) 1)
  input(1:3, "dirichlet", pseudo = -1)
})

test_that("comparisons thin the sample, and estimates that allow for the unseen move less", {
  set.seed(5)
  sim <- sim_unigram(4000, vocabulary = 2000)
  out <- entropy_compare(sim$counts, methods = c("plugin", "dpm"), size = c(200, 4000), n_rep = 4)
  moved <- tapply(out$table$estimate, out$table$method, diff)
  expect_lt(abs(moved[["dpm"]]), abs(moved[["plugin"]]))
  expect_equal(out$table$estimate[out$table$size == 4000 & out$table$method == "plugin"], entropy_estimate(sim$counts, "plugin")$estimate)
  set.seed(5)
  again <- entropy_compare(sim_unigram(4000, vocabulary = 2000)$counts, methods = c("plugin", "dpm"), size = c(200, 4000), n_rep = 4)
  expect_identical(again$table, out$table)
  expect_error(entropy_compare(1:3, size = 100), class = "granary_error_input")
  expect_error(entropy_compare(1:3, methods = "best"), class = "granary_error_input")
  expect_named(coef(entropy_compare(1:5)), c("plugin", "miller_madow", "chao_shen", "dpm", "pym"))
})

test_that("mutual information is that of the table", {
  counts <- margin.table(HairEyeColor, 1:2)
  p <- counts / sum(counts)
  truth <- sum(p * log(p / outer(rowSums(p), colSums(p))))
  fit <- mutual_information(counts, method = "plugin")
  expect_equal(fit$estimate, truth)
  cells <- as.data.frame(counts)
  rows <- rep(seq_len(nrow(cells)), cells$Freq)
  expect_equal(mutual_information(cells$Hair[rows], cells$Eye[rows], method = "plugin")$estimate, truth)
  expect_equal(mutual_information(counts, method = "plugin", unit = "bits")$estimate, truth / log(2))
  set.seed(6)  # independent variables with many cells: the plug-in finds much more than there is
  x <- sample(20, 200, TRUE)
  y <- sample(20, 200, TRUE)
  expect_gt(mutual_information(x, y, method = "plugin")$estimate, 0.6)
  expect_lt(abs(mutual_information(x, y, method = "nsb")$estimate), 0.3)
  sds <- replicate(200, mutual_information(matrix(rmultinom(1, 300, c(.3, .1, .2, .4)), 2), method = "plugin")$estimate)
  expect_equal(mutual_information(matrix(c(90, 30, 60, 120), 2), method = "plugin")$std.error, sd(sds), tolerance = 0.2)
  expect_error(mutual_information(1:3), class = "granary_error_input")
  expect_error(mutual_information(1:3, 1:2), class = "granary_error_input")
  expect_error(mutual_information(c(1.5, 2), c(1, 2)), class = "granary_error_input")
  expect_warning(mutual_information(diag(3)), "once", class = "granary_warning_input")
})

test_that("Pitman-Yor laws are recovered, with intervals that cover", {
  set.seed(7)
  covered <- vapply(1:8, function(i) {
    ends <- confint(pitman_yor(sim_pitman_yor(5000, discount = 0.5, strength = 10)), level = 0.99)
    ends["discount", 1] <= 0.5 && 0.5 <= ends["discount", 2]
  }, NA)
  expect_gte(sum(covered), 7)
  dp <- pitman_yor(sim_pitman_yor(20000, strength = 50), type = "dirichlet")
  expect_equal(dp$coefficients[["strength"]], 50, tolerance = 0.3)
  expect_identical(dp$coefficients[["discount"]], 0)
  expect_equal(attr(logLik(dp), "df"), 1L)
})

test_that("the number of new symbols is predicted", {
  set.seed(8)
  labels <- sim_pitman_yor(40000, discount = 0.4, strength = 30, type = "labels")
  fit <- pitman_yor(tabulate(labels[1:10000]))
  coming <- length(unique(labels)) - length(unique(labels[1:10000]))
  expect_equal(predict(fit, 30000), coming, tolerance = 0.15)
  expect_equal(pitman_yor(discount = 0, strength = 3)$entropy[["before", "mean"]], digamma(4) - digamma(1))
  expect_length(simulate(fit, nsim = 2, seed = 1), 2)
  expect_equal(sum(simulate(fit, seed = 1)[[1]]), 10000)
  expect_error(pitman_yor(), class = "granary_error_input")
  expect_error(pitman_yor(c(1, 1, 1)), class = "granary_error_input")
  expect_error(pitman_yor(5), class = "granary_error_input")
  expect_error(pitman_yor(discount = 0.5), class = "granary_error_input")
  expect_error(pitman_yor(discount = 0.5, strength = -0.6), class = "granary_error_input")
  expect_error(predict(fit, -1), class = "granary_error_input")
  expect_error(sim_pitman_yor(5, discount = 1), class = "granary_error_input")
})

test_that("sequences and sticks follow their laws", {
  set.seed(9)
  labels <- sim_pitman_yor(1000, 0.3, 2, type = "labels")
  expect_identical(sort(unique(labels)), seq_len(max(labels)))
  expect_identical(unique(labels), seq_len(max(labels)))  # in order of appearance
  expect_equal(mean(replicate(2000, sim_pitman_yor(2, 0.3, 2, type = "labels")[2] == 2)), 2.3 / 3, tolerance = 0.05)
  weights <- sim_pitman_yor(1e5, 0.1, 5, type = "weights")
  expect_true(all(weights >= 0) && sum(weights) > 0.999)
  expect_identical(length(weights) %% 1000L, 0L)
})

test_that("every picture is drawn", {
  pdf(NULL)
  on.exit(dev.off())
  fit <- entropy_estimate(c(10, 8, 5, 4, 2, 1, 1, 1, 1, 1))
  for (type in c("entropy", "law", "counts")) expect_identical(plot(fit, type = type), fit)
  expect_error(plot(entropy_estimate(1:4, "plugin"), type = "law"), class = "granary_error_input")
  plot(entropy_compare(1:5))
  skip_if_not_installed("ggplot2")
  for (type in c("entropy", "law", "counts")) expect_s3_class(ggplot2::autoplot(fit, type = type), "ggplot")
  expect_s3_class(ggplot2::autoplot(pitman_yor(c(9, 4, 2, 1, 1, 1))), "ggplot")
})

test_that("the jackknife is that of its definition, and keeps its digits in large samples", {
  by_definition <- function(n) {
    entropy <- function(n) -sum((n / sum(n) * log(n / sum(n)))[n > 0])
    without <- vapply(seq_along(n), function(i) entropy(n - (seq_along(n) == i)), 0)
    total <- sum(n)
    mean <- sum(n * without) / total
    c(total * entropy(n) - (total - 1) * mean, sqrt((total - 1) / total * sum(n * (without - mean)^2)))
  }
  for (n in list(c(4, 3, 2, 1), c(1, 1, 5), c(30, 1, 1, 1, 2))) {
    fit <- entropy_estimate(n, "jackknife")
    expect_equal(c(fit$estimate, fit$std.error), by_definition(n), tolerance = 1e-10)
  }
  expect_equal(entropy_estimate(rep(1e15, 5), "jackknife")$estimate, log(5), tolerance = 1e-13)
  few <- c(1e9, 2, 2, 3)
  expect_equal(entropy_estimate(few, "jackknife")$estimate, entropy_estimate(few, "zhang")$estimate, tolerance = 0.05)  # 1e-7; -8e-7 came out once
})

test_that("one symbol has entropy zero, one draw no standard error", {
  for (method in c("chao_shen", "coverage_adjusted", "jackknife", "shrink", "dirichlet")) {
    expect_identical(entropy_estimate(5, method)$std.error, 0, info = method)
    expect_true(is.na(entropy_estimate(1, method)$std.error) && !is.nan(entropy_estimate(1, method)$std.error), info = method)
    expect_true(is.na(entropy_estimate(1, method)$conf.low), info = method)
  }
  expect_warning(none <- mutual_information(diag(2)), "Every pair")
  expect_true(identical(c(none$estimate, none$std.error), c(NA_real_, NA_real_)))
})

test_that("where no law is the most likely one it is NA", {
  expect_warning(fit <- entropy_estimate(TRUE), "seen once")
  expect_identical(fit$law, c(discount = NA_real_, strength = NA_real_))
})

test_that("a table with one row is answered with a warning: there is nothing to depend on", {
  expect_warning(found <- mutual_information(matrix(1:3, 1)), "one row", class = "granary_warning_input")
  expect_warning(mutual_information(rep("a", 5), c("x", "y", "x", "x", "y")), "one row", class = "granary_warning_input")
  expect_warning(mutual_information(matrix(3:1, 3)), "one column", class = "granary_warning_input")
  expect_no_warning(mutual_information(matrix(c(3, 1, 2, 4), 2)))
})
