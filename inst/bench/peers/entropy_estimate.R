# Times entropy_estimate() and good_turing() against the packages entropy, EntropyEstimation, iNEXT, vegan and edgeR. Rscript entropy_estimate.R [output.rds]
#
# CPU seconds of one thread. No package on CRAN computes NSB or Pitman-Yor mixtures itself: entropy::entropy.NSB() calls a program that has to be installed beside it. Their
# nearest routes are timed instead: entropy.ChaoShen(), entropy.shrink() and entropy.Dirichlet(), of the same counts, and Entropy.z() of EntropyEstimation. The reference
# "NSB in R" is the integral written with integrate() over the whole vector of counts, as a user without granary would write it. `value` is the estimate, in nats.
#
# On a small sample a call of ours takes some four times as long as a closed form of `entropy`: the C++ takes 13 microseconds (Chao-Shen, first sample), the rest is R, where arguments are
# checked and a fit with its call and its seal is made. With a million symbols ours is faster though it adds a standard deviation, which theirs do not have.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

note <- value_table()

nsb_in_r <- function(y) {
  a <- length(y)
  n <- sum(y)
  evidence <- function(b) lgamma(a * b) - lgamma(n + a * b) + sum(lgamma(y + b) - lgamma(b))
  mean_given <- function(b) digamma(n + a * b + 1) - sum((y + b) / (n + a * b) * digamma(y + b + 1))
  prior <- function(b) a * trigamma(a * b + 1) - trigamma(b + 1)
  grid <- exp(seq(-12, 12, length.out = 60))
  top <- max(vapply(grid, evidence, 0))
  f <- function(s, h) vapply(exp(s), function(b) exp(evidence(b) - top) * prior(b) * b * (if (h) mean_given(b) else 1), 0)
  integrate(f, -12, 12, h = TRUE, rel.tol = 1e-6, subdivisions = 500)$value / integrate(f, -12, 12, h = FALSE, rel.tol = 1e-6, subdivisions = 500)$value
}

settings <- list(
  `1000 symbols of a Zipf law, 5000 draws` = function() sim_unigram(5000, vocabulary = 1000)$counts,
  `10^6 symbols of a Zipf law, 5 10^6 draws` = function() sim_unigram(5e6, vocabulary = 1e6)$counts,
  `10^6 different counts` = function() seq_len(1e6) + 0
)
for (setting in names(settings)) {
  set.seed(1)
  y <- settings[[setting]]()
  times <- if (length(y) > 1e5) 1L else 20L
  for (method in c("pym", "dpm", "nsb", "chao_shen", "shrink", "zhang")) {
    seconds <- timed(fit <- entropy_estimate(y, method), times)
    note(setting, sprintf("entropy_estimate(\"%s\")", method), seconds, seconds, fit$estimate)
    if (method == "nsb") {
      ours_nsb <- seconds
      used <- timed(value <- nsb_in_r(y), if (times > 1L) 2L else 1L)
      note(setting, "NSB in R, integrate()", used, ours_nsb, value)
    }
    if (method == "chao_shen" && has("entropy")) note(setting, "entropy::entropy.ChaoShen()", timed(value <- entropy::entropy.ChaoShen(y), times), seconds, value)
    if (method == "shrink" && has("entropy")) note(setting, "entropy::entropy.shrink()", timed(value <- entropy::entropy.shrink(y, verbose = FALSE), times), seconds, value)
    if (method == "zhang" && has("EntropyEstimation") && length(y) < 1e5) {
      note(setting, "EntropyEstimation::Entropy.z()", timed(value <- EntropyEstimation::Entropy.z(y[y > 0])), seconds, value)
    }
  }
  if (has("vegan") && length(y) < 1e5) {
    seconds <- timed(gt <- good_turing(y), times)
    note(setting, "good_turing(), coverage", seconds, seconds, gt$coverage)
    if (has("iNEXT")) note(setting, "iNEXT::DataInfo(), coverage", timed(info <- iNEXT::DataInfo(y[y > 0])), seconds, info$SC)
  }
}
saveRDS(note(), output)
