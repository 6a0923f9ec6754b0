# Paths and grids of hub fits, their plots, what they say when nothing is to be found, and other solvers.

hub_sim <- function(seed = 9, ...) {
  set.seed(seed)
  sim_hub(p = 20, hubs = 2, n = 80, ...)
}

test_that("V, Z, hubs, BIC and regime follow ggm_at() along a path, and equal single fits", {
  x <- hub_sim()$data
  path <- ggm_hub(x, lambda1 = 0.35, lambda2 = c(0.6, 0.3, 0.2), lambda3 = 0.6, tol = 1e-10)
  expect_length(path$V, 3)
  for (k in 1:3) {
    one <- ggm_at(path, k)
    alone <- suppressWarnings(ggm_hub(x, lambda1 = 0.35, lambda2 = path$lambda[k], lambda3 = 0.6, tol = 1e-10), classes = "granary_warning_input")
    expect_lt(max(abs(as.matrix(one) - as.matrix(alone))), 1e-4)
    expect_equal(unname(as.matrix(one$V + Matrix::t(one$V) + one$Z)), unname(as.matrix(one)), tolerance = 1e-14)
    expect_equal(one$bic, alone$bic, tolerance = 1e-4)
    expect_identical(one$regime, alone$regime)
    expect_identical(one$hubs$node, alone$hubs$node)
    expect_identical(hub_parts(path, k)$hubs, one$hubs)
    expect_identical(hub_parts(one)$V, path$V[[k]])
    expect_output(print(one), paste0("lambda2 ", path$lambda[k]))
  }
  expect_identical(hub_parts(path)$V, path$V[[3]])
  expect_error(hub_parts(path, 4), "`which`", class = "granary_error_input")
  chosen <- ggm_select(path, "ebic")
  expect_identical(chosen$fit$V, path$V[[chosen$selected]])
  expect_identical(ggm_score(hub_sim(), chosen$fit)$edges, as.integer(chosen$fit$df))
})

test_that("grids of all three models choose the smallest criterion among fits that stand alone", {
  gaussian <- ggm_hub_select(hub_sim()$data, lambda1 = 0.35, lambda2 = c(0.3, 0.5), lambda3 = c(0.5, 0.8))
  covariance <- ggm_hub_select(hub_sim(type = "covariance")$data, lambda1 = 0.35, lambda2 = c(0.3, 0.5), lambda3 = c(0.5, 0.8), model = "covariance")
  binary_data <- hub_sim(type = "binary")$data
  binary <- ggm_hub_select(binary_data, lambda1 = 5, lambda2 = c(4, 2), lambda3 = c(8, 5), model = "binary")
  expect_s3_class(gaussian$fit, "granary_ggm_hub")
  expect_s3_class(covariance$fit, "granary_cov_hub")
  expect_s3_class(binary$fit, "granary_ising_hub")
  for (best in list(gaussian, covariance, binary)) {
    expect_s3_class(best, c("granary_ggm_hub_select", "granary_selection", "granary_fit"), exact = TRUE)
    expect_identical(nrow(best$table), 4L)
    expect_equal(best$fit$bic, min(best$table$estimate))
    expect_identical(best$table$lambda2[best$selected], best$fit$penalty$lambda2)
    expect_output(print(best), "4 candidates, criterion: BIC")
    expect_identical(coef(best), coef(best$fit))
  }
  alone <- ising_hub(binary_data, 5, binary$fit$penalty$lambda2, binary$fit$penalty$lambda3)
  expect_lt(max(abs(as.matrix(coef(alone)) - as.matrix(coef(binary)))), 0.01)
  by_ebic <- suppressWarnings(ggm_hub_select(binary_data, lambda1 = 5, lambda2 = c(4, 2), lambda3 = 8, model = "binary", criterion = "ebic"))
  first <- by_ebic$table[1, ]
  fit <- suppressWarnings(ising_hub(binary_data, 5, first$lambda2, first$lambda3))
  expect_equal(first$estimate, -2 * as.double(logLik(fit)) + fit$df * (log(80) + 2 * log(20)), tolerance = 1e-5)
  for (model in c("gaussian", "covariance")) {  # all defaults
    expect_identical(nrow(suppressWarnings(ggm_hub_select(hub_sim()$data, lambda1 = 0.35, model = model))$table), 30L)
  }
  expect_error(ggm_hub_select(S = diag(3), lambda1 = 1, model = "binary"), "`x`", class = "granary_error_input")
  expect_error(ggm_hub_select(hub_sim()$data, lambda1 = 1, model = "binary"), "zeros and ones", class = "granary_error_input")
})

test_that("an argument named c that is a function is an input error", {
  expect_error(ggm_hub_select(hub_sim()$data, lambda1 = 0.35, c = function(...) 1), "`c`", class = "granary_error_input")
})

