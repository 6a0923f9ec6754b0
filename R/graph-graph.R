# One class for undirected graphs, DAGs, CPDAGs, ancestral graphs and PAGs: nodes, and edges with a mark at each end.
# `edges` is an integer matrix with the columns from < to and the marks there (1 tail, 2 arrow, 3 circle), as src/r_graph_convert.h reads it.

mark_names <- c("tail", "arrow", "circle")
graph_types <- c("undirected", "dag", "cpdag", "pdag", "mag", "pag", "mixed")
graph_titles <- c(undirected = "Undirected graph", dag = "Directed acyclic graph (DAG)", cpdag = "Markov equivalence class of DAGs (CPDAG)",
                  pdag = "Partially directed graph", mag = "Ancestral graph (MAG)", pag = "Partial ancestral graph (PAG)", mixed = "Mixed graph")

new_graph <- function(nodes, edges, type = NULL) {
  edges <- matrix(as.integer(edges), ncol = 4L, dimnames = list(NULL, c("from", "to", "at_from", "at_to")))
  turned <- edges[, 1L] > edges[, 2L]
  edges[turned, ] <- edges[turned, c(2L, 1L, 4L, 3L)]
  edges <- edges[order(edges[, 1L], edges[, 2L]), , drop = FALSE]
  graph <- seal(structure(list(nodes = nodes, edges = edges, type = "mixed"), class = "granary_graph"))
  graph$type <- if (is.null(type)) infer_type(graph) else type
  graph
}

infer_type <- function(graph) {
  marks <- graph$edges[, 3:4, drop = FALSE]
  tails <- rowSums(marks == 1L)
  if (any(marks == 3L)) return("pag")
  if (all(tails == 2L)) return("undirected")
  if (all(tails == 1L) && length(core_graph_cycle(graph_parts(graph))) == 0L) return("dag")
  if (all(tails >= 1L)) "pdag" else "mixed"
}

#' Graphs with marked edges
#'
#' One class for undirected graphs, DAGs, CPDAGs, ancestral graphs (MAGs) and partial ancestral graphs (PAGs). Every edge has a mark at
#' each end: a
#' tail,
#' an arrow or a circle (not known), so that `a --> b`, `a --- b`, `a <-> b` and `a o-> b` are four kinds of edges.
#'
#' @details
#' `as_graph()` reads
#' * text: `"a -> b <- c; c o-> d"`. The marks are `<`, `>`, `-` and `o`; edges may be chained, and `;`, `,` or a new line starts afresh. A lone
#'   name adds a
#'   node;
#' * a square adjacency matrix of zeros and ones (or logical): entry (i, j) means \eqn{i \to j}{i -> j}, and both (i, j) and (j, i) an undirected
#'   edge;
#' * a matrix of marks, as `as.matrix()` gives it: entry (i, j) is the mark at j of the edge between i and j: 0 none, 1 tail, 2 arrow, 3 circle;
#' * a data frame with the columns `from`, `to` and, optionally, `edge` (`"-->"`, `"<->"`, `"o->"`, ...); without it the edges are directed;
#' * a model string of the package bnlearn, `"[a][b|a][c|a:b]"`: every node in brackets, followed by its parents;
#' * an `igraph` graph (mutual edges are undirected), a network of bnlearn (class `bn` or `bn.fit`), or a fit of [pc()], [fci()], [rfci()],
#'   [causal_dag()], [best_dag()] or [cg_fit()].
#'
#' Printing lists the edges; `summary()` also the degrees; `as.matrix()` gives the matrix of marks, `as.data.frame()` and `tidy()` a table of
#' edges, and
#' [as_graph()] an igraph graph.
#'
#' @section Which method when:
#' `as_graph()` to bring a graph of your own, or of another package, into the form that [assess()], [ida()] and the plots take; [graph_convert()] goes
#' between kinds of graphs. Fits of [pc()] and [causal_dag()] hold such a graph already.
#'
#' @param x What to read; see Details. For the methods, a graph.
#' @param nodes Names of the nodes, in order. Needed for nodes without edges, where `x` does not say it.
#' @param type What the graph is meant to be: `"undirected"`, `"dag"`, `"cpdag"`, `"pdag"`, `"mag"`, `"pag"` or `"mixed"`. By default the
#'   narrowest of them that fits its marks.
#' @param object A graph.
#' @param row.names,optional As in [base::as.data.frame()]; not used.
#' @param ... Not used.
#' @return A `granary_graph`: a list with `nodes` (names), `edges` (an integer matrix with the columns `from`, `to`, `at_from`, `at_to`)
#'   and `type`.
#' @seealso [pc()], [fci()], [ci_test()], [pc_knowledge()], [graph_convert()], [ggm_lasso()]
#' @export
#' @examples
#' g <- as_graph("smoking -> tar -> cancer <- genes; genes -> smoking")
#' g
#' as.matrix(g)
#' summary(g)
#' as.data.frame(as_graph("a o-> b <-> c"))
#' as_graph(rbind(c(0, 1), c(0, 0)), nodes = c("rain", "wet"))
#' as_graph("[rain][sprinkler|rain][wet|rain:sprinkler]")
as_graph <- function(x, nodes = NULL, type = NULL, ...) {
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (!is.null(nodes)) {
    if (!is.character(nodes) || is.object(nodes)) fail_input("nodes", "a character vector of names (or NULL)", describe(nodes))
    check_names_unique(nodes, "nodes")
  }
  if (!is.null(type)) type <- check_choice(type, graph_types)
  graph <- read_graph(x, nodes)
  if (!is.null(type)) graph <- set_graph_type(graph, type)
  graph
}

