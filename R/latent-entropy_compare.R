#' Several estimates of an entropy, and how they grow with the sample
#'
#' Applies several methods of [entropy_estimate()] to one sample and, where sizes are given, to random parts of it (rarefaction). An estimate that can be trusted
#' stays where it is when draws are left out.
#'
#' @details
#' For each of `size` the sample is thinned `n_rep` times to that many draws, without putting back; estimates, standard deviations and ends of intervals are
#' averaged over the repetitions. Sizes above that of the sample are refused. Without `size` the whole sample is used, once.
#'
#' @section Which method when:
#' Before an entropy is reported: where methods disagree, or still rise with the size, the sample is too small for the simple ones. [pitman_yor()] extrapolates the number
#' of symbols instead.
#'
#' @inheritParams entropy_estimate
#' @param methods Names of methods of [entropy_estimate()].
#' @param size Sizes of the parts, or `NULL` for the whole sample.
#' @param n_rep Number of parts of each size.
#' @return An object of class `granary_entropy_compare` with `table`: `method`, `size`, `estimate`, `std.error`, `conf.low`, `conf.high`.
#' @inherit entropy_estimate references
#' @seealso [entropy_estimate()], [pitman_yor()].
#' @export
#' @examples
#' set.seed(1)
#' words <- sim_unigram(1000, vocabulary = 2000)
#' compared <- entropy_compare(words$counts, methods = c("plugin", "chao_shen", "dpm"), size = c(100, 300, 1000), n_rep = 3)
#' compared
#' plot(compared)
entropy_compare <- function(x, methods = c("plugin", "miller_madow", "chao_shen", "dpm", "pym"), size = NULL, n_rep = 5, alphabet = NULL,
                            unit = c("nats", "bits"), level = 0.95) {
  call <- match.call()
  symbols <- check_symbols(x)
  unit <- check_choice(unit, c("nats", "bits"))
  if (!is.character(methods) || length(methods) == 0L || anyNA(methods)) fail_input("methods", "names of methods of entropy_estimate()", describe(methods))
  methods <- unique(vapply(methods, check_choice, "", choices = entropy_methods, arg = "methods", USE.NAMES = FALSE))
  n_rep <- check_count(n_rep)
  total <- sum(symbols$counts)
  sizes <- check_vector(size, lower = 1, upper = total, allow_null = TRUE)
  check_all_whole(sizes, "size")
  whole <- is.null(sizes)
  if (whole) sizes <- total
  rows <- lapply(sort(unique(unname(sizes))), function(one) {
    parts <- if (one == total) list(symbols$counts) else lapply(seq_len(n_rep), function(i) core_rarefied(unname(symbols$counts), one, core_seed()))
    do.call(rbind, lapply(methods, function(method) {
      fits <- lapply(parts, function(part) {
        suppressWarnings(entropy_estimate(part, method, alphabet = if (method %in% alphabet_methods) alphabet, unit = unit, level = level),
                         classes = "granary_warning_input")
      })
      of <- function(field) mean(vapply(fits, function(fit) as.double(fit[[field]]), 0))
      data.frame(method = method, size = one, estimate = of("estimate"), std.error = of("std.error"), conf.low = of("conf.low"), conf.high = of("conf.high"))
    }))
  })
  table <- do.call(rbind, rows)
  new_fit("entropy_compare", coefficients = if (whole) stats::setNames(table$estimate, table$method), table = table, n = total, unit = unit, level = level,
          whole = whole, call = call, convergence = list())
}

#' @export
print.granary_entropy_compare <- function(x, ...) {
  cli::cat_line("Entropy by several methods, in ", x$unit, ", of ", counted_many(x$n, "draw"))
  print_call(x$call)
  print(format(x$table[if (x$whole) -2L else TRUE], digits = 4L), row.names = FALSE)
  invisible(x)
}

#' @export
summary.granary_entropy_compare <- function(object, ...) object

#' @export
tidy.granary_entropy_compare <- function(x, ...) x$table

#' @rdname entropy_compare
#' @param ... Passed on to [graphics::plot()].
#' @export
plot.granary_entropy_compare <- function(x, ...) {
  table <- x$table[is.finite(x$table$estimate), ]
  if (nrow(table) == 0L) abort_input("All estimates are infinite: there is nothing to draw.", "x")
  table$conf.low <- ifelse(is.finite(table$conf.low), table$conf.low, table$estimate)
  table$conf.high <- ifelse(is.finite(table$conf.high), table$conf.high, table$estimate)
  label <- paste0("entropy (", x$unit, ")")
  if (x$whole) {
    at <- rev(seq_len(nrow(table)))
    old <- graphics::par(mar = c(4.1, 9.1, 1.1, 1.1))
    on.exit(graphics::par(old))
    draw(graphics::plot, table$estimate, at, xlim = range(table$conf.low, table$conf.high), yaxt = "n", pch = 19, xlab = label, ylab = "", bty = "l",
         user = list(...))
    graphics::segments(table$conf.low, at, table$conf.high, at, col = "grey50")
    graphics::axis(2L, at, entropy_titles[table$method], las = 1L, tick = FALSE, cex.axis = 0.8)
    return(invisible(x))
  }
  methods <- unique(table$method)
  colors <- stats::setNames(grDevices::hcl.colors(length(methods), "Dark 3"), methods)
  draw(graphics::plot, range(table$size), range(table$conf.low, table$conf.high), log = "x", type = "n", xlab = "draws", ylab = label, bty = "l", user = list(...))
  for (method in methods) {
    one <- table[table$method == method, ]
    graphics::polygon(c(one$size, rev(one$size)), c(one$conf.low, rev(one$conf.high)), border = NA, col = grDevices::adjustcolor(colors[[method]], 0.12))
    graphics::lines(one$size, one$estimate, type = "b", pch = 16, cex = 0.7, lwd = 2, col = colors[[method]])
  }
  graphics::legend("bottomright", entropy_titles[methods], col = colors, lwd = 2, bty = "n", cex = 0.8)
  invisible(x)
}

#' @rdname entropy_compare
#' @param object The comparison.
#' @usage \method{autoplot}{granary_entropy_compare}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_entropy_compare <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  table <- object$table[is.finite(object$table$estimate), ]
  if (object$whole) {
    return(gg_canvas(table, ggplot2::aes(.data$estimate, .data$method)) + ggplot2::geom_point() +
           ggplot2::geom_linerange(ggplot2::aes(xmin = .data$conf.low, xmax = .data$conf.high)) +
           ggplot2::labs(x = paste0("entropy (", object$unit, ")"), y = NULL))
  }
  gg_canvas(table, ggplot2::aes(.data$size, .data$estimate, colour = .data$method, fill = .data$method)) +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$conf.low, ymax = .data$conf.high), alpha = 0.12, colour = NA) + ggplot2::geom_line() +
    ggplot2::geom_point() + ggplot2::scale_x_log10() + gg_palette() + ggplot2::labs(x = "draws", y = paste0("entropy (", object$unit, ")"))
}
