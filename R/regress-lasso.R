#' Lasso and elastic net
#'
#' Linear and logistic regression with an \eqn{\ell_1}{l1} penalty, along a path of penalties: which few of very many columns predict the response?
#'
#' @details
#' For each penalty \eqn{\lambda}{lambda} the fit minimises over intercept and coefficients
#' \deqn{L(\beta_0, \beta) + \lambda \sum_j f_j \left(\alpha |\beta_j| + \frac{1 - \alpha}{2} \beta_j^2\right)}{L(b0, b) + lambda sum_j
#' f_j (alpha |b_j| + (1 - alpha)/2 b_j^2)}
#' with \eqn{L = \frac{1}{2n}\sum_i w_i (y_i - \eta_i)^2}{L = 1/(2n) sum_i w_i (y_i - eta_i)^2} for family `"gaussian"` and
#' \eqn{L = \frac{1}{n} \sum_i w_i (\log(1 + e^{\eta_i}) - y_i \eta_i)}{L = 1/n sum_i w_i (log(1 + exp(eta_i)) - y_i eta_i)} for `"binomial"`,
#' \eqn{\eta_i = \beta_0 + x_i'\beta + o_i}{eta_i = b0 + x_i'b + offset_i}, weights rescaled to sum \eqn{n}.
#' With `standardize`, the penalty acts on the coefficients of columns divided by their standard deviation (divisor \eqn{n});
#' coefficients are reported for the columns as they came.
#'
#' **The penalty against glmnet's.** The objective is the one of package glmnet, so for `mixture = 1` (its `alpha`) the same `lambda` gives the same fit, for
#' both families.
#' There are two differences: `penalty_factor` is used as it is (glmnet rescales factors to sum to the number of columns: multiply ours by
#' `ncol(x) / sum(penalty_factor)` to compare), and for the gaussian family with `mixture < 1` glmnet first divides `y` by its standard deviation
#' \eqn{s},
#' so that the factor of its ridge term is \eqn{\lambda / s}{lambda / s} where ours is \eqn{\lambda}{lambda}.
#'
#' **Solver.** Coordinate descent over the columns that strong rules cannot exclude, with kept inner products where they pay, Anderson
#' extrapolation and Newton steps where sweeps are slow; the logistic loss by proximal Newton steps. Every penalty ends with a check of the optimality
#' conditions of *all* columns: the largest violation, as a correlation (in units of \eqn{sd(x_j) sd(y)}{sd(x_j) sd(y)}), is at most `tol`. It is
#' reported
#' as `residual`, beside the duality `gap` of the objective for the gaussian family. `convergence$iterations` counts the sweeps over columns of the
#' whole path. With more columns than rows, and penalties that fall by more than a factor of four from one to the next (or from the largest useful
#' one to the first), the solver puts others in between, to lesser accuracy: they make the way shorter, are counted, and are not reported.
#' A sparse `dgCMatrix` is never made dense. `tol` is tighter than what is usual: with correlated columns and many more of them than rows the default
#' takes longer than glmnet's, whose objective is then off by 1e-4 to 1e-3 of itself; at equal accuracy (`tol` = 1e-5 here, `thresh` = 1e-11 there) the
#' times are about the same or less (`inst/bench/peers/lasso_wide.R`).
#'
#' **Coefficients between the penalties of the path** are interpolated linearly in \eqn{\lambda}{lambda}. For the gaussian lasso that is exact
#' where no column
#' enters or leaves between the two neighbours; with `exact = TRUE` the model is refitted at the penalties asked for.
#'
#' **Separable classes.** When a hyperplane separates the classes, the logistic likelihood has no maximum, and coefficients grow without bound as
#' the penalty
#' falls. The path then stops where it explains 99.9 percent of the deviance, and a warning says so.
#'
#' @section Which method when:
#' `lasso()` for prediction and a first selection; [lasso_select()] to choose the penalty by prediction error;
#' [scaled_lasso()] when the penalty
#' should adapt to an unknown noise level without cross-validation; [debiased_lasso()] for confidence intervals and p-values, which a lasso
#' coefficient,
#' being shrunk, does not have.
#'
#' @param x A numeric matrix, data frame or `dgCMatrix`, one row per observation; or a formula.
#' @param y Response: numbers for `"gaussian"`; a factor of two levels, logical, 0/1 or proportions for `"binomial"`.
#' @param formula,data,subset,na.action A formula and the data frame with its variables, as for [stats::lm()]; what a method cannot use
#'   is refused.
#' @param family `"gaussian"` or `"binomial"`.
#' @param lambda Penalties, or `NULL` for a grid of `n_lambda` values, equally spaced on the log scale, from the smallest at which all
#'   coefficients are zero.
#' @param n_lambda Length of that grid. It ends early when the deviance explained levels off.
#' @param lambda_min_ratio Its end over its start; `NULL` for 1e-4 with more rows than columns, else 0.01.
#' @param mixture The share \eqn{\alpha}{alpha} of the absolute values in the penalty: 1 for the lasso, 0 for ridge regression, between them for the elastic net.
#' @param weights Weights of the rows, zero or positive.
#' @param offset Known part of the linear predictor, one number per row.
#' @param penalty_factor Factor of the penalty of each column: 0 for no penalty, `Inf` to leave a column out.
#' @param lower,upper Bounds of the coefficients, one number or one per column; they must include zero.
#' @param intercept Whether there is an intercept, which is not penalised.
#' @param standardize Whether to penalise on the scale of standardised columns.
#' @param tol Largest violation of the optimality conditions, as a correlation.
#' @param max_iter Sweeps for each penalty.
#' @param ... Passed from the formula method to the default method.
#' @return An object of class `granary_lasso`: `lambda`, `coefficients` (a sparse matrix, one column per penalty), `intercept`, `df`, `dev_ratio`,
#'   `objective`, `residual`, `gap`, `null_deviance`, and the data. See [granary_lasso] for what can be done with it.
#' @references
#' Tibshirani (1996). Regression shrinkage and selection via the lasso. *Journal of the Royal Statistical Society B* 58, 267--288.
#'
#' Friedman, Hastie and Tibshirani (2010). Regularization paths for generalized linear models via coordinate descent.
#' *Journal of Statistical Software* 33(1).
#'
#' Tibshirani, Bien, Friedman, Hastie, Simon, Taylor and Tibshirani (2012). Strong rules for discarding predictors in lasso-type problems.
#' *Journal of the Royal Statistical Society B* 74, 245--266.
#' @seealso [lasso_select()], [scaled_lasso()], [debiased_lasso()], [debiased_lasso_baseline()], [gen_lasso()], [adapt_partition()]
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(80 * 200), 80)
#' y <- x[, 1] - x[, 2] + rnorm(80)
#' fit <- lasso(x, y)
#' fit
#' coef(fit, lambda = 0.3)[1:4, ]
#' lasso(mpg ~ ., mtcars, lambda = 0.5)
lasso <- function(x, ...) {
  UseMethod("lasso", formula_or_first(x, ...))
}

