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