# Fits and simulations that hold their graph.
graph_carriers <- c("granary_constraint", "granary_sim_dag", "granary_causal_dag", "granary_best_dag", "granary_cg_network")

read_graph <- function(x, nodes, arg = "x") {
  if (inherits(x, "granary_graph")) return(rename_nodes(check_fit(x), nodes, arg))
  if (inherits(x, graph_carriers)) return(rename_nodes(x$graph, nodes, arg))
  if (inherits(x, "igraph")) return(graph_from_igraph(x, nodes, arg))
  if (isS4(x) && methods::is(x, "pcAlgo")) x <- methods::slot(x, "graph")
  if (isS4(x) && methods::is(x, "fciAlgo")) return(graph_from_amat(methods::slot(x, "amat"), nodes, arg))
  if (isS4(x) && methods::is(x, "graphNEL")) return(graph_from_nel(x, nodes, arg))
  if (inherits(x, c("bn", "bn.fit"))) return(rename_nodes(graph_from_bn(x, arg), nodes, arg))
  if (is_model_string(x)) return(graph_from_model(x, nodes, arg))
  if (is.character(x) && !is.object(x) && is.null(dim(x)) && length(x) > 0L && !anyNA(x)) return(graph_from_text(x, nodes, arg))
  if (is.data.frame(x) && all(c("from", "to") %in% names(x))) return(graph_from_frame(x, nodes, arg))
  if (is.matrix(x) || inherits(x, "Matrix")) return(graph_from_matrix(x, nodes, arg))
  fail_input(arg, "a graph: text like \"a -> b\", an adjacency matrix, a data frame with columns from and to, an igraph or bnlearn graph, or a fit",
             describe(x))
}

# From the graph package: i -> j and j -> i together are an undirected edge, as pcalg has it.
graph_from_nel <- function(x, nodes, arg) {
  names <- methods::slot(x, "nodes")
  lists <- methods::slot(x, "edgeL")
  m <- matrix(0, length(names), length(names), dimnames = list(names, names))
  for (i in names(lists)) m[i, lists[[i]]$edges] <- 1
  graph_from_matrix(m, nodes, arg)
}

# pcalg's matrix of a PAG: entry (i, j) is the mark at j, 1 circle, 2 arrow, 3 tail.
graph_from_amat <- function(m, nodes, arg) {
  m <- as.matrix(m)
  at <- which(m != 0 & upper.tri(m), arr.ind = TRUE)
  mark <- c(3L, 2L, 1L)
  names <- variable_names(colnames(m), ncol(m))
  edges <- cbind(at[, 1L], at[, 2L], mark[m[at[, 2:1, drop = FALSE]]], mark[m[at]])
  rename_nodes(new_graph(names, matrix(as.integer(edges), ncol = 4L), "pag"), nodes, arg)
}

rename_nodes <- function(graph, nodes, arg) {
  if (is.null(nodes)) return(graph)
  if (length(nodes) != length(graph$nodes)) {
    abort_input(sprintf("`nodes` must name the %d nodes of `%s`, but it has %d names.", length(graph$nodes), arg, length(nodes)), "nodes")
  }
  graph$nodes <- nodes
  graph
}

check_graph <- function(x, arg = deparse1(substitute(x))) {
  if (missing(x)) fail_missing(arg)
  force(arg)
  read_graph(x, NULL, arg)
}

