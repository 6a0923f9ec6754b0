# Bayesian networks of discrete and Gaussian variables: reading them, fitting them.
#
# A network holds `levels` (a named list; NULL for a continuous node), `tables` (arrays, own states first, then the discrete parents) and
# `regressions` (data frames, one row per configuration of the discrete parents). `cache` keeps the compiled tree; it is rebuilt where it is lost
# (after saving, or on another machine), so that nothing depends on it.

#' Bayesian networks of discrete and Gaussian variables
#'
#' A directed acyclic graph whose nodes are discrete or continuous: a conditional Gaussian network. `cg_network()` takes the probabilities and
#' regressions as they are
#' given, `cg_fit()` estimates them from data. Both can then be asked exactly: [cg_condition()] enters findings, [cg_marginal()] gives the law of any
#' nodes given them,
#' [cg_map()] the most probable states, and `simulate()`, `predict()` and `logLik()` do what they do elsewhere.
#'
#' @details
#' A discrete node has a table \eqn{P(v \mid \mathrm{parents})}{P(v | parents)} and discrete parents only. A continuous node \eqn{Y} with discrete
#' parents \eqn{I} and continuous
#' parents \eqn{Z} has one linear regression for each configuration \eqn{i} of the discrete ones,
#' \deqn{Y \mid I = i, Z = z \sim N(\alpha(i) + \beta(i)'z, \sigma^2(i)).}{Y | I = i, Z = z ~ N(alpha(i) + beta(i)'z, sigma^2(i)).}
#' The variance may be zero: then \eqn{Y} is a linear function of \eqn{Z}. Given the discrete variables the continuous ones are jointly normal, so
#' that every marginal is a
#' finite mixture of normal laws.
#'
#' Inference is exact and follows Cowell (2005): the continuous variables are eliminated before the discrete ones, and all work on them consists of
#' exchanging two univariate
#' regressions, without a matrix that could be singular. The tables are kept in logarithms. The cost grows with the number of configurations of
#' discrete variables that meet
#' in one cluster of the tree; [cg_tree()] shows it before anything is computed, and [cg_prune()] takes away what a question does not need.
#'
#' @section Estimation:
#' Probabilities are relative frequencies, with `pseudo_count` added to every cell. In every configuration of the discrete parents a continuous node
#' is regressed
#' on its continuous parents by least squares. With `shrink` \eqn{= s > 0} each configuration also gets \eqn{s} pseudo-observations with the first and
#' second moments of all
#' configurations together; an empty configuration then has the pooled regression. Rows with missing cells are used by the EM algorithm when `na =
#' "em"`; the expected
#' moments are exact. The likelihood of such data may have several local maxima; EM starts from the families that are complete in a row. A factor whose
#' values are all missing is a latent class with its levels as classes: EM starts from a split of the rows by k-means. Which class gets which name is arbitrary.
#' Where only some rows have a value, and a level next to none, the parts of that split are named after the levels they agree with most.
#'
#' @section Which method when:
#' For purely continuous data where the directions do not matter use [ggm_lasso()]; to find the graph from data use [pc()]. `cg_fit()` needs the graph
#' and gives a model that can
#' be asked about any variable given any others. A naive Bayes classifier, linear and quadratic discriminant analysis, mixtures of normals and
#' switching regressions are special cases.
#'
#' @param graph The directed acyclic graph: text such as `"sex -> height; age -> height"`, the form `"[sex][age][height|sex:age]"`, a list of formulas
#'   (`list(height ~ sex + age)`), an adjacency matrix, an igraph graph or any other thing that [as_graph()] reads. For `cg_network()` also a fitted
#'   network of package
#'   `bnlearn`, and then nothing else is needed.
#' @param tables A named list, one entry per discrete node: a named vector of probabilities for a node without parents, otherwise an array (or table)
#'   whose named
#'   dimnames are the node and its parents, in any order. The names are the states.
#' @param regressions A named list, one entry per continuous node: a data frame with a column for each discrete parent (its states), a column for each
#'   continuous parent (its
#'   coefficient), `intercept`, and `variance` or `sd`; one row per configuration of the discrete parents. A list or a named vector will do where
#'   there are none.
#' @param data A data frame with a column for every node; others are not looked at. Factors, logical and character columns are discrete, numeric ones
#'   are continuous.
#' @param pseudo_count Added to each count of a table; above zero it makes unseen states possible.
#' @param shrink Number of pseudo-observations with the pooled moments that each configuration of a regression receives.
#' @param pooled One variance per continuous node instead of one per configuration?
#' @param variance `"ml"`: divide by the number of observations; `"unbiased"`: less the number of coefficients. EM takes `"ml"` only.
#' @param na What to do about missing cells: stop, or use the incomplete rows by EM.
#' @param tol,max_iter EM stops when the gain in log-likelihood, relative to its size, is below `tol`, or after `max_iter` iterations with a warning.
#' @param order Elimination order, by name, continuous nodes first; found by a search when `NULL`. The answers do not depend on it.
#' @param max_states Largest number of configurations that one cluster may have.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_cg_network` with
#' \item{graph}{the `granary_graph`}
#' \item{levels}{states of the discrete nodes}
#' \item{tables, regressions}{the parameters, in the form in which `cg_network()` reads them}
#' \item{evidence, log_evidence}{the findings entered so far, and the log of their probability density}
#' \item{loglik, df, n}{of a fit}
#' \item{convergence}{of EM; one iteration without missing cells}
#' @references
#' Cowell (2005). Local propagation in conditional Gaussian Bayesian networks. *Journal of Machine Learning Research* 6, 1517--1550.
#'
#' Lauritzen and Jensen (2001). Stable local computation with conditional Gaussian distributions. *Statistics and Computing* 11, 191--203.
#' @seealso `errata("jmlr6-conditional-gaussian-networks")`, `reproduce("jmlr6-conditional-gaussian-networks")`
#' @seealso [cg_condition()], [cg_marginal()], [cg_map()], [cg_tree()], [cg_prune()]
#' @export
#' @examples
#' # a waste incinerator: the filter may be broken, which changes the dust emission
#' net <- cg_network(
#'   "filter -> dust <- waste; dust -> reading",
#'   tables = list(
#'     filter = c(intact = 0.95, broken = 0.05), waste = c(household = 0.7, industrial = 0.3)
#'   ),
#'   regressions = list(
#'     dust = data.frame(
#'       filter = c("intact", "broken", "intact", "broken"),
#'       waste = c("household", "household", "industrial", "industrial"),
#'       intercept = c(-3.2, -0.5, -2.8, 0.1), variance = 0.1
#'     ),
#'     reading = list(intercept = 0.2, dust = 1, sd = 0.5)
#'   )
#' )
#' net
#' seen <- cg_condition(net, list(reading = -0.4, waste = "industrial"))
#' cg_marginal(seen, "filter")
#' cg_marginal(seen, "dust")
#'
#' # from data
#' fit <- cg_fit("Species -> Sepal.Length -> Petal.Length; Species -> Petal.Length", iris)
#' predict(fit, data.frame(Petal.Length = c(1.5, 5)), target = "Species")
cg_network <- function(graph, tables = list(), regressions = list(), order = NULL, max_states = 1e7, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(graph)) fail_missing("graph")
  if (inherits(graph, "bn.fit")) {
    parts <- read_bn_fit(graph)
    graph <- parts$graph
    tables <- parts$tables
    regressions <- parts$regressions
  }
  graph <- cg_graph(graph)
  tables <- check_entries(tables, "tables", graph$nodes)
  regressions <- check_entries(regressions, "regressions", graph$nodes)
  both <- intersect(names(tables), names(regressions))
  if (length(both) > 0L) abort_input(sprintf("\"%s\" is in both `tables` and `regressions`: a node is discrete or continuous.", both[1L]),
                                     "regressions")
  absent <- setdiff(graph$nodes, c(names(tables), names(regressions)))
  if (length(absent) > 0L) {
    abort_input(sprintf("Every node must be in `tables` (discrete) or in `regressions` (continuous), but \"%s\" is in neither.", absent[1L]),
                "tables")
  }
  check_cg_edges(graph, names(tables))
  levels <- stats::setNames(vector("list", length(graph$nodes)), graph$nodes)
  for (v in names(tables)) levels[[v]] <- table_states(tables[[v]], v)
  net <- list(graph = graph, levels = levels)
  tables <- lapply(stats::setNames(names(tables), names(tables)), function(v) read_table(net, v, tables[[v]]))
  regressions <- lapply(stats::setNames(names(regressions), names(regressions)), function(v) read_regression(net, v, regressions[[v]]))
  new_cg_network(graph, levels, tables, regressions, order, max_states, call)
}

