sem_cov <- function(B, variance = 1) {
  B <- check_sem(B)
  variance <- check_error_variance(variance, colnames(B))
  total <- core_total_effects(B)
  S <- crossprod(total, variance * total)
  dimnames(S) <- dimnames(B)
  S
}

check_sem <- function(B, arg = "B") {
  B <- check_matrix(B, arg)
  if (nrow(B) != ncol(B)) abort_input(sprintf("`%s` must be a square matrix, but it is %d x %d.", arg, nrow(B), ncol(B)), arg)
  if (any(diag(B) != 0)) abort_input(sprintf("`%s` must have a zero diagonal: no variable is its own cause.", arg), arg)
  names <- variable_names(symmetric_labels(B, arg), ncol(B))
  check_names_unique(names, arg)
  dimnames(B) <- list(names, names)
  if (any(B != 0 & t(B) != 0)) {
    at <- which(B != 0 & t(B) != 0, arr.ind = TRUE)[1L, ]
    abort_input(sprintf("`%s` must be acyclic, but it has arcs both ways between \"%s\" and \"%s\".", arg, names[at[2L]], names[at[1L]]), arg)
  }
  a <- which(B != 0, arr.ind = TRUE)
  cycle <- core_graph_cycle(list(nodes = ncol(B), edges = cbind(unname(a), rep(1L, nrow(a)), rep(2L, nrow(a)))))
  if (length(cycle) > 0L) abort_input(sprintf("`%s` must be acyclic, but it has the cycle %s.", arg,
                                              paste(names[c(cycle, cycle[1L])], collapse = " -> ")), arg)
  B
}

check_error_variance <- function(variance, names, arg = "variance") {
  p <- length(names)
  variance <- check_vector(variance, arg, lower = 0, strict_lower = TRUE)
  if (!length(variance) %in% c(1L, p)) abort_input(sprintf("`%s` must have one value or one per variable (%d), but it has %d.", arg, p,
                                                           length(variance)), arg)
  if (max(variance) > 1e150) abort_input(sprintf("`%s` has a value too large to compute with: %.3g.", arg, max(variance)), arg)
  if (length(variance) == p) variance <- match_named(variance, names, arg)
  rep_len(as.double(variance), p)
}

#' Linear structural equation models: covariance and simulation
#'
#' @details
#' \eqn{X = B^T X + \varepsilon}{X = B'X + e} with independent errors of variances \eqn{\Omega}{Omega}, so that
#' \eqn{\Sigma = (I-B)^{-T}\Omega(I-B)^{-1}}{Sigma = (I - B)^-T Omega (I - B)^-1} and \eqn{\Sigma^{-1} = (I-B)\Omega^{-1}(I-B)^T}{Sigma^-1 = (I - B)
#' Omega^-1 (I - B)'}.
#' Errors of every distribution are scaled to the variances asked for.
#'
#' @section Which method when:
#' `sim_sem()` for a graph, weights and error laws of your own; [sim_dag()] to draw the graph as well.
#'
#' @param B Square matrix of coefficients, entry (i, j) that of \eqn{i \to j}{i -> j}; its graph must be acyclic.
#' @param variance Error variances, one or one per node.
#' @param n Number of rows; `Inf` for the covariance matrix of the model.
#' @param errors Their distribution: `"normal"`, `"uniform"`, `"laplace"` or `"t"` with `df` degrees of freedom (above 2).
#' @param df Degrees of freedom for `"t"`.
#' @param missing Share of values that are missing completely at random.
#' @param noise Variance of measurement errors added to all variables.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A matrix of n rows, or the covariance matrix. For a random DAG see [sim_dag()].
#' @seealso [causal_dag()], [moral_graph()], [best_dag()], [causal_dag_bounds()], [causal_dag_alternatives()], [pc()]
#' @export
#' @examples
#' B <- rbind(c(0, 0.8, 0), c(0, 0, -0.5), c(0, 0, 0))
#' sim_sem(Inf, B, c(1, 2, 1))
#' set.seed(1)
#' sim_sem(3, B, errors = "laplace")
sim_sem <- function(n, B, variance = 1, errors = c("normal", "uniform", "laplace", "t"), df = 5, missing = 0, noise = 0, ...) {
  refuse_dots(...)
  if (missing(n)) fail_missing("n")
  if (identical(n, Inf)) return(sem_cov(B, variance))
  n <- check_count(n, upper = 1e8)
  B <- check_sem(B)
  errors <- check_choice(errors, c("normal", "uniform", "laplace", "t"))
  df <- check_number(df, lower = 2, strict_lower = TRUE)
  missing <- check_number(missing, lower = 0, upper = 1, strict_upper = TRUE)
  noise <- check_number(noise, lower = 0)
  sd <- sqrt(check_error_variance(variance, colnames(B)))
  x <- core_sim_sem(B, list(n = n, sd = sd, errors = errors, df = df, noise = noise, missing = missing), core_seed())
  colnames(x) <- colnames(B)
  x[is.nan(x)] <- NA
  x
}

