#' Kernel principal components and spectral embeddings
#'
#' Principal components in the space of a kernel, or the eigenvectors of its normalised matrix that spectral clustering
#' works on, with positions of new observations; for large data on Nystrom features.
#'
#' @details
#' * `type = "covariance"`: with \eqn{K} the kernel matrix and \eqn{J} the centring matrix,
#'   \eqn{U\Lambda^{1/2}}{U Lambda^(1/2)} of the leading eigenpairs of
#'   \eqn{JKJ}; with a linear kernel the scores of [stats::prcomp()]. It is the closed form of [dppca()] with \eqn{JKJ}
#'   in the place of
#'   \eqn{YY'/D}, but no likelihood. A new row is projected by its centred kernel values.
#' * `type = "laplacian"`: leading eigenvectors of \eqn{D^{-1/2}KD^{-1/2}}{D^(-1/2) K D^(-1/2)}, \eqn{D} the row sums of
#'   \eqn{K}. Clusters of their rows, scaled to unit length, are spectral clusters. The first eigenvalue is 1.
#'
#' Works on features \eqn{Z} with \eqn{ZZ' = K}: exact up to 1000 observations (pivoted Cholesky to 1e-12 of the trace),
#' those of [nystrom()] with
#' `c` landmarks beyond, or those of the fit you give.
#'
#' @section Which method when:
#' For data that are known by a kernel (texts, graphs, counts) or as a quick non-linear map; it has no mapping back to
#' the data and its result hangs on the width of the kernel. `"laplacian"` to cluster shapes that are no balls: give the
#' map to [stats::kmeans()]. For pictures of neighbourhoods [tsne()], for maps with a likelihood [gplvm()].
#'
#' @param x As for [nystrom()], or a fit of it.
#' @param k Number of dimensions of the map.
#' @param kernel As for [svm()]; `NULL` for `k_se()` with the median distance as lengthscale.
#' @param type What to decompose.
#' @param gamma,degree,coef0 For kernels given by name, as for [svm()].
#' @param c Number of landmarks; `NULL` for all (exact) up to 1000 observations, 500 beyond.
#' @param sampling How they are chosen, see [nystrom()].
#' @param threads Threads; `NULL` for `getOption("granary.threads")`.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_kernel_pca` with the map `latent`, the `eigenvalues` (of \eqn{JKJ}, or of the
#'   normalised matrix), `share` (of the sum of all), `kernel`, and `nystrom`, the features. See [granary_embedding] for
#'   its methods.
#' @references
#' Schoelkopf, Smola and Mueller (1998). Nonlinear component analysis as a kernel eigenvalue problem. *Neural
#' Computation* 10, 1299--1319.
#'
#' Fowlkes, Belongie, Chung and Malik (2004). Spectral grouping using the Nystrom method. *IEEE Transactions on Pattern
#' Analysis and Machine Intelligence* 26, 214--225.
#' @seealso [nystrom()], [kernel_ridge()], [kernel_eigenfunctions()], [gplvm()], [dppca()], [isomap()], [mds()]
#' @export
#' @examples
#' fit <- kernel_pca(scale(iris[, 1:4]), kernel = k_se(lengthscale = 2))
#' fit
#' plot(fit, labels = iris$Species)
#' predict(fit, scale(iris[, 1:4])[1:2, ])
#' # two rings
#' set.seed(1)
#' angle <- runif(200, 0, 2 * pi)
#' rings <- cbind(cos(angle), sin(angle)) * rep(c(1, 3), each = 100) + rnorm(400, sd = 0.1)
#' embedding <- kernel_pca(rings, kernel = "rbf", type = "laplacian", gamma = 3)
#' table(embedding$latent[, 2] > 0, rep(1:2, each = 100))
kernel_pca <- function(x, k = 2, kernel = NULL, type = c("covariance", "laplacian"), gamma = NULL, degree = 3,
                       coef0 = 0, c = NULL,
                       sampling = c("adaptive", "uniform", "leverage", "greedy", "kmeans"), threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(x)) fail_missing("x")
  type <- check_choice(type, base::c("covariance", "laplacian"))
  sampling <- check_choice(sampling, base::c("adaptive", "uniform", "leverage", "greedy", "kmeans"))
  c <- check_count(c, "c", allow_null = TRUE)
  if (inherits(x, "granary_nystrom")) {
    features <- check_fit(x)
    k <- check_map_dimension(k, features$n)
    x <- features$x
  } else {
    objects <- has_objects(as_object_kernel(kernel))
    numbers <- !objects && !identical(kernel, "precomputed") && !is.function(x)
    if (numbers) {
      x <- check_matrix(if (is_plain_numeric(x) && is.null(dim(x))) matrix(x, ncol = 1L) else x, "x", min_rows = 2L,
                        allow_sparse = TRUE)
    }
    n <- NROW(x)
    k <- check_map_dimension(k, n - (type == "covariance"))
    if (is.null(kernel)) kernel <- median_kernel(x)
    if (n <= 1000L || (!is.null(c) && c >= n)) {
      check_all_pairs(n, 4, "Give `c`, such as 200, to work with so many landmarks.")
    }
    features <- ridge_features(list(x = if (numbers && !isS4(x)) unname(x) else x, n = n), kernel, gamma, degree, coef0,
                               c, sampling, threads)
  }
  raw <- core_kernel_pca(unname(features$features), k, type)
  if (length(raw$values) == 0L || raw$total <= 1e-12 * features$trace / max(1, features$n)) {
    abort_input("The kernel sees no difference between the rows of `x`.", "kernel")
  }
  if (length(raw$values) < k) {
    warn_input(sprintf("`k` is %d, but there are only %s.", k, counted(length(raw$values), "component", "components")),
               "k")
  }
  scale <- if (type == "covariance") max(1, features$n - 1) else 1
  shown <- if (is.matrix(x) && is.numeric(x)) x else features$features
  new_embedding("kernel_pca", raw$scores, shown, eigenvalues = raw$values * scale, share = raw$values / raw$total,
                type = type, kernel = features$kernel, rotation = raw$rotation, mean = raw$mean, nystrom = features,
                variables = if (is.matrix(x) || isS4(x)) colnames(x), n = features$n, call = call)
}

