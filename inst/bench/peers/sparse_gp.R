# Rscript sparse_gp.R <file for the results, .rds>
#
# Times sparse_gp() beside gplite (FITC; from the library GRANARY_PEERS), one thread, CPU seconds.
#
# "evaluation": one evidence, and one evidence with its gradient in all parameters (with the inducing inputs too in the last), FITC, m = 200,
# d = 8. The aim is below 3 s at 1e5 rows, and linear growth. "likelihood": one evaluation of the evidence at the same parameters and the same
# inducing inputs in both packages, without gradient, mean of 20; `evaluation` is what learning repeats, `call` the whole of sparse_gp(), which
# checks its arguments too (a millisecond or two). The difference of the two values is per row, and only as small as the jitter of the peer
# allows. "fit": from start to end, with the test error (root mean square) and the mean log density of new observations, so that speed is not
# bought with accuracy.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
peer <- "gplite"
has_peer <- requireNamespace(peer, quietly = TRUE)
cpu <- function(run) {
  time <- system.time(value <- run())
  list(seconds = sum(time[c("user.self", "sys.self")]), value = value)
}
mean_cpu <- function(run, times) {  # the first call, which may compile and allocate, is not counted
  value <- run()
  list(seconds = cpu(function() for (k in seq_len(times)) run())$seconds / times, value = value)
}
make <- function(n, d) {
  x <- matrix(rnorm(n * d), n)
  list(x = x, y = sin(x[, 1]) + 0.5 * x[, 2] * x[, min(3, d)] + rnorm(n, sd = 0.2))
}
core <- asNamespace("granary")

evaluation <- do.call(rbind, lapply(c(1e4, 1e5, 1e6), function(n) {
  set.seed(1)
  data <- make(n, 8)
  u <- data$x[1:200, ]
  kernel <- k_se(rep(2, 8))
  gradient <- function(inputs) core$core_sparse_gradient(data$x, cbind(data$y), "fitc", integer(), kernel, 0.1, u, inputs, 1L, 6e8)
  plain <- cpu(function() sparse_gp(data$x, data$y, inducing = u, kernel = kernel, hyper = "fixed", noise_var = 0.1, mean = "zero", threads = 1))
  with <- cpu(function() gradient(FALSE))
  all <- cpu(function() gradient(TRUE))
  row <- data.frame(rows = n, evidence = plain$seconds, with_gradient = with$seconds, with_inducing = all$seconds)
  print(row)
  row
}))

likelihood <- NULL
fit <- NULL
note <- function(n, method, seconds, at, truth) {
  sd <- at$sd
  row <- data.frame(rows = n, method = method, cpu_seconds = seconds,
                    rmse = sqrt(mean((at$mean - truth)^2)), mean_log_density = mean(dnorm(truth, at$mean, sd, log = TRUE)))
  print(row, row.names = FALSE)
  fit <<- rbind(fit, row)
}
export <- function(name) getExportedValue(peer, name)
peer_model <- function(u) {
  export("gp_init")(export("cf_sexp")(lscale = 1, magn = 1), export("lik_gaussian")(sigma = 0.3),
                    method = export("method_fitc")(inducing = u, num_inducing = nrow(u)))
}
for (n in c(1000L, 4000L, 20000L)) {
  set.seed(2)
  data <- make(n, 3)
  new <- make(1000L, 3)
  u <- data$x[seq_len(50), ]
  ours <- mean_cpu(function() {
    sparse_gp(data$x, data$y, inducing = u, kernel = k_se(1), hyper = "fixed", noise_var = 0.09, mean = "zero", threads = 1)
  }, 20)
  spec <- list(learn_kernel = FALSE, learn_noise = FALSE, learn_inducing = FALSE, prior = NULL, starts = cbind(log(c(1, 1, 0.09))),
               lower = log(c(1, 1, 0.09)), upper = log(c(1, 1, 0.09)), box = apply(data$x, 2L, range), n_starts = 1L, max_iter = 1L, tol = 1e-5)
  alone <- mean_cpu(function() core$core_sparse_fit(data$x, cbind(data$y), "fitc", integer(), ours$value$kernel, u, spec, 1L, NULL), 20)
  stopifnot(abs(alone$value$state$log_evidence - ours$value$log_evidence) < 1e-6 * n)
  if (has_peer) {
    model <- peer_model(u)
    theirs <- mean_cpu(function() export("gp_fit")(model, data$x, data$y), 20)
    value <- theirs$value$fit$loglik
    likelihood <- rbind(likelihood, data.frame(rows = n, inducing = 50, call = ours$seconds, evaluation = alone$seconds, gplite = theirs$seconds,
                                               ratio_call = theirs$seconds / ours$seconds, ratio_evaluation = theirs$seconds / alone$seconds,
                                               difference_per_row = if (is.null(value)) NA else abs(value - ours$value$log_evidence) / n))
    print(likelihood)
  }
  ours <- cpu(function() sparse_gp(data$x, data$y, inducing = u, kernel = k_se(1), mean = "zero", threads = 1))
  at <- predict(ours$value, new$x, se = TRUE, type = "response")
  note(n, "sparse_gp", ours$seconds, list(mean = at$fit, sd = at$se.fit), new$y)
  moved <- cpu(function() suppressWarnings(sparse_gp(data$x, data$y, inducing = 50, select = "optimize", max_iter = 50, mean = "zero", threads = 1)))
  at <- predict(moved$value, new$x, se = TRUE, type = "response")
  note(n, "sparse_gp, ARD, inducing inputs moved, 50 iterations", moved$seconds, list(mean = at$fit, sd = at$se.fit), new$y)
  if (has_peer) {
    theirs <- cpu(function() export("gp_optim")(peer_model(u), data$x, data$y, verbose = FALSE))
    at <- export("gp_pred")(theirs$value, new$x, var = TRUE)
    sigma <- theirs$value$lik$sigma
    note(n, "gplite", theirs$seconds, list(mean = drop(at$mean), sd = sqrt(drop(at$var) + sigma^2)), new$y)
  }
}
if (!is.na(output)) saveRDS(Filter(Negate(is.null), list(evaluation = evaluation, likelihood = likelihood, fit = fit)), output)
