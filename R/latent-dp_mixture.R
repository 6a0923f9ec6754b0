#' Mixtures with an unknown number of clusters
#'
#' Clusters rows without fixing their number beforehand, by Dirichlet process, Pitman-Yor process or finite mixtures whose number of components is unknown. The answer
#' is a sample of partitions: how surely any two rows belong together, how many clusters there may be, and one partition that represents them.
#'
#' @details
#' A partition \eqn{A} of the rows has the posterior \eqn{p(A|x) \propto p(A) \prod_i m(x_{A_i})}{p(A | x) ~ p(A) prod_i m(x_{A_i})}, where \eqn{p(A)} is the
#' `prior` ([prior_dp()]) and \eqn{m} the marginal likelihood of a cluster under a conjugate family:
#'
#' | family | rows | `hyper` |
#' | --- | --- | --- |
#' | `"normal"` | one column; mean and variance unknown | `m0, k0, a0, b0` (normal-inverse-gamma) |
#' | `"mvnormal"` | several columns | `m0, k0, nu0, psi0` (normal-inverse-Wishart) |
#' | `"normal_known"` | one column, variance `s2` known | `m0, t2, s2` |
#' | `"lognormal"`, `"weibull"` | positive; by `log(x)`, by `x^power` | as normal; `a, b, power` |
#' | `"poisson"`, `"exponential"` | counts; waiting times | `a, b` (gamma shape and rate) |
#' | `"geometric"`, `"negative_binomial"` | failures before 1 or `successes` successes | `a, b, successes` (beta) |
#' | `"binomial"` | successes among `size` | `a, b, size` (beta) |
#' | `"categorical"` | columns of levels, independent within a cluster | `weight` (Dirichlet) |
#' | `"richardson_green"` | one column; the prior of Richardson and Green (1997) | none |
#'
#' Where `hyper` is silent, the location is that of the rows, `k0 = 0.1`, `a0 = 2` (`nu0 = p + 2`) and the expected variance within a cluster a tenth of that of the
#' rows; gamma and beta laws have `a = 1`. With `hyper` given in full the answer does not depend on these choices.
#'
#' Each sweep takes every row out of its cluster and puts it back (collapsed Gibbs, Neal's Algorithm 3; Algorithm 8 for `"richardson_green"`), then makes
#' `split_merge` proposals to split or merge clusters (Jain and Neal), without which chains can stick. A sweep costs time of order \eqn{n t}. `cluster` is the partition of
#' least expected loss over the draws ([partition_estimate()]).
#'
#' @section The number of clusters is not the number of components:
#' Under a Dirichlet or Pitman-Yor process the posterior of the number of clusters \eqn{T_n} does not concentrate at the true number of components however
#' many rows there are: tiny extra clusters keep a positive share (Miller and Harrison 2014; [dp_mixture_bounds()] puts numbers to it). To ask how
#' many components there are use `prior_mfm()` and look at `components`, the posterior of \eqn{k}, which is right if the family is. `summary()` also counts only
#' clusters with at least `share` of the rows.
#'
#' @section Which method when:
#' `prior_mfm()` for the number of groups, `prior_dp()` for a density or for similarities, `prior_py()` when cluster sizes have a heavy tail. When the number is
#' known, [bregman_cluster()] or [vmf_mixture()] are quicker. When some rows have known clusters: [supervised_cluster()].
#' Up to 12 rows [partition_exact()] needs no sampling.
#'
#' @param x Rows: a vector, matrix or data frame (of factors or text for `"categorical"`).
#' @param family `"auto"` takes `"normal"` for one column, `"mvnormal"` for several and `"categorical"` for levels; others as in Details.
#' @param prior Law of partitions: [prior_dp()], [prior_py()] or [prior_mfm()].
#' @param hyper A named list of hyperparameters; see Details.
#' @param n_draws Draws to keep, of each chain.
#' @param burn_in Sweeps left out at the beginning of each chain.
#' @param thin Every how many sweeps a draw is kept.
#' @param chains Number of chains; they run on threads of their own.
#' @param split_merge Split-merge proposals per sweep, on average (not for `"richardson_green"`), and ten times as many during `burn_in`: 0.1 is
#'   one after every tenth sweep. One costs as much as several scans of the rows it touches; raise it where R-hat shows that chains stick.
#' @param start Where chains start: a draw from the `"prior"`, all rows in `"one"` cluster, or each `"alone"`.
#' @param loss Loss of the partition that is returned: `"vi"` or `"binder"`.
#' @param auxiliary Draws of Algorithm 8.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @return An object of class `granary_dp_mixture`, a [granary_clustering], with `cluster`, `centers` (posterior means; shares of the levels), `sizes`, `objective`
#'   (expected loss), `count` (posterior of the number of clusters), `components` (of \eqn{k}, for `prior_mfm()`), `partitions` (draws, one row each), `count_draws`,
#'   `loglik_draws`, `theta_draws`, `best` (the partition of largest posterior met), `rhat`, `effective_size`, `accepted` (share of split-merge
#'   proposals).
#' @references Miller and Harrison (2014). Inconsistency of Pitman-Yor process mixtures for the number of components. *Journal of Machine Learning Research* 15,
#'   3333--3370.
#'
#' Neal (2000). Markov chain sampling methods for Dirichlet process mixture models. *Journal of Computational and Graphical Statistics* 9, 249--265.
#'
#' Jain and Neal (2004). A split-merge Markov chain Monte Carlo procedure for the Dirichlet process mixture model. *Journal of Computational and Graphical Statistics* 13,
#'   158--182.
#' @seealso [dp_mixture_compare()], [partition_estimate()], [partition_exact()], [dp_mixture_bounds()], [sim_dp_mixture()], [supervised_cluster()].
#' @export
#' @examples
#' set.seed(1)
#' fit <- dp_mixture(faithful$eruptions, prior = prior_mfm(), n_draws = 2000, burn_in = 500)
#' fit
#' summary(fit)
#' predict(fit, c(2, 4.5), type = "prob")
#' plot(fit)
dp_mixture <- function(x, family = "auto", prior = prior_dp(), hyper = NULL, n_draws = 5000, burn_in = 2000, thin = 1, chains = 2, split_merge = 0.1,
                       start = c("prior", "one", "alone"), loss = c("vi", "binder"), auxiliary = 3, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  rows <- mixture_rows(x, family)
  prior <- check_law(prior)
  spec <- family_spec(rows, hyper)
  loss <- check_choice(loss, c("vi", "binder"))
  options <- list(n_draws = check_count(n_draws), burn_in = check_count(burn_in, lower = 0), thin = check_count(thin), chains = check_count(chains, upper = 1000),
                  split_merge = check_number(split_merge, lower = 0, upper = 1000), start = check_choice(start, c("prior", "one", "alone")),
                  auxiliary = check_count(auxiliary, upper = 1000), threads = thread_count(threads))
  found <- if (rows$family == "richardson_green") {
    core_dp_mixture_rg(rows$x[, 1L], prior$core, options, core_seed(), progress_bar("chains"))
  } else {
    core_dp_mixture(rows$x, spec, prior$core, options, core_seed(), progress_bar("chains"))
  }
  estimate <- core_partition_estimate(found$partitions, list(loss = loss), progress_bar("one partition"))
  new_dp_mixture(found, estimate, rows, spec, prior, options, loss, call)
}

