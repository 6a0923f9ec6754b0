#' What parameters guarantee about models
#'
#' `what = "pair"` bounds the divergence, the expected log-likelihood and the Bayes error of two models by a norm of the difference of
#' their parameters, beside
#' the exact
#' values where they can be had.
#'
#' @details
#' If the gradient of \eqn{\log p(x|\theta)}{log p(x | theta)} has dual norm at most \eqn{K(x)}, then \eqn{|\log p(x|\theta_1) - \log
#' p(x|\theta_2)| \le K(x) \|\theta_1 - \theta_2\|}{the log densities at two
#' parameters differ by at most K(x) times their distance}, hence \eqn{KL \le E_1 K(x) \|\theta_1 - \theta_2\|}{KL <= E_1 K(x) ||theta1 -
#' theta2||}. The thesis takes the same norm on both sides; right is the dual
#' pair (nuclear and spectral, \eqn{l_1}{l1} and \eqn{l_\infty}{linf}), and some printed bounds are false: see `errata("thesis-6-lipschitz")`.
#' They are shown with
#' `norm = "printed"`, where `valid` says whether they hold for this pair.
#'
#' With \eqn{a, b} the extreme eigenvalues of both precision matrices, Gaussians (of equal means) satisfy
#' \deqn{KL \le \tfrac12 (1/a - 1/b) \|\Omega_1 - \Omega_2\|_* \le \tfrac12 (1/a - 1/b) \sqrt N \|\Omega_1 - \Omega_2\|_F, \quad KL \le \tfrac12
#' (b - a) \|\Sigma_1 - \Sigma_2\|_*,}{KL <= (1/a - 1/b)/2 ||O1 - O2||_* <= (1/a - 1/b)/2 sqrt(N) ||O1 - O2||_F, KL <= (b - a)/2 ||S1 - S2||_*,}
#' and the weaker \eqn{\|\Omega_1-\Omega_2\|_*/a}{||O1 - O2||_* / a} and \eqn{b\|\Sigma_1-\Sigma_2\|_*}{b ||S1 - S2||_*} (`generic`). Ising
#' models: \eqn{2\|w_1 - w_2\|_1}{2 ||w1 - w2||_1}. Bayesian networks on one DAG, with the
#' softmax parameters of every row: \eqn{\sum_n \max_a \|w_{na}^1 - w_{na}^2\|_1}{sum_n max_a ||w1_na - w2_na||_1}, and twice the sum of the maxima.
#'
#' Bayes error: at least \eqn{e^{-Kd}/2}{exp(-K d) / 2} for discrete models and \eqn{BB/4} for Gaussians (of mean zero),
#' \eqn{BB = e^{-d/(2a)} \sum_c |I + d\Sigma_c|^{-1/2}}{BB = exp(-d/(2a)) sum_c det(I + d S_c)^(-1/2)}, \eqn{d} the nuclear distance of the
#' precisions. The logarithm is given too (`log_bound`), as these underflow.
#'
#' `what = "constant"`: the bound \eqn{K(x)} on the gradient of the log-density of one observation in its parameters, with the norm in which the
#' distance of the parameters is to be taken:
#'
#' | model | \eqn{K(x)} | distance |
#' | --- | --- | --- |
#' | `softmax` | 1 | \eqn{l_1}{l1} (or 2 with \eqn{l_\infty}{linf}) |
#' | `logit` (multinomial, \eqn{|\psi| \le 1}{|psi| <= 1}) | 1 | \eqn{l_1}{l1} |
#' | `gaussian_cpd` (\eqn{\|w\| \le \beta}{||w|| <= beta}; response `y`) | \eqn{\|x\| |y| + \beta\|x\|^2}{||x|| |y| + beta ||x||^2} | \eqn{l_2}{l2} |
#' | `laplace_cpd` | \eqn{\|x\|}{||x||} | \eqn{l_2}{l2} |
#' | `factor` (discrete factor graph, Ising) | 2 | \eqn{l_1}{l1} |
#' | `continuous_factor` (features `x`, \eqn{E\|\psi\|_2 \le \alpha}{E ||psi||_2 <= alpha}) | \eqn{\|x\| + \alpha}{||x|| + alpha} | \eqn{l_2}{l2} |
#' | `precision` (eigenvalues at least `alpha`) | \eqn{\max(\|x\|^2, 1/\alpha)/2}{max(||x||^2, 1/alpha) / 2} | nuclear |
#' | `covariance` (precision eigenvalues at most `beta`) | \eqn{(\beta^2\|x\|^2 + \beta)/2}{(beta^2 ||x||^2 + beta) / 2} | nuclear |
#'
#' A Bayesian network (also a dynamic one, slice by slice) adds up over its nodes; a conditional random field is a factor graph given its inputs.
#'
#' `what = "precision"` and `"ridge"`: norms of regularised estimates, before they are computed.
#' `"tikhonov"`: \eqn{(S + \rho I)^{-1}}{(S + rho I)^-1} has eigenvalues in \eqn{[1/(\|S\|_2 + \rho), 1/\rho]}{[1 / (||S||_2 + rho), 1 / rho]}.
#' `"glasso"` (diagonal penalised): in
#' \eqn{[1/(\|S\|_2 + N\rho), N/\rho]}{[1 / (||S||_2 + N rho), N / rho]}. Ridge regression \eqn{w = (X'X + \rho I)^{-1} X'y}{w = (X'X + rho I)^-1
#' X'y}: \eqn{\|w\|_2 \le \|y\|_2 / (2\sqrt\rho)}{||w||_2 <= ||y||_2 / (2 sqrt(rho))}, attained
#' when all singular values of X are \eqn{\sqrt\rho}{sqrt(rho)} and y lies in its range. Appendix G of the thesis prints \eqn{1/(1 + \sqrt\rho)}{1
#' / (1 + sqrt(rho))}, which is wrong for \eqn{\rho < 1}{rho < 1}.
#'
#' @section Which method when: to see how much a difference of parameters can matter without inference. Where [model_distance()] is
#' possible it is
#' sharper. The same bounds hold for every marginal.
#'
#' @param what Which bounds: of two models, of a log-density, of a regularised precision matrix, of a ridge regression.
#' @param ... What they need: `"pair"` takes `m1, m2` as [model_distance()] does, and `norm` (which bounds; by default all); `"constant"`
#'   takes `x`
#'   (observations, one row each), `model`, `y` (responses of `gaussian_cpd`), `alpha` and `beta`; `"precision"` takes `S`, `rho` (the penalty)
#'   and `type` (`"tikhonov"` or `"glasso"`); `"ridge"` takes `y` and `rho`.
#' @return For `"constant"` a data frame with one row per observation: `K` and `distance`, the norm that goes with it; for `"precision"` a vector
#'   `lower`, `upper`; for `"ridge"` a number. For `"pair"` a data frame of class `granary_lipschitz_bounds` with the columns `quantity`
#'   (`kl`, `expected_loglik`, `bayes_error`), `bound_name`,
#'   `norm`, `side` (is the bound above or below?),
#'   `constant`, `distance`, `bound`, `log_bound`, `exact`, `valid`.
#' @references
#' Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, chapter 6.
#' @seealso [model_distance()], [model_given()], [ggm_windows()], [ggm_lasso()]
#' @export
#' @examples
#' a <- model_given("gaussian", precision = diag(7))
#' b <- model_given("gaussian", precision = 2 * diag(7))
#' model_bounds("pair", a, b)
#' model_bounds("constant", rbind(c(1, 2), c(0, 1)), "precision", alpha = 0.5)
#' model_bounds("precision", cor(mtcars), rho = 0.1)
#' model_bounds("ridge", mtcars$mpg - mean(mtcars$mpg), rho = 2)
model_bounds <- function(what = c("pair", "constant", "precision", "ridge"), ...) {
  what <- check_choice(what, c("pair", "constant", "precision", "ridge"))
  by_kind(switch(what, pair = lipschitz_bounds, constant = lipschitz_constant, precision = precision_bounds, ridge = ridge_bound), what, ...)
}

