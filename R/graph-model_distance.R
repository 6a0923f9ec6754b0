# Distances between fitted models, and what Lipschitz constants say about them.

#' Models to compare
#'
#' Wraps parameters as a model that [model_distance()] and [model_bounds()] understand: a Gaussian, an Ising model, or a discrete Bayesian
#' network. Fits of [ggm_lasso()] and its relatives, [ising_hub()] and [bn_classifier()] tables need no wrapping or little.
#'
#' @details
#' The Ising model is \eqn{p(x) \propto \exp(\sum_j \theta_{jj} x_j + \sum_{j<k} \theta_{jk} x_j x_k)}{p(x) ~ exp(sum_j t_jj x_j + sum_(j<k) t_jk
#' x_j x_k)} with \eqn{x_j} in
#' \eqn{\{0, 1\}}{\{0, 1\}} (`coding = "01"`) or \eqn{\{-1, 1\}}{\{-1, 1\}} (`"spin"`).
#'
#' @section Which method when:
#' `model_given()` for parameters from elsewhere; fits of granary go into [model_distance()] as they are.
#'
#' @param type Kind of the model.
#' @param ... What the kind needs, by name or in this order: `"gaussian"` takes `mean, covariance, precision`; `"ising"` takes `theta, coding`; `"bn"` takes
#'   `dag, cpts, data, pseudo_count`.
#' @section Arguments of the kinds:
#' * `mean`: mean; by default zero.
#' * `covariance`, `precision`: one of them, positive definite.
#' * `theta`: a symmetric matrix, fields on the diagonal, interactions off it.
#' * `coding`: values of the variables, `"01"` or `"spin"`; see Details.
#' * `dag`: a DAG, as for [bn_kernel()].
#' * `cpts`: a list of tables named by node: one row per pattern of the parents (first parent fastest; parents in the order of the nodes), one column per
#'   level, rows summing to one. As `fit$cpts[[class]]` of a [bn_classifier()].
#' * `data`: instead of `cpts`, discrete data to count.
#' * `pseudo_count`: Dirichlet smoothing of the counts.
#' @param object,nsim,seed A model, the number of rows, and a seed as in [stats::simulate()].
#' @param x A model to print.
#' @return A list of class `granary_model`.
#' @seealso [model_distance()], [model_bounds()], [ggm_windows()], [ggm_lasso()]
#' @export
#' @examples
#' model_given("gaussian", precision = diag(2))
#' m <- model_given("ising", matrix(c(0.1, 0.5, 0.5, -0.2), 2))
#' m
#' model_given("bn", "a -> b", list(a = t(c(0.3, 0.7)), b = rbind(c(0.9, 0.1), c(0.2, 0.8))))
#' simulate(m, 3)
model_given <- function(type = c("gaussian", "ising", "bn"), ...) {
  type <- check_choice(type, c("gaussian", "ising", "bn"))
  by_kind(switch(type, gaussian = model_gaussian, ising = model_ising, bn = model_bn), type, ...)
}

new_model <- function(kind, variables, ...) seal(structure(c(list(kind = kind, variables = variables), list(...)),
                                                      class = c(paste0("granary_model_", kind), "granary_model")))

# What crosses of a model.
model_parts <- function(m) {
  switch(m$kind,
    gaussian = unclass(m)[c("kind", "mean", "matrix", "is_precision")],
    ising = unclass(m)[c("kind", "theta")],
    bn = list(kind = m$kind, graph = list(nodes = m$nodes, edges = m$edges), levels = m$levels, tables = unname(m$tables))
  )
}

model_gaussian <- function(mean = NULL, covariance = NULL, precision = NULL) {
  if (is.null(covariance) == is.null(precision)) {
    abort_input(paste("Give either `covariance` or `precision`,", if (is.null(covariance)) "but neither came." else "not both."), "covariance")
  }
  is_precision <- is.null(covariance)
  arg <- if (is_precision) "precision" else "covariance"
  m <- check_symmetric(if (is_precision) precision else covariance, arg)
  check_names_unique(colnames(m), arg)
  variables <- variable_names(colnames(m), ncol(m))
  mean <- if (is.null(mean)) rep(0, ncol(m)) else check_vector(mean, "mean", length = ncol(m))
  model <- new_model("gaussian", variables, mean = unname(mean), matrix = unname(m), is_precision = is_precision)
  core_gaussian_exact(model_parts(model), model_parts(model))  # stops with the eigenvalue where the matrix is not positive definite
  model
}

