#' Classes of sequences by one hidden Markov model for each
#'
#' Fits a Gaussian hidden Markov model to the sequences of every class and gives a new sequence the class under which it
#' is likeliest.
#'
#' @details
#' \deqn{h(x) = \arg\max_c \left[ \log p(x; \theta_c) + \log \pi_c \right]}{h(x) = argmax_c [log p(x; theta_c) + log
#' pi_c]} with equal \eqn{\pi_c}{pi_c} unless `prior` says otherwise. Probabilities are the shares of \eqn{\pi_c p(x;
#' \theta_c)}{pi_c p(x; theta_c)}, taken in logarithms; a sequence that no class can give rise to has the prior.
#' Covariances are at least `floor` times the variances of the columns over all classes. A class with fewer rows than
#' `k`, or for `topology = "left_right"` and `"forward"` with shorter sequences, gets fewer states. Sequences of length
#' one are allowed: the model is then a mixture of Gaussians.
#'
#' Every model is fitted as by [hmm_fit()], with at most `max_iter` iterations; 20, as in the paper, are usually enough
#' to classify, and no warning is given where the last of them still moved. `print()` says how many models have
#' converged.
#'
#' @section Which method when: For sequences of numbers of different lengths whose course tells the classes apart;
#'   [co_boost()] where there are several views or many columns that say nothing; [svm()] with [k_string()] for
#'   sequences of symbols. With one row per case: [lasso()], [forest()], [svm()].
#'
#' @inheritParams hmm_fit
#' @param x A list of sequences (matrices with one row per time, or vectors), or rows of all sequences with `id`.
#' @param y The class of each sequence.
#' @param k Number of states of every model.
#' @param prior `"equal"`, `"cases"` for the weighted shares of the classes, or probabilities, named by class.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_hmm_classifier`: `member` (the models as compiled code keeps them), `models` (a
#'   data frame, one row per class), `fitted`, `posterior`, `levels`.
#' @references
#' Wu, J. and Cheng, J. (2014). Bayesian co-boosting for multi-modal gesture recognition. *Journal of Machine Learning
#' Research* 15, 3013-3036.
#' @seealso [hmm_fit()], [co_boost()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_co_boost(n = 10, n_test = 5, n_classes = 3)
#' fit <- hmm_classifier(sim$x[[1]], sim$y, k = 4, topology = "left_right")
#' fit
#' assess(fit, newdata = sim$newx[[1]], newy = sim$newy)
#' plot(fit)
hmm_classifier <- function(x, y, k = 5, covariance = c("diagonal", "full", "spherical", "tied"),
                           topology = c("ergodic", "left_right", "forward"), id = NULL,
                           weights = NULL, prior = "equal", na = c("error", "skip"), forward = c("exact", "hard"),
                           start = c("segments", "kmeans"), floor = 1e-3, tol = 1e-6,
                           max_iter = 20, threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  na <- check_choice(na, c("error", "skip"))
  rows <- sequence_data(x, id, na)
  n <- length(rows$ids)
  classes <- case_classes(y, n)
  weights <- check_sequence_weights(weights, n)
  options <- list(classes = length(classes$levels),
                  learner = chain_options(k, covariance, topology, start, forward, max_iter, tol, floor),
                  threads = thread_count(threads))
  shares <- class_shares(prior, classes, weights)
  options$prior <- shares
  check_class_rows(rows, classes, weights, "x")
  found <- core_hmm_classifier(list(x = plain_rows(rows$x), begin = rows$begin), classes$y + 1, weights, options,
                               core_seed(), progress_bar("models of the classes"))
  scores <- core_hmm_class_scores(found$member, list(x = plain_rows(rows$x), begin = rows$begin), options$threads, NULL)
  table <- convergence_table(found$convergence)
  size <- as.vector(table(factor(classes$y, seq_along(classes$levels) - 1)))
  fit <- new_fit(
    "hmm_classifier", member = found$member,
    models = data.frame(class = classes$levels, cases = size, states = as.integer(found$states), loglik = found$loglik,
                        df = found$df, converged = table$converged, iterations = table$iterations),
    levels = classes$levels, columns = colnames(rows$x),
    prior = stats::setNames(exp(found$member$log_prior) / sum(exp(found$member$log_prior)), classes$levels),
    posterior = structure(scores$posterior, dimnames = list(rows$ids, classes$levels)),
    fitted = stats::setNames(factor(classes$levels[scores$best], classes$levels), rows$ids),
    y = factor(classes$levels[classes$y + 1], classes$levels), settings = options$learner, ids = rows$ids,
    lengths = diff(rows$begin), na = na, n = n,
    weights = if (length(weights) > 0L) weights, call = call,
    convergence = list(converged = NA, iterations = max(table$iterations), residual = max(found$score),
                       seconds = sum(table$seconds), message = "", reason = "iterations")
  )
  fit
}

