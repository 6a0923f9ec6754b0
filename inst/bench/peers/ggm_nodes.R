# Rscript ggm_nodes.R <file for the results, .rds>
#
# Times ggm_nodes() on p variables of which 20 interact, beside the same 20 alone, and beside the graphical lasso (ours, and the packages glasso and
# glassoFast where they are installed, from the library GRANARY_PEERS) on both. The problems differ, so only the time and what the certificate
# says can be compared: no package is known for this penalty. One thread; CPU seconds, the fastest of five.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
has <- function(package) requireNamespace(package, quietly = TRUE)

seconds_of <- function(run) {
  cpu <- function(expression) sum(system.time(expression)[c("user.self", "sys.self")])
  first <- cpu(value <- run())
  times <- if (first < 5) c(first, replicate(4L, cpu(run()))) else first
  list(seconds = min(times), value = value)
}

rows <- list()
note <- function(p, on, solver, timed, fit = NULL) {
  row <- data.frame(p = p, variables = on, solver = solver, seconds = timed$seconds, solver_seconds = NA_real_, gap = NA_real_, nodes = NA_integer_)
  if (!is.null(fit)) {
    row$solver_seconds <- fit$convergence$seconds
    row$gap <- fit$gap
    row$nodes <- sum(Matrix::colSums(fit$precision != 0) > 1)
  }
  print(row, row.names = FALSE)
  rows[[length(rows) + 1L]] <<- row
}

for (p in c(200L, 500L, 1000L)) {
  set.seed(1)
  sim <- sim_ggm("confounders", p = p, n = 200, connected = 20 / p, density = 0.5, ratio = 10)
  linked <- which(Matrix::colSums(sim$precision != 0) > 1)
  for (norm in c("l2", "linf")) {
    rho <- 0.1 * ggm_nodes(sim$data, n_lambda = 1, norm = norm)$rho
    for (part in list(all = seq_len(p), linked = linked)) {
      x <- sim$data[, part]
      for (method in c("admm", "auto", "bcd")) {
        timed <- seconds_of(function() suppressWarnings(ggm_nodes(x, lambda = rho, norm = norm, method = method, threads = 1)))
        note(p, length(part), paste0("ggm_nodes, ", norm, ", ", method), timed, timed$value)
      }
    }
  }
  # The graphical lasso at a penalty that leaves about as many edges.
  target <- ggm_nodes(sim$data, lambda = 0.1 * ggm_nodes(sim$data, n_lambda = 1)$rho)$df
  path <- ggm_lasso(sim$data, n_lambda = 40, lambda_min_ratio = 0.1, threads = 1)
  lambda <- path$lambda[which.min(abs(path$df - target))]
  for (part in list(all = seq_len(p), linked = linked)) {
    x <- sim$data[, part]
    timed <- seconds_of(function() ggm_lasso(x, lambda = lambda, threads = 1))
    note(p, length(part), "ggm_lasso", timed, timed$value)
    S <- timed$value$S
    if (has("glasso")) note(p, length(part), "glasso", seconds_of(function() getExportedValue("glasso", "glasso")(S, lambda)))
    if (has("glassoFast")) note(p, length(part), "glassoFast", seconds_of(function() getExportedValue("glassoFast", "glassoFast")(S, lambda)))
  }
}
results <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(results, output)
