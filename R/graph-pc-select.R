# Choosing alpha, and how far to trust the graph.

check_search <- function(fit, x, arg = "fit") {
  if (!inherits(fit, "granary_constraint")) fail_input(arg, "a fit of pc(), fci() or rfci() to data", describe(fit))
  check_fit(fit)
  if (isTRUE(fit$weighted)) abort_input("A search on counted rows cannot be repeated on parts of them: give one row per observation.", arg)
  data <- if (is.null(x)) fit$data else x
  if (is.null(data)) abort_input("`x` is needed: the fit does not hold numeric data.", "x")
  data
}

# The same search on other data, quietly: warnings of a hundred refits say nothing new.
refit_search <- function(fit, spec, alpha = fit$alpha) {
  settings <- fit$settings
  settings$alpha <- alpha
  algorithm <- c(granary_pc = "pc", granary_fci = "fci", granary_rfci = "rfci", granary_pc_skeleton = "skeleton")[[class(fit)[1L]]]
  known <- resolve_background(fit$background, spec$names, hidden = algorithm %in% c("fci", "rfci"))
  run_search(algorithm, spec, known, settings, 1L, NULL)
}

search_spec <- function(fit, data) {
  test <- c(gauss = "gauss", gauss_rows = "gauss", spearman = "rank", kendall = "kendall", g2 = "g2", x2 = "x2", mixed = "mixed")
  if (!fit$test %in% names(test)) abort_input(sprintf("A search with the test \"%s\" cannot be repeated on other data.", fit$test), "fit")
  ci_spec(data, test[[fit$test]], NULL, NULL, na = if (fit$test == "gauss_rows") "pairwise" else "error", cache = FALSE)
}

#' Choose the significance level of a causal search
#'
#' Runs the search along a grid of levels and scores each graph by BIC: a DAG of the class is fitted by Gaussian maximum likelihood.
#'
#' @details
#' With `penalty = "edges"` the score is \eqn{-2 \ell + \log(n) (\#\mathrm{edges} + 2p)}{-2 loglik + log(n) (edges + 2 p)}, the usual count of
#' parameters (weights, means,
#' variances). `"covariance"` counts the non-zero entries \eqn{\hat\Sigma_{ij}, i \le j,}{Sigma_ij, i <= j,} of the fitted covariance matrix and
#' the means, as printed in the paper. Graphs
#' that belong to no DAG (contradictory tests) get the score of the DAG that takes the nodes' order where no extension exists; they are marked in
#' the column `extendable`.
#'
#' @param x Numeric data.
#' @param alpha The levels to try.
#' @param penalty How parameters are counted; see Details.
#' @param ... Passed to [pc()].
#' @section Which method when: to choose `alpha` for a graph that describes the data well. How far to trust its edges is another question: see
#'   [pc_stability()].
#' @return A [granary_selection]: `fit` is the chosen fit, `table` has one row per `alpha` with the score as `estimate`.
#' @references Colombo and Maathuis (2014), section 5; Foygel and Drton (2010) for BIC in graphs.
#' @seealso [pc()], [fci()], [ci_test()], [pc_knowledge()], [causal_dag()], [ida()]
#' @export
#' @examples
#' set.seed(1)
#' chosen <- pc_select(sim_dag(10, n = 300)$data, alpha = c(0.001, 0.01, 0.1))
#' chosen
pc_select <- function(x, alpha = c(0.000625, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04), penalty = c("edges", "covariance"), ...) {
  x <- check_matrix(x, "x", min_rows = 4L)
  alpha <- sort(unique(unname(check_vector(alpha, lower = 0, upper = 1))))
  penalty <- check_choice(penalty, c("edges", "covariance"))
  fits <- lapply(alpha, function(a) pc(x, alpha = a, ...))
  check_all_columns(ncol(x), 3, "Choose the variables beforehand.")
  S <- core_covariance(x) * (nrow(x) - 1) / nrow(x)
  rows <- lapply(fits, function(fit) score_graph(fit$graph, S, nrow(x), penalty))
  table <- cbind(alpha = alpha, edges = vapply(fits, function(fit) nrow(fit$edges), 0L), do.call(rbind, rows))
  if (!any(table$extendable)) {
    abort_input(paste("No graph at any of these `alpha` belongs to a DAG, so none has a score: v-structures contradict each other.",
                      "Try smaller `alpha`, or colliders = \"conservative\"."), "alpha")
  }
  if (!all(table$extendable)) {
    warn_input(sprintf("%d of %d graphs belong to no DAG and have no score (NA in the table): at alpha %s.", sum(!table$extendable), nrow(table),
                       paste(format(alpha[!table$extendable], trim = TRUE), collapse = ", ")), "alpha")
  }
  names(table)[names(table) == "score"] <- "estimate"
  new_selection("pc", fits[[which.min(table$estimate)]], table, "min", "BIC", penalty = penalty)
}

