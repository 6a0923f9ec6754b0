#' Using a latent variable model
#'
#' What can be done with a fit of [gplvm()] or [dppca()]: map points of the latent space to the data, place new rows, fill in missing cells, draw
#' data, and look at the map.
#'
#' @details
#' At a latent point \eqn{x} the data have mean \eqn{\mu(x) = Y_I'K_{II}^{-1}k_I(x)}{mu(x) = Y_I' K_II^-1 k_I(x)} and variance
#' \eqn{s^2(x) = k(x, x) - k_I(x)'K_{II}^{-1}k_I(x)}{s^2(x) = k(x, x) - k_I(x)' K_II^-1 k_I(x)}, with \eqn{I} the active rows; this is what
#' `predict()` returns. `type = "response"` is for an observation: white noise is part of its variance, and binary columns have probabilities.
#' `type = "link"` is for the function behind it.
#'
#' `type = "latent"` finds \eqn{\arg\max_x \log p(y_{obs} | x) - |x|^2/2}{argmax_x log p(y_obs | x) - |x|^2 / 2} from `n_starts` starts: the positions of
#' the training rows most like `y`, and random ones. With `modes = TRUE` all distinct modes come too, as places far apart can be nearly as good.
#' With `n_draws` the log-density \eqn{\log p(y)}{log p(y)}, \eqn{x} integrated out over \eqn{N(0, I)}, is estimated by importance sampling around
#' the modes.
#' `type = "impute"` replaces missing cells by the mean (for binary columns the probability) at the projection; without `newdata`, those of the training
#' rows, at their own positions. `logLik()` of new data takes the best mode of each row, or the estimate of the integral if `n_draws` is given.
#' `simulate()` draws whole data sets at given latent points from the posterior of the process.
#'
#' `plot()` shades the map by the logarithm of the precision of the mapping: light where the model knows what the data look like.
#'
#' @param object,x A fit of [gplvm()] or [dppca()].
#' @param newdata For `predict()` and `simulate()`: latent points, one per row; by default those of the training rows. For `type = "latent"`, `"impute"`
#'   and `logLik()`: rows of data with the columns of the training data, with `NA` for missing cells.
#' @param se Whether to return standard errors too.
#' @param type `"response"` or `"link"`; see Details.
#' @param n_starts Number of starts for each row.
#' @param modes Whether to return all modes.
#' @param n_draws Number of draws for the integral over the latent space; 0 for none.
#' @param max_iter Largest number of steps from each start.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @param nsim Number of data sets.
#' @param seed `NULL`, or a seed that is used for these draws only.
#' @param labels Classes of the rows, for colours.
#' @param dims The two dimensions to draw.
#' @param background Whether to shade the map by precision.
#' @param n_grid Points of the background along each side.
#' @param ... Passed on to [graphics::plot()] by `plot()`: otherwise not used.
#' @return `predict()` a matrix with the columns of the data, or with `se = TRUE` a list of `fit` and `se.fit`; with `type = "latent"` a matrix of positions,
#'   or, with `modes` or `n_draws`, a list with `latent`, `loglik` (of each row at its best mode), `objective` (with the prior),
#'   `log_marginal` and its standard error, and `modes` (a data frame with the columns `row`, the dimensions and `objective`); `type = "impute"` the data
#'   without missing cells; `simulate()` a list of matrices; `fitted()` and `residuals()` matrices; `coef()` the parameters of the kernel; `tidy()` a
#'   data frame with one row per position.
#' @seealso [gplvm()], [dppca()], [gplvm_dimension()], [isomap()], [kernel_pca()], [gtm()]
#' @name granary_gplvm
#' @examples
#' set.seed(1)
#' t <- runif(40, -1, 1)
#' x <- cbind(a = t, b = t^2, c = sin(3 * t)) + rnorm(120, sd = 0.03)
#' x[3, 2] <- NA
#' fit <- gplvm(x, k = 1, max_iter = 100, tol = 1e-5)
#' summary(fit)
#' coef(fit)
#' predict(fit, rbind(0, 0.5), se = TRUE)
#' new <- cbind(a = c(-0.5, 0.2), b = c(NA, 0.04), c = c(-1, 0.56))
#' predict(fit, new, type = "latent")
#' predict(fit, new, type = "latent", modes = TRUE)$modes
#' predict(fit, new, type = "impute")
#' predict(fit, type = "impute")[3, ]
#' logLik(fit)
#' simulate(fit, newdata = rbind(0, 0.5))
#' head(residuals(fit), 3)
#' head(tidy(fit), 3)
#' plot(fit)
#' if (requireNamespace("ggplot2", quietly = TRUE)) ggplot2::autoplot(fit)
NULL

