#' Sparse Ising models
#'
#' Which pairs of two-valued variables interact once all others are held fixed, and how strongly? Fits a pairwise binary Markov network by
#' penalised maximum likelihood (exactly, or with sampled gradients), by pseudo-likelihood, or by one regression per variable.
#'
#' @details
#' With \eqn{x \in \{-1, +1\}^p}{x in (-1, +1)^p} the model is \eqn{p(x) = \exp(x'Wx + b'x) / Z}{p(x) = exp(x'Wx + b'x) / Z}, \eqn{W} symmetric with
#' zero
#' diagonal. As both \eqn{w_{ij}}{w_ij} and \eqn{w_{ji}}{w_ji} occur, the coupling of physics is \eqn{2 w_{ij}}{2 w_ij}, the log odds ratio of two
#' variables
#' given the others is \eqn{8 w_{ij}}{8 w_ij}, and \eqn{P(x_i = +1 | rest) = 1 / (1 + \exp(-2(b_i + 2 \sum_j w_{ij} x_j)))}{P(x_i = +1 | rest) =
#' 1 / (1 + exp(-2 (b_i + 2 sum_j w_ij x_j)))}. The estimate minimises
#' \deqn{-\frac{1}{n} \sum_t \log p(x_t) + \lambda \sum_{i \ne j} |w_{ij}|,}{-(1/n) sum_t log p(x_t) + lambda sum_(i != j) |w_ij|,}
#' so that every edge is counted twice; the fields \eqn{b} are free unless `field_penalty`.
#'
#' | method | what it does |
#' | --- | --- |
#' | `"exact"` | the maximum, by L-BFGS with all \eqn{2^k} states of each connected component of \eqn{k} variables (at most 25) |
#' | `"pseudolik"` | replaces the likelihood by \eqn{\prod_i p(x_i | rest)}{prod_i p(x_i | rest)}; any number of variables |
#' | `"nodewise"` | one l1 logistic regression per variable; an edge where both (`rule = "and"`) or one (`"or"`) of the regressions have it |
#' | `"fbs"` | forward-backward splitting with moments from `sampler`, steps \eqn{\beta / (G k^r)}{beta / (G k^r)} (Algorithm 5.1 of the thesis) |
#' | `"pg"`, `"apg"` | the proximal gradient method (\eqn{r = 0}) and its accelerated version |
#' | `"bp2step"` | the structure of `"nodewise"`, then forward-backward splitting on it with moments by loopy belief propagation |
#'
#' `"auto"` is `"exact"` up to 16 variables, else `"pseudolik"`. Without `lambda` the penalty is chosen by EBIC (`gamma`), along a path, or variable by
#' variable
#' for `"nodewise"`.
#'
#' **Certificate.** `kkt` is the largest violation of the optimality conditions in units of a moment (which lie between -1 and 1); it is computed
#' from the answer. The convergence record has the duality gap: for the likelihood the dual problem is to find the law of largest entropy whose means
#' are those of the data and whose second moments differ from theirs by at most `lambda`, and the law of the estimate, mixed with
#' a little of the empirical one so that it obeys the bounds, gives a lower limit of the objective. `theorem_bound` is the looser statement that
#' follows
#' from `kkt` and the thesis' Theorem 5.2, which bounds the size of the solution. Stochastic fits are certified too, as long as the states can be
#' enumerated.
#'
#' @section Which method when:
#' `"exact"` is the estimator to prefer where it can be had; `"pseudolik"` for more variables; `"nodewise"` is what
#' the package IsingFit computes. `"fbs"` and `"pg"` are for likelihoods that cannot be enumerated, when the pseudo-likelihood is not good enough;
#' the accelerated method needs exact moments: with sampled ones it may diverge, and says so. The printed step of the accelerated method is too
#' long (see `errata("thesis-5-discrete-mrf")`), so with exact moments it backtracks.
#'
#' @param x Two-valued data, one row per observation: 0/1, -1/1, logical, or a data frame with factors or text of two values each.
#' @param lambda Penalty, a number at least 0; `NULL` to choose by EBIC.
#' @param method See Details.
#' @param sampler Moments for `"fbs"`, `"pg"` and `"apg"`: `"gibbs"` (draws from mean field, five sweeps each), `"importance"` (self-normalised, from
#'   mean field), `"pcd"` (persistent chains), `"mean_field"`, `"belief"` (loopy belief propagation) or `"exact"`.
#' @param samples Number of draws at step k: a function of k, or a number.
#' @param max_iter Steps of the stochastic methods (default 1000), iterations of the others (2000).
#' @param output The iterate to report for `"fbs"`, `"pg"`, `"apg"`: the last, the average of all, the average weighted by step sizes (`"robust"`),
#'   or a
#'   random one. Averages are dense; `support` is always that of the last.
#' @param beta,r Step sizes, see Details.
#' @param sweeps Gibbs sweeps on each draw.
#' @param rule Joins the regressions of `"nodewise"`.
#' @param penalty `"l1"`, or `"ridge"` for \eqn{\lambda \|W\|_F^2}{lambda |W|_F^2} (with a `mask`, for a known structure).
#' @param mask A symmetric 0/1 matrix: where edges may be. `NULL` for everywhere.
#' @param field_penalty Whether to penalise `b` as well; needed where a column is constant.
#' @param gamma Weight of the number of variables in EBIC, when `lambda` is `NULL`.
#' @param n_lambda Length of the path that EBIC looks at.
#' @param na What to do with missing values: an error, or leave out the rows.
#' @param tol `kkt` at which to stop.
#' @param threads Number of threads for `"nodewise"`; see `options(granary.threads)`.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_ising_fit`: `W`, `b`, `coupling` (2 W), `support`, `lambda`, `loglik` (`NA` when it cannot be enumerated),
#'   `pseudo_loglik`, `objective`, `kkt`, `theorem_bound` (`NA` where the theorem does not apply), `df` (edges), `trace` of the stochastic methods
#'   (exact objective of the last, average and robust iterate),
#'   and
#'   the data. See [granary_ising] for what can be done with it.
#' @references
#' Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, chapter 5.
#'
#' Hoefling and Tibshirani (2009). Estimation of sparse binary pairwise Markov networks using pseudo-likelihoods. *Journal of Machine Learning
#' Research* 10, 883--906.
#'
#' Ravikumar, Wainwright and Lafferty (2010). High-dimensional Ising model selection using l1-regularized logistic regression. *Annals of Statistics*
#' 38, 1287--1319.
#' @seealso [ising_path()], [ising_model()], [ising_moments()], [ising_hub()], [influence_game()], [ec_ising()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_ising(p = 8, density = 0.3, n = 300)
#' fit <- ising_fit(sim$data, lambda = 0.05)
#' fit
#' coef(fit)
#' assess(fit, truth = sim)
ising_fit <- function(x, lambda = NULL, method = c("auto", "exact", "pseudolik", "nodewise", "fbs", "pg", "apg", "bp2step"),
                      sampler = c("gibbs", "importance", "pcd", "mean_field", "belief", "exact"), samples = function(k) ceiling(sqrt(k)),
                      max_iter = NULL, output = c("last", "average", "robust", "random"), beta = 1, r = 0.5, sweeps = 5, rule = c("and", "or"),
                      penalty = c("l1", "ridge"), mask = NULL, field_penalty = FALSE, gamma = 0.25, n_lambda = 30, na = c("error", "omit"), tol = 1e-6,
                      threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  na <- check_choice(na, c("error", "omit"))
  field_penalty <- check_flag(field_penalty)
  data <- ising_input(x, na, field_penalty)
  p <- ncol(data$x)
  method <- check_choice(method, c("auto", "exact", "pseudolik", "nodewise", "fbs", "pg", "apg", "bp2step"))
  if (method == "auto") method <- if (p <= 16L) "exact" else "pseudolik"
  stochastic <- method %in% c("fbs", "pg", "apg", "bp2step")
  settings <- list(
    method = method, sampler = check_choice(sampler, c("gibbs", "importance", "pcd", "mean_field", "belief", "exact")),
    max_iter = if (is.null(max_iter)) (if (stochastic) 1000L else 2000L) else check_count(max_iter, upper = 1e6),
    output = check_choice(output, c("last", "average", "robust", "random")), beta = check_number(beta, lower = 0, strict_lower = TRUE, upper = 1e6),
    r = check_number(r, lower = 0, upper = 10), sweeps = check_count(sweeps, upper = 1e5), rule = check_choice(rule, c("and", "or")),
    ridge = check_choice(penalty, c("l1", "ridge")) == "ridge", mask = check_mask(mask, colnames(data$x)), field_penalty = field_penalty,
    gamma = check_number(gamma, lower = 0, upper = 1e6), n_lambda = check_count(n_lambda, upper = 1000), tol = check_number(tol, lower = 0,
                                                                                                                      strict_lower = TRUE),
    threads = thread_count(threads)
  )
  settings$samples <- if (stochastic) check_samples(samples, settings$max_iter) else NULL
  lambda <- check_number(lambda, lower = 0, upper = 1e6, allow_null = TRUE)
  ising_allowed(settings, lambda, p)
  out <- ising_run(data, lambda, settings)
  ising_finish(out$runs[[1L]], data, settings, call, if (is.null(lambda) && method != "nodewise") out$table)
}

