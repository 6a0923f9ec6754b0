box <- attr(test_function("branin"), "box")
quick <- function(..., n_init = 4, n_iter = 4) bayes_opt(..., n_init = n_init, n_iter = n_iter, search = 100)

test_that("the minima of the paper's functions are found", {
  gaps <- vapply(1:3, function(seed) {
    set.seed(seed)
    bayes_opt(test_function("branin"), box[, 1], box[, 2], n_init = 5, n_iter = 35)$best_y - 0.397887
  }, 0)
  expect_true(all(gaps > -1e-6))
  expect_lt(median(gaps), 1e-2)
  set.seed(1)
  fit <- bayes_opt(function(x) -test_function("forrester")(x), 0, 1, n_init = 4, n_iter = 12, maximize = TRUE)
  expect_equal(fit$best_y, 6.020740, tolerance = 1e-3)
  expect_equal(unname(fit$best_x), 0.757249, tolerance = 1e-2)
  expect_identical(fit$trace$best, cummax(fit$y))
})

test_that("the same seed gives the same trace, and so do bo_suggest() and bo_observe(), also after saving", {
  run <- function(criterion) {
    set.seed(3)
    bayes_opt(test_function("branin"), c(a = -5, b = 0), c(a = 10, b = 15), n_init = 4, n_iter = 5, criterion = criterion, search = 100, epsilon = 0.2)
  }
  for (criterion in c("ei", "hedge(ei, lcb, uncertainty)")) {
    one <- run(criterion)
    two <- run(criterion)
    expect_identical(one$trace[c("y", "used", "criterion")], two$trace[c("y", "used", "criterion")])
    set.seed(3)
    state <- bo_init(c(a = -5, b = 0), c(a = 10, b = 15), n_init = 4, criterion = criterion, search = 100, epsilon = 0.2)
    for (k in 1:9) {
      if (k == 6) {
        file <- tempfile(fileext = ".rds")
        saveRDS(state, file)
        state <- readRDS(file)
        unlink(file)
      }
      runif(k)  # the session's random numbers play no part
      point <- bo_suggest(state)
      if (k == 7) state$cache <- new.env()  # told without having asked in this session
      state <- bo_observe(state, point, test_function("branin")(unname(point)))
    }
    expect_identical(state$y, one$y)
    expect_identical(state$x, one$x)
    expect_identical(state$gains, one$gains)
    expect_identical(state$trace$used[-7], one$trace$used[-7])
    expect_identical(bo_suggest(state), bo_suggest(state))
  }
  expect_false(identical(run("ei")$y, {
    set.seed(4)
    bayes_opt(test_function("branin"), box[, 1], box[, 2], n_init = 4, n_iter = 5, search = 100)$y
  }))
})

test_that("errors, NA, Inf, text and vectors from f are recorded and the run goes on", {
  count <- 0
  moody <- function(x) {
    count <<- count + 1
    switch(as.character(count), "2" = stop("no luck"), "5" = NA, "6" = Inf, "7" = "text", "8" = 1:2, "9" = 1e200, test_function("forrester")(x))
  }
  for (failed in c("penalise", "skip")) {
    count <- 0
    set.seed(1)
    fit <- quick(moody, 0, 1, n_iter = 9, failed = failed)
    expect_identical(length(fit$y), 13L)
    expect_identical(which(fit$status == "failed"), c(2L, 5L, 6L, 7L, 8L, 9L))
    expect_identical(is.na(fit$y), fit$status == "failed")
    expect_match(fit$trace$message[2], "error: no luck")
    expect_match(fit$trace$message[7], "not one number but the text")
    expect_true(is.finite(fit$best_y))
    expect_output(print(fit), "13, 6 of them failed")
    expect_output(print(summary(fit)), "no luck")
    model <- bo_data(fit)
    if (failed == "penalise") expect_equal(model$y[2], max(model$y)) else expect_identical(nrow(model$x), 7L)
  }
  expect_warning(fit <- quick(function(x) stop("never"), 0, 1), "Every evaluation.*never", class = "granary_warning_input")
  expect_identical(fit$best_y, NA_real_)
  expect_output(print(fit), "8 of them failed")
})

