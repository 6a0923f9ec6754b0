#' Clustering with Bregman divergences
#'
#' k-means for data that are not normal: counts, proportions, binary tables, waiting times, spectra, or columns of mixed kinds. Hard clusters as [stats::kmeans()]
#' makes them, or soft ones, which are a mixture of the exponential family that belongs to the divergence.
#'
#' @details
#' For a divergence \eqn{d} ([bregman_family()]) and weights \eqn{v_i} of sum 1, hard clusters minimise
#' \deqn{\sum_i v_i d(x_i, m_{z(i)})}{sum_i v_i d(x_i, m_z(i))}
#' over labels and centres; the best centre is the mean, whatever the divergence, so the algorithm is that of Lloyd. The Bregman information of the data is what is
#' within and what is between the clusters, as in an analysis of variance:
#' \deqn{\sum_i v_i d(x_i, \bar x) = \sum_i v_i d(x_i, m_{z(i)}) + \sum_h \pi_h d(m_h, \bar x).}{sum_i v_i d(x_i, xbar) = sum_i v_i d(x_i, m_z(i)) + sum_h pi_h d(m_h, xbar).}
#' Soft clusters maximise \eqn{\sum_i v_i \log \sum_h \pi_h \exp(-\beta d(x_i, m_h))}{sum_i v_i log sum_h pi_h exp(-beta d(x_i, m_h))} by expectation-maximisation: with `beta = 1`
#' the likelihood of a mixture of normal, Poisson, binomial, ... laws; a larger `beta` hardens, and every `beta` is a point of a rate-distortion curve
#' ([rate_distortion()]).
#'
#' All divergences cost the same: \eqn{d(x, m)} is \eqn{\phi(x)}{phi(x)} minus a linear function of \eqn{x}, so one product of matrices tells the nearest centres, also for
#' sparse data, and rows that cannot change their cluster are skipped. **One column** is solved exactly (`exact`): clusters are intervals, and the best are found
#' by dynamic programming in \eqn{O(k n \log n)}{O(k n log n)}.
#'
#' `side = "left"` minimises \eqn{\sum_i v_i d(m_{z(i)}, x_i)}{sum_i v_i d(m_z(i), x_i)}; centres are then means of \eqn{\nabla\phi(x)}{grad phi(x)}: geometric means for counts, harmonic means for
#' Itakura-Saito.
#'
#' A centre with a zero where a row has a count is infinitely far from it. `smooth` draws every centre towards the mean of all rows by that share, so that one empty word
#' cannot close a cluster for ever; by default not for hard clusters, and by 1e-10 for soft ones.
#'
#' Hard clusters are "converged" when every row is in the cluster of its nearest centre and the centres are the means, confirmed by a last look at all rows; the answer is
#' the best of `n_starts`, not proven to be the global optimum, except for one column. Of soft clusters the best start goes on, with extrapolated steps, until one more step
#' would move the centres (by the root of their divergence over the information of all rows) and the shares by at most 100 `tol`; that is `convergence$residual`.
#'
#' @section Which method when:
#' `bregman_cluster()` when the kind of the data is known: counts (`"poisson"`), compositions (`"multinomial"`), binary tables (`"bernoulli"`), durations
#' (`"exponential"`, `"gamma"`), plain numbers (`"squared"`). For directions, text by cosine or correlations use a mixture on the sphere; [information_bottleneck()] for
#' a table whose columns tell what matters; [stats::hclust()] when only distances are known.
#'
#' @param x Rows: a matrix, data frame or sparse matrix of numbers, without missing values; a vector is one column.
#' @param k Number of clusters.
#' @param divergence A name or [bregman_family()], or a list of them, one per column.
#' @param type `"hard"` or `"soft"` clusters.
#' @param beta For soft clusters, factor of the divergence.
#' @param side On which side of the divergence the centres stand.
#' @param weights Case weights, one per row, or `NULL`.
#' @param start How to start: `"plusplus"` (rows far apart, drawn in proportion to their divergence), `"sample"` (rows at random), `"partition"` (labels at random), a matrix
#'   of centres, or labels of the rows.
#' @param n_starts Number of starts, of which the best is kept.
#' @param smooth Share of the overall mean in every centre; `NULL` for the default of the type.
#' @param exact Whether hard clusters of one column are found exactly.
#' @param tol For soft clusters: a start ends when the objective changes by less than this share of itself; the equations of the answer hold to 100 times this.
#' @param max_iter Largest number of iterations from each start, and of those that follow from the best soft one.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @return An object of class `granary_bregman`, a [granary_clustering], with `cluster`, `centers`, `sizes`, `within`, `between` and `total` (Bregman informations), `explained` (the share
#'   between), `objective` (hard: `within`; soft: the mean log-likelihood up to a constant), `trace`, `values` (of all starts), `divergence`; for soft clusters
#'   `membership`, `share`, `rate`, and `loglik`, `df` where the divergence has a law and `beta = 1`.
#' @inherit bregman_family references
#' @seealso [bregman_family()], [bregman_information()], [rate_distortion()], [cluster_agreement()], [cluster_silhouette()].
#' @export
#' @examples
#' set.seed(1)
#' fit <- bregman_cluster(iris[1:4], k = 3, divergence = "squared")
#' fit
#' assess(fit, truth = iris$Species)
#' plot(fit, newdata = iris[1:4])
#'
#' # counts: a mixture of Poisson laws
#' insects <- cbind(count = InsectSprays$count)
#' mixture <- bregman_cluster(insects, k = 2, divergence = "poisson", type = "soft")
#' mixture
#' BIC(mixture)
bregman_cluster <- function(x, k, divergence = "gaussian", type = c("hard", "soft"), beta = 1, side = c("right", "left"), weights = NULL, start = "plusplus",
                            n_starts = 10, smooth = NULL, exact = TRUE, tol = 1e-8, max_iter = 300, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(k)) fail_missing("k")
  x <- check_rows(x)
  k <- check_clusters(k, nrow(x))
  family <- check_divergence(divergence, ncol(x), colnames(x))
  type <- check_choice(type, c("hard", "soft"))
  side <- check_choice(side, c("right", "left"))
  weights <- check_case_weights(weights, nrow(x))
  soft <- type == "soft"
  beta <- check_number(beta, lower = 0, strict_lower = TRUE)
  if (!soft && beta != 1) abort_input("`beta` is for soft clusters: hard ones do not depend on it.", "beta")
  if (soft && side == "left") abort_input("`side = \"left\"` is for hard clusters: soft ones are the mixture that belongs to the right side.", "side")
  if (is.null(smooth)) smooth <- if (soft) 1e-10 else 0
  rows <- plain_rows(x)
  base <- core_bregman_base(rows, family$core, soft && beta == 1)
  options <- list(k = k, type = type, beta = beta, side = side, n_starts = check_count(n_starts), max_iter = check_count(max_iter),
                  tol = check_number(tol, lower = 0), smooth = check_number(smooth, lower = 0, upper = 1), exact = check_flag(exact), threads = thread_count(threads))
  options <- c(options, cluster_start(start, c("plusplus", "sample", "partition"), x, k))
  found <- core_bregman_cluster(rows, weights, family$core, options, core_seed(), progress_bar("clusters"))
  new_bregman(found, x, k, family, type, beta, side, weights, base, options$smooth, call)
}

