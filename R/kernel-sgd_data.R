#' Predict the course of stochastic gradient descent on your data
#'
#' Before a long run: how will the training error, and the error on held-out rows, fall with the number of passes over these data, for this rate and
#' weight decay, and does the rate
#' converge at all? The theory of [sgd_curve()] is applied to the eigenvalues of the data and the projections of the response on the eigenvectors,
#' one decomposition for the whole curve.
#'
#' Columns are centred and scaled to mean square one and the response is centred; the descent is that of [sgd_curve()] on these columns, with
#' \eqn{\alpha}{alpha} = rows per column. The mean of the
#' weights is exact up to the step from updates to continuous time, of relative order \eqn{1/N}{1/N}. Their spread, the part that grows with the
#' rate, takes it
#' that residuals and eigenvectors are unrelated and rows have about the same length; `simulate()` on the result runs the descent itself, to
#' compare, and [sgd_exact()] averages it exactly when the columns are few.
#' A warning says so when the lengths of the rows differ by more than a factor of two between the 5% and the 95% quantile.
#'
#' @section Which method when:
#' [sgd_curve()] for what happens typically, without data; `sgd_data()` for one data set of any size a singular value decomposition can
#' take.
#'
#' @inheritParams sgd_curve
#' @param x Inputs: a numeric matrix or data frame, one example per row.
#' @param y Response.
#' @param eta,lambda Rate and weight decay in the units of [sgd_curve()] for standardised columns; [sgd_bounds()] translates.
#' @param passes Number of passes over the data.
#' @param newdata,newy Held-out rows and their response, for the test error; or `NULL`.
#' @param points Number of times at which the curve is computed.
#' @return A fit of class `granary_sgd_data` with `t`, `passes`, `train`, `test` (half the mean squared error, with `newdata`), `noise` (the part of
#'   `train` caused by the spread of the weights),
#'   `coefficients` (mean weights at the end, on the scale of the data, with intercept), `spectrum`, `rates` (as [sgd_bounds()]), `row_ratio` and
#'   `settings`. `predict(object, newdata)` applies the coefficients, `simulate()` runs the descent.
#' @inherit sgd_curve references
#' @seealso [sgd_curve()], [sgd_optimize()], [sgd_bounds()], [sgd_exact()], [committee_curve()]
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(200 * 50), 200, 50)
#' y <- drop(x %*% rnorm(50)) / 7 + rnorm(200, sd = 0.5)
#' train <- 1:100
#' plan <- sgd_data(x[train, ], y[train], eta = 1, lambda = 0.1, passes = 5,
#'                          newdata = x[-train, ], newy = y[-train])
#' plan
#' run <- simulate(plan, nsim = 5)
#' plot(plan, run)
#' head(coef(plan))
#' predict(plan, x[1:3, ])
sgd_data <- function(x, y, eta, lambda = 0, passes = 10, newdata = NULL, newy = NULL, method = c("online", "offline"), points = 101, ...) {
  refuse_dots(...)
  x <- check_matrix(x, min_rows = 2L, max_abs = 1e50)
  y <- check_vector(y, length = nrow(x), lower = -1e50, upper = 1e50)
  method <- check_choice(method, c("online", "offline"))
  passes <- check_number(passes, lower = 0, upper = 1e6, strict_lower = TRUE)
  points <- check_count(points, lower = 2, upper = 1e5)
  if (is.null(newdata) != is.null(newy)) abort_input("Give both `newdata` and `newy`, or neither.", if (is.null(newdata)) "newdata" else "newy")
  if (is.null(colnames(x))) colnames(x) <- paste0("x", seq_len(ncol(x)))
  frame <- standard_frame(x, y)
  N <- ncol(frame$x)
  settings <- c(list(N = N, p = nrow(x)), check_sgd(nrow(x) / N, eta, lambda, 0), list(method = method))
  fresh <- if (!is.null(newdata)) new_frame(frame, check_newdata(newdata, x), newy)
  passed <- seq(0, passes, length.out = points)
  t <- passed * settings$alpha
  data <- list(x = unname(frame$x), y = frame$y, newx = if (is.null(fresh)) matrix(0, 0L, N) else unname(fresh$x), newy = as.double(fresh$y))
  found <- core_sgd_data(data, sgd_setting(settings), t, progress_bar("learning curve"))
  rates <- unlist(found$limits[c("eta_c", "eta_min", "eta_x", "offline")])
  limit <- rates[[if (method == "online") "eta_c" else "offline"]]
  if (settings$eta >= limit) {
    warn_input(sprintf("`eta` is not below %s, the largest stable rate for these data: the error grows without bound.", format(limit, digits = 4L)),
               "eta")
  }
  slope <- found$weights / sqrt(N) / frame$scale
  if (!all(is.finite(slope))) slope[] <- NA
  coefficients <- c("(Intercept)" = frame$y_mean - sum(slope * frame$centre), slope)
  fit <- new_fit(c("sgd_data", "learning_curve"), t = t, passes = passed, train = found$train, test = if (!is.null(fresh)) found$test,
                 noise = found$noise, coefficients = coefficients, spectrum = found$spectrum, rates = rates,
                 row_ratio = frame$row_ratio, settings = settings, data = list(x = frame$x, y = frame$y, newx = fresh$x, newy = fresh$y),
                 kept = frame$kept, call = match.call(), convergence = found$convergence)
  fit
}

