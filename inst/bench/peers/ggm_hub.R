# Rscript ggm_hub.R <file for the results, .rds> [sizes, such as 100,200,300] [lambda1,lambda2,lambda3] [hglasso iterations from p = 1000 on]
#
# Times ggm_hub() against hglasso, the authors' package (archived on CRAN, so install it from the archive; looked for in the library GRANARY_PEERS,
# left out when it is not there), on Set-up I with n = p / 2, one thread, and against its own alternating direction method and itself without
# screening. Beside each time stands the excess of the objective over the dual value of a sharp fit, without which a time says nothing: hglasso
# stops on the change of its iterate. With p = 1000 it takes above 3 seconds per iteration and some 300 of them: it is stopped after 30, where its
# excess shows how far it is from done, so that the ratio there is a lower bound. CPU seconds; ratio: of the time to that of granary.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
arguments <- commandArgs(TRUE)
output <- arguments[1L]
sizes <- if (length(arguments) > 1L) as.integer(strsplit(arguments[2L], ",")[[1L]]) else c(200L, 500L, 1000L)
l <- if (length(arguments) > 2L) as.numeric(strsplit(arguments[3L], ",")[[1L]]) else c(0.4, 0.2, 1)
most <- if (length(arguments) > 3L) as.integer(arguments[4L]) else 30L

cost <- function(V, Z) {
  diag(V) <- diag(Z) <- 0
  l[1L] * sum(abs(Z)) + l[2L] * sum(abs(V)) + l[3L] * sum(sqrt(colSums(V^2)))
}
objective <- function(V, Z, S) {
  T <- V + t(V) + Z
  factor <- tryCatch(chol(T), error = function(e) NULL)
  if (is.null(factor)) return(Inf)
  -2 * sum(log(diag(factor))) + sum(S * T) + cost(V, Z)
}
own <- function(tol, screen = TRUE, method = "auto") {
  function(S) {
    fit <- ggm_hub(S = S, lambda1 = l[1L], lambda2 = l[2L], lambda3 = l[3L], tol = tol, screen = screen, method = method, threads = 1)
    list(V = as.matrix(fit$V), Z = as.matrix(fit$Z))
  }
}
solvers <- list(granary = own(1e-6), `granary, no screening` = own(1e-6, FALSE))
solvers$`granary, ADMM` <- own(1e-6, method = "admm")
if (requireNamespace("hglasso", quietly = TRUE)) {
  fit_hglasso <- getExportedValue("hglasso", "hglasso")
  solvers$hglasso <- function(S) suppressWarnings(fit_hglasso(S, l[1L], l[2L], l[3L], maxiter = if (nrow(S) >= 1000L) most else 1000L))[c("V", "Z")]
} else {
  cat("hglasso is not installed and is left out.\n")
}
rows <- list()
for (p in sizes) {
  set.seed(1)
  S <- unname(stats::cov(sim_hub(p = p, hubs = max(2, p / 50), n = p / 2)$data))
  S <- (S + t(S)) / 2
  sharp <- ggm_hub(S = S, lambda1 = l[1L], lambda2 = l[2L], lambda3 = l[3L], tol = 1e-10, threads = 1)
  lower <- sharp$objective - sharp$gap
  for (name in names(solvers)) {
    if (p > 500L && grepl(", ", name)) next
    seconds <- sum(system.time(value <- solvers[[name]](S))[c("user.self", "sys.self")])
    rows[[length(rows) + 1L]] <- data.frame(p = p, solver = name, seconds = seconds, excess = objective(value$V, value$Z, S) - lower)
    print(rows[[length(rows)]], row.names = FALSE)
  }
}
results <- do.call(rbind, rows)
base <- results$seconds[match(paste(results$p, "granary"), paste(results$p, results$solver))]
results$ratio <- results$seconds / base
print(results, row.names = FALSE)
if (!is.na(output)) saveRDS(results, output)
