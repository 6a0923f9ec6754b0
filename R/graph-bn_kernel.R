# Bayesian networks as inner products: discrete data and a DAG in, features or kernels out.

# Discrete data as codes 0, 1, ...: list(codes, levels). Factors keep their levels, logicals are FALSE < TRUE, numbers must be 0 and 1.
bn_codes <- function(x, arg = "x", levels = NULL) {
  if (missing(x)) fail_missing(arg)
  if (inherits(x, "Matrix")) x <- check_matrix(x, arg)
  if (is.matrix(x) && (is.character(x) || is.logical(x) || is.numeric(x)) && !is.object(x)) {
    x <- as.data.frame(x, stringsAsFactors = FALSE)  # columns without names become V1, V2, ...
  }
  if (!is.data.frame(x)) fail_input(arg, "discrete data: a data frame of factors, logicals or zeros and ones, or a matrix of zeros and ones",
                                    describe(x))
  if (length(x) == 0L) abort_input(sprintf("`%s` must have at least 1 column, but it has none.", arg), arg)
  if (nrow(x) == 0L) abort_input(sprintf("`%s` must have at least 1 row, but it has none.", arg), arg)
  check_names_unique(names(x), arg)
  if (!is.null(levels)) x <- bn_select(x, names(levels), arg)
  codes <- matrix(0L, nrow(x), length(x), dimnames = list(NULL, names(x)))
  found <- vector("list", length(x))
  for (j in seq_along(x)) {
    column <- bn_column(x[[j]], names(x)[j], arg, levels[[names(x)[j]]])
    codes[, j] <- column$codes
    found[[j]] <- column$levels
  }
  list(codes = codes, levels = stats::setNames(found, names(x)))
}

# The columns of new data that a model needs, by name; by position where the data have as many and other names are absent.
bn_select <- function(x, names, arg) {
  missing <- setdiff(names, names(x))
  if (length(missing) == 0L) return(x[names])
  if (length(x) == length(names) && identical(names(x), variable_names(NULL, length(x)))) return(stats::setNames(x, names))
  abort_input(sprintf("`%s` lacks the variable%s %s.", arg, if (length(missing) > 1L) "s" else "", paste(utils::head(missing, 5L), collapse = ", ")),
              arg)
}

bn_column <- function(column, name, arg, wanted) {
  binary <- c("0", "1")
  if (is_plain_numeric(column) && is.null(dim(column)) && (is.null(wanted) || identical(wanted, binary)) && isTRUE(all(column == 0 | column == 1))) {
    return(list(codes = as.integer(column), levels = binary))  # the common case, before any sentence is put together
  }
  label <- paste0("Column \"", name, "\" of `", arg, "`")
  usable <- is.null(dim(column)) && (is.factor(column) || (is.atomic(column) && !is.object(column) &&
                                                           (is.logical(column) || is.numeric(column) || is.character(column))))
  if (!usable) abort_input(sprintf("%s must be a factor, logical or zeros and ones, but it is %s.", label, describe(column)), arg)
  if (anyNA(column)) {
    abort_input(sprintf("%s must have no missing values, but row %d is NA.\nRemove the rows with na.omit() or impute before calling.", label,
                        which(is.na(column))[1L]), arg)
  }
  if (is.numeric(column) && !all(column == 0 | column == 1)) {
    abort_input(sprintf("%s must hold zeros and ones, but row %d is %g.\nTurn a variable of several values into a factor().", label,
                        which(!column %in% 0:1)[1L], column[!column %in% 0:1][1L]), arg)
  }
  if (is.factor(column) && identical(wanted, levels(column))) return(list(codes = as.integer(column) - 1L, levels = wanted))
  own <- if (is.factor(column)) levels(column) else if (is.logical(column)) c("FALSE", "TRUE") else if (is.numeric(column)) c("0", "1")
  if (is.character(column)) own <- sort(unique(column), method = "radix")
  text <- as.character(column)
  if (is.logical(column) && identical(wanted, c("0", "1"))) text <- ifelse(column, "1", "0")
  if (is.numeric(column) && identical(wanted, c("FALSE", "TRUE"))) text <- ifelse(column == 1, "TRUE", "FALSE")
  if (is.null(wanted)) {
    if (length(own) < 2L) abort_input(sprintf("%s must have at least two levels, but it has only \"%s\": drop it.", label, own), arg)
    unused <- setdiff(own, text)
    if (is.factor(column) && length(unused) > 0L) {
      warn_input(sprintf("%s has levels that do not occur (%s). They keep their place; droplevels() removes them.", label,
                         paste(utils::head(unused, 3L), collapse = ", ")), arg)
    }
    wanted <- own
  }
  codes <- match(text, wanted) - 1L
  if (anyNA(codes)) {
    abort_input(sprintf("%s has the value \"%s\", which the model does not know (it knows %s).", label, text[is.na(codes)][1L],
                        paste(wanted, collapse = ", ")), arg)
  }
  list(codes = codes, levels = wanted)
}

