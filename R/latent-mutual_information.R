#' Mutual information of two discrete variables
#'
#' How much one variable tells about another, \eqn{I(X; Y) = H(X) + H(Y) - H(X, Y)}, with each entropy by any method of [entropy_estimate()]. The plug-in finds
#' information where there is none as soon as the table has many cells for its draws; estimators that allow for the unseen find less of it.
#'
#' @details
#' The three entropies come from the same draws, so their standard deviations cannot be added up. The standard deviation is that of the delta method,
#' \eqn{\sqrt{Var(\log p_{xy} / (p_x p_y)) / N}}{sqrt(Var(log(p_xy / (p_x p_y))) / N)}, whatever the method; the interval is normal and not below zero. Unlike the
#' truth, an estimate can be negative. Methods with a known alphabet take the numbers of rows, of columns, and of cells.
#'
#' @section Which method when:
#' `"plugin"` for a few cells with many draws in each, `"nsb"` for a table whose rows and columns are all there are, `"pym"` where both variables have values that were not
#' seen. For numbers rather than symbols see [independence_test()].
#'
#' @inheritParams entropy_estimate
#' @param x A two-way table or matrix of counts, or the symbols of the first variable.
#' @param y The symbols of the second variable, one for each of `x`; `NULL` where `x` is a table.
#' @return An object of class `granary_information` with `estimate`, `std.error`, `conf.low`, `conf.high`, `entropies` (of rows, columns and cells), `n`.
#' @inherit entropy_estimate references
#' @seealso [entropy_estimate()], [independence_test()].
#' @export
#' @examples
#' mutual_information(margin.table(HairEyeColor, 1:2))
#' mutual_information(mtcars$cyl > 4, mtcars$gear > 3, method = "plugin", unit = "bits")
mutual_information <- function(x, y = NULL, method = c("pym", "dpm", "nsb", "ansb", "plugin", "miller_madow", "jackknife", "chao_shen", "coverage_adjusted",
                                                       "grassberger", "zhang", "dirichlet", "shrink"), unit = c("nats", "bits"), level = 0.95, tol = 1e-7) {
  call <- match.call()
  counts <- check_two_way(x, y)
  warn_one_value(counts)
  method <- check_choice(method, entropy_methods)
  unit <- check_choice(unit, c("nats", "bits"))
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  tol <- check_number(tol, lower = 0, upper = 0.1, strict_lower = TRUE)
  found <- core_mutual_information(counts, list(method = method, level = level, tol = tol), NULL, progress_bar("mutual information"))
  if (!is.finite(found$entropy_joint)) {
    warn_input("Every pair of symbols was seen once, so nothing bounds their entropy from above: the information is not defined by this method.\nUse \"nsb\".", "x")
    found$estimate <- found$sd <- found$lower <- found$upper <- NA_real_
  }
  scale <- unit_scale(unit)
  entropies <- c(x = found$entropy_x, y = found$entropy_y, joint = found$entropy_joint) * scale
  fit <- new_fit("information", coefficients = c(information = found$estimate * scale), estimate = found$estimate * scale, std.error = found$sd * scale,
                 conf.low = found$lower * scale, conf.high = found$upper * scale, level = level, entropies = entropies, method = method, unit = unit,
                 n = found$total, counts = counts, call = call,
                 convergence = if (method %in% bayesian_methods && is.finite(found$entropy_joint)) found$convergence else list())
  check_convergence(fit, "Loosen `tol`.")
}

# Of a variable that takes one value nothing can be told.
warn_one_value <- function(counts) {
  rows <- sum(rowSums(counts) > 0)
  columns <- sum(colSums(counts) > 0)
  if (rows > 1L && columns > 1L) return(invisible())
  warn_input(sprintf("All draws lie in one %s: what is estimated of a dependence there comes from the prior, and its standard deviation from nowhere.", if (rows <= 1L) "row" else "column"), "x")
}

check_two_way <- function(x, y) {
  if (missing(x)) fail_missing("x")
  if (is.null(y)) {
    usable <- (is.matrix(x) || inherits(x, "table")) && length(dim(x)) == 2L && is.numeric(x) && !is.object(unclass(x))
    if (!usable) {
      fail_input("x", "a two-way table of counts", describe(x), "For the symbols of two variables give `x` and `y`.")
    }
    labels <- dimnames(x)
    counts <- matrix(as.double(check_symbols(unclass(x), "x")$counts), nrow(x), ncol(x))
    if (length(counts) == 0L) fail_input("x", "a two-way table of counts", "an empty one")
    dimnames(counts) <- labels
    return(counts)
  }
  one <- check_raw_symbols(x, "x")
  two <- check_raw_symbols(y, "y")
  if (length(one) != length(two)) {
    abort_input(sprintf("`y` must have one symbol for each of `x`, %d, but it has %d.", length(one), length(two)), "y")
  }
  counts <- table(one, two)
  matrix(as.double(counts), nrow(counts), ncol(counts), dimnames = unname(dimnames(counts)))
}

