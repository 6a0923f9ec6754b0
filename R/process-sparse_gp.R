#' Sparse Gaussian process regression
#'
#' Gaussian process regression for thousands to millions of rows: the process is carried by `m` inducing inputs, so that the cost is
#' \eqn{O(nm^2)} in the place of \eqn{O(n^3)}. All approximations of the unifying view of Quinonero-Candela and Rasmussen stand behind one
#' function, with the exact process as their reference.
#'
#' @details
#' The model is \eqn{y_i = f_i'b + f(x_i) + \epsilon_i}{y_i = trend_i'b + f(x_i) + e_i} with \eqn{f} a Gaussian process with the kernel given and
#' \eqn{\epsilon_i \sim N(0, \sigma^2)}{e_i ~ N(0, s2)}. With inducing inputs \eqn{X_u}, the values \eqn{u} of the process there, and
#' \eqn{Q_{ab} = K_{au}K_{uu}^{-1}K_{ub}}{Q_ab = K_au K_uu^-1 K_ub}, each method is exact inference under a changed prior:
#'
#' | `method` | covariance of the training values | of training with test values | of test values |
#' | --- | --- | --- | --- |
#' | `"sor"` subset of regressors | \eqn{Q_{ff}}{Q_ff} | \eqn{Q_{f*}}{Q_f*} | \eqn{Q_{**}}{Q_**} |
#' | `"dtc"` deterministic training conditional | \eqn{Q_{ff}}{Q_ff} | \eqn{Q_{f*}}{Q_f*} | \eqn{K_{**}}{K_**} |
#' | `"fitc"` fully independent training conditional | \eqn{Q_{ff} + \mathrm{diag}(K_{ff} - Q_{ff})}{Q_ff + diag(K_ff - Q_ff)} | \eqn{Q_{f*}}{Q_f*} | \eqn{K_{**}}{K_**} |
#' | `"fic"` the same, test values too | as `"fitc"` | \eqn{Q_{f*}}{Q_f*} | \eqn{Q_{**} + \mathrm{diag}(K_{**} - Q_{**})}{Q_** + diag(K_** - Q_**)} |
#' | `"pitc"` partially independent | \eqn{Q_{ff} + \mathrm{blockdiag}(K_{ff} - Q_{ff})}{Q_ff + blockdiag(K_ff - Q_ff)} | \eqn{Q_{f*}}{Q_f*} | \eqn{K_{**}}{K_**} |
#' | `"nystrom"` | \eqn{Q_{ff}}{Q_ff} | \eqn{K_{f*}}{K_f*} | \eqn{K_{**}}{K_**} |
#'
#' `"vfe"` predicts as `"dtc"` but learns by the variational bound \eqn{\log q_{DTC}(y) - \mathrm{tr}(K_{ff} - Q_{ff})/(2\sigma^2)}{log q(y) of
#' DTC - tr(K_ff - Q_ff) / (2 s2)}, a lower bound of the exact evidence; `"sod"` is an exact process on a subset of the data, `"exact"` on all of
#' it (at most 5000 rows). The prior of `"nystrom"` need not be positive: its variances can be negative, which predictions report.
#'
#' **Learning.** With \eqn{\Lambda} the part of the training covariance beside \eqn{Q_{ff}}{Q_ff}, noise included, `hyper = "ml2"` maximises
#' \deqn{\log q(y) = -\frac{1}{2}\log|Q_{ff} + \Lambda| - \frac{1}{2}(y - Fb)'(Q_{ff} + \Lambda)^{-1}(y - Fb) - \frac{n}{2}\log 2\pi}{log q(y) = -1/2
#' log|Q_ff + Lambda| - 1/2 (y - F b)'(Q_ff + Lambda)^-1 (y - F b) - n/2 log(2 pi)}
#' over the parameters of the kernel, the noise and, with `select = "optimize"`, the inducing inputs, all at once, by L-BFGS with
#' gradients in closed form. The trend \eqn{b} is estimated by generalised least squares, and standard errors account for it.
#' With `prior` the log density of normal priors of the logarithms is added, for the posterior mode; [gp_parameter_sample()] draws from the
#' posterior. With more than 20000 rows the parameters are first learnt from a sample of 5000 or more.
#' The evidence of `"sor"` and `"dtc"` over-fits inducing inputs that are optimised; prefer `"fitc"` or `"vfe"` for that.
#' A `k_white()` term of the kernel is taken as noise.
#'
#' **Inducing inputs** (`select`): `"kmeans"` centres of clusters; `"random"` rows; `"pivchol"` the row of largest conditional variance, again
#' and again
#' (fewer than asked for when the rest is explained); `"info"` the same given noisy values (largest information gain); `"posterior"` the best of
#' 59 random rows by the log posterior of the subset of regressors (Smola and Bartlett), `"evidence"` by its evidence, which the paper prefers;
#' `"optimize"` moves them, from clusters, to maximise the evidence, inside the range of the data and a tenth beyond. Rules that look at the kernel
#' choose again after it was learnt. `inducing = "test"` takes the rows of `newdata`; together with `method = "pitc"` this is the Bayesian
#' committee machine, and predictions are for `newdata` only.
#'
#' **Memory** is \eqn{O(nm)} or less; no \eqn{n \times n}{n x n} matrix is formed (blocks of `"pitc"` have their own).
#'
#' **Numerics.** A share of 1e-12 of its mean (1e-10 while learning) is added to the diagonal of \eqn{K_{uu}}{K_uu}, up to 1e-4 where that is
#' not enough; `jitter` in the
#' fit says how much. Where more than 1e-7 is needed, and after inducing inputs were
#' optimised, those that say nothing beyond the others are left out (`dropped`). The noise variance is kept above 1e-8 of the variance of the response.
#'
#' @section Which method when:
#' `"fitc"` is the default: it costs no more than the cruder ones, its error bars are sensible, and it fits data whose noise varies. `"vfe"` behaves
#' more like the exact process, as far as the inducing inputs carry it, and is safest when inducing inputs are optimised. `"pitc"` helps when
#' the data fall
#' into dense groups. `"sor"` is overconfident away from the inducing inputs; `"dtc"` has the same mean and better error bars; both are here because
#' others are compared with them. `"sod"` is for a quick look. Up to some 3000 rows use `"exact"`, or kriging for computer experiments.
#' [rvm()] is sparse in its weights, not a process with error bars that grow away from the data. [sparse_gp_compare()] tries several.
#'
#' @param x Inputs, one row per observation: a matrix or data frame of numbers, a vector for one column; or a formula.
#' @param y Response, numbers.
#' @param formula,data A formula, response ~ inputs, and a data frame with its variables.
#' @param weights,subset,na.action,offset As in [stats::lm()]; weights and offsets are refused. Factors become dummy columns.
#' @param method See Details.
#' @param inducing Number of inducing inputs (at most the number of distinct rows), a matrix of them, or `"test"` for `newdata`.
#' @param select How they are chosen.
#' @param kernel A kernel (see [kernels]) or its name. The parameters of a kernel object are starting values, or the values used with
#'   `hyper = "fixed"`, in the units of the data.
#' @param ard For a kernel given by name: one lengthscale per column?
#' @param hyper `"ml2"` to learn parameters by maximum evidence, `"fixed"` to take them as they are.
#' @param noise_var Noise variance; `NULL` to learn it. A number is kept fixed.
#' @param blocks For `"pitc"`: a factor or vector with the block of each row; a number for blocks of about so many rows; `NULL` for blocks of about as
#'   many rows as there are inducing inputs. They are clusters of equal size. At most 5000 rows in a block.
#' @param mean Trend: `"constant"`, `"zero"`, or `"linear"` in the inputs.
#' @param newdata With `inducing = "test"`, the rows that will be predicted. For `predict()`, `simulate()` and `update()`, new rows; `NULL` for the
#'   data of the fit (with `inducing = "test"`: the test rows).
#' @param prior `NULL`, or a list of log-normal priors, each a median and the standard deviation of the logarithm, such as
#'   `list(lengthscale = c(1, 1), noise_var = c(0.1, 2))`, in the units of the data. A name is that of a parameter, as in `coef(fit$kernel)`, or a
#'   word of it, for all parameters that have it.
#' @param n_starts Number of starting values that are followed to the end, of several that are tried.
#' @param max_iter Largest number of iterations.
#' @param tol Stop when the gradient has fallen to this share of the first.
#' @param threads Number of threads; see `options(granary.threads)`. Results do not depend on it.
#' @param ... Passed from the formula method to the default method; for `plot()`, to [graphics::plot()].
#' @return An object of class `granary_sparse_gp`: a list with
#' \item{method, kernel, noise_var}{the method, the kernel with its parameters, \eqn{\sigma^2}{s2}}
#' \item{inducing}{\eqn{X_u}; for `"sod"` and `"exact"` the rows used}
#' \item{rows}{the rows of `x` that were selected, where the inducing inputs are rows}
#' \item{log_evidence}{\eqn{\log q(y)}{log q(y)}, or the bound for `"vfe"`}
#' \item{coefficients}{of the trend}
#' \item{gap}{`trace`: \eqn{\mathrm{tr}(K_{ff} - Q_{ff})}{tr(K_ff - Q_ff)} over \eqn{\mathrm{tr} K_{ff}}{tr K_ff}, `max`: the largest
#'   \eqn{k_{ii} - q_{ii}}{k_ii - q_ii} over the mean \eqn{k_{ii}}{k_ii}: how much the inducing inputs leave open}
#' \item{trace}{the evidence along the optimisation}
#' \item{jitter, dropped, blocks, at_bound}{what was added to \eqn{K_{uu}}{K_uu}; inducing inputs left out because they said nothing beyond the
#'   others; blocks of the rows; parameters that ended on a bound}
#' \item{state}{the factors and sums that predictions use, `x` and `y`}
#' See [granary_sparse_gp] for what can be done with it.
#' @references
#' Quinonero-Candela and Rasmussen (2005). A unifying view of sparse approximate Gaussian process regression. *Journal of Machine Learning Research*
#' 6, 1939--1959.
#'
#' Snelson and Ghahramani (2006). Sparse Gaussian processes using pseudo-inputs. *NIPS* 18.
#'
#' Titsias (2009). Variational learning of inducing variables in sparse Gaussian processes. *AISTATS*.
#'
#' Smola and Bartlett (2001). Sparse greedy Gaussian process regression. *NIPS* 13.
#' @seealso [sparse_gp_compare()], [rvm()], [kriging()], [gp_classify()], [bayes_opt()], [gp_parameter_sample()]
#' @seealso `errata("jmlr6-sparse-gp")`; `reproduce("jmlr6-sparse-gp")`
#' @export
#' @examples
#' set.seed(1)
#' x <- runif(500, 0, 6)
#' y <- sin(2 * x) + 0.3 * x + rnorm(500, sd = 0.2)
#' fit <- sparse_gp(x, y, inducing = 12)
#' fit
#' predict(fit, c(1, 3, 8), se = TRUE)
#' plot(fit)
#' sparse_gp(mpg ~ wt + hp, mtcars, method = "exact")
sparse_gp <- function(x, ...) {
  UseMethod("sparse_gp", formula_or_first(x, ...))
}

