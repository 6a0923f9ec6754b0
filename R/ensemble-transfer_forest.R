#' Forests that learn from related tasks
#'
#' Classifies a target task with few labelled cases when related labelled tasks exist, whose labels may be others: another hospital, instrument or species, another
#' vocabulary of gestures. Splits separate the labels of all tasks at once, and leaves without cases of the target borrow the classes of a leaf that is
#' near along dense paths.
#'
#' @details
#' At every node `candidates` random splits are drawn, and that with the largest mixed information gain is taken, if it is above 0:
#' \deqn{(1 - \gamma) I(T_0 S) + \gamma \sum_{n=1}^N p_n I(T_n S), \quad p_n = \frac{|T_n S|}{\sum_{j \ge 1} |T_j S|}}{
#' (1 - gamma) I(T_0 S) + gamma sum_n p_n I(T_n S), p_n = |T_n S| / sum_(j >= 1) |T_j S|}
#' where \eqn{I(T_n S)} is how much the entropy of the labels of task \eqn{n} falls by the split, 0 for a task without cases in the node, and task 0 is the target.
#' `gamma = 0` looks at the target alone, though leaves still borrow; `gamma = 1` does not look at the labels of the target. The paper says that the second term
#' equals the gain of all sources joined to one task (`source = "concat"`); that gain is larger by the mutual information of task and side.
#'
#' Each tree has all rows; the candidates make trees differ. `split = "axis"` draws a column and a threshold uniform in the range of the node, `"oblique"` a
#' direction over `mtry` columns. With `cuts = 0` the best threshold of each candidate is taken instead of a random one.
#'
#' With `propagate` the leaves of a tree are the nodes of a complete graph with lengths
#' \deqn{e_{ij} = \frac12 d'M_id + \frac12 d'M_jd, \quad d = \mu_i - \mu_j}{e_ij = (d'M_i d + d'M_j d) / 2, d = mu_i - mu_j}
#' where \eqn{\mu_i}{mu_i} is the mean of all rows in leaf \eqn{i} and \eqn{M_i} the inverse of their variances (`metric = "diag"`), of their covariance (`"full"`), or the
#' identity (`"euclidean"`). A leaf without cases of the target takes the classes of the labelled leaf with the shortest path. Without `propagate` it has those of
#' its nearest ancestor with some. The forest answers with the mean over trees of the shares of classes in the leaf of a row.
#'
#' The labels of different tasks are different things, whatever they are called. Columns that help are counted by what their splits gain for the target and for
#' the sources, over all cases, in nats for the entropy; `summary()` says how much of the labels of each task the splits explain.
#'
#' @section Which method when:
#' With less than a few dozen cases per class and sources that share structure with the target. [forest()] with many cases; the advantage vanishes.
#' [transfer_forest_select()] chooses `gamma` and compares with the target alone, [transfer_forest_baseline()] are the simple alternatives.
#' [aso()] shares linear structure between tasks, [svm()] needs no tasks.
#'
#' @param x Rows of all tasks, a numeric matrix or data frame; or a formula.
#' @param y Labels of the rows; those of different tasks may differ.
#' @param task The task of every row. `NULL`: `x` and `y` are the target, and the others are in `sources`. For a formula it is looked up in `data`, and is no predictor.
#' @param target Which task is the target; `NULL` for the first level of `task`.
#' @param sources A list of source tasks, each a `list(x =, y =)`, in the place of `task`.
#' @param formula,data,subset,na.action A formula such as `y ~ .` and the data frame of its variables, as for [stats::lm()].
#' @param n_trees Number of trees.
#' @param max_depth Most splits on the way to a leaf.
#' @param gamma Weight of the sources, between 0 and 1.
#' @param candidates Random splits per node. With `cuts = 0` and at least as many candidates as columns, all columns are tried.
#' @param split Splits along columns or along directions.
#' @param mtry Columns of a direction.
#' @param cuts Thresholds drawn per candidate; 0 for the best of all.
#' @param min_node Rows a node needs to be split.
#' @param propagate Whether leaves without cases of the target borrow from other leaves.
#' @param metric What is near.
#' @param ridge Added to variances, as a share of the mean variance of the columns.
#' @param source Sum of the gains of the sources, or the gain of the sources as one task.
#' @param score Entropy or Gini impurity.
#' @param corrected Whether entropies are corrected for their bias (Miller and Madow).
#' @param task_weights Weights of the sources in the place of \eqn{p_n}, named by task; `NULL` for \eqn{p_n}.
#' @param smooth Added to every count of a leaf before shares are taken.
#' @param standardize Whether columns are brought to variance 1 first, which matters for the metric and for directions.
#' @param replace Whether each tree draws its rows with replacement within each task; `prediction` is then out of bag.
#' @param threads Threads; default `getOption("granary.threads")`. The forest does not depend on it.
#' @param ... For the formula: arguments of the default method.
#' @return An object of class `granary_transfer_forest`, inheriting from `granary_fit`: `trees` in flat arrays, `levels` of the target, `tasks`, `borrowed` (share of
#'   leaves without cases of the target), `importance` (columns by target and sources), `task_gain` (a data frame, one row per task), `prediction` and `error` (out of bag, with `replace`).
#' @references
#' Goussies, N. A., Ubalde, S. and Mejail, M. (2014). Transfer learning decision forests for gesture recognition. *Journal of Machine Learning Research* 15, 3847-3870.
#' @seealso [transfer_forest_select()], [transfer_forest_baseline()], [transfer_forest_bounds()], [motion_history()], [sim_transfer_forest()], [forest()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_transfer_forest(n = 5)
#' fit <- transfer_forest(sim$x, sim$y, sim$task, target = "target")
#' fit
#' mean(predict(fit, sim$newx) == sim$newy)
#' mean(predict(transfer_forest_baseline(sim$x, sim$y, sim$task, target = "target"), sim$newx) == sim$newy)
#' plot(fit)
transfer_forest <- function(x, ...) {
  UseMethod("transfer_forest", formula_or_first(x, ...))
}

