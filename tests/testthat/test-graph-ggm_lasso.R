# The graphical lasso against other programs, its optimality conditions, closed forms, and bad input.

fit_at <- function(S, lambda, ..., tol = 1e-10, covariance = TRUE) {
  ggm_lasso(S = S, lambda = lambda, ..., tol = tol, covariance = covariance, threads = 1)
}

# The dual point of the help page's certificate, from X and its inverse, and what it proves.
certificate <- function(X, S, L) {
  X <- as.matrix(X)
  V <- S + pmin(pmax(solve(X) - S, -L), L)
  V[X != 0] <- (S + L * sign(X))[X != 0]
  R <- V %*% X - diag(nrow(S))
  sd <- sqrt(diag(V))
  list(gap = glasso_objective(X, S, L) - as.numeric(determinant(V)$modulus) - nrow(S), kkt = max(abs(R * outer(1 / sd, sd))),
       residual = sqrt(sum(R * t(R)) / nrow(S)))
}

test_that("it equals the glasso package, with the diagonal penalised and not, also with fewer rows than columns", {
  skip_if_not_installed("glasso")
  set.seed(1)
  for (shape in list(c(5, 20), c(15, 10), c(30, 60), c(50, 40), c(50, 200))) {
    S <- random_covariance(shape[1], shape[2])
    for (diagonal in c(TRUE, FALSE)) for (share in c(0.5, 0.15)) {
      lambda <- share * max(abs(S[upper.tri(S)]))
      peer <- glasso::glasso(S, lambda, thr = 1e-12, maxit = 1e5, penalize.diagonal = diagonal)
      fit <- fit_at(S, lambda, penalize_diagonal = diagonal)
      expect_lt(max(abs(as.matrix(fit) - peer$wi)), 1e-6)
      expect_lt(max(abs(fit$covariance - peer$w)), 1e-6)
      # the peer is not symmetric to the last digit, so its support is read from both triangles
      expect_identical(unname(as.matrix(fit) != 0), peer$wi != 0 & t(peer$wi) != 0)
    }
  }
})

test_that("it equals the glasso package with a matrix of penalties", {
  skip_if_not_installed("glasso")
  set.seed(2)
  S <- random_covariance(12)
  L <- matrix(runif(144, 0.02, 0.3), 12)
  L <- (L + t(L)) / 2
  peer <- glasso::glasso(S, L, thr = 1e-12, maxit = 1e5)
  expect_lt(max(abs(as.matrix(fit_at(S, L)) - peer$wi)), 1e-6)
})

test_that("the optimality conditions hold, for every form of the penalty", {
  set.seed(3)
  p <- 14
  S <- random_covariance(p)
  W <- matrix(runif(p * p, 0.2, 2), p)
  W <- (W + t(W)) / 2
  known <- W
  known[1, 2] <- known[2, 1] <- known[3, 9] <- known[9, 3] <- Inf
  known[4, 5] <- known[5, 4] <- known[1, 14] <- known[14, 1] <- 0
  for (weights in list(NULL, runif(p, 0.3, 3), W, known)) for (diagonal in c(TRUE, FALSE)) for (lambda in c(0.3, 0.05)) {
    fit <- fit_at(S, lambda, weights = weights, penalize_diagonal = diagonal)
    L <- penalty_matrix(p, lambda, weights, diagonal)
    expect_lt(kkt_violation(fit$precision, S, L), 1e-7)
    expect_equal(diag(fit$covariance), diag(S) + diag(L), tolerance = 1e-8, ignore_attr = TRUE)
    expect_equal(fit$objective, glasso_objective(fit$precision, S, L), tolerance = 1e-12)
    early <- ggm_lasso(S = S, lambda = lambda, weights = weights, penalize_diagonal = diagonal, tol = 1e-2, method = "quic")
    proof <- certificate(early$precision, S, L)
    expect_equal(early$kkt, proof$kkt, tolerance = 1e-6)
    expect_gte(early$gap, proof$gap - 1e-12)
    expect_lte(early$gap, 1.3 * proof$gap + 1e-12)
    loose <- ggm_lasso(S = S, lambda = lambda, weights = weights, penalize_diagonal = diagonal, tol = 1e-2)
    expect_lte(loose$convergence$residual, 1e-2)
    expect_gte(loose$gap, loose$objective - fit$objective - 1e-12)
    expect_lt(loose$gap, p * 1e-4)
  }
  X <- as.matrix(fit)
  expect_identical(c(X[1, 2], X[3, 9]), c(0, 0))
  expect_true(X[4, 5] != 0 && X[1, 14] != 0)
  expect_equal(fit$covariance[4, 5], S[4, 5], tolerance = 1e-7)
})

