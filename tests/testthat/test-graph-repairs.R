# One test per thing that was once wrong.

test_that("a small penalty from a cold start has the optimum, and the gap decides whether it has", {
  S <- cor(longley)
  for (lambda in c(0.01, 0.001)) {
    fit <- suppressWarnings(ggm_lasso(S = S, lambda = lambda))
    path <- suppressWarnings(ggm_lasso(S = S, lambda = exp(seq(log(0.9), log(lambda), length.out = 25))))
    expect_lt(abs(fit$objective - min(path$objective[25])), 1e-5)
    expect_true(fit$convergence$converged)
    expect_lte(fit$gap, 1e-6 * ncol(S))
    expect_equal(as.matrix(fit$precision), as.matrix(path$precision[[25]]), tolerance = 1e-3)
  }
})

test_that("badly conditioned problems are solved, and not by patience", {
  fit <- expect_silent(ggm_lasso(S = cor(longley), lambda = 1e-4))
  expect_true(fit$convergence$converged)
  expect_lt(fit$gap, 1e-6)
  expect_equal(fit$objective, -15.36872625, tolerance = 1e-8)  # that of the package glasso with thr = 1e-12
  set.seed(4)  # fewer rows than variables, and a penalty near zero
  x <- matrix(rnorm(60), 20) %*% matrix(rnorm(90), 3) + matrix(rnorm(600), 20) / 2
  fit <- expect_silent(ggm_lasso(S = cor(x), lambda = 0.001))
  expect_lt(fit$gap, 1e-6)
  expect_lt(fit$convergence$seconds, 10)
  expect_gt(min(eigen(as.matrix(fit$precision), only.values = TRUE)$values), 0)
})

test_that("a trace ends at the objective when the problem falls into components", {
  S <- diag(6)
  S[1, 2] <- S[2, 1] <- 0.6
  S[3, 4] <- S[4, 3] <- 0.5
  fit <- ggm_lasso(S = S, lambda = 0.1, method = "quic")
  expect_gt(max(fit$component), 1)
  expect_equal(utils::tail(fit$trace$objective, 1), fit$objective, tolerance = 1e-8)
  hub <- ggm_hub(S = S, lambda1 = 0.1, lambda2 = 0.1, lambda3 = 0.2)
  if (nrow(hub$trace) > 0) expect_equal(utils::tail(hub$trace$objective, 1), hub$objective, tolerance = 1e-6)
})

test_that("rows of a fit with groups come back in the order they came", {
  set.seed(1)
  shuffled <- iris[sample(nrow(iris)), ]
  fit <- ggm_multi(scale(shuffled[1:4]), groups = shuffled$Species, lambda = 2)
  class <- predict(fit, type = "class")
  expect_gt(mean(class == shuffled$Species), 0.9)
  expect_identical(class, predict(fit, scale(shuffled[1:4]), type = "class"))
  expect_equal(unname(as.matrix(augment(fit)[colnames(shuffled)[1:4]])), unname(scale(shuffled[1:4])), ignore_attr = TRUE)
  expect_identical(as.character(augment(fit)$.task), as.character(shuffled$Species))
})

test_that("two objects over the same variables are joined by name", {
  set.seed(2)
  sim <- sim_ggm("chain", p = 8, n = 200)
  truth <- as.matrix(sim$precision)
  fit <- ggm_lasso(sim$data, lambda = 0.1)
  o <- c(3, 1, 4, 8, 5, 2, 7, 6)
  expect_equal(ggm_score(truth[o, o], fit), ggm_score(truth, fit), ignore_attr = TRUE)
  weights <- matrix(1, 8, 8, dimnames = dimnames(truth))
  weights[1, 2] <- weights[2, 1] <- 0
  plain <- ggm_lasso(sim$data, lambda = 0.3, weights = weights)
  expect_equal(ggm_lasso(sim$data, lambda = 0.3, weights = weights[o, o])$precision, plain$precision)
  expect_equal(ggm_lasso(sim$data, lambda = weights[o, o] * 0.3)$precision, plain$precision)
  bad <- weights
  dimnames(bad) <- rep(list(letters[1:8]), 2)
  named <- sim$data
  colnames(named) <- LETTERS[1:8]
  expect_error(ggm_lasso(named, lambda = 0.3, weights = bad), class = "granary_error_input")
})

