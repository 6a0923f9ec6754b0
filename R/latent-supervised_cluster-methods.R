# What can be done with a supervised clustering, its baselines and its simulator.

#' @export
print_more.granary_supervised_cluster <- function(x) {
  cli::cat_line("Clusters of the rows clustered: mean ", format(mean(x$count_draws), digits = 4L), ", ", paste(stats::quantile(x$count_draws, c(0.05, 0.95)), collapse = " to "), " in 90% of the draws")
  cli::cat_line("Reference types: mean ", format(mean(x$type_draws), digits = 3L), "; concentrations: clusters ", format(mean(x$theta_draws[, 1L]), digits = 3L), ", types ",
                format(mean(x$theta_draws[, 2L]), digits = 3L))
  top <- sort(x$mean_weights, decreasing = TRUE)
  top <- top[seq_len(min(6L, length(top)))]
  cli::cat_line("Heaviest columns: ", paste0(names(top), " ", format(top, digits = 3L, trim = TRUE), collapse = ", "))
  cli::cat_line(sprintf("Draws: %d in %s, R-hat %s", length(x$count_draws), counted(x$chains, "chain", "chains"), format(x$rhat, digits = 4L)))
}

#' @rdname supervised_cluster
#' @param object,x A fit.
#' @param ... Passed on to or from other methods.
#' @export
summary.granary_supervised_cluster <- function(object, ...) {
  refuse_dots(...)
  seal(structure(list(fit = object, weights = data.frame(type = rownames(object$weights), rows = object$type_sizes, object$weights, row.names = NULL, check.names = FALSE)),
                 class = "summary_granary_supervised_cluster"))
}

#' @export
print.summary_granary_supervised_cluster <- function(x, ...) {
  print(x$fit)
  cli::cat_line("Weights (precisions in scaled columns) of the types, in the draw of largest likelihood:")
  print(x$weights[seq_len(min(10L, ncol(x$weights)))], digits = 3L, row.names = FALSE)
  invisible(x)
}

#' @rdname supervised_cluster
#' @param newdata New rows, to be put into the clusters of the fit.
#' @export
predict.granary_supervised_cluster <- function(object, newdata = NULL, type = "class", ...) {
  refuse_dots(...)
  check_choice(type, "class")
  if (is.null(newdata)) return(object$cluster)
  new <- new_design(newdata, object$rows$names, arg = "newdata")
  labels <- rownames(new)
  kept <- object$rows$kept
  scaled <- function(m) sweep(sweep(unname(as.matrix(m))[, kept, drop = FALSE], 2L, object$rows$center[kept]), 2L, object$rows$scale[kept], "/")
  # Nearest mean in the average weights, less the log size: the score is linear in the row.
  w <- object$mean_weights[kept]
  centers <- scaled(object$centers)
  theta <- sweep(centers, 2L, w, "*")
  bias <- -0.5 * rowSums(sweep(centers^2, 2L, w, "*")) + log(as.vector(object$sizes))
  at <- core_cluster_best(plain_rows(scaled(new)), plain_rows(theta), unname(bias), thread_count(NULL), NULL)$cluster
  stats::setNames(rownames(object$centers)[at], labels)
}

#' @rdname supervised_cluster
#' @param truth Clusters of all rows, or of those that were clustered.
#' @usage \method{assess}{granary_supervised_cluster}(object, truth = NULL, ...)
#' @export
assess.granary_supervised_cluster <- function(object, truth = NULL, ...) {
  refuse_dots(...)
  if (is.null(truth)) abort_input("Give `truth`, the clusters of the rows.", "truth")
  open <- object$open
  if (!any(open)) not_for(object, "assess()", "every row had a known cluster")
  if (length(truth) == length(open)) truth <- truth[open]
  if (length(truth) != sum(open)) abort_input(sprintf("`truth` must have one label for each of the %d rows that were clustered, or for all %d, but it has %d.", sum(open), length(open), length(truth)), "truth")
  agreement <- cluster_agreement(object$cluster[open], truth)
  cbind(data.frame(k = length(unique(object$cluster[open])), n = sum(open), ari = agreement$ari, nmi = agreement$nmi, accuracy = agreement$accuracy), pair_scores(object$cluster[open], truth))
}