#' @rdname cg_network
#' @export
cg_fit <- function(graph, data, pseudo_count = 0, shrink = 0, pooled = FALSE, variance = c("ml", "unbiased"), na = c("error", "em"), tol = 1e-8,
                   max_iter = 1000, order = NULL, max_states = 1e7, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(graph)) fail_missing("graph")
  graph <- cg_graph(graph)
  if (missing(data)) fail_missing("data")
  data <- counted_rows(data, "data")
  na <- check_choice(na, c("error", "em"))
  settings <- list(
    pseudo_count = check_number(pseudo_count, lower = 0), shrink = check_number(shrink, lower = 0), pooled = check_flag(pooled),
    unbiased = check_choice(variance, c("ml", "unbiased")) == "unbiased", tol = check_number(tol, lower = 0, strict_lower = TRUE),
    max_iter = check_count(max_iter), threads = thread_count(threads)
  )
  columns <- read_columns(data, graph$nodes, na == "em")
  check_cg_edges(graph, names(Filter(Negate(is.null), columns$levels)))
  if (settings$unbiased && anyNA(columns$rows)) {
    abort_input("`variance = \"unbiased\"` is not defined with missing cells: EM maximises the likelihood.", "variance")
  }
  net <- list(graph = graph, levels = columns$levels)
  result <- core_cg_fit(cg_spec(net), unname(columns$rows), settings, progress_bar("EM"))
  parameters <- from_core(net, result)
  fit <- new_cg_network(
    graph, columns$levels, parameters$tables, parameters$regressions, order, max_states, call, loglik = result$log_likelihood,
    df = result$parameters, n = nrow(columns$rows), settings = settings, convergence = result$convergence
  )
  if (length(result$degenerate) > 0L) {
    warn_input(sprintf("The variance of %s is zero%s: there it is taken for a constant or an exact linear function of its parents.",
                       result$degenerate[1L],
                       if (length(result$degenerate) > 1L) sprintf(" (and %d more)", length(result$degenerate) - 1L) else ""), "data")
  }
  check_convergence(fit, "Raise `max_iter`, loosen `tol`, or set `shrink` above zero.")
  fit
}

