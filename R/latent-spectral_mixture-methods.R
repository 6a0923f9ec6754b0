# What a latent variable model fitted by moments can do.

spectral_titles <- c(topic = "one topic per document", lda = "latent Dirichlet allocation", gmm = "spherical Gaussians of one variance", gmm_hetero = "spherical Gaussians",
                     product = "Gaussians with diagonal covariances", latent_class = "latent classes", multiview = "three views", hmm = "hidden Markov model",
                     ica = "independent components")

#' @export
print.granary_spectral_mixture <- function(x, ...) {
  cli::cat_line("By moments: ", spectral_titles[[x$model]], ", ", counted(x$k, "component", "components"), ", ", counted(length(x$names), "column", "columns"), ", ",
                format(x$n, big.mark = ","), if (x$model %in% c("topic", "lda")) " documents" else " rows")
  if (!is.null(x$alpha)) {
    cli::cat_line("alpha: ", paste(format(x$alpha, digits = 3L), collapse = " "))
  } else if (!is.null(x$share)) {
    cli::cat_line("Shares: ", paste(format(x$share, digits = 3L), collapse = " "))
  } else {
    cli::cat_line("Kurtosis: ", paste(format(x$kurtosis, digits = 3L), collapse = " "))
  }
  if (!is.null(x$noise_var)) cli::cat_line("Variance around the means: ", paste(format(unique(x$noise_var), digits = 3L), collapse = " "))
  if (x$model %in% c("topic", "lda")) {
    for (h in seq_len(x$k)) cli::cat_line("  ", h, ": ", paste(top_words(x, h, 6L)$term, collapse = ", "))
  }
  cli::cat_line("The components leave ", format(100 * x$residual, digits = 2L), "% of the tensor's norm; ", format_convergence(x$convergence))
  if (!is.null(x$tensor_error)) {
    cli::cat_line("Error of the tensor by ", counted(length(x$tensor_error), "bootstrap sample", "bootstrap samples"), ": norm at least ", format(stats::median(x$tensor_error), digits = 3L),
                  " (median); smallest value ", format(min(x$values), digits = 3L))
  }
  if (!is.na(x$loglik)) cli::cat_line(if (x$model == "lda") "Bound of the log-likelihood: " else "Log-likelihood: ", format(x$loglik, digits = 8L))
  if (!is.null(x$polish)) {
    cli::cat_line("Polish: ", counted(x$polish$iterations, "step", "steps"), " of EM raised it by ", format(x$gain, digits = 4L), if (!isTRUE(x$polish$converged)) " (not at its end)")
  }
  invisible(x)
}

top_words <- function(x, h, n) {
  at <- utils::head(order(-x$means[h, ]), n)
  data.frame(component = h, term = x$names[at], estimate = unname(x$means[h, at]))
}

#' @export
coef.granary_spectral_mixture <- function(object, ...) {
  refuse_dots(...)
  if (!is.null(object$alpha)) stats::setNames(object$alpha, paste0("alpha", seq_len(object$k))) else if (!is.null(object$share)) {
    stats::setNames(object$share, paste0("share", seq_len(object$k)))
  } else {
    stats::setNames(object$kurtosis, paste0("kurtosis", seq_len(object$k)))
  }
}

#' @export
tidy.granary_spectral_mixture <- function(x, ...) {
  table <- if (is.null(x$means)) t(x$mixing) else x$means
  data.frame(component = rep(seq_len(x$k), times = ncol(table)), term = rep(colnames(table), each = x$k), estimate = as.vector(table))
}

#' @rdname spectral_mixture
#' @param object A fit.
#' @param newdata New rows, documents or sequences, as `x`.
#' @param type `"prob"` for shares of topics (`"lda"`) or probabilities of the components, `"class"` for the likeliest one (for `"hmm"` the best path), `"density"` for log-likelihoods of rows
#'   (`"lda"`: lower bounds), `"latent"` for the sources of `"ica"`. `NULL` for `"prob"`, or `"latent"`.
#' @param ... Nothing: an argument that is not known is an error.
#' @export
predict.granary_spectral_mixture <- function(object, newdata, type = NULL, id = NULL, threads = NULL, ...) {
  refuse_dots(...)
  check_fit(object)
  if (missing(newdata)) fail_missing("newdata")
  ica <- object$model == "ica"
  type <- if (is.null(type)) (if (ica) "latent" else "prob") else check_choice(type, c("prob", "class", "density", "latent"))
  if (ica != (type == "latent")) not_for(object, sprintf("predict(type = \"%s\")", type), if (ica) "sources are numbers: use type = \"latent\"" else "it has no sources")
  if (ica) {
    rows <- as.matrix(new_design(newdata, object$names))
    return(structure((rows - rep(object$moments$mean, each = nrow(rows))) %*% t(object$unmixing), dimnames = list(rownames(rows), seq_len(object$k))))
  }
  found <- spectral_place(object, newdata, id, threads)
  states <- as.character(seq_len(object$k))
  prob <- structure(found$membership, dimnames = list(found$labels, states))
  switch(type, prob = prob, class = stats::setNames(if (is.null(found$cluster)) max.col(prob, "first") else found$cluster, found$labels),
         density = stats::setNames(found$row_loglik, if (is.null(found$ids)) found$labels else found$ids))
}