test_that("a state written before a crash goes on, with the point that did it recorded", {
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  set.seed(1)
  # What a session that dies in f leaves behind: the file as it was when f was called the sixth time.
  copy <- tempfile(fileext = ".rds")
  count <- 0
  fit <- quick(function(x) {
    count <<- count + 1
    if (count == 6) file.copy(file, copy)
    test_function("forrester")(x)
  }, 0, 1, file = file)
  expect_equal(readRDS(file)$y, fit$y)
  state <- readRDS(copy)
  expect_identical(length(state$y), 5L)
  resumed <- update(state, f = test_function("forrester"), n_iter = 2)
  expect_match(resumed$trace$message[6], "R ended during this evaluation")
  expect_identical(resumed$y[1:5], fit$y[1:5])
  expect_identical(length(resumed$y), 8L)
  expect_null(resumed$pending)
  expect_error(quick(test_function("forrester"), 0, 1, file = "no/such/folder/state.rds"), "could not be written", class = "granary_error_input")
})

test_that("update() goes on from where it was", {
  set.seed(2)
  whole <- quick(test_function("branin"), box[, 1], box[, 2], n_iter = 6)
  set.seed(2)
  half <- quick(test_function("branin"), box[, 1], box[, 2], n_iter = 3)
  both <- update(half, n_iter = 3)
  expect_identical(both$y, whole$y)
  expect_error(update(bo_init(0, 1)), "`f`", class = "granary_error_input")
})

test_that("batches are apart, and workers evaluate them", {
  set.seed(1)
  fit <- quick(test_function("branin"), box[, 1], box[, 2], n_iter = 6, batch = 3)
  expect_identical(length(fit$y), 10L)
  expect_gt(min(dist(fit$unit)), 1e-3)
  state <- bo_init(0, 1, n_init = 3)
  expect_identical(dim(bo_suggest(state, 5)), c(5L, 1L))
})

test_that("a batch runs on the workers of a plan, and a worker that dies costs one point", {
  skip_on_cran()
  skip_if_not_installed("future.apply")
  skip_if(Sys.getenv("GRANARY_EXTENDED") != "1", "starts worker processes")
  old <- future::plan("multisession", workers = 2)
  on.exit(future::plan(old))
  set.seed(1)
  fit <- quick(function(x) {
    if (x > 0.8) quit(save = "no")
    (6 * x - 2)^2 * sin(12 * x - 4)
  }, 0, 1, n_init = 6, n_iter = 3, batch = 3)
  expect_identical(length(fit$y), 9L)
  expect_gt(sum(fit$status == "failed"), 0)
  expect_identical(fit$status == "failed", unname(fit$x[, 1]) > 0.8)
  expect_match(fit$trace$message[fit$status == "failed"], "the worker died")
})

test_that("target, time and an empty feasible set end a run with a reason", {
  set.seed(1)
  fit <- quick(test_function("forrester"), 0, 1, n_iter = 30, target = -5)
  expect_lte(fit$best_y, -5)
  expect_lt(length(fit$y), 34)
  expect_identical(fit$convergence$message, "the target was reached")
  expect_identical(quick(test_function("forrester"), 0, 1, time_limit = 0, n_iter = 30)$convergence$message, "the time was up")
  expect_error(bo_init(0, 1, feasible = function(x) FALSE), "No feasible point", class = "granary_error_input")
  calls <- 0
  gone <- function(x) {
    calls <<- calls + 1
    calls < 5
  }
  expect_warning(fit <- quick(test_function("forrester"), 0, 1, feasible = gone), "no feasible point", class = "granary_warning_convergence")
  expect_false(fit$convergence$converged)
})

test_that("an interruption keeps what was evaluated", {
  set.seed(1)
  count <- 0
  stopped <- function(x) {
    count <<- count + 1
    if (count == 6) signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    test_function("forrester")(x)
  }
  kept <- tempfile(fileext = ".rds")
  seen <- FALSE
  suppressMessages(tryCatch(quick(stopped, 0, 1, file = kept), interrupt = function(e) seen <<- TRUE))
  expect_true(seen)
  fit <- readRDS(kept)
  expect_identical(fit$convergence$message, "interrupted")
  expect_length(fit$y, 5)
  expect_identical(length(update(fit, f = stopped, n_iter = 1)$y), 6L)
})

