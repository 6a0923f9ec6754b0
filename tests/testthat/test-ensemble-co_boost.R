views <- function(seed = 1, ...) {
  set.seed(seed)
  sim_co_boost(...)
}
small <- function(seed = 1, ...) views(seed, n = 8, n_test = 10, n_classes = 3, p = 6, signal = 0.5, ...)
quick <- function(sim, ..., seed = 1, n_rounds = 5, candidates = 3) {
  set.seed(seed)
  co_boost(sim$x, sim$y, k = 3, topology = "left_right", n_rounds = n_rounds, candidates = candidates, share = 0.5, ...)
}
flat <- function(seed = 1, ...) views(seed, n = 20, n_test = 50, n_classes = 3, p = 6, informative = 2, states = 1,
                                      length = 1, ...)

test_that("two views beat each of them alone, and good columns are used more often, seed by seed on average", {
  found <- vapply(1:3, function(seed) {
    sim <- views(seed, n = 10, n_test = 20, n_classes = 4, p = 10, informative = 2, signal = 0.7)
    error <- function(fit, which = 1:2) assess(fit, newdata = sim$newx[which], newy = sim$newy)$error
    set.seed(seed)
    both <- co_boost(sim$x, sim$y, k = 4, topology = "left_right", n_rounds = 10, candidates = 5, share = 0.2)
    one <- vapply(1:2, function(v) error(co_boost_baseline(sim$x, sim$y, "boost_select", view = v, k = 4,
                                                           topology = "left_right", n_rounds = 10, candidates = 5), v),
                                                             0)
    picked <- unlist(both$picked)
    good <- rep(1:10 <= 2, 2)
    c(error(both), min(one), mean(picked[good]), mean(picked[!good]))
  }, numeric(4))
  expect_lt(mean(found[1, ]), mean(found[2, ]))
  expect_gt(mean(found[3, ]), 1.5 * mean(found[4, ]))
})

test_that("errors stay below the bound, which never rises, in every round and for every class", {
  for (seed in 1:3) {
    fit <- quick(small(seed), seed = seed)
    expect_true(all(fit$wrong <= fit$bound + 1e-9))
    expect_true(all(apply(fit$bound, 2, diff) <= 1e-9))
    expect_true(fit$convergence$converged)
    expect_equal(unname(fit$bound[1, ]), rep(24, 3))
  }
})

test_that("bound, log odds and weights are those of the printed formulas, done again in R", {
  sim <- small(2)
  fit <- quick(sim, seed = 2)
  staged <- lapply(seq_len(nrow(fit$members)), function(m) {
    one <- fit
    one$model$members <- fit$model$members[m]
    one$model$round <- 1L
    one$model$view <- fit$model$view[m]
    one$model$alpha <- 1
    one$model$hit <- fit$model$hit[m, , drop = FALSE]
    one$model$miss <- fit$model$miss[m, , drop = FALSE]
    attr(one, "shape") <- attr(one, "format") <- NULL
    predict(one, sim$x)
  })
  odds <- matrix(0, 24, 3)
  votes <- matrix(0, 24, 3)
  w <- rep(1 / 24, 24)
  right <- outer(as.integer(sim$y), 1:3, `==`)
  for (t in seq_len(5)) {
    now <- which(fit$members$round == t)
    for (m in now) {
      e <- sum(w * (staged[[m]] != sim$y))
      expect_equal(fit$members$error[m], e, tolerance = 1e-8)
      e <- min(max(e, 1 / 48), 1 - 1 / 48)
      expect_equal(fit$members$alpha[m], max(0, log((1 - e) / e)), tolerance = 1e-7)
      hit <- outer(as.integer(staged[[m]]), 1:3, `==`)
      odds <- odds + ifelse(hit, rep(fit$model$hit[m, ], each = 24), rep(fit$model$miss[m, ], each = 24))
      votes <- votes + hit * fit$members$alpha[m]
    }
    bound <- colSums(exp(ifelse(right, -odds, odds)))
    expect_equal(unname(fit$bound[t + 1, ]), bound, tolerance = 1e-8)
    w <- exp(-odds[cbind(1:24, as.integer(sim$y))])
    w <- w / sum(w)
    expect_equal(fit$path$largest_weight[t], max(w), tolerance = 1e-7)
  }
  expect_equal(unname(fit$log_odds), odds, tolerance = 1e-8)
  expect_equal(unname(fit$votes), votes / sum(fit$members$alpha), tolerance = 1e-8)
  expect_equal(unname(fit$case_weights), w, tolerance = 1e-7)
})

