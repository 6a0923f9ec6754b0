#' The lightest cut between several terminals
#'
#' Divides the nodes of a weighted graph into parts, one around each of `k` given terminals, so that the edges between
#' parts weigh least: segments of an image from a few marked pixels, groups of a network from a few known members. With
#' a proof of optimality where there is one.
#'
#' @details
#' Hard for three and more terminals. The relaxation gives every node a position \eqn{x_v} in the simplex, terminals at
#' its corners, and minimises
#' \deqn{\frac12 \sum_{uv} w_{uv} \|x_u - x_v\|_1.}{1/2 sum_uv w_uv |x_u - x_v|_1.}
#' Its value is a lower bound of every cut. If the instance is stable, the best cut staying the best when weights grow
#' by factors up to 4, the solution is a cut and is the optimum; a fractional solution proves that the instance is not
#' that stable. Fractional positions are rounded by random thresholds (an edge of length \eqn{d} is cut with probability
#' at most \eqn{2d/(1+d)}{2d/(1+d)}; the best of `n_rep` rounds) and improved by moves of single nodes. The result is
#' called optimal only if its weight equals the lower bound.
#'
#' Two terminals are solved by maximum flow. `"isolating"` takes the cheapest cut around each terminal but the dearest,
#' at most \eqn{2 - 2/k}{2 - 2/k} times the optimum; `"exact"` searches by branch and bound, for some twenty to thirty
#' free nodes.
#'
#' @section Which method when:
#' When a member of every group is known. [max_cut()] when edges should run between the groups rather than within;
#' [resilient_cluster()] for points and distances without known members.
#'
#' @param graph A weighted graph: a symmetric matrix (also sparse) of weights that are not negative, or an igraph graph
#'   (attribute `weight`, otherwise ones).
#' @param terminals Names or numbers of the terminals, at least two.
#' @param method `"relaxation"`, `"isolating"` or `"exact"`.
#' @param n_rep Rounds of random rounding.
#' @param tol Relative gap at which the relaxation is solved.
#' @param max_iter Largest number of iterations for the relaxation of large graphs.
#' @param max_nodes Largest number of nodes of the search tree (`"exact"`).
#' @param x,object A cut.
#' @param layout For `plot()`: positions of the nodes, one row each, or `NULL`.
#' @param ... Passed on to [graphics::plot()], or not used.
#' @return An object of class `granary_cut` with `partition` (numbers of the parts, with the names of the nodes),
#'   `objective` (weight of the cut), `lower_bound`, `gap` (relative), `optimal`, `integral` (whether the relaxation was
#'   a cut), `position` (nodes by parts), `edges` (a data frame of the edges with `cut`) and `method`.
#' @inherit resilient_cluster references
#' @seealso [max_cut()], [cut_stability()], [resilient_cluster()].
#' @export
#' @examples
#' # three known members; the middle triangle is torn between them
#' w <- matrix(0, 6, 6, dimnames = list(c("1", "2", "3", "a", "b", "c"), c("1", "2", "3", "a", "b", "c")))
#' w["1", c("a", "c")] <- w["2", c("a", "b")] <- w["3", c("b", "c")] <- 2
#' w["a", "b"] <- w["b", "c"] <- w["a", "c"] <- 1
#' w <- w + t(w)
#' cut <- multiway_cut(w, terminals = c("1", "2", "3"))
#' cut
#' multiway_cut(w, terminals = c("1", "2", "3"), method = "exact")
#' plot(cut)
multiway_cut <- function(graph, terminals, method = c("relaxation", "isolating", "exact"), n_rep = 100, tol = 1e-8,
                         max_iter = 20000, max_nodes = 1e7) {
  call <- match.call()
  if (missing(graph)) fail_missing("graph")
  if (missing(terminals)) fail_missing("terminals")
  g <- check_weighted_graph(graph)
  if (any(g$weight < 0)) {
    bad <- which(g$weight < 0)[1L]
    abort_input(sprintf("The weights of `graph` must not be negative, but that of %s and %s is %g.",
                        g$names[g$from[bad]], g$names[g$to[bad]], g$weight[bad]), "graph")
  }
  terminals <- check_terminals(terminals, g)
  method <- check_choice(method, c("relaxation", "isolating", "exact"))
  options <- list(method = method, n_rep = check_count(n_rep, lower = 0),
                  tol = check_number(tol, lower = 0, strict_lower = TRUE), max_iter = check_count(max_iter),
                  max_nodes = check_number(max_nodes, lower = 1))
  found <- core_multiway_cut(core_edges(g), terminals, options, core_seed(), progress_bar("multiway cut"))
  position <- if (length(found$position) > 0L) found$position
  if (!is.null(position)) dimnames(position) <- list(g$names, g$names[terminals])
  new_cut(found, g, "multiway_cut", call, method = method, terminals = stats::setNames(terminals, g$names[terminals]),
          lower_bound = found$lower_bound, integral = found$integral,
          relaxation = if (method == "relaxation") found$relaxation, position = position)
}

