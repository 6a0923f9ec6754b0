# How much a class of networks can express: dimension, VC dimension, shattered sets, and ranks of sign matrices.

# A DAG, or a number of nodes for the fully connected one.
dimension_graph <- function(dag, arg = "dag") {
  if (is_plain_numeric(dag) && is.null(dim(dag)) && length(dag) == 1L) {
    p <- check_count(dag, arg, upper = 500)
    pairs <- which(upper.tri(diag(p)), arr.ind = TRUE)
    return(new_graph(variable_names(NULL, p), cbind(pairs, rep(1L, nrow(pairs)), rep(2L, nrow(pairs))), "dag"))
  }
  graph <- needs_dag(check_graph(dag, arg), arg)
  if (length(graph$nodes) == 0L) abort_input(sprintf("`%s` must have at least one node.", arg), arg)
  graph
}

#' What a class of networks can express
#'
#' How many dimensions must a space have in which every two-class decision of a Bayesian network is linear, and how many rows does it take to learn one?
#' `what = "dimension"` bounds the smallest such dimension (Edim) and the Vapnik-Chervonenkis dimension from the graph alone; the others show that and why.
#'
#' @details
#' **`"dimension"`** takes `dag`, `type` (`"unconstrained"`, `"reduced"` with `groups` as in [bn_kernel()], `"logistic"`, `"logistic2"`), `groups`, `levels`
#' (number of levels: one, or one per node), and `epsilon, delta` (error and risk for the guidance on rows). With \eqn{m_i} parents of node \eqn{i} and
#' \eqn{U} the sets of variables within one family,
#' \deqn{\sum_i 2^{m_i} \le \mathrm{VCdim} \le \mathrm{Edim} \le |U| \le 2 \sum_i 2^{m_i}.}{sum_i 2^m_i <= VCdim <= Edim <= |U| <= 2 sum_i 2^m_i.}
#' Exact values are given for graphs without edges (\eqn{n + 1} for \eqn{n \ge 2}{n >= 2}), for `k` roots that are the parents of all others
#' (\eqn{2^k (n - k + 1)}{2^k (n - k + 1)}, at least two others) and for fully connected graphs (\eqn{2^n - 1}: both networks sum to one, so no rule can
#' say \eqn{-1} everywhere; this one is ours). The paper states the bipartite value for any \eqn{n > k}, which is wrong for \eqn{n = k + 1}; see
#' `errata("jmlr6-bayes-net-inner-product")`. With `groups` the bounds are \eqn{\sum d_i}{sum d_i} and \eqn{2 \sum d_i}{2 sum d_i}, \eqn{d_i} the number of
#' groups. `"logistic"` is the fully connected network with logistic tables: at least \eqn{n(n-1)/2}, VC dimension \eqn{O(n^6)}. `"logistic2"` has a node
#' that sees the sigmoids of the other \eqn{n + 1}: at least \eqn{2^{n/4}}, with an average margin of at most \eqn{2^{-n/4}}. Both are contained in the
#' fully connected network, which gives the upper bound. With more than two levels the lower bound is that of two of them. The number of rows is
#' \eqn{(d \log(1/\epsilon) + \log(1/\delta)) / \epsilon}{(d log(1/epsilon) + log(1/delta)) / epsilon} with either bound for the VC dimension \eqn{d}:
#' right up to a constant, for comparing structures.
#'
#' **`"vc"`** takes `dag` and lists every rule of a binary network with at most four nodes, by linear programs, and finds its VC dimension.
#'
#' **`"shatter"`** takes `dag`, `labels` (signs of the points, 1 and -1; by default all 1), `type`, `constants` and `all` (check all \eqn{2^m} assignments,
#' for at most 16 points). For every assignment of signs to its points there are two networks \eqn{P, Q} on the DAG with
#' \eqn{\mathrm{sign} \log P/Q}{sign log P/Q} equal to it; `type` is one of
#' * `"unconstrained"`: for every node \eqn{i} and pattern \eqn{a} of its parents the point with \eqn{a} on the parents, 1 at \eqn{i}, 0 elsewhere
#'   (Theorem 17). \eqn{p_{i,a}}{p_ia} is 1/2 where the sign is + and \eqn{2^{-1-L_i}}{2^(-1-L_i)} where it is -, \eqn{q} the other way round.
#'   `constants = "paper"` has \eqn{L_i = n 2^{i-1}}{L_i = n 2^(i-1)}, which makes the pair a decision list at all \eqn{x \ne 0}{x != 0}; `"small"` has
#'   \eqn{L_i = n + \sum_{j \in P_i} L_j}{L_i = n + sum of the parents' L_j}, enough for these points.
#' * `"logistic"`: the \eqn{n(n-1)/2} points with two ones (Theorem 22); parameters are the weights of the logistic network.
#' * `"naive"`: the unit vectors and the vector of ones (Theorem 12).
#'
#' **`"halfspace"`** takes the probabilities of a one in the two classes, `p` and `q`, and gives weights and thresholds of the half-space of naive Bayes, or
#' takes those, `slope` and `threshold` (strictly between 0 and 1), and gives probabilities: one binary variable adds
#' \eqn{x \log(p/q) + (1-x) \log\{(1-p)/(1-q)\} = w (x - b)}{x log(p/q) + (1 - x) log((1 - p)/(1 - q)) = w (x - b)} to the log-odds (Lemma 13).
#'
#' **`"sign_rank"`** takes a matrix `M` of 1 and -1 (a class of rules given as a table, rules by points), `n_starts`, `max_iter` and `max_dimension`. The
#' smallest \eqn{d} with \eqn{M_{ij} = \mathrm{sign}(u_i'v_j)}{M_ij = sign(u_i'v_j)} is at least \eqn{\sqrt{rc}/\|M\|_2}{sqrt(rows cols) / ||M||_2}
#' (Forster) and at least the number of columns (or rows) that show all patterns of signs. The upper bound comes from minimising
#' \eqn{\sum \max(0, 1 - M_{ij} u_i'v_j)^2}{sum max(0, 1 - M_ij u_i'v_j)^2} from random starts for increasing \eqn{d}: a heuristic, but what it finds is
#' checked.
#'
#' **`"parity"`** takes `a`, zeros and ones, and gives the parameters of the modified logistic autoregressive network whose log-odds has the sign
#' \eqn{(-1)^{a'x}}: the reason why no space of fewer than \eqn{2^{n/4}} dimensions holds all its rules (Theorem 25). Unit \eqn{t} of the second layer answers
#' whether \eqn{a'x \ge t}{a'x >= t}, and the last node adds them with alternating signs. The paper asks for \eqn{n} to be a multiple of 4; the construction
#' does not need it. `predict()` of it gives the log-odds.
#'
#' @section Which method when:
#' `"dimension"` before fitting a [bn_classifier()] with a dense graph; `"vc"` and `"shatter"` to check it on a tiny one, `"sign_rank"` where there is no formula.
#'
#' @param what What to bound; see Details.
#' @param ... What it needs, by name or in the order of Details. Where a `dag` is asked for: what [as_graph()] can read, or a number of nodes (fully connected).
#' @param x,object An object to print, or a parity network.
#' @param newdata Zeros and ones, one column per bit of `a`; by default all \eqn{2^k} rows.
#' @return `"dimension"`: a list of class `granary_bn_dimension` with `lower`, `upper`, `exact` (`NA` where not known), `monomials` (|U|), `parameters`, `rows`
#'   and `note`. `"vc"`: a list with `vc`, `witness` (a shattered set, one point per row) and `concepts` (a logical matrix, one row per rule, one column per
#'   point). `"shatter"`: a list of class `granary_bn_shatter`: `points`, `labels`, `log2_odds`, `verified`, `failures`, and the parameters `p` and `q` (as
#'   log2, or as weights). `"halfspace"`: a data frame with `w` and `b`, or `p` and `q`. `"sign_rank"`: a list of class `granary_sign_rank`: `lower`, `upper`,
#'   `forster`, `vc`, `vc_complete` (whether the search was exhaustive), `rank`, and the factors `left` and `right`. `"parity"`: a list of class
#'   `granary_parity_network` with `weights`, `top` and `a`.
#' @references
#' Nakamura, Schmitt, Schmitt and Simon (2005). Inner product spaces for Bayesian networks. *Journal of Machine Learning Research* 6, 1383--1403.
#'
#' Forster (2002). A linear lower bound on the unbounded error probabilistic communication complexity. *Journal of Computer and System Sciences* 65, 612--625.
#' @seealso [bn_kernel()], [bn_classifier()], [sbn_fit()], [sasb()], [svm()]
#' @export
#' @examples
#' bn_bounds("dimension", "a -> b -> c -> d; a -> c; b -> d")
#' bn_bounds("dimension", 8, type = "logistic")
#' bn_bounds("vc", "a -> b")$vc
#' bn_bounds("shatter", "a -> b -> c", labels = c(1, -1, 1, 1, -1), all = TRUE)
#' bn_bounds("halfspace", p = c(0.2, 0.7), q = c(0.5, 0.6))
#' bn_bounds("sign_rank", Reduce(kronecker, rep(list(matrix(c(1, 1, 1, -1), 2)), 3)))
#' predict(bn_bounds("parity", c(1, 0, 1, 1)), rbind(c(1, 0, 0, 0), c(1, 0, 1, 0)))
bn_bounds <- function(what = c("dimension", "vc", "shatter", "halfspace", "sign_rank", "parity"), ...) {
  what <- check_choice(what, c("dimension", "vc", "shatter", "halfspace", "sign_rank", "parity"))
  by_kind(switch(what, dimension = dimension_bounds, vc = vc_dimension, shatter = shattered_set, halfspace = half_space, sign_rank = sign_rank,
                 parity = parity_network), what, ...)
}

