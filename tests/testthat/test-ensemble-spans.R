# Spans of several systems: merging, voting, scores, agreement, calibration, stacking.

# The laptop page of the paper: Table 2 (right spans), Tables 4 to 6 (two systems).
laptop <- spans(data.frame(
  doc = "page", start = c(47, 56, 59, 63, 67, 76, 86), end = c(49, 58, 60, 67, 69, 78, 88),
  field = c("model", "screenSize", "screenType", "procName", "procSpeed", "ram", "HDcapacity")
))
first <- data.frame(doc = "page", start = c(47, 56, 59, 63, 67, 76, 81), end = c(49, 58, 60, 67, 69, 78, 83),
                    field = c("model", "screenSize", "screenType", "procName", "procSpeed", "ram", "ram"),
                    score = c(0.92, 0.83, 0.85, 0.67, 0.82, 0.91, 0.55))
second <- data.frame(doc = "page", start = c(47, 59, 63, 67, 76, 81, 86), end = c(49, 60, 66, 69, 78, 83, 88),
                     field = c("manuf", "screenType", "procName", "procSpeed", "ram", "HDcapacity", "HDcapacity"),
                     score = c(0.34, 0.91, 0.61, 0.79, 0.77, 0.89, 0.65))
merged <- span_merge(list(E1 = first, E2 = second), gold = laptop)

test_that("the merged template of the paper", {
  expect_equal(merged$n, 9)
  expect_equal(sum(merged$missed), 0)
  kind <- span_agreement(merged)$cells
  expect_equal(kind$spans, c(3, 4, 2))
  expect_equal(span_score(list(E1 = first, E2 = second), laptop)[c("precision", "recall")],
               data.frame(precision = c(6, 4) / 7, recall = c(6, 4) / 7))
  words <- tidy(merged)
  expect_equal(words$E2[words$start == 63 & words$end == 66], "procName")
  expect_true(is.na(words$gold[words$start == 63 & words$end == 66]))
  expect_equal(span_agreement(merged)$max_recall, c(vote = 1, stack = 1))
  expect_output(print(merged), "9 spans")
})

test_that("Table 6: probabilities as columns, and those of false", {
  z <- granary:::core_span_features(merged$field, unname(merged$score), length(merged$fields), TRUE)
  colnames(z) <- paste(rep(c("E1", "E2"), each = length(merged$fields) + 1), c(merged$fields, "false"))
  row <- which(merged$spans$start == 47)
  expect_equal(z[row, c("E1 model", "E1 false", "E2 manuf", "E2 false")], c(0.92, 0.08, 0.34, 0.66), ignore_attr = TRUE)
  expect_equal(rowSums(z), rep(2, 9))
  silent <- which(merged$field[, "E2"] == 0)
  expect_equal(unname(z[silent, "E2 false"]), rep(1, length(silent)))
})

test_that("Table 3: noisy or, and one span per document", {
  ram <- spans(data.frame(doc = "page", start = c(76, 76, 81), end = c(78, 78, 83), field = "ram", score = c(0.4, 0.5, 0.6), system = c("a", "b", "a")))
  vote <- span_vote(ram)
  expect_equal(vote$score, c(0.7, 0.6))
  once <- span_vote(ram, one_per_doc = "ram")
  expect_equal(once$start, 76)
  expect_equal(span_vote(ram, threshold = 0.65)$start, 76)
  two <- span_vote(rbind(as.data.frame(unclass(ram)), data.frame(doc = "page", start = 81, end = 83, field = "disk", score = 0.9, system = "b")), "fields")
  expect_equal(as.data.frame(unclass(two))[c("field", "score")], data.frame(field = c("ram", "disk", "ram"), score = c(0.7, 0.9, 0.6)))
  odds <- span_vote(ram, method = "odds", missing = "ignore")
  expect_equal(odds$score[1], plogis(qlogis(0.4) + qlogis(0.5)))
})