#' How wrong may the error variances be?
#'
#' The gap between the score of the true DAG and that of the best DAG that does not contain it, and what it says about misspecified error
#' variances
#' and about sample size.
#'
#' @details
#' With weights \eqn{\Omega_0}{Omega0} (the true error variances) the true DAG has score \eqn{p}. The gap \eqn{\xi}{xi} is the smallest excess over it
#' of a DAG that lacks one of
#' its edges; it is found by one exact search per edge. Scoring with other weights \eqn{\Omega_1}{Omega1} still finds the true DAG if
#' \deqn{\frac{\max_j \Omega_{0j}/\Omega_{1j}}{\min_j \Omega_{0j}/\Omega_{1j}} < 1 + \xi/p}{max(Omega0 / Omega1) / min(Omega0 / Omega1) <
#' 1 + xi / p}
#' (Theorem 9; sufficient, not necessary, so `safe = FALSE` need not mean failure: `found` says whether the search with \eqn{\Omega_1}{Omega1} on the
#' population covariance finds the DAG).
#' For one edge \eqn{\xi = u^2/(1+u)}{xi = u^2 / (1 + u)} with \eqn{u = b^2 d_1^2/d_2^2}{u = b^2 d1^2 / d2^2}, and Lemma 11 gives the bound on
#' \eqn{b^2} for equal weights.
#'
#' `gamma` is the gap per node whose parents differ (equation 28), by enumeration for at most five nodes. With `n`, `ratio_n` is \eqn{\sqrt{\log
#' p/n}\,\sum_j
#' \Omega_{1j}^{-1} / (\xi/2)}{sqrt(log p / n) sum_j 1/Omega1_j / (xi / 2)}, which Lemma 19 wants small; the constant it has to be
#' compared with is
#' not known.
#'
#' Given a fit, all this is evaluated at its estimates.
#'
#' @section Which method when:
#' `causal_dag_bounds()` when planning a study with [causal_dag()], whose error variances are guessed; [causal_dag_stability()] on the data themselves.
#'
#' @param B Matrix of coefficients, or a fit of [causal_dag()].
#' @param variance True error variances (\eqn{\Omega_0}{Omega0}), one or one per variable; taken from a fit.
#' @param weights The variances used for scoring (\eqn{\Omega_1}{Omega1}), by default equal; of a fit those it used.
#' @param graph Undirected graph to which the DAGs are confined: `"moral"` (that of `B`), `"complete"` or a graph. By default complete for
#'   at most 12
#'   variables.
#' @param n Number of observations.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list of class `granary_dag_gap` with `xi`, `score` (of the true DAG with its own weights), `allowed` (\eqn{1+\xi/p}{1 + xi/p}), `ratio`,
#'   `safe`, `found`, `gamma`
#'   (`NA` for more than five variables), `ratio_n`, `lemma11` (for two variables: \eqn{b^2} and the bound) and `edges` with the gap of each edge.
#' @references
#' Loh and Buehlmann (2014). High-dimensional learning of linear causal networks via inverse covariance estimation. *Journal of Machine Learning
#' Research* 15, 3065--3105.
#' @seealso [causal_dag()], [moral_graph()], [best_dag()], [causal_dag_alternatives()], [pc()], [fci()]
#' @seealso `errata("jmlr15-linear-causal-dag")`
#' @export
#' @examples
#' # Example 1 of the paper: equal weights turn the edge round
#' B <- rbind(c(0, -0.5), c(0, 0))
#' causal_dag_bounds(B, variance = c(1, 0.25))
#' causal_dag_bounds(rbind(c(0, 0, 0.8), c(0, 0, 0.6), 0), n = 200)
causal_dag_bounds <- function(B, variance = 1, weights = NULL, graph = NULL, n = NULL, ...) {
  refuse_dots(...)
  if (missing(B)) fail_missing("B")
  if (inherits(B, "granary_causal_dag")) {
    if (is.null(weights)) weights <- B$weights
    if (is.null(n)) n <- B$n
    variance <- B$error_variance
    B <- B$B
  }
  B <- check_sem(B)
  p <- ncol(B)
  names <- colnames(B)
  variance <- check_error_variance(variance, names)
  weights <- if (is.null(weights)) rep(1, p) else check_error_variance(weights, names, "weights")
  n <- check_count(n, lower = 2, allow_null = TRUE)
  S <- sem_cov(B, variance)
  parents <- lapply(seq_len(p), function(j) unname(which(B[, j] != 0)))
  allowed <- gap_graph(graph, B, names)
  space <- list(may = allowed, must = matrix(FALSE, p, p), moral = NULL)
  found <- core_dag_gap(S, space_parts(space), list(variance = variance, weights = weights, parents = parents), progress_bar("gap of the score"))
  arcs <- found$arcs
  xi <- found$xi
  relative <- variance / weights
  ratio <- max(relative) / min(relative)
  edges <- data.frame(from = names[arcs$from], to = names[arcs$to], gap = arcs$without - p, reversed = arcs$reversed - p, absent = arcs$absent - p,
                      stringsAsFactors = FALSE)
  lemma <- NULL
  if (p == 2L && sum(B != 0) == 1L) {
    at <- which(B != 0, arr.ind = TRUE)
    r2 <- (variance[at[2L]] / weights[at[2L]]) / (variance[at[1L]] / weights[at[1L]])
    # With weights the variables are measured in units of their standard deviations, so that equal weights remain.
    b2 <- sum(B^2) * weights[at[1L]] / weights[at[2L]]
    lemma <- c(b2 = b2, bound = if (r2 >= 1) r2 * ((r2 - 1) + sqrt(r2^2 - 1)) else (1 - r2) + sqrt(1 - r2^2))
  }
  gamma <- if (is.nan(found$gamma)) NA_real_ else found$gamma
  seal(structure(list(
    xi = xi, score = found$score, allowed = 1 + xi / p, ratio = ratio, safe = ratio < 1 + xi / p,
    found = found$found, gamma = gamma,
    ratio_n = if (is.null(n)) NA_real_ else sqrt(log(p) / n) * sum(1 / weights) / (xi / 2), lemma11 = lemma, edges = edges, p = p, n = n
  ), class = "granary_dag_gap"))
}

