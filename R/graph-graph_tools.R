#' Change and question a graph
#'
#' @details
#' * `graph_cpdag()`: the Markov equivalence class of a DAG. A directed edge is shared by all its members, an undirected one is not.
#' * `graph_dag()`: a DAG with the skeleton, the directed edges and the v-structures of a partially directed graph (Dor and Tarsi 1992). If there
#'   is none a warning
#'   says so and the result is `NULL`.
#' * `graph_pag()`: the partial ancestral graph of a DAG of which only some nodes are observed: what no amount of data on them can improve on.
#' * `graph_moral()`: parents of a common child are joined and directions dropped; `graph_skeleton()` only drops the marks.
#' * `graph_separated()`: are `x` and `y` d-separated (in graphs with `<->` or undirected edges m-separated) given `given`? Then they are
#'   independent given `given` in
#'   every distribution that the graph describes.
#' * `graph_order()`: the nodes such that parents come before children; `graph_ancestors()` and `graph_descendants()` follow the directed edges and
#'   include the
#'   nodes asked for.
#'
#' @param graph A graph, or what [as_graph()] can read.
#' @param x,y,given Nodes, by name or number; `given` may be empty.
#' @param latent Nodes that are not observed.
#' @param selection Nodes that are always conditioned on: the data were selected by them.
#' @param of Nodes, by name or number.
#' @return A `granary_graph`, except for `graph_separated()` (`TRUE` or `FALSE`) and the last three (names of nodes).
#' @references
#' Chickering (1995). A transformational characterization of equivalent Bayesian network structures. *UAI*.
#'
#' Dor and Tarsi (1992). A simple algorithm to construct a consistent extension of a partially oriented graph. Technical report R-185, UCLA.
#'
#' Zhang (2008). On the completeness of orientation rules for causal discovery in the presence of latent confounders and selection bias.
#' *Artificial Intelligence* 172, 1873--1896.
#' @family graphs
#' @name graph_tools
#' @examples
#' g <- as_graph("a -> b -> d <- c <- a; d -> e")
#' graph_cpdag(g)
#' graph_dag(graph_cpdag(g))
#' graph_pag(g, latent = "a")
#' graph_moral(g)
#' graph_skeleton(g)
#' graph_separated(g, "b", "c", given = "a")
#' graph_separated(g, "b", "c", given = c("a", "e"))
#' graph_order(g)
#' graph_ancestors(g, "d")
#' graph_descendants(g, "b")
NULL

check_nodes <- function(x, graph, arg, allow_empty = FALSE) {
  if (is.null(x) && allow_empty) return(integer())
  ok <- is.null(dim(x)) && !is.object(x) && (is.character(x) || is.numeric(x)) && !anyNA(x)
  if (ok && allow_empty && length(x) == 0L) return(integer())
  if (!ok || length(x) == 0L) fail_input(arg, "names or numbers of nodes", describe(x))
  at <- if (is.character(x)) match(x, graph$nodes) else ifelse(x %in% seq_along(graph$nodes), x, NA)
  if (anyNA(at)) abort_input(sprintf("`%s` must hold nodes of the graph, but there is no node %s.", arg, describe_node(x[is.na(at)][1L])), arg)
  if (anyDuplicated(at)) abort_input(sprintf("`%s` must name each node once, but %s comes twice.", arg, describe_node(x[duplicated(at)][1L])), arg)
  as.integer(at)
}

describe_node <- function(x) if (is.character(x)) paste0("\"", x, "\"") else format(x)

needs_dag <- function(graph, arg = "graph") {
  if (any(rowSums(graph$edges[, 3:4, drop = FALSE] == 1L) != 1L) || any(graph$edges[, 3:4] == 3L)) {
    abort_input(sprintf("`%s` must be a directed acyclic graph, but it has edges that are not directed.", arg), arg)
  }
  cycle <- core_graph_cycle(length(graph$nodes), graph$edges)
  if (length(cycle) > 0L) {
    abort_input(sprintf("`%s` must be acyclic, but it has the cycle %s.", arg, paste(graph$nodes[c(cycle, cycle[1L])], collapse = " -> ")), arg)
  }
  graph
}

