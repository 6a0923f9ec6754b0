#' Kernel ridge regression
#'
#' Smooth regression with a kernel: the penalised least-squares fit in the space of the kernel, with the penalty chosen
#' by generalised cross-validation, exact leave-one-out, REML or maximum likelihood, a part that is not penalised, and
#' standard errors; for large data on Nystrom features.
#'
#' @details
#' Minimises
#' \eqn{\sum_i w_i\{y_i - f(x_i) - p_i'b\}^2 + \lambda|f|^2}{sum_i w_i (y_i - f(x_i) - p_i'b)^2 + lambda |f|^2} over
#' functions \eqn{f} with kernel \eqn{k} and free coefficients \eqn{b} of an intercept and the `parametric` columns. It
#' is the mean of a Gaussian process with covariance \eqn{(\sigma^2/\lambda)k}{(sigma^2 / lambda) k}, noise
#' \eqn{\sigma^2}{sigma^2} and flat priors of \eqn{b}, and `"reml"` and `"ml"` are its likelihoods, of orthonormal
#' contrasts and of the data.
#'
#' All works on features \eqn{Z} with \eqn{ZZ' = K}. With `c` at its default and at most 1000 rows, these are exact
#' (pivoted Cholesky to 1e-12 of the trace), else those of [nystrom()] with `c` landmarks. One singular value
#' decomposition serves every \eqn{\lambda}{lambda}, with the degrees of freedom, leave-one-out residuals and
#' likelihoods in closed form. With `lambda = NULL` the best of 61 values is refined by golden sections; the fit says so
#' where the best is at the end of the range.
#'
#' Standard errors are posterior ones, of the regression function; where the features are an approximation they include
#' what it leaves of
#' \eqn{k(x, x)}.
#'
#' @section Which method when:
#' `kernel_ridge()` for a smooth regression with one penalty, fast and with all criteria exact; [kriging()] to learn
#' lengthscales by likelihood and for computer experiments; [svm()] for robustness to outliers (type `"regression"`) and
#' sparsity; [sparse_gp()] for very large data with learnt kernels. `"reml"` or `"loo"` on small data, where `"gcv"` may
#' take too small a penalty.
#'
#' @param x Inputs: a matrix, data frame or sparse matrix; objects for a kernel over objects (see [kernels]); a fit of
#'   [nystrom()]; a kernel matrix with `kernel = "precomputed"`; or a formula.
#' @param y Numeric response.
#' @param formula,data,subset,na.action A formula and a data frame, as for [stats::lm()].
#' @param kernel,gamma,degree,coef0 As for [svm()].
#' @param lambda The penalty: one number, several to choose among, or `NULL` to search.
#' @param criterion How to choose it.
#' @param parametric Columns of `x` (names or numbers) that enter linearly and without penalty. The kernel looks at the
#'   other columns, or at all where all are named.
#' @param intercept Whether there is a free intercept.
#' @param weights Positive weights of the rows.
#' @param standardize Whether columns are centred and divided by their standard deviation before the kernel sees them
#'   (dense data only).
#' @param c Number of landmarks; `NULL` for all (exact) up to 1000 rows, 500 beyond.
#' @param sampling How they are chosen, see [nystrom()].
#' @param n_lambda Number of values the search begins with.
#' @param threads Threads; `NULL` for `getOption("granary.threads")`.
#' @param ... Passed from the formula method to the default method.
#' @return An object of class `granary_kernel_ridge`: `lambda`, `df` (degrees of freedom), `table` (a row per value of
#'   lambda with `df`, `rss`, `gcv`, `loo`,
#'   `reml`, `ml`), `coefficients` (of the free part), `noise_var`, `fitted`, `residuals`, `loo` (leave-one-out
#'   residuals), `leverage`, `loglik`,
#'   `nystrom` (the features). See [granary_kernel_ridge] for its methods.
#' @references
#' Wahba (1990). *Spline Models for Observational Data*. SIAM, chapter 4.
#'
#' Drineas and Mahoney (2005). On the Nystrom method for approximating a Gram matrix for improved kernel-based learning.
#' *Journal of Machine Learning Research* 6, 2153--2175.
#' @seealso [nystrom()], [kernel_pca()], [kriging()], [svm()]
#' @export
#' @examples
#' fit <- kernel_ridge(mpg ~ wt + hp, mtcars, gamma = 0.3)
#' fit
#' predict(fit, data.frame(wt = 3, hp = 120), se = TRUE)
#' plot(fit)
#' # a linear effect of weight, a smooth one of horsepower
#' kernel_ridge(mpg ~ wt + hp, mtcars, parametric = "wt", criterion = "reml")
kernel_ridge <- function(x, ...) {
  UseMethod("kernel_ridge", formula_or_first(x, ...))
}

