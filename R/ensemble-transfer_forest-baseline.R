#' What transfer has to beat
#'
#' The simple alternatives to [transfer_forest()], with the same trees.
#'
#' @details
#' `"target"`: a forest on the cases of the target alone. `"pooled"`: all tasks as one, with a column per task that says whose a row is; it needs tasks with
#' the same labels. `"parent"`: a transfer forest whose leaves without cases of the target have those of their nearest ancestor, instead of borrowing.
#'
#' @section Which method when: Beside every transfer forest: if `"target"` is as good, the sources do not help; if `"pooled"` is, the tasks are the same.
#'
#' @inheritParams transfer_forest
#' @param method Which baseline.
#' @param gamma For `"parent"`: the weight of the sources.
#' @param ... More arguments of [transfer_forest()].
#' @return An object of class `granary_transfer_forest_baseline`, which also is a `granary_transfer_forest` with all its methods.
#' @references
#' Goussies, N. A., Ubalde, S. and Mejail, M. (2014). Transfer learning decision forests for gesture recognition. *Journal of Machine Learning Research* 15, 3847-3870.
#' @seealso [transfer_forest()], [transfer_forest_select()], [transfer_forest_bounds()], [motion_history()], [sim_transfer_forest()], [forest()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_transfer_forest(n = 5)
#' alone <- transfer_forest_baseline(sim$x, sim$y, sim$task, target = "target", method = "target")
#' mean(predict(alone, sim$newx) == sim$newy)
#' fit <- transfer_forest(sim$x, sim$y, sim$task, target = "target")
#' mean(predict(fit, sim$newx) == sim$newy)
transfer_forest_baseline <- function(x, y = NULL, task = NULL, target = NULL, sources = NULL, method = c("target", "pooled", "parent"), gamma = 0.25, ...) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (is.null(y)) fail_missing("y")
  check_more_options(..., without = "propagate")
  method <- check_choice(method, c("target", "pooled", "parent"))
  data <- transfer_data(x, y, task, target, sources)
  append <- NULL
  if (method == "target") {
    of_target <- data$task == 1L
    data <- list(x = data$x[of_target, , drop = FALSE], label = data$label[of_target], task = data$task[of_target], tasks = data$tasks[1L], levels = data$levels[1L])
    gamma <- 0
  } else if (method == "pooled") {
    same <- vapply(data$levels, function(l) all(l %in% data$levels[[1L]]), NA)
    if (!all(same)) {
      abort_input(sprintf("For method = \"pooled\" the tasks must have the labels of the target, but task \"%s\" has others.", data$tasks[!same][1L]), "method")
    }
    label <- integer(length(data$task))
    before <- cumsum(c(0L, lengths(data$levels)))
    for (t in seq_along(data$tasks)) {
      rows <- data$task == t
      label[rows] <- match(data$levels[[t]][data$label[rows] - before[t]], data$levels[[1L]])
    }
    marks <- if (length(data$tasks) > 1L) outer(data$task, seq_along(data$tasks), `==`) + 0 else matrix(0, length(label), 0L)
    colnames(marks) <- if (ncol(marks) > 0L) utils::tail(make.unique(c(colnames(data$x), paste0("task:", data$tasks))), ncol(marks))
    append <- stats::setNames(as.double(seq_len(ncol(marks)) == 1L), colnames(marks))
    data <- list(x = cbind(data$x, marks), label = label, task = rep(1L, length(label)), tasks = data$tasks[1L], levels = data$levels[1L])
    gamma <- 0
  }
  options <- transfer_options(data, gamma = gamma, propagate = method != "parent", ...)
  fit <- transfer_run(data, options, call, c("transfer_forest_baseline", "transfer_forest"), append)
  fit$method <- method
  fit
}