model_ising <- function(theta, coding = c("01", "spin")) {
  theta <- check_symmetric(theta)
  check_names_unique(colnames(theta), "theta")
  coding <- check_choice(coding, c("01", "spin"))
  if (max(abs(theta)) > 1e6) abort_input(sprintf("`theta` must be at most 1e6 in size, but it has %g.", max(abs(theta))), "theta")
  variables <- variable_names(colnames(theta), ncol(theta))
  own <- unname(theta)
  if (coding == "spin") {  # s = 2x - 1
    pairs <- own - diag(diag(own), nrow(own))
    theta <- 4 * pairs + diag(2 * diag(own) - 2 * rowSums(pairs), nrow(own))
  }
  new_model("ising", variables, theta = unname(theta), own = own, coding = coding)
}

model_bn <- function(dag, cpts = NULL, data = NULL, pseudo_count = 1) {
  if (missing(dag)) fail_missing("dag")
  if (is.null(cpts) == is.null(data)) {
    abort_input(paste("Give either `cpts` or `data`,", if (is.null(cpts)) "but neither came." else "not both."), "cpts")
  }
  pseudo_count <- check_number(pseudo_count, lower = 0, upper = 1e12)
  if (!is.null(data)) {
    data <- bn_codes(data, "data")
    graph <- bn_dag(dag, names(data$levels))
    tables <- core_bn_tables(bn_spec(graph, lengths(data$levels)), data$codes, pseudo_count)
    labels <- data$levels
  } else {
    graph <- needs_dag(check_graph(dag))
    tables <- check_cpts(cpts, graph)
    labels <- lapply(tables, function(t) if (is.null(colnames(t))) as.character(seq_len(ncol(t)) - 1L) else colnames(t))
  }
  labels <- stats::setNames(labels, graph$nodes)
  new_model("bn", graph$nodes, dag = graph, nodes = length(graph$nodes), edges = graph$edges, levels = unname(lengths(labels)), labels = labels,
            tables = lapply(tables, unname))
}

check_cpts <- function(cpts, graph) {
  if (!is.list(cpts) || is.object(cpts) || length(cpts) == 0L) fail_input("cpts", "a list of tables, one per node", describe(cpts))
  if (is.null(names(cpts)) && length(cpts) == length(graph$nodes)) names(cpts) <- graph$nodes
  absent <- setdiff(graph$nodes, names(cpts))
  if (length(absent) > 0L) abort_input(sprintf("`cpts` must have a table for every node, but there is none for \"%s\".", absent[1L]), "cpts")
  extra <- setdiff(names(cpts), graph$nodes)
  if (length(extra) > 0L) abort_input(sprintf("`cpts` has a table for \"%s\", which is no node of the graph.", extra[1L]), "cpts")
  tables <- lapply(graph$nodes, function(node) {
    t <- cpts[[node]]
    if (is.numeric(t) && is.null(dim(t))) t <- matrix(t, 1L, dimnames = list(NULL, names(t)))
    t <- check_matrix(t, paste0("cpts$", node), min_cols = 2L)
    if (any(t < 0) || any(abs(rowSums(t) - 1) > 1e-6)) {
      abort_input(sprintf("Every row of `cpts$%s` must hold probabilities that sum to one.", node), "cpts")
    }
    t / rowSums(t)
  })
  sizes <- vapply(tables, ncol, 0L)
  parents <- bn_parents(graph)
  for (i in seq_along(tables)) {
    need <- prod(sizes[parents[[i]]])
    if (nrow(tables[[i]]) != need) {
      abort_input(sprintf("`cpts$%s` must have %g rows, one per pattern of its parents, but it has %d.", graph$nodes[i], need, nrow(tables[[i]])),
                  "cpts")
    }
  }
  tables
}

#' @rdname model_given
#' @export
print.granary_model <- function(x, ...) {
  kind <- c(gaussian = "Gaussian", ising = "Ising", bn = "Discrete Bayesian network")[[x$kind]]
  cli::cat_line(kind, " model of ", counted(length(x$variables), "variable", "variables"), ": ", paste(utils::head(x$variables, 8L), collapse = ", "),
                if (length(x$variables) > 8L) ", ...")
  invisible(x)
}

#' @rdname model_given
#' @export
simulate.granary_model <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim, upper = 1e7)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  if (object$kind == "bn") {
    codes <- core_network_sample(model_parts(object), nsim, core_seed(), progress_bar("network"))
    out <- lapply(seq_along(object$labels), function(j) factor(object$labels[[j]][codes[, j] + 1L], object$labels[[j]]))
    return(as.data.frame(stats::setNames(out, object$variables)))
  }
  if (object$kind == "ising") {
    how <- list(n = nsim, burn_in = 1000L, thin = 10L, exact = ncol(object$theta) <= 20L)
    out <- core_ising_sample(object$theta, how, core_seed(), progress_bar("Ising model"))
    if (object$coding == "spin") out <- 2 * out - 1
  } else {
    z <- if (object$is_precision) {
      core_ggm_sample(as_sparse(object$matrix), nsim, core_seed())
    } else {
      core_covariance_sample(object$matrix, nsim, core_seed())
    }
    out <- sweep(z, 2L, object$mean, "+")
  }
  colnames(out) <- object$variables
  out
}

