#' Gaussian process classification
#'
#' Two classes with a nonlinear boundary, calibrated probabilities, and nothing to cross-validate: the kernel's parameters are learnt by
#' maximising the evidence.
#'
#' @details
#' The model is \eqn{p(y_i = \pm 1 | f_i) = \Phi(y_i f_i)}{p(y_i = +-1 | f_i) = Phi(y_i f_i)} (`link = "probit"`) or
#' \eqn{1/(1 + e^{-y_i f_i})}{1 / (1 + exp(-y_i f_i))} (`"logit"`) with \eqn{f \sim N(c, K)}{f ~ N(c, K)}. The posterior of the latent values is
#' approximated by a normal law,
#' \deqn{q(f) = N(f | m, A), \quad A = (K^{-1} + T)^{-1}, \quad T = \mathrm{diag}(\tau),}{q(f) = N(f | m, A), A = (K^-1 + T)^-1, T = diag(tau),}
#' whose site precisions \eqn{\tau}{tau} come from one of two methods.
#'
#' **`"ep"`**, expectation propagation, matches the mean and variance of each marginal: the moments of
#' \eqn{p(y_i | f_i)}{p(y_i | f_i)} times the normal law without site \eqn{i} (the cavity). All sites are changed at once
#' (`sweeps = "parallel"`: one Cholesky factor per sweep, damped, the last sweeps extrapolated; it turns to single sites where it does not
#' settle) or
#' one at a time in random order (`"sequential"`, as in the paper). EP is close to the exact answer and the default.
#'
#' **`"laplace"`** expands the log posterior at its mode, found by Newton steps. It is quicker, but the mode is nearer to zero than the mean, so its
#' probabilities are systematically too timid.
#'
#' In both cases \eqn{f_* \sim N(c + k_*'w, k_{**} - k_*'(K + T^{-1})^{-1}k_*)}{f* ~ N(c + k*'w, k** - k*'(K + T^-1)^-1 k*)} with
#' \eqn{w = K^{-1}(m - c)}{w = K^-1 (m - c)}; for the probit link \eqn{p_* = \Phi(\mu_*/\sqrt{1 + \sigma_*^2})}{p* = Phi(mu* / sqrt(1 + s*^2))}.
#' \eqn{K} itself is never factored or inverted.
#'
#' **Learning.** With `hyper = "ml2"` the log evidence is maximised over the logarithms of the kernel's free parameters (and the mean) by
#' L-BFGS in a box
#' with exact gradients, from `n_starts` starts: the first has a lengthscale of the size of the data, the others are random. Once a variance is
#' so large
#' that the likelihood acts as a hard cut, the evidence no longer depends on it; `max_variance` stops it there, as in the paper. A
#' parameter that ends on a bound is named in a warning.
#'
#' With `prior` the log density of normal priors of the logarithms is added, for the posterior mode; [gp_parameter_sample()] draws from the
#' posterior of the parameters, as far as the approximate evidence goes.
#'
#' With `standardize`, columns are centred and divided by their standard deviation, as in the paper, and lengthscales are in those units. By default
#' that is done when parameters are learnt, and not when they are held.
#'
#' @section Which method when:
#' `gp_classify()` for 20 to 5000 rows when probabilities matter; `method = "laplace"` for a quick look; [gp_classify_sample()] and
#' `gp_classify_evidence(fit, "ais")` to check a fit against the exact posterior; [lasso()] with `family = "binomial"` when the boundary is linear and
#' there are many columns.
#'
#' @param x A numeric matrix or data frame, one row per case (a vector for one column); a character vector, a list, or a data frame with a column of
#'   objects for a kernel over objects (see [kernels]); or a formula.
#' @param y Labels: a factor with two levels, logical, text with two values, 0/1 or -1/1. The second level is the class whose probability is
#'   predicted.
#' @param formula,data A formula, response ~ inputs, and a data frame with its variables.
#' @param weights,subset,na.action,offset As in [stats::lm()]; weights and offsets are refused.
#' @param kernel A kernel such as [k_se()], or text such as `"matern52"`. Its parameters are those used with `hyper = "fixed"`.
#' @param method `"ep"` or `"laplace"`.
#' @param hyper `"ml2"` to learn the kernel's parameters, `"fixed"` to use them as they are.
#' @param link `"probit"` or `"logit"`.
#' @param ard Whether each column gets its own lengthscale.
#' @param mean The prior mean \eqn{c}: a number, or `"constant"` to learn it.
#' @param prior `NULL`, or a list of log-normal priors, each a median and the standard deviation of the logarithm, such as
#'   `list(lengthscale = c(2, 1), variance = c(10, 2))`; of `mean`, of a normal one, mean and standard deviation. A name is that of a parameter, as
#'   in `coef()`, or a word of it, for all parameters that have it. Lengthscales are in standardised units with `standardize`.
#' @param n_starts Number of starts of the search.
#' @param max_variance Upper bound of the kernel's variances.
#' @param lower,upper Bounds of parameters on their natural scale, by name, such as `c(se.lengthscale = 0.1)`; for those not named, from the data.
#' @param standardize Whether to standardise the columns; `NULL` for yes with `hyper = "ml2"` and no with `"fixed"`.
#' @param sweeps For EP: `"parallel"` or `"sequential"`.
#' @param damping Share of each step of EP, in (0, 1]; `NULL` for 0.9 in parallel and 1 in sequential sweeps.
#' @param tol For EP the largest difference of the moments, in standard deviations (the log evidence is then good to its square); for Laplace its
#'   square is the relative change of the log posterior that ends the Newton steps.
#' @param max_iter Largest number of sweeps or Newton steps.
#' @param threads Threads for the starts; `NULL` for `getOption("granary.threads")`.
#' @param ... Passed from the formula method to the default method.
#' @return An object of class `granary_gp_classify`: `levels`, `kernel`, `parameters`, `log_evidence`, `tau` and `nu` (sites), `weight`,
#'   `latent_mean`, `latent_variance`, `loo` (log probability of each label given the others), `starts` (evidence reached from each start),
#'   `on_bound`, `convergence`. See [granary_gp_classify] for what can be done with it.
#' @references
#' Kuss and Rasmussen (2005). Assessing approximate inference for binary Gaussian process classification. *Journal of Machine Learning
#' Research* 6, 1679--1704.
#' @seealso [gp_classify_evidence()], [gp_classify_sample()], [gp_classify_baseline()], [kriging()], [sparse_gp()], [rvm()]
#' @seealso `errata("jmlr6-gp-classification")`; `reproduce("jmlr6-gp-classification")`
#' @export
#' @examples
#' set.seed(1)
#' data <- sim_gp_classes(20)
#' fit <- gp_classify(y ~ x, data)
#' fit
#' predict(fit, data.frame(x = c(-6, 0, 2)))
gp_classify <- function(x, ...) {
  UseMethod("gp_classify", formula_or_first(x, ...))
}

