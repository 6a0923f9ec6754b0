#' Choose columns that stand for all
#'
#' Column subset selection: `c` columns of a matrix such that the others are nearly linear functions of them; landmark
#' variables for dashboards, sensors, panels. `leverage_scores()` gives the scores many of the methods go by,
#' `dual_set()` the weights behind the method with the guarantee, `cur_frequency()` how often each column is chosen when
#' the random choice is repeated.
#'
#' @details
#' Minimises \eqn{|A - CC^+A|_F} approximately; `method` is as in [cur()]. `"fast"`: expected squared error at most
#' \eqn{1+\epsilon}{1 + eps} times that of the best matrix of rank \eqn{k}, with \eqn{\epsilon}{eps} in `bound`.
#' `"dual_set"`: at most \eqn{1 + (1-\sqrt{k/c})^{-2}}{1 + (1 - sqrt(k/c))^-2} times, always (with exact singular
#' vectors).
#'
#' The leverage score of column \eqn{j} is \eqn{\sum_{t\le k}V_{jt}^2}{sum_(t <= k) V_jt^2}, over the \eqn{k} leading
#' right singular vectors; the scores sum to \eqn{k}.
#'
#' `dual_set()`: for vectors \eqn{v_i} (rows of `v`, orthonormal columns) and numbers \eqn{x_i\ge0}{x_i >= 0}, weights
#' \eqn{s} of which at most `r` are positive, with
#' \deqn{\lambda_{\min}\Big(\sum_i s_iv_iv_i'\Big)\ge(1-\sqrt{k/r})^2,\qquad\sum_i s_ix_i\le\sum_i x_i.}{
#'   lambda_min(sum_i s_i v_i v_i') >= (1 - sqrt(k/r))^2,  sum_i s_i x_i <= sum_i x_i.}
#' Both are checked on every answer.
#'
#' @section Which method when:
#' As for [cur()]. To choose variables by what they say about a response rather than about each other, [lasso()].
#'
#' @inheritParams cur
#' @param r For `dual_set()`: the largest number of positive weights, above the number of columns of `v`.
#' @param v For `dual_set()`: a matrix with orthonormal columns.
#' @param margin Scores of columns (2) or rows (1).
#' @param n_rep Number of repetitions.
#' @param share For `cur_frequency()`: share of the rows, drawn afresh in each repetition, that the choice is made from.
#' @return `column_select()`: an object of class `granary_column_select` with `cols`, `weights` (of the dual set, where
#'   there is one), `scores`,
#'   `coefficients` (\eqn{C^+A}, which `predict()` applies to new rows), `error`, `best_error`, `err_ratio`, `bound`.
#'   `leverage_scores()`: an object of class `granary_leverage_scores` with `scores` and `values`, the singular values.
#'   `dual_set()`: a list with `weights` and both sides of both certificates. `cur_frequency()`: an object of class
#'   `granary_cur_frequency` with `frequency`, a number between 0 and 1 per column.
#' @references
#' Boutsidis, Drineas and Magdon-Ismail (2014). Near-optimal column-based matrix reconstruction. *SIAM Journal on
#' Computing* 43, 687--717.
#'
#' Wang and Zhang (2012). A scalable CUR matrix decomposition algorithm: lower time complexity and tighter bound.
#' *Advances in Neural Information Processing Systems* 25.
#' @seealso [cur()], [cur_plan()], [nystrom()]
#' @export
#' @examples
#' # four measurements of cars that nearly give all eleven
#' motor <- scale(as.matrix(mtcars))
#' chosen <- column_select(motor, k = 3, c = 4, method = "qr")
#' chosen
#' predict(chosen, motor[1:2, ])
#' leverage_scores(motor, k = 3)
#' v <- svd(motor)$v[, 1:3]
#' dual_set(rep(1, 11), v, r = 6)$weights
#' set.seed(1)
#' plot(cur_frequency(motor, k = 3, c = 5, n_rep = 20))
column_select <- function(x, k, c = 4 * k,
                          method = c("fast", "dual_set", "subspace", "subspace_expected", "leverage_top", "qr",
                                     "uniform", "norm2", "adaptive", "given"),
                          split = NULL, svd = c("auto", "random", "exact"), replace = FALSE, oversample = 10, power = 1,
                          cols = NULL, dim = NULL,
                          size = 256, na = c("error", "mean"), threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(x)) fail_missing("x")
  # first, since a look for the function c() finds the argument, whose default needs it
  if (missing(k)) fail_missing("k")
  source <- lowrank_source(x, dim, check_count(size), check_choice(na, c("error", "mean")))
  on.exit(source$close())
  method <- check_choice(method, c("fast", "dual_set", "subspace", "subspace_expected", "leverage_top", "qr", "uniform",
                                   "norm2", "adaptive", "given"))
  k <- check_rank(k, source)
  given <- given_places(cols, NULL, source, method, columns_only = TRUE)
  c <- if (method == "given") length(given$columns) else check_size_of_choice(c, "c", source$cols, k, method, replace)
  options <- c(choice_options(k, c, method, split, svd, replace, oversample, power, threads),
               given["columns"[method == "given"]])
  raw <- core_cur(source$x, options, core_seed(), progress_bar("columns"))
  warn_choice(raw, k, method)
  cols <- named_places(raw$columns$index, source$col_names)
  new_fit(
    c("column_select", "cur"), cols = cols, weights = raw$columns$weights,
    col_scores = stats::setNames(raw$columns$scores, source$col_names),
    coefficients = label_both(raw$u, names(cols), source$col_names), values = raw$values, k = raw$k, norm = raw$norm,
    error = raw$error,
    best_error = raw$best_error, err_ratio = error_ratio(raw$error, raw$best_error, raw$norm), bound = raw$bound,
    exact_svd = raw$exact_svd,
    method = method, dims = c(source$rows, source$cols), variables = source$col_names, passes = raw$passes,
    n = source$rows, seconds = raw$seconds,
    call = call, convergence = list()
  )
}

