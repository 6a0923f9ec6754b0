names_list <- c("ada", "ada", "bob", "cyd", "dan", "eve", "eve", "fay", "gus", "hal")

test_that("the list of names of the paper", {
  fit <- good_turing(names_list)
  expect_equal(fit$missing[["estimate"]], 0.6)
  expect_equal(fit$coverage, 0.4)
  expect_equal(fit$table$good_turing, c(0.6, 4 / 9, 0))
  expect_equal(fit$table$empirical, c(0, 0.6, 0.4))
  expect_equal(good_turing(names_list, method = "good_turing", denominator = "m")$table$mass[2], 0.4)
  model <- unigram_model(names_list, vocabulary = 20, method = "loo")
  expect_equal(model$table$prob, c(7 / 162, 1 / 9))
  expect_equal(model$unseen[["prob"]], 7 / 162)
  expect_equal(model$log_loss, 3.138020447, tolerance = 1e-9)
  expect_equal(model$perplexity, exp(model$log_loss))
})

test_that("tables, counts and words are the same sample, in any order", {
  a <- unigram_model(names_list, vocabulary = 20)
  b <- unigram_model(rev(table(names_list)), vocabulary = 20)
  d <- unigram_model(c(2, 1, 1, 1, 2, 1, 1, 1), vocabulary = 20)
  expect_equal(a$log_loss, b$log_loss)
  expect_equal(a$log_loss, d$log_loss)
  expect_equal(a$prob[["ada"]], b$prob[["ada"]])
  expect_equal(unname(sort(predict(a))), unname(sort(predict(d))))
  listed <- unigram_model(c(table(names_list), rep(0, 12)), method = "loo")
  expect_equal(listed$log_loss, 3.138020447, tolerance = 1e-9)
  worded <- unigram_model(names_list, vocabulary = c(unique(names_list), "zoe", "yan"), method = "loo")
  expect_equal(sum(worded$prob), 1)
  expect_gt(worded$prob[["zoe"]], 0)
})

test_that("every law sums to one, and its leave-one-out loss is that of literal deletion", {
  set.seed(1)
  counts <- sim_unigram(200, vocabulary = 300)$counts
  for (method in c("absolute", "loo", "good_turing", "add")) {
    fit <- suppressWarnings(unigram_model(counts, method = method, discount = "gt", tau = 4))
    expect_equal(sum(fit$prob), 1, label = method)
    if (is.infinite(fit$log_loss)) next
    loss <- 0
    for (w in which(counts > 0)) {
      less <- counts
      less[w] <- less[w] - 1
      q <- suppressWarnings(unigram_model(less, method = method, discount = "gt", tau = 4))$prob[w]
      loss <- loss - counts[w] / 200 * log(q)
    }
    expect_equal(fit$log_loss, loss, label = method)
  }
})

test_that("Good-Turing laws of a vocabulary that was seen whole are judged as they are, not by an unseen word that takes all", {
  # the law of a sample, a word at or below `least` being one of the least
  law_of <- function(y, least) {
    m <- sum(y)
    y_class <- pmax(y, least)
    mass <- function(k) if (k <= m^0.4) (k + 1) * sum(y_class == k + 1 & y == k + 1) / (m - k) else sum(y[y_class == k]) / m
    k <- sort(unique(y_class))
    total <- vapply(k, mass, 0)
    q <- total / vapply(k, function(one) sum(y_class == one), 0) / sum(total)
    q[match(y_class, k)]
  }
  for (counts in list(rep(1:6, c(20, 9, 7, 4, 3, 2)), rep(2:7, c(15, 9, 6, 4, 2, 1)), rep(c(1, 2, 3, 4, 5, 30), c(1, 8, 5, 4, 3, 2)))) {
    fit <- suppressWarnings(unigram_model(counts, vocabulary = length(counts), method = "good_turing"))
    expect_equal(unname(fit$prob), law_of(counts, min(counts)))
    loss <- 0
    for (w in seq_along(counts)) {
      less <- counts
      less[w] <- less[w] - 1
      loss <- loss - counts[w] / sum(counts) * log(law_of(less, min(counts))[w])
    }
    expect_equal(fit$log_loss, loss)
  }
  # no law has a log-loss below the entropy, log(2000), and the estimate must not promise one
  set.seed(1)
  expect_gt(suppressWarnings(unigram_model(pmax(1, rpois(2000, 1.5)), vocabulary = 2000, method = "good_turing"))$log_loss, log(2000))
})