#' The heaviest cut of a graph
#'
#' Divides the nodes of a weighted graph into two sides so that the edges between them weigh most, with an upper bound
#' that says how far from the best the result can be.
#'
#' @details
#' `"relaxation"` puts unit vectors in the place of the two sides (Goemans and Williamson), solves by the mixing method,
#' rounds by random hyperplanes and gives an upper bound from the dual program. `"local"` is a tabu search from
#' `n_starts` random starts. `"improve"` repeats the step of Theorem 13.7 of the reference: with the cut edges as
#' capacities and the others as demands, a set of nodes with less capacity than demand on its border gains the
#' difference when it changes sides; sets are searched completely up to 22 nodes and along generalised eigenvectors
#' beyond. `"exact"` is branch and bound, for some 30 nodes. `"auto"` is exact for up to 24 nodes, otherwise relaxation
#' followed by improvement. (The semidefinite program with triangle inequalities, for which stable instances are proven
#' to be solved, has \eqn{n^3}{n^3} constraints and is not built.) Every method starts from the best of the tabu search.
#'
#' @section Which method when:
#' When edges mean "should be apart": frustration of signed networks, clusters of conflicts, two-colouring with few
#' violations. [multiway_cut()] when edges mean "should be together" and some members are known.
#'
#' @param graph A weighted graph: a symmetric matrix (also sparse) or an igraph graph. Negative weights are allowed.
#' @param method `"auto"`, `"relaxation"`, `"local"`, `"improve"` or `"exact"`.
#' @param n_starts Random starts of the tabu search.
#' @param n_rep Random hyperplanes.
#' @param tol,max_iter When the relaxation is solved (relative to the weights), and its largest number of sweeps.
#' @param max_nodes Largest number of nodes of the search tree (`"exact"`).
#' @param start Sides to start from, one per node, or `NULL`.
#' @return An object of class `granary_cut` with `partition` (1 or 2 for every node), `objective` (weight of the cut),
#'   `upper_bound`, `gap` (relative), `optimal`, `edges` and `method`.
#' @inherit resilient_cluster references
#' @seealso [multiway_cut()], [cut_stability()].
#' @export
#' @examples
#' # a pentagon with one light edge
#' w <- matrix(0, 5, 5)
#' w[cbind(1:5, c(2:5, 1))] <- c(4, 4, 4, 4, 1)
#' cut <- max_cut(w + t(w))
#' cut
#' cut_stability(w + t(w), cut)
max_cut <- function(graph, method = c("auto", "relaxation", "local", "improve", "exact"), n_starts = 20, n_rep = 100,
                    tol = 1e-7, max_iter = 2000, max_nodes = 1e7, start = NULL) {
  call <- match.call()
  if (missing(graph)) fail_missing("graph")
  g <- check_weighted_graph(graph)
  method <- check_choice(method, c("auto", "relaxation", "local", "improve", "exact"))
  if (method %in% c("auto", "relaxation", "improve")) {
    check_all_pairs(length(g$names), 4, "Use method = \"local\", which keeps no full matrix.", "graph")
  }
  sides <- integer()
  if (!is.null(start)) {
    sides <- check_partition(start, g, "start")
    if (max(sides) > 2L) abort_input(sprintf("`start` must have two sides, but it has %d.", max(sides)), "start")
    sides <- sides - 1L
  }
  options <- list(method = method, n_starts = check_count(n_starts, lower = 0), n_rep = check_count(n_rep, lower = 0),
                  tol = check_number(tol, lower = 0, strict_lower = TRUE), max_iter = check_count(max_iter),
                  max_nodes = check_number(max_nodes, lower = 1), start = sides)
  found <- core_max_cut(core_edges(g), options, core_seed(), progress_bar("max cut"))
  new_cut(found, g, "max_cut", call, method = method, upper_bound = found$upper_bound,
          relaxation = if (found$relaxation != 0) found$relaxation)
}