# Clusters in order of size, so that their numbers mean something.
sorted_clusters <- function(cluster) {
  size <- tabulate(cluster)
  match(cluster, order(-size, seq_along(size)))
}

count_table <- function(draws, most = max(draws)) data.frame(clusters = seq_len(most), probability = tabulate(draws, most) / length(draws))

new_dp_mixture <- function(found, estimate, rows, spec, prior, options, loss, call) {
  cluster <- sorted_clusters(estimate$cluster)
  sizes <- tabulate(cluster)
  centers <- if (rows$family == "richardson_green") matrix(tapply(rows$x[, 1L], cluster, mean), ncol = 1L) else core_dp_centers(rows$x, spec, cluster)
  dimnames(centers) <- list(seq_along(sizes), center_names(rows))
  still <- stats::var(found$loglik) %in% c(0, NA) && length(unique(found$count)) == 1L  # nothing can move: one row
  rhat <- if (still) 1 else split_rhat(cbind(found$count, found$loglik), options$n_draws, options$chains)
  effective <- c(clusters = sum(found$effective_count), loglik = sum(found$effective_loglik))
  if (still) effective[] <- options$n_draws * options$chains
  effective[!is.finite(effective)] <- NA_real_
  least <- if (all(is.na(effective))) NA_real_ else min(effective, na.rm = TRUE)
  fit <- new_clustering(
    "dp_mixture", cluster = stats::setNames(cluster, rows$labels), centers = centers, sizes = sizes, objective = estimate$loss,
    count = count_table(found$count), components = if (length(found$components) > 0L) data.frame(components = seq_along(found$components), probability = found$components),
    partitions = found$partitions, count_draws = found$count, loglik_draws = found$loglik, theta_draws = found$theta, log_posterior = found$log_posterior,
    parameters = found$parameters, best = stats::setNames(found$best, rows$labels), best_value = found$best_value,
    rhat = rhat, effective_size = effective, accepted = replace(found$accepted, is.nan(found$accepted), NA), chains = options$chains, seconds = found$seconds,
    family = rows$family, prior = prior, spec = spec, x = rows$x, columns = rows$names, levels = rows$levels, loss = loss, k = length(sizes),
    title = sprintf("Mixture of %s clusters: %s", gsub("_", " ", rows$family), prior$words),
    measure = if (loss == "vi") "Expected variation of information, nats" else "Expected share of pairs treated differently",
    call = call, convergence = c(chain_convergence(rhat, least, options$n_draws, options$thin, options$burn_in), list(seconds = found$seconds))
  )
  check_chains(fit)
}

