#' Many means at once: multi-task averaging
#'
#' Estimates the means of many groups from few samples each. Every mean is pulled towards the others, by an amount that needs no tuning: close
#' means are pulled more, and those with many samples less. The estimates are convex combinations of the sample means.
#'
#' @details With \eqn{N_t} samples in task \eqn{t}, sample means \eqn{\bar y}{ybar}, \eqn{s_t = \sigma_t^2 / N_t} and a similarity \eqn{A \ge
#' 0}{A >= 0} of the \eqn{T} tasks with Laplacian \eqn{L = \mathrm{diag}(A 1) - A}{L = diag(A 1) - A}, the estimates minimise
#' \deqn{\frac1T \sum_t \sum_i \frac{(y_{ti} - m_t)^2}{\sigma_t^2} + \frac{\gamma}{2 T^2} \sum_{r,s} A_{rs} (m_r - m_s)^2}{
#' (1/T) sum_t sum_i (y_ti - m_t)^2 / sigma_t^2 + gamma / (2 T^2) sum_rs A_rs (m_r - m_s)^2}
#' and are \eqn{m = W \bar y}{m = W ybar} with \eqn{W = (I + (\gamma / T) \Sigma L)^{-1}}{W = (I + (gamma / T) Sigma L)^-1}, whose rows are
#' non-negative and sum to
#' one. (The paper prints the objective without the 1/2; its solution is this one.)
#'
#' * `"constant"`: \eqn{A_{rs} = a = 1 / \mathrm{var}(\bar y)}{A_rs = a = 1 / var(ybar)}, the similarity of smallest risk when all \eqn{s_t}
#'   are equal, with the sample means in place of the true ones.
#' * `"minimax"`: \eqn{a = 2 / (b_u - b_l)^2}, where the means are known to lie in \eqn{[b_l, b_u]} (`bounds`; by default the range of the
#'   sample means). More careful; the same as `"constant"` for two tasks.
#' * `"pairwise"`: \eqn{A_{rs} = 2 / (\bar y_r - \bar y_s)^2}{A_rs = 2 / (ybar_r - ybar_s)^2}. The paper finds it usually worse than
#'   `"constant"`. Tasks with equal means are merged.
#' * `"james_stein"`: one factor for all means, in place of a similarity (Bock 1975, the baseline of the paper). With target \eqn{\xi}{xi},
#'   \deqn{\hat y_t = \xi + \left(1 - \frac{k - c}{(\bar y - \xi 1)' \Sigma^{-1} (\bar y - \xi 1)}\right)_+ (\bar y_t - \xi),}{
#'   yhat_t = xi + (1 - (k - c) / ((ybar - xi)' Sigma^-1 (ybar - xi)))_+ (ybar_t - xi),}
#'   \eqn{c = 3} and \eqn{\xi}{xi} the average of the means, or \eqn{c = 2} and \eqn{\xi = 0}{xi = 0} (`target`). `dim = "T"` takes \eqn{k = T}, which the
#'   paper finds better than the effective dimension \eqn{k = \mathrm{tr}(\Sigma) / \max(s)}{k = tr(Sigma) / max(s)}. Where \eqn{k \le c}{k <= c} the
#'   estimates are the sample means. `positive = FALSE` leaves out the positive part. With `cv` the factor is \eqn{g / (1 + g)}{g / (1 + g)} with \eqn{g} from
#'   the grid of `gamma`.
#' * `"custom"`: `A` as given, full or sparse (`dgCMatrix`). Its diagonal is ignored and an asymmetric one is replaced by \eqn{(A + A') / 2}.
#'
#' The first two need \eqn{O(T)} operations: with \eqn{\tau^2 = 1 / (\gamma a)}{tau^2 = 1 / (gamma a)}, \eqn{w_t = \tau^2 / (\tau^2 +
#' s_t)}{w_t = tau^2 / (tau^2 + s_t)} and \eqn{\xi = \sum w_t \bar y_t / \sum w_t}{xi = sum(w ybar) / sum(w)}, \eqn{m_t = w_t \bar y_t + (1 -
#' w_t) \xi}{m_t = w_t ybar_t + (1 - w_t) xi}. They are the best linear unbiased predictions of a random-intercept model whose between-task
#' variance is \eqn{\tau^2}{tau^2}, here \eqn{\mathrm{var}(\bar y)}{var(ybar)} or half the squared range. Note that \eqn{\mathrm{var}(\bar
#' y)}{var(ybar)} also contains the noise of the means, so the method shrinks less than a model that subtracts it.
#'
#' **Vectors.** When `y` is a matrix the tasks have mean vectors, and the noise of the means covariance matrices. With pooled variances its
#' principal axes decouple the problem. \eqn{\tau^2}{tau^2} is then the average over the coordinates, so give coordinates a common scale
#' first.
#'
#' **Standard errors.** `se` is the root of the diagonal of \eqn{W \Sigma W'}{W Sigma W'}: it takes \eqn{A} as known and says nothing about
#' the bias of shrinkage. `posterior_sd` is the posterior standard deviation under the Gaussian prior that has \eqn{m} as its posterior mean,
#' with a flat prior for the common level; for the first two methods its square is \eqn{s_t w_t} plus the part due to \eqn{\xi}{xi}. Neither
#' accounts for the estimation of \eqn{a}. With a sparse `A` and more than 20000 tasks they are left out.
#'
#' **Cross-validation.** With `cv = "loo"` `gamma` is the one of smallest leave-one-out risk (see [mta_compare()]), by default among
#' \eqn{2^{-15}, \ldots, 2^{15}}{2^-15, ..., 2^15}; with `cv = "split"` half of each task's samples at random (`splits` times) predict the
#' mean of all, by default with \eqn{2^{-5}, \ldots, 2^5}{2^-5, ..., 2^5}; for `"pairwise"` and `"custom"` this is the cheaper way. The paper
#' finds `gamma = 1` as good for `"constant"`, and tuning
#' useful for `"minimax"`.
#'
#' @section Which method when: `mta()` with its defaults for many groups with few samples each; `"minimax"` if the means may be far apart, and
#' no group may be hurt much; `"custom"` when you know which groups are alike (neighbouring regions, a taxonomy). `"james_stein"` shrinks all
#' means by one factor whatever their number of samples, and needs four groups or more. A random-effects model with covariates is the business
#' of a mixed-model package. [mta_compare()] says which estimator predicts held-out samples best.
#'
#' @param y Samples: a numeric vector with `group`; a list with one vector per task; a data frame with one row per task and columns `mean`,
#'   `n` (number of samples) and `var` (variance of the samples; not needed with `sigma2`), and optionally `group` (names); a matrix with
#'   `group`, for mean vectors; or a formula `y ~ group`. Missing values and tasks without samples are dropped with a message.
#' @param group The task of each sample: a factor or a vector. `NULL` where `y` says it.
#' @param method How similar tasks are taken to be; see Details.
#' @param A For `method = "custom"`: the similarities, a T x T matrix with non-negative entries.
#' @param gamma Strength of regularisation; `0` gives the sample means. With `cv`, the values to choose from (a single number stands for the
#'   default grid).
#' @param variance `"pooled"`: one variance within tasks, the default of the paper; `"own"`: each task its own.
#' @param sigma2 Known variances within tasks: one number, or one per task; for mean vectors also a covariance matrix, or a list of them.
#' @param bounds For `"minimax"`: lower and upper bound of the true means.
#' @param cv How to choose `gamma`; see Details. Needs samples.
#' @param splits Number of random halves with `cv = "split"`.
#' @param target,positive,dim For `"james_stein"`: what the means are shrunk towards; whether never beyond it; and the dimension \eqn{k}.
#' @param weights Also return the T x T matrix `W`?
#' @param formula A formula `y ~ group`. Several variables on the right stand for their combinations.
#' @param data A data frame with the variables of the formula.
#' @param ... For the formula method, the arguments of the default method.
#' @return An object of class `granary_mta`: `estimate`, `mean` (sample means), `n`, `var_mean` (\eqn{s}), `sigma2`, `a`, `gamma`, `tau2`,
#'   `weights` (\eqn{w}), `shrinkage` (of James and Stein: the factor of the distance to the target), `target` (\eqn{\xi}{xi}), `se`, `posterior_sd`, `W` on request, `method`, `variance`, `A`, `cv` (a data frame of
#'   `gamma` and `risk`, with `cv`), `y` and `group` (samples and their task), `call`, `convergence`. Its methods are described in
#'   [granary_means].
#' @references
#' Feldman, Gupta and Frigyik (2014). Revisiting Stein's paradox: multi-task averaging. *Journal of Machine Learning Research* 15, 3441--3482.
#'
#' Bock (1975). Minimax estimators of the mean of a multivariate normal distribution. *Annals of Statistics* 3, 209--218.
#' @seealso [mta_compare()], [mta_bounds()], [sim_mta()]; `errata("jmlr15-multi-task-averaging")`
#' @seealso [lasso()], [lasso_select()], [gen_lasso()]
#' @export
#' @examples
#' set.seed(1)
#' sales <- sim_mta(12, s2_mu = 0.2, n_range = c(2, 20))
#' fit <- mta(sales$y, sales$group)
#' fit
#' plot(fit)
#' coef(mta(y ~ group, sales, method = "james_stein", dim = "effective"))
#' sum((coef(fit) - attr(sales, "mu"))^2) / sum((fit$mean - attr(sales, "mu"))^2)
#'
#' # from a table of means, with neighbours on a line alike
#' table <- data.frame(mean = c(3, 4, 6, 5, 9), n = c(2, 10, 3, 4, 8), var = c(4, 5, 3, 6, 4))
#' chain <- 1 * (abs(outer(1:5, 1:5, "-")) == 1)
#' coef(mta(table, method = "custom", A = chain))
mta <- function(y, ...) UseMethod("mta", formula_or_first(y, ...))

