#' Learn from mistakes only
#'
#' Turns any online classifier into its mistake-driven version: the state changes only after a wrong prediction, as if all other trials had not been.
#' Littlestone
#' and Mesterharm (1996) use the conversion to make SASB from SBSB; it makes many learners sturdier when their assumptions do not hold.
#'
#' @details
#' The state before a trial is kept when the prediction is right. Runs of right predictions are found by predicting whole blocks of rows with the
#' state they
#' leave unchanged, so the cost is about that of predicting, plus one step of learning per mistake.
#'
#' @section Which method when:
#' `sasb(mistake_driven = TRUE)` and `online_naive_bayes(mistake_driven = TRUE)` do the same faster; this is for any other
#' learner.
#' Perceptrons and Winnow are mistake-driven already, and so are unchanged.
#'
#' @param learner A function such as [sasb] or [budget_perceptron] that makes an online classifier, to start afresh; or a fit, to go on from.
#' @param x,y Data, as for the learner.
#' @param levels The classes; `NULL` to take them from `y` (or from the fit).
#' @param shuffle Whether to visit the rows in random order.
#' @param ... Passed on to `learner`.
#' @return An object of class `granary_mistake_driven`, a [granary_online_classifier]; `learner` is the classifier inside.
#' @references
#' Littlestone and Mesterharm (1996). An apobayesian relative of Winnow. *Advances in Neural Information Processing Systems* 9, 204--210.
#' @seealso [sasb()], [winnow()], [weighted_majority()], [lasvm()], [budget_perceptron()], [kernel_perceptron()]
#' @export
#' @examples
#' set.seed(1)
#' data <- sim_sasb(500, n = 20, k = 5, p = 0.1)
#' wrapped <- mistake_driven(sasb, data$x, data$y, mistake_driven = FALSE)
#' wrapped
#' wrapped$mistakes == sasb(data$x, data$y)$mistakes
mistake_driven <- function(learner, x, y = NULL, levels = NULL, shuffle = FALSE, ...) {
  call <- match.call()
  if (missing(learner)) fail_missing("learner")
  if (missing(x)) fail_missing("x")
  if (inherits(learner, "granary_online_classifier")) {
    refuse_dots(...)
    inner <- learner
  } else if (is.function(learner)) {
    levels <- online_levels(levels, labels_given(x, y))
    inner <- tryCatch(learner(function() NULL, levels = levels, ...), error = function(e) {  # a source without pieces: nothing is learnt
      if (inherits(e, "granary_error")) stop(e)
      abort_input(paste0("`learner` must be a function that makes an online classifier, but it failed: ", conditionMessage(e), "."), "learner")
    })
    if (!inherits(inner, "granary_online_classifier")) {
      fail_input("learner", "a function that makes an online classifier", paste("one that makes", describe(inner)))
    }
    check_fit(inner)
  } else {
    fail_input("learner", "an online classifier, or a function that makes one", describe(learner))
  }
  fit <- new_online("mistake_driven", inner$settings[intersect(c("na", "sparse", "allow_na", "standardize"), names(inner$settings))],
                    list(inner = inner), inner$levels, call)
  fit$columns <- inner$columns
  for (part in c("design", "formula", "scaling", "named")) fit[[part]] <- inner[[part]]
  learn_online(fit, x, y, 1L, check_flag(shuffle))
}

#' @export
learn_chunk.granary_mistake_driven <- function(fit, x, y, order, id) {
  inner <- fit$state$inner
  inner$columns <- fit$columns
  n <- length(order)
  wrong <- logical(n)
  support <- rep(as.integer(inner$support), n)
  done <- 0L
  block <- 16L
  while (done < n) {
    here <- (done + 1L):min(done + block, n)
    suspect <- suspects(inner, x, y, order[here])
    if (is.na(suspect)) {
      done <- here[length(here)]
      block <- min(2L * block, 2048L)
      next
    }
    at <- here[abs(suspect)]
    out <- learn_chunk(inner, x[order[at], , drop = FALSE], y[order[at]], 1L, id[at])
    wrong[at] <- suspect > 0 || isTRUE(out$wrong[1L])
    if (wrong[at]) {
      inner$state <- out$state
      inner$trials <- inner$trials + 1
      inner$mistakes <- inner$mistakes + 1
      inner$support <- out$support[1L]
      support[at:n] <- inner$support
    }
    done <- at
    block <- max(16L, block %/% 2L)
  }
  inner <- online_finish(inner)
  list(state = list(inner = inner), wrong = wrong, support = support, changed = wrong)
}

# The first of the rows whose prediction is wrong: its position. Negative where there is a tie (or nothing was learnt yet), of which the
# learner itself must say whether it counts as a mistake; NA where all are right.
suspects <- function(inner, x, y, rows) {
  if (inner$trials == 0) return(-1L)
  scores <- online_scores(inner, x[rows, , drop = FALSE])
  predicted <- as.integer(classes_of(scores, inner$levels))
  tie <- if (is.matrix(scores)) rowSums(scores == apply(scores, 1L, max)) > 1L else scores == 0
  at <- which(predicted != y[rows] | tie)[1L]
  if (is.na(at) || !tie[at]) at else -at
}

#' @export
online_scores.granary_mistake_driven <- function(fit, x) {
  inner <- fit$state$inner
  inner$columns <- fit$columns
  online_scores(inner, x)
}

#' @export
online_finish.granary_mistake_driven <- function(fit) {
  fit$learner <- fit$state$inner
  fit
}

#' @export
online_facts.granary_mistake_driven <- function(fit) c(learner = sub("^granary_", "", class(fit$state$inner)[1L]), online_facts(fit$state$inner))
