# Many groups ("tasks") of samples, in every form in which they may come, as the estimators of means want them.

# list(names, n, mean, ss, y, code): number, mean and sum of squares of each task; samples and their task where there are any. For vectors
# `mean` is a matrix, and `ss` is left out.
mean_tasks <- function(y, group = NULL) {
  if (missing(y)) fail_missing("y")
  if (is.list(y) && !is.data.frame(y) && !is.object(y)) {
    if (!is.null(group)) abort_input("`group` must be NULL when `y` is a list: the list holds one vector per task.", "group")
    return(tasks_from_list(y))
  }
  if (is.data.frame(y) && is.null(group)) return(tasks_from_summary(y))
  if (is.null(group)) {
    fail_input("group", "a vector that says which task each sample belongs to", "NULL",
               "Or give `y` as a list of vectors, or as a data frame with columns `mean`, `n` and `var`.")
  }
  if (is.data.frame(y) || (is.matrix(y) && ncol(y) > 1L)) {
    return(tasks_from_samples(check_matrix(y, "y", allow_na = TRUE), group))
  }
  tasks_from_samples(check_vector(y, "y", lower = -1e150, upper = 1e150, allow_na = TRUE), group)
}

tasks_from_list <- function(y) {
  if (length(y) == 0L) abort_input("`y` must have at least one task, but it is an empty list.", "y")
  names <- if (is.null(names(y))) as.character(seq_along(y)) else names(y)
  check_names_unique(names, "y")
  for (t in seq_along(y)) {
    usable <- is_plain_numeric(y[[t]]) || (is.logical(y[[t]]) && all(is.na(y[[t]])))
    if (!usable || length(dim(y[[t]])) > 2L) {
      abort_input(sprintf("Every element of `y` must be a numeric vector, but element %s is %s.", label_of(names, t), describe(y[[t]])), "y")
    }
  }
  if (any(vapply(y, is.matrix, NA))) {
    widths <- vapply(y, NCOL, 0L)
    if (any(widths != widths[1L])) abort_input("The matrices in `y` must all have the same number of columns.", "y")
    code <- rep.int(seq_along(y), vapply(y, NROW, 0L))
    values <- check_matrix(do.call(rbind, lapply(y, as.matrix)), "y", allow_na = TRUE)
  } else {
    code <- rep.int(seq_along(y), lengths(y))
    values <- check_vector(as.double(unlist(y, use.names = FALSE)), "y", min_length = 0L, lower = -1e150, upper = 1e150, allow_na = TRUE)
  }
  finish_tasks(values, code, names)
}

tasks_from_samples <- function(y, group) {
  rows <- NROW(y)
  if (is.data.frame(group) && length(group) == 1L) group <- group[[1L]]
  usable <- (is.atomic(group) || is.factor(group)) && is.null(dim(group)) && !is.complex(group)
  if (!usable) fail_input("group", "a vector or a factor", describe(group))
  if (length(group) != rows) {
    fail_input("group", sprintf("as long as the samples (%d)", rows), paste("one of length", length(group)))
  }
  coded <- group_codes(group)
  finish_tasks(if (is.matrix(y)) y else unname(y), coded$code, coded$names)
}

# Codes 1, 2, ... in the order of the levels, or sorted. Whole numbers in a narrow range, the usual identifiers, need no hashing.
group_codes <- function(group) {
  if (is.factor(group)) return(list(code = as.integer(group), names = levels(group)))
  if (is.integer(group) && !is.object(group) && length(group) > 0L && !all(is.na(group))) {
    ends <- range(group, na.rm = TRUE)
    if (as.double(ends[2L]) - ends[1L] < 4 * length(group) + 1000) {
      place <- group - (ends[1L] - 1L)
      present <- tabulate(place, ends[2L] - ends[1L] + 1L) > 0L
      return(list(code = cumsum(present)[place], names = as.character(which(present) + (ends[1L] - 1L))))
    }
  }
  values <- sort(unique(group))
  list(code = match(group, values, incomparables = NA), names = as.character(values))
}

finish_tasks <- function(y, code, names) {
  lost <- is.na(code) | if (is.matrix(y)) rowSums(is.na(y)) > 0 else is.na(y)
  if (any(lost)) {
    message(counted(sum(lost), "sample was", "samples were"), " dropped because of missing values.")
    y <- if (is.matrix(y)) y[!lost, , drop = FALSE] else y[!lost]
    code <- code[!lost]
  }
  if (length(code) == 0L) abort_input("`y` must have at least one sample, but it has none.", "y")
  empty <- tabulate(code, length(names)) == 0L
  if (any(empty)) {
    message(counted(sum(empty), "task without samples was", "tasks without samples were"), " dropped: ",
            paste(utils::head(names[empty], 5L), collapse = ", "), if (sum(empty) > 5L) ", ...")
    code <- cumsum(!empty)[code]
    names <- names[!empty]
  }
  if (is.matrix(y)) {
    moments <- lapply(seq_len(ncol(y)), function(j) core_task_moments(y[, j], code, length(names)))
    mean <- vapply(moments, `[[`, numeric(length(names)), "mean")
    dim(mean) <- c(length(names), ncol(y))
    dimnames(mean) <- list(names, colnames(y))
    return(list(names = names, n = moments[[1L]]$n, mean = mean, y = y, code = code))
  }
  moments <- core_task_moments(y, code, length(names))
  list(names = names, n = moments$n, mean = moments$mean, ss = moments$ss, y = y, code = code)
}

