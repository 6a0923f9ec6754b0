# Crammer, Kandola and Singer (2003): Theorem 1 and the figures. The figures are of three data sets that are not shipped; their claims are checked on simulated
# data, and numbers of an independent prototype on data that everybody has.

# For numbers that are not the paper's.
reference <- if ("source" %in% names(formals(claim))) function(...) claim(..., source = "reference") else claim

external <- "needs the data set, which is not shipped; read off Figure 4"
for (row in list(c("mnist, MIRA, test error, per cent", 1.8), c("mnist, adaptive", 1.4), c("usps, MIRA", 4.7), c("usps, adaptive", 4.3))) {
  claim(paste("Figure 4,", row[1L]), as.numeric(row[2L]), NA, NA, external)
}

# Letter, of package mlbench: 16000 letters to learn from, 4000 to test, exp(-0.05 |x - z|^2). The width is the first one tried; the paper's is not printed.
if (requireNamespace("mlbench", quietly = TRUE)) {
  holder <- new.env()
  utils::data("LetterRecognition", package = "mlbench", envir = holder)
  x <- as.matrix(holder$LetterRecognition[-1L])
  y <- holder$LetterRecognition$lettr
  first <- 1:16000
  wrong <- function(fit) 100 * mean(predict(fit, x[-first, ]) != y[-first])
  batch <- wrong(svm(x[first, ], y[first], gamma = 0.05, cost = 10, standardize = FALSE))
  learner <- function(...) budget_perceptron(x[first, ], y[first], update = "mira", gamma = 0.05, standardize = FALSE, ...)
  small <- learner()
  all <- learner(removal = "max_margin")
  claim("Figure 4, letter, SVM, test error, per cent", 2.3, batch, 0.3, "read off the figure")
  claim("Figure 4, letter: the adaptive version is somewhat worse than the SVM", TRUE, wrong(small) > batch && wrong(small) < 2 * batch, 0,
        sprintf("%.2f per cent", wrong(small)))
  claim("Figure 4, letter: the adaptive cache is smaller than MIRA's without removal, and errs no more", TRUE,
        small$support < all$support && wrong(small) <= wrong(all) + 0.2, 0, sprintf("%d and %d examples", small$support, all$support))
} else {
  claim("Figure 4, letter, SVM, test error, per cent", 2.3, NA, NA, "needs the data of package mlbench")
}

# Theorem 1: 500 points on the unit sphere in five dimensions with |x_1| > 0.1, label sign(x_1), linear kernel.
draws <- if (extended) 200L else 40L
sphere <- function() {
  x <- matrix(rnorm(2500), 500)
  x <- x / sqrt(rowSums(x^2))
  x[abs(x[, 1]) > 0.1, ]
}
set.seed(1)
sizes <- replicate(draws, {
  x <- sphere()
  y <- sign(x[, 1])
  run <- function(...) budget_perceptron(x, y, kernel = "linear", ..., standardize = FALSE)
  adaptive <- run()
  wide <- run(beta = 0.5)
  gamma <- budget_bounds("margin", x, y, kernel = "linear")$gamma
  c(adaptive$support, run(removal = "max_margin")$support, wide$support, adaptive$largest / budget_bounds("cache", adaptive$radius, gamma, 0.01),
    wide$largest / budget_bounds("cache", wide$radius, gamma, 0.5), budget_bounds("cache", 1, 0.1, 0.01))
})
prototype <- sprintf("the number is of an independent prototype, not of the paper; mean of %d draws", draws)
reference("Sphere, beta = 0.01: examples in the adaptive cache", 13.7, mean(sizes[1, ]), 1, prototype)
reference("Sphere, beta = 0.01: examples without removal", 14.4, mean(sizes[2, ]), 1, prototype)
reference("Sphere, beta = 0.5: examples in the adaptive cache", 29.6, mean(sizes[3, ]), 1.5, prototype)
claim("Theorem 1: share of runs with a cache within the bound, beta = 0.01", 1, mean(sizes[4, ] <= 1), 0)
claim("Theorem 1: share of runs with a cache within the bound, beta = 0.5", 1, mean(sizes[5, ] <= 1), 0)
claim("Theorem 1: (R^2 + 2 beta) / gamma^2 with gamma = 0.1", 102, sizes[6, 1], 1e-9)

# iris, versicolor against virginica, rows in turn, exp(-|x - z|^2) on scaled petals.
two <- iris[51:150, ]
turn <- as.vector(rbind(1:50, 51:100))
x <- scale(two[, c("Petal.Length", "Petal.Width")])[turn, ]
y <- droplevels(two$Species)[turn]
runs <- list(
  "no removal" = list(fit = budget_perceptron(x, y, kernel = k_rbf(1), removal = "max_margin", standardize = FALSE), paper = c(9, 8)),
  "fixed, 5" = list(fit = budget_perceptron(x, y, kernel = k_rbf(1), removal = "max_margin", budget = 5, standardize = FALSE), paper = c(5, 25)),
  "fixed, 10" = list(fit = budget_perceptron(x, y, kernel = k_rbf(1), removal = "max_margin", budget = 10, standardize = FALSE), paper = c(9, 8)),
  "adaptive" = list(fit = budget_perceptron(x, y, kernel = k_rbf(1), standardize = FALSE), paper = c(9, 13))
)
for (name in names(runs)) {
  note <- "the number is of an independent prototype, not of the paper"
  reference(paste("iris,", name, "- examples"), runs[[name]]$paper[1L], runs[[name]]$fit$support, 0, note)
  reference(paste("iris,", name, "- online mistakes"), runs[[name]]$paper[2L], runs[[name]]$fit$mistakes, 0, note)
}

# What the text says of Figures 4 and 5, on ten classes of clustered points in eight dimensions, MIRA as in the paper (margin parameter 0.01, one pass).
set.seed(2)
n <- if (extended) 8000L else 2000L
centres <- matrix(rnorm(30 * 8, sd = 1.3), 30)
clusters <- function(n) {
  which <- sample(30L, n, TRUE)
  list(x = centres[which, ] + matrix(rnorm(8 * n, sd = 0.6), n), y = factor(which %% 10))
}
train <- clusters(n)
test <- clusters(4000L)
path <- budget_path(train$x, train$y, round(n * c(0.01, 0.02, 0.05, 0.1, 0.15, 0.2)), n_rep = 3, update = "mira", gamma = 0.1, newdata = test$x,
                    newy = test$y, standardize = FALSE)
mira <- budget_perceptron(train$x, train$y, removal = "max_margin", update = "mira", gamma = 0.1, standardize = FALSE)
adaptive <- budget_perceptron(train$x, train$y, update = "mira", gamma = 0.1, standardize = FALSE)
simulated <- "a sentence of the text, on simulated clusters"
claim("Figure 5: rank correlation of online and test error over budgets", 1, cor(path$online_error, path$new_error, method = "spearman"), 0.15, simulated)
claim("Figure 4: the adaptive cache ends smaller than MIRA's without removal", TRUE, adaptive$support < mira$support, 0, simulated)
claim("Figure 4: the adaptive version inserts more examples", TRUE, adaptive$margin_errors > mira$margin_errors, 0, simulated)
claim("Figure 4: adaptive and unlimited MIRA, difference of test errors", 0,
      mean(predict(adaptive, test$x) != test$y) - mean(predict(mira, test$x) != test$y), 0.02, simulated)
large <- path$budget >= 0.1 * n
claim("Figure 4: the fixed-size curve is flat over large budgets, range of test errors", 0, diff(range(path$new_error[large])), 0.02, simulated)
