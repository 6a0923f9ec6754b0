# Rscript ggm_lasso.R <file for the results, .rds> [sizes, such as 500,1000,2000]
#
# Times ggm_lasso() against other packages for the same problem, in one process and on one thread. All get the same covariance and must
# reach the same objective: within 1e-6, relatively, of the best one known (ggm_lasso at tol = 1e-10). Each solver is given the loosest tolerance
# of a ladder with which it gets there, and only that run is counted. Times are CPU seconds of the process.
#
# The peers are looked for in the library GRANARY_PEERS. GRANARY_BENCH_CAP is the longest run, in seconds, that is still tried: a run is
# skipped when the one at the smaller size, scaled by the cube of the sizes, projects to more.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
arguments <- commandArgs(TRUE)
output <- arguments[1L]
sizes <- if (length(arguments) > 1L) as.integer(strsplit(arguments[2L], ",")[[1L]]) else c(500L, 1000L, 2000L)
cap <- as.double(Sys.getenv("GRANARY_BENCH_CAP", "600"))
peers_library <- Sys.getenv("GRANARY_PEERS", "build/peers")
if (dir.exists(peers_library)) .libPaths(c(peers_library, .libPaths()))  # first: the system may have older ones
has <- function(package) requireNamespace(package, quietly = TRUE)
say <- function(...) cat(format(Sys.time(), "%H:%M:%S"), ..., "\n")

cpu_of <- function(expression) sum(system.time(expression)[c("user.self", "sys.self")])

# Short runs are repeated, and the fastest counts: the others were disturbed.
timed <- function(run) {
  seconds <- cpu_of(value <- run())
  for (k in seq_len(if (seconds < 1) 4L else if (seconds < 5) 2L else 0L)) seconds <- min(seconds, cpu_of(value <- run()))
  list(seconds = seconds, value = value)
}

objective <- function(X, S, lambda) {
  X <- as.matrix(X)
  X <- (X + t(X)) / 2  # glasso's answer is not symmetric
  factor <- tryCatch(chol(X), error = function(e) NULL)
  if (is.null(factor)) return(Inf)
  -2 * sum(log(diag(factor))) + sum(S * X) + lambda * sum(abs(X))
}

# Each takes S, lambda and a tolerance, and returns the precision matrix. huge has no tolerance to set.
huge_with <- function(screening) {
  function(S, lambda, tol) huge::huge(S, lambda = lambda, method = "glasso", scr = screening, verbose = FALSE)$icov[[1L]]
}
solvers <- list(
  granary = function(S, lambda, tol) ggm_lasso(S = S, lambda = lambda, tol = tol, threads = 1)$precision,
  `granary, quic` = function(S, lambda, tol) ggm_lasso(S = S, lambda = lambda, tol = tol, method = "quic", threads = 1)$precision,
  glasso = if (has("glasso")) function(S, lambda, tol) glasso::glasso(S, lambda, thr = tol)$wi,
  glassoFast = if (has("glassoFast")) function(S, lambda, tol) glassoFast::glassoFast(S, lambda, thr = tol)$wi,
  QUIC = if (has("QUIC")) function(S, lambda, tol) QUIC::QUIC(S, lambda, tol = tol, msg = 0)$X,
  huge = if (has("huge")) huge_with(FALSE),
  `huge, scr` = if (has("huge")) huge_with(TRUE)
)
solvers <- Filter(Negate(is.null), solvers)
ladder <- 10^-(0:8)
fixed_tolerance <- c("huge", "huge, scr")

# Walks the ladder from rung `from` to the loosest rung that reaches the target.
fastest_run <- function(solve, S, lambda, best, from, has_ladder) {
  target <- best + 1e-6 * abs(best)
  attempt <- function(rung) {
    run <- timed(function() solve(S, lambda, ladder[rung]))
    excess <- (objective(run$value, S, lambda) - best) / abs(best)
    list(rung = rung, seconds = run$seconds, excess = excess, reached = best + excess * abs(best) <= target)
  }
  found <- attempt(from)
  if (!has_ladder) return(found)
  while (!found$reached && found$rung < length(ladder)) found <- attempt(found$rung + 1L)
  while (found$reached && found$rung > 1L && found$rung <= from) {
    looser <- attempt(found$rung - 1L)
    if (!looser$reached) break
    found <- looser
  }
  found
}

# Penalties that leave about 5 p and 50 p non-zeros in the covariances below, read off short paths once.
penalties <- rbind(
  data.frame(type = "chain", p = c(500, 1000, 2000), sparse = c(0.255, 0.2, 0.152), dense = c(0.124, 0.112, 0.093)),
  data.frame(type = "random", p = c(500, 1000, 2000), sparse = c(0.202, 0.19, 0.182), dense = c(0.0783, 0.0705, 0.0588))
)
covariance <- function(type, p, n) {
  set.seed(1)
  sim <- sim_ggm(type, p = p, n = n)
  unname(ggm_lasso(sim$data, n_lambda = 1, threads = 1)$S)
}

