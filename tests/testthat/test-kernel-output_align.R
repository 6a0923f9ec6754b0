candidates_of <- function(sim) list(native = sim$native, candidates = Map(function(h, d) c(list(h), d), sim$homolog, sim$decoys))

test_that("smith_waterman() finds worked alignments and refuses nonsense", {
  a <- smith_waterman("ACGT", "AGT", score = c(2, -1), gap = -1)
  expect_identical(a$score, 5)
  expect_identical(a$steps, "MDMM")
  expect_identical(a$start, c(1L, 1L))
  expect_identical(paste(a$y, collapse = ""), "A-GT")
  expect_output(print(a), "score 5.*ACGT.*A-GT")
  expect_identical(smith_waterman("ACGT", "AGT", score = c(2, -1), gap = -5)$start, c(3L, 2L))
  # affine gaps: one long gap instead of two short ones
  long <- smith_waterman("AACCCCAA", "AAAA", score = c(3, -9), gap = -3, gap_extend = 0)
  expect_identical(long$steps, "MMDDDDMM")
  expect_identical(long$score, 9)
  score <- matrix(-1, 2, 2, dimnames = list(c("u", "v"), c("u", "v")))
  diag(score) <- 1
  expect_identical(smith_waterman(c("u", "v"), c("v", "u"), score)$score, 1)
  expect_identical(smith_waterman(c(1, 2), c(2, 3))$steps, "M")
  none <- smith_waterman("A", "B")
  expect_identical(none$score, 0)
  expect_output(print(none), "score 0")
  expect_error(smith_waterman("", "A"), "`x`", class = "granary_error_input")
  expect_error(smith_waterman("A", NULL), "`y`", class = "granary_error_input")
  expect_error(smith_waterman("AB", "A", score[1, 1, drop = FALSE]), "\"A\" is missing", class = "granary_error_input")
  expect_error(smith_waterman("A", "B", matrix(1)), "names of rows", class = "granary_error_input")
  expect_error(smith_waterman("A", "B", gap = NA), "`gap`", class = "granary_error_input")
})

test_that("simulated homologs are related as they say", {
  set.seed(1)
  sim <- sim_align(20)
  expect_identical(lengths(sim$homolog), rep(50L, 20))
  for (i in 1:20) {
    steps <- strsplit(sim$alignment[[i]]$steps, "")[[1]]
    expect_length(steps, 30)
    x <- sim$native[[i]][sim$alignment[[i]]$start[1] - 1 + cumsum(steps != "I")]
    y <- sim$homolog[[i]][sim$alignment[[i]]$start[2] - 1 + cumsum(steps != "D")]
    paired <- steps == "M"
    expect_true(all(y[paired] == x[paired] | y[paired] == x[paired] %% 20 + 1))
  }
  steps <- unlist(strsplit(vapply(sim$alignment, `[[`, "", "steps"), ""))
  expect_equal(as.double(table(steps)) / 600, c(0.2, 0.2, 0.6), tolerance = 0.15)
  expect_error(sim_align(0), "`n`", class = "granary_error_input")
  expect_error(sim_align(1, operations = 60), "`operations`", class = "granary_error_input")
  expect_error(sim_align(1, probability = c(0, 0, 0, 0)), "`probability`", class = "granary_error_input")
})