# Edges with the names of the nodes, each pair once, without zeros.
check_weighted_graph <- function(graph, arg = "graph") {
  if (inherits(graph, "igraph")) {
    check_installed("igraph", "to read an igraph graph")
    if (igraph::vcount(graph) == 0L) abort_input(sprintf("`%s` must have at least one node.", arg), arg)
    return(edges_of_igraph(graph, arg))
  }
  m <- check_symmetric(graph, arg, allow_sparse = TRUE)
  names <- variable_names(colnames(m), ncol(m))
  check_names_unique(names, arg)
  if (isS4(m)) {
    at <- Matrix::summary(Matrix::triu(m, 1L))
    edges <- data.frame(from = at$i, to = at$j, weight = at$x)
  } else {
    at <- which(m != 0)
    from <- (at - 1) %% nrow(m) + 1
    to <- (at - 1) %/% nrow(m) + 1
    edges <- data.frame(from = from, to = to, weight = m[at])[from < to, ]
  }
  edges <- edges[edges$weight != 0, ]
  list(names = names, from = as.integer(edges$from), to = as.integer(edges$to), weight = as.double(edges$weight))
}

# Parallel edges, and the two directions of directed ones, add up; loops cut nothing.
edges_of_igraph <- function(graph, arg) {
  n <- igraph::vcount(graph)
  names <- variable_names(igraph::V(graph)$name, n)
  check_names_unique(names, arg)
  ends <- igraph::as_edgelist(graph, names = FALSE)
  weight <- igraph::E(graph)$weight
  weight <- if (is.null(weight)) rep(1, nrow(ends)) else if (nrow(ends) > 0L) as.double(check_vector(weight, "E(graph)$weight"))
  from <- pmin(ends[, 1L], ends[, 2L])
  to <- pmax(ends[, 1L], ends[, 2L])
  key <- (to - 1) * n + from
  if (anyDuplicated(key)) {
    weight <- as.double(rowsum(weight, key, reorder = FALSE))
    kept <- !duplicated(key)
    from <- from[kept]
    to <- to[kept]
    key <- key[kept]
  }
  at <- order(key)
  at <- at[from[at] < to[at] & weight[at] != 0]
  list(names = names, from = as.integer(from[at]), to = as.integer(to[at]), weight = weight[at])
}

core_edges <- function(g) list(nodes = length(g$names), from = g$from, to = g$to, weight = g$weight)