#' @rdname graph_tools
#' @export
graph_cpdag <- function(graph) {
  graph <- needs_dag(check_graph(graph))
  new_graph(graph$nodes, core_call(core_graph_cpdag(length(graph$nodes), graph$edges)), "cpdag")
}

#' @rdname graph_tools
#' @export
graph_dag <- function(graph) {
  graph <- check_graph(graph)
  tails <- rowSums(graph$edges[, 3:4, drop = FALSE] == 1L)
  if (any(tails == 0L) || any(graph$edges[, 3:4] == 3L)) {
    bad <- edge_table(graph)[which(tails == 0L | rowSums(graph$edges[, 3:4, drop = FALSE] == 3L) > 0L)[1L], ]
    abort_input(sprintf("`graph` must have directed and undirected edges only, but it has %s %s %s.", bad$from, bad$edge, bad$to), "graph")
  }
  edges <- core_call(core_graph_extension(length(graph$nodes), graph$edges))
  if (is.null(edges)) {
    warn_input("The graph has no DAG with its skeleton, directed edges and v-structures: it contradicts itself.", "graph")
    return(NULL)
  }
  new_graph(graph$nodes, edges, "dag")
}

#' @rdname graph_tools
#' @export
graph_pag <- function(graph, latent = NULL, selection = NULL) {
  graph <- needs_dag(check_graph(graph))
  latent <- check_nodes(latent, graph, "latent", allow_empty = TRUE)
  selection <- check_nodes(selection, graph, "selection", allow_empty = TRUE)
  spec <- oracle_spec(graph, latent, selection)
  result <- core_call(core_constraint_search("fci", spec, no_background(), constraint_settings(selection = length(selection) > 0L), 1L, NULL))
  new_graph(graph$nodes[spec$observed], result$edges, "pag")
}

#' @rdname graph_tools
#' @export
graph_moral <- function(graph) {
  graph <- needs_dag(check_graph(graph))
  new_graph(graph$nodes, core_call(core_graph_moral(length(graph$nodes), graph$edges)), "undirected")
}

#' @rdname graph_tools
#' @export
graph_skeleton <- function(graph) {
  graph <- check_graph(graph)
  graph$edges[, 3:4] <- 1L
  graph$type <- "undirected"
  graph
}

#' @rdname graph_tools
#' @export
graph_separated <- function(graph, x, y, given = NULL) {
  graph <- check_graph(graph)
  x <- check_nodes(x, graph, "x")
  y <- check_nodes(y, graph, "y")
  given <- check_nodes(given, graph, "given", allow_empty = TRUE)
  if (any(x %in% y)) abort_input(sprintf("`x` and `y` must have no node in common, but both have \"%s\".", graph$nodes[x[x %in% y][1L]]), "y")
  if (any(c(x, y) %in% given)) {
    abort_input(sprintf("`given` must not hold nodes of `x` or `y`, but \"%s\" is.", graph$nodes[intersect(c(x, y), given)[1L]]), "given")
  }
  core_call(core_graph_separated(length(graph$nodes), graph$edges, x, y, given))
}

#' @rdname graph_tools
#' @export
graph_order <- function(graph) {
  graph <- needs_dag(check_graph(graph))
  graph$nodes[core_call(core_graph_order(length(graph$nodes), graph$edges))]
}

#' @rdname graph_tools
#' @export
graph_ancestors <- function(graph, of) {
  graph <- check_graph(graph)
  graph$nodes[core_call(core_graph_ancestors(length(graph$nodes), graph$edges, check_nodes(of, graph, "of"), TRUE))]
}

#' @rdname graph_tools
#' @export
graph_descendants <- function(graph, of) {
  graph <- check_graph(graph)
  graph$nodes[core_call(core_graph_ancestors(length(graph$nodes), graph$edges, check_nodes(of, graph, "of"), FALSE))]
}
