# Times mta() against other ways to shrink many means. Rscript mta.R [output.rds]
#
# Seconds are processor time of one thread, the smallest of three runs (of one where a run takes more than ten seconds). `error` is the
# squared error of the estimates over that of the sample means: mixed models and ashr subtract the noise from the spread of the means, or
# model the spread, and may shrink better; mta() is tuning-free and linear. `difference` is the largest difference to mta() where the peer
# computes the same thing (metafor with the variance of mta(); plain R). No other package has multi-task averaging.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
output <- commandArgs(trailingOnly = TRUE)[1L]
has <- function(package) requireNamespace(package, quietly = TRUE)
peer <- function(package, name) getExportedValue(package, name)
cpu <- function(run) {
  best <- Inf
  for (k in 1:3) {
    used <- system.time(value <- run())
    best <- min(best, used[["user.self"]] + used[["sys.self"]])
    if (best > 10) break
  }
  list(seconds = best, value = value)
}
rows <- list()
note <- function(setting, method, timed, error = NA, difference = NA, ours = NA) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = timed$seconds, ratio = timed$seconds / ours,
                                           error = error, difference = difference)
  print(rows[[length(rows)]], row.names = FALSE)
}
plain_r <- function(y, g) {
  n <- tabulate(g)
  m <- as.vector(rowsum(y, g)) / n
  s <- sum((y - m[g])^2) / (length(y) - length(n)) / n
  w <- 1 / (1 + s / var(m))
  m * w + (1 - w) * sum(w * m) / sum(w)
}

for (tasks in c(1e3, 1e4, 1e5, 1e6)) {
  set.seed(1)
  n <- sample(2:6, tasks, replace = TRUE)
  g <- rep.int(seq_len(tasks), n)
  mu <- rnorm(tasks, sd = 0.7)
  y <- rnorm(length(g), mu[g])
  setting <- sprintf("%g groups, %g samples", tasks, length(g))
  single <- as.vector(rowsum(y, g)) / n
  error <- function(estimate) sum((estimate - mu)^2) / sum((single - mu)^2)
  ours <- cpu(function() mta(y, g))
  estimate <- unname(coef(ours$value))
  note(setting, "mta()", ours, error(estimate), 0, ours$seconds)
  table <- data.frame(mean = single, n = n, var = 1)
  note(setting, "mta() of a table of means", cpu(function() mta(table)), NA, NA, ours$seconds)
  js <- cpu(function() mta(y, g, method = "james_stein"))
  note(setting, "james_stein()", js, error(coef(js$value)), NA, ours$seconds)
  r <- cpu(function() plain_r(y, g))
  note(setting, "plain R, no checks, no standard errors", r, error(r$value), max(abs(r$value - estimate)), ours$seconds)
  if (has("lme4") && tasks <= 1e4) {
    lmer <- peer("lme4", "lmer")
    ranef <- peer("lme4", "ranef")
    fixef <- peer("lme4", "fixef")
    data <- data.frame(y, g = factor(g))
    timed <- cpu(function() {
      fit <- lmer(y ~ 1 + (1 | g), data)
      fixef(fit)[[1L]] + ranef(fit)$g[[1L]]
    })
    note(setting, "lme4::lmer", timed, error(timed$value), NA, ours$seconds)
  }
  if (has("ashr") && tasks <= 1e5) {
    s <- sqrt(unname(ours$value$var_mean))
    timed <- cpu(function() peer("ashr", "get_pm")(peer("ashr", "ash.workhorse")(single - mean(single), s, mixcompdist = "normal", outputlevel = 1)))
    note(setting, "ashr::ash", timed, if (length(timed$value) == tasks) error(mean(single) + timed$value) else NA, NA, ours$seconds)
  }
  if (has("metafor") && tasks <= 1e3) {
    fit <- ours$value
    timed <- cpu(function() peer("metafor", "blup")(peer("metafor", "rma.uni")(yi = fit$mean, vi = fit$var_mean, tau2 = fit$tau2))$pred)
    note(setting, "metafor, tau2 of mta()", timed, error(timed$value), max(abs(timed$value - estimate)), ours$seconds)
  }
}
set.seed(2)
d <- sim_mta(500, 0.3)
note("leave-one-out risk of four estimators, 500 groups", "mta_compare()", cpu(function() mta_compare(d$y, d$group)))
note("double leave-one-out, 500 groups of 2 to 6", "mta_compare(\"constant_cv\")", {
  e <- sim_mta(500, 0.3, n_range = c(2, 6))
  cpu(function() mta_compare(e$y, e$group, "constant_cv", threads = 1))
})
chain <- Matrix::bandSparse(1e5, k = c(-1, 1), diagonals = list(rep(1, 1e5), rep(1, 1e5)))
note("sparse similarities, chain of 1e5 groups", "mta(method = \"custom\")", {
  big <- data.frame(mean = rnorm(1e5), n = 3, var = 1)
  cpu(function() mta(big, method = "custom", A = chain, gamma = 1e5))
})
note("full similarities, 1000 groups, with standard errors", "mta(method = \"pairwise\")", {
  some <- data.frame(mean = rnorm(1000), n = 3, var = 1)
  cpu(function() mta(some, method = "pairwise"))
})
if (!is.na(output)) saveRDS(do.call(rbind, rows), output)
