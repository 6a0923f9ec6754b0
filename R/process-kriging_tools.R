#' Diagnostics of kriging models
#'
#' How far to trust an emulator: the integrated mean squared error, the empirical variogram beside the fitted one, the criterion as a surface, and how
#' much each run moves the prediction; `assess()` gives errors by cross-validation or on test runs.
#'
#' @details
#' | `what` | answer | arguments |
#' | --- | --- | --- |
#' | `"imse"` | mean of the predictive variance over a box | `lower`, `upper`, `method`, `points` |
#' | `"robustness"` | how much each run moves the prediction | `lower`, `upper`, `points`, `threads` |
#' | `"variogram"` | half squared differences by distance | `y` (where `object` are inputs), `bins`, `max_distance` |
#' | `"surface"` | the criterion over one or two lengthscales | `parameters`, `lower`, `upper`, `size`, `threads` |
#'
#' The integrated error is in closed form (products of differences of erf) for the kernel `"se"` with a constant trend or none, unless rounding errors
#' eat it (`method = "exact"` is then an error), otherwise an average over `points` points of Sobol's sequence.
#'
#' The variogram averages \eqn{(e_i - e_j)^2/2}{(e_i - e_j)^2 / 2} over pairs of runs in bins of their distance, \eqn{e} the responses less the
#' trend; for a fit with one kernel of distances these are measured in lengthscales, and the fitted curve \eqn{\sigma^2(1 - \rho(h) + \lambda)}{s2
#' (1 - rho(h) + lambda)} is drawn beside.
#'
#' Robustness: the prediction is linear in the responses, \eqn{m(x) = c(x)'y}. For each run, the largest \eqn{|c_i(x)|} over many
#' points \eqn{x} of the box (`absolute`) and the largest \eqn{|c_i(x)y_i|/sd(y)} (`relative`). Large values mark runs whose errors the emulator
#' amplifies. The paper names such a criterion without a formula; this definition is ours.
#'
#' `assess()` leaves out folds, with the parameters of the fit or learning them again (`refit`), or compares with test runs; `coverage` is the share of
#' responses within two standard errors.
#'
#' @section Which method when:
#' `"variogram"` and `"surface"` to see whether the parameters are well determined, `"robustness"` for single runs that decide, `"imse"` before new runs
#' are planned; `assess()` for errors of prediction.
#'
#' @param object A fit by [kriging()] or [blind_kriging()]; for the variogram also inputs.
#' @param what What is asked for.
#' @param newdata,newy Test runs: inputs and responses.
#' @param folds Number of folds, or the fold of each run.
#' @param refit Whether to learn the parameters anew without each fold.
#' @param x The result of `kriging_diagnose()`.
#' @param ... The arguments of `what`; for `plot()`, passed on to the plotting function.
#' @return A number with the attribute `method` (`"imse"`), a data frame with one row per run (`"robustness"`), or data frames of classes of their own
#'   with `plot()` methods; `assess()` a data frame with one row, by folds with the predictions of all runs in its attribute `rows`.
#' @references Couckuyt, Dhaene and Demeester (2014). ooDACE toolbox: a flexible object-oriented Kriging implementation. *Journal of Machine
#' Learning Research* 15, 3183--3186.
#'
#' Siem and den Hertog (2007). Kriging models that are robust with respect to simulation errors. CentER Discussion Paper 2007-68, Tilburg.
#' @seealso [kriging()], [blind_kriging()], [cokriging()], [gp_parameter_sample()], [sparse_gp()], [gp_classify()]
#' @export
#' @examples
#' set.seed(2)
#' x <- cbind(a = runif(25), b = runif(25))
#' y <- sin(5 * x[, 1]) + x[, 2]^2
#' fit <- kriging(x, y, kernel = "se", lengthscale = c(0.4, 1))
#' assess(fit, folds = 5)
#' assess(fit, newdata = cbind(0.3, c(0.2, 0.8)), newy = sin(1.5) + c(0.2, 0.8)^2)
#' kriging_diagnose(fit, "imse")
#' head(kriging_diagnose(fit, "robustness", points = 64))
#' v <- kriging_diagnose(fit, "variogram")
#' v
#' plot(v)
#' s <- kriging_diagnose(fit, "surface", size = 12)
#' s
#' plot(s)
kriging_diagnose <- function(object, what = c("imse", "robustness", "variogram", "surface"), ...) {
  if (missing(object)) fail_missing("object")
  what <- check_choice(what, c("imse", "robustness", "variogram", "surface"))
  ask_for(list(imse = diagnose_imse, robustness = diagnose_robustness, variogram = diagnose_variogram, surface = diagnose_surface), what,
          c(list(object), list(...)))
}