#' @rdname sparse_gp
#' @export
sparse_gp.formula <- function(formula, data = NULL, weights, subset, na.action, offset, newdata = NULL, ...) {
  placed <- function(x, y, ...) {
    if (!is.null(newdata)) {
      terms <- stats::delete.response(stats::terms(formula, data = data))
      newdata <- new_design(newdata, colnames(x), list(terms = terms, xlevels = NULL, contrasts = NULL), allow_sparse = FALSE)
    }
    sparse_gp.default(x, y, newdata = newdata, ...)
  }
  formula_fit(placed, "sparse_gp", takes = character(), ...)
}

sparse_methods <- c("fitc", "pitc", "dtc", "sor", "vfe", "fic", "sod", "nystrom", "exact")
sparse_rules <- c("kmeans", "pivchol", "random", "info", "posterior", "evidence", "optimize")
block_limit <- 5000

#' @rdname sparse_gp
#' @export
sparse_gp.default <- function(x, y, method = c("fitc", "pitc", "dtc", "sor", "vfe", "fic", "sod", "nystrom", "exact"), inducing = 100,
                              select = c("kmeans", "pivchol", "random", "info", "posterior", "evidence", "optimize"), kernel = "se", ard = TRUE,
                              hyper = c("ml2", "fixed"), noise_var = NULL, blocks = NULL, mean = c("constant", "zero", "linear"), newdata = NULL,
                              prior = NULL, n_starts = 1, max_iter = 200, tol = 1e-5, threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  started <- proc.time()[["elapsed"]]
  x <- check_process_inputs(x)
  y <- check_response(y, nrow(x))$y
  method <- check_choice(method, sparse_methods)
  select <- check_choice(select, sparse_rules)
  hyper <- check_choice(hyper, c("ml2", "fixed"))
  mean <- check_choice(mean, c("constant", "zero", "linear"))
  settings <- list(method = method, select = select, mean = mean, n_starts = check_count(n_starts, upper = 1000),
                   max_iter = check_count(max_iter, upper = 1e6), tol = check_number(tol, lower = 1e-14, upper = 0.1),
                   threads = thread_count(threads))
  noise_var <- check_number(noise_var, lower = 0, strict_lower = TRUE, upper = 1e300, allow_null = TRUE)
  kernel <- sparse_kernel(kernel, ncol(x), check_flag(ard), noise_var)
  if (kernel$user) settings$threads <- 1L  # R is called back, which threads may not do
  if (method == "exact" && nrow(x) > block_limit) {
    abort_input(sprintf("method = \"exact\" is for at most %d rows, but `x` has %d.\nUse another method, such as \"fitc\".", block_limit, nrow(x)),
                "method")
  }
  if (hyper == "fixed" && is.null(kernel$noise)) {
    abort_input("`noise_var` must be given with hyper = \"fixed\".", "noise_var")
  }
  data <- sparse_data(x, y, mean)
  place <- check_inducing(inducing, x, method, select, newdata)
  settings$learn <- hyper == "ml2"
  if (settings$learn && data$scale <= 0) {
    warn_input("`y` does not vary: there is nothing to learn, and predictions are constant.", "y")
    settings$learn <- FALSE
  }
  settings$learn_noise <- settings$learn && is.null(noise_var)
  settings["prior"] <- list(check_prior(prior, c(kernel$names, "noise_var"), free = hyper == "ml2"))
  settings$learn_inducing <- select == "optimize" && !place$test && !method %in% c("sod", "exact")
  if (settings$learn_inducing && !kernel$differentiable) {
    abort_input("select = \"optimize\" needs a kernel with derivatives in its inputs, which this one has not.", "select")
  }
  if (settings$learn_inducing && settings$learn && method %in% c("sor", "dtc", "nystrom")) {
    warn_input(paste0("The evidence of method = \"", method, "\" over-fits inducing inputs that are optimised.\nPrefer \"fitc\" or \"vfe\" with ",
                      "select = \"optimize\"."), "select")
  }
  blocks <- if (method == "pitc") check_blocks(blocks, x, place$m, settings$threads)
  raw <- learn_sparse(data, kernel, place, blocks, settings)
  fit <- sparse_fit_object(raw, x, y, data, place, blocks, settings, call)
  fit$seconds <- proc.time()[["elapsed"]] - started
  warn_sparse(fit)
  check_convergence(fit, "Raise `max_iter`, or loosen `tol`: predictions change little in the last iterations.")
}

