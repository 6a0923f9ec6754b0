#' Data with few relevant features
#'
#' The simulated experiments of Wolf and Shashua (2005): samples in clusters or classes that only some features know about.
#'
#' @details
#' * `"clusters"`: `clusters` centres uniform on \eqn{[-1, 1]^5}{[-1, 1]^5}, a diagonal covariance per cluster with variances uniform on (0, 0.02),
#'   `ceiling(n / clusters)` samples each; `noise` more coordinates made alike, each then permuted over the samples.
#' * `"weston_linear"`: 6 relevant of 202. Class \eqn{y = \pm 1}{y = -1 or 1}; with probability 0.7 \eqn{x_i = yN(i, 1)} for \eqn{i = 1, 2, 3} and
#'   \eqn{x_4, x_5, x_6} are \eqn{N(0, 1)}, otherwise the other way round. The rest is \eqn{N(0, 20)}, a variance.
#' * `"weston_nonlinear"`: 2 relevant of 52, each class a mixture of two normals: \eqn{(-3/4, -3)} and \eqn{(3/4, 3)} for one,
#'   \eqn{(3, -3)} and \eqn{(-3, 3)} for the other.
#' * `"bendor"`: expression profiles of Ben-Dor et al. (2001): 25 samples of class A for each 47 of class B, 600 features of which the share
#'   `irrelevant` is \eqn{N(0, s)}
#'   and the others have means \eqn{\mu_A, \mu_B}{mu_A, mu_B} uniform on \eqn{[-1.5d, 1.5d]} with \eqn{d = 555} and standard deviations
#'   \eqn{|\mu|s}{|mu| s}.
#' * `"sessions"`: 3 clusters, 12 relevant of 60 features, means uniform on \eqn{[0, 1]}, variances uniform on \eqn{[\lambda, 2\lambda]}{[lambda, 2
#'   lambda]};
#'   the sign of every feature changes at random every 8 samples, so that correlations vanish; `kernel = "blocks"` of [q_alpha()] is for them.
#'
#' @section Which method when: To try [q_alpha()] and [q_alpha_baseline()] where the relevant features are known.
#'
#' @param design The experiment.
#' @param n Number of samples; `NULL` for that of the paper (60, 100, 100, 72, 120). `"bendor"` splits them 25 : 47.
#' @param clusters,noise Number of clusters and of irrelevant features for `"clusters"`.
#' @param irrelevant,spread Share of irrelevant features and \eqn{s} for `"bendor"`.
#' @param lambda Scale of the variances for `"sessions"`.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list with `x` (samples x features), `labels` (a factor) and `relevant` (names of the relevant features).
#' @references
#' Wolf and Shashua (2005). *Journal of Machine Learning Research* 6, 1855--1887, Section 6.
#'
#' Weston, Mukherjee, Chapelle, Pontil, Poggio and Vapnik (2001). Feature selection for SVMs. *Advances in Neural Information Processing Systems* 13.
#' @seealso [q_alpha()], [q_alpha_select()], [q_alpha_baseline()], [q_alpha_bounds()], [lasso()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_q_alpha("bendor")
#' fit <- q_alpha(sim$x, k = 2)
#' mean(names(coef(q_alpha_select(fit, "top", n = 50))) %in% sim$relevant)
sim_q_alpha <- function(design = c("clusters", "weston_linear", "weston_nonlinear", "bendor", "sessions"), n = NULL, clusters = 3, noise = 120,
                       irrelevant = 0.72, spread = 0.75, lambda = 0.001, ...) {
  refuse_dots(...)
  design <- check_choice(design, c("clusters", "weston_linear", "weston_nonlinear", "bendor", "sessions"))
  n <- check_count(n, lower = 2, upper = 1e7, allow_null = TRUE)
  clusters <- check_count(clusters, upper = 1e5)
  noise <- check_count(noise, lower = 0, upper = 1e6)
  irrelevant <- check_number(irrelevant, lower = 0, upper = 1)
  spread <- check_number(spread, lower = 0, upper = 1e100)
  lambda <- check_number(lambda, lower = 0, upper = 1e100)
  if (is.null(n)) n <- switch(design, clusters = 60L, weston_linear = , weston_nonlinear = 100L, bendor = 72L, sessions = 120L)
  sim <- switch(design,
    clusters = sim_clusters(n, clusters, noise), weston_linear = sim_weston_linear(n), weston_nonlinear = sim_weston_nonlinear(n),
    bendor = sim_bendor(n, irrelevant, spread), sessions = sim_sessions(n, lambda)
  )
  colnames(sim$x) <- paste0("V", seq_len(ncol(sim$x)))
  list(x = sim$x, labels = factor(sim$labels), relevant = colnames(sim$x)[sim$relevant])
}