# Scores of pairs, of information and of edits, in one row.
pair_scores <- function(cluster, truth) {
  found <- core_cluster_pairs(as.integer(check_labels(truth, "truth")), as.integer(check_labels(cluster, "cluster")))
  names(found) <- sub("^ced_back$", "ced.back", sub("^nes_text$", "nes.text", names(found)))
  as.data.frame(found[c("rand", "precision", "recall", "f", "vi", "nvi", "ced", "ced.back", "nes", "nes.text", "moves", "merges", "creates", "n11", "n00", "n10", "n01")])
}

#' @rdname supervised_cluster
#' @usage \method{plot}{granary_supervised_cluster}(x, type = c("weights", "similarity", "trace"), ...)
#' @export
plot.granary_supervised_cluster <- function(x, type = c("weights", "similarity", "trace"), ...) {
  type <- check_choice(type, c("weights", "similarity", "trace"))
  if (type == "weights") {
    shown <- x$weights[seq_len(min(4L, nrow(x$weights))), , drop = FALSE]
    shown[is.na(shown)] <- 0
    names <- sprintf("%s (%d rows)", rownames(shown), x$type_sizes[seq_len(nrow(shown))])
    draw(graphics::barplot, shown, beside = TRUE, col = cluster_colors(nrow(shown)), border = NA, ylim = c(0, (1.05 + 0.1 * nrow(shown)) * max(shown)), ylab = "weight", main = "weights by type", user = list(...))
    graphics::legend("topright", names, cex = 0.8, fill = cluster_colors(nrow(shown)), border = NA, bty = "n")
  } else if (!any(x$open)) {
    not_for(x, "plot()", "no row was clustered: only type = \"weights\" can be drawn")
  } else if (type == "similarity") {
    draw_similarity(core_partition_similarity(thinned(x$partitions, 2000L), NULL), sorted_clusters(as.integer(factor(x$cluster[x$open], unique(x$cluster[x$open])))), ...)
  } else {
    plot_trace(x, ...)
  }
  invisible(x)
}

#' @rdname supervised_cluster
#' @usage \method{autoplot}{granary_supervised_cluster}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_supervised_cluster <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  bars <- data.frame(type = rep(rownames(object$weights), ncol(object$weights)), column = rep(factor(colnames(object$weights), colnames(object$weights)), each = nrow(object$weights)),
                     weight = as.vector(object$weights))
  gg_canvas(bars, ggplot2::aes(.data$column, .data$weight, fill = .data$type)) + ggplot2::geom_col(position = "dodge", na.rm = TRUE) + gg_palette("fill") +
    ggplot2::labs(x = NULL, fill = NULL)
}

#' @rdname supervised_cluster
#' @usage \method{as_draws}{granary_supervised_cluster}(x, ...)
#' @exportS3Method posterior::as_draws
as_draws.granary_supervised_cluster <- function(x, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  draws_array(supervised_series(x), x$chains)
}

#' @rdname supervised_cluster
#' @usage \method{as.mcmc}{granary_supervised_cluster}(x, ...)
#' @exportS3Method coda::as.mcmc
as.mcmc.granary_supervised_cluster <- function(x, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  mcmc_list(supervised_series(x), x$chains)
}

supervised_series <- function(x) cbind(clusters = as.double(x$count_draws), types = as.double(x$type_draws), theta_cluster = x$theta_draws[, 1L], theta_type = x$theta_draws[, 2L], loglik = x$loglik_draws)

