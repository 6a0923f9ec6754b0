# Tests of conditional independence: which one, on which data. A specification is a list that src/r_graph_pc.cpp turns into a test.

ci_tests <- c("gauss", "rank", "kendall", "g2", "x2", "mixed", "oracle")

#' Test a conditional independence
#'
#' Tests whether two variables are independent given others, with the tests that [pc()], [fci()] and [rfci()] use.
#'
#' @details
#' * `"gauss"`: the partial correlation \eqn{r} is zero; \eqn{z = \sqrt{n - |S| - 3}\,\mathrm{atanh}(r)}{z = sqrt(n - |S| - 3) atanh(r)} is
#'   compared with the normal
#'   distribution. Singular correlation matrices are handled as their pseudo-inverse would: a variable that is a linear function of others adds
#'   nothing.
#' * `"rank"` and `"kendall"`: the same on \eqn{2\sin(\pi\rho_S/6)}{2 sin(pi rho / 6)} of Spearman's \eqn{\rho_S}{rho} or
#'   \eqn{\sin(\pi\tau/2)}{sin(pi tau / 2)} of Kendall's \eqn{\tau}{tau}: for variables that are normal after monotone transformations.
#' * `"g2"` and `"x2"`: likelihood ratio and Pearson's test in the contingency table, for factors, logical and 0/1 columns. With `df =
#' "adjusted"`
#'   the degrees of freedom
#'   leave out rows, columns and strata that do not occur; `"nominal"` counts them all. With fewer than 10 rows per degree of freedom the
#'   chi-squared law is
#'   doubtful: `sparse` says whether to test all the same, or to call the pair independent (as `pcalg` does) or dependent.
#' * `"mixed"`: likelihood ratio test of the homogeneous conditional Gaussian law, for numeric and discrete columns together.
#' * `"oracle"`: `x` is a graph and separation in it the answer (p-value 1 or 0). Where some nodes are not observed, the graph of the others is
#'   `graph_convert(x, "mag", latent = )`.
#' * a function of `i`, `j` and `S` (numbers of columns) that returns a p-value. If it fails or returns no p-value the error names the variables.
#'
#' @section Which method when:
#' `ci_test()` for one question about given variables; [pc()] to ask all of them in turn; [independence_test()] for any kind of dependence of two
#' variables, linear or not.
#'
#' @param x Data (matrix or data frame, one column per variable), or a graph for the oracle. For a function as test
#'   the names of the variables are enough.
#' @param i,j Two variables, by name or number.
#' @param given The variables that are held fixed; none by default.
#' @param test The test; see Details. By default `"gauss"` for numbers, `"g2"` if all columns are discrete (factors, text, logical or 0/1),
#'   `"mixed"` if some are, and
#'   `"oracle"` for a graph.
#' @param weights For `"g2"` and `"x2"`: how often each row of `x` was observed, whole numbers. `x` may be a `table` instead. Neither is expanded into rows.
#' @param S,n A covariance or correlation matrix and the number of observations behind it, in place of `x`.
#' @param df,sparse For contingency tables; see Details.
#' @param na What to do about missing values: stop, or test each pair on the rows in which its own variables are known (`"gauss"`, `"g2"`,
#'   `"x2"`).
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `htest`: `statistic` is the normal score \eqn{z} of a partial correlation, which is the `estimate`, or the chi-squared
#'   statistic, whose degrees of freedom are the `parameter`; for contingency tables `observed` is the table, one slice per combination of values of
#'   `given`.
#' @references
#' Kalisch and Buehlmann (2007). Estimating high-dimensional directed acyclic graphs with the PC-algorithm. *Journal of Machine Learning
#' Research*
#' 8, 613--636.
#'
#' Harris and Drton (2013). PC algorithm for nonparanormal graphical models. *Journal of Machine Learning Research* 14, 3365--3383.
#'
#' Lauritzen (1996). *Graphical Models*. Oxford University Press (conditional Gaussian distributions, section 6.1).
#' @seealso [pc()], [fci()], [pc_knowledge()], [causal_dag()], [ida()], [pc_stability()]
#' @export
#' @examples
#' ci_test(mtcars, "mpg", "hp", given = c("wt", "cyl"))
#' people <- data.frame(Titanic)[rep(1:32, data.frame(Titanic)$Freq), 1:4]
#' ci_test(people, "Class", "Survived", given = "Sex")
#' ci_test(Titanic, "Class", "Survived", given = "Sex")
#' ci_test("a -> b <- c; b -> d", "a", "c", given = "d")
ci_test <- function(x = NULL, i, j, given = NULL, test = NULL, S = NULL, n = NULL, df = c("adjusted", "nominal"),
                    sparse = c("test", "independent", "dependent"), na = c("error", "pairwise"), weights = NULL, ...) {
  refuse_dots(...)
  spec <- ci_spec(x, test, S, n, df, sparse, na, weights = weights)
  graph <- list(nodes = spec$names)
  i <- check_nodes(i, graph, "i")
  j <- check_nodes(j, graph, "j")
  given <- sort(check_nodes(given, graph, "given", allow_empty = TRUE))
  if (length(i) != 1L || length(j) != 1L) abort_input("`i` and `j` must be one variable each.", if (length(i) != 1L) "i" else "j")
  if (i == j || any(c(i, j) %in% given)) abort_input("`i`, `j` and the variables in `given` must all be different.", "given")
  found <- core_ci_test(test_parts(spec), list(i = i, j = j, given = given))
  label <- c(gauss = "Partial correlation", gauss_rows = "Partial correlation, complete rows", correlation = "Partial correlation",
             spearman = "Partial correlation from Spearman's rho", kendall = "Partial correlation from Kendall's tau",
             g2 = "G-squared test", x2 = "Pearson's chi-squared test", mixed = "Conditional Gaussian likelihood ratio test",
             oracle = "Separation in a graph", "function" = "Own test")[[spec$kind]]
  named <- spec$names
  structure(
    list(
      statistic = if (nzchar(found$name)) stats::setNames(found$statistic, c(z = "z", chi_squared = "X-squared")[[found$name]]),
      parameter = if (found$name == "chi_squared") c(df = found$df), p.value = found$p_value,
      estimate = if (found$name == "z") c("partial correlation" = found$correlation),
      observed = if (spec$kind %in% c("g2", "x2")) strata_table(with_counts(x, weights), i, j, given),
      method = paste(label, "of conditional independence"),
      data.name = paste0(named[i], " and ", named[j], if (length(given) > 0L) paste0(" given ", paste(named[given], collapse = ", ")))
    ), class = "htest"
  )
}

