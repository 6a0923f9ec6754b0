# The objective as the help page states it, in plain R.
multi_objective <- function(X, S, weights, lambda, lambda1, norm, diagonal = FALSE) {
  p <- ncol(S[[1L]])
  N <- switch(norm, l2 = function(v) sqrt(sum(v^2)), linf = function(v) max(abs(v)), fused = function(v) sum(abs(outer(v, v, "-"))) / 2)
  value <- 0
  for (k in seq_along(S)) {
    x <- as.matrix(X[[k]])
    value <- value + weights[k] * (sum(S[[k]] * x) - as.numeric(determinant(x)$modulus))
  }
  for (i in seq_len(p)) {
    for (j in seq_len(p)) {
      v <- vapply(X, function(x) x[i, j], 0)
      if (i != j) value <- value + lambda1 * sum(abs(v)) + lambda * N(v)
      if (i == j) value <- value + (if (diagonal) lambda1 * sum(abs(v)) else 0) + (if (diagonal || norm == "fused") lambda * N(v) else 0)
    }
  }
  value
}

covariances <- function(tasks = 3, p = 6, n = 20) {
  S <- lapply(seq_len(tasks), function(k) {
    s <- random_covariance(p, n)
    dimnames(s) <- rep(list(paste0("v", seq_len(p))), 2L)
    s
  })
  setNames(S, letters[seq_len(tasks)])
}

largest_difference <- function(a, b) max(abs(unlist(Map(function(x, y) as.matrix(x) - as.matrix(y), a, b))))

test_that("with lambda = 0 every task is its own graphical lasso", {
  set.seed(1)
  S <- covariances()
  fit <- ggm_multi(S = S, n = c(20, 30, 40), lambda = 0, lambda1 = 3, tol = 1e-10)
  for (k in 1:3) {
    one <- ggm_lasso(S = S[[k]], lambda = 3 / c(20, 30, 40)[k], penalize_diagonal = FALSE, tol = 1e-10)
    expect_equal(as.matrix(fit$precision[[k]]), as.matrix(one), tolerance = 1e-8)
  }
  nearly <- ggm_multi(S = S, n = c(20, 30, 40), lambda = 1e-12, lambda1 = 3, tol = 1e-10)  # through the joint solver
  expect_lt(largest_difference(fit$precision, nearly$precision), 1e-8)
})

test_that("one task and identical tasks are graphical lassos", {
  set.seed(2)
  S <- covariances(1)[[1L]]
  for (norm in c("l2", "linf")) {
    expect_message(one <- ggm_multi(S = list(S), n = 20, lambda = 2, norm = norm, tol = 1e-10), "graphical lasso")
    expect_equal(as.matrix(one$precision[[1L]]), as.matrix(ggm_lasso(S = S, lambda = 0.1, penalize_diagonal = FALSE, tol = 1e-10)), tolerance = 1e-8)
    same <- ggm_multi(S = list(S, S, S, S), n = 20, lambda = 2, norm = norm, tol = 1e-10)
    lambda <- 2 / (20 * if (norm == "l2") 2 else 4)
    expect_equal(as.matrix(same$precision[[3L]]), as.matrix(ggm_lasso(S = S, lambda = lambda, penalize_diagonal = FALSE, tol = 1e-10)),
                 tolerance = 1e-8)
  }
})

test_that("three solvers agree, the gap closes and the objective is the one on the help page", {
  set.seed(3)
  S <- covariances()
  for (norm in c("l2", "linf", "fused")) {
    for (diagonal in c(FALSE, TRUE)) {
      lambda <- if (norm == "fused") 0.6 else 3
      fits <- lapply(c(newton = "newton", admm = "admm", bcd = if (norm != "fused") "bcd"), function(method) {
        ggm_multi(S = S, n = c(20, 30, 10), lambda = lambda, lambda1 = 0.5, norm = norm, penalize_diagonal = diagonal, method = method, tol = 1e-9)
      })
      for (fit in fits) {
        expect_lt(largest_difference(fit$precision, fits$newton$precision), 1e-6)
        expect_true(fit$gap > -1e-9 && fit$gap < 1e-5)
      }
      expect_equal(fits$newton$objective, multi_objective(fits$newton$precision, S, c(20, 30, 10), lambda, 0.5, norm, diagonal), tolerance = 1e-10)
    }
  }
})

