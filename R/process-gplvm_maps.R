# What all maps have in common, and the maps that latent variable models are compared with.

check_dims <- function(dims, q) {
  dims <- check_vector(dims, "dims", lower = 1)
  if (any(dims != round(dims)) || anyDuplicated(dims) || length(dims) > 2L) abort_input("`dims` must be one or two different whole numbers.", "dims")
  if (q == 1L) return(1L)
  if (any(dims > q)) abort_input(sprintf("`dims` must be at most %d, the number of dimensions of the map.", q), "dims")
  as.integer(dims)
}

label_colours <- c("#2166ac", "#b2182b", "#1b7837", "#762a83", "#e08214", "#35978f", "#c51b7d", "#4d4d4d", "#bf812d", "#4393c3")

draw_embedding <- function(latent, labels, dims, user, background = NULL) {
  n <- nrow(latent)
  groups <- if (!is.null(labels)) check_row_labels(labels, n)
  colour <- if (is.null(groups)) "#2166ac" else label_colours[(as.integer(groups) - 1L) %% length(label_colours) + 1L]
  a <- if (length(dims) == 2L) latent[, dims[1L]] else seq_len(n)
  b <- latent[, dims[length(dims)]]
  names <- colnames(latent)[dims]
  height <- range(b, if (!is.null(background)) background[[2L]])
  if (!is.null(groups) && nlevels(groups) <= 20L) height[2L] <- height[2L] + 0.14 * diff(height)  # room for the legend, above the points
  if (is.null(background)) {
    draw(graphics::plot, a, b, xlab = if (length(dims) == 2L) names[1L] else "row", ylab = names[length(names)], col = colour, pch = 19,
         cex = 0.8, ylim = height, user = user)
  } else {
    draw(graphics::image, background[[1L]], background[[2L]], background[[3L]], col = grDevices::grey.colors(64L, 0.35, 1), xlab = names[1L],
         ylab = names[2L], ylim = height, user = user)
    graphics::points(a, b, col = colour, pch = 19, cex = 0.8)
  }
  if (!is.null(groups) && nlevels(groups) <= 20L) {
    graphics::legend("top", levels(groups), col = label_colours[(seq_len(nlevels(groups)) - 1L) %% length(label_colours) + 1L], pch = 19,
                     bg = "#ffffffcc", box.col = NA, cex = 0.7, x.intersp = 0.6, ncol = min(3L, nlevels(groups)))
  }
}

check_row_labels <- function(labels, n, arg = "labels") {
  usable <- (is.factor(labels) || is.character(labels) || is.logical(labels) || is_plain_numeric(labels)) && is.null(dim(labels))
  if (!usable || length(labels) != n) {
    fail_input(arg, paste("a vector with one class per row, of length", n), if (usable) paste("one of length", length(labels)) else describe(labels))
  }
  if (anyNA(labels)) abort_input(sprintf("`%s` must have no missing values, but element %d is NA.", arg, which(is.na(labels))[1L]), arg)
  labels <- droplevels(as.factor(labels))
  levels(labels) <- readable(levels(labels))
  labels
}

#' Maps of data: common methods
#'
#' Printing, drawing and tabulating the maps of [gplvm()], [dppca()], [isomap()], [gtm()], [kernel_pca()] and [mds()].
#'
#' @param x,object A fit that holds a map.
#' @param labels Classes of the rows, for colours.
#' @param dims The two dimensions to draw.
#' @param newdata Rows of data, with the columns of the training data; `NULL` for the positions of the training rows.
#' @param type `"latent"`: positions in the map.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @param truth Classes of the rows: `assess()` counts rows whose nearest neighbour in the map has another one.
#' @param ... Passed on to [graphics::plot()].
#' @return `plot()` returns `NULL`, invisibly; `tidy()` a data frame with the columns `row` and one per dimension; `predict()` the positions of new
#'   rows: for [isomap()] from the geodesics through their nearest training rows, for [kernel_pca()] the projection onto the components, for [gtm()]
#'   the mean of the grid under the posterior. [mds()] has none: its maps are positions of the given rows alone.
#' @seealso [gplvm()], [dppca()], [kernel_pca()], [isomap()], [gtm()], [mds()]
#' @name granary_embedding
#' @examples
#' fit <- isomap(scale(iris[1:100, 1:4]), neighbors = 10)
#' plot(fit, labels = iris$Species[1:100])
#' head(tidy(fit))
#' predict(kernel_pca(iris[1:100, 1:4]), iris[101:103, 1:4])
#' predict(gtm(iris[1:100, 1:4]), iris[101:103, 1:4])
NULL