score_graph <- function(graph, S, n, penalty) {
  found <- core_pdag_score(graph_parts(graph), S, list(n = n, penalty = penalty))
  data.frame(lapply(found, function(value) if (is.nan(value)) NA_real_ else value))
}

#' How stable is a causal graph?
#'
#' Repeats a search on random halves of the rows (`what = "rows"`, stability selection) or on the same data with the columns in
#' other orders (`"order"`), and counts how often
#' each edge and each direction appears.
#'
#' @param fit A fit of [pc()], [fci()] or [rfci()] to data.
#' @param what What is varied.
#' @param n_rep Number of half-samples (100), or of random orders beside the given one (25).
#' @param permute Also shuffle the columns in each run?
#' @param cutoff Edges that appear in at least this share of the runs are kept in `graph`; by default 0.75 for rows, 1 for orders.
#' @param x The data, if the fit does not hold them (discrete and mixed tests).
#' @return An object of class `granary_graph_stability`: a list with `edges` (matrix: share of the runs in which the pair is adjacent), `arrows`
#'   (share in which there is
#'   \eqn{i \to j}{i -> j}), `graph` (the stable skeleton), `counts` (number of edges per run) and `runs` (`what = "order"`: logical matrix,
#'   one row per edge that ever appeared, one
#'   column per order, the given one last). `tidy()` lists the edges with the share of runs they appear in (`estimate`) and the shares in which they point
#'   forward and backward.
#' @section Which method when: to see how far a graph depends on the rows or on the order of the columns; [pc_select()] chooses `alpha`.
#' @details Refits run on the workers of `future::plan()` where one is set.
#' @references
#' Meinshausen and Buehlmann (2010). Stability selection. *Journal of the Royal Statistical Society: Series B* 72, 417--473.
#'
#' Colombo and Maathuis (2014), figures 1 and 6.
#' @seealso [pc()], [fci()], [ci_test()], [pc_knowledge()], [causal_dag()], [ida()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_dag(8, n = 200)
#' fit <- pc(sim$data, alpha = 0.05)
#' pc_stability(fit, n_rep = 20)
#' pc_stability(fit, "order", n_rep = 10)
pc_stability <- function(fit, what = c("rows", "order"), n_rep = NULL, permute = TRUE, cutoff = NULL, x = NULL, ...) {
  refuse_dots(...)
  if (missing(fit)) fail_missing("fit")
  what <- check_choice(what, c("rows", "order"))
  if (what == "order") return(order_sensitivity(fit, if (is.null(n_rep)) 25 else n_rep, if (is.null(cutoff)) 1 else cutoff, x))
  B <- if (is.null(n_rep)) 100 else n_rep
  if (is.null(cutoff)) cutoff <- 0.75
  data <- check_search(fit, x)
  spec <- search_spec(fit, data)
  data <- if (is.null(spec$data)) columns_of(data) else spec$data
  B <- check_count(B, "n_rep", upper = 1e6)
  permute <- check_flag(permute)
  cutoff <- check_number(cutoff, lower = 0, upper = 1)
  n <- nrow(data)
  p <- length(spec$names)
  half <- n %/% 2L
  if (half < 4L) abort_input(sprintf("Half of the %d rows are too few for a search; at least 8 rows are needed.", n), "fit")
  runs <- resample_lapply(seq_len(B), function(b) {
    rows <- sample.int(n, half)
    columns <- if (permute) sample.int(p) else seq_len(p)
    tryCatch(run_edges(fit, data[rows, columns, drop = FALSE], columns), granary_error_input = function(e) NULL)
  }, "stability selection")
  failed <- vapply(runs, is.null, NA)
  if (all(failed)) abort_input("No half-sample could be searched: a column is constant in each of them.", "fit")
  if (any(failed)) warn_input(sprintf("%d of %d half-samples had a constant column and were left out.", sum(failed), B), "fit")
  stability_result(runs[!failed], spec$names, cutoff)
}

order_sensitivity <- function(fit, K = 25, cutoff = 1, x = NULL) {
  data <- check_search(fit, x)
  spec <- search_spec(fit, data)
  data <- if (is.null(spec$data)) columns_of(data) else spec$data
  K <- check_count(K, "n_rep", upper = 1e6)
  cutoff <- check_number(cutoff, lower = 0, upper = 1)
  p <- length(spec$names)
  runs <- resample_lapply(seq_len(K + 1L), function(k) {
    columns <- if (k <= K) sample.int(p) else seq_len(p)
    run_edges(fit, data[, columns, drop = FALSE], columns)
  }, "orders of the variables")
  result <- stability_result(runs, spec$names, cutoff)
  key <- lapply(runs, function(edges) (pmin(edges[, 1L], edges[, 2L]) - 1) * p + pmax(edges[, 1L], edges[, 2L]))
  all <- sort(unique(unlist(key)))
  appeared <- vapply(key, function(k) all %in% k, logical(length(all)))
  appeared <- matrix(appeared, length(all), K + 1L)
  first <- (all - 1) %/% p + 1
  second <- (all - 1) %% p + 1
  rownames(appeared) <- paste(spec$names[first], spec$names[second], sep = " - ")[seq_along(all)]
  result$runs <- appeared[order(-rowSums(appeared)), , drop = FALSE]
  result
}

