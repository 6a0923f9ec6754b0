#' Penalties of the generalized lasso
#'
#' Builds the matrix \eqn{R} whose rows [gen_lasso()] shrinks to zero: differences along a chain (fused lasso, trend filtering), along the edges of a
#' graph, between neighbouring cells of an image or volume (total variation), or any matrix of the user's.
#'
#' @details
#' * `"chain"`: differences of order \eqn{k} (`order`) of `p` coefficients: 1 gives piecewise constant coefficients, 2 piecewise linear, 3 piecewise
#'   quadratic ones. Where the coefficients are not equally far apart, `pos` has their positions \eqn{t_1 < t_2 < \dots}{t_1 < t_2 < ...}, and
#'   \deqn{D^{(k + 1)} = D^{(1)} \mathrm{diag}\left(\frac{k}{t_{k + i} - t_i}\right) D^{(k)},}{D^(k+1) = D^(1) diag(k / (t_(k+i) - t_i)) D^(k),}
#'   so that polynomials in \eqn{t} of degree below \eqn{k} cost nothing. First differences are the same wherever the positions are.
#' * `"graph"`: differences along `edges`. Self loops are dropped, and the weights of edges that are given more than once added up; the graph need not be
#'   connected, and nodes without an edge are not penalised.
#' * `"grid"`: differences of neighbouring cells of an array of dimensions `dim`. `norm = "l1"` adds up their absolute values, each pair once (anisotropic
#'   total variation); `"l2"` takes per cell the Euclidean norm of its differences to the next cells along the axes (isotropic). Cells are numbered as R
#'   numbers the entries of an array; with a `mask`, those that are kept.
#' * `"matrix"`: `R` as it is; rows of one of the `groups` are shrunk together by their Euclidean norm.
#'
#' `sparse` adds \eqn{sparse \cdot |b_j|}{sparse |b_j|} for every coefficient, so that the penalty of a chain is
#' \eqn{\lambda (\sum |b_{j+1} - b_j| + sparse \sum |b_j|)}{lambda (sum |b_(j+1) - b_j| + sparse sum |b_j|)}.
#'
#' @section Which method when:
#' `"chain"` for coefficients in an order (time, wavelength, position on a chromosome), `"graph"` where the neighbours are known but no order, `"grid"` for
#' images and volumes, for which [gen_lasso_image()] is the short way, `"matrix"` for everything else. [gen_lasso()] also takes a matrix or a graph as it is.
#'
#' @param type What the penalty is made from; see Details.
#' @param p Number of coefficients; for `"graph"` by default the largest number of an edge.
#' @param edges For `"graph"`: a two-column matrix of pairs of numbers, an igraph graph (its edge attribute `weight` is used), or a neighbourhood.
#' @param dim For `"grid"`: one to three numbers of cells.
#' @param R For `"matrix"`: a matrix with one column per coefficient; plain or sparse.
#' @param order For `"chain"`: order of the differences.
#' @param pos For `"chain"`: increasing positions of the coefficients; `NULL` where they are equally far apart. Gives `p` too.
#' @param weights For `"graph"`: positive weights of the edges; 1 by default.
#' @param norm For `"grid"`: sum of absolute differences, or of their norms per cell.
#' @param mask For `"grid"`: a logical array of dimensions `dim`: cells that are not `TRUE` are left out.
#' @param groups For `"matrix"`: the group of each row; `NULL`: each by itself.
#' @param sparse Weight of the absolute values of the coefficients themselves; not for `"matrix"`.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_penalty`: a list with `matrix` (a `dgCMatrix`), `blocks` (rows per block), `p`, `type` and what the builder knows.
#' @references
#' Tibshirani (2014). Adaptive piecewise polynomial estimation via trend filtering. *Annals of Statistics* 42, 285--323 (uneven positions).
#' @seealso [gen_lasso_select()], [lasso()], [lasso_select()], [debiased_lasso()]
#' @seealso [gen_lasso()], [gen_lasso_image()]
#' @export
#' @examples
#' gen_lasso_penalty("chain", 10)
#' gen_lasso_penalty("chain", 10, order = 2)
#' gen_lasso_penalty("chain", pos = c(1, 2, 4, 8, 16), order = 2)
#' gen_lasso_penalty("graph", edges = rbind(c(1, 2), c(2, 3), c(1, 3)), p = 4)
#' gen_lasso_penalty("grid", dim = c(4, 5), norm = "l2")
#' gen_lasso_penalty("matrix", R = diag(3))
gen_lasso_penalty <- function(type = c("chain", "graph", "grid", "matrix"), p = NULL, edges = NULL, dim = NULL, R = NULL,  # nolint: object_name_linter.
                              order = 1, pos = NULL, weights = NULL, norm = c("l1", "l2"), mask = NULL, groups = NULL, sparse = 0, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("chain", "graph", "grid", "matrix"))
  given <- c(p = !is.null(p), edges = !is.null(edges), dim = !is.null(dim), R = !is.null(R), order = !missing(order), pos = !is.null(pos),
             weights = !is.null(weights), norm = !missing(norm), mask = !is.null(mask), groups = !is.null(groups), sparse = !missing(sparse))
  known <- list(chain = c("p", "order", "pos", "sparse"), graph = c("edges", "p", "weights", "sparse"), grid = c("dim", "norm", "mask", "sparse"),
                matrix = c("R", "groups"))
  needless <- setdiff(names(which(given)), known[[type]])
  if (length(needless) > 0L) {
    abort_input(sprintf("`%s` is not for type = \"%s\", which has %s.", needless[1L], type, paste0("`", known[[type]], "`", collapse = ", ")), needless[1L])
  }
  switch(type,
    chain = chain_penalty(p, order, sparse, pos), graph = graph_penalty(edges, p, weights, sparse),
    grid = grid_penalty(dim, check_choice(norm, c("l1", "l2")), mask, sparse), matrix = matrix_penalty(R, groups)
  )
}

