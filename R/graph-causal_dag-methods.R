#' Methods for linear causal DAGs
#'
#' What can be done with a fit of [causal_dag()].
#'
#' @details
#' `predict()`: `type = "parents"` gives \eqn{E(X_j | \mathrm{pa}(j))}{E(X_j | parents)} for every row of `newdata`; `"effects"` the matrix of total
#' effects, whose
#' entry (i, j) is the expected change of j when i is raised by one by intervention; `"do"` the expected values of all variables when
#' those named in
#' `do` are set to the values
#' given.
#'
#' `simulate()` draws rows from the fitted model with normal errors.
#'
#' @param x,object A fit.
#' @param newdata Data with the variables of the fit; by default those it was fitted to.
#' @param type What to predict; see Details.
#' @param do For `type = "do"`: a named vector of values.
#' @param nsim Number of rows.
#' @param seed A seed for [set.seed()], restored afterwards; `NULL` to go on with the current stream.
#' @param ... For `plot()`, passed to [plot.granary_graph()]; otherwise not used.
#' @return `coef()` the matrix \eqn{B}; `summary()` an object that prints edges with standard errors, search and variances; `as.matrix()` the matrix
#'   of marks; `tidy()` the edges;
#'   `glance()` one row; `residuals()` and `predict()` matrices (a vector for `"do"`).
#' @seealso [causal_dag()], [moral_graph()], [best_dag()], [causal_dag_bounds()], [causal_dag_alternatives()], [pc()]
#' @name granary_causal_dag
#' @examples
#' set.seed(1)
#' sim <- sim_dag(6, n = 300, weights = c(0.5, 1))
#' fit <- causal_dag(sim$data)
#' summary(fit)
#' predict(fit, type = "effects")
#' predict(fit, type = "do", do = c(V1 = 1))
#' head(residuals(fit), 3)
#' simulate(fit, nsim = 2, seed = 1)
#' tidy(fit)
#' glance(fit)
NULL

#' @export
print.granary_causal_dag <- function(x, ...) {
  kind <- if (length(unique(x$weights)) == 1L) "equal error variances" else "given error variances"
  if (x$settings$weighting == "likelihood") kind <- "Gaussian likelihood"
  cli::cat_line("Linear causal DAG (", kind, if (!is.null(x$n)) paste0(", n = ", x$n), ")")
  print_call(x$call)
  print(x$graph)
  how <- unique(x$components$search[x$components$nodes > 1L])
  wide <- max(-1L, x$components$width)
  cli::cat_line("Search: ", if (length(how) > 0L) paste(how, collapse = ", ") else "none needed",
                if (wide >= 0L) paste0(" (treewidth ", if (x$exact) "at most " else "up to ", wide, ")"),
                if (x$exact) ", exact" else ", NOT exact", if (!x$exact && is.finite(x$gap)) paste0(": within ", format(x$gap, digits = 3L),
                                                                                                    " of the optimum"))
  cli::cat_line("Score ", format(x$score, digits = 6L), " within an undirected graph of ", counted(nrow(x$moral$edges), "edge", "edges"))
  invisible(x)
}

#' @rdname granary_causal_dag
#' @export
summary.granary_causal_dag <- function(object, ...) {
  seal(structure(list(fit = object, ratio = max(object$error_variance / object$weights) / min(object$error_variance / object$weights)),
            class = "summary_granary_causal_dag"))
}

#' @export
print.summary_granary_causal_dag <- function(x, ...) {
  print(x$fit)
  if (nrow(x$fit$edges) > 0L) {
    cli::cat_line()
    print(utils::head(format(x$fit$edges, digits = 3L), 40L), row.names = FALSE)
    if (nrow(x$fit$edges) > 40L) cli::cat_line("... and ", nrow(x$fit$edges) - 40L, " more; tidy() lists them")
  }
  cli::cat_line()
  cli::cat_line("Largest over smallest error variance, relative to the weights: ", format(x$ratio, digits = 3L),
                " (causal_dag_bounds() says how much is harmless)")
  if (!is.na(x$fit$optimal_orders)) cli::cat_line("Orders of the variables that reach the optimum: ",
                                                  format(x$fit$optimal_orders, big.mark = ",", digits = 4L))
  cli::cat_line("causal_dag_alternatives() has the price of turning or dropping each edge, and the best DAGs; causal_dag_stability() resamples")
  invisible(x)
}

#' @rdname granary_causal_dag
#' @importFrom stats coef residuals
#' @export
coef.granary_causal_dag <- function(object, ...) object$B