test_that("votes: properties", {
  set.seed(1)
  sim <- sim_spans(25)
  all <- span_merge(sim$spans, sim$gold)
  expect_identical(span_vote(all, threshold = 0), span_vote(all, missing = "ignore"))
  one <- sim$spans[sim$spans$system == "system1", ]
  key <- function(x) sort(paste(x$doc, x$start, x$end, x$field))
  for (method in c("prob", "majority", "odds")) {
    for (missing in c("ignore", "false")) {
      expect_equal(key(span_vote(one, method = method, missing = missing, threshold = 0)), key(one))
      copies <- span_merge(list(a = one[1:4], b = one[1:4], c = one[1:4]))
      if (method == "majority") expect_equal(key(span_vote(copies, method, missing)), key(one))
    }
  }
  certain <- sim$spans
  certain$score <- 1
  expect_equal(nrow(span_vote(certain, missing = "ignore")), all$n)
  # majority by hand
  said <- apply(all$field, 1, function(row) {
    counts <- tabulate(row[row > 0], length(all$fields))
    c(max(counts), sum(row == 0))
  })
  strict <- said[1, ] > said[2, ]
  voted <- span_vote(all, "majority", "false")
  expect_gte(nrow(voted), sum(strict))
  expect_lte(nrow(voted), sum(said[1, ] >= said[2, ]))
  set.seed(2)
  random <- span_vote(all, "majority", "false", ties = "random")
  expect_gte(nrow(random), sum(strict))
  set.seed(2)
  expect_identical(span_vote(all, "majority", "false", ties = "random"), random)
})

test_that("votes: more recall when silence is ignored, more precision when it counts against", {
  set.seed(3)
  sim <- sim_spans(150)
  score <- function(...) span_score(span_vote(sim$spans, ...), sim$gold)
  loose <- score(method = "majority", missing = "ignore")
  strict <- score(method = "majority", missing = "false")
  expect_gt(loose$recall, strict$recall)
  expect_gt(strict$precision, loose$precision)
})

test_that("ties go to the system that was right most often", {
  two <- data.frame(doc = "d", start = 1, end = 2, field = c("x", "y"), system = c("a", "b"), score = 0.5)
  expect_equal(span_vote(two, "majority", "ignore")$field, "x")
  expect_equal(span_vote(two, "majority", "ignore", prior = c(a = 0.2, b = 0.9))$field, "y")
  expect_equal(span_vote(two, prior = c(b = 0.9, a = 0.2))$field, "y")
})

test_that("scores: exact, overlap, fields, empty", {
  gold <- data.frame(doc = "d", start = c(0, 10, 20), end = c(4, 14, 24), field = c("x", "x", "y"))
  said <- data.frame(doc = "d", start = c(0, 11, 12, 20), end = c(4, 13, 14, 24), field = c("x", "x", "x", "x"))
  exact <- span_score(said, gold)
  expect_equal(unlist(exact[c("tp", "fp", "fn")], use.names = FALSE), c(1, 3, 2))
  near <- span_score(said, gold, match = "overlap")
  expect_equal(unlist(near[c("tp", "fp", "fn")], use.names = FALSE), c(2, 2, 1))
  by <- span_score(said, gold, by = "field")
  expect_equal(by$f, c(2 / 6, 0))
  expect_equal(exact$f_macro, mean(c(2 / 6, 0)))
  none <- span_score(spans(gold[0, ]), gold)
  expect_equal(c(none$tp, none$fn), c(0, 3))
  expect_true(is.na(none$precision))
})

test_that("agreement: conditional probabilities and subsets", {
  set.seed(4)
  sim <- sim_spans(30)
  all <- span_merge(sim$spans, sim$gold)
  found <- span_agreement(all, subsets = TRUE)
  right <- matrix(c("", all$fields)[all$field + 1], all$n) == ifelse(is.na(all$spans$gold), "?", all$spans$gold)
  expect_equal(unname(found$conditional[1, 2]), sum(right[, 1] & right[, 2]) / sum(right[, 2]))
  expect_equal(unname(diag(found$conditional)), rep(1, 3))
  expect_equal(nrow(found$subsets), 7)
  expect_equal(found$subsets$f[1], span_score(sim$spans, sim$gold)$f[1])
  expect_equal(found$max_recall[["stack"]], 1 - sum(all$missed) / nrow(sim$gold))
  expect_gte(found$max_recall[["stack"]], found$max_recall[["vote"]])
  expect_output(print(found), "Largest recall")
})