#' @rdname lasso
#' @export
lasso.formula <- function(formula, data = NULL, weights, subset, na.action, offset, ...) {
  formula_fit(lasso.default, "lasso", takes = c("weights", "offset", "intercept"), ...)
}

#' @rdname lasso
#' @export
lasso.default <- function(x, y, family = c("gaussian", "binomial"), lambda = NULL, n_lambda = 100, lambda_min_ratio = NULL, mixture = 1, weights = NULL,
                          offset = NULL, penalty_factor = NULL, lower = -Inf, upper = Inf, intercept = TRUE, standardize = TRUE, tol = 1e-6,
                          max_iter = 1e5, ...) {
  call <- match.call()
  refuse_dots(...)
  family <- check_choice(family, c("gaussian", "binomial"))
  x <- check_matrix(x, min_rows = 2L, allow_sparse = TRUE)  # names for columns without one are made apart from it: to name them is to copy it
  n <- nrow(x)
  p <- ncol(x)
  response <- check_response(y, n, family)
  settings <- list(
    mixture = check_number(mixture, lower = 0, upper = 1), lambda = check_vector(lambda, lower = 0, allow_null = TRUE),
    n_lambda = check_count(n_lambda, upper = 1e5), lambda_min_ratio = check_number(lambda_min_ratio, lower = 0, upper = 1, strict_lower = TRUE,
                                                                                 strict_upper = TRUE, allow_null = TRUE),
    weights = check_row_weights(weights, n), offset = check_vector(offset, length = n, allow_null = TRUE),
    penalty_factor = check_penalty_factor(penalty_factor, p), lower = check_coef_bounds(lower, p, "lower"),
    upper = check_coef_bounds(upper, p, "upper"),
    intercept = check_flag(intercept), standardize = check_flag(standardize), tol = check_number(tol, lower = 1e-14, upper = 0.1),
    max_iter = check_count(max_iter)
  )
  fit <- lasso_fit(x, response$y, family, settings)
  fit$levels <- response$levels
  fit$call <- generic_call(call, "lasso")
  warn_lasso(fit, is.null(lambda))
  check_convergence(fit, "Raise `max_iter`, loosen `tol`, or end the path earlier (`lambda_min_ratio`).")
}

