#' Simulate a random DAG and linear Gaussian data
#'
#' Draws a random DAG with given expected degree, edge weights, and data from the linear Gaussian model on it, as in simulation studies of causal
#' searches.
#'
#' @details
#' Each pair is an edge with probability `degree / (p - 1)`, directed from the earlier to the later node;
#' \eqn{x_j = \sum_k A_{jk} x_k + e_j}{x_j = sum_k A_jk x_k + e_j} with
#' \eqn{A_{jk}}{A_jk} uniform on `weights` and \eqn{e_j \sim N(0, sd^2)}{e_j ~ N(0, sd^2)}. With `latent = TRUE` a random half of the nodes that
#' have no parents
#' and at least two children are hidden: they are not in `data`.
#'
#' @section Which method when:
#' `sim_dag()` for sparse random graphs as in studies of [pc()]; [sim_sem()] for data from a graph and error laws of your own.
#'
#' @param p Number of nodes.
#' @param n Number of rows to draw; `NULL` for none.
#' @param degree Expected number of neighbours of a node.
#' @param weights Smallest and largest weight.
#' @param signs Give weights random signs?
#' @param shuffle Relabel the nodes at random? Otherwise parents come before children.
#' @param latent Hide some common causes? Or the nodes to hide, by number.
#' @param sd Standard deviations of the errors, one or one per node.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list of class `granary_sim_dag` with `graph` (the DAG), `weights` (sparse matrix, entry (j, k) the weight of \eqn{k \to j}{k -> j}),
#'   `latent` (names)and `data` (the
#'   observed variables).
#' @seealso [pc()], [fci()], [ci_test()], [pc_knowledge()], [causal_dag()], [ida()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_dag(10, n = 100, degree = 3)
#' sim
#' sim$graph
#' head(sim$data, 3)
sim_dag <- function(p = 20, n = NULL, degree = 2, weights = c(0.1, 1), signs = FALSE, shuffle = FALSE, latent = FALSE, sd = 1, ...) {
  refuse_dots(...)
  p <- check_count(p, upper = 46340)
  n <- check_count(n, allow_null = TRUE, upper = 1e8)
  degree <- check_number(degree, lower = 0)
  if (degree > max(p - 1, 0)) abort_input(sprintf("`degree` must be at most p - 1 = %d, not %g.", p - 1L, degree), "degree")
  weights <- check_vector(weights, length = 2L)
  if (weights[1L] > weights[2L]) abort_input("`weights` must be the smallest and the largest weight, in this order.", "weights")
  sd <- check_vector(sd, lower = 0, strict_lower = TRUE)
  if (!length(sd) %in% c(1L, p)) abort_input(sprintf("`sd` must have one value or one per node (%d), but it has %d.", p, length(sd)), "sd")
  hide <- if (is.logical(latent)) check_flag(latent) else FALSE
  drawn <- core_sim_dag(list(nodes = p, neighbours = degree, low = weights[[1L]], high = weights[[2L]], signs = check_flag(signs),
                             shuffle = check_flag(shuffle), latent = hide), core_seed())
  graph <- new_graph(variable_names(NULL, p), drawn$edges, "dag")
  hidden <- if (is.logical(latent)) drawn$latent else check_nodes(latent, graph, "latent")
  if (length(hidden) == p) abort_input("`latent` must leave at least one node observed.", "latent")
  a <- drawn$arrows
  names <- graph$nodes
  data <- NULL
  if (!is.null(n)) {
    data <- core_sim_dag_rows(c(list(nodes = p), a), n, rep_len(as.double(sd), p), core_seed())
    colnames(data) <- names
    if (length(hidden) > 0L) data <- data[, -hidden, drop = FALSE]
  }
  matrix <- Matrix::sparseMatrix(i = a$to, j = a$from, x = a$weight, dims = c(p, p), dimnames = list(names, names))
  seal(structure(list(graph = graph, weights = matrix, sd = rep_len(as.double(sd), p), latent = names[hidden], data = data), class = "granary_sim_dag"))
}

#' @export
print.granary_sim_dag <- function(x, ...) {
  cli::cat_line("Random DAG: ", counted(length(x$graph$nodes), "node", "nodes"), ", ", counted(nrow(x$graph$edges), "edge", "edges"),
                if (length(x$latent) > 0L) paste0(", ", length(x$latent), " hidden (", paste(utils::head(x$latent, 5L), collapse = ", "), ")"),
                if (!is.null(x$data)) paste0(", n = ", nrow(x$data)))
  invisible(x)
}
