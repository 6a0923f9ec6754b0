#' Nystrom approximation of a kernel matrix
#'
#' A kernel matrix of all pairs of \eqn{n} observations by a few of its columns, \eqn{G \approx ZZ'}{G ~ ZZ'} with
#' \eqn{Z} of \eqn{k} columns, so that any linear method on \eqn{Z} is its kernel version at \eqn{O(nk^2)}; new
#' observations get features too.
#'
#' @details
#' With landmarks \eqn{I}, \eqn{C = G_{\cdot I}D}{C = G(, I) D} and \eqn{W = DG_{II}D}{W = D G(I, I) D},
#' \eqn{D = \mathrm{diag}(1/\sqrt{c\,p_i})}{ D = diag(1 / sqrt(c p_i))}, the approximation is
#' \eqn{\tilde G_k = CW_k^+C'}{G_k = C W_k^+ C'}. Only \eqn{nc} kernel values are computed, and no
#' \eqn{n\times n}{n x n} matrix exists at any time. Where `k` is not below the rank of \eqn{W} the answer depends on
#' the set of landmarks alone.
#'
#' **Truncation** to `k < c`: `"W"` cuts \eqn{W} before it is inverted, as the paper does; `"G"` cuts the full-rank
#' answer to its best rank \eqn{k}, which is at least as good in trace for the same landmarks, and the default.
#'
#' **Landmarks** (`sampling`): `"uniform"` without and `"uniform_wr"` with replacement; `"trace"`, in proportion to
#' \eqn{G_{ii}}{G_ii}, for which the bound of the paper holds (the paper prints \eqn{G_{ii}^2}{G_ii^2}, which is
#' `"diag2"`); `"column"`, by squared lengths of the columns, which takes all of \eqn{G}; `"inverse"`, by
#' \eqn{1/G_{ii}}{1 / G_ii}; `"leverage"`, by ridge leverage scores from a uniform pilot; `"adaptive"`, one after the
#' other in proportion to what is left of the diagonal; `"greedy"`, the largest of it (pivoted incomplete Cholesky, no
#' randomness);
#' `"kmeans"`, centres of clusters, for rows of numbers. Or give `prob`, or `landmarks` (rows, or points of your own).
#'
#' **Certificates.** \eqn{G - ZZ'} is positive semi-definite, so `trace_error`,
#' \eqn{\mathrm{tr}(G) - |Z|_F^2}{tr(G) - |Z|^2}, is its nuclear norm, exactly, and bounds every other norm;
#' `resid_diag` says for which observations the approximation is bad. `assess()` gives the Frobenius and spectral errors
#' from \eqn{G} itself (with `columns`, the Frobenius error from so many random columns). `beta` is the smallest ratio
#' of \eqn{p_i} to
#' \eqn{G_{ii}/\mathrm{tr}(G)}{G_ii / tr(G)}: see [nystrom_bounds()].
#'
#' **What to do with it:** [kernel_ridge()], [kernel_pca()] and [svm()] take the fit in place of `x`; `predict()` gives
#' the features of new observations to anything else.
#'
#' @section Which method when:
#' `"adaptive"` is the best all-rounder for its price; `"kmeans"` is often better for smooth kernels of few columns;
#' `"uniform"` is cheapest and does for kernels with constant diagonal and evenly spread data; `"greedy"` follows
#' outliers. With a tolerance instead of a number: `"adaptive"` or
#' `"greedy"` with `rank_tol`. General matrices: [cur()].
#'
#' @param x Observations: a matrix, data frame or sparse matrix with one per row; objects for a kernel over objects (see
#'   [kernels]); a positive semi-definite matrix with `kernel = "precomputed"`; or a function `x(i, j)` that gives the
#'   block of \eqn{G} with rows `i` and columns `j`.
#' @param kernel As for [svm()]: a name, a kernel such as [k_matern()], text or a function.
#' @param c Number of landmarks.
#' @param k Number of features; `NULL` for as many as \eqn{W} has rank.
#' @param sampling How landmarks are drawn.
#' @param truncate What is cut to rank `k`.
#' @param landmarks Rows (numbers or names), or a matrix of points of your own.
#' @param prob Probabilities, one per row; they need not sum to one.
#' @param gamma,degree,coef0 For kernels given by name, as for [svm()].
#' @param tol Eigenvalues of \eqn{W} below `tol` times the largest are dropped.
#' @param rank_tol For `"adaptive"` and `"greedy"`: stop once this share of the trace is left.
#' @param clip Drop negative eigenvalues of \eqn{W} without complaint, for kernels that are not positive semi-definite.
#' @param n For a function `x`: number of observations.
#' @param threads Threads; `NULL` for `getOption("granary.threads")`.
#' @param object A fit.
#' @param newdata New observations, as `x`; for `"precomputed"` and functions their kernel values with the landmarks (or
#'   with all observations).
#' @param columns For `assess()`: number of random columns of \eqn{G} that the Frobenius error is estimated from; `NULL`
#'   for all.
#' @param ... For `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @return An object of class `granary_nystrom`: `landmarks`, `features` (\eqn{Z}), `map` (features of new observations
#'   are their kernel with the landmarks times `map`), `values` (eigenvalues of \eqn{W}), `eigenvalues` (of \eqn{ZZ'}),
#'   `rank`, `trace`, `trace_error`, `resid_diag`, `beta`, `prob`,
#'   `scale`. `fitted()` and `as.matrix()` give \eqn{ZZ'} for at most 5000 observations; `plot()` the spectrum and the
#'   residual diagonal.
#' @references
#' Drineas and Mahoney (2005). On the Nystrom method for approximating a Gram matrix for improved kernel-based learning.
#' *Journal of Machine Learning Research* 6, 2153--2175.
#'
#' Williams and Seeger (2001). Using the Nystrom method to speed up kernel machines. *Advances in Neural Information
#' Processing Systems* 13.
#'
#' Chen, Epperly, Tropp and Webber (2025). Randomly pivoted Cholesky: practical approximation of a kernel matrix with
#' few entry evaluations. *Communications on Pure and Applied Mathematics* 78, 995--1041.
#' @seealso [kernel_ridge()], [kernel_pca()], [nystrom_bounds()], [kernel_features()], [cur()]
#' @export
#' @examples
#' set.seed(1)
#' some <- quakes[1:300, ]
#' x <- scale(as.matrix(some[, 1:3]))
#' fit <- nystrom(x, c = 40, sampling = "adaptive")
#' fit
#' summary(fit)
#' plot(fit)
#' assess(fit)
#' predict(fit, x[1:2, ])[, 1:4]
#' # a support vector machine on the features
#' machine <- svm(fit, some$mag > 4.7)
#' mean(predict(machine) == (some$mag > 4.7))
nystrom <- function(x, kernel = "rbf", c = 100, k = NULL,
                    sampling = c("uniform", "uniform_wr", "trace", "diag2", "column", "inverse", "leverage", "adaptive",
                                 "greedy", "kmeans"),
                    truncate = c("G", "W"), landmarks = NULL, prob = NULL, gamma = NULL, degree = 3, coef0 = 0,
                    tol = 1e-10, rank_tol = 0,
                    clip = FALSE, n = NULL, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(x)) fail_missing("x")
  sampling <- check_choice(sampling, c("uniform", "uniform_wr", "trace", "diag2", "column", "inverse", "leverage",
                                       "adaptive", "greedy", "kmeans"))
  threads <- thread_count(threads)
  data <- gram_data(x, kernel, gamma, degree, coef0, n, threads)
  options <- list(
    c = check_count(c), k = if (is.null(k)) 0L else check_count(k), truncate = check_choice(truncate, c("G", "W")),
    tol = check_number(tol, lower = 0, upper = 0.1), rank_tol = check_number(rank_tol, lower = 0, upper = 1,
                                                                             strict_upper = TRUE),
    clip = check_flag(clip), threads = if (data$user_code) 1L else threads
  )
  if (rank_tol > 0 && !sampling %in% c("adaptive", "greedy")) {
    abort_input("`rank_tol` is for sampling = \"adaptive\" or \"greedy\".", "rank_tol")
  }
  given <- nystrom_given(landmarks, prob, data)
  if (is.null(landmarks) && options$c > data$n) {
    if (!missing(c)) {
      warn_input(sprintf("`c` is %d, but there are %d observations: all are landmarks.", options$c, data$n), "c")
    }
    options$c <- as.integer(data$n)
  }
  if (!is.null(given$sampling)) sampling <- given$sampling
  raw <- nystrom_run(data, options, sampling, given)
  found <- raw$found
  if (found$reduced) {
    warn_input(sprintf("`k` is %d, but the landmarks' kernel matrix has numerical rank %d, which is taken.", options$k,
                       found$rank), "k")
  }
  if (found$tied) {
    warn_input(
      "The eigenvalues of W tie at `k`, so the answer is not unique: use truncate = \"G\", another `k` or sampling.",
      "truncate")
  }
  nystrom_fit(found, raw$points, data, options, sampling, call)
}

