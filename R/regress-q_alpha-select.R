# After the weights: which features to keep, clusters of the samples, what theory says, stability.

#' Select features by their weights
#'
#' Turns the weights of [q_alpha()], or any scores, into a selection.
#'
#' @details
#' With \eqn{w_{(1)} \ge w_{(2)} \ge \dots}{w(1) >= w(2) >= ...} the sorted weights, rule `"drop"` cuts where \eqn{w_{(j)} / w_{(j+1)}}{w(j) /
#' w(j+1)} is
#' largest among cuts that keep at most `n` features (by default half of them) and have a weight of at least a hundredth of the largest above
#' them; `"top"` keeps the `n` largest; `"mass"` keeps the fewest whose squares add up to the share `mass` of all. `sparsity_gap()` is the mean weight
#' of the selected features over that of the rest.
#'
#' **Which rule when:** `"drop"` when the plot of the sorted weights has a step, `"mass"` when it fades, `"top"` for a fixed budget.
#'
#' @param fit A [q_alpha()] fit, or a vector of scores, the larger the better.
#' @param rule See Details.
#' @param n Number of features for `"top"`, the most to keep for `"drop"`.
#' @param mass Share of the sum of squares for `"mass"`.
#' @param weights Weights.
#' @param selected Names or positions of the selected features.
#' @return `select_features()` the names of the features (their positions where there are no names), best first; `sparsity_gap()` a number.
#' @family feature selection
#' @export
#' @examples
#' set.seed(1)
#' fit <- q_alpha(sim_q_alpha("clusters", clusters = 2)$x, k = 2)
#' select_features(fit)
#' select_features(fit, "top", n = 3)
#' select_features(fit, "mass", mass = 0.5)
#' sparsity_gap(fit$weights, select_features(fit))
select_features <- function(fit, rule = c("drop", "top", "mass"), n = NULL, mass = 0.95) {
  if (missing(fit)) fail_missing("fit")
  weights <- if (inherits(fit, "granary_q_alpha")) fit$weights else check_vector(fit, "fit")
  rule <- check_choice(rule, c("drop", "top", "mass"))
  n <- check_count(n, upper = length(weights), allow_null = TRUE)
  mass <- check_number(mass, lower = 0, upper = 1, strict_lower = TRUE)
  if (rule == "top" && is.null(n)) abort_input("`n` must be given with rule = \"top\": the number of features to keep.", "n")
  order <- order(-weights)
  sorted <- pmax(weights[order], 0)
  count <- switch(rule,
    top = n,
    mass = {
      squares <- (sorted / max(sorted[1L], .Machine$double.xmin))^2
      if (sum(squares) > 0) which(cumsum(squares) >= mass * sum(squares) * (1 - 1e-12))[1L] else 0L
    },
    drop = largest_drop(sorted, if (is.null(n)) max(1L, length(sorted) %/% 2L) else n)
  )
  chosen <- order[seq_len(count)]
  if (is.null(names(weights))) chosen else names(weights)[chosen]
}

largest_drop <- function(sorted, most) {
  if (length(sorted) < 2L) return(length(sorted))
  if (sorted[1L] <= 0) return(0L)
  above <- unname(sorted[-length(sorted)])
  below <- pmax(unname(sorted[-1L]), 1e-10 * sorted[1L])
  ratio <- above / below
  ratio[above < 0.01 * sorted[1L] | seq_along(ratio) > most] <- -Inf
  which.max(ratio)
}

#' @rdname select_features
#' @export
sparsity_gap <- function(weights, selected) {
  weights <- check_vector(weights)
  if (missing(selected)) fail_missing("selected")
  inside <- check_features(selected, weights, "selected")
  if (!any(inside)) return(0)
  rest <- weights[!inside]
  if (length(rest) == 0L || mean(rest) <= 0) return(Inf)
  mean(weights[inside]) / mean(rest)
}