test_that("Newton and alternating directions agree, for every norm, and p = 5 without hubs is the graphical lasso", {
  S <- cov(hub_sim()$data)
  for (q in c(1, 2, Inf)) {
    fit <- function(method) ggm_hub(S = S, lambda1 = 0.35, lambda2 = 0.25, lambda3 = if (q == 1) 0.4 else 0.7, q = q, method = method, tol = 1e-8)
    auto <- suppressWarnings(fit("auto"), classes = "granary_warning_input")
    admm <- suppressWarnings(fit("admm"), classes = "granary_warning_input")
    expect_lt(abs(auto$objective - admm$objective), 20e-8)
    expect_lt(max(abs(as.matrix(auto) - as.matrix(admm))), 1e-3)
  }
  small <- S[1:5, 1:5]
  for (huge in list(c(1e3, 0.5), c(0.5, 1e3))) {
    fit <- suppressWarnings(ggm_hub(S = small, lambda1 = 0.1, lambda2 = huge[1], lambda3 = huge[2], tol = 1e-12))
    expect_lt(max(abs(as.matrix(fit) - as.matrix(ggm_lasso(S = small, lambda = 0.1, penalize_diagonal = FALSE, tol = 1e-12)))), 1e-8)
    expect_identical(length(fit$V@x), 0L)
  }
})

test_that("the objective is that of hglasso, the authors' package, or below it", {
  skip_if_not_installed("hglasso")
  skip_if_not_installed("igraph")
  S <- unname(cov(hub_sim()$data))
  S <- (S + t(S)) / 2
  suppressWarnings(suppressPackageStartupMessages(loadNamespace("hglasso")))
  theirs <- suppressWarnings(getExportedValue("hglasso", "hglasso")(S, 0.35, 0.25, 0.7))
  ours <- ggm_hub(S = S, lambda1 = 0.35, lambda2 = 0.25, lambda3 = 0.7)
  expect_lt(ours$objective, theirs$objective + 1e-4)
  expect_lt(max(abs(as.matrix(ours) - theirs$Theta)), 1e-2)
})

test_that("empty graphs, impossible hubs and covariances that are none are announced, and a fit comes back", {
  x <- hub_sim()$data
  S <- cov(x)
  top <- hub_lambda_max(S, 0.2)
  expect_warning(empty <- ggm_hub(x, lambda1 = 1.01 * top[[1]], lambda2 = 0.2, lambda3 = 1.01 * top[[2]]), "empty.*lambda1 <.*lambda3 <",
                 class = "granary_warning_input")
  expect_equal(unname(as.matrix(empty)), diag(1 / diag(S), 20))
  expect_identical(nrow(empty$hubs), 0L)
  expect_output(print(empty), "graph is empty")
  expect_warning(cov_hub(x, lambda1 = 1.01 * top[[1]], lambda2 = 0.2, lambda3 = 1.01 * top[[2]]), "empty", class = "granary_warning_input")
  expect_warning(expect_warning(ising_hub(+(x > 0), 1e3, 1e4, 1e4), "No hub is possible"), "empty", class = "granary_warning_input")
  expect_warning(ggm_hub(x, lambda1 = 0.2, lambda2 = 0.2, lambda3 = 1), "No hub is possible.*lambda1 >=", class = "granary_warning_input")
  expect_identical(hub_regime(0.2, 0.2, 1, 20), "no hubs possible")
  indefinite <- matrix(0.9, 3, 3)
  indefinite[1, 2] <- indefinite[2, 1] <- -0.9
  diag(indefinite) <- 1
  expect_warning(fit <- ggm_hub(S = indefinite, lambda1 = 0.6, lambda2 = 0.7, lambda3 = 0.6), "not positive semi-definite",
                 class = "granary_warning_input")
  expect_lt(fit$gap, 3e-6)
  expect_gt(min(eigen(as.matrix(fit), only.values = TRUE)$values), 0)
  expect_gt(min(eigen(as.matrix(coef(suppressWarnings(cov_hub(S = indefinite, lambda1 = 0.1, lambda2 = 0.1, lambda3 = 0.1)))))$values), 0.99e-4)
  for (l in list(c(0.6, 0.4, 0.5), c(0, 0, 0))) {  # too small for a minimum
    expect_error(suppressWarnings(ggm_hub(S = indefinite, lambda1 = l[1], lambda2 = l[2], lambda3 = l[3])), class = "granary_error")
  }
})

test_that("plots mark hubs, with base graphics and with ggplot2", {
  x <- hub_sim()$data
  fit <- ggm_hub(x, lambda1 = 0.35, lambda2 = 0.25, lambda3 = 0.7)
  path <- ggm_hub(x, lambda1 = 0.35, lambda2 = c(0.3, 0.2), lambda3 = 0.7)
  binary <- ising_hub(+(x > 0), 5, 3, 8)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_no_warning({
    expect_identical(nrow(plot(fit, min_degree = 0)), 20L)
    plot(fit, min_degree = 1000)
    plot(path, which = 1, type = "network")
    plot(path)
    plot(binary)
    plot(binary, type = "parts")
  })
  expect_error(plot(fit, type = "pie"), "`type`", class = "granary_error_input")
  skip_if_not_installed("ggplot2")
  for (g in list(ggplot2::autoplot(fit), ggplot2::autoplot(fit, min_degree = 1000), ggplot2::autoplot(fit, type = "parts"),
                 ggplot2::autoplot(fit, type = "heatmap"), ggplot2::autoplot(path), ggplot2::autoplot(path, type = "network", which = 1),
                 ggplot2::autoplot(binary), ggplot2::autoplot(binary, type = "parts"))) {
    expect_s3_class(g, "ggplot")
    expect_no_error(print(g))
  }
  layer <- Filter(function(l) identical(l$aes_params$fill, hub_colour), ggplot2::autoplot(fit)$layers)
  expect_identical(nrow(layer[[1]]$data), nrow(fit$hubs))
})
