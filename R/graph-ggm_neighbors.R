#' Gaussian graph by neighbourhood selection
#'
#' Regresses every variable on all others with the lasso and joins those that choose each other (Meinshausen and Buehlmann). The precision matrix
#' is then fitted by maximum likelihood with zeros where the graph has no edge.
#'
#' @details
#' For every variable \eqn{j}, with \eqn{s_k} the standard deviations,
#' \deqn{\min_v \tfrac12 v'Sv - S_j'v + \lambda \sum_{k \ne j} s_j s_k |v_k|,}{min_v 1/2 v'S v - S_j'v + lambda sum_{k != j} s_j s_k |v_k|,}
#' the lasso on variables scaled to variance one (`standardize = FALSE` leaves the standard deviations out). With `rule = "and"` variables
#' are joined
#' when both coefficients are not zero, with `"or"` when either is. The refit solves the graphical lasso with no penalty on the edges
#' (`refit` times the variances, where that is above zero) and all other pairs fixed at zero. Without a penalty it need not exist when
#' there are fewer
#' observations than variables, hence the default. Every regression is solved to a relative optimality residual of `tol / 100`; `gap` and
#' `objective`
#' are those of the refit.
#'
#' @section Which method when: neighbourhood selection for the graph alone, when the number of variables is large: its lassos are
#' independent of each
#' other. [ggm_lasso()] estimates graph and strengths in one problem with one certificate. Choose the penalty by [ggm_select()] with StARS or
#' cross-validation of the refits.
#'
#' @inheritParams ggm_lasso
#' @param lambda The penalty: one number or several (sorted to be decreasing). By default `n_lambda` values from the smallest that empties
#'   the graph.
#' @param rule See Details.
#' @param standardize Whether the penalty is on the scale of correlations.
#' @param refit Penalty of the refit on edges and diagonal, relative to the mean variance. `NULL` for 0 where the covariance is positive
#'   definite,
#'   else 0.01.
#' @param max_iter Largest number of sweeps of a regression.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_ggm_neighbors`, inheriting from [`granary_ggm`][granary_ggm] and `granary_fit`: a list with the
#'   elements of a
#'   [ggm_lasso()] fit, and `coefficients`, the sparse matrix whose column \eqn{j} holds the regression of variable \eqn{j} (a list of them on a
#'   path),
#'   `rule` and `refit`.
#' @references
#' Meinshausen and Buehlmann (2006). High-dimensional graphs and variable selection with the lasso. *Annals of Statistics* 34, 1436--1462.
#' @seealso [ggm_nodes()], [ggm_classify()], [ggm_baseline()], [ggm_lasso()], [ggm_select()], [ggm_hub()]
#' @export
#' @examples
#' fit <- ggm_neighbors(scale(mtcars), lambda = 0.3)
#' fit
#' round(fit$coefficients[1:4, 1:4], 2)
#' set.seed(1)
#' ggm_select(ggm_neighbors(scale(mtcars), n_lambda = 6), "stars", n_rep = 5)
ggm_neighbors <- function(x = NULL, S = NULL, n = NULL, lambda = NULL, rule = c("and", "or"), n_lambda = 20, lambda_min_ratio = 0.05,
                          standardize = TRUE, refit = NULL, tol = 1e-6, max_iter = 100000, covariance = FALSE, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  data <- ggm_input(x, S, n)
  rule <- check_choice(rule, c("and", "or"))
  standardize <- check_flag(standardize)
  covariance <- check_flag(covariance)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  max_iter <- check_count(max_iter)
  refit <- check_number(refit, lower = 0, allow_null = TRUE)
  n_lambda <- check_count(n_lambda)
  ratio <- check_number(lambda_min_ratio, "lambda_min_ratio", lower = 0, upper = 1, strict_lower = TRUE)
  if (is.null(lambda)) {
    size <- abs(if (standardize) neighbors_correlation(data$S) else data$S)
    diag(size) <- 0
    top <- max(size)
    if (!(top > 0)) top <- if (standardize) 1 else max(diag(data$S), 1e-300)
    lambda <- if (n_lambda == 1L) top else exp(seq(log(top), log(top * ratio), length.out = n_lambda))
  }
  lambda <- sort(as.double(check_vector(lambda, "lambda", lower = 0)), decreasing = TRUE)
  if (identical(refit, 0) && any(diag(data$S) <= 0)) {
    abort_input(sprintf("Variable %s has variance 0, so `refit` must be greater than 0: else the likelihood has no maximum.",
                        colnames(data$S)[which.min(diag(data$S))]), "refit")
  }
  settings <- list(rule = rule, standardize = standardize, refit = refit, tol = tol, max_iter = max_iter)
  fit <- fit_neighbors_path(data, lambda, settings, covariance, thread_count(threads), call)
  check_convergence(fit)
  fit
}

