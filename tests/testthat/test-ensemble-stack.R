# LogitBoost, stacking of classifiers, the extractor.

test_that("LogitBoost: one round of one stump by hand", {
  x <- cbind(a = c(1, 2, 3, 4, 5, 6))
  y <- c("no", "no", "yes", "no", "yes", "yes")
  fit <- logitboost(x, y, n_rounds = 1, folds = NULL)
  # p = 1/2: z = 4 (y - 1/2) = +-2, w = 1/4; the best split of the stump has the least squared error
  z <- ifelse(y == "yes", 2, -2)
  cuts <- 1:5
  left <- cuts[which.min(vapply(cuts, function(k) sum((z[1:k] - mean(z[1:k]))^2) + sum((z[(k + 1):6] - mean(z[(k + 1):6]))^2), 0))]
  f <- ifelse(1:6 <= left, mean(z[1:left]), mean(z[(left + 1):6]))
  # binary: F = f / 2, p = 1 / (1 + exp(-2 F))
  expect_equal(unname(predict(fit, type = "prob")[, "yes"]), plogis(f))
  expect_equal(fit$loss[1:2], c(log(2), -mean(log(ifelse(y == "yes", plogis(f), 1 - plogis(f))))))
})

test_that("LogitBoost: three classes by hand, in three rounds", {
  x <- as.matrix(iris[c(1:20, 51:70, 101:120), 1:4])
  y <- droplevels(iris$Species[c(1:20, 51:70, 101:120)])
  fit <- logitboost(x, y, n_rounds = 3, folds = NULL)
  stump <- function(z, w) {
    best <- NULL
    for (j in 1:4) {
      for (cut in head(sort(unique(x[, j])), -1)) {
        low <- x[, j] <= cut
        a <- weighted.mean(z[low], w[low])
        b <- weighted.mean(z[!low], w[!low])
        gain <- sum(w[low]) * a^2 + sum(w[!low]) * b^2
        if (is.null(best) || gain > best$gain + 1e-9) best <- list(gain = gain, f = ifelse(low, a, b))
      }
    }
    best$f
  }
  F <- matrix(0, 60, 3)
  p <- matrix(1 / 3, 60, 3)
  for (round in 1:3) {
    f <- sapply(1:3, function(j) {
      is <- as.integer(y) == j
      v <- pmax(p[, j] * (1 - p[, j]), 1e-10)
      stump(pmin(pmax((is - p[, j]) / v, -4), 4), v)
    })
    F <- F + 2 / 3 * (f - rowMeans(f))
    p <- exp(F) / rowSums(exp(F))
  }
  expect_equal(unname(predict(fit, type = "prob")), unname(p), tolerance = 1e-8)
})

test_that("LogitBoost learns, chooses its rounds, and does not depend on threads", {
  set.seed(1)
  x <- matrix(rnorm(400 * 5), 400, dimnames = list(NULL, letters[1:5]))
  y <- rbinom(400, 1, plogis(2 * x[, 1] - x[, 2]))
  fit <- logitboost(x, y, n_rounds = 80, folds = 5, threads = 1)
  expect_lt(fit$rounds, 80)
  expect_equal(fit$rounds, which.min(fit$held_out) - 1L)
  expect_equal(names(which.max(fit$importance)), "a")
  set.seed(1)
  x2 <- matrix(rnorm(400 * 5), 400, dimnames = list(NULL, letters[1:5]))
  y2 <- rbinom(400, 1, plogis(2 * x2[, 1] - x2[, 2]))
  again <- logitboost(x2, y2, n_rounds = 80, folds = 5, threads = 2)
  expect_identical(again$core$trees, fit$core$trees)
  expect_identical(again$held_out, fit$held_out)
  expect_lt(assess(fit)$error, 0.25)
  sparse <- logitboost(Matrix::Matrix(x * (abs(x) > 1), sparse = TRUE), y, n_rounds = 5, folds = NULL)
  dense <- logitboost(x * (abs(x) > 1), y, n_rounds = 5, folds = NULL)
  expect_equal(predict(sparse, type = "prob"), predict(dense, type = "prob"))
  expect_equal(predict(fit, rounds = 0, type = "prob")[1, ], c(`0` = 0.5, `1` = 0.5))
  often <- rep(1:2, 200)
  weighted <- logitboost(x, y, weights = often, n_rounds = 5, folds = NULL)
  repeated <- logitboost(x[rep(1:400, often), ], y[rep(1:400, often)], n_rounds = 5, folds = NULL)
  expect_equal(predict(weighted, x, type = "prob"), predict(repeated, x, type = "prob"), tolerance = 1e-6)
  expect_output(print(fit), "LogitBoost")
  expect_output(print(summary(fit)), "rows of the fit")
  expect_error(logitboost(x, rep(1, 400)), "two classes", class = "granary_error_input")
  expect_error(logitboost(x, y, n_round = 3, foo = 1), class = "granary_error_input")
  expect_equal(predict(logitboost(Species ~ ., iris, n_rounds = 20), iris[c(1, 60, 140), ]), iris$Species[c(1, 60, 140)])
})

