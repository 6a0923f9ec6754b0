#' Singular vectors from drawn columns
#'
#' Leading left singular vectors of a matrix from a few of its columns, drawn by squared length: the simple baseline
#' that [cur()], [nystrom()] and a proper randomised decomposition are to beat.
#'
#' @details
#' `"linear"`: columns \eqn{j} drawn independently with \eqn{p_j = |a_j|^2/|A|_F^2}{p_j = |a_j|^2 / |A|^2} and scaled by
#' \eqn{1/\sqrt{c\,p_j}}{1 / sqrt(c p_j)} make \eqn{C}; then \eqn{E\,CC' = AA'}{E CC' = AA'},
#' \eqn{E|AA' - CC'|_F \le |A|_F^2/\sqrt c}{E|AA' - CC'| <= |A|^2 / sqrt(c)}, and the singular vectors \eqn{H_k} of
#' \eqn{C} give
#' \eqn{A \approx H_kH_k'A}{A ~ H_k H_k'A}. `"constant"`: the singular vectors of \eqn{C} from `w` of its rows, drawn
#' and scaled alike.
#'
#' @section Which method when:
#' For comparison, and for products \eqn{AA'} of matrices too large to multiply: `tcrossprod()` of `columns`.
#'
#' @inheritParams cur
#' @param k Number of singular vectors.
#' @param c Number of columns drawn.
#' @param w For `"constant"`: number of rows drawn.
#' @param method `"linear"` or `"constant"`.
#' @param object A fit.
#' @param newdata Columns to project, a matrix with the rows of `x`.
#' @return An object of class `granary_sampled_svd`: `u`, `values`, `columns` (\eqn{C}), `index` (of the columns drawn),
#'   `error` (\eqn{|A - H_kH_k'A|_F}), `norm`. `predict()` projects columns.
#' @references
#' Drineas, Kannan and Mahoney (2006). Fast Monte Carlo algorithms for matrices II: computing a low-rank approximation
#' to a matrix. *SIAM Journal on Computing* 36, 158--183.
#'
#' Drineas and Mahoney (2005). On the Nystrom method for approximating a Gram matrix for improved kernel-based learning.
#' *Journal of Machine Learning Research* 6, 2153--2175.
#' @seealso [cur()], [column_select()], [nystrom()]
#' @export
#' @examples
#' set.seed(1)
#' fit <- sampled_svd(volcano, k = 3, c = 20)
#' fit
#' dim(predict(fit, volcano[, 1:5]))
#' plot(fit)
sampled_svd <- function(x, k, c = 4 * k, w = NULL, method = c("linear", "constant"), dim = NULL, size = 256,
                        threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(k)) fail_missing("k")
  method <- check_choice(method, base::c("linear", "constant"))
  source <- lowrank_source(x, dim, check_count(size))
  on.exit(source$close())
  k <- check_rank(k, source)
  c <- check_count(c, "c")
  w <- if (is.null(w)) c else check_count(w, "w")
  raw <- core_sampled_svd(source$x, list(k = k, c = c, w = w, method = method, threads = thread_count(threads)),
                          core_seed(), progress_bar("drawn columns"))
  if (length(raw$values) < k) {
    warn_input(sprintf("`k` is %d, but the columns drawn have rank %d, which is taken.", k, length(raw$values)), "k")
  }
  new_fit("sampled_svd", u = label_both(raw$u, source$row_names, NULL), values = raw$values, columns = raw$columns,
          index = named_places(raw$index, source$col_names), error = raw$error, norm = raw$norm, method = method,
          n = source$rows, call = call,
          convergence = list())
}

#' @rdname sampled_svd
#' @export
print.granary_sampled_svd <- function(x, ...) {
  cli::cat_line("granary: singular vectors from ", ncol(x$columns), " drawn columns (", x$method, "), rank ",
                length(x$values))
  print_call(x$call)
  cli::cat_line("error: ", format(x$error / x$norm, digits = 3L), " of the norm")
  invisible(x)
}

#' @rdname sampled_svd
#' @export
predict.granary_sampled_svd <- function(object, newdata, ...) {
  refuse_dots(...)
  if (missing(newdata)) fail_missing("newdata")
  if (is_plain_numeric(newdata) && is.null(dim(newdata))) newdata <- matrix(newdata, ncol = 1L)
  newdata <- check_matrix(newdata)
  if (nrow(newdata) != nrow(object$u)) {
    abort_input(sprintf("`newdata` must have the %d rows of the matrix, but it has %d.", nrow(object$u), nrow(newdata)),
                "newdata")
  }
  object$u %*% crossprod(object$u, newdata)
}

#' @rdname sampled_svd
#' @export
tidy.granary_sampled_svd <- function(x, ...) {
  refuse_dots(...)
  data.frame(order = seq_along(x$values), value = x$values)
}

#' @rdname sampled_svd
#' @export
plot.granary_sampled_svd <- function(x, ...) {
  draw(graphics::plot, seq_along(x$values), x$values, type = "b", pch = 16, ylim = c(0, max(x$values)), xlab = "order",
       ylab = "singular value", user = list(...))
  invisible()
}

#' @rdname sampled_svd
#' @usage \method{autoplot}{granary_sampled_svd}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_sampled_svd <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  gg_canvas(tidy.granary_sampled_svd(object), ggplot2::aes(x = .data$order, y = .data$value)) + ggplot2::geom_line() +
    ggplot2::geom_point() +
    ggplot2::labs(x = "order", y = "singular value")
}
