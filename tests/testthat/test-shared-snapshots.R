# Pictures of the most used plots, compared with those kept in _snaps. Looked at when they were made; a change is to be looked at too
# (testthat::snapshot_review()). Skipped where vdiffr is not installed, and where R draws text differently.

picture <- function(title, code) {
  code <- substitute(code)
  frame <- parent.frame()
  vdiffr::expect_doppelganger(title, function() eval(code, frame))
}

test_that("the most used plots look as they did", {
  skip_on_cran()
  skip_if_not_installed("vdiffr")
  set.seed(1)
  path <- ggm_lasso(scale(mtcars), lambda = c(0.5, 0.3, 0.1))
  picture("ggm network", plot(path, type = "network", which = 2, layout = cbind(cos(1:11 * 2 * pi / 11), sin(1:11 * 2 * pi / 11))))
  picture("ggm path", plot(path, type = "path"))
  picture("ggm heat map", plot(path, type = "heatmap", which = 2))
  picture("graph with all marks", plot(as_graph("a -> b <- c; c <-> d; d o-> e; e o-o f; a -- f"),
                                       layout = cbind(c(0, 1, 2, 2, 1, 0), c(1, 1, 1, 0, 0, 0))))
  wave <- kriging(matrix(0:10 / 10), sin(6 * 0:10 / 10), kernel = "se")
  picture("kriging in one dimension", plot(wave))
  classes <- gp_classify(matrix(c(-3:-1, 1:3) / 2), factor(c("a", "a", "b", "a", "b", "b")))
  picture("gp classification", plot(classes))
  cars <- lasso(mpg ~ ., mtcars)
  picture("lasso path", plot(cars))
  chosen <- lasso_select(mpg ~ ., mtcars, folds = rep(1:8, 4))
  picture("lasso selection", plot(chosen))
  steps <- gen_lasso(NULL, rep(c(0, 2, 1), each = 8) + sin(1:24) / 5, gen_lasso_penalty("chain", 24), lambda = 1)
  picture("fused signal", plot(steps, type = "signal"))
  spins <- ising_model(toeplitz(c(0, 0.5, 0, -0.3)))
  picture("couplings", plot(spins, type = "heatmap"))
  means <- mta(list(a = c(1, 2, 3), b = c(2, 3, 4, 5), c = c(9, 10, 11)))
  picture("means pulled together", plot(means))
})
