#' Choose the penalty of a Gaussian graph
#'
#' Picks one fit from a path by an information criterion, by cross-validated likelihood or by the stability of the edges.
#'
#' @details
#' With \eqn{\ell(X)}{l(X)} the log-likelihood (see [granary_ggm]) and \eqn{|E|} edges,
#' \deqn{\mathrm{EBIC}_\gamma = -2\ell(X) + |E| \log n + 4 \gamma |E| \log p;}{EBIC = -2 l(X) + |E| log n + 4 gamma |E| log p;}
#' `"bic"` is \eqn{\gamma = 0}. `"cv"` refits the path on all but one fold and scores the held-out rows by
#' \eqn{\log\det X - \mathrm{tr}(S_{\mathrm{out}} X)}{log det X - tr(S_out X)}, centred at the training mean; `rule = "1se"` takes the largest penalty
#' within one standard error of the best. `"stars"` refits on `n_rep` subsets of size
#' \eqn{b = \lfloor 10\sqrt n \rfloor}{b = floor(10 sqrt n)} (\eqn{0.8 n} when
#' \eqn{n \le 144}{n <= 144}) drawn without replacement, measures the instability \eqn{2\hat\theta(1-\hat\theta)}{2 theta (1 - theta)} of every
#' edge, averages over pairs,
#' makes it monotone along the path, and takes the smallest penalty whose instability is at most `beta`.
#'
#' For a fit to several tasks ([ggm_multi()]) the information criteria are sums over tasks, each with its own \eqn{n}; cross-validation
#' leaves a part of every task out and scores the held-out rows of all; StARS draws a subset of every task and counts an edge of each task by
#' itself.
#'
#' `"cv"` and `"stars"` need the data and run on the workers of [future::plan()] when one is set and `future.apply` is installed. Folds
#' and subsets
#' come from R's random numbers: use [set.seed()].
#'
#' Where the best penalty is the smallest of a default path of [ggm_lasso()] from data, the path is extended until it is not, to at most three times
#' its length, and the print says so.
#'
#' @section Which method when: EBIC for a sparse graph to interpret; cross-validation when the model is used for prediction (it keeps too many
#' edges); StARS when missing an edge is worse than adding one.
#'
#' @param fit A Gaussian graph fit with a path of penalties.
#' @param criterion The criterion.
#' @param gamma EBIC's \eqn{\gamma}{gamma}, between 0 and 1.
#' @param folds Number of folds, or a vector giving the fold of each row; for several tasks a list of such vectors (sessions to leave out one
#'   at a time, say).
#' @param rule For cross-validation: `"min"` or `"1se"`.
#' @param n_rep,beta StARS: number of subsets and the instability allowed.
#' @return A [granary_selection] of class `granary_ggm_select`: `fit` is the fit at the chosen penalty, `path` the whole path, `table` has one row per
#'   penalty (`edges`, the criterion as `estimate`, for cross-validation its `std.error`). `coef()`, `predict()`, `residuals()`, `simulate()`,
#'   [assess()], `as.matrix()` and `igraph::as.igraph()` go to the chosen fit. After cross-validation of several tasks there are also `scores`,
#'   the held-out log density of every row at the chosen penalty (a list over tasks).
#' @references
#' Foygel and Drton (2010). Extended Bayesian information criteria for Gaussian graphical models. *NIPS* 23, 604--612.
#'
#' Liu, Roeder and Wasserman (2010). Stability approach to regularization selection (StARS) for high dimensional graphical models. *NIPS* 23,
#' 1432--1440.
#' @seealso [ggm_lasso()], [ggm_at()], [ggm_bounds()], [ggm_hub()], [ggm_multi()], [ggm_local()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_ggm("chain", p = 20, n = 100)
#' path <- ggm_lasso(sim$data)
#' ggm_select(path, "ebic")
#' best <- ggm_select(path, "cv", folds = 3)
#' coef(best, rule = "1se")[1:3, 1:3]
#' plot(best)
#' plot(best, type = "network")
#'
#' tasks <- ggm_multi(scale(iris[1:4]), groups = iris$Species, n_lambda = 6)
#' ggm_select(tasks, "cv", folds = 3)
ggm_select <- function(fit, criterion = c("ebic", "bic", "cv", "stars"), gamma = 0.5, folds = 10, rule = c("min", "1se"),
                       n_rep = 20, beta = 0.05, ...) {
  refuse_dots(...)
  if (missing(fit)) fail_missing("fit")
  check_ggm(fit)
  criterion <- check_choice(criterion, c("ebic", "bic", "cv", "stars"))
  rule <- check_choice(rule, c("min", "1se"))
  gamma <- check_number(gamma, lower = 0, upper = 1)
  n_rep <- check_count(n_rep, lower = 2)
  beta <- check_number(beta, lower = 0, upper = 0.5, strict_lower = TRUE)
  apply_criterion <- function(fit) {
    switch(criterion,
      ebic = select_ebic(fit, gamma),
      bic = select_ebic(fit, 0),
      cv = select_cv(fit, folds, rule),
      stars = select_stars(fit, n_rep, beta)
    )
  }
  choice <- apply_criterion(fit)
  first <- path_length(fit)
  while (choice$which == path_length(fit) && path_length(fit) < 3L * first && !is.null(longer <- longer_path(fit, first))) {
    fit <- longer
    choice <- apply_criterion(fit)
  }
  table <- choice$table
  if (length(fit$tau) == nrow(table)) {  # a second penalty: on a grid the first does not tell the fits apart
    table <- cbind(table["lambda"], tau = fit$tau, table[-1L])
  }
  measure <- c(ebic = "EBIC", bic = "BIC", cv = "held-out log-likelihood (x 2 per row)", stars = "instability")[[criterion]]
  own <- choice[setdiff(names(choice), c("table", "which"))]
  chosen <- ggm_at(fit, choice$which)
  shared <- list("ggm", chosen, table, if (criterion == "stars") "stars" else rule, measure, maximize = criterion == "cv", simplicity = -seq_len(nrow(table)),
                 selected = choice$which, criterion = criterion, path = fit, extended = path_length(fit) - first, call = user_call())
  do.call(new_selection, c(shared, own), quote = TRUE)
}

