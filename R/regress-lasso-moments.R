#' @rdname lasso
#' @export
lasso.granary_moments <- function(x, y, lambda = NULL, lambda_min_ratio = NULL, ...) {
  call <- match.call()
  given <- list(...)
  if (missing(y)) fail_missing("y")
  y <- check_string(y)
  names <- names(x$mean)
  if (!y %in% names) abort_input(sprintf("`y` must name one of the columns of the moments, but there is no \"%s\".", y), "y")
  if (length(names) < 2L) abort_input("There must be a column besides the response.", "x")
  only <- function(arg, value) if (!is.null(given[[arg]]) && !identical(given[[arg]], value)) abort_input(sprintf(
    "`%s` cannot be had from moments: it needs the rows.", arg), arg)
  only("family", "gaussian")
  only("weights", NULL)
  only("offset", NULL)
  # rows with the same moments: least squares on them is the same problem
  rows <- core_moments_rows(moments_state(x))
  colnames(rows) <- names
  if (is.null(lambda_min_ratio)) lambda_min_ratio <- if (x$rows > length(names) - 1L) 1e-4 else 1e-2
  fit <- lasso.default(rows[, setdiff(names, y), drop = FALSE], rows[, y], lambda = lambda, lambda_min_ratio = lambda_min_ratio, ...)
  fit$n <- x$n  # the rows that were seen; those in the fit only stand for them
  fit$call <- generic_call(call, "lasso")
  fit
}

# Number of rows behind a fit.
lasso_rows <- function(fit) if (is.null(fit[["n"]])) nrow(fit$x) else fit[["n"]]
