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
  named <- colnames(truth$edges)
  if (!is.null(named)) estimates <- lapply(estimates, match_named, variables = named, arg = "fit")
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
  is_adjacency <- all(truth %in% c(0, 1)) || is.null(core_definite_inverse(truth))
  list(edges = edges, precision = if (!is_adjacency) truth)
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
    loss <- core_precision_loss(truth$precision, as.matrix(estimate))
    kl <- if (is.nan(loss$kl)) NA_real_ else loss$kl
    frobenius <- loss$frobenius
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

#' @rdname assess
#' @param truth What is known: a precision matrix, an adjacency matrix or a simulation, for a fit to several tasks a list of them; for graphs a
#'   graph. Variables and nodes are matched by name.
#' @param average For several tasks: the mean of their scores, or one block of rows per task.
#' @details Gaussian graphs: numbers of true and false edges, `tpr`, `fpr`, `precision`, `f1` and Matthews' correlation `mcc` per penalty,
#'   and where
#'   `truth` is a precision matrix the Kullback-Leibler loss `kl` and the relative Frobenius error; `plot()` draws the ROC curve. Fits with hubs:
#'   edges found and correct, shares of the edges of hubs and of hubs found, and the squared error. Graphs with marks: structural Hamming
#'   distance, rates of adjacencies and of arrows, and a table of the marks.
#' @exportS3Method
assess.granary_ggm <- function(object, truth, average = TRUE, hubs = NULL, r = 1, threshold = 1e-5, ...) {
  refuse_dots(...)
  if (missing(truth)) fail_missing("truth")
  about_hubs <- !is.null(hubs) || inherits(truth, "granary_sim_hub")
  if (about_hubs && !is_path(object)) hub_score(truth, object, hubs, r, threshold) else ggm_score(truth, object, average)
}

#' @rdname assess
#' @exportS3Method
assess.matrix <- function(object, truth, ...) {
  refuse_dots(...)
  if (missing(truth)) fail_missing("truth")
  ggm_score(truth, object)
}

#' @rdname assess
#' @exportS3Method
assess.Matrix <- function(object, truth, ...) assess.matrix(object, truth, ...)

#' @rdname assess
#' @param hubs The true hubs; known where `truth` is a simulation of [sim_hub()]: then the scores are those of hubs.
#' @param r Edges a node needs to count as a hub that was found.
#' @param threshold Entries up to this size are no edges.
#' @exportS3Method
assess.granary_hub <- function(object, truth, hubs = NULL, r = 1, threshold = 1e-5, ...) {
  refuse_dots(...)
  if (missing(truth)) fail_missing("truth")
  hub_score(truth, object, hubs, r, threshold)
}

#' @rdname assess
#' @exportS3Method
assess.granary_graph <- function(object, truth, ...) {
  refuse_dots(...)
  if (missing(truth)) fail_missing("truth")
  compare_graphs(object, truth)
}

#' @rdname assess
#' @exportS3Method
assess.granary_constraint <- function(object, truth, ...) assess(object$graph, truth, ...)

#' @rdname assess
#' @exportS3Method
assess.granary_causal_dag <- function(object, truth, ...) assess(object$graph, truth, ...)

# Of hubs.
hub_score <- function(truth, fit, hubs = NULL, r = 1, threshold = 1e-5) {
  if (inherits(truth, "granary_sim_hub")) {
    if (is.null(hubs)) hubs <- truth$hubs
    truth <- truth$theta
  }
  truth <- as.matrix(check_symmetric(truth, "truth", allow_sparse = TRUE))
  estimate <- if (inherits(fit, "granary_ggm")) {
    as.matrix(precision_at(fit))
  } else if (inherits(fit, "granary_hub")) {
    as.matrix(fit$theta)
  } else {
    as.matrix(check_symmetric(fit, "fit", allow_sparse = TRUE))
  }
  if (ncol(truth) != ncol(estimate)) {
    abort_input(sprintf("`truth` has %d variables and `fit` has %d: they must be the same.", ncol(truth), ncol(estimate)), "fit")
  }
  if (!is.null(colnames(truth))) estimate <- match_named(estimate, colnames(truth), "fit")
  r <- check_count(r, lower = 0)
  threshold <- check_number(threshold, lower = 0)
  if (is.character(hubs)) hubs <- match(hubs, colnames(truth))
  hubs <- check_vector(hubs, "hubs", min_length = 0L, lower = 1, upper = ncol(truth))
  found <- abs(estimate) > threshold
  diag(found) <- FALSE
  true <- truth != 0
  diag(true) <- FALSE
  upper <- upper.tri(truth)
  touches <- upper & (row(truth) %in% hubs | col(truth) %in% hubs)
  degree <- colSums(found)
  top <- utils::head(order(-degree), length(hubs))
  top <- top[degree[top] >= r]
  share <- function(part, whole) if (whole > 0) part / whole else NA_real_
  data.frame(edges = sum(found & upper), correct = sum(found & true & upper), hub_edges = share(sum(found & true & touches), sum(true & touches)),
             hubs = share(sum(top %in% hubs), length(hubs)), sse = sum((estimate - truth)[upper]^2))
}