#' @rdname granary_causal_dag
#' @export
predict.granary_causal_dag <- function(object, newdata = NULL, type = c("parents", "effects", "do"), do = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("parents", "effects", "do"))
  names <- colnames(object$B)
  mean <- if (is.null(object$mean)) stats::setNames(numeric(length(names)), names) else object$mean
  if (type == "effects") {
    effects <- core_total_effects(object$B)
    dimnames(effects) <- dimnames(object$B)
    return(effects)
  }
  if (type == "do") {
    do <- check_vector(do, "do")
    at <- match(names(do), names)
    if (is.null(names(do)) || anyNA(at) || anyDuplicated(at)) {
      abort_input("`do` must be a vector whose names are different variables of the fit, like c(a = 1).", "do")
    }
    B <- object$B
    B[, at] <- 0  # an intervention cuts the arcs into its targets
    shift <- numeric(length(names))
    shift[at] <- do - mean[at]
    return(mean + stats::setNames(drop(shift %*% core_total_effects(B)), names))
  }
  x <- dag_newdata(object, newdata, names)
  sweep(sweep(x, 2L, mean) %*% object$B, 2L, mean, "+")
}

dag_newdata <- function(object, newdata, names) {
  if (is.null(newdata)) {
    if (is.null(object$x)) abort_input("`newdata` must be given: the fit comes from a covariance matrix.", "newdata")
    newdata <- object$x
    newdata[is.na(newdata)] <- rep(object$mean, each = nrow(newdata))[is.na(newdata)]
  }
  x <- check_matrix(newdata, "newdata")
  if (is.null(colnames(x)) && ncol(x) == length(names)) colnames(x) <- names
  absent <- setdiff(names, colnames(x))
  if (length(absent) > 0L) abort_input(sprintf("`newdata` must have the variables of the fit, but \"%s\" is missing.", absent[1L]), "newdata")
  x[, names, drop = FALSE]
}

#' @rdname granary_causal_dag
#' @export
residuals.granary_causal_dag <- function(object, newdata = NULL, ...) {
  refuse_dots(...)
  dag_newdata(object, newdata, colnames(object$B)) - predict(object, newdata)
}

#' @rdname granary_causal_dag
#' @export
simulate.granary_causal_dag <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  draws <- sim_sem(nsim, object$B, variance = object$error_variance)
  if (is.null(object$mean)) draws else sweep(draws, 2L, object$mean, "+")
}

#' @rdname granary_causal_dag
#' @export
plot.granary_causal_dag <- function(x, ...) plot(x$graph, ...)

#' @exportS3Method ggplot2::autoplot
autoplot.granary_causal_dag <- function(object, ...) autoplot.granary_graph(object$graph, ...)  # nolint: object_name_linter.

#' @exportS3Method igraph::as.igraph
as.igraph.granary_causal_dag <- function(x, ...) graph_igraph(x$graph)  # nolint: object_name_linter.

#' @rdname granary_causal_dag
#' @export
as.matrix.granary_causal_dag <- function(x, ...) as.matrix(x$graph)

#' @rdname granary_causal_dag
#' @export
tidy.granary_causal_dag <- function(x, ...) x$edges

#' @rdname granary_causal_dag
#' @export
glance.granary_causal_dag <- function(x, ...) {
  refuse_dots(...)
  data.frame(nodes = length(x$graph$nodes), edges = nrow(x$edges), score = x$score, penalty = x$penalty, exact = x$exact, gap = x$gap,
             width = max(-1L, x$components$width),
             seconds = x$convergence$seconds)
}

check_causal_dag <- function(fit) {
  if (missing(fit)) fail_missing("fit")
  if (!inherits(fit, "granary_causal_dag")) fail_input("fit", "a fit of causal_dag()", describe(fit))
  check_fit(fit)
  if (fit$settings$search %in% c("topdown", "bottomup")) {
    abort_input(sprintf("`fit` was made by search = \"%s\", which minimises nothing; fit again with another search.", fit$settings$search), "fit")
  }
  fit
}

#' What else could it be? Alternatives to a causal DAG
#'
#' `"arcs"` reruns the search once per edge with the edge turned round, and once with the pair apart: what the next best explanation would cost.
#' `"dags"` lists the `k` DAGs with the lowest scores. Scores that are (almost) equal say that the data cannot tell these DAGs apart.
#'
#' @details
#' The list of DAGs is exact if the searches are (`exact`): once the best DAG of a set is known, the rest of the set splits into parts
#' that agree with
#' it up to some node and differ there, and each part is searched (Lawler 1972). That is one search per variable and DAG, and DAGs that
#' differ from a
#' better one by a superfluous edge are listed too, so that the search may need more memory than that of the fit. The DAGs are those of
#' the score,
#' before pruning.
#'
#' @section Which method when: `causal_dag_alternatives()` asks the score, [causal_dag_stability()] resampled rows, and
#' [causal_dag_bounds()] the theory.
#' @param fit A fit of [causal_dag()]; for `"dags"` also of [best_dag()].
#' @param what Alternatives to each arc, or whole DAGs.
#' @param k Number of DAGs.
#' @param ... Nothing: an argument that is not known is an error.
#' @return For `"arcs"` a data frame: `from`, `to`, and the increase of the score for the best DAG with the edge `reversed`, with the pair not
#'   adjacent (`absent`), and the smaller of the two (`without`); `Inf` if background knowledge rules it out. Negative values can occur
#'   only if the
#'   search of the fit was not exact, or by way of rounding. For `"dags"` a data frame of class `granary_dag_ranking` with a row per DAG: `rank`,
#'   `score`, `excess` (over the best), `edges` (how many), `lost` and `gained` (edges against the best DAG, as text). The attribute
#'   `graphs` is the
#'   list of [graphs][as_graph], `exact` says whether the list is. Fewer than `k` rows mean that there are no more DAGs.
#' @references
#' Lawler (1972). A procedure for computing the K best solutions to discrete optimization problems and its application to the shortest
#' path problem.
#' *Management Science* 18, 401--405.
#' @seealso [causal_dag()], [moral_graph()], [best_dag()], [causal_dag_bounds()], [pc()], [fci()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_dag(6, n = 300, weights = c(0.5, 1))
#' fit <- causal_dag(sim$data)
#' causal_dag_alternatives(fit)
#' best <- causal_dag_alternatives(fit, "dags", k = 4)
#' best
#' attr(best, "graphs")[[2]]
causal_dag_alternatives <- function(fit, what = c("arcs", "dags"), k = 10, ...) {
  refuse_dots(...)
  what <- check_choice(what, c("arcs", "dags"))
  if (missing(fit)) fail_missing("fit")
  if (what == "arcs") dag_alternatives(fit) else dag_ranking(fit, k)
}