check_kriging <- function(object, arg = "object") {
  if (missing(object)) fail_missing(arg)
  if (!inherits(object, "granary_kriging")) fail_input(arg, "a fit by kriging()", describe(object))
  check_fit(object)
  object
}

error_summary <- function(y, fit, se) {
  error <- y - fit
  spread <- sum((y - mean(y))^2)
  data.frame(mse = mean(error^2), rmse = sqrt(mean(error^2)), mae = mean(abs(error)),
             r.squared = if (spread > 0) 1 - sum(error^2) / spread else NA_real_, coverage = mean(abs(error) <= 2 * se + 1e-12 * max(abs(y))))
}

#' @rdname kriging_diagnose
#' @export
assess.granary_kriging <- function(object, newdata = NULL, newy = NULL, folds = 10, refit = FALSE, ...) {
  refuse_dots(...)
  refit <- check_flag(refit)
  if (is.null(newdata) != is.null(newy)) abort_input("Give `newdata` and `newy` together, or neither.", if (is.null(newdata)) "newdata" else "newy")
  if (is.null(newdata)) return(cross_kriging(object, folds, refit))
  x <- kriging_points(object, newdata)
  y <- check_response(newy, nrow(x), arg = "newy")$y
  at <- predict_points(object, x)
  cbind(data.frame(n = length(y)), error_summary(y, at$fit, sqrt(at$se.fit^2 + object$noise_sd^2)))
}

cross_kriging <- function(object, folds, refit) {
  n <- nrow(object$x)
  if (length(folds) == 1L) folds <- min(check_count(folds, lower = 2), n)
  folds <- check_folds(folds, n)
  parts <- sort(unique(folds))
  f <- trend_matrix(object$trend, object$x)
  results <- resample_lapply(parts, function(part) {
    train <- which(folds != part)
    runs <- list(x = object$x[train, , drop = FALSE], y = object$y[train], noise_var = object$noise_var[train])
    if (any(input_ranges(runs$x) == 0)) abort_input("An input does not vary without one of the folds. Use more folds.", "folds")
    if (nrow(runs$x) <= ncol(f)) abort_input("Too few runs are left without one of the folds. Use more folds.", "folds")
    fit <- if (refit && object$s2 > 0) {
      suppressWarnings(krige(runs, refresh_trend(object$trend), object$kernel, object$settings), classes = "granary_warning")
    } else {
      fixed_fit(object, runs)
    }
    at <- predict_points(fit, object$x[-train, , drop = FALSE])
    list(rows = setdiff(seq_len(n), train), fit = at$fit, se = at$se.fit, noise = fit$noise_sd^2)
  }, "cross-validation")
  predicted <- se <- numeric(n)
  for (result in results) {
    predicted[result$rows] <- result$fit
    noise <- result$noise + if (is.null(object$noise_var)) 0 else object$noise_var[result$rows]
    se[result$rows] <- sqrt(result$se^2 + noise)
  }
  out <- cbind(data.frame(n = n), error_summary(object$y, predicted, se), folds = length(parts))
  attr(out, "rows") <- data.frame(fold = match(folds, parts), y = object$y, .fitted = predicted, .se.fit = se)
  out
}

