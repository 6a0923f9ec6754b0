#' How strongly the members of an ensemble should be coupled
#'
#' Chooses `lambda` of [nc_ensemble()] on rows that the ensemble has not seen.
#'
#' @details
#' `method = "cv"`: folds, the same starting weights at every strength. `"loo"`: each row left out in turn, for members
#' with fixed features: exactly and without refitting, from the hat matrix,
#' \eqn{f^{(-n)} - t = (I - H_n)^{-1} (f_n - t)}{f^(-n) - t = (I - H_n)^-1 (f_n - t)} with \eqn{H_n} its block of the
#' answers of all members in that row. The features and the ranges of the columns are those of all rows. `"validation"`:
#' the rows that [nc_ensemble()] holds out to stop early: one fit per strength, quick and a little flattered, since they
#' chose when to stop as well.
#'
#' The paper's figures fall slowly up to `lambda = 1` and rise at once beyond, so that the grid ends there. With rule
#' `"1se"` members are kept as free as is no worse than one standard error.
#'
#' @section Which method when:
#' `"loo"` for features up to some hundred units in all, `"cv"` otherwise, `"validation"` when training takes minutes.
#'
#' @inheritParams nc_ensemble
#' @param lambda,gamma Strengths to choose from, on one of the two scales. By default `lambda` from 0 to 1.
#' @param method How strengths are judged.
#' @param folds Number of folds, or the fold of every row.
#' @param rule `"min"` or `"1se"`.
#' @param ... Further arguments of [nc_ensemble()].
#' @return A `granary_selection` with `table` (`lambda`, `gamma`, `estimate`: mean squared error, `std.error`) and `fit`
#'   at the chosen strength.
#' @references
#' Brown, G., Wyatt, J. L. and Tino, P. (2005). Managing diversity in regression ensembles. *Journal of Machine Learning
#' Research* 6, 1621-1650.
#' @seealso [nc_ensemble()], [nc_ensemble_baseline()], [nc_ensemble_bounds()], [ensemble_diversity()],
#'   [sim_nc_ensemble()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_nc_ensemble(100, p = 5)
#' choice <- nc_ensemble_select(sim$x, sim$y, method = "loo", learner = "features", n_members = 6, size = 12)
#' choice
#' plot(choice)
#' assess(choice$fit, newdata = sim$newx, newy = sim$newy)
nc_ensemble_select <- function(x, y = NULL, lambda = NULL, gamma = NULL, method = c("cv", "loo", "validation"),
                               folds = 10, rule = c("min", "1se"), weights = NULL,
                               n_members = 10, penalty = c("mean", "target", "sequential"), ...) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  data <- nc_data(x, y, weights)
  refuse_nc_words(...)
  rule <- check_choice(rule, c("min", "1se"))
  method <- check_choice(method, c("cv", "loo", "validation"))
  n_members <- check_count(n_members, lower = 2, upper = 1e5)
  penalty <- check_choice(penalty, c("mean", "target", "sequential"))
  lambda <- nc_grid(lambda, gamma, n_members, penalty)
  ask <- as.list(formals(nc_ensemble.default))
  ask[c("x", "y", "weights", "gamma", "...")] <- NULL
  ask[c("n_members", "penalty")] <- list(n_members, penalty)
  given <- list(...)
  ask[names(given)] <- given
  options <- lapply(lambda, function(l) {
    ask["lambda"] <- l
    do.call(nc_options, c(list(p = ncol(data$x), gamma = NULL), lapply(ask, eval, envir = baseenv())))
  })
  seed <- core_seed()
  judged <- switch(method, loo = nc_by_loo(data, options, lambda, seed),
                   validation = nc_by_validation(data, options, seed),
                   nc_by_folds(data, options, check_folds(folds, nrow(data$x)), seed))
  table <- data.frame(lambda = lambda, gamma = if (penalty == "mean") lambda * n_members /
                      (2 * (n_members - 1)) else NA_real_, estimate = judged$estimate, std.error = judged$error)
  draft <- list(table = table, selected = NA_integer_, rule = rule, simplicity = -lambda, maximize = FALSE)
  best <- selection_row(draft, rule)
  fit <- nc_run(data, options[[best]], seed, call)
  new_selection("nc_ensemble", fit, table, rule, "mean squared error", simplicity = -lambda, selected = best,
                folds = judged$folds, method = method, call = call)
}

