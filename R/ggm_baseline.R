#' Baselines for Gaussian graphs
#'
#' The models a structured estimate has to beat: independence, the plain inverse, the ridge, and neighbourhood selection with a refit. All are Gaussian graph fits, so
#' that [ggm_score()], [ggm_compare()], [ggm_select()] and `predict()` compare them with the others.
#'
#' @details
#' | type | estimate |
#' | --- | --- |
#' | `independent` | \eqn{\mathrm{diag}(1/S_{nn})}{diag(1 / S_nn)} |
#' | `full` | \eqn{S^{-1}}{S^-1}; needs more rows than variables |
#' | `ridge` | \eqn{(S + \lambda I)^{-1}}{(S + lambda I)^-1}, eigenvalues between \eqn{1/(\|S\|_2 + \lambda)}{1 / (|S|_2 + lambda)} and \eqn{1/\lambda}{1 / lambda} |
#' | `mb_and`, `mb_or` | neighbourhood selection, then the maximum likelihood estimate on the graph found |
#'
#' Neighbourhood selection regresses every standardised variable on all others by a lasso with penalty `lambda`; an edge is where both (`mb_and`) or one (`mb_or`) of
#' the two coefficients is not zero. It estimates no distribution, so the precision matrix is refitted by maximum likelihood with zeros where the graph has no edge. With
#' fewer rows than a variable has neighbours that estimate does not exist: a larger `lambda` is needed. For a graphical lasso use [ggm_lasso()].
#'
#' **Which method when:** to compare with; `mb_or` and `mb_and` when only the graph matters and the variables are many.
#'
#' @inheritParams ggm_lasso
#' @param type The baseline.
#' @param lambda Penalty or penalties of `ridge`, `mb_and` and `mb_or`; in units of the correlations for the last two.
#' @return An object of class `granary_ggm_baseline`, inheriting from [`granary_ggm`][granary_ggm] and `granary_fit`.
#' @references
#' Meinshausen and Buehlmann (2006). High-dimensional graphs and variable selection with the lasso. *Annals of Statistics* 34, 1436--1462.
#'
#' Dempster (1972). Covariance selection. *Biometrics* 28, 157--175.
#' @family Gaussian graphs
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_ggm("regions", n = 200)
#' ggm_baseline(sim$data, type = "mb_or", lambda = 0.15)
#' path <- ggm_baseline(sim$data, type = "ridge", lambda = c(1, 0.3, 0.1))
#' ggm_score(sim, path)
ggm_baseline <- function(x = NULL, S = NULL, n = NULL, type = c("independent", "full", "ridge", "mb_and", "mb_or"), lambda = NULL, tol = 1e-8,
                         covariance = FALSE, threads = NULL) {
  call <- match.call()
  data <- ggm_input(x, S, n)
  type <- check_choice(type, c("independent", "full", "ridge", "mb_and", "mb_or"))
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
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
  threads <- thread_count(threads)
  fit <- fit_baseline(data, type, lambda, tol, covariance, threads, call)
  check_convergence(fit)
  fit
}

fit_baseline <- function(data, type, lambda, tol, covariance, threads, call) {
  S <- data$S
  results <- lapply(lambda, function(l) {
    r <- if (type == "independent") {
      list(precision = as_sparse(Matrix::Diagonal(x = 1 / diag(S))), covariance = diag(diag(S), ncol(S)), log_det = -sum(log(diag(S))), trace = list(),
           convergence = list(converged = TRUE, iterations = 0L, gap = 0, residual = 0, seconds = 0, message = ""))
    } else {
      core_call(core_baseline(S, if (type == "full") "ridge" else type, l, tol, threads, progress_bar("baseline")))
    }
    trace <- trace_product(S, r$precision)
    r$objective <- -r$log_det + trace + if (type == "ridge") l * sum(Matrix::diag(r$precision)) else 0
    if (is.nan(r$convergence$gap)) r$convergence$gap <- NA_real_  # no dual point was found: there is no bound
    r$kkt <- r$convergence$residual
    r$component <- precision_components(r$precision)
    if (!covariance && length(lambda) > 1L) r$covariance <- NULL
    r
  })
  new_ggm("ggm_baseline", results, data, lambda = lambda, type = type, settings = list(tol = tol), call = call)
}

#' @exportS3Method
refit_path.granary_ggm_baseline <- function(fit, x) {
  data <- suppressWarnings(ggm_input(x, NULL, NULL), classes = "granary_warning_input")
  fit_baseline(data, fit$type, fit$lambda, fit$settings$tol, FALSE, 1L, NULL)
}
