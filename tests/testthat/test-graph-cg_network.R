# Conditional Gaussian networks against enumeration, closed forms and other packages.

incinerator <- function() {
  cg_network(
    "filter -> dust <- waste; dust -> reading",
    tables = list(filter = c(intact = 0.95, broken = 0.05), waste = c(household = 0.7, industrial = 0.3)),
    regressions = list(
      dust = data.frame(filter = c("intact", "broken", "intact", "broken"), waste = c("household", "household", "industrial", "industrial"),
                        intercept = c(-3.2, -0.5, -2.8, 0.1), variance = c(0.1, 0.2, 0.3, 0.4)),
      reading = list(intercept = 0.2, dust = 1.5, sd = 0.5)
    )
  )
}

test_that("a small network agrees with enumeration and numerical integration", {
  net <- incinerator()
  seen <- cg_condition(net, list(reading = -0.4))
  cases <- expand.grid(filter = c("intact", "broken"), waste = c("household", "industrial"), stringsAsFactors = FALSE)
  prior <- c(intact = 0.95, broken = 0.05)[cases$filter] * c(household = 0.7, industrial = 0.3)[cases$waste]
  m <- c(-3.2, -0.5, -2.8, 0.1)
  v <- c(0.1, 0.2, 0.3, 0.4)
  like <- dnorm(-0.4, 0.2 + 1.5 * m, sqrt(0.25 + 1.5^2 * v))
  expect_equal(seen$log_evidence, log(sum(prior * like)), tolerance = 1e-12)
  post <- unname(prior * like / sum(prior * like))
  expect_equal(as.vector(cg_marginal(seen, c("filter", "waste"), joint = TRUE)$probabilities), post, tolerance = 1e-12)
  dust <- cg_marginal(seen, "dust")
  true_density <- function(x) {
    top <- vapply(x, function(d) sum(prior * dnorm(d, m, sqrt(v))) * dnorm(-0.4, 0.2 + 1.5 * d, 0.5), 0)
    top / sum(prior * like)
  }
  expect_equal(density(dust, c(-1, -0.3, 0)), true_density(c(-1, -0.3, 0)), tolerance = 1e-10)
  expect_equal(dust$mean, integrate(function(x) x * true_density(x), -6, 5, rel.tol = 1e-10)$value, tolerance = 1e-7)
  expect_equal(density(dust, -0.5, cumulative = TRUE), integrate(true_density, -8, -0.5, rel.tol = 1e-10)$value, tolerance = 1e-7)
  expect_equal(density(dust, quantile(dust, c(0.01, 0.5, 0.999)), cumulative = TRUE), c(0.01, 0.5, 0.999), tolerance = 1e-12)
  expect_identical(unname(quantile(dust, c(0, 1))), c(-Inf, Inf))
  expect_equal(mean(dust), dust$mean)
  joint <- cg_marginal(seen, c("waste", "dust", "reading"), joint = TRUE)
  expect_equal(sum(joint$weights), 1)
  expect_equal(joint$mean[["dust"]], dust$mean, tolerance = 1e-12)
  expect_equal(sqrt(joint$covariance["dust", "dust"]), dust$sd, tolerance = 1e-12)
  expect_equal(joint$covariance["reading", "reading"], 0)
})

