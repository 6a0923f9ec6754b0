all_paths <- function(k, n) as.matrix(expand.grid(rep(list(seq_len(k)), n)))
# Forward likelihood, states and best path by all paths, one column.
by_paths <- function(fit, x) {
  sd <- sqrt(vapply(fit$covariance, c, 0))
  z <- all_paths(length(fit$initial), length(x))
  p <- apply(z, 1L, function(s) fit$initial[s[1L]] * prod(fit$transition[cbind(s[-length(s)], s[-1L])]) *
             prod(dnorm(x, fit$centers[s, 1L], sd[s])))
  list(loglik = log(sum(p)), prob = vapply(seq_along(fit$initial), function(h) colSums((z == h) * p) / sum(p),
                                           numeric(length(x))), path = unname(z[which.max(p), ]))
}
walks <- function(seed = 1, n = 6, length = 30, p = 2, apart = 4) {
  set.seed(seed)
  lapply(seq_len(n), function(i) {
    state <- rep(1:3, length.out = length, each = length / 3)
    matrix(rnorm(length * p), length, dimnames = list(NULL, c("a", "b", "c")[seq_len(p)])) + apart * state
  })
}

test_that("likelihoods, states and paths are those of all paths", {
  set.seed(1)
  for (k in 2:3) {
    fit <- suppressWarnings(hmm_fit(list(rnorm(30, rep(c(0, 3), 15)), rnorm(20)), k = k, max_iter = 3))
    for (n in c(1, 4, 6)) {
      x <- rnorm(n, 1)
      truth <- by_paths(fit, x)
      expect_equal(unname(predict(fit, list(x), "density")), truth$loglik, tolerance = 1e-12)
      expect_equal(unname(predict(fit, list(x), "prob")[[1]]), matrix(truth$prob, n), tolerance = 1e-10)
      expect_equal(predict(fit, list(x))[[1]], truth$path)
    }
  }
})

test_that("states come back from draws of several seeds", {
  for (seed in 1:4) {
    set.seed(seed)
    truth <- hmm_fit(walks(seed), k = 3, topology = "left_right")
    draws <- simulate(truth, lengths = rep(40, 30), seed = seed)[[1]]
    again <- hmm_fit(draws$x, k = 3, topology = "left_right")
    expect_lt(max(abs(again$centers - truth$centers)), 0.6)
    expect_lt(max(abs(again$transition - truth$transition)), 0.1)
    expect_gt(mean(unlist(predict(again)) == unlist(draws$state)), 0.97)
  }
})

test_that("sequences in a list and in one table are the same, with id as a vector or the name of a column", {
  x <- walks()
  names(x) <- paste0("s", seq_along(x))
  table <- data.frame(do.call(rbind, x), id = rep(names(x), each = 30))
  set.seed(2)
  listed <- hmm_fit(x, k = 3)
  set.seed(2)
  named <- hmm_fit(table, k = 3, id = "id")
  set.seed(2)
  given <- hmm_fit(table[1:2], k = 3, id = table$id)
  expect_equal(listed$loglik, named$loglik)
  expect_equal(listed$centers, given$centers)
  expect_equal(unname(unlist(predict(listed))), unname(predict(named)))
  expect_equal(predict(listed, table[1:2], "density", id = table$id), predict(named, type = "density"),
               tolerance = 1e-10)
  expect_equal(predict(named, table, "density", id = "id"), named$sequence_loglik, tolerance = 1e-10)
})

test_that("columns are taken by name", {
  x <- walks()
  set.seed(1)
  fit <- hmm_fit(x, k = 2)
  turned <- lapply(x, function(m) m[, 2:1])
  expect_equal(predict(fit, turned, "density"), predict(fit, x, "density"))
  set.seed(1)
  mixed <- hmm_fit(c(x[1], turned[-1]), k = 2)
  expect_equal(mixed$loglik, fit$loglik)
  expect_error(predict(fit, lapply(x, function(m) m[, 1, drop = FALSE])), "columns of the fit",
               class = "granary_error_input")
})

test_that("weights are copies, and give the likelihood they should", {
  x <- walks(3, 4)
  w <- c(2, 0, 1, 3)
  weighted <- hmm_fit(x, k = 2, weights = w, start = "segments")
  copies <- hmm_fit(x[rep(1:4, w)], k = 2, start = "segments")
  expect_equal(weighted$centers, copies$centers, tolerance = 1e-6)
  expect_equal(weighted$loglik, copies$loglik, tolerance = 1e-9)
  expect_equal(weighted$loglik, sum(w * weighted$sequence_loglik), tolerance = 1e-9)
})

test_that("the likelihood rises along the trace, and faster with squarem", {
  set.seed(4)
  x <- c(rnorm(60), rnorm(60, 1.2), rnorm(60))
  slow <- hmm_fit(x, k = 2, start = "segments", tol = 1e-10)
  fast <- hmm_fit(x, k = 2, start = "segments", tol = 1e-10, method = "squarem")
  expect_true(all(diff(slow$trace$loglik) > -1e-8))
  expect_equal(slow$loglik, fast$loglik, tolerance = 1e-6)
  expect_lt(fast$convergence$iterations, slow$convergence$iterations)
})

