# Rousu and Shawe-Taylor (JMLR 6, 2005). Their corpora (Reuters syllables, Chinese RCV2) are not public in the form
# used; the synthetic comparison of the
# dense and the sparse algorithm is re-made: random strings, p = 10. Times are ratios of CPU seconds on the machine
# at hand.

# One claim per number.
claims <- function(text, paper, ours, tolerance, note = "") {
  for (i in seq_along(paper)) claim(paste0(text, " (", i, ")"), paper[i], ours[i], tolerance, note)
}

raw <- function(x, ...) kernel_matrix(k_string(..., normalize = FALSE), x)
cats <- c("the cat was chased by the fat dog", "the fat cat bit the dog")
words <- function(q, ...) raw(cats, length = q, token = "word", ...)[1, 2]
claims("Running example, lambda = 1: K_1 .. K_4 (enumerated independently)", c(7, 11, 6, 1),
       vapply(1:4, words, 0, lambda = 1), 1e-9, "reference")
claims("Running example, lambda = 0.5", c(7, 2.2822265625, 0.19921875, 0.015625), vapply(1:4, words, 0), 1e-9,
       "reference")
claims("Running example, gaps by number, lambda = 0.5", c(7, 4.75, 1.25, 0.0625),
       vapply(1:4, words, 0, type = "gap_count"), 1e-9, "reference")
claims("Running example, at most two skipped", c(7, 2, 0), vapply(1:3, words, 0, max_gap = 2), 1e-9, "reference")
claims("gatta and cata, lambda = 0.5: K_2, K_3", c(3.125, 1),
       vapply(2:3, function(q) raw(c("gatta", "cata"), length = q)[1, 2], 0), 1e-9, "reference")

# Each embedding counts once: K(u, s) with lambda = 1 for u the word itself.
count <- function(u) raw(c(tolower("The cat was chased by the fat dog"), u), length = nchar(u), lambda = 1)[1, 2]
claim("Section 2: embeddings of tea in the sentence", 7, count("tea"), 0, "an erratum: there are 9")
claim("Section 2: embeddings of ted", 5, count("ted"), 0, "an erratum: there are 9")
claim("Section 2: embeddings of dog", 2, count("dog"), 0)

seconds <- function(x, method) {
  k <- k_string(length = 10, normalize = FALSE, method = method)
  system.time(kernel_matrix(k, x))[["user.self"]]
}
random <- function(length, alphabet) replicate(if (extended) 20 else 8, sample.int(alphabet, length, TRUE),
                                               simplify = FALSE)
set.seed(1)
length <- if (extended) 4096 else 2048
large <- random(length, 1024)
claim(sprintf("Figure 7: sparse over dense time below 0.1 for %d tokens of 1024", length), TRUE,
      seconds(large, "sparse") < 0.1 * seconds(large, "dense"), 0,
      "CPU seconds")
small <- random(512, 2)
claim("Figure 7: dense is faster for two letters", TRUE, seconds(small, "sparse") > seconds(small, "dense"), 0,
      "CPU seconds")
claim("The two agree", 0,
      max(abs(raw(large, length = 10, method = "sparse") / raw(large, length = 10, method = "dense") - 1),
          na.rm = TRUE), 1e-9)
claim("Reuters syllables and Chinese characters: time against the density of matches", NA, NA, 0,
      "the corpora are not public")