test_that("constraints hold everywhere, and errors in them are told", {
  set.seed(1)
  inside <- function(x) sum(x) <= 8
  fit <- quick(test_function("branin"), box[, 1], box[, 2], n_iter = 8, feasible = inside)
  expect_true(all(rowSums(fit$x) <= 8))
  expect_error(bo_init(0, 1, feasible = function(x) stop("oh")), "`feasible` failed: oh", class = "granary_error_input")
  expect_error(bo_init(0, 1, feasible = function(x) "a"), "must return TRUE or FALSE", class = "granary_error_input")
})

test_that("integers, categories and candidates are what f sees", {
  seen <- list()
  f <- function(p) {
    seen[[length(seen) + 1L]] <<- p
    (p$x - 0.3)^2 + abs(p$k - 4) + (p$kind != "b")
  }
  set.seed(1)
  fit <- bayes_opt(f, c(x = 0, k = 1), c(x = 1, k = 9), integer = "k", levels = list(kind = c("a", "b", "c")), n_init = 6, n_iter = 19, search = 200)
  expect_true(all(vapply(seen, function(p) p$k == round(p$k) && p$k %in% 1:9 && p$kind %in% c("a", "b", "c"), NA)))
  expect_lt(fit$best_y, 0.1)
  expect_identical(fit$best_x$kind, "b")
  expect_s3_class(fit$x, "data.frame")
  expect_length(predict(fit, data.frame(x = 0.2, k = 3, kind = "a")), 1)
  expect_error(predict(fit, data.frame(x = 0.2, k = 3, kind = "z")), "categories a, b, c", class = "granary_error_input")
  # all discrete: enumerated
  set.seed(1)
  g <- function(x) (x[1] - 2)^2 + (x[2] - 3)^2
  found <- quick(g, c(0, 0), c(6, 6), integer = 1:2, n_init = 5, n_iter = 12)
  expect_identical(found$best_y, 0)
  # a list
  rows <- data.frame(x = c(0.1, 0.5, 0.9, 0.7, 0.3), kind = c("a", "a", "b", "b", "a"))
  set.seed(1)
  listed <- bayes_opt(function(p) abs(p$x - 0.7) + (p$kind == "a"), candidates = rows, n_init = 2, n_iter = 3)
  expect_identical(listed$best_x, list(x = 0.7, kind = "b"))
  expect_identical(anyDuplicated(tidy(listed)[c("x", "kind")]), 0L)
})

test_that("an embedding finds the two inputs of fifty that matter", {
  f <- function(x) test_function("branin")(c(15 * (x[7] + 1) / 2 - 5, 15 * (x[31] + 1) / 2))
  set.seed(3)
  fit <- bayes_opt(f, rep(-1, 50), rep(1, 50), n_init = 8, n_iter = 22, embed_dim = 3, n_embed = 2)
  expect_length(fit$runs, 2)
  expect_identical(sum(lengths(lapply(fit$runs, `[[`, "y"))), 30L)
  expect_length(fit$best_x, 50)
  expect_true(all(abs(fit$x) <= 1))
  expect_lt(fit$best_y, 10)
  state <- bo_init(rep(-1, 50), rep(1, 50), n_init = 2, embed_dim = 3)
  for (k in 1:3) {
    point <- bo_suggest(state)
    state <- bo_observe(state, point, f(point))
  }
  expect_identical(length(state$y), 3L)
  expect_error(bo_observe(state, matrix(0.123, 1, 50), 1), "point of the embedding", class = "granary_error_input")
  expect_error(predict(state, matrix(0.123, 1, 50)), "`newdata` must be a point of the embedding", class = "granary_error_input")
  # a point of the embedding that was never suggested
  z <- c(0.3, -0.2, 0.1)
  own <- pmin(pmax(as.vector(state$space$embedding %*% z), -1), 1)
  told <- bo_observe(state, own, f(own))
  expect_equal(told$unit[4, ], (z / sqrt(3) + 1) / 2, tolerance = 1e-8)
  expect_equal(as.vector(told$x[4, ]), own, tolerance = 1e-8)
  expect_equal(predict(told, rbind(own)), f(own), tolerance = 0.05)
  expect_length(predict(told, rbind(own), type = "criterion"), 1)
  expect_error(bo_observe(state, rep(1, 50), 1), "at their bounds", class = "granary_error_input")
  expect_error(bayes_opt(f, rep(-1, 50), rep(1, 50), n_embed = 2), "needs `embed_dim`", class = "granary_error_input")
  expect_error(bo_init(0, 5, integer = 1, embed_dim = 1), "continuous inputs", class = "granary_error_input")
})