# Words, centres, or labels, whose means are the centres.
cluster_start <- function(start, words, x, k) {
  if (is.character(start) && length(start) == 1L) return(list(start = check_choice(start, words)))
  if (is.matrix(start) || is.data.frame(start)) {
    centers <- check_matrix(start, "start")
    if (nrow(centers) != k || ncol(centers) != ncol(x)) {
      abort_input(sprintf("`start` must be a matrix of %d centres with %d columns, but it is %d x %d.", k, ncol(x), nrow(centers), ncol(centers)), "start")
    }
    if (!is.null(colnames(x)) && !is.null(colnames(centers))) centers <- match_columns(centers, colnames(x), "start")
    return(list(centers = plain_rows(as.matrix(centers))))
  }
  labels <- check_labels(start, "start")
  if (length(labels) != nrow(x)) fail_input("start", sprintf("a word, a matrix of centres, or one label for each of the %d rows", nrow(x)), describe(start))
  if (nlevels(labels) != k) abort_input(sprintf("`start` must have %d different labels, but it has %d.", k, nlevels(labels)), "start")
  list(centers = core_bregman_information(plain_rows(x), numeric(), list(columns = list(list(kind = "gaussian"))), as.integer(labels))$centers)
}

new_bregman <- function(found, x, k, family, type, beta, side, weights, base, smooth, call) {
  soft <- type == "soft"
  names <- variable_names(colnames(x), ncol(x))
  dimnames(found$centers) <- list(seq_len(k), names)
  total_weight <- if (length(weights) > 0L) sum(weights) else nrow(x)
  theta <- found$theta
  bias <- found$bias
  if (soft) {
    theta <- beta * theta
    bias <- beta * bias + ifelse(found$share > 0, log(found$share), -1e30)
    dimnames(found$membership) <- list(rownames(x), seq_len(k))
  }
  empty <- sum(found$share == 0)
  likelihood <- soft && beta == 1 && base$has_likelihood
  log_base <- if (likelihood) sum(if (length(weights) > 0L) weights * base$log_base else base$log_base)
  fit <- new_clustering(
    "bregman", cluster = stats::setNames(found$cluster, rownames(x)), centers = found$centers, sizes = found$share * total_weight, objective = found$value,
    membership = if (soft) found$membership, share = found$share, within = found$within, between = found$between, total = found$total,
    explained = if (found$total > 0) found$between / found$total else NA_real_, rate = if (soft) found$rate, type = type, beta = beta, side = side, divergence = family,
    loglik = if (likelihood) total_weight * found$value + log_base, df = if (likelihood) k * (ncol(x) - (family$kind == "multinomial")) + k - 1,
    scores = list(theta = theta, bias = bias), trace = found$trace, entropy = if (soft) found$entropy, values = found$values, exact = found$exact, smooth = smooth,
    per_cluster = list(share = found$share), title = paste0(if (soft) "Soft" else "Hard", " clusters by Bregman divergence: ", family$label,
                                                            if (side == "left") ", centres on the left"),
    measure = if (soft) "Mean log-likelihood, up to a constant" else "Within clusters", call = call, convergence = found$convergence
  )
  if (empty > 0L) {
    warn_input(sprintf("%s got no row: there are fewer distinct rows than clusters, or the divergence leaves %s nothing to gain.", counted(empty, "cluster", "clusters"),
                       if (empty == 1L) "it" else "them"), "k")
  }
  check_convergence(fit)
}