test_that("BIC() of a fit with hubs is its bic, and positive covariances are blue", {
  set.seed(3)
  sim <- sim_hub(p = 12, hubs = 1, n = 100)
  fit <- ggm_hub(sim$data, lambda1 = 0.3, lambda2 = c(0.4, 0.2), lambda3 = 0.6)
  expect_equal(BIC(fit), fit$bic)
  expect_equal(granary:::parts_colours(FALSE)[[2]], granary:::sign_colours[["positive"]])
  expect_equal(granary:::parts_colours(TRUE)[[2]], granary:::sign_colours[["negative"]])
})

test_that("weights by size and by proportion are one problem to cross-validation too", {
  x <- scale(iris[1:4])
  by_size <- ggm_multi(x, groups = iris$Species, n_lambda = 6, weights = "size")
  share <- ggm_multi(x, groups = iris$Species, lambda = by_size$lambda / nrow(x), weights = "proportion")
  set.seed(4)
  a <- ggm_select(by_size, "cv")
  set.seed(4)
  b <- ggm_select(share, "cv")
  expect_equal(a$table$estimate, b$table$estimate, tolerance = 1e-5)
  expect_identical(a$selected, b$selected)
})

test_that("drawing and simulating leave the session's stream alone", {
  set.seed(5)
  model <- model_given("gaussian", covariance = diag(2))
  fit <- ggm_lasso(mtcars[1:4], lambda = 1)
  before <- .Random.seed
  expect_identical(simulate(model, 3, seed = 1), simulate(model, 3, seed = 1))
  simulate(fit, 2, seed = 1)
  pdf(NULL)
  plot(fit)
  dev.off()
  expect_identical(.Random.seed, before)
})

test_that("node selection does not depend on units", {
  set.seed(6)
  x <- as.matrix(mtcars[1:6])
  x <- scale(x)
  plain <- ggm_nodes(x, lambda = 0.02, tau = 0.2)
  large <- ggm_nodes(x * 1e6, lambda = 0.02 * 1e12, tau = 0.2 * 1e12)
  expect_true(plain$convergence$converged && large$convergence$converged)
  expect_equal(as.matrix(large$precision) * 1e12, as.matrix(plain$precision), tolerance = 1e-4)
})

test_that("pc() does not depend on the order of the columns by default", {
  set.seed(7)
  sim <- sim_dag(8, n = 300, degree = 3)
  first <- pc(sim$data)
  for (k in 1:5) {
    o <- sample(8)
    again <- pc(sim$data[, o])
    expect_identical(assess(again$graph, first$graph)$shd, 0L)
  }
})

test_that("0/1 columns beside numeric ones are discrete, as the help says", {
  expect_identical(granary:::default_test(data.frame(a = rnorm(20), b = rep(0:1, 10))), "mixed")
  expect_identical(granary:::default_test(cbind(a = rnorm(20), b = rep(0:1, 10))), "mixed")
  expect_identical(granary:::default_test(cbind(a = rep(0:1, 10), b = rep(c(0, 0, 1, 1), 5))), "g2")
  expect_identical(granary:::default_test(cbind(a = rnorm(20), b = rnorm(20))), "gauss")
})

test_that("causal_dag() speaks when error variances differ wildly", {
  set.seed(8)
  x <- cbind(a = rnorm(200), b = rnorm(200, sd = 100), c = rnorm(200))
  expect_warning(causal_dag(x), "differ by a factor", class = "granary_warning_input")
  expect_warning(causal_dag(x, weights = "likelihood"), NA)
})

test_that("a wide search over subsets is refused at once", {
  S <- diag(60) + 0.1
  graph <- as_graph(matrix(1, 60, 60) - diag(60))
  took <- system.time(expect_error(causal_dag(S = S, n = 200, graph = graph, search = "subset"), "at most 25 nodes",
                                   class = "granary_error_input"))
  expect_lt(took[["elapsed"]], 5)
})

test_that("the default path of ggm_nodes() ends where graphs stop being useful", {
  set.seed(9)
  x <- matrix(rnorm(12 * 40), 12) + rnorm(12)
  fit <- suppressWarnings(ggm_nodes(x, n_lambda = 15))
  expect_true(all(2 * utils::head(fit$df, -1) / 40 <= 6))
})

test_that("fci() misses no separating set because a triple is ambiguous", {
  skip_if_not_installed("pcalg")
  data("gmInt", package = "pcalg", envir = environment())
  x <- gmInt$x
  colnames(x) <- paste0("V", seq_len(ncol(x)))
  adjacent <- function(fit) any((fit$edges$from == "V2" & fit$edges$to == "V8") | (fit$edges$from == "V8" & fit$edges$to == "V2"))
  expect_false(adjacent(fci(x, alpha = 0.05)))
  expect_lte(nrow(fci(x, alpha = 0.05)$edges), nrow(fci(x, alpha = 0.05, ambiguous = "literal")$edges))
})