#' @rdname transfer_forest
#' @export
transfer_forest.formula <- function(formula, data = NULL, task = NULL, subset, na.action, ...) {
  call <- match.call(expand.dots = FALSE)
  shown <- match.call()
  env <- parent.frame()
  refuse_parts(call, character())
  given <- tryCatch(eval(call$task, if (is.data.frame(data)) data, env), error = function(e) abort_input(paste0("`task` could not be found: ", conditionMessage(e), "."), "task"))
  if (is.character(given) && length(given) == 1L && is.data.frame(data) && given %in% names(data)) {
    call$task <- as.name(given)
    given <- data[[given]]
  }
  if (is.null(given)) abort_input("`task` must be given with a formula: the task of every row of `data`.", "task")
  call$formula <- without_task(eval(call$formula, env), data, call$task)
  design <- formula_design(call[setdiff(names(call), c("task", "..."))], env, "intercept")
  rows <- if (is.data.frame(data) && length(given) == nrow(data)) match(rownames(design$x), row.names(data)) else seq_len(nrow(design$x))
  if (!is.atomic(given) || length(given) < max(rows)) fail_input("task", sprintf("the task of each of the %d rows", nrow(design$x)), describe(given))
  fit <- transfer_forest.default(design$x, design$y, task = given[rows], ...)
  keep_design(fit, design, generic_call(shown, "transfer_forest"))
}

# `.` does not stand for the column that says the task.
without_task <- function(formula, data, task) {
  if (!is.data.frame(data) || !is.name(task) || !as.character(task) %in% names(data) || !inherits(formula, "formula")) return(formula)
  kept <- data[setdiff(names(data), as.character(task))]
  tryCatch(stats::formula(stats::terms(formula, data = kept)), error = function(e) formula)
}

#' @rdname transfer_forest
#' @export
transfer_forest.default <- function(x, y = NULL, task = NULL, target = NULL, sources = NULL, n_trees = 50, max_depth = 8, gamma = 0.25, candidates = 50,
                                    split = c("axis", "oblique"), mtry = 2, cuts = 1, min_node = 2, propagate = TRUE, metric = c("diag", "full", "euclidean"),
                                    ridge = 1e-3, source = c("sum", "concat"), score = c("entropy", "gini"), corrected = FALSE, task_weights = NULL, smooth = 0,
                                    standardize = TRUE, replace = FALSE, threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (is.null(y)) fail_missing("y")
  data <- transfer_data(x, y, task, target, sources)
  options <- transfer_options(data, n_trees, max_depth, gamma, candidates, split, mtry, cuts, min_node, propagate, metric, ridge, source, score, corrected, task_weights,
                              smooth, standardize, replace, threads)
  transfer_run(data, options, generic_call(call, "transfer_forest"))
}

