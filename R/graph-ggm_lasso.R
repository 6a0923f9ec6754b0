#' Graphical lasso with a certificate
#'
#' Estimates a sparse precision (inverse covariance) matrix, hence a conditional independence graph, by penalised Gaussian maximum
#' likelihood. Three solvers of the same problem, the proximal Newton method QUIC among them; every fit carries its duality gap, so the answer
#' need not be trusted on faith.
#'
#' @details
#' The estimate minimises over positive definite \eqn{X}
#' \deqn{f(X) = -\log\det X + \mathrm{tr}(S X) + \sum_{i,j} \Lambda_{ij} |X_{ij}|,}{f(X) = -log det X + tr(S X) + sum_ij Lambda_ij |X_ij|,}
#' the sum running over all ordered pairs, so that an edge is charged twice (the convention of `glasso`). The penalty is
#' \eqn{\Lambda = \lambda}{Lambda = lambda} times `weights`. At the optimum \eqn{W = X^{-1}}{W = X^-1} satisfies
#' \eqn{W_{ij} - S_{ij} = \Lambda_{ij}\,\mathrm{sign}(X_{ij})}{W_ij - S_ij = Lambda_ij sign(X_ij)} on the support and
#' \eqn{|W_{ij} - S_{ij}| \le \Lambda_{ij}}{|W_ij - S_ij| <= Lambda_ij} off it. The dual problem is
#' \eqn{\max \log\det V + p}{max log det V + p} subject to \eqn{|V_{ij} - S_{ij}| \le \Lambda_{ij}}{|V_ij - S_ij| <= Lambda_ij}. The
#' certificate takes the \eqn{V} nearest to \eqn{W} that satisfies every one of these conditions but \eqn{V = X^{-1}}{V = X^-1}. With
#' \eqn{r_i} the eigenvalues of \eqn{V X - I} and \eqn{t = \sum_i r_i^2 = \mathrm{tr}((VX-I)^2)}{t = sum r_i^2 = tr((V X - I)^2)}, the
#' difference of the two objectives is \eqn{\sum_i r_i - \log(1 + r_i) \le t / (2 (1 - \sqrt t))}{sum r_i - log(1 + r_i) <= t / (2 (1 - sqrt t))}:
#' that is `gap`, an upper bound on how far the objective is from its minimum, and `kkt` is the largest entry of
#' \eqn{|V X - I|}, variables in units of their standard deviations.
#'
#' Before any solver runs, the variables are split into the connected components of
#' \eqn{|S_{ij}| > \Lambda_{ij}}{|S_ij| > Lambda_ij}, which are solved one by one (in parallel with `threads > 1`): this is exact. The solvers:
#' \describe{
#' \item{`"bcd"`}{Block coordinate descent on \eqn{W}, the algorithm known from the `glasso` package, with each column solved over its own active
#'   set. The default, because it needs the least time at every accuracy we measured. A sweep costs \eqn{p} times the number of nonzeros. It stops
#'   when
#'   \eqn{\sqrt{t / p} \le}{sqrt(t / p) <=} `tol`, that is at a duality gap of about \eqn{p\,\mathrm{tol}^2 / 2}{p tol^2 / 2}.}
#' \item{`"quic"`}{The proximal Newton method of Hsieh et al. Each step restricts itself to the free set (nonzero entries and those whose
#'   optimality condition is violated), minimises the quadratic model by coordinate descent, and backtracks with a Cholesky factorisation,
#'   sparse where the pattern allows. It stops when
#'   \eqn{\sum|\partial f| \le \mathrm{tol}\, v^2 \sum |X|}{sum |subgradient| <= tol v^2 sum |X|} with \eqn{v} the mean variance of the component,
#'   which
#'   makes it independent of the units of the data; on a correlation matrix it is the rule of the paper. It also steps in when `"bcd"`
#'   breaks down.}
#' \item{`"admm"`}{The alternating direction method with the tuning of the QUIC paper and QUIC's stopping rule, for comparison.}
#' }
#'
#' @section Which method when: `ggm_lasso()` is the default choice for a sparse graph among Gaussian variables. Choose the penalty with
#' [ggm_select()]: EBIC for sparse graphs meant to be read, cross-validation for prediction, StARS for stable edges.
#'
#' @param x Data: a numeric matrix or data frame, one row per observation. Give either `x` or `S`.
#' @param S A covariance (or correlation) matrix.
#' @param n Number of observations behind `S`; needed for likelihoods and information criteria only.
#' @param lambda The penalty: one number, a sequence (a path; sorted to be decreasing), or a symmetric matrix \eqn{\Lambda}{Lambda}. By default
#'   `n_lambda` values, evenly spaced on the log scale from the smallest penalty that empties the graph down to
#'   `lambda_min_ratio` times that.
#' @param weights Relative penalties: `NULL` for all equal, a vector of length p for \eqn{\sqrt{w_i w_j}}{sqrt(w_i w_j)}, or a symmetric matrix
#'   (0 for entries known
#'   to be in the graph, `Inf` for pairs known to be no edge).
#' @param n_lambda,lambda_min_ratio Length of the default path and the ratio of its ends.
#' @param penalize_diagonal Whether the diagonal is penalised too (the paper and `glasso` do).
#' @param method The solver; see Details.
#' @param tol Stopping tolerance; see Details.
#' @param max_iter Largest number of sweeps (`"bcd"`), Newton steps (`"quic"`) or iterations (`"admm"`). `NULL` for the method's own:
#'   1000, 100, 10000.
#' @param inner How accurately QUIC solves for its direction: `"forcing"` (default) or `"paper"`, which makes `ceiling(t / 3)` sweeps in
#'   step `t`.
#' @param start A precision matrix to start from, or a fit.
#' @param covariance Whether to return the covariance estimates \eqn{W} too: dense matrices, and for `"bcd"` an inversion that the fit itself does not
#'   need.
#' @param threads Threads for independent components; default `getOption("granary.threads")`.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_ggm_lasso`, inheriting from [`granary_ggm`][granary_ggm] and `granary_fit`: a list with
#' \item{precision}{the estimate \eqn{X}, a sparse symmetric `dgCMatrix` with exact zeros; a list of them on a path}
#' \item{covariance}{its inverse \eqn{W}, if asked for}
#' \item{lambda, weights, penalize_diagonal}{the penalty}
#' \item{df}{number of edges}
#' \item{objective, gap, kkt}{objective, duality gap, largest violation of an optimality condition; see Details}
#' \item{component}{the component each variable was solved in}
#' \item{trace}{per Newton step: objective, relative subgradient, size of the free set, step length, sweeps. For `"bcd"` the last line
#'   only, with the number of sweeps over the columns}
#' \item{S, n, mean, x}{what was fitted}
#' \item{convergence}{how the solver ended, per penalty}
#' @references
#' Hsieh, Sustik, Dhillon and Ravikumar (2014). QUIC: quadratic approximation for sparse inverse covariance estimation.
#' *Journal of Machine Learning Research* 15, 2911--2947.
#'
#' Friedman, Hastie and Tibshirani (2008). Sparse inverse covariance estimation with the graphical lasso. *Biostatistics* 9, 432--441.
#'
#' Mazumder and Hastie (2012). Exact covariance thresholding into connected components for large-scale graphical lasso.
#' *Journal of Machine Learning Research* 13, 781--794; and Witten, Friedman and Simon (2011), *Journal of Computational and
#' Graphical Statistics* 20, 892--900 (the split into components).
#'
#' Boyd, Parikh, Chu, Peleato and Eckstein (2011). Distributed optimization and statistical learning via the alternating direction method of
#' multipliers. *Foundations and Trends in Machine Learning* 3, 1--122.
#' @seealso [ggm_at()], [ggm_bounds()], [ggm_hub()]
#' @seealso [ggm_select()], [assess()], [sim_ggm()]; `errata("jmlr15-quic")`; `reproduce("jmlr15-quic")`
#' @export
#' @examples
#' fit <- ggm_lasso(S = cor(mtcars), n = nrow(mtcars), lambda = 0.2)
#' fit
#' fit$precision[1:3, 1:3]
#'
#' # a path, and the graph EBIC chooses
#' path <- ggm_lasso(scale(mtcars))
#' best <- ggm_select(path, criterion = "ebic")
#' head(tidy(best))
#' plot(best)
ggm_lasso <- function(x = NULL, S = NULL, n = NULL, lambda = NULL, weights = NULL, n_lambda = 20, lambda_min_ratio = 0.01,
                      penalize_diagonal = TRUE, method = c("bcd", "quic", "admm"), tol = 1e-6, max_iter = NULL,
                      inner = c("forcing", "paper"), start = NULL, covariance = FALSE, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  data <- ggm_input(x, S, n)
  method <- check_choice(method, c("bcd", "quic", "admm"))
  inner <- check_choice(inner, c("forcing", "paper"))
  penalize_diagonal <- check_flag(penalize_diagonal)
  covariance <- check_flag(covariance)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  max_iter <- check_count(max_iter, allow_null = TRUE)
  if (is.null(max_iter)) max_iter <- c(quic = 100L, bcd = 1000L, admm = 10000L)[[method]]
  penalty <- ggm_penalty(lambda, weights, data$S, check_count(n_lambda), lambda_min_ratio, penalize_diagonal)
  if (!penalize_diagonal && any(diag(data$S) <= 0)) {
    abort_input(sprintf("Variable %s has variance 0 and an unpenalised diagonal, so the likelihood has no maximum: drop it or set penalize_diagonal = TRUE.",
                        colnames(data$S)[which.min(diag(data$S))]), "penalize_diagonal")
  }
  threads <- thread_count(threads)
  start <- ggm_start(start, colnames(data$S))

  settings <- list(penalize_diagonal = penalize_diagonal, method = method, inner = inner, tol = tol, max_iter = max_iter)
  fit <- fit_glasso_path(data, penalty, settings, covariance, start, threads, call)
  check_convergence(fit)
  fit
}