test_that("with lambda = 0 known non-edges stay out, and the rest is maximum likelihood", {
  set.seed(4)
  S <- random_covariance(6, 50)
  weights <- matrix(Inf, 6, 6)
  weights[abs(row(S) - col(S)) <= 1] <- 1
  fit <- fit_at(S, 0, weights = weights)
  X <- as.matrix(fit)
  expect_true(all(X[abs(row(S) - col(S)) > 1] == 0))
  inside <- abs(row(S) - col(S)) <= 1  # covariance selection: W agrees with S on the graph
  expect_equal(fit$covariance[inside], S[inside], tolerance = 1e-8)
  # a chain is decomposable: X = sum over edges of the padded inverse blocks minus the separators
  closed <- matrix(0, 6, 6)
  for (i in 1:5) closed[i:(i + 1), i:(i + 1)] <- closed[i:(i + 1), i:(i + 1)] + solve(S[i:(i + 1), i:(i + 1)])
  for (i in 2:5) closed[i, i] <- closed[i, i] - 1 / S[i, i]
  expect_equal(X, closed, tolerance = 1e-7, ignore_attr = TRUE)
  expect_equal(as.matrix(fit_at(S, 0)), solve(S), tolerance = 1e-6, ignore_attr = TRUE)
})

test_that("the default path ignores pairs that can be no edge, or always are one", {
  S <- toeplitz(c(1, 0.5, 0.25))
  weights <- matrix(1, 3, 3)
  weights[1, 2] <- weights[2, 1] <- Inf
  expect_equal(ggm_lasso(S = S, weights = weights, n_lambda = 3)$lambda, 0.5 * c(1, 0.1, 0.01))
  weights[2, 3] <- weights[3, 2] <- 0
  expect_equal(ggm_lasso(S = S, weights = weights, n_lambda = 3)$lambda[1], 0.25)
  expect_equal(ggm_lasso(S = S, weights = c(4, 1, 1), n_lambda = 2)$lambda, c(0.5, 0.005))
  weights <- matrix(Inf, 3, 3)
  diag(weights) <- 1
  path <- ggm_lasso(S = S, weights = weights, n_lambda = 3)
  expect_true(all(path$df == 0) && path$lambda[1] >= 0.1)
})

test_that("the duality gap is not negative, vanishes, and bounds the distance to the minimum", {
  set.seed(5)
  S <- random_covariance(20, 15)
  best <- fit_at(S, 0.1, tol = 1e-13)
  expect_gt(best$gap, -1e-10)
  expect_lt(best$gap, 1e-9)
  for (steps in 1:4) {
    early <- suppressWarnings(fit_at(S, 0.1, max_iter = steps), classes = "granary_warning_convergence")
    expect_gte(early$gap, early$objective - best$objective - 1e-10)
  }
  expect_gt(suppressWarnings(fit_at(S, 0.1, max_iter = 1), classes = "granary_warning_convergence")$gap, 1e-3)
})

test_that("one variable and two have closed forms", {
  expect_equal(as.matrix(fit_at(matrix(2), 0.5)), matrix(1 / 2.5), ignore_attr = TRUE)
  expect_equal(as.matrix(fit_at(matrix(2), 0.5, penalize_diagonal = FALSE)), matrix(0.5), ignore_attr = TRUE)
  expect_equal(as.matrix(fit_at(matrix(2), matrix(3))), matrix(0.2), ignore_attr = TRUE)
  for (method in c("quic", "bcd", "admm")) {
    expect_equal(as.matrix(fit_at(matrix(2), 0.5, method = method, start = matrix(7))), matrix(0.4), ignore_attr = TRUE)
    fit <- fit_at(matrix(c(1, 0.6, 0.6, 2), 2), 0.1, method = method)
    expect_equal(as.matrix(fit), solve(matrix(c(1.1, 0.5, 0.5, 2.1), 2)), tolerance = 1e-8, ignore_attr = TRUE)
    expect_equal(round(as.matrix(fit)[c(1, 2, 4)], 4), c(1.0194, -0.2427, 0.5340))
  }
  negative <- fit_at(matrix(c(1, -0.6, -0.6, 2), 2), 0.1, penalize_diagonal = FALSE)
  expect_equal(negative$covariance, matrix(c(1, -0.5, -0.5, 2), 2), tolerance = 1e-8, ignore_attr = TRUE)
  path <- ggm_lasso(S = matrix(2))
  expect_length(path$lambda, 20)
  expect_equal(vapply(path$precision, function(m) m[1, 1], 0), 1 / (2 + path$lambda))
})

