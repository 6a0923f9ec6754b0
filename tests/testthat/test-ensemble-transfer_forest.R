spiral <- function(seed, ...) {
  set.seed(seed)
  sim_transfer_forest(...)
}
fit_spiral <- function(sim, ..., seed = 1) {
  set.seed(seed)
  transfer_forest(sim$x, sim$y, sim$task, target = "target", ...)
}
accuracy <- function(fit, sim) mean(predict(fit, sim$newx) == sim$newy)
entropy <- function(y) {
  p <- table(y) / length(y)
  -sum(p[p > 0] * log(p[p > 0]))
}
gain_by_hand <- function(y, side) entropy(y) - sum(vapply(split(y, side), function(part) length(part) / length(y) * entropy(part), 0))

test_that("transfer helps on the spirals of the card, seed by seed on average", {
  found <- vapply(1:6, function(seed) {
    sim <- spiral(seed)
    set.seed(seed)
    alone <- accuracy(transfer_forest_baseline(sim$x, sim$y, sim$task, target = "target", n_trees = 100), sim)
    c(alone, accuracy(fit_spiral(sim, n_trees = 100, seed = seed), sim))
  }, numeric(2))
  expect_gt(mean(found[2, ] - found[1, ]), 0.03)
  expect_gt(mean(found[2, ]), 0.8)
})

test_that("the mixed gain is that of ten lines of R, and the joined gain is larger by the mutual information of task and side", {
  set.seed(1)
  for (r in 1:20) {
    n <- 60
    task <- sample(1:4, n, TRUE)
    y <- sample(letters[1:3], n, TRUE)
    side <- runif(n) < 0.3 + 0.1 * task
    parts <- transfer_forest_bounds("gain", y = y, side = side, task = task, gamma = 0.4)
    gains <- vapply(1:4, function(t) gain_by_hand(y[task == t], side[task == t]), 0)
    share <- tabulate(task, 4)[2:4] / sum(task > 1)
    expect_equal(parts$target, gains[1], tolerance = 1e-12)
    expect_equal(parts$sum, sum(share * gains[2:4]), tolerance = 1e-12)
    expect_equal(parts$score, 0.6 * gains[1] + 0.4 * parts$sum, tolerance = 1e-12)
    s <- task > 1
    expect_equal(parts$concat, gain_by_hand(paste(task, y)[s], side[s]), tolerance = 1e-12)
    expect_equal(parts$information, gain_by_hand(task[s], side[s]), tolerance = 1e-12)
    expect_lt(abs(parts$concat - parts$sum - parts$information), 1e-12)
  }
})

test_that("gini, task weights and the correction of entropies do what they say", {
  y <- c("a", "a", "b", "b", "u", "v", "v", "u", "p", "q", "p", "p")
  side <- rep(c(TRUE, TRUE, FALSE), 4)
  task <- rep(1:3, each = 4)
  gini <- function(y) 1 - sum((table(y) / length(y))^2)
  by_hand <- function(f, t) f(y[task == t]) - sum(vapply(split(y[task == t], side[task == t]), function(v) length(v) / 4 * f(v), 0))
  weighted <- transfer_forest_bounds("gain", y = y, side = side, task = task, gamma = 1, score = "gini", task_weights = c("3" = 3, "2" = 1))
  expect_equal(weighted$score, 0.25 * by_hand(gini, 2) + 0.75 * by_hand(gini, 3), tolerance = 1e-12)
  corrected <- function(v) entropy(v) + (length(unique(v)) - 1) / (2 * length(v))
  expect_equal(transfer_forest_bounds("gain", y = y, side = side, task = task, corrected = TRUE)$target, by_hand(corrected, 1), tolerance = 1e-12)
})

test_that("a source that is the target has the plain gain at every gamma", {
  set.seed(2)
  y <- rep(sample(c("a", "b"), 20, TRUE), 2)
  side <- rep(runif(20) < 0.5, 2)
  task <- rep(1:2, each = 20)
  for (gamma in c(0, 0.3, 1)) {
    parts <- transfer_forest_bounds("gain", y = y, side = side, task = task, gamma = gamma)
    expect_equal(parts$score, gain_by_hand(y[1:20], side[1:20]), tolerance = 1e-12)
  }
})