#' @rdname granary_embedding
#' @export
plot.granary_embedding <- function(x, labels = NULL, dims = 1:2, ...) {
  draw_embedding(x$latent, labels, check_dims(dims, ncol(x$latent)), list(...))
  invisible()
}

#' @rdname granary_embedding
#' @export
tidy.granary_embedding <- function(x, ...) {
  rows <- rownames(x$latent)
  data.frame(row = if (is.null(rows)) seq_len(nrow(x$latent)) else rows, x$latent, row.names = NULL, stringsAsFactors = FALSE)
}

#' @rdname granary_embedding
#' @usage \method{autoplot}{granary_embedding}(object, labels = NULL, dims = 1:2, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_embedding <- function(object, labels = NULL, dims = 1:2, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  dims <- check_dims(dims, ncol(object$latent))
  groups <- if (!is.null(labels)) check_row_labels(labels, nrow(object$latent))
  first <- if (length(dims) == 2L) object$latent[, dims[1L]] else seq_len(nrow(object$latent))
  table <- data.frame(a = first, b = object$latent[, dims[length(dims)]])
  names <- colnames(object$latent)[dims]
  if (!is.null(groups)) table$label <- groups
  mapping <- if (is.null(groups)) ggplot2::aes(x = .data$a, y = .data$b) else ggplot2::aes(x = .data$a, y = .data$b, colour = .data$label)
  gg_canvas(table, mapping) + ggplot2::geom_point() +
    ggplot2::labs(x = if (length(dims) == 2L) names[1L] else "row", y = names[length(names)], colour = NULL)
}

new_embedding <- function(class, latent, x, ..., call, convergence = list(converged = TRUE, iterations = 0L)) {
  dimnames(latent) <- list(rownames(x), paste0("dim", seq_len(ncol(latent))))
  new_fit(c(class, "embedding"), latent = latent, x = x, ..., k = ncol(latent), call = call, convergence = convergence)
}

check_map_dimension <- function(q, most) {
  q <- check_count(q, "k")
  if (q > most) abort_input(sprintf("`k` must be at most %d for these data, but it is %d.", most, q), "k")
  q
}

#' Isomap
#'
#' A map whose distances are those along a graph of nearest neighbours: unfolds manifolds that are bent but not torn.
#'
#' @details
#' Each row is joined with its nearest rows (`neighbors` of them), both ways; the shortest paths in this graph stand for distances along the manifold,
#' and classical scaling of them gives the map. Where the graph falls apart `neighbors` is raised until it does not, with a warning. Missing cells are
#' allowed: distances then use the cells two rows share. `predict()` places new rows.
#'
#' @section Which method when:
#' `isomap()` for noise-free curved sheets, as a start of [gplvm()] or by itself; it has no mapping back to the data and one short cut through noise
#' spoils it, so compare several numbers of neighbours.
#'
#' @param x Data, one row per case, with `NA` for missing cells.
#' @param k Number of dimensions of the map.
#' @param neighbors Number of neighbours.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_isomap` with the map `latent`, the geodesic `distance` matrix, the `eigenvalues`, the number of
#'   `neighbors` used and `residual_variance`, one minus the squared correlation of distances in the map with geodesics.
#' @references
#' Tenenbaum, de Silva and Langford (2000). A global geometric framework for nonlinear dimensionality reduction. *Science* 290, 2319--2323.
#' @seealso [gplvm()], [dppca()], [gplvm_dimension()], [kernel_pca()], [gtm()], [mds()]
#' @export
#' @examples
#' set.seed(1)
#' roll <- sim_swiss_roll(400)
#' fit <- isomap(roll$x, neighbors = 5)
#' fit
#' cor(fit$latent[, 1], roll$t, method = "spearman")
isomap <- function(x, k = 2, neighbors = 7, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  x <- check_matrix(x, min_rows = 2L, allow_na = TRUE)
  if (any(rowSums(!is.na(x)) == 0)) {
    abort_input(sprintf("Every row of `x` must have a value, but in row %d all are missing.", which(rowSums(!is.na(x)) == 0)[1L]), "x")
  }
  neighbors <- check_count(neighbors)
  q <- check_map_dimension(k, nrow(x) - 1L)
  check_all_pairs(nrow(x), 4, "Take a sample of the rows, and place the others with predict().")
  if (neighbors > nrow(x) - 1L) {
    warn_input(sprintf("`neighbors` is %d, but a row has only %d others: distances are straight lines, and the map is classical scaling.", neighbors,
                       nrow(x) - 1L), "neighbors")
    neighbors <- nrow(x) - 1L
  }
  size <- max(abs(x), na.rm = TRUE)
  if (size == 0) size <- 1
  raw <- core_isomap(unname(x) / size, list(k = q, neighbors = neighbors, threads = thread_count(threads)), progress_bar("isomap"))
  if (raw$neighbors > neighbors) {
    warn_input(sprintf("The graph of %s falls apart; %d were used.", counted(neighbors, "neighbour", "neighbours"), raw$neighbors), "neighbors")
  }
  new_embedding("isomap", raw$latent * size, x, eigenvalues = as.double(raw$values) * size^2, distance = raw$distance * size,
                neighbors = raw$neighbors, residual_variance = raw$residual, call = call)
}