test_that("a penalty above every covariance gives the diagonal, one just below an edge", {
  set.seed(6)
  S <- random_covariance(8)
  top <- max(abs(S[upper.tri(S)]))
  full <- fit_at(S, top)
  expect_identical(full$df, 0)
  expect_identical(full$convergence$iterations, 0L)
  expect_equal(as.matrix(full), diag(1 / (diag(S) + top)), ignore_attr = TRUE)
  expect_identical(full$component, 1:8)
  expect_identical(fit_at(S, 0.999 * top)$df, 1)
  expect_equal(ggm_lasso(S = S, n_lambda = 4, lambda_min_ratio = 0.1)$lambda, top * 10^-(0:3 / 3))
})

test_that("components are those of the thresholded covariance, and each is solved as if alone", {
  set.seed(7)
  blocks <- list(random_covariance(7), random_covariance(4), random_covariance(9))
  S <- as.matrix(Matrix::bdiag(blocks)) + 0.01
  shuffle <- sample(20)
  member <- rep(1:3, c(7, 4, 9))[shuffle]
  S <- S[shuffle, shuffle]
  for (method in c("quic", "bcd")) {
    whole <- fit_at(S, 0.02, method = method)
    expect_identical(as.vector(table(member, whole$component) > 0), as.vector(table(member, whole$component) == c(7, 4, 9)))
    expect_identical(length(unique(whole$component)), 3L)
    for (k in unique(member)) {
      at <- which(member == k)
      part <- fit_at(S[at, at], 0.02, method = method)
      expect_identical(unname(as.matrix(whole)[at, at]), unname(as.matrix(part)))
      expect_true(all(as.matrix(whole)[at, -at] == 0))
    }
  }
})

test_that("one thread and two give the same answer to the last bit", {
  set.seed(8)
  S <- as.matrix(Matrix::bdiag(lapply(c(12, 3, 20, 1, 8), random_covariance)))
  one <- ggm_lasso(S = S, n_lambda = 5, threads = 1)
  two <- ggm_lasso(S = S, n_lambda = 5, threads = 2)
  same <- c("precision", "objective", "gap", "kkt", "component", "trace", "df")
  expect_identical(one[same], two[same])
  expect_gt(max(one$component[[5]]), 4)
})

test_that("units do not matter: X(cS, c lambda) = X(S, lambda) / c", {
  set.seed(9)
  S <- random_covariance(10)
  for (method in c("quic", "bcd", "admm")) {
    tol <- if (method == "admm") 1e-8 else 1e-10
    plain <- fit_at(S, 0.1, method = method, tol = tol)
    expect_gt(plain$df, 5)
    for (c in c(1e-8, 1e8)) {
      scaled <- fit_at(c * S, c * 0.1, method = method, tol = tol)
      expect_lt(max(abs(c * as.matrix(scaled) - as.matrix(plain))), 1e-7)
      expect_identical(scaled$df, plain$df)
      expect_true(scaled$convergence$converged)
      expect_equal(scaled$convergence$residual, plain$convergence$residual, tolerance = 0.5)
    }
  }
})

test_that("reordering the variables reorders the answer", {
  set.seed(10)
  S <- random_covariance(15, 10)
  order <- sample(15)
  expect_equal(as.matrix(fit_at(S[order, order], 0.1)), as.matrix(fit_at(S, 0.1))[order, order], tolerance = 1e-8, ignore_attr = TRUE)
})