# The path with as many penalties again below its last, at the same spacing; NULL where it was the user's, or where there is nothing to gain: the graph
# is complete, or the solver gives up.
longer_path <- function(fit, steps) {
  extendable <- inherits(fit, "granary_ggm_lasso") && !is.null(fit$x) && is.call(fit$call) && is.null(fit$call[["lambda"]]) && steps > 1L
  if (!extendable || fit$df[path_length(fit)] == ncol(fit$S) * (ncol(fit$S) - 1) / 2) return(NULL)
  ratio <- (fit$lambda[steps] / fit$lambda[1L])^(1 / (steps - 1))
  longer <- fit
  longer$lambda <- c(fit$lambda, fit$lambda[path_length(fit)] * ratio^seq_len(steps))
  longer <- refit_path(longer, fit$x)
  longer$call <- fit$call
  if (all(convergence_table(longer$convergence)$converged)) longer
}

# The fit that a rule picks.
selected_fit <- function(object, rule = NULL) {
  row <- selection_row(object, rule)
  if (row == object$selected) object$fit else ggm_at(object$path, row)
}

#' @rdname ggm_select
#' @param object,x A selection.
#' @param ... Passed on to the method of the chosen fit.
#' @export
coef.granary_ggm_select <- function(object, rule = NULL, ...) stats::coef(selected_fit(object, rule), ...)

#' @rdname ggm_select
#' @param newdata New rows.
#' @export
predict.granary_ggm_select <- function(object, newdata = NULL, ..., rule = NULL) stats::predict(selected_fit(object, rule), newdata, ...)

#' @rdname ggm_select
#' @export
residuals.granary_ggm_select <- function(object, rule = NULL, ...) stats::residuals(selected_fit(object, rule), ...)

#' @rdname ggm_select
#' @param nsim,seed As for [granary_ggm].
#' @export
simulate.granary_ggm_select <- function(object, nsim = 1, seed = NULL, ...) stats::simulate(object$fit, nsim, seed, ...)