transfer_options <- function(data, n_trees = 50, max_depth = 8, gamma = 0.25, candidates = 50, split = "axis", mtry = 2, cuts = 1, min_node = 2, propagate = TRUE,
                             metric = "diag", ridge = 1e-3, source = "sum", score = "entropy", corrected = FALSE, task_weights = NULL, smooth = 0,
                             standardize = TRUE, replace = FALSE, threads = NULL) {
  score <- check_choice(score, c("entropy", "gini"))
  corrected <- check_flag(corrected)
  if (corrected && score == "gini") abort_input("`corrected` is for score = \"entropy\": the Gini impurity has no such correction.", "corrected")
  options <- list(
    labels = lengths(data$levels, use.names = FALSE),
    gain = list(gamma = check_number(gamma, lower = 0, upper = 1), score = score, source = check_choice(source, c("sum", "concat")), corrected = corrected,
                task_weights = check_task_weights(task_weights, data$tasks)),
    n_trees = check_count(n_trees, upper = 1e5), max_depth = check_count(max_depth, upper = 30), min_node = check_count(min_node, lower = 2),
    candidates = check_count(candidates, upper = 1e6), split = check_choice(split, c("axis", "oblique")), cuts = check_count(cuts, lower = 0, upper = 1000),
    mtry = check_count(mtry), propagate = check_flag(propagate), metric = check_choice(metric, c("diag", "full", "euclidean")),
    ridge = check_number(ridge, lower = 0, strict_lower = TRUE, upper = 1e6), standardize = check_flag(standardize), replace = check_flag(replace),
    smooth = check_number(smooth, lower = 0, upper = 1e6), threads = thread_count(threads)
  )
  if (options$metric == "full" && ncol(data$x) > 300L) {
    abort_input(sprintf("metric = \"full\" needs a matrix of %d x %d numbers for each leaf: use metric = \"diag\".", ncol(data$x), ncol(data$x)), "metric")
  }
  if (options$gain$gamma == 1 && length(data$tasks) == 1L) abort_input("With gamma = 1 and no sources there is nothing to split by.", "gamma")
  options
}

# Arguments of transfer_forest() that came in dots.
check_more_options <- function(..., without = NULL) {
  known <- setdiff(names(formals(transfer_options)), c("data", "gamma", without))
  given <- names(list(...))
  if (...length() > 0L && (is.null(given) || !all(nzchar(given)))) abort_input("Arguments after the named ones must have names.")
  unknown <- setdiff(given, known)
  if (length(unknown) > 0L) {
    abort_input(sprintf("There is no argument `%s`.%s See the help page for those there are.", unknown[1L], did_you_mean(unknown[1L], known, "`")), unknown[1L])
  }
}

check_task_weights <- function(weights, tasks) {
  if (is.null(weights)) return(numeric())
  weights <- check_vector(weights, "task_weights", length = length(tasks) - 1L, lower = 0)
  if (!is.null(names(weights))) {
    if (!setequal(names(weights), tasks[-1L])) abort_input(sprintf("The names of `task_weights` must be those of the sources, %s.", paste0("\"", tasks[-1L], "\"", collapse = ", ")), "task_weights")
    weights <- weights[tasks[-1L]]
  }
  if (sum(weights) == 0) abort_input("`task_weights` must not all be 0.", "task_weights")
  unname(weights)
}

# Rows of all tasks: list(x, label (from 1, the tasks one after the other), task, tasks, levels by task), the target first.
transfer_data <- function(x, y, task, target, sources) {
  if (!is.null(task) && !is.null(sources)) abort_input("Give the tasks by `task` or by `sources`, not both.", "sources")
  x <- check_design(x, "x", allow_sparse = FALSE, min_rows = 1L)
  y <- transfer_labels(y, nrow(x), "y")
  if (is.null(task)) {
    if (!is.null(target)) abort_input("`target` names one of the tasks of `task`; without `task`, `x` and `y` are the target.", "target")
    parts <- c(list(target = list(x = x, y = y)), transfer_sources(sources, colnames(x)))
    data <- list(x = do.call(rbind, lapply(parts, `[[`, "x")), task = rep(seq_along(parts), vapply(parts, function(part) nrow(part$x), 0L)), tasks = names(parts))
    values <- lapply(parts, `[[`, "y")
  } else {
    task <- transfer_labels(task, nrow(x), "task")
    tasks <- levels(task)
    if (is.null(target)) target <- tasks[1L]
    if (!is.atomic(target) || length(target) != 1L || is.na(target) || !as.character(target) %in% tasks) {
      abort_input(sprintf("`target` must be one of the tasks, %s, but it is %s.", paste0("\"", utils::head(tasks, 5L), "\"", collapse = ", "), describe(target)), "target")
    }
    tasks <- c(as.character(target), setdiff(tasks, as.character(target)))
    data <- list(x = x, task = match(as.character(task), tasks), tasks = tasks)
    values <- lapply(seq_along(tasks), function(t) y[data$task == t])
  }
  data$levels <- stats::setNames(lapply(values, function(v) levels(droplevels(v))), data$tasks)
  if (length(data$levels[[1L]]) < 2L) {
    abort_input(sprintf("The target needs cases of at least two classes, but all its labels are \"%s\".", data$levels[[1L]]), "y")
  }
  before <- cumsum(c(0L, lengths(data$levels)))
  data$label <- integer(nrow(data$x))
  for (t in seq_along(data$tasks)) data$label[data$task == t] <- before[t] + match(as.character(values[[t]]), data$levels[[t]])
  data
}

