# Data to try the generalized lasso on.

#' Data for the generalized lasso
#'
#' The set-ups of the experiments in Lin, Pham and Ruszczynski (2014), and images to denoise.
#'
#' @details
#' `"spikes"`: entries of the design N(0, 0.01), 160 (or at most a quarter of `p`) coefficients of \eqn{\pm 1}{+-1} at random places (their section
#' 5.1). `"blocks"`: rows with correlation 0.3 between all columns, ten percent of the coefficients 1, the next twenty percent 2, in one stretch that
#' starts after the first ten percent (section 5.2). `"volume"`: coefficients of a volume that are 1 in two balls, a design of smooth random fields (in
#' place of the images of section 5.5, which are not public). `"image"`: a disc, a bar and a band, blurred by the mean over a square of side `blur`, plus
#' noise.
#'
#' @section Which method when: To try [gen_lasso()] and [gen_lasso_image()] where the truth is known.
#'
#' @param design The set-up.
#' @param n,p Numbers of rows and coefficients, for `"spikes"` and `"blocks"`.
#' @param sd Standard deviation of the noise.
#' @param dim Dimensions: three of the volume, two of the image; `NULL` for 8 x 8 x 4 and 64 x 64.
#' @param blur Side of the mean blur of the image; 1 for none.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list with `x`, `y`, `beta` and `penalty`; for `"image"` one with `image`, `truth` and the noise-free, possibly blurred `clean`.
#' @seealso [gen_lasso()], [gen_lasso_select()], [gen_lasso_penalty()], [gen_lasso_image()], [lasso()], [lasso_select()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_gen_lasso("blocks", n = 50, p = 100)
#' rle(sim$beta)
#' str(sim_gen_lasso("image", dim = c(16, 16)))
sim_gen_lasso <- function(design = c("spikes", "blocks", "volume", "image"), n = 100, p = 200, sd = 0.1, dim = NULL, blur = 1, ...) {
  refuse_dots(...)
  design <- check_choice(design, c("spikes", "blocks", "volume", "image"))
  n <- check_count(n, upper = 1e6)
  p <- check_count(p, upper = 1e6)
  sd <- check_number(sd, lower = 0)
  blur <- check_count(blur, upper = 10001)
  dim <- check_vector(dim, length = if (design == "image") 2L else 3L, lower = 1, upper = if (design == "image") 10000 else 1000, allow_null = TRUE)
  if (design == "image") return(sim_image(if (is.null(dim)) c(64, 64) else round(dim), sd, blur))
  dim <- if (is.null(dim)) c(8, 8, 4) else round(dim)
  if (design == "volume") p <- prod(dim)
  if (n * p > 1e9) abort_input(sprintf("`n` times `p` must be at most 1e9 to fit into memory, but it is %.3g.", n * p), "p")
  beta <- numeric(p)
  if (design == "spikes") {
    x <- matrix(stats::rnorm(n * p, sd = 0.1), n)
    spikes <- min(160L, max(1L, p %/% 4L))
    beta[sample.int(p, spikes)] <- sample(c(-1, 1), spikes, replace = TRUE)
    penalty <- matrix_penalty(Matrix::Diagonal(p))
  } else if (design == "blocks") {
    x <- sqrt(0.7) * matrix(stats::rnorm(n * p), n) + sqrt(0.3) * stats::rnorm(n)
    tenth <- p %/% 10L
    beta[seq_len(tenth) + tenth] <- 1
    beta[seq_len(2L * tenth) + 2L * tenth] <- 2
    penalty <- chain_penalty(p)
  } else {
    penalty <- grid_penalty(dim)
    cells <- arrayInd(seq_len(p), dim)
    ball <- function(centre, radius) colSums((t(cells) - centre)^2) <= radius^2
    beta[ball(0.3 * dim + 0.5, max(1, 0.2 * min(dim[1:2]))) | ball(0.7 * dim + 0.5, max(1, 0.2 * min(dim[1:2])))] <- 1
    x <- matrix(stats::rnorm(n * p), n)
    x <- as.matrix(x %*% (Matrix::Diagonal(p, 0.5) + 0.5 * Matrix::crossprod(abs(penalty$matrix)) / 6))
  }
  list(x = x, y = drop(x %*% beta) + stats::rnorm(n, sd = sd), beta = beta, penalty = penalty)
}

sim_image <- function(dim, sd, blur) {
  u <- rep((seq_len(dim[1L]) - 0.5) / dim[1L], dim[2L])
  v <- rep((seq_len(dim[2L]) - 0.5) / dim[2L], each = dim[1L])
  truth <- matrix(0.2 + 0.6 * ((u - 0.35)^2 + (v - 0.35)^2 < 0.05) + 0.3 * (u > 0.55 & v > 0.2 & v < 0.9 & u < 0.85) - 0.2 * (abs(u - v) < 0.05),
                  dim[1L], dim[2L])
  if (blur %% 2L == 0L) abort_input(sprintf("`blur` must be odd, but it is %d.", blur), "blur")
  clean <- if (blur > 1L) matrix(as.vector(kernel_matrix_of(matrix(1, blur, blur), dim) %*% as.vector(truth)), dim[1L]) else truth
  list(image = clean + stats::rnorm(prod(dim), sd = sd), truth = truth, clean = clean)
}
