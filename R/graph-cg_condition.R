# Findings, and the questions asked given them.

#' Condition on findings
#'
#' Returns the model given what was observed, or takes findings back. The original is not changed.
#'
#' @details
#' A finding on a discrete node is a state, or one number per state, named by the states: the likelihood of each (uncertain evidence; only the ratios
#' count for the
#' posterior). A finding on a continuous node is a number. A new finding on a node replaces the old one.
#'
#' `log_evidence` is the log of the probability density of all findings, which compares models on the same findings.
#'
#' Where a variance is zero a finding can be certain under some configurations and have a density under others. A probability outweighs every density:
#' the
#' configurations that make it certain are kept, and a warning says so. The paper leaves this case open.
#'
#' @section Which method when:
#' `cg_condition()` once findings are known; then [cg_marginal()] for laws of nodes, [cg_map()] for the most probable states, `simulate()` for draws.
#'
#' @param object A model that can be conditioned: a [cg_network()].
#' @param evidence A named list or a data frame with one row; `NA` means nothing known, `NULL` nothing new.
#' @param retract Names of the nodes whose findings are taken back first; `TRUE` for all.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A model of the same class with `evidence` and `log_evidence`.
#' @seealso [cg_network()], [cg_marginal()], [cg_map()], [cg_tree()], [cg_prune()]
#' @export
#' @examples
#' fit <- cg_fit("Species -> Sepal.Length -> Petal.Length; Species -> Petal.Length", iris)
#' seen <- cg_condition(fit, list(Petal.Length = 4.9))
#' seen
#' cg_marginal(seen, "Species")
#' cg_condition(seen, list(Species = c(setosa = 1, versicolor = 1, virginica = 3)))$log_evidence
#' cg_condition(seen, retract = "Petal.Length")
cg_condition <- function(object, evidence = NULL, retract = NULL, ...) {
  refuse_dots(...)
  if (missing(object)) fail_missing("object")
  check_cg_network(object)
  if (is.null(evidence) && is.null(retract)) fail_missing("evidence")
  all <- object$evidence
  if (isTRUE(retract)) {
    all <- list()
  } else if (!is.null(retract)) {
    retract <- object$graph$nodes[node_numbers(retract, object$graph$nodes, "retract")]
    unknown <- setdiff(retract, names(all))
    if (length(unknown) > 0L) abort_input(sprintf("There is no finding on \"%s\" to take back.", unknown[1L]), "retract")
    all <- all[setdiff(names(all), retract)]
  }
  found <- if (is.null(evidence)) list() else read_evidence(object, evidence)
  all[names(found)] <- found
  with_evidence(object, all[intersect(object$graph$nodes, names(all))])
}

with_evidence <- function(object, evidence) {
  prior <- cg_state(retract_quietly(object))
  object$evidence <- evidence
  object$cache <- new.env(parent = emptyenv())
  object$cache$prior <- prior
  object$log_evidence <- 0
  if (length(evidence) == 0L) return(object)
  entered <- observe(object, prior)
  if (entered$log_evidence == -Inf) {
    names <- evidence_order(object)
    at <- entered$blocked
    given <- if (at > 1L) paste0(" given ", paste(vapply(names[seq_len(at - 1L)], function(v) format_finding(object, v), ""),
                                                  collapse = ", ")) else ""
    abort_input(sprintf("The findings have probability zero: %s is impossible%s.", format_finding(object, names[at]), given), "evidence")
  }
  object$cache$state <- entered$pointer
  object$log_evidence <- entered$log_evidence
  if (length(entered$certain) > 0L) {
    warn_input(sprintf("The finding on %s is certain under some configurations and only has a density under others; the former are kept.",
                       paste(object$graph$nodes[entered$certain], collapse = ", ")), "evidence")
  }
  object
}

retract_quietly <- function(object) {
  object$evidence <- list()
  object
}

evidence_order <- function(object) {
  names <- names(object$evidence)
  discrete <- vapply(names, function(v) cg_discrete(object, v), NA)
  c(names[discrete], names[!discrete])
}

observe <- function(object, pointer) {
  nodes <- object$graph$nodes
  names <- names(object$evidence)
  discrete <- names[vapply(names, function(v) cg_discrete(object, v), NA)]
  continuous <- setdiff(names, discrete)
  likelihood <- lapply(discrete, function(v) log(object$evidence[[v]]))
  core_cg_observe(pointer, list(discrete = match(discrete, nodes), log_likelihood = likelihood, continuous = match(continuous, nodes),
                                values = as.double(unlist(object$evidence[continuous]))))
}