new_cg_network <- function(graph, levels, tables, regressions, order = NULL, max_states = 1e7, call = NULL, loglik = NULL, df = NULL,
                           n = NULL,
                           settings = NULL, convergence = list()) {
  max_states <- check_number(max_states, lower = 1, allow_infinite = TRUE)
  if (!is.null(order)) order <- node_numbers(order, graph$nodes, "order")
  net <- new_fit(
    "cg_network", graph = graph, levels = levels, tables = tables[intersect(graph$nodes, names(tables))],
    regressions = regressions[intersect(graph$nodes, names(regressions))], evidence = list(), log_evidence = 0,
    loglik = loglik, df = df, n = n,
    settings = settings, order = order, max_states = max_states, cache = new.env(parent = emptyenv()), call = call, convergence = convergence
  )
  spec <- cg_spec(net)
  net$cache$prior <- core_cg_compile(spec, if (is.null(order)) integer() else order, max_states)
  net$tables <- from_core(net, core_cg_check(spec))$tables
  net
}

# The pointer to the compiled tree with the findings entered.
cg_state <- function(net) {
  alive <- function(pointer) !is.null(pointer) && core_cg_alive(pointer)
  if (!alive(net$cache$prior)) {
    net$cache$prior <- core_cg_compile(cg_spec(net), if (is.null(net$order)) integer() else net$order, net$max_states)
  }
  if (length(net$evidence) == 0L) return(net$cache$prior)
  if (!alive(net$cache$state)) net$cache$state <- observe(net, net$cache$prior)$pointer
  net$cache$state
}

cg_discrete <- function(net, v) !is.null(net$levels[[v]])

