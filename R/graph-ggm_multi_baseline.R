#' Other estimators for several related Gaussian graphs
#'
#' What [ggm_multi()] is compared with: every task alone, all tasks as one, and two earlier ways to let tasks share their edges.
#'
#' @details
#' With the weights \eqn{T_k} of [ggm_multi()], and no penalty on the diagonal,
#' * `"separate"`: one [ggm_lasso()] per task, with penalty \eqn{\lambda/T_k}{lambda / T_k};
#' * `"pooled"`: one [ggm_lasso()] of \eqn{\sum_k T_k S_k / \sum_k T_k}{sum_k T_k S_k / sum_k T_k} with penalty
#'   \eqn{\lambda/\sum_k T_k}{lambda / sum_k T_k}, the same for all tasks;
#' * `"ridge"`: \eqn{(S_k + \lambda I/T_k)^{-1}}{(S_k + lambda I / T_k)^-1} per task, a full graph;
#' * `"irls"`: the \eqn{\ell_{1,2}}{l1,2} problem of [ggm_multi()] by reweighted ridge penalties (Varoquaux et al.), which approaches its zeros
#'   without reaching them; pairs below a millionth of the diagonal are set to zero at the end. `gap` says how far it got;
#' * `"hierarchical"`: the penalty \eqn{\lambda \sum_{i \ne j} (\sum_k |X_{k,ij}|)^{1/2}}{lambda sum_{i != j} sqrt(sum_k |X_k,ij|)} of Guo et al., by
#'   graphical lassos with weights \eqn{\lambda / (2 T_k (\sum_k |X_{k,ij}|)^{1/2})}{lambda / (2 T_k sqrt(sum_k |X_k,ij|))}. It lets edges differ
#'   between
#'   tasks, is not convex and has no gap; it starts at the inverses of the covariances with 0.01 of the mean variance added.
#'
#' @section Which method when: `"separate"` when the graphs have little in common, `"pooled"` when they are one and the same;
#' `ggm_multi()` between the
#' two. `"irls"` is here to be compared with: it solves the same problem as `ggm_multi()` with `norm = "l2"`, slower and less exactly.
#'
#' @inheritParams ggm_multi
#' @param method The estimator; see Details.
#' @param lambda The penalty: a number or a sequence (sorted to be decreasing). By default `n_lambda` values, evenly spaced on the log scale.
#' @param tol Stopping tolerance: that of [ggm_multi()], or for the last two the relative decrease of the objective.
#' @param max_iter Largest number of Newton steps or of reweighted problems. `NULL` for 100, 200 (`"irls"`) or 50 (`"hierarchical"`).
#' @return An object of class `granary_ggm_multi_baseline`, inheriting from `granary_ggm_multi`: all that works for [ggm_multi()] works for it.
#' @references
#' Varoquaux, Gramfort, Poline and Thirion (2010). Brain covariance selection: better individual functional connectivity models using population
#' prior. *NIPS* 23, 2334--2342.
#'
#' Guo, Levina, Michailidis and Zhu (2011). Joint estimation of multiple graphical models. *Biometrika* 98, 1--15.
#' @family Gaussian graphs
#' @export
#' @examples
#' x <- scale(iris[1:4])
#' ggm_multi_baseline(x, groups = iris$Species, method = "hierarchical", lambda = 10)
#' alone <- ggm_multi_baseline(x, groups = iris$Species, method = "separate", n_lambda = 5)
#' set.seed(1)
#' together <- ggm_select(ggm_multi(x, groups = iris$Species, n_lambda = 5), "cv", folds = 3)
#' ggm_compare(together, ggm_select(alone, "cv", folds = 3))
ggm_multi_baseline <- function(x = NULL, groups = NULL, S = NULL, n = NULL, method = c("separate", "pooled", "ridge", "irls", "hierarchical"),
                               lambda = NULL, weights = c("size", "proportion", "equal"), n_lambda = 20, lambda_min_ratio = 0.05, tol = 1e-6,
                               max_iter = NULL, threads = NULL) {
  call <- match.call()
  data <- multi_input(x, groups, S, n)
  method <- check_choice(method, c("separate", "pooled", "ridge", "irls", "hierarchical"))
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  max_iter <- check_count(max_iter, allow_null = TRUE)
  if (is.null(max_iter)) max_iter <- c(separate = 100L, pooled = 100L, ridge = 1L, irls = 200L, hierarchical = 50L)[[method]]
  weights <- multi_weights(weights, data)
  n_lambda <- check_count(n_lambda)
  ratio <- check_number(lambda_min_ratio, "lambda_min_ratio", lower = 0, upper = 1, strict_lower = TRUE)
  if (is.null(lambda)) {
    lambda <- core_multi_baseline_grid(task_parts(data$S, weights), list(method = method, n = n_lambda, ratio = ratio))
  }
  lambda <- sort(as.double(check_vector(lambda, "lambda", lower = 0)), decreasing = TRUE)
  if (method == "ridge" && any(lambda == 0)) abort_input("`lambda` must be greater than 0 for method = \"ridge\".", "lambda")
  if (method != "ridge") multi_check_variances(data, FALSE, "l2", list(lambda = lambda, lambda1 = 0))
  settings <- list(norm = method, penalize_diagonal = FALSE, method = method, tol = tol, max_iter = max_iter)
  fit <- fit_multi_baseline(data, lambda, weights, settings, thread_count(threads), call)
  check_convergence(fit)
  fit
}

fit_multi_baseline <- function(data, lambda, weights, settings, threads, call) {
  options <- c(settings[c("method", "tol", "max_iter")], list(threads = threads))
  results <- core_multi_baseline(task_parts(data$S, weights), lambda, options, progress_bar("baseline"))
  for (k in seq_along(results)) results[[k]]$covariance <- list()
  fit <- new_ggm_multi(results, data, list(lambda = lambda, lambda1 = numeric(length(lambda))), weights, settings, call)
  if (settings$method %in% c("hierarchical", "ridge")) fit$gap <- rep(NA_real_, length(lambda))
  class(fit) <- c("granary_ggm_multi_baseline", class(fit))
  fit
}

#' @exportS3Method
refit_path.granary_ggm_multi_baseline <- function(fit, x) {
  data <- multi_input(x, NULL, NULL, NULL)
  if (fit$settings$method != "ridge") multi_check_variances(data, FALSE, "l2", list(lambda = fit$lambda, lambda1 = 0))
  fit_multi_baseline(data, fit$lambda, refit_weights(fit, data), fit$settings, 1L, NULL)
}
