# Calculators of the paper on feature weights.

#' What theory says about feature weights
#'
#' How much irrelevant features can weigh in a [q_alpha()] fit, the moments of noise behind that, and how often the weights come out with one sign.
#'
#' @details
#' `"irrelevant"`: if these features are the rows of \eqn{M_2}, then
#' \eqn{\sum_{irrelevant} \alpha_i \le \sqrt{\|M_2M_2'\|_F^2 / \lambda}}{sum of their weights <= sqrt(||M2 M2'||_F^2 / lambda)} with
#' \eqn{\lambda}{lambda} the objective (Lemma 13 of the paper). For \eqn{n_2} unrelated features over \eqn{q} samples the squared norm is about
#' \eqn{n_2(1 + n_2/q)}{n2 (1 + n2 / q)}: `random_norm`.
#'
#' `"moment"`: \eqn{m_k = \sum_{j<k} \frac{(n/q)^j}{j + 1} {k \choose j}{k - 1 \choose j}}{m_k = sum_(j < k) (n/q)^j / (j + 1) choose(k, j)
#' choose(k - 1, j)} is the mean of the \eqn{k}-th powers of the eigenvalues of \eqn{XX'/q} for an \eqn{n \times q}{n x q} matrix \eqn{X} of noise
#' (Narayana numbers).
#'
#' `"positivity"`: how often the leading eigenvector of a symmetric matrix with independent normal entries has one sign, by simulation (Theorem 10,
#' Figure 2a).
#'
#' @section Which method when: `"irrelevant"` to judge a fit; the other two explain why weights come out positive and sparse.
#'
#' @param what Which calculator.
#' @param ... Its arguments.
#'
#'   `"irrelevant"`: `fit`, a [q_alpha()] fit; `x`, the data it was made of; `irrelevant`, names or positions of the features taken to be irrelevant, `NULL` for
#'   those that [q_alpha_select()] with rule `"drop"` leaves out.
#'
#'   `"moment"`: `order`, the power \eqn{k}; `ratio`, number of rows over number of columns, \eqn{n/q}.
#'
#'   `"positivity"`: `n`, size of the matrix; `mean` (1/6) and `sd` (sqrt(2)/6) of its entries; `n_rep` (1000), the number of matrices; `threads`.
#' @return `"irrelevant"` a data frame with one row: number of irrelevant features, the sum of their weights, the bound on it, the squared norm and its value
#'   for noise; the others a number.
#' @references
#' Wolf and Shashua (2005). *Journal of Machine Learning Research* 6, 1855--1887, Sections 4 and 6.
#' @seealso [q_alpha()], [q_alpha_select()], [q_alpha_baseline()], [lasso()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_q_alpha("clusters", clusters = 3)
#' fit <- q_alpha(sim$x, k = 3, n_starts = 3)
#' q_alpha_bounds("irrelevant", fit, sim$x, irrelevant = 6:125)
#' q_alpha_bounds("moment", order = 2, ratio = 120 / 60)
#' q_alpha_bounds("positivity", n = 20, n_rep = 100)
q_alpha_bounds <- function(what = c("irrelevant", "moment", "positivity"), ...) {
  by_what(what, list(irrelevant = irrelevant_bound, moment = narayana_moment, positivity = positivity_probability), ...)
}

check_q_alpha <- function(fit, arg = "fit") {
  if (missing(fit)) fail_missing(arg)
  if (!inherits(fit, "granary_q_alpha") || inherits(fit, "granary_q_alpha_baseline")) fail_input(arg, "a fit of q_alpha()", describe(fit))
  check_fit(fit)
}

irrelevant_bound <- function(fit, x, irrelevant = NULL) {
  check_q_alpha(fit)
  if (missing(x)) fail_missing("x")
  x <- new_design(x, names(fit$weights), arg = "x", allow_sparse = FALSE)
  inside <- if (is.null(irrelevant)) !names(fit$weights) %in% suggested_features(fit) else check_features(irrelevant, fit$weights, "irrelevant")
  if (!any(inside)) abort_input("`irrelevant` must name at least one feature.", "irrelevant")
  if (!is.null(fit$kernel) || !is.null(fit$labels) || fit$criterion != "energy" || fit$spectrum != "standard") {
    abort_input("The bound holds for fits without labels and kernel, with criterion = \"energy\" and spectrum = \"standard\".", "fit")
  }
  m <- sweep(sweep(x[, inside, drop = FALSE], 2L, fit$centre[inside]), 2L, fit$scale[inside], `/`)
  m[, names(fit$weights)[inside] %in% fit$dropped] <- 0
  squared_norm <- sum(tcrossprod(m)^2)
  n2 <- sum(inside)
  data.frame(irrelevant = n2, weight = sum(fit$weights[inside]), bound = sqrt(squared_norm / fit$objective), squared_norm = squared_norm,
             random_norm = n2 * narayana_moment(2, n2 / nrow(x)))
}

narayana_moment <- function(order, ratio) {
  order <- check_count(order, upper = 500)
  ratio <- check_number(ratio, lower = 0)
  j <- seq_len(order) - 1
  sum(ratio^j / (j + 1) * choose(order, j) * choose(order - 1, j))
}

positivity_probability <- function(n, mean = 1 / 6, sd = sqrt(2) / 6, n_rep = 1000, threads = NULL) {
  n <- check_count(n, upper = 20000)
  mean <- check_number(mean)
  sd <- check_number(sd, lower = 0)
  n_rep <- check_count(n_rep, upper = 1e7)
  threads <- thread_count(threads)
  core_positivity_share(list(n = n, mean = mean, sd = sd, replicates = n_rep, threads = threads), core_seed(), progress_bar("simulation"))
}
