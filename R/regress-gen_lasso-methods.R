# What a fit of gen_lasso() can do.

#' Methods of generalized lasso fits
#'
#' Coefficients and predictions at any penalty of the path, deviance, and plots: the path of coefficients, a signal with its fit, or an image.
#'
#' Between two penalties of the path coefficients are interpolated linearly, which is exact for least squares and sums of absolute values as long
#' as no group
#' splits or merges in between; beyond its ends the nearest fit is taken.
#'
#' @param object,x A fit of [gen_lasso()].
#' @param lambda Penalties; `NULL` for all those of the path.
#' @param newdata New rows: a matrix with the columns of the fit, or a data frame for a fit by formula. `NULL`: the fitted values.
#' @param type For `predict()`, the linear predictor or the mean; for `plot()`, what to draw: by default the signal or image where the design is the
#'   identity, else the path.
#' @param data The data frame of the fit; by default the response alone.
#' @param ... Passed on to [graphics::plot()] or [graphics::image()] by `plot()`; not used elsewhere.
#' @return `coef()` a vector for one penalty, else a matrix with one column per penalty; `predict()`, `fitted()` (means) and `residuals()`
#'   (response minus mean) likewise; `deviance()` twice the loss, per penalty; `tidy()` a data frame with one row per coefficient and penalty;
#'   `glance()` one row per penalty; `augment()` the data with columns `.fitted` and `.resid` at one penalty, the last of the path by default;
#'   `plot()` `NULL` invisibly, `autoplot()` a ggplot.
#' @seealso [gen_lasso()], [gen_lasso_select()], [gen_lasso_penalty()], [gen_lasso_image()], [lasso()], [lasso_select()]
#' @name granary_gen_lasso
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 10), 40)
#' y <- drop(x %*% rep(c(0, 2), each = 5)) + rnorm(40)
#' fit <- gen_lasso(x, y, n_lambda = 8)
#' coef(fit, lambda = 3)
#' predict(fit, x[1:3, ], lambda = 3)
#' deviance(fit)
#' tidy(fit, lambda = 3)
#' glance(fit)
#' augment(fit, lambda = 3)[1:3, ]
#' summary(fit)
#' plot(fit)
NULL

#' @rdname granary_gen_lasso
#' @importFrom stats coef predict deviance
#' @export
coef.granary_gen_lasso <- function(object, lambda = NULL, ...) {
  refuse_dots(...)
  all <- object$beta
  if (object$settings$intercept) all <- rbind("(Intercept)" = object$intercept, all)
  if (is.null(lambda)) {
    colnames(all) <- format(object$lambda, digits = 4L)
    return(all)
  }
  lambda <- check_vector(lambda, "lambda", lower = 0)
  path <- object$lambda
  out <- vapply(lambda, function(l) {
    if (length(path) == 1L || l >= path[1L]) return(all[, 1L])
    if (l <= path[length(path)]) return(all[, length(path)])
    right <- which(path <= l)[1L]
    share <- if (path[right] == l) 1 else (path[right - 1L] - l) / (path[right - 1L] - path[right])
    if (share == 1) all[, right] else (1 - share) * all[, right - 1L] + share * all[, right]
  }, numeric(nrow(all)))
  out <- matrix(out, nrow(all), dimnames = list(rownames(all), format(lambda, digits = 4L)))
  if (length(lambda) == 1L) out[, 1L] else out
}

