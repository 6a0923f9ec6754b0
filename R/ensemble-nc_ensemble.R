#' Regression ensembles trained together
#'
#' Negative correlation learning: several small networks, or members that are linear in fixed features, are trained at
#' once, with one number that goes from members on their own to one large model. In between the ensemble often predicts
#' best.
#'
#' @details
#' Over all weights of the members \eqn{f_1, \dots, f_M}{f_1, ..., f_M} with mean \eqn{\bar f}{fbar}
#' \deqn{\frac1N \sum_n \Big\{ \frac12 \sum_i (f_i - t)^2 - \frac\lambda2 \sum_i (f_i - \bar f)^2 \Big\}
#' + \frac{\mathrm{decay}}2 \|w\|^2}{
#' 1/N sum_n { 1/2 sum_i (f_i - t)^2 -
#' lambda/2 sum_i (f_i - fbar)^2 } + decay/2 |w|^2}
#' is made small. The braces are \eqn{1 - \lambda}{1 - lambda} times the errors of the members plus
#' \eqn{\lambda}{lambda} times that of the ensemble: `lambda = 0` trains members by themselves, `lambda = 1` the
#' ensemble as one model. Beyond 1 there is no minimum, for two members that move apart lower it without end: the paper
#' proves that no member has one beyond \eqn{M / (M - 1)}{M / (M - 1)} and finds by trial that trouble starts at 1; the
#' eigenvalues \eqn{1 - \lambda}{1 - lambda} and 1 of its second derivative in the outputs say why.
#'
#' The paper's `gamma` is the same strength on another scale,
#' \eqn{\lambda = 2 \gamma (1 - 1/M)}{lambda = 2 gamma (1 - 1/M)}. Give one of the two; the default is
#' `gamma = 0.5`, where the paper tells one to begin.
#'
#' **Members.** `"mlp"`: \eqn{b + \sum_h v_h / (1 + e^{-(a_h + u_h'x)})}{b + sum_h v_h / (1 + exp(-(a_h + u_h'x)))}.
#' `"rbf"`: sums of `size` bumps whose centres and widths are trained, too. `"features"`: linear in `size` features that
#' are drawn once and stay: waves (`basis = "fourier"`, which approximates a Gaussian kernel), bumps (`"rbf"`), or
#' columns of `x` (`"columns"`, linear members on random columns). For these the solution is a linear system and is
#' found exactly.
#'
#' **Penalties.** `"mean"`: the above. `"target"`:
#' \eqn{\lambda \sum_{i<j} (f_i - t)(f_j - t)}{lambda sum_{i<j} (f_i - t)(f_j - t)} for the second sum (Liu and Yao),
#' the same family with \eqn{\lambda M / (1 + \lambda (M - 1))}{lambda M / (1 + lambda (M - 1))} in place of
#' \eqn{\lambda}{lambda}. `"sequential"`: one member after the other, penalised by
#' \eqn{\lambda (f_i - t) \sum_{j<i} (f_j - t)}{lambda (f_i - t) sum_{j<i} (f_j - t)} (Rosen).
#'
#' **Training.** `"exact"` and `"sweeps"` (member by member, with memory of one) for features. `"lbfgs"` for all weights
#' at once. `"sgd"`: the paper's rule, row by row with the ensemble's answer held while the members move. Columns are
#' brought to \eqn{[0, 1]}{[0, 1]} and `y` to \eqn{[-1, 1]}{[-1, 1]} unless `standardize = FALSE`; `decay` counts in
#' these units. With `validation` above 0 (and at least ten rows to hold out) the error of those rows is looked at every
#' `every` epochs, training ends when it is above its value
#' `window` epochs earlier, and the best weights seen are kept.
#'
#' @section Which method when:
#' Smooth curves in a few columns, some hundred to ten thousand rows, and a wish to see how much of the error is whose.
#' `learner = "features"` when it must be exact, quick or certain, `"mlp"` where columns act in few directions. Many
#' members of few units gain most. [forest()] where columns are many, of mixed kinds or jump; [krige()] where the
#' uncertainty of a prediction matters. [nc_ensemble_select()] chooses the strength, [nc_ensemble_baseline()] has
#' bagging and boosting of the same members.
#'
#' @param x Numbers, one row per case; or a formula.
#' @param y The response.
#' @param formula,data,subset,na.action As in [lm()].
#' @param lambda Strength from 0 to 1; above 1 there is a warning.
#' @param gamma The same on the paper's scale; give one of the two.
#' @param learner What the members are.
#' @param n_members Number of members.
#' @param size Units of a member. By default 4, for features 20 (but at most half of the columns).
#' @param basis Features of `learner = "features"`.
#' @param penalty Which penalty couples the members.
#' @param optimizer `"exact"`, `"sweeps"` (both for features), `"lbfgs"`, `"sgd"`. By default `"exact"` for features,
#'   otherwise `"lbfgs"`.
#' @param decay Ridge on the weights, constants, centres and widths apart. By default 0, for features 0.001.
#' @param width Of bumps and waves, over the median distance of two rows.
#' @param validation Rows held out to stop early, as a share; 0 for none. Not used by exact solutions.
#' @param every,window Epochs between looks at the held-out rows, and over which their error may rise. By default 50 and
#'   500 as in the paper for `"sgd"`, 20 and 200 for
#'   `"lbfgs"`, whose epochs are evaluations.
#' @param rate Step length of `"sgd"`.
#' @param shuffle Whether rows come in a new order each epoch of `"sgd"`.
#' @param anneal `lambda` rises from 0 over this share of the epochs.
#' @param standardize Whether columns and response are brought to fixed ranges first.
#' @param weights Weights of the rows.
#' @param tol Gradients this small, relative to the start, end the training.
#' @param max_iter Most epochs: by default 1000, for `"sgd"` 5000.
#' @param threads Number of threads; see [granary_session()].
#' @param ... For the formula, further arguments of the default method; otherwise nothing.
#' @return An object of class `granary_nc_ensemble`, inheriting from `granary_fit`: `members` (predictions, one column
#'   each), `fitted`, `residuals`, `lambda`, `gamma`, `trace` (mean squared errors by epoch), `held` (rows held out),
#'   `parts` (error of the ensemble, mean error of its members and ambiguity, of the rows trained on and held out),
#'   `bounds`, `coefficients`, `model`, `convergence`.
#' @references
#' Brown, G., Wyatt, J. L. and Tino, P. (2005). Managing diversity in regression ensembles. *Journal of Machine Learning
#' Research* 6, 1621-1650.
#'
#' Liu, Y. and Yao, X. (1999). Ensemble learning via negative correlation. *Neural Networks* 12, 1399-1404.
#'
#' Rosen, B. E. (1996). Ensemble learning using decorrelated neural networks. *Connection Science* 8, 373-384.
#' @seealso [nc_ensemble_select()], [nc_ensemble_baseline()], [nc_ensemble_bounds()], [ensemble_diversity()],
#'   [sim_nc_ensemble()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_nc_ensemble(150, p = 5)
#' fit <- nc_ensemble(sim$x, sim$y, learner = "features", n_members = 8)
#' fit
#' assess(fit, newdata = sim$newx, newy = sim$newy)
#' head(predict(fit, sim$newx, type = "members"), 3)
#' plot(fit, what = "members")
#'
#' net <- nc_ensemble(sim$x, sim$y, gamma = 0.4, n_members = 4, size = 3)
#' plot(net)
nc_ensemble <- function(x, ...) UseMethod("nc_ensemble", formula_or_first(x, ...))