spectral_place <- function(object, newdata, id, threads) {
  threads <- thread_count(threads)
  if (object$model %in% c("topic", "lda")) {
    topics <- spectral_topics_for_rows(object)
    weight <- unname(if (object$model == "lda") object$alpha else object$share)
    if (inherits(newdata, "granary_chunks")) {
      docs <- document_stream(newdata)
      if (length(docs$words) != length(object$names)) abort_input(sprintf("`newdata` must have the %d words of the fit, but it has %d.", length(object$names), length(docs$words)), "newdata")
      x <- docs$read
      labels <- NULL
    } else {
      docs <- document_matrix(newdata, "newdata", object$names)
      x <- docs$core
      labels <- docs$labels
    }
    return(c(core_topic_rows(x, object$model == "lda", weight, topics, threads, progress_bar("placing documents")), list(labels = labels)))
  }
  family <- if (is.null(object$items)) "gaussian" else "categorical"
  if (object$model == "multiview" && is.list(newdata) && !is.data.frame(newdata)) {
    newdata <- structure(do.call(cbind, lapply(newdata, function(v) unname(as.matrix(v)))), dimnames = list(NULL, object$names))
  }
  if (object$model == "hmm" && is.null(id) && (is.data.frame(newdata) || !is.list(newdata))) id <- rep(1L, NROW(newdata))
  if (object$model != "hmm" && !is.null(id)) abort_input("`id` is for models of sequences.", "id")
  data <- em_data(newdata, id, family, NULL, arg = "newdata", levels = object$items, columns = if (is.null(object$items)) object$names else names(object$items))
  found <- core_spectral_place(data$core, object$parameters, list(model = object$model, k = object$k, threads = threads), progress_bar("placing rows"))
  c(found, list(labels = rownames(data$rows), ids = data$ids))
}

# Topics with a thousandth part of the overall shares of words, so that no word is impossible; those of a polish have none that are.
spectral_topics_for_rows <- function(object) {
  topics <- unname(object$means)
  if (!is.null(object$polish)) return(topics)
  0.999 * topics + 0.001 * rep(object$moments$mean, each = object$k)
}

#' @rdname spectral_mixture
#' @export
logLik.granary_spectral_mixture <- function(object, ...) {
  refuse_dots(...)
  if (object$model == "ica") not_for(object, "logLik()", "independent components are fitted without a likelihood")
  structure(object$loglik, df = object$df, nobs = object$n, class = "logLik")
}

#' @rdname spectral_mixture
#' @param nsim Number of data sets.
#' @param seed `NULL`, or a seed that is used for these draws only.
#' @export
simulate.granary_spectral_mixture <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  if (object$model == "ica") not_for(object, "simulate()", "the laws of the sources are not estimated")
  lapply(seq_len(nsim), function(i) {
    if (object$model %in% c("topic", "lda")) {
      lengths <- if (is.null(object$lengths)) rep(max(1, round(object$words / object$n)), object$n) else object$lengths
      drawn <- draw_documents(object$model == "lda", if (object$model == "lda") object$alpha else object$share, object$means, lengths)
      return(structure(drawn$x, cluster = drawn$cluster))
    }
    sequences <- object$model == "hmm"
    plan <- list(family = if (is.null(object$items)) "gaussian" else "categorical", parameters = object$parameters, levels = as.integer(lengths(object$items)),
                 lengths = if (sequences) object$lengths else object$n, sequences = sequences, size = 1)
    drawn <- core_em_draws(plan, core_seed(), NULL)
    x <- em_values(drawn$x, object$items, if (is.null(object$items)) object$names)
    if (sequences) list(x = x, id = rep(object$ids, object$lengths), cluster = drawn$cluster) else structure(x, cluster = drawn$cluster)
  })
}

draw_documents <- function(lda, weight, topics, lengths) {
  drawn <- core_topic_draws(lda, as.double(weight), unname(topics), as.double(lengths), core_seed())
  x <- Matrix::t(drawn$counts)
  dimnames(x) <- list(NULL, colnames(topics))
  list(x = x, cluster = drawn$cluster, share = drawn$share)
}