# The edges of a search, in the numbers of the original columns.
run_edges <- function(fit, data, columns) {
  edges <- refit_search(fit, search_spec(fit, data))$edges
  edges[, 1:2] <- columns[edges[, 1:2]]
  edges
}

stability_result <- function(runs, names, cutoff) {
  p <- length(names)
  edges <- arrows <- matrix(0, p, p, dimnames = list(names, names))
  for (run in runs) {
    edges[run[, 1:2, drop = FALSE]] <- edges[run[, 1:2, drop = FALSE]] + 1
    forward <- run[run[, 3L] == 1L & run[, 4L] == 2L, 1:2, drop = FALSE]
    back <- run[run[, 3L] == 2L & run[, 4L] == 1L, 2:1, drop = FALSE]
    arrows[forward] <- arrows[forward] + 1
    arrows[back] <- arrows[back] + 1
  }
  edges <- (edges + t(edges)) / length(runs)
  arrows <- arrows / length(runs)
  kept <- which(upper.tri(edges) & edges >= cutoff & edges > 0, arr.ind = TRUE)
  graph <- new_graph(names, cbind(kept, rep(1L, nrow(kept)), rep(1L, nrow(kept))), "undirected")
  seal(structure(list(edges = edges, arrows = arrows, graph = graph, counts = vapply(runs, nrow, 0L), cutoff = cutoff), class = "granary_graph_stability"))
}

#' @export
print.granary_graph_stability <- function(x, ...) {
  ever <- x$edges[upper.tri(x$edges)]
  cli::cat_line("Edges over ", length(x$counts), " runs: ", min(x$counts), " to ", max(x$counts), " per run, ", sum(ever > 0), " in any, ",
                sum(ever == 1), " in all")
  cli::cat_line(nrow(x$graph$edges), " in at least ", format(100 * x$cutoff), "% of the runs")
  print_edges(x$graph)
  invisible(x)
}

#' @rdname pc_stability
#' @export
tidy.granary_graph_stability <- function(x, ...) {
  refuse_dots(...)
  at <- which(upper.tri(x$edges) & x$edges > 0, arr.ind = TRUE)
  names <- colnames(x$edges)
  table <- data.frame(from = names[at[, 1L]], to = names[at[, 2L]], estimate = x$edges[at], forward = x$arrows[at], backward = x$arrows[at[, 2:1, drop = FALSE]])
  table <- table[order(-table$estimate), ]
  rownames(table) <- NULL
  table
}

#' @rdname pc_stability
#' @export
glance.granary_graph_stability <- function(x, ...) {
  refuse_dots(...)
  data.frame(runs = length(x$counts), edges = nrow(x$graph$edges), cutoff = x$cutoff, fewest = min(x$counts), most = max(x$counts))
}

#' @rdname pc_stability
#' @usage \method{autoplot}{granary_graph_stability}(object, ...)
#' @param object As `x` of `plot()`.
#' @exportS3Method ggplot2::autoplot
autoplot.granary_graph_stability <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  names <- colnames(object$edges)
  table <- data.frame(row = factor(rep(names, length(names)), rev(names)), column = factor(rep(names, each = length(names)), names),
                      share = as.vector(object$edges))
  gg_canvas(table, ggplot2::aes(.data$column, .data$row, fill = .data$share)) + ggplot2::geom_tile() +
    ggplot2::scale_fill_gradient(low = "white", high = sign_colours[["positive"]], limits = c(0, 1)) +
    ggplot2::labs(x = NULL, y = NULL, fill = "share\nof runs") + ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, hjust = 1))
}

#' @rdname pc_stability
#' @param ... Passed on to [graphics::image()].
#' @export
plot.granary_graph_stability <- function(x, ...) {
  p <- ncol(x$edges)
  colours <- grDevices::colorRampPalette(c("white", sign_colours[["positive"]]))(101L)
  names <- colnames(x$edges)
  old <- graphics::par(mar = c(if (p <= 40L) rep(min(10, 1 + 0.5 * max(nchar(names))), 2L) else c(1, 1), 3, 3.1))
  on.exit(graphics::par(old))
  draw(graphics::image, seq_len(p), seq_len(p), x$edges[, p:1L, drop = FALSE], zlim = c(0, 1), col = colours, axes = FALSE, xlab = "", ylab = "",
       main = "share of runs with an edge", user = list(...))
  if (p <= 40L) {
    graphics::axis(1, seq_len(p), names, las = 2, tick = FALSE, cex.axis = 0.8)
    graphics::axis(2, seq_len(p), rev(names), las = 2, tick = FALSE, cex.axis = 0.8)
  }
  graphics::box(col = "grey60")
  draw_key(c(0, 1), colours)
  invisible()
}