#' @rdname nc_ensemble
#' @export
nc_ensemble.formula <- function(formula, data = NULL, weights, subset, na.action, ...) {
  formula_fit(nc_ensemble.default, "nc_ensemble", takes = "weights", ...)
}

#' @rdname nc_ensemble
#' @export
nc_ensemble.default <- function(x, y = NULL, lambda = NULL, gamma = NULL, learner = c("mlp", "rbf", "features"),
                                n_members = 10, size = NULL,
                                basis = c("fourier", "rbf", "columns"), penalty = c("mean", "target", "sequential"),
                                optimizer = NULL, decay = NULL, width = 1,
                                validation = 0.25, every = NULL, window = NULL, rate = 0.1, shuffle = FALSE, anneal = 0,
                                standardize = TRUE, weights = NULL, tol = 1e-4,
                                max_iter = NULL, threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  data <- nc_data(x, y, weights)
  options <- nc_options(ncol(data$x), lambda, gamma, learner, n_members, size, basis, penalty, optimizer, decay, width,
                        validation, every, window, rate, shuffle, anneal, standardize, tol, max_iter, threads)
  nc_run(data, options, core_seed(), call)
}

nc_data <- function(x, y, weights) {
  if (missing(x)) fail_missing("x")
  if (is.null(y)) fail_missing("y")
  x <- check_design(x, "x", allow_sparse = FALSE, min_rows = 1L)
  y <- check_response(y, nrow(x))$y
  weights <- if (is.null(weights)) numeric() else unname(check_vector(weights, "weights", length = nrow(x), lower = 0))
  if (length(weights) > 0L && sum(weights) == 0) abort_input("`weights` must not all be 0.", "weights")
  list(x = x, y = y, weights = weights)
}

