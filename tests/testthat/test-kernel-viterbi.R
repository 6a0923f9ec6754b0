test_that("viterbi() agrees with enumeration", {
  set.seed(1)
  for (trial in 1:6) {
    unary <- matrix(rnorm(12), 4)
    transition <- if (trial %% 2 == 0) matrix(rnorm(9), 3) else array(rnorm(27), c(3, 3, 3))
    triple <- if (trial > 3) array(rnorm(27), c(3, 3, 3))
    all <- as.matrix(expand.grid(1:3, 1:3, 1:3, 1:3))
    score <- apply(all, 1, function(y) {
      pairs <- vapply(1:3, function(t) if (is.matrix(transition)) transition[y[t], y[t + 1]] else transition[y[t], y[t + 1], t], 0)
      sum(unary[cbind(1:4, y)]) + sum(pairs) + if (!is.null(triple)) triple[y[1], y[2], y[3]] + triple[y[2], y[3], y[4]] else 0
    })
    best <- order(-score)[1:5]
    found <- viterbi(unary, transition, k = 5, triple = triple)
    expect_equal(found$score, score[best])
    expect_equal(found$labels, t(all[best, ]), ignore_attr = TRUE)
    expect_equal(as.vector(viterbi(unary, transition, triple = triple)), unname(all[best[1], ]))
  }
})

test_that("viterbi() returns names, fewer sequences where there are fewer, and refuses nonsense", {
  unary <- matrix(c(1, 0, 0, 1), 2, dimnames = list(NULL, c("x", "y")))
  expect_equal(viterbi(unary, matrix(0, 2, 2)), structure(c("x", "y"), score = 2))
  expect_length(viterbi(unary, matrix(0, 2, 2), k = 10)$score, 4)
  expect_identical(as.vector(viterbi(unary, matrix(c(0, 0, -Inf, 0), 2))), c("x", "x"))
  expect_identical(as.vector(viterbi(unary[1, , drop = FALSE], matrix(0, 2, 2))), "x")
  expect_error(viterbi(unary, matrix(0, 3, 3)), "`transition`", class = "granary_error_input")
  expect_error(viterbi(unary, array(0, c(2, 2, 3))), "`transition`", class = "granary_error_input")
  expect_error(viterbi(unary * NA, matrix(0, 2, 2)), "`unary`", class = "granary_error_input")
  expect_error(viterbi(unary[0, ], matrix(0, 2, 2)), "`unary`", class = "granary_error_input")
  expect_error(viterbi(unary - Inf, matrix(0, 2, 2)), "forbidden", class = "granary_error_input")
  expect_error(viterbi(unary, matrix(0, 2, 2), k = 0), "`k`", class = "granary_error_input")
  expect_error(viterbi(unary, matrix(0, 2, 2), triple = array(0, c(2, 2, 3))), "`triple`", class = "granary_error_input")
})