# Parameters and scale as they are, fewer runs.
fixed_fit <- function(object, runs) {
  out <- tryCatch(rebuild_kriging(object, runs), granary_error_input = function(e) {
    abort_input(paste0("The trend cannot be estimated without one of the folds: ", conditionMessage(e), "\nUse more folds."), "folds")
  })
  out$core$scale <- object$core$scale
  out$noise_sd <- object$noise_sd
  out
}

# Corners of the box that is looked at.
check_domain <- function(object, lower, upper) {
  d <- ncol(object$x)
  lower <- check_vector(lower, "lower", length = d, allow_null = TRUE)
  upper <- check_vector(upper, "upper", length = d, allow_null = TRUE)
  if (is.null(lower)) lower <- apply(object$x, 2L, min)
  if (is.null(upper)) upper <- apply(object$x, 2L, max)
  if (any(lower >= upper)) abort_input("`lower` must be below `upper` in every input.", "lower")
  list(lower = unname(lower), upper = unname(upper))
}

box_points <- function(object, box, points) {
  unit <- core_sobol(points, ncol(object$x))
  x <- sweep(sweep(unit, 2L, box$upper - box$lower, `*`), 2L, box$lower, `+`)
  dimnames(x) <- list(NULL, colnames(object$x))
  x
}

diagnose_imse <- function(object, lower = NULL, upper = NULL, method = c("auto", "exact", "sobol"), points = 4096) {
  check_kriging(object)
  box <- check_domain(object, lower, upper)
  method <- check_choice(method, c("auto", "exact", "sobol"))
  points <- check_count(points, upper = 1e7)
  kernel <- object$core$kernel
  d <- ncol(object$x)
  constant <- object$trend$kind %in% c("none", "constant") || !is.null(object$settings$known_trend)
  closed <- identical(kernel$type, "se") && constant && length(leaf_columns(kernel, d)) == d
  if (method == "exact" && !closed) {
    abort_input("The closed form is for the kernel \"se\" of all inputs and a constant trend, or none: use method = \"sobol\".", "method")
  }
  if (closed && method != "sobol") {
    low <- (box$lower - object$units$low) / object$units$width
    high <- (box$upper - object$units$low) / object$units$width
    found <- core_kriging_imse(object$core, low, high)
    if (found$rounding <= 0.01 * found$value) return(structure(found$value, method = "exact"))
    if (method == "exact") {
      abort_numeric(paste0("The closed form is lost in rounding errors here: a process of large variance, known nearly everywhere.\n",
                           "Use method = \"sobol\"."))
    }
  }
  structure(mean(predict_points(object, box_points(object, box, points))$se.fit^2), method = "sobol")
}

diagnose_robustness <- function(object, lower = NULL, upper = NULL, points = 1024, threads = NULL) {
  check_kriging(object)
  box <- check_domain(object, lower, upper)
  points <- check_count(points, upper = 1e7)
  threads <- thread_count(threads)
  if (has_user_code(object$kernel)) threads <- 1L
  x <- box_points(object, box, points)
  part <- known_part(object, trend_matrix(object$trend, x))
  weight <- core_kriging_weights(object$core, list(x = to_units(x, object$units), f = part$f), threads, progress_bar("robustness"))
  spread <- stats::sd(object$y)
  data.frame(run = seq_along(weight), absolute = weight, relative = if (spread > 0) weight * abs(object$y) / spread else NA_real_ * weight)
}

diagnose_variogram <- function(object, y = NULL, bins = 15, max_distance = NULL) {
  if (inherits(object, "granary_kriging")) {
    if (!is.null(y)) abort_input("`y` must be left out for a fit: it has its responses.", "y")
    return(fit_variogram(object, bins, max_distance))
  }
  x <- check_inputs(object, "object", min_rows = 2L)
  empirical_variogram(x, check_response(y, nrow(x))$y, bins, max_distance)
}

