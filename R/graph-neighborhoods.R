#' Which variables are neighbours
#'
#' Builds the neighbourhood that [ggm_local()] and [fused_signal()] work on: a chain or closed contour (trajectories, outlines, months), a grid
#' (images,
#' volumes), points that are close (sensors), or any graph.
#'
#' @details
#' `"grid"` numbers its cells as R numbers the entries of an array: down the columns first. With a mask the cells that are kept are numbered in
#' that
#' order, so that `image_array[mask]` is one row of the data. `"distance"` joins points at most `radius` apart, or every point to its `k` nearest
#' (joined if either is among the other's nearest).
#'
#' A neighbourhood is undirected, without loops and repeats; it need not be connected.
#'
#' @section Which method when:
#' `"chain"` for series and outlines, `"grid"` for images, `"distance"` for sensors with places, `"edges"` and `"graph"` for anything else.
#'
#' @param type Kind of neighbourhood.
#' @param ... What the kind needs, by name or in this order: `"chain"` takes `n, closed`; `"grid"` takes `dims, mask`; `"edges"` takes
#'   `edges, n, coords`; `"distance"` takes `x`, and `radius` or `k`; `"graph"` takes `graph, coords`.
#' @section Arguments of the kinds:
#' * `n`: number of variables.
#' * `closed`: Whether the last is a neighbour of the first.
#' * `dims`: Two or three numbers of cells: 4 neighbours on an image, 6 in a volume.
#' * `mask`: A logical array of those dimensions; cells that are not `TRUE` are left out.
#' * `edges`: A two-column matrix or data frame of pairs of numbers between 1 and `n`; may have no rows.
#' * `coords`: Positions of the variables for plots: a matrix with `n` rows and at least two columns.
#' * `x`: A matrix of coordinates, one row per variable, or a [stats::dist()] object.
#' * `radius,k`: Largest distance, or number of nearest neighbours: give one of the two.
#' * `graph`: A symmetric adjacency matrix (nonzero: neighbours; plain or sparse) or an igraph graph.
#' @return An object of class `granary_neighbors`: a list with `edges` (a two-column integer matrix), `n`, `coords` (or `NULL`) and `type`.
#' @seealso [ggm_local()], [ggm_mix()], [ggm_baseline()], [fused_signal()], [ggm_lasso()], [ggm_select()]
#' @export
#' @examples
#' neighborhood("chain", 12, closed = TRUE)  # the months
#' image <- neighborhood("grid", c(5, 4))
#' image
#' plot(image)
#' mask <- outer(1:6, 1:6, function(i, j) (i - 3.5)^2 + (j - 3.5)^2 < 9)
#' neighborhood("grid", c(6, 6), mask)
#' neighborhood("edges", rbind(c(1, 2), c(2, 3)), n = 4)
#' neighborhood("distance", cbind(c(0, 1, 2, 5), 0), radius = 1.5)
#' neighborhood("graph", abs(outer(1:5, 1:5, "-")) == 1)
neighborhood <- function(type = c("chain", "grid", "edges", "distance", "graph"), ...) {
  type <- check_choice(type, c("chain", "grid", "edges", "distance", "graph"))
  by_kind(switch(type, chain = nb_chain, grid = nb_grid, edges = nb_edges, distance = nb_distance, graph = nb_graph), type, ...)
}

# Calls one of several makers with the arguments of its kind; others are refused with what there is.
# The dots of its own names keep the makers' `type` and `m` in `...`.
by_kind <- function(.make, .kind, ...) {
  given <- names(list(...))
  unknown <- setdiff(given[nzchar(given)], names(formals(.make)))
  if (length(unknown) > 0L) {
    takes <- paste0("`", names(formals(.make)), "`", collapse = ", ")
    abort_input(sprintf("\"%s\" has no argument `%s`; it takes %s.%s", .kind, unknown[1L], takes, did_you_mean(unknown[1L], names(formals(.make)), "`")),
                unknown[1L])
  }
  if (...length() > length(formals(.make))) abort_input(sprintf("\"%s\" takes at most %d arguments.", .kind, length(formals(.make))), "...")
  .make(...)
}

new_neighbors <- function(edges, n, coords, type, variables = NULL) {
  edges <- matrix(as.integer(edges), ncol = 2L)
  colnames(edges) <- c("from", "to")
  seal(structure(list(edges = edges, n = as.integer(n), coords = coords, type = type, variables = variables), class = "granary_neighbors"))
}

max_neighbors <- 1e7

nb_chain <- function(n, closed = FALSE) {
  n <- check_count(n, upper = max_neighbors)
  closed <- check_flag(closed)
  if (closed && n < 3L) abort_input(sprintf("A closed contour needs at least 3 variables, but `n` is %d.", n), "n")
  edges <- cbind(seq_len(n - 1L), seq_len(n - 1L) + 1L)
  if (!closed) return(new_neighbors(edges, n, cbind(x = seq_len(n), y = 0), "open chain"))
  angle <- pi / 2 - 2 * pi * (seq_len(n) - 1) / n
  new_neighbors(rbind(edges, c(n, 1L)), n, cbind(x = cos(angle), y = sin(angle)), "closed contour")
}

