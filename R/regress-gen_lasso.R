#' Generalized lasso
#'
#' Regression with coefficients that are sparse in their differences, or in any linear combinations: fused lasso, trend filtering, total variation
#' on
#' graphs, images and volumes. Alternating linearization with exact fast steps; every fit carries a duality gap.
#'
#' @details
#' The estimate minimises
#' \deqn{L(b) = f(b) + \lambda \|R b\|, \quad f(b) = \frac12 \|y - X b\|^2,}{L(b) = f(b) + lambda ||R b||, f(b) = 1/2 ||y - X b||^2,}
#' where \eqn{\|\cdot\|}{|| ||} adds up absolute values, or Euclidean norms of blocks of rows. The loss is a sum, not a mean: a penalty of `glmnet`
#' is
#' \eqn{\lambda / n}{lambda / n} of this one, that of `genlasso` the same. Other losses: `"binomial"` (\eqn{\sum \log(1 + e^\eta) - y \eta}{sum
#' log(1 +
#' exp eta) - y eta}), `"poisson"` (\eqn{\sum e^\eta - y \eta}{sum exp eta - y eta}) and `"huber"` with threshold `delta`. Without `x` the design
#' is the
#' identity: a signal or an image is denoised.
#'
#' **Alternating linearization** (Lin, Pham and Ruszczynski 2014) keeps a centre and solves in turn a problem with the penalty and one with the
#' loss, each
#' with the other linearised and with the proximal term \eqn{\frac12\|b - c\|_D^2}{1/2 ||b - c||_D^2}, \eqn{D = diag(X'X)}. The centre moves where
#' the
#' objective falls by the share `gamma` of what the model promised (`update = "test"`); always moving is the splitting of Peaceman and Rachford
#' (`"pr"`), moving
#' after one of the two problems only that of Douglas and Rachford (`"dr_h"`, `"dr_f"`). The problem with the penalty is solved exactly: by a
#' threshold for rows with one entry, by dynamic programming on chains, by maximum flows on other graphs and grids; otherwise by block coordinate
#' ascent on its dual,
#' an interior point method, or accelerated projected gradients. With the identity as design it is the whole problem, so one round is enough.
#' With a design, penalties on the way from the largest useful one to the first one asked for are solved too, as that is faster than the straight
#' way; they are not part of the result.
#' From time to time the least-squares problem on the groups found is solved exactly (`polish`); this is not in the paper, and saves most of the
#' rounds.
#'
#' **Certificate.** With \eqn{\theta = y - X b}{theta = y - X b} made orthogonal to \eqn{X\,null(R)}{X null(R)} and \eqn{X'\theta = R'\mu}{X'theta
#' = R'mu}, both
#' scaled until \eqn{\mu}{mu} is feasible, the dual value bounds \eqn{L} from below: `convergence$gap`. The fit stops when it is at most `tol` times
#' the objective of zero coefficients. `kkt` has three residuals: of \eqn{X'\theta = R'\mu}{X'theta = R'mu}, of \eqn{\|\mu\|_* \le \lambda}{||mu||
#' <= lambda}, and of
#' \eqn{\mu'Rb = \lambda\|Rb\|}{mu'Rb = lambda ||Rb||}, each relative. The gap is not available with one-sided bounds, nor for a large
#' penalty of type `"matrix"` whose null space is
#' not known; then the promised decrease decides (the paper's test (7)).
#'
#' @section Which method when:
#' `gen_lasso()` when neighbouring coefficients, or cells of an image, should be equal; [gen_lasso_image()] for images; [fused_signal()] when only a signal is
#' to be denoised and nothing else is wanted; [lasso()] for sparse coefficients without structure. [gen_lasso_select()] chooses the penalty.
#'
#' @param x The design: a numeric matrix, data frame, sparse matrix, or `NULL` for the identity. For the formula method, a formula.
#' @param y The response. For `family = "binomial"` 0/1, logical or a factor with two levels; for `"poisson"` counts.
#' @param penalty A penalty by [gen_lasso_penalty()], by default a chain; or a matrix, or a graph.
#' @param lambda Penalties; sorted to be decreasing. By default `n_lambda` values, evenly spaced on the log scale below the smallest one that makes
#'   \eqn{R b = 0}{R b = 0}.
#' @param n_lambda,lambda_min_ratio Length of the default path and the ratio of its ends.
#' @param family The loss.
#' @param intercept Whether there is an unpenalised intercept. By default only for a formula.
#' @param lower,upper Bounds of the coefficients: one number or one per coefficient.
#' @param method The solver: alternating linearization, or one of the methods the paper compares it with. `"tikhonov"` solves another problem:
#'   \eqn{f(b) + \lambda \|R b\|_2^2}{f(b) + lambda ||R b||_2^2}.
#' @param update When the centre moves; see Details.
#' @param gamma The share of the promised decrease that counts as success.
#' @param delta Threshold of the Huber loss.
#' @param tol Relative duality gap at which to stop.
#' @param max_iter Largest number of rounds per penalty.
#' @param start Coefficients to start from.
#' @param polish Whether to solve on the groups from time to time; see Details.
#' @param formula,data,weights,subset,na.action,offset A formula and the data frame with its variables, as for [stats::lm()]; what a method cannot use
#'   is refused.
#' @param ... For the formula method, arguments of the default method; there is nothing else.
#' @return An object of class `granary_gen_lasso`: `beta` (coefficients, one column per penalty), `intercept`, `lambda`, `objective`, `df`
#'   (dimension of the space the
#'   coefficients are free to move in: the number of groups), `mu` (dual), `kkt`, `trace` (objective after every round), `n_serious`, `n_null`,
#'   `lambda_max` with
#'   `lambda_max_exact` (else it is an upper bound; both `NA` where `lambda` was given for more than 5000 coefficients), `unique` (`FALSE`: null(X)
#'   and null(R) meet, and there are other minimisers), `penalty`, `convergence`.
#' @references
#' Lin, Pham and Ruszczynski (2014). Alternating linearization for structured regularization problems. *Journal of Machine Learning Research* 15,
#' 3447--3481.
#'
#' Tibshirani and Taylor (2011). The solution path of the generalized lasso. *Annals of Statistics* 39, 1335--1371 (degrees of freedom).
#'
#' Johnson (2013). A dynamic programming algorithm for the fused lasso and L0-segmentation. *Journal of Computational and Graphical Statistics* 22,
#' 246--260.
#'
#' Chambolle and Darbon (2009). On total variation minimization and surface evolution using parametric maximum flows. *International Journal of
#' Computer
#' Vision* 84, 288--307.
#' @seealso [lasso()], [lasso_select()], [debiased_lasso()]
#' @seealso [gen_lasso_penalty()], [gen_lasso_select()], [gen_lasso_image()]; `errata("jmlr15-alternating-linearization")`;
#' `reproduce("jmlr15-alternating-linearization")`
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 30), 60)
#' b <- rep(c(0, 2, 0), each = 10)
#' y <- drop(x %*% b) + rnorm(60)
#' fit <- gen_lasso(x, y, gen_lasso_penalty("chain", 30), n_lambda = 10)
#' fit
#' coef(fit, lambda = 5)[9:13]
#' plot(fit)
#' # a signal
#' signal <- gen_lasso(NULL, rep(c(0, 2, 1), each = 20) + rnorm(60, sd = 0.4), lambda = 1)
#' plot(signal)
gen_lasso <- function(x, ...) UseMethod("gen_lasso", formula_or_first(x, ...))

