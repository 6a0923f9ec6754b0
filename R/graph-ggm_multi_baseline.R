# The baselines of several tasks, behind ggm_baseline().

ggm_multi_baseline <- function(x = NULL, groups = NULL, S = NULL, n = NULL, method = c("separate", "pooled", "ridge", "irls", "hierarchical"),
                               lambda = NULL, weights = c("size", "proportion", "equal"), n_lambda = 20, lambda_min_ratio = 0.05, tol = 1e-6,
                               max_iter = NULL, threads = NULL, call = match.call()) {
  data <- multi_input(x, groups, S, n)
  method <- check_choice(method, c("separate", "pooled", "ridge", "irls", "hierarchical"), "type")
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
  if (method == "ridge" && any(lambda == 0)) abort_input("`lambda` must be greater than 0 for type = \"ridge\".", "lambda")
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