set_graph_type <- function(graph, type) {
  marks <- graph$edges[, 3:4, drop = FALSE]
  tails <- rowSums(marks == 1L)
  circles <- any(marks == 3L)
  cycle <- core_graph_cycle(graph_parts(graph))
  name <- function(k) graph$nodes[k]
  reason <- switch(type,
    undirected = if (any(tails != 2L)) "some of its edges have an arrow or a circle",
    dag = if (any(tails != 1L) || circles) "some of its edges are not directed",
    cpdag = , pdag = if (any(tails == 0L) || circles) "it has edges that are neither directed nor undirected",
    mag = if (circles) "it has circles",
    NULL
  )
  if (is.null(reason) && type %in% c("dag", "cpdag", "pdag", "mag") && length(cycle) > 0L) {
    reason <- paste("it has the cycle", paste(name(c(cycle, cycle[1L])), collapse = " -> "))
  }
  if (!is.null(reason)) abort_input(sprintf("The graph cannot be of type \"%s\": %s.", type, reason), "type")
  graph$type <- type
  graph
}

graph_from_text <- function(x, nodes, arg) {
  parsed <- parse_edges(x, arg)
  build_graph(parsed$from, parsed$to, parsed$edge, nodes, parsed$seen, arg)
}

parse_edges <- function(x, arg) {
  pieces <- trimws(unlist(strsplit(x, "[;,\n]")))
  pieces <- pieces[nzchar(pieces)]
  glyph <- "\\s+([<o-]?-+[>o-]?)\\s+|\\s*(<-+>|o-+>|<-+o|<-+|-+>)\\s*"
  from <- to <- marks <- character()
  seen <- character()
  for (piece in pieces) {
    at <- gregexpr(glyph, piece, perl = TRUE)
    names <- trimws(regmatches(piece, at, invert = TRUE)[[1L]])
    edges <- trimws(regmatches(piece, at)[[1L]])
    if (any(!nzchar(names)) || any(grepl("[<>]", names))) {
      abort_input(sprintf("`%s` must be text like \"a -> b <- c\", but \"%s\" cannot be read.", arg, substr(readable(piece), 1L, 40L)), arg)
    }
    seen <- c(seen, names)
    from <- c(from, utils::head(names, -1L))
    to <- c(to, utils::tail(names, -1L))
    marks <- c(marks, edges)
  }
  list(from = from, to = to, edge = marks, seen = seen)
}

# The marks that an edge like "o->" has at its ends.
read_marks <- function(edge, arg) {
  left <- c("<" = 2L, "o" = 3L, "-" = 1L)[substr(edge, 1L, 1L)]
  right <- c(">" = 2L, "o" = 3L, "-" = 1L)[substring(edge, nchar(edge))]
  bad <- which(is.na(left) | is.na(right) | !grepl("^[<o-]-*[>o-]?$", edge))
  if (length(bad) > 0L) abort_input(sprintf("`%s` has an edge \"%s\"; edges are written like -->, <->, o->, o-o or ---.", arg, edge[bad[1L]]), arg)
  cbind(unname(left), unname(right))
}

build_graph <- function(from, to, edge, nodes, seen, arg) {
  seen <- unique(seen)
  if (is.null(nodes)) nodes <- seen
  unknown <- setdiff(seen, nodes)
  if (length(unknown) > 0L) abort_input(sprintf("`nodes` must hold every node of `%s`, but \"%s\" is missing.", arg, unknown[1L]), "nodes")
  pairs <- cbind(match(from, nodes), match(to, nodes))
  loop <- which(from == to)
  if (length(loop) > 0L) abort_input(sprintf("`%s` has an edge from \"%s\" to itself.", arg, from[loop[1L]]), arg)
  twice <- which(duplicated(cbind(pmin(pairs[, 1L], pairs[, 2L]), pmax(pairs[, 1L], pairs[, 2L]))))
  if (length(twice) > 0L) {
    abort_input(sprintf("`%s` has more than one edge between \"%s\" and \"%s\".", arg, from[twice[1L]], to[twice[1L]]), arg)
  }
  new_graph(nodes, cbind(pairs, read_marks(edge, arg)))
}

is_model_string <- function(x) is.character(x) && !is.object(x) && length(x) == 1L && !is.na(x) && grepl("^\\s*\\[", x)

