# Rscript k_string.R <file for the results, .rds> [extended]
#
# Times kernel matrices of texts beside kernlab's stringdot and, where it is installed, kebabs: CPU seconds on one
# thread. Texts are random words, DNA random
# letters. `difference` is the largest difference of the normalised matrices. kernlab also matches the
# end mark it puts behind each text, so
# there our texts have one too. Its "string" and "fullstring" kernels know no gaps, whatever their name: for gapped
# kernels there is no peer, and
# `check` is the largest difference from the sum over all choices of places, on short texts.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
options(granary.threads = 1)

texts <- function(n, length) {
  set.seed(1)
  vocabulary <- replicate(2000, paste(sample(letters, sample(2:9, 1), TRUE), collapse = ""))
  replicate(n, paste(sample(vocabulary, length / 6, TRUE, prob = 1 / seq_along(vocabulary)), collapse = " "))
}
dna <- function(n, length) {
  set.seed(2)
  replicate(n, paste(sample(c("A", "C", "G", "T"), length, TRUE), collapse = ""))
}
rows <- list()
add <- function(...) {
  rows[[length(rows) + 1L]] <<- data.frame(...)
  print(rows[[length(rows)]], digits = 3, row.names = FALSE)
  if (!is.na(output)) saveRDS(do.call(rbind, rows), output)
}
compare <- function(what, x, ours, peer, theirs, marked = x) {
  mine <- kernel_matrix(ours, marked)
  a <- stats::median(replicate(3, cpu(kernel_matrix(ours, marked))))
  b <- cpu(other <- theirs(x))
  add(what = what, n = length(x), characters = mean(nchar(x)), peer = peer, seconds = a, peer_seconds = b,
      ratio = b / a, difference = max(abs(mine - other)))
}
size <- if (extended) 400 else 120
invisible(kernel_matrix(k_string("spectrum"), texts(2, 60)))  # what R compiles at the first call is not timed
if (requireNamespace("kernlab", quietly = TRUE)) {
  kernlab_matrix <- function(...) function(x) kernlab::kernelMatrix(kernlab::stringdot(..., normalized = TRUE),
                                                                    as.list(x))@.Data
  x <- texts(size, 600)
  for (p in c(3, 5)) compare(sprintf("grams of %d", p), x, k_string("spectrum", p), "kernlab",
                             kernlab_matrix(type = "spectrum", length = p), paste0(x, "\n"))
  compare("grams up to 4", x, k_string("spectrum", c(1, 4)), "kernlab", kernlab_matrix(type = "boundrange", length = 4),
          x)
}
if (requireNamespace("kebabs", quietly = TRUE)) {
  x <- dna(size, 1000)
  kebabs_matrix <- function(kernel) function(x) unclass(kebabs::getKernelMatrix(kernel, Biostrings::DNAStringSet(x)))
  compare("DNA, grams of 6", x, k_string("spectrum", 6, alphabet = "dna"), "kebabs",
          kebabs_matrix(kebabs::spectrumKernel(k = 6)))
  compare("DNA, mismatch 5, 1", x, k_string("mismatch", 5, alphabet = "dna"), "kebabs",
          kebabs_matrix(kebabs::mismatchKernel(k = 5, m = 1)))
}
brute <- function(s, t, q, lambda) {
  phi <- function(s) {
    at <- utils::combn(length(s), q)
    tapply(lambda^(at[q, ] - at[1, ] + 1 - q), apply(at, 2, function(i) paste(s[i], collapse = " ")), sum)
  }
  a <- phi(s)
  b <- phi(t)
  shared <- intersect(names(a), names(b))
  sum(a[shared] * b[shared])
}
for (p in c(3, 5)) {
  x <- texts(size, 600)
  set.seed(3)
  short <- replicate(2, sample(letters[1:4], 12, TRUE), simplify = FALSE)
  check <- abs(kernel_matrix(k_string(length = p, normalize = FALSE), short)[1, 2] / brute(short[[1]], short[[2]], p,
      0.5) - 1)
  for (token in c("character", "word")) {
    seconds <- cpu(kernel_matrix(k_string(length = p, token = token), x))
    add(what = sprintf("gapped, %d, %ss", p, token), n = length(x), characters = mean(nchar(x)), peer = "none",
        seconds = seconds, peer_seconds = NA, ratio = NA,
        difference = check)
  }
}
