# van der Maaten (2014). The paper's data (MNIST, CIFAR, SVHN, TIMIT) are not at hand; what it finds is checked on normal groups in 50 dimensions and on iris.
groups <- function(n, apart = 3, d = 50) {
  label <- sample(10, n, TRUE)
  list(x = matrix(rnorm(10 * d, sd = apart), 10)[label, ] + matrix(rnorm(n * d), n), label = label)
}

# Experiment 1: quality as a function of theta. Groups that overlap, so that errors are not zero.
set.seed(1)
sim <- groups(if (extended) 5000L else 1500L, apart = 0.75)
p <- tsne_affinity(sim$x, perplexity = 50)
run <- function(...) {
  fit <- tsne(sim$x, perplexity = 50, max_iter = 500, ...)
  c(cost = tsne_gradient(p, fit)$cost, error = assess(fit, truth = sim$label)$error)
}
reference <- run(theta = 0)
tree <- run(theta = 0.5)
coarse <- run(theta = 1)
dual <- run(method = "dual_tree", theta = 0.2)
claim("Experiment 1: 1-NN error with theta 0.5 as without a tree (difference)", 0, tree[["error"]] - reference[["error"]], 0.02, "the paper's figure 3, on MNIST, shows no difference")
claim("Experiment 1: 1-NN error of the dual tree with theta 0.2 as without a tree (difference)", 0, dual[["error"]] - reference[["error"]], 0.02)
claim("Cost with theta 0.5 over that without a tree", 1, tree[["cost"]] / reference[["cost"]], 0.03, "Z over all pairs for both", source = "reference")
claim("Cost with theta 1 over that without a tree", 1, coarse[["cost"]] / reference[["cost"]], 0.1, "Z over all pairs for both", source = "reference")

# Experiment 2: the time of the tree grows as n log n, that of all pairs as n^2; errors stay.
sizes <- 1000 * 2^(0:(if (extended) 4L else 2L))
seconds <- vapply(sizes, function(n) {
  set.seed(2)
  x <- groups(n)$x
  fit <- tsne(x, pca = 0, max_iter = 250, threads = 1)
  time <- function(theta) {  # of an iteration, between the calls after 50 and 100
    clock <- numeric()
    tsne(x, pca = 0, init = fit, exaggeration_iter = 0, theta = theta, max_iter = 100, threads = 1, callback = function(...) {
      used <- proc.time()
      clock <<- c(clock, used[["user.self"]] + used[["sys.self"]])
    })
    diff(clock) / 50
  }
  c(tree = time(0.5), exact = time(0))
}, c(tree = 0, exact = 0))
growth <- function(t) exp(stats::coef(stats::lm(log(t) ~ log(sizes)))[[2L]] * log(2))
claim("Experiment 2: seconds of an iteration by the tree, factor when n doubles", NA, growth(seconds["tree", ]), NA, "n log n is about 2.2; entries of P, in proportion to n, take a part of it")
claim("Experiment 2: seconds of an iteration by all pairs, factor when n doubles", NA, growth(seconds["exact", ]), NA, "n^2 is 4")
claim("Experiment 2: the tree is faster than all pairs at the largest n (1 = yes)", 1, as.numeric(seconds["tree", length(sizes)] < seconds["exact", length(sizes)]), 0)
set.seed(3)
sim <- groups(if (extended) 10000L else 3000L)
claim("Ten groups in 50 dimensions with centres of variance 9: 1-NN error", 0, assess(tsne(sim$x, max_iter = 500), truth = sim$label)$error, 0, source = "reference")

# Section 4: the tree's gradient goes down, and its Z is too small.
fit <- tsne(iris[1:4])
p <- tsne_affinity(iris[1:4])
y <- matrix(stats::runif(300, -10, 10), 150)
exact <- tsne_gradient(p, y, theta = 0)
tree <- tsne_gradient(p, y, theta = 0.5)
claim("Section 6: cosine of the tree's gradient with the exact one, random map of iris, at least .99", 1, sum(exact$gradient * tree$gradient) / sqrt(sum(exact$gradient^2) * sum(tree$gradient^2)), 0.01)
at <- tsne_gradient(p, fit, theta = 0.5)
claim("Cost of the map of iris, Z over all pairs; Rtsne's maps have .127 to .139", 0.133, fit$cost, 0.015, "150 rows with one duplicate; perplexity 30, theta .5", source = "reference")
claim("The same with Z of the tree is smaller (1 = yes)", 1, as.numeric(at$cost < fit$cost), 0, sprintf("%.4f against %.4f", at$cost, fit$cost), source = "reference")
claim("1-NN error of the map of iris; Rtsne's maps have .027 to .047", 0.037, assess(fit, truth = iris$Species)$error, 0.0101, source = "reference")
claim("Cost of the exact map of iris; Rtsne's with theta 0 have .123 to .128", 0.1255, tsne(iris[1:4], method = "exact")$cost, 0.008, "all pairs in P too", source = "reference")
claim("MNIST, 70000 rows: seconds; 1-NN error", NA, NA, NA, "751 s on a laptop of 2014 and about 5 percent in the paper; the data are not at hand")
