#' The best DAGs, not only the best one
#'
#' Lists the DAGs with the lowest scores: how much worse than the best is the next, and in which edges do they differ? Scores that are (almost) equal
#' say that the data cannot tell
#' these DAGs apart.
#'
#' @details
#' The list is exact if the searches are (`exact`): once the best DAG of a set is known, the rest of the set splits into parts that agree with it up
#' to some node and
#' differ there, and each part is searched (Lawler 1972). That is one search per variable and DAG, and DAGs that differ from a better one by a
#' superfluous edge are listed too, so that the search may need more memory than that of the fit. The DAGs are those of the score, before pruning.
#'
#' @param fit A fit of [causal_dag()] or [best_dag()].
#' @param k Number of DAGs.
#' @return A data frame of class `granary_dag_ranking` with a row per DAG: `rank`, `score`, `excess` (over the best), `edges` (how many), `lost` and
#'   `gained` (edges against the best
#'   DAG, as text). The attribute `graphs` is the list of [graphs][as_graph], `exact` says whether the list is. Fewer than `k` rows mean that there
#'   are no more DAGs.
#' @references
#' Lawler (1972). A procedure for computing the K best solutions to discrete optimization problems and its application to the shortest path problem.
#' *Management Science* 18, 401--405.
#' @family causal graphs
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_dag(6, n = 100, weights = c(0.5, 1))
#' fit <- causal_dag(sim$data)
#' best <- dag_ranking(fit, 4)
#' best
#' attr(best, "graphs")[[2]]
#'
#' # the likelihood alone cannot choose among the DAGs of an equivalence class
#' dag_ranking(causal_dag(sim$data, weights = "likelihood"), 3)
dag_ranking <- function(fit, k = 10) {
  if (missing(fit)) fail_missing("fit")
  k <- check_count(k, upper = 10000)
  bar <- progress_bar("ranking DAGs")
  if (inherits(fit, "granary_best_dag")) {
    found <- core_call(core_rank_scores(fit$table$sets, fit$table$scores, fit$settings, k, core_seed(), bar))
  } else {
    if (!inherits(fit, "granary_causal_dag")) fail_input("fit", "a fit of causal_dag() or best_dag()", describe(fit))
    fit <- check_causal_dag(fit)
    found <- core_call(core_rank_dags(fit$S, fit$space, dag_core_settings(fit), k, core_seed(), bar))
  }
  graphs <- lapply(found$parents, function(parents) graph_of_parents(parents, fit$graph$nodes))
  arcs <- lapply(graphs, function(g) {
    edges <- edge_table(g)
    paste(edges$from, "->", edges$to)[seq_len(nrow(edges))]
  })
  listed <- function(set) paste(set, collapse = "; ")
  table <- data.frame(
    rank = seq_along(graphs), score = found$scores, excess = found$scores - found$scores[1L], edges = lengths(arcs),
    lost = vapply(arcs, function(a) listed(setdiff(arcs[[1L]], a)), ""), gained = vapply(arcs, function(a) listed(setdiff(a, arcs[[1L]])), ""),
    stringsAsFactors = FALSE
  )
  if (!found$exact) warn_convergence("No exact search was possible, so better DAGs than those listed may exist.")
  structure(table, graphs = graphs, exact = found$exact, class = c("granary_dag_ranking", "data.frame"))
}

graph_of_parents <- function(parents, names) {
  from <- unlist(parents)
  to <- rep(seq_along(names), lengths(parents))
  new_graph(names, cbind(from, to, rep(1L, length(to)), rep(2L, length(to))), "dag")
}

#' @export
print.granary_dag_ranking <- function(x, ...) {
  tied <- sum(x$excess <= 1e-10 * max(abs(x$score[1L]), 1e-300))
  cli::cat_line("The ", counted(nrow(x), "best DAG", "best DAGs"), if (!isTRUE(attr(x, "exact"))) " found (NOT exact)",
                if (tied > 1L) paste0("; ", tied, " of them are tied for the first place"))
  shown <- utils::head(as.data.frame(unclass(x), stringsAsFactors = FALSE), 20L)
  cut <- function(text) ifelse(nchar(text) > 40L, paste0(substr(text, 1L, 37L), "..."), text)
  shown$lost <- cut(shown$lost)
  shown$gained <- cut(shown$gained)
  print(shown, digits = 5L, row.names = FALSE)
  if (nrow(x) > 20L) cli::cat_line("... and ", nrow(x) - 20L, " more rows")
  invisible(x)
}
