#' The moral graph of a linear causal model
#'
#' Estimates the undirected graph that joins parents with children and parents of a common child: the support of the inverse covariance
#' matrix, for
#' linear models with
#' any distribution of the errors.
#'
#' @details
#' `"inverse"` inverts the covariance (n > p) and keeps pairs whose partial correlation differs from zero at level `alpha` (Fisher's z),
#' or exceeds
#' `threshold`. `"glasso"`
#' and `"nodewise"` are for p near or above n: [ggm_lasso()], and [ggm_neighbors()] with the rule "or", on the correlation scale. `"auto"`
#' inverts
#' if there are at least ten observations more than variables. A missing edge cannot be repaired by the search that follows, while one too
#' many only
#' costs time, so `lambda` is
#' chosen by BIC rather than by a stricter criterion. Without `n` the matrix counts as the population covariance, and entries of its
#' inverse above
#' rounding are edges.
#'
#' @inheritParams causal_dag
#' @param method The estimator; see Details.
#' @param lambda Penalty of the lasso, a number on the correlation scale, or how to choose it: `"bic"` (default), `"ebic"`, `"cv"` or
#'   `"stars"` (the
#'   last two need data).
#' @param alpha Level of the tests.
#' @param threshold Keep pairs whose absolute partial correlation is above this, instead of testing (`"inverse"`), or in addition to the
#'   lasso. `NULL`
#'   for none.
#' @param threshold_on What `threshold` is compared with: `"partial"` correlations, or the entries of the inverse covariance itself
#'   (`"precision"`,
#'   the paper's rule with
#'   a threshold of the order of \eqn{\sqrt{p/n}}{sqrt(p / n)}), which has the units of the data.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An undirected [graph][as_graph].
#' @section Which method when: the undirected graph alone, or with noise or missing values whose law is known.
#'   [causal_dag()] estimates it by itself; [ggm_lasso()] when no DAG is in question.
#' @seealso [causal_dag()], [best_dag()], [causal_dag_bounds()], [causal_dag_alternatives()], [pc()], [fci()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_dag(8, n = 400, weights = c(0.5, 1))
#' moral_graph(sim$data)
#' assess(moral_graph(sim$data), graph_convert(sim$graph, "moral"))
moral_graph <- function(x = NULL, S = NULL, n = NULL, method = c("auto", "inverse", "glasso", "nodewise"), lambda = NULL, alpha = 0.01,
                        threshold = NULL,
                        threshold_on = c("partial", "precision"), noise_cov = NULL, missing = c("error", "mcar", "pairwise"), threads = NULL, ...) {
  refuse_dots(...)
  data <- dag_input(x, S, n, noise_cov, check_choice(missing, c("error", "mcar", "pairwise")))
  alpha <- check_number(alpha, lower = 0, upper = 1, strict_lower = TRUE)
  threshold <- check_threshold(threshold, threshold_on)
  method <- check_choice(method, c("auto", "inverse", "glasso", "nodewise"))
  m <- estimate_moral(data, method, lambda, alpha, threshold, thread_count(threads))
  at <- which(m & upper.tri(m), arr.ind = TRUE)
  new_graph(colnames(data$S), cbind(at, rep(1L, nrow(at)), rep(1L, nrow(at))), "undirected")
}

# NULL, or the value and whether it stands for entries of the inverse covariance.
check_threshold <- function(value, on) {
  on <- check_choice(on, c("partial", "precision"), "threshold_on")
  if (is.null(value)) return(NULL)
  list(value = check_number(value, "threshold", lower = 0, upper = if (on == "partial") 1 else 1e300), precision = on == "precision")
}

estimate_moral <- function(data, method, lambda, alpha, threshold, threads) {
  p <- ncol(data$S)
  n <- data$n
  scale <- sqrt(diag(data$S))
  R <- data$S / outer(scale, scale)
  diag(R) <- 1
  check_lambda(lambda)
  if (p == 1L) return(matrix(FALSE, 1L, 1L))
  if (method == "auto") method <- if (is.null(n) || n - p >= 10) "inverse" else "glasso"
  theta <- if (method == "inverse") {
    if (!is.null(n) && n <= p + 1L && is.null(threshold)) {
      abort_input(sprintf("moral = \"inverse\" needs more observations than variables plus one, not %d and %d.\nUse \"glasso\" or \"nodewise\".",
                          n, p), "moral")
    }
    inverse <- core_definite_inverse(R)
    singular <- is.null(inverse) || max(diag(inverse)) > 1e10
    if (singular && (is.null(inverse) || is.null(n))) {
      warn_input("The covariance matrix is singular: some variables are linear functions of others, and all pairs count as possible edges.", "x")
      return(!diag(p))
    }
    inverse
  } else {
    lasso_precision(data, R, method, lambda, threads)
  }
  partial <- abs(theta) / sqrt(outer(diag(theta), diag(theta)))
  keep <- if (!is.null(threshold)) {
    (if (threshold$precision) abs(theta) / outer(scale, scale) else partial) > threshold$value
  } else if (method == "inverse" && !is.null(n)) {
    atanh(pmin(partial, 1 - 1e-15)) * sqrt(max(n - p - 1, 1)) > stats::qnorm(1 - alpha / 2)
  } else if (method == "inverse") {
    partial > 1e-8
  } else {
    partial > 0
  }
  diag(keep) <- FALSE
  unname(keep | t(keep))
}

check_lambda <- function(lambda) {
  if (is.null(lambda)) return(invisible())
  if (is.character(lambda)) check_choice(lambda, c("bic", "ebic", "cv", "stars")) else check_number(lambda, lower = 0)
  invisible()
}

lasso_precision <- function(data, R, method, lambda, threads) {
  by <- if (is.null(lambda)) "bic" else if (is.character(lambda)) check_choice(lambda, c("bic", "ebic", "cv", "stars"))
  lambda <- if (is.null(by)) check_number(lambda, lower = 0)
  if (is.null(data$n) && !is.null(by)) abort_input("Choosing `lambda` needs the number of observations: pass `n`, or a number for `lambda`.", "n")
  needs_data <- !is.null(by) && by %in% c("cv", "stars")
  if (needs_data && (is.null(data$x) || anyNA(data$x))) {
    abort_input(sprintf("lambda = \"%s\" needs complete data; use \"bic\", \"ebic\" or a number.", by), "lambda")
  }
  path <- function(...) if (method == "glasso") ggm_lasso(..., penalize_diagonal = FALSE, threads = threads) else ggm_neighbors(..., rule = "or",
                                                                                                                                threads = threads)
  dimnames(R) <- dimnames(data$S)
  if (is.null(lambda)) {
    # Below about half of sqrt(log p / n) noise alone makes edges, and the lasso becomes slow; with few rows sooner.
    top <- max(abs(R[upper.tri(R)]), 1e-8)
    lambda <- exp(seq(log(top), log(min(0.9 * top, (if (data$n < 30) 0.8 else 0.5) * sqrt(log(max(ncol(R), 2L)) / data$n))), length.out = 15L))
  }
  fit <- if (needs_data) path(scale(data$x), lambda = lambda) else path(S = R, n = data$n, lambda = lambda)
  if (!is.null(by)) fit <- ggm_select(fit, criterion = by)$fit
  as.matrix(fit$precision)
}
