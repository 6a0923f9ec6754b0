cats <- c("the cat was chased by the fat dog", "the fat cat bit the dog")

# phi by its definition, for short sequences of tokens
brute_phi <- function(s, q, lambda, gap = "length", max_gap = Inf, match = NULL, skip = NULL) {
  if (length(s) < q) return(numeric())
  at <- utils::combn(length(s), q)
  spans <- at[q, ] - at[1L, ] + 1L
  at <- at[, spans - q <= max_gap, drop = FALSE]
  weight <- apply(at, 2L, function(i) {
    inside <- setdiff(seq(i[1L], i[q]), i)
    long <- if (is.null(skip)) lambda^length(inside) else prod(skip[s[inside]])
    gaps <- if (gap == "number") lambda^sum(diff(i) > 1) else long
    gaps * if (is.null(match)) 1 else prod(match[s[i]])
  })
  words <- apply(at, 2L, function(i) paste(s[i], collapse = " "))
  if (length(words) == 0L) numeric() else tapply(weight, words, sum)
}
brute <- function(s, t, ...) {
  a <- brute_phi(s, ...)
  b <- brute_phi(t, ...)
  shared <- intersect(names(a), names(b))
  sum(a[shared] * b[shared])
}
raw_kernel <- function(x, ...) kernel_matrix(k_string(..., normalize = FALSE), x)

test_that("gapped kernels are the sums of their definition, by every algorithm", {
  for (seed in 1:6) {
    set.seed(seed)
    x <- replicate(3, sample(letters[1:3], sample(4:10, 1L), TRUE), simplify = FALSE)
    match <- c(a = 0.5, b = 2, c = 1.5)
    skip <- c(a = 0.9, b = 0.3, c = 1)
    for (q in 1:4) {
      expected <- function(...) outer(1:3, 1:3, Vectorize(function(i, j) brute(x[[i]], x[[j]], q, ...)))
      for (method in c("auto", "dense", "sparse")) {
        expect_equal(raw_kernel(x, length = q, lambda = 0.6, method = method), expected(0.6), tolerance = 1e-10)
        expect_equal(raw_kernel(x, "gap_count", length = q, lambda = 0.6, method = method), expected(0.6, "number"),
                     tolerance = 1e-10)
        expect_equal(raw_kernel(x, length = q, match_weights = match, gap_weights = skip, method = method),
                     expected(1, match = match, skip = skip), tolerance = 1e-10)
      }
      expect_equal(raw_kernel(x, length = q, lambda = 0.6, max_gap = 2), expected(0.6, max_gap = 2), tolerance = 1e-10)
      expect_equal(raw_kernel(x, length = q, lambda = 0.6, max_gap = 20), expected(0.6), tolerance = 1e-10)
      expect_equal(raw_kernel(x, "spectrum", length = q), expected(1, max_gap = 0), tolerance = 1e-12)
      expect_equal(raw_kernel(x, "spectrum", length = q, method = "automaton"), expected(1, max_gap = 0),
                   tolerance = 1e-12)
      expect_equal(raw_kernel(x, length = q, lambda = 0.6, raw = TRUE), 0.6^(2 * q) * expected(0.6), tolerance = 1e-10)
    }
    mixed <- raw_kernel(x, length = c(1, 3), lambda = 0.6, length_weights = c(1, 0, 2))
    parts <- lapply(1:3, function(q) outer(1:3, 1:3, Vectorize(function(i, j) brute(x[[i]], x[[j]], q, 0.6))))
    expect_equal(mixed, parts[[1]] + 2 * parts[[3]], tolerance = 1e-10)
    every <- Reduce(`+`, lapply(1:10, function(q) outer(1:3, 1:3,
                                                        Vectorize(function(i, j) 0.5^q * brute(x[[i]], x[[j]], q,
                                                            0.6)))))
    expect_equal(raw_kernel(x, length = c(1, Inf), lambda = 0.6, length_weights = 0.5), every, tolerance = 1e-10)
  }
})