# Inputs with names for all columns; a vector is one column.
check_process_inputs <- function(x, arg = deparse1(substitute(x))) {
  force(arg)
  if (missing(x)) fail_missing(arg)
  if (is_plain_numeric(x) && is.null(dim(x))) x <- matrix(x, ncol = 1L)
  check_design(x, arg, allow_sparse = FALSE, min_rows = 1L)
}

# The response about its mean where there is a trend, the trend, and the size of what is left to explain.
sparse_data <- function(x, y, mean) {
  offset <- if (mean == "zero") 0 else base::mean(y)
  centre <- colMeans(x)
  spread <- column_sds(x)
  if (mean == "linear") {
    varies <- apply(x, 2L, function(column) any(column != column[1L]))
    if (!all(varies) || length(core_trend_columns(unname(cbind(1, x)), numeric(nrow(x)))$keep) < 1L + ncol(x)) {
      abort_input(paste0("mean = \"linear\" needs more rows than columns, and columns that vary and do not repeat one another.\n",
                         "Use mean = \"constant\", or drop columns of `x`."), "mean")
    }
  }
  data <- list(x = x, y = y - offset, offset = offset, mean = mean, centre = centre, spread = spread)
  data$trend <- trend_basis(data, x)
  residual <- if (ncol(data$trend) > 1L) stats::lm.fit(data$trend, data$y)$residuals else data$y
  data$scale <- base::mean(residual^2)
  if (data$scale <= 1e-28 * max(y^2)) data$scale <- 0  # rounding
  data$residual <- residual
  data
}

