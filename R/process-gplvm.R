#' Gaussian process latent variable model
#'
#' A map of the rows of a data matrix in two or three dimensions, with a smooth mapping back to the data and its uncertainty: a probabilistic,
#' non-linear principal component analysis. Columns may be continuous or binary, and cells may be missing. New rows can be placed on the map
#' (`predict(type = "latent")`), missing cells filled in (`type = "impute"`), and the map shaded by how sure the model is (`plot()`).
#'
#' @details
#' Let \eqn{Y} be the centred \eqn{N \times D}{N x D} data and \eqn{X} the \eqn{N \times q}{N x q} latent positions. Each column of \eqn{Y} is a
#' draw from a Gaussian process over the latent space with the same kernel, so that with \eqn{K_{nm} = k(x_n, x_m)}{K_nm = k(x_n, x_m)}
#' \deqn{L(X, \theta) = -\frac{DN}{2}\log 2\pi - \frac D2 \log|K| - \frac12 \mathrm{tr}(K^{-1}YY').}{L(X, theta) = -(D N / 2) log 2 pi - (D / 2)
#' log |K|
#'   - tr(K^-1 YY') / 2.}
#' \eqn{L - \frac12\sum_n |x_n|^2}{L - sum_n |x_n|^2 / 2} is maximised over \eqn{X} and the parameters \eqn{\theta}{theta} of the kernel at once;
#' the last term is the prior \eqn{x_n \sim N(0, I)}{x_n ~ N(0, I)}, left out with `prior = FALSE`.
#' With `k_linear() + k_white()` the maximum is known: [dppca()].
#'
#' **Methods.** `"full"` climbs by L-BFGS, \eqn{O(N^3 + N^2 \min(D, N))}{O(N^3 + N^2 min(D, N))} per step: for up to two thousand rows or so.
#' `"sparse"` is Algorithm 1 of the paper: in each of `n_rounds` rounds an active set of `active` rows is chosen so that each lowers the entropy of
#' the posterior most (informative vector machine, \eqn{O(Nd^2)}), the likelihood of these rows is maximised, and every other row \eqn{j} is
#' placed where \eqn{\log N(y_j | \mu(x), s^2(x) I) - |x|^2/2}{log N(y_j | mu(x), s^2(x) I) - |x|^2 / 2} is largest, from where it was and from the
#' place of the active row most like it. With `move_active = FALSE` only \eqn{\theta}{theta} is learnt from the active rows. The paper selects a
#' second time before it places the others; with moving active rows that picks just those which were left behind, so here it is done only with
#' `move_active = FALSE`. A round that lowers the objective is taken back, and the next one takes half as many steps. As rounds climb the likelihood
#' of the active rows and that of the others in turns, they stop short of a maximum of the sum: with normal noise and `move_active` all
#' positions and parameters then climb at once, the active set fixed, in up to 50 times `max_iter` steps of \eqn{O(Nd(d + D))}, or
#' \eqn{O(Nd^2D)} where every column misses other cells. With binary columns there are only rounds: converged means that they no longer raise the
#' objective, not that nothing could. The smaller the active set, the worse the map: the paper notes the same.
#'
#' **Noise.** Normal noise is the `k_white()` part of the kernel, with a floor of \eqn{10^{-6}}{1e-6} times the mean variance of the columns that
#' keeps the model from interpolating. `noise_var` adds known variances for each cell. `noise = "bernoulli"` is for columns of zeros and ones:
#' \eqn{P(y_{ni} = 1) = \Phi(f_{ni} + b_i)}{P(y_ni = 1) = Phi(f_ni + b_i)} with \eqn{b_i} from the share of ones, approximated by normal sites that
#' are found by assumed density filtering (equations 15--17 of the paper) and held fixed while \eqn{X} and \eqn{\theta}{theta} climb, in `n_rounds`
#' rounds, of which those that lower the evidence are taken back; its log-likelihood is the sum of the logarithms of the normalisers. This takes one
#' factorisation per column instead of one for all.
#'
#' **Missing cells** (`NA`) are left out of the likelihood; columns that miss the same rows share a factorisation.
#'
#' **Starts.** The objective has many local maxima. `"pca"` starts at the principal components, `"isomap"` at [isomap()], which unfolds
#' manifolds that principal components fold (a Swiss roll), `"random"` at normal draws; a matrix gives positions. Several names, such as
#' `c("pca", "isomap")`, are all tried; further starts up to `n_starts` are random. The fit with the best objective is kept, `starts` shows all.
#'
#' **Scales.** The data are divided by one number, the root of the mean variance of the columns, and results given in the units of `x`. Kernels given
#' as text start at the values of the paper in these units (variances 1, `k_bias()` and `k_white()` at \eqn{e^{-1}}); kernel objects start at their own
#' values, in the units of `x`.
#' Where the kernel is the same in all directions the map is turned to its principal axes, the largest entry of each axis being positive.
#' The prior does not fix the scale of \eqn{X}, whatever the paper says: a smaller map with smaller lengthscales has the same \eqn{L} and a
#' smaller penalty, without end. Where the kernel learns its lengthscale (or `weight` of `k_mlp()`, variance of `k_linear()`) \eqn{L} alone is therefore
#' maximised, and the map is given the size that the prior expects: mean square one, about the origin. Elsewhere, as with
#' `k_se(fixed = "lengthscale")`, the penalised likelihood is maximised as it stands.
#'
#' @section Which method when:
#' `gplvm()` for maps of up to some thousand rows with a mapping back to the data, uncertainty, missing cells or binary columns; [dppca()] for the linear
#' one in closed form; [isomap()] where only the unfolding is wanted; [gtm()] for many rows and a map of one or two dimensions; [kernel_pca()] when only
#' a kernel between rows is known.
#'
#' @param x Data, one row per case: a matrix or data frame of numbers, with `NA` for missing cells.
#' @param k Number of latent dimensions.
#' @param kernel A kernel over the latent space (see [kernels]) with derivatives in its inputs, or text such as `"se + bias + white"`,
#'   `"mlp + bias + white"`; in text `"rbf"`, the paper's word, is `k_se()`. `k_se(ard = TRUE)` learns which dimensions are needed.
#' @param method See Details.
#' @param active Size \eqn{d} of the active set of `method = "sparse"`.
#' @param init Where to start: one or several of `"pca"`, `"isomap"`, `"random"`, or a matrix of positions.
#' @param noise Kind of columns: continuous, or zeros and ones.
#' @param noise_var Known variances of the noise of the cells, on top of the kernel's `k_white()`, in squared units of `x`: one number, one per
#'   column, or a matrix like `x`. Not for binary columns.
#' @param prior Whether latent positions have a standard normal prior.
#' @param center,scale Whether to subtract column means, and to divide by standard deviations. Binary columns are left alone.
#' @param n_starts Number of starts.
#' @param n_rounds Rounds of `method = "sparse"` and of binary columns, \eqn{T}. `NULL` for the paper's 15, or 75 for binary columns with `"full"`.
#' @param move_active Whether `method = "sparse"` moves the active rows.
#' @param neighbors Neighbours for `init = "isomap"`.
#' @param max_iter Largest number of L-BFGS steps; where there are rounds, of each. `NULL` for 1000, or 20 where there are rounds.
#' @param tol Relative change of the objective at which to stop.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_gplvm`: a list with
#' \item{latent}{the map, rows x `k`}
#' \item{kernel}{the kernel with its learnt parameters, in the units of `x`}
#' \item{loglik, objective}{\eqn{L}, and with the prior, as densities of `x` in its own units}
#' \item{starts}{what each start reached}
#' \item{trace}{objective along the way}
#' \item{active}{rows of the active set; all for `method = "full"`}
#' \item{x, centre, scale, unit}{the data, and how they were standardised}
#' @references
#' Lawrence (2005). Probabilistic non-linear principal component analysis with Gaussian process latent variable models. *Journal of Machine
#' Learning Research* 6, 1783--1816.
#' @seealso [dppca()], [gplvm_dimension()], [isomap()], [kernel_pca()], [gtm()]
#' @seealso [granary_gplvm] for what can be done with a fit; `errata("jmlr6-gplvm")`; `reproduce("jmlr6-gplvm")`
#' @export
#' @examples
#' x <- scale(iris[seq(1, 150, 3), 1:4])
#' fit <- gplvm(x, max_iter = 300, tol = 1e-4)
#' fit
#' plot(fit, labels = iris$Species[seq(1, 150, 3)])
#' assess(fit, truth = iris$Species[seq(1, 150, 3)])
gplvm <- function(x, k = 2, kernel = "se + bias + white", method = c("full", "sparse"), active = 100, init = "pca",
                  noise = c("gaussian", "bernoulli"), noise_var = NULL, prior = TRUE, center = TRUE, scale = FALSE, n_starts = 1,
                  n_rounds = NULL, move_active = TRUE, neighbors = 7, max_iter = NULL, tol = 1e-7, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  noise <- check_choice(noise, c("gaussian", "bernoulli"))
  method <- check_choice(method, c("full", "sparse"))
  binary <- noise == "bernoulli"
  data <- latent_data(x, center = check_flag(center) && !binary, scale = check_flag(scale) && !binary, binary = binary)
  n <- nrow(data$y)
  q <- check_latent_dimension(k, n, ncol(data$y))
  active <- check_count(active, lower = 2)
  settings <- list(
    method = method, noise = noise, offset = as.double(data$offset), nugget = gplvm_floor, prior = check_flag(prior),
    tol = check_number(tol, lower = 0, strict_lower = TRUE),
    n_rounds = check_count(n_rounds, allow_null = TRUE) %||% if (binary && method == "full") 75L else 15L,
    active = min(active, n), move_active = check_flag(move_active)
  )
  max_iter <- check_count(max_iter, allow_null = TRUE)
  settings$max_iter <- if (!is.null(max_iter)) max_iter else if (method == "sparse" || binary) 20L else 1000L
  neighbors <- check_count(neighbors)
  n_starts <- check_count(n_starts, upper = 10000)
  threads <- thread_count(threads)
  cell_noise <- check_noise_variance(noise_var, data, binary)
  kernel <- gplvm_kernel(kernel, q, data$unit)
  if (method == "full") check_all_pairs(n, 4, "Use method = \"sparse\".")
  if (method == "full" && n > 2000L) {
    warn_input(sprintf("Each step of method = \"full\" takes time in proportion to the cube of %d rows. Consider method = \"sparse\".", n), "method")
  }
  starts <- gplvm_starts(init, n_starts, data, q, neighbors, threads)

  settings$turn <- q > 1L && turns_freely(kernel)
  settings$threads <- threads
  climb <- function(start, progress = NULL) {
    core_gplvm(list(y = data$filled, noise = cell_noise, kernel = kernel), start, settings, progress)
  }
  fits <- if (length(starts) == 1L) list(climb(starts[[1L]], progress_bar("latent map"))) else resample_lapply(starts, climb, "latent maps")
  reached <- vapply(fits, function(f) f$objective, 0)
  best <- fits[[which.max(reached)]]
  fit <- new_gplvm(best, data, kernel, settings, q, method, noise, call)
  fit$starts <- data.frame(
    start = names(starts), loglik = vapply(fits, function(f) f$loglik, 0) - data$jacobian, objective = reached - data$jacobian,
    converged = vapply(fits, function(f) f$convergence$converged, NA), stringsAsFactors = FALSE
  )
  if (!binary && learnt_white(fit$model$kernel) < 2 * gplvm_floor && is.null(noise_var)) {
    warn_input("The noise of the kernel is at its floor: the model interpolates the data. Use fewer latent dimensions or more rows.")
  }
  rounds <- binary || method == "sparse" && !settings$move_active
  check_convergence(fit, if (rounds) "Raise `n_rounds`, or loosen `tol`." else "Raise `max_iter`, loosen `tol`, or rescale the data.")
  fit
}