refuse_nc_words <- function(...) {
  known <- setdiff(names(formals(nc_ensemble.default)), c("x", "y", "weights", "...", "lambda", "gamma"))
  given <- ...names()
  if (...length() > 0L && (is.null(given) || any(!nzchar(given)))) {
    abort_input(paste("There is a value too many: it has no name and belongs to no argument.",
                      "See the help page for the arguments there are."))
  }
  unknown <- setdiff(given, known)
  if (length(unknown) == 0L) return(invisible())
  abort_input(paste0("There is no argument `", unknown[1L], "`.", did_you_mean(unknown[1L], known, "`"),
                     " See the help page for those there are."), unknown[1L])
}

nc_grid <- function(lambda, gamma, n_members, penalty) {
  if (!is.null(lambda) && !is.null(gamma)) {
    abort_input("Give `lambda` or `gamma`, not both: they are one strength on two scales.", "gamma")
  }
  if (!is.null(gamma)) {
    if (penalty != "mean") {
      abort_input(sprintf("`gamma` is a scale of penalty = \"mean\": give `lambda` for \"%s\".", penalty), "gamma")
    }
    return(2 * sort(unique(unname(check_vector(gamma, "gamma", lower = 0)))) * (1 - 1 / n_members))
  }
  if (is.null(lambda)) seq(0, 1, 0.1) else sort(unique(unname(check_vector(lambda, "lambda", lower = 0))))
}

nc_by_loo <- function(data, options, lambda, seed) {
  one <- options[[1L]]
  if (!one$optimizer %in% c("exact", "sweeps") || one$penalty == "sequential") {
    abort_input(paste("Rows can be left out exactly only of members with fixed features that are solved together:",
                      "take learner = \"features\", or method = \"cv\"."), "method")
  }
  found <- core_nc_left_out(unname_design(data$x), list(y = data$y, weights = data$weights, lambda = lambda), one, seed,
                            progress_bar("leave one out"))
  nc_scores((found - data$y)^2, data$weights)
}

nc_by_validation <- function(data, options, seed) {
  if (options[[1L]]$validation == 0 || options[[1L]]$optimizer %in% c("exact", "sweeps")) {
    abort_input(
      "No rows are held out to judge by: take `validation` above 0 (and no exact solution), or method = \"cv\".",
      "method")
  }
  losses <- lapply(options, function(one) {
    found <- core_nc_ensemble(unname_design(data$x), data[c("y", "weights")], one, seed, progress_bar("ensembles"))
    if (length(found$held) == 0L) {
      abort_input("There are too few rows to hold any out: take method = \"cv\".", "validation")
    }
    held <- found$held
    list(loss = (rowMeans(found$members[held, , drop = FALSE]) - data$y[held])^2, held = held)
  })
  nc_scores(matrix(unlist(lapply(losses, `[[`, "loss")), ncol = length(options)),
            if (length(data$weights) > 0L) data$weights[losses[[1L]]$held] else numeric())
}

nc_by_folds <- function(data, options, folds, seed) {
  parts <- sort(unique(folds))
  found <- resample_lapply(parts, function(part) {
    out <- which(folds == part)
    rest <- list(x = data$x[-out, , drop = FALSE], y = data$y[-out],
                 weights = if (length(data$weights) > 0L) data$weights[-out] else numeric())
    vapply(options, function(one) {
      model <- core_nc_ensemble(unname_design(rest$x), rest[c("y", "weights")], one, seed, NULL)$model
      (rowMeans(core_nc_members(unname_design(data$x[out, , drop = FALSE]), model, NULL)) - data$y[out])^2
    }, numeric(length(out)))
  }, "ensembles")
  loss <- matrix(0, length(data$y), length(options))
  for (k in seq_along(parts)) loss[folds == parts[k], ] <- found[[k]]
  c(nc_scores(loss, data$weights), list(folds = folds))
}

nc_scores <- function(loss, weights) {
  w <- if (length(weights) > 0L) weights / sum(weights) else rep(1 / nrow(loss), nrow(loss))
  keep <- w > 0
  loss <- loss[keep, , drop = FALSE]
  w <- w[keep]
  estimate <- colSums(w * loss)
  list(estimate = estimate, error = sqrt(colSums(w^2 * sweep(loss, 2L, estimate)^2)))
}
