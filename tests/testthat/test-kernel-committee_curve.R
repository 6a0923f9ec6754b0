# Values marked "prototype" were computed independently of the package.

r2 <- matrix(c(1e-3, -3e-4, -5e-4, 7e-4), 2)

test_that("prototype values of Figure 1", {
  final <- function(alpha, noise) committee_curve(alpha, 1, noise = c(noise, noise), r0 = matrix(1e-3), t = c(0, 10, 100))$test[2:3]
  expect_equal(c(final(2, 0.01)[2], final(3, 0.01)[2], final(4, 0.01)[2], final(Inf, 0.01)[2]), c(0.0137, 0.0111, 0.0102, 0.00864), tolerance = 5e-3)
  expect_equal(final(2, 0.1), c(0.121, 0.130), tolerance = 5e-3)
  expect_equal(final(4, 0.1), c(0.101, 0.101), tolerance = 5e-3)
  expect_equal(final(Inf, 0.1)[2], 0.0851, tolerance = 1e-3)
  zero <- committee_curve(3, 1, noise = c(0.01, 0.01), r0 = matrix(0), t = c(0, 1, 5, 10, 20))
  expect_equal(zero$test[-1], c(0.130925, 0.033897, 0.016649, 0.011604), tolerance = 1e-5)
})

test_that("prototype values of Figure 2: plateau, then specialisation", {
  curve <- committee_curve(0.5, 2, L = 2, r0 = r2, t = seq(0, 50, 0.5))
  expect_equal(curve$test[c(21, 101)], c(0.258, 0.229), tolerance = 0.01)
  found <- summary(curve)
  expect_equal(found$plateau[["height"]], 0.258, tolerance = 0.01)
  expect_gt(found$specialised, 20)
  expect_lt(found$specialised, 45)
  expect_output(print(found), "plateau at 0.25.*specialised from t = ")
  expect_equal(committee_curve(Inf, 2, L = 2, r0 = r2, t = c(0, 50))$test[2], 0.065, tolerance = 0.01)
  noisy <- committee_curve(4, 2, L = 2, noise = c(0.1, 0.1), r0 = r2, t = c(0, 200))
  expect_equal(noisy$test[2], 0.270, tolerance = 0.01)
})

test_that("an independent integration in plain R gives the same curve", {
  alpha <- 2
  eta <- 1.3
  s2 <- 0.07
  ratio <- sgd_bounds("blocks", alpha, 6)$mean / alpha
  # one hidden unit; averages by two-dimensional quadrature over (h, v) would do, here by the published I3 for each term
  i3 <- function(cxx, cyy, czz, cxy, cxz, cyz) {  # <g'(x) y g(z)>
    2 / pi / sqrt((1 + cxx) * (1 + czz) - cxz^2) * (cyz * (1 + cxx) - cxy * cxz) / (1 + cxx)
  }
  derivative <- function(state) {
    Q <- state[1:6]
    R <- state[7:12]
    U0 <- state[13:18]
    U1 <- state[19:24]
    hh <- mean(ratio * Q)
    hu <- mean(ratio * R) + mean(U1) / alpha
    h0 <- mean(U0) / alpha
    uu <- 1 + s2
    # <v d> for v with covariances vh, vu, v0
    vd <- function(vh, vu, v0) {
      i3(hh, 0, hh, vh, hh, vh) - i3(hh, 0, uu, vh, hu, vu) - sqrt(2 / pi) / sqrt(1 + hh) * (v0 - vh * h0 / (1 + hh))
    }
    # <d d> by Gauss-Hermite-free Monte Carlo is too rough: use the tilted law directly
    shrink <- 1 / (1 + 2 * hh)
    th <- hh * shrink
    tu <- uu - 2 * hu^2 * shrink
    thu <- hu * shrink
    th0 <- h0 * shrink
    tu0 <- -2 * hu * h0 * shrink
    t0 <- s2 - 2 * h0^2 * shrink
    as <- function(c, a, b) 2 / pi * asin(c / sqrt((1 + a) * (1 + b)))
    dd <- 2 / pi * sqrt(shrink) * (as(th, th, th) + as(tu, tu, tu) - 2 * as(thu, th,
                                                                            tu) - 2 * sqrt(2 / pi) * (th0 / sqrt(1 + th) - tu0 / sqrt(1 + tu)) + t0)
    c(-2 * eta * vd(ratio * Q, ratio * R + U1 / alpha, U0 / alpha) + eta^2 * ratio * dd,
      -eta * vd(ratio * R, ratio * 1, 0),
      -eta * vd(ratio * U0, 0, ratio * s2),
      -eta * vd(ratio * U1, ratio * s2, 0))
  }
  state <- c(rep(0.25, 6), rep(0.01, 6), rep(0, 12))
  h <- 0.02
  for (k in 1:250) {
    k1 <- derivative(state)
    k2 <- derivative(state + h / 2 * k1)
    k3 <- derivative(state + h / 2 * k2)
    k4 <- derivative(state + h * k3)
    state <- state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
  }
  curve <- committee_curve(alpha, eta, noise = c(s2, s2), blocks = 6, r0 = matrix(0.01), t = c(0, 5))
  expect_equal(curve$Q[1, 1, 2], mean(state[1:6]), tolerance = 1e-5)
  expect_equal(curve$R[1, 1, 2], mean(state[7:12]), tolerance = 1e-5)
  expect_equal(curve$U[1, , 2], c(mean(state[13:18]), mean(state[19:24])), tolerance = 1e-5)
})