test_that("the ratios of a round minimise the smoothed bound, as optim() finds", {
  sim <- flat(3)
  set.seed(3)
  fit <- co_boost(sim$x, sim$y, n_rounds = 1, candidates = 2, share = 0.5)
  answers <- lapply(1:2, function(v) {
    one <- co_boost_baseline(sim$x, sim$y, "single", view = v)
    one$model$members <- fit$model$members[v]
    attr(one, "shape") <- attr(one, "format") <- NULL
    predict(one, sim$x[v])
  })
  n <- length(sim$y)
  for (c in levels(sim$y)) {
    cell <- interaction(answers[[1]] == c, answers[[2]] == c, sim$y == c)
    mass <- tapply(rep(1, n), cell, sum)
    mass[is.na(mass)] <- 0
    mass <- mass + 1 / (2 * n) * n
    pattern <- do.call(rbind, strsplit(names(mass), ".", fixed = TRUE)) == "TRUE"
    value <- function(b) {
      f <- ifelse(pattern[, 1], b[1], b[2]) + ifelse(pattern[, 2], b[3], b[4])
      sum(mass * exp(ifelse(pattern[, 3], -f, f)))
    }
    mine <- fit$ratios[fit$ratios$class == c, ]
    ours <- c(mine$hit[1], mine$miss[1], mine$hit[2], mine$miss[2])
    expect_equal(value(ours), optim(rep(0, 4), value, method = "BFGS",
                                    control = list(reltol = 1e-14, maxit = 500))$value, tolerance = 1e-7)
    expect_equal(sum(ours[1:2]), sum(ours[3:4]), tolerance = 1e-8)
    # probabilities have these ratios
    known <- !is.na(mine$if_class)
    expect_equal(log(mine$if_class / mine$if_other)[known], mine$hit[known], tolerance = 1e-8)
    expect_equal(log((1 - mine$if_class) / (1 - mine$if_other))[known], mine$miss[known], tolerance = 1e-8)
  }
})

test_that("weights of cases are copies, but for the smoothing, and zero is absence", {
  sim <- flat(4)
  w <- rep(c(1, 2, 0), 20)
  at <- rep(seq_along(w), w)
  set.seed(1)
  one <- co_boost(sim$x, sim$y, weights = w, n_rounds = 3, candidates = 2, share = 1, smooth = 1e-3,
                  learner = "naive_bayes", floor = 1e-9)
  set.seed(1)
  two <- co_boost(lapply(sim$x, function(x) x[at, ]), sim$y[at], n_rounds = 3, candidates = 2, share = 1,
                  smooth = 1e-3, learner = "naive_bayes", floor = 1e-9)
  expect_equal(one$members$error, two$members$error, tolerance = 1e-8)
  expect_equal(one$bound, two$bound, tolerance = 1e-6)
  expect_equal(predict(one, sim$newx, "link"), predict(two, sim$newx, "link"), tolerance = 1e-6)
})

test_that("lists of views, one table with views, and a formula are the same", {
  sim <- flat(5)
  table <- data.frame(a = sim$x[[1]], b = sim$x[[2]])
  set.seed(1)
  listed <- co_boost(sim$x, sim$y, n_rounds = 3, share = 0.5)
  set.seed(1)
  parted <- co_boost(table, sim$y, views = list(view1 = 1:6, view2 = paste0("b.V", 1:6)), n_rounds = 3, share = 0.5)
  expect_equal(unname(listed$log_odds), unname(parted$log_odds), tolerance = 1e-10)
  set.seed(1)
  grouped <- co_boost(as.matrix(table), sim$y, views = rep(c("view1", "view2"), each = 6), n_rounds = 3, share = 0.5)
  expect_equal(unname(grouped$log_odds), unname(parted$log_odds), tolerance = 1e-10)
  data <- cbind(table, y = sim$y)
  set.seed(1)
  formed <- co_boost(y ~ ., data, views = list(view1 = 1:6, view2 = 7:12), n_rounds = 3, share = 0.5)
  expect_equal(unname(formed$log_odds), unname(parted$log_odds), tolerance = 1e-10)
  new <- data.frame(a = sim$newx[[1]], b = sim$newx[[2]])
  expect_equal(unname(predict(formed, new[sample(12)], "link")), unname(predict(listed, sim$newx, "link")),
               tolerance = 1e-10)
  expect_equal(predict(parted, new), predict(listed, sim$newx), ignore_attr = TRUE)
  expect_equal(unname(predict(listed, sim$newx[2:1], "link")), unname(predict(listed, sim$newx, "link")))
})

