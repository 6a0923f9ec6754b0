#' How many von Mises-Fisher components?
#'
#' Fits [vmf_mixture()] for several numbers of components and chooses one, by an information criterion or, where a few labels are known, by a bound on the error of the rest.
#'
#' @details
#' `"bic"` is \eqn{-2 \ell + p \log n}{-2 l + p log n} with \eqn{p} parameters, `"aic"` \eqn{-2 \ell + 2 p}{-2 l + 2 p}; `"icl"` puts the expected complete log-likelihood in the place of
#' \eqn{\ell}{l}, so that components that overlap count against a number. `"pac_mdl"` gives every component the majority label of its labelled rows and bounds the share of the others that get a
#' wrong one (see [vmf_bounds()]); it grows with the number of clusters unless they make the labelled rows purer. The smallest value wins.
#'
#' In sparse data with many more columns than rows, parameters are so many that `"bic"` takes one component: use `kappa = "common"`, labels, or [cluster_silhouette()] with cosines.
#'
#' @section Which method when: `"bic"` for the law of the data, `"icl"` for separate groups, `"pac_mdl"` when the clusters are to carry labels.
#'
#' @inheritParams vmf_mixture
#' @param k Numbers of components to try.
#' @param criterion What to minimise.
#' @param truth For `"pac_mdl"`: labels of the rows, `NA` where they are not known.
#' @param delta Probability with which the bound of `"pac_mdl"` may fail.
#' @param ... Further arguments of [vmf_mixture()].
#' @return A [granary_selection]: `fit`, the chosen mixture, and `table` with `k`, `estimate`, and the log-likelihood and criteria of every candidate.
#' @inherit vmf_bounds references
#' @seealso [vmf_mixture()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_vmf(300, k = 3, d = 10, kappa = 30)
#' choice <- vmf_select(sim$x, k = 1:5, n_starts = 3)
#' choice
#' plot(choice)
vmf_select <- function(x, k = 1:8, criterion = c("bic", "aic", "icl", "pac_mdl"), truth = NULL, delta = 0.05, ...) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  criterion <- check_choice(criterion, c("bic", "aic", "icl", "pac_mdl"))
  delta <- check_number(delta, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  x <- check_rows(x)
  k <- check_vector(k, lower = 1, upper = nrow(x))
  if (any(k != round(k)) || anyDuplicated(k) > 0L) fail_input("k", "different whole numbers", describe(k))
  extra <- list(...)
  odd <- setdiff(names(extra), setdiff(names(formals(vmf_mixture)), c("x", "k")))
  if (length(extra) > 0L && (is.null(names(extra)) || any(!nzchar(names(extra))) || length(odd) > 0L)) {
    abort_input(sprintf("Further arguments must be those of vmf_mixture(), by name%s.", if (length(odd) > 0L && nzchar(odd[1L])) sprintf("; there is no `%s`", odd[1L]) else ""), "...")
  }
  if (is.null(extra$normalize)) extra$normalize <- TRUE
  known <- check_partial_labels(truth, nrow(x), criterion)
  fits <- resample_lapply(as.list(as.integer(k)), function(count) suppressWarnings(do.call(vmf_mixture, c(list(x, count), extra)), classes = "granary_warning"), "numbers of components")
  stopped <- sum(!vapply(fits, function(fit) fit$convergence$converged %in% TRUE, NA))
  if (stopped > 0L) warn_convergence(sprintf("The solver stopped early for %d of %d numbers of components, so the choice may be off. Use a larger `max_iter`.", stopped, length(fits)))
  table <- data.frame(k = as.integer(k), estimate = NA_real_, do.call(rbind, lapply(fits, mixture_criteria)))
  if (criterion == "pac_mdl") table <- cbind(table, do.call(rbind, lapply(fits, label_bound, known = known, delta = delta)))
  table$estimate <- table[[criterion]]
  best <- which.min(table$estimate)
  new_selection("vmf", fits[[best]], table, "min", switch(criterion, bic = "BIC", aic = "AIC", icl = "ICL", "bound on the error (PAC-MDL)"), selected = best, call = shorten_call(call))
}

mixture_criteria <- function(fit) {
  n <- stats::nobs(fit)
  data.frame(loglik = fit$loglik, df = fit$df, bic = -2 * fit$loglik + fit$df * log(n), aic = -2 * fit$loglik + 2 * fit$df,
             icl = -2 * fit$bounds[["complete"]] + fit$df * log(n), degenerate = sum(fit$degenerate))
}

check_partial_labels <- function(truth, n, criterion) {
  if (criterion != "pac_mdl") {
    if (!is.null(truth)) abort_input("`truth` is for criterion = \"pac_mdl\": the others need no labels.", "truth")
    return(NULL)
  }
  if (is.null(truth)) abort_input("`truth` must be given for criterion = \"pac_mdl\": labels of the rows, NA where they are not known.", "truth")
  if (!(is.factor(truth) || is.character(truth) || is.logical(truth) || is_plain_numeric(truth)) || length(truth) != n) {
    fail_input("truth", sprintf("one label for each of the %d rows, NA where it is not known", n), describe(truth))
  }
  truth <- droplevels(as.factor(if (is.character(truth)) readable(truth) else truth))
  if (all(is.na(truth))) abort_input("`truth` must have at least one label that is not NA.", "truth")
  if (!anyNA(truth)) abort_input("`truth` must be NA for some rows: where all labels are known there is nothing to bound.", "truth")
  truth
}

label_bound <- function(fit, known, delta) {
  use <- !is.na(known) & !is.na(fit$cluster)
  counts <- table(fit$cluster[use], known[use])
  errors <- sum(counts) - sum(apply(counts, 1L, max))
  found <- core_pac_mdl(as.double(c(errors, sum(use), sum(is.na(known) & !is.na(fit$cluster)), nlevels(known), length(fit$sizes))), delta)
  data.frame(errors = errors, pac_mdl = found$bound)
}