#' @rdname ggm_select
#' @param truth What is known; see [assess()].
#' @export
assess.granary_ggm_select <- function(object, truth, ...) {
  if (missing(truth)) fail_missing("truth")
  assess(object$fit, truth, ...)
}

#' @rdname ggm_select
#' @export
as.matrix.granary_ggm_select <- function(x, ...) as.matrix(x$fit, ...)

#' @rdname ggm_select
#' @export
augment.granary_ggm_select <- function(x, ...) augment(x$fit, ...)

#' @exportS3Method igraph::as.igraph
as.igraph.granary_ggm_select <- function(x, ...) ggm_igraph(x$fit, ...)  # nolint: object_name_linter.

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.granary_ggm_select <- function(x, ...) tidygraph::as_tbl_graph(ggm_igraph(x$fit, ...))  # nolint: object_name_linter.

#' @rdname ggm_select
#' @export
print.granary_ggm_select <- function(x, ...) {
  print_ggm_choice(x)
  cli::cat_line("The chosen fit, in $fit:")
  print(x$fit)
  invisible(x)
}

print_ggm_choice <- function(x) {
  print.granary_selection(x)
  if (x$extended > 0L) cli::cat_line("The best penalty was the smallest of the path, which was therefore extended by ", x$extended, " penalties.")
  if (x$selected < nrow(x$table) || x$selected == 1L) return(invisible(x))
  pairs <- choose(ncol(if (is.list(x$fit$S)) x$fit$S[[1L]] else x$fit$S), 2L)
  cli::cat_line("The smallest penalty of the path was chosen",
                if (isTRUE(x$table$edges[x$selected] == pairs)) ", with an edge between every two variables: these data call for no sparse graph." else
                  ": a path that goes further down may do better.")
  invisible(x)
}

#' @rdname ggm_select
#' @param type What to draw: the criterion along the penalties, or a picture of the chosen fit as in [plot.granary_ggm()].
#' @export
plot.granary_ggm_select <- function(x, type = c("selection", "network", "heatmap", "path"), ...) {
  type <- check_choice(type, c("selection", "network", "heatmap", "path"))
  if (type == "path") return(plot(x$path, type = "path", ...))
  if (type != "selection") return(plot(x$fit, type = type, ...))
  plot_selection(x, ...)
}

#' @rdname ggm_select
#' @usage \method{autoplot}{granary_ggm_select}(object, type = c("selection", "network", "heatmap", "path"), ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_ggm_select <- function(object, type = c("selection", "network", "heatmap", "path"), ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  type <- check_choice(type, c("selection", "network", "heatmap", "path"))
  if (type == "selection") return(autoplot.granary_selection(object))
  ggplot2::autoplot(if (type == "path") object$path else object$fit, type = type, ...)
}

# What the criteria ask of a kind of fit: one data set here, several in ggm_multi_select.R.
select_ebic <- function(fit, gamma) UseMethod("select_ebic")
select_cv <- function(fit, folds, rule) UseMethod("select_cv")
select_stars <- function(fit, n_rep, beta) UseMethod("select_stars")

# Refits the whole path of `fit`, with its settings, to other rows. Each estimator has a method: this is all ggm_select() asks of it.
refit_path <- function(fit, x) UseMethod("refit_path")

#' @exportS3Method
refit_path.granary_ggm_lasso <- function(fit, x) {
  penalty <- list(lambda = fit$lambda, weights = if (is.null(fit$weights)) 1 else fit$weights, plain = is.null(fit$weights))
  data <- suppressWarnings(ggm_input(x, NULL, NULL), classes = "granary_warning_input")
  fit_glasso_path(data, penalty, fit$settings, FALSE, NULL, 1L, NULL)
}

needs_data <- function(fit) {
  if (is.null(fit$x)) abort_input("This criterion refits the model to parts of the data: fit from `x`, not from a covariance matrix.", "fit")
  fit$x
}

#' @exportS3Method
select_ebic.granary_ggm <- function(fit, gamma) {
  n <- needs_n(fit)
  value <- -2 * as.double(logLik(fit)) + fit$df * log(n) + 4 * gamma * fit$df * log(ncol(fit$S))
  list(table = data.frame(lambda = fit$lambda, edges = fit$df, estimate = value), which = which.min(value))
}