# Discrete findings become likelihoods by state.
read_evidence <- function(object, evidence) {
  if (is.data.frame(evidence)) {
    if (nrow(evidence) != 1L) abort_input(sprintf("`evidence` must be a data frame with one row, but it has %d.\nFor many rows use predict().",
                                                  nrow(evidence)), "evidence")
    evidence <- lapply(evidence, function(column) column)
  }
  if (is.atomic(evidence) && !is.object(evidence) && !is.null(names(evidence)) && length(evidence) > 0L) evidence <- as.list(evidence)
  if (!is.list(evidence) || is.object(evidence)) fail_input("evidence", "a named list of findings", describe(evidence))
  if (length(evidence) == 0L) return(list())
  if (is.null(names(evidence))) fail_input("evidence", "a named list of findings", "one without names")
  check_names_unique(names(evidence), "evidence")
  unknown <- setdiff(names(evidence), object$graph$nodes)
  if (length(unknown) > 0L) abort_input(sprintf("`evidence` has a finding on \"%s\", which is not a node of the network.", unknown[1L]), "evidence")
  found <- list()
  for (v in names(evidence)) {
    x <- evidence[[v]]
    if (!is.atomic(x) || length(x) == 0L || is.complex(x)) fail_input(sprintf("evidence$%s", v), "a value", describe(x))
    if (length(x) == 1L && is.na(x)) next
    found[[v]] <- if (cg_discrete(object, v)) {
      read_state(x, v, object$levels[[v]])
    } else if (length(x) == 1L && is.double(x) && !is.object(x) && abs(x) <= 1e150) {
      as.vector(x)  # the words of check_number() take longer than the propagation
    } else {
      check_number(x, sprintf("evidence$%s", v), lower = -1e150, upper = 1e150)
    }
  }
  found
}

read_state <- function(x, v, states) {
  arg <- sprintf("evidence$%s", v)
  if (length(x) == 1L) {
    at <- match(as.character(x), states)
    if (is.na(at)) {
      abort_input(sprintf("`%s` must be a state of the node (%s), not \"%s\".", arg, paste(utils::head(states, 12L), collapse = ", "),
                          substr(as.character(x), 1L, 40L)), arg)
    }
    return(stats::setNames(as.double(seq_along(states) == at), states))
  }
  if (!is_plain_numeric(x) || is.null(names(x)) || !setequal(names(x), states) || length(x) != length(states)) {
    fail_input(arg, sprintf("one state, or a likelihood for each of the states %s, by name", paste(utils::head(states, 12L), collapse = ", ")),
               describe(x))
  }
  x <- check_vector(x, arg, lower = 0)[states]
  if (sum(x) <= 0) abort_input(sprintf("`%s` gives every state the likelihood zero.", arg), arg)
  x
}

format_finding <- function(object, v) {
  x <- object$evidence[[v]]
  if (!cg_discrete(object, v)) return(paste(v, "=", format(x, digits = 4L)))
  if (sum(x > 0) == 1L) return(paste(v, "=", names(x)[x > 0]))
  paste0(v, " ~ (", paste(names(x), format(x, digits = 3L), sep = ": ", collapse = ", "), ")")
}

check_cg_network <- function(object, arg = "object") {
  if (!inherits(object, "granary_cg_network")) fail_input(arg, "a network made by cg_network() or cg_fit()", describe(object))
  check_fit(object)
}

