#' Prediction problems made from unlabelled rows
#'
#' Builds the auxiliary problems from which [aso()] learns a structure without labels: parts of a row are hidden and predicted from the rest.
#'
#' @details
#' * `"mask"`: predict a column from all others. `label = "sign"`: whether it is positive; `"median"`: whether it is above its median; `"value"`:
#'   its value, by
#'   squared loss. `columns` says which; by default the `max_tasks` with most positive entries. The column, and all of its `mask_groups`, are hidden.
#' * `"freq"`: the columns are split into two halves at random; predict which column of one half is the largest of the row, from the other half, and
#'   the
#'   reverse. A structure per half.
#' * `"predict"`, `"topk"`: a classifier is trained on labelled rows with one half of the columns; predict its class (`"topk"`: the ordered `k` best
#'   classes)
#'   from the other half, and the reverse.
#' * `"multik"`: for several labels per row, the `k` best labels, each a problem; by default `k` is the average number per labelled row.
#' * `"confidence"`: the class of the classifier together with whether its score is above the median of that class.
#'
#' Problems with fewer than `min_positive` positive or negative rows are left out, as are all but the `max_tasks` with most positives.
#'
#' @section Which method when:
#' `"freq"` for counts of words and other sparse features, `"mask"` for measurements, `"topk"` (or both) once there are a few
#' hundred labels.
#'
#' @param x Unlabelled rows: a matrix, data frame or `dgCMatrix`.
#' @param type See Details.
#' @param columns For `"mask"`: names or positions of the columns to predict.
#' @param label For `"mask"`: what to predict of a column.
#' @param mask_groups For `"mask"`: `NULL`, or the group of each column, hidden together: copies and sums of a column would give it away.
#' @param x_lab,y_lab For the last four types: labelled rows, and their classes (a factor; for `"multik"` a logical or 0/1 matrix).
#' @param k For `"topk"` and `"multik"`.
#' @param halves `NULL` for random halves, or 1 and 2 for the columns.
#' @param lambda,loss Of the classifier for the last four types.
#' @param min_positive,max_tasks See Details.
#' @param normalize Scale rows to unit length for the classifier?
#' @return An object of class `granary_auxiliary`: a list with `x` (one or two designs), `y` (a list of -1/1 vectors), `design`, `masked` and
#'   `groups`. Give it to
#'   [aso()].
#' @references Ando and Zhang (2005). *Journal of Machine Learning Research* 6, 1817--1853, Section 4.2.
#' @seealso [aso()], [aso_semi()], [aso_select()], [aso_baseline()]
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rpois(200 * 12, rep(c(2, 0.2), each = 600)), 200)
#' aux <- aso_auxiliary(x, "freq", min_positive = 10)
#' aux
#' aso(aux, h = 2, lambda = 0.01)
aso_auxiliary <- function(x, type = c("mask", "freq", "predict", "topk", "multik", "confidence"), columns = NULL, label = c("sign", "median",
                                                                                                                              "value"),
                            mask_groups = NULL, x_lab = NULL, y_lab = NULL, k = NULL, halves = NULL, lambda = 1e-4, loss = "huber", min_positive = 5,
                            max_tasks = 1000, normalize = FALSE, ...) {
  refuse_dots(...)
  x <- check_design(x)
  type <- check_choice(type, c("mask", "freq", "predict", "topk", "multik", "confidence"))
  label <- check_choice(label, c("sign", "median", "value"))
  k <- check_count(k, allow_null = TRUE)
  lambda <- check_number(lambda, lower = 0)
  loss <- check_choice(loss, c("huber", "squared", "logistic", "hinge2"))
  min_positive <- check_count(min_positive)
  max_tasks <- check_count(max_tasks)
  normalize <- check_flag(normalize)
  if (type == "mask") return(mask_tasks(x, columns, label, mask_groups, min_positive, max_tasks))
  halves <- check_halves(halves, ncol(x))
  classifier <- list(lambda = lambda, loss = loss, normalize = normalize)
  if (type != "freq") {
    if (is.null(x_lab)) abort_input(sprintf("`x_lab` must be given for type = \"%s\".", type), "x_lab")
    if (is.null(y_lab)) abort_input(sprintf("`y_lab` must be given for type = \"%s\".", type), "y_lab")
    x_lab <- new_design(x_lab, colnames(x), arg = "x_lab")
  }
  parts <- lapply(1:2, function(side) {
    # labels from one half, inputs from the other
    labels <- if (type == "freq") most_frequent(x, which(halves == side)) else classifier_labels(x, type, x_lab, y_lab, halves == side, k, classifier)
    y <- binary_problems(labels, nrow(x), min_positive, max_tasks, paste0(type, side))
    list(x = keep_columns(x, halves != side), y = y)
  })
  y <- c(parts[[1L]]$y, parts[[2L]]$y)
  if (length(y) == 0L) {
    abort_input(sprintf("No auxiliary problem has %d positive and %d negative rows. Lower `min_positive`, or give more rows.", min_positive,
                        min_positive), "x")
  }
  new_auxiliary(type, list(parts[[1L]]$x, parts[[2L]]$x), y, rep(0:1, c(length(parts[[1L]]$y), length(parts[[2L]]$y))), rep(list(integer()),
                                                                                                                            length(y)),
                halves, colnames(x), "huber")
}

