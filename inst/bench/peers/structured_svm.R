# Rscript structured_svm.R <file for the results, .rds>
#
# Times structured_svm() with classes as outputs beside the multiclass machines of Crammer and Singer: LIBLINEAR (package LiblineaR, from the library
# GRANARY_PEERS) and kernlab's "spoc-svc", same cost and same tolerance of the violation, without intercept; and bmrm (in CRAN's archive), a bundle
# method, same objective, which stops at a relative gap of 0.01. No package in R trains chains,
# alignments or trees with a loss: for label sequences the conditional random field of crfsuite stands beside ours if it is there, and the rows of
# structured_svm() and structured_baseline() are for comparison. One thread; CPU seconds, best of three for classes, one run for the others.
# Accuracy columns: primal objective reached (for kernlab it is not to be had) and error on new data.
#
# On sparse classes structured_svm() stays behind LIBLINEAR, which keeps all classes of a row in one array and no list of cuts. What serves outputs
# that cannot be listed costs here: each cut has its own vector of features, made when it is added.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
cpu <- function(run, times = 3L) {
  seconds <- Inf
  for (k in seq_len(times)) {
    time <- system.time(value <- run())
    seconds <- min(seconds, sum(time[c("user.self", "sys.self")]))
  }
  list(seconds = seconds, value = value)
}
rows <- list()
note <- function(data, method, seconds, objective, error) {
  rows[[length(rows) + 1L]] <<- data.frame(data = data, method = method, cpu_seconds = seconds, objective = objective, test_error = error)
  print(rows[[length(rows)]], row.names = FALSE)
}
primal <- function(w, x, y, cost) {
  scores <- as.matrix(x %*% w)
  at <- cbind(seq_along(y), as.integer(y))
  right <- scores[at]
  scores[at] <- -Inf
  sum(w^2) / 2 + cost * sum(pmax(0, 1 + apply(scores, 1L, max) - right))
}
has <- function(package) requireNamespace(package, quietly = TRUE)

classes <- function(label, x, y, new_x, new_y, cost, kernel_peer) {
  n <- nrow(x)
  for (tol in c(0.1, 0.01, 0.001)) {
    problem <- output_multiclass(x, y, intercept = FALSE)
    timed <- cpu(function() structured_svm(problem, cost = cost * n, penalty = "linear", rescale = "none", tol = tol, threads = 1))
    fit <- timed$value
    note(label, sprintf("structured_svm, tol %g", tol), timed$seconds, primal(coef(fit), x, y, cost), mean(predict(fit, new_x) != new_y))
    if (has("LiblineaR") && (!isS4(x) || has("SparseM"))) {
      train <- getExportedValue("LiblineaR", "LiblineaR")
      data <- if (isS4(x)) getExportedValue("SparseM", "as.matrix.csr")(as.matrix(x)) else x
      set.seed(1)
      timed <- cpu(function() train(data, y, type = 4, cost = cost, epsilon = tol, bias = 0))
      w <- t(timed$value$W)
      colnames(w) <- timed$value$ClassNames
      w <- w[, levels(y)]
      note(label, sprintf("LiblineaR, Crammer-Singer, epsilon %g", tol), timed$seconds, primal(w, x, y, cost),
           mean(levels(y)[max.col(as.matrix(new_x %*% w), "first")] != new_y))
    }
  }
  if (kernel_peer && has("bmrm")) {
    bundle <- getExportedValue("bmrm", "nrbm")
    risk <- getExportedValue("bmrm", "softMarginVectorLoss")
    timed <- cpu(function() {
      utils::capture.output(w <- bundle(risk(x, y), LAMBDA = 1 / cost))  # it talks
      matrix(w, ncol(x))
    }, 1L)
    w <- timed$value
    note(label, "bmrm, soft margin vector loss", timed$seconds, primal(w, x, y, cost), mean(levels(y)[max.col(new_x %*% w, "first")] != new_y))
  }
  if (kernel_peer && has("kernlab")) {
    ksvm <- getExportedValue("kernlab", "ksvm")
    timed <- cpu(function() ksvm(x, y, type = "spoc-svc", kernel = "vanilladot", kpar = list(), C = cost, scaled = FALSE, tol = 0.1), 1L)
    note(label, "kernlab, spoc-svc, tol 0.1", timed$seconds, NA, mean(getExportedValue("kernlab", "predict")(timed$value, new_x) != new_y))
  }
}