#' @rdname gp_classify
#' @export
gp_classify.formula <- function(formula, data = NULL, weights, subset, na.action, offset, ...) {
  formula_fit(gp_classify.default, "gp_classify", takes = character(), ...)
}

#' @rdname gp_classify
#' @export
gp_classify.default <- function(x, y, kernel = "se", method = c("ep", "laplace"), hyper = c("ml2", "fixed"), link = c("probit", "logit"), ard = FALSE,
                                mean = 0, prior = NULL, n_starts = 3, max_variance = 1e5, lower = NULL, upper = NULL, standardize = NULL,
                                sweeps = c("parallel", "sequential"), damping = NULL, tol = 1e-6, max_iter = 100, threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  bound <- bind_kernel(kernel, x, threads = threads)
  if (!is.null(bound$layout)) {
    x <- bound$x
    kernel <- bound$kernel
  }
  x <- check_inputs(x)
  method <- check_choice(method, c("ep", "laplace"))
  hyper <- check_choice(hyper, c("ml2", "fixed"))
  link <- check_choice(link, c("probit", "logit"))
  sweeps <- check_choice(sweeps, c("parallel", "sequential"))
  if (nrow(x) > 5000L) {
    abort_input(sprintf("`x` has %d rows, but the exact method works with a matrix of all pairs: at most 5000.\nTake a random subset of the rows.",
                        nrow(x)), "x")
  }
  labels <- check_classes(y, nrow(x))
  if (is.null(colnames(x))) colnames(x) <- if (ncol(x) == 1L) "x" else paste0("x", seq_len(ncol(x)))
  ard <- check_flag(ard)
  kernel <- as_kernel(kernel)
  if (ard) kernel <- kernel_with_ard(kernel)
  kernel <- prepare_kernel(kernel, ncol(x))
  learn_mean <- identical(mean, "constant")
  if (!learn_mean && (is.character(mean) || is.factor(mean))) fail_input("mean", "a number or \"constant\"", describe(mean))
  standardize <- check_flag(standardize, allow_null = TRUE)
  periodic <- any(vapply(kernel_leaves(kernel), `[[`, "", "type") == "periodic")  # its period is in the units of the inputs
  if (is.null(standardize)) standardize <- hyper == "ml2" && !periodic
  scaling <- if (standardize) column_scaling(x, bound$layout$objects) else list(centre = numeric(ncol(x)), scale = rep(1, ncol(x)))
  scaled <- scale_inputs(x, scaling)
  settings <- list(
    link = link, method = method, mean = if (learn_mean) 0 else check_number(mean, lower = -1e6, upper = 1e6), learn_mean = learn_mean,
    tol = check_number(tol, lower = 1e-12, upper = 0.1), max_iter = check_count(max_iter), parallel = sweeps == "parallel",
    damping = if (is.null(damping)) 0 else check_number(damping, lower = 0, upper = 1, strict_lower = TRUE),
    threads = if (has_user_code(kernel)) 1L else thread_count(threads)
  )
  n_starts <- check_count(n_starts, upper = 1e4)
  max_variance <- check_number(max_variance, lower = 1e-3, upper = 1e12)
  bounds <- classifier_bounds(kernel, scaled, max_variance, learn_mean, lower, upper)
  bounds["prior"] <- list(check_prior(prior, bounds$names, free = hyper == "ml2"))
  learnt <- hyper == "ml2" && length(bounds$lower) > 0L
  search <- if (learnt) c(bounds[c("start", "lower", "upper", "prior")], list(n_starts = n_starts)) else list()
  found <- core_gp_classify(list(x = scaled, y = labels$y, kernel = kernel, settings = settings), search, core_seed(),
                            progress_bar(if (learnt) "learning the kernel" else "inference"))
  posterior <- found$posterior
  if (learnt) {
    count <- length(bounds$start)
    if (learn_mean) settings$mean <- found$parameters[count]
    kernel <- set_kernel_parameters(kernel, found$parameters[seq_len(count - learn_mean)])
  }
  on_bound <- bounds$names[sort(c(found$on_lower, found$on_upper))]
  parameters <- stats::coef(kernel)
  if (learn_mean) parameters <- c(parameters, mean = settings$mean)
  fit <- new_fit(
    "gp_classify", levels = labels$levels, kernel = forget_values(kernel), layout = bound$layout, parameters = parameters, loglik = posterior$log_evidence, tau = posterior$tau,
    nu = posterior$nu, weight = posterior$weight, latent_mean = posterior$mean, latent_variance = posterior$variance, loo = posterior$loo,
    log_determinant = posterior$log_determinant, starts = if (learnt) found$starts, on_bound = on_bound, method = method, link = link, hyper = hyper,
    settings = settings, scaling = scaling, bounds = bounds, x = scaled, y = labels$y, call = generic_call(call, "gp_classify"),
    convergence = posterior$convergence
  )
  if (length(unique(labels$y)) == 1L) {
    warn_input(sprintf("`y` has one class only (\"%s\"): the fit says little, and parameters run to their bounds.",
                       labels$levels[(labels$y[1L] + 3) / 2]))
  } else if (hyper == "ml2") {
    warn_classifier_bounds(bounds$names[found$on_lower], bounds$names[found$on_upper])
  }
  check_convergence(fit, "Use a smaller `damping`, `sweeps = \"sequential\"`, or a larger `max_iter`.")
}