test_that("calibration: curves follow the truth, in both directions, and fall back", {
  set.seed(5)
  score <- runif(3000)
  correct <- runif(3000) < plogis(6 * score - 3)
  for (method in c("isotonic", "logistic", "bins")) {
    fit <- span_calibrate(score, correct, method)
    expect_lt(max(abs(predict(fit, c(0.2, 0.5, 0.8)) - plogis(6 * c(0.2, 0.5, 0.8) - 3))), 0.08)
    down <- span_calibrate(-score, correct, method, falling = TRUE)
    expect_equal(predict(down, -c(0.2, 0.5)), predict(fit, c(0.2, 0.5)), tolerance = 1e-8)
    expect_equal(predict(fit, NA_real_), (sum(correct) + 0.5) / 3001)
  }
  expect_equal(predict(span_calibrate(c(0.2, 0.7), c(FALSE, TRUE), "none"), c(0.3, 2)), c(0.3, 1))
  same <- span_calibrate(rep(3, 9), rep(c(TRUE, FALSE, TRUE), 3))
  expect_equal(predict(same, 3), 6.5 / 10)
  sim <- sim_spans(60)
  all <- span_merge(sim$spans, sim$gold)
  by <- span_calibrate(all, least = 1e6)  # one curve per system
  p <- predict(by, all)
  expect_true(all(is.na(p) == is.na(all$score)))
  own <- span_calibrate(all$score[all$field[, 1] > 0, 1], (c("", all$fields)[all$field[, 1] + 1] == ifelse(is.na(all$spans$gold), "?", all$spans$gold))[all$field[, 1] > 0])
  expect_equal(unname(p[all$field[, 1] > 0, 1]), predict(own, all$score[all$field[, 1] > 0, 1]))
  expect_output(print(by), "accuracy")
  expect_equal(nrow(tidy(by)), 3 + 3 * 5)
})

test_that("the stack is at least as good as votes and systems, and finds no more than there is", {
  set.seed(6)
  sim <- sim_spans(120)
  fit <- span_stack(sim$spans, sim$gold, folds = 5, n_rounds = 30)
  scores <- fit$scores
  own <- scores$f[scores$system == "stack"]
  expect_gt(own, max(scores$f[scores$system %in% paste0("system", 1:3)]))
  expect_gt(own, scores$f[scores$system == "vote, prob"] - 0.02)
  expect_lte(scores$recall[scores$system == "stack"], span_agreement(fit$merged)$max_recall[["stack"]])
  new <- sim_spans(60)
  expect_gt(span_score(predict(fit, new$spans), new$gold)$f, max(span_score(new$spans, new$gold)$f))
  prob <- predict(fit, new$spans, type = "prob")
  expect_equal(unname(rowSums(prob[-(1:3)])), rep(1, nrow(prob)), tolerance = 1e-6)
  expect_equal(fit$n, nrow(unique(sim$spans[c("doc", "start", "end")])))
  for (inputs in c("nominal", "per_field")) {
    other <- span_stack(sim$spans, sim$gold, folds = 4, n_rounds = 15, inputs = inputs)
    expect_gt(other$scores$f[other$scores$system == "stack"], 0.4)
    expect_gt(nrow(predict(other, new$spans)), 0)
  }
  for (meta in c("mlr", "logistic", "bayes", "nearest", "tree")) {
    other <- span_stack(sim$spans, sim$gold, folds = 3, meta = meta)
    expect_gt(other$scores$f[other$scores$system == "stack"], 0.35)
  }
  best <- span_stack(sim$spans, sim$gold, folds = 4, n_rounds = 15, threshold = "f")
  expect_equal(best$threshold, best$curve$threshold[which.max(best$curve$f)])
  expect_output(print(fit), "Out of fold")
  expect_output(print(summary(fit)), "By field")
})

