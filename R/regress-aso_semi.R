# Structure from unlabelled rows: auxiliary problems, the pipeline on top of them, and the rivals it is measured against.

#' A new task on a known structure
#'
#' Fits tasks with the subspace of an [aso()] fit held fixed: \eqn{\min \frac1n \sum_i L(u'x_i + b, y_i) + \lambda \|(I - \Theta'\Theta)u\|^2}{min
#' 1/n sum_i
#' L(u'x_i + b, y_i) + lambda ||(I - Theta'Theta) u||^2}, which is to append the features \eqn{\Theta x}{Theta x} without a penalty. A ridge of 1e-8
#' times the
#' mean square of `x` on the subspace makes the answer unique.
#'
#' **Which method when:** `aso_transfer()` for a new task after [aso()] on old ones, [aso_semi()] for one task with unlabelled rows,
#' `aso_pca()` as the yardstick:
#' the same target fit on principal directions of the rows (uncentred) in the place of a learnt structure.
#'
#' @param fit An [aso()] fit, the result of `aso_pca()`, or a matrix with orthonormal rows in the columns of `x`.
#' @param x,y Rows and responses as in [aso()].
#' @param lambda Penalty outside the subspace.
#' @param loss The loss; `NULL` for that of the fit.
#' @param intercept,normalize,max_iter,threads As in [aso()]; `normalize = NULL` for that of the fit.
#' @param h Number of principal directions.
#' @return `aso_transfer()` an object of class `granary_aso_transfer`, inheriting from [`granary_aso`][aso]; `aso_pca()` a matrix h x p.
#' @references Ando and Zhang (2005). *Journal of Machine Learning Research* 6, 1817--1853, Sections 3 and 5.
#' @family shared structure
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_aso(p = 40, tasks = 31, n = 25, h = 3)
#' old <- aso(sim$x[1:30], sim$y[1:30], h = 3, lambda = 1, loss = "squared")
#' new <- aso_transfer(old, sim$x[[31]], sim$y[[31]], lambda = 1)
#' cor(coef(new)[-1, 1], sim$u[, 31])
#' dim(aso_pca(sim$x[[1]], h = 2))
aso_transfer <- function(fit, x, y, lambda = 1e-4, loss = NULL, intercept = TRUE, normalize = NULL, max_iter = 500, threads = NULL) {
  call <- match.call()
  if (missing(fit)) fail_missing("fit")
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  from_fit <- inherits(fit, "granary_aso")
  if (is.null(loss)) loss <- if (from_fit) fit$loss else "huber"
  if (is.null(normalize)) normalize <- if (from_fit) fit$normalize else FALSE
  settings <- aso_settings(loss, intercept, normalize, max_iter, threads)
  data <- aso_data(x, y, settings)
  data$masked <- rep(list(integer()), length(data$y))
  known <- if (from_fit) rownames(fit$u) else if (is.matrix(fit)) colnames(fit)
  own <- if (is.list(x) && !is.data.frame(x)) any(vapply(x, function(part) !is.null(colnames(part)), NA)) else !is.null(colnames(x))
  if (own && !is.null(known) && length(known) == length(data$names) && !identical(known, data$names)) {
    data$x <- aso_align(data$x, rep(TRUE, length(data$x)), known)
    data$names <- known
  }
  structure <- if (from_fit) list(theta = aso_thetas(fit), groups = fit$groups) else check_theta(fit, data$names)
  if (sum(lengths(structure$groups)) != length(data$names)) {
    abort_input(sprintf("`x` must have the %d columns of the structure, but it has %d.", sum(lengths(structure$groups)), length(data$names)), "x")
  }
  lambda <- check_task_lambda(lambda, length(data$y), length(structure$groups), names(data$y), names(structure$groups))
  fit_target("aso_transfer", data, structure, lambda, settings, call)
}

fit_target <- function(class, data, structure, lambda, settings, call, ...) {
  options <- list(loss = settings$loss, intercept = settings$intercept, max_iter = settings$max_iter, threads = settings$threads)
  shared <- list(groups = unname(structure$groups), theta = unname(structure$theta))
  raw <- core_aso_target(aso_tasks(data, lambda), shared, options, progress_bar("target"))
  raw$d <- rep(list(numeric()), length(structure$groups))
  fit <- aso_fit(unique(c(class, "aso")), raw, data, structure$groups, lambda, settings, call, ...)
  check_convergence(fit, "Raise `max_iter` or `lambda`, or rescale the features.")
  fit
}