# k_se() with the median distance between rows as lengthscale.
median_kernel <- function(x) {
  if (isS4(x) || !is.matrix(x) || !is.numeric(x)) {
    abort_input("`kernel` must be given for data that are no dense matrix of numbers.", "kernel")
  }
  some <- x[unique(round(seq(1, nrow(x), length.out = min(nrow(x), 500L)))), , drop = FALSE]
  apart <- stats::dist(some)
  width <- stats::median(apart[apart > 0])
  if (is.na(width)) abort_input("`x` must have rows that differ, but all are equal.", "x")
  k_se(lengthscale = width)
}

#' @rdname granary_embedding
#' @export
predict.granary_kernel_pca <- function(object, newdata = NULL, type = "latent", threads = NULL, ...) {
  refuse_dots(...)
  check_choice(type, "latent")
  if (is.null(newdata)) return(object$latent)
  features <- object$nystrom
  numbers <- features$kind == "points" && is.null(features$layout)
  if (numbers) {
    if (is_plain_numeric(newdata) && is.null(dim(newdata))) {
      newdata <- rows_of_vector(newdata, ncol(features$points))
    }
    newdata <- new_design(newdata, variable_names(object$variables, ncol(features$points)), NULL, "newdata",
                          allow_sparse = TRUE)
  }
  z <- nystrom_features(features, if (numbers) unname(newdata) else newdata, threads = threads)
  label_both(core_pca_scores(unname(z), object$rotation, object$mean, object$type),
             if (numbers) rownames(newdata) else rownames(z), colnames(object$latent))
}

