#' Cross-validated dimension and penalty of a shared structure
#'
#' Refits [aso()] without a part of the rows of every task, for each pair of `h` and `lambda`, and scores the rows left out by the loss of the fit.
#'
#' @section Which method when: Whenever `h` and `lambda` are not known; the paper finds 10 to 100 for `h` to be alike with many tasks.
#'
#' @param x,y,loss As in [aso()].
#' @param h,lambda Values to try.
#' @param folds Number of folds; rows of every task are dealt out at random.
#' @param ... Further arguments of [aso()].
#' @return A [granary_selection]: `fit` (the best, for all rows), `table` with `h`, `lambda`, `estimate` and `std.error` of the loss of left-out rows.
#' @seealso [aso()], [aso_semi()], [aso_auxiliary()], [aso_baseline()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_aso(p = 20, tasks = 15, n = 20, h = 2)
#' aso_select(sim$x, sim$y, h = c(0, 2), lambda = c(0.1, 1), loss = "squared", folds = 3)
aso_select <- function(x, y, h = c(0, 2, 5, 10), lambda = c(0.01, 0.1, 1), loss = c("huber", "squared", "logistic", "hinge2"), folds = 10, ...) {
  call <- match.call()
  loss <- check_choice(loss, c("huber", "squared", "logistic", "hinge2"))
  h <- check_vector(h, lower = 0, upper = 1e6)
  lambda <- check_vector(lambda, lower = 0)
  folds <- check_count(folds, lower = 2, upper = 1000)
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  data <- aso_data(x, y, aso_settings(loss, TRUE, FALSE, 500, 1))
  dealt <- lapply(data$y, function(values) sample(rep_len(seq_len(folds), length(values))))
  grid <- expand.grid(h = h, lambda = lambda)
  designs <- if (is.list(x) && !is.data.frame(x)) data$x else data$x[[1L]]
  losses <- resample_lapply(seq_len(nrow(grid) * folds), function(task) {
    pair <- (task - 1L) %/% folds + 1L
    part <- (task - 1L) %% folds + 1L
    train <- Map(function(values, fold) replace(values, fold == part, NaN), data$y, dealt)
    if (any(vapply(train, function(values) all(is.nan(values)), NA))) return(NA_real_)
    fit <- suppressWarnings(suppressMessages(aso(designs, train, h = grid$h[pair], lambda = grid$lambda[pair], loss = loss, ...)))
    scores <- lapply(seq_along(data$y), function(l) {
      held <- which(dealt[[l]] == part & !is.nan(data$y[[l]]))
      if (length(held) == 0L) return(numeric())
      core_loss(loss, predict(fit, data$x[[data$design[l] + 1L]][held, , drop = FALSE], task = l)[, 1L], data$y[[l]][held])$value
    })
    mean(unlist(scores))
  }, "cross-validation")
  losses <- matrix(unlist(losses), folds)
  table <- data.frame(grid, estimate = colMeans(losses, na.rm = TRUE), std.error = apply(losses, 2L, stats::sd, na.rm = TRUE) / sqrt(folds))
  best <- which.min(table$estimate)
  fit <- suppressMessages(aso(designs, data$y, h = table$h[best], lambda = table$lambda[best], loss = loss, ...))
  new_selection("aso", fit, table, "min", paste(loss, "loss"), selected = best, call = shorten_call(call))
}
