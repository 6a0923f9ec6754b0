#' Relevance vector machine
#'
#' Regression on kernel functions centred at the data, of which only a few, the relevance vectors, get a weight: a sparse linear model whose penalties
#' are learnt from the evidence.
#'
#' @details
#' The model is \eqn{y = \Phi w + \epsilon}{y = Phi w + e}, with columns \eqn{\phi_k(x) = k(x, x_k)}{phi_k(x) = k(x, x_k)} and a constant,
#' \eqn{w_k \sim N(0, 1/\alpha_k)}{w_k ~ N(0, 1 / alpha_k)} and \eqn{\epsilon \sim N(0, \sigma^2)}{e ~ N(0, s2)}. Maximising the evidence over
#' \eqn{\alpha}{alpha} and \eqn{\sigma^2}{s2} sends most \eqn{\alpha_k}{alpha_k} to infinity. At the maximum
#' \deqn{\alpha_k \mu_k^2 = \gamma_k = 1 - \alpha_k S_{kk}}{alpha_k mu_k^2 = gamma_k = 1 - alpha_k S_kk}
#' with \eqn{\mu} and \eqn{S} the posterior mean and covariance of the weights; the largest violation is the `residual` in `convergence`. It is
#' a Gaussian
#' process with the degenerate kernel \eqn{\sum_k \phi_k(x)\phi_k(z)/\alpha_k}{sum_k phi_k(x) phi_k(z) / alpha_k}.
#'
#' `algorithm = "fast"` adds, removes or re-estimates one column at a time, the one that raises the evidence most; the evidence never falls.
#' `"fixed_point"` starts with all columns and iterates \eqn{\alpha_k = \gamma_k/\mu_k^2}{alpha_k = gamma_k / mu_k^2}, at \eqn{O(M^3)} per round
#' for \eqn{M}
#' columns; there are local maxima, and the two may end in different ones.
#'
#' **Error bars** shrink to the noise far from the relevance vectors, where they should grow. `predict(augment = TRUE)` heals this by adding,
#' for each new
#' row \eqn{x_*}{x*}, a basis function centred on it, whose weight has the mean prior variance of the others (the paper leaves this number open).
#'
#' @section Which method when:
#' For a very small model that predicts fast. For error bars that can be trusted use [sparse_gp()] or an exact process.
#'
#' @param x Inputs, one row per observation: a matrix or data frame of numbers, a vector for one column; or a formula.
#' @param y Response, numbers.
#' @param formula,data A formula, response ~ inputs, and a data frame with its variables.
#' @param weights,subset,na.action,offset As in [stats::lm()]; weights and offsets are refused.
#' @param kernel A kernel (see [kernels]) or its name. The parameters are used as they are; for a kernel given by name, lengthscales are
#'   the standard deviations of the columns times half the square root of their number.
#' @param centers Where basis functions are centred: `NULL` for all rows, the number of rows to draw, or a matrix. The memory needed is the
#'   number of rows times that of the
#'   centres.
#' @param bias Add a constant column?
#' @param algorithm See Details.
#' @param noise_var Noise variance; `NULL` to learn it.
#' @param prune Precisions beyond this, for columns and a response of unit mean square, count as infinite.
#' @param tol Stop when no logarithm of a precision or of the noise changes by more.
#' @param max_iter Largest number of steps.
#' @param object A fit by `rvm()`; for `print()` and `plot()`, `x`.
#' @param newdata New rows, as `x`; `NULL` for the data of the fit.
#' @param se Also standard errors?
#' @param type `"latent"` for the spread of the function, `"response"` with noise.
#' @param augment See Details.
#' @param interval Whether to add the ends of an interval, `lwr` and `upr`: `"confidence"` for the function, `"prediction"` for a new response.
#' @param level Probability of the interval or band.
#' @param ... Passed from the formula method to the default method; for `plot()`, to [graphics::plot()].
#' @return An object of class `granary_rvm`: a list with
#' \item{relevant}{which basis functions are in use: rows of `centers`, 0 for the constant}
#' \item{vectors}{the relevance vectors}
#' \item{coefficients}{posterior means of the weights}
#' \item{precision, gamma, covariance}{\eqn{\alpha}{alpha}, \eqn{\gamma}{gamma} and \eqn{S}, for those in use}
#' \item{noise_var, log_evidence, trace}{\eqn{\sigma^2}{s2}, the log evidence, and its course}
#' `predict()` gives a vector, or with `se` a list of `fit` and `se.fit`.
#' @references
#' Tipping (2001). Sparse Bayesian learning and the relevance vector machine. *Journal of Machine Learning Research* 1, 211--244.
#'
#' Tipping and Faul (2003). Fast marginal likelihood maximisation for sparse Bayesian models. *AISTATS*.
#'
#' Rasmussen and Quinonero-Candela (2005). Healing the relevance vector machine by augmentation. *ICML*.
#'
#' Quinonero-Candela and Rasmussen (2005). A unifying view of sparse approximate Gaussian process regression. *Journal of Machine Learning Research*
#' 6, 1939--1959, Section 10.2.
#' @seealso [sparse_gp()], [sparse_gp_compare()], [kriging()], [gp_classify()], [bayes_opt()], [gp_parameter_sample()]
#' @export
#' @examples
#' set.seed(1)
#' x <- runif(100, -10, 10)
#' y <- sin(x) / x + rnorm(100, sd = 0.1)
#' fit <- rvm(x, y, kernel = k_se(lengthscale = 2))
#' fit
#' predict(fit, c(0, 20), se = TRUE)
#' predict(fit, c(0, 20), se = TRUE, augment = TRUE)
#' plot(fit)
#' coef(fit)
#' logLik(fit)
#' head(residuals(fit), 3)
#' rvm(mpg ~ wt + hp, mtcars)
rvm <- function(x, ...) {
  UseMethod("rvm", formula_or_first(x, ...))
}