test_that("folds are of documents: an extractor that remembers is no better than chance out of fold", {
  set.seed(7)
  docs <- paste0("d", 1:30)
  documents <- stats::setNames(as.list(docs), docs)
  gold <- data.frame(doc = rep(docs, each = 2), start = rep(c(1, 5), 30), end = rep(c(2, 6), 30), field = sample(c("x", "y"), 60, TRUE))
  memory <- list(
    fit = function(documents, gold) gold,
    extract = function(fit, documents) {
      at <- expand.grid(start = c(1, 5), doc = names(documents), stringsAsFactors = FALSE)
      known <- match(paste(at$doc, at$start), paste(fit$doc, fit$start))
      field <- ifelse(is.na(known), sample(c("x", "y"), nrow(at), TRUE), fit$field[known])
      data.frame(doc = at$doc, start = at$start, end = at$start + 1, field = field, score = 1)
    }
  )
  fit <- suppressWarnings(span_stack(list(memory = memory), gold, documents = documents, folds = 5, meta = "mlr"))
  expect_lt(fit$scores$precision[1], 0.75)
  again <- predict(fit, documents)
  expect_gt(nrow(again), 0)
  # in the sample itself it knows everything
  expect_equal(span_score(memory$extract(memory$fit(documents, gold), documents), gold)$f, 1)
})

test_that("rare fields are decided by vote, unknown systems and fields are told", {
  set.seed(8)
  sim <- sim_spans(40, fields = 3)
  odd <- data.frame(doc = "doc1", start = 900, end = 901, field = "seldom", score = 0.9, system = "system1")
  x <- spans(rbind(as.data.frame(unclass(sim$spans)), odd))
  gold <- spans(rbind(as.data.frame(unclass(sim$gold)), transform(odd, score = NA, system = "system")))
  fit <- span_stack(x, gold, folds = 3, n_rounds = 10)
  expect_equal(fit$rare, "seldom")
  new <- sim$spans[1:20, ]
  expect_warning(predict(fit, rbind(as.data.frame(unclass(new)), transform(odd, field = "never"))), "not among", class = "granary_warning_input")
  expect_warning(predict(fit, rbind(as.data.frame(unclass(new)), transform(odd, system = "other"))), "left out", class = "granary_warning_input")
  expect_equal(nrow(predict(fit, new[0, ])), 0)
  expect_equal(predict(fit, new[new$system == "system2", ])$system, rep("stack", nrow(predict(fit, new[new$system == "system2", ]))))
})

test_that("errors name what is wrong", {
  expect_error(spans(data.frame(doc = 1, start = 3, end = 3, field = "x")), "begin before", class = "granary_error_input")
  expect_error(spans(data.frame(doc = 1, start = 0.5, end = 3, field = "x")), "whole numbers", class = "granary_error_input")
  expect_error(spans(data.frame(doc = NA, start = 1, end = 3, field = "x")), "missing", class = "granary_error_input")
  expect_error(spans(data.frame(doc = 1, begin = 1, end = 3, field = "x")), "no column", class = "granary_error_input")
  twice <- data.frame(doc = 1, start = 1, end = 3, field = "x", score = c(0.2, 0.8))
  expect_warning(kept <- spans(twice), "more than once", class = "granary_warning_input")
  expect_equal(kept$score, 0.8)
  expect_warning(span_merge(transform(twice, field = c("x", "y"))), "two fields", class = "granary_warning_input")
  expect_error(span_merge(first, gold = transform(twice, field = c("x", "y"))), "two fields", class = "granary_error_input")
  expect_error(span_vote(transform(first, score = score * 5)), "probabilities", class = "granary_error_input")
  expect_error(span_agreement(span_merge(first)), "without `gold`", class = "granary_error_input")
  expect_error(span_calibrate(1:3), "`correct`", class = "granary_error_input")
  expect_error(span_stack(first, laptop, folds = 3), "two documents", class = "granary_error_input")
  expect_error(span_vote(merged, prior = c(a = 1, b = 2)), "systems", class = "granary_error_input")
  expect_error(sim_spans(precision = 0.5), "length 3", class = "granary_error_input")
})

test_that("plots", {
  set.seed(9)
  sim <- sim_spans(30)
  fit <- span_stack(sim$spans, sim$gold, folds = 3, n_rounds = 5)
  file <- tempfile(fileext = ".png")
  png(file)
  plot(fit$merged)
  plot(fit)
  plot(span_calibrate(fit$merged))
  dev.off()
  expect_gt(file.size(file), 0)
  expect_equal(glance(fit)$systems, 3)
  expect_equal(nobs(fit), fit$n)
  skip_if_not_installed("ggplot2")
  for (one in list(fit, fit$merged, fit$calibration)) expect_s3_class(ggplot2::autoplot(one), "ggplot")
})