# Counts of the two variables, one slice per combination of values of the others.
strata_table <- function(data, i, j, given) {
  x <- columns_of(data$x)[c(i, j, given)]
  x[] <- lapply(x, function(column) factor(column))
  stratum <- if (length(given) > 0L) interaction(x[-(1:2)], drop = TRUE, sep = ", ")
  by <- if (is.null(stratum)) x[1:2] else c(x[1:2], list(given = stratum))
  if (is.null(data$counts)) return(table(by))
  counts <- tapply(data$counts, by, sum)
  as.table(ifelse(is.na(counts), 0, counts))
}

# An oracle for the nodes that are observed, from the graph of all.
ci_oracle <- function(graph, latent = NULL, selection = NULL) {
  graph <- check_graph(graph)
  latent <- check_nodes(latent, graph, "latent", allow_empty = TRUE)
  selection <- check_nodes(selection, graph, "selection", allow_empty = TRUE)
  seal(structure(oracle_spec(graph, latent, selection), class = "granary_ci_oracle"))
}

#' @export
print.granary_ci_oracle <- function(x, ...) {
  cli::cat_line("Independence oracle: separation in a graph with ", x$nodes, " nodes, ", length(x$observed), " of them observed",
                if (length(x$selection) > 0L) paste0(", ", length(x$selection), " conditioned on"))
  invisible(x)
}

oracle_spec <- function(graph, latent, selection) {
  if (any(graph$edges[, 3:4] == 3L)) abort_input("An oracle needs a graph without circles: a DAG or an ancestral graph.", "graph")
  cycle <- core_graph_cycle(graph_parts(graph))
  if (length(cycle) > 0L) {
    abort_input(paste0("An oracle needs an acyclic graph, but it has the cycle ", paste(graph$nodes[c(cycle, cycle[1L])], collapse = " -> "), "."),
                "graph")
  }
  if (any(latent %in% selection)) abort_input("A node cannot be in both `latent` and `selection`.", "selection")
  observed <- setdiff(seq_along(graph$nodes), c(latent, selection))
  if (length(observed) == 0L) abort_input("At least one node must be observed.", "latent")
  list(kind = "oracle", nodes = length(graph$nodes), edges = graph$edges, observed = observed, selection = selection, cache = FALSE,
       names = graph$nodes[observed], n = NULL)
}