# Standardised rows of new data: as many columns as the model has.
latent_newdata <- function(object, newdata, arg = "newdata", allow_na = TRUE) {
  newdata <- check_matrix(newdata, arg, allow_na = allow_na)
  labels <- colnames(object$x)
  if (!is.null(colnames(newdata)) && all(labels %in% colnames(newdata))) newdata <- newdata[, labels, drop = FALSE]
  if (ncol(newdata) != length(labels)) {
    abort_input(sprintf("`%s` must have the %d columns of the training data, but it has %d.", arg, length(labels), ncol(newdata)), arg)
  }
  colnames(newdata) <- labels
  kept <- newdata[, object$keep, drop = FALSE]
  lost <- which(rowSums(!is.na(kept)) == 0)
  if (length(lost) > 0L) abort_input(sprintf("Every row of `%s` must have a value, but in row %d all are missing.", arg, lost[1L]), arg)
  if (identical(object$noise, "bernoulli")) {
    if (!all(kept %in% c(0, 1, NA))) abort_input(sprintf("Every value of `%s` must be 0 or 1, as in the training data.", arg), arg)
    y <- 2 * kept - 1
  } else {
    y <- sweep(sweep(kept, 2L, object$centre[object$keep]), 2L, object$scale[object$keep] * object$unit, "/")
  }
  list(x = newdata, y = unname(y))
}

latent_points <- function(object, newdata) {
  if (is.null(newdata)) return(object$latent)
  newdata <- check_inputs(newdata, "newdata")
  if (ncol(newdata) != object$k && length(newdata) == object$k) newdata <- matrix(newdata, 1L)
  if (ncol(newdata) != object$k) {
    abort_input(sprintf("`newdata` must be latent points with %s, but it has %d. Use type = \"latent\" or \"impute\" for rows of data.",
                        counted(object$k, "column", "columns"), ncol(newdata)), "newdata")
  }
  newdata
}

# Columns as in the training data from those of the model, constant ones filled in.
all_columns <- function(object, value, constant, rows) {
  out <- matrix(0, nrow(value), length(object$keep), dimnames = list(rows, colnames(object$x)))
  out[, object$keep] <- value
  if (any(!object$keep)) out[, !object$keep] <- rep(constant, each = nrow(value))
  out
}

#' @rdname granary_gplvm
#' @importFrom stats predict
#' @export
predict.granary_gplvm <- function(object, newdata = NULL, type = c("response", "link", "latent", "impute"), se = FALSE, n_starts = 10, modes = FALSE,
                                  n_draws = 0, max_iter = 200, threads = NULL, ...) {
  refuse_dots(...)
  se <- check_flag(se)
  type <- check_choice(type, c("response", "link", "latent", "impute"))
  if (type == "latent" && is.null(newdata)) return(object$latent)
  if (type == "latent") return(gplvm_place(object, newdata, n_starts, modes, n_draws, max_iter, threads))
  if (type == "impute") return(gplvm_impute(object, newdata, n_starts, max_iter, threads))
  points <- latent_points(object, newdata)
  at <- core_gplvm_predict(object$model, unname(points) / object$latent_unit, type == "response")
  if (object$noise == "bernoulli") {
    mean <- sweep(at$mean, 2L, object$model$offset, "+")
    if (type == "response") {
      mean <- stats::pnorm(mean / sqrt(1 + at$variance))
      sd <- sqrt(mean * (1 - mean))
    } else {
      sd <- sqrt(at$variance)
    }
    fixed <- if (type == "response") object$constant else ifelse(object$constant > 0, Inf, -Inf)
  } else {
    factor <- object$scale[object$keep] * object$unit
    mean <- sweep(sweep(at$mean, 2L, factor, "*"), 2L, object$centre[object$keep], "+")
    sd <- sweep(sqrt(at$variance), 2L, factor, "*")
    fixed <- object$constant
  }
  fit <- all_columns(object, mean, fixed, rownames(points))
  if (!se) return(fit)
  list(fit = fit, se.fit = all_columns(object, sd, 0 * object$constant, rownames(points)))
}

