# Simulated bandits: regret of a strategy, and which of several is cheapest.

#' Simulate a batch bandit
#'
#' Runs the strategy of a [gp_bandit()] object against known or random functions and records the regret.
#'
#' @details
#' With `delay = 0` a round is a batch: its results come before the next one. With `delay = B` there is one choice per round, and its result comes before
#' the \eqn{B}-th round after it; strategies that want to wait let rounds pass. The average regret after \eqn{T} choices is
#' \eqn{\frac1T\sum_{t\le T}(\max f - f(x_t))}{mean of max f - f(x_t)}, the simple regret \eqn{\min_{t\le T}(\max f - f(x_t))}{min of max f - f(x_t)}.
#'
#' `gp_bandit_compare()` asks which of several simulated strategies reaches a given average regret most cheaply: with \eqn{\tau}{tau} the first round at
#' which the mean average regret is at most `level`, the cost is \eqn{(1 - w)\tau + w}{(1 - w) tau + w} times the mean number of choices made by then.
#'
#' @section Which method when:
#' `simulate()` for one strategy, `gp_bandit_compare()` for several on the same functions; [gp_bandit()] itself for real evaluations.
#'
#' @param object A bandit from [gp_bandit()]; its history is not used.
#' @param nsim Number of runs.
#' @param seed As after `set.seed(seed)`; `NULL` continues R's stream.
#' @param f The true rewards: a vector with one value per candidate, a matrix with one column per run, a function of the matrix of candidates, or
#'   `NULL` to draw from the prior in each run.
#' @param n_rounds Number of rounds.
#' @param max_choices Runs end after this many choices.
#' @param delay 0 for batches, else the number of rounds until a result comes.
#' @param threads Number of threads; `NULL` for the option `granary.threads`.
#' @param x A simulation, or costs.
#' @param type Which regret to draw.
#' @param ... Simulations to compare for `gp_bandit_compare()`, by name; for `plot()`, passed on to the plotting function.
#' @param levels Average regrets to be reached.
#' @param weights Weights \eqn{w} of choices against rounds, from 0 to 1.
#' @return `simulate()`: an object of class `granary_bandit_sim` with matrices `choice`, `round`, `regret`, `reward` (one column per run, `NA` after its
#'   end), `average` and `simple` regret, and `solves` (variances computed). `gp_bandit_compare()`: an object of class `granary_bandit_cost`: the array `cost`
#'   (level by weight by strategy) and the matrix `cheapest`.
#' @references
#' Desautels, Krause and Burdick (2014). Parallelizing exploration-exploitation tradeoffs in Gaussian process bandit optimization. *Journal of
#' Machine Learning Research* 15, 4053--4103.
#' @seealso [gp_bandit()]
#' @seealso [gp_bandit_bounds()], [kriging()], [sparse_gp()], [gp_classify()], [rvm()]
#' @name granary_bandit_sim
#' @export
#' @examples
#' grid <- seq(0, 1, length.out = 60)
#' k <- k_matern(1.5, lengthscale = 0.1, variance = 0.5)
#' set.seed(1)
#' batch <- simulate(gp_bandit(grid, k, 0.025), nsim = 10, n_rounds = 8)
#' one <- simulate(gp_bandit(grid, k, 0.025, strategy = "ucb"), nsim = 10, n_rounds = 40)
#' batch
#' plot(batch)
#' gp_bandit_compare(one = one, batch = batch, levels = c(0.6, 0.4))
simulate.granary_bandit <- function(object, nsim = 1, seed = NULL, f = NULL, n_rounds = 40, max_choices = 10000, delay = 0, threads = NULL, ...) {
  if (!is.null(seed)) {
    return(with_seed(seed, simulate(object, nsim = nsim, f = f, n_rounds = n_rounds, max_choices = max_choices, delay = delay, threads = threads)))
  }
  nsim <- check_count(nsim, upper = 1e6)
  n_rounds <- check_count(n_rounds, upper = 1e6)
  max_choices <- check_count(max_choices, upper = 1e6)
  delay <- check_count(delay, lower = 0)
  threads <- if (has_user_code(object$kernel)) 1L else thread_count(threads)
  n <- nrow(object$candidates)
  if (is.function(f)) f <- f(object$candidates)
  f <- if (is.null(f)) {
    if (n > 10000L) abort_input("`f` cannot be drawn from the prior for more than 10000 candidates. Give the true rewards.", "f")
    matrix(0, n, 0L)
  } else {
    check_inputs(f, "f", min_rows = n)
  }
  if (ncol(f) > 0L && nrow(f) != n) abort_input(sprintf("`f` must have one value per candidate (%d), but it has %d.", n, nrow(f)), "f")
  if (ncol(f) > 1L && ncol(f) != nsim) abort_input(sprintf("`f` must have one column, or one per run (%d), but it has %d.", nsim, ncol(f)), "f")
  most <- min(max_choices, as.double(n_rounds) * object$batch_size)
  simulation <- list(delay = delay, n_rounds = n_rounds, max_choices = most, nsim = nsim, threads = threads, f = unname(f))
  found <- core_bandit_simulate(object, bandit_settings(object, most), simulation, core_seed(), progress_bar("runs"))
  steps <- seq_len(nrow(found$regret))
  average <- apply(found$regret, 2L, cumsum) / steps
  simple <- apply(found$regret, 2L, cummin)
  shape <- function(m) matrix(m, length(steps), nsim)
  new_fit("bandit_sim", choice = found$choice, round = found$round, regret = found$regret, reward = found$reward, average = shape(average),
          simple = shape(simple), solves = found$solves, strategy = object$strategy, delay = delay, n_rounds = n_rounds,
          call = match.call(), convergence = list())
}