test_that("random mixed networks agree with numerical integration over the continuous nodes", {
  # D -> X -> Z, D -> Z, X -> Y <- Z, with D discrete; all but one of the continuous nodes are integrated out on a grid.
  for (seed in 1:5) {
    set.seed(seed)
    state <- c("u", "v")
    net <- cg_network("D -> X -> Z <- D; X -> Y <- Z", list(D = c(u = 0.3, v = 0.7)), list(
      X = data.frame(D = state, intercept = rnorm(2), variance = runif(2, 0.3, 1)),
      Z = data.frame(D = state, intercept = rnorm(2), X = rnorm(2), variance = runif(2, 0.3, 1)),
      Y = list(intercept = rnorm(1), X = rnorm(1), Z = rnorm(1), variance = 0.5)
    ))
    r <- net$regressions
    at <- seq(-9, 9, length.out = 361)
    step <- at[2] - at[1]
    y <- rnorm(1)
    grid <- expand.grid(x = at, z = at)
    density <- lapply(1:2, function(d) {
      net$tables$D[[d]] * dnorm(grid$x, r$X$intercept[d], sqrt(r$X$variance[d])) *
        dnorm(grid$z, r$Z$intercept[d] + r$Z$X[d] * grid$x, sqrt(r$Z$variance[d])) *
        dnorm(y, r$Y$intercept + r$Y$X * grid$x + r$Y$Z * grid$z, sqrt(r$Y$variance))
    })
    mass <- vapply(density, sum, 0) * step^2
    seen <- cg_condition(net, list(Y = y))
    expect_equal(seen$log_evidence, log(sum(mass)), tolerance = 1e-7)
    expect_equal(unname(c(cg_marginal(seen, "D")$probabilities)), mass / sum(mass), tolerance = 1e-7)
    weight <- (density[[1L]] + density[[2L]]) / sum(density[[1L]] + density[[2L]])
    x <- cg_marginal(seen, "X")
    z <- cg_marginal(seen, "Z")
    expect_equal(c(x$mean, z$mean), c(sum(weight * grid$x), sum(weight * grid$z)), tolerance = 1e-6)
    expect_equal(x$sd^2, sum(weight * (grid$x - x$mean)^2), tolerance = 1e-6)
    joint <- cg_marginal(seen, c("X", "Z"), joint = TRUE)
    expect_equal(joint$covariance[1L, 2L], sum(weight * (grid$x - x$mean) * (grid$z - z$mean)), tolerance = 1e-6)
  }
})

test_that("findings are replaced, taken back, and may be uncertain", {
  net <- incinerator()
  a <- cg_condition(cg_condition(net, list(filter = "intact")), list(filter = "broken", reading = 1))
  b <- cg_condition(net, list(reading = 1, filter = "broken"))
  expect_equal(a$log_evidence, b$log_evidence)
  expect_identical(cg_condition(a, retract = TRUE)$log_evidence, 0)
  expect_equal(cg_condition(a, retract = "filter")$log_evidence, cg_condition(net, list(reading = 1))$log_evidence, tolerance = 1e-14)
  soft <- cg_condition(net, list(filter = c(intact = 0.2, broken = 0.8)))
  expect_equal(soft$log_evidence, log(0.2 * 0.95 + 0.8 * 0.05), tolerance = 1e-12)
  expect_equal(cg_marginal(soft, "filter")$probabilities[["broken"]], 0.04 / 0.23, tolerance = 1e-12)
  expect_equal(cg_condition(net, data.frame(filter = "broken", reading = NA, waste = factor("household")))$log_evidence, log(0.05 * 0.7),
               tolerance = 1e-12)
  expect_identical(names(cg_condition(net, list(filter = NA))$evidence), NULL)
})

test_that("a saved network works after it is read again", {
  seen <- cg_condition(incinerator(), list(reading = 0.3))
  file <- tempfile()
  saveRDS(seen, file)
  again <- readRDS(file)
  expect_equal(cg_marginal(again, "dust"), cg_marginal(seen, "dust"))
})

