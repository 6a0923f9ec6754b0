#' Scores of single features
#'
#' Classical filters, one feature at a time: the yardsticks for [q_alpha()], and usually the better choice when labels are known.
#'
#' @details
#' With classes `y`: `"pearson"` is the square root of the share of variance between classes (for two classes the absolute correlation with the
#' label);
#' `"fisher"` the variance between over that within classes, \eqn{(\mu_1 - \mu_2)^2 / (\sigma_1^2 + \sigma_2^2)}{(mu1 - mu2)^2 / (s1^2 + s2^2)} for
#' two,
#' and \eqn{\sum_g n_g(\mu_g - \mu)^2 / \sum_g n_g\sigma_g^2}{sum n_g (mu_g - mu)^2 / sum n_g s_g^2} for more; `"ks"` the largest distance between two
#' empirical distribution functions, over pairs of classes; `"snr"` (signal to noise) the largest \eqn{|\mu_g - \mu_h| / (\sigma_g +
#' \sigma_h)}{|mu_g -
#' mu_h| / (s_g + s_h)}. Without: `"variance"`; `"laplacian"` one minus the Laplacian score of He, Cai and Niyogi
#' (2005) on the graph of `neighbors` nearest samples, so that large is smooth along the graph; `"pca"` the length of the loadings on the first `k`
#' principal
#' components of the standardised features, weighted by their singular values.
#'
#' **Which score when:** `"pearson"` or `"fisher"` for shifts of the mean, `"ks"` for any change of distribution with enough samples per class,
#' `"variance"` or `"pca"` when there are no labels and [q_alpha()] is too much.
#'
#' @param x Samples in rows, features in columns.
#' @param y Classes of the samples; not used by `"variance"`, `"laplacian"` and `"pca"`.
#' @param type The score; see Details.
#' @param k Number of components for `"pca"`.
#' @param neighbors Number of neighbours for `"laplacian"`.
#' @return A named vector, one score per feature; larger is better, 0 for a feature that does not vary.
#' @references
#' He, Cai and Niyogi (2005). Laplacian score for feature selection. *Advances in Neural Information Processing Systems* 18.
#'
#' Wolf and Shashua (2005). *Journal of Machine Learning Research* 6, 1855--1887.
#' @family feature selection
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_qalpha("weston_linear", n = 100)
#' score <- feature_score(sim$x, sim$labels)
#' select_features(score, "top", n = 6)
feature_score <- function(x, y = NULL, type = c("pearson", "fisher", "ks", "snr", "variance", "laplacian", "pca"), k = 2, neighbors = 5) {
  x <- check_design(x, allow_sparse = FALSE, min_rows = 2L)
  type <- check_choice(type, c("pearson", "fisher", "ks", "snr", "variance", "laplacian", "pca"))
  k <- check_count(k, upper = min(dim(x)))
  neighbors <- check_count(neighbors)
  if (type %in% c("variance", "laplacian", "pca")) {
    score <- switch(type, variance = apply(x, 2L, stats::var), laplacian = laplacian_score(x, min(neighbors, nrow(x) - 1L)), pca = pca_score(x, k))
    return(stats::setNames(score, colnames(x)))
  }
  if (is.null(y)) abort_input(sprintf("`y` must be given for type = \"%s\": the classes of the samples.", type), "y")
  y <- check_sample_labels(y, nrow(x), "y")
  score <- if (type == "ks") ks_score(x, y) else moment_score(x, y, type)
  score[!is.finite(score)] <- ifelse(is.nan(score[!is.finite(score)]), 0, Inf)  # 0 / 0 is a feature that does not vary
  stats::setNames(score, colnames(x))
}

# Scores made of the means and variances of the classes.
moment_score <- function(x, y, type) {
  size <- tabulate(y)
  scale <- pmax(apply(abs(x), 2L, max), .Machine$double.xmin)
  x <- sweep(x, 2L, scale, `/`)  # no score minds the unit, and squares of tiny numbers vanish
  mean <- rowsum(x, as.integer(y)) / size
  spread <- rowsum((x - mean[as.integer(y), , drop = FALSE])^2, as.integer(y))
  overall <- colMeans(x)
  between <- colSums(size * sweep(mean, 2L, overall)^2)
  within <- colSums(spread)
  if (type == "pearson") return(sqrt(between / (between + within)))
  deviation <- sqrt(spread / pmax(size - 1, 1))
  pairs <- utils::combn(nlevels(y), 2L)
  if (type == "fisher") {
    if (nlevels(y) == 2L) return((mean[1L, ] - mean[2L, ])^2 / (deviation[1L, ]^2 + deviation[2L, ]^2))
    return(between / within)
  }
  ratios <- apply(pairs, 2L, function(p) abs(mean[p[1L], ] - mean[p[2L], ]) / (deviation[p[1L], ] + deviation[p[2L], ]))
  ratios <- matrix(ratios, ncol(x))
  apply(ratios, 1L, function(r) if (all(is.nan(r))) NaN else max(r, na.rm = TRUE))
}

ks_score <- function(x, y) {
  classes <- seq_len(nlevels(y))
  code <- as.integer(y)
  apply(x, 2L, function(values) {
    order <- order(values)
    last <- !duplicated(values[order], fromLast = TRUE)  # a step is complete at the last of equal values
    steps <- vapply(classes, function(g) (cumsum(code[order] == g) / sum(code == g))[last], numeric(sum(last)))
    steps <- matrix(steps, sum(last))
    max(apply(steps, 1L, function(s) max(s) - min(s)))
  })
}

laplacian_score <- function(x, neighbors) {
  distance <- as.matrix(stats::dist(x))^2
  near <- apply(distance, 1L, function(d) order(d)[seq_len(neighbors + 1L)])
  linked <- matrix(FALSE, nrow(x), nrow(x))
  linked[cbind(rep(seq_len(nrow(x)), each = nrow(near)), as.vector(near))] <- TRUE
  linked <- linked | t(linked)
  diag(linked) <- FALSE
  width <- mean(distance[linked])
  weight <- ifelse(linked, exp(-distance / max(width, .Machine$double.xmin)), 0)
  degree <- rowSums(weight)
  scale <- pmax(apply(abs(x), 2L, max), .Machine$double.xmin)
  x <- sweep(x, 2L, scale, `/`)
  centred <- sweep(x, 2L, colSums(x * degree) / sum(degree))
  spread <- colSums(centred^2 * degree)
  smooth <- colSums(centred * (weight %*% centred))
  ifelse(spread > 1e-20 * sum(degree), smooth / spread, 0)
}

pca_score <- function(x, k) {
  standard <- core_call(core_standardise_features(x, TRUE))
  parts <- svd(standard$x, nu = 0L, nv = k)
  sqrt(rowSums(sweep(parts$v, 2L, parts$d[seq_len(k)], `*`)^2))
}