#' @rdname mta
#' @export
mta.formula <- function(formula, data = NULL, ...) {
  if (missing(formula)) fail_missing("formula")
  from <- tasks_from_formula(formula, data)
  fit <- mta.default(from$y, from$group, ...)
  fit$call <- shorten_call(generic_call(match.call(), "mta"))
  fit
}

#' @rdname mta
#' @export
mta.default <- function(y, group = NULL, method = c("constant", "minimax", "pairwise", "custom", "james_stein"), A = NULL, gamma = 1,  # nolint: object_name_linter.
                        variance = c("pooled", "own"), sigma2 = NULL, bounds = NULL, cv = c("none", "loo", "split"), splits = 10, weights = FALSE,
                        target = c("mean", "zero"), positive = TRUE, dim = c("T", "effective"), ...) {
  call <- generic_call(match.call(), "mta")
  refuse_dots(...)
  method <- check_choice(method, c("constant", "minimax", "pairwise", "custom", "james_stein"))
  variance <- check_choice(variance, c("pooled", "own"))
  cv <- check_choice(cv, c("none", "loo", "split"))
  gamma <- check_vector(gamma, lower = 0, upper = 1e150)
  weights <- check_flag(weights)
  splits <- check_count(splits)
  tasks <- mean_tasks(y, group)
  similarity <- mta_similarity(method, A, length(tasks$names))
  bounds <- mta_range(bounds, method)
  if (method == "james_stein") return(stein_means(tasks, target, positive, dim, variance, sigma2, cv, gamma, splits, weights, call))
  if (is.matrix(tasks$mean)) {
    if (cv != "none") abort_input("`cv` must be \"none\" for mean vectors.", "cv")
    return(mta_vectors(tasks, method, similarity, one_gamma(gamma), variance, sigma2, bounds, weights, call))
  }
  noise <- task_variances(tasks, variance, sigma2)
  if (length(tasks$names) == 1L) {
    warn_input("There is only one task, so nothing can be borrowed: the estimate is the sample mean.", "y")
    cv <- "none"
    gamma <- gamma[1L]
  }
  tuned <- if (cv == "none") list(gamma = one_gamma(gamma)) else tune_gamma(tasks, noise, method, similarity, gamma, cv, splits)
  shape_mta(tasks, noise, method, similarity, tuned, bounds, weights, call, variance)
}