#' Simple ways to cluster new rows after labelled ones
#'
#' What [supervised_cluster()] is compared with: everything in one cluster, every row alone, clustering without the labels, or a classifier of pairs with average linkage.
#'
#' @details
#' `"coarse"`: one cluster. `"fine"`: every row alone. `"cdp"`: a Dirichlet process mixture with concentration 1 and one type of unit weights, labels unused (on scaled columns).
#' `"binary"`: a logistic regression on \eqn{|r_i - r_j|} says whether two rows belong together; new rows are joined by average link on the log-odds, with the threshold that
#' gave the best pair F on training clusters kept back.
#'
#' @section Which method when: `"binary"` is hard to beat when pairs can be told apart by a linear rule; the others show what a score is worth.
#'
#' @inheritParams supervised_cluster
#' @param method `"binary"`, `"cdp"`, `"fine"` or `"coarse"`.
#' @param folds Folds of training clusters, for `"binary"`.
#' @return An object of class `granary_supervised_baseline`, a [granary_clustering], with `cluster`, the known ones and those found.
#' @references Daume and Marcu (2005). A Bayesian model for supervised clustering with the Dirichlet process prior. *Journal of Machine Learning Research* 6,
#'   1551--1577.
#' @seealso [supervised_cluster()], [cluster_agreement()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_supervised_cluster(120, type = "plus")
#' known <- ifelse(sim$train, sim$cluster, NA)
#' base <- supervised_cluster_baseline(sim$x, known, method = "binary")
#' assess(base, truth = sim$cluster)
supervised_cluster_baseline <- function(x, cluster, method = c("binary", "cdp", "fine", "coarse"), folds = 10, n_draws = 500, burn_in = 500) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(cluster)) fail_missing("cluster")
  method <- check_choice(method, c("binary", "cdp", "fine", "coarse"))
  rows <- supervised_rows(x, cluster, NULL, FALSE)
  open <- rows$open
  if (!any(open)) abort_input("`cluster` must have NA where rows are to be clustered.", "cluster")
  n <- sum(open)
  more <- list()
  folds <- check_count(folds, lower = 2)
  options <- list(one_type = TRUE, alpha_cluster = 1, collapse = TRUE, n_draws = check_count(n_draws), burn_in = check_count(burn_in, lower = 0))
  found <- switch(method,
    coarse = rep(1L, n), fine = seq_len(n),
    cdp = {
      run <- core_supervised_cluster(rows$scaled[open, , drop = FALSE], rep(0L, n), rep(1L, n), options, core_seed(), progress_bar("chains"))
      core_partition_estimate(run$clusters, list(), NULL)$cluster
    },
    binary = {
      if (length(rows$levels) < 2L) abort_input("method = \"binary\" needs at least two training clusters.", "cluster")
      run <- core_pairwise_cluster(rows$scaled[!open, , drop = FALSE], rows$label[!open], rows$scaled[open, , drop = FALSE], folds, core_seed(), progress_bar("pairs"))
      more <- list(coefficients = stats::setNames(run$coefficients, c("(Intercept)", rows$names[rows$kept])), threshold = run$threshold, training_f = run$training_f)
      run$cluster
    }
  )
  labels <- rows$given
  labels[open] <- paste0("new", sorted_clusters(found))
  numbers <- factor(labels, unique(c(labels[!open], labels[open])))
  sizes <- tabulate(numbers, nlevels(numbers))
  centers <- rowsum(rows$x, as.integer(numbers)) / sizes
  dimnames(centers) <- list(levels(numbers), rows$names)
  do.call(new_clustering, c(list(c("supervised_baseline", "supervised_cluster"), cluster = stats::setNames(labels, rows$labels), centers = centers, sizes = stats::setNames(sizes, levels(numbers)),
                                 objective = max(found), open = open, method = method, k = length(sizes), x = rows$x), more,
                            list(title = sprintf("Baseline of supervised clustering: %s", method), measure = "Clusters of the rows clustered", call = call,
                                 convergence = list(converged = TRUE, iterations = 0L))), quote = TRUE)
}

#' @export
print_more.granary_supervised_baseline <- function(x) {
  if (!is.null(x$threshold)) cli::cat_line(sprintf("Pairs are joined above mean log-odds of %s (pair F %.3f on clusters kept back)", format(x$threshold), x$training_f))
}

#' @export
summary.granary_supervised_baseline <- function(object, ...) summary.granary_clustering(object, ...)

#' @export
plot.granary_supervised_baseline <- function(x, ...) plot.granary_clustering(x, ...)

#' @export
predict.granary_supervised_baseline <- function(object, newdata = NULL, ...) {
  refuse_dots(...)
  if (is.null(newdata)) return(object$cluster)
  not_for(object, "predict()", "it does not say where new rows belong; give them to the baseline with NA as their cluster")
}

#' @usage NULL
#' @exportS3Method ggplot2::autoplot
autoplot.granary_supervised_baseline <- function(object, ...) autoplot.granary_clustering(object, ...)  # nolint: object_name_linter.

#' @usage NULL
#' @exportS3Method posterior::as_draws
as_draws.granary_supervised_baseline <- function(x, ...) not_for(x, "as_draws()", "it has no draws")  # nolint: object_name_linter.

#' @usage NULL
#' @exportS3Method coda::as.mcmc
as.mcmc.granary_supervised_baseline <- function(x, ...) not_for(x, "as.mcmc()", "it has no draws")  # nolint: object_name_linter.