# "[A][B|A][Y|A:B]", as bnlearn writes a DAG.
graph_from_model <- function(text, order, arg) {
  inner <- gsub("\\s", "", text)
  if (!grepl("^(\\[[^][|]+(\\|[^][|]+)?\\])+$", inner)) {
    abort_input(sprintf("`%s` must be text like \"[A][B|A][Y|A:B]\" where it begins with a bracket.", arg), arg)
  }
  pieces <- strsplit(substr(inner, 2L, nchar(inner) - 1L), "][", fixed = TRUE)[[1L]]
  halves <- strsplit(pieces, "|", fixed = TRUE)
  nodes <- vapply(halves, `[`, "", 1L)
  check_names_unique(nodes, arg)
  parents <- lapply(halves, function(h) if (length(h) > 1L) strsplit(h[2L], ":", fixed = TRUE)[[1L]] else character())
  unknown <- setdiff(unlist(parents), nodes)
  if (length(unknown) > 0L) abort_input(sprintf("`%s` names the parent \"%s\", which has no bracket of its own.", arg, unknown[1L]), arg)
  from <- as.character(unlist(parents))
  graph <- build_graph(from, rep(nodes, lengths(parents)), rep("-->", length(from)), if (is.null(order)) nodes else order, nodes, arg)
  if (length(from) == 0L) graph$type <- "dag"
  graph
}

# Both classes are lists: `bn` has a two-column matrix of arcs, an undirected edge listed both ways; `bn.fit` the parents of each node.
graph_from_bn <- function(x, arg) {
  fitted <- inherits(x, "bn.fit")
  nodes <- names(if (fitted) unclass(x) else x$nodes)
  arcs <- if (fitted) {
    parents <- lapply(unclass(x), function(node) node$parents)
    cbind(as.character(unlist(parents)), rep(nodes, lengths(parents)))
  } else {
    x$arcs
  }
  if (is.null(nodes) || !is.character(arcs) || ncol(arcs) != 2L || !all(arcs %in% nodes)) {
    abort_input(sprintf("`%s` has the class of a bnlearn network, but not its parts.", arg), arg)
  }
  m <- matrix(0, length(nodes), length(nodes))
  m[cbind(match(arcs[, 1L], nodes), match(arcs[, 2L], nodes))] <- 1
  graph <- graph_from_matrix(m, nodes, arg)
  if (nrow(arcs) == 0L) graph$type <- "dag"
  graph
}

graph_from_frame <- function(x, nodes, arg) {
  from <- as.character(x$from)
  to <- as.character(x$to)
  if (anyNA(from) || anyNA(to) || any(!nzchar(c(from, to)))) abort_input(sprintf("`%s` has edges without a node at one end.", arg), arg)
  edge <- if (is.null(x$edge)) rep("-->", nrow(x)) else as.character(x$edge)
  if (anyNA(edge)) abort_input(sprintf("The column `edge` of `%s` must not be missing.", arg), arg)
  build_graph(from, to, edge, nodes, c(rbind(from, to)), arg)
}

graph_from_matrix <- function(x, nodes, arg) {
  x <- check_matrix(x, arg)
  if (nrow(x) != ncol(x)) {
    abort_input(sprintf("`%s` must be a square matrix, one row and column per node, but it is %d x %d.", arg, nrow(x), ncol(x)), arg)
  }
  names <- symmetric_labels(x, arg)
  if (is.null(nodes)) nodes <- variable_names(names, ncol(x))
  check_names_unique(nodes, arg)
  if (length(nodes) != ncol(x)) abort_input(sprintf("`nodes` must have %d names, one per row of `%s`, not %d.", ncol(x), arg, length(nodes)), "nodes")
  if (any(!x %in% 0:3)) {
    abort_input(sprintf("`%s` must be an adjacency matrix of 0 and 1, or a matrix of marks 0 to 3, but it holds %s.\nFor weights pass `%s != 0`.",
                        arg,
                        format(x[!x %in% 0:3][1L], digits = 4L), arg), arg)
  }
  if (any(diag(x) != 0)) abort_input(sprintf("`%s` must have a zero diagonal: no node has an edge to itself.", arg), arg)
  at <- which(upper.tri(x) & (x != 0 | t(x) != 0), arr.ind = TRUE)
  forward <- x[at]
  back <- t(x)[at]
  if (all(x %in% 0:1)) {
    marks <- cbind(ifelse(back == 1 & forward == 0, 2L, 1L), ifelse(forward == 1 & back == 0, 2L, 1L))
  } else {
    if (any(forward == 0 | back == 0)) {
      abort_input(sprintf("In a matrix of marks (i, j) and (j, i) must both be zero or neither; `%s` breaks this at \"%s\" and \"%s\".", arg,
                          nodes[at[which(forward == 0 | back == 0)[1L], 1L]], nodes[at[which(forward == 0 | back == 0)[1L], 2L]]), arg)
    }
    marks <- cbind(back, forward)
  }
  new_graph(nodes, cbind(at, marks))
}

