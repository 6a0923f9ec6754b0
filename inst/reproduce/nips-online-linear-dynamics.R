# Sollich and Barber (NIPS 9, 1997). The paper prints few numbers; its figures are curves without tables. Claims that begin "Text" or "Figure"
# compare with what the
# paper says; claims that begin "Prototype" compare with an independent implementation of the same equations, which the paper does not print.

# For numbers that are not the paper's.
reference <- if ("source" %in% names(formals(claim))) function(...) claim(..., source = "reference") else claim

prototype <- "not printed in the paper: an independent implementation of the equations"
increase <- function(alpha, lambda) {
  end <- sgd_bounds("asymptote", alpha, 1, lambda, 0.1)
  end$test / end$ridge - 1
}
largest_increase <- function(alpha) {
  lambda <- 10^seq(-6, 3, length.out = 400)
  at <- lambda[which.max(increase(alpha, lambda))]
  stats::optimize(increase, c(at / 2, 2 * at), alpha = alpha, maximum = TRUE, tol = 1e-6)$objective
}

# Section 3, the error at the end of time.
claim("Text: alpha = 0.5, eta = 1, the final error rises by less than 6% for every lambda (as a share)", TRUE, largest_increase(0.5) < 0.06, 0)
claim("Text: alpha = 1, eta = 1, at most 13%", 0.13, largest_increase(1), 0.005)
claim("Text: alpha = 2, eta = 1, around 50%", 0.50, increase(2, 0), 0.05, "for lambda -> 0; the largest over lambda is 0.563")
reference("Prototype: alpha = 0.5, largest increase", 0.0556, largest_increase(0.5), 5e-5, prototype)
reference("Prototype: alpha = 2, largest increase", 0.56, largest_increase(2), 0.005, prototype)
fine <- exp(seq(log(0.02), log(0.5), length.out = 2001))
claim("Text: the final error is smallest at lambda = sigma^2 (eta -> 0, alpha = 1)", 0.1, fine[which.min(sgd_bounds("asymptote", 1, 1e-8, fine, 0.1)$test)],
      0.001)
claim("Text: alpha < 1 and lambda = 0, no dependence on eta (largest difference over eta < 2)", 0,
      diff(range(sgd_bounds("asymptote", 0.7, seq(0.05, 1.95, 0.1), 0, 0.1)$test)), 1e-12)
claim("Text: large alpha, (sigma^2/2) [1/alpha + eta/(2 - eta)] at alpha = 1000, eta = 0.5", 0.05 * (1e-3 + 0.5 / 1.5),
      sgd_bounds("asymptote", 1000, 0.5, 0, 0.1)$test, 5e-5)

# Section 3, rates.
claim("Text: eta_c = 2 (1 + lambda) for small alpha (lambda = 0.5)", 3, sgd_bounds("rates", 1e-5, 0.5)$eta_c, 1e-3)
claim("Text: eta_c = 2 (1 + lambda/alpha) for large alpha (lambda/alpha = 0.5)", 3, sgd_bounds("rates", 1e6, 5e5)$eta_c, 1e-3)
claim("Text: eta_min = 2 / (sqrt(alpha) + 1/sqrt(alpha) - 1), against the root of the threshold equation (alpha = 2)", sgd_bounds("rates", 2)$eta_min, {
  theta <- (seq_len(4000) - 0.5) * pi / 4000
  # int rho a^2 / (a - a_-) with a = 1 + alpha + 2 sqrt(alpha) cos(theta)
  a <- 3 + 2 * sqrt(2) * cos(theta)
  4 / sum(8 * sin(theta)^2 / (2 * pi) * a / (a - (1 - sqrt(2))^2) * pi / 4000)
}, 1e-5)
claim("Text: eta_x = 1 + 2 alpha^(-1/2) for large alpha (alpha = 1e4)", 1.02, sgd_bounds("rates", 1e4)$eta_x, 1e-3)
grid <- exp(seq(log(0.05), log(5), length.out = 500))
claim("Text: eta_x is largest at alpha near 1 (lambda = 0)", 1, grid[which.max(sgd_bounds("rates", grid, 0)$eta_x)], 0.02)
claim("Text: there eta_x is eta_c (lambda = 0, alpha = 1)", sgd_bounds("rates", 1)$eta_c, sgd_bounds("rates", 1)$eta_x, 1e-6)
claim("Text: offline, the largest stable rate is 2/alpha for large alpha (times alpha, alpha = 1e6)", 2, 1e6 * sgd_bounds("rates", 1e6)$offline, 0.01)
for (case in list(c(0.5, 0.1, 2.186191), c(1, 0.1, 2.157461), c(2, 1, 2.828427), c(5, 1, 2.385165))) {
  reference(sprintf("Prototype: eta_c at alpha = %g, lambda = %g", case[1], case[2]), case[3], sgd_bounds("rates", case[1], case[2])$eta_c, 1e-6, prototype)
}
for (case in list(c(0.5, 0.1, 2.014116), c(1, 1, 2.666667), c(5, 0.1, 1.700412))) {
  reference(sprintf("Prototype: eta_x at alpha = %g, lambda = %g", case[1], case[2]), case[3], sgd_bounds("rates", case[1], case[2])$eta_x, 1e-6, prototype)
}
reference("Prototype: eta_min at alpha = 2", 1.783612, sgd_bounds("rates", 2)$eta_min, 1e-6, prototype)