gplvm_floor <- 1e-6  # under the noise, in units of the mean variance

# Standardised data: y (with NA), filled (NA as 0), what undoes it, and the columns that do not vary.
latent_data <- function(x, center, scale, binary = FALSE, allow_na = TRUE, min_rows = 3L) {
  x <- check_matrix(x, "x", min_rows = min_rows, allow_na = allow_na)
  if (is.null(colnames(x))) colnames(x) <- character(ncol(x))
  unnamed <- which(is.na(colnames(x)) | !nzchar(colnames(x)))
  colnames(x)[unnamed] <- paste0("V", unnamed)
  missing <- is.na(x)
  lost <- which(rowSums(!missing) == 0)
  if (length(lost) > 0L) abort_input(sprintf("Every row of `x` must have a value, but in row %d all are missing.", lost[1L]), "x")
  lost <- which(colSums(!missing) == 0)
  if (length(lost) > 0L) {
    abort_input(sprintf("Every column of `x` must have a value, but in column %s all are missing.", label_of(colnames(x), lost[1L])), "x")
  }
  if (binary) {
    bad <- which(!missing & x != 0 & x != 1)
    if (length(bad) > 0L) {
      abort_input(sprintf("With noise = \"bernoulli\" every value of `x` must be 0 or 1, but it is %s at %s.", format(x[bad[1L]], digits = 6L),
                          describe_position(x, bad[1L])), "x")
    }
  }
  top <- apply(abs(x), 2L, max, na.rm = TRUE)
  top[top == 0] <- 1
  relative <- sweep(x, 2L, top, "/")
  centre <- colMeans(relative, na.rm = TRUE)
  spread <- sqrt(pmax(colMeans(sweep(relative, 2L, centre)^2, na.rm = TRUE), 0))
  keep <- spread > 1e-12
  if (!any(keep)) abort_input("`x` must have a column that varies, but all are constant.", "x")
  if (!all(keep)) {
    warn_input(sprintf("%s dropped: %s.", counted(sum(!keep), "constant column is", "constant columns are"), first_few(colnames(x)[!keep])), "x")
  }
  scale_of <- column_sd(relative) * top
  shift <- if (center) centre * top else stats::setNames(numeric(ncol(x)), colnames(x))
  factor <- if (scale) scale_of else stats::setNames(rep(1, ncol(x)), colnames(x))
  factor[!keep] <- 1
  y <- sweep(sweep(x[, keep, drop = FALSE], 2L, shift[keep]), 2L, factor[keep], "/")
  unit <- 1
  if (!binary) {
    each <- if (center) (scale_of / factor)[keep] else sqrt(colMeans((y / max(abs(y), na.rm = TRUE))^2, na.rm = TRUE)) * max(abs(y), na.rm = TRUE)
    unit <- max(each) * sqrt(mean((each / max(each))^2))
    if (!is.finite(unit) || unit < 1e-150) abort_input("The values of `x` vary too little to be squared. Rescale the data.", "x")
  }
  if (binary) y <- 2 * y - 1
  y <- y / unit
  filled <- y
  filled[is.na(filled)] <- 0
  observed <- !missing[, keep, drop = FALSE]
  list(
    x = x, y = y, filled = unname(filled), keep = keep, centre = shift, scale = factor, unit = unit, observed = observed,
    constant = (centre * top)[!keep], cells = sum(observed),
    # what the density of the standardised cells lacks to be one of x
    jacobian = if (binary) 0 else sum(observed) * log(unit) + sum(colSums(observed) * log(factor[keep])),
    offset = if (binary) stats::qnorm((colSums(y > 0, na.rm = TRUE) + 0.5) / (colSums(observed) + 1)) else numeric()
  )
}