test_that("with gamma = 1 the labels of the target do not matter to the splits, and with gamma = 0 those of the sources do not", {
  sim <- spiral(3)
  structure <- function(fit) fit$trees[c("start", "left", "from", "length", "column", "weight", "threshold")]
  shuffled <- sim
  target <- sim$task == "target"
  shuffled$y[target] <- sample(sim$y[target])
  expect_identical(structure(fit_spiral(sim, gamma = 1, n_trees = 5)), structure(fit_spiral(shuffled, gamma = 1, n_trees = 5)))
  expect_false(identical(structure(fit_spiral(sim, n_trees = 5)), structure(fit_spiral(shuffled, n_trees = 5))))
  shuffled <- sim
  shuffled$y[!target] <- sample(sim$y[!target])
  expect_identical(structure(fit_spiral(sim, gamma = 0, n_trees = 5)), structure(fit_spiral(shuffled, gamma = 0, n_trees = 5)))
})

test_that("without sources the forest is the baseline of the target, whatever gamma below 1", {
  sim <- spiral(4)
  target <- sim$task == "target"
  set.seed(1)
  plain <- transfer_forest(sim$x[target, ], sim$y[target], n_trees = 10)
  set.seed(1)
  baseline <- transfer_forest_baseline(sim$x, sim$y, sim$task, target = "target", n_trees = 10)
  expect_identical(predict(plain, sim$newx, type = "prob"), predict(baseline, sim$newx, type = "prob"))
  expect_identical(plain$borrowed, 0)
})

test_that("answers are shares over the levels of the target, and leaves with cases never borrow", {
  sim <- spiral(5)
  y <- as.character(sim$y)
  y[sim$task != "target"] <- paste0("other", y[sim$task != "target"])
  set.seed(1)
  fit <- transfer_forest(sim$x, y, sim$task, target = "target", n_trees = 20)
  prob <- predict(fit, sim$newx, type = "prob")
  expect_identical(colnames(prob), c("a", "b"))
  expect_lt(max(abs(rowSums(prob) - 1)), 1e-12)
  leaves <- predict(fit, sim$x[sim$task == "target", ], type = "leaf")
  expect_identical(fit$trees$lender[unique(c(leaves))], unique(c(leaves)))
  expect_gt(fit$borrowed, 0.2)
  lenders <- unique(fit$trees$lender)
  expect_true(all(lenders %in% unique(c(leaves))))
  expect_identical(levels(predict(fit, sim$newx)), c("a", "b"))
})

test_that("one case per class and gamma = 1: every leaf is a unit vector", {
  set.seed(6)
  sim <- sim_transfer_forest(n = 1)
  fit <- fit_spiral(sim, gamma = 1, n_trees = 10, max_depth = 4)
  cases <- fit$trees$cases
  both <- colSums(cases > 0) == 2
  own <- fit$trees$lender == seq_along(fit$trees$lender)
  expect_true(all(cases[, !own & !both] %in% c(0, 1)))
  one <- transfer_forest(cbind(u = c(-1, 1, -2, -0.9, 0.9, 2)), c("a", "b", "l", "l", "r", "r"), c(1, 1, 2, 2, 2, 2), gamma = 1, n_trees = 3, cuts = 0, max_depth = 1)
  expect_identical(as.character(predict(one, cbind(u = c(-0.5, 0.5)))), c("a", "b"))
})

test_that("labels travel along a chain where it is shorter than the way across", {
  # Leaves at 0 (a), 1, 2, 3 and 5 (b): at 3 the way over 2 and 1 costs 1 + 1 + 1, straight from 5 it costs 4.
  u <- c(0, 5, rep(c(0, 1, 2, 3, 5), each = 6))
  task <- c(1, 1, rep(2, 30))
  y <- c("a", "b", rep(c("s", "t", "u", "v", "w"), each = 6))
  set.seed(1)
  fit <- transfer_forest(cbind(u = u), y, task, gamma = 1, n_trees = 5, cuts = 0, candidates = 1, metric = "euclidean", standardize = FALSE)
  expect_identical(as.character(predict(fit, cbind(u = c(0, 1, 2, 3, 5)))), c("a", "a", "a", "a", "b"))
  flat <- transfer_forest_baseline(cbind(u = u), y, task, method = "parent", gamma = 1, n_trees = 5, cuts = 0, candidates = 1, standardize = FALSE)
  expect_false(identical(predict(fit, cbind(u = u), type = "prob"), predict(flat, cbind(u = u), type = "prob")))
})