parents_of <- function(net, v) {
  nodes <- net$graph$nodes
  e <- net$graph$edges
  k <- match(v, nodes)
  nodes[c(e[e[, 2L] == k & e[, 4L] == 2L, 1L], e[e[, 1L] == k & e[, 3L] == 2L, 2L])]  # increasing, as the edges of a graph are sorted
}

split_parents <- function(net, v) {
  parents <- parents_of(net, v)
  discrete <- vapply(parents, function(u) cg_discrete(net, u), NA)
  list(discrete = parents[discrete], continuous = parents[!discrete])
}

# What src/r_graph_cg.cpp reads.
cg_spec <- function(net) {
  nodes <- net$graph$nodes
  parents <- lapply(nodes, function(v) split_parents(net, v))
  number <- function(kind) lapply(parents, function(p) match(p[[kind]], nodes))
  list(
    names = nodes, states = lapply(nodes, function(v) if (cg_discrete(net, v)) net$levels[[v]] else character()),
    discrete_parents = number("discrete"), continuous_parents = number("continuous"),
    tables = lapply(nodes, function(v) as.double(net$tables[[v]])),
    regressions = lapply(seq_along(nodes), function(k) {
      r <- net$regressions[[nodes[k]]]
      if (is.null(r)) matrix(0, 0L, 0L) else do.call(rbind, unname(lapply(c(parents[[k]]$continuous, "intercept", "variance"), function(part) r[[part]])))
    })
  )
}

from_core <- function(net, result) {
  nodes <- net$graph$nodes
  tables <- regressions <- list()
  for (k in seq_along(nodes)) {
    v <- nodes[k]
    parents <- split_parents(net, v)
    if (cg_discrete(net, v)) {
      names <- net$levels[c(v, parents$discrete)]
      tables[[v]] <- array(result$tables[[k]], lengths(names), names)
    } else {
      regressions[[v]] <- regression_frame(configurations(net, parents$discrete), result$regressions[[k]], parents$continuous)
    }
  }
  list(tables = tables, regressions = regressions)
}

# `terms` has a column per configuration: coefficients of the tail, intercept, variance.
regression_frame <- function(states, terms, tail) {
  k <- length(tail)
  columns <- c(list(intercept = terms[k + 1L, ]), lapply(stats::setNames(seq_len(k), tail), function(j) terms[j, ]), list(variance = terms[k + 2L, ]))
  quick_frame(c(unclass(states), columns), ncol(terms))
}

# All configurations of discrete nodes, the first changing fastest.
configurations <- function(net, nodes) {
  levels <- net$levels[nodes]
  size <- prod(lengths(levels))
  each <- cumprod(c(1, lengths(levels)))
  quick_frame(lapply(stats::setNames(seq_along(nodes), nodes), function(k) rep_len(rep(levels[[k]], each = each[k]), size)), size)
}

# data.frame() without its checks, which take longer than the inference.
quick_frame <- function(columns, rows) structure(columns, class = "data.frame", row.names = .set_row_names(rows))

cg_graph <- function(graph) {
  if (is.list(graph) && !is.object(graph) && length(graph) > 0L && all(vapply(graph, inherits, NA, "formula"))) graph <- graph_from_formulas(graph)
  graph <- read_graph(graph, NULL, "graph")
  if (length(graph$nodes) == 0L) abort_input("`graph` must have at least one node.", "graph")
  reserved <- intersect(graph$nodes, c("intercept", "variance", "sd", "weight"))
  if (length(reserved) > 0L) abort_input(sprintf("A node cannot be called \"%s\": the name stands for a part of a regression.", reserved[1L]),
                                         "graph")
  cycle <- core_graph_cycle(graph_parts(graph))
  if (length(cycle) > 0L) {
    abort_input(sprintf("`graph` must be acyclic, but it has the cycle %s.", paste(graph$nodes[c(cycle, cycle[1L])], collapse = " -> ")), "graph")
  }
  other <- which(rowSums(graph$edges[, 3:4, drop = FALSE] == 1L) != 1L | rowSums(graph$edges[, 3:4, drop = FALSE] == 3L) > 0L)
  if (length(other) > 0L) {
    edge <- edge_table(graph)[other[1L], ]
    abort_input(sprintf("Every edge of `graph` must be directed, but %s %s %s is not.\nFor an equivalence class choose a member with graph_dag().",
                        edge$from, edge$edge, edge$to),
                "graph")
  }
  graph$type <- "dag"
  graph
}