# What all observations are: list(x, kernel, layout, n, names, kind, user_code). `x` is what crosses.
gram_data <- function(x, kernel, gamma, degree, coef0, n, threads) {
  if (is.function(x)) {
    n <- check_count(if (is.null(n)) abort_input("`n` must be given for a function `x`: the number of observations.",
                                                 "n") else n, "n")
    block <- function(i, j) {
      value <- user_value(x, "x", i, j)
      if (!is.numeric(value)) {
        fail_input("x", "a function of rows and columns that gives a numeric matrix", describe(value))
      }
      matrix(as.double(value), NROW(value), NCOL(value))
    }
    return(list(x = list(size = n, block = block), kernel = NULL, n = n, kind = "function", user_code = TRUE))
  }
  if (!is.null(n)) abort_input("`n` is for a function `x`.", "n")
  if (identical(kernel, "precomputed")) {
    x <- check_symmetric(x)
    return(list(x = x, kernel = NULL, n = nrow(x), names = rownames(x), kind = "matrix", user_code = FALSE))
  }
  bound <- bind_kernel(kernel, x, threads = threads, values = FALSE)
  if (is.null(bound$layout)) {
    x <- check_matrix(if (is_plain_numeric(x) && is.null(dim(x))) matrix(x, ncol = 1L) else x, "x", allow_sparse = TRUE)
    kernel <- machine_kernel(kernel, ncol(x), gamma, degree, coef0)
    if (isS4(x) && kernel_needs_points(kernel)) {
      abort_input("`x` is sparse, but this kernel needs whole points: make `x` a dense matrix with as.matrix().", "x")
    }
  } else {
    x <- bound$x
    kernel <- machine_kernel(know_lengths(bound$kernel, threads), ncol(x), gamma, degree, coef0)
  }
  list(x = x, kernel = kernel, layout = bound$layout, n = nrow(x), names = rownames(x), columns = colnames(x),
       kind = "points", user_code = has_user_code(kernel))
}

