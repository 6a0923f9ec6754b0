#' Gestures seen in two views
#'
#' Draws sequences of several classes in several views: in each a left-to-right hidden Markov model moves some of the
#' columns, and all others are noise.
#'
#' @details In every view a class has `states` states with means drawn from N(0, `signal`^2) on its `informative`
#'   columns (the first of the view). A sequence begins in the first state, stays with probability `stay` and moves to
#'   the next else; every column has noise of variance 1. Its length is uniform on `length` and the same in all views.
#'   With `length = 1` and `states = 1` views are ordinary matrices.
#'
#' @section Which method when: To see what [co_boost()] gains by several views and by leaving columns out, and how
#'   [co_boost_baseline()] fares.
#'
#' @param n,n_test Cases per class, to learn from and new.
#' @param n_classes Number of classes.
#' @param n_views Number of views.
#' @param p Columns of each view.
#' @param informative Columns that tell the classes apart.
#' @param states Number of states.
#' @param stay Probability of staying in a state.
#' @param signal Standard deviation of the means of the states.
#' @param length Smallest and largest length.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list with `x` (a list of views, each a list of sequences, or a matrix where `length` is 1), `y`, `newx`,
#'   `newy`, and `informative` (the names of the columns, by view).
#' @references
#' Wu, J. and Cheng, J. (2014). Bayesian co-boosting for multi-modal gesture recognition. *Journal of Machine Learning
#' Research* 15, 3013-3036.
#' @seealso [co_boost()], [hmm_classifier()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_co_boost(n = 3, n_test = 0)
#' dim(sim$x$view1[[1]])
#' table(sim$y)
sim_co_boost <- function(n = 15, n_test = 50, n_classes = 6, n_views = 2, p = 20, informative = min(4, p), states = 4,
                         stay = 0.8, signal = 1, length = c(20, 40), ...) {
  refuse_dots(...)
  n <- check_count(n, upper = 1e5)
  n_test <- check_count(n_test, lower = 0, upper = 1e5)
  n_classes <- check_count(n_classes, lower = 2, upper = 1000)
  n_views <- check_count(n_views, upper = 12)
  p <- check_count(p, upper = 1e4)
  informative <- check_count(informative, lower = 0, upper = p)
  states <- check_count(states, upper = 1000)
  stay <- check_number(stay, lower = 0, upper = 1)
  signal <- check_number(signal, lower = 0)
  length <- check_vector(length, "length", lower = 1, upper = 1e6)
  if (base::length(length) > 2L || any(length != round(length)) || is.unsorted(length))
    fail_input("length", "one whole number, or the smallest and the largest", describe(length))
  range <- c(length[1L], length[base::length(length)])
  names <- paste0("V", seq_len(p))
  means <- lapply(seq_len(n_views), function(v) lapply(seq_len(n_classes),
                                                       function(c) matrix(signal * stats::rnorm(states * informative),
                                                                          states)))
  draw_cases <- function(per_class) {
    class <- rep(seq_len(n_classes), each = per_class)
    lengths <- range[1L] + floor(stats::runif(base::length(class)) * (range[2L] - range[1L] + 1))
    views <- lapply(seq_len(n_views), function(v) lapply(seq_along(class), function(i) {
      state <- pmin(cumsum(c(1, stats::runif(lengths[i] - 1) > stay)), states)
      x <- matrix(stats::rnorm(lengths[i] * p), lengths[i], dimnames = list(NULL, names))
      x[, seq_len(informative)] <- x[, seq_len(informative), drop = FALSE] +
        means[[v]][[class[i]]][state, , drop = FALSE]
      x
    }))
    if (range[2L] == 1) views <- lapply(views, function(view) if (base::length(view) > 0L) do.call(rbind, view)
      else matrix(0, 0L, p, dimnames = list(NULL, names)))
    list(x = stats::setNames(views, paste0("view", seq_len(n_views))),
         y = factor(letters_for(n_classes)[class], letters_for(n_classes)))
  }
  train <- draw_cases(n)
  test <- draw_cases(n_test)
  list(x = train$x, y = train$y, newx = test$x, newy = test$y,
       informative = stats::setNames(rep(list(names[seq_len(informative)]), n_views), paste0("view", seq_len(n_views))))
}

letters_for <- function(k) if (k <= 26L) letters[seq_len(k)] else sprintf(paste0("c%0", nchar(k), "d"), seq_len(k))
