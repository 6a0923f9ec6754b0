#' A grid of hub penalties
#'
#' Fits [ggm_hub()], [cov_hub()] or [ising_hub()] along `lambda2` for each `lambda3`, each started at its neighbour, and chooses by the
#' BIC of the
#' paper or by extended BIC.
#'
#' @param x,S,n,lambda1,q,threads As for [ggm_hub()]; a binary model takes `x` only.
#' @param lambda2 A sequence; by default ten values between `lambda1 / 4` and `2 lambda1`.
#' @param lambda3 A few values; by default those that leave 80, 50 and 30 percent of the penalty that allows no hub at the median `lambda2`.
#' @param criterion `"bic"` (see [ggm_hub()]) or `"ebic"` ([ggm_select()]); with the pseudo-likelihood for a binary model.
#' @param c The weight of a hub's further edges in the BIC.
#' @param model A precision matrix ([ggm_hub()]), a covariance matrix ([cov_hub()]) or an Ising model ([ising_hub()]).
#' @param ... Passed on to the function that fits.
#' @return A [granary_selection]: `fit` is the best fit, `table` a data frame of all penalties with edges, hubs, the criterion as `estimate`, gap and
#'   regime.
#' @section Which method when: [ggm_hub()] and its relatives fit at given penalties; this chooses `lambda2` and `lambda3`. [ggm_bounds()] has the values
#'   of `lambda1` that are worth trying.
#' @seealso [ggm_hub()], [cov_hub()], [ising_hub()], [hub_screen()], [sim_hub()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_hub(p = 30, hubs = 2, n = 150)
#' best <- ggm_hub_select(sim$data, lambda1 = 0.3, lambda2 = c(0.4, 0.2), lambda3 = c(1, 0.6))
#' best
#' coef(best, type = "parts")$hubs
#' plot(best$fit)
ggm_hub_select <- function(x = NULL, S = NULL, n = NULL, lambda1, lambda2 = NULL, lambda3 = NULL, criterion = c("bic", "ebic"), c = 0.2, q = 2,
                     threads = NULL, model = c("gaussian", "covariance", "binary"), ...) {
  call <- match.call()
  weight <- check_number(c, "c", lower = 0, upper = 1)  # before any default that calls c()
  criterion <- check_choice(criterion, base::c("bic", "ebic"))
  model <- check_choice(model, base::c("gaussian", "covariance", "binary"))
  if (model == "binary") {
    if (!is.null(S) || !is.null(n)) abort_input("An Ising model is fitted to the rows: give `x`, not `S` and `n`.", "S")
    x <- check_binary(x)
    data <- list(S = stats::cov(x) * (nrow(x) - 1), n = nrow(x))
  } else {
    data <- ggm_input(x, S, n)
  }
  if (is.null(data$n)) abort_input("`n`, the number of observations behind `S`, is needed to compute the criterion.", "n")
  lambda1 <- check_number(lambda1, lower = 0)
  q <- check_hub_norm(q)
  if (is.null(lambda2)) lambda2 <- seq(2 * lambda1, lambda1 / 4, length.out = 10L)
  lambda2 <- sort(check_vector(lambda2, "lambda2", lower = 0), decreasing = TRUE)
  if (is.null(lambda3)) lambda3 <- base::c(0.8, 0.5, 0.3) * hub_lambda_max(data$S, stats::median(lambda2), q)[["lambda3"]]
  lambda3 <- sort(check_vector(lambda3, "lambda3", lower = 0), decreasing = TRUE)
  fits <- list()
  for (l3 in lambda3) fits <- base::c(fits, hub_row(model, x, S, n, lambda1, lambda2, l3, q, threads, first = fits, ...))
  grid <- do.call(rbind, lapply(fits, hub_grid_row, criterion, weight))
  fit <- fits[[which.min(grid$estimate)]]
  warn_empty(fit, data$S, fit$penalty)
  new_selection("ggm_hub", fit, grid, "min", base::c(bic = "BIC", ebic = "EBIC")[[criterion]], call = shorten_call(call))
}

# The fits along lambda2 for one lambda3, as single fits. `first` are those of the lambda3 before, the first of which is a start.
hub_row <- function(model, x, S, n, lambda1, lambda2, lambda3, q, threads, first, ...) {
  quiet <- function(code) suppressWarnings(code, classes = "granary_warning_input")
  data <- if (is.null(x)) list(S = S, n = n) else list(x = x)
  fit_one <- function(method, lambda2, start, ...) {
    quiet(do.call(method, c(data, list(lambda1 = lambda1, lambda2 = lambda2, lambda3 = lambda3, q = q, start = start), list(...)), quote = TRUE))
  }
  if (model == "gaussian") {
    start <- if (length(first) > 0L) first[[length(first) + 1L - length(lambda2)]]
    path <- fit_one(ggm_hub, lambda2, start, threads = threads, ...)
    return(lapply(seq_along(lambda2), function(k) {
      one <- ggm_at(path, k)
      one$penalty$lambda2 <- one$lambda
      one
    }))
  }
  fits <- list()
  for (k in seq_along(lambda2)) {
    start <- if (k > 1L) fits[[k - 1L]] else if (length(first) > 0L) first[[length(first) + 1L - length(lambda2)]]
    fits[[k]] <- if (model == "covariance") {
      fit_one(cov_hub, lambda2[k], start, threads = threads, ...)
    } else {
      fit_one(ising_hub, lambda2[k], start, ...)
    }
  }
  fits
}

hub_grid_row <- function(fit, criterion, weight) {
  part <- hub_parts(fit)
  deviance <- -2 * as.double(stats::logLik(fit))
  value <- if (criterion == "bic") {
    deviance + log(fit$n) * (ncol(fit$S) + hub_complexity(part$V, part$Z, weight))
  } else if (inherits(fit, "granary_ggm")) {
    select_ebic(fit, 0.5)$table$estimate
  } else {
    deviance + fit$df * (log(fit$n) + 2 * log(ncol(fit$S)))
  }
  data.frame(lambda2 = fit$penalty$lambda2, lambda3 = fit$penalty$lambda3, edges = fit$df, hubs = nrow(part$hubs), estimate = value, gap = fit$gap,
             regime = part$regime)
}
