# Methods of the fits of hsic(), coco(), kcc(), kgv() and kmi().

#' @rdname kernel_dependence
#' @export
print.granary_dependence <- function(x, ...) {
  names <- names(x$witness)
  shown <- if (length(names) > 6L) paste0(paste(names[1:5], collapse = ", "), " and ", length(names) - 5L, " more") else
    paste0(paste(names[-length(names)], collapse = ", "), " and ", names[length(names)])
  cli::cat_line(measure_titles[[x$measure]], " of ", shown, ": ", x$n, " observations")
  print_call(x$call)
  cli::cat_line("value:  ", format(x$value, digits = 6L))
  if (!is.null(x$nu)) {
    cli::cat_line("nu:     ", format(x$nu, digits = 4L),
                  if (x$valid) ", above the norms of the centred kernel matrices" else
                    ", below a norm of the centred kernel matrices: no bound is guaranteed")
  }
  if (!is.null(x$kappa)) cli::cat_line("kappa:  ", format(x$kappa))
  if (!is.null(x$theta)) cli::cat_line("theta:  ", format(x$theta))
  widths <- ifelse(is.na(x$width), "", paste(" of width", format(x$width, digits = 3L)))
  table <- unique(paste0(x$kernel, widths, ", rank ", x$rank))
  cli::cat_line("kernel: ", paste(if (length(table) == 1L) table else paste0(names, " ", x$kernel, widths, ", rank ", x$rank), collapse = "; "))
  invisible(x)
}

#' @rdname kernel_dependence
#' @export
predict.granary_dependence <- function(object, newdata = NULL, ...) {
  refuse_dots(...)
  names <- names(object$witness)
  if (is.null(newdata)) return(vapply(object$witness, function(w) as.double(w$f), double(object$n)))
  if (is.matrix(newdata) && ncol(newdata) == length(names)) newdata <- as.data.frame(newdata)
  if (!is.list(newdata) || length(newdata) != length(names)) {
    fail_input("newdata", sprintf("a list of %d variables", length(names)), describe(newdata))
  }
  if (!is.null(names(newdata)) && all(names %in% names(newdata))) newdata <- newdata[names]
  values <- Map(function(w, v, name) witness_at(w, v, paste0("newdata$", name), object$n), object$witness, as.list(newdata), names)
  rows <- lengths(values)
  if (any(rows != rows[1L])) abort_input("The variables of `newdata` must have the same number of values.", "newdata")
  matrix(unlist(values, use.names = FALSE), rows[1L], length(names), dimnames = list(NULL, names))
}

# sum_p coefficient_p k(x_p, x) - constant.
witness_at <- function(w, v, arg, n) {
  if (length(w$pivots) == 0L) return(rep(0, NROW(v)))
  if (is.null(w$kernel)) {
    k <- check_inputs(v, arg)
    if (ncol(k) != n) abort_input(sprintf("`%s` must be kernel values against the %d observations, but it has %d columns.", arg, n, ncol(k)), arg)
    return(drop(k[, w$pivots, drop = FALSE] %*% w$coefficients) - w$constant)
  }
  kernel <- w$kernel
  x <- if (!is.null(w$layout)) {
    bound <- bind_new_objects(kernel, v, w$layout, arg, rows = w$at)
    kernel <- bound$kernel
    unname(bound$x)
  } else if (!is.null(w$levels)) {
    codes <- match(as.character(if (is.data.frame(v)) v[[1L]] else v), w$levels)
    if (anyNA(codes)) abort_input(sprintf("`%s` must have values among %s.", arg, paste(w$levels, collapse = ", ")), arg)
    matrix(as.double(codes))
  } else {
    x <- check_inputs(v, arg)
    matrix(x, nrow(x), ncol(x))
  }
  if (ncol(x) != ncol(w$at)) abort_input(sprintf("`%s` must have %s, not %d.", arg, counted(ncol(w$at), "column", "columns"), ncol(x)), arg)
  drop(kernel_matrix(kernel, x, w$at) %*% w$coefficients) - w$constant
}

#' @rdname kernel_dependence
#' @importFrom generics tidy
#' @export
tidy.granary_dependence <- function(x, ...) {
  data.frame(measure = x$measure, value = x$value, variables = length(x$witness), n = x$n, rank = max(x$rank),
             nu = if (is.null(x$nu)) NA_real_ else x$nu, valid = if (is.null(x$valid)) NA else x$valid)
}

#' @rdname kernel_dependence
#' @export
plot.granary_dependence <- function(x, type = c("witness", "spectrum"), ...) {
  type <- check_choice(type, c("witness", "spectrum"))
  if (type == "spectrum") {
    label <- if (x$measure %in% c("kcc", "kgv")) "rho" else "gamma"
    values <- if (length(x$spectrum) > 0L) x$spectrum else 0
    draw(graphics::plot, seq_along(values), values, type = "h", lwd = 3, xlab = "order", ylab = if (length(x$witness) > 2L) "lambda" else label,
         main = measure_titles[[x$measure]], user = list(...))
    return(invisible())
  }
  shown <- min(length(x$witness), 6L)
  panels <- shown + (shown == 2L)
  old <- graphics::par(mfrow = grDevices::n2mfrow(panels)[2:1], mar = c(4.1, 4.1, 1.6, 0.6))
  on.exit(graphics::par(old))
  letters <- if (shown == 2L) c("f", "g") else paste0("f", seq_len(shown))
  for (i in seq_len(shown)) draw_witness(x$witness[[i]], names(x$witness)[i], letters[i], list(...))
  if (shown == 2L) {
    f <- x$witness[[1L]]$f
    g <- x$witness[[2L]]$f
    draw(graphics::plot, f, g, pch = 16, cex = 0.6, col = grDevices::adjustcolor("black", 0.5), xlab = paste0("f(", names(x$witness)[1L], ")"),
         ylab = paste0("g(", names(x$witness)[2L], ")"), user = list(...))
    if (stats::sd(f) > 0 && stats::sd(g) > 0) graphics::title(sprintf("correlation %.2f", stats::cor(f, g)), font.main = 1, cex.main = 1)
  }
  invisible()
}

draw_witness <- function(w, name, letter, user) {
  label <- paste0(letter, "(", name, ")")
  if (!is.null(w$levels)) {
    heights <- tapply(w$f, factor(w$x[, 1L], seq_along(w$levels)), mean)
    return(invisible(draw(graphics::barplot, as.vector(heights), names.arg = w$levels, xlab = name, ylab = label, user = user)))
  }
  if (is.null(w$x) || ncol(w$x) != 1L || !is.null(w$layout)) {
    return(draw(graphics::plot, seq_along(w$f), w$f, pch = 16, cex = 0.5, xlab = paste("observation of", name), ylab = label, user = user))
  }
  at <- seq(min(w$x), max(w$x), length.out = 301L)
  draw(graphics::plot, at, witness_at(w, at, name, 0L), type = "l", lwd = 2, xlab = name, ylab = label, user = user)
  graphics::rug(w$x[, 1L], col = grDevices::adjustcolor("black", 0.3))
}