# Names or positions of features as a logical vector along `weights`.
check_features <- function(features, weights, arg) {
  if (is.character(features)) {
    unknown <- setdiff(features, names(weights))
    if (length(unknown) > 0L) abort_input(sprintf("`%s` names a feature that is not there: \"%s\".", arg, unknown[1L]), arg)
    return(names(weights) %in% features)
  }
  at <- check_vector(features, arg, min_length = 0L, lower = 1, upper = length(weights))
  if (any(at != round(at))) abort_input(sprintf("`%s` must hold names or whole numbers.", arg), arg)
  seq_along(weights) %in% at
}

#' Clusters, bounds and stability of feature weights
#'
#' What to do with a [q_alpha()] fit: cluster the samples in its embedding, bound what irrelevant features can weigh, and see which features are
#' selected again in subsamples.
#'
#' @details
#' `q_alpha_cluster()` runs k-means (Hartigan and Wong, `starts` random starts) on the rows of the embedding: spectral clustering under the weighted
#' features.
#'
#' `q_alpha_bounds()`: if the features in `irrelevant` are the rows of \eqn{M_2}, then
#' \eqn{\sum_{irrelevant} \alpha_i \le \sqrt{\|M_2M_2'\|_F^2 / \lambda}}{sum of their weights <= sqrt(||M2 M2'||_F^2 / lambda)} with
#' \eqn{\lambda}{lambda} the
#' objective (Lemma 13 of the paper). For \eqn{n_2} unrelated features over \eqn{q} samples the squared norm is about \eqn{n_2(1 + n_2/q)}{n2 (1 +
#' n2 / q)}:
#' `random_norm`. In general \eqn{m_k = \sum_{j<k} \frac{(n/q)^j}{j + 1} {k \choose j}{k - 1 \choose j}}{m_k = sum_(j < k) (n/q)^j / (j + 1)
#' choose(k, j)
#' choose(k - 1, j)} is the mean of the \eqn{k}-th powers of the eigenvalues of \eqn{XX'/q} for an \eqn{n \times q}{n x q} matrix \eqn{X} of noise:
#' `narayana_moment()`.
#'
#' `positivity_probability()` simulates how often the leading eigenvector of a symmetric matrix with independent normal entries has one sign
#' (Theorem 10, Figure 2a).
#'
#' `q_alpha_stability()` refits to random halves of the samples (without replacement), selects `n` features each time, and gives the share of times
#' each was selected. It uses the workers of [future::plan()] when one is set.
#'
#' @param fit A [q_alpha()] fit.
#' @param clusters Number of clusters; `NULL` for `k` of the fit.
#' @param n_starts Number of random starts of k-means.
#' @param x The data the fit was made of; for `q_alpha_stability()`, samples in rows.
#' @param irrelevant Names or positions of the features taken to be irrelevant; `NULL` for those that [select_features()] leaves out.
#' @param order The power of the eigenvalues.
#' @param ratio Number of rows over number of columns, \eqn{n/q}.
#' @param n Number of features to select from each subsample; for `positivity_probability()`, size of the matrix.
#' @param mean,sd Mean and standard deviation of its entries.
#' @param replicates Number of matrices, or of subsamples.
#' @param k Number of clusters.
#' @param ... For `q_alpha_stability()`, further arguments of [q_alpha()].
#' @param threads Number of threads; see `options(granary.threads)`.
#' @return `q_alpha_cluster()` the cluster of each sample; `q_alpha_bounds()` a data frame with one row: number of irrelevant features, the sum of
#'   their weights, the
#'   bound on it, the squared norm and its value for noise; `narayana_moment()` and `positivity_probability()` a number; `q_alpha_stability()` a
#'   named vector,
#'   decreasing.
#' @references
#' Wolf and Shashua (2005). *Journal of Machine Learning Research* 6, 1855--1887, Sections 4 and 6.
#' @family feature selection
#' @name q_alpha_tools
#' @examples
#' set.seed(1)
#' sim <- sim_q_alpha("clusters", clusters = 3)
#' fit <- q_alpha(sim$x, k = 3, n_starts = 3)
#' table(q_alpha_cluster(fit), sim$labels)
#' q_alpha_bounds(fit, sim$x, irrelevant = 6:125)
#' narayana_moment(2, ratio = 120 / 60)
#' positivity_probability(20, replicates = 100)
#' head(q_alpha_stability(sim$x, k = 3, n = 5, replicates = 10, n_starts = 1), 6)
NULL