test_that("threads, the order of tasks, names and columns do not change the forest", {
  sim <- spiral(7, n_tasks = 2, n_source = 60)
  fit <- fit_spiral(sim, n_trees = 10, threads = 1)
  two <- fit_spiral(sim, n_trees = 10, threads = 2)
  expect_identical(fit$trees, two$trees)
  renamed <- sim
  levels(renamed$task) <- c("target", "source2", "source1")
  renamed$task <- factor(as.character(renamed$task), rev(levels(renamed$task)))
  expect_equal(fit_spiral(renamed, n_trees = 10)$trees$threshold, fit$trees$threshold, tolerance = 1e-12)
  expect_identical(predict(fit, sim$newx[, 2:1]), predict(fit, sim$newx))
  set.seed(1)
  parts <- split(seq_along(sim$y), sim$task)
  part <- function(name) list(x = sim$x[parts[[name]], 2:1], y = sim$y[parts[[name]]])
  stacked <- transfer_forest(sim$x[parts$target, ], sim$y[parts$target], sources = list(source1 = part("source1"), source2 = part("source2")), n_trees = 10)
  expect_identical(stacked$trees, fit$trees)
})

test_that("best thresholds do not see monotone transformations of columns", {
  sim <- spiral(8, n_source = 50)
  bent <- sim
  bent$x <- exp(sim$x)
  a <- fit_spiral(sim, cuts = 0, candidates = 2, n_trees = 3)
  b <- fit_spiral(bent, cuts = 0, candidates = 2, n_trees = 3)
  expect_identical(a$trees[c("left", "column", "length")], b$trees[c("left", "column", "length")])
})

test_that("the scale of the columns does not matter once they are standardised", {
  sim <- spiral(9, n_source = 60)
  answer <- predict(fit_spiral(sim, n_trees = 10), sim$newx)
  for (scale in c(1e-8, 1e8)) {
    other <- sim
    other$x <- sim$x * scale
    expect_gt(mean(predict(fit_spiral(other, n_trees = 10), sim$newx * scale) == answer), 0.999)
  }
})

test_that("oblique splits, other metrics, sums and joined sources, gini, correction and smoothing all learn the spiral", {
  sim <- spiral(10)
  for (more in list(list(split = "oblique"), list(metric = "full"), list(metric = "euclidean"), list(source = "concat"), list(score = "gini"), list(corrected = TRUE),
                    list(smooth = 1), list(cuts = 0, candidates = 1), list(split = "oblique", cuts = 0, candidates = 3), list(task_weights = 2))) {
    fit <- do.call(fit_spiral, c(list(sim), more))
    expect_gt(accuracy(fit, sim), 0.72)
    expect_lt(max(abs(rowSums(predict(fit, sim$newx, type = "prob")) - 1)), 1e-12)
  }
})

test_that("with replacement the answer without new data is out of bag", {
  sim <- spiral(11, n = 30)
  fit <- fit_spiral(sim, replace = TRUE, n_trees = 60)
  expect_equal(fit$error, mean(predict(fit) != fit$y))
  expect_lt(fit$error, 0.45)
  expect_gt(fit$error, 0)
  expect_identical(dim(fit$prediction), c(60L, 2L))
  expect_true(is.na(fit_spiral(sim, n_trees = 5)$error))
})