test_that("every surrogate, learner and criterion runs", {
  for (surrogate in c("gp", "gp_normal", "tp_nig", "tp_jeffreys")) {
    set.seed(1)
    expect_lt(quick(test_function("forrester"), 0, 1, n_iter = 10, surrogate = surrogate)$best_y, -5.5)
  }
  for (learn in c("map", "ml", "loo", "mcmc", "fixed")) {
    set.seed(1)
    fit <- quick(test_function("forrester"), 0, 1, n_iter = 8, learn = learn, burn_in = 10, particles = 4)
    expect_lt(fit$best_y, -5)
    expect_identical(nrow(fit$theta), if (learn == "mcmc") 4L else 1L)
  }
  for (criterion in c("ei(power = 2)", "pi(xi = 0.01)", "lcb(kappa = 2)", "lcb_annealed", "thompson", "optimistic",
                      "sum(ei, distance, weights = c(1, 0.01))", "product(ei, uncertainty)", "hedge(ei, lcb, thompson)")) {
    set.seed(1)
    expect_lt(quick(test_function("forrester"), 0, 1, n_iter = 8, criterion = criterion)$best_y, 0)
  }
  for (mean in list(~0, ~., ~ . - 1, ~ x1 + I(x1^2))) {
    set.seed(1)
    expect_true(is.finite(quick(test_function("forrester"), 0, 1, mean = mean)$best_y))
  }
  for (kernel in list("se", "matern32 + linear", "rq", k_user(function(x, z) exp(-abs(outer(x[, 1], z[, 1], "-")))))) {
    set.seed(1)
    expect_true(is.finite(quick(test_function("forrester"), 0, 1, kernel = kernel)$best_y))
  }
})

test_that("the prediction is the process conditioned by brute force, in the user's units", {
  set.seed(1)
  x <- cbind(runif(8, -5, 10), runif(8, 0, 15))
  y <- test_function("branin")(x)
  for (scale in c(1e-8, 1, 1e8)) {
    state <- bo_init(c(-5, 0), c(10, 15), kernel = k_matern(2.5, lengthscale = c(0.4, 0.6)), learn = "fixed", noise = 1e-4)
    state <- bo_observe(state, x, scale * y)
    new <- rbind(c(1, 2), c(8, 14))
    unit <- function(z) sweep(sweep(z, 2, c(-5, 0)), 2, 15, "/")
    k <- k_matern(2.5, lengthscale = c(0.4, 0.6))
    ki <- solve(kernel_matrix(k, unit(x)) + diag(1e-4, 8))
    cross <- kernel_matrix(k, unit(new), unit(x))
    one <- rep(1, 8)
    w <- sum(ki %*% y) / sum(ki)
    mean <- w + drop(cross %*% ki %*% (y - w))
    s2 <- sum((y - w) * (ki %*% (y - w))) / 7
    g <- 1 - drop(cross %*% ki %*% one)
    variance <- s2 * (1 - diag(cross %*% ki %*% t(cross)) + g^2 / sum(ki)) * 7 / 5
    p <- predict(state, new, se = TRUE, cov = TRUE)
    expect_equal(p$fit / scale, mean, tolerance = 1e-8)
    expect_equal(p$se.fit / scale, sqrt(variance), tolerance = 1e-8)
    expect_equal(diag(p$cov), p$se.fit^2, tolerance = 1e-8)
    # expected improvement of the t law by integration
    sd <- sqrt(variance * 5 / 7)
    direct <- vapply(1:2, function(i) integrate(function(t) pmax(min(y) - mean[i] - sd[i] * t, 0) * dt(t, 7), -200, (min(y) - mean[i]) / sd[i],
                                                rel.tol = 1e-9)$value, 0)
    expect_equal(predict(state, new, type = "criterion") / scale, direct, tolerance = 1e-5)
    expect_equal(predict(state, new, type = "criterion", criterion = "return") / scale, -mean, tolerance = 1e-8)
    expect_equal(predict(state, new, type = "criterion", criterion = "uncertainty") / scale, sd, tolerance = 1e-8)
    expect_equal(predict(state, new, type = "criterion", criterion = "pi(xi = 0)"), pt((min(y) - mean) / sd, 7), tolerance = 1e-8)
  }
})