test_that("brute force on three variables finds nothing better", {
  set.seed(4)
  S <- covariances(2, 3, 8)
  pack <- function(X) unlist(lapply(X, function(x) as.matrix(x)[upper.tri(x, diag = TRUE)]))
  unpack <- function(v) {
    lapply(split(v, rep(1:2, each = 6)), function(u) {
      m <- matrix(0, 3, 3)
      m[upper.tri(m, diag = TRUE)] <- u
      m + t(m) - diag(diag(m))
    })
  }
  for (norm in c("l2", "linf", "fused")) {
    value <- function(v) {
      X <- unpack(v)
      if (any(vapply(X, function(x) min(eigen(x, TRUE, TRUE)$values), 0) <= 1e-8)) return(1e10)
      multi_objective(X, S, c(4, 6), 0.5, 0.2, norm)
    }
    fit <- ggm_multi(S = S, n = c(4, 6), lambda = 0.5, lambda1 = 0.2, norm = norm, tol = 1e-10)
    start <- pack(lapply(S, function(s) diag(1 / diag(s))))
    for (restart in 1:3) start <- optim(start, value, control = list(maxit = 1000, reltol = 1e-12))$par
    expect_lte(fit$objective, value(start) + 1e-9)
    expect_lt(abs(fit$objective - value(start)), 1e-2 * abs(fit$objective))
    again <- optim(pack(fit$precision), value, control = list(maxit = 500))
    expect_gt(again$value, fit$objective - 1e-8)
  }
})

test_that("the optimality conditions hold", {
  set.seed(5)
  S <- covariances()
  T <- c(20, 30, 40)
  rho <- 4
  fit <- ggm_multi(S = S, n = T, lambda = rho, tol = 1e-11)
  A <- Map(function(x, s, t) t * (solve(as.matrix(x)) - s), fit$precision, S, T)
  for (i in 1:5) {
    for (j in (i + 1):6) {
      x <- vapply(fit$precision, function(m) m[i, j], 0)
      a <- vapply(A, function(m) m[i, j], 0)
      if (any(x != 0)) expect_equal(a, rho * x / sqrt(sum(x^2)), tolerance = 1e-6) else expect_lte(sqrt(sum(a^2)), rho + 1e-8)
    }
  }
  infinity <- ggm_multi(S = S, n = T, lambda = rho, norm = "linf", tol = 1e-11)
  A <- Map(function(x, s, t) t * (solve(as.matrix(x)) - s), infinity$precision, S, T)
  for (i in 1:5) {
    for (j in (i + 1):6) {
      x <- vapply(infinity$precision, function(m) m[i, j], 0)
      a <- vapply(A, function(m) m[i, j], 0)
      expect_lte(sum(abs(a)), rho + 1e-6)
      if (any(x != 0)) expect_equal(sum(a * x), rho * max(abs(x)), tolerance = 1e-6)
    }
  }
  expect_true(any(vapply(seq_len(nrow(infinity$common_edges)), function(r) {  # ties within an edge
    x <- vapply(infinity$precision, function(m) m[infinity$common_edges$from[r], infinity$common_edges$to[r]], 0)
    sum(abs(abs(x) - max(abs(x))) < 1e-12) > 1L
  }, NA)))
})

test_that("graphs are empty exactly from the largest penalty on, and screening changes nothing", {
  set.seed(6)
  S <- covariances(3, 10, 25)
  weighted <- Map(`*`, S, c(20, 30, 40))
  pairs <- vapply(weighted, function(s) s[upper.tri(s)], numeric(45))
  top <- c(l2 = max(sqrt(rowSums(pairs^2))), linf = max(rowSums(abs(pairs))))
  for (norm in names(top)) {
    path <- ggm_multi(S = S, n = c(20, 30, 40), norm = norm, n_lambda = 3)
    expect_equal(path$lambda[1L], top[[norm]], tolerance = 1e-12)
    fit <- ggm_multi(S = S, n = c(20, 30, 40), norm = norm, lambda = top[[norm]] * c(1.01, 0.99))
    expect_equal(fit$df[1L], 0)
    expect_gt(fit$df[2L], 0)
    one <- ggm_multi(S = S, n = c(20, 30, 40), norm = norm, lambda = 0.6 * top[[norm]], tol = 1e-10)
    whole <- ggm_multi(S = S, n = c(20, 30, 40), norm = norm, lambda = 0.6 * top[[norm]], tol = 1e-10, screen = FALSE)
    expect_lt(largest_difference(one$precision, whole$precision), 1e-8)
    expect_gt(max(one$component), 1L)
  }
})

