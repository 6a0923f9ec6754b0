#' @export
print.granary_entropy <- function(x, ...) {
  cli::cat_line("Entropy (", entropy_titles[[x$method]], "): ", format(x$estimate, digits = 5L), " ", x$unit,
                if (is.finite(x$std.error)) sprintf(", s.d. %s", format(x$std.error, digits = 3L)))
  print_call(x$call)
  if (is.finite(x$conf.high)) {
    cli::cat_line(sprintf("%g%% interval: %s to %s%s", 100 * x$level, format(x$conf.low, digits = 5L), format(x$conf.high, digits = 5L),
                          if (!is.null(x$draws)) sprintf(" (from %d draws)", nrow(x$draws)) else ""))
  }
  cli::cat_line(seen_text(x$n, x$distinct, x$singletons), sprintf("; coverage %s", format(x$coverage, digits = 4L)))
  if (!is.null(x$law) && !anyNA(x$law)) {
    cli::cat_line(sprintf("Most likely law: discount %s, strength %s", format(x$law[["discount"]], digits = 4L), format(x$law[["strength"]], digits = 4L)))
  }
  if (is.finite(x$alphabet)) cli::cat_line("Alphabet: ", counted_many(x$alphabet, "symbol"))
  if (!is.null(x$shrinkage)) cli::cat_line("Shrinkage towards the uniform law: ", format(x$shrinkage, digits = 4L))
  if (length(x$convergence) > 0L) cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname entropy_estimate
#' @param object,parm A fit, and unused.
#' @param ... Not used; for `plot()`, passed on to [graphics::plot()].
#' @export
confint.granary_entropy <- function(object, parm, level = 0.95, ...) {
  refuse_dots(...)
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  at <- c((1 - level) / 2, (1 + level) / 2)
  ends <- if (!is.null(object$draws)) {
    stats::quantile(object$draws[, "entropy"], at, names = FALSE)
  } else if (!is.null(object$mixture)) {
    core_entropy_curve(object$mixture, at, "quantile") * unit_scale(object$unit)
  } else {
    pmax(object$estimate + stats::qnorm(at) * object$std.error, 0)
  }
  matrix(ends, 1L, dimnames = list("entropy", sprintf("%g %%", 100 * at)))
}

#' @export
vcov.granary_entropy <- function(object, ...) matrix(object$std.error^2, 1L, 1L, dimnames = list("entropy", "entropy"))

#' @export
tidy.granary_entropy <- function(x, ...) {
  refuse_dots(...)
  data.frame(term = "entropy", method = x$method, estimate = x$estimate, std.error = x$std.error, conf.low = x$conf.low, conf.high = x$conf.high, unit = x$unit)
}

#' @export
summary.granary_entropy <- function(object, ...) {
  refuse_dots(...)
  parts <- list(fit = object, quantiles = if (!is.null(object$mixture) || !is.null(object$draws)) {
    vapply(c(0.5, 0.8, 0.95), function(level) drop(stats::confint(object, level = level)), numeric(2L))
  })
  if (!is.null(object$draws)) parts$draws <- colMeans(object$draws)
  seal(structure(parts, class = "summary_granary_entropy"))
}

#' @export
print.summary_granary_entropy <- function(x, ...) {
  print(x$fit)
  if (!is.null(x$quantiles)) {
    cli::cat_line("Intervals (50%, 80%, 95%):")
    print(structure(x$quantiles, dimnames = list(c("lower", "upper"), c("50%", "80%", "95%"))), digits = 5L)
  }
  if (!is.null(x$draws)) {
    cli::cat_line("Means of the draws:")
    print(x$draws, digits = 4L)
  }
  cli::cat_line("Seen this often, and how many symbols were:")
  print(utils::head(x$fit$frequencies, 8L), row.names = FALSE)
  invisible(x)
}

#' @rdname entropy_estimate
#' @param type What to draw: the posterior of the entropy, the posterior of the law (strength against discount), or the ranked counts. `NULL`: the first there is.
#' @export
plot.granary_entropy <- function(x, type = NULL, ...) {
  type <- check_entropy_plot(x, type)
  if (type == "entropy") {
    curve <- entropy_curve(x)
    draw(graphics::plot, curve$at, curve$density, type = "l", lwd = 2, col = sign_colours[["positive"]], xlab = paste0("entropy (", x$unit, ")"),
         ylab = "posterior density", main = "", bty = "l", user = list(...))
    graphics::polygon(c(curve$at, rev(curve$at)), c(curve$density, 0 * curve$density), border = NA,
                      col = grDevices::adjustcolor(sign_colours[["positive"]], 0.15))
    graphics::abline(v = x$estimate, lwd = 1.5)
    graphics::abline(v = c(x$conf.low, x$conf.high), lty = 3)
    plug <- plugin_of(x)
    graphics::abline(v = plug, col = sign_colours[["negative"]], lty = 2)
    seen <- c(TRUE, TRUE, plug >= min(curve$at) && plug <= max(curve$at))
    graphics::legend("topright", c("estimate", "interval", "plug-in")[seen], lty = c(1, 3, 2)[seen], col = c("black", "black", sign_colours[["negative"]])[seen], bty = "n")
  } else if (type == "law") {
    m <- law_points(x)
    draw(graphics::plot, m$discount, m$strength, log = "y", pch = 16, cex = 0.8, col = grDevices::adjustcolor(sign_colours[["positive"]], 1)[0L], xlab = "discount",
         ylab = "strength", main = "", bty = "l", user = list(...))
    shade <- pmin(1, m$density / max(m$density))
    graphics::points(m$discount, m$strength, pch = 16, cex = 0.8, col = grDevices::rgb(0.13, 0.4, 0.67, 0.02 + 0.9 * shade))
    graphics::points(x$law[["discount"]], max(x$law[["strength"]], min(m$strength)), pch = 4, lwd = 2, cex = 1.4)
  } else {
    ranked <- ranked_counts(x)
    draw(graphics::plot, ranked$rank, ranked$count, log = "xy", type = "s", lwd = 2, col = sign_colours[["positive"]], xlab = "rank of the symbol",
         ylab = "times seen", main = "", bty = "l", user = list(...))
  }
  invisible(x)
}

check_entropy_plot <- function(x, type) {
  has <- c(entropy = !is.null(x$mixture), law = !is.null(x$mixture) && x$method == "pym", counts = TRUE)
  if (is.null(type)) return(names(which(has))[1L])
  type <- check_choice(type, names(has))
  if (!has[[type]]) abort_input(sprintf("type = \"%s\" needs a posterior; the method \"%s\" has none of it. Use \"counts\".", type, x$method), "type")
  type
}

entropy_curve <- function(x) {
  scale <- unit_scale(x$unit)
  ends <- core_entropy_curve(x$mixture, c(0.0005, 0.9995), "quantile")
  at <- seq(ends[1L], ends[2L], length.out = 300L)
  list(at = at * scale, density = core_entropy_curve(x$mixture, at, "density") / scale)
}

plugin_of <- function(x) {
  p <- x$frequencies$count / x$n
  -sum(x$frequencies$times * p * log(p)) * unit_scale(x$unit)
}

# Points of the law that matter, with their weights over the largest.
law_points <- function(x) {
  m <- x$mixture
  keep <- which(m$weight > 1e-4 * max(m$weight) & m$strength > 0)
  data.frame(discount = m$discount[keep], strength = m$strength[keep], density = m$weight[keep])
}

ranked_counts <- function(x) {
  f <- x$frequencies[order(-x$frequencies$count), ]
  data.frame(rank = c(1, cumsum(f$times)[-nrow(f)] + 1, x$distinct), count = c(f$count, f$count[nrow(f)]))[seq_len(nrow(f) + (x$distinct > 1)), ]
}

#' @rdname entropy_estimate
#' @usage \method{autoplot}{granary_entropy}(object, type = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_entropy <- function(object, type = NULL, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  type <- check_entropy_plot(object, type)
  if (type == "entropy") {
    curve <- as.data.frame(entropy_curve(object))
    return(gg_canvas(curve, ggplot2::aes(.data$at, .data$density)) + ggplot2::geom_area(fill = sign_colours[["positive"]], alpha = 0.2) +
           ggplot2::geom_line(colour = sign_colours[["positive"]]) + ggplot2::geom_vline(xintercept = object$estimate) +
           ggplot2::geom_vline(xintercept = c(object$conf.low, object$conf.high), linetype = 3) +
           ggplot2::labs(x = paste0("entropy (", object$unit, ")"), y = "posterior density"))
  }
  if (type == "law") {
    return(gg_canvas(law_points(object), ggplot2::aes(.data$discount, .data$strength, alpha = .data$density)) +
           ggplot2::geom_point(colour = sign_colours[["positive"]], show.legend = FALSE) + ggplot2::scale_y_log10())
  }
  gg_canvas(ranked_counts(object), ggplot2::aes(.data$rank, .data$count)) + ggplot2::geom_step(colour = sign_colours[["positive"]]) +
    ggplot2::scale_x_log10() + ggplot2::scale_y_log10() + ggplot2::labs(x = "rank of the symbol", y = "times seen")
}

#' @rdname entropy_estimate
#' @usage \method{as_draws}{granary_entropy}(x, ...)
#' @exportS3Method posterior::as_draws
as_draws.granary_entropy <- function(x, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  if (is.null(x$draws)) abort_input("The fit has no draws: use `n_draws` in entropy_estimate().", "x")
  draws_array(x$draws, 1L)
}

#' @rdname entropy_estimate
#' @usage \method{as.mcmc}{granary_entropy}(x, ...)
#' @exportS3Method coda::as.mcmc
as.mcmc.granary_entropy <- function(x, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  if (is.null(x$draws)) abort_input("The fit has no draws: use `n_draws` in entropy_estimate().", "x")
  mcmc_list(x$draws, 1L)
}