# Columns of mean square one, centred response; says what of the model's assumptions does not hold.
standard_frame <- function(x, y) {
  centre <- colMeans(x)
  x <- sweep(x, 2L, centre)
  scale <- sqrt(colMeans(x^2))
  constant <- scale <= 1e-12 * (abs(centre) + scale)
  if (all(constant)) abort_input("`x` must have a column that is not constant.", "x")
  if (any(constant)) warn_input(sprintf("`x` has %s, left out.", counted(sum(constant), "constant column", "constant columns")), "x")
  x <- sweep(x[, !constant, drop = FALSE], 2L, scale[!constant], "/")
  norms <- stats::quantile(sqrt(rowSums(x^2)), c(0.05, 0.95), names = FALSE)
  ratio <- norms[2L] / max(norms[1L], .Machine$double.xmin)
  if (ratio > 2) {
    warn_input(sprintf(paste("The lengths of the rows of `x` differ by a factor of %s (5%% to 95%% quantile).",
                             "The theory takes them as equal: compare with simulate()."), format(ratio, digits = 3L)), "x")
  }
  list(x = x, y = unname(y) - mean(y), y_mean = mean(y), centre = centre[!constant], scale = scale[!constant], kept = !constant, row_ratio = ratio)
}

check_newdata <- function(newx, x) {
  newx <- check_matrix(newx, "newdata", max_abs = 1e50)
  if (ncol(newx) != ncol(x)) abort_input(sprintf("`newdata` must have the columns of `x` (%d), but it has %d.", ncol(x), ncol(newx)), "newdata")
  newx
}

# New rows as the old ones were made.
new_frame <- function(frame, newx, newy) {
  newy <- unname(check_vector(newy, "newy", length = nrow(newx), lower = -1e50, upper = 1e50)) - frame$y_mean
  list(x = sweep(sweep(newx[, frame$kept, drop = FALSE], 2L, frame$centre), 2L, frame$scale, "/"), y = newy)
}

#' @rdname sgd_data
#' @param object A result of `sgd_data()`.
#' @param ... Not used; see [plot.granary_learning_curve()] for what `plot()` takes.
#' @export
print.granary_sgd_data <- function(x, ...) {
  s <- x$settings
  cli::cat_line("granary: predicted course of ", s$method, " gradient descent on ", s$p, " rows and ", s$N, " columns")
  cli::cat_line("eta = ", format(s$eta, digits = 4L), " (largest stable rate ",
                format(x$rates[[if (s$method == "online") "eta_c" else "offline"]], digits = 4L), "), lambda = ",
                format(s$lambda, digits = 4L), ", ", format(max(x$passes), digits = 4L), " passes")
  print_curve_points(x)
  if (x$row_ratio > 2) cli::cat_line("rows differ in length by a factor of ", format(x$row_ratio, digits = 3L), ": check against simulate()")
  invisible(x)
}

#' @rdname sgd_data
#' @export
coef.granary_sgd_data <- function(object, ...) object$coefficients

#' @rdname sgd_data
#' @param newdata Rows to predict the response for.
#' @export
predict.granary_sgd_data <- function(object, newdata, ...) {
  refuse_dots(...)
  newdata <- check_matrix(newdata, max_abs = 1e50)
  if (ncol(newdata) != length(object$kept)) {
    abort_input(sprintf("`newdata` must have %d columns, as the data, but it has %d.", length(object$kept), ncol(newdata)), "newdata")
  }
  slope <- object$coefficients[-1L]
  drop(object$coefficients[[1L]] + newdata[, object$kept, drop = FALSE] %*% slope)
}

#' @rdname sgd_data
#' @param nsim,seed,threads For `simulate()`: number of runs, a seed to use instead of the session's, number of threads.
#' @export
simulate.granary_sgd_data <- function(object, nsim = 10, seed = NULL, threads = NULL, ...) {
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim, threads = threads)))
  nsim <- check_count(nsim, upper = 1e7)
  s <- object$settings
  check_work(s$N, s$p, max(object$t) * s$N, "object")
  data <- object$data
  s$order <- if (s$method == "online") "replacement" else "full"
  newx <- if (is.null(data$newx)) matrix(0, s$N, 0L) else t(data$newx)
  how <- list(eta = s$eta, lambda = s$lambda, order = s$order, n_rep = nsim, threads = thread_count(threads))
  found <- core_sgd_simulate_data(list(x = t(data$x), y = data$y, newx = newx, newy = as.double(data$newy)), how, object$t, core_seed(),
                                  progress_bar("runs"))
  new_simulation("sgd_simulation", object$t, found, nsim, s, match.call())
}