test_that("the small problems have the answers of the paper", {
  block <- function(q, c, norm, lambda) core_multi_block(list(q = q, c = c, penalty = list(norm = norm, lambda = lambda)))
  expect_equal(block(c(1, 2), c(3, -1), "linf", 2), c(1, -0.5))
  expect_equal(block(c(1, 2), c(3, -1), "l2", 2), c(1.0580908429, -0.2607361155), tolerance = 1e-9)
  expect_equal(block(c(1, 1, 1), c(3, -4, 0), "l2", 2), c(1.8, -2.4, 0))
  step <- core_multi_diagonal(list(q = c(1, 1), c = c(1, 2), b = c(0.5, 0.1), norm = "linf", rho = 0.5))
  expect_equal(step$r, c(0.5, 0))
  expect_equal(step$z, c(7 / 6, 0.6))
  q <- c(0.5, 1, 3)
  c <- c(2, -1, 4)
  b <- c(0.3, 0, 1)
  z <- core_multi_diagonal(list(q = q, c = abs(c), b = b, norm = "l2", rho = 0.7))$z
  value <- function(z) if (any(z <= b)) -1e10 else sum(q * log(z - b)) - sum(abs(c) * z) - 0.7 * sqrt(sum(z^2))
  best <- optim(z + 0.1, value, control = list(fnscale = -1, reltol = 1e-15, maxit = 5000))
  expect_equal(z, best$par, tolerance = 1e-4)
})

test_that("scale, order of tasks and order of variables do what they should", {
  set.seed(7)
  S <- covariances()
  base <- ggm_multi(S = S, weights = c(2, 3, 4), lambda = 0.5, tol = 1e-10)
  scaled <- ggm_multi(S = S, weights = 1000 * c(2, 3, 4), lambda = 500, tol = 1e-10)
  expect_lt(largest_difference(base$precision, scaled$precision), 1e-8)
  turned <- ggm_multi(S = S[c(3, 1, 2)], weights = c(4, 2, 3), lambda = 0.5, tol = 1e-10)
  expect_lt(largest_difference(base$precision, turned$precision[names(S)]), 1e-8)
  mixed <- S
  mixed$b <- S$b[6:1, 6:1]  # matched by name
  matched <- ggm_multi(S = mixed, weights = c(2, 3, 4), lambda = 0.5, tol = 1e-10)
  expect_identical(lapply(base$precision, as.matrix), lapply(matched$precision, as.matrix))
  two <- ggm_multi(S = S, weights = c(2, 3, 4), lambda = 0.5, tol = 1e-10, threads = 2)
  expect_identical(lapply(base$precision, as.matrix), lapply(two$precision, as.matrix))
})

test_that("weights are sizes, shares or one", {
  x <- split(as.data.frame(scale(mtcars[c(1, 3:5)])), mtcars$cyl)
  n <- vapply(x, nrow, 0L)
  expect_equal(ggm_multi(x, lambda = 1)$weights, n * 1)
  expect_equal(sum(ggm_multi(x, lambda = 1, weights = "proportion")$weights), 1)
  expect_equal(unname(ggm_multi(x, lambda = 1, weights = "equal")$weights), c(1, 1, 1))
  a <- ggm_multi(x, lambda = 3, tol = 1e-10)
  b <- ggm_multi(x, lambda = 3 / sum(n), weights = "proportion", tol = 1e-10)
  expect_lt(largest_difference(a$precision, b$precision), 1e-7)
})