check_terminals <- function(terminals, g, arg = "terminals") {
  if (is.factor(terminals)) terminals <- as.character(terminals)
  at <- if (is.character(terminals)) match(terminals, g$names) else if (is_plain_numeric(terminals)) as.vector(terminals)
  if (length(at) < 2L) fail_input(arg, "names or numbers of at least two nodes", describe(terminals))
  odd <- which(!(at >= 1 & at <= length(g$names) & at == floor(at)) %in% TRUE)
  if (length(odd) > 0L) {
    abort_input(sprintf("`%s` must be nodes of the graph, but it has no node %s%s.", arg,
                        if (is.character(terminals)) paste0("\"", terminals[odd[1L]], "\"") else terminals[odd[1L]],
                        if (is.character(terminals)) "" else sprintf(", only %d", length(g$names))), arg)
  }
  if (anyDuplicated(at)) {
    abort_input(sprintf("`%s` must be different nodes, but %s comes twice.", arg, g$names[at[duplicated(at)][1L]]), arg)
  }
  as.integer(at)
}

# Numbers of the parts, in the order of the nodes; a cut of granary is matched by name.
check_partition <- function(partition, g, arg = "partition") {
  labels <- if (inherits(partition, "granary_cut")) partition$partition else partition
  known <- names(labels)
  part <- check_labels(labels, arg)
  if (length(part) != length(g$names)) {
    abort_input(sprintf("`%s` must have one entry per node, %d, but it has %d.", arg, length(g$names), length(part)),
                arg)
  }
  if (!is.null(known) && all(nzchar(known)) && setequal(known, g$names)) part <- part[match(g$names, known)]
  as.integer(part)
}

new_cut <- function(found, g, problem, call, ...) {
  edges <- data.frame(from = g$names[g$from], to = g$names[g$to], estimate = g$weight,
                      cut = found$part[g$from] != found$part[g$to])
  new_fit("cut", partition = stats::setNames(found$part, g$names), objective = found$objective, optimal = found$optimal,
          gap = found$convergence$gap, edges = edges, problem = problem, ..., n = length(g$names), call = call,
          convergence = found$convergence)
}

#' @rdname multiway_cut
#' @export
print.granary_cut <- function(x, ...) {
  multi <- x$problem == "multiway_cut"
  cli::cat_line(if (multi) sprintf("Cut between %d terminals", length(x$terminals)) else "Cut into two sides",
                " of a graph with ", counted(x$n, "node", "nodes"), " and ", counted(nrow(x$edges), "edge", "edges"))
  print_call(x$call)
  cli::cat_line("Parts of ", format_sizes(tabulate(x$partition)), " nodes; weight of the ",
                counted(sum(x$edges$cut), "cut edge", "cut edges"), ": ", format(x$objective, digits = 8L))
  bound <- if (multi) x$lower_bound else x$upper_bound
  cli::cat_line(if (x$optimal) paste0("Proven: no cut is ",
                                      if (multi) "lighter" else "heavier") else sprintf(
                                        "Not proven to be optimal: no cut is %s than %.8g (%.3g%% away)",
                                        if (multi) "lighter" else "heavier", bound, 100 * x$gap))
  if (multi && x$method == "relaxation") {
    cli::cat_line(
      if (x$integral) "The relaxation is a cut, as for stable graphs" else sprintf(
        "The relaxation is fractional (value %.8g): the best cut would not survive weights that are wrong by a factor 4",
        x$relaxation))
  }
  invisible(x)
}

#' @rdname multiway_cut
#' @export
summary.granary_cut <- function(object, ...) {
  refuse_dots(...)
  object
}

#' @rdname multiway_cut
#' @export
tidy.granary_cut <- function(x, ...) {
  refuse_dots(...)
  data.frame(node = names(x$partition), part = unname(x$partition))
}

#' @rdname multiway_cut
#' @export
glance.granary_cut <- function(x, ...) {
  refuse_dots(...)
  data.frame(n = x$n, edges = nrow(x$edges), parts = length(unique(x$partition)), objective = x$objective, gap = x$gap,
             optimal = x$optimal)
}

