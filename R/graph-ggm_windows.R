#' Precision matrices of sliding windows as features
#'
#' Turns a multivariate series into one precision (or covariance) matrix per window and each matrix into a row of features, so that any
#' method for
#' vectors can compare, cluster or classify stretches of time by how their variables interact.
#'
#' @details
#' Steps: differences at `lag` (if positive), columns scaled to standard deviation one over the whole series, windows of `width` rows
#' every `step`
#' rows, an estimate per window, and its upper
#' triangle with the diagonal, off-diagonal entries times \eqn{\sqrt2}{sqrt(2)}: Euclidean distances of rows are Frobenius distances of matrices.
#' Estimates: the covariance \eqn{S} (divisor `width - 1`); the
#' Tikhonov precision \eqn{(S + \lambda I)^{-1}}{(S + lambda I)^-1}; or the graphical lasso with penalty \eqn{\lambda}{lambda}, each started at the last.
#' Covariances slide at \eqn{O(N^2)} per row, and so do
#' Tikhonov inverses where few rows change.
#'
#' `predict(type = "cluster")`: the first `n_components` principal components and k-means. `predict(type = "distance")`: all pairs, by
#' `metric`: `"frobenius"`,
#' `"logeuclid"` (of matrix logarithms) or
#' `"riemann"` (affine-invariant: the same after any invertible linear mixing of the variables).
#'
#' @section Which method when: for repeated activities or states in one long series. In the thesis precision matrices separate walking
#' from running far
#' better than covariances, and Tikhonov is at least as good as the
#' \eqn{l_1}{l1} penalty. For few states with sharp changes fit one graph per state by [ggm_multi()].
#'
#' @param x A series: a numeric matrix or data frame, one row per time; or a list of them with the same columns (subjects).
#' @param width,step Rows per window and between the starts of windows.
#' @param lag Difference to take first: `x[t + lag] - x[t]`; 0 for none.
#' @param param `"precision"` or `"covariance"`.
#' @param reg `"tikhonov"` or `"l1"`, for precisions.
#' @param lambda Regularisation.
#' @param scale Whether to scale columns. A constant column is set to zero, with a warning.
#' @param tol,max_iter For `reg = "l1"`, as in [ggm_lasso()].
#' @param object,newdata A result, and a new series with the same columns.
#' @param k,n_components Number of clusters and of principal components.
#' @param n_starts Random starts of k-means.
#' @param metric Distance; see Details.
#' @param threads Threads; default `getOption("granary.threads")`.
#' @param type For `predict()`: `"features"`, `"cluster"` or `"distance"`. For `plot()`: `"distance"` (heat map) or `"pca"` (trajectory,
#'   coloured by cluster).
#' @param ... For `plot()`, passed on to [graphics::image()] or [graphics::plot()]; else not used.
#' @return `ggm_windows()`: an object of class `granary_ggm_windows` with `features`, `matrices`, `info` (subject, first and last row, `centre`),
#'   and the settings. `predict()`:
#' the features of a new series, scaled as the first. With `type = "cluster"` a list with `cluster`, `scores`, `centers`, `explained`.
#'   With `type = "distance"` a matrix.
#' @references
#' Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, section 6.5.
#' @seealso [model_distance()], [model_bounds()], [model_given()], [ggm_lasso()]
#' @seealso `reproduce("thesis-6-lipschitz")`
#' @export
#' @examples
#' set.seed(1)
#' quiet <- matrix(rnorm(300), 100)
#' moving <- quiet %*% rbind(c(1, 0.9, 0), c(0, 0.4, 0), c(0, 0, 1))
#' w <- ggm_windows(rbind(quiet, moving), width = 25, step = 5)
#' w
#' predict(w, type = "cluster", k = 2)$cluster
#' predict(w, type = "distance", metric = "riemann")[1:3, 1:3]
#' plot(w)
ggm_windows <- function(x, width, step = 1, lag = 0, param = c("precision", "covariance"), reg = c("tikhonov", "l1"), lambda = 0.1, scale = TRUE,
                        tol = 1e-6, max_iter = 1000, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(x)) fail_missing("x")
  param <- check_choice(param, c("precision", "covariance"))
  reg <- check_choice(reg, c("tikhonov", "l1"))
  lambda <- check_number(lambda, lower = 0)
  width <- check_count(width, lower = 2)
  step <- check_count(step)
  lag <- check_count(lag, lower = 0)
  scale <- check_flag(scale)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  max_iter <- check_count(max_iter)
  settings <- list(width = width, step = step, lag = lag, param = param, reg = reg, lambda = lambda, scale = scale, tol = tol, max_iter = max_iter)
  series <- window_series(x, settings, "x")
  p <- ncol(series[[1L]])
  if (param == "precision" && lambda == 0 && reg == "l1") abort_input("`lambda` must be positive for the graphical lasso.", "lambda")
  if (param == "precision" && lambda == 0 && width <= p) {
    abort_input(sprintf("`width` must be greater than the number of variables (%d) for a precision without penalty, but it is %d.\nUse lambda > 0.",
                        p, width), "width")
  }
  sd <- rep(1, p)
  constant <- rep(FALSE, p)
  if (scale) {
    all <- do.call(rbind, series)
    sd <- apply(all, 2L, stats::sd)
    constant <- !is.finite(sd) | sd <= 1e-12 * sqrt(colMeans(all^2))
    if (any(constant)) {
      warn_input(sprintf("Constant column%s in `x`: %s. They are set to zero.", if (sum(constant) > 1L) "s" else "",
                         paste(colnames(all)[constant], collapse = ", ")), "x")
      if (param == "precision" && lambda == 0) abort_input("`lambda` must be positive where a column is constant: its covariance is singular.", "lambda")
    }
    sd[constant] <- Inf
  }
  fit <- window_fit(series, settings, sd, call)
  check_convergence(fit)
  fit
}