test_that("all learners learn, each view its own, and rounds and rules are told apart", {
  sim <- flat(6, signal = 3)
  for (learner in c("lda", "naive_bayes", "tree", "hmm")) {
    set.seed(1)
    fit <- co_boost(sim$x, sim$y, learner = learner, n_rounds = 5, share = 0.5, k = 1, max_leaves = 3)
    expect_lt(assess(fit, newdata = sim$newx, newy = sim$newy)$error, 0.25, label = learner)
  }
  set.seed(1)
  mixed <- co_boost(sim$x, sim$y, learner = c(view2 = "tree", view1 = "lda"), n_rounds = 5, share = c(0.5, 1),
                    candidates = c(3, 1), max_leaves = 3)
  expect_equal(vapply(mixed$settings$learners, `[[`, "", "learner"), c("lda", "tree"))
  expect_equal(mixed$sizes, c(view1 = 3L, view2 = 6L))
  staged <- predict(mixed, sim$newx, "staged", rule = "posterior")
  for (r in 1:5) expect_equal(as.character(staged[[r]]),
                              as.character(predict(mixed, sim$newx, rule = "posterior", n_rounds = r)))
  expect_equal(unname(predict(mixed, sim$newx, "link", n_rounds = 0)), matrix(0, 150, 3))
  prob <- predict(mixed, sim$newx, "prob", rule = "posterior")
  expect_equal(unname(rowSums(prob)), rep(1, 150))
  samme <- co_boost(sim$x, sim$y, vote = "samme", n_rounds = 2, share = 0.5, prior = "cases")
  e <- pmin(pmax(samme$members$error, 1 / 120), 1 - 1 / 120)
  expect_equal(samme$members$alpha, log((1 - e) / e) + log(2), tolerance = 1e-10)
})

test_that("one view is boosting, and the answers fit the names of the classes", {
  sim <- flat(7)
  two <- sim$y != "c"
  x <- list(one = sim$x[[1]][two, ])
  fit <- co_boost(x, as.character(sim$y[two]), n_rounds = 4, candidates = 1, share = 1, smooth = 0)
  # For two classes the closed form: hit of a is minus miss of b.
  a <- fit$ratios[fit$ratios$class == "a", ]
  b <- fit$ratios[fit$ratios$class == "b", ]
  expect_equal(a$hit, -b$miss, tolerance = 1e-8)
  expect_equal(a$miss, -b$hit, tolerance = 1e-8)
  expect_equal(levels(fit$fitted), c("a", "b"))
})

test_that("nothing to learn ends it and says so", {
  set.seed(1)
  x <- list(matrix(1, 20, 2), matrix(2, 20, 1))
  expect_message(fit <- co_boost(x, rep(c("a", "b"), 10)), "nothing was learnt")
  expect_equal(fit$end, "no_edge")
  expect_equal(unname(predict(fit, x, "prob")), matrix(0.5, 20, 2))
  expect_output(print(fit), "Nothing was learnt")
  expect_error(plot(fit), "nothing to draw", class = "granary_error_input")
})

test_that("the same seed gives the same answer on one thread and on two", {
  sim <- small(8)
  one <- quick(sim, threads = 1)
  two <- quick(sim, threads = 2)
  expect_identical(one$log_odds, two$log_odds)
  expect_identical(one$members, two$members)
})

