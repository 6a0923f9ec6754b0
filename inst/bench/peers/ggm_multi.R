# Rscript ggm_multi.R <file for the results, .rds> [sizes, such as 200,500]
#
# Times ggm_multi() against JGL (archived on CRAN) on the group and the fused joint graphical lasso, K = 4 tasks, and with no term across tasks
# against ggm_lasso() per task. One process, one thread, CPU seconds. JGL gets the loosest tolerance of a ladder with which it reaches the objective
# within 1e-6, relatively, of the best known (ours at tol = 1e-9); so do we. Both objectives are evaluated by the same code.
#
# The peer is looked for in the library GRANARY_PEERS; without it only our times are recorded. Where the run at the smaller size, scaled by the cube
# of the sizes, projects to more than GRANARY_BENCH_CAP seconds, it gets the tolerance of that run at once, instead of the ladder. A run is
# stopped after GRANARY_BENCH_LIMIT seconds; its time, without an excess, is then a lower bound.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
arguments <- commandArgs(TRUE)
output <- arguments[1L]
sizes <- if (length(arguments) > 1L) as.integer(strsplit(arguments[2L], ",")[[1L]]) else c(200L, 500L)
cap <- as.double(Sys.getenv("GRANARY_BENCH_CAP", "60"))
limit <- as.double(Sys.getenv("GRANARY_BENCH_LIMIT", "300"))
has_jgl <- requireNamespace("JGL", quietly = TRUE)
cpu_of <- function(expression) sum(system.time(expression)[c("user.self", "sys.self")])
timed <- function(run) {
  value <- NULL
  seconds <- cpu_of(tryCatch({
    setTimeLimit(elapsed = limit, transient = TRUE)
    value <- run()
  }, error = function(e) if (!grepl("time limit", conditionMessage(e))) stop(e)))
  setTimeLimit()
  for (k in seq_len(if (seconds < 1) 4L else 0L)) seconds <- min(seconds, cpu_of(value <- run()))
  list(seconds = seconds, value = value)
}

norm_sum <- function(X, penalty) {  # over ordered pairs; the fused norm covers the diagonal
  arrays <- simplify2array(X)
  if (penalty == "group") {
    squares <- sqrt(apply(arrays^2, 1:2, sum))
    return(sum(squares) - sum(diag(squares)))
  }
  total <- 0
  for (k in seq_along(X)[-1L]) for (l in seq_len(k - 1L)) total <- total + sum(abs(X[[k]] - X[[l]]))
  total
}
objective <- function(X, S, lambda1, lambda2, penalty) {
  X <- lapply(X, function(x) {
    x <- as.matrix(x)
    (x + t(x)) / 2
  })
  value <- lambda2 * norm_sum(X, penalty)
  for (k in seq_along(S)) {
    factor <- tryCatch(chol(X[[k]]), error = function(e) NULL)
    if (is.null(factor)) return(Inf)
    value <- value + sum(S[[k]] * X[[k]]) - 2 * sum(log(diag(factor))) + lambda1 * (sum(abs(X[[k]])) - sum(abs(diag(X[[k]]))))
  }
  value
}

tasks <- function(p) {  # one graph, four samples of different size
  set.seed(1)
  truth <- sim_ggm("random", p = p)
  lapply(c(100, 120, 80, 150), function(n) simulate_rows(truth$precision, n))
}
simulate_rows <- function(precision, n) {
  p <- ncol(precision)
  t(backsolve(chol(as.matrix(precision)), matrix(stats::rnorm(n * p), p)))
}

results <- NULL
for (p in sizes) {
  x <- tasks(p)
  S <- lapply(x, function(m) stats::cov(m) * (nrow(m) - 1) / nrow(m))  # JGL's divisor
  for (penalty in c("group", "fused")) {
    lambda1 <- 0.15
    lambda2 <- if (penalty == "group") 0.15 else 0.05
    norm <- if (penalty == "group") "l2" else "fused"
    ours <- function(tol) ggm_multi(S = S, lambda = lambda2, lambda1 = lambda1, norm = norm, weights = "equal", tol = tol, threads = 1)
    theirs <- function(tol) {
      getExportedValue("JGL", "JGL")(x, penalty = penalty, lambda1 = lambda1, lambda2 = lambda2, weights = "equal", return.whole.theta = TRUE,
               tol = tol, maxiter = 2000)$theta
    }
    best <- objective(ours(1e-9)$precision, S, lambda1, lambda2, penalty)
    record <- function(solver, run, ladder) {
      for (tol in ladder) {
        found <- timed(function() run(tol))
        excess <- NA_real_
        if (is.null(found$value)) break  # stopped
        X <- if (solver == "granary") found$value$precision else found$value
        excess <- (objective(X, S, lambda1, lambda2, penalty) - best) / abs(best)
        if (excess <= 1e-6) break
      }
      row <- data.frame(p = p, penalty = penalty, solver = solver, tol = tol, seconds = found$seconds, excess = excess, reached = isTRUE(excess <= 1e-6))
      cat(format(Sys.time(), "%H:%M:%S"), p, penalty, solver, "tol", tol, "seconds", signif(row$seconds, 3), "excess", signif(excess, 2), "\n")
      row
    }
    results <- rbind(results, record("granary", ours, 10^-(2:8)))
    last <- results[results$solver == "JGL" & results$penalty == penalty, ]
    projected <- if (is.null(last) || nrow(last) == 0L) 0 else utils::tail(last$seconds * (p / last$p)^3, 1L)
    if (has_jgl) results <- rbind(results, record("JGL", theirs, if (projected <= cap) 10^-(3:7) else utils::tail(last$tol, 1L)))
  }
  # no term across tasks: the graphical lasso per task
  joint <- timed(function() ggm_multi(S = S, lambda = 0, lambda1 = 0.2, weights = "equal", threads = 1))
  single <- timed(function() lapply(S, function(s) ggm_lasso(S = s, lambda = 0.2, penalize_diagonal = FALSE, threads = 1)))
  nearly <- timed(function() ggm_multi(S = S, lambda = 1e-9, lambda1 = 0.2, weights = "equal", threads = 1))
  results <- rbind(results, data.frame(
    p = p, penalty = "none", solver = c("granary, lambda = 0", "ggm_lasso per task", "granary, lambda = 1e-9"), tol = 1e-6,
    seconds = c(joint$seconds, single$seconds, nearly$seconds), excess = NA_real_, reached = NA
  ))
}
ratio <- if (has_jgl) {
  own <- results[results$solver == "granary", ]
  peer <- results[results$solver == "JGL", ]
  both <- merge(own, peer, by = c("p", "penalty"), suffixes = c("_granary", "_JGL"))
  data.frame(both[c("p", "penalty")], ratio = both$seconds_JGL / both$seconds_granary)
}
print(results, digits = 3)
print(ratio, digits = 3)
saveRDS(list(results = results, ratio = ratio, versions = if (has_jgl) c(JGL = as.character(utils::packageVersion("JGL")))), output)