#' @rdname kernel_ridge
#' @export
kernel_ridge.formula <- function(formula, data = NULL, weights, subset, na.action, ...) {
  formula_fit(kernel_ridge.default, "kernel_ridge", takes = "weights", ...)
}

#' @rdname kernel_ridge
#' @export
kernel_ridge.default <- function(x, y, kernel = "rbf", lambda = NULL, criterion = c("gcv", "loo", "reml", "ml"),
                                 parametric = NULL, intercept = TRUE,
                                 weights = NULL, standardize = TRUE, gamma = NULL, degree = 3, coef0 = 0, c = NULL,
                                 sampling = c("adaptive", "uniform", "leverage", "greedy", "kmeans"), n_lambda = 61,
                                 threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(x)) fail_missing("x")
  criterion <- check_choice(criterion, c("gcv", "loo", "reml", "ml"))
  sampling <- check_choice(sampling, c("adaptive", "uniform", "leverage", "greedy", "kmeans"))
  intercept <- check_flag(intercept)
  lambda <- unname(check_vector(lambda, "lambda", lower = 0, strict_lower = TRUE, allow_null = TRUE))
  n_lambda <- check_count(n_lambda, lower = 5, upper = 10000)
  c <- check_count(c, "c", allow_null = TRUE)
  inputs <- ridge_inputs(x, kernel, parametric, check_flag(standardize))
  n <- inputs$n
  y <- check_response(y, n, "gaussian", "y")$y
  weights <- if (is.null(weights)) {
    numeric()
  } else {
    unname(check_vector(weights, "weights", length = n, lower = 0, strict_lower = TRUE))
  }
  features <- if (inherits(x, "granary_nystrom")) x else {
    ridge_features(inputs, kernel, gamma, degree, coef0, c, sampling, threads)
  }
  free <- cbind(if (intercept) rep(1, n), inputs$free)
  colnames(free) <- base::c(if (intercept) "(Intercept)", colnames(inputs$free))
  if (is.null(free)) free <- matrix(0, n, 0L)
  raw <- core_kernel_ridge(unname(features$features), unname(free), unname(y), weights,
                           list(rule = criterion, lambda = if (is.null(lambda)) numeric() else sort(lambda,
                                                                                                    decreasing = TRUE),
                                n_lambda = n_lambda))
  if (raw$at_edge) {
    message("The best lambda, ", format(raw$chosen$lambda, digits = 3L), ", is at the end of the range looked at: ",
            if (raw$chosen$lambda == raw$table$lambda[1L]) "the smooth part hardly matters." else
              "the fit nearly interpolates.")
  }
  labels <- inputs$names
  named <- function(v) stats::setNames(v, labels)
  likelihood <- criterion %in% c("reml", "ml")
  fit <- new_fit(
    "kernel_ridge", lambda = raw$chosen$lambda, df = raw$chosen$df, criterion = criterion,
    table = as.data.frame(raw$table), chosen = raw$chosen,
    coefficients = stats::setNames(raw$parametric, colnames(free)), feature_weights = raw$weights,
    noise_var = raw$noise_var,
    loglik = if (likelihood) raw$chosen[[criterion]], fitted = named(raw$fitted), residuals = named(raw$residuals),
    loo = named(raw$loo_residuals),
    leverage = named(raw$leverage), covariance = raw$covariance, nystrom = features, intercept = intercept,
    inputs = inputs[c("smooth", "free_columns",
    "scaling", "columns", "objects")], y = y, weights = if (length(weights) > 0L) weights, n = n,
    call = generic_call(call, "kernel_ridge"),
    convergence = raw$convergence
  )
  check_convergence(fit)
}