explained_text <- function(share) if (!is.na(share)) sprintf(" (%.1f%% explained)", 100 * share)

#' @export
print_more.granary_bregman <- function(x) {
  cli::cat_line(sprintf("Information: %s in all, %s within, %s between clusters", format(x$total, digits = 5L), format(x$within, digits = 5L),
                        format(x$between, digits = 5L)), explained_text(x$explained))
  if (!is.null(x$loglik)) cli::cat_line("Log-likelihood: ", format(x$loglik, digits = 7L), " (", x$df, " parameters)")
  if (x$exact) cli::cat_line("One column: this is the global optimum")
}

#' @rdname granary_clustering
#' @export
predict.granary_bregman <- function(object, newdata = NULL, type = c("class", "prob"), threads = NULL, ...) {
  if (!is.null(newdata)) {
    x <- cluster_rows(object, newdata)
    core_bregman_base(plain_rows(x), object$divergence$core, FALSE)  # inside the domain?
    if (object$side == "left") {
      dual <- core_bregman_table(plain_rows(as.matrix(x)), matrix(0, 1L, ncol(x)), object$divergence$core, "gradient")
      newdata <- array(dual, dim(dual), list(rownames(x), colnames(object$centers)))
    }
  }
  predict.granary_clustering(object, newdata, type, threads, ...)
}