test_that("a hedge gives every criterion its share, and greed does not take over", {
  # Ackley's function in four inputs: many small hollows, one deep one. Plain gains leave the run to the greediest criterion.
  ackley <- function(x) {
    z <- 8 * x - 3
    -20 * exp(-0.2 * sqrt(mean(z^2))) - exp(mean(cos(2 * pi * z))) + 20 + exp(1)
  }
  set.seed(7)
  fit <- bayes_opt(ackley, rep(0, 4), rep(1, 4), n_init = 8, n_iter = 32, criterion = "hedge(ei, lcb, pi)")
  used <- table(factor(fit$trace$used, c("ei", "lcb", "pi")))
  expect_gt(min(used), 2)
  expect_lt(fit$best_y, 2)
  expect_output(print(bo_acquisition("pi")), "pi\\(xi = 0.01\\)")
  expect_identical(bo_acquisition("ei")$xi, 0)
})

test_that("noise is learnt where asked for", {
  set.seed(1)
  x <- matrix(runif(60))
  state <- bo_observe(bo_init(0, 1, learn_noise = TRUE), x, sin(6 * x[, 1]) + rnorm(60, sd = 0.3))
  expect_true(coef(state)[["noise"]] > 0.01 && coef(state)[["noise"]] < 1)
  expect_lt(mean(abs(predict(state) - sin(6 * x[, 1]))), 0.15)
})

test_that("constant responses and points told twice are no trouble", {
  set.seed(1)
  fit <- quick(function(x) 3, c(0, 0), c(1, 1), n_iter = 6)
  expect_true(all(fit$trace$used[5:10] == "distance"))
  expect_gt(min(dist(fit$x)), 0.05)
  state <- bo_init(0, 1, n_init = 2)
  state <- bo_observe(state, rep(0.5, 10), rep(1, 10))
  state <- bo_observe(state, c(0.2, 0.2), c(1, 2))
  expect_true(all(is.finite(bo_suggest(state))))
  expect_true(is.finite(bo_suggest(bo_observe(bo_init(0, 1, n_init = 1), 0.3, 1))))
})

test_that("a point that failed is not proposed again when the model does not see it", {
  set.seed(1)
  fit <- bayes_opt(function(x) if (x == 3) stop("no") else (x - 3.2)^2, candidates = 1:6, n_init = 2, n_iter = 4, failed = "skip")
  expect_identical(sort(as.vector(fit$x)), as.double(1:6))
  expect_identical(fit$status[fit$x == 3], "failed")
  set.seed(1)
  fit <- quick(function(x) if (x < 0.8) stop("no") else x, 0, 1, n_iter = 8, failed = "skip")
  expect_gt(min(dist(fit$x[fit$status == "failed", , drop = FALSE])), 1e-6)
})

test_that("a run in one place is moved on", {
  set.seed(1)
  state <- bo_init(0, 1, n_init = 2, stuck = 3)
  state <- bo_observe(state, c(0.1, 0.9), c(1, 2))
  state <- bo_observe(state, rep(0.1, 3), rep(1, 3))
  expect_identical(state$in_place, 3L)
  expect_identical(bo_propose(state, 1L)$used, "random")
})

test_that("plots and tables", {
  pdf(NULL)
  on.exit(dev.off())
  set.seed(1)
  one <- quick(test_function("forrester"), 0, 1)
  two <- quick(test_function("branin"), c(a = -5, b = 0), c(a = 10, b = 15))
  three <- quick(function(x) sum(x^2), rep(-1, 3), rep(1, 3))
  for (fit in list(one, two, three)) {
    expect_silent(plot(fit, points = 8))
    expect_silent(plot(fit, "trace", main = "t"))
  }
  expect_silent(plot(three, "surrogate", inputs = c(3, 1), points = 6))
  expect_error(plot(three, "surrogate", inputs = 4), "`inputs`", class = "granary_error_input")
  expect_error(plot(bo_init(0, 1)), "nothing to plot", class = "granary_error_input")
  expect_named(tidy(two), c("iter", "a", "b", "y", "best", "criterion", "used", "status", "seconds", "message"))
  expect_identical(glance(two)$evaluations, 8L)
  expect_output(print(bo_init(0, 1)), "No evaluations yet")
  expect_output(print(bo_acquisition("hedge", "ei", "lcb")), "hedge\\(ei, lcb\\(kappa = 1\\), eta = 1\\)")
  expect_output(print(quick(test_function("forrester"), 0, 1, verbose = TRUE)), "8/8  best")
})

