# Binev, Cohen, Dahmen, DeVore and Temlyakov (2005) report no experiment. Their formulas and rates are checked instead.

# A worked example by hand: energies, threshold, depth, cells.
x <- c(.05, .1, .2, .3, .4, .45, .55, .6, .7, .8, .9, .95)
y <- c(0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0)
fit <- adapt_partition(x, y, kappa = 0.2, box = c(0, 1))
claim("threshold (13) for 12 rows and kappa = 0.2", 0.2 * sqrt(log(12) / 12), fit$tau, 1e-12, "by the formula, not a printed number")
claim("depth j0 with gamma = 1/2", floor(log2(fit$tau^-2)), fit$j0, 0, "by the formula, not a printed number")
claim("number of cells, (a - 1) #tree + 1", (2 - 1) * fit$tree_size + 1, fit$n_cells, 0)
claim("sum of squares left by an exact fit", 0, fit$sse, 1e-12)
levels <- tidy(fit, type = "path")
claim("energies add up: first minus last sum of squares", sum((y - mean(y))^2), levels$sse[1] - min(levels$sse), 1e-10)

rate <- function(f, sizes, seeds, ...) {
  at <- (seq_len(8192) - 0.5) / 8192
  errors <- vapply(sizes, function(m) mean(vapply(seq_len(seeds), function(seed) {
    set.seed(seed)
    x <- runif(m)
    fit <- adapt_partition(x, f(x) + rnorm(m, sd = 0.2), box = c(0, 1), ...)
    mean((predict(fit, at) - f(at))^2)
  }, 0)), 0)
  list(errors = errors, slope = unname(coef(lm(log(errors) ~ log(sizes / log(sizes))))[2L]))
}
sizes <- if (extended) 2^(10:20) else 2^(10:16)
seeds <- if (extended) 20L else 5L
note <- paste("slope of the log error against log(m / log m); the theorem bounds the error from above up to constants,",
              "so a rough agreement is all that can be expected")

# Theorem 3 for s = 1: squared error of the order (log m / m)^(2/3).
claim("f(x) = x: rate 2s/(2s+1) with s = 1", -2 / 3, rate(function(x) x, sizes, seeds)$slope, 0.1, note)
claim("f(x) = sqrt|x - 0.3|: the same rate, though f is not Lipschitz", -2 / 3, rate(function(x) sqrt(abs(x - 0.3)), sizes, seeds)$slope, 0.12, note)
# A jump is in every class B^s: the rate is as good as log m / m, and cells grow like the logarithm of m.
jump <- function(x) as.double(x < 1 / 3)
step <- rate(jump, sizes, seeds)
claim("f(x) = 1(x < 1/3): rate 1", -1, step$slope, 0.2, note)
cells <- vapply(sizes, function(m) mean(vapply(seq_len(seeds), function(seed) {
  set.seed(seed)
  x <- runif(m)
  adapt_partition(x, jump(x) + rnorm(m, sd = 0.2), box = c(0, 1))$n_cells
}, 0)), 0)
claim("f(x) = 1(x < 1/3): further cells per doubling of m (a chain towards 1/3)", 1, unname(coef(lm(cells ~ log2(sizes)))[2L]), 0.5,
      "the tree is a chain whose length grows by about one level when m doubles")
# The uniform partition of Theorem 2 cannot do better than m^(-1/2) on a jump (s = 1/2).
uniform <- rate(jump, sizes, seeds, method = "uniform", smoothness = 0.5)
claim("f(x) = 1(x < 1/3): the adaptive partition has less than a tenth of the uniform one's error", TRUE,
      tail(step$errors, 1) < tail(uniform$errors, 1) / 10, 0)
set.seed(1)
m <- 20000L
square <- matrix(runif(2 * m), m)
circle <- adapt_partition(square, (rowSums(square^2) < 0.5) + rnorm(m, sd = 0.2), box = rbind(c(0, 0), c(1, 1)))
finest <- circle$cells[circle$cells$level == max(circle$cells$level) & circle$cells$n > 0, ]
near <- function(x, y) sqrt(pmin(x, 1)^2 + y^2)
low <- near(finest$lower[, 1], finest$lower[, 2])
high <- near(finest$upper[, 1], finest$upper[, 2])
claim("1(x1^2 + x2^2 < 0.5): share of the finest cells that touch, or lie beside, the circle", 1,
      mean(low <= sqrt(0.5) + 2 * (high - low) & high >= sqrt(0.5) - 2 * (high - low)), 0.1)

bound <- adapt_partition_bounds(m = 1000, N = 10)
claim("Theorem 1: c = 3 / (256 M^2)", 3 / 256, 10 * log(40 / 0.05) / (1000 * bound$eta^2), 1e-12)
claim("Theorem 3: kappa_0 for M = 1, beta = 1, gamma = 1/2, a = 2", 2 * sqrt(312 * 3), bound$kappa_0, 1e-9,
      "b M sqrt(312 (beta + 1/gamma)) from the proofs: far beyond practical use")