test_that("the ways to write a graph agree, and the order does not matter", {
  a <- cg_fit("Species -> Sepal.Length; Species -> Petal.Length; Sepal.Length -> Petal.Length", iris)
  b <- cg_fit("[Species][Sepal.Length|Species][Petal.Length|Species:Sepal.Length]", iris)
  c <- cg_fit(list(Sepal.Length ~ Species, Petal.Length ~ Species + Sepal.Length), iris)
  expect_equal(a$loglik, b$loglik)
  expect_equal(a$loglik, c$loglik)
  expect_equal(unlist(a$regressions$Petal.Length[["Sepal.Length"]]), unlist(c$regressions$Petal.Length[["Sepal.Length"]]))
  one <- cg_network(a$graph, a$tables, a$regressions, order = c("Sepal.Length", "Petal.Length", "Species"))
  two <- cg_network(a$graph, a$tables, a$regressions, order = c("Petal.Length", "Sepal.Length", "Species"))
  for (v in c("Species", "Petal.Length")) {
    expect_equal(cg_marginal(cg_condition(one, list(Sepal.Length = 6)), v), cg_marginal(cg_condition(two, list(Sepal.Length = 6)), v), tolerance = 1e-10)
  }
})

test_that("fits are least squares and relative frequencies", {
  fit <- cg_fit("Species -> Sepal.Length -> Petal.Length; Species -> Petal.Length", iris)
  for (s in levels(iris$Species)) {
    own <- iris[iris$Species == s, ]
    model <- lm(Petal.Length ~ Sepal.Length, own)
    row <- fit$regressions$Petal.Length[fit$regressions$Petal.Length$Species == s, ]
    expect_equal(c(row$intercept, row$Sepal.Length), unname(coef(model)), tolerance = 1e-10)
    expect_equal(row$variance, mean(residuals(model)^2), tolerance = 1e-10)
  }
  unbiased <- cg_fit("Species -> Sepal.Length -> Petal.Length; Species -> Petal.Length", iris, variance = "unbiased")
  expect_equal(unbiased$regressions$Petal.Length$variance, fit$regressions$Petal.Length$variance * 50 / 48)
  pooled <- cg_fit("Species -> Petal.Length", iris, pooled = TRUE)
  expect_equal(pooled$regressions$Petal.Length$variance, rep(mean(residuals(lm(Petal.Length ~ Species, iris))^2), 3))
  expect_equal(as.double(logLik(fit)), as.double(logLik(fit, newdata = iris)), tolerance = 1e-10)
  expect_identical(attr(logLik(fit), "df"), 17L)
  counts <- cg_fit("cyl -> gear", transform(mtcars, cyl = factor(cyl), gear = factor(gear)), pseudo_count = 1)
  expect_equal(unname(counts$tables$gear), unname(prop.table(table(mtcars$gear, mtcars$cyl) + 1, 2))[, ], ignore_attr = TRUE)
})

test_that("linear and quadratic discriminant analysis are special cases", {
  skip_if_not_installed("MASS")
  names <- c("Sepal.Length", "Petal.Length")
  graph <- "Species -> Sepal.Length -> Petal.Length; Species -> Petal.Length"
  ours <- predict(cg_fit(graph, iris, variance = "ml"), iris, target = "Species", type = "prob")
  theirs <- predict(getExportedValue("MASS", "qda")(iris[names], iris$Species, method = "mle"), iris[names])$posterior
  expect_equal(unname(ours), unname(theirs), tolerance = 1e-8)
})

test_that("draws are reproducible and have the right law", {
  net <- incinerator()
  set.seed(1)
  a <- simulate(net, 20000)
  set.seed(1)
  expect_identical(simulate(net, 20000), a)
  expect_identical(simulate(net, 5, seed = 3), simulate(net, 5, seed = 3))
  expect_s3_class(a$filter, "factor")
  expect_lt(abs(mean(a$filter == "broken") - 0.05), 4.5 * sqrt(0.05 * 0.95 / 20000))
  law <- cg_marginal(net, "reading")
  expect_lt(abs(mean(a$reading) - law$mean), 4.5 * law$sd / sqrt(20000))
  expect_gt(ks.test(a$reading, function(q) density(law, q, cumulative = TRUE))$p.value, 1e-4)
  refit <- cg_fit(net$graph, a)
  expect_equal(refit$regressions$reading$dust, 1.5, tolerance = 0.02)
  seen <- simulate(cg_condition(net, list(filter = "broken", reading = 0.1)), 50)
  expect_true(all(seen$filter == "broken") && all(seen$reading == 0.1))
})