test_that("groups are products of shares, with priors where they are asked for", {
  sim <- spiral(12)
  fit <- fit_spiral(sim, smooth = 0.5)
  group <- rep(c("z", "a", "m"), length.out = 30)
  rows <- sim$newx[1:30, ]
  prob <- predict(fit, rows, type = "prob")
  found <- predict(fit, rows, type = "prob", group = group)
  expect_identical(rownames(found), c("z", "a", "m"))
  by_hand <- t(vapply(c("z", "a", "m"), function(g) {
    v <- exp(colSums(log(prob[group == g, ])))
    v / sum(v)
  }, numeric(2)))
  expect_equal(found, by_hand, tolerance = 1e-10, ignore_attr = TRUE)
  expect_identical(as.character(predict(fit, rows, group = group)), colnames(prob)[max.col(found, "first")])
  single <- predict(fit, rows, type = "prob", group = seq_len(30), prior = "training")
  expect_equal(unname(single), unname(prob), tolerance = 1e-12)
  shifted <- predict(fit, rows[1, , drop = FALSE], type = "prob", group = 1, prior = c(b = 0.9, a = 0.1))
  expect_equal(unname(shifted[1, ]), unname(prob[1, ] * c(0.1, 0.9) / sum(prob[1, ] * c(0.1, 0.9))), tolerance = 1e-12)
})

test_that("a pure source and a constant column do no harm, duplicated rows neither", {
  sim <- spiral(13, n_source = 40)
  y <- as.character(sim$y)
  y[sim$task != "target"] <- "same"
  x <- cbind(sim$x, constant = 1)
  set.seed(1)
  fit <- transfer_forest(x, y, sim$task, target = "target", n_trees = 5)
  expect_identical(fit$importance["constant", ], c(target = 0, sources = 0))
  expect_identical(fit$task_gain$gain[2], 0)
  twice <- transfer_forest(x[rep(seq_along(y), 2), ], rep(y, 2), rep(sim$task, 2), target = "target", n_trees = 5)
  expect_lt(max(abs(rowSums(predict(twice, x, type = "prob")) - 1)), 1e-12)
  flat <- transfer_forest(matrix(1, 6, 2), rep(c("a", "b"), 3), n_trees = 2)
  expect_equal(unname(predict(flat, matrix(1, 1, 2, dimnames = list(NULL, c("V1", "V2"))), type = "prob")), matrix(0.5, 1, 2))
})

test_that("the gains of all splits add up to at most what there is, and summary() says so by task", {
  sim <- spiral(14, n_tasks = 2)
  fit <- fit_spiral(sim, n_trees = 20)
  expect_equal(fit$task_gain$impurity, rep(log(2), 3), tolerance = 1e-12)
  expect_true(all(fit$task_gain$share <= 1 + 1e-12 & fit$task_gain$share > 0))
  expect_equal(sum(fit$importance[, "target"]), fit$task_gain$gain[1], tolerance = 1e-10)
  expect_output(print(summary(fit)), "source1")
  expect_output(print(fit), "Transfer forest: 20 trees")
  expect_identical(glance(fit)$n_target, 20L)
  expect_identical(names(tidy(fit)), c("term", "estimate", "target", "sources"))
})

test_that("the formula leaves the task out, honours subset and na.action, and predicts by name", {
  sim <- spiral(15, n_source = 40)
  data <- data.frame(sim$x, y = sim$y, site = sim$task)
  set.seed(1)
  fit <- transfer_forest(y ~ ., data, task = site, target = "target", n_trees = 5)
  expect_identical(fit$columns, c("u", "v"))
  expect_identical(fit$trees, fit_spiral(sim, n_trees = 5)$trees)
  set.seed(1)
  expect_identical(transfer_forest(y ~ ., data, task = "site", target = "target", n_trees = 5)$trees, fit$trees)
  expect_identical(unname(predict(fit, data[3:5, 2:1])), unname(predict(fit, sim$x[3:5, ])))
  half <- transfer_forest(y ~ u + v, data, task = site, subset = u > 0, n_trees = 5)
  expect_identical(half$n, sum(data$u > 0))
  data$u[1] <- NA
  expect_error(transfer_forest(y ~ ., data, task = site, n_trees = 5), "missing|NA", class = "granary_error_input")
  expect_identical(transfer_forest(y ~ ., data, task = site, na.action = na.omit, n_trees = 5)$n, nrow(data) - 1L)
  expect_error(transfer_forest(y ~ ., data), "task", class = "granary_error_input")
})

