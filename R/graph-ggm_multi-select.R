# What ggm_select() asks of a fit to several tasks, and what else its selection needs.

#' @exportS3Method
select_ebic.granary_ggm_multi <- function(fit, gamma) {
  n <- needs_n(fit)
  p <- ncol(fit$S[[1L]])
  value <- -2 * as.double(logLik(fit)) + drop(fit$edges %*% (log(as.double(n)) + 4 * gamma * log(p)))
  list(table = data.frame(lambda = fit$lambda, lambda1 = fit$lambda1, edges = fit$df, estimate = value), which = which.min(value))
}

#' @exportS3Method
refit_path.granary_ggm_multi <- function(fit, x) {
  data <- multi_input(x, NULL, NULL, NULL)
  penalty <- list(lambda = fit$lambda, lambda1 = fit$lambda1)
  multi_check_variances(data, fit$settings$penalize_diagonal, fit$norm, penalty)
  fit_multi_path(data, penalty, refit_weights(fit, data), fit$settings, FALSE, 1L, NULL)
}

# The shares of the weights follow the sizes where the fit's own did; their sum stays, so that a penalty means the same in all refits.
refit_weights <- function(fit, data) {
  share <- function(v) unname(v) / sum(v)
  by_size <- !is.null(fit$n) && isTRUE(all.equal(share(fit$weights), share(as.double(fit$n))))
  if (by_size) stats::setNames(sum(fit$weights) * share(as.double(data$n)), names(fit$weights)) else fit$weights
}

multi_folds <- function(folds, x) {
  sizes <- vapply(x, nrow, 0L)
  if (!is.list(folds)) {
    folds <- check_count(folds, "folds", lower = 2, upper = min(sizes))
    return(lapply(sizes, make_folds, folds = folds))
  }
  if (length(folds) != length(x)) {
    abort_input(sprintf("`folds` must have one vector per task (%d), but it has %d.", length(x), length(folds)), "folds")
  }
  if (!is.null(names(folds)) && setequal(names(folds), names(x))) folds <- folds[names(x)]
  for (k in seq_along(x)) {
    usable <- is.atomic(folds[[k]]) && length(folds[[k]]) == sizes[[k]] && !anyNA(folds[[k]])
    if (!usable) abort_input(sprintf("`folds` for task %s must name the part of each of its %d rows.", names(x)[k], sizes[[k]]), "folds")
  }
  lapply(folds, as.character)
}

#' @exportS3Method
select_cv.granary_ggm_multi <- function(fit, folds, rule) {
  x <- needs_data(fit)
  folds <- multi_folds(folds, x)
  parts <- sort(unique(unlist(folds)))
  if (length(parts) < 2L) abort_input("`folds` must name at least two parts.", "folds")
  for (part in parts) {
    left <- vapply(folds, function(f) sum(f != part), 0L)
    if (any(left < 2L)) abort_input(sprintf("`folds` must leave at least two rows of every task to fit to, but task %s keeps %d.",
                                            names(x)[left < 2L][1L], left[left < 2L][1L]), "folds")
  }
  held_out_scores <- function(refit, rows) {
    lapply(seq_along(x), function(k) {
      held_out <- x[[k]][-rows[[k]], , drop = FALSE]
      if (nrow(held_out) == 0L) return(matrix(0, 0L, length(fit$lambda)))
      values <- lapply(seq_along(fit$lambda), function(j) predict(ggm_task(refit, k, which = j), held_out, type = "loglik"))
      matrix(unlist(values), ncol = length(fit$lambda))
    })
  }
  scores <- refit_each(fit, parts, function(part) lapply(folds, function(f) which(f != part)), held_out_scores, "cross-validation")
  choice <- best_held_out(do.call(rbind, lapply(scores, function(s) colMeans(do.call(rbind, s)))), rule)
  rows <- lapply(seq_along(x), function(k) unlist(lapply(scores, function(s) s[[k]][, choice$which])))
  list(table = data.frame(lambda = fit$lambda, lambda1 = fit$lambda1, edges = fit$df, choice$table), which = choice$which, folds = folds,
       scores = stats::setNames(rows, names(x)))
}

#' @exportS3Method
select_stars.granary_ggm_multi <- function(fit, n_rep, beta) {
  n <- vapply(needs_data(fit), nrow, 0L)
  size <- vapply(n, stars_size, 0)
  p <- ncol(fit$S[[1L]])
  edges <- function(refit, rows) {
    path <- if (is_path(refit)) refit$precision else list(refit$precision)
    lapply(path, function(list) unlist(Map(function(m, k) edge_codes(m) + k * p^2, list, seq_along(list))))
  }
  counts <- refit_each(fit, seq_len(n_rep), function(k) Map(function(n, size) sort(sample.int(n, size)), n, size), edges, "StARS")
  c(stars_choice(fit, counts, length(n) * p * (p - 1) / 2, beta), list(subsample_size = size))
}
