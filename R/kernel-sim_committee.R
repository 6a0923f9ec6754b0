#' Train soft committee machines on random problems
#'
#' Trains the network whose learning curve [committee_curve()] predicts, on `n_rep` random teachers and training sets, and returns mean and standard
#' error of its errors over time, the
#' overlaps, and how far the student's activations are from normal, the assumption of the theory.
#'
#' The test error is computed from the overlaps, for infinitely many test examples; the training error is that on the `p = round(alpha * N)`
#' examples. The teacher's weight vectors
#' are random with exactly the overlaps `teacher`; the student starts with independent normal weights of variance `q0`. Runs are shared among
#' threads; the result depends on `set.seed()` but not on the number of threads.
#'
#' @section Which method when:
#' Where [committee_curve()] is exact (linear networks, `alpha = Inf`), or good (`alpha` of 3 or more, short times), it is faster by orders of
#' magnitude and free of noise. Simulate otherwise.
#'
#' @inheritParams committee_curve
#' @param N Number of inputs.
#' @param t Times, in updates per input, ascending.
#' @param n_rep Number of runs.
#' @param q0 Variance of the student's weights at the start.
#' @param same_set Whether all runs share teacher, examples and start and differ in the order of the examples only: the variance over training
#'   histories rather than over training sets.
#' @param threads Number of threads. `NULL` stands for `getOption("granary.threads")`.
#' @return A fit of class `granary_committee_simulation` with `t`, `test`, `test_se`, `train`, `train_se`, the matrices `test_runs` and `train_runs`
#'   (times in rows, runs in columns), mean overlaps `Q` and `R`,
#'   `kurtosis` (excess kurtosis of each hidden unit's activation over the training set at the end, units in rows, runs in columns), `activations`
#'   (those of the first unit in the first run), `n_rep` and `settings`.
#'   For `alpha = Inf` there is no training set, and what belongs to it is `NULL`. `assess()`: a data frame with `t`, `theory`, `simulation`,
#'   `se`, the difference `gap` and `z`, the gap in standard errors.
#' @inherit committee_curve references
#' @seealso [committee_curve()], [sgd_curve()], [sgd_exact()], [sgd_optimize()], [sgd_bounds()], [sgd_data()]
#' @export
#' @examples
#' set.seed(1)
#' run <- sim_committee(N = 50, alpha = 3, eta = 1, noise = c(0.01, 0.01), t = c(0, 5, 20),
#'                           n_rep = 10)
#' run
#' theory <- committee_curve(alpha = 3, eta = 1, noise = c(0.01, 0.01), t = seq(0, 20, 0.5))
#' assess(theory, truth = run)
#' plot(theory, run)
#' plot(run, type = "activations")
sim_committee <- function(N, alpha, eta, L = 1, M = L, noise = c(output = 0, activation = 0), teacher = diag(M),
                               t = seq(0, 20, by = 1), n_rep = 10, q0 = 0.25, activation = c("erf", "linear"),
                               noisy_test = TRUE, same_set = FALSE, threads = NULL, ...) {
  refuse_dots(...)
  N <- check_count(N)
  settings <- check_committee(alpha, eta, L, M, noise, teacher, activation, noisy_test)
  if (N < settings$M) abort_input(sprintf("`N` must be at least `M` (%d): the teacher's weight vectors would not fit.", settings$M), "N")
  t <- check_times(t)
  n_rep <- check_count(n_rep, upper = 1e7)
  q0 <- check_number(q0, lower = 0, upper = 1e6)
  same_set <- check_flag(same_set)
  p <- if (is.finite(settings$alpha)) max(1, round(settings$alpha * N)) else 0
  check_work(N, p, max(t) * N * settings$L, "alpha")
  model <- committee_setting(settings)
  model$alpha <- Inf  # the examples themselves say how many there are
  how <- list(N = N, p = p, q0 = q0, same_set = same_set, n_rep = n_rep, threads = thread_count(threads))
  found <- core_committee_simulate(model, how, t, core_seed(), progress_bar("runs"))
  settings <- c(list(N = N, p = p), settings, list(q0 = q0, same_set = same_set))
  finite <- p > 0
  found$kurtosis[!is.finite(found$kurtosis)] <- NA
  new_simulation("committee_simulation", t, found, n_rep, settings, match.call(), Q = as_overlaps(found$q, settings$L),
                 R = as_overlaps(found$r, settings$L), kurtosis = if (finite) found$kurtosis, activations = if (finite) found$activations)
}

#' @rdname sim_committee
#' @param object A curve of [committee_curve()] or [sgd_curve()].
#' @param truth A result of `sim_committee()` or [sim_sgd()].
#' @export
assess.granary_learning_curve <- function(object, truth, ...) {
  refuse_dots(...)
  if (missing(truth)) fail_missing("truth")
  if (!inherits(object, c("granary_committee_curve", "granary_sgd_curve"))) {
    fail_input("object", "a curve from committee_curve() or sgd_curve()", describe(object))
  }
  check_fit(object)
  if (!inherits(truth, c("granary_committee_simulation", "granary_sgd_simulation"))) {
    fail_input("truth", "a result of sim_committee() or sim_sgd()", describe(truth))
  }
  check_fit(truth)
  simulation <- truth
  if (length(simulation$test) == 0L) abort_input("`truth` must have a test error: give newdata and newy to sgd_data().", "truth")
  expected <- predict(object, simulation$t)$test
  gap <- simulation$test - expected
  gap[is.nan(gap)] <- NA
  z <- gap / simulation$test_se
  z[!is.finite(z)] <- NA
  data.frame(t = simulation$t, theory = expected, simulation = simulation$test, se = simulation$test_se, gap = gap, z = z)
}

#' @rdname sim_committee
#' @param x A simulation.
#' @export
print.granary_committee_simulation <- function(x, ...) {
  s <- x$settings
  cli::cat_line("granary: ", counted(x$n_rep, "run", "runs"), " of a soft committee machine, N = ", s$N, ", ",
                if (s$p > 0) paste(s$p, "examples") else "a new example per update")
  cli::cat_line(describe_committee(s))
  print_curve_points(x)
  last <- length(x$t)
  cli::cat_line("standard error of the last test error ", format(x$test_se[last], digits = 2L))
  if (!is.null(x$kurtosis)) {
    cli::cat_line("mean excess kurtosis of the activations at the end ", format(mean(x$kurtosis), digits = 3L), " (0 under the theory)")
  }
  invisible(x)
}

#' @rdname sim_committee
#' @param type For `plot()`: the errors, or a histogram of the activations of one hidden unit over the training set with the normal density of the
#'   same variance.
#' @param ... For `plot()`: further curves to draw into the same picture, and graphical parameters. Otherwise not used.
#' @export
plot.granary_committee_simulation <- function(x, ..., type = c("errors", "activations")) {
  type <- check_choice(type, c("errors", "activations"))
  extra <- list(...)
  is_curve <- vapply(extra, inherits, NA, "granary_learning_curve")
  if (type == "errors") return(draw_learning_curves(c(list(x), extra[is_curve]), "both", extra[!is_curve]))
  if (is.null(x$activations)) abort_input("`type` must be \"errors\": without a training set there are no activations on it.", "type")
  draw(graphics::hist, x$activations, freq = FALSE, breaks = "FD", col = "grey85", border = "white", main = "",
       xlab = "activation of the first hidden unit, training set", user = extra[!is_curve])
  at <- seq(min(x$activations), max(x$activations), length.out = 200L)
  graphics::lines(at, stats::dnorm(at, mean(x$activations), stats::sd(x$activations)), lty = 2, lwd = 2)
  invisible()
}