# A DAG over exactly these variables, in their order.
bn_dag <- function(dag, variables, arg = "dag") {
  graph <- needs_dag(check_graph(dag, arg), arg)
  if (length(graph$nodes) == length(variables) && identical(graph$nodes, variable_names(NULL, length(variables)))) graph$nodes <- variables
  extra <- setdiff(graph$nodes, variables)
  absent <- setdiff(variables, graph$nodes)
  if (length(extra) > 0L || length(absent) > 0L) {
    abort_input(paste0(
      "`", arg, "` and the data must have the same variables, but ",
      paste(c(if (length(extra) > 0L) paste0("\"", extra[1L], "\" is only in the graph"),
              if (length(absent) > 0L) paste0("\"", absent[1L], "\" is only in the data")), collapse = " and "),
      ".\nas_graph(..., nodes = ) adds nodes without edges."
    ), arg)
  }
  at <- match(graph$nodes, variables)
  edges <- graph$edges
  edges[, 1:2] <- at[edges[, 1:2]]
  new_graph(variables, edges, "dag")
}

# What the core wants to know about a network. `groups` is checked in C++.
bn_spec <- function(graph, levels, groups = NULL) {
  if (!is.null(groups)) groups <- bn_groups(groups, graph$nodes)
  list(nodes = length(graph$nodes), edges = graph$edges, levels = as.integer(levels), groups = groups)
}

bn_groups <- function(groups, nodes) {
  if (!is.list(groups) || is.object(groups) || length(groups) == 0L) {
    fail_input("groups", "a list with the group of every pattern of the parents, one element per node (or NULL)", describe(groups))
  }
  if (!is.null(names(groups))) {
    unknown <- setdiff(names(groups), nodes)
    if (length(unknown) > 0L) abort_input(sprintf("`groups` must be named by nodes, but there is no node \"%s\".", unknown[1L]), "groups")
    groups <- stats::setNames(lapply(nodes, function(node) groups[[node]]), nodes)
  } else if (length(groups) != length(nodes)) {
    abort_input(sprintf("`groups` must have one element per node (%d), or be named by nodes, but it has %d.", length(nodes), length(groups)),
                "groups")
  }
  lapply(groups, function(one) {
    if (length(one) == 0L) return(integer())  # each pattern its own
    one <- check_vector(one, "groups", lower = 1, upper = 1e6)
    if (any(one != round(one))) abort_input("`groups` must hold whole numbers from 1 on.", "groups")
    as.integer(one)
  })
}

bn_parents <- function(graph) {
  e <- graph$edges
  if (nrow(e) == 0L) return(rep(list(integer()), length(graph$nodes)))
  down <- e[, 4L] == 2L
  up <- e[, 3L] == 2L
  child <- factor(c(e[down, 2L], e[up, 1L]), seq_along(graph$nodes))
  lapply(unname(split(c(e[down, 1L], e[up, 2L]), child)), sort.int)
}