test_that("predictions are the marginals, row by row, on one or two threads", {
  net <- incinerator()
  set.seed(2)
  rows <- simulate(net, 30)
  rows$dust[1:10] <- NA
  rows$waste[5:15] <- NA
  p <- predict(net, rows, target = "filter", type = "prob", threads = 1)
  expect_identical(predict(net, rows, target = "filter", type = "prob", threads = 2), p)
  m <- predict(net, rows, target = "reading", se = TRUE)
  for (r in c(3, 7, 12, 20)) {
    known <- as.list(rows[r, c("waste", "dust", "reading")])
    expect_equal(unname(p[r, ]), as.vector(cg_marginal(cg_condition(net, known), "filter")$probabilities), tolerance = 1e-12)
    law <- cg_marginal(cg_condition(net, as.list(rows[r, c("filter", "waste", "dust")])), "reading")
    expect_equal(c(m$fit[r], m$se.fit[r]), c(law$mean, law$sd), tolerance = 1e-12)
  }
  expect_identical(predict(net, rows, target = "filter"), factor(colnames(p)[max.col(p)], colnames(p)))
  each <- attr(logLik(net, newdata = rows), "each")
  expect_equal(each[7], cg_condition(net, as.list(rows[7, ]))$log_evidence, tolerance = 1e-12)
})

test_that("maxima agree with enumeration", {
  net <- incinerator()
  seen <- cg_condition(net, list(reading = -1.5))
  joint <- cg_marginal(seen, c("filter", "waste"), joint = TRUE)$probabilities
  best <- cg_map(seen, k = 10)
  expect_equal(exp(best$log_probability), sort(as.vector(joint), decreasing = TRUE), tolerance = 1e-10)
  expect_identical(as.character(unlist(best[1, 1:2])), unname(unlist(expand.grid(dimnames(joint), stringsAsFactors = FALSE)[which.max(joint), ])))
  law <- cg_marginal(seen, "dust")
  height <- log(law$weights) - log(law$sds) - 0.5 * log(2 * pi)
  peak <- cg_map(seen, "highest_peak", k = 4)
  expect_equal(peak$log_density, sort(height, decreasing = TRUE), tolerance = 1e-10)
  expect_equal(peak$dust[1], law$means[which.max(height)], tolerance = 1e-10)
  mode <- cg_map(seen, "mode", k = 4)
  grid <- seq(-4, 2, length.out = 20001)
  expect_equal(mode$dust[1], grid[which.max(density(law, grid))], tolerance = 1e-3)
  expect_equal(mode$log_density[1], log(density(law, mode$dust[1])), tolerance = 1e-9)
  expect_true(all(diff(mode$dust[order(mode$dust)]) > 1e-4))
})

test_that("the trees of the paper", {
  net <- function(...) {
    binary <- function() c(a = 0.4, b = 0.6)
    list(A = binary(), B = binary(), C = binary())
  }
  two <- function(...) data.frame(expand.grid(..., stringsAsFactors = FALSE))
  g <- cg_network("A -> X <- B; X -> Y <- C; Y -> Z <- C", net(), list(
    X = cbind(two(A = c("a", "b"), B = c("a", "b")), intercept = 1:4, variance = 1:4),
    Y = data.frame(C = c("a", "b"), X = c(1, 2), intercept = 0, variance = 1), Z = data.frame(C = c("a", "b"), Y = c(-1, 1), intercept = 0,
                                                                                              variance = 1)
  ))
  order <- c("Y", "X", "Z", "C", "A", "B")
  sets <- function(tree) sort(vapply(seq_len(nrow(tree$clusters)), function(k) paste(sort(c(tree$clusters$discrete[[k]],
                                                                                            tree$clusters$continuous[[k]])), collapse = ""), ""))
  expect_identical(sets(cg_tree(g, order = order)), sort(c("CXYZ", "ABCXZ", "ABCZ", "ABC")))
  expect_identical(sets(cg_tree(g, "junction", order = order)), sort(c("CXYZ", "ABCXZ")))
  expect_identical(nrow(cg_tree(g, "elimination", order = order)$clusters), 6L)
  laws <- cg_tree(cg_network(g$graph, g$tables, g$regressions, order = order))$regressions
  expect_identical(lapply(laws, function(r) setdiff(names(r), c("intercept", "variance")))[c("Y", "X", "Z")],
                   list(Y = c("C", "X", "Z"), X = c("A", "B", "C", "Z"), Z = c("A", "B", "C")))
})

