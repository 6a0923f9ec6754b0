# Times bayes_opt() against DiceOptim, rBayesianOptimization and laGP. Rscript bayes_opt.R [output.rds]
#
# Seconds are processor time of one thread for the whole run, the function itself costing nothing, the smallest of `runs` seeds; `gap` is the mean of
# best - optimum over the seeds, all methods with the same number of evaluations, and `times_ours` the seconds over those of granary.
# The loop around laGP is no optimiser but a bare minimum: one likelihood search per step, and expected improvement at random candidates without any
# refinement. It is faster than granary, whose time goes into DIRECT, gradients and several starts, and ends further from the optimum on Branin.
# The table `suggestion` gives seconds per suggestion of granary in five dimensions.

peers_library <- Sys.getenv("GRANARY_PEERS", "build/peers")
if (dir.exists(peers_library)) .libPaths(c(.libPaths(), peers_library))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
output <- commandArgs(trailingOnly = TRUE)[1L]
has <- function(package) requireNamespace(package, quietly = TRUE)
runs <- 3
rows <- list()
measure <- function(setting, method, run, optimum) {
  seconds <- Inf
  gaps <- numeric()
  for (seed in seq_len(runs)) {
    set.seed(seed)
    used <- system.time(utils::capture.output(best <- suppressWarnings(run())))
    seconds <- min(seconds, used[["user.self"]] + used[["sys.self"]])
    gaps <- c(gaps, best - optimum)
  }
  first <- Find(function(row) row$setting == setting, rows)
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, gap = mean(gaps),
                                           times_ours = if (is.null(first)) 1 else seconds / first$seconds)
  print(rows[[length(rows)]], row.names = FALSE)
}

problems <- list(list("Branin, 5 + 45", branin, 0.397887, 5, 45), list("Hartmann-6, 10 + 40", hartmann6, -3.32237, 10, 40))
for (problem in problems) {
  setting <- problem[[1L]]
  f <- problem[[2L]]
  optimum <- problem[[3L]]
  n_init <- problem[[4L]]
  n_iter <- problem[[5L]]
  box <- attr(f, "box")
  d <- nrow(box)
  design <- function() {
    unit <- vapply(seq_len(d), function(k) (sample(n_init) - runif(n_init)) / n_init, numeric(n_init))
    sweep(sweep(unit, 2L, box[, 2L] - box[, 1L], "*"), 2L, box[, 1L], "+")
  }
  measure(setting, "granary", function() bayes_opt(f, box[, 1], box[, 2], n_init = n_init, n_iter = n_iter)$best_y, optimum)
  measure(setting, "granary, hedge(ei, lcb, pi)", function() {
    bayes_opt(f, box[, 1], box[, 2], n_init = n_init, n_iter = n_iter, criterion = "hedge(ei, lcb, pi)")$best_y
  }, optimum)
  if (has("DiceOptim") && has("DiceKriging") && d == 2L) {  # with six inputs a run takes minutes
    measure(setting, "DiceOptim, EGO.nsteps", function() {
      x <- as.data.frame(design())
      names(x) <- paste0("x", seq_len(d))
      model <- getExportedValue("DiceKriging", "km")(design = x, response = f(as.matrix(x)), covtype = "matern5_2", control = list(trace = FALSE))
      end <- getExportedValue("DiceOptim", "EGO.nsteps")(model, function(p) f(as.numeric(p)), nsteps = n_iter, lower = box[, 1L], upper = box[, 2L],
                                                         control = list(print.level = 0))
      min(end$lastmodel@y)
    }, optimum)
  }
  if (has("laGP")) {
    # Expected improvement over random candidates with a Gaussian process of package laGP, as in its documentation.
    measure(setting, "laGP, EI over 500 d candidates", function() {
      get <- function(name) getExportedValue("laGP", name)
      scaled <- function(x) sweep(sweep(x, 2L, box[, 1L]), 2L, box[, 2L] - box[, 1L], "/")
      x <- scaled(design())
      back <- function(u) sweep(sweep(u, 2L, box[, 2L] - box[, 1L], "*"), 2L, box[, 1L], "+")
      y <- f(back(x))
      for (k in seq_len(n_iter)) {
        z <- (y - mean(y)) / sd(y)
        gp <- get("newGPsep")(x, z, d = rep(0.25, d), g = 1e-6, dK = TRUE)
        get("mleGPsep")(gp, param = "d", tmin = 1e-3, tmax = 10)
        candidates <- matrix(runif(500 * d * d), ncol = d)
        p <- get("predGPsep")(gp, candidates, lite = TRUE)
        s <- sqrt(p$s2)
        u <- (min(z) - p$mean) / s
        best <- candidates[which.max((min(z) - p$mean) * pnorm(u) + s * dnorm(u)), , drop = FALSE]
        get("deleteGPsep")(gp)
        x <- rbind(x, best)
        y <- c(y, f(back(best)))
      }
      min(y)
    }, optimum)
  }
  if (has("rBayesianOptimization")) {
    measure(setting, "rBayesianOptimization, EI", function() {
      bounds <- stats::setNames(lapply(seq_len(d), function(k) box[k, ]), paste0("x", seq_len(d)))
      objective <- function(...) list(Score = -f(c(...)), Pred = 0)
      formals(objective) <- c(stats::setNames(rep(alist(a = ), d), names(bounds)))
      body(objective) <- bquote(list(Score = -f(c(..(lapply(names(bounds), as.name)))), Pred = 0), splice = TRUE)
      -getExportedValue("rBayesianOptimization", "BayesianOptimization")(objective, bounds, init_points = n_init, n_iter = n_iter, acq = "ei",
                                                                         verbose = FALSE)$Best_Value
    }, optimum)
  }
}

suggestion <- do.call(rbind, lapply(c(50, 100), function(n) {
  f <- function(x) sum((x - 0.4)^2) + 0.1 * sum(cos(9 * x))
  set.seed(1)
  used <- system.time(fit <- bayes_opt(f, rep(0, 5), rep(1, 5), n_init = 10, n_iter = n - 10))
  data.frame(inputs = 5, evaluations = n, seconds_per_suggestion = (used[["user.self"]] + used[["sys.self"]]) / (n - 10), best = fit$best_y)
}))
print(suggestion, row.names = FALSE)
if (!is.na(output)) saveRDS(list(peers = do.call(rbind, rows), suggestion = suggestion), output)