#' @rdname multiway_cut
#' @exportS3Method igraph::as.igraph
as.igraph.granary_cut <- function(x, ...) {
  refuse_dots(...)
  check_installed("igraph", "to make an igraph graph")
  nodes <- data.frame(name = names(x$partition), part = unname(x$partition))
  igraph::graph_from_data_frame(stats::setNames(x$edges, c("from", "to", "weight", "cut")), directed = FALSE,
                                vertices = nodes)
}

# The graph of a cut, and the colours of its edges in their order there.
cut_drawing <- function(x) {
  names <- names(x$partition)
  ends <- cbind(match(x$edges$from, names), match(x$edges$to, names))
  graph <- new_graph(names, cbind(ends, rep(1L, nrow(ends)), rep(1L, nrow(ends))), "undirected")
  cut <- unname(x$partition[graph$edges[, 1L]] != x$partition[graph$edges[, 2L]])
  list(graph = graph, colours = ifelse(cut, sign_colours[["negative"]], "grey70"))
}

#' @rdname multiway_cut
#' @export
plot.granary_cut <- function(x, layout = NULL, ...) {
  n <- length(x$partition)
  drawing <- cut_drawing(x)
  draw_graph(drawing$graph, graph_layout(drawing$graph, layout),
             sprintf("cut edges in red, weight %s", format(x$objective, digits = 5L)), drawing$colours, n <= 60L,
             rep(TRUE, n), list(...), square = seq_len(n) %in% x$terminals,
             fill = unname(cluster_colors(max(x$partition)))[x$partition])
  invisible(x)
}

#' @rdname multiway_cut
#' @usage \method{autoplot}{granary_cut}(object, layout = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_cut <- function(object, layout = NULL, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  names <- names(object$partition)
  ends <- cbind(match(object$edges$from, names), match(object$edges$to, names))
  graph <- new_graph(names, cbind(ends, rep(1L, nrow(ends)), rep(1L, nrow(ends))), "undirected")
  place <- graph_layout(graph, layout)
  nodes <- data.frame(x = place[, 1L], y = place[, 2L], part = factor(object$partition), name = names)
  lines <- data.frame(x = place[ends[, 1L], 1L], y = place[ends[, 1L], 2L], xend = place[ends[, 2L], 1L],
                      yend = place[ends[, 2L], 2L], cut = object$edges$cut)
  ggplot2::ggplot(nodes, ggplot2::aes(.data$x, .data$y)) +
    ggplot2::geom_segment(data = lines, ggplot2::aes(xend = .data$xend, yend = .data$yend, linetype = .data$cut),
                          colour = "grey60") +
    ggplot2::geom_point(ggplot2::aes(colour = .data$part), size = 3) +
      ggplot2::scale_colour_manual(values = unname(cluster_colors(max(object$partition)))) +
    ggplot2::labs(x = NULL, y = NULL) + ggplot2::theme_void()
}

