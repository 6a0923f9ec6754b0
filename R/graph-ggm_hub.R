#' Gaussian graphs with hubs
#'
#' Estimates a sparse precision matrix in which a few nodes, not known beforehand, may be joined to very many others: master regulators among
#' genes, key words in texts, influential assets. The graph and its hubs come out of one convex problem, with a duality gap that certifies
#' the answer.
#'
#' @details
#' The hub graphical lasso minimises \eqn{-\log\det\Theta + \mathrm{tr}(S\Theta) + P(\Theta)}{-log det T + tr(S T) + P(T)} over positive definite
#' \eqn{\Theta}{T}, where
#' \deqn{P(\Theta) = \min_{\Theta = V + V' + Z} \lambda_1 \|Z\|_1 + \lambda_2 \|V\|_1 + \lambda_3 \sum_j \|V_{\cdot j}\|_q}{P(T) =
#' min over T = V + V' + Z of lambda1 |Z|_1 + lambda2 |V|_1 + lambda3 sum_j |V_.j|_q}
#' looks at off-diagonal entries only; sums run over ordered pairs, as in [ggm_lasso()]. \eqn{Z} holds ordinary edges; a column of \eqn{V} that is not
#' zero makes its node a hub. \eqn{\Theta}{T} is unique, its split into \eqn{V} and \eqn{Z} need not be. Only the sum of the diagonals is
#' identified: `V` has a
#' zero diagonal.
#'
#' **What the three penalties allow.** With \eqn{1/s + 1/q = 1} and p variables (of a component):
#' \eqn{\lambda_1 < \lambda_2/2 + \lambda_3 / (2 (p-1)^{1/s})}{lambda1 < lambda2 / 2 + lambda3 / (2 (p - 1)^(1/s))} excludes hubs, and the answer is
#' `ggm_lasso(lambda = lambda1, penalize_diagonal = FALSE)`; \eqn{\lambda_1 > (\lambda_2 + \lambda_3)/2}{lambda1 > (lambda2 + lambda3) / 2} excludes
#' ordinary edges. With `q = 1` or `lambda3 = 0` the answer is that of `ggm_lasso()` with
#' \eqn{\min\{\lambda_1, (\lambda_2+\lambda_3)/2\}}{min(lambda1, (lambda2 + lambda3) / 2)}. [ggm_bounds()] tells which case holds
#' (`what = "hub_regime"`), and gives the penalties beyond which the graph is empty (`"hub_lambda_max"`); `ggm_hub()` warns when no hub is possible.
#'
#' **Solver.** Variables are split into the connected components of
#' \eqn{|S_{ij}| > \min(\lambda_1, \lambda_2/2)}{|S_ij| > min(lambda1, lambda2 / 2)}, which is exact. A component in which hubs are impossible is
#' solved by QUIC, others by a proximal Newton method that works on whole columns of V and Z; with `q = Inf` or `method = "admm"` by the
#' alternating direction method of the paper, with over-relaxation and a balanced step. That takes an eigendecomposition in each of some 300
#' iterations: on the data of the paper's Set-up I about seven times as long for `q = Inf` as for `q = 2` at 100 and 200 variables (4 s at
#' 200), and
#' growing with the cube of the size of the largest component. It stops when the duality
#' gap is at most `tol` times the number of variables. The gap comes from
#' \eqn{L = \Theta^{-1} - S}{L = T^-1 - S} moved into the set \eqn{|L_{ij}| \le \lambda_1}{|L_ij| <= lambda1},
#' \eqn{\|\mathrm{soft}(2 L_{\cdot j}, \lambda_2)\|_s \le \lambda_3}{|soft(2 L_.j, lambda2)|_s <= lambda3}. `V` and `Z` have exact zeros.
#'
#' **BIC** is the paper's
#'
#' \eqn{-n\log\det\Theta + n\,\mathrm{tr}(S\Theta) + \log n\,\{|Z| + \nu + c(|V| - \nu)\}}{-n log det T + n tr(S T) +
#' log n (|Z| + nu + c (|V| - nu))} with
#' \eqn{\nu}{nu} the number of hubs, \eqn{|Z|} the number of pairs and \eqn{|V|} of entries that are not zero off the diagonal, and \eqn{c = 0.2}.
#'
#' @section Which method when: `ggm_hub()` when a few nodes may have edges to a large share of all others and the question is which;
#' [ggm_lasso()] when
#' degrees are alike; `ggm_baseline(type = "scale_free")` when degrees follow a power law without true hubs. A nonzero column of `V` alone is weak evidence: with
#' a small
#' `lambda3` most columns are nonzero. Look at strength and degree in `hubs`.
#'
#' @param x,S,n Data, or a covariance matrix and its number of observations, as in [ggm_lasso()].
#' @param lambda1,lambda2,lambda3 The penalties of ordinary edges, of a hub's edges, and of hubs. `lambda2` may be a sequence: a path,
#'   sorted to be
#'   decreasing, from which [ggm_select()] chooses.
#' @param q The norm of a hub's column: 2, `Inf`, or 1 (no hubs; see Details).
#' @param method `"auto"`, or `"admm"` for the alternating direction method without any shortcut.
#' @param screen Whether to split into components first.
#' @param tol Duality gap per variable at which to stop (S in units of its mean variance).
#' @param max_iter Largest number of iterations (a Newton method needs some ten, the alternating direction method some hundred).
#' @param step Step of the alternating direction method at its start.
#' @param start A fit to start from.
#' @param min_degree Nodes of `V` with fewer edges are not listed in `hubs`.
#' @param threads Threads for independent components; default `getOption("granary.threads")`.
#' @return An object of class `granary_ggm_hub`, inheriting from [`granary_ggm`][granary_ggm]: `precision`, `lambda` (which is `lambda2`),
#'   `objective`, `gap`, `kkt` (largest violation of the dual constraints), `component` and so on as for [ggm_lasso()], and
#' \item{V, Z}{the parts, sparse; on a path lists of them, as are `hubs`, `bic` and `regime`: see [ggm_hub()] and [ggm_at()]}
#' \item{hubs}{data frame: node, strength (norm of its column of V), degree, and edges in V}
#' \item{bic}{see Details; `NA` when `n` is not known}
#' \item{regime}{`"mixed"`, `"no hubs possible"` or `"hubs only"`}
#' @references
#' Tan, London, Mohan, Lee, Fazel and Witten (2014). Learning graphical models with hubs. *Journal of Machine Learning Research* 15, 3297--3331.
#' @seealso [hub_screen()]
#' @seealso [ggm_hub_select()] for a grid, [cov_hub()], [ising_hub()], [assess()], [sim_hub()]; `errata("jmlr15-hub-graphs")`
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_hub(p = 40, hubs = 2, n = 200)
#' fit <- ggm_hub(sim$data, lambda1 = 0.3, lambda2 = 0.2, lambda3 = 0.8)
#' fit
#' sim$hubs
#' plot(fit)
ggm_hub <- function(x = NULL, S = NULL, n = NULL, lambda1, lambda2, lambda3, q = 2, method = c("auto", "admm"), screen = TRUE, tol = 1e-7,
                    max_iter = 5000, step = 2.5, start = NULL, min_degree = 1, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  data <- ggm_input(x, S, n)
  zero <- diag(data$S) <= 0
  if (any(zero)) {
    abort_input(sprintf("Variable %s has variance 0, and the diagonal is not penalised, so the likelihood has no maximum: drop it.",
                        colnames(data$S)[zero][1L]), if (is.null(x)) "S" else "x")
  }
  penalty <- hub_penalty(lambda1, lambda2, lambda3, q, ncol(data$S))
  settings <- hub_settings(method, screen, tol, max_iter, step)
  settings$min_degree <- check_count(min_degree, lower = 0)
  start <- hub_start(start, colnames(data$S))
  fit <- fit_ggm_hub(data, penalty, settings, start, thread_count(threads), call)
  warn_empty(fit, data$S, penalty)
  check_convergence(fit)
  fit
}

