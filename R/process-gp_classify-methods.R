#' What a Gaussian process classifier can do
#'
#' Methods for the fits of [gp_classify()].
#'
#' @details
#' `predict()` gives the probability of the second class, the class itself, or the latent value. Standard errors are those of the latent value,
#' or of the
#' probability \eqn{p(y = 1 | f_*)} under the posterior of \eqn{f_*}{f*}: how much more data could still move it.
#'
#' `loo()` is the probability of each label given all others, at fixed parameters, from the cavities: \eqn{\Phi(z_i)}{Phi(z_i)} for EP, no
#' refit needed.
#'
#' `plot()` draws, for `type = "probability"`, the class probability (a curve over one column, a map over two); `"latent"` the latent mean with a
#' band of two standard deviations; `"calibration"` the observed share against the leave-one-out probability.
#'
#' @param x,object A fit.
#' @param newdata Rows to predict for; `NULL` for the rows of the fit.
#' @param type `predict()`: `"prob"`, `"class"` or `"latent"`; `plot()` and `autoplot()`: `"probability"`, `"latent"` or `"calibration"`;
#'   `residuals()`: `"loo"` or `"response"`, the label as 0 or 1 minus its leave-one-out or fitted probability.
#' @param se Whether to give standard errors.
#' @param cov Whether to give the joint covariance of the latent values.
#' @param gradient Whether to give the gradient in the inputs, of the probability or of the latent mean.
#' @param nsim Number of simulations.
#' @param seed A seed, or `NULL` to draw from the session's random numbers.
#' @param what `"class"` or `"latent"`.
#' @param columns For `plot()`: the one or two columns shown, others at their mean. By default the first two.
#' @param bins For `plot()`: number of bins of the calibration plot.
#' @param ... For `plot()`, passed on to graphics functions; otherwise not used.
#' @return `predict()` a vector (a factor for classes) when only the mean is asked, else a list with `fit`, `se.fit`, `cov`, `gradient`;
#'   `simulate()` a data frame with a column per simulation; `loo()` a data frame with `label`, `prob` and `log_prob`; `logLik()` the log
#'   evidence; `tidy()` a row per parameter; `plot()` `NULL`, invisibly; `autoplot()` a ggplot.
#' @seealso [gp_classify()], [gp_classify_evidence()], [gp_classify_sample()], [gp_classify_baseline()], [kriging()], [sparse_gp()]
#' @name granary_gp_classify
#' @examples
#' set.seed(1)
#' data <- sim_gp_classes(20)
#' fit <- gp_classify(y ~ x, data)
#' predict(fit, data.frame(x = c(-6, 0)), se = TRUE)
#' head(predict(fit, loo = TRUE))
#' logLik(fit)
#' tidy(fit)
#' coef(fit)
#' summary(fit)
#' head(residuals(fit))
#' simulate(fit, 2, seed = 1, newdata = data.frame(x = c(-6, 0)))
#' plot(fit)
#' plot(fit, type = "latent")
#' if (requireNamespace("ggplot2", quietly = TRUE)) ggplot2::autoplot(fit)
NULL

classifier_inputs <- function(object, newdata, arg = "newdata") {
  if (is.null(newdata)) return(object$x)
  if (!is.null(object$layout)) {
    bound <- bind_new_objects(object$kernel, newdata, object$layout, arg)
    return(attach_kernel(scale_inputs(bound$x, object$scaling), bound$kernel))
  }
  if (is.null(object$design) && is_plain_numeric(newdata) && is.null(dim(newdata))) {
    newdata <- matrix(newdata, ncol = ncol(object$x), byrow = ncol(object$x) > 1L,
                      nrow = if (length(newdata) %% ncol(object$x) == 0L) length(newdata) / ncol(object$x) else 1L)
  }
  if (is.null(object$design) && is.data.frame(newdata) && all(colnames(object$x) %in% names(newdata))) newdata <- newdata[colnames(object$x)]
  scale_inputs(new_design(newdata, colnames(object$x), object$design, arg, allow_sparse = FALSE), object$scaling)
}

classifier_predict <- function(object, at, sd = FALSE, gradient = FALSE, covariance = FALSE) {
  core_gp_classify_predict(with_kernel_of(object, at), at, list(sd = sd, gradient = gradient, covariance = covariance, threads = object$settings$threads),
                           progress_bar("prediction"))
}

#' @rdname granary_gp_classify
#' @export
predict.granary_gp_classify <- function(object, newdata = NULL, type = c("prob", "class", "latent"), se = FALSE, cov = FALSE, gradient = FALSE,
                                        loo = FALSE, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("prob", "class", "latent"))
  if (check_flag(loo)) return(loo_prediction(object, newdata, type))
  se <- check_flag(se)
  cov <- check_flag(cov)
  gradient <- check_flag(gradient)
  at <- classifier_inputs(object, newdata)
  found <- classifier_predict(object, at, se && type == "prob", gradient, cov)
  names <- rownames(at)
  fit <- switch(type, prob = prob_matrix(exp(found$log_positive), object$levels, names, exp(found$log_negative)), latent = found$mean,
                class = factor(object$levels[1L + (found$log_positive > found$log_negative)], object$levels))
  if (type == "latent") names(fit) <- names
  if (!se && !cov && !gradient) return(fit)
  slopes <- if (gradient) {
    g <- if (type == "latent") found$mean_gradient else found$probability_gradient
    matrix(t(t(g) / object$scaling$scale), nrow(at), dimnames = list(names, colnames(object$x)))
  }
  out <- list(fit = fit, se.fit = if (se) if (type == "prob") found$probability_sd else sqrt(found$variance), cov = if (cov) found$covariance,
              gradient = slopes)
  out[!vapply(out, is.null, NA)]
}