test_that("warm and cold starts, solvers and inner rules agree", {
  set.seed(11)
  S <- random_covariance(12, 30)
  cold <- fit_at(S, 0.08)
  near <- fit_at(S, 0.1)
  tight <- function(fit) expect_lt(max(abs(as.matrix(fit) - as.matrix(cold))), 1e-7)
  warm <- fit_at(S, 0.08, start = near)
  tight(warm)
  expect_lte(warm$convergence$iterations, cold$convergence$iterations)
  tight(fit_at(S, 0.08, start = solve(S)))
  tight(fit_at(S, 0.08, start = 1e4 * diag(12)))
  tight(fit_at(S, 0.08, start = Matrix::Diagonal(12)))
  expect_identical(fit_at(S, 0.08, start = cold, method = "quic", tol = 1e-9)$convergence$iterations, 0L)
  expect_lte(fit_at(S, 0.08, start = cold)$convergence$iterations, 2L)
  tight(fit_at(S, 0.08, start = ggm_lasso(S = S, n_lambda = 3)))
  tight(fit_at(S, 0.08, method = "quic", inner = "paper", max_iter = 1000))
  tight(fit_at(S, 0.08, method = "quic"))
  tight(fit_at(S, 0.08, method = "quic", start = near))
  tight(fit_at(S, 0.08, method = "admm", start = near, max_iter = 1e5))
  expect_identical(fit_at(S, 0.08, method = "admm", max_iter = 1e5)$df, cold$df)
  # a start with an entry where none may be
  weights <- matrix(1, 12, 12)
  weights[1, 2] <- weights[2, 1] <- Inf
  expect_equal(as.matrix(fit_at(S, 0.08, weights = weights, start = solve(S))), as.matrix(fit_at(S, 0.08, weights = weights)), tolerance = 1e-7)
})

test_that("the objective decreases along the trace, down to the one reported", {
  set.seed(12)
  S <- random_covariance(25, 20)
  for (inner in c("forcing", "paper")) {
    fit <- fit_at(S, 0.05, method = "quic", inner = inner, max_iter = 1000)
    trace <- fit$trace
    expect_named(trace, c("objective", "residual", "free", "step", "sweeps"))
    expect_gt(nrow(trace), 3)
    expect_true(all(diff(trace$objective) <= 1e-12 * abs(fit$objective)))
    expect_equal(tail(trace$objective, 1), fit$objective, tolerance = 1e-12)
    expect_lte(tail(trace$residual, 1), 1e-10)
    expect_true(all(trace$free <= 25 * 26 / 2))
  }
  expect_equal(fit$trace$sweeps[1:6], c(1, 1, 1, 2, 2, 2))  # ceiling(t / 3), the first from the closed form
})

test_that("the first Newton step from the diagonal is the closed form", {
  set.seed(13)
  S <- cov2cor(random_covariance(5))
  S <- S * 0.1 + diag(0.9, 5)  # weakly dependent: the full step is taken
  lambda <- 0.01
  one <- suppressWarnings(fit_at(S, lambda, method = "quic", max_iter = 1), classes = "granary_warning_convergence")
  expect_identical(one$trace$step[1], 1)
  x0 <- 1 / (diag(S) + lambda)
  D <- -sign(S) * pmax(abs(S) - lambda, 0) * outer(x0, x0)
  diag(D) <- 0  # S_ii - W_ii + lambda = 0 at the start
  expect_equal(as.matrix(one), diag(x0) + D, tolerance = 1e-12, ignore_attr = TRUE)
})

test_that("the answer is symmetric and positive definite, with zeros that are zero and an inverse that is one", {
  set.seed(14)
  for (n in c(10, 100)) {
    S <- random_covariance(30, n)
    fit <- ggm_lasso(S = S, lambda = 0.2, covariance = TRUE, threads = 1)
    X <- fit$precision
    expect_s4_class(X, "dgCMatrix")
    expect_true(all(X@x != 0))
    expect_identical(as.matrix(X), t(as.matrix(X)))
    expect_gt(min(eigen(as.matrix(X), symmetric = TRUE)$values), 0)
    expect_lt(max(abs(as.matrix(X) %*% fit$covariance - diag(30))), 1e-9)
    expect_identical(fit$df, as.double(sum(as.matrix(X)[upper.tri(S)] != 0)))
    expect_lt(fit$df, 435)
    expect_equal(fit$log_det, as.numeric(determinant(as.matrix(X))$modulus), tolerance = 1e-10)
  }
})