# Names like "(1)", "a", "a=red:b": a binary variable needs no value.
bn_labels <- function(columns, levels, basis, graph) {
  item <- function(node, value) {
    name <- names(levels)[node]
    ifelse(lengths(levels[node]) == 2L, name, paste0(name, "=", mapply(function(l, v) l[v + 1L], levels[node], value)))
  }
  if (basis == "monomial") {
    if (all(lengths(levels) == 2L)) {
      names <- names(levels)
      return(vapply(columns$nodes, function(at) if (length(at) == 0L) "(1)" else paste(names[at], collapse = ":"), ""))
    }
    return(vapply(seq_along(columns$nodes), function(c) {
      if (length(columns$nodes[[c]]) == 0L) "(1)" else paste(item(columns$nodes[[c]], columns$values[[c]]), collapse = ":")
    }, ""))
  }
  vapply(seq_along(columns$nodes), function(c) {
    node <- columns$nodes[[c]]
    inside <- paste0(names(levels)[node], "|", columns$group[c])
    if (columns$values[[c]] == 0L) paste0("(", inside, ")") else paste0(item(node, columns$values[[c]]), "|", columns$group[c])
  }, "")
}

bn_limit <- 1e6  # columns of a feature map

#' Kernels, features and weights of a Bayesian network
#'
#' The log-odds of any two Bayesian networks on one DAG is a linear function of features that depend on the DAG only. `bn_kernel()` gives their inner
#' products without expanding them, the features themselves as a sparse matrix, or the weights of two given networks, so that any linear classifier or
#' kernel method can work with the interactions that a graph allows.
#'
#' @details
#' With \eqn{P_i} the parents of node \eqn{i} and \eqn{M_{i,a}(x)}{M_ia(x)} the indicator that they show the pattern \eqn{a},
#' \deqn{\log \frac{P(x)}{Q(x)} = \sum_i \sum_a M_{i,a}(x) \log\frac{P(x_i | a)}{Q(x_i | a)}.}{log P(x)/Q(x) = sum_i sum_a M_ia(x) log(P(x_i | a)
#' / Q(x_i | a)).}
#' * `"monomial"`: \eqn{\prod_{j \in S} x_j}{prod_(j in S) x_j} for all \eqn{S} in the union \eqn{U} of the power sets of the families
#'   \eqn{P_i \cup \{i\}}{P_i and i}; linearly independent, the constant first. The kernel counts the sets of \eqn{U} within
#'   \eqn{\{j: x_j = y_j = 1\}}{\{j: x_j = y_j = 1\}}, by inclusion and exclusion over intersections of families (cliques less
#'   separators where the families form a junction tree).
#' * `"indicator"`: \eqn{M_{i,a}}{M_ia} and \eqn{x_i M_{i,a}}{x_i M_ia}, \eqn{2 \sum_i 2^{|P_i|}}{2 sum_i 2^|P_i|} columns that span the same space;
#'   kernel \eqn{\sum_i 1[x_{P_i} = y_{P_i}] (1 + x_i y_i)}{sum_i 1[x_Pi = y_Pi] (1 + x_i y_i)}. With `groups`, patterns in one group share a column.
#' * `"symmetric"` (kernel only): \eqn{\sum_i 1[x_{P_i} = y_{P_i}] 1[x_i = y_i]}{sum_i 1[x_Pi = y_Pi] 1[x_i = y_i]}, which does not depend on
#'   which level is called 1.
#'
#' The paper is about binary variables. Factors with more levels work alike: the first level is the reference, and \eqn{x_j} is replaced by the
#' indicators of the other levels. With `type = "weights"` and two networks given by their tables, features times weights are \eqn{\log P/Q}{log P/Q}.
#'
#' @section Which method when:
#' [bn_classifier()] does all of this for two classes. Use features to bring the interactions of a graph into a regression of your own, and the kernel where
#' families are too large to expand (more than about 20 parents).
#'
#' @param x Discrete data: a data frame of factors, logicals, text or zeros and ones, or a matrix of zeros and ones.
#' @param y More data of the same kind, or `NULL` for `x` itself; for the kernel.
#' @param dag The graph: what [as_graph()] can read, with the columns of `x` as nodes.
#' @param basis The features; see Details. By default `"indicator"` for the kernel, `"monomial"` otherwise.
#' @param groups Reduced parameter collections: a list, one element per node (or named by nodes), with the group (1, 2, ...) of each pattern of the
#'   parents, first parent fastest; `NULL` elements for a node without groups.
#' @param type What to return.
#' @param cpts For `"weights"`: two lists of tables, `list(P, Q)`, each named by node, in the form of `cpts` of [model_given()] (a row per pattern of the
#'   parents, a column per level, levels in the order of the data).
#' @param threads Threads; default `getOption("granary.threads")`.
#' @return `"kernel"`: a matrix. `"features"`: a sparse `dgCMatrix`, one row per observation, with the attribute `sets`, a list of the variables of every
#'   column. `"weights"`: a vector, named as the columns of the features.
#' @references
#' Nakamura, Schmitt, Schmitt and Simon (2005). Inner product spaces for Bayesian networks. *Journal of Machine Learning Research* 6, 1383--1403.
#' @seealso [bn_classifier()], [bn_bounds()], [sbn_fit()], [sasb()], [svm()]
#' @seealso `errata("jmlr6-bayes-net-inner-product")`, `reproduce("jmlr6-bayes-net-inner-product")`
#' @export
#' @examples
#' x <- expand.grid(a = 0:1, b = 0:1, c = 0:1)
#' bn_kernel(x, dag = "a -> b -> c", basis = "monomial")
#' features <- bn_kernel(x, dag = "a -> b -> c", type = "features")
#' features
#' p <- list(a = c(0.3, 0.7), b = rbind(c(0.9, 0.1), c(0.2, 0.8)), c = rbind(c(0.5, 0.5), c(0.1, 0.9)))
#' q <- list(a = c(0.6, 0.4), b = rbind(c(0.5, 0.5), c(0.5, 0.5)), c = rbind(c(0.4, 0.6), c(0.7, 0.3)))
#' w <- bn_kernel(x, dag = "a -> b -> c", type = "weights", cpts = list(p, q))
#' drop(as.matrix(features %*% w))  # log P/Q
bn_kernel <- function(x, y = NULL, dag, basis = NULL, groups = NULL, type = c("kernel", "features", "weights"), cpts = NULL, threads = NULL, ...) {
  refuse_dots(...)
  data <- bn_codes(x)
  if (missing(dag)) fail_missing("dag")
  type <- check_choice(type, c("kernel", "features", "weights"))
  bases <- if (type == "kernel") c("indicator", "monomial", "symmetric") else c("monomial", "indicator")
  basis <- check_choice(if (is.null(basis)) bases[1L] else basis, bases, "basis")
  graph <- bn_dag(dag, names(data$levels))
  spec <- bn_spec(graph, lengths(data$levels), groups)
  if (!is.null(cpts) && type != "weights") abort_input("`cpts` is for type = \"weights\".", "cpts")
  if (!is.null(y) && type != "kernel") abort_input("`y` is for type = \"kernel\".", "y")
  if (type == "weights") return(bn_given_weights(cpts, graph, data$levels, spec, basis))
  if (type == "features") {
    result <- core_bn_features(spec, basis, data$codes, bn_limit)
    return(bn_feature_matrix(c(result$columns, result["features"]), data, basis, graph))
  }
  other <- if (is.null(y)) data else bn_codes(y, "y", data$levels)
  core_bn_kernel(spec, basis, data$codes, other$codes, thread_count(threads), progress_bar("network kernel"))
}

