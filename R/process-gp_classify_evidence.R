#' Evidence of a Gaussian process classifier
#'
#' The log marginal likelihood \eqn{\log p(y | \theta)}{log p(y | theta)} at the parameters of a fit or over a grid of parameters, by four methods.
#'
#' @details
#' * `"ep"` and `"laplace"`: the approximations of [gp_classify()], whichever the fit itself was made with.
#' * `"ais"`: annealed importance sampling, exact up to Monte Carlo error. A run starts at a draw from the prior and is moved through
#'   \eqn{p(y|f)^{t} N(f)}{p(y|f)^t N(f)} for \eqn{t = (s/T)^4, s = 1, \dots, T}{t = (s/T)^4, s = 1..T}; its weight is unbiased for the evidence.
#'   The defaults \eqn{T = 8000} and three runs are the paper's; they take seconds for 100 cases and minutes for 1000.
#' * `"lower_bound"`: Jensen's bound, equation 35 of the paper, with Gauss-Hermite quadrature. A diagnostic: the paper advises against
#'   maximising it. With `newdata` and `newy` the expected log likelihood of these further cases is added, which bounds the evidence of all.
#'
#' @section Which method when:
#' `"ep"` for nearly exact values at once, `"laplace"` for a quick look, `"ais"` for a check without approximation (minutes), `"lower_bound"` for a bound
#' that holds.
#'
#' @param object A fit of [gp_classify()]; for `autoplot()` a table of evidences.
#' @param method One or several of `"ep"`, `"laplace"`, `"ais"`, `"lower_bound"`; by default the method of the fit.
#' @param grid `NULL`, or a list or data frame with a vector for each of some of the parameters, named as in `coef(object)`: all combinations of a
#'   list, the rows of a data frame.
#' @param newdata,newy Further cases: for `"lower_bound"` they enter the bound; with a `grid`, the error and information of the predictions for
#'   them are
#'   reported for each point (methods `"ep"` and `"laplace"`).
#' @param temperatures,runs,steps,sampler For `"ais"`: number of temperatures \eqn{T}, runs, leapfrog steps per move, and `"hmc"` or `"ess"`.
#' @param nodes For `"lower_bound"`: number of nodes of the quadrature.
#' @param threads Threads for the runs of `"ais"`.
#' @param x A table of evidences.
#' @param value For `plot()` and `autoplot()`: the column drawn.
#' @param ... Passed on to graphics functions.
#' @return A data frame of class `granary_gp_evidence`: the parameters, `method`, `log_evidence`, for `"ais"` also `se` (the standard deviation
#'   of the log
#'   weights over the square root of the runs) and `effective_size`, and `error` and `information` where asked for.
#' @references
#' Kuss and Rasmussen (2005). Assessing approximate inference for binary Gaussian process classification. *Journal of Machine Learning
#' Research* 6, 1679--1704.
#'
#' Neal (2001). Annealed importance sampling. *Statistics and Computing* 11, 125--139.
#' @seealso [gp_classify()], [gp_classify_sample()], [gp_classify_baseline()], [kriging()], [sparse_gp()], [rvm()]
#' @export
#' @examples
#' set.seed(1)
#' data <- sim_gp_classes(10)
#' fit <- gp_classify(y ~ x, data)
#' gp_classify_evidence(fit, c("ep", "laplace", "lower_bound"))
#' gp_classify_evidence(fit, "ais", temperatures = 500)
#' grid <- gp_classify_evidence(fit, "ep", grid = list(se.lengthscale = exp(-2:1), se.variance = exp(0:4)))
#' plot(grid)
gp_classify_evidence <- function(object, method = c("ep", "laplace", "ais", "lower_bound"), grid = NULL, newdata = NULL, newy = NULL,
                                 temperatures = 8000,
                        runs = 3, steps = 10, sampler = c("hmc", "ess"), nodes = 32, threads = NULL, ...) {
  refuse_dots(...)
  object <- check_classifier(object)
  choices <- c("ep", "laplace", "ais", "lower_bound")
  methods <- if (missing(method)) {
    object$method
  } else {
    if (!is.character(method) || length(method) == 0L) fail_input("method", "names of methods", describe(method))
    unique(vapply(method, function(m) check_choice(m, choices, "method"), ""))
  }
  temperatures <- check_count(temperatures, lower = 2, upper = 1e7)
  runs <- check_count(runs, upper = 1e5)
  steps <- check_count(steps, upper = 1e4)
  sampler <- check_choice(sampler, c("hmc", "ess"))
  nodes <- check_count(nodes, upper = 200)
  settings <- object$settings
  settings$threads <- if (has_user_code(object$kernel)) 1L else thread_count(threads)
  if (is.null(newdata) != is.null(newy)) abort_input("`newdata` and `newy` must be given together.", "newy")
  at <- if (is.null(newdata)) NULL else classifier_inputs(object, newdata)
  labels <- if (is.null(at)) numeric() else check_classes(newy, nrow(at), "newy", levels = object$levels)$y
  points <- parameter_grid(object, grid)
  tasks <- expand.grid(row = seq_len(nrow(points)), method = methods, stringsAsFactors = FALSE)
  results <- resample_lapply(seq_len(nrow(tasks)), function(k) {
    values <- points[tasks$row[k], ]
    here <- settings
    kernel <- with_kernel_of(object, at)$kernel
    if (settings$learn_mean) here$mean <- values[["mean"]]
    kernel <- set_kernel_parameters(kernel, log(values[seq_along(stats::coef(kernel))]))
    evidence_at(object, kernel, here, tasks$method[k], at, labels, !is.null(grid), list(
      temperatures = temperatures, runs = runs, steps = steps, sampler = sampler, nodes = nodes
    ))
  }, "evidence")
  table <- data.frame(points[tasks$row, , drop = FALSE], method = tasks$method, do.call(rbind, results), row.names = NULL, check.names = FALSE)
  for (column in c("se", "effective_size", "error", "information")) if (all(is.na(table[[column]]))) table[[column]] <- NULL
  if (any(!table$converged)) warn_convergence(sprintf("Inference stopped early at %d of %d points.", sum(!table$converged), nrow(table)))
  table$converged <- NULL
  few <- which(table$effective_size < 0.5 * runs)
  if (length(few) > 0L) {
    warn_convergence(sprintf("Annealing is uncertain at %s: its %d runs are worth only %s.\nRaise `temperatures`.",
                             counted(length(few), "point", "points"), runs, format(min(table$effective_size[few]), digits = 2L)))
  }
  structure(table, class = c("granary_gp_evidence", "data.frame"), parameters = colnames(points))
}