dimension_bounds <- function(dag, type = c("unconstrained", "reduced", "logistic", "logistic2"), groups = NULL, levels = 2, epsilon = 0.1, delta = 0.05) {
  if (missing(dag)) fail_missing("dag")
  type <- check_choice(type, c("unconstrained", "reduced", "logistic", "logistic2"))
  if (!is.null(groups) && type == "unconstrained") type <- "reduced"
  epsilon <- check_number(epsilon, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  delta <- check_number(delta, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  if (type %in% c("logistic", "logistic2")) {
    out <- logistic_dimension(dag, type)
  } else {
    out <- table_dimension(dimension_graph(dag), type, groups, levels)
  }
  bounds <- c(lower = out$lower, upper = out$upper)
  rows <- (bounds * log(1 / epsilon) + log(1 / delta)) / epsilon
  seal(structure(c(list(type = type), out, list(rows = rows, epsilon = epsilon, delta = delta)), class = "granary_bn_dimension"))
}

logistic_dimension <- function(dag, type) {
  number <- is_plain_numeric(dag) && length(dag) == 1L && is.null(dim(dag))
  n <- if (number) check_count(dag, "dag", upper = 1000) else length(dimension_graph(dag)$nodes)
  full <- 2^n - 1
  if (type == "logistic") {
    return(list(nodes = n, lower = max(1, n * (n - 1) / 2), upper = full, exact = NA_real_, monomials = 2^n, parameters = n * (n - 1) / 2,
                vc_order = "n^6",
                note = "logistic autoregressive network without bias; the graph is fully connected"))
  }
  if (n < 4L) abort_input(sprintf("`dag` must have at least 4 nodes for \"logistic2\" (n + 2 of them, n >= 2), not %d.", n), "dag")
  half <- (n - 2) %/% 2
  list(nodes = n, lower = ceiling(2^(half / 2) - 1e-9), upper = full, exact = NA_real_, monomials = 2^n, parameters = n * (n - 1) / 2,
       vc_order = "n^6",
       margin = 2^(-half / 2), note = sprintf("contains the parity functions of %d bits: average margin at most %.3g", half, 2^(-half / 2)))
}

table_dimension <- function(graph, type, groups, levels) {
  n <- length(graph$nodes)
  levels <- check_vector(levels, "levels", lower = 2, upper = 1e6)
  if (any(levels != round(levels))) abort_input("`levels` must be whole numbers.", "levels")
  if (!length(levels) %in% c(1L, n)) abort_input(sprintf("`levels` must be one number or one per node (%d), not %d.", n, length(levels)), "levels")
  levels <- rep_len(levels, n)
  parents <- bn_parents(graph)
  m <- lengths(parents)
  if (any(m > 1000L)) abort_input("`dag` must have at most 1000 parents per node: the dimension is beyond what a double holds.", "dag")
  if (type == "reduced" && is.null(groups)) abort_input("`groups` must be given for a reduced network.", "groups")
  spec <- bn_spec(graph, levels)
  monomials <- core_bn_union(spec)
  binary <- all(levels == 2)
  if (type == "reduced") {
    checked <- bn_spec(graph, levels, groups)
    core_bn_features(checked, "indicator", matrix(0L, 1L, n), 1e8)
    d <- vapply(seq_len(n), function(i) if (length(checked$groups[[i]]) == 0L) prod(levels[parents[[i]]]) else max(checked$groups[[i]]), 0)
    lower <- if (binary) sum(d) else sum(pmin(d, 1))
    return(list(nodes = n, lower = lower, upper = min(sum(d * levels), monomials), exact = NA_real_, monomials = monomials,
                parameters = sum(d * (levels - 1)),
                note = "reduced parameter collection"))
  }
  lower <- sum(2^m)
  parameters <- sum(vapply(parents, function(of) prod(levels[of]), 0) * (levels - 1))
  kind <- if (binary) dimension_kind(graph, parents, m) else list(exact = NA_real_,
                                                                  note = "more than two levels: the lower bound is that of two of them")
  upper <- monomials
  if (!is.na(kind$exact)) lower <- upper <- kind$exact
  list(nodes = n, lower = lower, upper = upper, exact = kind$exact, monomials = monomials, parameters = parameters, note = kind$note)
}

dimension_kind <- function(graph, parents, m) {
  n <- length(m)
  none <- list(exact = NA_real_, note = "")
  if (n == 1L) return(list(exact = 1, note = "one variable"))
  if (sum(m) == 0) return(list(exact = n + 1, note = "naive Bayes"))
  if (sum(m) == n * (n - 1) / 2) return(list(exact = 2^n - 1, note = "fully connected: every rule but \"no\" everywhere"))
  roots <- which(m == 0L)
  if (all(vapply(parents[-roots], function(of) identical(as.integer(of), as.integer(roots)), NA)) && n - length(roots) >= 2L) {
    k <- length(roots)
    return(list(exact = 2^k * (n - k + 1), note = sprintf("%d roots that are the parents of all others", k)))
  }
  order <- core_graph_order(graph_parts(graph))
  k <- max(m)
  chain <- all(vapply(seq_len(n), function(t) setequal(parents[[order[t]]], order[seq_len(n) >= t - k & seq_len(n) < t]), NA))
  if (chain) none$note <- sprintf("Markov chain of order %d", k)
  none
}

#' @rdname bn_bounds
#' @export
print.granary_bn_dimension <- function(x, ...) {
  cli::cat_line("Dimension of networks (", x$type, ") with ", counted(x$nodes, "node", "nodes"), if (nzchar(x$note)) paste0(" (", x$note, ")"))
  if (is.na(x$exact)) {
    cli::cat_line("  between ", format(x$lower, digits = 6L), " and ", format(x$upper, digits = 6L))
  } else {
    cli::cat_line("  exactly ", format(x$exact, digits = 6L))
  }
  cli::cat_line("  ", format(x$monomials, digits = 6L), " monomials, ", format(x$parameters, digits = 6L), " parameters",
                if (!is.null(x$vc_order)) paste0("; VC dimension of order ", x$vc_order))
  cli::cat_line("  rows for error ", x$epsilon, " at risk ", x$delta, ", up to a constant: ",
                paste(unique(format(ceiling(x$rows), digits = 4L)), collapse = " to "))
  invisible(x)
}

vc_dimension <- function(dag) {
  if (missing(dag)) fail_missing("dag")
  graph <- dimension_graph(dag)
  n <- length(graph$nodes)
  found <- core_bn_concepts(bn_spec(graph, rep(2L, n)), progress_bar("rules of a network"))
  points <- as.matrix(expand.grid(rep(list(0:1), n)))
  dimnames(points) <- list(NULL, graph$nodes)
  bit <- function(at) (found$concepts %/% 2^(at - 1)) %% 2 == 1
  concepts <- vapply(seq_len(found$points), bit, logical(length(found$concepts)))
  list(vc = found$vc, witness = points[found$witness, , drop = FALSE],
       concepts = matrix(concepts, ncol = found$points, dimnames = list(NULL, apply(points, 1L, paste, collapse = ""))))
}

shattered_set <- function(dag, labels = NULL, type = c("unconstrained", "logistic", "naive"), constants = c("small", "paper"), all = FALSE) {
  if (missing(dag)) fail_missing("dag")
  type <- check_choice(type, c("unconstrained", "logistic", "naive"))
  constants <- check_choice(constants, c("small", "paper"))
  all <- check_flag(all)
  graph <- dimension_graph(dag)
  n <- length(graph$nodes)
  m <- lengths(bn_parents(graph))
  if (type == "unconstrained" && any(m > 20L)) abort_input("`dag` must have at most 20 parents per node here: the set has 2^parents points.", "dag")
  if (n > 500L) abort_input("`dag` must have at most 500 nodes here.", "dag")
  size <- switch(type, unconstrained = sum(2^m), logistic = n * (n - 1) / 2, naive = n + 1)
  if (size == 0) abort_input("`dag` must have at least two nodes for the logistic network.", "dag")
  if (is.null(labels)) labels <- rep(1, size)
  if (is.logical(labels) && !is.object(labels) && !anyNA(labels)) labels <- ifelse(labels, 1, -1)
  labels <- check_vector(labels, "labels", length = size)
  if (any(!labels %in% c(-1, 1))) abort_input("`labels` must hold 1 and -1 only.", "labels")
  if (all && size > 16) abort_input(sprintf("`all` checks 2^m assignments for at most 16 points, but there are %d.", as.integer(size)), "all")
  spec <- bn_spec(graph, rep(2L, n))
  paper <- constants == "paper"
  result <- core_bn_shatter(spec, type, as.integer(labels), paper)
  failures <- if (all) core_bn_shatter_all(spec, type, as.integer(size), paper)
  colnames(result$points) <- graph$nodes
  seal(structure(list(type = type, points = result$points, labels = labels, log2_odds = result$odds, verified = result$wrong == 0L, failures = failures,
                 p = stats::setNames(result$p, graph$nodes), q = stats::setNames(result$q, graph$nodes), constants = result$constants),
            class = "granary_bn_shatter"))
}

#' @rdname bn_bounds
#' @export
print.granary_bn_shatter <- function(x, ...) {
  cli::cat_line("Shattered set (", x$type, "): ", counted(nrow(x$points), "point", "points"), " in ",
                counted(ncol(x$points), "variable", "variables"))
  cli::cat_line("  these signs: ", if (x$verified) "verified" else "NOT verified", ", smallest |log2 odds| ",
                format(min(abs(x$log2_odds)), digits = 4L))
  if (!is.null(x$failures)) cli::cat_line("  all ", 2^nrow(x$points), " assignments: ",
                                          if (x$failures == 0) "verified" else paste(x$failures, "failed"))
  invisible(x)
}

# One binary variable adds x log(p/q) + (1 - x) log((1 - p)/(1 - q)) = w (x - b) to the log-odds, 0 < b < 1 (Lemma 13).
half_space <- function(p = NULL, q = NULL, slope = NULL, threshold = NULL) {
  forward <- is.null(slope) && is.null(threshold)
  if (forward == (is.null(p) && is.null(q))) abort_input("Give either `p` and `q`, or `slope` and `threshold`.", if (forward) "p" else "slope")
  inside <- function(v, arg, length = NULL) check_vector(v, arg, length = length, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  if (forward) {
    p <- inside(p, "p")
    out <- core_half_space(as.double(p), as.double(inside(q, "q", length(p))), TRUE)
    return(data.frame(w = out[, 1L], b = out[, 2L]))
  }
  slope <- check_vector(slope, "slope", lower = -700, upper = 700)
  out <- core_half_space(as.double(slope), as.double(inside(threshold, "threshold", length(slope))), FALSE)
  data.frame(p = out[, 1L], q = out[, 2L])
}

sign_rank <- function(M, n_starts = 5, max_iter = 300, max_dimension = NULL) {
  M <- check_matrix(M)
  if (max(dim(M)) > 2000) abort_input("`M` must have at most 2000 rows and columns.", "M")
  n_starts <- check_count(n_starts, lower = 0, upper = 1000)
  max_iter <- check_count(max_iter, upper = 1e6)
  max_dimension <- check_count(max_dimension, allow_null = TRUE)
  out <- core_sign_rank(unname(M), list(max_dimension = max_dimension, restarts = n_starts, max_iter = max_iter), core_seed(), progress_bar("sign rank"))
  seal(structure(c(list(lower = max(1, out$vc, ceiling(out$forster - 1e-9))), out), class = "granary_sign_rank"))
}

#' @rdname bn_bounds
#' @export
print.granary_sign_rank <- function(x, ...) {
  cli::cat_line("Sign rank of a ", nrow(x$left), " x ", nrow(x$right), " matrix: between ", x$lower, " and ", x$upper)
  cli::cat_line("  Forster ", format(x$forster, digits = 4L), ", shattered ", x$vc, if (!x$vc_complete) " (search cut short)", ", rank ", x$rank)
  invisible(x)
}

parity_network <- function(a) {
  a <- check_vector(a, lower = 0, upper = 1)
  if (any(!a %in% 0:1)) abort_input("`a` must hold zeros and ones only.", "a")
  if (length(a) > 500L) abort_input("`a` must have at most 500 bits.", "a")
  seal(structure(c(core_parity_network(as.integer(a)), list(a = unname(a))), class = "granary_parity_network"))
}

#' @rdname bn_bounds
#' @export
predict.granary_parity_network <- function(object, newdata = NULL, ...) {
  refuse_dots(...)
  k <- length(object$a)
  if (is.null(newdata)) {
    if (k > 16L) abort_input("`newdata` must be given for more than 16 bits.", "newdata")
    newdata <- as.matrix(expand.grid(rep(list(0:1), k)))
  }
  x <- check_matrix(newdata, "newdata")
  if (ncol(x) != k) abort_input(sprintf("`newdata` must have %d columns, one per bit of `a`, not %d.", k, ncol(x)), "newdata")
  if (any(!x %in% 0:1)) abort_input("`newdata` must hold zeros and ones only.", "newdata")
  full <- cbind(1, unname(x), matrix(1, nrow(x), k + 1L))
  density <- function(top) core_modified_log_density(list(weights = object$weights, top = top), full)
  drop(density(object$top) - density(-object$top))
}

#' @rdname bn_bounds
#' @export
print.granary_parity_network <- function(x, ...) {
  cli::cat_line("Logistic network with ", length(x$top) + 1L, " nodes for the parity of bits ", paste(which(x$a == 1), collapse = ", "), " of ",
                length(x$a))
  invisible(x)
}