test_that("the bounds and the corrected equations of Theorem 4.2 hold, the printed ones do not", {
  set.seed(8)
  S <- covariances()
  T <- c(20, 30, 40)
  for (norm in c("l2", "linf")) {
    fit <- ggm_multi(S = S, n = T, lambda = 5, norm = norm, penalize_diagonal = TRUE, tol = 1e-10)
    bounds <- ggm_multi_bounds(fit)
    values <- lapply(fit$precision, function(x) eigen(as.matrix(x), TRUE, TRUE)$values)
    expect_true(all(vapply(values, min, 0) >= bounds$lower) && all(vapply(values, max, 0) <= bounds$upper))
    N <- if (norm == "l2") function(v) sqrt(sum(v^2)) else function(v) max(abs(v))
    all <- simplify2array(lapply(fit$precision, as.matrix))
    left <- sum(T * mapply(function(s, x) sum(s * as.matrix(x)), S, fit$precision)) + 5 * sum(apply(all, 1:2, N))
    expect_equal(left, 6 * sum(T), tolerance = 1e-6)
    expect_gt(abs(left - 6 * 3), 100)  # the printed NK
  }
  expect_message(tiny <- ggm_multi(S = list(matrix(0.1)), n = 10, lambda = 1, penalize_diagonal = TRUE, tol = 1e-12))
  expect_equal(as.matrix(tiny$precision[[1L]])[1L], 5)
  expect_gt(5, 1 * 1 / 1)                       # above the printed N K / rho
  expect_lte(5, ggm_multi_bounds(tiny)$upper)   # N sum T / rho = 10
  # with a free diagonal there is no upper bound
  small <- ggm_multi(S = list(diag(0.001, 2), diag(0.001, 2)), n = 10, lambda = 1000)
  expect_equal(unname(diag(as.matrix(small$precision[[1L]]))), c(1000, 1000))
  expect_equal(ggm_multi_bounds(small)$upper, c(Inf, Inf))
})

test_that("a penalised diagonal needs 1/xi in the off-diagonal step, as the errata say", {
  # Algorithm 4.1 for K = 1 in plain R: H = solve(X[-n, -n]); `schur` chooses 1/xi or v.
  set.seed(9)
  S <- random_covariance(4, 12)
  rho <- 0.3
  descend <- function(schur) {
    X <- diag(1 / (diag(S) + rho))
    for (sweep in 1:300) {
      for (n in 1:4) {
        H <- solve(X[-n, -n])
        y <- X[-n, n]
        xi <- X[n, n] - drop(y %*% H %*% y)
        v <- if (schur) 1 / xi else S[n, n]
        for (j in 1:3) {
          c <- -(v * (drop(H[j, ] %*% y) - H[j, j] * y[j]) + S[-n, n][j])
          y[j] <- sign(c) * max(abs(c) - rho, 0) / (v * H[j, j])
        }
        X[-n, n] <- X[n, -n] <- y
        X[n, n] <- drop(y %*% H %*% y) + 1 / (S[n, n] + rho)
      }
    }
    X
  }
  exact <- as.matrix(ggm_lasso(S = S, lambda = rho, tol = 1e-10))
  expect_lt(max(abs(descend(TRUE) - exact)), 1e-6)
  expect_gt(max(abs(descend(FALSE) - exact)), 1e-3)
})

test_that("JGL's answer is ours", {
  skip_if_not_installed("JGL")
  set.seed(10)
  x <- lapply(c(30, 40, 50), function(n) matrix(rnorm(n * 8), n) %*% chol(toeplitz(0.6^(0:7))))
  S <- lapply(x, function(m) cov(m) * (nrow(m) - 1) / nrow(m))
  for (penalty in c("group", "fused")) {
    theirs <- getExportedValue("JGL", "JGL")(x, penalty = penalty, lambda1 = 0.1, lambda2 = 0.1, weights = "equal", return.whole.theta = TRUE, tol = 1e-8,
                       truncate = 1e-12, maxiter = 5000)
    ours <- ggm_multi(S = S, lambda = 0.1, lambda1 = 0.1, norm = if (penalty == "group") "l2" else "fused", weights = "equal", tol = 1e-10)
    expect_lt(largest_difference(ours$precision, theirs$theta), 1e-4)
  }
})

