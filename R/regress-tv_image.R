#' Total variation denoising and deblurring
#'
#' Removes noise, and with `tv_deblur()` a known blur, from a signal, an image or a volume, keeping edges sharp.
#'
#' @details
#' Both minimise
#' \deqn{\frac12 \|y - A u\|^2 + \lambda\, TV(u)}{1/2 ||y - A u||^2 + lambda TV(u)}
#' over images \eqn{u}, with \eqn{A} the identity for denoising. `type = "l1"` adds up the absolute differences of neighbouring cells and
#' is solved exactly by maximum flows (chains by dynamic programming); `"l2"` takes the norm of the differences per cell, which favours no
#' direction, and is
#' solved to the duality gap `tol`; `"tikhonov"` takes squares: one linear system, but edges are smoothed away.
#' `blur_operator()` is the mean over a square of odd side `size`, at the border over the pixels that exist. A `kernel` that is a matrix is divided
#' by the sum of its entries
#' that meet the image.
#'
#' `image_metrics()` compares an image with the true one: mean squared error and \eqn{SNR = 10 \log_{10} \|u_0 - \bar u_0\|^2 / \|u_0 - u\|^2}{SNR
#' = 10 log10(||u0 -
#' mean(u0)||^2 / ||u0 - u||^2)} in decibels.
#'
#' **Which method when:** `"l1"` for images of blocks and wherever exactly constant regions are wanted; `"l2"` for round shapes; `"tikhonov"` as a
#' baseline.
#'
#' @param image A numeric vector, matrix or three-dimensional array.
#' @param lambda The penalty: one number.
#' @param type The kind of total variation.
#' @param kernel For `tv_deblur()`, the side of a square mean blur, or a matrix with odd numbers of rows and columns.
#' @param tol Relative duality gap at which to stop.
#' @param max_iter Largest number of rounds.
#' @param dim Numbers of rows and columns of the image.
#' @param size Side of the square; odd.
#' @param truth,estimate Two images of one size.
#' @return An object of class `granary_tv_image`: `image` (the estimate, shaped as the input), `observed`, `lambda`, `type`, `objective`, `regions`
#'   (number of
#'   constant regions), `fit` (the underlying [gen_lasso()] fit), `convergence`. `image_metrics()` a named vector `mse`, `snr`; `blur_operator()`
#'   an operator that
#'   [gen_lasso()] takes as `x`.
#' @references
#' Lin, Pham and Ruszczynski (2014). Alternating linearization for structured regularization problems. *Journal of Machine Learning Research* 15,
#' 3447--3481.
#'
#' Rudin, Osher and Fatemi (1992). Nonlinear total variation based noise removal algorithms. *Physica D* 60, 259--268.
#' @family regression
#' @seealso [gen_lasso()], [fused_signal()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_image(c(24, 24), sd = 0.2)
#' fit <- tv_denoise(sim$image, lambda = 0.3)
#' fit
#' image_metrics(sim$truth, fit$image)
#' plot(fit)
#' blurred <- sim_image(c(16, 16), sd = 0.02, blur = 3)
#' tv_deblur(blurred$image, kernel = 3, lambda = 0.01, tol = 1e-4)
#' blur_operator(c(16, 16), 3)
tv_denoise <- function(image, lambda, type = c("l1", "l2", "tikhonov"), tol = 1e-6, max_iter = 5000) {
  call <- match.call()
  type <- check_choice(type, c("l1", "l2", "tikhonov"))
  image <- check_image(image)
  lambda <- check_number(lambda, lower = 0, upper = 1e150)
  tv_fit(image, NULL, lambda, type, tol, max_iter, call)
}

#' @rdname tv_denoise
#' @export
tv_deblur <- function(image, kernel = 3, lambda, type = c("l1", "l2", "tikhonov"), tol = 1e-5, max_iter = 500) {
  call <- match.call()
  type <- check_choice(type, c("l1", "l2", "tikhonov"))
  image <- check_image(image)
  lambda <- check_number(lambda, lower = 0, upper = 1e150)
  if (!is.matrix(image)) fail_input("image", "a matrix", describe(image))
  operator <- if (is.matrix(kernel)) kernel_matrix_of(kernel, dim(image)) else blur_operator(dim(image), kernel)
  tv_fit(image, operator, lambda, type, tol, max_iter, call)
}

check_image <- function(image, arg = "image") {
  if (missing(image)) fail_missing(arg)
  usable <- is_plain_numeric(image) && (is.null(dim(image)) || length(dim(image)) <= 3L)
  if (!usable) fail_input(arg, "a numeric vector, matrix or three-dimensional array", describe(image))
  check_vector(as.vector(image), arg, lower = -1e150, upper = 1e150)
  image
}