test_that("a path is the single fits, sorted, duplicates kept", {
  set.seed(15)
  S <- random_covariance(10)
  path <- fit_at(S, c(0.1, 0.4, 0.2, 0.2), covariance = TRUE)
  expect_identical(path$lambda, c(0.4, 0.2, 0.2, 0.1))
  for (k in 1:4) {
    alone <- fit_at(S, path$lambda[k])
    expect_lt(max(abs(path$precision[[k]] - alone$precision)), 1e-8)
    expect_lt(max(abs(path$covariance[[k]] - alone$covariance)), 1e-8)
    expect_equal(path$objective[k], alone$objective, tolerance = 1e-12)
  }
  expect_equal(path$precision[[2]], path$precision[[3]], tolerance = 1e-9)
  expect_null(fit_at(S, c(0.1, 0.2), covariance = FALSE)$covariance)
  expect_null(ggm_lasso(S = S, lambda = 0.1)$covariance)
  expect_identical(ggm_lasso(S = S, n_lambda = 1)$df, 0)
  L <- matrix(0.3, 10, 10)
  expect_equal(as.matrix(fit_at(S, L)), as.matrix(fit_at(S, 0.3)), tolerance = 1e-9)
  expect_equal(as.matrix(fit_at(S, 0.5, weights = 2 * L)), as.matrix(fit_at(S, 0.3)), tolerance = 1e-7)
})

test_that("data in any form give the same fit, and names survive", {
  set.seed(16)
  x <- matrix(rnorm(60), 12, dimnames = list(NULL, c("a", "b", "long name", "d", "e")))
  plain <- ggm_lasso(x, lambda = 0.2, covariance = TRUE)
  expect_identical(dimnames(plain$precision), list(colnames(x), colnames(x)))
  expect_identical(dimnames(plain$covariance), list(colnames(x), colnames(x)))
  expect_equal(plain$S, cov(x))
  expect_identical(plain$n, 12L)
  expect_equal(plain$mean, colMeans(x))
  frame <- data.frame(x, check.names = FALSE)
  expect_identical(ggm_lasso(frame, lambda = 0.2)$precision, plain$precision)
  expect_identical(ggm_lasso(Matrix::Matrix(x), lambda = 0.2)$precision, plain$precision)
  expect_identical(ggm_lasso(Matrix::Matrix(x, sparse = TRUE), lambda = 0.2)$precision, plain$precision)
  expect_equal(ggm_lasso(S = Matrix::Matrix(cov(x)), lambda = 0.2)$precision, plain$precision)
  expect_equal(ggm_lasso(S = as.data.frame(cov(x)), lambda = 0.2)$precision, plain$precision)
  expect_equal(ggm_lasso(x, lambda = Matrix::Matrix(0.2, 5, 5))$precision, plain$precision)
  integers <- matrix(c(1L, 5L, 2L, 4L, 4L, 1L), 3)
  expect_identical(ggm_lasso(integers, lambda = 0.5)$precision, ggm_lasso(integers + 0, lambda = 0.5)$precision)
  expect_identical(colnames(ggm_lasso(integers, lambda = 0.5)$precision), c("V1", "V2"))
  skip_if_not_installed("tibble")
  expect_identical(ggm_lasso(tibble::as_tibble(frame), lambda = 0.2)$precision, plain$precision)
})

test_that("two rows, twice the same row or column, and constant columns are fitted", {
  set.seed(17)
  x <- matrix(rnorm(10), 2)
  fit <- ggm_lasso(x, lambda = 0.3, tol = 1e-10)
  expect_lt(kkt_violation(fit$precision, cov(x), penalty_matrix(5, 0.3)), 1e-7)

  x <- matrix(rnorm(70), 7)
  shrunk <- 12 / 13  # every row twice: the divisor goes from 6 to 13, the sums double
  twice <- ggm_lasso(x[rep(1:7, 2), ], lambda = 0.3 * shrunk, tol = 1e-10)
  expect_equal(as.matrix(twice) * shrunk, as.matrix(ggm_lasso(x, lambda = 0.3, tol = 1e-10)), tolerance = 1e-7)
  twin <- x[, c(1, 1, 2, 3)]
  for (diagonal in c(TRUE, FALSE)) {
    fit <- ggm_lasso(twin, lambda = 0.1, penalize_diagonal = diagonal, tol = 1e-10)
    expect_lt(kkt_violation(fit$precision, cov(twin), penalty_matrix(4, 0.1, penalize_diagonal = diagonal)), 1e-7)
    expect_equal(fit$precision[1, 1], fit$precision[2, 2], tolerance = 1e-7)
  }

  constant <- x
  constant[, 3] <- 0.1
  expect_warning(fit <- ggm_lasso(constant, lambda = 0.2), "Constant column in `x`: V3", class = "granary_warning_input")
  expect_equal(fit$precision[3, 3], 5)
  expect_true(all(fit$precision[3, -3] == 0))
  expect_error(suppressWarnings(ggm_lasso(constant, lambda = 0.2, penalize_diagonal = FALSE)), "Variable V3 has variance 0.*drop it",
               class = "granary_error_input")
  expect_warning(ggm_lasso(x * 0 + 1, lambda = 0.2), "Constant columns", class = "granary_warning_input")
})