neighbors_correlation <- function(S) {
  scale <- ifelse(diag(S) > 0, 1 / sqrt(diag(S)), 0)
  S * outer(scale, scale)
}

fit_neighbors_path <- function(data, lambda, settings, covariance, threads, call) {
  options <- c(settings[c("rule", "standardize", "refit", "tol", "max_iter")], list(covariance = covariance, threads = threads))
  results <- core_neighbours(data$S, lambda, options, progress_bar("neighbourhood selection"))
  settings$refit <- results[[1L]]$refit
  coefficients <- lapply(results, function(r) {
    dimnames(r$coefficients) <- rep(list(colnames(data$S)), 2L)
    r$coefficients
  })
  fit <- new_ggm("ggm_neighbors", results, data, lambda = lambda, rule = settings$rule, refit = settings$refit,
                 coefficients = if (length(lambda) == 1L) coefficients[[1L]] else coefficients, settings = settings, call = call)
  fit$along <- "coefficients"
  fit
}

#' @exportS3Method
refit_path.granary_ggm_neighbors <- function(fit, x) {
  data <- suppressWarnings(ggm_input(x, NULL, NULL), classes = "granary_warning_input")
  settings <- fit$settings
  if (settings$refit == 0) settings["refit"] <- list(NULL)  # fewer rows than before may leave no maximum: chosen anew
  fit_neighbors_path(data, fit$lambda, settings, FALSE, 1L, NULL)
}

# The scale-free graphical lasso of ggm_baseline(type = "scale_free").
scale_free_path <- function(data, lambda, n_lambda, lambda_min_ratio, tol, max_iter, covariance, threads, call, arg) {
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  max_iter <- check_count(max_iter)
  n_lambda <- check_count(n_lambda)
  ratio <- check_number(lambda_min_ratio, "lambda_min_ratio", lower = 0, upper = 1, strict_lower = TRUE)
  variance <- diag(data$S)
  if (any(variance <= 0)) {
    abort_input(sprintf("Variable %s has variance 0: drop it.", colnames(data$S)[which.min(variance)]), arg)
  }
  if (is.null(lambda)) {
    size <- 2 * abs(data$S) / outer(variance, variance, "+")
    diag(size) <- 0
    top <- if (max(size) > 0) max(size) else 1
    lambda <- if (n_lambda == 1L) top else exp(seq(log(top), log(top * ratio), length.out = n_lambda))
  }
  lambda <- sort(as.double(check_vector(lambda, "lambda", lower = 0)), decreasing = TRUE)
  settings <- list(tol = tol, max_iter = max_iter)
  fit <- fit_scale_free_path(data, lambda, settings, covariance, thread_count(threads), call)
  check_convergence(fit)
  fit
}

fit_scale_free_path <- function(data, lambda, settings, covariance, threads, call) {
  results <- core_scale_free(data$S, lambda, c(settings, list(covariance = covariance, threads = threads)), progress_bar("scale-free graph"))
  fit <- new_ggm("ggm_scale_free", results, data, lambda = lambda, settings = settings, call = call)
  fit$gap <- rep(NA_real_, length(lambda))
  fit
}

#' @exportS3Method
refit_path.granary_ggm_scale_free <- function(fit, x) {
  data <- suppressWarnings(ggm_input(x, NULL, NULL), classes = "granary_warning_input")
  fit_scale_free_path(data, fit$lambda, fit$settings, FALSE, 1L, NULL)
}