#' @rdname column_select
#' @export
print.granary_column_select <- function(x, ...) {
  cli::cat_line("granary: ", counted(length(x$cols), "column", "columns"), " of ", x$dims[2L], " that stand for all")
  print_call(x$call)
  print_chosen("columns: ", x$cols)
  print_errors(x)
  invisible(x)
}

#' @rdname column_select
#' @param object A fit.
#' @param newdata New rows: with all columns of `x`, or only those chosen, in their order.
#' @export
predict.granary_column_select <- function(object, newdata, ...) {
  refuse_dots(...)
  if (missing(newdata)) fail_missing("newdata")
  as.matrix(known_columns(newdata, object$cols, object$dims[2L]) %*% object$coefficients)
}

#' @rdname column_select
#' @export
fitted.granary_column_select <- function(object, ...) not_for(object, "fitted()", "it keeps no rows; see predict()")

#' @rdname column_select
#' @export
as.matrix.granary_column_select <- function(x, ...) not_for(x, "as.matrix()", "it keeps no rows; see predict()")

#' @rdname column_select
#' @export
leverage_scores <- function(x, k, margin = 2, svd = c("auto", "random", "exact"), oversample = 10, power = 1,
                            dim = NULL, size = 256, threads = NULL,
                            ...) {
  refuse_dots(...)
  call <- match.call()
  margin <- check_count(margin, upper = 2)
  source <- lowrank_source(x, dim, check_count(size))
  on.exit(source$close())
  k <- check_rank(k, source)
  options <- choice_options(k, k, "leverage_top", NULL, svd, FALSE, oversample, power, threads)
  raw <- core_column_leverage(source$x, c(options, list(by_rows = margin == 1L)), core_seed(),
                              progress_bar("leverage scores"))
  if (raw$k < k) warn_input(sprintf("`k` is %d, but the matrix has numerical rank %d, which is taken.", k, raw$k), "k")
  new_fit("leverage_scores",
          scores = stats::setNames(raw$scores, if (margin == 2L) source$col_names else source$row_names),
          values = raw$values, k = raw$k, exact_svd = raw$exact_svd, margin = margin, n = source$rows, call = call,
          convergence = list())
}

#' @rdname column_select
#' @export
print.granary_leverage_scores <- function(x, ...) {
  cli::cat_line("granary: leverage scores of ", length(x$scores), if (x$margin == 2L) " columns" else " rows",
                ", rank ", x$k)
  print_call(x$call)
  top <- utils::head(order(-x$scores), 6L)
  label <- if (is.null(names(x$scores))) top else names(x$scores)[top]
  cli::cat_line("largest: ", paste0(label, " ", format(x$scores[top], digits = 3L, trim = TRUE), collapse = ", "))
  invisible(x)
}

#' @rdname column_select
#' @export
tidy.granary_leverage_scores <- function(x, ...) {
  refuse_dots(...)
  data.frame(index = seq_along(x$scores), name = variable_names(names(x$scores), length(x$scores)),
             score = unname(x$scores))
}