new_auxiliary <- function(type, x, y, design, masked, groups, names, loss) {
  seal(structure(list(type = type, x = x, y = y, design = as.integer(design), masked = masked, groups = groups, names = names, loss = loss, classes = NULL,
                 labels = NULL), class = "granary_auxiliary"))
}

#' @rdname aso_auxiliary
#' @param ... Not used.
#' @export
print.granary_auxiliary <- function(x, ...) {
  positives <- vapply(x$y, function(y) sum(y > 0, na.rm = TRUE), 0)
  cli::cat_line("granary: auxiliary tasks (", paste(unique(x$type), collapse = ", "), ")")
  cli::cat_line(counted(length(x$y), "problem", "problems"), " on ", nrow(x$x[[1L]]), " rows and ", length(x$names), " columns",
                if (!is.null(x$groups)) paste0(" in ", length(unique(x$groups)),
                                               " groups"), "; ", min(positives), " to ", max(positives), " positive rows")
  cli::cat_line("Learn their structure with aso(), or use aso_semi()")
  invisible(x)
}

check_halves <- function(halves, p, arg = "halves") {
  if (p < 2L) abort_input("`x` must have at least two columns to be split into halves.", "x")
  if (is.null(halves)) return(sample(rep_len(1:2, p)))
  halves <- check_vector(halves, arg, length = p)
  if (!all(halves %in% 1:2) || length(unique(halves)) < 2L) abort_input(sprintf("`%s` must hold 1 and 2, each at least once.", arg), arg)
  as.integer(halves)
}

# The matrix with the other columns at zero; a sparse one has them nowhere.
keep_columns <- function(x, keep) {
  if (!isS4(x)) {
    x[, !keep] <- 0
    return(x)
  }
  counts <- diff(x@p)
  stored <- rep(keep, counts)
  x@i <- x@i[stored]
  x@x <- x@x[stored]
  x@p <- c(0L, as.integer(cumsum(ifelse(keep, counts, 0L))))
  x
}

column_positives <- function(x) if (isS4(x)) vapply(split(x@x > 0, factor(rep(seq_len(ncol(x)), diff(x@p)), seq_len(ncol(x)))), sum,
                                                    0) else colSums(x > 0)

mask_tasks <- function(x, columns, label, mask_groups, min_positive, max_tasks) {
  positions <- stats::setNames(seq_len(ncol(x)), colnames(x))
  chosen <- if (is.null(columns)) order(-column_positives(x)) else which(check_features(columns, positions, "columns"))
  groups <- if (is.null(mask_groups)) seq_len(ncol(x)) else {
    parts <- check_groups(mask_groups, colnames(x))
    rep(seq_along(parts), lengths(parts))[order(unlist(parts))]
  }
  y <- list()
  masked <- list()
  for (j in chosen) {
    if (length(y) >= max_tasks) break
    values <- as.double(x[, j])
    target <- switch(label, value = values, sign = ifelse(values > 0, 1, -1), median = ifelse(values > stats::median(values), 1, -1))
    enough <- if (label == "value") min(target) < max(target) else min(sum(target > 0), sum(target < 0)) >= min_positive
    if (!enough) next
    y[[colnames(x)[j]]] <- target
    masked[[length(masked) + 1L]] <- which(groups == groups[j]) - 1L
  }
  if (length(y) == 0L) abort_input("No column of `x` makes an auxiliary problem: each is constant, or has too few positive rows.", "x")
  new_auxiliary("mask", list(x), y, rep(0L, length(y)), masked, NULL, colnames(x), if (label == "value") "squared" else "huber")
}

