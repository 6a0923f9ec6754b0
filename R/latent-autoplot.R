# ggplot2 versions of the pictures of latent variable models.

#' @rdname boltzmann_fit
#' @usage \method{autoplot}{granary_boltzmann_fit}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_boltzmann_fit <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  table <- data.frame(iteration = seq_len(nrow(object$trace)), bound = -object$trace$backward)
  top <- object$gap - object$divergence
  gg_canvas(table, ggplot2::aes(x = .data$iteration, y = .data$bound)) + ggplot2::geom_step() +
    ggplot2::geom_hline(yintercept = top[is.finite(top)], linetype = "dashed") +
    ggplot2::labs(x = "iteration", y = "-D, nats", caption = "dashed: the (penalised) log-likelihood at the end")
}

#' @rdname em_iterate
#' @usage \method{autoplot}{granary_em_iterate}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_em_iterate <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  trace <- object$trace
  at <- seq_len(nrow(trace))
  steps <- data.frame(at = as.vector(rbind(at - 0.5, at)), value = -as.vector(rbind(trace$forward, trace$backward)),
                      what = "-D after each half step")
  likelihood <- data.frame(at = c(0, at), value = c(trace$loglik, object$loglik), what = "log-likelihood")
  table <- rbind(steps, likelihood)
  gg_canvas(table[is.finite(table$value), ], ggplot2::aes(x = .data$at, y = .data$value, colour = .data$what)) +
    ggplot2::geom_line() +
    ggplot2::geom_point() + ggplot2::labs(x = "iteration", y = "nats", colour = NULL) + gg_palette("colour")
}

#' @rdname label_accuracy
#' @usage \method{autoplot}{granary_label_accuracy}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_label_accuracy <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  alpha <- seq(0.01, 1, length.out = 60L)
  bayes <- vapply(alpha, function(a) core_label_coefficient(object$lambda, TRUE, a), 0) / object$n
  table <- data.frame(share = rep(alpha, 2L), error = c(bayes, rep(object$table$error[object$table$method == "ml"][1L],
                                                                   length(alpha))),
                      method = rep(c("Bayes", "maximum likelihood"), each = length(alpha)))
  gg_canvas(table, ggplot2::aes(x = .data$share, y = .data$error, colour = .data$method)) + ggplot2::geom_line() +
    ggplot2::expand_limits(y = 0) + ggplot2::labs(x = "share of the labels", y = "error per row (nats)",
                                                  colour = NULL) + gg_palette("colour")
}

#' @rdname partition_exact
#' @usage \method{autoplot}{granary_partition_exact}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_partition_exact <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  gg_canvas(object$count, ggplot2::aes(x = .data$clusters, y = .data$probability)) + ggplot2::geom_col(width = 0.6) +
    ggplot2::labs(x = "number of clusters", y = "posterior probability")
}

#' @exportS3Method ggplot2::autoplot
autoplot.granary_dp_concentration <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  draws <- data.frame(theta = object$draws[seq_len(min(length(object$draws), 200L))])
  gg_canvas(object$density, ggplot2::aes(x = .data$theta)) +
    ggplot2::geom_line(ggplot2::aes(y = .data$density), colour = "#0072B2", linewidth = 1) +
    ggplot2::geom_rug(data = draws, alpha = 0.3) + ggplot2::labs(x = "concentration", y = "posterior density")
}

#' @exportS3Method ggplot2::autoplot
autoplot.granary_dp_mixture_compare <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  m <- compare_matrix(object)
  cells <- data.frame(number = factor(rep(colnames(m$values), each = nrow(m$values)), colnames(m$values)),
                      probability = as.vector(m$values), panel = paste0(m$key$prior, ": ", m$key$what),
                      n = factor(m$key$n, object$n))
  gg_canvas(cells, ggplot2::aes(x = .data$number, y = .data$probability, fill = .data$n)) +
    ggplot2::geom_col(position = "dodge") +
    ggplot2::facet_wrap(~panel) +
    ggplot2::scale_fill_manual(values = grDevices::hcl.colors(length(object$n) + 1L, "Blues 3", rev = TRUE)[-1L],
                               guide = if (length(object$n) > 1L) "legend" else "none") +
    ggplot2::labs(x = "number", y = "probability", fill = "n")
}

#' @exportS3Method ggplot2::autoplot
autoplot.granary_partition_curve <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  table <- rbind(data.frame(n = object$n, clusters = object$expected, half = 2 * object$sd, of = "Dirichlet process"),
                 data.frame(n = object$n, clusters = object$observed, half = 2 * object$observed_sd,
                            of = "rows at hand"))
  table$half[!is.finite(table$half)] <- 0
  gg_canvas(table, ggplot2::aes(x = .data$n, y = .data$clusters, colour = .data$of, fill = .data$of)) +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = pmax(.data$clusters - .data$half, 0), ymax = .data$clusters + .data$half),
                         alpha = 0.2, colour = NA) +
    ggplot2::geom_line(linewidth = 1) + ggplot2::expand_limits(y = 0) +
    ggplot2::scale_colour_manual(values = c("#0072B2", "#D55E00"), aesthetics = c("colour", "fill")) +
    ggplot2::labs(x = "rows", y = "clusters", colour = NULL, fill = NULL, caption = "bands of two standard deviations")
}

#' @exportS3Method ggplot2::autoplot
autoplot.granary_partition_prior <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  shown <- object$count[object$count$probability > 1e-4, ]
  gg_canvas(shown, ggplot2::aes(x = .data$clusters, y = .data$probability)) +
    ggplot2::geom_col(fill = "#0072B2", width = 0.5) +
    ggplot2::labs(x = "number of clusters", y = "prior probability", title = object$prior$words)
}
