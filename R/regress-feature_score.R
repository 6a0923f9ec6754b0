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
#' sim <- sim_q_alpha("weston_linear", n = 100)
#' score <- feature_score(sim$x, sim$labels)
#' select_features(score, "top", n = 6)
feature_score <- function(x, y = NULL, type = c("pearson", "fisher", "ks", "snr", "variance", "laplacian", "pca"), k = 2, neighbors = 5) {
  x <- check_design(x, allow_sparse = FALSE, min_rows = 2L)
  type <- check_choice(type, c("pearson", "fisher", "ks", "snr", "variance", "laplacian", "pca"))
  k <- check_count(k, upper = min(dim(x)))
  neighbors <- check_count(neighbors)
  if (type %in% c("variance", "laplacian", "pca")) {
    y <- NULL
  } else {
    if (is.null(y)) abort_input(sprintf("`y` must be given for type = \"%s\": the classes of the samples.", type), "y")
    y <- as.integer(check_sample_labels(y, nrow(x), "y"))
  }
  score <- core_feature_score(x, if (is.null(y)) integer() else y, list(type = type, k = k, neighbors = neighbors))
  score[is.nan(score)] <- 0  # 0 / 0 is a feature that does not vary
  stats::setNames(score, colnames(x))
}