test_that("wrong arguments are named", {
  bad <- function(code, pattern) expect_error(code, pattern, class = "granary_error_input")
  bad(bayes_opt(), "`f`")
  bad(bayes_opt(1, 0, 1), "`f` must be a function")
  bad(bayes_opt(test_function("forrester"), 0, 1, kernl = "se"), "Unknown argument: kernl")
  bad(bo_init(1, 0), "must be below")
  bad(bo_init(0, c(1, 2)), "length of `lower`")
  bad(bo_init(-Inf, 1), "finite")
  bad(bo_init(), "at least one input")
  bad(bo_init(0, 1, levels = list(a = "x")), "`levels`")
  bad(bo_init(0, 1.5, integer = 1), "whole numbers")
  bad(bo_init(0, 1, integer = "z"), "`integer`")
  bad(bo_init(0, 1, candidates = 1:3), "leave out")
  bad(bo_init(0, 1, mean = y ~ x), "`mean`")
  bad(bo_init(0, 1, mean = ~other), "numeric inputs only")
  bad(bo_init(0, 1, prior = list(z = 1)), "`prior`")
  bad(bo_init(0, 1, prior = list(B = -1)), "prior\\$B")
  bad(bo_init(0, 1, criterion = "eei"), "was not understood")
  bad(bo_init(0, 1, criterion = "sum(ei, hedge(ei, pi))"), "stands outermost")
  bad(bo_acquisition("sum", "ei"), "at least two")
  bad(bo_acquisition("ei", "pi"), "takes no other")
  bad(bo_acquisition("ei", weights = 1), "belong to")
  bad(bo_suggest(1), "`object`")
  state <- bo_init(0, 1)
  bad(bo_observe(state, 2, 1), "outside \\[0, 1\\]")
  bad(bo_observe(state, c(0.1, 0.2), 1), "one value per point")
  bad(predict(state, 0.1, type = "criterion"), "no model yet")
  state <- bo_observe(state, c(0.1, 0.2), c(1, 2))
  bad(predict(state, 0.1, type = "criterion", criterion = "hedge(ei, pi)"), "no value of its own")
})

test_that("a response that is not a number is one that failed", {
  state <- bo_init(lower = 0, upper = 1, n_init = 2)
  told <- bo_observe(state, matrix(c(0.2, 0.7), 2), c(NaN, 1))
  expect_identical(told$y, c(NA, 1))
  expect_false(any(is.nan(told$y)))
  expect_identical(told$status, c("failed", "ok"))
  # as bayes_opt() has it
  told <- bo_observe(state, matrix(c(0.2, 0.3, 0.5, 0.7, 0.9), 5), c(Inf, -Inf, NA, 1e200, 1))
  expect_identical(told$y, c(NA, NA, NA, NA, 1))
  expect_identical(told$status, rep(c("failed", "ok"), c(4, 1)))
  expect_identical(told$trace$message, c("the value Inf", "the value -Inf", "missing response", "a value too large to compute with", ""))
  expect_identical(told$best_y, 1)
  expect_error(bo_observe(state, 0.2, "1"), "numeric", class = "granary_error_input")
  expect_error(bo_observe(state, 0.2, list(1:2)), "numeric", class = "granary_error_input")
  expect_error(bo_observe(state, 0.2), "`y`", class = "granary_error_input")
})

test_that("with noise the print shows the best prediction beside the luckiest observation", {
  set.seed(3)
  x <- matrix(seq(0, 1, length.out = 40))
  y <- (x[, 1] - 0.6)^2 + rnorm(40, sd = 0.05)
  y[3] <- -1  # luck
  for (sign in c(1, -1)) {
    state <- bo_observe(bo_init(0, 1, learn_noise = TRUE, maximize = sign < 0), x, sign * y)
    best <- which.min(sign * predict(state))
    expect_false(best == 3L)
    expect_output(print(state), "Best value .* at evaluation 3:")
    expect_output(print(state), sprintf("Best prediction %s at evaluation %d:\n  x1 = %s", format(predict(state)[best], digits = 6), best,
                                        format(x[best], digits = 5)))
  }
  exact <- bo_observe(bo_init(0, 1), x, y)
  expect_no_match(capture.output(print(exact)), "prediction")
})
