# Mukherjee and Schapire (2010): the counter-examples of the paper, exactly; its figures, which have no table, in kind on classes in a ring.

reference <- if ("source" %in% names(formals(claim))) function(...) claim(..., source = "reference") else claim

# Two rows, three classes, the answers "always 1" and "always 2".
check <- boost_check(cbind(c(1, 1), c(2, 2)), c(1, 2), levels = 1:3)
gamma <- stats::setNames(check$table$gamma, check$table$condition)
claim("SAMME's condition is met: its gamma", 0.25, gamma[["samme"]], 1e-9)
claim("and the pool cannot be boosted: M", 0, 2 * gamma[["mr"]], 1e-9)
claim("edge over random of that pool", -0.5, gamma[["uniform"]], 1e-9)

# AdaBoost.MH asks too much: every answer is right in (1/k + gamma) m rows. C = -1 on the true label, B the uniform baseline of MH with edge gamma.
k <- 4
g <- 0.05
m <- 20
right <- (1 / k + g) * m
claim("cost of such answers beyond MH's baseline, over m", 1 / 2 - 1 / k - g / 2, (-right + m * (1 + g) / 2) / m, 1e-12, "the paper leaves out the term in gamma")

# Promises of the strategies.
claim("two classes: the best factor of the fixed strategy is sqrt(1 - gamma^2)", sqrt(1 - 0.3^2), boost_bounds("factor", edge = 0.3, k = 2), 1e-12)
recursion <- function(rounds, baseline) {  # all counts of votes, from the last round back
  value <- function(t, s) if (t == 0) as.numeric(s[1] <= max(s[-1])) else sum(baseline * vapply(1:3, function(l) value(t - 1, s + (1:3 == l)), 0))
  value(rounds, c(0, 0, 0))
}
reference("exact potential, three classes, edge 0.2, 8 rounds, against the recursion", recursion(8, c(0.2 + 0.8 / 3, 0.8 / 3, 0.8 / 3)),
          boost_bounds("zero_one", edge = 0.2, k = 3, n_rounds = 8), 1e-12)

# Figures 1 and 2 in kind: many classes, trees of five leaves.
ring <- function(n, k) {
  y <- rep_len(seq_len(k), n)
  list(x = cbind(cos(2 * pi * y / k), sin(2 * pi * y / k)) + matrix(rnorm(2 * n, sd = 0.2), n), y = factor(letters[y]))
}
set.seed(1)
train <- ring(if (extended) 4000 else 1000, 10)
test <- ring(4000, 10)
error <- vapply(c("adaptive", "m1", "mh"), function(method) {
  fit <- suppressMessages(boost(train$x, train$y, method = method, n_rounds = if (extended) 500 else 100))
  mean(predict(fit, test$x) != test$y)
}, 0)
why <- "the paper has plots only, of data that are not here: ten classes in a ring, five leaves"
claim("test error of the adaptive booster", NA, error[["adaptive"]], 0, why)
claim("test error of AdaBoost.M1", NA, error[["m1"]], 0, why)
claim("test error of AdaBoost.MH", NA, error[["mh"]], 0, why)
claim("the adaptive booster errs at most half as often as AdaBoost.M1", TRUE, error[["adaptive"]] <= error[["m1"]] / 2, 0, why)

# Figure 1, letter: the data of the paper, from mlbench, parted at random.
if (extended && requireNamespace("mlbench", quietly = TRUE)) {
  shelf <- new.env()
  utils::data("LetterRecognition", package = "mlbench", envir = shelf)
  letters_data <- shelf$LetterRecognition
  set.seed(2)
  rows <- sample(nrow(letters_data), 4000)
  learn <- letters_data[-rows, ]
  check <- letters_data[rows, ]
  names(learn)[1] <- names(check)[1] <- "y"
  wrong <- vapply(c("adaptive", "m1", "samme"), function(method) {
    fit <- suppressMessages(boost(y ~ ., learn, method = method, n_rounds = 500, max_leaves = 5))
    mean(predict(fit, check) != check$y)
  }, 0)
  shown <- paste(names(wrong), format(wrong, digits = 3), collapse = ", ")
  claim("Figure 1, letter, five leaves: test error of the new method at most half of AdaBoost.M1's", TRUE, wrong[["adaptive"]] <= wrong[["m1"]] / 2, 0,
        sprintf("16000 rows to learn from, 4000 to check, 500 rounds: %s", shown))
  claim("Figure 1, letter, five leaves: test error of the new method below that of SAMME", TRUE, wrong[["adaptive"]] < wrong[["samme"]], 0, shown)
} else {
  claim("Figure 1, letter, five leaves: test error of the new method at most half of AdaBoost.M1's", TRUE, NA, 0, "in the extended run, with mlbench")
}

# AdaBoost.M2 for answers of one label is the same machine.
set.seed(4)
pool <- replicate(15, ifelse(stats::runif(1000) < 0.4, as.character(train$y[1:1000]), sample(letters[1:10], 1000, TRUE)))
one <- suppressMessages(boost(pool, train$y[1:1000], learner = "pool", n_rounds = 10))
sets <- suppressMessages(boost(pool, train$y[1:1000], learner = "pool", method = "m2", n_rounds = 10))
reference("the adaptive booster and AdaBoost.M2 on answers of one label: largest difference of their steps", 0, max(abs(one$alpha - sets$alpha)), 1e-12)
