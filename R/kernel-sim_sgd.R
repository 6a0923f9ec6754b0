#' Run stochastic gradient descent on random problems
#'
#' Runs the descent whose learning curve [sgd_curve()] predicts, for `n_rep` random teachers and training sets, and returns mean and standard error
#' of the test and
#' training error over time. Beyond the theory it takes finite `N`, Gaussian inputs, and examples in cyclic or shuffled order.
#'
#' The model and the update are those of [sgd_curve()], with `p = round(alpha * N)` examples. Runs are shared among threads; each draws from its own
#' stream of random numbers, so the
#' result depends on `set.seed()` but not on the number of threads.
#'
#' @section Which method when:
#' [sgd_curve()] answers at once and without noise, for large `N` and draws with replacement. Simulate to see how far a network of your size
#' deviates from it, and what
#' another order does. [sgd_exact()] has the mean over all orders for one given training set.
#'
#' @inheritParams sgd_curve
#' @param N Number of weights.
#' @param n_rep Number of runs.
#' @param inputs `"sphere"`: inputs of length \eqn{\sqrt N}{sqrt(N)}, as in the paper; `"gaussian"`: independent normals.
#' @param order `"replacement"`: each update draws an example; `"cyclic"`: always in the same order; `"shuffled"`: in a new order at every pass;
#'   `"full"`: the full gradient once per pass.
#' @param threads Number of threads. `NULL` stands for `getOption("granary.threads")`.
#' @return A fit of class `granary_sgd_simulation` with `t`, `test`, `test_se`, `train`, `train_se`, the matrices `test_runs` and `train_runs`
#'   (times in rows, runs in columns), `n_rep` and
#'   `settings`.
#' @inherit sgd_curve references
#' @seealso [sgd_curve()], [sgd_optimize()], [sgd_bounds()], [sgd_exact()], [sgd_data()], [committee_curve()]
#' @export
#' @examples
#' set.seed(1)
#' run <- sim_sgd(N = 50, alpha = 2, eta = 1, lambda = 0.1, noise_var = 0.1, t = 0:10, n_rep = 10)
#' run
#' shuffled <- sim_sgd(50, 2, 1, 0.1, t = 0:10, n_rep = 10, order = "shuffled")
#' plot(run, shuffled, sgd_curve(2, 1, 0.1, t = seq(0, 10, 0.1)), type = "test")
sim_sgd <- function(N, alpha, eta, lambda = 0, noise_var = 0.1, t = seq(0, 10, by = 0.5), n_rep = 20, inputs = c("sphere", "gaussian"),
                         order = c("replacement", "cyclic", "shuffled", "full"), threads = NULL, ...) {
  refuse_dots(...)
  N <- check_count(N)
  settings <- check_sgd(alpha, eta, lambda, noise_var)
  t <- check_times(t)
  n_rep <- check_count(n_rep, upper = 1e7)
  inputs <- check_choice(inputs, c("sphere", "gaussian"))
  order <- check_choice(order, c("replacement", "cyclic", "shuffled", "full"))
  p <- max(1, round(settings$alpha * N))
  check_work(N, p, max(t) * N, "alpha")
  settings <- c(list(N = N, p = p), settings, list(inputs = inputs, order = order))
  how <- c(settings[c("N", "p", "eta", "lambda", "noise_var", "inputs", "order")], list(n_rep = n_rep, threads = thread_count(threads)))
  found <- core_sgd_simulate(how, t, core_seed(), progress_bar("runs"))
  new_simulation("sgd_simulation", t, found, n_rep, settings, match.call())
}

new_simulation <- function(class, t, runs, n_rep, settings, call, ...) {
  test <- replicate_summary(runs$test)
  train <- replicate_summary(runs$train)
  new_fit(c(class, "learning_curve"), t = t, test = test$mean, test_se = test$se, train = train$mean, train_se = train$se, test_runs = runs$test,
          train_runs = runs$train, n_rep = n_rep, settings = settings, ..., call = call, convergence = list())
}

# Refuses what would not fit into memory or end within a day.
check_work <- function(N, p, updates, arg) {
  if (as.double(N) * p > 2^28) {
    abort_input(sprintf("`%s` asks for %s examples of %s inputs, too many to hold in memory. Use a smaller network or fewer examples.", arg,
                        format(p), format(N)), arg)
  }
  if (updates * N > 1e14 || updates > 2e9) {
    abort_input(sprintf("`t` asks for %s updates per run. Use a smaller network or a shorter time.", format(updates, digits = 3L)), "t")
  }
}

#' @rdname sim_sgd
#' @param x A simulation.
#' @param ... Not used; see [plot.granary_learning_curve()] for what `plot()` takes.
#' @export
print.granary_sgd_simulation <- function(x, ...) {
  s <- x$settings
  cli::cat_line("granary: ", counted(x$n_rep, "run", "runs"), " of gradient descent, N = ", s$N, ", ", s$p, " examples, order: ", s$order)
  cli::cat_line(describe_sgd(s))
  print_curve_points(x)
  last <- length(x$t)
  if (length(x$test) > 0L) cli::cat_line("standard error of the last test error ", format(x$test_se[last], digits = 2L))
  invisible(x)
}