ising_input <- function(x, na, field_penalty) {
  data <- spin_data(x, "x", na, min_rows = 2L)
  mean <- colMeans(data$x)
  constant <- which(abs(mean) == 1)
  if (length(constant) > 0L && !field_penalty) {
    abort_input(paste0("Column \"", names(mean)[constant[1L]], "\" of `x` is constant, so its field has no finite estimate.\n",
                       "Drop it, or set field_penalty = TRUE."), "x")
  }
  data
}

check_mask <- function(mask, names) {
  if (is.null(mask)) return(NULL)
  mask <- check_symmetric(mask, "mask")
  if (nrow(mask) != length(names)) {
    abort_input(sprintf("`mask` must have one row per variable (%d), but it has %d.", length(names), nrow(mask)), "mask")
  }
  if (!all(mask %in% c(0, 1))) abort_input("`mask` must hold zeros and ones only.", "mask")
  unname(mask)
}

check_samples <- function(samples, steps) {
  if (is.function(samples)) {
    values <- tryCatch(vapply(seq_len(steps), function(k) samples(k) + 0, 0), error = function(e) NULL, warning = function(w) NULL)
    if (is.null(values)) abort_input("`samples` must be a function that gives one number for each step.", "samples")
  } else {
    values <- rep_len(check_number(samples, "samples", lower = 1), steps)
  }
  values <- ceiling(values)
  if (anyNA(values) || any(values < 1) || any(values > 1e7)) {
    abort_input("`samples` must give between 1 and 1e7 draws at every step.", "samples")
  }
  if (sum(values) > 1e9) abort_input("`samples` asks for more than 1e9 draws in all. Use fewer steps or draws.", "samples")
  as.integer(values)
}