dag_alternatives <- function(fit) {
  fit <- check_causal_dag(fit)
  parents <- lapply(seq_along(fit$graph$nodes), function(j) which(fit$B[, j] != 0))
  m <- core_arc_alternatives(fit$S, space_parts(fit$space), fitted_dag_options(fit), parents, core_seed(), progress_bar("alternatives"))
  data.frame(from = fit$graph$nodes[m$from], to = fit$graph$nodes[m$to], reversed = m$reversed - fit$score, absent = m$absent - fit$score,
             without = m$without - fit$score, stringsAsFactors = FALSE)
}

# The options of a search that repeats that of a fit: its penalty and its weights are numbers by now.
fitted_dag_options <- function(fit) {
  options <- dag_options(fit$settings, fit$n)
  options$weighting <- if (fit$settings$weighting == "likelihood") "likelihood" else "given"
  options$penalty_rule <- "number"
  options$penalty <- fit$penalty
  options$weights <- unname(fit$weights)
  options
}

#' How often resampled rows give each edge of a causal DAG
#'
#' @section Which method when:
#' `causal_dag_stability()` says how often an edge comes back; [causal_dag_alternatives()] which other graphs score nearly as well; [causal_dag_bounds()]
#' what wrong error variances could do.
#'
#' @param fit A fit of [causal_dag()] to data.
#' @param n_rep Number of resamples.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A data frame of the pairs of which some resample has an edge: the shares of resamples with `from -> to` (`directed`) and
#'   with an edge in either
#'   direction (`adjacent`), and whether the fit has it (`in_fit`).
#' @seealso [causal_dag()], [moral_graph()], [best_dag()], [causal_dag_bounds()], [causal_dag_alternatives()], [pc()]
#' @examples
#' set.seed(1)
#' sim <- sim_dag(6, n = 300, weights = c(0.5, 1))
#' causal_dag_stability(causal_dag(sim$data), 10)
#' @export
causal_dag_stability <- function(fit, n_rep = 100, ...) {
  refuse_dots(...)
  fit <- check_causal_dag(fit)
  replications <- check_count(n_rep, "n_rep", lower = 1)
  if (is.null(fit$x)) abort_input("`fit` must come from data: a covariance matrix cannot be resampled.", "fit")
  names <- fit$graph$nodes
  x <- fit$x
  options <- fitted_dag_options(fit)
  options$threads <- 1L
  one <- function(k) {
    rows <- sample.int(nrow(x), replace = TRUE)
    S <- core_incomplete_moments(x[rows, , drop = FALSE], "pairwise")
    if (min(diag(S)) <= 0) return(NULL)
    found <- tryCatch(core_causal_dag(S, space_parts(fit$space), options, core_seed(), NULL), granary_error = function(e) NULL)
    if (is.null(found)) return(NULL)
    parents <- found$parents
    m <- matrix(0, length(names), length(names))
    m[cbind(unlist(parents), rep(seq_along(names), lengths(parents)))] <- 1
    m
  }
  draws <- resample_lapply(seq_len(replications), one, "bootstrap")
  failed <- vapply(draws, is.null, NA)
  if (all(failed)) abort_numeric("No resample could be fitted: too few distinct rows.")
  if (any(failed)) warn_input(sprintf("%d of %d resamples could not be fitted and were left out.", sum(failed), replications), "fit")
  share <- Reduce(`+`, draws[!failed]) / sum(!failed)
  at <- which(share > 0 | fit$B != 0, arr.ind = TRUE)
  out <- data.frame(from = names[at[, 1L]], to = names[at[, 2L]], directed = share[at], adjacent = (share + t(share))[at], in_fit = (fit$B != 0)[at],
                    stringsAsFactors = FALSE)
  out <- out[order(-out$directed), ]
  rownames(out) <- NULL
  out
}