# What a parameter at a bound means depends on which bound.
warn_classifier_bounds <- function(low, high) {
  is_variance <- function(names) grepl("variance|scale", names) & !grepl("lengthscale", names)
  advice <- c(
    if (any(is_variance(high))) "A variance at its upper bound: the classes are separable.",
    if (any(is_variance(low))) "A variance at its lower bound: the inputs say nothing about the classes.",
    if (any(grepl("lengthscale", high))) "A lengthscale at its upper bound: its column, or all of them, hardly matter.",
    if (any(grepl("lengthscale", low))) "A lengthscale at its lower bound: every case is taken by itself, and new ones are guessed."
  )
  if (length(advice) == 0L) advice <- "Widen the bounds, or take it as a sign that the data say little about them."
  warn_on_bound(c(low, high), paste(advice, collapse = "\n"))
}

# Labels as -1 and 1 with the names of the two classes.
check_classes <- function(y, n, arg = deparse1(substitute(y)), levels = NULL) {
  force(arg)
  if (missing(y)) fail_missing(arg)
  if (is.data.frame(y) && length(y) == 1L) y <- y[[1L]]
  if (is.matrix(y) && ncol(y) == 1L) y <- y[, 1L]
  plain <- is.factor(y) || ((is.character(y) || is.logical(y) || is_plain_numeric(y)) && is.null(dim(y)) && !is.object(y))
  if (!plain) fail_input(arg, "labels of two classes: a factor, logical, text, 0/1 or -1/1", describe(y))
  if (length(y) != n) abort_input(sprintf("`%s` must have one label per row, %d, but it has %d.", arg, n, length(y)), arg)
  if (anyNA(y)) abort_input(sprintf("`%s` must have no missing labels, but label %d is NA.\nDrop those rows.", arg, which(is.na(y))[1L]), arg)
  if (!is.null(levels)) {
    text <- as.character(y)
    at <- match(text, levels)
    if (anyNA(at)) {
      abort_input(sprintf("`%s` must have the labels of the fit, \"%s\" and \"%s\", but label %d is \"%s\".", arg, levels[1L], levels[2L],
                          which(is.na(at))[1L], text[is.na(at)][1L]), arg)
    }
    return(list(y = c(-1, 1)[at], levels = levels))
  }
  if (is.logical(y)) return(list(y = ifelse(y, 1, -1), levels = c("FALSE", "TRUE")))
  if (is.numeric(y)) {
    if (all(y %in% c(0, 1)) && !all(y == 1)) return(list(y = 2 * as.double(y) - 1, levels = c("0", "1")))
    if (all(y %in% c(-1, 1))) return(list(y = as.double(y), levels = c("-1", "1")))
    abort_input(sprintf("Numbers in `%s` must be 0 and 1 or -1 and 1, but others occur.\nUse factor() for other codes.", arg), arg)
  }
  y <- if (is.factor(y)) y else factor(y)
  if (nlevels(y) == 1L) {
    abort_input(sprintf(paste0("`%s` must have two classes, but it has 1 level.\n",
                               "Give a factor with the levels of both classes, to name the absent one."), arg),
                arg)
  }
  if (nlevels(y) != 2L) {
    abort_input(sprintf("`%s` must have two classes, but it has %s.\nDrop unused levels with droplevels(), or fit pairs of classes.", arg,
                        counted(nlevels(y), "level", "levels")), arg)
  }
  list(y = 2 * as.double(as.integer(y)) - 3, levels = levels(y))
}