# What a hidden Markov model of a class may be told.
chain_options <- function(k, covariance, topology, start, forward, max_iter, tol, floor) {
  list(learner = "hmm", k = check_count(k, "k", upper = 1000),
       covariance = check_choice(covariance, c("diagonal", "full", "spherical", "tied"), "covariance"),
       topology = check_choice(topology, c("ergodic", "left_right", "forward"), "topology"),
       start = check_choice(start, c("segments", "kmeans"), "start"),
       forward = check_choice(forward, c("exact", "hard"), "forward"), max_iter = check_count(max_iter, "max_iter"),
       tol = check_number(tol, "tol", lower = 0, strict_lower = TRUE, upper = 1),
       floor = check_number(floor, "floor", lower = 0, strict_lower = TRUE, upper = 1))
}

case_classes <- function(y, n, arg = "y") {
  if (is.atomic(y) && is.null(dim(y)) && length(y) != n)
    abort_input(sprintf("`%s` must have one label per case, %d, but it has %d.", arg, n, length(y)), arg)
  tree_classes(y, n, arg)
}

class_shares <- function(prior, classes, weights) {
  k <- length(classes$levels)
  if (is.character(prior) || is.null(prior)) {
    word <- check_choice(prior, c("equal", "cases"), "prior")
    if (word == "equal") return(numeric())
    w <- if (length(weights) > 0L) weights else rep(1, length(classes$y))
    return(vapply(seq_len(k), function(c) sum(w[classes$y == c - 1]), 0))
  }
  prior <- check_vector(prior, "prior", length = k, lower = 0, strict_lower = TRUE)
  if (!is.null(names(prior))) {
    if (!setequal(names(prior), classes$levels))
      abort_input(sprintf("The names of `prior` must be the classes, %s.",
                          paste0("\"", classes$levels, "\"", collapse = ", ")), "prior")
    prior <- prior[classes$levels]
  }
  unname(prior / sum(prior))
}

# Every class needs a case that counts, with a row whose values are there.
check_class_rows <- function(rows, classes, weights, arg) {
  counts <- if (length(weights) > 0L) weights > 0 else rep(TRUE, length(classes$y))
  whole <- rowSums(is.na(rows$x)) == 0
  case <- rep(seq_along(rows$ids), diff(rows$begin))
  for (c in seq_along(classes$levels)) {
    mine <- classes$y == c - 1 & counts
    if (!any(mine)) abort_input(sprintf("Class \"%s\" has no case of positive weight.", classes$levels[c]), "weights")
    if (!any(whole[mine[case]])) abort_input(sprintf("Class \"%s\" has no row without missing values in `%s`.",
                                                     classes$levels[c], arg), arg)
  }
}

#' @rdname hmm_classifier
#' @param object A fit.
#' @param newdata New sequences, as `x`; `NULL` for those of the fit.
#' @param type `"class"`, `"prob"`, or `"link"` for the log-likelihood under each class plus the logarithm of its prior.
#' @export
predict.granary_hmm_classifier <- function(object, newdata = NULL, type = c("class", "prob", "link"), id = NULL,
                                           na = c("error", "skip"), threads = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(if (identical(type, "response")) "class" else type, c("class", "prob", "link"))
  if (is.null(newdata)) {
    if (type == "link") abort_input("type = \"link\" needs `newdata`: the fit keeps the probabilities only.", "newdata")
    return(switch(type, class = object$fitted, prob = object$posterior))
  }
  rows <- sequence_data(newdata, id, check_choice(na, c("error", "skip")), "newdata", columns = object$columns)
  found <- core_hmm_class_scores(object$member, list(x = plain_rows(rows$x), begin = rows$begin),
                                 thread_count(threads), progress_bar("likelihoods"))
  switch(type, class = stats::setNames(factor(object$levels[found$best], object$levels), rows$ids),
         prob = structure(found$posterior, dimnames = list(rows$ids, object$levels)),
         link = structure(found$scores, dimnames = list(rows$ids, object$levels)))
}

