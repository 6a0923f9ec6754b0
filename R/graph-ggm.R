# The base class of every Gaussian graph estimator: data entry, constructor, and the methods they all share.

#' Methods for Gaussian graph fits
#'
#' All Gaussian graph estimators ([ggm_lasso()] and its relatives) return objects of class `granary_ggm`, for which these methods work. A fit
#' holds either one precision matrix or a path of them; methods that need one take the `which` argument (a position on the path).
#'
#' @details
#' The log-likelihood is that of \eqn{n} independent rows of \eqn{N(\hat\mu, X^{-1})}{N(mean, X^-1)}. With data it is exact; from a covariance
#' `S` alone it is
#' \eqn{\frac n2 (\log\det X - \mathrm{tr}(SX) - p\log 2\pi)}{n/2 (log det X - tr(S X) - p log 2 pi)}. Its degrees of freedom count the edges and
#' the p diagonal entries.
#'
#' `predict(type = "conditional")` gives the conditional mean of every variable given all others,
#' \eqn{\hat x_j = \mu_j - X_{jj}^{-1} \sum_{k \ne j} X_{jk} (x_k - \mu_k)}{x_j = mean_j - sum_k X_jk (x_k - mean_k) / X_jj}, and
#' `residuals()` the differences for the data the model was fitted to; `type = "loglik"` gives the log density of each new row.
#'
#' @param x,object A fit.
#' @param which Position on the path; by default the only fit, or the last (smallest penalty).
#' @param newdata New rows, with the variables of the fit.
#' @param type For `predict()`: `"conditional"` means or row-wise `"loglik"`.
#' @param nsim Number of rows to draw.
#' @param seed A seed for [set.seed()]; the session's random numbers are left as they were, as in [stats::simulate()]. Usually left `NULL`.
#' @param ... Not used.
#' @return `coef()` and `as.matrix()` give the precision matrix (sparse and dense), `logLik()` the log-likelihood (one value per penalty
#'   on a path),
#'   `predict()` a matrix or vector, `simulate()` a matrix of draws, `tidy()` a data frame of edges with their partial correlations as `estimate`
#'   and their entries of the precision matrix as `precision`.
#' @seealso [ggm_lasso()], [ggm_select()], [ggm_hub()], [ggm_multi()], [ggm_local()], [ggm_nodes()]
#' @name granary_ggm
#' @examples
#' fit <- ggm_lasso(scale(mtcars), lambda = 0.3)
#' coef(fit)[1:4, 1:4]
#' logLik(fit)
#' AIC(fit)
#' head(predict(fit, scale(mtcars)))
#' tidy(fit)
#' set.seed(1)
#' simulate(fit, nsim = 2)
NULL

# Data or a covariance, checked: S with names, n (or NULL), the mean and the data where there are any.
ggm_input <- function(x, S, n) {
  given <- moments_covariance(S, n)
  S <- given$S
  n <- given$n
  if (is.null(x) == is.null(S)) {
    abort_input(paste("Give either the data `x` or a covariance matrix `S`,", if (is.null(x)) "but neither came." else "not both."), "x")
  }
  if (!is.null(x)) {
    if (!is.null(n)) abort_input("`n` goes with a covariance matrix; with data it is the number of rows. Leave it out.", "n")
    x <- check_matrix(x, "x", min_rows = 2L)
    check_names_unique(colnames(x), "x")
    if (looks_like_correlation(x)) {
      warn_input(paste("`x` looks like a correlation matrix, but it is taken as data, one observation per row.",
                       "Give it as `S` with the number of rows as `n`."), "x")
    }
    check_all_columns(ncol(x), 5, "Choose the variables beforehand, such as those that vary most.")
    S <- core_covariance(x)
    dimnames(S) <- rep(list(variable_names(colnames(x), ncol(x))), 2L)
    colnames(x) <- colnames(S)
    constant <- diag(S) <= 1e-24 * colMeans(x^2)
    if (any(constant)) {
      warn_input(sprintf("Constant column%s in `x`: %s. Nothing can be learnt about them.", if (sum(constant) > 1L) "s" else "",
                         paste(colnames(S)[constant], collapse = ", ")), "x")
    }
    data <- list(S = S, n = nrow(x), mean = colMeans(x), x = x)
  } else {
    S <- check_symmetric(S, "S")
    n <- check_count(n, "n", allow_null = TRUE)
    if (is.null(colnames(S))) dimnames(S) <- rep(list(variable_names(NULL, ncol(S))), 2L)
    check_names_unique(colnames(S), "S")
    if (any(diag(S) < 0)) {
      bad <- which.min(diag(S))
      abort_input(sprintf("`S` must have a nonnegative diagonal, but the variance of %s is %g.", colnames(S)[bad], S[bad, bad]), "S")
    }
    smallest <- core_semidefinite_excess(S)
    if (smallest > 1e-8) {
      warn_input(sprintf(paste(
        "`S` is not positive semi-definite (it would take about %.2g of its mean variance on the diagonal to make it so).",
        "The penalised problem may still have a solution, but at small penalties it can be unbounded."
      ), smallest), "S")
    }
    data <- list(S = S, n = n, mean = given$mean, x = NULL)
  }
  gigabytes <- 5 * 8 * as.double(ncol(S))^2 / 1e9
  if (gigabytes > 2) warn_input(sprintf("%d variables need about %.0f GB of memory.", ncol(S), gigabytes), "x")
  data
}