test_that("pruning changes no posterior", {
  set.seed(5)
  graph <- "A -> B -> C; A -> X -> Y -> Z; B -> Y; C -> W; W -> V; Y -> U"
  truth <- cg_network(graph, list(A = c(a = 0.3, b = 0.7), B = matrix(c(0.2, 0.8, 0.6, 0.4), 2, dimnames = list(B = c("a", "b"), A = c("a", "b"))),
                                  C = matrix(c(0.1, 0.9, 0.5, 0.5), 2, dimnames = list(C = c("a", "b"), B = c("a", "b")))),
                      list(X = data.frame(A = c("a", "b"), intercept = c(0, 1), variance = 1),
                           Y = data.frame(B = c("a", "b"), X = 1, intercept = c(0, -1), variance = 0.5),
                           Z = list(Y = 2, intercept = 0, variance = 1), W = data.frame(C = c("a", "b"), intercept = 0:1, variance = 1),
                           V = list(W = 1, intercept = 0, variance = 1), U = list(Y = 1, intercept = 3, variance = 1)))
  seen <- cg_condition(truth, list(Y = 0.4, V = 1.2))
  small <- cg_prune(seen, "X")
  expect_lt(length(small$graph$nodes), 10)
  expect_false("Z" %in% small$graph$nodes)
  expect_equal(cg_marginal(small, "X")[c("mean", "sd")], cg_marginal(seen, "X")[c("mean", "sd")], tolerance = 1e-10)
  given <- cg_condition(truth, list(B = "a", X = 0.1, W = 2))
  small <- cg_prune(given, "Z")
  expect_setequal(small$graph$nodes, c("B", "X", "Y", "Z"))
  expect_equal(cg_marginal(small, "Z")[c("mean", "sd")], cg_marginal(given, "Z")[c("mean", "sd")], tolerance = 1e-10)
  expect_equal(as.vector(cg_marginal(cg_prune(seen, "C"), "C")$probabilities), as.vector(cg_marginal(seen, "C")$probabilities), tolerance = 1e-10)
})

test_that("EM uses incomplete rows", {
  net <- incinerator()
  for (seed in 1:3) {
    set.seed(seed)
    data <- simulate(net, 1500)
    holes <- data
    for (v in names(holes)) holes[[v]][sample(1500, 150)] <- NA
    fit <- cg_fit(net$graph, holes, na = "em", tol = 1e-9)
    expect_true(fit$convergence$converged)
    expect_equal(fit$regressions$reading$dust, 1.5, tolerance = 0.05)
    expect_equal(as.double(logLik(fit)), as.double(logLik(fit, newdata = holes)), tolerance = 1e-6)
    expect_gt(as.double(logLik(fit)), as.double(logLik(net, newdata = holes)))
  }
  expect_equal(cg_fit(net$graph, holes, na = "em", threads = 2, tol = 1e-9)$loglik, fit$loglik, tolerance = 0)
  expect_warning(cg_fit(net$graph, holes, na = "em", max_iter = 2), class = "granary_warning_convergence")
  expect_error(cg_fit(net$graph, holes), "missing values, the first in row", class = "granary_error_input")
  expect_error(cg_fit(net$graph, transform(data, dust = NA_real_), na = "em"), "no observed value", class = "granary_error_input")
})