test_that("misspelt arguments of methods are refused, and a correlation matrix given as data is noticed", {
  fit <- ggm_lasso(mtcars[1:4], lambda = 1)
  expect_error(predict(fit, newx = mtcars[1:2, 1:4]), class = "granary_error_input")
  expect_error(coef(fit, whch = 1), class = "granary_error_input")
  expect_warning(ggm_lasso(cor(mtcars), lambda = 0.5), "correlation matrix", class = "granary_warning_input")
  path <- ggm_lasso(S = cor(mtcars), n = 32, lambda = c(0.5, 0.2))
  expect_warning(ggm_at(path, lambda = 5), "outside the path", class = "granary_warning_input")
})

test_that("graphs convert, list nodes, and are assessed", {
  g <- as_graph("a -> b -> d <- c <- a; d -> e")
  expect_identical(graph_nodes(g), c("a", "b", "c", "d", "e"))
  expect_identical(graph_nodes(g, "ancestors", "b"), c("a", "b"))
  expect_error(graph_nodes(g, "ancestors"), class = "granary_error_input")
  expect_identical(assess(g, g)$shd, 0L)
  expect_identical(graph_convert(g, "skeleton")$type, "undirected")
  expect_error(graph_convert(g, "cpdag", latent = "a"), class = "granary_error_input")
  expect_error(neighborhood("chain", 3, mask = TRUE), "no argument `mask`", class = "granary_error_input")
  expect_s3_class(make_priors(list(l1 = 0.1))[[1]], "granary_prior")
  expect_equal(sim_sem(Inf, rbind(c(0, 1), 0)), rbind(c(1, 1), c(1, 2)), ignore_attr = TRUE)
})

test_that("possible effects have a picture", {
  set.seed(10)
  sim <- sim_dag(5, n = 200, weights = c(0.5, 1))
  pdf(NULL)
  on.exit(dev.off())
  expect_no_error(plot(ida(pc(sim$data), "V1")))
})

test_that("names are matched wherever two objects are over the same variables", {
  set.seed(11)
  names <- letters[1:4]
  B <- matrix(0, 4, 4, dimnames = list(names, names))
  B[rbind(c("b", "a"), c("c", "b"), c("d", "a"), c("d", "c"))] <- c(0.8, 0.9, 0.5, 0.7)
  x <- sim_sem(300, B)
  o <- c(3, 1, 4, 2)
  variance <- c(a = 1, b = 4, c = 1, d = 2)
  expect_equal(sim_sem(Inf, B, variance[o]), sim_sem(Inf, B, variance))
  expect_equal(causal_dag_bounds(B, variance[o])$xi, causal_dag_bounds(B, variance)$xi)
  expect_equal(causal_dag_bounds(B, weights = variance[o])$score, causal_dag_bounds(B, weights = variance)$score)
  known <- matrix(FALSE, 4, 4, dimnames = list(names, names))
  known["d", "a"] <- known["c", "b"] <- TRUE
  for (search in list(pc, fci, rfci)) {
    straight <- search(x, background = pc_knowledge(forbidden = known))
    expect_equal(search(x, background = pc_knowledge(forbidden = known[o, o]))$graph, straight$graph)
  }
  expect_equal(causal_dag(x, background = pc_knowledge(forbidden = known[o, o]))$B, causal_dag(x, background = pc_knowledge(forbidden = known))$B)
  near <- matrix(0, 4, 4, dimnames = list(names, names))
  near[rbind(c("a", "b"), c("b", "a"), c("b", "c"), c("c", "b"))] <- 1
  local <- function(a) as.matrix(ggm_local(x, neighbors = a, lambda = 0.05, tau = 0.2)$precision)
  expect_equal(local(near[o, o]), local(near))
  expect_error(local(`dimnames<-`(near, list(LETTERS[1:4], LETTERS[1:4]))), "must name the variables", class = "granary_error_input")
  mixed <- function(a) as.matrix(ggm_mix(x, priors = list(l1 = 0.05, local = list(a, 0.2)))$precision)
  expect_equal(mixed(near[o, o]), mixed(near), tolerance = 1e-6)
  y <- c(a = 1, b = 1.5, c = 4, d = 0)
  expect_equal(fitted(fused_signal(y, tau = 0.3, neighbors = near[o, o])), fitted(fused_signal(y, tau = 0.3, neighbors = near)))
})