#' How stable a cut is
#'
#' The largest factor by which weights of a graph may grow, each by its own, before another cut becomes as good: above
#' it the cut depends on the exact weights.
#'
#' @details
#' For a cut with edges \eqn{E^*}{E*},
#' \eqn{\gamma^* = \min w(E' - E^*) / w(E^* - E')}{gamma* = min w(E' - E*) / w(E* - E')} over all other multiway cuts
#' \eqn{E'}, and the inverse ratio for max cuts. The cut is the only optimum for all weights
#' \eqn{w \le w' \le \gamma w}{w <= w' <= gamma w} exactly if \eqn{\gamma < \gamma^*}{gamma < gamma*}; a value below 1
#' means that it is not optimal now. All cuts are looked at where there are at most ten million (`exact`); otherwise
#' only those that differ in one node or two neighbours, which gives an upper bound.
#' `delta` asks for weak stability: only cuts that differ in more than this share of the nodes count.
#'
#' @section Which method when:
#' After [multiway_cut()] or [max_cut()], to tell a cut that the data force from one of many. Above 4 the relaxation of
#' [multiway_cut()] is proven to find the optimum. [cluster_resilience()] for clusters of points.
#'
#' @param graph A weighted graph, as for [max_cut()].
#' @param partition A cut of [max_cut()] or [multiway_cut()], or the part of every node.
#' @param problem `"max_cut"` or `"multiway_cut"`; taken from `partition` where that is a cut of granary.
#' @param terminals Terminals of a multiway cut; taken from `partition` likewise.
#' @param exact Whether to look at all cuts; `NULL` if there are at most ten million.
#' @param delta Share of the nodes in which a cut must differ to count.
#' @return A list of class `granary_cut_stability` with `gamma`, `exact` (otherwise an upper bound), `rival` (the cut
#'   that comes nearest), `lost` and `won` (what the rival lacks and has).
#' @inherit resilient_cluster references
#' @seealso [max_cut()], [multiway_cut()].
#' @export
#' @examples
#' w <- matrix(0, 5, 5)
#' w[cbind(1:5, c(2:5, 1))] <- c(4, 4, 4, 4, 1)
#' w <- w + t(w)
#' cut_stability(w, max_cut(w))
cut_stability <- function(graph, partition, problem = c("max_cut", "multiway_cut"), terminals = NULL, exact = NULL,
                          delta = 0) {
  if (missing(graph)) fail_missing("graph")
  if (missing(partition)) fail_missing("partition")
  g <- check_weighted_graph(graph)
  own <- inherits(partition, "granary_cut")
  problem <- if (own && missing(problem)) partition$problem else check_choice(problem, c("max_cut", "multiway_cut"))
  part <- check_partition(partition, g)
  if (problem == "multiway_cut") {
    if (is.null(terminals) && own) terminals <- names(partition$terminals)
    if (is.null(terminals)) abort_input("`terminals` must be given for a multiway cut.", "terminals")
    terminals <- check_terminals(terminals, g)
    if (anyDuplicated(part[terminals])) abort_input("Every terminal must be in a part of its own.", "partition")
    part <- match(part, part[terminals])
    if (anyNA(part)) abort_input("Every part must hold a terminal.", "partition")
  } else {
    if (!is.null(terminals)) abort_input("`terminals` are for multiway cuts.", "terminals")
    if (max(part) > 2L) abort_input(sprintf("A max cut has two sides, but `partition` has %d.", max(part)), "partition")
    terminals <- integer()
  }
  n <- length(g$names)
  k <- length(terminals)
  cuts <- if (problem == "max_cut") 2^(n - 1) else k^(n - k)
  exact <- if (is.null(exact)) cuts <= 1e7 else check_flag(exact)
  if (exact && cuts > 1e9) {
    abort_input(sprintf("There are %.3g cuts, too many to look at: use `exact = FALSE` for an upper bound.", cuts),
                "exact")
  }
  found <- core_cut_stability(core_edges(g), part, terminals,
                              list(problem = problem, exact = exact, delta = check_number(delta, lower = 0, upper = 1)),
                              progress_bar("cuts"))
  seal(structure(list(gamma = found$gamma, exact = found$exact,
                      rival = if (length(found$part) > 0L) stats::setNames(found$part, g$names), lost = found$lost,
                      won = found$won, problem = problem), class = "granary_cut_stability"))
}

#' @export
print.granary_cut_stability <- function(x, ...) {
  cli::cat_line("Stability of the cut", if (!x$exact) ", upper bound", ": ", format(x$gamma, digits = 6L))
  meaning <- if (x$gamma < 1 - 1e-12) {
    "Another cut is better now"
  } else if (x$gamma <= 1 + 1e-12) {
    "Another cut is as good"
  } else if (is.infinite(x$gamma)) {
    "No other cut has an edge that this one lacks"
  } else {
    sprintf("It stays %s when weights grow by factors below %s",
            if (x$exact) "the only optimum" else "better than its neighbours", format(x$gamma, digits = 4L))
  }
  cli::cat_line(meaning)
  invisible(x)
}