test_that("linear networks and small weights are the linear theory", {
  curve <- committee_curve(2, 1, noise = c(0.1, 0), q0 = 0, r0 = matrix(0), activation = "linear", noisy_test = FALSE, blocks = 300, t = 0:5)
  linear <- sgd_curve(2, 1, 0, 0.1, t = 0:5)
  expect_equal(curve$test, linear$test, tolerance = 1e-3)
  expect_equal(curve$train, linear$train, tolerance = 1e-3)
  small <- committee_curve(2, pi / 2, teacher = matrix(1e-4), q0 = 0, r0 = matrix(0), blocks = 300, t = c(0, 1, 2))
  expect_equal(small$test[-1] / (1e-4 * 2 / pi), c(0.2180, 0.1151), tolerance = 2e-3)
})

test_that("oracles: silent student, infinite sets, perfect student, permutation, blocks", {
  expect_equal(committee_curve(2, 1, L = 2, q0 = 0, r0 = diag(0, 2) + 0, t = 0) |> suppressWarnings() |> getElement("test"), 1 / 3)
  expect_equal(committee_curve(2, 1, q0 = 0, r0 = matrix(0), t = 0)$test, 1 / 6)
  many <- committee_curve(1e7, 2, L = 2, r0 = r2, t = c(0, 20))
  expect_equal(many$test, committee_curve(Inf, 2, L = 2, r0 = r2, t = c(0, 20))$test, tolerance = 1e-6)
  perfect <- committee_curve(0.5, 1, L = 2, q0 = diag(2), r0 = diag(2), t = c(0, 30))
  expect_lt(max(perfect$test), 1e-9)
  swapped <- committee_curve(2, 1, L = 2, r0 = r2[2:1, ], t = c(0, 20))
  plain <- committee_curve(2, 1, L = 2, r0 = r2, t = c(0, 20))
  expect_equal(swapped$R[2:1, , 2], plain$R[, , 2], tolerance = 1e-8)
  expect_equal(committee_curve(2, 1, L = 2, r0 = r2, t = c(0, 20), blocks = 20)$test, plain$test, tolerance = 0.01)
  expect_gt(plain$least_eigenvalue, -1e-10)
})