as_model <- function(m, arg) {
  check_fit(m)
  if (inherits(m, "granary_model")) return(m)
  if (inherits(m, "granary_ising_hub")) return(model_ising(as.matrix(m$theta)))
  if (inherits(m, "granary_ising")) return(model_ising(m$coupling + diag(m$b, length(m$b)), "spin"))
  if (inherits(m, "granary_ggm") && !is.list(m$precision)) return(model_gaussian(m$mean, precision = as.matrix(m$precision)))
  if (inherits(m, "granary_ggm")) abort_input(sprintf("`%s` must be one fit, not a path: pick one with ggm_at() or ggm_select().", arg), arg)
  fail_input(arg, "a model: model_given(), or a fit of a Gaussian or Ising graph", describe(m))
}

# Both of one kind, over the same variables; those of the second in the order of the first.
model_pair <- function(m1, m2) {
  if (missing(m1)) fail_missing("m1")
  if (missing(m2)) fail_missing("m2")
  m1 <- as_model(m1, "m1")
  m2 <- as_model(m2, "m2")
  if (m1$kind != m2$kind) abort_input(sprintf("`m1` and `m2` must be models of one kind, but they are \"%s\" and \"%s\".", m1$kind, m2$kind), "m2")
  only <- list(setdiff(m1$variables, m2$variables), setdiff(m2$variables, m1$variables))
  if (length(unlist(only)) > 0L) {
    abort_input(paste0("`m1` and `m2` must have the same variables, but ", paste(c(
      if (length(only[[1L]]) > 0L) paste0(paste(utils::head(only[[1L]], 5L), collapse = ", "), " occur only in `m1`"),
      if (length(only[[2L]]) > 0L) paste0(paste(utils::head(only[[2L]], 5L), collapse = ", "), " only in `m2`")), collapse = " and "), "."), "m2")
  }
  list(m1, reorder_model(m2, m1))
}

reorder_model <- function(m, like) {
  at <- match(like$variables, m$variables)
  if (m$kind == "bn") {
    known <- mapply(setequal, like$labels, m$labels[at])
    if (!all(known)) abort_input(sprintf("Variable \"%s\" must have the same levels in both models.", like$variables[!known][1L]), "m2")
  }
  if (identical(at, seq_along(at)) && (m$kind != "bn" || identical(unname(m$labels), unname(like$labels)))) return(m)
  m$variables <- like$variables
  if (m$kind == "gaussian") {
    m$mean <- m$mean[at]
    m$matrix <- m$matrix[at, at]
  } else if (m$kind == "ising") {
    m$theta <- m$theta[at, at]
    m$own <- m$own[at, at]
  } else {
    m <- reorder_network(m, like, at)
  }
  m
}

# Tables index patterns of the parents in the order of the nodes, so that their rows move too.
reorder_network <- function(m, like, at) {
  old <- bn_parents(m$dag)
  place <- match(seq_along(at), at)
  edges <- m$edges
  edges[, 1:2] <- place[edges[, 1:2]]
  graph <- new_graph(like$variables, edges, "dag")
  new <- bn_parents(graph)
  tables <- lapply(seq_along(at), function(i) {
    from <- at[i]
    levels_old <- m$labels[old[[from]]]
    grid <- expand.grid(lapply(like$labels[new[[i]]], identity), stringsAsFactors = FALSE)
    columns <- match(like$labels[[i]], m$labels[[from]])
    if (length(new[[i]]) == 0L) return(m$tables[[from]][, columns, drop = FALSE])
    names(grid) <- like$variables[new[[i]]]
    row <- rep(1, nrow(grid))
    stride <- 1
    for (k in seq_along(levels_old)) {
      name <- m$dag$nodes[old[[from]][k]]
      row <- row + stride * (match(grid[[name]], levels_old[[k]]) - 1)
      stride <- stride * length(levels_old[[k]])
    }
    m$tables[[from]][row, columns, drop = FALSE]
  })
  m$dag <- graph
  m$edges <- graph$edges
  m$labels <- like$labels
  m$levels <- like$levels
  m$tables <- tables
  m
}