#' @rdname granary_embedding
#' @export
predict.granary_isomap <- function(object, newdata = NULL, type = "latent", threads = NULL, ...) {
  refuse_dots(...)
  check_choice(type, "latent")
  if (is.null(newdata)) return(object$latent)
  newdata <- map_newdata(object, newdata, allow_na = TRUE)
  out <- core_isomap_place(object, unname(newdata), thread_count(threads), progress_bar("isomap"))
  dimnames(out) <- list(rownames(newdata), colnames(object$latent))
  out
}

map_newdata <- function(object, newdata, allow_na = FALSE) {
  labels <- colnames(object$x)
  if (is.null(labels)) labels <- paste0("V", seq_len(ncol(object$x)))
  if (is.data.frame(newdata) && all(labels %in% names(newdata))) newdata <- newdata[labels]
  match_columns(check_matrix(newdata, "newdata", allow_na = allow_na), labels)
}

#' Generative topographic mapping
#'
#' A grid of normal laws, bent smoothly into the data by EM: a probabilistic self-organising map.
#'
#' @details
#' \deqn{p(y) = \frac1K\sum_k N(y | W'\phi(z_k), \beta^{-1}I)}{p(y) = 1/K sum_k N(y | W' phi(z_k), I / beta)} with \eqn{z_k} on a grid of
#' `grid` points along each of `k` sides and \eqn{\phi}{phi} normal bumps on a coarser grid of `basis` points along each side, and a constant.
#' EM starts from the plane of the leading principal components and never lowers the penalised likelihood. A row's place is the mean of the grid
#' under its posterior. \eqn{O(KND)} per step.
#'
#' @section Which method when:
#' For many rows and one or two dimensions; the map shows the grid, and its flexibility is set by `basis` and `width` rather than learnt. [gplvm()]
#' learns it, at a higher cost.
#'
#' @param x Data, one row per case.
#' @param k Number of dimensions of the map.
#' @param grid Points along each side of the latent grid.
#' @param basis Bumps along each side.
#' @param width Width of a bump in units of their spacing.
#' @param lambda Precision of the normal prior on \eqn{W}, for data divided by the root of their mean variance.
#' @param scale Whether to divide columns by their standard deviations.
#' @param max_iter Largest number of EM steps.
#' @param tol Relative change of the log-likelihood at which to stop.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_gtm` with the map `latent`, the `grid`, the `centres` in data space, the `noise` variance and
#'   `loglik`.
#' @references
#' Bishop, Svensen and Williams (1998). GTM: the generative topographic mapping. *Neural Computation* 10, 215--234.
#' @seealso [gplvm()], [dppca()], [gplvm_dimension()], [isomap()], [kernel_pca()], [mds()]
#' @export
#' @examples
#' fit <- gtm(iris[, 1:4], grid = 10)
#' fit
#' plot(fit, labels = iris$Species)
#' logLik(fit)
gtm <- function(x, k = 2, grid = 15, basis = 4, width = 1, lambda = 1e-3, scale = FALSE, max_iter = 500, tol = 1e-6, ...) {
  refuse_dots(...)
  call <- match.call()
  data <- latent_data(x, center = TRUE, scale = check_flag(scale), allow_na = FALSE)
  q <- check_map_dimension(k, min(dim(data$y), 6L))
  grid <- check_count(grid, lower = 2)
  basis <- check_count(basis, lower = 2, upper = grid)
  width <- check_number(width, lower = 0, strict_lower = TRUE)
  lambda <- check_number(lambda, lower = 0)
  max_iter <- check_count(max_iter)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE)
  if (grid^q > 1e5) abort_input(sprintf("The grid of %d^%d points is too large. Use a smaller `grid` or `k`.", grid, q), "grid")
  cells <- as.double(nrow(data$y)) * grid^q
  check_memory(8 * 3 * cells, sprintf("%d rows with a grid of %.0f points", nrow(data$y), grid^q), "Use a smaller `grid`, or a sample of the rows.", "grid")
  slow_work(6 * cells * sum(data$keep) * max_iter, "gtm()", "a smaller `grid`, fewer rows, or a larger `tol`")
  raw <- core_gtm(data$filled, q, list(grid = grid, basis = basis, width = width, lambda = lambda, max_iter = max_iter, tol = tol),
                  progress_bar("generative topographic mapping"))
  fit <- new_embedding("gtm", raw$latent, data$x, grid = raw$grid, centres = gtm_centres(raw$centres, data), noise = raw$noise * data$unit^2,
                       loglik = raw$loglik - data$jacobian, trace = as.double(raw$trace), keep = data$keep, centre = data$centre,
                       scale = data$scale, unit = data$unit, jacobian = data$jacobian / nrow(data$x), parameters = basis^q * sum(data$keep) + 1L,
                       raw_centres = raw$centres, raw_noise = raw$noise, call = call, convergence = raw$convergence)
  check_convergence(fit)
  fit
}