test_that("hard training puts every row into one state, and says it is no maximum of the likelihood", {
  fit <- hmm_fit(walks(), k = 3, forward = "hard", topology = "left_right")
  expect_output(print(fit), "best paths")
  soft <- hmm_fit(walks(), k = 3, topology = "left_right")
  expect_lte(fit$loglik, soft$loglik + 1e-8)
  expect_error(hmm_fit(walks(), k = 2, forward = "hard", method = "squarem"), "squarem", class = "granary_error_input")
})

test_that("forbidden transitions stay forbidden and a start of a fit goes on from it", {
  fit <- hmm_fit(walks(), k = 3, topology = "left_right")
  expect_identical(unname(fit$initial), c(1, 0, 0))
  expect_true(all(fit$transition[lower.tri(fit$transition)] == 0))
  expect_identical(fit$transition[1, 3], 0)
  expect_identical(fit$transition[3, 3], 1)
  again <- hmm_fit(walks(), k = 3, topology = "left_right", start = fit)
  expect_lte(again$convergence$iterations, 3)
  expect_equal(again$loglik, fit$loglik, tolerance = 1e-6)
  expect_equal(attr(logLik(fit), "df"), 2 + 2 * 6)
  expect_error(hmm_fit(walks(), k = 2, start = fit), "start", class = "granary_error_input")
  expect_error(hmm_fit(walks(), k = 3, start = fit), "topology", class = "granary_error_input")
})

test_that("missing rows are refused by name of their case, or skipped", {
  x <- walks()
  names(x) <- letters[1:6]
  x[[3]][5, 2] <- NA
  expect_error(hmm_fit(x, k = 2), "row 5 of case \"c\", column \"b\"", class = "granary_error_input")
  fit <- hmm_fit(x, k = 3, na = "skip", topology = "left_right")
  expect_equal(fit$gaps, 1)
  expect_equal(nobs(fit), 6)
  expect_equal(attr(logLik(fit), "nobs"), 179)
  gone <- x
  gone[[3]][30, ] <- NA
  short <- x
  short[[3]] <- x[[3]][-30, ]
  expect_equal(predict(fit, gone, "density", na = "skip"), predict(fit, short, "density", na = "skip"),
               tolerance = 1e-12)
  expect_error(predict(fit, gone), "missing", class = "granary_error_input")
  x[[2]][1, 1] <- Inf
  expect_error(hmm_fit(x, k = 2, na = "skip"), "infinite value in row 1 of case \"b\"", class = "granary_error_input")
  expect_error(hmm_fit(c(NA, NA_real_), k = 1, na = "skip"), "Every row", class = "granary_error_input")
})

test_that("sequences of length one, one state, constant columns and far scales are no trouble", {
  set.seed(1)
  x <- c(rnorm(50), rnorm(50, 6))
  fit <- hmm_fit(as.list(x), k = 2)
  mix <- em_fit(matrix(x), k = 2, covariance = "diagonal")
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(mix)), tolerance = 1e-6)
  expect_equal(sort(unname(fit$initial)), sort(mix$share), tolerance = 1e-4)
  one <- hmm_fit(x, k = 1, covariance = "full")
  expect_equal(as.numeric(logLik(one)), sum(dnorm(x, mean(x), sqrt(mean((x - mean(x))^2)), log = TRUE)),
               tolerance = 1e-10)
  with <- hmm_fit(cbind(x, 7), k = 2)
  expect_true(with$convergence$converged)
  for (unit in c(1e-8, 1e8)) expect_equal(unname(hmm_fit(x * unit, k = 2)$centers[, 1] / unit),
                                          unname(hmm_fit(x, k = 2)$centers[, 1]), tolerance = 1e-5)
  expect_error(hmm_fit(rep(3, 10), k = 1), "equal", class = "granary_error_input")
})

test_that("the same seed gives the same fit on one thread and on two", {
  x <- walks(1, 20, 60)
  fits <- lapply(1:2, function(threads) {
    set.seed(5)
    hmm_fit(x, k = 3, threads = threads)
  })
  expect_identical(fits[[1]]$model, fits[[2]]$model)
})

