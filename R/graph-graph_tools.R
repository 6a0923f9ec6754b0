#' Change and question a graph
#'
#' @details
#' `graph_convert()`:
#' * `"cpdag"`: the Markov equivalence class of a DAG. A directed edge is shared by all its members, an undirected one is not.
#' * `"dag"`: a DAG with the skeleton, the directed edges and the v-structures of a partially directed graph (Dor and Tarsi 1992). If there is
#'   none a warning says so and the result is `NULL`.
#' * `"pag"`: the partial ancestral graph of a DAG of which only some nodes are observed: what no amount of data on them can improve on.
#' * `"mag"`: the maximal ancestral graph of the observed nodes of a DAG. It has the independences of the DAG among them, so [fci()] given it is FCI
#'   with an oracle.
#' * `"tree"`: a tree decomposition. Bags of nodes form a tree such that every edge lies in a bag and the bags of a node are connected; the largest
#'   bag less one is the width. Many problems are easy on graphs of small width, the search of [causal_dag()] among them. Marks are ignored.
#' * `"moral"`: parents of a common child are joined and directions dropped; `"skeleton"` only drops the marks.
#'
#' `graph_nodes(graph, "separated")`: are `of` and `from` d-separated (in graphs with `<->` or undirected edges m-separated) given `given`? Then they are
#' independent given `given` in every distribution that the graph describes.
#'
#' `graph_nodes()`: `"order"`, the nodes such that parents come before children; `"ancestors"` and `"descendants"` follow the directed edges and
#' include the nodes asked for.
#'
#' @section Which method when: [as_graph()] reads graphs, [assess()] compares two of them, [pc()] and its relatives estimate them from data.
#' @param graph A graph, or what [as_graph()] can read.
#' @param to The kind of graph wanted.
#' @param what The nodes wanted, or `"separated"` for whether those of `of` and `from` are separated given `given`.
#' @param from,given Nodes, by name or number, for `"separated"`; `given` may be empty.
#' @param latent Nodes that are not observed (for `"mag"` and `"pag"`).
#' @param selection Nodes that are always conditioned on: the data were selected by them (for `"mag"` and `"pag"`).
#' @param rule For `"tree"`, which node to eliminate next: `"min_fill"` (fewest new edges) or `"min_degree"`.
#' @param of Nodes, by name or number.
#' @param ... Nothing: an argument that is not known is an error.
#' @return `graph_convert()` a `granary_graph`, for `"tree"` a list of class `granary_tree_decomposition` with `bags` (names of nodes), `tree` (pairs of
#'   bags), `width` (an upper bound of the treewidth), `lower` (a lower bound: the largest smallest degree met when nodes of smallest degree are taken
#'   out), `order` (of elimination) and `nice`, the binary tree of bags that differ by one node; `graph_nodes()` names of nodes, or `TRUE` or `FALSE` for `"separated"`.
#' @references
#' Chickering (1995). A transformational characterization of equivalent Bayesian network structures. *UAI*.
#'
#' Dor and Tarsi (1992). A simple algorithm to construct a consistent extension of a partially oriented graph. Technical report R-185, UCLA.
#'
#' Zhang (2008). On the completeness of orientation rules for causal discovery in the presence of latent confounders and selection bias.
#' *Artificial Intelligence* 172, 1873--1896.
#'
#' Richardson and Spirtes (2002). Ancestral graph Markov models. *Annals of Statistics* 30, 962--1030.
#' @seealso [pc()], [fci()], [ci_test()], [pc_knowledge()], [as_graph()], [ggm_lasso()]
#' @export
#' @examples
#' g <- as_graph("a -> b -> d <- c <- a; d -> e")
#' graph_convert(g, "cpdag")
#' graph_convert(graph_convert(g, "cpdag"), "dag")
#' graph_convert(g, "pag", latent = "a")
#' graph_convert(g, "mag", latent = "a")
#' graph_convert(g, "moral")
#' graph_convert("a -- b -- c -- d -- a; c -- e", "tree")
#' graph_nodes(g, "separated", of = "b", from = "c", given = "a")
#' graph_nodes(g, "separated", of = "b", from = "c", given = c("a", "e"))
#' graph_nodes(g)
#' graph_nodes(g, "ancestors", of = "d")
graph_convert <- function(graph, to = c("cpdag", "dag", "mag", "moral", "pag", "skeleton", "tree"), latent = NULL, selection = NULL,
                          rule = c("min_fill", "min_degree"), ...) {
  refuse_dots(...)
  to <- check_choice(to, c("cpdag", "dag", "mag", "moral", "pag", "skeleton", "tree"))
  rule <- check_choice(rule, c("min_fill", "min_degree"))
  if (!to %in% c("mag", "pag") && !(is.null(latent) && is.null(selection))) {
    abort_input("`latent` and `selection` go with to = \"mag\" and \"pag\".", "latent")
  }
  switch(to,
    cpdag = graph_cpdag(graph),
    dag = graph_dag(graph),
    mag = graph_mag(graph, latent = latent, selection = selection),
    moral = graph_moral(graph),
    pag = graph_pag(graph, latent = latent, selection = selection),
    skeleton = graph_skeleton(graph),
    tree = tree_decomposition(graph, rule)
  )
}