test_that("the baselines are what they are called", {
  sim <- small(9)
  single <- co_boost_baseline(sim$x, sim$y, "single", view = "view2", k = 3, topology = "left_right")
  alone <- hmm_classifier(sim$x$view2, sim$y, k = 3, topology = "left_right")
  expect_equal(predict(single, sim$newx["view2"]), predict(alone, sim$newx$view2), ignore_attr = TRUE)
  set.seed(1)
  fused <- co_boost_baseline(sim$x, sim$y, folds = 4, k = 3, topology = "left_right")
  expect_equal(nrow(fused$table), 11)
  expect_equal(sum(fused$fusion), 1)
  expect_equal(min(fused$table$error), fused$table$error[abs(fused$table$view1 - fused$fusion[1]) < 1e-9])
  first <- hmm_classifier(sim$x$view1, sim$y, k = 3, topology = "left_right")
  mean_prob <- fused$fusion[1] * predict(first, sim$newx$view1, "prob") + fused$fusion[2] *
    predict(alone, sim$newx$view2, "prob")
  expect_equal(unname(predict(fused, sim$newx, "prob")), unname(mean_prob), tolerance = 1e-8)
  given <- co_boost_baseline(sim$x, sim$y, fusion = c(view2 = 1, view1 = 3), k = 3)
  expect_equal(given$fusion, c(view1 = 0.75, view2 = 0.25))
  expect_output(print(fused), "Misclassified over folds")
  expect_output(print(summary(fused)), "predicted")
  expect_equal(tidy(fused)$estimate, unname(fused$fusion))
  expect_equal(glance(fused)$views, 2)
  expect_error(plot(given), "weights were given", class = "granary_error_input")
  expect_error(co_boost_baseline(sim$x, sim$y, "single", n_rounds = 3), "n_rounds", class = "granary_error_input")
  expect_error(co_boost_baseline(sim$x, sim$y, "single", view = 3), "view", class = "granary_error_input")
  expect_error(co_boost_baseline(sim$x, sim$y, rounds = 3), "rounds", class = "granary_error_input")
  expect_error(co_boost_baseline(sim$x, sim$y, n_rounds = 3), "boosting", class = "granary_error_input")
  expect_error(co_boost_baseline(sim$x, sim$y, folds = rep(1:3, each = 8)), "Without fold",
               class = "granary_error_input")
  table <- data.frame(sim = flat(9)$x)
  expect_equal(co_boost_baseline(table, flat(9)$y, "boost", view = 2, views = list(u = 1:6, v = 7:12),
                                 n_rounds = 2)$views, "v")
})

test_that("each argument that is not what was asked for is named", {
  sim <- small(10)
  expect_error(co_boost(y = sim$y), "`x`", class = "granary_error_input")
  expect_error(co_boost(sim$x), "`y`", class = "granary_error_input")
  expect_error(co_boost(sim$x$view1, sim$y), "is list\\(x\\)", class = "granary_error_input")
  expect_error(co_boost(list(sim$x[[1]], sim$x[[2]][-1]), sim$y), "same cases", class = "granary_error_input")
  expect_error(co_boost(sim$x, sim$y[-1]), "one label per case", class = "granary_error_input")
  expect_error(co_boost(sim$x, sim$y, learner = "lda"), "has sequences", class = "granary_error_input")
  expect_error(co_boost(sim$x, sim$y, share = 0), "share", class = "granary_error_input")
  expect_error(co_boost(sim$x, sim$y, share = c(0.1, 0.2, 0.3)), "one for each of the 2 views",
               class = "granary_error_input")
  expect_error(co_boost(sim$x, sim$y, k = c(first = 1, second = 2)), "names of `k`", class = "granary_error_input")
  expect_error(co_boost(sim$x, sim$y, views = list(1, 2)), "needs no `views`", class = "granary_error_input")
  expect_error(co_boost(iris[1:4], iris$Species), "`views`", class = "granary_error_input")
  expect_error(co_boost(iris[1:4], iris$Species, views = list(1:2, 5)), "columns", class = "granary_error_input")
  expect_error(co_boost(iris[1:4], iris$Species, views = list(c(1, 1))), "twice", class = "granary_error_input")
  expect_error(co_boost(sim$x, sim$y, rounds = 3), "no argument `rounds`", class = "granary_error_input")
  expect_error(co_boost(sim$x, sim$y, weights = 1:3), "each case", class = "granary_error_input")
  broken <- sim$x
  broken$view2[[4]][2, 3] <- NA
  expect_error(co_boost(broken, sim$y), "row 2 of case \"4\"", class = "granary_error_input")
  expect_s3_class(quick(list(x = broken, y = sim$y), na = "skip", n_rounds = 1), "granary_co_boost")
  named <- lapply(sim$x, stats::setNames, paste0("c", 1:24))
  named$view2 <- rev(named$view2)
  expect_error(co_boost(named, sim$y), "another order", class = "granary_error_input")
  expect_error(co_boost(rep(list(as.matrix(iris[1:2])), 13), iris$Species), "at most 12", class = "granary_error_input")
  fit <- quick(sim, n_rounds = 1)
  expect_error(predict(fit, sim$newx[1]), "must have the 2 views", class = "granary_error_input")
  expect_error(predict(fit, sim$newx[[1]][[1]]), "list of the 2 views", class = "granary_error_input")
  expect_error(predict(fit, sim$newx, n_rounds = 5), "n_rounds", class = "granary_error_input")
  expect_error(predict(fit, type = "staged"), "newdata", class = "granary_error_input")
  fit$model$alpha <- fit$model$alpha[-1]
  expect_error(predict(fit, sim$newx), "damaged", class = "granary_error_input")
})