# Penalties beyond which nothing is left are worth a word; on a path only if that is so along all of it.
warn_empty <- function(fit, S, penalty) {
  if (ncol(S) < 2L || any(fit$df > 0) || !all(convergence_table(fit$convergence)$converged)) return(invisible())
  top <- core_hub_smallest_empty(S, hub_core_penalty(penalty, min(penalty$lambda2)))
  warn_input(sprintf("The graph is empty: with lambda2 = %.3g an edge takes lambda1 < %.3g or lambda3 < %.3g.", min(penalty$lambda2), top[[1L]],
                     top[[2L]]), "lambda1")
}

fit_ggm_hub <- function(data, penalty, settings, start, threads, call) {
  results <- core_hub_path(data$S, hub_core_options("precision", penalty, settings, threads), start, progress_bar("hub graphical lasso"))
  parts <- Map(function(r, lambda2) {
    hub_part(r, colnames(data$S), penalty, lambda2, settings$min_degree)
  }, results, penalty$lambda2)
  results <- lapply(results, function(r) {
    r$trace <- hub_trace(r$trace)
    if (length(results) > 1L) r$covariance <- matrix(0, 0L, 0L)
    r
  })
  own <- if (length(parts) == 1L) parts[[1L]] else hub_along(parts)
  shared <- list("ggm_hub", results, data, lambda = penalty$lambda2, penalty = penalty, settings = settings)
  fit <- do.call(new_ggm, c(shared, own, list(call = call)), quote = TRUE)  # quoted, or the call would be made again
  fit$bic <- if (is.null(data$n)) rep(NA_real_, length(results)) else stats::BIC(fit)
  if (!is.null(fit$along)) fit$along <- c(fit$along, "bic")
  fit
}