# The weights of log P/Q for two networks given by their tables.
bn_given_weights <- function(cpts, graph, levels, spec, basis) {
  if (!is.list(cpts) || is.object(cpts) || length(cpts) != 2L || !all(vapply(cpts, is.list, NA))) {
    fail_input("cpts", "two lists of tables, list(P, Q)", describe(cpts))
  }
  if (!is.null(spec$groups)) abort_input("`groups` and given tables do not go together: tables have a row per pattern.", "groups")
  tables <- lapply(cpts, function(one) {
    one <- check_cpts(one, graph)
    for (i in seq_along(one)) {
      if (ncol(one[[i]]) != length(levels[[i]])) {
        abort_input(sprintf("The table of \"%s\" in `cpts` must have %d columns, one per level, but it has %d.", graph$nodes[i], length(levels[[i]]),
                            ncol(one[[i]])), "cpts")
      }
      if (any(one[[i]] == 0)) abort_input(sprintf("The table of \"%s\" in `cpts` has a zero, so the log-odds has no finite weights.", graph$nodes[i]), "cpts")
      own <- colnames(one[[i]])
      if (!is.null(own) && setequal(own, levels[[i]])) one[[i]] <- one[[i]][, levels[[i]], drop = FALSE]
    }
    lapply(one, unname)
  })
  map <- core_bn_weights(spec, basis, tables[[1L]], tables[[2L]], bn_limit)
  stats::setNames(map$weights, bn_labels(map$columns, levels, basis, graph))
}