# As sd(), for columns with missing cells; zero where there is one value.
column_sd <- function(x) {
  n <- colSums(!is.na(x))
  sqrt(colSums(sweep(x, 2L, colMeans(x, na.rm = TRUE))^2, na.rm = TRUE) / pmax(n - 1, 1))
}

check_latent_dimension <- function(q, n, d) {
  q <- check_count(q, "k")
  if (q >= n) abort_input(sprintf("`k` must be less than the number of rows, %d, but it is %d.", n, q), "k")
  if (q >= d) {
    warn_input(sprintf("The map has %s for %s that vary: it need not reduce anything.", counted(q, "dimension", "dimensions"),
                       counted(d, "column", "columns")), "k")
  }
  q
}

# Known noise of the cells as the core wants it: infinite where a cell is missing, 0 x 0 where there is nothing to say.
check_noise_variance <- function(noise_var, data, binary) {
  full <- dim(data$x)
  complete <- all(data$observed)
  if (is.null(noise_var)) {
    if (complete) return(matrix(0, 0L, 0L))
    value <- matrix(0, nrow(data$y), ncol(data$y))
  } else {
    if (binary) abort_input("`noise_var` is for continuous columns: binary ones have noise of their own.", "noise_var")
    if (is.matrix(noise_var) || is.data.frame(noise_var)) {
      value <- check_matrix(noise_var, "noise_var")
      if (!identical(dim(value), full)) {
        abort_input(sprintf("`noise_var` must be one number, %d numbers or a %d x %d matrix, not %s.", full[2L], full[1L], full[2L],
                            describe(noise_var)), "noise_var")
      }
    } else {
      value <- check_vector(noise_var, "noise_var")
      if (!length(value) %in% c(1L, full[2L])) {
        abort_input(sprintf("`noise_var` must be one number, %d numbers or a %d x %d matrix, not %s.", full[2L], full[1L], full[2L],
                            describe(noise_var)), "noise_var")
      }
      value <- matrix(value, full[1L], full[2L], byrow = TRUE)
    }
    if (any(value < 0)) abort_input("`noise_var` must not be negative.", "noise_var")
    value <- sweep(value[, data$keep, drop = FALSE], 2L, (data$scale[data$keep] * data$unit)^2, "/")
    if (any(value > 1e10)) abort_input("`noise_var` has values that drown the data. Set such cells to NA in `x`.", "noise_var")
  }
  value[!data$observed] <- Inf
  unname(value)
}