#' Marginal laws of nodes of a network
#'
#' The exact law of nodes given the findings: probabilities for discrete nodes, mixtures of normal laws for continuous ones.
#'
#' @details
#' A continuous marginal has one component per configuration of the discrete variables that decide about it; `mean` and `sd` are its moments.
#' `density()` and `quantile()`
#' evaluate it. A component with standard deviation zero is a point.
#'
#' With `joint = TRUE` the law of all nodes together is given: a table if all are discrete; otherwise a mixture of multivariate normal laws whose
#' components also tell the states of
#' the discrete nodes.
#'
#' @section Which method when:
#' `cg_marginal()` for exact laws; `density()` for a density or distribution function to draw; [cg_map()] for one best configuration. Look at
#' [cg_tree()] first where a network is large.
#'
#' @param object A network.
#' @param nodes Names of nodes; by default all without a finding.
#' @param joint The law of all nodes together, or one for each?
#' @param x A marginal. For `density()` of one continuous node.
#' @param at,probs Where to evaluate; probabilities.
#' @param cumulative The distribution function instead of the density?
#' @param ... Not used.
#' @return For one node, or jointly, an object of class `granary_cg_marginal`: `nodes`, `kind` (`"table"` or `"mixture"`) and `probabilities`, or
#'   `components` (states), `weights`,
#'   `means`, `covariances` (or `sds` for one node), `mean` and `covariance` (or `sd`). For several nodes a list of them of class
#'   `granary_cg_marginals`.
#' @seealso [cg_network()], [cg_condition()], [cg_map()], [cg_tree()], [cg_prune()]
#' @export
#' @examples
#' fit <- cg_fit("Species -> Sepal.Length -> Petal.Length; Species -> Petal.Length", iris)
#' seen <- cg_condition(fit, list(Sepal.Length = 6))
#' cg_marginal(seen)
#' m <- cg_marginal(seen, "Petal.Length")
#' quantile(m, c(0.05, 0.5, 0.95))
#' density(m, c(4, 5))
#' density(m, 5, cumulative = TRUE)
#' plot(m)
#' cg_marginal(seen, c("Species", "Petal.Length"), joint = TRUE)
cg_marginal <- function(object, nodes = NULL, joint = FALSE, ...) {
  refuse_dots(...)
  if (missing(object)) fail_missing("object")
  check_cg_network(object)
  joint <- check_flag(joint)
  all <- object$graph$nodes
  if (is.null(nodes)) nodes <- setdiff(all, names(object$evidence))
  number <- node_numbers(nodes, all, "nodes")
  if (length(number) == 0L) abort_input("`nodes` must name at least one node.", "nodes")
  nodes <- all[number]
  if (joint && length(nodes) > 1L) return(joint_marginal(object, nodes))
  laws <- core_cg_marginals(cg_state(object), number)
  laws <- lapply(seq_along(nodes), function(k) single_marginal(object, nodes[k], laws[[k]]))
  if (length(laws) == 1L) return(laws[[1L]])
  seal(structure(stats::setNames(laws, nodes), class = "granary_cg_marginals"))
}

single_marginal <- function(object, v, law) {
  if (cg_discrete(object, v)) return(new_marginal(v, "table", probabilities = array(law$probabilities, length(law$probabilities), object$levels[v])))
  mean <- sum(law$weights * law$means)
  variance <- sum(law$weights * (law$sds^2 + (law$means - mean)^2))
  new_marginal(v, "mixture", components = component_states(object, law), weights = law$weights, means = as.vector(law$means),
               sds = as.vector(law$sds), mean = mean,
               sd = sqrt(variance))
}

joint_marginal <- function(object, nodes) {
  discrete <- nodes[vapply(nodes, function(v) cg_discrete(object, v), NA)]
  continuous <- setdiff(nodes, discrete)
  number <- function(v) match(v, object$graph$nodes)
  if (length(continuous) == 0L) {
    size <- prod(lengths(object$levels[nodes]))
    if (size > object$max_states) {
      abort_input(sprintf("The joint table of `nodes` would have %s entries, more than `max_states` = %s.", format(size), format(object$max_states)),
                  "nodes")
    }
    p <- core_cg_probabilities(cg_state(object), number(nodes))
    return(new_marginal(nodes, "table", probabilities = array(p, lengths(object$levels[nodes]), object$levels[nodes])))
  }
  law <- core_cg_joint(cg_state(object), number(continuous), number(discrete))
  law$covariances <- array(unlist(law$covariances), c(rep(length(continuous), 2L), length(law$weights)))
  colnames(law$means) <- continuous
  dimnames(law$covariances) <- list(continuous, continuous, NULL)
  mean <- drop(law$weights %*% law$means)
  names(mean) <- continuous
  centred <- sweep(law$means, 2L, mean)
  within <- apply(law$covariances, 1:2, function(s) sum(s * law$weights))
  covariance <- matrix(within, length(continuous)) + crossprod(centred * sqrt(law$weights))
  dimnames(covariance) <- list(continuous, continuous)
  new_marginal(nodes, "mixture", components = component_states(object, law), weights = law$weights, means = law$means, covariances = law$covariances,
               mean = mean,
               covariance = covariance)
}

new_marginal <- function(nodes, kind, ...) seal(structure(list(nodes = nodes, kind = kind, ...), class = "granary_cg_marginal"))