gtm_centres <- function(centres, data) {
  out <- matrix(rep(data$centre, each = nrow(centres)), nrow(centres), dimnames = list(NULL, colnames(data$x)))
  out[, data$keep] <- out[, data$keep] + sweep(centres, 2L, data$scale[data$keep] * data$unit, "*")
  out
}

#' @rdname granary_embedding
#' @export
predict.granary_gtm <- function(object, newdata = NULL, type = "latent", ...) {
  refuse_dots(...)
  check_choice(type, "latent")
  if (is.null(newdata)) return(object$latent)
  newdata <- map_newdata(object, newdata)
  y <- sweep(sweep(newdata[, object$keep, drop = FALSE], 2L, object$centre[object$keep]), 2L, object$scale[object$keep] * object$unit, "/")
  out <- core_gtm_place(unname(y), object)$latent
  dimnames(out) <- list(rownames(newdata), colnames(object$latent))
  out
}

#' @rdname granary_embedding
#' @importFrom stats logLik
#' @export
logLik.granary_gtm <- function(object, ...) {
  structure(object$loglik, df = object$parameters, nobs = nrow(object$latent), class = "logLik")
}

#' @rdname granary_embedding
#' @export
assess.granary_embedding <- function(object, truth, ...) {
  refuse_dots(...)
  if (missing(truth)) fail_missing("truth")
  wrong <- neighbour_errors(object$latent, truth)
  data.frame(n = nrow(object$latent), wrong = wrong, error = wrong / nrow(object$latent))
}

# Rows whose nearest neighbour has another label.
neighbour_errors <- function(x, labels) {
  if (inherits(x, "granary_embedding")) x <- x$latent
  if (nrow(x) < 2L) abort_input("The map must have at least two rows to have neighbours.", "object")
  labels <- check_row_labels(labels, nrow(x), "truth")
  x <- x / max(abs(x), .Machine$double.xmin)
  nearest <- vapply(seq_len(nrow(x)), function(i) {
    away <- colSums((t(x) - x[i, ])^2)
    away[i] <- Inf
    which.min(away)
  }, 0L)
  sum(labels[nearest] != labels)
}