# The kernel in units of the standardised data.
gplvm_kernel <- function(kernel, q, unit) {
  text <- is.character(kernel)
  if (text) kernel <- gsub("\\brbf\\b", "se", kernel)  # the paper's name; the variance of k_rbf() is held
  kernel <- prepare_kernel(kernel, q)
  if (!text) return(multiply_kernel(kernel, 1 / unit^2))
  walk <- function(k) {
    if (!is.null(k$children)) k$children <- lapply(k$children, walk)
    if (k$type %in% c("bias", "white") && k$learn[1L]) k$variance <- exp(-1)
    k
  }
  walk(kernel)
}

# A kernel times a number, in the values of its parameters.
multiply_kernel <- function(kernel, by) {
  if (identical(kernel$type, "sum")) {
    kernel$children <- lapply(kernel$children, multiply_kernel, by)
  } else if (identical(kernel$type, "product")) {
    kernel$children[[1L]] <- multiply_kernel(kernel$children[[1L]], by)
  } else if (identical(kernel$type, "linear")) {
    kernel$scales <- kernel$scales * by
  } else {
    kernel$variance <- kernel$variance * by
  }
  kernel
}

# The kernel with the floor under its noise, which then is all the noise there is.
add_white <- function(kernel, variance) {
  if (identical(kernel$type, "white")) {
    kernel$variance <- kernel$variance + variance
    return(kernel)
  }
  if (!identical(kernel$type, "sum")) return(kernel + k_white(variance, fixed = "variance"))
  at <- which(vapply(kernel$children, function(k) identical(k$type, "white"), NA))
  if (length(at) == 0L) return(kernel + k_white(variance, fixed = "variance"))
  kernel$children[[at[1L]]]$variance <- kernel$children[[at[1L]]]$variance + variance
  kernel
}