test_that("alignment scores are learnt, and the given alignments beat all with decoys by the margin", {
  set.seed(2)
  errors <- vapply(1:3, function(k) {
    sim <- sim_align(15)
    new <- candidates_of(sim_align(40))
    fit <- structured_svm(output_align(sim$native, sim$homolog, sim$decoys, sim$alignment, alphabet = 1:20), cost = 15 * 0.1)
    expect_true(fit$convergence$converged)
    c(mean(predict(fit, new) != 1), mean(predict(structured_baseline(fit$problem, "generative"), new) != 1))
  }, c(0, 0))
  expect_lt(mean(errors[1, ]), 0.3)  # guessing: 10 / 11
  expect_lt(mean(errors[2, ]), 0.4)
  sim <- sim_align(4)
  problem <- output_align(sim$native, sim$homolog, sim$decoys, sim$alignment, gap = "affine", alphabet = 1:20)
  fit <- structured_svm(problem, penalty = "hard", tol = 0.01)
  w <- coef(fit)
  for (i in 1:4) {
    others <- vapply(sim$decoys[[i]], function(d) smith_waterman(sim$native[[i]], d, w$substitution, w$gap[["open"]], w$gap[["extend"]])$score, 0)
    steps <- strsplit(sim$alignment[[i]]$steps, "")[[1]]
    x <- sim$native[[i]][sim$alignment[[i]]$start[1] - 1 + cumsum(steps != "I")]
    y <- sim$homolog[[i]][sim$alignment[[i]]$start[2] - 1 + cumsum(steps != "D")]
    pairs <- steps == "M"
    again <- c(FALSE, steps[-1] == steps[-30]) & !pairs
    own <- sum(w$substitution[cbind(x, y)[pairs, ]]) + sum(!pairs & !again) * w$gap[["open"]] + sum(again) * w$gap[["extend"]]
    expect_gt(own - max(others), 1 - 0.02)
  }
  expect_identical(predict(fit), rep(1L, 4))
  expect_identical(predict(fit, candidates_of(sim)), rep(1L, 4))
  expect_identical(structured_svm(problem, threads = 1)$weights, structured_svm(problem, threads = 2)$weights)
  expect_identical(structured_svm(problem, rescale = "slack")$weights, structured_svm(problem)$weights)  # zero-one loss: all the same
  set.seed(1)
  perceptron <- structured_baseline(problem, "perceptron", epochs = 50)
  expect_identical(predict(perceptron), rep(1L, 4))
  expect_output(print(problem), "decoys: +10")
  pdf(NULL)
  on.exit(dev.off())
  expect_invisible(plot(fit, type = "weights"))
})

test_that("log-odds scores are those of the counts", {
  problem <- output_align("ab", "ab", list("ba"), list(list(start = c(1, 1), steps = "MM")))
  fit <- structured_baseline(problem, "generative", gap = -0.3)
  pairs <- matrix(c(2, 1, 1, 2), 2) / 6
  expect_equal(coef(fit)$substitution, log(pairs / 0.25), ignore_attr = TRUE)
  expect_identical(coef(fit)$gap, c(gap = -0.3))
  expect_output(print(fit), "log-odds")
})

test_that("what is wrong with alignments is said", {
  good <- list(start = c(1, 1), steps = "MM")
  expect_error(output_align("ab", c("ab", "c"), list("ba"), list(good)), "`homolog`", class = "granary_error_input")
  expect_error(output_align("ab", "ab", "ba", list(good)), "`decoys`", class = "granary_error_input")
  expect_error(output_align("ab", "ab", list("ba"), good), "`alignment`", class = "granary_error_input")
  expect_error(output_align("ab", "ab", list("ba"), list(list(start = c(1, 2), steps = "MM"))), "beyond", class = "granary_error_input")
  expect_error(output_align("ab", "ab", list("ba"), list(list(start = c(1, 1), steps = "XM"))), "steps M, D and I", class = "granary_error_input")
  expect_error(output_align("ab", "ab", list("ba"), list(list(start = c(1, 1)))), "`start` and `steps`", class = "granary_error_input")
  expect_error(output_align("ab", "ab", list("ba"), list(good), alphabet = "a"), "\"b\" is missing", class = "granary_error_input")
  fit <- structured_svm(output_align("ab", "ab", list("ba"), list(good)))
  expect_error(predict(fit, "ab"), "`newdata`", class = "granary_error_input")
  expect_error(predict(fit, list(native = "ax", candidates = list("a"))), "\"x\" is not in it", class = "granary_error_input")
  expect_error(structured_baseline(fit$problem, "crf"), "output_chain", class = "granary_error_input")
  one <- smith_waterman("ab", "ab")
  expect_s3_class(output_align("ab", "ab", list("ba"), one), "granary_output_align")
})