# `lambda` from whichever of the two was given.
nc_strength <- function(lambda, gamma, n_members, penalty) {
  if (!is.null(lambda) && !is.null(gamma)) {
    abort_input("Give `lambda` or `gamma`, not both: they are one strength on two scales.", "gamma")
  }
  if (n_members == 1L) {
    if (!is.null(lambda)) lambda <- check_number(lambda, "lambda", lower = 0)
    if (!is.null(gamma)) lambda <- check_number(gamma, "gamma", lower = 0)
    if (!is.null(lambda) && lambda != 0) {
      abort_input("With one member there is nothing to couple: leave `lambda` and `gamma` out, or make them 0.",
                  if (is.null(gamma)) "lambda" else "gamma")
    }
    return(0)
  }
  if (!is.null(gamma)) {
    if (penalty != "mean") {
      abort_input(sprintf("`gamma` is a scale of penalty = \"mean\": give `lambda` for \"%s\".", penalty), "gamma")
    }
    return(2 * check_number(gamma, "gamma", lower = 0) * (1 - 1 / n_members))
  }
  if (is.null(lambda)) {
    return(switch(penalty, mean = 1 - 1 / n_members, target = (n_members - 1) / (2 * n_members - 1), 0.5))
  }
  check_number(lambda, "lambda", lower = 0)
}

nc_options <- function(p, lambda, gamma, learner, n_members, size, basis, penalty, optimizer, decay, width, validation,
                       every, window, rate, shuffle, anneal, standardize, tol,
                       max_iter, threads) {
  learner <- check_choice(learner, c("mlp", "rbf", "features"))
  basis <- check_choice(basis, c("fourier", "rbf", "columns"))
  penalty <- check_choice(penalty, c("mean", "target", "sequential"))
  fixed <- learner == "features"
  if (is.null(optimizer)) optimizer <- if (fixed) "exact" else "lbfgs"
  optimizer <- check_choice(optimizer, c("exact", "sweeps", "lbfgs", "sgd"))
  exact <- optimizer %in% c("exact", "sweeps")
  if (exact && !fixed) {
    abort_input(sprintf("`optimizer` \"%s\" is for learner = \"features\": networks take \"lbfgs\" or \"sgd\".",
                        optimizer), "optimizer")
  }
  n_members <- check_count(n_members, upper = 1e5)
  lambda <- nc_strength(lambda, gamma, n_members, penalty)
  strength <- if (is.null(gamma)) "lambda" else "gamma"
  if (penalty == "mean" && n_members > 1L && lambda > n_members / (n_members - 1) * (1 + 1e-12)) {
    most <- nc_strength_bounds(n_members)[[paste0(strength, "_upper")]]
    abort_input(sprintf("`%s` must be at most %s for %d members: beyond it the error of no member has a minimum.",
                        strength, format(most, digits = 5L), n_members), strength)
  }
  if (lambda > 1 + 1e-12 && penalty != "sequential") {
    if (exact) {
      abort_input(sprintf("`%s` must not be beyond lambda = 1 for exact solutions: there is no minimum to find.",
                          strength), strength)
    }
    warn_input(paste("Beyond lambda = 1 the error that is minimised falls without end as members move apart:",
                     "expect the training to explode."), strength)
  }
  size <- check_count(size, upper = 1e5, allow_null = TRUE)
  columns <- fixed && basis == "columns"
  if (is.null(size)) size <- if (columns) max(1L, p %/% 2L) else if (fixed) 20L else 4L
  if (columns && size > p) {
    abort_input(sprintf("`size` must be at most the number of columns, %d, for members that take columns, not %d.", p,
                        size), "size")
  }
  sgd <- optimizer == "sgd"
  counted_or <- function(x, arg, otherwise) {
    x <- check_count(x, arg, allow_null = TRUE)
    if (is.null(x)) otherwise else x
  }
  if (is.null(decay)) decay <- if (fixed) 1e-3 else 0
  list(
    learner = learner, basis = basis, penalty = penalty, optimizer = optimizer, n_members = n_members, size = size,
    lambda = lambda,
    decay = check_number(decay, "decay", lower = 0), width = check_number(width, lower = 0, strict_lower = TRUE),
    validation = check_number(validation, lower = 0, upper = 0.9),
    every = counted_or(every, "every", if (sgd) 50L else 20L),
    window = counted_or(window, "window", if (sgd) 500L else 200L),
    max_iter = counted_or(max_iter, "max_iter", if (sgd) 5000L else 1000L),
    tol = check_number(tol, lower = 0, strict_lower = TRUE), rate = check_number(rate, lower = 0, strict_lower = TRUE),
    shuffle = check_flag(shuffle), anneal = check_number(anneal, lower = 0, upper = 1),
    standardize = check_flag(standardize),
    threads = thread_count(threads)
  )
}