test_that("unusable arguments are named in a granary_error_input", {
  S <- toeplitz(c(1, 0.5, 0.2))
  x <- matrix(rnorm(12), 4)
  bad <- function(call, message) {
    error <- tryCatch(call, error = identity)
    expect_s3_class(error, c("granary_error_input", "granary_error", "error"))
    expect_match(conditionMessage(error), message)
    expect_identical(as.list(error$call)[[1]], quote(ggm_lasso))
  }
  spoil <- function(m, value) {
    m[2, 3] <- value
    m
  }
  bad(ggm_lasso(), "`x` or a covariance matrix `S`, but neither")
  bad(ggm_lasso(x, S = S), "not both")
  bad(ggm_lasso(x, n = 4), "`n` goes with")
  bad(ggm_lasso(x[1, , drop = FALSE]), "`x` must have at least 2 rows")
  bad(ggm_lasso(spoil(x, NA)), "`x` must have no missing values.*row 2, column 3")
  bad(ggm_lasso(spoil(x, Inf)), "`x` must be finite.*row 2, column 3")
  bad(ggm_lasso(letters), "`x` must be a numeric matrix")
  bad(ggm_lasso(data.frame(a = 1:3, b = letters[1:3])), "column 2 \\(\"b\"\\)")
  bad(ggm_lasso(matrix(1:4, 2, dimnames = list(NULL, c("a", "a")))), "\"a\" appears more than once")
  bad(ggm_lasso(S = spoil(S, NA)), "`S` must have no missing")
  bad(ggm_lasso(S = spoil(S, -Inf)), "`S` must be finite")
  bad(ggm_lasso(S = spoil(S, 0.6)), "`S` must be symmetric.*\\(2, 3\\) is 0.6 and \\(3, 2\\) is 0.5")
  bad(ggm_lasso(S = S[, 1:2]), "`S` must be a symmetric matrix, but it is not square")
  bad(ggm_lasso(S = S - diag(c(0, 0, 1.5))), "`S` must have a nonnegative diagonal, but the variance of V3 is -0.5")
  bad(ggm_lasso(S = S, n = 0), "`n` must be a whole number")
  bad(ggm_lasso(S = S, lambda = -1), "`lambda` must be at least 0")
  bad(ggm_lasso(S = S, lambda = NA_real_), "`lambda` must have no missing")
  bad(ggm_lasso(S = S, lambda = numeric()), "`lambda`")
  bad(ggm_lasso(S = S, lambda = "a"), "`lambda` must be a numeric vector")
  bad(ggm_lasso(S = S, lambda = diag(2)), "`lambda` must be a 3 x 3 matrix.*2 x 2")
  bad(ggm_lasso(S = S, lambda = diag(3), weights = 1:3), "`weights` must be NULL")
  bad(ggm_lasso(S = S, lambda = -S), "`lambda` must not be negative")
  bad(ggm_lasso(S = S, lambda = 0.1, weights = 1:2), "`weights` must be a numeric vector of length 3")
  bad(ggm_lasso(S = S, lambda = 0.1, weights = matrix(1, 2, 2)), "`weights` must be a 3 x 3")
  bad(ggm_lasso(S = S, lambda = 0.1, weights = matrix(1:9, 3)), "`weights` must be symmetric")
  bad(ggm_lasso(S = S, lambda = 0.1, weights = spoil(diag(3), NaN)), "`weights` must have no missing")
  bad(ggm_lasso(S = S, lambda = 0.1, weights = matrix(Inf, 3, 3)), "`weights` must be finite on the diagonal")
  bad(ggm_lasso(S = S, lambda = 0.1, weights = c(1, -1, 1)), "`weights` must be at least 0")
  bad(ggm_lasso(S = S, lambda_min_ratio = 0), "`lambda_min_ratio`")
  bad(ggm_lasso(S = S, n_lambda = 0), "`n_lambda`")
  bad(ggm_lasso(S = S, lambda = 0.1, method = "newton"), "`method`")
  bad(ggm_lasso(S = S, lambda = 0.1, inner = 1), "`inner`")
  bad(ggm_lasso(S = S, lambda = 0.1, tol = 0), "`tol`")
  bad(ggm_lasso(S = S, lambda = 0.1, max_iter = 0), "`max_iter`")
  bad(ggm_lasso(S = S, lambda = 0.1, penalize_diagonal = NA), "`penalize_diagonal`")
  bad(ggm_lasso(S = S, lambda = 0.1, covariance = 1), "`covariance`")
  bad(ggm_lasso(S = S, lambda = 0.1, threads = 0), "`threads`")
  bad(ggm_lasso(S = S, lambda = 0.1, start = diag(2)), "`start` must be 3 x 3")
  bad(ggm_lasso(S = S, lambda = 0.1, start = -diag(3)), "start must be a positive definite")
  bad(ggm_lasso(S = diag(c(1, 0)), lambda = 0.1, penalize_diagonal = FALSE), "Variable V2 has variance 0")
})