fit_variogram <- function(x, bins, max_distance) {
  kernel <- x$kernel
  d <- ncol(x$x)
  radial <- is.null(kernel$children) && kernel$type %in% c("se", "matern", "rq")
  points <- x$x
  if (radial) points <- sweep(points[, leaf_columns(kernel, d), drop = FALSE], 2L, kernel$scales, `/`)
  f <- trend_matrix(x$trend, x$x)
  beta <- x$beta[!is.na(x$beta)]
  out <- empirical_variogram(points, x$y - if (length(beta) > 0L) as.vector(f %*% beta) else 0, bins, max_distance)
  if (radial) {
    unit <- kernel
    unit$columns <- 1L
    unit$scales <- 1
    unit$variance <- 1
    at <- seq(0, max(out$distance), length.out = 101L)
    attr(out, "curve") <- data.frame(distance = at, gamma = x$s2 * (1 - as.vector(kernel_matrix(unit, at, 0)) + x$nugget * (at > 0)))
  }
  attr(out, "unit") <- if (radial) "lengthscales" else "units of the inputs"
  out
}

empirical_variogram <- function(x, e, bins, max_distance) {
  bins <- check_count(bins, upper = 1e5)
  max_distance <- check_number(max_distance, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  if (nrow(x) > 10000L) abort_input("`x` must have at most 10000 rows: all pairs are looked at. Take a sample.", "x")
  distance <- as.vector(stats::dist(x))
  half <- as.vector(stats::dist(e))^2 / 2
  if (is.null(max_distance)) max_distance <- max(distance) / 2
  breaks <- seq(0, max_distance, length.out = bins + 1L)
  inside <- distance <= max_distance
  if (!any(inside) || !(max_distance > 0)) abort_input("No two rows of `x` are apart and within `max_distance`.", "max_distance")
  bin <- findInterval(distance[inside], breaks, rightmost.closed = TRUE, left.open = TRUE)
  bin <- factor(pmax(bin, 1L), seq_len(bins))
  count <- tabulate(bin, bins)
  average <- function(v) as.vector(tapply(v[inside], bin, mean))
  out <- data.frame(distance = average(distance), gamma = average(half), pairs = count)[count > 0L, ]
  rownames(out) <- NULL
  structure(out, unit = "units of the inputs", class = c("granary_variogram", "data.frame"))
}

#' @rdname kriging_diagnose
#' @export
plot.granary_variogram <- function(x, ...) {
  curve <- attr(x, "curve")
  # A smooth function looks like a piece of a process of huge variance: its curve may leave the picture, the points may not.
  top <- min(max(x$gamma, curve$gamma), 2 * max(x$gamma))
  draw(graphics::plot, x$distance, x$gamma, xlim = c(0, max(x$distance)), ylim = c(0, top), pch = 19, cex = 0.4 + sqrt(x$pairs / max(x$pairs)),
       xlab = paste0("distance (", attr(x, "unit"), ")"), ylab = "half mean squared difference", user = list(...))
  if (!is.null(curve)) graphics::lines(curve$distance, curve$gamma, col = "#2166ac", lwd = 2)
  invisible()
}

diagnose_surface <- function(object, parameters = NULL, lower = NULL, upper = NULL, size = 30, threads = NULL) {
  check_kriging(object)
  if (object$s2 == 0) abort_input("The likelihood of constant responses is infinite everywhere.", "object")
  size <- check_count(size, lower = 2, upper = 1000)
  threads <- thread_count(threads)
  if (has_user_code(object$kernel)) threads <- 1L
  core <- object$core
  drawn <- function(leaf) {  # lengthscales that were given can be drawn too
    if (leaf$type %in% c(radial_types, "hamming")) leaf$learn[2L] <- TRUE
    leaf
  }
  core$kernel <- map_leaves(core$kernel, drawn)
  d <- ncol(object$x)
  described <- kernel_parameters(core$kernel, d)
  which <- grep("lengthscale", described$names)
  if (length(which) == 0L) abort_input("The kernel has no lengthscales.", "object")
  labels <- unlist(lapply(if (is.list(object$lengthscale)) object$lengthscale else list(object$lengthscale), function(l) {
    if (is.null(names(l))) rep("lengthscale", length(l)) else names(l)
  }))
  labels <- make.unique(labels)
  if (is.null(parameters)) parameters <- seq_len(min(2L, length(which)))
  if (is.character(parameters)) parameters <- match(parameters, labels)
  if (!is_plain_numeric(parameters) || !length(parameters) %in% 1:2 || !all(parameters %in% seq_along(which)) || anyDuplicated(parameters)) {
    fail_input("parameters", sprintf("one or two of the %d lengthscales (%s), by number or name", length(which), paste(labels, collapse = ", ")),
               describe(parameters))
  }
  shift <- log(unlist(object$lengthscale)) - described$log_parameters[which]
  unit <- stats::setNames(shift[parameters], NULL)
  count <- length(parameters)
  range <- log_ranges(map_leaves(object$kernel, drawn), object$x)[which[parameters]]
  bounds <- function(bound, share, arg) {
    bound <- check_vector(bound, arg, lower = 0, strict_lower = TRUE, allow_null = TRUE)
    if (is.null(bound)) return(range + log(share) - unit)
    if (!length(bound) %in% c(1L, count)) abort_input(sprintf("`%s` must be one number or one per lengthscale drawn.", arg), arg)
    rep_len(log(bound), count) - unit
  }
  low <- bounds(lower, 0.01, "lower")
  high <- bounds(upper, 10, "upper")
  if (any(low >= high)) abort_input("`lower` must be below `upper`.", "lower")
  axes <- lapply(seq_len(count), function(k) seq(low[k], high[k], length.out = size))
  grid <- as.matrix(expand.grid(axes))
  at <- matrix(described$log_parameters, nrow(grid), length(described$log_parameters), byrow = TRUE)
  at[, which[parameters]] <- grid
  value <- core_kriging_surface(core, unname(at), threads, progress_bar("surface"))
  out <- as.data.frame(exp(sweep(grid, 2L, unit, `+`)))
  names(out) <- labels[parameters]
  out$criterion <- value
  structure(out, best = unlist(object$lengthscale)[parameters], method = object$method, class = c("granary_kriging_surface", "data.frame"))
}

#' @rdname kriging_diagnose
#' @export
plot.granary_kriging_surface <- function(x, ...) {
  label <- surface_label(x)
  best <- attr(x, "best")
  value <- x$criterion
  value[!is.finite(value)] <- NA
  if (ncol(x) == 2L) {
    draw(graphics::plot, x[[1L]], value, type = "l", lwd = 2, log = "x", xlab = paste("lengthscale of", names(x)[1L]), ylab = label, user = list(...))
    graphics::abline(v = best, lty = 2, col = "#b2182b")
    return(invisible())
  }
  first <- unique(x[[1L]])
  second <- unique(x[[2L]])
  shown <- pmax(value, stats::quantile(value, 0.1, na.rm = TRUE))  # a deep hole at one corner would hide the rest
  draw_surface(log10(first), log10(second), matrix(shown, length(first)), xlab = paste("log10 lengthscale of", names(x)[1L]),
               ylab = paste("log10 lengthscale of", names(x)[2L]), main = label, user = list(...))
  graphics::points(log10(best[1L]), log10(best[2L]), pch = 4, lwd = 2, col = "#b2182b")
  invisible()
}

surface_label <- function(x) {
  switch(attr(x, "method"), ML = "log-likelihood", REML = "restricted log-likelihood", LOO = "minus squared leave-one-out errors")
}
