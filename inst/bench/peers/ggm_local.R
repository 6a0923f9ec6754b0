# Rscript ggm_local.R <file for the results, .rds>
#
# Times ggm_local() on images of p = 100 to 1000 pixels, with each of its solvers, beside the graphical lasso at the same rho (ours, and the
# package glasso where it is installed, from the library GRANARY_PEERS), and fits the exponent of its growth. No package is known for this
# penalty, so only the time and what the certificate says can be compared. Then the total-variation part alone, beside the packages
# flsa and genlasso where they are installed. One thread; CPU seconds.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
has <- function(package) requireNamespace(package, quietly = TRUE)

rows <- list()
note <- function(task, p, solver, run, gap = function(value) value$gap, iterations = function(value) value$convergence$iterations) {
  seconds <- sum(system.time(value <- run())[c("user.self", "sys.self")])
  row <- data.frame(task = task, p = p, solver = solver, seconds = seconds, gap = gap(value), iterations = iterations(value))
  print(row, row.names = FALSE)
  rows[[length(rows) + 1L]] <<- row
  invisible(value)
}
none <- function(value) NA_real_

sides <- if (identical(Sys.getenv("GRANARY_BENCH_QUICK"), "1")) c(10L, 14L, 20L) else c(10L, 14L, 20L, 26L, 32L)
for (side in sides) {
  p <- side^2L
  set.seed(1)
  sim <- sim_ggm("grid", p = p, rows = side, n = 400, unit_variance = TRUE)
  S <- cov(sim$data)
  nb <- neighborhood("grid", c(side, side))
  for (method in c("auto", if (p <= 400) c("admm", "bcd"))) {
    note("locally constant graph", p, paste0("ggm_local, ", method), function() {
      suppressWarnings(ggm_local(S = S, neighbors = nb, lambda = 0.1, tau = 0.02, method = method, tol = 1e-6, threads = 1))
    })
  }
  note("graphical lasso", p, "ggm_lasso", function() ggm_lasso(S = S, lambda = 0.1, threads = 1))
  if (has("glasso") && p <= 400) note("graphical lasso", p, "glasso", function() getExportedValue("glasso", "glasso")(S, 0.1), none, none)
}
results <- do.call(rbind, rows)
growth <- results[results$solver == "ggm_local, auto", ]
exponent <- coef(lm(log(seconds) ~ log(p), growth))[[2L]]
cat(sprintf("ggm_local, auto: seconds grow as p^%.2f\n", exponent))
if (!is.na(output)) {
  grDevices::png(sub("\\.rds$", ".png", output), 600, 450)
  plot(growth$p, growth$seconds, log = "xy", type = "b", pch = 19, xlab = "variables", ylab = "seconds, one thread",
       main = sprintf("ggm_local on images, gap 1e-6 per variable: p^%.2f", exponent))
  invisible(grDevices::dev.off())
}

set.seed(2)
for (n in c(1000L, 100000L)) {
  y <- rnorm(n) + rep(c(0, 3), each = n / 2)
  ours <- note("chain", n, "fused_signal", function() fused_signal(y, tau = 2), function(v) v$convergence$gap)
  if (has("flsa")) {
    theirs <- note("chain", n, "flsa", function() getExportedValue("flsa", "flsa")(y, lambda2 = 2), none, none)
    cat("largest difference", max(abs(ours$fitted - as.vector(theirs))), "\n")
  }
  if (has("genlasso") && n <= 1000L) {
    theirs <- note("chain", n, "genlasso", function() coef(getExportedValue("genlasso", "fusedlasso1d")(y), lambda = 2)$beta, none, none)
    cat("largest difference", max(abs(ours$fitted - as.vector(theirs))), "\n")
  }
}
for (side in c(50L, 200L)) {
  image <- outer(seq_len(side), seq_len(side), function(i, j) 3 * ((i - side / 2)^2 + (j - side / 2)^2 < side^2 / 9)) + rnorm(side^2)
  ours <- note("image", side^2, "fused_signal", function() fused_signal(image, tau = 1, neighbors = neighborhood("grid", c(side, side))),
               function(v) v$convergence$gap)
  if (has("flsa") && side <= 50L) {
    theirs <- note("image", side^2, "flsa", function() getExportedValue("flsa", "flsa")(image, lambda2 = 1), none, none)
    cat("largest difference", max(abs(as.vector(ours$fitted) - as.vector(theirs))), "\n")
  }
}
results <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(list(results = results, growth = data.frame(solver = "ggm_local, auto", exponent = exponent)), output)