#' @export
print.granary_hmm_classifier <- function(x, ...) {
  refuse_dots(...)
  cli::cat_line("Classifier of sequences: one Gaussian hidden Markov model for each of ", length(x$levels), " classes")
  print_call(x$call)
  cli::cat_line(counted(x$n, "sequence", "sequences"), " of ", paste(unique(range(x$lengths)), collapse = " to "),
                " rows, ", counted(length(x$columns), "column", "columns"), "; ",
                paste(unique(range(x$models$states)), collapse = " to "), " states, ",
                sub("_", "-", x$settings$topology), ", ", x$settings$covariance, " covariances")
  cli::cat_line(sprintf("Misclassified of the sequences fitted: %.1f%%", 100 * mean(x$fitted != x$y)))
  cli::cat_line(sum(x$models$converged), " of ", nrow(x$models), " models converged within ", x$settings$max_iter,
                " iterations")
  invisible(x)
}

#' @export
summary.granary_hmm_classifier <- function(object, ...) {
  seal(structure(list(fit = object, models = object$models,
                      confusion = table(class = object$y, predicted = object$fitted)),
                        class = "summary_granary_hmm_classifier"))
}

#' @export
print.summary_granary_hmm_classifier <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  print(format(x$models, digits = 5L), row.names = FALSE)
  cli::cat_line()
  print(x$confusion)
  invisible(x)
}

#' @export
tidy.granary_hmm_classifier <- function(x, ...) {
  do.call(rbind, lapply(seq_along(x$levels), function(c) {
    means <- x$member$chains[[c]]$means
    data.frame(class = x$levels[c], state = rep(seq_len(ncol(means)), each = nrow(means)),
               term = rep(x$columns, ncol(means)), estimate = as.vector(means))
  }))
}

#' @export
glance.granary_hmm_classifier <- function(x, ...) {
  data.frame(n = x$n, classes = length(x$levels), columns = length(x$columns), k = max(x$models$states),
             error = mean(x$fitted != x$y), converged = sum(x$models$converged))
}

#' @rdname hmm_classifier
#' @details `plot()` shows the probability of the right class of every sequence fitted, by class: those below the line
#'   are in doubt or wrong.
#' @export
plot.granary_hmm_classifier <- function(x, ...) {
  table <- classifier_doubt(x)
  at <- as.integer(table$class) + (table$place - 0.5) * 0.7
  right <- table$right
  draw(graphics::plot, at, table$prob, col = ifelse(right, sign_colours[["positive"]], sign_colours[["negative"]]),
       pch = 16, ylim = c(0, 1), xaxt = "n", xlab = "",
       ylab = "probability of the right class", bty = "l", main = "", user = list(...))
  graphics::axis(1L, seq_along(x$levels), x$levels, tick = FALSE)
  graphics::abline(h = 0.5, lty = 3L, col = "grey60")
  invisible(x)
}

classifier_doubt <- function(x) {
  own <- x$posterior[cbind(seq_len(x$n), as.integer(x$y))]
  place <- stats::ave(seq_len(x$n), x$y, FUN = function(i) if (length(i) == 1L) 0.5 else
                      (seq_along(i) - 1) / (length(i) - 1))
  data.frame(class = x$y, prob = own, right = x$fitted == x$y, place = place)
}

#' @rdname hmm_classifier
#' @usage \method{autoplot}{granary_hmm_classifier}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_hmm_classifier <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  table <- classifier_doubt(object)
  table$answer <- ifelse(table$right, "right", "wrong")
  table$at <- as.integer(table$class) + (table$place - 0.5) * 0.7
  gg_canvas(table, ggplot2::aes(.data$at, .data$prob, colour = .data$answer)) + ggplot2::geom_point() +
    ggplot2::scale_x_continuous(breaks = seq_along(object$levels), labels = object$levels) +
    ggplot2::scale_colour_manual(values = c(right = sign_colours[["positive"]], wrong = sign_colours[["negative"]])) +
    ggplot2::labs(x = NULL, y = "probability of the right class", colour = NULL)
}