# Refits the path once per part, to the rows `rows(part)`, and keeps score(refit, rows) of each. Refits that stopped early are counted.
refit_each <- function(fit, parts, rows, score, label) {
  take <- function(x, chosen) if (is.list(chosen)) Map(take, x, chosen) else x[chosen, , drop = FALSE]
  results <- resample_lapply(parts, function(part) {
    chosen <- rows(part)
    refit <- refit_path(fit, take(fit$x, chosen))
    list(score = score(refit, chosen), converged = all(convergence_table(refit$convergence)$converged))
  }, label)
  stopped <- sum(!vapply(results, `[[`, NA, "converged"))
  if (stopped > 0L) {
    warn_convergence(sprintf("The solver stopped early in %d of %d refits, so the choice may be off. Fit with a larger `max_iter`.", stopped,
                             length(parts)))
  }
  lapply(results, `[[`, "score")
}

#' @exportS3Method
select_cv.granary_ggm <- function(fit, folds, rule) {
  x <- needs_data(fit)
  folds <- check_folds(folds, nrow(x))
  if (any(length(folds) - table(folds) < 2L)) abort_input("`folds` must leave at least two rows to fit to.", "folds")
  held_out_score <- function(train, rows) {
    held_out <- x[-rows, , drop = FALSE]
    vapply(seq_along(fit$lambda), function(j) {
      2 * mean(predict(train, held_out, type = "loglik", which = j)) + ncol(x) * log(2 * pi)
    }, 0)
  }
  scores <- refit_each(fit, sort(unique(folds)), function(k) which(folds != k), held_out_score, "cross-validation")
  choice <- best_held_out(do.call(rbind, scores), rule)
  list(table = data.frame(lambda = fit$lambda, edges = fit$df, choice$table), which = choice$which, folds = folds)
}

# From held-out scores, one row per part and one column per penalty.
best_held_out <- function(scores, rule) {
  value <- colMeans(scores)
  se <- apply(scores, 2L, stats::sd) / sqrt(nrow(scores))
  best <- which.max(value)
  list(table = data.frame(estimate = value, std.error = se), which = if (rule == "1se") which(value >= value[best] - se[best])[1L] else best)
}

#' @exportS3Method
select_stars.granary_ggm <- function(fit, n_rep, beta) {
  n <- nrow(needs_data(fit))
  size <- stars_size(n)
  edges <- function(refit, rows) lapply(if (is_path(refit)) refit$precision else list(refit$precision), edge_codes)
  counts <- refit_each(fit, seq_len(n_rep), function(k) sort(sample.int(n, size)), edges, "StARS")
  p <- ncol(fit$S)
  c(stars_choice(fit, counts, p * (p - 1) / 2, beta), list(subsample_size = size))
}

stars_size <- function(n) {
  size <- if (n > 144) floor(10 * sqrt(n)) else floor(0.8 * n)
  if (size < 2L) abort_input(sprintf("StARS needs subsets of at least two rows, but there are only %d rows.", n), "fit")
  size
}

# `counts[[subset]][[penalty]]` lists the edges found; `pairs` is how many there could be.
stars_choice <- function(fit, counts, pairs, beta) {
  instability <- vapply(seq_along(fit$lambda), function(j) {
    share <- tabulate(match(codes <- unlist(lapply(counts, `[[`, j)), unique(codes))) / length(counts)
    sum(2 * share * (1 - share)) / max(1, pairs)
  }, 0)
  monotone <- cummax(instability)
  allowed <- which(monotone <= beta)
  table <- data.frame(lambda = fit$lambda, edges = fit$df, estimate = monotone, instability = instability)
  if (length(allowed) == 0L) {
    warn_input("Even the largest penalty gives edges less stable than `beta`: fit with larger penalties. It is returned.", "fit")
    allowed <- 1L
  }
  list(table = table, which = max(allowed), beta = beta)
}

# Each edge as one number, the position of its upper-triangle entry.
edge_codes <- function(precision) {
  columns <- rep(seq_len(ncol(precision)), diff(precision@p))
  upper <- precision@i + 1L < columns
  precision@i[upper] + 1 + (columns[upper] - 1) * ncol(precision)
}