nb_grid <- function(dims, mask = NULL) {
  dims <- check_vector(dims, min_length = 2L, lower = 1)
  if (length(dims) > 3L) abort_input(sprintf("`dims` must have two or three elements, but it has %d.", length(dims)), "dims")
  if (any(dims != round(dims))) abort_input(sprintf("`dims` must be whole numbers, but one is %g.", dims[dims != round(dims)][1L]), "dims")
  if (prod(dims) > max_neighbors) abort_input(sprintf("`dims` makes %.3g cells: that is too many.", prod(dims)), "dims")
  dims <- as.integer(dims)
  if (is.null(mask)) {
    mask <- rep(TRUE, prod(dims))
  } else {
    fits <- is.logical(mask) && !is.object(mask) && length(mask) == prod(dims) && (is.null(dim(mask)) || identical(dim(mask), dims))
    if (!fits) {
      abort_input(sprintf("`mask` must be a logical array of the dimensions in `dims` (%s), not %s.", paste(dims, collapse = " x "), describe(mask)),
                  "mask")
    }
    if (anyNA(mask)) abort_input(sprintf("`mask` must have no missing values, but %d are NA.", sum(is.na(mask))), "mask")
    if (!any(mask)) abort_input("`mask` leaves no cell: at least one must be TRUE.", "mask")
  }
  cells <- arrayInd(which(mask), dims)
  # Pixels as an image is seen, first row on top; slices of a volume side by side.
  coords <- cbind(x = cells[, 2L], y = -cells[, 1L])
  if (length(dims) == 3L) coords[, "x"] <- coords[, "x"] + (cells[, 3L] - 1) * (dims[2L] + 1)
  new_neighbors(core_grid_edges(list(dims = dims, mask = as.vector(mask))), sum(mask), coords, paste(paste(dims, collapse = " x "), "grid"))
}

nb_edges <- function(edges, n, coords = NULL) {
  n <- check_count(n, upper = max_neighbors)
  if (missing(edges)) fail_missing("edges")
  empty <- (is.matrix(edges) || is.data.frame(edges)) && nrow(edges) == 0L && ncol(edges) %in% c(0L, 2L)
  edges <- if (empty) matrix(0, 0L, 2L) else check_matrix(edges, "edges")
  if (ncol(edges) != 2L) abort_input(sprintf("`edges` must have two columns, one pair per row, but it has %d.", ncol(edges)), "edges")
  check_pairs(edges, n)
  new_neighbors(edges, n, check_coords(coords, n), "edge list")
}

check_pairs <- function(edges, n, arg = "edges") {
  pair <- function(k) sprintf("pair %d (%s, %s)", k, format(edges[k, 1L]), format(edges[k, 2L]))
  outside <- which(edges[, 1L] < 1 | edges[, 1L] > n | edges[, 2L] < 1 | edges[, 2L] > n | edges[, 1L] %% 1 != 0 | edges[, 2L] %% 1 != 0)
  if (length(outside) > 0L) abort_input(sprintf("`%s` must hold numbers from 1 to %d, but %s does not.", arg, n, pair(outside[1L])), arg)
  loop <- which(edges[, 1L] == edges[, 2L])
  if (length(loop) > 0L) abort_input(sprintf("In `%s`, no variable can be its own neighbour, but %s says so.", arg, pair(loop[1L])), arg)
  code <- pmin(edges[, 1L], edges[, 2L]) * (n + 1) + pmax(edges[, 1L], edges[, 2L])
  twice <- which(duplicated(code))
  if (length(twice) > 0L) {
    abort_input(sprintf("Every pair must stand in `%s` once, but %s is a repetition. Remove it with unique().", arg, pair(twice[1L])), arg)
  }
}

check_coords <- function(coords, n, arg = "coords") {
  if (is.null(coords)) return(NULL)
  coords <- check_matrix(coords, arg, min_cols = 2L)
  if (nrow(coords) != n) abort_input(sprintf("`%s` must have one row per variable (%d), but it has %d.", arg, n, nrow(coords)), arg)
  coords[, 1:2, drop = FALSE]
}

nb_distance <- function(x, radius = NULL, k = NULL) {
  if (missing(x)) fail_missing("x")
  if (is.null(radius) == is.null(k)) abort_input("Give either `radius` or `k`.", "radius")
  coords <- NULL
  if (inherits(x, "dist")) {
    distance <- check_symmetric(as.matrix(x), "x")
    if (any(distance < 0)) abort_input("`x` must hold distances, but some are negative.", "x")
  } else {
    x <- check_matrix(x)
    if (nrow(x) > 10000L) abort_input(sprintf("`x` has %d rows; nb_distance() looks at all pairs and stops at 10000.", nrow(x)), "x")
    distance <- as.matrix(stats::dist(x))
    coords <- if (ncol(x) >= 2L) x[, 1:2, drop = FALSE] else cbind(x = x[, 1L], y = 0)
  }
  n <- nrow(distance)
  if (!is.null(radius)) {
    radius <- check_number(radius, lower = 0, strict_lower = TRUE)
    joined <- distance <= radius
    type <- paste("distance up to", format(radius, digits = 4L))
  } else {
    k <- check_count(k, upper = max(1, n - 1))
    diag(distance) <- Inf
    joined <- matrix(FALSE, n, n)
    for (i in seq_len(n)) joined[i, utils::head(order(distance[i, ]), min(k, n - 1L))] <- TRUE
    joined <- joined | t(joined)
    type <- sprintf("%d nearest", k)
  }
  new_neighbors(which(joined & upper.tri(joined), arr.ind = TRUE), n, coords, type)
}