new_penalty <- function(matrix, type, blocks = integer(), null = NULL, ...) {
  seal(structure(list(matrix = matrix, blocks = as.integer(blocks), null = if (is.null(null)) base::matrix(0, 0L, 0L) else null, p = ncol(matrix),
                 type = type, ...), class = "granary_penalty"))
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

chain_penalty <- function(p, order = 1, sparse = 0, pos = NULL) {
  if (!is.null(pos)) pos <- check_chain_positions(pos, p)
  if (is.null(p)) p <- if (is.null(pos)) fail_missing("p") else length(pos)
  p <- check_count(p, "p", upper = max_neighbors)
  order <- check_count(order, "order", upper = 10)
  sparse <- check_number(sparse, "sparse", lower = 0)
  if (order >= p && p > 1L) abort_input(sprintf("`order` must be below the number of coefficients (%d), but it is %d.", p, order), "order")
  if (order == 1L || p == 1L) {
    first <- seq_len(p - 1L)
    type <- if (sparse > 0) "sparse fused chain" else "fused chain"
    return(new_penalty(difference_rows(first + 1L, first, p, 1, sparse), type, sparse = sparse, dim = p, pos = pos, order = 1L))
  }
  rows <- core_chain_penalty(if (is.null(pos)) numeric() else pos, list(p = p, order = order))
  matrix <- rows$matrix
  if (sparse > 0) matrix <- rbind(matrix, Matrix::Diagonal(p, sparse))
  new_penalty(methods::as(methods::as(matrix, "CsparseMatrix"), "generalMatrix"), sprintf("chain, differences of order %d", order),
              null = if (sparse == 0) rows$null, sparse = sparse, dim = p, pos = pos, order = order)
}

check_chain_positions <- function(pos, p = NULL) {
  pos <- unname(check_vector(pos, "pos", length = p, lower = -1e100, upper = 1e100))
  steps <- diff(pos)
  if (any(steps <= 0)) {
    at <- which(steps <= 0)[1L]
    abort_input(sprintf("`pos` must increase, but position %d is %g and the next %g.", at, pos[at], pos[at + 1L]), "pos")
  }
  pos
}

graph_penalty <- function(edges, p = NULL, weights = NULL, sparse = 0) {
  if (is.null(edges)) fail_missing("edges")
  sparse <- check_number(sparse, "sparse", lower = 0)
  p <- check_count(p, "p", upper = max_neighbors, allow_null = TRUE)
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

grid_penalty <- function(dim, norm = "l1", mask = NULL, sparse = 0) {
  if (is.null(dim)) fail_missing("dim")
  sparse <- check_number(sparse, "sparse", lower = 0)
  dim <- check_vector(dim, "dim", lower = 1)
  if (length(dim) > 3L) abort_input(sprintf("`dim` must have one, two or three elements, but it has %d.", length(dim)), "dim")
  given <- c(dim, 1, 1)[seq_len(max(2L, length(dim)))]
  if (is.logical(mask) && length(mask) == prod(given)) mask <- array(mask, given)
  nb <- nb_grid(given, mask)
  edges <- nb$edges
  blocks <- integer()
  if (norm == "l2") {
    edges <- edges[order(edges[, 1L], edges[, 2L]), , drop = FALSE]
    blocks <- c(rle(edges[, 1L])$lengths, rep(1L, if (sparse > 0) nb$n else 0L))
  }
  new_penalty(difference_rows(edges[, 2L], edges[, 1L], nb$n, 1, sparse), sprintf("%s total variation, %s", norm, nb$type), blocks,
              dim = as.integer(dim), mask = mask, sparse = sparse, norm = norm)
}

matrix_penalty <- function(R, groups = NULL) {  # nolint: object_name_linter.
  if (is.null(R)) fail_missing("R")
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
