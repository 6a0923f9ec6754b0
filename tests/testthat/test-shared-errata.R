test_that("every erratum is complete and belongs to a paper of the catalog", {
  all <- errata()
  expect_gt(nrow(all), 0)
  expect_false(anyNA(all))
  expect_true(all(nzchar(unlist(all))))
  expect_identical(setdiff(all$key, granary_catalog()$key), character())
  expect_identical(anyDuplicated(all[c("key", "place")]), 0L)
})

test_that("errata are found by key, and a wrong key is explained", {
  expect_identical(unique(errata("jmlr15-quic")$key), "jmlr15-quic")
  expect_error(errata("jmlr15-quick"), "`key`.*nearest is \"jmlr15-quic\"", class = "granary_error_input")
  for (key in list(1, NA, character(), NA_character_, list("jmlr15-quic"), mean)) expect_error(errata(key), "`key`", class = "granary_error_input")
})

test_that("errata print paper by paper", {
  expect_output(print(errata("jmlr15-quic")), "jmlr15-quic.*Hsieh.*Equation \\(50\\).*printed.*corrected.*check")
  expect_output(print(errata()["place"]), "Equation")
  none <- structure(errata()[0, ], keys = "jmlr15-quic")
  expect_output(print(none), "No errata are known for jmlr15-quic")
})

# The checks that the entries describe, made here.

test_that("QUIC (50): counting positive entries only, an empty graph looks perfect on the chain", {
  p <- 30
  truth <- diag(1.25, p)
  truth[abs(row(truth) - col(truth)) == 1] <- -0.5
  empty <- diag(p)
  expect_identical(sum(empty > 0 & truth > 0) / sum(truth > 0), 1)
  expect_lt(sum(empty != 0 & truth != 0) / sum(truth != 0), 0.35)
})

test_that("QUIC Algorithm 2: the diagonal update minimises the model only with a = w_ii^2", {
  set.seed(1)
  w <- crossprod(matrix(rnorm(12), 4))
  s <- crossprod(matrix(rnorm(12), 4))
  model <- function(mu) {
    d <- matrix(0, 3, 3)
    d[2, 2] <- mu
    sum((s - w) * d) + sum(diag(w %*% d %*% w %*% d)) / 2
  }
  best <- optimize(model, c(-100, 100), tol = 1e-10)$minimum
  b <- s[2, 2] - w[2, 2]
  expect_equal(-b / w[2, 2]^2, best, tolerance = 1e-5)
  expect_equal(-b / (w[2, 2]^2 + w[2, 2] * w[2, 2]), best / 2, tolerance = 1e-5)
})

test_that("QUIC 5.1.1: the optimal value can be negative, and then nothing passes the printed rule", {
  total <- 0.1
  f <- function(x) -log(x) + total * x
  best <- f(1 / total)
  expect_equal(best, 1 + log(total))
  expect_false(f(1 / total) - best < 1e-2 * best)
  expect_true(f(1 / total) - best < 1e-2 * abs(best))
})

test_that("QUIC Table 1: the printed false positive rates exceed what the solutions hold", {
  zeros <- 4000^2 - 41112
  nonzeros <- c(41936, 234888)
  expect_true(all(c(6e-3, 0.05) * zeros > nonzeros))
  implied <- (nonzeros - c(0.83, 0.97) * 41112) / zeros
  expect_equal(implied, c(5e-4, 0.012), tolerance = 0.05)
})

test_that("QUIC 5.2.4: components of the thresholded covariance merge as lambda falls", {
  set.seed(1)
  s <- abs(cor(matrix(rnorm(400), 20)))
  pieces <- function(lambda) {
    reach <- diag(20) + (s > lambda) > 0
    for (i in 1:5) reach <- reach %*% reach > 0
    nrow(unique(reach))
  }
  counts <- vapply(seq(0.1, 0.7, 0.05), pieces, 1)
  expect_true(all(diff(counts) >= 0))
  expect_gt(counts[length(counts)], counts[1])
})