test_that("networks that are trained behave as theory says where it holds", {
  set.seed(1)
  theory <- committee_curve(Inf, 1, L = 2, noise = c(0.05, 0), t = c(0, 2, 5))
  run <- sim_committee(200, Inf, 1, L = 2, noise = c(0.05, 0), t = c(0, 2, 5), n_rep = 20, threads = 1)
  expect_lt(max(abs(run$test / theory$test - 1)[-1]), 0.03)
  expect_null(run$train)
  expect_null(run$kurtosis)
  finite <- sim_committee(100, 3, 1, noise = c(0.01, 0.01), t = c(0, 5, 20), n_rep = 20, threads = 1)
  expected <- committee_curve(3, 1, noise = c(0.01, 0.01), t = c(0, 5, 20))
  expect_equal(finite$test, expected$test, tolerance = 0.1)
  expect_equal(finite$train, expected$train, tolerance = 0.1)
  gap <- assess(expected, truth = finite)
  expect_equal(gap$gap, finite$test - expected$test, tolerance = 1e-6)
  expect_equal(gap$z, gap$gap / finite$test_se)
})

test_that("the variance over training sets decays as 1/N", {
  skip_if(Sys.getenv("GRANARY_EXTENDED") != "1", "takes a minute")
  set.seed(2)
  variance <- vapply(c(50, 200, 800), function(N) {
    run <- sim_committee(N, 0.5, 2, L = 2, t = 20, n_rep = 60)
    var(run$test_runs[1, ])
  }, 0)
  slope <- coef(lm(log(variance) ~ log(c(50, 200, 800))))[[2]]
  expect_equal(slope, -1, tolerance = 0.35)
})

test_that("same seed, same networks, on one thread and on two; shared training sets", {
  set.seed(3)
  one <- sim_committee(20, 2, 1, L = 2, t = 0:2, n_rep = 5, threads = 1)
  set.seed(3)
  two <- sim_committee(20, 2, 1, L = 2, t = 0:2, n_rep = 5, threads = 2)
  expect_identical(one$test_runs, two$test_runs)
  expect_identical(one$R, two$R)
  same <- sim_committee(20, 2, 1, t = c(0, 3), n_rep = 5, same_set = TRUE, threads = 1)
  expect_equal(sd(same$test_runs[1, ]), 0)
  expect_gt(sd(same$test_runs[2, ]), 0)
})

test_that("bad input", {
  expect_error(committee_curve(0, 1), "`alpha`", class = "granary_error_input")
  expect_error(committee_curve(2, -1), "`eta`", class = "granary_error_input")
  expect_error(committee_curve(2, 1, L = 0), "`L`", class = "granary_error_input")
  expect_error(committee_curve(2, 1, L = 2, teacher = matrix(c(1, 2, 2, 1), 2)), "positive semi-definite", class = "granary_error_input")
  expect_error(committee_curve(2, 1, L = 2, teacher = diag(3)), "one row and column per hidden unit", class = "granary_error_input")
  expect_error(committee_curve(2, 1, teacher = matrix(1e9)), "at most 1e6", class = "granary_error_input")
  expect_error(committee_curve(2, 1, noise = c(a = 1, b = 2)), "output = , activation = ", class = "granary_error_input")
  expect_error(committee_curve(2, 1, noise = 1), "length 2", class = "granary_error_input")
  expect_error(committee_curve(2, 1, L = 2, r0 = matrix(0, 3, 3)), "2 x 2 matrix", class = "granary_error_input")
  expect_error(committee_curve(2, 1, L = 2, q0 = diag(3)), "`q0`", class = "granary_error_input")
  expect_error(committee_curve(2, 1, L = 2, q0 = matrix(c(1, 2, 2, 1), 2)), "positive semi-definite", class = "granary_error_input")
  expect_error(committee_curve(2, 1, q0 = 0.01, r0 = matrix(0.5)), "no vectors have these overlaps", class = "granary_error_input")
  expect_error(committee_curve(2, 1, L = 100, blocks = 1000), "equations", class = "granary_error_input")
  expect_warning(committee_curve(2, 1, L = 2, r0 = matrix(0.01, 2, 2), t = 0:2), "never specialise", class = "granary_warning_input")
  expect_warning(wild <- committee_curve(2, 3, activation = "linear", t = seq(0, 1000, 10)), "diverge", class = "granary_warning_input")
  expect_lt(length(wild$t), 101)
  expect_false(is.na(wild$diverged))
  expect_output(print(wild), "DIVERGES")
  expect_identical(predict(wild, 1000)$test, Inf)
  expect_error(sim_committee(1, 2, 1, L = 2), "at least `M`", class = "granary_error_input")
  expect_error(sim_committee(1e5, 1e4, 1), "too many to hold", class = "granary_error_input")
  run <- sim_committee(10, 2, 1, t = 0:1, n_rep = 2, threads = 1)
  curve <- committee_curve(2, 1, t = 0:2)
  expect_error(assess(1, truth = run), "no scores", class = "granary_error_input")
  expect_error(assess(curve, truth = 1), "`truth`", class = "granary_error_input")
  expect_error(assess(curve), "`truth` must be given", class = "granary_error_input")
})