gen_methods <- c("alin", "fista", "admm", "sparsa", "tikhonov")
gen_updates <- c("test", "pr", "dr_h", "dr_f")
gen_families <- c("gaussian", "binomial", "poisson", "huber")

#' @rdname gen_lasso
#' @export
gen_lasso.default <- function(x, y, penalty = NULL, lambda = NULL, n_lambda = 20, lambda_min_ratio = 0.01,
                              family = c("gaussian", "binomial", "poisson", "huber"), intercept = NULL, lower = -Inf, upper = Inf,
                              method = c("alin", "fista", "admm", "sparsa", "tikhonov"), update = c("test", "pr", "dr_h", "dr_f"), gamma = 0.2,
                              delta = 1.345, tol = 1e-8, max_iter = 5000, start = NULL, polish = TRUE, ...) {
  call <- generic_call(match.call(), "gen_lasso")
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  family <- check_choice(family, gen_families)
  method <- check_choice(method, gen_methods)
  update <- check_choice(update, gen_updates)
  intercept <- check_flag(intercept, allow_null = TRUE)
  if (is.null(intercept)) intercept <- !is.null(x) && !inherits(x, "granary_blur")
  design <- gen_design(x)
  if (missing(y)) fail_missing("y")
  if (is.null(x)) design <- list(type = "identity", p = NULL, names = NULL, n = NULL)
  if (is.array(y) && is.null(x) && is.numeric(y)) y <- as.vector(y)
  response <- gen_response(y, design$n, family)
  if (is.null(x)) {
    design$n <- design$p <- length(response$y)
    design$names <- names(y)
    if (intercept) abort_input("`intercept` must be FALSE for the identity design: there would be more parameters than values.", "intercept")
  }
  p <- design$p
  penalty <- if (is.null(penalty)) chain_penalty(p) else check_penalty(penalty, p)
  settings <- list(
    family = family, intercept = intercept, lower = lower, upper = upper, method = method, update = update,
    gamma = check_number(gamma, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE),
    delta = check_number(delta, lower = 0, strict_lower = TRUE), tol = check_number(tol, lower = 0, upper = 1, strict_lower = TRUE),
    max_iter = check_count(max_iter), polish = check_flag(polish), start = check_vector(start, "start", length = p, allow_null = TRUE)
  )
  settings[c("lower", "upper")] <- check_box(lower, upper, p)
  if (method != "alin" && (length(settings$lower) > 0L || (family != "gaussian" && method %in% c("admm", "tikhonov")))) {
    abort_input("`method` must be \"alin\" with bounds, and \"alin\", \"fista\" or \"sparsa\" for a loss that is not least squares.", "method")
  }
  if (length(settings$lower) > 0L && intercept && family != "gaussian") {
    settings$lower <- c(settings$lower, -Inf)
    settings$upper <- c(settings$upper, Inf)
  }
  settings$n_lambda <- check_count(n_lambda)
  settings$lambda_min_ratio <- check_number(lambda_min_ratio, lower = 0, upper = 1, strict_lower = TRUE)
  if (!is.null(lambda)) lambda <- sort(as.double(check_vector(lambda, "lambda", lower = 0, upper = 1e150)), decreasing = TRUE)
  # With penalties given and many coefficients the largest one is not worth its time.
  fit <- fit_gen_lasso(design, response, penalty, lambda, settings, if (p <= 5000L) "ask" else "skip", call)
  if (!fit$unique) {
    warn_input(paste0("The coefficients are not unique: some direction changes neither the fit nor the penalty.\n",
                      "Fitted values are unique; the coefficients returned are one solution."), "x")
  }
  warn_separable(fit)
  check_convergence(fit)
  fit
}

