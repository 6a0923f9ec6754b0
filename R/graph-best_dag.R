#' The DAG with the best decomposable score
#'
#' The search of [causal_dag()] alone, for any score that is a sum of local scores of nodes and their parents. Lower is better.
#'
#' @details
#' The score is a function `score(node, parents)` of a node's number and an increasing vector of numbers (possibly empty), called once per
#' set of at
#' most
#' `max_parents` neighbours; or a data frame with the columns `node`, `parents` (text with the names of the parents separated by blanks or
#' commas, or
#' a list) and
#' `score`. Sets that are not listed are not possible.
#'
#' @inheritParams causal_dag
#' @param search The search, as for [causal_dag()].
#' @param score The local scores; see Details.
#' @param graph An undirected graph the DAG has to lie in. Needed with a function; with a table it may name the nodes.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list of class `granary_best_dag` with `graph`, `score`, `exact`, `gap` (at most so far above the optimum) and `components`.
#' @references
#' Ordyniak and Szeider (2013). Parameterized complexity results for exact Bayesian network structure learning. *Journal of Artificial
#' Intelligence
#' Research* 46, 263--302.
#' @section Which method when: the score is your own, or comes from another program. [causal_dag()] for linear
#'   models of data.
#' @seealso [causal_dag()], [moral_graph()], [causal_dag_bounds()], [causal_dag_alternatives()], [pc()], [fci()]
#' @export
#' @examples
#' # the BIC of linear regressions
#' bic <- function(node, parents) {
#'   x <- as.matrix(mtcars[1:5])
#'   fit <- lm.fit(cbind(1, x[, parents]), x[, node])
#'   nrow(x) * log(mean(fit$residuals^2)) + log(nrow(x)) * length(parents)
#' }
#' nodes <- names(mtcars)[1:5]
#' best_dag(bic, as_graph(1 - diag(5), nodes = nodes), max_parents = 3)
#'
#' scores <- data.frame(
#'   node = c("a", "a", "b", "b"), parents = c("", "b", "", "a"), score = c(3, 1, 3, 2)
#' )
#' best_dag(scores)
best_dag <- function(score, graph = NULL, search = c("auto", "subset", "tree", "family", "order", "greedy"), max_parents = 8, background = NULL,
                     max_records = 1e6, n_starts = 10, ...) {
  refuse_dots(...)
  if (missing(score)) fail_missing("score")
  search <- check_choice(search, c("auto", "subset", "tree", "family", "order", "greedy"))
  max_parents <- check_count(max_parents, lower = 0)
  settings <- list(search = search, max_records = check_number(max_records, lower = 1, upper = 1e9),
                   restarts = check_count(n_starts, "n_starts", lower = 0, upper = 1e6))
  graph <- if (!is.null(graph)) check_graph(graph)
  if (is.function(score)) {
    if (is.null(graph)) abort_input("`graph` must be given when `score` is a function: it says which parents are possible.", "graph")
    names <- graph$nodes
    space <- dag_space(given_skeleton(graph, names), background, names, "skeleton", estimated = FALSE)
    table <- score_by_function(score, space, max_parents)
  } else {
    table <- score_from_frame(score, graph)
    names <- table$names
    everything <- matrix(TRUE, length(names), length(names))
    if (!is.null(graph)) everything <- given_skeleton(graph, names)
    space <- dag_space(everything, background, names, "skeleton", estimated = FALSE)
    table <- restrict_table(table, space, max_parents)
  }
  result <- core_best_dag(table[c("sets", "scores")], settings, core_seed(), progress_bar("search for a DAG"))
  components <- dag_components(result)
  gap <- if (result$exact) 0 else result$score - result$lower_bound
  if (!result$exact && !search %in% c("order", "greedy")) {
    warn_convergence(sprintf("No exact search was possible: this is the best DAG of hill climbing over orders, at most %.3g above the optimum.", gap))
  }
  seal(structure(list(graph = graph_of_parents(result$parents, names), score = result$score, exact = result$exact, gap = gap, components = components,
                 optimal_orders = optimal_orders(components), table = table, settings = settings), class = "granary_best_dag"))
}

score_by_function <- function(score, space, max_parents) {
  p <- ncol(space$may)
  sets <- scores <- vector("list", p)
  for (v in seq_len(p)) {
    free <- which(space$may[, v] & !space$must[, v])
    must <- which(space$must[, v])
    room <- min(length(free), max_parents - length(must))
    if (room < 0L) abort_input(sprintf("Node %d has more required parents than max_parents = %d.", v, max_parents), "max_parents")
    if (sum(choose(length(free), 0:room)) > 1e6) {
      abort_input(sprintf("Node %d has %d possible parents: more than a million sets to score. Lower `max_parents` or use a sparser graph.", v,
                          length(free)), "max_parents")
    }
    list <- unlist(lapply(0:room, function(k) utils::combn(length(free), k, function(at) sort(c(must, free[at])), simplify = FALSE)),
                   recursive = FALSE)
    values <- vapply(list, function(set) check_local_score(call_score(score, v, set), v), 0)
    sets[[v]] <- lapply(list, as.integer)
    scores[[v]] <- values
  }
  list(sets = sets, scores = scores)
}