test_that("each argument that is not what was asked for is named", {
  x <- walks()
  expect_error(hmm_fit(k = 2), "`x`", class = "granary_error_input")
  expect_error(hmm_fit(x), "`k`", class = "granary_error_input")
  expect_error(hmm_fit(x, k = 0), "`k`", class = "granary_error_input")
  expect_error(hmm_fit(x, k = 200), "rows that count", class = "granary_error_input")
  expect_error(hmm_fit(x, k = 31, topology = "left_right"), "longest sequence", class = "granary_error_input")
  expect_error(hmm_fit(list(), k = 1), "at least one sequence", class = "granary_error_input")
  expect_error(hmm_fit(list(1:3, "a"), k = 1), "x\\[\\[2\\]\\]", class = "granary_error_input")
  expect_error(hmm_fit(list(diag(2), diag(3)), k = 1), "same columns", class = "granary_error_input")
  expect_error(hmm_fit(list(cbind(a = 1:2), cbind(b = 1:2)), k = 1), "no \"a\"", class = "granary_error_input")
  expect_error(hmm_fit(1:6, k = 1, id = c(1, 1, 2, 2, 1, 1)), "two places", class = "granary_error_input")
  expect_error(hmm_fit(1:6, k = 1, id = 1:2), "6 rows", class = "granary_error_input")
  expect_error(hmm_fit(x, k = 2, id = 1:6), "list of sequences", class = "granary_error_input")
  expect_error(hmm_fit(x, k = 2, weights = 1:3), "each sequence, 6", class = "granary_error_input")
  expect_error(hmm_fit(x, k = 2, weights = rep(0, 6)), "zero", class = "granary_error_input")
  expect_error(hmm_fit(x, k = 2, weights = -1:4), "weights", class = "granary_error_input")
  expect_error(hmm_fit(x, k = 2, floor = 0), "floor", class = "granary_error_input")
  expect_error(hmm_fit(x, k = 2, start = "middle"), "start", class = "granary_error_input")
  expect_error(hmm_fit(x, k = 2, topology = "ring"), "topology", class = "granary_error_input")
  fit <- hmm_fit(x, k = 2)
  expect_error(predict(fit, type = "response"), "type", class = "granary_error_input")
  expect_error(simulate(fit, lengths = 1.5), "lengths", class = "granary_error_input")
  expect_error(plot(fit, x, which = 9), "which", class = "granary_error_input")
  expect_error(plot(fit, x, columns = "z"), "columns", class = "granary_error_input")
  fit$model$initial <- NULL
  expect_error(predict(fit, x), class = "granary_error_input")
})

test_that("the number of states is found, by criteria and by sequences kept back", {
  set.seed(1)
  x <- walks(7, 8)
  for (criterion in c("bic", "icl", "cv")) {
    choice <- hmm_select(x, k = 1:4, topology = "left_right", criterion = criterion, folds = 4)
    expect_s3_class(choice, "granary_selection")
    expect_equal(choice$table$k[choice$selected], 3, label = criterion)
  }
  expect_equal(length(predict(choice, x)), 8)
  table <- do.call(rbind, x)
  one <- hmm_select(table, k = 2, id = rep(1:8, each = 30))
  expect_equal(length(predict(one$fit)), 240)
  expect_identical(predict(one$fit), predict(one, table, id = rep(1:8, each = 30)))
  both <- hmm_select(x, k = 3, covariance = c("diagonal", "full"), topology = c("ergodic", "left_right"))
  expect_equal(nrow(both$table), 4)
  expect_equal(both$table$estimate[both$selected], BIC(both$fit), tolerance = 1e-10)
  expect_error(hmm_select(x, k = 1.5), "k", class = "granary_error_input")
  expect_error(hmm_select(x, covariance = "round"), "covariance", class = "granary_error_input")
  expect_error(hmm_select(1:10, criterion = "cv"), "only one", class = "granary_error_input")
  expect_error(hmm_select(x, k = 1, wrong = 2), "wrong", class = "granary_error_input")
})

test_that("a fit prints, sums up, draws and simulates", {
  x <- walks()
  set.seed(1)
  fit <- hmm_fit(x, k = 3)
  expect_output(print(fit), "Sequences of 30 rows")
  expect_output(print(summary(fit)), "cluster")
  expect_equal(glance(fit)$k, 3)
  expect_equal(nrow(tidy(fit)), 3)
  draws <- simulate(fit, nsim = 2, seed = 1)
  expect_length(draws, 2)
  expect_identical(simulate(fit, seed = 1), simulate(fit, seed = 1))
  expect_equal(vapply(draws[[1]]$x, nrow, 0L), rep(30L, 6))
  path <- tempfile(fileext = ".png")
  grDevices::png(path)
  plot(fit)
  plot(fit, newdata = x, which = 2)
  grDevices::dev.off()
  expect_gt(file.size(path), 1000)
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
  expect_s3_class(ggplot2::autoplot(fit, newdata = x, columns = 1), "ggplot")
})

test_that("the likelihood is that of depmixS4", {
  skip_if_not_installed("depmixS4")
  set.seed(3)
  x <- c(rnorm(100), rnorm(100, 3), rnorm(50))
  fit <- hmm_fit(x, k = 2, tol = 1e-12)
  peer <- depmixS4::depmix(x ~ 1, nstates = 2, ntimes = 250, data = data.frame(x = x), instart = unname(fit$initial),
                           trstart = as.vector(t(fit$transition)),
                           respstart = as.vector(rbind(fit$centers[, 1], sqrt(vapply(fit$covariance, c, 0)))))
  expect_equal(as.numeric(logLik(peer)), as.numeric(logLik(fit)), tolerance = 1e-8)
})