#' @rdname rvm
#' @export
rvm.formula <- function(formula, data = NULL, weights, subset, na.action, offset, ...) {
  formula_fit(rvm.default, "rvm", takes = character(), ...)
}

#' @rdname rvm
#' @export
rvm.default <- function(x, y, kernel = "se", centers = NULL, bias = TRUE, algorithm = c("fast", "fixed_point"), noise_var = NULL, prune = 1e9,
                        tol = 1e-6, max_iter = 10000, ...) {
  call <- match.call()
  refuse_dots(...)
  x <- check_process_inputs(x)
  y <- check_response(y, nrow(x))$y
  bias <- check_flag(bias)
  algorithm <- check_choice(algorithm, c("fast", "fixed_point"))
  noise_var <- check_number(noise_var, lower = 0, strict_lower = TRUE, upper = 1e300, allow_null = TRUE)
  prune <- check_number(prune, lower = 1)
  tol <- check_number(tol, lower = 1e-12, upper = 0.1)
  max_iter <- check_count(max_iter)
  kernel <- rvm_kernel(kernel, x)
  centers <- check_centers(centers, x)
  check_memory(8 * 4 * as.double(nrow(x)) * (nrow(centers) + bias), sprintf("%d rows with %d basis functions", nrow(x), nrow(centers)),
               "Use fewer `centers`, such as centers = 500.", "centers")
  if (all(y == 0)) {
    warn_input("`y` is zero everywhere: there is nothing to learn, and the fit has no basis functions.", "y")
  }
  data <- list(x = unname(x), centers = unname(centers), y = y, kernel = kernel, bias = bias)
  options <- list(algorithm = algorithm, noise_var = if (is.null(noise_var)) 0 else noise_var, prune = prune, tol = tol, max_iter = max_iter)
  raw <- core_rvm(data, options, progress_bar("relevance vector machine"))
  used <- raw$relevant - bias
  labels <- ifelse(used == 0L, "(Intercept)", paste0("k", used))
  fit <- new_fit(
    "rvm", relevant = as.integer(used), vectors = centers[used[used > 0L], , drop = FALSE], coefficients = stats::setNames(raw$mean, labels),
    precision = stats::setNames(raw$precision, labels), gamma = stats::setNames(raw$gamma, labels),
    covariance = matrix(raw$covariance, length(labels), dimnames = list(labels, labels)), noise_var = raw$noise, loglik = raw$log_evidence,
    trace = as.double(raw$trace), kernel = kernel, candidates = nrow(centers) + bias, algorithm = algorithm,
    learnt = length(labels) + is.null(noise_var), x = x, y = y, call = generic_call(call, "rvm"), convergence = raw$convergence
  )
  check_convergence(fit)
}