graph_from_formulas <- function(formulas) {
  short <- which(lengths(formulas) != 3L | !vapply(formulas, function(f) is.name(f[[2L]]), NA))
  if (length(short) > 0L) abort_input(sprintf("Every formula of `graph` must look like node ~ parent + parent, but number %d does not.", short[1L]),
                                      "graph")
  to <- vapply(formulas, function(f) as.character(f[[2L]]), "")
  parents <- lapply(formulas, function(f) setdiff(all.vars(f[[3L]]), "."))
  from <- as.character(unlist(parents))
  build_graph(from, rep(to, lengths(parents)), rep("-->", length(from)), NULL, c(to, from), "graph")
}

check_cg_edges <- function(graph, discrete) {
  edges <- edge_table(graph)
  bad <- which(edges$to %in% discrete & !edges$from %in% discrete)
  if (length(bad) > 0L) {
    abort_input(sprintf("A discrete node must not have a continuous parent, but %s -> %s is such an edge.\nTurn it round, or cut() %s into classes.",
                        edges$from[bad[1L]], edges$to[bad[1L]], edges$from[bad[1L]]), "graph")
  }
}

check_entries <- function(x, arg, nodes) {
  if (is.null(x)) return(list())
  if (!is.list(x) || is.object(x)) fail_input(arg, "a list with an entry for each node, by name", describe(x))
  if (length(x) == 0L) return(list())
  if (is.null(names(x))) fail_input(arg, "a named list", "one without names")
  check_names_unique(names(x), arg)
  unknown <- setdiff(names(x), nodes)
  if (length(unknown) > 0L) abort_input(sprintf("`%s` has an entry for \"%s\", which is not a node of `graph`.", arg, unknown[1L]), arg)
  x
}

table_states <- function(x, v) {
  expected <- "probabilities named by the states: a named vector, or an array with named dimnames"
  if (!is.numeric(x) || isS4(x) || is.data.frame(x)) fail_input(sprintf("tables$%s", v), expected, describe(x))
  states <- if (is.null(dim(x))) names(x) else if (length(dim(x)) == 1L) dimnames(x)[[1L]] else dimnames(x)[[v]]
  if (is.null(states)) fail_input(sprintf("tables$%s", v), expected,
                                  if (is.null(dim(x))) "a vector without names" else sprintf("an array without a dimension \"%s\"", v))
  check_names_unique(states, sprintf("tables$%s", v))
  states
}

read_table <- function(net, v, x) {
  arg <- sprintf("tables$%s", v)
  parents <- split_parents(net, v)$discrete
  wanted <- c(v, parents)
  if (is.null(dim(x)) || length(dim(x)) == 1L) x <- array(x, length(x), stats::setNames(list(net$levels[[v]]), v))
  if (!setequal(names(dimnames(x)), wanted) || length(dim(x)) != length(wanted)) {
    abort_input(sprintf("`%s` must have the dimensions %s, but it has %s.", arg, paste(wanted, collapse = ", "),
                        paste(names(dimnames(x)), collapse = ", ")), arg)
  }
  x <- aperm(unclass(x), match(wanted, names(dimnames(x))))
  for (u in parents) {
    if (!setequal(dimnames(x)[[u]], net$levels[[u]])) {
      abort_input(sprintf("`%s` must have the states of \"%s\" (%s), but it has %s.", arg, u, paste(net$levels[[u]], collapse = ", "),
                          paste(dimnames(x)[[u]], collapse = ", ")), arg)
    }
  }
  x <- do.call(`[`, c(list(x), net$levels[wanted], drop = FALSE))
  array(as.double(x), lengths(net$levels[wanted]), net$levels[wanted])
}