one_gamma <- function(gamma) {
  if (length(gamma) != 1L) fail_input("gamma", "one number unless `cv` chooses among several", paste("a vector of length", length(gamma)))
  unname(gamma)
}

mta_range <- function(bounds, method) {
  bounds <- check_vector(bounds, "bounds", length = 2L, allow_null = TRUE, lower = -1e150, upper = 1e150)
  if (is.null(bounds)) return(NULL)
  if (method != "minimax") abort_input("`bounds` are for method = \"minimax\" only.", "bounds")
  if (bounds[2L] <= bounds[1L]) abort_input("`bounds` must be a lower and a larger upper bound of the means.", "bounds")
  bounds
}

# NULL, or the symmetric similarity as a matrix or dgCMatrix.
mta_similarity <- function(method, A, tasks) {  # nolint: object_name_linter.
  if (method != "custom") {
    if (!is.null(A)) abort_input("`A` is for method = \"custom\" only.", "A")
    return(NULL)
  }
  A <- check_matrix(A, "A", allow_sparse = TRUE)  # nolint: object_name_linter.
  if (nrow(A) != tasks || ncol(A) != tasks) {
    abort_input(sprintf("`A` must have one row and one column per task (%d), but it is %d x %d.", tasks, nrow(A), ncol(A)), "A")
  }
  values <- if (isS4(A)) A@x else A
  if (any(values < 0)) abort_input(sprintf("`A` must not have negative entries, but the smallest is %s.", format(min(values), digits = 4L)), "A")
  dimnames(A) <- if (isS4(A)) list(NULL, NULL)
  if (isS4(A)) methods::as(methods::as((A + Matrix::t(A)) / 2, "generalMatrix"), "CsparseMatrix") else (A + t(A)) / 2
}

mta_spread <- function(mean, method, bounds) {
  if (method == "constant") stats::var(mean) else if (is.null(bounds)) diff(range(mean))^2 / 2 else diff(bounds)^2 / 2
}

