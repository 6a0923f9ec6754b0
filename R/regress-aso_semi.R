# Structure from unlabelled rows: auxiliary problems, the pipeline on top of them, and the rivals it is measured against.

# Tasks on a known structure: an aso() fit, or a matrix with orthonormal rows.
aso_on <- function(fit, x, y, lambda = 1e-4, loss = NULL, intercept = TRUE, normalize = NULL, max_iter = 500, threads = NULL, call = NULL) {
  if (is.null(y)) fail_missing("y")
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
  theta <- check_matrix(theta, "structure")
  if (ncol(theta) != length(names)) {
    abort_input(sprintf("`structure` must be an aso() fit or a matrix with the %d columns of `x`, but it has %d columns.", length(names), ncol(theta)),
                "structure")
  }
  if (max(abs(tcrossprod(theta) - diag(nrow(theta)))) > 1e-6) abort_input("`structure` must have orthonormal rows.", "structure")
  list(theta = list(unname(theta)), groups = list(all = seq_along(names)))
}

# The yardstick of a learnt structure: principal directions of the rows, uncentred.
principal_structure <- function(x, h) {
  h <- check_count(h, upper = min(dim(x)))
  theta <- core_spectral_structure(x, h)
  colnames(theta) <- colnames(x)
  theta
}

#' Few labels, many unlabelled rows
#'
#' Learns a structure from problems made of the unlabelled rows ([aso_auxiliary()]), then fits the labelled rows on it. The supervised fit without
#' structure comes along, and both are compared by cross-validation on the labelled rows.
#'
#' @details
#' (1) The columns are split into two halves; problems of all types in `aux` are built on the unlabelled (and labelled) rows. (2) [aso()] with one
#' structure per half, `h` rows each, `n_iter` rounds (one, as in the paper: there are many problems). (3) `aso(structure = )` on the labelled rows. The
#' paper finds 10 to 100 for `h` to be alike.
#'
#' In the cross-validation the structure is learnt again in every fold if `aux` uses labels, so the comparison is fair. The score is accuracy
#' for a factor, and the micro-averaged F measure for several labels per row, where those with a positive score are predicted. `aux = "mask"` has
#' one structure for all columns.
#'
#' @section Which method when:
#' When unlabelled rows are plenty and labels few; [aso_baseline()] has co-training, self-training and principal components to compare with. With many
#' labelled tasks instead use [aso()].
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
#' @seealso [aso()], [aso_auxiliary()], [aso_select()], [aso_baseline()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_aso("documents", words = 20, unlabelled = 2000, labelled = 10)
#' # predict the first word of a document from the second: hide all first words together
#' fit <- aso_semi(sim$x_lab, sim$y_lab, sim$x_unlab, aux = "mask", h = 2, folds = 0,
#'                 columns = sim$first, mask_groups = rep(1:2, each = 100))
#' fit
#' mean(predict(fit, sim$x_test, type = "class") == sim$y_test)
#' mean(predict(fit$baseline, sim$x_test, type = "class") == sim$y_test)
aso_semi <- function(x_lab, y_lab, x_unlab, aux = c("freq", "topk"), h = 50, lambda = 1e-4, loss = c("huber", "squared", "logistic", "hinge2"), k = 2,
                     n_iter = 1, folds = 10, min_positive = 5, max_tasks = 1000, normalize = TRUE, threads = NULL, ...) {
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
    fit <- aso_on(structure, x_lab[rows, , drop = FALSE], take_rows(y_lab, rows), lambda, loss, TRUE, normalize, 500, threads)
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
  seal(structure(c(unclass(fit), extra), class = c("granary_aso_semi", class(fit))))
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
