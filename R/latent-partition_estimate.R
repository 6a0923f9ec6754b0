#' One partition from many
#'
#' The partition that is on average nearest to a sample of partitions: from a [dp_mixture()], a [supervised_cluster()], bootstrap clusterings, or several raters.
#'
#' @details
#' With sizes \eqn{n_k} of the clusters, \eqn{m_b} of the blocks of a draw and \eqn{n_{kb}} of their intersections, the loss is
#' \eqn{\sum_k f(n_k) + \sum_b f(m_b) - 2\sum_{kb} f(n_{kb})}{sum_k f(n_k) + sum_b f(m_b) - 2 sum_kb f(n_kb)}: with \eqn{f(x) = x \log x}{f(x) = x log x},
#' over \eqn{n}, the variation of information (`"vi"`); with \eqn{f(x) = x^2}, over \eqn{n^2}, the share of pairs treated differently (`"binder"`, the same minimiser
#' as Dahl's least squares). The mean loss is computed from the draws themselves, not from a bound. The best draw is the start; rows then move one at a time while
#' that helps, so that no single move can improve the answer. Nothing of size \eqn{n^2} is needed unless `similarity = TRUE`.
#'
#' @section Which method when:
#' `"vi"` gives fewer stray clusters; `"binder"` looks at pairs and may split off single rows. The most probable draw (`best` of a fit) depends on the
#' sampler's luck; this does not.
#'
#' @param object A fit with draws of partitions, or a matrix of labels with one partition per row.
#' @param loss `"vi"` or `"binder"`.
#' @param k_max Most clusters; `NULL` for no limit beyond what the draws have.
#' @param max_draws At most so many draws are used, evenly spaced.
#' @param similarity Whether the matrix of similarities is returned (\eqn{n \times n}{n x n}).
#' @return An object of class `granary_partition_estimate`, a [granary_clustering], with `cluster` (largest first), `sizes`, `objective` (the mean loss), `draw_loss`
#'   (that of the best draw) and `similarity`: the share of the draws in which two rows are together.
#' @references Binder (1978). Bayesian cluster analysis. *Biometrika* 65, 31--38.
#'
#' Dahl (2006). Model-based clustering for expression data via a Dirichlet process mixture model. In *Bayesian Inference for Gene Expression and Proteomics*.
#'
#' Wade and Ghahramani (2018). Bayesian cluster analysis: point estimation and credible balls. *Bayesian Analysis* 13, 559--626.
#' @seealso [dp_mixture()], [cluster_agreement()].
#' @export
#' @examples
#' set.seed(1)
#' fit <- dp_mixture(faithful$eruptions, n_draws = 300, burn_in = 300)
#' partition_estimate(fit, loss = "binder")
partition_estimate <- function(object, loss = c("vi", "binder"), k_max = NULL, max_draws = 500, similarity = FALSE) {
  call <- match.call()
  if (missing(object)) fail_missing("object")
  loss <- check_choice(loss, c("vi", "binder"))
  names <- NULL
  if (inherits(object, "granary_dp_mixture")) {
    draws <- object$partitions
    names <- names(object$cluster)
  } else if (inherits(object, "granary_supervised_cluster")) {
    draws <- object$partitions
    names <- names(object$cluster)[object$open]
  } else {
    draws <- check_matrix(object, "object")
    names <- colnames(draws)
    if (any(draws != round(draws)) || any(draws < 1) || max(draws) > .Machine$integer.max) abort_input("Labels of `object` must be whole numbers from 1, one partition per row.", "object")
    draws <- t(apply(unname(draws), 1L, function(row) match(row, unique(row))))
    if (ncol(draws) != ncol(object)) draws <- t(draws)
  }
  storage.mode(draws) <- "integer"
  if (ncol(draws) == 0L) abort_input("`object` has no rows that were clustered.", "object")
  options <- list(loss = loss, k_max = check_count(k_max, allow_null = TRUE), max_draws = check_count(max_draws))
  similarity <- check_flag(similarity)
  found <- core_partition_estimate(draws, options, progress_bar("one partition"))
  cluster <- sorted_clusters(found$cluster)
  s <- if (similarity) core_partition_similarity(draws, progress_bar("similarities"))
  if (!is.null(s)) dimnames(s) <- list(names, names)
  new_clustering("partition_estimate", cluster = stats::setNames(cluster, names), centers = NULL, sizes = tabulate(cluster), objective = found$loss, draw_loss = found$draw_loss,
                 similarity = s, loss = loss, draws = found$draws, k = max(cluster), title = sprintf("Partition nearest to %d draws", found$draws),
                 measure = if (loss == "vi") "Mean variation of information, nats" else "Mean share of pairs treated differently", call = call, convergence = found$convergence)
}