component_states <- function(object, law) {
  names <- object$graph$nodes[law$nodes]
  columns <- lapply(seq_along(names), function(k) structure(law$states[, k], levels = object$levels[[names[k]]], class = "factor"))
  quick_frame(stats::setNames(columns, names), length(law$weights))
}

evaluate_mixture <- function(x, what, at, arg, lower = -Inf, upper = Inf) {
  if (!inherits(x, "granary_cg_marginal") || x$kind != "mixture" || length(x$nodes) != 1L) {
    fail_input("x", "the marginal of one continuous node", describe(x))
  }
  at <- check_vector(at, arg, lower = lower, upper = upper)
  core_mixture(what, list(weights = x$weights, means = as.vector(x$means), sds = as.vector(x$sds)), at)
}

#' @rdname cg_marginal
#' @export
#' @importFrom stats density
density.granary_cg_marginal <- function(x, at, cumulative = FALSE, ...) {
  refuse_dots(...)
  if (missing(at)) fail_missing("at")
  evaluate_mixture(x, if (check_flag(cumulative)) "cdf" else "density", at, "at")
}

#' @rdname cg_marginal
#' @export
#' @importFrom stats quantile
quantile.granary_cg_marginal <- function(x, probs = c(0, 0.25, 0.5, 0.75, 1), ...) {
  refuse_dots(...)
  value <- evaluate_mixture(x, "quantile", probs, "probs", 0, 1)
  stats::setNames(value, paste0(format(100 * as.double(probs), trim = TRUE, digits = 7L), "%"))
}

#' @rdname cg_marginal
#' @export
mean.granary_cg_marginal <- function(x, ...) {
  if (x$kind != "mixture") fail_input("x", "the marginal of continuous nodes", "one of discrete nodes", "For the most probable state use cg_map().")
  x$mean
}

#' Most probable states, highest peaks and modes
#'
#' @details
#' * `"semimax"`: the `k` most probable configurations of all discrete nodes given the findings, the continuous ones summed out (SEMIMAX-PROPAGATION).
#' * `"highest_peak"`: the `k` configurations whose component of the posterior density of the continuous nodes has the highest peak, with its place:
#'   the maximum over discrete and continuous
#'   nodes together.
#' * `"mode"`: modes of the density of the continuous nodes alone, a sum over all configurations, by EM steps uphill from each of the `k` highest
#'   peaks. Different starts may
#'   lead to the same mode, which is then given once.
#'
#' The last two need positive variances.
#'
#' @section Which method when:
#' `"semimax"` for the most probable states of the discrete nodes, `"highest_peak"` and `"mode"` where continuous nodes are wanted with them;
#' [cg_marginal()] where each node is asked about by itself.
#'
#' @param object A network.
#' @param type Which maximum; see Details.
#' @param k How many.
#' @param tol,max_iter For `"mode"`: stop when the gain in log density, relative to its size, is below `tol`.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A data frame, best first: one column per node without a finding (`"semimax"`: discrete nodes only; `"mode"`: continuous ones only), and
#'   `log_probability` or `log_density`.
#' @seealso [cg_network()], [cg_condition()], [cg_marginal()], [cg_tree()], [cg_prune()]
#' @export
#' @examples
#' fit <- cg_fit("Species -> Sepal.Length -> Petal.Length; Species -> Petal.Length", iris)
#' seen <- cg_condition(fit, list(Sepal.Length = 6))
#' cg_map(seen, k = 3)
#' cg_map(seen, "highest_peak")
#' cg_map(seen, "mode", k = 3)
cg_map <- function(object, type = c("semimax", "highest_peak", "mode"), k = 1, tol = 1e-12, max_iter = 10000, ...) {
  refuse_dots(...)
  if (missing(object)) fail_missing("object")
  check_cg_network(object)
  type <- check_choice(type, c("semimax", "highest_peak", "mode"))
  k <- check_count(k, upper = 1e5)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE)
  max_iter <- check_count(max_iter)
  result <- core_cg_map(cg_state(object), list(type = type, k = k, tol = tol, max_iter = max_iter), progress_bar("modes"))
  nodes <- setdiff(object$graph$nodes, names(object$evidence))
  discrete <- vapply(nodes, function(v) cg_discrete(object, v), NA)
  keep <- switch(type, semimax = nodes[discrete], mode = nodes[!discrete], nodes)
  columns <- lapply(stats::setNames(keep, keep), function(v) {
    x <- result$rows[, match(v, object$graph$nodes)]
    if (cg_discrete(object, v)) factor(object$levels[[v]][x], object$levels[[v]]) else x
  })
  table <- as.data.frame(columns, optional = TRUE)
  if (length(columns) == 0L) table <- data.frame(row.names = seq_along(result$log_value))
  table[[if (type == "semimax") "log_probability" else "log_density"]] <- result$log_value
  if (type == "mode") {
    table <- distinct_modes(table[order(-result$log_value), , drop = FALSE], object, keep)
    if (!result$converged) {
      warn_convergence(sprintf("The search for a mode has stopped after %d steps.\nRaise `max_iter`, or loosen `tol`.", max(result$iterations)))
    }
  }
  rownames(table) <- NULL
  table
}