read_regression <- function(net, v, x) {
  arg <- sprintf("regressions$%s", v)
  parents <- split_parents(net, v)
  if (is.numeric(x) && !is.null(names(x)) && is.null(dim(x))) x <- as.list(x)
  if (!is.list(x) || (is.object(x) && !is.data.frame(x)) || is.null(names(x)) || any(lengths(x) == 0L) || !all(vapply(x, is.atomic, NA))) {
    fail_input(arg, "a data frame (or a list) with intercept, coefficients and variance", describe(x))
  }
  rows <- max(lengths(x), 0L)
  if (any(!lengths(x) %in% c(1L, rows))) abort_input(sprintf("The parts of `%s` must have the same length.", arg), arg)
  x <- as.data.frame(lapply(x, rep_len, rows), stringsAsFactors = FALSE, optional = TRUE)
  if (is.null(x$variance) && !is.null(x$sd)) {
    if (!is.numeric(x$sd) || anyNA(x$sd) || any(x$sd < 0)) abort_input(sprintf("`%s$sd` must be numbers that are not negative.", arg), arg)
    x$variance <- x$sd^2
  }
  x$sd <- NULL
  wanted <- c(parents$discrete, "intercept", parents$continuous, "variance")
  absent <- setdiff(wanted, names(x))
  if (length(absent) > 0L) abort_input(sprintf("`%s` must have the column `%s`: %s.", arg, absent[1L], column_role(absent[1L], parents)), arg)
  extra <- setdiff(names(x), wanted)
  if (length(extra) > 0L) abort_input(sprintf("`%s` has the column `%s`, but \"%s\" is not a parent of \"%s\".", arg, extra[1L], extra[1L], v), arg)
  for (part in setdiff(wanted, parents$discrete)) {
    if (!is_plain_numeric(x[[part]])) fail_input(sprintf("%s$%s", arg, part), "numeric", describe(x[[part]]))
  }
  all <- configurations(net, parents$discrete)
  label <- function(frame) {
    if (length(parents$discrete) == 0L) return(rep("", nrow(frame)))
    do.call(paste, c(lapply(parents$discrete, function(u) as.character(frame[[u]])), sep = "\r"))
  }
  for (u in parents$discrete) {
    odd <- setdiff(as.character(x[[u]]), net$levels[[u]])
    if (length(odd) > 0L) abort_input(sprintf("`%s$%s` must hold states of \"%s\" (%s), but it has \"%s\".", arg, u, u,
                                              paste(net$levels[[u]], collapse = ", "), odd[1L]), arg)
  }
  place <- match(label(all), label(x))
  if (anyNA(place) || anyDuplicated(label(x))) {
    at <- which(is.na(place))[1L]
    what <- if (is.na(at)) "some are there twice" else paste("there is none for", paste(parents$discrete, "=", unlist(all[at, ]), collapse = ", "))
    abort_input(sprintf("`%s` must have one row per configuration of the discrete parents, but %s.", arg, what), arg)
  }
  numbers <- lapply(stats::setNames(nm = setdiff(wanted, parents$discrete)), function(part) as.double(x[[part]][place]))
  quick_frame(c(unclass(all), numbers), nrow(all))
}

column_role <- function(name, parents) {
  if (name %in% parents$discrete) return("the states of a discrete parent")
  if (name %in% parents$continuous) "the coefficient of a parent" else paste("the", name, "of the regression")
}

# Columns of a data frame as numbers (states from 0), with the states of the discrete ones. `levels`: what a network asks them to be.
read_columns <- function(data, nodes, allow_na, levels = NULL, arg = "data") {
  if (!is.data.frame(data)) {
    if (is.matrix(data) && (is.numeric(data) || is.logical(data)) && !is.object(data) && !is.null(colnames(data))) data <- as.data.frame(data)
    else fail_input(arg, "a data frame with a column for each node", describe(data))
  }
  absent <- setdiff(nodes, names(data))
  if (length(absent) > 0L) abort_input(sprintf("`%s` must have a column for every node of the graph, but \"%s\" is missing.", arg, absent[1L]), arg)
  if (nrow(data) == 0L) abort_input(sprintf("`%s` must have at least one row.", arg), arg)
  rows <- matrix(0, nrow(data), length(nodes), dimnames = list(NULL, nodes))
  found <- stats::setNames(vector("list", length(nodes)), nodes)
  for (v in nodes) {
    column <- read_column(data[[v]], v, levels[[v]], !is.null(levels), allow_na, arg)
    rows[, v] <- column$values
    if (!is.null(column$states)) found[[v]] <- column$states
  }
  list(rows = rows, levels = found)
}