# The path as an object, without warnings; `x` and `y` have been checked.
lasso_fit <- function(x, y, family, settings) {
  for (name in c("weights", "offset", "penalty_factor")) if (!is.null(settings[[name]])) settings[[name]] <- unname(settings[[name]])
  if (is.null(settings$lambda_min_ratio)) settings$lambda_min_ratio <- 0
  unbounded <- function(bound) if (all(is.infinite(bound))) NULL else bound
  call_settings <- settings
  call_settings["lower"] <- list(unbounded(settings$lower))
  call_settings["upper"] <- list(unbounded(settings$upper))
  call_settings$family <- family
  path <- core_lasso(x, y, call_settings, progress_bar("lasso path"))
  dimnames(path$coefficients) <- list(column_names(x), NULL)
  convergence <- path$convergence
  path$gap[is.nan(path$gap)] <- NA  # bounds, or a column without penalty
  asked <- settings$lambda
  new_fit("lasso", coefficients = path$coefficients, intercept = path$intercept, lambda = path$lambda, df = path$df, dev_ratio = path$dev_ratio,
          objective = path$objective, residual = path$residual, gap = if (family == "gaussian") path$gap else NULL,
          null_deviance = path$null_deviance, family = family, settings = settings, x = x, y = y,
          stopped = length(asked) > length(path$lambda), call = NULL, convergence = convergence)
}

warn_lasso <- function(fit, own_grid) {
  count <- length(fit$lambda)
  if (fit$family == "binomial" && fit$dev_ratio[count] > 0.99) {
    eta <- lasso_link(fit, fit$x, fit$lambda[count], fit$settings$offset)[, 1L]
    if (all((eta > 0) == (fit$y > 0.5)) && all(fit$y %in% c(0, 1))) {
      warn_input(sprintf(paste0("The classes are separable: at lambda = %s every observation is classified correctly with %.1f%% of the deviance ",
                                "explained, so without a penalty there is no finite estimate.\n",
                                "Use a penalty chosen by lasso_select(), not the end of the path."),
                         format(fit$lambda[count], digits = 3L), 100 * fit$dev_ratio[count]), "y")
    }
  }
  if (!own_grid && fit$stopped) {
    warn_input(sprintf("The path stopped at lambda = %s, where %.1f%% of the deviance is explained: %d of the penalties asked for were not fitted.",
                       format(fit$lambda[count], digits = 3L), 100 * fit$dev_ratio[count], length(fit$settings$lambda) - count), "lambda")
  }
}

check_row_weights <- function(weights, n) {
  weights <- check_vector(weights, length = n, lower = 0, allow_null = TRUE)
  if (!is.null(weights) && all(weights == 0)) abort_input("`weights` must not all be zero.", "weights")
  weights
}

check_penalty_factor <- function(penalty_factor, p) {
  if (is.null(penalty_factor)) return(NULL)
  if (!is_plain_numeric(penalty_factor) || !is.null(dim(penalty_factor)) || length(penalty_factor) != p) {
    fail_input("penalty_factor", sprintf("a numeric vector of length %d (or NULL)", p), describe(penalty_factor))
  }
  if (anyNA(penalty_factor) || any(penalty_factor < 0)) {
    abort_input("Every element of `penalty_factor` must be at least 0; Inf leaves a column out.", "penalty_factor")
  }
  as.double(penalty_factor)
}

check_coef_bounds <- function(bound, p, arg) {
  if (!is_plain_numeric(bound) || !is.null(dim(bound)) || !(length(bound) %in% c(1L, p)) || anyNA(bound)) {
    fail_input(arg, sprintf("one number, or %d of them", p), describe(bound))
  }
  wrong <- if (arg == "lower") bound > 0 else bound < 0
  if (any(wrong)) abort_input(sprintf("`%s` must be %s zero.", arg, if (arg == "lower") "at most" else "at least"), arg)
  rep_len(as.double(bound), p)
}