# Latent positions of new rows of data.
gplvm_place <- function(object, newdata, n_starts = 10, modes = FALSE, samples = 0, max_iter = 200, threads = NULL) {
  n_starts <- check_count(n_starts, upper = 10000)
  modes <- check_flag(modes)
  samples <- check_count(samples, "n_draws", lower = 0, upper = 1e7)
  max_iter <- check_count(max_iter)
  new <- latent_newdata(object, newdata)
  train <- latent_newdata(object, object$x)$y
  rows <- list(y = new$y, train_latent = unname(object$latent) / object$latent_unit, train_y = train)
  options <- list(n_starts = n_starts, max_iter = max_iter, n_draws = samples, threads = thread_count(threads))
  found <- core_gplvm_project(object$model, rows, options, core_seed(), progress_bar("placing rows"))
  rows <- rownames(new$x)
  latent <- found$x * object$latent_unit
  dimnames(latent) <- list(rows, colnames(object$latent))
  if (!modes && samples == 0L) return(latent)
  jacobian <- row_jacobian(object, new$y)
  out <- list(latent = latent, loglik = stats::setNames(as.double(found$loglik) - jacobian, rows),
              objective = stats::setNames(as.double(found$objective) - jacobian, rows))
  if (samples > 0L) {
    out$log_marginal <- stats::setNames(as.double(found$log_marginal) - jacobian, rows)
    out$log_marginal_se <- stats::setNames(as.double(found$log_marginal_se), rows)
  }
  if (modes) {
    out$modes <- do.call(rbind, lapply(seq_along(found$modes), function(k) {
      at <- found$modes[[k]] * object$latent_unit
      colnames(at) <- colnames(object$latent)
      data.frame(row = k, at, objective = as.double(found$mode_objectives[[k]]) - jacobian[k])
    }))
  }
  out
}

# What the log-density of a row's standardised cells has too much of.
row_jacobian <- function(object, y) {
  if (object$noise == "bernoulli") return(numeric(nrow(y)))
  drop((!is.na(y)) %*% log(object$scale[object$keep] * object$unit))
}

# The data with what the fit expects in the place of missing cells.
gplvm_impute <- function(object, newdata, n_starts, max_iter, threads) {
  if (is.null(newdata)) {
    x <- object$x
    guess <- predict(object)
  } else {
    x <- latent_newdata(object, newdata)$x
    guess <- predict(object, gplvm_place(object, newdata, n_starts, max_iter = max_iter, threads = threads))
  }
  x[is.na(x)] <- guess[is.na(x)]
  x
}

#' @rdname granary_gplvm
#' @importFrom stats simulate
#' @export
simulate.granary_gplvm <- function(object, nsim = 1, seed = NULL, newdata = NULL, ...) {
  nsim <- check_count(nsim)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim, newdata = newdata)))
  points <- latent_points(object, newdata)
  if (as.double(nsim) * nrow(points) * ncol(object$x) > 2^28) abort_input("`nsim` asks for more numbers than fit into memory. Draw in parts.", "nsim")
  at <- unname(points) / object$latent_unit
  binary <- object$noise == "bernoulli"
  lapply(core_gplvm_draws(object$model, at, nsim, core_seed(), progress_bar("simulation")), function(y) {
    if (!binary) y <- sweep(sweep(y, 2L, object$scale[object$keep] * object$unit, "*"), 2L, object$centre[object$keep], "+")
    all_columns(object, y, object$constant, rownames(points))
  })
}

#' @rdname granary_gplvm
#' @importFrom stats fitted
#' @export
fitted.granary_gplvm <- function(object, ...) predict(object)

#' @rdname granary_gplvm
#' @importFrom stats residuals
#' @export
residuals.granary_gplvm <- function(object, ...) object$x - stats::fitted(object)

#' @rdname granary_gplvm
#' @importFrom stats coef
#' @export
coef.granary_gplvm <- function(object, ...) coef(object$kernel)

#' @rdname granary_gplvm
#' @importFrom stats logLik
#' @export
logLik.granary_gplvm <- function(object, newdata = NULL, n_draws = 0, ...) {
  refuse_dots(...)
  df <- length(object$latent) + length(coef(object))
  if (is.null(newdata)) return(structure(object$loglik, df = df, nobs = nrow(object$latent), class = "logLik"))
  found <- gplvm_place(object, newdata, modes = TRUE, samples = n_draws)
  each <- if (is.null(found$log_marginal)) found$loglik else found$log_marginal
  structure(sum(each), df = df, nobs = length(each), class = "logLik")
}