test_that("one input, one example, teacher with overlaps, named noise, methods", {
  set.seed(4)
  tiny <- sim_committee(1, 1, 0.5, t = 0:2, n_rep = 2, threads = 1)
  expect_true(all(is.finite(tiny$test)))
  one <- committee_curve(2, 1, L = 2, M = 1, r0 = matrix(c(0.01, 0.02), 2), t = 0:5)
  expect_identical(dim(one$R), c(2L, 1L, 6L))
  named <- committee_curve(2, 1, noise = c(activation = 0.2, output = 0.1), r0 = matrix(0), t = 0:1)
  expect_equal(named$test, committee_curve(2, 1, noise = c(0.1, 0.2), r0 = matrix(0), t = 0:1)$test)
  correlated <- committee_curve(Inf, 1, L = 2, teacher = matrix(1, 2, 2), t = c(0, 300))
  expect_lt(correlated$test[2], 0.05)
  expect_equal(predict(correlated, c(0, 300))$test, correlated$test, tolerance = 1e-6)
  expect_equal(committee_curve(2, 1, r0 = matrix(0), t = c(1, 2))$t, c(0, 1, 2))
  expect_equal(max(abs(committee_curve(2, 1, q0 = 0, r0 = 10, t = 0)$settings$r0)), 0)  # vectors of no length
  expect_output(print(one), "alpha below 3")
  expect_output(print(summary(committee_curve(2, 1, noise = c(0.1, 0.1), t = seq(0, 100, 5)))), "overfitting")
  run <- sim_committee(20, 2, 1, t = 0:2, n_rep = 3, threads = 1)
  expect_output(print(run), "3 runs.*excess kurtosis")
  expect_named(tidy(run), c("t", "test", "test_se", "train", "train_se"))
  pdf(NULL)
  on.exit(dev.off())
  expect_no_error(plot(one, run))
  expect_no_error(plot(one, type = "overlaps"))
  expect_no_error(plot(run, one))
  expect_no_error(plot(run, type = "activations"))
  fresh <- sim_committee(20, Inf, 1, t = 0:2, n_rep = 2, threads = 1)
  expect_error(plot(fresh, type = "activations"), "without a training set", class = "granary_error_input")
  expect_no_error(plot(fresh))
})

test_that("blocks of a spectrum", {
  expect_equal(mean(sgd_bounds("blocks", 0.5, 7)$mean), 0.5)
  expect_equal(mean(sgd_bounds("blocks", 2, 2000)$mean^2), 6, tolerance = 1e-4)
  set.seed(5)
  x <- matrix(rnorm(400 * 800), 800)
  values <- eigen(crossprod(x) / 400, symmetric = TRUE)$values
  expect_equal(sgd_bounds("blocks", 2, 10, values)$mean, sgd_bounds("blocks", 2, 10)$mean, tolerance = 0.03)
  expect_error(sgd_bounds("blocks", 2, 10, 1:3), "at most the number", class = "granary_error_input")
  expect_error(sgd_bounds("blocks", 0, 10), "`alpha`", class = "granary_error_input")
})
