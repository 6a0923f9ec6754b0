# Times dp_mixture() against BNPmix and dirichletprocess: CPU seconds of one thread per effective draw. Rscript dp_mixture.R [output.rds]
#
# The same Dirichlet process (concentration 1), the same normal-inverse-gamma or normal-inverse-Wishart prior, the same numbers of sweeps (dirichletprocess: 100, of which 80 are kept). The
# effective size, by one estimator for all (Geyer's initial positive sequence), is that of the number of clusters and of the entropy of the cluster sizes; the smaller counts. It is rough:
# seconds and effective sizes are means over four chains of different seeds where nothing else is said, and `per_draw` is the quotient of their sums. `clusters` is the posterior mean of the
# number of clusters: with the same posterior it must agree. Ours includes the choice of one partition. dirichletprocess draws its concentration; a sharp gamma law at 1 holds it there.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

effective <- function(x) {
  n <- length(x)
  if (stats::var(x) == 0) return(n)
  rho <- stats::acf(x, lag.max = n - 2, plot = FALSE)$acf[, 1, 1]
  pairs <- rho[seq(1, length(rho) - 1, 2)] + rho[seq(2, length(rho), 2)]
  stop <- which(pairs < 0)[1]
  if (is.na(stop)) stop <- length(pairs) + 1
  n / max(2 * sum(cummin(pairs[seq_len(stop - 1)])) - 1, 1 / n)
}
entropy <- function(labels) {
  p <- tabulate(labels + 1 - min(labels)) / length(labels)
  p <- p[p > 0]
  -sum(p * log(p))
}
rows <- list()
note <- function(setting, method, seconds, effective, clusters) {
  first <- which(vapply(rows, function(r) r$setting == setting, NA))
  per_draw <- sum(seconds) / sum(effective)
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = mean(seconds), effective = mean(effective), per_draw = per_draw,
                                           ratio = if (length(first) == 0L) 1 else per_draw / rows[[first[1L]]]$per_draw, clusters = mean(clusters))
  print(rows[[length(rows)]], row.names = FALSE, digits = 4)
}
# run(): the labels of one chain, draws x rows.
measure <- function(setting, method, run, seeds = 2:5) {
  of <- vapply(seeds, function(seed) {
    set.seed(seed)
    seconds <- cpu(labels <- run())
    count <- apply(labels, 1, function(l) length(unique(l)))
    c(seconds, min(effective(count), effective(apply(labels, 1, entropy))), mean(count))
  }, numeric(3))
  note(setting, method, of[1L, ], of[2L, ], of[3L, ])
}

set.seed(1)
three <- function(n) sim_dp_mixture(n, type = "three_normals")$x
settings <- list(list("faithful eruptions, 272 rows", faithful$eruptions, 4000, 1000), list("three normals, 1000 rows", three(1000), 3000, 1000),
                 list("faithful, 272 rows, 2 columns", as.matrix(faithful), 4000, 1000), list("iris, 150 rows, 4 columns", as.matrix(iris[1:4]), 4000, 1000))
for (s in settings) {
  x <- unname(as.matrix(s[[2L]]))
  p <- ncol(x)
  v <- apply(x, 2, var)
  hyper <- if (p == 1L) list(m0 = mean(x), k0 = 0.1, a0 = 2, b0 = 0.1 * v) else list(m0 = colMeans(x), k0 = 0.1, nu0 = p + 2, psi0 = diag(0.1 * v))
  ours <- function(n_draws = s[[3L]]) dp_mixture(x, prior = prior_dp(1), hyper = hyper, n_draws = n_draws, burn_in = s[[4L]], chains = 1)$partitions
  invisible(suppressWarnings(list(ours(50), ours(50))))  # R compiles functions when they are called again
  measure(s[[1]], "dp_mixture()", function() suppressWarnings(ours()))
  if (has("BNPmix")) {
    prior <- if (p == 1L) list(strength = 1, discount = 0, m0 = mean(x), k0 = 0.1, a0 = 2, b0 = 0.1 * v, hyper = FALSE) else
      list(strength = 1, discount = 0, m0 = colMeans(x), k0 = 0.1, n0 = p + 2, Sigma0 = diag(0.1 * v), hyper = FALSE)
    theirs <- function(method, draws = s[[3L]]) {
      BNPmix::PYdensity(if (p == 1L) x[, 1L] else x, prior = prior, output = list(out_type = "CLUST", out_param = FALSE),
                        mcmc = list(niter = draws + s[[4L]], nburn = s[[4L]], method = method, model = "LS", hyper = FALSE, print_message = FALSE))$clust
    }
    invisible(list(theirs("ICS", 50), theirs("ICS", 50)))
    measure(s[[1]], "BNPmix::PYdensity(), ICS", function() theirs("ICS"))
    measure(s[[1]], "BNPmix::PYdensity(), MAR, one chain", function() theirs("MAR"), 2)
  }
  if (has("dirichletprocess")) {
    few <- 100L
    set.seed(2)
    object <- if (p == 1L) dirichletprocess::DirichletProcessGaussian(x[, 1L], g0Priors = c(mean(x), 0.1, 2, 0.1 * v), alphaPriors = c(1e6, 1e6)) else
      dirichletprocess::DirichletProcessMvnormal(x, g0Priors = list(mu0 = colMeans(x), Lambda = diag(0.1 * v), kappa0 = 0.1, nu = p + 2), alphaPriors = c(1e6, 1e6))
    keep <- seq(few %/% 5L + 1L, few)
    measure(s[[1L]], "dirichletprocess::Fit(), one chain", function() do.call(rbind, dirichletprocess::Fit(object, few, progressBar = FALSE)$labelsChain[keep]), 2)
  }
}
if (!is.na(output)) saveRDS(do.call(rbind, rows), output)
