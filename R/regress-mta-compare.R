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
#' @section Which method when:
#' `mta_compare()` before [mta()], where it is not known how alike the means are; `risk = "truth"` in simulations.
#'
#' @inheritParams mta
#' @param y Samples: a numeric vector with `group`, a list with one vector per task, or a formula `y ~ group`.
#' @param methods Estimators: `"pooled"` (the mean of all samples), `"average"` (of the sample means), `"james_stein"`,
#'   `"james_stein_effective"` (with `dim = "effective"`), `"constant"`, `"minimax"`, `"pairwise"` (see [mta()]), and `"james_stein_cv"`,
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
#' @seealso [mta()]
#' @seealso [mta_bounds()], [lasso()], [lasso_select()], [gen_lasso()], [debiased_lasso()]
#' @export
#' @examples
#' set.seed(1)
#' data <- sim_mta(20, s2_mu = 0.1, n_range = c(2, 10))
#' mta_compare(data$y, data$group)
#' mta_compare(y ~ group, data, risk = "truth", truth = attr(data, "mu"))
mta_compare <- function(y, ...) UseMethod("mta_compare", formula_or_first(y, ...))

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
