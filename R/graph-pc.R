#' Causal graphs by the PC algorithm, free of the order of the variables
#'
#' Estimates the Markov equivalence class (CPDAG) of the DAG behind observational data by tests of conditional independence, assuming no hidden
#' common causes. All
#' versions of Colombo and Maathuis (2014) that remove the dependence on the order of the columns are there.
#'
#' @details
#' 1. *Skeleton.* Starting from the complete graph, an edge \eqn{i - j} is deleted when \eqn{i} and \eqn{j} are independent given some set of size
#'    \eqn{\ell = 0, 1, \ldots}{l = 0, 1, ...} of neighbours of \eqn{i} or of \eqn{j}, at level `alpha`. `method = "stable"` keeps the sets of
#'    neighbours fixed while
#'    \eqn{\ell}{l} does not change; then the skeleton does not depend on the order of the variables.
#' 2. *v-structures.* An unshielded triple \eqn{i - j - k} becomes \eqn{i \to j \leftarrow k}{i -> j <- k} if \eqn{j} is not in the set that
#'    separated \eqn{i} and \eqn{k}
#'    (`"standard"`); if it is in none of all the sets of neighbours that separate them (`"conservative"`: in some but not all leaves the triple
#'    ambiguous); or if it is in fewer than half of them (`"majority"`). A set within the neighbours of both ends counts once.
#' 3. *Rules.* Meek's rules orient what follows. `conflicts = "lists"` applies each rule to all edges at once; edges about which v-structures or
#'    rules disagree become
#'    `<->`, which has no causal meaning. `"overwrite"` lets the last v-structure win (the original), `"first"` the first.
#'
#' With `"stable"`, `"conservative"` or `"majority"`, and `"lists"` the result does not depend on the order of the columns at all; the
#' default is the
#' paper's LMPC-stable. A graph that belongs to no DAG, as sampling errors make them, has type `"pdag"` or `"mixed"`, and the print says
#' so. `alpha` is a tuning
#' parameter, not an error rate of the graph; see [pc_select()].
#'
#' The search stops raising \eqn{\ell}{l} where the data cannot support a test (Gaussian tests need \eqn{n > |S| + 3}), and warns.
#'
#' @section Which method when: `pc()` if all common causes are measured; [fci()] or the faster [rfci()] if not; [ggm_lasso()] if only
#' associations
#' matter. For the
#' consequences of the uncertainty see [pc_stability()], for the sizes of effects [ida()].
#'
#' @inheritParams ci_test
#' @param x Data (matrix or data frame), or a graph (a DAG or an ancestral graph) for an oracle that is never wrong.
#' @param test The test of conditional independence: `"gauss"`, `"rank"`, `"kendall"`, `"g2"`, `"x2"`, `"mixed"`, `"oracle"`, or a
#'   function of `i`,
#'   `j` and `S` that
#'   returns a p-value; see [ci_test()].
#' @param alpha A pair counts as independent when its p-value is at least `alpha`.
#' @param method `"stable"` or `"original"`; see Details.
#' @param colliders,conflicts How v-structures are decided, and what happens when they or the rules disagree; see Details.
#' @param m_max Largest set to condition on.
#' @param cm_max_size Largest set that the conservative and the majority rule try; there are \eqn{2^d}{2^d} sets for a node with \eqn{d} neighbours.
#' @param majority_band With `"majority"`, shares within 1/2 plus or minus this are ambiguous.
#' @param type The graph wanted: `"skeleton"` stops after the first step, with an undirected graph.
#' @param background Known edges and directions: see [pc_knowledge()].
#' @param cache Remember the answers of the test? By default for own functions.
#' @param threads Threads; default `getOption("granary.threads")`. Own functions run on one. The result does not depend on it.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_pc`, inheriting from `granary_constraint` and `granary_fit`: a list with
#' \item{graph}{the CPDAG, a [graph][as_graph]; of type `"mixed"` if there are conflicts}
#' \item{edges}{its edges with the largest p-value met in any test of the pair}
#' \item{sepsets}{the pairs that were separated by a set that is not empty: `from`, `to`, `set` (a list column) and `p`}
#' \item{tests}{per level: tests made, tests the printed algorithm would repeat, edges removed}
#' \item{ambiguous, conflicts}{unshielded triples that could not be decided, and edges with contradictory evidence}
#' \item{alpha, n, test, settings}{what was asked for}
#' \item{convergence}{`converged` is `FALSE` if the data were too few for the sets that were called for; `iterations` are the levels}
#' @references
#' Colombo and Maathuis (2014). Order-independent constraint-based causal structure learning. *Journal of Machine Learning Research* 15,
#' 3741--3782.
#'
#' Spirtes, Glymour and Scheines (2000). *Causation, Prediction, and Search*. MIT Press.
#'
#' Ramsey, Zhang and Spirtes (2006). Adjacency-faithfulness and conservative causal inference. *UAI* (the conservative rule).
#'
#' Meek (1995). Causal inference and causal explanation with background knowledge. *UAI*.
#' @seealso [fci()], [ci_test()], [pc_knowledge()], [causal_dag()], [ida()], [pc_stability()]
#' @seealso `errata("jmlr15-pc-stable")`, `reproduce("jmlr15-pc-stable")`
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_dag(8, n = 500)
#' fit <- pc(sim$data, alpha = 0.01)
#' fit
#' assess(fit, graph_convert(sim$graph, "cpdag"))
#' plot(fit)
#'
#' # free of the order of the columns in every step
#' pc(sim$data, colliders = "conservative")
#'
#' # which variables are adjacent, and nothing else
#' pc(mtcars, alpha = 0.05, type = "skeleton")
#'
#' # discrete data
#' pc(data.frame(Titanic)[rep(1:32, data.frame(Titanic)$Freq), 1:4], test = "g2")
pc <- function(x = NULL, test = NULL, alpha = 0.01, method = c("stable", "original"), colliders = c("majority", "conservative", "standard"),
               conflicts = c("lists", "overwrite", "first"), m_max = Inf, S = NULL, n = NULL, background = NULL, cm_max_size = Inf,
               majority_band = 0, type = c("cpdag", "skeleton"), df = c("adjusted", "nominal"), sparse = c("test", "independent", "dependent"),
               na = c("error", "pairwise"), weights = NULL, cache = NULL, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  spec <- ci_spec(x, test, S, n, df, sparse, na, cache, weights)
  type <- check_choice(type, c("cpdag", "skeleton"))
  colliders <- check_choice(colliders, c("majority", "conservative", "standard"))
  settings <- constraint_settings(alpha, method, colliders, conflicts, m_max, cm_max_size, majority_band)
  check_all_columns(length(spec$names), 3, "Choose the variables beforehand.")
  constraint_fit(if (type == "cpdag") "pc" else "skeleton", spec, background, settings, thread_count(threads), call)
}