warn_separable <- function(fit) {
  if (fit$family != "binomial" || fit$identity || !all(fit$y %in% c(0, 1))) return(invisible())
  last <- length(fit$lambda)
  eta <- as.matrix(predict(fit, lambda = fit$lambda[last]))[, 1L]
  share <- mean(fit$y)
  left <- sum(gen_loss(fit$y, eta, "binomial", NULL)) / (-2 * length(fit$y) * (share * log(share) + (1 - share) * log(1 - share)))
  if (left > 0.01 || !all((eta > 0) == (fit$y > 0.5))) return(invisible())
  warn_input(sprintf(paste0("The classes are separable: at lambda = %s every observation is classified correctly with %.1f%% of the deviance ",
                            "explained, so without a penalty there is no finite estimate.\nUse a larger penalty; gen_lasso_select() can choose it."),
                     format(fit$lambda[last], digits = 3L), 100 * (1 - left)), "y")
}

#' @rdname gen_lasso
#' @export
gen_lasso.formula <- function(formula, data = NULL, weights, subset, na.action, offset, ...) {
  formula_fit(gen_lasso.default, "gen_lasso", takes = "intercept", ...)
}

gen_design <- function(x) {
  if (is.null(x)) return(list())
  if (inherits(x, "granary_blur")) return(list(type = "blur", dim = x$dim, size = x$size, p = prod(x$dim), n = prod(x$dim), names = NULL))
  x <- check_design(x, "x", min_rows = 1L)
  list(type = "matrix", x = x, p = ncol(x), n = nrow(x), names = colnames(x))
}

