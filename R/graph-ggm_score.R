#' How close a graph estimate is to the truth
#'
#' @details
#' Edges are nonzero off-diagonal entries (equation (50) of the QUIC paper prints "> 0"; it means "not 0"). With
#' \eqn{X} the estimate and \eqn{\Theta}{Theta} the true precision matrix, the Kullback-Leibler divergence from truth to estimate is
#' \eqn{\frac12\{\mathrm{tr}(X\Theta^{-1}) - \log\det(X\Theta^{-1}) - p\}}{(tr(X Theta^-1) - log det(X Theta^-1) - p) / 2}.
#'
#' @param truth The true precision matrix, a [sim_ggm()] result, or a 0/1 adjacency matrix (then only the edge scores are given). For a fit to
#'   several tasks a [sim_ggm_multi()] result or a list of these, one per task.
#' @param fit A Gaussian graph fit (all penalties of a path are scored), or a precision matrix.
#' @param average For a fit to several tasks: whether to average over them (one row per penalty) or to give each (with a column `task`).
#' @return A data frame of class `granary_ggm_score` with one row per penalty: `lambda`, `edges`, true and false positives, `tpr`, `fpr`,
#'   `precision` (share of
#'   found edges that are true), `f1`, `mcc` (Matthews correlation), `kl` and `frobenius` (relative error). For a path, attribute `auc` is the area
#'   under its ROC curve, completed by straight lines to (0, 0) and (1, 1); `plot()` draws the curve.
#' @family Gaussian graphs
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_ggm("chain", p = 30, n = 100)
#' scores <- ggm_score(sim, ggm_lasso(sim$data))
#' scores
#' plot(scores)
#'
#' tasks <- sim_ggm_multi(tasks = 3, p = 15, n = 60)
#' ggm_score(tasks, ggm_multi(tasks$data, nlambda = 5))
ggm_score <- function(truth, fit, average = TRUE) {
  average <- check_flag(average)
  if (inherits(fit, "granary_ggm_multi")) return(score_tasks(truth, fit, average))
  truth <- score_truth(truth)
  if (inherits(fit, "granary_ggm")) {
    estimates <- if (is_path(fit)) fit$precision else list(fit$precision)
    lambda <- fit$lambda
  } else {
    estimates <- list(as_sparse(check_symmetric(fit, "fit", allow_sparse = TRUE)))
    lambda <- NA_real_
  }
  p <- ncol(truth$edges)
  if (ncol(estimates[[1L]]) != p) {
    abort_input(sprintf("`truth` has %d variables and `fit` has %d: they must be the same.", p, ncol(estimates[[1L]])), "truth")
  }
  table <- do.call(rbind, lapply(estimates, score_one, truth = truth))
  table <- cbind(lambda = lambda, table)
  structure(table, auc = if (nrow(table) > 1L) roc_area(table$fpr, table$tpr), class = c("granary_ggm_score", "data.frame"))
}

score_tasks <- function(truth, fit, average) {
  if (inherits(truth, "granary_sim_ggm_multi")) truth <- truth$precision
  if (!is.list(truth) || is.data.frame(truth) || length(truth) != length(fit$S)) {
    abort_input(sprintf("`truth` must be a list of %d precision matrices, one per task, but it is %s.", length(fit$S), describe(truth)), "truth")
  }
  if (!is.null(names(truth)) && setequal(names(truth), names(fit$S))) truth <- truth[names(fit$S)]
  tables <- lapply(seq_along(truth), function(k) as.data.frame(unclass(ggm_score(truth[[k]], ggm_task(fit, k)))))
  if (!average) return(do.call(rbind, Map(function(table, name) cbind(task = name, table), tables, names(fit$S))))
  table <- Reduce(`+`, tables) / length(tables)
  structure(table, auc = if (nrow(table) > 1L) roc_area(table$fpr, table$tpr), class = c("granary_ggm_score", "data.frame"))
}

as_sparse <- function(m) methods::as(methods::as(m, "CsparseMatrix"), "generalMatrix")

score_truth <- function(truth) {
  if (inherits(truth, "granary_sim_ggm")) truth <- truth$precision
  truth <- as.matrix(check_symmetric(truth, "truth", allow_sparse = TRUE))
  edges <- truth != 0 & row(truth) != col(truth)
  factor <- tryCatch(chol(truth), error = function(e) NULL)
  is_adjacency <- is.null(factor) || all(truth %in% c(0, 1))
  list(edges = edges, precision = if (!is_adjacency) truth, factor = if (!is_adjacency) factor)
}

score_one <- function(estimate, truth) {
  p <- ncol(truth$edges)
  upper <- upper.tri(truth$edges)
  found <- as.matrix(estimate)[upper] != 0
  true <- truth$edges[upper]
  tp <- sum(found & true)
  fp <- sum(found & !true)
  fn <- sum(!found & true)
  tn <- sum(!found & !true)
  share <- function(part, whole) if (whole > 0) part / whole else NA_real_
  kl <- frobenius <- NA_real_
  if (!is.null(truth$precision)) {
    own <- tryCatch(chol(as.matrix(estimate)), error = function(e) NULL)
    if (!is.null(own)) {
      half <- backsolve(truth$factor, t(own), transpose = TRUE)  # tr(X Theta^-1) = ||R^-T L||^2 with X = L L', Theta = R'R
      kl <- (sum(half^2) - 2 * sum(log(diag(own))) + 2 * sum(log(diag(truth$factor))) - p) / 2
    }
    frobenius <- sqrt(sum((as.matrix(estimate) - truth$precision)^2) / sum(truth$precision^2))
  }
  data.frame(
    edges = tp + fp, tp = tp, fp = fp, tpr = share(tp, tp + fn), fpr = share(fp, fp + tn), precision = share(tp, tp + fp),
    f1 = share(2 * tp, 2 * tp + fp + fn),
    mcc = share(tp * tn - fp * fn, sqrt(as.double(tp + fp)) * sqrt(tp + fn) * sqrt(tn + fp) * sqrt(tn + fn)),
    kl = kl, frobenius = frobenius
  )
}

# Area under the curve through the points, (0, 0) and (1, 1), in order of fpr.
roc_area <- function(fpr, tpr) {
  keep <- !is.na(fpr) & !is.na(tpr)
  if (!any(keep)) return(NA_real_)
  order <- order(fpr[keep], tpr[keep])
  x <- c(0, fpr[keep][order], 1)
  y <- c(0, tpr[keep][order], 1)
  sum(diff(x) * (utils::head(y, -1L) + y[-1L]) / 2)
}

#' @export
print.granary_ggm_score <- function(x, ...) {
  print(format(as.data.frame(unclass(x)), digits = 3L), row.names = FALSE)
  if (!is.null(attr(x, "auc"))) cli::cat_line("Area under the ROC curve: ", format(attr(x, "auc"), digits = 3L))
  invisible(x)
}

#' @export
plot.granary_ggm_score <- function(x, ...) {
  order <- order(x$fpr, x$tpr)
  draw(graphics::plot, c(0, x$fpr[order], 1), c(0, x$tpr[order], 1), type = "l", xlab = "false positive rate", ylab = "true positive rate",
       xlim = c(0, 1), ylim = c(0, 1), las = 1, col = "grey60", user = list(...))
  graphics::points(x$fpr, x$tpr, pch = 19, col = "#2166ac")
  graphics::abline(0, 1, lty = 3, col = "grey70")
  invisible(x)
}
