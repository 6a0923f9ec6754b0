#' Penalties of the generalized lasso
#'
#' Builds the matrix \eqn{R} whose rows [gen_lasso()] shrinks to zero: differences along a chain (fused lasso, trend filtering), along the edges of
#' a
#' graph, between neighbouring cells of an image or volume (total variation), or any matrix of the user's.
#'
#' @details
#' `fused_chain(p, order = k)` takes differences of order \eqn{k}: 1 gives piecewise constant coefficients, 2 piecewise linear, 3 piecewise
#' quadratic
#' ones. `sparse` adds \eqn{sparse \cdot |b_j|}{sparse |b_j|} for every coefficient, so that the penalty is
#' \eqn{\lambda (\sum |b_{j+1} - b_j| + sparse \sum |b_j|)}{lambda (sum |b_(j+1) - b_j| + sparse sum |b_j|)}.
#'
#' `tv_grid(dim, "l1")` adds up the absolute differences of neighbouring cells, each pair once (anisotropic total variation); `"l2"` takes per cell
#' the
#' Euclidean norm of its differences to the next cells along the axes (isotropic). Cells are numbered as R numbers the entries of an array; with a
#' `mask`, those that
#' are kept.
#'
#' `fused_graph()` drops self loops and adds up edges that are given more than once; the graph need not be connected, and nodes without an edge are
#' not
#' penalised.
#'
#' @param p Number of coefficients.
#' @param order Order of the differences.
#' @param sparse Weight of the absolute values of the coefficients themselves.
#' @param edges A two-column matrix of pairs of numbers, an igraph graph (its edge attribute `weight` is used), or a neighbourhood such as
#'   [nb_grid()].
#' @param weights Positive weights of the edges; 1 by default.
#' @param dim One to three numbers of cells.
#' @param type Sum of absolute differences, or of their norms per cell.
#' @param mask A logical array of dimensions `dim`: cells that are not `TRUE` are left out.
#' @param R A matrix with one column per coefficient; plain or sparse.
#' @param groups For `penalty_matrix()`, the group of each row: rows of a group are shrunk together by their Euclidean norm. `NULL`: each by itself.
#' @return An object of class `granary_penalty`: a list with `matrix` (a `dgCMatrix`), `blocks` (rows per block), `p`, `type` and what the builder
#'   knows.
#' @family regression
#' @name gen_penalty
#' @aliases fused_chain fused_graph tv_grid penalty_matrix
#' @examples
#' fused_chain(10)
#' fused_chain(10, order = 2)
#' fused_graph(rbind(c(1, 2), c(2, 3), c(1, 3)), p = 4, weights = c(1, 1, 0.5))
#' tv_grid(c(4, 5), "l2")
#' penalty_matrix(diag(3))
NULL

new_penalty <- function(matrix, type, blocks = integer(), null = NULL, ...) {
  structure(list(matrix = matrix, blocks = as.integer(blocks), null = if (is.null(null)) base::matrix(0, 0L, 0L) else null, p = ncol(matrix),
                 type = type, ...), class = "granary_penalty")
}

# Rows weight (e_from - e_to), and sparse times the identity below.
difference_rows <- function(from, to, p, weights = 1, sparse = 0) {
  m <- length(from)
  weights <- rep_len(weights, m)
  extra <- if (sparse > 0) p else 0L
  Matrix::sparseMatrix(
    i = c(seq_len(m), seq_len(m), m + seq_len(extra)), j = c(from, to, seq_len(extra)),
    x = c(weights, -weights, rep(sparse, extra)), dims = c(m + extra, p)
  )
}

#' @rdname gen_penalty
#' @export
fused_chain <- function(p, order = 1, sparse = 0) {
  p <- check_count(p, upper = max_neighbors)
  order <- check_count(order, upper = 10)
  sparse <- check_number(sparse, lower = 0)
  if (order >= p && p > 1L) abort_input(sprintf("`order` must be below the number of coefficients (%d), but it is %d.", p, order), "order")
  if (order == 1L || p == 1L) {
    first <- seq_len(p - 1L)
    type <- if (sparse > 0) "sparse fused chain" else "fused chain"
    return(new_penalty(difference_rows(first + 1L, first, p, 1, sparse), type, sparse = sparse, dim = p))
  }
  m <- p - order
  coefficients <- (-1)^(order - 0:order) * choose(order, 0:order)
  rows <- rep(seq_len(m), each = order + 1L)
  matrix <- Matrix::sparseMatrix(i = rows, j = rows + rep(0:order, m), x = rep(coefficients, m), dims = c(m, p))
  position <- (seq_len(p) - (p + 1) / 2) / p
  null <- if (sparse == 0) qr.Q(qr(outer(position, seq_len(order) - 1, `^`)))
  if (sparse > 0) matrix <- rbind(matrix, Matrix::Diagonal(p, sparse))
  new_penalty(methods::as(methods::as(matrix, "CsparseMatrix"), "generalMatrix"), sprintf("chain, differences of order %d", order), null = null,
              sparse = sparse, dim = p)
}

