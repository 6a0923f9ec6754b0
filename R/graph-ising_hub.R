#' Binary networks with hubs
#'
#' Estimates the graph of an Ising model for 0/1 variables by penalised pseudo-likelihood, allowing for a few nodes joined to very many others.
#'
#' @details
#' For \eqn{p(x) \propto \exp\{\sum_j \theta_{jj} x_j + \sum_{j<k} \theta_{jk} x_j x_k\}}{p(x) ~ exp(sum_j t_jj x_j + sum_(j<k) t_jk x_j x_k)} the hub
#' binary network minimises
#' \deqn{-\sum_{j,k} \theta_{jk} (X'X)_{jk} + \sum_{i,j} \log(1 + e^{\eta_{ij}}) + P(\Theta), \quad
#' \eta_{ij} = \theta_{jj} + \sum_{k \ne j} \theta_{jk} x_{ik},}{-sum_jk t_jk (X'X)_jk + sum_ij log(1 + exp(eta_ij)) + P(T),
#' eta_ij = t_jj + sum_(k != j) t_jk x_ik,}
#' with the hub penalty of [ggm_hub()]. The loss is a sum over rows, so penalties grow with n. The duality gap is exact: the intercepts are
#' solved for, and the fitted probabilities, drawn towards the data, are a dual point. BIC is that of [ggm_hub()] with twice the negative
#' log-pseudo-likelihood.
#'
#' With `lambda3 = 0`, or penalties that exclude hubs, this is the l1-penalised symmetric pseudo-likelihood estimate of Hoefling and Tibshirani
#' (2009),
#' diagonal free.
#'
#' @section Which method when:
#' For 0/1 data with suspected hubs. For an Ising model without hubs use [ising_fit()], or set `lambda3` so large that none is possible.
#'
#' @inheritParams ggm_hub
#' @param x Data of zeros and ones (or logical), one row per observation. A constant column has no finite estimate and is an error.
#' @param lambda1,lambda2,lambda3 The penalties of ordinary edges, of a hub's edges, and of hubs: one number each.
#' @param tol Duality gap per variable and row at which to stop.
#' @param inner The solver of the smooth step of the alternating direction method (`method = "admm"` or `q = Inf`): L-BFGS, or the
#'   Barzilai-Borwein method of the paper with a non-monotone line search.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_ising_hub`: `theta` (sparse, intercepts on the diagonal), `V`, `Z`, `hubs`, `objective`, `gap`, `bic`,
#' `regime`,
#'   `df`, and the data.
#' @references
#' Tan, London, Mohan, Lee, Fazel and Witten (2014). Learning graphical models with hubs. *Journal of Machine Learning Research* 15, 3297--3331.
#'
#' Hoefling and Tibshirani (2009). Estimation of sparse binary pairwise Markov networks using pseudo-likelihoods. *Journal of Machine
#' Learning Research* 10, 883--906.
#' @seealso [ggm_hub()], [cov_hub()], [ggm_hub_select()], [hub_screen()], [sim_hub()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_hub(p = 10, hubs = 1, n = 200, type = "binary", exact = TRUE)
#' fit <- ising_hub(sim$data, lambda1 = 12, lambda2 = 6, lambda3 = 20)
#' fit
#' head(predict(fit))
ising_hub <- function(x, lambda1, lambda2, lambda3, q = 2, method = c("auto", "admm"), inner = c("lbfgs", "barzilai_borwein"), tol = 1e-7,
                      max_iter = 2000, step = 2.5, start = NULL, min_degree = 1, ...) {
  refuse_dots(...)
  call <- match.call()
  x <- check_binary(x)
  lambda2 <- check_number(lambda2, lower = 0)
  penalty <- hub_penalty(lambda1, lambda2, lambda3, q, ncol(x))
  settings <- hub_settings(method, TRUE, tol, max_iter, step, inner = check_choice(inner, c("lbfgs", "barzilai_borwein")))
  min_degree <- check_count(min_degree, lower = 0)
  start <- hub_start(start, colnames(x))
  result <- core_hub_path(x, hub_core_options("ising", penalty, settings, 1L), start, progress_bar("hub binary network"))[[1L]]
  S <- crossprod(sweep(x, 2L, colMeans(x)))
  dimnames(S) <- rep(list(colnames(x)), 2L)
  fit <- new_hub("ising_hub", result, list(S = S, n = nrow(x), mean = colMeans(x), x = x), penalty, settings, min_degree, call)
  warn_empty(fit, S, penalty)
  check_convergence(fit, "Raise `max_iter`, loosen `tol`, or use larger penalties: without enough penalty the estimate may be infinite.")
  fit
}

