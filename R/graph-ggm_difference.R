#' Which edges differ between tasks
#'
#' The difference network of a multi-task fit: the pairs of variables whose entries of the precision matrix differ between two tasks, and how.
#'
#' @details
#' A pair differs when \eqn{X_{1,ij} \ne X_{2,ij}}{X_1,ij != X_2,ij}. `change` says in which way: `"only first"` and `"only second"` (an edge in
#' one task alone), `"sign"` (edges of opposite sign) and `"strength"`. Entries count as equal when they differ by at most `tol` times
#' \eqn{\sqrt{X_{ii} X_{jj}}}{sqrt(X_ii X_jj)}.
#'
#' **Which penalty when:** `norm = "fused"` sets differences to zero exactly, so that its difference network is an estimate of what differs.
#' `"l2"` gives all tasks the same edges when `lambda1 = 0`, and no two equal strengths: there `tol` chooses what is worth a line. With
#' `permutations` the rows are dealt anew to the two tasks, whose sizes stay, and the model is refitted; the p-value of a pair is
#' \eqn{(1 + \#\{|d^*| \ge |d|\}) / (1 + B)}{(1 + number of |d*| >= |d|) / (1 + B)} with \eqn{d} the difference of partial correlations. It tests
#' that the
#' two tasks have one distribution, up to their means, and is not corrected for the number of pairs.
#'
#' @section Which method when:
#' `ggm_difference()` for a fit of [ggm_multi()]; `anova()` of two fits of [ggm_lasso()] to test whether two graphs differ at all.
#'
#' @param fit A [ggm_multi()] fit.
#' @param first,second Two tasks, by name or number; `NULL` for both: every pair of tasks.
#' @param which Position on the path; `NULL` for the last.
#' @param tol See Details.
#' @param n_perm Number of permutations for p-values, 0 for none. Needs two tasks and a fit to data; seed with [set.seed()].
#' @param ... Nothing: an argument that is not known is an error.
#' @return A data frame of class `granary_ggm_difference`, one row per pair of variables that differs, largest difference first: `from`, `to`,
#'   `first_task`, `second_task`, the partial correlations `first` and `second`, their `difference` (second minus first), that of the
#'   entries (`precision_difference`), `change`, and `p.value` after permutations. `plot()` draws the network of the differences between
#'   two tasks.
#' @seealso [ggm_multi()], [ggm_lasso()], [ggm_select()], [ggm_hub()], [ggm_local()], [ggm_nodes()]
#' @export
#' @examples
#' fit <- ggm_multi(scale(iris[1:4]), groups = iris$Species, lambda = 0.01, lambda1 = 0.02,
#'                  norm = "fused", weights = "equal")
#' ggm_difference(fit)
#' versicolor <- ggm_difference(fit, "versicolor", "virginica")
#' versicolor
#' plot(versicolor)
ggm_difference <- function(fit, first = NULL, second = NULL, which = NULL, tol = 1e-8, n_perm = 0, ...) {
  refuse_dots(...)
  if (missing(fit)) fail_missing("fit")
  check_ggm_multi(fit)
  tol <- check_number(tol, lower = 0)
  permutations <- check_count(n_perm, "n_perm", lower = 0)
  one <- ggm_at(fit, which)
  if (length(one$S) < 2L) abort_input("A difference needs at least two tasks, but the fit has one.", "fit")
  if (is.null(first) != is.null(second)) abort_input("Give both `first` and `second`, or neither for every pair of tasks.", "second")
  pairs <- if (is.null(first)) {
    utils::combn(length(one$S), 2L)
  } else {
    matrix(c(multi_task(one, first, "first"), multi_task(one, second, "second")), 2L)
  }
  if (any(pairs[1L, ] == pairs[2L, ])) abort_input("`first` and `second` must be two different tasks.", "second")
  if (permutations > 0L && ncol(pairs) > 1L) abort_input("`n_perm` needs two tasks: give `first` and `second`.", "n_perm")
  table <- do.call(rbind, lapply(seq_len(ncol(pairs)), function(k) difference_table(one, pairs[1L, k], pairs[2L, k], tol)))
  table <- table[order(-abs(table$difference), -abs(table$precision_difference)), ]
  if (permutations > 0L) table$p.value <- difference_p_values(one, pairs, table, permutations)
  rownames(table) <- NULL
  structure(table, variables = colnames(one$S[[1L]]), class = c("granary_ggm_difference", "data.frame"))
}