bn_feature_matrix <- function(result, data, basis, graph) {
  features <- result$features
  dimnames(features) <- list(NULL, bn_labels(result, data$levels, basis, graph))
  attr(features, "sets") <- lapply(result$nodes, function(at) names(data$levels)[at])
  features
}

# The formula method of a method on discrete data: the graph, not the formula, says which variables interact, so that its terms are columns.
discrete_formula_fit <- function(default, name, ..., response = TRUE) {
  frame <- sys.parent()
  env <- parent.frame(2L)
  call <- match.call(sys.function(frame), sys.call(frame), expand.dots = FALSE, envir = env)
  refuse_parts(call, character())
  design <- formula_design(call, env, character(), response)
  terms <- attr(design$terms, "term.labels")
  variables <- all.vars(design$terms)
  if (!setequal(gsub("`", "", terms), variables)) {
    abort_input("`formula` must name columns only, such as class ~ a + b: which of them interact is what the graph says.", "formula")
  }
  if (!design$intercept) abort_input("This method has no intercept to leave out: take `0 +` out of the formula.", "formula")
  columns <- model_columns(call, env, design, gsub("`", "", terms))
  arguments <- c(list(columns), if (response) list(design$y), list(...))
  fit <- do.call(default, arguments, quote = TRUE)
  fit$formula <- design$formula
  fit$design <- design[c("terms", "xlevels", "contrasts")]
  if (!is.null(design$na.action)) fit$na.action <- design$na.action
  fit$call <- generic_call(match.call(sys.function(frame), sys.call(frame), envir = env), name)
  fit
}

# The columns themselves, for the rows that the design has.
model_columns <- function(call, env, design, variables) {
  data <- check_formula_data(eval(call$formula, env), if (is.null(call$data)) NULL else eval(call$data, env), FALSE)
  ask <- c(list(quote(stats::model.frame), formula = stats::reformulate(sprintf("`%s`", variables)), data = data, drop.unused.levels = TRUE,
                na.action = quote(stats::na.pass)), as.list(call[intersect("subset", names(call))]))
  columns <- eval(as.call(ask), env)
  if (!is.null(design$na.action)) columns <- columns[-design$na.action, , drop = FALSE]
  attr(columns, "terms") <- NULL
  columns
}