#' @rdname granary_clustering
#' @param nsim Number of data sets.
#' @param seed `NULL`, or a seed that is used for these draws only.
#' @importFrom stats simulate
#' @export
simulate.granary_bregman <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_dots(...)
  if (is.null(object$loglik)) not_for(object, "simulate()", "hard clusters and divergences without a law have no draws; fit type = \"soft\" with beta = 1")
  nsim <- check_count(nsim)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  lapply(seq_len(nsim), function(i) {
    size <- if (object$divergence$kind == "multinomial") round(sum(object$centers[1L, ])) else 0
    drawn <- core_bregman_draws(stats::nobs(object), unname(object$centers), object$share, object$divergence$core, size, core_seed())
    structure(drawn$x, dimnames = list(NULL, colnames(object$centers)), cluster = drawn$cluster)
  })
}

#' Bregman information
#'
#' How much rows differ, in the units of a divergence, and how much of it lies between given groups: an analysis of variance for any divergence. With squared
#' distances it is the variance, with relative entropy and the rows of a table the mutual information of its rows and columns.
#'
#' @details
#' \eqn{I = \sum_i v_i d(x_i, \bar x)}{I = sum_i v_i d(x_i, xbar)} with weights of sum 1 and \eqn{\bar x}{xbar} the weighted mean, which is the point nearest to all rows. For any groups it is the sum of what
#' is within them and what is between them. With two rows and relative entropy it is the Jensen-Shannon divergence.
#'
#' @section Which method when:
#' `bregman_information()` to see what a given grouping explains; [bregman_cluster()] to find the grouping; [cluster_agreement()] to compare two of them.
#'
#' @inheritParams bregman_cluster
#' @param cluster Groups of the rows: labels, or a clustering; `NULL` for none.
#' @return A list of class `granary_bregman_information` with `total`, `within`, `between`, `mean`, and for groups `centers`, `share` and `parts`, the information of each group.
#' @inherit bregman_family references
#' @seealso [bregman_cluster()] to find groups.
#' @export
#' @examples
#' bregman_information(iris[1:4], iris$Species, divergence = "squared")
#'
#' # mutual information of hair and eye colour, in nats
#' joint <- apply(HairEyeColor, 1:2, sum) / sum(HairEyeColor)
#' bregman_information(joint / rowSums(joint), divergence = "multinomial", weights = rowSums(joint))$total
bregman_information <- function(x, cluster = NULL, divergence = "gaussian", weights = NULL) {
  if (missing(x)) fail_missing("x")
  x <- check_rows(x)
  family <- check_divergence(divergence, ncol(x), colnames(x))
  weights <- check_case_weights(weights, nrow(x))
  labels <- if (is.null(cluster)) factor(rep(1L, nrow(x))) else check_labels(if (inherits(cluster, "granary_clustering")) cluster$cluster else cluster, "cluster")
  if (length(labels) != nrow(x)) abort_input(sprintf("`cluster` must have one label per row, %d, but it has %d.", nrow(x), length(labels)), "cluster")
  found <- core_bregman_information(plain_rows(x), weights, family$core, as.integer(labels))
  names <- variable_names(colnames(x), ncol(x))
  dimnames(found$centers) <- list(levels(labels), names)
  found$mean <- stats::setNames(found$mean, names)
  found$share <- stats::setNames(found$share, levels(labels))
  found$parts <- stats::setNames(found$parts, levels(labels))
  seal(structure(c(found, list(divergence = family, grouped = !is.null(cluster))), class = "granary_bregman_information"))
}

#' @export
print.granary_bregman_information <- function(x, ...) {
  cli::cat_line("Bregman information (", x$divergence$label, "): ", format(x$total, digits = 6L))
  if (x$grouped) {
    cli::cat_line(sprintf("within groups %s, between %s", format(x$within, digits = 6L), format(x$between, digits = 6L)),
                  explained_text(if (x$total > 0) x$between / x$total else NA))
    print(data.frame(group = names(x$parts), share = unname(x$share), information = unname(x$parts)), digits = 4L, row.names = FALSE)
  }
  invisible(x)
}