#' Methods for lasso paths
#'
#' What can be done with the result of [lasso()].
#'
#' @param object,x A fit by [lasso()].
#' @param lambda Penalties; `NULL` for all of the path.
#' @param exact Whether to refit at penalties that are not on the path, instead of interpolating between its neighbours.
#' @param newdata Rows to predict for: a matrix with the columns of the fit, or a data frame with the variables of its formula. `NULL` for the data of
#'   the fit.
#' @param offset Offset for the rows of `newdata`, if the fit had one.
#' @param type For `predict()`: `"link"` (the linear predictor), `"response"` (probabilities of the second class for `"binomial"`), `"class"`, or `"prob"` (a column
#'   for each class, at one penalty). For `residuals()`: `"response"` or `"deviance"`.
#' @param against For `plot()`: the penalty (`"lambda"`, on a log scale), the \eqn{\ell_1}{l1} norm of the coefficients (`"norm"`), or the
#'   deviance explained
#'   (`"deviance"`).
#' @param labels How many of the largest coefficients are labelled with the names of their columns.
#' @param data The data to add columns to; `NULL` for the response alone.
#' @param n Number of coefficients to show.
#' @param ... For `plot()`, passed on to [graphics::matplot()]; otherwise not used.
#' @return `coef()` a sparse matrix with the intercept in its first row and one column per penalty; `predict()` and `residuals()` a matrix with
#'   one column per
#'   penalty; `deviance()` one number per penalty; `tidy()` a data frame of the coefficients that are not zero; `glance()` one row per
#'   penalty; `augment()` the data with columns `.fitted` and `.resid` at one penalty; `summary()` an object that prints.
#' @seealso [lasso()], [lasso_select()], [scaled_lasso()], [debiased_lasso()], [debiased_lasso_baseline()], [gen_lasso()]
#' @name granary_lasso
#' @importFrom stats coef deviance logLik predict residuals
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(80 * 20), 80)
#' y <- x[, 1] - x[, 2] + rnorm(80)
#' fit <- lasso(x, y)
#' coef(fit, lambda = c(0.5, 0.1))
#' predict(fit, x[1:3, ], lambda = 0.1)
#' residuals(fit, lambda = 0.1)[1:3, ]
#' deviance(fit, lambda = 0.1)
#' logLik(fit, lambda = 0.1)
#' tidy(fit, lambda = 0.1)
#' glance(fit)[1:3, ]
#' augment(fit, lambda = 0.1)[1:3, ]
#' summary(fit)
#' plot(fit)
#' if (requireNamespace("ggplot2", quietly = TRUE)) ggplot2::autoplot(fit)
NULL

# Intercept and coefficients at `lambda`: list(intercept, coefficients).
lasso_at <- function(fit, lambda, exact = FALSE) {
  if (is.null(lambda)) return(list(lambda = fit$lambda, intercept = fit$intercept, coefficients = fit$coefficients))
  lambda <- check_vector(lambda, "lambda", lower = 0)
  path <- fit$lambda
  exact <- check_flag(exact, "exact")
  on_path <- vapply(lambda, function(value) any(abs(path - value) <= 1e-12 * max(path[1L], value)), NA)
  if (exact && !all(on_path)) {
    settings <- fit$settings
    settings$lambda <- sort(unique(c(path[path > min(lambda)], lambda)), decreasing = TRUE)
    refit <- lasso_fit(fit$x, fit$y, fit$family, settings)
    if (refit$stopped) warn_lasso(refit, FALSE)
    return(lasso_at(refit, lambda))
  }
  outside <- lambda < min(path) * (1 - 1e-12)
  if (any(outside)) {
    warn_input(sprintf("lambda = %s is beyond the end of the path, %s: the coefficients there are given.\nUse exact = TRUE to fit at it.",
                       format(lambda[outside][1L], digits = 4L), format(min(path), digits = 4L)), "lambda")
  }
  if (length(path) == 1L || all(path == path[1L])) {
    left <- right <- rep(1L, length(lambda))
    share <- rep(0, length(lambda))
  } else {
    inside <- pmin(pmax(lambda, min(path)), max(path))
    left <- pmin(pmax(findInterval(-inside, -path), 1L), length(path) - 1L)
    right <- left + 1L
    share <- (path[left] - inside) / (path[left] - path[right])
    share[!is.finite(share)] <- 0
  }
  mix <- function(from) from[, left, drop = FALSE] %*% Matrix::Diagonal(x = 1 - share) + from[, right, drop = FALSE] %*% Matrix::Diagonal(x = share)
  list(lambda = lambda, intercept = fit$intercept[left] * (1 - share) + fit$intercept[right] * share, coefficients = mix(fit$coefficients))
}