test_that("the leave-one-out log-loss estimates the true one, better in larger samples", {
  set.seed(2)
  gap <- function(n) {
    mean(abs(replicate(30, {
      sim <- sim_unigram(n, vocabulary = 1000)
      fit <- unigram_model(sim$counts)
      fit$log_loss - assess(fit, truth = sim$prob)$log_loss
    })))
  }
  small <- gap(300)
  large <- gap(30000)
  expect_lt(large, 0.3 * small)
  expect_lt(large, 0.02)
})

test_that("the missing mass is estimated, and both intervals cover it", {
  set.seed(3)
  runs <- replicate(200, {
    sim <- sim_unigram(1000, vocabulary = 2000)
    fit <- good_turing(sim$counts)
    truth <- sum(sim$prob[sim$counts == 0])
    m <- fit$missing
    c(m[["estimate"]] - truth, m[["conf.low"]] <= truth && truth <= m[["conf.high"]], m[["sure.low"]] <= truth && truth <= m[["sure.high"]])
  })
  expect_lt(abs(mean(runs[1, ])), 0.003)
  expect_gt(mean(runs[2, ]), 0.9)
  expect_identical(mean(runs[3, ]), 1)
})

test_that("simple Good-Turing is that of edgeR", {
  skip_if_not_installed("edgeR")
  set.seed(4)
  counts <- sim_unigram(5000, vocabulary = 3000)$counts
  theirs <- edgeR::goodTuring(counts)
  ours <- good_turing(counts, method = "simple")
  expect_equal(ours$table$mass[1], theirs$P0)
  expect_equal(ours$table$mass[-1] / ours$table$symbols[-1], theirs$proportion, tolerance = 1e-8)
})

test_that("the choice is the smallest leave-one-out loss, and close to the best law there is", {
  set.seed(5)
  sim <- sim_unigram(2000, vocabulary = 3000)
  choice <- unigram_select(sim$counts, methods = c("absolute", "loo", "good_turing", "ml", "add"))
  expect_identical(choice$selected, which.min(choice$table$estimate))
  expect_equal(choice$fit$log_loss, min(choice$table$estimate, na.rm = TRUE))
  true <- vapply(c("absolute", "loo", "add"), function(m) assess(unigram_model(sim$counts, method = m), truth = sim$prob)$log_loss, 0)
  expect_lt(assess(choice$fit, truth = sim$prob)$log_loss, min(true) + 0.02)
  seen <- sim$counts[sim$counts > 0]
  expect_equal(unigram_select(seen, vocabulary = 3000)$fit$log_loss, unigram_select(sim$counts)$fit$log_loss)
  expect_error(unigram_select(seen), "vocabulary", class = "granary_error_input")
  expect_s3_class(unigram_select(seen, vocabulary = "chao1")$fit, "granary_unigram")
})

test_that("new text is scored word by word", {
  fit <- unigram_model(names_list, vocabulary = 20)
  p <- predict(fit, c("ada", "zoe", "ada"))
  expect_equal(p[["zoe"]], fit$unseen[["prob"]])
  expect_equal(predict(fit, "ada", log = TRUE)[["ada"]], log(p[[1]]))
  scored <- assess(fit, newdata = c("ada", "zoe", "ada"))
  expect_equal(scored$log_loss, -mean(log(p)), ignore_attr = TRUE)
  expect_equal(scored$new_words, 1 / 3)
  expect_equal(assess(fit, newdata = c(ada = 2, zoe = 1)), scored)
  drawn <- simulate(fit, seed = 1)[[1]]
  expect_equal(sum(drawn), 10)
  expect_true("<unseen>" %in% names(drawn))
})