# One row per task: columns `mean` and `n`, `var` (of the samples), and perhaps `group` with the names.
tasks_from_summary <- function(y) {
  lacking <- setdiff(c("mean", "n"), names(y))
  if (length(lacking) > 0L) {
    abort_input(sprintf("A data frame `y` without `group` must have one row per task and columns `mean`, `n` and `var`, but `%s` is missing.",
                        lacking[1L]), "y")
  }
  if (nrow(y) == 0L) abort_input("`y` must have at least one task, but it has no rows.", "y")
  n <- check_vector(y$n, "y$n", lower = 0)
  if (any(n != round(n))) abort_input("Column `n` of `y` must hold whole numbers of samples.", "y")
  names <- if (!is.null(y$group)) as.character(y$group) else row.names(y)
  if (!is.null(y$group)) check_names_unique(names, "y$group")
  keep <- n > 0
  if (any(!keep)) message(counted(sum(!keep), "task without samples was", "tasks without samples were"), " dropped.")
  if (!any(keep)) abort_input("`y` must have at least one task with samples.", "y")
  mean <- unname(check_vector(y$mean[keep], "y$mean", lower = -1e150, upper = 1e150))
  n <- unname(n[keep])
  var <- if (is.null(y$var)) rep(NA_real_, length(n)) else y$var[keep]
  ss <- unname(check_vector(var, "y$var", lower = 0, upper = 1e300, allow_na = TRUE)) * (n - 1)
  ss[n == 1] <- 0
  list(names = names[keep], n = n, mean = mean, ss = ss, y = NULL, code = NULL)
}

# list(noise, noise_var, s): how variances enter, sigma_t^2, and s_t = sigma_t^2 / N_t.
task_variances <- function(tasks, variance, noise_var) {
  if (!is.null(noise_var)) {
    noise_var <- per_task(noise_var, tasks)
    return(list(noise = "given", noise_var = noise_var, s = noise_var / tasks$n))
  }
  unknown <- which(is.na(tasks$ss))
  if (length(unknown) > 0L) {
    abort_input(sprintf("The variance within task %s is not known.\nGive a column `var` in `y`, or `noise_var`.",
                        label_of(tasks$names, unknown[1L])), "y")
  }
  df <- sum(tasks$n - 1)
  if (variance == "pooled") {
    if (df == 0) abort_input("No task has two samples, so the variance within tasks cannot be estimated. Give it as `noise_var`.", "noise_var")
    noise_var <- sum(tasks$ss) / df
    return(list(noise = "pooled", noise_var = noise_var, s = noise_var / tasks$n))
  }
  single <- which(tasks$n < 2)
  if (length(single) > 0L) {
    abort_input(sprintf("Task %s has one sample and so no variance of its own.\nUse variance = \"pooled\", or give `noise_var`.",
                        label_of(tasks$names, single[1L])), "variance")
  }
  noise_var <- tasks$ss / (tasks$n - 1)
  list(noise = "own", noise_var = noise_var, s = noise_var / tasks$n)
}

# One number for all tasks, or one per task, by name where there are names.
per_task <- function(noise_var, tasks) {
  noise_var <- check_vector(noise_var, "noise_var", lower = 0, upper = 1e300)
  count <- length(tasks$names)
  if (length(noise_var) == 1L) return(rep(unname(noise_var), count))
  if (!is.null(names(noise_var)) && all(tasks$names %in% names(noise_var))) return(unname(noise_var[tasks$names]))
  if (length(noise_var) != count) fail_input("noise_var", sprintf("one number or one per task (%d)", count), paste("a vector of length", length(noise_var)))
  unname(noise_var)
}

# `y ~ group`: the samples and their tasks. Several variables on the right stand for their combinations.
tasks_from_formula <- function(formula, data) {
  if (length(formula) != 3L) fail_input("formula", "a formula with two sides, such as y ~ group", describe(formula))
  if (is.null(data)) data <- environment(formula)
  if (!is.data.frame(data) && !is.environment(data)) fail_input("data", "a data frame with the variables of the formula", describe(data))
  frame <- tryCatch(
    stats::model.frame(formula, data, na.action = stats::na.pass),
    error = function(e) abort_input(paste0("The variables of `formula` could not be found or combined: ", conditionMessage(e), "."), "formula")
  )
  if (length(frame) < 2L) abort_input("`formula` must name the tasks on its right-hand side, as in y ~ group.", "formula")
  group <- if (length(frame) == 2L) frame[[2L]] else interaction(frame[-1L], drop = TRUE, sep = ":", lex.order = TRUE)
  list(y = stats::model.response(frame), group = group)
}