looks_like_correlation <- function(x) {
  ncol(x) > 1L && nrow(x) == ncol(x) && all(abs(diag(x) - 1) < 1e-8) && max(abs(x)) <= 1 + 1e-8 && isSymmetric(unname(x), tol = 1e-8)
}

# `results` has one element per penalty: precision, covariance, log_det, objective, kkt, component, trace, convergence.
new_ggm <- function(class, results, data, lambda, ..., call) {
  names <- colnames(data$S)
  labelled <- function(m) {
    if (length(m) == 0L) return(NULL)
    dimnames(m) <- list(names, names)
    m
  }
  part <- function(name) lapply(results, `[[`, name)
  numbers <- function(name) vapply(results, `[[`, 0, name)
  one <- length(results) == 1L
  drop_one <- function(list) if (one) list[[1L]] else list
  precision <- lapply(part("precision"), labelled)
  covariance <- lapply(part("covariance"), labelled)
  kept <- !vapply(covariance, is.null, NA)
  trace <- lapply(part("trace"), as.data.frame)
  new_fit(
    c(class, "ggm"),
    precision = drop_one(precision), covariance = if (all(kept)) drop_one(covariance), lambda = lambda, ...,
    df = vapply(precision, count_edges, 0), objective = numbers("objective"), log_det = numbers("log_det"),
    trace_sx = vapply(precision, function(m) trace_product(data$S, m), 0), kkt = numbers("kkt"),
    gap = vapply(results, function(r) r$convergence$gap, 0),
    component = drop_one(part("component")), trace = drop_one(trace), S = data$S, n = data$n, mean = data$mean, x = data$x,
    call = call, convergence = if (one) results[[1L]]$convergence else part("convergence")
  )
}

count_edges <- function(precision) {
  columns <- rep(seq_len(ncol(precision)), diff(precision@p))
  sum(precision@i + 1L < columns)
}

trace_product <- function(S, precision) {
  columns <- rep(seq_len(ncol(precision)), diff(precision@p))
  sum(S[cbind(precision@i + 1L, columns)] * precision@x)
}

# The estimate of a fit to several tasks is a list already at one penalty.
is_path <- function(fit) is.list(fit$precision) && !(inherits(fit, "granary_ggm_multi") && path_length(fit) == 1L)

path_length <- function(fit) length(fit$lambda)

# Position on the path, checked.
path_position <- function(fit, which) {
  if (is.null(which)) return(path_length(fit))
  check_count(which, "which", upper = path_length(fit))
}

precision_at <- function(fit, which = NULL) {
  which <- path_position(fit, which)
  if (is_path(fit)) fit$precision[[which]] else fit$precision
}

#' One fit from a path
#'
#' Takes the fit at one penalty out of a path, with all that belongs to it.
#'
#' @section Which method when:
#' `ggm_at()` where the penalty or its place on the path is known; [ggm_select()] to let a criterion choose.
#'
#' @param fit A Gaussian graph fit along a path of penalties, of one data set or of several ([ggm_multi()]).
#' @param which Position on the path (1 is the largest penalty).
#' @param lambda Alternatively a penalty: the nearest one on the path is taken.
#' @param task One task of a [ggm_multi()] fit, by name or number, as an ordinary fit: everything in [granary_ggm] works on it. Its
#'   `objective` is
#'   minus the task's share of the weighted likelihood, its `gap` that of all tasks together.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A fit of the same class with one precision matrix.
#' @seealso [ggm_lasso()], [ggm_select()], [ggm_bounds()], [ggm_hub()], [ggm_multi()], [ggm_local()]
#' @export
#' @examples
#' path <- ggm_lasso(scale(mtcars), n_lambda = 5)
#' ggm_at(path, 3)
#' ggm_at(path, lambda = 0.2)
ggm_at <- function(fit, which = NULL, lambda = NULL, task = NULL, ...) {
  refuse_dots(...)
  if (missing(fit)) fail_missing("fit")
  check_ggm(fit)
  if (!is.null(task)) {
    if (!is.null(lambda) || !is.null(which)) fit <- ggm_at(fit, which, lambda)
    return(ggm_task(fit, task))
  }
  if (!is.null(lambda)) {
    if (!is.null(which)) abort_input("Give `which` or `lambda`, not both.", "lambda")
    lambda <- check_number(lambda, lower = 0)
    if (lambda > max(fit$lambda) * (1 + 1e-8) || lambda < min(fit$lambda) * (1 - 1e-8)) {
      warn_input(sprintf("`lambda` = %g is outside the path, which goes from %g to %g: its end is taken.", lambda, max(fit$lambda), min(fit$lambda)),
                 "lambda")
    }
    which <- which.min(abs(log(pmax(fit$lambda, 1e-300)) - log(max(lambda, 1e-300))))
  }
  which <- path_position(fit, which)
  if (is_path(fit)) take_from_path(fit, which) else fit
}

