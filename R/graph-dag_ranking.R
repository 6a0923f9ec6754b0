dag_ranking <- function(fit, k = 10) {
  if (missing(fit)) fail_missing("fit")
  k <- check_count(k, upper = 10000)
  bar <- progress_bar("ranking DAGs")
  if (inherits(fit, "granary_best_dag")) {
    found <- core_rank_scores(fit$table[c("sets", "scores")], c(fit$settings, list(k = k)), core_seed(), bar)
  } else {
    if (!inherits(fit, "granary_causal_dag")) fail_input("fit", "a fit of causal_dag() or best_dag()", describe(fit))
    check_fit(fit)
    fit <- check_causal_dag(fit)
    found <- core_rank_dags(fit$S, space_parts(fit$space), c(fitted_dag_options(fit), list(k = k)), core_seed(), bar)
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

# How far the others are behind the best: score by rank.
#' @export
plot.granary_dag_ranking <- function(x, ...) {
  draw(graphics::plot, x$rank, x$score, pch = 19, col = sign_colours[["positive"]], xlab = "rank", ylab = "score (smaller is better)", las = 1,
       user = list(...))
  graphics::abline(h = x$score[1L], lty = 3)
  invisible(x)
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
