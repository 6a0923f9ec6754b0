#' Which estimator of many means is best?
#'
#' The risk of several estimators of many means, as a change against the sample means, from samples left out or from the true means where they
#' are known.
#'
#' @details
#' With `risk = "loo"` every sample is predicted by the estimate made without it:
#' \deqn{\sum_t \frac{1}{N_t} \sum_i (y_{ti} - \hat y_{t \setminus ti})^2,}{sum_t (1/N_t) sum_i (y_ti - yhat_t without y_ti)^2,}
#' where tasks too small to lose a sample (one sample; two with `variance = "own"`) are left out of the sum. Estimators ending in `_cv`
#' choose `gamma` anew for every sample left out, by leave-one-out
#' among the remaining samples (double leave-one-out), so their risk is honest; where there are more than `tune_tasks` tasks, `gamma` is
#' chosen from a random subset of them, as in the
#' paper. With `risk = "truth"` the risk is \eqn{\sum_t (\hat y_t - \mu_t)^2}{sum_t (yhat_t - mu_t)^2}, and `_cv` is leave-one-out on all samples.
#'
#' A deletion changes one mean and a common factor of all variances, so leave-one-out takes \eqn{O(\sum N_t \cdot K)}{O(sum(N) K)} operations
#' for \eqn{K \le T}{K <= T} distinct sample sizes; `"pairwise"` takes \eqn{O(T^3)} for each sample.
#'
#' @inheritParams mta
#' @param y Samples: a numeric vector with `group`, a list with one vector per task, or a formula `y ~ group`.
#' @param methods Estimators: `"pooled"` (the mean of all samples), `"average"` (of the sample means), `"james_stein"`,
#'   `"james_stein_effective"` (see [james_stein()]), `"constant"`, `"minimax"`, `"pairwise"` (see [mta()]), and `"james_stein_cv"`,
#'   `"constant_cv"`, `"minimax_cv"` with cross-validated strength.
#' @param risk What to measure; see Details.
#' @param truth With `risk = "truth"`, the true means in the order of the tasks, or named.
#' @param gamma The grid of the cross-validated estimators.
#' @param tune_tasks The number of tasks from which double leave-one-out chooses `gamma`.
#' @param threads Threads for double leave-one-out; by default the option `granary.threads`.
#' @return A data frame of class `granary_compare_means` with columns `method`, `risk` and `change` (per cent against the sample means, which
#'   are the first row).
#' @references
#' Feldman, Gupta and Frigyik (2014). Revisiting Stein's paradox: multi-task averaging. *Journal of Machine Learning Research* 15, 3441--3482.
#' @seealso [mta()], [james_stein()]
#' @family regression
#' @export
#' @examples
#' set.seed(1)
#' data <- sim_mta(20, s2_mu = 0.1, n_range = c(2, 10))
#' mta_compare(data$y, data$group)
#' mta_compare(y ~ group, data, risk = "truth", truth = attr(data, "mu"))
mta_compare <- function(y, ...) UseMethod("mta_compare")

#' @rdname mta_compare
#' @export
mta_compare.formula <- function(formula, data = NULL, ...) {
  if (missing(formula)) fail_missing("formula")
  from <- tasks_from_formula(formula, data)
  mta_compare.default(from$y, from$group, ...)
}

mean_methods <- c("pooled", "average", "james_stein", "james_stein_effective", "james_stein_cv", "constant", "constant_cv", "minimax",
                  "minimax_cv", "pairwise")

