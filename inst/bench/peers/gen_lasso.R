# Rscript gen_lasso.R <file for the results, .rds>
#
# gen_lasso() beside genlasso (general design, chain), flsa (identity design, chain and image) and tvR (image), where they are installed, from the
# library GRANARY_PEERS. `difference` is the relative difference of the objective from the best one: a time without it says nothing. One
# thread; seconds of user and system time.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
has <- function(package) requireNamespace(package, quietly = TRUE)
from <- function(package, name) getExportedValue(package, name)

rows <- list()
note <- function(task, size, solver, run, value) {
  time <- system.time(answer <- run())
  rows[[length(rows) + 1L]] <<- data.frame(task = task, size = size, solver = solver, seconds = sum(time[1:2]), objective = value(answer))
  print(rows[[length(rows)]], row.names = FALSE)
  invisible(answer)
}
tv1 <- function(y, x, lambda) sum((y - x)^2) / 2 + lambda * sum(abs(diff(as.vector(x))))
tv2 <- function(y, x, lambda) sum((y - x)^2) / 2 + lambda * (sum(abs(diff(x))) + sum(abs(diff(t(x)))))

# A general design: the path down to 0.01 lambda_max.
quick <- identical(Sys.getenv("GRANARY_BENCH_QUICK"), "1")
for (size in if (quick) list(c(100, 200)) else list(c(100, 200), c(500, 2000))) {
  set.seed(1)
  sim <- sim_gen_lasso("blocks", n = size[1L], p = size[2L], sd = 1)
  label <- paste(size, collapse = " x ")
  loss <- function(b, l) sum((sim$y - sim$x %*% b)^2) / 2 + l * sum(abs(diff(b)))
  ours <- note("path, general design", label, "gen_lasso, 20 penalties to gap 1e-8", function() gen_lasso(sim$x, sim$y, sim$penalty, intercept = FALSE),
               function(fit) fit$objective[20L])
  if (has("genlasso")) {
    note("path, general design", label, "genlasso, path down to the same penalty", function() {
      suppressWarnings(from("genlasso", "fusedlasso1d")(sim$y, X = sim$x, minlam = min(ours$lambda), maxsteps = if (size[2L] > 1000) 3000 else 2000))
    }, function(path) {
      l <- max(min(path$lambda), min(ours$lambda))
      b <- from("genlasso", "coef.genlasso")(path, lambda = l)$beta
      if (l > min(ours$lambda) * 1.0001) cat("genlasso stopped at", l, "\n")
      loss(b, l)
    })
  }
}
# Identity design: chains.
for (n in if (quick) 1e4 else c(1e4, 1e6)) {
  set.seed(2)
  y <- rnorm(n) + rep(c(0, 3), each = n / 2)
  note("chain", n, "gen_lasso", function() gen_lasso(NULL, y, lambda = 2), function(fit) tv1(y, fit$beta[, 1L], 2))
  if (has("flsa")) note("chain", n, "flsa", function() from("flsa", "flsa")(y, lambda2 = 2), function(b) tv1(y, b, 2))
}
# Images.
for (side in if (quick) 64 else c(100, 512, 1000)) {
  set.seed(3)
  image <- 3 * sim_gen_lasso("image", dim = c(side, side), sd = 0)$truth + rnorm(side^2, sd = 0.5)
  note("image, l1", side^2, "gen_lasso_image", function() gen_lasso_image(image, 0.5), function(fit) tv2(image, fit$image, 0.5))
  if (has("flsa") && side <= 100) {
    note("image, l1", side^2, "flsa", function() from("flsa", "flsa")(image, lambda2 = 0.5), function(b) tv2(image, matrix(b, side), 0.5))
  }
  if (side <= 512) {
    isotropic <- function(u) {
      down <- rbind(diff(u), 0)
      right <- cbind(t(diff(t(u))), 0)
      sum((image - u)^2) / 2 + 0.5 * sum(sqrt(down^2 + right^2))
    }
    note("image, l2, gap 1e-6", side^2, "gen_lasso_image", function() gen_lasso_image(image, 0.5, type = "l2"), function(fit) isotropic(fit$image))
    if (has("tvR")) {
      # Its weight multiplies the squares: lambda ||u - y||^2 + TV(u).
      run <- function() from("tvR", "denoise2")(image, lambda = 1, niter = 1000, method = "TVL2.PrimalDual")
      note("image, l2, gap 1e-6", side^2, "tvR, 1000 iterations", run, isotropic)
    }
  }
}
results <- do.call(rbind, rows)
best <- ave(results$objective, results$task, results$size, FUN = min)
results$difference <- (results$objective - best) / abs(best)
ours <- ave(ifelse(grepl("^gen_lasso|^tv_", results$solver), results$seconds, Inf), results$task, results$size, FUN = min)
results$ratio <- results$seconds / ours
if (!is.na(output)) saveRDS(results, output)