difference_table <- function(one, first, second, tol) {
  a <- one$precision[[first]]
  b <- one$precision[[second]]
  codes <- sort(union(edge_codes(a), edge_codes(b)))
  p <- ncol(a)
  pair <- cbind((codes - 1) %% p + 1, (codes - 1) %/% p + 1)
  entry <- function(m) as.vector(m[pair])
  size <- function(m) sqrt(Matrix::diag(m)[pair[, 1L]] * Matrix::diag(m)[pair[, 2L]])
  in_first <- entry(a)
  in_second <- entry(b)
  change <- ifelse(in_second == 0, "only first", ifelse(in_first == 0, "only second", ifelse(in_first * in_second < 0, "sign", "strength")))
  names <- colnames(a)
  tasks <- names(one$S)
  table <- data.frame(
    from = names[pair[, 1L]], to = names[pair[, 2L]], first_task = rep(tasks[first], length(codes)), second_task = rep(tasks[second], length(codes)),
    first = -in_first / size(a), second = -in_second / size(b), difference = in_first / size(a) - in_second / size(b),
    precision_difference = in_second - in_first,
    change = factor(change, levels = c("only first", "only second", "sign", "strength"))
  )
  table[abs(in_second - in_first) > tol * pmax(size(a), size(b)), , drop = FALSE]
}

# Rows centred by task are dealt anew to the two tasks; the others stay as they are.
difference_p_values <- function(one, pair, table, permutations) {
  x <- needs_data(one)
  pooled <- do.call(rbind, lapply(x[pair], function(m) sweep(m, 2L, colMeans(m))))
  size <- nrow(x[[pair[1L]]])
  draws <- resample_lapply(seq_len(permutations), function(k) {
    order <- sample.int(nrow(pooled))
    x[[pair[1L]]] <- pooled[order[seq_len(size)], , drop = FALSE]
    x[[pair[2L]]] <- pooled[order[-seq_len(size)], , drop = FALSE]
    refit <- refit_path(one, x)
    part <- function(m) {
      scale <- 1 / sqrt(Matrix::diag(m))
      at <- cbind(match(table$from, colnames(m)), match(table$to, colnames(m)))
      -as.vector(m[at]) * scale[at[, 1L]] * scale[at[, 2L]]
    }
    abs(part(refit$precision[[pair[2L]]]) - part(refit$precision[[pair[1L]]]))
  }, "permutations")
  as_large <- Reduce(`+`, lapply(draws, function(d) d >= abs(table$difference) * (1 - 1e-12)), 0)
  (1 + as_large) / (1 + permutations)
}

#' @export
print.granary_ggm_difference <- function(x, ...) {
  pairs <- unique(x[c("first_task", "second_task")])
  class(x) <- "data.frame"
  if (nrow(x) == 0L) {
    cli::cat_line("No edge differs between the tasks.")
    return(invisible(x))
  }
  for (k in seq_len(min(nrow(pairs), 6L))) {
    own <- x[x$first_task == pairs$first_task[k] & x$second_task == pairs$second_task[k], ]
    counts <- table(own$change)
    cli::cat_line(pairs$first_task[k], " and ", pairs$second_task[k], ": ", nrow(own), if (nrow(own) == 1L) " pair differs (" else " pairs differ (",
                  paste(names(counts)[counts > 0], counts[counts > 0], collapse = ", "), ")")
  }
  if (nrow(pairs) > 6L) cli::cat_line("and ", nrow(pairs) - 6L, " more pairs of tasks")
  print(format(utils::head(x, 10L), digits = 3L), row.names = FALSE)
  if (nrow(x) > 10L) cli::cat_line("(10 of ", nrow(x), " rows shown)")
  invisible(x)
}

#' @export
plot.granary_ggm_difference <- function(x, labels = NULL, layout = NULL, ...) {
  network <- difference_network(x)
  do.call(plot_network, utils::modifyList(list(network$graph, labels, NULL, layout, main = network$title), list(...)))
}

difference_network <- function(x) {
  if (nrow(unique(as.data.frame(unclass(x))[c("first_task", "second_task")])) > 1L) {
    abort_input("Only the differences between two tasks can be drawn: give `first` and `second` to ggm_difference().", "x")
  }
  names <- attr(x, "variables")
  p <- length(names)
  # A graph whose partial correlations are the differences; they may exceed one, so only the drawing uses it.
  m <- matrix(0, p, p, dimnames = list(names, names))
  at <- cbind(match(x$from, names), match(x$to, names))
  m[at] <- m[at[, 2:1, drop = FALSE]] <- -x$difference
  diag(m) <- 1
  graph <- seal(structure(list(precision = as_sparse(m), S = m, df = nrow(x), lambda = 0), class = c("granary_ggm_task", "granary_ggm")))
  title <- if (nrow(x) > 0L) sprintf("%s minus %s: %d pairs", x$second_task[1L], x$first_task[1L], nrow(x)) else "no differences"
  list(graph = graph, title = title)
}