#' Eigenfunctions of a kernel
#'
#' The functions \eqn{\phi}{phi} with
#' \eqn{\int k(x, s)\phi(s)\,d\mu(s) = \lambda\phi(x)}{int k(x, s) phi(s) dmu(s) = lambda phi(x)}, on an interval with
#' Lebesgue measure or for the empirical measure of a sample: what a kernel can learn quickly, and how fast the spectrum
#' of its matrices falls.
#'
#' @details
#' Nystrom's method: the integral by Gauss-Legendre quadrature with `n` nodes (or the sample), the symmetric
#' eigenproblem
#' \eqn{W^{1/2}KW^{1/2}}{W^(1/2) K W^(1/2)}, and the functions everywhere by
#' \eqn{\phi(x) = \lambda^{-1}\sum_j w_jk(x, s_j)\phi(s_j)}{ phi(x) = 1 / lambda sum_j w_j k(x, s_j) phi(s_j)}. They are
#' orthonormal under the measure, with the sign that makes the largest value positive.
#'
#' @section Which method when:
#' To understand a kernel before it is used, or for Karhunen-Loeve expansions of a process on an interval. For data,
#' [kernel_pca()].
#'
#' @param kernel A kernel over one variable (over the columns of `x`, if that is given), see [kernels].
#' @param a,b The interval.
#' @param n Number of nodes.
#' @param k Number of functions.
#' @param x A sample whose empirical measure takes the place of the interval.
#' @param threads Threads; `NULL` for `getOption("granary.threads")`.
#' @param object A fit.
#' @param newdata Points to evaluate the functions at.
#' @param ... For `plot()`, passed on to [graphics::matplot()]; otherwise not used.
#' @return An object of class `granary_kernel_eigenfunctions`: `values` (eigenvalues), `functions` (at the nodes),
#'   `nodes`, `weights`, `trace` (the sum of all eigenvalues). `predict()` gives the functions at new points.
#' @references
#' Drineas and Mahoney (2005). On the Nystrom method for approximating a Gram matrix for improved kernel-based learning.
#' *Journal of Machine Learning Research* 6, 2153--2175.
#' @seealso [nystrom()], [kernel_pca()]
#' @export
#' @examples
#' # Brownian motion: eigenvalues 1 / ((j - 1/2) pi)^2
#' brown <- kernel_eigenfunctions(k_user(function(x, z) outer(x[, 1], z[, 1], pmin)), k = 3)
#' brown$values * ((1:3 - 0.5) * pi)^2
#' plot(brown)
#' predict(brown, c(0.25, 0.5))
kernel_eigenfunctions <- function(kernel, a = 0, b = 1, n = 200, k = 5, x = NULL, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(kernel)) fail_missing("kernel")
  k <- check_count(k)
  if (is.null(x)) {
    a <- check_number(a)
    b <- check_number(b)
    if (!(a < b)) abort_input("`a` must be below `b`: they are the ends of an interval.", "a")
    n <- check_count(n, lower = 2, upper = 5000)
    kernel <- prepare_kernel(kernel, 1L)
    threads <- if (has_user_code(kernel)) 1L else thread_count(threads)
    raw <- core_eigenfunctions(kernel, c(a, b), n, k, threads, progress_bar("eigenfunctions"))
    nodes <- matrix(raw$nodes, ncol = 1L)
  } else {
    nodes <- check_inputs(x)
    if (nrow(nodes) > 5000L) {
      abort_input(sprintf("`x` has %d rows, but at most 5000 will do: take a sample.", nrow(nodes)), "x")
    }
    kernel <- prepare_kernel(kernel, ncol(nodes))
    threads <- if (has_user_code(kernel)) 1L else thread_count(threads)
    raw <- core_eigenfunctions_at(kernel, nodes, k, threads, progress_bar("eigenfunctions"))
  }
  if (length(raw$values) < k) {
    warn_input(sprintf("`k` is %d, but only %s above rounding.", k,
                       counted(length(raw$values), "eigenvalue is", "eigenvalues are")), "k")
  }
  new_fit("kernel_eigenfunctions", values = raw$values, functions = raw$at_nodes, nodes = nodes, weights = raw$weights,
          trace = raw$trace, coefficients = raw$coefficients, kernel = kernel, n = nrow(nodes), call = call,
          convergence = list())
}

#' @rdname kernel_eigenfunctions
#' @export
print.granary_kernel_eigenfunctions <- function(x, ...) {
  cli::cat_line("granary: ", counted(length(x$values), "eigenfunction", "eigenfunctions"), " of a kernel from ", x$n,
                " nodes")
  print_call(x$call)
  cli::cat_line("kernel:      ", format(x$kernel))
  cli::cat_line("eigenvalues: ", paste(format(utils::head(x$values, 8L), digits = 4L, trim = TRUE), collapse = " "))
  cli::cat_line("share of the trace: ", format(sum(x$values) / x$trace, digits = 4L))
  invisible(x)
}

#' @rdname kernel_eigenfunctions
#' @export
predict.granary_kernel_eigenfunctions <- function(object, newdata = NULL, ...) {
  refuse_dots(...)
  if (is.null(newdata)) return(object$functions)
  at <- check_inputs(newdata, "newdata")
  unname(kernel_matrix(object$kernel, at, object$nodes) %*% object$coefficients)
}

#' @rdname kernel_eigenfunctions
#' @export
coef.granary_kernel_eigenfunctions <- function(object, ...) object$coefficients

#' @rdname kernel_eigenfunctions
#' @export
tidy.granary_kernel_eigenfunctions <- function(x, ...) {
  refuse_dots(...)
  data.frame(order = seq_along(x$values), value = x$values, share = x$values / x$trace)
}

#' @rdname kernel_eigenfunctions
#' @export
plot.granary_kernel_eigenfunctions <- function(x, ...) {
  if (ncol(x$nodes) > 1L) {
    draw(graphics::plot, seq_along(x$values), x$values, log = "y", type = "b", pch = 16, xlab = "order",
         ylab = "eigenvalue", user = list(...))
    return(invisible())
  }
  order <- order(x$nodes[, 1L])
  draw(graphics::matplot, x$nodes[order, 1L], x$functions[order, , drop = FALSE], type = "l", lty = 1, lwd = 2,
       col = grDevices::hcl.colors(max(2L, ncol(x$functions)), "Dark 3"), xlab = "x", ylab = "eigenfunction",
       user = list(...))
  invisible()
}

#' @rdname kernel_eigenfunctions
#' @usage \method{autoplot}{granary_kernel_eigenfunctions}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_kernel_eigenfunctions <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  gg_canvas(tidy.granary_kernel_eigenfunctions(object), ggplot2::aes(x = .data$order, y = .data$value)) +
    ggplot2::geom_point() + ggplot2::geom_line() +
    ggplot2::scale_y_log10() + ggplot2::labs(x = "order", y = "eigenvalue")
}