permute_columns <- function(x) {
  if (ncol(x) == 0L) return(x)
  matrix(apply(x, 2L, function(column) column[sample.int(length(column))]), nrow(x))
}

sim_clusters <- function(n, clusters, noise) {
  labels <- rep(seq_len(clusters), each = ceiling(n / clusters))
  coordinates <- function(p) {
    centre <- matrix(stats::runif(clusters * p, -1, 1), clusters)
    sd <- sqrt(matrix(stats::runif(clusters * p, 0, 0.02), clusters))
    centre[labels, , drop = FALSE] + sd[labels, , drop = FALSE] * stats::rnorm(length(labels) * p)
  }
  list(x = cbind(coordinates(5L), permute_columns(coordinates(noise))), labels = labels, relevant = 1:5)
}

sim_weston_linear <- function(n) {
  y <- sample(c(-1, 1), n, replace = TRUE)
  first <- stats::runif(n) < 0.7
  informative <- matrix(stats::rnorm(3 * n, rep(1:3, each = n)), n) * y
  blank <- matrix(stats::rnorm(3 * n), n)
  x <- cbind(ifelse(first, 1, 0) * informative + ifelse(first, 0, 1) * blank, ifelse(first, 0, 1) * informative + ifelse(first, 1, 0) * blank)
  list(x = cbind(x, matrix(stats::rnorm(196 * n, sd = sqrt(20)), n)), labels = y, relevant = 1:6)
}

sim_weston_nonlinear <- function(n) {
  y <- sample(c(-1, 1), n, replace = TRUE)
  side <- sample(c(-1, 1), n, replace = TRUE)
  centre <- ifelse(y < 0, 1, 0) * cbind(0.75 * side, 3 * side) + ifelse(y > 0, 1, 0) * cbind(3 * side, -3 * side)
  list(x = cbind(centre + stats::rnorm(2 * n), matrix(stats::rnorm(50 * n, sd = sqrt(20)), n)), labels = y, relevant = 1:2)
}

sim_bendor <- function(n, irrelevant, s, m = 600L, d = 555) {
  first <- max(1, min(n - 1, round(n * 25 / 72)))
  labels <- rep(c("A", "B"), c(first, n - first))
  relevant <- m - round(irrelevant * m)
  mu <- matrix(stats::runif(2 * relevant, -1.5 * d, 1.5 * d), 2L)
  mean <- mu[ifelse(labels == "A", 1L, 2L), , drop = FALSE]
  x <- cbind(mean + abs(mean) * s * stats::rnorm(length(mean)), matrix(stats::rnorm(n * (m - relevant), sd = s), n))
  list(x = x, labels = labels, relevant = seq_len(relevant))
}

sim_sessions <- function(n, lambda) {
  labels <- sort(rep_len(1:3, n))
  coordinates <- function(p) {
    centre <- matrix(stats::runif(3 * p), 3L)
    sd <- sqrt(matrix(stats::runif(3 * p, lambda, 2 * lambda), 3L))
    centre[labels, , drop = FALSE] + sd[labels, , drop = FALSE] * stats::rnorm(n * p)
  }
  x <- cbind(coordinates(12L), permute_columns(coordinates(48L)))
  session <- (seq_len(n) - 1L) %/% 8L + 1L
  sign <- matrix(sample(c(-1, 1), max(session) * 60L, replace = TRUE), max(session))
  list(x = x * sign[session, , drop = FALSE], labels = labels, relevant = 1:12)
}