#' @rdname granary_gen_lasso
#' @export
predict.granary_gen_lasso <- function(object, newdata = NULL, lambda = NULL, type = c("link", "response"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("link", "response"))
  b <- coef(object, lambda = if (is.null(lambda)) object$lambda else lambda)
  b <- if (is.matrix(b)) b else cbind(b)
  shift <- rep(0, ncol(b))
  if (object$settings$intercept) {
    shift <- b[1L, ]
    b <- b[-1L, , drop = FALSE]
  }
  if (is.null(newdata)) {
    eta <- if (object$identity) b else if (is.null(object$blur)) as.matrix(object$x %*% b) else box_blur(b, object$blur)
  } else {
    if (object$identity) abort_input("`newdata` must be NULL for a fit with the identity design: it has a value only where it was fitted.", "newdata")
    labels <- rownames(object$beta)
    if (!is.null(object$blur)) abort_input("`newdata` must be NULL for a fit with a blur: it has a value only where it was fitted.", "newdata")
    newdata <- new_design(newdata, if (is.null(labels)) as.character(seq_len(nrow(object$beta))) else labels, object$design)
    eta <- as.matrix(newdata %*% b)
  }
  eta <- sweep(eta, 2L, shift, `+`)
  if (type == "response") eta <- switch(object$family, binomial = stats::plogis(eta), poisson = exp(eta), eta)
  if (ncol(eta) == 1L) drop(eta[, 1L]) else eta
}

# The mean over the square around every pixel, as far as it lies in the image, of each column as an image: by cumulative sums.
box_blur <- function(b, blur) {
  half <- blur$size %/% 2L
  along <- function(image) {
    at <- seq_len(nrow(image))
    below <- rbind(0, matrix(apply(image, 2L, cumsum), nrow(image)))
    to <- pmin(at + half, nrow(image))
    from <- pmax(at - half, 1L)
    (below[to + 1L, , drop = FALSE] - below[from, , drop = FALSE]) / (to - from + 1)
  }
  apply(b, 2L, function(column) as.vector(t(along(t(along(matrix(column, blur$dim[1L])))))))
}

#' @rdname granary_gen_lasso
#' @importFrom stats fitted residuals
#' @export
fitted.granary_gen_lasso <- function(object, lambda = NULL, ...) predict(object, lambda = lambda, type = "response")

#' @rdname granary_gen_lasso
#' @export
residuals.granary_gen_lasso <- function(object, lambda = NULL, ...) object$y - fitted(object, lambda = lambda)

#' @rdname granary_gen_lasso
#' @export
tidy.granary_gen_lasso <- function(x, lambda = NULL, ...) {
  refuse_dots(...)
  lambda <- if (is.null(lambda)) x$lambda else lambda
  estimate <- coef(x, lambda = lambda)
  if (!is.matrix(estimate)) estimate <- cbind(estimate)
  term <- rownames(estimate)
  if (is.null(term)) term <- as.character(seq_len(nrow(estimate)))
  data.frame(term = rep(term, ncol(estimate)), lambda = rep(lambda, each = nrow(estimate)), estimate = as.vector(estimate))
}

#' @rdname granary_gen_lasso
#' @export
glance.granary_gen_lasso <- function(x, ...) {
  refuse_dots(...)
  end <- convergence_table(x$convergence)
  data.frame(lambda = x$lambda, df = x$df, deviance = deviance(x), objective = x$objective, end[c("converged", "iterations", "gap", "residual")],
             nobs = x$n)
}

#' @rdname granary_gen_lasso
#' @export
augment.granary_gen_lasso <- function(x, data = NULL, lambda = NULL, ...) {
  refuse_dots(...)
  lambda <- if (is.null(lambda)) x$lambda[length(x$lambda)] else check_number(lambda, lower = 0)
  augment_rows(data, x$y, fitted(x, lambda = lambda))
}

# Twice the loss per row, at columns of linear predictors.
gen_loss <- function(y, eta, family, delta) {
  eta <- as.matrix(eta)
  switch(family,
    gaussian = (y - eta)^2,
    binomial = 2 * (pmax(eta, 0) + log1p(exp(-abs(eta))) - y * eta),
    poisson = 2 * (exp(eta) - y * eta - ifelse(y > 0, y - y * log(pmax(y, 1e-300)), 0)),
    huber = {
      r <- abs(y - eta)
      ifelse(r <= delta, r^2, delta * (2 * r - delta))
    }
  )
}

