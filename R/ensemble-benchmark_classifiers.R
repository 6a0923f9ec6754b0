#' Run many classifiers on many data sets
#'
#' A benchmark with the protocol of Fernandez-Delgado and others (2014) or its nested form: the same splits for every
#' classifier, failures caught and kept with their message, results that do not depend on the order of the work, a cache
#' to go on from.
#'
#' @details
#' Columns of factors become numbers of their levels, missing values become 0 after all columns are brought to mean 0
#' and standard deviation 1, and constant columns are left out.
#'
#' With `protocol = "paper"` the settings of a grid are compared once, on a stratified half of the rows after training
#' on the other half, and the best is used in a stratified cross-validation of all rows. The half overlaps the test
#' sets, so this protocol flatters a little. `"nested"` scales and chooses inside each training set. Learners that
#' choose by themselves, by leaving one out, do so inside each training set in both.
#'
#' A data set with an element `test`, the numbers of its test rows, is trained on the others and tested on these.
#'
#' @section Which method when:
#' `benchmark_classifiers()` for classifiers on several data sets, followed by [compare_methods()]; [cv_error()] for one
#' data set, with a standard error.
#'
#' @param x Data sets: a named list of data frames whose last column is the class, or of lists with `x`, `y` and perhaps
#'   `test`; or a single one.
#' @param learners Classifiers: names and results of [cv_learner()] in a list, perhaps with names.
#' @param protocol When settings are chosen.
#' @param folds Number of folds.
#' @param cache A folder in which each finished cell is kept and from which it is taken again, or `NULL`.
#' @param time_limit Seconds a cell may take, or `NULL`.
#' @param object,n Results; number of methods drawn.
#' @param type Plot: `"accuracy"`, all cells; `"time"`, accuracy against seconds.
#' @param ... Passed to [graphics::image()] or [graphics::plot()].
#' @return An object of class `granary_benchmark_classifiers`: `accuracy` (in percent) and `kappa`, data sets by
#'   learners, `NA` where a run failed; `seconds`; `errors`, a data frame with the message of every failure; `chosen`,
#'   rows of the grids; `info`, rows, columns, classes and share of the largest class of each data set.
#' @references Fernandez-Delgado, M., Cernadas, E., Barro, S. and Amorim, D. (2014). Do we need hundreds of classifiers
#'   to solve real world classification problems? *Journal of Machine Learning Research* 15, 3133-3181.
#' @seealso [compare_methods()], [cv_learner()], [sim_benchmark()]
#' @export
#' @examples
#' set.seed(1)
#' sets <- list(iris = iris, twonorm = sim_benchmark("twonorm", 100), waveform = sim_benchmark("waveform", 100))
#' results <- benchmark_classifiers(sets, c("majority", "knn", "naive_bayes", "pnn"))
#' results
#' compare_methods(results)
benchmark_classifiers <- function(x, learners = c("majority", "knn", "naive_bayes", "forest", "svm", "kernel_elm"),
                                  protocol = c("paper", "nested"), folds = 4, cache = NULL, time_limit = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  protocol <- check_choice(protocol, c("paper", "nested"))
  folds <- check_count(folds, lower = 2)
  cache <- check_string(cache, allow_null = TRUE)
  time_limit <- check_number(time_limit, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  learners <- check_learners(learners)
  sets <- check_data_sets(x)
  if (!is.null(cache) && !dir.exists(cache) && !dir.create(cache, showWarnings = FALSE, recursive = TRUE)) {
    abort_input(sprintf("The folder `cache` = \"%s\" cannot be made.", cache), "cache")
  }
  # splits and tuning halves are drawn here, once for all learners
  plans <- lapply(names(sets), function(name) benchmark_plan(sets[[name]], name, folds))
  names(plans) <- names(sets)
  cells <- expand.grid(set = seq_along(sets), learner = seq_along(learners))
  results <- resample_lapply(seq_len(nrow(cells)), function(i) {
    set <- cells$set[i]
    benchmark_cell(sets[[set]], plans[[set]], names(sets)[set], learners[[cells$learner[i]]],
                   names(learners)[cells$learner[i]], protocol, cache, time_limit)
  }, "benchmark")
  table <- function(field) {
    matrix(vapply(results, function(r) as.double(r[[field]]), 0), length(sets),
           dimnames = list(names(sets), names(learners)))
  }
  failed <- which(vapply(results, function(r) nzchar(r$error), NA))
  errors <- data.frame(set = names(sets)[cells$set[failed]], learner = names(learners)[cells$learner[failed]],
                       message = vapply(results[failed], `[[`, "", "error"))
  chosen <- do.call(rbind, lapply(seq_along(results), function(i) {
    at <- results[[i]]$chosen
    if (is.null(at)) return(NULL)
    data.frame(set = names(sets)[cells$set[i]], learner = names(learners)[cells$learner[i]], fold = seq_along(at),
               row = at)
  }))
  if (nrow(errors) > 0L) {
    warn_input(sprintf("%s of %d failed, first \"%s\" on \"%s\": %s", counted(nrow(errors), "run", "runs"), nrow(cells),
                       errors$learner[1L], errors$set[1L], errors$message[1L]), "learners")
  }
  new_fit("benchmark_classifiers", accuracy = table("accuracy"), kappa = table("kappa"), seconds = table("seconds"),
          errors = errors, chosen = chosen, info = data_set_info(sets), protocol = protocol, folds = folds,
          n = length(sets), call = call, convergence = NULL)
}

check_learners <- function(learners) {
  if (inherits(learners, "granary_cv_learner") || is.function(learners)) learners <- list(learners)
  if (!is.list(learners) && !is.character(learners)) {
    fail_input("learners", "names of learners, or a list of them", describe(learners))
  }
  if (length(learners) == 0L) fail_input("learners", "at least one learner", describe(learners))
  made <- lapply(learners, as_cv_learner)
  given <- names(learners)
  labels <- vapply(made, function(l) if (is.character(l$label)) l$label else "learner", "")
  if (!is.null(given)) labels <- ifelse(nzchar(given), given, labels)
  linear <- vapply(made, function(l) l$kind == "linear", NA)
  if (any(linear)) abort_input(sprintf("Learner \"%s\" predicts numbers, not classes.", labels[linear][1L]), "learners")
  stats::setNames(made, make.unique(unname(labels)))
}

check_data_sets <- function(x) {
  single <- is.data.frame(x) || (is.list(x) && all(c("x", "y") %in% names(x)))
  if (single) x <- list(data = x)
  if (!is.list(x) || length(x) == 0L) fail_input("x", "a named list of data sets", describe(x))
  if (is.null(names(x)) || any(!nzchar(names(x)))) names(x) <- paste0("data", seq_along(x))
  check_names_unique(names(x), "x")
  stats::setNames(lapply(names(x), function(name) data_set(x[[name]], name)), names(x))
}

# list(x, y, test): numbers with NA, classes, rows to test or NULL.
data_set <- function(set, name) {
  where <- paste0("x$", name)
  if (is.data.frame(set)) {
    if (length(set) < 2L) fail_input(where, "a data frame with the class as its last column", describe(set))
    set <- list(x = set[-length(set)], y = set[[length(set)]])
  }
  if (!is.list(set) || is.null(set$x) || is.null(set$y)) {
    fail_input(where, "a data frame, or a list with x and y", describe(set))
  }
  frame <- as.data.frame(set$x)
  y <- set$y
  if (is.numeric(y) && length(unique(y)) > 50L) {
    abort_input(
      sprintf("The class of data set \"%s\" is a number with %d values: make it a factor if these are classes.", name,
              length(unique(y))), where)
  }
  classes <- tree_classes(y, nrow(frame), where)
  columns <- vapply(frame, function(column) {
    if (is.character(column) || is.logical(column)) column <- factor(column)
    if (!is.numeric(column) && !is.factor(column)) {
      abort_input(sprintf("Data set \"%s\" has a column that is neither numbers nor a factor.", name), where)
    }
    as.double(column)
  }, numeric(nrow(frame)))
  columns <- matrix(columns, nrow(frame), dimnames = list(NULL, variable_names(names(frame), length(frame))))
  if (any(is.infinite(columns))) abort_input(sprintf("Data set \"%s\" has infinite values.", name), where)
  varies <- vapply(seq_len(ncol(columns)), function(j) length(unique(columns[!is.na(columns[, j]), j])) > 1L, NA)
  if (!any(varies)) abort_input(sprintf("All columns of data set \"%s\" are constant.", name), where)
  test <- set$test
  if (!is.null(test)) {
    test <- check_vector(test, paste0(where, "$test"), lower = 1, upper = nrow(frame))
    if (anyDuplicated(test) > 0L || length(test) >= nrow(frame)) {
      fail_input(paste0(where, "$test"), "numbers of some rows", describe(test))
    }
    test <- as.integer(test)
  }
  list(x = columns[, varies, drop = FALSE], y = factor(classes$levels[classes$y + 1], classes$levels), test = test)
}

data_set_info <- function(sets) {
  rows <- lapply(sets, function(set) {
    data.frame(n = length(set$y), inputs = ncol(set$x), classes = nlevels(set$y),
               majority = 100 * max(table(set$y)) / length(set$y))
  })
  out <- do.call(rbind, rows)
  rownames(out) <- names(sets)
  out
}

# Test sets of the cross-validation, and the half that settings are compared on.
benchmark_plan <- function(set, name, folds) {
  class <- as.integer(set$y)
  n <- length(class)
  if (folds > n) {
    abort_input(sprintf("`folds` must be at most the rows of data set \"%s\", %d, but it is %d.", name, n, folds),
                "folds")
  }
  few <- min(tabulate(class))
  if (is.null(set$test) && few < folds) {
    warn_input(sprintf("Data set \"%s\" has a class with %s, fewer than the %d folds: some folds are without it.", name,
                       counted(few, "row", "rows"), folds), "x")
  }
  test <- if (is.null(set$test)) unname(split(seq_len(n), stratified_folds(class, folds))) else list(set$test)
  list(test = test, half = which(stratified_folds(class, 2L) == 2L))
}

benchmark_cell <- function(set, plan, name, learner, label, protocol, cache, time_limit) {
  key <- list(name = name, label = label, learner = learner_key(learner), protocol = protocol, test = plan$test,
              half = plan$half, y = set$y, sums = colSums(set$x, na.rm = TRUE))
  file <- if (!is.null(cache)) {
    file.path(cache, paste0(gsub("[^A-Za-z0-9._-]", "_", paste(name, label, sep = "--")), ".rds"))
  }
  if (!is.null(file) && file.exists(file)) {
    old <- tryCatch(readRDS(file), error = function(e) NULL)
    if (is.list(old) && identical(old$key, key) && is.list(old$result)) return(old$result)
  }
  started <- proc.time()[["elapsed"]]
  if (!is.null(time_limit)) {
    setTimeLimit(elapsed = time_limit, transient = TRUE)
    on.exit(setTimeLimit())
  }
  fail <- function(e) {
    late <- !is.null(time_limit) && proc.time()[["elapsed"]] - started >= time_limit
    if (inherits(e, "interrupt") && !late) invokeRestart("abort")
    list(accuracy = NA_real_, kappa = NA_real_, chosen = NULL,
         error = if (late) sprintf("took more than %s seconds", format(time_limit)) else conditionMessage(e))
  }
  result <- tryCatch(suppressMessages(benchmark_run(set, plan, learner, protocol)), error = fail, interrupt = fail)
  result$seconds <- proc.time()[["elapsed"]] - started
  if (!is.null(file) && !nzchar(result$error)) saveRDS(list(key = key, result = result), file)
  result
}

# What a cached result is recognised by: functions by their text.
learner_key <- function(learner) {
  plain <- function(f) if (is.function(f)) deparse(f) else if (is.character(f)) f else class(f)
  list(plain(learner$learner), plain(learner$predict),
       lapply(learner$arguments, function(a) if (is.function(a)) deparse(a) else a), learner$grid, learner$inner)
}

benchmark_run <- function(set, plan, learner, protocol) {
  levels <- levels(set$y)
  whole <- prepare_columns(set$x, seq_along(set$y))
  chosen <- NULL
  if (protocol == "paper" && !is.null(learner$grid)) {
    half <- plan$half
    losses <- vapply(seq_len(nrow(learner$grid)), function(row) {
      answer <- tryCatch(learner_once(learner, grid_arguments(learner, row), whole[-half, , drop = FALSE], set$y[-half],
                                      whole[half, , drop = FALSE], levels, FALSE), error = function(e) NULL)
      if (is.null(answer)) NA_real_ else mean(answer$class != set$y[half])
    }, 0)
    if (all(is.na(losses))) abort_numeric("no setting of the grid could be fitted")
    chosen <- which.min(losses)
    learner$arguments <- grid_arguments(learner, chosen)
    learner["grid"] <- list(NULL)
  }
  picks <- integer()
  truth <- integer()
  class <- integer()
  for (out in plan$test) {
    z <- if (protocol == "paper") whole else prepare_columns(set$x, setdiff(seq_along(set$y), out))
    answer <- learner_run(learner, z[-out, , drop = FALSE], set$y[-out], z[out, , drop = FALSE], levels, "misclass")
    picks <- c(picks, answer$chosen)
    truth <- c(truth, as.integer(set$y[out]))
    class <- c(class, as.integer(answer$class))
  }
  scores <- core_class_scores(truth, class, rep(1, length(truth)), length(levels), 1)
  list(accuracy = 100 * scores$accuracy, kappa = if (is.nan(scores$kappa)) 0 else 100 * scores$kappa,
       chosen = if (is.null(chosen)) if (length(picks) > 0L) picks else NULL else chosen, error = "")
}

grid_arguments <- function(learner, row) {
  arguments <- learner$arguments
  arguments[names(learner$grid)] <- learner$grid[row, , drop = FALSE]
  arguments
}

# Mean 0 and standard deviation 1 on `rows`, then 0 for what is missing.
prepare_columns <- function(x, rows) {
  for (j in seq_len(ncol(x))) {
    v <- x[rows, j]
    spread <- stats::sd(v, na.rm = TRUE)
    x[, j] <- (x[, j] - mean(v, na.rm = TRUE)) / if (is.na(spread) || spread == 0) 1 else spread
  }
  x[is.na(x)] <- 0
  x
}

#' @export
print.granary_benchmark_classifiers <- function(x, ...) {
  cli::cat_line(ncol(x$accuracy), " classifiers on ", counted(nrow(x$accuracy), "data set", "data sets"),
                ", protocol \"", x$protocol, "\", ", x$folds, " folds")
  print_call(x$call)
  print(round(x$accuracy[seq_len(min(20L, nrow(x$accuracy))), , drop = FALSE], 1L))
  if (nrow(x$accuracy) > 20L) cli::cat_line("... and ", nrow(x$accuracy) - 20L, " more data sets in `accuracy`")
  if (nrow(x$errors) > 0L) cli::cat_line(counted(nrow(x$errors), "run", "runs"), " failed: see `errors`")
  cli::cat_line("compare_methods() ranks and tests them")
  invisible(x)
}

#' @export
summary.granary_benchmark_classifiers <- function(object, ...) {
  seal(structure(list(benchmark = object, means = data.frame(
    accuracy = colMeans(object$accuracy, na.rm = TRUE), kappa = colMeans(object$kappa, na.rm = TRUE),
    seconds = colMeans(object$seconds),
    failed = colSums(is.na(object$accuracy))
  )), class = "summary_granary_benchmark_classifiers"))
}

#' @export
print.summary_granary_benchmark_classifiers <- function(x, ...) {
  print(x$benchmark)
  cli::cat_line()
  print(round(x$means[order(-x$means$accuracy), ], 2L))
  invisible(x)
}

#' @export
tidy.granary_benchmark_classifiers <- function(x, ...) {
  a <- x$accuracy
  data.frame(set = rownames(a)[row(a)], learner = colnames(a)[col(a)], accuracy = as.vector(a),
             kappa = as.vector(x$kappa), seconds = as.vector(x$seconds))
}

#' @export
glance.granary_benchmark_classifiers <- function(x, ...) {
  data.frame(sets = nrow(x$accuracy), learners = ncol(x$accuracy), failed = nrow(x$errors), seconds = sum(x$seconds),
             protocol = x$protocol)
}

#' @rdname benchmark_classifiers
#' @export
plot.granary_benchmark_classifiers <- function(x, type = c("accuracy", "time"), ...) {
  type <- check_choice(type, c("accuracy", "time"))
  if (type == "time") {
    at <- benchmark_means(x)
    draw(graphics::plot, at$seconds, at$accuracy, log = "x", pch = 16, col = "#0072B2", xlab = "mean seconds",
         ylab = "mean accuracy (%)", bty = "l",
         xlim = range(at$seconds) * c(0.7, 3), user = list(...))
    graphics::text(at$seconds, at$accuracy, at$learner, pos = 4L, cex = 0.8)
    return(invisible(x))
  }
  a <- x$accuracy[rev(order(rowMeans(x$accuracy, na.rm = TRUE))), order(-colMeans(x$accuracy, na.rm = TRUE)),
                  drop = FALSE]
  old <- graphics::par(mar = c(2 + 0.5 * max(nchar(colnames(a))), 2 + 0.5 * max(nchar(rownames(a))), 1.1, 1.1))
  on.exit(graphics::par(old))
  draw(graphics::image, seq_len(ncol(a)), seq_len(nrow(a)), t(a),
       col = grDevices::hcl.colors(64L, "YlGnBu", rev = TRUE), axes = FALSE, xlab = "", ylab = "", user = list(...))
  graphics::axis(1L, seq_len(ncol(a)), colnames(a), las = 2L, tick = FALSE, cex.axis = 0.8)
  graphics::axis(2L, seq_len(nrow(a)), rownames(a), las = 1L, tick = FALSE, cex.axis = 0.8)
  if (length(a) <= 400L) {
    dark <- a > mean(range(a, na.rm = TRUE))
    graphics::text(col(a), row(a), ifelse(is.na(a), "failed", sprintf("%.0f", a)), cex = 0.75,
                   col = ifelse(is.na(dark) | !dark, "black", "white"))
  }
  invisible(x)
}

benchmark_means <- function(x) {
  data.frame(learner = colnames(x$accuracy), accuracy = colMeans(x$accuracy, na.rm = TRUE),
             seconds = pmax(colMeans(x$seconds), 1e-3))
}

#' @rdname benchmark_classifiers
#' @usage \method{autoplot}{granary_benchmark_classifiers}(object, type = c("accuracy", "time"), ...)
#' @exportS3Method ggplot2::autoplot
# nolint: object_name_linter.
autoplot.granary_benchmark_classifiers <- function(object, type = c("accuracy", "time"), ...) {
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  type <- check_choice(type, c("accuracy", "time"))
  if (type == "time") {
    return(gg_canvas(benchmark_means(object), ggplot2::aes(.data$seconds, .data$accuracy, label = .data$learner)) +
           ggplot2::geom_point(colour = "#0072B2") +
             ggplot2::geom_text(hjust = -0.1, size = 3) +
             ggplot2::scale_x_continuous(trans = "log10", expand = ggplot2::expansion(mult = c(0.05, 0.3))) +
             ggplot2::labs(x = "mean seconds", y = "mean accuracy (%)"))
  }
  table <- tidy.granary_benchmark_classifiers(object)
  gg_canvas(table, ggplot2::aes(.data$learner, .data$set, fill = .data$accuracy)) + ggplot2::geom_tile() +
    ggplot2::geom_text(ggplot2::aes(label = ifelse(is.na(.data$accuracy), "failed", sprintf("%.0f", .data$accuracy))),
                       size = 3) +
    ggplot2::scale_fill_gradientn(colours = grDevices::hcl.colors(64L, "YlGnBu", rev = TRUE)) +
      ggplot2::labs(x = NULL, y = NULL) +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 45, hjust = 1))
}