tv_fit <- function(image, operator, lambda, type, tol, max_iter, call) {
  shape <- if (is.null(dim(image))) length(image) else dim(image)
  penalty <- tv_grid(shape, if (type == "l2") "l2" else "l1")
  if (type == "tikhonov" && is.null(operator)) operator <- methods::as(methods::as(Matrix::Diagonal(length(image)), "CsparseMatrix"), "generalMatrix")
  fit <- gen_lasso(operator, as.double(image), penalty, lambda = lambda, method = if (type == "tikhonov") "tikhonov" else "alin", tol = tol,
                   max_iter = max_iter)
  estimate <- fit$beta[, 1L]
  if (!is.null(dim(image))) dim(estimate) <- dim(image)
  new_fit("tv_image", image = estimate, observed = image, lambda = lambda, type = type, objective = fit$objective, regions = fit$df, fit = fit,
          call = call, convergence = fit$convergence)
}

#' @rdname tv_denoise
#' @export
blur_operator <- function(dim, size = 3) {
  dim <- check_vector(dim, length = 2L, lower = 1, upper = max_neighbors)
  if (any(dim != round(dim)) || prod(dim) > max_neighbors) abort_input("`dim` must be two whole numbers with a product of at most 1e7.", "dim")
  size <- check_count(size, upper = 10001)
  if (size %% 2L == 0L) abort_input(sprintf("`size` must be odd, so that the square has a middle, but it is %d.", size), "size")
  structure(list(dim = as.integer(dim), size = size), class = "granary_blur")
}

#' @export
print.granary_blur <- function(x, ...) {
  cli::cat_line("Mean blur over ", x$size, " x ", x$size, " pixels of a ", x$dim[1L], " x ", x$dim[2L], " image")
  invisible(x)
}