window_series <- function(x, settings, arg, variables = NULL) {
  if (!is.list(x) || is.data.frame(x)) x <- list(x)
  if (length(x) == 0L || is.object(x)) fail_input(arg, "a series (matrix or data frame) or a list of them", describe(x))
  labels <- if (is.null(names(x))) seq_along(x) else names(x)
  out <- lapply(seq_along(x), function(s) {
    name <- if (length(x) == 1L) arg else sprintf("%s[[%s]]", arg, s)
    m <- check_matrix(x[[s]], name)
    colnames(m) <- variable_names(colnames(m), ncol(m))
    if (settings$lag > 0L) {
      if (nrow(m) <= settings$lag) abort_input(sprintf("`lag` must be less than the %d rows of `%s`, but it is %d.", nrow(m), name, settings$lag),
                                               "lag")
      m <- m[-seq_len(settings$lag), , drop = FALSE] - m[seq_len(nrow(m) - settings$lag), , drop = FALSE]
    }
    if (nrow(m) < settings$width) {
      abort_input(sprintf("`width` must be at most the length of the series, %d rows%s, but it is %d.", nrow(m),
                          if (settings$lag > 0L) " after differencing" else "", settings$width), "width")
    }
    m
  })
  wanted <- if (is.null(variables)) colnames(out[[1L]]) else variables
  check_names_unique(wanted, arg)
  for (s in seq_along(out)) {
    missing <- setdiff(wanted, colnames(out[[s]]))
    if (length(missing) > 0L) abort_input(sprintf("Every series in `%s` must have the column \"%s\", but number %d does not.", arg, missing[1L], s),
                                          arg)
    out[[s]] <- out[[s]][, wanted, drop = FALSE]
  }
  stats::setNames(out, labels)
}

window_fit <- function(series, settings, sd, call) {
  estimate <- if (settings$param == "covariance") "covariance" else settings$reg
  options <- c(settings[c("width", "step", "tol", "max_iter")], list(rho = settings$lambda, estimate = estimate))
  scaled <- lapply(unname(series), function(m) sweep(m, 2L, sd, "/"))
  parts <- core_window_models(scaled, options, progress_bar("windows"))
  parts <- Map(function(result, name) {
    starts <- result$starts
    result$info <- data.frame(subject = name, first = starts, last = starts + settings$width - 1L, centre = starts + (settings$width - 1) / 2)
    result
  }, parts, names(series))
  variables <- colnames(series[[1L]])
  p <- length(variables)
  pairs <- which(upper.tri(diag(p), diag = TRUE), arr.ind = TRUE)
  features <- do.call(rbind, lapply(parts, `[[`, "features"))
  colnames(features) <- ifelse(pairs[, 1L] == pairs[, 2L], variables[pairs[, 1L]], paste(variables[pairs[, 1L]], variables[pairs[, 2L]], sep = ":"))
  matrices <- lapply(unlist(lapply(parts, `[[`, "matrices"), recursive = FALSE), `dimnames<-`, list(variables, variables))
  new_fit("ggm_windows", features = features, matrices = matrices, info = do.call(rbind, lapply(parts, `[[`, "info")), settings = settings, sd = sd,
          variables = variables, updates = sum(vapply(parts, `[[`, 0L, "updates")), call = call,
          convergence = if (estimate == "l1") lapply(parts, `[[`, "convergence"))
}

