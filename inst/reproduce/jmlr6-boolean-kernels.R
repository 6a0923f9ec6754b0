# Khardon and Servedio (JMLR 6, 2005). The paper has theorems, no experiments. Smallest k of its conditions are
# compared with values computed independently, and
# test errors under its laws with those of an independent exact solver ("reference"), by 8 and 10 repeats with 2000
# new rows there.

# One claim per number.
claims <- function(text, paper, ours, tolerance, note = "") {
  for (i in seq_along(paper)) claim(paste0(text, " (", i, ")"), paper[i], ours[i], tolerance, note)
}

first <- function(n, p, column) {
  table <- boolean_bounds(n = n, p = p, k_max = 15)
  c(table$k[table[[column]]], NA)[1]
}
claims("Condition (3): smallest k for n = 1e3, m = 100 and 1000; 1e4, 100; 1e5, 100; 1e6, 1000", c(5, 7, 4, 3, 4),
      c(first(100, 1e3, "overfits"), first(1000, 1e3, "overfits"), first(100, 1e4, "overfits"),
        first(100, 1e5, "overfits"), first(1000, 1e6, "overfits")), 0, "reference")
claims("Polynomial kernel: 1e3, 100; 1e4, 100; 1e6, 1000", c(9, 7, 7),
      c(first(100, 1e3, "polynomial"), first(100, 1e4, "polynomial"), first(1000, 1e6, "polynomial")), 0, "reference")
claim("Uniform law: condition (10) holds for some k up to 10 at n = 1e6", FALSE,
      any(boolean_bounds(n = 100, p = 1e6)$uniform), 0, "vacuous at such sizes: B is below 6")
fit <- boolean_svm(rbind(c(1, 1, 0), c(0, 1, 1), c(0, 0, 0)), c(1, 1, 0), tol = 1e-9)
claim("110 and 011 against 000, k = 2: margin", 0.7071068, fit$margin[["lower"]], 1e-6, "reference")

error <- function(p, n, k, type, repeats, new) {
  mean(vapply(seq_len(repeats), function(i) {
    d <- sim_boolean(n + new, p, type, terms = 0)
    fit <- suppressWarnings(boolean_svm(d$x[seq_len(n), ], d$y[seq_len(n)], k = k))
    mean(predict(fit, d$x[-seq_len(n), ]) != d$y[-seq_len(n)])
  }, 0))
}
repeats <- if (extended) 30 else 6
new <- if (extended) 2000 else 500
set.seed(1)
wide <- if (extended) 0.06 else 0.12
for (case in list(list(200, 50, c(1, 2, 3, 5), c(0.13, 0.32, 0.5, 0.5)),
                  list(200, 200, c(1, 2, 3, 5), c(0.005, 0.07, 0.31, 0.5)))) {
  for (j in 1:4) {
    claim(sprintf("Result 2, %d attributes, %d rows, k = %d: test error", case[[1]], case[[2]], case[[3]][j]),
          case[[4]][j],
          error(case[[1]], case[[2]], case[[3]][j], "result2", repeats, new), wide, "reference; means of few repeats")
  }
}
for (j in 1:4) {
  k <- c(1, 2, 4, 8)[j]
  claim(sprintf("Uniform law, 30 attributes, 60 rows, k = %d: test error", k), c(0, 0.002, 0.12, 0.3)[j],
        error(30, 60, k, "uniform", repeats, new), wide, "reference")
}
claim("Result 4: probability of failure at least 0.028", NA, NA, 0,
      "a lower bound for k of the order sqrt(n) log^1.5 n, out of reach of simulation")