test_that("the paper's running example", {
  value <- function(q, ...) raw_kernel(cats, length = q, token = "word", ...)[1, 2]
  expect_equal(vapply(1:4, value, 0, lambda = 1), c(7, 11, 6, 1))
  expect_equal(vapply(1:4, value, 0), c(7, 2.2822265625, 0.19921875, 0.015625))
  expect_equal(vapply(1:4, value, 0, lambda = 0.7), c(7, 3.6298451249, 0.85208403, 0.117649), tolerance = 1e-9)
  expect_equal(vapply(1:4, value, 0, type = "gap_count"), c(7, 4.75, 1.25, 0.0625))
  expect_equal(vapply(1:3, value, 0, max_gap = 2), c(7, 2, 0))
  expect_equal(raw_kernel(c("abcab", "acbab"), length = 2, match_weights = c(a = 1, b = 2, c = 0.5),
                          gap_weights = c(a = 0.5, b = 0.25, c = 0.8))[1, 2], 23.0875)
})

test_that("grams with mismatches are counts over all words", {
  set.seed(2)
  x <- replicate(4, paste(sample(c("A", "C", "G", "T"), 12, TRUE), collapse = ""))
  words <- apply(expand.grid(rep(list(c("A", "C", "G", "T")), 3)), 1L, paste, collapse = "")
  phi <- t(vapply(x, function(s) {
    grams <- substring(s, 1:10, 3:12)
    vapply(words, function(w) sum(utils::adist(grams, w, costs = c(insertions = 9, deletions = 9,
                                                                   substitutions = 1)) <= 1), 0)
  }, numeric(64)))
  expected <- unname(tcrossprod(phi))
  expect_equal(raw_kernel(x, "mismatch", alphabet = "dna"), expected)
  expect_equal(raw_kernel(x, "mismatch", alphabet = "dna", method = "pairs"), expected)
  expect_equal(raw_kernel(tolower(x), "mismatch", alphabet = "dna"), expected)
  f <- string_features(x, k_string("mismatch", alphabet = "dna"))
  expect_equal(as.matrix(f)[, words[words %in% colnames(f)]], phi[, words[words %in% colnames(f)]], ignore_attr = TRUE)
  # a letter that is none of the four breaks the grams around it
  expect_equal(raw_kernel("ACNGT", "spectrum", length = 2, alphabet = "dna")[1, 1], 2)
})

test_that("substrings of all lengths", {
  runs <- function(s) table(unlist(lapply(seq_len(nchar(s)),
                                          function(l) substring(s, seq_len(nchar(s) - l + 1), l:nchar(s)))))
  x <- c("abracadabra", "cadabraabra", "bar")
  a <- lapply(x, runs)
  expected <- outer(1:3, 1:3, Vectorize(function(i, j) {
    shared <- intersect(names(a[[i]]), names(a[[j]]))
    sum(0.7^nchar(shared) * a[[i]][shared] * a[[j]][shared])
  }))
  expect_equal(raw_kernel(x, "substring", length = c(1, Inf), lambda = 0.7), expected, tolerance = 1e-12)
  expect_equal(raw_kernel(x, "spectrum", length = 2)[1, 2], 15)
})

test_that("features are the kernel, with names; words weighted by rarity are tf-idf", {
  k <- k_string(length = c(1, 3), token = "word", max_gap = 2, normalize = FALSE)
  f <- string_features(c(a = cats[1], b = cats[2]), k)
  expect_equal(as.matrix(Matrix::tcrossprod(f)), kernel_matrix(k, c(a = cats[1], b = cats[2])), tolerance = 1e-12)
  expect_identical(rownames(f), c("a", "b"))
  expect_equal(f["b", "the cat"], 0.5)
  texts <- c("a b b c", "b c c d", "e")
  idf <- string_idf(texts, "word")
  expect_equal(idf, c(a = log2(3), b = log2(1.5), c = log2(1.5), d = log2(3), e = log2(3)))
  tf <- rbind(c(1, 2, 1, 0, 0), c(0, 1, 2, 1, 0), c(0, 0, 0, 0, 1))
  expect_equal(raw_kernel(texts, "spectrum", length = 1, token = "word", match_weights = idf),
               tcrossprod(tf %*% diag(idf)), ignore_attr = TRUE)
})