#' @rdname granary_lasso
#' @export
coef.granary_lasso <- function(object, lambda = NULL, exact = FALSE, ...) {
  refuse_dots(...)
  at <- lasso_at(object, lambda, exact)
  both <- rbind(Matrix::Matrix(at$intercept, nrow = 1L, sparse = TRUE), at$coefficients)
  dimnames(both) <- list(c("(Intercept)", rownames(object$coefficients)), format_lambda(at$lambda))
  methods::as(both, "CsparseMatrix")
}

format_lambda <- function(lambda) vapply(lambda, format, "", digits = 4L)

lasso_link <- function(fit, x, lambda, offset = NULL, exact = FALSE) {
  at <- lasso_at(fit, lambda, exact)
  eta <- sweep(as.matrix(x %*% at$coefficients), 2L, at$intercept, `+`)
  if (!is.null(offset)) eta <- eta + offset
  dimnames(eta) <- list(rownames(x), format_lambda(at$lambda))
  eta
}

#' @rdname granary_lasso
#' @export
predict.granary_lasso <- function(object, newdata = NULL, lambda = NULL, type = c("link", "response", "class", "prob"), offset = NULL, exact = FALSE, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("link", "response", "class", "prob"))
  if (type %in% c("class", "prob") && object$family != "binomial") abort_input(sprintf("type = \"%s\" is for binomial fits.", type), "type")
  had_offset <- !is.null(object$settings$offset)
  if (is.null(newdata)) {
    if (!is.null(object[["n"]])) not_for(object, "predict() without `newdata`", "it was made from moments and has no rows")
    x <- object$x
    offset <- object$settings$offset
  } else {
    x <- new_design(newdata, rownames(object$coefficients), object$design)
    offset <- check_vector(offset, length = nrow(x), allow_null = TRUE)
    if (had_offset && is.null(offset)) abort_input("`offset` must be given: the model was fitted with one.", "offset")
  }
  eta <- lasso_link(object, x, lambda, offset, exact)
  if (type == "link" || object$family == "gaussian") return(eta)
  if (type == "response") return(stats::plogis(eta))
  if (type == "prob") {
    if (ncol(eta) != 1L) abort_input("type = \"prob\" is for one penalty: name it as `lambda`, or use type = \"response\" for all of the path.", "lambda")
    return(prob_matrix(stats::plogis(eta[, 1L]), object$levels, rownames(eta), stats::plogis(-eta[, 1L])))
  }
  array(object$levels[(eta > 0) + 1L], dim(eta), dimnames(eta))
}

#' @rdname granary_lasso
#' @export
residuals.granary_lasso <- function(object, lambda = NULL, type = c("response", "deviance"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("response", "deviance"))
  mu <- predict(object, lambda = lambda, type = "response")
  response <- object$y - mu
  if (type == "response" || object$family == "gaussian") return(response)
  sign(response) * sqrt(2 * pmax(binomial_loss(object$y, stats::qlogis(mu)), 0))
}

# Half the unit deviance.
binomial_loss <- function(y, eta) {
  entropy <- function(q) ifelse(q > 0, q * log(q), 0)
  log1p(exp(-abs(eta))) + pmax(eta, 0) - y * eta + entropy(y) + entropy(1 - y)
}

#' @rdname granary_lasso
#' @export
deviance.granary_lasso <- function(object, lambda = NULL, ...) {
  refuse_dots(...)
  if (is.null(lambda)) return((1 - object$dev_ratio) * object$null_deviance)
  weights <- if (is.null(object$settings$weights)) rep(1, length(object$y)) else object$settings$weights
  eta <- predict(object, lambda = lambda)
  unit <- if (object$family == "gaussian") (object$y - eta)^2 else 2 * binomial_loss(object$y, eta)
  colSums(weights * unit)
}