#' @rdname graph_convert
#' @export
graph_nodes <- function(graph, what = c("order", "ancestors", "descendants", "separated"), of = NULL, from = NULL, given = NULL, ...) {
  refuse_dots(...)
  what <- check_choice(what, c("order", "ancestors", "descendants", "separated"))
  if (what != "separated" && !(is.null(from) && is.null(given))) abort_input("`from` and `given` go with what = \"separated\".", if (is.null(from)) "given" else "from")
  if (what == "order") {
    if (!is.null(of)) abort_input("`of` is for the other words of `what`: an order is that of all nodes.", "of")
    return(graph_order(graph))
  }
  if (is.null(of)) fail_missing("of")
  if (what == "separated" && is.null(from)) fail_missing("from")
  switch(what, ancestors = graph_ancestors(graph, of), descendants = graph_descendants(graph, of), separated = graph_separated(graph, of, from, given))
}

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
  cycle <- core_graph_cycle(graph_parts(graph))
  if (length(cycle) > 0L) {
    abort_input(sprintf("`%s` must be acyclic, but it has the cycle %s.", arg, paste(graph$nodes[c(cycle, cycle[1L])], collapse = " -> ")), arg)
  }
  graph
}

graph_cpdag <- function(graph) {
  graph <- needs_dag(check_graph(graph))
  new_graph(graph$nodes, core_graph_cpdag(graph_parts(graph)), "cpdag")
}

graph_dag <- function(graph) {
  graph <- check_graph(graph)
  tails <- rowSums(graph$edges[, 3:4, drop = FALSE] == 1L)
  if (any(tails == 0L) || any(graph$edges[, 3:4] == 3L)) {
    bad <- edge_table(graph)[which(tails == 0L | rowSums(graph$edges[, 3:4, drop = FALSE] == 3L) > 0L)[1L], ]
    abort_input(sprintf("`graph` must have directed and undirected edges only, but it has %s %s %s.", bad$from, bad$edge, bad$to), "graph")
  }
  edges <- core_graph_extension(graph_parts(graph))
  if (is.null(edges)) {
    warn_input("The graph has no DAG with its skeleton, directed edges and v-structures: it contradicts itself.", "graph")
    return(NULL)
  }
  new_graph(graph$nodes, edges, "dag")
}

graph_pag <- function(graph, latent = NULL, selection = NULL) {
  graph <- needs_dag(check_graph(graph))
  latent <- check_nodes(latent, graph, "latent", allow_empty = TRUE)
  selection <- check_nodes(selection, graph, "selection", allow_empty = TRUE)
  spec <- oracle_spec(graph, latent, selection)
  result <- run_search("fci", spec, no_background(), constraint_settings(selection = length(selection) > 0L), 1L, NULL)
  new_graph(graph$nodes[spec$observed], result$edges, "pag")
}

# Two nodes are adjacent unless their observed ancestors, with those of the selection, separate them; an end that is an ancestor of the other end or of the
# selection is a tail (Richardson and Spirtes 2002, theorem 4.2).
graph_mag <- function(graph, latent = NULL, selection = NULL) {
  graph <- needs_dag(check_graph(graph))
  latent <- check_nodes(latent, graph, "latent", allow_empty = TRUE)
  selection <- check_nodes(selection, graph, "selection", allow_empty = TRUE)
  observed <- oracle_spec(graph, latent, selection)$observed
  parts <- graph_parts(graph)
  above <- lapply(observed, function(v) core_graph_ancestors(parts, v))
  kept <- if (length(selection) > 0L) core_graph_ancestors(parts, selection) else integer()
  edges <- matrix(0L, 0L, 4L)
  for (b in seq_along(observed)[-1L]) {
    for (a in seq_len(b - 1L)) {
      i <- observed[a]
      j <- observed[b]
      given <- setdiff(union(selection, intersect(c(above[[a]], above[[b]], kept), observed)), c(i, j))
      if (core_graph_separated(parts, i, j, as.integer(given))) next
      tail <- c(i %in% c(above[[b]], kept), j %in% c(above[[a]], kept))
      edges <- rbind(edges, c(a, b, ifelse(tail, 1L, 2L)))
    }
  }
  new_graph(graph$nodes[observed], edges, "mag")
}

graph_moral <- function(graph) {
  graph <- needs_dag(check_graph(graph))
  new_graph(graph$nodes, core_graph_moral(graph_parts(graph)), "undirected")
}

graph_skeleton <- function(graph) {
  graph <- check_graph(graph)
  graph$edges[, 3:4] <- 1L
  graph$type <- "undirected"
  graph
}

graph_separated <- function(graph, x, y, given = NULL) {
  graph <- check_graph(graph)
  x <- check_nodes(x, graph, "of")
  y <- check_nodes(y, graph, "from")
  given <- check_nodes(given, graph, "given", allow_empty = TRUE)
  if (any(x %in% y)) abort_input(sprintf("`of` and `from` must have no node in common, but both have \"%s\".", graph$nodes[x[x %in% y][1L]]), "from")
  if (any(c(x, y) %in% given)) {
    abort_input(sprintf("`given` must not hold nodes of `of` or `from`, but \"%s\" is.", graph$nodes[intersect(c(x, y), given)[1L]]), "given")
  }
  core_graph_separated(graph_parts(graph), x, y, given)
}

graph_order <- function(graph) {
  graph <- needs_dag(check_graph(graph))
  graph$nodes[core_graph_order(graph_parts(graph))]
}

graph_ancestors <- function(graph, of) {
  graph <- check_graph(graph)
  graph$nodes[core_graph_ancestors(graph_parts(graph), check_nodes(of, graph, "of"))]
}

graph_descendants <- function(graph, of) {
  graph <- check_graph(graph)
  graph$nodes[core_graph_descendants(graph_parts(graph), check_nodes(of, graph, "of"))]
}