gen_response <- function(y, n, family) {
  if (family == "binomial") return(check_response(y, if (is.null(n)) length(y) else n, "binomial", "y"))
  if (is.data.frame(y) && length(y) == 1L) y <- y[[1L]]
  lower <- if (family == "poisson") 0 else -1e150
  list(y = unname(check_vector(y, "y", length = n, lower = lower, upper = 1e150)), levels = NULL)
}

check_penalty <- function(penalty, p, arg = "penalty") {
  if (inherits(penalty, c("igraph", "granary_neighbors"))) penalty <- graph_penalty(penalty)
  if (is.matrix(penalty) || inherits(penalty, "Matrix")) penalty <- matrix_penalty(penalty)
  if (!inherits(penalty, "granary_penalty")) {
    fail_input(arg, "a penalty, as gen_lasso_penalty() returns, or a matrix", describe(penalty))
  }
  check_fit(penalty)
  if (penalty$p != p) abort_input(sprintf("`%s` is for %d coefficients, but there are %d.", arg, penalty$p, p), arg)
  penalty
}

check_box <- function(lower, upper, p) {
  bound <- function(x, arg) {
    if (!is_plain_numeric(x) || !(length(x) %in% c(1L, p)) || anyNA(x)) {
      fail_input(arg, sprintf("one number, or one for each of the %d coefficients", p), describe(x))
    }
    rep_len(as.double(x), p)
  }
  lower <- bound(lower, "lower")
  upper <- bound(upper, "upper")
  if (any(lower > upper) || any(lower == Inf) || any(upper == -Inf)) {
    at <- which(lower > upper | lower == Inf | upper == -Inf)[1L]
    abort_input(sprintf("`lower` must not be above `upper`, but coefficient %d is to lie between %g and %g.", at, lower[at], upper[at]), "lower")
  }
  if (all(is.infinite(lower)) && all(is.infinite(upper))) return(list(lower = numeric(), upper = numeric()))
  list(lower = lower, upper = upper)
}

fit_gen_lasso <- function(design, response, penalty, lambda, settings, limits, call) {
  data <- list(type = design$type, x = design$x, dim = design$dim, size = design$size, y = response$y,
               penalty = methods::as(methods::as(penalty$matrix, "CsparseMatrix"), "generalMatrix"), blocks = penalty$blocks, null = penalty$null)
  out <- core_gen_lasso(data, c(settings, list(lambda = lambda, limits = limits)), progress_bar("generalized lasso"))
  lambda <- out$lambda
  fits <- out$fits
  pick <- function(name, empty) vapply(fits, `[[`, empty, name)
  beta <- matrix(vapply(fits, `[[`, numeric(length(fits[[1L]]$b)), "b"), length(fits[[1L]]$b))
  rownames(beta) <- design$names
  mu <- matrix(vapply(fits, `[[`, numeric(length(fits[[1L]]$mu)), "mu"), length(fits[[1L]]$mu))
  kkt <- cbind(stationarity = pick("stationarity", 0), feasibility = pick("feasibility", 0), slackness = pick("slackness", 0))
  new_fit(
    "gen_lasso", beta = beta, intercept = out$intercept, lambda = lambda, objective = pick("objective", 0), df = pick("df", 0), mu = mu, kkt = kkt,
    trace = lapply(fits, `[[`, "trace"), n_serious = pick("n_serious", 0L), n_null = pick("n_null", 0L), lambda_max = out$lambda_max,
    lambda_max_exact = out$lambda_max_exact, unique = out$unique, penalty = penalty, family = settings$family, levels = response$levels,
    y = response$y, n = length(response$y), identity = design$type == "identity", x = design$x,
    blur = if (design$type == "blur") design[c("dim", "size")],
    settings = settings, call = call, convergence = lapply(fits, `[[`, "convergence")
  )
}