#' @rdname spectral_mixture
#' @param truth True means (topics, probabilities, mixing columns), one row per component in any order: how far the estimates are from them.
#' @export
assess.granary_spectral_mixture <- function(object, truth = NULL, newdata = NULL, ...) {
  refuse_dots(...)
  check_fit(object)
  if (is.null(truth) == is.null(newdata)) abort_input("Give either `truth` or `newdata`.", if (is.null(truth)) "truth" else "newdata")
  if (is.null(truth)) {
    density <- predict(object, newdata, type = "density")
    out <- data.frame(loglik = sum(density), n = length(density))
    if (object$model %in% c("topic", "lda")) {
      words <- if (inherits(newdata, "granary_chunks")) NA_real_ else sum(document_matrix(newdata, "newdata", object$names)$core)
      out$words <- words
      out$perplexity <- exp(-out$loglik / words)
    }
    return(out)
  }
  ica <- object$model == "ica"
  found <- if (ica) t(object$mixing) else object$means
  truth <- check_matrix(truth)
  if (any(dim(truth) != dim(found))) abort_input(sprintf("`truth` must be %d x %d, one row per component, but it is %d x %d.", nrow(found), ncol(found), nrow(truth), ncol(truth)), "truth")
  if (!is.null(colnames(truth)) && all(colnames(truth) %in% colnames(found))) truth <- truth[, match(colnames(found), colnames(truth)), drop = FALSE]
  k <- object$k
  if (ica) truth <- truth * ifelse(vapply(seq_len(k), function(j) truth[j, which.max(abs(truth[j, ]))], 0) < 0, -1, 1)
  distance <- matrix(vapply(seq_len(k), function(j) rowSums(abs(found - rep(truth[j, ], each = k))), numeric(k)), k)
  match <- core_match_rows(distance)$column
  data.frame(component = seq_len(k), truth = match, l1 = distance[cbind(seq_len(k), match)], l2 = sqrt(rowSums((found - truth[match, , drop = FALSE])^2)))
}

#' @rdname spectral_mixture
#' @param n_words Words to draw for each topic.
#' @usage \method{plot}{granary_spectral_mixture}(x, type = c("components", "scree", "polish"), n_words = 8, ...)
#' @export
plot.granary_spectral_mixture <- function(x, type = c("components", "scree", "polish"), n_words = 8, ...) {
  type <- check_choice(type, c("components", "scree", "polish"))
  n_words <- check_count(n_words)
  if (type == "scree") {
    values <- x$eigenvalues
    draw(graphics::plot, seq_along(values), values, type = "b", pch = 16, col = ifelse(seq_along(values) <= x$k, "#0072B2", "grey60"), xlab = "eigenvalue",
         ylim = range(0, values), ylab = if (x$model == "ica") "of the covariance" else "of the second moments", main = "", bty = "l", user = list(...))
    graphics::abline(h = 0, lty = 3L, col = "grey60")
  } else if (type == "polish") {
    if (is.null(x$objective)) not_for(x, "plot(type = \"polish\")", "it was not polished")
    draw(graphics::plot, seq_along(x$objective) - 1, x$objective, type = "b", pch = 16, col = "#0072B2", xlab = "steps of EM", ylab = "objective", main = "", bty = "l", user = list(...))
  } else if (x$model %in% c("topic", "lda")) {
    old <- graphics::par(mfrow = grDevices::n2mfrow(x$k), mar = c(4.1, 6.1, 2.1, 1.1))
    on.exit(graphics::par(old))
    colors <- cluster_colors(x$k)
    for (h in seq_len(x$k)) {
      top <- top_words(x, h, n_words)
      draw(graphics::barplot, rev(top$estimate), names.arg = rev(top$term), horiz = TRUE, las = 1, col = colors[h], border = NA, xlab = "probability",
           main = sprintf("%d: %.0f%%", h, 100 * x$share[h]), user = list(...))
    }
  } else {
    table <- if (is.null(x$means)) t(x$mixing) else x$means
    old <- graphics::par(mar = c(6.1, 4.1, 2.1, 1.1))
    on.exit(graphics::par(old))
    draw(graphics::matplot, seq_len(ncol(table)), t(table), type = "b", pch = 16, lty = 1, col = cluster_colors(x$k), xlab = "", ylab = if (is.null(x$means)) "mixing" else "mean",
         xaxt = "n", main = "", bty = "l", user = list(...))
    graphics::axis(1L, seq_len(ncol(table)), colnames(table), las = 2)
    graphics::mtext(paste("component", seq_len(x$k)), 3L, line = 0.3, at = seq(1, ncol(table), length.out = x$k + 2L)[-c(1L, x$k + 2L)], col = cluster_colors(x$k), cex = 0.8)
  }
  invisible(x)
}

#' @rdname spectral_mixture
#' @usage \method{autoplot}{granary_spectral_mixture}(object, n_words = 8, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_spectral_mixture <- function(object, n_words = 8, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  n_words <- check_count(n_words)
  words <- object$model %in% c("topic", "lda")
  table <- if (words) do.call(rbind, lapply(seq_len(object$k), function(h) top_words(object, h, n_words))) else tidy.granary_spectral_mixture(object)
  table$component <- factor(table$component)
  gg_canvas(table, ggplot2::aes(.data$estimate, .data$term, fill = .data$component)) + ggplot2::geom_col() +
    ggplot2::facet_wrap("component", scales = if (words) "free_y" else "fixed") + gg_palette("fill") + ggplot2::labs(y = NULL)
}