test_that("fits survive a file, and plots are drawn", {
  sim <- spiral(16, n_source = 40)
  fit <- fit_spiral(sim, n_trees = 5)
  file <- tempfile(fileext = ".rds")
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), sim$newx), predict(fit, sim$newx))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(fit))
  wide <- transfer_forest(cbind(sim$x, w = rnorm(nrow(sim$x))), sim$y, sim$task, n_trees = 5)
  expect_silent(plot(wide))
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
  expect_s3_class(ggplot2::autoplot(wide), "ggplot")
})

test_that("gamma is chosen by cross-validation of the target, with the target alone beside it", {
  sim <- spiral(17, n_source = 100)
  set.seed(1)
  choice <- transfer_forest_select(sim$x, sim$y, sim$task, target = "target", gamma = c(0.5, 0.25), n_trees = 15, candidates = 15)
  expect_s3_class(choice, "granary_selection")
  expect_identical(choice$table$gamma, c(0, 0.25, 0.5))
  expect_identical(choice$fit$settings$gain$gamma, choice$table$gamma[choice$selected])
  expect_identical(choice$selected, which.min(choice$table$estimate))
  expect_output(print(choice), "the target alone")
  expect_identical(length(predict(choice, sim$newx)), nrow(sim$newx))
  set.seed(1)
  again <- transfer_forest_select(sim$x, sim$y, sim$task, target = "target", gamma = c(0.5, 0.25), n_trees = 15, candidates = 15, threads = 2)
  expect_identical(again$table, choice$table)
  log <- transfer_forest_select(sim$x, sim$y, sim$task, target = "target", gamma = 0.5, measure = "log", folds = rep(1:2, 10), n_trees = 5, smooth = 1)
  expect_true(all(is.finite(log$table$estimate)))
  expect_error(transfer_forest_select(sim$x[1:20, ], sim$y[1:20]), "sources", class = "granary_error_input")
  expect_error(transfer_forest_select(sim$x, sim$y, sim$task, target = "target", folds = rep(1:2, each = 10)), "single class", class = "granary_error_input")
})

test_that("baselines: pooled tasks need the same labels", {
  sim <- spiral(18, n_source = 60)
  set.seed(1)
  pooled <- transfer_forest_baseline(sim$x, sim$y, sim$task, target = "target", method = "pooled", n_trees = 20)
  expect_gt(accuracy(pooled, sim), 0.8)
  expect_output(print(pooled), "pooled")
  y <- as.character(sim$y)
  y[sim$task != "target"] <- "x"
  expect_error(transfer_forest_baseline(sim$x, y, sim$task, target = "target", method = "pooled"), "labels", class = "granary_error_input")
  parent <- transfer_forest_baseline(sim$x, sim$y, sim$task, target = "target", method = "parent", n_trees = 20)
  expect_true(0L %in% parent$trees$lender)
  expect_false(0L %in% fit_spiral(sim, n_trees = 20)$trees$lender)
})

test_that("the mean of the plug-in entropy lies between its bounds, and is that of simulation and enumeration", {
  expect_equal(unlist(transfer_forest_bounds("entropy", prob = c(1, 1), n = 1)), c(n = 1, lower = 0, expected = 0, upper = log(2), corrected = 0), tolerance = 1e-12)
  two <- transfer_forest_bounds("entropy", prob = c(0.3, 0.7), n = 2)
  expect_equal(two$expected, 2 * 0.3 * 0.7 * log(2), tolerance = 1e-12)
  set.seed(1)
  for (r in 1:10) {
    prob <- rgamma(5, 0.5)
    found <- transfer_forest_bounds("entropy", prob = prob, n = c(1, 3, 20, 500))
    expect_true(all(found$lower <= found$expected + 1e-12 & found$expected <= found$upper + 1e-12))
    expect_true(all(diff(found$expected) > 0))
  }
  prob <- c(0.5, 0.3, 0.2)
  simulated <- replicate(4000, entropy(sample(3, 10, TRUE, prob)))
  exact <- transfer_forest_bounds("entropy", prob = prob, n = 10)
  expect_lt(abs(mean(simulated) - exact$expected), 4 * sd(simulated) / sqrt(4000))
  expect_lt(abs(exact$corrected - exact$upper), abs(exact$expected - exact$upper))
  expect_equal(transfer_forest_bounds("entropy", prob = 1, n = 4)$expected, 0)
})