read_column <- function(x, v, states, fixed, allow_na, arg) {
  name <- sprintf("column \"%s\" of `%s`", v, arg)
  if (!is.atomic(x) || !is.null(dim(x)) || isS4(x)) abort_input(sprintf("The %s must be a factor, logical, text or numbers, but it is %s.", name,
                                                                        describe(x)), arg)
  discrete <- is.factor(x) || is.logical(x) || is.character(x)
  all_missing <- all(is.na(x))
  if (fixed && is.null(states) && discrete && !all_missing) abort_input(sprintf("The %s must be numeric: the node is continuous.", name), arg)
  if (anyNA(x) && !allow_na) {
    abort_input(sprintf("The %s has %s, the first in row %d.\nUse `na = \"em\"` to learn from incomplete rows, or remove them with na.omit().", name,
                        counted(sum(is.na(x)), "missing value", "missing values"), which(is.na(x))[1L]), arg)
  }
  if (fixed && !is.null(states)) {
    place <- match(as.character(x), states)
    odd <- which(is.na(place) & !is.na(x))
    if (length(odd) > 0L) {
      abort_input(sprintf("The %s must hold states of the node (%s), but row %d is \"%s\".", name, paste(utils::head(states, 8L), collapse = ", "),
                          odd[1L],
                          as.character(x[odd[1L]])), arg)
    }
    return(list(values = place - 1, states = states))
  }
  if (discrete && !fixed) {
    x <- if (is.logical(x)) factor(x, c(FALSE, TRUE)) else as.factor(x)
    if (nlevels(x) < 1L) abort_input(sprintf("The %s has no observed value.", name), arg)
    return(list(values = as.integer(x) - 1, states = levels(x)))
  }
  if (!is_plain_numeric(x) && !all_missing) abort_input(sprintf("The %s must be a factor, logical, text or numbers, but it is %s.", name,
                                                                describe(x)), arg)
  values <- as.double(x)
  if (any(is.infinite(values))) abort_input(sprintf("The %s must be finite, but row %d is infinite.", name, which(is.infinite(values))[1L]), arg)
  if (any(abs(values) > 1e150, na.rm = TRUE)) abort_input(sprintf("The %s has values too large to compute with. Rescale it.", name), arg)
  list(values = values, states = NULL)
}

read_bn_fit <- function(x) {
  nodes <- names(x)
  graph <- graph_from_bn(x, "graph")
  tables <- regressions <- list()
  for (v in nodes) {
    node <- x[[v]]
    if (!is.null(node$prob)) {
      p <- unclass(node$prob)
      if (length(dim(p)) <= 1L) p <- stats::setNames(as.vector(p), names(node$prob))
      tables[[v]] <- p
    } else if (is.matrix(node$coefficients)) {
      discrete <- node$parents[node$dparents]
      frame <- expand.grid(node$dlevels, KEEP.OUT.ATTRS = FALSE, stringsAsFactors = FALSE)
      names(frame) <- discrete
      coefficients <- t(node$coefficients)
      colnames(coefficients)[1L] <- "intercept"
      regressions[[v]] <- cbind(frame, as.data.frame(coefficients), sd = unname(node$sd))
    } else {
      coefficients <- as.list(node$coefficients)
      names(coefficients)[1L] <- "intercept"
      regressions[[v]] <- c(coefficients, sd = unname(node$sd))
    }
  }
  list(graph = graph, tables = tables, regressions = regressions)
}

node_numbers <- function(x, nodes, arg) {
  if (is.factor(x)) x <- as.character(x)
  if (is.character(x) && !is.object(x) && !anyNA(x)) {
    number <- match(x, nodes)
    if (anyNA(number)) abort_input(sprintf("`%s` must name nodes of the network, but \"%s\" is none of them.", arg,
                                           substr(readable(x[is.na(number)][1L]), 1L, 40L)), arg)
    if (anyDuplicated(number)) abort_input(sprintf("`%s` names \"%s\" more than once.", arg, x[duplicated(number)][1L]), arg)
    return(number)
  }
  fail_input(arg, "names of nodes", describe(x))
}