nc_run <- function(data, options, seed, call, class = "nc_ensemble", quiet = FALSE) {
  found <- core_nc_ensemble(unname_design(data$x), data[c("y", "weights")], options, seed,
                            if (!quiet) progress_bar("ensemble"))
  if (found$too_few && !quiet) {
    message("There are too few rows to hold any out (ten are needed): training goes on for all epochs.")
  }
  fit <- new_nc(found, data, options, class, call)
  if (!quiet) check_nc_convergence(fit)
  fit
}

# A fixed number of rows of sgd is what was asked for: no warning.
check_nc_convergence <- function(fit) {
  if (identical(fit$convergence$reason, "approximate") && fit$settings$optimizer == "sgd") return(fit)
  if (identical(fit$convergence$reason, "unbounded")) {
    warn_convergence(paste0("The training has exploded: ", fit$convergence$message,
                            ".\nTake a smaller `lambda`, or a smaller `rate` of sgd."), convergence = fit$convergence)
    return(fit)
  }
  check_convergence(fit, "Raise `max_iter`, loosen `tol`, or hold rows out with `validation`.")
}

new_nc <- function(found, data, options, class, call, vote = NULL, trees = NULL) {
  members <- found$members
  dimnames(members) <- list(rownames(data$x), sprintf("member%d", seq_len(ncol(members))))
  fitted <- nc_combine(members, vote)
  held <- sort(found$held)
  n_members <- options$n_members
  several <- n_members > 1L && is.null(vote)
  new_fit(
    class, members = members, fitted = fitted, residuals = stats::setNames(data$y - fitted, names(fitted)), y = data$y,
    lambda = options$lambda, gamma = if (several && options$penalty == "mean") options$lambda * n_members /
    (2 * (n_members - 1)),
    trace = nc_trace(found$trace), held = held, parts = nc_parts(members, fitted, data$y, held, vote),
    bounds = if (several) nc_strength_bounds(n_members), model = if (is.null(trees)) found$model, trees = trees,
    vote = vote,
    coefficients = if (is.null(trees)) nc_weights(found$model, colnames(data$x)), columns = colnames(data$x),
    abscissa = if (ncol(data$x) == 1L) unname(data$x[, 1L]), settings = options, n = nrow(data$x),
    weights = if (length(data$weights) > 0L) data$weights, call = generic_call(call, class[1L]),
    convergence = found$convergence
  )
}

# The answer of the ensemble: the mean, or a weighted median.
nc_combine <- function(members, vote = NULL) {
  if (is.null(vote)) return(rowMeans(members))
  stats::setNames(core_weighted_medians(unname_design(members), vote), rownames(members))
}

nc_trace <- function(trace) {
  if (length(trace$epoch) == 0L) return(NULL)
  trace <- as.data.frame(trace)
  trace$valid[is.nan(trace$valid)] <- NA
  trace
}

# Error of the ensemble, mean error of its members and their ambiguity, of the rows trained on and of those held out.
nc_parts <- function(members, fitted, y, held, vote) {
  one <- function(rows, name) {
    if (length(rows) == 0L) return(NULL)
    found <- core_ambiguity(unname_design(members[rows, , drop = FALSE]), y[rows], numeric(), NULL)
    data.frame(rows = name, n = length(rows), mse = mean((fitted[rows] - y[rows])^2),
               members = mean(found$member_error), ambiguity = mean(found$ambiguity))
  }
  out <- rbind(one(setdiff(seq_along(y), held), "trained on"), one(held, "held out"))
  if (!is.null(vote)) out$ambiguity <- out$members - out$mse  # of a median, not a mean
  out
}

# Weights by name: "member1:x1:unit2" from column x1 to unit 2, "member1:unit2" its constant, "member1:unit2:out" its
# share of the answer, "member1:out" the constant.
nc_weights <- function(model, columns) {
  units <- paste0("unit", seq_len(model$size))
  names <- switch(model$learner,
    features = character(),
    mlp = c(outer(units, columns, function(u, x) paste(x, u, sep = ":")), units),
    rbf = c(outer(columns, units, paste, sep = ":"), paste0(units, ":logwidth"))
  )
  names <- c(names, paste0(units, ":out"), "out")
  stats::setNames(as.vector(model$weights), paste0("member", rep(seq_len(ncol(model$weights)), each = length(names)),
                                                   ":", names))
}