# Two learners that know different halves of the truth.
half_learner <- function(columns) {
  list(fit = function(x, y) logitboost(x[, columns, drop = FALSE], y, n_rounds = 15, folds = NULL),
       predict = function(fit, x) predict(fit, x[, columns, drop = FALSE], type = "prob"))
}

test_that("stacks of classifiers: every combination is better than its parts here", {
  set.seed(2)
  x <- matrix(rnorm(300 * 4), 300, dimnames = list(NULL, letters[1:4]))
  y <- factor(ifelse(x[, 1] + x[, 2] > 0.5, "u", ifelse(x[, 3] + x[, 4] > 0, "v", "w")))
  learners <- list(left = half_learner(1:2), right = half_learner(3:4))
  for (features in c("prob", "class", "stackingc", "extended", "attributes", "arbiter", "hybrid")) {
    fit <- stack_classifiers(x, y, learners, features = features, folds = 4, n_rounds = 15)
    own <- fit$scores$error[fit$scores$learner == "stack"]
    expect_lt(own, max(fit$scores$error[1:2]))
    expect_equal(dim(predict(fit, x, type = "prob")), c(300, 3))
    expect_lt(mean(predict(fit, x) != y), max(fit$scores$error[1:2]))
  }
  for (meta in c("mlr", "logistic", "bayes", "nearest", "tree")) {
    fit <- stack_classifiers(x, y, learners, meta = meta, folds = 4)
    expect_equal(unname(rowSums(predict(fit, x[1:5, ], type = "prob"))), rep(1, 5))
  }
  expect_output(print(fit), "Out of fold")
  expect_output(print(summary(fit)), "disagree")
  own <- stack_classifiers(x, y, learners, meta = half_learner(1:6), folds = 4)
  expect_equal(own$meta_kind, "own")
  expect_s3_class(predict(own, x[1:4, ]), "factor")
})

test_that("multi-response linear regression is lm() for each class, with weights of at least 0 where asked", {
  set.seed(3)
  x <- matrix(rnorm(120 * 3), 120, dimnames = list(NULL, letters[1:3]))
  y <- factor(sample(c("u", "v", "w"), 120, TRUE, prob = c(0.5, 0.3, 0.2)))
  fit <- stack_classifiers(x, y, list(one = half_learner(1:2), two = half_learner(2:3)), meta = "mlr", folds = 3)
  z <- do.call(cbind, fit$held_out)
  fitted <- cbind(1, z) %*% coef(fit)
  for (j in 1:3) expect_equal(unname(fitted[, j]), unname(fitted(lm((y == levels(y)[j]) ~ z))), tolerance = 1e-4)
  bound <- stack_classifiers(x, y, list(one = half_learner(1:2), two = half_learner(2:3)), meta = "mlr", folds = 3, nonnegative = TRUE)
  expect_gte(min(coef(bound)[-1, ]), 0)
  single <- stack_classifiers(x, y, list(one = half_learner(1:3)), meta = "mlr", features = "stackingc", folds = 3)
  expect_equal(dim(coef(single)), c(1, 3))
})

test_that("out-of-fold predictions come from learners that have not seen the row", {
  set.seed(4)
  x <- cbind(id = 1:60)
  y <- sample(c("u", "v"), 60, TRUE)
  memory <- list(fit = function(x, y) list(id = x[, 1], y = as.character(y)), predict = function(fit, x) {
    at <- match(x[, 1], fit$id)
    ifelse(is.na(at), sample(c("u", "v"), nrow(x), TRUE), fit$y[at])
  })
  fit <- stack_classifiers(x, y, list(memory = memory), meta = "mlr", folds = 6)
  expect_gt(fit$scores$error[1], 0.25)
  expect_equal(mean(memory$predict(fit$fits$memory, x) == y), 1)
})