#' @rdname granary_bandit_sim
#' @export
print.granary_bandit_sim <- function(x, ...) {
  cli::cat_line("granary: ", ncol(x$regret), " simulated searches by ", x$strategy, ", ", x$n_rounds, " rounds",
                if (x$delay > 0) paste0(", results ", x$delay, " rounds later") else "")
  steps <- unique(pmax(1L, round(nrow(x$regret) * c(0.1, 0.25, 0.5, 1))))
  table <- rbind("average regret" = rowMeans(x$average[steps, , drop = FALSE], na.rm = TRUE),
                 "simple regret" = rowMeans(x$simple[steps, , drop = FALSE], na.rm = TRUE))
  colnames(table) <- paste("after", steps)
  print(table, digits = 3L)
  invisible(x)
}

#' @rdname granary_bandit_sim
#' @export
plot.granary_bandit_sim <- function(x, type = c("average", "simple"), ...) {
  type <- check_choice(type, c("average", "simple"))
  steps <- seq_len(nrow(x$regret))
  quantiles <- apply(x[[type]], 1L, stats::quantile, c(0.1, 0.5, 0.9), na.rm = TRUE)
  quantiles <- matrix(quantiles, 3L)
  draw(graphics::plot, range(steps), range(0, quantiles), type = "n", xlab = "choices", ylab = paste(type, "regret"), main = x$strategy,
       user = list(...))
  graphics::polygon(c(steps, rev(steps)), c(quantiles[1L, ], rev(quantiles[3L, ])), col = "#2166ac33", border = NA)
  graphics::lines(steps, quantiles[2L, ], col = "#2166ac", lwd = 2)
  graphics::lines(steps, rowMeans(x[[type]], na.rm = TRUE), lty = 2)
  invisible()
}

#' @rdname granary_bandit_sim
#' @export
gp_bandit_compare <- function(..., levels = NULL, weights = seq(0, 1, by = 0.1)) {
  sims <- list(...)
  if (length(sims) == 0L) abort_input("Give the simulations to compare, by name: gp_bandit_compare(one = sim1, batch = sim2).")
  if (!all(vapply(sims, inherits, NA, "granary_bandit_sim"))) abort_input("Every argument but `levels` and `weights` must be a simulated bandit.")
  if (is.null(names(sims)) || any(!nzchar(names(sims)))) abort_input("Every simulation needs a name: gp_bandit_compare(one = sim1, batch = sim2).")
  weights <- check_vector(weights, lower = 0, upper = 1)
  by_round <- lapply(sims, regret_by_round)
  if (is.null(levels)) {
    reached <- range(unlist(lapply(by_round, `[[`, "regret")), na.rm = TRUE)
    lowest <- max(reached[1L], 1e-6 * reached[2L])
    levels <- pmax(exp(seq(log(lowest), log(reached[2L]), length.out = 12L)), lowest)  # rounding must not put the first out of reach
  }
  levels <- check_vector(levels, lower = 0)
  cost <- array(NA_real_, c(length(levels), length(weights), length(sims)),
                list(level = format(levels, digits = 3L), weight = format(weights, digits = 2L), strategy = names(sims)))
  for (s in seq_along(sims)) {
    for (i in seq_along(levels)) {
      tau <- which(by_round[[s]]$regret <= levels[i])[1L]
      if (!is.na(tau)) cost[i, , s] <- (1 - weights) * tau + weights * by_round[[s]]$choices[tau]
    }
  }
  first <- function(v) if (all(is.na(v))) NA_character_ else names(sims)[which.min(v)]
  seal(structure(list(cost = cost, cheapest = apply(cost, 1:2, first), levels = levels, weights = weights), class = "granary_bandit_cost"))
}

# Mean average regret and mean number of choices after each round.
regret_by_round <- function(sim) {
  runs <- seq_len(ncol(sim$regret))
  count <- vapply(runs, function(r) cumsum(tabulate(sim$round[, r], sim$n_rounds)), numeric(sim$n_rounds))
  count <- matrix(count, sim$n_rounds)
  regret <- vapply(runs, function(r) c(NA, sim$average[, r])[count[, r] + 1L], numeric(sim$n_rounds))
  list(regret = rowMeans(matrix(regret, sim$n_rounds)), choices = rowMeans(count))
}

#' @rdname granary_bandit_sim
#' @export
print.granary_bandit_cost <- function(x, ...) {
  cli::cat_line("cheapest strategy by average regret to be reached (rows) and weight of a choice against a round (columns)")
  print(x$cheapest, quote = FALSE)
  invisible(x)
}

#' @rdname granary_bandit_sim
#' @export
plot.granary_bandit_cost <- function(x, ...) {
  names <- dimnames(x$cost)$strategy
  code <- matrix(match(x$cheapest, names), length(x$levels))
  colours <- grDevices::hcl.colors(max(2L, length(names)), "Dark 3")[seq_along(names)]
  old <- graphics::par(mar = c(5, 5, 4, 2) + 0.1, xpd = NA)
  on.exit(graphics::par(old))
  draw(graphics::image, seq_along(x$weights), seq_along(x$levels), t(code), col = colours, zlim = c(1, max(2, length(names))), axes = FALSE,
       xlab = "weight of a choice", ylab = "", main = "cheapest strategy", user = list(...))
  graphics::title(ylab = "average regret", line = 4)
  graphics::axis(1, seq_along(x$weights), dimnames(x$cost)$weight)
  graphics::axis(2, seq_along(x$levels), dimnames(x$cost)$level, las = 1)
  graphics::legend("topright", names, fill = colours, bty = "n", horiz = TRUE, inset = c(0, -0.1))
  invisible()
}