lipschitz_bounds <- function(m1, m2, norm = c("all", "nuclear", "frobenius", "l1", "linf", "printed")) {
  pair <- model_pair(m1, m2)
  norm <- check_choice(norm, c("all", "nuclear", "frobenius", "l1", "linf", "printed"))
  rows <- switch(pair[[1L]]$kind, gaussian = gaussian_bounds(pair), ising = ising_pair_bounds(pair), bn = network_bounds(pair))
  if (norm != "all") {
    rows <- rows[rows$norm == norm, , drop = FALSE]
    if (nrow(rows) == 0L) abort_input(sprintf("There is no bound in the norm \"%s\" for this kind of model.", norm), "norm")
  }
  rownames(rows) <- NULL
  structure(rows, class = c("granary_lipschitz_bounds", "data.frame"))
}

bound_row <- function(quantity, name, norm, side, constant, distance, bound, exact, log_bound = log(bound)) {
  printed <- norm == "printed"
  slack <- 1e-10 * (1 + abs(exact))
  holds <- if (side == "above") bound >= exact - slack else bound <= exact + slack
  data.frame(quantity = quantity, bound_name = name, norm = norm, side = side, constant = constant, distance = distance, bound = bound,
             log_bound = if (is.na(log_bound)) NA_real_ else log_bound, exact = exact, valid = if (printed) holds else TRUE, stringsAsFactors = FALSE)
}