ising_allowed <- function(settings, lambda, p) {
  if (settings$method == "nodewise" && (settings$ridge || !is.null(settings$mask) || settings$field_penalty)) {
    abort_input("method = \"nodewise\" takes no `penalty`, `mask` or `field_penalty`. Use \"pseudolik\".", "method")
  }
  if (settings$method == "bp2step" && (!is.null(settings$mask) || settings$field_penalty)) {
    abort_input("method = \"bp2step\" finds its own structure: leave out `mask` and `field_penalty`, or use \"fbs\" with sampler = \"belief\".",
                "method")
  }
  exact <- settings$method == "exact" || settings$method %in% c("fbs", "pg", "apg") && settings$sampler == "exact"
  if (exact && settings$ridge && is.null(settings$mask) && p > 25L) {
    abort_input("The ridge makes all variables one connected component, and exact enumeration stops at 25. Use \"pseudolik\".", "method")
  }
  if (exact && is.null(lambda) && p > 25L) {
    abort_input(paste("With more than 25 variables the exact likelihood needs a `lambda` large enough to leave components of at most 25.",
                      "Use method = \"pseudolik\", or give `lambda`."), "method")
  }
  if (exact && p > 20L) {
    warn_input(sprintf("Exact enumeration of components of up to %d variables takes minutes; \"pseudolik\" takes seconds.", min(p, 25L)), "method")
  }
  if (settings$method == "apg" && settings$sampler != "exact") {
    warn_input("The accelerated proximal gradient method need not converge with sampled gradients. Use sampler = \"exact\" or method = \"pg\".",
               "method")
  }
}

