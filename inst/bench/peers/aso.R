# Rscript aso.R <file for the results, .rds>
#
# Times aso() beside package RMTL (trace norm and joint sparsity, convex relatives of the same idea) on tasks with designs of their own, and beside
# glmnet with
# family "mgaussian" (group lasso over tasks) on a shared design; both from the library GRANARY_PEERS. The models differ, so the accuracy column is
# the
# mean squared error of the weights against the truth, each method at the best of five penalties by that error: what the model can do. One
# thread; CPU seconds of all five fits.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
peers <- c(mtl = "RMTL", net = "glmnet")
cpu <- function(run) {
  time <- system.time(value <- run())
  list(seconds = sum(time[c("user.self", "sys.self")]), value = value)
}
rows <- list()
note <- function(problem, method, timed) {
  rows[[length(rows) + 1L]] <<- data.frame(problem = problem, method = method, cpu_seconds = timed$seconds, error = timed$value)
  print(rows[[length(rows)]], row.names = FALSE)
}
quiet_aso <- function(...) suppressWarnings(aso(..., threads = 1))
best <- function(values, error) min(vapply(values, error, 0))

for (tasks in c(20L, 60L)) {
  set.seed(1)
  sim <- sim_aso(p = 100, tasks = tasks, n = 40, h = 5)
  truth <- function(u) mean(colSums((u - sim$u)^2))
  problem <- sprintf("own designs, %d tasks, 40 x 100", tasks)
  grid <- c(0.1, 0.3, 1, 3, 10)
  note(problem, "ridge (aso, h = 0)", cpu(function() best(grid, function(l) truth(quiet_aso(sim$x, sim$y, h = 0, lambda = l, loss = "squared",
                                                                                            intercept = FALSE)$u))))
  note(problem, "aso, h = 5", cpu(function() best(grid, function(l) truth(quiet_aso(sim$x, sim$y, h = 5, lambda = l, loss = "squared",
                                                                                    intercept = FALSE)$u))))
  if (requireNamespace(peers[["mtl"]], quietly = TRUE)) {
    mtl <- getExportedValue(peers[["mtl"]], "MTL")
    for (kind in c("Trace", "L21")) {
      note(problem, paste("RMTL,", kind), cpu(function() best(c(0.02, 0.05, 0.1, 0.2, 0.5), function(l) {
        fit <- mtl(sim$x, lapply(sim$y, matrix), type = "Regression", Regularization = kind, Lam1 = l, Lam2 = 0)
        truth(fit$W)
      })))
    }
  }
}

set.seed(2)
p <- 200L
tasks <- 40L
x <- matrix(rnorm(150 * p), 150)
u <- matrix(rnorm(p * 3), p) %*% matrix(rnorm(3 * tasks), 3) / sqrt(p)
y <- x %*% u + 0.5 * matrix(rnorm(150 * tasks), 150)
truth <- function(estimate) mean(colSums((estimate - u)^2))
problem <- "shared design, 40 tasks, 150 x 200"
note(problem, "aso, h = 3", cpu(function() best(c(0.1, 0.3, 1, 3, 10), function(l) truth(quiet_aso(x, y, h = 3, lambda = l, loss = "squared",
                                                                                                   intercept = FALSE)$u))))
if (requireNamespace(peers[["net"]], quietly = TRUE)) {
  net <- getExportedValue(peers[["net"]], "glmnet")
  for (alpha in 0:1) {
    note(problem, sprintf("glmnet mgaussian, alpha = %d, 100 penalties", alpha), cpu(function() {
      fit <- net(x, y, family = "mgaussian", alpha = alpha, intercept = FALSE, standardize = FALSE)
      min(vapply(seq_along(fit$lambda), function(k) truth(vapply(fit$beta, function(b) as.double(b[, k]), numeric(p))), 0))
    }))
  }
}
results <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(results, output)
