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
#' @section Which method when:
#' `"pearson"` or `"fisher"` for shifts of the mean, `"ks"` for any change of distribution with enough samples per class,
#' `"variance"` or `"pca"` when there are no labels and [q_alpha()] is too much.
#'
#' @param x Samples in rows, features in columns; for `print()`, a result.
#' @param y Classes of the samples; not used by `"variance"`, `"laplacian"` and `"pca"`.
#' @param method The score; see Details.
#' @param k Number of components for `"pca"`.
#' @param neighbors Number of neighbours for `"laplacian"`.
#' @param object A result of `q_alpha_baseline()`.
#' @param ... Not used.
#' @return An object of class `granary_q_alpha_baseline`: `weights`, a named vector of scores, larger is better, 0 for a feature that does not vary; `rank`.
#'   `coef()`, `tidy()`, `plot()`, `predict()` and [q_alpha_select()] work as for [q_alpha()].
#' @references
#' He, Cai and Niyogi (2005). Laplacian score for feature selection. *Advances in Neural Information Processing Systems* 18.
#'
#' Wolf and Shashua (2005). *Journal of Machine Learning Research* 6, 1855--1887.
#' @seealso [q_alpha()], [q_alpha_select()], [q_alpha_bounds()], [lasso()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_q_alpha("weston_linear", n = 100)
#' score <- q_alpha_baseline(sim$x, sim$labels)
#' score
#' names(coef(q_alpha_select(score, "top", n = 6)))
q_alpha_baseline <- function(x, y = NULL, method = c("pearson", "fisher", "ks", "snr", "variance", "laplacian", "pca"), k = 2, neighbors = 5, ...) {
  refuse_dots(...)
  call <- match.call()
  x <- check_design(x, allow_sparse = FALSE, min_rows = 2L)
  method <- check_choice(method, c("pearson", "fisher", "ks", "snr", "variance", "laplacian", "pca"))
  k <- check_count(k, upper = min(dim(x)))
  neighbors <- check_count(neighbors)
  if (method %in% c("variance", "laplacian", "pca")) {
    y <- NULL
  } else {
    if (is.null(y)) abort_input(sprintf("`y` must be given for method = \"%s\": the classes of the samples.", method), "y")
    y <- as.integer(check_sample_labels(y, nrow(x), "y"))
  }
  score <- core_feature_score(x, if (is.null(y)) integer() else y, list(type = method, k = k, neighbors = neighbors))
  score[is.nan(score)] <- 0  # 0 / 0 is a feature that does not vary
  score_fit(stats::setNames(score, colnames(x)), method, nrow(x), shorten_call(call))
}

score_fit <- function(weights, method, n = NA_integer_, call = NULL) {
  zero <- stats::setNames(numeric(length(weights)), names(weights))
  new_fit(c("q_alpha_baseline", "q_alpha"), weights = weights, rank = stats::setNames(as.integer(rank(-weights, ties.method = "min")), names(weights)),
          method = method, dropped = character(), centre = zero, scale = zero + 1, n = n, call = call, convergence = list())
}

#' @rdname q_alpha_baseline
#' @export
print.granary_q_alpha_baseline <- function(x, ...) {
  refuse_dots(...)
  cli::cat_line("Scores of single features (", x$method, "): ", x$n, " samples, ", counted(length(x$weights), "feature", "features"))
  print_call(x$call)
  top <- utils::head(sort(x$weights, decreasing = TRUE), 6L)
  cli::cat_line("Largest scores: ", paste(names(top), format(top, digits = 2L), collapse = ", "))
  invisible(x)
}

#' @rdname q_alpha_baseline
#' @export
summary.granary_q_alpha_baseline <- function(object, ...) {
  chosen <- suggested_features(object)
  seal(structure(list(title = paste0("Scores of single features (", object$method, ")"), call = object$call, convergence = object$convergence,
                 parts = c(features = length(object$weights), selected = length(chosen),
                           sparsity_gap = format(sparsity_gap(object$weights, chosen), digits = 3L)),
                 quantiles = rbind(scores = stats::setNames(stats::quantile(object$weights, names = FALSE), c("min", "25%", "median", "75%", "max")))),
            class = "summary_granary_fit"))
}
