# Times committee_curve() and sim_committee() against the same computations written plainly. Rscript committee_curve.R [output.rds]
#
# No other R package has the theory. The peers are the same equations in plain R, integrated by Runge-Kutta steps of 0.05, by deSolve's lsoda if it
# is there (tolerances 1e-7), and training itself, with the number of runs that
# gives a standard error of 1e-4 extrapolated. Seconds are processor time of one thread, the smallest of three runs (of one above ten seconds);
# `ratio` is to the first line of each setting. `error` is the
# largest relative error of the test error at t = 10, 50, 100 against committee_curve() itself (0 for it; its own tolerance is 1e-7); for runs,
# their relative standard error.

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
rows <- list()
note <- function(setting, method, seconds, error = NA, ours = NA) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, error = error)
  print(rows[[length(rows)]], row.names = FALSE)
}

# The equations in plain R. The state: per block Q (L x L), R (L x M), U (L x (M + 1)).
plain_model <- function(alpha, eta, L, noise, blocks) {
  M <- L
  n <- L + M + 1L
  ratio <- sgd_bounds("blocks", alpha, blocks)$mean / alpha
  size <- L * (L + 2L * M + 1L)
  sign <- c(rep(1, L), rep(-1, M + 1L))
  square <- function(C) {
    z <- seq_len(n - 1L)
    scale <- 1 / sqrt(1 + diag(C)[z])
    angle <- asin(pmin(1, pmax(-1, C[z, z] * tcrossprod(scale))))
    sum(tcrossprod(sign[z]) * angle) * 2 / pi - 2 * sqrt(2 / pi) * sum(sign[z] * C[z, n] * scale) + C[n, n]
  }
  covariance <- function(state) {
    Q <- matrix(0, L, L)
    R <- matrix(0, L, M)
    U <- matrix(0, L, M + 1L)
    for (c in seq_len(blocks)) {
      part <- state[(c - 1L) * size + seq_len(size)]
      Q <- Q + ratio[c] * part[seq_len(L * L)] / blocks
      R <- R + ratio[c] * part[L * L + seq_len(L * M)] / blocks
      U <- U + part[L * (L + M) + seq_len(L * (M + 1L))] / blocks
    }
    hu <- R + U[, -1L, drop = FALSE] / alpha
    C <- matrix(0, n, n)
    h <- seq_len(L)
    u <- L + seq_len(M)
    C[h, h] <- Q
    C[h, u] <- hu
    C[u, h] <- t(hu)
    C[h, n] <- C[n, h] <- U[, 1L] / alpha
    C[u, u] <- diag(1 + noise, M)
    C[n, n] <- noise
    C
  }
  derivative <- function(state) {
    C <- covariance(state)
    B <- matrix(0, L, n)
    D <- matrix(0, L, L)
    for (l in seq_len(L)) {
      one <- 1 + C[l, l]
      mass <- sqrt(2 / pi / one)
      for (z in seq_len(n - 1L)) {
        weight <- sign[z] * mass * sqrt(2 / pi) / sqrt(1 + C[z, z] - C[z, l]^2 / one)
        B[l, z] <- B[l, z] + weight
        B[l, l] <- B[l, l] - weight * C[z, l] / one
      }
      B[l, n] <- B[l, n] - mass
      B[l, l] <- B[l, l] + mass * C[n, l] / one
      for (k in seq_len(l)) {
        pair <- c(l, k)
        inner <- diag(2) + C[pair, pair]
        tilted <- C - C[, pair] %*% solve(inner, C[pair, ])
        D[l, k] <- D[k, l] <- 2 / pi / sqrt(det(inner)) * square(tilted)
      }
    }
    out <- numeric(length(state))
    for (c in seq_len(blocks)) {
      at <- (c - 1L) * size + seq_len(size)
      part <- state[at]
      Q <- matrix(part[seq_len(L * L)], L)
      R <- matrix(part[L * L + seq_len(L * M)], L)
      U <- matrix(part[L * (L + M) + seq_len(L * (M + 1L))], L)
      r <- ratio[c]
      H <- cbind(r * Q, r * R + U[, -1L, drop = FALSE] / alpha, U[, 1L] / alpha)
      K <- cbind(r * t(R), diag(r, M), 0)
      Z <- cbind(r * t(U), rbind(0, diag(r * noise, M)), c(r * noise, numeric(M)))
      pull <- H %*% t(B)
      out[at] <- c(-eta * (pull + t(pull)) + eta^2 * r * D, -eta * B %*% t(K), -eta * B %*% t(Z))
    }
    out
  }
  test <- function(state) {
    parts <- matrix(state, size)
    C <- matrix(0, n, n)
    h <- seq_len(L)
    u <- L + seq_len(M)
    C[h, h] <- rowMeans(parts[seq_len(L * L), , drop = FALSE])
    C[h, u] <- rowMeans(parts[L * L + seq_len(L * M), , drop = FALSE])
    C[u, h] <- t(C[h, u, drop = FALSE])
    C[u, u] <- diag(1 + noise, M)
    C[n, n] <- noise
    square(C) / 2
  }
  list(derivative = derivative, test = test, start = function(r0) rep(c(diag(0.25, L), r0, numeric(L * (M + 1L))), blocks))
}

