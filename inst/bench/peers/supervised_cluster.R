# Times supervised_cluster() and its scores against mclust and aricode. Rscript supervised_cluster.R [output.rds]
#
# No package clusters new rows after labelled clusters when new clusters must be expected. Beside it stand what one would use instead: a classifier of pairs with average
# linkage (our baseline, as in the paper), a Dirichlet process mixture without the labels (ours, and that of dirichletprocess), and mclust with the number of clusters chosen by
# BIC, all on the rows that are to be clustered. CPU seconds of one thread; `value` is F over pairs of these rows, the mean over data sets. The data are pluses (footnote
# 9 of the paper) and draws of the model; `rate` is 0.05 for the pluses, as in the reproduction. Scores of 10^6 rows are timed against aricode.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
if (has("mclust")) mclustBIC <- mclust::mclustBIC  # Mclust() calls it by name

pair_f <- function(cluster, truth) {
  both <- sum(choose(table(cluster, truth), 2))
  2 * both / (sum(choose(table(cluster), 2)) + sum(choose(table(truth), 2)))
}
rows <- list()
note <- function(setting, method, seconds, ours, value) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, value = formatC(value, digits = 4L, format = "g"))
  print(rows[[length(rows)]], row.names = FALSE)
}
sets <- list(`pluses, 240 rows, 12 clusters` = function() sim_supervised_cluster(240, k = 12),
             `the model, 300 rows, 4 columns` = function() sim_supervised_cluster(300, "model"))
for (setting in names(sets)) {
  times <- scores <- list()
  for (seed in 1:5) {
    set.seed(seed)
    sim <- sets[[setting]]()
    known <- ifelse(sim$train, sim$cluster, NA)
    open <- !sim$train
    x <- sim$x[open, ]
    truth <- sim$cluster[open]
    run <- function(name, code, of = function(fit) fit$cluster[open]) {
      seconds <- cpu(fit <- suppressWarnings(code))
      times[[name]] <<- c(times[[name]], seconds)
      scores[[name]] <<- c(scores[[name]], pair_f(of(fit), truth))
    }
    run("supervised_cluster()", supervised_cluster(sim$x, known, rate = if (ncol(x) == 2L) 0.05 else 1, n_draws = 500, burn_in = 500))
    run("classifier of pairs (ours)", supervised_cluster_baseline(sim$x, known, "binary"))
    whole <- function(fit) fit$cluster
    run("dp_mixture(), no labels", dp_mixture(x, n_draws = 500, burn_in = 500), whole)
    if (has("mclust")) run("mclust, no labels", mclust::Mclust(x, 1:15, verbose = FALSE), function(fit) fit$classification)
    if (has("dirichletprocess") && seed == 1L) {
      run("dirichletprocess, no labels, 100 sweeps, one data set", dirichletprocess::Fit(dirichletprocess::DirichletProcessMvnormal(scale(x)), 100, progressBar = FALSE),
          function(fit) fit$clusterLabels)
    }
  }
  for (name in names(times)) note(setting, name, mean(times[[name]]), mean(times[[1L]]), mean(scores[[name]]))
}
set.seed(1)
truth <- sample(500L, 1e6, TRUE)
cluster <- ifelse(runif(1e6) < 0.7, truth, sample(500L, 1e6, TRUE))
seconds <- cpu(found <- cluster_agreement(cluster, truth))
note("agreement of 10^6 rows", "cluster_agreement(), adjusted Rand index", seconds, seconds, found$ari)
if (has("aricode")) note("agreement of 10^6 rows", "aricode::ARI()", cpu(value <- aricode::ARI(cluster, truth)), seconds, value)
if (has("mclust")) note("agreement of 10^6 rows", "mclust::adjustedRandIndex()", cpu(value <- mclust::adjustedRandIndex(cluster, truth)), seconds, value)
saveRDS(do.call(rbind, rows), output)