shape_mta <- function(tasks, noise, method, similarity, tuned, bounds, weights, call, variance) {
  gamma <- tuned$gamma
  count <- length(tasks$names)
  alone <- count == 1L
  common <- method %in% c("constant", "minimax")
  a <- tau2 <- target <- shrink <- W <- NULL  # nolint: object_name_linter.
  if (common) {
    spread <- if (alone) Inf else unname(mta_spread(tasks$mean, method, bounds))
    a <- if (alone) 0 else 1 / spread
    tau2 <- if (gamma == 0) Inf else spread / gamma
    out <- core_mta_common(unname(tasks$mean), unname(noise$s), tau2)
    target <- out$target
    shrink <- out$weight
    if (weights) W <- mta_matrix(method, NULL, tasks$mean, noise$s, gamma, tau2)  # nolint: object_name_linter.
  } else if (method == "pairwise" || weights) {
    W <- mta_matrix(method, similarity, tasks$mean, noise$s, gamma)  # nolint: object_name_linter.
    out <- list(estimate = tasks$mean[1L] + drop(W %*% (tasks$mean - tasks$mean[1L])), variance = drop(W^2 %*% noise$s),
                posterior = diag(W) * noise$s)
    if (!weights) W <- NULL  # nolint: object_name_linter.
  } else {
    out <- core_mta_along(similarity, tasks$mean, noise$s, gamma, count <= 20000, progress_bar("means"))
  }
  named <- function(x) if (length(x) == count) stats::setNames(x, tasks$names)
  if (!is.null(W)) dimnames(W) <- list(tasks$names, tasks$names)
  new_fit(
    c("mta", "means"), estimate = named(out$estimate), mean = named(tasks$mean), n = named(tasks$n), var_mean = named(noise$s),
    sigma2 = noise$sigma2, a = a,
    gamma = gamma, tau2 = tau2, weights = named(shrink), target = target, se = named(sqrt(out$variance)),
    posterior_sd = named(sqrt(out$posterior)), W = W,
    method = method, variance = if (noise$noise == "given") "given" else variance, A = similarity, cv = tuned$table, y = tasks$y, group = tasks$code,
    call = call, convergence = list()
  )
}

mta_matrix <- function(method, similarity, mean, s, gamma, tau2 = NULL) {
  if (length(s) > 20000) abort_input(sprintf("W for %d tasks would need %.0f GB.", length(s), 8e-9 * length(s)^2), "weights")
  if (!is.null(tau2)) return(core_mta_common_weights(s, tau2))
  if (method == "pairwise") return(core_mta_pairwise_weights(mean, s, gamma, progress_bar("means")))
  core_mta_weights(as.matrix(similarity), s, gamma, progress_bar("means"))
}

tune_gamma <- function(tasks, noise, method, similarity, gamma, cv, splits) {
  if (is.null(tasks$y)) abort_input("`cv` needs the samples, but `y` has only their means.", "cv")
  if (length(gamma) == 1L) gamma <- if (cv == "loo") 2^(-15:15) else 2^(-5:5)
  if (any(gamma == 0)) abort_input("Every `gamma` to choose from must be greater than 0.", "gamma")
  common <- method %in% c("constant", "minimax", "shrink_average")
  estimator <- if (common) method else "along"
  if (cv == "split") {
    risk <- split_risk(tasks, noise, estimator, gamma, similarity, splits)
  } else {
    if (!common && length(tasks$n) > 2000) {
      abort_input(sprintf("cv = \"loo\" would solve a system of %d tasks for every sample; use cv = \"split\".", length(tasks$n)), "cv")
    }
    risk <- loo_risk(tasks, noise, estimator, gamma, similarity)$risk
  }
  list(gamma = gamma[which.min(risk)], table = data.frame(gamma = gamma, risk = risk))
}

# Samples as they cross for risks.
risk_data <- function(tasks, noise, similarity = NULL) {
  list(y = tasks$y, task = tasks$code, tasks = length(tasks$n), sigma2 = if (noise$noise == "given") as.double(noise$sigma2), noise = noise$noise,
       similarity = similarity)
}

# Error of estimates from random halves against the means of all samples, for each gamma.
split_risk <- function(tasks, noise, estimator, gamma, similarity, splits) {
  core_split_risk(risk_data(tasks, noise, similarity), list(estimator = estimator, gamma = gamma, splits = splits), core_seed(),
                  progress_bar("cross-validation"))
}

# Risk (23) of one estimator for each gamma: list(risk, left_out, skipped).
loo_risk <- function(tasks, noise, estimator, gamma, similarity = NULL) {
  out <- core_loo_risk(risk_data(tasks, noise, similarity), list(estimator = estimator, gamma = gamma), progress_bar("leave-one-out"))
  if (out$left_out == 0) {
    abort_input(sprintf("Leaving one out needs a task with at least %s samples.", if (noise$noise == "own") "three" else "two"), "y")
  }
  out
}