# Standard deviations of columns, 1 for those that do not vary.
column_sds <- function(x) {
  out <- vapply(seq_len(ncol(x)), function(j) stats::sd(x[, j]), 0)
  out[!is.finite(out) | out <= 0] <- 1
  out
}

trend_basis <- function(data, x) {
  switch(data$mean, zero = matrix(0, nrow(x), 0L), constant = matrix(1, nrow(x), 1L),
         linear = cbind(1, sweep(sweep(unname(x), 2L, data$centre), 2L, data$spread, `/`)))
}

# Where the inducing inputs come from: a matrix that was given, or how many are to be chosen.
check_inducing <- function(inducing, x, method, select, newdata) {
  if (method == "exact") return(list(m = nrow(x), rows = seq_len(nrow(x)), test = FALSE))
  if (identical(inducing, "test")) {
    if (is.null(newdata)) abort_input("inducing = \"test\" needs `newdata`, the rows to predict.", "newdata")
    if (method == "sod") abort_input("method = \"sod\" needs rows of `x` with their response, not test rows.", "inducing")
    newdata <- new_design(check_process_inputs(newdata), colnames(x), allow_sparse = FALSE)
    given <- distinct_rows(newdata)
    return(list(given = given, m = nrow(given), test = TRUE, newdata = newdata))
  }
  if (is.numeric(inducing) && length(inducing) == 1L && is.null(dim(inducing))) {
    inducing <- check_count(inducing)
    distinct <- nrow(distinct_rows(x))
    if (inducing > distinct) {
      if (inducing != 100L) {
        warn_input(sprintf("`inducing` is more than the %s of `x`, which are all used.", counted(distinct, "distinct row", "distinct rows")),
                   "inducing")
      }
      inducing <- distinct
    }
    return(list(m = as.integer(inducing), test = FALSE))
  }
  if (is.character(inducing)) fail_input("inducing", "a number, a matrix of inputs, or \"test\"", describe(inducing))
  given <- check_process_inputs(inducing, "inducing")
  if (ncol(given) != ncol(x)) {
    abort_input(sprintf("`inducing` must have the %d columns of `x`, but it has %d.", ncol(x), ncol(given)), "inducing")
  }
  if (method == "sod") abort_input("method = \"sod\" needs the number of rows to use in `inducing`, not a matrix.", "inducing")
  given <- distinct_rows(given)
  dimnames(given) <- list(NULL, colnames(x))
  list(given = given, m = nrow(given), test = FALSE)
}