take_from_path <- function(fit, which) UseMethod("take_from_path")

#' @exportS3Method
take_from_path.granary_ggm <- function(fit, which) {
  whole <- class(fit)
  fit <- unclass(fit)  # sealed once, at the end
  one <- fit
  for (part in c("precision", "component", "trace", "covariance")) if (!is.null(fit[[part]])) one[[part]] <- fit[[part]][[which]]
  for (part in c("lambda", "df", "objective", "log_det", "trace_sx", "kkt", "gap")) one[[part]] <- fit[[part]][which]
  for (part in fit$along) one[[part]] <- fit[[part]][[which]]  # what else an estimator has per penalty
  one$convergence <- fit$convergence[[which]]
  class(one) <- whole
  seal(one)
}

check_ggm <- function(fit, arg = "fit") {
  if (!inherits(fit, "granary_ggm")) {
    abort_input(sprintf("`%s` must be a Gaussian graph fit, as ggm_lasso() returns, but it is %s.", arg, describe(fit)), arg)
  }
  check_fit(fit)
  invisible(fit)
}

#' @export
print.granary_ggm <- function(x, ...) {
  p <- ncol(x$S)
  cli::cat_line(ggm_title(x), ": ", p, if (p == 1L) " variable" else " variables", if (!is.null(x$n)) paste0(", n = ", x$n))
  print_call(x$call)
  if (is_path(x)) {
    table <- data.frame(lambda = x$lambda, edges = x$df, objective = x$objective, gap = x$gap)
    shown <- if (nrow(table) > 12L) unique(round(seq(1, nrow(table), length.out = 10L))) else seq_len(nrow(table))
    print(format(table[shown, ], digits = 4L), quote = FALSE)
    if (length(shown) < nrow(table)) cli::cat_line("(", length(shown), " of ", nrow(table), " penalties shown)")
  } else {
    pairs <- p * (p - 1) / 2
    cli::cat_line("lambda ", format(x$lambda, digits = 4L), ": ", x$df, " of ", pairs, " possible edges",
                  if (pairs > 0) paste0(" (", format(100 * x$df / pairs, digits = 2L), "%)"), ", in ",
                  max(x$component), if (max(x$component) == 1L) " component" else " components")
    edges <- utils::head(tidy(x), 6L)
    if (nrow(edges) > 0L) {
      cli::cat_line("Strongest partial correlations:")
      print(format(edges, digits = 3L), row.names = FALSE)
    }
  }
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  if (is_path(x)) cli::cat_line("Next: ggm_select() chooses a penalty; plot() shows the path.")
  invisible(x)
}

ggm_title <- function(x) "Gaussian graph"

#' @export
summary.granary_ggm <- function(object, which = NULL, ...) {
  one <- ggm_at(object, path_position(object, which))
  x <- one$precision
  eigen_range <- unlist(core_eigenvalue_range(as.matrix(x)), use.names = FALSE)
  degrees <- ggm_degrees(x)
  seal(structure(list(fit = one, degrees = degrees, eigenvalues = eigen_range, edges = tidy(one)), class = "summary_granary_ggm"))
}

#' @export
print.summary_granary_ggm <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  cli::cat_line("Objective ", format(x$fit$objective, digits = 8L), ", certified within ", format(x$fit$gap, digits = 2L), " of its minimum")
  cli::cat_line("Largest violation of an optimality condition ", format(x$fit$kkt, digits = 2L))
  cli::cat_line("Eigenvalues of the precision matrix from ", format(x$eigenvalues[1L], digits = 4L), " to ",
                format(x$eigenvalues[2L], digits = 4L))
  cli::cat_line("Degrees: ", paste(names(table(x$degrees)), table(x$degrees), sep = " (x", collapse = "), "), ")")
  invisible(x)
}

ggm_degrees <- function(precision) {
  columns <- rep(seq_len(ncol(precision)), diff(precision@p))
  off <- precision@i + 1L != columns
  degrees <- tabulate(columns[off], ncol(precision))
  names(degrees) <- colnames(precision)
  degrees
}