test_that("methods speak the words of the other graphs", {
  fit <- ggm_multi(scale(iris[1:4]), groups = iris$Species, lambda = 5)
  expect_output(print(fit), "3 tasks, 4 variables")
  expect_output(print(fit), "shared edges")
  expect_output(print(summary(fit)), "certified within")
  expect_s4_class(coef(fit, task = "setosa"), "dgCMatrix")
  expect_named(coef(fit), levels(iris$Species))
  expect_named(fit$common_edges, c("from", "to", levels(iris$Species)))
  expect_equal(as.double(logLik(fit)), sum(vapply(1:3, function(k) as.double(logLik(ggm_task(fit, k))), 0)))
  expect_equal(as.double(logLik(fit)), sum(vapply(1:3, function(k) sum(predict(fit, task = k)), 0)))
  expect_equal(dim(predict(fit, scale(iris[1:4]))), c(150L, 3L))
  expect_gt(mean(predict(fit, scale(iris[1:4]), type = "class") == iris$Species), 0.9)
  expect_equal(predict(fit, task = 2, type = "conditional"), predict(ggm_task(fit, 2), type = "conditional"))
  edges <- tidy(fit)
  expect_equal(nrow(edges), sum(fit$edges))
  expect_equal(edges$precision[1L], fit$precision[[edges$task[1L]]][edges$from[1L], edges$to[1L]])
  expect_equal(nrow(glance(fit)), 1L)
  set.seed(1)
  draws <- simulate(fit, nsim = 3)
  expect_identical(simulate(fit, nsim = 3, seed = 1), draws)
  expect_named(draws, levels(iris$Species))
  pdf(NULL)
  on.exit(dev.off())
  expect_no_error(plot(fit))
  expect_no_error(plot(fit, type = "heatmap"))
  expect_no_error(plot(fit, task = 1))
  path <- ggm_multi(scale(iris[1:4]), groups = iris$Species, n_lambda = 5)
  expect_no_error(plot(path))
  expect_output(print(path), "ggm_select")
  expect_equal(nrow(glance(path)), 5L)
  expect_s3_class(ggm_task(path, 1), "granary_ggm")
  expect_output(print(ggm_task(path, 1)), "edges")
  expect_error(ggm_select(ggm_task(path, 1), "cv"), "ggm_select", class = "granary_error_input")
  expect_equal(ggm_at(path, 2)$lambda, path$lambda[2L])
  expect_equal(ggm_at(path, lambda = path$lambda[3L])$df, path$df[3L])
  expect_error(plot(fit, type = "path"), class = "granary_error_input")
  expect_error(predict(fit, type = "conditional"), "task", class = "granary_error_input")
  expect_error(coef(fit, task = "rose"), "setosa", class = "granary_error_input")
})

test_that("selection, comparison and scores", {
  set.seed(11)
  sim <- sim_ggm_multi(tasks = 3, p = 12, n = c(60, 80, 100), density = 0.15)
  expect_output(print(sim), "3 tasks")
  expect_equal(min(eigen(as.matrix(sim$precision[[1L]]), TRUE, TRUE)$values), 0.1)
  path <- ggm_multi(sim$data, n_lambda = 8)
  set.seed(12)
  best <- ggm_select(path, "cv", folds = 3)
  set.seed(12)
  expect_identical(ggm_select(path, "cv", folds = 3)$table, best$table)
  expect_equal(lengths(best$scores), c(task1 = 60L, task2 = 80L, task3 = 100L))
  expect_equal(which.max(best$table$estimate), best$selected)
  session <- lapply(sim$data, function(x) rep(c("one", "two"), length.out = nrow(x)))
  expect_length(unique(unlist(ggm_select(path, "cv", folds = session)$folds)), 2L)
  ebic <- ggm_select(path, "ebic")
  by_hand <- vapply(seq_along(path$lambda), function(j) {
    sum(vapply(1:3, function(k) {
      one <- ggm_task(path, k, which = j)
      -2 * as.double(logLik(one)) + one$df * (log(one$n) + 2 * log(12))
    }, 0))
  }, 0)
  expect_equal(ebic$table$estimate, by_hand)
  pdf(NULL)
  on.exit(dev.off())
  expect_no_error(plot(best, type = "selection"))
  scores <- ggm_score(sim, path)
  expect_equal(scores$kl[8L], mean(vapply(1:3, function(k) ggm_score(sim$precision[[k]], ggm_task(path, k, 8))$kl, 0)))
  expect_equal(nrow(ggm_score(sim, path, average = FALSE)), 24L)
  first <- list(rnorm(50, 1), rnorm(40))
  second <- list(rnorm(30), rnorm(20))
  table <- ggm_multi_compare(first, second)
  expect_equal(table$z[1L], (mean(first[[1L]]) - mean(second[[1L]])) / sqrt(var(first[[1L]]) / 50 + var(second[[1L]]) / 30))
  expect_equal(nrow(ggm_multi_compare(best, best)), 3L)
  expect_equal(ggm_multi_compare(best, best)$z, c(0, 0, 0))
  expect_error(ggm_multi_compare(path, best), "cross-validation", class = "granary_error_input")
  expect_error(ggm_select(path, "cv", folds = list(1, 2)), "one vector per task", class = "granary_error_input")
  expect_error(ggm_score(list(diag(2)), path), "3 precision", class = "granary_error_input")
})