test_that("factors, logicals and text are discrete", {
  set.seed(1)
  d <- data.frame(sick = runif(60) < 0.4, group = sample(c("x", "y"), 60, TRUE))
  d$score <- rnorm(60) + d$sick
  fit <- cg_fit("sick -> score <- group", d)
  expect_identical(fit$levels$sick, c("FALSE", "TRUE"))
  expect_identical(fit$levels$group, c("x", "y"))
  expect_equal(cg_marginal(cg_condition(fit, list(sick = TRUE)), "score"), cg_marginal(cg_condition(fit, list(sick = "TRUE")), "score"))
  expect_s3_class(predict(fit, d, target = "sick"), "factor")
})

test_that("too little data is an error that names the configuration", {
  d <- data.frame(g = factor(c("a", "a", "a", "b"), levels = c("a", "b", "never")), y = c(1, 2, 6, 9))
  expect_error(cg_fit("g -> y", d), "\"y\" in the configuration g = b has 1 observation.*shrink", class = "granary_error_input")
  expect_error(cg_fit("g -> y", d[1:3, ]), "0 observations", class = "granary_error_input")
  fit <- cg_fit("g -> y", d, shrink = 1, pseudo_count = 1)
  expect_equal(fit$regressions$y$intercept, c((9 + 4.5) / 4, (9 + 4.5) / 2, 4.5), tolerance = 1e-12)
  expect_equal(fit$regressions$y$variance[3], mean((d$y - 4.5)^2), tolerance = 1e-12)
  h <- data.frame(g = d$g, h = factor(c("u", "v", "u", "v")))
  expect_error(cg_fit("g -> h", h), "\"h\" in the configuration g = never cannot be estimated.*pseudo_count", class = "granary_error_input")
  expect_silent(cg_fit("g -> h", h, pseudo_count = 0.5))
  expect_warning(cg_fit("g -> y", transform(d[1:3, ], g = factor(g), y = 7)), "variance of \"y\" in the configuration g = a is zero",
                 class = "granary_warning_input")
  expect_error(cg_fit("x -> y", data.frame(x = 1, y = 1:5)), "\"x\" is constant there", class = "granary_error_input")
  expect_error(cg_fit("x -> y", data.frame(x = 1:3, y = 1)[0, ]), "at least one row", class = "granary_error_input")
  for (scale in c(1e-8, 1e8)) {
    a <- cg_fit("Species -> Sepal.Length -> Petal.Length", transform(iris, Sepal.Length = Sepal.Length * scale, Petal.Length = Petal.Length + 1e3))
    b <- cg_fit("Species -> Sepal.Length -> Petal.Length", iris)
    expect_equal(a$regressions$Petal.Length$Sepal.Length * scale, b$regressions$Petal.Length$Sepal.Length, tolerance = 1e-8)
    expect_equal(a$loglik, b$loglik - 150 * log(scale), tolerance = 1e-8)
  }
})