# What goes wrong in the user's function is an error of the argument.
call_score <- function(score, v, set) {
  tryCatch(score(v, set), error = function(e) abort_input(sprintf("`score` stopped for node %d: %s", v, conditionMessage(e)), "score"))
}

check_local_score <- function(value, v) {
  ok <- is_plain_numeric(value) && length(value) == 1L && !is.na(value) && value > -Inf
  if (!ok) abort_input(sprintf("`score` must return one number (or Inf for a set that is not possible), but for node %d it gave %s.", v,
                               describe(value)), "score")
  as.double(value)
}

score_from_frame <- function(score, graph) {
  if (!is.data.frame(score) || !all(c("node", "parents", "score") %in% names(score)) || nrow(score) == 0L) {
    fail_input("score", "a function of a node and its parents, or a data frame with columns node, parents and score", describe(score))
  }
  node <- as.character(score$node)
  parents <- if (is.list(score$parents)) {
    lapply(score$parents, as.character)
  } else {
    strsplit(trimws(ifelse(is.na(score$parents), "", as.character(score$parents))), "[ ,;]+")
  }
  parents <- lapply(parents, function(set) unique(set[!is.na(set) & nzchar(set)]))
  if (anyNA(node)) abort_input("The column `node` of `score` must not be missing.", "score")
  values <- check_vector(as.vector(score$score), "score$score")
  names <- if (!is.null(graph)) graph$nodes else unique(node)
  unknown <- setdiff(c(node, unlist(parents)), names)
  if (length(unknown) > 0L) abort_input(sprintf("`score` has \"%s\" as a parent or node, which has no scores of its own or is not in `graph`.",
                                                unknown[1L]), "score")
  loop <- which(mapply(function(v, set) v %in% set, node, parents))
  if (length(loop) > 0L) abort_input(sprintf("`score` has \"%s\" as its own parent.", node[loop[1L]]), "score")
  list(names = names, node = match(node, names), parents = lapply(parents, function(set) sort(match(set, names))), values = values)
}

restrict_table <- function(table, space, max_parents) {
  fits <- mapply(function(v, set) all(space$may[set, v]) && all(which(space$must[, v]) %in% set) && length(set) <= max_parents, table$node,
                 table$parents)
  pick <- function(v) which(table$node == v & fits)
  rows <- lapply(seq_along(table$names), pick)
  none <- which(lengths(rows) == 0L)
  if (length(none) > 0L) abort_input(sprintf("No parent set of \"%s\" in `score` is possible; list at least the empty one.", table$names[none[1L]]),
                                     "score")
  list(sets = lapply(rows, function(at) table$parents[at]), scores = lapply(rows, function(at) as.double(table$values[at])))
}

#' @export
print.granary_best_dag <- function(x, ...) {
  certificate <- if (x$exact) "exact" else paste("NOT exact: within", format(x$gap, digits = 3L))
  cli::cat_line("Best DAG: score ", format(x$score, digits = 6L), " (", certificate, ")")
  print(x$graph)
  invisible(x)
}

# graph_convert(to = "tree").
tree_decomposition <- function(graph, rule = c("min_fill", "min_degree")) {
  graph <- check_graph(graph)
  rule <- check_choice(rule, c("min_fill", "min_degree"))
  out <- core_tree_decomposition(graph_parts(graph), rule)
  name <- function(set) graph$nodes[set]
  nice <- as.data.frame(out$nice, stringsAsFactors = FALSE)
  nice$vertex <- ifelse(nice$vertex > 0L, graph$nodes[pmax(nice$vertex, 1L)], "")
  nice$bag <- lapply(out$nice_bags, name)
  seal(structure(list(bags = lapply(out$bags, name), tree = unname(cbind(out$links$a, out$links$b)), width = out$width,
                 lower = if (out$chordal) out$width else degeneracy(graph),
                 order = name(out$order), nice = nice, graph = graph), class = "granary_tree_decomposition"))
}

degeneracy <- function(graph) {
  m <- as.matrix(graph) > 0
  most <- 0L
  while (nrow(m) > 0L) {
    degree <- rowSums(m)
    most <- max(most, min(degree))
    at <- which.min(degree)
    m <- m[-at, -at, drop = FALSE]
  }
  as.integer(most)
}

#' @export
print.granary_tree_decomposition <- function(x, ...) {
  cli::cat_line("Tree decomposition: ", counted(length(x$graph$nodes), "node", "nodes"), ", ", counted(length(x$bags), "bag", "bags"), ", width ",
                x$width,
                if (x$lower == x$width) " (the treewidth)" else paste0(" (treewidth at least ", x$lower, ")"))
  shown <- utils::head(vapply(x$bags, paste, "", collapse = " "), 12L)
  if (length(shown) > 0L) cli::cat_line("  {", shown, "}")
  if (length(x$bags) > 12L) cli::cat_line("  ... and ", length(x$bags) - 12L, " more in $bags")
  invisible(x)
}
