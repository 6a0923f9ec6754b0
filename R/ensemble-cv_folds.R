#' Splits for cross-validation
#'
#' Which rows are tested when: folds of a partition, repeated partitions, random splits or each row by itself; balanced
#' over classes, or with groups of rows kept together. [cv_error()] and [benchmark_classifiers()] test every learner on
#' the same splits.
#'
#' @details
#' \describe{
#' \item{`"kfold"`}{`n_rep` random partitions into `folds` test sets, sizes as equal as they can be.}
#' \item{`"random"`}{`n_rep` test sets drawn at random, each a share `test` of the rows ("complete random selection").}
#' \item{`"loo"`}{every row, or every group, is a test set.}
#' }
#' All other rows are trained on. `strata` balances the test sets: every class has its share in each, and numbers are
#' cut into quarters by their ranks first. With `group` rows of one group are never on both sides; the largest groups
#' are dealt first, each to the fold with the fewest rows.
#'
#' @section Which method when:
#' Random splits with `n_rep` of 15 or more where a standard error for any learner is wanted, folds where every row is
#' to be
#' tested equally often, `group` where rows of one unit are alike, `"loo"` for linear learners, for which it costs one
#' fit.
#'
#' @param n Number of rows, or the data: a vector, matrix or data frame.
#' @param folds Number of folds, or the fold of every row.
#' @param scheme How test sets are made.
#' @param n_rep Number of partitions, or of random splits; `NULL` for 1 and 15.
#' @param test Share of the rows in a random test set.
#' @param strata Classes or numbers to balance, one per row, or `NULL`.
#' @param group Groups of rows that stay together, one label per row, or `NULL`.
#' @param x,object Splits.
#' @param ... Passed to [graphics::image()].
#' @return An object of class `granary_cv_folds`: `test`, a list with the rows of each test set; `table`, a data frame
#'   with `split`, `rep`, `fold`, the number of rows trained on and tested; `scheme`. Drawn from R's random numbers: use
#'   [set.seed()].
#' @seealso [cv_error()], [cv_plan()]
#' @export
#' @examples
#' set.seed(1)
#' folds <- cv_folds(iris, folds = 5, n_rep = 2, strata = iris$Species)
#' folds
#' table(iris$Species[folds$test[[1]]])
#' plot(folds)
cv_folds <- function(n, folds = 10, scheme = c("kfold", "random", "loo"), n_rep = NULL, test = 0.25, strata = NULL,
                     group = NULL) {
  call <- match.call()
  if (missing(n)) fail_missing("n")
  n <- if (is.data.frame(n) || is.matrix(n)) nrow(n) else if (length(n) > 1L) length(n) else check_count(n, lower = 2)
  if (n < 2L) abort_input(sprintf("`n` must have at least 2 rows, but it has %d.", n), "n")
  scheme <- check_choice(scheme, c("kfold", "random", "loo"))
  n_rep <- check_count(n_rep, upper = 1e5, allow_null = TRUE)
  labels <- if (length(folds) != 1L) one_label_each(folds, n, "folds")
  if (!is.null(labels) && scheme != "kfold") {
    abort_input("The fold of every row can be given for scheme = \"kfold\" only.", "folds")
  }
  if (is.null(labels) && scheme == "kfold") folds <- check_count(folds, lower = 2, upper = n)
  test <- check_number(test, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  if (!is.null(strata)) strata <- check_strata(strata, n)
  if (!is.null(group)) group <- one_label_each(group, n, "group")
  if (!is.null(strata) && !is.null(group)) {
    abort_input("Give `strata` or `group`, not both: groups that stay whole cannot be balanced as well.", "group")
  }
  if (is.null(n_rep)) n_rep <- if (scheme == "random") 15L else 1L
  if (scheme == "loo" && n_rep > 1L) abort_input("Leaving one out has no repetitions: `n_rep` must be 1.", "n_rep")
  if (!is.null(labels)) {
    if (n_rep > 1L) abort_input("`n_rep` must be 1 where `folds` says which fold a row is in.", "n_rep")
    made <- list(unname(split(seq_len(n), labels)))
    if (length(made[[1L]]) < 2L) abort_input("`folds` must name at least two folds.", "folds")
  } else {
    made <- switch(scheme,
      kfold = lapply(seq_len(n_rep), function(r) unname(split(seq_len(n), fold_labels(n, folds, strata, group)))),
      random = lapply(seq_len(n_rep), function(r) list(random_test(n, test, strata, group))),
      loo = list(unname(split(seq_len(n), if (is.null(group)) seq_len(n) else group)))
    )
  }
  sizes <- lengths(made)
  rows <- unlist(made, recursive = FALSE)
  table <- data.frame(split = seq_along(rows), rep = rep(seq_along(made), sizes), fold = sequence(sizes),
                      train = n - lengths(rows), test = lengths(rows))
  new_fit("cv_folds", test = rows, table = table, scheme = scheme, n = as.integer(n), strata = !is.null(strata),
          group = !is.null(group), call = call, convergence = NULL)
}

# One label per row, of any kind, as numbers of groups.
one_label_each <- function(x, n, arg) {
  if (!is.atomic(x) || is.null(x) || !is.null(dim(x))) fail_input(arg, "one label per row", describe(x))
  if (length(x) != n) {
    abort_input(sprintf("`%s` must have one label per row, %d, but it has %d.", arg, n, length(x)), arg)
  }
  if (anyNA(x)) {
    abort_input(sprintf("`%s` must have no missing labels, but label %d is NA.", arg, which(is.na(x))[1L]), arg)
  }
  as.integer(factor(x))
}

# Numbers with many values are cut into quarters.
check_strata <- function(strata, n) {
  values <- one_label_each(strata, n, "strata")
  if (!is.numeric(strata) || max(values) <= 10L) return(values)
  as.integer(ceiling(4 * rank(strata, ties.method = "first") / n))
}

# Fold of every row of one random partition.
fold_labels <- function(n, folds, strata = NULL, group = NULL) {
  if (!is.null(group)) {
    sizes <- tabulate(group)
    if (length(sizes) < folds) {
      abort_input(sprintf("`group` must have at least as many groups as there are folds, %d, but it has %d.", folds,
                          length(sizes)), "group")
    }
    load <- numeric(folds)
    where <- integer(length(sizes))
    for (g in order(-sizes, sample.int(length(sizes)))) {
      lightest <- which(load == min(load))
      where[g] <- lightest[sample.int(length(lightest), 1L)]
      load[where[g]] <- load[where[g]] + sizes[g]
    }
    return(where[group])
  }
  if (is.null(strata)) return(make_folds(n, folds))
  few <- min(tabulate(strata))
  if (few < folds) {
    warn_input(sprintf("The rarest class has %s, fewer than the %d folds: some folds are without it.",
                       counted(few, "row", "rows"), folds), "strata")
  }
  stratified_folds(strata, folds)
}

random_test <- function(n, share, strata = NULL, group = NULL) {
  take <- function(rows) {
    most <- max(1L, length(rows) - 1L)
    rows[sort(sample.int(length(rows), min(most, max(1L, round(share * length(rows))))))]
  }
  if (!is.null(group)) {
    if (max(group) < 2L) abort_input("`group` must have at least two groups, but there is one.", "group")
    return(which(group %in% take(seq_len(max(group)))))
  }
  if (is.null(strata)) return(take(seq_len(n)))
  sort(unlist(lapply(split(seq_len(n), strata), function(rows) if (length(rows) > 1L) take(rows) else integer())))
}

# Splits as an object, a number of folds, or the fold of every row.
as_cv_folds <- function(folds, n, ...) {
  if (!inherits(folds, "granary_cv_folds")) return(cv_folds(n, folds = folds, ...))
  check_fit(folds)
  if (folds$n != n) abort_input(sprintf("`folds` was made for %d rows, but there are %d.", folds$n, n), "folds")
  folds
}

scheme_words <- function(folds) {
  n_rep <- max(folds$table$rep)
  what <- switch(folds$scheme,
    kfold = paste0(max(folds$table$fold), " folds", if (n_rep > 1L) paste0(", ", n_rep, " times")),
    random = counted(n_rep, "random split", "random splits"),
    loo = if (folds$group) "one group left out" else "one row left out"
  )
  paste0(what, if (folds$strata) ", stratified", if (folds$group && folds$scheme != "loo") ", groups kept together")
}

# The partition is one and the same for all: no row is tested twice in it.
is_partition <- function(folds) folds$scheme != "random"

#' @export
print.granary_cv_folds <- function(x, ...) {
  cli::cat_line("Splits of ", x$n, " rows: ", scheme_words(x))
  cli::cat_line("Trained on ", range_words(x$table$train), " rows, tested on ", range_words(x$table$test))
  invisible(x)
}

range_words <- function(v) if (min(v) == max(v)) format(v[1L]) else paste(min(v), "to", max(v))

#' @rdname cv_folds
#' @export
plot.granary_cv_folds <- function(x, ...) {
  draw(graphics::image, seq_along(x$test), seq_len(x$n), folds_image(x), col = c("grey88", "#0072B2"), zlim = c(0, 1),
       xlab = "split", ylab = "row", main = "Rows tested", useRaster = TRUE, user = list(...))
  invisible(x)
}

folds_image <- function(x) {
  cells <- matrix(0, length(x$test), x$n)
  for (j in seq_along(x$test)) cells[j, x$test[[j]]] <- 1
  cells
}

#' @rdname cv_folds
#' @usage \method{autoplot}{granary_cv_folds}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_cv_folds <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  cells <- folds_image(object)
  table <- data.frame(split = as.vector(row(cells)), row = as.vector(col(cells)), tested = as.vector(cells) > 0)
  gg_canvas(table, ggplot2::aes(.data$split, .data$row, fill = .data$tested)) + ggplot2::geom_raster() +
    ggplot2::scale_fill_manual(values = c("grey88", "#0072B2")) + ggplot2::labs(fill = "tested")
}

#' @export
tidy.granary_cv_folds <- function(x, ...) {
  data.frame(split = rep(seq_along(x$test), lengths(x$test)), row = unlist(x$test, use.names = FALSE))
}

#' @export
glance.granary_cv_folds <- function(x, ...) {
  data.frame(n = x$n, splits = length(x$test), scheme = x$scheme, test = mean(lengths(x$test)))
}
