#' Simulated labels
#'
#' Label vectors from the laws of the paper's experiments and theorems, with columns that say something about them where
#' asked for.
#'
#' @details
#' * `"independent"`: \eqn{P(y_i = 1) = 1/(1 + e^{-w_i})} with \eqn{w_i} normal of mean 0.
#' * `"chain"`: logit \eqn{P(y_i = 1 | y_1, \ldots, y_{i-1}) = \sum_{j < i} 2 w_{ij} (y_j - 1/2) + w_{i0}} with \eqn{w}
#'   normal of mean 1. With 25 labels most are 1.
#' * `"all_or_none"`: no label with probability `prob`, all of them otherwise (the law behind Theorem 5).
#' * `"subset"`: uniform on the empty vector and those with \eqn{m - 2} or more ones: the worst case of Theorem 2.
#' * `"threshold"`: the law behind Theorem 7, with an even \eqn{m}: the first label alone with probability 1/2 less a
#'   hair, otherwise the second label with the first or the second half of the others.
#'
#' The paper writes N(0, 3) and N(1, 3); `sd` is the standard deviation, by default the root of 3. With `p > 0` columns
#' there are `x`, standard normal, whose products with normal vectors are added to the logits of `"independent"` and
#' `"chain"`.
#'
#' @section Which method when:
#' For trying [f_decide()], [multilabel()] and [f_regret()].
#'
#' @param n Number of rows.
#' @param m Number of labels.
#' @param type Which law.
#' @param p Number of columns of `x`.
#' @param sd Standard deviation of the weights.
#' @param prob For `"all_or_none"`: probability of the empty vector.
#' @return A list: `y` (0/1, n x m), `x` where `p > 0`, `prob` (marginal probabilities, where they have a formula), and
#'   for laws with few vectors `law`, a list of all `y` and their `prob`.
#' @inherit f_decide references
#' @seealso [multilabel()], [f_decide()], [f_regret()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_multilabel(100, m = 4, type = "subset")
#' f_regret(sim$law$y, weights = sim$law$prob)
sim_multilabel <- function(n = 100, m = 25, type = c("independent", "chain", "all_or_none", "subset", "threshold"),
                           p = 0, sd = sqrt(3), prob = 0.5) {
  n <- check_count(n)
  m <- check_count(m, upper = 1e4)
  type <- check_choice(type, c("independent", "chain", "all_or_none", "subset", "threshold"))
  p <- check_count(p, lower = 0, upper = 1e4)
  sd <- check_number(sd, lower = 0)
  prob <- check_number(prob, lower = 0, upper = 1)
  if (p > 0L && !type %in% c("independent", "chain")) {
    abort_input("Only \"independent\" and \"chain\" have columns `x`.", "p")
  }
  names <- paste0("y", seq_len(m))
  if (type %in% c("independent", "chain")) return(sim_logits(n, m, type, p, sd, names))
  law <- switch(type, all_or_none = list(y = rbind(rep(0, m), rep(1, m)), prob = c(prob, 1 - prob)),
                subset = law_subset(m), threshold = law_threshold(m))
  colnames(law$y) <- names
  drawn <- law$y[sample.int(nrow(law$y), n, replace = TRUE, prob = law$prob), , drop = FALSE]
  list(y = drawn, prob = drop(crossprod(law$y, law$prob)), law = law)
}

sim_logits <- function(n, m, type, p, sd, names) {
  x <- matrix(stats::rnorm(n * p), n, p, dimnames = list(NULL, if (p > 0L) paste0("x", seq_len(p))))
  shift <- x %*% matrix(stats::rnorm(p * m), p, m)
  y <- matrix(0, n, m, dimnames = list(NULL, names))
  if (type == "independent") {
    w <- stats::rnorm(m, 0, sd)
    y[] <- stats::runif(n * m) < stats::plogis(sweep(shift, 2L, w, `+`))
    return(c(list(y = y), if (p > 0L) list(x = x) else list(prob = stats::setNames(stats::plogis(w), names))))
  }
  for (i in seq_len(m)) {
    w <- stats::rnorm(i, 1, sd)
    before <- if (i > 1L) drop(2 * (y[, seq_len(i - 1L), drop = FALSE] - 0.5) %*% w[-1L]) else 0
    y[, i] <- stats::runif(n) < stats::plogis(before + w[1L] + shift[, i])
  }
  c(list(y = y), if (p > 0L) list(x = x))
}

law_subset <- function(m) {
  if (m > 500L) abort_input("type = \"subset\" lists all its vectors: `m` must be at most 500.", "m")
  y <- matrix(1, 1L + m + choose(m, 2), m)
  y[cbind(1L + seq_len(m), seq_len(m))] <- 0
  if (m > 1L) {
    pairs <- utils::combn(m, 2L)
    at <- 1L + m + seq_len(ncol(pairs))
    y[cbind(rep(at, each = 2L), as.vector(pairs))] <- 0
  }
  y <- unique(rbind(0, y))
  list(y = y, prob = rep(1 / nrow(y), nrow(y)))
}

law_threshold <- function(m) {
  if (m < 4L || m %% 2L == 1L) abort_input("type = \"threshold\" needs an even `m` of at least 4.", "m")
  half <- (m - 2L) / 2L
  y <- rbind(c(1, rep(0, m - 1L)), c(0, 1, rep(1, half), rep(0, half)), c(0, 1, rep(0, half), rep(1, half)))
  list(y = y, prob = c(0.5 - 1e-6, 0.25 + 5e-7, 0.25 + 5e-7))
}
