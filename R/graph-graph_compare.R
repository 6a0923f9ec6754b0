compare_graphs <- function(estimate, truth) {
  pair <- matched_graphs(estimate, truth)
  p <- length(pair$truth$nodes)
  a <- as.matrix(pair$estimate)
  b <- as.matrix(pair$truth)
  upper <- upper.tri(a)
  rates <- function(found, true, possible) {
    tp <- sum(found & true)
    fp <- sum(found & !true)
    share <- function(x, of) if (of > 0) x / of else NA_real_
    c(estimated = sum(found), true = sum(true), tp = tp, fp = fp, fn = sum(true) - tp, tdr = share(tp, sum(found)), tpr = share(tp, sum(true)),
      fpr = share(fp, possible - sum(true)))
  }
  arrow <- function(m) m == 2L & t(m) == 1L
  either <- a > 0L | b > 0L
  kinds <- c("none", mark_names)
  marks <- table(estimate = factor(kinds[a[either] + 1L], kinds), truth = factor(kinds[b[either] + 1L], kinds))
  seal(structure(
    list(
      shd = core_graph_shd(graph_parts(pair$estimate), graph_parts(pair$truth)), skeleton = rates(a[upper] > 0L, b[upper] > 0L, p * (p - 1) / 2),
      directed = rates(arrow(a), arrow(b), p * (p - 1)), marks = marks, mark_distance = sum(a != b)
    ),
    class = "granary_graph_comparison"
  ))
}

shd <- function(estimate, truth) {
  pair <- matched_graphs(estimate, truth)
  core_graph_shd(graph_parts(pair$estimate), graph_parts(pair$truth))
}

matched_graphs <- function(estimate, truth) {
  estimate <- check_graph(estimate, "estimate")
  truth <- check_graph(truth, "truth")
  if (length(estimate$nodes) != length(truth$nodes)) {
    abort_input(sprintf("`estimate` and `truth` must have the same nodes, but they have %d and %d.", length(estimate$nodes), length(truth$nodes)),
                "estimate")
  }
  if (!identical(estimate$nodes, truth$nodes)) {
    at <- match(estimate$nodes, truth$nodes)
    if (anyNA(at)) abort_input(sprintf("`estimate` and `truth` must have the same nodes, but \"%s\" is in one only.",
                                       estimate$nodes[is.na(at)][1L]), "estimate")
    edges <- estimate$edges
    edges[, 1:2] <- at[edges[, 1:2]]
    estimate <- new_graph(truth$nodes, edges, estimate$type)
  }
  list(estimate = estimate, truth = truth)
}

#' @export
print.granary_graph_comparison <- function(x, ...) {
  rate <- function(value) if (is.na(value)) "-" else format(value, digits = 3L)
  line <- function(name, r) {
    cli::cat_line(name, ": ", r[["estimated"]], " estimated, ", r[["true"]], " true, ", r[["tp"]], " in common (precision ", rate(r[["tdr"]]),
                  ", recall ",
                  rate(r[["tpr"]]), ")")
  }
  cli::cat_line("Structural Hamming distance ", x$shd, ", ", x$mark_distance, " marks differ")
  line("Adjacencies", x$skeleton)
  line("Directed edges", x$directed)
  invisible(x)
}
