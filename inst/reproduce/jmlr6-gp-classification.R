# Kuss and Rasmussen (2005): Table 1, the worked cases behind Figure 1, Section 5's cut normal law, Figures 3 to 5 and 8.

quiet <- function(code) suppressWarnings(code)  # parameters on their bound, as in the paper

# Figure 1a: prior N(0, 25), one label. Exact: Z = 1/2 and moments by integration.
exact <- function(power) integrate(function(f) f^power * pnorm(f) * dnorm(f, 0, 5), -40, 40, rel.tol = 1e-10)$value / 0.5
one <- quiet(gp_classify(0, 1, k_se(variance = 25), hyper = "fixed"))
timid <- quiet(gp_classify(0, 1, k_se(variance = 25), "laplace", "fixed"))
claim("Figure 1a: EP mean is that of the posterior", exact(1), one$latent_mean, 1e-5)
claim("Figure 1a: EP variance is that of the posterior", exact(2) - exact(1)^2, one$latent_variance, 1e-5)
claim("Figure 1a: EP evidence is exact", log(0.5), one$loglik, 1e-9)
claim("Figure 1a: Laplace's mean is less than half of it", TRUE, timid$latent_mean < 0.5 * exact(1), 0)

# Section 5: 767 dimensions, eigenvalue 100 on the ones, cut to the positive orthant.
set.seed(1)
cut <- sim_gp_classes(2000, "orthant", d = 767)
claim("Section 5: EP mean of a marginal is exact to 1 percent", cut$exact$mean, cut$ep$mean, 0.01 * cut$exact$mean)
claim("Section 5: EP sd of a marginal is exact to 3 percent", sqrt(cut$exact$variance), sqrt(cut$ep$variance), 0.03 * sqrt(cut$exact$variance))
claim("Section 5: marginals look normal (skewness of 2000 exact draws, all coordinates)", 0,
      mean(((cut$x - mean(cut$x)) / sd(cut$x))^3), 0.6, "the paper shows a histogram, no number; a normal law cut at its mode has skewness 0.995")

# Figure 3: parameters that maximise Laplace's evidence, both approximations. EP is more certain of the left cluster.
set.seed(2)
data <- sim_gp_classes(20)
laplace <- quiet(gp_classify(y ~ x, data, method = "laplace"))
ep <- gp_classify(y ~ x, data, kernel = laplace$kernel, hyper = "fixed", standardize = TRUE)
left <- data.frame(x = seq(-7, -5, by = 0.25))
claim("Figure 3: EP is surer than Laplace on the left cluster", TRUE, all(predict(ep, left)[, 2] > predict(laplace, left)[, 2]), 0)
claim("Figure 3: both agree on the sign of the latent mean", TRUE,
      mean(sign(predict(ep, data, type = "latent")) == sign(predict(laplace, data, type = "latent"))) > 0.97, 0)

# Table 1: 10-fold cross-validation, standardised inputs, one lengthscale, ML-II.
data_set <- function(name) {
  shelf <- new.env()
  package <- if (name == "crabs") "MASS" else "mlbench"
  if (!requireNamespace(package, quietly = TRUE)) return(NULL)
  suppressWarnings(utils::data(list = name, package = package, envir = shelf))
  d <- shelf[[name]]
  if (is.null(d)) return(NULL)  # mlbench 2.1-11 has the Pima data no more
  switch(
    name,
    Ionosphere = list(x = data.matrix(d[, 1:34]), y = d$Class), Sonar = list(x = data.matrix(d[, 1:60]), y = d$Class),
    BreastCancer = {
      d <- na.omit(d)
      list(x = vapply(d[, 2:10], function(column) as.double(as.character(column)), numeric(nrow(d))), y = d$Class)
    },
    PimaIndiansDiabetes = list(x = data.matrix(d[, 1:8]), y = d$diabetes),
    crabs = list(x = data.matrix(d[, c("sp", "index", "FL", "RW", "CL", "CW", "BD")]), y = d$sex)
  )
}

cross_validated <- function(d, fit) {
  fold <- sample(rep_len(1:10, nrow(d$x)))
  rows <- lapply(1:10, function(part) {
    out <- fold == part
    assess(quiet(fit(d$x[!out, ], d$y[!out])), d$x[out, , drop = FALSE], d$y[out])
  })
  colMeans(do.call(rbind, rows))[c("error", "information", "norm")]
}