#' Distance between two models
#'
#' Kullback-Leibler divergence and its relatives between two Gaussian, two Ising or two discrete Bayesian network models, exact where that is
#' possible.
#'
#' @details
#' | type | definition |
#' | --- | --- |
#' | `kl` | \eqn{E_1 \log(p_1/p_2)}{E_1 log(p1 / p2)} |
#' | `symkl` | \eqn{KL(1,2) + KL(2,1)} |
#' | `js` | Jensen-Shannon: mean divergence from \eqn{(p_1+p_2)/2}{(p1 + p2) / 2}, at most log 2 |
#' | `hellinger` | \eqn{\sqrt{1 - \rho}}{sqrt(1 - rho)}, \eqn{\rho = \int \sqrt{p_1 p_2}}{rho = int sqrt(p1 p2)} |
#' | `bhattacharyya` | \eqn{-\log\rho}{-log rho} |
#' | `bayes_error` | \eqn{\frac12 \int \min(p_1, p_2)}{1/2 int min(p1, p2)}: error of the best rule for two equally likely classes |
#'
#' Gaussians: closed forms but for `js` and `bayes_error`, which are simulated. Ising models are enumerated (at most 22 variables). Bayesian
#' networks: `kl` and `symkl`
#' by variable elimination in one network at a time, whatever the two DAGs; the rest by enumeration, or simulation with `exact = FALSE`. Zeros in
#' the tables of the
#' second network give `Inf`. The bracket of the Bayes error is \eqn{(1-\sqrt{1-\rho^2})/2 \le \mathrm{BE} \le \rho/2}{(1 - sqrt(1 - rho^2)) / 2
#' <= BE <= rho / 2}.
#'
#' @section Which method when: `kl` if one model is the truth, `js` or `hellinger` for a symmetric distance, `bayes_error` for how well
#' data tell the
#' two apart. [model_bounds()] bounds the same
#' quantities by norms of the difference of the parameters.
#'
#' @param m1,m2 Models over the same variables (matched by name): see [model_given()], or fits of [ggm_lasso()], [ising_hub()] and the like.
#' @param type What to compute; see Details.
#' @param exact `FALSE` to simulate even where a closed form exists.
#' @param n_draws Draws from each model.
#' @param x An object to print.
#' @param ... Not used.
#' @return A list of class `granary_model_distance`: `value`, `se` (zero where exact), `exact`, `type`, for `bayes_error` also `bracket`.
#' @references
#' Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, chapter 6; and Lipschitz
#' parametrization of
#' probabilistic graphical models, *UAI* 2011.
#' @seealso [model_bounds()], [model_given()], [ggm_windows()], [ggm_lasso()]
#' @export
#' @examples
#' a <- model_given("gaussian", precision = diag(3))
#' b <- model_given("gaussian", precision = diag(3) + 0.3)
#' model_distance(a, b)
#' model_distance(a, b, "bayes_error", n_draws = 1e4)
model_distance <- function(m1, m2, type = c("kl", "symkl", "js", "hellinger", "bhattacharyya", "bayes_error"), exact = TRUE, n_draws = 1e5, ...) {
  refuse_dots(...)
  pair <- model_pair(m1, m2)
  type <- check_choice(type, c("kl", "symkl", "js", "hellinger", "bhattacharyya", "bayes_error"))
  exact <- check_flag(exact)
  nsim <- check_count(n_draws, "n_draws", lower = 2, upper = 1e7)
  kind <- pair[[1L]]$kind
  if (kind == "ising" && !exact) abort_input("An Ising model has no density without enumeration, so exact = FALSE is not possible.", "exact")
  result <- core_model_distance(model_parts(pair[[1L]]), model_parts(pair[[2L]]), list(type = type, exact = exact, n_sim = nsim), core_seed(),
                                progress_bar("distance"))
  bracket <- if (length(result$bracket) > 0L) stats::setNames(result$bracket, c("lower", "upper"))
  seal(structure(list(value = result$value, se = result$se, exact = result$exact, type = type, bracket = bracket, nsim = if (!result$exact) nsim),
            class = "granary_model_distance"))
}

bayes_bracket <- function(bhattacharyya) {
  rho <- exp(-bhattacharyya)
  c(lower = rho^2 / (2 * (1 + sqrt(max(0, 1 - rho^2)))), upper = rho / 2)  # (1 - sqrt(1 - rho^2)) / 2 without cancellation
}

#' @rdname model_distance
#' @export
print.granary_model_distance <- function(x, ...) {
  names <- c(kl = "Kullback-Leibler divergence", symkl = "Symmetric Kullback-Leibler divergence", js = "Jensen-Shannon divergence",
             hellinger = "Hellinger distance", bhattacharyya = "Bhattacharyya distance", bayes_error = "Bayes error")
  certainty <- if (x$exact) "exact" else paste("standard error", format(x$se, digits = 2L))
  cli::cat_line(names[[x$type]], ": ", format(x$value, digits = 6L), " (", certainty, ")")
  if (!is.null(x$bracket)) cli::cat_line("  between ", format(x$bracket[[1L]], digits = 4L), " and ", format(x$bracket[[2L]], digits = 4L),
                                         " by the Bhattacharyya coefficient")
  invisible(x)
}