#' @rdname gen_penalty
#' @export
fused_graph <- function(edges, p = NULL, weights = NULL, sparse = 0) {
  if (missing(edges)) fail_missing("edges")
  sparse <- check_number(sparse, lower = 0)
  p <- check_count(p, upper = max_neighbors, allow_null = TRUE)
  if (inherits(edges, "igraph")) {
    check_installed("igraph", "to read an igraph graph")
    if (is.null(weights)) weights <- igraph::edge_attr(edges, "weight")
    if (is.null(p)) p <- as.integer(igraph::vcount(edges))
    edges <- igraph::as_edgelist(edges, names = FALSE)
  } else if (inherits(edges, "granary_neighbors")) {
    if (is.null(p)) p <- edges$n
    edges <- edges$edges
  }
  empty <- (is.matrix(edges) || is.data.frame(edges)) && nrow(edges) == 0L
  if (empty) edges <- matrix(0, 0L, 2L) else edges <- check_matrix(edges, "edges")
  if (ncol(edges) != 2L) abort_input(sprintf("`edges` must have two columns, one pair per row, but it has %d.", ncol(edges)), "edges")
  if (is.null(p)) p <- if (nrow(edges) == 0L) fail_missing("p") else as.integer(min(max(edges), max_neighbors))
  bad <- which(rowSums(edges < 1 | edges > p | edges %% 1 != 0) > 0)
  if (length(bad) > 0L) {
    abort_input(sprintf("`edges` must hold whole numbers from 1 to %d, but pair %d is (%s, %s).", p, bad[1L], format(edges[bad[1L], 1L]),
                        format(edges[bad[1L], 2L])), "edges")
  }
  weights <- if (is.null(weights)) rep(1, nrow(edges)) else check_vector(weights, "weights", length = nrow(edges), min_length = 0L, lower = 0)
  loop <- edges[, 1L] == edges[, 2L]
  low <- pmin(edges[, 1L], edges[, 2L])[!loop]
  high <- pmax(edges[, 1L], edges[, 2L])[!loop]
  code <- low * (p + 1) + high
  total <- rowsum(as.double(weights[!loop]), code, reorder = FALSE)
  keep <- !duplicated(code)
  new_penalty(difference_rows(high[keep], low[keep], p, total[, 1L], sparse), "graph", sparse = sparse)
}

#' @rdname gen_penalty
#' @export
tv_grid <- function(dim, type = c("l1", "l2"), mask = NULL, sparse = 0) {
  type <- check_choice(type, c("l1", "l2"))
  sparse <- check_number(sparse, lower = 0)
  dim <- check_vector(dim, lower = 1)
  if (length(dim) > 3L) abort_input(sprintf("`dim` must have one, two or three elements, but it has %d.", length(dim)), "dim")
  given <- c(dim, 1, 1)[seq_len(max(2L, length(dim)))]
  if (is.logical(mask) && length(mask) == prod(given)) mask <- array(mask, given)
  nb <- nb_grid(given, mask)
  edges <- nb$edges
  blocks <- integer()
  if (type == "l2") {
    edges <- edges[order(edges[, 1L], edges[, 2L]), , drop = FALSE]
    blocks <- c(rle(edges[, 1L])$lengths, rep(1L, if (sparse > 0) nb$n else 0L))
  }
  new_penalty(difference_rows(edges[, 2L], edges[, 1L], nb$n, 1, sparse), sprintf("%s total variation, %s", type, nb$type), blocks,
              dim = as.integer(dim), mask = mask, sparse = sparse, norm = type)
}

#' @rdname gen_penalty
#' @export
penalty_matrix <- function(R, groups = NULL) {
  if (missing(R)) fail_missing("R")
  empty <- (is.matrix(R) || inherits(R, "Matrix")) && nrow(R) == 0L && ncol(R) > 0L
  R <- if (empty) matrix(0, 0L, ncol(R)) else check_matrix(R, "R", allow_sparse = TRUE)
  R <- methods::as(methods::as(R, "CsparseMatrix"), "generalMatrix")
  blocks <- integer()
  if (!is.null(groups)) {
    if (!is.atomic(groups) || length(groups) != nrow(R) || anyNA(groups)) {
      abort_input(sprintf("`groups` must give a group for each of the %d rows, without NA, not %s.", nrow(R), describe(groups)), "groups")
    }
    groups <- match(groups, unique(groups))
    R <- R[order(groups), , drop = FALSE]
    blocks <- tabulate(groups)
  }
  dimnames(R) <- list(NULL, NULL)
  new_penalty(R, "matrix", blocks)
}

#' @export
print.granary_penalty <- function(x, ...) {
  cli::cat_line("Penalty (", x$type, "): ", x$p, " coefficients, ", nrow(x$matrix), " rows",
                if (length(x$blocks) > 0L) paste0(" in ", length(x$blocks), " blocks"))
  invisible(x)
}

#' @export
format.granary_penalty <- function(x, ...) paste0("penalty (", x$type, ") of ", x$p, " coefficients")