# Fits at the penalties given, each started at the one before; without any, at the one EBIC chooses. list(runs, table).
ising_run <- function(data, lambda, settings) {
  options <- list(method = settings$method, lambda = lambda, gamma = settings$gamma, n_lambda = settings$n_lambda, field_penalty = settings$field_penalty,
                  penalty = if (isTRUE(settings$ridge)) "ridge" else "l1", mask = settings$mask, rule = settings$rule, sampler = settings$sampler,
                  samples = settings$samples, sweeps = settings$sweeps, beta = settings$beta, r = settings$r, output = settings$output,
                  tol = settings$tol, max_iter = settings$max_iter, threads = settings$threads)
  out <- core_ising_fit(unname(data$x), options, core_seed(), progress_bar("Ising model"))
  out$table <- stats::setNames(data.frame(out$table), c("lambda", "edges", "ebic"))
  out$runs <- lapply(out$runs, function(run) {
    run$lambda <- run$lambda
    if (is.nan(run$objective)) run$objective <- NA_real_
    run
  })
  out
}

count_pairs <- function(W) sum(W[upper.tri(W)] != 0)

ising_finish <- function(result, data, settings, call, path = NULL) {
  names <- colnames(data$x)
  label <- function(m) {
    dimnames(m) <- list(names, names)
    m
  }
  n <- nrow(data$x)
  W <- label(result$W)
  b <- stats::setNames(as.vector(result$b), names)
  steps <- result$splitting
  last <- if (is.null(steps)) W else label(steps$last$W)
  score <- if (all(is.finite(W))) core_ising_score(unname(data$x), list(W = unname(W), b = unname(b))) else list(likelihood = NA_real_, pseudo = NA_real_)
  loglik <- n * if (settings$method == "exact") -result$loss else score$likelihood
  real <- function(v) if (is.null(v) || is.nan(v)) NA_real_ else v
  fit <- new_fit(
    c("ising_fit", "ising"), W = W, b = b, coupling = 2 * W, support = last != 0, lambda = result$lambda, loglik = real(loglik),
    pseudo_loglik = real(n * score$pseudo), objective = real(result$objective),
    kkt = real(result$convergence$residual), theorem_bound = real(result$theorem_bound), df = count_pairs(last),
    method = settings$method, penalty = if (settings$ridge) "ridge" else "l1",
    field_penalty = settings$field_penalty, trace = ising_trace(steps), selection = path, levels = data$levels, kind = data$kind, x = data$x,
    n = n,
    settings = settings, call = call, convergence = result$convergence
  )
  if (settings$method %in% c("fbs", "pg", "apg", "bp2step")) {
    fit$last <- list(W = last, b = stats::setNames(as.vector(steps$last$b), names))
    if (isTRUE(steps$unsettled > 0)) {
      warn_convergence(sprintf("Belief propagation did not settle in %d of %d steps; the moments there are approximate at best.", steps$unsettled,
                               fit$convergence$iterations), fit$convergence)
    }
    if (isTRUE(steps$effective < 5)) {
      warn_convergence(sprintf("Importance sampling was down to %.1f effective draws in some steps. Use sampler = \"gibbs\" or more `samples`.",
                               steps$effective), fit$convergence)
    }
  }
  if (identical(fit$convergence$reason, "approximate")) return(fit)  # said by print(); there is no tolerance to miss
  check_convergence(fit, if (isTRUE(settings$lambda == 0) || isTRUE(result$lambda == 0)) {
    "Without a penalty the estimate may be infinite: use `lambda` > 0."
  } else {
    "Raise `max_iter`, loosen `tol`, or use a larger `lambda`."
  })
  fit
}

ising_trace <- function(steps) {
  if (length(steps$step) == 0L) return(NULL)
  clean <- function(v) replace(v, is.nan(v), NA)
  data.frame(step = steps$step, last = clean(steps$objective_last), average = clean(steps$objective_average), robust = clean(steps$objective_robust),
             move = clean(steps$move))
}