# The noise of the kernel; infinite where it is held fixed or not there.
learnt_white <- function(kernel) {
  parts <- if (identical(kernel$type, "sum")) kernel$children else list(kernel)
  parts <- Filter(function(k) identical(k$type, "white") && k$learn[1L], parts)
  if (length(parts) == 0L) Inf else sum(vapply(parts, function(k) k$variance, 0))
}

gplvm_starts <- function(init, n_starts, data, q, neighbors, threads) {
  n <- nrow(data$y)
  if (is.matrix(init) || is.data.frame(init) || is_plain_numeric(init)) {
    start <- check_inputs(init, "init")
    if (nrow(start) != n || ncol(start) != q) {
      abort_input(sprintf("`init` must be a %d x %d matrix of latent positions, but it is %d x %d.", n, q, nrow(start), ncol(start)), "init")
    }
    starts <- list(given = unname(start))
  } else {
    if (!is.character(init) || length(init) == 0L) fail_input("init", "names of starts, or a matrix of latent positions", describe(init))
    init <- unique(vapply(init, check_choice, "", c("pca", "isomap", "random"), "init", USE.NAMES = FALSE))
    starts <- stats::setNames(lapply(init, gplvm_start, data, q, neighbors, threads), init)
  }
  more <- n_starts - length(starts)
  c(starts, stats::setNames(lapply(seq_len(max(0L, more)), function(k) gplvm_start("random", data, q)), rep("random", max(0L, more))))
}