rvm_kernel <- function(kernel, x) {
  named <- is.character(kernel)
  kernel <- prepare_kernel(kernel, ncol(x))
  if (any(vapply(kernel_leaves(kernel), function(k) identical(k$type, "white"), NA))) {
    abort_input("`kernel` must be a basis function: k_white() is none.", "kernel")
  }
  if (!named) return(kernel)
  spread <- apply(x, 2L, stats::sd)
  spread[!is.finite(spread) | spread <= 0] <- 1
  map_leaves(kernel, function(k) {
    if (k$type %in% c("se", "matern", "rq", "powexp")) k$scales <- spread * sqrt(ncol(x)) / 2
    k
  })
}

check_centers <- function(centers, x) {
  if (is.null(centers)) return(unique(x))
  if (is_plain_numeric(centers) && length(centers) == 1L && is.null(dim(centers))) {
    distinct <- unique(x)
    count <- check_count(centers, "centers")
    return(distinct[sort(sample.int(nrow(distinct), min(count, nrow(distinct)))), , drop = FALSE])
  }
  centers <- check_process_inputs(centers, "centers")
  if (ncol(centers) != ncol(x)) abort_input(sprintf("`centers` must have the %d columns of `x`, but it has %d.", ncol(x), ncol(centers)), "centers")
  unique(centers)
}

#' @rdname rvm
#' @export
predict.granary_rvm <- function(object, newdata = NULL, se = FALSE, type = c("latent", "response"), augment = FALSE,
                                interval = c("none", "confidence", "prediction"), level = 0.95, ...) {
  refuse_dots(...)
  interval <- check_choice(interval, c("none", "confidence", "prediction"))
  if (interval != "none") {
    return(with_interval(function(type) predict(object, newdata, TRUE, type, augment), interval, level, check_flag(se)))
  }
  rows <- process_rows(object, newdata)
  se <- check_flag(se)
  type <- check_choice(type, c("latent", "response"))
  augment <- check_flag(augment)
  at <- core_rvm_predict(object, unname(rows), list(variance = se, augment = augment), progress_bar("prediction"))
  fit <- stats::setNames(at$mean, rownames(rows))
  if (!se) return(fit)
  extra <- if (type == "response") object$noise_var else 0
  list(fit = fit, se.fit = stats::setNames(sqrt(pmax(at$variance, 0) + extra), rownames(rows)))
}

#' @rdname rvm
#' @export
print.granary_rvm <- function(x, ...) {
  cli::cat_line("Relevance vector machine: ", nrow(x$x), " rows, ", counted(length(x$relevant), "basis function", "basis functions"), " of ",
                x$candidates, " in use")
  print_call(x$call)
  print(x$kernel)
  cli::cat_line("noise variance ", format(x$noise_var, digits = 4L), ", log evidence ", format(x$loglik, digits = 6L))
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname rvm
#' @export
coef.granary_rvm <- function(object, ...) object$coefficients

#' @rdname rvm
#' @export
fitted.granary_rvm <- function(object, ...) predict(object)

#' @rdname rvm
#' @export
residuals.granary_rvm <- function(object, ...) object$y - predict(object)

#' @rdname rvm
#' @export
logLik.granary_rvm <- function(object, ...) {
  structure(object$loglik, df = object$learnt, nobs = nrow(object$x), class = "logLik")
}

#' @rdname rvm
#' @export
tidy.granary_rvm <- function(x, ...) {
  data.frame(term = names(x$coefficients), estimate = unname(x$coefficients), std.error = sqrt(diag(x$covariance)), precision = unname(x$precision),
             gamma = unname(x$gamma), row.names = NULL)
}

#' @rdname rvm
#' @export
plot.granary_rvm <- function(x, level = 0.95, ...) {
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  colour <- sign_colours[["positive"]]
  if (ncol(x$x) > 1L) {
    draw(graphics::plot, predict(x), x$y, pch = 20, col = "grey40", xlab = "fitted", ylab = "observed", las = 1, user = list(...))
    graphics::abline(0, 1, col = colour)
    return(invisible())
  }
  span <- range(x$x)
  at <- if (diff(span) > 0) seq(span[1L], span[2L], length.out = 201L) else span[1L] + seq(-1, 1, length.out = 201L)
  band <- predict(x, matrix(at), se = TRUE, type = "response")
  draw_band(at, band$fit, band$se.fit, x$x[, 1L], x$y, width = stats::qnorm(0.5 + level / 2), xlab = colnames(x$x), ylab = "response",
            user = list(...))
  nearest <- vapply(x$vectors[, 1L], function(v) which.min(abs(x$x[, 1L] - v)), 0L)
  graphics::points(x$vectors[, 1L], x$y[nearest], col = sign_colours[["negative"]], cex = 1.3)
  invisible()
}