is_discrete <- function(column) is.factor(column) || is.character(column) || (is.logical(column) && !is.object(column))
is_binary <- function(column) is_plain_numeric(column) && all(column %in% c(0, 1, NA))

# What crosses of a specification.
test_parts <- function(spec) {
  own <- switch(spec$kind,
    oracle = list(graph = spec[c("nodes", "edges")], observed = spec$observed, selection = spec$selection),
    "function" = spec[c("fun", "variables")],
    g2 = , x2 = list(codes = replace(spec$codes, is.na(spec$codes), -1L), levels = spec$levels, counts = spec$counts, adjust = spec$adjust,
                       sparse = spec$sparse),
    correlation = spec[c("correlation", "n")],
    mixed = spec[c("x", "levels")],
    spec["x"]
  )
  c(spec[c("kind", "cache")], own)
}

# Data and test, checked: a specification for the core, with `names` and `n`.
ci_spec <- function(x, test, S, n, df = "adjusted", sparse = "test", na = "error", cache = NULL, weights = NULL) {
  df <- check_choice(df, c("adjusted", "nominal"))
  sparse <- check_choice(sparse, c("test", "independent", "dependent"))
  na <- check_choice(na, c("error", "pairwise"))
  cache <- check_flag(cache, allow_null = TRUE)
  if (inherits(x, "granary_ci_oracle")) return(unclass(x))
  counted <- with_counts(x, weights)
  x <- counted$x
  own <- is.function(test)
  if (!own && !is.null(test)) test <- check_choice(test, ci_tests)
  if (is.null(x) == is.null(S)) {
    abort_input(paste("Give either the data `x` or a covariance matrix `S`,", if (is.null(x)) "but neither came." else "not both."), "x")
  }
  spec <- if (own) {
    function_spec(test, x)
  } else if (!is.null(S)) {
    covariance_spec(S, n, test)
  } else if (identical(test, "oracle") || (is.null(test) && (inherits(x, ci_truths) || is_edge_text(x)))) {
    oracle_spec(check_graph(x, "x"), integer(), integer())
  } else {
    data_spec(x, test, df, sparse, na)
  }
  if (!is.null(counted$counts)) {
    if (!spec$kind %in% c("g2", "x2")) abort_input("Counts of rows, as `weights` or in a table, go with the tests \"g2\" and \"x2\" only.", "weights")
    spec$counts <- counted$counts
    spec$n <- sum(as.double(counted$counts))
  }
  if (is.null(S) && !is.null(n)) abort_input("`n` goes with a covariance matrix; with data it is the number of rows. Leave it out.", "n")
  spec$cache <- if (is.null(cache)) own else cache
  spec
}

ci_truths <- c("granary_graph", "granary_sim_dag", "granary_causal_dag", "igraph", "bn")
is_edge_text <- function(x) is.character(x) && is.null(dim(x)) && (is_model_string(x) || any(grepl("->|<-", x)))

# A table is its distinct rows with their counts; they are never expanded.
with_counts <- function(x, weights) {
  if (inherits(x, "table")) {
    if (!is.null(weights)) abort_input("`weights` are the counts of a table already: leave them out.", "weights")
    names <- names(dimnames(x))
    if (length(names) == 0L || any(!nzchar(names))) abort_input("`x` is a table whose dimensions have no names: name the variables.", "x")
    cells <- as.data.frame(x, stringsAsFactors = TRUE)
    weights <- cells[[length(cells)]]
    x <- stats::setNames(cells[-length(cells)], names)
  }
  if (is.null(weights)) return(list(x = x, counts = NULL))
  if (is.null(x) || length(dim(x)) != 2L) abort_input("`weights` count the rows of data: give `x`.", "weights")
  weights <- check_vector(weights, "weights", length = nrow(x), lower = 0, upper = .Machine$integer.max)
  if (any(weights != round(weights))) abort_input("`weights` must be whole numbers: how often each row was observed.", "weights")
  if (sum(weights) == 0) abort_input("`weights` must not all be zero.", "weights")
  list(x = x[weights > 0, , drop = FALSE], counts = as.integer(weights[weights > 0]))
}

