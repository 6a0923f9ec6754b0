# Times ec_ising() and ec_box() against other packages. Rscript ec.R [output.rds]
#
# Seconds are processor time of one thread, the smallest of three runs. Ising models: `error` is the mean error of P(x_i = 1) and
# `log_z_error` that of log Z, against enumeration (16 spins) or, for 100 spins, against 10000 Gibbs draws of 60 sweeps, whose own error is
# 0.004. No other R package has expectation consistency; belief propagation, TAP and mean field are granary's own. Boxes: `error` is that of
# the logarithm of the probability against a run of ec_box() with 400000 points (standard error in `reference_se`), `stated` what the
# method says of its own error, as one standard error. EP has a bias that does not shrink; it costs milliseconds and brings gradients and
# moments.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
output <- commandArgs(trailingOnly = TRUE)[1L]
has <- function(package) requireNamespace(package, quietly = TRUE)
peer <- function(package, name) getExportedValue(package, name)
cpu <- function(run) {
  best <- Inf
  for (k in 1:3) {
    used <- system.time(value <- suppressWarnings(run()))
    best <- min(best, used[["user.self"]] + used[["sys.self"]])
    if (best > 5) break
  }
  list(seconds = best, value = value)
}
results <- list(ising = NULL, boxes = NULL)
note <- function(table, row) {
  results[[table]] <<- rbind(results[[table]], row)
  print(row, row.names = FALSE)
}

ising <- function(setting, sim, truth, methods) {
  ours <- NULL
  for (name in methods) {
    ec <- name %in% c("tree", "factorized", "restricted")
    timed <- cpu(function() if (ec) ec_ising(sim$J, sim$theta, name) else ec_baseline(sim$J, sim$theta, name))
    if (is.null(ours)) ours <- timed$seconds
    fit <- timed$value
    note("ising", data.frame(setting, method = sprintf("%s(\"%s\")", if (ec) "ec_ising" else "ec_baseline", name), seconds = timed$seconds,
                             ratio = timed$seconds / ours, error = mean(abs(fit$prob - truth$prob)), log_z_error = fit$log_z - truth$log_z,
                             converged = fit$convergence$converged))
  }
}
set.seed(1)
for (graph in c("full", "grid")) {
  sim <- sim_ec_ising(graph, n = 16, size = if (graph == "full") 0.25 else 1)
  truth <- ec_baseline(sim$J, sim$theta)
  setting <- paste("16 spins,", graph)
  ising(setting, sim, truth, c("tree", "factorized", "restricted", "bethe", "tap", "mean_field", "exact"))
}
for (n in c(100, 400)) {
  set.seed(2)
  sim <- sim_ec_ising("gaussian", n = n, size = 0.6)
  truth <- if (n == 100) ec_baseline(sim$J, sim$theta, "gibbs", samples = 10000, sweeps = 60) else list(prob = NA, log_z = NA)
  ising(sprintf("%d spins, full", n), sim, truth, c("tree", "factorized", "restricted", "bethe", "tap", "mean_field", "gibbs"))
}

box <- function(setting, S, lower, upper) {
  n <- nrow(S)
  set.seed(9)
  reference <- ec_box(S, lower, upper, samples = 4e5)
  row <- function(method, timed, log_prob, stated, ours) {
    note("boxes", data.frame(setting, method, seconds = timed$seconds, ratio = timed$seconds / ours, log_prob,
                             error = log_prob - reference$mc_log_prob, stated,
                             reference_se = reference$mc_log_se))
  }
  ep <- cpu(function() ec_box(S, lower, upper, samples = 0))
  both <- cpu(function() ec_box(S, lower, upper, threads = 1))
  row("ec_box(), EP alone", ep, ep$value$log_prob, NA, both$seconds)
  row("ec_box(), EP of both", both, both$value$log_prob, abs(both$value$error) + both$value$mc_log_se, both$seconds)
  row("ec_box(), quasi-Monte Carlo of both", both, both$value$mc_log_prob, both$value$mc_log_se, both$seconds)
  if (has("mvtnorm")) {
    pmvnorm <- peer("mvtnorm", "pmvnorm")
    more <- peer("mvtnorm", "GenzBretz")(maxpts = 250000, abseps = 0, releps = 1e-4)
    stated <- function(value) attr(value, "error") / as.double(value) / 3.5  # it reports three and a half standard errors
    timed <- cpu(function() pmvnorm(lower, upper, sigma = S))
    row("mvtnorm::pmvnorm(), its defaults", timed, log(as.double(timed$value)), stated(timed$value), both$seconds)
    timed <- cpu(function() pmvnorm(lower, upper, sigma = S, algorithm = more))
    row("mvtnorm::pmvnorm(), 250000 points", timed, log(as.double(timed$value)), stated(timed$value), both$seconds)
  }
  if (has("TruncatedNormal")) {
    timed <- tryCatch(cpu(function() peer("TruncatedNormal", "pmvnorm")(mu = rep(0, n), sigma = S, lb = lower, ub = upper, B = 12000)),
                      error = function(e) NULL)
    if (!is.null(timed)) {
      stated <- attr(timed$value, "relerr")
      row("TruncatedNormal::pmvnorm(), minimax tilting", timed, log(as.double(timed$value)), if (is.null(stated)) NA else stated / 1.96,
          both$seconds)
    }
  }
}
for (n in c(10, 50, 100)) {
  set.seed(n)
  S <- crossprod(matrix(rnorm(2 * n * n), 2 * n)) / (2 * n) + diag(0.1, n)
  box(sprintf("dimension %d, -1 to 2", n), S, rep(-1, n), rep(2, n))
}
box("dimension 50, orthant, correlation 0.5", 0.5 + diag(0.5, 50), rep(0, 50), rep(Inf, 50))

if (!is.na(output)) saveRDS(results, output)