test_that("bad networks and findings are errors that say what is wrong", {
  expect_error(cg_fit("Sepal.Length -> Species", iris), "Sepal.Length -> Species is such an edge", class = "granary_error_input")
  expect_error(cg_fit("a -> b -> c -> a", data.frame(a = 1:3, b = 1:3, c = 1:3)), "cycle a -> b -> c -> a", class = "granary_error_input")
  expect_error(cg_fit("a -- b", data.frame(a = 1:3, b = 1:3)), "must be directed", class = "granary_error_input")
  expect_error(cg_fit("a -> b", data.frame(a = 1:3)), "\"b\" is missing", class = "granary_error_input")
  expect_error(cg_fit("a -> b", data.frame(a = 1:3, b = c(1, Inf, 2))), "infinite", class = "granary_error_input")
  expect_error(cg_network("A -> B", list(A = c(a = 0.5, b = 0.4), B = c(a = 1))), "dimensions", class = "granary_error_input")
  expect_error(cg_network("A", list(A = c(a = 0.5, b = 0.4))), "sum to one.*0.9", class = "granary_error_input")
  expect_error(cg_network("A", list(A = c(a = 1.5, b = -0.5))), "negative", class = "granary_error_input")
  expect_error(cg_network("A -> Y", list(A = c(a = 0.5, b = 0.5)), list(Y = data.frame(A = "a", intercept = 0, variance = 1))), "none for A = b",
               class = "granary_error_input")
  expect_error(cg_network("Y", list(), list(Y = list(intercept = 0, variance = -1))), "negative", class = "granary_error_input")
  expect_error(cg_network("Y -> Z", list(), list(Y = list(intercept = 0, variance = 1))), "\"Z\" is in neither", class = "granary_error_input")
  net <- incinerator()
  expect_error(cg_condition(net, list(filter = "gone")), "intact, broken", class = "granary_error_input")
  expect_error(cg_condition(net, list(other = 1)), "not a node", class = "granary_error_input")
  expect_error(cg_condition(net, list(dust = "a")), "one number", class = "granary_error_input")
  expect_error(cg_condition(net, data.frame(dust = 1:2)), "one row", class = "granary_error_input")
  expect_error(cg_condition(1, list()), class = "granary_error_input")
  never <- cg_network("A -> B", list(A = c(a = 0.5, b = 0.5), B = matrix(c(1, 0, 0.5, 0.5), 2, dimnames = list(B = c("u", "v"), A = c("a", "b")))))
  expect_error(cg_condition(never, list(A = "a", B = "v")), "B = v is impossible given A = a", class = "granary_error_input")
  expect_identical(as.double(logLik(never, newdata = data.frame(A = "a", B = "v"))), -Inf)
  expect_error(predict(never, data.frame(B = "v", A = c("b", "b")), target = "filter"), class = "granary_error_input")
  expect_error(cg_marginal(net, "nothing"), "none of them", class = "granary_error_input")
  expect_error(cg_map(cg_network("X -> Y", list(), list(X = list(intercept = 0, variance = 1), Y = list(intercept = 0, X = 2, variance = 0))),
                      "mode"),
               "positive variances", class = "granary_error_input")
})

test_that("deterministic relations: points, certain findings, warnings", {
  double <- cg_network("X -> Y", list(), list(X = list(intercept = 1, variance = 4), Y = list(intercept = 0, X = 2, variance = 0)))
  seen <- cg_condition(double, list(Y = 3))
  expect_equal(seen$log_evidence, dnorm(3, 2, 4, log = TRUE), tolerance = 1e-12)
  point <- cg_marginal(seen, "X")
  expect_identical(c(point$mean, point$sd), c(1.5, 0))
  expect_identical(density(point, c(1.4, 1.5), cumulative = TRUE), c(0, 1))
  expect_error(cg_condition(seen, list(X = 1)), "impossible", class = "granary_error_input")
  mixed <- cg_network("D -> Y", list(D = c(a = 0.5, b = 0.5)), list(Y = data.frame(D = c("a", "b"), intercept = 0, variance = 0:1)))
  expect_warning(sure <- cg_condition(mixed, list(Y = 0)), "certain under some", class = "granary_warning_input")
  expect_equal(cg_marginal(sure, "D")$probabilities[["a"]], 1)
  expect_silent(cg_condition(mixed, list(Y = 0.1)))
})

