#' Data of latent variable models
#'
#' Draws from the models of [spectral_mixture()], with parameters drawn at random where none are given.
#'
#' @section Which method when:
#' `sim_spectral_mixture()` for data with a known answer to try [spectral_mixture()] on; `simulate()` of a fit for data like those at hand; [sim_em()] for other mixtures.
#'
#' @param n Number of rows or documents; for `"hmm"` of sequences.
#' @param model Kind of model. `"product"` and `"multiview"` are Gaussian rows; `"ica"` has uniform sources.
#' @param k Number of components.
#' @param d Number of columns or words; for `"latent_class"` of items; for `"hmm"` of symbols, or of columns with `means`.
#' @param means Means, topics or probabilities, one row per component (for `"ica"` the columns of the mixing matrix); `NULL` for random ones.
#' @param share Shares of the components; `NULL` for equal ones.
#' @param alpha For `"lda"`: Dirichlet parameters of the topics, one or one for each; `NULL` for 0.3.
#' @param noise_var Variance around the means, one or one for each component; for `"ica"` of the noise (0 for none).
#' @param transition For `"hmm"`: transition probabilities, one row per state; `NULL` for states that stay with probability 0.8.
#' @param length Words of a document, or rows of a sequence.
#' @param levels For `"latent_class"`: categories of each item.
#' @return A list with `x` (for `"hmm"` a list of sequences), `means`, `share` or `alpha`, `cluster` (the components; for `"lda"` the largest topic), and where they apply `noise_var`, `transition`,
#'   `views`, `sources`.
#' @seealso [spectral_mixture()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_spectral_mixture(2000, model = "gmm", k = 3, d = 6)
#' assess(spectral_mixture(sim$x, k = 3, model = "gmm"), truth = sim$means)
sim_spectral_mixture <- function(n, model = c("topic", "lda", "gmm", "gmm_hetero", "product", "latent_class", "multiview", "hmm", "ica"), k = 3, d = 30, means = NULL, share = NULL,
                                 alpha = NULL, noise_var = NULL, transition = NULL, length = 50, levels = 3) {
  n <- check_count(n, upper = 1e8)
  model <- check_choice(model, spectral_models)
  k <- check_count(k)
  d <- check_count(d)
  levels <- check_count(levels, lower = 2)
  length <- check_count(length)
  items <- if (model == "latent_class") rep(levels, d)
  width <- if (is.null(items)) d else sum(items)
  if (is.null(means)) {
    means <- random_means(model, k, width, items)
  } else {
    means <- as.matrix(check_rows(means, "means"))
    k <- nrow(means)
    width <- ncol(means)
    if (!is.null(items) && width != sum(items)) abort_input(sprintf("`means` must have %d columns, `levels` for each of the `d` items, but it has %d.", sum(items), width), "means")
  }
  share <- if (is.null(share)) rep(1 / k, k) else check_vector(share, length = k, lower = 0)
  if (sum(share) == 0) abort_input("`share` must not all be zero.", "share")
  share <- share / sum(share)
  if (model %in% c("topic", "lda")) {
    if (any(means < 0)) abort_input("`means` must not be negative: they are probabilities of words.", "means")
    if (is.null(alpha)) alpha <- 0.3
    alpha <- rep_len(check_vector(alpha, lower = 0, strict_lower = TRUE), k)
    colnames(means) <- if (is.null(colnames(means))) paste0("w", seq_len(width)) else colnames(means)
    drawn <- draw_documents(model == "lda", if (model == "lda") alpha else share, means, rep(length, n))
    return(c(list(x = drawn$x, means = means, cluster = drawn$cluster), if (model == "lda") list(alpha = alpha, topics = drawn$share) else list(share = share)))
  }
  if (model == "ica") {
    noise_var <- if (is.null(noise_var)) 0 else check_number(noise_var, lower = 0)
    drawn <- core_ica_draws(n, unname(t(means)), FALSE, sqrt(noise_var), core_seed())
    return(list(x = drawn$x, means = means, sources = drawn$sources, noise_var = noise_var))
  }
  noise_var <- if (is.null(noise_var)) (if (model == "gmm_hetero") seq(0.5, 1.5, length.out = k) else rep(1, k)) else check_vector(noise_var, lower = 0, strict_lower = TRUE)
  noise_var <- rep_len(noise_var, k)
  if (model == "hmm") {
    if (is.null(transition)) transition <- (if (k > 1L) matrix(0.2 / (k - 1), k, k) + diag(0.8 - 0.2 / (k - 1), k) else matrix(1))
    drawn <- sim_em(n, "categorical", means, share, transition = transition, length = length)
    x <- unname(split(drawn$x[[1L]], drawn$id))
    return(list(x = x, means = means, share = share, cluster = drawn$cluster, transition = transition))
  }
  if (model == "latent_class") {
    drawn <- sim_em(n, "categorical", means, share, levels = items)
    return(list(x = drawn$x, means = means, share = share, cluster = drawn$cluster))
  }
  drawn <- sim_em(n, "gaussian", means, share, covariance = as.list(noise_var))
  c(list(x = drawn$x, means = means, share = share, cluster = drawn$cluster, noise_var = noise_var), if (model == "multiview") list(views = rep_len(1:3, width)))
}

# Normal means with standard deviation 1.5; topics and items as normalised gamma draws of shape 0.3 (1 for items and states).
random_means <- function(model, k, width, items) {
  if (!model %in% c("topic", "lda", "hmm", "latent_class")) {
    means <- matrix(stats::rnorm(k * width, sd = if (model == "ica") 1 else 1.5), k)
    return(means)
  }
  draws <- matrix(stats::rgamma(k * width, shape = if (model %in% c("topic", "lda")) 0.3 else 0.5), k)
  groups <- rep(seq_along(if (is.null(items)) 1L else items), if (is.null(items)) width else items)
  for (g in unique(groups)) draws[, groups == g] <- draws[, groups == g, drop = FALSE] / rowSums(draws[, groups == g, drop = FALSE])
  draws
}
