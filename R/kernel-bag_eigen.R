#' The shape of a bag in the feature space of a kernel
#'
#' Leading eigenfunctions of the covariance operator of a sample: kernel principal components, as functions that can
#' be looked at. Their eigenvalues are what [k_bag()] of type `"igv"` compares: for two bags together they rise, and
#' spread, the more the bags differ.
#'
#' @details
#' With weights \eqn{w} that sum to one and \eqn{K} the kernel matrix of the points, the eigenvectors \eqn{v} of
#' \eqn{D^{1/2}(I - 1w')K(I - w1')D^{1/2}}{D^(1/2) (I - 1w') K (I - w1') D^(1/2)}, \eqn{D = \mathrm{diag}(w)}{D =
#' diag(w)}, with eigenvalues \eqn{\lambda}{lambda}, give functions of length one in the feature space whose variance
#' over the bag is \eqn{\lambda}{lambda}. They are centred over the bag, and their largest value is positive.
#'
#' @section Which method when:
#' To look at one bag, or at two thrown together. For all bags at once, [kernel_matrix()] with [k_bag()]; for
#' principal components of a data set, the same function.
#'
#' @param x A bag: points, one per row; an attribute `"weights"` weights them.
#' @param kernel A kernel over points, or its text.
#' @param k Number of functions.
#' @param object A fit.
#' @param newdata Points, as `x`.
#' @param which Number of the function.
#' @param ... For `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @return An object of class `granary_bag_eigen`: `values`, the eigenvalues, `share` of the trace, `functions` at
#'   the points of the bag. `predict()` gives the functions at other points, `tidy()` the eigenvalues. `plot()` draws
#'   a function over the first two coordinates, or the first one.
#' @references
#' Cuturi, Fukumizu and Vert (2005). Semigroup kernels on measures. *Journal of Machine Learning Research* 6,
#' 1169--1198: figures 4 and 5.
#' @seealso [k_bag()]
#' @export
#' @examples
#' fit <- bag_eigen(as.matrix(faithful), k_se(lengthscale = c(0.5, 6)), k = 3)
#' fit
#' tidy(fit)
#' predict(fit, faithful[1:3, ])
#' plot(fit)
bag_eigen <- function(x, kernel = "se", k = 4, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(x)) fail_missing("x")
  k <- check_count(k)
  bag <- read_bag(x, "x")
  kernel <- as_kernel(kernel)
  if (has_objects(kernel)) fail_input("kernel", "a kernel over points", "one over objects")
  kernel <- prepare_kernel(kernel, ncol(bag$x))
  points <- bag$x
  raw <- core_bag_eigen(list(x = unname(bag$x), weights = bag$weights), kernel, k, matrix(0, 0L, ncol(bag$x)))
  labels <- paste0("f", seq_along(raw$values))
  new_fit("bag_eigen", values = stats::setNames(raw$values, labels),
          share = stats::setNames(raw$values / raw$trace, labels),
          functions = structure(raw$at_bag, dimnames = list(rownames(points), labels)), x = points,
              weights = bag$weights, kernel = kernel, k = k, call = call,
          convergence = list())
}

#' @rdname bag_eigen
#' @export
print.granary_bag_eigen <- function(x, ...) {
  check_fit(x)
  cli::cat_line(fit_title(x), ": ", counted(nrow(x$x), "point", "points"), ", kernel ", format(x$kernel))
  cli::cat_line("Eigenvalues: ", paste(format(x$values, digits = 4L), collapse = " "))
  cli::cat_line("Share of the variance: ", paste(format(round(x$share, 3L)), collapse = " "))
  invisible(x)
}

#' @rdname bag_eigen
#' @export
tidy.granary_bag_eigen <- function(x, ...) {
  check_fit(x)
  data.frame(term = names(x$values), estimate = unname(x$values), share = unname(x$share))
}

#' @rdname bag_eigen
#' @export
predict.granary_bag_eigen <- function(object, newdata = NULL, ...) {
  refuse_dots(...)
  check_fit(object)
  if (is.null(newdata)) return(object$functions)
  if (is_plain_numeric(newdata) && is.null(dim(newdata))) newdata <- matrix(newdata, ncol = 1L)
  newdata <- check_matrix(newdata)
  if (!is.null(colnames(object$x)) && !is.null(colnames(newdata)) && all(colnames(object$x) %in% colnames(newdata))) {
    newdata <- newdata[, colnames(object$x), drop = FALSE]
  }
  if (ncol(newdata) != ncol(object$x)) abort_input(sprintf("`newdata` must have the %d columns of the bag, not %d.",
                                                           ncol(object$x), ncol(newdata)), "newdata")
  raw <- core_bag_eigen(list(x = unname(object$x), weights = object$weights), object$kernel, length(object$values),
                        newdata)
  structure(raw$at_new, dimnames = list(rownames(newdata), names(object$values)))
}

bag_eigen_frame <- function(x, which) {
  which <- check_count(which, upper = length(x$values))
  labels <- if (is.null(colnames(x$x))) paste0("x", seq_len(ncol(x$x))) else colnames(x$x)
  list(data = data.frame(a = x$x[, 1L], b = if (ncol(x$x) > 1L) x$x[, 2L] else x$functions[, which],
                         value = x$functions[, which]),
       labels = c(labels[1L], if (ncol(x$x) > 1L) labels[2L] else names(x$values)[which]),
           title = sprintf("Eigenfunction %d, %.0f%% of the variance", which, 100 * x$share[which]))
}

#' @rdname bag_eigen
#' @export
plot.granary_bag_eigen <- function(x, which = 1, ...) {
  check_fit(x)
  shown <- bag_eigen_frame(x, which)
  colours <- grDevices::hcl.colors(64L, "Blue-Red 3")
  top <- max(abs(shown$data$value))
  at <- 1 + round(63 * (shown$data$value + top) / (2 * top))
  draw(graphics::plot, shown$data$a, shown$data$b, pch = 19, col = colours[at], xlab = shown$labels[1L],
       ylab = shown$labels[2L], main = shown$title, user = list(...))
  invisible(x)
}

#' @rdname bag_eigen
#' @usage \method{autoplot}{granary_bag_eigen}(object, which = 1, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_bag_eigen <- function(object, which = 1, ...) {
  check_fit(object)
  shown <- bag_eigen_frame(object, which)
  ggplot2::ggplot(shown$data, ggplot2::aes(x = .data$a, y = .data$b, colour = .data$value)) + ggplot2::geom_point() +
    ggplot2::scale_colour_gradient2(name = NULL) + ggplot2::labs(x = shown$labels[1L], y = shown$labels[2L],
                                                                 title = shown$title)
}