evidence_at <- function(object, kernel, settings, method, at, labels, score, options) {
  row <- data.frame(log_evidence = NA_real_, se = NA_real_, effective_size = NA_real_, error = NA_real_, information = NA_real_, converged = TRUE)
  if (!method %in% c("ais", "lower_bound")) settings$method <- method
  problem <- list(x = object$x, y = object$y, kernel = kernel, settings = settings)
  if (method == "ais") {
    found <- core_gp_ais(problem, c(options[c("sampler", "temperatures", "runs", "steps")], settings["threads"]), core_seed(),
                         progress_bar("annealed importance sampling"))
    row$log_evidence <- found$log_evidence
    row$se <- if (options$runs > 1L) stats::sd(found$log_weights) / sqrt(options$runs) else NA
    row$effective_size <- found$effective_size
    return(row)
  }
  posterior <- core_gp_classify_posterior(problem, core_seed(), NULL)
  row$log_evidence <- posterior$log_evidence
  row$converged <- posterior$convergence$converged
  predicted <- if (!is.null(at)) {
    core_gp_classify_predict(c(problem, posterior[c("tau", "weight")]), at, settings["threads"], NULL)
  } else {
    list(mean = numeric(), variance = numeric())
  }
  if (method == "lower_bound") {
    row$log_evidence <- core_gp_lower_bound(problem, list(posterior = posterior, y = labels, mean = predicted$mean, variance = predicted$variance,
                                                          nodes = options$nodes))
  } else if (score && !is.null(at)) {
    row$error <- mean((predicted$log_positive > predicted$log_negative) != (labels > 0))
    row$information <- mean(ifelse(labels > 0, predicted$log_positive, predicted$log_negative)) / log(2) + label_entropy(object$y)
  }
  row
}

check_classifier <- function(object) {
  if (missing(object)) fail_missing("object")
  if (!inherits(object, "granary_gp_classify")) fail_input("object", "a fit of gp_classify()", describe(object))
  check_fit(object)
  object
}

