#' What a support vector machine can do
#'
#' Methods for the fits of [svm()].
#'
#' @details
#' `predict()` gives the class (for `"one_class"` whether a row is like the others, support vectors on the boundary on either side), the response of
#' a regression, the decision values, or with a fit made with `probability` the probabilities of the classes. Decision values have one column per
#' machine: the column `"b/a"` is positive for class b, negative for class a; against the rest it is positive for the class it is named after. Pairs
#' of classes vote, and the earlier class wins a tie. For `kernel = "precomputed"` give the kernel between the new rows and all rows of the fit, one
#' column for each of those.
#'
#' `coef()` of a linear kernel gives weights of the columns in their original units, with the intercept first and a column per machine; for other
#' kernels the signed coefficients of the support vectors.
#'
#' `plot()` with `which = "boundary"` shows the decision value over two columns, others at their mean (with margins where there are two classes, the
#' tube's fit for a regression); support vectors are circled, filled where their coefficient is at its bound. `which = "violation"` shows the
#' violation of the optimality conditions at every step, as Figure 10 of the paper, for fits made with `trace = TRUE`; `"calibration"` the observed
#' share of a class against its probability on left-out folds, for two classes.
#'
#' @param x,object A fit.
#' @param newdata Rows to predict for; `NULL` for the rows of the fit.
#' @param type For `predict()`: `"class"` or `"response"` (the same for regressions), `"link"`, `"prob"`. For `plot()`: `"boundary"`, `"violation"` or
#'   `"calibration"`.
#' @param threads Threads; `NULL` for `getOption("granary.threads")`.
#' @param columns For `plot()`: the two columns shown, by name or number. By default the first two.
#' @param size For `plot()`: number of points along each axis.
#' @param bins For `plot()`: number of bins of the calibration plot.
#' @param ... For `plot()`, passed on to graphics functions; otherwise not used.
#' @return `predict()` a factor, a numeric vector or a matrix with a column per machine or class; `tidy()` a row per support vector and machine;
#'   `glance()` a row per machine; `summary()` an object that prints counts of support vectors and the certificate.
#' @seealso [svm()], [svm_select()], [lasvm()], [gp_classify()], [structured_svm()]
#' @name granary_svm
#' @examples
#' fit <- svm(Species ~ Petal.Length + Petal.Width, iris, probability = "platt", trace = TRUE)
#' predict(fit, iris[c(1, 80, 120), ], type = "prob")
#' summary(fit)
#' plot(fit)
#' plot(fit, "violation")
#' head(tidy(fit))
#' glance(fit)
#' line <- svm(mpg ~ wt + hp, mtcars, type = "regression", kernel = "linear")
#' coef(line)
#' head(residuals(line))
#' head(fitted(line))
NULL

# Decision values: a row for each row of `newdata`, a column per machine.
svm_decision <- function(object, newdata, threads = NULL) {
  threads <- thread_count(threads)
  at <- svm_new_rows(object, newdata)
  labels <- list(rownames(at), colnames(object$coefficients))
  values <- if (is.null(object$kernel)) {
    at[, object$index, drop = FALSE] %*% object$coefficients
  } else if (length(object$index) == 0L) {
    matrix(0, nrow(at), ncol(object$coefficients))
  } else if (is_plain_linear(object$kernel)) {
    as.matrix(at %*% svm_weights(object))
  } else {
    if (has_user_code(object$kernel)) threads <- 1L
    core_svm_decision(object$sv, with_kernel_of(object, at)$kernel, object$coefficients, at, threads, progress_bar("prediction"))
  }
  values <- values + rep(unname(object$offset), each = nrow(values))
  dimnames(values) <- labels
  values
}

is_plain_linear <- function(kernel) is.null(kernel$children) && identical(kernel$type, "linear")

# Weights of the scaled columns of a linear kernel, a column per machine.
svm_weights <- function(object) {
  weights <- as.matrix(Matrix::crossprod(object$sv, object$coefficients))
  kernel <- object$kernel
  scales <- numeric(nrow(weights))
  scales[if (length(kernel$columns) > 0L) kernel$columns else seq_len(nrow(weights))] <- kernel$scales
  weights * scales
}

