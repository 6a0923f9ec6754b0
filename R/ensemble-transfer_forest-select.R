#' How much sources should count
#'
#' Chooses `gamma` of [transfer_forest()] by cross-validation on the cases of the target, and says what the target alone would do.
#'
#' @details
#' The cases of the target are parted into folds, class by class; the sources are there in every fold. At each `gamma` a forest is grown without a fold and
#' asked about it, with the same random numbers for all. `gamma = 0` is always among the candidates: its splits look at the target alone, though leaves still borrow.
#' `target_only` is the estimate for a forest that has never seen the sources. If the chosen one is no better, transfer does harm: take that.
#' Of equally good values the smallest is chosen. With a few cases the estimates are rough: look at their standard errors.
#'
#' @section Which method when: Before trusting a transfer. With less than five cases per class the choice is mostly noise, and the paper's 0.25 to 0.5 as good.
#'
#' @inheritParams transfer_forest
#' @param gamma Weights of the sources to choose from.
#' @param folds Number of folds, or the fold of every case of the target.
#' @param measure Share misclassified, or the mean of minus log of the share of the true class.
#' @param ... More arguments of [transfer_forest()].
#' @return A `granary_selection`, with `table`, `fit` (at the chosen `gamma`) and `target_only`.
#' @references
#' Goussies, N. A., Ubalde, S. and Mejail, M. (2014). Transfer learning decision forests for gesture recognition. *Journal of Machine Learning Research* 15, 3847-3870.
#' @seealso [transfer_forest()], [transfer_forest_baseline()], [transfer_forest_bounds()], [motion_history()], [sim_transfer_forest()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_transfer_forest(n = 8, n_source = 100)
#' choice <- transfer_forest_select(sim$x, sim$y, sim$task, target = "target", n_trees = 20, candidates = 20)
#' choice
#' mean(predict(choice, sim$newx) == sim$newy)
transfer_forest_select <- function(x, y = NULL, task = NULL, target = NULL, sources = NULL, gamma = c(0, 0.25, 0.5, 0.75, 1), folds = 5, measure = c("error", "log"), ...) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (is.null(y)) fail_missing("y")
  check_more_options(...)
  measure <- check_choice(measure, c("error", "log"))
  gamma <- sort(unique(c(0, check_vector(gamma, "gamma", lower = 0, upper = 1))))
  data <- transfer_data(x, y, task, target, sources)
  if (length(data$tasks) == 1L) abort_input("There are no sources: nothing to choose.", if (is.null(task)) "sources" else "task")
  at <- which(data$task == 1L)
  options <- lapply(gamma, function(g) transfer_options(data, gamma = g, ...))
  folds <- transfer_folds(folds, data$label[at])
  parts <- sort(unique(folds))
  seen <- lapply(parts, function(part) unique(data$label[at[folds != part]]))
  if (any(lengths(seen) < 2L)) abort_input("Without one of the folds the target has a single class: use more folds, or other ones.", "folds")
  found <- resample_lapply(parts, function(part) {
    seed <- core_seed()
    score <- function(option, keep) {
      prob <- transfer_held_out(data, option, keep, at[folds == part], seed)
      transfer_loss(prob, data$label[at[folds == part]], measure)
    }
    train <- setdiff(seq_along(data$label), at[folds == part])
    of_all <- vapply(options, score, 0, keep = train)
    alone <- options[[1L]]
    alone$gain$task_weights <- numeric()
    alone$labels <- alone$labels[1L]
    c(of_all, score(alone, intersect(train, at)))
  }, "transfer forests")
  loss <- matrix(unlist(found), length(gamma) + 1L)
  size <- tabulate(match(folds, parts))
  estimate <- drop(loss %*% size) / sum(size)
  error <- apply(loss, 1L, stats::sd) / sqrt(length(parts))
  rows <- seq_along(gamma)
  table <- data.frame(gamma = gamma, estimate = estimate[rows], std.error = error[rows])
  best <- which.min(table$estimate)
  fit <- transfer_run(data, options[[best]], call)
  new_selection("transfer_forest", fit, table, "min", if (measure == "error") "share of rows misclassified" else "mean log loss", selected = best, folds = folds,
                target_only = c(estimate = estimate[length(estimate)], std.error = error[length(error)]), call = call)
}

# Folds in which every class is spread as evenly as it can be.
transfer_folds <- function(folds, label) {
  if (length(folds) != 1L) return(check_folds(folds, length(label)))
  folds <- check_count(folds, "folds", lower = 2, upper = length(label))
  order <- order(label, sample.int(length(label)))
  out <- integer(length(label))
  out[order] <- rep_len(sample.int(folds), length(label))
  out
}

transfer_held_out <- function(data, options, keep, rows, seed) {
  found <- core_transfer_forest(unname_design(data$x[keep, , drop = FALSE]), data$label[keep], options, seed, NULL)
  core_transfer_predict(unname_design(data$x[rows, , drop = FALSE]), core_hold_transfer(found$trees), options$smooth, options$threads, NULL)
}

transfer_loss <- function(prob, label, measure) {
  if (measure == "error") return(mean(max.col(prob, "first") != label))
  mean(-log(pmax(prob[cbind(seq_along(label), label)], 1e-6)))
}

#' @rdname transfer_forest_select
#' @param x A choice.
#' @export
print.granary_transfer_forest_select <- function(x, ...) {
  refuse_dots(...)
  NextMethod()
  zero <- x$table[x$table$gamma == 0, ]
  show <- function(v) paste0(format(v[["estimate"]], digits = 3L), " (", format(v[["std.error"]], digits = 2L), ")")
  cli::cat_line("With gamma = 0: ", show(zero), "; the target alone: ", show(x$target_only))
  if (x$target_only[["estimate"]] <= x$table$estimate[x$selected]) cli::cat_line("The sources do not help here: transfer_forest_baseline(method = \"target\") is as good.")
  invisible(x)
}