#' @rdname granary_lasso
#' @export
logLik.granary_lasso <- function(object, lambda = NULL, ...) {
  refuse_dots(...)
  weights <- if (is.null(object$settings$weights)) rep(1, length(object$y)) else object$settings$weights
  n <- length(object$y)
  loss <- deviance(object, lambda)
  # The number of coefficients that are not zero is an unbiased estimate of the degrees of freedom of the gaussian lasso.
  df <- if (is.null(lambda)) object$df else Matrix::colSums(lasso_at(object, lambda)$coefficients != 0)
  df <- unname(df) + object$settings$intercept
  value <- if (object$family == "gaussian") {
    df <- df + 1
    -n / 2 * (log(2 * pi * pmax(loss / n, .Machine$double.xmin)) + 1) + sum(log(weights[weights > 0])) / 2
  } else {
    y <- object$y
    entropy <- function(q) ifelse(q > 0, q * log(q), 0)
    -loss / 2 + sum(weights * (entropy(y) + entropy(1 - y)))
  }
  structure(unname(value), df = df, nobs = n, class = "logLik")
}

#' @rdname granary_lasso
#' @export
print.granary_lasso <- function(x, ...) {
  count <- length(x$lambda)
  cli::cat_line("granary: lasso path, family ", x$family, ", n = ", lasso_rows(x), ", p = ", ncol(x$x),
                if (x$settings$mixture < 1) paste0(", mixture = ", format(x$settings$mixture)))
  print_call(x$call)
  show <- unique(round(seq(1, count, length.out = min(count, 8L))))
  table <- data.frame(lambda = format(x$lambda[show], digits = 4L), df = x$df[show], `explained` = sprintf("%.1f%%", 100 * x$dev_ratio[show]))
  print(table, row.names = FALSE)
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  cli::cat_line("Next: plot(), coef(lambda = ), predict(), lasso_select()")
  invisible(x)
}

#' @rdname granary_lasso
#' @export
summary.granary_lasso <- function(object, lambda = NULL, n = 10, ...) {
  n <- check_count(n)
  criteria <- logLik(object)
  size <- attr(criteria, "nobs")
  table <- data.frame(lambda = object$lambda, df = object$df, dev_ratio = object$dev_ratio,
                      AIC = -2 * as.double(criteria) + 2 * attr(criteria, "df"),
                      BIC = -2 * as.double(criteria) + log(size) * attr(criteria, "df"))
  if (is.null(lambda)) lambda <- object$lambda[which.min(table$BIC)]
  lambda <- check_number(lambda, lower = 0)
  seal(structure(list(call = object$call, family = object$family, table = table, lambda = lambda, largest = utils::head(tidy(object, lambda), n),
                 convergence = object$convergence), class = "summary_granary_lasso"))
}