test_that("bad input is named", {
  x <- split(as.data.frame(scale(mtcars[c(1, 3:5)])), mtcars$cyl)
  input_error <- function(code, words) expect_error(code, words, class = "granary_error_input")
  input_error(ggm_multi(), "neither")
  input_error(ggm_multi(list()), "empty")
  input_error(ggm_multi(mtcars), "groups")
  input_error(ggm_multi(as.matrix(mtcars), groups = 1:3), "one entry per row")
  input_error(ggm_multi(as.matrix(mtcars), groups = c(NA, mtcars$cyl[-1L])), "missing")
  other <- x
  names(other[[2L]])[1L] <- "speed"
  input_error(ggm_multi(other), "task 6 lacks mpg and has besides speed")
  other[[2L]] <- unname(as.matrix(x[[2L]]))
  input_error(ggm_multi(other), "task 6 has none")
  input_error(ggm_multi(lapply(1:2, function(k) matrix(rnorm(20 * (k + 1)), 20))), "task1 has 2 and task task2 has 3")
  other <- x
  other[[3L]] <- x[[3L]][1L, ]
  input_error(ggm_multi(other), "task 8 has 1")
  other <- x
  other[[2L]]$hp <- 1
  input_error(ggm_multi(other), "hp has variance 0 in task 6")
  other[[2L]]$hp[1L] <- NA
  input_error(ggm_multi(other), "x\\$6")
  input_error(ggm_multi(x, lambda = -1), "lambda")
  input_error(ggm_multi(x, lambda = 1:3, lambda1 = 1:2), "lambda1")
  input_error(ggm_multi(x, norm = "fused", method = "bcd", lambda = 1), "newton")
  input_error(ggm_multi(x, weights = c(1, 2)), "weights")
  input_error(ggm_multi(S = cov(mtcars)), "list")
  input_error(ggm_multi(S = list(cov(mtcars)), n = 1), "two observations")
  input_error(ggm_multi(S = list(cov(mtcars), cov(mtcars)), n = 1:3), "one entry per task")
  input_error(ggm_multi(S = list(cov(mtcars), cov(mtcars)), weights = "size", lambda = 1), "give `n`")
  indefinite <- matrix(c(1, 2, 2, 1), 2)
  expect_warning(ggm_multi(S = list(indefinite, diag(2)), lambda = 3, weights = "equal"), "task1 is not positive", class = "granary_warning_input")
  expect_warning(ggm_multi(x, lambda = 0.1, max_iter = 1, tol = 1e-9), class = "granary_warning_convergence")
  input_error(sim_ggm_multi(n = c(1, 2)), "one entry per task")
})

test_that("edge cases: one variable, more variables than rows, a constant with a penalised diagonal, a tiny and a huge scale", {
  set.seed(13)
  one <- ggm_multi(list(matrix(rnorm(10)), matrix(rnorm(12))), lambda = 1)
  expect_equal(one$df, 0)
  wide <- ggm_multi(lapply(1:3, function(k) matrix(rnorm(5 * 20), 5)), n_lambda = 4)
  expect_true(all(wide$gap < 1e-5 * 20 * 15))  # relative to p sum T
  x <- lapply(1:2, function(k) cbind(matrix(rnorm(40), 20), 1))
  expect_true(ggm_multi(x, lambda = 1, penalize_diagonal = TRUE)$convergence$converged)
  S <- covariances()
  base <- ggm_multi(S = S, n = 20, lambda = 3, tol = 1e-9)
  for (scale in c(1e-8, 1e8)) {
    other <- ggm_multi(S = lapply(S, `*`, scale), n = 20, lambda = 3 * scale, tol = 1e-9)
    expect_lt(largest_difference(base$precision, lapply(other$precision, `*`, scale)), 1e-6)
  }
})

test_that("tasks that share their edges are recovered better together, over seeds", {
  extended()
  kl <- vapply(101:105, function(seed) {
    set.seed(seed)
    sim <- sim_ggm_multi(tasks = 5, p = 50, n = 50, density = 0.1)
    together <- ggm_score(sim, ggm_multi(sim$data, n_lambda = 15, lambda_min_ratio = 0.1))
    apart <- rowMeans(vapply(1:5, function(k) ggm_score(sim$precision[[k]], ggm_lasso(sim$data[[k]], n_lambda = 15, penalize_diagonal = FALSE))$kl,
                             numeric(15)))
    c(min(together$kl), min(apart))
  }, numeric(2))
  expect_true(all(kl[1L, ] < kl[2L, ]))
  expect_equal(mean(kl[1L, ]), 2.58, tolerance = 0.2)
})