test_that("everything prints and plots", {
  pdf(NULL)
  on.exit(dev.off())
  net <- cg_condition(incinerator(), list(reading = 0))
  expect_output(print(net), "2 discrete and 2 continuous nodes")
  expect_output(print(net), "Findings: reading = 0")
  expect_output(print(summary(net)), "semi-elimination tree")
  expect_output(print(cg_marginal(net)), "dust: mean")
  expect_output(print(cg_marginal(net, c("filter", "dust"), joint = TRUE)), "mixture of 4")
  expect_silent(plot(net))
  expect_silent(plot(cg_marginal(net, "dust")))
  expect_silent(plot(cg_marginal(net, "filter")))
  expect_silent(plot(cg_marginal(net, c("filter", "waste"), joint = TRUE)))
  expect_silent(plot(cg_marginal(net, c("filter", "dust"), joint = TRUE)))
  expect_silent(plot(cg_marginal(incinerator(), c("dust", "reading"), joint = TRUE)))
  expect_silent(plot(cg_marginal(net)))
  expect_silent(plot(cg_tree(net)))
  expect_identical(names(tidy(net)), c("node", "configuration", "term", "estimate"))
  expect_identical(glance(net)$findings, 1L)
  expect_identical(nrow(tidy(cg_marginal(net))), 5L)
  expect_identical(nrow(tidy(cg_marginal(net, "dust"))), 4L)
})

test_that("networks of bnlearn are read, and agree with it", {
  skip_if_not_installed("bnlearn")
  set.seed(1)
  d <- simulate(incinerator(), 400)
  fitted <- getExportedValue("bnlearn", "bn.fit")(getExportedValue("bnlearn", "model2network")("[filter][waste][dust|filter:waste][reading|dust]"), d)
  net <- cg_network(fitted)
  own <- cg_fit(net$graph, d, variance = "unbiased")
  expect_equal(net$regressions$dust$intercept, own$regressions$dust$intercept, tolerance = 1e-8)
  expect_equal(net$tables$filter, own$tables$filter, tolerance = 1e-8)
  expect_equal(as.double(logLik(net, newdata = d)), as.double(logLik(fitted, d)), tolerance = 1e-8)
})

test_that("a factor of names asks for the same nodes as text", {
  fit <- cg_fit("Species -> Sepal.Length -> Petal.Length; Species -> Petal.Length", iris)
  nodes <- c("Sepal.Length", "Petal.Length")
  expect_equal(cg_marginal(fit, factor(nodes), joint = TRUE), cg_marginal(fit, nodes, joint = TRUE))
  expect_equal(cg_marginal(fit, factor(nodes)), cg_marginal(fit, nodes))
})

test_that("a class that was never seen is a latent class", {
  set.seed(1)
  z <- sample(2, 300, TRUE)
  d <- data.frame(class = factor(rep(NA, 300), levels = c("a", "b")), u = rnorm(300, 5 * z), v = rnorm(300, -4 * z),
                  w = factor(ifelse(runif(300) < ifelse(z == 1, 0.9, 0.1), "x", "y")))
  fit <- cg_fit("class -> u; class -> v; class -> w", d, na = "em")
  expect_true(fit$convergence$converged)
  found <- predict(fit, d[c("u", "v", "w")], target = "class")
  expect_gt(max(mean((found == "a") == (z == 1)), mean((found == "a") == (z == 2))), 0.99)
  expect_equal(sort(fit$regressions$u$intercept), c(5, 10), tolerance = 0.05)
  expect_identical(cg_fit("class -> u; class -> v; class -> w", d, na = "em", threads = 2)$loglik, fit$loglik)
  # one indicator at a time, and the likelihood of two classes is at least that of one
  only <- cg_fit("class -> w", d, na = "em")
  expect_gte(only$loglik, cg_fit("w", d)$loglik - 1e-8)
  # a few labels name the classes, also where one class has none
  for (known in list(1, c(1:4), which(z == 2)[1], c(which(z == 1)[1:2], which(z == 2)[1:2]))) {
    d$class <- factor(NA, levels = c("a", "b"))[rep(1, 300)]
    d$class[known] <- c("a", "b")[z[known]]
    some <- cg_fit("class -> u; class -> v; class -> w", d, na = "em")
    expect_true(some$convergence$converged)
    expect_gt(mean((predict(some, d[c("u", "v", "w")], target = "class") == "a") == (z == 1)), 0.99)
  }
  d$class <- NA_real_
  expect_error(cg_fit("class -> u", d, na = "em"), "no observed value", class = "granary_error_input")
})