test_that("without the vocabulary only totals are told", {
  fit <- unigram_model(names_list)
  expect_true(is.na(fit$log_loss) && is.na(fit$unseen[["prob"]]))
  expect_gt(fit$unseen[["mass"]], 0)
  expect_output(print(fit), "not defined")
})

test_that("laws that cannot be learnt are refused, those that are odd are warned of", {
  input <- function(...) expect_error(unigram_model(...), class = "granary_error_input")
  input()
  input(c(1, 1), vocabulary = 4)
  input(rep(1, 5), vocabulary = 8)
  input(c(3, 2, 1), vocabulary = 2)
  input(c(3, 2, 0.5))
  input(c(3, 2, 1), discount = 1)
  input(c(3, 2, 1), discount = "best")
  input(c(3, 2, 1), tau = 0)
  input(c(3, 2, 1), tau = 1.5)
  input(c(3, 2, 1), vocabulary = c("a", "b", "c"))
  input(c(a = 3, b = 2), vocabulary = "a")
  input(c(3, 2, 1), method = "add", pseudo = 0)
  expect_warning(unigram_model(c(4, 3, 1, 1, 2), vocabulary = 5), "given back", class = "granary_warning_input")
  expect_no_warning(seen <- unigram_model(c(2, 1, 1), vocabulary = 3))  # no word but the rarest to take from
  expect_equal(seen$prob, c(0.5, 0.25, 0.25), tolerance = 1e-8)
  expect_equal(seen$log_loss, log(18) / 2, tolerance = 1e-8)
  expect_warning(unigram_model(c(4, 3, 1), vocabulary = 5, method = "ml"), "infinite", class = "granary_warning_input")
  expect_warning(good_turing(c(4, 3, 2)), "once", class = "granary_warning_input")
  fit <- unigram_model(c(3, 2, 1), vocabulary = 5)
  expect_error(predict(fit, "a"), class = "granary_error_input")
  expect_error(assess(fit), class = "granary_error_input")
  expect_error(assess(fit, truth = c(0.5, 0.5)), class = "granary_error_input")
  expect_error(good_turing(1:3, k = -1), class = "granary_error_input")
  expect_error(good_turing(1:3, vocabulary = 2), class = "granary_error_input")
  expect_true(is.na(suppressWarnings(good_turing(4, k = 4, method = "good_turing"))$table$good_turing))
})

test_that("calculators have the exact values", {
  law <- 1 / (1:50)
  law <- law / sum(law)
  table <- good_turing_bounds("hitting", n = 40, k = 0:3, prob = law)
  expect_equal(table$mean_mass, c(.292525, .186306, .109438, .073314), tolerance = 1e-5)
  expect_equal(table$mean_good_turing, c(.297183, .191918, .115226, .079193), tolerance = 1e-5)
  expect_equal(table$bias, table$mean_good_turing - table$mean_mass)
  expect_equal(good_turing_bounds("hitting", n = 200, k = 10, prob = rep(0.05, 20))$sd_mass^2, .0056157733, tolerance = 1e-8)
  expect_equal(good_turing_bounds("unseen", n = 1000, delta = 0.1)$bound, log(1e4) / 1000)
  expect_equal(good_turing_bounds("word", n = 1e4, delta = 0.1)$bound, sqrt(3 * log(20) / 1e4))
  expect_equal(good_turing_bounds("tail", n = 100)$factor, 30)
  expect_equal(good_turing_bounds("rare", n = 100, prob = 0.01)$upper, 6 * log(2000))
  expect_true(is.na(good_turing_bounds("counts", counts = c(5, 5))$lower[1]))
  wide <- good_turing_bounds("counts", counts = c(5000, 5000))
  expect_equal(wide$upper - wide$lower, rep(2 * sqrt(6 * 5000 * log(4e4 / 0.05)) / 1e4, 2))
  expect_equal(good_turing_bounds("rates", n = 1e5, k = 4)$crossover, 100)
  bound <- good_turing_bounds("log_loss", prob = law, counts = c(9, 5, 4, 2, rep(1, 10), rep(0, 36)))
  expect_gt(bound$bound, 0)
  expect_error(good_turing_bounds("hitting", n = 5), "prob", class = "granary_error_input")
  expect_error(good_turing_bounds("hitting", n = 5, k = 1, prob = c(0.5, 0.4)), "sum to 1", class = "granary_error_input")
  expect_error(good_turing_bounds("log_loss", prob = law, counts = 1:3), class = "granary_error_input")
  expect_error(good_turing_bounds("log_loss", prob = law, counts = c(9, rep(1, 49)), lambda = 3), class = "granary_error_input")
})