nb_graph <- function(graph, coords = NULL) {
  if (missing(graph)) fail_missing("graph")
  if (inherits(graph, "igraph")) {
    check_installed("igraph", "to read an igraph graph")
    if (igraph::is_directed(graph)) abort_input("`graph` must be undirected: see igraph::as_undirected().", "graph")
    n <- igraph::vcount(graph)
    if (n == 0) abort_input("`graph` must have at least one vertex.", "graph")
    edges <- igraph::as_edgelist(graph, names = FALSE)
    check_pairs(edges, n, "graph")
    variables <- igraph::vertex_attr(graph, "name")
  } else {
    adjacency <- check_symmetric(graph, "graph", allow_sparse = TRUE)
    n <- nrow(adjacency)
    if (any(Matrix::diag(adjacency) != 0)) {
      abort_input(sprintf("No variable can be its own neighbour, but the diagonal of `graph` is not zero at %d.",
                          which(Matrix::diag(adjacency) != 0)[1L]), "graph")
    }
    edges <- Matrix::which(adjacency != 0, arr.ind = TRUE)
    edges <- edges[edges[, 1L] < edges[, 2L], , drop = FALSE]
    variables <- symmetric_labels(adjacency, "graph")
  }
  if (!is.null(variables)) check_names_unique(variables, "graph")
  new_neighbors(edges, n, check_coords(coords, n), "graph", variables)
}

# What the user gave as a neighbourhood of p variables; with the names of both, in the order of the variables.
as_neighbors <- function(neighbors, p, arg = "neighbors", variables = NULL) {
  if (!inherits(neighbors, "granary_neighbors")) {
    usable <- inherits(neighbors, "igraph") || inherits(neighbors, "Matrix") || is.matrix(neighbors)
    if (!usable) {
      abort_input(sprintf("`%s` must be a neighbourhood, as neighborhood() returns, an adjacency matrix or an igraph graph, not %s.",
                          arg, describe(neighbors)), arg)
    }
    neighbors <- nb_graph(neighbors)
  }
  check_fit(neighbors)
  if (neighbors$n != p) {
    abort_input(sprintf("`%s` has %d variables, but there are %d.", arg, neighbors$n, p), arg)
  }
  order_neighbors(neighbors, variables, arg)
}

order_neighbors <- function(neighbors, variables, arg) {
  own <- neighbors$variables
  if (is.null(own) || is.null(variables)) return(neighbors)
  at <- match_named(stats::setNames(seq_along(own), own), variables, arg)
  if (identical(unname(at), seq_along(own))) return(neighbors)
  moved <- matrix(order(at)[neighbors$edges], ncol = 2L)
  moved <- cbind(pmin(moved[, 1L], moved[, 2L]), pmax(moved[, 1L], moved[, 2L]))
  moved <- moved[order(moved[, 2L], moved[, 1L]), , drop = FALSE]  # as which() of a matrix in that order would give them
  new_neighbors(moved, neighbors$n, if (!is.null(neighbors$coords)) neighbors$coords[at, , drop = FALSE], neighbors$type, variables)
}

#' @export
print.granary_neighbors <- function(x, ...) {
  degree <- tabulate(x$edges, x$n)
  cli::cat_line("Neighbourhood (", x$type, "): ", x$n, " variables, ", nrow(x$edges), " pairs; ", if (x$n == 0) "" else
    paste0(min(degree), " to ", max(degree), " neighbours each"))
  invisible(x)
}

#' @export
format.granary_neighbors <- function(x, ...) paste0("neighbourhood (", x$type, ") of ", x$n, " variables")

#' @export
plot.granary_neighbors <- function(x, ...) {
  at <- neighbor_positions(x)
  draw(graphics::plot, at, type = "n", asp = 1, axes = FALSE, xlab = "", ylab = "", main = x$type, user = list(...))
  graphics::segments(at[x$edges[, 1L], 1L], at[x$edges[, 1L], 2L], at[x$edges[, 2L], 1L], at[x$edges[, 2L], 2L], lty = 2, col = "grey50")
  graphics::points(at, pch = 21, bg = "white", col = "grey30")
  invisible(at)
}

neighbor_positions <- function(x) {
  if (!is.null(x$coords)) return(x$coords)
  angle <- pi / 2 - 2 * pi * (seq_len(x$n) - 1) / x$n
  cbind(x = cos(angle), y = sin(angle))
}