test_that("methods of the package are learners by name; groups of rows share a fold; errors", {
  set.seed(5)
  fit <- stack_classifiers(Species ~ ., iris, learners = c("forest", "logitboost"), folds = rep(1:3, 50), n_rounds = 10)
  expect_gt(mean(predict(fit, iris) == iris$Species), 0.9)
  expect_equal(levels(predict(fit, iris[1:3, ])), levels(iris$Species))
  x <- as.matrix(iris[1:4])
  expect_error(stack_classifiers(x, iris$Species, "forestt"), "no classifier", class = "granary_error_input")
  expect_error(stack_classifiers(x, iris$Species, list(a = 1)), "two functions", class = "granary_error_input")
  expect_error(stack_classifiers(x, iris$Species, "forest", meta = "what"), "meta", class = "granary_error_input")
  expect_error(stack_classifiers(x, iris$Species, "forest", nonnegative = TRUE), "mlr", class = "granary_error_input")
  wrong <- list(fit = function(x, y) 1, predict = function(fit, x) "u")
  expect_error(stack_classifiers(x, iris$Species, list(w = wrong)), "each of the", class = "granary_error_input")
})

test_that("the field model finds what it has seen", {
  text <- c("talk by Ada Byron at noon", "talk by Alan Turing in room 5", "lunch at noon", "talk by Grace Hopper at noon", "dinner in room 7")
  words <- strsplit(text, " ")
  tokens <- data.frame(doc = rep(paste0("d", 1:5), lengths(words)), token = unlist(words))
  gold <- data.frame(doc = c("d1", "d2", "d4", "d2", "d5"), start = c(2, 2, 2, 6, 3), end = c(4, 4, 4, 7, 4),
                     field = c("speaker", "speaker", "speaker", "room", "room"))
  fit <- span_hmm(tokens, gold)
  expect_equal(span_score(predict(fit, tokens), gold)$f, 1)
  new <- predict(fit, data.frame(doc = "new", token = c("talk", "by", "John", "Tukey", "in", "room", "9")))
  expect_equal(new[c("start", "end", "field")], data.frame(start = c(6L, 2L), end = c(7L, 4L), field = c("room", "speaker")), ignore_attr = TRUE)
  expect_true(all(new$score > 0))
  expect_output(print(fit), "speaker")
  expect_error(span_hmm(tokens, transform(gold, end = 50)), "outside the document", class = "granary_error_input")
  expect_error(span_hmm(tokens, transform(gold[1, ], doc = "q")), "no tokens", class = "granary_error_input")
  expect_error(span_hmm(tokens[c(1, 9, 2), ], gold), "stand together", class = "granary_error_input")
  expect_error(span_hmm(list(), gold), "data frame", class = "granary_error_input")
})

test_that("the field model's path is the most probable of all paths", {
  set.seed(6)
  words <- c("a", "b", "c")
  tokens <- data.frame(doc = rep(paste0("d", 1:30), each = 6), token = sample(words, 180, TRUE))
  start <- which(tokens$token == "b")
  start <- start[start %% 6 != 0]
  start <- start[!duplicated(tokens$doc[start])]
  gold <- data.frame(doc = tokens$doc[start], start = (start - 1) %% 6, end = (start - 1) %% 6 + 1, field = "x")
  fit <- span_hmm(tokens, gold, before = 1, inside = 1, after = 1)
  model <- fit$models$x
  sequence <- c("a", "b", "c", "a", "b")
  code <- granary:::word_codes(sequence, fit$vocabulary)
  paths <- as.matrix(expand.grid(rep(list(1:4), 5)))
  value <- apply(paths, 1, function(s) model$initial[s[1]] + sum(model$emission[cbind(s, code)]) + sum(model$transition[cbind(s[-5], s[-1])]))
  best <- paths[which.max(value), ]
  found <- predict(fit, data.frame(doc = "new", token = sequence))
  inside <- rle(best == 3)
  expect_equal(nrow(found), sum(inside$values))
  expect_equal(found$start, unname(cumsum(inside$lengths) - inside$lengths)[unname(inside$values)])
})

test_that("an extractor in a stack", {
  set.seed(7)
  names <- c("Ada", "Alan", "Grace", "John", "Mary", "Emmy")
  make <- function(i) c(sample(c("so", "then", "today"), 1), "talk", "by", sample(names, 1), sample(c("at", "in"), 1), sample(c("noon", "town"), 1))
  words <- lapply(1:20, make)
  tokens <- data.frame(doc = rep(paste0("d", 1:20), each = 6), token = unlist(words))
  gold <- data.frame(doc = paste0("d", 1:20), start = 3, end = 4, field = "speaker")
  hmm <- function(...) list(fit = function(documents, gold) span_hmm(documents, gold, ...), extract = function(fit, documents) predict(fit, documents))
  fit <- span_stack(list(short = hmm(before = 1, inside = 1, after = 1), long = hmm()), gold, documents = tokens, folds = 4, meta = "mlr")
  expect_gt(fit$scores$f[fit$scores$system == "stack"], 0.8)
  expect_equal(nrow(predict(fit, data.frame(doc = "n", token = c("then", "talk", "by", "Ada", "at", "noon")))), 1)
})