# The convolution with a kernel as a sparse matrix; at the border the weights that meet the image are divided by their sum.
kernel_matrix_of <- function(kernel, dim) {
  kernel <- check_matrix(kernel, "kernel")
  if (any(dim(kernel) %% 2L == 0L)) {
    abort_input(sprintf("`kernel` must have odd numbers of rows and columns, but it is %d x %d.", nrow(kernel), ncol(kernel)), "kernel")
  }
  if (!(sum(kernel) > 0) || any(kernel < 0)) abort_input("`kernel` must not be negative, and must have a positive sum.", "kernel")
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

#' @rdname tv_denoise
#' @export
image_metrics <- function(truth, estimate) {
  truth <- check_image(truth, "truth")
  estimate <- check_image(estimate, "estimate")
  if (length(truth) != length(estimate)) {
    abort_input(sprintf("`estimate` must have the %d cells of `truth`, but it has %d.", length(truth), length(estimate)), "estimate")
  }
  error <- sum((truth - as.vector(estimate))^2)
  signal <- sum((truth - mean(truth))^2)
  c(mse = error / length(truth), snr = if (error == 0) Inf else if (signal == 0) -Inf else 10 * log10(signal / error))
}

#' @export
print.granary_tv_image <- function(x, ...) {
  shape <- if (is.null(dim(x$image))) length(x$image) else dim(x$image)
  cli::cat_line("Total variation (", x$type, ") of ", paste(shape, collapse = " x "), " cells, lambda ", format(x$lambda, digits = 4L),
                if (x$type == "l1") paste0(": ", x$regions, " constant regions"))
  print_call(x$call)
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @importFrom stats fitted residuals
#' @export
fitted.granary_tv_image <- function(object, ...) object$image

#' @export
residuals.granary_tv_image <- function(object, ...) {
  refuse_dots(...)
  out <- residuals(object$fit)
  if (!is.null(dim(object$image))) dim(out) <- dim(object$image)
  out
}

#' @export
tidy.granary_tv_image <- function(x, ...) {
  refuse_dots(...)
  shape <- if (is.null(dim(x$image))) length(x$image) else dim(x$image)
  cells <- as.data.frame(arrayInd(seq_along(x$image), shape))
  names(cells) <- c("row", "column", "slice")[seq_along(cells)]
  cbind(cells, observed = as.vector(x$observed), estimate = as.vector(x$image))
}

#' @export
plot.granary_tv_image <- function(x, ...) {
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

#' Data for the generalized lasso
#'
#' The set-ups of the experiments in Lin, Pham and Ruszczynski (2014), and images to denoise.
#'
#' @details
#' `"spikes"`: entries of the design N(0, 0.01), 160 (or at most a quarter of `p`) coefficients of \eqn{\pm 1}{+-1} at random places (their section
#' 5.1).
#' `"blocks"`: rows with correlation 0.3 between all columns, ten percent of the coefficients 1, the next twenty percent 2, in one stretch that
#' starts after the first
#' ten percent (section 5.2). `"volume"`: coefficients of a volume that are 1 in two balls, a design of smooth random fields (in place of the
#' images of section 5.5, which are not public).
#'
#' @param type The set-up.
#' @param n,p Numbers of rows and coefficients.
#' @param sd Standard deviation of the noise.
#' @param dim Dimensions of the volume or image.
#' @param blur Side of the mean blur; 1 for none.
#' @return `sim_gen_lasso()` a list with `x`, `y`, `beta` and `penalty`; `sim_image()` one with `image`, `truth` and the noise-free, possibly
#'   blurred `clean`.
#' @family regression
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_gen_lasso("blocks", n = 50, p = 100)
#' rle(sim$beta)
#' str(sim_image(c(16, 16)))
sim_gen_lasso <- function(type = c("spikes", "blocks", "volume"), n = 100, p = 200, sd = 0.1, dim = c(8, 8, 4)) {
  type <- check_choice(type, c("spikes", "blocks", "volume"))
  n <- check_count(n, upper = 1e6)
  p <- check_count(p, upper = 1e6)
  sd <- check_number(sd, lower = 0)
  dim <- check_vector(dim, length = 3L, lower = 1, upper = 1000)
  if (type == "volume") p <- prod(round(dim))
  if (n * p > 1e9) abort_input(sprintf("`n` times `p` must be at most 1e9 to fit into memory, but it is %.3g.", n * p), "p")
  beta <- numeric(p)
  if (type == "spikes") {
    x <- matrix(stats::rnorm(n * p, sd = 0.1), n)
    spikes <- min(160L, max(1L, p %/% 4L))
    beta[sample.int(p, spikes)] <- sample(c(-1, 1), spikes, replace = TRUE)
    penalty <- penalty_matrix(Matrix::Diagonal(p))
  } else if (type == "blocks") {
    x <- sqrt(0.7) * matrix(stats::rnorm(n * p), n) + sqrt(0.3) * stats::rnorm(n)
    tenth <- p %/% 10L
    beta[seq_len(tenth) + tenth] <- 1
    beta[seq_len(2L * tenth) + 2L * tenth] <- 2
    penalty <- fused_chain(p)
  } else {
    dim <- round(dim)
    penalty <- tv_grid(dim)
    cells <- arrayInd(seq_len(p), dim)
    ball <- function(centre, radius) colSums((t(cells) - centre)^2) <= radius^2
    beta[ball(0.3 * dim + 0.5, max(1, 0.2 * min(dim[1:2]))) | ball(0.7 * dim + 0.5, max(1, 0.2 * min(dim[1:2])))] <- 1
    x <- matrix(stats::rnorm(n * p), n)
    x <- as.matrix(x %*% (Matrix::Diagonal(p, 0.5) + 0.5 * Matrix::crossprod(abs(penalty$matrix)) / 6))
  }
  list(x = x, y = drop(x %*% beta) + stats::rnorm(n, sd = sd), beta = beta, penalty = penalty)
}

#' @rdname sim_gen_lasso
#' @export
sim_image <- function(dim = c(64, 64), sd = 0.1, blur = 1) {
  dim <- check_vector(dim, length = 2L, lower = 1, upper = 10000)
  dim <- round(dim)
  sd <- check_number(sd, lower = 0)
  blur <- check_count(blur, upper = 10001)
  u <- rep((seq_len(dim[1L]) - 0.5) / dim[1L], dim[2L])
  v <- rep((seq_len(dim[2L]) - 0.5) / dim[2L], each = dim[1L])
  truth <- matrix(0.2 + 0.6 * ((u - 0.35)^2 + (v - 0.35)^2 < 0.05) + 0.3 * (u > 0.55 & v > 0.2 & v < 0.9 & u < 0.85) - 0.2 * (abs(u - v) < 0.05),
                  dim[1L], dim[2L])
  if (blur %% 2L == 0L) abort_input(sprintf("`blur` must be odd, but it is %d.", blur), "blur")
  clean <- if (blur > 1L) matrix(as.vector(kernel_matrix_of(matrix(1, blur, blur), dim) %*% as.vector(truth)), dim[1L]) else truth
  list(image = clean + stats::rnorm(prod(dim), sd = sd), truth = truth, clean = clean)
}
