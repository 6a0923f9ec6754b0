# Rscript hsic.R <file for the results, .rds>
#
# Times hsic() and independence_test() against dHSIC (same kernel and bandwidth, full matrices) and energy (distance covariance: another statistic of the same
# family). One thread, CPU seconds of the R process. `value` and `p_value` show that both compute the same thing. The second table is the growth with the number of
# rows. The third is the test of joint independence of three variables (measure = "dhsic"), where all pairs are independent.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
add <- function(...) {
  rows[[length(rows) + 1L]] <<- data.frame(...)
  print(rows[[length(rows)]], digits = 4, row.names = FALSE)
}
for (setting in c("1 column", "5 columns")) {
  n <- 1000
  set.seed(1)
  x <- matrix(rnorm(n * if (setting == "1 column") 1 else 5), n)
  y <- matrix(0.1 * x[, 1] + rnorm(length(x)), n)
  permutations <- 1000
  ours <- cpu(test <- independence_test(x, y, n_perm = permutations))
  value <- hsic(x, y, rank_tol = 0)$value
  add(setting = setting, method = "granary", task = "1000 permutations", seconds = ours, ratio = 1, value = unname(test$statistic), p_value = test$p.value)
  if (has("dHSIC")) {
    seconds <- cpu(peer <- loadNamespace("dHSIC")$dhsic.test(x, y, method = "permutation", B = permutations))
    add(setting = setting, method = "dHSIC", task = "1000 permutations", seconds = seconds, ratio = seconds / ours, value = peer$statistic / n,
        p_value = peer$p.value)
  }
  if (has("energy")) {
    seconds <- cpu(peer <- loadNamespace("energy")$dcov.test(x, y, R = permutations))
    add(setting = setting, method = "energy::dcov.test", task = "1000 permutations", seconds = seconds, ratio = seconds / ours, value = NA_real_,
        p_value = peer$p.value)
  }
  ours <- cpu(for (k in 1:10) test <- independence_test(x, y, method = "gamma")) / 10
  add(setting = setting, method = "granary", task = "gamma", seconds = ours, ratio = 1, value = unname(test$statistic), p_value = test$p.value)
  if (has("dHSIC")) {
    seconds <- cpu(for (k in 1:10) peer <- loadNamespace("dHSIC")$dhsic.test(x, y, method = "gamma")) / 10
    add(setting = setting, method = "dHSIC", task = "gamma", seconds = seconds, ratio = seconds / ours, value = peer$statistic / n, p_value = peer$p.value)
  }
  add(setting = setting, method = "granary, rank_tol = 0", task = "value only", seconds = cpu(hsic(x, y, rank_tol = 0)), ratio = NA_real_, value = value,
      p_value = NA_real_)
}
growth <- do.call(rbind, lapply(c(1e3, 1e4, 1e5), function(n) {
  set.seed(2)
  x <- rnorm(n)
  y <- 0.05 * x + rnorm(n)
  seconds <- cpu(fit <- hsic(x, y))
  test <- cpu(p <- independence_test(x, y, n_perm = 100)$p.value)
  data.frame(n = n, hsic_s = seconds, microseconds_per_row = 1e6 * seconds / n, test_of_100_s = test, rank = max(fit$rank), p_value = p)
}))
print(growth)
set.seed(3)
n <- 1000
x <- list(rnorm(n), rnorm(n), 0)
x[[3]] <- sign(x[[1]] * x[[2]]) * rexp(n)
ours <- cpu(test <- independence_test(x, measure = "dhsic", n_perm = 200))
joint <- data.frame(method = "granary", seconds = ours, ratio = 1, value = unname(test$statistic), p_value = test$p.value)
if (has("dHSIC")) {
  seconds <- cpu(peer <- loadNamespace("dHSIC")$dhsic.test(x, method = "permutation", B = 200))
  joint <- rbind(joint, data.frame(method = "dHSIC", seconds = seconds, ratio = seconds / ours, value = peer$statistic / n, p_value = peer$p.value))
}
print(joint)
if (!is.na(output)) saveRDS(list(tests = do.call(rbind, rows), growth = growth, joint = joint), output)
