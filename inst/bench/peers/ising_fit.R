# Rscript ising_fit.R <file for the results, .rds>
#
# Times ising_fit() against IsingFit (one glmnet path per variable with EBIC, in R) on one thread, 5000 rows of 100 variables.
# CPU seconds of the R process. IsingFit only plots with qgraph; nothing is plotted here. The recovery of the true graph stands beside the times: a
# fast wrong
# answer is no answer.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
n <- 5000L
p <- 100L

set.seed(1)
truth <- sim_ising(p, density = 2 / p, n = NULL, size = 0.4)
x <- simulate(truth, nsim = n)
binary <- (x + 1) / 2
right <- truth$W[upper.tri(truth$W)] != 0
score <- function(W) {
  found <- W[upper.tri(W)] != 0
  c(edges = sum(found), recall = sum(found & right) / sum(right), precision = sum(found & right) / max(1, sum(found)))
}
rows <- list()
add <- function(name, seconds, W, note) rows[[length(rows) + 1L]] <<- data.frame(method = name, seconds = seconds, t(score(W)), note = note)

seconds <- cpu(fit <- ising_fit(x, method = "pseudolik"))
add("ising_fit pseudolik", seconds, fit$W, sprintf("EBIC along a path of %d; gap %.1e", nrow(fit$selection), fit$convergence$gap))
seconds <- cpu(one <- ising_fit(x, lambda = fit$lambda, method = "pseudolik"))
add("ising_fit pseudolik, one lambda", seconds, one$W, sprintf("gap %.1e", one$convergence$gap))
seconds <- cpu(node <- ising_fit(x, method = "nodewise", tol = 1e-4))
add("ising_fit nodewise", seconds, node$W, "EBIC along a path of 100 per variable, as IsingFit")

if (requireNamespace("IsingFit", quietly = TRUE)) {
  seconds <- cpu(peer <- getExportedValue("IsingFit", "IsingFit")(binary, plot = FALSE, progressbar = FALSE))
  W <- as.matrix(peer$weiadj) / 8  # the logit changes by 8 w when a neighbour goes from 0 to 1
  add(paste("IsingFit", utils::packageVersion("IsingFit")), seconds, W, "glmnet")
  cat("largest difference of nodewise couplings, in units of w:", format(max(abs(node$W - W)), digits = 3), "\n")
} else {
  cat("IsingFit is not installed.\n")
}
table <- do.call(rbind, rows)
table$last_over_this <- table$seconds[nrow(table)] / table$seconds
cat("n =", n, " p =", p, "\n")
print(table, digits = 3, row.names = FALSE)

seconds <- cpu(ising_fit(sim_ising(15)$data, lambda = 1 / 16, method = "exact"))
cat("exact likelihood, 15 variables, 50 rows, lambda = 1/16:", seconds, "s\n")
if (!is.na(output)) saveRDS(table, output)