# ---- methods -----------------------------------------------------------------------------------------------------------------------------------------

count_warning <- function(fit) {
  if (identical(fit$prior$core$type, "mfm")) {
    "T, the number of clusters in the data, is not k, the number of components; the posterior of k is right only if the family is."
  } else {
    "T, the number of clusters, is no estimate of the number of components: under this prior it stays spread out however many rows there are. Use prior_mfm()."
  }
}

#' @export
print_more.granary_dp_mixture <- function(x) {
  cli::cat_line("Posterior of the number of clusters T:")
  print_count(x$count)
  if (!is.null(x$components)) {
    cli::cat_line("Posterior of the number of components k:")
    print_count(x$components, "components")
  }
  cli::cat_line("Note: ", count_warning(x))
  cli::cat_line(sprintf("Draws: %d in %s, R-hat %s, effective size %s", nrow(x$partitions), counted(x$chains, "chain", "chains"), format(x$rhat, digits = 4L),
                        paste(names(x$effective_size), format(round(x$effective_size), trim = TRUE), collapse = ", ")))
}

#' @rdname dp_mixture
#' @param object,x A fit.
#' @param share Smallest share of the rows that a cluster must hold to be counted in the pruned number.
#' @param ... Passed on to or from other methods.
#' @export
summary.granary_dp_mixture <- function(object, share = 0.01, ...) {
  refuse_dots(...)
  share <- check_number(share, lower = 0, upper = 1)
  sizes <- core_partition_sizes(object$partitions, share)
  small <- unique(c(1, 2, 5, 10, round(object$n * c(0.01, 0.05))))
  small <- sort(small[small >= 1 & small <= object$n])
  seal(structure(list(fit = object, table = tidy(object), share = share, count = object$count, pruned = count_table(sizes$pruned, max(sizes$pruned, 1L)),
                      components = object$components, small = data.frame(size = small, clusters = cumsum(sizes$expected)[small]),
                      theta = c(mean = mean(object$theta_draws), sd = stats::sd(object$theta_draws)), accepted = object$accepted), class = "summary_granary_dp_mixture"))
}

#' @export
print.summary_granary_dp_mixture <- function(x, ...) {
  print(x$fit)
  cli::cat_line(sprintf("Clusters with at least %s of the rows:", paste0(format(100 * x$share), "%")))
  print_count(x$pruned)
  cli::cat_line("Expected number of clusters with at most so many rows:")
  print(stats::setNames(round(x$small$clusters, 3L), x$small$size))
  if (isTRUE(x$theta[["sd"]] > 0)) cli::cat_line(sprintf("Concentration: mean %s, sd %s", format(x$theta[["mean"]], digits = 3L), format(x$theta[["sd"]], digits = 3L)))
  if (any(is.finite(x$accepted))) cli::cat_line("Split-merge proposals taken: ", paste0(format(100 * x$accepted, digits = 2L), "%", collapse = ", "))
  table <- x$table[seq_len(min(12L, ncol(x$table)))]
  print(table, digits = 4L, row.names = FALSE)
  invisible(x)
}

# New rows below those of the fit.
stacked_rows <- function(object, newdata) {
  if (is.null(object$levels)) {
    if (is_plain_numeric(newdata) && is.null(dim(newdata)) && length(object$columns) == 1L) newdata <- matrix(as.double(newdata), dimnames = list(names(newdata), object$columns))
    new <- new_design(newdata, object$columns, arg = "newdata")
    if (isS4(new)) new <- as.matrix(new)
    labels <- rownames(new)
    new <- plain_rows(new)
  } else {
    rows <- categorical_rows(newdata, "newdata", object$levels)
    labels <- rows$labels
    new <- rows$x
  }
  spec <- object$spec
  if (object$family == "binomial" && length(spec$size) > 1L) {
    abort_input("New rows of a binomial family with a size of their own each cannot be predicted: fit with one `hyper$size`.", "newdata")
  }
  list(x = rbind(object$x, new), new = new, spec = spec, labels = labels)
}

