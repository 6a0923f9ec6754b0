# Times vmf_mixture() and spherical_kmeans() against movMF and skmeans on sparse documents. Rscript vmf_mixture.R [output.rds]
#
# CPU seconds of one thread. Documents are drawn from topics over words of falling frequency and weighted by tf-idf. Mixtures start from the same labels, with
# the same tolerance on the likelihood; `value` is the log-likelihood over that of the uniform law for mixtures, the sum of cosines for partitions. Memory of
# movMF is that of dense memberships, as here. With several starts of its own each method keeps its best.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
library(Matrix)

rows <- list()
note <- function(setting, method, seconds, ours, value, iterations, nmi) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = seconds, ratio = seconds / ours, value = formatC(value, digits = 9L, format = "g"), iterations = iterations, nmi = nmi)
  print(rows[[length(rows)]], row.names = FALSE)
}

# Topics share most words; `lift` is how much more frequent a topic's own words are in it.
documents <- function(n, d, k, words, lift) {
  base <- 1 / (seq_len(d) + 10)
  topic <- lapply(seq_len(k), function(h) base * ifelse(runif(d) < 0.05, lift, 1))
  z <- sample(k, n, TRUE)
  count <- pmax(10L, rpois(n, words))
  j <- unlist(lapply(seq_len(n), function(i) sample.int(d, count[i], TRUE, topic[[z[i]]])))
  x <- sparseMatrix(i = rep(seq_len(n), count), j = j, x = 1, dims = c(n, d))
  x <- x[, colSums(x) > 0]
  x <- x %*% Diagonal(x = log(n / colSums(x > 0)))
  list(x = as(Diagonal(x = 1 / sqrt(rowSums(x^2))) %*% x, "CsparseMatrix"), cluster = z)
}

for (size in list(c(20000, 5000, 10, 80, 20), c(20000, 8000, 20, 60, 6))) {
  set.seed(1)
  sim <- documents(size[1L], size[2L], size[3L], size[4L], size[5L])
  x <- sim$x
  k <- size[3L]
  setting <- sprintf("%d documents, %d words, %.2g entries, k = %d", nrow(x), ncol(x), length(x@x), k)
  labels <- sample(k, nrow(x), TRUE)
  uniform <- nrow(x) * vmf_bounds("constant", kappa = 0, d = ncol(x))
  nmi <- function(cluster) cluster_agreement(cluster, sim$cluster)$nmi
  seconds <- cpu(fit <- vmf_mixture(x, k, start = labels, tol = 1e-8))
  note(setting, "vmf_mixture()", seconds, seconds, fit$loglik - uniform, fit$convergence$iterations, nmi(fit))
  if (has("movMF")) {
    y <- slam::as.simple_triplet_matrix(x)
    used <- cpu(theirs <- movMF::movMF(y, k, start = list(labels), kappa = "Newton_Fourier", reltol = 1e-8, maxiter = 500))
    note(setting, "movMF::movMF()", used, seconds, theirs$L, theirs$iter, nmi(predict(theirs)))
  }
  set.seed(2)
  seconds5 <- cpu(fit5 <- vmf_mixture(x, k, start = "plusplus", n_starts = 5))
  note(setting, "vmf_mixture(), 5 starts of its own", seconds5, seconds5, fit5$loglik - uniform, fit5$convergence$iterations, nmi(fit5))
  if (has("movMF")) {
    set.seed(2)
    used <- cpu(theirs <- movMF::movMF(y, k, nruns = 5, kappa = "Newton_Fourier", reltol = 1e-8, maxiter = 500))
    note(setting, "movMF::movMF(), 5 starts of its own", used, seconds5, theirs$L, theirs$iter, nmi(predict(theirs)))
  }
  seconds <- cpu(hard <- vmf_mixture(x, k, type = "hard", start = labels))
  note(setting, "vmf_mixture(type = \"hard\")", seconds, seconds, hard$objective - uniform, hard$convergence$iterations, nmi(hard))
  if (has("movMF")) {
    used <- cpu(theirs <- movMF::movMF(y, k, start = list(labels), kappa = "Newton_Fourier", E = "hardmax", reltol = 1e-8, maxiter = 500))
    note(setting, "movMF::movMF(), hard", used, seconds, theirs$L, theirs$iter, nmi(predict(theirs)))
  }
  set.seed(3)
  seconds <- cpu(means <- spherical_kmeans(x, k, n_starts = 3))
  note(setting, "spherical_kmeans(), 3 starts", seconds, seconds, means$objective, means$convergence$iterations, nmi(means))
  if (has("skmeans")) {
    set.seed(3)
    used <- cpu(theirs <- skmeans::skmeans(y, k, method = "pclust", control = list(nruns = 3)))
    note(setting, "skmeans::skmeans(), pclust, 3 starts", used, seconds, nrow(x) - theirs$value, NA, nmi(theirs$cluster))
  }
}
saveRDS(do.call(rbind, rows), output)
