test_that("spelling, endings and order of the words do not matter", {
  expect_identical(granary_find("graphical lasso")$key[1], granary_find("lasso graphicl")$key[1])
  expect_identical(find_stem(c("clusters", "clustering", "clustered")), rep(find_stem("cluster"), 3))
  expect_identical(find_stem("regularisation"), find_stem("regularization"))
})

test_that("nothing found is said, and nothing asked is an error", {
  expect_identical(nrow(granary_find("zzzzqq")), 0L)
  expect_output(print(granary_find("zzzzqq")), "No method matches")
  expect_error(granary_find("of the"), "`words`", class = "granary_error_input")
  expect_error(granary_find(1), "`words`", class = "granary_error_input")
})

test_that("what is printed names a function, its use and what to read", {
  expect_output(print(granary_find("support vector machine")), "svm\\(\\)")
})

test_that("everyday questions find their method among the first three, most of them first", {
  queries <- read.csv(test_path("find-queries.csv"))
  expect_gte(nrow(queries), 100)
  rank <- vapply(seq_len(nrow(queries)), function(i) match(queries$key[i], granary_find(queries$query[i])$key), 1L)
  expect_identical(queries$query[is.na(rank) | rank > 3L], character())
  expect_gte(mean(rank == 1L), 0.8)
})