#' @rdname granary_ggm
#' @export
coef.granary_ggm <- function(object, which = NULL, ...) {
  refuse_dots(...)
  precision_at(object, which)
}

#' @rdname granary_ggm
#' @export
as.matrix.granary_ggm <- function(x, which = NULL, ...) as.matrix(precision_at(x, which))

#' @rdname granary_ggm
#' @export
logLik.granary_ggm <- function(object, ...) {
  refuse_dots(...)
  n <- needs_n(object)
  p <- ncol(object$S)
  scatter <- if (is.null(object$x)) n else n - 1  # S of data has divisor n - 1
  value <- (n * object$log_det - scatter * object$trace_sx - n * p * log(2 * pi)) / 2
  structure(value, df = object$df + p, nobs = n, class = "logLik")
}

needs_n <- function(fit) {
  if (is.null(fit$n)) {
    abort_input("The number of observations is not known: fit with `n =` beside the covariance matrix, or from data.", "n")
  }
  fit$n
}

#' @rdname granary_ggm
#' @export
predict.granary_ggm <- function(object, newdata = NULL, type = c("conditional", "loglik"), which = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("conditional", "loglik"))
  newdata <- ggm_newdata(object, newdata)
  one <- ggm_at(object, path_position(object, which))
  x <- one$precision
  centred <- sweep(newdata, 2L, ggm_mean(one))
  projected <- as.matrix(centred %*% x)
  if (type == "loglik") {
    quadratic <- rowSums(projected * centred)
    return((one$log_det - quadratic - ncol(x) * log(2 * pi)) / 2)
  }
  newdata - sweep(projected, 2L, Matrix::diag(x), "/")
}

ggm_mean <- function(fit) if (is.null(fit$mean)) stats::setNames(numeric(ncol(fit$S)), colnames(fit$S)) else fit$mean

ggm_newdata <- function(fit, newdata) {
  if (is.null(newdata)) {
    if (is.null(fit$x)) abort_input("`newdata` is needed: the model was fitted to a covariance matrix, not to data.", "newdata")
    return(fit$x)
  }
  newdata <- check_matrix(newdata, "newdata")
  variables <- colnames(fit$S)
  if (!is.null(colnames(newdata)) && all(variables %in% colnames(newdata))) {
    newdata <- newdata[, variables, drop = FALSE]
  } else if (ncol(newdata) != length(variables)) {
    abort_input(sprintf("`newdata` must have the %d variables of the fit, but it has %d columns.", length(variables), ncol(newdata)), "newdata")
  } else if (!is.null(colnames(newdata)) && !identical(variables, variable_names(NULL, length(variables)))) {
    missing <- setdiff(variables, colnames(newdata))
    abort_input(sprintf("`newdata` lacks variables of the fit: %s.", paste(utils::head(missing, 5L), collapse = ", ")), "newdata")
  }
  colnames(newdata) <- variables
  newdata
}

#' @rdname granary_ggm
#' @export
residuals.granary_ggm <- function(object, which = NULL, ...) {
  refuse_dots(...)
  ggm_newdata(object, NULL) - predict(object, type = "conditional", which = which)
}

#' @rdname granary_ggm
#' @importFrom stats logLik predict simulate
#' @export
simulate.granary_ggm <- function(object, nsim = 1, seed = NULL, which = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim, which = which)))
  one <- ggm_at(object, path_position(object, which))
  draws <- core_ggm_sample(one$precision, nsim, core_seed())
  draws <- sweep(draws, 2L, ggm_mean(one), "+")
  colnames(draws) <- colnames(one$S)
  draws
}

#' @rdname granary_ggm
#' @export
tidy.granary_ggm <- function(x, which = NULL, ...) {
  refuse_dots(...)
  x <- precision_at(x, which)
  columns <- rep(seq_len(ncol(x)), diff(x@p))
  upper <- x@i + 1L < columns
  i <- x@i[upper] + 1L
  j <- columns[upper]
  scale <- 1 / sqrt(Matrix::diag(x))
  edges <- data.frame(
    from = colnames(x)[i], to = colnames(x)[j], estimate = -x@x[upper] * scale[i] * scale[j], precision = x@x[upper]
  )
  edges <- edges[order(-abs(edges$estimate)), ]
  rownames(edges) <- NULL
  edges
}

#' @export
glance.granary_ggm <- function(x, ...) {
  table <- data.frame(lambda = x$lambda, edges = x$df, objective = x$objective)
  cbind(table, NextMethod())
}

#' @importFrom generics augment
#' @export
augment.granary_ggm <- function(x, which = NULL, ...) {
  refuse_dots(...)
  fitted <- predict(x, type = "conditional", which = which)
  data <- as.data.frame(x$x)
  cbind(data, stats::setNames(as.data.frame(fitted), paste0(".fitted_", colnames(fitted))),
        .loglik = predict(x, type = "loglik", which = which))
}