# Rows in the columns of the fit, scaled as those were.
svm_new_rows <- function(object, newdata, arg = "newdata") {
  if (is.null(object$kernel)) {
    if (is.null(newdata)) abort_input("A fit to a kernel matrix has no rows of its own to predict: give their kernel values.", arg)
    at <- check_matrix(newdata, arg)
    if (ncol(at) != object$n) {
      abort_input(sprintf("`%s` must have the kernel of each new row with all %d rows of the fit, but it has %d columns.", arg, object$n,
                          ncol(at)), arg)
    }
    return(at)
  }
  kernel <- NULL
  if (!is.null(object$nystrom) && !is.null(newdata)) newdata <- nystrom_features(object$nystrom, newdata, arg = arg)
  at <- if (is.null(newdata)) {
    object$x[object$used, , drop = FALSE]
  } else if (!is.null(object$layout)) {
    bound <- bind_new_objects(object$kernel, newdata, object$layout, arg, rows = object$sv)
    kernel <- bound$kernel
    bound$x
  } else {
    if (is_plain_numeric(newdata) && is.null(dim(newdata)) && is.null(object$design) && length(newdata) == length(object$columns)) {
      newdata <- matrix(newdata, 1L)
    }
    new_design(newdata, object$columns, object$design, arg, allow_sparse = TRUE)
  }
  if (isS4(at) && (!isS4(object$sv) || !is.null(object$scaling))) at <- as.matrix(at)
  if (!is.null(object$scaling)) at <- svm_scale(at, object$scaling)
  attach_kernel(at, kernel)
}

# From decision values to classes or responses.
svm_answer <- function(object, decision) {
  levels <- object$levels
  names <- rownames(decision)
  if (object$type == "one_class") return(stats::setNames(decision[, 1L] > 0, names))
  if (is.null(levels)) return(stats::setNames(decision[, 1L] * object$response$scale + object$response$centre, names))
  k <- length(levels)
  chosen <- if (k == 2L) {
    1L + (decision[, 1L] > 0)
  } else if (object$multiclass == "one_vs_one") {
    pairs <- utils::combn(k, 2L)
    votes <- matrix(0, nrow(decision), k)
    for (p in seq_len(ncol(pairs))) {
      later <- decision[, p] > 0
      votes[, pairs[2L, p]] <- votes[, pairs[2L, p]] + later
      votes[, pairs[1L, p]] <- votes[, pairs[1L, p]] + !later
    }
    max.col(votes, "first")
  } else {
    max.col(decision, "first")
  }
  factor(levels[chosen], levels)
}

#' @rdname granary_svm
#' @export
predict.granary_svm <- function(object, newdata = NULL, type = c("class", "response", "link", "prob"), threads = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("class", "response", "link", "prob"))
  if (type == "prob" && is.null(object$calibration)) {
    abort_input("The fit has no probabilities: fit a classifier with probability = \"platt\" or \"isotonic\".", "type")
  }
  own <- is.null(newdata) && !is.null(object$decision)
  decision <- if (own) matrix(object$decision, dimnames = list(names(object$decision), names(object$offset))) else {
    svm_decision(object, newdata, threads)
  }
  if (type == "prob") return(svm_probabilities(object, decision))
  if (type != "link" || grepl("regression", object$type)) return(svm_answer(object, decision))
  if (ncol(decision) == 1L) decision[, 1L] else decision
}

#' @rdname granary_svm
#' @export
fitted.granary_svm <- function(object, ...) predict(object)

#' @rdname granary_svm
#' @export
residuals.granary_svm <- function(object, ...) {
  if (!grepl("regression", object$type)) abort_input("Residuals are for regressions; see predict(fit, type = \"link\").", "object")
  fit <- predict(object)
  y <- if (is.data.frame(object$y)) object$y[[1L]] else as.vector(object$y)
  stats::setNames(as.double(y)[object$used] - fit, names(fit))
}

#' @rdname granary_svm
#' @export
coef.granary_svm <- function(object, ...) {
  if (is.null(object$kernel) || !is_plain_linear(object$kernel)) return(object$coefficients)
  weights <- svm_weights(object)
  rownames(weights) <- object$columns
  offset <- object$offset
  if (!is.null(object$scaling)) {
    weights <- weights * object$scaling$factor
    offset <- offset - drop(object$scaling$centre %*% weights)
  }
  out <- rbind("(Intercept)" = offset, weights) * object$response$scale
  out[1L, ] <- out[1L, ] + object$response$centre
  if (ncol(out) == 1L) out[, 1L] else out
}