test_that("a fit prints, sums up and draws", {
  fit <- quick(small(11))
  expect_output(print(fit), "2 views, 5 rounds, 3 classes")
  expect_output(print(summary(fit)), "share of the votes")
  expect_equal(sum(summary(fit)$views$share), 1)
  expect_equal(nrow(tidy(fit)), 12)
  expect_equal(glance(fit)$n_rounds, 5)
  expect_equal(nobs(fit), 24)
  expect_equal(nrow(augment(fit)), 24)
  path <- tempfile(fileext = ".png")
  grDevices::png(path)
  for (what in c("course", "columns", "weights")) plot(fit, what = what)
  grDevices::dev.off()
  expect_gt(file.size(path), 1000)
  skip_if_not_installed("ggplot2")
  for (what in c("course", "columns", "weights")) expect_s3_class(ggplot2::autoplot(fit, what = what), "ggplot")
})

test_that("skeletons do not depend on place, direction and size, and twelve joints make 138 numbers", {
  set.seed(1)
  frames <- matrix(rnorm(6 * 60), 6)
  pairs <- cbind(1:19, 2:20)
  full <- skeleton_features(frames, origin = 3, plane = c(1, 5, 9), pairs = pairs, joints = 1:12)
  expect_equal(dim(full), c(6, 138))
  expect_equal(unname(full[1, 70:138]), rep(0, 69))
  expect_equal(skeleton_features(3 * frames - 4, origin = 3, plane = c(1, 5, 9), pairs = pairs, joints = 1:12), full,
               tolerance = 1e-9)
  cube <- aperm(array(frames, c(6, 3, 20)), c(1, 3, 2))
  expect_equal(skeleton_features(cube, origin = 3, plane = c(1, 5, 9), pairs = pairs, joints = 1:12), full)
  angle <- 0.8
  turn <- rbind(c(cos(angle), 0, sin(angle)), c(0, 1, 0), c(-sin(angle), 0, cos(angle)))
  turned <- t(apply(frames, 1, function(f) as.vector(turn %*% matrix(f, 3))))
  expect_equal(skeleton_features(turned, origin = 3, plane = c(1, 5, 9), pairs = pairs, joints = 1:12), full,
               tolerance = 1e-9)
  gone <- frames
  gone[2, 4] <- NA
  part <- skeleton_features(gone, origin = 3, plane = c(1, 5, 9), pairs = pairs)
  expect_equal(which(rowSums(is.na(part)) > 0), 2:3)
  both <- skeleton_features(list(a = frames, b = frames[1:2, ]), origin = 3, plane = c(1, 5, 9), pairs = pairs,
                            speed = FALSE)
  expect_equal(lapply(both, dim), list(a = c(6L, 117L), b = c(2L, 117L)))
  expect_error(skeleton_features(frames[, 1:10], 1, 1:3, pairs), "three columns", class = "granary_error_input")
  expect_error(skeleton_features(frames, 21, 1:3, pairs), "origin", class = "granary_error_input")
  expect_error(skeleton_features(frames, 1, c(1, 1, 2), pairs), "plane", class = "granary_error_input")
  expect_error(skeleton_features(frames, 1, 1:3, 1:3), "pairs", class = "granary_error_input")
  expect_error(skeleton_features(frames, 1, 1:3, pairs, joints = 0), "joints", class = "granary_error_input")
  expect_error(skeleton_features(matrix(1, 2, 9), 1, 1:3, cbind(1, 2)), "on a line", class = "granary_error_input")
})

test_that("the simulator says what it draws", {
  sim <- views(12, n = 2, n_test = 1, n_classes = 3, n_views = 3, p = 5, length = c(4, 6))
  expect_length(sim$x, 3)
  expect_true(all(vapply(sim$x[[3]], nrow, 0L) %in% 4:6))
  expect_equal(vapply(sim$x[[1]], nrow, 0L), vapply(sim$x[[2]], nrow, 0L))
  expect_equal(as.vector(table(sim$newy)), rep(1L, 3))
  expect_equal(dim(views(1, n = 2, n_test = 0, n_classes = 2, length = 1)$x[[1]]), c(4, 20))
  expect_error(sim_co_boost(length = c(5, 2)), "length", class = "granary_error_input")
  expect_error(sim_co_boost(informative = 30), "informative", class = "granary_error_input")
  expect_error(sim_co_boost(classes = 3), "classes", class = "granary_error_input")
})