test_that("values per class and per task are matched by name", {
  set.seed(12)
  x <- sim_ggm("chain", p = 5, n = 120)$data
  o <- c(4, 2, 5, 1, 3)
  fits <- list(A = ggm_lasso(x[1:60, ], lambda = 0.1), B = ggm_lasso(x[61:120, ], lambda = 0.1))
  other <- list(A = fits$A, B = ggm_lasso(x[61:120, o], lambda = 0.1))
  expect_equal(ggm_classify(other, x)$scores, ggm_classify(fits, x)$scores, tolerance = 1e-4)
  expect_equal(ggm_classify(fits, x, prior = c(B = 0.1, A = 0.9)), ggm_classify(fits, x, prior = c(A = 0.9, B = 0.1)))
  S <- list(a = cov(x[1:90, ]), b = cov(x[91:120, ]))
  straight <- ggm_multi(S = S, n = c(a = 90, b = 30), lambda = 2)
  expect_equal(ggm_multi(S = S, n = c(b = 30, a = 90), lambda = 2)$precision, straight$precision)
  expect_equal(ggm_multi(S = S, weights = c(b = 30, a = 90), lambda = 2)$precision, straight$precision)
})

test_that("ggm_nodes() has no edges of rounding size that the optimum does not have", {
  set.seed(13)
  x <- scale(matrix(rnorm(40 * 8), 40) %*% matrix(rnorm(8 * 80), 8) + matrix(rnorm(40 * 80), 40))
  expect_warning(path <- ggm_nodes(x), "in one step", class = "granary_warning_input")
  between <- exp(seq(log(path$lambda[1]), log(path$lambda[length(path$lambda)]), length.out = 8))
  fit <- ggm_nodes(x, lambda = between)
  for (k in seq_along(between)) {
    partial <- abs(cov2cor(as.matrix(fit$precision[[k]])))
    diag(partial) <- 0
    strength <- apply(partial, 2, max)
    expect_true(all(strength == 0 | strength > 1e-6))
  }
  expect_true(all(diff(fit$df) >= 0))  # before: 0, 6, 90, 0, 0, ...
})

strong_factors <- function(p) {
  set.seed(31)
  loading <- matrix(rnorm(p * 3), p)
  cor(matrix(rnorm(150), 50) %*% t(loading) + 0.3 * matrix(rnorm(50 * p), 50))
}

test_that("a problem too large and too badly conditioned ends, with the best point seen, and says so", {
  S <- strong_factors(110)
  took <- system.time(expect_warning(fit <- ggm_lasso(S = S, lambda = 1e-3), "NOT converged", class = "granary_warning"))
  expect_lt(sum(took[1:2]), 30)
  expect_false(fit$convergence$converged)
  expect_match(fit$convergence$message, "larger lambda")
  expect_gt(fit$gap, 1)
  expect_gt(min(eigen(as.matrix(fit$precision), only.values = TRUE)$values), 0)
})

test_that("up to a hundred variables it is solved", {
  skip_if(Sys.getenv("GRANARY_EXTENDED") != "1")
  fit <- expect_silent(ggm_lasso(S = strong_factors(100), lambda = 1e-3))
  expect_lt(fit$gap, 1e-6)
})

test_that("a solver that stalled is not told to go on", {
  expect_identical(advice_when_stalled("Raise `max_iter`, loosen `tol`, or rescale the data."), "More iterations will not help: loosen `tol`, or rescale the data.")
  expect_identical(advice_when_stalled("Give a larger penalty."), "Give a larger penalty.")
  fit <- function(reason) list(convergence = list(converged = FALSE, iterations = 3L, gap = 1, residual = 1, seconds = 0, message = "", reason = reason))
  expect_warning(check_convergence(fit("stalled")), "More iterations will not help", class = "granary_warning_convergence")
  expect_warning(check_convergence(fit("iterations")), "Raise `max_iter`", class = "granary_warning_convergence")
})

test_that("names of nodes stand clear of their lines", {
  position <- rbind(c(0, 0), c(0, 1), c(0, -1), c(1, 0), c(-1, 0))
  expect_identical(label_side(position, 1, 2), c(1, 3, 3, 3, 3))  # a line from above: below
  expect_identical(label_side(position, c(1, 1), c(2, 3))[1L], 4)  # from above and below: to the right
  expect_identical(label_side(position, c(1, 1, 1), c(2, 3, 4))[1L], 2)
  expect_identical(label_side(position, integer(), integer()), rep(3, 5))
})

test_that("taking a penalty from a path costs no look at the whole path", {
  path <- ggm_lasso(scale(mtcars))
  one <- ggm_at(path, 3)
  expect_silent(check_fit(one))
  one[["df"]] <- 1:3
  expect_silent(predict(ggm_at(path, 5), mtcars[1:2, ]))
})
