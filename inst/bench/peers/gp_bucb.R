# Times gp_bandit() against DiceOptim's batches by the kriging believer (max_qEI with constant liar). Rscript gp_bucb.R [output.rds]
#
# Seconds are processor time of one thread for one batch of five after `n` results. No other R package has GP-BUCB; the constant liar is what its
# users take for batches, on a box rather than a list, with the parameters of the process given to both. `lazy` counts how many variances were
# computed, relative to all.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
output <- commandArgs(trailingOnly = TRUE)[1L]
cpu <- function(run) {
  used <- system.time(value <- run())
  list(seconds = used[["user.self"]] + used[["sys.self"]], value = value)
}
rows <- list()
note <- function(setting, method, seconds, ours = NA, detail = "") {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, detail = detail)
  print(rows[[length(rows)]], row.names = FALSE)
}
has_peer <- requireNamespace("DiceOptim", quietly = TRUE) && requireNamespace("DiceKriging", quietly = TRUE)
grid <- as.matrix(expand.grid(seq(0, 1, length.out = 71), seq(0, 1, length.out = 71)))
colnames(grid) <- c("x1", "x2")
for (n in c(20L, 100L, 400L)) {
  set.seed(n)
  picks <- sample(nrow(grid), n)
  y <- -test_function("branin")(cbind(15 * grid[picks, 1] - 5, 15 * grid[picks, 2])) / 50
  search <- gp_bandit(grid, k_se(lengthscale = 0.3), 0.01, batch_size = 5)
  search$history <- data.frame(id = seq_len(n), candidate = picks, y = y, mean = 0, sd = 0, bound = 0, information = 0)
  setting <- sprintf("5041 candidates, n = %d", n)
  dense <- cpu(function() gp_bandit_suggest(search))
  note(setting, "gp_bucb, dense", dense$seconds, dense$seconds)
  search$lazy <- TRUE
  lazy <- cpu(function() gp_bandit_suggest(search))
  note(setting, "gp_bucb, lazy", lazy$seconds, dense$seconds,
       if (identical(lazy$value$batch$candidate, dense$value$batch$candidate)) "same choices" else "OTHER CHOICES")
  if (has_peer) {
    model <- getExportedValue("DiceKriging", "km")(~1, as.data.frame(grid[picks, ]), -y, covtype = "gauss", coef.cov = c(0.3, 0.3), coef.var = 1,
                                                    coef.trend = 0, noise.var = rep(0.01, n), control = list(trace = FALSE))
    liar <- tryCatch(cpu(function() {
      getExportedValue("DiceOptim", "max_qEI")(model, 5, lower = c(0, 0), upper = c(1, 1), crit = "CL", minimization = TRUE,
                                               optimcontrol = list(print.level = 0))
    }), error = function(e) list(seconds = NA, value = conditionMessage(e)))
    note(setting, "DiceOptim, constant liar", liar$seconds, dense$seconds, if (is.na(liar$seconds)) liar$value else "")
  }
}
sim <- gp_bandit(seq(0, 1, length.out = 1000), k_matern(1.5, lengthscale = 0.1, variance = 0.5), 0.025)
note("200 choices among 1000, ten runs", "simulate, batches of 5", cpu(function() simulate(sim, nsim = 10, n_rounds = 40))$seconds)
if (!is.na(output)) saveRDS(do.call(rbind, rows), output)
