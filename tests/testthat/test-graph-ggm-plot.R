set.seed(202)
sim <- sim_ggm("hub", p = 10, n = 60, groups = 2)
path <- ggm_lasso(sim$data, n_lambda = 6)
selection <- ggm_select(path)
best <- selection$fit

on_null_device <- function(code) {
  pdf(NULL)
  on.exit(dev.off())
  force(code)
}

test_that("every type of plot draws, and takes the caller's settings", {
  on_null_device({
    par <- par("mar")
    expect_null(plot(path))
    expect_null(plot(path, type = "path", main = "mine", xlab = "penalty", col = "red"))
    position <- plot(best)
    expect_identical(dim(position), c(10L, 2L))
    plot(path, type = "network", which = 4, labels = FALSE, isolated = FALSE, main = "mine")
    expect_null(plot(best, type = "heatmap", main = "mine"))
    plot(path, type = "heatmap", which = 2, labels = FALSE)
    expect_identical(par("mar"), par)
    for (criterion in c("ebic", "bic", "cv", "stars")) {
      chosen <- suppressWarnings(ggm_select(path, criterion, folds = 3, n_rep = 3))
      expect_null(plot(chosen, ylab = "mine"))
      expect_identical(dim(plot(chosen, type = "network")), c(10L, 2L))
    }
  })
})

test_that("extremes draw too: one variable, no edges, all edges, many variables, lambda zero", {
  on_null_device({
    one <- ggm_lasso(S = matrix(2), lambda = 0.1)
    empty <- ggm_lasso(S = diag(4), lambda = 0.1)
    full <- ggm_lasso(sim$data, lambda = 0)
    wide <- ggm_lasso(S = diag(70) + 0.5, lambda = 0.2)
    for (fit in list(one, empty, full, wide)) for (type in c("network", "heatmap")) expect_no_error(plot(fit, type = type))
    expect_no_error(plot(empty, isolated = FALSE))
    expect_no_error(plot(ggm_lasso(sim$data, lambda = c(0.3, 0))))
  })
})

test_that("the layout can be given, and the default one does not disturb random numbers", {
  on_null_device({
    own <- matrix(rnorm(20), 10)
    expect_identical(plot(best, layout = own), own)
    expect_error(plot(best, layout = own[1:9, ]), "`layout`", class = "granary_error_input")
    set.seed(1)
    before <- .Random.seed
    first <- plot(best)
    expect_identical(.Random.seed, before)
    expect_identical(plot(best), first)
    circle <- plot(ggm_lasso(S = diag(10), lambda = 0.1))  # without edges there is nothing for forces to do
    expect_equal(rowSums(circle^2), rep(1, 10))
  })
})

test_that("without igraph the network is drawn on a circle", {
  skip_on_cran()
  # the package hidden in a child process
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(c(
    sprintf(".libPaths(%s)", deparse1(.libPaths())),
    "library(granary)",
    "real <- requireNamespace",
    "unlockBinding('requireNamespace', baseenv())",
    "assign('requireNamespace', function(package, ...) package != 'igraph' && real(package, ...), baseenv())",
    "pdf(NULL)",
    "fit <- ggm_lasso(S = diag(5) + 0.5, lambda = 0.1)",
    "position <- plot(fit)",
    "stopifnot(max(abs(rowSums(position^2) - 1)) < 1e-12)",
    "cat('drawn')"
  ), script)
  expect_match(paste(suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), shQuote(script), stdout = TRUE, stderr = TRUE)), collapse = "\n"), "drawn$")
})

test_that("plots that do not apply are refused", {
  bad <- function(call, message) expect_error(call, message, class = "granary_error_input")
  bad(plot(best, type = "path"), "no path to plot")
  bad(plot(path, type = "selection"), "`type`")
  bad(plot(path, type = "pie"), "`type`")
  bad(plot(path, type = "network", which = 7), "`which`")
  bad(on_null_device(plot(best, labels = "yes")), "`labels`")
})

test_that("autoplot() builds for every type", {
  skip_if_not_installed("ggplot2")
  builds <- function(plot) {
    expect_s3_class(plot, "ggplot")
    expect_no_error(on_null_device(ggplot2::ggplot_build(plot)))
  }
  autoplot <- ggplot2::autoplot
  builds(autoplot(path))
  builds(autoplot(best))
  builds(autoplot(path, type = "network", which = 3))
  builds(autoplot(best, type = "heatmap"))
  for (type in c("selection", "network", "heatmap", "path")) builds(autoplot(selection, type = type))
  builds(autoplot(ggm_lasso(S = diag(3), lambda = 0.1)))
  zero <- autoplot(ggm_lasso(sim$data, lambda = c(0.3, 0)))
  expect_silent(on_null_device(ggplot2::ggplot_build(zero)))
  expect_equal(ggplot2::ggplot_build(autoplot(path))$data[[2]]$y, path$df)
})

test_that("ggm_igraph() is the graph of the fit", {
  skip_if_not_installed("igraph")
  graph <- ggm_igraph(best)
  X <- as.matrix(best)
  expect_equal(igraph::degree(graph), colSums(X != 0) - 1)
  expect_identical(igraph::V(graph)$name, colnames(X))
  expect_false(igraph::is_directed(graph))
  ends <- igraph::ends(graph, igraph::E(graph))
  expect_equal(igraph::E(graph)$precision, X[ends])
  expect_equal(igraph::E(graph)$estimate, -cov2cor(X)[ends])
  expect_equal(igraph::gsize(ggm_igraph(path, which = 1)), 0)
  expect_equal(igraph::gorder(ggm_igraph(path, which = 1)), 10)
  expect_equal(igraph::gsize(igraph::as.igraph(path, which = 4)), path$df[4])
  expect_error(ggm_igraph(X), "`fit`", class = "granary_error_input")
})
