#' Ising models along a path of penalties
#'
#' `ising_path()` fits at every penalty, warm-started; `ising_select()` chooses one by cross-validation or by EBIC.
#'
#' @details
#' The default path starts at the smallest penalty without edges, \eqn{\max_{i<j} |\hat\Sigma_{ij} - \hat\mu_i \hat\mu_j|}{max |Sigma_ij - mu_i
#' mu_j|} for the
#' likelihood and twice that for the pseudo-likelihood. Cross-validation scores the held-out log-likelihood where components have at most 20
#' variables at every penalty, else the pseudo-likelihood; folds run on the workers of `future::plan()`.
#'
#' @section Which method when:
#' `ising_select()` unless the whole path is wanted; `criterion = "ebic"` is quicker than cross-validation and sparser; [ising_hub()] where some
#' variables are related to nearly all.
#'
#' @inheritParams ising_fit
#' @param lambda Penalties; by default `n_lambda` of them, evenly spaced in logarithms.
#' @param lambda_min_ratio The last penalty of the default path over the first.
#' @param method `"exact"` or `"pseudolik"`; `"auto"` is exact up to 16 variables.
#' @return `ising_path()`: an object of class `granary_ising_path` with `lambda`, `df`, `loglik` (of the kind fitted), `kkt`, `W` and `b` (lists).
#'   `ising_select()`: a
#'   [granary_selection] whose `fit` is the one chosen, as from [ising_fit()].
#' @seealso [ising_fit()], [ising_model()], [ising_moments()], [ising_hub()], [influence_game()], [ec_ising()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_ising(p = 8, density = 0.3, n = 150)
#' path <- ising_path(sim$data, n_lambda = 8)
#' path
#' best <- ising_select(sim$data, n_lambda = 6, folds = 3)
#' best
#' best$fit
ising_path <- function(x, lambda = NULL, n_lambda = 30, lambda_min_ratio = 0.02, method = c("auto", "exact", "pseudolik"), field_penalty = FALSE,
                       na = c("error", "omit"), tol = 1e-6, max_iter = 2000, ...) {
  refuse_dots(...)
  call <- match.call()
  field_penalty <- check_flag(field_penalty)
  data <- ising_input(x, check_choice(na, c("error", "omit")), field_penalty)
  settings <- path_settings(data, method, field_penalty, tol, max_iter)
  grid <- path_grid(data, lambda, n_lambda, lambda_min_ratio, settings$method)
  fits <- ising_run(data, grid, settings)$runs
  each <- function(what) vapply(fits, what, 0)
  names <- colnames(data$x)
  fit <- new_fit(
    "ising_path", lambda = grid, df = each(function(f) count_pairs(f$W)), loglik = -nrow(data$x) * each(function(f) f$loss),
    kkt = each(function(f) f$convergence$residual), W = lapply(fits, function(f) structure(f$W, dimnames = list(names, names))),
    b = lapply(fits, function(f) stats::setNames(as.vector(f$b), names)), method = settings$method, n = nrow(data$x), call = call,
    convergence = lapply(fits, `[[`, "convergence")
  )
  check_convergence(fit, "Raise `max_iter`, loosen `tol`, or use larger penalties.")
  fit
}

path_settings <- function(data, method, field_penalty, tol, max_iter) {
  p <- ncol(data$x)
  method <- check_choice(method, c("auto", "exact", "pseudolik"))
  if (method == "auto") method <- if (p <= 16L) "exact" else "pseudolik"
  settings <- list(method = method, sampler = "exact", ridge = FALSE, mask = NULL, field_penalty = field_penalty, gamma = 0.25,
                   tol = check_number(tol, lower = 0, strict_lower = TRUE), max_iter = check_count(max_iter, upper = 1e6))
  ising_allowed(settings, if (p > 25L) NULL else 0, p)
  settings
}

path_grid <- function(data, lambda, n_lambda, ratio, method) {
  n_lambda <- check_count(n_lambda, upper = 1000)
  ratio <- check_number(ratio, "lambda_min_ratio", lower = 0, upper = 1, strict_lower = TRUE)
  if (is.null(lambda)) return(core_ising_grid(unname(data$x), method, n_lambda, ratio))
  sort(check_vector(lambda, "lambda", lower = 0, upper = 1e6), decreasing = TRUE)
}