#' @export
plot.granary_partition_estimate <- function(x, ...) {
  if (is.null(x$similarity)) not_for(x, "plot()", "use similarity = TRUE")
  draw_similarity(unname(x$similarity), x$cluster, ...)
  invisible(x)
}

#' Exact posterior of a partition
#'
#' The posterior of the number of clusters, of the similarities and of the best partition without sampling, for few rows.
#'
#' @details
#' Up to 12 rows every partition is listed (4 213 597 of them for 12). More rows, to about 150, are possible when they take only two different values: the number
#' of clusters then follows from a recursion over the counts of both, and similarities and the best partition are not given.
#'
#' @section Which method when:
#' To check a sampler, to teach, or for very small data; else [dp_mixture()].
#'
#' @inheritParams dp_mixture
#' @return An object of class `granary_partition_exact` with `count`, `components` (for `prior_mfm()`), `similarity`, `best`, `best_probability`, `log_evidence` and
#'   `partitions`, the number of them.
#' @references Miller and Harrison (2014). Inconsistency of Pitman-Yor process mixtures for the number of components. *Journal of Machine Learning Research* 15,
#'   3333--3370.
#' @seealso [dp_mixture()], [prior_dp()], [dp_mixture_bounds()].
#' @export
#' @examples
#' x <- c(-2.1, -1.9, -2.4, 0.3, 1.8, 2.2, 2.0)
#' unit <- list(m0 = 0, t2 = 1, s2 = 1)
#' partition_exact(x, "normal_known", prior_dp(1), unit)
#' partition_exact(rep(0:1, c(20, 40)), "binomial", prior_mfm())
partition_exact <- function(x, family = "auto", prior = prior_dp(), hyper = NULL) {
  if (missing(x)) fail_missing("x")
  rows <- mixture_rows(x, family)
  if (rows$family == "richardson_green") abort_input("`family` must be conjugate: the prior of Richardson and Green can only be sampled.", "family")
  prior <- check_law(prior)
  if (!is.null(prior$core$shape)) abort_input("`prior` must have a known concentration: use prior_dp(theta).", "prior")
  found <- core_partition_exact(rows$x, family_spec(rows, hyper), prior$core, progress_bar("partitions"))
  listed <- length(found$best) > 0L
  seal(structure(list(count = data.frame(clusters = seq_along(found$count), probability = found$count),
                      components = if (length(found$components) > 0L) data.frame(components = seq_along(found$components), probability = found$components),
                      similarity = if (listed) structure(found$similarity, dimnames = list(rows$labels, rows$labels)),
                      best = if (listed) stats::setNames(found$best, rows$labels), best_probability = if (listed) found$best_probability,
                      log_evidence = found$log_evidence, partitions = if (listed) found$partitions, n = nrow(rows$x), family = rows$family, prior = prior),
                 class = "granary_partition_exact"))
}

#' @export
print.granary_partition_exact <- function(x, ...) {
  cli::cat_line(sprintf("Exact posterior of the partition of %d rows, family %s", x$n, x$family))
  print(x$prior)
  print_count(x$count)
  if (!is.null(x$components)) print_count(x$components, "components")
  if (!is.null(x$best)) cli::cat_line(sprintf("Best partition, probability %s: %s", format(x$best_probability, digits = 3L), paste(x$best, collapse = " ")))
  cli::cat_line("Log evidence: ", format(x$log_evidence, digits = 9L))
  invisible(x)
}

#' @export
plot.granary_partition_exact <- function(x, ...) {
  plot_count(x, ...)
  invisible(x)
}