column_scaling <- function(x, objects = NULL) {  # `objects`: columns that hold places of objects, which stay as they are
  centre <- colMeans(x)
  scale <- apply(x, 2L, function(column) {
    size <- max(abs(column))
    if (size == 0) 1 else size * sqrt(mean((column / size - mean(column / size))^2))
  })
  scale[!(scale > 1e-12 * pmax(abs(centre), .Machine$double.xmin))] <- 1
  centre[objects] <- 0
  scale[objects] <- 1
  list(centre = unname(centre), scale = unname(scale))
}

scale_inputs <- function(x, scaling) {
  labels <- dimnames(x)
  x <- t((t(x) - scaling$centre) / scaling$scale)
  dimnames(x) <- labels
  x
}

kernel_with_ard <- function(kernel) map_leaves(kernel, function(k) {
  if (k$type %in% c("se", "matern", "rq", "powexp", "hamming", "linear")) k$ard <- TRUE
  k
})

# Lower and upper bounds and a first start of the logarithms of the parameters, in their order; the mean comes last, as it is.
classifier_bounds <- function(kernel, x, max_variance, learn_mean, lower, upper) {
  spread <- apply(x, 2L, function(column) diff(range(column)))
  spread[!(spread > 0)] <- max(1e-300, max(spread), if (all(spread == 0)) 1)
  leaf <- function(k) {
    if (!is.null(k$children)) return(do.call(rbind, lapply(k$children, leaf)))
    row <- function(low, high, start) data.frame(lower = low, upper = high, start = start)
    if (k$type == "user") return(row(k$parameters * 1e-4, k$parameters * 1e4, k$parameters))
    columns <- if (length(k$columns) > 0L) k$columns else seq_len(ncol(x))
    # Per column, or along the diagonal of the box for one lengthscale of all columns.
    size <- if (length(k$scales) > 1L) spread[columns] else sqrt(sum(spread[columns]^2))
    scales <- switch(
      k$type,
      linear = row(1e-6 / size^2, max_variance / size^2, 1 / size^2), mlp = row(rep(1e-4, 2L), rep(1e4, 2L), k$scales),
      polynomial = , sigmoid = row(1e-4 / size^2, 1e4 / size^2, 1 / size^2), bias = , white = NULL,
      periodic = row(rep(1e-2, length(k$scales)), rep(1e2, length(k$scales)), k$scales),
      row(1e-3 * size, 1e2 * size, 0.2 * size)
    )
    shape <- if (k$learn[3L]) if (k$type == "periodic") row(k$shape / 10, k$shape * 10, k$shape) else row(1e-2, 1e3, k$shape)
    rbind(if (k$learn[1L] && k$type != "linear") row(1e-4, max_variance, 1), if (k$learn[2L]) scales, shape)
  }
  table <- leaf(kernel)
  names <- names(stats::coef(kernel))
  if (is.null(table)) table <- data.frame(lower = numeric(), upper = numeric(), start = numeric())
  override <- function(values, user, arg) {
    if (is.null(user)) return(values)
    user <- check_vector(user, arg, lower = 0, strict_lower = TRUE)
    if (is.null(names(user)) || !all(names(user) %in% names)) {
      abort_input(sprintf("`%s` must be named by parameters of the kernel: %s.", arg, paste0("\"", names, "\"", collapse = ", ")), arg)
    }
    values[match(names(user), names)] <- user
    values
  }
  table$lower <- override(table$lower, lower, "lower")
  table$upper <- override(table$upper, upper, "upper")
  if (any(table$lower >= table$upper)) {
    at <- which(table$lower >= table$upper)[1L]
    abort_input(sprintf("The lower bound of \"%s\" must be below its upper bound, but they are %s and %s.", names[at], format(table$lower[at]),
                        format(table$upper[at])), "lower")
  }
  list(lower = c(log(table$lower), if (learn_mean) -10), upper = c(log(table$upper), if (learn_mean) 10),
       start = c(log(pmin(pmax(table$start, table$lower), table$upper)), if (learn_mean) 0), names = c(names, if (learn_mean) "mean"))
}
