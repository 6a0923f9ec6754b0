# How model_distance() and ggm_windows() grow, beside the same formulas in plain R. Rscript model_distance.R [output.rds]
#
# No package offers these for graphical models, so the peer is base R: solve() and determinant(). Seconds are processor time of one thread, the
# smallest of three runs; `difference` is the largest relative difference of the answers.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
output <- commandArgs(trailingOnly = TRUE)[1L]
cpu <- function(run) {
  best <- Inf
  for (k in 1:3) {
    used <- system.time(value <- run())
    best <- min(best, used[["user.self"]] + used[["sys.self"]])
  }
  list(seconds = best, value = value)
}
rows <- list()
note <- function(setting, method, timed, difference = NA) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = timed$seconds, difference = difference)
  print(rows[[length(rows)]], row.names = FALSE)
}
for (p in c(50, 200, 500)) {
  set.seed(1)
  o1 <- crossprod(matrix(rnorm(p * p), p)) / p + diag(p)
  o2 <- crossprod(matrix(rnorm(p * p), p)) / p + diag(p)
  a <- model_given("gaussian", precision = o1)
  b <- model_given("gaussian", precision = o2)
  ours <- cpu(function() model_distance(a, b)$value)
  base <- cpu(function() 0.5 * (c(determinant(o1)$modulus) - c(determinant(o2)$modulus) + sum(solve(o1) * o2) - p))
  note(sprintf("Gaussian KL, %d variables", p), "granary", ours)
  note(sprintf("Gaussian KL, %d variables", p), "base R", base, abs(base$value / ours$value - 1))
}
for (p in c(5, 20, 60)) {
  set.seed(1)
  x <- matrix(rnorm(3000 * p), 3000)
  z <- scale(x)
  ours <- cpu(function() ggm_windows(x, width = 100, step = 1)$features)
  starts <- seq_len(2901)
  at <- upper.tri(diag(p), diag = TRUE)
  weight <- ifelse(row(at) == col(at), 1, sqrt(2))[at]
  base <- cpu(function() t(vapply(starts, function(s) weight * solve(cov(z[s:(s + 99), ]) + diag(0.1, p))[at], numeric(sum(at)))))
  note(sprintf("2901 windows, %d variables", p), "granary", ours)
  note(sprintf("2901 windows, %d variables", p), "base R", base, max(abs(base$value - ours$value)) / max(abs(base$value)))
}
for (n in c(20, 100, 400)) {
  set.seed(1)
  nodes <- paste0("n", seq_len(n))
  dag <- as_graph(data.frame(from = nodes[-n], to = nodes[-1L]))
  net <- function() model_given("bn", dag, setNames(c(list(c(0.5, 0.5)), lapply(seq_len(n - 1), function(i) { p <- runif(2, 0.2, 0.8); cbind(1 - p, p) })),
                                              nodes))
  a <- net()
  b <- net()
  note(sprintf("KL of two chains of %d nodes, exact", n), "granary", cpu(function() model_distance(a, b)$value))
}
if (!is.na(output)) saveRDS(do.call(rbind, rows), output)