# The columns of the kernel, scaled, and those of the free part.
ridge_inputs <- function(x, kernel, parametric, standardize) {
  if (inherits(x, "granary_nystrom")) {
    if (!is.null(parametric)) {
      abort_input("`parametric` names columns of `x`, which is a fit of nystrom() here.", "parametric")
    }
    check_fit(x)
    return(list(n = x$n, names = rownames(x$features), smooth = NULL))
  }
  if (identical(kernel, "precomputed")) {
    if (!is.null(parametric)) {
      abort_input("`parametric` names columns of `x`, which is a kernel matrix here.", "parametric")
    }
    x <- check_symmetric(x)
    return(list(x = x, n = nrow(x), names = rownames(x), smooth = NULL))
  }
  if (has_objects(as_object_kernel(kernel))) {
    if (!is.null(parametric)) {
      abort_input("`parametric` is for columns of numbers, and this kernel is over objects: add a linear kernel.",
                  "parametric")
    }
    return(list(x = x, n = NROW(x), names = if (is.data.frame(x)) NULL else names(x), smooth = NULL, objects = TRUE))
  }
  x <- check_matrix(if (is_plain_numeric(x) && is.null(dim(x))) matrix(x, ncol = 1L) else x, "x", allow_sparse = TRUE)
  columns <- variable_names(colnames(x), ncol(x))
  free <- if (is.null(parametric)) integer() else as.integer(check_places(parametric, "parametric", ncol(x), columns))
  if (anyDuplicated(free)) abort_input("`parametric` names a column twice.", "parametric")
  smooth <- setdiff(seq_len(ncol(x)), free)
  if (length(smooth) == 0L) smooth <- seq_len(ncol(x))
  inside <- x[, smooth, drop = FALSE]
  scaling <- if (standardize && !isS4(x)) column_scaling(inside)
  if (!is.null(scaling)) inside <- scale_inputs(inside, scaling)
  list(x = inside, n = nrow(x), names = rownames(x), columns = columns, smooth = smooth, free_columns = free,
       scaling = scaling, free = if (length(free) > 0L) label_both(as.matrix(x[, free, drop = FALSE]), NULL,
                                                                   columns[free]))
}

ridge_features <- function(inputs, kernel, gamma, degree, coef0, c, sampling, threads) {
  all <- is.null(c) && inputs$n <= 1000L
  if (is.null(c)) c <- if (all) inputs$n else 500L
  if (c >= inputs$n) {
    c <- inputs$n
    all <- TRUE
  }
  if (all) {
    return(nystrom(inputs$x, kernel, c, sampling = "greedy", rank_tol = 1e-12, tol = 1e-14, gamma = gamma,
                   degree = degree, coef0 = coef0, threads = threads))
  }
  nystrom(inputs$x, kernel, c, sampling = sampling, gamma = gamma, degree = degree, coef0 = coef0, threads = threads)
}

# Supervised learners: see R/shared-learners.R.
learner_row_kernel_ridge <- function() {
  list(
    fun = "kernel_ridge", label = "Kernel ridge regression", modes = list(regression = list()), weights = TRUE,
    predict = list(response = list(), se = list(se = TRUE)),
    parameters = list(kernel = machine_kernel_choice(),
                      gamma = number_domain(0, range = base::c(-10, 0), trans = "log10"),
                      criterion = choice_domain("gcv", "loo", "reml", "ml"),
                      degree = number_domain(1, range = base::c(1, 3)),
                      coef0 = number_domain(-Inf, range = base::c(0, 1)))
  )
}