times <- function(k, d) if (d == 0) 0 else k * d  # 0 times infinity is 0 here: equal parameters, equal models

gaussian_bounds <- function(pair) {
  if (max(abs(pair[[1L]]$mean - pair[[2L]]$mean)) > 0) {
    abort_input("`m1` and `m2` must have equal means for bounds in their precision or covariance. model_distance() takes any means.", "m2")
  }
  parts <- lapply(pair, model_parts)
  closed <- core_gaussian_exact(parts[[1L]], parts[[2L]])
  n <- core_gaussian_norms(parts[[1L]], parts[[2L]])
  size <- length(pair[[1L]]$variables)
  a <- n$smallest
  b <- n$largest
  kl <- closed[["kl"]]
  tight <- (1 / a - 1 / b) / 2
  log_loose <- log(2 * size) + size / 2 * log(b) - (size / 2 + 1) * log(a)
  row <- function(name, norm, constant, distance) bound_row("kl", name, norm, "above", constant, distance, times(constant, distance), kl)
  rows <- rbind(
    row("precision, tight", "nuclear", tight, n$precision_nuclear),
    row("precision, generic", "nuclear", 1 / a, n$precision_nuclear),
    row("precision, tight", "frobenius", tight * sqrt(size), n$precision_frobenius),
    row("covariance, tight", "nuclear", (b - a) / 2, n$covariance_nuclear),
    row("covariance, generic", "nuclear", b, n$covariance_nuclear),
    row("covariance, tight", "frobenius", (b - a) / 2 * sqrt(size), n$covariance_frobenius),
    bound_row("kl", "factor graph, loose", "frobenius", "above", exp(log_loose), n$precision_frobenius, times(exp(log_loose), n$precision_frobenius),
              kl,
              log_loose + log(n$precision_frobenius)),
    row("precision, spectral norm", "printed", 1 / a, n$precision_spectral),
    row("precision, Frobenius norm", "printed", 1 / a, n$precision_frobenius),
    row("covariance, spectral norm", "printed", b, n$covariance_spectral)
  )
  expected <- -closed[["entropy"]] - kl
  lower <- -closed[["entropy"]] - times(tight, n$precision_nuclear)
  rows <- rbind(rows, bound_row("expected_loglik", "precision, tight", "nuclear", "below", tight, n$precision_nuclear, lower, expected, NA_real_))
  if (all(pair[[1L]]$mean == 0)) {
    log_bound <- n$log_bb - log(4)
    bracket <- bayes_bracket(closed[["bhattacharyya"]])
    rows <- rbind(rows,
                  bound_row("bayes_error", "BB / 4", "nuclear", "below", NA_real_, n$precision_nuclear, exp(log_bound), NA_real_, log_bound),
                  bound_row("bayes_error", "Bhattacharyya", "none", "below", NA_real_, NA_real_, bracket[["lower"]], NA_real_),
                  bound_row("bayes_error", "Bhattacharyya", "none", "above", NA_real_, NA_real_, bracket[["upper"]], NA_real_))
  }
  rows
}

discrete_rows <- function(kl, error, entropy, l1, linf, k_l1, k_linf, printed) {
  rows <- bound_row("kl", "parameters", "l1", "above", k_l1, l1, times(k_l1, l1), kl)
  if (!is.na(k_linf)) rows <- rbind(rows, bound_row("kl", "parameters", "linf", "above", k_linf, linf, times(k_linf, linf), kl))
  rows <- rbind(rows, bound_row("kl", "largest difference", "printed", "above", printed, linf, times(printed, linf), kl))
  best <- min(times(k_l1, l1), if (!is.na(k_linf)) times(k_linf, linf) else Inf)
  rows <- rbind(rows, bound_row("expected_loglik", "parameters", "l1", "below", k_l1, l1, -entropy - times(k_l1, l1), -entropy - kl, NA_real_))
  rbind(rows, bound_row("bayes_error", "exp(-K d) / 2", "l1", "below", k_l1, l1, exp(-best) / 2, error, -best - log(2)))
}

exact_distance <- function(pair, type) {
  core_model_distance(model_parts(pair[[1L]]), model_parts(pair[[2L]]), list(type = type), c(1, 1), NULL)$value
}

entropy_of <- function(log_p) -sum(ifelse(log_p == -Inf, 0, exp(log_p) * log_p))

ising_pair_bounds <- function(pair) {
  if (pair[[1L]]$coding != pair[[2L]]$coding) abort_input("`m1` and `m2` must have the same coding for bounds in their parameters.", "m2")
  gap <- abs(pair[[1L]]$own - pair[[2L]]$own)[upper.tri(pair[[1L]]$own, diag = TRUE)]
  exact <- length(pair[[1L]]$variables) <= 22L
  get <- function(type) if (exact) exact_distance(pair, type) else NA_real_
  entropy <- if (exact) entropy_of(core_discrete_log_probabilities(model_parts(pair[[1L]]))) else NA_real_
  discrete_rows(get("kl"), get("bayes_error"), entropy, sum(gap), max(gap), 2, NA_real_, 2)
}