# One column per class.
prob_matrix <- function(second, levels, names = NULL, first = 1 - second) {
  matrix(c(first, second), ncol = 2L, dimnames = list(names, levels))
}

# Leave-one-out predictions, at fixed parameters.
loo_prediction <- function(object, newdata, type) {
  if (!is.null(newdata)) abort_input("loo = TRUE is for the rows of the fit: leave `newdata` out.", "newdata")
  if (type == "latent") abort_input("There are leave-one-out probabilities and classes only.", "type")
  second <- loo_second(object)
  if (type == "class") return(factor(object$levels[1L + (second > 0.5)], object$levels))
  prob_matrix(second, object$levels, rownames(object$x))
}

#' @rdname granary_gp_classify
#' @usage \method{loo}{granary_gp_classify}(x, ...)
#' @exportS3Method loo::loo
loo.granary_gp_classify <- function(x, ...) {  # nolint: object_name_linter.
  object <- x
  refuse_dots(...)
  data.frame(label = factor(object$levels[(object$y + 3) / 2], object$levels), prob = exp(object$loo), log_prob = object$loo,
             row.names = rownames(object$x))
}

# Leave-one-out probability of the second class, whatever the label.
loo_second <- function(object) {
  own <- exp(object$loo)
  ifelse(object$y > 0, own, 1 - own)
}

#' @rdname granary_gp_classify
#' @export
logLik.granary_gp_classify <- function(object, ...) {
  structure(object$loglik, df = if (object$hyper == "ml2") length(object$parameters) else 0, nobs = length(object$y), class = "logLik")
}

#' @rdname granary_gp_classify
#' @export
coef.granary_gp_classify <- function(object, ...) object$parameters

#' @rdname granary_gp_classify
#' @export
residuals.granary_gp_classify <- function(object, type = c("loo", "response"), ...) {
  type <- check_choice(type, c("loo", "response"))
  probability <- if (type == "loo") loo_second(object) else predict(object)[, 2L]
  stats::setNames((object$y + 1) / 2 - probability, rownames(object$x))
}

#' @rdname granary_gp_classify
#' @importFrom stats simulate
#' @export
simulate.granary_gp_classify <- function(object, nsim = 1, seed = NULL, newdata = NULL, what = c("class", "latent"), ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  what <- check_choice(what, c("class", "latent"))
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim, newdata = newdata, what = what)))
  at <- classifier_inputs(object, newdata)
  found <- classifier_predict(object, at, covariance = TRUE)
  f <- core_gaussian_draws(found$mean, found$covariance, nsim, core_seed(), NULL)
  out <- if (what == "latent") {
    as.data.frame(f)
  } else {
    chance <- if (object$link == "probit") stats::pnorm(f) else stats::plogis(f)
    drawn <- array(stats::runif(length(f)) < chance, dim(f))
    as.data.frame(lapply(seq_len(nsim), function(s) factor(object$levels[1L + drawn[, s]], object$levels)))
  }
  stats::setNames(out, paste0("sim_", seq_len(nsim)))
}

#' @rdname granary_gp_classify
#' @export
print.granary_gp_classify <- function(x, ...) {
  cli::cat_line("granary: Gaussian process classifier, ",
                if (x$method == "ep") "expectation propagation" else "Laplace's method", ", ", x$link, " link")
  print_call(x$call)
  cli::cat_line(length(x$y), " cases, ", sum(x$y > 0), " of class \"", x$levels[2L], "\"; ", counted(ncol(x$x), "input", "inputs"),
                if (any(x$scaling$scale != 1)) ", standardised")
  print(x$kernel)
  if (x$settings$mean != 0) cli::cat_line("mean: ", format(x$settings$mean, digits = 4L))
  cli::cat_line("log evidence: ", format(x$loglik, digits = 7L), " (guessing: ", format(-length(x$y) * log(2), digits = 7L), ")")
  if (length(x$on_bound) > 0L) cli::cat_line("on a bound: ", paste(x$on_bound, collapse = ", "))
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname granary_gp_classify
#' @export
summary.granary_gp_classify <- function(object, ...) {
  p <- loo_second(object)
  seal(structure(list(fit = object, error = mean((p > 0.5) != (object$y > 0)), information = mean(object$loo) / log(2) + label_entropy(object$y),
                 norm = sqrt(sum(object$latent_mean^2))), class = "summary_granary_gp_classify"))
}

#' @export
print.summary_granary_gp_classify <- function(x, ...) {
  print(x$fit)
  cli::cat_line("leave-one-out: error ", format(100 * x$error, digits = 3L), "%, information ", format(x$information, digits = 3L), " bits per case")
  cli::cat_line("length of the latent mean: ", format(x$norm, digits = 4L))
  if (length(x$fit$starts) > 1L) cli::cat_line("evidence from the starts: ", paste(format(x$fit$starts, digits = 6L), collapse = " "))
  invisible(x)
}

#' @rdname granary_gp_classify
#' @export
tidy.granary_gp_classify <- function(x, ...) {
  bounds <- x$bounds
  natural <- function(v) ifelse(bounds$names == "mean", v, exp(v))
  data.frame(term = names(x$parameters), estimate = unname(x$parameters), lower = natural(bounds$lower), upper = natural(bounds$upper),
             on_bound = names(x$parameters) %in% x$on_bound)
}
