#' How many rounds, columns and states?
#'
#' Chooses the number of rounds, the share of the columns and the number of states of [co_boost()] by cross-validation.
#'
#' @details For every pair of `k` and `share` one ensemble of `max(n_rounds)` rounds is grown on all folds but one, and
#'   its answers after each number of rounds are judged on that one. The criterion is the share of cases put into the
#'   wrong class; rule `"1se"` prefers fewer rounds. Cases of a class are spread evenly over the folds.
#'
#' @section Which method when: Where the number of states or of rounds matters and cases are few; boosting over several
#'   views is rarely hurt by more rounds. [hmm_select()] chooses the states of a single model by a criterion of its
#'   likelihood.
#'
#' @inheritParams co_boost
#' @param n_rounds,share,k Values to try.
#' @param folds A number, or the fold of every case.
#' @param selection Rule that picks: the smallest error, or the fewest rounds within one standard error of it.
#' @param ... Further arguments of [co_boost()].
#' @return A [granary_selection]: `fit`, an ensemble at the chosen values, and `table` with `n_rounds`, `share`, `k`,
#'   `estimate`, `std.error`.
#' @references
#' Wu, J. and Cheng, J. (2014). Bayesian co-boosting for multi-modal gesture recognition. *Journal of Machine Learning
#' Research* 15, 3013-3036.
#' @seealso [co_boost()], [granary_selection]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_co_boost(n = 6, n_test = 0, n_classes = 2, p = 4, length = 1, states = 1)
#' choice <- co_boost_select(sim$x, sim$y, n_rounds = c(2, 5), share = c(0.25, 0.5), folds = 3)
#' choice
co_boost_select <- function(x, y, n_rounds = c(5, 10, 20), share = 0.2, k = 5, folds = 10, selection = c("min", "1se"),
                            views = NULL, rule = c("vote", "posterior"), weights = NULL, na = c("error", "skip"), ...) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  whole <- function(v, arg) {
    v <- check_vector(v, arg, lower = 1, upper = 1e5)
    if (any(v != round(v)) || anyDuplicated(v) > 0L) fail_input(arg, "different whole numbers", describe(v))
    sort(unname(v))
  }
  n_rounds <- whole(n_rounds, "n_rounds")
  k <- whole(k, "k")
  share <- check_vector(share, "share", lower = 0, strict_lower = TRUE, upper = 1)
  share <- unname(share)
  selection <- check_choice(selection, c("min", "1se"))
  rule <- check_choice(rule, c("vote", "posterior"))
  na <- check_choice(na, c("error", "skip"))
  data <- view_data(x, views, na)
  classes <- case_classes(y, data$n)
  weights <- check_sequence_weights(weights, data$n, "case")
  fold <- fusion_folds(folds, classes, weights, data$n)
  y <- factor(classes$levels[classes$y + 1], classes$levels)
  given <- stats::setNames(lapply(data$views, split_cases), data$names)
  fit_cases <- function(i, keep, grid) {
    w <- if (length(weights) > 0L) weights[keep]
    suppressMessages(co_boost.default(lapply(given, take_cases, keep), y[keep], n_rounds = max(n_rounds),
                                      share = grid$share[i],
                                      k = grid$k[i], rule = rule, weights = w, na = na, ...))
  }
  grid <- expand.grid(share = share, k = k)
  tasks <- expand.grid(i = seq_len(nrow(grid)), fold = sort(unique(fold)))
  wrong <- resample_lapply(seq_len(nrow(tasks)), function(t) {
    out <- fold == tasks$fold[t]
    fit <- fit_cases(tasks$i[t], which(!out), grid)
    staged <- stats::predict(fit, lapply(given, take_cases, which(out)), type = "staged", na = na)
    w <- if (length(weights) > 0L) weights[out] else rep(1, sum(out))
    missed <- vapply(pmin(n_rounds, length(staged)), function(r) {
      answer <- if (r == 0L) fit$levels[1L] else as.character(staged[[r]])
      sum(w * (answer != as.character(y[out])))
    }, 0)
    c(missed, sum(w))
  }, "folds")
  wrong <- do.call(rbind, wrong)
  table <- do.call(rbind, lapply(seq_len(nrow(grid)), function(i) {
    own <- wrong[tasks$i == i, , drop = FALSE]
    total <- own[, ncol(own)]
    share_wrong <- own[, seq_along(n_rounds), drop = FALSE] / total
    error <- colSums(own[, seq_along(n_rounds), drop = FALSE]) / sum(total)
    data.frame(n_rounds = n_rounds, share = grid$share[i], k = grid$k[i], estimate = error,
               std.error = apply(share_wrong, 2L, stats::sd) / sqrt(nrow(own)))
  }))
  out <- new_selection("co_boost", NULL, table, rule = selection, measure = "share misclassified",
                       simplicity = -table$n_rounds,
                       folds = fold, call = call, convergence = list())
  best <- table[out$selected, ]
  w <- if (length(weights) > 0L) weights
  out$fit <- co_boost.default(x, y, views = views, n_rounds = best$n_rounds, share = best$share, k = best$k,
                              rule = rule,
                              weights = w, na = na, ...)
  out$convergence <- out$fit$convergence
  seal(out)
}

# A view case by case, and the cases that are wanted.
split_cases <- function(view) {
  if (!view$listed) return(view$x)
  cases <- lapply(seq_along(view$ids), function(i) view$x[(view$begin[i] + 1):view$begin[i + 1L], , drop = FALSE])
  stats::setNames(cases, view$ids)
}

take_cases <- function(view, keep) if (is.list(view)) view[keep] else view[keep, , drop = FALSE]
