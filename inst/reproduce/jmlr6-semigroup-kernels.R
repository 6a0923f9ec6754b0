# Cuturi, Fukumizu and Vert (JMLR 6, 2005). Their experiment is on MNIST digits, which do not come with R; the claim
# that the kernelised inverse generalised
# variance sees shape where covariances do not is shown on simulated circles, segments and discs (30 of each, 40
# points, discs with the covariance of circles).

# One claim per number.
claims <- function(text, paper, ours, tolerance, note = "") {
  for (i in seq_along(paper)) claim(paste0(text, " (", i, ")"), paper[i], ours[i], tolerance, note)
}

triangle <- rbind(c(0, 0), c(1, 0), c(0, 1))
pair <- rbind(c(1, 1), c(2, 1))
value <- function(x, ...) kernel_matrix(k_bag(...), x)[1, 2]
two <- list(triangle, pair)
claims("Inverse generalised variance, eta = 1, 0.1, 0.01 (computed independently)",
       c(0.5242718, 0.05033792, 0.0008555607),
      vapply(c(1, 0.1, 0.01), function(eta) value(two, eta = eta, normalize = FALSE), 0), 1e-6, "reference")
claim("Kernelised, eta = 0.1, width 1", 0.06362584, value(two, kernel = k_se(), eta = 0.1, normalize = FALSE), 1e-6,
      "reference")
claim("Jensen-Shannon divergence of (.5, .25, .25, 0) and (.1, .2, .3, .4)", 0.2139349,
      -log(value(rbind(c(0.5, 0.25, 0.25, 0), c(0.1, 0.2, 0.3, 0.4)), "jensen_shannon")), 1e-6, "reference")
claim("Dirichlet kernel of (3, 0, 2) and (1, 4, 0), normalised", 0.01283816,
      value(rbind(c(3, 0, 2), c(1, 4, 0)), "dirichlet"), 1e-6, "reference")
claim("Smoothed samples 0, 1, 3 and 0.5, 2, width 0.5: J", 0.100722,
      -log(value(list(c(0, 1, 3), c(0.5, 2)), "parzen", width = 0.5)), 1e-5, "reference")

shapes <- function(each) {
  class <- rep(1:3, each = each)
  list(class = class, x = lapply(class, function(k) {
    angle <- runif(40, 0, 2 * pi)
    radius <- if (k == 1) 0.3 else 0.3 * sqrt(2) * sqrt(runif(40))
    z <- if (k == 2) cbind(runif(40, -0.3, 0.3), 0) else radius * cbind(cos(angle), sin(angle))
    turn <- runif(1, 0, 2 * pi)
    z <- z %*% rbind(c(cos(turn), sin(turn)), c(-sin(turn), cos(turn)))
    sweep(z, 2, 0.5 + rnorm(2, 0, 0.03), "+") + rnorm(80, 0, 0.02)
  }))
}
nearest <- function(k, class) {
  d <- as.matrix(as.dist(outer(diag(k), diag(k), "+") - 2 * k))
  diag(d) <- Inf
  mean(class[apply(d, 1, which.min)] != class)
}
set.seed(1)
data <- shapes(30)
kernelised <- nearest(kernel_matrix(k_bag(kernel = k_se(lengthscale = 0.1)), data$x), data$class)
linear <- nearest(kernel_matrix(k_bag(), data$x), data$class)
claim("Shapes: error of one nearest neighbour, kernelised (simulated elsewhere)", 0, kernelised, 0.034,
      "reference: another sample of the same law")
claim("Shapes: the same by covariances alone", 0.3, linear, 0.1, "reference: another sample of the same law")
claim("Table 1: MNIST, 1000 images, 40 pixels, k-IGV, error in %", 16.2, NA, 0, "MNIST does not come with R")
claim("Table 1: the same with Gaussian kernels on images", 32.2, NA, 0, "MNIST does not come with R")