#' @rdname mta_compare
#' @export
mta_compare.default <- function(y, group = NULL, methods = c("pooled", "james_stein", "constant", "minimax"), risk = c("loo", "truth"),
                                  truth = NULL,
                                  variance = c("pooled", "own"), sigma2 = NULL, gamma = 2^(-15:15), tune_tasks = 50, threads = NULL, ...) {
  refuse_dots(...)
  risk <- check_choice(risk, c("loo", "truth"))
  variance <- check_choice(variance, c("pooled", "own"))
  gamma <- unname(check_vector(gamma, lower = 0, strict_lower = TRUE, upper = 1e150))
  tune_tasks <- check_count(tune_tasks, lower = 2)
  if (!is.character(methods) || is.object(methods) || length(methods) == 0L) fail_input("methods", "a character vector of estimators",
                                                                                        describe(methods))
  for (one in methods) check_choice(one, mean_methods, "methods")
  methods <- unique(mean_methods[pmatch(methods, mean_methods, duplicates.ok = TRUE)])
  threads <- if (is.null(threads) && !any(grepl("_cv$", methods))) 1L else thread_count(threads)
  tasks <- mean_tasks(y, group)
  if (is.matrix(tasks$mean)) abort_input("`y` must hold scalar samples, not vectors.", "y")
  if (is.null(tasks$y)) abort_input("`y` must hold samples, not means of samples: nothing could be left out.", "y")
  if (length(tasks$n) < 2L) abort_input("`y` must have at least two tasks.", "y")
  noise <- task_variances(tasks, variance, sigma2)
  if (risk == "truth") {
    truth <- check_truth(truth, tasks)
    all <- vapply(c("single", methods), function(one) sum((estimate_means(one, tasks, noise, gamma) - truth)^2), 0)
  } else {
    if (!is.null(truth)) abort_input("`truth` is for risk = \"truth\" only.", "truth")
    all <- vapply(c("single", methods), function(one) left_out_risk(one, tasks, noise, gamma, tune_tasks, threads), 0)
  }
  change <- if (all[[1L]] > 0) 100 * (all / all[[1L]] - 1) else ifelse(all == 0, 0, Inf)
  out <- data.frame(method = c("single", methods), risk = unname(all), change = unname(change))
  structure(out, class = c("granary_compare_means", "data.frame"), kind = risk, tasks = length(tasks$n), samples = sum(tasks$n))
}

check_truth <- function(truth, tasks) {
  if (is.null(truth)) abort_input("`truth` must be given with risk = \"truth\": the true means.", "truth")
  truth <- check_vector(truth, "truth", length = length(tasks$n))
  if (!is.null(names(truth)) && all(tasks$names %in% names(truth))) truth <- truth[tasks$names]
  unname(truth)
}

left_out_risk <- function(method, tasks, noise, gamma, tune_tasks, threads) {
  if (noise$noise == "pooled" && sum(tasks$n - 1) < 2) {
    abort_input("Leaving one out needs a variance within tasks without it: more samples, or `sigma2`.", "y")
  }
  base <- sub("_cv$", "", method)
  if (base == method) return(loo_risk(tasks, noise, if (method == "pairwise") "along" else method, 1)$risk)
  if (base == "james_stein") base <- "shrink_average"
  options <- list(estimator = base, gamma = gamma, tune_tasks = tune_tasks, threads = threads)
  core_double_loo_risk(risk_data(tasks, noise), options, core_seed(), progress_bar("double leave-one-out"))$risk
}

estimate_means <- function(method, tasks, noise, gamma) {
  base <- sub("_cv$", "", method)
  average <- mean(tasks$mean)
  strength <- if (base == method) 1 else tune_gamma(tasks, noise, if (base == "james_stein") "shrink_average" else base, NULL, gamma, "loo", 1L)$gamma
  if (base == "single") return(tasks$mean)
  if (base == "pooled") return(rep(sum(tasks$n * tasks$mean) / sum(tasks$n), length(tasks$n)))
  if (base == "average") return(rep(average, length(tasks$n)))
  if (base %in% c("james_stein", "james_stein_effective")) {
    k <- if (base == "james_stein" || max(noise$s) == 0) length(tasks$n) else sum(noise$s) / max(noise$s)
    keep <- if (base == method) stein_factor(tasks$mean - average, noise$s, k - 3, TRUE) else strength / (1 + strength)
    return(average + keep * (tasks$mean - average))
  }
  if (base == "pairwise") return(drop(mta_matrix("pairwise", NULL, tasks$mean, noise$s, 1) %*% tasks$mean))
  core_mta_common(tasks$mean, noise$s, mta_spread(tasks$mean, base, NULL) / strength)$estimate
}