#' Causal graphs with hidden common causes: FCI and RFCI
#'
#' Estimate a partial ancestral graph (PAG): what observational data say about causes when there may be common causes that were not
#' measured, and,
#' with
#' `selection = TRUE`, when the units may have been selected by variables that were not measured either.
#'
#' @details
#' At the end of an edge an arrow means "not a cause of the other end", a tail "a cause of the other end", and a circle that the data do not say.
#' `a <-> b` is a hidden common cause.
#'
#' `fci()` starts as [pc()] does and then also tries to separate neighbours by subsets of Possible-D-SEP, which may be large: `pds_max`
#' bounds the
#' subsets. All these sets are computed once. `rfci()` does without them and makes a few extra tests instead: far faster, at times with an
#' edge or
#' a mark less certain. Both
#' finish with the ten rules of Zhang (2008).
#'
#' With `method = "stable"` the v-structures behind Possible-D-SEP are decided by the conservative rule, as the paper's FCI-stable does, and the
#' skeleton of `fci()` does not
#' depend on the order of the variables; with `colliders = "conservative"` or `"majority"` and `conflicts = "lists"` nothing does. RFCI's extra
#' tests depend on the
#' separating sets of the search, so some dependence on the order remains there. A pair that no set of neighbours separates is judged by the
#' smallest subsets of Possible-D-SEP that do.
#'
#' @inheritParams pc
#' @param colliders How v-structures are decided, as for [pc()].
#' @param conflicts `"lists"`: every rule is applied to all edges at once, and where a tail and an arrow are asked for the arrow is set;
#'   `"overwrite"` and `"first"`: one edge
#'   after the other.
#' @param pds_max Largest subset of Possible-D-SEP that is tried.
#' @param ambiguous How ambiguous triples count on the paths of Possible-D-SEP: as possible colliders, so that no separating set is missed, or
#'   `"literal"`, as the paper has it, as non-colliders; see `errata("jmlr15-pc-stable")`.
#' @param selection Use the rules for selection bias (R5 to R7) as well?
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_fci` or `granary_rfci`, as described in [pc()], whose `graph` is a PAG. `later` counts the tests after the
#'   skeleton and the edges they removed.
#' @references
#' Colombo and Maathuis (2014). Order-independent constraint-based causal structure learning. *Journal of Machine Learning Research* 15,
#' 3741--3782.
#'
#' Colombo, Maathuis, Kalisch and Richardson (2012). Learning high-dimensional directed acyclic graphs with latent and selection variables.
#' *Annals of Statistics* 40, 294--321.
#'
#' Zhang (2008). On the completeness of orientation rules for causal discovery in the presence of latent confounders and selection bias.
#' *Artificial Intelligence* 172, 1873--1896.
#' @section Which method when: hidden common causes or selection are possible. [pc()] when all common causes are
#'   measured: it says more. [rfci()] for hundreds of variables: it tests less, and its edges say slightly less.
#' @seealso [pc()], [ci_test()], [pc_knowledge()], [causal_dag()], [ida()], [pc_stability()]
#' @export
#' @examples
#' set.seed(2)
#' sim <- sim_dag(10, n = 1000, latent = TRUE)
#' fit <- fci(sim$data)
#' fit
#' assess(fit, graph_convert(sim$graph, "pag", latent = sim$latent))
#' rfci(sim$data)
fci <- function(x = NULL, test = NULL, alpha = 0.01, method = c("stable", "original"), colliders = c("standard", "conservative", "majority"),
                conflicts = c("lists", "overwrite", "first"), m_max = Inf, S = NULL, n = NULL, background = NULL, pds_max = Inf,
                ambiguous = c("possible", "literal"), selection = FALSE, cm_max_size = Inf, majority_band = 0, df = c("adjusted", "nominal"),
                sparse = c("test", "independent", "dependent"), na = c("error", "pairwise"), weights = NULL, cache = NULL, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  spec <- ci_spec(x, test, S, n, df, sparse, na, cache, weights)
  settings <- constraint_settings(alpha, method, colliders, conflicts, m_max, cm_max_size, majority_band, pds_max, selection, ambiguous)
  constraint_fit("fci", spec, background, settings, thread_count(threads), call)
}

#' @rdname fci
#' @export
rfci <- function(x = NULL, test = NULL, alpha = 0.01, method = c("stable", "original"), colliders = c("standard", "conservative", "majority"),
                 conflicts = c("lists", "overwrite", "first"), m_max = Inf, S = NULL, n = NULL, background = NULL, selection = FALSE,
                 cm_max_size = Inf, majority_band = 0, df = c("adjusted", "nominal"), sparse = c("test", "independent", "dependent"),
                 na = c("error", "pairwise"), weights = NULL, cache = NULL, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  spec <- ci_spec(x, test, S, n, df, sparse, na, cache, weights)
  settings <- constraint_settings(alpha, method, colliders, conflicts, m_max, cm_max_size, majority_band, selection = selection)
  constraint_fit("rfci", spec, background, settings, thread_count(threads), call)
}

constraint_settings <- function(alpha = 0.01, method = "stable", colliders = "standard", conflicts = "lists", m_max = Inf, cm_max_size = Inf,
                                majority_band = 0, pds_max = Inf, selection = FALSE, ambiguous = "possible") {
  list(
    alpha = check_number(alpha, lower = 0, upper = 1), stable = check_choice(method, c("stable", "original")) == "stable",
    colliders = check_choice(colliders, c("standard", "conservative", "majority")),
    conflicts = check_choice(conflicts, c("lists", "overwrite", "first")), m_max = check_size(m_max, "m_max"),
    cm_max_size = check_size(cm_max_size, "cm_max_size"), band = check_number(majority_band, "majority_band", lower = 0, upper = 0.5),
    pds_max = check_size(pds_max, "pds_max"), selection = check_flag(selection),
    possible_colliders = check_choice(ambiguous, c("possible", "literal"), "ambiguous") == "possible"
  )
}

check_size <- function(x, arg) {
  if (is_plain_numeric(x) && identical(as.double(x), Inf)) return(Inf)
  as.double(check_count(x, arg, lower = 0))
}

constraint_fit <- function(algorithm, spec, background, settings, threads, call) {
  started <- proc.time()[["elapsed"]]
  names <- spec$names
  if (is_sample(spec) && !is.null(spec$n) && spec$n < 10) {
    warn_input(sprintf("%g observations are hardly enough for any test: most pairs will count as independent.", spec$n), "x")
  }
  known <- resolve_background(background, names, hidden = algorithm %in% c("fci", "rfci"))
  result <- run_search(algorithm, spec, known, settings, threads, progress_bar("causal search"))
  type <- switch(algorithm, skeleton = "undirected", pc = if (nrow(result$conflicts) > 0L && settings$conflicts == "lists") "mixed" else "cpdag",
                 "pag")
  graph <- new_graph(names, result$edges, type)
  if (type == "cpdag" && (settings$colliders != "standard" || settings$conflicts != "lists" || !is.null(background) || is_sample(spec))) {
    graph$type <- pdag_type(graph)
  }
  levels <- quick_frame(list(size = seq_len(nrow(result$levels)) - 1L, tests = result$levels[, 1L], repeats = result$levels[, 2L],
                             removed = result$levels[, 3L]), nrow(result$levels))
  kind <- c(skeleton = "pc_skeleton", pc = "pc", fci = "fci", rfci = "rfci")[[algorithm]]
  fit <- new_fit(
    c(kind, "constraint"), graph = graph, edges = quick_frame(c(edge_table(graph), list(p = result$p_value)), nrow(graph$edges)),
    sepsets = sepset_table(result, names), tests = levels, collider_tests = result$collider_tests,
    later = stats::setNames(result$later, c("tests", "removed")),
    ambiguous = matrix(names[result$ambiguous], ncol = 3L), conflicts = matrix(names[result$conflicts], ncol = 2L),
    alpha = settings$alpha, n = spec$n, test = spec$kind, settings = settings, background = background, weighted = !is.null(spec$counts), S = spec$S, data = spec$data,
    call = call,
    convergence = list(
      converged = !result$out_of_data, iterations = nrow(levels), seconds = proc.time()[["elapsed"]] - started,
      message = if (result$out_of_data) "too few observations for larger conditioning sets" else ""
    )
  )
  tell_limits(fit, result, names)
  fit
}

run_search <- function(algorithm, spec, known, settings, threads, progress) {
  options <- c(list(algorithm = algorithm, threads = threads), settings)
  core_constraint_search(test_parts(spec), known[!vapply(known, is.null, NA)], options, progress)
}

is_sample <- function(spec) spec$kind != "oracle"

# Sampling errors can leave a graph that belongs to no DAG; it is then not called a CPDAG.
pdag_type <- function(graph) {
  dag <- tryCatch(core_graph_extension(graph_parts(graph)), error = function(e) NULL)
  if (is.null(dag)) return("pdag")
  same <- identical(unname(core_graph_cpdag(list(nodes = length(graph$nodes), edges = dag))), unname(graph$edges))
  if (same) "cpdag" else "pdag"
}

sepset_table <- function(result, names) {
  sets <- lapply(result$given, function(set) names[set])
  quick_frame(list(from = names[result$pairs[, 1L]], to = names[result$pairs[, 2L]], set = sets, p = result$set_p), nrow(result$pairs))
}

tell_limits <- function(fit, result, names) {
  if (result$out_of_data) {
    warn_convergence(sprintf(
      paste0("The search stopped at conditioning sets of %d variables: %s observations cannot support larger ones, and some edges may be left ",
             "that should not be.\nSet `m_max` to choose the size."),
      nrow(fit$tests) - 1L, format(fit$n)
    ), convergence = fit$convergence)
  }
  if (length(result$degenerate) > 0L) {
    warn_input(sprintf("Some variables are linear functions of others (%s): given those they count as independent of everything.",
                       paste(utils::head(names[result$degenerate], 6L), collapse = ", ")), "x")
  }
  if (result$capped && is.finite(fit$settings$cm_max_size)) {
    warn_input(sprintf("v-structures were decided with sets of at most %g variables (`cm_max_size`); larger ones were left out.",
                       fit$settings$cm_max_size),
               "cm_max_size")
  }
  invisible()
}