#' @rdname q_alpha_tools
#' @export
q_alpha_cluster <- function(fit, clusters = NULL, n_starts = 20) {
  check_q_alpha(fit)
  samples <- nrow(fit$embedding)
  clusters <- check_count(clusters, upper = samples, allow_null = TRUE)
  if (is.null(clusters)) clusters <- fit$k
  n_starts <- check_count(n_starts, upper = 1e6)
  cluster <- core_cluster_embedding(unname(fit$embedding), clusters, n_starts, core_seed(), progress_bar("clusters"))
  stats::setNames(cluster, rownames(fit$embedding))
}

check_q_alpha <- function(fit, arg = "fit") {
  if (missing(fit)) fail_missing(arg)
  if (!inherits(fit, "granary_q_alpha")) fail_input(arg, "a fit of q_alpha()", describe(fit))
}

#' @rdname q_alpha_tools
#' @export
q_alpha_bounds <- function(fit, x, irrelevant = NULL) {
  check_q_alpha(fit)
  if (missing(x)) fail_missing("x")
  x <- new_design(x, names(fit$weights), arg = "x", allow_sparse = FALSE)
  inside <- if (is.null(irrelevant)) !names(fit$weights) %in% select_features(fit) else check_features(irrelevant, fit$weights, "irrelevant")
  if (!any(inside)) abort_input("`irrelevant` must name at least one feature.", "irrelevant")
  if (!is.null(fit$kernel) || !is.null(fit$labels) || fit$criterion != "energy" || fit$spectrum != "standard") {
    abort_input("The bound holds for fits without labels and kernel, with criterion = \"energy\" and spectrum = \"standard\".", "fit")
  }
  m <- sweep(sweep(x[, inside, drop = FALSE], 2L, fit$centre[inside]), 2L, fit$scale[inside], `/`)
  m[, names(fit$weights)[inside] %in% fit$dropped] <- 0
  squared_norm <- sum(tcrossprod(m)^2)
  n2 <- sum(inside)
  data.frame(irrelevant = n2, weight = sum(fit$weights[inside]), bound = sqrt(squared_norm / fit$objective), squared_norm = squared_norm,
             random_norm = n2 * narayana_moment(2, n2 / nrow(x)))
}

#' @rdname q_alpha_tools
#' @export
narayana_moment <- function(order, ratio) {
  order <- check_count(order, upper = 500)
  ratio <- check_number(ratio, lower = 0)
  j <- seq_len(order) - 1
  sum(ratio^j / (j + 1) * choose(order, j) * choose(order - 1, j))
}

#' @rdname q_alpha_tools
#' @export
positivity_probability <- function(n, mean = 1 / 6, sd = sqrt(2) / 6, replicates = 1000, threads = NULL) {
  n <- check_count(n, upper = 20000)
  mean <- check_number(mean)
  sd <- check_number(sd, lower = 0)
  replicates <- check_count(replicates, upper = 1e7)
  threads <- thread_count(threads)
  core_positivity_share(list(n = n, mean = mean, sd = sd, replicates = replicates, threads = threads), core_seed(), progress_bar("simulation"))
}

#' @rdname q_alpha_tools
#' @export
q_alpha_stability <- function(x, k, n, replicates = 50, ...) {
  x <- check_design(x, allow_sparse = FALSE, min_rows = 6L)
  k <- check_count(k, upper = nrow(x) %/% 2L)
  n <- check_count(n, upper = ncol(x))
  replicates <- check_count(replicates, upper = 1e5)
  chosen <- resample_lapply(seq_len(replicates), function(r) {
    rows <- sort(sample.int(nrow(x), nrow(x) %/% 2L))
    select_features(suppressWarnings(q_alpha(x[rows, , drop = FALSE], k, ...)), "top", n = n)
  }, "subsamples")
  sort(table(factor(unlist(chosen), levels = unique(colnames(x))))[] / replicates, decreasing = TRUE)
}