# unique(), which is slow for many rows, only where no column shows by itself that all rows differ.
distinct_rows <- function(x) {
  for (j in seq_len(ncol(x))) if (anyDuplicated(x[, j]) == 0L) return(x)
  unique(x)
}

check_blocks <- function(blocks, x, m, threads) {
  n <- nrow(x)
  if (is.null(blocks) || (is_plain_numeric(blocks) && length(blocks) == 1L && n > 1L)) {
    size <- if (is.null(blocks)) min(m, block_limit) else check_count(blocks, "blocks", upper = block_limit)
    return(core_sparse_blocks(x, as.integer(min(size, n)), threads, core_seed(), progress_bar("blocks")))
  }
  usable <- (is.factor(blocks) || is.character(blocks) || is_plain_numeric(blocks)) && is.null(dim(blocks))
  if (!usable || length(blocks) != n || anyNA(blocks)) {
    fail_input("blocks", sprintf("a factor with the block of each of the %d rows, a number of rows, or NULL", n), describe(blocks))
  }
  blocks <- as.integer(droplevels(as.factor(blocks)))
  if (max(tabulate(blocks)) > block_limit) {
    abort_input(sprintf("A block of `blocks` has %d rows; at most %d are possible.\nSplit it.", max(tabulate(blocks)), block_limit), "blocks")
  }
  blocks
}

