# Times hidden Markov models against depmixS4. Rscript hmm_fit.R [output.rds]
#
# CPU seconds of one thread. "likelihood": one evaluation of the log-likelihood of given sequences at given parameters; the model of depmixS4 is set up outside
# the clock. "fit": fifty iterations of Baum and Welch from the same parameters, or fewer where
# the likelihood has settled. `value` is the log-likelihood.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
note <- function(setting, method, seconds, ours, value, iterations = NA) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, value = formatC(value, digits = 10L, format = "g"),
                                           iterations = iterations)
  print(rows[[length(rows)]], row.names = FALSE)
}
# Seconds of one call, by as many as half a second needs.
each <- function(f) {
  f()
  times <- 1
  repeat {
    used <- cpu(for (i in seq_len(times)) f())
    if (used > 0.5) return(used / times)
    times <- times * 4
  }
}
peer_model <- function(fit, x, lengths) {
  p <- ncol(x)
  k <- length(fit$initial)
  data <- as.data.frame(x)
  names(data) <- paste0("x", seq_len(p))
  response <- lapply(names(data), function(name) stats::as.formula(paste(name, "~ 1")))
  sd <- matrix(vapply(fit$covariance, function(s) sqrt(diag(s)), numeric(p)), p)
  start <- as.vector(vapply(seq_len(k), function(h) as.vector(rbind(fit$centers[h, ], sd[, h])), numeric(2 * p)))
  if (p == 1L) {
    return(depmixS4::depmix(response[[1L]], data = data, nstates = k, ntimes = lengths, instart = unname(fit$initial), trstart = as.vector(t(fit$transition)), respstart = start))
  }
  depmixS4::depmix(response, data = data, nstates = k, ntimes = lengths, family = rep(list(stats::gaussian()), p), instart = unname(fit$initial),
                   trstart = as.vector(t(fit$transition)), respstart = start)
}

short <- Sys.getenv("GRANARY_BENCH_SHORT") == "1"
settings <- list(c(1, 20000, 1, 3), c(500, 40, 1, 3), c(1, 20000, 4, 3), c(500, 40, 4, 5))
if (short) settings <- settings[c(1, 4)]
for (size in settings) {
  set.seed(1)
  n <- size[1L]
  p <- size[3L]
  k <- size[4L]
  lengths <- rep(size[2L], n)
  means <- matrix(rnorm(k * p, sd = 2), k)
  state <- unlist(lapply(lengths, function(l) {
    z <- integer(l)
    z[1L] <- sample(k, 1L)
    for (t in seq_len(l)[-1L]) z[t] <- if (runif(1) < 0.9) z[t - 1L] else sample(k, 1L)
    z
  }))
  x <- means[state, , drop = FALSE] + rnorm(length(state) * p)
  id <- rep(seq_len(n), lengths)
  setting <- sprintf("%g sequence(s) of %g rows, %d column(s), %d states", n, size[2L], p, k)
  begin <- suppressWarnings(hmm_fit(x, k = k, id = id, max_iter = 3, n_starts = 1))
  ours <- each(function() predict(begin, x, "density", id = id))
  note(paste(setting, "likelihood", sep = ": "), "hmm_fit()", ours, ours, sum(predict(begin, x, "density", id = id)))
  if (has("depmixS4")) {
    peer <- peer_model(begin, x, lengths)
    theirs <- each(function() depmixS4::logLik(peer))
    note(paste(setting, "likelihood", sep = ": "), "depmixS4", theirs, ours, as.numeric(depmixS4::logLik(peer)))
  }
  seconds <- cpu(fit <- suppressWarnings(hmm_fit(x, k = k, id = id, start = begin, tol = 1e-8, max_iter = 50)))
  note(paste(setting, "fit", sep = ": "), "hmm_fit()", seconds, seconds, fit$loglik, fit$convergence$iterations)
  if (has("depmixS4")) {
    used <- cpu(other <- depmixS4::fit(peer, verbose = FALSE, emcontrol = depmixS4::em.control(maxit = 50, tol = 1e-8, crit = "relative", random.start = FALSE)))
    note(paste(setting, "fit", sep = ": "), "depmixS4", used, seconds, as.numeric(depmixS4::logLik(other)))
  }
}
saveRDS(do.call(rbind, rows), output)