#' @rdname granary_ggm
#' @export
logLik.granary_ggm_hub <- function(object, ...) {  # nolint: object_name_linter.
  value <- NextMethod()
  size <- if (is_path(object)) mapply(hub_complexity, object$V, object$Z) else hub_complexity(object$V, object$Z)
  attr(value, "df") <- size + ncol(object$S)
  value
}

# What the core asks for: penalties with the norm as a word, the solver apart.
hub_norm_word <- function(q) if (q == 1) "l1" else if (q == 2) "l2" else "linf"

hub_core_penalty <- function(penalty, lambda2 = penalty$lambda2) {
  list(lambda1 = penalty$lambda1, lambda2 = lambda2, lambda3 = penalty$lambda3, q = hub_norm_word(penalty$q))
}

hub_core_options <- function(model, penalty, settings, threads) {
  solver <- c(settings[c("tol", "max_iter", "step", "screen", "reduce", "eps", "barzilai_borwein")], list(threads = threads))
  c(list(model = model), hub_core_penalty(penalty), list(solver = solver))
}

hub_regime_at <- function(penalty, lambda2, p) core_hub_regime(hub_core_penalty(penalty, lambda2), p)

# The parts of all fits of a path, kept where ggm_at() finds them.
hub_along <- function(parts) {
  names <- names(parts[[1L]])
  own <- lapply(stats::setNames(names, names), function(name) lapply(parts, `[[`, name))
  for (name in c("regime", "step")) own[[name]] <- unlist(own[[name]])
  c(own, list(along = names))
}

# V, Z, the table of hubs and regime of one result.
hub_part <- function(result, names, penalty, lambda2, min_degree) {
  V <- label_matrix(result$V, names)
  Z <- label_matrix(result$Z, names)
  list(V = V, Z = Z, hubs = hub_table(V, label_matrix(result$precision, names), penalty$q, min_degree),
       regime = hub_regime_at(penalty, lambda2, length(names)), step = result$step)
}

# No gap is known before the first feasible iterate.
hub_trace <- function(trace) as.data.frame(lapply(trace, function(column) replace(column, is.nan(column), NA)))

label_matrix <- function(m, names) {
  dimnames(m) <- list(names, names)
  m
}

hub_complexity <- function(V, Z, c = 0.2) {
  hubs <- sum(diff(V@p) > 0L)
  count_edges(Z) + hubs + c * (length(V@x) - hubs)
}

hub_table <- function(V, theta, q = 2, min_degree = 1L) {
  strength <- apply(as.matrix(V), 2L, function(v) if (q == 1) sum(abs(v)) else if (q == 2) sqrt(sum(v^2)) else max(abs(v)))
  degree <- ggm_degrees(theta)
  found <- which(strength > 0 & degree >= min_degree)
  found <- found[order(-strength[found])]
  data.frame(node = colnames(V)[found], strength = unname(strength[found]), degree = unname(degree[found]), in_V = unname(diff(V@p)[found]))
}

hub_penalty <- function(lambda1, lambda2, lambda3, q, p, warn = TRUE) {
  lambda1 <- check_number(lambda1, lower = 0)
  lambda2 <- sort(check_vector(lambda2, "lambda2", lower = 0), decreasing = TRUE)
  lambda3 <- check_number(lambda3, lower = 0)
  q <- check_hub_norm(q)
  penalty <- list(lambda1 = lambda1, lambda3 = lambda3, q = q)
  regime <- vapply(lambda2, function(l) hub_regime_at(penalty, l, p), "")
  if (warn && p > 1L && all(regime == "no hubs possible")) {
    warn_input(sprintf(paste("No hub is possible with these penalties: it takes lambda1 >= lambda2 / 2 + lambda3 / (2 (p - 1)^(1/s)) = %.3g,",
                             "and lambda1 is %.3g. The answer is that of an l1 penalty with lambda1."),
                       min(lambda2) / 2 + lambda3 / (2 * hub_root(p, q)), lambda1), "lambda1")
  }
  list(lambda1 = lambda1, lambda2 = as.double(lambda2), lambda3 = lambda3, q = q)
}

