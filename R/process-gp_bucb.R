# Batch and delayed bandits on a finite set of candidates (Desautels, Krause and Burdick, JMLR 2014).

#' Which candidates to try next, several at a time
#'
#' Sets up a search for the best of many candidates when several are tried at once or results come late: plates in a laboratory, stimulation
#' patterns, screens. The function to be maximised is given a Gaussian-process prior; `gp_bandit_suggest()` chooses the next candidates, counting those
#' without a result as if they were already known to be no surprise, and `gp_bandit_observe()` takes results in any order.
#'
#' @details
#' Rewards are \eqn{y_t = f(x_t) + e_t}, noise variance \eqn{\sigma_n^2}{s_n^2}. The posterior standard deviation depends on where was looked, not on
#' what was seen, so pending choices count: GP-BUCB takes
#' \deqn{x_t = \arg\max_x\; \mu_{fb[t]}(x) + \beta_t^{1/2} \sigma_{t-1}(x)}{x_t = argmax mu_fb[t](x) + sqrt(beta_t) sigma_{t-1}(x)}
#' with the mean from the results that have come and the deviation from all choices. `strategy` is one of
#'
#' * `"bucb"`: that rule, `batch_size` at a time; `"ucb"`: one at a time.
#' * `"aucb"`: a batch closes once the information about \eqn{f} hallucinated in it, \eqn{G = \sum \frac12\log(1 + \sigma^2_{t-1}(x_t)/\sigma_n^2)}{
#'   G = sum 1/2 log(1 + sigma_{t-1}(x_t)^2 / s_n^2)}, reaches `limit`; `"aucb_local"`: once \eqn{\sigma_{fb[t]}(x)/\sigma_{t-1}(x)}{
#'   sigma_fb(x) / sigma_{t-1}(x)} reaches `exp(limit)` somewhere. `batch_size` is then the largest, `b_min` the smallest batch.
#' * `"uncertainty"`: where least is known, for exploration and starting designs.
#' * Baselines: `"sm_ucb"`, `"sm_ei"` (simulation matching of Azimi et al. 2010: sequential policies run on `paths` simulated futures, and the
#'   points that represent where they went), `"hbbo"` (expected improvement until pending results could move the prediction by more than
#'   `effect`), `"hbbo_ucb"` (the same with the rule of `"ucb"`), `"ei"`, `"repeat"` (the first choice `batch_size` times),
#'   `"top"` (the largest bounds without an update).
#'
#' Exploration weights: `weights = "practical"` is \eqn{\beta_t = c\,\alpha_{fb[t]+1}}{beta_t = c alpha_{fb[t]+1}} with \eqn{c} = `premult`, as in all the
#' paper's experiments; `"theory"` is \eqn{e^{2C}\alpha}{exp(2 C) alpha}, for which the regret bound of
#' the regret bound of [gp_bandit_bounds()] holds. \eqn{\alpha_t}{alpha_t} is that of case 1 of `gp_bandit_bounds("weight")` unless `exploration` says otherwise; with
#' `exploration_at = "choices"` it is \eqn{\alpha_t}{alpha_t} of the number of choices, as the theory of case 2 has it, and not of the results that have come.
#'
#' Default `limit` \eqn{C}: for `"aucb"` the smaller of \eqn{e/(e-1)} times the greedy information of `b_min` choices and `b_min` times that of one; for
#' `"aucb_local"` \eqn{\max_x \frac12\log(1 + b_{min} k(x,x)/\sigma_n^2)}{max 1/2 log(1 + b_min k(x, x) / s_n^2)}; otherwise the bound on the information of
#' `batch_size - 1` choices, which only the theoretical weights use.
#'
#' Up to 10000 candidates all variances are kept up to date; beyond, only those of candidates that may come out on top are computed (`lazy`), with
#' the same choices.
#'
#' @section Which method when: `gp_bandit()` when the candidates can be listed and results are noisy or late; [bayes_opt()] for expensive functions on a box,
#'   one or a few evaluations at a time; [kriging()] when the aim is to know the function everywhere.
#'
#' @param x Candidates, one per row: a matrix or data frame of numbers, or a vector.
#' @param kernel A kernel, see [kernels]. The theory assumes variances of at most one.
#' @param noise_var Variance of the noise in a result; at least 1e-10 times the largest variance of the kernel, so that a candidate can be tried
#'   again.
#' @param strategy See Details.
#' @param batch_size Number of choices per batch, or the largest number pending.
#' @param limit Information \eqn{C} at which adaptive batches close.
#' @param b_min Smallest batch of the adaptive strategies.
#' @param weights,delta Exploration weights, see Details; `delta` is the probability with which the bounds may fail.
#' @param premult Factor of the practical weights; `NULL` is 0.1, and 0.05 for kernels that are linear in the inputs, as in the paper's Table 2.
#' @param exploration A function of a vector of steps that gives \eqn{\alpha_t}{alpha_t}, such as `function(t) gp_bandit_bounds("weight", t, case = 2, d = 3)`; `NULL` for case 1.
#' @param exploration_at Whether steps count `"results"` or `"choices"`.
#' @param effect Limit of `"hbbo"` and `"hbbo_ucb"`, in units of the reward.
#' @param paths Simulated futures of `"sm_ucb"` and `"sm_ei"`.
#' @param prior_mean Prior mean of the rewards, a number.
#' @param lazy Whether to compute variances only on demand; `NA` decides by the number of candidates.
#' @param refit_every Re-estimate kernel and noise by maximum likelihood after every so many results; `NULL` never.
#' @param object A bandit.
#' @param n For `gp_bandit_suggest()`: 1 asks for a single choice (results that come with a delay), `NULL` for what the batch has room for.
#' @param id Numbers of the choices the results belong to, from `object$history$id`.
#' @param y Their results. With `x` in place of `id`: results that were not suggested, such as earlier ones.
#' @return An object of class `granary_bandit`: the settings, and `history`, a data frame with one row per choice: `id`, `candidate`, `y` (`NA` while
#'   pending), and `mean`, `sd`, `bound`, `information` at the time it was chosen. `gp_bandit_suggest()` and `gp_bandit_observe()` return it with rows added or
#'   results filled in; `batch` holds the last suggestion.
#' @references
#' Desautels, Krause and Burdick (2014). Parallelizing exploration-exploitation tradeoffs in Gaussian process bandit optimization. *Journal of
#' Machine Learning Research* 15, 4053--4103.
#' @seealso [simulate.granary_bandit()], [gp_bandit_bounds()]
#' @seealso [kriging()], [sparse_gp()], [gp_classify()], [rvm()]
#' @export
#' @examples
#' dose <- seq(0, 1, by = 0.1)
#' screen <- gp_bandit(dose, k_se(lengthscale = 0.2), noise_var = 0.01, batch_size = 3)
#' screen <- gp_bandit_suggest(screen)
#' screen$batch
#' screen <- gp_bandit_observe(screen, id = c(1, 3), y = c(0.2, 0.7))  # the second is late
#' screen
#' plot(screen)
gp_bandit <- function(x, kernel = "se", noise_var, strategy = "bucb", batch_size = 5, limit = NULL, b_min = 1, weights = c("practical", "theory"),
                    premult = NULL, delta = 0.1, exploration = NULL, exploration_at = c("results", "choices"), effect = 0.02, paths = 10, prior_mean = 0,
                    lazy = NA, refit_every = NULL, ...) {
  refuse_dots(...)
  x <- check_inputs(x)
  kernel <- prepare_kernel(kernel, ncol(x))
  noise_var <- check_number(noise_var, lower = 0, strict_lower = TRUE)
  strategy <- check_choice(strategy, c("bucb", "aucb", "aucb_local", "ucb", "uncertainty", "sm_ucb", "sm_ei", "hbbo", "hbbo_ucb", "ei", "repeat",
                                       "top"))
  batch_size <- check_count(batch_size, upper = 1e6)
  limit <- check_number(limit, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  b_min <- check_count(b_min)
  if (b_min > batch_size) abort_input(sprintf("`b_min` must be at most `batch_size` (%d), but it is %d.", batch_size, b_min), "b_min")
  weights <- check_choice(weights, c("practical", "theory"))
  premult <- check_number(premult, lower = 0, allow_null = TRUE)
  if (is.null(premult)) premult <- if (all(vapply(kernel_leaves(kernel), `[[`, "", "type") %in% c("linear", "bias", "white"))) 0.05 else 0.1
  delta <- check_number(delta, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  if (!is.null(exploration) && !is.function(exploration)) {
    fail_input("exploration", "NULL or a function of steps, such as function(t) gp_bandit_bounds(\"weight\", t, case = 2, d = 3)", describe(exploration))
  }
  exploration_at <- check_choice(exploration_at, c("results", "choices"))
  effect <- check_number(effect, lower = 0)
  paths <- check_count(paths)
  prior_mean <- check_number(prior_mean)
  if (!(is.logical(lazy) && length(lazy) == 1L)) fail_input("lazy", "TRUE, FALSE or NA", describe(lazy))
  refit_every <- check_count(refit_every, allow_null = TRUE)
  lazy <- if (is.na(lazy)) nrow(x) > 10000L else lazy
  model <- list(candidates = x, kernel = kernel, noise_var = noise_var, prior_mean = prior_mean, lazy = lazy)
  first <- noise_var * expm1(2 * core_bandit_greedy_model(model, 1L, NULL)$gains)  # the largest variance of a candidate
  if (length(first) > 0L && noise_var < 1e-10 * first) {
    warn_input(sprintf("`noise_var` is raised to %s, 1e-10 times the variance of the kernel: with less, no candidate could be tried twice.",
                       format(1e-10 * first, digits = 3L)), "noise_var")
    model$noise_var <- noise_var <- 1e-10 * first
  }
  size <- if (strategy == "aucb") b_min else max(1L, batch_size - 1L)
  size <- min(size, 2000L)
  greedy <- cumsum(core_bandit_greedy_model(model, size, progress_bar("information"))$gains)
  if (greedy[1L] > log1p(1 / noise_var) / 2 * (1 + 1e-8) && weights == "theory") {
    warn_input("The kernel's variance is above 1, where the theory behind the weights assumes at most 1.", "kernel")
  }
  if (is.null(limit)) {
    limit <- switch(strategy, aucb_local = 0.5 * (log1p(b_min * expm1(2 * greedy[1L]))), gain_bound(greedy, size))
  }
  if (weights == "theory" && limit > 350) warn_input("`limit` is so large that the theoretical weights overflow: they are infinite.", "limit")
  bandit <- new_fit("gp_bucb", candidates = x, kernel = kernel, noise_var = noise_var, strategy = strategy, batch_size = batch_size, limit = limit,
                    b_min = b_min, weights = weights, premult = premult, delta = delta, exploration = exploration, exploration_at = exploration_at, effect = effect,
                    paths = paths, prior_mean = prior_mean, lazy = lazy, refit_every = refit_every,
                    history = data.frame(id = integer(), candidate = integer(), y = double(), mean = double(), sd = double(), bound = double(),
                                         information = double()),
                    batch = NULL, call = match.call(), convergence = list())
  class(bandit) <- c("granary_gp_bucb", "granary_bandit", "granary_fit")
  bandit
}

# min(e/(e-1) greedy information, T gamma_1), an upper bound of the information of `size` choices.
gain_bound <- function(greedy, size) {
  min(exp(1) / (exp(1) - 1) * greedy[min(size, length(greedy))], size * greedy[1L])
}

bandit_settings <- function(object, most) {
  steps <- seq_len(most + object$batch_size + 1L)
  alpha <- if (is.null(object$exploration)) bandit_weight(steps, nrow(object$candidates), object$delta) else object$exploration(steps)
  if (!is_plain_numeric(alpha) || length(alpha) != length(steps) || anyNA(alpha) || any(alpha < 0)) {
    abort_input(sprintf("`exploration` must return one number for each of the %d steps, not negative, but it returned %s.", length(steps),
                        describe(alpha)), "exploration")
  }
  beta <- if (object$weights == "theory") exp(2 * object$limit) * alpha else object$premult * alpha
  list(strategy = object$strategy, batch_size = object$batch_size, limit = object$limit, b_min = object$b_min, beta = pmin(beta,
                                                                                                                           .Machine$double.xmax),
       by_choice = identical(object$exploration_at, "choices"), effect = object$effect, paths = object$paths)
}

check_bandit <- function(object) {
  if (!inherits(object, "granary_bandit")) fail_input("object", "a bandit from gp_bandit()", describe(object))
  check_fit(object)
  object
}

#' @rdname gp_bandit
#' @export
gp_bandit_suggest <- function(object, n = NULL, ...) {
  refuse_dots(...)
  if (missing(object)) fail_missing("object")
  object <- check_bandit(object)
  n <- check_count(n, allow_null = TRUE)
  if (!is.null(n) && n != 1L) abort_input("`n` must be 1 or NULL: the size of a batch is set in gp_bandit().", "n")
  past <- object$history
  options <- c(bandit_settings(object, nrow(past)), list(single = !is.null(n)))
  picked <- core_bandit_suggest(object, past, options, core_seed(), progress_bar("choices"))
  count <- length(picked$candidate)
  batch <- data.frame(id = nrow(past) + seq_len(count), candidate = picked$candidate, y = rep(NA_real_, count), mean = picked$mean, sd = picked$sd,
                      bound = picked$bound, information = picked$information)
  if (count == 0L) {
    warn_input(sprintf("No choice was made: %s for results first.", counted(sum(is.na(past$y)), "pending choice waits",
                                                                            "pending choices wait")), "object")
  }
  object$history <- rbind(past, batch)
  places <- object$candidates[batch$candidate, , drop = FALSE]
  if (is.null(colnames(places))) colnames(places) <- paste0("x", seq_len(ncol(places)))
  object$batch <- cbind(batch[c("id", "candidate")], as.data.frame(places, row.names = seq_len(count)), batch[c("mean", "sd", "bound",
                                                                                                                "information")])
  object
}

#' @rdname gp_bandit
#' @export
gp_bandit_observe <- function(object, id = NULL, y, x = NULL, ...) {
  refuse_dots(...)
  if (missing(object)) fail_missing("object")
  object <- check_bandit(object)
  if (missing(y)) fail_missing("y")
  if (is.null(id) == is.null(x)) abort_input("Give the `id` of choices that were suggested, or as `x` where other results were found.", "id")
  if (!is.null(x)) return(bandit_enter(object, x, y))
  id <- check_vector(id, lower = 1)
  y <- check_vector(y, length = length(id))
  past <- object$history
  row <- match(id, past$id)
  if (anyNA(row)) abort_input(sprintf("`id` has %s, which was never suggested.", format(id[is.na(row)][1L])), "id")
  if (anyDuplicated(row)) abort_input(sprintf("`id` has %s twice.", format(id[duplicated(row)][1L])), "id")
  if (any(!is.na(past$y[row]))) {
    abort_input(sprintf("Choice %s already has a result. Suggest the candidate again to record another one.",
                        format(id[!is.na(past$y[row])][1L])), "id")
  }
  before <- sum(!is.na(past$y))
  object$history$y[row] <- y
  bandit_refit_due(object, before, before + length(row))
}

# Results that were not suggested here, such as earlier ones: new rows of the history, at the candidates they were found at.
bandit_enter <- function(object, x, y) {
  candidates <- object$candidates
  x <- check_inputs(x, "x")
  if (ncol(x) != ncol(candidates) && length(x) == ncol(candidates)) x <- matrix(x, 1L)
  if (!is.null(colnames(candidates)) && setequal(colnames(x), colnames(candidates))) x <- x[, colnames(candidates), drop = FALSE]
  if (ncol(x) != ncol(candidates)) {
    abort_input(sprintf("`x` must have the %s of the candidates, but it has %d.", counted(ncol(candidates), "column", "columns"), ncol(x)), "x")
  }
  y <- check_vector(y, length = nrow(x))
  at <- match_rows(x, candidates, pmax(input_ranges(candidates), .Machine$double.xmin))
  if (anyNA(at)) abort_input(sprintf("Row %d of `x` is no candidate.", which(is.na(at))[1L]), "x")
  before <- sum(!is.na(object$history$y))
  object$history <- rbind(object$history, data.frame(id = nrow(object$history) + seq_along(at), candidate = as.integer(at), y = y, mean = NA_real_,
                                                     sd = NA_real_, bound = NA_real_, information = 0))
  bandit_refit_due(object, before, before + length(at))
}

bandit_refit_due <- function(object, before, after) {
  due <- !is.null(object$refit_every) && after %/% object$refit_every > before %/% object$refit_every
  if (due) refit_bandit(object) else object
}

# Kernel and noise by maximum likelihood. Bounds come from the data: lengthscales between a hundredth and ten times the range of the candidates,
# variances and noise by the variance of the results, other parameters within a factor of 10^4 of where they stand.
refit_bandit <- function(object) {
  seen <- object$history[!is.na(object$history$y), ]
  if (length(unique(seen$y)) < 2L) return(object)
  bounds <- bandit_bounds(object$kernel, object$candidates, stats::var(seen$y), object$noise_var)
  fit <- core_bandit_refit(object, object$history, bounds$lower, bounds$upper, progress_bar("likelihood"))
  count <- length(fit$log_parameters)
  object$kernel <- set_kernel_parameters(object$kernel, fit$log_parameters[-count])
  object$noise_var <- exp(fit$log_parameters[count])
  object$convergence <- fit$convergence
  warn_on_bound(c(names(coef(object$kernel)), "noise_var")[fit$on_bound])
  object
}

bandit_bounds <- function(kernel, candidates, size, noise_var) {
  known <- kernel_parameters(kernel, ncol(candidates))
  at <- known$log_parameters
  lower <- at - log(1e4)
  upper <- at + log(1e4)
  lengths <- grepl("lengthscale", known$names)
  if (all(input_ranges(candidates) > 0)) {
    unit <- log_ranges(kernel, candidates)
    lower[lengths] <- unit[lengths] + log(0.01)
    upper[lengths] <- unit[lengths] + log(10)
  }
  variances <- grepl("variance", known$names) & !grepl("linear|polynomial|mlp", known$names)  # theirs depend on the size of the inputs
  lower[variances] <- log(size) - log(1e4)
  upper[variances] <- log(size) + log(1e4)
  at <- c(at, log(noise_var))
  list(lower = pmin(c(lower, log(size) - log(1e6)), at), upper = pmax(c(upper, log(size) + log(10)), at))
}

#' @rdname gp_bandit
#' @export
print.granary_bandit <- function(x, ...) {
  past <- x$history
  pending <- sum(is.na(past$y))
  cli::cat_line("granary: search among ", counted(nrow(x$candidates), "candidate", "candidates"), " by ", x$strategy)
  cli::cat_line("results: ", nrow(past) - pending, ", pending: ", pending, ", batches of at most ", x$batch_size)
  if (x$strategy %in% c("aucb", "aucb_local")) {
    now <- if (pending > 0L) past$information[nrow(past)] else 0
    cli::cat_line("information pending: ", format(now, digits = 4L), ", a batch closes at ", format(x$limit, digits = 4L))
  }
  seen <- past[!is.na(past$y), ]
  if (nrow(seen) > 0L) {
    best <- seen[which.max(seen$y), ]
    cli::cat_line("best result: ", format(best$y, digits = 5L), " at candidate ", best$candidate)
    expected <- predict(x, se = TRUE)
    at <- which.max(expected$fit)
    cli::cat_line("best prediction: ", format(expected$fit[at], digits = 5L), " (sd ", format(expected$se.fit[at], digits = 3L),
                  ") at candidate ", at)
  }
  cli::cat_line("kernel: ", format(x$kernel), ", noise variance ", format(x$noise_var, digits = 4L))
  invisible(x)
}

#' @rdname gp_bandit
#' @export
summary.granary_bandit <- function(object, ...) {
  state <- predict(object, se = TRUE)
  seen <- object$history$candidate[!is.na(object$history$y)]
  top <- utils::head(order(-state$fit, -state$se.fit), 5L)
  places <- as.data.frame(object$candidates[top, , drop = FALSE])
  if (is.null(colnames(object$candidates))) names(places) <- paste0("x", seq_along(places))
  table <- cbind(candidate = top, places, mean = state$fit[top], sd = state$se.fit[top], results = tabulate(seen, nrow(object$candidates))[top])
  seal(structure(list(fit = object, top = table, tried = length(unique(seen))), class = "summary_granary_bandit"))
}

#' @export
print.summary_granary_bandit <- function(x, ...) {
  print(x$fit)
  cli::cat_line("candidates with a result: ", x$tried, "; those with the best predictions:")
  print(x$top, digits = 4L, row.names = FALSE)
  invisible(x)
}

#' @rdname gp_bandit
#' @param se For `predict()`: whether to give standard deviations too.
#' @param pending For `predict()`: whether the deviations count pending choices.
#' @export
predict.granary_bandit <- function(object, se = FALSE, pending = FALSE, ...) {
  se <- check_flag(se)
  pending <- check_flag(pending)
  state <- bandit_posterior(object)
  if (!se) return(state$mean)
  list(fit = state$mean, se.fit = sqrt(if (pending) state$variance_all else state$variance_seen))
}

bandit_posterior <- function(object) {
  core_bandit_posterior(object, object$history)
}

#' @rdname gp_bandit
#' @param ... For `plot()`, passed on to the first plotting function; otherwise not used.
#' @export
plot.granary_bandit <- function(x, ...) {
  state <- bandit_posterior(x)
  d <- ncol(x$candidates)
  seen <- !is.na(x$history$y)
  waiting <- x$candidates[x$history$candidate[!seen], , drop = FALSE]
  label <- if (is.null(colnames(x$candidates))) paste0("x", seq_len(d)) else colnames(x$candidates)
  if (d == 1L) {
    order <- order(x$candidates[, 1L])
    at <- x$candidates[order, 1L]
    deviation <- sqrt(state$variance_all[order])
    draw_band(at, state$mean[order], sqrt(state$variance_seen[order]), x$candidates[x$history$candidate[seen], 1L], x$history$y[seen],
              xlab = if (is.null(colnames(x$candidates))) "candidate" else label, ylab = "reward", user = list(...))
    graphics::lines(at, state$mean[order] + 2 * deviation, lty = 2)
    graphics::lines(at, state$mean[order] - 2 * deviation, lty = 2)
    graphics::points(waiting[, 1L], state$mean[x$history$candidate[!seen]], pch = 8, col = "#b2182b", cex = 1.2)
    return(invisible())
  }
  shade <- grDevices::hcl.colors(64L, "YlGnBu", rev = TRUE)
  level <- (state$mean - min(state$mean)) / max(diff(range(state$mean)), .Machine$double.eps)
  draw(graphics::plot, x$candidates[, 1L], x$candidates[, 2L], pch = 15, col = shade[1 + floor(63 * level)], xlab = label[1L], ylab = label[2L],
       main = "posterior mean, results (circles), pending (stars)", user = list(...))
  graphics::points(x$candidates[x$history$candidate[seen], 1:2, drop = FALSE], pch = 21, bg = "white")
  graphics::points(waiting[, 1:2, drop = FALSE], pch = 8, col = "#b2182b", cex = 1.2)
  invisible()
}