#' @rdname ising_path
#' @param folds Number of folds, or the fold of each row.
#' @param rule `"min"`: the best penalty; `"1se"`: the largest within one standard error of it (cross-validation only).
#' @param criterion `"cv"`, or `"ebic"` with weight `gamma`.
#' @export
ising_select <- function(x, lambda = NULL, n_lambda = 30, lambda_min_ratio = 0.02, folds = 10, criterion = c("cv", "ebic"), rule = c("min", "1se"),
                         gamma = 0.25, method = c("auto", "exact", "pseudolik"), field_penalty = FALSE, na = c("error", "omit"), tol = 1e-6,
                         max_iter = 2000, ...) {
  refuse_dots(...)
  call <- match.call()
  field_penalty <- check_flag(field_penalty)
  data <- ising_input(x, check_choice(na, c("error", "omit")), field_penalty)
  settings <- path_settings(data, method, field_penalty, tol, max_iter)
  criterion <- check_choice(criterion, c("cv", "ebic"))
  rule <- check_choice(rule, c("min", "1se"))
  if (criterion == "ebic" && rule == "1se") abort_input("rule = \"1se\" needs standard errors: use criterion = \"cv\".", "rule")
  settings$gamma <- check_number(gamma, lower = 0, upper = 1e6)
  grid <- path_grid(data, lambda, n_lambda, lambda_min_ratio, settings$method)
  fold <- if (criterion == "cv") check_folds(folds, nrow(data$x))
  out <- ising_run(data, grid, settings)
  table <- if (criterion == "ebic") {
    list(table = stats::setNames(out$table, c("lambda", "edges", "estimate")), measure = "EBIC")
  } else {
    ising_folds(data, grid, settings, fold, out$runs)
  }
  choice <- new_selection("ising", NULL, table$table, rule, table$measure, simplicity = grid, maximize = criterion == "cv", lambda = grid, folds = fold,
                          call = call, convergence = NULL)
  fit <- ising_finish(out$runs[[choice$selected]], data, c(settings, list(criterion = criterion)), call)
  fit$lambda <- grid[choice$selected]
  choice$fit <- fit
  choice$convergence <- fit$convergence
  choice
}

ising_folds <- function(data, grid, settings, fold, fits) {
  parts <- sort(unique(fold))
  scores <- resample_lapply(parts, function(k) {
    train <- list(x = data$x[fold != k, , drop = FALSE])
    test <- data$x[fold == k, , drop = FALSE]
    constant <- abs(colMeans(train$x)) == 1
    if (any(constant) && !settings$field_penalty) {
      abort_input(paste0("Column \"", colnames(train$x)[constant][1L], "\" of `x` is constant in the training rows of a fold.\n",
                         "Use fewer folds, field_penalty = TRUE, or criterion = \"ebic\"."), "x")
    }
    scores <- lapply(ising_run(train, grid, settings)$runs, function(f) core_ising_score(unname(test), f[c("W", "b")]))
    list(exact = vapply(scores, `[[`, 0, "likelihood"), pseudo = vapply(scores, `[[`, 0, "pseudo"))
  }, "cross-validation")
  each <- function(kind) matrix(vapply(scores, `[[`, numeric(length(grid)), kind), length(grid))
  exact <- !anyNA(each("exact"))
  score <- each(if (exact) "exact" else "pseudo")
  table <- data.frame(lambda = grid, edges = vapply(fits, function(f) count_pairs(f$W), 0), estimate = drop(score %*% (as.vector(table(fold)) / length(fold))),
                      std.error = apply(score, 1L, stats::sd) / sqrt(length(parts)))
  list(table = table, measure = paste("held-out", if (exact) "log-likelihood" else "log pseudo-likelihood", "per row"))
}