# Where ggm_lasso() and the refits of ggm_select() meet: everything is checked by now.
fit_glasso_path <- function(data, penalty, settings, covariance, start, threads, call) {
  path <- list(weights = as.double(penalty$weights), penalize_diagonal = settings$penalize_diagonal, multipliers = penalty$lambda)
  options <- c(settings[c("method", "inner", "tol", "max_iter")], list(covariance = covariance, threads = threads))
  results <- core_glasso_path(data$S, path, options, start, progress_bar("graphical lasso"))
  new_ggm("ggm_lasso", results, data, lambda = penalty$lambda, weights = if (!penalty$plain) penalty$weights,
          penalize_diagonal = settings$penalize_diagonal, settings = settings, call = call)
}

# lambda and weights as a decreasing sequence of multipliers and one matrix, vector or number.
ggm_penalty <- function(lambda, weights, S, n_lambda, lambda_min_ratio, penalize_diagonal) {
  p <- ncol(S)
  if (is.matrix(lambda) || isS4(lambda) || is.data.frame(lambda)) {
    if (!is.null(weights)) abort_input("`weights` must be NULL when `lambda` is a matrix: put everything into one of them.", "weights")
    weights <- lambda
    lambda <- 1
    name <- "lambda"
  } else {
    name <- "weights"
  }
  plain <- is.null(weights)
  if (plain) {
    weights <- 1
  } else if (is.null(dim(weights))) {
    weights <- match_named(check_vector(weights, name, length = p, lower = 0), colnames(S), name)
  } else {
    weights <- check_weights(weights, name, colnames(S))
    if (penalize_diagonal && any(diag(weights) >= forbidden)) {
      abort_input(sprintf("`%s` must be finite on the diagonal, unless penalize_diagonal = FALSE: no precision matrix has a zero there.", name), name)
    }
  }
  if (is.null(lambda)) {
    ratio <- check_number(lambda_min_ratio, "lambda_min_ratio", lower = 0, upper = 1, strict_lower = TRUE)
    top <- largest_penalty(S, weights)
    lambda <- if (n_lambda == 1L) top else exp(seq(log(top), log(top * ratio), length.out = n_lambda))
  } else {
    lambda <- sort(check_vector(lambda, "lambda", lower = 0), decreasing = TRUE)
  }
  list(lambda = as.double(lambda), weights = weights, plain = plain)
}

