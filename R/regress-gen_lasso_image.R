#' Total variation denoising and deblurring
#'
#' Removes noise, and where it is known a blur, from a signal, an image or a volume, keeping edges sharp.
#'
#' @details
#' The estimate minimises
#' \deqn{\frac12 \|y - A u\|^2 + \lambda\, TV(u)}{1/2 ||y - A u||^2 + lambda TV(u)}
#' over images \eqn{u}, with \eqn{A} the blur; without one, the identity. `type = "l1"` adds up the absolute differences of neighbouring cells and
#' is solved exactly by maximum flows (chains by dynamic programming); `"l2"` takes the norm of the differences per cell, which favours no direction, and
#' is solved to the duality gap `tol`; `"tikhonov"` takes squares: one linear system, but edges are smoothed away.
#' A blur that is a number is the mean over a square of that side, at the border over the pixels that exist. One that is a matrix is divided by the sum of
#' its entries that meet the image.
#'
#' `assess(fit, truth =)` compares with the true image: mean squared error and \eqn{SNR = 10 \log_{10} \|u_0 - \bar u_0\|^2 / \|u_0 - u\|^2}{SNR = 10
#' log10(||u0 - mean(u0)||^2 / ||u0 - u||^2)} in decibels, of the estimate and of the image as it was observed.
#'
#' @section Which method when:
#' `"l1"` for images of blocks and wherever exactly constant regions are wanted; `"l2"` for round shapes; `"tikhonov"` as a baseline. For coefficients of a
#' regression that form an image use [gen_lasso()] with [gen_lasso_penalty()].
#'
#' @param image A numeric vector, matrix or three-dimensional array.
#' @param lambda The penalty: one number.
#' @param blur The side of a square mean blur (odd; 1 for none), or a matrix with odd numbers of rows and columns. For matrices only.
#' @param type The kind of total variation.
#' @param tol Relative duality gap at which to stop; `NULL` for 1e-6, or 1e-5 with a blur.
#' @param max_iter Largest number of rounds.
#' @param x,object A fit.
#' @param truth The true image.
#' @param ... For `plot()`, passed on to [graphics::image()] or [graphics::plot()]; otherwise not used.
#' @return An object of class `granary_gen_lasso_image`: `image` (the estimate, shaped as the input), `observed`, `lambda`, `type`, `objective`, `regions`
#'   (number of constant regions), `fit` (the underlying [gen_lasso()] fit), `convergence`. `assess()` a data frame with `mse` and `snr` of the estimate,
#'   `mse_observed` and `snr_observed`.
#' @references
#' Lin, Pham and Ruszczynski (2014). Alternating linearization for structured regularization problems. *Journal of Machine Learning Research* 15,
#' 3447--3481.
#'
#' Rudin, Osher and Fatemi (1992). Nonlinear total variation based noise removal algorithms. *Physica D* 60, 259--268.
#' @seealso [gen_lasso_select()], [gen_lasso_penalty()], [lasso()], [lasso_select()]
#' @seealso [gen_lasso()], [fused_signal()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_gen_lasso("image", dim = c(24, 24), sd = 0.2)
#' fit <- gen_lasso_image(sim$image, lambda = 0.3)
#' fit
#' assess(fit, truth = sim$truth)
#' plot(fit)
#' blurred <- sim_gen_lasso("image", dim = c(16, 16), sd = 0.02, blur = 3)
#' gen_lasso_image(blurred$image, lambda = 0.01, blur = 3, tol = 1e-4)
gen_lasso_image <- function(image, lambda, blur = 1, type = c("l1", "l2", "tikhonov"), tol = NULL, max_iter = 5000, ...) {
  refuse_dots(...)
  call <- match.call()
  type <- check_choice(type, c("l1", "l2", "tikhonov"))
  image <- check_image(image)
  lambda <- check_number(lambda, lower = 0, upper = 1e150)
  operator <- image_blur(blur, image)
  tol <- check_number(tol, lower = 0, upper = 1, strict_lower = TRUE, allow_null = TRUE)
  if (is.null(tol)) tol <- if (is.null(operator)) 1e-6 else 1e-5
  shape <- if (is.null(dim(image))) length(image) else dim(image)
  penalty <- grid_penalty(shape, if (type == "l2") "l2" else "l1")
  if (type == "tikhonov" && is.null(operator)) operator <- methods::as(methods::as(Matrix::Diagonal(length(image)), "CsparseMatrix"), "generalMatrix")
  fit <- gen_lasso(operator, as.double(image), penalty, lambda = lambda, method = if (type == "tikhonov") "tikhonov" else "alin", tol = tol,
                   max_iter = max_iter, intercept = FALSE)
  estimate <- fit$beta[, 1L]
  if (!is.null(dim(image))) dim(estimate) <- dim(image)
  new_fit("gen_lasso_image", image = estimate, observed = image, lambda = lambda, type = type, objective = fit$objective, regions = fit$df, fit = fit,
          n = length(image), call = shorten_call(call), convergence = fit$convergence)
}

# NULL for no blur, an operator for a square, a sparse matrix for a kernel of the user's.
image_blur <- function(blur, image) {
  if (!is.matrix(blur) && identical(check_count(blur, "blur", upper = 10001), 1L)) return(NULL)
  if (!is.matrix(image)) fail_input("image", "a matrix, as there is a blur", describe(image))
  if (is.matrix(blur)) kernel_matrix_of(blur, dim(image)) else blur_operator(dim(image), blur)
}

check_image <- function(image, arg = "image") {
  if (missing(image)) fail_missing(arg)
  usable <- is_plain_numeric(image) && (is.null(dim(image)) || length(dim(image)) <= 3L)
  if (!usable) fail_input(arg, "a numeric vector, matrix or three-dimensional array", describe(image))
  check_vector(as.vector(image), arg, lower = -1e150, upper = 1e150)
  image
}