nystrom_given <- function(landmarks, prob, data) {
  if (!is.null(landmarks) && !is.null(prob)) abort_input("Give `landmarks` or `prob`, not both.", "prob")
  if (!is.null(prob)) {
    prob <- unname(check_vector(prob, "prob", length = data$n, lower = 0))
    if (!any(prob > 0)) abort_input("`prob` must not be zero everywhere.", "prob")
    return(list(sampling = "prob", prob = prob))
  }
  if (is.null(landmarks)) return(list())
  if (!is.matrix(landmarks) && !is.data.frame(landmarks)) {
    return(list(sampling = "given", landmarks = check_places(landmarks, "landmarks", data$n, data$names)))
  }
  if (data$kind != "points" || !is.null(data$layout) || isS4(data$x)) {
    abort_input("`landmarks` must be rows here: points of your own are for a dense matrix `x`.", "landmarks")
  }
  list(sampling = "points", points = unname(new_design(landmarks, variable_names(data$columns, ncol(data$x)), NULL,
                                                       "landmarks", allow_sparse = FALSE)))
}

nystrom_run <- function(data, options, sampling, given) {
  progress <- progress_bar("Nystrom approximation")
  if (sampling == "kmeans") {
    if (data$kind != "points" || !is.null(data$layout) || isS4(data$x)) {
      abort_input("sampling = \"kmeans\" makes centres of rows of numbers: `x` must be a dense matrix.", "sampling")
    }
    raw <- core_nystrom_kmeans(data$x, data$kernel, options, core_seed(), progress)
    return(list(found = raw$found, points = raw$centers))
  }
  if (sampling == "points") {
    return(list(found = core_nystrom_points(data$x, given$points, data$kernel, options, progress),
                points = given$points))
  }
  options <- c(options, list(sampling = sampling), given[setdiff(names(given), "sampling")])
  list(found = core_nystrom(data$x, data$kernel, options, core_seed(), progress), points = NULL)
}

nystrom_fit <- function(found, points, data, options, sampling, call) {
  own <- !is.null(points)
  if (data$kind == "points" && !own) points <- data$x[found$landmarks, , drop = FALSE]
  features <- label_both(found$features, data$names,
                         paste0("z", seq_len(ncol(found$features)))[seq_len(ncol(found$features))])
  new_fit(
    "nystrom", landmarks = if (!own) named_places(found$landmarks, data$names), drawn = found$drawn, points = points,
    features = features, map = found$map,
    values = found$values, eigenvalues = found$eigenvalues, rank = ncol(found$map), landmark_rank = found$rank,
    trace = found$trace,
    trace_error = found$trace_error, resid_diag = stats::setNames(found$residual, data$names),
    beta = if (length(found$prob) > 0L) found$beta,
    prob = if (length(found$prob) > 0L) found$prob, scale = found$scale, sampling = sampling,
    truncate = options$truncate,
    kernel = if (!is.null(data$kernel)) forget_values(data$kernel), layout = data$layout, kind = data$kind, x = data$x,
    variables = data$columns,
    n = data$n, call = call, convergence = list()
  )
}