check_theta <- function(theta, names) {
  theta <- check_matrix(theta, "fit")
  if (ncol(theta) != length(names)) {
    abort_input(sprintf("`fit` must be an aso() fit or a matrix with the %d columns of `x`, but it has %d columns.", length(names), ncol(theta)),
                "fit")
  }
  if (max(abs(tcrossprod(theta) - diag(nrow(theta)))) > 1e-6) abort_input("`fit` must have orthonormal rows.", "fit")
  list(theta = list(unname(theta)), groups = list(all = seq_along(names)))
}

#' @rdname aso_transfer
#' @export
aso_pca <- function(x, h = 5) {
  x <- check_design(x, min_rows = 1L)
  h <- check_count(h, upper = min(dim(x)))
  theta <- core_spectral_structure(x, h)
  colnames(theta) <- colnames(x)
  theta
}

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
#' **Which type when:** `"freq"` for counts of words and other sparse features, `"mask"` for measurements, `"topk"` (or both) once there are a few
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
#' @family shared structure
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
                            max_tasks = 1000, normalize = FALSE) {
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
  structure(list(type = type, x = x, y = y, design = as.integer(design), masked = masked, groups = groups, names = names, loss = loss, classes = NULL,
                 labels = NULL), class = "granary_auxiliary")
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

check_halves <- function(halves, p) {
  if (p < 2L) abort_input("`x` must have at least two columns to be split into halves.", "x")
  if (is.null(halves)) return(sample(rep_len(1:2, p)))
  halves <- check_vector(halves, "halves", length = p)
  if (!all(halves %in% 1:2) || length(unique(halves)) < 2L) abort_input("`halves` must hold 1 and 2, each at least once.", "halves")
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

#' Few labels, many unlabelled rows
#'
#' Learns a structure from problems made of the unlabelled rows ([aso_auxiliary()]), then fits the labelled rows on it. The supervised fit without
#' structure comes along, and both are compared by cross-validation on the labelled rows.
#'
#' @details
#' (1) The columns are split into two halves; problems of all types in `aux` are built on the unlabelled (and labelled) rows. (2) [aso()] with one
#' structure per half, `h` rows each, `n_iter` rounds (one, as in the paper: there are many problems). (3) [aso_transfer()] on the labelled rows. The
#' paper finds 10 to 100 for `h` to be alike.
#'
#' In the cross-validation the structure is learnt again in every fold if `aux` uses labels, so the comparison is fair. The score is accuracy
#' for a factor, and the micro-averaged F measure for several labels per row, where those with a positive score are predicted. `aux = "mask"` has
#' one structure for all columns.
#'
#' @param x_lab,y_lab Labelled rows and their classes: a factor, or a logical or 0/1 matrix for several labels per row.
#' @param x_unlab Unlabelled rows, in the same columns.
#' @param aux Types of [aso_auxiliary()], one or several.
#' @param h,lambda,loss,n_iter,normalize,threads As in [aso()].
#' @param k For `"topk"` and `"multik"`.
#' @param folds Number of folds, or the fold of each labelled row; 0 for no cross-validation.
#' @param min_positive,max_tasks As in [aso_auxiliary()].
#' @param ... Further arguments of [aso_auxiliary()].
#' @return An object of class `granary_aso_semi`, inheriting from [`granary_aso`][aso], with `baseline` (the fit without structure), `structure`
#'   (the [aso()] fit on
#'   the auxiliary problems), `d` (its singular values) and `cv` (scores of both, one row per fold).
#' @references Ando and Zhang (2005). *Journal of Machine Learning Research* 6, 1817--1853, Sections 4 and 5.
#' @family shared structure
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_documents(words = 20, unlabelled = 2000, labelled = 10)
#' # predict the first word of a document from the second: hide all first words together
#' fit <- aso_semi(sim$x_lab, sim$y_lab, sim$x_unlab, aux = "mask", h = 2, folds = 0,
#'                 columns = sim$first, mask_groups = rep(1:2, each = 100))
#' fit
#' mean(predict(fit, sim$x_test, type = "class") == sim$y_test)
#' mean(predict(fit$baseline, sim$x_test, type = "class") == sim$y_test)
aso_semi <- function(x_lab, y_lab, x_unlab, aux = c("freq", "topk"), h = 50, lambda = 1e-4, loss = c("huber", "squared", "logistic", "hinge2"), k = 2,
                     n_iter = 1, folds = 5, min_positive = 5, max_tasks = 1000, normalize = TRUE, threads = NULL, ...) {
  call <- match.call()
  x_lab <- check_design(x_lab)
  if (missing(y_lab)) fail_missing("y_lab")
  if (missing(x_unlab)) fail_missing("x_unlab")
  x_unlab <- new_design(x_unlab, colnames(x_lab), arg = "x_unlab")
  known <- c("mask", "freq", "predict", "topk", "multik", "confidence")
  if (!is.character(aux) || length(aux) == 0L || !all(aux %in% known)) {
    fail_input("aux", paste("types of auxiliary tasks:", paste(known, collapse = ", ")), describe(aux))
  }
  if ("mask" %in% aux && length(aux) > 1L) {
    abort_input("`aux` must be \"mask\" alone: its structure is for all columns, those of the others are for halves.", "aux")
  }
  h <- check_count(h)
  lambda <- check_number(lambda, lower = 0, strict_lower = TRUE)
  loss <- check_choice(loss, c("huber", "squared", "logistic", "hinge2"))
  if (loss == "squared") y_lab <- squared_classes(y_lab)
  k <- check_count(k)
  n_iter <- check_count(n_iter)
  normalize <- check_flag(normalize)
  threads <- thread_count(threads)
  cross_validate_it <- !(is_plain_numeric(folds) && length(folds) == 1L && folds %in% 0)
  if (cross_validate_it) folds <- check_folds(folds, nrow(x_lab))
  if (is.character(y_lab)) y_lab <- factor(y_lab)
  semi_classes(y_lab, nrow(x_lab))
  everything <- rbind_rows(x_unlab, x_lab)
  halves <- if (!"mask" %in% aux) check_halves(NULL, ncol(x_lab))
  learn <- function(rows) {
    parts <- lapply(aux, function(type) {
      aso_auxiliary(everything, type, x_lab = x_lab[rows, , drop = FALSE], y_lab = take_rows(y_lab, rows), k = if (type %in% c("topk", "multik")) k,
                      halves = halves, lambda = lambda, loss = loss, min_positive = min_positive, max_tasks = max_tasks, normalize = normalize, ...)
    })
    aux_tasks <- join_auxiliary(parts)
    suppressMessages(aso(aux_tasks, h = h, lambda = lambda, loss = aux_tasks$loss, n_iter = n_iter, normalize = normalize, threads = threads))
  }
  both <- function(structure, rows) {
    fit <- aso_transfer(structure, x_lab[rows, , drop = FALSE], take_rows(y_lab, rows), lambda, loss = loss, normalize = normalize, threads = threads)
    baseline <- plain_fit(x_lab[rows, , drop = FALSE], take_rows(y_lab, rows), list(lambda = lambda, loss = loss, normalize = normalize), threads)
    list(fit = fit, baseline = baseline)
  }
  structure <- learn(seq_len(nrow(x_lab)))
  fits <- both(structure, seq_len(nrow(x_lab)))
  uses_labels <- any(!aux %in% c("mask", "freq"))
  cv <- if (cross_validate_it) {
    do.call(rbind, resample_lapply(sort(unique(folds)), function(part) {
      train <- which(folds != part)
      if (has_lost_class(y_lab, train)) return(data.frame(fold = part, structure = NA_real_, baseline = NA_real_))
      pair <- both(if (uses_labels) learn(train) else structure, train)
      held <- which(folds == part)
      score <- function(fit) label_score(fit, x_lab[held, , drop = FALSE], take_rows(y_lab, held))
      data.frame(fold = part, structure = score(pair$fit), baseline = score(pair$baseline))
    }, "cross-validation"))
  }
  fit <- fits$fit
  fit$call <- shorten_call(call)
  fit$d <- structure$d
  extra <- list(baseline = fits$baseline, structure = structure, cv = cv, measure = if (is.factor(y_lab)) "accuracy" else "micro F", aux = aux)
  structure(c(unclass(fit), extra), class = c("granary_aso_semi", class(fit)))
}

squared_classes <- function(y) abort_input("`loss` must be a classification loss: \"huber\", \"logistic\" or \"hinge2\".", "loss")

take_rows <- function(y, rows) if (is.null(dim(y))) y[rows] else y[rows, , drop = FALSE]

rbind_rows <- function(a, b) {
  if (isS4(a) == isS4(b)) return(rbind(a, b))
  methods::as(methods::as(rbind(methods::as(a, "CsparseMatrix"), methods::as(b, "CsparseMatrix")), "generalMatrix"), "CsparseMatrix")
}

has_lost_class <- function(y, rows) is.factor(y) && length(unique(y[rows])) < nlevels(droplevels(y))

semi_classes <- function(y, n) {
  size <- if (is.null(dim(y))) length(y) else nrow(y)
  if (!is.factor(y) && is.null(dim(y))) fail_input("y_lab", "a factor with the class of each row, or a 0/1 matrix for several labels per row",
                                                   describe(y))
  if (size != n) abort_input(sprintf("`y_lab` must have one class per row of `x_lab` (%d), but it has %d.", n, size), "y_lab")
}

label_score <- function(fit, x, y) {
  if (is.factor(y)) return(mean(as.character(predict(fit, x, type = "class")) == as.character(y)))
  predicted <- predict(fit, x) > 0
  truth <- aso_positive(y)
  hits <- sum(predicted & truth)
  if (sum(predicted) + sum(truth) == 0) return(1)
  2 * hits / (sum(predicted) + sum(truth))
}

join_auxiliary <- function(parts) {
  first <- parts[[1L]]
  if (length(parts) == 1L) return(first)
  # the designs of all parts are the two halves of the same rows
  first$type <- vapply(parts, `[[`, "", "type")
  for (part in parts[-1L]) {
    first$y <- c(first$y, part$y)
    first$design <- c(first$design, part$design)
    first$masked <- c(first$masked, part$masked)
  }
  first
}

#' @rdname aso_semi
#' @param x A fit.
#' @export
print.granary_aso_semi <- function(x, ...) {
  NextMethod()
  cli::cat_line("Structure from ", ncol(x$structure$u), " auxiliary problems (", paste(x$aux, collapse = ", "), ")")
  if (!is.null(x$cv)) {
    cli::cat_line("Cross-validated ", x$measure, ": ", format(mean(x$cv$structure, na.rm = TRUE), digits = 3L), " with the structure, ",
                  format(mean(x$cv$baseline, na.rm = TRUE), digits = 3L), " without")
  }
  invisible(x)
}

#' Documents of two words
#'
#' The example of Section 4.3 of Ando and Zhang (2005): five sets of words \eqn{T_{-2}, \dots, T_2}{T_-2, ..., T_2}; a document of class \eqn{y =
#' \pm 1}{y = -1 or 1} has one
#' word uniform on \eqn{T_0 \cup T_y}{T_0 and T_y} and one uniform on \eqn{T_{2y}}{T_2y}. A few labelled documents say nothing about most words, but
#' the
#' second word predicts the first.
#'
#' @param words Size of each set.
#' @param unlabelled,labelled,test Numbers of documents.
#' @return A list with `x_lab`, `x_unlab`, `x_test` (sparse, one column per word and position), `y_lab`, `y_test`, and `first`, the columns of the
#'   first word.
#' @references Ando and Zhang (2005). *Journal of Machine Learning Research* 6, 1817--1853, Section 4.3.
#' @family shared structure
#' @export
#' @examples
#' set.seed(1)
#' str(sim_documents(words = 5, unlabelled = 20, labelled = 4, test = 4), max.level = 1)
sim_documents <- function(words = 200, unlabelled = 20000, labelled = 10, test = 1000) {
  words <- check_count(words, upper = 1e5)
  unlabelled <- check_count(unlabelled, lower = 2, upper = 1e7)
  labelled <- check_count(labelled, lower = 2, upper = 1e7)
  test <- check_count(test, upper = 1e7)
  draw_documents <- function(n, y = sample(c(-1, 1), n, replace = TRUE)) {
    set <- ifelse(stats::runif(n) < 0.5, 0, y)
    word <- function(s) (s + 2) * words + sample.int(words, n, replace = TRUE)
    x <- Matrix::sparseMatrix(rep(seq_len(n), 2L), c(word(set), 5 * words + word(2 * y)), x = 1, dims = c(n, 10 * words))
    colnames(x) <- paste0(rep(c("first", "second"), each = 5 * words), seq_len(5 * words))
    list(x = x, y = factor(y, levels = c(-1, 1)))
  }
  lab <- draw_documents(labelled, rep_len(c(-1, 1), labelled))
  new <- draw_documents(test)
  list(x_lab = lab$x, y_lab = lab$y, x_unlab = draw_documents(unlabelled)$x, x_test = new$x, y_test = new$y, first = seq_len(5L * words))
}