gap_graph <- function(graph, B, names) {
  p <- length(names)
  if (is.null(graph)) graph <- if (p <= 12L) "complete" else "moral"
  if (is.character(graph) && length(graph) == 1L && graph %in% c("moral", "complete")) {
    if (graph == "complete") return(!diag(p))
    a <- B != 0
    moral <- a | t(a) | tcrossprod(a) > 0
    diag(moral) <- FALSE
    return(unname(moral))
  }
  allowed <- given_skeleton(graph, names)
  bad <- which(B != 0 & !allowed, arr.ind = TRUE)
  if (nrow(bad) > 0L) abort_input(sprintf("`graph` must hold every edge of `B`, but %s -> %s is missing.", names[bad[1L, 1L]], names[bad[1L, 2L]]),
                                  "graph")
  allowed
}

#' @export
print.granary_dag_gap <- function(x, ...) {
  short <- function(v) format(v, digits = 4L)
  cli::cat_line("Gap of the score of a linear causal DAG: ", counted(x$p, "variable", "variables"), ", ", counted(nrow(x$edges), "edge", "edges"))
  cli::cat_line("xi = ", short(x$xi), if (!is.na(x$gamma)) paste0(", per node that differs ", short(x$gamma)))
  cli::cat_line("Error variances relative to the weights may differ by a factor of ", short(x$allowed), "; they differ by ", short(x$ratio), ": ",
                if (x$safe) "safe" else "no guarantee", if (x$found) ", and the DAG is found" else ", and the DAG is NOT found")
  if (!is.null(x$lemma11)) cli::cat_line("Lemma 11: b^2 = ", short(x$lemma11[["b2"]]), ", enough is ", short(x$lemma11[["bound"]]))
  if (!is.na(x$ratio_n)) cli::cat_line("n = ", x$n, ": noise over half the gap ", short(x$ratio_n), " (up to an unknown constant)")
  if (nrow(x$edges) > 0L) print(utils::head(format(x$edges, digits = 3L), 20L), row.names = FALSE)
  invisible(x)
}