test_that("an asymmetry of rounding is accepted", {
  S <- toeplitz(c(1, 0.5, 0.2))
  S[1, 2] <- S[1, 2] + 1e-12
  expect_equal(ggm_lasso(S = S, lambda = 0.1)$objective, ggm_lasso(S = t(S), lambda = 0.1)$objective)
})

test_that("an indefinite covariance is fitted with a warning where there is a solution, and refused where there is none", {
  S <- matrix(c(1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1), 3)
  expect_warning(fit <- fit_at(S, 0.5), "not positive semi-definite", class = "granary_warning_input")
  expect_lt(kkt_violation(fit$precision, S, penalty_matrix(3, 0.5)), 1e-7)
  expect_error(suppressWarnings(ggm_lasso(S = S, lambda = 0.01)), "unbounded", class = "granary_error_numeric")
  expect_error(suppressWarnings(ggm_lasso(S = S, lambda = 0.01, method = "quic")), "unbounded", class = "granary_error_numeric")
  for (method in "admm") {
    expect_warning(
      suppressWarnings(fit <- ggm_lasso(S = S, lambda = 0.01, method = method, max_iter = 200), classes = "granary_warning_input"),
      "unbounded", class = "granary_warning_convergence"
    )
    expect_false(fit$convergence$converged)
  }
  expect_silent(fit_at(toeplitz(c(1, 0.5, 0.2)), 0.1))
})

test_that("no penalty on a singular covariance is an error, whatever the solver", {
  set.seed(18)
  x <- matrix(rnorm(40), 5)
  for (method in c("quic", "bcd", "admm")) {
    expect_error(ggm_lasso(x, lambda = 0, method = method), "unbounded.*singular", class = "granary_error_numeric")
  }
  expect_error(ggm_lasso(S = matrix(1, 3, 3), lambda = 0), class = "granary_error_numeric")
  # an unpenalised pair whose own covariance is singular
  S <- matrix(1, 3, 3) + diag(c(0, 0, 1))
  weights <- matrix(1, 3, 3)
  weights[1, 2] <- weights[2, 1] <- 0
  result <- tryCatch(ggm_lasso(S = S, lambda = 0.1, weights = weights, penalize_diagonal = FALSE), condition = identity)
  expect_true(inherits(result, "granary_error_numeric") || inherits(result, "granary_warning_convergence"))
  expect_match(conditionMessage(result), "unbounded")
})

test_that("stopping early is a warning of its own class, and the fit says so", {
  set.seed(19)
  S <- random_covariance(10)
  for (method in c("quic", "bcd", "admm")) {
    expect_warning(fit <- ggm_lasso(S = S, lambda = 0.05, max_iter = 1, method = method), "NOT converged.*max_iter", class = "granary_warning_convergence")
    expect_false(fit$convergence$converged)
    expect_identical(fit$convergence$iterations, 1L)
    expect_output(print(fit), "NOT converged")
  }
  expect_silent(ggm_lasso(S = S, lambda = 0.05))
})

