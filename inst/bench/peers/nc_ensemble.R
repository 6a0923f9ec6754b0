# Times nc_ensemble() against nnet. Rscript nc_ensemble.R [output.rds] [extended]
#
# CPU seconds of one thread. Peer: nnet, ten networks of one hidden layer trained one after the other and averaged,
# which is what caret::avNNet() does, with the same number of units, decay and evaluations (nnet's are iterations of
# BFGS, ours of L-BFGS; no early stopping on either side). At lambda = 0 ours does the same job; at lambda = 0.9 the
# members are trained together, which no package on CRAN does. Friedman's curve; `error` is the mean squared error of
# new rows without noise.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
note <- function(setting, method, seconds, error, ours) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds,
                                           ratio = seconds / ours, error = error)
  print(rows[[length(rows)]], row.names = FALSE)
}

for (n in c(1000, if (extended) 10000)) {
  for (size in c(5, 20)) {
    set.seed(1)
    sim <- sim_nc_ensemble(n, n_test = 2000)
    score <- function(fitted) mean((fitted - sim$newmean)^2)
    setting <- sprintf("%d x 10, 10 networks of %d units, 200 iterations", n, size)
    ours <- cpu(fit <- suppressWarnings(nc_ensemble(sim$x, sim$y, lambda = 0, n_members = 10, size = size, decay = 1e-6,
                                                    validation = 0, max_iter = 200, tol = 1e-10)))
    note(setting, "nc_ensemble(lambda = 0)", ours, score(predict(fit, sim$newx)), ours)
    longer <- cpu(fit <- suppressWarnings(nc_ensemble(sim$x, sim$y, lambda = 0, n_members = 10, size = size,
                                                      decay = 1e-6, validation = 0, max_iter = 600, tol = 1e-10)))
    note(setting, "nc_ensemble(lambda = 0), 600 iterations", longer, score(predict(fit, sim$newx)), ours)
    used <- cpu(fit <- suppressWarnings(nc_ensemble(sim$x, sim$y, lambda = 0.9, n_members = 10, size = size,
                                                    decay = 1e-6, validation = 0, max_iter = 200, tol = 1e-10)))
    note(setting, "nc_ensemble(lambda = 0.9)", used, score(predict(fit, sim$newx)), ours)
    used <- cpu(fit <- nc_ensemble(sim$x, sim$y, learner = "features", size = 10 * size))
    note(setting, "nc_ensemble(features, exact)", used, score(predict(fit, sim$newx)), ours)
    if (has("nnet")) {
      scale <- diff(range(sim$y)) / 2
      middle <- mean(range(sim$y))
      used <- cpu(theirs <- lapply(1:10, function(i) {
        nnet::nnet(sim$x, (sim$y - middle) / scale, size = size, linout = TRUE, decay = 1e-6 * n, maxit = 200,
                   trace = FALSE, MaxNWts = 1e5, reltol = 1e-12)
      }))
      answers <- rowMeans(vapply(theirs, function(net) drop(predict(net, sim$newx)), numeric(2000))) * scale + middle
      note(setting, "nnet, averaged", used, score(answers), ours)
    }
  }
}

result <- do.call(rbind, rows)
print(result, digits = 3, row.names = FALSE)
if (!is.na(output)) saveRDS(result, output)