#' @export
print.granary_ising_path <- function(x, ...) {
  cli::cat_line("Ising models by ", ising_titles[[x$method]], ": ", ncol(x$W[[1L]]), " variables, ", length(x$lambda), " penalties, n = ", x$n)
  print_call(x$call)
  print(utils::head(data.frame(lambda = x$lambda, edges = x$df, loglik = x$loglik, kkt = x$kkt), 10L), digits = 4L, row.names = FALSE)
  if (length(x$lambda) > 10L) cli::cat_line("... ", length(x$lambda) - 10L, " more")
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname ising_path
#' @param ... For `plot()`, graphical parameters.
#' @export
plot.granary_ising_path <- function(x, ...) {
  plot_along(x$lambda, x$df, "edges", xlab = "lambda", ...)
}

#' Bounds on Ising estimates and on their computation
#'
#' How large the solution of [ising_fit()] can be, and how far forward-backward splitting and proximal gradient methods with sampled gradients can be
#' from
#' it after `steps` steps: the calculator of chapter 5 of the thesis.
#'
#' @details
#' `W` and `b` bound \eqn{|W^*|_1}{|W*|_1} and \eqn{|b^*|_1}{|b*|_1} (Theorem 5.2), `D` their joint norm, `G` the gradients (Lemma 5.3). With a
#' sampler of bias
#' at most \eqn{B/S}{B/S} and variance at most \eqn{V/S}{V/S} for \eqn{S} draws, `error` bounds with probability \eqn{1 - \delta}{1 - delta} the
#' weighted mean
#' error \eqn{A} of the gradients, and `objective` the distance of the objective to its minimum: `robust` and `average` for forward-backward
#' splitting,
#' `random` the average one over `epsilon`. `pg` and `apg` are the error terms \eqn{K A^2}{K A^2} and \eqn{K^2 A^2}{K^2 A^2} of the basic and
#' accelerated
#' proximal gradient. Theorem 5.10 is printed for equal weights only; `printed = TRUE` gives its numbers (see `errata("thesis-5-discrete-mrf")`).
#'
#' How fast errors must fall, or draws grow, with the step k (e > 0 arbitrary):
#'
#' | | basic PG | accelerated PG | FBS |
#' | --- | --- | --- | --- |
#' | errors, for convergence | \eqn{k^{-(1/2+e)}}{k^-(1/2+e)} | \eqn{k^{-(1+e)}}{k^-(1+e)} | \eqn{1/\log k}{1/log k} |
#' | draws, for convergence | \eqn{k^{1/2+e}}{k^(1/2+e)} | never guaranteed | \eqn{\log k}{log k} |
#' | draws, for \eqn{O(1/\sqrt K)}{O(1/sqrt K)} | \eqn{k^{3/4+e}}{k^(3/4+e)} | | \eqn{k^{1/2+e}}{k^(1/2+e)} |
#' | draws, for \eqn{O(1/K)}{O(1/K)} | \eqn{k^{1+e}}{k^(1+e)} | | \eqn{k^{1+e}}{k^(1+e)} |
#'
#' @section Which method when:
#' `ising_bounds()` when planning [ising_fit()] with sampled gradients; with exact or pseudo-likelihood gradients the fit's own certificate is sharper.
#'
#' @inheritParams ising_fit
#' @param steps Number of steps K.
#' @param samples Draws at step k, as in [ising_fit()].
#' @param B,V Constants of the sampler; not known in general, 1 by convention.
#' @param delta,epsilon Probabilities of failure.
#' @param printed Whether to use Theorem 5.10 as printed.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list of class `granary_ising_bounds`.
#' @seealso [ising_fit()], [ising_path()], [ising_model()], [ising_moments()], [ising_hub()], [influence_game()]
#' @export
#' @examples
#' set.seed(1)
#' ising_bounds(sim_ising(p = 6)$data, lambda = 1 / 16, steps = 1000)
ising_bounds <- function(x, lambda, steps = 1000, beta = 1, r = 0.5, samples = function(k) ceiling(sqrt(k)), B = 1, V = 1, delta = 0.05, epsilon = 0.05,
                         field_penalty = FALSE, printed = FALSE, ...) {
  refuse_dots(...)
  field_penalty <- check_flag(field_penalty)
  data <- ising_input(x, "error", field_penalty)
  lambda <- check_number(lambda, lower = 0, strict_lower = TRUE, upper = 1e6)
  steps <- check_count(steps, upper = 1e7)
  beta <- check_number(beta, lower = 0, strict_lower = TRUE)
  r <- check_number(r, lower = 0, upper = 10)
  B <- check_number(B, lower = 0)
  V <- check_number(V, lower = 0)
  delta <- check_number(delta, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  epsilon <- check_number(epsilon, lower = 0, upper = 1, strict_lower = TRUE)
  printed <- check_flag(printed)
  S <- check_samples(samples, steps)
  size <- core_ising_bounds(unname(data$x), lambda, field_penalty)
  k <- seq_len(steps)
  M <- ncol(data$x)^2
  L <- log(1 / delta)
  error <- function(weight) {
    range <- if (printed) sqrt(M) else sqrt(M) * steps * max(weight)
    bias <- min(2 * sqrt(M), B * sum(weight / S))
    variance <- min(4 * M, V * sum(weight^2 / S))
    bias + 2 * range * L / (3 * steps) + sqrt(2 * variance * L + 4 * range^2 * L^2 / (9 * steps^2))
  }
  harmonic <- function(power) sum(k^-power)
  A <- c(robust = error(k^-r / harmonic(r)), average = error(rep(1 / steps, steps)), accelerated = error(k / (steps * (steps + 1) / 2)))
  D <- size$D
  G <- size$G
  robust <- D^2 * G / (2 * beta * harmonic(r)) + 2 * D * A[["robust"]] + 4 * beta * G * harmonic(2 * r) / harmonic(r)
  average <- D^2 * G * (steps + 1)^r / (2 * beta * steps) + 2^(1 + r) * D * A[["average"]] + 2^(2 + r) * beta * G * harmonic(r) / steps
  seal(structure(
    list(W = size$couplings, b = size$fields, D = D, G = G, error = A,
         objective = c(robust = robust, average = average, random = average / epsilon),
         error_terms = c(pg = steps * A[["average"]]^2, apg = steps^2 * A[["accelerated"]]^2), lambda = lambda, steps = steps, delta = delta),
    class = "granary_ising_bounds"
  ))
}

#' @export
print.granary_ising_bounds <- function(x, ...) {
  short <- function(v) format(v, digits = 4L)
  cli::cat_line("Bounds for the Ising likelihood at lambda = ", short(x$lambda))
  cli::cat_line("  solution: |W|_1 <= ", short(x$W), ", |b|_1 <= ", short(x$b), ", norm D <= ", short(x$D), "; gradients: G <= ", short(x$G))
  cli::cat_line("After ", x$steps, " steps, with probability ", 1 - x$delta, ":")
  cli::cat_line("  mean error of the gradients: ", paste0(names(x$error), " ", short(x$error), collapse = ", "))
  cli::cat_line("  objective above its minimum: ", paste0(names(x$objective), " ", short(x$objective), collapse = ", "))
  cli::cat_line("  error terms of the proximal gradient: ", paste0(names(x$error_terms), " ", short(x$error_terms), collapse = ", "))
  invisible(x)
}