compare <- function(S, lambda, type, label, earlier) {
  p <- ncol(S)
  best_fit <- ggm_lasso(S = S, lambda = lambda, tol = 1e-10, threads = 1)
  nonzeros <- 2 * best_fit$df + p
  say(type, "p =", p, "lambda =", lambda, "non-zeros", nonzeros)
  # The best known value: the objective at tol = 1e-10, evaluated as it is for everybody.
  best <- objective(best_fit$precision, S, lambda)
  rows <- list()
  for (name in names(solvers)) {
    same <- earlier[earlier$solver == name & earlier$type == type & earlier$label == label & earlier$p < p, ]
    last <- same[nrow(same), ]
    projected <- if (nrow(last) == 1L) last$seconds * (p / last$p)^3 else 0
    row <- data.frame(type = type, p = p, label = label, lambda = lambda, nonzeros = nonzeros, solver = name, tol = NA_real_,
                      seconds = NA_real_, excess = NA_real_, reached = NA, note = "")
    if (nrow(last) == 1L && is.na(projected)) {
      row$note <- "skipped: it was too slow at a smaller size"
    } else if (projected > cap) {
      row$note <- sprintf("skipped: projected to %.0f s", projected)
    } else {
      has_ladder <- !name %in% fixed_tolerance
      from <- if (has_ladder && nrow(last) == 1L) match(last$tol, ladder) else 1L
      found <- fastest_run(solvers[[name]], S, lambda, best, from, has_ladder)
      row$seconds <- found$seconds
      row$excess <- found$excess
      row$reached <- found$reached
      if (has_ladder) row$tol <- ladder[found$rung]
      if (!found$reached) row$note <- if (has_ladder) "never reached the objective" else "its own tolerance, not reached"
    }
    say(" ", name, "tol", row$tol, "seconds", signif(row$seconds, 3), "excess", signif(row$excess, 2), row$note)
    rows[[name]] <- row
  }
  do.call(rbind, rows)
}

results <- data.frame(type = character(), p = integer(), label = character(), lambda = double(), nonzeros = double(), solver = character(),
                      tol = double(), seconds = double(), excess = double(), reached = logical(), note = character())
for (p in sizes) {
  for (type in c("chain", "random")) {
    at <- penalties$type == type & penalties$p == p
    if (!any(at)) stop("No penalties are known for p = ", p, ".")
    S <- covariance(type, p, p / 2)
    for (label in c("sparse", "dense")) results <- rbind(results, compare(S, penalties[[label]][at], type, label, results))
  }
}

# Few observations and next to no penalty, where the solution is nearly full: coordinate methods are at home here.
S <- covariance("random", 300, 150)
full <- compare(S, 0.01 * max(abs(S[upper.tri(S)])), "random, full", "nearly full", results[0L, ])

# A path of 20 penalties against its smallest one alone.
p <- min(1000L, max(sizes))
path <- do.call(rbind, lapply(c("chain", "random"), function(type) {
  at <- penalties$type == type & penalties$p == p
  S <- covariance(type, p, p / 2)
  top <- max(abs(S[upper.tri(S)]))
  lambda <- exp(seq(log(top), log(penalties$dense[at]), length.out = 20L))
  seconds <- cpu_of(ggm_lasso(S = S, lambda = lambda, threads = 1))
  alone <- timed(function() ggm_lasso(S = S, lambda = lambda[20L], threads = 1))$seconds
  data.frame(type = type, p = p, path = seconds, alone = alone)
}))

# Independent components on one thread and on two: elapsed time, which is what threads save.
set.seed(1)
block <- sim_ggm("block", p = 1200, n = 5000)
S <- unname(ggm_lasso(block$data, n_lambda = 1, threads = 1)$S)
group <- rep(1:8, each = 150)
lambda <- 1.001 * max(abs(S[outer(group, group, "!=")]))
elapsed <- function(threads) {
  min(replicate(5L, system.time(ggm_lasso(S = S, lambda = lambda, threads = threads))[["elapsed"]]))
}
threads <- data.frame(threads = 1:2, seconds = c(elapsed(1), elapsed(2)))

versions <- vapply(setdiff(unique(sub(",.*", "", names(solvers))), "granary"), function(p) as.character(utils::packageVersion(p)), "")
saveRDS(list(results = results, full = full, path = path, threads = threads, versions = versions, cap = cap), output)