# A matrix with a row per point, in the order of the parameters; those not named stay as in the fit.
parameter_grid <- function(object, grid) {
  base <- object$parameters
  if (is.null(grid)) return(matrix(base, 1L, dimnames = list(NULL, names(base))))
  named <- is.list(grid) && length(grid) > 0L && !is.null(names(grid)) && all(names(grid) %in% names(base)) && !anyDuplicated(names(grid))
  if (!named) {
    abort_input(sprintf("`grid` must be a list or data frame named by parameters of the fit: %s.",
                        paste0("\"", names(base), "\"", collapse = ", ")), "grid")
  }
  for (name in names(grid)) {
    values <- grid[[name]]
    positive <- name != "mean"
    grid[[name]] <- unname(check_vector(values, "grid", lower = if (positive) 0 else -1e6, upper = 1e150, strict_lower = positive))
  }
  table <- if (is.data.frame(grid)) grid else do.call(expand.grid, grid)
  points <- matrix(base, nrow(table), length(base), byrow = TRUE, dimnames = list(NULL, names(base)))
  points[, names(table)] <- as.matrix(table)
  points
}

#' @rdname gp_classify_evidence
#' @export
plot.granary_gp_evidence <- function(x, value = "log_evidence", ...) {
  value <- check_choice(value, intersect(c("log_evidence", "information", "error"), names(x)))
  varied <- varied_parameters(x)
  methods <- unique(x$method)
  if (length(varied) == 1L) {
    draw(graphics::plot, range(x[[varied]]), range(x[[value]], finite = TRUE), type = "n", log = "x", xlab = varied, ylab = value, user = list(...))
    for (k in seq_along(methods)) {
      rows <- x[x$method == methods[k], ]
      rows <- rows[order(rows[[varied]]), ]
      graphics::lines(rows[[varied]], rows[[value]], col = k, lwd = 2)
    }
    graphics::legend("bottomright", methods, col = seq_along(methods), lwd = 2, bty = "n")
    return(invisible())
  }
  old <- graphics::par(mfrow = c(1L, length(methods)))
  on.exit(graphics::par(old))
  for (method in methods) {
    rows <- x[x$method == method, ]
    at1 <- sort(unique(rows[[varied[1L]]]))
    at2 <- sort(unique(rows[[varied[2L]]]))
    z <- matrix(NA_real_, length(at1), length(at2))
    z[cbind(match(rows[[varied[1L]]], at1), match(rows[[varied[2L]]], at2))] <- rows[[value]]
    draw_surface(log(at1), log(at2), z, xlab = paste("log", varied[1L]), ylab = paste("log", varied[2L]), main = paste(value, "by", method),
                 user = list(...))
  }
  invisible()
}