svm_counts <- function(object) {
  machines <- colnames(object$coefficients)
  nonzero <- colSums(object$coefficients != 0)
  bounded <- lengths(object$bounded)
  data.frame(machine = machines, support = unname(nonzero), free = unname(nonzero - bounded), bounded = unname(bounded),
             identified = unname(lengths(object$identified)), iterations = unname(object$n_iter), objective = unname(object$objective),
             gap = unname(object$gap), violation = unname(object$violation), ratio = unname(object$ratio))
}

svm_title <- function(object) {
  what <- c(classification = "classification", regression = "regression", one_class = "novelty detection", nu_classification = "nu classification",
            nu_regression = "nu regression")[[object$type]]
  point <- object$parameters
  with <- c(if (!object$type %in% c("one_class", "nu_classification")) paste("cost", format(point$cost)),
            if (grepl("^nu|one", object$type)) paste("nu", format(point$nu)),
            if (object$type == "regression") paste("epsilon", format(point$epsilon)))
  paste0("granary: support vector machine, ", what, ", ", paste(with, collapse = ", "))
}

#' @rdname granary_svm
#' @export
print.granary_svm <- function(x, ...) {
  cli::cat_line(svm_title(x))
  print_call(x$call)
  rows <- paste(length(x$used), "rows")
  if (is.null(x$kernel)) {
    cli::cat_line(rows, ", kernel matrix given")
  } else {
    cli::cat_line(rows, ", ", if (!is.null(x$layout)) "objects, ", counted(if (is.null(x$layout)) length(x$columns) else x$layout$size, "column", "columns"), if (!is.null(x$scaling)) ", scaled")
    print(x$kernel)
    if (is.null(x$kernel$children) && x$kernel$type == "se" && length(x$kernel$scales) == 1L) {
      cli::cat_line("gamma: ", format(1 / (2 * x$kernel$scales^2), digits = 4L))
    }
  }
  if (!is.null(x$levels)) {
    cli::cat_line(length(x$levels), " classes: ", paste(utils::head(x$levels, 6L), collapse = ", "), if (length(x$levels) > 6L) ", ...",
                  if (length(x$levels) > 2L) paste0(" (", ncol(x$coefficients), " machines, ", gsub("_", " ", x$multiclass), ")"))
  }
  bounded <- length(unique(unlist(x$bounded)))
  cli::cat_line(counted(length(x$index), "support vector", "support vectors"), ", ", bounded, " at the bound")
  if (x$type == "nu_regression") cli::cat_line("half-width of the tube: ", format(x$epsilon, digits = 4L))
  if (!is.null(x$calibration)) cli::cat_line("probabilities: ", x$calibration[[1L]]$method, ", on left-out folds")
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname granary_svm
#' @export
summary.granary_svm <- function(object, ...) {
  fit <- if (!is.null(object$kernel) || !is.null(object$decision)) predict(object)
  y <- if (is.data.frame(object$y)) object$y[[1L]] else as.vector(object$y)
  quality <- if (is.null(fit)) {
    NULL
  } else if (!is.null(object$levels)) {
    c("share of rows misclassified" = mean(as.character(fit) != as.character(y)[object$used]))
  } else if (object$type == "one_class") {
    c("share of rows outside" = mean(!fit))
  } else {
    c("root mean squared residual" = sqrt(mean((as.double(y)[object$used] - fit)^2)))
  }
  seal(structure(list(fit = object, counts = svm_counts(object), quality = quality), class = "summary_granary_svm"))
}

#' @export
print.summary_granary_svm <- function(x, ...) {
  print(x$fit)
  if (!is.null(x$quality)) cli::cat_line(names(x$quality), ": ", format(x$quality, digits = 3L))
  cli::cat_line("kernel values computed: ", format(sum(x$fit$n_kernel), big.mark = ","))
  print(x$counts, digits = 4L, row.names = FALSE)
  invisible(x)
}

#' @rdname granary_svm
#' @export
tidy.granary_svm <- function(x, ...) {
  nonzero <- x$coefficients != 0
  at <- which(nonzero, arr.ind = TRUE)
  machine <- at[, 2L]
  row <- x$index[at[, 1L]]
  flag <- function(sets) vapply(seq_along(row), function(k) row[k] %in% sets[[machine[k]]], NA)
  if (ncol(nonzero) == 1L) flag <- function(sets) row %in% sets[[1L]]
  data.frame(machine = colnames(x$coefficients)[machine], row = row, coefficient = x$coefficients[nonzero], bounded = flag(x$bounded),
             identified = flag(x$identified))
}

#' @rdname granary_svm
#' @export
glance.granary_svm <- function(x, ...) {
  table <- convergence_table(x$convergence)
  counts <- svm_counts(x)
  cbind(counts[c("machine", "support", "bounded", "objective")], table[c("converged", "iterations", "gap", "residual", "seconds")],
        nobs = length(x$used))
}

#' @rdname granary_svm
#' @export
plot.granary_svm <- function(x, type = c("boundary", "violation", "calibration"), columns = NULL, size = 101, bins = 10, ...) {
  type <- check_choice(type, c("boundary", "violation", "calibration"))
  size <- check_count(size, lower = 2, upper = 2000)
  bins <- check_count(bins)
  switch(type, violation = plot_violation(x, list(...)), calibration = plot_svm_calibration(x, bins, ...),
         plot_boundary(x, columns, size, list(...)))
  invisible()
}

plot_violation <- function(x, user) {
  if (is.null(x$trace)) abort_input("There is no trace to plot: fit with trace = TRUE.", "type")
  longest <- max(1, lengths(x$trace))
  seen <- unlist(x$trace)
  limits <- range(seen[seen > 0], x$settings$tol)
  draw(graphics::plot, c(1, longest), limits, log = "y", type = "n", xlab = "step", ylab = "violation", user = user)
  shades <- grDevices::hcl.colors(max(2L, length(x$trace)), "Dark 3")
  for (k in seq_along(x$trace)) graphics::lines(seq_along(x$trace[[k]]), x$trace[[k]], col = shades[k])
  graphics::abline(h = x$settings$tol, lty = 3)
  if (length(x$trace) > 1L) graphics::legend("topright", utils::head(names(x$trace), 10L), col = shades, lty = 1, bty = "n", cex = 0.8)
}

plot_svm_calibration <- function(x, bins, ...) {
  if (is.null(x$calibration) || length(x$calibration) != 1L) {
    abort_input("A calibration plot is for two classes and a fit with probability = \"platt\" or \"isotonic\".", "type")
  }
  calibration <- x$calibration[[1L]]
  plot(new_calibration(calibrated(calibration, calibration$scores), calibration$label > 0, bins, "left-out folds"), ...)
}

# Two columns on a grid, the others at their means.
svm_slice <- function(x, columns, size) {
  if (is.null(x$kernel)) abort_input("A fit to a kernel matrix has no columns to plot.", "type")
  if (!is.null(x$layout)) abort_input("A fit to objects has no axes to plot along; see predict().", "type")
  d <- length(x$columns)
  if (is.character(columns)) columns <- match(columns, x$columns, nomatch = 0L)
  columns <- if (is.null(columns)) seq_len(min(2L, d)) else check_vector(columns, "columns", length = min(2L, d), lower = 1, upper = d)
  if (length(columns) < min(2L, d) || any(columns != round(columns)) || anyDuplicated(columns) > 0L) {
    abort_input("`columns` must be two different columns of `x`: the plot has two axes.", "columns")
  }
  data <- as.matrix(x$x[x$used, , drop = FALSE])
  along <- function(j) {
    seen <- range(data[, j])
    pad <- 0.05 * max(diff(seen), 1e-8 * max(abs(seen)), 1e-300)
    seq(seen[1L] - pad, seen[2L] + pad, length.out = size)
  }
  at <- lapply(columns, along)
  others <- setdiff(seq_len(d), columns)
  grid <- matrix(colMeans(data), size^length(at), d, byrow = TRUE, dimnames = list(NULL, x$columns))
  grid[, columns] <- as.matrix(expand.grid(at))
  fit <- x
  fit$design <- NULL
  held <- if (length(others) > 0L) {
    shown <- utils::head(others, 4L)
    paste0("held at their means: ", paste(x$columns[shown], format(colMeans(data)[shown], digits = 3L, trim = TRUE), collapse = ", "),
           if (length(others) > 4L) ", ...")
  }
  list(columns = columns, at = at, data = data, decision = svm_decision(fit, grid), held = held)
}

# A machine of one column: its regression with the tube, or its decision values, over that column.
plot_curve <- function(x, slice, user) {
  at <- slice$at[[1L]]
  regression <- grepl("regression", x$type)
  value <- if (regression) svm_answer(x, slice$decision) else slice$decision
  value <- as.matrix(value)
  y <- if (is.data.frame(x$y)) x$y[[1L]] else as.vector(x$y)
  seen <- if (regression) as.double(y)[x$used] else numeric()
  tube <- if (regression) max(x$epsilon) else 0
  draw(graphics::plot, range(at), range(value - tube, value + tube, seen), type = "n", xlab = x$columns, ylab = if (regression) "response" else "decision value",
       user = user)
  shades <- class_shades(max(2L, length(x$levels)))
  for (k in seq_len(ncol(value))) graphics::lines(at, value[, k], lwd = 2, col = if (ncol(value) == 1L) "black" else shades[k])
  support <- match(x$index, x$used)
  if (regression) {
    graphics::lines(at, value[, 1L] - tube, lty = 2)
    graphics::lines(at, value[, 1L] + tube, lty = 2)
    graphics::points(slice$data[, 1L], seen, pch = 19, cex = 0.6, col = "grey40")
    graphics::points(slice$data[support, 1L], seen[support], cex = 1.3)
  } else {
    graphics::abline(h = 0, lty = 3)
    class <- if (is.null(x$levels)) rep(1L, nrow(slice$data)) else match(as.character(y), x$levels)[x$used]
    graphics::rug(slice$data[, 1L], col = shades[1L])
    for (k in unique(class)) graphics::rug(slice$data[class == k, 1L], col = shades[k])
  }
}

plot_boundary <- function(x, columns, size, user) {
  slice <- svm_slice(x, columns, size)
  if (length(slice$columns) == 1L) return(plot_curve(x, slice, user))
  columns <- slice$columns
  data <- slice$data
  draw_boundary(x, slice$at[[1L]], slice$at[[2L]], slice$decision, columns, user)
  if (!is.null(slice$held)) graphics::mtext(slice$held, side = 1L, line = 4, cex = 0.7, adj = 1)
  class <- if (is.null(x$levels)) rep(1L, nrow(data)) else match(as.character(if (is.data.frame(x$y)) x$y[[1L]] else x$y), x$levels)[x$used]
  shades <- if (is.null(x$levels)) "grey30" else class_shades(length(x$levels))
  points <- data[, columns, drop = FALSE]
  support <- match(x$index, x$used)
  graphics::points(points, pch = 19, cex = 0.6, col = shades[class])
  bounded <- x$index %in% unlist(x$bounded)
  graphics::points(points[support, , drop = FALSE], pch = ifelse(bounded, 10, 1), cex = 1.3)
  if (!is.null(x$levels)) {  # above the plot, where it hides nothing
    graphics::legend("bottom", utils::head(x$levels, 8L), col = shades, pch = 19, bty = "n", cex = 0.8, horiz = TRUE, inset = c(0, 1), xpd = NA)
  }
}

class_shades <- function(k) if (k == 2L) c("#b2182b", "#2166ac") else grDevices::hcl.colors(k, "Dark 3")

draw_boundary <- function(x, at1, at2, decision, columns, user) {
  name <- x$columns[columns]
  size <- length(at1)
  if (length(x$levels) > 2L) {
    z <- matrix(as.integer(svm_answer(x, decision)), size)
    draw(graphics::image, at1, at2, z, col = grDevices::adjustcolor(class_shades(length(x$levels)), 0.25), zlim = c(1, length(x$levels)),
         xlab = name[1L], ylab = name[2L], user = user)
    return(invisible())
  }
  if (grepl("regression", x$type)) {
    z <- matrix(svm_answer(x, decision), size)
    return(draw_surface(at1, at2, z, xlab = name[1L], ylab = name[2L], user = user))
  }
  z <- matrix(decision[, 1L], size)
  reach <- max(abs(z), 1e-300)
  draw(graphics::image, at1, at2, z, col = grDevices::adjustcolor(signed_colours(65L), 0.5), zlim = c(-reach, reach),
       xlab = name[1L], ylab = name[2L], user = user)
  levels <- if (x$type == "one_class") 0 else c(-1, 0, 1)
  seen <- levels[levels > min(z) & levels < max(z)]
  if (length(seen) > 0L) {
    graphics::contour(at1, at2, z, levels = seen, lty = ifelse(seen == 0, 1, 2), lwd = ifelse(seen == 0, 2, 1), drawlabels = FALSE, add = TRUE)
  }
}