hub_root <- function(p, q) if (q == 1) 1 else if (q == 2) sqrt(max(p - 1, 1)) else max(p - 1, 1)

check_hub_norm <- function(q) {
  q <- check_number(q, "q", lower = 1, allow_infinite = TRUE)
  if (!q %in% c(1, 2, Inf)) abort_input(sprintf("`q` must be 1, 2 or Inf, not %g.", q), "q")
  q
}

hub_settings <- function(method, screen, tol, max_iter, step, eps = 1e-4, inner = "lbfgs") {
  list(reduce = check_choice(method, c("auto", "admm")) == "auto", screen = check_flag(screen),
       tol = check_number(tol, lower = 0, strict_lower = TRUE, upper = 1), max_iter = check_count(max_iter),
       step = check_number(step, lower = 0, strict_lower = TRUE), eps = eps, barzilai_borwein = inner == "barzilai_borwein", min_degree = 1L)
}

# What the core starts from, of an earlier fit: its estimate, parts, multipliers and step.
hub_start <- function(start, variables) {
  if (is.null(start)) return(NULL)
  p <- length(variables)
  known <- inherits(start, c("granary_ggm_hub", "granary_cov_hub", "granary_ising_hub"))
  if (!known) abort_input(sprintf("`start` must be a hub fit, but it is %s.", describe(start)), "start")
  part <- hub_parts(start)
  theta <- as.matrix(if (inherits(start, "granary_ggm")) precision_at(start) else coef(start))
  if (ncol(theta) != p) abort_input(sprintf("`start` must have %d variables, but it has %d.", p, ncol(theta)), "start")
  own <- function(m) unname(match_named(as.matrix(m), variables, "start"))
  list(theta = own(theta), V = own(part$V), Z = own(part$Z), step = part$step)
}

#' @exportS3Method
refit_path.granary_ggm_hub <- function(fit, x) {  # nolint: object_name_linter.
  data <- suppressWarnings(ggm_input(x, NULL, NULL), classes = "granary_warning_input")
  penalty <- fit$penalty
  penalty$lambda2 <- fit$lambda
  fit_ggm_hub(data, penalty, fit$settings, NULL, 1L, NULL)
}

#' @rdname ggm_hub
#' @param object A fit.
#' @param type `"estimate"`, or `"parts"`: a list with the hub part `V`, the rest `Z`, the table `hubs` of nodes with a column in `V`, and
#'   `regime`.
#' @param which Position on the path.
#' @param ... Not used.
#' @export
coef.granary_ggm_hub <- function(object, type = c("estimate", "parts"), which = NULL, min_degree = NULL, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  if (check_choice(type, c("estimate", "parts")) == "parts") hub_parts(object, which, min_degree) else precision_at(object, which)
}

hub_parts <- function(fit, which = NULL, min_degree = NULL) {
  if (!inherits(fit, c("granary_ggm_hub", "granary_cov_hub", "granary_ising_hub"))) {
    abort_input(sprintf("`fit` must be a hub fit, but it is %s.", describe(fit)), "fit")
  }
  check_fit(fit)
  min_degree <- check_count(min_degree, lower = 0, allow_null = TRUE)
  which <- if (inherits(fit, "granary_ggm")) path_position(fit, which) else check_count(which, upper = 1, allow_null = TRUE)
  if (inherits(fit, "granary_ggm")) fit <- ggm_at(fit, which)
  part <- unclass(fit)[c("V", "Z", "hubs", "bic", "regime", "step")]
  if (!is.null(min_degree)) {
    theta <- if (inherits(fit, "granary_ggm")) fit$precision else fit$theta
    part$hubs <- hub_table(part$V, theta, fit$penalty$q, min_degree)
  }
  part
}

hub_regime <- function(lambda1, lambda2, lambda3, p, q = 2) {
  penalty <- list(lambda1 = check_number(lambda1, lower = 0), lambda3 = check_number(lambda3, lower = 0), q = check_hub_norm(q))
  hub_regime_at(penalty, check_number(lambda2, lower = 0), check_count(p))
}

hub_lambda_max <- function(S, lambda2 = 0, q = 2) {
  unlist(core_hub_smallest_empty(check_symmetric(S, "S"), list(lambda2 = check_number(lambda2, lower = 0), q = hub_norm_word(check_hub_norm(q)))))
}