covariance_spec <- function(S, n, test) {
  if (!is.null(test) && test != "gauss") abort_input("With a covariance matrix the test can only be \"gauss\".", "test")
  given <- moments_covariance(S, n)
  S <- given$S
  n <- given$n
  S <- check_symmetric(S, "S")
  n <- check_number(n, "n", lower = 3, strict_lower = TRUE)
  names <- variable_names(colnames(S), ncol(S))
  check_names_unique(names, "S")
  if (any(diag(S) <= 0)) {
    abort_input(sprintf("`S` must have positive variances, but that of %s is %g.", names[which.min(diag(S))], min(diag(S))), "S")
  }
  scale <- 1 / sqrt(diag(S))
  correlation <- S * outer(scale, scale)
  if (max(abs(correlation)) > 1 + 1e-8) {
    at <- arrayInd(which.max(abs(correlation)), dim(correlation))
    abort_input(sprintf("`S` is no covariance matrix: the correlation of %s and %s is %g.", names[at[1L]], names[at[2L]], correlation[at]), "S")
  }
  list(kind = "correlation", correlation = unname(correlation), n = n, names = names, S = S)
}

function_spec <- function(test, x) {
  names <- if (is.character(x) && is.null(dim(x)) && !is.object(x)) x else if (length(dim(x)) == 2L) variable_names(colnames(x), ncol(x))
  if (length(names) == 0L) fail_input("x", "data, or the names of the variables, when `test` is a function", describe(x))
  check_names_unique(names, "x")
  list(kind = "function", fun = guarded_test(test, names), variables = length(names), names = names, n = if (length(dim(x)) == 2L) nrow(x))
}

# The p-value, or an error that names the variables.
guarded_test <- function(test, names, call = user_call()) {
  force(call)
  function(i, j, S) {
    where <- function() {
      paste0("for variables ", names[i], " and ", names[j], if (length(S) > 0L) paste0(" given ", paste(names[S], collapse = ", ")))
    }
    p <- tryCatch(test(i, j, S), error = identity)
    if (inherits(p, "error")) abort_input(paste0("The test failed ", where(), ": ", conditionMessage(p)), "test", call)
    if (!is.numeric(p) || length(p) != 1L || is.na(p) || p < 0 || p > 1) {
      abort_input(paste0("The test must return one p-value in [0, 1], but ", where(), " it returned ", describe(p), "."), "test", call)
    }
    as.double(p)
  }
}

data_spec <- function(x, test, df, sparse, na) {
  if (is.null(test)) test <- default_test(x)
  if (test %in% c("g2", "x2")) {
    return(c(list(kind = test, adjust = df == "adjusted", sparse = sparse), discrete_codes(x, na)))
  }
  if (test == "mixed") return(mixed_spec(x))
  x <- check_matrix(x, "x", min_rows = 4L, allow_na = na == "pairwise")
  names <- variable_names(colnames(x), ncol(x))
  check_names_unique(names, "x")
  missing <- anyNA(x)
  if (missing && test != "gauss") abort_input("Missing values can be handled pairwise by the tests \"gauss\", \"g2\" and \"x2\" only.", "na")
  reject_constant(x, names)
  kind <- if (missing) "gauss_rows" else c(gauss = "gauss", rank = "spearman", kendall = "kendall")[[test]]
  list(kind = kind, x = x, names = names, n = nrow(x), data = x)
}

is_constant <- function(column) length(unique(column[!is.na(column)])) < 2L

default_test <- function(x) {
  if (is.data.frame(x) && length(x) > 0L) {
    discrete <- vapply(x, function(column) is_discrete(column) || (is_binary(column) && !is_constant(column)), NA)
    return(if (all(discrete)) "g2" else if (any(discrete)) "mixed" else "gauss")
  }
  if (!is.matrix(x) || length(x) == 0L || isS4(x)) return("gauss")
  if (is.character(x) || is.logical(x)) return("g2")
  if (!is.numeric(x)) return("gauss")
  # A column whose first rows are other than 0 and 1 needs no second look.
  discrete <- vapply(seq_len(ncol(x)), function(j) is_binary(x[seq_len(min(nrow(x), 8L)), j]) && is_binary(x[, j]) && !is_constant(x[, j]), NA)
  if (all(discrete)) "g2" else if (any(discrete)) "mixed" else "gauss"
}