transfer_labels <- function(y, n, arg) {
  if (is.data.frame(y) && length(y) == 1L) y <- y[[1L]]
  if (is.null(y) || !is.atomic(y) || !is.null(dim(y)) || is.complex(y) || is.raw(y)) fail_input(arg, sprintf("one label per row, %d", n), describe(y))
  if (length(y) != n) abort_input(sprintf("`%s` must have one label per row, %d, but it has %d.", arg, n, length(y)), arg)
  if (anyNA(y)) abort_input(sprintf("`%s` must not have missing labels, but it has %d, the first in row %d.", arg, sum(is.na(y)), which(is.na(y))[1L]), arg)
  if (is.numeric(y) && !is.factor(y) && any(y != round(y))) fail_input(arg, "labels (a factor, text or whole numbers)", "numbers with fractions")
  droplevels(if (is.factor(y)) y else factor(if (is.character(y)) readable(y) else y))
}

transfer_sources <- function(sources, columns) {
  if (is.null(sources)) return(list())
  if (!is.list(sources) || is.data.frame(sources)) fail_input("sources", "a list of list(x =, y =), one per source task", describe(sources))
  if (all(c("x", "y") %in% names(sources))) sources <- list(sources)
  if (is.null(names(sources))) names(sources) <- paste0("source", seq_along(sources))
  names(sources) <- make.unique(c("target", ifelse(nzchar(names(sources)), names(sources), "source")))[-1L]
  for (name in names(sources)) {
    part <- sources[[name]]
    arg <- sprintf("sources$%s", name)
    if (!is.list(part) || is.null(part$x) || is.null(part$y)) fail_input(arg, "list(x =, y =)", describe(part))
    x <- check_design(part$x, paste0(arg, "$x"), allow_sparse = FALSE, min_rows = 1L)
    sources[[name]] <- list(x = match_columns(x, columns, paste0(arg, "$x")), y = transfer_labels(part$y, nrow(x), paste0(arg, "$y")))
  }
  sources
}

transfer_run <- function(data, options, call, class = "transfer_forest", append = NULL) {
  found <- core_transfer_forest(unname_design(data$x), data$label, options, core_seed(), progress_bar("transfer forest"))
  levels <- data$levels[[1L]]
  of_target <- data$task == 1L
  y <- factor(levels[data$label[of_target]], levels)
  prediction <- NULL
  error <- NA_real_
  if (options$replace) {
    prediction <- found$out_of_bag
    prediction[is.nan(prediction)] <- NA
    dimnames(prediction) <- list(rownames(data$x)[of_target], levels)
    seen <- !is.na(prediction[, 1L])
    if (any(seen)) error <- mean(tree_answer(prediction, levels, "class")[seen] != y[seen])
  }
  dimnames(found$importance) <- list(colnames(data$x), c("target", "sources"))
  cases <- tabulate(data$task, length(data$tasks))
  gain <- data.frame(task = data$tasks, role = rep(c("target", "source"), c(1L, length(data$tasks) - 1L)), cases = cases,
                     classes = lengths(data$levels, use.names = FALSE), impurity = found$task_whole, gain = found$task_gain)
  gain$share <- ifelse(gain$impurity > 0, gain$gain / gain$impurity, NA_real_)
  columns <- setdiff(colnames(data$x), names(append))
  new_fit(class, trees = found$trees, levels = levels, tasks = data$tasks, target = data$tasks[1L], task_levels = data$levels, borrowed = found$borrowed,
          importance = found$importance, task_gain = gain, prediction = prediction, error = error, y = y, x = data$x[of_target, columns, drop = FALSE],
          prior = stats::setNames(tabulate(y, length(levels)) / length(y), levels), columns = columns, append = append, settings = options, n = nrow(data$x),
          held = new.env(parent = emptyenv()), call = call, convergence = NULL)
}

held_transfer <- function(object) {
  if (is.null(object$held$trees) || !core_transfer_alive(object$held$trees)) object$held$trees <- core_hold_transfer(object$trees)
  object$held$trees
}