#' @rdname dp_mixture
#' @param newdata New rows.
#' @param type For `predict()`, `"class"`: the cluster of each new row, `NA` for one that is likelier to open a new cluster; `"prob"`: probabilities of the clusters
#'   of the returned partition and of a `new` one; `"density"`: the posterior mean density. For `plot()`, bars of the `"count"`, the map of the `"similarity"` of
#'   rows, the predictive `"density"` of one column, the `"trace"` of the chains, or the expected number of clusters by their `"sizes"`.
#' @export
predict.granary_dp_mixture <- function(object, newdata = NULL, type = c("class", "prob", "density"), threads = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("class", "prob", "density"))
  if (is.null(newdata) && type == "class") return(object$cluster)
  given <- if (!is.null(newdata)) newdata else if (is.null(object$levels)) structure(object$x, dimnames = list(NULL, object$columns)) else NULL
  rows <- if (is.null(given)) list(x = rbind(object$x, object$x), new = object$x, spec = object$spec, labels = names(object$cluster)) else stacked_rows(object, given)
  rough <- object$family == "richardson_green"
  if (type == "density") {
    draws <- list(partitions = object$partitions, theta = object$theta_draws, parameters = object$parameters, threads = thread_count(threads))
    out <- if (rough) {
      core_dp_density_rg(rows$new[, 1L], object$x[, 1L], object$prior$core, draws, core_seed(), progress_bar("density"))
    } else {
      core_dp_density(rows$x, rows$spec, object$prior$core, draws, progress_bar("density"))
    }
    return(stats::setNames(out, rows$labels))
  }
  spec <- if (rough) family_spec(list(x = object$x, family = "normal", names = object$columns)) else rows$spec
  law <- object$prior$core
  if (!is.null(law$shape)) law$theta <- mean(object$theta_draws)
  prob <- core_dp_membership(rows$x, spec, law, unname(object$cluster))
  dimnames(prob) <- list(rows$labels, c(seq_along(object$sizes), "new"))
  if (type == "prob") return(prob)
  best <- max.col(prob, ties.method = "first")
  stats::setNames(ifelse(best > length(object$sizes), NA_integer_, best), rows$labels)
}

#' @rdname dp_mixture
#' @param nsim,seed As in [stats::simulate()]: each data set has as many rows as the fit, drawn one after the other from the predictive law of a draw.
#' @export
simulate.granary_dp_mixture <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_dots(...)
  if (object$family == "richardson_green") not_for(object, "simulate()", "the prior of Richardson and Green has no predictive law in closed form")
  nsim <- check_count(nsim)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  at <- sample.int(nrow(object$partitions), nsim, replace = nsim > nrow(object$partitions))
  lapply(at, function(d) {
    law <- object$prior$core
    if (!is.null(law$shape)) law[c("theta", "shape", "scale_rate")] <- list(object$theta_draws[d], NULL, NULL)
    spec <- object$spec
    if (length(spec$size) > 1L) spec$size <- rep(spec$size, 2L)
    out <- core_dp_more(rbind(object$x, object$x), spec, law, object$partitions[d, ], core_seed(), NULL)$x
    if (!is.null(object$levels)) {
      return(as.data.frame(stats::setNames(lapply(seq_along(object$levels), function(j) factor(object$levels[[j]][out[, j] + 1], object$levels[[j]])), object$columns)))
    }
    structure(out, dimnames = list(NULL, object$columns))
  })
}

#' @rdname dp_mixture
#' @usage \method{logLik}{granary_dp_mixture}(object, ...)
#' @export
logLik.granary_dp_mixture <- function(object, ...) {
  not_for(object, "logLik()", "it is a sample; `loglik_draws` has the marginal log-likelihood of every draw")
}

#' @rdname dp_mixture
#' @usage \method{as_draws}{granary_dp_mixture}(x, ...)
#' @exportS3Method posterior::as_draws
as_draws.granary_dp_mixture <- function(x, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  draws_array(mixture_series(x), x$chains)
}

#' @rdname dp_mixture
#' @usage \method{as.mcmc}{granary_dp_mixture}(x, ...)
#' @exportS3Method coda::as.mcmc
as.mcmc.granary_dp_mixture <- function(x, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  mcmc_list(mixture_series(x), x$chains)
}

mixture_series <- function(x) cbind(clusters = as.double(x$count_draws), loglik = x$loglik_draws, theta = x$theta_draws)