table1 <- data.frame(
  name = c("Ionosphere", "BreastCancer", "PimaIndiansDiabetes", "crabs", "Sonar"),
  le = c(8.84, 3.21, 22.77, 2, 15.36), li = c(0.591, 0.804, 0.252, 0.682, 0.439), lm = c(49.96, 62.62, 29.05, 112.34, 26.86),
  ee = c(7.99, 3.21, 22.63, 2, 13.85), ei = c(0.661, 0.805, 0.253, 0.908, 0.537), em = c(124.94, 84.95, 47.49, 2552.97, 15678.55),
  se = c(5.69, 3.21, 23.01, 2, 11.14), si = c(0.681, 0.795, 0.232, 0.047, 0.567)
)
short <- if (extended) table1$name else c("Ionosphere", "BreastCancer", "crabs", "Sonar")  # a minute or two
for (k in seq_len(nrow(table1))) {
  row <- table1[k, ]
  d <- if (row$name %in% short) data_set(row$name)
  why <- if (row$name %in% short) "the package with the data is not installed, or has them no more" else "ten fits: part of the extended run"
  missing <- c(error = NA, information = NA, norm = NA)
  ours <- list(laplace = missing, ep = missing, svm = missing)
  if (!is.null(d)) {
    why <- "folds are random, and the paper's are not known"
    if (row$name == "crabs") {
      why <- paste0(why, ", nor are its seven columns; on the length of the mean see below. Laplace's information depends on where its search",
                    " stops too: 0.88 with the variance held at 1e5, where its evidence is largest, and 0.59 at 1e6")
    }
    if (row$name == "Sonar") why <- paste0(why, "; the length says where on the shelf of large variances the search stopped: see below")
    set.seed(3)
    ours$laplace <- cross_validated(d, function(x, y) gp_classify(x, y, method = "laplace"))
    set.seed(3)
    ours$ep <- cross_validated(d, function(x, y) gp_classify(x, y))
    if (extended) {
      set.seed(3)
      ours$svm <- cross_validated(d, gp_classify_baseline)
    }
  }
  report <- function(text, paper, value, tolerance) claim(paste0("Table 1, ", row$name, ": ", text), paper, unname(value), tolerance, why)
  report("Laplace, error %", row$le, 100 * ours$laplace["error"], 2.5)
  report("Laplace, information", row$li, ours$laplace["information"], 0.06)
  report("Laplace, length of the mean", row$lm, ours$laplace["norm"], 0.3 * row$lm)
  report("EP, error %", row$ee, 100 * ours$ep["error"], 2.5)
  report("EP, information", row$ei, ours$ep["information"], 0.06)
  report("EP, length of the mean", row$em, ours$ep["norm"], 0.3 * row$em)
  report("SVM, error %", row$se, 100 * ours$svm["error"], 2.5)
  report("SVM, information", row$si, ours$svm["information"], 0.1)
  if (!is.null(d)) {
    report("EP has at least the information of Laplace", TRUE, ours$ep["information"] >= ours$laplace["information"] - 0.005, 0)
    report("the latent mean of EP is longer", TRUE, ours$ep["norm"] > ours$laplace["norm"], 0)
  }
}
# The lengths of Table 1. Beyond a variance of some 1e6 the evidence is a shelf on which the mean grows with the standard deviation of the prior: the
# length says where the search stopped. The paper's 2552.97 is what a variance of 1e7 gives, and the evidence there is within a nat of its
# maximum. Its appendix advises a bound of 1e5, but Table 1 cannot have been made with it: 15678.55 for sonar are 1146 for each of the 187 cases of a
# fold, where the standard deviation of the prior would be 316.
d <- data_set("crabs")
on_shelf <- function(variance) {
  quiet(gp_classify(d$x, d$y, k_se(variance = variance, fixed = "variance"), n_starts = 1, max_variance = 1e12))
}
shelf <- if (!is.null(d)) lapply(c(1e5, 1e7, 1e9), on_shelf)
length_of <- function(fit) sqrt(sum(fit$latent_mean^2))
shown <- if (is.null(d)) "needs the data of package MASS" else paste(
  vapply(shelf, function(fit) sprintf("variance %g: evidence %.2f, length %.0f, leave-one-out information %.3f", fit$kernel$variance,
                                      fit$loglik, length_of(fit), assess(fit)$information), ""), collapse = "; ")
claim("Table 1, crabs: EP, length of the mean with the variance held at 1e7 (all rows)", 2552.97, if (is.null(d)) NA else length_of(shelf[[2L]]), 300,
      shown)
claim("Appendix: at large variances the evidence does not depend on them (crabs, 1e7 against 1e9)", 0,
      if (is.null(d)) NA else shelf[[2L]]$loglik - shelf[[3L]]$loglik, 0.1)
claim("Table 1, USPS 3 against 5: EP, information", 0.902, NA, 0.05, "needs the USPS digits, which no R package ships")

# Figures 4 and 8: ionosphere, 200 for training, the three evidences at a few points of the grid.
d <- if (requireNamespace("mlbench", quietly = TRUE)) data_set("Ionosphere")
if (is.null(d)) {
  claim("Figure 4: EP and annealing agree within one nat", 0, NA, 1, "needs the data of package mlbench")
} else {
  set.seed(4)
  rows <- sample(351, 200)
  base <- gp_classify(d$x[rows, ], d$y[rows], k_se(lengthscale = 5, variance = 10), hyper = "fixed", standardize = TRUE)
  points <- data.frame(se.variance = c(1, 20), se.lengthscale = c(2, 5))
  if (extended) points <- expand.grid(se.variance = exp(2 * 0:5), se.lengthscale = exp(0:4))
  both <- gp_classify_evidence(base, c("ep", "laplace", "lower_bound"), grid = points)
  ais <- gp_classify_evidence(base, "ais", grid = points, temperatures = if (extended) 8000 else 1500)
  gap <- function(method) both$log_evidence[both$method == method] - ais$log_evidence
  claim("Figure 4: EP and annealing agree within one nat (largest difference)", 0, max(abs(gap("ep"))), 1,
        if (extended) "30 points, 8000 temperatures" else "two points, 1500 temperatures")
  claim("Figure 4: Laplace underestimates the evidence at large variances", TRUE, all(gap("laplace")[points$se.variance > 5] < -1), 0)
  claim("Figure 8: the lower bound lies below", TRUE, all(gap("lower_bound") < 1), 0)
  small <- gp_classify_evidence(base, c("ep", "laplace"), grid = data.frame(se.variance = 0.1, se.lengthscale = 5))
  claim("Figure 4: at small variances the two agree", 0, diff(small$log_evidence), 0.5)
}
