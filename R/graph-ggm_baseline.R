#' Baselines for Gaussian graphs
#'
#' The models a structured estimate has to beat: independence, the plain inverse and the ridge. All are Gaussian graph fits, so that
#' [assess()], [ggm_compare()], [ggm_select()] and `predict()` compare them with the others.
#'
#' @details
#' | type | estimate |
#' | --- | --- |
#' | `independent` | \eqn{\mathrm{diag}(1/S_{nn})}{diag(1 / S_nn)} |
#' | `full` | \eqn{S^{-1}}{S^-1}; needs more rows than variables |
#' | `ridge` | \eqn{(S + \lambda I)^{-1}}{(S + lambda I)^-1}, eigenvalues between \eqn{1/(\|S\|_2 + \lambda)}{1 / (|S|_2 + lambda)} and \eqn{1/\lambda}{1 / lambda} |
#'
#' @section Which method when: to compare with. For a sparse graph use [ggm_lasso()], or [ggm_neighbors()] when only the graph matters.
#'
#' @inheritParams ggm_lasso
#' @param type The baseline.
#' @param lambda Penalty or penalties of `ridge`.
#' @return An object of class `granary_ggm_baseline`, inheriting from [`granary_ggm`][granary_ggm] and `granary_fit`.
#' @references
#' Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, appendix H (the ridge).
#' @family Gaussian graphs
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_ggm("regions", n = 200)
#' ggm_baseline(sim$data, type = "independent")
#' path <- ggm_baseline(sim$data, type = "ridge", lambda = c(1, 0.3, 0.1))
#' assess(path, sim)
ggm_baseline <- function(x = NULL, S = NULL, n = NULL, type = c("independent", "full", "ridge"), lambda = NULL, covariance = FALSE) {
  call <- match.call()
  data <- ggm_input(x, S, n)
  type <- check_choice(type, c("independent", "full", "ridge"))
  covariance <- check_flag(covariance)
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