# The column, among `columns`, with the largest positive value of each row; NA where there is none. The first of equals.
most_frequent <- function(x, columns) {
  part <- x[, columns, drop = FALSE]
  if (!isS4(part)) {
    best <- max.col(part, ties.method = "first")
    return(factor(ifelse(part[cbind(seq_len(nrow(part)), best)] > 0, columns[best], NA)))
  }
  column <- rep(seq_along(columns), diff(part@p))
  order <- order(part@i, -part@x, column)
  first <- order[!duplicated(part@i[order])]
  first <- first[part@x[first] > 0]
  out <- rep(NA_integer_, nrow(part))
  out[part@i[first] + 1L] <- columns[column[first]]
  factor(out)
}

# Labels that a classifier on one half of the columns gives to unlabelled rows: a factor, or for "multik" a logical matrix.
classifier_labels <- function(x, type, x_lab, y_lab, half, k, classifier) {
  fit <- plain_fit(keep_columns(x_lab, half), y_lab, classifier)
  scores <- predict(fit, keep_columns(x, half))
  if (type == "multik") {
    if (is.null(k)) k <- max(1L, round(sum(aso_positive(y_lab)) / nrow(x_lab)))
    ranks <- t(apply(-scores, 1L, rank, ties.method = "first"))
    return(matrix(ranks <= k, nrow(scores), dimnames = list(NULL, colnames(scores))))
  }
  if (is.null(fit$classes)) abort_input(sprintf("`y_lab` must be a factor for type = \"%s\".", type), "y_lab")
  if (ncol(scores) == 1L) scores <- cbind(-scores, scores)
  order <- t(apply(-scores, 1L, order))
  best <- order[, 1L]
  if (type == "predict") return(factor(fit$classes[best]))
  if (type == "confidence") {
    top <- scores[cbind(seq_len(nrow(scores)), best)]
    return(factor(paste(fit$classes[best], ifelse(top > stats::ave(top, best, FUN = stats::median), "high", "low"))))
  }
  k <- min(if (is.null(k)) 2L else k, length(fit$classes))
  factor(apply(matrix(fit$classes[order[, seq_len(k)]], nrow(order)), 1L, paste, collapse = " > "))
}

aso_positive <- function(y) (if (is.data.frame(y)) as.matrix(y) else y) > 0

plain_fit <- function(x, y, classifier, threads = NULL) {
  settings <- aso_settings(classifier$loss, TRUE, classifier$normalize, 500, threads)
  data <- aso_data(x, y, settings)
  data$masked <- rep(list(integer()), length(data$y))
  groups <- list(all = seq_along(data$names))
  lambda <- check_task_lambda(classifier$lambda, length(data$y), 1L, names(data$y), "all")
  suppressWarnings(fit_target("aso", data, list(theta = list(matrix(0, 0L, length(data$names))), groups = groups), lambda, settings, NULL))
}

# One -1/1 problem per level, or per column of a logical matrix.
binary_problems <- function(labels, n, min_positive, max_tasks, prefix) {
  positives <- if (is.matrix(labels)) colSums(labels) else table(labels)
  usable <- which(positives >= min_positive & n - positives >= min_positive)
  usable <- usable[order(-positives[usable])]
  usable <- usable[seq_len(min(length(usable), max_tasks))]
  y <- lapply(usable, function(at) {
    if (is.matrix(labels)) ifelse(labels[, at], 1, -1) else ifelse(!is.na(labels) & as.integer(labels) == at, 1, -1)
  })
  stats::setNames(y, if (length(y) > 0L) paste0(prefix, ":", names(positives)[usable]))
}