test_that("kernel matrices are positive, of unit diagonal, and know neither direction nor names nor threads", {
  set.seed(3)
  x <- replicate(25, sample(1:6, sample(5:40, 1L), TRUE), simplify = FALSE)
  named <- lapply(x, function(s) c("six", "five", "four", "three", "two", "one")[s])
  for (type in c("gapped", "gap_count", "spectrum", "substring")) {
    k <- k_string(type, length = 2)
    m <- kernel_matrix(k, x)
    expect_identical(m, t(m))
    expect_equal(diag(m), rep(1, 25), tolerance = 1e-12)
    expect_gt(min(eigen(m, symmetric = TRUE, only.values = TRUE)$values), -1e-10)
    expect_equal(kernel_matrix(k, named), m, tolerance = 1e-12)
    expect_equal(kernel_matrix(k, lapply(x, rev)), m, tolerance = 1e-10)
    expect_equal(kernel_matrix(k, x[1:5], x[6:10]), m[1:5, 6:10], tolerance = 1e-12)
    one <- withr::with_options(list(granary.threads = 1), kernel_matrix(k, x))
    two <- withr::with_options(list(granary.threads = 2), kernel_matrix(k, x))
    expect_identical(one, two)
  }
})

test_that("text in any encoding, words in any script", {
  utf <- c("h\u00e9llo", "w\u00f6rld \u4e2d\u6587")
  latin <- iconv("h\u00e9llo", "UTF-8", "latin1")
  expect_equal(kernel_matrix(k_string("spectrum", 1), utf[1], latin)[1, 1], 1)
  expect_equal(string_tokens(c(a = "The C\u00c4T, don't"), "word"), list(a = c("the", "c\u00e4t", "don", "t")))
  expect_identical(lengths(string_tokens(utf)), c(5L, 8L))
  expect_error(kernel_matrix(k_string(), c("ok", "a\xff")), "Element 2 of `x`", class = "granary_error_input")
  bytes <- "a\xff"
  Encoding(bytes) <- "bytes"
  expect_error(kernel_matrix(k_string(), bytes), class = "granary_error_input")
})

test_that("texts without the features have no kernel, not even with themselves", {
  m <- kernel_matrix(k_string(length = 3), c("", "ab", "abc"))
  expect_equal(m, diag(c(0, 0, 1)))
  expect_equal(raw_kernel(list(character(), "a"), length = 1), diag(c(0, 1)))
})

test_that("a million characters", {
  set.seed(4)
  x <- replicate(2, paste(sample(c("A", "C", "G", "T"), 1e6, TRUE), collapse = ""))
  m <- kernel_matrix(k_string("spectrum", length = 4, alphabet = "dna"), x)
  expect_gt(m[1, 2], 0.9)
  expect_error(kernel_matrix(k_string("gapped", length = 4), x), "max_gap", class = "granary_error_input")
})

test_that("arguments that make no sense are refused in a sentence", {
  fails <- function(expression, pattern) expect_error(expression, pattern, class = "granary_error_input")
  fails(k_string("gaped"), "Did you mean")
  fails(k_string(length = 0), "length")
  fails(k_string(length = c(3, 2)), "above")
  fails(k_string(length = 1:3), "length")
  fails(k_string("spectrum", length = c(1, Inf)), "any length")
  fails(k_string(lambda = 0), "lambda")
  fails(k_string(lambda = 1.1), "lambda")
  fails(k_string(max_gap = -1), "max_gap")
  fails(k_string(max_gap = 1.5), "max_gap")
  fails(k_string("mismatch"), "alphabet")
  fails(k_string(alphabet = 3), "alphabet")
  fails(k_string(match_weights = 1:2), "names")
  fails(k_string(gap_weights = c(a = 2)), "gap_weights")
  fails(k_string("gap_count", gap_weights = c(a = 0.5)), "gapped")
  fails(k_string(length_weights = c(1, 2)), "weights of lengths")
  fails(k_string("spectrum", method = "dense"), "auto")
  fails(k_string(frob = 1), "frob")
  fails(kernel_matrix(k_string(), 1:3), "objects")
  fails(kernel_matrix(k_string(), c("a", NA)), "NA")
  fails(kernel_matrix(k_string(), list(c("a", NA))), "NA")
  fails(kernel_matrix(k_string(), list(quote(a))), "tokens")
  fails(string_features("abc", k_string()), "max_gap")
  fails(string_features("abc", k_se()), "k_string")
  fails(string_tokens(list("a")), "texts")
  expect_warning(k_string(length = 60), "50")
})