forbidden <- 1e70  # stands for Inf in weights; Penalty::forbidden in the core

# A vector or square matrix over `variables`, brought to their order by its names; without names it is taken as it is.
match_named <- function(x, variables, arg) {
  square <- length(dim(x)) == 2L
  names <- if (!square) names(x) else if (is.null(colnames(x))) rownames(x) else colnames(x)
  if (is.null(names) || identical(names, variables)) return(x)
  at <- match(variables, names)
  if (anyNA(at)) {
    if (!any(names %in% variables) && identical(variables, variable_names(NULL, length(variables)))) return(x)  # those have no names of their own
    abort_input(sprintf("`%s` must name the variables, but \"%s\" is not among its names.", arg, variables[is.na(at)][1L]), arg)
  }
  if (square) x[at, at, drop = FALSE] else x[at]
}

check_weights <- function(weights, name, variables) {
  p <- length(variables)
  weights <- as.matrix(weights)
  if (is.numeric(weights)) weights[is.infinite(weights) & weights > 0] <- forbidden
  weights <- check_symmetric(weights, name)
  if (ncol(weights) != p) {
    abort_input(sprintf("`%s` must be a %d x %d matrix, one row and column per variable, but it is %d x %d.", name, p, p, nrow(weights),
                        ncol(weights)), name)
  }
  if (any(weights < 0)) abort_input(sprintf("`%s` must not be negative, but its smallest entry is %g.", name, min(weights)), name)
  match_named(weights, variables, name)
}

# The smallest multiplier of the weights that leaves no edge. Pairs without penalty do not count, as no multiplier removes them, nor do
# those that can be no edge.
largest_penalty <- function(S, weights) {
  size <- abs(S)
  diag(size) <- 0
  if (is.matrix(weights)) {
    size <- ifelse(weights > 0 & weights < forbidden, size / weights, 0)
  } else if (length(weights) > 1L) {
    root <- sqrt(weights)
    size <- ifelse(outer(root, root) > 0, size / outer(root, root), 0)
  }
  top <- max(size)
  if (top > 0) top else max(diag(S), 1e-300)  # an empty graph at every penalty: any positive sequence will do
}

ggm_start <- function(start, variables) {
  if (is.null(start)) return(NULL)
  p <- length(variables)
  if (inherits(start, "granary_ggm")) start <- if (is.list(start$precision)) start$precision[[1L]] else start$precision
  start <- check_symmetric(start, "start", allow_sparse = TRUE)
  if (ncol(start) != p) {
    abort_input(sprintf("`start` must be %d x %d like the covariance, but it is %d x %d.", p, p, nrow(start), ncol(start)), "start")
  }
  as_sparse(match_named(start, variables, "start"))
}