# Positions of mean square one, as the prior has them.
gplvm_start <- function(name, data, q, neighbors = 7L, threads = 1L) {
  found <- core_gplvm_start(unname(data$y), list(init = name, k = q, neighbors = neighbors, threads = threads), core_seed(), NULL)
  if (found$neighbors > neighbors) {
    warn_input(sprintf("The graph of %d neighbours falls apart; %d were used for the start.", neighbors, found$neighbors), "neighbors")
  }
  found$latent
}

# The same kernel in all directions, so that the map can be turned.
turns_freely <- function(kernel) {
  if (!is.null(kernel$children)) return(all(vapply(kernel$children, turns_freely, NA)))
  if (length(kernel$columns) > 0L || kernel$type %in% c("user", "powexp", "hamming")) return(FALSE)
  kernel$type == "mlp" || length(kernel$scales) <= 1L
}

new_gplvm <- function(raw, data, kernel, settings, q, method, noise, call) {
  latent <- raw$latent
  learnt <- set_kernel_parameters(kernel, raw$log_parameters)
  full_kernel <- add_white(learnt, settings$nugget)
  dimnames(latent) <- list(rownames(data$x), paste0("dim", seq_len(q)))
  new_fit(
    c("gplvm", "embedding"), latent = latent, kernel = multiply_kernel(full_kernel, data$unit^2),
    loglik = raw$loglik - data$jacobian, objective = raw$objective - data$jacobian, starts = NULL,
    trace = as.double(raw$trace) - data$jacobian, active = raw$active, method = method, noise = noise, k = q, prior = settings$prior, x = data$x,
    centre = data$centre, scale = data$scale, unit = data$unit, keep = data$keep, constant = data$constant, latent_unit = 1,
    model = list(
      latent = unname(latent[raw$active, , drop = FALSE]), kernel = full_kernel, y = raw$sites, noise = raw$site_noise,
      bernoulli = noise == "bernoulli", offset = as.double(data$offset), prior = settings$prior
    ), call = call, convergence = raw$convergence
  )
}