#' @rdname granary_gen_lasso
#' @export
deviance.granary_gen_lasso <- function(object, ...) {
  refuse_dots(...)
  penalty <- vapply(seq_along(object$lambda), function(k) gen_penalty_value(object$penalty, object$beta[, k]), 0)
  if (object$settings$method == "tikhonov") penalty <- colSums(as.matrix(object$penalty$matrix %*% object$beta)^2)
  value <- 2 * (object$objective - object$lambda * penalty)
  if (object$family == "poisson") value <- value - 2 * sum(ifelse(object$y > 0, object$y - object$y * log(pmax(object$y, 1e-300)), 0))
  pmax(value, 0)
}

gen_penalty_value <- function(penalty, b) {
  rows <- as.vector(penalty$matrix %*% b)
  if (length(penalty$blocks) == 0L) return(sum(abs(rows)))
  sum(sqrt(rowsum(rows^2, rep(seq_along(penalty$blocks), penalty$blocks))))
}

#' @export
print.granary_gen_lasso <- function(x, ...) {
  cli::cat_line("Generalized lasso (", x$penalty$type, "), ", if (x$identity) "identity design" else paste(x$n, "rows"), ", ",
                nrow(x$beta), " coefficients, ", x$family)
  print_call(x$call)
  show <- unique(round(seq(1, length(x$lambda), length.out = min(8L, length(x$lambda)))))
  print(data.frame(lambda = x$lambda, df = x$df, objective = x$objective)[show, ], digits = 5L, row.names = FALSE)
  if (length(show) < length(x$lambda)) cli::cat_line("... ", length(x$lambda), " penalties in all")
  if (!x$unique) cli::cat_line("The coefficients are not unique.")
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname granary_gen_lasso
#' @export
summary.granary_gen_lasso <- function(object, ...) {
  refuse_dots(...)
  rows <- unique(round(seq(1, length(object$lambda), length.out = min(12L, length(object$lambda)))))
  table <- glance(object)[rows, c("lambda", "df", "deviance", "objective", "gap", "iterations")]
  seal(structure(list(fit = object, table = table, kkt = apply(object$kkt, 2L, max)), class = "summary_granary_gen_lasso"))
}

#' @export
print.summary_granary_gen_lasso <- function(x, ...) {
  fit <- x$fit
  cli::cat_line("Generalized lasso (", fit$penalty$type, "), ", if (fit$identity) "identity design" else paste(fit$n, "rows"), ", ", nrow(fit$beta),
                " coefficients, ", fit$family)
  print_call(fit$call)
  print(x$table, digits = 4L, row.names = FALSE)
  if (nrow(x$table) < length(fit$lambda)) cli::cat_line("... ", length(fit$lambda), " penalties in all; glance() has every one")
  if (!is.na(fit$lambda_max)) {
    cli::cat_line("Largest useful penalty: ", format(fit$lambda_max, digits = 5L), if (!fit$lambda_max_exact) " (an upper bound)")
  }
  cli::cat_line("Largest residuals of the optimality conditions: ", paste(names(x$kkt), format(x$kkt, digits = 2L), collapse = ", "))
  if (!fit$unique) cli::cat_line("The coefficients are not unique.")
  cli::cat_line("Solver: ", format_convergence(fit$convergence))
  invisible(x)
}

gen_shape <- function(fit) {
  dim <- fit$penalty$dim
  if (is.null(dim) || !is.null(fit$penalty$mask) || prod(dim) != nrow(fit$beta)) return(NULL)
  dim
}

#' @rdname granary_gen_lasso
#' @export
plot.granary_gen_lasso <- function(x, type = c("auto", "path", "signal", "image"), lambda = NULL, ...) {
  type <- check_choice(type, c("auto", "path", "signal", "image"))
  shape <- gen_shape(x)
  image <- length(shape) == 2L && min(shape) > 1L
  if (type == "auto") type <- if (!x$identity && is.null(x$blur)) "path" else if (image) "image" else "signal"
  if (type == "image" && !image) abort_input("`type` must not be \"image\" unless the penalty is a grid of two dimensions without a mask.", "type")
  at <- if (is.null(lambda)) x$lambda[length(x$lambda)] else check_number(lambda, "lambda", lower = 0)
  if (type == "path") {
    if (length(x$lambda) == 1L) {
      draw(graphics::plot, x$beta[, 1L], type = "s", xlab = "coefficient", ylab = "estimate", las = 1, user = list(...))
      return(invisible())
    }
    shown <- pmax(x$lambda, min(x$lambda[x$lambda > 0]) / 2)  # a penalty of zero has no logarithm
    draw(graphics::matplot, shown, t(x$beta), type = "l", lty = 1, log = "x", xlab = "penalty", ylab = "coefficient", las = 1, xlim = rev(range(shown)),
         col = grDevices::hcl.colors(nrow(x$beta), "viridis"), user = list(...))
    return(invisible())
  }
  b <- coef(x, lambda = at)
  if (x$settings$intercept) b <- b[-1L]
  if (type == "image") return(draw_image(matrix(b, shape[1L], shape[2L]), ...))
  if (x$identity) {
    draw(graphics::plot, x$y, pch = 19, cex = 0.6, col = "grey60", las = 1, xlab = "position", ylab = "value", user = list(...))
  } else {
    draw(graphics::plot, b, type = "n", las = 1, xlab = "position", ylab = "coefficient", user = list(...))
  }
  step <- startsWith(x$penalty$type, "fused") || startsWith(x$penalty$type, "sparse") || grepl("variation", x$penalty$type)
  graphics::lines(seq_along(b), b, type = if (step) "s" else "l", col = sign_colours[["positive"]], lwd = 2)
  invisible()
}

draw_image <- function(image, ...) {
  draw(graphics::image, t(image[rev(seq_len(nrow(image))), , drop = FALSE]), axes = FALSE, asp = nrow(image) / ncol(image),
       col = grDevices::gray.colors(64L, 0, 1), user = list(...))
  invisible()
}

#' @rdname granary_gen_lasso
#' @usage \method{autoplot}{granary_gen_lasso}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_gen_lasso <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  shape <- gen_shape(object)
  if (object$identity && length(shape) == 2L && min(shape) > 1L) {
    cells <- data.frame(expand.grid(row = seq_len(shape[1L]), column = seq_len(shape[2L])), value = object$beta[, ncol(object$beta)])
    return(ggplot2::ggplot(cells, ggplot2::aes(x = .data$column, y = -.data$row, fill = .data$value)) + ggplot2::geom_raster() +
             ggplot2::coord_equal() + ggplot2::labs(x = NULL, y = NULL))
  }
  if (object$identity) {
    values <- data.frame(position = seq_along(object$y), y = object$y, fit = object$beta[, ncol(object$beta)])
    return(ggplot2::ggplot(values, ggplot2::aes(x = .data$position)) + ggplot2::geom_point(ggplot2::aes(y = .data$y), colour = "grey60") +
             ggplot2::geom_step(ggplot2::aes(y = .data$fit), colour = sign_colours[["positive"]]) + ggplot2::labs(y = "value"))
  }
  long <- data.frame(lambda = rep(object$lambda, each = nrow(object$beta)), estimate = as.vector(object$beta),
                     coefficient = factor(rep(seq_len(nrow(object$beta)), ncol(object$beta))))
  ggplot2::ggplot(long[long$lambda > 0, ], ggplot2::aes(x = .data$lambda, y = .data$estimate, group = .data$coefficient)) +
    ggplot2::geom_line(ggplot2::aes(colour = as.integer(.data$coefficient))) +
    ggplot2::scale_x_continuous(trans = "log10", limits = rev(range(long$lambda[long$lambda > 0]))) + ggplot2::labs(x = "penalty", y = "coefficient", colour = "coefficient")
}