network_bounds <- function(pair) {
  if (!identical(unname(pair[[1L]]$edges), unname(pair[[2L]]$edges))) {
    abort_input("`m1` and `m2` must have the same DAG for bounds in their parameters. model_distance() takes any two.", "m2")
  }
  gaps <- Map(function(p, q) {
    w <- function(t) log(t[, -ncol(t), drop = FALSE]) - log(t[, ncol(t)])
    gap <- abs(w(p) - w(q))
    gap[p[, -ncol(p)] == q[, -ncol(p)] & p[, ncol(p)] == q[, ncol(p)]] <- 0
    gap[is.nan(gap)] <- Inf
    gap
  }, pair[[1L]]$tables, pair[[2L]]$tables)
  l1 <- sum(vapply(gaps, function(g) max(rowSums(g)), 0))
  linf <- sum(vapply(gaps, max, 0))
  states <- prod(pair[[1L]]$levels)
  kl <- exact_distance(pair, "kl")
  small <- states <= 2^22
  error <- if (small) exact_distance(pair, "bayes_error") else NA_real_
  entropy <- if (small) entropy_of(core_discrete_log_probabilities(model_parts(pair[[1L]]))) else NA_real_
  discrete_rows(kl, error, entropy, l1, linf, 1, 2, 1)
}

#' @rdname model_bounds
#' @param x Bounds.
#' @export
print.granary_lipschitz_bounds <- function(x, ...) {
  if (!all(c("quantity", "bound", "valid") %in% names(x))) {
    print(structure(x, class = "data.frame"))
    return(invisible(x))
  }
  cli::cat_line("Bounds by the distance of the parameters")
  print(structure(x, class = "data.frame")[setdiff(names(x), "log_bound")], digits = 4L, row.names = FALSE)
  if (any(!x$valid %in% TRUE)) cli::cat_line("Rows with valid = FALSE are printed in the thesis and false for this pair.")
  invisible(x)
}

lipschitz_constant <- function(x, model = c("softmax", "logit", "gaussian_cpd", "laplace_cpd", "factor", "continuous_factor", "precision",
                                            "covariance"),
                               y = NULL, alpha = NULL, beta = NULL) {
  x <- check_matrix(x)
  model <- check_choice(model, c("softmax", "logit", "gaussian_cpd", "laplace_cpd", "factor", "continuous_factor", "precision", "covariance"))
  if (model %in% c("continuous_factor", "precision")) alpha <- check_number(alpha, lower = 0, strict_lower = TRUE)
  if (model %in% c("gaussian_cpd", "covariance")) beta <- check_number(beta, lower = 0, strict_lower = TRUE)
  if (model == "logit" && max(abs(x)) > 1) abort_input("`x` must lie within -1 and 1 for the multinomial logit: rescale the features.", "x")
  size <- sqrt(rowSums(x^2))
  if (model == "gaussian_cpd") y <- check_vector(y, length = nrow(x))
  k <- switch(model, softmax = 1, logit = 1, factor = 2, gaussian_cpd = size * abs(y) + beta * size^2, laplace_cpd = size,
              continuous_factor = size + alpha,
              precision = pmax(size^2, 1 / alpha) / 2, covariance = (beta^2 * size^2 + beta) / 2)
  norm <- switch(model, softmax = , logit = , factor = "l1", gaussian_cpd = , laplace_cpd = , continuous_factor = "l2", "nuclear")
  data.frame(K = rep_len(unname(k), nrow(x)), distance = norm)
}

precision_bounds <- function(S, rho, type = c("tikhonov", "glasso")) {
  S <- check_symmetric(S)
  rho <- check_number(rho, lower = 0, strict_lower = TRUE)
  type <- check_choice(type, c("tikhonov", "glasso"))
  values <- unlist(core_eigenvalue_range(S), use.names = FALSE)
  if (min(values) < -1e-8 * max(abs(values))) {
    abort_input(sprintf("`S` must be positive semi-definite, but its smallest eigenvalue is %g.", min(values)), "S")
  }
  factor <- if (type == "glasso") ncol(S) else 1
  c(lower = 1 / (max(values, 0) + factor * rho), upper = factor / rho)
}

ridge_bound <- function(y, rho) {
  y <- check_vector(y, upper = 1e150, lower = -1e150)
  rho <- check_number(rho, lower = 0, strict_lower = TRUE)
  sqrt(sum(y^2)) / (2 * sqrt(rho))
}