test_that("known values on mtcars: few Newton steps to full accuracy", {
  fit <- ggm_lasso(S = cor(mtcars), lambda = 0.1, tol = 1e-12, method = "quic")
  expect_lte(fit$convergence$iterations, 15)
  expect_lt(kkt_violation(fit$precision, cor(mtcars), penalty_matrix(11, 0.1)), 1e-10)
})

test_that("the chain graph is recovered as in the paper", {
  # Table 1 has TPR 1 and FPR 3e-5 at p = 1000, n = p / 2, lambda 0.4; a tenth of the size is harder, as n = 50.
  found <- vapply(1:5, function(seed) {
    set.seed(seed)
    sim <- sim_ggm("chain", p = 200, n = 100)
    score <- ggm_score(sim, ggm_lasso(sim$data, lambda = 0.4))
    c(score$tpr, score$fpr)
  }, c(0, 0))
  expect_gt(mean(found[1, ]), 0.97)
  expect_lt(max(found[2, ]), 0.01)
})

test_that("the chain of a thousand variables is recovered, in numbers near the paper's", {
  extended()
  # Table 1 has 3028 nonzeros: the 2998 true ones and 15 false edges. On 24 data sets drawn in plain R the number of false edges
  # had mean 20.9 and standard deviation 5.1, so one run says little, and the mean of four lies within 4 standard errors of that.
  false_edges <- vapply(1:4, function(seed) {
    set.seed(seed)
    sim <- sim_ggm("chain", p = 1000, n = 500)
    score <- ggm_score(sim, ggm_lasso(sim$data, lambda = 0.4))
    expect_gte(score$tpr, 0.998)
    expect_lt(score$fpr, 1e-4)
    as.double(score$fp)
  }, 0)
  expect_lt(abs(mean(false_edges) - 20.9), 4 * 5.1 * sqrt(1 / 4 + 1 / 24))
})

test_that("Ctrl-C stops a long fit within a second, and the session goes on", {
  skip_on_os("windows")
  skip_on_cran()
  folder <- tempfile("interrupt_")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  script <- file.path(folder, "child.R")
  writeLines(c(
    sprintf(".libPaths(%s)", deparse1(.libPaths())),
    "library(granary)",
    "options(granary.progress = FALSE)",
    "set.seed(1)",
    "x <- matrix(rnorm(300 * 900), 300)",
    sprintf("setwd(%s)", deparse(folder)),
    "writeLines(as.character(Sys.getpid()), 'pid.tmp')",
    "invisible(file.rename('pid.tmp', 'pid'))",
    "how <- tryCatch({ggm_lasso(x, lambda = 0.005, tol = 1e-15, max_iter = 100000, threads = 2); 'finished'}, interrupt = function(e) 'interrupted')",
    "stopped <- as.numeric(Sys.time())",
    "after <- ggm_lasso(S = diag(2) + 0.3, lambda = 0.1)$convergence$converged",
    "cat(how, after, format(stopped, digits = 15), '\\n', file = 'result.tmp')",
    "invisible(file.rename('result.tmp', 'result'))"
  ), script)
  system2(file.path(R.home("bin"), "Rscript"), shQuote(script), wait = FALSE, stdout = FALSE, stderr = FALSE)
  wait_for <- function(file, seconds) {
    deadline <- Sys.time() + seconds
    while (!file.exists(file.path(folder, file)) && Sys.time() < deadline) Sys.sleep(0.02)
    file.exists(file.path(folder, file))
  }
  if (!wait_for("pid", 30)) skip("the child process did not start")
  child <- as.integer(readLines(file.path(folder, "pid")))
  on.exit(tools::pskill(child, tools::SIGKILL), add = TRUE, after = FALSE)
  Sys.sleep(1.5)
  expect_false(file.exists(file.path(folder, "result")))  # still at work
  sent <- as.numeric(Sys.time())
  tools::pskill(child, tools::SIGINT)
  expect_true(wait_for("result", 15))
  result <- scan(file.path(folder, "result"), "", quiet = TRUE)
  expect_identical(result[1:2], c("interrupted", "TRUE"))
  expect_lt(as.numeric(result[3]) - sent, 1)
})