# Whole numbers are symbols here: there are no counts of single variables.
check_raw_symbols <- function(x, arg) {
  plain <- is.null(dim(x)) && (is.character(x) || is.factor(x) || (is.logical(x) && !is.object(x)) || is_plain_numeric(x)) && length(x) > 0L
  if (!plain) fail_input(arg, "the symbols of a variable: text, a factor, TRUE and FALSE, or whole numbers", describe(x))
  if (anyNA(x)) abort_input(sprintf("`%s` has a missing symbol, element %d.\nLeave the pair out, or give it a name.", arg, which(is.na(x))[1L]), arg)
  if (is.numeric(x) && any(x != round(x))) {
    fail_input(arg, "symbols; numbers must be whole", "numbers with fractions", "Use cut() to make classes of them.")
  }
  if (is.factor(x)) levels(x) <- make.unique(readable(levels(x)))
  if (is.character(x)) readable(x) else x
}

#' @export
print.granary_information <- function(x, ...) {
  cli::cat_line("Mutual information (", entropy_titles[[x$method]], "): ", format(x$estimate, digits = 5L), " ", x$unit, ", s.d. ",
                format(x$std.error, digits = 3L))
  print_call(x$call)
  cli::cat_line(sprintf("%g%% interval: %s to %s", 100 * x$level, format(x$conf.low, digits = 4L), format(x$conf.high, digits = 4L)))
  cli::cat_line(sprintf("Entropy of rows %s, of columns %s, of cells %s; %s in %d x %d cells", format(x$entropies[[1L]], digits = 4L),
                        format(x$entropies[[2L]], digits = 4L), format(x$entropies[[3L]], digits = 4L), counted_many(x$n, "draw"), nrow(x$counts), ncol(x$counts)))
  if (length(x$convergence) > 0L) cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @export
confint.granary_information <- function(object, parm, level = 0.95, ...) {
  refuse_dots(...)
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  at <- c((1 - level) / 2, (1 + level) / 2)
  matrix(pmax(object$estimate + stats::qnorm(at) * object$std.error, 0), 1L, dimnames = list("information", sprintf("%g %%", 100 * at)))
}

#' @export
vcov.granary_information <- function(object, ...) matrix(object$std.error^2, 1L, 1L, dimnames = list("information", "information"))

#' @export
tidy.granary_information <- function(x, ...) {
  refuse_dots(...)
  data.frame(term = "information", method = x$method, estimate = x$estimate, std.error = x$std.error, conf.low = x$conf.low, conf.high = x$conf.high,
             unit = x$unit)
}

# What each cell adds to the plug-in: p_xy log(p_xy / (p_x p_y)).
information_cells <- function(x) {
  p <- x$counts / sum(x$counts)
  expected <- outer(rowSums(p), colSums(p))
  cells <- ifelse(p > 0, p * log(p / expected), 0) * unit_scale(x$unit)
  rows <- if (is.null(rownames(p))) seq_len(nrow(p)) else rownames(p)
  columns <- if (is.null(colnames(p))) seq_len(ncol(p)) else colnames(p)
  list(cells = cells, rows = as.character(rows), columns = as.character(columns))
}

#' @rdname mutual_information
#' @param ... Passed on to [graphics::image()].
#' @export
plot.granary_information <- function(x, ...) {
  parts <- information_cells(x)
  top <- max(abs(parts$cells), 1e-12)
  old <- graphics::par(mar = c(5.1, 6.1, 2.1, 1.1))
  on.exit(graphics::par(old))
  colors <- signed_colours(101L)
  draw(graphics::image, seq_along(parts$columns), seq_along(parts$rows), t(parts$cells), zlim = c(-top, top), col = colors, xlab = "", ylab = "", axes = FALSE,
       main = sprintf("what each cell adds (%s)", x$unit), user = list(...))
  graphics::axis(1L, seq_along(parts$columns), parts$columns, las = 2L, tick = FALSE, cex.axis = 0.8)
  graphics::axis(2L, seq_along(parts$rows), parts$rows, las = 1L, tick = FALSE, cex.axis = 0.8)
  graphics::box()
  invisible(x)
}

#' @rdname mutual_information
#' @param object The estimate.
#' @usage \method{autoplot}{granary_information}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_information <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  parts <- information_cells(object)
  cells <- data.frame(row = factor(rep(parts$rows, length(parts$columns)), parts$rows), column = factor(rep(parts$columns, each = length(parts$rows)), parts$columns),
                      value = as.vector(parts$cells))
  gg_canvas(cells, ggplot2::aes(.data$column, .data$row, fill = .data$value)) + ggplot2::geom_tile() +
    ggplot2::scale_fill_gradient2(low = sign_colours[["negative"]], high = sign_colours[["positive"]]) + ggplot2::labs(x = NULL, y = NULL, fill = object$unit)
}
