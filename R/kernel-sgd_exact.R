#' Exact means of stochastic gradient descent on given examples
#'
#' The mean of the weights, their variances, and the mean training and test error over all orders in which examples can be drawn with replacement,
#' for one
#' given set of examples: without simulation and without the limit of many weights that [sgd_curve()] takes.
#'
#' With \eqn{B_\mu = (1 - \eta\gamma/N) I - \eta x_\mu x_\mu^T / N}{B_mu = (1 - eta gamma/N) I - eta x_mu x_mu' / N}, \eqn{c_\mu = \eta x_\mu y_\mu
#' / \sqrt N}{c_mu = eta x_mu y_mu / sqrt(N)} and \eqn{\gamma = \lambda N / p}{gamma = lambda N / p}, an update is
#' \eqn{w \leftarrow B_\mu w + c_\mu}{w <- B_mu w + c_mu}, so that mean and second moment obey linear recursions,
#' \deqn{E[w] \leftarrow \overline{B_\mu E[w] + c_\mu}, \quad E[w w^T] \leftarrow \overline{B_\mu E[w w^T] B_\mu + B_\mu E[w] c_\mu^T + c_\mu E[w]^T
#' B_\mu + c_\mu c_\mu^T},}{E[w] <- mean(B_mu E[w] + c_mu),  E[ww'] <- mean(B_mu E[ww'] B_mu + B_mu E[w] c_mu' + c_mu E[w]' B_mu + c_mu c_mu'),}
#' the bar being the mean over examples. One update costs \eqn{p N^2}{p N^2} operations: meant for some dozens of weights. Without responses `y`
#' they are taken as those of `truth` with noise of variance `noise_var`,
#' and the mean is over the noise too.
#'
#' @section Which method when:
#' For up to a few hundred weights and when the answer must be exact. [sgd_curve()] for large random problems, [sgd_data()] for large data.
#'
#' @inheritParams sgd_curve
#' @param x Inputs, one example per row. They are used as they are: in the units of the theory their columns have mean square one.
#' @param y Responses, or `NULL`: then `truth` is needed.
#' @param truth Weights \eqn{w^*}{w*} of the teacher, \eqn{y = x^T w^* / \sqrt N}{y = x'w* / sqrt(N)} plus noise, or `NULL`: then there is no test
#'   error. The
#'   test error \eqn{|w - w^*|^2 / (2N)}{|w - w*|^2 / (2N)} is that for inputs without correlations.
#' @param noise_var Variance of the noise, where `y` is not given.
#' @param t Times, in updates per weight, ascending; rounded to whole updates.
#' @return A fit of class `granary_sgd_exact` with `t`, `updates`, `train`, `test` (with `truth`), `weights` and `weights_var`, mean and variance of
#'   each weight (weights in rows, times in columns), and `settings`. `coef()` gives the
#'   mean weights at the last time.
#' @inherit sgd_curve references
#' @seealso [sgd_curve()], [sgd_optimize()], [sgd_bounds()], [sgd_data()], [committee_curve()]
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 20), 40, 20)
#' truth <- rnorm(20)
#' exact <- sgd_exact(x, eta = 1, lambda = 0.1, truth = truth, noise_var = 0.1, t = 0:5)
#' exact
#' # the theory for many weights and the same number of examples per weight
#' plot(exact, sgd_curve(alpha = 2, eta = 1, lambda = 0.1, noise_var = 0.1, t = 0:5))
sgd_exact <- function(x, y = NULL, eta, lambda = 0, truth = NULL, noise_var = 0, t = seq(0, 5, by = 0.5), ...) {
  refuse_dots(...)
  x <- check_matrix(x, max_abs = 1e50)
  N <- ncol(x)
  p <- nrow(x)
  settings <- check_sgd(p / N, eta, lambda, noise_var)
  y <- check_vector(y, length = p, lower = -1e50, upper = 1e50, allow_null = TRUE)
  truth <- check_vector(truth, length = N, lower = -1e50, upper = 1e50, allow_null = TRUE)
  t <- check_times(t)
  if (is.null(y) && is.null(truth)) abort_input("Give `y`, the responses, or `truth`, the weights of the teacher, or both.", "y")
  if (!is.null(y) && settings$noise_var > 0) abort_input("`noise_var` must be 0 where `y` is given: the noise is in `y` already.", "noise_var")
  updates <- round(t * N)
  if (max(updates) * p * as.double(N)^2 > 1e13 || max(updates) > 2e9 || as.double(N) * N > 2^26) {
    abort_input(sprintf("`t` asks for %s updates at %s operations each. Use a shorter time, or sgd_data().",
                        format(max(updates), digits = 3L), format(p * as.double(N)^2, digits = 3L)), "t")
  }
  average <- is.null(y)
  response <- if (average) drop(x %*% truth) / sqrt(N) else y
  found <- core_sgd_exact(c(list(x = t(x), y = response, truth = as.double(truth), average_noise = average, updates = as.integer(updates)),
                            settings[c("noise_var", "eta", "lambda")]), progress_bar("updates"))
  rownames(found$mean) <- rownames(found$variance) <- colnames(x)
  settings <- c(list(N = N, p = p), settings)
  new_fit(c("sgd_exact", "learning_curve"), t = updates / N, updates = updates, train = found$train, test = if (!is.null(truth)) found$test,
          weights = found$mean, weights_var = found$variance, settings = settings, call = match.call(), convergence = list())
}

#' @rdname sgd_exact
#' @param object A result of `sgd_exact()`.
#' @param ... Not used; see [plot.granary_learning_curve()] for what `plot()` takes.
#' @export
print.granary_sgd_exact <- function(x, ...) {
  s <- x$settings
  cli::cat_line("granary: exact means of gradient descent over all orders, N = ", s$N, ", ", s$p, " examples, ", max(x$updates), " updates")
  cli::cat_line(describe_sgd(s))
  print_curve_points(x)
  cli::cat_line("root mean square spread of a weight at the end ", format(sqrt(mean(x$weights_var[, ncol(x$weights_var)])), digits = 4L))
  invisible(x)
}

#' @rdname sgd_exact
#' @export
coef.granary_sgd_exact <- function(object, ...) object$weights[, ncol(object$weights)]
