#' Hidden Markov models of many sequences, with case weights
#'
#' A Gaussian hidden Markov model for one or many sequences of numbers: states that follow one another, each with a mean
#' and a covariance. Sequences may have weights, transitions may be forbidden, rows may be missing.
#'
#' @details
#' With sequences \eqn{x_i} of lengths \eqn{T_i} and weights \eqn{w_i}{w_i}, the weighted log-likelihood
#' \deqn{\ell(\theta) = \sum_i w_i \log \sum_z \pi_{z_1} \prod_{t > 1} A_{z_{t-1} z_t} \prod_t N(x_{it}; \mu_{z_t},
#' \Sigma_{z_t})}{ l(theta) = sum_i w_i log sum_z pi_z1 prod_(t > 1) A_(z_(t-1), z_t) prod_t N(x_it; mu_zt, Sigma_zt)}
#' is raised by Baum and Welch's iterations with weights: every expected count is multiplied by \eqn{w_i}. Whole weights
#' are copies of a sequence, weight 0 leaves it out, and a common factor changes nothing but the scale of \eqn{\ell}{l}.
#' `forward = "hard"` gives each sequence its best path in every iteration (Viterbi training), which is no maximum of
#' the likelihood. `method = "squarem"` leaps along two iterations where the likelihood does not fall.
#'
#' `topology = "left_right"` lets a state be followed by itself or the next, from the first on: for words and gestures.
#' `"forward"` allows every later state, and any may be the first. What is forbidden stays at probability 0.
#'
#' Every covariance is at least `floor` times the variances of the columns. The M-step is the maximum under that bound,
#' so that the likelihood never falls and a state cannot shrink to a point. With `na = "skip"` a row with a missing
#' value says nothing of its state, and time goes on.
#'
#' A fit has converged when the objective changed by less than `tol` of itself over an iteration, and its derivative per
#' row, in units of the model's own standard deviations, is below \eqn{\sqrt{tol}}{sqrt(tol)}; both are computed from
#' what is returned. Where the best path meets densities that a double cannot hold relative to others, the recursions go
#' on in logarithms.
#'
#' States of an ergodic model are in the order of their means of the first column.
#'
#' @section Which method when: `hmm_fit()` for sequences of numbers, with weights, gaps or forbidden transitions;
#'   [em_fit()] for counts and categories, for incremental steps and for a prior; [hmm_select()] for the number of
#'   states; [hmm_classifier()] where sequences have classes; [co_boost()] where they are seen in several views.
#'
#' @param x One sequence (a numeric vector, matrix or data frame, one row per time), a list of sequences, or rows of all
#'   sequences with `id`.
#' @param k Number of states.
#' @param covariance Covariances of the states: `"diagonal"`, `"full"` and `"spherical"` differ between states, `"tied"`
#'   is one for all.
#' @param topology Which states may follow a state.
#' @param id For rows of several sequences in one table: the sequence of each row, or the name of the column that says
#'   it. Rows of a sequence stand in order.
#' @param weights Weights of the sequences; `NULL` for one each.
#' @param na `"error"`, or `"skip"` for rows that say nothing.
#' @param method Plain or accelerated iterations.
#' @param forward Expected states, or the best path.
#' @param start `"segments"` cuts every sequence into `k` equal parts, `"kmeans"` clusters the rows; or a fit made
#'   before. `NULL`: `"kmeans"` for `"ergodic"`, else `"segments"`.
#' @param n_starts Number of starts from `"kmeans"`.
#' @param floor Smallest covariance, as a share of the variances of the columns.
#' @param tol,max_iter When to stop.
#' @param threads Number of threads; default `getOption("granary.threads")`.
#' @return An object of class `granary_hmm`, a [granary_clustering] of the rows: `initial`, `transition`, `centers`,
#'   `covariance` (a list), `cluster` (best path), `membership`, `sizes` (expected weighted rows), `loglik`, `df`,
#'   `sequence_loglik`, `trace`, `model` (as compiled code keeps it).
#' @references
#' Wu, J. and Cheng, J. (2014). Bayesian co-boosting for multi-modal gesture recognition. *Journal of Machine Learning
#' Research* 15, 3013-3036.
#'
#' Rabiner, L. R. (1989). A tutorial on hidden Markov models and selected applications in speech recognition.
#' *Proceedings of the IEEE* 77, 257-286.
#' @seealso [hmm_select()], [hmm_classifier()], [co_boost()], [em_fit()], [granary_clustering]
#' @export
#' @examples
#' set.seed(1)
#' fit <- hmm_fit(beaver1$temp, k = 2)
#' fit
#' plot(fit, newdata = beaver1$temp)
#' table(predict(fit), active = beaver1$activ)
#' simulate(fit, lengths = 5)[[1]]$state
hmm_fit <- function(x, k, covariance = c("diagonal", "full", "spherical", "tied"),
                    topology = c("ergodic", "left_right", "forward"), id = NULL, weights = NULL,
                    na = c("error", "skip"), method = c("em", "squarem"), forward = c("exact", "hard"), start = NULL,
                    n_starts = 5, floor = 1e-3, tol = 1e-8,
                    max_iter = 1000, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(k)) fail_missing("k")
  na <- check_choice(na, c("error", "skip"))
  rows <- sequence_data(x, id, na)
  weights <- check_sequence_weights(weights, length(rows$ids))
  options <- hmm_options(rows, k, covariance, topology, method, forward, start, n_starts, floor, tol, max_iter, threads)
  check_hmm_rows(rows, weights, options)
  found <- core_hmm_fit(plain_rows(rows$x), rows$begin, weights, options, core_seed(),
                        progress_bar("hidden Markov model"))
  fit <- new_hmm(found, rows, weights, options, na, call)
  check_convergence(fit, "Raise `max_iter`, use method = \"squarem\", or fewer states.")
}