test_that("motion history follows its recursion and averages areas", {
  set.seed(1)
  film <- array(sample(0:255, 6 * 4 * 5, TRUE), c(6, 4, 5))
  found <- motion_history(film, tau = 3, xi = 60, dim = c(6, 4))
  history <- matrix(0, 6, 4)
  expect_identical(unname(found[1, ]), rep(0, 24))
  for (t in 2:5) {
    history <- ifelse(abs(film[, , t] - film[, , t - 1]) >= 60, 3, pmax(0, history - 1))
    expect_equal(unname(found[t, ]), c(history), tolerance = 1e-12)
  }
  small <- motion_history(film, tau = 3, xi = 60, dim = c(3, 2))
  expect_equal(unname(small[5, 1]), mean(history[1:2, 1:2]), tolerance = 1e-12)
  odd <- motion_history(film, tau = 3, xi = 60, dim = c(4, 3))
  expect_equal(mean(odd[5, ]), mean(history), tolerance = 1e-12)
  expect_identical(dim(motion_history(array(1, c(2, 2, 1)))), c(1L, 192L))
  expect_error(motion_history(matrix(0, 2, 2)), "three dimensions", class = "granary_error_input")
  film[1] <- NA
  expect_error(motion_history(film), "finite", class = "granary_error_input")
})

test_that("every wrong argument is told", {
  sim <- spiral(19, n_source = 5)
  bad <- function(pattern, ...) {
    given <- list(...)
    arguments <- list(x = sim$x, y = sim$y, task = sim$task)
    arguments[names(given)] <- given
    expect_error(do.call(transfer_forest, arguments), pattern, class = "granary_error_input")
  }
  bad("`y` must have one label", y = sim$y[-1])
  bad("missing labels", y = replace(sim$y, 2, NA))
  bad("missing labels", task = replace(sim$task, 2, NA))
  bad("`task` must have one label", task = 1:3)
  bad("one of the tasks", target = "nobody")
  bad("gamma", gamma = 1.5)
  bad("gamma", gamma = -0.1)
  bad("two classes", y = ifelse(sim$task == "target", "a", "b"))
  bad("`x`", x = replace(sim$x, 1, NA))
  bad("`x`", x = replace(sim$x, 1, Inf))
  bad("task_weights", task_weights = c(1, 2))
  bad("names of `task_weights`", task_weights = c(other = 1))
  bad("must not all be 0", task_weights = 0)
  bad("`corrected`", corrected = TRUE, score = "gini")
  bad("not both", sources = list(list(x = sim$x, y = sim$y)))
  bad("candidates", candidates = 0)
  bad("ridge", ridge = 0)
  bad("fractions", y = seq_along(sim$y) + 0.5)
  expect_error(transfer_forest(sim$x, sim$y, target = "a"), "`target`", class = "granary_error_input")
  expect_error(transfer_forest(sim$x, sim$y, gamma = 1), "nothing to split by", class = "granary_error_input")
  expect_error(transfer_forest(sim$x, sim$y, sources = list(list(x = sim$x))), "sources", class = "granary_error_input")
  expect_error(transfer_forest(sim$x, sim$y, sources = list(a = list(x = sim$x[0, ], y = sim$y[0]))), "sources", class = "granary_error_input")
  fit <- fit_spiral(sim, n_trees = 2)
  expect_error(predict(fit, sim$newx[, 1, drop = FALSE]), "column|variable", class = "granary_error_input")
  expect_error(predict(fit, sim$newx, prior = "training"), "group", class = "granary_error_input")
  expect_error(predict(fit, sim$newx, group = 1), "`group`", class = "granary_error_input")
  expect_error(predict(fit, sim$newx, group = rep(1, 1000), prior = c(1, 2, 3)), "prior", class = "granary_error_input")
  expect_error(predict(fit, sim$newx, type = "leaf", group = rep(1, 1000)), "leaf", class = "granary_error_input")
  fit$trees$left[1] <- 0L
  fit$held <- new.env()
  expect_error(predict(fit, sim$newx), "damaged", class = "granary_error_input")
})