#' @rdname ggm_windows
#' @export
predict.granary_ggm_windows <- function(object, newdata = NULL, type = c("features", "cluster", "distance"), k = 3, n_components = 3, n_starts = 10,
                                        metric = c("frobenius", "logeuclid", "riemann"), threads = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("features", "cluster", "distance"))
  if (type != "features") {
    if (!is.null(newdata)) abort_input("`newdata` goes with type = \"features\".", "newdata")
    return(if (type == "cluster") cluster_windows(object, k, n_components, n_starts) else window_distances(object, metric, threads))
  }
  if (is.null(newdata)) return(object$features)
  window_fit(window_series(newdata, object$settings, "newdata", object$variables), object$settings, object$sd, NULL)$features
}

#' @export
print.granary_ggm_windows <- function(x, ...) {
  s <- x$settings
  what <- if (s$param == "covariance") "covariance matrices" else sprintf("%s precision matrices (lambda = %g)",
                                                                          if (s$reg == "l1") "sparse" else "Tikhonov", s$lambda)
  cli::cat_line("Window features: ", what)
  cli::cat_line(nrow(x$features), " windows of ", s$width, " rows, ", length(x$variables), " variables, ", ncol(x$features), " features",
                if (length(unique(x$info$subject)) > 1L) paste0(", ", length(unique(x$info$subject)), " subjects"))
  if (!is.null(x$convergence)) cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

check_windows <- function(object) {
  if (!inherits(object, "granary_ggm_windows")) fail_input("object", "a result of ggm_windows()", describe(object))
  check_fit(object)
  object
}

cluster_windows <- function(object, k, ncomp = 3, nstart = 10) {
  if (missing(object)) fail_missing("object")
  object <- check_windows(object)
  distinct <- nrow(unique(object$features))
  k <- check_count(k, upper = distinct)
  ncomp <- check_count(ncomp)
  nstart <- check_count(nstart, upper = 1e4)
  core_cluster_windows(object$features, list(k = k, components = ncomp, n_starts = nstart), core_seed(), progress_bar("k-means"))
}

window_distances <- function(object, metric = c("frobenius", "logeuclid", "riemann"), threads = NULL) {
  if (missing(object)) fail_missing("object")
  object <- check_windows(object)
  metric <- check_choice(metric, c("frobenius", "logeuclid", "riemann"))
  core_matrix_distances(unname(object$matrices), list(metric = metric, threads = thread_count(threads)), progress_bar("distances"))
}

#' @rdname ggm_windows
#' @export
plot.granary_ggm_windows <- function(x, type = c("distance", "pca"), metric = "frobenius", k = 3, ...) {
  type <- check_choice(type, c("distance", "pca"))
  if (type == "distance") {
    d <- window_distances(x, metric)
    at <- seq_len(nrow(d))
    old <- graphics::par(mar = c(4.1, 4.1, 2.1, 3.1))
    on.exit(graphics::par(old))
    colours <- grDevices::hcl.colors(64L, "YlOrRd", rev = TRUE)
    draw(graphics::image, at, at, d, xlab = "window", ylab = "window", main = paste("Distance:", metric), col = colours, user = list(...))
    draw_key(range(d, finite = TRUE), colours)
    return(invisible(d))
  }
  groups <- with_seed(1, cluster_windows(x, min(check_count(k), nrow(unique(x$features))), ncomp = 2L))
  scores <- if (ncol(groups$scores) == 1L) cbind(groups$scores, 0) else groups$scores
  draw(graphics::plot, scores, type = "b", pch = 19, col = grDevices::hcl.colors(max(groups$cluster), "Dark 3")[groups$cluster],
       xlab = "first component",
       ylab = "second component", main = "Windows in the plane of their main components", user = list(...))
  invisible(groups)
}