#' @export
print.granary_compare_means <- function(x, ...) {
  if (!all(c("method", "risk", "change") %in% names(x))) return(NextMethod())  # a subset of the columns
  cli::cat_line(if (identical(attr(x, "kind"), "truth")) "Squared error against the true means" else "Leave-one-out risk", " of ",
                attr(x, "tasks"), " means from ",
                format(attr(x, "samples")), " samples")
  print(data.frame(risk = formatC(x$risk, digits = 5L, format = "g"), change = sprintf("%+.1f%%", x$change), row.names = x$method))
  invisible(x)
}

#' Risk of a linear estimator of many means
#'
#' The expected total squared error of \eqn{W \bar y}{W ybar} when the true means are known, as in a simulation or for planning.
#'
#' @details
#' \deqn{R = \mathrm{tr}(W \Sigma W') + \|(I - W) \mu\|^2}{R = tr(W Sigma W') + |(I - W) mu|^2}
#' For two tasks at distance \eqn{\Delta}{D} and similarity \eqn{a} the estimates beat the sample means as long as \eqn{\Delta^2 < 4/a + s_1
#' + s_2}{D^2 < 4/a + s_1 + s_2} (`break_even`, the largest such distance), and
#' the best similarity is \eqn{a = 2 / \Delta^2}{a = 2 / D^2} whatever \eqn{s}. For more tasks and equal \eqn{s_t} the best constant
#' similarity is the inverse variance of the true means
#' (`best_a`).
#'
#' @param mu True means.
#' @param s Variances of the sample means: one number, or one per task.
#' @param W A T x T matrix, or a fit of [mta()]; `NULL` uses `a` or `oracle`.
#' @param a A constant similarity of all tasks, with `gamma = 1`. `NULL` takes the best, `best_a`.
#' @param oracle Use the pairwise similarities \eqn{2 / (\mu_r - \mu_s)^2}{2 / (mu_r - mu_s)^2} of the true means?
#' @return A list of class `granary_mta_risk`: `risk`, `mse` (by task), `single` (the risk of the sample means), `change` (per cent), `a`,
#'   `best_a`, and `break_even` for two tasks.
#' @references
#' Feldman, Gupta and Frigyik (2014). Revisiting Stein's paradox: multi-task averaging. *Journal of Machine Learning Research* 15, 3441--3482.
#' @seealso [mta()], [mta_weights()]
#' @family regression
#' @export
#' @examples
#' # two tasks at distance 1, 20 samples of variance 1 each
#' mta_risk(c(0, 1), 1 / 20, a = 1)
#' mta_risk(c(0, 1, 3), c(0.1, 0.2, 0.5), oracle = TRUE)
mta_risk <- function(mu, s, W = NULL, a = NULL, oracle = FALSE) {  # nolint: object_name_linter.
  mu <- check_vector(mu, lower = -1e150, upper = 1e150)
  s <- check_vector(s, lower = 0, upper = 1e300)
  oracle <- check_flag(oracle)
  a <- check_number(a, lower = 0, allow_null = TRUE)
  count <- length(mu)
  if (length(s) == 1L) s <- rep(s, count)
  if (length(s) != count) fail_input("s", sprintf("one number or one per task (%d)", count), paste("of length", length(s)))
  if ((!is.null(W)) + (!is.null(a)) + oracle > 1L) abort_input("Give one of `W`, `a` and `oracle`.", "W")
  best <- if (count > 1L) 1 / stats::var(unname(mu)) else 0
  if (!is.null(W) || oracle) {
    if (inherits(W, "granary_mta")) W <- mta_weights(W)  # nolint: object_name_linter.
    if (oracle) W <- core_mta_pairwise_weights(mu, s, 1, progress_bar("weights"))  # nolint: object_name_linter.
    W <- check_matrix(W, "W")  # nolint: object_name_linter.
    if (nrow(W) != count || ncol(W) != count) abort_input(sprintf("`W` must be a %d x %d matrix, but it is %d x %d.", count, count, nrow(W),
                                                                  ncol(W)), "W")
    mse <- core_linear_risk(mu, s, W)
  } else {
    if (is.null(a)) a <- best
    mse <- core_common_risk(mu, s, 1 / a)
  }
  structure(
    list(risk = sum(mse), mse = stats::setNames(mse, names(mu)), single = sum(s), change = if (sum(s) > 0) 100 * (sum(mse) / sum(s) - 1) else 0,
         a = a, best_a = best,
         break_even = if (count == 2L && !is.null(a)) sqrt(4 / a + sum(s))),
    class = "granary_mta_risk"
  )
}