check_sequence_weights <- function(weights, n, what = "sequence") {
  if (is.null(weights)) return(numeric())
  if (is.numeric(weights) && length(weights) != n)
    abort_input(sprintf("`weights` must have one number for each %s, %d, but it has %d.", what, n, length(weights)),
                "weights")
  unname(check_case_weights(weights, n))
}

hmm_options <- function(rows, k, covariance, topology, method, forward, start, n_starts, floor, tol, max_iter,
                        threads) {
  options <- list(k = check_count(k, upper = 1000),
                  covariance = check_choice(covariance, c("diagonal", "full", "spherical", "tied")),
                  topology = check_choice(topology, c("ergodic", "left_right", "forward")),
                  floor = check_number(floor, lower = 0, strict_lower = TRUE, upper = 1),
                  n_starts = check_count(n_starts, upper = 1e4),
                  em = list(method = check_choice(method, c("em", "squarem")),
                            forward = check_choice(forward, c("exact", "hard")),
                            tol = check_number(tol, lower = 0, strict_lower = TRUE, upper = 1),
                            max_iter = check_count(max_iter)),
                  threads = thread_count(threads))
  if (options$em$method == "squarem" && options$em$forward == "hard")
    abort_input("method = \"squarem\" leaps along the likelihood, which forward = \"hard\" does not raise.", "method")
  if (inherits(start, "granary_hmm")) {
    check_fit(start)
    same <- start$model$kind == options$covariance && length(start$initial) == options$k &&
      ncol(start$centers) == ncol(rows$x)
    if (!same) abort_input("`start` must be a fit with as many states and columns, and the same kind of covariance.",
                           "start")
    if (start$topology != options$topology)
      abort_input(sprintf("`start` has the topology \"%s\", not \"%s\".", start$topology, options$topology), "start")
    return(c(options, list(start = "parameters", model = start$model)))
  }
  c(options, list(start = if (is.null(start)) if (options$topology == "ergodic") "kmeans" else "segments" else
                  check_choice(start, c("segments", "kmeans"))))
}

check_hmm_rows <- function(rows, weights, options) {
  used <- if (length(weights) > 0L) rep(weights > 0, diff(rows$begin)) else rep(TRUE, nrow(rows$x))
  whole <- sum(used & !is.na(rowSums(rows$x)))
  if (whole == 0L) abort_input("No row without missing values has a positive weight: nothing can be learnt.", "x")
  if (options$k > whole) {
    abort_input(sprintf("`k` must be at most the number of rows that count, %d, not %d.", whole, options$k), "k")
  }
  longest <- max(diff(rows$begin)[if (length(weights) > 0L) weights > 0 else TRUE])
  if (options$topology == "left_right" && options$k > longest) {
    abort_input(sprintf("`k` must be at most the length of the longest sequence, %d: later states are never reached.",
                        as.integer(longest)), "k")
  }
}

new_hmm <- function(found, rows, weights, options, na, call) {
  k <- length(found$model$initial)
  states <- as.character(seq_len(k))
  names <- colnames(rows$x)
  ways <- core_hmm_states(found$model, plain_rows(rows$x), rows$begin, options$threads, NULL)
  trace <- data.frame(pass = found$trace$pass, loglik = found$trace$loglik, objective = -found$trace$forward)
  lengths <- diff(rows$begin)
  gaps <- sum(is.na(rowSums(rows$x)))
  fit <- new_clustering(
    "hmm", cluster = stats::setNames(ways$path, rownames(rows$x)),
    centers = structure(t(found$model$means), dimnames = list(states, names)), sizes = found$sizes,
    objective = found$loglik, membership = structure(ways$prob, dimnames = list(rownames(rows$x), states)),
    initial = stats::setNames(found$model$initial, states),
    transition = structure(found$model$transition, dimnames = list(from = states, to = states)),
    covariance = hmm_covariances(found$model, names),
    topology = options$topology, covariance_type = options$covariance, ids = rows$ids, lengths = lengths, gaps = gaps,
    listed = rows$listed,
    sequence_loglik = stats::setNames(ways$loglik, rows$ids), loglik = found$loglik, df = found$df,
    observed = found$observed, score = found$score, trace = trace,
    values = found$values, settings = options$em, na = na, weights = if (length(weights) > 0L) weights,
    model = found$model,
    title = sprintf("Gaussian hidden Markov model (%s, %s covariances): %s, %s", sub("_", "-", options$topology),
                    options$covariance, counted(k, "state", "states"),
                    counted(length(rows$ids), "sequence", "sequences")),
    measure = "Log-likelihood", call = call, convergence = found$convergence
  )
  fit$n <- length(rows$ids)
  seal(fit)
}

hmm_covariances <- function(model, names) {
  k <- length(model$initial)
  p <- nrow(model$means)
  numbers <- model$covariance
  one <- function(h) {
    m <- switch(model$kind, full = matrix(numbers[(h - 1) * p * p + seq_len(p * p)], p), tied = matrix(numbers, p),
                diagonal = diag(numbers[(h - 1) * p + seq_len(p)], p), spherical = diag(numbers[h], p))
    structure(m, dimnames = list(names, names))
  }
  stats::setNames(lapply(seq_len(k), one), seq_len(k))
}
