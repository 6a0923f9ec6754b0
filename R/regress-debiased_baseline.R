#' Rivals of the debiased lasso
#'
#' Other ways to p-values for single coefficients with many columns, in the same form as [debiased_lasso()].
#'
#' @details
#' * `"nodewise"`: the debiased lasso with \eqn{M} from one lasso of each column on all others (van de Geer and others), penalty `lambda_nodes`.
#' * `"ridge"`: ridge regression with penalty \eqn{1/n}, corrected for the part of the bias that its projection causes, with a bound `delta` for
#'   the rest (Buehlmann).
#'   Intervals and p-values allow for the bound.
#' * `"split"`: multiple sample splitting (Meinshausen, Meier and Buehlmann): a lasso on one half selects, least squares on the other half tests,
#'   over `splits` random
#'   halves; p-values only, already adjusted for the familywise error.
#' * `"ols"`: least squares, when there are fewer columns than rows, with normal quantiles.
#'
#' **Which method when:** `"ols"` whenever n is well above p; `"nodewise"` if the inverse covariance of the columns is sparse; `"ridge"` and
#' `"split"` are
#' conservative: they seldom reject wrongly, and often fail to reject.
#'
#' @inheritParams debiased_lasso
#' @param x A numeric matrix or data frame.
#' @param method See Details.
#' @param lambda_nodes Penalty of the regressions of `"nodewise"`, on scaled columns; `NULL` for \eqn{\sqrt{\log p / n}}{sqrt(log p / n)}.
#' @param splits Number of random halves for `"split"`.
#' @return An object of class `granary_debiased_lasso`, see [granary_debiased_lasso]; for `"split"` without standard errors.
#' @references
#' van de Geer, Buehlmann, Ritov and Dezeure (2014). On asymptotically optimal confidence regions and tests for high-dimensional models. *Annals of
#' Statistics* 42, 1166--1202.
#'
#' Buehlmann (2013). Statistical significance in high-dimensional linear models. *Bernoulli* 19, 1212--1242.
#'
#' Meinshausen, Meier and Buehlmann (2009). p-values for high-dimensional regression. *Journal of the American Statistical Association* 104,
#' 1671--1681.
#' @family regression
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_circulant(n = 80, p = 100, s0 = 3, b = 1)
#' debiased_baseline(sim$x, sim$y, "nodewise")
#' debiased_baseline(sim$x, sim$y, "split", splits = 5)
debiased_baseline <- function(x, y, method = c("nodewise", "ridge", "split", "ols"), which = NULL, lambda = NULL, sigma = NULL, lambda0 = NULL,
                              lambda_nodes = NULL, splits = 50, standardize = TRUE, intercept = TRUE, alpha = 0.05, threads = NULL) {
  call <- shorten_call(match.call())
  method <- check_choice(method, c("nodewise", "ridge", "split", "ols"))
  alpha <- check_number(alpha, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  splits <- check_count(splits, upper = 1e5)
  lambda_nodes <- check_number(lambda_nodes, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  start <- debias_start(x, y, lambda, sigma, lambda0, intercept, standardize)
  which <- check_which(which, colnames(start$x))
  switch(method,
    nodewise = baseline_nodewise(start, which, lambda_nodes, alpha, call, threads),
    ridge = baseline_ridge(start, which, alpha, call),
    split = baseline_split(start, which, splits, alpha, call),
    ols = baseline_ols(start, which, alpha, call)
  )
}

baseline_nodewise <- function(start, which, lambda, alpha, call, threads) {
  z <- start$x
  if (ncol(z) == 1L) abort_input("Nodewise regression needs at least two columns.", "x")
  if (is.null(lambda)) lambda <- sqrt(log(ncol(z)) / nrow(z))
  out <- core_call(core_nodewise(z, which, lambda, FALSE, thread_count(threads), progress_bar("nodewise regressions")))
  rows <- rows_table(z, which, out$rows)
  rows$convergence <- out$convergence
  finish_debiased(start, which, rows, alpha, call, "debiased lasso, nodewise rows")
}

baseline_ols <- function(start, which, alpha, call) {
  z <- start$x
  n <- nrow(z)
  df <- n - ncol(z) - start$intercept
  qr <- qr(z)
  if (df < 1L || qr$rank < ncol(z)) {
    abort_input(sprintf(paste("Least squares needs more rows than columns, and no column that depends on the others;",
                              "there are %d rows, and the %d columns have rank %d."),
                        n, ncol(z), qr$rank), "x")
  }
  rows <- n * t(qr.coef(qr, diag(n)))[, which, drop = FALSE]  # X S^-1
  if (start$estimated) start$sigma <- sqrt(sum(qr.resid(qr, start$y - start$mean_y)^2) / df)
  finish_debiased(start, which, rows_table(z, which, rows), alpha, call, "least squares")
}

baseline_ridge <- function(start, which, alpha, call, xi = 0.05) {
  z <- start$x
  n <- nrow(z)
  p <- ncol(z)
  if (p == 1L) abort_input("The ridge projection needs at least two columns.", "x")
  parts <- svd(z / sqrt(n))
  keep <- parts$d > 1e-10 * parts$d[1L]
  v <- parts$v[, keep, drop = FALSE]
  d <- parts$d[keep]
  response <- (start$y - start$mean_y) / sqrt(n)
  ridge <- drop(v %*% (d / (d^2 + 1 / n) * crossprod(parts$u[, keep, drop = FALSE], response)))
  projection <- tcrossprod(v[which, , drop = FALSE], v)
  own <- projection[cbind(seq_along(which), which)]
  others <- projection
  others[cbind(seq_along(which), which)] <- 0
  estimate <- (ridge[which] - drop(others %*% start$theta)) / own
  rows <- sqrt(n) * parts$u[, keep, drop = FALSE] %*% (d / (d^2 + 1 / n) * t(v[which, , drop = FALSE] / own))
  se <- start$sigma * sqrt(colMeans(rows^2) / n)
  delta <- start$sigma * apply(abs(others / own), 1L, max) * (log(p) / n)^(0.5 - xi)
  pvalue <- 2 * stats::pnorm(pmax(abs(estimate) - delta, 0) / se, lower.tail = FALSE)
  table <- rows_table(z, which, rows)
  scale <- start$scale[which]
  fit <- debiased_object(start, which, estimate / scale, se / scale, pmin(1, pvalue), table$rows, table$table, alpha, call, "ridge projection",
                         table$convergence)
  fit$delta <- stats::setNames(delta / scale, names(fit$coefficients))
  fit$ci <- confint(fit)
  fit
}

baseline_split <- function(start, which, splits, alpha, call) {
  z <- start$x
  n <- nrow(z)
  p <- ncol(z)
  response <- start$y - start$mean_y
  half <- n %/% 2L
  if (half < 3L) abort_input("Sample splitting needs at least six rows.", "x")
  one_split <- function(k) {
    first <- sample.int(n, half)
    out <- rep(1, p)
    path <- lasso_fit(z[first, , drop = FALSE], response[first], "gaussian", list(
      alpha = 1, lambda = NULL, n_lambda = 50L, lambda_min_ratio = NULL, weights = NULL, offset = NULL, penalty_factor = NULL, lower = -Inf,
      upper = Inf,
      intercept = TRUE, standardize = TRUE, tol = 1e-5, max_iter = 10000L
    ))
    # the last model on the path that least squares on the other half can test
    last <- max(base::which(path$df <= (n - half) %/% 3L))
    chosen <- base::which(path$coefficients[, last] != 0)
    if (length(chosen) == 0L) return(out)
    rest <- cbind(1, z[-first, chosen, drop = FALSE])
    qr <- qr(rest)
    use <- qr$pivot[seq_len(qr$rank)]
    df <- nrow(rest) - qr$rank
    if (df < 1L) return(out)
    residual <- qr.resid(qr, response[-first])
    variance <- sum(residual^2) / df * diag(chol2inv(qr.R(qr)[seq_len(qr$rank), seq_len(qr$rank), drop = FALSE]))
    t <- qr.coef(qr, response[-first])[use] / sqrt(variance)
    inside <- use > 1L
    out[chosen[use[inside] - 1L]] <- pmin(1, 2 * stats::pt(abs(t[inside]), df, lower.tail = FALSE) * length(chosen))
    out
  }
  p_values <- matrix(unlist(resample_lapply(seq_len(splits), one_split, "sample splitting")), p)[which, , drop = FALSE]
  # Quantiles of the p-values over gamma, and the price of looking at all gamma.
  gamma <- seq(0.05, 1, by = 0.01)
  aggregated <- apply(p_values, 1L, function(row) min(stats::quantile(row, gamma, names = FALSE, type = 1L) / gamma) * (1 - log(0.05)))
  pvalue <- pmin(1, aggregated)
  blank <- rep(NA_real_, length(which))
  fit <- debiased_object(start, which, start$theta[which] / start$scale[which], blank, pvalue, NULL, NULL, alpha, call, "multiple sample splitting",
                         list(converged = TRUE, iterations = splits))
  fit$p_adj <- fit$pvalue
  fit
}