#' Draws from the exact posterior of a Gaussian process classifier
#'
#' Markov chains for the latent values at the parameters of a fit: the gold standard to check the approximations against.
#'
#' @details
#' Chains move the whitened values \eqn{g = L^{-1}(f - c)}{g = L^-1 (f - c)}, \eqn{K = LL'}{K = L L'}: `"hmc"` by Hamiltonian leapfrogs whose
#' step size is
#' learnt during the burn-in, `"ess"` by elliptical slices, which have nothing to tune. Predictions average
#' \eqn{\Phi(\mu_s/\sqrt{1 + v})}{Phi(mu_s / sqrt(1 + v))} over draws, \eqn{f_*}{f*} given a draw having been integrated out.
#'
#' `plot()` shows the histogram of one latent value beside the normal approximations of EP and Laplace's method.
#'
#' @section Which method when:
#' `gp_classify_sample()` to check [gp_classify()] where much depends on its probabilities; [gp_parameter_sample()] where the parameters of the kernel
#' are uncertain too.
#'
#' @param object A fit of [gp_classify()], or for `predict()`, `summary()` and `autoplot()` a sample.
#' @param n_draws Draws kept from each chain.
#' @param burn_in Moves before the first draw.
#' @param sampler `"hmc"` or `"ess"`.
#' @param thin Moves per draw.
#' @param steps Leapfrog steps per move.
#' @param chains Number of chains.
#' @param threads Threads for the chains.
#' @param newdata Rows to predict for; `NULL` for the rows of the fit.
#' @param type `"prob"`, `"class"` or `"latent"`.
#' @param se Whether to give standard errors: Monte Carlo errors of the probability, or posterior standard deviations of the latent values.
#' @param x A sample.
#' @param which The case shown.
#' @param ... Passed on to [graphics::hist()], otherwise not used.
#' @return An object of class `granary_gp_sample`: `f` (a row per draw), `log_joint`, `acceptance`, `step_size`, `effective_size` (of
#'   `log_joint`), `rhat` (of
#'   `log_joint`, from the halves of the chains), `fit`.
#' @references
#' Kuss and Rasmussen (2005). Assessing approximate inference for binary Gaussian process classification. *Journal of Machine Learning
#' Research* 6, 1679--1704.
#'
#' Murray, Adams and MacKay (2010). Elliptical slice sampling. *Proceedings of Machine Learning Research* 9, 541--548.
#' @seealso [gp_classify()], [gp_classify_evidence()], [gp_classify_baseline()], [kriging()], [sparse_gp()], [rvm()]
#' @export
#' @examples
#' set.seed(1)
#' data <- sim_gp_classes(10)
#' fit <- gp_classify(y ~ x, data)
#' draws <- gp_classify_sample(fit, n_draws = 300, burn_in = 200)
#' draws
#' predict(draws, data.frame(x = c(-6, 0)))
#' plot(draws, which = 1)
gp_classify_sample <- function(object, n_draws = 1000, burn_in = 500, sampler = c("hmc", "ess"), thin = 1, steps = 15, chains = 1, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  object <- check_classifier(object)
  n <- check_count(n_draws, "n_draws", upper = 1e7)
  burn_in <- check_count(burn_in, lower = 0, upper = 1e8)
  sampler <- check_choice(sampler, c("hmc", "ess"))
  thin <- check_count(thin, upper = 1e6)
  steps <- check_count(steps, upper = 1e5)
  chains <- check_count(chains, upper = 1e4)
  if (as.double(n) * chains * length(object$y) > 2e8 || (as.double(n) * thin + burn_in) * steps > 1e9) {
    abort_input("`n_draws` asks for more draws than can be held or made in reasonable time. Use fewer, or a larger `thin`.", "n_draws")
  }
  options <- list(sampler = sampler, n_draws = n, burn_in = burn_in, thin = thin, steps = steps, chains = chains,
                  threads = if (has_user_code(object$kernel)) 1L else thread_count(threads))
  found <- core_gp_sample(object, options, core_seed(), progress_bar("posterior sample"))
  rhat <- split_rhat(found$log_joint, n, chains)
  colnames(found$f) <- rownames(object$x)
  check_chains(new_fit(
    "gp_sample", f = found$f, weight = found$weight, log_joint = found$log_joint, acceptance = found$acceptance, step_size = found$step_size,
    effective_size = found$effective_size, rhat = rhat, jitter = found$jitter, sampler = sampler, chains = chains, levels = object$levels,
    latent_mean = colMeans(found$f), latent_variance = apply(found$f, 2L, stats::var), fit = object, y = object$y, call = call,
    convergence = chain_convergence(rhat, found$effective_size, n, thin, burn_in)
  ))
}

#' @rdname gp_classify_sample
#' @export
predict.granary_gp_sample <- function(object, newdata = NULL, type = c("prob", "class", "latent"), se = FALSE, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("prob", "class", "latent"))
  se <- check_flag(se)
  at <- classifier_inputs(object$fit, newdata)
  found <- core_gp_sample_predict(with_kernel_of(object$fit, at), object$weight, object$jitter, at, progress_bar("prediction"))
  fit <- switch(type, prob = prob_matrix(found$probability, object$levels, rownames(at)), latent = found$mean,
                class = factor(object$levels[1L + (found$probability > 0.5)], object$levels))
  if (type == "latent") names(fit) <- rownames(at)
  if (!se) return(fit)
  list(fit = fit, se.fit = if (type == "latent") sqrt(found$variance) else found$monte_carlo_se)
}

#' @rdname gp_classify_sample
#' @export
print.granary_gp_sample <- function(x, ...) {
  cli::cat_line("posterior sample of a Gaussian process classifier by ",
                if (x$sampler == "hmc") "Hamiltonian moves" else "elliptical slices")
  print_call(x$call)
  cli::cat_line(nrow(x$f), " draws of ", ncol(x$f), " latent values, ", counted(x$chains, "chain", "chains"))
  cli::cat_line("effective size (log posterior): ", format(x$effective_size, digits = 3L),
                if (x$sampler == "hmc") paste0(", acceptance ", paste(format(x$acceptance, digits = 2L), collapse = " ")),
                if (!is.na(x$rhat)) paste0(", rhat ", format(x$rhat, digits = 4L)))
  invisible(x)
}