# Two starts ended at the same mode if no coordinate differs by more than 1e-3 of its posterior standard deviation.
distinct_modes <- function(table, object, nodes) {
  if (nrow(table) < 2L || length(nodes) == 0L) return(table)
  laws <- core_cg_marginals(cg_state(object), match(nodes, object$graph$nodes))
  scale <- vapply(laws, function(law) sqrt(sum(law$weights * (law$sds^2 + (law$means - sum(law$weights * law$means))^2))), 0)
  scaled <- sweep(as.matrix(table[nodes]), 2L, scale, "/")
  keep <- 1L
  for (r in seq_len(nrow(table))[-1L]) {
    apart <- vapply(keep, function(s) max(abs(scaled[r, ] - scaled[s, ])), 0)
    if (all(apart > 1e-3)) keep <- c(keep, r)
  }
  table[keep, , drop = FALSE]
}

#' The tree on which a network is propagated
#'
#' Shows what exact inference will cost: the clusters of the strong elimination tree and their numbers of configurations.
#'
#' @details
#' All continuous nodes are eliminated before the discrete ones. `"semi"` is the tree that is used: purely discrete clusters inside others are
#' absorbed. `"elimination"` has all
#' clusters, `"junction"` only the maximal ones: a strong junction tree. Each cluster lists the node eliminated there first.
#'
#' @section Which method when:
#' `cg_tree()` before the first question to a network of more than some dozen nodes; [cg_prune()] where it turns out too large.
#'
#' @param object A network; for `print()` and `plot()` methods, `x` is a tree.
#' @param type Which tree.
#' @param order Elimination order, by name, continuous nodes first; by default that of the network.
#' @param rule How an order is searched for, one step ahead: fewest fill-in edges, fewest configurations, or the cheaper of the two.
#' @param x A tree.
#' @param ... Passed on to [plot.granary_graph()].
#' @return An object of class `granary_cg_tree`: `clusters` (a data frame with the eliminated node, discrete and continuous members, `parent` and
#'   number of configurations), `order`,
#'   `largest` (number of configurations), `cost` (numbers held) and, for `"semi"`, `regressions`: for each continuous node its law given the rest of
#'   its cluster and the findings.
#' @seealso [cg_network()], [cg_condition()], [cg_marginal()], [cg_map()], [cg_prune()]
#' @export
#' @examples
#' fit <- cg_fit("Species -> Sepal.Length -> Petal.Length; Species -> Petal.Length", iris)
#' cg_tree(fit)
#' cg_tree(fit, "junction")
#' cg_tree(fit)$regressions$Sepal.Length
cg_tree <- function(object, type = c("semi", "elimination", "junction"), order = NULL, rule = c("best", "min_fill", "min_states"), ...) {
  refuse_dots(...)
  if (missing(object)) fail_missing("object")
  check_cg_network(object)
  type <- check_choice(type, c("semi", "elimination", "junction"))
  rule <- check_choice(rule, c("best", "min_fill", "min_states"))
  nodes <- object$graph$nodes
  own <- is.null(order) && rule == "best"
  order <- if (!is.null(order)) node_numbers(order, nodes, "order") else if (own && !is.null(object$order)) object$order else integer()
  tree <- core_cg_tree(cg_spec(object), type, order, rule)
  names <- function(sets) lapply(sets, function(set) nodes[set])
  clusters <- data.frame(eliminated = nodes[tree$variable], parent = tree$parent)
  clusters$discrete <- names(tree$discrete)
  clusters$continuous <- names(tree$continuous)
  clusters$configurations <- vapply(tree$discrete, function(set) prod(lengths(object$levels[set])), 0)
  seal(structure(
    list(type = type, clusters = clusters, order = nodes[tree$order], largest = tree$largest, cost = tree$cost,
         regressions = if (type == "semi" && own) cluster_regressions(object)),
    class = "granary_cg_tree"
  ))
}

