#' Baselines for Gaussian graphs
#'
#' The models a structured estimate has to beat: independence, the plain inverse, the ridge and the scale-free graph. All are Gaussian graph fits, so that
#' [assess()], [anova()][granary_ggm], [ggm_select()] and `predict()` compare them with the others.
#'
#' @details
#' | type | estimate |
#' | --- | --- |
#' | `independent` | \eqn{\mathrm{diag}(1/S_{nn})}{diag(1 / S_nn)} |
#' | `full` | \eqn{S^{-1}}{S^-1}; needs more rows than variables |
#' | `ridge` | \eqn{(S + \lambda I)^{-1}}{(S + lambda I)^-1}, eigenvalues between \eqn{1/(\|S\|_2 + \lambda)}{1 / (|S|_2 + lambda)} and \eqn{1/\lambda}{1 / lambda} |
#'
#' `scale_free`, the scale-free graphical lasso of Liu and Ihler, charges an edge less the more edges its ends have already: a stationary point of
#' \deqn{-\log\det X + \mathrm{tr}(SX) + \lambda \sum_i \{\log(\|X_{i,-i}\|_1 + e_i) + X_{ii}/e_i\}, \quad e_i = 1/S_{ii},}{
#'   -log det X + tr(S X) + lambda sum_i (log(||X[i, -i]||_1 + e_i) + X_ii / e_i), e_i = 1 / S_ii,}
#' reached by graphical lassos with the weights \eqn{\frac\lambda2 \{(\|X_i\|_1 + e_i)^{-1} + (\|X_j\|_1 + e_j)^{-1}\}}{lambda / 2 (1 / (||X_i||_1 + e_i) +
#' 1 / (||X_j||_1 + e_j))} of the estimate before; each decreases the objective. The problem is not convex, so there is no duality gap. In the
#' paper \eqn{e_i} is the current \eqn{X_{ii}}{X_ii}, which makes every step a different problem; here it stays. `lambda`, without units, is twice the paper's
#' \eqn{\alpha}{alpha}.
#'
#' **Several tasks** (`groups`, or lists of data or covariances, as for [ggm_multi()]): every task alone, all tasks as one, and two earlier ways to let
#' tasks share their edges.
#' With the weights \eqn{T_k} of [ggm_multi()], and no penalty on the diagonal,
#' * `separate`: one [ggm_lasso()] per task, with penalty \eqn{\lambda/T_k}{lambda / T_k};
#' * `pooled`: one [ggm_lasso()] of \eqn{\sum_k T_k S_k / \sum_k T_k}{sum_k T_k S_k / sum_k T_k} with penalty
#'   \eqn{\lambda/\sum_k T_k}{lambda / sum_k T_k}, the same for all tasks;
#' * `ridge`: \eqn{(S_k + \lambda I/T_k)^{-1}}{(S_k + lambda I / T_k)^-1} per task, a full graph;
#' * `irls`: the \eqn{\ell_{1,2}}{l1,2} problem of [ggm_multi()] by reweighted ridge penalties (Varoquaux et al.), which approaches its zeros
#'   without reaching them; pairs below a millionth of the diagonal are set to zero at the end. `gap` says how far it got;
#' * `hierarchical`: the penalty \eqn{\lambda \sum_{i \ne j} (\sum_k |X_{k,ij}|)^{1/2}}{lambda sum_{i != j} sqrt(sum_k |X_k,ij|)} of Guo et al., by
#'   graphical lassos with weights \eqn{\lambda / (2 T_k (\sum_k |X_{k,ij}|)^{1/2})}{lambda / (2 T_k sqrt(sum_k |X_k,ij|))}. It lets edges differ
#'   between
#'   tasks, is not convex and has no gap; it starts at the inverses of the covariances with 0.01 of the mean variance added.
#'
#' @section Which method when: to compare with. For several tasks `"separate"` when the graphs have little in common, `"pooled"` when they are one and
#' the same, [ggm_multi()] between the two; `"irls"` solves the same problem as `ggm_multi()` with `norm = "l2"`, slower and less
#' exactly. `"scale_free"` for degrees that spread widely, as in gene regulation; [ggm_nodes()] for the opposite: most variables with no edge at all. For a
#' sparse graph use [ggm_lasso()], or [ggm_neighbors()] when only the graph matters.
#'
#' @inheritParams ggm_lasso
#' @param x,S,n Data, or a covariance matrix with its number of observations; for several tasks lists of them.
#' @param groups The task of each row.
#' @param type The baseline.
#' @param lambda Penalty or penalties, sorted to be decreasing. For several tasks by default `n_lambda` values, evenly spaced on the log scale.
#' @param weights,n_lambda,lambda_min_ratio,threads For several tasks and `"scale_free"`, as for [ggm_multi()].
#' @param tol For several tasks the stopping tolerance: that of [ggm_multi()], or for `irls` and `hierarchical` the relative decrease of the objective.
#' @param max_iter For `"scale_free"` the largest number of reweighted graphical lassos (50); for several tasks the largest number of Newton steps or of reweighted problems. `NULL` for 100, 200 (`irls`) or 50
#'   (`hierarchical`).
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_ggm_baseline` (or `granary_ggm_scale_free`), inheriting from [`granary_ggm`][granary_ggm] and `granary_fit`; for several tasks of class
#'   `granary_ggm_multi_baseline`, inheriting from `granary_ggm_multi`: all that works for [ggm_multi()] works for it.
#' @references
#' Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, appendix H (the ridge).
#'
#' Varoquaux, Gramfort, Poline and Thirion (2010). Brain covariance selection: better individual functional connectivity models using population
#' prior. *NIPS* 23, 2334--2342.
#'
#' Liu and Ihler (2011). Learning scale free networks by reweighted l1 regularization. *AISTATS*, JMLR W&CP 15, 40--48.
#'
#' Guo, Levina, Michailidis and Zhu (2011). Joint estimation of multiple graphical models. *Biometrika* 98, 1--15.
#' @seealso [ggm_local()], [ggm_mix()], [fused_signal()], [ggm_lasso()], [ggm_select()], [ggm_hub()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_ggm("regions", n = 200)
#' ggm_baseline(sim$data, type = "independent")
#' path <- ggm_baseline(sim$data, type = "ridge", lambda = c(1, 0.3, 0.1))
#' assess(path, sim)
#' ggm_baseline(scale(mtcars), type = "scale_free", lambda = 0.4)
#'
#' # several tasks
#' ggm_baseline(scale(iris[1:4]), groups = iris$Species, type = "hierarchical", lambda = 10)
ggm_baseline <- function(x = NULL, S = NULL, n = NULL, groups = NULL, type = NULL, lambda = NULL, covariance = FALSE,
                         weights = c("size", "proportion", "equal"), n_lambda = 20, lambda_min_ratio = 0.05, tol = 1e-6, max_iter = NULL,
                         threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  as_list <- function(v) is.list(v) && !is.data.frame(v)
  if (!is.null(groups) || as_list(x) || as_list(S)) {
    return(ggm_multi_baseline(x, groups, S, n, if (is.null(type)) "separate" else type, lambda, weights, n_lambda, lambda_min_ratio, tol, max_iter,
                              threads, call))
  }
  if (is.null(type)) type <- "independent"
  data <- ggm_input(x, S, n)
  type <- check_choice(type, c("independent", "full", "ridge", "scale_free"))
  covariance <- check_flag(covariance)
  if (type == "scale_free") {
    return(scale_free_path(data, lambda, n_lambda, lambda_min_ratio, tol, if (is.null(max_iter)) 50 else max_iter, covariance, threads, call, if (is.null(x)) "S" else "x"))
  }
  if (type %in% c("independent", "full")) {
    if (!is.null(lambda)) abort_input(sprintf("Type \"%s\" has no penalty: leave `lambda` out.", type), "lambda")
    lambda <- 0
  }
  if (is.null(lambda)) abort_input(sprintf("Type \"%s\" needs a `lambda`.", type), "lambda")
  lambda <- sort(check_vector(lambda, "lambda", lower = 0, upper = 1e150), decreasing = TRUE)
  zero <- diag(data$S) <= 0
  if (any(zero) && (type != "ridge" || any(lambda == 0))) {
    abort_input(sprintf("Variable %s has variance 0, so this baseline does not exist. Drop it, or use type = \"ridge\" with a `lambda` above 0.",
                        colnames(data$S)[which(zero)[1L]]), if (is.null(x)) "S" else "x")
  }
  fit_baseline(data, type, lambda, covariance, call)
}

fit_baseline <- function(data, type, lambda, covariance, call) {
  results <- core_baselines(data$S, list(type = type, lambda = as.double(lambda), covariance = covariance || length(lambda) == 1L))
  new_ggm("ggm_baseline", results, data, lambda = lambda, type = type, call = call)
}

#' @exportS3Method
refit_path.granary_ggm_baseline <- function(fit, x) {
  data <- suppressWarnings(ggm_input(x, NULL, NULL), classes = "granary_warning_input")
  fit_baseline(data, fit$type, fit$lambda, FALSE, NULL)
}