# Figure 3: the error over time, lambda = 1e-4, sigma^2 = 0.1.
low <- sgd_curve(0.7, 0.5, 1e-4, 0.1, t = seq(0, 30, 0.1))
high <- sgd_curve(0.7, 1.95, 1e-4, 0.1, t = seq(0, 30, 0.1))
claim("Figure 3a: at eta = 0.5 the error has a minimum in time (overtraining)", TRUE, min(low$test) < 0.97 * low$test[301], 0)
claim("Figure 3a: at eta = 1.95 the update noise has eliminated it", TRUE, which.min(high$test) == 301L, 0)
claim("Figure 3a: the final error is essentially independent of eta (ratio of eta = 1.95 to 0.5)", 1,
      sgd_bounds("asymptote", 0.7, 1.95, 1e-4, 0.1)$test / low$eps_inf, 0.01)
claim("Figure 3b: alpha = 5, the final error increases with eta", TRUE, !is.unsorted(sgd_bounds("asymptote", 5, c(0.5, 1, 1.5, 1.75), 1e-4, 0.1)$test), 0)
claim("Figure 3: values at the ends of the curves", NA, low$test[301], NA, "the figure has no table to compare with")
set.seed(1)
within <- function(alpha, eta) {
  run <- sim_sgd(50, alpha, eta, 1e-4, 0.1, t = c(1, 5, 10, 20), n_rep = if (extended) 1000 else 100, threads = 1)
  theory <- predict(sgd_curve(alpha, eta, 1e-4, 0.1), run$t)$test
  max(abs(run$test / theory - 1))
}
claim("Figure 3: simulations for N = 50 confirm the theory: largest relative difference, alpha = 0.7, eta = 1", 0, within(0.7, 1), 0.06)
claim("Figure 3: the same for alpha = 5, eta = 1.5", 0, within(5, 1.5), 0.06)
reference("Prototype: alpha = 0.7, eta = 1, smallest error, near t = 5 to 6", 0.226, min(sgd_curve(0.7, 1, 1e-4, 0.1)$test), 5e-4, prototype)
reference("Prototype: alpha = 0.7, eta = 1, t = 15", 0.240, sgd_curve(0.7, 1, 1e-4, 0.1, t = 15)$test, 5e-4, prototype)
reference("Prototype: alpha = 5, eta = 1.5, t = 15", 0.1325, sgd_curve(5, 1.5, 1e-4, 0.1, t = 15)$test, 5e-5, prototype)
two <- sgd_curve(2, 1, 0.1, 0.1, t = c(0, 1, 2, 5))
for (k in 1:4) {
  reference(sprintf("Prototype: alpha = 2, lambda = 0.1, eta = 1, test error at t = %g", two$t[k]), c(0.5, 0.245948, 0.154896, 0.083313)[k],
        two$test[k], 1e-6, prototype)
}
reference("Prototype: the same, training error at t = 1", 0.210549, two$train[2], 1e-6, prototype)
reference("Prototype: the same, training error at t = 5", 0.064394, two$train[4], 1e-6, prototype)
reference("Prototype: the same, final test error", 0.0659497, two$eps_inf, 1e-7, prototype)

# Figure 4: the best rate and decay for a given time, sigma^2 = 0.1.
times <- c(5, 10, 20, 30, 40, 50)
for (alpha in 1:2) {
  online <- sgd_optimize(alpha, times, 0.1)
  offline <- sgd_optimize(alpha, times[-1L], 0.1, method = "offline")
  fixed <- sgd_optimize(alpha, times, 0.1, lambda = 0.1)
  claim(sprintf("Figure 4a, alpha = %d: (a + b log t)/t describes the best rate (relative root mean square error)", alpha), 0,
        online$schedule$relative_error, 0.1)
  claim(sprintf("Figure 4a, alpha = %d: the best rate decreases with t", alpha), TRUE, all(diff(online$table$eta) < 0), 0)
  claim(sprintf("Figure 4b, alpha = %d: the best decay increases with t and stays below sigma^2", alpha), TRUE,
        !is.unsorted(online$table$lambda) && max(online$table$lambda) < 0.1, 0)
  claim(sprintf("Figure 4c, alpha = %d: online loses little against offline (largest loss, t = 10 to 50; the axis of the figure ends at 0.25)",
                alpha), 0,
        max(online$table$test[-1L] - offline$table$test), 0.01, sprintf("at most %.1f%% of the offline error",
                                                                        100 * max(online$table$test[-1L] / offline$table$test - 1)))
  claim(sprintf("Text, alpha = %d: fixed lambda = sigma^2 is almost as good as the best (largest relative loss)", alpha), 0,
        max(fixed$table$test / online$table$test - 1), 0.05)
}
claim("Text: after t = 10 the error is almost that for t -> infinity (alpha = 1, ratio)", 1,
      sgd_optimize(1, 10, 0.1)$table$test / sgd_bounds("asymptote", 1, 0, 0.1, 0.1)$test, 0.1)
for (case in list(c(1, 10, 0.7547, 0.14574), c(1, 50, 0.2790, 0.13718), c(2, 10, 0.6062, 0.05977), c(2, 50, 0.2098, 0.04597))) {
  best <- sgd_optimize(case[1], case[2], 0.1, lambda = 0.1)$table
  reference(sprintf("Prototype: best rate at alpha = %g, t = %g, lambda = 0.1", case[1], case[2]), case[3], best$eta, 1e-4, prototype)
  reference(sprintf("Prototype: its error at alpha = %g, t = %g", case[1], case[2]), case[4], best$test, 1e-5, prototype)
}