reject_constant <- function(x, names) {
  constant <- is.na(x[1L, ]) | is.na(x[2L, ]) | x[1L, ] == x[2L, ]  # nearly always that is enough to acquit a column
  constant[constant] <- vapply(which(constant), function(j) all(x[, j] == x[!is.na(x[, j]), j][1L], na.rm = TRUE), NA)
  if (any(constant)) {
    abort_input(sprintf("`x` must have no constant columns, but %s %s: nothing can be tested about %s.\nDrop %s.",
                        paste(utils::head(names[constant], 5L), collapse = ", "), if (sum(constant) == 1L) "is constant" else "are constant",
                        if (sum(constant) == 1L) "it" else "them", if (sum(constant) == 1L) "it" else "them"), "x")
  }
}

# Codes 0, 1, ... of the values that occur: levels nobody has take no degrees of freedom.
codes_of <- function(column, name) {
  if (is.factor(column) || is.character(column)) {
    column <- as.character(column)
  } else if (!is_plain_numeric(column) && !(is.logical(column) && !is.object(column))) {
    abort_input(sprintf("Column %s of `x` must be a factor, text, logical or numbers, not %s.", name, describe(column)), "x")
  } else if (any(is.infinite(column)) || any(column != round(column), na.rm = TRUE)) {
    abort_input(sprintf("Column %s of `x` must hold categories, but it has values like %s.\nCut it, or use test = \"mixed\" or \"gauss\".", name,
                        format(column[is.infinite(column) | (!is.na(column) & column != round(column))][1L])), "x")
  }
  values <- sort(unique(column))
  list(codes = match(column, values) - 1L, levels = length(values))
}

columns_of <- function(x, min_rows = 2L) {
  if (!is.data.frame(x)) {
    if (!is.matrix(x) || is.list(x) || isS4(x)) {
      if (inherits(x, "Matrix")) x <- as.matrix(x) else fail_input("x", "a matrix or data frame", describe(x))
    }
    x <- as.data.frame(x, stringsAsFactors = FALSE)
  }
  check_shape(x, "x", min_rows, 1L)
  names <- variable_names(names(x), length(x))
  check_names_unique(names, "x")
  for (v in seq_along(x)) if (!is.null(dim(x[[v]])) || !is.atomic(x[[v]])) abort_input(sprintf("Column %s of `x` must be a plain vector.",
                                                                                               names[v]), "x")
  x
}

discrete_codes <- function(x, na) {
  x <- columns_of(x)
  coded <- Map(codes_of, x, names(x))
  codes <- vapply(coded, function(column) column$codes, integer(nrow(x)))
  codes <- matrix(codes, nrow(x))
  levels <- vapply(coded, function(column) column$levels, 0L)
  if (na == "error" && anyNA(codes)) {
    at <- which(is.na(codes))[1L]
    abort_input(sprintf("`x` must have no missing values, but row %d, column %s has one.\nSet na = \"pairwise\" to leave rows out test by test.",
                        (at - 1L) %% nrow(x) + 1L, names(x)[(at - 1L) %/% nrow(x) + 1L]), "x")
  }
  if (any(levels < 2L)) {
    abort_input(sprintf("`x` must have no constant columns, but %s has one value only: nothing can be tested about it.",
                        names(x)[levels < 2L][1L]), "x")
  }
  list(codes = codes, levels = unname(levels), names = names(x), n = nrow(x))
}

mixed_spec <- function(x) {
  x <- columns_of(x, 4L)
  discrete <- vapply(x, function(column) is_discrete(column) || is_binary(column), NA)
  matrix <- matrix(0, nrow(x), length(x))
  levels <- integer(length(x))
  for (v in which(discrete)) {
    coded <- codes_of(x[[v]], names(x)[v])
    matrix[, v] <- coded$codes
    levels[v] <- coded$levels
    if (coded$levels < 2L) abort_input(sprintf("`x` must have no constant columns, but %s has one value only.", names(x)[v]), "x")
  }
  if (any(!discrete)) {
    numeric <- check_matrix(x[!discrete], "x")
    reject_constant(numeric, names(x)[!discrete])
    matrix[, !discrete] <- numeric
  }
  if (anyNA(matrix)) abort_input("`x` must have no missing values for the mixed test.\nRemove the rows with na.omit() or impute before calling.", "x")
  list(kind = "mixed", x = matrix, levels = levels, names = names(x), n = nrow(x))
}