# What the inducing variables leave unexplained of the prior: in all, and at the worst row, relative to the mean prior variance.
sparse_gap <- function(state) c(trace = state$gap / state$prior, max = state$max_gap * state$n / state$prior)

sparse_fit_object <- function(raw, x, y, data, place, blocks, settings, call) {
  state <- raw$state
  inducing <- state$inducing
  dimnames(inducing) <- list(NULL, colnames(x))
  state$inducing <- NULL
  shift <- c(data$offset, numeric(max(0L, length(state$trend) - 1L)))
  coefficients <- if (length(state$trend) > 0L) stats::setNames(state$trend + shift, c("(Intercept)", colnames(x))[seq_along(state$trend)])
  own <- !settings$method %in% c("exact", "sod")
  new_fit(
    "sparse_gp", method = settings$method, inducing = inducing, kernel = raw$kernel, noise_var = state$noise, loglik = state$log_evidence,
    coefficients = coefficients, mean = settings$mean, select = if (own && (is.null(place$given) || settings$learn_inducing)) settings$select,
    rows = raw$rows,
    gap = if (own) sparse_gap(state), jitter = if (own) state$jitter, dropped = raw$dropped, blocks = blocks,
    trace = as.double(raw$trace), learnt = raw$learnt, at_bound = raw$at_bound, test = if (place$test) place$newdata, n = nrow(x),
    x = x, y = y, data = data[c("offset", "mean", "centre", "spread")], state = state, threads = settings$threads,
    search = if (settings$learn) raw$search, call = generic_call(call, "sparse_gp"), convergence = raw$convergence
  )
}

warn_sparse <- function(fit) {
  warn_on_bound(fit$at_bound, paste0("A lengthscale there means that the response hardly depends on its column, or is rougher than the data ",
                                     "can show; noise at its lower bound, that the data look free of it."))
  if (fit$dropped > 0L) {
    warn_input(sprintf("Redundant inducing inputs were left out: %d of %d.\nUse fewer of them.", fit$dropped, fit$dropped + nrow(fit$inducing)),
               "inducing")
  } else if (!is.null(fit$jitter) && fit$jitter > 1e-7) {
    warn_input(sprintf("The inducing inputs are nearly redundant: %s of its mean was added to the diagonal of their covariance.\nUse fewer of them.",
                       format(fit$jitter, digits = 2L)), "inducing")
  }
}