# Rows of zeros and ones without constant columns.
check_binary <- function(x) {
  x <- check_matrix(counted_rows(x), "x")
  check_names_unique(colnames(x), "x")
  other <- which(x != 0 & x != 1)
  if (length(other) > 0L) {
    abort_input(sprintf("`x` must hold zeros and ones only, but %s is %g.", describe_position(x, other[1L]), x[other[1L]]), "x")
  }
  colnames(x) <- variable_names(colnames(x), ncol(x))
  constant <- colMeans(x) %in% c(0, 1)
  if (any(constant)) {
    abort_input(sprintf("Column %s of `x` is constant, so its intercept has no finite estimate: drop it.", colnames(x)[constant][1L]), "x")
  }
  x
}

#' @rdname granary_hub
#' @export
predict.granary_ising_hub <- function(object, newdata = NULL, ...) {
  refuse_dots(...)
  x <- ggm_newdata(object, newdata)
  other <- which(x != 0 & x != 1)
  if (length(other) > 0L) {
    abort_input(sprintf("`newdata` must hold zeros and ones only, but %s is %g.", describe_position(x, other[1L]), x[other[1L]]), "newdata")
  }
  theta <- as.matrix(object$theta)
  intercept <- diag(theta)
  diag(theta) <- 0
  stats::plogis(sweep(x %*% theta, 2L, intercept, "+"))
}

#' Hubs by counting partial correlations
#'
#' Thresholds partial correlations and counts them per node: a simple competitor of [ggm_hub()].
#'
#' @details The pseudo-inverse of the correlation matrix stands for the inverse where that is singular.
#'
#' @section Which method when:
#' A quick first look, with more observations than variables. [ggm_hub()] estimates the graph along with its hubs, and
#' `ggm_baseline(type = "scale_free")` is for degrees that follow a power law without true hubs.
#'
#' @param x,S As in [ggm_lasso()].
#' @param rho Threshold on absolute partial correlations, between 0 and 1.
#' @param d Edges a node needs to be called a hub.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A data frame of nodes with at least `d` edges.
#' @references
#' Hero and Rajaratnam (2012). Hub discovery in partial correlation graphs. *IEEE Transactions on Information Theory* 58, 6064--6078.
#' @seealso [ggm_hub()], [cov_hub()], [ising_hub()], [ggm_hub_select()], [sim_hub()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_hub(p = 20, hubs = 2, n = 60)
#' hub_screen(sim$data, rho = 0.3, d = 5)
#' sim$hubs
hub_screen <- function(x = NULL, S = NULL, rho, d = 1, ...) {
  refuse_dots(...)
  data <- ggm_input(x, S, NULL)
  rho <- check_number(rho, lower = 0, upper = 1)
  d <- check_count(d, lower = 0)
  if (any(diag(data$S) <= 0)) abort_input("Partial correlations need variables that vary: drop those with variance 0.", if (is.null(x)) "S" else "x")
  partial <- core_partial_correlations(unname(data$S))
  degree <- colSums(abs(partial) > rho)
  found <- order(-degree)
  found <- found[degree[found] >= d]
  data.frame(node = colnames(data$S)[found], degree = unname(degree[found]), largest = apply(abs(partial), 2L, max)[found], row.names = NULL)
}
