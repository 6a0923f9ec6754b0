#' Methods for causal searches
#'
#' What can be done with a fit of [pc()], [fci()] or [rfci()].
#'
#' @param x,object A fit.
#' @param ... For `plot()`, passed to [plot.granary_graph()]; otherwise not used.
#' @return `summary()` an object that prints the edges with their p-values, the tests per level, and what is ambiguous or in conflict;
#'   `as.matrix()` the matrix of marks;
#'   `tidy()` the edges; `glance()` one row of counts.
#' @seealso [pc()], [fci()], [causal_dag()], [ida()], [ci_test()], [pc_stability()]
#' @name granary_constraint
#' @examples
#' fit <- pc(mtcars, alpha = 0.05)
#' summary(fit)
#' tidy(fit)
#' glance(fit)
#' as.matrix(fit)[1:4, 1:4]
NULL

constraint_title <- function(fit) {
  name <- switch(sub("granary_", "", class(fit)[1L]), pc = "PC", fci = "FCI", rfci = "RFCI", "Skeleton")
  letter <- c(standard = "", conservative = "C", majority = "M")[[fit$settings$colliders]]
  lists <- if (fit$settings$conflicts == "lists" && nzchar(letter) && name != "Skeleton") "L" else ""
  paste0(lists, letter, name, if (fit$settings$stable) "-stable")
}

#' @export
print.granary_constraint <- function(x, ...) {
  test <- c(gauss = "partial correlations", gauss_rows = "partial correlations, complete rows", correlation = "partial correlations",
            spearman = "rank correlations", kendall = "rank correlations", g2 = "G-squared", x2 = "chi-squared", mixed = "conditional Gaussian",
            oracle = "oracle", "function" = "own function")[[x$test]]
  cli::cat_line(constraint_title(x), " (", test, ", alpha = ", format(x$alpha, digits = 4L), if (!is.null(x$n)) paste0(", n = ", format(x$n)), ")")
  print_call(x$call)
  print(x$graph)
  cli::cat_line(format(sum(x$tests$tests) + x$collider_tests + x$later[["tests"]], big.mark = ","), " tests, conditioning on up to ",
                nrow(x$tests) - 1L,
                if (nrow(x$tests) == 2L) " variable, " else " variables, ", format(signif(x$convergence$seconds, 2L)), " s")
  if (nrow(x$ambiguous) > 0L) cli::cat_line(counted(nrow(x$ambiguous), "ambiguous triple", "ambiguous triples"))
  if (nrow(x$conflicts) > 0L) {
    drawn <- inherits(x, "granary_pc") && x$settings$conflicts == "lists"
    cli::cat_line(counted(nrow(x$conflicts), "edge", "edges"), " with contradictory orientations",
                  if (drawn) " (<->, without causal meaning, where background knowledge does not decide)")
  }
  if (isFALSE(x$convergence$converged)) cli::cat_line("Stopped early: ", x$convergence$message)
  if (x$graph$type == "pdag") cli::cat_line("The orientations belong to no DAG exactly: some tests contradict each other.")
  invisible(x)
}

#' @rdname granary_constraint
#' @export
summary.granary_constraint <- function(object, ...) seal(structure(list(fit = object), class = "summary_granary_constraint"))

#' @export
print.summary_granary_constraint <- function(x, ...) {
  fit <- x$fit
  print(fit)
  cli::cat_line()
  if (nrow(fit$edges) > 0L) {
    cli::cat_line("Edges with the largest p-value met:")
    print(utils::head(format(fit$edges, digits = 3L), 30L), row.names = FALSE)
  }
  cli::cat_line("Tests per size of the conditioning set:")
  print(fit$tests, row.names = FALSE)
  if (nrow(fit$ambiguous) > 0L) cli::cat_line("Ambiguous: ", paste(utils::head(apply(fit$ambiguous, 1L, paste, collapse = " - "), 10L),
                                                                   collapse = "; "))
  if (nrow(fit$conflicts) > 0L) cli::cat_line("Contradictory: ", paste(utils::head(apply(fit$conflicts, 1L, paste, collapse = " - "), 10L),
                                                                       collapse = "; "))
  invisible(x)
}

#' @rdname granary_constraint
#' @export
plot.granary_constraint <- function(x, ...) plot(x$graph, ...)

#' @exportS3Method ggplot2::autoplot
autoplot.granary_constraint <- function(object, ...) autoplot.granary_graph(object$graph, ...)  # nolint: object_name_linter.

#' @exportS3Method igraph::as.igraph
as.igraph.granary_constraint <- function(x, ...) graph_igraph(x$graph)  # nolint: object_name_linter.

#' @rdname granary_constraint
#' @export
as.matrix.granary_constraint <- function(x, ...) as.matrix(x$graph)

#' @rdname granary_constraint
#' @export
tidy.granary_constraint <- function(x, ...) x$edges

#' @rdname granary_constraint
#' @export
glance.granary_constraint <- function(x, ...) {
  refuse_dots(...)
  data.frame(edges = nrow(x$edges), directed = sum(x$edges$edge == "-->"), ambiguous = nrow(x$ambiguous), conflicts = nrow(x$conflicts),
             tests = sum(x$tests$tests) + x$collider_tests + x$later[["tests"]], levels = nrow(x$tests) - 1L, alpha = x$alpha,
             converged = x$convergence$converged, seconds = x$convergence$seconds)
}
