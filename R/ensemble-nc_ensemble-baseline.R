#' What a trained-together ensemble has to beat
#'
#' The simple alternatives to [nc_ensemble()] with the same members, and with trees.
#'
#' @details
#' `"independent"`: the members of `nc_ensemble()` trained by themselves, `lambda = 0`. `"joint"`: one large model,
#' `lambda = 1`. `"bagging"`: each member on rows drawn with replacement, their mean. `"boosting"`: AdaBoost.R2. Each
#' member is trained on rows drawn by weight; with losses
#' \eqn{L_n = |t_n - f_n| / \max |t - f|}{L_n = |t_n - f_n| / max |t - f|} (or their squares, or
#' \eqn{1 - e^{-L}}{1 - exp(-L)}) and \eqn{\bar L}{Lbar} their weighted mean,
#' \eqn{\beta = \bar L / (1 - \bar L)}{beta = Lbar / (1 - Lbar)}, the weight of a row is multiplied by
#' \eqn{\beta^{1 - L_n}}{beta^(1 - L_n)}, and the answer is the median of the members weighted by
#' \eqn{\log(1/\beta)}{log(1 / beta)}. It ends when a member has
#' \eqn{\bar L \ge 1/2}{Lbar >= 1/2} (which then is not kept, unless it is the first). `"mean"`: the mean of the
#' response.
#'
#' @section Which method when:
#' Beside every [nc_ensemble()]. If `"independent"` is as good the members need not know of each other; if `"joint"` is,
#' one model will do.
#'
#' @inheritParams nc_ensemble
#' @param method Which baseline.
#' @param learner What the members are; `"tree"` for bagging and boosting only.
#' @param n_members Number of members, at most, of boosting.
#' @param loss Loss of `"boosting"`.
#' @param max_leaves Most leaves of a tree.
#' @param ... Further arguments of [nc_ensemble()] about its members and their training.
#' @return An object of class `granary_nc_ensemble_baseline`, which also is a `granary_nc_ensemble` with all its
#'   methods; for boosting with `vote` and `losses`, the weighted mean loss of each member.
#' @references
#' Breiman, L. (1996). Bagging predictors. *Machine Learning* 24, 123-140.
#'
#' Drucker, H. (1997). Improving regressors using boosting techniques. *Proceedings of the 14th International Conference
#' on Machine Learning*, 107-115.
#' @seealso [nc_ensemble()], [nc_ensemble_select()], [nc_ensemble_bounds()], [ensemble_diversity()], [sim_nc_ensemble()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_nc_ensemble(150, p = 5)
#' bag <- nc_ensemble_baseline(sim$x, sim$y, "bagging", learner = "tree", n_members = 25)
#' boosted <- nc_ensemble_baseline(sim$x, sim$y, "boosting", learner = "tree", n_members = 25)
#' assess(bag, newdata = sim$newx, newy = sim$newy)
#' assess(boosted, newdata = sim$newx, newy = sim$newy)
nc_ensemble_baseline <- function(x, y = NULL, method = c("independent", "joint", "bagging", "boosting", "mean"),
                                 learner = c("mlp", "rbf", "features", "tree"), n_members = 10,
                                 loss = c("linear", "square", "exponential"), max_leaves = 8, weights = NULL, ...) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  refuse_nc_words(...)
  method <- check_choice(method, c("independent", "joint", "bagging", "boosting", "mean"))
  learner <- check_choice(learner, c("mlp", "rbf", "features", "tree"))
  loss <- check_choice(loss, c("linear", "square", "exponential"))
  max_leaves <- check_count(max_leaves, lower = 2)
  n_members <- check_count(n_members, upper = 1e5)
  data <- nc_data(x, y, weights)
  trees <- learner == "tree"
  if (trees && method %in% c("independent", "joint")) {
    abort_input(sprintf("Trees are members for bagging and boosting, not for method = \"%s\".", method), "learner")
  }
  ask <- as.list(formals(nc_ensemble.default))
  ask[c("x", "y", "weights", "gamma", "...")] <- NULL
  given <- list(...)
  ask[names(given)] <- given
  lambda <- if (method == "joint" && n_members > 1L) 1 else 0
  ask[c("lambda", "n_members", "learner")] <- list(lambda, n_members, if (trees) "features" else learner)
  if (method %in% c("bagging", "boosting") && !identical(eval(ask$penalty), c("mean", "target", "sequential")) &&
      !identical(ask$penalty, "mean")) {
    abort_input("Members that are bagged or boosted do not see each other: leave `penalty` out.", "penalty")
  }
  options <- do.call(nc_options, c(list(p = ncol(data$x), gamma = NULL), lapply(ask, eval, envir = baseenv())))
  classes <- c("nc_ensemble_baseline", "nc_ensemble")
  if (method %in% c("independent", "joint")) {
    fit <- nc_run(data, options, core_seed(), call, classes)
    fit$method <- method
    return(seal(fit))
  }
  if (method == "mean") {
    w <- if (length(data$weights) > 0L) data$weights / sum(data$weights) else rep(1 / length(data$y), length(data$y))
    found <- list(members = matrix(sum(w * data$y), length(data$y), 1L), held = integer(), trace = NULL, model = NULL,
                  convergence = list(converged = TRUE, iterations = 0L, gap = NaN, residual = 0, seconds = 0,
                                     message = "", reason = "solved"))
    fit <- new_nc(found, data, list(learner = "mean", n_members = 1L, lambda = 0, penalty = "mean"), classes, call,
                  trees = FALSE)
    fit$trees <- NULL
    fit$method <- method
    return(seal(fit))
  }
  found <- core_nc_baseline(unname_design(data$x), data[c("y", "weights")],
                            list(method = method, loss = loss, trees = trees, max_leaves = max_leaves,
                                 member = options), core_seed(), progress_bar(method))
  if (found$too_few) {
    message("There are too few rows to hold any out (ten are needed): training goes on for all epochs.")
  }
  if (trees) {
    options <- list(learner = "tree", max_leaves = max_leaves, n_members = n_members, lambda = 0, penalty = "mean")
  }
  fit <- new_nc(found, data, options, classes, call, vote = if (method == "boosting") found$vote,
                trees = if (trees) found$trees)
  fit$method <- method
  if (method == "boosting") {
    fit$losses <- found$losses
    fit$end <- found$end
    if (found$end == "weak") {
      message(sprintf("Member %d had a mean loss of one half or more: boosting ended there%s.",
                      length(found$losses) + (length(found$losses) > 1L),
                      if (length(found$losses) == 1L && found$losses[1L] >= 0.5) ", with that member alone" else ""))
    }
  }
  check_nc_convergence(seal(fit))
}