graph_from_igraph <- function(x, nodes, arg) {
  check_installed("igraph", "to read an igraph graph")
  count <- igraph::vcount(x)
  if (is.null(nodes)) nodes <- if (is.null(igraph::V(x)$name)) variable_names(NULL, count) else as.character(igraph::V(x)$name)
  if (length(nodes) != count) abort_input(sprintf("`nodes` must have %d names, not %d.", count, length(nodes)), "nodes")
  check_names_unique(nodes, arg)
  ends <- igraph::as_edgelist(x, names = FALSE)
  if (!is.null(igraph::E(x)$edge)) return(build_graph(nodes[ends[, 1L]], nodes[ends[, 2L]], igraph::E(x)$edge, nodes, nodes, arg))
  m <- matrix(0, count, count)
  m[ends] <- 1
  if (!igraph::is_directed(x)) m <- pmax(m, t(m))
  graph_from_matrix(m, nodes, arg)
}

#' @rdname as_graph
#' @export
as.matrix.granary_graph <- function(x, ...) {
  p <- length(x$nodes)
  m <- matrix(0L, p, p, dimnames = list(x$nodes, x$nodes))
  m[x$edges[, 1:2, drop = FALSE]] <- x$edges[, 4L]
  m[x$edges[, 2:1, drop = FALSE]] <- x$edges[, 3L]
  m
}

# Edges as text, arrows pointing right where there is one arrow only.
edge_table <- function(graph) {
  e <- graph$edges
  turn <- e[, 3L] == 2L & e[, 4L] != 2L
  e[turn, ] <- e[turn, c(2L, 1L, 4L, 3L)]
  edge <- outer(c("-", "<", "o"), c("--", "->", "-o"), paste0)[e[, 3:4, drop = FALSE]]
  quick_frame(list(from = graph$nodes[e[, 1L]], edge = edge, to = graph$nodes[e[, 2L]]), nrow(e))
}

#' @rdname as_graph
#' @export
as.data.frame.granary_graph <- function(x, row.names = NULL, optional = FALSE, ...) edge_table(x)  # nolint: object_name_linter.

#' @rdname as_graph
#' @export
tidy.granary_graph <- function(x, ...) edge_table(x)

count_kinds <- function(graph) {
  kinds <- table(factor(edge_table(graph)$edge, c("-->", "---", "<->", "o->", "o-o", "--o", "o--")))
  kinds[["--o"]] <- kinds[["--o"]] + kinds[["o--"]]
  kinds[setdiff(names(kinds), "o--")]
}

describe_kinds <- function(graph) {
  kinds <- count_kinds(graph)
  words <- c("-->" = "directed", "---" = "undirected", "<->" = "bidirected", "o->" = "o->", "o-o" = "o-o", "--o" = "--o")
  kinds <- kinds[kinds > 0L]
  if (length(kinds) == 0L) return("")
  paste0(" (", paste(kinds, words[names(kinds)], collapse = ", "), ")")
}

print_edges <- function(graph, limit = 12L) {
  table <- edge_table(graph)
  lines <- paste(table$from, table$edge, table$to)
  shown <- utils::head(lines, limit)
  if (length(shown) > 0L) cli::cat_line("  ", shown)
  if (length(lines) > length(shown)) cli::cat_line("  ... and ", length(lines) - length(shown), " more; as.data.frame() lists them")
}

#' @export
print.granary_graph <- function(x, ...) {
  cli::cat_line(graph_titles[[x$type]], ": ", counted(length(x$nodes), "node", "nodes"), ", ", counted(nrow(x$edges), "edge", "edges"),
                describe_kinds(x))
  print_edges(x)
  invisible(x)
}

#' @rdname as_graph
#' @export
summary.granary_graph <- function(object, ...) {
  p <- length(object$nodes)
  degree <- tabulate(object$edges[, 1:2], p)
  seal(structure(list(graph = object, degree = stats::setNames(degree, object$nodes),
                 components = core_graph_components(graph_parts(object)), kinds = count_kinds(object)), class = "summary_granary_graph"))
}

#' @export
print.summary_granary_graph <- function(x, ...) {
  print(x$graph)
  cli::cat_line("Components: ", if (length(x$components) > 0L) max(x$components) else 0L)
  if (length(x$degree) > 0L) {
    cli::cat_line("Degrees: mean ", format(mean(x$degree), digits = 3L), ", largest ", max(x$degree), " (",
                  names(x$degree)[which.max(x$degree)], "), ", sum(x$degree == 0L), " nodes without edges")
  }
  invisible(x)
}

# What crosses of a graph.
graph_parts <- function(graph) list(nodes = length(graph$nodes), edges = graph$edges)
