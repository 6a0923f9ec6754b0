# Times sgd_curve() and sim_sgd() against the same computations written plainly. Rscript sgd_curve.R [output.rds]
#
# No other R package has the theory, so the peers are what one would write without it: the same recursion in plain R (200 nodes, uniform steps of
# 0.01, an exponential integrator with linear interpolation), and
# descent itself, run until the mean has a standard error of 1e-4. Seconds are processor time of one thread, the smallest of three runs (of one
# above ten seconds); `ratio` is to the first line of each setting.
# `error` is the largest relative error of the test error at t = 1, 5, 10, 20 against the plain recursion with 2000 nodes, extrapolated from steps
# of 0.01 and 0.005 to none; for runs it is their relative
# standard error. The time of the long simulation
# is extrapolated from 200 runs, since a standard error falls with the root of their number.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
output <- commandArgs(trailingOnly = TRUE)[1L]
cpu <- function(run) {
  best <- Inf
  for (k in 1:3) {
    used <- system.time(value <- run())
    best <- min(best, used[["user.self"]] + used[["sys.self"]])
    if (best > 10) break
  }
  list(seconds = best, value = value)
}
# Many calls where one is too short for the clock.
cpu_many <- function(run, times = 50L) {
  timed <- cpu(function() for (k in seq_len(times)) value <- run())
  list(seconds = timed$seconds / times, value = run())
}
rows <- list()
note <- function(setting, method, seconds, error = NA, ours = NA) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, error = error)
  print(rows[[length(rows)]], row.names = FALSE)
}

plain_recursion <- function(alpha, eta, lambda, noise_var, t, n = 200, h = 0.01) {
  s_minus <- abs(1 - sqrt(alpha))
  s_plus <- 1 + sqrt(alpha)
  half <- (s_plus - s_minus) / 2
  theta <- (seq_len(n) - 0.5) * pi / n
  s <- s_minus + half * (1 - cos(theta))
  w <- half^2 * sin(theta)^2 * sqrt((s_plus + s) * (s + s_minus)) / (pi * s) * pi / n
  a <- s^2
  if (alpha < 1) {
    a <- c(0, a)
    w <- c(1 - alpha, w)
  }
  rate <- eta / alpha * (a + lambda)
  r <- ifelse(a > 0, a / (a + lambda), 0)
  over <- ifelse(a > 0, a / (a + lambda)^2, 0)
  error0 <- function(u) {
    g <- 1 - exp(-rate * u)
    m <- 0.5 * ((g * r - 1)^2 + g^2 * noise_var * over)
    c(train = noise_var / 2 + sum(w * a * m) / alpha - noise_var / alpha * sum(w * g * r), test = sum(w * m))
  }
  z <- pmax(2 * rate * h, 1e-12)
  decay <- exp(-z)
  end <- h * (1 / z - (1 - decay) / z^2)
  start <- h * (1 - decay) / z - end
  source <- eta^2 * a / alpha
  load <- w * a / alpha
  gain <- sum(load * source * end)
  spread <- numeric(length(a))
  E <- error0(0)[["train"]]
  test <- numeric(length(t))
  for (k in seq_len(round(max(t) / h))) {
    now <- error0(k * h)
    moved <- decay * spread + source * start * E
    E_new <- (now[["train"]] + sum(load * moved)) / (1 - gain)
    spread <- moved + source * end * E_new
    E <- E_new
    at <- which(abs(t - k * h) < h / 2)
    if (length(at) > 0L) test[at] <- now[["test"]] + sum(w * spread)
  }
  test
}

times <- c(1, 5, 10, 20)
for (setting in list(list(2, 1, 0.1), list(0.7, 1, 1e-4), list(1, 1.5, 0))) {
  label <- sprintf("curve to t = 20, alpha = %g, eta = %g, lambda = %g", setting[[1L]], setting[[2L]], setting[[3L]])
  fine <- function(h) plain_recursion(setting[[1L]], setting[[2L]], setting[[3L]], 0.1, times, n = 2000, h = h)
  reference <- (4 * fine(0.005) - fine(0.01)) / 3
  off <- function(test) max(abs(test / reference - 1))
  ours <- cpu_many(function() sgd_curve(setting[[1L]], setting[[2L]], setting[[3L]], 0.1, t = times)$test)
  note(label, "sgd_curve()", ours$seconds, off(ours$value), ours$seconds)
  plain <- cpu(function() plain_recursion(setting[[1L]], setting[[2L]], setting[[3L]], 0.1, times))
  note(label, "the same recursion in plain R, steps of 0.01", plain$seconds, off(plain$value), ours$seconds)
  set.seed(1)
  runs <- cpu(function() sim_sgd(100, setting[[1L]], setting[[2L]], setting[[3L]], 0.1, t = times, n_rep = 200, threads = 1))
  note(label, "sim_sgd(), 200 runs, N = 100", runs$seconds, max(runs$value$test_se / reference), ours$seconds)
  note(label, "sim_sgd() until the standard error is 1e-4 (extrapolated)", runs$seconds * (max(runs$value$test_se) / 1e-4)^2,
       1e-4 / min(reference), ours$seconds)
}