#' @rdname granary_gplvm
#' @export
print.granary_gplvm <- function(x, ...) {
  cli::cat_line(fit_title(x))
  print_call(x$call)
  cells <- sum(is.na(x$x))
  holes <- if (cells > 0) paste0(" with ", counted(cells, "missing cell", "missing cells")) else ""
  cli::cat_line(sprintf("%d x %d data%s in %s", nrow(x$x), ncol(x$x), holes, counted(x$k, "latent dimension", "latent dimensions")),
                if (x$noise == "bernoulli") ", binary columns", if (x$method == "sparse") sprintf(", %d active rows", length(x$active)))
  print(x$kernel)
  cli::cat_line(sprintf("log-likelihood %s%s", format(x$loglik, digits = 6L),
                        if (isTRUE(x$prior)) paste0(", with the prior ", format(x$objective, digits = 6L)) else ""))
  if (inherits(x, "granary_dppca")) {
    cli::cat_line("noise: 1/beta = ", format(x$noise_var, digits = 4L), " (divisor N - k); of probabilistic PCA ",
                  format(x$ppca_noise, digits = 4L), " (divisor D - k)")
  }
  if (!is.null(x$starts) && nrow(x$starts) > 1L) cli::cat_line("best of ", nrow(x$starts), " starts: ", x$starts$start[which.max(x$starts$objective)])
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname granary_gplvm
#' @export
summary.granary_gplvm <- function(object, ...) {
  residual <- if (object$noise == "gaussian") stats::residuals(object)
  seal(structure(
    list(fit = object, starts = object$starts, spread = apply(object$latent, 2L, stats::sd),
         explained = if (!is.null(residual)) {
           centred <- sweep(object$x, 2L, colMeans(object$x, na.rm = TRUE))
           1 - sum(residual^2, na.rm = TRUE) / sum(centred^2, na.rm = TRUE)
         }),
    class = "summary_granary_gplvm"
  ))
}

#' @export
print.summary_granary_gplvm <- function(x, ...) {
  print(x$fit)
  if (!is.null(x$explained)) cli::cat_line("Share of the variance in the means: ", format(x$explained, digits = 4L))
  cli::cat_line("Standard deviations of the latent dimensions: ", paste(format(x$spread, digits = 3L), collapse = " "))
  if (!is.null(x$starts)) print(x$starts, digits = 6L, row.names = FALSE)
  invisible(x)
}

# The logarithm of the precision of the mapping, averaged over the columns of the data, on a grid over two dimensions.
map_precision <- function(x, dims, n_grid) {
  at <- lapply(dims, function(k) {
    range <- grDevices::extendrange(x$latent[, k], f = 0.1)
    seq(range[1L], range[2L], length.out = n_grid)
  })
  points <- matrix(colMeans(x$latent), n_grid^2, x$k, byrow = TRUE)
  points[, dims] <- as.matrix(expand.grid(at[[1L]], at[[2L]]))
  variance <- core_gplvm_predict(x$model, points / x$latent_unit, TRUE)$variance
  list(at[[1L]], at[[2L]], matrix(-rowMeans(log(pmax(variance, .Machine$double.xmin))), n_grid))
}

#' @rdname granary_gplvm
#' @export
plot.granary_gplvm <- function(x, labels = NULL, dims = 1:2, background = TRUE, n_grid = 50, ...) {
  background <- check_flag(background)
  n_grid <- check_count(n_grid, lower = 2, upper = 1000)
  dims <- check_dims(dims, x$k)
  if (length(dims) == 2L && background) {
    draw_embedding(x$latent, labels, dims, list(...), background = map_precision(x, dims, n_grid))
  } else if (length(dims) == 1L && ncol(x$x) >= 1L) {
    curve <- seq(min(x$latent[, dims]), max(x$latent[, dims]), length.out = 200L)
    points <- matrix(colMeans(x$latent), 200L, x$k, byrow = TRUE)
    points[, dims] <- curve
    shape <- predict(x, points, se = TRUE)
    column <- which.max(column_sd(x$x))
    binary <- x$noise == "bernoulli"  # the spread of zeros and ones says nothing beyond their probability
    draw_band(curve, shape$fit[, column], if (binary) 0 else shape$se.fit[, column], x$latent[, dims], x$x[, column],
              xlab = colnames(x$latent)[dims], ylab = if (binary) sprintf("P(%s = 1)", colnames(x$x)[column]) else colnames(x$x)[column],
              user = list(...))
  } else {
    draw_embedding(x$latent, labels, dims, list(...))
  }
  invisible()
}

#' @rdname granary_gplvm
#' @usage \method{autoplot}{granary_gplvm}(object, labels = NULL, dims = 1:2,
#'   background = TRUE, n_grid = 50, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_gplvm <- function(object, labels = NULL, dims = 1:2, background = TRUE, n_grid = 50, ...) {  # nolint: object_name_linter.
  background <- check_flag(background)
  n_grid <- check_count(n_grid, lower = 2, upper = 1000)
  picture <- autoplot.granary_embedding(object, labels, dims)
  dims <- check_dims(dims, object$k)
  if (length(dims) < 2L || !background) return(picture)
  shade <- map_precision(object, dims, n_grid)
  table <- data.frame(expand.grid(a = shade[[1L]], b = shade[[2L]]), precision = c(shade[[3L]]))
  under <- ggplot2::geom_raster(ggplot2::aes(x = .data$a, y = .data$b, fill = .data$precision), table, inherit.aes = FALSE)
  picture$layers <- c(list(under), picture$layers)
  picture + ggplot2::scale_fill_gradient(low = "grey35", high = "white", name = "log precision")
}