runge_kutta <- function(f, state, t, h) {
  found <- list()
  for (k in seq_len(round(max(t) / h))) {
    k1 <- f(state)
    k2 <- f(state + h / 2 * k1)
    k3 <- f(state + h / 2 * k2)
    k4 <- f(state + h * k3)
    state <- state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    if (any(abs(t - k * h) < h / 2)) found[[length(found) + 1L]] <- state
  }
  found
}

times <- c(10, 50, 100)
for (L in 1:2) {
  r0 <- if (L == 1L) matrix(1e-3) else matrix(c(1e-3, -3e-4, -5e-4, 7e-4), 2L)
  label <- sprintf("curve to t = 100, L = M = %d, alpha = 3, eta = 1, noise 0.1, 10 blocks", L)
  many <- 20L
  ours <- cpu(function() for (k in seq_len(many)) committee_curve(3, 1, L = L, noise = c(0.1, 0.1), r0 = r0, t = c(0, times)))
  reference <- committee_curve(3, 1, L = L, noise = c(0.1, 0.1), r0 = r0, t = c(0, times))$test[-1L]
  seconds <- ours$seconds / many
  note(label, "committee_curve()", seconds, 0, seconds)
  model <- plain_model(3, 1, L, 0.1, 10L)
  plain <- cpu(function() vapply(runge_kutta(model$derivative, model$start(r0), times, 0.05), model$test, 0))
  note(label, "the same equations in plain R, steps of 0.05", plain$seconds, max(abs(plain$value / reference - 1)), seconds)
  if (requireNamespace("deSolve", quietly = TRUE)) {
    lsoda <- getExportedValue("deSolve", "lsoda")
    timed <- cpu(function() {
      found <- lsoda(model$start(r0), c(0, times), function(t, y, p) list(model$derivative(y)), NULL, rtol = 1e-7, atol = 1e-9)
      apply(found[-1L, -1L, drop = FALSE], 1L, model$test)
    })
    note(label, "deSolve::lsoda, derivative in plain R", timed$seconds, max(abs(timed$value / reference - 1)), seconds)
  }
  set.seed(1)
  runs <- cpu(function() sim_committee(100, 3, 1, L = L, noise = c(0.1, 0.1), t = times, n_rep = 50, threads = 1))
  note(label, "sim_committee(), 50 runs, N = 100", runs$seconds, max(runs$value$test_se / runs$value$test), seconds)
  note(label, "sim_committee() until the standard error is 1e-4 (extrapolated)", runs$seconds * (max(runs$value$test_se) / 1e-4)^2,
       1e-4 / min(reference), seconds)
}

plain_train <- function(N, alpha, eta, L, noise, t) {
  p <- round(alpha * N)
  x <- matrix(rnorm(N * p), N)
  truth <- qr.Q(qr(matrix(rnorm(N * L), N))) * sqrt(N)
  g <- function(u) 2 * stats::pnorm(u) - 1
  y <- rowSums(g(crossprod(x, truth) / sqrt(N) + rnorm(p * L, sd = sqrt(noise)))) + rnorm(p, sd = sqrt(noise))
  w <- matrix(rnorm(N * L, sd = 0.5), N)
  for (mu in sample.int(p, N * t, replace = TRUE)) {
    input <- x[, mu]
    h <- drop(crossprod(w, input)) / sqrt(N)
    w <- w - eta / sqrt(N) * tcrossprod(input, 2 * stats::dnorm(h) * (sum(g(h)) - y[mu]))
  }
  w
}
label <- "one run to t = 50, N = 200, L = M = 2, alpha = 3"
ours <- cpu(function() sim_committee(200, 3, 1, L = 2, noise = c(0.1, 0.1), t = 50, n_rep = 1, threads = 1))
note(label, "sim_committee()", ours$seconds, NA, ours$seconds)
plain <- cpu(function() plain_train(200, 3, 1, 2L, 0.1, 50))
note(label, "plain R loop", plain$seconds, NA, ours$seconds)
if (!is.na(output)) saveRDS(do.call(rbind, rows), output)
