#' Bounds on causal effects from a CPDAG
#'
#' The effect of setting a variable to a value cannot be had from observational data alone, but the Markov equivalence class leaves few
#' possibilities. `ida()` lists the
#' effect under each of them.
#'
#' @details
#' For every set \eqn{S} of undirected neighbours of the cause \eqn{x} that can be its parents without making a new v-structure at \eqn{x}, the
#' effect of \eqn{x} on
#' \eqn{y} is the coefficient of \eqn{x} in the regression of \eqn{y} on \eqn{x}, its parents and \eqn{S}, or 0 if \eqn{y} is one of them (the
#' local version of IDA). The smallest
#' absolute value is a lower bound on the size of the effect. Edges `<->`, which [pc()] makes of contradictory evidence, count as neither
#' direction.
#'
#' @param graph A fit of [pc()] or a CPDAG.
#' @param x The cause, by name or number.
#' @param y The effects, by name or number; all other variables by default.
#' @param S Covariance matrix; by default that of the data of the fit.
#' @return An object of class `granary_ida`: a list with `effects` (one row per possible set of parents, one column per variable of `y`),
#'   `parents`
#'   (the sets), `minimum` (the
#'   smallest absolute effects) and `x`.
#' @references
#' Maathuis, Kalisch and Buehlmann (2009). Estimating high-dimensional intervention effects from observational data. *Annals of Statistics* 37,
#' 3133--3164.
#' @section Which method when: the question is how large an effect can be, given a graph that leaves directions
#'   open. [causal_dag()] when error variances are equal or their ratios known: its directions are determined.
#' @seealso [pc()], [fci()], [ci_test()], [pc_knowledge()], [causal_dag()], [pc_stability()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_dag(6, n = 1000, degree = 2)
#' fit <- pc(sim$data)
#' ida(fit, "V2", "V6")
#' ida(fit, "V2")$minimum
ida <- function(graph, x, y = NULL, S = NULL, ...) {
  refuse_dots(...)
  if (missing(graph)) fail_missing("graph")
  fit <- if (inherits(graph, "granary_constraint")) graph
  graph <- check_graph(graph)
  if (any(graph$edges[, 3:4] == 3L)) abort_input("`graph` must be a CPDAG or DAG, but it has circles: the rules of a PAG are others.", "graph")
  x <- check_nodes(x, graph, "x")
  if (length(x) != 1L) abort_input("`x` must be one variable.", "x")
  y <- if (is.null(y)) setdiff(seq_along(graph$nodes), x) else check_nodes(y, graph, "y")
  S <- effect_covariance(S, fit, graph)
  result <- core_ida(graph_parts(graph), S, list(cause = x, targets = y), progress_bar("effects"))
  effects <- result$effects
  colnames(effects) <- graph$nodes[y]
  seal(structure(
    list(effects = effects, parents = lapply(result$parents, function(set) graph$nodes[set]), minimum = apply(abs(effects), 2L, min),
         x = graph$nodes[x]), class = "granary_ida"
  ))
}

effect_covariance <- function(S, fit, graph) {
  p <- length(graph$nodes)
  if (is.null(S)) {
    if (is.null(fit$data) && is.null(fit$S)) abort_input("`S` is needed: the graph does not come with numeric data.", "S")
    if (!is.null(fit$S)) return(fit$S)
    if (anyNA(fit$data)) abort_input("`S` is needed: the data of the fit have missing values.", "S")
    return(core_covariance(fit$data))
  }
  S <- check_symmetric(S, "S")
  if (ncol(S) != p) abort_input(sprintf("`S` must be %d x %d like the graph, but it is %d x %d.", p, p, nrow(S), ncol(S)), "S")
  if (!is.null(colnames(S))) {
    at <- match(graph$nodes, colnames(S))
    if (!anyNA(at)) S <- S[at, at, drop = FALSE]
  }
  S
}

#' @export
print.granary_ida <- function(x, ...) {
  cli::cat_line("Possible effects of ", x$x, ": ", counted(nrow(x$effects), "set of parents", "sets of parents"))
  table <- data.frame(minimum = x$minimum, from = apply(x$effects, 2L, min), to = apply(x$effects, 2L, max))
  if (nrow(table) > 0L) print(utils::head(table[order(-table$minimum), ], 12L), digits = 3L)
  if (nrow(table) > 12L) cli::cat_line("... and ", nrow(table) - 12L, " more")
  invisible(x)
}

#' @rdname ida
#' @param n Number of targets drawn, those with the largest smallest effect.
#' @param ... Passed on to [graphics::plot()].
#' @export
plot.granary_ida <- function(x, n = 20, ...) {
  n <- check_count(n)
  top <- utils::head(order(-x$minimum), n)
  effects <- x$effects[, rev(top), drop = FALSE]
  names <- colnames(effects)
  if (length(names) == 0L) abort_input("There are no effects to draw.", "x")
  range <- range(0, effects)
  old <- graphics::par(mar = c(4.1, min(14, 2 + 0.6 * max(nchar(names))), 2.1, 1.1))
  on.exit(graphics::par(old))
  draw(graphics::plot, 0, type = "n", xlim = range, ylim = c(0.5, length(names) + 0.5), yaxt = "n", ylab = "", xlab = "effect of one unit more",
       main = paste("Possible effects of", x$x), user = list(...))
  graphics::axis(2, seq_along(names), names, las = 1, tick = FALSE)
  graphics::abline(v = 0, col = "grey70")
  graphics::segments(apply(effects, 2L, min), seq_along(names), apply(effects, 2L, max), seq_along(names), col = "grey60", lwd = 2)
  graphics::points(as.vector(effects), rep(seq_along(names), each = nrow(effects)), pch = 19,
                   col = sign_colours[ifelse(as.vector(effects) >= 0, "positive", "negative")])
  invisible(x)
}