#' @export
print.granary_mta_risk <- function(x, ...) {
  short <- function(value) format(value, digits = 4L)
  cli::cat_line("Risk ", short(x$risk), " against ", short(x$single), " of the sample means (", sprintf("%+.1f%%", x$change), ")")
  cli::cat_line(if (!is.null(x$a)) paste0("similarity a = ", short(x$a), "; "), "best constant similarity ", short(x$best_a))
  if (!is.null(x$break_even)) cli::cat_line("better than the sample means while the true ones are closer than ", short(x$break_even))
  invisible(x)
}

#' Samples of many tasks
#'
#' Draws tasks and their samples from the two hierarchies of the paper's simulations.
#'
#' @details `"gaussian"`: \eqn{\mu_t \sim N(0, \sigma_\mu^2)}{mu_t ~ N(0, s2_mu)}, \eqn{\sigma_t^2 \sim \mathrm{Gamma}(0.9, 1) +
#' 0.1}{sigma_t^2 ~ Gamma(0.9, 1) + 0.1}, normal samples. `"uniform"`: \eqn{\mu_t} uniform around zero with variance
#' \eqn{\sigma_\mu^2}{s2_mu}, \eqn{\sigma_t^2 \sim U(0.1, 2)}{sigma_t^2 ~ U(0.1, 2)}, uniform samples with that variance. \eqn{N_t} is uniform
#' on `n_range`.
#'
#' @param tasks Number of tasks.
#' @param s2_mu Variance of the true means.
#' @param type The hierarchy.
#' @param n_range Smallest and largest number of samples of a task.
#' @return A data frame with columns `y` and `group`, and attributes `mu` and `sigma2`, the true means and variances.
#' @references
#' Feldman, Gupta and Frigyik (2014). Revisiting Stein's paradox: multi-task averaging. *Journal of Machine Learning Research* 15, 3441--3482.
#' @seealso [mta()]
#' @family regression
#' @export
#' @examples
#' set.seed(1)
#' data <- sim_mta(5, s2_mu = 0.5)
#' table(data$group)
#' attr(data, "mu")
sim_mta <- function(tasks, s2_mu = 1, type = c("gaussian", "uniform"), n_range = c(2, 100)) {
  tasks <- check_count(tasks)
  s2_mu <- check_number(s2_mu, lower = 0, upper = 1e150)
  type <- check_choice(type, c("gaussian", "uniform"))
  n_range <- check_vector(n_range, length = 2L, lower = 1, upper = 1e6)
  if (any(n_range != round(n_range)) || n_range[1L] > n_range[2L]) abort_input("`n_range` must be two increasing whole numbers.", "n_range")
  if (tasks * mean(n_range) > 1e9) abort_input(sprintf("That would be some %.1g samples; use fewer `tasks` or a smaller `n_range`.",
                                                       tasks * mean(n_range)), "tasks")
  n <- n_range[1L] - 1 + sample.int(n_range[2L] - n_range[1L] + 1, tasks, replace = TRUE)
  group <- rep.int(seq_len(tasks), n)
  if (type == "gaussian") {
    mu <- stats::rnorm(tasks, sd = sqrt(s2_mu))
    sigma2 <- stats::rgamma(tasks, shape = 0.9) + 0.1
    y <- stats::rnorm(sum(n), mu[group], sqrt(sigma2)[group])
  } else {
    mu <- stats::runif(tasks, -sqrt(3 * s2_mu), sqrt(3 * s2_mu))
    sigma2 <- stats::runif(tasks, 0.1, 2)
    y <- mu[group] + sqrt(3 * sigma2[group]) * stats::runif(sum(n), -1, 1)
  }
  structure(data.frame(y = y, group = group), mu = mu, sigma2 = sigma2)
}