# The simulator against a plain loop: 10 runs of N = 100, alpha = 2, t = 10.
plain_runs <- function(N, alpha, eta, lambda, noise_var, t, reps) {
  p <- round(alpha * N)
  replicate(reps, {
    x <- matrix(rnorm(N * p), N)
    x <- sweep(x, 2L, sqrt(N / colSums(x^2)), "*")
    truth <- rnorm(N)
    truth <- truth * sqrt(N / sum(truth^2))
    y <- drop(crossprod(x, truth)) / sqrt(N) + rnorm(p, sd = sqrt(noise_var))
    w <- numeric(N)
    order <- sample.int(p, N * t, replace = TRUE)
    for (mu in order) {
      input <- x[, mu]
      w <- w - eta * (input * (sum(input * w) / sqrt(N) - y[mu]) / sqrt(N) + lambda / p * w)
    }
    sum((w - truth)^2) / (2 * N)
  })
}
for (N in c(100, 400)) {
  label <- sprintf("10 runs to t = 10, N = %d, alpha = 2", N)
  reference <- sgd_curve(2, 1, 0.1, 0.1, t = 10)$test
  ours <- cpu(function() sim_sgd(N, 2, 1, 0.1, 0.1, t = 10, n_rep = 10, threads = 1))
  note(label, "sim_sgd()", ours$seconds, ours$value$test_se / reference, ours$seconds)
  plain <- cpu(function() plain_runs(N, 2, 1, 0.1, 0.1, 10, 10))
  note(label, "plain R loop", plain$seconds, stats::sd(plain$value) / sqrt(10) / reference, ours$seconds)
}

# Means over all orders: exactly, and by the same recursion with one matrix per example in plain R.
set.seed(2)
N <- 30
x <- matrix(rnorm(2 * N * N), 2 * N)
truth <- rnorm(N)
y <- drop(x %*% truth) / sqrt(N)
ours <- cpu(function() sgd_exact(x, y, eta = 1, lambda = 0.1, truth = truth, t = 5))
note("exact means, N = 30, 60 examples, 150 updates", "sgd_exact()", ours$seconds, 0, ours$seconds)
plain <- cpu(function() {
  p <- nrow(x)
  step <- lapply(seq_len(p), function(mu) diag(1 - 0.1 / p, N) - tcrossprod(x[mu, ]) / N)
  push <- x * y / sqrt(N)
  mean <- numeric(N)
  second <- matrix(0, N, N)
  for (k in 1:150) {
    next_mean <- numeric(N)
    next_second <- matrix(0, N, N)
    for (mu in seq_len(p)) {
      moved <- drop(step[[mu]] %*% mean)
      next_mean <- next_mean + (moved + push[mu, ]) / p
      cross <- tcrossprod(moved, push[mu, ])
      next_second <- next_second + (step[[mu]] %*% second %*% step[[mu]] + cross + t(cross) + tcrossprod(push[mu, ])) / p
    }
    mean <- next_mean
    second <- next_second
  }
  (sum(diag(second)) - 2 * sum(mean * truth) + sum(truth^2)) / (2 * N)
})
note("exact means, N = 30, 60 examples, 150 updates", "plain R, one matrix per example", plain$seconds, abs(plain$value / ours$value$test - 1),
     ours$seconds)

ours <- cpu(function() sgd_optimize(1, c(5, 10, 20, 50), 0.1, lambda = 0.1, threads = 1))
note("best rate at four times, alpha = 1", "sgd_optimize()", ours$seconds, NA, ours$seconds)
plain <- cpu(function() stats::optimize(function(l) plain_recursion(1, exp(l), 0.1, 0.1, 10), log(c(0.05, 2)), tol = 1e-4))
note("best rate at four times, alpha = 1", "optimize() of the plain recursion, t = 10 only", plain$seconds,
     abs(exp(plain$value$minimum) / ours$value$table$eta[2L] - 1), ours$seconds)
if (!is.na(output)) saveRDS(do.call(rbind, rows), output)