test_that("simulations show the switch, the same at any number of threads", {
  law <- sim_unigram(0, vocabulary = 500)$prob
  set.seed(6)
  one <- good_turing_compare(law, n = 2000, n_rep = 40, k = c(0, 1, 100, 200), threads = 1)
  set.seed(6)
  two <- good_turing_compare(law, n = 2000, n_rep = 40, k = c(0, 1, 100, 200), threads = 2)
  expect_identical(one$table, two$table)
  expect_lt(one$table$good_turing[1], one$table$empirical[1])
  expect_equal(one$table$combined, c(one$table$good_turing[1:2], one$table$empirical[3:4]))
  expect_error(good_turing_compare(law, n = 2), class = "granary_error_input")
  for (kind in c("zipf", "geometric", "uniform", "dirichlet")) expect_equal(sum(sim_unigram(10, 50, kind)$prob), 1)
  expect_equal(sum(sim_unigram(1e7, 20)$counts), 1e7)
  expect_error(sim_unigram(10, 5, "geometric", shape = 1), class = "granary_error_input")
})

test_that("every picture is drawn", {
  pdf(NULL)
  on.exit(dev.off())
  set.seed(7)
  sim <- sim_unigram(500, vocabulary = 500)
  fits <- list(good_turing(sim$counts), unigram_model(sim$counts), good_turing_compare(sim$prob, 200, n_rep = 5, k = 0:5))
  for (fit in fits) expect_identical(plot(fit), fit)
  skip_if_not_installed("ggplot2")
  for (fit in fits) expect_s3_class(ggplot2::autoplot(fit), "ggplot")
})

test_that("words seen that get no probability are announced, and what is not known is NA", {
  names <- c(2, 1, 1, 1, 2, 1, 1, 1)
  expect_warning(fit <- unigram_model(names, vocabulary = 20, method = "good_turing"), "seen twice no probability")
  expect_identical(fit$table$prob[2L], 0)
  free <- unigram_model(names, method = "loo")
  expect_true(is.na(free$table$prob[1L]) && !is.nan(free$table$prob[1L]))
  expect_output(print(free), "not known without the size of the vocabulary")
  expect_identical(good_turing(names, k = 10, method = "good_turing")$table$mass, NA_real_)
})

test_that("candidates with names are drawn one below the other, the chosen one marked", {
  skip_if_not_installed("ggplot2")
  set.seed(1)
  choice <- unigram_select(sim_unigram(500, vocabulary = 800)$counts)
  built <- ggplot2::ggplot_build(ggplot2::autoplot(choice))
  expect_s3_class(built$plot$coordinates, "CoordFlip")
  limits <- built$layout$panel_scales_x[[1L]]$get_limits()
  expect_identical(limits, rev(choice$table$candidate[is.finite(choice$table$estimate)]))
  marked <- built$data[[3L]]
  expect_identical(limits[marked$x], choice$table$candidate[choice$selected])
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(choice))
})