#' @rdname column_select
#' @export
plot.granary_leverage_scores <- function(x, ...) {
  draw(graphics::plot, seq_along(x$scores), unname(x$scores), type = "h",
       xlab = if (x$margin == 2L) "column" else "row", ylab = "leverage score", user = list(...))
  invisible()
}

#' @rdname column_select
#' @usage \method{autoplot}{granary_leverage_scores}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_leverage_scores <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  gg_canvas(tidy.granary_leverage_scores(object), ggplot2::aes(x = .data$index, y = .data$score)) +
    ggplot2::geom_segment(ggplot2::aes(xend = .data$index, yend = 0)) +
    ggplot2::labs(x = if (object$margin == 2L) "column" else "row", y = "leverage score")
}

#' @rdname column_select
#' @export
dual_set <- function(x, v, r, ...) {
  refuse_dots(...)
  x <- unname(check_vector(x, lower = 0))
  v <- check_matrix(v)
  r <- check_count(r)
  if (length(x) != nrow(v)) {
    abort_input(sprintf("`x` must have one number per row of `v`, %d, but it has %d.", nrow(v), length(x)), "x")
  }
  core_dual_set(x, v, r, progress_bar("dual set"))
}

#' @rdname column_select
#' @export
cur_frequency <- function(x, k, c = 4 * k, method = c("fast", "subspace", "subspace_expected", "uniform", "norm2",
                                                      "adaptive", "qr", "dual_set", "leverage_top"),
                          n_rep = 50, share = 1, svd = c("auto", "random", "exact"), threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(k)) fail_missing("k")
  x <- check_matrix(x, allow_sparse = TRUE)
  if (is.function(c)) fail_input("c", "a number of columns", describe(c))
  method <- check_choice(method, c("fast", "subspace", "subspace_expected", "uniform", "norm2", "adaptive", "qr",
                                   "dual_set", "leverage_top"))
  n_rep <- check_count(n_rep)
  share <- check_number(share, lower = 0, upper = 1, strict_lower = TRUE)
  svd <- check_choice(svd, c("auto", "random", "exact"))
  size <- max(1L, round(share * nrow(x)))
  found <- resample_lapply(seq_len(n_rep), function(k_rep) {
    rows <- if (share < 1) sort(sample.int(nrow(x), size)) else seq_len(nrow(x))
    chosen <- column_select(x[rows, , drop = FALSE], k, c, method, svd = svd, threads = threads)
    list(cols = unique(unname(chosen$cols)), ratio = chosen$err_ratio)
  }, "repeated choices")
  count <- tabulate(unlist(lapply(found, `[[`, "cols")), ncol(x))
  new_fit("cur_frequency", frequency = stats::setNames(count / n_rep, colnames(x)),
          err_ratio = vapply(found, `[[`, 0, "ratio"), n_rep = n_rep, method = method, n = nrow(x), call = call,
          convergence = list())
}

#' @rdname column_select
#' @export
print.granary_cur_frequency <- function(x, ...) {
  cli::cat_line("granary: how often each of ", length(x$frequency), " columns is chosen in ", x$n_rep, " repetitions")
  print_call(x$call)
  top <- utils::head(order(-x$frequency), 8L)
  label <- if (is.null(names(x$frequency))) top else names(x$frequency)[top]
  cli::cat_line("most often: ", paste0(label, " ", format(x$frequency[top], digits = 2L, trim = TRUE), collapse = ", "))
  cli::cat_line("error ratio: mean ", format(mean(x$err_ratio), digits = 4L), ", largest ",
                format(max(x$err_ratio), digits = 4L))
  invisible(x)
}

#' @rdname column_select
#' @export
tidy.granary_cur_frequency <- function(x, ...) {
  refuse_dots(...)
  data.frame(index = seq_along(x$frequency), name = variable_names(names(x$frequency), length(x$frequency)),
             frequency = unname(x$frequency))
}

#' @rdname column_select
#' @export
plot.granary_cur_frequency <- function(x, ...) {
  draw(graphics::plot, seq_along(x$frequency), unname(x$frequency), type = "h", xlab = "column",
       ylab = "share of repetitions", ylim = 0:1, user = list(...))
  invisible()
}

#' @rdname column_select
#' @usage \method{autoplot}{granary_cur_frequency}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_cur_frequency <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  gg_canvas(tidy.granary_cur_frequency(object), ggplot2::aes(x = .data$index, y = .data$frequency)) +
    ggplot2::geom_segment(ggplot2::aes(xend = .data$index, yend = 0)) + ggplot2::ylim(0, 1) +
      ggplot2::labs(x = "column", y = "share of repetitions")
}