cluster_regressions <- function(object) {
  nodes <- object$graph$nodes
  parts <- core_cg_regressions(cg_state(object))
  parts <- Filter(function(part) part$active, parts)
  tables <- lapply(parts, function(part) {
    law <- list(nodes = part$discrete, states = part$states, weights = seq_len(ncol(part$terms)))
    self <- match(part$variable, part$continuous)
    regression_frame(component_states(object, law), part$terms[-self, , drop = FALSE], nodes[part$continuous[-self]])
  })
  stats::setNames(tables, vapply(parts, function(part) nodes[part$variable], ""))
}

#' Keep only what a question needs
#'
#' Drops nodes that cannot matter for the law of `nodes` given findings on `given`: those without descendants among either, and those that `given`
#' separates from `nodes`. The
#' posterior of `nodes` given any findings on `given` stays the same; the log-evidence does not, because findings that do not matter are left out of
#' it.
#'
#' @section Which method when:
#' `cg_prune()` before [cg_marginal()] in a large network of which a question needs a part; [cg_tree()] says whether it is worth it.
#'
#' @param object A network.
#' @param nodes The nodes asked about.
#' @param given The nodes on which there will be findings; by default those with findings, which are entered again.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A network with fewer nodes. A finding that only serves as a parent keeps no law of its own: it becomes a node without parents, uniform or
#'   standard normal.
#' @seealso [cg_network()], [cg_condition()], [cg_marginal()], [cg_map()], [cg_tree()]
#' @export
#' @examples
#' fit <- cg_fit("Species -> Sepal.Length -> Petal.Length; Species -> Petal.Length", iris)
#' cg_prune(fit, "Sepal.Length", given = "Species")
cg_prune <- function(object, nodes, given = names(object$evidence), ...) {
  refuse_dots(...)
  if (missing(object)) fail_missing("object")
  check_cg_network(object)
  if (missing(nodes)) fail_missing("nodes")
  all <- object$graph$nodes
  asked <- node_numbers(nodes, all, "nodes")
  if (length(asked) == 0L) abort_input("`nodes` must name at least one node.", "nodes")
  known <- if (is.null(given)) integer() else node_numbers(given, all, "given")
  p <- length(all)
  above <- core_graph_ancestors(graph_parts(object$graph), union(asked, known))
  inside <- function(edges, set) edges[edges[, 1L] %in% set & edges[, 2L] %in% set, , drop = FALSE]
  moral <- core_graph_moral(list(nodes = p, edges = inside(object$graph$edges, above)))
  label <- core_graph_components(list(nodes = p, edges = inside(moral, setdiff(above, known))))
  free <- intersect(above[label[above] %in% label[asked]], setdiff(above, known))
  free <- union(free, setdiff(asked, known))
  parents <- function(v) match(parents_of(object, all[v]), all)
  touched <- Filter(function(v) any(parents(v) %in% free), known)  # findings whose own law says something about the rest
  keep_law <- union(free, touched)
  kept <- sort(unique(c(keep_law, unlist(lapply(keep_law, parents)), intersect(asked, known))))
  into <- ifelse(object$graph$edges[, 4L] == 2L, object$graph$edges[, 2L], object$graph$edges[, 1L])
  edges <- object$graph$edges[into %in% keep_law, , drop = FALSE]
  graph <- new_graph(all[kept], cbind(match(edges[, 1L], kept), match(edges[, 2L], kept), edges[, 3:4, drop = FALSE]), "dag")
  tables <- object$tables[intersect(all[kept], names(object$tables))]
  regressions <- object$regressions[intersect(all[kept], names(object$regressions))]
  for (v in all[setdiff(kept, keep_law)]) {
    states <- object$levels[[v]]
    if (is.null(states)) regressions[[v]] <- data.frame(intercept = 0, variance = 1)
    else tables[[v]] <- array(1 / length(states), length(states), object$levels[v])
  }
  small <- new_cg_network(graph, object$levels[kept], tables, regressions, NULL, object$max_states, match.call())
  if (length(object$evidence) == 0L) return(small)
  with_evidence(small, object$evidence[intersect(names(object$evidence), all[kept])])
}
