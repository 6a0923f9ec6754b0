# Gunawardana and Byrne (2005): Example 2, the coin of which only "equal or not" is seen; the paper has no other numbers.
posterior <- function(theta) theta^2 / (theta^2 + (1 - theta)^2)
entropy <- function(q) if (q <= 0 || q >= 1) 0 else -q * log(q) - (1 - q) * log(1 - q)
divergence <- function(q, theta) -entropy(q) - 2 * (q * log(theta) + (1 - q) * log(1 - theta))
loglik <- function(theta) log(theta^2 + (1 - theta)^2)
keep <- function(q, theta) q
path <- vapply(1:3, function(i) em_iterate(0.3, function(q, theta) posterior(theta), keep, divergence, loglik, max_iter = i)$theta, 0)
claim("Example 2, EM from .3: first forward step", .155, path[1L], 5e-4)
claim("Example 2, EM from .3: second value", .0326350, path[2L], 1e-7, source = "reference")
claim("Example 2, EM from .3: third value", .0011368, path[3L], 1e-7, source = "reference")
held <- em_iterate(0.3, function(q, theta) min(max(posterior(theta), 0.4), 0.6), keep, divergence, loglik)
claim("Example 2, forward step held in [.4, .6]: where it ends", .4, held$theta, 1e-12)
claim("Example 2, likelihood before", .58, exp(loglik(0.3)), 1e-12)
claim("Example 2, likelihood after: it falls", .52, exp(held$loglik), 1e-12)
claim("Example 2, EM from .5 stays there", .5, em_iterate(0.5, function(q, theta) posterior(theta), keep, divergence, loglik)$theta, 1e-12)
claim("Example 2, below which the bound .4 holds the forward step", 1 / (1 + sqrt(1.5)), stats::uniroot(function(theta) posterior(theta) - 0.4, c(0.3, 0.5), tol = 1e-12)$root, 1e-9, source = "reference")

# Incremental EM needs fewer passes: five Gaussian components, unit variances, started at five random rows.
seeds <- if (extended) 1:10 else 1:3
passes <- vapply(seeds, function(seed) {
  set.seed(seed)
  centers <- matrix(rnorm(25), 5) * 2 / sqrt(2)
  sim <- sim_em(10000, means = centers)
  start <- em_fit(sim$x, k = 5, covariance = "spherical", start = "random", n_starts = 1, max_iter = 1, tol = 1e-6) |> suppressWarnings()
  count <- function(method) {
    fit <- suppressWarnings(em_fit(sim$x, k = 5, covariance = "spherical", method = method, start = start, tol = 1e-9, max_iter = 2000))
    best <- -min(fit$trace$backward)
    value <- tapply(-fit$trace$backward, fit$trace$pass, max)
    as.numeric(names(value))[which(value >= best - 1e-6 * abs(best))[1L]]
  }
  c(count("em"), count("incremental"))
}, c(0, 0))
claim("passes of incremental EM with 20 blocks relative to EM, mean over data sets", 0.5, mean(passes[2L, ] / passes[1L, ]), 0.25,
      sprintf("to within 1e-6 of the limit of D; variances estimated here; %s passes of EM, %s of incremental EM", paste(passes[1L, ], collapse = " "), paste(passes[2L, ], collapse = " ")),
      source = "reference")
claim("most passes incremental EM needed relative to EM", 1, max(passes[2L, ] / passes[1L, ]), 0.5, source = "reference")