# The mean over a square of odd side: gen_lasso() takes it as a design, and never forms the matrix.
blur_operator <- function(dim, size = 3) {
  dim <- check_vector(dim, length = 2L, lower = 1, upper = max_neighbors)
  if (any(dim != round(dim)) || prod(dim) > max_neighbors) abort_input("`dim` must be two whole numbers with a product of at most 1e7.", "dim")
  size <- check_count(size, upper = 10001)
  if (size %% 2L == 0L) abort_input(sprintf("`blur` must be odd, so that the square has a middle, but it is %d.", size), "blur")
  seal(structure(list(dim = as.integer(dim), size = size), class = "granary_blur"))
}

#' @export
print.granary_blur <- function(x, ...) {
  cli::cat_line("Mean blur over ", x$size, " x ", x$size, " pixels of a ", x$dim[1L], " x ", x$dim[2L], " image")
  invisible(x)
}

# The convolution with a kernel as a sparse matrix; at the border the weights that meet the image are divided by their sum.
kernel_matrix_of <- function(kernel, dim) {
  kernel <- check_matrix(kernel, "blur")
  if (any(dim(kernel) %% 2L == 0L)) {
    abort_input(sprintf("`blur` must have odd numbers of rows and columns, but it is %d x %d.", nrow(kernel), ncol(kernel)), "blur")
  }
  if (!(sum(kernel) > 0) || any(kernel < 0)) abort_input("`blur` must not be negative, and must have a positive sum.", "blur")
  cells <- arrayInd(seq_len(prod(dim)), dim)
  at <- which(kernel != 0, arr.ind = TRUE)
  offset <- sweep(at, 2L, (dim(kernel) + 1L) / 2L)
  parts <- lapply(seq_len(nrow(at)), function(k) {
    row <- cells[, 1L] + offset[k, 1L]
    column <- cells[, 2L] + offset[k, 2L]
    inside <- row >= 1L & row <= dim[1L] & column >= 1L & column <= dim[2L]
    if (!any(inside)) return(NULL)  # a kernel may reach beyond the image
    cbind(which(inside), (row + (column - 1) * dim[1L])[inside], kernel[at[k, 1L], at[k, 2L]])
  })
  entries <- do.call(rbind, parts)
  sums <- rowsum(entries[, 3L], entries[, 1L])
  total <- rep(1, prod(dim))
  total[as.integer(rownames(sums))] <- sums[, 1L]
  Matrix::sparseMatrix(i = entries[, 1L], j = entries[, 2L], x = entries[, 3L] / total[entries[, 1L]], dims = rep(prod(dim), 2L))
}

#' @rdname gen_lasso_image
#' @export
assess.granary_gen_lasso_image <- function(object, truth, ...) {
  refuse_dots(...)
  if (missing(truth)) fail_missing("truth")
  truth <- check_image(truth, "truth")
  if (length(truth) != length(object$image)) {
    abort_input(sprintf("`truth` must have the %d cells of the fit, but it has %d.", length(object$image), length(truth)), "truth")
  }
  estimate <- image_scores(truth, object$image)
  observed <- image_scores(truth, object$observed)
  data.frame(mse = estimate[["mse"]], snr = estimate[["snr"]], mse_observed = observed[["mse"]], snr_observed = observed[["snr"]])
}

image_scores <- function(truth, estimate) {
  error <- sum((truth - as.vector(estimate))^2)
  signal <- sum((truth - mean(truth))^2)
  c(mse = error / length(truth), snr = if (error == 0) Inf else if (signal == 0) -Inf else 10 * log10(signal / error))
}

#' @rdname gen_lasso_image
#' @export
print.granary_gen_lasso_image <- function(x, ...) {
  shape <- if (is.null(dim(x$image))) length(x$image) else dim(x$image)
  cli::cat_line("Total variation (", x$type, ") of ", paste(shape, collapse = " x "), " cells, lambda ", format(x$lambda, digits = 4L),
                if (x$type == "l1") paste0(": ", x$regions, " constant regions"))
  print_call(x$call)
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname gen_lasso_image
#' @importFrom stats fitted residuals
#' @export
fitted.granary_gen_lasso_image <- function(object, ...) object$image

#' @rdname gen_lasso_image
#' @export
residuals.granary_gen_lasso_image <- function(object, ...) {
  refuse_dots(...)
  out <- residuals(object$fit)
  if (!is.null(dim(object$image))) dim(out) <- dim(object$image)
  out
}

#' @rdname gen_lasso_image
#' @export
tidy.granary_gen_lasso_image <- function(x, ...) {
  refuse_dots(...)
  shape <- if (is.null(dim(x$image))) length(x$image) else dim(x$image)
  cells <- as.data.frame(arrayInd(seq_along(x$image), shape))
  names(cells) <- c("row", "column", "slice")[seq_along(cells)]
  cbind(cells, observed = as.vector(x$observed), estimate = as.vector(x$image))
}

#' @rdname gen_lasso_image
#' @export
plot.granary_gen_lasso_image <- function(x, ...) {
  if (is.matrix(x$image) && min(dim(x$image)) > 1L) {
    old <- graphics::par(mfrow = c(1L, 2L), mar = c(1, 1, 2, 1))
    on.exit(graphics::par(old))
    draw_image(x$observed, main = "observed")
    return(draw_image(x$image, main = "estimate", ...))
  }
  draw(graphics::plot, as.vector(x$observed), pch = 19, cex = 0.6, col = "grey60", las = 1, xlab = "position", ylab = "value", user = list(...))
  graphics::lines(as.vector(x$image), type = "s", col = sign_colours[["positive"]], lwd = 2)
  invisible()
}