set.seed(1)
make <- function(d, k, spread = 0.3) {
  centre <- matrix(rnorm(k * d), k)
  function(n) {
    y <- factor(rep_len(seq_len(k), n), seq_len(k))
    x <- spread * centre[as.integer(y), ] / sqrt(d) * 4 + matrix(rnorm(n * d), n) / sqrt(d)
    list(x = x, y = y)
  }
}
draw <- make(30, 5)
small <- draw(1000)
new <- draw(2000)
classes("1000 x 30, 5 classes", small$x, small$y, new$x, new$y, 1, TRUE)
draw <- make(50, 10)
large <- draw(10000)
new <- draw(2000)
classes("10000 x 50, 10 classes", large$x, large$y, new$x, new$y, 1, FALSE)

# Like text: 3000 documents of some 50 words out of 10000, 8 classes.
text <- function(n) {
  y <- factor(rep_len(1:8, n), 1:8)
  words <- lapply(as.integer(y), function(k) unique(pmax(1, pmin(10000, round(10000 * c(rbeta(40, 0.5, 1.5), (k - 1 + rbeta(10, 1, 1)) / 8))))))
  x <- Matrix::sparseMatrix(i = rep(seq_len(n), lengths(words)), j = unlist(words), x = 1 / sqrt(rep(lengths(words), lengths(words))),
                            dims = c(n, 10000), dimnames = list(NULL, paste0("w", 1:10000)))
  list(x = methods::as(methods::as(x, "generalMatrix"), "CsparseMatrix"), y = y)
}
documents <- text(3000)
new <- text(2000)
classes("3000 x 10000 sparse, 8 classes", documents$x, documents$y, new$x, new$y, 1, FALSE)

# Label sequences: 5 labels, 200 symbols, 300 sequences of 25.
chains <- function(n) {
  y <- lapply(seq_len(n), function(i) Reduce(function(s, k) if (runif(1) < 0.7) s else sample.int(5L, 1L), seq_len(24), accumulate = TRUE, 1L))
  x <- lapply(y, function(s) paste0("w", pmin(200, pmax(1, round(rnorm(25, 40 * s - 20, 35))))))
  list(x = x, y = lapply(y, function(s) letters[s]))
}
set.seed(2)
train <- chains(300)
test <- chains(300)
label <- "300 sequences of 25, 5 labels, 200 symbols"
problem <- output_chain(train$x, train$y, intercept = FALSE)
wrong <- function(fit) mean(unlist(lapply(suppressWarnings(predict(fit, test$x)), as.character)) != unlist(test$y))
for (rescale in c("margin", "slack", "none")) {
  timed <- cpu(function() structured_svm(problem, cost = 30, penalty = "linear", rescale = rescale, threads = 1), 1L)
  note(label, paste("structured_svm, linear,", rescale), timed$seconds, timed$value$primal, wrong(timed$value))
}
timed <- cpu(function() structured_baseline(problem, "perceptron"))
note(label, "structured_perceptron, 20 epochs", timed$seconds, NA, wrong(timed$value))
timed <- cpu(function() structured_baseline(problem, "crf", cost = 300, threads = 1), 1L)
note(label, "structured_crf", timed$seconds, timed$value$objective, wrong(timed$value))
if (has("crfsuite")) {
  crf <- getExportedValue("crfsuite", "crf")
  frame <- data.frame(word = unlist(train$x), label = unlist(train$y), id = rep(seq_along(train$x), lengths(train$x)))
  file <- tempfile()
  timed <- cpu(function() crf(y = frame$label, x = frame["word"], group = frame$id, method = "lbfgs", file = file,
                              options = list(c1 = 0, c2 = 0.5, max_iterations = 1000, epsilon = 1e-6)))
  new <- data.frame(word = unlist(test$x), id = rep(seq_along(test$x), lengths(test$x)))
  guess <- stats::predict(timed$value, newdata = new["word"], group = new$id)
  note(label, "crfsuite, lbfgs", timed$seconds, NA, mean(guess$label != unlist(test$y)))
}
timed <- cpu(function() structured_baseline(problem, "generative"))
note(label, "structured_generative (hidden Markov model)", timed$seconds, NA, wrong(timed$value))
results <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(results, output)
