#' James-Stein estimates of many means
#'
#' Shrinks all sample means by one factor, towards their average or towards zero. The positive-part version with unequal variances is the one
#' of Bock (1975), the baseline of [mta()].
#'
#' @details
#' With \eqn{s_t} the variance of the sample mean \eqn{\bar y_t}{ybar_t}, \eqn{\Sigma = \mathrm{diag}(s)}{Sigma = diag(s)} and target \eqn{\xi}{xi},
#' \deqn{\hat y_t = \xi + \left(1 - \frac{k - c}{(\bar y - \xi 1)' \Sigma^{-1} (\bar y - \xi 1)}\right)_+ (\bar y_t - \xi)}{
#' yhat_t = xi + (1 - (k - c) / ((ybar - xi)' Sigma^-1 (ybar - xi)))_+ (ybar_t - xi)}
#' with \eqn{c = 3} and \eqn{\xi}{xi} the average of the means, or \eqn{c = 2} and \eqn{\xi = 0}{xi = 0}. `dim = "T"` takes \eqn{k = T},
#' which the paper finds better than the effective
#' dimension \eqn{k = \mathrm{tr}(\Sigma) / \max(s)}{k = tr(Sigma) / max(s)}. Where \eqn{k \le c}{k <= c} the estimates are the sample
#' means. `positive = FALSE` leaves out the
#' positive part. Shrinkage towards the average preserves the average of the means.
#'
#' With `cv` the factor is \eqn{\lambda = g / (1 + g)}{lambda = g / (1 + g)} with \eqn{g} from a grid of powers of two, by leave-one-out or
#' half splits as in [mta()].
#'
#' @section Which method when: [mta()] weighs each mean by its own precision, needs no more than two tasks, and does better in most of the
#' paper's experiments. James-Stein dominates the sample means (in total squared error, for equal variances) whatever the true means are, from
#' four tasks on.
#'
#' @inheritParams mta
#' @param target What the means are shrunk towards.
#' @param positive Never shrink beyond the target?
#' @param dim The dimension \eqn{k}; see Details.
#' @return An object of class `granary_james_stein` with methods as in [granary_means]: `estimate`, `mean`, `n`, `var_mean`, `sigma2`,
#'   `target`, `shrinkage` (the factor that multiplies the distance to the target), `dim`, `se` (as if the factor were known), `method`,
#'   `variance`, `cv`, `y`, `group`, `call`, `convergence`.
#' @references
#' James and Stein (1961). Estimation with quadratic loss. *Proceedings of the Fourth Berkeley Symposium* 1, 361--379.
#'
#' Bock (1975). Minimax estimators of the mean of a multivariate normal distribution. *Annals of Statistics* 3, 209--218.
#'
#' Feldman, Gupta and Frigyik (2014). Revisiting Stein's paradox: multi-task averaging. *Journal of Machine Learning Research* 15, 3441--3482.
#' @seealso [mta()], [mta_compare()]
#' @family regression
#' @export
#' @examples
#' set.seed(1)
#' sales <- sim_mta(12, s2_mu = 0.2, n_range = c(2, 20))
#' fit <- james_stein(sales$y, sales$group)
#' fit
#' coef(james_stein(y ~ group, sales, dim = "effective"))
james_stein <- function(y, ...) UseMethod("james_stein")

#' @rdname james_stein
#' @export
james_stein.formula <- function(formula, data = NULL, ...) {
  if (missing(formula)) fail_missing("formula")
  from <- tasks_from_formula(formula, data)
  fit <- james_stein.default(from$y, from$group, ...)
  fit$call <- shorten_call(generic_call(match.call(), "james_stein"))
  fit
}

#' @rdname james_stein
#' @export
james_stein.default <- function(y, group = NULL, target = c("mean", "zero"), positive = TRUE, dim = c("T", "effective"),
                                variance = c("pooled", "own"),
                                sigma2 = NULL, cv = c("none", "loo", "split"), gamma = NULL, splits = 10, ...) {
  call <- generic_call(match.call(), "james_stein")
  refuse_dots(...)
  target <- check_choice(target, c("mean", "zero"))
  positive <- check_flag(positive)
  dim <- check_choice(dim, c("T", "effective"))
  variance <- check_choice(variance, c("pooled", "own"))
  cv <- check_choice(cv, c("none", "loo", "split"))
  gamma <- check_vector(gamma, allow_null = TRUE, lower = 0, strict_lower = TRUE, upper = 1e150)
  splits <- check_count(splits)
  tasks <- mean_tasks(y, group)
  if (is.matrix(tasks$mean)) abort_input("`y` must hold scalar samples, not vectors; mta() takes both.", "y")
  noise <- task_variances(tasks, variance, sigma2)
  count <- length(tasks$mean)
  if (count == 1L) warn_input("There is only one task, so nothing can be borrowed: the estimate is the sample mean.", "y")
  if (cv != "none" && target == "zero") abort_input("`cv` is for target = \"mean\" only.", "cv")
  k <- if (dim == "T") count else if (max(noise$s) > 0) sum(noise$s) / max(noise$s) else count
  xi <- if (target == "mean") mean(tasks$mean) else 0
  table <- NULL
  if (cv == "none" || count == 1L) {
    keep <- stein_factor(tasks$mean - xi, noise$s, k - if (target == "mean") 3 else 2, positive)
  } else {
    tuned <- tune_gamma(tasks, noise, "shrink_average", NULL, if (is.null(gamma)) 1 else gamma, cv, splits)
    keep <- tuned$gamma / (1 + tuned$gamma)
    table <- tuned$table
  }
  named <- function(x) stats::setNames(x, tasks$names)
  # W = keep I + (1 - keep) 11' / T, or keep I
  borrowed <- if (target == "mean") (1 - keep) / count else 0
  variances <- noise$s * ((keep + borrowed)^2 - borrowed^2) + borrowed^2 * sum(noise$s)
  new_fit(
    c("james_stein", "means"), estimate = named(xi + keep * (tasks$mean - xi)), mean = named(tasks$mean), n = named(tasks$n),
    var_mean = named(noise$s),
    sigma2 = noise$sigma2, target = xi, shrinkage = keep, dim = k, se = named(sqrt(variances)),
    method = paste0("james_stein", if (!is.null(table)) "_cv"),
    variance = if (noise$noise == "given") "given" else variance, cv = table, y = tasks$y, group = tasks$code, call = call, convergence = list()
  )
}

# 1 - numerator / (z' Sigma^-1 z). A mean without noise forbids shrinkage unless it is on target.
stein_factor <- function(z, s, numerator, positive) {
  if (numerator <= 0) return(1)
  if (any(s == 0 & z != 0)) return(1)
  known <- s == 0
  form <- sum(z[!known]^2 / s[!known])
  if (form == 0) return(if (positive) 0 else 1)  # all means are on target: any factor gives the same
  factor <- 1 - numerator / form
  if (positive) max(0, factor) else factor
}
