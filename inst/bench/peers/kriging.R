# Rscript kriging.R <file for the results, .rds>
#
# Times kriging() against DiceKriging (and rlibkriging where installed) on one thread, d = 5 inputs, Matern 5/2, one start, the same one for all,
# analytic gradients in all.
# Fit `tensor`: the product of one-dimensional Matern 5/2 kernels, which is what "matern5_2" means there, so that all maximise the same likelihood;
# `excess` is our log-likelihood per run minus theirs at the end (positive: ours is larger). Fit `radial`: "matern52" of kriging(), another
# model, timed for itself. rlibkriging searches lengthscales up to ten times the ranges and takes no bounds: beside it kriging() is given the same box
# and timed again. CPU seconds of the R process, once; the linear algebra of the peers is the BLAS that R uses.
# Above n = 1000 DiceKriging, which takes many minutes there, runs only where GRANARY_EXTENDED is 1. Table `evaluation` has one likelihood with its
# gradient at the start, for every n: theirs timed alone, ours the time of the fit over its evaluations.
# Prediction: mean at 1e5 points and mean with standard error at 1e4 points, n = 1000.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
arguments <- commandArgs(TRUE)
output <- arguments[1L]
sizes <- if (length(arguments) > 1L) as.integer(arguments[-1L]) else c(500L, 1000L, 2000L)

d <- 5L
make <- function(n) {
  set.seed(n)
  x <- matrix(runif(n * d), n, dimnames = list(NULL, paste0("x", 1:d)))
  list(x = x, y = sin(6 * x[, 1]) + 2 * (x[, 2] - 0.5)^2 + x[, 3] * cos(5 * x[, 4]) + 0.5 * sin(9 * x[, 5] * x[, 1]))
}
start <- 0.6
tensor <- Reduce(`*`, lapply(seq_len(d), function(k) k_matern(2.5, start, columns = k)))
installed <- function(peer) requireNamespace(peer, quietly = TRUE)
with_peers <- function(n) n <= 1000L || Sys.getenv("GRANARY_EXTENDED") == "1"
lower <- 0.02
upper <- 5
rows <- list()
evaluations <- list()
predictions <- list()
# DiceKriging's likelihood and gradient at the start, as its optimiser calls them.
one_evaluation <- function(data) {
  model <- getExportedValue("DiceKriging", "km")(~1, data.frame(data$x), data$y, "matern5_2", coef.trend = 0, coef.cov = rep(start, d), coef.var = 1)
  model@method <- "MLE"
  model@case <- "LLconcentration_beta_sigma2"
  held <- new.env()
  cpu({
    getExportedValue("DiceKriging", "logLikFun")(rep(start, d), model, held)
    getExportedValue("DiceKriging", "logLikGrad")(rep(start, d), model, held)
  })
}
blas <- basename(extSoftVersion()[["BLAS"]])
for (n in sizes) {
  data <- make(n)
  ours <- NULL
  seconds <- cpu(ours <- suppressWarnings(kriging(data$x, data$y, kernel = tensor, n_starts = 1, lower = lower, upper = upper)))
  if (installed("DiceKriging")) {
    theirs <- one_evaluation(data)
    each <- seconds / ours$starts$evaluations
    evaluations[[length(evaluations) + 1L]] <- data.frame(n = n, `granary s` = each, `DiceKriging s` = theirs,
                                                          `DiceKriging / granary` = theirs / each, check.names = FALSE)
  }
  radial <- NULL
  radial_seconds <- cpu(radial <- suppressWarnings(kriging(data$x, data$y, kernel = k_matern(2.5, rep(start, d)), n_starts = 1, lower = lower,
                                                           upper = upper)))
  add <- function(peer, theirs_seconds, loglik, own = ours, own_seconds = seconds) {
    rows[[length(rows) + 1L]] <<- data.frame(
      n = n, peer = peer, `granary tensor s` = own_seconds, `peer s` = theirs_seconds, `peer / granary` = theirs_seconds / own_seconds,
      `excess per run` = (own$loglik - loglik) / n, evaluations = own$starts$evaluations, `granary radial s` = radial_seconds, check.names = FALSE
    )
  }
  if (with_peers(n) && installed("DiceKriging")) {
    km <- getExportedValue("DiceKriging", "km")
    theirs <- NULL
    peer_seconds <- cpu(theirs <- km(~1, data.frame(data$x), data$y, "matern5_2", parinit = rep(start, d), lower = rep(lower, d),
                                     upper = rep(upper, d), control = list(trace = FALSE, pop.size = 1, maxit = 500, factr = 1e4)))
    add(paste0("DiceKriging (", blas, ")"), peer_seconds, theirs@logLik)
  } else {
    add("none", NA_real_, NA_real_)
  }
  if (installed("rlibkriging")) {
    theirs <- NULL
    fit <- getExportedValue("rlibkriging", "Kriging")
    peer_seconds <- cpu(theirs <- fit(data$y, data$x, "matern5_2", "constant", FALSE, "BFGS", "LL", parameters = list(theta = matrix(start, 1, d))))
    wide <- NULL
    wide_seconds <- cpu(wide <- suppressWarnings(kriging(data$x, data$y, kernel = tensor, n_starts = 1)))
    add(paste0("rlibkriging (", blas, ")"), peer_seconds, getExportedValue("rlibkriging", "logLikelihood")(theirs), wide, wide_seconds)
  }
  if (n == 1000L) {
    set.seed(1)
    at <- matrix(runif(1e5 * d), 1e5, dimnames = list(NULL, colnames(data$x)))
    mean_seconds <- cpu(predict(radial, at))
    error_seconds <- cpu(predict(radial, at[1:1e4, ], se = TRUE))
    peer_mean <- peer_error <- NA
    if (installed("DiceKriging")) {
      whole <- km(~1, data.frame(data$x), data$y, "matern5_2", coef.trend = mean(data$y), coef.cov = rep(start, d), coef.var = 1, nugget = 1e-8)
      guess <- methods::selectMethod("predict", "km")
      peer_mean <- 10 * cpu(guess(whole, data.frame(at[1:1e4, ]), "UK", se.compute = FALSE, light.return = TRUE))
      peer_error <- cpu(guess(whole, data.frame(at[1:1e4, ]), "UK", light.return = TRUE))
    }
    predictions <- data.frame(task = c("mean at 1e5 points", "mean and standard error at 1e4 points"), `granary s` = c(mean_seconds, error_seconds),
                              `DiceKriging s` = c(peer_mean, peer_error), note = c("DiceKriging: ten times its 1e4 points", ""), check.names = FALSE)
  }
  saveRDS(list(fit = do.call(rbind, rows), evaluation = do.call(rbind, evaluations), prediction = predictions), output)
}