#' @export
print.summary_granary_lasso <- function(x, ...) {
  cli::cat_line("granary: lasso path, family ", x$family)
  print_call(x$call)
  best <- c(which.min(x$table$AIC), which.min(x$table$BIC))
  table <- x$table[best, ]
  rownames(table) <- c("smallest AIC", "smallest BIC")
  print(format(table, digits = 4L))
  cli::cat_line("Largest coefficients at lambda = ", format(x$lambda, digits = 4L), ":")
  print(x$largest[c("term", "estimate")], digits = 4L, row.names = FALSE)
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname granary_lasso
#' @export
tidy.granary_lasso <- function(x, lambda = NULL, ...) {
  refuse_dots(...)
  at <- lasso_at(x, lambda)
  entries <- Matrix::summary(methods::as(at$coefficients, "CsparseMatrix"))
  table <- data.frame(term = rownames(x$coefficients)[entries$i], lambda = at$lambda[entries$j], estimate = entries$x)
  table <- table[table$estimate != 0, ]
  table <- table[order(-table$lambda, -abs(table$estimate)), ]
  rownames(table) <- NULL
  table
}

#' @rdname granary_lasso
#' @export
glance.granary_lasso <- function(x, ...) {
  refuse_dots(...)
  likelihood <- logLik(x)
  data.frame(lambda = x$lambda, df = x$df, dev_ratio = x$dev_ratio, deviance = deviance(x), logLik = as.double(likelihood),
             objective = x$objective, residual = x$residual, nobs = lasso_rows(x))
}

#' @rdname granary_lasso
#' @export
augment.granary_lasso <- function(x, data = NULL, lambda = NULL, ...) {
  refuse_dots(...)
  if (is.null(lambda)) lambda <- x$lambda[length(x$lambda)]
  lambda <- check_number(lambda, lower = 0)
  augment_rows(data, x$y, predict(x, lambda = lambda, type = "response")[, 1L])
}

# What the path is drawn against, and the columns worth a label.
path_axis <- function(fit, against, labels) {
  against <- check_choice(against, c("lambda", "norm", "deviance"))
  axis <- switch(against, lambda = fit$lambda, norm = Matrix::colSums(abs(fit$coefficients)), deviance = fit$dev_ratio)
  active <- which(Matrix::rowSums(fit$coefficients != 0) > 0)
  largest <- apply(abs(as.matrix(fit$coefficients[active, , drop = FALSE])), 1L, max)
  list(axis = unname(axis), active = active, label = active[utils::head(order(-largest), check_count(labels, "labels", lower = 0))],
       against = against,
       title = switch(against, lambda = "penalty", norm = "l1 norm of the coefficients", deviance = "deviance explained"))
}

#' @rdname granary_lasso
#' @export
plot.granary_lasso <- function(x, against = c("lambda", "norm", "deviance"), labels = 6, ...) {
  axis <- path_axis(x, against, labels)
  keep <- if (axis$against == "lambda") x$lambda > 0 else rep(TRUE, length(x$lambda))
  if (sum(keep) < 2L || length(axis$active) == 0L) {
    abort_input("There is nothing to draw: a plot needs at least two penalties and one coefficient that is not zero.", "x")
  }
  values <- t(as.matrix(x$coefficients[axis$active, keep, drop = FALSE]))
  at <- axis$axis[keep]
  limits <- if (axis$against == "lambda") rev(range(at)) else range(at)
  room <- if (axis$against == "lambda") exp(log(limits[2L]) + 0.12 * diff(log(limits))) else limits[2L] + 0.12 * diff(limits)
  draw(graphics::matplot, at, values, type = "l", lty = 1, log = if (axis$against == "lambda") "x" else "", xlim = c(limits[1L], room),
       xlab = axis$title, ylab = "coefficient", col = grDevices::hcl.colors(ncol(values), "Dark 3"), user = list(...))
  graphics::abline(h = 0, col = "grey70")
  if (length(axis$label) > 0L) {
    end <- as.matrix(x$coefficients[axis$label, utils::tail(which(keep), 1L), drop = FALSE])[, 1L]
    graphics::text(limits[2L], spread_labels(end, range(values)), rownames(x$coefficients)[axis$label], pos = 4L, cex = 0.7, xpd = NA)
  }
  invisible()
}

#' @rdname granary_lasso
#' @usage \method{autoplot}{granary_lasso}(object, against = c("lambda", "norm", "deviance"), labels = 6, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_lasso <- function(object, against = c("lambda", "norm", "deviance"), labels = 6, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  axis <- path_axis(object, against, labels)
  keep <- if (axis$against == "lambda") object$lambda > 0 else rep(TRUE, length(object$lambda))
  values <- as.matrix(object$coefficients[axis$active, keep, drop = FALSE])
  if (axis$against == "lambda") axis$axis <- penalty_place(axis$axis)
  table <- data.frame(at = rep(axis$axis[keep], each = nrow(values)), estimate = as.vector(values), term = rep(rownames(values), sum(keep)))
  end <- table[table$at == axis$axis[utils::tail(which(keep), 1L)] & table$term %in% rownames(object$coefficients)[axis$label], ]
  end$estimate <- spread_labels(end$estimate, range(values))
  plot <- gg_canvas(table, ggplot2::aes(x = .data$at, y = .data$estimate, colour = .data$term)) +
    ggplot2::geom_hline(yintercept = 0, colour = "grey70") + ggplot2::geom_line(show.legend = FALSE) +
    ggplot2::geom_text(ggplot2::aes(label = .data$term), data = end, hjust = -0.1, size = 3, show.legend = FALSE) + gg_palette("colour") +
    ggplot2::labs(x = axis$title, y = "coefficient")
  at <- axis$axis[keep]
  if (axis$against != "lambda") return(plot + ggplot2::scale_x_continuous(limits = c(min(at), max(at) + 0.12 * diff(range(at)))))
  plot + gg_penalties(at, room = 0.12)
}
